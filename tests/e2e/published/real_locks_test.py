"""Twenty real projects locked beside uv and nab, all on one recorded index. Only with AXLE_TEST_REGISTRY=1.

The recording is that of real_sets_test.py. A lock of one class, this machine, must have the versions that `uv lock` has for it and that
nab (another solver, brought from the index that pip is configured for; where it cannot be, its test skips) chooses.
"""

import json
import os
import pathlib
import subprocess
import sys
import tomllib
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import real_sets
from real_sets_test import RealSets
from support import PEERS, PYTHON, VARIANT

NAB = "nab==0.0.23"
# Of one project. Of the first it takes a minute and a half of a CPU.
NAB_SECONDS = 600

# Project -> (the rule of docs/requirements.md by which the locks differ, the packages that have other versions).
DIFFERENCES_FROM_UV = {}
DIFFERENCES_FROM_NAB = {
    # soupsieve 4 needs Python 3.11.5, which nab takes for 3.11: not every Python 3.11 is that new.
    "jupyterlab": ("Requires-Python as written", {"soupsieve"}),
}


class RealLocks(RealSets):
    # What the sets themselves are compared with is real_sets_test.py's.
    test_uv_answers_the_same = test_pip_answers_the_same = None

    projects = real_sets.SETS[::3]

    def setUp(self):
        super().setUp()
        self.env["PATH"] = f"{pathlib.Path(PYTHON).parent}:{self.env['PATH']}"

    def project(self, requirements, more=""):
        folder = self.root / "project"
        folder.mkdir(exist_ok=True)
        for left in ("axle.lock", "uv.lock"):
            (folder / left).unlink(missing_ok=True)
        rows = "".join(f"    {json.dumps(one)},\n" for one in requirements)
        (folder / "pyproject.toml").write_text(f'[project]\nname = "real-project"\nversion = "0"\nrequires-python = ">={self.python_minor()}"\n'
                                               f"dependencies = [\n{rows}]\n{more}")
        return folder

    def python_minor(self):
        return subprocess.run([PYTHON, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], capture_output=True, text=True, check=True).stdout.strip()

    def run_in(self, folder, *command, seconds=900):
        return subprocess.run([str(word) for word in command], env=self.env, cwd=folder, text=True, capture_output=True, timeout=seconds)

    def locked(self, requirements):
        """{name: version} of our lock; None: refused."""
        folder = self.project(requirements)
        done = self.run_in(folder, VARIANT, "lock", "--index-url", self.index, "--json")
        if done.returncode != 0:
            self.assertIn(json.loads(done.stdout)["error"]["kind"], ("conflict", "unsupported"), done.stdout)
            return None
        again = self.run_in(folder, VARIANT, "lock", "--check", "--index-url", self.index, "--offline", "--no-cache")
        self.assertEqual(again.returncode, 0, again.stderr)
        return {one["name"]: one["version"] for one in tomllib.loads((folder / "axle.lock").read_text())["package"]}

    def locked_by_uv(self, requirements):
        """uv's lock is for every platform: what its export says for this one counts."""
        folder = self.project(requirements)
        done = self.run_in(folder, PEERS / "uv", "lock", "--python", PYTHON, "--default-index", self.index, "--no-build", "--quiet")
        if done.returncode != 0:
            self.assertIn("unsatisfiable", done.stderr)
            return None
        self.assertEqual(self.run_in(folder, PEERS / "uv", "export", "--frozen", "--no-hashes", "--no-emit-project", "--no-header", "--no-annotate",
                                     "--output-file", "exported.txt", "--quiet").returncode, 0)
        done = self.run_in(folder, PEERS / "uv", "pip", "compile", "exported.txt", "--python", self.venv / "bin/python", "--no-deps", "--no-build",
                           "--default-index", self.index, "--quiet", "--no-annotate", "--no-header")
        self.assertEqual(done.returncode, 0, done.stderr)
        return dict(line.partition(";")[0].strip().split("==") for line in done.stdout.splitlines())

    def locked_by_nab(self, requirements, nab):
        folder = self.project(requirements, f'[[tool.nab.indexes]]\nname = "recorded"\nurl = "{self.index}/"\n')
        try:
            # Otherwise the answer depends on which page comes first.
            done = self.run_in(folder, nab, "lock", "pyproject.toml", "--project-dist-policy", "wheel-only", "--project-decision-order", "stable",
                               "--format", "requirements-without-hashes", "--output", "-", "--no-progress", "-qq", seconds=NAB_SECONDS)
        except subprocess.TimeoutExpired:
            self.skipTest(f"nab does not solve `{' '.join(requirements)}` in {NAB_SECONDS} s")
        if done.returncode != 0:
            self.assertIn("requirements cannot be satisfied", done.stderr)
            return None
        return dict(line.partition(";")[0].strip().split("==") for line in done.stdout.splitlines())

    def nab(self):
        folder = self.root / "nab"
        subprocess.run([PYTHON, "-m", "venv", folder], check=True)
        done = subprocess.run([folder / "bin/python", "-m", "pip", "install", "--quiet", NAB], capture_output=True, text=True)
        if done.returncode != 0:
            self.skipTest(f"pip does not get {NAB} from the index that it is configured for: {done.stderr.strip()}")
        return folder / "bin/nab"

    def test_uv_locks_the_same(self):
        self.assertEqual(len(self.projects), 20)
        for text in self.projects:
            with self.subTest(text):
                requirements = text.split()
                self.compare(text, self.locked(requirements), self.locked_by_uv(requirements), DIFFERENCES_FROM_UV)

    def test_nab_locks_the_same(self):
        nab = self.nab()
        for text in self.projects:
            with self.subTest(text):
                requirements = text.split()
                self.compare(text, self.locked(requirements), self.locked_by_nab(requirements, nab), DIFFERENCES_FROM_NAB)


# The base class's own tests are run by its own file.
del RealSets

if __name__ == "__main__":
    unittest.main(verbosity=2)
