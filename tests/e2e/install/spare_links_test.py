"""Links that an environment gives back to the store: who gets them next, and what `variant cache` says of them."""

import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import Index, TestCase, Wheel, tree


class SpareLinks(TestCase):
    def setUp(self):
        super().setUp()
        self.make_venv()
        self.other = self.root / "other"
        self.make_venv(self.other)
        self.cache = self.root / "cache"
        self.env["AXLE_CACHE_DIR"] = str(self.cache)
        self.index = Index(self.root / "index")
        for version in ("1.0", "2.0"):
            files = {"demo/__init__.py": f"VALUE = {version}\n", f"demo/only_{version[0]}.py": "a = 1\n", "demo/inner/data.txt": "data\n" * 1000}
            self.index.add_wheel(Wheel("demo", version, files=files))

    def put(self, what, venv=None, *more):
        self.assert_ok(self.variant("install", what, "--index-url", self.index.url, "--python", venv or self.venv, *more))

    def remove(self, venv=None, *more):
        self.assert_ok(self.variant("uninstall", "demo", "--python", venv or self.venv, *more))

    def folder(self, venv=None):
        return (self.site(venv) / "demo").stat().st_ino

    def spares(self):
        return {path.stat().st_ino for path in self.cache.glob("store/wheels/*/spare/*")}

    def cached(self, *words):
        return self.assert_ok(self.variant("cache", *words, "--json")).json

    def run_in(self, venv):
        done = subprocess.run([venv / "bin/python", "-c", "import demo; print(demo.VALUE)"], text=True, capture_output=True, env=self.env)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()

    def test_the_next_environment_has_what_the_last_one_gave_back(self):
        self.put("demo==1.0")
        before, folder = tree(self.venv), self.folder()
        self.assertEqual(self.run_in(self.venv), "1.0")
        self.remove()
        self.assertEqual(self.spares(), {folder})
        self.assertFalse(list(self.cache.rglob("__pycache__")))
        self.put("demo==1.0", self.other)
        self.assertEqual(self.folder(self.other), folder)
        self.assertEqual(self.spares(), set())
        self.assertEqual(self.run_in(self.other), "1.0")
        self.assert_ok(self.variant("check", "--deep", "--python", self.other))
        self.put("demo==1.0")
        self.assertEqual({name: what for name, what in tree(self.venv).items() if ".axle" not in name and "__pycache__" not in name},
                         {name: what for name, what in before.items() if ".axle" not in name})

    def test_undo_brings_the_folder_back(self):
        self.put("demo==1.0")
        first = self.folder()
        self.put("demo==2.0")
        second = self.folder()
        self.assertEqual(self.spares(), {first})
        for folder, spare in ((first, second), (second, first)):
            self.assert_ok(self.variant("undo", *(["--redo"] if folder == second else []), "--python", self.venv))
            self.assertEqual(self.folder(), folder)
            self.assertEqual(self.spares(), {spare})

    def test_byte_code_may_come_first(self):
        self.index.add_wheel(Wheel("bare", "1.0", files={"bare/module.py": "a = 1\n", "bare/other.py": "b = 2\n"}))
        self.put("bare", None, "--compile-bytecode")
        folders = {(self.site() / "bare").stat().st_ino}
        for _ in range(2):
            self.assert_ok(self.variant("uninstall", "bare", "--python", self.venv))
            self.assertEqual(self.spares(), folders)
            self.put("bare", None, "--compile-bytecode")
            self.assertEqual({(self.site() / "bare").stat().st_ino}, folders)

    def test_byte_code_comes_beside_them(self):
        self.put("demo==1.0", None, "--compile-bytecode")
        before, folder = tree(self.venv), self.folder()
        self.remove()
        self.assertEqual(self.spares(), {folder})
        self.put("demo==1.0", None, "--compile-bytecode")
        self.assertEqual(self.folder(), folder)
        self.assertEqual({name: what for name, what in tree(self.venv).items() if ".axle" not in name},
                         {name: what for name, what in before.items() if ".axle" not in name})
        self.assertTrue(list((self.site() / "demo/__pycache__").glob("*.pyc")))

    def test_another_cache_gets_nothing(self):
        self.put("demo==1.0")
        self.remove(None, "--cache-dir", self.root / "none")
        self.assertEqual(self.spares(), set())
        self.assertFalse((self.root / "none/store").exists())

    def test_a_dry_run_gives_nothing_back(self):
        self.put("demo==1.0")
        before = tree(self.root)
        self.remove(None, "--dry-run")
        self.assertEqual(tree(self.root), before)

    def test_they_are_no_environment_to_the_cache(self):
        self.put("demo==1.0")
        [wheels] = [row for row in self.cached("info")["kinds"] if row["kind"] == "wheels"]
        self.assertGreater(self.cached("info")["shared_bytes"], 5000)
        self.remove()
        self.assertEqual(len(self.spares()), 1)
        after = self.cached("info")
        self.assertEqual([row for row in after["kinds"] if row["kind"] == "wheels"], [wheels], "the same bytes, counted once")
        self.assertEqual(after["shared_bytes"], 0)
        self.assert_ok(self.variant("cache", "verify"))
        # A link to a file of somebody else is nothing to the wheel.
        mine = self.root / "mine"
        mine.write_bytes(b"mine" * 20000)
        self.put("demo==1.0")
        (self.site() / "demo/only_1.py").unlink()
        (self.site() / "demo/only_1.py").hardlink_to(mine)
        self.remove()
        self.assertEqual(self.cached("info")["shared_bytes"], 0)
        self.assertEqual(mine.read_bytes(), b"mine" * 20000)
        self.put("demo==1.0", self.other)
        self.put("demo==1.0")
        self.remove()
        self.assertGreater(self.cached("info")["shared_bytes"], 5000, "the other environment has links")
        self.remove(self.other)
        cleaned = self.cached("clean", "demo")
        self.assertGreater(cleaned["freed_bytes"], 5000)
        self.assertEqual(list(self.cache.glob("store/wheels/*")), [])


if __name__ == "__main__":
    unittest.main()
