"""Random texts of the packaging formats, mostly valid ones, for packaging_differential.py."""

import re

def mutate(rng, text, alphabet):
    for _ in range(rng.randint(1, 2)):
        at = rng.randint(0, len(text))
        kind = rng.randrange(3)
        if kind == 0:
            text = text[:at] + rng.choice(alphabet) + text[at:]
        elif kind == 1 and text:
            text = text[:at] + text[at + 1:]
        else:
            text = text[:at] + rng.choice(alphabet) + text[at + 1:]
    return text


class Texts:
    """Random texts of every format, mostly valid ones."""

    def __init__(self, rng):
        self.rng = rng

    def one_in(self, chances):
        return self.rng.randrange(chances) == 0

    def number(self):
        kind = self.rng.randrange(10)
        if kind < 7:
            return str(self.rng.randint(0, 3))
        if kind == 7:
            return "0" * self.rng.randint(1, 2) + str(self.rng.randint(0, 12))
        return str(self.rng.choice([10, 99, 2026, 20261120, 10 ** 17]))

    def release(self, longest=4):
        return ".".join(self.number() for _ in range(self.rng.randint(1, longest)))

    def word(self, *words):
        word = self.rng.choice(words)
        return word if not self.one_in(8) else "".join(self.rng.choice([c, c.upper()]) for c in word)

    def separator(self):
        return self.rng.choice(["", "", ".", "-", "_"])

    def suffixed(self, text):
        rng = self.rng
        if self.one_in(3):
            text += (self.separator() + self.word("a", "b", "rc", "alpha", "beta", "c", "pre", "preview")
                     + self.separator() + rng.choice(["", self.number()]))
        if self.one_in(4):
            text += rng.choice(["-" + self.number(),
                                self.separator() + self.word("post", "rev", "r") + self.separator()
                                + rng.choice(["", self.number()])])
        if self.one_in(4):
            text += self.separator() + self.word("dev") + self.separator() + rng.choice(["", self.number()])
        return text

    def local(self):
        parts = [self.rng.choice(["cu128", "0", "1", "abc", "ABC", "1a", "007", "ubuntu"])
                 for _ in range(self.rng.randint(1, 3))]
        return "+" + self.rng.choice(".-_").join(parts)

    def public_version(self):
        epoch = self.number() + "!" if self.one_in(12) else ""
        prefix = self.rng.choice("vV") if self.one_in(15) else ""
        return prefix + epoch + self.suffixed(self.release())

    def version(self):
        return self.public_version() + (self.local() if self.one_in(5) else "")

    def near(self, text):
        """A version in the neighbourhood of another: where the operators differ."""
        base = re.match(r"[vV]?(?:\d+!)?\d+(?:\.\d+)*", text)[0]
        base += self.rng.choice(["", "", "", ".0", ".0.0", ".1"])
        return self.suffixed(base) + (self.local() if self.one_in(3) else "")

    def clause(self):
        rng = self.rng
        op = rng.choice(["==", "!=", "<=", ">=", "<", ">", "~=", "==="])
        space = rng.choice(["", "", "", " ", "\t", "  "])
        if op == "===":
            return op + space + rng.choice([self.version(), "anything-goes", "1.0.x", ""])
        if op in ("==", "!=") and self.one_in(3):
            return op + space + self.release() + ".*"
        if op in ("==", "!=") and self.one_in(4):
            return op + space + self.version()
        if op == "~=":
            return op + space + self.suffixed(self.release() + "." + self.number())
        return op + space + self.public_version()

    def clauses(self):
        rng = self.rng
        return rng.choice([",", ", ", " ,"]).join(self.clause() for _ in range(rng.randint(1, 3)))

    def name(self):
        rng = self.rng
        return "".join(rng.choice(["numpy", "Foo", "x", "9", "_", "-", ".", "--", "-_.", "Bar2"])
                       for _ in range(rng.randint(1, 4)))

    def identifier(self):
        return self.rng.choice(["numpy", "Foo.Bar", "a", "A_b", "x-y", "zope.interface", "t9"])


def wheel_stem(texts, rng):
    name = rng.choice(["numpy", "Foo_Bar", "a.b", "x", "torch_2"])
    version = re.sub("[-_]", ".", texts.version())
    build = rng.choice(["", "", "", "-1", "-2abc", "-007_x", "-20261120"])
    python = rng.choice(["py3", "py2.py3", "cp311", "cp39.cp310", "CP313", "pp310"])
    abi = rng.choice(["none", "cp311", "abi3", "cp313t", "abi3.cp39", "pypy310_pp73"])
    tag = rng.choice(["any", "linux_x86_64", "manylinux_2_17_x86_64.manylinux2014_x86_64", "win32",
                      "musllinux_1_2_aarch64", "macosx_11_0_arm64"])
    return f"{name}-{version}{build}-{python}-{abi}-{tag}"


def requirement_text(texts, rng, markers):
    text = rng.choice(["", "", " "]) + texts.identifier() + rng.choice(["", "", " "])
    if rng.randrange(3) == 0:
        extras = [texts.identifier() for _ in range(rng.randint(0, 3))]
        text += "[" + rng.choice([",", ", ", " , "]).join(extras) + "]" + rng.choice(["", " "])
    kind = rng.randrange(6)
    url = kind == 0
    if url:
        text += "@" + rng.choice(["", " "]) + rng.choice(
            ["https://example.org/a-1.0.zip", "file:///tmp/x.whl", "git+https://example.org/r@v1#egg=x"])
    elif kind < 4:
        text += texts.clauses()
    elif kind == 4:
        text += "(" + texts.clauses() + ")"
    if rng.randrange(3) == 0:
        markers.kinds = set()
        text += (" ; " if url else rng.choice([";", " ; ", "; "])) + markers.tree()
    return text + rng.choice(["", "", "", " "])
