#!/bin/sh
# run_on_old_cpu.sh PROGRAM: the tests on an emulated x86-64 CPU of 2003, where one instruction too
# new ends the program with SIGILL.
set -eu
if [ "$(uname -m)" != x86_64 ] || ! command -v qemu-x86_64 >/dev/null; then
  echo "skipped: this needs an x86-64 machine with qemu-x86_64 (Debian: qemu-user)"
  exit 77
fi
exec qemu-x86_64 -cpu qemu64 "$1" --test-case-exclude='*many rows*,*more rows*,*extremes*,*forked*'
