"""Runs that had nothing to do are kept: what their tests share. A run that looks at everything asks what is known of the interpreter."""

import os
import pathlib
import re
import shutil
import subprocess
import time

from support import VARIANT

LONGER_THAN_A_CLOCK_IS_COARSE = 2.2


class KeptRuns:
    """Beside a TestCase. `command`: the words that are repeated."""

    command = ()

    def begin(self, cache):
        if not shutil.which("strace"):
            self.skipTest("strace is not installed")
        self.need_program_as_shipped()
        self.cache = pathlib.Path(cache)
        self.env["AXLE_CACHE_DIR"] = str(cache)

    def traced(self, *words, cwd=None, expected=0):
        """(what it said, {path: calls} of the files that were looked at)"""
        trace = self.root / "trace"
        done = subprocess.run(["strace", "-f", "-qq", "-s", "4096", "-o", trace, "-e", "trace=%file", VARIANT, *map(str, words)],
                              env=self.env, cwd=cwd or self.place, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, expected, done.stderr)
        paths = {}
        for call, path in re.findall(r'^\d+ +(\w+)\((?:AT_FDCWD, )?"([^"]*)"', trace.read_text(), re.MULTILINE):
            paths.setdefault(path, set()).add(call)
        self.said = done.stdout + done.stderr
        return done, paths

    def looks(self, *words, **options):
        """Whether it looked at everything."""
        _, paths = self.traced(*self.command, *words, **options)
        return options.get("expected", 0) != 0 or any(path.startswith(f"{self.cache}/interpreters/") for path in paths)

    def repeat(self, *words):
        """Until its answer is kept, which two runs must have seen; what it says is that of the second."""
        self.looks(*words)
        self.looks(*words)
        whole = self.said
        self.assertFalse(self.looks(*words), whole)
        self.assertEqual(self.said, whole)

    def settle(self, *words):
        time.sleep(LONGER_THAN_A_CLOCK_IS_COARSE)
        self.repeat(*words)

    def check_noticed(self, change, back=lambda: None, **options):
        self.settle()
        change()
        self.assertTrue(self.looks(**options), self.said)
        back()

    @property
    def record(self):
        return max((self.cache / "answers").iterdir(), key=lambda path: path.stat().st_mtime_ns)

    def watched(self):
        return set(self.record.read_bytes().decode().split("\0"))

    def check_all_is_watched(self, ours, environment):
        """Of what lies in the folders `ours`."""
        self.settle()
        watched = self.watched()
        self.record.unlink()
        _, looked_at = self.traced(*self.command)
        missed = set()
        for path, calls in looked_at.items():
            mine = any(pathlib.Path(path).is_relative_to(one) for one in ours)
            # Where a link on the way leads shows in what lies at its end; whether something is in a folder that is watched shows in the folder.
            known = path in watched or calls <= {"readlink"} or (
                os.path.dirname(path) in watched and not ("openat" in calls and os.path.exists(path)))
            if mine and not known:
                missed.add(path)
        # Folders on the way, where headers of C would lie, and what is in the state folder, which changes with it.
        places = {str(place) for place in (*ours, environment / "bin", environment / "lib")}
        state = str(environment / ".axle/")
        self.assertEqual({path for path in missed - places if "/include" not in path and not path.startswith(state)}, set())
        return watched
