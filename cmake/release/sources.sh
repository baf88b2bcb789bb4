#!/usr/bin/env bash
# Debian's sources of the libraries that the one program has linked in, unpacked with Debian's patches:
#   sources.sh FOLDER
# apt brings them from where the machine's packages come from, and checks their signatures. FOLDER/versions.txt says what came.
set -euo pipefail

folder=$(realpath -m "$1")
packages=(curl libdeflate libisal libmicrohttpd libseccomp libzstd nghttp2 openssl simdjson)
# Those whose upstream releases repairs of the version that Debian has, and which need no patch of Debian's here.
repaired_upstream=(openssl)
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

# bring_whole PACKAGE VERSION: upstream's source with Debian's patches.
bring_whole() {
  rm -rf "$1"-[0-9]* "$1.version"
  apt-get "${options[@]}" source "$1=$2" >"$1.log" 2>&1 && printf '%s' "$2" >"$1.version"
}

# bring_released PACKAGE VERSION: upstream's source of that version alone, for those that are as good without patches.
bring_released() {
  local package=$1 version=$2 name
  [[ " ${repaired_upstream[*]} " == *" $package "* ]] || return 1
  name=$(upstream "$version")
  apt-get "${options[@]}" source --tar-only "$package=$version" >>"$package.log" 2>&1 || return 1
  mkdir "$package-$name" || return 1
  # Beside it may lie its signature, *.asc.
  tar -x -f "$(compgen -G "${package}_$name.orig.tar.*[!c]")" -C "$package-$name" --strip-components=1 || return 1
  printf '%s, without what Debian changed in it' "$version" >"$package.version"
}

# The part of a version that upstream gave.
upstream() {
  local version=${1#*:}
  printf '%s' "${version%-*}"
}

# A mirror may list a version that it does not have yet, or no longer, as a whole. The newest that it has is taken; before an
# older release of upstream's the newer one alone.
bring() {
  local package=$1 version all row
  mapfile -t all < <(versions "$package")
  for row in "${!all[@]}"; do
    version=${all[row]}
    [[ ! -f $package.version || $(cat "$package.version") != "$version" ]] || return 0
    if ! bring_whole "$package" "$version"; then
      [[ $(upstream "$version") != "$(upstream "${all[row + 1]:-}")" ]] && bring_released "$package" "$version" || continue
    fi
    [[ $(cat "$package.version") == "${all[0]}" ]] ||
      printf 'warning: %s %s cannot be had: what is built is %s; repairs may be missing\n' "$package" "${all[0]}" \
        "$(cat "$package.version")" >&2
    return 0
  done
  printf 'error: the source of %s cannot be had (%s/%s.log): is the machine a Debian, and its mirror reachable?\n' "$package" \
    "$folder" "$package" >&2
  return 1
}

for package in "${packages[@]}"; do bring "$package"; done
for package in "${packages[@]}"; do printf '%s %s\n' "$package" "$(cat "$package.version")"; done >versions.txt
