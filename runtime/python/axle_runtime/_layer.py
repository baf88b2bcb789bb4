"""A quantised linear layer, and the functions that make and use one."""

from __future__ import annotations

import array
import contextlib
import ctypes
import sys
import weakref
from typing import Any, Dict, Optional, Sequence, Tuple

from . import _dlpack, _library, _structs
from ._array import Array
from ._buffers import Elements
from ._library import (
    BFLOAT16,
    FLOAT8,
    FLOAT16,
    FLOAT32,
    INT8,
    MODES,
    SCALINGS,
    UnsupportedDevice,
    UnsupportedKernel,
    call,
    library,
)
from ._structs import new


def number_of(what: str, names: Dict[str, int], name: str) -> int:
    if name not in names:
        raise ValueError("{} must be {}, not {!r}".format(what, " or ".join(sorted(names)), name))
    return names[name]


def _scale_count(mode: str, n: int, k: int, group: int, scaling: str) -> Tuple[int, int]:
    """How many scales, and how many factors, [n][k] weights have."""
    if mode not in ("a16w4", "da8w4"):
        return n, 0
    if scaling == "two_level":
        return n, n * -(-k // 32)
    return n * -(-k // (group or 128)), 0


def _layer_shape(
    weight: Elements, scale: Optional[Elements], shape: Optional[Sequence[int]]
) -> Tuple[int, int]:
    """(n, k) of the weights: their own shape, else `shape`, else n from the number of scales."""
    if shape is not None:
        n, k = (int(length) for length in shape)
    elif len(weight.shape) == 2:
        n, k = weight.shape
    elif len(weight.shape) == 1 and scale is not None and scale.count > 0:
        n = scale.count
        k = weight.count // n
    else:
        raise ValueError(
            "weight has shape {}; it must be [n][k], or pass shape=(n, k)".format(weight.shape)
        )
    if n < 1 or k < 1 or n * k != weight.count:
        raise ValueError(
            "weight has {} elements, which are not {} x {}".format(weight.count, n, k)
        )
    return n, k


def _check_channels(name: str, values: Optional[Elements], n: int) -> None:
    if values is not None and values.count != n:
        raise ValueError(
            "{} has {} elements; it must have one for each of the {} output features".format(
                name, values.count, n
            )
        )


def _check_groups(name: str, values: Optional[Elements], count: int, n: int) -> None:
    if values is not None and values.count != count:
        raise ValueError(
            "{} has {} elements; it must have {} for each of the {} output features".format(
                name, values.count, count // n, n
            )
        )


class Linear:
    """y = x W^T, one float scale an output feature, and a bias where given.

    weight: [n][k] int8 with `scale` [n] float32, or [n][k] float32, float16 or bfloat16, which is
    quantised here (symmetrically, by output feature). A flat buffer needs shape=(n, k), unless `scale` tells n.
    mode: "da8w8" quantises each row of x to int8, "a16w8" to 16 bits (weight-only int8). "da8w4" and
    "a16w4" are the same with int4 weights, one int8 in [-8, 7] each, and `scale` [n][k / group
    rounded up], which is kept as bfloat16. "a16f8" has float8 weights (e4m3, as uint8 or by DLPack)
    and leaves x alone.
    group: weights that share a scale, 32, 64 or 128 (0: 128). scaling: how the scales of int4 weights
    are made of float32 ones, "searched", "absmax" or "mse"; or "two_level", for groups of 32 with
    `scale` [n] and `factor` [n][k / 32 rounded up] uint8, 1 to 15.
    device: "cuda" or another name of `devices()`: the weights lie there, and y is computed there, with the
    same bytes. x and `out` may then be tensors of that GPU, by DLPack, as well.
    A row of x that holds a NaN or an infinity gives a row of NaN.
    """

    def __init__(
        self,
        weight: Any,
        scale: Any = None,
        bias: Any = None,
        mode: str = "da8w8",
        shape: Optional[Sequence[int]] = None,
        kernel: Optional[str] = None,
        threads: int = 0,
        group: int = 0,
        scaling: str = "searched",
        factor: Any = None,
        device: Optional[str] = None,
    ) -> None:
        number = number_of("mode", MODES, mode)
        scaling_number = number_of("scaling", SCALINGS, scaling)
        self._runtime = _library.runtime(kernel, threads)
        with contextlib.ExitStack() as opened:

            def take(source: Any, name: str, *types: int) -> Elements:
                return opened.enter_context(Elements(source, name, types))

            packed_type = FLOAT8 if mode == "a16f8" else INT8
            weights = take(weight, "weight", packed_type, FLOAT32, FLOAT16, BFLOAT16)
            weights.to_float32()
            scales = take(scale, "scale", FLOAT32) if scale is not None else None
            biases = take(bias, "bias", FLOAT32, FLOAT16, BFLOAT16) if bias is not None else None
            factors = take(factor, "factor", FLOAT8) if factor is not None else None
            if biases is not None:
                biases.to_float32()
            n, k = _layer_shape(weights, scales, shape)
            scale_count, factor_count = _scale_count(mode, n, k, group, scaling)
            if scale_count == n:
                _check_channels("scale", scales, n)
            _check_groups("scale", scales, scale_count, n)
            _check_groups("factor", factors, factor_count, n)
            _check_channels("bias", biases, n)
            options = new(
                _structs.LinearOptions,
                mode=number,
                weight_type=weights.type,
                n=n,
                k=k,
                weights=weights.address,
                scales=scales.address if scales is not None else None,
                bias=biases.address if biases is not None else None,
                group=group,
                scaling=scaling_number,
                factors=factors.address if factors is not None else None,
                device=(device or "cpu").encode(),
            )
            handle = ctypes.c_void_p()
            call(
                library.axle_linear_create,
                self._runtime,
                ctypes.byref(options),
                ctypes.byref(handle),
                unsupported=UnsupportedDevice if device else UnsupportedKernel,
            )
        self._handle = handle
        self._finalizer = weakref.finalize(self, library.axle_linear_destroy, handle)
        self.out_features = n
        self.in_features = k
        self.mode = mode
        self.device = device or "cpu"
        self._place = _dlpack.place_of(self.device)

    def kernel(self, rows: int = 1) -> str:
        """The kernel set that runs for x of that many rows, a table of `variant model tune` counted in; of a
        device, its kernel."""
        if rows < 0:
            raise ValueError("rows is {}; it must be 0 or more".format(rows))
        name = library.axle_linear_kernel(self._handle, rows)
        return str(name.decode())

    def forward(self, x: Any, out: Any = None) -> Any:
        """y[m][n] for x [m][k] (or flat, m * k elements): float32, float16, or bfloat16 by DLPack.

        Returns a flat array.array("f") of m * n elements, or `out` filled: any writable float32
        buffer of as many, or a tensor with DLPack. `linear` gives results of x's own shape and kind.
        """
        with Elements(x, "x", (FLOAT32, FLOAT16, BFLOAT16), place=self._place) as source:
            rows = self._rows(source)
            result = out if out is not None else _zeros(rows * self.out_features)
            self._run(source, rows, result)
        return result

    __call__ = forward

    def _run(self, x: Elements, rows: int, out: Any) -> None:
        with Elements(out, "out", (FLOAT32,), True, self._place) as target:
            if target.count != rows * self.out_features:
                raise ValueError(
                    "out has {} elements; y has {} x {}".format(
                        target.count, rows, self.out_features
                    )
                )
            call(
                library.axle_linear_forward,
                self._handle,
                x.type,
                x.address,
                rows,
                target.address,
            )

    def _rows(self, x: Elements) -> int:
        wanted = x.shape[-1] if len(x.shape) > 1 else self.in_features
        if wanted != self.in_features or x.count % self.in_features != 0:
            raise ValueError(
                "x has shape {}; its rows must have {} elements".format(
                    tuple(x.shape), self.in_features
                )
            )
        return x.count // self.in_features

    def __deepcopy__(self, _: Any) -> Linear:
        return self  # nothing of it ever changes

    def __reduce__(self) -> Any:
        raise TypeError("packed weights are not pickled: keep the weights, and pack them again")

    def __repr__(self) -> str:
        return "axle_runtime.Linear({} -> {}, {}, {}{})".format(
            self.in_features,
            self.out_features,
            self.mode,
            self.kernel(),
            "" if self.device == "cpu" else ", " + self.device,
        )


def quantize(
    weight: Any,
    bias: Any = None,
    mode: str = "a16w8",
    group: int = 0,
    scaling: str = "searched",
    kernel: Optional[str] = None,
    threads: int = 0,
    device: Optional[str] = None,
) -> Linear:
    """The layer of float weights [n][k] (float32, float16 or bfloat16), quantised and packed; for
    `linear`. The arguments are those of Linear."""
    return Linear(
        weight,
        bias=bias,
        mode=mode,
        group=group,
        scaling=scaling,
        kernel=kernel,
        threads=threads,
        device=device,
    )


def linear(x: Any, packed: Linear) -> Any:
    """y [...][n] in float32 for x [...][k] of float32, float16 or bfloat16: a NumPy array if x is
    one, else an Array, which has DLPack; both in the CPU's memory."""
    with Elements(x, "x", (FLOAT32, FLOAT16, BFLOAT16), place=packed._place) as source:
        if not source.shape or source.shape[-1] != packed.in_features:
            raise ValueError(
                "x has shape {}; its rows must have {} elements".format(
                    source.shape, packed.in_features
                )
            )
        shape = source.shape[:-1] + (packed.out_features,)
        numpy = sys.modules.get("numpy")
        if numpy is not None and isinstance(x, numpy.ndarray):
            y = numpy.empty(shape, numpy.float32)
            packed._run(source, source.count // packed.in_features, y)
        else:
            y = Array(shape)
            packed._run(source, source.count // packed.in_features, y.elements)
    return y


def _zeros(count: int) -> array.array[float]:
    return array.array("f", bytes(4 * count))
