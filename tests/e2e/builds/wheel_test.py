"""`variant wheel`: what would be installed, as wheels in a folder, and those that are built; beside `pip wheel`."""

import pathlib
import sys
import unittest
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from sdist_case import BuildCase
from support import Wheel


class WheelCase(BuildCase):
    def setUp(self):
        super().setUp()
        self.dest = self.root / "made"
        self.published = self.root / "published"
        Wheel("dep", "1.0").write(self.published)
        self.project = self.sdist("demo", "1.0", requires=["dep"]).write(self.root / "proj")

    def wheel(self, *words, command="wheel", **options):
        into = ["--wheel-dir" if command == "wheel" else "--dest", self.dest]
        return self.variant(command, *words, "--no-index", "--find-links", self.published, *into, "--python", self.venv, **options)

    def names(self, folder=None):
        folder = folder or self.dest
        return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


class Saved(WheelCase):
    def test_the_files_are_those_of_pip(self):
        (self.published / "late-1.0.tar.gz").write_bytes(self.sdist("late", "1.0").bytes())
        needs = self.file("needs.txt", "./proj\n")
        repository = self.root / "repo"
        self.make_repository(repository, ("v1", {".": self.sdist("kept", "1.0")}))
        for i, (ours, theirs) in enumerate(((["./proj"], ["./proj"]), (["./proj", "--no-deps"], ["./proj", "--no-deps"]),
                                            (["-r", needs], ["-r", needs]), (["dep"], ["dep"]),
                                            (["late", "--build=late"], ["late"]),
                                            ([f"git+file://{repository}@v1"], [f"git+file://{repository}@v1"]))):
            with self.subTest(" ".join(map(str, ours))):
                self.dest, by_pip = self.root / f"ours{i}", self.root / f"theirs{i}"
                self.assert_ok(self.wheel(*ours, cwd=self.root))
                self.assert_ok(self.pip("wheel", *theirs, "--no-index", "-f", self.published, "-w", by_pip, "--no-cache-dir", cwd=self.root))
                self.assertEqual(self.names(), self.names(by_pip))

    def test_what_is_saved_is_installed_by_pip_without_the_project(self):
        told = self.assert_ok(self.wheel("./proj", "--json", cwd=self.root)).json
        rows = {row["name"]: row for row in told["files"]}
        self.assertEqual(rows["demo"]["built_from"]["file"], "proj")
        self.assertIsNone(rows["dep"]["built_from"])
        self.assertEqual(told["dest"], str(self.dest))
        self.assert_ok(self.pip("install", "demo", "--no-index", "-f", self.dest))
        self.assertEqual(self.installed(), {"demo": ("1.0", None), "dep": ("1.0", None)})

    def test_what_wheels_were_not_to_be_used_for_does_not_count_afterwards(self):
        (self.published / "late-1.0.tar.gz").write_bytes(self.sdist("late", "1.0").bytes())
        result = self.assert_ok(self.wheel("late", "--build=late", "--no-binary", "late"))
        self.assertNotIn("alone", result.err)

    def test_a_dry_run_of_pips_installations_is_none_of_this(self):
        self.assert_ok(self.wheel("dep", env={"PIP_DRY_RUN": "1"}))
        self.assertEqual(self.names(), ["dep-1.0-py3-none-any.whl"])

    def test_what_it_says(self):
        result = self.assert_ok(self.wheel("./proj", cwd=self.root))
        self.assertRegex(result.out, r"\+ demo-1\.0-py3-none-any\.whl, built from proj by pip \d")
        self.assertIn("+ dep-1.0-py3-none-any.whl\n", result.out)

    def test_an_editable_folder_is_saved_as_a_whole_wheel(self):
        self.assert_ok(self.wheel("--editable", "./proj", "--no-deps", cwd=self.root))
        self.assertEqual(self.names(), ["demo-1.0-py3-none-any.whl"])
        with zipfile.ZipFile(self.dest / self.names()[0]) as archive:
            self.assertEqual([name for name in archive.namelist() if name.endswith(".pth")], [])
        self.dest = self.root / "downloaded"
        self.assert_ok(self.wheel("--editable", "./proj", "--no-deps", command="download", cwd=self.root))
        self.assertEqual(self.names(), ["demo-1.0-py3-none-any.whl"])

    def test_the_current_folder_is_the_one_that_is_not_named(self):
        here = self.root / "here"
        here.mkdir()
        self.assert_ok(self.variant("wheel", "dep", "--no-index", "-f", self.published, "--python", self.venv, cwd=here))
        self.assertEqual(self.names(here), ["dep-1.0-py3-none-any.whl"])

    def test_again_after_a_change_of_the_project(self):
        self.assert_ok(self.wheel("./proj", cwd=self.root))
        before = (self.dest / "demo-1.0-py3-none-any.whl").read_bytes()
        self.sdist("demo", "1.0", makes=[Wheel("demo", "1.0", files={"new.py": b"1"})]).write(self.project)
        result = self.assert_ok(self.wheel("./proj", cwd=self.root))
        self.assertIn("demo-1.0-py3-none-any.whl is not the file", result.err)
        self.assertNotEqual((self.dest / "demo-1.0-py3-none-any.whl").read_bytes(), before)


class Refused(WheelCase):
    def test_a_source_distribution_without_consent(self):
        (self.published / "late-1.0.tar.gz").write_bytes(self.sdist("late", "1.0").bytes())
        refused = self.assert_fails(self.wheel("late"), 3, "only a source distribution", "--build=late")
        self.assertNotIn("this machine", refused.err)
        self.assertEqual((self.built(), self.names()), ([], []))

    def test_a_build_that_fails_leaves_nothing(self):
        self.sdist("bad", "1.0", before="raise SystemExit(3)").write(self.root / "bad")
        self.assert_fails(self.wheel("./bad", "dep", cwd=self.root), 1, "could not be built from bad")
        self.assertEqual(self.names(), [])

    def test_another_machine(self):
        self.assert_fails(self.wheel("./proj", "--for", "none", cwd=self.root), 1, "not built for another machine")
        self.assertEqual((self.built(), self.names()), ([], []))

    def test_words(self):
        self.assert_fails(self.wheel(), 2, "nothing to save")
        self.assert_fails(self.variant("wheel", "dep", "--wheel-dir", "", "--python", self.venv), 2, "--wheel-dir")
        self.assert_fails(self.wheel("dep", "--platform", "linux_x86_64"), 2, "--platform")

    def test_a_dry_run_saves_nothing(self):
        told = self.assert_ok(self.wheel("./proj", "--dry-run", "--json", cwd=self.root)).json
        self.assertEqual(sorted(row["file"] for row in told["files"]), ["demo-1.0-py3-none-any.whl", "dep-1.0-py3-none-any.whl"])
        self.assertEqual(self.names(), [])


if __name__ == "__main__":
    unittest.main()
