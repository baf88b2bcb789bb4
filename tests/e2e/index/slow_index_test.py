"""Indexes that are stale, silent, slow or run in circles: what is believed, and for how long anybody waits."""

import json
import pathlib
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from loopback import Loopback
from support import TestCase, Wheel, levels_document

YEAR = {"Content-Type": "text/html", "Cache-Control": "max-age=31536000, immutable"}


class Frozen(TestCase):
    """An index that calls its pages fresh for a year."""

    def setUp(self):
        super().setUp()
        self.make_venv()
        self.server = Loopback(self)
        self.publish("1.0")
        self.assert_ok(self.install("demo", index=self.server.url("/simple")))

    def publish(self, *versions):
        self.server.publish("/simple", *[Wheel("demo", version) for version in versions])
        status, _, body = self.server.answers["/simple/demo/"]
        self.server.answers["/simple/demo/"] = (status, YEAR, body)

    def test_upgrading_asks_again(self):
        self.publish("1.0", "2.0")
        self.assert_ok(self.install("-U", "demo", index=self.server.url("/simple")))
        self.assertEqual(self.installed()["demo"][0], "2.0")

    def test_reinstalling_asks_again(self):
        self.publish("1.0", "2.0")
        self.assert_ok(self.install("--reinstall", "demo", index=self.server.url("/simple")))
        self.assertEqual(self.installed()["demo"][0], "2.0")

    def test_refreshing_asks_again_and_nothing_else_does(self):
        self.publish("1.0", "2.0")
        resolve = ("resolve", "demo>1.5", "--index-url", self.server.url("/simple"), "--python", self.venv)
        self.assert_fails(self.variant(*resolve), 1, "available: 1.0")
        self.assert_ok(self.variant(*resolve, "--refresh"))
        self.assert_ok(self.variant(*resolve))

    def test_offline_the_page_that_is_kept_answers(self):
        self.publish("1.0", "2.0")
        resolve = ("resolve", "demo", "--index-url", self.server.url("/simple"), "--python", self.venv, "--offline")
        for more in ((), ("-U",), ("--refresh",)):
            self.assert_ok(self.variant(*resolve, *more))

    def test_the_variants_file_is_asked_for_again_too(self):
        document = levels_document(("v1",))
        wheels = [Wheel("leveled", "1.0", label, document) for label in document["variants"]]
        self.server.publish("/simple", *wheels)
        self.server.page("/simple", "leveled", *[f"/simple/files/{one.file_name}" for one in wheels], "/simple/files/leveled-1.0-variants.json")
        path = "/simple/files/leveled-1.0-variants.json"
        self.server.answers[path] = (200, {**YEAR, "Content-Type": "application/json"}, json.dumps(document))
        resolve = ("resolve", "leveled", "--index-url", self.server.url("/simple"), "--python", self.venv)
        self.assert_ok(self.variant(*resolve))
        asked = len(self.server.asked("variants.json"))
        self.assert_ok(self.variant(*resolve))
        self.assertEqual(len(self.server.asked("variants.json")), asked, "it is fresh")
        self.assert_ok(self.variant(*resolve, "--refresh"))
        self.assertEqual(len(self.server.asked("variants.json")), asked + 1)


class Patience(TestCase):
    def setUp(self):
        super().setUp()
        self.make_venv()
        self.server = Loopback(self)
        self.url = self.server.url("/simple")

    def refused(self, *words, arguments=(), env=None, within=60):
        begin = time.monotonic()
        result = self.variant("install", "demo", "--index-url", self.url, "--python", self.venv, *arguments, env=env)
        self.assertLess(time.monotonic() - begin, within, "nobody waits for ever")
        return self.assert_fails(result, 1, self.server.host, *words)

    def test_a_server_that_never_answers(self):
        self.server.answers["/simple/demo/"] = lambda handler: time.sleep(120)
        self.refused("no response for 1 second", arguments=("--timeout", "1"))
        for name in ("PIP_TIMEOUT", "PIP_DEFAULT_TIMEOUT", "UV_HTTP_TIMEOUT"):
            with self.subTest(name):
                self.refused("no response for 1 second", env={name: "1"})

    def test_a_server_that_takes_its_time_within_the_limit(self):
        wheel = Wheel("demo", "1.0")
        self.server.publish("/simple", wheel)
        answer = self.server.answers["/simple/demo/"]
        self.server.answers["/simple/demo/"] = lambda handler: (time.sleep(1.5), answer)[1]
        self.assert_ok(self.variant("install", "demo", "--index-url", self.url, "--python", self.venv, "--timeout", "30"))

    def test_one_byte_a_second_ends(self):
        def drip(handler):
            handler.send_response(200)
            handler.send_header("Content-Type", "text/html")
            handler.send_header("Content-Length", "100000")
            handler.end_headers()
            try:
                for _ in range(300):
                    handler.wfile.write(b" ")
                    handler.wfile.flush()
                    time.sleep(1)
            except OSError:
                pass

        self.server.answers["/simple/demo/"] = drip
        self.refused("less than 1000 bytes per second for 30 seconds", within=90)

    def test_redirects_for_ever(self):
        self.server.answers["/simple/demo/"] = (302, {"Location": "/simple/demo/"}, b"")
        self.refused("redirects more than")
        self.assertLess(len(self.server.seen), 20)
        count = [0]

        def further(handler):
            count[0] += 1
            return 302, {"Location": f"/simple/demo/?{count[0]}"}, b""

        self.server.answers["/simple/demo/"] = further
        self.refused("redirects more than")


if __name__ == "__main__":
    unittest.main()
