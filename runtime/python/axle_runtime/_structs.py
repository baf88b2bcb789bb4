"""The structs of axle_runtime.h."""

from __future__ import annotations

import ctypes
from typing import Any, Type, TypeVar


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
        ("device", ctypes.c_char_p),
    ]


class DeviceInfo(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("name", ctypes.c_char * 32),
        ("usable", ctypes.c_int32),
        ("reserved", ctypes.c_int32),
        ("description", ctypes.c_char * 128),
        ("problem", ctypes.c_char * 252),
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
        ("kernel", ctypes.c_char_p),
    ]


class ModelOptions(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("mode", ctypes.c_char_p),
        ("kv_cache", ctypes.c_char_p),
        ("on_progress", ctypes.c_void_p),
        ("context", ctypes.c_void_p),
    ]


class Prompt(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("tokens", ctypes.POINTER(ctypes.c_int32)),
        ("count", ctypes.c_size_t),
        ("most_tokens", ctypes.c_size_t),
        ("temperature", ctypes.c_double),
        ("top_k", ctypes.c_size_t),
        ("top_p", ctypes.c_double),
        ("min_p", ctypes.c_double),
        ("seed", ctypes.c_uint64),
    ]


class Answer(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("tokens", ctypes.POINTER(ctypes.c_int32)),
        ("count", ctypes.c_size_t),
        ("text", ctypes.c_void_p),
        ("text_size", ctypes.c_size_t),
        ("ending", ctypes.c_int32),
        ("reserved", ctypes.c_int32),
    ]


_Structure = TypeVar("_Structure", bound=ctypes.Structure)


def new(structure: Type[_Structure], **fields: Any) -> _Structure:
    """A structure that says its own size, as the interface wants it."""
    return structure(struct_size=ctypes.sizeof(structure), **fields)
