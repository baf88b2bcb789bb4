"""Indexes that are broken or too large: a clear error or an answer, with bounded memory and no request too many."""

import collections
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from metadata_index import Measured, MetadataIndex  # noqa: E402
from support import VARIANT, TestCase  # noqa: E402


class BoundsTest(TestCase):
    def setUp(self):
        super().setUp()
        self.make_venv()
        self.index = MetadataIndex(self)
        self.publish = self.index.publish

    def resolve(self, *requirements, code=0):
        self.index.serve()
        done = Measured(self, [VARIANT, "resolve", *requirements, "--python", self.venv, "--index-url", self.index.url, "--json"])
        self.assertEqual(done.code, code, done.out[-2000:] + done.err[-2000:])
        return done

    def versions(self, done):
        return {one["name"]: one["version"] for one in done.json["packages"]}

    def assert_bounded(self, done, mebibytes, seconds=None):
        """A sanitizer takes several times as much of both."""
        if os.environ.get("AXLE_SANITIZED"):
            return
        self.assertLess(done.memory, mebibytes)
        if seconds is not None:
            self.assertLess(done.seconds, seconds)

    def assert_each_asked_once(self):
        often = {path: count for path, count in collections.Counter(self.index.asked()).items() if count > 1}
        self.assertEqual(often, {})

    def test_of_unreadable_metadata_only_that_version_is_out(self):
        head = "Metadata-Version: 2.1\nName: lib\nVersion: 2.0\n"
        self.publish("lib", "1.0")
        for what, metadata in {
            "nothing": "",
            "no metadata": "<html>not here</html>",
            "another name": head.replace("lib", "other"),
            "another version": head.replace("2.0", "3.0"),
            "a requirement that is none": head + "Requires-Dist: numpy (>=\n",
            "a marker that is none": head + "Requires-Dist: numpy; python_version >> '3'\n",
            "no text": (head + "Requires-Dist: n").encode() + b"\xff\xfe\x00\x01\n",
        }.items():
            with self.subTest(what):
                self.index.files["lib"] = self.index.files["lib"][:1]
                self.publish("lib", "2.0", metadata=metadata)
                done = self.resolve("lib", "--no-cache")
                self.assertEqual(self.versions(done), {"lib": "1.0"})
                self.assertIn("lib-2.0-py3-none-any.whl", done.err)
                alone = self.resolve("lib>=2", "--no-cache", code=1)
                self.assertIn("2.0", alone.json["error"]["message"])

    def test_cycles(self):
        for place in range(50):
            self.publish(f"ring{place}", "1.0", [f"ring{(place + 1) % 50}>=1", f"ring{(place * 7) % 50}"])
        self.assertEqual(len(self.versions(self.resolve("ring0"))), 50)
        self.assert_each_asked_once()

    def test_packages_that_contradict_themselves(self):
        for place in range(1, 40):
            self.publish("app", f"{place}.0", [f"lib=={place}.0", f"lib!={place}.0"])
            self.publish("lib", f"{place}.0", [f"app!={place}.0"])
        done = self.resolve("app", code=1)
        self.assertEqual(done.json["error"]["kind"], "conflict")
        self.assertLess(len(done.json["error"]["message"]), 3000)
        self.assert_each_asked_once()

    def test_100_000_versions(self):
        for place in range(100_000):
            self.publish("lib", f"1.{place}", python=">=3.99" if place > 50_000 else "")
        done = self.resolve("lib")
        self.assertEqual(self.versions(done), {"lib": "1.50000"})
        self.assertEqual(self.index.asked(), ["/simple/lib/", "/files/lib-1.50000-py3-none-any.whl.metadata"])
        self.assert_bounded(done, 400)  # the page has 14

    def test_100_000_versions_that_do_not_fit(self):
        for place in range(100_000):
            self.publish("lib", f"1.{place}", python=">=3.99")
        done = self.resolve("lib", code=3)
        self.assertLess(len(done.json["error"]["message"]) + len(done.err), 3000)
        self.assertEqual(set(self.index.asked()), {"/simple/lib/"})
        self.assert_bounded(done, 700, seconds=20)  # of CPU time; 2 on a fast machine

    def test_a_chain_of_10_000(self):
        length = 10_000
        for place in range(length):
            self.publish(f"p{place}", "1.0", [f"p{place + 1}"])
        self.publish(f"p{length}", "1.0")
        done = self.resolve("p0")
        self.assertEqual(len(done.json["packages"]), length + 1)
        self.assert_bounded(done, 400)
        self.assert_each_asked_once()


if __name__ == "__main__":
    unittest.main()
