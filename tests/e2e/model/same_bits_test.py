"""The same bits from every kernel set and any number of threads, and from one run to the next."""

import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from model_case import PROMPTS, ModelCase
from tiny_models import make_decoder, make_encoder, write_decoder_folder, write_decoder_gguf, write_encoder_folder


class SameBits(ModelCase):
    def ways(self):
        """Environments and prefixes of the program: every kernel set, each with one CPU and with all."""
        kernels = self.kernels()
        self.assertGreaterEqual(len(kernels), 1)
        one = ("taskset", "-c", str(min(os.sched_getaffinity(0))))
        return [(kernel, prefix) for kernel in ["", *kernels] for prefix in ((), one)]

    def check(self, ask):
        """`ask`: of the options that `variant` takes, to a result whose stdout must be the same each time."""
        said = {}
        for kernel, prefix in self.ways():
            result = self.assert_ok(ask(env={"AXLE_RUNTIME_KERNEL": kernel}, prefix=prefix))
            said.setdefault(result.out, []).append((kernel, "one CPU" if prefix else "all CPUs"))
        self.assertEqual(len(said), 1, said)

    def test_answers(self):
        folder = write_decoder_folder(self.root / "folder", make_decoder("qwen2", 40))
        file = write_decoder_gguf(self.root / "model.gguf", make_decoder("llama", 41), "Q4_K")
        for model in (folder, file):
            for mode in self.modes():
                with self.subTest(model=model.name, mode=mode):
                    self.check(lambda **how: self.generate(model, PROMPTS[4], mode=mode, **how))

    def test_vectors(self):
        folder = write_encoder_folder(self.root / "encoder", make_encoder(42))
        for mode in self.modes():
            with self.subTest(mode=mode):
                self.check(lambda **how: self.embed(folder, "The cat sat on the mat.", mode=mode, **how))

    def test_sampled_answers_of_one_seed(self):
        folder = write_decoder_folder(self.root / "folder", make_decoder("llama", 43))

        def ask(seed, **how):
            return self.ask("generate", folder, "--prompt", PROMPTS[0], "--raw", "--max-tokens", 16, "--temperature", 0.8, "--seed", seed,
                            "--mode", "a16w8", "--json", **how)

        self.check(lambda **how: ask(7, **how))
        self.assertGreater(len({self.assert_ok(ask(seed)).out for seed in range(4)}), 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
