"""What is measured of a model's layers is kept, used from then on, and changes no answer."""

import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from model_case import PROMPTS, ModelCase
from tiny_models import make_decoder, make_encoder, write_decoder_folder, write_encoder_folder


class Tuned(ModelCase):
    def setUp(self):
        super().setUp()
        self.model = write_decoder_folder(self.root / "model", make_decoder("llama", 50))
        self.cache = self.root / "cache"
        self.kept = self.cache / "tuning-1/layers.json"

    def ask(self, *arguments, env=None, **how):
        return super().ask(*arguments, env={"AXLE_CACHE_DIR": str(self.cache), **(env or {})}, **how)

    def tune(self, *options, model=None):
        return self.assert_ok(self.ask("tune", model or self.model, *options, "--json")).json

    def choose_otherwise(self, path=None):
        """In the place of what was measured: another set than the default for everything."""
        table = json.loads(self.kept.read_text())
        shapes = [{"mode": "a16w8", "group": 0, "n": n, "k": k} for n in range(16, 1024, 16) for k in (64, 128, 256, 512)][:256]
        table["machines"][0]["layers"] = [{**shape, "rows": rows, "kernel": "baseline", "threads": 1, "chunk": 0, "gain": 2.0}
                                          for shape in shapes for rows in (1, 8, 64)]
        (path or self.kept).write_text(json.dumps(table))
        return table


class Measuring(Tuned):
    def test_what_was_measured_is_told_and_kept(self):
        told = self.tune("--mode", "a16w8", "--threads", 2)
        self.assertEqual((told["mode"], told["threads"], told["files"]), ("a16w8", 2, [str(self.kept)]))
        self.assertEqual([row["rows"] for row in told["rows"]], [1, 2, 4, 8, 16, 32, 64])
        self.assertGreaterEqual(told["shapes"], 3)
        self.assertGreater(told["measurements"], 0)
        for layer in told["layers"]:
            self.assertIn(layer["kernel"], self.kernels())
            self.assertGreaterEqual(layer["gain"], 1.03)
        table = json.loads(self.kept.read_text())
        self.assertEqual((table["axle_tuning"], len(table["machines"])), (1, 1))
        self.assertEqual(len(table["machines"][0]["layers"]), len(told["layers"]))

    def test_other_numbers_of_threads_are_kept_beside(self):
        for threads in (1, 2, 1):
            self.tune("--threads", threads)
        machines = json.loads(self.kept.read_text())["machines"]
        self.assertEqual(sorted(one["threads"] for one in machines), [1, 2])

    def test_a_table_is_exported_and_added_to(self):
        exported = self.root / "axle_runtime_tuning.json"
        for mode in ("a16w8", "da8w4"):
            self.assertEqual(self.tune("--mode", mode, "--export", exported)["files"], [str(self.kept), str(exported)])
        self.assertEqual(json.loads(exported.read_text()), json.loads(self.kept.read_text()))
        exported.write_text("{}")
        self.assert_refused(self.ask("tune", self.model, "--export", exported), "axle_tuning", str(exported))
        self.assertEqual(exported.read_text(), "{}")

    def test_text_says_what_is_used(self):
        self.assertRegex(self.assert_ok(self.ask("tune", self.model)).out, "rows    1: .*\n(.*\n)*written: ")

    def test_encoders(self):
        encoder = write_encoder_folder(self.root / "encoder", make_encoder(51))
        self.assertGreaterEqual(self.tune("--mode", "da8w8", model=encoder)["shapes"], 3)

    def test_what_cannot_be_tuned_is_refused(self):
        self.assert_refused(self.ask("tune", self.model, "--mode", "float"), "mode float")
        self.assert_refused(self.ask("tune", self.model, env={"AXLE_RUNTIME_KERNEL": "baseline"}), "AXLE_RUNTIME_KERNEL")
        self.assert_refused(self.ask("tune", self.root / "none"), "none")
        self.assertFalse(self.kept.exists())

    def test_the_cache_knows_the_file(self):
        self.tune()
        told = self.assert_ok(self.variant("cache", "info", env={"AXLE_CACHE_DIR": str(self.cache)})).out
        self.assertIn("measurements of the runtime", told)


class Using(Tuned):
    def test_answers_are_the_same_with_any_table(self):
        usual = [self.answer(self.model, prompt, mode="a16w8") for prompt in PROMPTS]
        self.tune()
        self.assertEqual([self.answer(self.model, prompt, mode="a16w8") for prompt in PROMPTS], usual)
        self.choose_otherwise()
        self.assertEqual([self.answer(self.model, prompt, mode="a16w8") for prompt in PROMPTS], usual)
        self.assertTrue(self.assert_ok(self.ask("bench", self.model, "--json")).json["tuned"])

    def test_a_file_that_cannot_be_used_is_left_alone_with_a_word(self):
        usual = self.answer(self.model, PROMPTS[0], mode="a16w8")
        self.tune()
        good = self.kept.read_text()
        for bad, word in (("", "JSON"), (good[:-20], "JSON"), (good.replace('"axle_tuning": 1', '"axle_tuning": 9'), "later"),
                          ('{"axle_tuning": 1, "machines": 3}', "machines"), ("[" * 100000, "nested")):
            with self.subTest(word=word, size=len(bad)):
                self.kept.write_text(bad)
                result = self.assert_ok(self.generate(self.model, PROMPTS[0], mode="a16w8"))
                self.assertEqual(result.json, usual)
                self.assertIn(word, result.err)
                self.assertIn("variant model tune", result.err)
        self.tune()  # in its place
        self.assertEqual(self.assert_ok(self.generate(self.model, PROMPTS[0], mode="a16w8")).err, "")

    def test_tables_of_other_machines_do_not_count(self):
        self.tune()
        table = self.choose_otherwise()
        self.assertTrue(self.assert_ok(self.ask("bench", self.model, "--json")).json["tuned"])
        table["machines"][0]["cpu"] = "another"
        self.kept.write_text(json.dumps(table))
        result = self.assert_ok(self.ask("bench", self.model, "--json", "--verbose"))
        self.assertFalse(result.json["tuned"])
        self.assertIn("other machines", result.err)

    def test_a_forced_kernel_is_not_tuned(self):
        self.tune()
        self.choose_otherwise()
        kernel = self.kernels()[0]
        result = self.assert_ok(self.ask("bench", self.model, "--json", env={"AXLE_RUNTIME_KERNEL": kernel}))
        self.assertFalse(result.json["tuned"])


class Speed(Tuned):
    def test_a_model_is_measured(self):
        told = self.assert_ok(self.ask("bench", self.model, "--mode", "a16w4", "--json")).json
        self.assertEqual([(one["call"], one["texts"]) for one in told["speed"]], [("generate", 1), ("generate", 8), ("generate", 32), ("prompt", 1)])
        for one in told["speed"]:
            self.assertGreater(one["tokens_per_second"], 0)
            self.assertGreaterEqual(one["bytes"], told["weight_bytes"])
            self.assertEqual(one["gain"], 1)
        self.assertGreater(told["read_gigabytes_per_second"], 0)
        self.assertFalse(told["tuned"])
        self.assertIn("generate", self.assert_ok(self.ask("bench", self.model)).out)

    def test_vectors_are_measured(self):
        encoder = write_encoder_folder(self.root / "encoder", make_encoder(52))
        told = self.assert_ok(self.ask("bench", encoder, "--json")).json
        self.assertEqual([(one["call"], one["texts"]) for one in told["speed"]], [("embed", 1), ("embed", 8), ("embed", 32)])

    def test_options_of_a_layer_are_not_those_of_a_model(self):
        self.assert_refused(self.ask("bench", self.model, "--batch", 4), "--batch")
        self.assert_refused(self.ask("bench", self.model, self.model), "one model")


class Selftest(Tuned):
    def test_every_set_gives_the_same(self):
        encoder = write_encoder_folder(self.root / "encoder", make_encoder(53))
        for model in (self.model, encoder):
            for mode in self.modes():
                with self.subTest(model=model.name, mode=mode):
                    told = self.assert_ok(self.ask("selftest", model, "--mode", mode, "--json")).json
                    self.assertLessEqual(set(told["tested"]), set(self.kernels()))
                    self.assertIn("baseline", told["tested"])
                    forced = self.assert_ok(self.ask("selftest", model, "--mode", mode, "--json", env={"AXLE_RUNTIME_KERNEL": "baseline"})).json
                    self.assertEqual((forced["tested"], forced["hash"]), (["baseline"], told["hash"]))

    def test_in_words(self):
        self.assertRegex(self.assert_ok(self.ask("selftest", self.model)).out, "^the same bits from .*baseline in mode a16w8: ")
        self.assert_refused(self.ask("selftest", self.root / "none"), "none")


if __name__ == "__main__":
    unittest.main(verbosity=2)
