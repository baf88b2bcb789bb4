"""How peers of the benchmarks are installed: once, whole or not at all, and what cannot be is said."""

import contextlib
import http.server
import io
import os
import pathlib
import subprocess
import sys
import tarfile
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


BACKEND = """import os, zipfile

def build_wheel(folder, config_settings=None, metadata_directory=None):
    name = "llama_cpp_python-1-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(folder, name), "w") as wheel:
        wheel.writestr("built.py", "flags = " + repr(os.environ["CMAKE_ARGS"]))
        wheel.writestr("llama_cpp_python-1.dist-info/METADATA", "Metadata-Version: 2.1\\nName: llama-cpp-python\\nVersion: 1\\n")
        wheel.writestr("llama_cpp_python-1.dist-info/WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr("llama_cpp_python-1.dist-info/RECORD", "built.py,,\\n")
    return name
"""


class FromSource(InAFolder):
    def setUp(self):
        super().setUp()
        project = self.folder / "www/simple/llama-cpp-python"
        project.mkdir(parents=True)
        files = {"pyproject.toml": "[build-system]\nrequires = []\nbuild-backend = 'backend'\nbackend-path = ['.']\n", "backend.py": BACKEND,
                 "PKG-INFO": "Metadata-Version: 2.1\nName: llama-cpp-python\nVersion: 1\n"}
        with tarfile.open(project / "llama_cpp_python-1.tar.gz", "w:gz") as sdist:
            for name, text in files.items():
                member = tarfile.TarInfo(f"llama_cpp_python-1/{name}")
                member.size = len(text)
                sdist.addfile(member, io.BytesIO(text.encode()))
        (project / "index.html").write_text('<a href="llama_cpp_python-1.tar.gz">llama_cpp_python-1.tar.gz</a>')

        class Quiet(http.server.SimpleHTTPRequestHandler):
            def __init__(handler, *arguments):
                super().__init__(*arguments, directory=self.folder / "www")

            def log_message(self, *arguments):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        environment = mock.patch.dict(os.environ, {"PIP_INDEX_URL": f"http://127.0.0.1:{server.server_port}/simple/", "PIP_CONFIG_FILE": os.devnull,
                                                   "PIP_CACHE_DIR": str(self.folder / "cache"), "NO_PROXY": "127.0.0.1"})
        environment.start()
        self.addCleanup(environment.stop)

    def test_each_build_of_llama_cpp_is_built_with_its_own_flags(self):
        said = [subprocess.run([python, "-c", "import built; print(built.flags)"], check=True, capture_output=True, text=True).stdout
                for python in (peers.llama_cpp(), peers.llama_cpp_avx2())]
        self.assertIn(peers.NATIVE, said[0])
        self.assertIn(peers.AVX2, said[1])


class Starting(unittest.TestCase):
    def test_layers_say_what_is_missing(self):
        asked = mock.Mock(only=["torchao int8"], without=[], gigabytes=0.1, torchao=None)
        with mock.patch.object(peers, "torchao", mock.Mock(side_effect=peers.Missing("no such package"))):
            contenders, facts = layers.start_all("int8", layers.Peers(asked, []), asked)
        self.assertEqual((contenders, facts), ([], {"torchao int8": {"lacks": "no such package"}}))


if __name__ == "__main__":
    unittest.main()
