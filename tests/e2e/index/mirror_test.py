"""`variant mirror`: an index of what machines need, that is added to and read by pip and uv."""

import hashlib
import json
import os
import pathlib
import shutil
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / one) for one in ("", "install")]
from fleet import MACHINES, fleet, publish_for_fleet
from slow_server import SlowServer, interrupt
from support import EnvironmentTestCase, Wheel, tree


class MirrorCase(EnvironmentTestCase):
    def setUp(self):
        super().setUp()
        self.out = self.root / "mirror"
        self.url = (self.out / "simple").as_uri()

    def mirror(self, *words, index=None, out=None, **options):
        return self.variant("mirror", *words, "--index-url", index or self.index.url, "--out", out or self.out, "--python", self.venv, **options)

    def wheels(self, url, machine, name="demo"):
        told = self.assert_ok(self.variant("resolve", name, "--index-url", url, "--json", "--python", self.venv, "--for", machine)).json
        return {one["wheel"] for one in told["packages"]}

    def page(self, project):
        return {file["filename"]: file for file in json.loads((self.out / "simple" / project / "index.json").read_text())["files"]}

    def assert_nothing_beside(self):
        self.assertEqual([path.name for path in self.root.iterdir() if path.name.startswith(".mirror")], [])


class Kept(MirrorCase):
    def setUp(self):
        super().setUp()
        publish_for_fleet(self.index)

    def test_each_machine_gets_from_it_what_it_gets_from_the_index(self):
        result = self.assert_ok(self.mirror("demo", *fleet(), "--json"))
        self.assertNotIn("alone", result.err)
        self.assertEqual(result.json["dest"], str(self.out))
        wanted = {machine: self.wheels(self.index.url, machine) for machine in MACHINES}
        self.assertEqual({one["file"] for one in result.json["files"]}, set().union(*wanted.values()))
        for machine in MACHINES:
            self.assertEqual(self.wheels(self.url, machine), wanted[machine])
        for name, file in {**self.page("demo"), **self.page("plain")}.items():
            data = (self.out / "simple" / name.split("-")[0] / name).read_bytes()
            self.assertEqual(file["hashes"]["sha256"], hashlib.sha256(data).hexdigest())
        self.assert_nothing_beside()

    def test_pip_and_uv_install_from_it(self):
        self.assert_ok(self.mirror("plain", *fleet(("x86_64:v3", "gh200"))))
        self.assert_ok(self.pip("install", "plain", "-i", self.url))
        self.assertEqual(self.installed(), {"plain": ("1.0", None)})
        other = self.make_venv(self.root / "other")
        self.assert_ok(self.uv("pip", "install", "plain", "--default-index", self.url, "--python", other / "bin/python"))
        self.assertEqual(self.installed(other), {"plain": ("1.0", None)})

    def test_again_only_what_is_new_comes(self):
        self.assert_ok(self.mirror("demo", *fleet()))
        before = {path: path.stat().st_mtime_ns for path in self.out.rglob("*")}
        again = self.assert_ok(self.mirror("demo", *fleet(), "--json"))
        self.assertTrue(all(one["was_there"] for one in again.json["files"]))
        self.assertEqual({path: path.stat().st_mtime_ns for path in self.out.rglob("*")}, before)
        self.index.add_wheel(Wheel("plain", "1.5"))
        old = tree(self.out / "simple")
        added = self.assert_ok(self.mirror("demo", *fleet(), "--json"))
        self.assertEqual([one["file"] for one in added.json["files"] if not one["was_there"]], ["plain-1.5-py3-none-any.whl"])
        now = tree(self.out / "simple")
        self.assertEqual({path: data for path, data in now.items() if path in old and path.endswith(".whl")},
                         {path: data for path, data in old.items() if path.endswith(".whl")})
        self.assertEqual(set(self.page("plain")) - {"plain-2.0-py3-none-manylinux_2_17_aarch64.whl"},
                         {"plain-1.0-py3-none-any.whl", "plain-1.5-py3-none-any.whl"})
        self.assert_nothing_beside()

    def test_other_packages_join_it(self):
        self.assert_ok(self.mirror("arm"))
        self.assert_ok(self.mirror("plain"))
        self.assertEqual({one["name"] for one in json.loads((self.out / "simple/index.json").read_text())["projects"]}, {"arm", "plain"})

    def test_another_file_under_a_mirrored_name(self):
        self.assert_ok(self.mirror("plain"))
        place = self.out / "simple/plain/plain-1.0-py3-none-any.whl"
        good = place.read_bytes()
        place.write_bytes(b"x" * len(good))
        for words in ([], ["--dry-run"]):
            self.assert_fails(self.mirror("plain", *words), 1, f"{place} is not the file", "variant index remove plain-1.0-py3-none-any.whl")
        self.assert_ok(self.variant("index", "remove", place.name, "--out", self.out))
        self.assert_ok(self.mirror("plain"))
        self.assertEqual(place.read_bytes(), good)
        self.assert_nothing_beside()

    def test_nothing_is_there_where_one_machine_gets_nothing(self):
        self.index.add_wheel(Wheel("x86", "1.0", tags="py3-none-manylinux_2_17_x86_64"))
        self.assert_fails(self.mirror("x86", *fleet()), 3, "gh200")
        self.assertFalse(self.out.exists())
        self.assert_nothing_beside()

    def test_a_dry_run_changes_nothing(self):
        told = self.assert_ok(self.mirror("demo", *fleet(), "--dry-run", "--json")).json
        self.assertFalse(any(one["was_there"] for one in told["files"]))
        self.assertFalse(self.out.exists())
        self.assert_ok(self.mirror("demo", *fleet()))
        told = self.assert_ok(self.mirror("demo", *fleet(), "--dry-run", "--json")).json
        self.assertTrue(all(one["was_there"] for one in told["files"]))

    def test_what_lies_where_files_arrive_is_nobody_elses(self):
        place = self.root / ".mirror-arriving"
        precious = self.root / "precious"
        Wheel("evil", "9.0").write(precious)
        Wheel("plain", "1.0", files={"evil.py": ""}).write(precious)
        for prepare in (lambda: place.symlink_to(precious), lambda: place.write_text("mine"),
                        lambda: (place.mkdir(), place.chmod(0o777), Wheel("evil", "9.0").write(place))):
            prepare()
            before = tree(precious)
            self.assert_ok(self.mirror("plain", "--dry-run"))
            self.assert_fails(self.mirror("plain"), 1, ".mirror-arriving")
            self.assertEqual(tree(precious), before)
            self.assertFalse(self.out.exists())
            self.assertTrue(place.exists())
            place.unlink() if place.is_symlink() or place.is_file() else shutil.rmtree(place)

    def test_only_what_this_command_wants_is_published(self):
        (self.root / ".mirror-arriving/whole").mkdir(parents=True, mode=0o700)
        Wheel("evil", "9.0").write(self.root / ".mirror-arriving/whole")
        self.assert_ok(self.mirror("plain"))
        self.assertEqual({path.name for path in (self.out / "simple").iterdir() if path.is_dir()}, {"plain"})
        self.assert_nothing_beside()

    def test_a_wheel_that_is_refused_does_not_stop_others(self):
        bad = Wheel("bad", "1.0")
        bad.members[f"{bad.dist_info}/RECORD"] = b"bad.py,sha256=AAAA,1\n"
        self.index.add_wheel(bad)
        self.assert_fails(self.mirror("bad"), 1, "bad-1.0")
        self.assert_ok(self.mirror("plain"))
        self.assert_nothing_beside()

    def test_words_and_places(self):
        inside = self.root / "empty"
        inside.mkdir()
        self.assert_fails(self.mirror("plain", cwd=inside, out="."), 2, "working folder")
        self.assert_fails(self.mirror("plain", out="/"), 1, "/")
        self.assert_fails(self.variant("mirror", "plain", "--python", self.venv), 2, "--out")
        self.assert_fails(self.mirror(), 2, "nothing to save")
        self.out.mkdir()
        (self.out / "thesis.txt").write_text("mine")
        for words in ([], ["--dry-run"]):
            self.assert_fails(self.mirror("plain", *words), 1, str(self.out))
            self.assert_nothing_beside()
        self.assertEqual([path.name for path in self.out.iterdir()], ["thesis.txt"])


class Interrupted(MirrorCase):
    def test_it_goes_on_where_it_ended(self):
        wheel = Wheel("slow", "1.0", files={"slow.bin": os.urandom(6 << 20)}, requires=["quick"])
        self.index.add_wheel(wheel)
        self.index.add_wheel(Wheel("quick", "1.0"))
        server = SlowServer(self, self.root / "index", 4 << 20)
        words = ["mirror", "slow", "--index-url", server.url, "--out", str(self.out), "--python", str(self.venv)]
        interrupt(self, words, self.root / ".mirror-arriving" / wheel.file_name, 4 << 20)
        self.assertFalse(self.out.exists())
        server.given, server.requested = 0, []
        self.assert_ok(self.mirror("slow", index=server.url))
        self.assertEqual([begin for name, begin, size in server.requested if name == wheel.file_name and size > 1 << 20], [4 << 20])
        self.assertEqual((self.out / "simple/slow" / wheel.file_name).read_bytes(),
                         (self.root / "index/slow" / wheel.file_name).read_bytes())
        self.assert_nothing_beside()


if __name__ == "__main__":
    unittest.main()
