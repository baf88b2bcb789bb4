"""What the tests of the one program share: where `./dev release` has put it."""

import os
import pathlib
import platform
import re
import subprocess
import unittest

DIST = pathlib.Path(os.environ["AXLE_SOURCE_DIR"]) / "build/dist"
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
