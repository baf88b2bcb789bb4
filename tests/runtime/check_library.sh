#!/bin/sh
# check_library.sh LIBRARY…: what goes into a wheel needs the C library and the compiler's unwinder only, no
# symbol newer than glibc 2.17, and gives out nothing but the C interface.
set -eu
failed=0
for library in "$@"; do
  needed=$(readelf -d -W "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
    grep -v -x -E 'libc\.so\.6|libm\.so\.6|libpthread\.so\.0|libgcc_s\.so\.1|ld-linux-.*' || true)
  newest=$(readelf -V -W "$library" | grep -o 'GLIBC_[0-9.]*' | sort -u -V | tail -n 1)
  exported=$(nm -D --defined-only "$library" | awk '{ print $NF }' | grep -v '^axle_' || true)
  if [ -n "$needed" ]; then
    echo "$library needs $needed"
    failed=1
  fi
  if [ "$(printf '%s\nGLIBC_2.17\n' "$newest" | sort -V | tail -n 1)" != GLIBC_2.17 ]; then
    echo "$library needs $newest"
    failed=1
  fi
  if [ -n "$exported" ]; then
    echo "$library gives out $exported"
    failed=1
  fi
  echo "$library: libc and libgcc only, $newest, $(nm -D --defined-only "$library" | grep -c ' axle_') functions"
done
exit $failed
