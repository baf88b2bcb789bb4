"""Decoders: greedy answers are those computed in double, from folders and GGUF files, in every mode."""

import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from model_case import CAPS, MOST, PROMPTS, ModelCase
import numpy as np
import tiny_tokenizers
from decoder import Decoder
from tiny_models import LLAMA3_SCALING, make_decoder, write_decoder_folder, write_decoder_gguf

# Name -> (type of the model, seed, changes of its config.json, type of the weights, files).
FOLDERS = {
    "llama": ("llama", 1, {}, "F32", 1),
    "llama-shards": ("llama", 2, {"rope_scaling": LLAMA3_SCALING, "rope_theta": 500000.0}, "BF16", 3),
    "llama-linear": ("llama", 3, {"rope_scaling": {"type": "linear", "factor": 2.0}, "tie_word_embeddings": True}, "F32", 1),
    "llama-small": ("llama", 4, {"hidden_size": 64, "intermediate_size": 176, "num_attention_heads": 4, "num_key_value_heads": 1, "head_dim": 16,
                                 "num_hidden_layers": 4}, "F32", 2),
    "llama-wide-heads": ("llama", 5, {"hidden_size": 128, "head_dim": 48, "num_key_value_heads": 8}, "F16", 1),
    "mistral-window": ("mistral", 6, {"sliding_window": 8}, "F16", 1),
    "qwen2": ("qwen2", 8, {}, "BF16", 1),
    "qwen3": ("qwen3", 9, {"rope_theta": 1000000.0}, "F32", 2),
}
BLOCKS = ["F32", "F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q4_K", "Q5_K", "Q6_K"]


class Float(ModelCase):
    def check(self, model, prompts):
        oracle = Decoder(model)
        for prompt in prompts:
            with self.subTest(prompt=prompt):
                answer = self.answer(model, prompt)
                self.assert_text(answer, prompt)
                self.assert_greedy(oracle, answer, CAPS["float"])

    def test_folders(self):
        for name, (kind, seed, changes, dtype, shards) in FOLDERS.items():
            with self.subTest(model=name):
                model = make_decoder(kind, seed, **changes)
                self.check(write_decoder_folder(self.root / name, model, dtype, shards), PROMPTS)

    def test_gguf_files_of_every_block(self):
        model = make_decoder("llama", 10)
        for kind in BLOCKS:
            with self.subTest(blocks=kind):
                self.check(write_decoder_gguf(self.root / f"{kind}.gguf", model, kind), PROMPTS[:2])

    def test_gguf_files_of_every_architecture(self):
        for kind, seed, changes in (("qwen2", 11, {}), ("qwen3", 12, {}), ("llama", 13, {"rope_scaling": LLAMA3_SCALING}),
                                    ("qwen3", 14, {"head_dim": 64, "tie_word_embeddings": True})):
            with self.subTest(architecture=kind, changes=changes):
                self.check(write_decoder_gguf(self.root / f"{kind}{seed}.gguf", make_decoder(kind, seed, **changes), "Q8_0"), PROMPTS[1:3])

    def test_a_folder_and_a_gguf_file_of_the_same_weights_answer_the_same(self):
        model = make_decoder("llama", 15)
        folder = write_decoder_folder(self.root / "folder", model)
        file = write_decoder_gguf(self.root / "model.gguf", model)
        for prompt in PROMPTS:
            self.assertEqual(self.answer(folder, prompt), self.answer(file, prompt))


class Modes(ModelCase):
    def test_quantised_modes_stay_within_their_errors(self):
        for kind, seed in (("llama", 20), ("qwen3", 21)):
            model = make_decoder(kind, seed)
            folder = write_decoder_folder(self.root / kind, model)
            oracle = Decoder(folder)
            for mode in self.modes():
                for prompt in PROMPTS:
                    with self.subTest(model=kind, mode=mode, prompt=prompt):
                        self.assert_greedy(oracle, self.answer(folder, prompt, mode=mode), CAPS[mode])

    def test_a_mode_that_is_not_known_is_refused_with_those_that_are(self):
        self.assertEqual(self.modes()[0], "float")
        self.assertLessEqual({"a16w8", "da8w8"}, set(self.modes()))


class Answers(ModelCase):
    def setUp(self):
        super().setUp()
        self.model = write_decoder_folder(self.root / "model", make_decoder("llama", 30))

    def test_a_shorter_answer_is_the_beginning_of_a_longer_one(self):
        whole = self.answer(self.model, PROMPTS[0])["tokens"]
        for most in (0, 1, 2, 7):
            self.assertEqual(self.answer(self.model, PROMPTS[0], most=most)["tokens"], whole[:most])

    def test_an_end_token_ends_the_answer(self):
        # The fifth token that it gives is made the one that ends answers.
        tokens = self.answer(self.model, PROMPTS[0])["tokens"]
        at = next(i for i in range(4, MOST) if tokens[i] not in tokens[:i])
        ended = write_decoder_folder(self.root / "ended", make_decoder("llama", 30, eos_token_id=[1, tokens[at]]))
        self.assertEqual(self.answer(ended, PROMPTS[0])["tokens"], tokens[:at])

    def test_the_context_ends_the_answer(self):
        narrow = write_decoder_folder(self.root / "narrow", make_decoder("llama", 30, max_position_embeddings=32))
        answer = self.answer(narrow, PROMPTS[0], most=100)
        self.assertLessEqual(len(answer["prompt_tokens"]) + len(answer["tokens"]), 33)
        self.assertEqual(answer["tokens"][:MOST - 4], self.answer(self.model, PROMPTS[0])["tokens"][:len(answer["tokens"])][:MOST - 4])

    def test_without_raw_the_prompt_stands_in_the_chat_template(self):
        result = self.ask("generate", self.model, "--prompt", "Hello", "--max-tokens", 4, "--temperature", 0, "--json")
        tokens = self.assert_ok(result).json["prompt_tokens"]
        texts = tiny_tokenizers.TOKENS
        shown = "".join(texts[token] if texts[token] in tiny_tokenizers.SPECIAL else tiny_tokenizers.bytes_of([token]).decode() for token in tokens)
        self.assertEqual(shown, "<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n")

    def test_control_tokens_are_taken_in_a_raw_prompt_only(self):
        a, end, b = (tiny_tokenizers.TOKENS.index(text) for text in ("a", "<|im_end|>", "b"))
        self.assertEqual(self.answer(self.model, "a<|im_end|>b")["prompt_tokens"], [a, end, b])
        result = self.ask("generate", self.model, "--prompt", "a<|im_end|>b", "--max-tokens", 1, "--json")
        self.assertEqual(self.assert_ok(result).json["prompt_tokens"].count(end), 1)

    def test_text_comes_as_in_json(self):
        compared = 0
        for prompt in PROMPTS:
            for most in (1, 3, 6, MOST):
                text = self.answer(self.model, prompt, most=most)["text"]
                if not text.replace("\n", "").replace("\ufffd", "").isprintable():
                    continue  # a terminal is shown control characters in another way
                result = self.ask("generate", self.model, "--prompt", prompt, "--raw", "--max-tokens", most, "--mode", "float")
                self.assertEqual(re.sub("\ufffd+", "\ufffd", self.assert_ok(result).out), re.sub("\ufffd+", "\ufffd", text) + "\n")
                compared += 1
        self.assertGreater(compared, 3)

    def test_forms_of_the_cache(self):
        whole = self.answer(self.model, PROMPTS[4])
        self.assertEqual(self.answer(self.model, PROMPTS[4], "--kv-cache", "float32"), whole)
        oracle = Decoder(self.model)
        for form in ("float16", "int8"):
            self.assert_greedy(oracle, self.answer(self.model, PROMPTS[4], "--kv-cache", form), CAPS["da8w8"])
        self.assert_refused(self.generate(self.model, "a", "--kv-cache", "int3"), "int3", "float16")

    def test_numbers_that_are_not_meant(self):
        for option, value in (("--temperature", "-1"), ("--temperature", "nan"), ("--top-p", "1.5"), ("--min-p", "x"), ("--top-k", "-1"),
                              ("--seed", "one"), ("--max-tokens", "1e3"), ("--threads", "0")):
            with self.subTest(option=option, value=value):
                result = self.ask("generate", self.model, "--prompt", "a", f"{option}={value}")
                self.assert_refused(result, option)
                self.assertEqual(result.code, 2)

    def test_a_model_is_described(self):
        told = self.assert_ok(self.ask("info", self.model, "--json")).json["model"]
        shape = Decoder(self.model).shape
        self.assertEqual((told["type"], told["command"], told["layers"], told["vocabulary"]), ("llama", "generate", shape.layers, shape.vocabulary))


class Perplexity(ModelCase):
    def setUp(self):
        super().setUp()
        self.model = write_decoder_folder(self.root / "model", make_decoder("llama", 31))
        self.text = self.root / "text.txt"
        self.text.write_text("the river and the rest of it. " * 4)

    def test_it_is_that_of_double(self):
        measured = self.assert_ok(self.ask("ppl", self.model, "--file", self.text, "--window", 16, "--mode", "float", "--json")).json
        tokens = self.answer(self.model, self.text.read_text(), most=0)["prompt_tokens"]
        oracle, costs = Decoder(self.model), []
        for start in range(0, len(tokens) - 15, 16):
            logits = np.asarray(oracle.logits(tokens[start:start + 16]))
            for i in range(8, 16):
                row = logits[i - 1] - logits[i - 1].max()
                costs.append(np.log(np.exp(row).sum()) - row[tokens[start + i]])
        self.assertEqual(measured["tokens"], len(costs))
        self.assertAlmostEqual(measured["mean"], float(np.mean(costs)), delta=1e-4)
        self.assertAlmostEqual(measured["perplexity"] / float(np.exp(np.mean(costs))), 1, delta=1e-4)

    def test_what_cannot_be_measured_is_said(self):
        self.assert_refused(self.ask("ppl", self.model), "--file")
        self.assert_refused(self.ask("ppl", self.model, "--file", self.root / "none"), "none")
        self.assert_refused(self.ask("ppl", self.model, "--file", self.text, "--window", 10000), "10000")
        self.text.write_text("a")
        self.assert_refused(self.ask("ppl", self.model, "--file", self.text, "--window", 16), "16")


if __name__ == "__main__":
    unittest.main(verbosity=2)
