"""GGUF files, version 3, read and written (ggml's docs/gguf.md)."""

import struct

import blocks

MAGIC = b"GGUF"
ALIGNMENT = 32
SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
UINT32, INT32, FLOAT32, BOOL, STRING, ARRAY = 4, 5, 6, 7, 8, 9


class GgufFile:
    """`metadata`: key -> value. `tensors`: name -> (type, shape with the innermost dimension last, bytes)."""

    def __init__(self, path):
        self.data = memoryview(path.read_bytes())
        self.at = 0
        if self.take("4s") != MAGIC or self.take("I") != 3:
            raise ValueError(f"{path}: no GGUF file of version 3")
        count, values = self.take("Q"), self.take("Q")
        self.metadata = {}
        for _ in range(values):
            key = self.text()
            self.metadata[key] = self.value(self.take("I"))
        infos = [self.info() for _ in range(count)]
        alignment = self.metadata.get("general.alignment", ALIGNMENT)
        start = -(-self.at // alignment) * alignment
        self.tensors = {name: (kind, shape, self.data[start + offset:start + offset + blocks.byte_count(kind, shape)])
                        for name, kind, shape, offset in infos}

    def take(self, form):
        (value,) = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return value

    def text(self):
        return self.take(f"{self.take('Q')}s").decode("utf-8", "surrogateescape")

    def value(self, kind):
        if kind == STRING:
            return self.text()
        if kind == ARRAY:
            inner, length = self.take("I"), self.take("Q")
            return [self.value(inner) for _ in range(length)]
        return self.take(SCALARS[kind])

    def info(self):
        name = self.text()
        shape = tuple(reversed([self.take("Q") for _ in range(self.take("I"))]))
        return name, blocks.NAMES[self.take("I")], shape, self.take("Q")

    def tensor(self, name):
        kind, shape, data = self.tensors[name]
        return blocks.decode(kind, data, shape)


def pack_text(text):
    data = text.encode("utf-8", "surrogateescape")
    return struct.pack("<Q", len(data)) + data


def kind_of(value):
    return BOOL if isinstance(value, bool) else INT32 if isinstance(value, int) and value < 0 else UINT32 \
        if isinstance(value, int) else FLOAT32 if isinstance(value, float) else STRING


def pack_plain(kind, value):
    return pack_text(value) if kind == STRING else struct.pack("<" + SCALARS[kind], value)


def pack_value(value):
    """Type and value; lists are of one type, that of whole numbers is int32."""
    if isinstance(value, list):
        kind = INT32 if isinstance(value[0], int) else kind_of(value[0])
        return struct.pack("<IIQ", ARRAY, kind, len(value)) + b"".join(pack_plain(kind, one) for one in value)
    kind = kind_of(value)
    return struct.pack("<I", kind) + pack_plain(kind, value)


class GgufWriter:
    """Streams a file: first what all tensors are, then their bytes in the same order, as many calls as wanted."""

    def __init__(self, file, metadata, tensors):
        """`tensors`: [(name, type, shape)]."""
        self.file = file
        file.write(MAGIC + struct.pack("<IQQ", 3, len(tensors), len(metadata)))
        for key, value in metadata.items():
            file.write(pack_text(key) + pack_value(value))
        offset = 0
        for name, kind, shape in tensors:
            file.write(pack_text(name) + struct.pack(f"<I{len(shape)}Q", len(shape), *reversed(shape)))
            file.write(struct.pack("<IQ", blocks.TYPES[kind][0], offset))
            offset += -(-blocks.byte_count(kind, shape) // ALIGNMENT) * ALIGNMENT
        self.pad()

    def pad(self):
        self.file.write(bytes(-self.file.tell() % ALIGNMENT))

    def write(self, data):
        self.file.write(data)

    def end_tensor(self):
        self.pad()


def write_gguf(path, metadata, tensors):
    """`tensors`: name -> (type, array)."""
    with path.open("wb") as file:
        writer = GgufWriter(file, metadata, [(name, kind, values.shape) for name, (kind, values) in tensors.items()])
        for kind, values in tensors.values():
            writer.write(blocks.encode(kind, values))
            writer.end_tensor()
