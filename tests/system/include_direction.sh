#!/usr/bin/env bash
# include_direction.sh ROOT: every #include of ours points the way the house is built.
# Prints each that does not as FILE:LINE: why, and each circle of folders; fails if there is any.
set -euo pipefail
cd -- "$1"

# Folders of core in the order of the data's way: each may include itself and those before it.
order=(units io text machine rules model plan estimate solver planner workload scenario measurement calibration accuracy verdict explain
       diagnosis design view interop reference)
declare -A rank
for i in "${!order[@]}"; do rank[${order[i]}]=$i; done

# What each folder at the top may include. What is loaded at run time (lp, sim, hw) includes core and is included by nobody
# but the program, which knows what it loads.
declare -A may=(
  [core]="core"
  [sim]="core sim"
  [lp]="core lp"
  [hw]="core hw"
  [process]="core process"
  [emulator]="core process emulator"
  [launch]="core process emulator launch"
  [cli]="core sim hw process emulator launch cli"
  [python]="core sim python"
  [bench]="core sim hw bench"
)

# The public headers of a folder stand below include/lanewise: of core/plan in include/lanewise/plan, of sim in
# include/lanewise/sim. home PATH: sets REPLY to the same file as if it stood in its folder.
home() {
  REPLY=${1#include/}
  case $REPLY in
    lanewise/sim/*) REPLY=${REPLY#lanewise/} ;;
    lanewise/*) REPLY=core/${REPLY#lanewise/} ;;
  esac
}

# why_not FILE INCLUDED: sets `why` to the reason why the one may not include the other; to nothing if it may. Ten thousand lines
# ask it, so it starts no process.
why_not() {
  local file included
  why=""
  if [[ $1 == include/* && $2 != lanewise/* && $2 == *[/.]* && $2 != nlohmann/json_fwd.hpp ]]; then
    why="what is installed includes only what is installed, the standard library and nlohmann/json_fwd.hpp"
    return
  fi
  home "$1" && file=$REPLY
  home "$2" && included=$REPLY
  local top=${file%%/*} target=${included%%/*} from to
  case $included in
    yaml-cpp/*) [[ $file == core/io/yaml* ]] || why="only core/io uses yaml-cpp" ;;
    pugixml*) [[ $file == core/interop/* ]] || why="only core/interop uses pugixml" ;;
    simgrid/* | xbt/*) [[ $top == sim ]] || why="only sim uses SimGrid" ;;
    CLI/*) [[ $top == cli ]] || why="only cli parses command lines" ;;
    Clp* | Coin*) [[ $top == lp ]] || why="only lp uses Clp" ;;
    pybind11/*) [[ $top == python ]] || why="only python binds to Python" ;;
    benchmark/*) [[ $top == bench ]] || why="only bench uses Google Benchmark" ;;
    rdma/rdma_netlink.h) [[ $top == hw || $top == emulator ]] || why="only hw and emulator touch devices" ;;
    cuda* | nvml* | nccl* | infiniband/* | rdma/*) [[ $top == hw || $file == bench/gpu/* ]] || why="only hw touches devices" ;;
    core/* | sim/* | lp/* | hw/* | process/* | emulator/* | launch/* | cli/* | python/* | bench/*)
      [[ " ${may[$top]} " == *" $target "* ]] || { why="$top knows nothing of $target" && return; }
      [[ $top == core && $target == core ]] || return 0
      from=${file#core/} from=${from%%/*} to=${included#core/} to=${to%%/*}
      if [[ -z ${rank[$from]-} || -z ${rank[$to]-} ]]; then
        why="the order of the folders in $0 lacks core/$from or core/$to"
      elif ((rank[$to] > rank[$from])); then
        why="core/$to comes after core/$from"
      fi
      ;;
    tests/* | fuzz/*) why="the product knows nothing of its tests" ;;
  esac
}

found=0
folders=$(mktemp)
trap 'rm -f -- "$folders"' EXIT
while IFS=: read -r file line text; do
  included=${text#*[<\"]} included=${included%%[>\"]*}
  why_not "$file" "$included"
  if [[ -z $why && $text == *\"* && $included != */* ]]; then why="write the path from the root of the tree"; fi
  if [[ $text == *\"* ]] && [[ -f $included || -f include/$included ]]; then
    home "$file" && from=${REPLY%/*}
    home "$included" && printf '%s %s\n' "$from" "${REPLY%/*}" >>"$folders"
  fi
  [[ -n $why ]] || continue
  printf '%s:%s: includes %s: %s\n' "$file" "$line" "$included" "$why"
  found=1
done < <(for top in "${!may[@]}" include; do
  [[ ! -d $top ]] || grep -rnE '^\s*#\s*include\s*["<]' --include='*.hpp' --include='*.cpp' --include='*.cu' --include='*.cuh' "$top" || true
done)

# Folders, also those within one room, include one another in one direction.
if circles=$(tsort "$folders" 2>&1 >/dev/null) && [[ -z $circles ]]; then exit "$found"; fi
printf 'folders that include one another in a circle:\n%s\n' "$(sort -u <<<"${circles//tsort: /}")"
exit 1
