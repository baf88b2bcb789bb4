"""What the tests of the one program share: where `./dev release` has put it, and how the one for aarch64 runs elsewhere."""

import atexit
import functools
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BIN = pathlib.Path(os.environ["AXLE_BIN"])
SOURCE = pathlib.Path(os.environ["AXLE_SOURCE_DIR"])
DIST = SOURCE / "build/dist"
ARCHITECTURES = ("x86_64", "aarch64")
FLOOR = (2, 17)


def program(architecture):
    found = DIST / architecture / "variant"
    if not found.exists():
        raise unittest.SkipTest(f"{found} is not there: ./dev release {architecture} makes it")
    return found


def programs():
    """Of all architectures that were built."""
    found = [DIST / one / "variant" for one in ARCHITECTURES if (DIST / one / "variant").exists()]
    if not found:
        raise unittest.SkipTest(f"{DIST} has no program: ./dev release makes them")
    return found


def native():
    return program(platform.machine())


@functools.cache
def build_wheel(architecture):
    """The wheel `variant-install` of the architecture, which the program that is tested builds once."""
    program(architecture)
    out = pathlib.Path(tempfile.mkdtemp(prefix="axle-e2e-wheel-"))
    atexit.register(shutil.rmtree, out, ignore_errors=True)
    subprocess.run([BIN / "variant", "build", SOURCE / "cli/wheel", "--arch", architecture, "--out", out, "--no-cache"], check=True,
                   stdout=subprocess.DEVNULL)
    return next(out.glob("variant_install-*.whl"))


@functools.cache
def static_emulator():
    """qemu for aarch64 that needs no library of the system in which it runs. Debian's package of it is unpacked and not
    installed: then the kernel would start all programs of other architectures in it."""
    for name in ("qemu-aarch64-static", "qemu-aarch64"):
        found = shutil.which(name)
        if found and " INTERP " not in readelf("-l", found):
            return pathlib.Path(found)
    folder = DIST / "emulator"
    emulator = folder / "usr/bin/qemu-aarch64-static"
    if not emulator.exists():
        folder.mkdir(parents=True, exist_ok=True)
        said = subprocess.run("apt-get download -qq qemu-user-static && dpkg-deb -x qemu-user-static_*.deb . && rm qemu-user-static_*.deb",
                              shell=True, cwd=folder, capture_output=True, text=True, check=False)
        if said.returncode != 0 or not emulator.exists():
            raise unittest.SkipTest("no qemu for aarch64 without shared libraries, and Debian's cannot be had: " + said.stderr[-200:])
    return emulator


@functools.cache
def emulated(root="/"):
    """What to put before a command so that programs for aarch64 can be started in it, by whatever it starts, too."""
    if platform.machine() != "x86_64":
        raise unittest.SkipTest(f"an emulator of aarch64 is for x86-64 machines, not for {platform.machine()}")
    if os.geteuid() != 0:
        raise unittest.SkipTest("the kernel learns of an emulator from root alone")
    prefix = (sys.executable, SOURCE / "tests/e2e/release/emulated.py", static_emulator(), root)
    said = subprocess.run([*prefix, "true"], capture_output=True, text=True, check=False)
    if said.returncode != 0:
        raise unittest.SkipTest("this kernel lets no namespace have emulators of its own (Linux 6.7 does): " + said.stderr.strip()[-200:])
    return prefix


# For a processor whose facts are known; the C library of Debian's cross compilers.
EMULATION = {"QEMU_CPU": "neoverse-n1", "QEMU_LD_PREFIX": "/usr/aarch64-linux-gnu"}


def readelf(*arguments):
    return subprocess.run(["readelf", "-W", *map(str, arguments)], check=True, capture_output=True, text=True).stdout


def needed(path):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("-d", path))


def glibc_versions(path):
    """The versions of glibc's symbols that the file needs."""
    found = set(re.findall(r"Name: GLIBC_([0-9.]+)", readelf("-V", path)))
    return {tuple(map(int, version.split("."))) for version in found}


def defined_symbols(path):
    rows = [line.split() for line in readelf("--dyn-syms", path).splitlines()]
    return [row[7] for row in rows if len(row) > 7 and row[0].endswith(":") and row[6] not in ("UND", "Ndx")]
