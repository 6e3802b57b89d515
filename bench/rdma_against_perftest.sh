#!/usr/bin/env bash
# Network transfers of lanewise beside perftest between the same two virtual machines, in one boot:
# bench/rdma_against_perftest.sh [PROGRAM]   (default build/release/bin/lanewise)
# Under emulation only the ratio says something; the two take turns, for the host may have other work.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
program=$(realpath "${1:-$root/build/release/bin/lanewise}")
for needed in ib_write_bw ib_write_lat mpirun ssh qemu-system-x86_64; do
  command -v "$needed" >/dev/null || { echo "$0: there is no $needed: ./setup.sh install emulator" >&2; exit 3; }
done
exec "$program" emulate soft-roce-2 --boot-timeout 300 --timeout 900 -- "$root/bench/rdma_against_perftest_in_guests.sh"
