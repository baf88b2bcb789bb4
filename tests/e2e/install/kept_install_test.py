"""An installation that had nothing to do is kept, and the next one looks no further: unless anything that it depended on has changed."""

import os
import pathlib
import shutil
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from kept_runs import KeptRuns
from support import VARIANT, Index, TestCase, Wheel


class KeptInstall(TestCase, KeptRuns):
    def setUp(self):
        super().setUp()
        self.begin(self.root / "cache")
        self.place = self.root / "work"
        self.place.mkdir()
        self.index = Index(self.root / "index")
        for name, version, requires in ("low", "1.0", []), ("low", "2.0", []), ("top", "1.0", ["low"]):
            self.index.add_wheel(Wheel(name, version, requires=requires))
        self.venv = self.make_venv(self.place / ".venv")
        self.command = ("install", "top", "low", "--index-url", self.index.url)
        self.looks()

    def packages(self, venv=None):
        rows = self.assert_ok(self.variant("list", "--json", "--python", venv or self.venv)).json["packages"]
        return {row["name"]: row["version"] for row in rows}

    def test_the_answer_is_the_same(self):
        self.settle()
        for words in (), ("--quiet",), ("--no-deps",), ("--python", self.venv):
            with self.subTest(words):
                self.repeat(*words)
        for words in ("--json",), ("--verbose",), ("--dry-run",), ("--upgrade",), ("--no-cache",), ("--explain",), ("--progress", "json"):
            with self.subTest(words):
                self.looks()
                self.assertTrue(self.looks(*words) or "--no-cache" in words)
        self.assertTrue(self.looks("low>=1"))

    def test_all_that_is_looked_at_is_watched(self):
        file, nested = self.place / "all.txt", self.place / "nested.txt"
        limits = self.place / "limits.txt"
        nested.write_text("low\n")
        limits.write_text("low<3\n")
        file.write_text("top\n-r nested.txt\n-c limits.txt\n")
        self.command = ("install", "-r", "all.txt", "--index-url", self.index.url)
        watched = self.check_all_is_watched([self.place, self.root / "home"], self.venv)
        self.assertTrue({str(file), str(nested), str(limits), str(self.venv / "pyvenv.cfg")} <= watched, watched)
        self.check_noticed(lambda: nested.write_text("low==1.0\n"))
        self.assertEqual(self.packages()["low"], "1.0")
        self.check_noticed(lambda: limits.write_text("low>1\n"), lambda: limits.write_text(""), expected=1)
        self.check_noticed(lambda: file.write_text("top\n-r gone.txt\n"), expected=1)

    def test_another_environment(self):
        self.settle()
        below = self.place / "below"
        below.mkdir()
        self.assertTrue(self.looks(cwd=below))
        self.place = below
        other = self.root / "other"

        def nearer():
            (below / ".venv").symlink_to(self.make_venv(other))

        self.check_noticed(nearer)
        self.assertEqual(self.packages(other), {"low": "2.0", "top": "1.0"})
        self.settle()
        self.env["VIRTUAL_ENV"] = str(self.venv)
        self.assertTrue(self.looks())

        def elsewhere():
            (below / ".venv").unlink()
            (below / ".venv").symlink_to(self.make_venv(self.root / "third"))

        self.command = (*self.command, "--python", below / ".venv")
        self.check_noticed(elsewhere)
        self.assertEqual(self.packages(self.root / "third"), {"low": "2.0", "top": "1.0"})

    def test_what_is_installed_and_what_is_set(self):
        self.check_noticed(lambda: self.assert_ok(self.variant("uninstall", "low", "--python", self.venv)))
        self.assertEqual(self.packages()["low"], "2.0")
        self.check_noticed(lambda: shutil.rmtree(next(self.site(self.venv).glob("top-*.dist-info"))), expected=1)
        self.looks("--overwrite")
        settings = self.place / "uv.toml"
        self.check_noticed(lambda: settings.write_text("index = 5\n"), settings.unlink, expected=2)
        self.settle()
        limits = self.root / "limits.txt"
        limits.write_text("low<3\n")
        self.env["PIP_CONSTRAINT"] = str(limits)
        self.assertTrue(self.looks())
        self.check_noticed(lambda: limits.write_text("low<2\n"))
        self.assertEqual(self.packages()["low"], "1.0")

    def test_a_list_of_what_is_installed(self):
        install, self.command = self.command, ("list",)
        self.settle()
        self.assertIn("low     2.0", self.said)
        self.assertTrue(self.looks("--format", "freeze"))
        self.repeat("--format", "freeze")
        self.assertEqual(self.said, "low==2.0\ntop==1.0\n")
        for words in ("--json",), ("--exclude", "low"), ("--not-required",):
            self.assertTrue(self.looks(*words))
        site = self.site(self.venv)

        def edit():
            path = next(site.glob("low-*.dist-info")) / "METADATA"
            text = path.read_text()
            path.unlink()
            path.write_text(text.replace("Version: 2.0", "Version: 2.1"))

        self.check_noticed(edit)
        self.assertIn("low     2.1", self.said)

        def unpack():
            Wheel("found", "3.0").write(self.root)
            shutil.unpack_archive(self.root / Wheel("found", "3.0").file_name, site, "zip")

        self.check_noticed(unpack)
        self.assertIn("found   3.0", self.said)
        self.check_noticed(lambda: self.traced(*install, "--upgrade"))
        self.settle()
        (self.root / "pip.conf").write_text("[list]\nexclude = top\n")
        self.env["PIP_CONFIG_FILE"] = str(self.root / "pip.conf")
        self.assertTrue(self.looks())
        self.assertNotIn("top", self.said)

    def test_a_link_that_is_switched_during_a_run(self):
        one, two = self.root / "one", self.root / "two"
        for folder, version in (one, "1.0"), (two, "2.0"):
            self.make_venv(folder)
            self.traced("install", f"low=={version}", "--index-url", self.index.url, "--python", folder)
        current = self.root / "current"
        current.symlink_to(one)
        self.env["VIRTUAL_ENV"] = str(current)
        self.command = ("list",)
        self.settle()
        self.assertIn("low     1.0", self.said)
        # While the environment is being read, as a delayed call shows it: the run before this one does not count.
        shutil.rmtree(self.cache / "answers")
        running = subprocess.Popen(["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=getdents64", "-e",
                                    "inject=getdents64:delay_exit=400000", VARIANT, "list"], env=self.env, cwd=self.place,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.3)
        current.unlink()
        current.symlink_to(two)
        running.wait(60)
        for _ in range(3):
            self.looks()
            self.assertIn("low     2.0", self.said)

    def test_a_workspace_of_a_project_elsewhere(self):
        base = self.root / "base"
        (base / "sub").mkdir(parents=True)
        (base / "pyproject.toml").write_text('[tool.uv.workspace]\nmembers = ["sub"]\n')
        (base / "sub/pyproject.toml").write_text('[project]\nname = "sub"\nversion = "1"\ndependencies = ["low"]\n')
        self.command = ("install", "-r", base / "sub/pyproject.toml", "--index-url", self.index.url)
        self.check_noticed(lambda: (base / "pyproject.toml").write_text("[[["), expected=2)

    def test_a_file_with_two_names_and_a_variable_in_it(self):
        file = self.place / "all.txt"
        file.write_text("top\nlow==2.0\n")
        os.link(file, self.root / "second")
        self.command = ("install", "-r", "all.txt", "--index-url", self.index.url)

        def edit():
            times = file.stat()
            with file.open("r+") as text:
                text.write("top\nlow==1.0\n")
            os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))

        self.check_noticed(edit)
        self.assertEqual(self.packages()["low"], "1.0")

    def test_who_asks_an_index_is_asked_each_time(self):
        """What is requested by its place, from a server or for a family is not settled by what is installed."""
        wheel = self.place / Wheel("direct", "1.0").file_name
        wheel.write_bytes(Wheel("direct", "1.0").bytes())
        self.command = ("install", f"./{wheel.name}")
        for _ in range(3):
            self.assertTrue(self.looks())


if __name__ == "__main__":
    unittest.main()
