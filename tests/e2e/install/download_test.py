"""`variant download`: the files of one machine and of many, checked, whole or not there, and what is installed from them."""

import hashlib
import os
import pathlib
import signal
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import support
from fleet import MACHINES, fleet, publish_for_fleet
from slow_server import SlowServer, interrupt
from support import EnvironmentTestCase, Wheel, levels_document


class Fleet(EnvironmentTestCase):
    def setUp(self):
        super().setUp()
        self.dest = self.root / "files"
        publish_for_fleet(self.index)

    def download(self, *words, index=True, **options):
        where = ["--index-url", self.index.url] if index else []
        return self.variant("download", *words, *where, "--dest", self.dest, "--python", self.venv, **options)

    def wheels(self, *where, machine=None, name="demo"):
        result = self.assert_ok(self.variant("resolve", name, *where, "--json", "--python", self.venv, *(["--for", machine] if machine else [])))
        return {one["wheel"] for one in result.json["packages"]}

    def test_each_machine_installs_from_the_folder_what_it_would_from_the_index(self):
        result = self.assert_ok(self.download("demo", *fleet(), "--json"))
        self.assertNotIn(f"{self.dest} alone", result.err)
        wanted = {machine: self.wheels("--index-url", self.index.url, machine=machine) for machine in MACHINES}
        files = {one["file"]: one for one in result.json["files"]}
        self.assertEqual(set(files), set().union(*wanted.values()) | {"demo-1.0-variants.json"})
        self.assertEqual(set(os.listdir(self.dest)), set(files))
        for name, one in files.items():
            self.assertEqual(one["sha256"], hashlib.sha256((self.dest / name).read_bytes()).hexdigest())
            self.assertEqual(one["size"], (self.dest / name).stat().st_size)
            self.assertFalse(one["was_there"])
            expected = [machine for machine in MACHINES if name in wanted[machine]] if one["kind"] == "wheel" else list(MACHINES)
            self.assertEqual(one["machines"], expected)
        for machine in MACHINES:
            self.assertEqual(self.wheels("--no-index", "--find-links", self.dest, machine=machine), wanted[machine])
            self.assert_ok(self.variant("install", "demo", "--no-index", "--find-links", self.dest, "--for", machine, "--dry-run", "--python",
                                        self.venv))

    def test_a_damaged_or_other_file_is_replaced_with_a_word(self):
        self.assert_ok(self.download("plain"))
        place = self.dest / "plain-1.0-py3-none-any.whl"
        good = place.read_bytes()
        for bad in (good[:-1], b"", b"x" * len(good)):
            place.write_bytes(bad)
            result = self.assert_ok(self.download("plain"))
            self.assertIn("is replaced", result.err)
            self.assertEqual(place.read_bytes(), good)
        place.unlink()
        place.mkdir()
        self.assert_fails(self.download("plain"), 1, "is in the way")

    def test_a_file_with_another_hash_or_size_is_not_kept(self):
        wheel = Wheel("bad", "1.0")
        for changes in ({"hashes": {"sha256": "0" * 64}}, {"size": 7}):
            with self.subTest(str(changes)):
                self.index.add_wheel(wheel, **changes)
                self.assert_fails(self.download("bad"), 1, wheel.file_name)
                self.assertFalse((self.dest / wheel.file_name).exists())
        self.index.add_variants("demo", "1.0", levels_document(), hashes={"sha256": "0" * 64})
        self.assertNotEqual(self.download("demo", *fleet()).code, 0)
        self.assertEqual([path.name for path in self.dest.iterdir() if not path.name.startswith(".")], [])

    def test_a_file_that_is_no_wheel_is_not_kept(self):
        self.index.add("broken", "broken-1.0-py3-none-any.whl", b"no archive")
        self.assertNotEqual(self.download("broken").code, 0)
        self.assertEqual([path.name for path in self.dest.glob("*")], [])

    def test_hashes_of_the_user_count(self):
        good = hashlib.sha256((self.index.folder / "plain/plain-1.0-py3-none-any.whl").read_bytes()).hexdigest()
        for digest, code in ((good, 0), ("1" * 64, 1)):
            needs = self.root / "needs.txt"
            needs.write_text(f"plain==1.0 --hash=sha256:{digest}\n")
            result = self.download("--require-hashes", "-r", needs)
            self.assertEqual(result.code == 0, code == 0, str(result))
        self.assertNotEqual(self.download("plain", "--require-hashes").code, 0)

    def test_nothing_is_downloaded_where_one_machine_gets_nothing(self):
        self.index.add_wheel(Wheel("x86", "1.0", tags="py3-none-manylinux_2_17_x86_64"))
        result = self.assert_fails(self.download("x86", *fleet(), "--json"), 3)
        self.assertEqual(["error" in one for one in result.json["machines"]], [False, False, False, True])
        self.assertFalse(self.dest.exists())

    def test_a_dry_run_creates_nothing(self):
        result = self.assert_ok(self.download("demo", *fleet(), "--dry-run", "--json"))
        self.assertFalse(self.dest.exists())
        self.assertTrue(result.json["dry_run"])
        self.assertEqual({one["file"] for one in result.json["files"]},
                         {one["file"] for one in self.assert_ok(self.download("demo", *fleet(), "--json")).json["files"]})

    def test_options(self):
        self.assert_ok(self.download("demo", "--no-deps", "--for", "x86_64:v3"))
        self.assertEqual({path.name for path in self.dest.iterdir()}, {"demo-1.0-py3-none-any-v3.whl", "demo-1.0-variants.json"})
        self.assert_fails(self.download(), 2, "nothing to save")
        self.assertNotEqual(self.download("plain", "--no-binary", ":all:").code, 0)
        here = self.root / "here"
        here.mkdir()
        self.assert_ok(self.variant("download", "plain==1.0", "--index-url", self.index.url, "--python", self.venv, cwd=here))
        self.assertEqual([path.name for path in here.iterdir()], ["plain-1.0-py3-none-any.whl"])

    def test_metadata_that_lies_is_found_out(self):
        """What the index says a wheel requires is not what it does: the closure is that of the wheel."""
        lying = Wheel("liar", "1.0", requires=["arm"])
        metadata = "Metadata-Version: 2.1\nName: liar\nVersion: 1.0\nRequires-Dist: plain==1.0\n".encode()
        self.index.add_wheel(lying, **{"core-metadata": {"sha256": hashlib.sha256(metadata).hexdigest()}})
        (self.index.folder / "liar" / (lying.file_name + ".metadata")).write_bytes(metadata)
        result = self.assert_ok(self.download("liar"))
        self.assertIn("not the wheel's own", result.err)
        self.assertEqual({path.name for path in self.dest.iterdir()}, {lying.file_name, "arm-1.0-py3-none-any.whl"})

    def test_two_commands_do_not_share_a_folder(self):
        import fcntl
        (self.dest / ".axle-unfinished").mkdir(parents=True)
        folder = os.open(self.dest / ".axle-unfinished", os.O_RDONLY)
        self.addCleanup(os.close, folder)
        fcntl.flock(folder, fcntl.LOCK_EX)
        self.assert_fails(self.download("plain"), 1, "another command downloads into")

    def test_what_a_folder_has_already_may_change_the_choice(self):
        self.dest.mkdir()
        Wheel("plain", "9.0").write(self.dest)
        result = self.assert_ok(self.download("plain"))
        self.assertIn("gets plain-9.0-py3-none-any.whl instead of plain-1.0-py3-none-any.whl", result.err)

    def test_pip_and_uv_install_from_the_folder(self):
        self.assert_ok(self.download("plain", *fleet(("x86_64:v3", "gh200"))))
        self.assertEqual({path.name for path in self.dest.iterdir()},
                         {"plain-1.0-py3-none-any.whl", "plain-2.0-py3-none-manylinux_2_17_aarch64.whl", "arm-1.0-py3-none-any.whl"})
        self.assert_ok(self.pip("install", "plain", "--no-index", "--find-links", self.dest))
        self.assertEqual(self.installed(), {"plain": ("1.0", None)})
        other = self.make_venv(self.root / "other")
        self.assert_ok(self.uv("pip", "install", "plain", "--no-index", "--find-links", self.dest, "--python", other / "bin/python"))
        self.assertEqual(self.installed(other), {"plain": ("1.0", None)})
        # For another platform than this one, too.
        self.assert_ok(self.uv("pip", "install", "plain", "--no-index", "--find-links", self.dest, "--target", self.root / "arm",
                               "--python-platform", "aarch64-manylinux_2_28", "--python", other / "bin/python"))
        self.assertTrue((self.root / "arm/plain-2.0.dist-info").exists())

    def test_the_files_are_those_of_pip(self):
        page = self.root / "pages"
        for options in ([], ["--python-version", "3.9"], ["--platform", "manylinux_2_17_aarch64", "--platform", "any"],
                        ["--python-version", "312", "--platform", "manylinux2014_x86_64", "--abi", "cp312", "--implementation", "cp"]):
            with self.subTest(" ".join(options)):
                wheels = self.root / "wheels"
                for one in (Wheel("top", "1.0", requires=["leaf"], tags="py3-none-any"), Wheel("leaf", "1.0"), Wheel("leaf", "1.5", tags="cp39-none-any"),
                            Wheel("leaf", "2.0", tags="py3-none-manylinux_2_17_aarch64"), Wheel("leaf", "3.0", tags="cp312-cp312-manylinux2014_x86_64")):
                    one.write(wheels)
                ours, theirs = self.root / f"ours{len(options)}", self.root / f"theirs{len(options)}"
                self.assert_ok(self.variant("download", "top", "--no-index", "-f", wheels, "-d", ours, "--python", self.venv, *options))
                self.assert_ok(self.pip("download", "top", "--no-index", "-f", wheels, "-d", theirs, "--only-binary=:all:", *options))
                self.assertEqual(support.tree(ours), support.tree(theirs))


class Interrupted(EnvironmentTestCase):
    def setUp(self):
        super().setUp()
        self.dest = self.root / "files"
        self.wheel = Wheel("slow", "1.0", files={"slow.bin": os.urandom(6 << 20)}, requires=["quick"])
        self.index.add_wheel(self.wheel)
        self.index.add_wheel(Wheel("quick", "1.0"))
        self.server = SlowServer(self, self.root / "index", 4 << 20)
        self.words = ["download", "slow", "--index-url", self.server.url, "--dest", str(self.dest),
                      "--python", str(self.venv)]

    def interrupt(self, by):
        interrupt(self, self.words, self.dest / ".axle-unfinished" / self.wheel.file_name, 4 << 20, by)
        self.assertFalse((self.dest / self.wheel.file_name).exists())
        self.assertLessEqual({path.name for path in self.dest.iterdir()}, {".axle-unfinished", "quick-1.0-py3-none-any.whl"})

    def test_what_is_there_is_not_fetched_again(self):
        self.server.given = 0
        self.assert_ok(self.variant(*self.words))
        self.assertEqual({name for name, _, size in self.server.requested if size > 1 << 20}, {self.wheel.file_name})
        before = {path: path.stat().st_mtime_ns for path in self.dest.iterdir()}
        self.server.requested = []
        again = self.assert_ok(self.variant(*self.words, "--json"))
        self.assertTrue(all(one["was_there"] for one in again.json["files"]))
        self.assertEqual({path: path.stat().st_mtime_ns for path in self.dest.iterdir()}, before)
        self.assertEqual(self.server.requested, [])

    def test_it_goes_on_where_it_ended(self):
        for by in (signal.SIGKILL, signal.SIGTERM):
            with self.subTest(by):
                self.server.given = 4 << 20
                self.interrupt(by)
                self.server.given, self.server.requested = 0, []
                result = self.assert_ok(self.variant(*self.words))
                self.assertEqual((self.dest / self.wheel.file_name).read_bytes(), (self.root / "index/slow" / self.wheel.file_name).read_bytes())
                large = [(begin, size) for name, begin, size in self.server.requested if name == self.wheel.file_name and size > 1 << 20]
                whole = (self.dest / self.wheel.file_name).stat().st_size
                self.assertEqual(large, [(4 << 20, whole - (4 << 20))], str(result))
                self.assertEqual({path.name for path in self.dest.iterdir()}, {self.wheel.file_name, "quick-1.0-py3-none-any.whl"})
                (self.dest / self.wheel.file_name).unlink()

    def test_a_damaged_beginning_is_not_gone_on_with(self):
        self.interrupt(signal.SIGKILL)
        part = self.dest / ".axle-unfinished" / self.wheel.file_name
        with open(part, "r+b") as file:
            file.seek(1 << 20)
            file.write(b"damage")
        self.server.given = 0
        self.assert_ok(self.variant(*self.words))
        self.assertEqual((self.dest / self.wheel.file_name).read_bytes(), (self.root / "index/slow" / self.wheel.file_name).read_bytes())


if __name__ == "__main__":
    unittest.main()
