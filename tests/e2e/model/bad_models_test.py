"""Hostile and damaged models, and what cannot be asked of a model: a clear error each time, never a crash."""

import json
import pathlib
import random
import struct
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from model_case import ModelCase
import blocks
import numpy as np
from gguf import GgufFile, write_gguf
from tiny_models import make_decoder, make_encoder, write_decoder_folder, write_decoder_gguf, write_encoder_folder

SMALL = {"hidden_size": 32, "intermediate_size": 32, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 16, "num_hidden_layers": 1,
         "max_position_embeddings": 64}


class BadCase(ModelCase):
    def ask_short(self, model, **how):
        return self.generate(model, "ab", most=2, **how)

    def assert_answers_or_refuses(self, model, what):
        """Damage that may go unnoticed must not crash."""
        result = self.ask_short(model)
        with self.subTest(damage=what):
            if result.code != 0:
                self.assert_refused(result)


class Folders(BadCase):
    def make(self, **changes):
        """A sound folder, in a place of its own each time."""
        self.made = getattr(self, "made", 0) + 1
        return write_decoder_folder(self.root / f"model{self.made}", make_decoder("llama", 50, **SMALL, **changes))

    def test_the_folder_itself_is_sound(self):
        self.assert_ok(self.ask_short(self.make()))

    def test_config(self):
        cases = {
            "not JSON": ("{", []), "not an object": ("[1]", []), "no type": ({"model_type": None}, ["type", "llama"]), "gpt2": ({"model_type": "gpt2"}, ["gpt2", "llama"]),
            "no hidden size": ({"hidden_size": None}, ["hidden_size"]), "hidden size 0": ({"hidden_size": 0}, ["hidden"]),
            "negative": ({"num_hidden_layers": -1}, ["num_hidden_layers"]), "text": ({"vocab_size": "many"}, ["vocab_size"]),
            "layers": ({"num_hidden_layers": 2}, ["layers.1."]), "most layers": ({"num_hidden_layers": 2**40}, ["layers"]),
            "heads": ({"num_attention_heads": 3, "num_key_value_heads": 2}, []), "vocabulary": ({"vocab_size": 2**50}, ["vocabulary"]),
            "context": ({"max_position_embeddings": 2**60}, ["context"]), "scaling": ({"rope_scaling": {"rope_type": "yarn", "factor": 4.0}}, ["yarn", "llama3"]),
            "scaling of nothing": ({"rope_scaling": 3}, ["rope_scaling"]), "theta": ({"rope_theta": -1.0}, []), "activation": ({"hidden_act": "relu"}, ["relu"]),
            "end": ({"eos_token_id": "</s>"}, ["eos_token_id"]), "wider": ({"hidden_size": 48}, ["[", "shape"]),
        }
        for name, (change, words) in cases.items():
            with self.subTest(config=name):
                folder = self.make()
                path = folder / "config.json"
                path.write_text(change if isinstance(change, str) else json.dumps({**json.loads(path.read_text()), **change}))
                self.assert_refused(self.ask_short(folder), str(folder), *words)

    def test_files_that_are_missing(self):
        for name in ("config.json", "model.safetensors", "tokenizer.json"):
            with self.subTest(missing=name):
                folder = self.make()
                (folder / name).unlink()
                self.assert_refused(self.ask_short(folder), name)

    def test_safetensors_headers_that_lie(self):
        data = (self.make() / "model.safetensors").read_bytes()
        (length,) = struct.unpack_from("<Q", data)
        header = json.loads(data[8:8 + length])
        name = "model.layers.0.mlp.up_proj.weight"
        begin, end = header[name]["data_offsets"]

        def with_header(text):
            text = text if isinstance(text, bytes) else json.dumps(text).encode()
            return struct.pack("<Q", len(text)) + text + data[8 + length:]

        def with_entry(**change):
            return with_header({**header, name: {**header[name], **change}})

        without = {key: value for key, value in header.items() if key != name}
        cases = {
            "empty": (b"", []), "seven bytes": (data[:7], []), "length": (struct.pack("<Q", 2**63) + data[8:], []), "longer": (struct.pack("<Q", len(data)) + data[8:], []),
            "cut header": (data[:8 + length // 2], []), "cut data": (data[:-1], []), "half": (data[:len(data) // 2], []), "more": (data + b"x", []),
            "not JSON": (with_header(b"{" * 100000), []), "list": (with_header([]), []), "no object": (with_header({**header, name: 7}), [name]),
            "type": (with_entry(dtype="F7"), [name, "F7"]), "no type": (with_entry(dtype=None), [name]), "shape": (with_entry(shape=[32, 31]), [name]),
            "negative": (with_entry(shape=[-32, -32]), [name]), "overflow": (with_entry(shape=[2**62, 2**62]), [name]), "text": (with_entry(shape=["a"]), [name]),
            "backwards": (with_entry(data_offsets=[end, begin]), [name]), "behind": (with_entry(data_offsets=[2**62, 2**62 + end - begin]), []),
            "overlapping": (with_entry(data_offsets=[0, end - begin]), []), "other shape": (with_entry(shape=[end // 4 - begin // 4]), [name]),
            "whole numbers": (with_entry(dtype="I32"), [name]), "missing tensor": (with_header(without), []),
            "twice": (with_header(json.dumps(header).encode()[:-1] + b"," + json.dumps({name: header[name]}).encode()[1:]), []),
        }
        for case, (content, words) in cases.items():
            with self.subTest(case):
                folder = self.make()
                (folder / "model.safetensors").write_bytes(content)
                self.assert_refused(self.ask_short(folder), str(folder), *words)

    def test_weights_that_are_no_numbers(self):
        text = self.root / "text.txt"
        text.write_text("ab" * 40)
        for name in ("model.layers.0.self_attn.k_proj.weight", "model.norm.weight", "lm_head.weight", "model.embed_tokens.weight"):
            for value in (np.nan, np.inf):
                with self.subTest(tensor=name, value=value):
                    model = make_decoder("llama", 50, **SMALL)
                    model.tensors[name][(slice(None), 3) if model.tensors[name].ndim == 2 else 3] = value
                    folder = write_decoder_folder(self.root / f"{name}{value}", model)
                    words = (str(folder), f'tensor \\"{name}\\"', "element 3 is not finite", "again")
                    for mode in ("float", "a16w8"):
                        self.assert_refused(self.ask_short(folder, mode=mode), *words)
                    self.assert_refused(self.ask("ppl", folder, "--file", text, "--window", 16, "--json"), *words)
                    for options in ((), ("--method", "awq", "--calibration", text)):
                        self.assert_refused(self.ask("quantize", folder, "--mode", "a16w4", *options, "--output", self.root / "quantised", "--json"), *words)
                    self.assertFalse((self.root / "quantised").exists())
        # Each row is read when its token comes.
        model = make_decoder("llama", 50, **SMALL)
        token = self.answer(self.make(), "b", most=1)["prompt_tokens"][0]
        model.tensors["model.embed_tokens.weight"][token, 3] = np.nan
        folder = write_decoder_folder(self.root / "one", model)
        self.assert_refused(self.ask_short(folder), "model.embed_tokens.weight", f"row {token}, element 3")

    def test_weights_of_encoders_that_are_no_numbers(self):
        for name in ("embeddings.word_embeddings.weight", "embeddings.position_embeddings.weight", "embeddings.token_type_embeddings.weight",
                     "embeddings.LayerNorm.bias", "encoder.layer.0.output.LayerNorm.weight", "encoder.layer.0.output.dense.bias",
                     "encoder.layer.1.intermediate.dense.weight"):
            with self.subTest(tensor=name):
                model = make_encoder(53)
                model.tensors[name][(slice(None), 3) if model.tensors[name].ndim == 2 else 3] = np.nan
                folder = write_encoder_folder(self.root / name, model)
                words = (str(folder), f'tensor \\"{name}\\"', "element 3 is not finite")
                self.assert_refused(self.embed(folder, "ab"), *words)
                self.assert_refused(self.ask("quantize", folder, "--mode", "a16w8", "--output", self.root / "quantised", "--json"), *words)

    def test_numbers_that_overflow(self):
        model = make_decoder("llama", 50, **SMALL)
        model.tensors["model.layers.0.mlp.down_proj.weight"] *= np.float32(1e38)
        folder = write_decoder_folder(self.root / "large", model)
        text = self.root / "text.txt"
        text.write_text("ab" * 40)
        self.assert_refused(self.ask_short(folder), str(folder), "overflow", "too large")
        self.assert_refused(self.ask("ppl", folder, "--file", text, "--window", 16, "--mode", "float"), str(folder), "overflow")

    def test_shards(self):
        names = [f"model-0000{i}-of-00003.safetensors" for i in (1, 2, 3)]

        def shards():
            self.made = getattr(self, "made", 0) + 1
            folder = write_decoder_folder(self.root / f"shards{self.made}", make_decoder("llama", 51, **SMALL), shards=3)
            return folder, folder / "model.safetensors.index.json"

        folder, _ = shards()
        self.assert_ok(self.ask_short(folder))
        (folder / names[1]).unlink()
        self.assert_refused(self.ask_short(folder), names[1])
        for case, change in {"outside": "../" + names[0], "absolute": "/etc/passwd", "another": names[2], "nothing": "", "number": 7}.items():
            with self.subTest(index=case):
                folder, index = shards()
                content = json.loads(index.read_text())
                content["weight_map"][next(name for name, file in content["weight_map"].items() if file == names[0])] = change
                index.write_text(json.dumps(content))
                self.assert_refused(self.ask_short(folder), index.name)
        for text in ("", "{}", "[]", '{"weight_map": []}', '{"weight_map": {"a": "b"'):
            with self.subTest(index=text):
                folder, index = shards()
                index.write_text(text)
                self.assert_refused(self.ask_short(folder))

    def test_tokenizers(self):
        def changed(change):
            folder = self.make()
            path = folder / "tokenizer.json"
            content = json.loads(path.read_text())
            change(content)
            path.write_text(json.dumps(content))
            return folder

        def at(*keys, value):
            def change(content):
                for key in keys[:-1]:
                    content = content[key]
                content[keys[-1]] = value
            return change

        for case, (change, words) in {
            "model": (at("model", "type", value="Unigram"), ["Unigram"]), "no model": (at("model", value=None), ["model"]),
            "pre-tokenizer": (at("pre_tokenizer", value={"type": "Metaspace"}), ["Metaspace"]),
            "expression": (at("pre_tokenizer", "pretokenizers", 0, "pattern", value={"Regex": "(a+)+$"}), []),
            "normalizer": (at("normalizer", value={"type": "Precompiled", "precompiled_charsmap": "AA=="}), ["Precompiled"]),
            "merge": (at("model", "merges", 0, value="q\u0120 zz"), []), "merges": (at("model", "merges", value=[7]), []),
            "id": (at("model", "vocab", "a", value=-1), []), "large id": (at("model", "vocab", "a", value=2**40), []), "ids": (at("model", "vocab", "a", value="0"), []),
            "vocabulary": (at("model", "vocab", value=[]), []), "added": (at("added_tokens", 0, value={"id": -5, "content": "x"}), []),
        }.items():
            with self.subTest(case):
                self.assert_refused(self.ask_short(changed(change)), "tokenizer.json", *words)
        for unknown in (at("surprise", value={"deep": [1]}), at("model", "surprise", value=7), at("pre_tokenizer", "surprise", value=None)):
            self.assertEqual(self.answer(changed(unknown), "ab", most=2), self.answer(self.make(), "ab", most=2))
        outside = changed(at("model", "vocab", "a", value=5000))
        self.assert_refused(self.ask_short(outside), str(outside), "token 5000, number 1 of the prompt", "vocabulary", "tokenizer")
        text = self.root / "text.txt"
        text.write_text("ba" * 40)
        self.assert_refused(self.ask("ppl", outside, "--file", text, "--window", 16), str(outside), "token 5000, number 2 of the text")
        self.assert_refused(self.ask("quantize", outside, "--mode", "a16w4", "--method", "awq", "--calibration", text, "--output", self.root / "q"),
                            str(outside), "token 5000, number 2 of the calibration text")
        for text in ("", "[]", "{", "\x00", "[" * 200000):
            with self.subTest(text=text[:3]):
                folder = self.make()
                (folder / "tokenizer.json").write_text(text)
                self.assert_refused(self.ask_short(folder), "tokenizer.json")

    def test_a_chat_template_that_is_not_known_names_raw(self):
        folder = self.make()
        (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": "{% for m in messages %}{{ m.content | upper }}{% endfor %}"}))
        self.assert_refused(self.ask("generate", folder, "--prompt", "a", "--max-tokens", 1), "--raw")
        self.assert_ok(self.ask_short(folder))


class Asked(BadCase):
    """A sound model, asked for what cannot be."""

    def setUp(self):
        super().setUp()
        self.decoder = write_decoder_folder(self.root / "decoder", make_decoder("llama", 52, **SMALL))
        self.encoder = write_encoder_folder(self.root / "encoder", make_encoder(53))

    def test_prompts(self):
        self.assert_refused(self.generate(self.decoder, ""), "prompt")
        self.assert_refused(self.generate(self.decoder, "x" * 65), "65", "64")
        self.assert_ok(self.generate(self.decoder, "x" * 63, most=1))
        broken = self.generate(self.decoder, "a\udcff\udcc3b", most=2)  # the bytes 61 FF C3 62
        if broken.code != 0:
            self.assert_refused(broken, "UTF-8")
        else:
            self.assertIn(broken.json, [self.generate(self.decoder, text, most=2).json for text in ("a��b", "a�b")])

    def test_counts(self):
        for most in ("-1", "many", "99999999999999999999"):
            with self.subTest(most=most):
                self.assert_refused(self.generate(self.decoder, "a", most=most))
        for temperature in ("-1", "warm", "nan"):
            with self.subTest(temperature=temperature):
                self.assert_refused(self.generate(self.decoder, "a", "--temperature", temperature))

    def test_the_other_kind_of_model(self):
        self.assert_refused(self.generate(self.encoder, "a"), "embed")
        self.assert_refused(self.embed(self.decoder, "a"))

    def test_what_is_no_model(self):
        (self.root / "empty").mkdir()
        (self.root / "empty.gguf").touch()
        (self.root / "text.gguf").write_text("This is no model.\n" * 100)
        for path in ("empty", "empty.gguf", "text.gguf", "nothing", "nothing.gguf", "/dev/null", "decoder/config.json"):
            with self.subTest(path=path):
                self.assert_refused(self.ask_short(self.root / path), path)


class Gguf(BadCase):
    def setUp(self):
        super().setUp()
        self.file = write_decoder_gguf(self.root / "sound.gguf", make_decoder("llama", 54, **SMALL), "Q8_0")
        self.data = self.file.read_bytes()

    def damaged(self, data):
        path = self.root / "damaged.gguf"
        path.write_bytes(data)
        return path

    def test_the_file_itself_is_sound(self):
        self.assert_ok(self.ask_short(self.file))

    def test_files_cut_short(self):
        for at in [*range(0, 64, 9), *range(100, len(self.data), len(self.data) // 30), len(self.data) - 33]:
            with self.subTest(bytes=at):
                self.assert_refused(self.ask_short(self.damaged(self.data[:at])), "damaged.gguf")

    def test_headers_that_lie(self):
        key = self.data.index(b"llama.block_count") - 8
        architecture = self.data.index(b"general.architecture") + len(b"general.architecture") + 4
        tensor = self.data.index(b"blk.0.ffn_up.weight") + len(b"blk.0.ffn_up.weight")  # dimensions, two lengths, type, offset
        for case, (at, form, value) in {
            "magic": (0, "I", 0x46554746), "version": (4, "I", 99), "tensors": (8, "Q", 2**60), "values": (16, "Q", 2**60), "one tensor less": (8, "Q", 1),
            "key": (key, "Q", 2**63), "architecture": (architecture, "Q", 2**64 - 1), "dimensions": (tensor, "I", 2**31), "length": (tensor + 4, "Q", 2**61),
            "lengths": (tensor + 12, "Q", 2**63), "no whole block": (tensor + 4, "Q", 31), "type": (tensor + 20, "I", 77), "gone type": (tensor + 20, "I", 4),
            "offset": (tensor + 24, "Q", 2**63), "odd offset": (tensor + 24, "Q", 1), "shape": (tensor + 4, "Q", 64),
        }.items():
            with self.subTest(case):
                data = bytearray(self.data)
                struct.pack_into("<" + form, data, at, value)
                self.assert_refused(self.ask_short(self.damaged(data)), "damaged.gguf")

    def test_metadata(self):
        sound = GgufFile(self.file)
        tensors = {name: (kind, blocks.decode(kind, data, shape)) for name, (kind, shape, data) in sound.tensors.items()}
        cases = {
            "architecture": ("general.architecture", "gptj"), "no layers": ("llama.block_count", None), "layers": ("llama.block_count", 2),
            "heads": ("llama.attention.head_count", 0), "text": ("llama.embedding_length", "wide"), "alignment": ("general.alignment", 3),
            "no tokens": ("tokenizer.ggml.tokens", None), "model": ("tokenizer.ggml.model", "t5"), "pre-tokenizer": ("tokenizer.ggml.pre", "unheard-of"),
            "merges": ("tokenizer.ggml.merges", ["zz qq"]), "types": ("tokenizer.ggml.token_type", [1, 1]), "scaling": ("llama.rope.scaling.type", "yarn"),
        }
        for case, (key, value) in cases.items():
            with self.subTest(case):
                metadata = {**sound.metadata, key: value}
                if value is None:
                    del metadata[key]
                write_gguf(self.root / "damaged.gguf", metadata, tensors)
                self.assert_refused(self.ask_short(self.root / "damaged.gguf"), "damaged.gguf")
        del tensors["blk.0.ffn_up.weight"]
        write_gguf(self.root / "damaged.gguf", sound.metadata, tensors)
        self.assert_refused(self.ask_short(self.root / "damaged.gguf"), "damaged.gguf", "blk.0.ffn_up.weight")

    def test_a_scale_that_is_no_number(self):
        tensor = bytes(GgufFile(self.file).tensors["blk.0.ffn_up.weight"][2])
        data = bytearray(self.data)
        struct.pack_into("<H", data, self.data.index(tensor) + 5 * 34, 0x7E00)
        for mode in ("float", "a16w8"):
            with self.subTest(mode=mode):
                self.assert_refused(self.ask_short(self.damaged(data), mode=mode), "damaged.gguf", "blk.0.ffn_up.weight")

    def test_changed_bytes(self):
        chance = random.Random(55)
        header = self.data.index(b"token_embd.weight") + 2000
        for i in range(60):
            data = bytearray(self.data)
            for _ in range(chance.choice((1, 1, 4, 32))):
                data[chance.randrange(min(header, len(data)))] = chance.randrange(256)
            self.assert_answers_or_refuses(self.damaged(data), f"number {i}")


if __name__ == "__main__":
    unittest.main(verbosity=2)
