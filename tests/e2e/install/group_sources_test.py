"""[tool.uv.sources] of a pyproject.toml elsewhere, whose groups are requested, beside uv 0.13.9."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "settings"))
from settings_case import SettingsCase
from support import Wheel

SUB = ["--group", "sub/pyproject.toml:test"]
HERE = ["--group", "test"]


class GroupSources(SettingsCase):
    """The default index has 1.0 of all, `other` 3.0 and `third` 5.0; a wheel of 4.0 is in sub/w."""

    def setUp(self):
        super().setUp()
        plain = [Wheel(name, "1.0") for name in "ab"] + [Wheel("d", "1.0", requires=["a"])]
        self.index = ["--default-index", self.put("plain", *plain)]
        self.other = self.put("other", Wheel("a", "3.0"), Wheel("b", "3.0"))
        self.third = self.put("third", Wheel("a", "5.0"), Wheel("b", "5.0"))
        Wheel("a", "4.0").write(self.project / "sub/w")

    def declared(self, url, explicit=True):
        return f"[[tool.uv.index]]\nname = 'other'\nurl = '{url}'\nexplicit = {str(explicit).lower()}\n"

    def pyproject(self, text, place="sub/pyproject.toml", test='"a"', name="x"):
        self.write(place, f"[project]\nname = '{name}'\nversion = '1'\n[dependency-groups]\ntest = [{test}]\nm = ['b']\n{text}")

    def as_uv(self, wanted, *arguments, env=None):
        """`wanted`: versions by name; None: refused by both."""
        theirs = self.of_uv(*arguments, *self.index, env=env)
        ours = self.ours(*arguments, *self.index, env=env)
        told = f"ours: {self.said}\nuv: {self.said_by_peer}"
        self.assertEqual(None if isinstance(theirs, int) else theirs, wanted, told)
        self.assertEqual(None if isinstance(ours, int) else ours, wanted, told)

    def test_of_that_file(self):
        source = "[tool.uv.sources]\na = {index = 'other'}\n"
        self.pyproject(self.declared(self.other) + source)
        self.as_uv({"a": "3.0"}, *SUB)
        self.as_uv({"a": "3.0"}, "a", *SUB)
        self.as_uv({"a": "1.0", "b": "1.0"}, "a", "--group", "sub/pyproject.toml:m")
        for variable, value in (("UV_NO_SOURCES", "1"), ("UV_NO_SOURCES_PACKAGE", "a")):
            self.as_uv({"a": "1.0"}, *SUB, env={variable: value})
        self.as_uv({"a": "3.0"}, *SUB, env={"UV_NO_SOURCES_PACKAGE": "b"})
        # Only what the group names itself, and the index serves nothing else.
        self.pyproject(self.declared(self.other) + source, test="'d'")
        self.as_uv({"a": "1.0", "d": "1.0"}, *SUB)
        self.pyproject(self.declared(self.other, explicit=False) + "[tool.uv.sources]\nb = {index = 'other'}\n")
        self.as_uv({"a": "1.0"}, *SUB)
        self.pyproject(self.declared(self.other) + "[tool.uv.sources]\na = {index = 'other', marker = \"python_version<'3'\"}\n")
        self.as_uv({"a": "1.0"}, *SUB)
        self.pyproject(self.declared(self.other) + "[tool.uv.sources]\na = {index = 'other', group = 'test'}\n")
        self.as_uv({"a": "3.0"}, *SUB)

    def test_paths_count_from_that_file(self):
        self.pyproject("[tool.uv.sources]\na = {path = 'w/a-4.0-py3-none-any.whl'}\n")
        self.as_uv({"a": "4.0"}, *SUB)

    def test_sources_that_are_not_there_are_missed_when_they_are_needed(self):
        self.pyproject("[tool.uv.sources]\nb = {git = 'https://h.example/b'}\n")
        self.as_uv({"a": "1.0"}, *SUB)
        self.pyproject("[tool.uv.sources]\na = {path = 'a'}\n")
        self.as_uv(None, *SUB)
        self.pyproject("[tool.uv.sources]\na = {git = 'ext::sh -c true'}\n")
        self.as_uv(None, *SUB)
        self.assertIn("sub/pyproject.toml:8 assigns it to what cannot be fetched", self.said)

    def test_beside_the_project_here(self):
        """Each file's groups have that file's sources, also where both have an index of one name."""
        source = "[tool.uv.sources]\na = {index = 'other'}\n"
        self.pyproject(self.declared(self.third) + source, "pyproject.toml", name="here")
        self.pyproject(self.declared(self.other) + source)
        self.as_uv({"a": "3.0"}, *SUB)
        self.as_uv({"a": "5.0"}, *HERE)
        self.as_uv(None, *SUB, *HERE)
        for words in ("a has one source in sub/pyproject.toml and another one in ", "groups of both request it"):
            self.assertIn(words, self.said)
        self.pyproject(self.declared(self.third) + source)
        self.as_uv({"a": "5.0"}, *SUB, *HERE)
        self.pyproject(self.declared(self.other) + source, "next/pyproject.toml")
        self.as_uv(None, *SUB, "--group", "next/pyproject.toml:test")
        self.as_uv({"a": "5.0", "b": "1.0"}, *SUB, "--group", "next/pyproject.toml:m")

    def test_indexes_are_of_that_file(self):
        self.pyproject(self.declared(self.other), "pyproject.toml", name="here")
        self.pyproject("[tool.uv.sources]\na = {index = 'other'}\n")
        self.as_uv(None, *SUB)
        for words in ("sub/pyproject.toml:8: the source of a names the index other, which that file does not declare", "[[tool.uv.index]]"):
            self.assertIn(words, self.said)

    def test_of_the_root_of_its_workspace(self):
        source = "[tool.uv.sources]\na = {index = 'other'}\n"
        root = self.declared(self.other) + "[tool.uv.workspace]\nmembers = ['m']\n"
        group = ["--group", "ws/m/pyproject.toml:test"]
        self.pyproject(root + source, "ws/pyproject.toml", name="root")
        self.pyproject("", "ws/m/pyproject.toml")
        self.as_uv({"a": "3.0"}, *group)
        self.pyproject("[tool.uv.sources]\na = {path = '../../sub/w/a-4.0-py3-none-any.whl'}\n", "ws/m/pyproject.toml")
        self.as_uv({"a": "4.0"}, *group)
        self.pyproject(root, "ws/pyproject.toml", name="root")
        self.pyproject(source, "ws/m/pyproject.toml")
        self.as_uv({"a": "3.0"}, *group)

    def test_a_table_that_is_not_valid(self):
        self.pyproject("[tool.uv.sources]\na = 1\n")
        self.as_uv(None, *SUB)
        self.assertIn("sub/pyproject.toml:8: the source of `a` is not a table", self.said)

    def test_other_settings_of_that_file_are_not_read(self):
        self.pyproject("[tool.uv]\nexclude-newer = '2000-01-01T00:00:00Z'\nconstraint-dependencies = ['a<1']\n")
        self.as_uv({"a": "1.0"}, *SUB)


if __name__ == "__main__":
    unittest.main(verbosity=2)
