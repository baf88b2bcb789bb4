"""`variant init`, `add`, `remove` and `import`: pyproject.toml is changed where it must be and nowhere else."""

import difflib
import os
import pathlib
import random
import subprocess
import sys
import tomllib
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import PYTHON, Index, TestCase, Wheel

HEAD = '[project]\nname = "demo"\nversion = "1"\n'


class ProjectCase(TestCase):
    def setUp(self):
        super().setUp()
        self.folder = self.root / "demo"
        self.folder.mkdir()
        self.file = self.folder / "pyproject.toml"
        self.index = Index(self.root / "index")

    def call(self, *words, **options):
        return self.variant(*words, cwd=options.pop("cwd", self.folder), **options)

    def write(self, text):
        self.file.write_bytes(text.encode())

    def read(self):
        return self.file.read_bytes().decode()

    # What becomes of the environment is sync_test.py's.
    def add(self, *words, **options):
        return self.call("add", *words, "--no-sync", "--index-url", self.index.url, "--python", PYTHON, **options)

    def remove(self, *words):
        return self.call("remove", *words, "--no-sync", "--index-url", self.index.url, "--python", PYTHON)


class Init(ProjectCase):
    def test_a_new_project(self):
        made = self.assert_ok(self.variant("init", "My app", "--python", PYTHON, "--machine", "laptop=none",
                                           "--machine", "train = h100", "--machine", "here=this one", cwd=self.root))
        file = self.root / "My app/pyproject.toml"
        self.assertEqual(made.out, f"{file}\n")
        version = "{}.{}".format(*self.python_version())
        self.assertEqual(file.read_text(), f"""[project]
name = "my-app"
version = "0.1.0"
requires-python = ">={version}"
dependencies = []

[tool.axle.machines]
laptop = "none"
train = "h100"
here = "this"
""")
        if self.uv_is_here():
            self.assert_ok(self.uv("lock", "--offline", "--python", PYTHON, cwd=file.parent))

    def uv_is_here(self):
        try:
            return bool(self.uv("--version"))
        except unittest.SkipTest:
            return False

    def python_version(self):
        code = "import sys; print(*sys.version_info[:2])"
        return subprocess.run([PYTHON, "-c", code], check=True, capture_output=True, text=True).stdout.split()

    def test_what_is_there_is_left_alone(self):
        self.write("[tool.x]\n")
        self.assert_fails(self.call("init", "--python", PYTHON), 2, "is there already", "variant add")
        self.assertEqual(self.read(), "[tool.x]\n")

    def test_machines_and_names_that_are_none(self):
        for words, said in (
                (["--machine", "train"], ["train", "names no machine"]),
                (["--machine", "a b=h100"], ["a b", "not a valid name"]),
                (["--machine", "a=h1000"], ["class a", "h1000", "h100"]),
                (["--machine", "a=none", "--machine", "A=h100"], ["the name of another one"]),
                (["--name", "-x"], ["--name", "not a valid name"]),
                (["--for", "h100"], ["--for is not supported here"])):
            with self.subTest(words):
                self.assert_fails(self.call("init", *words, "--python", PYTHON), 2, *said)
                self.assertEqual(os.listdir(self.folder), [])

    def test_a_profile_counts_from_the_project(self):
        profile = self.root / "node.json"
        self.assert_ok(self.variant("detect", "--for", "h100", "--profile", profile))
        self.assert_ok(self.variant("init", self.folder, "--python", PYTHON, "--machine", "node=../node.json", cwd="/"))


class Add(ProjectCase):
    def setUp(self):
        super().setUp()
        for name, version in (("tensors", "2.9.0"), ("tensors", "2.8.0"), ("rich", "14.0"), ("numba", "0.60+cu1")):
            self.index.add_wheel(Wheel(name, version))

    def test_the_version_that_would_be_chosen_becomes_a_lower_bound(self):
        self.write(HEAD + 'dependencies = [\n  "rich<20",  # text\n]\n')
        added = self.assert_ok(self.add("tensors", "numba", "rich"))
        self.assertEqual(added.out, "+ tensors>=2.9.0\n+ numba>=0.60\naxle.lock:\n+ numba 0.60+cu1\n+ rich 14.0\n+ tensors 2.9.0\n")
        self.assertEqual(self.read(), HEAD + 'dependencies = [\n  "numba>=0.60",\n  "rich<20",  # text\n  "tensors>=2.9.0",\n]\n')
        again = self.assert_ok(self.add("tensors<3", "--json"))
        self.assertEqual(again.json["added"], [{"list": "dependencies", "name": None, "requirement": "tensors<3"}])

    def test_what_the_project_requires_counts(self):
        self.write(HEAD + 'dependencies = ["rich"]\n[tool.uv]\nconstraint-dependencies = ["tensors<2.9"]\n')
        self.assertEqual(self.assert_ok(self.add("tensors")).out.splitlines()[0], "+ tensors>=2.8.0")

    def test_lists(self):
        self.write(HEAD)
        self.assert_ok(self.add("--dev", "rich"))
        self.assert_ok(self.add("--group", "Docs.site", "rich", "tensors==2.8.0"))
        self.assert_ok(self.add("--extra", "fast", "numba; python_version < '3'"))
        self.assertEqual(tomllib.loads(self.read()), {
            "project": {"name": "demo", "version": "1",
                        "optional-dependencies": {"fast": ['numba; python_version < "3"']}},
            "dependency-groups": {"dev": ["rich>=14.0"], "Docs.site": ["rich>=14.0", "tensors==2.8.0"]}})
        self.assert_fails(self.remove("rich"), 1, "do not have \"rich\"", "--group dev")
        self.assertEqual(self.assert_ok(self.remove("--group", "docs-site", "Rich")).out,
                         "- rich>=14.0  (group docs-site)\n")
        self.assert_fails(self.add("--dev", "--extra", "x", "rich"), 2, "different lists")

    def test_from_a_sub_folder_and_from_a_file(self):
        self.write(HEAD)
        below = self.folder / "src"
        below.mkdir()
        (below / "pyproject.toml").write_text("[tool.x]\n")
        (below / "more.txt").write_text("rich==14.0 --hash=sha256:" + "0" * 64 + "\n-e .\n")
        added = self.assert_ok(self.add("tensors", "-r", "more.txt", cwd=below))
        self.assertEqual(tomllib.loads(self.read())["project"]["dependencies"], ["rich==14.0", "tensors>=2.9.0"])
        self.assertIn("more.txt:2: `.` is not taken", added.err)

    def test_what_cannot_be_added_changes_nothing(self):
        text = HEAD + 'dependencies = ["tensors<2.9"]\n'
        self.write(text)
        for words, code, said in (
                (["absent"], 1, ["absent"]),
                (["tensors>=2.9"], 0, []),
                (["rich >"], 2, ["rich >"]),
                (["./here"], 2, ["here"]),
                ([], 2, ["nothing to add"]),
                (["-r", "uv.lock"], 2, ["uv.lock", "variant import"])):
            with self.subTest(words):
                if code:
                    self.assert_fails(self.add(*words), code, *said)
                    self.assertEqual(self.read(), text)
        os.remove(self.file)
        self.assert_fails(self.add("rich"), 2, "no project", "variant init")
        self.write("[tool.x]\n")
        self.assert_fails(self.add("rich"), 2, "no table [project]")

    def test_what_cannot_be_locked_is_taken_back(self):
        text = HEAD + "dependencies = ['rich']  # text\n"
        self.write(text)
        self.assert_ok(self.add("numba"))
        locked, edited = (self.folder / "axle.lock").read_text(), self.read()
        self.assert_fails(self.add("tensors>=3"), 1, "tensors")
        self.assertEqual((self.read(), (self.folder / "axle.lock").read_text()), (edited, locked))
        self.assertEqual(self.assert_ok(self.remove("numba")).out, "- numba>=0.60\naxle.lock:\n- numba 0.60+cu1\n")
        self.assertEqual(self.read(), text)
        self.assert_ok(self.call("lock", "--check", "--index-url", self.index.url, "--python", PYTHON))

    def test_the_bound_is_the_lowest_of_all_classes(self):
        self.write(HEAD + """[tool.axle.machines]
old = { machine = "none", python = "3.11" }
new = { machine = "none", python = "3.13" }
""")
        self.index.add_wheel(Wheel("tensors", "3.0", extra_metadata="Requires-Python: >=3.12\n"),
                             **{"requires-python": ">=3.12"})
        self.assertEqual(self.assert_ok(self.add("tensors")).out.splitlines()[0], "+ tensors>=2.9.0")

    def test_alone_it_needs_no_index(self):
        self.write(HEAD)
        self.assert_ok(self.call("add", "absent", "other @ https://host/other-1-py3-none-any.whl", "--frozen"))
        self.assertEqual(tomllib.loads(self.read())["project"]["dependencies"],
                         ["absent", "other @ https://host/other-1-py3-none-any.whl"])


class Outdated(ProjectCase):
    def outdated(self, *words):
        return self.assert_ok(self.call("outdated", *words, "--index-url", self.index.url, "--python", PYTHON))

    def test_what_the_project_allows_and_what_there_is(self):
        for version in ("1.0", "1.1", "2.0"):
            self.index.add_wheel(Wheel("rich", version))
        self.index.add_wheel(Wheel("numba", "1.0"))
        self.write(HEAD + 'dependencies = ["rich==1.0", "numba"]\n[tool.axle.machines]\na = "none"\nb = "h100"\n')
        self.assert_ok(self.call("lock", "--index-url", self.index.url, "--python", PYTHON))
        self.write(self.read().replace("==1.0", "<2"))
        lock = (self.folder / "axle.lock").read_text()
        said = self.outdated()
        self.assertEqual([line.split() for line in said.out.splitlines()],
                         [["PACKAGE", "LOCKED", "ALLOWED", "LATEST", "CLASSES"], ["rich", "1.0", "1.1", "2.0", "a,", "b"]])
        self.assertIn("is not what pyproject.toml asks for now", said.err)
        self.assertEqual((self.folder / "axle.lock").read_text(), lock)
        self.assert_ok(self.call("lock", "--upgrade", "--index-url", self.index.url, "--python", PYTHON))
        self.assertEqual(self.outdated("--json").json["outdated"],
                         [{"name": "rich", "class": one, "locked": "1.1", "allowed": "1.1", "latest": "2.0"} for one in "ab"])
        self.write(self.read().replace("rich<2", "rich"))
        self.assert_ok(self.call("lock", "--upgrade", "--index-url", self.index.url, "--python", PYTHON))
        newest = self.outdated()
        self.assertEqual(newest.out, "")
        self.assertIn("is the newest", newest.err)

    def test_what_is_assumed_of_several_classes_is_said_once(self):
        self.index.add_wheel(Wheel("rich", "1.0"))
        machines = "".join(f'c{python} = {{ machine = "{gpu}", python = "3.{python}" }}\n'
                           for gpu, pythons in (("h100", (10, 11)), ("none", (12, 13))) for python in pythons)
        self.write(HEAD + 'requires-python = ">=3.10"\ndependencies = ["rich"]\n[tool.axle.machines]\n' + machines)
        locked = self.assert_ok(self.call("lock", "--index-url", self.index.url, "--python", PYTHON))
        for result in (locked, self.outdated()):
            said = result.err.splitlines()
            self.assertIn("assumed", "".join(said))
            self.assertEqual(sorted(set(said)), sorted(said))

    def test_without_a_lock(self):
        self.write(HEAD)
        self.assert_fails(self.call("outdated", "--index-url", self.index.url), 2, "axle.lock", "variant lock")


class Import(ProjectCase):
    def imported(self, name, *words):
        return self.call("import", name, "--python", PYTHON, "--frozen", *words)

    def test_a_requirements_file(self):
        (self.folder / "requirements.txt").write_text(
            "-c limits.txt\n--extra-index-url https://host/simple\ntensors==2.9.0 --hash=sha256:" + "0" * 64
            + "\nrich[jupyter]>=14 ; sys_platform == 'linux'\n")
        (self.folder / "limits.txt").write_text("sympy==1.13\nnumba<1\n")
        done = self.assert_ok(self.imported("requirements.txt", "--json"))
        self.assertEqual(done.json["pins"], {"sympy": ["1.13"], "tensors": ["2.9.0"]})
        project = tomllib.loads(self.read())["project"]
        self.assertEqual(project["name"], "demo")
        self.assertEqual(project["dependencies"],
                         ['rich[jupyter]>=14; sys_platform == "linux"', "tensors==2.9.0"])
        self.assertIn("limits.txt:2: the constraint `numba<1` is not taken", done.err)
        self.assertIn("--extra-index-url is not taken", done.err)

    def test_poetry(self):
        self.write('[tool.poetry]\nname = "app"\n[tool.poetry.dependencies]\npython = "^3.10"\ntensors = "^2.8"')
        (self.folder / "poetry.lock").write_text(
            '[[package]]\nname = "tensors"\nversion = "2.8.1"\n[metadata]\nlock-version = "2.1"\n')
        before = self.read()
        done = self.assert_ok(self.imported("poetry.lock", "--json"))
        self.assertEqual(done.json["pins"], {"tensors": ["2.8.1"]})
        self.assertTrue(self.read().startswith(before + "\n"))
        self.assertEqual(tomllib.loads(self.read())["project"],
                         {"name": "app", "version": "0.1.0", "requires-python": ">=3.10,<4",
                          "dependencies": ["tensors>=2.8,<3"]})

    def test_a_lock_of_a_project_that_is_one_adds_nothing(self):
        text = HEAD + 'dependencies = ["tensors>=2.8"]\n'
        self.write(text)
        (self.folder / "uv.lock").write_text(
            'version = 1\n[[package]]\nname = "demo"\nsource = { virtual = "." }\ndependencies = [{ name = "tensors" }]\n'
            '[package.metadata]\nrequires-dist = [{ name = "tensors", specifier = ">=2.8" }]\n'
            '[[package]]\nname = "tensors"\nversion = "2.8.1"\nsource = { registry = "https://host/simple" }\n')
        done = self.assert_ok(self.imported("uv.lock", "--json"))
        self.assertEqual((done.json["added"], done.json["pins"]), ([], {"tensors": ["2.8.1"]}))
        self.assertEqual(self.read(), text)
        (self.folder / "pylock.toml").write_text(
            'lock-version = "1.0"\n[[packages]]\nname = "sympy"\nversion = "1.13"\n')
        self.assertEqual(self.assert_ok(self.imported("pylock.toml", "--json")).json["pins"], {"sympy": ["1.13"]})
        self.assertEqual(self.read(), text)

    def test_uv_lock_as_uv_writes_it(self):
        for name, version in (("tensors", "2.9.0"), ("sympy", "1.13"), ("rich", "14.0"), ("pytest", "8.0")):
            Wheel(name, version, requires=["sympy"] if name == "tensors" else []).write(self.root / "wheels")
        self.write(HEAD + 'requires-python = ">=3.9"\ndependencies = ["tensors>=2"]\n'
                   '[project.optional-dependencies]\nfast = ["rich; sys_platform == \'linux\'"]\n'
                   '[dependency-groups]\ndev = ["pytest"]\n')
        self.assert_ok(self.uv("lock", "--no-index", "--find-links", self.root / "wheels", "--python", PYTHON, cwd=self.folder))
        os.remove(self.file)
        done = self.assert_ok(self.imported("uv.lock", "--json"))
        self.assertEqual(done.json["pins"], {"pytest": ["8.0"], "rich": ["14.0"], "sympy": ["1.13"], "tensors": ["2.9.0"]})
        made = tomllib.loads(self.read())
        self.assertEqual(made["project"]["dependencies"], ["tensors>=2"])
        self.assertEqual(made["project"]["optional-dependencies"], {"fast": ['rich; sys_platform == "linux"']})
        self.assertEqual(made["dependency-groups"], {"dev": ["pytest"]})

    def test_the_first_lock_prefers_what_was_locked(self):
        for version in ("1.0", "1.1", "1.2"):
            self.index.add_wheel(Wheel("rich", version, requires=["sympy"]))
            self.index.add_wheel(Wheel("sympy", version))
        (self.folder / "pylock.toml").write_text(
            'lock-version = "1.0"\n[[packages]]\nname = "rich"\nversion = "1.1"\ndependencies = [{name = "sympy"}]\n'
            '[[packages]]\nname = "sympy"\nversion = "1.0"\n')
        done = self.assert_ok(self.call("import", "pylock.toml", "--python", PYTHON, "--index-url", self.index.url))
        self.assertEqual(done.out, "+ rich\naxle.lock:\n+ rich 1.1\n+ sympy 1.0\n")
        self.file.unlink()
        self.assert_fails(self.call("import", "pylock.toml", "--python", PYTHON, "--no-index"), 1, "rich")
        self.assertFalse(self.file.exists())

    def test_files_that_are_none(self):
        for name, text, code, said in (
                ("uv.lock", "version = 3\n", 1, ["uv.lock:1", "version 3 is not known"]),
                ("uv.lock", "<<<<<<< HEAD\n", 1, ["uv.lock:1"]),
                ("pylock.toml", "lock-version = 1\n", 1, ["pylock.toml:1", "lock-version"]),
                ("poetry.lock", "", 1, ["poetry.lock", "metadata"]),
                ("requirements.txt", "-e\n", 1, ["requirements.txt:1"]),
                ("absent.txt", None, 1, ["absent.txt"])):
            with self.subTest(name):
                if text is not None:
                    (self.folder / name).write_text(text)
                self.assert_fails(self.imported(name), code, *said)
                self.assertFalse(self.file.exists())


class Random(ProjectCase):
    """Random documents, read by tomllib before and after."""

    def setUp(self):
        super().setUp()
        self.seed = int(os.environ.get("AXLE_TEST_SEED") or random.randrange(1 << 32))
        self.random = random.Random(self.seed)

    def name(self):
        return self.random.choice("abcdefgh") + self.random.choice(["", "x", "-y", "_Z", ".w"])

    def string(self, value):
        if self.random.random() < 0.3 and "'" not in value:
            return f"'{value}'"
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'

    def comment(self):
        return self.random.choice(["", "", " # of it", "# ] , \"x\"", "  # [project]"])

    def array(self, values, end):
        pick = self.random.choice
        style = pick(["line", "line", "lines", "lines", "mixed"])
        text = "["
        indent = pick(["  ", "    ", "\t"])
        for i, value in enumerate(values):
            last = i + 1 == len(values)
            comma = "," if not last or self.random.random() < 0.5 else ""
            commented = "#" in text.rpartition("\n")[2]
            if style == "line" or (style == "mixed" and not commented and self.random.random() < 0.5):
                text += pick(["", " "]) + self.string(value) + comma
            else:
                if self.random.random() < 0.3:
                    text += end + indent + "# before " + value
                text += end + indent + self.string(value) + pick(["", " "]) * (not last) + comma + self.comment()
        tail = text.rpartition("\n")[2]
        if style != "line" or "#" in tail:
            text += end
        return text + pick(["", " "]) * (style == "line") + "]"

    def requirement(self, name):
        return name + self.random.choice(["", ">=1", " >= 2, <3", "[x]", "; python_version < '4'", " ; os_name == \"nt\""])

    def document(self):
        pick = self.random.choice
        end = pick(["\n", "\n", "\r\n"])
        values = [self.requirement(name) for name in dict.fromkeys(self.name() for _ in range(self.random.randrange(6)))]
        if self.random.random() < 0.3:
            values.sort()
        parts = [f"# {pick(['[project]', 'dependencies = []', 'words'])}",
                 "[project]", 'name = "demo"', "version = '1'"]
        if self.random.random() < 0.85:
            parts.append("dependencies" + pick([" = ", "=", "   =  "]) + self.array(values, end) + pick(["", " # end"]))
        if self.random.random() < 0.5:
            parts.append('description = """\n[tool]\ndependencies = ["no"]\n"""'.replace("\n", end))
        if self.random.random() < 0.5:
            parts += ["", pick(["[project.optional-dependencies]", "  [project.optional-dependencies] # extras"]),
                      "fast = " + self.array(["q", "r>=1"], end)]
        if self.random.random() < 0.5:
            parts += ["", "# about groups", "[dependency-groups]", "dev = " + self.array(["pytest"], end),
                      'all = [{include-group = "dev"}, "z"]']
        parts += ["", "[[tool.x]]", "dependencies = ['no'] # no", "[tool.y]", "a = {b = ['c'], d = nan}"]
        return end.join(parts) + pick(["", end])

    def test_adding_and_removing(self):
        for i in range(60):
            text = self.document()
            before = tomllib.loads(text)
            options = self.random.choice([[], [], ["--extra", "fast"], ["--dev"]])
            self.write(text)
            with self.subTest(f"seed {self.seed}, document {i}, {options}:\n{text}"):
                self.assert_ok(self.call("add", "new-one>=7", "--frozen", *options))
                made = self.read()
                after = tomllib.loads(made)
                place = {"[]": ["project", "dependencies"], "['--dev']": ["dependency-groups", "dev"]}.get(
                    str(options), ["project", "optional-dependencies", "fast"])
                table = after
                for key in place[:-1]:
                    table = table[key]
                self.assertEqual(table[place[-1]].count("new-one>=7"), 1)
                self.assert_same_but(text, made, "new-one")
                self.assert_ok(self.call("remove", "New_One", "--frozen", *options))
                left = tomllib.loads(self.read())
                table = left
                expected = before
                for key in place[:-1]:
                    table = table[key]
                    expected = expected.setdefault(key, {})
                expected.setdefault(place[-1], [])
                self.assertEqual(self.meaning_of(left), self.meaning_of(before))
                for word in ("# before ", "# of it", "# end", "# about groups", "[project]"):
                    self.assertEqual(self.read().count(word), text.count(word), word)

    def meaning_of(self, value):
        """Tables without order."""
        if isinstance(value, dict):
            return {key: self.meaning_of(one) for key, one in sorted(value.items())}
        if isinstance(value, list):
            return [self.meaning_of(one) for one in value]
        return repr(value)

    def assert_same_but(self, before, after, name):
        """Nothing is gone but commas, brackets and white space, and nothing is new but the requirement and its table."""
        matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
        for kind, i, j, k, m in matcher.get_opcodes():
            if kind != "equal":
                self.assertEqual(before[i:j].strip(" \t\r\n"), "", f"{kind} {before[i:j]!r}")


class UnfollowedKeys(ProjectCase):
    def test_what_uv_says_and_a_lock_does_not_follow_is_said(self):
        for key, value, said in (("conflicts", "[[{extra = 'a'}, {extra = 'b'}]]", True), ("environments", '["python_version > \'3\'"]', True),
                                 ("required-environments", '["sys_platform == \'linux\'"]', True), ("add-bounds", '"exact"', True),
                                 ("add-bounds", '"lower"', False)):
            with self.subTest(key, value=value):
                self.write(f"{HEAD}[tool.uv]\n{key} = {value}\n")
                done = self.assert_ok(self.call("lock", "--upgrade", "--index-url", self.index.url, "--python", PYTHON))
                self.assertEqual(f"pyproject.toml:5: tool.uv.{key} does not count" in done.err, said, done.err)


if __name__ == "__main__":
    unittest.main()
