#!/usr/bin/env bash
# The one program for each ARCHITECTURE (x86_64, aarch64), which needs glibc 2.17 and nothing else:
#   one_program.sh ARCHITECTURE…
# build/dist/ARCHITECTURE gets `variant`, `variant-install` (which starts it), `variant.debug` and `licenses`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
root=$PWD
dist=$root/build/dist
mkdir -p "$dist"

# Its compiler keeps the C++ library that it builds for each glibc.
export ZIG_GLOBAL_CACHE_DIR=$dist/zig-cache ZIG_LOCAL_CACHE_DIR=$dist/zig-cache
export CCACHE_COMPILERTYPE=clang  # ccache does not know it by its name

bring_zig() {
  local wanted
  wanted=$(sha256sum cmake/release/zig.txt)
  [[ $(cat "$dist/zig/brought" 2>/dev/null) != "$wanted" ]] || return 0
  rm -rf "$dist/zig"
  python3 -m venv "$dist/zig"
  "$dist/zig/bin/python" -m pip install --quiet --no-deps --require-hashes --only-binary :all: -r cmake/release/zig.txt
  printf '%s' "$wanted" >"$dist/zig/brought"
}

# The compilers as programs with one name each, which is what configure and CMake take.
write_tools() {
  local zig tools=$dist/tools architecture
  zig=$(compgen -G "$dist/zig/lib/python*/site-packages/ziglang/zig")
  mkdir -p "$tools"
  "$zig" version >"$tools/version"
  for architecture in "$@"; do
    for tool in cc c++; do
      # Its own default is to stop at undefined behaviour.
      write_tool "$tools/$architecture-$tool" "exec '$zig' $tool -target $architecture-linux-gnu.2.17 -fno-sanitize=undefined \"\$@\""
    done
    for tool in ar ranlib; do write_tool "$tools/$architecture-$tool" "exec '$zig' $tool \"\$@\""; done
  done
}

# Without another time when nothing changed: everything depends on it.
write_tool() {
  [[ $(cat "$1" 2>/dev/null) != $'#!/bin/sh\n'"$2" ]] || return 0
  printf '#!/bin/sh\n%s\n' "$2" >"$1"
  chmod +x "$1"
}

# The notices of what is linked in, by Debian's name of each.
collect_licenses() {
  local to=$1 folder notice package
  rm -rf "$to"
  mkdir -p "$to"
  for folder in "$dist"/sources/*-[0-9]*/; do
    notice=$folder/debian/copyright
    [[ -f $notice ]] || notice=$folder/LICENSE.txt
    cp "$notice" "$to/$(basename "$folder").txt"
  done
  for package in nlohmann-json3-dev libcli11-dev libfmt-dev libtomlplusplus-dev libze-dev librocm-smi-dev; do
    cp "/usr/share/doc/$package/copyright" "$to/$package.txt"
  done
  cp "$dist"/zig/lib/python*/site-packages/ziglang/lib/libcxx/LICENSE.TXT "$to/libcxx.txt"
}

build() {
  local architecture=$1 build=$dist/$1/build
  # What its programs say, and not where it lies: another clone finds what this one has compiled.
  CCACHE_COMPILERCHECK="string:$(sed "s|$dist||" "$dist/tools/version" "$dist/tools/$architecture-c++" | tr '\n' ' ')"
  export CCACHE_COMPILERCHECK
  cmake/release/libraries.sh "$architecture" "$dist/sources" "$dist/tools" "$dist/$architecture/libraries"
  [[ -f $build/build.ninja ]] || cmake --preset one-program -B "$build" -DAXLE_RELEASE_ARCHITECTURE="$architecture" >/dev/null
  NINJA_STATUS="[$architecture %f/%t] " ninja -C "$build" variant variant-install >"$dist/$architecture/build.log" 2>&1 || {
    tail -n 60 "$dist/$architecture/build.log" >&2
    printf 'error: the program for %s was not built; all of the output is in %s/%s/build.log\n' "$architecture" "$dist" "$architecture" >&2
    exit 1
  }
  collect_licenses "$dist/$architecture/licenses"
  for program in variant variant-install; do
    strip_into "$architecture" "$build/bin/$program" "$dist/$architecture/$program"
  done
  printf '%s: %s bytes\n' "$dist/$architecture/variant" "$(stat -c %s "$dist/$architecture/variant")"
}

# What a debugger needs goes into a file beside the program, which names it.
strip_into() {
  local copy=$1-linux-gnu-objcopy from=$2 to=$3
  [[ $to -ot $from ]] || return 0
  "$copy" --only-keep-debug "$from" "$to.debug"
  "$copy" --strip-all --add-gnu-debuglink="$to.debug" "$from" "$to.new"
  mv "$to.new" "$to"
}

bring_zig
write_tools "$@"
cmake/release/sources.sh "$dist/sources"
for architecture in "$@"; do build "$architecture"; done
