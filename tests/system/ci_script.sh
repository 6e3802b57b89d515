#!/usr/bin/env bash
# The steps of action.yml by ci/run.sh, in a repository that holds nothing of ours but one machine and one scenario: a
# change that makes the machine slower, against its base branch.
#   ci_script.sh PROGRAM SOURCE
set -euo pipefail
program=$1
source=$2
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
exec </dev/null

fail() {
  printf 'FAIL: %s\n' "$1" >&2
  for file in out err; do sed "s/^/  $file: /" "$work/$file" >&2 2>/dev/null || true; done
  exit 1
}
# expect FILE TEXT: the file holds the text.
expect() { grep -qF -- "$2" "$1" || fail "$1 does not hold: $2"; }
# ends CODE COMMAND...: it ends with this exit code; its output is in out and err.
ends() {
  local wanted=$1 code=0
  shift
  "$@" >"$work/out" 2>"$work/err" || code=$?
  ((code == wanted)) || fail "$* ended with $code, not $wanted"
}

# As on a runner: its variables, and no others of ours.
while read -r name; do unset "$name"; done < <(compgen -e | grep -E '^(LANEWISE|GITHUB|CI)_?' || true)
export HOME=$work/home GITHUB_ACTIONS=true GITHUB_BASE_REF=main GITHUB_STEP_SUMMARY=$work/step-summary
export GIT_CONFIG_GLOBAL=$work/gitconfig GIT_CONFIG_NOSYSTEM=1
mkdir "$HOME"
git config --global user.name ci
git config --global user.email ci@localhost
git config --global init.defaultBranch main
printf 'earlier step\n' >"$GITHUB_STEP_SUMMARY"

# A repository, and a clone of depth 1 with a branch, as actions/checkout makes it.
git init -q "$work/origin"
cp -r "$source/docs/examples/ci/lanewise" "$work/origin/"
git -C "$work/origin" add .
git -C "$work/origin" commit -qm "A machine and a scenario"
git -C "$work/origin" checkout -qb change
sed -i 's/gpu: gpu1, part: a100-pcie-80g, link: gen4 x16/gpu: gpu1, part: a100-pcie-80g, link: gen3 x8/' \
  "$work/origin/lanewise/our-server.yaml"
git -C "$work/origin" commit -qam "A narrower link"
git clone -q --depth 1 --branch change "file://$work/origin" "$work/clone"
cd "$work/clone"

# The program is given: building it would take minutes.
export LANEWISE_PROGRAM=$program LANEWISE_MODE=estimate
ends 0 "$source/ci/run.sh" install
expect "$work/err" "lanewise "
[[ $("$source/ci/run.sh" key) == "$("$source/ci/run.sh" key)" ]] || fail "the key differs from run to run"

# Fast enough for the expectation, but slower than the base.
export LANEWISE_ARGUMENTS=$'--objective\nmakespan'
sed -i 's/<= 25 ms/<= 1 s/' lanewise/exchange.yaml
ends 1 "$source/ci/run.sh" check
expect "$work/out" "1 of 1 scenarios pass"
expect "$work/out" "SLOWER  exchange  our-server"
expect "$work/out" "::error file=lanewise/exchange.yaml,line=2,col=11,title=exchange on our-server%3A slower::"
expect lanewise-report/junit.xml 'type="slower"'
expect "$GITHUB_STEP_SUMMARY" "earlier step"
expect "$GITHUB_STEP_SUMMARY" "| SLOWER | exchange | our-server |"
(($(git worktree list | wc -l) == 1)) || fail "the base's tree is left behind"

# Beyond the tolerance only, and only where it is asked for.
LANEWISE_TOLERANCE=1000% ends 0 "$source/ci/run.sh" check
LANEWISE_FAIL_ON=gone ends 0 "$source/ci/run.sh" check
LANEWISE_BASELINE=none ends 0 "$source/ci/run.sh" check
LANEWISE_BASELINE=lanewise-report/base.json ends 1 "$source/ci/run.sh" check

# What cannot be read is 2; where the base has no such folder, everything is new; a base that is not there is none.
printf 'lanewise: scenario/1\nscenaro: x\n' >lanewise/broken.yaml
ends 2 "$source/ci/run.sh" check
expect "$work/out" "::error file=lanewise/broken.yaml,line=2,col=1,"
rm lanewise/broken.yaml
git mv lanewise elsewhere
export LANEWISE_SCENARIOS=elsewhere
ends 0 "$source/ci/run.sh" check
expect "$work/out" "new     exchange  our-server"
GITHUB_BASE_REF=nowhere ends 0 "$source/ci/run.sh" check
expect "$work/err" "comparing with nothing"

# Wrong words.
ends 2 "$source/ci/run.sh" chekc
LANEWISE_PROGRAM=$work/nowhere ends 2 "$source/ci/run.sh" install
expect "$work/err" "no such program"
LANEWISE_PROGRAM='' LANEWISE_PACKAGE=$work/none.deb ends 2 "$source/ci/run.sh" install
expect "$work/err" "no such file"

# Every step of the action is one of the script's commands, and every input reaches it.
while read -r command; do
  "$source/ci/run.sh" help | grep -q "^  $command " || fail "action.yml runs '$command', which ci/run.sh has not"
done < <(grep -o 'ci/run.sh" [a-z-]*' "$source/action.yml" | cut -d' ' -f2)
while read -r variable; do
  grep -q "^  $variable  *" <("$source/ci/run.sh" help) || fail "action.yml sets $variable, which ci/run.sh does not take"
done < <(grep -ho '\bLANEWISE_[A-Z_]*:' "$source/action.yml" | tr -d :)

# What the user writes, as the document shows it.
lines=$(awk '/^```yaml/ {on = 1; next} /^```/ && on {exit} on' "$source/docs/ci.md" | wc -l)
((lines > 5 && lines <= 15)) || fail "the workflow in docs/ci.md has $lines lines"
printf 'all steps as expected\n'
