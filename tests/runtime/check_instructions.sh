#!/bin/sh
# check_instructions.sh OBJDUMP OBJECT…: each kernel object contains the instructions that it is
# named after and none of a newer family. For AMX this holds also where no AMX can run.
set -eu
objdump=$1
shift
failed=0
seen=0
check() { # object, pattern that must occur, pattern that must not
  "$objdump" -d --no-show-raw-insn "$1" >"$listing"
  seen=$((seen + 1))
  if ! grep -q -E "$2" "$listing"; then
    echo "$1: nothing matches $2"
    failed=1
  fi
  if grep -E "$3" "$listing" | head -n 3 | grep .; then
    echo "$1: must not contain $3"
    failed=1
  fi
}
listing=$(mktemp)
trap 'rm -f "$listing"' EXIT
for object in "$@"; do
  case $object in
    */kernels/sse2.cpp.o) check "$object" 'pmaddwd.*%xmm' '%[yz]mm|[[:space:]]v[a-z0-9]+ .*%xmm' ;;
    */kernels/sse41.cpp.o) check "$object" 'pmaddubsw.*%xmm' '%[yz]mm|[[:space:]]v[a-z0-9]+ .*%xmm' ;;
    */kernels/avx2.cpp.o) check "$object" 'vpmaddubsw.*%ymm' '%zmm|vpdpbusd|vfn?m(add|sub)' ;;
    */kernels/avx_vnni.cpp.o) check "$object" 'vpdpbusd.*%ymm' '%zmm|vfn?m(add|sub)' ;;
    */kernels/avx512.cpp.o) check "$object" 'vpmaddubsw.*%zmm' 'vpdpbusd|vfn?m(add|sub)' ;;
    */kernels/avx512_vnni.cpp.o) check "$object" 'vpdpbusd.*%zmm' 'tdpb|vfn?m(add|sub)' ;;
    */kernels/amx_int8.cpp.o)
      check "$object" 'tdpbssd.*%tmm' 'vpdpbusd|vfn?m(add|sub)'
      check "$object" 'tdpbf16ps.*%tmm' 'tdpfp16ps'
      ;;
    */kernels/neon.cpp.o) check "$object" 'sadalp' '[[:space:]](s|u)dot|mmla|[[:space:]]fn?m(la|ls|add|sub)' ;;
    */kernels/neon_dotprod.cpp.o) check "$object" '[[:space:]]sdot' 'mmla|[[:space:]]fn?m(la|ls|add|sub)' ;;
    */kernels/neon_i8mm.cpp.o) check "$object" 'smmla' '[[:space:]]fn?m(la|ls|add|sub)' ;;
    */kernels/*)
      echo "$object: a kernel set that this check does not know"
      failed=1
      ;;
  esac
done
echo "$seen kernel objects looked at"
[ "$seen" -gt 0 ] || failed=1
exit $failed
