"""Namespace `axle` of wheel variants, for installers that ask plugins (PEP 850).

What this machine supports beyond the published providers: AMX and AVX10, SVE lengths, CUDA code by
CUDA's own rules, generic AMD targets and more. A program beside this file looks at the machine; where
it cannot run, nothing is supported.
"""

import os
import shutil
import subprocess
import tempfile
import warnings
from dataclasses import dataclass
from typing import List

__all__ = ["VariantFeatureConfig", "get_all_configs", "get_supported_configs", "namespace"]

namespace = "axle"

_PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "axle_properties")
_TIME_LIMIT = 30  # seconds; the program gives a driver 3


@dataclass(frozen=True)
class VariantFeatureConfig:
    """One feature and its values, the best first."""

    name: str
    multi_value: bool
    values: List[str]


def _run(program, what):
    return subprocess.run(
        [program, what],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        timeout=_TIME_LIMIT,
        check=True,
        encoding="utf-8",
        errors="replace",
    )


def _ask(what):
    if os.access(_PROGRAM, os.X_OK):
        return _run(_PROGRAM, what)
    # Some unpackers drop the executable bit.
    with tempfile.TemporaryDirectory(prefix="axle-") as folder:
        copy = os.path.join(folder, "axle_properties")
        shutil.copyfile(_PROGRAM, copy)
        os.chmod(copy, 0o700)
        return _run(copy, what)


def _configs(what):
    try:
        done = _ask(what)
    except (OSError, subprocess.SubprocessError) as error:
        warnings.warn(f"axle: the machine cannot be looked at: {error}", stacklevel=3)
        return []
    for line in done.stderr.splitlines():
        warnings.warn(line, stacklevel=3)
    configs = []
    for line in done.stdout.splitlines():
        name, multi_value, values = line.split("\t")
        configs.append(VariantFeatureConfig(name, multi_value == "1", values.split(" ")))
    return configs


def get_supported_configs(_context=None):
    """What this machine supports. Plugins of 0.0.x were given an argument; it says nothing here."""
    return _configs("supported")


def get_all_configs(_context=None):
    """What any machine may support."""
    return _configs("all")
