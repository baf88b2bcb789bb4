"""What `linear` and `Model.embed` give where there is no NumPy: float32 numbers with a shape."""

from __future__ import annotations

import ctypes
from typing import Any, Dict, Optional, Sequence, Tuple

from . import _dlpack


class Array:
    """float32 numbers in C order: `numpy.asarray`, `memoryview(array.elements)` and whatever takes
    DLPack (`torch.from_dlpack`) read it."""

    def __init__(self, shape: Sequence[int]) -> None:
        self.shape: Tuple[int, ...] = tuple(shape)
        count = 1
        for length in self.shape:
            count *= length
        #: All of them, a flat array of ctypes.
        self.elements: ctypes.Array[ctypes.c_float] = (ctypes.c_float * count)()

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("an array without dimensions has no length")
        return self.shape[0]

    def tolist(self) -> Any:
        """Lists of lists of numbers."""
        flat = list(self.elements)
        for length in reversed(self.shape[1:]):
            rows = len(flat) // length if length else 0
            flat = [flat[i * length : (i + 1) * length] for i in range(rows)]
        return flat if self.shape else flat[0]

    @property
    def __array_interface__(self) -> Dict[str, Any]:
        return {
            "version": 3,
            "shape": self.shape,
            "typestr": "=f4",
            "data": (ctypes.addressof(self.elements), False),
        }

    def __dlpack_device__(self) -> Tuple[int, int]:
        return _dlpack.CPU

    def __dlpack__(
        self,
        stream: Optional[int] = None,
        max_version: Optional[Tuple[int, int]] = None,
        dl_device: Optional[Tuple[int, int]] = None,
        copy: Optional[bool] = None,
    ) -> Any:
        """A capsule with a copy, which needs nothing of this object."""
        if stream is not None:
            raise BufferError("a stream is for devices; this array lies in the CPU's memory")
        if dl_device is not None and tuple(dl_device) != _dlpack.CPU:
            raise BufferError("this array lies in the CPU's memory, not on device {}".format(dl_device))
        if copy is False:
            raise BufferError("this array is given out as a copy only")
        versioned = max_version is not None and max_version[0] >= 1
        return _dlpack.give(ctypes.addressof(self.elements), self.shape, versioned)

    def __repr__(self) -> str:
        return "axle_runtime.Array(shape={})".format(self.shape)
