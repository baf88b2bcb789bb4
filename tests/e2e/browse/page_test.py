"""The pages of an index for people, as they lie in a folder: what they say without a script, what changes with a change."""

import hashlib
import json
import pathlib
import re
import sys
import unittest

import html5lib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from browse.page_case import PageCase, demo_wheels
from support import Wheel, tree

HOSTILE = "\"><script>alert(1)</script><img src=x onerror=alert(2)>'\u202eevil\u0007"


def record(filename, **more):
    digest = hashlib.sha256(filename.encode()).hexdigest()
    return {"filename": filename, "url": f"https://files.example/{filename}", "hashes": {"sha256": digest}, "size": 12345, **more}


class PageTest(PageCase):
    def update(self, records):
        path = self.root / "records.jsonl"
        path.write_text("".join(json.dumps(one) + "\n" for one in records))
        return self.assert_ok(self.variant("index", "update", "--records", path, "--out", self.out))

    def parse(self, path):
        """As HTML5 says, without a single error; (element, attribute) that could run something are not there."""
        text = (self.out / path).read_text()
        document = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(text)
        for one in document.iter():
            if not isinstance(one.tag, str):
                continue
            for key, value in one.attrib.items():
                self.assertFalse(key.startswith("on") or key == "style", (one.tag, key))
                self.assertFalse(key in ("href", "src") and re.match(r"\s*(javascript|data|vbscript):", value, re.I), value)
            if one.tag == "script" and "src" not in one.attrib:
                self.assertEqual(one.attrib.get("type"), "application/json")
            self.assertNotIn(one.tag, ("style", "iframe", "img", "object", "embed"))
        return document

    def words(self, path):
        document = self.parse(path)
        for one in document.iter("script"):
            one.text = ""
        return re.sub(r"\s+", " ", "".join(document.itertext()))

    def test_says_all_of_a_project(self):
        self.publish(demo_wheels())
        said = self.words("simple/demo/page.html")
        for expected in ("2 releases, the newest is 2.0", "variant install demo --index-url INDEX", "variant install demo==1.0 --index-url INDEX",
                         "Variant sm90", "nvidia :: sm_arch :: 100_real or 90_real", "x86_64 :: level :: v3", "Needs nothing: it fits every machine.",
                         "demo-2.0-py3-none-any-v4.whl", "7 wheels, 6 variants", "demo-2.0-variants.json", "Without a variant"):
            self.assertIn(expected, said)
        for name, digest in ((path.name, hashlib.sha256(path.read_bytes()).hexdigest()) for path in (self.out / "simple/demo").glob("*.whl")):
            self.assertIn(name, said)
            self.assertIn(digest, said)
        self.assertIn("1 project", self.words("index.html"))
        links = [one.attrib["href"] for one in self.parse("index.html").iter("a")]
        self.assertIn("simple/demo/page.html", links)
        for page in ("index.html", "simple/demo/page.html"):
            for one in self.parse(page).iter():
                link = one.attrib.get("href") or one.attrib.get("src") if isinstance(one.tag, str) else None
                if link and not link.startswith("#"):
                    self.assertTrue((self.out / page).parent.joinpath(link).resolve().exists(), link)

    def test_says_what_is_yanked_and_for_whom(self):
        self.update([record("demo-1.0-py3-none-any.whl", **{"requires-python": ">=3.9", "yanked": "wrong ABI", "upload-time": "2026-01-31T12:00:00Z"}),
                     record("demo-2.0rc1-py3-none-any.whl")])
        said = self.words("simple/demo/page.html")
        for expected in ("Yanked: wrong ABI", ">=3.9", "2026-01-31, yanked", "12.3 kB", "the newest is 1.0"):
            self.assertIn(expected, said)

    def test_hostile_text_stays_text(self):
        self.update([record("demo-1.0-py3-none-any.whl", yanked=HOSTILE, **{"requires-python": HOSTILE}),
                     record("demo-1.2+local-py3-none-any.whl", url="https://files.example/\"><script>alert(1)</script>/demo-1.2+local-py3-none-any.whl")])
        self.parse("simple/demo/page.html")
        said = self.words("simple/demo/page.html")
        self.assertIn("<script>alert(1)</script>", said)
        self.assertIn("\\u202eevil\\x07", said)
        self.assertNotIn("\u202e", self.page())

    def test_variants_elsewhere_are_told_as_such(self):
        self.update([record("demo-1.0-py3-none-any-v3.whl"), record("demo-1.0-variants.json")])
        self.assertIn("What its variants need is not on this page: it is in demo-1.0-variants.json", self.words("simple/demo/page.html"))

    def test_a_change_writes_what_it_changes(self):
        self.publish(demo_wheels(("1.0",)) + [Wheel("other", "1.0")])
        before = tree(self.out)
        self.publish(demo_wheels(("2.0",))[:2])
        after = tree(self.out)
        pages = {path for path in after if path.endswith(("html", ".js", ".css", "index.json")) and before.get(path) != after[path]}
        self.assertEqual(pages, {"simple/demo/page.html", "simple/demo/index.html", "simple/demo/index.json"})
        self.assertIn("the newest is 2.0", self.words("simple/demo/page.html"))
        self.assert_ok(self.variant("index", "yank", "demo==2.0", "--reason", "broken", "--out", self.out))
        self.assertIn("Yanked: broken", self.words("simple/demo/page.html"))
        self.assert_ok(self.variant("index", "remove", "other", "--out", self.out))
        self.assertFalse((self.out / "simple/other").exists())
        self.assertNotIn("other", self.words("index.html"))
        self.assertEqual(self.assert_ok(self.variant("index", "update", "--out", self.out, "--json")).json["updated"]["projects"], 0)
        self.assertEqual(self.variant("index", "lint", self.out).code & ~1, 0)

    def test_build_and_add_write_the_same_pages(self):
        self.publish(demo_wheels(), "build", self.root / "built")
        self.publish(demo_wheels())
        built, added = (self.root / "built"), self.out
        for page in ("index.html", "page/script.js", "page/style.css", "page/machines.js", "simple/demo/page.html"):
            # A file that was built has no time of upload.
            left, right = ((place / page).read_text() for place in (built, added))
            self.assertEqual(left, re.sub(r", \d{4}-\d\d-\d\d(?=</span>)", "", right), page)
        before = tree(built)
        self.publish([Wheel("more", "1.0")], "build", built)
        after = tree(built)
        self.assertEqual(before["simple/demo/page.html"], after["simple/demo/page.html"])
        self.assertIn("simple/more/page.html", after)

    def test_an_index_without_pages_gets_them(self):
        self.publish(demo_wheels(("1.0",)) + [Wheel("other", "1.0")])
        first = tree(self.out)
        for path in [self.out / "index.html", *(self.out / "page").iterdir(), *self.out.glob("simple/*/page.html")]:
            path.unlink()
        (self.out / "page").rmdir()
        self.publish([Wheel("demo", "2.0")])
        self.assertTrue((self.out / "page/script.js").exists())
        self.assertIn("2 projects", self.words("index.html"))
        self.assert_ok(self.variant("index", "update", "--out", self.out))
        self.assertTrue((self.out / "simple/other/page.html").exists())
        self.assertEqual({path for path in tree(self.out) if path not in first and "2.0" not in path}, set())

    def test_a_first_page_of_the_owner_stays(self):
        self.out.mkdir()
        self.publish([Wheel("demo", "1.0")])
        (self.out / "index.html").write_text("<h1>Our own</h1>")
        self.publish([Wheel("other", "1.0")])
        self.assert_ok(self.variant("index", "update", "--out", self.out))
        self.assertEqual((self.out / "index.html").read_text(), "<h1>Our own</h1>")
        self.assertTrue((self.out / "simple/other/page.html").exists())

    def test_many_projects_are_divided(self):
        names = [f"{letter}{number:04}" for letter in "ab" for number in range(800)]
        self.update([record(f"{name}-1.0-py3-none-any.whl") for name in names])
        self.assertEqual(sorted(path.name for path in self.out.glob("page/list-*")), ["list-a.html", "list-b.html"])
        self.assertIn("1600 projects", self.words("index.html"))
        self.assertIn("b0799", self.words("page/list-b.html"))
        links = [one.attrib["href"] for one in self.parse("page/list-b.html").iter("a")]
        self.assertIn("../simple/b0000/page.html", links)
        before = tree(self.out)
        self.publish([Wheel("b9999", "1.0")])
        after = tree(self.out)
        changed = {path for path in after if path in before and before[path] != after[path]}
        self.assertEqual(changed, {"index.html", "simple/index.html", "simple/index.json", "page/list-b.html"})
        self.update([record(f"c{number:04}-1.0-py3-none-any.whl") for number in range(1100)])
        self.assertEqual(sorted(path.name for path in self.out.glob("page/list-c*")), ["list-c0.html", "list-c1.html"])
        gone = [f"{name}" for name in names if name.startswith("a")] + [f"c{number:04}" for number in range(1100)]
        self.assert_ok(self.variant("index", "remove", *gone, "--out", self.out))
        self.assertEqual(list(self.out.glob("page/list-*")), [])
        self.assertIn("801 projects", self.words("index.html"))

    def test_installers_read_the_pages_as_before(self):
        self.publish(demo_wheels() + [Wheel("other", "1.0")])
        text = (self.out / "simple/demo/index.html").read_text()
        self.assertNotIn("page.html", text)
        self.make_venv()
        self.assert_ok(self.pip("install", "other", "--index-url", (self.out / "simple").as_uri(), "--target", self.root / "by-pip"))
        self.assert_ok(self.uv("pip", "install", "demo==2.0", "--index-url", (self.out / "simple").as_uri(), "--python", self.venv))


if __name__ == "__main__":
    unittest.main()
