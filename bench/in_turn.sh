# shellcheck shell=bash
# Times commands against one another; read with `source` by a script in bench/, whose first argument may be a folder with a
# Release build (default build/release). Sets root, build, and work, a folder that goes when the script ends.
set -euo pipefail
export LC_ALL=C

root=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "${1:-$root/build/release}" && pwd)
for program in lanewise process_timer; do
  [[ -x $build/bin/$program ]] || { echo "$0: $build/bin/$program is missing; build it first" >&2; exit 2; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/commands"

# command_is NAME WORDS...: a command for the next in_turn
command_is() { printf '%s\0' "${@:2}" >"$work/commands/$1"; }

# output_of NAME: what this command prints on either stream
output_of() {
  local words
  mapfile -d '' -t words <"$work/commands/$1"
  "${words[@]}" 2>&1
}

# in_turn: runs all those commands in turn, three times, so that what else the machine does disturbs all alike. A line for
# each: its name, the median of its processor time in ms, its largest resident set in MiB.
in_turn() {
  local round name words
  for round in 1 2 3; do
    for name in "$work"/commands/*; do
      mapfile -d '' -t words <"$name"
      echo "$round: ${words[*]:0:5} ..." >&2
      echo "${name##*/} $("$build/bin/process_timer" 1 "${words[@]}" 2>/dev/null || echo - - -)"
    done
  done | sort -s -k1,1 -k3,3g | awk '
    { time[$1] = time[$1] " " $3; if ($4 == "-" || $4 > memory[$1]) memory[$1] = $4 }
    END { for (name in time) { split(time[name], sorted, " "); print name, sorted[2], memory[name] } }' | sort
}
