#!/usr/bin/env bash
# Compares this version with an earlier one: bench/against_earlier.sh BUILD_DIR EARLIER_SOURCE EARLIER_BUILD_DIR
# Both do the same work in turn: the earlier one's machines, measurements and scenarios, and inputs that this script writes.
# Prints the table of docs/benchmarks.md.
earlier_source=$(cd "$2" && pwd) earlier=$(cd "$3" && pwd)/bin/lanewise
# shellcheck source=bench/in_turn.sh
source "$(dirname "$0")/in_turn.sh"
export LANEWISE_TOPOLOGIES=$earlier_source/topologies

only_now=() # options for this version alone

# row WHAT TARGET ARGUMENTS...: a line of the table: both do this, and the earlier should take TARGET times as long
row() {
  local what=$1 target=$2
  shift 2
  command_is earlier "$earlier" "$@"
  command_is now "$build/bin/lanewise" "$@" "${only_now[@]}"
  in_turn >"$work/times"
  awk -v what="$what" -v target="$target" '
    function shown(ms) { return ms < 1000 ? sprintf("%.3g ms", ms) : sprintf("%.3g s", ms / 1000) }
    { time[$1] = $2; memory[$1] = $3 }
    END { ratio = time["earlier"] / time["now"]
      printf "| %s | %s, %.3g MiB | %s, %.3g MiB | %.2g x%s | %s |\n", what, shown(time["earlier"]), memory["earlier"],
        shown(time["now"]), memory["now"], ratio, ratio < target ? " (missed)" : "", target ? target " x" : "" }' "$work/times"
}

# cluster NODES: a file of so many nodes of 8 GPUs
cluster() {
  sed -e "s/count: 128/count: $1/" -e "s/hgx-h100-128/hgx-h100-$1/" "$root/bench/hgx-h100-128.yaml" >"$work/hgx-h100-$1.yaml"
  echo "$work/hgx-h100-$1.yaml"
}

# collective OP NODES: a scenario of 256 MiB among all GPUs of so many nodes
collective() {
  printf 'lanewise: scenario/1\nscenario: %s\nmachines: [%s]\ncollective: {op: %s, among: [node0/gpu0..node%s/gpu7], bytes: 256 MiB}\n' \
    "$1" "$(cluster "$2")" "$1" $(($2 - 1)) >"$work/$1-$2.yaml"
  echo "$work/$1-$2.yaml"
}

# transfers COUNT: a scenario of so many transfers of all sizes between the GPUs of one node, all at once
transfers() {
  { printf 'lanewise: scenario/1\nscenario: transfers\nmachines: [hgx-h100]\ntransfers:\n'
    awk -v count="$1" 'BEGIN { for (i = 0; i < count; ++i)
      printf "  - {id: t%d, from: gpu%d, to: gpu%d, bytes: %d KiB}\n", i, i % 8, (i + 1 + int(i / 8) % 7) % 8, 64 + (i * 7919) % 4096 }'
  } >"$work/transfers-$1.yaml"
  echo "$work/transfers-$1.yaml"
}

# transfers_of_cluster COUNT: so many between random GPUs of 32 nodes, all at once
transfers_of_cluster() {
  { printf 'lanewise: scenario/1\nscenario: transfers\nmachines: [%s]\ntransfers:\n' "$(cluster 32)"
    awk -v count="$1" '
      function random(below) { seed = seed * 16807 % 2147483647; return seed % below }  # Park and Miller, 1988
      BEGIN { seed = 1
        for (i = 0; i < count; ++i) {
          do { from = random(256); to = random(256) } while (from == to)
          printf "  - {id: t%d, from: node%d/gpu%d, to: node%d/gpu%d, bytes: %d KiB}\n",
            i, from / 8, from % 8, to / 8, to % 8, 64 + random(4096)
        } }'
  } >"$work/transfers-of-cluster-$1.yaml"
  echo "$work/transfers-of-cluster-$1.yaml"
}

echo '| what | earlier | now | ratio | target |'
echo '|---|---|---|---|---|'
row "\`accuracy\` of its measurements" 8 accuracy "$earlier_source"/measurements/published/*.yaml
row "\`check\` of its scenarios" 4 check "$earlier_source/scenarios"
row "\`run\` of 500 transfers in one node" 20 run "$(transfers 500)"
row "\`run\` of 500 transfers between 32 nodes" 20 run "$(transfers_of_cluster 500)"
row "\`matrix\` of 512 GPUs" 10 matrix "$(cluster 64)"
row "\`run\` all-to-all of 256 MiB among 512 GPUs" 3 run "$(collective all_to_all 64)"
only_now=(--unfolded) # the earlier version always plans every step by itself
row "the same, by \`--unfolded\`" 3 run "$(collective all_to_all 64)"
