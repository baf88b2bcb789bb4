"""`variant undo` brings back what was there before the last change: the packages by their wheels, in one transaction, or nothing."""

import os
import pathlib
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import BIN, Index, TestCase, Wheel, publish_levels, tree


class UndoTestCase(TestCase):
    def setUp(self):
        super().setUp()
        self.make_venv()
        self.cache = self.root / "cache"
        self.env["AXLE_CACHE_DIR"] = str(self.cache)
        self.env["PYTHONDONTWRITEBYTECODE"] = "1"
        self.index = Index(self.root / "index")
        for version in ("1.0", "2.0"):
            self.index.add_wheel(Wheel("demo", version, requires=["needs"], files={
                "demo/__init__.py": f"VERSION = {version!r}\n", f"demo/v{version[0]}.py": "",
                f"demo-{version}.dist-info/entry_points.txt": "[console_scripts]\ndemo = demo:main\n"}))
        self.index.add_wheel(Wheel("needs", "1.0"))
        self.index.add_wheel(Wheel("other", "1.0"))

    def state(self):
        return {path: digest for path, digest in tree(self.venv).items() if not path.startswith(".axle/")}

    def do(self, *arguments):
        return self.assert_ok(self.install(*arguments, index=self.index))

    def undo(self, *arguments, **options):
        return self.variant("undo", *arguments, "--python", self.venv, **options)

    def uninstall(self, *names):
        return self.assert_ok(self.variant("uninstall", *names, "--python", self.venv))

    def changes(self, result):
        return ([f"{one['name']} {one['version']}" for one in result.json["installed"]],
                [f"{one['name']} {one['version']}" for one in result.json["removed"]])


class Undo(UndoTestCase):
    def test_an_upgrade(self):
        self.do("demo==1.0")
        before = self.state()
        self.do("demo==2.0")
        after = self.state()
        planned = self.assert_ok(self.undo("--dry-run", "--json"))
        self.assertEqual(self.changes(planned), (["demo 1.0"], ["demo 2.0"]))
        self.assertEqual(self.state(), after)
        result = self.assert_ok(self.undo("--json"))
        self.assertEqual(self.changes(result), (["demo 1.0"], ["demo 2.0"]))
        self.assertEqual(result.json["change"], "remove demo 1.0, install demo 2.0")
        self.assertEqual(self.state(), before)
        self.assert_ok(self.variant("check", "--deep", "--python", self.venv))

    def test_a_removal(self):
        self.do("demo==1.0", "other")
        before = self.state()
        self.uninstall("demo", "needs")
        text = self.assert_ok(self.undo()).out
        self.assertIn("+ demo 1.0", text)
        self.assertEqual(self.state(), before)

    def test_an_installation_with_what_it_brought(self):
        before = self.state()
        self.do("demo")
        self.assertEqual(self.changes(self.assert_ok(self.undo("--json"))), ([], ["demo 2.0", "needs 1.0"]))
        self.assertEqual(self.state(), before)

    def test_again_is_one_change_further_back_and_redo_comes_forward(self):
        states = [self.state()]
        for words in (["other"], ["demo==1.0"], ["demo==2.0"]):
            self.do(*words)
            states.append(self.state())
        for state in reversed(states[:-1]):
            self.assert_ok(self.undo())
            self.assertEqual(self.state(), state)
        self.assert_fails(self.undo(), 1, "no change", "can be undone")
        for state in states[1:]:
            self.assert_ok(self.undo("--redo"))
            self.assertEqual(self.state(), state)
        self.assert_fails(self.undo("--redo"), 1, "can be made again")
        self.assert_ok(self.undo())
        self.uninstall("other")
        self.assert_fails(self.undo("--redo"), 1, "can be made again")

    def test_what_is_installed_again_as_it_was_is_no_change(self):
        self.do("other")
        self.do("--reinstall", "other")
        self.assert_ok(self.undo())
        self.assertEqual(self.installed(), {})

    def test_a_variant_comes_back_as_it_was(self):
        publish_levels(self.index, "leveled", labels=("v1", "v2"))
        self.do("leveled", "--variant", "leveled=v1")
        before = self.state()
        self.do("leveled", "--variant", "leveled=v2", "--reinstall")
        self.assertEqual(self.installed()["leveled"], ("1.0", "v2"))
        self.assert_ok(self.undo())
        self.assertEqual(self.installed()["leveled"], ("1.0", "v1"))
        self.assertEqual(self.state(), before)

    def test_a_swap_of_distributions_of_one_group(self):
        for name in ("onnxruntime", "onnxruntime-gpu"):
            self.index.add_wheel(Wheel(name, "1.23.0", files={"onnxruntime/__init__.py": f"NAME = {name!r}\n"}))
        self.do("onnxruntime-gpu")
        before = self.state()
        self.do("onnxruntime", "--allow-backend-change")
        self.assert_ok(self.undo())
        self.assertEqual(self.state(), before)

    def test_what_overwrote_files_of_another_one(self):
        for name in ("first", "second"):
            self.index.add_wheel(Wheel(name, "1.0", files={"both.py": f"OWNER = {name!r}\n"}))
        self.do("first")
        before = self.state()
        self.do("second", "--overwrite")
        self.assertEqual(self.python("import both; print(both.OWNER)"), "second")
        self.assert_ok(self.undo())
        self.assertEqual(self.state(), before)
        self.assert_ok(self.variant("check", "--deep", "--python", self.venv))

    def publish_pair(self):
        for name in ("first", "second"):
            for version in ("1.0", "2.0"):
                self.index.add_wheel(Wheel(name, version, files={"both.py": f"OWNER = {name + version!r}\n", f"{name}.py": ""}))

    def test_an_overwriting_is_undone_and_made_again_without_a_new_consent(self):
        self.publish_pair()
        self.do("first==1.0")
        before = self.state()
        self.do("second==1.0", "--overwrite")
        after = self.state()
        for _ in range(2):
            self.assert_ok(self.undo())
            self.assertEqual(self.state(), before)
            self.assert_ok(self.undo("--redo"))
            self.assertEqual(self.state(), after)
        self.assert_ok(self.undo())
        self.assertEqual(self.state(), before)

    def test_each_step_back_over_files_of_two_packages(self):
        self.publish_pair()
        states = [self.state()]
        for words in (["first==1.0"], ["second==1.0", "--overwrite"], ["first==2.0"], ["second==2.0"]):
            self.do(*words)
            states.append(self.state())
        self.uninstall("second")
        for state in reversed(states):
            self.assert_ok(self.undo())
            self.assertEqual(self.state(), state)

    def test_whose_a_file_was_does_not_depend_on_the_order(self):
        self.publish_pair()
        self.do("first==1.0")
        self.do("second==1.0", "--overwrite")
        for names in (["first"], ["second", "first"]):
            with self.subTest(names):
                before = self.state()
                self.uninstall(*names)
                self.assert_ok(self.undo())
                self.assertEqual(self.state(), before)
                self.assertEqual(self.python("import both; print(both.OWNER)"), "second1.0")
        self.do("second==1.0", "first==1.0", "--overwrite", "--reinstall")

    def test_a_wheel_from_a_path(self):
        wheel = Wheel("local", "1.0").write(self.root / "wheels")
        self.assert_ok(self.install(wheel))
        before = self.state()
        self.uninstall("local")
        wheel.unlink()
        self.assert_ok(self.undo())
        self.assertEqual(self.state(), before)

    def test_nothing_is_recorded_for_a_dry_run_or_a_failure(self):
        self.do("other")
        self.do("demo", "--dry-run")
        self.assert_fails(self.install("missing", index=self.index), 1)
        self.assertEqual(self.changes(self.assert_ok(self.undo("--json"))), ([], ["other 1.0"]))

    def test_an_environment_without_changes(self):
        self.assert_fails(self.undo(), 1, "no change", "Axle records the changes that it makes itself")
        self.assertFalse((self.venv / ".axle/history").exists())

    def test_only_the_last_twenty_are_kept(self):
        for number in range(22):
            self.do("other") if number % 2 == 0 else self.uninstall("other")
        for _ in range(20):
            self.assert_ok(self.undo())
        self.assert_fails(self.undo(), 1, "no change")


class Wheels(UndoTestCase):
    """The store no longer has them."""

    def test_they_come_from_where_they_came_from(self):
        self.do("demo==1.0")
        before = self.state()
        self.do("demo==2.0")
        self.assert_ok(self.variant("cache", "clean"))
        self.assert_ok(self.undo())
        self.assertEqual(self.state(), before)

    def test_what_is_nowhere_is_an_error_and_nothing_is_half_done(self):
        self.do("demo==1.0")
        self.do("demo==2.0", "other")
        after = self.state()
        self.assert_ok(self.variant("cache", "clean"))
        shutil.rmtree(self.index.folder)
        self.assert_fails(self.undo(), 1, "demo-1.0-py3-none-any.whl")
        self.assertEqual(self.state(), after)

    def test_other_bytes_under_the_same_name_are_refused(self):
        self.do("demo==1.0")
        self.do("demo==2.0")
        after = self.state()
        self.assert_ok(self.variant("cache", "clean"))
        (self.index.folder / "demo/demo-1.0-py3-none-any.whl").write_bytes(Wheel("demo", "1.0", files={"evil.py": ""}).bytes())
        self.assert_fails(self.undo(), 1, "sha256")
        self.assertEqual(self.state(), after)


class Bundled(UndoTestCase):
    """The store no longer has them, a bundle does."""

    def setUp(self):
        super().setUp()
        self.out = self.root / "needs.zip"

    def bundle(self, *words):
        self.assert_ok(self.variant("bundle", *words, "--index-url", self.index.url, "--out", self.out, "--python", self.venv))

    def lose(self):
        self.assert_ok(self.variant("cache", "clean"))
        shutil.rmtree(self.index.folder)

    def test_they_come_out_of_it_and_are_as_they_were(self):
        self.do("demo==1.0")
        before = self.state()
        self.uninstall("demo", "needs")
        self.bundle("demo==1.0")
        self.lose()
        self.assert_fails(self.undo(), 1, "where they came from")
        planned = self.assert_ok(self.undo("--bundle", self.out, "--dry-run", "--json"))
        self.assertEqual(self.changes(planned), (["demo 1.0", "needs 1.0"], []))
        self.assert_ok(self.undo("--bundle", self.out))
        self.assertEqual(self.state(), before)
        self.assertNotIn(b"bundle:", (self.venv / ".axle/history").read_bytes())
        self.assert_ok(self.variant("check", "--deep", "--python", self.venv))
        self.assert_ok(self.undo("--redo"))
        self.assertEqual(self.installed(), {})

    def test_a_wheel_from_a_path_keeps_its_place(self):
        wheel = Wheel("local", "1.0").write(self.root / "wheels")
        self.assert_ok(self.install(wheel))
        before = self.state()
        self.uninstall("local")
        self.index.add_wheel(Wheel("local", "1.0"))
        self.bundle("local")
        self.lose()
        wheel.unlink()
        self.assert_ok(self.undo("--bundle", self.out))
        self.assertEqual(self.state(), before)

    def test_what_it_lacks_is_an_error_and_nothing_is_asked_elsewhere(self):
        self.do("demo==1.0")
        self.do("demo==2.0")
        after = self.state()
        self.bundle("other")
        self.assert_ok(self.variant("cache", "clean"))
        self.assert_fails(self.undo("--bundle", self.out), 1, "demo-1.0-py3-none-any.whl", "the store or the bundle")
        self.assertEqual(self.state(), after)

    def test_a_damaged_one_is_refused_before_anything_else(self):
        self.do("demo==1.0")
        self.uninstall("demo")
        after = self.state()
        self.bundle("demo==1.0")
        self.out.write_bytes(self.out.read_bytes()[:-40])
        self.assert_fails(self.undo("--bundle", self.out), 1, str(self.out))
        self.assertEqual(self.state(), after)


class Others(UndoTestCase):
    """What pip, uv and the user did in between."""

    def setUp(self):
        super().setUp()
        self.wheels = {version: self.index.folder / f"demo/demo-{version}-py3-none-any.whl" for version in ("1.0", "2.0")}

    def test_what_pip_changed_since_is_left(self):
        self.do("demo==1.0")
        self.do("demo==2.0")
        self.assert_ok(self.pip("install", "--no-index", "--no-deps", "--force-reinstall", self.wheels["2.0"]))
        after = self.state()
        self.assert_fails(self.undo(), 1, "cannot undo", "demo 2.0 was changed or installed again since", "nothing was changed")
        self.assertEqual(self.state(), after)

    def test_what_is_gone_and_what_came(self):
        self.do("demo==1.0")
        self.assert_ok(self.pip("uninstall", "-y", "demo"))
        self.assert_fails(self.undo(), 1, "demo 1.0 was removed since")
        self.do("other")
        self.uninstall("other")
        self.assert_ok(self.pip("install", "--no-index", self.index.folder / "other/other-1.0-py3-none-any.whl"))
        self.assert_fails(self.undo(), 1, "other was installed since")

    def test_a_package_of_pip_that_was_replaced_is_not_ours_to_restore(self):
        self.assert_ok(self.pip("install", "--no-index", "--no-deps", self.wheels["1.0"]))
        self.do("demo==2.0")
        after = self.state()
        self.assert_fails(self.undo(), 1, "Axle did not install demo==1.0", "variant install --no-deps demo==1.0")
        self.assertEqual(self.state(), after)

    def test_other_packages_do_not_matter(self):
        self.do("demo==1.0")
        self.do("demo==2.0")
        self.assert_ok(self.pip("install", "--no-index", self.index.folder / "other/other-1.0-py3-none-any.whl"))
        self.assert_ok(self.undo())
        self.assertEqual(sorted(self.installed()), ["demo", "needs", "other"])
        self.assertEqual(self.installed()["demo"][0], "1.0")

    def test_an_edited_file_is_not_lost(self):
        self.do("demo==1.0")
        self.do("demo==2.0")
        path = self.site() / "demo/__init__.py"
        path.write_text("mine, and longer than before\n")
        self.assert_fails(self.undo(), 1, "demo/__init__.py of demo 2.0 was edited", "nothing was changed")
        self.assertEqual(path.read_text(), "mine, and longer than before\n")

    def test_a_file_in_the_way_is_refused(self):
        self.do("demo==1.0")
        self.uninstall("demo")
        (self.site() / "demo").mkdir()
        (self.site() / "demo/__init__.py").write_text("mine\n")
        self.assert_fails(self.undo(), 1, "no package owns", "--overwrite")
        self.assertEqual((self.site() / "demo/__init__.py").read_text(), "mine\n")
        self.assert_ok(self.undo("--overwrite"))
        self.assertEqual(self.installed()["demo"][0], "1.0")

    def test_the_neighbours_work_afterwards(self):
        self.do("demo==1.0")
        self.do("demo==2.0")
        self.assert_ok(self.undo())
        self.assert_neighbours_work()


class Record(UndoTestCase):
    def test_one_that_is_damaged_is_told_and_begins_anew(self):
        self.do("demo==1.0")
        history = self.venv / ".axle/history"
        history.write_bytes(history.read_bytes()[:-10])
        self.assert_fails(self.undo(), 1, "history", "nothing was changed")
        result = self.do("demo==2.0")
        self.assertIn("`variant undo` begins anew", result.err)
        self.assert_fails(self.undo(), 1, "Axle did not install demo==1.0")
        self.do("other")
        self.assert_ok(self.undo())

    def test_one_of_a_later_version_is_left_alone(self):
        self.do("demo==1.0")
        history = self.venv / ".axle/history"
        text = history.read_bytes().replace(b"axle-history 1", b"axle-history 9")
        history.write_bytes(text)
        self.assert_fails(self.undo(), 1, "history")
        self.assertIn("not recorded for `variant undo`", self.do("demo==2.0").err)
        self.assertEqual(history.read_bytes(), text)


class Killed(UndoTestCase):
    """At every call that changes a file: the environment and its record are the old or the new ones, and `undo` goes on from there."""

    def test_at_every_call(self):
        shim = BIN / "libfault_shim.so"
        if not shim.exists():
            self.skipTest("libfault_shim.so is not built")
        self.need_program_as_shipped()
        self.do("demo==1.0")
        before = self.state()
        self.do("demo==2.0")
        after = self.state()
        kept = self.root / "kept"
        subprocess.run(["cp", "-a", self.venv, kept], check=True)
        step = {"full": 1}.get(os.environ.get("AXLE_SOAK"), 7)
        killed = 0
        for at in range(1, 4000, step):
            shutil.rmtree(self.venv)
            subprocess.run(["cp", "-a", kept, self.venv], check=True)
            done = self.undo(env={"LD_PRELOAD": str(shim), "AXLE_FAULT_AT": str(at), "AXLE_FAULT_ACTION": "kill"})
            if done.code == 0:
                break
            killed += 1
            listed = self.installed()["demo"][0]
            self.assertEqual(self.state(), before if listed == "1.0" else after, at)
            following = self.undo()
            if listed == "1.0":  # the installation of 1.0 is the last change now
                self.assert_ok(following)
                self.assertEqual(self.installed(), {}, at)
            else:
                self.assert_ok(following)
                self.assertEqual(self.state(), before, at)
            self.assertEqual(sorted(one.name for one in (self.venv / ".axle").iterdir() if one.name != "unflushed"), ["history", "lock"])
        self.assertGreater(killed, 3)


if __name__ == "__main__":
    unittest.main()
