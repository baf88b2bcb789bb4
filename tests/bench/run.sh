#!/usr/bin/env bash
# Every benchmark of docs/performance.md, one after the other; nothing else should run meanwhile.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
bin=$root/build/release/bin
python=/usr/bin/python3
[[ -x $python ]] || python=python3

printf 'load: %s; %s\n' "$(cut -d' ' -f1 /proc/loadavg)" "$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1)"
printf '\n== commands\n'
"$python" "$root/tests/bench/commands.py" "$bin" "$root" "${1:-31}"
printf '\n== solving beside uv\n'
"$python" "$root/tests/bench/solve.py" "$bin" "$root" "${1:-31}"
printf '\n== installing beside uv\n'
"$python" "$root/tests/bench/install.py" "$bin" "$root"
printf '\n== an index of a million files\n'
"$python" "$root/tests/bench/publishing.py" "$bin" 1000000
printf '\n== detection\n'
"$python" "$root/tests/bench/detection.py" "$bin" "$root/build/release/tests/detect/stubs" "${1:-31}"
printf '\n== building variants\n'
"$python" "$root/tests/bench/building.py" "$bin"
printf '\n== splitting a wheel for CUDA\n'
"$python" "$root/tests/bench/repacking.py" "$bin"
printf "\n== audit of torch\n"
"$python" "$root/tests/bench/audit.py" "$bin"
for program in "$bin"/bench_*; do
  printf '\n== %s\n' "${program##*/}"
  # Debian's library always says that it was built for debugging; that is not our build.
  "$program" 2>&1 | grep -v 'Library was built as DEBUG'
done
# Last: their peers are installed or compiled, and where that fails the others have been measured.
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
found=$folder/measured.json
printf '\n== layers beside llama.cpp, oneDNN, ONNX Runtime and OpenVINO\n'
"$python" "$root/tests/bench/layers.py" "$bin" --json "$found"
"$python" "$root/tests/bench/coexistence.py" "$bin" --json "$found" || printf 'the runtime does not bear others\n'
printf '\n== models beside llama.cpp\n'
"$python" "$root/tests/bench/model.py" "$bin" --json "$found" || printf 'not measured\n'
printf '\n== goals\n'
"$python" "$root/tests/bench/goals.py" "$found"
printf '\n== thin variants beside the plain wheel\n'
"$python" "$root/tests/bench/thin.py" "$bin"
