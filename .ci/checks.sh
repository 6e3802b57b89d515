# shellcheck shell=bash
# The checks of sources that both .ci/run and the workflows call; read it with `source`, from the root of the tree.

# Folders with C++ of ours.
kSourceFolders=(include examples core sim hw lp process launch emulator pages explore cli python tests bench fuzz)

# A few dozen tests of bundled machines that would take most of the time under sanitizers, as a filter of GoogleTest; those of
# smaller machines cover the same code.
# shellcheck disable=SC2034  # for those who read this file
kLongUnderSanitizers='-Machines/Calibrat*:Machines/Cho*:InferredRanges*:Shapes/SymmetricAlgorithms.AllReduce*'
kLongUnderSanitizers+=':Shapes/SymmetricAlgorithms.AllGather*:Machines/KeptPlans.*/dgx*:Machines/KeptPlans.*/a100*'
kLongUnderSanitizers+=':Bundled/Collectives.*/0:Bundled/Collectives.*/1:Bundled/Collectives.*/2:OrderOfEvents.PlansThat*'
kLongUnderSanitizers+=':PlanJobSet.HoldsFor*:LibraryCauses*:Diagnosis.AHashedNetwork*:Machines/AlgorithmChoice.*/dgx*'
kLongUnderSanitizers+=':Machines/AlgorithmChoice.*/a100*:Machines/AlgorithmChoice.*/epyc*:Machines/AlgorithmChoice.*/mi300x*'
kLongUnderSanitizers+=':Machines/AlgorithmChoice.*/gh200*:Machines/AlgorithmChoice.*/h100_pcie*:Machines/AlgorithmChoice.*/rtx*'
kLongUnderSanitizers+=':PeerLimit.HoldsForCollectives:PlannedAsSet.RanksMachines*:Machines/PlannedAsSet.*/a100*:Clusters/FoldedPlan.*/3:Clusters/FoldedPlan.*/4'
kLongUnderSanitizers+=':Bundled/Collectives.*/4:Bundled/Collectives.*/5:PlanCollective.HalvesOf*:StepKinds.StepsOfOneKind*'
kLongUnderSanitizers+=':PlanCollective.ABroadcast*'
kLongUnderSanitizers+=':NcclTunerTable.HoldsEverySize*:WhyRun.NothingTakesLonger*:Resizing.Approaches*'

# Sources of ours, whether git knows them yet or not.
sources() {
  find "${kSourceFolders[@]}" \( -name '*.hpp' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' \) 2>/dev/null || true
}

formatted() { sources | xargs clang-format-14 --dry-run --Werror; }

scripts() { shellcheck setup.sh .ci/run .ci/checks.sh ci/*.sh bench/*.sh fuzz/*.sh tests/*/*.sh; }

# alone [all]: sources but those of tests, and every header, compile with nothing included before them; builds join files.
# Of the sources a twelfth and of the headers a sixth, others with each commit, unless all are asked for: by the commands of a
# build that joins nothing, but only parsed. Headers unless their own source includes them first; those that need CUDA's,
# NCCL's or Python's only where these are, none that needs libFuzzer's.
alone() {
  local twelfth=all sixth=all
  if [[ ${1:-} != all ]]; then
    twelfth=$(($(git rev-list --count HEAD) % 12))
    sixth=$((twelfth % 6))
  fi
  cmake --preset release -B build/alone -DLANEWISE_TESTS=OFF >/dev/null
  /usr/bin/python3 - "$twelfth" <<'END' | xargs -0 -P "$(nproc)" -n 1 bash -c
import json, os, re, sys
twelfth = sys.argv[1]
for number, entry in enumerate(json.load(open("build/alone/compile_commands.json"))):
    if twelfth != "all" and number % 12 != int(twelfth):
        continue
    if not os.path.exists(entry["file"]):  # a build writes it first
        continue
    if re.search(r"\.(cpp|cxx)$", entry["file"]) and "nvcc" not in entry["command"].split()[0]:
        command = re.sub(r" -o \S+ -c ", " -fsyntax-only -w -c ", entry["command"])
        print(f"cd '{entry['directory']}' && {command}", end="\0")
END
  headers "$sixth"
}

# headers NUMBER|all: every sixth, beginning with this one.
headers() {
  local sixth=$1 folder="" needs='^$'
  local -a options=(-std=c++20 -fsyntax-only -w -I. -Iinclude '-DLANEWISE_SOURCE_DIR=""' '-DLANEWISE_PROGRAM=""')
  if command -v nvcc >/dev/null; then
    folder=$(nvcc --dryrun -x cu -c /dev/null 2>&1 | sed -n 's/^#\$ INCLUDES="-I\([^"]*\)".*/\1/p')
    options+=(-isystem "$folder")
  fi
  if [[ ! -e $folder/cuda_runtime_api.h ]]; then needs='^(hw/cuda|bench/gpu)/'; fi
  if ! printf '#include <nccl.h>\n' | g++ "${options[@]}" -x c++ - 2>/dev/null; then needs+='|^bench/gpu/nccl\.hpp$'; fi
  folder=$(/usr/bin/python3 -c 'import sysconfig; print(sysconfig.get_path("include"))' 2>/dev/null || true)
  if [[ -e $folder/Python.h && -e /usr/include/pybind11/pybind11.h ]]; then options+=(-isystem "$folder"); else needs+='|^python/'; fi
  needs+='|^fuzz/random_machine\.hpp$'
  headers_alone | grep -vE "$needs" | awk -v sixth="$sixth" 'sixth == "all" || NR % 6 == sixth' | xargs -P "$(nproc)" -n 1 g++ "${options[@]}" -x c++
}

# The headers that no source that is built here includes first.
headers_alone() {
  local file own built=build/alone/compile_commands.json
  sources | grep '\.hpp$' | while read -r file; do
    own=${file#include/lanewise/}
    [[ $own == "$file" ]] || own=core/$own
    own=${own%.hpp}.cpp
    [[ -f $own || $file != include/lanewise/sim/* ]] || own=sim/$(basename "$own")
    if [[ ! -f $built || ! -f $own ]] || ! grep -q "/$own\"" "$built" ||
      [[ $(grep -m 1 '^#include' "$own") != "#include \"${file#include/}\"" ]]; then
      printf '%s\n' "$file"
    fi
  done
}

# tidy_one FOLDER FILE: clang-tidy's findings on a file by the compile commands of FOLDER; a crash is a finding too.
tidy_one() {
  local found
  found=$(clang-tidy-14 -p "$1" --quiet --checks=-bugprone-suspicious-include "$2" 2>/dev/null) ||
    printf '%s\n%s: error: clang-tidy ends with %s\n' "$found" "$2" "$?"
}
export -f tidy_one

# tidy_batch FILE: the same of a source of build/tidy, which includes a dozen files: most of the time goes to the headers
# that all of them include. Where their unnamed namespaces share a name, each of the files by itself.
tidy_batch() {
  local found
  found=$(tidy_one build/tidy "$1")
  if [[ $found == *clang-diagnostic-error* ]]; then
    sed -n 's/^#include "\(.*\)"$/\1/p' "$1" | while read -r file; do tidy_one build/release "$file"; done
  elif [[ -n $found ]]; then
    printf '%s\n' "$found"
  fi
}
export -f tidy_batch

# tidy [FILE...|all]: clang-tidy on these sources; with `all` on every C++ source but the tests; without any on a quarter
# of those, another with each commit. Needs build/release to be configured. Any finding fails.
# shellcheck disable=SC2016  # the inner shells expand their arguments
tidy() {
  local count files=build/tidy-files.txt
  if (($# > 0)) && [[ $1 != all ]]; then
    printf '%s\n' "$@" | xargs -P "$(nproc)" -n 1 bash -c 'tidy_one build/release "$1"' bash >build/tidy.txt
  else
    cmake --preset release -B build/tidy -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=12 -DLANEWISE_TESTS=OFF >/dev/null
    sed -n 's/^ *"file": "\(.*\)",\{0,1\}$/\1/p' build/tidy/compile_commands.json |
      grep -E "^$PWD/(build/tidy/)?(core|sim|hw|lp|process|launch|emulator|cli|python|bench)/.*\.(cpp|cxx)$" | sort -u >"$files"
    if (($# == 0)); then
      local quarter=$(($(git rev-list --count HEAD) % 4))
      awk -v quarter="$quarter" 'NR % 4 == quarter' "$files" >"$files.quarter" && mv "$files.quarter" "$files"
    fi
    xargs -a "$files" -P "$(nproc)" -n 1 bash -c 'tidy_batch "$1"' bash >build/tidy.txt
  fi
  cat build/tidy.txt
  count=$(grep -c ': error: ' build/tidy.txt || true)
  printf 'clang-tidy: %s findings\n' "$count"
  ((count == 0))
}

# What has several threads, under ThreadSanitizer.
threads() {
  ./setup.sh build tsan thread_tests
  ctest --preset tsan -L threads -j 2 --no-tests=error
}
