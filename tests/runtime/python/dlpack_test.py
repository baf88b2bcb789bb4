"""DLPack in and out: capsules of other packages, sound and hostile ones, and ours."""

import array
import ctypes
import gc
import os
import random
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import axle_runtime
from axle_runtime import _dlpack
from capsule import Capsule

N, K, ROWS = 21, 70, 3
READ_ONLY = 1


def numbers_of(count, seed):
    source = random.Random(seed)
    return array.array("f", (source.uniform(-1, 1) for _ in range(count)))


WEIGHT, X = numbers_of(N * K, 1), numbers_of(ROWS * K, 2)


def layer():
    return axle_runtime.Linear(WEIGHT, mode="a16w8", shape=(N, K))


class Elsewhere(Capsule):
    """On another device than it told at first."""

    def __init__(self, *arguments, **fields):
        super().__init__(*arguments, **fields)
        self.told_device = (1, 0)


class ReadTest(unittest.TestCase):
    def test_tensors_are_read_in_place_of_both_kinds(self):
        right = layer()(X)
        for versioned in (False, True):
            weight = Capsule(WEIGHT, (N, K), versioned=versioned, flags=READ_ONLY)
            packed = axle_runtime.quantize(weight)
            for x in (
                Capsule(X, (ROWS, K), strides=(K, 1), versioned=versioned),
                Capsule(X, (ROWS, K), versioned=versioned, flags=READ_ONLY),
                Capsule(X, (ROWS, 1, K), strides=(K, 999, 1), versioned=versioned),
            ):
                self.assertEqual(packed(x), right)
                self.assertEqual(x.given, 1)

    def test_strides_and_offsets_say_where_elements_lie(self):
        right = layer()(X)
        columns = array.array("f", (X[i * K + k] for k in range(K) for i in range(ROWS)))
        wide = array.array("f", [9] * (ROWS * 2 * K + 5))
        wide[5::2] = X
        backwards = array.array("f", (v for i in reversed(range(ROWS)) for v in X[i * K : (i + 1) * K]))
        for versioned in (False, True):
            for x in (
                Capsule(columns, (ROWS, K), strides=(1, ROWS), versioned=versioned),
                Capsule(wide, (ROWS, K), strides=(2 * K, 2), offset=20, versioned=versioned),
                Capsule(backwards, (ROWS, K), strides=(-K, 1), offset=(ROWS - 1) * K * 4, versioned=versioned),
            ):
                self.assertEqual(layer()(x), right)
        row = Capsule(X, (4, K), strides=(0, 1))
        self.assertEqual(layer()(row), array.array("f", list(right[:N]) * 4))

    def test_bfloat16_activations_and_weights(self):
        floats = array.array("f", (1.0 if i % 3 else -0.5 for i in range(N * K)))
        halves = array.array("H", (0x3F80 if i % 3 else 0xBF00 for i in range(N * K)))
        packed = axle_runtime.quantize(Capsule(halves, (N, K), 4, 16))
        right = axle_runtime.Linear(floats, mode="a16w8", shape=(N, K))
        self.assertEqual(packed(Capsule(halves, (N, K), 4, 16)), right(floats))

    def test_a_result_may_be_written_into_a_tensor(self):
        right = layer()(X)
        for versioned in (False, True):
            out = array.array("f", [0] * (ROWS * N))
            layer()(X, out=Capsule(out, (ROWS, N), versioned=versioned))
            self.assertEqual(out, right)
        with self.assertRaisesRegex(ValueError, "out is read-only"):
            layer()(X, out=Capsule(out, (ROWS, N), versioned=True, flags=READ_ONLY))
        with self.assertRaisesRegex(ValueError, "out is not contiguous in C order"):
            layer()(X, out=Capsule(out, (ROWS, N), strides=(1, ROWS)))
        with self.assertRaisesRegex(ValueError, "out has 60 elements; y has 3 x 21"):
            layer()(X, out=Capsule(out, (ROWS, N - 1)))

    def test_the_tensor_is_let_go_of_afterwards(self):
        x = Capsule(X, (ROWS, K))
        dropped = []
        destructor = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(lambda _: dropped.append(1))
        make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
            ("PyCapsule_New", ctypes.pythonapi)
        )
        address = ctypes.addressof(x.memory)

        class Watched:
            def __dlpack_device__(self):
                return (1, 0)

            def __dlpack__(self):
                return make(address, b"dltensor", ctypes.cast(destructor, ctypes.c_void_p))

        layer()(Watched())
        self.assertEqual(len(dropped), 1)
        with self.assertRaises(ValueError):
            axle_runtime.linear(Watched(), axle_runtime.Linear(WEIGHT, shape=(K, N)))
        self.assertEqual(len(dropped), 2)


class HostileTest(unittest.TestCase):
    def test_tensors_that_cannot_be_meant_are_refused(self):
        for kind, message, fields in (
            (ValueError, r"x lies on device \(2, 0\); move it to the CPU", {"device": (2, 0)}),
            (TypeError, "x must hold .* not DLPack type code 2 with 64 bits", {"bits": 64}),
            (TypeError, "x must hold .* not int8", {"code": 0, "bits": 8}),
            (ValueError, "x: a DLPack tensor of this form", {"lanes": 4}),
            (ValueError, "x: a DLPack tensor of this form", {"dimensions": 65}),
            (ValueError, "x: a DLPack tensor of this form", {"dimensions": 2**31 + 5}),
            (ValueError, "x: a DLPack tensor without a shape", {"shows_shape": False}),
            (ValueError, "x: a DLPack tensor of shape .* cannot be", {"shape": (-1, K)}),
            (ValueError, "x: a DLPack tensor of shape .* cannot be", {"shape": (2**40, 2**40)}),
            (ValueError, "x: a DLPack tensor of shape .* cannot be", {"offset": 2**63}),
            (ValueError, "x: a DLPack tensor of shape .* cannot be", {"values": None}),
            (ValueError, "x: DLPack strides .* cannot be", {"strides": (2**62, 1)}),
            (ValueError, r"x has shape \(3, 69\)", {"shape": (ROWS, K - 1)}),
        ):
            for versioned in (False, True):
                made = {"values": X, "shape": (ROWS, K), "versioned": versioned, **fields}
                with self.subTest(**fields), self.assertRaisesRegex(kind, message):
                    layer()(Capsule(**made))

    def test_a_capsule_of_another_device_than_was_told(self):
        with self.assertRaisesRegex(ValueError, "lies on device"):
            layer()(Elsewhere(X, (ROWS, K), device=(2, 0)))

    def test_capsules_that_are_none(self):
        for name in (b"something else", b"used_dltensor", b"used_dltensor_versioned"):
            wrong = Capsule(X, (ROWS, K))
            wrong.name = name
            with self.assertRaisesRegex(TypeError, "no DLPack capsule, or a used one"):
                layer()(wrong)

        class NoCapsule(Capsule):
            def __dlpack__(self, **_):
                return 7

        with self.assertRaisesRegex(TypeError, "no DLPack capsule"):
            layer()(NoCapsule(X, (ROWS, K)))

    def test_versions_that_are_not_understood_and_packages_that_refuse(self):
        with self.assertRaisesRegex(BufferError, "x: DLPack 2.0 is not understood, only 1.x"):
            layer()(Capsule(X, (ROWS, K), versioned=True, version=(2, 0)))
        layer()(Capsule(X, (ROWS, K), versioned=True, version=(1, 7)))

        class Refuses(Capsule):
            def __dlpack__(self, **_):
                raise RuntimeError("this tensor requires a gradient")

        with self.assertRaisesRegex(BufferError, "x cannot be read: this tensor requires a gradient"):
            layer()(Refuses(X, (ROWS, K)))


class GiveTest(unittest.TestCase):
    def setUp(self):
        self.array = axle_runtime.linear(Capsule(X, (1, ROWS, K)), layer())
        self.assertEqual(list(self.array.elements), list(layer()(X)))

    def test_capsules_of_both_kinds_say_what_the_array_holds(self):
        for asked, kind, name in (
            ({}, _dlpack._Legacy, b"dltensor"),
            ({"max_version": (0, 8)}, _dlpack._Legacy, b"dltensor"),
            ({"max_version": (1, 0)}, _dlpack._Versioned, b"dltensor_versioned"),
            ({"max_version": (2, 1), "copy": True, "dl_device": (1, 0)}, _dlpack._Versioned, b"dltensor_versioned"),
        ):
            capsule = self.array.__dlpack__(**asked)
            managed = kind.from_address(_dlpack._pointer(capsule, name))
            tensor = managed.tensor
            self.assertEqual([tensor.shape[i] for i in range(3)], [1, ROWS, N])
            self.assertEqual([tensor.strides[i] for i in range(3)], [ROWS * N, N, 1])
            self.assertEqual((tensor.code, tensor.bits, tensor.lanes, tensor.byte_offset), (2, 32, 1, 0))
            self.assertEqual((tensor.device_type, tensor.data % 64), (1, 0))
            found = (ctypes.c_float * (ROWS * N)).from_address(tensor.data)
            self.assertEqual(list(found), list(self.array.elements))
            found[0] += 1  # a copy: nothing else changes
            self.assertEqual(list(self.array.elements), list(layer()(X)))

    def test_a_consumer_frees_what_it_took_without_the_array(self):
        values = list(self.array.elements)
        capsule = self.array.__dlpack__()
        block = _dlpack._pointer(capsule, b"dltensor")
        rename = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(
            ("PyCapsule_SetName", ctypes.pythonapi)
        )
        used = ctypes.create_string_buffer(b"used_dltensor")
        rename(capsule, ctypes.cast(used, ctypes.c_char_p))
        del capsule, self.array
        gc.collect()
        managed = _dlpack._Legacy.from_address(block)
        self.assertEqual(list((ctypes.c_float * len(values)).from_address(managed.tensor.data)), values)
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(managed.deleter)(block)

    def test_what_nobody_takes_is_freed(self):
        big = axle_runtime.Array((1 << 20,))
        before = resident_bytes()
        for _ in range(100):
            big.__dlpack__(max_version=(1, 0))
        self.assertLess(resident_bytes() - before, 100 << 20)

    def test_what_cannot_be_had_is_refused(self):
        for asked in ({"stream": 1}, {"copy": False}, {"dl_device": (2, 0)}):
            with self.assertRaises(BufferError):
                self.array.__dlpack__(**asked)
        self.assertEqual(self.array.__dlpack_device__(), (1, 0))

    def test_arrays_without_elements_or_dimensions(self):
        none = axle_runtime.linear(Capsule(X, (0, K)), layer())
        self.assertEqual((none.shape, none.tolist(), len(none)), ((0, N), [], 0))
        none.__dlpack__()
        single = axle_runtime.Array(())
        single.__dlpack__()
        self.assertEqual(single.tolist(), 0)
        with self.assertRaises(TypeError):
            len(single)

    def test_numpy_reads_it(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("this interpreter has no NumPy")
        seen = numpy.asarray(self.array)
        self.assertEqual((seen.shape, seen.dtype), ((1, ROWS, N), numpy.float32))
        self.assertEqual(seen.ctypes.data, ctypes.addressof(self.array.elements))
        taken = numpy.from_dlpack(self.array)
        self.assertEqual(taken.tolist(), self.array.tolist())
        self.assertEqual(taken.tolist(), seen.tolist())
        x = numpy.array(X, numpy.float32).reshape(ROWS, K)
        y = axle_runtime.linear(x, layer())
        self.assertIsInstance(y, numpy.ndarray)
        self.assertEqual(y.tolist(), self.array.tolist()[0])


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    unittest.main()
