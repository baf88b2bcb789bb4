"""A real wheel for a benchmark: one that is there already, or from the configured index, fetched for this run."""

import os
import pathlib
import subprocess
import sys


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
