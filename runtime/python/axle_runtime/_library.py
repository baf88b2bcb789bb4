"""The C library beside this file: loading it, its functions, its errors as exceptions.

What each function does is said in axle_runtime.h. This is the one place that reads the environment.
"""

from __future__ import annotations

import ctypes
import functools
import os
import warnings
from typing import Any, Optional, Type

from . import _structs
from ._structs import Error, new

ABI_VERSION = 1
_FOLDER = os.path.dirname(os.path.abspath(__file__))
ENVIRONMENT_KERNEL = "AXLE_RUNTIME_KERNEL"

OK, BAD_ARGUMENT, NO_MEMORY, UNSUPPORTED, MISMATCH, IO, MALFORMED, DEVICE = range(8)
FLOAT32, BFLOAT16, FLOAT16, INT8, FLOAT8 = range(5)
MODES = {"da8w8": 0, "a16w8": 1, "a16w4": 2, "da8w4": 3, "a16f8": 4}
SCALINGS = {"searched": 0, "absmax": 1, "mse": 2, "two_level": 3}


class UnsupportedKernel(RuntimeError):
    """The kernel set asked for is not in this build, or this machine cannot run it."""


class UnsupportedDevice(RuntimeError):
    """The device asked for is not in this build or not on this machine, or cannot do what is asked."""


class UnsupportedModel(RuntimeError):
    """A model that the runtime does not know, or that cannot do what is asked of it."""


class MalformedModel(ValueError):
    """A file whose content is not what its format says."""


_POINTER = ctypes.c_void_p
_OUT = ctypes.POINTER(_POINTER)
_ERROR = ctypes.POINTER(Error)
_SIZE = ctypes.c_size_t
_SIZE_OUT = ctypes.POINTER(ctypes.c_size_t)
_STATUS = ctypes.c_int32
_NAME_OUT = ctypes.POINTER(ctypes.c_char_p)
_TOKENS = ctypes.POINTER(ctypes.c_int32)
_PROMPTS = ctypes.POINTER(ctypes.POINTER(_structs.Prompt))
_FUNCTIONS = {
    "axle_runtime_abi_version": (ctypes.c_uint32, []),
    "axle_runtime_version": (ctypes.c_char_p, []),
    "axle_kernel_count": (_SIZE, []),
    "axle_kernel_at": (_STATUS, [_SIZE, ctypes.POINTER(_structs.KernelInfo)]),
    "axle_device_at": (_STATUS, [_SIZE, ctypes.POINTER(_structs.DeviceInfo)]),
    "axle_device_selftest": (_STATUS, [_POINTER, ctypes.c_char_p, _ERROR]),
    "axle_runtime_create": (_STATUS, [ctypes.POINTER(_structs.RuntimeOptions), _OUT, _ERROR]),
    "axle_runtime_kernel": (ctypes.c_char_p, [_POINTER, ctypes.c_int32, _SIZE]),
    "axle_runtime_info": (_STATUS, [_POINTER, _SIZE, _NAME_OUT, ctypes.c_char_p, _SIZE]),
    "axle_runtime_load_tuning": (_STATUS, [_POINTER, ctypes.c_char_p, _ERROR]),
    "axle_runtime_selftest": (_STATUS, [_POINTER, _ERROR]),
    "axle_linear_create": (
        _STATUS,
        [_POINTER, ctypes.POINTER(_structs.LinearOptions), _OUT, _ERROR],
    ),
    "axle_linear_kernel": (ctypes.c_char_p, [_POINTER, _SIZE]),
    "axle_linear_destroy": (None, [_POINTER]),
    "axle_linear_forward": (
        _STATUS,
        [_POINTER, ctypes.c_int32, _POINTER, _SIZE, _POINTER, _ERROR],
    ),
    "axle_runtime_bench": (
        _STATUS,
        [
            _POINTER,
            ctypes.POINTER(_structs.BenchOptions),
            ctypes.POINTER(_structs.BenchResult),
            _ERROR,
        ],
    ),
    "axle_model_open": (
        _STATUS,
        [_POINTER, ctypes.c_char_p, ctypes.POINTER(_structs.ModelOptions), _OUT, _ERROR],
    ),
    "axle_model_destroy": (None, [_POINTER]),
    "axle_model_info": (_STATUS, [_POINTER, _SIZE, _NAME_OUT, ctypes.c_char_p, _SIZE]),
    "axle_model_tokens": (
        _STATUS,
        [_POINTER, ctypes.c_char_p, ctypes.c_int32, _TOKENS, _SIZE_OUT, _ERROR],
    ),
    "axle_model_text": (_STATUS, [_POINTER, _TOKENS, _SIZE, ctypes.c_char_p, _SIZE_OUT, _ERROR]),
    "axle_model_embed": (
        _STATUS,
        [_POINTER, ctypes.POINTER(ctypes.c_char_p), _SIZE, _POINTER, _ERROR],
    ),
    "axle_model_rerank": (
        _STATUS,
        [
            _POINTER,
            ctypes.c_char_p,
            ctypes.POINTER(ctypes.c_char_p),
            _SIZE,
            ctypes.POINTER(ctypes.c_float),
            _ERROR,
        ],
    ),
    "axle_generation_create": (_STATUS, [_POINTER, _PROMPTS, _SIZE, _OUT, _ERROR]),
    "axle_generation_destroy": (None, [_POINTER]),
    "axle_generation_step": (_STATUS, [_POINTER, ctypes.POINTER(ctypes.c_int32), _ERROR]),
    "axle_generation_answer": (
        _STATUS,
        [_POINTER, _SIZE, ctypes.POINTER(_structs.Answer), _ERROR],
    ),
}


def _load() -> ctypes.CDLL:
    path = os.path.join(_FOLDER, "libaxle_runtime.so")
    try:
        library = ctypes.CDLL(path)
    except OSError as problem:
        raise ImportError("axle_runtime: {}".format(problem)) from problem
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments
    found = library.axle_runtime_abi_version()
    if found != ABI_VERSION:
        raise ImportError(
            "axle_runtime: {} has interface version {}, this package needs {}; "
            "install the package again".format(path, found, ABI_VERSION)
        )
    return library


library = _load()


def version() -> str:
    return str(library.axle_runtime_version().decode())


def call(
    function: Any, *arguments: Any, unsupported: Type[RuntimeError] = UnsupportedKernel
) -> None:
    """Calls a function whose last argument is an error to fill in; raises what it says."""
    error = Error()
    status = function(*arguments, ctypes.byref(error))
    if status == OK:
        return
    message = error.message.decode("utf-8", "replace")
    if status == BAD_ARGUMENT:
        raise ValueError(message)
    if status == NO_MEMORY:
        raise MemoryError(message)
    if status == UNSUPPORTED:
        raise unsupported(message)
    if status == IO:
        raise OSError(message)
    if status == MALFORMED:
        raise MalformedModel(message)
    raise RuntimeError(message)


@functools.lru_cache(maxsize=None)
def _create(kernel: str, threads: int) -> ctypes.c_void_p:
    options = new(_structs.RuntimeOptions, kernel=kernel.encode(), threads=threads)
    handle = ctypes.c_void_p()
    call(library.axle_runtime_create, ctypes.byref(options), ctypes.byref(handle))
    if os.path.exists(os.path.join(_FOLDER, "axle_runtime_tuning.json")):
        _take_tuning(handle)
    return handle


def _take_tuning(handle: ctypes.c_void_p) -> None:
    """What `variant model tune --export` put beside the library; that of another machine, or of
    another number of threads, says nothing here."""
    try:
        call(library.axle_runtime_load_tuning, handle, None)
    except UnsupportedKernel:
        pass
    except (MalformedModel, OSError) as problem:
        warnings.warn("what was measured of layers is not used: {}".format(problem), RuntimeWarning, 4)


def runtime(kernel: Optional[str], threads: int) -> ctypes.c_void_p:
    """The runtime for a kernel set (None: the environment's, or the best) and a number of threads
    (0: all CPUs). Made once and kept for the life of the process: its threads sleep."""
    if kernel is None:
        kernel = os.environ.get(ENVIRONMENT_KERNEL, "")
    return _create(kernel, threads)
