"""Small tokenizers of well-known kinds, trained on texts of this machine, for tokenizer_differential.py."""

import json
import pathlib

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|"
          r"\s+(?!\S)|\s+")
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
BEGIN = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
END = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
TEKKEN = (rf"[^\r\n\p{{L}}\p{{N}}]?{BEGIN}*{END}+|[^\r\n\p{{L}}\p{{N}}]?{BEGIN}+{END}*|\p{{N}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|"
          r"\s*[\r\n]+|\s+(?!\S)|\s+")
SPACE = "\u2581"


def training_texts():
    from hostile_texts import WORDS
    yield " ".join(WORDS * 40)
    for folder, pattern in (("/usr/share/common-licenses", "*"), ("/usr/share/perl", "**/*.pod"), ("/usr/lib/python3", "**/*.py")):
        for path in sorted(pathlib.Path(folder).glob(pattern))[:60]:
            if path.is_file():
                yield path.read_text(encoding="utf-8", errors="replace")[:200_000]


def regex(pattern):
    return pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(pattern), "isolated"),
                                    pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def byte_level(splitter, normalizer=None):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = splitter
    if normalizer:
        tokenizer.normalizer = normalizer
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(training_texts(), trainers.BpeTrainer(
        vocab_size=4000, initial_alphabet=alphabet, special_tokens=["<|begin|>", "<|end|>"], show_progress=False))
    tokenizer.add_special_tokens(["<|im_start|>", "<|im_end|>", AddedToken("<pad>", single_word=True)])
    tokenizer.add_tokens([AddedToken("<left>", lstrip=True), AddedToken("<right>", rstrip=True),
                          AddedToken("whole", single_word=True), AddedToken("ё!", normalized=True), "<|im"])
    return tokenizer


def sentence_piece(space, decoder, normalizer=None):
    """`space` splits the texts that it is trained on; with `normalizer` it goes after that."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.pre_tokenizer = space
    tokens = ["<unk>", "<s>", "</s>"]
    tokenizer.train_from_iterator(training_texts(), trainers.BpeTrainer(
        vocab_size=2500, special_tokens=[*tokens, *(f"<0x{byte:02X}>" for byte in range(256))], limit_alphabet=300,
        max_token_length=16, show_progress=False))
    content = json.loads(tokenizer.to_str())
    # The bytes are tokens of the model, not added ones.
    content["added_tokens"] = [token for token in content["added_tokens"] if token["content"] in tokens]
    if normalizer:
        content["pre_tokenizer"] = None
    tokenizer = Tokenizer.from_str(json.dumps(content))
    if normalizer:
        tokenizer.normalizer = normalizer
    tokenizer.decoder = decoder
    return tokenizer


STRIPPED = decoders.Sequence([decoders.Replace(SPACE, " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])


def metaspace(scheme):
    # The decoder Metaspace leaves out every space of the first token; with whole texts that is more than one.
    whole = scheme == "first"
    decoder = decoders.Sequence([decoders.Metaspace(SPACE, scheme), decoders.ByteFallback(), decoders.Fuse()])
    return sentence_piece(pre_tokenizers.Metaspace(replacement=SPACE, prepend_scheme=scheme, split=not whole),
                          STRIPPED if whole else decoder)


def llama3():
    tokenizer = byte_level(regex(LLAMA3))
    content = json.loads(tokenizer.to_str())
    content["model"]["ignore_merges"] = True
    # Words that no merge makes.
    content["model"]["vocab"].update({"ĠunmergeableQX": 5000, "QZ": 5001})
    tokenizer = Tokenizer.from_str(json.dumps(content))
    tokenizer.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=False), processors.TemplateProcessing(
        single="<|begin|> $A", pair="<|begin|> $A $B", special_tokens=[("<|begin|>", tokenizer.token_to_id("<|begin|>"))])])
    return tokenizer


def made_tokenizers(wanted):
    """(name, tokenizer) of each kind whose name begins with `wanted`."""
    level = pre_tokenizers.ByteLevel
    makers = {
        "gpt2": lambda: byte_level(level(add_prefix_space=False)),
        "gpt2, space before": lambda: byte_level(level(add_prefix_space=True)),
        "smollm": lambda: byte_level(pre_tokenizers.Sequence([pre_tokenizers.Digits(True), level(add_prefix_space=False)])),
        "whole texts": lambda: byte_level(level(add_prefix_space=False, use_regex=False)),
        "llama3": llama3,
        "qwen2": lambda: byte_level(regex(QWEN2), normalizers.NFC()),
        "tekken": lambda: byte_level(regex(TEKKEN)),
        "sentence piece, replaced": lambda: sentence_piece(
            pre_tokenizers.Metaspace(replacement=SPACE), STRIPPED,
            normalizers.Sequence([normalizers.Prepend(SPACE), normalizers.Replace(" ", SPACE)])),
        **{f"sentence piece, {scheme}": lambda scheme=scheme: metaspace(scheme) for scheme in ("always", "first", "never")},
    }
    for name, make in makers.items():
        if name.startswith(wanted):
            yield name, make()
