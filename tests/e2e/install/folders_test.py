"""--target, --prefix, --root and --user: the trees that pip and uv make of the same wheels, and what is done with them afterwards."""

import csv
import json
import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import support
from support import EnvironmentTestCase, Wheel, record_hash

SCRIPT = "#!python\nimport mixed, sys\nprint('script', mixed.NAME)\n"


def mixed(name="mixed", requires=("other",)):
    """A wheel with a file of every scheme."""
    data = f"{name}-1.0.data"
    wheel = Wheel(name, "1.0", requires=requires, files={
        f"{name}.py": "NAME = 'mixed'\ndef main():\n    print('entry', NAME)\n",
        f"{data}/platlib/{name}_native/__init__.py": "",
        f"{data}/purelib/{name}_pure/__init__.py": "",
        f"{data}/scripts/{name}-script": SCRIPT,
        f"{data}/data/share/{name}/notes.txt": "notes\n",
        f"{data}/headers/{name}.h": "#pragma once\n",
    })
    wheel.members[f"{wheel.dist_info}/entry_points.txt"] = f"[console_scripts]\n{name}-entry = {name}:main\n"
    return wheel


class FoldersTestCase(EnvironmentTestCase):
    def setUp(self):
        super().setUp()
        self.folder = self.root / "wheels"
        self.wheels = [one.write(self.folder) for one in (mixed(), Wheel("other", "1.0"))]

    def ours(self, *options, python=None, **more):
        return self.assert_ok(self.variant("install", self.wheels[0], "--no-index", "-f", self.folder, "--python", python or self.venv / "bin/python", *options, **more))

    def by_pip(self, *options, **more):
        return self.assert_ok(self.pip("install", "--no-compile", "--no-index", "-f", self.folder, self.wheels[0], *options, **more))

    def compare(self, ours, theirs, moved=False, headers=True):
        """The same files with the same content; RECORD names those that are there. `moved`: pip puts files into other places than its
        RECORD says. Without `headers` those are elsewhere."""
        left, right = ({path: digest for path, digest in support.tree(folder).items()
                        if "/.axle/" not in "/" + path and (headers or not path.endswith(".h"))} for folder in (ours, theirs))
        self.assertEqual(sorted(left), sorted(right))
        own = ("RECORD", "INSTALLER", "bin/mixed-entry", "direct_url.json")
        self.assertEqual({path: digest for path, digest in left.items() if not path.endswith(own)},
                         {path: digest for path, digest in right.items() if not path.endswith(own)})
        for name in ("mixed-script", "mixed-entry"):
            lines = [next(folder.rglob(name)).read_text().splitlines()[0] for folder in (ours, theirs)]
            self.assertEqual(lines[0], lines[1])
        urls = [json.loads(next(folder.rglob("direct_url.json")).read_text()) for folder in (ours, theirs)]
        self.assertEqual(urls[0], urls[1])
        records = [self.recorded(folder) for folder in (ours, theirs)]
        self.assertEqual(set(left) - set(records[0]), {path for path in left if path.endswith("/RECORD")})
        self.assertTrue(all((ours / path).exists() for path in records[0]), records[0])
        if not moved and headers:
            self.assertEqual(set(records[0]), set(records[1]))

    def recorded(self, folder):
        """Path below `folder` -> hash, of all RECORDs; the hashes are those of the files."""
        found = {}
        for record in folder.rglob("*.dist-info/RECORD"):
            for path, digest, _ in csv.reader(record.read_text().splitlines()):
                place = pathlib.Path(os.path.normpath(record.parents[1] / path))
                if place != record:
                    found[str(place.relative_to(folder) if place.is_relative_to(folder) else place)] = digest
                    if place.exists():
                        self.assertEqual(record_hash(place.read_bytes()), digest)
        return found

    def names(self, folder):
        """Without what uv alone writes or puts elsewhere."""
        return {path for path in support.tree(folder)
                if not path.startswith((".axle", ".lock")) and not path.endswith((".h", "/REQUESTED", "/uv_cache.json"))}

    def installed_in(self, *where):
        return {one["name"]: one["version"] for one in self.assert_ok(self.variant("list", "--json", "--python", self.venv, *where)).json["packages"]}


class Layout(FoldersTestCase):
    def test_target(self):
        self.ours("--target", self.root / "a")
        self.by_pip("--target", self.root / "b")
        self.compare(self.root / "a", self.root / "b", moved=True)
        env = {"PYTHONPATH": str(self.root / "a")}
        for name, words in (("mixed-entry", "entry mixed\n"), ("mixed-script", "script mixed\n")):
            done = subprocess.run([self.root / "a/bin" / name], env={**self.env, **env}, capture_output=True, text=True, timeout=60)
            self.assertEqual(done.stdout, words, done.stderr)
        self.assert_untouched()

    def test_prefix(self):
        self.ours("--prefix", self.root / "a")
        self.by_pip("--prefix", self.root / "b")
        self.compare(self.root / "a", self.root / "b")
        self.assert_untouched()

    def test_root(self):
        self.ours("--root", self.root / "a")
        self.by_pip("--root", self.root / "b")
        self.compare(self.root / "a", self.root / "b")
        self.assertTrue((self.root / f"a{self.venv}/bin/mixed-entry").exists())
        self.assert_untouched()

    def test_prefix_below_a_root(self):
        self.ours("--root", self.root / "a", "--prefix", "/opt/here")
        self.by_pip("--root", self.root / "b", "--prefix", "/opt/here")
        self.compare(self.root / "a", self.root / "b")
        self.assertTrue((self.root / "a/opt/here/bin/mixed-entry").exists())

    def test_the_system_s_python(self):
        """Its schemes are others than those of a virtual environment; none of these options is refused because it is managed. Debian's
        pip puts headers beside those of the interpreter, out of the folder that everything else is in."""
        for option in ("--target", "--prefix", "--root"):
            with self.subTest(option):
                folders = [self.root / f"{who}{option}" for who in ("ours", "pip")]
                self.ours(option, folders[0], python=support.PYTHON)
                self.by_pip(option, folders[1], python=support.PYTHON)
                self.compare(*folders, moved=option == "--target", headers=option != "--root")

    def test_user(self):
        homes = [self.root / who for who in ("ours", "pip")]
        self.ours("--user", "--break-system-packages", python=support.PYTHON, env={"HOME": str(homes[0])})
        self.by_pip("--user", "--break-system-packages", python=support.PYTHON, env={"HOME": str(homes[1])})
        self.compare(homes[0] / ".local", homes[1] / ".local")
        base = {"PYTHONUSERBASE": str(self.root / "base")}
        self.ours("--user", "--break-system-packages", python=support.PYTHON, env=base)
        listed = self.assert_ok(self.variant("list", "--user", "--python", support.PYTHON, "--json", env=base)).json["packages"]
        self.assertEqual([one["name"] for one in listed], ["mixed", "other"])
        self.compare(self.root / "base", homes[1] / ".local")

    def test_uv(self):
        """uv has the first two; its header files and its lock are elsewhere."""
        for option in ("--target", "--prefix"):
            with self.subTest(option):
                folders = [self.root / f"{who}{option}" for who in ("ours", "uv")]
                self.ours(option, folders[0])
                self.assert_ok(self.uv("pip", "install", "--no-index", "-f", self.folder, self.wheels[0], option, folders[1], "--python", self.venv))
                trees = [{path for path in support.tree(folder) if not path.endswith((".h", ".lock", ".gitignore")) and ".axle" not in path} for folder in folders]
                self.assertEqual(trees[0] - trees[1], set())
                self.assertTrue(all(".dist-info/" in path for path in trees[1] - trees[0]), trees[1] - trees[0])


class Use(FoldersTestCase):
    def test_what_is_done_with_it_afterwards(self):
        for where in (["--target", self.root / "t"], ["--prefix", self.root / "p"], ["-t", self.root / "short"]):
            with self.subTest(where):
                self.ours(*where)
                self.assertEqual(self.installed_in(*where), {"mixed": "1.0", "other": "1.0"})
                self.assertEqual(self.installed_in(), {})
                if where[0] != "-t":
                    uv = json.loads(self.assert_ok(self.uv("pip", "list", "--format", "json", *where, "--python", self.venv)).out)
                    self.assertEqual({one["name"]: one["version"] for one in uv}, self.installed_in(*where))
                self.assert_ok(self.variant("check", "--deep", "--python", self.venv, *where))
                self.assertIn("mixed-entry", self.assert_ok(self.variant("show", "--files", "mixed", "--python", self.venv, *where)).out)
                self.assertEqual(self.assert_ok(self.variant("freeze", "--python", self.venv, *where)).out.splitlines()[1], "other==1.0")
                again = self.variant("install", "mixed", "--no-index", "-f", self.folder, "--python", self.venv, *where)
                self.assertEqual(self.assert_ok(again).out, "= mixed 1.0\n= other 1.0\n")
                other = Wheel("other", "2.0").write(self.root / "newer")
                self.assertEqual(self.assert_ok(self.variant("install", other, "--no-index", "--python", self.venv, *where)).out, "- other 1.0\n+ other 2.0\n")
                self.assert_fails(self.variant("uninstall", "nosuch", "--python", self.venv, *where), 1, f"not installed in {where[1]}: nosuch")
                self.assert_ok(self.variant("uninstall", "other", "mixed", "--python", self.venv, *where))
                self.assertEqual([path for path in support.tree(where[1]) if not path.startswith(".axle")], [])
        self.assert_untouched()

    def test_a_file_in_the_way_changes_nothing(self):
        target = self.root / "t"
        target.mkdir()
        (target / "mixed.py").write_text("mine\n")
        result = self.variant("install", self.wheels[0], "--no-index", "-f", self.folder, "--python", self.venv, "--target", target)
        self.assert_fails(result, 1, str(target / "mixed.py"))
        self.assertEqual({path for path in support.tree(target) if not path.startswith(".axle")}, {"mixed.py"})
        self.ours("--target", target, "--overwrite")
        self.assertEqual(self.installed_in("--target", target), {"mixed": "1.0", "other": "1.0"})

    def test_what_is_installed_elsewhere_does_not_count(self):
        self.assert_ok(self.install(self.wheels[1], "--no-index"))
        for option in ("--target", "--prefix", "--root"):
            self.assertIn("+ other 1.0", self.ours(option, self.root / option).out)

    def test_a_dry_run_makes_no_folder(self):
        self.ours("--target", self.root / "t", "--dry-run")
        self.assertFalse((self.root / "t").exists())

    def test_without_an_environment_it_is_the_python_on_the_path(self):
        """As for uv, and pip, which is itself in one. Without such an option there must be an environment, as for uv."""
        self.env["PATH"] = f"{pathlib.Path(support.PYTHON).parent}:{self.env['PATH']}"
        line = [self.wheels[0], "--no-index", "-f", self.folder]
        for option in ("--target", "--prefix"):
            with self.subTest(option):
                ours, theirs = self.root / f"ours{option}", self.root / f"uv{option}"
                self.assert_ok(self.variant("install", *line, option, ours))
                self.assert_ok(self.uv("pip", "install", *line, option, theirs))
                self.assertEqual(self.names(ours), self.names(theirs))
                listed = self.assert_ok(self.variant("list", "--json", option, ours)).json["packages"]
                self.assertEqual([one["name"] for one in listed], ["mixed", "other"])
                self.assert_ok(self.variant("check", option, ours))
                self.assert_ok(self.variant("uninstall", "mixed", option, ours))
                self.assert_ok(self.variant("undo", option, ours))
                self.assertEqual(self.names(ours), self.names(theirs))
        self.assert_ok(self.variant("install", *line, "--root", self.root / "image"))
        self.assert_ok(self.variant("install", *line, "--user", "--break-system-packages"))
        self.assertTrue(next((self.root / "home/.local").rglob("mixed.py")))
        self.assert_fails(self.variant("install", *line), 1, "no Python environment found")
        self.assertNotEqual(self.uv("pip", "install", *line).code, 0)

    def test_what_cannot_be(self):
        file = self.root / "file"
        file.write_text("")
        place = str(self.root / "t")
        for options in (["--target", place, "--prefix", place], ["--user", "--target", place], ["--user", "--prefix", place], ["--target", file]):
            with self.subTest(options):
                line = [*options, "--no-index", "-f", self.folder, "other", "--break-system-packages"]
                self.assert_fails(self.variant("install", *line, "--python", support.PYTHON), 2, str(options[0]))
                self.assertNotEqual(self.pip("install", *line, python=support.PYTHON).code, 0)
        self.assert_fails(self.variant("install", "other", "--target", place, "--root", place, "--python", self.venv), 2, "--target and --root")
        # A virtual environment does not see the user's packages.
        line = ["install", "--no-index", "-f", self.folder, "other", "--user"]
        self.assert_fails(self.variant(*line, "--python", self.venv), 1, "does not see the user's packages")
        self.assert_fails(self.pip(*line), 1, "not visible in this virtualenv")
        self.assert_ok(self.variant(*line, "--no-user", "--python", self.venv))
        self.assert_ok(self.variant("uninstall", "other", "--python", self.venv))
        self.assertFalse(pathlib.Path(place).exists())
        self.assert_untouched()


if __name__ == "__main__":
    unittest.main(verbosity=2)
