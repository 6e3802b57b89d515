#!/usr/bin/env bash
# p2pdma.sh COMPARISON: compares our rules of peer access with the decision in Linux's own drivers/pci/p2pdma.c.
# COMPARISON is the built program p2pdma_oracle. The kernel's text is read from the distribution's source package
# (./setup.sh install oracle), compiled in a temporary folder and removed again. 77: the package is not here.
set -euo pipefail
comparison=$1
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd -P)

archives=(/usr/src/linux-source-6.1.tar.* /usr/src/linux-source-*.tar.*)
[[ -r ${archives[0]} ]] || archives=("${archives[@]:1}")
archive=${LANEWISE_LINUX_SOURCE:-${archives[0]}}
if [[ ! -r $archive ]]; then
  echo "p2pdma.sh: the kernel's source is not here: ./setup.sh install oracle brings it" >&2
  exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT

# The tar stops at the first file of this name; what it then says about its decompressor does not matter.
top=$(basename "$archive")
top=${top%.tar.*}
file=$top/drivers/pci/p2pdma.c
tar -x -f "$archive" -C "$folder" --occurrence=1 "$file" 2>"$folder/tar.txt" || {
  cat "$folder/tar.txt" >&2
  echo "p2pdma.sh: $archive has no $file" >&2
  exit 1
}

# From the first function of the decision to the end of the last.
awk '/^static int pci_bridge_has_acs_redir\(/ {within = 1}
     within {print}
     within && /^calc_map_type_and_dist\(/ {last = 1}
     last && /^}/ {found = 1; exit}
     END {exit !found}' "$folder/$file" >"$folder/p2pdma_decision.inc" || {
  echo "p2pdma.sh: the decision of $file is not where it was in Linux 6.1" >&2
  exit 1
}
"${CC:-cc}" -std=gnu11 -O1 -w -shared -fPIC -I "$root" -I "$folder" "$root/tests/oracle/p2pdma_decision.c" \
  -o "$folder/p2pdma_decision.so"

echo "Linux: $file of $archive"
"$comparison" "$folder/p2pdma_decision.so"
