"""numpy_test.py TENSOR_DUMP: files made here are read by the runtime, and files it wrote are read here; all by NumPy, in
float32, from the formats' descriptions. Where the packages safetensors and gguf are installed, they read them as well."""

import json
import pathlib
import struct
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("skipped: NumPy is not installed")
    sys.exit(77)

DUMP = sys.argv[1]
F32 = np.float32


def halves(blocks, at):
    return blocks[:, at:at + 2].copy().view(np.float16).astype(F32)


def nibbles(packed):
    """Low nibbles of all bytes, then high ones."""
    return np.concatenate([packed & 15, packed >> 4], axis=1)


def q8_0(blocks):
    return blocks[:, 2:].view(np.int8).astype(F32) * halves(blocks, 0)


def q4_0(blocks):
    return (nibbles(blocks[:, 2:]).astype(np.int8) - 8).astype(F32) * halves(blocks, 0)


def q4_1(blocks):
    return nibbles(blocks[:, 4:]).astype(F32) * halves(blocks, 0) + halves(blocks, 2)


def q5_0(blocks):
    fifth = np.unpackbits(blocks[:, 2:6], axis=1, bitorder="little")
    return ((nibbles(blocks[:, 6:]) | fifth << 4).astype(np.int8) - 16).astype(F32) * halves(blocks, 0)


def k_scales(packed):
    """Scales and smallest values of the eight parts: 6 bits each, in 12 bytes."""
    first, second, rest = packed[:, 0:4], packed[:, 4:8], packed[:, 8:12]
    scales = np.concatenate([first & 63, (rest & 15) | (first >> 6) << 4], axis=1)
    return scales.astype(F32), np.concatenate([second & 63, (rest >> 4) | (second >> 6) << 4], axis=1).astype(F32)


def k_blocks(blocks, fifth):
    count = len(blocks)
    scales, least = k_scales(blocks[:, 4:16])
    packed = blocks[:, 48 if fifth else 16:].reshape(count, 4, 32)
    values = np.stack([packed & 15, packed >> 4], axis=2).reshape(count, 8, 32)
    if fifth:
        values = values + (np.unpackbits(blocks[:, 16:48, None], axis=2, bitorder="little").transpose(0, 2, 1) << 4)
    scaled = (halves(blocks, 0) * scales)[:, :, None] * values.astype(F32)
    return (scaled - (halves(blocks, 2) * least)[:, :, None]).reshape(count, 256)


def q6_k(blocks):
    count = len(blocks)
    low = blocks[:, :128].reshape(count, 2, 1, 64) >> np.array([0, 4], np.uint8).reshape(1, 1, 2, 1) & 15
    high = blocks[:, 128:192].reshape(count, 2, 1, 32) >> np.array([0, 2, 4, 6], np.uint8).reshape(1, 1, 4, 1) & 3
    values = (low.reshape(count, 256) | high.reshape(count, 256) << 4).astype(np.int8) - 32
    scales = halves(blocks, 208) * blocks[:, 192:208].view(np.int8).astype(F32)
    return (scales[:, :, None] * values.reshape(count, 16, 16).astype(F32)).reshape(count, 256)


# ggml's number, bytes and weights of a block, where its float16 numbers are.
BLOCKS = {
    "q8_0": (8, 34, 32, [0], q8_0), "q4_0": (2, 18, 32, [0], q4_0), "q4_1": (3, 20, 32, [0, 2], q4_1),
    "q5_0": (6, 22, 32, [0], q5_0), "q4_k": (12, 144, 256, [0, 2], lambda b: k_blocks(b, False)),
    "q5_k": (13, 176, 256, [0, 2], lambda b: k_blocks(b, True)), "q6_k": (14, 210, 256, [208], q6_k),
}


def text(value):
    return struct.pack("<Q", len(value)) + value.encode()


def gguf_file(tensors):
    """tensors: name -> (ggml's number, shape, bytes)."""
    head, data = b"", b""
    for name, (number, shape, content) in tensors.items():
        data += bytes(-len(data) % 32)
        head += text(name) + struct.pack("<I", len(shape)) + struct.pack(f"<{len(shape)}Q", *reversed(shape))
        head += struct.pack("<IQ", number, len(data))
        data += content
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), 1) + text("general.architecture") + struct.pack("<I", 8) + text("llama") + head
    return head + bytes(-len(head) % 32) + data


def safetensors_file(tensors):
    header, data = {}, b""
    for name, (kind, shape, content) in tensors.items():
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    header = json.dumps(header).encode()
    return struct.pack("<Q", len(header)) + header + data


def read_safetensors(path):
    """Each tensor's type, shape and bytes."""
    content = path.read_bytes()
    size, = struct.unpack("<Q", content[:8])
    found = {}
    for name, entry in json.loads(content[8:8 + size]).items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            found[name] = entry["dtype"], entry["shape"], content[8 + size + begin:8 + size + end]
    return found


def dumped(path):
    """Type, shape and bytes of each tensor as the runtime reads it."""
    output = subprocess.run([DUMP, path], check=True, stdout=subprocess.PIPE).stdout
    found = {}
    while output:
        line, output = output.split(b"\n", 1)
        name, kind, *shape = line.decode().split(" ")
        shape = [int(length) for length in shape]
        size = int(np.prod(shape, dtype=np.int64)) * {"int64": 8, "int16": 2, "int8": 1, "uint8": 1, "bool": 1}.get(kind, 4)
        found[name] = kind, shape, output[:size]
        output = output[size:]
    return found


def same_floats(found, wanted):
    found = np.frombuffer(found, F32)
    wanted = np.ascontiguousarray(wanted, F32).reshape(-1)
    assert found.shape == wanted.shape, (found.shape, wanted.shape)
    assert np.array_equal(found.view(np.uint32)[~np.isnan(wanted)], wanted.view(np.uint32)[~np.isnan(wanted)])
    assert np.isnan(found[np.isnan(wanted)]).all()


def blocks_agree(folder, random):
    tensors, wanted = {}, {}
    for name, (number, size, weights, places, read) in BLOCKS.items():
        blocks = random.integers(0, 256, (60, size), np.uint8)
        for at in places:
            blocks[:, at + 1] &= 0xBF  # finite
        tensors[name] = number, [20, 3 * weights], blocks.tobytes()
        wanted[name] = read(blocks)
    path = folder / "blocks.gguf"
    path.write_bytes(gguf_file(tensors))
    for name, (kind, shape, content) in dumped(path).items():
        assert (kind, shape) == (name, tensors[name][1])
        same_floats(content, wanted[name])
    try:
        from gguf import GGUFReader, dequantize
    except ImportError:
        return len(tensors)
    for tensor in GGUFReader(path).tensors:
        same_floats(wanted[tensor.name].tobytes(), dequantize(tensor.data, tensor.tensor_type))
    print("the package gguf agrees")
    return len(tensors)


def floats_agree(folder):
    every = np.arange(65536, dtype=np.uint16)
    tensors = {
        "F16": ("F16", [256, 256], every.tobytes()), "BF16": ("BF16", [65536], every.tobytes()),
        "F64": ("F64", [3], np.array([0.1, 1e300, -1e-300]).tobytes()), "I32": ("I32", [2, 1], b"12345678"),
    }
    path = folder / "floats.safetensors"
    path.write_bytes(safetensors_file(tensors))
    found = dumped(path)
    with np.errstate(over="ignore"):
        same_floats(found["F64"][2], np.array([0.1, 1e300, -1e-300]).astype(F32))
    same_floats(found["F16"][2], every.view(np.float16).astype(F32))
    same_floats(found["BF16"][2], (every.astype(np.uint32) << 16).view(F32))
    assert found["I32"] == ("int32", [2, 1], b"12345678")
    return len(tensors)


def written_again(folder, random):
    """A folder that the runtime shards is what it was."""
    source = folder / "from"
    source.mkdir()
    tensors = {f"t{i}": (kind, [i % 4, 5], random.bytes(i % 4 * 5 * size))
               for i, (kind, size) in enumerate([("U8", 1), ("F32", 4), ("BF16", 2), ("BOOL", 1), ("I64", 8), ("F8_E4M3", 1)] * 5)}
    (source / "model.safetensors").write_bytes(safetensors_file(tensors))
    for limit in (10**9, 200, 1):
        target = folder / f"to-{limit}"
        target.mkdir()
        subprocess.run([DUMP, source, target, str(limit)], check=True)
        found = {}
        for shard in target.glob("*.safetensors"):
            found |= read_safetensors(shard)
        assert found == tensors
        index = target / "model.safetensors.index.json"
        assert index.exists() == (limit < 10**9)
        if index.exists():
            for name, shard in json.loads(index.read_text())["weight_map"].items():
                assert name in read_safetensors(target / shard)
        opened_by_package(target, tensors)
    return len(tensors)


def opened_by_package(folder, tensors):
    try:
        from safetensors import deserialize
    except ImportError:
        return
    found = {}
    for shard in folder.glob("*.safetensors"):
        found |= {name: (info["dtype"], info["shape"], bytes(info["data"])) for name, info in deserialize(shard.read_bytes())}
    assert found == tensors
    print("the package safetensors agrees")


def main():
    random = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        print(blocks_agree(folder, random), "types of blocks agree")
        print(floats_agree(folder), "plain types agree")
        print(written_again(folder, random), "tensors written again agree")


if __name__ == "__main__":
    main()
