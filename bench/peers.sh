#!/usr/bin/env bash
# The tables of docs/peers.md: bench/peers.sh [BUILD_DIR]   (a Release build; default build/release)
# Times lanewise, and the other programs found in the folder that LANEWISE_PEERS names, if it is set: astra-sim/ with its
# programs in build/astra_analytical/build/bin/, LogGOPSim/ with its programs in build/, and ForestColl/. PYTHON is the
# interpreter for what of theirs is Python; it needs networkx and protobuf.
# shellcheck source=bench/in_turn.sh
source "$(dirname "$0")/in_turn.sh"
lanewise=$build/bin/lanewise
peers=$(cd "${LANEWISE_PEERS:-$work}" && pwd) python=${PYTHON:-python3}
cd "$work"  # ASTRA-sim writes its log where it is started

# answer NAME: the time, or bandwidth, that the output of the command NAME gives
answer() {
  case $1 in
    lanewise_plan) sed -n 's/^makespan \([^,]*\),.*/\1/p' ;;
    lanewise*) sed -n 's/.*: makespan \([0-9.]* [a-z]*\).*/\1/p' ;;
    astra*) sed -n 's/.*sys\[0\] finished, \([0-9]*\) cycles.*/\1/p' | awk 'NR == 1 { printf "%.3g ms", $1 / 1e6 }' ;;
    loggopsim*) sed -n 's/^Maximum finishing time at host [0-9]*: \([0-9]*\) .*/\1/p' | awk '{ printf "%.3g ms", $1 / 1e8 }' ;;
    forestcoll*) cat ;;
  esac
}

# table WHAT: a line for each command: what all of them do, which it is, its answer, processor time, memory
table() {
  local name time memory
  in_turn >"$work/times"
  while IFS=$'\t' read -r name time memory; do
    printf '| %s | %s | %s | %s | %.3g MiB |\n' "$1" "${name//_/ }" "$(output_of "$name" | answer "$name")" "$time" "$memory"
  done < <(awk -v OFS='\t' '{ print $1, ($2 < 1000 ? sprintf("%.3g ms", $2) : sprintf("%.3g s", $2 / 1000)), $3 }' "$work/times")
  rm "$work"/commands/*
}

# scenario NAME MACHINE COLLECTIVE: writes a scenario and names the file
scenario() {
  printf 'lanewise: scenario/1\nscenario: %s\nmachines: [%s]\ncollective: {%s}\n' "$1" "$2" "$3" >"$work/$1.yaml"
  echo "$work/$1.yaml"
}

# ours SCENARIO: our commands
ours() {
  command_is lanewise_run "$lanewise" run "$1"
  command_is lanewise_run_estimate "$lanewise" run "$1" --mode estimate
  command_is lanewise_plan "$lanewise" plan "$1"
}

echo '| what | program | answer | processor time | memory |'
echo '|---|---|---|---|---|'

# ------------------------------------------------------------------------------------ ASTRA-sim, analytical networks
# Nodes of 8 on NVSwitch and a fabric between them: rates and latencies of a link as in our machine files.
astra=$peers/astra-sim
bin=$astra/build/astra_analytical/build/bin
no_memory=$astra/examples/remote_memory/analytical/no_memory_expansion.json

# networks NODES: two levels, for the program that knows no congestion; one switch, for the one that does
networks() {
  printf 'topology: [Switch, Switch]\nnpus_count: [8, %s]\nbandwidth: [450.0, 50.0]\nlatency: [600.0, 600.0]\n' "$1" >"$work/nodes.yml"
  printf 'topology: [Switch]\nnpus_count: [%s]\nbandwidth: [50.0]\nlatency: [600.0]\n' $((8 * $1)) >"$work/switch.yml"
}

# collectives FILE ALL_REDUCE ALL_TO_ALL: how ASTRA-sim does them, a word for each level
collectives() {
  printf '{"scheduling-policy": "LIFO", "endpoint-delay": 10, "active-chunks-per-dimension": 1, "preferred-dataset-splits": 4,
    "all-reduce-implementation": [%s], "all-gather-implementation": [%s], "reduce-scatter-implementation": [%s],
    "all-to-all-implementation": [%s], "collective-optimization": "localBWAware", "local-mem-bw": 3350, "boost-mode": 0}\n' \
    "$2" "$2" "$2" "$3" >"$work/$1"
}

# astra_commands OP GPUS
astra_commands() {
  local generator=$astra/examples/workload/microbenchmarks/generator_scripts/$1.py
  local options=("--workload-configuration=$work/$1/$2npus_256MB/$1" "--remote-memory-configuration=$no_memory")
  PYTHONPATH=$astra "$python" "$generator" --npus-count "$2" --coll-size 256
  networks $(($2 / 8))
  collectives nodes.json '"ring", "halvingDoubling"' '"direct1", "direct1"'
  collectives switch.json '"halvingDoubling"' '"direct"'
  command_is astra_unaware "$bin/AstraSim_Analytical_Congestion_Unaware" "${options[@]}" \
    "--network-configuration=$work/nodes.yml" "--system-configuration=$work/nodes.json"
  command_is astra_aware "$bin/AstraSim_Analytical_Congestion_Aware" "${options[@]}" \
    "--network-configuration=$work/switch.yml" "--system-configuration=$work/switch.json"
}

# against_astra OP GPUS MACHINE
against_astra() {
  ours "$(scenario "$1-$2" "$3" "op: $1, among: [node0/gpu0..node$(($2 / 8 - 1))/gpu7], bytes: 256 MiB")"
  if [[ -d $astra ]]; then astra_commands "$1" "$2"; fi
  table "$1 of 256 MiB among $2 GPUs"
}

against_astra all_reduce 256 hgx-h100-32
against_astra all_reduce 1024 "$root/bench/hgx-h100-128.yaml"
against_astra all_to_all 256 hgx-h100-32

# ---------------------------------------------------------------------------------------------------------- LogGOPSim
# Its times are whole numbers; here of 10 ps: L 1 us, o 0.5 us, G 20 ps a byte (50 GB/s), no message too large to be eager.
goal=$peers/LogGOPSim/build

# against_loggopsim OP ALGORITHM PATTERN BYTES: the same algorithm in both; BYTES as their schedule generator counts them
against_loggopsim() {
  ours "$(scenario "$1-$2" hgx-h100-32 "op: $1, among: [node0/gpu0..node31/gpu7], bytes: 256 MiB, algorithm: $2")"
  if [[ -d $goal ]]; then
    command_is loggopsim_1_schedule "$goal/schedgen" --ptrn "$3" --commsize 256 --datasize "$4" -o "$work/$3.goal"
    command_is loggopsim_2_binary "$goal/txt2bin" -i "$work/$3.goal" -o "$work/$3.bin"
    command_is loggopsim_3_simulate "$goal/LogGOPSim" -f "$work/$3.bin" -L 100000 -o 50000 -g 0 -G 2 -S 1000000000
  fi
  table "$1 of 256 MiB among 256, $2"
}

against_loggopsim all_reduce ring allreduce_ring 268435456
against_loggopsim all_reduce halving_doubling allreduce_recdoub 268435456
against_loggopsim all_to_all direct linear_alltoall 1048576

# ---------------------------------------------------------------------------------------------------------- ForestColl
cat >"$work/trees.py" <<'END'
import sys
import networkx
from pipeline_allgather import optimal_pipeline_spanning_trees
from topologies import a100_topology

def dgx_1():  # the NVLink mesh of topologies/machines/dgx-1-v100.yaml, 25 GB/s a link
    graph = networkx.DiGraph()
    for links, pairs in (1, "01 02 13 26 37 45 46 57"), (2, "03 04 12 15 23 47 56 67"):
        for a, b in pairs.split():
            graph.add_edge(int(a), int(b), capacity=25 * links)
            graph.add_edge(int(b), int(a), capacity=25 * links)
    return graph, list(range(8))

graph, gpus = dgx_1() if sys.argv[1] == "v100" else a100_topology(int(sys.argv[1]))
(time, parts), (trees, weights) = optimal_pipeline_spanning_trees(graph, compute_nodes=gpus)
bandwidth = len(gpus) * parts / time
print(f"{1.073741824e3 / bandwidth:.3g} ms, {bandwidth:.1f} GB/s, {len(trees)} trees", end="")
END

# against_forestcoll GPUS MACHINE TOPOLOGY
against_forestcoll() {
  ours "$(scenario "all-gather-$3" "$2" "op: all_gather, among: [$1], bytes: 1 GiB")"
  if [[ -d $peers/ForestColl ]]; then
    command_is forestcoll env "PYTHONPATH=$peers/ForestColl" "$python" "$work/trees.py" "$3"
  fi
  table "all_gather of 1 GiB, $(basename "$2" .yaml)"
}

printf 'lanewise: cluster/1\ncluster: dgx-a100-2\nnodes: [{machine: dgx-a100, count: 2}]\nfabric: {kind: single_switch, switch: %s}\n' \
  quantum-hdr >"$work/dgx-a100-2.yaml"
against_forestcoll gpu0..gpu7 dgx-1-v100 v100
against_forestcoll gpu0..gpu7 dgx-a100 1
against_forestcoll node0/gpu0..node1/gpu7 "$work/dgx-a100-2.yaml" 2
