#!/usr/bin/env bash
# Runs the fuzz targets for a time and keeps what they learn; `fuzz/run.sh --help` says how.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

kTimeoutSeconds=10  # an input that takes longer is a finding
kMemoryMiB=2048     # so is one that takes more
kMaxInputBytes=4096 # longer ones find little more and take longer
kInterrupted=72     # the exit code of libFuzzer after Ctrl-C, which is no finding
kMaxKeptFiles=60    # of each target in fuzz/corpus: those that reach most

seconds=60
runs=-1
at_once=1
folder=build/asan
record=no
merge=no
elsewhere=
targets=()

usage() {
  cat <<'END'
usage: fuzz/run.sh [OPTION]... [TARGET]...

Runs every fuzz target, or those named, for a time each. Inputs that reach new code are collected in FOLDER/corpus, and
the next run goes on from them and from fuzz/corpus. Exit code 1: some target has a finding; its input is named.

  --seconds N      time of each target (60)
  --runs N         stop each target after N inputs, and try the same ones every time: no inputs of earlier runs, a fixed
                   seed. For changes that must not fail by what a fuzzer happens to find
  --jobs N         run so many targets at once (1)
  --build FOLDER   the build with the targets (build/asan: ./setup.sh build asan)
  --record         add the executions to fuzz/counts.tsv, and write the table of docs/fuzzing.md anew. A finding begins
                   the count of its target again
  --add FILE       run nothing, and add the executions of runs elsewhere, as --record does: lines with target, executions,
                   seconds of processor time, and number of findings, between tabs
  --merge          replace fuzz/corpus by the few inputs, old and new, that together reach all that any of them reaches
  --help           this text
END
}

refuse() {
  printf 'fuzz/run.sh: %s\n' "$1" >&2
  exit 2
}

while (($# > 0)); do
  case $1 in
    --seconds) seconds=${2:?} && shift ;;
    --jobs) at_once=${2:?} && shift ;;
    --build) folder=${2:?} && shift ;;
    --runs) runs=${2:?} && shift ;;
    --record) record=yes ;;
    --add) elsewhere=${2:?} && shift ;;
    --merge) merge=yes ;;
    -h | --help) usage && exit ;;
    -*) refuse "no option '$1'; --help lists them" ;;
    *) targets+=("$1") ;;
  esac
  shift
done

names_of_targets() { find fuzz -maxdepth 1 -name 'fuzz_*.cpp' | sed 's|^fuzz/fuzz_\(.*\)\.cpp$|\1|' | sort; }

((${#targets[@]} > 0)) || mapfile -t targets < <(names_of_targets)

# The sum of executions of target $1, with $2 more in $3 seconds; $4: whether there was a finding.
count() {
  local today before=0 spent=0 since
  today=$(date +%F)
  since=$today
  if [[ -f fuzz/counts.tsv && $4 == no ]]; then
    IFS=$'\t' read -r before spent since < <(awk -F'\t' -v name="$1" '$1 == name {print $2 "\t" $3 "\t" $4}' fuzz/counts.tsv
      printf '0\t0\t%s\n' "$today")
  fi
  if [[ $4 == yes ]]; then set -- "$1" 0 0 yes; fi
  {
    printf 'target\texecutions\tseconds\tsince\tlast run\n'
    {
      awk -F'\t' -v name="$1" 'NR > 1 && $1 != name' fuzz/counts.tsv 2>/dev/null || true
      printf '%s\t%s\t%s\t%s\t%s\n' "$1" $((before + $2)) $((spent + $3)) "$since" "$today"
    } | sort
  } >fuzz/counts.tsv.new
  mv fuzz/counts.tsv.new fuzz/counts.tsv
}

# Writes the table of docs/fuzzing.md between its two marks.
write_table() {
  awk -F'\t' '
    NR == FNR { if (FNR > 1) rows = rows sprintf("| `%s` | %d | %.0f | %s | %s |\n", $1, $2, $3 ? $2 / $3 : 0, $4, $5); next }
    /^<!-- counts -->$/ { print; print "| target | executions | a second | without a finding since | last run |"
      print "|---|--:|--:|---|---|"; printf "%s", rows; skipping = 1; next }
    /^<!-- end of counts -->$/ { skipping = 0 }
    !skipping { print }' fuzz/counts.tsv docs/fuzzing.md >docs/fuzzing.md.new
  mv docs/fuzzing.md.new docs/fuzzing.md
}

# Adds the counts of a file; all of it is checked before any of it is added.
add_counts() {
  local name executions seconds findings
  awk -F'\t' 'NF != 4 || $2 !~ /^[0-9]+$/ || $3 !~ /^[0-9.]+$/ || $4 !~ /^[0-9]+$/ { bad = 1 } END { exit bad || NR == 0 }' "$1" ||
    refuse "$1 does not have lines of target, executions, seconds and findings, between tabs"
  while IFS=$'\t' read -r name executions seconds findings; do
    [[ -f fuzz/fuzz_$name.cpp ]] || refuse "$1 names '$name', which is no target"
  done <"$1"
  while IFS=$'\t' read -r name executions seconds findings; do
    count "$name" "$executions" "$(awk -v seconds="$seconds" 'BEGIN {printf "%.0f", seconds}')" "$( ((findings > 0)) && echo yes || echo no)"
  done <"$1"
  write_table
}

# Replaces fuzz/corpus/$1 by the smallest set of inputs that reaches all edges, at most kMaxKeptFiles of them.
merge_corpus() {
  local target=$folder/bin/fuzz_$1 kept=fuzz/corpus/$1 all=$folder/corpus/$1 fresh
  fresh=$(mktemp -d)
  "$target" -set_cover_merge=1 -use_counters=0 -max_len=$kMaxInputBytes -verbosity=0 "$fresh" "$kept" "$all" >/dev/null 2>&1 || return 0
  # Seeds that somebody wrote have names; they stay.
  find "$kept" -type f -regextype posix-extended -regex '.*/[0-9a-f]{40}' -delete
  # The largest reach most: a whole file does what many fragments do.
  find "$fresh" -type f -printf '%s\t%p\n' | sort -rn | head -n $kMaxKeptFiles | cut -f 2 | xargs -r cp -t "$kept"
  rm -rf -- "$fresh"
}

if [[ -n $elsewhere ]]; then
  add_counts "$elsewhere"
  exit
fi

# run_target NAME: its log, its exit code and its processor time are in FOLDER/NAME.log, .log.status and .log.time.
run_target() {
  local name=$1 log=$folder/$1.log status=0 TIMEFORMAT='%U %S' # of the processor: what else runs does not change the rate
  local -a options inputs=("$folder/corpus/$name" "fuzz/corpus/$name")
  options=(-max_total_time="$seconds" "-timeout=$kTimeoutSeconds" "-rss_limit_mb=$kMemoryMiB" "-max_len=$kMaxInputBytes"
    -print_final_stats=1 -verbosity=0 -entropic=0 "-artifact_prefix=$folder/$name-")
  # SimGrid keeps memory from run to run, and each search for leaks takes longer than a run. The last one is at the end.
  if [[ $name == plan_and_run ]]; then options+=(-detect_leaks=0); fi
  if [[ -f fuzz/dictionary/$name.dict ]]; then options+=("-dict=fuzz/dictionary/$name.dict"); fi
  if ((runs >= 0)); then
    options+=("-runs=$runs" -seed=1)
    inputs[0]=$(mktemp -d)
  fi
  { time "$folder/bin/fuzz_$name" "${options[@]}" "${inputs[@]}" >"$log" 2>&1 || status=$?; } 2>"$log.time"
  if ((runs >= 0)); then rm -rf -- "${inputs[0]}"; fi
  printf '%s\n' "$status" >"$log.status.new" && mv "$log.status.new" "$log.status"
}

# report_target NAME: says what came of it, and records and merges where that is asked for.
failed=()
report_target() {
  local name=$1 log=$folder/$1.log finding=no status took executions
  status=$(<"$log.status")
  if ((status != 0 && status != kInterrupted)); then finding=yes; fi
  took=$(awk '{printf "%.0f", $1 + $2}' "$log.time")
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  printf '%-16s %9s executions in %4s s of CPU time%s\n' "$name" "${executions:-?}" "$took" "$([[ $finding == no ]] || echo ': a finding')"
  if [[ $finding == yes ]]; then
    grep -E 'ERROR|SUMMARY|Test unit written|terminate|what\(\)' "$log" || tail -n 20 "$log"
    failed+=("$name")
  fi
  if [[ $record == yes ]]; then count "$name" "${executions:-0}" "$took" "$finding"; fi
  if [[ $merge == yes && $finding == no ]]; then merge_corpus "$name"; fi
}

for name in "${targets[@]}"; do
  [[ -x $folder/bin/fuzz_$name ]] || refuse "$folder/bin/fuzz_$name is not there; build it first (./setup.sh build asan)"
  mkdir -p "$folder/corpus/$name" "fuzz/corpus/$name"
done
[[ $at_once =~ ^[1-9][0-9]*$ ]] || refuse "--jobs is 1 or more, not '$at_once'"
# Targets are reported in their order, each when it and those before it have ended.
reported=0
stop_targets() { jobs -rp | xargs -r kill 2>/dev/null || true; }
trap stop_targets EXIT
report_ended() {
  while ((reported < ${#targets[@]})) && [[ -e $folder/${targets[reported]}.log.status ]]; do
    report_target "${targets[reported]}"
    reported=$((reported + 1))
  done
}
for name in "${targets[@]}"; do rm -f -- "$folder/$name.log.status"; done
for name in "${targets[@]}"; do
  if ((at_once == 1)); then
    run_target "$name"
  else
    while (($(jobs -rp | wc -l) >= at_once)); do wait -n || true; done
    run_target "$name" &
  fi
  report_ended
done
wait
report_ended
for name in "${targets[@]:reported}"; do
  printf '%-16s did not run to its end\n' "$name"
  failed+=("$name")
done
if [[ $record == yes ]]; then write_table; fi
if ((${#failed[@]} > 0)); then
  printf 'findings: %s\n' "${failed[*]}"
  exit 1
fi
