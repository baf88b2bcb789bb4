#!/usr/bin/env bash
# docs/quality.md: trains the models where they are not yet (minutes), measures every mode and writes the page.
# usage: run.sh BIN FOLDER DOCS
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bin=$1 folder=$2 docs=$3
python=/usr/bin/python3 # Debian's, which has Debian's torch

"$python" -B "$here/train.py" "$folder"
"$python" -B "$here/measure.py" "$bin" "$folder"
"$python" -B "$here/page.py" "$folder" "$docs"
