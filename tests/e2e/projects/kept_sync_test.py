"""A synchronisation that had nothing to do is kept, and the next one reads nothing: unless anything that it depended on has changed."""

import os
import pathlib
import shutil
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from project_case import ProjectCase
from kept_runs import KeptRuns
from support import PEERS


class KeptSync(ProjectCase, KeptRuns):
    command = ("sync",)

    def setUp(self):
        super().setUp()
        self.begin(self.root / "cache")
        self.place = self.folder
        self.add("low", "1.0")
        self.add("top", "1.0", requires=["low"])
        self.add("tool", "1.0")
        self.neighbour = self.root / "neighbour"
        self.write_neighbour("0.1")
        self.sources = f'\n[tool.uv.sources]\nneighbour = {{path = "{self.neighbour}", editable = true}}\n'
        self.build_system = '\n[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
        (self.folder / "backend.py").write_text(BACKEND.replace("NAME", "demo_project"))
        # What builds the two folders of sources.
        if not (PEERS / "uv").exists():
            self.skipTest(f"{PEERS}/uv is not there: ./dev setup brings it from the package index that pip is configured for")
        programs = self.root / "programs"
        programs.mkdir()
        (programs / "uv").symlink_to((PEERS / "uv").resolve())
        self.env["PATH"] = f"{programs}:{self.env['PATH']}"
        self.env["UV_CACHE_DIR"] = str(self.root / "uv-cache")
        self.write(["top", "neighbour"])
        self.looks()

    def write(self, dependencies, more=""):
        self.write_project(dependencies, more=self.build_system + self.sources + more)

    def write_neighbour(self, version):
        self.neighbour.mkdir(exist_ok=True)
        (self.neighbour / "pyproject.toml").write_text(
            f'[project]\nname = "neighbour"\nversion = "{version}"\n'
            '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n')
        (self.neighbour / "backend.py").write_text(BACKEND.replace("NAME", "neighbour"))

    def test_the_answer_is_the_same(self):
        self.settle()
        for words in (), ("--quiet",), ("--locked",), ("--inexact",):
            with self.subTest(words):
                self.repeat(*words)
        for words in ("--json",), ("--verbose",), ("--dry-run",), ("--upgrade",):
            with self.subTest(words):
                self.looks()
                self.assertTrue(self.looks(*words))

    def test_run_is_a_synchronisation_too(self):
        self.settle()
        done, paths = self.traced("run", "python3", "-c", "import sys; print(sys.prefix)")
        self.assertEqual(done.stdout, f"{self.environment}\n")
        self.assertNotIn("openat", paths[str(self.lock_file)])

    def test_all_that_is_looked_at_is_watched(self):
        watched = self.check_all_is_watched([self.folder, self.neighbour, self.root / "home", self.root / "pip.conf"], self.environment)
        for path in self.lock_file, self.pyproject, self.root / "pip.conf", self.root / "home/.config/uv/uv.toml", \
                self.neighbour / "pyproject.toml", self.environment / "pyvenv.cfg", self.folder / "uv.toml":
            self.assertIn(str(path), watched)

    def test_the_project_and_its_lock(self):
        text = self.pyproject.read_text()
        self.check_noticed(lambda: self.write(["top", "neighbour", "tool"]), lambda: self.pyproject.write_text(text))
        self.looks()
        self.check_noticed(lambda: self.lock_file.write_text(self.lock_file.read_text() + "<<<<<<<\n"),
                           lambda: self.lock_file.unlink(), expected=2)
        self.looks()
        self.check_noticed(lambda: self.write_neighbour("0.2"))
        self.assertIn("neighbour 0.2", self.said)
        below = self.folder / "below"
        below.mkdir()
        self.settle()
        self.assertTrue(self.looks(cwd=below))

    def test_the_environment(self):
        site = next(self.environment.glob("lib/python3*/site-packages"))
        self.check_noticed(lambda: shutil.rmtree(next(site.glob("low-*.dist-info"))), expected=1)
        self.looks("--overwrite")
        installer = next(site.glob("top-*.dist-info")) / "INSTALLER"

        def claim():
            installer.unlink()
            installer.write_text("pip\n")

        self.check_noticed(claim)
        self.check_noticed(lambda: (self.environment / ".axle/class").write_text("other\n"))
        self.assertEqual((self.environment / ".axle/class").read_text(), "default\n")
        self.check_noticed(lambda: shutil.rmtree(self.environment))
        self.assertEqual(self.installed()["low"], "1.0")

    def test_settings(self):
        config = self.root / "home/.config/uv/uv.toml"
        config.parent.mkdir(parents=True)
        self.check_noticed(lambda: config.write_text("no-such-key = 1\nindex = 5\n"), config.unlink, expected=2)
        own = self.folder / "uv.toml"
        self.check_noticed(lambda: own.write_text("index = 5\n"), own.unlink, expected=2)
        pip = self.root / "pip.conf"
        text = pip.read_text()
        self.check_noticed(lambda: pip.write_text(text + "timeout = soon\n"), lambda: pip.write_text(text), expected=2)
        self.settle()
        self.env["UV_FROZEN"] = "true"
        self.assertTrue(self.looks())
        self.env["UV_FROZEN"] = "perhaps"
        self.traced("sync", expected=2)

    def test_what_is_not_said_is_not_kept_either(self):
        site = next(self.environment.glob("lib/python3*/site-packages"))
        (site / "evil-1.0.dist-info").mkdir()
        (site / "evil-1.0.dist-info/METADATA").write_text("Name: evil\n\n")
        time.sleep(2.2)
        for _ in range(3):
            self.assertTrue(self.looks("--quiet"))
        (site / "evil-1.0.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n")
        (site / "evil-1.0.dist-info/RECORD").write_text("evil-1.0.dist-info/METADATA,,\nevil-1.0.dist-info/RECORD,,\n")
        self.looks("--quiet")
        self.assertNotIn("evil", self.installed())

    def test_what_the_configuration_names(self):
        limits = self.root / "limits.txt"
        limits.write_text("low<3\n")
        self.env["UV_CONSTRAINT"] = str(limits)
        self.check_noticed(limits.unlink, lambda: limits.write_text("low<3\n"), expected=1)
        (self.root / "unused").mkdir()
        unused = self.root / "unused/pyproject.toml"
        unused.write_text('[project]\nname = "unused"\nversion = "1"\n')
        self.write(["top", "neighbour"], f'unused = {{path = "{self.root}/unused"}}\n')
        self.looks()
        self.check_noticed(lambda: unused.write_text("[[[\n"), lambda: unused.write_text(""), expected=2)

    def test_rights(self):
        """Only their time tells."""
        self.check_noticed(lambda: self.pyproject.chmod(0o640))
        self.check_noticed(lambda: (self.environment / ".axle/lock").chmod(0o600))

    def test_an_interpreter_that_is_a_script(self):
        python = self.environment / "bin/python3"
        target = os.path.realpath(python)
        python.unlink()
        python.write_text(f'#!/bin/sh\nexec {self.environment}/bin/python "$@"\n')
        python.chmod(0o755)
        if not (self.environment / "bin/python").exists() or (self.environment / "bin/python").is_symlink():
            (self.environment / "bin/python").unlink(missing_ok=True)
            (self.environment / "bin/python").symlink_to(target)
        time.sleep(2.2)
        for _ in range(3):
            self.looks()
        self.assertFalse((self.cache / "answers").exists())

    def test_the_machine(self):
        if any(pathlib.Path("/usr/lib").glob("**/libcuda.so.1")):
            self.skipTest("this machine has a driver of NVIDIA, which may be asked beside the stand-in")
        self.write(["top", "neighbour"], '[tool.axle.machines]\ngpu = "h100"\nlaptop = "none"\n')
        driver = self.root / "driver"
        driver.mkdir()
        self.env["LD_LIBRARY_PATH"] = str(driver)
        self.env["AXLE_STUB"] = "ok"
        self.add_variants("top", "2.0", {"sm90": [("nvidia", "sm_arch", ["90_real"])]}, namespaces=("nvidia",))
        self.assertTrue(self.looks("--upgrade"))
        self.settle()
        self.assertIn("for class laptop", self.said)
        for name in ("libcuda.so.1", "libnvidia-ml.so.1"):
            shutil.copy(f"{os.environ['AXLE_STUBS']}/nvidia/{name}", driver)
        self.assertTrue(self.looks())
        self.assertIn("for class gpu", self.said)
        self.settle()
        shutil.rmtree(driver)
        self.assertTrue(self.looks())
        self.assertIn("for class laptop", self.said)

    def test_a_variable_is_one_of_the_conditions(self):
        self.settle()
        self.env["UV_TORCH_BACKEND"] = "cpu"
        self.assertTrue(self.looks())
        # A requirements file may name any of them.
        self.env["COLUMNS"] = "7"
        self.settle()
        self.env["COLUMNS"] = "8"
        self.assertTrue(self.looks())

    def test_two_seconds_are_let_pass(self):
        self.pyproject.write_text(self.pyproject.read_text() + "\n")
        for _ in range(3):
            self.assertTrue(self.looks())
        self.settle()

    def test_a_damaged_record_is_none(self):
        self.settle()
        whole = self.record.read_bytes()
        for damaged in b"", whole[:100], whole[:-1], whole.replace(b"default", b"another"), whole.replace(b"axle-answer 1", b"axle-answer 2"):
            self.record.write_bytes(damaged)
            self.assertTrue(self.looks())
        self.repeat()


BACKEND = '''\
import base64, hashlib, pathlib, re, zipfile

NAME_OF_PROJECT = "NAME"


def build_editable(folder, config_settings=None, metadata_directory=None):
    version = re.search('version = "(.*)"', pathlib.Path("pyproject.toml").read_text()).group(1)
    info = f"{NAME_OF_PROJECT}-{version}.dist-info"
    files = {f"{NAME_OF_PROJECT}.pth": str(pathlib.Path.cwd()) + "\\n",
             f"{info}/METADATA": f"Metadata-Version: 2.1\\nName: {NAME_OF_PROJECT}\\nVersion: {version}\\n",
             f"{info}/WHEEL": "Wheel-Version: 1.0\\nGenerator: t\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"}
    rows = [f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip('=')},{len(text)}\\n"
            for name, text in files.items()]
    files[f"{info}/RECORD"] = "".join(rows) + f"{info}/RECORD,,\\n"
    name = f"{NAME_OF_PROJECT}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(folder) / name, "w") as archive:
        for member, text in files.items():
            archive.writestr(member, text)
    return name


build_wheel = build_editable
'''

if __name__ == "__main__":
    unittest.main()
