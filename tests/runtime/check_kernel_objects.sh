#!/bin/sh
# check_kernel_objects.sh NM OBJECT…: an object of runtime/kernels (others are passed over) must define nothing that a linker could pick
# for other files (weak symbols, W w V v u), need nothing of the C++ library, and run nothing before
# main: code with its instructions may only run once it was chosen.
set -eu
nm=$1
shift
failed=0
seen=0
for object in "$@"; do
  case $object in */kernels/*) ;; *) continue ;; esac
  seen=$((seen + 1))
  weak=$("$nm" "$object" | awk '$(NF-1) ~ /^[WwVvu]$/ { print $NF }')
  outside=$("$nm" -u "$object" | awk '{ print $NF }' |
    grep -v -x -e memset -e memcpy -e __stack_chk_fail -e _GLOBAL_OFFSET_TABLE_ || true)
  early=$(readelf -S -W "$object" | grep -E '\.(init_array|ctors)' || true)
  for finding in "weak:$weak" "needs:$outside" "initialisers:$early"; do
    if [ -n "${finding#*:}" ]; then
      echo "$object: $finding"
      failed=1
    fi
  done
done
[ $seen -gt 0 ] || failed=1
echo "$seen kernel objects looked at"
exit $failed
