"""Plans data transfers between GPUs, NICs, drives and host memory, simulates the plans, and says why.

    import lanewise

    dgx = lanewise.machine("dgx-a100")
    lanewise.matrix(dgx).bandwidth_GBps                  # a numpy array
    lanewise.why(dgx, "gpu0", "gpu5", "64 MiB").chosen
    plan = lanewise.plan(dgx, collective={"op": "all_reduce", "among": ["gpu0..gpu7"], "bytes": "1 GiB"})
    lanewise.run(plan).makespan_us

Times are in microseconds and rates in GB/s (10^9 bytes per second), as the names say. Sizes are numbers of bytes, or
texts such as "256 MiB". Other Python threads run while lanewise computes. What goes wrong raises lanewise.Error:
InputError, PlanError, MissingError or DeviceError.
"""

from __future__ import annotations

import json as _json
import os as _os
from collections.abc import Iterable as _Iterable, Mapping as _Mapping, Sequence as _Sequence
from typing import Any as _Any, Union as _Union

from ._lanewise import (
    Bound,
    Candidate,
    CheckedRun,
    CheckError,
    Choice,
    Decision,
    Device,
    DeviceError,
    Error,
    InputError,
    Machine,
    Matrix,
    MissingError,
    Plan,
    PlanError,
    Problem,
    ResourceUse,
    Result,
    Scenario,
    Step,
    Trace,
    TraceStep,
    Verdict,
    __version__,
    bound,
    check_scenario as _check_scenario,
    clusters,
    machine,
    machines,
    matrix,
    plan_scenario as _plan_scenario,
    run,
    scenario as _load_scenario,
    why,
    why_run,
)

__all__ = [
    "Bound",
    "Candidate",
    "CheckError",
    "CheckedRun",
    "Choice",
    "Decision",
    "Device",
    "DeviceError",
    "Error",
    "InputError",
    "Machine",
    "Matrix",
    "MissingError",
    "Plan",
    "PlanError",
    "Problem",
    "ResourceUse",
    "Result",
    "Scenario",
    "ScenarioLike",
    "Step",
    "Trace",
    "TraceStep",
    "Verdict",
    "__version__",
    "bound",
    "check",
    "clusters",
    "machine",
    "machines",
    "matrix",
    "plan",
    "run",
    "scenario",
    "why",
    "why_run",
]

ScenarioLike = _Union[Scenario, str, "_os.PathLike[str]", _Mapping[str, _Any]]
"""A scenario; the name of a bundled one, or a file; or the keys of a scenario file."""

_SIZES = frozenset({"bytes", "each", "window", "sizes"})


def _with_units(value: _Any, is_size: bool = False) -> _Any:
    """The value as a file has it: numbers of bytes with their unit."""
    if isinstance(value, _Mapping):
        return {key: _with_units(item, key in _SIZES) for key, item in value.items()}
    if isinstance(value, _Iterable) and not isinstance(value, str):
        return [_with_units(item, is_size) for item in value]
    if isinstance(value, (str, bool, float)):
        return value
    return f"{int(value)} B" if is_size else int(value)


def _scenario_of(keys: _Mapping[str, _Any]) -> Scenario:
    whole = {"lanewise": "scenario/1", "scenario": "python", **keys}
    return Scenario.from_yaml(_json.dumps(_with_units(whole), indent=1, ensure_ascii=False), whole["scenario"])


def scenario(name_or_keys: ScenarioLike) -> Scenario:
    """A scenario from a file, one that comes with lanewise by its name, or one made of the keys of a scenario file.

    Raises InputError when there is no such file or name, or with every problem.
    """
    if isinstance(name_or_keys, Scenario):
        return name_or_keys
    if isinstance(name_or_keys, _Mapping):
        return _scenario_of(name_or_keys)
    return _load_scenario(name_or_keys)


def _transfer(position: int, given: _Mapping[str, _Any] | _Sequence[_Any]) -> _Mapping[str, _Any]:
    if isinstance(given, _Mapping):
        return {"id": f"t{position}", **given}
    source, target, size = given
    return {"id": f"t{position}", "from": source, "to": target, "bytes": size}


def plan(
    machine: Machine,
    transfers: _Iterable[_Mapping[str, _Any] | _Sequence[_Any]] | None = None,
    *,
    collective: _Mapping[str, _Any] | None = None,
    scenario: ScenarioLike | None = None,
    variant: str = "",
    objective: str | None = None,
    effort: str = "full",
    unfolded: bool = False,
) -> Plan:
    """Plans transfers together, one collective, or all that a scenario holds.

    transfers: each as ("gpu0", "gpu1", "256 MiB"), or as the keys of a transfer in a scenario file:
        {"from": "gpu0", "to": "gpu1", "bytes": "256 MiB", "op": "write", "after": ["t0"]}. Without an "id" they are
        called t0, t1, ... by position.
    collective: its keys in a scenario file: {"op": "all_reduce", "among": ["gpu0..gpu7"], "bytes": "1 GiB"}.
    scenario: a Scenario, its name or file, or its keys. Its settings, and those of the variant, are applied to the
        machine: the plan's own machine has them.
    variant: of the scenario; may be left out where it has only one.
    objective: makespan, slowdown, or each (every transfer its best way alone); when absent the scenario's own, else
        makespan.
    effort: full, or quick: in milliseconds, with plans that take a few percent longer.
    unfolded: every step of a collective, also where many nodes are alike and one stands for all.

    Raises InputError for what cannot be read or is not there, and PlanError when a transfer has no legal way.
    """
    work_given = {"transfers": transfers, "collective": collective, "scenario": scenario}
    given = [name for name, value in work_given.items() if value is not None]
    if len(given) != 1:
        raise InputError(f"give one of transfers, collective and scenario, not {' and '.join(given) or 'none'}")
    if transfers is not None:
        work: ScenarioLike = {"transfers": [_transfer(i, item) for i, item in enumerate(transfers)]}
    elif collective is not None:
        work = {"collective": collective}
    else:
        assert scenario is not None
        work = scenario
    return _plan_scenario(machine, _scenario(work), variant, objective, effort, unfolded)


_scenario = scenario  # plan() and check() have a parameter of this name


def check(
    scenario: ScenarioLike,
    machines: _Sequence[Machine | str] | None = None,
    *,
    mode: str = "sim",
    objective: str | None = None,
    effort: str = "full",
) -> Verdict:
    """Runs a scenario in all its variants and holds it to its expectations.

    scenario: a Scenario, its name or file, or its keys.
    machines: to run on instead of those that the scenario names: machines, names or files.
    mode: sim, or estimate: as the planner itself estimates, without the simulator.
    objective, effort: as in plan().

    What a machine cannot do is in the verdict. Raises InputError when the scenario cannot be read, and MissingError in
    mode sim where the simulator is not installed.
    """
    return _check_scenario(_scenario(scenario), machines, mode, objective, effort)
