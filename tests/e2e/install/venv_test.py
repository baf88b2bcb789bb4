"""`variant venv`: the environment that `python -m venv --without-pip` and `uv venv` make, whole or not there."""

import json
import os
import pathlib
import signal
import stat
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import support
from support import PYTHON, TestCase, Wheel

FACTS = """if True:
    import json, site, sys, sysconfig
    print(json.dumps({"prefix": sys.prefix, "base": sys.base_prefix, "version": sys.version, "executable": sys.executable,
                      "sites": site.getsitepackages(), "paths": sysconfig.get_paths(), "path": sys.path[1:]}))
"""


def entries(folder):
    """Every path with what it is: a link with its target, the content of a file, with the folder's name left out."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = ("link", os.readlink(path))
        elif path.is_file():
            found[name] = (stat.S_IMODE(path.stat().st_mode), path.read_text().replace(str(folder), "DIR").replace(folder.name, "NAME"))
        else:
            found[name] = (stat.S_IMODE(path.stat().st_mode),)
    return found


class Venv(TestCase):
    def setUp(self):
        super().setUp()
        self.place = self.root / "new env"

    def make(self, *words, **options):
        return self.variant("venv", *words, "--python", PYTHON, **options)

    def facts(self, folder):
        return json.loads(self.python(FACTS, folder).replace(str(folder), "DIR"))

    def test_as_python_makes_it(self):
        theirs = self.root / "their env"
        subprocess.run([PYTHON, "-m", "venv", "--without-pip", theirs], check=True, env=self.env)
        self.assert_ok(self.make(self.place))
        ours = entries(self.place)
        self.assertEqual(ours.pop(".gitignore")[1], "*\n")
        wanted = entries(theirs)
        wanted.pop(".gitignore", None)
        self.assertEqual(ours, wanted)
        self.assertEqual(self.facts(self.place), self.facts(theirs))
        self.assertNotIn(".axle-venv-", "".join(str(one) for one in ours.values()))

    def test_as_uv_makes_it(self):
        theirs = self.root / "their env"
        self.assert_ok(self.uv("venv", theirs, "--python", PYTHON))
        self.assert_ok(self.make(self.place))
        ours, wanted = self.facts(self.place), self.facts(theirs)
        for key in ("prefix", "version", "sites", "path"):
            self.assertEqual(ours[key], wanted[key])
        self.assertEqual((self.place / ".gitignore").read_text().strip(), (theirs / ".gitignore").read_text().strip())

    def test_shells_activate_it(self):
        self.assert_ok(self.make(self.place))
        for shell, line in (("bash", ". '{}/bin/activate' && echo $VIRTUAL_ENV && command -v python"),
                            ("fish", "source '{}/bin/activate.fish'; and echo $VIRTUAL_ENV; and command -v python")):
            with self.subTest(shell):
                try:
                    done = subprocess.run([shell, "-c", line.format(self.place)], env=self.env, text=True, capture_output=True)
                except FileNotFoundError:
                    self.skipTest(f"{shell} is not there")
                self.assertEqual(done.stdout.splitlines(), [str(self.place), f"{self.place}/bin/python"], done.stderr)

    def test_pip_uv_and_variant_accept_it(self):
        result = self.assert_ok(self.make(self.place, "--json"))
        self.assertEqual(result.json["environment"], str(self.place))
        self.assertEqual(result.json["python"], f"{self.place}/bin/python")
        self.assertEqual(result.json["version"], self.python("import platform; print(platform.python_version())", self.place))
        wheels = self.root / "wheels"
        for name in ("one", "two", "three"):
            Wheel(name, "1.0").write(wheels)
        where = ["--no-index", "--find-links", wheels]
        self.assert_ok(self.variant("install", "one", *where, "--python", self.place))
        self.assert_ok(self.pip("install", "two", *where, python=self.place / "bin/python"))
        self.assert_ok(self.uv("pip", "install", "three", *where, "--python", self.place / "bin/python"))
        self.assertEqual(set(self.installed(self.place)), {"one", "two", "three"})

    def test_the_default_is_venv_of_the_folder_and_python3_of_the_path(self):
        """An active environment is not what it is based on."""
        path = self.root / "path"
        path.mkdir()
        (path / "python3").symlink_to(PYTHON)
        active = self.make_venv(self.root / "active")
        env = {"PATH": f"{path}:{self.env['PATH']}", "VIRTUAL_ENV": str(active)}
        self.assert_ok(self.variant("venv", env=env))
        self.assertEqual(self.facts(self.root / ".venv")["prefix"], "DIR")
        self.assertNotIn("active", (self.root / ".venv/pyvenv.cfg").read_text())
        # Of an environment's interpreter the one that it is based on.
        self.assert_ok(self.variant("venv", "second", "--python", active))
        self.assertEqual(os.path.realpath(self.root / "second/bin/python"), os.path.realpath(PYTHON))

    def test_prompt_and_system_packages(self):
        theirs = self.root / "their env"
        subprocess.run([PYTHON, "-m", "venv", "--without-pip", "--system-site-packages", "--prompt", "it's", theirs], check=True, env=self.env)
        self.assert_ok(self.make(self.place, "--system-site-packages", "--prompt", "it's"))
        self.assertEqual({name: one for name, one in entries(self.place).items() if name != ".gitignore"},
                         {name: one for name, one in entries(theirs).items() if name != ".gitignore"})
        self.assertEqual(self.facts(self.place), self.facts(theirs))

    def test_what_is_there(self):
        self.assert_ok(self.make(self.place))
        (self.place / "mine").write_text("mine")
        before = entries(self.place)
        self.assert_fails(self.make(self.place), 1, "is an environment already", "--clear")
        self.assertEqual(entries(self.place), before)
        self.assert_ok(self.make(self.place, "--clear"))
        before.pop("mine")
        self.assertEqual(entries(self.place), before)
        other = self.root / "other"
        other.mkdir()
        self.assert_ok(self.make(other))  # an empty folder
        (other / "pyvenv.cfg").unlink()
        for more in ([], ["--clear"]):
            kept = entries(other)
            self.assert_fails(self.make(other, *more), 1, "is there and is not an environment")
            self.assertEqual(entries(other), kept)
        file = self.root / "file"
        file.write_text("")
        self.assert_fails(self.make(file, "--clear"), 1, "is not an environment")
        link = self.root / "link"
        link.symlink_to(self.root / "linked")
        (self.root / "linked").mkdir()
        self.assert_ok(self.make(link))
        self.assertTrue(link.is_symlink())
        self.assertTrue((self.root / "linked/pyvenv.cfg").exists())
        self.assertEqual([name for name in os.listdir(self.root) if name.startswith(".axle")], [])

    def interpreter(self, when_building):
        """One that is asked as PYTHON is, and runs these lines of a shell when it shall build; $4 is the folder that is made."""
        place = self.root / "home/python"
        place.write_text(f"""#!/bin/bash
case "$*" in *EnvBuilder*) {when_building};; esac
exec -a "$0" {PYTHON} "$@"
""")
        place.chmod(0o755)
        return place

    def test_what_cannot_be_made_leaves_nothing(self):
        before = sorted(os.listdir(self.root))
        for lines, words in (("echo no >&2; exit 3", ["cannot make environments: no", "python3-venv"]),
                             ('mkdir "$4"; touch "$4/half"; echo full >&2; exit 1', ["could not make the environment", "full"]),
                             ('mkdir "$4"; touch "$4/half"; kill -9 $$', ["could not make the environment"])):
            with self.subTest(lines):
                self.assert_fails(self.variant("venv", self.place, "--python", self.interpreter(lines)), 1, *words)
                self.assertEqual(sorted(os.listdir(self.root)), before)
        self.assert_fails(self.variant("venv", self.place, "--python", "/bin/false"), 1, "not a working Python interpreter")
        self.assert_fails(self.make("a", "b"), 2, "one folder")
        self.assert_fails(self.make(self.root / "a:b"), 2, "':'")
        self.assert_fails(self.variant("venv", self.place, "--python", "no-such-python"), 1, "not found")
        self.assertEqual(sorted(os.listdir(self.root)), before)

    def test_a_kill_leaves_no_half_of_it(self):
        slow = self.interpreter('mkdir "$4"; touch "$4/pyvenv.cfg"; exec sleep 60')
        running = subprocess.Popen([support.VARIANT, "venv", str(self.place), "--python", str(slow)], env=self.env, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        for _ in range(600):
            if list(self.root.glob(".axle-venv-*/environment/pyvenv.cfg")):
                break
            time.sleep(0.05)
        else:
            running.kill()
            self.fail("it did not begin")
        running.send_signal(signal.SIGKILL)
        running.wait(30)
        self.assertFalse(self.place.exists())
        self.assert_ok(self.make(self.place))
        self.assertEqual(list(self.root.glob(".axle-venv-*")), [])


if __name__ == "__main__":
    unittest.main()
