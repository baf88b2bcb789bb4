"""The runtime's linear layers through its C interface, for layers.py.

usage: axle_layers.py '{"kind": "da8w4 g128", "library": FILE, "kernel": NAME or "", "n": …, "k": …, "layers": …, "threads": …}'
"""

import ctypes
import pathlib
import sys

import numpy as np

from task import int4_groups, int8_rows, rotated, serve

sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / "runtime/python/axle_runtime"))
from _structs import Error, LinearOptions, RuntimeOptions, new

MODES = {"da8w8": 0, "a16w8": 1, "a16w4": 2, "da8w4": 3, "a16f8": 4}
SEARCHED, TWO_LEVEL = 0, 3
FLOAT32, INT8, FLOAT8 = 0, 3, 4


def float8_rows(weights):
    """(float8 [n][k], float32 [n]): arbitrary ones of the magnitudes that most weights of a layer have."""
    arbitrary = np.random.RandomState(7).randint(0, 256, weights.shape, dtype=np.uint8)
    return (arbitrary & 0xb7) | 0x40, np.full(weights.shape[0], 0.3 / np.sqrt(weights.shape[1]), np.float32)


def two_levels(weights):
    """(int8 [n][k] of -8 to 7, float32 [n], uint8 [n][k / 32]): the largest magnitude of a row on 7 times the factor 15."""
    grouped = weights.reshape(weights.shape[0], -1, 32)
    largest = np.abs(grouped).max(axis=2)
    scales = largest.max(axis=1) / 105
    factors = np.clip(np.rint(largest / 7 / scales[:, None]), 1, 15)
    numbers = np.clip(np.rint(grouped / (scales[:, None] * factors)[:, :, None]), -8, 7)
    return numbers.astype(np.int8).reshape(weights.shape), scales.astype(np.float32), factors.astype(np.uint8)


class Layers:
    def __init__(self, task):
        """`task.kind`: a mode, of int4 with the group behind it, or with "2l" for groups of 32 with two levels of scales."""
        self.task = task
        self.library = ctypes.CDLL(task.asked["library"])
        for name in ("axle_runtime_version", "axle_runtime_kernel"):
            getattr(self.library, name).restype = ctypes.c_char_p
        self.runtime = ctypes.c_void_p()
        self.call("axle_runtime_create", ctypes.byref(new(RuntimeOptions, kernel=task.asked["kernel"].encode(), threads=task.threads)), ctypes.byref(self.runtime))
        mode, _, self.scales = task.kind.partition(" ")
        self.mode, self.narrow = MODES[mode], mode.endswith("w4")
        self.group = int(self.scales[1:]) if self.scales.startswith("g") else 0
        # The first layer is quantised by the runtime, from float32; that takes too long for all.
        self.layers = [self.pack(0, FLOAT32, (task.weights(0),))]
        kind = FLOAT8 if mode == "a16f8" else INT8
        self.layers += [self.pack(layer, kind, arrays) for layer, arrays in enumerate(rotated(task, self.quantise)) if layer > 0]
        weights = task.n * task.k
        sides = weights / 64 if self.scales == "2l" else 2 * weights / self.group if self.group else 0
        self.bytes = (weights / 2 if self.narrow else weights) + sides
        self.about = self.library.axle_runtime_version().decode()

    def call(self, name, *arguments):
        error = Error()
        if getattr(self.library, name)(*arguments, ctypes.byref(error)) != 0:
            sys.exit(f"{name}: {error.message.decode()}")

    def quantise(self, weights):
        if self.scales == "2l":
            return two_levels(weights)
        if self.group:
            numbers, scales = int4_groups(weights, self.group)
            return (numbers.astype(np.int8) - 8, scales)
        return float8_rows(weights) if self.mode == MODES["a16f8"] else int8_rows(weights)

    def pack(self, layer, kind, arrays):
        """`arrays`: weights and, unless they are float32, scales and factors."""
        kept = [np.ascontiguousarray(array) for array in arrays]
        places = [array.ctypes.data for array in kept] + [None] * (3 - len(kept))
        n, k = self.task.shapes[layer]
        made = ctypes.c_void_p()
        options = new(LinearOptions, mode=self.mode, weight_type=kind, n=n, k=k, weights=places[0], scales=places[1], factors=places[2], group=self.group,
                      scaling=TWO_LEVEL if self.scales == "2l" else SEARCHED)
        self.call("axle_linear_create", self.runtime, ctypes.byref(options), ctypes.byref(made))
        return made

    def forward(self, layer, x):
        y = np.empty((x.shape[0], self.task.shapes[layer][0]), np.float32)
        self.call("axle_linear_forward", self.layers[layer], 0, ctypes.c_void_p(x.ctypes.data), ctypes.c_size_t(x.shape[0]), ctypes.c_void_p(y.ctypes.data))
        return y

    def prepare(self, rows):
        forward, error, count = self.library.axle_linear_forward, ctypes.byref(Error()), ctypes.c_size_t(rows)
        kept = [self.task.activations(rows, max(self.task.n, self.task.k)) for _ in range(2)]
        calls = [(layer, 0, ctypes.c_void_p(kept[i % 2].ctypes.data), count, ctypes.c_void_p(kept[(i + 1) % 2].ctypes.data), error)
                 for i, layer in enumerate(self.layers)]

        def run():
            for call in calls:
                if forward(*call) != 0:
                    sys.exit("axle_linear_forward failed")
            return kept

        return run


if __name__ == "__main__":
    serve(Layers)
