"""What a later version of Axle wrote is left alone, with a word where it matters; what an older or a strange one wrote is made again. A test
for each kind of file; the table is in docs/architecture.md."""

import pathlib
import shutil
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from loopback import Loopback
from support import BIN, Index, TestCase, Wheel, tree


class Formats(TestCase):
    def setUp(self):
        super().setUp()
        self.make_venv()
        self.cache = self.root / "cache"
        self.env |= {"AXLE_CACHE_DIR": str(self.cache), "PYTHONDONTWRITEBYTECODE": "1"}
        self.index = Index(self.root / "index")
        for version in ("1.0", "2.0"):
            self.index.add_wheel(Wheel("demo", version, files={f"demo/v{version[0]}.py": "x = 1\n", "demo/__init__.py": f"V = {version!r}\n"}))

    def do(self, *words, **options):
        source = ["-i", self.index.url] if words[0] == "install" else []
        return self.variant(*words, *source, "--python", self.venv, **options)

    def make_newer(self, path, version=b"9"):
        """The same, as a version of the format that is not known yet; the old one's hash is no word about it."""
        name, space, rest = path.read_bytes().partition(b" ")
        self.assertTrue(name.startswith(b"axle-") and space, f"{path} begins with {name[:40]}")
        path.write_bytes(name + space + version + rest.lstrip(b"0123456789"))
        return path.read_bytes()

    def site_files(self):
        return {path: digest for path, digest in tree(self.venv).items() if not path.startswith(".axle/")}


class OfEnvironments(Formats):
    def interrupted(self):
        """A transaction with a journal, by a kill."""
        self.need_program_as_shipped()
        if not (BIN / "libfault_shim.so").exists():
            self.skipTest("the fault shim was not built (sanitizer builds have none)")
        self.assert_ok(self.do("install", "demo==1.0"))
        journal = self.venv / ".axle/transaction/journal"
        for at in range(1, 300):
            killed = self.do("install", "demo==2.0", env={"LD_PRELOAD": str(BIN / "libfault_shim.so"), "AXLE_FAULT_AT": str(at), "AXLE_FAULT_ACTION": "kill"})
            self.assertEqual(killed.code, -9)
            if journal.exists():
                return journal
            self.assert_ok(self.do("list"))
        self.fail("no kill left a journal")

    def check_journal(self, journal):
        content, before = self.make_newer(journal), self.site_files()
        for words in (["install", "demo==1.0"], ["uninstall", "demo"], ["undo"]):
            self.assert_fails(self.do(*words), 1, "of another version of Axle", str(journal), "of the version that wrote it")
        self.assert_fails(self.do("doctor"), 1, "axle-journal 9", "of the version that wrote it")
        self.assertEqual((journal.read_bytes(), self.site_files()), (content, before))

    def test_a_journal_blocks_changes_and_stays(self):
        journal = self.interrupted()
        known = journal.read_bytes()
        self.check_journal(journal)
        journal.write_bytes(known)  # the version that knows it goes on
        self.assert_ok(self.do("list"))
        self.assertFalse(journal.exists())
        self.assert_ok(self.do("check", "--deep"))

    def test_a_journal_that_is_undone_too(self):
        journal = self.interrupted()
        self.check_journal(journal.rename(journal.with_name("undo")))

    def test_a_history_stays_and_nothing_is_recorded_in_it(self):
        self.assert_ok(self.do("install", "demo==1.0"))
        history = self.venv / ".axle/history"
        content = self.make_newer(history)
        self.assertIn("another version of Axle", self.assert_ok(self.do("install", "demo==2.0")).err)
        self.assert_fails(self.do("undo"), 1, "another version of Axle")
        self.assertEqual(history.read_bytes(), content)
        self.assertEqual(self.installed(), {"demo": ("2.0", None)})

    def test_a_record_of_what_is_not_on_the_disk_yet(self):
        self.assert_ok(self.do("install", "demo==1.0"))
        [record] = [path for path in (self.venv / ".axle/unflushed").iterdir() if path.read_bytes().startswith(b"axle-")] or [None]
        content, before = self.make_newer(record), self.site_files()
        # As after another start of the machine, which is when it counts.
        number, boot, *rest = record.name.split(".")
        other = record.rename(record.with_name(".".join([number, "0" * 8 + boot[8:], *rest])))
        result = self.assert_ok(self.do("list"))
        self.assertIn("of another version of Axle", result.err)
        self.assertEqual((other.read_bytes(), self.site_files()), (content, before))


class OfCaches(Formats):
    def folders(self, part):
        return list((self.cache / "store" / part).iterdir())

    def again(self, *more, **options):
        """In a new environment."""
        shutil.rmtree(self.venv)
        self.make_venv()
        return self.do("install", "demo==1.0", *more, **options)

    def check_entry(self, part, *more):
        self.assert_ok(self.do("install", "demo==1.0", *more))
        [folder] = self.folders(part)
        self.make_newer(folder / "manifest")
        (folder / "of-later").write_text("unknown here")
        before = tree(folder)
        self.assert_fails(self.again(*more), 1, str(folder), "is of a later version of Axle", "--no-cache")
        self.assertEqual(self.installed(), {})
        self.assertEqual(tree(folder), before)
        self.assert_ok(self.again(*more, "--no-cache"))
        for verb in ("info", "verify", "prune", "clean"):
            self.assertIn("is of a later version of Axle", self.assert_ok(self.variant("cache", verb)).err)
        self.assertEqual(tree(folder), before)

    def test_an_unpacked_wheel(self):
        self.check_entry("wheels")

    def test_byte_code(self):
        self.check_entry("byte-code", "--compile-bytecode")

    def test_an_unpacked_wheel_of_the_first_version_is_used(self):
        self.assert_ok(self.do("install", "demo==1.0"))
        [folder] = self.folders("wheels")
        fields = (folder / "manifest").read_bytes().split(b"\0")
        self.assertEqual(fields[0], b"axle-manifest 2")
        # Between entry points and the number of files the second version has one field more.
        (folder / "manifest").write_bytes(b"\0".join([b"axle-manifest 1", *fields[1:5], *fields[6:]]))
        inode = (folder / "tree/demo/v1.py").stat().st_ino
        self.assert_ok(self.again())
        self.assertEqual((self.site() / "demo/v1.py").stat().st_ino, inode)

    def rebuilt(self, pattern, *, makes_newer=True):
        """Answers that any version makes again from what they are about."""
        files = [path for path in self.cache.glob(pattern) if path.is_file()]
        self.assertNotEqual(files, [], pattern)
        for path in files:
            self.make_newer(path) if makes_newer else path.write_bytes(b"axle-answer 9\n" + path.read_bytes())

    def test_what_packages_say_is_read_from_them_again(self):
        self.assert_ok(self.do("install", "demo==1.0"))
        time.sleep(2.1)  # what is newer is not kept
        self.assertEqual(set(self.installed()), {"demo"})
        self.rebuilt("installed/*")
        self.assertEqual(self.installed(), {"demo": ("1.0", None)})

    def test_answers_of_interpreters_and_servers_are_asked_for_again(self):
        server = Loopback(self)
        server.publish("/simple", Wheel("demo", "1.0"))
        where = ["-i", server.url("/simple"), "--python", self.venv]
        self.assert_ok(self.variant("install", "demo", *where))
        for pattern in ("interpreters/*", "http-2/?/*"):
            self.rebuilt(pattern, makes_newer=False)
        self.assert_ok(self.variant("install", "demo", "--reinstall", *where))
        self.assertEqual(self.installed(), {"demo": ("1.0", None)})

    def test_folders_with_other_names_are_left_alone(self):
        self.assert_ok(self.do("install", "demo==1.0"))
        later = self.cache / "http-9/a"
        later.mkdir(parents=True)
        (later / "x").write_text("of later")
        for verb in ("info", "prune", "clean"):
            self.variant("cache", verb)
        self.assertEqual((later / "x").read_text(), "of later")


if __name__ == "__main__":
    unittest.main()
