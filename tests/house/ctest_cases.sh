#!/usr/bin/env bash
# Every doctest case is a ctest test: a name that ctest splits or drops would pass without running.
# usage: ctest_cases.sh BUILD_DIR
set -euo pipefail
cd "$1"
listing=$(ctest -N)
programs=0
for program in bin/*_test; do
  name=$(basename "$program" _test | sed "s/_/[_ ]/g")
  "$program" --count --no-version >/dev/null 2>&1 || continue
  own=$("$program" --count | sed -n 's/.*unskipped test cases passing the current filters: //p')
  [[ -n $own ]] || continue
  listed=$(grep -cE "Test +#[0-9]+: $name:[^ ]" <<<"$listing" || true)
  [[ $own -eq $listed ]] || {
    printf '%s has %s cases, ctest lists %s\n' "$program" "$own" "$listed" >&2
    exit 1
  }
  programs=$((programs + 1))
done
printf '%s programs: every case is listed\n' "$programs"
((programs > 8))
