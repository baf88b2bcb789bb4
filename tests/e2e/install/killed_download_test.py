"""A download that was killed goes on where it ended: few bytes come twice, nothing else than the wheel enters, nothing stays."""

import hashlib
import io
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
import unittest
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from loopback import Loopback
from support import VARIANT, EnvironmentTestCase, Wheel

NAME = "demo-1.0-py3-none-any.whl"


def made_wheel():
    """Some 60 MB: two large members that shrink, one that does not, a stored one, and two thousand small ones."""
    chance = random.Random(5)
    words = [chance.randbytes(chance.randrange(3, 9)) for _ in range(60_000)]
    files = {f"demo/small/{i}.py": f"VALUE = {i}\n" * (1 + i % 400) for i in range(1000)}
    files["demo/libfirst.so"] = b"".join(chance.choices(words, k=4_500_000))
    files["demo/noise.bin"] = chance.randbytes(12_000_000)
    files |= {f"demo/more/{i}.py": chance.randbytes(2000).hex() for i in range(1000)}
    files["demo/libsecond.so"] = b"".join(chance.choices(words, k=3_000_000))
    wheel = Wheel("demo", "1.0", files=files)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for path, content in [*wheel.members.items(), (f"{wheel.dist_info}/RECORD", wheel.record())]:
            kind = zipfile.ZIP_STORED if path == "demo/noise.bin" else None
            archive.writestr(zipfile.ZipInfo(path, (2024, 1, 1, 0, 0, 0)), content, kind or zipfile.ZIP_DEFLATED)
    return out.getvalue()


class KilledDownload(EnvironmentTestCase):
    data = None

    def setUp(self):
        super().setUp()
        cls = KilledDownload
        if cls.data is None:
            cls.data = made_wheel()
        self.store = self.root / "home/.cache/axle/store"
        self.server = Loopback(self)
        self.given = []  # (first byte, bytes) of each answer for the wheel
        self.served = self.data
        self.has_ranges = True
        self.ends_at = None  # an answer waits here until `goes_on` is set
        self.waits, self.goes_on = threading.Event(), threading.Event()
        self.addCleanup(self.goes_on.set)
        page = {"meta": {"api-version": "1.1"}, "name": "demo", "versions": ["1.0"], "files": [{
            "filename": NAME, "url": "/files/" + NAME, "size": len(self.data),
            "hashes": {"sha256": hashlib.sha256(self.data).hexdigest()}}]}
        self.server.answers = {"/simple/demo/": (200, {"Content-Type": "application/vnd.pypi.simple.v1+json"}, json.dumps(page)),
                               "/files/" + NAME: self.give}

    def give(self, handler):
        """As fast as 40 MB a second."""
        wanted, data = handler.headers.get("Range"), self.served
        first, last = 0, len(data) - 1
        if wanted and self.has_ranges:
            begin, _, end = wanted.removeprefix("bytes=").partition("-")
            first, last = (max(len(data) - int(end), 0), last) if not begin else (int(begin), min(int(end or last), last))
        handler.close_connection = True
        handler.send_response(206 if wanted and self.has_ranges else 200)
        handler.send_header("Content-Length", str(last - first + 1))
        if wanted and self.has_ranges:
            handler.send_header("Content-Range", f"bytes {first}-{last}/{len(data)}")
        handler.end_headers()
        mine = [first, 0]
        self.given.append(mine)
        for at in range(first, last + 1, 1 << 16):
            # Not what is read for the list of members.
            if self.ends_at is not None and last - first > len(data) // 10 and at >= self.ends_at:
                self.waits.set()
                self.goes_on.wait(60)
            part = data[at:min(at + (1 << 16), last + 1)]
            handler.wfile.write(part)
            mine[1] += len(part)
            time.sleep(len(part) / 40e6)

    def line(self):
        return [str(VARIANT), "install", "demo", "--index-url", self.server.url("/simple"), "--python", str(self.venv)]

    def run_to_end(self):
        """How many bytes of the wheel came; everything is as it should be afterwards."""
        self.ends_at = None
        before = len(self.given)
        done = subprocess.run(self.line(), env=self.env, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.said = done.stderr
        self.assert_whole()
        return sum(count for _, count in self.given[before:])

    def assert_whole(self):
        self.assertEqual([one.name for one in self.store.iterdir()], ["wheels"], "nothing else stays")
        self.assert_ok(self.variant("check", "--deep", "--python", self.venv))
        with zipfile.ZipFile(io.BytesIO(self.data)) as archive:
            for member in archive.namelist():
                if not member.endswith("RECORD"):
                    self.assertEqual((self.site() / member).read_bytes(), archive.read(member), member)

    def start_until(self, share):
        """A command that has got this share of the wheel and waits for the rest."""
        self.ends_at = int(share * len(self.data))
        self.waits.clear()
        self.goes_on = threading.Event()
        self.addCleanup(self.goes_on.set)
        process = subprocess.Popen(self.line(), env=self.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(process.kill)
        if not self.waits.wait(60):
            process.kill()
            self.fail("it did not ask for the wheel: " + process.communicate()[0])
        return process

    def settle(self):
        """Waits until what came is unpacked and noted in the log: other tests may run beside this one."""
        end = time.monotonic() + 240
        while self.ends_at - self.would_go_on_from() > 0.03 * len(self.data):
            self.assertLess(time.monotonic(), end, "what came is not unpacked")
            time.sleep(0.1)

    def would_go_on_from(self):
        """The first byte that the next command would fetch, as installer/store/partial_log.h describes the log."""
        log = [line.split() for one in self.store.glob("partial-*/log") for line in one.read_text().splitlines()[1:]]
        done = {int(line[1]) for line in log if line[0] == "done"}
        places = {int(line[1]): int(line[2]) + int(line[3]) // 8 for line in log if line[0] == "place" and len(line) > 4}
        wanted = min((places.get(i, begin) for i, begin in enumerate(self.members_begin()) if i not in done), default=len(self.data))
        return max((int(line[1]) for line in log if line[0] == "hash" and int(line[1]) <= wanted), default=0)

    @staticmethod
    def members_begin():
        with zipfile.ZipFile(io.BytesIO(KilledDownload.data)) as archive:
            return sorted(member.header_offset for member in archive.infolist())

    def kill_at(self, share, by=signal.SIGKILL):
        process = self.start_until(share)
        self.settle()
        process.send_signal(by)
        process.wait(60)
        process.stdout.close()
        self.goes_on.set()

    def partial(self):
        [found] = self.store.glob("partial-*")
        return found

    def assert_little_twice(self, share, came):
        self.assertLessEqual(came, (1 - share) * len(self.data) + 0.05 * len(self.data))

    def test_killed_at_several_points(self):
        for share in (0.1, 0.35, 0.5, 0.62, 0.8, 0.97):
            with self.subTest(share=share):
                self.kill_at(share)
                self.assert_little_twice(share, self.run_to_end())
                self.assertIn("are here from an earlier command", self.said)
                self.assert_ok(self.variant("uninstall", "demo", "--python", self.venv))
                shutil.rmtree(self.store)

    def test_killed_again_and_again(self):
        total = 0
        for share in (0.2, 0.4, 0.6, 0.8):
            before = len(self.given)
            self.kill_at(share)
            total += sum(count for _, count in self.given[before:])
        total += self.run_to_end()
        self.assertLess(total, 1.25 * len(self.data), "five attempts")

    def test_ended_by_a_signal(self):
        for by in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(by=by):
                self.kill_at(0.5, by)
                self.assert_little_twice(0.5, self.run_to_end())
                self.assert_ok(self.variant("uninstall", "demo", "--python", self.venv))
                shutil.rmtree(self.store)

    def test_a_cut_connection(self):
        cut = self.served

        def give_half(handler):
            if not handler.headers.get("Range"):
                handler.close_connection = True
                handler.send_response(200)
                handler.send_header("Content-Length", str(len(cut)))
                handler.end_headers()
                handler.wfile.write(cut[:len(cut) // 2])
                return
            self.give(handler)

        self.server.answers["/files/" + NAME] = give_half
        self.assert_fails(self.variant(*self.line()[1:]), 1, "interrupted")
        self.assert_untouched()
        self.server.answers["/files/" + NAME] = self.give
        self.assert_little_twice(0.5, self.run_to_end())

    def test_a_server_that_no_longer_gives_ranges(self):
        self.kill_at(0.5)
        self.has_ranges = False
        self.run_to_end()
        self.assertEqual(self.given[-1], [0, len(self.data)])

    def test_a_file_that_was_replaced(self):
        self.kill_at(0.5)
        changed = bytearray(self.data)
        changed[int(0.7 * len(changed))] ^= 1
        self.served = bytes(changed)
        self.ends_at = None
        self.assert_fails(self.variant(*self.line()[1:]), 1, "has the sha256")
        self.assert_untouched()
        self.assertEqual(list(self.store.iterdir()), [], "nothing stays")
        self.served = self.data
        self.run_to_end()

    def test_two_commands_at_once(self):
        first = self.start_until(0.5)
        waiting = self.goes_on
        self.ends_at = None
        second = subprocess.run([*self.line()[:-1], str(self.make_venv(self.root / "other"))], env=self.env, capture_output=True, text=True, timeout=120)
        self.assertEqual(second.returncode, 0, second.stderr)
        self.assertTrue(self.partial().is_dir(), "the first one goes on with it")
        waiting.set()
        out, _ = first.communicate(timeout=60)
        self.assertEqual(first.returncode, 0, out)
        self.assert_whole()

    def test_what_is_left_beside_another_command_is_removed_with_it(self):
        first = self.start_until(0.5)
        self.ends_at = None
        first.kill()
        first.wait(60)
        first.stdout.close()
        self.goes_on.set()
        self.run_to_end()

    def test_damage(self):
        def flip(path):
            data = bytearray(path.read_bytes())
            data[len(data) // 2] ^= 1
            path.write_bytes(data)

        def grown(path):
            with path.open("ab") as file:
                file.write(b"hash 64 torn")

        damages = {"a bit of the log": lambda: flip(self.partial() / "log"),
                   "a torn log": lambda: grown(self.partial() / "log"),
                   "no log": lambda: (self.partial() / "log").unlink(),
                   "a finished file": lambda: flip(self.partial() / "entry/tree/demo/small/7.py"),
                   "an unfinished file": lambda: flip(self.partial() / "entry/tree/demo/libfirst.so"),
                   "a missing file": lambda: (self.partial() / "entry/tree/demo/libfirst.so").unlink(),
                   "one more file": lambda: (self.partial() / "entry/tree/demo/evil.py").write_text("evil")}
        for what, damage in damages.items():
            with self.subTest(what):
                self.kill_at(0.3)
                damage()
                self.run_to_end()
                self.assert_ok(self.variant("uninstall", "demo", "--python", self.venv))
                shutil.rmtree(self.store)

    def test_it_is_forgotten_after_a_week(self):
        self.kill_at(0.3)
        log = self.partial() / "log"
        small = Wheel("other", "1.0")
        self.server.publish("/simple", small)
        install = ("install", "--index-url", self.server.url("/simple"), "--python", self.venv, "other")
        for days, stays in ((6, True), (8, False)):
            then = time.time() - days * 86_400
            os.utime(log, (then, then))
            self.assert_ok(self.variant(*install, "--reinstall"))
            shutil.rmtree(self.store / "wheels")
            self.assertEqual(log.exists(), stays)
            if stays:
                self.assert_ok(self.variant("uninstall", "other", "--python", self.venv))


if __name__ == "__main__":
    unittest.main()
