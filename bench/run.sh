#!/usr/bin/env bash
# Measures everything and writes docs/benchmarks.md: bench/run.sh [BUILD_DIR]   (a Release build; default build/release)
set -euo pipefail
export LC_ALL=C

root=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "${1:-$root/build/release}" && pwd)
report=$root/docs/benchmarks.md
runs=21
for program in lanewise lanewise_bench process_timer; do
  [[ -x $build/bin/$program ]] || { echo "$0: $build/bin/$program is missing; build it first" >&2; exit 2; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# ------------------------------------------------------------------------------------------------- inside one process
# bench FILTER OPTIONS...: a line a benchmark: its name, wall and processor time in microseconds for one piece of work,
# allocations of one piece, peak heap in KiB
bench() {
  "$build/bin/lanewise_bench" --benchmark_filter="$1" "${@:2}" --benchmark_format=json 2>"$work/err" >"$work/json" ||
    { cat "$work/err" >&2; exit 1; }
  awk -F': *' '
    /"name":/        { name = $2; gsub(/[",]/, "", name) }
    /"real_time":/   { wall = $2 + 0 }
    /"cpu_time":/    { cpu = $2 + 0 }
    /"time_unit":/   { unit = $2 ~ /"ns"/ ? 1e-3 : $2 ~ /"us"/ ? 1 : $2 ~ /"ms"/ ? 1e3 : 1e6 }
    /"allocations":/ { allocations = $2 + 0 }
    /"peak_bytes":/  { peak = $2 + 0 }
    /"pieces":/      { pieces = $2 + 0 }
    /^ *}/           { if (name ~ /_median$|\/iterations$/) {
                         sub(/_median$|\/iterations$/, "", name)
                         print name, wall * unit / pieces, cpu * unit / pieces, allocations, peak / 1024
                       }
                       name = "" }' "$work/json"
}

echo "benchmarks inside one process ..." >&2
bench '^(load|model|choose|plan|simulate_8x8|check)' --benchmark_repetitions=11 --benchmark_report_aggregates_only=true \
  --benchmark_min_time=0.05 >"$work/inside.txt"
bench '^(estimate|simulate_all)' --benchmark_repetitions=3 --benchmark_report_aggregates_only=true --benchmark_min_time=0.01 >>"$work/inside.txt"

# row WHAT TARGET_US NAME: one line of the table; TARGET_US is - where there is none
row() {
  awk -v what="$1" -v target="$2" -v name="$3" '
    function shown(us) { return us < 1000 ? sprintf("%.3g us", us) : sprintf("%.3g ms", us / 1000) }
    $1 == name {
      goal = target == "-" ? "" : shown(target + 0)
      missed = (target != "-" && $2 + 0 > target + 0) ? " (missed)" : ""
      printf "| %s | %s | %s%s | %s | %d allocations, %.3g KiB at most |\n", what, goal, shown($2), missed, shown($3), $4, $5
    }' "$work/inside.txt"
}

# ---------------------------------------------------------------------------------------------------- whole processes
# process WHAT TARGET_MS ARGUMENTS...: one line of the table
process() {
  local what=$1 target=$2
  shift 2
  echo "lanewise $* ..." >&2
  "$build/bin/process_timer" "$runs" "$build/bin/lanewise" "$@" | awk -v what="$what" -v target="$target" '
    { goal = target == "-" ? "" : target " ms"
      missed = (target != "-" && $1 + 0 > target + 0) ? " (missed)" : ""
      printf "| %s | %s | %.3g ms%s | %.3g ms | %.3g MiB |\n", what, goal, $1, missed, $2, $3 }'
}

# --------------------------------------------------------------------------------------------------------- growth
# cluster NODES: a file of so many nodes of 8 GPUs, 32 nodes a leaf
cluster() {
  local file=$work/hgx-h100-$1.yaml
  sed -e "s/count: 128/count: $1/" -e "s/hgx-h100-128/hgx-h100-$1/" "$root/bench/hgx-h100-128.yaml" >"$file"
  printf '%s\n' "$file"
}

# collective OP NODES: a scenario of 256 MiB among all GPUs of so many nodes
collective() {
  local file=$work/$1-$2.yaml
  printf 'lanewise: scenario/1\nscenario: %s-%s\nmachines: [%s]\ncollective: {op: %s, among: [node0/gpu0..node%s/gpu7], bytes: 256 MiB}\n' \
    "$1" "$2" "$(cluster "$2")" "$1" $(($2 - 1)) >"$file"
  printf '%s\n' "$file"
}

# measured NUMBER ARGUMENTS...: a line for growth(): a number of GPUs, and what the program takes with these arguments
measured() {
  local number=$1
  shift
  echo "lanewise $* ..." >&2
  echo "$number $("$build/bin/process_timer" 3 "$build/bin/lanewise" "$@")"
}

# estimated NUMBER NAME: the same of a benchmark inside one process
estimated() { awk -v number="$1" -v name="$2" '$1 == name { print number, $2 / 1000, $3 / 1000, $5 / 1024 }' "$work/inside.txt"; }

# growth WHAT: a line of the table for each line `number wall-ms processor-ms MiB`. The exponents are those of the number
# since the line before: 1 where twice as many take twice as long.
growth() {
  awk -v what="$1" '
    function exponent(now, before) { return NR > 1 && before > 0 ? sprintf("%.2f", log(now / before) / log($1 / number)) : "" }
    { printf "| %s | %d | %.3g ms | %s | %.3g MiB | %s |\n", what, $1, $3, exponent($3, time), $4, exponent($4, memory)
      number = $1; time = $3; memory = $4 }'
}

commit=$(git -C "$root" rev-parse --short HEAD 2>/dev/null || echo unknown)
[[ -z $(git -C "$root" status --porcelain -- . ':!docs/benchmarks.md' 2>/dev/null) ]] || commit+=" with changes"
cpu=$(awk -F': *' '/^model name/ { print $2; exit }' /proc/cpuinfo)
load=$(cut -d' ' -f1 /proc/loadavg)

{
  cat <<END
# Benchmarks

Written by \`bench/run.sh\` (also \`cmake --build build/release --target bench-report\`); do not edit,
except the last section. [Peers](peers.md) compares with other programs.

Commit $commit, $(date -u +%Y-%m-%d), ${cpu:-unknown processor}, $(nproc) processors, load $load when it began.
Time is the median on the wall clock; beside it the median of processor time, which other programs on the machine
disturb less. Inside a process: 11 repetitions; memory is what one piece of work takes from the heap. Whole processes:
$runs runs, from before the program is started until it has ended, output thrown away; memory is its largest resident
set. The machines: \`hgx-h100\` (8 GPUs on NVSwitch), \`a100x8-pcie-4sw\` (8 GPUs below 4 PCIe switches), \`gn5-8xp100\`
(peer access between sockets refused), \`dgx-1-v100\` (NVLink mesh), \`hgx-h100-32\` (32 nodes, 256 GPUs).

## Inside one process

| what | target | reached | processor time | memory |
|---|---|---|---|---|
END
  row "load the 8-GPU machine, nothing read before" 5000 load_8_gpus
  row "load it again, its parts known" - load_8_gpus_warm
  row "make its model" - model_8_gpus
  row "load the 32-node cluster, nothing read before" 50000 load_cluster
  row "load it again, its parts known" - load_cluster_warm
  row "make its model" - model_cluster
  row "choose one way: NVLink" 5 choose_nvlink
  row "choose one way: NVLink relay" 5 choose_nvlink_relay
  row "choose one way: PCIe peer access" 5 choose_pcie_p2p
  row "choose one way: peer access refused, staged" 5 choose_host_staged
  row "choose one way, mean of 8x8 pairs: NVSwitch" 5 choose_8x8_nvlink
  row "choose one way, mean of 8x8 pairs: PCIe" 5 choose_8x8_pcie
  row "cluster, two GPUs of one node" 50 choose_cluster_same_node
  row "cluster, two nodes, the same rail" 50 choose_cluster_same_rail
  row "cluster, two nodes, other rails" 50 choose_cluster_other_rail
  row "cluster, mean of all 256x256 pairs" 50 choose_cluster_all_pairs
  row "plan with every candidate described, mean of 8x8 pairs: NVSwitch" - plan_8x8_nvlink
  row "plan with every candidate described, mean of 8x8 pairs: PCIe" - plan_8x8_pcie
  row "56 transfers planned as a set, \`--effort quick\`: NVSwitch" 2000 plan_set_quickly_nvlink
  row "56 transfers planned as a set, \`--effort quick\`: PCIe" 2000 plan_set_quickly_pcie
  row "56 transfers planned as a set, \`--effort quick\`: NVLink mesh" 2000 plan_set_quickly_mesh
  row "56 transfers planned as a set: NVSwitch" 2000 plan_set_nvlink
  row "56 transfers planned as a set: PCIe" 2000 plan_set_pcie
  row "56 transfers planned as a set: PCIe, by copy engines or kernels" 2000 plan_set_pcie_by_any_mover
  row "56 transfers of 512 MiB planned as a set: PCIe, by schedules" 2000 plan_set_pcie_by_schedules
  row "56 transfers planned as a set: NVLink mesh" 2000 plan_set_mesh
  row "estimate 250 transfers of random sizes at once" - estimate_250_flows
  row "estimate 2,000" - estimate_2000_flows
  row "estimate 10,000" 5000000 estimate_10000_flows
  row "all 8x8 pairs planned and simulated: NVSwitch" - simulate_8x8_nvlink
  row "all 8x8 pairs planned and simulated: PCIe" - simulate_8x8_pcie
  row "simulate every step of an all-to-all of 256 MiB among 256 GPUs" - simulate_all_to_all_of_256
  row "simulate every step of an all-gather of 256 MiB among 1,024 GPUs" - simulate_all_gather_of_1024
  row "check one scenario (2 machines, 2 variants, regret)" - check_scenario
  row "check training on DGX-1 (4 collectives, every alternative)" - check_collectives
  cat <<END

## Whole processes

| what | target | reached | processor time | memory |
|---|---|---|---|---|
END
  process "\`show hgx-h100\`" 15 show hgx-h100
  process "\`show hgx-h100 --as topo\`" 15 show hgx-h100 --as topo
  process "\`show hgx-h100-32\`" - show hgx-h100-32
  process "\`why hgx-h100 gpu0 gpu5\`" 15 why hgx-h100 gpu0 gpu5
  process "\`why hgx-h100-32 node0/gpu0 node31/gpu5\`" - why hgx-h100-32 node0/gpu0 node31/gpu5
  process "\`matrix hgx-h100\`" - matrix hgx-h100
  process "\`whatif rtx6000pro-x8-bcm --set acs=on\`" - whatif rtx6000pro-x8-bcm --set acs=on
  if grep -q simulate_8x8 "$work/inside.txt"; then
    process "\`matrix hgx-h100 --mode sim\`: 8x8 planned and simulated" 60 matrix hgx-h100 --mode sim
    process "\`matrix a100x8-pcie-4sw --mode sim\`: the same over PCIe" 60 matrix a100x8-pcie-4sw --mode sim
    process "\`check\` one scenario" - check "$root/scenarios/acs-halves-bidirectional-p2p.yaml"
    runs=3 process "\`accuracy\`: every published measurement, 3 runs" 30000 accuracy
    runs=3 process "\`run\` all-reduce of 256 MiB among 1,024 GPUs, 3 runs" 10000 \
      run "$root/bench/all-reduce-of-1024.yaml" --on "$root/bench/hgx-h100-128.yaml" --mode sim
    runs=3 process "\`run\` all-gather of 256 MiB among 1,024 GPUs, 3 runs" 10000 \
      run "$root/bench/all-gather-of-1024.yaml" --on "$root/bench/hgx-h100-128.yaml" --mode sim
    runs=3 process "\`run\` all-to-all of 256 MiB among 256 GPUs, 3 runs" 10000 \
      run "$root/bench/all-to-all-of-256.yaml" --on hgx-h100-32 --mode sim
    runs=3 process "\`report\`: seven sets on every machine, 3 runs" - report --json
    process "\`matrix hgx-h100 --mode estimate\`: the same as \`sim\`, which loads the simulator" - \
      matrix hgx-h100 --mode estimate
    process "\`--version\`: loads no simulator" 5 --version
  fi
  process "\`matrix\` of 512 GPUs on 64 nodes" 1000 matrix "$(cluster 64)"
  process "\`plan\` all-gather of 256 MiB among 1,024 GPUs" 1000 plan "$root/bench/all-gather-of-1024.yaml"
  process "\`plan\` all-to-all of 256 MiB among 256 GPUs" - plan "$root/bench/all-to-all-of-256.yaml"
  process "\`why\` of a pair in a cluster of 2,048 nodes" - why "$(cluster 2048)" node0/gpu0 node2047/gpu5
  cat <<END

## Growth

Processor time and memory with the number of GPUs or transfers. The exponents are those of that number, from the row
above to this one: 1 where twice as many take twice as long, 2 where they take four times as long. Of 3 runs.

| what | number | processor time | exponent | memory | exponent |
|---|---|---|---|---|---|
END
  { estimated 250 estimate_250_flows && estimated 2000 estimate_2000_flows && estimated 10000 estimate_10000_flows; } |
    growth "estimate transfers of random sizes at once"
  for nodes in 16 32 64 128; do measured $((8 * nodes)) matrix "$(cluster "$nodes")"; done |
    growth "\`matrix\` of GPUs: pairs grow with the square"
  for nodes in 32 64 128; do measured $((8 * nodes)) plan --unfolded "$(collective all_gather "$nodes")"; done |
    growth "\`plan --unfolded\` all-gather"
  for nodes in 16 32 64; do measured $((8 * nodes)) plan --unfolded "$(collective all_to_all "$nodes")"; done |
    growth "\`plan --unfolded\` all-to-all: transfers grow with the square"
  for nodes in 128 512 2048; do measured $((8 * nodes)) why "$(cluster "$nodes")" node0/gpu0 "node$((nodes - 1))/gpu5"; done |
    growth "\`why\` of a pair"
  if grep -q simulate_8x8 "$work/inside.txt"; then
    for op in all_reduce all_gather all_to_all; do
      for nodes in 128 512 2048; do measured $((8 * nodes)) run "$(collective "$op" "$nodes")"; done |
        growth "\`run\` $op among nodes that are alike"
    done
    for nodes in 32 64 128; do measured $((8 * nodes)) run --unfolded "$(collective all_gather "$nodes")"; done |
      growth "\`run --unfolded\` all-gather"
    for nodes in 16 32 64; do measured $((8 * nodes)) run --unfolded "$(collective all_to_all "$nodes")"; done |
      growth "\`run\` all-to-all: transfers grow with the square"
  fi
  cat <<END

## What bounds it

- Loading: yaml-cpp's scanner, which matches characters with small regular expressions, is two thirds of the work of
  \`show\`; a machine reads its own file and one file for each part that it names.
- Choosing: lowering each legal way to its demand, about a quarter of a microsecond a way; two allocations a choice.
- Estimating many transfers at once: an end changes the rates of those that it concerns, which are few among some hundred
  transfers between random GPUs, but many among thousands: there most links hold somebody back.
- Simulating: loading libsimgrid (decision 7), then building one SimGrid engine for each simulation. SimGrid 3.32 looks for
  every transfer that ends in a list of all that are under way, which is half of an all-gather among 1,024; later releases
  have a set.
- \`show\` and \`why\` load neither libsimgrid nor what it needs; what is left beside reading files is the dynamic linker.
END
  # Measured by bench/against_earlier.sh, which needs a build of an earlier version: kept as it is.
  echo
  sed -n '/^## Against an earlier version/,$p' "$report"
} >"$work/report.md"
mv "$work/report.md" "$report"
cat "$report"
