#!/usr/bin/env bash
# Takes pictures of pages: docs/pages/make.sh [FOLDER]. Six of them are kept in docs/pages; needs chromium and a release build
# with d3 (./setup.sh install page).
set -euo pipefail
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd -P)
folder=${1:-$root/docs/pages}
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
mkdir -p -- "$folder"
cd -- "$root"

# NAME WIDTH HEIGHT ARGUMENT...: the page of a command.
picture() {
  local name=$1 width=$2 height=$3
  shift 3
  build/release/bin/lanewise "$@" --html "$work/$name.html" >"$work/output" 2>&1 || (($? == 1))
  HOME=$work chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --virtual-time-budget=4000 \
    --user-data-dir="$work/browser" --window-size="$width,$height" --screenshot="$folder/$name.png" \
    "file://$work/$name.html" >>"$work/output" 2>&1
  printf '%s\n' "$folder/$name.png"
}

picture machine 1400 1000 show rtx6000pro-x8-bcm
picture cluster 1400 1000 show hgx-h100-16
picture route 1400 1300 why rtx6000pro-x8-bcm gpu0 gpu5
picture matrix 1400 1000 matrix rtx6000pro-x8-bcm
picture run 1400 1500 run all-reduce-of-eight-uses-the-links --on hgx-h100
picture design 1400 2000 design docs/examples/inference-box.yaml --faults each
picture failures 1400 900 whatif rtx6000pro-x8-bcm --faults each
picture judge 1400 1300 judge a100x8-pcie-4sw docs/examples/nvbandwidth-slow-gpu.txt
