"""A mirror in a storage of S3's kind that refuses, lies, is cut off, or whose command is killed."""

import hashlib
import os
import subprocess
import threading
import time
import unittest

from storage_case import PLACE, PLAIN, StorageCase
from loopback import Loopback
from misbehaving import answer_to
from storage import KEY_ID, SECRET, error
from support import VARIANT, Wheel


class Refused(StorageCase):
    def setUp(self):
        super().setUp()
        self.index.add_wheel(Wheel("plain", "1.0"))

    def on(self, begin, answer, times=1000):
        return answer_to(self.storage, begin, answer, times)

    def test_what_a_storage_says(self):
        self.assert_fails(self.mirror("plain", env={"AWS_SECRET_ACCESS_KEY": "another"}), 1, "SignatureDoesNotMatch", "AWS_SECRET_ACCESS_KEY",
                          f"{self.url}/plain/index.json")
        self.assert_fails(self.mirror("plain", out="s3://nothing/a"), 1, "NoSuchBucket", "create the bucket")
        self.storage.region = "eu-west-3"
        self.assert_fails(self.mirror("plain"), 1, "AWS_REGION=eu-west-3")
        self.storage.region = "us-east-1"
        self.on("PUT", error(403, "AccessDenied", f"User {KEY_ID} may not do that with {SECRET}"))
        self.assert_fails(self.mirror("plain"), 1, "AccessDenied", "s3:PutObject", "***")
        self.on("PUT", error(400, "RequestTimeTooSkewed"))
        self.assert_fails(self.mirror("plain"), 1, "set the clock")
        self.on("PUT", error(507, "XMinioStorageFull"))
        self.assert_fails(self.mirror("plain", "--retries", "0"), 1, "free space")
        self.assertEqual(self.storage.objects(), {})

    def test_a_busy_one_is_asked_again(self):
        hit = self.on("PUT", error(503, "SlowDown", "Please reduce your request rate."), times=2)
        self.assert_ok(self.mirror("plain"))
        self.assertEqual(len(hit), 2)
        self.assert_whole()

    def test_one_that_stays_busy(self):
        self.on("PUT team/a/simple/plain/", error(503, "SlowDown", headers={"Retry-After": "0"}))
        self.assert_fails(self.mirror("plain", "--retries", "1"), 1, "SlowDown", "run the command again")
        # Nothing names what is not there, and what arrived is kept.
        self.assertFalse([key for key in self.storage.objects() if "/plain/" in key])
        self.storage.fault = lambda request: None
        self.assert_ok(self.mirror("plain"))
        self.assert_whole()

    def test_what_arrived_is_part_of_the_cache(self):
        self.on("PUT", error(403, "AccessDenied"))
        self.assert_fails(self.mirror("plain"), 1, "AccessDenied")
        self.assertEqual(len(self.arriving()), 1)
        self.assert_ok(self.variant("cache", "verify"))
        self.assert_ok(self.variant("cache", "prune"))
        self.assertEqual(self.arriving(), [])
        self.assert_ok(self.variant("cache", "clean"))
        self.assertFalse((self.root / "home/.cache/axle/mirrors").exists())

    def test_without_a_cache(self):
        temporary = self.root / "temporary"
        temporary.mkdir()
        self.assert_ok(self.mirror("plain", "--no-cache", env={"TMPDIR": str(temporary)}))
        self.assert_whole()
        self.assertEqual(list(temporary.iterdir()), [])
        self.assertEqual(self.arriving(), [])

    def test_one_that_does_not_answer(self):
        release = threading.Event()
        self.addCleanup(release.set)
        self.storage.gate = lambda request: release.wait(30) if request.method == "PUT" else None
        begun = time.monotonic()
        self.assert_fails(self.mirror("plain", "--timeout", "1", "--retries", "0"), 1, self.url, "--timeout")
        self.assertLess(time.monotonic() - begun, 15)

    def test_killed_between_files_it_sends_the_rest(self):
        names = [f"many-{i}" for i in range(20)]
        for name in names:
            self.index.add_wheel(Wheel(name, "1.0"))
        stuck, release, puts = threading.Event(), threading.Event(), []
        self.addCleanup(release.set)

        def gate(request):
            if request.method == "PUT" and request.key.endswith(".whl"):
                puts.append(request.what)
                if len(puts) > 12:
                    stuck.set()
                    release.wait(30)
                    raise OSError("the client is gone")
        self.storage.gate = gate
        running = subprocess.Popen([VARIANT, "mirror", *names, "--index-url", self.index.url, "--out", PLACE, "--python", str(self.venv)],
                                   env={**self.env, **self.storage.env}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.assertTrue(stuck.wait(60))
        running.kill()
        running.wait(30)
        self.storage.gate = lambda request: None
        release.set()
        there = {"PUT " + key for key in self.storage.objects() if key.endswith(".whl")}
        self.assertEqual(len(there), 12)
        self.assertFalse([key for key in self.storage.objects() if key.endswith("/index.json") and "/many" in key])
        self.storage.seen.clear()
        self.assert_ok(self.mirror(*names))
        self.assertEqual({what for what in self.storage.writes() if what.endswith(".whl")} & there, set())
        self.assert_whole()
        self.assertEqual(self.arriving(), [])

    def test_cut_connections(self):
        hit = self.on(f"PUT {PLAIN}", "cut", times=1)
        self.assert_ok(self.mirror("plain"))
        self.assertEqual(len(hit), 1)
        self.assert_whole()
        self.storage.objects().clear()
        self.on(f"PUT {PLAIN}", "cut")
        self.assert_fails(self.mirror("plain", "--retries", "1"), 1, f"{self.url}/plain/plain-1.0-py3-none-any.whl")

    def test_redirects_are_not_followed(self):
        other = Loopback(self)
        for status in (301, 302, 307, 308):
            self.on("PUT", error(status, "TemporaryRedirect", headers={"Location": other.url("/wheels/x")}))
            self.assert_fails(self.mirror("plain"), 1, "keys are not sent elsewhere", other.host)
            self.on("GET", error(status, "PermanentRedirect", more="<Endpoint>elsewhere.example</Endpoint>", headers={"Location": other.url("/wheels/x")}))
            self.assert_fails(self.mirror("plain"), 1, "keys are not sent elsewhere")
            self.on("HEAD", (status, {"Location": other.url("/"), "x-amz-bucket-region": "eu-west-1"}, b""))
            self.assert_fails(self.mirror("plain"), 1, "AWS_REGION=eu-west-1")
        self.assertEqual(other.seen, [])

    def test_hostile_words(self):
        evil = "\x1b[2J\u202e" + "A" * 5000
        for body in (b"<html>" + b"x" * (3 << 20), b"\x00\xff\xfe" * 1000, b"", b"<Error><Code>" + b"B" * 5000 + b"</Code></Error>",
                     b"<!DOCTYPE a [<!ENTITY b 'c'>]><Error><Code>&b;</Code></Error>", b"<Error><Code>AccessDenied",
                     error(403, "AccessDenied", evil)[2], error(403, "A\x1b[2Jb")[2]):
            for begin in ("GET", "PUT"):
                self.on(begin, (403, {"Content-Type": "application/xml"}, body))
                told = self.assert_fails(self.mirror("plain"), 1, "403", "s3:GetObject")
                self.assertNotIn("\x1b", told.err)
                self.assertLess(len(told.err), 1500)
        self.assertEqual(self.storage.objects(), {})

    def test_pages_that_are_none(self):
        self.assert_ok(self.mirror("plain"))
        for key in ("team/a/simple/index.json", "team/a/simple/plain/index.json"):
            kept = self.storage.objects()[key]
            for data in (b"", b"[]", b"{}", b"\xff", b'{"projects": [{"name": "../x"}]}', b"[" * 100000):
                self.storage.objects()[key] = (data, kept[1])
                self.assert_fails(self.variant("index", "remove", "plain", "--out", PLACE, env=self.storage.env), 1, key)
            self.storage.objects()[key] = kept
        self.assertIn(PLAIN, self.storage.objects())

    def test_a_hash_that_is_none_or_a_lie_about_the_size(self):
        self.assert_ok(self.mirror("plain"))
        data, headers = self.storage.objects()[PLAIN]
        for bad in ({}, {"x-amz-meta-sha256": "x" * 64}, {"x-amz-meta-sha256": ""}):
            self.storage.objects()[PLAIN] = (b"another", bad)
            told = self.mirror("plain")
            self.assertIn(told.code, (0, 1))
            self.assertEqual(self.storage.objects()[PLAIN][0], data if told.code == 0 else b"another")
            self.storage.objects()[PLAIN] = (data, headers)


class Large(StorageCase):
    """A file of more than 64 MiB goes in parts of 16."""

    SIZE = 70 << 20

    @classmethod
    def setUpClass(cls):
        cls.wheel = Wheel("large", "1.0", files={"large.bin": os.urandom(cls.SIZE)})
        cls.data = cls.wheel.bytes()
        cls.wheel.bytes = lambda: cls.data

    def setUp(self):
        super().setUp()
        self.index.add_wheel(self.wheel)
        self.key = f"team/a/simple/large/{self.wheel.file_name}"

    def assert_all_there(self):
        self.assertEqual(hashlib.sha256(self.storage.objects()[self.key][0]).digest(), hashlib.sha256(self.data).digest())
        self.assertEqual(self.storage.uploads, {})
        self.assert_whole()
        self.assertEqual(self.arriving(), [])

    def test_in_parts_and_again_not_at_all(self):
        self.assert_ok(self.mirror("large"))
        self.assertEqual(len([what for what in self.storage.seen if what.startswith("PART")]), 5)
        self.assert_all_there()
        self.storage.seen.clear()
        self.assert_ok(self.mirror("large"))
        self.assertEqual(self.storage.writes(), [])

    def test_killed_in_the_middle_it_goes_on(self):
        stuck = threading.Event()
        done = []
        release = threading.Event()
        self.addCleanup(release.set)

        def gate(request):
            if request.what.startswith("PART"):
                with self.storage.lock:
                    done.append(request.what)
                    nth = len(done)
                if nth > 3:
                    stuck.set()
                    release.wait(30)
        self.storage.gate = gate
        running = subprocess.Popen([VARIANT, "mirror", "large", "--index-url", self.index.url, "--out", PLACE, "--python", str(self.venv)],
                                   env={**self.env, **self.storage.env}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.assertTrue(stuck.wait(60))
        while len(next(iter(self.storage.uploads.values()))[2]) < 3:
            time.sleep(0.05)
        time.sleep(0.5)
        running.kill()
        running.wait(30)
        self.storage.gate = lambda request: None
        there = set(next(iter(self.storage.uploads.values()))[2])
        release.set()
        self.storage.seen.clear()
        self.storage.sent = 0
        self.assert_ok(self.mirror("large"))
        sent = {int(what.split()[-1]) for what in self.storage.seen if what.startswith("PART")}
        self.assertEqual(sent, {1, 2, 3, 4, 5} - there)
        self.assertNotIn("BEGIN", " ".join(self.storage.seen))
        self.assert_all_there()

    def test_an_upload_that_somebody_removed_begins_again(self):
        self.storage.fault = lambda request: error(403, "AccessDenied") if request.what.startswith("ABORT") else "cut" if request.what.startswith("PART") and request.what.endswith(" 3") else None
        self.assert_fails(self.mirror("large", "--retries", "0"), 1, "goes on with them")
        self.assertEqual(len(self.storage.uploads), 1)
        self.storage.uploads.clear()
        self.storage.fault = lambda request: None
        self.assert_ok(self.mirror("large"))
        self.assert_all_there()

    def test_a_part_that_is_refused_ends_the_upload(self):
        self.storage.fault = lambda request: error(403, "AccessDenied") if request.what.startswith("PART") and request.what.endswith(" 3") else None
        self.assert_fails(self.mirror("large"), 1, "AccessDenied", self.wheel.file_name)
        self.assertEqual((self.storage.uploads, self.storage.objects().get(self.key)), ({}, None))
        self.storage.fault = lambda request: error(403, "AccessDenied") if request.what.startswith(("PART", "ABORT")) else None
        self.assert_fails(self.mirror("large"), 1, "AccessDenied", "may be left in the storage")
        self.storage.fault = lambda request: None
        self.assert_ok(self.mirror("large"))
        self.assertIn(self.key, self.storage.objects())

    def test_answers_that_lie(self):
        late = lambda request: (200, {}, error(500, "InternalError")[2]) if request.what.startswith("JOIN") else None
        for fault in (late, lambda request: (200, {"ETag": "x" * 5000}, b"") if request.what.startswith("PART") else None,
                      lambda request: (200, {}, b"<UploadId></UploadId>") if request.what.startswith("BEGIN") else None,
                      lambda request: (200, {"ETag": '"lie<&>"'}, b"") if request.what.startswith("PART") else None):
            self.storage.fault = fault
            self.assert_fails(self.mirror("large", "--retries", "0"), 1, self.wheel.file_name)
            self.assertFalse([key for key in self.storage.objects() if "/large/" in key])
            self.storage.uploads.clear()
        self.storage.fault = lambda request: None

        def lose(request):
            if request.what.startswith("JOIN"):
                for _, _, parts in self.storage.uploads.values():
                    parts[5] = parts[5][:-1]

        self.storage.gate = lose
        self.storage.compares = False
        self.assert_fails(self.mirror("large"), 1, "what it has is not the file")
        self.assertFalse([key for key in self.storage.objects() if key.endswith("/large/index.json")])
        self.storage.gate = lambda request: None
        self.assert_ok(self.mirror("large"))
        self.assert_all_there()


if __name__ == "__main__":
    unittest.main()
