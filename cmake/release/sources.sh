#!/usr/bin/env bash
# Debian's sources of the libraries that the one program has linked in, unpacked with Debian's patches:
#   sources.sh FOLDER
# apt brings them from where the machine's packages come from, and checks their signatures. FOLDER/versions.txt says what came.
set -euo pipefail

folder=$(realpath -m "$1")
packages=(curl libdeflate libisal libmicrohttpd libseccomp libzstd nghttp2 openssl simdjson)
state=$folder/apt
mkdir -p "$state/parts" "$state/lists/partial" "$state/cache/archives/partial"
cd "$folder"

# The machine need not list sources: where it has packages from has them too.
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.sources /etc/apt/sources.list.d/*.list; do
  [[ -f $file ]] || continue
  sed -E 's/^Types:.*/Types: deb-src/; s/^deb[[:space:]]/deb-src /' "$file" >"$state/parts/$(basename "$file")"
done
options=(-qq -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$state/parts" -o Dir::State::lists="$state/lists"
  -o Dir::Cache="$state/cache" -o Acquire::Retries=3 -o APT::Sandbox::User=root)
# Other repositories than Debian's may have no sources; whether those of ours came is seen below.
apt-get "${options[@]}" update >&2 || true

# The versions of a source package, the newest first.
versions() {
  apt-cache "${options[@]}" showsrc --only-source "$1" 2>/dev/null | sed -n 's/^Version: //p' | sort -rVu
}

# A mirror may list a version that it does not have yet, or no longer.
bring() {
  local package=$1 version newest=
  while read -r version; do
    newest=${newest:-$version}
    [[ ! -f $package.version || $(cat "$package.version") != "$version" ]] || return 0
    rm -rf "$package"-[0-9]* "$package.version"
    if apt-get "${options[@]}" source "$package=$version" >"$package.log" 2>&1; then
      printf '%s' "$version" >"$package.version"
      [[ $version == "$newest" ]] ||
        printf 'warning: %s %s cannot be had: %s is built, without what was repaired since\n' "$package" "$newest" "$version" >&2
      return 0
    fi
  done < <(versions "$package")
  printf 'error: the source of %s cannot be had (%s/%s.log): is the machine a Debian, and its mirror reachable?\n' "$package" \
    "$folder" "$package" >&2
  return 1
}

for package in "${packages[@]}"; do bring "$package"; done
for package in "${packages[@]}"; do printf '%s %s\n' "$package" "$(cat "$package.version")"; done >versions.txt
