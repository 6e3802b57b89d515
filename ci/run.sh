#!/usr/bin/env bash
# What action.yml and ci/gitlab.yml do, as a script: provides lanewise, checks the scenarios of the repository in the
# current folder, and compares with its base branch. `ci/run.sh help` lists commands and variables.
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
cache=${LANEWISE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/lanewise-ci}
report=${LANEWISE_REPORT:-lanewise-report}
mode=${LANEWISE_MODE:-sim}

usage() {
  cat <<'END'
usage: ci/run.sh COMMAND

  key        print what the installed program depends on: sources, distribution, processor
  kernel-key print which kernel the emulator would fetch
  install    provide lanewise; the first that is given: LANEWISE_PROGRAM, LANEWISE_PACKAGE, a build in the cache, or a build
             of these sources
  soft-roce  provide nodes for network scenarios: Soft-RoCE of this kernel, or else the emulator's packages
  check      check the scenarios, write reports, and end with the exit code of `lanewise check`

Variables, all optional:
  LANEWISE_SCENARIOS   scenario and machine files, or folders of them, one a line (default: lanewise)
  LANEWISE_MODE        sim, estimate, hw or both (default: sim; estimate where the program has no simulator)
  LANEWISE_NODES       where nodes of Soft-RoCE clusters run: auto, here or emulator (default: auto)
  LANEWISE_BASELINE    `branch`: compare with the branch that a change is to be merged into; `none`; or a file that
                       `lanewise check --json` wrote (default: branch)
  LANEWISE_TOLERANCE   as --tolerance (default: 2%)
  LANEWISE_FAIL_ON     as --fail-on (default: slower,mechanism)
  LANEWISE_ARGUMENTS   further arguments of `lanewise check`, one a line
  LANEWISE_PROGRAM     a lanewise that is there
  LANEWISE_PACKAGE     a .deb of lanewise: a path or a URL
  LANEWISE_CACHE       folder of the build (default: ~/.cache/lanewise-ci)
  LANEWISE_REPORT      folder for the reports (default: lanewise-report)
END
}

say() { printf '== %s\n' "$*" >&2; }
refuse() {
  printf 'ci/run.sh: %s\n' "$2" >&2
  exit "$1"
}
as_root() { if ((EUID == 0)); then "$@"; else sudo "$@"; fi; }

# A new system has no lists of packages.
have_lists() { compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null || as_root apt-get -qq update >&2; }

# lines TEXT: its lines that are not empty, each ended by a null character.
lines() {
  local line
  while IFS= read -r line || [[ -n $line ]]; do
    if [[ -n ${line//[[:space:]]/} ]]; then printf '%s\0' "$line"; fi
  done <<<"$1"
}

# ---- install

# Distribution, version and processor.
system() {
  # shellcheck source=/dev/null
  (. /etc/os-release && printf '%s-%s-%s' "$ID" "${VERSION_ID:-rolling}" "$(uname -m)")
}

key() {
  local sources
  # Whatever is compiled or installed; documents and tests change nothing.
  sources=$(cd -- "$root" && find CMakeLists.txt CMakePresets.json LICENSE setup.sh ci/run.sh cmake core sim hw lp process launch \
    emulator cli topologies scenarios measurements workloads -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum)
  printf '%s-%s\n' "$(system)" "${sources:0:16}"
}

# The package names another kernel with each of its versions.
kernel_key() {
  local package version=none
  have_lists
  for package in linux-image-amd64 linux-image-generic; do
    version=$(apt-cache policy "$package" 2>/dev/null | awk '/Candidate:/ {print $2}')
    [[ -n $version && $version != '(none)' ]] && break
  done
  printf '%s-%s\n' "$(system)" "${version:-none}"
}

# Packages that the built program and what it loads are linked with: all that a machine needs which finds it in the cache.
runtime_packages() {
  find "$1" -type f \( -name lanewise -o -name '*.so*' \) -exec ldd {} + 2>/dev/null | awk '/=> \//{print $3}' | sort -u |
    while read -r library; do
      dpkg-query -S "$library" 2>/dev/null || dpkg-query -S "$(readlink -f "$library")" 2>/dev/null || true
    done | cut -d: -f1 | sort -u
}

build() {
  local prefix=$1
  say "building lanewise from $root (some ten minutes; the next run takes it from the cache)"
  "$root/setup.sh" build release
  cmake --install "$root/build/release" --prefix "$prefix" >/dev/null
  runtime_packages "$prefix" >"$prefix/packages"
}

# apt_install PACKAGE...: says something only if it fails.
apt_install() {
  local log
  log=$(mktemp)
  have_lists
  if ! as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@" >"$log" 2>&1 </dev/null; then
    tail -n 50 "$log" >&2
    return 1
  fi
}

# install_missing PACKAGE...: installs those that are not there.
install_missing() {
  local -a missing=()
  local package
  for package in "$@"; do
    [[ $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
  done
  ((${#missing[@]} > 0)) || return 0
  say "installing ${missing[*]}"
  apt_install "${missing[@]}"
}

from_package() {
  local package=$1
  if [[ $package == *://* ]]; then
    package=$(mktemp --suffix .deb)
    curl --fail --silent --show-error --location --retry 3 --output "$package" "$1"
    chmod a+r "$package" # apt reads it as a user of its own
  fi
  [[ -f $package ]] || refuse 2 "LANEWISE_PACKAGE: no such file: $package"
  say "installing $package"
  apt_install "$(realpath "$package")"
  command -v lanewise
}

# Writes down where the program is, for `check`.
install() {
  local program prefix
  if [[ -n ${LANEWISE_PROGRAM:-} ]]; then
    program=$(command -v "$LANEWISE_PROGRAM") || refuse 2 "LANEWISE_PROGRAM: no such program: $LANEWISE_PROGRAM"
  elif [[ -n ${LANEWISE_PACKAGE:-} ]]; then
    program=$(from_package "$LANEWISE_PACKAGE")
  else
    prefix=$cache/$(key)
    if [[ -x $prefix/bin/lanewise ]]; then
      mapfile -t packages <"$prefix/packages"
      install_missing "${packages[@]}"
    else
      build "$prefix"
    fi
    program=$prefix/bin/lanewise
  fi
  mkdir -p "$cache"
  realpath "$program" >"$cache/program"
  "$program" --version >&2
}

installed_program() {
  [[ -f $cache/program ]] || install
  cat "$cache/program"
}

# ---- soft-roce

soft_roce() {
  local interface
  interface=$(ip -o -4 route show to default 2>/dev/null | awk '{print $5; exit}')
  if [[ ${LANEWISE_NODES:-auto} != emulator && -n $interface ]]; then
    # Ubuntu has the module in a package of its own.
    as_root modprobe rdma_rxe 2>/dev/null || install_missing "linux-modules-extra-$(uname -r)" || true
    if as_root modprobe rdma_rxe && as_root rdma link add rxe0 type rxe netdev "$interface"; then
      as_root chmod a+rw /dev/infiniband/uverbs*
      "$root/setup.sh" install emulator # mpirun and the user's half of Soft-RoCE
      return
    fi
    [[ ${LANEWISE_NODES:-auto} != here ]] || refuse 3 "this kernel has no Soft-RoCE (module rdma_rxe)"
  fi
  say "nodes run in the emulator"
  if [[ -e /dev/kvm ]]; then as_root chmod a+rw /dev/kvm; fi
  "$root/setup.sh" install emulator
}

# ---- check

# The commit that the change is compared with, fetched; nothing where there is none.
base_commit() {
  local base=${CI_MERGE_REQUEST_DIFF_BASE_SHA:-}
  if [[ -z $base && -n ${GITHUB_BASE_REF:-} ]]; then base=refs/heads/$GITHUB_BASE_REF; fi
  [[ -n $base ]] || return 0
  if git cat-file -e "$base^{commit}" 2>/dev/null && [[ $base != refs/* ]]; then
    printf '%s\n' "$base"
  elif git fetch --quiet --depth=1 origin "$base" >&2; then
    git rev-parse FETCH_HEAD
  else
    say "the base branch cannot be fetched; comparing with nothing"
  fi
}

# Checks the scenarios of another commit of this repository into a file. Its own failures are not ours.
check_base() {
  local commit=$1 file=$2 tree code=0
  shift 2
  tree=$(mktemp -d)
  git worktree add --quiet --force --detach "$tree" "$commit"
  # In the same folder below the other tree, so that files have the same names.
  (cd -- "$tree/$(git rev-parse --show-prefix)" 2>/dev/null && "$@" --json) >"$file" 2>/dev/null || code=$?
  git worktree remove --force "$tree"
  [[ -s $file ]] && ((code <= 2))
}

# The mode that the program can run.
possible_mode() {
  local program=$1
  if [[ $mode == sim ]] && "$program" --version | grep -q '^sim: no'; then
    say "this lanewise has no simulator: checking by its estimate"
    printf 'estimate\n'
  else
    printf '%s\n' "$mode"
  fi
}

check() {
  local program run_mode commit code=0
  local -a scenarios further base=() command
  local -a limits=(--tolerance "${LANEWISE_TOLERANCE:-2%}" --fail-on "${LANEWISE_FAIL_ON:-slower,mechanism}")
  program=$(installed_program)
  run_mode=$(possible_mode "$program")
  mapfile -d '' -t scenarios < <(lines "${LANEWISE_SCENARIOS:-lanewise}")
  mapfile -d '' -t further < <(lines "${LANEWISE_ARGUMENTS:-}")
  mkdir -p "$report"
  case ${LANEWISE_BASELINE:-branch} in
    none) ;;
    branch)
      commit=$(base_commit)
      if [[ -n $commit ]]; then
        say "checking the base ($commit)"
        # What is measured differs from run to run and takes long: of the base, the simulation is enough.
        if check_base "$commit" "$report/base.json" "$program" check "${scenarios[@]}" "${further[@]}" --mode \
          "$(if [[ $run_mode == estimate ]]; then echo estimate; else echo sim; fi)"; then
          base=(--baseline "$report/base.json" "${limits[@]}")
        else
          say "the base cannot be checked; comparing with nothing"
        fi
      fi
      ;;
    *) base=(--baseline "$LANEWISE_BASELINE" "${limits[@]}") ;;
  esac
  command=("$program" check "${scenarios[@]}" --mode "$run_mode" --junit "$report/junit.xml" --summary "$report/summary.md")
  [[ $run_mode != both && $run_mode != hw ]] || command+=(--nodes "${LANEWISE_NODES:-auto}")
  [[ -z ${GITHUB_ACTIONS:-} ]] || command+=(--annotations github)
  command+=("${base[@]}" "${further[@]}")
  say "${command[*]}"
  # GitHub documents annotations on standard output only.
  "${command[@]}" 2>&1 || code=$?
  if [[ -n ${GITHUB_STEP_SUMMARY:-} && -f $report/summary.md ]]; then cat "$report/summary.md" >>"$GITHUB_STEP_SUMMARY"; fi
  return "$code"
}

case ${1:-help} in
  key) key ;;
  kernel-key) kernel_key ;;
  install) install ;;
  soft-roce) soft_roce ;;
  check) check ;;
  help | -h | --help) usage ;;
  *) refuse 2 "no command '$1'; ci/run.sh help lists them" ;;
esac
