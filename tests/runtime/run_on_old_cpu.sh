#!/bin/sh
# run_on_old_cpu.sh MODEL KERNEL PROGRAM: the tests on an emulated x86-64 CPU, where one instruction
# too new ends the program with SIGILL. KERNEL is a set that this CPU can run.
set -eu
if [ "$(uname -m)" != x86_64 ] || ! command -v qemu-x86_64 >/dev/null; then
  echo "skipped: this needs an x86-64 machine with qemu-x86_64 (Debian: qemu-user)"
  exit 77
fi
# Left out: what computes much and is asked on real CPUs, and what runs no kernels; what quantises weights is the same code
# for every set, and runs on the oldest CPU.
without='*many rows*,*more rows*,*extremes*,*forked*,*in a batch*,*in double*,int4 errors*'
[ "$1" = qemu64 ] || without="$without,*fast search*"
output=$(mktemp)
trap 'rm -f "$output"' EXIT
AXLE_TEST_WITHOUT_MODELS=1 qemu-x86_64 -cpu "$1" "$3" --test-case-exclude="$without" >"$output" 2>&1 || {
  cat "$output"
  exit 1
}
tail -n 3 "$output"
if grep "cannot run it: $2\$" "$output"; then
  echo "an emulated $1 must run the kernel set $2"
  exit 1
fi
