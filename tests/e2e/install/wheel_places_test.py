"""Wheels by their place: `NAME @ URL`, `file:PATH` and paths, as pip 26.3 and uv 0.13.9 read them."""

import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "settings"))
from settings_case import SettingsCase
from support import Wheel

ONE = {"a": "1.0"}


class PlacesCase(SettingsCase):
    """a 1.0 is in the working folder, a 2.0 in sub; a 3.0 and 4.0 are in folders with odd names."""

    def setUp(self):
        super().setUp()
        self.index = ["--index-url", self.put("a", Wheel("b", "1.0"))]
        self.wheel = Wheel("a", "1.0").write(self.project).name
        for version, folder in (("2.0", "sub"), ("3.0", "my dir"), ("4.0", "d%20e"), ("5.0", "f@g")):
            Wheel("a", version).write(self.project / folder)

    def compare(self, form, wanted, *arguments):
        with self.subTest(form, arguments=arguments):
            self.assert_as_peers(wanted, *(arguments or [form]), *self.index)

    def in_file(self, form, wanted, option="-r", folder="."):
        """The same, as the one line of a file."""
        place = self.write(f"{folder}/lines.txt", form + "\n").relative_to(self.project)
        self.compare(form, wanted, *([] if option == "-r" else ["a"]), option, str(place))

    def in_group(self, form, wanted, folder="."):
        place = self.write(f"{folder}/pyproject.toml", f"[dependency-groups]\ntest = [{json.dumps(form)}]\n")
        self.compare(form, wanted, "--group", f"{place.relative_to(self.project)}:test")
        place.unlink()

    def refused(self, *arguments, code=1):
        result = self.variant("resolve", "--json", *arguments, *self.index, "--python", self.venv, cwd=self.project)
        self.assertEqual(result.code, code, str(result))
        error = result.json["error"]
        return error["message"] + " | " + (error["hint"] or "")


class Table(PlacesCase):
    """Each row is run by all three."""

    def test_forms(self):
        wheel, folder = self.wheel, self.project
        sub = "a-2.0-py3-none-any.whl"
        for form, wanted in [
            (f"a @ file:{wheel}", ONE), (f"a @ file:./{wheel}", ONE), (f"a@file:{wheel}", ONE), (f"a[x] @ file:{wheel}", ONE),
            (f"a @ file:sub/{sub}", {"a": "2.0"}), (f"a @ file:../{folder.name}/{wheel}", ONE),
            (f"a @ file:///{folder}/{wheel}", ONE), (f"a @ file:{folder}/{wheel}", ONE), (f"a @ file://localhost{folder}/{wheel}", ONE),
            (f"file:{wheel}", ONE), (f"file:./{wheel}", ONE), (f"file:sub/{sub}", {"a": "2.0"}), (f"file:{folder}/{wheel}", ONE),
            (wheel, ONE), (f"./{wheel}", ONE), (f"{folder}/{wheel}", ONE), (f"sub/{sub}", {"a": "2.0"}),
            # Only uv takes a path for a URL, and a path where a URL has its host.
            (f"a @ ./{wheel}", None), (f"a @ {wheel}", None), (f"a@{wheel}", None), (f"a @ {folder}/{wheel}", None),
            (f"a @ file://{wheel}", None), (f"a @ file://./{wheel}", None), (f"file://{wheel}", None),
            (f"b @ file:{wheel}", None), ("a @ file:no-1.0-py3-none-any.whl", None), ("a @ file:", None), ("a @ file:sub", None),
            ("file:sub", None), (f"a @ file:{wheel}#sha256=00", None), (f"a @ file:{wheel}[x]", None),
        ]:
            self.compare(form, wanted)

    def test_percent_encoding(self):
        for form, wanted in [
            ("a @ file:%61-1.0-py3-none-any.whl", ONE), ("file:%61-1%2E0-py3-none-any.whl", ONE), ("./%61-1.0-py3-none-any.whl", None),
            ("a @ file:my%20dir/a-3.0-py3-none-any.whl", {"a": "3.0"}), ("file:my%20dir/a-3.0-py3-none-any.whl", {"a": "3.0"}),
            ("file:my dir/a-3.0-py3-none-any.whl", {"a": "3.0"}), ("./my dir/a-3.0-py3-none-any.whl", {"a": "3.0"}),
            ("./my%20dir/a-3.0-py3-none-any.whl", None), ("a @ file:d%2520e/a-4.0-py3-none-any.whl", {"a": "4.0"}),
            ("a @ file:d%20e/a-4.0-py3-none-any.whl", None), ("./d%20e/a-4.0-py3-none-any.whl", {"a": "4.0"}),
            ("a @ file:f%40g/a-5.0-py3-none-any.whl", {"a": "5.0"}), ("./f@g/a-5.0-py3-none-any.whl", {"a": "5.0"}),
        ]:
            self.compare(form, wanted)

    def test_markers(self):
        for place in (f"a @ file:{self.wheel}", f"file:{self.wheel}", f"a @ file://{self.project}/{self.wheel}"):
            for between in (" ; ", "; "):
                self.compare(f"{place}{between}python_version>'3'", ONE)
                self.compare(f"{place}{between}python_version<'3'", {})
        # It may be for another machine.
        for place in ("a @ file:no-1.0-py3-none-any.whl", "file:no-1.0-py3-none-any.whl", f"a @ ./{self.wheel}"):
            self.compare(f"{place} ; python_version<'3'", {})

    def test_paths_in_files_count_from_the_working_folder(self):
        for option in ("-r", "-c"):
            for form in (f"a @ file:{self.wheel}", f"a @ file:./{self.wheel}", f"a@file:{self.wheel}", f"a @ file:{self.project}/{self.wheel}"):
                self.in_file(form, ONE, option, "sub")
            self.in_file("a @ file:a-2.0-py3-none-any.whl", None, option, "sub")
            self.in_file(f"a @ ./{self.wheel}", None, option, "sub")
        for form in (f"file:{self.wheel}", f"./{self.wheel}", self.wheel):
            self.in_file(form, ONE, "-r", "sub")
            # pip takes a constraint without a name.
            self.in_file(form, None, "-c", "sub")
        for form in ("file:a-2.0-py3-none-any.whl", "./a-2.0-py3-none-any.whl", "a-2.0-py3-none-any.whl"):
            self.in_file(form, None, "-r", "sub")
        self.in_file(f"a @ file:{self.wheel}; python_version<'3'", {}, "-r", "sub")
        self.write("all.txt", "-r sub/lines.txt\n")
        self.write("sub/lines.txt", f"a @ file:{self.wheel}\n")
        self.compare("nested", ONE, "-r", "all.txt")

    def test_groups(self):
        """pip takes a relative URL in a group, from the working folder even there; uv takes none."""
        for folder in (".", "sub"):
            self.in_group(f"a @ file:{self.wheel}", ONE, folder)
            self.in_group(f"a @ file:./{self.wheel}", ONE, folder)
            self.in_group(f"a @ file:{self.project}/{self.wheel}", ONE, folder)
            self.in_group("a @ file:sub/a-2.0-py3-none-any.whl", {"a": "2.0"}, folder)
            for form in (f"a @ ./{self.wheel}", f"file:{self.wheel}", f"./{self.wheel}", f"a @ file:{self.wheel}; python_version<'3'"):
                self.in_group(form, None, folder)
        self.in_group("a @ file:a-2.0-py3-none-any.whl", None, "sub")


class Refused(PlacesCase):
    """A form that is refused says why, and what to write."""

    def test_what_to_write(self):
        for form, code, words in [
            (f"a @ ./{self.wheel}", 2, [f"`./{self.wheel}` is a path", f"`a @ file:./{self.wheel}`"]),
            (f"a@{self.wheel}", 1, [f"a@{self.wheel} does not exist"]),
            (f"a @ file://{self.wheel}", 2, ["names a host", "file:PATH"]),
            ("a @ file:no-1.0-py3-none-any.whl", 1, ["wheel file no-1.0-py3-none-any.whl does not exist", "counts from the working folder"]),
            (f"a @ file:{self.wheel};python_version>'3'", 1, ["does not exist", "write a space before the `;`"]),
            ("file:sub", 1, ["/sub is no Python project", "neither pyproject.toml nor setup.py"]),
            ("a @ file://me:secret@h/a-1.0-py3-none-any.whl", 2, ["names a host"]),
        ]:
            told = self.refused(form, code=code)
            for word in words:
                self.assertIn(word, told)
            self.assertNotIn("secret", told)

    def test_where_it_is_and_where_to_look(self):
        self.write("sub/r.txt", "b\n./a-2.0-py3-none-any.whl\n")
        for line in ("./a-2.0-py3-none-any.whl", "a @ file:a-2.0-py3-none-any.whl"):
            self.write("sub/r.txt", f"b\n{line}\n")
            told = self.refused("-r", "sub/r.txt")
            for word in ("sub/r.txt:2: wheel file ", "as in pip and uv: write sub/a-2.0-py3-none-any.whl"):
                self.assertIn(word, told)
        self.write("pyproject.toml", f"[dependency-groups]\ntest = ['a @ ./{self.wheel}']\n")
        self.assertIn(f"pyproject.toml:2, group test: `./{self.wheel}` is a path", self.refused("--group", "test", code=2))


class Installed(PlacesCase):
    def test_what_is_recorded_is_absolute(self):
        self.assert_ok(self.variant("install", f"a @ file:{self.wheel}", *self.index, "--python", self.venv, cwd=self.project))
        record = next(self.venv.glob("lib/python*/site-packages/a-1.0.dist-info/direct_url.json"))
        self.assertEqual(json.loads(record.read_text())["url"], f"file://{self.project}/{self.wheel}")


if __name__ == "__main__":
    unittest.main(verbosity=2)
