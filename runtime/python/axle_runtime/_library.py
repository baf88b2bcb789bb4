"""The C library beside this file: loading it, its functions, its errors as exceptions.

What each function does is said in axle_runtime.h. This is the one place that reads the environment.
"""

import ctypes
import functools
import os

ABI_VERSION = 1
ENVIRONMENT_KERNEL = "AXLE_RUNTIME_KERNEL"

OK, BAD_ARGUMENT, NO_MEMORY, UNSUPPORTED, MISMATCH = range(5)
FLOAT32, BFLOAT16, FLOAT16, INT8, FLOAT8 = range(5)
MODES = {"da8w8": 0, "a16w8": 1, "a16w4": 2, "da8w4": 3, "a16f8": 4}
SCALINGS = {"searched": 0, "absmax": 1, "mse": 2, "two_level": 3}


class UnsupportedKernel(RuntimeError):
    """The kernel set asked for is not in this build, or this machine cannot run it."""


class Error(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int32), ("message", ctypes.c_char * 252)]


class KernelInfo(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("name", ctypes.c_char_p),
        ("built", ctypes.c_int32),
        ("usable", ctypes.c_int32),
        ("missing", ctypes.c_char * 128),
    ]


class RuntimeOptions(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("kernel", ctypes.c_char_p),
        ("threads", ctypes.c_int32),
    ]


class LinearOptions(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("mode", ctypes.c_int32),
        ("weight_type", ctypes.c_int32),
        ("n", ctypes.c_size_t),
        ("k", ctypes.c_size_t),
        ("weights", ctypes.c_void_p),
        ("scales", ctypes.c_void_p),
        ("bias", ctypes.c_void_p),
        ("group", ctypes.c_size_t),
        ("scaling", ctypes.c_int32),
        ("reserved", ctypes.c_int32),
        ("factors", ctypes.c_void_p),
    ]


class BenchOptions(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("mode", ctypes.c_int32),
        ("m", ctypes.c_size_t),
        ("n", ctypes.c_size_t),
        ("k", ctypes.c_size_t),
        ("weight_bytes", ctypes.c_size_t),
        ("seconds", ctypes.c_double),
        ("group", ctypes.c_size_t),
        ("scaling", ctypes.c_int32),
        ("reserved", ctypes.c_int32),
    ]


class BenchResult(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("microseconds", ctypes.c_double),
        ("gigabytes_per_second", ctypes.c_double),
        ("gigaops_per_second", ctypes.c_double),
        ("read_gigabytes_per_second", ctypes.c_double),
    ]


def new(structure, **fields):
    """A structure that says its own size, as the interface wants it."""
    return structure(struct_size=ctypes.sizeof(structure), **fields)


_POINTER = ctypes.c_void_p
_FUNCTIONS = {
    "axle_runtime_abi_version": (ctypes.c_uint32, []),
    "axle_runtime_version": (ctypes.c_char_p, []),
    "axle_kernel_count": (ctypes.c_size_t, []),
    "axle_kernel_at": (ctypes.c_int32, [ctypes.c_size_t, ctypes.POINTER(KernelInfo)]),
    "axle_runtime_create": (
        ctypes.c_int32,
        [ctypes.POINTER(RuntimeOptions), ctypes.POINTER(_POINTER), ctypes.POINTER(Error)],
    ),
    "axle_runtime_kernel": (ctypes.c_char_p, [_POINTER, ctypes.c_int32, ctypes.c_size_t]),
    "axle_runtime_info": (
        ctypes.c_int32,
        [
            _POINTER,
            ctypes.c_size_t,
            ctypes.POINTER(ctypes.c_char_p),
            ctypes.c_char_p,
            ctypes.c_size_t,
        ],
    ),
    "axle_runtime_selftest": (ctypes.c_int32, [_POINTER, ctypes.POINTER(Error)]),
    "axle_linear_create": (
        ctypes.c_int32,
        [
            _POINTER,
            ctypes.POINTER(LinearOptions),
            ctypes.POINTER(_POINTER),
            ctypes.POINTER(Error),
        ],
    ),
    "axle_linear_destroy": (None, [_POINTER]),
    "axle_linear_forward": (
        ctypes.c_int32,
        [
            _POINTER,
            ctypes.c_int32,
            _POINTER,
            ctypes.c_size_t,
            _POINTER,
            ctypes.POINTER(Error),
        ],
    ),
    "axle_runtime_bench": (
        ctypes.c_int32,
        [
            _POINTER,
            ctypes.POINTER(BenchOptions),
            ctypes.POINTER(BenchResult),
            ctypes.POINTER(Error),
        ],
    ),
}


def _load():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "libaxle_runtime.so")
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


def version():
    return library.axle_runtime_version().decode()


def call(function, *arguments):
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
        raise UnsupportedKernel(message)
    raise RuntimeError(message)


@functools.lru_cache(maxsize=None)
def _create(kernel, threads):
    options = new(RuntimeOptions, kernel=kernel.encode(), threads=threads)
    handle = ctypes.c_void_p()
    call(
        library.axle_runtime_create, ctypes.byref(options), ctypes.byref(handle)
    )
    return handle


def runtime(kernel, threads):
    """The runtime for a kernel set (None: the environment's, or the best) and a number of threads
    (0: all CPUs). Made once and kept for the life of the process: its threads sleep."""
    if kernel is None:
        kernel = os.environ.get(ENVIRONMENT_KERNEL, "")
    return _create(kernel, threads)
