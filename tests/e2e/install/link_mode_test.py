"""--link-mode: how files come from the store, what is refused, and what an edit in place means for others."""

import os
import pathlib
import shutil
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import Index, TestCase, Wheel


class LinkMode(TestCase):
    def setUp(self):
        super().setUp()
        self.make_venv()
        self.cache = self.root / "cache"
        self.env["AXLE_CACHE_DIR"] = str(self.cache)
        self.index = Index(self.root / "index")
        self.index.add_wheel(Wheel("demo", "1.0", files={"demo/__init__.py": "VALUE = 1\n", "demo/data.txt": "content\n"}))

    def file(self, venv=None):
        return self.site(venv) / "demo/__init__.py"

    def place(self, mode, *more, **options):
        return self.install("demo", "--reinstall", *(["--link-mode", mode] if mode else []), *more, index=self.index, **options)

    def test_a_store_with_two_paths_is_one_store(self):
        self.cache.mkdir()
        (self.root / "other-path").symlink_to(self.cache)
        self.assert_ok(self.place("symlink", "--cache-dir", self.root / "other-path"))
        self.assert_ok(self.variant("cache", "prune"))
        for path in (self.cache, self.root / "other-path"):
            self.assert_fails(self.variant("cache", "clean", "--cache-dir", path), 1, "symbolic links to demo")
        self.assertEqual(self.file().read_text(), "VALUE = 1\n")

    def stored(self):
        [path] = self.cache.glob("store/wheels/*/tree/demo/__init__.py")
        return path

    def edit(self, path):
        """In place: whoever has a link to it has the edit too."""
        with open(path, "r+") as file:
            file.write("VALUE = 2  # edited\n")

    def files(self):
        result = self.assert_ok(self.variant("show", "--files", "demo", "--json", "--python", self.venv))
        [one] = result.json["packages"]
        return one["links"]


class Modes(LinkMode):
    def test_hard_links_and_copies(self):
        for mode, links in ((None, 2), ("copy", 1), ("hardlink", 2)):
            self.assert_ok(self.place(mode))
            self.assertEqual(self.file().stat().st_nlink, links, mode)
            self.assertFalse(self.file().is_symlink())
            self.assertGreater(self.files()["hard"], 0) if links == 2 else self.assertEqual(self.files(), {"hard": 0, "symbolic": 0})
            self.assert_ok(self.variant("check", "--deep", "--python", self.venv))

    def test_a_copy_keeps_an_edit_to_itself(self):
        self.assert_ok(self.place("copy"))
        self.edit(self.file())
        self.assertEqual(self.stored().read_text(), "VALUE = 1\n")

    def test_symbolic_links_lead_into_the_store(self):
        self.assert_ok(self.place("symlink"))
        self.assertEqual(os.readlink(self.file()), str(self.stored()))
        self.assertFalse((self.site() / "demo-1.0.dist-info/RECORD").is_symlink())
        self.assertEqual(self.python("import demo; print(demo.VALUE)"), "1")
        self.assertGreater(self.files()["symbolic"], 0)
        self.assert_ok(self.variant("check", "--deep", "--python", self.venv))
        text = self.assert_ok(self.variant("show", "--files", "demo", "--python", self.venv)).out
        self.assertIn("Links: 0 of", text)
        self.assert_ok(self.variant("uninstall", "demo", "--python", self.venv))
        self.assertTrue(self.stored().exists())

    def test_a_clone_is_made_or_refused_with_a_word(self):
        for word in ("reflink", "clone"):
            result = self.place(word)
            if result.code == 0:
                self.assertEqual(self.file().stat().st_nlink, 1)
                continue
            self.assert_fails(result, 1, "cannot be a reflink", "does not clone files", "--link-mode copy", "nothing was changed")
            self.assertEqual(self.installed(), {})

    def test_another_file_system(self):
        other = pathlib.Path("/dev/shm")
        if not other.is_dir() or other.stat().st_dev == self.root.stat().st_dev:
            self.skipTest("/dev/shm is not another file system")
        folder = other / f"axle-link-mode-{os.getpid()}"
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        env = {"AXLE_CACHE_DIR": str(folder)}
        self.assert_fails(self.place("hardlink", env=env), 1, "cannot link", "--link-mode copy")
        self.assertEqual(self.installed(), {})
        self.assert_ok(self.place(None, env=env))
        self.assertEqual(self.file().stat().st_nlink, 1)
        self.assert_ok(self.place("symlink", env=env))
        self.assertTrue(self.file().is_symlink())

    def test_other_permissions_than_the_umask_gives(self):
        self.assert_ok(self.place(None))
        prefix = ("sh", "-c", 'umask 027; exec "$@"', "sh")
        self.assert_fails(self.place("hardlink", prefix=prefix), 1, "permissions 644", "gives a new file 640")
        self.assert_fails(self.place("symlink", prefix=prefix), 1, "permissions 644")
        self.assert_ok(self.place("copy", prefix=prefix))
        self.assertEqual(self.file().stat().st_mode & 0o777, 0o640)

    def test_words_that_are_none(self):
        self.assert_fails(self.place("hard"), 2, "link-mode", "hardlink, reflink (or clone), copy or symlink")
        self.assert_fails(self.place("symlink", "--no-cache"), 2, "needs a cache")
        self.assert_fails(self.place(None, env={"UV_LINK_MODE": "none"}), 2, "UV_LINK_MODE")

    def test_the_settings_of_uv(self):
        (self.root / "uv.toml").write_text('link-mode = "symlink"\n')
        self.assert_ok(self.place(None, env={"UV_CONFIG_FILE": str(self.root / "uv.toml")}))
        self.assertTrue(self.file().is_symlink())
        self.assert_ok(self.place(None, env={"UV_CONFIG_FILE": str(self.root / "uv.toml"), "UV_LINK_MODE": "copy"}))
        self.assertEqual(self.file().stat().st_nlink, 1)

    def test_pip_and_uv_read_it(self):
        self.assert_ok(self.place("symlink"))
        self.assert_ok(self.pip("check"))
        self.assert_ok(self.uv("pip", "uninstall", "--python", self.venv, "demo"))
        self.assertTrue(self.stored().exists())


class Cache(LinkMode):
    def cache_command(self, *words):
        return self.variant("cache", *words)

    def test_what_an_environment_links_stays(self):
        self.assert_ok(self.place("symlink"))
        for words in (["clean"], ["clean", "demo"], ["clean", "--dry-run"]):
            self.assert_fails(self.cache_command(*words), 1, str(self.venv), "symbolic links to demo", "nothing was removed")
        old = 86400 * 400
        for path in [*self.cache.glob("store/wheels/*"), *self.cache.glob("store/wheels/*/**/*")]:
            os.utime(path, (old, old), follow_symlinks=False)
        self.assert_ok(self.cache_command("prune"))
        self.assertEqual(self.python("import demo; print(demo.VALUE)"), "1")
        self.assertGreater(self.assert_ok(self.cache_command("info", "--json")).json["shared_bytes"], 0)

    def test_without_links_it_is_removed_and_forgotten(self):
        self.assert_ok(self.place("symlink"))
        self.assert_ok(self.place("copy"))
        self.assertEqual(len(list(self.cache.glob("store/linked/*"))), 1)
        self.assert_ok(self.cache_command("clean"))
        self.assertEqual(list(self.cache.glob("store/*")), [])
        self.assertEqual(self.python("import demo; print(demo.VALUE)"), "1")

    def test_an_environment_that_is_gone(self):
        self.assert_ok(self.place("symlink"))
        shutil.rmtree(self.venv)
        self.assert_ok(self.cache_command("prune"))
        self.assertEqual(list(self.cache.glob("store/linked/*")), [])
        self.assert_ok(self.cache_command("clean"))


class EditedStore(LinkMode):
    def test_an_edit_is_found_at_the_next_use_with_the_name_of_the_file(self):
        self.assert_ok(self.place(None))
        self.edit(self.file())
        twin = self.make_venv(self.root / "twin")
        result = self.assert_ok(self.variant("install", "demo", "-i", self.index.url, "--python", twin))
        self.assertIn("demo/__init__.py of demo-1.0-py3-none-any.whl was changed in the store", result.err)
        self.assertIn("--link-mode copy", result.err)
        self.assertEqual(self.python("import demo; print(demo.VALUE)", twin), "1")
        self.assert_fails(self.variant("check", "--python", self.venv), 1, "demo/__init__.py has 20 bytes", "RECORD has 10")
        again = self.assert_ok(self.place(None))
        self.assertNotIn("was changed in the store", again.err)
        self.assert_ok(self.variant("check", "--deep", "--python", self.venv))

    def test_of_the_same_size_and_of_byte_code_too(self):
        self.assert_ok(self.place("hardlink", "--compile-bytecode"))
        [code] = (self.site() / "demo/__pycache__").glob("__init__.*.pyc")
        for path in (self.file(), code):
            with open(path, "r+b") as file:
                file.seek(-2, os.SEEK_END)
                file.write(b"9\n")
        twin = self.make_venv(self.root / "twin")
        words = ("install", "demo", "--compile-bytecode", "-i", self.index.url, "--python", twin)
        os.utime(self.file(), (1_700_000_000,) * 2)  # an edit has another time, of seconds
        os.utime(code, (1_700_000_000,) * 2)
        self.assertIn("was changed in the store", self.assert_ok(self.variant(*words)).err)
        self.assertEqual(self.python("import demo; print(demo.VALUE)", twin), "1")
        self.assert_fails(self.variant("check", "--deep", "--python", self.venv), 1, "demo/__init__.py")
        self.assert_ok(self.variant("check", "--deep", "--python", twin))

    def test_an_edit_of_a_copy_or_a_clone_is_no_word_to_others(self):
        for mode in ("copy", "reflink"):
            with self.subTest(mode):
                placed = self.place(mode)
                if placed.code != 0:  # a file system without clones
                    self.assert_fails(placed, 1, "does not clone files")
                    continue
                self.edit(self.file())
                shutil.rmtree(self.root / "twin", ignore_errors=True)
                twin = self.make_venv(self.root / "twin")
                result = self.assert_ok(self.variant("install", "demo", "-i", self.index.url, "--python", twin))
                self.assertNotIn("was changed", result.err)
                self.assertEqual(self.python("import demo; print(demo.VALUE)", twin), "1")
                self.assert_fails(self.variant("check", "--python", self.venv), 1, "demo/__init__.py")

    def test_permissions_are_those_that_pip_and_uv_give(self):
        for mode in (None, "copy", "hardlink"):
            self.assert_ok(self.place(mode))
            ours = {path.relative_to(self.site()): path.stat().st_mode for path in (self.site() / "demo").rglob("*") if "__pycache__" not in path.parts}
            other = self.make_venv(self.root / f"of-uv-{mode}")
            self.assert_ok(self.uv("pip", "install", "--no-index", "--find-links", self.index.folder / "demo", "demo", "--python", other / "bin/python"))
            theirs = {path.relative_to(self.site(other)): path.stat().st_mode for path in (self.site(other) / "demo").rglob("*") if "__pycache__" not in path.parts}
            self.assertEqual(ours, theirs)

    def test_an_edit_through_a_symbolic_link(self):
        self.assert_ok(self.place("symlink"))
        self.edit(self.file())
        self.assert_fails(self.variant("check", "--python", self.venv), 1, "demo/__init__.py has 20 bytes", "a symbolic link")
        result = self.assert_ok(self.place("symlink"))
        self.assertIn("was changed in the store", result.err)
        self.assertEqual(self.python("import demo; print(demo.VALUE)"), "1")
        self.assert_ok(self.variant("check", "--deep", "--python", self.venv))


if __name__ == "__main__":
    unittest.main()
