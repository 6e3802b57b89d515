#!/usr/bin/env bash
# drives.sh PROGRAM: boots a machine with two NVMe drives, which Linux may number in any order. `discover` finds their block
# devices; a plan reads both devices, and refuses them the wrong way round. Exits with 77 (skipped) where nothing can be
# booted.
set -euo pipefail
program=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd -- "$folder"
cat >two-drives.yaml <<'END'
lanewise: machine/1
machine: two-drives
settings: {acs: off, iommu: off, virtualization: none}
sockets:
  - socket: cpu0
    part: epyc-9654
    pcie:
      - {root_port: rp0, link: gen4 x4, nvme: nvme0, part: pm1733}
      - {root_port: rp1, link: gen4 x4, nvme: nvme1, part: pm1733}
software: {cuda: false}
END
cat >steps.yaml <<'END'
lanewise: scenario/1
scenario: steps
machines: [two-drives]
transfers:
  - {id: a, from: nvme0, to: numa0, bytes: 5000001 B}
  - {id: b, from: nvme1, to: numa0, bytes: 16 MiB}
END
"$program" emulate two-drives.yaml --print >/dev/null 2>&1 || { echo "nothing can be booted here"; exit 77; }
# shellcheck disable=SC2016  # the guest's shell expands it
in_guest='
lanewise discover --name here -o /tmp/here.yaml
for order in "0 1" "1 0"; do
  set -- $order
  lanewise run steps.yaml --on /tmp/here.yaml --mode hw --drive nvme0=/dev/nvme$1n1 --drive nvme1=/dev/nvme$2n1 --repeat 2
  echo "code $?"
done
lanewise run steps.yaml --on /tmp/here.yaml --mode hw --drive nvme0=/dev/nvme0n1/none --drive nvme1=/tmp
echo "code $?"'
timeout 300 "$program" emulate two-drives.yaml -- sh -c "$in_guest" >out 2>&1 || true
cat out
for text in 'drive: nvme0: /dev/nvme' 'drive: nvme1: /dev/nvme' 'it lies on nvme' 'Not a directory'; do
  grep -qF -- "$text" out || { echo "failed: nothing says: $text"; exit 1; }
done
[[ $(grep -c '^code 0$' out) == 1 && $(grep -c '^code 2$' out) == 2 ]] || { echo "failed: other exit codes"; exit 1; }
[[ $(grep -c 'nvme[01]  numa0 .* yes$' out) == 2 ]] || { echo "failed: not both drives were read and verified"; exit 1; }
