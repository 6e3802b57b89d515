#!/usr/bin/env bash
# faults_in_guests.sh [REPETITIONS]: runs on node0 of soft-roce-2 (faults.sh boots it): each case starts a transfer between
# the two nodes and breaks something. It expects an error in time that names what broke, and that the next transfer arrives
# once it is repaired.
# shellcheck disable=SC2029,SC2317  # what ssh runs is expanded here; functions are called by name
set -uo pipefail
kLimit=180 # seconds for what hangs: a NIC gives up after five, a run after twenty; starting takes the rest
kRepeats=25 # of four mebibytes: long enough that something breaks meanwhile
work=$(mktemp -d /tmp/faults.XXXXXX)
failed=0
kLosses=${1:-2} # repetitions of the case that depends most on timing

transfers() { # NAME LINE...: a scenario with these transfers
  printf 'lanewise: scenario/1\nscenario: %s\nmachines: [soft-roce-2]\ntransfers:\n' "$1" >"$work/$1.yaml"
  printf '  - {%s}\n' "${@:2}" >>"$work/$1.yaml"
}
transfers short 'id: a, from: node0/numa1, to: node1/numa1, bytes: 64 KiB'
transfers long 'id: a, from: node0/numa1, to: node1/numa1, bytes: 4 MiB'
transfers long_read 'id: a, from: node0/numa1, to: node1/numa1, bytes: 4 MiB, op: read'
transfers rails 'id: a, from: node0/numa0, to: node1/numa0, bytes: 4 MiB'

# Among all four host memories, with sums.
cat >"$work/sum.yaml" <<'END'
lanewise: scenario/1
scenario: sum
machines: [soft-roce-2]
collective: {op: all_reduce, bytes: 4 MiB, among: [node0/numa0, node0/numa1, node1/numa0, node1/numa1]}
END

# A guest's writes are visible in that guest only.
tar -C "$work" -c . | ssh node1 "mkdir -p $work && tar -C $work -x"

lanewise_on_nodes() { # SCENARIO REPEAT [WORD...]: what runs it, with these words in front
  timeout "$kLimit" mpirun --host node0,node1 -n 2 --bind-to none --mca pml ob1 --mca btl self,tcp \
    --mca oob_tcp_if_include management --mca btl_tcp_if_include management \
    "${@:3}" lanewise run "$work/$1.yaml" --mode hw --repeat "$2" --json >"$work/output" 2>&1
}

packets() { cat "/sys/class/infiniband/rxe_$1/ports/1/hw_counters/sent_pkts"; }

# Waits until more packets have left by a NIC than the setup takes, then breaks something.
once_data_flows() { # NIC COMMAND...
  local -i before now end=SECONDS+kLimit
  before=$(packets "$1")
  while ((SECONDS < end)); do
    now=$(packets "$1")
    if ((now - before > 50)); then
      "${@:2}"
      return
    fi
    sleep 0.1
  done
}

report() { # CASE CODE WANTED_CODE PATTERN SECONDS
  local verdict=ok
  case $3 in
    0) (($2 == 0)) || verdict=FAILED ;;
    *) (($2 != 0 && $2 != 124)) || verdict=FAILED ;;
  esac
  grep -qiE -- "$4" "$work/output" || verdict=FAILED
  printf '%s: %s: exit code %s after %s s: %s\n' "$verdict" "$1" "$2" "$5" "$(grep -iE -m1 -- "$4" "$work/output" | sed 's/^ *//' | cut -c1-300)"
  [[ $verdict == ok ]] && return
  failed=1
  sed 's/^/    /' "$work/output" | tail -n 30
}

# while_flowing SCENARIO REPEAT NIC COMMAND...: the command breaks something while data flows over a NIC of this node.
while_flowing() {
  local -i code breaker
  once_data_flows "$3" "${@:4}" >/dev/null 2>&1 &
  breaker=$!
  lanewise_on_nodes "$1" "$2"
  code=$?
  kill "$breaker" 2>/dev/null # where nothing ever flowed
  wait
  return "$code"
}

# broken CASE PATTERN SCENARIO NIC COMMAND...: the run fails.
broken() {
  local -i began=SECONDS code
  while_flowing "$3" 1000 "${@:4}"
  code=$?
  report "$1" "$code" fails "$2" $((SECONDS - began))
}

# survived CASE PATTERN SCENARIO NIC COMMAND...: the run continues another way, with every byte right, and reports what failed.
survived() {
  local -i began=SECONDS code
  while_flowing "$3" "$kRepeats" "${@:4}"
  code=$?
  report "$1" "$code" 0 "\"faults\": .*$2" $((SECONDS - began))
}

# refused CASE PATTERN SCENARIO [WORD...]: fails before anything moves.
refused() {
  local -i began=SECONDS code
  lanewise_on_nodes "$3" 1 "${@:4}"
  code=$?
  report "$1" "$code" fails "$2" $((SECONDS - began))
}

works() { # CASE SCENARIO
  local -i began=SECONDS code
  lanewise_on_nodes "$2" 1
  code=$?
  report "$1" "$code" 0 '"verified": true' $((SECONDS - began))
}

works "a short transfer" short

# A network that loses all packets to a NIC of node1, because its address has changed. (If the receiver's link is down, the
# emulated cable holds the sender's packets, and Soft-RoCE of Linux 6.1 then waits for ever.)
address() { ssh node1 ip -o -4 address show dev "$1" | awk '{print $4}'; }
lose() { # NIC...
  local nic
  for nic in "$@"; do ssh node1 ip address flush dev "$nic"; done
}
find_again() { # NIC ADDRESS
  ssh node1 ip address add "$2" dev "$1"
}
home0=$(address nic0) home1=$(address nic1) home2=$(address nic2)

# Several times: Soft-RoCE that repeats packets too early fails here now and then, with "remote invalid request".
for ((i = 1; i <= kLosses; ++i)); do
  survived "packets to the receiver lost, $i of $kLosses" 'nic2.*retry counter exceeded' long nic2 lose nic2
  find_again nic2 "$home2"
done

# The NIC is up again before the run ends: rxe of Linux 6.1 frees a queue pair whose packets a NIC that is down still holds,
# and the kernel crashes when they leave.
down_for_a_while() {
  ip link set nic2 down
  sleep 8 # until the NIC has given up
  ip link set nic2 up
}
survived "link down on the sender" 'nic2.*went over' long_read nic2 down_for_a_while
ip link set nic2 up

survived "one of two rails failing" 'nic1.*retry counter exceeded' rails nic1 lose nic1
find_again nic1 "$home1"
works "both rails after that" rails

broken "all packets to the receiver lost" 'nic[0-2].*retry counter exceeded' long nic2 lose nic2 nic1 nic0
find_again nic0 "$home0"
find_again nic1 "$home1"
find_again nic2 "$home2"

broken "peer killed" 'signal 9|node1|lost|ended' long nic2 ssh node1 pkill -KILL -x lanewise

# Queue pairs, regions, completion queues and domains of lanewise's processes on a node, as the kernel lists them.
held() { # NODE
  local listed
  listed=$(ssh "$1" 'for kind in qp mr cq pd; do rdma resource show "$kind" || exit; done') || {
    echo unknown
    return
  }
  grep -c 'comm lanewise' <<<"$listed"
}
nothing_left() { # CASE
  local node left verdict=ok
  for node in node0 node1; do
    left=$(held "$node")
    [[ $left == 0 ]] || verdict=FAILED failed=1
    printf '%s: %s: %s of verbs left on %s\n' "$verdict" "$1" "$left" "$node"
  done
}
nothing_left "after a killed peer"

works "an all-reduce" sum
broken "peer killed in an all-reduce" 'signal 9|node1|lost|ended' sum nic2 ssh node1 pkill -KILL -x lanewise
nothing_left "after a peer killed in an all-reduce"

interrupt_both() {
  held node1 >"$work/held"
  pkill -INT -x lanewise
  ssh node1 pkill -INT -x lanewise
}
broken "interrupted" 'stopped by Ctrl-C' long nic2 interrupt_both
if ! (($(<"$work/held"))); then # nothing held while data flows: the listing shows nothing, whatever is left
  echo 'FAILED: nothing of verbs was seen before the interrupt'
  failed=1
fi
nothing_left "after an interrupt"

ssh node1 rdma link delete rxe_nic2
refused "device not there" 'node1/nic2|rxe_nic2' short
ssh node1 rdma link add rxe_nic2 type rxe netdev nic2

# root may lock any amount of memory, unless the process has dropped that right.
refused "registration refused" 'ulimit -l|memlock|ibv_reg_mr|locked' long \
  setpriv --bounding-set -ipc_lock --inh-caps -ipc_lock prlimit --memlock=65536:65536

ssh node1 ip link set nic2 mtu 1500
works "MTUs that differ" short
ssh node1 ip link set nic2 mtu 9000

exit "$failed"
