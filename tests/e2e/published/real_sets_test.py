"""Sixty real sets of requirements beside uv and pip, all three on one recorded index. Only with AXLE_TEST_REGISTRY=1.

What they ask for is fetched once from the index that pip is configured for, by name, and kept in $AXLE_REAL_SETS
(~/.cache/axle-bench/real-sets): pages and metadata files, nothing else. Remove the folder to ask again.
"""

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import real_sets
from configured_index import configured_index
from support import PEERS, SOURCE, VARIANT, TestCase

# Of one set. It takes some, and of few a quarter of a minute, where the pages are recorded.
PIP_SECONDS = 120
PAGES = pathlib.Path(os.environ.get("AXLE_REAL_SETS") or pathlib.Path.home() / ".cache/axle-bench/real-sets")


@contextlib.contextmanager
def recorded_index():
    command = [sys.executable, str(SOURCE / "tests/bench/registry.py"), str(PAGES), "--record", configured_index()]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        try:
            yield f"http://127.0.0.1:{int(server.stdout.readline())}/simple"
        finally:
            server.stdin.close()


class RealSets(TestCase):
    def setUp(self):
        if os.environ.get("AXLE_TEST_REGISTRY") != "1":
            self.skipTest("AXLE_TEST_REGISTRY=1 is not set: nothing was asked of the configured registry")
        if not (PEERS / "uv").exists():
            self.skipTest("uv and pip are not there: ./dev setup brings them")
        super().setUp()
        self.make_venv()
        home = self.env["HOME"]
        self.env = {"PATH": os.environ["PATH"], "HOME": home, "PIP_CONFIG_FILE": "/dev/null", "UV_NO_CONFIG": "1",
                    "AXLE_CACHE_DIR": home + "/axle-cache", "UV_CACHE_DIR": home + "/uv-cache",
                    # Where the recording is made, an answer takes as long as that index does.
                    "PIP_DEFAULT_TIMEOUT": "120", "UV_HTTP_TIMEOUT": "120"}
        self.index = self.enterContext(recorded_index())

    def run_quietly(self, *command, seconds=900):
        """None: it takes longer."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return subprocess.run([str(word) for word in command], env=self.env, text=True, capture_output=True, timeout=seconds)
        return None

    def listed(self, requirements):
        path = self.root / "requirements.txt"
        path.write_text("\n".join(requirements) + "\n")
        return path

    def ours(self, requirements):
        """{name: version}; None: refused."""
        done = self.run_quietly(VARIANT, "resolve", "-r", self.listed(requirements), "--python", self.venv, "--index-url",
                                self.index, "--json")
        self.assertIn(done.returncode, (0, 1, 3), done.stderr)
        if done.returncode != 0:
            self.assertIn(json.loads(done.stdout)["error"]["kind"], ("conflict", "unsupported"), done.stdout)
            return None
        return {one["name"]: one["version"] for one in json.loads(done.stdout)["packages"]}

    def of_uv(self, requirements):
        done = self.run_quietly(PEERS / "uv", "pip", "compile", self.listed(requirements), "--python",
                                self.venv / "bin/python", "--no-build", "--default-index", self.index, "--quiet",
                                "--no-annotate", "--no-header")
        if done.returncode != 0:
            self.assertIn("unsatisfiable", done.stderr)
            return None
        return dict(line.partition(";")[0].strip().split("==") for line in done.stdout.splitlines())

    def of_pip(self, requirements):
        """The same. A set that it does not solve in time is skipped, by name."""
        report = self.root / "report.json"
        report.unlink(missing_ok=True)
        done = self.run_quietly(PEERS / "python", "-m", "pip", "--python", self.venv / "bin/python", "install", "--dry-run",
                                "--ignore-installed", "--only-binary", ":all:", "--quiet", "--report", report, "--index-url",
                                self.index, "-r", self.listed(requirements), seconds=PIP_SECONDS)
        if done is None:
            self.skipTest(f"pip does not solve `{' '.join(requirements)}` in {PIP_SECONDS} s")
        if done.returncode != 0:
            self.assertRegex(done.stderr, "ResolutionImpossible|No matching distribution found")
            return None
        found = [one["metadata"] for one in json.loads(report.read_text())["install"]]
        return {one["name"].lower().replace("_", "-").replace(".", "-"): one["version"] for one in found}

    def compare(self, text, ours, theirs, differences):
        """What differs must be what a rule of `differences` says, to the version."""
        names = sorted(set(ours or {}) | set(theirs or {}))
        unlike = {name: ((ours or {}).get(name), (theirs or {}).get(name)) for name in names}
        unlike = {name: both for name, both in unlike.items() if both[0] != both[1]}
        rule, allowed = differences.get(text, (None, set()))
        self.assertEqual(set(unlike), allowed, f"{text}: {unlike}; rule: {rule}")
        self.assertEqual(ours is None, theirs is None, text)

    def test_uv_answers_the_same(self):
        self.assertEqual(len(real_sets.SETS), 60)
        for text in real_sets.SETS:
            with self.subTest(text):
                requirements = text.split()
                self.compare(text, self.ours(requirements), self.of_uv(requirements), real_sets.DIFFERENCES_FROM_UV)

    def test_pip_answers_the_same(self):
        for text in real_sets.SETS:
            with self.subTest(text):
                requirements = text.split()
                self.compare(text, self.ours(requirements), self.of_pip(requirements), real_sets.DIFFERENCES_FROM_PIP)


if __name__ == "__main__":
    unittest.main(verbosity=2)
