"""What is installed compared with its RECORD: by `check`, and what its fix repairs."""

import os
import pathlib
import shlex
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import Index, TestCase, Wheel


class Content(TestCase):
    def setUp(self):
        super().setUp()
        self.make_venv()
        self.index = Index(self.root / "index")
        self.index.add_wheel(Wheel("demo", "1.0", files={"demo/__init__.py": "VALUE = 1\n", "demo/data.txt": "content\n"}))
        self.index.add_wheel(Wheel("other", "1.0"))
        self.env["PIP_INDEX_URL"] = self.index.url
        self.assert_ok(self.install("demo", "other"))

    def check(self, *options, venv=None):
        result = self.variant("check", "--json", "--python", venv or self.venv, *options)
        self.assertEqual(result.code, 1 if result.json["files"] or result.json["broken"] else 0, str(result))
        return result.json["files"]

    def fault(self, *options, venv=None):
        """The one fault of demo."""
        [one] = self.check(*options, venv=venv)
        self.assertEqual(one["package"], "demo 1.0")
        text = self.variant("check", "--python", venv or self.venv, *options)
        for part in (one["file"], one["fact"], *one["fix"]):
            self.assertIn(part, text.out)
        return one

    def run_fix(self, commands):
        self.assertTrue(commands)
        for command in commands:
            program, *arguments = shlex.split(command)
            self.assertEqual(program, "variant")
            self.assert_ok(self.variant(*arguments))

    def edit(self, path, text, keep_time=False):
        """In place, as an editor may: all hard links to the file change."""
        before = path.stat()
        with open(path, "r+") as file:
            file.truncate()
            file.write(text)
        if keep_time:
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    def test_a_whole_environment_has_no_faults(self):
        self.assertEqual(self.check(), [])
        self.assertEqual(self.check("--deep"), [])

    def test_an_edit_of_the_same_size_is_found_by_its_time(self):
        self.edit(self.site() / "demo/__init__.py", "VALUE = 2\n")
        one = self.fault()
        self.assertEqual((one["file"], one["fault"]), ("demo/__init__.py", "changed"))
        self.assertIn("hard link", one["fact"])

    def test_a_touched_file_with_its_content_is_whole(self):
        (self.site() / "demo/__init__.py").touch()
        self.assertEqual(self.check(), [])

    def test_an_edit_that_keeps_size_and_time_is_found_deep(self):
        self.edit(self.site() / "demo/__init__.py", "VALUE = 2\n", keep_time=True)
        self.assertEqual(self.check(), [])
        self.assertEqual(self.fault("--deep")["fault"], "changed")

    def test_longer_shorter_gone_and_a_folder(self):
        path = self.site() / "demo/data.txt"
        self.edit(path, "content and more\n", keep_time=True)
        self.assertEqual(self.fault()["fault"], "changed")
        self.edit(path, "c", keep_time=True)
        self.assertEqual(self.fault()["fault"], "cut-off")
        path.unlink()
        self.assertEqual(self.fault()["fault"], "missing")
        path.mkdir()
        self.assertEqual(self.fault()["fault"], "missing")

    def test_an_edit_in_one_environment_is_found_in_its_twin_and_each_is_repaired(self):
        twin = self.make_venv(self.root / "twin")
        self.assert_ok(self.variant("install", "demo", "--python", twin))
        for text, keep_time, depth in [("VALUE = 2\n", False, ()), ("VALUE = 3\n", True, ("--deep",))]:
            self.edit(self.site() / "demo/__init__.py", text, keep_time)
            for venv in (self.venv, twin):
                self.run_fix(self.fault(*depth, venv=venv)["fix"])
                self.assertEqual(self.check("--deep", venv=venv), [])
                self.assertEqual(self.python("import demo; print(demo.VALUE)", venv), "1")
            # And whoever comes later gets the wheel's content.
            third = self.make_venv(self.root / f"third{keep_time}")
            self.assert_ok(self.variant("install", "demo", "--python", third))
            self.assertEqual(self.check("--deep", venv=third), [])

    def test_a_damaged_store_is_not_installed_from_again(self):
        """Size and time as they were: only a reinstallation looks closer, since it repairs."""
        [stored] = (self.root / "home").rglob("tree/demo/data.txt")
        self.edit(stored, "CONTENT\n", keep_time=True)
        self.run_fix(self.fault("--deep")["fix"])
        self.assertEqual((self.site() / "demo/data.txt").read_text(), "content\n")
        [stored] = (self.root / "home").rglob("tree/demo/data.txt")
        self.assertEqual(stored.read_text(), "content\n")

    def test_a_damaged_file_of_two_packages_is_replaced(self):
        for name in ("one", "two"):
            self.index.add_wheel(Wheel(name, "1.0", files={"shared/__init__.py": "# shared\n", f"shared/{name}.py": ""}))
        self.assert_ok(self.install("one", "two"))
        self.edit(self.site() / "shared/__init__.py", "# edited\n")
        faults = self.check()
        self.assertEqual([one["package"] for one in faults], ["one 1.0", "two 1.0"])
        self.run_fix(faults[0]["fix"])
        self.assertEqual(self.check(), [])

    def test_scripts_and_the_dist_info_count(self):
        self.index.add_wheel(Wheel("demo", "1.1", files={
            "demo.py": "def main(): pass\n", "demo-1.1.dist-info/entry_points.txt": "[console_scripts]\ndemo-run = demo:main\n"}))
        self.assert_ok(self.install("demo==1.1"))
        for path, name in [(self.venv / "bin/demo-run", "../../../bin/demo-run"),
                           (self.site() / "demo-1.1.dist-info/WHEEL", "demo-1.1.dist-info/WHEEL")]:
            self.edit(path, path.read_text() + "\n")
            [one] = self.check()
            self.assertEqual((one["file"], one["fault"]), (name, "changed"))
            self.run_fix(one["fix"])
            self.assertEqual(self.check(), [])

    def test_lines_of_record_that_lead_outside_or_have_no_hash(self):
        record = self.site() / "demo-1.0.dist-info/RECORD"
        text = record.read_text()
        victim = self.root / "victim.txt"
        victim.write_text("mine")
        for line in ("../../../../victim.txt,,4\n", f"{victim},,4\n"):
            record.write_text(text + line)
            one = self.fault()
            self.assertEqual((one["file"], one["fault"]), (line.split(",")[0], "outside"))
            self.run_fix(one["fix"])
            self.assertEqual(self.check(), [])
            self.assertEqual(victim.read_text(), "mine")
        (self.site() / "demo/more.txt").write_text("x")
        record.write_text(text + "demo/more.txt,,\ndemo/__pycache__/gone.cpython-311.pyc,,\n")
        result = self.assert_ok(self.variant("check", "--python", self.venv))
        self.assertIn("demo 1.0: RECORD has no hash for demo/more.txt", result.err)
        self.assertNotIn("pyc", result.err)

    def test_a_record_that_cannot_be_read(self):
        record = self.site() / "demo-1.0.dist-info/RECORD"
        record.write_text("only one field\n")
        self.assertIn("demo-1.0.dist-info/RECORD", [one["file"] for one in self.check()])
        self.run_fix(self.check()[0]["fix"])
        self.assertEqual(self.check("--deep"), [])

    def test_what_pip_and_uv_installed_is_checked_as_well(self):
        for tool, name in [(self.pip, "by-pip"), (self.uv, "by-uv")]:
            wheel = Wheel(name, "1.0", files={f"{name.replace('-', '_')}.py": "X = 1\n"}).write(self.root / "wheels")
            if tool == self.pip:
                self.assert_ok(self.pip("install", "--no-index", wheel))
            else:
                self.assert_ok(self.uv("pip", "install", "--no-index", "--python", self.venv / "bin/python", wheel))
        self.assertEqual(self.check("--deep"), [])
        self.edit(self.site() / "by_pip.py", "X = 2\n")
        self.edit(self.site() / "by_uv.py", "X = 2\n")
        self.assertEqual([(one["package"], one["file"]) for one in self.check()],
                         [("by-pip 1.0", "by_pip.py"), ("by-uv 1.0", "by_uv.py")])

    def test_files_that_conda_wrote_a_prefix_into_are_not_told_off(self):
        (self.site() / "demo-1.0.dist-info/INSTALLER").write_text("conda\n")
        self.edit(self.site() / "demo/data.txt", "/opt/conda\n")
        self.assertEqual(self.check(), [])
        (self.site() / "demo/data.txt").unlink()
        self.assertEqual(self.fault()["fault"], "missing")


if __name__ == "__main__":
    unittest.main()
