import json

import numpy as np
import pytest

import lanewise

EXCHANGE = [("gpu0", "gpu1", "64 MiB"), {"id": "back", "from": "gpu1", "to": "gpu0", "bytes": 64 << 20}]


def test_transfers_are_pairs_or_keys(pcie):
    plan = lanewise.plan(pcie, EXCHANGE)
    assert [decision.transfer for decision in plan.decisions] == ["t0", "back"]
    assert {(step.source, step.target) for step in plan.steps} == {("gpu0", "gpu1"), ("gpu1", "gpu0")}
    assert sum(step.bytes for step in plan.steps) == 2 * (64 << 20)
    assert all(decision.chosen.legal for decision in plan.decisions)
    assert plan.machine == pcie


def test_a_plan_is_that_of_the_program(program, tmp_path):
    file = tmp_path / "exchange.yaml"
    file.write_text(
        "lanewise: scenario/1\nscenario: python\ntransfers:\n"
        "  - {id: t0, from: gpu0, to: gpu1, bytes: 64 MiB}\n  - {id: back, from: gpu1, to: gpu0, bytes: 64 MiB}\n"
    )
    ours = lanewise.plan(lanewise.machine("dgx-a100"), EXCHANGE).to_dict()
    shown = program("plan", str(file), "--on", "dgx-a100")
    assert ours["steps"] == shown["steps"]
    assert lanewise.plan(lanewise.machine("dgx-a100"), scenario=file).to_dict() == ours


def test_a_collective_names_its_algorithm(dgx):
    keys = {"op": "all_reduce", "among": ["gpu0..gpu7"], "bytes": 1 << 26}
    assert lanewise.plan(dgx, collective={**keys, "algorithm": "ring"}).algorithm == "ring"
    best = lanewise.plan(dgx, collective=keys)
    assert best.algorithm not in (None, "auto")
    assert any(step.reduces for step in best.steps)
    assert all(position < i for i, step in enumerate(best.steps) for position in step.after)


def test_sizes_of_an_uneven_exchange_may_be_numbers(dgx):
    sizes = [[0, 4 << 20], [1 << 20, 0]]
    plan = lanewise.plan(dgx, collective={"op": "all_to_all_v", "among": ["gpu0", "gpu1"], "sizes": sizes})
    assert sum(step.bytes for step in plan.steps) == 5 << 20


def test_a_plan_reads_back_from_its_json(pcie):
    plan = lanewise.plan(pcie, EXCHANGE)
    assert lanewise.Plan.from_json(plan.to_json(), pcie) == plan
    assert json.loads(plan.to_json()) == plan.to_dict()
    with pytest.raises(lanewise.InputError, match="other hardware or settings"):
        lanewise.Plan.from_json(plan.to_json(), pcie.set("acs=on"))
    for text in ("no JSON", "[]", "{}"):
        with pytest.raises(lanewise.InputError):
            lanewise.Plan.from_json(text, pcie)


def test_settings_of_a_variant_are_on_the_plans_machine():
    machine = lanewise.machine("rtx6000pro-x8-bcm")
    scenario = lanewise.scenario("acs-halves-bidirectional-p2p")
    assert scenario.variants == ["acs-off", "acs-on"]
    off, on = (lanewise.plan(machine, scenario=scenario, variant=variant) for variant in scenario.variants)
    assert on.machine == machine.set("acs=on") or on.machine != off.machine
    assert lanewise.run(on, mode="estimate").makespan_us > 1.9 * lanewise.run(off, mode="estimate").makespan_us
    with pytest.raises(lanewise.InputError, match="acs-off, acs-on"):
        lanewise.plan(machine, scenario=scenario)


def test_what_is_planned_is_said_once(dgx):
    for arguments in ({}, {"transfers": EXCHANGE, "collective": {"op": "all_reduce"}}):
        with pytest.raises(lanewise.InputError, match="give one of"):
            lanewise.plan(dgx, **arguments)


def test_wrong_keys_have_their_place(dgx):
    with pytest.raises(lanewise.InputError) as caught:
        lanewise.plan(dgx, [{"from": "gpu0", "to": "gpu1", "bytes": "1 parsec"}])
    assert "parsec" in caught.value.problems[0].text
    with pytest.raises(lanewise.InputError, match="gpu9"):
        lanewise.plan(dgx, [("gpu0", "gpu9", 1)])


def test_no_legal_way_is_a_plan_error(pcie):
    with pytest.raises(lanewise.PlanError):
        lanewise.plan(pcie, [{"from": "gpu0", "to": "gpu1", "bytes": 8, "op": "atomic"}])


def test_an_estimated_run_keeps_to_the_bound(pcie):
    plan = lanewise.plan(pcie, EXCHANGE)
    trace = lanewise.run(plan, pcie, mode="estimate")
    bound = lanewise.bound(plan)
    assert bound is not None and 0 < bound.makespan_us <= trace.makespan_us * (1 + 1e-9)
    assert bound.gap(bound.makespan_us * 1.05) == pytest.approx(0.05)
    name, share = bound.binding[0]
    assert name and 0 < share <= 1


def test_a_trace_has_its_steps_as_arrays(pcie):
    plan = lanewise.plan(pcie, EXCHANGE)
    trace = lanewise.run(plan, mode="estimate")
    rows = trace.to_numpy()
    assert rows.dtype.names == ("start_us", "end_us", "bytes", "bandwidth_GBps")
    assert rows["end_us"].max() == pytest.approx(trace.makespan_us)
    assert np.array_equal(rows["end_us"], [step.end_us for step in trace.steps])
    assert np.array_equal(rows["bytes"], [step.bytes for step in plan.steps])
    assert np.allclose(rows["bandwidth_GBps"], rows["bytes"] / 1e3 / (rows["end_us"] - rows["start_us"]))
    assert trace.resources[0].utilisation == max(use.utilisation for use in trace.resources)
    assert lanewise.Trace.from_json(trace.to_json()) == trace
    assert trace.to_dict()["mode"] == trace.mode == "estimate"


def test_a_plan_is_not_run_on_another_machine(pcie):
    with pytest.raises(lanewise.InputError, match="other hardware or settings"):
        lanewise.run(lanewise.plan(pcie, EXCHANGE), pcie.set("acs=on"), mode="estimate")
    with pytest.raises(lanewise.InputError, match="sim, estimate"):
        lanewise.run(lanewise.plan(pcie, EXCHANGE), mode="hw")


def test_a_simulated_run_is_that_of_the_program(program, simulator):
    machine = lanewise.machine("rtx6000pro-x8-bcm")
    trace = lanewise.run(lanewise.plan(machine, scenario="acs-halves-bidirectional-p2p", variant="acs-on"))
    file = "scenarios/acs-halves-bidirectional-p2p.yaml"
    shown = program("run", file, "--on", machine.name, "--variant", "acs-on")
    assert trace.to_dict()["makespan_us"] == shown["makespan_us"]
    assert trace.to_dict()["resources"] == shown["resources"]
    assert [step["end_us"] for step in trace.to_dict()["steps"]] == [step["end_us"] for step in shown["steps"]]


def test_why_a_run_takes_so_long(program, simulator):
    machine = lanewise.machine("rtx6000pro-x8-bcm")
    plan = lanewise.plan(machine, scenario="acs-halves-bidirectional-p2p", variant="acs-on")
    file = "scenarios/acs-halves-bidirectional-p2p.yaml"
    assert lanewise.why_run(plan) == program("why", file, "--on", machine.name, "--variant", "acs-on")
    assert lanewise.why_run(plan, mode="estimate")["critical_path"]
