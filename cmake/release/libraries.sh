#!/usr/bin/env bash
# Builds the libraries that the one program has linked in, as archives for one architecture:
#   libraries.sh ARCHITECTURE SOURCES TOOLS PREFIX
# SOURCES has Debian's sources, as cmake/release/sources.sh unpacked them, TOOLS the compilers ARCHITECTURE-cc, -c++, -ar and
# -ranlib. A library whose sources did not change is not built again.
set -euo pipefail

architecture=$1 sources=$2 tools=$3 prefix=$4
work=$prefix/work
cc=$tools/$architecture-cc
cxx=$tools/$architecture-c++
ar=$tools/$architecture-ar
ranlib=$tools/$architecture-ranlib
jobs=$(nproc)
# Debian's patches touch what configure was made of; it need not be made again.
export ACLOCAL=: AUTOCONF=: AUTOHEADER=: AUTOMAKE=:
flags='-O2 -fPIC -DNDEBUG'
mkdir -p "$work" "$prefix/lib" "$prefix/include"

# library NAME FOLDER-PATTERN: runs build_NAME in a copy of the sources; its output goes to a log.
library() {
  local name=$1 folder log=$work/$1.log stamp=$work/$1.built key
  folder=$(compgen -G "$sources/$2" | head -n 1) || {
    printf 'error: no folder %s in %s\n' "$2" "$sources" >&2
    exit 1
  }
  key="$(cat "$sources/$name.version") $(declare -f "build_$name" | sha256sum) $(cat "$tools/version")"
  [[ $(cat "$stamp" 2>/dev/null) != "$key" ]] || return 0
  printf 'building %s for %s\n' "${folder##*/}" "$architecture" >&2
  rm -rf "${work:?}/$name" "$stamp"
  cp -a "$folder" "$work/$name"
  # A shell of its own, without `||`: otherwise a failed command would not end the function.
  (cd "$work/$name" && export -f "build_$name" &&
    architecture=$architecture cc=$cc cxx=$cxx ar=$ar ranlib=$ranlib prefix=$prefix jobs=$jobs flags=$flags \
      bash -euc "build_$name") >"$log" 2>&1 || {
    tail -n 40 "$log" >&2
    printf 'error: %s was not built; all of the output is in %s\n' "${folder##*/}" "$log" >&2
    exit 1
  }
  printf '%s' "$key" >"$stamp"
  rm -rf "${work:?}/$name"
}

# Its configuration is of its own: openssl.cnf of the system belongs to another release of it. What Axle and libcurl never
# ask for is left out.
build_openssl() {
  # It remembers the compiler's name and its folders, which should be nobody's.
  PATH=$(dirname "$cc"):$PATH
  ./Configure "linux-$architecture" CC="$architecture-cc" AR="$architecture-ar" RANLIB="$architecture-ranlib" \
    --prefix=/usr/local --libdir=lib --openssldir=/etc/ssl \
    no-shared no-tests no-module no-legacy no-engine no-dso no-async no-autoload-config no-comp no-cms no-ts no-srp no-psk \
    no-dtls no-ssl3 -O2 -fPIC
  make -j"$jobs" build_libs
  make install_dev DESTDIR="$PWD/installed"
  cp -a installed/usr/local/include installed/usr/local/lib "$prefix/"
}

build_nghttp2() {
  cmake -S . -B made -G Ninja -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR="$architecture" -DCMAKE_C_COMPILER="$cc" \
    -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_AR="$ar" -DCMAKE_RANLIB="$ranlib" -DCMAKE_C_FLAGS="$flags" \
    -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib -DENABLE_LIB_ONLY=ON -DENABLE_SHARED_LIB=OFF \
    -DENABLE_STATIC_LIB=ON -DWITH_LIBXML2=OFF -DWITH_JEMALLOC=OFF
  ninja -C made install
}

# The certificates of the system are foundation/system/system_certificates.h's business.
build_curl() {
  PKG_CONFIG=false CC=$cc AR=$ar RANLIB=$ranlib CFLAGS=$flags LDFLAGS=-L$prefix/lib CPPFLAGS="-I$prefix/include -DNGHTTP2_STATICLIB" \
    LIBS="-lpthread -ldl" ./configure --host="$architecture-linux-gnu" --prefix="$prefix" --libdir="$prefix/lib" \
    --disable-shared --enable-static --with-openssl="$prefix" --with-nghttp2="$prefix" --without-ca-bundle --without-ca-path \
    --enable-threaded-resolver --without-zlib --without-brotli --without-zstd --without-libidn2 --without-libpsl \
    --without-librtmp --without-libssh2 --disable-ftp --disable-file --disable-ldap --disable-rtsp --disable-dict --disable-telnet \
    --disable-tftp --disable-pop3 --disable-imap --disable-smb --disable-smtp --disable-gopher --disable-mqtt --disable-manual \
    --disable-ntlm --disable-alt-svc --disable-hsts --disable-docs --disable-unix-sockets
  make -C lib -j"$jobs" install
  make -C include install
}

build_libmicrohttpd() {
  CC=$cc AR=$ar RANLIB=$ranlib CFLAGS=$flags ./configure --host="$architecture-linux-gnu" --prefix="$prefix" \
    --libdir="$prefix/lib" --disable-shared --enable-static --disable-https --disable-doc --disable-examples --disable-curl \
    --disable-bauth --disable-dauth --disable-postprocessor
  make -C src/microhttpd -j"$jobs" install
  make -C src/include install
}

build_libseccomp() {
  CC=$cc AR=$ar RANLIB=$ranlib CFLAGS=$flags ./configure --host="$architecture-linux-gnu" --prefix="$prefix" \
    --libdir="$prefix/lib" --disable-shared --enable-static --disable-python
  make -C src -j"$jobs" libseccomp.la
  make -C src install-libLTLIBRARIES
  make -C include install
}

build_libdeflate() {
  make CC="$cc" AR="$ar" CFLAGS="$flags" libdeflate.a
  cp libdeflate.a "$prefix/lib/"
  cp libdeflate.h "$prefix/include/"
}

# igzip alone. Its code for x86-64 is for nasm; that for aarch64 is for GNU's assembler: clang's refuses some of it.
build_libisal() {
  local assembler=nasm
  [[ $architecture == x86_64 ]] || assembler="$architecture-linux-gnu-gcc -D__ASSEMBLY__"
  make -f Makefile.unx -j"$jobs" units='igzip crc' host_cpu="$architecture" arch="${architecture/x86_64/}" CC="$cc -fPIC" \
    AS="$assembler" AR="$ar" lib
  cp bin/isa-l.a "$prefix/lib/libisal.a"
  mkdir -p "$prefix/include/isa-l"
  cp include/*.h "$prefix/include/isa-l/"
}

build_libzstd() {
  make -C lib -j"$jobs" CC="$cc" AR="$ar" CFLAGS="$flags" ZSTD_LIB_DICTBUILDER=0 ZSTD_LIB_DEPRECATED=0 ZSTD_LEGACY_SUPPORT=0 \
    libzstd.a
  cp lib/libzstd.a "$prefix/lib/"
  cp lib/zstd.h lib/zstd_errors.h "$prefix/include/"
}

build_simdjson() {
  "$cxx" $flags -std=c++17 -c singleheader/simdjson.cpp -o simdjson.o
  "$ar" rcs "$prefix/lib/libsimdjson.a" simdjson.o
  cp singleheader/simdjson.h "$prefix/include/"
}

library openssl 'openssl-*'
library nghttp2 'nghttp2-*'
library curl 'curl-*'
library libmicrohttpd 'libmicrohttpd-*'
library libseccomp 'libseccomp-*'
library libdeflate 'libdeflate-*'
library libisal 'libisal-*'
library libzstd 'libzstd-*'
library simdjson 'simdjson-*'
