"""How long `variant repack --split sm` takes for a wheel, beside what it has to inflate and deflate.

usage: repacking.py BIN [RUNS] [WHEEL]     WHEEL: else bitsandbytes of the configured index (AXLE_TEST_REGISTRY=1)

The limit is libdeflate alone, one thread, in this process: every member is inflated once, and each library that a variant has
in another form is deflated at the level of the wheels that are written. Nothing is hashed, cut, checked or written.
"""

import ctypes
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile

from peers import wheel_or_none

LEVEL = 9  # of wheel/wheel_writer.cpp
GOAL = 1.5


class Deflate:
    def __init__(self):
        self.library = ctypes.CDLL("libdeflate.so.0")
        for name in ("libdeflate_alloc_compressor", "libdeflate_alloc_decompressor"):
            getattr(self.library, name).restype = ctypes.c_void_p
        self.library.libdeflate_deflate_compress.restype = ctypes.c_size_t
        self.compressor = ctypes.c_void_p(self.library.libdeflate_alloc_compressor(LEVEL))
        self.decompressor = ctypes.c_void_p(self.library.libdeflate_alloc_decompressor())

    def inflate(self, packed, size):
        out = ctypes.create_string_buffer(size)
        begin = time.process_time()
        code = self.library.libdeflate_deflate_decompress(self.decompressor, packed, ctypes.c_size_t(len(packed)), out,
                                                          ctypes.c_size_t(size), None)
        took = time.process_time() - begin
        if code != 0:
            raise SystemExit("libdeflate cannot inflate a member")
        return took

    def deflate(self, content):
        out = ctypes.create_string_buffer(len(content) + 1024)
        begin = time.process_time()
        self.library.libdeflate_deflate_compress(self.compressor, content, ctypes.c_size_t(len(content)), out,
                                                 ctypes.c_size_t(len(out)))
        return time.process_time() - begin


def packed_bytes(file, member):
    file.seek(member.header_offset + 26)
    name, extra = (int.from_bytes(file.read(2), "little") for _ in range(2))
    file.seek(member.header_offset + 30 + name + extra)
    return file.read(member.compress_size)


def least(wheel, made):
    """Seconds of one processor."""
    deflate = Deflate()
    seconds = 0.0
    with zipfile.ZipFile(wheel) as archive, open(wheel, "rb") as file:
        before = {one.filename: one.CRC for one in archive.infolist()}
        for one in archive.infolist():
            if one.compress_type == zipfile.ZIP_DEFLATED:
                seconds += deflate.inflate(packed_bytes(file, one), one.file_size)
    for variant in made:
        with zipfile.ZipFile(variant) as archive:
            for one in archive.infolist():
                if before.get(one.filename) not in (None, one.CRC) and ".dist-info/" not in one.filename:
                    seconds += deflate.deflate(archive.read(one))
    return seconds


def repack(bin_folder, wheel, out):
    """(seconds, those of processors)"""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.monotonic()
    done = subprocess.run([f"{bin_folder}/variant", "repack", str(wheel), "--split", "sm", "--out", out, "--quiet"], stdout=subprocess.DEVNULL)
    took = time.monotonic() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise SystemExit("variant repack failed")
    return took, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(bin_folder, wheel, runs):
    wheel.read_bytes()  # the page cache
    rows = []
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as out:
            took = repack(bin_folder, wheel, out)
            made = sorted(pathlib.Path(out).glob("*.whl"))
            rows.append((*took, least(wheel, made)))
    wall, processors, limit = (statistics.median(column) for column in zip(*rows))
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3
    print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.0f} MB into {len(made)} variants, "
          f"{len(os.sched_getaffinity(0))} processors, {runs} runs")
    print(f"repack {wall:.2f} s, {processors:.2f} s of processors, peak {peak:.0f} MB; inflate and deflate alone {limit:.2f} s: "
          f"{processors / limit:.2f} times the work ({'met' if processors <= GOAL * limit else 'MISSED'}, goal {GOAL}), "
          f"{wall / limit:.2f} times the time")


def main():
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    with tempfile.TemporaryDirectory() as folder:
        wheel = wheel_or_none(sys.argv[3] if len(sys.argv) > 3 else None, "bitsandbytes==0.50.2", folder)
        if wheel is not None:
            measure(sys.argv[1], wheel, runs)


if __name__ == "__main__":
    main()
