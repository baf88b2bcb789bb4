"""Rerankers: scores are those computed in double, in every mode; what is none is refused."""

import json
import math
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from model_case import ModelCase
from encoder import Encoder
from tiny_models import make_encoder, make_reranker, write_encoder_folder
from tiny_tokenizers import WordPieces

QUERY = "The cat sat?"
TEXTS = ["The cat sat on the mat.", "x", "A river, a dog and 20 cats: singing?", "", "one word after the other "]
# How far a score may be off, where the scores of the texts are some 1.5 apart.
OFF = {"float": 1e-5, "a16w8": 0.05, "da8w8": 0.15, "a16w4": 1.0, "da8w4": 1.0, "fp8": 0.4}


class Reranking(ModelCase):
    def rerank(self, model, query, *texts, mode="float", **how):
        return self.ask("rerank", model, "--query", query, *(word for text in texts for word in ("--text", text)), "--mode", mode, "--json", **how)

    def scores(self, *arguments, **options):
        return self.assert_ok(self.rerank(*arguments, **options)).json["scores"]

    def expected(self, folder, query=QUERY, texts=TEXTS):
        oracle, words = Encoder(folder), WordPieces(folder)
        return [oracle.score(*words.encode_pair(query, text)) for text in texts]

    def folder(self, seed, **changes):
        return write_encoder_folder(self.root / f"model{seed}", make_reranker(seed, **changes))

    def test_every_mode_has_the_scores_of_the_definition(self):
        folder = self.folder(1)
        expected = self.expected(folder)
        self.assertGreater(max(expected) - min(expected), 1)
        for mode in self.modes():
            with self.subTest(mode=mode):
                for score, wanted in zip(self.scores(folder, QUERY, *TEXTS, mode=mode), expected, strict=True):
                    self.assertLessEqual(abs(score - wanted), OFF[mode] * (1 + abs(wanted)))

    def test_a_pair_has_the_score_that_it_has_alone_and_the_order_of_texts_counts(self):
        folder = self.folder(2)
        for mode in ("float", "a16w8", "da8w4"):
            together = self.scores(folder, QUERY, *TEXTS, mode=mode)
            self.assertEqual(together, [self.scores(folder, QUERY, text, mode=mode)[0] for text in TEXTS])
        self.assertNotEqual(self.scores(folder, TEXTS[0], TEXTS[2]), self.scores(folder, TEXTS[2], TEXTS[0]))

    def test_the_answer_to_read_has_the_best_first(self):
        folder = self.folder(3)
        expected = dict(zip(TEXTS, self.expected(folder)))
        told = self.assert_ok(self.ask("rerank", folder, "--query", QUERY, *(word for text in TEXTS for word in ("--text", text)), "--mode", "float")).out
        self.assertEqual([line[11:] for line in told.splitlines()], sorted(TEXTS, key=expected.get, reverse=True))
        self.assertAlmostEqual(float(told.split()[0]), max(expected.values()), places=3)

    def test_quantised_folders_keep_the_head(self):
        folder = self.folder(4)
        self.assert_ok(self.ask("quantize", folder, "--output", self.root / "small", "--mode", "a16w8"))
        self.assertEqual(self.scores(self.root / "small", QUERY, *TEXTS, mode="a16w8"), self.scores(folder, QUERY, *TEXTS, mode="a16w8"))

    def test_bert_processing_and_the_number_of_labels(self):
        folder = self.folder(5)
        expected = self.scores(folder, QUERY, *TEXTS)
        tokenizer = json.loads((folder / "tokenizer.json").read_text())
        ids = tokenizer["model"]["vocab"]
        tokenizer["post_processor"] = {"type": "BertProcessing", "cls": ["[CLS]", ids["[CLS]"]], "sep": ["[SEP]", ids["[SEP]"]]}
        (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
        config = json.loads((folder / "config.json").read_text())
        del config["id2label"]
        (folder / "config.json").write_text(json.dumps(config | {"num_labels": 1}))
        self.assertEqual(self.scores(folder, QUERY, *TEXTS), expected)

    def test_vectors_of_a_reranker_are_refused_and_scores_of_others(self):
        folder = self.folder(6)
        self.assert_refused(self.embed(folder, "a"), "reranker", "variant model rerank")
        plain = write_encoder_folder(self.root / "plain", make_encoder(6))
        self.assert_refused(self.rerank(plain, "a", "b"), "no reranker", str(plain))
        moods = write_encoder_folder(self.root / "moods", make_reranker(6, classes=3))
        self.assert_refused(self.rerank(moods, "a", "b"), "one class")
        self.assert_refused(self.embed(moods, "a"), "3 classes")

    def test_what_is_missing_is_named(self):
        for name in ("classifier.weight", "classifier.bias", "bert.pooler.dense.weight", "bert.pooler.dense.bias"):
            with self.subTest(name=name):
                model = make_reranker(7)
                del model.tensors[name]
                self.assert_refused(self.rerank(write_encoder_folder(self.root / name, model), "a", "b"), name)
        model = make_reranker(8)
        model.tensors["classifier.weight"][0, 3] = math.nan
        self.assert_refused(self.rerank(write_encoder_folder(self.root / "nan", model), "a", "b"), "classifier.weight", "not finite")
        model = make_reranker(8, type_vocab_size=1)
        self.assert_refused(self.rerank(write_encoder_folder(self.root / "segment", model), "a", "b"), "type_vocab_size")

    def test_templates_that_are_not_known(self):
        for pair in ([], [{"Sequence": {"id": "B", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 1}}],
                     [{"Sequence": {"id": "A", "type_id": 1}}, {"Sequence": {"id": "B", "type_id": 0}}],
                     [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 2}}]):
            with self.subTest(pair=pair):
                folder = write_encoder_folder(self.root / str(len(json.dumps(pair))) / str(hash(str(pair))), make_reranker(9))
                tokenizer = json.loads((folder / "tokenizer.json").read_text())
                tokenizer["post_processor"]["pair"] = pair
                (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
                self.assert_refused(self.rerank(folder, "a", "b"), "how two texts are read together")

    def test_pairs_longer_than_the_context(self):
        folder = self.folder(10)
        self.assert_refused(self.rerank(folder, "a " * 30, "x", "b " * 40), "pair 1", "73 tokens", "64")
        self.assertEqual(len(self.scores(folder, "a " * 30, "b " * 31)), 1)

    def test_options_are_asked_for(self):
        folder = self.folder(11)
        self.assert_fails(self.ask("rerank", folder, "--text", "a"), 2, "--query is missing")
        self.assert_fails(self.ask("rerank", folder, "--query", "a"), 2, "--text is missing")


if __name__ == "__main__":
    unittest.main(verbosity=2)
