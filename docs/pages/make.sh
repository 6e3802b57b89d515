#!/usr/bin/env bash
# Takes pictures of pages: docs/pages/make.sh [FOLDER]. Seven of them are kept in docs/pages; needs chromium and a release build
# with d3 (./setup.sh install page).
set -euo pipefail
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd -P)
folder=${1:-$root/docs/pages}
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
mkdir -p -- "$folder"
cd -- "$root"

# ADDRESS NAME WIDTH HEIGHT: a picture of what is there.
shoot() {
  HOME=$work chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --virtual-time-budget=6000 \
    --user-data-dir="$work/browser" --window-size="$3,$4" --screenshot="$folder/$2.png" "$1" >>"$work/output" 2>&1
  printf '%s\n' "$folder/$2.png"
}

# NAME WIDTH HEIGHT ARGUMENT...: the page of a command.
picture() {
  local name=$1 width=$2 height=$3
  shift 3
  build/release/bin/lanewise "$@" --html "$work/$name.html" >"$work/output" 2>&1 || (($? == 1))
  shoot "file://$work/$name.html" "$name" "$width" "$height"
}

# NAME WIDTH HEIGHT ARGUMENT...: the page that `explore` serves, after ACS was chosen there.
live_picture() {
  local name=$1 width=$2 height=$3 address='' server
  shift 3
  build/release/bin/lanewise explore "$@" >"$work/address" 2>"$work/output" &
  server=$!
  until [[ -n $address ]]; do
    sleep 0.1
    address=$(<"$work/address")
    kill -0 "$server"
  done
  PYTHONPATH=tests/pages python3 - "$address" "$folder/$name.png" "$width" "$height" <<'END'
import sys
from browser import Browser

address, picture, width, height = sys.argv[1:]
with Browser(width=int(width), height=int(height)) as browser:
    browser.open(address)
    browser.wait_until("document.documentElement.dataset.answered === '1'")
    browser.evaluate("""(() => {
        const list = document.querySelector("#acs");
        list.value = "on";
        list.dispatchEvent(new Event("change", { bubbles: true }));
    })()""")
    browser.wait_until("document.documentElement.dataset.answered === '2'")
    browser.screenshot(picture)
END
  printf '%s\n' "$folder/$name.png"
  kill -INT "$server"
  wait "$server"
}

picture machine 1400 1000 show rtx6000pro-x8-bcm
picture cluster 1400 1000 show hgx-h100-16
picture route 1400 1300 why rtx6000pro-x8-bcm gpu0 gpu5
picture matrix 1400 1000 matrix rtx6000pro-x8-bcm
picture run 1400 1500 run all-reduce-of-eight-uses-the-links --on hgx-h100
picture design 1400 2000 design docs/examples/inference-box.yaml --faults each
picture failures 1400 900 whatif rtx6000pro-x8-bcm --faults each
picture judge 1400 1300 judge a100x8-pcie-4sw docs/examples/nvbandwidth-slow-gpu.txt
live_picture explore 1400 1250 rtx6000pro-x8-bcm
