#!/bin/sh
# check_sources.sh RUNTIME_FOLDER COMPILE_COMMANDS: kernel files include only plain headers, and no file is
# compiled with an instruction set of its own.
set -eu
failed=0
other=$(grep -n '^#include' "$1"/kernels/* |
  grep -v -e '<cstddef>' -e '<cstdint>' -e '<arm_neon.h>' -e '<immintrin.h>' -e '"runtime/kernel.h"' \
    -e '"runtime/kernels/' -e '"tests/runtime/tile_model.h"' || true)
if [ -n "$other" ]; then
  echo "kernel files may include only <cstddef>, <cstdint>, <immintrin.h>, <arm_neon.h>, runtime/kernel.h and their own:"
  echo "$other"
  failed=1
fi
if [ ! -f "$2" ]; then
  [ $failed -eq 0 ] || exit 1
  echo "skipped: the flags were not looked at, there is no $2"
  exit 77
fi
flags=$(grep '"command".*/runtime/' "$2" | grep -o -E -e ' -m(arch|avx|sse|amx|fma|tune)[^ "]*' || true)
if [ -n "$flags" ]; then
  echo "instruction sets belong into target attributes, not into flags:"
  echo "$flags" | sort -u
  failed=1
fi
exit $failed
