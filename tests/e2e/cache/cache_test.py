"""variant cache: what is in it, what is removed, and that nothing else is."""

import fcntl
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from loopback import Loopback
from support import VARIANT, EnvironmentTestCase, Wheel, tree

DAY = 86400


def everything(folder):
    """Every file, folder and link below `folder`."""
    return sorted(str(path.relative_to(folder)) for path in pathlib.Path(folder).rglob("*"))


class CacheTestCase(EnvironmentTestCase):
    def setUp(self):
        super().setUp()
        self.cache = self.root / "cache"
        self.env["AXLE_CACHE_DIR"] = str(self.cache)
        for name in ("demo", "other"):
            self.index.add_wheel(Wheel(name, "1.0", files={f"{name}.py": "x = 1\n" * 1000, f"{name}_more.py": "y = 2\n"}))

    def fill(self, *names, **options):
        return self.assert_ok(self.install(*(names or ("demo", "other")), index=self.index, **options))

    def cached(self, *arguments, code=0, **options):
        result = self.variant("cache", *arguments, **options)
        self.assertEqual(result.code, code, str(result))
        return result

    def entries(self):
        """Name of the package -> folder in the store."""
        found = {}
        for manifest in self.cache.glob("store/wheels/*/manifest"):
            found[manifest.read_bytes().split(b"\0")[1].decode().split("-")[0]] = manifest.parent
        return found

    def kinds(self):
        rows = self.cached("info", "--json").json["kinds"]
        return {row["kind"]: row["count"] for row in rows if row["count"]}


class Showing(CacheTestCase):
    def test_dir(self):
        self.assertEqual(self.cached("dir").out, f"{self.cache}\n")
        self.assertEqual(self.cached("dir", "--json", "--cache-dir", "here").json["folder"], str(self.root / "here"))
        self.assertFalse(self.cache.exists(), "it is only said")
        del self.env["AXLE_CACHE_DIR"]
        self.assertEqual(self.cached("dir").out, f"{self.root}/home/.cache/axle\n")
        del self.env["HOME"]
        self.assert_fails(self.cached("dir", code=1), 1, "AXLE_CACHE_DIR")

    def test_a_cache_that_does_not_exist_is_empty_and_stays_so(self):
        self.assertEqual(self.cached("info", "--json").json["bytes"], 0)
        for verb in ("clean", "prune"):
            self.assertIn("nothing to remove", self.cached(verb).out)
        self.assertIn("0 wheels compared", self.cached("verify").out)
        self.assertFalse(self.cache.exists())

    def test_info(self):
        self.fill()
        told = self.cached("info", "--json").json
        kinds = {row["kind"]: row for row in told["kinds"]}
        self.assertEqual(kinds["wheels"]["count"], 2)
        real = sum(path.stat().st_size for path in self.cache.glob("store/wheels/**/*") if path.is_file() and not path.is_symlink())
        self.assertEqual(kinds["wheels"]["bytes"], real)
        shared = sum(path.stat().st_size for path in self.cache.glob("store/wheels/**/*")
                     if path.is_file() and not path.is_symlink() and path.stat().st_nlink > 1)
        self.assertGreater(shared, 12000)
        self.assertEqual(told["shared_bytes"], shared)
        text = self.cached("info").out
        self.assertRegex(text, r"\n +2  unpacked wheels +[\d.]+ kB\n")
        self.assertIn("environments share", text)

    def test_byte_code(self):
        self.fill("demo", "--compile-bytecode")
        self.fill("other", "--compile-bytecode")
        kinds = {row["kind"]: row for row in self.cached("info", "--json").json["kinds"]}
        files = [path for path in self.cache.glob("store/byte-code/**/*") if path.is_file() and not path.is_symlink()]
        self.assertEqual((kinds["byte_code"]["count"], kinds["byte_code"]["bytes"]), (2, sum(path.stat().st_size for path in files)))
        self.assertEqual(self.cached("verify").out, "2 wheels and the byte code of 2 compared, 0 damaged\n")
        code = next(path for path in files if path.name.startswith("demo_more."))
        data = code.read_bytes()
        code.unlink()
        code.write_bytes(data[:-1] + b"?")
        told = self.cached("verify", "--fix", code=1).out
        self.assertIn(f"{code.name} has another content", told)
        self.assertIn("2 wheels and the byte code of 2 compared, 1 damaged and removed", told)
        self.assertEqual(self.cached("clean", "other", "--json").json["removed"]["byte_code"], 1)
        self.assertEqual(list(self.cache.glob("store/byte-code/*")), [])
        self.assertEqual(set(self.entries()), {"demo"})

    def test_interrupted_downloads(self):
        self.fill()
        partial = self.cache / "store" / ("partial-" + "a" * 64)
        (partial / "entry/tree/demo-1.0.dist-info").mkdir(parents=True)
        (partial / "log").write_text("one")
        held = os.open(partial, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(held, fcntl.LOCK_EX)
        self.assertNotIn("partial_wheels", self.kinds(), "a command works in it")
        os.close(held)
        self.assertEqual(self.kinds()["partial_wheels"], 1)
        self.assertEqual(self.cached("prune", "--json").json["removed"]["partial_wheels"], 0)
        self.assertEqual(self.cached("clean", "other", "--json").json["removed"]["partial_wheels"], 0)
        self.assertEqual(self.cached("clean", "demo", "--json").json["removed"]["partial_wheels"], 1)
        self.assertFalse(partial.exists())

    def test_pages_and_metadata_of_servers(self):
        server = Loopback(self)
        wheel = Wheel("demo", "1.0")
        data = wheel.bytes()
        page = ('<a href="/files/{0}#sha256={1}" data-core-metadata="true">{0}</a>'
                .format(wheel.file_name, hashlib.sha256(data).hexdigest()))
        server.answers["/simple/demo/"] = (200, {"Content-Type": "text/html", "ETag": '"1"'}, page)
        server.answers[f"/files/{wheel.file_name}"] = (200, {}, data)
        server.answers[f"/files/{wheel.file_name}.metadata"] = (200, {"ETag": '"2"'}, wheel.members[f"{wheel.dist_info}/METADATA"])
        self.assert_ok(self.install("demo", index=server.url("/simple")))
        kinds = self.kinds()
        self.assertEqual((kinds["pages"], kinds["metadata"], kinds["wheels"]), (1, 1, 1))
        self.cached("clean", "other")
        self.assertEqual(self.kinds(), kinds)
        removed = self.cached("clean", "Demo", "--json").json["removed"]
        self.assertEqual((removed["pages"], removed["metadata"], removed["wheels"]), (1, 1, 1))
        self.assertEqual([path for path in self.cache.glob("http-2/?/*")], [], "the forms went with them")
        self.assert_ok(self.install("demo", "--reinstall", index=server.url("/simple")))


class Verifying(CacheTestCase):
    def test_sound(self):
        self.fill()
        self.assertEqual(self.cached("verify").out, "2 wheels compared, 0 damaged\n")

    def test_damage_is_named_and_removed(self):
        self.fill()
        demo = self.entries()["demo"]
        changes = {"demo.py": "has another content", "demo_more.py": "has 3 bytes instead of 6"}
        for name, content in (("demo.py", "X = 1\n" * 1000), ("demo_more.py", "bad")):
            (demo / "tree" / name).unlink()
            (demo / "tree" / name).write_text(content)
        (demo / "tree/demo-1.0.dist-info/WHEEL").unlink()
        told = self.cached("verify", code=1)
        for name, fact in (*changes.items(), ("demo-1.0.dist-info/WHEEL", "is missing")):
            self.assertIn(f"  {name} {fact}\n", told.out)
        self.assertIn("2 wheels compared, 1 damaged\n", told.out)
        [damaged] = self.cached("verify", "--json", code=1).json["damaged"]
        self.assertEqual((damaged["file"], damaged["path"]), ("demo-1.0-py3-none-any.whl", str(demo)))
        self.assertIn("1 damaged and removed", self.cached("verify", "--fix", code=1).out)
        self.assertEqual(set(self.entries()), {"other"})
        self.cached("verify")
        self.fill("demo", "--reinstall")
        self.assertEqual(set(self.entries()), {"demo", "other"})
        self.cached("verify")

    def test_a_link_in_the_place_of_a_file_and_a_pipe(self):
        self.fill()
        demo = self.entries()["demo"] / "tree/demo.py"
        demo.rename(self.root / "elsewhere.py")
        demo.symlink_to(self.root / "elsewhere.py")
        other = self.entries()["other"] / "tree/other.py"
        other.unlink()
        os.mkfifo(other)
        told = self.cached("verify", "--fix", code=1).out
        self.assertIn("demo.py is not a file", told)
        self.assertIn("other.py is not a file", told)
        self.assertEqual(self.entries(), {})
        self.assertTrue((self.root / "elsewhere.py").exists())


class Cleaning(CacheTestCase):
    def test_environments_keep_what_they_have_and_only_last_links_are_freed(self):
        self.fill()
        before = tree(self.venv)
        other = self.make_venv(self.root / "second")
        self.assert_ok(self.variant("install", "other", "-i", self.index.url, "--python", other))
        self.assert_ok(self.variant("uninstall", "other", "--python", self.venv))
        self.assert_ok(self.variant("uninstall", "other", "--python", other))
        sole = sum(path.stat().st_size for path in self.cache.rglob("*") if path.is_file() and not path.is_symlink()
                   and path.stat().st_nlink == 1 and path.name != "lock")
        foreseen = self.cached("clean", "--dry-run", "--json").json
        self.assertEqual(set(self.entries()), {"demo", "other"})
        done = self.cached("clean", "--json").json
        self.assertEqual((foreseen.pop("dry_run"), done.pop("dry_run")), (True, False))
        self.assertEqual(foreseen, done)
        self.assertEqual(done["freed_bytes"], sole)
        self.assertEqual(everything(self.cache), ["lock"])
        kept = {name: digest for name, digest in before.items() if "other" not in name and ".axle" not in name}
        self.assertEqual({name: digest for name, digest in tree(self.venv).items() if name in kept}, kept)
        self.assert_ok(self.variant("check", "--deep", "--python", self.venv))
        self.fill("demo", "other", "--reinstall")
        self.assertEqual(set(self.entries()), {"demo", "other"})

    def test_text_and_quiet(self):
        self.fill()
        told = self.cached("clean", "demo").out
        self.assertRegex(told, rf"^ +1  unpacked wheels\n[\d.]+ k?B freed in {self.cache}\n$")
        self.assertEqual(self.cached("clean", "demo").out, "nothing to remove\n")
        self.assertEqual(self.cached("clean", "-q").out, "")
        self.assertEqual(self.entries(), {})

    def test_of_one_package(self):
        self.fill()
        self.assertEqual(self.cached("clean", "DEMO", "--json").json["removed"]["wheels"], 1)
        self.assertEqual(set(self.entries()), {"other"})
        for wrong in ("../demo", "demo==1.0", ""):
            self.assert_fails(self.cached("clean", wrong, code=2), 2, "not a valid name")

    def test_another_folder_is_refused(self):
        self.fill()
        for place in ("project", "home"):
            folder = self.root / place
            (folder / "builds/x").mkdir(parents=True)
            (folder / "notes.txt").write_text("precious")
            before = everything(folder)
            for verb in ("clean", "prune", "info", "verify"):
                more = ["--fix"] if verb == "verify" else []
                self.assert_fails(self.cached(verb, *more, "--cache-dir", folder, code=1), 1, f"{folder} is not a cache of Axle")
            self.assertEqual(everything(folder), before)
        (self.root / "file").write_text("")
        self.assert_fails(self.cached("clean", "--cache-dir", self.root / "file", code=1), 1, "is not a folder")

    def test_what_is_not_axles_within_its_folders_stays(self):
        self.fill()
        strangers = [self.cache / name for name in ("builds/mine/a", "plugins/mine/a", "store/mine/a", "store/wheels/mine/a",
                                                    "http-2/a/mine", "http-2/mine", "detect/mine", "interpreters/mine", "installed/mine")]
        for path in strangers:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("precious")
        self.cached("clean")
        self.assertEqual([path for path in strangers if not path.exists()], [])
        self.assertEqual(self.entries(), {})

    def test_links_are_not_followed(self):
        self.fill()
        outside = self.root / "outside"
        shutil.copytree(self.cache, outside, symlinks=True)
        before = everything(outside)
        for name, target in (("http-2", outside), ("builds", outside / "store"), ("plugins", outside)):
            shutil.rmtree(self.cache / name, ignore_errors=True)
            (self.cache / name).symlink_to(target)
        (self.cache / "store/wheels" / ("0" * 64)).symlink_to(outside / "store")
        (self.cache / "store/work-x").symlink_to(outside)
        demo = self.entries()["demo"]
        (demo / "tree/link").symlink_to(outside)
        (demo / "tree/demo.py").unlink()
        (demo / "tree/demo.py").symlink_to(outside / "lock")
        told = self.cached("clean")
        self.assertIn(f"left alone: {self.cache}/builds is a link", told.err)
        self.assertFalse(demo.exists())
        self.assertEqual(everything(outside), before)
        (self.root / "linked").symlink_to(self.cache)
        self.fill("demo", "--reinstall")
        self.cached("clean", "--cache-dir", self.root / "linked")  # the folder itself may be one
        self.assertEqual(self.entries(), {})

    def test_a_later_format_is_left_alone(self):
        self.fill()
        later = self.cache / "http-3/a"
        later.mkdir(parents=True)
        demo = self.entries()["demo"] / "manifest"
        demo.write_bytes(demo.read_bytes().replace(b"axle-manifest 2", b"axle-manifest 3"))
        for verb in ("prune", "clean"):
            told = self.cached(verb)
            for path in (self.cache / "http-3", demo.parent):
                self.assertIn(f"left alone: {path} is of a later version of Axle", told.err)
        self.assertTrue(later.exists())
        self.assertTrue((demo.parent / "tree/demo.py").exists())
        self.assertEqual(set(self.entries()), {"demo"})

    def test_it_waits_for_commands_that_use_the_cache(self):
        self.fill()
        with (self.cache / "lock").open("r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH)
            waiting = subprocess.Popen([str(VARIANT), "cache", "clean"], env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       text=True)
            self.assertIn("waiting for other commands that use the cache", waiting.stderr.readline())
            self.assertEqual(set(self.entries()), {"demo", "other"})
            self.cached("info")
            fcntl.flock(lock, fcntl.LOCK_UN)
            self.assertEqual((waiting.wait(60), self.entries()), (0, {}))
            waiting.communicate()
            fcntl.flock(lock, fcntl.LOCK_EX)
            installing = subprocess.Popen([str(VARIANT), "install", "demo", "--reinstall", "-i", self.index.url, "--python", str(self.venv)],
                                          env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.assertIn("waiting for another command that removes", installing.stderr.readline())
            self.assertIsNone(installing.poll())
        self.assertEqual(installing.wait(60), 0)
        installing.communicate()

    def test_a_work_folder_in_use_stays(self):
        self.fill()
        work = self.cache / "store/work-abcdef"
        (work / "entry").mkdir(parents=True)
        held = os.open(work, os.O_RDONLY | os.O_DIRECTORY)
        self.addCleanup(os.close, held)
        fcntl.flock(held, fcntl.LOCK_EX)
        self.cached("clean")
        self.assertTrue((work / "entry").exists())
        fcntl.flock(held, fcntl.LOCK_UN)
        self.assertEqual(self.cached("prune", "--json").json["removed"]["leftovers"], 1)
        self.assertFalse(work.exists())

    def test_killed_at_every_call_it_leaves_a_sound_cache(self):
        if shutil.which("strace") is None:
            self.skipTest("strace is not installed")
        self.need_program_as_shipped()
        self.fill()
        whole = self.root / "whole"
        shutil.copytree(self.cache, whole, symlinks=True, copy_function=shutil.copy2)
        killed = 0
        for call in ("rename", "renameat", "unlink", "unlinkat"):
            for number in range(1, 40, 3 if call == "unlinkat" else 1):
                shutil.rmtree(self.cache)
                shutil.copytree(whole, self.cache, symlinks=True)
                done = subprocess.run(["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e",
                                       f"inject={call}:signal=KILL:when={number}", str(VARIANT), "cache", "clean"],
                                      env=self.env, capture_output=True, timeout=60)
                if done.returncode == 0:
                    break
                killed += 1
                told = self.cached("verify").out
                self.assertIn(" 0 damaged", told)
                self.cached("prune")
                self.assertEqual(list(self.cache.glob("removed-*")), [])
                self.assertEqual(list(self.cache.glob("store/work-*")), [])
        self.assertGreater(killed, 5)
        self.fill("demo", "--reinstall")


class Pruning(CacheTestCase):
    def age(self, path, days):
        when = time.time() - days * DAY
        os.utime(path, (when, when), follow_symlinks=False)

    def test_what_is_unused_goes_and_what_is_used_stays(self):
        self.fill()
        plugins = {days: self.cache / "plugins" / (f"{days:02}" * 16) for days in (29, 31)}
        builds = {days: self.cache / "builds" / (f"{days:02}" * 16) for days in (29, 31)}
        for days in (29, 31):
            (plugins[days] / "bin").mkdir(parents=True)
            (plugins[days] / "pyvenv.cfg").write_text("")
            builds[days].mkdir(parents=True)
            (builds[days] / "sha256").write_text("")
            self.age(plugins[days], days)
            self.age(builds[days], days)
        old = self.cache / "http/a"
        old.mkdir(parents=True)
        (old / "page").write_text("old")
        bad = self.cache / "http-2/a" / ("b" * 63)
        bad.parent.mkdir(parents=True, exist_ok=True)
        bad.write_text("no entry")
        broken = self.cache / "store/wheels" / ("c" * 64)
        (broken / "tree").mkdir(parents=True)
        foreseen = self.cached("prune", "--dry-run", "--json").json["removed"]
        self.assertTrue(plugins[31].exists())
        removed = self.cached("prune", "--json").json["removed"]
        self.assertEqual(removed, foreseen)
        self.assertEqual((removed["plugin_environments"], removed["built_wheels"], removed["leftovers"]), (1, 1, 3))
        self.assertEqual([plugins[29].exists(), plugins[31].exists(), builds[29].exists(), builds[31].exists()], [True, False] * 2)
        self.assertFalse(old.exists() or bad.exists() or broken.exists())
        self.assertEqual(set(self.entries()), {"demo", "other"})
        self.assertEqual(self.cached("prune").out, "nothing to remove\n")


if __name__ == "__main__":
    unittest.main()
