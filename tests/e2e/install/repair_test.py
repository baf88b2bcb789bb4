"""What pip, uv and people do to an environment while a command of Axle on it lies killed stays as they left it."""

import json
import pathlib
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import BIN, TestCase, Wheel, tree


class Interrupted(TestCase):
    """alpha 1.0 and beta are installed, the upgrade of alpha to 2.0 is killed."""

    points = []  # the same for every test

    def setUp(self):
        super().setUp()
        if not (BIN / "libfault_shim.so").exists():
            self.skipTest("the shim that kills is not built (./dev build)")
        self.make_venv()
        self.dist = self.root / "dist"
        for version, part in [("1.0", "older"), ("2.0", "newer"), ("3.0", "newest")]:
            Wheel("alpha", version, files={
                "alpha/__init__.py": f"VERSION = {version!r}\n", f"alpha/{part}.py": f"part = {version!r}\n",
                "alpha/deep/same.py": "", "alpha_single.py": f"VERSION = {version!r}\n",
                "shared/alpha.py": f"VERSION = {version!r}\n"}).write(self.dist)
        Wheel("beta", "1.0", files={"shared/beta.py": "VERSION = '1.0'\n", "beta.py": ""}).write(self.dist)
        Wheel("gamma", "1.0", files={"alpha/gamma.py": "VERSION = '1.0'\n"}).write(self.dist)
        self.assert_ok(self.axle("alpha==2.0"))  # for the store
        self.assert_ok(self.axle("alpha==1.0", "beta"))
        self.old = self.state()
        self.kept = self.root / "kept"
        shutil.copytree(self.venv, self.kept, symlinks=True)

    def axle(self, *requirements, **options):
        return self.install(*requirements, "--no-index", "--find-links", self.dist, **options)

    def state(self):
        return {path: sum_ for path, sum_ in tree(self.venv).items() if not path.startswith(".axle/")}

    def set_back(self):
        shutil.rmtree(self.venv)
        shutil.copytree(self.kept, self.venv, symlinks=True)
        # What is remembered of the interpreter is written now: later it would move the calls that are counted.
        self.assert_ok(self.variant("list", "--python", self.venv))

    def kill(self, at):
        """False: the upgrade was done before."""
        shim = {"LD_PRELOAD": str(BIN / "libfault_shim.so"), "AXLE_FAULT_AT": str(at), "AXLE_FAULT_ACTION": "kill"}
        return self.axle("alpha==2.0", env=shim).code == -9

    def kill_points(self):
        """A call of each class: before it the environment looks as after no other, and the upgrade was committed."""
        self.need_program_as_shipped()
        if Interrupted.points:
            return Interrupted.points
        seen, points = set(), []
        for at in range(1, 500):
            self.set_back()
            if not self.kill(at):
                break
            state = tuple(sorted(self.state().items()))
            if (self.venv / ".axle/transaction/journal").exists() and state not in seen:
                seen.add(state)
                points.append(at)
        self.assertGreater(len(points), 5)
        Interrupted.points = points
        return points

    def at(self, point):
        """False: this time the kill came before or after what the journal covers."""
        self.set_back()
        self.assertTrue(self.kill(point))
        return (self.venv / ".axle/transaction/journal").exists()

    def assert_settled(self):
        self.assertEqual(sorted(one.name for one in (self.venv / ".axle").iterdir()), ["history", "lock", "unflushed"])

    def versions(self):
        return {name: version for name, (version, _) in self.installed().items()}

    def seen_by_python(self):
        code = "import importlib.metadata as m, json; print(json.dumps({d.name: d.version for d in m.distributions()}))"
        return json.loads(self.python(code))


class Repairs(Interrupted):
    def repair(self, tool, version):
        wheel = f"alpha=={version}"
        if tool == "pip":
            return self.assert_ok(self.pip("install", "--no-index", "--find-links", self.dist, "--force-reinstall", wheel))
        return self.assert_ok(self.uv("pip", "install", "--python", self.venv, "--no-index", "--find-links", self.dist,
                                      "--reinstall-package", "alpha", wheel))

    def stays_as_repaired(self, tool):
        for turn, point in enumerate(self.kill_points()):
            version = ["1.0", "2.0", "3.0"][turn % 3]
            with self.subTest(point=point, version=version):
                if not self.at(point):
                    continue
                self.repair(tool, version)
                repaired = self.state()
                listed = self.assert_ok(self.variant("list", "--python", self.venv))
                self.assertEqual(self.state(), repaired)
                self.assertIn("alpha: changed by another program", listed.err)
                self.assert_settled()
                self.assertEqual(self.versions(), {"alpha": version, "beta": "1.0"})
                self.assertEqual(self.seen_by_python(), {"alpha": version, "beta": "1.0"})
                self.assertEqual(self.python("import alpha, alpha_single, shared.alpha as s, shared.beta as b;"
                                             "print(alpha.VERSION, alpha_single.VERSION, s.VERSION, b.VERSION)"),
                                 f"{version} {version} {version} 1.0")
                self.assert_ok(self.pip("check"))
                quiet = self.assert_ok(self.variant("list", "--python", self.venv))
                self.assertEqual(quiet.err, "")

    def test_what_pip_repaired_stays_at_every_kind_of_kill(self):
        self.stays_as_repaired("pip")

    def test_what_uv_repaired_stays_at_every_kind_of_kill(self):
        self.stays_as_repaired("uv")

    def test_an_uninstallation_by_pip_stays(self):
        points = self.kill_points()
        for point in (points[0], points[-1]):
            self.at(point)
            if "alpha" not in self.seen_by_python():
                continue
            self.assert_ok(self.pip("uninstall", "--yes", "alpha"))
            removed = self.state()
            self.assert_ok(self.variant("list", "--python", self.venv))
            self.assertEqual(self.state(), removed)
            self.assertEqual(self.versions(), {"beta": "1.0"})
            self.assert_settled()

    def test_without_anybody_between_it_is_finished(self):
        for point in self.kill_points():
            if not self.at(point):
                continue
            # Python writes byte code, which is nobody's change.
            subprocess.run([self.venv / "bin/python", "-c", "import alpha_single, shared.alpha"], capture_output=True)
            listed = self.assert_ok(self.variant("list", "--python", self.venv))
            self.assertIn("completed an interrupted command", listed.err)
            self.assertEqual(self.versions(), {"alpha": "2.0", "beta": "1.0"})
            self.assert_settled()


class Edits(Interrupted):
    def test_an_edited_file_that_was_to_leave_stays(self):
        edited = 0
        for point in self.kill_points():
            if not self.at(point):
                continue
            module = self.site() / "alpha/__init__.py"
            if not module.exists() or "1.0" not in module.read_text():
                continue
            module.write_text("VERSION = '1.0'  # mine\n")
            edited += 1
            listed = self.assert_ok(self.variant("list", "--python", self.venv))
            self.assertIn("rolled back an interrupted command", listed.err)
            self.assertEqual(module.read_text(), "VERSION = '1.0'  # mine\n")
            name = str(module.relative_to(self.venv))
            self.assertEqual({**self.state(), name: self.old[name]}, self.old)
            self.assert_settled()
        self.assertGreater(edited, 0)

    def test_another_package_that_came_into_a_folder_of_it_stays_whole(self):
        for point in self.kill_points():
            with self.subTest(point=point):
                self.at(point)
                self.assert_ok(self.pip("install", "--no-index", "--find-links", self.dist, "gamma"))
                self.assert_ok(self.variant("list", "--python", self.venv))
                self.assert_settled()
                found = self.versions()
                self.assertEqual(found.pop("gamma"), "1.0")
                self.assertIn(found, [{"alpha": "1.0", "beta": "1.0"}, {"alpha": "2.0", "beta": "1.0"}])
                self.assertEqual(self.python("import alpha, alpha.gamma, shared.alpha; print(shared.alpha.VERSION)"),
                                 found["alpha"])


class DamagedJournal(Interrupted):
    readers = (["list"], ["freeze"], ["check"], ["show", "beta"], ["resolve", "beta", "--no-index"], ["doctor"])

    def damages(self, journal):
        whole = journal.read_bytes()
        yield "cut", whole[: len(whole) // 2]
        yield "garbage", b"\0\xff" * 300
        yield "another version", whole.replace(b"axle-journal 2", b"axle-journal 9", 1)
        yield "empty", b""
        yield "a path out of it", whole.replace(b"shared", b"../../", 1)

    def test_it_stops_no_reader_and_tells_changers_how_to_go_on(self):
        point = self.kill_points()[3]
        self.assertTrue(self.at(point))
        journal = self.venv / ".axle/transaction/journal"
        for what, content in list(self.damages(journal)):
            with self.subTest(what):
                self.at(point)
                journal.write_bytes(content)
                before = self.state()
                healthy = {"list": 0, "freeze": 0, "show": 0, "resolve": 0}
                for reader in self.readers:
                    options = ["--find-links", self.dist] if reader[0] == "resolve" else []
                    result = self.variant(*reader, *options, "--python", self.venv)
                    if reader[0] != "resolve":  # looks at no installed package
                        self.assertIn("journal", result.err + result.out, str(result))
                    self.assertEqual(result.code, healthy.get(reader[0], result.code), str(result))
                    self.assertNotIn("error:", result.err, str(result))
                for changer in (self.axle("alpha==2.0", "--overwrite"),
                                self.variant("uninstall", "beta", "--python", self.venv)):
                    self.assert_fails(changer, 1, f"rm -r '{self.venv}/.axle/transaction'")
                self.assertEqual(self.state(), before)
                shutil.rmtree(self.venv / ".axle/transaction")
                self.assert_ok(self.axle("alpha==2.0", "--overwrite"))
                self.assertEqual(self.versions(), {"alpha": "2.0", "beta": "1.0"})
                self.assertEqual(self.python("import alpha, shared.alpha; print(alpha.VERSION, shared.alpha.VERSION)"),
                                 "2.0 2.0")


if __name__ == "__main__":
    unittest.main()
