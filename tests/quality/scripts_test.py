"""What `./dev quality` does beside training: texts, tokenizer, table, plot and verdict. The tokenizer is held against the program's."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "runtime/model/oracle")]
import byte_pairs
import measure
import page
import plot
import texts
from tiny_models import make_decoder, write_decoder_folder

TEXT = "The cat sat on the mat, and the other cat didn't.\n\n    indented = 2048 + x;\n\tThe END (of it)...  \n" * 4 + "'Tis l'amour: CAN'T!!\r\n a1b22c4444"


class Texts(unittest.TestCase):
    def setUp(self):
        self.files = {f"package/{i}.txt": f"text {i} begins\n" + f"{i} goes on\n" * 2000 for i in range(200)}

    def test_no_file_is_learned_from_and_measured_on(self):
        parts = texts.divide(self.files)
        for name, text in self.files.items():
            first = text.partition("\n")[0] + "\n"
            self.assertEqual(first in parts["training"], not texts.is_held_out(name))
            self.assertFalse(texts.is_held_out(name) and first in parts["calibration"])
            self.assertFalse(not texts.is_held_out(name) and first in parts["held_out"])
        self.assertTrue(0 < len(parts["held_out"]) <= texts.HELD_OUT_BYTES)
        self.assertTrue(0 < len(parts["calibration"]) <= texts.CALIBRATION_BYTES)

    def test_the_order_of_files_does_not_matter(self):
        self.assertEqual(texts.divide(self.files), texts.divide(dict(reversed(self.files.items()))))

    def test_parts_end_with_a_line(self):
        self.assertEqual(texts.take_parts(["one\ntwo\nthree\n", "four\nfive\n"], 9, 14), "one\ntwo\nfour\n")

    def test_lines_outside_ascii_are_left_out(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "text.txt"
            path.write_bytes("plain  \nÜber\nbad \xff\n".encode("latin-1") + b"end")
            self.assertEqual(texts.read_text(path), "plain\nend\n")


class Tokenizer(unittest.TestCase):
    def setUp(self):
        self.tokenizer = byte_pairs.BytePairs(byte_pairs.train_merges(TEXT, 60))

    def test_the_most_frequent_pair_first(self):
        self.assertEqual(byte_pairs.train_merges("ab ab ab abc xy xy", 3), [("a", "b"), ("Ġ", "ab"), ("x", "y")])
        self.assertEqual(byte_pairs.train_merges("aaa b", 9), [("a", "a")])

    def test_training_counts_like_counting_anew(self):
        """Beside the definition: after each merge all pairs are counted again."""
        words = [list(word) for word in byte_pairs.words_of(TEXT)]
        for merge in self.tokenizer.merges:
            pairs = {}
            for word in words:
                for pair in zip(word, word[1:]):
                    pairs[pair] = pairs.get(pair, 0) + 1
            self.assertEqual(merge, min(pairs, key=lambda pair: (-pairs[pair], pair)))
            words = [byte_pairs.merge_in(word, *merge) for word in words]

    def test_tokens_stand_for_the_text(self):
        names = {i: token for token, i in self.tokenizer.ids.items()}
        byte = {character: value for value, character in byte_pairs.CHARACTERS.items()}
        told = bytes(byte[character] for token in self.tokenizer.encode(TEXT) for character in names[token])
        self.assertEqual(told.decode(), TEXT)

    def test_the_program_makes_the_same_tokens(self):
        with tempfile.TemporaryDirectory() as root:
            folder = write_decoder_folder(pathlib.Path(root) / "model", make_decoder("llama", 1, vocab_size=len(self.tokenizer.ids), bos_token_id=0,
                                                                                     eos_token_id=0))
            (folder / "tokenizer.json").write_text(self.tokenizer.to_json())
            (folder / "tokenizer_config.json").unlink()
            for text in TEXT.splitlines(keepends=True):
                done = subprocess.run([pathlib.Path(os.environ["AXLE_BIN"]) / "variant", "model", "generate", folder, "--prompt", text, "--raw", "--max-tokens",
                                       "1", "--temperature", "0", "--json"], stdout=subprocess.PIPE, text=True)
                self.assertEqual(done.returncode, 0, done.stdout)
                self.assertEqual(json.loads(done.stdout)["prompt_tokens"], self.tokenizer.encode(text), text)


def made_measurement(growths):
    """Perplexity 10 in float32, and grown by `growths`, of 1, in the rows that it names; by 0 in others."""
    return {row.name: {"perplexity": 10 * (1 + growths.get(row.name, 0)), "tokens": 1000} for row in measure.ROWS}


class Page(unittest.TestCase):
    TRAINING = {size: {"weights": weights, "steps": 5, "tokens": 100, "loss": 2.0, "seconds": 90} for size, weights in (("1M", 10**6), ("4M", 4 * 10**6))}

    def setUp(self):
        self.measured = {"1M": made_measurement({"a16w8": 0.0004, "fp8": 0.3, "a16w4 g64 awq": 0.019}),
                         "4M": made_measurement({"a16w8": -0.0001, "a16w4 g64 awq": 0.021, "a16w4 g64 absmax": 0.05})}

    def test_the_verdict_names_what_is_missed(self):
        self.assertEqual(page.verdict(self.measured), "Missed: `a16w4 g64 awq` at 4M (+2.100 %, goal +2.000 %). All other goals are met.")
        self.assertEqual(page.verdict({"1M": self.measured["1M"]}), "Every goal is met at every size.")

    def test_the_table_has_a_row_a_mode(self):
        lines = page.table(self.measured).splitlines()
        self.assertEqual(len(lines), 2 + len(measure.ROWS))
        self.assertEqual(len({line.count("|") for line in lines}), 1)
        self.assertIn("| `a16w4` | 64 | awq | 10.190 | +1.900 % | 10.210 | +2.100 % | 2 % |", lines)
        self.assertIn("| `float` |  |  | 10.000 |  | 10.000 |  |  |", lines)

    def test_the_page(self):
        text = page.page(self.measured, self.TRAINING, {"perl-doc": "5.36"}, "a machine")
        for part in ("perl-doc 5.36", "a machine", "1,000 tokens", "| 4M | 4,000,000 | 5 | 100 | 2 min |", page.verdict(self.measured)):
            self.assertIn(part, text)

    def test_the_picture(self):
        picture = xml.etree.ElementTree.fromstring(page.picture(self.measured, self.TRAINING))
        names = [element.text for element in picture.iter("{http://www.w3.org/2000/svg}text")]
        for name in (*page.PLOTTED, "1M", "4M", "goal of int8: 0.1 %"):
            self.assertIn(name, names)
        # A ring at the lower edge for what costs nothing.
        rings = [element for element in picture.iter("{http://www.w3.org/2000/svg}circle") if element.get("fill") == "white"]
        self.assertIn(f"{plot.HEIGHT - plot.BOTTOM:.1f}", {ring.get("cy") for ring in rings})
        self.assertEqual(len(list(picture.iter("{http://www.w3.org/2000/svg}polyline"))), len(page.PLOTTED))

    def test_more_is_higher(self):
        axis = plot.Axis([0.02, 3.0], 400, 40, whole=True)
        self.assertEqual([round(axis.at(value)) for value in (0.01, 10)], [400, 40])
        self.assertLess(axis.at(2.0), axis.at(0.1))

    def test_labels_do_not_cover_one_another(self):
        heights = plot.apart([420.0, 420.0, 420.0])
        self.assertTrue(all(b - a >= plot.LABEL_STEP for a, b in zip(heights, heights[1:])))
        self.assertLessEqual(heights[-1], plot.HEIGHT - plot.BOTTOM)


if __name__ == "__main__":
    unittest.main()
