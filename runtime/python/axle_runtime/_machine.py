"""Questions about the library and the machine."""

from __future__ import annotations

import ctypes
from typing import Any, Dict, List, Optional

from . import _library, _structs
from ._layer import number_of
from ._library import MODES, SCALINGS, call, library
from ._structs import new


def read_facts(function: Any, handle: ctypes.c_void_p) -> Dict[str, str]:
    """The pairs that axle_runtime_info or axle_model_info gives one by one."""
    facts: Dict[str, str] = {}
    key = ctypes.c_char_p()
    value = ctypes.create_string_buffer(256)
    while function(handle, len(facts), ctypes.byref(key), value, len(value)) == _library.OK:
        facts[(key.value or b"").decode()] = value.value.decode()
    return facts


def info(kernel: Optional[str] = None, threads: int = 0) -> Dict[str, str]:
    """Facts about the library as it runs here: version, kernel, kernels, forced, threads."""
    runtime = _library.runtime(kernel, threads)
    return read_facts(library.axle_runtime_info, runtime)


def kernels() -> List[Dict[str, Any]]:
    """The kernel sets, best first: name, whether this build has them, whether this machine can run
    them, and which capabilities it lacks."""
    table = []
    for index in range(library.axle_kernel_count()):
        row = new(_structs.KernelInfo)
        library.axle_kernel_at(index, ctypes.byref(row))
        table.append(
            {
                "name": row.name.decode(),
                "built": bool(row.built),
                "usable": bool(row.usable),
                "missing": row.missing.decode().split(),
            }
        )
    return table


def devices() -> List[Dict[str, Any]]:
    """The devices beside the CPU that this build knows: name ("cuda:0"), whether this machine can use
    it, what it is, and the problem if it cannot. Drivers are asked now, and loaded for it."""
    table: List[Dict[str, Any]] = []
    row = new(_structs.DeviceInfo)
    while library.axle_device_at(len(table), ctypes.byref(row)) == _library.OK:
        table.append(
            {
                "name": row.name.decode(),
                "usable": bool(row.usable),
                "description": row.description.decode("utf-8", "replace"),
                "problem": row.problem.decode("utf-8", "replace"),
            }
        )
    return table


def selftest(
    kernel: Optional[str] = None, threads: int = 0, device: Optional[str] = None
) -> None:
    """Runs every usable kernel set against plain sums, or the kernels of a device against the CPU byte for
    byte; raises RuntimeError when one is wrong."""
    runtime = _library.runtime(kernel, threads)
    if device is None or device == "cpu":
        call(library.axle_runtime_selftest, runtime)
    else:
        call(
            library.axle_device_selftest,
            runtime,
            device.encode(),
            unsupported=_library.UnsupportedDevice,
        )


def bench(
    m: int = 1,
    n: int = 4096,
    k: int = 4096,
    mode: str = "da8w8",
    kernel: Optional[str] = None,
    threads: int = 0,
    weight_bytes: int = 256 << 20,
    seconds: float = 0.5,
    group: int = 0,
    scaling: str = "searched",
) -> Dict[str, Any]:
    """Times one layer on weights that no cache holds: kernel, microseconds (best of all passes),
    gigabytes_per_second (of weights), gigaops_per_second, and read_gigabytes_per_second of plain
    reads in the same run."""
    runtime = _library.runtime(kernel, threads)
    options = new(
        _structs.BenchOptions,
        mode=number_of("mode", MODES, mode),
        m=m,
        n=n,
        k=k,
        weight_bytes=weight_bytes,
        seconds=seconds,
        group=group,
        scaling=number_of("scaling", SCALINGS, scaling),
    )
    result = new(_structs.BenchResult)
    call(library.axle_runtime_bench, runtime, ctypes.byref(options), ctypes.byref(result))
    figures: Dict[str, Any] = {"kernel": result.kernel.decode()}
    for name, _ in _structs.BenchResult._fields_[1:-1]:
        figures[name] = getattr(result, name)
    return figures
