"""oneDNN's matrix product of int8 by int8 through its C interface, for layers.py: version 2 (Debian's libdnnl2) or 3.

usage: onednn_layers.py '{"kind": "s8s8" or "u8s8", "library": FILE, "n": …, "k": …, "layers": …, "threads": …}'

It has no dynamic quantisation: activations are quantised beforehand and that is not measured. Weights are in the format that it chooses.
Threads are libgomp's, which the environment binds (OMP_NUM_THREADS, OMP_PROC_BIND, OMP_PLACES).
"""

import ctypes
import pathlib
import sys

import numpy as np
from task import int8_rows, rotated, serve

FLOAT32, INT8, UINT8 = 3, 5, 6  # dnnl_data_type_t
ANY_FORMAT, WEIGHTS_FORM, IMPLEMENTATION = 1, 131, 8  # of dnnl_format_tag_t and dnnl_query_t
SOURCE, TARGET, FROM, TO, WEIGHTS, SCALES = 1, 17, 1, 17, 33, 4096  # DNNL_ARG_…
PER_COLUMN = 2  # mask of the second dimension
LARGEST_FORM = 8192  # bytes; a dnnl_memory_desc_t of version 2 has 696


class Version(ctypes.Structure):
    _fields_ = [("major", ctypes.c_int), ("minor", ctypes.c_int), ("patch", ctypes.c_int)]


class Argument(ctypes.Structure):
    _fields_ = [("what", ctypes.c_int), ("memory", ctypes.c_void_p)]


class OneDnn:
    def __init__(self, path):
        for needed in pathlib.Path(path).parent.glob("libOpenCL.so.1"):
            ctypes.CDLL(str(needed))  # of version 2 where Debian's package is unpacked, not installed
        self.library = ctypes.CDLL(path)
        self.library.dnnl_version.restype = ctypes.POINTER(Version)
        self.library.dnnl_primitive_desc_query_md.restype = ctypes.c_void_p
        version = self.library.dnnl_version().contents
        self.version, self.old = f"{version.major}.{version.minor}.{version.patch}", version.major < 3
        self.engine = self.made("dnnl_engine_create", 1, ctypes.c_size_t(0))
        self.stream = self.made("dnnl_stream_create", self.engine, 1)

    def call(self, name, *arguments):
        if getattr(self.library, name)(*arguments) != 0:
            sys.exit(f"{name} of oneDNN {self.version} fails")

    def made(self, name, *arguments):
        handle = ctypes.c_void_p()
        self.call(name, ctypes.byref(handle), *arguments)
        return handle

    def form(self, shape, kind, strides=None):
        """A memory descriptor; without strides in the format that oneDNN likes best."""
        dimensions = (ctypes.c_int64 * 2)(*shape)
        layout = (ctypes.c_int64 * 2)(*strides) if strides else ANY_FORMAT
        how = "strides" if strides else "tag"
        if not self.old:
            return self.made(f"dnnl_memory_desc_create_with_{how}", 2, dimensions, kind, layout)
        made = ctypes.create_string_buffer(LARGEST_FORM)
        self.call(f"dnnl_memory_desc_init_by_{how}", made, 2, dimensions, kind, layout)
        return made

    def memory(self, form, array=None):
        """Of an array's bytes; else its own."""
        return self.made("dnnl_memory_create", form, self.engine, ctypes.c_void_p(-1 if array is None else array.ctypes.data))

    def scaled(self, scales):
        """Attributes: a factor for each output channel. The old version takes the factors themselves."""
        attributes = self.made("dnnl_primitive_attr_create")
        if self.old:
            self.call("dnnl_primitive_attr_set_output_scales", attributes, ctypes.c_int64(len(scales)), PER_COLUMN, ctypes.c_void_p(scales.ctypes.data))
        else:
            self.call("dnnl_primitive_attr_set_scales_mask", attributes, WEIGHTS, PER_COLUMN)
        return attributes

    def product(self, source, weights, target, attributes):
        if not self.old:
            return self.made("dnnl_matmul_primitive_desc_create", self.engine, source, weights, None, target, attributes)
        described = ctypes.create_string_buffer(4 * LARGEST_FORM)
        self.call("dnnl_matmul_desc_init", described, source, weights, None, target)
        return self.made("dnnl_primitive_desc_create", described, attributes, self.engine, None)

    def execute(self, primitive, arguments):
        self.call("dnnl_primitive_execute", primitive, self.stream, len(arguments), arguments)

    def wait(self):
        self.call("dnnl_stream_wait", self.stream)

    def reordered(self, source_form, source, target_form):
        primitive = self.made("dnnl_primitive_create", self.made("dnnl_reorder_primitive_desc_create", source_form, self.engine, target_form, self.engine, None))
        target = self.memory(target_form)
        self.execute(primitive, arguments({FROM: source, TO: target}))
        self.wait()
        return target


def arguments(memories):
    return (Argument * len(memories))(*(Argument(what, memory.value) for what, memory in memories.items()))


class Layers:
    def __init__(self, task):
        self.task, self.dnn = task, OneDnn(task.asked["library"])
        self.unsigned = task.kind == "u8s8"
        self.products, self.packed, self.scales = {}, [], []
        for layer, (numbers, scales) in enumerate(rotated(task, int8_rows)):
            self.packed.append(self.pack(layer, numbers, scales))
        self.bytes = task.n * task.k
        name = ctypes.c_char_p()
        self.dnn.call("dnnl_primitive_desc_query", self.product(1, 0)[0], IMPLEMENTATION, 0, ctypes.byref(name))
        self.about = f"oneDNN {self.dnn.version} {name.value.decode()}, activations quantised beforehand"

    def pack(self, layer, numbers, scales):
        """Weights in the format for a few rows, which the others take too."""
        self.scales.append(np.ascontiguousarray(scales))
        n, k = numbers.shape
        form, source = self.dnn.form((k, n), INT8, (1, k)), np.ascontiguousarray(numbers)
        wanted = self.product(8, layer)[1]
        return self.dnn.reordered(form, self.dnn.memory(form, source), wanted)

    def product(self, rows, layer):
        """(its descriptor, the format of the weights that it wants, the primitive) of so many rows."""
        n, k = self.task.shapes[layer]
        key = rows, n, k, layer if self.dnn.old else 0
        if key not in self.products:
            dnn = self.dnn
            source, target = dnn.form((rows, k), UINT8 if self.unsigned else INT8, (k, 1)), dnn.form((rows, n), FLOAT32, (n, 1))
            made = dnn.product(source, dnn.form((k, n), INT8), target, dnn.scaled(self.scales[layer]))
            wanted = ctypes.c_void_p(dnn.library.dnnl_primitive_desc_query_md(made, WEIGHTS_FORM, 0))
            self.products[key] = made, wanted, dnn.made("dnnl_primitive_create", made), source, target
        return self.products[key]

    def ready(self, layer, x, y):
        """(primitive, its arguments) of quantised x to y."""
        _, wanted, primitive, source, target = self.product(x.shape[0], layer)
        memories = {SOURCE: self.dnn.memory(source, x), WEIGHTS: self.weights_as(layer, wanted, x.shape[0]), TARGET: self.dnn.memory(target, y)}
        if not self.dnn.old:
            scales = self.scales[layer]
            memories[SCALES | WEIGHTS] = self.dnn.memory(self.dnn.made("dnnl_memory_desc_create_with_strides", 1, (ctypes.c_int64 * 1)(len(scales)), FLOAT32,
                                                                       (ctypes.c_int64 * 1)(1)), scales)
        return primitive, arguments(memories)

    def weights_as(self, layer, wanted, rows):
        """The packed weights, packed anew where so many rows want another format."""
        packed_for = self.product(8, layer)[1]
        if self.dnn.library.dnnl_memory_desc_equal(wanted, packed_for):
            return self.packed[layer]
        return self.dnn.reordered(packed_for, self.packed[layer], wanted)

    def quantised(self, x):
        scales = np.abs(x).max(axis=1, keepdims=True) / 127
        numbers = np.rint(x / scales)
        return (numbers + 128).astype(np.uint8) if self.unsigned else numbers.astype(np.int8), scales

    def forward(self, layer, x):
        numbers, scales = self.quantised(x)
        y = np.empty((x.shape[0], self.task.shapes[layer][0]), np.float32)
        self.dnn.execute(*self.ready(layer, numbers, y))
        self.dnn.wait()
        if self.unsigned:  # of 128 too much in each
            quantised = next(rotated(self.task, int8_rows))
            y -= 128 * quantised[0].sum(axis=1, dtype=np.int64) * quantised[1]
        return y * scales

    def prepare(self, rows):
        largest = max(self.task.n, self.task.k)
        x = self.quantised(self.task.activations(rows, largest))[0]
        y = np.empty(rows * largest, np.float32)
        sources = {k: np.ascontiguousarray(x[:, :k]) for _, k in self.task.shapes}
        ready = [self.ready(layer, sources[k], y) for layer, (_, k) in enumerate(self.task.shapes)]
        execute, stream = self.dnn.library.dnnl_primitive_execute, self.dnn.stream
        count = len(ready[0][1])

        def run():
            for primitive, given in ready:
                if execute(primitive, stream, count, given) != 0:
                    sys.exit("oneDNN does not compute")
            self.dnn.wait()
            return sources, y  # oneDNN has only their addresses

        return run


if __name__ == "__main__":
    serve(Layers)
