#!/usr/bin/env bash
# contents.sh PACKAGE.deb...: looks into packages that `./setup.sh package` made: what they hold, whose it is, what they
# depend on; and asks lintian where it is installed.
set -euo pipefail
(($# > 0)) || { echo "contents.sh: no packages were made" >&2 && exit 2; }
failures=0
failed() {
  printf 'FAIL %s\n' "$*"
  failures=$((failures + 1))
}
version=$(sed -n 's/^project(lanewise VERSION \([0-9.]*\) .*/\1/p' "$(dirname -- "${BASH_SOURCE[0]}")/../../CMakeLists.txt")

# holds PACKAGE PATTERN...: a file matches each pattern.
holds() {
  local package=$1 pattern
  shift
  for pattern in "$@"; do
    grep -qE " \./usr/$pattern( ->.*)?\$" "$list" || failed "$package holds no $pattern"
  done
}

list=$(mktemp)
trap 'rm -f -- "$list"' EXIT
for package in "$@"; do
  name=$(dpkg-deb -f "$package" Package)
  dpkg-deb -c "$package" >"$list"
  printf '%s: %s files, %s\n' "$(basename "$package")" "$(grep -vc '/$' "$list")" "$(dpkg-deb -f "$package" Depends)"
  [[ $(dpkg-deb -f "$package" Version) == "$version"-* ]] || failed "$name is not of version $version"
  ! grep -vE '^(d|l|-)rwxr[-w]xr[-w]x root/root|^-rw-r--r-- root/root|^l' "$list" || failed "$name: owners or permissions"
  ! grep -vE ' \./(usr/.*)?$| -> ' "$list" || failed "$name: files outside /usr"
  holds "$name" "share/doc/$name/copyright" "share/doc/$name/changelog.Debian.gz"
  case $name in
    lanewise)
      holds "$name" bin/lanewise 'lib/[^/]*/liblanewise_core.so.0.1' 'share/lanewise/scenarios/atomics-need-nvlink.yaml' \
        share/lanewise/topologies/machines/dgx-a100.yaml 'share/man/man1/lanewise(-check)?.1.gz' \
        share/bash-completion/completions/lanewise share/zsh/vendor-completions/_lanewise \
        share/fish/vendor_completions.d/lanewise.fish
      ! grep -E '\.so$|/include/' "$list" | grep -v '/lanewise/' || failed "$name: files of liblanewise-dev"
      [[ $(dpkg-deb -f "$package" Depends) == *libc6* ]] || failed "$name depends on no library"
      ;;
    liblanewise-dev)
      holds "$name" include/lanewise/machine/machine.hpp 'lib/[^/]*/cmake/lanewise/lanewiseConfig.cmake' \
        'lib/[^/]*/liblanewise_core.so' share/doc/liblanewise-dev/examples/plan_transfer.cpp
      [[ $(dpkg-deb -f "$package" Depends) == *"lanewise (= $version-"* ]] || failed "$name fits any lanewise"
      ;;
  esac
done
if command -v lintian >/dev/null; then
  lintian --allow-root --fail-on error,warning "$@" || failed "lintian finds something"
else
  echo "lintian is not installed: not asked"
fi
((failures == 0))
