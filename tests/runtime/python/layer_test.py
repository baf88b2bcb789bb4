"""The Python package, with nothing but the standard library (and NumPy where it happens to be)."""

import array
import copy
import ctypes
import math
import os
import pickle
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import axle_runtime
from capsule import Capsule

N, K = 21, 70
KERNELS = [row["name"] for row in axle_runtime.kernels() if row["usable"]]


class Case:
    def __init__(self, rows, seed=1):
        numbers = random.Random(seed)
        self.rows = rows
        self.weight = array.array("b", (numbers.randint(-128, 127) for _ in range(N * K)))
        self.scale = array.array("f", (numbers.uniform(0.01, 0.02) for _ in range(N)))
        self.bias = array.array("f", (numbers.uniform(-1, 1) for _ in range(N)))
        self.x = array.array("f", (numbers.gauss(0, 1) for _ in range(rows * K)))

    def expected(self, i, j):
        total = math.fsum(self.x[i * K + k] * self.weight[j * K + k] for k in range(K))
        return total * self.scale[j] + self.bias[j]

    def error(self, y):
        difference = size = 0.0
        for i in range(self.rows):
            for j in range(N):
                right = self.expected(i, j)
                difference += (y[i * N + j] - right) ** 2
                size += right**2
        return math.sqrt(difference / size)


class LinearTest(unittest.TestCase):
    def layer(self, case, **options):
        return axle_runtime.Linear(case.weight, case.scale, case.bias, **options)

    def test_both_modes_are_near_the_float_layer_with_every_kernel(self):
        for rows in (1, 5, 17):
            case = Case(rows, seed=rows)
            for mode, bound in (("da8w8", 2e-2), ("a16w8", 1e-4)):
                results = []
                for kernel in KERNELS:
                    y = self.layer(case, mode=mode, kernel=kernel)(case.x)
                    self.assertIsInstance(y, array.array)
                    self.assertLess(case.error(y), bound, (mode, kernel, rows))
                    results.append(bytes(y))
                self.assertEqual(len(set(results)), 1, "kernels differ")

    def test_buffers_of_every_kind_give_the_same_bytes(self):
        case = Case(3)
        right = self.layer(case)(case.x)
        flat_weight = (ctypes.c_int8 * (N * K))(*case.weight)
        rows_weight = ((ctypes.c_int8 * K) * N).from_buffer(case.weight)
        view = memoryview(bytes(case.weight)).cast("b", shape=[N, K])
        for weight in (flat_weight, rows_weight, view, memoryview(case.weight)):
            layer = axle_runtime.Linear(weight, case.scale, case.bias)
            for x in (
                (ctypes.c_float * (3 * K))(*case.x),
                memoryview(bytes(case.x)).cast("f", shape=[3, K]),
                memoryview(case.x).toreadonly(),
            ):
                self.assertEqual(layer(x), right)

    def test_float_weights_are_quantised(self):
        case = Case(4)
        weight = array.array("f", (w * case.scale[i // K] for i, w in enumerate(case.weight)))
        layer = axle_runtime.Linear(weight, bias=case.bias, mode="a16w8", shape=(N, K))
        self.assertEqual((layer.out_features, layer.in_features), (N, K))
        self.assertLess(case.error(layer(case.x)), 1e-2)

    def test_int4_and_float8_weights_with_every_kernel(self):
        case = Case(5)
        floats = array.array("f", (w * case.scale[i // K] for i, w in enumerate(case.weight)))
        exact = Case(5)
        for mode, options, bound in (
            ("a16w4", {"group": 32}, 0.1),
            ("a16w4", {"group": 64, "scaling": "absmax"}, 0.15),
            ("da8w4", {"scaling": "mse"}, 0.15),
            ("da8w4", {"group": 32, "scaling": "two_level"}, 0.15),
            ("a16f8", {}, 0.05),
        ):
            results = []
            for kernel in KERNELS:
                layer = axle_runtime.Linear(
                    floats, bias=case.bias, mode=mode, shape=(N, K), kernel=kernel, **options
                )
                y = layer(case.x)
                self.assertLess(exact.error(y), bound, (mode, options, kernel))
                results.append(bytes(y))
            self.assertEqual(len(set(results)), 1, "kernels differ")

    def test_given_int4_weights_and_their_scales(self):
        case = Case(2)
        groups = -(-K // 32)
        weight = array.array("b", (w >> 4 for w in case.weight))
        scale = array.array("f", (2.0 ** -(4 + (i % 3)) for i in range(N * groups)))
        factor = array.array("B", (1 + i % 15 for i in range(N * groups)))
        channel = array.array("f", (0.01 for _ in range(N)))

        def expected(scale_of):
            return [
                math.fsum(
                    case.x[i * K + k] * weight[j * K + k] * scale_of(j, k) for k in range(K)
                )
                for i in range(2)
                for j in range(N)
            ]

        layer = axle_runtime.Linear(weight, scale, mode="a16w4", shape=(N, K), group=32)
        for got, right in zip(layer(case.x), expected(lambda j, k: scale[j * groups + k // 32])):
            self.assertAlmostEqual(got, right, delta=2e-3)
        two = {"mode": "a16w4", "shape": (N, K), "scaling": "two_level"}
        layer = axle_runtime.Linear(weight, channel, factor=factor, **two)
        for got, right in zip(
            layer(case.x), expected(lambda j, k: channel[j] * factor[j * groups + k // 32])
        ):
            self.assertAlmostEqual(got, right, delta=2e-3)
        with self.assertRaisesRegex(ValueError, "factor has 1 elements; it must have 3 for each"):
            axle_runtime.Linear(weight, channel, factor=bytes([1]), **two)
        with self.assertRaisesRegex(ValueError, "scale has 21 elements; it must have 3 for each"):
            axle_runtime.Linear(weight, channel, mode="a16w4", shape=(N, K), group=32)
        with self.assertRaisesRegex(ValueError, "output channel 0 is not in \\[-8, 7\\]"):
            axle_runtime.Linear(case.weight, scale, mode="a16w4", shape=(N, K), group=32)
        with self.assertRaisesRegex(ValueError, "group is 48; it must be 32, 64 or 128"):
            axle_runtime.Linear(
                array.array("f", weight), mode="da8w4", shape=(N, K), group=48
            )
        with self.assertRaisesRegex(ValueError, "scaling must be absmax or mse .* not 'best'"):
            axle_runtime.Linear(case.weight, case.scale, scaling="best")

    def test_float16_rows(self):
        case = Case(1)
        try:
            halves = array.array("e", case.x)
        except ValueError:
            halves = memoryview(bytearray(b"\x00\x3c" * K)).cast("B")
            halves = (ctypes.c_uint16 * K).from_buffer(halves)
            with self.assertRaisesRegex(TypeError, "x must hold float32 or float16 or bfloat16"):
                self.layer(case)(halves)
            return
        self.assertLess(case.error(self.layer(case, mode="a16w8")(halves)), 1e-2)

    def test_out_is_filled_and_returned(self):
        case = Case(2)
        layer = self.layer(case)
        right = layer(case.x)
        out = (ctypes.c_float * (2 * N))()
        self.assertIs(layer.forward(case.x, out=out), out)
        self.assertEqual(list(out), list(right))
        with self.assertRaisesRegex(ValueError, "out has 3 elements; y has 2 x 21"):
            layer(case.x, out=array.array("f", [0, 0, 0]))
        with self.assertRaisesRegex(TypeError, "out must be a writable buffer"):
            layer(case.x, out=bytes(8 * N))
        with self.assertRaisesRegex(TypeError, "out must hold float32, not float64"):
            layer(case.x, out=array.array("d", [0] * (2 * N)))

    def test_wrong_shapes_and_types_say_what_is_wrong(self):
        case = Case(2)
        layer = self.layer(case)
        for x, kind, message in (
            (array.array("f", [0] * (K + 1)), ValueError, r"x has shape \(71,\); .* 70 elements"),
            (memoryview(bytes(8 * K)).cast("f", shape=[K, 2]), ValueError, r"shape \(70, 2\)"),
            (array.array("d", [0] * K), TypeError, "x must hold .*, not float64"),
            (array.array("f", [0] * (2 * K))[:0], None, None),
            ([1.0] * K, TypeError, "x must be a buffer or have __dlpack__, not list"),
        ):
            if kind is None:
                self.assertEqual(len(layer(x)), 0)
                continue
            with self.assertRaisesRegex(kind, message):
                layer(x)
        for arguments, kind, message in (
            ({"weight": case.weight}, ValueError, "weight has shape .* or pass shape"),
            ({"weight": case.weight, "shape": (N, K)}, ValueError, "int8 weights need scales"),
            (
                {"weight": case.weight, "scale": case.scale, "shape": (N, K + 1)},
                ValueError,
                "weight has 1470 elements, which are not 21 x 71",
            ),
            (
                {"weight": case.weight, "scale": case.scale[:20], "shape": (N, K)},
                ValueError,
                "scale has 20 elements; it must have one for each of the 21",
            ),
            (
                {"weight": case.weight, "scale": case.scale, "bias": case.bias[1:]},
                ValueError,
                "bias has 20 elements",
            ),
            ({"weight": bytes(N * K), "scale": case.scale}, TypeError, "weight .* not uint8"),
            (
                {"weight": case.weight, "scale": case.scale, "mode": "int4"},
                ValueError,
                "mode must be a16f8 or a16w4 or a16w8 or da8w4 or da8w8, not 'int4'",
            ),
            (
                {"weight": case.weight, "scale": array.array("f", [math.inf] * N)},
                ValueError,
                "a scale is not finite",
            ),
        ):
            with self.assertRaisesRegex(kind, message):
                axle_runtime.Linear(**arguments)

    def test_nothing_holds_the_buffers_afterwards(self):
        case = Case(1)
        layer = self.layer(case)
        layer(case.x)
        with self.assertRaises(ValueError):
            layer(array.array("f", [0]))
        for one in (case.weight, case.scale, case.bias, case.x):
            one.append(1)  # BufferError while a buffer is held

    def test_many_threads_may_use_one_layer(self):
        case = Case(8)
        layer = self.layer(case, threads=2)
        right = layer(case.x)
        wrong = []

        def work():
            for _ in range(30):
                if layer(case.x) != right:
                    wrong.append(1)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_a_forked_child_goes_on(self):
        case = Case(8)
        layer = self.layer(case, threads=2)
        right = layer(case.x)
        child = os.fork()
        if child == 0:
            os._exit(0 if layer(case.x) == right else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)

    def test_a_strided_view_is_read_in_its_order(self):
        case = Case(1)
        doubled = array.array("f", (value for value in case.x for _ in range(2)))
        self.assertEqual(self.layer(case)(memoryview(doubled)[::2]), self.layer(case)(case.x))

    def test_quantize_and_linear_keep_the_leading_dimensions(self):
        case = Case(6)
        weight = array.array("f", (w * case.scale[i // K] for i, w in enumerate(case.weight)))
        packed = axle_runtime.quantize(memoryview(bytes(weight)).cast("f", shape=[N, K]), case.bias)
        self.assertEqual(packed.mode, "a16w8")
        right = packed(case.x).tolist()
        for shape in ([6, K], [2, 3, K], [1, 6, 1, K]):
            y = axle_runtime.linear(memoryview(bytes(case.x)).cast("f", shape=shape), packed)
            self.assertIsInstance(y, axle_runtime.Array)
            self.assertEqual(y.shape, (*shape[:-1], N))
            self.assertEqual(list(y.elements), right)
        y = axle_runtime.linear(memoryview(case.x)[:K], packed)
        self.assertEqual((y.shape, y.tolist()), ((N,), right[:N]))
        with self.assertRaisesRegex(ValueError, "x has shape .420,.; its rows must have 70 elements"):
            axle_runtime.linear(case.x, packed)

    def test_half_precision_weights_are_the_floats_that_they_stand_for(self):
        numbers = random.Random(5)
        halves = array.array("H", (numbers.choice((0, 0x8000)) | numbers.randint(0x2000, 0x3C00) for _ in range(N * K)))
        floats = array.array("f", struct.unpack("{}e".format(N * K), halves.tobytes()))
        x = Case(2).x
        right = axle_runtime.quantize(memoryview(bytes(floats)).cast("f", shape=[N, K]))(x)
        self.assertEqual(axle_runtime.quantize(Capsule(halves, (N, K), 2, 16))(x), right)

    def test_a_layer_is_copied_by_reference_and_not_pickled(self):
        layer = self.layer(Case(1))
        self.assertIs(copy.deepcopy(layer), layer)
        with self.assertRaisesRegex(TypeError, "packed weights are not pickled"):
            pickle.dumps(layer)

    def test_numpy_arrays(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("this interpreter has no NumPy")
        case = Case(3)
        weight = numpy.array(case.weight, numpy.int8).reshape(N, K)
        x = numpy.array(case.x, numpy.float32).reshape(3, K)
        layer = axle_runtime.Linear(weight, numpy.array(case.scale), numpy.array(case.bias))
        y = layer(x, out=numpy.empty((3, N), numpy.float32))
        self.assertEqual(array.array("f", y.tobytes()), self.layer(case)(case.x))
        for other in (numpy.asfortranarray(x), numpy.repeat(x, 2, axis=1)[:, ::2], x[::-1][::-1]):
            self.assertEqual(layer(other), self.layer(case)(case.x))
        unaligned = numpy.frombuffer(b"." + x.tobytes(), numpy.uint8)[1:].view(numpy.float32)
        self.assertEqual(layer(unaligned), self.layer(case)(case.x))
        for out in (numpy.empty((N, 3), numpy.float32).T, numpy.empty((3, 2 * N), numpy.float32)[:, ::2]):
            with self.assertRaisesRegex(ValueError, "out is not contiguous in C order"):
                layer(x, out=out)
        layer(x.astype(numpy.float16))


class LibraryTest(unittest.TestCase):
    def test_the_environment_forces_a_kernel_and_the_force_holds(self):
        case = Case(16)
        for kernel in KERNELS:
            os.environ["AXLE_RUNTIME_KERNEL"] = kernel
            try:
                self.assertEqual(axle_runtime.info()["kernel"], kernel)
                self.assertEqual(axle_runtime.info()["forced"], "yes")
                layer = axle_runtime.Linear(case.weight, case.scale)
                self.assertEqual({layer.kernel(rows) for rows in (1, 4, 16)}, {kernel})
                figures = axle_runtime.bench(n=64, k=64, weight_bytes=8192, seconds=0.001)
                self.assertEqual(figures["kernel"], kernel)
                self.assertGreater(figures["gigabytes_per_second"], 0)
            finally:
                del os.environ["AXLE_RUNTIME_KERNEL"]
        self.assertEqual(axle_runtime.info()["forced"], "no")

    def test_a_benchmark_of_infinite_time_and_negative_rows_are_errors(self):
        for seconds in (float("inf"), float("nan"), -1.0):
            with self.assertRaisesRegex(ValueError, "seconds is .*; it must be 0"):
                axle_runtime.bench(n=64, k=64, weight_bytes=8192, seconds=seconds)
        case = Case(1)
        layer = axle_runtime.Linear(case.weight, case.scale)
        with self.assertRaisesRegex(ValueError, "rows is -1"):
            layer.kernel(-1)

    def test_a_kernel_that_cannot_be_had_is_an_error(self):
        with self.assertRaisesRegex(ValueError, "no kernel set named 'abacus'"):
            axle_runtime.info(kernel="abacus")
        for row in axle_runtime.kernels():
            if not row["usable"]:
                with self.assertRaises(axle_runtime.UnsupportedKernel):
                    axle_runtime.info(kernel=row["name"])

    def test_the_table_ends_with_what_runs_everywhere(self):
        last = axle_runtime.kernels()[-1]
        self.assertEqual(last, {"name": "baseline", "built": True, "usable": True, "missing": []})

    def test_selftest_and_info(self):
        axle_runtime.selftest()
        facts = axle_runtime.info(threads=2)
        self.assertEqual(facts["threads"], "2")
        self.assertEqual(facts["version"], axle_runtime.__version__)
        self.assertEqual(facts["kernels"].split(), KERNELS)

    def test_a_table_of_choices_beside_the_library_is_taken_or_warned_of(self):
        with tempfile.TemporaryDirectory() as folder:
            package = shutil.copytree(os.path.dirname(axle_runtime.__file__), os.path.join(folder, "axle_runtime"))
            table = os.path.join(package, "axle_runtime_tuning.json")
            code = "import axle_runtime; print(axle_runtime.info()['tuned_shapes'])"
            for content, warned in (("{", True), (None, False)):
                with open(table, "w") as file:
                    file.write(content or "")
                if content is None:
                    os.remove(table)
                done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": folder}, capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stdout), (0, "0\n"), done.stderr)
                self.assertEqual("what was measured of layers is not used" in done.stderr, warned, done.stderr)

    def test_numpy_is_not_imported(self):
        code = "import sys, axle_runtime; sys.exit('numpy' in sys.modules)"
        self.assertEqual(subprocess.run([sys.executable, "-c", code]).returncode, 0)


if __name__ == "__main__":
    unittest.main()
