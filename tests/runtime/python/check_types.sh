#!/bin/sh
# check_types.sh PACKAGE_PARENT: mypy, where a Python of this machine has it, agrees with the package's type hints.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
for python in python3 /usr/bin/python3; do
  "$python" -c 'import mypy' 2>/dev/null || continue
  cd "$1"
  MYPYPATH=$1 exec "$python" -m mypy --config-file "$here/mypy.ini" --cache-dir /dev/null axle_runtime "$here/typed_use.py"
done
echo "skipped: no Python has mypy (Debian's python3-mypy)"
exit 77
