"""What the package offers: a layer, and questions about the library and the machine."""

import array
import contextlib
import ctypes
import weakref

from . import _library
from ._buffers import Elements
from ._library import BFLOAT16, FLOAT8, FLOAT16, FLOAT32, INT8, MODES, SCALINGS, call, library, new


def _number(what, names, name):
    if name not in names:
        raise ValueError("{} must be {}, not {!r}".format(what, " or ".join(sorted(names)), name))
    return names[name]


def _mode_number(mode):
    return _number("mode", MODES, mode)


def _scaling_number(scaling):
    return _number("scaling", SCALINGS, scaling)


def _scale_count(mode, n, k, group, scaling):
    """How many scales, and how many factors, [n][k] weights have."""
    if mode not in ("a16w4", "da8w4"):
        return n, 0
    if scaling == "two_level":
        return n, n * -(-k // 32)
    return n * -(-k // (group or 128)), 0


def _layer_shape(weight, scale, shape):
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


def _check_channels(name, values, n):
    if values is not None and values.count != n:
        raise ValueError(
            "{} has {} elements; it must have one for each of the {} output features".format(
                name, values.count, n
            )
        )


def _check_groups(name, values, count, n):
    if values is not None and values.count != count:
        raise ValueError(
            "{} has {} elements; it must have {} for each of the {} output features".format(
                name, values.count, count // n, n
            )
        )


class Linear:
    """y = x W^T, one float scale an output feature, and a bias where given.

    weight: [n][k] int8 with `scale` [n] float32, or [n][k] float32, which is quantised here
    (symmetrically, by output feature). A flat buffer needs shape=(n, k), unless `scale` tells n.
    mode: "da8w8" quantises each row of x to int8, "a16w8" to 16 bits (weight-only int8). "da8w4" and
    "a16w4" are the same with int4 weights, one int8 in [-8, 7] each, and `scale` [n][k / group
    rounded up], which is kept as bfloat16. "a16f8" has float8 weights (e4m3, as uint8 or by DLPack)
    and leaves x alone.
    group: weights that share a scale, 32, 64 or 128 (0: 128). scaling: how the scales of int4 weights
    are made of float32 ones, "searched", "absmax" or "mse"; or "two_level", for groups of 32 with
    `scale` [n] and `factor` [n][k / 32 rounded up] uint8, 1 to 15.
    A row of x that holds a NaN or an infinity gives a row of NaN.
    """

    def __init__(
        self,
        weight,
        scale=None,
        bias=None,
        mode="da8w8",
        shape=None,
        kernel=None,
        threads=0,
        group=0,
        scaling="searched",
        factor=None,
    ):
        number = _mode_number(mode)
        scaling_number = _scaling_number(scaling)
        self._runtime = _library.runtime(kernel, threads)
        with contextlib.ExitStack() as opened:
            take = lambda *arguments: opened.enter_context(Elements(*arguments))
            weights = take(weight, "weight", (FLOAT8 if mode == "a16f8" else INT8, FLOAT32))
            scales = take(scale, "scale", (FLOAT32,)) if scale is not None else None
            biases = take(bias, "bias", (FLOAT32,)) if bias is not None else None
            factors = take(factor, "factor", (FLOAT8,)) if factor is not None else None
            n, k = _layer_shape(weights, scales, shape)
            scale_count, factor_count = _scale_count(mode, n, k, group, scaling)
            if scale_count == n:
                _check_channels("scale", scales, n)
            _check_groups("scale", scales, scale_count, n)
            _check_groups("factor", factors, factor_count, n)
            _check_channels("bias", biases, n)
            options = new(
                _library.LinearOptions,
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
            )
            handle = ctypes.c_void_p()
            call(
                library.axle_linear_create,
                self._runtime,
                ctypes.byref(options),
                ctypes.byref(handle),
            )
        self._handle = handle
        self._finalizer = weakref.finalize(self, library.axle_linear_destroy, handle)
        self.out_features = n
        self.in_features = k
        self.mode = mode

    def kernel(self, rows=1):
        """The kernel set that runs for x of that many rows."""
        return library.axle_runtime_kernel(self._runtime, MODES[self.mode], rows).decode()

    def forward(self, x, out=None):
        """y[m][n] for x [m][k] (or flat, m * k elements): float32, float16, or bfloat16 by DLPack.

        Returns a flat array.array("f") of m * n elements, or `out` filled: any writable float32
        buffer of as many, a NumPy array for instance.
        """
        with contextlib.ExitStack() as opened:
            source = opened.enter_context(Elements(x, "x", (FLOAT32, FLOAT16, BFLOAT16)))
            rows = self._rows(source)
            result = out if out is not None else _zeros(rows * self.out_features)
            target = opened.enter_context(Elements(result, "out", (FLOAT32,), True))
            if target.count != rows * self.out_features:
                raise ValueError(
                    "out has {} elements; y has {} x {}".format(
                        target.count, rows, self.out_features
                    )
                )
            call(
                library.axle_linear_forward,
                self._handle,
                source.type,
                source.address,
                rows,
                target.address,
            )
        return result

    __call__ = forward

    def _rows(self, x):
        wanted = x.shape[-1] if len(x.shape) > 1 else self.in_features
        if wanted != self.in_features or x.count % self.in_features != 0:
            raise ValueError(
                "x has shape {}; its rows must have {} elements".format(
                    tuple(x.shape), self.in_features
                )
            )
        return x.count // self.in_features

    def __repr__(self):
        return "axle_runtime.Linear({} -> {}, {}, {})".format(
            self.in_features, self.out_features, self.mode, self.kernel()
        )


def _zeros(count):
    return array.array("f", bytes(4 * count))


def info(kernel=None, threads=0):
    """Facts about the library as it runs here: version, kernel, kernels, forced, threads."""
    runtime = _library.runtime(kernel, threads)
    facts = {}
    key = ctypes.c_char_p()
    value = ctypes.create_string_buffer(256)
    index = 0
    while (
        library.axle_runtime_info(runtime, index, ctypes.byref(key), value, len(value))
        == _library.OK
    ):
        facts[key.value.decode()] = value.value.decode()
        index += 1
    return facts


def kernels():
    """The kernel sets, best first: name, whether this build has them, whether this machine can run
    them, and which capabilities it lacks."""
    table = []
    for index in range(library.axle_kernel_count()):
        row = new(_library.KernelInfo)
        library.axle_kernel_at(index, ctypes.byref(row))
        table.append(
            {
                "name": row.name.decode(),
                "built": bool(row.built),
                "usable": bool(row.usable),
                "missing": row.missing.decode().split(),
            }
        )
    return table


def selftest(kernel=None, threads=0):
    """Runs every usable kernel set against plain sums; raises RuntimeError when one is wrong."""
    call(library.axle_runtime_selftest, _library.runtime(kernel, threads))


def bench(
    m=1,
    n=4096,
    k=4096,
    mode="da8w8",
    kernel=None,
    threads=0,
    weight_bytes=256 << 20,
    seconds=0.5,
    group=0,
    scaling="searched",
):
    """Times one layer on weights that no cache holds: kernel, microseconds (best of all passes),
    gigabytes_per_second (of weights), gigaops_per_second, and read_gigabytes_per_second of plain
    reads in the same run."""
    runtime = _library.runtime(kernel, threads)
    options = new(
        _library.BenchOptions,
        mode=_mode_number(mode),
        m=m,
        n=n,
        k=k,
        weight_bytes=weight_bytes,
        seconds=seconds,
        group=group,
        scaling=_scaling_number(scaling),
    )
    result = new(_library.BenchResult)
    call(library.axle_runtime_bench, runtime, ctypes.byref(options), ctypes.byref(result))
    figures = {"kernel": library.axle_runtime_kernel(runtime, options.mode, m).decode()}
    for name, _ in _library.BenchResult._fields_[1:]:
        figures[name] = getattr(result, name)
    return figures
