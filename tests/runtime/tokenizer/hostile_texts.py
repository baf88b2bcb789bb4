"""Texts that tokenizers could get wrong, for tokenizer_differential.py."""

import unicodedata

# Python's tables are older than ours and Hugging Face's: what they know, all know.
CHARACTERS = [chr(code) for code in range(0x110000)
              if not 0xd800 <= code <= 0xdfff and unicodedata.category(chr(code)) != "Cn"]
# Never assigned.
NONCHARACTERS = ["\ufdd0", "\ufdef", "\ufffe", "\uffff", "\U0001fffe", "\U0010ffff"]


def of_category(*names):
    return [c for c in CHARACTERS if unicodedata.category(c).startswith(names)]


MARKS = of_category("M")
SPACES = [c for c in CHARACTERS if c.isspace() and not "\x1c" <= c <= "\x1f"]
DIGITS = of_category("N")
CONTROLS = of_category("Cc", "Cf")
CASED = of_category("Lu", "Lt", "Ll")
LETTERS = of_category("L")
SIGNS = of_category("P", "S")
HANGUL = [chr(code) for code in [*range(0x1100, 0x1200), *range(0xac00, 0xac40), *range(0xd780, 0xd7a4)]]
COMPOSED = [c for c in CHARACTERS if unicodedata.normalize("NFD", c) != c]
EMOJI = ["😀", "👩‍👩‍👧‍👦", "🏳️‍🌈", "👍🏽", "🇩🇪🇫🇷", "1️⃣", "❤️", "☠️"]
CONTRACTIONS = ["'s", "'t", "'re", "'ve", "'m", "'ll", "'d", "'S", "'LL", "'Ve", "'RE", "'ſ", "’s", "''s", "'x", "'l", "'"]
ENDS = ["\n", "\r", "\r\n", "\n\n", "\n \n", " \n", "\n ", "\t\n", "\u2028", "\x85", "\v", "\f"]
WORDS = ("the quick brown fox jumps over lazy dogs don't I'll we've HTTPServer iPhone naïve Ελλάδα Москва 東京都 "
         "สวัสดี नमस्ते "
         "مرحبا שלום 한국어 Straße İstanbul ǅungla ﬁne ½ ² Ⅷ 3.14 1,000,000 0xFF a_b c-d x@y.org http://a.b/c?d=e#f {}[]()<> == != "
         "->").split()


class Texts:
    """Random texts; `written` are tokens to throw in as they are written."""

    def __init__(self, rng, written):
        self.rng = rng
        self.written = written or ["<|none|>"]
        self.makers = [self.prose, self.anything, self.spaces, self.marks, self.numbers, self.contractions, self.lines,
                       self.signs, self.cases, self.tokens, self.token_parts, self.long_word, self.hangul, self.emoji,
                       self.controls, self.mixed]

    def some(self, source, most, least=1):
        return "".join(self.rng.choice(source) for _ in range(self.rng.randint(least, most)))

    def prose(self):
        return " ".join(self.rng.choice(WORDS) for _ in range(self.rng.randint(1, 12)))

    def anything(self):
        return self.some(CHARACTERS, 30)

    def spaces(self):
        return "".join(self.some([" ", "  ", *self.rng.sample(SPACES, 3), "\n", "\t"], 5) + self.some(["a", "B", "7", ".", "é"], 2, 0)
                       for _ in range(self.rng.randint(1, 5)))

    def marks(self):
        return "".join(self.rng.choice(["a", "E", "o", " ", "1", self.rng.choice(LETTERS)]) + self.some(MARKS, 4, 0)
                       for _ in range(self.rng.randint(1, 8)))

    def numbers(self):
        return self.some(["0", "1", "23", "456", "7890", " ", ".", ",", *self.rng.sample(DIGITS, 4)], 16)

    def contractions(self):
        return self.some([*CONTRACTIONS, "we", "I", " ", "É", "9"], 10)

    def lines(self):
        return self.some([*ENDS, "a", " b", "1", ".", "/", "!!"], 14)

    def signs(self):
        return self.some([*self.rng.sample(SIGNS, 6), " ", "a", "/", "\n", "\r\n", "_"], 16)

    def cases(self):
        return self.some([*self.rng.sample(CASED, 4), "a", "B", "ʰ", "ª", "中", "\u0301", " ", "-"], 16)

    def tokens(self):
        return self.some([*self.written, " ", "a", "\n", "  "], 8)

    def token_parts(self):
        token = self.rng.choice(self.written)
        cut = self.rng.randint(0, len(token))
        return self.prose() + token[:cut] + self.some([" ", "", token, "<", "|"], 2) + token[cut:] + "x"

    def long_word(self):
        return self.some([self.rng.choice(LETTERS), "a", "b", "th"], 400, 80) + self.some(["", " ", "x"], 3)

    def hangul(self):
        return self.some([*HANGUL, " "], 12)

    def emoji(self):
        return self.some([*EMOJI, "\u200d", "\ufe0f", " ", "ok"], 8)

    def controls(self):
        return self.some([*self.rng.sample(CONTROLS, 5), *NONCHARACTERS, "\0", "\x7f", "\ufeff", "a", " "], 14)

    def mixed(self):
        return "".join(self.rng.choice(self.makers[:-1])()[:20] for _ in range(self.rng.randint(2, 5)))

    def all(self, count):
        """Every character beside a letter, a digit and a space; then `count` random texts."""
        for at in range(0, len(CHARACTERS), 48):
            yield "".join(f"a{c} {c}1" for c in CHARACTERS[at:at + 48])
        for at in range(0, len(COMPOSED), 64):
            yield unicodedata.normalize("NFD", " ".join(COMPOSED[at:at + 64]))
        yield ""
        yield "a" * 100_000
        yield "ab" * 50_000 + " " * 1000 + "\n" * 1000 + "é" * 1000
        for i in range(count):
            yield self.makers[i % len(self.makers)]()
