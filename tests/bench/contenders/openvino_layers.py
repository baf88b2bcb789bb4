"""OpenVINO's matrix product with compressed weights, for layers.py; run by a Python that has openvino.

usage: openvino_layers.py '{"kind": "int8" or "u4 g128", "n": …, "k": …, "layers": …, "threads": …}'
"""

import numpy as np
import openvino
from task import int4_groups, int8_rows, rotated, serve
from openvino import opset13 as operators


class Layers:
    def __init__(self, task):
        self.task = task
        _, _, group = task.kind.partition(" ")
        self.group = int(group[1:]) if group else 0
        self.core = openvino.Core()
        self.kept = []  # numbers that a model has by their address
        self.arrays = list(rotated(task, self.quantise))
        weights = task.n * task.k
        self.bytes = weights / 2 + 2 * weights / self.group if self.group else weights
        self.one = self.load([0])
        self.compiled = self.load(range(len(self.arrays)))
        self.arrays.clear()
        self.about = f"OpenVINO {openvino.__version__.split('-')[0]}, {'u4' if self.group else 'int8'} weights"

    def quantise(self, weights):
        return int4_groups(weights, self.group) if self.group else int8_rows(weights)

    def layer(self, x, numbers, scales):
        """x times compressed weights, in the form that the plugin knows: numbers, converted, scaled, of one matrix."""
        n, k = numbers.shape
        if not self.group:
            whole = operators.convert(operators.constant(np.ascontiguousarray(numbers)), np.float16)
            scaled = operators.multiply(whole, operators.constant(scales.astype(np.float16).reshape(n, 1)))
        else:
            grouped = (n, k // self.group, self.group)
            pairs = numbers.reshape(-1, 2)
            self.kept.append(np.ascontiguousarray(pairs[:, 0] | pairs[:, 1] << 4))
            packed = openvino.Tensor(self.kept[-1], list(grouped), openvino.Type.u4)
            whole = operators.subtract(operators.convert(operators.constant(packed), np.float16), operators.convert(operators.constant(np.uint8(8)), np.float16))
            scaled = operators.multiply(whole, operators.constant(scales.astype(np.float16).reshape(n, -1, 1)))
            scaled = operators.reshape(scaled, operators.constant(np.array([n, k])), False)
        return operators.matmul(x, operators.convert(scaled, np.float32), False, True)

    def load(self, layers):
        layers = list(layers)
        given = last = operators.parameter([-1, self.task.shapes[layers[0]][1]], np.float32)
        for layer in layers:
            last = self.layer(last, *self.arrays[layer])
        settings = {"INFERENCE_NUM_THREADS": self.task.threads, "NUM_STREAMS": 1, "ENABLE_CPU_PINNING": True, "PERFORMANCE_HINT": "LATENCY"}
        return self.core.compile_model(openvino.Model([last], [given]), "CPU", settings)

    def forward(self, layer, x):
        return self.one(x)[0]

    def prepare(self, rows):
        request = self.compiled.create_infer_request()
        request.set_input_tensor(openvino.Tensor(self.task.activations(rows, self.task.shapes[0][1])))
        return request.infer


if __name__ == "__main__":
    serve(Layers)
