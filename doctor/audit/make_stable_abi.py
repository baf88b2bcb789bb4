#!/usr/bin/env python3
"""Writes stable_abi.inc from the package abi3info, which has CPython's Misc/stable_abi.toml as tables.

    python3 -m pip install abi3info && python3 doctor/audit/make_stable_abi.py
"""

from importlib.metadata import version
from pathlib import Path

from abi3info import DATAS, FUNCTIONS

HEAD = """// The symbols of Python's stable ABI on Linux (PEP 384; CPython, Misc/stable_abi.toml), and the N of the
// Python 3.N that has them first. Written by make_stable_abi.py from abi3info {version}.
// clang-format off
"""


def on_linux(item) -> bool:
    """Some are of Windows, or of debug builds, only."""
    macro = item.ifdef
    return macro is None or macro.name == "HAVE_FORK" or macro.name == "PY_HAVE_THREAD_NATIVE_ID"


def main() -> None:
    rows = {}
    for item in [*FUNCTIONS.values(), *DATAS.values()]:
        if on_linux(item):
            rows[item.symbol.name] = item.added.minor
    text = HEAD.format(version=version("abi3info"))
    for name, minor in sorted(rows.items()):
        text += f'AXLE_STABLE_ABI("{name}", {minor})\n'
    text += "// clang-format on\n"
    Path(__file__).with_name("stable_abi.inc").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
