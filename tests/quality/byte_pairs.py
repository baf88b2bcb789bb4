"""A byte-level BPE tokenizer: trained on a text, applied to texts in ASCII, and written as Hugging Face's tokenizer.json."""

import collections
import heapq
import json
import re

END = "<|endoftext|>"
# Llama 3's pre-tokenizer, and what it is for texts in ASCII.
SPLIT = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
ASCII_SPLIT = re.compile(r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\nA-Za-z0-9]?[A-Za-z]+|[0-9]{1,3}| ?[^\sA-Za-z0-9]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")


def characters_of_bytes():
    """GPT-2's character for each byte: itself where it is visible in Latin-1, else the next one from U+0100 on."""
    visible = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = [byte for byte in range(256) if byte not in visible]
    return {byte: chr(byte) for byte in visible} | {byte: chr(0x100 + i) for i, byte in enumerate(hidden)}


CHARACTERS = characters_of_bytes()


def words_of(text):
    return ("".join(CHARACTERS[byte] for byte in word.encode()) for word in ASCII_SPLIT.findall(text))


def merge_in(pieces, left, right):
    merged, at = [], 0
    while at < len(pieces):
        if at + 1 < len(pieces) and pieces[at] == left and pieces[at + 1] == right:
            merged.append(left + right)
            at += 2
        else:
            merged.append(pieces[at])
            at += 1
    return merged


def train_merges(text, count):
    """The `count` most frequent pairs, one after the other, each joined before the next is sought; of equally frequent ones the first by
    code points. Fewer where the text has no pair left that occurs twice."""
    words = [(list(word), times) for word, times in collections.Counter(words_of(text)).items()]
    frequency, places = collections.Counter(), collections.defaultdict(set)
    for i, (pieces, times) in enumerate(words):
        for pair in zip(pieces, pieces[1:]):
            frequency[pair] += times
            places[pair].add(i)
    heap = [(-times, pair) for pair, times in frequency.items()]
    heapq.heapify(heap)
    merges = []
    while heap and len(merges) < count:
        times, pair = heapq.heappop(heap)
        if -times != frequency[pair]:  # has become rarer since; pushed again then
            continue
        if -times < 2:
            break
        merges.append(pair)
        changed = set()
        for i in places.pop(pair):
            pieces, times = words[i]
            merged = merge_in(pieces, *pair)
            for old in zip(pieces, pieces[1:]):
                frequency[old] -= times
                changed.add(old)
            for new in zip(merged, merged[1:]):
                frequency[new] += times
                places[new].add(i)
                changed.add(new)
            words[i] = (merged, times)
        for other in changed - {pair}:
            if frequency[other] > 0:
                heapq.heappush(heap, (-frequency[other], other))
    return merges


class BytePairs:
    def __init__(self, merges):
        self.merges = merges
        self.ranks = {pair: rank for rank, pair in enumerate(merges)}
        # Two merges may make the same token.
        tokens = dict.fromkeys([END, *CHARACTERS.values(), *(left + right for left, right in merges)])
        self.ids = {token: i for i, token in enumerate(tokens)}
        self.end = self.ids[END]
        self.known = {}

    def encode_word(self, word):
        pieces = list(word)
        while len(pieces) > 1:
            pair = min(zip(pieces, pieces[1:]), key=lambda pair: self.ranks.get(pair, len(self.ranks)))
            if pair not in self.ranks:
                break
            pieces = merge_in(pieces, *pair)
        return [self.ids[piece] for piece in pieces]

    def encode(self, text):
        ids = []
        for word in words_of(text):
            if word not in self.known:
                self.known[word] = self.encode_word(word)
            ids += self.known[word]
        return ids

    def to_json(self):
        """What tokenizer.json holds."""
        end = {"id": self.end, "content": END, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
        split = {"type": "Split", "pattern": {"Regex": SPLIT}, "behavior": "Isolated", "invert": False}
        level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
        return json.dumps({
            "version": "1.0", "truncation": None, "padding": None, "added_tokens": [end], "normalizer": None,
            "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, level]}, "post_processor": None,
            "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
            "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None,
                      "fuse_unk": False, "byte_fallback": False, "ignore_merges": False, "vocab": self.ids,
                      "merges": [f"{left} {right}" for left, right in self.merges]}}, ensure_ascii=False)
