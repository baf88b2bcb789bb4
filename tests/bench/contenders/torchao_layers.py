"""PyTorch's linear layers with torchao's int8 weights and dynamically quantised int8 activations, compiled, for layers.py; run by a
Python that has both.

usage: torchao_layers.py '{"kind": "plain" or "fused", "n": …, "k": …, "layers": …, "threads": …}'

Compiled as for serving: weights are constants (freezing), kernels are chosen by measuring (max-autotune), each number of rows for itself.
"plain" is what quantize_ and torch.compile make of it. "fused" has the replacement of whole layers by oneDNN's or generated products, too,
which since torchao 0.18 is registered by another module alone, that of the quantiser for exported models (pull request 4823 of torchao).
"""

import importlib
import os
import sys
import tempfile

import torch
import torchao
from task import serve
from torchao.quantization import Int8DynamicActivationInt8WeightConfig, quantize_

MOST_LAYERS = 16  # each number of rows has packed weights of its own, and takes half a second a layer to compile


class Layers:
    def __init__(self, task):
        self.task = task
        task.shapes = task.shapes[:MOST_LAYERS]
        if task.kind == "fused":
            importlib.import_module("torchao.quantization.pt2e.quantizer.x86_inductor_quantizer")
        # What was measured when the machine was busy would count ever after.
        self.compiled_here = tempfile.TemporaryDirectory(prefix="axle-bench-")
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = self.compiled_here.name
        torch.set_num_threads(task.threads)
        torch._inductor.config.freezing = True
        layers = [self.quantised(layer) for layer in range(len(task.shapes))]
        self.one, self.all = self.compiled(layers[:1]), self.compiled(layers)
        self.bytes = task.n * task.k
        self.about = f"torchao {torchao.__version__} of PyTorch {torch.__version__}, compiled, {task.kind}, {len(layers)} layers"

    def quantised(self, layer):
        n, k = self.task.shapes[layer]
        made = torch.nn.Linear(k, n, bias=False, device="meta")
        made.weight = torch.nn.Parameter(torch.from_numpy(self.task.weights(layer)), requires_grad=False)
        quantize_(made, Int8DynamicActivationInt8WeightConfig())
        return made

    def compiled(self, layers):
        return torch.compile(torch.nn.Sequential(*layers).eval(), dynamic=False, mode="max-autotune")

    def run(self, compiled, x):
        try:
            with torch.inference_mode():
                return compiled(x)
        except Exception as error:  # of Dynamo, Inductor or the compiler, which have no type in common
            sys.exit(f"PyTorch does not compile the layers: {str(error).strip().splitlines()[0]}")

    def forward(self, layer, x):
        return self.run(self.one, torch.from_numpy(x)).numpy()

    def prepare(self, rows):
        x = torch.from_numpy(self.task.activations(rows, self.task.shapes[0][1]))
        return lambda: self.run(self.all, x)


if __name__ == "__main__":
    serve(Layers)
