#!/usr/bin/env bash
# random_sets.sh FOLDER GPUS [COUNT]: writes COUNT (24) scenarios of two to seven transfers between GPUs and host memory,
# the same ones every time, to see how often hardware contradicts the planner (docs/hardware.md).
set -euo pipefail
folder=$1 gpus=$2 count=${3:-24}
state=20261125 # the seed

# below N: sets `number` to a random one below N; the high bits of a linear congruential generator (Knuth's MMIX).
below() {
  state=$(((state * 6364136223846793005 + 1442695040888963407) & 0x7fffffffffffffff))
  number=$(((state >> 33) % $1))
}
# A GPU, twice as often as host memory.
place() {
  below $((2 * gpus + 1))
  if ((number == 2 * gpus)); then where=numa0; else where=gpu$((number % gpus)); fi
}

mkdir -p "$folder"
for ((set = 0; set < count; ++set)); do
  below 6
  transfers=$((number + 2))
  {
    printf 'lanewise: scenario/1\nscenario: random-%02d\nmachines: [here.yaml]\nobjective: makespan\ntransfers:\n' "$set"
    for ((i = 0; i < transfers; ++i)); do
      while
        place
        from=$where
        place
        [[ $from == "$where" ]]
      do :; done
      below 9 # 1 to 256 MiB
      mebibytes=$((1 << number))
      after=
      below 4
      if ((number == 0 && i > 0)); then
        below "$i"
        after=", after: [t$number]"
      fi
      printf '  - {id: t%d, from: %s, to: %s, bytes: %d MiB%s}\n' "$i" "$from" "$where" "$mebibytes" "$after"
    done
    printf 'expect:\n  - {regret: "<= 10 %%"}\n'
  } >"$folder/random-$(printf %02d "$set").yaml"
done
