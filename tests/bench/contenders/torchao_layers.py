"""PyTorch's linear layers with torchao's int8 weights and dynamically quantised int8 activations, compiled, for layers.py; run by a
Python that has both.

usage: torchao_layers.py '{"kind": "", "n": …, "k": …, "layers": …, "threads": …}'

Compiled as for serving: weights are constants (freezing), kernels are chosen by measuring (max-autotune), each number of rows for itself.
"""

import os
import sys
import tempfile

import torch
import torchao
from task import serve
from torchao.quantization import Int8DynamicActivationInt8WeightConfig, quantize_
from torchao.quantization.pt2e.quantizer import x86_inductor_quantizer  # noqa: F401  registers the fusions with oneDNN's products: quantize_ alone does not


class Layers:
    def __init__(self, task):
        self.task = task
        # What was measured when the machine was busy would count ever after.
        self.compiled_here = tempfile.TemporaryDirectory(prefix="axle-bench-")
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = self.compiled_here.name
        torch.set_num_threads(task.threads)
        torch._inductor.config.freezing = True
        layers = [self.quantised(layer) for layer in range(len(task.shapes))]
        self.one, self.all = self.compiled(layers[:1]), self.compiled(layers)
        self.bytes = task.n * task.k
        self.about = f"torchao {torchao.__version__}, PyTorch {torch.__version__}, {torch.backends.cpu.get_cpu_capability()}"

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
