"""What a variant that carries its own kernels alone saves beside the plain wheel, which carries all: as Markdown.

usage: thin.py BIN [RUNS] [--wheels DIR]

Bytes of the wheel and of its library, and the time from opening the library to a runtime that is ready, the median of RUNS (31) new
processes, taken in turn; the library is in the page cache. Without --wheels the runtime is built, which takes minutes.
"""

import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOAD = """
import ctypes, sys, time
start = time.perf_counter()
library, runtime = ctypes.CDLL(sys.argv[1]), ctypes.c_void_p()
status = library.axle_runtime_create(None, ctypes.byref(runtime), None)
print(time.perf_counter() - start if status == 0 else sys.exit("axle_runtime_create fails"))
"""


def build(program, folder):
    """The variants differ in their kernels only: what else they compile, a compiler cache has after the first."""
    cached = {"CMAKE_C_COMPILER_LAUNCHER": "ccache", "CMAKE_CXX_COMPILER_LAUNCHER": "ccache", "CCACHE_BASEDIR": "/", "CCACHE_NOHASHDIR": "1"}
    subprocess.run([program, "build", ROOT / "runtime", "--arch", os.uname().machine, "--out", folder, "--quiet"], check=True, env={**os.environ, **(cached if shutil.which("ccache") else {})})


def label(wheel):
    """That of the file's name; the plain wheel has none."""
    parts = wheel.stem.split("-")
    return parts[5] if len(parts) == 6 else "plain"


def unpacked(wheel, folder):
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith("libaxle_runtime.so"))
        return pathlib.Path(archive.extract(name, folder / label(wheel)))


def load_seconds(library):
    said = subprocess.run([sys.executable, "-I", "-S", "-c", LOAD, library], check=True, capture_output=True, text=True)
    return float(said.stdout)


def report(wheels, libraries, took):
    plain = next(wheel for wheel in wheels if label(wheel) == "plain")
    print("| wheel | bytes | of the plain one | library | of the plain one | load | beside the plain one |\n|---|---|---|---|---|---|---|")
    size = lambda path: path.stat().st_size
    for wheel in sorted(wheels, key=size, reverse=True):
        beside = statistics.median(one - other for one, other in zip(took[wheel], took[plain]))
        print(f"| {label(wheel)} | {size(wheel) / 1e6:.2f} MB | {size(wheel) / size(plain):.2f} | {size(libraries[wheel]) / 1e6:.2f} MB | {size(libraries[wheel]) / size(libraries[plain]):.2f} "
              f"| {statistics.median(took[wheel]) * 1e3:.2f} ms | {beside * 1e3:+.2f} ms |")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("runs", type=int, nargs="?", default=31)
    parser.add_argument("--wheels", type=pathlib.Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="axle-bench-") as temporary:
        folder = asked.wheels or pathlib.Path(temporary)
        if not any(folder.glob("*.whl")):
            build(asked.bin / "variant", folder)
        wheels = list(folder.glob("*.whl"))
        libraries = {wheel: unpacked(wheel, pathlib.Path(temporary)) for wheel in wheels}
        took = {wheel: [] for wheel in wheels}
        for _ in range(asked.runs):
            for wheel in wheels:
                took[wheel].append(load_seconds(libraries[wheel]))
        report(wheels, libraries, took)


if __name__ == "__main__":
    main()
