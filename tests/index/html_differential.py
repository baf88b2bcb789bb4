#!/usr/bin/env python3
"""Thousands of pages, as scripts write them and mutilated, read by our reader and by html5lib's tokenizer.

    html_differential.py READER

Exit codes: 0 all agree, 1 something differs, 77 skipped (with the reason).
"""

import random
import subprocess
import sys
import warnings

try:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from html5lib import _tokenizer
        from html5lib.constants import tokenTypes
except ImportError:
    print("skipped: python3-html5lib is not installed (./dev setup)")
    sys.exit(77)

# Ours knows these named references and leaves the other 2,000 as they are (index/pages/html_reader.h).
OURS = {name + end: _tokenizer.entities[name + end] for name in ("amp", "lt", "gt", "quot", "apos") for end in ("", ";")
        if name + end in _tokenizer.entities}
_tokenizer.entities, _tokenizer.entitiesTrie = OURS, type(_tokenizer.entitiesTrie)(OURS)

DIGEST = "a" * 64
RCDATA = ("title", "textarea")
RAWTEXT = ("style", "xmp", "iframe", "noembed", "noframes")
MARKS = ("data-requires-python", "data-yanked", "data-core-metadata", "data-dist-info-metadata")
SPICE = ["<", ">", '"', "'", "&", "=", "/", "\n", "\r", "\f", "<!--", "-->", "--!>", "</a>", "<a ", "&lt;", "&lt", "&#x", ";",
         "\u00e9", "<p>", "<br/>", "<table>", "</h1>", "<base href='/b/'>", "&#0;", "<title>", "</title>", "-", "A", "</body>",
         "<script>", "</script >", "<A HREF=x-1.whl>", "<?xml?>", "<![CDATA[", "</ >", "</>", "<!", "<textarea>", "</TEXTAREA/",
         "<style", "<a href = 'x' href=y>", "<plaintext>", "<svg>", "\t", " data-yanked", "=\"", "<!-->", "<!--->", "&amp=1"]


class Page:
    def __init__(self, seed):
        self.dice = random.Random(seed)

    def pick(self, *choices):
        return self.dice.choice(choices)

    def quoted(self, text):
        mark = self.pick("'", '"', '"')
        return mark + text + mark

    def link(self):
        name = f"torch-2.{self.dice.randrange(9)}.0%2Bcu1{self.dice.randrange(4)}-cp312-cp312-linux_x86_64.whl"
        text = "<a href=" + self.quoted(self.pick("", "https://files.example/whl/", "../", "/p/") + name
                                        + self.pick("", "#sha256=" + DIGEST, "#sha256=12", "?a&amp;b=1", "&#38;x"))
        if self.dice.random() < 0.5:
            text += " data-requires-python=" + self.quoted(self.pick("&gt;=3.9,&lt;4", "", "3.8", "&#x3e;3"))
        if self.dice.random() < 0.3:
            text += " data-dist-info-metadata=" + self.quoted("sha256=" + DIGEST)
        if self.dice.random() < 0.3:
            text += "\n  data-core-metadata=" + self.quoted(self.pick("true", "false", "sha256=" + DIGEST))
        if self.dice.random() < 0.2:
            text += self.pick(" data-yanked", ' data-yanked=""', " data-yanked='a &#x26; b'", " data-yanked=why")
        return text + self.pick(">", " >", "/>", "\n>") + name + "</a>" + self.pick("<br/>\n", "<br>\n", "\n", " and \n")

    def text(self):
        text = self.pick("<!DOCTYPE html>\n", "<!doctype html>", "", "\ufeff<!DOCTYPE HTML>")
        text += self.pick("<html>", "<html lang='en'>\n", "", "<!-- a page --><html>")
        if self.dice.random() < 0.5:
            text += "<head>" + self.pick("", "<meta charset='utf-8'/>", "<script>if (a<b) x='<a href=y>'</script>")
            text += self.pick("", '<meta name="pypi:repository-version" content=" 1.1">')
            text += self.pick("", '<base href="../files/">', "<base target='_blank'>", "<BASE HREF=/&amp;/>")
            text += self.pick("", "<title>Links for torch</title>", "<title> <a href=no> </title>\n") + "</head>\n"
        text += self.pick("<body>\n", '<body class="simple">', "", "<h1>Links for torch</h1>")
        text += "".join(self.link() for _ in range(self.dice.randrange(8)))
        return text + self.pick("</body></html>\n", "</body>\n", "", "</html>\n<!--TIMESTAMP 17543-->")

    def mutilated(self, text):
        for _ in range(1 + self.dice.randrange(3)):
            at, length = self.dice.randrange(len(text) + 1), 1 + self.dice.randrange(8)
            kind = self.dice.randrange(4)
            if kind == 0:
                text = text[:at] + text[at + length:]
            elif kind == 1:
                text = text[:at] + text[at:at + length] + text[at:]
            elif kind == 2:
                text = text[:at] + self.pick(*SPICE) + text[at:]
            else:
                to = self.dice.randrange(len(text) + 1)
                text = text[:to] + text[at:at + 40] + text[to:]
        return text


def shown(value):
    return "-" if value is None else "=" + value.replace("\n", "\\n").replace("\r", "\\r")


def oracle(page):
    """What the tokens of the HTML standard say; a tree builder tells the tokenizer where only text may stand."""
    tokens = _tokenizer.HTMLTokenizer(page.removeprefix("\ufeff"))
    lines, base, api = [], None, ""
    for token in tokens:
        if token["type"] not in (tokenTypes["StartTag"], tokenTypes["EmptyTag"]):
            continue
        name, data = token["name"], token["data"]
        # Of an attribute that is given twice the first counts.
        values = data if hasattr(data, "get") else dict(reversed(data))
        if name == "a" and "href" in values:
            lines.append("a " + "\t".join(shown(values.get(key)) for key in ("href", *MARKS)))
        elif name == "base" and base is None:
            base = values.get("href")
        elif name == "meta" and not api and values.get("name") == "pypi:repository-version":
            api = values.get("content", "").strip(" \t\n\r\f\v")
        elif name in RCDATA:
            tokens.state = tokens.rcdataState
        elif name in RAWTEXT:
            tokens.state = tokens.rawtextState
        elif name == "script":
            tokens.state = tokens.rawtextState  # ours knows no script inside a comment inside a script
        elif name == "plaintext":
            tokens.state = tokens.plaintextState
    return "\n".join([*lines, "base " + shown(base), "api " + api]) + "\n"


def main():
    pages = []
    for seed in range(1500):
        writer = Page(seed)
        page = writer.text()
        pages.append(page)
        pages += [writer.mutilated(page) for _ in range(6)]
    # The standard turns every CR into LF before it looks.
    pages = [page.replace("\r\n", "\n").replace("\r", "\n") for page in pages]
    done = subprocess.run([sys.argv[1]], input="\0".join(pages).encode() + b"\0", stdout=subprocess.PIPE, check=True)
    answers = done.stdout.decode().split("\0")[:-1]
    assert len(answers) == len(pages), (len(answers), len(pages))
    links = 0
    for page, ours in zip(pages, answers):
        theirs = oracle(page)
        links += theirs.count("\na ")
        if ours != theirs:
            print(f"differs on:\n{page!r}\nours:\n{ours}\nhtml5lib:\n{theirs}")
            return 1
    assert links > 10_000, links
    print(f"{len(pages)} pages, {links} links: the same")
    return 0


sys.exit(main())
