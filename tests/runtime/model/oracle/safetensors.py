"""safetensors files, read and written, and folders of them: an eight-byte length, a JSON header, the tensors' bytes."""

import json
import struct

import blocks


def read_file(path):
    """name -> float64."""
    data = path.read_bytes()
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8:8 + length])
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        if entry["dtype"] not in blocks.TYPES:  # position_ids of old encoders: whole numbers, no weights
            continue
        begin, end = (8 + length + at for at in entry["data_offsets"])
        tensors[name] = blocks.decode(entry["dtype"], data[begin:end], entry["shape"])
    return tensors


def read_folder(folder):
    index = folder / "model.safetensors.index.json"
    if not index.exists():
        return read_file(folder / "model.safetensors")
    shards = sorted(set(json.loads(index.read_text())["weight_map"].values()))
    return {name: values for shard in shards for name, values in read_file(folder / shard).items()}


def write_file(path, tensors, dtype="F32"):
    header, at = {"__metadata__": {"format": "pt"}}, 0
    encoded = [blocks.encode(dtype, values) for values in tensors.values()]
    for (name, values), data in zip(tensors.items(), encoded):
        header[name] = {"dtype": dtype, "shape": list(values.shape), "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(encoded))


def write_folder(folder, tensors, dtype="F32", shards=1):
    if shards == 1:
        write_file(folder / "model.safetensors", tensors, dtype)
        return
    names = list(tensors)
    files = {f"model-{i + 1:05}-of-{shards:05}.safetensors": names[i::shards] for i in range(shards)}
    for file, own in files.items():
        write_file(folder / file, {name: tensors[name] for name in own}, dtype)
    index = {"metadata": {}, "weight_map": {name: file for file, own in files.items() for name in own}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
