"""What the tests of the pages for people share: an index with variants, a browser, a static host."""

import functools
import http.server
import json
import pathlib
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from browser import Browser, browser_program
from support import TestCase, Wheel, variant_document

POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
LEVELS = {"null": [], "v2": [("x86_64", "level", ["v2"])], "v3": [("x86_64", "level", ["v3"])], "v4": [("x86_64", "level", ["v4"])],
          "sm90": [("nvidia", "sm_arch", ["90_real", "100_real"]), ("x86_64", "level", ["v3"])], "sm75": [("nvidia", "sm_arch", ["75_real"])]}


def demo_wheels(versions=("1.0", "2.0")):
    document = variant_document(LEVELS, namespaces=("nvidia", "x86_64"))
    wheels = []
    for number, version in enumerate(versions):
        for label in (None, *LEVELS):
            files = {"demo.py": "X = 1\n" * 4000, "data.bin": bytes((i * 37 + number) % 251 for i in range(4000 * (len(label or "") + 1)))}
            wheels.append(Wheel("demo", version, label, document if label else None, files=files))
    return wheels


class PageCase(TestCase):
    def setUp(self):
        super().setUp()
        self.out = self.root / "public"

    def publish(self, wheels, command="add", out=None):
        paths = [wheel.write(self.root / "dist") for wheel in wheels]
        return self.assert_ok(self.variant("index", command, *(paths if command == "add" else [self.root / "dist"]), "--out", out or self.out))

    def page(self, name="demo"):
        return (self.out / "simple" / name / "page.html").read_text()

    def page_url(self, name="demo"):
        return (self.out / "simple" / name / "page.html").as_uri()


class BrowserCase(PageCase):
    """One browser for all tests of a class."""

    browser = None

    def setUp(self):
        super().setUp()
        if browser_program() is None:
            self.skipTest("Chromium is not there: ./dev setup brings chromium-headless-shell")
        if type(self).browser is None:
            type(self).browser = Browser(browser_program())
            self.addClassCleanup(type(self).browser.close)
        self.browser.size(1280, 900)
        self.browser.prefer("light")

    def assert_quiet(self):
        """No script failed and no policy was broken."""
        self.browser.call("Runtime.evaluate", expression="0")
        self.assertEqual(self.browser.problems, [])

    def text(self, selector):
        return self.browser.run(f"document.querySelector({json.dumps(selector)})?.innerText ?? null")

    def texts(self, selector):
        return self.browser.run(f"[...document.querySelectorAll({json.dumps(selector)})].map((one) => one.innerText)")

    def choose(self, machine, python=None):
        self.browser.run(f"""(() => {{
            const set = (id, value) => {{ const field = document.getElementById(id); field.value = value; field.dispatchEvent(new Event("change")); }};
            {f'set("python", {json.dumps(str(python))});' if python else ''}
            set("machine", {json.dumps(machine)});
        }})()""")

    def paste(self, text):
        self.browser.run(f"""(() => {{
            document.getElementById("paste").open = true;
            document.getElementById("facts").value = {json.dumps(text)};
            document.querySelector("#paste button").click();
        }})()""")


class StrictHost:
    """A static host that gives `folder` out below a path, with a policy of its own and nothing clever."""

    def __init__(self, folder, below="/some/where"):
        class Handler(http.server.SimpleHTTPRequestHandler):
            def translate_path(self, path):
                if not path.startswith(below + "/"):
                    return "/nonexistent"
                return super().translate_path(path[len(below):])

            def end_headers(self):
                self.send_header("Content-Security-Policy", POLICY)
                super().end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(folder)))
        self.url = f"http://127.0.0.1:{self.server.server_port}{below}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
