"""Models in Python: the answers and vectors are those computed in double, whole, in pieces and in batches."""

import array
import itertools
import json
import os
import pathlib
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings
import zipfile

import axle_runtime

MODELS = pathlib.Path(os.environ.get("AXLE_TEST_MODELS", "/nonexistent"))


def numbers(vectors):
    return vectors.tolist()


class ModelCase(unittest.TestCase):
    def setUp(self):
        if not MODELS.exists():
            self.skipTest("AXLE_TEST_MODELS is not set: run_tests.sh makes the models")
        self.expected = json.loads((MODELS / "expected.json").read_text())

    def open(self, name="decoder", mode="float", **options):
        model = axle_runtime.Model(MODELS / name, mode=mode, **options)
        self.addCleanup(model.close)
        return model


class GenerateTest(ModelCase):
    """Prompts are texts of the bytes' tokens; the tokenizer merges none of what `text` gives here."""

    def setUp(self):
        super().setUp()
        self.model = self.open()
        self.prompts = [self.model.text(one["tokens"]) for one in self.expected["answers"]]

    def generate(self, prompts, **options):
        return self.model.generate(prompts, self.expected["most"], raw=True, **options)

    def test_answers_are_those_of_double_where_the_tokens_are(self):
        compared = 0
        for prompt, one in zip(self.prompts, self.expected["answers"]):
            if self.model.tokens(prompt) == one["tokens"]:
                compared += 1
                self.assertEqual(self.generate(prompt), self.model.text(one["answer"]))
        self.assertGreater(compared, 0)

    def test_a_batch_a_stream_and_a_function_give_the_same(self):
        alone = [self.generate(prompt) for prompt in self.prompts]
        self.assertEqual(self.generate(self.prompts), alone)
        self.assertEqual(self.generate(tuple(self.prompts)), alone)
        for prompt, answer in zip(self.prompts, alone):
            pieces = list(self.generate(prompt, stream=True))
            self.assertEqual("".join(pieces), answer)
            self.assertGreater(len(pieces), 2)
            heard = []
            self.assertEqual(self.generate(prompt, stream=heard.append), answer)
            self.assertEqual(heard, pieces)
        texts = [""] * len(alone)
        for index, piece in self.generate(self.prompts, stream=True):
            texts[index] += piece
        self.assertEqual(texts, alone)
        heard = [""] * len(alone)

        def hear(index, piece):
            heard[index] += piece

        self.assertEqual(self.generate(self.prompts, stream=hear), alone)
        self.assertEqual(heard, alone)
        self.assertEqual(self.generate([]), [])
        self.assertEqual(self.model.generate("x", 0, raw=True), "")

    def test_pieces_come_before_the_answer_is_whole_and_may_be_left(self):
        stream = self.generate(self.prompts[0], stream=True)
        first = list(itertools.islice(stream, 2))
        self.assertTrue(self.generate(self.prompts[0]).startswith("".join(first)))
        stream.close()
        abandoned = self.generate(self.prompts[0], stream=True)
        next(abandoned)
        self.model.close()
        with self.assertRaisesRegex(ValueError, "the model is closed"):
            list(abandoned)

    def test_sampling_follows_its_seed(self):
        options = {"temperature": 1.5, "top_k": 40, "top_p": 0.95, "min_p": 0.01}
        answers = [self.generate(self.prompts[0], seed=seed, **options) for seed in (1, 1, 2, 2**64 - 1)]
        self.assertEqual(answers[0], answers[1])
        self.assertEqual(len(set(answers)), 3)
        # As on the command line, no part of the weight leaves the likeliest token.
        greedy = self.generate(self.prompts[0])
        self.assertEqual(self.generate(self.prompts[0], temperature=1.5, seed=1, top_p=0), greedy)

    def test_a_chat_template_writes_the_prompt(self):
        tokens = self.model.tokens("x", raw=False)
        self.assertGreater(len(tokens), len(self.model.tokens("x")))
        self.assertEqual(self.model.text(tokens), "user\nx\nassistant\n")
        self.assertEqual(self.model.text(self.model.tokens("Ärger 日本")), "Ärger 日本")
        self.assertEqual((self.model.tokens(""), self.model.text([])), ([], ""))

    def test_modes_caches_and_threads(self):
        for options in ({"mode": "a16w8"}, {"mode": "da8w8", "kv_cache": "int8"}, {"mode": "a16w4"}):
            answers = {self.open(threads=threads, **options).generate("x", 8, raw=True) for threads in (1, 2)}
            self.assertEqual(len(answers), 1)
        info = self.open(mode="a16w8", kv_cache="int8").info
        self.assertEqual((info["architecture"], info["mode"], info["kv_cache"]), ("decoder", "a16w8", "int8"))
        self.assertEqual((info["context"], info["hidden"]), (256, 256))

    def test_a_folder_that_holds_one_gguf_file_is_that_model(self):
        for name in ("package", "package/tiny.gguf"):
            self.assertEqual(self.open(name).generate("x", 8, raw=True), self.model.generate("x", 8, raw=True))

    def test_several_threads_ask_one_model(self):
        right = [self.generate(prompt) for prompt in self.prompts]
        found = [None] * len(right)

        def ask(i):
            found[i] = "".join(self.generate(self.prompts[i], stream=True))

        threads = [threading.Thread(target=ask, args=(i,)) for i in range(len(right))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, right)

    def test_what_is_wrong_is_said(self):
        for kind, message, ask in (
            (ValueError, "the prompt is empty", lambda: self.generate("")),
            (ValueError, "max_tokens is -1", lambda: self.model.generate("x", -1)),
            (ValueError, "seed is -1", lambda: self.generate("x", seed=-1)),
            (ValueError, "top_k is -1", lambda: self.generate("x", top_k=-1)),
            (ValueError, "the prompt: temperature is -1; it must be 0 or more", lambda: self.generate("x", temperature=-1.0)),
            (ValueError, "the prompt: top_p is nan; it must be 0 to 1", lambda: self.generate("x", top_p=float("nan"))),
            (ValueError, "the text has a NUL at 1", lambda: self.generate("x\0y")),
            (TypeError, "a text must be str, not bytes", lambda: self.generate([b"x"])),
            (ValueError, "a token is -1", lambda: self.model.text([-1])),
            (ValueError, "and the model's context 256", lambda: self.generate("xyz " * 300)),
            (axle_runtime.UnsupportedModel, "makes texts, not vectors", lambda: self.model.embed("x")),
            (OSError, "nothing-there", lambda: self.open("nothing-there")),
            (ValueError, 'no mode "a3w3"', lambda: self.open(mode="a3w3")),
            (ValueError, "no cache form 'int3'", lambda: self.open(kv_cache="int3")),
            (axle_runtime.MalformedModel, "expected.json", lambda: self.open("expected.json")),
        ):
            with self.subTest(message), self.assertRaisesRegex(kind, message):
                ask()

    def test_a_file_that_is_cut_short_is_an_error_and_the_interpreter_lives(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = shutil.copytree(MODELS / "decoder", pathlib.Path(folder) / "decoder")
            with axle_runtime.Model(copy, mode="float") as model:
                answer = self.generate(self.prompts[0])
                self.assertEqual(model.generate(self.prompts[0], self.expected["most"], raw=True), answer)
                os.truncate(copy / "model.safetensors", 1000)
                with self.assertRaisesRegex(OSError, 'model.safetensors: cut short while it was in use, from [0-9]+ bytes to 1000;.* tensor "model.embed_tokens.weight"'):
                    model.generate(self.prompts[0], self.expected["most"], raw=True)

    def test_with_closes_the_model(self):
        with axle_runtime.Model(str(MODELS / "decoder")) as model:
            model.generate("x", 1)
            self.assertNotIn("closed", repr(model))
        self.assertIn("closed", repr(model))
        model.close()
        for ask in (lambda: model.generate("x"), lambda: model.tokens("x"), lambda: model.text([1])):
            with self.assertRaisesRegex(ValueError, "the model is closed"):
                ask()

    def test_an_interrupt_ends_a_long_answer(self):
        code = (
            "import sys, axle_runtime\n"
            "model = axle_runtime.Model(sys.argv[1], mode='float')\n"
            "print('begun', flush=True)\n"
            "while True: model.generate(['x'] * 16, 255, raw=True, temperature=1.0)\n"
        )
        process = subprocess.Popen(
            [sys.executable, "-c", code, str(MODELS / "decoder")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.assertEqual(process.stdout.readline(), "begun\n")
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=30)
        self.assertIn("KeyboardInterrupt", told)
        self.assertNotEqual(process.returncode, 0)

    def test_an_interpreter_ends_with_answers_under_way(self):
        code = (
            "import sys, axle_runtime\n"
            "model = axle_runtime.Model(sys.argv[1])\n"
            "stream = model.generate('x', raw=True, stream=True)\n"
            "never = model.generate('x', raw=True, stream=True)\n"
            "print(next(stream) != '')\n"
        )
        done = subprocess.run([sys.executable, "-c", code, str(MODELS / "decoder")], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "True\n", ""))


class EmbedTest(ModelCase):
    def test_vectors_are_those_of_double(self):
        model = self.open("encoder")
        vectors = numbers(model.embed(self.expected["texts"]))
        for vector, expected in zip(vectors, self.expected["vectors"]):
            self.assertLess(max(abs(a - b) for a, b in zip(vector, expected)), 1e-4)
        self.assertEqual(numbers(model.embed(self.expected["texts"][0])), vectors[0])
        many = model.embed(self.expected["texts"] * 20)
        self.assertEqual(tuple(many.shape), (60, model.info["hidden"]))
        self.assertEqual(numbers(many), vectors * 20)
        self.assertEqual(tuple(model.embed([]).shape), (0, model.info["hidden"]))
        with self.assertRaisesRegex(axle_runtime.UnsupportedModel, "makes vectors, not texts"):
            model.generate("x", raw=True)

    def test_vectors_are_numpys_where_it_is(self):
        vectors = self.open("encoder").embed(["x"])
        try:
            import numpy
        except ImportError:
            self.assertIsInstance(vectors, axle_runtime.Array)
            self.assertEqual(array.array("f", vectors.elements), array.array("f", numbers(vectors)[0]))
            return
        self.assertIsInstance(vectors, numpy.ndarray)
        self.assertEqual(vectors.dtype, numpy.float32)


class RerankTest(ModelCase):
    def test_scores_are_those_of_double(self):
        model = self.open("reranker")
        texts = self.expected["texts"]
        scores = model.rerank(texts[0], texts)
        for score, expected in zip(scores, self.expected["scores"]):
            self.assertLess(abs(score - expected), 1e-4)
        self.assertEqual(model.rerank(texts[0], texts * 20), scores * 20)
        self.assertEqual(model.rerank("x", []), [])

    def test_what_has_no_scores_or_vectors_is_refused(self):
        for kind, message, ask in (
            (TypeError, "texts must be a list of texts", lambda: self.open("reranker").rerank("x", "y")),
            (TypeError, "a text must be str", lambda: self.open("reranker").rerank("x", [b"y"])),
            (axle_runtime.UnsupportedModel, "is a reranker", lambda: self.open("reranker").embed("x")),
            (axle_runtime.UnsupportedModel, "is no reranker", lambda: self.open("encoder").rerank("x", ["y"])),
            (axle_runtime.UnsupportedModel, "is no reranker", lambda: self.open("decoder").rerank("x", ["y"])),
            (ValueError, "pair 1", lambda: self.open("reranker").rerank("a " * 40, ["", "b " * 40])),
        ):
            with self.subTest(message), self.assertRaisesRegex(kind, message):
                ask()


class ArchiveTest(ModelCase):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.archive = self.folder / "model.zip"

    def pack(self, below=""):
        with zipfile.ZipFile(self.archive, "w", zipfile.ZIP_DEFLATED) as out:
            for path in sorted((MODELS / "encoder").rglob("*")):
                out.write(path, below + str(path.relative_to(MODELS / "encoder")))

    def test_a_package_and_its_archive_are_the_model(self):
        right = numbers(self.open("encoder").embed("x"))
        temporary = tempfile.gettempdir()
        for below in ("", "minilm/"):
            self.pack(below)
            for place in (self.archive, self.folder):
                with axle_runtime.Model(place, mode="float") as model:
                    self.assertFalse([one for one in os.listdir(temporary) if one.startswith("axle-models-")])
                    self.assertEqual(numbers(model.embed("x")), right)
        shutil.copy(self.archive, self.folder / "other.zip")
        with self.assertRaisesRegex(axle_runtime.MalformedModel, "holds 2 archives; name one"):
            axle_runtime.Model(self.folder)

    def test_hostile_archives_are_refused(self):
        link = zipfile.ZipInfo("config.json")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        for name, content, message in (
            ("../config.json", "{}", "leads elsewhere"),
            ("/config.json", "{}", "leads elsewhere"),
            ("a/../../config.json", "{}", "leads elsewhere"),
            ("a\\b", "{}", "leads elsewhere"),
            ("C:config.json", "{}", "leads elsewhere"),
            (link, "/etc/passwd", "is a link or encrypted"),
            ("config.json", "\0" * (100 << 20), "it would unpack to"),
            ("other.json", "{}", "config.json"),
        ):
            with zipfile.ZipFile(self.archive, "w", zipfile.ZIP_DEFLATED) as out:
                out.writestr(name, content)
            with self.subTest(message), self.assertRaisesRegex((axle_runtime.MalformedModel, OSError), message):
                axle_runtime.Model(self.archive)
        with warnings.catch_warnings(), zipfile.ZipFile(self.archive, "w") as out:
            warnings.simplefilter("ignore")
            out.writestr("config.json", "{}")
            out.writestr("Config.json", "{}")
        with self.assertRaisesRegex(axle_runtime.MalformedModel, "is there twice"):
            axle_runtime.Model(self.archive)

    def test_archives_that_are_damaged(self):
        self.pack()
        whole = self.archive.read_bytes()
        for length in range(0, len(whole), len(whole) // 10):
            self.archive.write_bytes(whole[:length])
            with self.assertRaisesRegex(axle_runtime.MalformedModel, "model.zip"):
                axle_runtime.Model(self.archive)
        damaged = bytearray(whole)
        for i in range(2000, len(whole) - 3000, 97):
            damaged[i] ^= 0x55
        self.archive.write_bytes(damaged)
        with self.assertRaisesRegex(axle_runtime.MalformedModel, "model.zip"):
            axle_runtime.Model(self.archive)
        self.assertEqual(os.listdir(self.folder), ["model.zip"])


if __name__ == "__main__":
    unittest.main()
