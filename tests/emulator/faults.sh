#!/usr/bin/env bash
# faults.sh PROGRAM [REPETITIONS]: breaks things between two Soft-RoCE nodes in the emulator and checks what lanewise reports. All cases use
# one boot. Exits with 77 (skipped) where nothing can be booted or no processes can be started on nodes.
set -euo pipefail
program=$1
repetitions=${2:-2} # of the case that loses packets to the receiver; more look for what fails now and then
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)

for needed in mpirun ssh; do
  command -v "$needed" >/dev/null || { echo "there is no $needed"; exit 77; }
done
if ! why=$("$program" emulate soft-roce-2 --print 2>&1); then
  echo "$why"
  exit 77
fi
exec "$program" emulate soft-roce-2 --boot-timeout 240 --timeout $((1500 + 60 * repetitions)) -- "$here/faults_in_guests.sh" "$repetitions"
