import pytest

import lanewise

FILE = "scenarios/acs-halves-bidirectional-p2p.yaml"
UNTRUE = {
    "scenario": "too-fast",
    "machines": ["dgx-a100"],
    "transfers": [{"id": "there", "from": "gpu0", "to": "gpu1", "bytes": 1 << 28}],
    "expect": [{"transfer": "there", "mechanism": "nvlink"}, {"transfer": "there", "bandwidth": ">= 900 GB/s"}],
}


@pytest.mark.parametrize("mode", ["estimate", "sim"])
def test_a_verdict_is_that_of_the_program(program, mode, request):
    if mode == "sim":
        request.getfixturevalue("simulator")
    verdict = lanewise.check(FILE, mode=mode)
    assert verdict.passed and verdict.mode == mode
    assert verdict.to_dict() == program("check", FILE, "--mode", mode)
    assert [(run.machine, run.variant) for run in verdict.runs[:2]] == [
        ("rtx6000pro-x8-bcm", "acs-off"),
        ("rtx6000pro-x8-bcm", "acs-on"),
    ]
    for run in verdict.runs:
        assert run.passed and run.trace is not None and run.bound is not None
        assert run.bound.makespan_us <= run.trace.makespan_us * (1 + 1e-9)


def test_what_does_not_hold_says_what_was_found():
    verdict = lanewise.check(UNTRUE, mode="estimate")
    assert not verdict.passed and not verdict.runs[0].passed
    assert [result.passed for result in verdict.results] == [True, False]
    assert "GB/s" in verdict.results[1].found
    assert verdict.results[1].location.startswith("too-fast:")


def test_machines_may_be_given(dgx):
    scenario = lanewise.scenario({**UNTRUE, "expect": [{"transfer": "there", "bandwidth": ">= 200 GB/s"}]})
    narrow = dgx.set("nvlink=off").renamed("without-nvlink")
    verdict = lanewise.check(scenario, [dgx, narrow, "dgx-h100"], mode="estimate")
    assert [(run.machine, run.passed) for run in verdict.runs] == [
        ("dgx-a100", True),
        ("without-nvlink", False),
        ("dgx-h100", True),
    ]
    with pytest.raises(lanewise.InputError, match="renamed"):
        lanewise.check(scenario, [dgx, dgx.set("acs=on")], mode="estimate")


def test_an_unknown_machine_is_an_error_of_the_verdict():
    verdict = lanewise.check(UNTRUE, ["no-such-machine"], mode="estimate")
    assert not verdict.passed
    assert [error.machine for error in verdict.errors] == ["no-such-machine"]
    assert "no-such-machine" in verdict.errors[0].message


def test_what_cannot_be_read_raises(tmp_path):
    for wrong in ("no-such-scenario", tmp_path / "none.yaml", {"scenario": "empty"}):
        with pytest.raises(lanewise.InputError):
            lanewise.check(wrong, mode="estimate")
    with pytest.raises(lanewise.InputError, match="sim, estimate"):
        lanewise.check(UNTRUE, mode="hw")
