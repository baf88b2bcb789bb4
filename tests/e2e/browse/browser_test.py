"""The pages of an index in Chromium: what they answer, to whom they can be read, and that nothing in an index runs."""

import json
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from browse.page_case import BrowserCase, StrictHost, demo_wheels
from support import VARIANT, Wheel

HOSTILE = "\"><script>alert(1)</script><img src=x onerror=alert(2)>'\u202eevil"


class PlacesTest(BrowserCase):
    """A file, `variant index serve`, a static host below a path that trusts no inline script."""

    def setUp(self):
        super().setUp()
        self.publish(demo_wheels())

    def assert_answers(self, url, index):
        self.browser.open(url)
        self.choose("p5-h100x8")
        self.assert_quiet()
        self.assertIn("p5-h100x8 gets variant sm90 of 2.0", self.text("#answer"))
        self.assertEqual(self.text("#answer .command code"), f"variant install demo==2.0 --index-url {index}")
        self.assertTrue(all(request.startswith(url.split("simple/")[0]) for request in self.browser.requests), self.browser.requests)
        return self.text("#answer .command code")

    def test_as_a_file(self):
        command = self.assert_answers(self.page_url(), (self.out / "simple").as_uri() + "/")
        self.browser.open((self.out / "index.html").as_uri())
        self.assert_quiet()
        self.browser.run("document.querySelector('ul.projects a').click()")
        self.browser.wait_for_load()
        self.assertIn("sm90", self.text("#answer"), "the machine is remembered")
        self.make_venv()
        self.assert_ok(self.variant(*command.split()[1:], "--python", self.venv))

    def test_from_its_own_server(self):
        server = subprocess.Popen([str(VARIANT), "index", "serve", str(self.out)], env=self.env, stdout=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (server.terminate(), server.wait(20), server.stdout.close()))
        root = re.search(r"http://[\d.:]+/", server.stdout.readline()).group()
        self.browser.open(root)
        self.assert_quiet()
        self.assertEqual(self.text("h1"), "Package index")
        self.browser.run("document.querySelector('ul.projects a').click()")
        self.browser.wait_for_load()
        self.assert_answers(self.browser.run("location.href").split("#")[0], root + "simple/")
        self.make_venv()
        self.assert_ok(self.variant("install", "demo", "--index-url", root + "simple/", "--python", self.venv))

    def test_below_a_path_under_a_strict_policy(self):
        host = StrictHost(self.out)
        self.addCleanup(host.close)
        self.assert_answers(host.url + "simple/demo/page.html", host.url + "simple/")

    def test_without_scripts(self):
        self.browser.open(self.page_url(), scripts=False)
        names = self.browser.accessible()
        said = " ".join(name for _, name in names)
        for expected in ("variant install demo --index-url", "demo-2.0-py3-none-any-sm90.whl", "With JavaScript"):
            self.assertIn(expected, said)
        self.assertNotIn(("combobox", "Machine"), names)


class PastedTest(BrowserCase):
    def setUp(self):
        super().setUp()
        self.publish(demo_wheels())
        self.browser.open(self.page_url())

    def test_what_a_machine_says(self):
        for machine in ("p5-h100x8", "haswell", "grace", "none", "alpine-container", "rosetta", "h100", "macos15-m4", "macos14-xeon",
                        "windows-rtx5090", "windows-snapdragon-x"):
            told = self.assert_ok(self.variant("detect", "--properties", "--json", "--for", machine)).out
            self.paste(told)
            self.assertEqual(self.text("#facts-error"), "", machine)
            pasted = self.texts(".reasons")
            self.choose(machine)
            self.assertEqual([re.sub(f"(^|for ){machine}", r"\1the pasted machine", one) for one in self.texts(".reasons")], pasted, machine)
        self.assert_quiet()

    def test_what_is_wrong_is_said(self):
        good = json.loads(self.variant("detect", "--properties", "--json", "--for", "h100").out)
        bad = {"": "nothing to read", "{": "not JSON", "[1]": "not what", "null": "not what", "7": "not what", '{"a": 1}': "no “properties”",
               json.dumps({key: value for key, value in good.items() if key != "properties"}): "add --properties",
               json.dumps({**good, "properties": []}): "not an object", json.dumps({**good, "properties": {"x86_64": 3}}): "not an object",
               json.dumps({**good, "properties": {"x86_64": {"level": [[]]}}}): "not a list of names", json.dumps({**good, "cpu": 1}): "cpu.arch",
               json.dumps({**good, "libc": None}): "libc", json.dumps({**good, "properties": {HOSTILE: 1}}): HOSTILE, "x" * (5 << 20): "longer than"}
        for text, expected in bad.items():
            self.paste(text)
            self.assertIn(expected, self.text("#facts-error"), text[:80])
            self.assertEqual(self.browser.run("document.activeElement.id + document.activeElement.getAttribute('aria-invalid')"), "factstrue")
        mac = json.loads(self.variant("detect", "--properties", "--json", "--for", "macos15-m4").out)
        self.paste(json.dumps({**mac, "os": {"system": "Darwin", "name": "macOS"}}))
        self.assertIn("os.name", self.text("#facts-error"))
        self.paste('{"__proto__": {"polluted": 1}, "properties": {"constructor": {"prototype": ["x"]}, "x86_64": {"level": ["v3"]}},'
                   ' "cpu": {"arch": "x86_64"}, "libc": {"family": "glibc", "version": "2.999999999"}}')
        self.assertIn("variant v3", self.text("#answer"))
        self.assertIsNone(self.browser.run("({}).polluted ?? null"))
        self.assert_quiet()


class HostileTest(BrowserCase):
    def test_nothing_of_an_index_runs(self):
        records = [{"filename": f"demo-1.{number}-py3-none-any.whl", "url": f"{url}/demo-1.{number}-py3-none-any.whl", "hashes": {"sha256": "0" * 64}, "size": 1, **more}
                   for number, (url, more) in enumerate([("javascript:alert(1)/", {}), ("data:text/html,<script>alert(1)</script>", {}),
                                                         ("https://files.example/\"><script>alert(1)</script>", {}),
                                                         ("https://files.example", {"yanked": HOSTILE, "requires-python": HOSTILE})])]
        for number, one in enumerate(records):
            path = self.root / "one.jsonl"
            path.write_text(json.dumps(one) + "\n")
            self.variant("index", "update", "--records", path, "--out", self.out)
        self.browser.open(self.page_url())
        self.choose("p5-h100x8")
        self.assert_quiet()
        self.assertEqual(self.browser.run("document.querySelectorAll('script:not([src]):not([type]), img').length"), 0)
        self.assertEqual(self.browser.run("[...document.querySelectorAll('a')].filter((one) => /^(javascript|data):/.test(one.href)).length"), 0)
        self.assertIn("<script>alert(1)</script>", self.browser.run("document.body.textContent"))

    def test_names_of_javascript_are_names(self):
        document = {"$schema": "https://variants-schema.wheelnext.dev/v0.2.0.json", "default-priorities": {"namespace": ["constructor", "toString"]},
                    "providers": {"constructor": {"requires": ["constructor-provider"]}, "toString": {"requires": ["x-provider"]}},
                    "variants": {"null": {}, "constructor": {"constructor": {"prototype": ["valueof"]}}, "valueof": {"constructor": {"constructor": ["name"]}}}}
        document["default-priorities"]["namespace"].pop()
        document["providers"].pop("toString")
        self.publish([Wheel("demo", "1.0", label, document) for label in ("null", "constructor", "valueof")])
        self.browser.open(self.page_url())
        self.choose("p5-h100x8")
        self.assert_quiet()
        self.assertIn("variant null", self.text("#answer"))


class ReadersTest(BrowserCase):
    def setUp(self):
        super().setUp()
        self.publish(demo_wheels() + [Wheel("a-package-whose-name-is-so-long-that-no-narrow-screen-has-a-line-for-it-" + "x" * 60, "1.0")])
        self.browser.open(self.page_url())

    def test_the_keyboard_suffices(self):
        self.browser.press("Tab")
        self.assertEqual(self.browser.run("document.activeElement.className"), "skip")
        self.browser.press("Enter")
        self.assertEqual(self.browser.run("document.activeElement.id"), "main")
        reached = []
        for _ in range(60):
            self.browser.press("Tab")
            focus = self.browser.run("""(() => { const one = document.activeElement; const style = getComputedStyle(one);
                return [one.id || one.className || one.tagName, style.outlineStyle, parseFloat(style.outlineWidth), one === document.body]; })()""")
            if focus[3]:
                break
            reached.append(focus[0])
            self.assertEqual(focus[1], "solid", focus)
            self.assertGreaterEqual(focus[2], 2, focus)
            if focus[0] == "machine":
                self.browser.type("h100")
                for key in "h100":
                    self.browser.press(key)
                self.assertIn("h100", self.browser.run("document.getElementById('machine').value"))
            if focus[0] == "SUMMARY" and reached.count("SUMMARY") == 2:
                self.browser.press("Enter")  # after that of uv and pip, the one to paste
                self.assertTrue(self.browser.run("document.getElementById('paste').open"))
            if focus[0] == "facts":
                self.browser.type("{")
        self.assertIn("facts", reached)
        self.assertIn("BUTTON", reached)
        self.assertEqual(reached.count("SUMMARY"), 4, reached)
        self.browser.run("document.querySelectorAll('details.release summary')[1].focus()")
        self.browser.press(" ")
        self.assertTrue(self.browser.run("document.querySelectorAll('details.release')[1].open"))

    def test_what_assistive_technology_is_told(self):
        self.choose("p5-h100x8")
        told = self.browser.accessible()
        for expected in (("navigation", "Index"), ("combobox", "Machine"), ("combobox", "Python"), ("heading", "demo"), ("heading", "Releases"),
                         ("heading", "Which wheel for which machine"), ("table", "Wheels of 2.0"), ("region", "Releases"), ("columnheader", "Size")):
            self.assertIn(expected, told)
        roles = {role for role, _ in told}
        self.assertLessEqual({"main", "banner", "contentinfo", "rowheader", "status" if "status" in roles else "main"}, roles)
        self.assertEqual(self.browser.run("document.documentElement.lang"), "en")
        self.assertEqual(self.browser.run("document.getElementById('answer').getAttribute('aria-live')"), "polite")
        # Of every field the label, of every button the name; headings leave no level out.
        self.assertEqual([(role, name) for role, name in told if role in ("combobox", "textbox", "button", "link") and not name.strip()], [])
        levels = self.browser.run("[...document.querySelectorAll('h1, h2, h3, h4')].map((one) => Number(one.tagName[1]))")
        self.assertEqual(levels[0], 1)
        self.assertTrue(all(after - before <= 1 for before, after in zip(levels, levels[1:])), levels)
        ids = self.browser.run("[...document.querySelectorAll('[id]')].map((one) => one.id)")
        self.assertEqual(len(ids), len(set(ids)))

    def test_contrast(self):
        """4.5:1 for all text there is, in both schemes, against the background that is drawn behind it."""
        for scheme in ("light", "dark"):
            self.browser.prefer(scheme)
            self.browser.open(self.page_url())
            self.choose("sandy-bridge")
            self.browser.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
            self.paste("{")
            found = self.browser.run("""(() => {
                const parse = (text) => text.match(/[\\d.]+/g).map(Number);
                const part = (value) => { const c = value / 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
                const light = ([r, g, b]) => 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
                const behind = (one) => { for (; one; one = one.parentElement) { const c = parse(getComputedStyle(one).backgroundColor); if (c.length < 4 || c[3] === 1) return c; } return [255, 255, 255]; };
                const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
                const worst = {};
                const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
                while (walker.nextNode()) {
                    const one = walker.currentNode.parentElement;
                    if (!walker.currentNode.textContent.trim() || one.tagName === "SCRIPT" || one.tagName === "NOSCRIPT") continue;
                    const style = getComputedStyle(one);
                    const key = `${style.color} on ${behind(one)}`;
                    worst[key] = [ratio(parse(style.color), behind(one)), one.tagName + "." + one.className];
                }
                const root = getComputedStyle(document.documentElement);
                const hex = (name) => [1, 3, 5].map((at) => parseInt(root.getPropertyValue(name).trim().slice(at, at + 2), 16));
                for (const name of ["--focus", "--muted"]) worst[`${name} beside the page`] = [ratio(hex(name), hex("--page")) * 1.5, "not text: 3:1"];
                return worst;
            })()""")
            self.assertGreater(len(found), 8)
            for what, (ratio, where) in found.items():
                self.assertGreaterEqual(ratio, 4.5, f"{scheme}: {what} ({where})")
        self.browser.prefer("light")

    def test_narrow_screens_and_zoom(self):
        """320 CSS pixels are 1280 at 400 % (WCAG 1.4.10): nothing has to be scrolled sideways."""
        long_page = next((self.out / "simple").glob("a-*")).name
        for url in (self.page_url(), self.page_url(long_page), (self.out / "index.html").as_uri()):
            for width in (320, 640):
                self.browser.size(width, 700)
                self.browser.open(url)
                if "simple" in url:
                    self.choose("sandy-bridge")
                    self.browser.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
                wide = self.browser.run("document.documentElement.scrollWidth")
                self.assertLessEqual(wide, width, url)

    def test_finding_a_project_among_many(self):
        lines = [{"filename": f"{letter}pkg{number:04}-1.0-py3-none-any.whl", "url": f"https://files.example/{letter}pkg{number:04}-1.0-py3-none-any.whl",
                  "hashes": {"sha256": "0" * 64}, "size": 1} for letter in "pq" for number in range(600)]
        (self.root / "many.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        self.assert_ok(self.variant("index", "update", "--records", self.root / "many.jsonl", "--out", self.out))
        self.browser.open((self.out / "index.html").as_uri())
        self.assertIn("qpkg0000 to qpkg0599 600 projects", self.texts("ul.groups li"))
        self.browser.run("document.getElementById('name').focus()")
        self.browser.type("Qpkg0007")
        self.assertEqual(len(self.texts("ul.groups li:not([hidden])")), 1)
        self.browser.press("Enter")
        self.browser.wait_for_load()
        self.assertEqual(self.text("h1"), "qpkg0007")
        self.assert_quiet()

    def test_finding_a_project(self):
        self.browser.open((self.out / "index.html").as_uri())
        self.browser.run("document.getElementById('name').focus()")
        self.browser.type("Dem")
        self.assertEqual(self.texts("ul.projects li:not([hidden])"), ["demo"])
        self.assertEqual(self.text("#found"), "1 project")
        self.browser.press("Enter")
        self.browser.wait_for_load()
        self.assertEqual(self.text("h1"), "demo")


if __name__ == "__main__":
    unittest.main()
