"""A quantised linear layer, checked against a float64 reference and timed. Needs the standard library only.

usage: linear_layer.py [--seconds-of-other-variant DECODE BATCH]

Prints, for one row (a token being decoded) and for 64 rows (a prompt), the error against the reference and the
time; given the times of another variant, the ratio. The last line has the times alone, for such a comparison.
"""

import array
import random
import sys
import time

import axle_runtime

N, K = 2048, 2048
CHECKED = 64  # output features that the reference computes: all of them would take Python minutes


def random_floats(count, seed):
    source = random.Random(seed)
    return array.array("f", (source.uniform(-1, 1) for _ in range(count)))


def quantised(weight):
    """Symmetric int8 with one scale an output feature."""
    values, scales = array.array("b"), array.array("f")
    for row in range(N):
        of_row = weight[row * K : (row + 1) * K]
        scale = max(abs(one) for one in of_row) / 127
        scales.append(scale)
        values.extend(round(one / scale) for one in of_row)
    return values, scales


def relative_error(weight, scales, x, y):
    """The largest difference from the float64 sums, by the largest sum."""
    worst = largest = 0.0
    for feature in range(CHECKED):
        exact = scales[feature] * sum(w * v for w, v in zip(weight[feature * K : (feature + 1) * K], x))
        largest = max(largest, abs(exact))
        worst = max(worst, abs(exact - y[feature]))
    return worst / largest


def seconds(layer, x, y):
    """The median of many passes."""
    times = []
    end = time.perf_counter() + 0.5
    while time.perf_counter() < end or len(times) < 5:
        start = time.perf_counter()
        layer.forward(x, out=y)
        times.append(time.perf_counter() - start)
    return sorted(times)[len(times) // 2]


def main():
    other = [float(one) for one in sys.argv[2:4]]
    weight, scales = quantised(random_floats(N * K, 1))
    measured = []
    for mode, bound in (("a16w8", 1e-3), ("da8w8", 3e-2)):
        layer = axle_runtime.Linear(weight, scales, mode=mode)
        x = random_floats(K, 2)
        error = relative_error(weight, scales, x, layer(x))
        print(f"{mode}: {N} x {K}, error against float64 {error:.1e} (bound {bound:.0e})")
        if not error < bound:
            sys.exit(f"{mode}: the error is above its bound")
    for rows in (1, 64):
        x = random_floats(rows * K, 3)
        took = seconds(layer, x, array.array("f", bytes(4 * rows * N)))
        measured.append(took)
        line = f"da8w8: {rows:2} rows in {took * 1e6:8.0f} us by the kernel {layer.kernel(rows)}"
        if other:
            line += f", {other[len(measured) - 1] / took:.1f} times as fast as the null variant"
        print(line)
    print("seconds", *measured)


main()
