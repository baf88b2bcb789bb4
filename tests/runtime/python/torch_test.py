"""axle_runtime.torch, where there is PyTorch: Debian's python3-torch, or an environment that AXLE_TEST_TORCH names."""

import copy
import gc
import pickle
import sys
import unittest
import weakref

try:
    import torch
except ImportError:
    print("skipped: this Python has no PyTorch (Debian's python3-torch has 1.13)")
    sys.exit(0)

import axle_runtime
import axle_runtime.torch

# Mode and group -> the largest error, as a part of the largest output.
CAPS = {("a16w8", 0): 0.02, ("da8w8", 0): 0.03, ("a16w4", 64): 0.2, ("da8w4", 32): 0.2, ("a16f8", 0): 0.06}


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(64, 96)
        self.blocks = torch.nn.Sequential(torch.nn.Linear(96, 96, bias=False), torch.nn.GELU(), torch.nn.Linear(96, 96))
        self.again = self.first_of_blocks = self.blocks[0]
        self.norm = torch.nn.LayerNorm(96)

    def forward(self, x):
        return self.norm(self.again(self.blocks(self.first(x))))


def made(seed=1):
    torch.manual_seed(seed)
    return Net().eval()


def error(found, right):
    return float((found.double() - right.double()).abs().max() / right.double().abs().max())


class QuantizeTest(unittest.TestCase):
    def setUp(self):
        context = torch.no_grad()
        context.__enter__()
        self.addCleanup(context.__exit__, None, None, None)
        self.x = torch.randn(2, 5, 64, generator=torch.Generator().manual_seed(2))

    def test_every_mode_is_near_the_float_model(self):
        right = made()(self.x)
        for (mode, group), cap in CAPS.items():
            model = made()
            self.assertIsNone(axle_runtime.torch.quantize_(model, mode=mode, group=group))
            y = model(self.x)
            self.assertEqual((y.shape, y.dtype), (right.shape, right.dtype))
            self.assertLess(error(y, right), cap, (mode, group))

    def test_a_layer_is_that_of_the_package(self):
        float_layer = torch.nn.Linear(64, 96)
        layer = axle_runtime.torch.Linear.from_float(float_layer, mode="a16w8")
        weight, bias = float_layer.weight.detach(), float_layer.bias.detach()
        packed = axle_runtime.quantize(weight, bias)
        for shape in ((64,), (1, 64), (7, 64), (2, 3, 4, 64), (0, 64), (2, 0, 64)):
            x = torch.randn(shape)
            y = layer(x)
            self.assertEqual(y.shape, (*shape[:-1], 96))
            given = axle_runtime.linear(x, packed)
            self.assertTrue(torch.equal(torch.from_dlpack(given), y))
            self.assertEqual(given.shape, tuple(y.shape))
        every_other = torch.randn(4, 128)[:, ::2]
        self.assertTrue(torch.equal(layer(every_other), layer(every_other.contiguous())))
        self.assertTrue(torch.equal(torch.from_dlpack(axle_runtime.linear(every_other, packed)), layer(every_other)))
        turned = torch.randn(64, 4).t()
        self.assertTrue(torch.equal(torch.from_dlpack(axle_runtime.linear(turned, packed)), layer(turned)))

    def test_half_precision_goes_in_and_comes_out(self):
        for dtype in (torch.float16, torch.bfloat16):
            layer = torch.nn.Linear(64, 96).to(dtype)
            ours = axle_runtime.torch.Linear.from_float(layer, mode="a16w8")
            x = self.x.to(dtype)
            y = ours(x)
            self.assertEqual(y.dtype, dtype)
            right = torch.nn.functional.linear(x.float(), layer.weight.float(), layer.bias.float())
            self.assertLess(error(y, right), 0.02)

    def test_the_modules_are_replaced_and_their_parameters_gone(self):
        model = made()
        freed = weakref.ref(model.first)
        heard = []
        model.first.register_forward_hook(lambda *_: heard.append(1))
        axle_runtime.torch.quantize_(model)
        gc.collect()
        self.assertIsNone(freed())
        self.assertEqual(list(model.state_dict()), ["norm.weight", "norm.bias"])
        self.assertIs(model.blocks[0], model.again)
        self.assertIs(model.again, model.first_of_blocks)
        self.assertRegex(repr(model.first), r"Linear\(in_features=64, out_features=96, bias=True, mode=a16w8, kernel=\w+\)")
        self.assertIn("bias=False", repr(model.again))
        self.assertFalse(model.first.training)
        model(self.x)
        self.assertEqual(heard, [1])
        model.first._forward_hooks.clear()
        twin = copy.deepcopy(model)
        self.assertTrue(torch.equal(twin(self.x), model(self.x)))
        del model
        gc.collect()
        twin(self.x)
        with self.assertRaisesRegex(TypeError, "packed weights are not pickled"):
            pickle.dumps(twin)

    def test_a_filter_chooses_by_module_and_name(self):
        model, asked = made(), []

        def choose(module, name):
            asked.append(name)
            return name.startswith("blocks") and module.bias is not None

        axle_runtime.torch.quantize_(model, filter_fn=choose)
        self.assertEqual(set(asked), {"first", "blocks.0", "blocks.2", "again", "first_of_blocks"})
        kinds = {name: type(module).__module__ for name, module in model.named_modules() if "Linear" in type(module).__name__}
        self.assertEqual({name for name, kind in kinds.items() if kind.startswith("axle_runtime")}, {"blocks.2"})

    def test_transformers_of_pytorch_itself_go_on(self):
        torch.manual_seed(3)
        layer = torch.nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
        model = torch.nn.TransformerEncoder(layer, 2).eval()
        padding = torch.zeros(2, 5, dtype=torch.bool)
        padding[1, 4:] = True
        right = copy.deepcopy(model)(self.x, src_key_padding_mask=padding)
        axle_runtime.torch.quantize_(model)
        self.assertIsInstance(model.layers[0].linear1, axle_runtime.torch.Linear)
        found = model(self.x, src_key_padding_mask=padding)
        self.assertLess(error(found[~padding], right[~padding]), 0.02)

    def test_gradients_are_refused(self):
        layer = axle_runtime.torch.Linear.from_float(torch.nn.Linear(64, 96))
        asking = torch.randn(3, 64, requires_grad=True)
        layer(asking)  # under no_grad
        with torch.inference_mode():
            layer(torch.randn(3, 64))
        with torch.enable_grad():
            layer(torch.randn(3, 64))
            with self.assertRaisesRegex(RuntimeError, "no gradient: call the model under torch.no_grad"):
                layer(asking)

    def test_what_cannot_be_meant_is_refused(self):
        layer = axle_runtime.torch.Linear.from_float(torch.nn.Linear(64, 96))
        with self.assertRaisesRegex((ValueError, RuntimeError), r"x has shape \(3, 65\); its rows must have 64"):
            layer(torch.randn(3, 65))
        with self.assertRaisesRegex(TypeError, "x is torch.float64"):
            layer(torch.randn(3, 64).double())
        with self.assertRaisesRegex(TypeError, "itself a torch.nn.Linear"):
            axle_runtime.torch.quantize_(torch.nn.Linear(4, 4))
        for spoil, kind, message in (
            (lambda linear: linear.to("meta"), ValueError, "^first: its weight lies on device meta"),
            (lambda linear: linear.double(), TypeError, "^first: its weight is torch.float64"),
            (lambda linear: linear.weight.fill_(float("nan")), ValueError, "^first: "),
        ):
            model = made()
            spoil(model.first)
            with self.assertRaisesRegex(kind, message):
                axle_runtime.torch.quantize_(model)
        with self.assertRaisesRegex(ValueError, "mode must be"):
            axle_runtime.torch.quantize_(made(), mode="int3")
        with self.assertRaisesRegex(BufferError, "x cannot be read: .*detach"):
            axle_runtime.linear(torch.randn(1, 64, requires_grad=True), layer.packed)

    def test_shapes_are_known_without_computing(self):
        if torch.__version__.startswith("1."):
            self.skipTest("no operator of this PyTorch takes tensors of the device meta without a kernel for their gradients")
        layer = axle_runtime.torch.Linear.from_float(torch.nn.Linear(64, 96))
        y = layer(torch.empty(2, 3, 64, device="meta", dtype=torch.bfloat16))
        self.assertEqual((y.shape, y.dtype, y.device.type), ((2, 3, 96), torch.bfloat16, "meta"))

    def test_torch_compile_takes_the_operator_as_it_is(self):
        if not hasattr(torch, "compile"):
            self.skipTest("this PyTorch has no torch.compile")
        model = made()
        axle_runtime.torch.quantize_(model)
        compiled = torch.compile(model, backend="eager", fullgraph=True)
        self.assertTrue(torch.equal(compiled(self.x), model(self.x)))


if __name__ == "__main__":
    unittest.main()
