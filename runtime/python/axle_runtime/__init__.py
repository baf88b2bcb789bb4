"""Quantised inference on the CPU: language models, text encoders and single linear layers.

    with axle_runtime.Model("model.gguf") as model:
        for piece in model.generate("What is a wheel?", stream=True):
            print(piece, end="", flush=True)

    packed = axle_runtime.quantize(weight, mode="a16w8")   # weight [n][k]
    y = axle_runtime.linear(x, packed)                     # x [...][k], y [...][n]

Weights and activations are anything with the buffer protocol (array.array, ctypes arrays, NumPy) or
with DLPack on the CPU (torch). NumPy is not needed. `axle_runtime.torch.quantize_` takes a model of
PyTorch. Which kernels run is decided by the machine; the environment variable AXLE_RUNTIME_KERNEL,
or `kernel=`, forces one set or raises UnsupportedKernel. The variants for GPUs have devices beside the
CPU (`devices()`): `quantize(weight, device="cuda")` puts a layer there.
"""

from ._array import Array
from ._layer import Linear, linear, quantize
from ._library import (
    MalformedModel,
    UnsupportedDevice,
    UnsupportedKernel,
    UnsupportedModel,
    version,
)
from ._machine import bench, devices, info, kernels, selftest
from ._model import Model

__all__ = [
    "Array",
    "Linear",
    "MalformedModel",
    "Model",
    "UnsupportedDevice",
    "UnsupportedKernel",
    "UnsupportedModel",
    "bench",
    "devices",
    "info",
    "kernels",
    "linear",
    "quantize",
    "selftest",
]
__version__ = version()
