"""Indexes as they are: hashes that are missing or wrong, files on another host, wheels too large to fetch for a look."""

import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import BIN, TestCase, Wheel


class Served(TestCase):
    """A folder over HTTP; the pages are HTML, written by hand so that they can be wrong on purpose."""

    def setUp(self):
        super().setUp()
        self.make_venv()
        self.folder = self.root / "served"
        self.base = self.serve(self.folder)
        self.index = self.base + "/simple"

    def serve(self, folder):
        folder.mkdir()
        server = subprocess.Popen([BIN / "index_server", str(folder)], stdout=subprocess.PIPE, text=True)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        return f"http://127.0.0.1:{int(server.stdout.readline())}"

    def seen(self, base=None):
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        return json.loads(opener.open((base or self.base) + "/-/seen", timeout=10).read())

    def publish(self, name, *links):
        """`links`: (href, attributes)."""
        page = self.folder / "simple" / name
        page.mkdir(parents=True, exist_ok=True)
        rows = "".join(f'<a href="{href}"{attributes}>{href.split("/")[-1]}</a><br/>\n' for href, attributes in links)
        (page / "index.html").write_text(f"<!DOCTYPE html>\n<html><body><h1>Links for {name}</h1>\n{rows}</body></html>\n")
        return page

    def resolved(self, *arguments, **options):
        result = self.assert_ok(self.variant("resolve", *arguments, "-i", self.index, "--python", self.venv, "--json", **options))
        return result.json["packages"][0]


def sha256(data):
    return hashlib.sha256(data).hexdigest()


class WithoutHash(Served):
    def setUp(self):
        super().setUp()
        self.wheel = Wheel("demo", "1.0")
        self.page = self.publish("demo", (self.wheel.file_name, ""))
        self.wheel.write(self.page)
        self.sha256 = sha256((self.page / self.wheel.file_name).read_bytes())

    def swap(self):
        other = Wheel("demo", "1.0", files={"demo.py": "VERSION = 'another'\n"})
        (self.page / other.file_name).write_bytes(other.bytes())

    def downloads(self):
        return [one for one in self.seen() if one["target"].endswith(".whl") and not one["range"]]

    def test_the_first_download_is_what_later_ones_are_compared_with(self):
        self.assertIsNone(self.resolved("demo")["sha256"])
        first = self.assert_ok(self.install("demo", "--json", index=self.index))
        self.assertIsNone(first.json["packages"][0]["sha256"])
        self.assertIn(f"the index gives no hash for {self.wheel.file_name}; its sha256 is stored", first.err)
        self.assertEqual(self.resolved("demo")["sha256"], self.sha256)

        self.venv = self.make_venv(self.root / "second")
        second = self.assert_ok(self.install("demo", index=self.index))
        self.assertNotIn("no hash", second.err)
        self.assertEqual(len(self.downloads()), 1, "the store has it")

        self.swap()
        self.venv = self.make_venv(self.root / "third")
        third = self.install("demo", "--json", index=self.index)
        self.assert_fails(third, 1, "first download", self.sha256, "--no-cache")
        self.assertEqual(third.json["error"]["kind"], "mismatch")
        self.assertEqual(self.installed(), {})

    def test_a_store_that_lost_the_wheel_takes_the_same_again_and_no_other(self):
        self.assert_ok(self.install("demo", index=self.index))
        shutil.rmtree(self.root / "home/.cache/axle/store")
        self.assert_ok(self.install("demo", "--reinstall", index=self.index))
        shutil.rmtree(self.root / "home/.cache/axle/store")
        self.swap()
        self.assert_fails(self.install("demo", "--reinstall", index=self.index), 1, "first download", self.sha256)
        self.assertEqual(self.python("import demo; print(demo.VERSION)"), "1.0")

    def test_what_the_first_download_was_is_forgotten_without_a_cache(self):
        first = self.assert_ok(self.install("demo", "--no-cache", index=self.index))
        self.assertNotIn("is kept", first.err)
        self.assertFalse((self.root / "home/.cache").exists())
        self.swap()
        self.assert_ok(self.install("demo", "--no-cache", "--reinstall", index=self.index))
        self.assertEqual(self.python("import demo; print(demo.VERSION)"), "another")
        self.assert_neighbours_work()

    def test_a_change_that_is_wanted_is_taken_without_the_cache(self):
        self.assert_ok(self.install("demo", index=self.index))
        self.swap()
        self.assert_fails(self.install("demo", "--reinstall", index=self.index), 1, "--no-cache")
        self.assert_ok(self.install("demo", "--reinstall", "--no-cache", index=self.index))
        self.assertEqual(self.python("import demo; print(demo.VERSION)"), "another")

    def test_a_download_that_is_no_wheel_is_not_what_later_ones_are_compared_with(self):
        whole = (self.page / self.wheel.file_name).read_bytes()
        lies = bytearray(whole)
        at = whole.index(b"demo.py") + len("demo.py")
        lies[at] ^= 0xFF
        (self.page / self.wheel.file_name).write_bytes(bytes(lies))
        self.assertNotEqual(self.install("demo", index=self.index).code, 0)
        (self.page / self.wheel.file_name).write_bytes(whole)
        self.assert_ok(self.install("demo", index=self.index))

    def test_a_wheel_named_by_its_url_may_change(self):
        url = f"{self.index}/demo/{self.wheel.file_name}"
        result = self.assert_ok(self.install(f"demo @ {url}"))
        self.assertNotIn("is kept", result.err)
        self.swap()
        self.assert_ok(self.install(f"demo @ {url}", "--reinstall"))
        self.assertEqual(self.python("import demo; print(demo.VERSION)"), "another")


class WrongHash(Served):
    def setUp(self):
        super().setUp()
        self.wheel = Wheel("demo", "1.0", requires=["lib"])
        lib = Wheel("lib", "1.0")
        lib.write(self.publish("lib", (f"{lib.file_name}#sha256={sha256(lib.bytes())}", "")))
        self.data = self.wheel.bytes()
        self.metadata = self.wheel.members[f"{self.wheel.dist_info}/METADATA"].encode()

    def publish_demo(self, fragment, mark):
        page = self.publish("demo", (self.wheel.file_name + fragment,
                                     f' data-dist-info-metadata="sha256={mark}" data-core-metadata="sha256={mark}"'))
        (page / self.wheel.file_name).write_bytes(self.data)
        return page

    def test_metadata_that_contradicts_its_hash_is_passed_over_for_the_wheels_own(self):
        page = self.publish_demo(f"#sha256={sha256(self.data)}", sha256(self.metadata))
        stale = self.metadata.replace(b"Requires-Dist: lib\n", b"Requires-Dist: nothing-like-it\n")
        (page / (self.wheel.file_name + ".metadata")).write_bytes(stale)
        result = self.assert_ok(self.install("demo", index=self.index))
        self.assertIn("warning", result.err)
        for words in (self.wheel.file_name + ".metadata", self.index, sha256(stale), sha256(self.metadata)):
            self.assertIn(words, result.err)
        self.assertEqual(set(self.installed()), {"demo", "lib"})

    def test_the_hash_of_the_metadata_is_not_the_hash_of_the_file(self):
        mark = sha256(self.metadata)
        page = self.publish_demo(f"#sha256={mark}", mark)
        (page / (self.wheel.file_name + ".metadata")).write_bytes(self.metadata)
        self.assertIsNone(self.resolved("demo")["sha256"])
        result = self.assert_ok(self.install("demo", index=self.index))
        self.assertEqual(result.err.count("gives the hash of the metadata as the hash of"), 1, result.err)
        self.assertIn("the index gives no hash for " + self.wheel.file_name, result.err)
        self.assertEqual(self.resolved("demo")["sha256"], sha256(self.data))

    def test_a_metadata_mark_alone_is_no_hash_of_the_file(self):
        page = self.publish_demo("", sha256(self.metadata))
        (page / (self.wheel.file_name + ".metadata")).write_bytes(self.metadata)
        self.assertIsNone(self.resolved("demo")["sha256"])
        self.assert_ok(self.install("demo", index=self.index))


class Elsewhere(Served):
    """Pages behind a login, files on another host that must not hear of it."""

    def setUp(self):
        super().setUp()
        self.files = self.root / "files"
        self.other = self.serve(self.files)
        self.index = self.base.replace("//", "//user:secret@") + "/-auth/simple"
        lib = Wheel("lib", "1.0")
        lib.write(self.files)
        self.publish("lib", (f"{self.other}/{lib.file_name}", ""))

    def publish_large(self, metadata_first):
        """No .metadata beside it; "+" in its name, as builds for one backend have it."""
        wheel = Wheel("demo", "1.0+cu128", requires=["lib"])
        large = {"demo/large.bin": os.urandom(40 << 20)}
        wheel.members = {**wheel.members, **large} if metadata_first else {**large, **wheel.members}
        wheel.write(self.files)
        self.publish("demo", (f"{self.other}/-redirect-host/{wheel.file_name.replace('+', '%2B')}", ""))
        return wheel

    def test_resolving_transfers_a_fraction_of_a_large_wheel_and_no_credentials(self):
        for metadata_first in (False, True):
            with self.subTest(metadata_first=metadata_first):
                wheel = self.publish_large(metadata_first)
                before = len(self.seen(self.other))
                result = self.assert_ok(self.variant("resolve", "demo", "-i", self.index, "--python", self.venv, "--json",
                                                     "--no-cache"))
                demo, lib = result.json["packages"]
                self.assertEqual((demo["wheel"], lib["name"]), (wheel.file_name, "lib"))
                self.assertTrue(demo["url"].endswith("demo-1.0%2Bcu128-py3-none-any.whl"), demo["url"])
                requests = self.seen(self.other)[before:]
                self.assertTrue([one for one in requests if one["sent"] and "%2B" in one["target"]], requests)
                self.assertTrue(all(one["range"] for one in requests), requests)
                self.assertLess(sum(one["sent"] for one in requests), 300_000)
                self.assertFalse([one for one in requests if one["authorized"]])
                self.assertTrue(all(one["authorized"] for one in self.seen()))

    def test_what_is_resolved_there_is_installed_from_there(self):
        self.publish_large(metadata_first=False)
        result = self.assert_ok(self.install("demo", index=self.index))
        self.assertNotIn("secret", result.out + result.err)
        self.assertEqual(self.installed(), {"demo": ("1.0+cu128", None), "lib": ("1.0", None)})
        self.assertFalse([one for one in self.seen(self.other) if one["authorized"]])

    def test_a_redirect_to_another_host_leaves_the_credentials_behind(self):
        lib = Wheel("lib", "2.0")
        lib.write(self.folder / "wheels")
        self.publish("lib", (f"/-redirect-host/wheels/{lib.file_name}", ""))
        self.assert_ok(self.install("lib", index=self.index))
        there = [one for one in self.seen() if one["target"].startswith("/wheels/")]
        self.assertTrue(there)
        self.assertFalse([one for one in there if one["authorized"]])


if __name__ == "__main__":
    unittest.main()
