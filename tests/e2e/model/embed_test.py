"""Encoders: vectors are those computed in double, in every mode."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from model_case import CAPS, ModelCase
import numpy as np
from encoder import Encoder
from tiny_models import make_encoder, write_encoder_folder
from tiny_tokenizers import WordPieces

TEXTS = ["The cat sat on the mat.", "x", "A river, a dog and 20 cats: singing?", "Zyxw (vuts) rq!", "one word after the other is a lot "]


class Vectors(ModelCase):
    def check(self, folder, mode, pooling="mean", normalized=True):
        oracle, words = Encoder(folder), WordPieces(folder)
        for text in TEXTS:
            with self.subTest(mode=mode, text=text):
                (vector,) = self.vectors(folder, text, mode=mode)
                expected = oracle.embed(words.encode(text), pooling, normalized)
                self.assert_vector(vector, expected, CAPS[mode].cosine)
                self.assertAlmostEqual(np.linalg.norm(vector) / np.linalg.norm(expected), 1, delta=1e-5 if mode == "float" else 0.1)

    def test_every_pooling(self):
        for pooling in ("mean", "cls"):
            for normalized in (True, False):
                with self.subTest(pooling=pooling, normalized=normalized):
                    folder = self.root / f"{pooling}{normalized}"
                    self.check(write_encoder_folder(folder, make_encoder(1), pooling, normalized), "float", pooling, normalized)

    def test_every_type_of_weights(self):
        for dtype in ("F16", "BF16"):
            with self.subTest(dtype=dtype):
                self.check(write_encoder_folder(self.root / dtype, make_encoder(2), dtype=dtype), "float")

    def test_names_behind_bert_and_other_shapes(self):
        model = make_encoder(3, hidden_size=96, num_attention_heads=2, intermediate_size=80, num_hidden_layers=1)
        model.tensors = {"bert." + name: values for name, values in model.tensors.items()}
        self.check(write_encoder_folder(self.root / "model", model), "float")

    def test_quantised_modes_stay_within_their_errors(self):
        folder = write_encoder_folder(self.root / "model", make_encoder(4))
        for mode in self.modes():
            self.check(folder, mode)

    def test_several_texts_have_the_vectors_that_each_has_alone(self):
        folder = write_encoder_folder(self.root / "model", make_encoder(5))
        for mode in ("float", "a16w8"):
            self.assertEqual(self.vectors(folder, *TEXTS, mode=mode), [self.vectors(folder, text, mode=mode)[0] for text in TEXTS])

    def test_a_text_longer_than_the_context_is_refused(self):
        folder = write_encoder_folder(self.root / "model", make_encoder(6))
        self.assert_refused(self.embed(folder, "a " * 100), "64")
        words = WordPieces(folder).encode("a " * 62)
        self.assertEqual(len(words), 64)
        self.assert_vector(self.vectors(folder, "a " * 62)[0], Encoder(folder).embed(words), CAPS["float"].cosine)


if __name__ == "__main__":
    unittest.main(verbosity=2)
