"""Where the elements of an object lie in memory: by the buffer protocol, else by DLPack.

Both without copies and without NumPy, so that also read-only objects work.
"""

import ctypes
import sys

from ._library import BFLOAT16, FLOAT8, FLOAT16, FLOAT32, INT8

# A buffer cannot say float8: its bytes come as uint8.
_TYPE_NAMES = {
    FLOAT32: "float32",
    BFLOAT16: "bfloat16",
    FLOAT16: "float16",
    INT8: "int8",
    FLOAT8: "uint8",
}
_ITEM_SIZES = {FLOAT32: 4, BFLOAT16: 2, FLOAT16: 2, INT8: 1, FLOAT8: 1}
_BUFFER_FORMATS = {"f": FLOAT32, "e": FLOAT16, "b": INT8, "B": FLOAT8}
_BUFFER_NAMES = {"d": "float64", "c": "bytes", "h": "int16", "i": "int32"}

_PYBUF_FULL_RO = 0x11C
_PYBUF_FULL = 0x11D
_DLPACK_CPU = 1
_DLPACK_TYPES = {
    (0, 8): INT8,
    (1, 8): FLOAT8,
    (2, 16): FLOAT16,
    (2, 32): FLOAT32,
    (4, 16): BFLOAT16,
    (10, 8): FLOAT8,  # kDLFloat8_e4m3fn, since DLPack 1.1
}
_MOST_DIMENSIONS = 64


class _PyBuffer(ctypes.Structure):
    """Py_buffer (CPython: Include/cpython/object.h; the same since 3.0)."""

    _fields_ = [
        ("buf", ctypes.c_void_p),
        ("obj", ctypes.c_void_p),
        ("len", ctypes.c_ssize_t),
        ("itemsize", ctypes.c_ssize_t),
        ("readonly", ctypes.c_int),
        ("ndim", ctypes.c_int),
        ("format", ctypes.c_char_p),
        ("shape", ctypes.POINTER(ctypes.c_ssize_t)),
        ("strides", ctypes.POINTER(ctypes.c_ssize_t)),
        ("suboffsets", ctypes.POINTER(ctypes.c_ssize_t)),
        ("internal", ctypes.c_void_p),
    ]


class _DLTensor(ctypes.Structure):
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


class _VersionedTensor(ctypes.Structure):
    """DLManagedTensorVersioned (dlpack.h, 1.0)."""

    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _DLTensor),
    ]


_get_buffer = ctypes.PYFUNCTYPE(
    ctypes.c_int, ctypes.py_object, ctypes.POINTER(_PyBuffer), ctypes.c_int
)(("PyObject_GetBuffer", ctypes.pythonapi))
_release_buffer = ctypes.PYFUNCTYPE(None, ctypes.POINTER(_PyBuffer))(
    ("PyBuffer_Release", ctypes.pythonapi)
)
_is_contiguous = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.POINTER(_PyBuffer), ctypes.c_char)(
    ("PyBuffer_IsContiguous", ctypes.pythonapi)
)
_capsule_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_IsValid", ctypes.pythonapi)
)
_capsule_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


class Elements:
    """`address`, `type`, `shape` of contiguous elements; valid inside the `with` block."""

    def __init__(self, source, name, types, writable=False):
        self.name = name
        self._view = None
        self._capsule = None
        if not self._take_buffer(source, writable):
            if writable or not hasattr(source, "__dlpack__"):
                raise TypeError(
                    "{} must be a {}buffer{}, not {}".format(
                        name,
                        "writable " if writable else "",
                        "" if writable else " or have __dlpack__",
                        type(source).__name__,
                    )
                )
            self._take_dlpack(source)
        try:
            self._check(types)
        except Exception:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self._view is not None:
            _release_buffer(ctypes.byref(self._view))
        self._view = None
        self._capsule = None

    @property
    def count(self):
        total = 1
        for length in self.shape:
            total *= length
        return total

    def _take_buffer(self, source, writable):
        view = _PyBuffer()
        try:
            memoryview(source).release()
            _get_buffer(source, ctypes.byref(view), _PYBUF_FULL if writable else _PYBUF_FULL_RO)
        except (TypeError, BufferError):
            return False
        self._view = view
        self.address = view.buf or 0
        self.shape = tuple(view.shape[i] for i in range(view.ndim)) if view.ndim else ()
        form = (view.format or b"B").decode("ascii", "replace")
        native = "<" if sys.byteorder == "little" else ">"
        letter = form[1:] if form[:1] in ("@", "=", native) else form
        self.type = _BUFFER_FORMATS.get(letter)
        self.type_name = _BUFFER_NAMES.get(letter, "format '{}'".format(form))
        self.contiguous = bool(_is_contiguous(ctypes.byref(view), b"C"))
        return True

    def _take_dlpack(self, source):
        device = tuple(int(part) for part in source.__dlpack_device__())
        if device[0] != _DLPACK_CPU:
            raise ValueError(
                "{} lies on device {}; move it to the CPU first".format(self.name, device)
            )
        # The capsule keeps the tensor; it is read, not consumed, and dropped with this object.
        self._capsule = source.__dlpack__()
        if _capsule_is_valid(self._capsule, b"dltensor"):
            tensor = _DLTensor.from_address(_capsule_pointer(self._capsule, b"dltensor"))
        elif _capsule_is_valid(self._capsule, b"dltensor_versioned"):
            tensor = _VersionedTensor.from_address(
                _capsule_pointer(self._capsule, b"dltensor_versioned")
            ).tensor
        else:
            raise TypeError("{}: __dlpack__ gave no DLPack capsule".format(self.name))
        if not 0 <= tensor.ndim <= _MOST_DIMENSIONS or tensor.lanes != 1:
            raise ValueError("{}: a DLPack tensor of this form is not understood".format(self.name))
        self.address = (tensor.data or 0) + tensor.byte_offset
        self.shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
        self.type = _DLPACK_TYPES.get((tensor.code, tensor.bits))
        self.type_name = "DLPack type code {} with {} bits".format(tensor.code, tensor.bits)
        self.contiguous = True
        if tensor.strides:
            expected = 1
            for i in reversed(range(tensor.ndim)):
                if self.shape[i] != 1 and tensor.strides[i] != expected:
                    self.contiguous = False
                expected *= self.shape[i]

    def _check(self, types):
        if self.type not in types:
            raise TypeError(
                "{} must hold {}, not {}".format(
                    self.name,
                    " or ".join(_TYPE_NAMES[one] for one in types),
                    _TYPE_NAMES.get(self.type, self.type_name),
                )
            )
        if not self.contiguous:
            raise ValueError("{} is not contiguous in C order; pass a copy".format(self.name))
        if self.count and self.address % _ITEM_SIZES[self.type] != 0:
            raise ValueError("{} is not aligned to its elements; pass a copy".format(self.name))
