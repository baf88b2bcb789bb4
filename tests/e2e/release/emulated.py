"""Runs a command in which programs for aarch64 may be started like any other:

    emulated.py EMULATOR ROOT COMMAND…

The kernel starts these in EMULATOR, a program without shared libraries. That it does is told to it for one user namespace
(binfmt_misc, since Linux 6.7): for the machine itself nothing changes. The command is root in ROOT, which may be another
system; "/" is this one. Needs root."""

import ctypes
import os
import pathlib
import subprocess
import sys

NEW_USER, NEW_MOUNTS = 0x10000000, 0x00020000  # CLONE_NEWUSER, CLONE_NEWNS of <linux/sched.h>
EVERYONE = "0 0 4294967295"
TABLE = pathlib.Path("/proc/sys/fs/binfmt_misc")

# What the first bytes of a program for Linux on aarch64 are, and which of their bits count: qemu's qemu-binfmt-conf.sh.
MAGIC = rb"\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00"
MASK = rb"\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff"
# The emulator is opened now, not in ROOT later, and the name by which a program was called stays (variant-install).
FLAGS = b"FP"


def separate():
    """Into namespaces of its own, with the users and groups of the machine: its parent has to say so."""
    begun, said = os.pipe(), os.pipe()
    child = os.fork()
    if child:
        os.read(begun[0], 1)
        for kind in ("uid_map", "gid_map"):
            pathlib.Path(f"/proc/{child}/{kind}").write_text(EVERYONE)
        os.write(said[1], b".")
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) & 0xff)
    if ctypes.CDLL(None, use_errno=True).unshare(NEW_USER | NEW_MOUNTS) != 0:
        sys.exit("no namespaces: " + os.strerror(ctypes.get_errno()))
    os.write(begun[1], b".")
    os.read(said[0], 1)


def main():
    emulator, root, *command = sys.argv[1:]
    separate()
    subprocess.run(["mount", "-t", "binfmt_misc", "binfmt_misc", TABLE], check=True)
    (TABLE / "register").write_bytes(b":".join([b"", b"emulated", b"M", b"", MAGIC, MASK, os.fsencode(emulator), FLAGS]))
    elsewhere = [] if root == "/" else [f"--root={root}"]
    isolated = ["unshare", "--mount", "--pid", "--fork", "--kill-child", *elsewhere, "--mount-proc"]
    os.execvp(isolated[0], [*isolated, *command])


main()
