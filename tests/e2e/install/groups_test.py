"""Dependency groups (PEP 735): `--group` of Axle, of pip 26.3 and of uv 0.13.9, and the package `packaging`."""

import json
import pathlib
import random
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "settings"))
from settings_case import SettingsCase
from support import PEERS, Wheel

TEST = ["--group", "test"]
SUB = ["--group", "sub/pyproject.toml:test"]


def newest(*names):
    return {name: "2.0" for name in names}


class GroupsCase(SettingsCase):
    def setUp(self):
        super().setUp()
        wheels = [Wheel(name, version) for name in "abcdef" for version in ("1.0", "2.0")]
        self.index = ["--index-url", self.put("a", *wheels)]

    def groups(self, text, name="pyproject.toml"):
        return self.write(name, f"[dependency-groups]\n{text}\n")

    def refused(self, *arguments, code=1):
        """The error of a request that is refused."""
        result = self.variant("resolve", "--json", *arguments, *self.index, "--python", self.venv, cwd=self.project)
        self.assertEqual(result.code, code, str(result))
        error = result.json["error"]
        return error["message"] + " | " + (error["hint"] or "")

    def compare(self, title, arguments, wanted):
        with self.subTest(title):
            self.assert_as_peers(wanted, *arguments, *self.index)


class Table(GroupsCase):
    """Each row is run by all three."""

    def rows(self, rows):
        for title, text, arguments, wanted in rows:
            self.groups(text)
            self.compare(title, arguments, wanted)

    def test_what_a_group_requests(self):
        self.rows([
            ("requirements", 'test = ["a", "b<2"]', TEST, {"a": "2.0", "b": "1.0"}),
            ("nothing", "test = []", TEST, {}),
            ("an extra", 'test = ["a[x]"]', TEST, newest("a")),
            ("markers", """test = ["a; python_version<'3'", "b; python_version>'3'"]""", TEST, newest("b")),
            ("several", 'test = ["a"]\nm = ["b"]', [*TEST, "--group", "m"], newest("a", "b")),
            ("the same twice", 'test = ["a"]', [*TEST, *TEST], newest("a")),
            ("beside a requirement", 'test = ["a"]', ["c", *TEST], newest("a", "c")),
            ("without dependencies", 'test = ["a"]', [*TEST, "--no-deps"], newest("a")),
            ("a conflict", 'test = ["a<2"]\nm = ["a>=2"]', [*TEST, "--group", "m"], None),
            ("no hash, required", 'test = ["a==1.0"]', [*TEST, "--require-hashes"], None),
        ])

    def test_names(self):
        self.rows([
            ("normalised in the file", '"Te_.St" = ["a"]', ["--group", "te-st"], newest("a")),
            ("normalised in the request", 'te-st = ["a"]', ["--group", "TE__.st"], newest("a")),
            ("normalised in an include", 'test = [{include-group = "M__m"}]\nm-M = ["b"]', TEST, newest("b")),
            ("twice", '"te-st" = ["a"]\nte_st = ["b"]', ["--group", "te-st"], None),
            ("another one twice", '"te-st" = ["a"]\nte_st = ["b"]\nx = ["c"]', ["--group", "x"], None),
            ("unknown", 'test = ["a"]', ["--group", "tst"], None),
            ("none", 'test = ["a"]', ["--group", ""], None),
            ("none of a file", 'test = ["a"]', ["--group", "pyproject.toml:"], None),
            ("two in one word", 'test = ["a"]\nm = ["b"]', ["--group", "test,m"], None),
            ("not a name", '"te st" = ["a"]', ["--group", "te st"], None),
            ("a space in front", 'test = ["a"]', ["--group", " test"], None),
        ])

    def test_includes(self):
        doubled = "".join(f"g{i} = [{{include-group = 'g{i + 1}'}}, {{include-group = 'g{i + 1}'}}]\n" for i in range(12))
        self.rows([
            ("one", 'test = ["a", {include-group = "m"}]\nm = ["b"]', TEST, newest("a", "b")),
            ("two paths", 'test = [{include-group = "l"}, {include-group = "r"}]\nl = [{include-group = "m"}]\n'
             'r = [{include-group = "m"}]\nm = ["a"]', TEST, newest("a")),
            ("each twice", f"{doubled}g12 = ['a']", ["--group", "g0"], newest("a")),
            ("also requested", 'test = [{include-group = "m"}]\nm = ["a"]', [*TEST, "--group", "m"], newest("a")),
            ("a long chain", "".join(f"g{i} = [{{include-group = 'g{i + 1}'}}]\n" for i in range(400)) + "g400 = ['a']",
             ["--group", "g0"], newest("a")),
            ("itself", 'test = [{include-group = "test"}]', TEST, None),
            ("each other", 'test = [{include-group = "m"}]\nm = [{include-group = "Test"}]', TEST, None),
            ("a cycle further down", 'test = [{include-group = "m"}]\nm = ["a", {include-group = "m"}]', TEST, None),
            ("unknown", 'test = [{include-group = "no"}]', TEST, None),
        ])

    def test_entries(self):
        refused = ["{include-group = 'm', x = '1'}", "{other = 'm'}", "{}", "{include-group = 1}", "{include-group = ['m']}", "1",
                   "true", "['a']", "2026-01-01", "'a b c'", "''", "'-r r.txt'", "'--pre'", "'a --hash=sha256:00'", "'a # why'",
                   "'./a-1.0-py3-none-any.whl'", "'a-1.0-py3-none-any.whl'", "'file:///a-1.0-py3-none-any.whl'",
                   "'a @ ./a-1.0-py3-none-any.whl'", "'.'", "'${A}'"]
        self.rows([(entry, f"test = [{entry}]\nm = []", TEST, None) for entry in refused])
        self.rows([(group, f"test = {group}", TEST, None) for group in ("'a'", "{}", "{include-group = 'm'}", "1")])

    def test_other_groups_are_not_read(self):
        """PEP 735: not all groups should be validated eagerly. pip does not, uv does."""
        for bad in ("'a'", "[1]", "[{x = '1'}]", "['a b c']", "[{include-group = 'no'}]", "[{include-group = 'm'}]"):
            self.rows([(bad, f"test = ['a']\nm = {bad}", TEST, newest("a"))])

    def test_files(self):
        (self.project / "sub").mkdir()
        (self.project / "a:b").mkdir()
        for name in ("sub/pyproject.toml", "a:b/pyproject.toml", "sub/groups.toml"):
            self.groups('test = ["a"]', name)
        for title, arguments, wanted in [
            ("a path", SUB, newest("a")),
            ("an absolute path", ["--group", f"{self.project}/sub/pyproject.toml:test"], newest("a")),
            ("a colon in the path", ["--group", "a:b/pyproject.toml:test"], newest("a")),
            ("not here", TEST, None),
            ("another file", ["--group", "sub/groups.toml:test"], None),
            ("a folder", ["--group", "sub:test"], None),
            ("no path", ["--group", ":test"], None),
            ("a URL", ["--group", f"file://{self.project}/sub/pyproject.toml:test"], None),
            ("no such file", ["--group", "no/pyproject.toml:test"], None),
        ]:
            self.compare(title, arguments, wanted)
        self.write("r.txt", "c\n")
        self.write("c.txt", "c<2\n")
        self.groups('test = ["b"]')
        self.compare("two files", [*SUB, *TEST], newest("a", "b"))
        self.compare("beside requirements and constraints", [*TEST, "-r", "r.txt", "-c", "c.txt"], {"b": "2.0", "c": "1.0"})
        self.write("r.txt", "--group test\n")
        self.compare("in a requirements file", ["-r", "r.txt"], None)
        for text in ("", "dependency-groups = ['a']", "[[dependency-groups]]\ntest = ['a']", "[dependency-groups", "[project]\nname='x'"):
            self.write("pyproject.toml", text)
            self.compare(text, TEST, None)


class Packaging(GroupsCase):
    def random_groups(self, chance):
        spellings = [("g-0", "G_0", "g.0"), ("g-1", "G-1"), ("g2",), ("g3",), ("g4",), ("g5",)]
        names = [chance.choice(one) for one in spellings] + (["G.-0"] if chance.random() < 0.05 else [])
        def entry(at):
            if chance.random() < 0.5:
                return f"'{chance.choice('abcdef')}'"
            # Mostly onwards, so that most files are sound.
            onward = spellings[at + 1:] if chance.random() < 0.9 and at + 1 < len(spellings) else spellings
            return f"{{include-group = '{chance.choice(chance.choice(onward))}'}}" if chance.random() < 0.97 else "{x = 1}"
        return "\n".join(f"\"{name}\" = [{', '.join(entry(at) for _ in range(chance.randrange(4)))}]"
                         for at, name in enumerate(names))

    def test_random_groups_are_what_packaging_says(self):
        seed = random.randrange(1 << 32)
        chance = random.Random(seed)
        files = ["[dependency-groups]\n" + self.random_groups(chance) for _ in range(150)]
        script = """
import json, sys, tomllib
from packaging.dependency_groups import resolve_dependency_groups
def names(text):
    try:
        return sorted(set(resolve_dependency_groups(tomllib.loads(text)["dependency-groups"], "g-0", "g2")))
    except ExceptionGroup:
        return None
print(json.dumps([names(text) for text in json.load(sys.stdin)]))
"""
        told = subprocess.run([PEERS / "python", "-c", script], input=json.dumps(files), capture_output=True, text=True, check=True)
        for text, theirs in zip(files, json.loads(told.stdout)):
            self.write("pyproject.toml", text)
            ours = self.ours("--group", "g-0", "--group", "g2", *self.index)
            self.assertEqual(None if isinstance(ours, int) else sorted(ours), theirs, f"seed {seed}:\n{text}\n{self.said}")
        self.assertIn(None, json.loads(told.stdout))


class Messages(GroupsCase):
    def test_where_a_requirement_is_from(self):
        self.groups('test = [\n  "a<2",\n  {include-group = "M"},\n]\nM = ["a>=2"]')
        told = self.refused(*TEST)
        for words in ("a<2 (requested in pyproject.toml:3, group test)", "a>=2 (requested in pyproject.toml:6, group M)"):
            self.assertIn(words, told)
        self.groups('test = ["a", "b c"]')
        self.assertIn("pyproject.toml:2, group test: ", self.refused(*TEST, code=2))
        self.groups('test = ["./a-1.0-py3-none-any.whl"]')
        told = self.refused(*TEST, code=2)
        for words in ("pyproject.toml:2, group test: ", "has no name", "`NAME @ URL`"):
            self.assertIn(words, told)

    def test_errors_say_what_to_do(self):
        for text, words in [
            ('tests = []\ndocs = []\nlint = []\ntyping = []', ["pyproject.toml has no dependency group `test`", "did you mean tests?",
                                                              "its groups: docs, lint, tests, typing"]),
            ('docs = ["a"]', ["no dependency group `test`", "its groups: docs"]),
            ("", ["no dependency group `test`", "add [dependency-groups]"]),
            ('test = [{include-group = "tset"}]', ["pyproject.toml:2, group test: ", "`tset`, which does not exist", "did you mean test? its groups: test"]),
            ('test = [{include-group = "a", x = 1}]', ["pyproject.toml:2, group test: ", "unknown key `x`", "{include-group ="]),
            ("test = [\n{}]", ["pyproject.toml:3, group test: ", "without a group to include"]),
            ("test = [1]", ["pyproject.toml:2, group test: ", "neither a string nor a table"]),
            ("test = 'a'", ["pyproject.toml:2, group test: ", "not a list", "test = ["]),
            ('te-st = []\nTe_St = []', ["pyproject.toml:", "`Te_St` and `te-st`", "rename"]),
            ('test = [{include-group = "b"}]\nb = [{include-group = "Test"}]',
             ["pyproject.toml:3, group b: ", "test -> b -> test", "remove"]),
        ]:
            self.groups(text)
            told = self.refused(*TEST)
            for word in words:
                self.assertIn(word, told)
        told = self.refused("--group", "sub:test")
        for word in ("--group: ", "`sub` is not the path of a pyproject.toml", "PATH/pyproject.toml:NAME"):
            self.assertIn(word, told)
        self.assertIn("not a valid name of a group", self.refused("--group", "te st"))
        self.assertIn("no/pyproject.toml: no such file", self.refused("--group", "no/pyproject.toml:test"))
        self.assertNotIn("secret", self.refused("--group", "https://me:secret@h/pyproject.toml:test"))

    def test_nothing_is_asked(self):
        for command in ("install", "resolve"):
            result = self.variant(command, "--python", self.venv, cwd=self.project)
            self.assert_fails(result, 2, "--group NAME")
        self.groups("test = []")
        self.assert_fails(self.variant("install", "--refit", *TEST, "--python", self.venv, cwd=self.project), 2, "--group")

    def test_a_proposed_command_names_the_group(self):
        self.groups('test = ["b"]')
        result = self.variant("install", "a", *TEST, "--refresh", "--no-binary", "a", *self.index, "--python", self.venv,
                              cwd=self.project)
        self.assert_fails(result, 1, "--group test")

    def test_configuration(self):
        """Not ignored: a group that is configured is refused with what to do."""
        self.groups('test = ["b"]\n[tool.uv.pip]\ngroup = ["test"]')
        self.assertIn("--group [PATH:]NAME", self.refused("a", code=2))
        self.groups('test = ["b"]')
        self.assertEqual(self.ours("a", *self.index, env={"PIP_GROUP": "test"}), 2)
        self.assertIn("--group [PATH:]NAME", self.said)


class OfUv(GroupsCase):
    """What only uv reads. Where it would change what is installed, it is refused."""

    def test_changed_groups(self):
        for text, group, words in [
            ("[tool.uv]\ndev-dependencies = ['a']\n", "dev", ["pyproject.toml:2: ", "`dev-dependencies`", "move them"]),
            ("[tool.uv.dependency-groups]\nTest = {requires-python = '>=3.99'}\n", "test", ["pyproject.toml:2: ", "group Test", "markers"]),
        ]:
            self.write("pyproject.toml", text + f"[dependency-groups]\n{group} = ['b']\nx = ['c']\nall = [{{include-group = '{group}'}}]")
            for named in (group, "all"):
                told = self.refused("--group", named)
                for word in words:
                    self.assertIn(word, told)
            self.assertEqual(self.ours("--group", "x", *self.index), newest("c"), self.said)

    def test_sources_of_a_group(self):
        other = self.put("other", Wheel("a", "3.0"))
        self.write("pyproject.toml", "[project]\nname = 'x'\nversion = '1'\n[dependency-groups]\ntest = ['a']\nm = ['a']\n"
                   f"[[tool.uv.index]]\nname = 'other'\nurl = '{other}'\nexplicit = true\n"
                   "[tool.uv.sources]\na = {index = 'other', group = 'Test'}\n")
        for group, wanted in (("test", {"a": "3.0"}), ("m", {"a": "2.0"})):
            self.assertEqual(self.of_uv("--group", group, *self.index), wanted, self.said_by_peer)
            self.assertEqual(self.ours("--group", group, *self.index), wanted, self.said)
            self.assertEqual("not installed here" in self.said, group == "m", self.said)


class Hostile(GroupsCase):
    def test_long_chains_and_many_includes(self):
        chain = "".join(f"g{i} = [{{include-group = 'g{i + 1}'}}]\n" for i in range(10_000))
        self.groups(chain + "g10000 = ['a']")
        self.assertEqual(self.ours("--group", "g0", *self.index), newest("a"), self.said)
        self.groups(chain + "g10000 = [{include-group = 'g0'}]")
        told = self.refused("--group", "g0")
        self.assertIn("g0 -> g1 -> g2", told)
        self.assertIn("g10000 -> g0", told)
        self.assertLess(len(told), 500)
        self.assertIn("and 9991 more", self.refused("--group", "g"))
        doubled = "".join(f"g{i} = [{{include-group = 'g{i + 1}'}}, {{include-group = 'g{i + 1}'}}]\n" for i in range(64))
        self.groups(doubled + "g64 = ['a']")
        self.assertEqual(self.ours("--group", "g0", *self.index), newest("a"), self.said)

    def test_no_text_is_too_odd(self):
        for text in ("\0", "test = [" * 100_000, "x." * 100_000 + "y = 1", f'"{"n" * 1_000_000}" = []', "test = ['" + "a" * 1_000_000 + "']",
                     "\"\\u001b[31m\" = []", "#" * (17 << 20)):
            self.groups(text, "sub/pyproject.toml")
            self.assertLess(len(self.refused(*SUB, code=2 if text.startswith("test = ['") else 1)), 3000, text[:40])


if __name__ == "__main__":
    unittest.main(verbosity=2)
