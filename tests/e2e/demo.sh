#!/usr/bin/env bash
# The straight line: this machine, the runtime's variants, an index, an installation, a layer that runs.
# usage: demo.sh FOLDER; the program is the one that ./dev build left at build/variant.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
variant=${AXLE_BIN:-$root/build/release/bin}/variant
folder=$1
python=/usr/bin/python3
[[ -x $python ]] || python=python3

step() { printf '\n\033[1m%s\033[0m\n$ %s\n' "$1" "$2"; }
[[ -t 1 ]] || step() { printf '\n%s\n$ %s\n' "$1" "$2"; }

rm -rf "$folder"
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
# Nothing of the caller's configuration takes part, and nothing is left behind outside the folder.
export AXLE_CACHE_DIR=$folder/cache PIP_CONFIG_FILE=/dev/null PYTHONDONTWRITEBYTECODE=1
unset VIRTUAL_ENV CONDA_PREFIX
for name in ${!PIP_@} ${!UV_@}; do [[ $name == PIP_CONFIG_FILE ]] || unset "$name"; done

step "1. What is this machine?" "variant detect"
"$variant" detect

# The variants differ in their kernels only: what else they compile, a compiler cache has after the
# first. They are built in folders of their own, so paths count from there.
cached=()
! command -v ccache >/dev/null ||
  cached=(env CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_BASEDIR=/ CCACHE_NOHASHDIR=1)

step "2. Build the runtime's variants for this machine, all from one table" "variant build runtime --arch $(uname -m)"
"${cached[@]}" "$variant" build "$root/runtime" --arch "$(uname -m)" --out "$folder/wheels"

step "3. Publish them as a static index" "variant index build wheels --out index"
"$variant" index build "$folder/wheels" --out "$folder/index"

index=file://$folder/index/simple
step "4. Install the one that fits, and say why" "variant-install axle-runtime --index-url $index --explain"
"$python" -m venv --without-pip "$folder/venv"
ln -s "$variant" "$folder/variant-install"
"$folder/variant-install" axle-runtime --index-url "$index" --python "$folder/venv" --explain

step "5. Run it: a quantised linear layer, beside the null variant" "venv/bin/python linear_layer.py"
"$python" -m venv --without-pip "$folder/venv-null"
"$variant" install --quiet axle-runtime --variant axle-runtime=null --index-url "$index" \
  --python "$folder/venv-null" >/dev/null
read -r _ decode batch < <("$folder/venv-null/bin/python" "$root/runtime/examples/linear_layer.py" | tail -n 1)
"$folder/venv/bin/python" "$root/runtime/examples/linear_layer.py" --seconds-of-other-variant "$decode" "$batch" |
  grep -v '^seconds'
