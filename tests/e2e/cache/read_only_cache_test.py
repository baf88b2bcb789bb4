"""A cache that cannot be written: what is in it is used, what is not is fetched and not kept, and one line says so."""

import os
import pathlib
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from loopback import Loopback
from support import BIN, VARIANT, TestCase, Wheel, tree

NOBODY = 65534


class Caches(TestCase):
    def setUp(self):
        super().setUp()
        self.cache = self.root / "cache"
        self.env |= {"AXLE_CACHE_DIR": str(self.cache), "TMPDIR": str(self.root / "tmp")}
        (self.root / "tmp").mkdir()
        self.server = Loopback(self)
        self.server.publish("/simple", *(Wheel(name, "1.0", files={f"{name}.py": "x = 1\n"}) for name in ("demo", "other")))
        self.make_venv()
        self.prepare()
        self.assert_ok(self.get("demo", "--compile-bytecode", prefix=self.as_user))
        self.kept = self.content()

    as_user = ()

    def content(self):
        """What the tests' own commands keep aside: the interpreter's answer and what an environment has."""
        return {path: digest for path, digest in tree(self.cache).items() if not path.startswith(("interpreters/", "installed/"))}

    def get(self, *words, **options):
        """Into a new environment."""
        shutil.rmtree(self.venv, ignore_errors=True)
        self.make_venv()
        self.prepare()
        return self.add(*words, **options)

    def add(self, *words, prefix=(), **options):
        return self.variant("install", *words, "-i", self.server.url("/simple"), "--python", self.venv, prefix=prefix, **options)

    def prepare(self):
        """What a new environment needs besides."""

    def wheels_asked(self):
        return {path.rpartition("/")[2].split("-")[0] for path in self.server.asked(".whl")}


class ReadOnly:
    """Of a reason why it cannot be written: `word` is the system's."""

    def read_only(self, *words):
        return self.get(*words, prefix=self.prefix)

    def test_what_is_there_is_installed_from_there(self):
        self.server.seen.clear()
        result = self.assert_ok(self.read_only("demo", "--compile-bytecode"))
        self.assertEqual(self.wheels_asked(), set())
        self.assertIn(f"the cache {self.cache} cannot be written ({self.word}): nothing new is kept in it", result.err)
        self.assertEqual(result.err.count("nothing new is kept"), 1, result.err)
        self.assertEqual(len(list(self.site().glob("__pycache__/demo*.pyc"))), 1)
        self.assert_ok(self.variant("check", "--deep", "--python", self.venv))
        self.assertEqual(self.content(), self.kept)
        self.assertEqual(list((self.root / "tmp").iterdir()), [])

    def test_what_is_not_there_is_fetched_and_not_kept(self):
        for turn in range(2):
            self.server.seen.clear()
            self.assert_ok(self.read_only("demo", "other", "--compile-bytecode"))
            self.assertEqual(self.wheels_asked(), {"other"})
            self.assertEqual(self.installed(), {"demo": ("1.0", None), "other": ("1.0", None)})
        self.assertEqual(self.content(), self.kept)
        self.assertEqual(list((self.root / "tmp").iterdir()), [])

    def test_a_damaged_copy_is_not_used_and_fetched(self):
        [module] = self.cache.glob("store/wheels/*/tree/demo.py")
        module.write_text("x = 'damaged'\n")
        self.assertIn("was changed in the store", self.assert_ok(self.read_only("demo")).err)
        self.assertEqual((self.site() / "demo.py").read_text(), "x = 1\n")

    def test_undo_takes_the_wheel_from_there(self):
        self.assert_ok(self.read_only("demo"))
        self.assert_ok(self.variant("uninstall", "demo", "--python", self.venv, prefix=self.prefix))
        self.server.seen.clear()
        self.assert_ok(self.variant("undo", "--python", self.venv, prefix=self.prefix))
        self.assertEqual(self.wheels_asked(), set())
        self.assertEqual(self.installed(), {"demo": ("1.0", None)})

    def test_symbolic_links_into_it_are_refused(self):
        self.assert_fails(self.read_only("demo", "--link-mode", "symlink"), 2, "needs a cache", "a cache that can be written with --cache-dir")

    def test_commands_that_only_read_say_nothing_and_those_that_remove_fail(self):
        for words in (["list"], ["show", "demo"], ["check"], ["cache", "info"], ["cache", "verify"]):
            where = [] if words[0] == "cache" else ["--python", self.venv]
            result = self.assert_ok(self.variant(*words, *where, prefix=self.prefix))
            self.assertEqual(result.err, "", words)
        self.assert_fails(self.variant("cache", "clean", prefix=self.prefix), 1, self.word)
        self.assertEqual(self.content(), self.kept)


class Mounted(ReadOnly, Caches):
    """EROFS, which binds root too."""

    word = "Read-only file system"

    def setUp(self):
        super().setUp()
        script = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'
        ways = (["unshare", "-m"], ["unshare", "-Urm"])
        self.prefix = next((whole for way in ways
                            if subprocess.run((whole := [*way, "sh", "-c", script, str(self.cache)]) + ["true"], capture_output=True).returncode == 0),
                           None)
        if self.prefix is None:
            self.skipTest("nothing can be mounted here, not even in a namespace of its own")


class Forbidden(ReadOnly, Caches):
    """EACCES, which root is never told: the program runs as another user then."""

    word = "Permission denied"

    def setUp(self):
        if os.geteuid() == 0:
            self.as_user = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
            if subprocess.run([*self.as_user, str(VARIANT), "--version"], capture_output=True).returncode != 0:
                self.skipTest(f"another user cannot start {VARIANT}")
        super().setUp()
        self.prefix = self.as_user
        for place in [self.cache, *self.cache.rglob("*")]:
            if place.is_dir():
                place.chmod(0o555)
        self.addCleanup(self.allow)

    def allow(self):
        for place in [self.cache, *self.cache.rglob("*")]:
            if place.is_dir():
                place.chmod(0o755)

    def prepare(self):
        if os.geteuid() == 0:
            for place in [self.root, *self.root.rglob("*")]:
                os.chown(place, NOBODY, NOBODY, follow_symlinks=False)

    def test_a_store_alone_that_somebody_else_made(self):
        self.cache.chmod(0o755)
        result = self.assert_ok(self.read_only("demo", "other"))
        self.assertEqual(result.err.count("nothing new is kept"), 1, result.err)

    def test_one_that_cannot_even_be_entered(self):
        self.cache.chmod(0o000)
        result = self.assert_ok(self.read_only("demo"))
        self.assertEqual(result.err.count("nothing new is kept"), 1, result.err)
        self.cache.chmod(0o555)

    def test_one_that_cannot_be_made(self):
        (self.root / "locked").mkdir(mode=0o555)
        result = self.get("demo", prefix=self.as_user, env={"AXLE_CACHE_DIR": str(self.root / "locked/cache")})
        self.assertEqual(self.assert_ok(result).err.count("nothing new is kept"), 1, result.err)


class InTheMiddle(Caches):
    """It was writable when the command began."""

    def setUp(self):
        super().setUp()
        self.need_program_as_shipped()
        if not (BIN / "libfault_shim.so").exists():
            self.skipTest("the fault shim was not built (sanitizer builds have none)")

    def at_each_call(self, action, mode):
        """From the n-th call on; returns what was said when it was refused."""
        said = set()
        for at in range(1, 200, 1 if os.environ.get("AXLE_SOAK") == "full" else 3):
            if there := self.installed():
                self.assert_ok(self.variant("uninstall", *there, "--python", self.venv))
            for place in self.root.glob("cache*/store"):
                shutil.rmtree(place)
            mark = self.root / "mark"
            mark.unlink(missing_ok=True)
            result = self.add("demo", "other", env={"LD_PRELOAD": str(BIN / "libfault_shim.so"), "AXLE_FAULT_AT": str(at), "AXLE_FAULT_MODE": mode,
                                                    "AXLE_FAULT_ACTION": action, "AXLE_FAULT_MARK": str(mark)})
            for gone in self.root.glob("cache.gone-*"):
                shutil.rmtree(gone)
            if not mark.exists():
                return said
            self.assertIn(result.code, (0, 1), result)
            if result.code == 1:
                said.add(result.err)
            expected = {"demo": ("1.0", None), "other": ("1.0", None)} if result.code == 0 else {}
            self.assertEqual(self.installed(), expected, f"{at}: {result}")
        self.fail("the command made no end of calls")

    def test_it_vanishes(self):
        for err in self.at_each_call(f"vanish {self.cache}", "once"):
            self.assertIn("run the same command again", err)

    def test_a_call_is_told_that_it_is_read_only(self):
        said = self.at_each_call("EROFS", "once")
        self.assertTrue(any("--no-cache" in err for err in said), said)
        for err in said:
            self.assertTrue("--no-cache" in err or "--python" in err, err)


if __name__ == "__main__":
    unittest.main()
