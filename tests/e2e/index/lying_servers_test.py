"""Servers that lie about length, range, type and content, stall in the middle, or send elsewhere: pages, metadata, small wheels
and large ones, which are unpacked while they arrive. Each is refused with a word, and nothing stays
but the beginning of a large wheel whose transfer broke off."""

import base64
import contextlib
import gzip
import hashlib
import json
import pathlib
import random
import shutil
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "settings"))
from loopback import Loopback, behind_login
from settings_servers import Servers
from support import EnvironmentTestCase, Wheel

SECRET = "s3cr3t-W0rd"
NAME = "demo-1.0-py3-none-any.whl"


def answer(status=200, length=None, send=None, **headers):
    """Writes an answer by hand: `send` of the true bytes makes its body."""
    def give(handler, data):
        body = data if send is None else send(data)
        handler.close_connection = True
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value(data) if callable(value) else value)
        handler.send_header("Content-Length", str(len(body) if length is None else length(data)))
        handler.end_headers()
        handler.wfile.write(body)
    return give


GIVEN = [0]  # bytes of the endless answer


def endless(handler, data):
    handler.close_connection = True
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    with contextlib.suppress(OSError):
        for chunk in [data, *[bytes(1 << 20)] * 4096]:
            handler.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
            GIVEN[0] += len(chunk)


def stalled(handler, data):
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(data)))
    handler.end_headers()
    handler.wfile.write(data[:len(data) // 2])
    handler.wfile.flush()
    time.sleep(20)


def dripping(handler, data):
    """Faster than the time limit between bytes, and for ever."""
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(data)))
    handler.end_headers()
    with contextlib.suppress(OSError):
        for byte in data[:400]:
            handler.wfile.write(bytes([byte]))
            handler.wfile.flush()
            time.sleep(0.5)


def redirect(place):
    return lambda handler, data: answer(302, send=lambda _: b"", Location=place)(handler, data)


BOMB = gzip.compress(bytes(300 << 20), 9)
LOGIN_PAGE = b"<html><title>Sign in</title>" + b" " * 2000 + b"</html>"

# lie -> (how it is answered, what Axle says of a page, and of a wheel). None: there it is none.
LIES = {
    "a length that is too long": (answer(length=lambda data: len(data) + 10), "interrupted", "interrupted"),
    "a length that is too short": (answer(length=lambda data: len(data) - 10), None, "gives its size as"),
    "more than there is, without a length": (endless, "sends more than", "bytes or more, but"),
    "other bytes of the same length": (answer(send=lambda data: bytes(len(data))), "is not a page of a package index", "has the sha256"),
    "a sign-in page": (answer(send=lambda data: LOGIN_PAGE, Content_Type="text/html"), "has no link", "gives its size as"),
    "no content": (answer(204, send=lambda data: b""), "HTTP status 204", "returned 204"),
    "\"not modified\" although nothing was asked so": (answer(304, send=lambda data: b""), "HTTP status 304", "returned 304"),
    "a part of what was asked for": (answer(206, send=lambda data: data[:50], Content_Range=lambda data: f"bytes 0-49/{len(data)}"), "no part was requested", "no part was requested"),
    "a coding that it does not have": (answer(Content_Encoding="gzip"), "is damaged", None),
    "a coding that nobody knows": (answer(Content_Encoding="zpaq"), "sent as 'zpaq'", None),
    "a bomb": (answer(send=lambda data: BOMB, Content_Encoding="gzip"), "sends more than", "gives its size as"),
    "a redirect to a file": (redirect("file:///etc/passwd"), "which is not http or https", "which is not http or https"),
    "a redirect to a file of another spelling": (redirect("FiLe:/etc/passwd"), "which is not http or https", "which is not http or https"),
    "a redirect to data": (redirect("data:text/html,x"), "which is not http or https", "which is not http or https"),
    "a redirect to a mail server": (redirect("smtp://127.0.0.1:25/"), "which is not http or https", "which is not http or https"),
    "silence in the middle": (stalled, "no response for 2 seconds", "no response for 2 seconds"),
}

# What is given and said of a part, and Axle's word.
RANGES = {
    "another part of the same length": (lambda data, first, last: (data[:last - first + 1], f"bytes 0-{last - first}/{len(data)}"),
        "it is not the end of the file"),
    "a shorter part": (lambda data, first, last: (data[first:last], f"bytes {first}-{last - 1}/{len(data)}"),
        "it is not the end of the file"),
    "another size of the whole": (lambda data, first, last: (data[first:last + 1], f"bytes {first}-{last}/{len(data) + 7}"),
        "it is not the end of the file"),
    "bytes from another place": (lambda data, first, last: (data[:last - first + 1], f"bytes {first}-{last}/{len(data)}"),
        "no end record"),
    "no range at all": (lambda data, first, last: (data[first:last + 1], ""),
        "it has no range"),
    "a range that is none": (lambda data, first, last: (data[first:last + 1], "bytes 9-3/*"),
        "it has no range"),
}


class Liars(EnvironmentTestCase, Servers):
    large = None

    def setUp(self):
        super().setUp()
        self.server = Loopback(self)
        if Liars.large is None:
            Liars.large = Wheel("demo", "1.0", files={"demo.py": "VALUE = 1\n", "demo.bin": random.Random(7).randbytes(17 << 20)}).bytes()
        self.small = Wheel("demo", "1.0").bytes()

    def publish(self, data, page=None, whole=None, part=None, metadata=None, mark=None):
        """The project demo; `page`, `whole` and `part` answer for the page, the wheel and parts of it."""
        entry = {"filename": NAME, "url": "/files/" + NAME, "size": len(data), "hashes": {"sha256": hashlib.sha256(data).hexdigest()}}
        if mark:
            entry["core-metadata"] = mark
        text = json.dumps({"meta": {"api-version": "1.1"}, "name": "demo", "versions": [], "files": [entry]}).encode()

        def give_page(handler):
            (page or answer(Content_Type="application/vnd.pypi.simple.v1+json"))(handler, text)

        def give_wheel(handler):
            wanted = handler.headers.get("Range")
            if not wanted or (part is None and whole is None and len(data) < 1 << 20):
                return (whole or answer())(handler, data)
            begin, _, end = wanted.removeprefix("bytes=").partition("-")
            first, last = (len(data) - int(end), len(data) - 1) if not begin else (int(begin), min(int(end or len(data)), len(data) - 1))
            first = max(first, 0)
            body, told = (part or (lambda data, first, last: (data[first:last + 1], f"bytes {first}-{last}/{len(data)}")))(data, first, last)
            return answer(206, send=lambda _: body, Content_Range=told)(handler, data)

        self.server.answers = {"/simple/demo/": give_page, "/files/" + NAME: give_wheel,
                               f"/files/{NAME}.metadata": lambda handler: metadata(handler, data)}

    def left(self):
        """What of a wheel is in the cache; pages are kept as they came."""
        return sorted(str(one) for one in (self.root / "home/.cache/axle").rglob("*")
                      if one.is_file() and not {"http", "http-2", "interpreters", "installed", "lock"} & set(one.parts))

    def ask(self, *more, within=20):
        begun = time.monotonic()
        result = self.install("demo", "--retries", "0", "--timeout", "2", "--refresh", *more, index=self.server.url("/simple"))
        self.assertLess(time.monotonic() - begun, within)
        return result

    def refused(self, word, **how):
        result = self.ask(**how)
        self.assertIn(result.code, (1, 3), str(result))
        self.assertIn(word, result.err)
        self.assertIn("demo", result.err)
        # Of a large wheel whose transfer broke off the next command fetches the rest only.
        if "interrupted" in word or "no response" in word or "less than" in word:
            for partial in (self.root / "home/.cache/axle/store").glob("partial-*"):
                shutil.rmtree(partial)
        self.assertEqual(self.left(), [], "nothing stays")

    def test_pages(self):
        for lie, (give, says, _) in LIES.items():
            if says is not None:
                with self.subTest(lie):
                    self.publish(self.small, page=give)
                    self.refused(says)
        self.assert_untouched()

    def test_wheels(self):
        for data in (self.small, self.large):
            for lie, (give, _, says) in LIES.items():
                if says is not None:
                    with self.subTest(lie, size=len(data)):
                        self.publish(data, whole=give)
                        GIVEN[0] = 0
                        self.refused(says)
                        self.assertLess(GIVEN[0], len(data) + (16 << 20), "nobody reads for ever")
        self.assert_untouched()

    def test_a_large_wheel_in_drips(self):
        self.publish(self.large, whole=dripping)
        self.refused("less than 1000 bytes per second for 30 seconds", within=60)
        self.assert_untouched()

    def test_parts(self):
        for lie, (part, says) in RANGES.items():
            with self.subTest(lie):
                self.publish(self.large, part=part)
                self.refused(says)
        self.assert_untouched()

    def test_a_coding_of_a_wheel_was_not_asked_for_and_its_hash_decides(self):
        for data in (self.small, self.large):
            self.publish(data, whole=answer(Content_Encoding="gzip"))
            self.assert_ok(self.ask("--reinstall"))

    def test_metadata(self):
        """An error; of bytes that are others than their hash says, a warning, and the wheel's own count."""
        lib = Wheel("lib", "1.0")
        whole = Wheel("demo", "1.0", requires=["lib"])
        truth = whole.members[f"{whole.dist_info}/METADATA"].encode()
        for lie, (give, says, _) in LIES.items():
            for hashed in (True, False):
                if says is None:
                    continue
                with self.subTest(lie, hashed=hashed):
                    self.publish(whole.bytes(), metadata=lambda handler, data: give(handler, truth),
                                 mark={"sha256": hashlib.sha256(truth).hexdigest()} if hashed else True)
                    self.server.publish("/simple", lib)
                    if lie not in ("other bytes of the same length", "a sign-in page"):
                        self.refused(says)
                    elif not hashed:
                        self.refused("it has no Name")
                    else:
                        self.assertIn("the metadata is read from the wheel itself", self.assert_ok(self.ask("--no-cache")).err)
                        self.assertEqual(set(self.installed()), {"demo", "lib"})
                        self.assert_ok(self.variant("uninstall", "demo", "lib", "--python", self.venv))
        self.assert_untouched()


class Elsewhere(Liars):
    """What is asked for is on another server, or the first one says so."""

    test_pages = test_wheels = test_parts = test_metadata = None
    test_a_large_wheel_in_drips = test_a_coding_of_a_wheel_was_not_asked_for_and_its_hash_decides = None

    def look_for_the_secret(self, *results):
        for result in results:
            self.assertNotIn(SECRET, result.out + result.err)
        for folder in (self.root / "home", self.venv):
            for path in folder.rglob("*"):
                if path.is_file() and not path.is_symlink():
                    self.assertNotIn(SECRET.encode(), path.read_bytes(), path)

    def test_from_https_to_http(self):
        loopback, self.server = self.server, self.server.server  # certificate() wants the server itself
        url, certificate = self.certificate()
        self.server = loopback
        truth = Wheel("demo", "1.0").members["demo-1.0.dist-info/METADATA"].encode()
        for what, data, lies in (("page", self.small, "page"), ("wheel", self.small, "whole"), ("large wheel", self.large, "whole"),
                                 ("metadata", self.small, "metadata")):
            with self.subTest(what):
                shutil.rmtree(self.root / "home/.cache", ignore_errors=True)
                down = redirect(self.server.url("/elsewhere"))
                self.publish(data, mark=what == "metadata",
                             **{lies: (lambda handler, _: down(handler, truth)) if what == "metadata" else down})
                result = self.install("demo", "--retries", "0", "--refresh", "--cert", certificate, index=f"{url}/simple")
                self.assert_fails(result, 1, "redirects to " + self.server.url("/elsewhere"), "from https to http")
                self.assertEqual(self.left(), [])
        self.assertEqual(self.server.asked("/elsewhere"), [], "nobody went there")
        self.assert_untouched()

    def test_a_login_stays_with_its_server(self):
        other = Loopback(self)
        for size, data in (("small", self.small), ("large", self.large)):
            for where in (other.url(), other.url(login=f"thief:{SECRET}")):
                with self.subTest(size, where=where.replace(SECRET, "***")):
                    self.publish(data)
                    honest = dict(self.server.answers)
                    other.seen.clear()
                    shutil.rmtree(self.root / "home/.cache", ignore_errors=True)
                    for path, give in honest.items():
                        other.answers[path] = give
                        self.server.answers[path] = behind_login(
                            lambda handler, path=path: answer(302, send=lambda _: b"", Location=where + path)(handler, b""), "user", SECRET)
                    login = base64.b64encode(f"user:{SECRET}".encode()).decode()
                    result = self.assert_ok(self.install("demo", "--refresh", "--reinstall", "-v",
                                                         index=self.server.url("/simple", login=f"user:{SECRET}")))
                    self.assertTrue(other.asked(NAME), "the wheel came from there")
                    self.assertEqual([one for one in other.seen if one[1]], [])
                    self.assertTrue([one for one in self.server.seen if one[1] == "Basic " + login])
                    direct = self.assert_ok(self.install(self.server.url(f"/files/{NAME}", login=f"user:{SECRET}"), "--no-index", "--reinstall",
                                                         "-v", "--no-deps"))
                    self.assertIn("direct_url.json", [one.name for one in (self.site() / "demo-1.0.dist-info").iterdir()])
                    self.assertEqual([one for one in other.seen if one[1]], [])
                    self.look_for_the_secret(result, direct)


if __name__ == "__main__":
    unittest.main()
