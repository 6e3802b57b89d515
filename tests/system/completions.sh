#!/usr/bin/env bash
# completions.sh PROGRAM: completions and manual pages as the program prints them, tried in the shells that are here.
# bash is; zsh, fish, mandoc and man are not everywhere.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
ln -s "$(realpath "$1")" "$folder/lanewise"
export PATH=$folder:$PATH
cd "$folder"
failures=0

failed() {
  printf 'FAIL %s\n' "$*"
  failures=$((failures + 1))
}

# expect LINE WORD...: at the end of this command line each of the words is offered, and no word that begins with '!'.
expect() {
  local line=$1 word offered
  shift
  offered=$(offered_for "$line")
  for word in "$@"; do
    if [[ $word == '!'* ]]; then
      ! grep -qxF -- "${word#!}" <<<"$offered" || failed "$shell: '$line' offers ${word#!}"
    else
      grep -qxF -- "$word" <<<"$offered" || failed "$shell: '$line' does not offer $word but: $offered"
    fi
  done
}

# What is expected of every shell.
everywhere() {
  expect 'lanewise ' show check export '!schema'
  expect 'lanewise sh' show '!check'
  expect 'lanewise export ' schema completions '!show'
  expect 'lanewise export schema ' machine scenario
  expect 'lanewise show --a' --as
  expect 'lanewise show --as ' tree topo svg
  expect 'lanewise show dgx-a' dgx-a100 '!dgx-1' '!acs-halves-bidirectional-p2p'
  expect 'lanewise matrix --mode sim dgx-a' dgx-a100
  expect 'lanewise check acs-hal' acs-halves-bidirectional-p2p
  expect 'lanewise check acs-halves-bidirectional-p2p two-nodes' two-nodes-on-one-rail
  expect 'lanewise plan acs-halves-bidirectional-p2p --on dgx-a' dgx-a100
  expect 'lanewise run mine' mine.yaml
}
touch mine.yaml

# ---- bash
shell=bash
# shellcheck source=/dev/null
source <(lanewise export completions bash)
offered_for() {
  local -a COMP_WORDS COMPREPLY
  local COMP_CWORD
  read -ra COMP_WORDS <<<"$1"
  [[ $1 != *' ' ]] || COMP_WORDS+=('')
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  _lanewise
  printf '%s\n' "${COMPREPLY[@]}"
}
everywhere
# The shell takes '=' for a word of its own.
COMP_WORDS=(lanewise check x --mode '=' est) COMP_CWORD=5 COMPREPLY=()
_lanewise
[[ ${COMPREPLY[*]} == estimate ]] || failed "bash: --mode=est gives ${COMPREPLY[*]}"

# ---- fish
if command -v fish >/dev/null; then
  shell=fish
  lanewise export completions fish >lanewise.fish
  fish --no-execute lanewise.fish || failed "fish cannot read its completions"
  # A description follows each word behind a tab.
  offered_for() { fish --no-config -c "source lanewise.fish; complete -C '$1'" | cut -f 1; }
  everywhere
fi

# ---- zsh: whether it can be read, and the names that it offers; it completes on terminals only.
if command -v zsh >/dev/null; then
  lanewise export completions zsh >_lanewise
  zsh -n _lanewise || failed "zsh cannot read its completions"
  # Its last line completes; the others are functions. `compadd -a names` offers what the array holds.
  # shellcheck disable=SC2016  # zsh expands it
  zsh -c 'compadd() { print -l -- $names }; eval "$(sed \$d _lanewise)"; _lanewise_names machines' >names
  grep -qx dgx-a100 names || failed "zsh offers no machines: $(head -n 3 names)"
fi

# ---- manual pages
lanewise export man -o pages
COMP_WORDS=(lanewise '') COMP_CWORD=1 COMPREPLY=()
_lanewise
for command in "${COMPREPLY[@]}"; do
  [[ -s pages/lanewise-$command.1 ]] || failed "no page of $command"
done
grep -q 'calibration' pages/lanewise-show.1 || failed "lanewise-show(1) has no --calibration"
[[ $(lanewise export man show) == "$(<pages/lanewise-show.1)" ]] || failed "export man show is another page"
for page in pages/*.1; do
  if command -v mandoc >/dev/null; then
    # The pages are of a version; without a date they are the same whenever they are made.
    lint=$(mandoc -Tlint -Wwarning "$page" | grep -v 'missing date' || true)
    [[ -z $lint ]] || failed "mandoc: $lint"
  fi
  if command -v man >/dev/null; then
    LC_ALL=C.UTF-8 MANWIDTH=80 man --warnings -E UTF-8 -l "$page" >/dev/null 2>lint.txt || failed "man: $page"
    [[ ! -s lint.txt ]] || failed "man: $page: $(<lint.txt)"
  fi
done

if ((failures > 0)); then
  printf '%s failures\n' "$failures"
  exit 1
fi
