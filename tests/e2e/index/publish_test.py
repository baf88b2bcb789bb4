"""Publishing: what was published stays, whoever publishes next to it, and pip and uv read it before and after."""

import hashlib
import json
import os
import pathlib
import random
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import VARIANT, Index, TestCase, Wheel, levels_document, tree

DOCUMENT = levels_document()


class PublishTest(TestCase):
    def setUp(self):
        super().setUp()
        self.out = self.root / "public"

    def wheels(self, *names, version="1.0", labels=("null", "v3"), folder="dist"):
        for name in names:
            for label in labels:
                Wheel(name, version, label, DOCUMENT).write(self.root / folder)
            Wheel(name, version, extra_metadata="Requires-Python: >=3.8\n").write(self.root / folder)
        return self.root / folder

    def publish(self, folder, *options):
        return self.variant("index", "build", folder, "--out", self.out, *options)

    def page(self, project):
        return json.loads((self.out / "simple" / project / "index.json").read_text())

    def test_a_damaged_page_is_told_and_repaired(self):
        self.assert_ok(self.publish(self.wheels("demo", "other")))
        before = self.page("demo")
        page = self.out / "simple/demo/index.json"
        page.write_text(page.read_text()[:200])
        for command in (("build", self.root / "dist"), ("add", *sorted((self.root / "dist").glob("demo-*.whl"))), ("update",), ("remove", "demo")):
            failed = self.variant("index", *command, "--out", self.out)
            self.assert_fails(failed, 1, str(page), "is damaged", "move its folder", "`variant index add`")
            self.assertNotIn("URL", failed.err)
        # What the message proposes.
        page.parent.rename(self.root / "aside")
        self.assert_ok(self.variant("index", "add", *sorted((self.root / "aside").glob("*.whl")), "--out", self.out))
        self.check_whole()
        self.assertEqual([one["hashes"] for one in self.page("demo")["files"]], [one["hashes"] for one in before["files"]])

    def test_a_full_disk_is_called_so(self):
        disk = self.root / "disk"
        disk.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)], capture_output=True).returncode:
            self.skipTest("nothing may be mounted here")
        self.addCleanup(subprocess.run, ["umount", str(disk)], check=True)
        wheel = Wheel("large", "1.0", files={"large.bin": os.urandom(2 << 20)}).write(self.root / "dist")
        for command in (("build", self.root / "dist"), ("add", wheel), ("update", self.root / "dist")):
            failed = self.variant("index", *command, "--out", disk / "public")
            self.assert_fails(failed, 1, "No space left on device", "free disk space")
            self.assertNotIn("permissions", failed.err)
        self.assertEqual([path for path in disk.rglob("*") if path.is_file()], [])

    def check_whole(self):
        """Every file that a page lists is there with its hash, and nothing else; the labels are those of the wheels."""
        projects = json.loads((self.out / "simple/index.json").read_text())["projects"]
        self.assertEqual({one["name"] for one in projects} | {"index.json", "index.html"},
                         {path.name for path in (self.out / "simple").iterdir()})
        for name in (one["name"] for one in projects):
            folder = self.out / "simple" / name
            expected, labels = {"index.json", "index.html", "page.html"}, set()
            for file in self.page(name)["files"]:
                data = (folder / file["filename"]).read_bytes()
                self.assertEqual(hashlib.sha256(data).hexdigest(), file["hashes"]["sha256"])
                expected.add(file["filename"])
                if "core-metadata" in file:
                    metadata = (folder / (file["filename"] + ".metadata")).read_bytes()
                    self.assertEqual(hashlib.sha256(metadata).hexdigest(), file["core-metadata"]["sha256"])
                    expected.add(file["filename"] + ".metadata")
                    labels |= {file["filename"].removesuffix(".whl").split("-")[5]} if file["filename"].count("-") == 5 else set()
            self.assertEqual(expected, {path.name for path in folder.iterdir()})
            for variants in folder.glob("*-variants.json"):
                self.assertLessEqual(set(json.loads(variants.read_text())["variants"]), labels)
        return {one["name"] for one in projects}

    def test_a_second_run_adds(self):
        first = self.assert_ok(self.publish(self.wheels("demo", "other", folder="one"), "--json")).json
        self.assertEqual([len(one["added"]) for one in first["projects"]], [3, 3])
        before = tree(self.out)
        self.wheels("demo", labels=("v4",), folder="two")
        self.wheels("demo", version="2.0", folder="two")
        second = self.assert_ok(self.publish(self.root / "two", "--json")).json
        self.assertEqual({one["name"]: len(one["added"]) for one in second["projects"]}, {"demo": 4, "other": 0})
        after = tree(self.out)
        self.assertEqual({path: after[path] for path in before if path.endswith((".whl", ".metadata"))},
                         {path: data for path, data in before.items() if path.endswith((".whl", ".metadata"))})
        self.assertEqual(self.check_whole(), {"demo", "other"})
        variants = json.loads((self.out / "simple/demo/demo-1.0-variants.json").read_text())["variants"]
        self.assertEqual(set(variants), {"null", "v3", "v4"})
        text = self.assert_ok(self.publish(self.root / "two"))
        self.assertIn("2 projects unchanged", text.out)
        self.assertEqual(tree(self.out), after)

    def test_pip_and_uv_read_it_before_and_after(self):
        self.make_venv()
        self.assert_ok(self.publish(self.wheels("demo", folder="one")))
        for round_, version in enumerate(("1.0", "2.0")):
            for pinned in {"1.0", version}:
                there = self.root / f"pip-{round_}-{pinned}"
                self.assert_ok(self.pip("download", "--no-deps", "-i", (self.out / "simple").as_uri(), "-d", there,
                                        f"demo=={pinned}"))
                self.assertEqual([path.name for path in there.iterdir()], [f"demo-{pinned}-py3-none-any.whl"])
                done = self.assert_ok(self.uv("pip", "install", "--no-cache", "-i", (self.out / "simple").as_uri(),
                                              "--target", self.root / f"uv-{round_}-{pinned}", f"demo=={pinned}",
                                              "--python", self.venv / "bin/python"))
                self.assertIn(f"demo=={pinned}", done.err)
                self.assert_ok(self.install(f"demo=={pinned}", "--reinstall", index=(self.out / "simple").as_uri()))
                self.assertEqual(self.installed()["demo"][0], pinned)
            if round_ == 0:
                self.assert_ok(self.publish(self.wheels("demo", version="2.0", folder="two")))

    def test_other_bytes_under_a_published_name_are_refused(self):
        self.assert_ok(self.publish(self.wheels("demo", "other", folder="one")))
        before = tree(self.out)
        self.wheels("other", version="2.0", folder="two")
        changed = Wheel("demo", "1.0", files={"demo.py": "OTHER = 1\n"}).write(self.root / "two")
        self.assert_fails(self.publish(self.root / "two"), 1, str(changed),
                                   str(self.out / "simple/demo/demo-1.0-py3-none-any.whl"), f"variant index remove demo-1.0-py3-none-any.whl --out {self.out}")
        self.assertEqual(tree(self.out), before)
        # The way that the hint names.
        self.assert_ok(self.variant("index", "remove", "demo-1.0-py3-none-any.whl", "--out", self.out))
        self.assert_ok(self.publish(self.root / "two"))
        self.check_whole()

    def test_a_published_label_keeps_its_properties(self):
        self.assert_ok(self.publish(self.wheels("demo", folder="one")))
        before = tree(self.out)
        other = levels_document()
        other["variants"]["v3"] = {"x86_64": {"level": ["v2"]}}
        wheel = Wheel("demo", "1.0", "v3", other, tags="py2-none-any")
        path = wheel.write(self.root / "two")
        self.assert_fails(self.publish(self.root / "two"), 1, str(path), "demo-1.0-py3-none-any-v3.whl")
        self.assertEqual(tree(self.out), before)

    def test_removal_says_what_goes(self):
        self.assert_ok(self.publish(self.wheels("demo", "other")))
        before = tree(self.out)
        would = self.assert_ok(self.variant("index", "remove", "demo==1.0", "--variant", "v3", "--out", self.out,
                                            "--dry-run"))
        self.assertEqual(would.out, "would remove demo: demo-1.0-py3-none-any-v3.whl\n")
        self.assertEqual(tree(self.out), before)
        done = self.assert_ok(self.variant("index", "remove", "demo", "--out", self.out, "--json")).json
        self.assertEqual([one["file"] for one in done["removed"]],
                         ["demo-1.0-py3-none-any-null.whl", "demo-1.0-py3-none-any-v3.whl", "demo-1.0-py3-none-any.whl",
                          "demo-1.0-variants.json"])
        self.assertEqual(self.check_whole(), {"other"})
        self.assert_fails(self.variant("index", "remove", "demo", "--out", self.out), 1, "has no demo", "other")
        self.assert_fails(self.variant("index", "remove", "demo"), 2, "--out")
        self.assert_fails(self.variant("index", "remove", "--out", self.out), 2, "NAME")
        self.assert_fails(self.variant("index", "remove", "demo", "--out", self.root / "dist"), 1, "does not contain a package index")
        self.assert_fails(self.variant("index", "remove", "../demo", "--out", self.out), 2, "../demo")

    def test_what_is_not_an_index_is_left_alone(self):
        self.assert_ok(self.publish(self.wheels("demo")))
        for path in ("CNAME", "simple/robots.txt", "simple/demo/README", "simple/demo/demo-9-py3-none-any.whl"):
            (self.out / path).write_text("mine")
            before = tree(self.out)
            self.assert_fails(self.publish(self.root / "dist"), 1, str(self.out / path), "was not made by")
            self.assertEqual(tree(self.out), before)
            (self.out / path).unlink()
        (self.out / "simple/demo/demo-1.0-py3-none-any.whl").unlink()
        self.assert_fails(self.publish(self.wheels("demo", version="2.0", folder="new")), 1,
                          "demo-1.0-py3-none-any.whl", "variant index remove")
        self.assert_ok(self.variant("index", "remove", "demo-1.0-py3-none-any.whl", "--out", self.out))
        self.assert_ok(self.publish(self.root / "new"))
        self.check_whole()
        # Another tool's index, as it stands.
        theirs = Index(self.root / "theirs/simple")
        theirs.add("demo", "demo-1.0.tar.gz", b"source")
        (self.root / "theirs/simple/index.json").write_text('{"meta":{"api-version":"1.1"},"projects":[]}')
        before = tree(self.root / "theirs")
        self.assert_fails(self.variant("index", "build", self.root / "dist", "--out", self.root / "theirs"), 1,
                          "demo-1.0.tar.gz", "a different form")
        self.assertEqual(tree(self.root / "theirs"), before)

    def test_a_published_file_is_not_the_one_in_dist(self):
        dist = self.wheels("demo")
        self.assert_ok(self.publish(dist))
        before = tree(self.out)
        for wheel in dist.iterdir():
            with open(wheel, "r+b") as file:  # in place, as `cp` does
                file.write(b"torn")
        self.assertEqual(tree(self.out), before)

    def test_several_runs_at_once(self):
        self.assert_ok(self.publish(self.wheels("base")))
        folders = [self.wheels(f"demo{i}", folder=f"dist{i}") for i in range(6)]
        runs = [subprocess.Popen([str(VARIANT), "index", "build", str(folder), "--out", str(self.out)], env=self.env,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for folder in folders]
        for run in runs:
            _, err = run.communicate(timeout=120)
            self.assertEqual(run.returncode, 0, err)
        self.assertEqual(self.check_whole(), {"base", *(f"demo{i}" for i in range(6))})
        self.assertEqual([path.name for path in self.root.glob(".public*")], [])

    def test_a_killed_run_leaves_the_old_or_the_new_index(self):
        self.assert_ok(self.publish(self.wheels("base", "demo0")))
        dice = random.Random(12)
        published = self.check_whole()
        for i in range(1, 25):
            folder = self.wheels(f"demo{i}", folder=f"dist{i}")
            run = subprocess.Popen([str(VARIANT), "index", "build", str(folder), "--out", str(self.out)], env=self.env,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                run.wait(dice.uniform(0, 0.06))
            except subprocess.TimeoutExpired:
                run.kill()
                run.wait()
            now = self.check_whole()
            self.assertIn(now, (published, published | {f"demo{i}"}))
            published = now
        self.assert_ok(self.publish(self.wheels("last", folder="last")))
        self.assertEqual(self.check_whole(), published | {"last"})
        self.assertEqual([path.name for path in self.root.glob(".public*")], [])

    def test_hostile_wheels_and_folders(self):
        """Nothing of a wheel reaches the pages unescaped, and a broken one is named before anything is written."""
        hostile = 'Requires-Python: >=3.8" onclick="alert(1)<script>\n'
        Wheel("demo", "1.0", extra_metadata=hostile).write(self.root / "dist")
        self.publish(self.root / "dist")
        for page in self.out.glob("simple/**/index.html"):
            text = page.read_text()
            self.assertNotIn("<script", text)
            self.assertNotIn('" onclick="', text)
        for name in ('de<b>mo-1.0-py3-none-any.whl', "demo-1.0-py3-none-any-%2e%2e.whl", "javascript:x-1.0-py3-none-any.whl",
                     "..-1.0-py3-none-any.whl", "demo-1.0-py3-none-any-\n.whl"):
            folder = self.root / "hostile"
            folder.mkdir()
            (folder / name).write_bytes(Wheel("demo", "1.0").bytes())
            out = self.root / "fresh"
            self.assert_fails(self.variant("index", "build", folder, "--out", out), 1, "whl")
            self.assertFalse(out.exists())
            (folder / name).unlink()
            folder.rmdir()
        folder = self.wheels("demo", folder="links")
        (folder / "x-1.0-py3-none-any.whl").symlink_to("/etc/passwd")
        self.assert_fails(self.variant("index", "build", folder, "--out", self.root / "fresh"), 1, "x-1.0-py3-none-any.whl")
        self.assertFalse((self.root / "fresh").exists())
        (folder / "x-1.0-py3-none-any.whl").unlink()
        if os.getuid() != 0:
            (folder / "demo-1.0-py3-none-any.whl").chmod(0)
            self.assert_fails(self.variant("index", "build", folder, "--out", self.root / "fresh"), 1,
                              "demo-1.0-py3-none-any.whl")


if __name__ == "__main__":
    unittest.main()
