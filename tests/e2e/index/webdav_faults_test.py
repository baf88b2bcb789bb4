"""A WebDAV server that refuses, lies, redirects, has no locks, or gives the lock to another."""

import json
import pathlib
import sys
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from loopback import Loopback
from misbehaving import answer_to
from webdav import Dav
from webdav_case import PLACE, SECRET, WebDavCase


class StubCase(WebDavCase):
    def setUp(self):
        super().setUp()
        self.dav = Dav(self)
        self.out = self.dav.url(PLACE)

    def files(self):
        return {path.removeprefix(PLACE + "/"): data for path, data in self.dav.files.items() if "/.axle-change/" not in path}

    def on(self, begin, answer, times=1000):
        return answer_to(self.dav, begin, answer, times)


class Lies(StubCase):
    def setUp(self):
        super().setUp()
        self.assert_ok(self.add(self.wheel()))
        self.before = self.files()

    def refused(self, *words, wheels=None, **options):
        told = self.assert_fails(self.add(*(wheels or [self.wheel(version="2.0")]), "--retries", "0", **options), 1, *words)
        self.assertNotIn("\x1b", told.err)
        self.assertLess(len(told.err), 1500)
        self.assertEqual({path: data for path, data in self.files().items() if "index." in path}, {path: data for path, data in self.before.items() if "index." in path})
        return told

    def test_statuses(self):
        for method in ("GET", "HEAD", "MKCOL", "PUT", "LOCK", "MOVE"):
            for status, words in ((401, "~/.netrc"), (403, "permissions"), (423, "locked"), (507, "free space"), (418, "418"), (500, "log of the server")):
                if (method, status) == ("LOCK", 423):
                    continue
                with self.subTest(f"{method} {status}"):
                    self.on(method, (status, {}, b"<html><title>no</title><p>come \x1b[2J\xe2\x80\xae back</p>" + b"x" * 5000 + b"</html>"))
                    self.refused(f"HTTP {status}", words, self.out)
        # What is done in part was not done.
        for method in ("MKCOL", "MOVE"):
            self.on(method, (207, {}, b"<D:multistatus/>"))
            self.refused("HTTP 207")

    def test_redirects_are_not_followed(self):
        other = Loopback(self)
        for method in ("GET", "HEAD", "MKCOL", "PUT", "LOCK", "MOVE"):
            for status in (301, 302, 307, 308):
                self.on(method, (status, {"Location": other.url("/elsewhere?token=secret")}, b""))
                told = self.refused(f"HTTP {status}", "nothing is sent elsewhere")
                self.assertNotIn("token=secret", told.err)
        self.assertEqual(other.seen, [])

    def test_what_was_taken_is_not_there(self):
        def shorter(request):
            return (201, {}, b"") if request.method == "PUT" else None
        self.on("PUT", shorter)  # and nothing is kept
        self.refused("nothing", "took")
        self.on("HEAD", (200, {"Content-Length": "3"}, b""))
        self.refused("has 3")
        self.on("MOVE", (404, {}, b""))
        self.refused("has lost what it took")

    def test_an_answer_without_end(self):
        for method in ("MKCOL", "PUT", "LOCK", "MOVE"):
            self.on(method, (200 if method == "LOCK" else 201, {}, b"y" * (1 << 20)))
            self.refused("more than", self.out)
        self.on("GET", (200, {}, b"y" * (70 << 20)))
        self.refused("index.json")

    def test_pages_that_are_none(self):
        for path in (f"{PLACE}/simple/index.json", f"{PLACE}/simple/demo/index.json"):
            kept = self.dav.files[path]
            for data in (b"", b"[]", b"{}", b"\xff", b'{"projects": [{"name": "../x"}]}', b"[" * 100000, b"<html>Index of /</html>"):
                self.dav.files[path] = data
                self.assert_fails(self.command("index", "remove", "demo", "--out", self.out), 1, path.removeprefix(PLACE + "/"))
                self.assertEqual(self.dav.files[path], data)
            self.dav.files[path] = kept

    def test_tokens_that_are_none(self):
        for token in ("", "x", "<>", "<a b>", "<a>\t<b>", "<" + "a" * 5000 + ">", "<a<b>>", "<\xfc>"):
            self.on("LOCK", (200, {"Lock-Token": token}, b""))
            self.refused("gives no token")
        self.on("LOCK", (200, {}, b""))
        self.refused("gives no token")

    def test_secrets_that_come_back(self):
        for text in (SECRET, "bWU6cGFzczp3b3JkLyB3aXRoIHNwYWNlcw=="):
            self.on("PUT", (400, {}, f"who is me and {text}".encode()))
            told = self.refused("HTTP 400", "***", out=self.dav.url(PLACE, "me:pass%3Aword%2F%20with%20spaces"))
            self.assertNotIn(text, told.err)

    def test_what_is_gone_from_under_a_page(self):
        """Sent again by whoever has it."""
        del self.dav.files[f"{PLACE}/simple/demo/demo-1.0-py3-none-any.whl"]
        del self.dav.files[f"{PLACE}/simple/demo/index.html"]
        self.assert_ok(self.add(self.wheel()))
        self.assertEqual(self.files(), self.before)
        # Another size under a name that no page lists: of somebody who was cut off.
        self.dav.files[f"{PLACE}/simple/demo/demo-2.0-py3-none-any.whl"] = b"torn"
        self.assert_ok(self.add(self.wheel(version="2.0")))
        self.assert_index(self.files())

    def test_addresses(self):
        for bad in ("http://", "https://", "https://host/a?b=c", "https://host/a#b", "https://host/a/../b", "https://host//a", "https://host/%2e%2e/b", "https://host/a%2Fb",
                    "https://ho st/a", "https://host/a%0Ab", "https://host:port/a", "https://host/./a"):
            self.assert_fails(self.add(self.wheel(), out=bad), 2, "https://HOST/FOLDER")
        self.assert_ok(self.add(self.wheel(version="2.0"), out=self.dav.url("/%64av/wheels//").replace("http:", "HTTP:").rstrip("/") + "/"))
        self.assert_index(self.files())
        self.assert_ok(self.add(self.wheel(), out=self.dav.url("/deep/down/a%20b+c")))
        self.assertIn("/deep/down/a b+c/simple/demo/index.html", self.dav.files)
        self.assert_fails(self.command("repack", self.wheel(), "--label", "x", "--property", "a :: b :: c", "--out", self.out), 2, "WebDAV")


class Locks(StubCase):
    def test_another_publisher_is_waited_for(self):
        self.dav.locks[PLACE + "/.axle-change/lock"] = ("opaquelocktoken:theirs", time.monotonic() + 3)
        begun = time.monotonic()
        self.assert_ok(self.add(self.wheel()))
        self.assertGreater(time.monotonic() - begun, 2)
        self.assertEqual(self.dav.locks, {})

    def test_who_fails_gives_it_back(self):
        self.on("MOVE", (403, {}, b""))
        self.assert_fails(self.add(self.wheel()), 1, "HTTP 403")
        self.assertEqual(self.dav.locks, {})
        self.dav.fault = lambda request: None
        self.assert_ok(self.add(self.wheel()))
        self.assertEqual(self.assert_index(self.files()), {"demo"})

    def meet_at(self, begin):
        """Another publisher is done between the first one's reading of the pages and this request."""
        second, met = self.wheel("demo", "2.0", folder="second"), threading.Event()

        def gate(request):
            if request.what.startswith(begin) and not met.is_set():
                met.set()
                self.dav.locks.clear()  # as if it had ended by itself
                self.assert_ok(self.add(second))
        self.dav.gate = gate
        self.assert_ok(self.add(self.wheel("demo", "1.0", folder="first")))
        self.dav.gate = lambda request: None
        self.assertTrue(met.is_set(), begin)
        self.assertEqual(self.listed() - {"demo-0.1-py3-none-any.whl"}, {"demo-1.0-py3-none-any.whl", "demo-2.0-py3-none-any.whl"}, begin)
        self.assertEqual(self.assert_index(self.files()), {"base", "demo"})

    def test_they_meet_at_each_step(self):
        for begin in ("MKCOL", "PUT", "LOCK"):
            self.dav.files.clear(), self.dav.folders.clear(), self.dav.folders.add("/"), self.dav.locks.clear()
            self.assert_ok(self.add(self.wheel("base")))
            with self.subTest(begin):
                self.meet_at(begin)

    def test_a_lock_that_was_lost_is_told_by_the_server(self):
        """The page that was read is not the one that is replaced: everything is done again on what is there."""
        self.assert_ok(self.add(self.wheel("base"), self.wheel("demo", "0.1")))
        self.meet_at(f"PUT {PLACE}/simple/demo/index.json")

    def test_a_lock_that_ends_too_early(self):
        """Whoever finds at the end that it had no lock any more looks again at what is there."""
        self.dav.longest_lock = 1
        slow = []

        def gate(request):
            if request.method == "MOVE" and not slow:
                slow.append(request)
                time.sleep(1.5)
        self.dav.gate = gate
        self.assert_ok(self.add(self.wheel()))
        self.assertEqual(self.assert_index(self.files()), {"demo"})
        self.assertGreater(sum(what.startswith("LOCK") for what in self.dav.seen), 2)

    def test_the_first_two_of_an_index(self):
        other, met = self.wheel("other"), threading.Event()

        def gate(request):
            if request.method == "LOCK" and not met.is_set():
                met.set()
                self.assert_ok(self.add(other))
        self.dav.gate = gate
        self.assert_ok(self.add(self.wheel()))
        self.assertEqual(self.assert_index(self.files()), {"demo", "other"})

    def test_a_server_without_locks_is_used_with_a_warning(self):
        self.dav.locking = False
        told = self.assert_ok(self.add(self.wheel()))
        self.assertIn("has no locks", told.err)
        self.assertEqual(self.assert_index(self.files()), {"demo"})

    def test_nothing_is_asked_that_xml_answers(self):
        self.assert_ok(self.add(self.wheel(), self.wheel(label="v3")))
        self.assert_ok(self.command("index", "remove", "demo", "--out", self.out))
        self.assertEqual({what.split()[0] for what in self.dav.seen}, {"GET", "HEAD", "MKCOL", "PUT", "MOVE", "LOCK", "UNLOCK", "DELETE"})
        self.assertEqual(self.names(), set())


if __name__ == "__main__":
    unittest.main()
