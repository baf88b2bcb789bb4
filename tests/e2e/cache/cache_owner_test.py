"""A cache that another user may write to is not believed, and said; an ordinary one is nobody's business."""

import itertools
import os
import pathlib
import shutil
import stat
import struct
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import TestCase, Wheel

NOBODY = 65534


def access_list(user):
    """A POSIX ACL by which `user` may write, though the owning group may not (acl(5), linux/posix_acl_xattr.h)."""
    none = 0xFFFFFFFF
    rows = [(1, 7, none), (2, 7, user), (4, 5, none), (0x10, 7, none), (0x20, 5, none)]
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *row) for row in rows)


class Caches(TestCase):
    def setUp(self):
        super().setUp()
        self.numbers = itertools.count()
        self.wheel = Wheel("demo", "1.0", files={"demo.py": "V = 'true'\n"}).write(self.root / "dist")
        self.cache = self.root / "place/cache"

    def fetch(self, cache=None):
        """Installs into a new environment, `self.venv`: --reinstall would compare the store's files by hash."""
        self.venv = self.make_venv(self.root / f"venv{next(self.numbers)}")
        where = ["--cache-dir", cache or self.cache] if cache is not False else []
        return self.assert_ok(self.variant("install", self.wheel, "--no-index", "--python", self.venv, *where))

    def entry(self, cache=None):
        return next((cache or self.cache).glob("store/wheels/*/tree/demo.py"))

    def poison(self):
        """The module in the store says something else, of the same size and time."""
        module = self.entry()
        status = module.stat()
        module.unlink()
        module.write_text("V = 'evil'\n")
        os.utime(module, ns=(status.st_atime_ns, status.st_mtime_ns))

    def assert_true(self, result, warned):
        module = self.site() / "demo.py"
        self.assertEqual(module.read_text(), "V = 'true'\n")
        if warned:
            self.assertIn(f"the cache {self.cache} is not used: ", result.err)
            self.assertIn("--cache-dir", result.err)
            self.assertEqual(module.stat().st_nlink, 1)
        else:
            self.assertNotIn("is not used", result.err)

    def chown(self, path, whole=True):
        os.chown(path, NOBODY, NOBODY)
        for below in path.rglob("*") if whole else ():
            os.chown(below, NOBODY, NOBODY, follow_symlinks=False)


class Ordinary(Caches):
    def test_the_default_cache_is_made_for_its_user_alone_and_used(self):
        result = self.fetch(cache=False)
        self.assertEqual(result.err.count("warning"), 0, result.err)
        cache = self.root / "home/.cache/axle"
        self.assertEqual(stat.S_IMODE(cache.stat().st_mode), 0o700)
        self.wheel.touch()
        self.assertNotIn("warning", self.fetch(cache=False).err)
        self.assertGreaterEqual(self.entry(cache).stat().st_nlink, 2)

    def test_any_umask_will_do(self):
        for umask in (0o000, 0o002, 0o022, 0o077):
            old = os.umask(umask)
            try:
                for turn in range(2):
                    cache = self.root / f"cache-{umask}"
                    self.assertNotIn("not used", self.fetch(cache=cache).err)
                    self.assertNotIn("not used", self.variant("list", "--python", self.venv, "--cache-dir", cache).err)
            finally:
                os.umask(old)

    def test_a_cache_that_others_may_only_read_is_used(self):
        self.cache.mkdir(parents=True, mode=0o755)
        self.fetch()
        self.assert_true(self.fetch(), False)
        self.assertTrue(self.entry().exists())


@unittest.skipUnless(os.geteuid() == 0, "only root can give files to another user")
class OfAnotherUser(Caches):
    def poisoned(self):
        self.fetch()
        self.poison()
        # The store is believed by size and time: this is what a stranger could do in it.
        self.fetch()
        self.assertIn("evil", (self.site() / "demo.py").read_text())

    def test_a_poisoned_cache_of_another_user_is_not_believed_and_not_linked(self):
        self.poisoned()
        self.chown(self.cache)
        self.assert_true(self.fetch(), True)

    def test_nor_one_below_a_folder_of_another_user(self):
        self.poisoned()
        self.chown(self.cache.parent, whole=False)
        self.assert_true(self.fetch(), True)

    def test_nor_one_that_others_may_write(self):
        self.poisoned()
        for place, mode in ((self.cache, 0o777), (self.cache, 0o1777), (self.cache.parent, 0o777), (self.cache, 0o775)):
            with self.subTest(place=place.name, mode=oct(mode)):
                if mode == 0o775:
                    os.chown(place, 0, 100)
                before = stat.S_IMODE(place.stat().st_mode)
                place.chmod(mode)
                self.assert_true(self.fetch(), True)
                place.chmod(before)

    def test_nor_one_with_an_access_list(self):
        self.poisoned()
        try:
            os.setxattr(self.cache, "system.posix_acl_access", access_list(NOBODY))
        except OSError as error:
            self.skipTest(f"no access lists here: {error}")
        self.assert_true(self.fetch(), True)

    def test_nor_a_store_of_another_user_in_a_cache_of_ones_own(self):
        self.poisoned()
        self.cache.chmod(0o755)
        self.chown(self.cache / "store", whole=False)
        self.assert_true(self.fetch(), True)

    def test_an_entry_of_another_user_in_a_cache_of_ones_own_is_unpacked_anew(self):
        self.poisoned()
        entry = self.entry()
        self.chown(entry, whole=False)
        self.assert_true(self.fetch(), False)
        self.assertEqual((self.entry().read_text(), self.entry().stat().st_uid), ("V = 'true'\n", 0))

    def test_a_link_to_another_users_cache_is_none_of_ones_own(self):
        self.poisoned()
        theirs = self.root / "theirs"
        shutil.move(self.cache, theirs)
        self.chown(theirs)
        self.cache.symlink_to(theirs)
        self.assert_true(self.fetch(), True)

    def test_sudo_that_keeps_home_works_with_a_word(self):
        home = self.root / "home"
        (home / ".cache/axle").mkdir(parents=True)
        self.chown(home)
        result = self.fetch(cache=False)
        self.assertIn(f"the cache {home}/.cache/axle is not used", result.err)
        self.assertIn("belongs to another user", result.err)
        self.assertEqual(list((home / ".cache/axle").iterdir()), [])
        self.assertEqual(self.installed(), {"demo": ("1.0", None)})
        self.assertNotIn("is not used", self.variant("list", "--python", self.venv, "--no-cache").err)


if __name__ == "__main__":
    unittest.main()
