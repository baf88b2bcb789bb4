"""Peers of the benchmarks, each in an environment of its own under $AXLE_BENCH_PEERS (~/.cache/axle-bench): made when first wanted, kept."""

import os
import pathlib
import shutil
import subprocess
import sys

FOLDER = pathlib.Path(os.environ.get("AXLE_BENCH_PEERS") or pathlib.Path.home() / ".cache/axle-bench")


class Missing(Exception):
    """A peer that cannot be installed, and why."""


def environment(name, *packages, options=(), variables=None):
    """The Python of an environment with these packages, from the index that pip is configured for."""
    folder = FOLDER / name
    python = folder / "bin/python"
    if not python.exists():
        print(f"installing {' '.join(packages)} into {folder}", flush=True)
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        done = subprocess.run([python, "-m", "pip", "install", "--quiet", *options, *packages], env={**os.environ, **(variables or {})},
                              stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            shutil.rmtree(folder)
            said = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
            raise Missing(f"{' '.join(packages)} cannot be installed: {said[-1] if said else 'pip fails'}")
    return python


def llama_cpp(name="llama-cpp", flags="-DGGML_NATIVE=ON"):
    """A Python with llama-cpp-python from its source, for this CPU: by clang where it is, because GCC 12 leaves most of the tile
    configuration of ggml's AMX code unwritten, and two rows then crash."""
    compilers = {"CC": "clang-19", "CXX": "clang++-19"} if shutil.which("clang++-19") else {}
    return environment(name, "llama-cpp-python", options=["--no-binary", "llama-cpp-python"],
                       variables={**compilers, "CMAKE_ARGS": f"{flags} -DLLAMA_BUILD_TOOLS=OFF -DLLAMA_BUILD_SERVER=OFF"})


def onednn(version):
    """The library: of Debian for 2, of a package of the index for 3."""
    if version == 3:
        return environment("onednn", "onednn-cpu-gomp").parents[1] / "lib/libdnnl.so.3"
    found = sorted(pathlib.Path("/usr/lib").glob("*/libdnnl.so.2"))
    if not found:
        raise Missing("Debian's package libdnnl2 is not installed")
    return found[0]
