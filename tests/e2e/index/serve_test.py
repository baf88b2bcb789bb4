"""`variant index serve`: pip, uv and Axle install from it, and it stays up with whatever else is sent to it."""

import concurrent.futures
import http.client
import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import VARIANT, TestCase, Wheel, levels_document

DOCUMENT = levels_document()
JSON, HTML = "application/vnd.pypi.simple.v1+json", "application/vnd.pypi.simple.v1+html"


class ServeCase(TestCase):
    def setUp(self):
        super().setUp()
        self.out = self.root / "public"
        wheels = [Wheel("demo", "1.0", label, DOCUMENT if label else None, files={"demo.py": "X = 1\n" * 5000}) for label in (None, "null", "v1", "v3")]
        self.assert_ok(self.variant("index", "add", *(wheel.write(self.root / "dist") for wheel in wheels), Wheel("other", "1.0").write(self.root / "dist"),
                                    "--out", self.out))
        self.server = subprocess.Popen([str(VARIANT), "index", "serve", str(self.out), "--json"], env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.stop)
        self.url = self.told()["index_url"]
        self.port = int(self.url.split(":")[2].split("/")[0])
        (self.root / "secret").write_text("years of work")

    def told(self):
        text = ""
        while True:
            text += self.server.stdout.readline()
            try:
                return json.loads(text)
            except ValueError:
                self.assertIsNone(self.server.poll(), text)

    def stop(self):
        if self.server.poll() is None:
            self.server.terminate()
        self.server.wait(20)
        self.server.stdout.close(), self.server.stderr.close()

    def ask(self, path, method="GET", headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request(method, path, headers=headers or {})
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, dict(answer.getheaders()), body

    def send(self, data, wait=20):
        """The first line of the answer to raw bytes; "" for a connection that ends."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=wait) as connection:
            try:
                connection.sendall(data)
                return connection.recv(4096).partition(b"\r\n")[0].decode("latin-1")
            except ConnectionError:
                return ""

    def assert_serves(self):
        self.assertEqual(self.ask("/simple/demo/")[0], 200)


class Answers(ServeCase):
    def test_installers_install_from_it(self):
        self.make_venv()
        self.assert_ok(self.pip("download", "--no-deps", "-i", self.url, "-d", self.root / "pip", "demo"))
        self.assertEqual([path.name for path in (self.root / "pip").iterdir()], ["demo-1.0-py3-none-any.whl"])
        self.assert_ok(self.uv("pip", "install", "--no-cache", "-i", self.url, "--target", self.root / "uv", "demo", "other", "--python", self.venv / "bin/python"))
        told = self.assert_ok(self.variant("resolve", "demo", "-i", self.url, "--python", self.venv, "--for", "x86_64:v3", "--json")).json
        self.assertEqual(told["packages"][0]["variant"], "v3")
        self.assert_ok(self.install("demo", index=self.url))

    def test_pages_have_the_form_that_is_asked_for(self):
        for accept, status, form in ((None, 200, "text/html; charset=utf-8"), ("*/*", 200, "text/html; charset=utf-8"), (JSON, 200, JSON), (HTML, 200, HTML),
                                     ("application/vnd.pypi.simple.latest+json", 200, JSON), (f"text/html;q=0.01, {HTML};q=0.2, {JSON}", 200, JSON),
                                     (f"{JSON};q=0.1, text/html;q=0.9", 200, "text/html; charset=utf-8"), (f"{JSON};q=0, text/html", 200, "text/html; charset=utf-8"),
                                     ("application/vnd.pypi.simple.v2+json", 406, None), ("image/png", 406, None), ("x" * 5000, 406, None), (f"{JSON};q=x", 406, None)):
            got, headers, body = self.ask("/simple/demo/", headers={"Accept": accept} if accept else {})
            self.assertEqual(got, status, accept)
            if form:
                self.assertEqual((headers["Content-Type"], headers["Vary"]), (form, "Accept"))
                file = self.out / "simple/demo" / ("index.json" if form == JSON else "index.html")
                self.assertEqual(body, file.read_bytes())
        self.assertEqual(self.ask("/simple/", headers={"Accept": JSON})[2], (self.out / "simple/index.json").read_bytes())
        for path, to in (("/simple", "/simple/"), ("/simple/demo", "/simple/demo/"), ("/simple/De.Mo_x/", "/simple/de-mo-x/")):
            status, headers, _ = self.ask(path)
            self.assertEqual((status, headers["Location"]), (301, to))
        # What a name has of a URL's own characters stays a part of the name.
        for name, to in (("a%20b", "a%20b"), ("A%3Fx%23y", "a%3Fx%23y"), ("%25zz", "%25zz"), ("%C3%BC", "%C3%BC"), ("a%22%3Cb%3E", "a%22%3Cb%3E")):
            for path in (f"/simple/{name}", f"/simple/X.{name}/"):
                status, headers, _ = self.ask(path)
                self.assertEqual((status, headers["Location"]), (301, "/simple/" + ("x-" if path.endswith("/") else "") + to + "/"))
        for name in ("a%0D%0AX-Evil:%201", "a%0A", "a%0D", "a%00"):
            status, headers, _ = self.ask(f"/simple/{name}")
            self.assertEqual((status, "X-Evil" in headers, "Location" in headers), (400, False, False))
        for path, name in (("/", "index.html"), ("/index.html", "index.html"), ("/page/script.js", "page/script.js"), ("/simple/demo/page.html", "simple/demo/page.html")):
            status, headers, body = self.ask(path)
            self.assertEqual((status, body), (200, (self.out / name).read_bytes()), path)
            self.assertEqual("Content-Security-Policy" in headers, name.endswith("html"), path)
        (self.out / "index.html").unlink()
        self.assertEqual(self.ask("/")[1]["Location"], "/simple/")
        for path in ("/simple/absent/", "/simple/demo/absent.whl", "/other/", "/page/", "/page", "/page/x/y", "/page/absent", "/dist/demo.py", "/simple/demo/x/y", "/simple/demo/demo-1.0-py3-none-any.whl/"):
            self.assertEqual(self.ask(path)[0], 404, path)

    def test_parts_heads_and_tags(self):
        path = "/simple/demo/demo-1.0-py3-none-any-v3.whl"
        data = (self.out / path[1:]).read_bytes()
        status, headers, body = self.ask(path)
        self.assertEqual((status, body, headers["Content-Type"], headers["Accept-Ranges"]), (200, data, "application/octet-stream", "bytes"))
        tag = headers["ETag"]
        status, head, body = self.ask(path, "HEAD")
        self.assertEqual((status, head["Content-Length"], body, head["ETag"]), (200, str(len(data)), b"", tag))
        n = len(data)
        for asked, part in (("bytes=0-9", (0, 10)), ("bytes=10-", (10, n)), ("bytes=-7", (n - 7, n)), (f"bytes={n - 3}-{n * 9}", (n - 3, n)), (f"bytes=-{n * 2}", (0, n))):
            status, headers, body = self.ask(path, headers={"Range": asked})
            self.assertEqual((status, body), (206, data[slice(*part)]), asked)
            self.assertEqual(headers["Content-Range"], f"bytes {part[0]}-{part[1] - 1}/{n}")
        for asked in (f"bytes={n}-", "bytes=-0"):
            status, headers, body = self.ask(path, headers={"Range": asked})
            self.assertEqual((status, headers["Content-Range"]), (416, f"bytes */{n}"), asked)
        for asked in ("bytes=9-1", "bytes=0-1,3-4", "bytes=x-", "lines=1-2", "bytes=", "bytes=-", "bytes=99999999999999999999-", "bytes=0-1" + "0" * 40):
            self.assertEqual(self.ask(path, headers={"Range": asked})[0], 200, asked)
        self.assertEqual(self.ask(path, headers={"Range": "bytes=0-9", "If-Range": tag})[0], 206)
        self.assertEqual(self.ask(path, headers={"Range": "bytes=0-9", "If-Range": '"other"'})[0], 200)
        for tags in (tag, "W/" + tag, f'"x", {tag}', "*"):
            status, headers, body = self.ask(path, headers={"If-None-Match": tags})
            self.assertEqual((status, body, headers["ETag"]), (304, b"", tag))
        self.assertEqual(self.ask(path, headers={"If-None-Match": '"x"'})[0], 200)
        self.assertEqual(self.ask(path + ".metadata")[1]["Content-Type"], "text/plain; charset=utf-8")
        self.assertEqual(self.ask("/simple/demo/demo-1.0-variants.json")[1]["Content-Type"], "application/json")

    def test_a_change_is_seen_at_once(self):
        tag = self.ask("/simple/demo/", headers={"Accept": JSON})[1]["ETag"]
        self.assert_ok(self.variant("index", "add", Wheel("demo", "2.0").write(self.root / "dist"), "--out", self.out))
        status, headers, body = self.ask("/simple/demo/", headers={"Accept": JSON, "If-None-Match": tag})
        self.assertEqual((status, "demo-2.0-py3-none-any.whl" in body.decode()), (200, True))
        self.assert_ok(self.variant("index", "build", Wheel("late", "1.0").write(self.root / "two").parent, "--out", self.out))  # another folder takes its place
        self.assertEqual(self.ask("/simple/late/")[0], 200)

    def test_it_ends_by_a_signal(self):
        self.server.send_signal(signal.SIGTERM)
        self.assertEqual(self.server.wait(20), 0)
        self.assertEqual(self.server.stderr.read(), "")

    def test_no_header_comes_twice(self):
        for path in ("/", "/simple/", "/simple/demo/", "/simple/demo/demo-1.0-py3-none-any.whl", "/nowhere"):
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
            connection.request("GET", path)
            names = [name.lower() for name, _ in connection.getresponse().getheaders()]
            connection.close()
            self.assertEqual(len(names), len(set(names)), (path, names))
            self.assertIn("x-content-type-options", names)

    def test_what_it_cannot_do_is_told(self):
        self.assert_fails(self.variant("index", "serve", self.root / "dist"), 1, "does not contain a package index")
        self.assert_fails(self.variant("index", "serve", self.out, "--port", self.port), 1, f"port {self.port}", "--port")
        self.assert_fails(self.variant("index", "serve", self.out, "--port", "70000"), 2, "70000")
        self.assert_fails(self.variant("index", "serve", self.out, "--host", "localhost"), 2, "localhost", "digits")
        self.assert_fails(self.variant("index", "serve", self.out, "--host", "192.0.2.1"), 1, "192.0.2.1")


class Hostile(ServeCase):
    def test_nothing_outside_is_read(self):
        (self.out / "simple/demo/link.whl").symlink_to(self.root / "secret")
        (self.out / "simple/linked").symlink_to(self.root)
        (self.out / "simple/demo/.hidden").write_text("years of work")
        os.mkfifo(self.out / "simple/demo/pipe.whl")
        up = ["..", "%2e%2e", "%2E.", ".%2e", "..%2f..", "%2e%2e%2f", "..%5c", "..\\", "%c0%ae%c0%ae", "%252e%252e", "....//", "..;", "..%00", "."]
        for one in up:
            for path in (f"/{one}/secret", f"/simple/{one}/{one}/secret", f"/simple/demo/{one}/{one}/{one}/secret", f"/simple/{one}%2fsecret", f"//{one}/secret",
                         f"/simple/demo/{one}%2f{one}%2f{one}%2fsecret"):
                status, _, body = self.ask(path)
                self.assertIn(status, (301, 400, 404), path)
                self.assertNotIn(b"years of work", body, path)
        for path in ("/simple/demo/link.whl", "/simple/linked/secret", "/simple/linked/", "/simple/demo/.hidden", "/simple/demo/pipe.whl", "/.axle-change/journal",
                     str(self.root / "secret"), "/simple/demo/%00", "/simple/demo/%", "/simple/demo/%zz", "/simple/demo/a%0ab", "/simple/" + "a" * 9000 + "/"):
            status, _, body = self.ask(path)
            self.assertIn(status, (400, 404, 414, 431), path)
            self.assertNotIn(b"years of work", body, path)
        self.assert_serves()

    def test_other_methods_are_refused(self):
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH", "PROPFIND", "TRACE", "get", "X" * 3000):
            self.assertIn(self.ask("/simple/demo/", method)[0], (405, 400, 431, 414), method)
        self.assertEqual(self.ask("/simple/demo/", "POST", {"Content-Length": str(1 << 40)})[0], 405)
        self.assertIn(self.send(b"PUT /simple/x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n")[:12], ("HTTP/1.1 405", "HTTP/1.1 400", ""))
        self.assert_serves()

    def test_large_and_broken_requests(self):
        huge = b"GET /simple/ HTTP/1.1\r\nHost: x\r\n" + b"".join(b"X-%d: %s\r\n" % (i, b"y" * 1000) for i in range(3000)) + b"\r\n"
        self.assertIn(self.send(huge)[:12], ("HTTP/1.1 431", "HTTP/1.1 413", ""))
        self.assertIn(self.send(b"GET /" + b"a" * 300000 + b" HTTP/1.1\r\n\r\n")[:12], ("HTTP/1.1 414", "HTTP/1.1 431", ""))
        dice = random.Random(4)
        sound = b"GET /simple/demo/ HTTP/1.1\r\nHost: x\r\nAccept: text/html\r\nRange: bytes=0-9\r\nConnection: close\r\n\r\n"
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            broken = []
            for _ in range(300):
                data = bytearray(sound)
                for _ in range(dice.randrange(1, 6)):
                    data[dice.randrange(len(data))] = dice.randrange(256)
                broken.append(bytes(data[:dice.randrange(len(data))] if dice.random() < 0.2 else data) + b"\r\n\r\n")
            for answer in pool.map(lambda data: self.send(data, 40), broken):
                self.assertTrue(answer == "" or answer.startswith("HTTP/1."), answer)
        self.assert_serves()

    def test_slow_and_silent_clients_hold_up_nobody(self):
        held = []
        self.addCleanup(lambda: [one.close() for one in held])
        for i in range(150):
            one = socket.create_connection(("127.0.0.1", self.port), timeout=10)
            one.sendall(b"GET /simple/demo/ HTTP/1.1\r\nHost: x\r\nX-Slow: " + b"y" * (i % 7) if i % 3 else b"")
            held.append(one)
        begin = time.monotonic()
        for _ in range(20):
            self.assert_serves()
        self.assertLess(time.monotonic() - begin, 10)
        # One that never reads its answer, of a file that no buffer holds.
        large = self.out / "simple/demo/large.bin"
        with open(large, "wb") as file:
            file.truncate(1 << 30)
        one = socket.create_connection(("127.0.0.1", self.port), timeout=10)
        one.sendall(b"GET /simple/demo/large.bin HTTP/1.1\r\nHost: x\r\n\r\n")
        held.append(one)
        self.assert_serves()
        # They are not kept for ever.
        deadline = time.monotonic() + 60
        held[1].settimeout(60)
        while time.monotonic() < deadline:
            if held[1].recv(4096) == b"":
                return
        self.fail("a silent connection is kept")


if __name__ == "__main__":
    unittest.main()
