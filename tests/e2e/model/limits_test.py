"""Too little memory and too little room on the disk: an error that names what did not fit, nothing half written."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from model_case import ModelCase
from tiny_models import make_decoder, make_encoder, write_decoder_folder, write_decoder_gguf, write_encoder_folder

WIDE = {"hidden_size": 1024, "intermediate_size": 2816, "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 64}
MIB = 1 << 20


class Memory(ModelCase):
    def setUp(self):
        super().setUp()
        self.need_program_as_shipped()
        self.model = write_decoder_folder(self.root / "model", make_decoder("llama", 70, **WIDE), "BF16")
        self.needed = (self.model / "model.safetensors").stat().st_size

    def refusals(self, limits, *arguments):
        """What is said under each limit of the address space, in MiB: an answer, or an error. No crash, no defect."""
        told = []
        for limit in limits:
            with self.subTest(limit=limit, command=arguments[0]):
                result = self.ask(*arguments, prefix=("prlimit", f"--as={limit * MIB}"))
                if result.code != 0:
                    self.assert_refused(result, "memory")
                    told.append(result.err)
        return told

    def test_it_is_the_tensor_that_is_named(self):
        # The file takes no address space: it is not mapped.
        limits = range(30, 60 + 2 * self.needed // MIB, 5)
        generate = ("generate", self.model, "--prompt", "a", "--raw", "--max-tokens", 1, "--threads", 2)
        told = self.refusals(limits, *generate)
        self.assertGreater(len(told), 2)
        self.assertTrue(any('tensors "model.layers.0.mlp.gate_proj.weight", "model.layers.0.mlp.up_proj.weight": no memory' in one for one in told), told)
        folder = self.root / "quantised"
        self.assert_ok(self.ask("quantize", self.model, "--mode", "a16w4", "--output", folder))
        told = self.refusals(range(30, 60 + self.needed // MIB, 4), "generate", folder, *generate[2:])
        self.assertTrue(any(str(folder) in one and "gate_proj.weight" in one for one in told), told)

    def test_the_other_commands(self):
        gguf = write_decoder_gguf(self.root / "model.gguf", make_decoder("llama", 71, **WIDE, num_hidden_layers=1), "Q8_0")
        encoder = write_encoder_folder(self.root / "encoder", make_encoder(72))
        text = self.root / "text.txt"
        text.write_text("The river and the rest of it. " * 40)
        told = self.refusals(range(24, 90, 8), "embed", encoder, "--text", "a", "--threads", 2)
        for i, options in enumerate(((), ("--method", "awq", "--calibration", text))):
            for limit in range(28, 100, 6):
                told += self.refusals([limit], "quantize", gguf, "--mode", "a16w4", *options, "--output", self.root / f"small-{i}-{limit}", "--threads", 2)
        self.assertEqual([path.name for path in self.root.iterdir() if ".partial" in path.name], [])
        told += self.refusals(range(28, 80, 8), "ppl", gguf, "--file", text, "--window", 16, "--threads", 2)
        self.assertTrue(told)


class Disk(ModelCase):
    def test_files_that_may_not_be_large_enough(self):
        model = write_decoder_folder(self.root / "model", make_decoder("llama", 73))
        for limit, word in ((100, "config.json"), (1500, "tokenizer.json"), (200_000, "model.safetensors")):
            for mode in ("a16w8", "a16w4"):
                with self.subTest(limit=limit, mode=mode):
                    result = self.ask("quantize", model, "--mode", mode, "--output", self.root / "quantised", prefix=("prlimit", f"--fsize={limit}"))
                    self.assert_refused(result, word, "cannot be written", "large")
                    self.assertEqual([path.name for path in self.root.iterdir() if path.name.startswith("quantised")], [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
