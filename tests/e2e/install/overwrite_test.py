"""--overwrite: a file that two packages own goes to the one that is installed later, and every RECORD says so."""

import json
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import SOURCE, Index, TestCase, Wheel

MODULE = "kernels/__init__.py"


class OverwriteTestCase(TestCase):
    def setUp(self):
        super().setUp()
        self.make_venv()
        self.index = Index(self.root / "index")

    def publish(self, name, version="1.0", text=None, files=(), **options):
        text = text or f"OWNER = '{name} {version}'\n"
        own = {f"{name.replace('-', '_')}.py": f"__version__ = '{version}'\n", MODULE: text, "kernels/empty.py": ""}
        self.index.add_wheel(Wheel(name, version, files={**own, **dict(files)}, **options))

    def publish_pair(self, version="1.0"):
        """Of the same length, so that only the content tells them apart."""
        self.publish("kernels-a", version, files={"kernels/a.py": "1\n"})
        self.publish("kernels-b", version, files={"kernels/b.py": "1\n"})

    def overwrite(self, *arguments, **options):
        return self.assert_ok(self.install(*arguments, "--overwrite", index=self.index, **options))

    def owner(self):
        return self.python("import kernels; print(kernels.OWNER)")

    def marks(self, name, version="1.0"):
        path = self.site() / f"{name.replace('-', '_')}-{version}.dist-info/axle-overwritten.json"
        return json.loads(path.read_text()) if path.exists() else {}

    def assert_whole(self):
        """`variant check --deep` and the judge that knows nothing of Axle agree with every RECORD."""
        self.assert_ok(self.variant("check", "--deep", "--python", self.venv))
        judge = subprocess.run([str(self.venv / "bin/python"), str(SOURCE / "tests/installer/verify_environment.py"),
                                str(self.root / "baseline")], text=True, capture_output=True, timeout=60, env=self.env)
        self.assertEqual(judge.returncode, 0, judge.stdout + judge.stderr)

    def make_baseline(self):
        subprocess.run([str(self.venv / "bin/python"), str(SOURCE / "tests/installer/verify_environment.py"),
                        str(self.root / "baseline")], check=True, capture_output=True, timeout=60, env=self.env)


class InOnePlan(OverwriteTestCase):
    def setUp(self):
        super().setUp()
        self.make_baseline()
        self.publish_pair()

    def test_the_refusal_names_the_option_and_without_it_nothing_changes(self):
        self.assert_fails(self.install("kernels-a", "kernels-b", index=self.index), 1, "both install", "--overwrite")
        self.assertEqual(self.installed(), {})

    def test_the_later_one_has_the_file_and_all_records_are_true(self):
        result = self.overwrite("kernels-b", "kernels-a", "--json")
        path = str(self.site() / MODULE)
        self.assertEqual(result.json["overwritten"], [{"path": path, "package": "kernels-b 1.0", "owner": "kernels-a 1.0"}])
        self.assertEqual(self.owner(), "kernels-b 1.0")
        self.assertEqual(self.marks("kernels-a"), {MODULE: "kernels-b"})
        self.assertEqual(self.marks("kernels-b"), {})
        self.assert_whole()
        checked = self.variant("check", "--json", "--python", self.venv)
        self.assertEqual(checked.json["overwritten"], [{"package": "kernels-a 1.0", "file": MODULE, "by": "kernels-b"}])
        doctor = self.variant("doctor", "--json", "--python", self.venv).json
        self.assertNotIn("path-owned-twice", [one["code"] for one in doctor["findings"]])

    def test_a_dependent_comes_after_what_it_requires(self):
        self.publish("kernels-0", requires=["kernels-a"])
        self.overwrite("kernels-0")
        self.assertEqual(self.owner(), "kernels-0 1.0")

    def test_what_the_user_names_comes_after_what_is_only_required(self):
        self.index.add_wheel(Wheel("app", "1.0", requires=["kernels-b"]))
        self.overwrite("app", "kernels-a")
        self.assertEqual(self.owner(), "kernels-a 1.0")

    def test_packages_that_require_each_other(self):
        self.publish("kernels-x", requires=["kernels-y"])
        self.publish("kernels-y", requires=["kernels-x"])
        self.overwrite("kernels-x", "kernels-y")
        self.assert_whole()

    def test_a_dry_run_says_the_same_and_changes_nothing(self):
        planned = self.overwrite("kernels-a", "kernels-b", "--dry-run", "--json").json
        self.assertEqual(self.installed(), {})
        done = self.overwrite("kernels-a", "kernels-b", "--json").json
        self.assertEqual(planned["overwritten"], done["overwritten"])

    def test_its_byte_code_is_that_of_the_later_one(self):
        self.overwrite("kernels-a", "kernels-b", "--compile-bytecode")
        self.assertEqual(self.owner(), "kernels-b 1.0")
        codes = list((self.site() / "kernels/__pycache__").glob("__init__.*.pyc"))
        self.assertEqual(len(codes), 1)
        self.assertIn(b"kernels-b 1.0", codes[0].read_bytes())

    def test_scripts_too(self):
        for name in ("tool-a", "tool-b"):
            wheel = Wheel(name, "1.0", files={f"tool_{name[-1]}.py": "__version__ = '1.0'\ndef main():\n    print('1.0')\n"})
            wheel.members[f"{wheel.dist_info}/entry_points.txt"] = f"[console_scripts]\ntool = tool_{name[-1]}:main\n"
            self.index.add_wheel(wheel)
        self.assert_fails(self.install("tool-a", "tool-b", index=self.index), 1, "both install", "bin/tool")
        self.overwrite("tool-a", "tool-b")
        self.assertIn("tool_b", (self.venv / "bin/tool").read_text())
        self.assert_whole()

    def test_a_folder_where_the_other_has_a_file_stays_refused(self):
        self.index.add_wheel(Wheel("flat", "1.0", files={"deep": "file"}))
        self.index.add_wheel(Wheel("deep", "1.0", files={"deep/inside.py": "1\n"}))
        self.assert_fails(self.install("flat", "deep", "--overwrite", index=self.index), 1, "deep")
        self.assertEqual(self.installed(), {})


class OverWhatIsInstalled(OverwriteTestCase):
    def setUp(self):
        super().setUp()
        self.make_baseline()
        self.publish_pair()
        self.publish_pair("2.0")

    def both(self):
        self.assert_ok(self.install("kernels-a==1.0", index=self.index))
        return self.overwrite("kernels-b==1.0", "--json")

    def test_the_new_one_takes_the_file_and_the_old_ones_record_says_so(self):
        result = self.both()
        self.assertEqual([(one["package"], one["owner"]) for one in result.json["overwritten"]],
                         [("kernels-b 1.0", "kernels-a 1.0")])
        self.assertEqual(self.owner(), "kernels-b 1.0")
        self.assertEqual(self.marks("kernels-a"), {MODULE: "kernels-b"})
        self.assert_whole()

    def test_stale_byte_code_of_the_old_one_is_gone(self):
        self.assert_ok(self.install("kernels-a==1.0", index=self.index))
        self.python("import kernels")
        compiled = list((self.site() / "kernels/__pycache__").glob("__init__.*"))
        if not compiled:
            subprocess.run([self.venv / "bin/python", "-m", "compileall", "-q", str(self.site() / "kernels")], check=True)
        self.overwrite("kernels-b==1.0")
        self.assertEqual(list((self.site() / "kernels/__pycache__").glob("__init__.*")), [])

    def test_removing_the_one_that_lost_leaves_the_other_whole(self):
        self.both()
        self.assert_ok(self.variant("uninstall", "kernels-a", "--python", self.venv))
        self.assertEqual(self.owner(), "kernels-b 1.0")
        self.assert_whole()
        self.assert_ok(self.variant("uninstall", "kernels-b", "--python", self.venv))
        self.assertFalse((self.site() / "kernels").exists())

    def test_removing_the_one_that_won_leaves_the_file_with_a_word_and_reinstalling_mends_it(self):
        self.both()
        result = self.assert_ok(self.variant("uninstall", "kernels-b", "--python", self.venv))
        self.assertIn(f"{MODULE} of kernels-a 1.0 is still that of kernels-b", result.err)
        self.assertIn("variant install --reinstall --no-deps kernels-a==1.0", result.err)
        self.assertTrue((self.site() / MODULE).exists())
        self.assert_whole()
        self.assert_ok(self.install("--reinstall", "--no-deps", "kernels-a==1.0", index=self.index))
        self.assertEqual(self.owner(), "kernels-a 1.0")
        self.assertEqual(self.marks("kernels-a"), {})
        self.assert_whole()

    def test_what_was_settled_stays_when_either_is_installed_again_or_upgraded(self):
        self.both()
        for arguments, expected in ((["--reinstall", "--no-deps", "kernels-a==1.0"], "kernels-b 1.0"),
                                    (["kernels-a==2.0"], "kernels-b 1.0"),
                                    (["--reinstall", "--no-deps", "kernels-b==1.0"], "kernels-b 1.0"),
                                    (["kernels-b==2.0"], "kernels-b 2.0"),
                                    (["--reinstall", "kernels-a", "kernels-b"], "kernels-b 2.0")):
            self.assert_ok(self.install(*arguments, index=self.index))
            self.assertEqual(self.owner(), expected, arguments)
            self.assert_whole()
        self.assertEqual(self.marks("kernels-a", "2.0"), {MODULE: "kernels-b"})

    def test_a_new_file_in_the_way_is_refused_all_the_same(self):
        self.both()
        self.publish("kernels-b", "3.0", files={"kernels/a.py": "2\n"})
        self.assert_fails(self.install("kernels-b==3.0", index=self.index), 1, "kernels/a.py", "belongs to kernels-a 1.0")
        self.assertEqual(self.owner(), "kernels-b 1.0")

    def test_the_option_turns_it_round(self):
        self.both()
        self.overwrite("--reinstall", "--no-deps", "kernels-a==1.0")
        self.assertEqual(self.owner(), "kernels-a 1.0")
        self.assertEqual((self.marks("kernels-a"), self.marks("kernels-b")), ({}, {MODULE: "kernels-a"}))
        self.assert_whole()

    def test_three_owners(self):
        self.publish("kernels-c")
        self.both()
        self.overwrite("kernels-c")
        self.assertEqual((self.marks("kernels-a"), self.marks("kernels-b")), ({MODULE: "kernels-c"}, {MODULE: "kernels-c"}))
        self.assert_whole()
        self.assert_ok(self.variant("uninstall", "kernels-a", "kernels-b", "--python", self.venv))
        self.assertEqual(self.owner(), "kernels-c 1.0")
        self.assert_whole()

    def test_a_file_of_nobody_has_no_owner(self):
        (self.site() / "kernels").mkdir()
        (self.site() / MODULE).write_text("mine\n")
        self.assert_fails(self.install("kernels-a==1.0", index=self.index), 1, "no package owns", "--overwrite")
        result = self.overwrite("kernels-a==1.0", "--json")
        self.assertEqual([one["owner"] for one in result.json["overwritten"]], [None])
        self.assert_whole()


class WithPipAndUv(OverwriteTestCase):
    def setUp(self):
        super().setUp()
        self.publish_pair()

    def pip_installs(self, name):
        wheel = next((self.index.folder / name).glob("*.whl"))
        self.assert_ok(self.pip("install", "--no-index", "--no-deps", wheel))

    def test_over_a_package_of_pip(self):
        self.pip_installs("kernels-a")
        self.overwrite("kernels-b")
        self.assertEqual(self.owner(), "kernels-b 1.0")
        self.assert_ok(self.variant("check", "--deep", "--python", self.venv))
        self.assert_ok(self.pip("check"))

    def test_pip_removes_what_its_record_lists_and_check_says_what_is_missing(self):
        self.overwrite("kernels-a", "kernels-b")
        self.assert_ok(self.pip("check"))
        self.assert_ok(self.pip("uninstall", "-y", "kernels-b"))
        self.assert_fails(self.variant("check", "--python", self.venv), 1, f"{MODULE} is missing")
        self.assert_ok(self.install("--reinstall", "--no-deps", "kernels-a", index=self.index))
        self.assertEqual(self.owner(), "kernels-a 1.0")
        self.assert_ok(self.pip("uninstall", "-y", "kernels-a"))
        self.assertEqual(list(self.venv.rglob(MODULE)), [])

    def test_uv_copes_too(self):
        self.overwrite("kernels-a", "kernels-b")
        self.assert_ok(self.uv("pip", "check", "--python", self.venv))
        self.assert_ok(self.uv("pip", "uninstall", "--python", self.venv, "kernels-a", "kernels-b"))
        self.assertFalse((self.site() / MODULE).exists())

    def test_the_neighbours_work(self):
        self.overwrite("kernels-a", "kernels-b")
        self.assert_neighbours_work()


class OneGroup(OverwriteTestCase):
    """albumentations with opencv-python, which uv installs: two distributions with the module cv2."""

    def setUp(self):
        super().setUp()
        for name in ("opencv-python", "opencv-python-headless"):
            self.index.add_wheel(Wheel(name, "4.12.0", files={"cv2/__init__.py": f"NAME = {name!r}\n"}))
        self.index.add_wheel(Wheel("albumentations", "2.0.8", requires=["opencv-python-headless>=4.9"]))
        self.index.add_wheel(Wheel("sees", "1.0", requires=["opencv-python"]))

    def names(self):
        return sorted(self.installed())

    def test_the_conflict_names_the_option(self):
        result = self.install("albumentations", "sees", index=self.index)
        self.assert_fails(result, 1, "both install cv2", "--overwrite")
        self.assert_fails(self.install("opencv-python", "opencv-python-headless", index=self.index), 1, "--overwrite")

    def test_both_are_installed_and_what_the_user_names_is_imported(self):
        self.overwrite("albumentations", "opencv-python")
        self.assertEqual(self.names(), ["albumentations", "opencv-python", "opencv-python-headless"])
        self.assertEqual(self.python("import cv2; print(cv2.NAME)"), "opencv-python")
        self.assert_ok(self.pip("check"))
        self.assert_ok(self.uv("pip", "check", "--python", self.venv))
        self.assert_ok(self.variant("check", "--deep", "--python", self.venv))
        same = self.assert_ok(self.install("albumentations", "opencv-python", index=self.index))
        self.assertEqual(self.names(), ["albumentations", "opencv-python", "opencv-python-headless"], str(same))

    def test_one_after_the_other(self):
        self.assert_ok(self.install("albumentations", index=self.index))
        self.assert_fails(self.install("opencv-python", index=self.index), 1, "--overwrite")
        self.overwrite("opencv-python")
        self.assertEqual(self.names(), ["albumentations", "opencv-python", "opencv-python-headless"])
        self.assertEqual(self.python("import cv2; print(cv2.NAME)"), "opencv-python")
        self.assert_ok(self.variant("uninstall", "opencv-python-headless", "--python", self.venv))
        self.assertEqual(self.python("import cv2; print(cv2.NAME)"), "opencv-python")


if __name__ == "__main__":
    unittest.main()
