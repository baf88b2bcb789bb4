"""Folders that `variant model quantize` wrote, read and changed: values and scales as docs/models.md says that they lie."""

import json
import struct

import numpy as np
from safetensors import read_folder

TYPES = {"F32": np.dtype("<f4"), "I8": np.dtype("i1"), "U8": np.dtype("u1"), "F8_E4M3": np.dtype("u1"), "BF16": np.dtype("<u2")}


def header_of(path):
    """The entries of a safetensors file, and where their bytes begin."""
    data = path.read_bytes()
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8:8 + length])
    header.pop("__metadata__", None)
    return header, 8 + length


def change_header(path, change):
    """`change` gets the entries; the header keeps its length."""
    data = path.read_bytes()
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8:8 + length])
    change(header)
    text = json.dumps(header, separators=(",", ":")).encode()
    assert len(text) <= length
    path.write_bytes(data[:8] + text.ljust(length) + data[8 + length:])


def change_bytes(path, name, at, new):
    """Writes `new` over the bytes of a tensor from `at` on."""
    header, start = header_of(path)
    with path.open("r+b") as file:
        file.seek(start + header[name]["data_offsets"][0] + at)
        file.write(new)


def float8(bits):
    """OCP's e4m3."""
    sign, exponent, fraction = np.where(bits & 128, -1.0, 1.0), (bits >> 3) & 15, bits & 7
    return sign * np.where(exponent == 0, fraction * 2.0**-9, (1 + fraction / 8) * 2.0 ** (exponent.astype(float) - 7))


def read_quantised(folder):
    """name without ".weight" -> (values [rows, columns], scales [rows, groups]), whole numbers or e4m3 as float64."""
    path = folder / "model.safetensors"
    header, start = header_of(path)
    data = path.read_bytes()[start:]

    def raw(name):
        begin, end = header[name]["data_offsets"]
        return np.frombuffer(data[begin:end], TYPES[header[name]["dtype"]]).reshape(header[name]["shape"])

    found = {}
    for scale_name in (name for name in header if name.endswith(".weight_scale")):
        name = scale_name.removesuffix(".weight_scale")
        values, scales = raw(name + ".weight"), raw(scale_name)
        if header[scale_name]["dtype"] == "BF16":
            scales = (scales.astype(np.uint32) << 16).view(np.float32)
        if header[name + ".weight"]["dtype"] == "U8":
            values = np.stack([values & 15, values >> 4], axis=-1).reshape(len(values), -1).astype(np.float64) - 8
        elif header[name + ".weight"]["dtype"] == "F8_E4M3":
            values = float8(values)
        found[name] = (values.astype(np.float64), scales.reshape(len(scales), -1).astype(np.float64))
    return found


def weights_of(folder):
    """All tensors as float64, the quantised ones as what they stand for."""
    tensors = {name: values for name, values in read_folder(folder).items() if not name.endswith(".weight_scale")}
    for name, (values, scales) in read_quantised(folder).items():
        group = json.loads((folder / "config.json").read_text())["quantization_config"].get("group", values.shape[1])
        tensors[name + ".weight"] = values * np.repeat(scales, group, axis=1)[:, :values.shape[1]]
    return tensors
