"""Where the elements of an object lie in memory: by the buffer protocol, else by DLPack.

Both without NumPy, and without copies where the elements are aligned and in C order.
"""

from __future__ import annotations

import array
import ctypes
import struct
import sys
from typing import Any, List, Optional, Sequence, Tuple

from . import _dlpack
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
_CONVERTED_AT_ONCE = 1 << 16  # bytes: as Python's numbers they take 20 times as much


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


_get_buffer = ctypes.PYFUNCTYPE(
    ctypes.c_int, ctypes.py_object, ctypes.POINTER(_PyBuffer), ctypes.c_int
)(("PyObject_GetBuffer", ctypes.pythonapi))
_release_buffer = ctypes.PYFUNCTYPE(None, ctypes.POINTER(_PyBuffer))(
    ("PyBuffer_Release", ctypes.pythonapi)
)
_is_contiguous = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.POINTER(_PyBuffer), ctypes.c_char)(
    ("PyBuffer_IsContiguous", ctypes.pythonapi)
)
_view_of = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.POINTER(_PyBuffer))(
    ("PyMemoryView_FromBuffer", ctypes.pythonapi)
)


def _is_c_order(shape: Sequence[int], strides: Optional[Sequence[int]]) -> bool:
    """`strides` in elements; None: C order."""
    if strides is None or 0 in shape:
        return True
    expected = 1
    for length, step in zip(reversed(shape), reversed(strides)):
        if length != 1 and step != expected:
            return False
        expected *= length
    return True


def _gathered(address: int, shape: Sequence[int], strides: Sequence[int], item: int) -> bytes:
    """The elements in C order; `strides` in elements."""
    integers = ctypes.c_ssize_t * len(shape)
    count = 1
    for length in shape:
        count *= length
    view = _PyBuffer(
        buf=address,
        len=count * item,
        itemsize=item,
        readonly=1,
        ndim=len(shape),
        shape=integers(*shape),
        strides=integers(*(step * item for step in strides)),
    )
    with _view_of(ctypes.byref(view)) as elements:
        return bytes(elements.tobytes())


class Elements:
    """`address`, `type`, `shape` of elements in C order; valid inside the `with` block. With
    `writable` those of the object itself; else a copy where they lie otherwise. `place`: a device, as
    DLPack has it, where they may lie as well."""

    address: int
    type: Optional[int]
    type_name: str
    shape: Tuple[int, ...]

    def __init__(
        self,
        source: Any,
        name: str,
        types: Sequence[int],
        writable: bool = False,
        place: Tuple[int, int] = _dlpack.CPU,
    ) -> None:
        self.name = name
        self._place = place
        self._view: Optional[_PyBuffer] = None
        self._kept: List[object] = []
        self._on_device = False
        try:
            if not self._take_buffer(source, writable):
                if not hasattr(source, "__dlpack__"):
                    raise TypeError(
                        "{} must be a {}buffer or have __dlpack__, not {}".format(
                            name, "writable " if writable else "", type(source).__name__
                        )
                    )
                self._take_dlpack(source, writable)
            self._check(types, writable)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Elements:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self._view is not None:
            _release_buffer(ctypes.byref(self._view))
        self._view = None
        self._kept.clear()

    @property
    def count(self) -> int:
        total = 1
        for length in self.shape:
            total *= length
        return total

    def to_float32(self) -> None:
        """Makes float32 of float16 and bfloat16."""
        if self.type not in (FLOAT16, BFLOAT16):
            return
        halves = ctypes.string_at(self.address, 2 * self.count)
        if self.type == FLOAT16:
            floats = array.array("f")
            for start in range(0, len(halves), _CONVERTED_AT_ONCE):
                some = halves[start : start + _CONVERTED_AT_ONCE]
                floats.extend(struct.unpack("{}e".format(len(some) // 2), some))
        else:
            # A bfloat16 is the upper half of a float32.
            upper = 2 if sys.byteorder == "little" else 0
            wide = bytearray(2 * len(halves))
            wide[upper::4] = halves[0::2]
            wide[upper + 1 :: 4] = halves[1::2]
            floats = array.array("f")
            floats.frombytes(wide)
        self._kept.append(floats)
        self.address = floats.buffer_info()[0]
        self.type = FLOAT32

    def _take_buffer(self, source: Any, writable: bool) -> bool:
        view = _PyBuffer()
        try:
            memoryview(source).release()
            _get_buffer(source, ctypes.byref(view), _PYBUF_FULL if writable else _PYBUF_FULL_RO)
        except (TypeError, BufferError, ValueError):
            return False
        self._view = view
        self.address = view.buf or 0
        self.shape = tuple(view.shape[i] for i in range(view.ndim)) if view.ndim else ()
        form = (view.format or b"B").decode("ascii", "replace")
        native = "<" if sys.byteorder == "little" else ">"
        letter = form[1:] if form[:1] in ("@", "=", native) else form
        self.type = _BUFFER_FORMATS.get(letter)
        self.type_name = _BUFFER_NAMES.get(letter, "format '{}'".format(form))
        if not _is_contiguous(ctypes.byref(view), b"C"):
            self._refuse_other_order(writable)
            self._keep_copy(memoryview(source).tobytes())
        return True

    def _take_dlpack(self, source: Any, writable: bool) -> None:
        tensor = _dlpack.read(source, self.name, self._place)
        self._on_device = tensor.on_device
        if writable and tensor.read_only:
            raise ValueError("{} is read-only".format(self.name))
        self._kept.append(tensor.capsule)
        self.address = tensor.address
        self.shape = tensor.shape
        self.type = tensor.type
        self.type_name = tensor.type_name
        if self.type is not None and not _is_c_order(tensor.shape, tensor.strides):
            self._refuse_other_order(writable or self._on_device)
            item = _ITEM_SIZES[self.type]
            self._keep_copy(_gathered(tensor.address, tensor.shape, tensor.strides or (), item))

    def _refuse_other_order(self, writable: bool) -> None:
        if writable:
            raise ValueError("{} is not contiguous in C order".format(self.name))

    def _keep_copy(self, elements: bytes) -> None:
        self._kept.append(elements)
        self.address = ctypes.cast(ctypes.c_char_p(elements), ctypes.c_void_p).value or 0

    def _check(self, types: Sequence[int], writable: bool) -> None:
        if self.type is None or self.type not in types:
            found = self.type_name if self.type is None else _TYPE_NAMES[self.type]
            raise TypeError(
                "{} must hold {}, not {}".format(
                    self.name,
                    " or ".join(_TYPE_NAMES[one] for one in types),
                    found,
                )
            )
        item = _ITEM_SIZES[self.type]
        if self.count == 0 or self.address % item == 0:
            return
        if writable or self._on_device:
            raise ValueError("{} is not aligned to its elements".format(self.name))
        self._keep_copy(ctypes.string_at(self.address, item * self.count))
