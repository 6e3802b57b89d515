#!/usr/bin/env bash
# run_on_gpus.sh PROGRAM: describes this machine, runs a plan of every kind on its GPUs, and holds what is measured to what
# was sent. Exits with 77 (skipped) where there are no two GPUs to run on.
set -euo pipefail
program=$1
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT

if ! "$program" --version | grep -qE '^hw:  CUDA .*, ([2-9]|[1-9][0-9]+) GPUs'; then
  "$program" --version | grep '^hw:' || true
  exit 77
fi
"$program" discover -o "$work/here.yaml"
cat >"$work/all.yaml" <<'SCENARIO'
lanewise: scenario/1
scenario: all
machines: [here.yaml]
transfers:
  - {id: copy, from: gpu0, to: gpu1, bytes: 33 MiB}
  - {id: odd, from: gpu1, to: gpu0, bytes: 1234567 B, after: [copy]}
  - {id: tiny, from: gpu0, to: gpu1, bytes: 3 B, after: [odd]}
  - {id: write, from: gpu0, to: gpu1, bytes: 1234567 B, op: write, after: [tiny]}
  - {id: read, from: gpu0, to: gpu1, bytes: 1234567 B, op: read, after: [write]}
  - {id: atomic, from: gpu0, to: gpu1, bytes: 65536 B, op: atomic, after: [read]}
  - {id: in, from: numa0, to: gpu0, bytes: 9 MiB}
  - {id: out, from: gpu0, to: numa0, bytes: 9 MiB}
  - {id: staged, from: gpu0, to: gpu1, bytes: 20000001 B, mechanism: host_staged, after: [atomic]}
  - {id: shared, from: gpu0, to: gpu1, bytes: 5 MiB, mechanism: shared_host, after: [staged]}
  - {id: pageable, from: numa0, to: gpu1, bytes: 3 MiB, pageable: true}
  - {id: host, from: numa0, to: numa0, bytes: 3 MiB, after: [pageable]}
  - {id: own, from: gpu1, to: gpu1, bytes: 7 MiB, after: [host]}
SCENARIO
"$program" run "$work/all.yaml" --mode hw -o "$work/trace.json"
[[ $(grep -c '"verified": true' "$work/trace.json") -eq 13 ]]
"$program" check "$work/all.yaml" --mode hw --record "$work/runs.json" --repeat 3
"$program" measure "$work/here.yaml" --most '1 MiB' --repeat 3 -o "$work/measured.json"
"$program" accuracy "$work/measured.json" --on "$work/here.yaml" >/dev/null
if "$program" measure "$work/here.yaml" -o "$work/measured.json" 2>/dev/null; then
  echo "a measurement was overwritten unasked"
  exit 1
fi
timeout --signal=INT 2 "$program" measure "$work/here.yaml" --force -o "$work/measured.json" && exit 1
"$program" measure "$work/here.yaml" --resume --most '1 MiB' --only patterns -o "$work/measured.json"
