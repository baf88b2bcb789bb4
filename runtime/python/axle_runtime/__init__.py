"""Quantised linear layers on the CPU.

    layer = axle_runtime.Linear(weight, scale, mode="da8w8")   # weight [n][k] int8, scale [n] float32
    y = layer(x)                                               # x [m][k] float32, y m * n float32

Weights and activations are anything with the buffer protocol (array.array, ctypes arrays, NumPy) or
with DLPack on the CPU (torch). NumPy is not needed. Which kernels run is decided by the machine;
the environment variable AXLE_RUNTIME_KERNEL, or `kernel=`, forces one set or raises UnsupportedKernel.
"""

from ._layer import Linear, bench, info, kernels, selftest
from ._library import UnsupportedKernel, version

__all__ = ["Linear", "UnsupportedKernel", "bench", "info", "kernels", "selftest"]
__version__ = version()
