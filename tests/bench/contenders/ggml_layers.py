"""llama.cpp's matrix product through the libraries of llama-cpp-python, for layers.py; run by a Python that has it.

usage: ggml_layers.py '{"kind": "q8_0", "n": …, "k": …, "layers": …, "threads": …}'

Weights lie in the buffer type that llama.cpp would take for them: AMX, else repacked, else the plain one.
"""

import ctypes
import importlib.metadata
import importlib.util
import pathlib
import sys

import numpy as np
from task import rotated, serve

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from ggml_threads import pinned_pool

TYPES = {"q4_0": 2, "q8_0": 8, "q4_K": 12}
FLOAT32 = 0
BUFFER_OF_TENSOR = 8  # offset of ggml_tensor.buffer
FEATURES = ["avx2", "fma", "f16c", "avx_vnni", "avx512", "avx512_vbmi", "avx512_vnni", "avx512_bf16", "amx_int8"]  # as ggml_cpu_has_… names them
BEYOND = {"avx2": FEATURES[3:]}


class InitParams(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("memory", ctypes.c_void_p), ("no_alloc", ctypes.c_bool)]


POINTERS = ["ggml_init", "ggml_new_tensor_2d", "ggml_mul_mat", "ggml_new_graph_custom", "ggml_get_data", "ggml_backend_cpu_init", "ggml_backend_cpu_reg",
            "ggml_backend_reg_dev_get", "ggml_backend_reg_get_proc_address", "ggml_backend_alloc_ctx_tensors_from_buft", "ggml_backend_buft_alloc_buffer",
            "ggml_backend_cpu_buffer_type", "ggml_gallocr_new"]


class Ggml:
    """The functions of ggml's libraries; every argument is given as a ctypes value or a pointer."""

    def __init__(self):
        folder = pathlib.Path(importlib.util.find_spec("llama_cpp").origin).parent / "lib"
        self.libraries = [ctypes.CDLL(str(folder / name), mode=ctypes.RTLD_GLOBAL) for name in ("libggml-base.so", "libggml-cpu.so")]
        self.silence = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)(lambda level, text, data: None)
        self["ggml_log_set"](self.silence, None)
        for name in POINTERS:
            self[name].restype = ctypes.c_void_p
        self["ggml_row_size"].restype = ctypes.c_size_t
        self["ggml_quantize_chunk"].restype = ctypes.c_size_t
        self["ggml_backend_buft_name"].restype = ctypes.c_char_p
        self["ggml_backend_dev_supports_op"].restype = ctypes.c_bool
        self["ggml_gallocr_alloc_graph"].restype = ctypes.c_bool

    def __getitem__(self, name):
        for library in self.libraries:
            if hasattr(library, name):
                return getattr(library, name)
        raise KeyError(name)

    def __call__(self, name, *arguments):
        done = self[name](*arguments)
        return ctypes.c_void_p(done) if name in POINTERS else done

    def built_for(self):
        """Those of the features that its products are compiled for."""
        return [name for name in FEATURES if self[f"ggml_cpu_has_{name}"]()]

    def context(self, tensors):
        """Of descriptions alone, no numbers."""
        return self("ggml_init", InitParams(size=tensors * 1024 + 65536, no_alloc=True))

    def tensor(self, context, kind, columns, rows):
        return self("ggml_new_tensor_2d", context, kind, ctypes.c_int64(columns), ctypes.c_int64(rows))

    def extra_buffer_types(self):
        registry = self("ggml_backend_cpu_reg")
        device = self("ggml_backend_reg_dev_get", registry, ctypes.c_size_t(0))
        address = self("ggml_backend_reg_get_proc_address", registry, b"ggml_backend_dev_get_extra_bufts")
        listed = ctypes.CFUNCTYPE(ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p)(address.value)(device)
        found = []
        while listed and listed[len(found)]:
            found.append(ctypes.c_void_p(listed[len(found)]))
        return device, found

    def best_buffer_type(self, kind, n, k):
        """As llama.cpp chooses: the first extra one in which the device can multiply such weights."""
        device, extra = self.extra_buffer_types()
        for buffer_type in extra:
            context = self.context(3)
            weights = self.tensor(context, kind, k, n)
            product = self("ggml_mul_mat", context, weights, self.tensor(context, FLOAT32, k, 512))
            buffer = self("ggml_backend_buft_alloc_buffer", buffer_type, ctypes.c_size_t(0))
            ctypes.c_void_p.from_address(weights.value + BUFFER_OF_TENSOR).value = buffer.value
            supported = self("ggml_backend_dev_supports_op", device, product)
            self("ggml_backend_buffer_free", buffer)
            self("ggml_free", context)
            if supported:
                return buffer_type
        return self("ggml_backend_cpu_buffer_type")


class Layers:
    def __init__(self, task):
        self.task, self.ggml = task, Ggml()
        features = self.ggml.built_for()
        too_many = [name for name in features if name in BEYOND.get(task.asked.get("nothing_beyond"), [])]
        if too_many:
            sys.exit(f"this llama.cpp is built for {', '.join(too_many)}, too")
        self.kind = TYPES[task.kind]
        self.backend = self.ggml("ggml_backend_cpu_init")
        self.ggml("ggml_backend_cpu_set_n_threads", self.backend, task.threads)
        self.ggml("ggml_backend_cpu_set_threadpool", self.backend, pinned_pool(self.ggml.libraries[1], task.threads))
        buffer_type = self.ggml.best_buffer_type(self.kind, task.n, task.k)
        self.weights = self.load(buffer_type)
        self.bytes = self.ggml("ggml_row_size", self.kind, ctypes.c_int64(task.k)) * task.n
        self.about = f"llama-cpp-python {importlib.metadata.version('llama-cpp-python')}, for {' '.join(features)}, buffer type {self.ggml('ggml_backend_buft_name', buffer_type).decode()}"

    def quantise(self, weights):
        n, k = weights.shape
        row = self.ggml("ggml_row_size", self.kind, ctypes.c_int64(k))
        made = np.empty((n, row), np.uint8)
        self.ggml("ggml_quantize_chunk", self.kind, ctypes.c_void_p(weights.ctypes.data), ctypes.c_void_p(made.ctypes.data), ctypes.c_int64(0), ctypes.c_int64(n),
                  ctypes.c_int64(k), None)
        return (made,)

    def load(self, buffer_type):
        context = self.ggml.context(len(self.task.shapes))
        tensors = [self.ggml.tensor(context, self.kind, k, n) for n, k in self.task.shapes]
        buffer = self.ggml("ggml_backend_alloc_ctx_tensors_from_buft", context, buffer_type)
        if not buffer:
            sys.exit("ggml has no memory for the weights")
        self.ggml("ggml_backend_buffer_set_usage", buffer, 1)  # of weights
        for tensor, (rows,) in zip(tensors, rotated(self.task, self.quantise)):
            self.ggml("ggml_backend_tensor_set", tensor, ctypes.c_void_p(rows.ctypes.data), ctypes.c_size_t(0), ctypes.c_size_t(rows.nbytes))
        return tensors

    def graph(self, layers, x):
        """(graph, its last tensor) of x through these layers."""
        context = self.ggml.context(4 * len(layers) + 256)
        given = last = self.ggml.tensor(context, FLOAT32, x.shape[1], x.shape[0])
        self.ggml("ggml_set_input", given)
        for layer in layers:
            last = self.ggml("ggml_mul_mat", context, self.weights[layer], last)
        self.ggml("ggml_set_output", last)
        graph = self.ggml("ggml_new_graph_custom", context, ctypes.c_size_t(2 * len(layers) + 16), ctypes.c_bool(False))
        self.ggml("ggml_build_forward_expand", graph, last)
        memory = self.ggml("ggml_gallocr_new", self.ggml("ggml_backend_cpu_buffer_type"))
        if not self.ggml("ggml_gallocr_alloc_graph", memory, graph):
            sys.exit("ggml has no memory for the graph")
        self.ggml("ggml_backend_tensor_set", given, ctypes.c_void_p(x.ctypes.data), ctypes.c_size_t(0), ctypes.c_size_t(x.nbytes))
        return graph, last

    def compute(self, graph):
        if self.ggml("ggml_backend_graph_compute", self.backend, graph) != 0:
            sys.exit("ggml does not compute")

    def forward(self, layer, x):
        graph, last = self.graph([layer], x)
        self.compute(graph)
        y = np.empty((x.shape[0], self.task.shapes[layer][0]), np.float32)
        self.ggml("ggml_backend_tensor_get", last, ctypes.c_void_p(y.ctypes.data), ctypes.c_size_t(0), ctypes.c_size_t(y.nbytes))
        return y

    def prepare(self, rows):
        graph, _ = self.graph(range(len(self.weights)), self.task.activations(rows, self.task.shapes[0][1]))
        return lambda: self.compute(graph)


if __name__ == "__main__":
    serve(Layers)
