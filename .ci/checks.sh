# shellcheck shell=bash
# The checks of sources that both .ci/run and the workflows call; read it with `source`, from the root of the tree.

# Folders with C++ of ours.
kSourceFolders=(core sim hw lp process launch emulator cli tests bench fuzz)

# Sources of ours, whether git knows them yet or not.
sources() {
  find "${kSourceFolders[@]}" \( -name '*.hpp' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' \) 2>/dev/null || true
}

formatted() { sources | xargs clang-format-14 --dry-run --Werror; }

scripts() { shellcheck setup.sh .ci/run .ci/checks.sh bench/*.sh tests/*/*.sh; }

# Every header compiles with nothing included before it; those that need CUDA's only where nvcc is.
headers() {
  local nvcc needs_cuda='^(hw/cuda|bench/gpu)/'
  local -a options=(-std=c++20 -fsyntax-only -w -I. '-DLANEWISE_SOURCE_DIR=""' '-DLANEWISE_PROGRAM=""')
  nvcc=$(command -v nvcc || true)
  if [[ -n $nvcc ]]; then
    options+=(-isystem "$(dirname -- "$(readlink -f -- "$nvcc")")/../include")
    needs_cuda='^$'
  fi
  sources | grep '\.hpp$' | grep -vE "$needs_cuda" | xargs -P "$(nproc)" -n 1 g++ "${options[@]}" -x c++
}

# tidy [FILE...]: clang-tidy on these sources; without any, on every C++ source but the tests. Needs build/release to be
# configured. Any finding fails, and so does a clang-tidy that crashes.
tidy() {
  local count
  {
    if (($# > 0)); then printf '%s\n' "$@"; else find core sim hw lp process launch emulator cli bench -name '*.cpp'; fi
  } | sort | while read -r file; do
    if grep -q "\"file\": \"$PWD/$file\"" build/release/compile_commands.json; then printf '%s\n' "$file"; fi
  done >build/tidy-files.txt
  # shellcheck disable=SC2016  # the inner shell expands them
  xargs -r -P "$(nproc)" -n 1 sh -c 'found=$(clang-tidy -p build/release --quiet "$1" 2>/dev/null) ||
      printf "%s\n%s: error: clang-tidy ends with %s\n" "$found" "$1" "$?"' sh <build/tidy-files.txt |
    tee build/tidy.txt
  count=$(grep -c ': error: ' build/tidy.txt || true)
  printf 'clang-tidy: %s files, %s findings\n' "$(wc -l <build/tidy-files.txt)" "$count"
  ((count == 0))
}
