"""-r pyproject.toml, --extra and --all-extras against uv."""

import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from loopback import Loopback
from support import EnvironmentTestCase, Wheel

PROJECT = """[project]
name = "My.Proj"
version = "1"
dependencies = ["base>=1", "never; python_version < '3'"]

[project.optional-dependencies]
fast = ["speed"]
"Test_Tools" = ["tools[deep]", "my-proj[fast]"]
empty = []
"""


class Extras(EnvironmentTestCase):
    def setUp(self):
        super().setUp()
        self.server = Loopback(self)
        self.server.publish("/simple", Wheel("base", "1.0"), Wheel("base", "2.0"), Wheel("speed", "1.0"), Wheel("tools", "1.0", requires=["deeper; extra == 'deep'"], extra_metadata="Provides-Extra: deep\n"),
                    Wheel("deeper", "1.0"), Wheel("never", "1.0"), Wheel("plain", "1.0"), Wheel("more", "1.0"))
        self.url = self.server.url("/simple")
        self.project = self.root / "project"
        self.project.mkdir()
        self.file = self.write("pyproject.toml", PROJECT)
        self.other = self.write("other/pyproject.toml", '[project]\nname = "other"\nversion = "1"\ndependencies = ["plain"]\n[project.optional-dependencies]\nmore = ["more"]\n')

    def write(self, name, text):
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def ours(self, *line):
        result = self.variant("resolve", "--json", *line, "--index-url", self.url, "--python", self.venv, cwd=self.project)
        self.said = str(result)
        return {one["name"]: one["version"] for one in result.json["packages"]} if result.code == 0 else "fails"

    def of_uv(self, *line):
        result = self.uv("pip", "install", "--dry-run", *line, "--index-url", self.url, "--python", self.venv, cwd=self.project)
        self.said_by_uv = str(result)
        return dict(re.findall(r"^ \+ ([\w.-]+)==(\S+)", result.err, re.M)) if result.code == 0 else "fails"

    def test_as_uv(self):
        self.write("r.txt", "plain\n")
        base, fast, tools = {"base": "2.0"}, {"speed": "1.0"}, {"tools": "1.0", "deeper": "1.0", "speed": "1.0"}
        other = {"plain": "1.0"}
        for line, wanted in ((["-r", "pyproject.toml"], base), (["-r", "pyproject.toml", "--extra", "fast"], base | fast),
                             (["-r", "pyproject.toml", "--extra", "test-tools"], base | tools), (["-r", self.file, "--extra", "TEST.tools"], base | tools),
                             (["-r", "pyproject.toml", "--all-extras"], base | tools), (["-r", "pyproject.toml", "--extra", "empty"], base),
                             (["-r", "pyproject.toml", "--extra", "fast", "--extra", "test_tools"], base | tools),
                             (["-r", "pyproject.toml", "-r", "r.txt"], base | other), (["-r", "other/pyproject.toml", "plain"], other),
                             (["-r", "pyproject.toml", "-r", "other/pyproject.toml", "--extra", "more"], base | other | {"more": "1.0"}),
                             (["-r", "pyproject.toml", "-r", "other/pyproject.toml", "--all-extras"], base | tools | other | {"more": "1.0"}),
                             (["-r", "pyproject.toml", "base<2"], {"base": "1.0"}), (["-r", "pyproject.toml", "--extra", "nosuch"], "fails"),
                             (["plain", "--extra", "fast"], "fails"), (["-r", "r.txt", "--all-extras"], "fails"),
                             (["-r", "pyproject.toml", "--extra", "fast", "--all-extras"], "fails"), (["-r", "none/pyproject.toml"], "fails")):
            with self.subTest(line):
                self.assertEqual(self.ours(*line), wanted, self.said)
                self.assertEqual(self.of_uv(*line), wanted, self.said_by_uv)

    def test_sources_of_the_file(self):
        """Its indexes count, also those that are for an extra alone."""
        for number, name in enumerate(("left", "right")):
            self.server.publish(f"/{name}", Wheel("speed", f"{number + 5}.0"))
        text = PROJECT + f"""slow = ["speed"]
[tool.uv]
conflicts = [[{{ extra = "fast" }}, {{ extra = "slow" }}]]
[tool.uv.sources]
speed = [{{ index = "left", extra = "fast" }}, {{ index = "right", extra = "slow" }}]
[[tool.uv.index]]
name = "left"
url = "{self.server.url("/left")}"
explicit = true
[[tool.uv.index]]
name = "right"
url = "{self.server.url("/right")}"
explicit = true
"""
        for place in ("pyproject.toml", "else/pyproject.toml"):
            self.write(place, text)
            for extra, version in (("fast", "5.0"), ("slow", "6.0")):
                line = ["-r", place, "--extra", extra]
                with self.subTest(line):
                    self.assertEqual(self.ours(*line), {"base": "2.0", "speed": version}, self.said)
                    self.assertEqual(self.of_uv(*line), {"base": "2.0", "speed": version}, self.said_by_uv)

    def test_what_is_wrong_with_a_file(self):
        for text, words in (("[tool]\n", "no table [project]"), ('[project]\nname = "a"\ndynamic = ["dependencies"]\n', "pyproject.toml:3: `dependencies` is dynamic"),
                            ('[project]\nname = "a"\ndependencies = "base"\n', "dependencies is not a list"), ('[project]\nname = "a"\ndependencies = [1]\n', "not a string"),
                            ('[project]\nname = "a"\ndependencies = ["base ="]\n', "pyproject.toml:3, dependencies"),
                            ('[project]\nname = "a"\ndependencies = ["a[none]"]\n', "no extra `none`"), ("[project\n", "pyproject.toml:1")):
            with self.subTest(text):
                self.write("pyproject.toml", text)
                self.assertEqual(self.ours("-r", "pyproject.toml"), "fails")
                self.assertIn(words, self.said)
        self.write("pyproject.toml", PROJECT)
        self.ours("-r", "pyproject.toml", "--extra", "fats")
        self.assertIn("did you mean fast?", self.said)

    def test_uninstall(self):
        self.assert_ok(self.variant("install", "-r", "pyproject.toml", "--all-extras", "plain", "--index-url", self.url, "--python", self.venv, cwd=self.project))
        self.assert_ok(self.variant("uninstall", "-r", "pyproject.toml", "--python", self.venv, cwd=self.project))
        self.assertEqual(sorted(self.installed()), ["deeper", "plain", "speed", "tools"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
