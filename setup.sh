#!/usr/bin/env bash
# From a clone to an answer on Debian 12 and Ubuntu 24.04: installs what is missing from the distribution's packages,
# builds Release, and does what was asked. `./setup.sh help` lists the commands.
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
stage="" # what is being done, named if it fails
log=""   # what it wrote, shown if it fails

# Without libsimgrid-dev everything but the simulation is built; without coinor-libclp-dev bounds are closed forms; without
# libibverbs-dev and libopenmpi-dev plans are run on one node; without liburing-dev drives are read by threads. The Python module is built where its packages are; `run` does
# not need it, and Python's development files take their time to install.
packages_build=(g++ cmake ninja-build libfmt-dev libyaml-cpp-dev nlohmann-json3-dev libcli11-dev libpugixml-dev
  libsimgrid-dev coinor-libclp-dev libibverbs-dev libopenmpi-dev liburing-dev graphviz)
packages_python=(pybind11-dev python3-dev python3-numpy)
packages_test=(libgtest-dev libgmock-dev "${packages_python[@]}" python3-pytest mypy)
packages_bench=(libbenchmark-dev)
# The kernel that the emulator boots is the installed one, or fetched when first needed; ssh is for several nodes, mpirun
# starts what runs on all of them, and ibverbs-providers has the user's half of Soft-RoCE.
packages_emulator=(qemu-system-x86 openssh-client dropbear-bin openmpi-bin ibverbs-providers iproute2 perftest)
# The source of the kernel that the rules of peer access speak of: Debian 12's; elsewhere the distribution's own.
packages_oracle=(linux-source)
if grep -qsx VERSION_CODENAME=bookworm /etc/os-release; then packages_oracle=(linux-source-6.1); fi
# dpkg-shlibdeps, which finds what the packages depend on.
packages_package=(dpkg-dev file)
# d3, which pages of --html draw with, what serves that of `explore`, and the browser that their tests open them in (Ubuntu
# has none as a package).
packages_page=(node-d3 libcpp-httplib-dev pkgconf)
if grep -qsx ID=debian /etc/os-release; then packages_page+=(chromium fonts-dejavu-core); fi
# What clang-format and clang-tidy say differs between releases, hence one for all; the others are the distribution's own.
packages_lint=(clang-format-14 clang-tidy-14 clang libclang-rt-dev shellcheck)

files_at_once=24 # in one compilation

# The tests that ask for tests/support/sweep.hpp.
sweeps='^SetReport\.Keeps|^(EveryMachine|EveryCluster)\.|/(Sets|RandomSets|AlgorithmChoice|ChosenCollectives)\.|RandomJobSets|RandomPlatforms|^MakespanBelow\.Is|^OrderOfEvents\.Computing'

usage() {
  cat <<'END'
usage: ./setup.sh COMMAND

  run        install, build what plans and simulates, then check the bundled scenarios; the exit code is that of
             `lanewise check`
  test       install, build, then run the whole test suite
  sweep      install, build, then run those tests over everything that go over a sample otherwise: all machines, many
             times more random inputs (some ten minutes)
  build [PRESET [TARGET]]
             install and build only; a preset of CMakePresets.json, release if not said; one of its targets, or all
  bench [ARGUMENT]...
             install, build, then measure everything into docs/benchmarks.md; with arguments (--benchmark_filter=...)
             only run the benchmarks with them
  package    install, build, then make Debian packages of what was built, and print their paths (docs/packages.md)
  install [build|python|test|bench|lint|emulator|oracle|package|page]...
             install packages only: those to build (always), to build the Python module, to test, to measure, to lint and
             fuzz, to emulate machines, to hold rules to Linux's source, to make packages, to draw pages (--html, explore)
  help       this text

Packages come from apt-get, as root or through sudo; nothing is asked of it when nothing is missing.
LANEWISE_JOBS=N sets the number of compilers at once (otherwise what cores and memory allow).
END
}

say() { printf '== %s\n' "$*" >&2; }

ended() {
  local code=$?
  if ((code != 0)) && [[ -n $stage ]]; then
    tail -n 200 -- "$log" >&2
    say "failed: $stage (exit code $code)"
  fi
  [[ -z $log ]] || rm -f -- "$log"
}
trap ended EXIT

# refuse CODE MESSAGE: 2 for a wrong command line, 3 for something that is not here.
refuse() {
  stage=""
  printf 'setup.sh: %s\n' "$2" >&2
  exit "$1"
}

begin() {
  stage=$1
  say "$stage"
}
quietly() { "$@" >"$log" 2>&1 </dev/null; }
# The same, but where someone watches what it writes is seen at once.
visibly() { if [[ -t 2 ]]; then "$@" >&2 </dev/null; else quietly "$@"; fi; }

installed() { [[ $(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null) == installed ]]; }

missing() {
  local package
  for package in "$@"; do
    installed "$package" || printf '%s\n' "$package"
  done
}

as_root=()
need_root() {
  [[ $EUID -eq 0 ]] && return
  command -v sudo >/dev/null || refuse 3 "to install $* run this as root, or install sudo"
  [[ -t 0 ]] || sudo -n true 2>/dev/null || refuse 3 "to install $* sudo wants a password, and there is no terminal to ask on"
  sudo true
  as_root=(sudo)
}

apt() {
  local -a run=(quietly)
  if [[ $1 == install && $* != *--simulate* ]]; then run=(visibly); fi
  "${run[@]}" "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300 "$@"
}

# A new system has no package lists at all, an old one lists of files that are gone: fetched only when something is missing.
have_lists() { compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null; }

install_packages() {
  local -a wanted=("$@") lacking=() required=()
  local package simgrid=
  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    refuse 3 "this is not Debian or Ubuntu; provide what ${wanted[*]} provide there, then: cmake --preset release && cmake --build --preset release"
  fi
  mapfile -t lacking < <(missing "${wanted[@]}")
  for package in "${lacking[@]}"; do
    if [[ $package == libsimgrid-dev ]]; then simgrid=$package; else required+=("$package"); fi
  done
  if ((${#lacking[@]} == 0)); then
    say "packages: nothing missing"
    return
  fi
  need_root "${lacking[@]}"
  if ((${#required[@]} > 0)) || ! have_lists; then
    begin "packages: fetch the lists"
    apt update
  fi
  if [[ -n $simgrid ]] && ! apt install --simulate --no-install-recommends "$simgrid"; then
    say "packages: this distribution cannot install $simgrid; going on without the simulator ($(grep -m1 '^E:' "$log" || echo 'apt-get gives no reason'))"
    simgrid=
  fi
  # shellcheck disable=SC2206  # empty where there is no SimGrid
  local -a install=("${required[@]}" $simgrid)
  ((${#install[@]} > 0)) || return 0
  begin "packages: install ${install[*]}"
  apt install -y --no-install-recommends "${install[@]}"
}

# The compilers that fit: one for each core, and for each 1.5 GB of memory that is free.
compilers() {
  local cores free_kib limit fit
  cores=$(nproc)
  free_kib=$(awk '/^MemAvailable:/ {print $2}' /proc/meminfo 2>/dev/null || true)
  limit=$(cat /sys/fs/cgroup/memory.max 2>/dev/null || true)
  [[ $limit =~ ^[0-9]+$ ]] && ((limit / 1024 < ${free_kib:-limit})) && free_kib=$((limit / 1024))
  fit=$((${free_kib:-1500000} / 1500000))
  ((fit < cores)) || fit=$cores
  ((fit > 0)) || fit=1
  printf '%s\n' "${LANEWISE_JOBS:-$fit}"
}

on_if() { if "$@"; then echo ON; else echo OFF; fi; }

# build PRESET [TARGET]
build() {
  local preset=$1 target=${2:-all} home count
  local -a options=()
  if [[ $preset == release ]]; then
    # -U: what may have been installed since is looked for anew each time.
    options=(-U LANEWISE_SIM -U LANEWISE_CUDA -U LANEWISE_PYTHON "-DLANEWISE_TESTS=$(on_if installed libgmock-dev)"
      "-DLANEWISE_BENCH=$(on_if installed libbenchmark-dev)"
      # Where the distribution's own libraries are, so that a package can be made of this tree.
      "-DCMAKE_INSTALL_LIBDIR=lib/$(g++ -print-multiarch)")
  fi
  if command -v ccache >/dev/null; then
    # Paths below the tree as relative ones: another clone finds what this one compiled.
    export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1
    options+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  fi
  home=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "build/$preset/CMakeCache.txt" 2>/dev/null || true)
  if [[ -n $home && $home != "$root" ]]; then options+=(--fresh); fi # the tree was moved or copied
  # Several files in one compilation take less time; with sanitizers fewer, for these need more memory. A tree that was
  # configured without that stays so, and the presets compile each file by itself
  # (docs/decisions/008-first-builds-join-files.md).
  if [[ $home != "$root" ]]; then
    count=$files_at_once
    [[ $preset == release ]] || count=$((files_at_once / 2))
    options+=(-DCMAKE_UNITY_BUILD=ON "-DCMAKE_UNITY_BUILD_BATCH_SIZE=$count")
  fi
  if [[ $preset == asan && -n $home ]] && ! grep -q '^CMAKE_CXX_COMPILER:.*clang' "build/$preset/CMakeCache.txt"; then
    options+=(--fresh) # made when the preset had another compiler
  fi
  begin "configure ($preset)"
  quietly cmake --preset "$preset" "${options[@]}"
  count=$(compilers)
  begin "build ($preset, $count at once)"
  visibly cmake --build --preset "$preset" -j "$count" --target "$target"
}

# Hands over to a program: its output is the last, and its exit code is ours.
hand_over() {
  say "$*"
  rm -f -- "$log"
  exec "$@"
}

# CPack installs without building: a package holds the files of the tree that build() has just brought up to date.
make_packages() {
  begin "make packages"
  rm -rf -- build/release/packages
  quietly cpack --config build/release/CPackConfig.cmake
  stage=""
  printf '%s\n' "$root"/build/release/packages/*.deb
}

# The test suite; then one line on what was skipped. A CI system finds ctest's own summary at the end of its log.
test_suite() {
  local code=0 skipped
  [[ -z ${CI:-} ]] || hand_over ctest --preset release -j 2
  stage=""
  ctest --preset release -j 2 --output-junit "$root/build/release/tests.xml" || code=$?
  skipped=$(grep -c 'status="notrun"' build/release/tests.xml || true)
  if ((skipped > 0)); then
    say "skipped: $skipped tests that need two GPUs, an RDMA device, virtual machines or Linux's source; those of the last two run after ./setup.sh install emulator oracle"
  fi
  return "$code"
}

main() {
  local command=${1:-help} preset=release target=all group
  local -a wanted=("${packages_build[@]}")
  (($# == 0)) || shift
  case $command in
    help | -h | --help) usage && return ;;
    run) target=planning ;;
    build)
      preset=${1:-release}
      (($# == 0)) || shift
      target=${1:-all}
      (($# == 0)) || shift
      case $preset in
        release) ;;
        asan) wanted+=("${packages_test[@]}" "${packages_lint[@]}") ;;
        *) wanted+=("${packages_test[@]}") ;;
      esac
      ;;
    test | sweep) wanted+=("${packages_test[@]}") ;;
    bench) wanted+=("${packages_bench[@]}") ;;
    package) target=installed wanted+=("${packages_python[@]}" "${packages_package[@]}" node-d3 libcpp-httplib-dev pkgconf) ;;
    install)
      for group in "$@"; do
        case $group in
          build) ;;
          python) wanted+=("${packages_python[@]}") ;;
          test) wanted+=("${packages_test[@]}") ;;
          bench) wanted+=("${packages_bench[@]}") ;;
          lint) wanted+=("${packages_lint[@]}") ;;
          emulator) wanted+=("${packages_emulator[@]}") ;;
          oracle) wanted+=("${packages_oracle[@]}") ;;
          package) wanted+=("${packages_package[@]}") ;;
          page) wanted+=("${packages_page[@]}") ;;
          *) refuse 2 "no packages '$group'; there are: build, python, test, bench, lint, emulator, oracle, package, page" ;;
        esac
      done
      ;;
    *) refuse 2 "no command '$command'; ./setup.sh help lists them" ;;
  esac
  case $command in run | build | test | sweep | package) (($# == 0)) || refuse 2 "$command does not take '$*'" ;; esac

  cd -- "$root"
  log=$(mktemp)
  install_packages "${wanted[@]}"
  [[ $command != install ]] || return 0
  build "$preset" "$target"
  case $command in
    run) hand_over build/release/bin/lanewise check scenarios/ ;;
    test) test_suite ;;
    sweep) hand_over env LANEWISE_SWEEP=whole ctest --preset release -j 2 --timeout 3600 -R "$sweeps" ;;
    package) make_packages ;;
    bench)
      (($# == 0)) || hand_over build/release/bin/lanewise_bench "$@"
      hand_over bench/run.sh
      ;;
  esac
}

main "$@"
