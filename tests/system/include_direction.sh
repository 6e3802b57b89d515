#!/usr/bin/env bash
# include_direction.sh ROOT: every #include of ours points the way the house is built.
# Prints each that does not as FILE:LINE: why, and fails.
set -euo pipefail
cd -- "$1"

# Folders of core in the order of the data's way: each may include itself and those before it.
order=(units io machine rules model plan planner view scenario measurement calibration verdict interop)
declare -A rank
for i in "${!order[@]}"; do rank[${order[i]}]=$i; done

# why_not FILE INCLUDED: prints why the one may not include the other; nothing if it may.
why_not() {
  local file=$1 included=$2
  local top=${file%%/*} target=${included%%/*} from to
  case $included in
    yaml-cpp/*) [[ $file == core/io/yaml.cpp ]] || echo "only core/io/yaml.cpp uses yaml-cpp" ;;
    pugixml*) [[ $file == core/interop/* ]] || echo "only core/interop uses pugixml" ;;
    simgrid/* | xbt/*) [[ $top == sim ]] || echo "only sim uses SimGrid" ;;
    CLI/*) [[ $top == cli ]] || echo "only cli parses command lines" ;;
    rdma/rdma_netlink.h) [[ $top == hw || $top == emulator ]] || echo "only hw and emulator touch devices" ;;
    cuda* | nvml* | nccl* | infiniband/* | rdma/*) [[ $top == hw ]] || echo "only hw touches devices" ;;
    core/*)
      [[ $top == core ]] || return 0
      from=${file#core/} from=${from%%/*} to=${included#core/} to=${to%%/*}
      if [[ -z ${rank[$from]-} || -z ${rank[$to]-} ]]; then
        echo "the order of the folders in $0 lacks core/$from or core/$to"
      elif ((rank[$to] > rank[$from])); then
        echo "core/$to comes after core/$from"
      fi
      ;;
    sim/* | hw/* | emulator/* | cli/*) [[ $top == "$target" || $top == cli ]] || echo "$top knows nothing of $target" ;;
  esac
}

found=0
while IFS=: read -r file line text; do
  included=${text#*[<\"]} included=${included%%[>\"]*}
  why=$(why_not "$file" "$included")
  if [[ -z $why && $text == *\"* && $included != */* ]]; then why="write the path from the root of the tree"; fi
  [[ -n $why ]] || continue
  printf '%s:%s: includes %s: %s\n' "$file" "$line" "$included" "$why"
  found=1
done < <(for top in core sim hw emulator cli; do
  [[ ! -d $top ]] || grep -rnE '^\s*#\s*include\s*["<]' --include='*.hpp' --include='*.cpp' --include='*.cu' "$top" || true
done)
exit "$found"
