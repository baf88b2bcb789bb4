"""ONNX Runtime's quantised matrix products, for layers.py; run by a Python that has onnxruntime.

usage: ort_layers.py '{"kind": "int8" or "int4 g32", "n": …, "k": …, "layers": …, "threads": …}'

int8: DynamicQuantizeMatMul, which quantises activations to 8 bits; int4: MatMulNBits with accuracy level 4, which does too.
"""

import os

import numpy as np
import onnxruntime
from task import int4_groups, int8_rows, rotated, serve

FLOAT32, UINT8, INT8 = 1, 2, 3  # TensorProto.DataType


def number(value):
    """A varint of protocol buffers."""
    made = b""
    while value > 127:
        made += bytes([value & 127 | 128])
        value >>= 7
    return made + bytes([value])


def message(*fields):
    """The bytes of a message, of (field number, a whole number, text, or the bytes of a message)."""
    made = b""
    for place, value in fields:
        if isinstance(value, int):
            made += number(place << 3) + number(value)
        else:
            content = value.encode() if isinstance(value, str) else value
            made += number(place << 3 | 2) + number(len(content)) + content
    return made


def value_info(name, width):
    """[rows][width] float32."""
    shape = message((1, message((2, "rows"))), (1, message((1, width))))
    return message((1, name), (2, message((1, message((1, FLOAT32), (2, shape))))))


def external_tensor(name, array):
    """A tensor whose numbers the session is given beside the model."""
    kind = {np.dtype(np.float32): FLOAT32, np.dtype(np.uint8): UINT8, np.dtype(np.int8): INT8}[array.dtype]
    return message(*((1, size) for size in array.shape), (2, kind), (8, name), (13, message((1, "location"), (2, name))), (14, 1))


def attribute(name, value):
    return message((1, name), (3, value), (20, 2))  # an integer


class Layers:
    def __init__(self, task):
        self.task = task
        kind, _, group = task.kind.partition(" ")
        self.group = int(group[1:]) if group else 0
        self.arrays = [self.as_operator_wants(*arrays) for arrays in rotated(task, self.quantise)]
        self.bytes = sum(array.nbytes for array in self.arrays[0])
        self.session = self.load(range(len(self.arrays)))
        self.about = f"onnxruntime {onnxruntime.__version__} {'MatMulNBits' if self.group else 'DynamicQuantizeMatMul'}"

    def quantise(self, weights):
        if not self.group:
            return int8_rows(weights)
        numbers, scales = int4_groups(weights, self.group)
        return numbers[:, 0::2] | numbers[:, 1::2] << 4, scales

    def as_operator_wants(self, weights, scales):
        if not self.group:
            return np.ascontiguousarray(weights.T), np.ascontiguousarray(scales)
        return np.ascontiguousarray(weights.reshape(weights.shape[0], -1, self.group // 2)), np.ascontiguousarray(scales.reshape(-1))

    def node(self, layer, source, target):
        n, k = self.task.shapes[layer]
        inputs = [(1, name) for name in (source, f"w{layer}", f"s{layer}")]
        if not self.group:
            return message(*inputs, (2, target), (4, "DynamicQuantizeMatMul"), (7, "com.microsoft"))
        settings = {"K": k, "N": n, "bits": 4, "block_size": self.group, "accuracy_level": 4}
        return message(*inputs, (2, target), (4, "MatMulNBits"), *((5, attribute(*pair)) for pair in settings.items()), (7, "com.microsoft"))

    def load(self, layers):
        layers = list(layers)
        names = ["x", *(f"y{layer}" for layer in layers)]
        weights = {f"{letter}{layer}": array for layer in layers for letter, array in zip("ws", self.arrays[layer])}
        graph = message(*((1, self.node(layer, source, target)) for layer, source, target in zip(layers, names, names[1:])), (2, "layers"),
                        *((5, external_tensor(*pair)) for pair in weights.items()),
                        (11, value_info("x", self.task.shapes[layers[0]][1])), (12, value_info(names[-1], self.task.shapes[layers[-1]][0])))
        model = message((1, 8), (7, graph), (8, message((1, ""), (2, 17))), (8, message((1, "com.microsoft"), (2, 1))))
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self.task.threads
        if self.task.threads > 1:
            # A CPU of its own for each thread but this one, which gets the first; CPUs are counted from one.
            cpus = sorted(os.sched_getaffinity(0))[:self.task.threads]
            options.add_session_config_entry("session.intra_op_thread_affinities", ";".join(str(cpu + 1) for cpu in cpus[1:]))
        options.add_external_initializers(list(weights), [onnxruntime.OrtValue.ortvalue_from_numpy(array) for array in weights.values()])
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])

    def forward(self, layer, x):
        return self.load([layer]).run(None, {"x": x})[0]

    def prepare(self, rows):
        binding = self.session.io_binding()
        x, y = self.task.activations(rows, self.task.shapes[0][1]), np.empty((rows, self.task.shapes[-1][0]), np.float32)
        given, made = onnxruntime.OrtValue.ortvalue_from_numpy(x), onnxruntime.OrtValue.ortvalue_from_numpy(y)
        binding.bind_ortvalue_input("x", given)
        binding.bind_ortvalue_output(f"y{len(self.arrays) - 1}", made)
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        return lambda: self.session.run_with_iobinding(binding)


if __name__ == "__main__":
    serve(Layers)
