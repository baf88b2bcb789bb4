"""Tokenizers of tiny models: byte pairs over all 256 bytes, and word pieces of single characters, with a few longer tokens each."""

import json
import re

END, TURN, TURN_END = "<|endoftext|>", "<|im_start|>", "<|im_end|>"
SPECIAL = [END, TURN, TURN_END]
MERGES = ["Ġ t", "h e", "i n", "r e", "a n", "Ġ a", "Ġt he", "e r", "o n", "Ġ s", "Ġ w", "o r", "i s", "Ġ b", "in g", "Ġa n", "Ġan d",
          "Ġ c", "o u", "i t", "l l", "Ċ Ċ", "Ġ Ġ", "e n", "Ġ o", "s t", "Ġ f", "a t", "Ġ m", "Ġ p", "2 0", "Ġ is", "Ã ¤", "Ã ¼"]
CHAT_TEMPLATE = ("{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}"
                 "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}")

# Pre-tokenizers: their name in GGUF files -> their component in tokenizer.json.
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")


def split_at(pattern):
    return {"type": "Sequence", "pretokenizers": [
        {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False},
        {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}]}


SPLITS = {
    "llama-bpe": split_at(LLAMA3), "qwen2": split_at(LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")),
    "smollm": {"type": "Sequence", "pretokenizers": [
        {"type": "Digits", "individual_digits": True},
        {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}]},
}


def characters_of_bytes():
    """GPT-2's character for each byte: itself where it is visible in Latin-1, else the next one from U+0100 on."""
    visible = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = [byte for byte in range(256) if byte not in visible]
    return {byte: chr(byte) for byte in visible} | {byte: chr(0x100 + i) for i, byte in enumerate(hidden)}


CHARACTERS = characters_of_bytes()
BYTES = {character: byte for byte, character in CHARACTERS.items()}
TOKENS = [*SPECIAL, *CHARACTERS.values(), *(merge.replace(" ", "") for merge in MERGES)]


def bytes_of(tokens, texts=TOKENS, special=SPECIAL):
    """What tokens stand for; special ones for nothing."""
    return b"".join(bytes(BYTES[character] for character in texts[token]) for token in tokens if texts[token] not in special)


def added(id, text):
    return {"id": id, "content": text, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}


def byte_pairs_json(split):
    return {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": [added(i, text) for i, text in enumerate(SPECIAL)],
        "normalizer": {"type": "NFC"} if split == "qwen2" else None, "pre_tokenizer": SPLITS[split], "post_processor": None,
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None,
                  "fuse_unk": False, "byte_fallback": False, "ignore_merges": split == "llama-bpe",
                  "vocab": {text: i for i, text in enumerate(TOKENS)}, "merges": MERGES},
    }


def byte_pairs_gguf(split):
    return {
        "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": split, "tokenizer.ggml.tokens": TOKENS,
        "tokenizer.ggml.token_type": [3] * len(SPECIAL) + [1] * (len(TOKENS) - len(SPECIAL)), "tokenizer.ggml.merges": MERGES,
        "tokenizer.ggml.bos_token_id": TOKENS.index(TURN), "tokenizer.ggml.eos_token_id": TOKENS.index(TURN_END),
        "tokenizer.ggml.add_bos_token": False, "tokenizer.chat_template": CHAT_TEMPLATE,
    }


WORD_SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
WORD_TOKENS = [*WORD_SPECIAL, *"!?.,;:'()-", *LETTERS, *("##" + letter for letter in LETTERS), "the", "##ing", "is", "##er", "cat", "dog",
               "sat", "on", "mat", "a", "and", "river", "##s"]
WORD_TOKENS = list(dict.fromkeys(WORD_TOKENS))


def word_pieces_json():
    ids = {text: i for i, text in enumerate(WORD_TOKENS)}

    def special(text):
        return {"id": text, "ids": [ids[text]], "tokens": [text]}

    return {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": [added(ids[text], text) for text in WORD_SPECIAL],
        "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "TemplateProcessing",
            "pair": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "[SEP]", "type_id": 0}},
                     {"Sequence": {"id": "B", "type_id": 1}}, {"SpecialToken": {"id": "[SEP]", "type_id": 1}}],
            "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],
            "special_tokens": {text: special(text) for text in ("[CLS]", "[SEP]")}},
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": ids},
    }


class WordPieces:
    """The tokenizer of an encoder's folder, for texts in ASCII."""

    def __init__(self, folder):
        self.ids = json.loads((folder / "tokenizer.json").read_text())["model"]["vocab"]

    def pieces(self, word):
        found, at = [], 0
        while at < len(word):
            end = next((end for end in range(len(word), at, -1) if ("##" if at else "") + word[at:end] in self.ids), None)
            if end is None:
                return [self.ids["[UNK]"]]
            found.append(self.ids[("##" if at else "") + word[at:end]])
            at = end
        return found

    def encode(self, text):
        words = re.findall(r"[a-z0-9]+|[^\sa-z0-9]", text.lower())
        return [self.ids["[CLS]"], *(piece for word in words for piece in self.pieces(word)), self.ids["[SEP]"]]

    def encode_pair(self, first, second):
        """(tokens, segments) of two texts that are read together."""
        one, other = self.encode(first), self.encode(second)[1:]
        return one + other, [0] * len(one) + [1] * len(other)
