#!/usr/bin/env bash
# run_on_gpus.sh PROGRAM: describes this machine, runs a plan of every kind on its GPUs, and checks every byte that arrives.
# Exits with 77 (skipped) where there are no two GPUs.
set -euo pipefail
program=$1
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT

if ! "$program" --version | grep -qE '^hw:  CUDA .*, ([2-9]|[1-9][0-9]+) GPUs'; then
  "$program" --version | grep '^hw:' || true
  exit 77
fi
"$program" discover -o "$work/here.yaml"
cat >"$work/all.yaml" <<'SCENARIO'
lanewise: scenario/1
scenario: all
machines: [here.yaml]
transfers:
  - {id: copy, from: gpu0, to: gpu1, bytes: 33 MiB}
  - {id: odd, from: gpu1, to: gpu0, bytes: 1234567 B, after: [copy]}
  - {id: tiny, from: gpu0, to: gpu1, bytes: 3 B, after: [odd]}
  - {id: write, from: gpu0, to: gpu1, bytes: 1234567 B, op: write, after: [tiny]}
  - {id: read, from: gpu0, to: gpu1, bytes: 1234567 B, op: read, after: [write]}
  - {id: atomic, from: gpu0, to: gpu1, bytes: 65536 B, op: atomic, after: [read]}
  - {id: in, from: numa0, to: gpu0, bytes: 9 MiB}
  - {id: out, from: gpu0, to: numa0, bytes: 9 MiB}
  - {id: staged, from: gpu0, to: gpu1, bytes: 20000001 B, mechanism: host_staged, after: [atomic]}
  - {id: shared, from: gpu0, to: gpu1, bytes: 5 MiB, mechanism: shared_host, after: [staged]}
  - {id: pageable, from: numa0, to: gpu1, bytes: 3 MiB, pageable: true}
  - {id: host, from: numa0, to: numa0, bytes: 3 MiB, after: [pageable]}
  - {id: own, from: gpu1, to: gpu1, bytes: 7 MiB, after: [host]}
SCENARIO
"$program" run "$work/all.yaml" --mode hw -o "$work/trace.json"
[[ $(grep -c '"verified": true' "$work/trace.json") -eq 13 ]]
"$program" check "$work/all.yaml" --mode hw --record "$work/runs.json" --repeat 3
"$program" measure "$work/here.yaml" --most '1 MiB' --repeat 3 -o "$work/measured.json"
"$program" accuracy "$work/measured.json" --on "$work/here.yaml" >/dev/null
if "$program" measure "$work/here.yaml" -o "$work/measured.json" 2>/dev/null; then
  echo "a measurement was overwritten unasked"
  exit 1
fi
timeout --signal=INT 2 "$program" measure "$work/here.yaml" --force -o "$work/measured.json" && exit 1
"$program" measure "$work/here.yaml" --resume --most '1 MiB' --only patterns -o "$work/measured.json"

# Every collective by every algorithm among all GPUs: with one element, an odd multiple of 16 bytes, a size that is no
# multiple of 16 bytes, and parts so large that copy engines move them. `check` fails when a byte of the result is wrong.
gpus=$(grep -c '  gpu: gpu\|{gpu: gpu' "$work/here.yaml")
collective() {  # NAME OP ALGORITHM BYTES
  printf 'lanewise: scenario/1\nscenario: %s\nmachines: [here.yaml]\n' "$1"
  printf 'collective: {op: %s, among: [gpu0..gpu%d], bytes: %d B, algorithm: %s}\n' "$2" $((gpus - 1)) "$4" "$3"
}
algorithms_of() {
  case $1 in
    scatter | gather | all_to_all) echo direct ;;
    broadcast | reduce | all_reduce) echo direct ring tree ;;
    *) echo direct ring ;;
  esac
  case $1 in broadcast | all_gather | all_reduce) ((gpus < 3)) || echo through_host ;; esac
  case $1 in broadcast | all_gather) [[ -z $solves ]] || echo packed_trees ;; esac
  [[ $1 == all_to_all || -z $grouped ]] || echo hierarchical
  case $1 in all_gather | reduce_scatter | all_reduce) ((gpus & (gpus - 1))) || echo halving_doubling ;; esac
}
mkdir "$work/collectives"
collective trees broadcast packed_trees 4096 >"$work/trees.yaml"
solves=yes
if ! "$program" plan "$work/trees.yaml" --on "$work/here.yaml" >"$work/trees.txt" 2>&1; then
  grep -q 'needs a linear solver' "$work/trees.txt"
  solves=
fi
grouped=yes  # several groups of GPUs that NVLink joins
collective groups all_reduce hierarchical 4096 >"$work/groups.yaml"
if ! "$program" plan "$work/groups.yaml" --on "$work/here.yaml" >"$work/groups.txt" 2>&1; then
  grep -q 'hierarchical does not do' "$work/groups.txt"
  grouped=
fi
count=0
for op in broadcast scatter gather all_gather reduce reduce_scatter all_reduce all_to_all; do
  for bytes in $((16 * gpus)) $((16 * gpus * 12345)) 1000004 $((gpus * 40 << 20)); do
    [[ $op == all_to_all && $bytes == 1000004 ]] && continue
    for algorithm in $(algorithms_of "$op"); do
      collective "$op-$algorithm-$bytes" "$op" "$algorithm" "$bytes" >"$work/collectives/$op-$algorithm-$bytes.yaml"
      count=$((count + 1))
    done
  done
done
"$program" check "$work/collectives" --on "$work/here.yaml" --mode hw --repeat 3 >"$work/collectives.txt" || true
grep -v ' pass$' "$work/collectives.txt"
[[ $(grep -c ' pass$' "$work/collectives.txt") -eq $count ]]
# Small collectives use one kernel on each GPU, large ones streams with copy engines.
form_of() {
  "$program" run "$work/collectives/$1.yaml" --on "$work/here.yaml" --mode hw -o "$work/trace.json" >/dev/null
  grep -o '"form": "[^":]*' "$work/trace.json"
}
[[ $(form_of all_reduce-direct-$((16 * gpus * 12345))) == '"form": "one kernel a GPU' ]]
[[ $(form_of all_gather-direct-$((gpus * 40 << 20))) == '"form": "streams' ]]

# A GPU that computes between two transfers.
"$program" plan "$work/all.yaml" -o "$work/plan.json" >/dev/null
cat >"$work/compute.json" <<PLAN
{
  $(grep -m 2 -E '"(machine|fingerprint)"' "$work/plan.json")
  "lanewise": "plan/2",
  "decisions": [],
  "steps": [
    {"transfer": "there", "from": "gpu0", "to": "gpu1", "bytes": 1048576, "op": "copy",
     "way": {"mechanism": "nvlink", "drive": "push"}, "after": []},
    {"transfer": "compute", "from": "gpu1", "to": "gpu1", "bytes": 0, "op": "copy",
     "way": {"mechanism": "local", "drive": "push"}, "after": [0], "work_us": 500},
    {"transfer": "back", "from": "gpu1", "to": "gpu0", "bytes": 1048576, "op": "copy",
     "way": {"mechanism": "nvlink", "drive": "push"}, "after": [1]}
  ]
}
PLAN
if grep -q nvlink "$work/plan.json"; then
  "$program" run "$work/compute.json" --on "$work/here.yaml" --mode hw -o "$work/trace.json"
  [[ $(grep -c '"verified": true' "$work/trace.json") -eq 3 ]]
  makespan=$(sed -n 's/.*"makespan_us": \([0-9]*\).*/\1/p' "$work/trace.json")
  ((makespan >= 500 && makespan < 700))
fi
