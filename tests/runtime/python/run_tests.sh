#!/bin/sh
# run_tests.sh PACKAGE_PARENT TEST…: the Python tests, files beside this one, on every CPython from 3.9 on that is on PATH or among
# pyenv's versions. The models that they ask are made by one that has NumPy. AXLE_TEST_TORCH names more
# Pythons, of environments with a PyTorch each, for the tests of axle_runtime.torch.
set -eu
package=$1
shift
here=$(cd "$(dirname "$0")" && pwd)
models=$(mktemp -d)
trap 'rm -rf "$models"' EXIT
for python in python3 /usr/bin/python3; do
  "$python" -c 'import numpy' 2>/dev/null || continue
  PYTHONDONTWRITEBYTECODE=1 "$python" "$here/make_models.py" "$models/made"
  break
done
[ -d "$models/made" ] || echo "no Python with NumPy: models are not tested"
candidates=""
for minor in 9 10 11 12 13 14 15; do
  candidates="$candidates $(command -v "python3.$minor" || true) /usr/bin/python3.$minor"
done
for python in "${PYENV_ROOT:-${HOME:-/nonexistent}/.pyenv}"/versions/3.*/bin/python3; do
  candidates="$candidates $python"
done
candidates="$candidates $(command -v python3 || true)"
seen=" "
ran=0
for python in $candidates; do
  [ -x "$python" ] || continue
  # Shims of version managers answer for a version that is not switched on by failing.
  real=$("$python" -c 'import sys, platform
if sys.version_info >= (3, 9) and platform.python_implementation() == "CPython":
    print(sys.executable, "%d.%d.%d" % sys.version_info[:3])' 2>/dev/null) || continue
  [ -n "$real" ] || continue
  executable=$(readlink -f "${real% *}")
  case $seen in *" $executable "*) continue ;; esac
  seen="$seen$executable "
  echo "== CPython ${real##* } ($executable)"
  for test in "$@"; do
    PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$package AXLE_TEST_MODELS=$models/made "$executable" "$here/$test"
  done
  ran=$((ran + 1))
done
for python in ${AXLE_TEST_TORCH:-}; do
  echo "== $python"
  PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$package "$python" "$here/torch_test.py"
done
if [ $ran -eq 0 ]; then
  echo "skipped: there is no CPython from 3.9 on"
  exit 77
fi
echo "ran on $ran versions of CPython"
