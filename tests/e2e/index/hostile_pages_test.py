"""Small answers of an index that unpack to much: time and memory stay in proportion, and an error says which page it was."""

import gzip
import http.server
import os
import pathlib
import subprocess
import sys
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import PYTHON, VARIANT, Index, TestCase, Wheel, levels_document

MEGABYTE = 1 << 20
PAGE = 16 * MEGABYTE
JSON = "application/vnd.pypi.simple.v1+json"
HEAD = b'{"meta":{"api-version":"1.0"},"name":"x","files":['


def fill(pattern, size=PAGE):
    return pattern * (size // len(pattern))


def links(name):
    return b"".join(b'<a href="%s-%d.0-py3-none-any.whl">x</a>' % (name, i) for i in range(PAGE // 50))


# name -> (content type, body, words of the error)
PAGES = {
    "nested": ("text/html", b"<h1>Links for x</h1>" + fill(b"<div>"), "package nested was not found"),
    "reopened": ("text/html", b"<h1>Links for x</h1>" + fill(b"<p><font size=1>"), "package reopened was not found"),
    "attributes": ("text/html", b"<h1>Links for x</h1><a" + fill(b" a=b") + b">", "package attributes was not found"),
    "long-base": ("text/html", b"<base href='/" + b"b" * MEGABYTE + b"/'>" + links(b"long_base"), "far too long for its size"),
    "tiny-links": ("text/html", fill(b"<a href=.whl>"), "far too long for its size"),
    "empty-entries": (JSON, HEAD + fill(b"{},") + b"{}]}", "package empty-entries was not found"),
    "brackets": (JSON, fill(b"["), "is not a page of a package index"),
    "tiny-entries": (JSON, HEAD + fill(b'{"url":"a","filename":"a"},') + b"{}]}", "far too long for its size"),
    "hashes": (JSON, HEAD + b'{"filename":"hashes-1.tar.gz","url":"x","hashes":{' + fill(b'"a":"b",') + b'"a":"b"}}]}', "hashes 1 has no wheel"),
    "tags": (JSON, HEAD + b",".join(b'{"filename":"tags-%d.0-%s.whl","url":"x"}' % (number, b"-".join([b"a.b.c.d.e.f.g.h.i"] * 3))
                                    for number in range(5000)) + b"]}", "far too long for its size"),
    "too-long": ("text/html", fill(b" ", 65 * MEGABYTE), "more than the 67108864 bytes"),
    "variants": (JSON, HEAD + b'{"filename":"variants-1.0-py3-none-any-a.whl","url":"/a.whl"},'
                 b'{"filename":"variants-1.0-variants.json","url":"/variants-1.0-variants.json"}]}', "more than the 4194304 bytes"),
}
FILES = {"/variants-1.0-variants.json": ("application/json", fill(b"[[],"))}


# A process counts the memory of the one that it was forked from as its own peak, so a small one lies between.
LAUNCHER = """
import os, signal, sys
child = os.fork()
if child == 0:
    signal.alarm(60)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.execv(sys.argv[1], sys.argv[1:])
_, status, use = os.wait4(child, 0)
print(os.waitstatus_to_exitcode(status), use.ru_maxrss)
"""


class Server(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        name = self.path.strip("/").rsplit("/", 1)[-1]
        found = FILES.get(self.path) or PAGES.get(name)
        if found is None:
            return self.send_error(404)
        body = gzip.compress(found[1], 6)
        self.send_response(200)
        self.send_header("Content-Type", found[0])
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class HostilePages(TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()
        cls.url = f"http://127.0.0.1:{cls.server.server_port}/simple"

    @classmethod
    def tearDownClass(cls):
        cls.server.shutdown()
        cls.server.server_close()

    def run_measured(self, *arguments):
        """Exit code, stderr and peak memory in bytes of one run; one that takes over a minute is ended."""
        done = subprocess.run([PYTHON, "-I", "-S", "-c", LAUNCHER, str(VARIANT), *map(str, arguments)], env=self.env,
                              cwd=self.root, text=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=120)
        code, peak = map(int, done.stdout.split())
        return code, done.stderr, peak * 1024

    def test_each_ends_with_a_word_in_memory_of_ten_times_its_length(self):
        self.make_venv()
        for name, (_, body, words) in PAGES.items():
            with self.subTest(name):
                code, said, peak = self.run_measured("resolve", name, "--index-url", self.url, "--no-cache",
                                                     "--python", self.venv)
                self.assertIn(code, (1, 3), said)
                self.assertIn(words, said)
                if not os.environ.get("AXLE_SANITIZED"):
                    # The program itself, with its modules, takes 24 MB.
                    self.assertLess(peak, min(24 * MEGABYTE + 10 * len(body), 512 * MEGABYTE) if name != "variants"
                                    else 60 * MEGABYTE, said)

    def test_labels_that_nothing_describes_are_not_all_looked_up(self):
        index = Index(self.root / "index")
        document = levels_document(())
        wheels = [Wheel("many", "1.0", f"l{i}", {**document, "variants": {f"l{i}": {"x86_64": {"level": ["v1"]}}}})
                  for i in range(201)]
        folder = self.root / "index/many"
        for wheel in [*wheels, Wheel("many", "1.0")]:
            wheel.write(folder)
        self.make_venv()
        result = self.assert_ok(self.variant("resolve", "many", "--json", "--index-url", index.url, "--python", self.venv))
        self.assertIsNone(result.json["packages"][0]["variant"])
        self.assertIn("more than 200 labels", result.err)


if __name__ == "__main__":
    unittest.main()
