#!/usr/bin/env bash
# with_modules.sh PYTHON MODULE,... ARGUMENT...: runs PYTHON with the arguments; exit code 77 and what is missing where it
# has not all of the modules.
set -euo pipefail
python=$1
IFS=, read -ra modules <<<"$2"
shift 2
for module in "${modules[@]}"; do
  if ! "$python" -c "import $module" 2>/dev/null; then
    echo "skipped: $python has no module '$module' (Debian: ./setup.sh install test)"
    exit 77
  fi
done
exec "$python" "$@"
