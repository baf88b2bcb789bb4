"""Devices beside the CPU, on a modelled driver of NVIDIA's where the library has code for it."""

import array
import ctypes
import os
import random
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
MODEL = os.environ.get("AXLE_TEST_MODEL_CUDA", "")
if os.path.exists(MODEL):
    ctypes.CDLL(MODEL)  # answers to the name of the driver's library from now on
import axle_runtime
from capsule import Capsule

N, K = 37, 100
CUDA = [one for one in axle_runtime.devices() if one["name"] == "cuda:0" and one["usable"]]


def made(count, seed=1):
    numbers = random.Random(seed)
    return array.array("f", (numbers.gauss(0, 1) for _ in range(count)))


def shaped(values, *shape):
    return memoryview(values).cast("B").cast("f", shape)


class DevicesTest(unittest.TestCase):
    def test_what_there_is(self):
        for one in axle_runtime.devices():
            self.assertRegex(one["name"], "^[a-z]+:[0-9]+$")
            self.assertEqual(one["usable"], one["problem"] == "")
            if one["usable"]:
                self.assertNotEqual(one["description"], "")

    def test_a_device_that_is_not_there(self):
        weight = shaped(made(N * K), N, K)
        for name in ("tpu", "cuda:x", "cuda:", "opencl:99", "cuda:99"):
            with self.assertRaises(axle_runtime.UnsupportedDevice) as raised:
                axle_runtime.quantize(weight, device=name)
            self.assertIn("device '{}'".format(name), str(raised.exception))
        with self.assertRaises(axle_runtime.UnsupportedDevice):
            axle_runtime.selftest(device="tpu")

    def test_the_cpu_by_its_name(self):
        layer = axle_runtime.quantize(shaped(made(N * K), N, K), device="cpu")
        self.assertEqual(layer.device, "cpu")
        axle_runtime.selftest(device="cpu")


@unittest.skipUnless(CUDA, "no device 'cuda' here: {}".format(axle_runtime.devices()))
class CudaTest(unittest.TestCase):
    def layers(self, mode, **options):
        weight = shaped(made(N * K), N, K)
        bias = made(N, 2)
        return [axle_runtime.quantize(weight, bias, mode, device=one, **options) for one in (None, "cuda")]

    def test_the_cpus_bytes(self):
        axle_runtime.selftest(device="cuda")
        for rows in (1, 9):
            x = shaped(made(rows * K, 3), rows, K)
            for mode in ("da8w8", "a16w8", "da8w4", "a16w4"):
                cpu, cuda = self.layers(mode)
                self.assertEqual(
                    bytes(axle_runtime.linear(x, cpu).elements),
                    bytes(axle_runtime.linear(x, cuda).elements),
                )
        self.assertEqual(cuda.device, "cuda")
        self.assertEqual(cuda.kernel(1), "axle_multiply_int4")
        self.assertEqual(cuda.kernel(128), "axle_matrix_int4")
        self.assertIn("axle_multiply_int4, cuda)", repr(cuda))

    def test_what_devices_cannot_do(self):
        with self.assertRaises(axle_runtime.UnsupportedDevice) as raised:
            self.layers("a16f8")
        self.assertIn("no kernels for float8 weights", str(raised.exception))
        with self.assertRaises(axle_runtime.UnsupportedDevice) as raised:
            axle_runtime.quantize(shaped(made(4), 2, 2), device="cuda:2")
        self.assertEqual(str(raised.exception), "there is no device 'cuda:2'")

    def test_tensors_of_the_device(self):
        cpu, cuda = self.layers("da8w8")
        rows = 3
        x = made(rows * K, 4)
        expected = cpu(shaped(x, rows, K))
        for versioned in (False, True):
            result = array.array("f", bytes(4 * rows * N))
            out = Capsule(result, (rows, N), device=(2, 0), versioned=versioned)
            source = Capsule(x, (rows, K), device=(2, 0), versioned=versioned)
            cuda(source, out=out)
            self.assertEqual(result, expected)
            self.assertEqual(source.stream, 1)  # the one on which the library works
        with self.assertRaisesRegex(ValueError, "lies on device \\(2, 1\\)"):
            cuda(Capsule(x, (rows, K), device=(2, 1)))
        with self.assertRaisesRegex(ValueError, "move it to the CPU first"):
            cpu(Capsule(x, (rows, K), device=(2, 0)))
        with self.assertRaisesRegex(ValueError, "not contiguous"):
            cuda(Capsule(x, (K, rows), strides=(1, K), device=(2, 0)))

    def test_layers_of_torch(self):
        try:
            import torch
        except ImportError:
            self.skipTest("no PyTorch")
        import axle_runtime.torch

        torch.manual_seed(1)
        plain = torch.nn.Sequential(torch.nn.Linear(K, N), torch.nn.ReLU(), torch.nn.Linear(N, 5))
        x = torch.randn(3, K)
        results = []
        for device in (None, "cuda"):
            model = torch.nn.Sequential(*plain)
            axle_runtime.torch.quantize_(model, mode="a16w8", device=device)
            with torch.no_grad():
                results.append(model(x))
        self.assertTrue(torch.equal(*results))
        self.assertEqual(model[0].packed.device, "cuda")


if __name__ == "__main__":
    unittest.main()
