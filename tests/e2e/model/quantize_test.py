"""Quantised folders: what they hold is the nearest by definition, they run as the model quantised on the fly does, AWQ costs less than
rounding, and neither a killed run nor a hostile folder does harm."""

import json
import pathlib
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from model_case import PROMPTS, ModelCase
from support import VARIANT
import numpy as np
import tiny_tokenizers
from decoder import Decoder
from encoder import Encoder, cosine
from quantised import change_bytes, change_header, header_of, read_quantised, weights_of
from tiny_models import LLAMA3_SCALING, make_decoder, make_encoder, write_decoder_folder, write_decoder_gguf, write_encoder_folder

MODES = ["a16w8", "da8w8", "a16w4", "da8w4", "fp8"]
TEXT = "the river and the rest of it, in one long text about a cat that sat on the mat and the dog. " * 12


class QuantizeCase(ModelCase):
    def quantize(self, model, mode, *options, to="quantised", **how):
        return self.ask("quantize", model, "--output", self.root / to, "--mode", mode, "--json", *options, **how)

    def quantised(self, model, mode, *options, to="quantised"):
        self.assert_ok(self.quantize(model, mode, *options, to=to))
        return self.root / to

    def stored(self, folder, prompt, *options):
        """Answers in the mode that the folder is stored in."""
        return self.assert_ok(self.ask("generate", folder, "--prompt", prompt, "--raw", "--max-tokens", 24, "--json", *options)).json

    def calibration(self):
        path = self.root / "calibration.txt"
        path.write_text(TEXT)
        return path

    def left_over(self):
        return [path.name for path in self.root.iterdir() if ".partial" in path.name]


class SameAsOnTheFly(QuantizeCase):
    def test_folders_in_every_mode(self):
        for kind, changes in (("llama", {}), ("qwen2", {}), ("qwen3", {"tie_word_embeddings": True}), ("mistral", {"sliding_window": 8})):
            model = write_decoder_folder(self.root / kind, make_decoder(kind, 60, **changes), "BF16", 2)
            for mode in MODES:
                with self.subTest(model=kind, mode=mode):
                    folder = self.quantised(model, mode, to=f"{kind}-{mode}")
                    for prompt in PROMPTS[:2]:
                        self.assertEqual(self.stored(folder, prompt), self.answer(model, prompt, mode=mode))

    def test_gguf_files_with_their_tokenizers_and_templates(self):
        for name, kind, changes, blocks in (("llama", "llama", {"rope_scaling": LLAMA3_SCALING}, "Q8_0"), ("mistral", "mistral", {}, "Q4_K"),
                                            ("qwen2", "qwen2", {}, "Q6_K"), ("qwen3", "qwen3", {"tie_word_embeddings": True}, "F16")):
            file = write_decoder_gguf(self.root / f"{name}.gguf", make_decoder(kind, 61, **changes), blocks)
            folder = self.quantised(file, "a16w4", to=name)
            for prompt in [*PROMPTS, "a<|im_end|>b", "x" * 40 + " 12345 don't DON'T"]:
                with self.subTest(model=name, prompt=prompt):
                    self.assertEqual(self.stored(folder, prompt), self.answer(file, prompt, mode="a16w4"))
            asked = [self.assert_ok(self.ask("generate", model, "--prompt", "Hello <|im_end|>", "--max-tokens", 4, "--mode", "a16w4", "--json")).json
                     for model in (folder, file)]
            self.assertEqual(*asked)

    def test_an_embedding_of_blocks_is_kept_in_half_the_bytes(self):
        """As float16, and within an eighth of the blocks' own rounding; other floats stay what they are."""
        model = make_decoder("llama", 64)
        name = "model.embed_tokens.weight"
        for kind, dtype in (("Q8_0", "F16"), ("Q4_K", "F16"), ("F16", "F16"), ("BF16", "BF16"), ("F32", "F32")):
            with self.subTest(kind=kind):
                file = write_decoder_gguf(self.root / f"{kind}.gguf", model, kind)
                told = self.assert_ok(self.quantize(file, "a16w8", to=kind)).json["quantization"]["converted"]
                stored = header_of(self.root / kind / "model.safetensors")[0][name]
                self.assertEqual(stored["dtype"], dtype)
                self.assertEqual([(one["tensor"], one["type"]) for one in told], [(name, "float16")] if kind[0] == "Q" else [])
                before = Decoder(file).weights[name]
                after = weights_of(self.root / kind)[name]
                if kind[0] == "Q":
                    rounding = np.sqrt(np.mean((before - model.tensors[name]) ** 2))
                    self.assertLess(np.sqrt(np.mean((after - before) ** 2)), rounding / 8)
                    self.assertAlmostEqual(told[0]["error"], np.sqrt(((after - before) ** 2).sum() / (before ** 2).sum()), delta=1e-7)
                else:
                    self.assertTrue(np.array_equal(after, before))
        large = make_decoder("llama", 64)
        large.tensors[name][5, 7] = 1e6
        file = write_decoder_gguf(self.root / "large.gguf", large, "Q8_0")
        told = self.assert_ok(self.ask("quantize", file, "--output", self.root / "large", "--mode", "a16w8")).out
        self.assertIn(f"{name} as float32, rounded by 0.000 %", told)
        self.assertTrue(np.array_equal(weights_of(self.root / "large")[name], Decoder(file).weights[name]))

    def test_vectors_of_encoders(self):
        model = write_encoder_folder(self.root / "encoder", make_encoder(62), "cls")
        for mode in MODES:
            folder = self.quantised(model, mode, to=f"encoder-{mode}")
            told = self.assert_ok(self.ask("embed", folder, "--text", "The cat sat.", "--json")).json["vectors"]
            self.assertEqual(told, self.vectors(model, "The cat sat.", mode=mode))

    def test_the_same_bytes_with_any_number_of_threads(self):
        model = write_decoder_folder(self.root / "model", make_decoder("llama", 63))
        for options in ((), ("--method", "awq", "--calibration", self.calibration())):
            files = [(self.quantised(model, "a16w4", *options, "--threads", threads, to=f"{len(options)}-{threads}") / "model.safetensors").read_bytes()
                     for threads in (1, 2, 5)]
            self.assertEqual(len(set(files)), 1)

    def test_another_mode_is_refused(self):
        model = write_decoder_folder(self.root / "model", make_decoder("llama", 64))
        folder = self.quantised(model, "a16w4")
        for mode in ("float", "a16w8", "da8w4"):
            self.assert_refused(self.generate(folder, "a", mode=mode), "a16w4", mode)
        self.assert_refused(self.quantize(folder, "a16w4", to="again"), "already")
        told = self.assert_ok(self.ask("info", folder, "--json")).json["model"]
        self.assertEqual(told["quantized"], "a16w4 (search, groups of 64)")


class Values(QuantizeCase):
    """Beside numpy."""

    def setUp(self):
        super().setUp()
        self.tiny = make_decoder("llama", 65)
        self.model = write_decoder_folder(self.root / "model", self.tiny)

    def errors(self, folder):
        return {name: float(((weights - self.tiny.tensors[name]) ** 2).sum()) for name, weights in weights_of(folder).items()}

    def test_int8(self):
        for name, (values, scales) in read_quantised(self.quantised(self.model, "a16w8")).items():
            weights = self.tiny.tensors[name + ".weight"]
            self.assertTrue(np.array_equal(scales[:, 0].astype(np.float32), np.abs(weights).max(1) / np.float32(127)), name)
            self.assertTrue(np.array_equal(values, np.rint(weights.astype(np.float64) / scales)), name)

    def test_float8(self):
        for name, (values, scales) in read_quantised(self.quantised(self.model, "fp8")).items():
            weights = self.tiny.tensors[name + ".weight"]
            self.assertTrue(np.array_equal(scales[:, 0].astype(np.float32), np.abs(weights).max(1) / np.float32(448)), name)
            self.assertLessEqual(np.abs(values * scales - weights).max(), np.abs(weights).max() / 16, name)

    def test_int4_by_the_largest_weight(self):
        for group in (32, 64, 128):
            folder = self.quantised(self.model, "a16w4", "--method", "absmax", "--group", group, to=f"absmax{group}")
            for name, (values, scales) in read_quantised(folder).items():
                weights = self.tiny.tensors[name + ".weight"].astype(np.float64).reshape(len(values), -1, group)
                self.assertLessEqual(np.abs(scales * 7 / np.abs(weights).max(-1) - 1).max(), 2**-8, name)
                ratio = weights / scales[..., None]
                self.assertLessEqual(np.abs(np.clip(ratio, -8, 7) - values.reshape(weights.shape)).max(), 0.5 + 1e-6, name)

    def test_search_loses_less_than_the_largest_weight_and_smaller_groups_less(self):
        methods = [sum(self.errors(self.quantised(self.model, "a16w4", "--method", method, to=method)).values())
                   for method in ("search", "mse", "absmax")]
        self.assertEqual(methods, sorted(methods))
        groups = [sum(self.errors(self.quantised(self.model, "da8w4", "--group", group, to=str(group))).values()) for group in (32, 64, 128)]
        self.assertEqual(groups, sorted(groups))

    def test_the_loss_that_is_told(self):
        result = self.assert_ok(self.quantize(self.model, "a16w4")).json["quantization"]
        errors = self.errors(self.root / "quantised")
        quantised = [name + ".weight" for name in read_quantised(self.root / "quantised")]
        sizes = {name: float((self.tiny.tensors[name].astype(np.float64) ** 2).sum()) for name in quantised}

        def relative(names):
            return np.sqrt(sum(errors[name] for name in names) / sum(sizes[name] for name in names))

        self.assertAlmostEqual(result["error"] / relative(quantised), 1, delta=1e-6)
        for kind, error in result["kinds"].items():
            self.assertAlmostEqual(error / relative([name for name in quantised if f"{kind}." in name]), 1, delta=1e-6)
        worst = max(quantised, key=lambda name: relative([name]))
        self.assertEqual(result["worst"]["tensor"], worst)
        self.assertEqual(self.assert_ok(self.ask("info", self.model, "--mode", "a16w4", "--json")).json["model"]["quantization"], result)
        self.assertIn("worst", self.assert_ok(self.ask("info", self.model, "--mode", "a16w4")).out)


def with_outliers(kind, seed, **changes):
    """Some channels of the norms are far larger than the rest, as in models that were trained."""
    model = make_decoder(kind, seed, **changes)
    for name, values in model.tensors.items():
        if name.endswith("layernorm.weight"):
            values[5::41] *= 12
        if name.endswith(("q_proj.weight", "k_proj.weight")):
            values *= 0.2  # so that attention still looks at more than one token
        if name.endswith("up_proj.weight"):
            values[3::50] *= 8
    return model


def encoder_with_outliers(seed):
    """Some channels of the values, and so of what is mixed of them, are far larger than the rest."""
    model = make_encoder(seed)
    for name, values in model.tensors.items():
        if "attention.self.value" in name:
            values[5::23] *= 10
        if name.endswith("attention.self.query.weight"):
            values *= 0.2
    return model


class AwqOfEncoders(QuantizeCase):
    def lost(self, model, folder, texts):
        exact = np.asarray(self.vectors(model, *texts, mode="float"))
        return float(((np.asarray(self.assert_ok(self.ask("embed", folder, *[part for text in texts for part in ("--text", text)], "--json")).json["vectors"])
                       - exact) ** 2).sum())

    def test_it_changes_the_vectors_less_than_rounding_does(self):
        texts = ["The cat sat.", "the river and the rest of it", "a dog on the mat"]
        for group in (32, 64):
            ratios = []  # a single random model may go either way
            for seed in range(70, 78):
                model = write_encoder_folder(self.root / f"encoder-{group}-{seed}", encoder_with_outliers(seed))
                lost = {}
                for method, options in (("search", ()), ("awq", ("--calibration", self.calibration()))):
                    folder = self.quantised(model, "a16w4", "--group", group, "--method", method, *options, to=f"{group}-{seed}-{method}")
                    lost[method] = self.lost(model, folder, texts)
                ratios.append(lost["awq"] / lost["search"])
            with self.subTest(group=group):
                self.assertLess(np.exp(np.log(ratios).mean()), 0.8)

    def test_folding_alone_changes_nothing(self):
        model = write_encoder_folder(self.root / "encoder", encoder_with_outliers(74), "cls")
        folder = self.quantised(model, "a16w8", "--method", "awq", "--calibration", self.calibration())
        for told, exact in zip(self.assert_ok(self.ask("embed", folder, "--text", "The cat sat.", "--json")).json["vectors"],
                               self.vectors(model, "The cat sat.", mode="float")):
            self.assertGreater(cosine(told, exact), 0.999)
        bias = "encoder.layer.0.attention.self.value.bias"
        self.assertFalse(np.allclose(weights_of(folder)[bias], Encoder(model).weights[bias]))

    def test_what_is_lost_is_told(self):
        model = write_encoder_folder(self.root / "encoder", encoder_with_outliers(75))
        told = self.assert_ok(self.quantize(model, "a16w4", "--method", "awq", "--calibration", self.calibration())).json["quantization"]
        self.assertEqual(list(told["kinds"]), ["query", "key", "value", "attention.output", "intermediate", "output"])
        self.assertTrue(0 < told["error"] < 0.3)


class Awq(QuantizeCase):
    def logits(self, folder, tokens):
        """In double, from what the folder's numbers stand for."""
        oracle = Decoder(folder)
        oracle.weights = weights_of(folder)
        return np.asarray(oracle.logits(tokens))

    def test_it_changes_the_answers_less_than_rounding_does(self):
        # A single random model may go either way.
        tokens = [tiny_tokenizers.TOKENS.index(token) for token in "theriverandthecatsat"]
        for kind, changes in (("llama", {}), ("llama", {"num_key_value_heads": 8}), ("qwen2", {}), ("qwen3", {})):
            lost = {"search": 0.0, "awq": 0.0}
            for seed in (66, 67):
                name = f"{kind}{len(changes)}-{seed}"
                model = write_decoder_folder(self.root / name, with_outliers(kind, seed, **changes))
                exact = np.asarray(Decoder(model).logits(tokens))
                for method in lost:
                    options = ("--calibration", self.calibration()) if method == "awq" else ()
                    folder = self.quantised(model, "a16w4", "--method", method, *options, to=f"{name}-{method}")
                    lost[method] += float(((self.logits(folder, tokens) - exact) ** 2).sum() / (exact**2).sum())
            with self.subTest(model=kind, changes=changes):
                self.assertLess(lost["awq"], 0.85 * lost["search"])

    def test_folding_alone_changes_nothing(self):
        # int8 weights lose little: what is left is the folding, which must cancel.
        for kind in ("llama", "qwen2"):
            model = write_decoder_folder(self.root / kind, with_outliers(kind, 67))
            folder = self.quantised(model, "a16w8", "--method", "awq", "--calibration", self.calibration(), to=f"{kind}-awq")
            tokens = list(range(4, 30))
            exact = np.asarray(Decoder(model).logits(tokens))
            self.assertLess(np.abs(self.logits(folder, tokens) - exact).max() / exact.std(), 0.2)
            norm = "model.layers.0.input_layernorm.weight"
            self.assertFalse(np.allclose(weights_of(folder)[norm], Decoder(model).weights[norm]))

    def test_gguf_files(self):
        file = write_decoder_gguf(self.root / "model.gguf", with_outliers("llama", 68, rope_scaling=LLAMA3_SCALING), "Q8_0")
        folder = self.quantised(file, "a16w4", "--method", "awq", "--group", 32, "--calibration", self.calibration())
        self.assertEqual(json.loads((folder / "config.json").read_text())["quantization_config"],
                         {"quant_method": "axle", "format": 1, "mode": "a16w4", "method": "awq", "group": 32})
        self.stored(folder, PROMPTS[0])

    def test_what_it_needs(self):
        model = write_decoder_folder(self.root / "model", make_decoder("llama", 69))
        encoder = write_encoder_folder(self.root / "encoder", make_encoder(69))
        short = self.root / "short.txt"
        short.write_text("ab")
        awq = ("--method", "awq")
        self.assert_refused(self.quantize(model, "a16w4", *awq), "--calibration")
        self.assert_refused(self.quantize(model, "a16w4", "--calibration", short), "--method awq")
        self.assert_refused(self.quantize(model, "a16w4", *awq, "--calibration", short), "2 tokens")
        self.assert_refused(self.quantize(model, "a16w4", *awq, "--calibration", self.root / "none"), "none")
        self.assert_refused(self.quantize(encoder, "a16w4", *awq), "--calibration")
        self.assert_refused(self.quantize(encoder, "a16w4", *awq, "--calibration", short), "tokens; it needs 16")
        self.assertFalse((self.root / "quantised").exists())


class Runs(QuantizeCase):
    def test_what_cannot_be_meant_is_said(self):
        model = write_decoder_folder(self.root / "model", make_decoder("llama", 70))
        for options, word in ((("--mode", "float"), "float"), (("--mode", "a16w9"), "a16w9"), (("--mode", "a16w4", "--group", 48), "48"),
                              (("--mode", "a16w8", "--group", 64), "int4"), (("--mode", "a16w8", "--method", "mse"), "int4"),
                              (("--mode", "a16w4", "--method", "gptq"), "gptq"), ((), "--mode")):
            result = self.assert_refused(self.ask("quantize", model, "--output", self.root / "new", *options), word)
            self.assertEqual(result.code, 2)
        self.assert_refused(self.ask("quantize", model, "--mode", "a16w4"), "--output")
        self.assert_refused(self.quantize(model, "a16w4", to="model"), "something already")
        (self.root / "empty").mkdir()
        self.assert_refused(self.quantize(model, "a16w4", to="empty"), "something already")
        self.assert_refused(self.quantize(model, "a16w4", to="no/folder"), "no/folder")
        self.assertEqual(self.left_over(), [])

    def test_a_run_that_fails_leaves_nothing(self):
        tiny = make_decoder("llama", 71)
        tiny.tensors["lm_head.weight"][-1, -1] = np.nan
        model = write_decoder_folder(self.root / "model", tiny)
        self.assert_refused(self.quantize(model, "a16w4"), "lm_head.weight", "not finite")
        self.assertEqual(sorted(path.name for path in self.root.iterdir() if "quantised" in path.name), [])

    def test_a_killed_run_leaves_no_model(self):
        model = write_decoder_folder(self.root / "model", make_decoder("llama", 72, intermediate_size=16384))
        with subprocess.Popen([VARIANT, "model", "quantize", model, "--output", self.root / "quantised", "--mode", "a16w4", "--threads", "1"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
            while not self.left_over() and run.poll() is None:
                time.sleep(0.002)
            run.kill()
        self.assertNotEqual(run.returncode, 0, "it was too fast to be killed")
        self.assertFalse((self.root / "quantised").exists())
        self.assertEqual(len(self.left_over()), 1)
        # The next one clears up.
        self.stored(self.quantised(model, "a16w4"), "a")
        self.assertEqual(self.left_over(), [])


class HostileFolders(QuantizeCase):
    PART = "model.layers.1.mlp.down_proj"

    def make(self, mode, *options):
        self.made = getattr(self, "made", 0) + 1
        model = self.root / "model"
        if not model.exists():
            write_decoder_folder(model, make_decoder("llama", 73))
        return self.quantised(model, mode, *options, to=f"hostile{self.made}")

    def refused(self, folder, *words):
        self.assert_refused(self.ask("generate", folder, "--prompt", "a", "--raw", "--max-tokens", 1), *words)

    def test_configurations(self):
        for change, words in (({"format": 2}, ["format 2"]), ({"format": "1"}, ["format"]), ({"quant_method": "gptq"}, ["gptq"]),
                              ({"mode": "a16w9"}, ["a16w9"]), ({"mode": "float"}, ["float"]), ({"mode": 4}, ["mode"]),
                              ({"group": 48}, ["48"]), ({"group": 0}, ["groups"]), ({"group": -64}, ["group"]),
                              ({"group": 128}, ["weight_scale", "shape"]), ({"mode": "a16w8"}, ["groups"])):
            with self.subTest(change=change):
                folder = self.make("a16w4")
                config = json.loads((folder / "config.json").read_text())
                config["quantization_config"] |= change
                (folder / "config.json").write_text(json.dumps(config))
                self.refused(folder, *words)
        folder = self.make("a16w4")
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps(config | {"quantization_config": [1]}))
        self.refused(folder, "quantization_config")
        del config["quantization_config"]
        (folder / "config.json").write_text(json.dumps(config))
        self.refused(folder, "weight", "shape")

    def test_scales_and_values(self):
        float32 = {"nan": b"\0\0\xc0\x7f", "infinite": b"\0\0\x80\x7f", "negative": b"\0\0\x80\xbf", "zero": b"\0\0\0\0"}
        words = {"nan": "not finite", "infinite": "not finite", "negative": "negative", "zero": "zero"}
        for mode in ("a16w8", "fp8"):
            for name, scale in float32.items():
                with self.subTest(mode=mode, scale=name):
                    folder = self.make(mode)
                    change_bytes(folder / "model.safetensors", self.PART + ".weight_scale", 8, scale)
                    self.refused(folder, self.PART + ".weight_scale", "row 2", words[name])
        for name in ("nan", "infinite", "zero"):
            with self.subTest(mode="a16w4", scale=name):
                folder = self.make("a16w4")
                change_bytes(folder / "model.safetensors", self.PART + ".weight_scale", 2, float32[name][2:])
                self.refused(folder, self.PART + ".weight_scale", "row 0, group 1", words[name])
        for mode, value, word in (("a16w8", b"\x80", "-128"), ("fp8", b"\x7f", "not finite")):
            folder = self.make(mode)
            change_bytes(folder / "model.safetensors", self.PART + ".weight", 3, value)
            self.refused(folder, self.PART + ".weight", word)
        folder = self.make("a16w4", "--method", "absmax")
        change_bytes(folder / "model.safetensors", self.PART + ".weight_scale", 0, b"\x80\xbf")
        self.refused(folder, self.PART + ".weight_scale", "negative")

    def test_shapes_and_types(self):
        path = self.make("a16w8") / "model.safetensors"
        change_header(path, lambda header: header[self.PART + ".weight"].update(shape=[512, 256]))
        self.refused(path.parent, self.PART + ".weight", "shape")
        path = self.make("a16w8") / "model.safetensors"
        change_header(path, lambda header: header[self.PART + ".weight"].update(dtype="U8"))
        self.refused(path.parent, self.PART + ".weight", "int8")
        path = self.make("a16w4") / "model.safetensors"
        change_header(path, lambda header: header[self.PART + ".weight_scale"].update(dtype="I16"))
        self.refused(path.parent, self.PART + ".weight_scale", "int16")
        path = self.make("a16w4") / "model.safetensors"
        change_header(path, lambda header: header.update({self.PART + ".weight_scalf": header.pop(self.PART + ".weight_scale")}))
        self.refused(path.parent, self.PART + ".weight_scale", "missing")


if __name__ == "__main__":
    unittest.main(verbosity=2)
