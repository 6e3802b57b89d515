# Which of three servers suits eight GPUs that exchange everything with everything? A notebook as a script: editors show
# its cells, and `python3 examples/choose_a_server.py` prints the whole report.
# %% Three servers
from __future__ import annotations

import numpy as np

import lanewise

servers = [lanewise.machine(name) for name in ("rtx6000pro-x8-bcm", "a100x8-pcie-4sw", "dgx-a100")]
for server in servers:
    print(f"{server.name}: {server.title}")

# %% Every pair of GPUs: GB/s of one 256 MiB copy on an idle machine
print("\nGB/s between two GPUs  slowest  median  fastest  by")
for server in servers:
    matrix = lanewise.matrix(server)
    pairs = ~np.eye(len(matrix.names), dtype=bool)
    rates = matrix.bandwidth_GBps[pairs]
    mechanisms = ", ".join(sorted({mechanism or "no way" for mechanism in np.array(matrix.mechanisms)[pairs]}))
    slowest, median, fastest = np.nanmin(rates), np.nanmedian(rates), np.nanmax(rates)
    print(f"{server.name:21}  {slowest:7.1f}  {median:6.1f}  {fastest:7.1f}  {mechanisms}")

# %% What Access Control Services (ACS) cost: PCIe switches then send peer traffic up to the CPU
print("\nboth ways at once      pairs that lose with ACS on  worst")
for server in servers:
    before = lanewise.matrix(server, mode="estimate", bidirectional=True)
    after = lanewise.matrix(server.set("acs=on"), mode="estimate", bidirectional=True)
    ratio = after.bandwidth_GBps / before.bandwidth_GBps
    slower = np.argwhere(np.triu(ratio < 0.98, k=1))
    worst = f"{np.nanmin(ratio):.0%} of the rate" if len(slower) else "-"
    print(f"{server.name:21}  {len(slower):27}  {worst}")

# %% Why: the ways of one such pair
choice = lanewise.why(servers[0].set("acs=on"), "gpu0", "gpu1", "64 MiB")
print(f"\ngpu0 to gpu1 of {servers[0].name} with ACS on ({choice.distance})")
for candidate in choice.candidates[:4]:
    if candidate.time_us:
        verdict = f"{candidate.time_us:.0f} us, limited by {candidate.binding}"
    else:
        verdict = f"refused by {candidate.refused_by}" if candidate.refused_by else f"unknown: {candidate.reason}"
    print(f"  {candidate.way:40}  {verdict}")


# %% Plans of collectives, simulated
def run(plan: lanewise.Plan) -> lanewise.Trace:
    try:
        return lanewise.run(plan)
    except lanewise.MissingError:  # without SimGrid: the planner's own estimate
        return lanewise.run(plan, mode="estimate")


print("\ncollective of eight, 256 MiB            by              time  above the bound  busiest resource")
times: dict[str, float] = {}
traces: dict[tuple[str, str], lanewise.Trace] = {}
for server in servers:
    for op in ("all_to_all", "all_reduce"):
        plan = lanewise.plan(server, collective={"op": op, "among": server.gpus, "bytes": "256 MiB"})
        trace = traces[server.name, op] = run(plan)
        bound = lanewise.bound(plan)
        gap = f"{bound.gap(trace.makespan_us):.1%}" if bound else "unknown"
        busiest = trace.resources[0]
        print(
            f"{server.name:21}  {op:10}  {plan.algorithm or '':16} {trace.makespan_us / 1e3:7.2f} ms  {gap:>15}  "
            f"{busiest.name} ({busiest.utilisation:.0%})"
        )
        times[server.name] = times.get(server.name, 0) + trace.makespan_us

# %% When the steps of one of them end
steps = traces[servers[0].name, "all_to_all"].to_numpy()
late = np.count_nonzero(steps["end_us"] > 0.9 * steps["end_us"].max())
print(f"\n{late} of the {len(steps)} steps of the all-to-all on {servers[0].name} end in its last tenth")

# %% The ranking
print("\nranking by an all-to-all and an all-reduce, one after the other")
for place, (name, time) in enumerate(sorted(times.items(), key=lambda item: item[1]), start=1):
    print(f"{place}. {name:21} {time / 1e3:7.2f} ms")
