#!/bin/sh
# check_types.sh PACKAGE_PARENT: mypy, where a Python of this machine has it, agrees with the package's type hints.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
for python in python3 /usr/bin/python3; do
  "$python" -c 'import mypy' 2>/dev/null || continue
  cd "$1"
  # What axle_runtime.torch takes of PyTorch is not typed in every version.
  MYPYPATH=$1 exec "$python" -m mypy --strict --python-version 3.9 --cache-dir /dev/null --ignore-missing-imports \
    --follow-imports=silent axle_runtime/[!t]*.py "$here/typed_use.py"
done
echo "skipped: no Python has mypy (Debian's python3-mypy)"
exit 77
