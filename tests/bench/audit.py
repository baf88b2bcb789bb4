"""How long `variant audit` takes for torch's wheel, beside the least that it has to do: inflating all of it.

usage: audit.py BIN [RUNS] [WHEEL]     WHEEL: else the configured index is asked for torch (AXLE_TEST_REGISTRY=1)

The limit is the same bytes, inflated by ISA-L (`zip` of this repository has no faster one) with as many processes as there are
processors, the largest members first; nothing is checked, kept or hashed.
"""

import ctypes
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from multiprocessing import get_context

from peers import wheel_or_none

GOAL_S = 5.0


class InflateState(ctypes.Structure):
    """The head of ISA-L's inflate_state (igzip_lib.h); the rest is opaque."""

    _fields_ = [("next_out", ctypes.c_void_p), ("avail_out", ctypes.c_uint32), ("total_out", ctypes.c_uint32),
                ("next_in", ctypes.c_void_p), ("read_in", ctypes.c_uint64), ("avail_in", ctypes.c_uint32),
                ("read_in_length", ctypes.c_int32), ("rest", ctypes.c_char * (1 << 18))]


def inflate(task):
    path, members = task
    library = ctypes.CDLL("libisal.so.2")
    out = ctypes.create_string_buffer(1 << 20)
    with open(path, "rb") as file:
        for offset, size, method in members:
            file.seek(offset)
            data = file.read(size)
            if method == zipfile.ZIP_STORED:
                continue
            state = InflateState()
            library.isal_inflate_init(ctypes.byref(state))
            held = ctypes.create_string_buffer(data, len(data))
            state.next_in, state.avail_in = ctypes.addressof(held), len(data)
            while True:
                state.next_out, state.avail_out = ctypes.addressof(out), len(out)
                if library.isal_inflate(ctypes.byref(state)) != 0:
                    raise SystemExit("ISA-L cannot inflate a member")
                if state.avail_out != 0:
                    break


def members_of(path):
    """(offset of the content, its size, method), the largest first."""
    found = []
    with zipfile.ZipFile(path) as archive, open(path, "rb") as file:
        for one in archive.infolist():
            file.seek(one.header_offset + 26)
            name, extra = (int.from_bytes(file.read(2), "little") for _ in range(2))
            found.append((one.file_size, (one.header_offset + 30 + name + extra, one.compress_size, one.compress_type)))
    return [member for _, member in sorted(found, reverse=True)]


def limit(path, processors):
    """Seconds: shares of about the same size."""
    shares = [[0, []] for _ in range(processors)]
    for member in members_of(path):
        share = min(shares, key=lambda one: one[0])
        share[0] += member[1]
        share[1].append(member)
    with get_context("fork").Pool(processors) as pool:
        begin = time.monotonic()
        pool.map(inflate, [(path, members) for _, members in shares], chunksize=1)
        return time.monotonic() - begin


def audit(bin_folder, path):
    begin = time.monotonic()
    done = subprocess.run([f"{bin_folder}/variant", "audit", str(path), "--json"], stdout=subprocess.DEVNULL)
    if done.returncode not in (0, 1):
        raise SystemExit("variant audit failed")
    return time.monotonic() - begin


def main():
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    with tempfile.TemporaryDirectory() as folder:
        path = wheel_or_none(sys.argv[3] if len(sys.argv) > 3 else None, "torch", folder)
        if path is None:
            return
        path.read_bytes()  # the page cache
        processors = len(os.sched_getaffinity(0))
        with zipfile.ZipFile(path) as archive:
            size = sum(one.file_size for one in archive.infolist())
        pairs = [(limit(path, processors), audit(sys.argv[1], path)) for _ in range(runs)]
        least, took = (statistics.median(column) for column in zip(*pairs))
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3
        print(f"{path.name}: {path.stat().st_size / 1e6:.0f} MB, unpacked {size / 1e6:.0f} MB, {processors} processors, {runs} runs")
        print(f"audit {took:.2f} s ({min(one for _, one in pairs):.2f} to {max(one for _, one in pairs):.2f}), peak {peak:.0f} MB, "
              f"goal {GOAL_S} s: {'met' if took <= GOAL_S else 'MISSED'}")
        print(f"inflate alone {least:.2f} s: the audit takes {took / least:.2f} times as long")


if __name__ == "__main__":
    main()
