#!/usr/bin/env bash
# The part of rdma_against_perftest.sh that runs on node0 of soft-roce-2: writes from memory to memory by the NIC of the
# second socket, perftest and lanewise in turn, medians of several rounds.
set -euo pipefail
kRounds=3
device=rxe_nic2
program=$(command -v lanewise) # by its path: what mpirun starts on other nodes has another PATH
work=$(mktemp -d /tmp/perftest.XXXXXX)

median() { sort -g | awk '{v[NR] = $1} END {print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2}'; }

# theirs COLUMN COMMAND...: one figure of perftest's last line of numbers; the server listens within a moment, or a few.
theirs() {
  local column=$1
  shift
  # shellcheck disable=SC2029  # the command is this side's
  ssh node1 "$* -d $device -F >/dev/null 2>&1" &
  for ((i = 0; i < 30; ++i)); do
    sleep 1
    if "$@" -d "$device" -F node1 >"$work/theirs" 2>/dev/null; then break; fi
  done
  wait
  awk -v column="$column" '$1 ~ /^[0-9]+$/ && NF >= 4 {value = $column} END {print value}' "$work/theirs"
}

# ours COMPLETION SHAPE BYTES COUNT: microseconds from the start of the first to the end of the last of COUNT transfers: at_once, all
# one way, or in_turn, each answering the one before, as ib_write_lat plays.
ours() {
  local -i i
  local from to after
  {
    printf 'lanewise: scenario/1\nscenario: ours\nmachines: [soft-roce-2]\nobjective: each\ntransfers:\n'
    for ((i = 0; i < $4; ++i)); do
      from=0 to=1 after=
      if [[ $2 == in_turn ]]; then
        from=$((i % 2)) to=$(((i + 1) % 2))
        ((i == 0)) || after=", after: [t$((i - 1))]"
      fi
      printf '  - {id: t%d, from: node%d/numa1, to: node%d/numa1, bytes: %d B, op: write, queue_pairs: 1%s}\n' \
        "$i" "$from" "$to" "$3" "$after"
    done
  } >"$work/ours.yaml"
  mpirun --host node0,node1 -n 2 --bind-to none --mca pml ob1 --mca btl self,tcp \
    --mca oob_tcp_if_include management --mca btl_tcp_if_include management \
    "$program" run "$work/ours.yaml" --mode hw --repeat 3 --completion "$1" --json >"$work/ours.json"
  sed -n 's/^  "makespan_us": \([0-9.e+]*\),*$/\1/p' "$work/ours.json"
}

# bandwidth BYTES COUNT: MB/s of both (decimal) and their ratio.
bandwidth() {
  local round
  : >"$work/a"
  : >"$work/b"
  for ((round = 0; round < kRounds; ++round)); do
    theirs 4 ib_write_bw -s "$1" -n "$2" -t 16 >>"$work/a"                            # MiB/s
    ours events at_once "$1" "$2" | awk -v bytes="$1" -v count="$2" '{print bytes * count / $1}' >>"$work/b" # B/us
  done
  awk -v bytes="$1" -v theirs="$(median <"$work/a")" -v ours="$(median <"$work/b")" \
    'BEGIN {theirs *= 1.048576; printf "write of %7d B: perftest %7.2f MB/s, lanewise %7.2f MB/s, ratio %.2f\n", bytes, theirs, ours, ours / theirs}'
}

# latency BYTES COUNT: microseconds one way of both, and their ratio.
latency() {
  local round
  : >"$work/a"
  : >"$work/b"
  for ((round = 0; round < kRounds; ++round)); do
    theirs 5 ib_write_lat -s "$1" -n "$2" >>"$work/a" # t_typical
    ours polling in_turn "$1" "$2" | awk -v count="$2" '{print $1 / count}' >>"$work/b"
  done
  awk -v bytes="$1" -v theirs="$(median <"$work/a")" -v ours="$(median <"$work/b")" \
    'BEGIN {printf "write of %7d B: perftest %7.1f us, lanewise %7.1f us, ratio %.2f\n", bytes, theirs, ours, ours / theirs}'
}

bandwidth 65536 64
bandwidth 1048576 8
latency 8 200
