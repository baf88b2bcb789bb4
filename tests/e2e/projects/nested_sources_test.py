"""[tool.uv.sources] of projects in folders, and of workspaces: what uv takes from beside the project is never taken from an index."""

import pathlib
import shutil
import sys
import tomllib
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "builds"))
from sdist_case import BuildCase
from support import Wheel

BUILD_SYSTEM = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'


class NestedSources(BuildCase):
    def setUp(self):
        super().setUp()
        self.with_uv_only()
        self.work = self.root / "work"
        self.wheels = self.root / "wheels"
        # What anybody could publish under these names.
        for name in ("part", "other", "third"):
            Wheel(name, "9.9").write(self.wheels)
        Wheel("plain", "1.0").write(self.wheels)

    def write(self, place, name, dependencies=(), sources="", more=""):
        """A project in the folder `place`, which can be built."""
        folder = self.work / place
        made = self.sdist(name, "1.0", makes=[Wheel(name, "1.0", requires=list(dependencies))])
        made.members["pyproject.toml"] = (
            f'[project]\nname = "{name}"\nversion = "1.0"\nrequires-python = ">=3.9"\ndependencies = {list(dependencies)!r}\n'
            f"{BUILD_SYSTEM}{f'[tool.uv.sources]{chr(10)}{sources}{chr(10)}' if sources else ''}{more}")
        made.members["backend.py"] += "\nbuild_editable = build_wheel\n"
        del made.members["PKG-INFO"]
        made.write(folder)
        return folder

    def call(self, place, *words, **options):
        return self.variant(*words, "--no-index", "--find-links", self.wheels, cwd=self.work / place, **options)

    def locked(self, place):
        """{name: where it is built from, or its version}"""
        rows = tomllib.loads((self.work / place / "axle.lock").read_text())["package"]
        return {one["name"]: one.get("built-from", {}).get("url", one["version"]) for one in rows}

    def locked_by_uv(self, place):
        done = self.uv("lock", "--no-index", "--find-links", self.wheels, "--no-cache", "--python", sys.executable, cwd=self.work / place)
        self.assertEqual(done.code, 0, done)
        root = next(folder for folder in (self.work / place, *(self.work / place).parents) if (folder / "uv.lock").exists())
        return {one["name"]: one for one in tomllib.loads((root / "uv.lock").read_text())["package"]}

    def check_synchronised(self, place, expected):
        self.assert_ok(self.call(place, "sync", "--python", self.venv / "bin/python3", "--no-install-project"))
        rows = self.assert_ok(self.variant("list", "--json", "--python", self.work / place / ".venv")).json["packages"]
        self.assertEqual({row["name"]: row["version"] for row in rows if row["name"] != "pip"}, expected)

    def test_a_folder_s_own_sources_count(self):
        self.write("other", "other", ["third"], 'third = { path = "../third", editable = true }')
        self.write("third", "third", ["plain"])
        self.write("part", "part", ["other"], 'other = { path = "../other" }\nunwanted = { path = "../nowhere" }')
        self.write("whole", "whole", ["part"], 'part = { path = "../part" }')
        self.assert_ok(self.call("whole", "lock"))
        self.assertEqual(self.locked("whole"), {"part": "../part", "other": "../other", "third": "../third", "plain": "1.0"})
        theirs = self.locked_by_uv("whole")
        self.assertEqual({name: one["source"] for name, one in theirs.items() if name in ("part", "other", "third")},
                         {"part": {"directory": "../part"}, "other": {"directory": "../other"}, "third": {"editable": "../third"}})
        self.assert_ok(self.call("whole", "lock", "--check"))
        self.check_synchronised("whole", {"part": "1.0", "other": "1.0", "third": "1.0", "plain": "1.0"})
        # The same for an installation in the folder of the project.
        self.assert_ok(self.call("whole", "install", "-r", "pyproject.toml", "--python", self.venv))
        rows = self.assert_ok(self.variant("list", "--json", "--python", self.venv)).json["packages"]
        self.assertEqual({row["name"]: row["version"] for row in rows if row["name"] != "pip"},
                         {"part": "1.0", "other": "1.0", "third": "1.0", "plain": "1.0"})

    def test_the_project_s_own_word_comes_first(self):
        self.write("mine", "other")
        self.write("other", "other")
        self.write("part", "part", ["other"], 'other = { path = "../other" }')
        self.write("whole", "whole", ["part", "other"], 'part = { path = "../part" }\nother = { path = "../mine" }')
        self.assert_ok(self.call("whole", "lock"))
        self.assertEqual(self.locked("whole"), {"part": "../part", "other": "../mine"})

    def test_two_folders_that_disagree(self):
        self.write("one", "third")
        self.write("two", "third")
        self.write("part", "part", ["third"], 'third = { path = "../one" }')
        self.write("other", "other", ["third"], 'third = { path = "../two" }')
        self.write("whole", "whole", ["part", "other"], 'part = { path = "../part" }\nother = { path = "../other" }')
        told = self.assert_fails(self.call("whole", "lock"), 2, "third has one source in", "/part/pyproject.toml", "/other/pyproject.toml")
        self.assertIn("of the project itself", told.err)

    def test_a_workspace(self):
        self.write(".", "root", [], 'third = { workspace = true }', '[tool.uv.workspace]\nmembers = ["packages/*"]\nexclude = ["packages/old"]\n')
        self.write("packages/part", "part", ["other"], "other = { workspace = true }")
        self.write("packages/other", "other", ["third"])
        self.write("packages/third", "third", ["plain"])
        self.write("packages/old", "part")
        for place in "packages/part", "packages/other":
            self.assert_ok(self.call(place, "lock"))
        self.assertEqual(self.locked("packages/part"), {"other": "../other", "third": "../third", "plain": "1.0"})
        theirs = self.locked_by_uv("packages/part")
        self.assertEqual({name: theirs[name]["source"] for name in ("part", "other", "third")},
                         {name: {"editable": f"packages/{name}"} for name in ("part", "other", "third")})
        self.assert_ok(self.call("packages/part", "lock", "--check"))
        self.check_synchronised("packages/part", {"other": "1.0", "third": "1.0", "plain": "1.0"})
        # What the root says counts for its members.
        text = (self.work / "pyproject.toml").read_text()
        (self.work / "pyproject.toml").write_text(text.replace("third = { workspace = true }", "unwanted = { workspace = true }"))
        self.assert_fails(self.call("packages/part", "lock", "--check"), 4)
        (self.work / "pyproject.toml").write_text(text.replace("third = {", "plain = { workspace = true }\nthird = {"))
        self.assert_fails(self.call("packages/part", "lock"), 1, "plain", "is none of its members")
        (self.work / "pyproject.toml").write_text(text)
        self.assert_ok(self.call("packages/part", "lock", "--check"))
        shutil.rmtree(self.work / "packages/third")
        self.assert_fails(self.call("packages/part", "lock"), 1, "third", "is none of its members")

    def test_what_is_no_package_is_refused(self):
        self.write("part", "part")
        self.write("whole", "whole", ["part"], 'part = { path = "../part", package = false }')
        self.assert_fails(self.call("whole", "lock"), 1, "part", "package = false")
        self.write("part", "part", more="[tool.uv]\npackage = false\n")
        self.write("whole", "whole", ["part"], 'part = { path = "../part" }')
        self.assert_fails(self.call("whole", "lock"), 1, "part", "package = false")

    def test_members_as_uv_finds_them(self):
        self.write("packages/x/part", "part")
        self.write("packages/old/part", "part", ["plain"])
        self.write("packages/y/whole", "whole", ["part"], "part = { workspace = true }")
        head = '[project]\nname = "root"\nversion = "1.0"\nrequires-python = ">=3.9"\n[tool.uv.workspace]\n'
        root = self.work / "pyproject.toml"
        for members in '["packages/*/*"]', '["./packages/x/part/", "packages/y/whole/", "packages/old/part"]', '["**/part", "packages/y/*"]':
            with self.subTest(members):
                root.write_text(f'{head}members = {members}\nexclude = ["packages/old*"]\n')
                self.assert_ok(self.call("packages/y/whole", "lock"))
                self.assertEqual(self.locked("packages/y/whole"), {"part": "../../x/part"})
                self.assertEqual(self.locked_by_uv("packages/y/whole")["part"]["source"], {"editable": "packages/x/part"})
        root.write_text(f'{head}members = ["packages/*/*"]\n')
        self.assert_fails(self.call("packages/y/whole", "lock"), 2, "two members of the workspace are called part")

    def test_the_workspace_of_a_folder_counts_for_its_lock(self):
        self.write("base", "base", more='[tool.uv.workspace]\nmembers = ["part"]\n[tool.uv.sources]\nother = { path = "one" }\n')
        self.write("base/one", "other")
        self.write("base/two", "other", ["plain"])
        self.write("base/part", "part", ["other"])
        self.write("whole", "whole", ["part"], 'part = { path = "../base/part" }')
        self.assert_ok(self.call("whole", "lock"))
        self.assertEqual(self.locked("whole"), {"part": "../base/part", "other": "../base/one"})
        root = self.work / "base/pyproject.toml"
        root.write_text(root.read_text().replace('"one"', '"two"'))
        self.assert_fails(self.call("whole", "lock", "--check"), 4)
        self.assert_ok(self.call("whole", "lock"))
        self.assertEqual(self.locked("whole"), {"part": "../base/part", "other": "../base/two", "plain": "1.0"})


if __name__ == "__main__":
    unittest.main()
