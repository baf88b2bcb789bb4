"""An environment and a cache on NFS, as the fault shim plays it: exclusive locks need a file that is open for writing, those of folders
are not seen by other hosts, nothing can be cloned, open files that are removed stay, or there are no locks at all."""

import os
import pathlib
import shutil
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from loopback import Loopback
from support import BIN, Index, TestCase, Wheel

DAY = 86400


class OnNfs(TestCase):
    def setUp(self):
        super().setUp()
        self.need_program_as_shipped()
        if not (BIN / "libfault_shim.so").exists():
            self.skipTest("the fault shim was not built (sanitizer builds have none)")
        self.cache = self.root / "cache"
        self.env["AXLE_CACHE_DIR"] = str(self.cache)
        self.make_venv()
        self.index = Index(self.root / "index")
        for version in ("1.0", "2.0"):
            self.index.add_wheel(Wheel("demo", version, files={"demo/__init__.py": f"V = {version!r}\n", f"demo/v{version[0]}.py": ""}))

    def nfs(self, locks="yes", below=None):
        return {"LD_PRELOAD": str(BIN / "libfault_shim.so"), "AXLE_FAULT_NFS": locks} | ({"AXLE_FAULT_NFS_BELOW": str(below)} if below else {})

    def do(self, *words, env=None):
        source = ["-i", self.index.url] if words[0] == "install" else []
        return self.variant(*words, *source, "--python", self.venv, env=env or self.nfs())


class WithLocks(OnNfs):
    def test_changes_are_made(self):
        for words, version in ((["install", "demo==1.0", "--compile-bytecode"], "1.0"), (["install", "-U", "demo"], "2.0"), (["undo"], "1.0"),
                               (["undo", "--redo"], "2.0"), (["install", "--reinstall", "demo"], "2.0")):
            with self.subTest(words):
                self.assert_ok(self.do(*words))
                self.assertEqual(self.installed(), {"demo": (version, None)})
                self.assert_ok(self.do("check", "--deep"))
        self.assert_ok(self.do("uninstall", "demo"))
        self.assertEqual(self.installed(), {})

    def test_a_cache_is_cleaned(self):
        self.assert_ok(self.do("install", "demo"))
        for verb in ("info", "verify", "prune", "clean"):
            self.assert_ok(self.variant("cache", verb, env=self.nfs()))
        self.assertEqual(list(self.cache.glob("store/wheels/*")), [])

    def test_clones_are_refused_with_a_word(self):
        self.assert_fails(self.do("install", "demo", "--link-mode", "reflink"), 1, "does not clone files", "--link-mode copy")

    def test_another_host_keeps_its_work(self):
        """Its lock is not seen here: what it works in is taken for abandoned only after a week."""
        (self.cache / "store").mkdir(parents=True, mode=0o700)
        self.cache.chmod(0o700)
        places = {name: self.cache / f"store/work-{name}" for name in ("other1", "older1")}
        for place in places.values():
            (place / "entry").mkdir(parents=True)
        os.utime(places["older1"], (time.time() - 8 * DAY,) * 2)
        self.assert_ok(self.do("install", "demo"))
        self.assertEqual([name for name, place in places.items() if place.exists()], ["other1"])
        shutil.rmtree(self.venv)
        self.make_venv()
        shutil.rmtree(self.cache / "store/wheels")
        self.assert_ok(self.do("install", "demo", env={"AXLE": "elsewhere"}))  # elsewhere a lock says all
        self.assertFalse(places["other1"].exists())

    def test_drafts_that_nobody_writes_are_removed(self):
        server = Loopback(self)
        server.publish("/simple", Wheel("demo", "1.0"))
        self.assert_ok(self.variant("resolve", "demo", "-i", server.url("/simple"), "--python", self.venv))
        draft = self.cache / "http-2/drafts/left.abc123"
        draft.write_text("half")
        self.assert_ok(self.variant("resolve", "demo", "-i", server.url("/simple"), "--refresh", "--python", self.venv, env=self.nfs()))
        self.assertFalse(draft.exists())


class WithoutLocks(OnNfs):
    def test_an_environment_can_be_read_and_is_not_changed(self):
        self.assert_ok(self.do("install", "demo==1.0", env={"AXLE": "elsewhere"}))
        for locks in ("ENOLCK", "ENOSYS", "EOPNOTSUPP"):
            with self.subTest(locks):
                env = self.nfs(locks, self.venv)
                for words in (["list"], ["check"], ["show", "demo"], ["freeze"]):
                    self.assert_ok(self.do(*words, env=env))
                for words in (["install", "-U", "demo"], ["uninstall", "demo"], ["undo"]):
                    self.assert_fails(self.do(*words, env=env), 1, "cannot lock", str(self.venv), "without locks two commands could change", "--python")
                self.assertEqual(self.installed(), {"demo": ("1.0", None)})

    def test_a_cache_is_used_and_nothing_is_removed_from_it(self):
        for locks in ("ENOLCK", "ENOSYS", "EOPNOTSUPP"):
            with self.subTest(locks):
                env = self.nfs(locks, self.cache)
                self.assert_ok(self.do("install", "demo==1.0", "--compile-bytecode", env=env))
                self.assert_ok(self.do("install", "-U", "demo", env=env))
                self.assertEqual(self.installed(), {"demo": ("2.0", None)})
                self.assertEqual(list(self.cache.glob("store/work-*")), [])
                for verb in ("info", "verify"):
                    self.assert_ok(self.variant("cache", verb, env=env))
                self.assert_fails(self.variant("cache", "clean", env=env), 1, "cannot lock", "nothing was removed")
                self.assert_ok(self.variant("cache", "clean"))


if __name__ == "__main__":
    unittest.main()
