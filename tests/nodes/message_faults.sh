#!/usr/bin/env bash
# message_faults.sh PROGRAM: breaks runs whose nodes are processes of this host and whose steps go as messages of MPI, and
# checks what lanewise reports: a named error, the right exit code, and nothing left running. Exits with 77 (skipped)
# without mpirun.
set -euo pipefail
program=$1
command -v mpirun >/dev/null || { echo "there is no mpirun"; exit 77; }
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd -- "$folder"
failures=0

# expect NAME CODE TEXT: the last command ended with this code and printed this text to `out`.
expect() {
  if [[ $code == "$2" ]] && grep -qF -- "$3" out; then
    printf 'fine: %s\n' "$1"
  else
    printf 'failed: %s: exit code %s (wanted %s), and the output should have: %s\n' "$1" "$code" "$2" "$3"
    sed 's/^/  /' out
    failures=$((failures + 1))
  fi
}
run() {
  code=0
  timeout 90 "$@" >out 2>&1 || code=$?
}
on_nodes() { run mpirun --oversubscribe --bind-to none "$@"; }

# scenario NAME MACHINE BODY
scenario() { printf 'lanewise: scenario/1\nscenario: %s\nmachines: [%s]\n%s\n' "$1" "$2" "$3" >"$1.yaml"; }

scenario small ethernet-2 'transfers: [{id: a, from: node0/numa0, to: node1/numa0, bytes: 1 MiB}]'

run "$program" check small.yaml --mode hw --on ethernet-3
expect "nodes are started here" 0 "3 processes on this host"

run "$program" run small --mode hw
expect "one process alone" 2 "small"
run "$program" run small.yaml --on ethernet-2 --mode hw
expect "a cluster without a launcher" 3 "start one on each node"
on_nodes -n 3 "$program" check small.yaml --mode hw
expect "more processes than nodes" 3 "the cluster has 2 nodes, and 3 processes were started on 1 host"

cat >gpus.yaml <<'END'
lanewise: machine/1
machine: gpus
settings: {acs: off, iommu: off, virtualization: none}
sockets:
  - socket: cpu0
    part: epyc-9654
    pcie:
      - {root_port: rp0, link: gen5 x16, gpu: gpu0, part: h100-sxm5-80g}
      - {root_port: rp1, link: gen5 x16, nic: nic0, part: connectx-7}
software: {dma_buf: true, mpi_messages: true, cuda_aware_mpi: true}
END
printf 'lanewise: cluster/1\ncluster: gpus-2\nnodes: [{machine: gpus.yaml, count: 2}]\nfabric: {kind: direct}\n' >gpus-2.yaml
scenario gpu-address gpus-2.yaml 'transfers: [{id: a, from: node0/gpu0, to: node1/gpu0, bytes: 1 MiB, mechanism: gdr}]'
on_nodes -n 2 "$program" check gpu-address.yaml --mode hw
expect "an MPI that takes no GPU addresses" 3 "takes no addresses of GPU memory"
scenario gpu-staged gpus-2.yaml 'transfers: [{id: a, from: node0/gpu0, to: node1/gpu0, bytes: 1 MiB, mechanism: net_staged}]'
if ! command -v nvidia-smi >/dev/null; then
  on_nodes -n 2 "$program" check gpu-staged.yaml --mode hw
  expect "GPUs that are not here" 3 "GPU"
fi

# A run of some minutes, in which one process is stopped.
scenario long ethernet-2 'transfers: [{id: a, from: node0/numa0, to: node1/numa0, bytes: 256 MiB}, {id: b, from: node1/numa0, to: node0/numa0, bytes: 256 MiB, after: [a]}]'
# running: the processes of the program that run it.
running() {
  local one
  for one in /proc/[0-9]*; do
    [[ $(readlink "$one/exe" 2>/dev/null) == "$(realpath "$program")" ]] || continue
    tr '\0' ' ' <"$one/cmdline" 2>/dev/null | grep -q 'check long.yaml --mode hw' && echo "${one#/proc/}"
  done
}
start_long() {
  timeout 90 mpirun --oversubscribe --bind-to none -n 2 "$program" check long.yaml --mode hw --repeat 1000 >out 2>&1 &
  launcher=$!
  for _ in $(seq 100); do
    mapfile -t processes < <(running)
    ((${#processes[@]} == 2)) && break
    sleep 0.1
  done
  sleep 3
}
# ended NAME: the run ends within a time that no run takes, and leaves no process.
ended() {
  code=0
  for _ in $(seq 300); do
    kill -0 "$launcher" 2>/dev/null || break
    sleep 0.1
  done
  if kill -0 "$launcher" 2>/dev/null; then
    kill -9 "$launcher"
    echo "still running after 30 s" >>out
  fi
  wait "$launcher" || code=$?
  for _ in $(seq 50); do # mpirun may end a moment before them
    kill -0 "${processes[@]}" 2>/dev/null || break
    sleep 0.1
  done
  for one in "${processes[@]}"; do
    if kill -0 "$one" 2>/dev/null; then
      echo "process $one is left" >>out
      kill -9 "$one"
      code=left
    fi
  done
}
start_long
kill -9 "${processes[1]}"
ended
expect "a process that is killed" 137 "on signal 9"
start_long
kill -INT "$launcher"
ended
if [[ $code != 0 && $code != left ]]; then
  echo "fine: Ctrl-C"
else
  echo "failed: Ctrl-C: exit code $code"
  sed 's/^/  /' out
  failures=$((failures + 1))
fi

exit $((failures > 0))
