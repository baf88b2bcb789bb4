"""A tensor of another package, as DLPack shows it."""

import ctypes
import sys


class Capsule:
    """A tensor with DLPack and without the buffer protocol, as torch's are. Fields may lie."""

    def __init__(
        self,
        values,
        shape,
        code=2,
        bits=32,
        strides=None,
        device=(1, 0),
        versioned=False,
        version=(1, 0),
        flags=0,
        offset=0,
        lanes=1,
        dimensions=None,
        shows_shape=True,
    ):
        self.values = values
        self.device = self.told_device = device
        self.versioned = versioned
        self.name = b"dltensor_versioned" if versioned else b"dltensor"
        integers = ctypes.c_int64 * len(shape)
        self.shape = integers(*shape)
        self.strides = integers(*strides) if strides else None
        self.given = 0

        def word(value, size):
            return value.to_bytes(size, sys.byteorder)

        words = bytearray()
        if versioned:
            words += word(version[0], 4) + word(version[1], 4) + bytes(16) + word(flags, 8)
        words += word(values.buffer_info()[0] if values is not None else 0, 8)
        words += word(device[0], 4) + word(device[1], 4)
        words += word(len(shape) if dimensions is None else dimensions, 4) + bytes([code, bits])
        words += word(lanes, 2)
        words += word(ctypes.addressof(self.shape) if shows_shape else 0, 8)
        words += word(ctypes.addressof(self.strides) if strides else 0, 8)
        words += word(offset, 8) + bytes(16)
        self.memory = (ctypes.c_char * len(words)).from_buffer(words)

    def __dlpack_device__(self):
        return self.told_device

    def __dlpack__(self, **asked):
        self.stream = asked.get("stream")
        if "max_version" in asked and not self.versioned:
            raise TypeError("a package of the time before DLPack 1.0")
        self.given += 1
        make = ctypes.PYFUNCTYPE(
            ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p
        )(("PyCapsule_New", ctypes.pythonapi))
        return make(ctypes.addressof(self.memory), self.name, None)
