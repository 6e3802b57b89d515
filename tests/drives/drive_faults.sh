#!/usr/bin/env bash
# drive_faults.sh PROGRAM: runs plans of drives in a folder, and with what cannot work, and checks what lanewise reports: a
# named error, the right exit code, and no file left behind. Exits with 77 (skipped) where the folder of temporary files has
# no direct access.
set -euo pipefail
program=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd -- "$folder"
mkdir data
dd if=/dev/zero of=data/probe bs=4096 count=1 oflag=direct 2>/dev/null || { echo "there is no direct access here"; exit 77; }
rm data/probe
failures=0

# expect NAME CODE TEXT: the last command ended with this code and printed this text to `out`; the folder is empty again.
expect() {
  if [[ $code == "$2" ]] && grep -qF -- "$3" out && [[ -z $(ls data) ]]; then
    printf 'fine: %s\n' "$1"
  else
    printf 'failed: %s: exit code %s (wanted %s), and the output should have: %s; left behind: %s\n' "$1" "$code" "$2" "$3" \
      "$(ls data)"
    sed 's/^/  /' out
    failures=$((failures + 1))
  fi
}
# run_on DRIVE... : runs the scenario with these.
run_on() {
  local drives=()
  for drive in "$@"; do drives+=(--drive "$drive"); done
  code=0
  timeout 90 "$program" run steps.yaml --mode hw --repeat 2 "${drives[@]}" >out 2>&1 || code=$?
}
# steps STEP...: a scenario of a server without a GPU.
steps() {
  printf 'lanewise: scenario/1\nscenario: steps\nmachines: [nvme-server]\ntransfers:\n' >steps.yaml
  printf '  - {%s}\n' "$@" >>steps.yaml
}
read_one='id: in, from: nvme0, to: numa0, bytes: 1000001 B'
write_one='id: out, from: numa0, to: nvme0, bytes: 3 MiB'

steps "$read_one" "$write_one, after: [in]"
run_on nvme0=data
expect "a folder" 0 "yes"
head -c 2000000 /dev/urandom >user.bin
steps "$read_one"
before=$(sha256sum user.bin)
run_on nvme0=user.bin
expect "a file of the user's" 0 "yes"
[[ $before == "$(sha256sum user.bin)" ]] || { echo "failed: the user's file has changed"; failures=$((failures + 1)); }

run_on
expect "nothing is named" 3 "nothing of this machine is named for nvme0: --drive nvme0=FOLDER"
run_on data
expect "no NAME=PATH" 2 "expected NAME=PATH, as in nvme0=/data"
run_on nvme00=data
expect "a drive that the machine has not" 2 "did you mean 'nvme0'?"
run_on nvme0=none
expect "a path that is not there" 2 "--drive nvme0=none: No such file or directory"
mkfifo pipe
for what in /dev/null pipe; do
  run_on nvme0=$what
  expect "what is no drive" 2 "--drive nvme0=$what: it is no folder, file or block device"
done
run_on nvme0=/proc
expect "a folder where no file can be made" 3 "no file can be made in /proc"

steps "id: in, from: nvme0, to: numa0, bytes: 3 MB"
run_on nvme0=user.bin
expect "a file that is too short" 2 "it has 2000000 B, and the plan reads 3000000 B"
steps "$write_one"
run_on nvme0=user.bin
expect "a file of the user's is not written" 2 "writes to nvme0, and user.bin is only read"
steps "id: out, from: numa0, to: nvme0, bytes: 1000 TB"
run_on nvme0=data
expect "a drive that is full" 3 "no space for 1000000.0 GB"

# A run that is killed has made its file without a name already.
steps "id: in, from: nvme0, to: numa0, bytes: 64 MiB"
"$program" run steps.yaml --mode hw --repeat 1000 --drive nvme0=data >out 2>&1 &
for _ in $(seq 100); do
  [[ -n $(find "/proc/$!/fd" -lname '*/lanewise-* (deleted)' 2>/dev/null) ]] && break
  sleep 0.1
done
kill -KILL $!
code=0
wait $! 2>/dev/null || code=$?
echo killed >>out
expect "a run that is killed" 137 "killed"

exit $((failures > 0))
