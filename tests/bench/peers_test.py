"""How peers of the benchmarks are installed: once, whole or not at all, and what cannot be is said."""

import contextlib
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest
import zipfile
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import layers
import peers

HERE = pathlib.Path(__file__).resolve().parent


class InAFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for patch in (mock.patch.object(peers, "FOLDER", self.folder), contextlib.redirect_stdout(io.StringIO())):
            patch.__enter__()
            self.addCleanup(patch.__exit__, None, None, None)


class Kept(InAFolder):
    made = 0

    def make(self, folder):
        self.made += 1
        folder.mkdir()
        (folder / "file").write_text(str(self.made))

    def test_what_is_there_is_kept_until_something_else_is_asked_for(self):
        for flags, made in (("one", "1"), ("one", "1"), ("other", "2"), ("other", "2")):
            self.assertEqual((peers.kept("peer", ["package", flags], self.make) / "file").read_text(), made)

    def test_what_was_not_finished_is_made_again(self):
        def fails(folder):
            folder.mkdir()
            raise peers.Missing("no network")

        with self.assertRaises(peers.Missing):
            peers.kept("peer", [], fails)
        self.assertFalse((self.folder / "peer").exists())
        (self.folder / "peer").mkdir()  # as a program leaves it that is killed
        (self.folder / "peer/bin").mkdir()
        self.assertEqual(sorted(path.name for path in peers.kept("peer", [], self.make).iterdir()), ["file", "made-of.json"])

    def test_two_programs_make_it_once(self):
        inside = threading.Event()

        def slow(folder):
            inside.set()
            self.make(folder)

        threads = [threading.Thread(target=peers.kept, args=("peer", [], slow)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(self.made, 1)

    def test_a_disk_that_is_too_small_is_said_before_anything_is_fetched(self):
        with self.assertRaises(peers.Missing) as missing:
            peers.kept("peer", [], self.make, gigabytes=1e9)
        self.assertIn(f"it needs 1000000000.0 GB in {self.folder}", str(missing.exception))
        self.assertEqual(self.made, 0)


class FromTheIndex(InAFolder):
    def setUp(self):
        super().setUp()
        self.wheels = self.folder / "wheels"
        self.wheels.mkdir()
        for patch in (mock.patch.dict(os.environ, {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.wheels), "PIP_CONFIG_FILE": os.devnull}),
                      mock.patch.object(peers.shutil, "which", lambda name: name), mock.patch.object(peers.shutil, "disk_usage", lambda path: mock.Mock(free=1e12))):
            patch.start()
            self.addCleanup(patch.stop)

    def test_an_environment_has_the_packages(self):
        with zipfile.ZipFile(self.wheels / "found-1-py3-none-any.whl", "w") as wheel:
            wheel.writestr("found.py", "")
            wheel.writestr("found-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: found\nVersion: 1\n")
            wheel.writestr("found-1.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            wheel.writestr("found-1.dist-info/RECORD", "found.py,,\nfound-1.dist-info/METADATA,,\nfound-1.dist-info/WHEEL,,\nfound-1.dist-info/RECORD,,\n")
        subprocess.run([peers.environment("peer", "found"), "-c", "import found"], check=True)

    def test_an_index_that_cannot_give_it_is_said_and_leaves_nothing(self):
        with self.assertRaises(peers.Missing) as missing:
            peers.torchao()
        self.assertRegex(str(missing.exception), "^torch torchao numpy cannot be installed: ERROR: No matching distribution found for torch$")
        self.assertFalse((self.folder / "torchao").exists())


class Starting(unittest.TestCase):
    def test_layers_say_what_is_missing(self):
        asked = mock.Mock(only=["torchao int8"], without=[], gigabytes=0.1, torchao=None)
        with mock.patch.object(peers, "torchao", mock.Mock(side_effect=peers.Missing("no such package"))):
            contenders, facts = layers.start_all("int8", layers.Peers(asked, []), asked)
        self.assertEqual((contenders, facts), ([], {"torchao int8": {"lacks": "no such package"}}))


if __name__ == "__main__":
    unittest.main()
