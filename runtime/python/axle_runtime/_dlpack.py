"""DLPack: tensors of other packages read in place through their capsules, and given out in capsules."""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple, Optional, Sequence, Tuple

from ._library import BFLOAT16, FLOAT8, FLOAT16, FLOAT32, INT8

CPU = (1, 0)  # kDLCPU
CUDA = 2  # kDLCUDA
_LEGACY_STREAM = 1  # the stream on which the library works
# Of a tensor: (type code, bits).
TYPES = {
    (0, 8): INT8,
    (1, 8): FLOAT8,
    (2, 16): FLOAT16,
    (2, 32): FLOAT32,
    (4, 16): BFLOAT16,
    (10, 8): FLOAT8,  # kDLFloat8_e4m3fn, since DLPack 1.1
}
_FLOAT = 2
_MAJOR, _MINOR = 1, 0
_READ_ONLY, _IS_COPIED = 1, 2
_MOST_DIMENSIONS = 64
_ADDRESSES = 1 << 63


class _Tensor(ctypes.Structure):
    """DLTensor (dlpack.h)."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _Legacy(ctypes.Structure):
    """DLManagedTensor (dlpack.h), before 1.0."""

    _fields_ = [("tensor", _Tensor), ("manager", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class _Versioned(ctypes.Structure):
    """DLManagedTensorVersioned (dlpack.h, 1.0)."""

    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    ]


_api = ctypes.pythonapi
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_IsValid", _api)
)
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", _api)
)
_new_capsule = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p
)(("PyCapsule_New", _api))
# The same two for a capsule that is being destroyed, to which no reference may be made.
_is_valid_at = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_IsValid", _api)
)
_pointer_at = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", _api)
)
_libc = ctypes.CDLL(None)
_libc.malloc.restype = ctypes.c_void_p
_libc.malloc.argtypes = [ctypes.c_size_t]
_libc.free.restype = None
_libc.free.argtypes = [ctypes.c_void_p]
_free_address = ctypes.cast(_libc.free, ctypes.c_void_p).value

_LEGACY_NAME = b"dltensor"
_VERSIONED_NAME = b"dltensor_versioned"


class Tensor(NamedTuple):
    """What a capsule says; its memory lives as long as the capsule."""

    capsule: object
    address: int
    type: Optional[int]
    type_name: str
    shape: Tuple[int, ...]
    strides: Optional[Tuple[int, ...]]  # in elements; None: C order
    read_only: bool
    on_device: bool  # not in the CPU's memory


def place_of(device: str) -> Tuple[int, int]:
    """Where tensors may lie for a layer of a device, beside the CPU's memory; CPU: nowhere else."""
    kind, _, number = device.partition(":")
    return (CUDA, int(number) if number.isdigit() else 0) if kind == "cuda" else CPU


def _check_place(name: str, device: Tuple[int, ...], place: Tuple[int, int]) -> bool:
    """Whether a tensor lies on the device, and not in the CPU's memory."""
    if len(device) == 2 and device[0] == CPU[0]:
        return False
    if device != place:
        raise ValueError("{} lies on device {}; move it to the CPU first".format(name, device))
    return True


def _ask(source: Any, name: str, place: Tuple[int, int]) -> object:
    """The capsule of an object: versioned where its package knows that."""
    device = tuple(int(part) for part in source.__dlpack_device__())
    stream = {"stream": _LEGACY_STREAM} if _check_place(name, device, place) else {}
    try:
        try:
            return source.__dlpack__(max_version=(_MAJOR, _MINOR), **stream)
        except TypeError:
            return source.__dlpack__(**stream)
    except Exception as problem:
        raise BufferError("{} cannot be read: {}".format(name, problem)) from problem


def read(source: Any, name: str, place: Tuple[int, int] = CPU) -> Tensor:
    """The tensor of an object with `__dlpack__`, in the CPU's memory or at `place`. The capsule is read, not
    consumed: dropping it lets go of the tensor."""
    capsule = _ask(source, name, place)
    read_only = False
    if _is_valid(capsule, _LEGACY_NAME):
        tensor = _Legacy.from_address(_pointer(capsule, _LEGACY_NAME)).tensor
    elif _is_valid(capsule, _VERSIONED_NAME):
        managed = _Versioned.from_address(_pointer(capsule, _VERSIONED_NAME))
        if managed.major != _MAJOR:
            raise BufferError(
                "{}: DLPack {}.{} is not understood, only {}.x".format(
                    name, managed.major, managed.minor, _MAJOR
                )
            )
        read_only = bool(managed.flags & _READ_ONLY)
        tensor = managed.tensor
    else:
        raise TypeError("{}: __dlpack__ gave no DLPack capsule, or a used one".format(name))
    return _checked(capsule, tensor, name, read_only, place)


def _checked(
    capsule: object, tensor: _Tensor, name: str, read_only: bool, place: Tuple[int, int]
) -> Tensor:
    on_device = _check_place(name, (tensor.device_type, tensor.device_id), place)
    dimensions = tensor.ndim
    if not 0 <= dimensions <= _MOST_DIMENSIONS or tensor.lanes != 1:
        raise ValueError("{}: a DLPack tensor of this form is not understood".format(name))
    if dimensions > 0 and not tensor.shape:
        raise ValueError("{}: a DLPack tensor without a shape".format(name))
    shape = tuple(int(tensor.shape[i]) for i in range(dimensions))
    count = 1
    for length in shape:
        count *= length
    address = int(tensor.data or 0) + int(tensor.byte_offset)
    size = count * (tensor.bits // 8)
    if min(shape, default=0) < 0 or (count > 0 and not tensor.data) or address + size >= _ADDRESSES:
        raise ValueError("{}: a DLPack tensor of shape {} cannot be".format(name, shape))
    strides = tuple(int(tensor.strides[i]) for i in range(dimensions)) if tensor.strides else None
    reach = sum(abs(step) * (n - 1) for step, n in zip(strides or (), shape) if n > 0)
    if count > 0 and reach * (tensor.bits // 8) >= _ADDRESSES:
        raise ValueError("{}: DLPack strides {} cannot be".format(name, strides))
    kind = TYPES.get((tensor.code, tensor.bits))
    type_name = "DLPack type code {} with {} bits".format(tensor.code, tensor.bits)
    return Tensor(capsule, address, kind, type_name, shape, strides, read_only, on_device)


def _drop(capsule: int) -> None:
    """Frees what nobody took out of a capsule."""
    for name in (_LEGACY_NAME, _VERSIONED_NAME):
        if _is_valid_at(capsule, name):
            _libc.free(_pointer_at(capsule, name))


_drop_callback = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(_drop)
# Capsules may outlive this module's names when the interpreter ends.
_api.Py_IncRef(ctypes.py_object(_drop_callback))


def give(address: int, shape: Sequence[int], versioned: bool) -> Any:
    """A capsule with a copy of float32 numbers in C order. All of it is one block of the C library,
    whose `free` is the deleter: it needs neither this package nor the interpreter."""
    count = 1
    for length in shape:
        count *= length
    managed_type = _Versioned if versioned else _Legacy
    lengths = ctypes.c_int64 * len(shape)
    data_at = -(-(ctypes.sizeof(managed_type) + 2 * ctypes.sizeof(lengths)) // 64) * 64 + 64
    block = _libc.malloc(data_at + 4 * count)
    if not block:
        raise MemoryError("no memory for a tensor of shape {}".format(tuple(shape)))
    data = (block + data_at) // 64 * 64
    ctypes.memmove(data, address, 4 * count)
    managed = managed_type.from_address(block)
    ctypes.memset(block, 0, ctypes.sizeof(managed_type))
    managed.deleter = _free_address
    if versioned:
        managed.major, managed.minor, managed.flags = _MAJOR, _MINOR, _IS_COPIED
    steps = [1] * len(shape)
    for i in reversed(range(len(shape) - 1)):
        steps[i] = steps[i + 1] * shape[i + 1]
    shape_at = block + ctypes.sizeof(managed_type)
    strides_at = shape_at + ctypes.sizeof(lengths)
    ctypes.memmove(shape_at, lengths(*shape), ctypes.sizeof(lengths))
    ctypes.memmove(strides_at, lengths(*steps), ctypes.sizeof(lengths))
    tensor = managed.tensor
    tensor.data, tensor.device_type, tensor.device_id = data, CPU[0], CPU[1]
    tensor.ndim, tensor.code, tensor.bits, tensor.lanes = len(shape), _FLOAT, 32, 1
    tensor.shape = ctypes.cast(shape_at, ctypes.POINTER(ctypes.c_int64))
    tensor.strides = ctypes.cast(strides_at, ctypes.POINTER(ctypes.c_int64))
    name = _VERSIONED_NAME if versioned else _LEGACY_NAME
    return _new_capsule(block, name, ctypes.cast(_drop_callback, ctypes.c_void_p))
