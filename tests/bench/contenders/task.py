"""What every contender of layers.py does: the same weights, one pass through all layers for each line of stdin, and its error.

A contender is a class Layers with `about` and `bytes` (of the weights of one layer, scales included), made of a Task, and

    forward(layer, x) -> y      of one layer, for the error: float32 [rows][k] to [rows][n]
    prepare(rows)               makes a function that passes so many rows through all layers, one after the other

The layers of a square shape follow each other as in a model, each working on what the one before gave. That of 14336 x 4096 goes there
and back, as the feed-forward layers of a model do.
"""

import json
import sys
import time

import numpy as np

ERROR_ROWS = 8
SLICE = 0.1  # seconds of passes that are measured at least, for one answer


class Task:
    """What the driver asks for, as JSON: {"kind", "n", "k", "layers", "threads", …}."""

    def __init__(self, text):
        self.asked = json.loads(text)
        self.kind = self.asked["kind"]
        self.n, self.k, self.threads = self.asked["n"], self.asked["k"], self.asked["threads"]
        self.shapes = [(self.n, self.k)] * self.asked["layers"]
        if self.n != self.k:
            self.shapes = [(self.k, self.n) if i % 2 else (self.n, self.k) for i in range(self.asked["layers"])]
        self.made = {}

    def base(self, shape):
        """float32 [n][k], so that a row's length is kept."""
        if shape not in self.made:
            random = np.random.RandomState(7)
            self.made[shape] = (random.standard_normal(shape) / np.sqrt(shape[1])).astype(np.float32)
        return self.made[shape]

    def rotation(self, layer):
        """Rows by which a layer's weights are rotated against those of the first of its shape: equal layers would be found out and shared."""
        return layer * 7

    def weights(self, layer):
        return np.roll(self.base(self.shapes[layer]), self.rotation(layer), axis=0)

    def activations(self, rows, width):
        return np.random.RandomState(11).standard_normal((rows, width)).astype(np.float32)


def rotated(task, quantise):
    """The quantised weights of each layer, arrays whose first axis is that of rows: quantised once a shape, then rotated."""
    done = {}
    for layer, shape in enumerate(task.shapes):
        if shape not in done:
            done[shape] = quantise(task.base(shape))
        yield tuple(np.roll(array, task.rotation(layer), axis=0) for array in done[shape])


def int8_rows(weights):
    """(int8 [n][k], float32 [n]): symmetric, a scale a row."""
    scales = np.abs(weights).max(axis=1) / 127
    return np.rint(weights / scales[:, None]).astype(np.int8), scales.astype(np.float32)


def int4_groups(weights, group):
    """(uint8 [n][k] of 0 to 15, float32 [n][k / group]): w = scale * (q - 8), the weight of the largest magnitude on -8, as q4_0 has it."""
    grouped = weights.reshape(weights.shape[0], -1, group)
    largest = np.take_along_axis(grouped, np.abs(grouped).argmax(axis=2)[:, :, None], axis=2)
    scales = np.where(largest == 0, 1, largest / -8)
    numbers = np.clip(np.floor(grouped / scales + 8.5), 0, 15).astype(np.uint8)
    return numbers.reshape(weights.shape), scales[:, :, 0].astype(np.float32)


def relative_error(layers, task):
    """Of the first layer, against the product of the float32 numbers in double."""
    shape = task.shapes[0]
    x = task.activations(ERROR_ROWS, shape[1])
    exact = x.astype(np.float64) @ task.base(shape).astype(np.float64).T
    return float(np.linalg.norm(layers.forward(0, x) - exact) / np.linalg.norm(exact))


def time_passes(run, count):
    """Seconds of one layer, in the best of some passes through all."""
    took = []
    while sum(took) < SLICE:
        start = time.perf_counter()
        run()
        took.append(time.perf_counter() - start)
    return min(took) / count


def serve(make_layers):
    """The program of a contender. A line of its stdin is [rows], or [rows, "prepare"], which measures nothing."""
    task = Task(sys.argv[1])
    layers = make_layers(task)
    about = {"about": layers.about, "bytes": layers.bytes, "error": relative_error(layers, task)}
    task.made.clear()
    print(json.dumps(about), flush=True)
    runs = {}
    for line in sys.stdin:
        rows, *only = json.loads(line)
        if rows not in runs:
            runs[rows] = layers.prepare(rows)
            runs[rows]()  # once, so that the rows' memory is there
        if only:
            print("{}", flush=True)
            continue
        print(json.dumps({"seconds": time_passes(runs[rows], len(task.shapes))}), flush=True)
