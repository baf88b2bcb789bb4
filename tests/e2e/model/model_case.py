"""What the tests of models share: what the program answers, and how far it may lie from the same in double.

tests/runtime/model/oracle computes in double and writes the tiny models; the program is asked through its contract:
generate -> {prompt_tokens, tokens, text}, embed -> {vectors}.
"""

import dataclasses
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import SOURCE, TestCase

ORACLE = SOURCE / "tests/runtime/model/oracle"
sys.path.insert(0, str(ORACLE))
import tiny_tokenizers
from encoder import cosine


@dataclasses.dataclass
class Cap:
    """Errors that a mode may have with tiny random models, which are noisier than real ones. Logits are measured in their standard
    deviation: how far below the best one in double a chosen token lies, in the worst place and on average."""

    worst: float
    average: float
    cosine: float


CAPS = {
    "float": Cap(1e-4, 1e-5, 0.99999),
    "a16w8": Cap(0.1, 0.006, 0.999),
    "da8w8": Cap(0.2, 0.012, 0.999),
    "a16w4": Cap(1.5, 0.2, 0.93),
    "da8w4": Cap(1.5, 0.2, 0.93),
    "fp8": Cap(0.5, 0.05, 0.99),
}

# 24 tokens in the contexts of 256; in ASCII, UTF-8 and white space, one token and a long one.
PROMPTS = ["Hello, world", "x", "Ärger über größere Übel: 20 £, 日本語, 🙂", "  two  spaces\n\n\tand a tab\n",
           "the river and the rest of it, in one long text. " * 3]
MOST = 24


class ModelCase(TestCase):
    def ask(self, *arguments, **options):
        return self.variant("model", *arguments, **options)

    def generate(self, model, prompt, *options, mode="float", most=MOST, **how):
        """The result of a greedy answer to the bare text; `--json` is asked for."""
        return self.ask("generate", model, "--prompt", prompt, "--raw", "--max-tokens", most, "--temperature", 0, "--mode", mode, "--json",
                        *options, **how)

    def embed(self, model, *texts, mode="float", **how):
        return self.ask("embed", model, *(word for text in texts for word in ("--text", text)), "--mode", mode, "--json", **how)

    def answer(self, *arguments, **options):
        answer = self.assert_ok(self.generate(*arguments, **options)).json
        self.assertEqual(set(answer) & {"prompt_tokens", "tokens", "text"}, {"prompt_tokens", "tokens", "text"})
        return answer

    def vectors(self, *arguments, **options):
        return self.assert_ok(self.embed(*arguments, **options)).json["vectors"]

    def modes(self):
        """All that the program has, by its own words; each needs a cap here."""
        told = self.assert_fails(self.ask("embed", self.root, "--text", "a", "--mode", "none"), 2, "there are").err
        modes = re.search("there are ([^\n]*)", told)[1].replace(" and ", ", ").split(", ")
        self.assertLessEqual(set(modes), set(CAPS))
        return modes

    def kernels(self):
        """Names of the kernel sets that this machine can run."""
        return [one["name"] for one in self.assert_ok(self.ask("info", "--json")).json["kernels"] if one["usable"]]

    def assert_greedy(self, oracle, answer, cap, most=MOST):
        """What the program chose is what double chooses, within the mode's error; it stopped where it may."""
        self.assertLessEqual(len(answer["tokens"]), most)
        found = oracle.shortfalls(answer["prompt_tokens"], answer["tokens"], most)
        self.assertLessEqual(max(found), cap.worst, f"of {answer['tokens']}: {found}")
        self.assertLessEqual(sum(found) / len(found), cap.average, f"of {answer['tokens']}: {found}")

    def assert_text(self, answer, prompt):
        """Tokens stand for the bytes of their texts; what is not UTF-8 may have become any number of U+FFFD."""
        self.assertEqual(tiny_tokenizers.bytes_of(answer["prompt_tokens"]), prompt.encode())
        shown = tiny_tokenizers.bytes_of(answer["tokens"]).decode(errors="replace")
        self.assertEqual(re.sub("�+", "�", answer["text"]), re.sub("�+", "�", shown))

    def assert_vector(self, vector, expected, least):
        self.assertEqual(len(vector), len(expected))
        self.assertGreaterEqual(cosine(vector, expected), least)

    def assert_refused(self, result, *words):
        """A clear error: exit code 1 or 2, no crash, no defect, nothing on stdout but the error that --json gives."""
        self.assertIn(result.code, (1, 2), str(result))
        self.assertNotIn("defect", result.err + result.out, str(result))
        self.assertNotIn("Sanitizer", result.err)
        told = (result.err + result.out).lower()
        for word in words:
            self.assertIn(word.lower(), told, str(result))
        return result
