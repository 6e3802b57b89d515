"""Other Python threads run while lanewise computes, and may compute too."""

import concurrent.futures
import subprocess
import sys
import threading

import pytest

import lanewise

ALL_TO_ALL = """\
lanewise: scenario/1
scenario: all-to-all
collective: {op: all_to_all, among: [gpu0..gpu7], bytes: 64 MiB}
"""


def works(dgx):
    scenario = lanewise.Scenario.from_yaml(ALL_TO_ALL)
    plan = lanewise.plan(dgx, scenario=scenario)
    return {
        "machine": lambda: lanewise.machine("dgx-a100"),
        "set": lambda: dgx.set("acs=on"),
        "matrix": lambda: lanewise.matrix(dgx, places=dgx.places),
        "why": lambda: lanewise.why(dgx, "gpu0", "gpu1"),
        "plan": lambda: lanewise.plan(dgx, scenario=scenario),
        "run": lambda: lanewise.run(plan, mode="estimate"),
        "bound": lambda: lanewise.bound(plan),
        "to_dict": lambda: plan.to_dict(),
        "check": lambda: lanewise.check(scenario, [dgx], mode="estimate"),
    }


def runs_meanwhile(work, attempts):
    """Whether another thread that waits for the GIL gets it while `work` runs, in one of so many attempts.

    Python itself hands the GIL over only after its switch interval, which is a day here: whatever runs meanwhile runs
    because `work` gave the GIL away.
    """
    ran = []
    interval = sys.getswitchinterval()
    for _ in range(attempts):
        ready, go = threading.Event(), threading.Event()

        def wait_and_run():
            ready.set()
            go.wait()
            ran.append(True)

        thread = threading.Thread(target=wait_and_run)
        thread.start()
        ready.wait()
        sys.setswitchinterval(24 * 3600)
        try:
            go.set()
            work()
            ran_meanwhile = bool(ran)
        finally:
            sys.setswitchinterval(interval)
        thread.join()
        if ran_meanwhile:
            return True
        ran.clear()
    return False


@pytest.mark.parametrize("what", ["machine", "set", "matrix", "why", "plan", "run", "bound", "to_dict", "check"])
def test_another_thread_runs_meanwhile(dgx, what):
    work = works(dgx)[what]
    work()  # imports of Python's own are done
    assert runs_meanwhile(work, attempts=1000)


def test_the_same_test_fails_where_the_gil_is_held():
    assert not runs_meanwhile(lambda: sum(range(1_000_000)), attempts=5)
    assert not runs_meanwhile(lambda: sorted(range(100_000), key=lambda x: -x), attempts=5)


def test_threads_compute_the_same(dgx):
    results = {what: work() for what, work in works(dgx).items()}

    def again(what):
        return what, works(dgx)[what]()

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for what, result in pool.map(again, list(results) * 4):
            expected = results[what]
            if what in ("machine", "set", "plan", "run", "to_dict"):
                assert result == expected, what
            elif what in ("matrix", "why", "check"):
                assert result.to_dict() == expected.to_dict(), what
            else:
                assert result.makespan_us == expected.makespan_us, what


def test_a_model_is_made_once_by_many_threads():
    machine = lanewise.machine("dgx-a100")
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        first, *others = [matrix.to_dict() for matrix in pool.map(lambda _: lanewise.matrix(machine), range(16))]
    assert all(other == first for other in others)


def test_threads_simulate_one_after_another(dgx, simulator):
    plan = lanewise.plan(dgx, collective={"op": "all_to_all", "among": ["gpu0..gpu7"], "bytes": "1 MiB"})
    expected = lanewise.run(plan)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert all(trace == expected for trace in pool.map(lambda _: lanewise.run(plan), range(12)))


LOADED = """
import sys
import lanewise
print("numpy" in sys.modules)
def loaded():
    return any("simgrid" in line for line in open("/proc/self/maps"))
machine = lanewise.machine("dgx-a100")
lanewise.matrix(machine)
plan = lanewise.plan(machine, [("gpu0", "gpu1", "1 MiB")])
lanewise.run(plan, mode="estimate")
before = loaded()
lanewise.run(plan)
print(before, loaded())
"""


def test_numpy_and_the_simulator_are_loaded_when_they_are_used(simulator):
    printed = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True).stdout
    assert printed.split() == ["False", "False", "True"]
