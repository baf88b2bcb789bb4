"""Environments whose interpreter is the oracle: what the tests of hidden modules and of broken starts share."""

import os
import pathlib
import shutil
import subprocess

from fix_case import FixTestCase
from support import PYTHON

FIND = "import importlib.util, sys; print(importlib.util.find_spec(sys.argv[1]).origin)"


class PathTestCase(FixTestCase):
    def interpreter(self):
        return self.venv / "bin/python3"

    def imported(self, name, env=None, cwd=None):
        """The file that the interpreter takes, started as a user starts it."""
        done = subprocess.run([self.interpreter(), "-c", FIND, name], env={**self.env, **(env or {})}, cwd=cwd or self.root,
                              text=True, capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()

    def module(self, folder, name, text=""):
        place = self.root / folder / name
        place.mkdir(parents=True, exist_ok=True)
        (place / "__init__.py").write_text(text)
        return place.parent

    def made_prefix(self):
        """An installation that is no virtual environment, as conda makes them."""
        prefix = self.root / "prefix"
        home = pathlib.Path(subprocess.run([PYTHON, "-c", "import os; print(os.__file__)"], check=True, text=True,
                                           capture_output=True).stdout.strip()).parent
        place = prefix / "lib" / home.name
        place.mkdir(parents=True)
        (prefix / "bin").mkdir()
        shutil.copy(os.path.realpath(PYTHON), prefix / "bin/python3")
        for file in home.iterdir():
            if file.name not in ("EXTERNALLY-MANAGED", "site-packages", "dist-packages"):
                (place / file.name).symlink_to(file)
        asked = subprocess.run([prefix / "bin/python3", "-I", "-c", "import sys, sysconfig; print(sys.prefix); "
                                "print(sysconfig.get_path('purelib'))"], text=True, capture_output=True)
        if asked.returncode or asked.stdout.splitlines()[0] != str(prefix):
            self.skipTest("this Python cannot be copied into another prefix")
        self.venv, self.packages = prefix, pathlib.Path(asked.stdout.splitlines()[1])
        self.packages.mkdir(parents=True)

    def site(self, venv=None):
        return getattr(self, "packages", None) or super().site(venv)
