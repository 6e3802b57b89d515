#!/usr/bin/env bash
# fresh_root.sh SUITE: builds the packages in a fresh root of this release of Debian (bookworm, trixie), asks lintian,
# builds the examples with them; installs them in another fresh root, which has no compiler, tries them, removes them,
# and looks for what stayed. Needs root, debootstrap and the archive; exit code 3 when one of these is missing.
#   LANEWISE_CCACHE=FOLDER  keeps what is compiled there for the next time
#   LANEWISE_ROOTS=FOLDER   has the roots kept-SUITE that debootstrap made, to be copied
#   LANEWISE_MIRROR=URL     the archive
# shellcheck disable=SC2016  # the inner shells expand
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/package/roots.sh
source tests/package/roots.sh
suite=${1:-}
[[ -n $suite ]] || { echo "usage: fresh_root.sh bookworm|trixie" >&2 && exit 2; }
scenario=acs-halves-bidirectional-p2p

need_roots "$suite"
new_root build "$suite"
new_root clean "$suite"

say "build the packages ($suite)"
put_sources build /src/lanewise
add_cache build
inside build /src/lanewise/setup.sh package >"$work/packages.txt"
mkdir "$work/packages"
while read -r file; do cp -- "$work/build$file" "$work/packages/"; done <"$work/packages.txt"
ls -l "$work/packages"

say "lintian"
mkdir "$work/build/packages" "$work/clean/packages"
cp "$work"/packages/*.deb "$work/build/packages/"
inside build sh -c 'apt-get -qq install -y --no-install-recommends lintian' >/dev/null 2>&1
inside build lintian --version
# Shown for the reader; where they are shown, lintian 2.116 counts what is overridden as a failure.
inside build sh -c 'lintian --allow-root --show-overrides /packages/*.deb' || true
inside build sh -c 'lintian --allow-root --fail-on error,warning /packages/*.deb'
echo "no errors, no warnings"

say "build the examples with the package for developers"
inside build sh -c 'apt-get -qq install -y --no-install-recommends /packages/lanewise_*.deb /packages/liblanewise-dev_*.deb' >/dev/null 2>&1
inside build rm -rf /src
inside build sh -c 'cmake -G Ninja -S /usr/share/doc/liblanewise-dev/examples -B /tmp/examples && cmake --build /tmp/examples' >/dev/null
inside build sh -c 'cd / && /tmp/examples/plan_transfer dgx-a100 gpu0 gpu1 && /tmp/examples/simulate_scenario atomics-need-nvlink dgx-a100 | tail -n 3'

say "install in a root without compilers"
for program in cc g++ cmake; do ! inside clean sh -c "command -v $program" || cannot "the clean root has $program"; done
everything() { inside clean find / -xdev -path /proc -prune -o -path /packages -prune -o -path /tmp -prune -o -print | sort; }
cp "$work"/packages/lanewise_*.deb "$work/clean/packages/"
inside clean apt-get -qq update
inside clean dpkg-query -W -f '${Package}\n' >"$work/packages-before.txt"
everything >"$work/files-before.txt"
began=$SECONDS
inside clean sh -c 'apt-get -qq install -y --no-install-recommends /packages/lanewise_*.deb' >/dev/null 2>&1
echo "installed in $((SECONDS - began)) s"

say "the program"
inside clean useradd --create-home somebody
as_somebody() { inside clean su somebody -c "cd && $*"; }
as_somebody lanewise --version
as_somebody lanewise show dgx-a100 | sed -n 1,4p
as_somebody lanewise matrix dgx-a100 --mode sim | sed -n 1,3p
as_somebody lanewise run two-nodes-on-one-rail | tail -n 2
as_somebody lanewise check "$scenario"
as_somebody "lanewise check acs-halves-bidirectional-p2 2>&1; test \$? -eq 2"
for file in man/man1/lanewise.1.gz man/man1/lanewise-check.1.gz bash-completion/completions/lanewise \
  zsh/vendor-completions/_lanewise fish/vendor_completions.d/lanewise.fish doc/lanewise/copyright; do
  [[ -s $work/clean/usr/share/$file ]] || { echo "not installed: $file" && exit 1; }
done
zcat "$work/clean/usr/share/man/man1/lanewise-check.1.gz" | grep -A 1 '^.SH NAME'
inside clean bash -c 'source /usr/share/bash-completion/completions/lanewise && COMP_WORDS=(lanewise show dgx-a) COMP_CWORD=2 && { _lanewise; [[ " ${COMPREPLY[*]} " == *" dgx-a100 "* ]]; } && printf "completes to: %s\n" "${COMPREPLY[*]}"'

say "remove"
inside clean userdel --remove somebody 2>/dev/null
inside clean sh -c 'apt-get -qq purge -y lanewise && apt-get -qq autoremove --purge -y' >/dev/null 2>&1
# apt keeps what is of priority `important`, such as adduser, whoever asked for it.
inside clean dpkg-query -W -f '${Package} ${Priority}\n' | grep -v ' important$' | cut -d ' ' -f 1 >"$work/packages-after.txt"
comm -13 <(sort "$work/packages-before.txt") <(sort "$work/packages-after.txt") | grep . && echo "packages stayed" && exit 1
everything | comm -13 "$work/files-before.txt" - >"$work/left.txt"
if grep -i lanewise "$work/left.txt"; then
  echo "left behind" && exit 1
fi
# Logs and lists that any package leaves, and what scripts of other packages made.
grep -vE '^/var/(log|cache|lib/(apt|dpkg))(/|$)' "$work/left.txt" | sed 's/^/left by other packages: /' || true
echo "nothing of lanewise is left"
say "fine ($suite)"
