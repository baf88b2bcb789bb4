"""What `variant index lint` finds: each code is provoked, and an index that has nothing wrong is told so. What it says of machines is
what `variant resolve --for` chooses."""

import fcntl
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import SOURCE, VARIANT, TestCase, Wheel, levels_document, tree, variant_document

DOCUMENT = levels_document()
CPU = {"requires": ["x86-64-variant-provider>=0.2,<0.3"], "plugin-api": ""}


def document(variants, **more):
    return variant_document(variants, **more)


class LintCase(TestCase):
    def setUp(self):
        super().setUp()
        self.out = self.root / "public"

    def publish(self, *wheels):
        self.assert_ok(self.variant("index", "add", *(wheel.write(self.root / "dist") for wheel in wheels), "--out", self.out))

    def lint(self, *options):
        result = self.variant("index", "lint", self.out, "--json", *options)
        self.assertIn(result.code, (0, 1), result)
        self.assertEqual(result.code, 1 if result.json["problems"] else 0)
        return result.json

    def problems(self, *options):
        return {(one["code"], one["project"], one["subject"]): one for one in self.lint(*options)["problems"]}

    def codes(self, *options):
        return sorted({one["code"] for one in self.lint(*options)["problems"]})

    def levels(self, version="1.0", labels=("null", "v1", "v2", "v3", "v4"), name="demo", **more):
        return [Wheel(name, version, label, DOCUMENT, **more) for label in labels]


class Releases(LintCase):
    def test_nothing_is_wrong(self):
        self.publish(*self.levels(), Wheel("demo", "1.0"), Wheel("other", "1.0"))
        found = self.lint()
        self.assertEqual(found["problems"], [])
        self.assertEqual((found["projects"], found["files"], found["lost_bytes"]), (2, 8, 0))
        self.assertGreater(found["machines"], 100)
        text = self.assert_ok(self.variant("index", "lint", self.out))
        self.assertEqual(text.out, "2 projects, 8 files: 0 problems\n")
        self.assertEqual(self.lint("--deep")["problems"], [])

    def test_machines_without_a_build_and_with_a_worse_one_than_before(self):
        self.publish(*self.levels(labels=("v2", "v3", "v4")), *self.levels("2.0", labels=("v3",)), Wheel("demo", "2.0", tags="py3-none-any"))
        found = self.problems()
        gap = found["machine_without_build", "demo", "1.0"]
        self.assertIn("prescott", gap["machines"])
        self.assertNotIn("haswell", gap["machines"])
        worse = found["machine_worse", "demo", "2.0"]
        self.assertIn("skylake-server", worse["machines"])
        self.assertIn("nehalem", worse["machines"])  # v2 before, a plain wheel now
        self.assertNotIn("haswell", worse["machines"])
        # As it is chosen for them.
        for machine, old, new in (("skylake-server", "v4", "v3"), ("nehalem", "v2", None), ("haswell", "v3", "v3"), ("prescott", "", None)):
            for version, label in (("1.0", old), ("2.0", new)):
                told = self.variant("resolve", f"demo=={version}", "-i", (self.out / "simple").as_uri(), "--python", self.make_venv(), "--for", machine, "--json")
                if label == "":
                    self.assertEqual(told.code, 3, told)
                else:
                    self.assertEqual(self.assert_ok(told).json["packages"][0]["variant"], label, (machine, version))
        only = self.problems("--for", "haswell")
        self.assertEqual(only, {})
        self.assertEqual({code for code, *_ in self.problems("--for", "prescott", "--for", "haswell")}, {"machine_without_build"})

    def test_a_release_that_leaves_a_platform_behind(self):
        self.publish(Wheel("demo", "1.0", tags="cp312-cp312-manylinux_2_17_x86_64"), Wheel("demo", "1.0", tags="cp312-cp312-manylinux_2_17_aarch64"),
                     Wheel("demo", "2.0", tags="cp312-cp312-manylinux_2_28_x86_64"))
        lost = self.problems()["machine_lost", "demo", "2.0"]
        self.assertIn("graviton3", lost["machines"])
        self.assertNotIn("h100", lost["machines"])
        self.assert_ok(self.variant("index", "yank", "demo==2.0", "--out", self.out))
        self.assertEqual(self.lint()["problems"], [])

    def test_variants_that_nobody_gets(self):
        variants = {"null": [], "v3": [("x86_64", "level", ["v3"])], "v3copy": [("x86_64", "level", ["v3"])],
                    "v9": [("x86_64", "level", ["v9"])], "both": [("x86_64", "level", ["v3", "v9"])]}
        declared = document(variants)
        self.publish(*(Wheel("demo", "1.0", label, declared) for label in variants))
        found = self.problems()
        self.assertEqual({key[::2] for key in found}, {("unreachable_variant", "1.0 v9"), ("dominated_variant", "1.0 v3"), ("dominated_variant", "1.0 v3copy")})
        size = (self.out / "simple/demo/demo-1.0-py3-none-any-v9.whl").stat().st_size
        self.assertEqual(found["unreachable_variant", "demo", "1.0 v9"]["bytes"], size)
        self.assertEqual(self.lint()["lost_bytes"], sum(one["bytes"] for one in found.values()))
        opposed = {"plain": [("x86_64", "level", ["v2"])], "bounds": [("nvidia", "cuda_version_lower_bound", ["13.0"]), ("nvidia", "cuda_version_upper_bound", ["12.0"])],
                   "mixed": [("x86_64", "level", ["v3"]), ("aarch64", "version", ["8.2a"])]}
        self.publish(*(Wheel("opposed", "1.0", label, document(opposed, namespaces=("x86_64", "nvidia", "aarch64"))) for label in opposed))
        none = {key[2]: one["message"] for key, one in self.problems().items() if key[:2] == ("unreachable_variant", "opposed")}
        self.assertEqual(set(none), {"1.0 bounds", "1.0 mixed"})
        self.assertIn("exclude each other", none["1.0 bounds"])
        self.assertIn("is of aarch64", none["1.0 mixed"])
        self.assertIn("both is better", found["dominated_variant", "demo", "1.0 v3"]["message"])

    def test_a_wheel_for_another_architecture_than_its_properties(self):
        arm = document({"i8mm": [("aarch64", "i8mm", ["on"])]}, namespaces=("aarch64",))
        tags = "py3-none-manylinux_2_17_{}".format
        self.publish(Wheel("demo", "1.0", tags=tags("x86_64")), Wheel("demo", "1.0", "i8mm", arm, tags=tags("x86_64")),
                     Wheel("demo", "1.0", "i8mm", arm, tags=tags("aarch64")), Wheel("demo", "1.0", tags=tags("aarch64")))
        misplaced = f"demo-1.0-{tags('x86_64')}-i8mm.whl"
        found = {key: one for key, one in self.problems().items() if key[0] != "unknown_to_uv"}
        self.assertEqual(list(found), [("unreachable_variant", "demo", misplaced)])
        one = found["unreachable_variant", "demo", misplaced]
        self.assertIn("aarch64 :: i8mm :: on is of aarch64, the wheel is for x86_64", one["message"])
        self.assertEqual(one["bytes"], (self.out / "simple/demo" / misplaced).stat().st_size)

    def test_names_and_metadata_that_others_refuse(self):
        long = "a_label_of_17_cha"
        odd = document({"null": [], long: [("x86_64", "level", ["v3"])]}, providers={"x86_64": {"requires": ["x86-64-variant-provider>=7"]}})
        self.publish(Wheel("demo", "1.0", long, odd), Wheel("demo", "1.0", "null", odd),
                     Wheel("marked", "1.0", "null", DOCUMENT, requires=["demo; 'x86_64' in variant_namespaces"]),
                     Wheel("plain", "1.0", requires=["demo; variant_label == 'v3'"]))
        found = self.problems()
        self.assertIn(("unusual_label", "demo", f"demo-1.0-py3-none-any-{long}.whl"), found)
        self.assertIn(("unknown_to_uv", "demo", "1.0"), found)
        self.assertIn(("variant_marker", "marked", "marked-1.0-py3-none-any-null.whl"), found)
        self.assertIn(("variant_marker", "plain", "plain-1.0-py3-none-any.whl"), found)

    def test_a_wheel_that_is_lost_is_counted_once(self):
        both = document({"both": [("x86_64", "level", ["v3"]), ("aarch64", "version", ["8.2a"])]}, namespaces=("x86_64", "aarch64"))
        wheel = Wheel("demo", "1.0", "both", both, tags="py3-none-manylinux_2_17_x86_64")
        self.publish(wheel, Wheel("demo", "1.0"))
        self.assertEqual([one["subject"] for one in self.lint()["problems"] if one["code"] == "unreachable_variant"], [wheel.file_name])
        self.assertEqual(self.lint()["lost_bytes"], (self.out / "simple/demo" / wheel.file_name).stat().st_size)

    def test_a_field_that_uv_does_not_know(self):
        preferring = levels_document()
        preferring["$schema"] = preferring["$schema"].replace("/peps/850", "").rsplit("/", 1)[0] + "/v0.0.3.json"
        preferring["default-priorities"] |= {"feature": {"x86_64": ["level"]}, "property": {}}
        self.publish(Wheel("demo", "1.0", "null", preferring), Wheel("demo", "1.0", "v3", preferring))
        self.assertIn("default-priorities.feature", self.problems()["unknown_to_uv", "demo", "1.0"]["message"])

    def test_dependencies_that_are_not_there_for_a_class(self):
        self.publish(Wheel("demo", "1.0", "null", DOCUMENT, requires=["needed>=1", "absent", "elsewhere; sys_platform == 'win32'"]),
                     Wheel("needed", "1.0", tags="cp312-cp312-manylinux_2_17_x86_64"), Wheel("needed", "0.5"),
                     Wheel("elsewhere", "1.0", tags="cp312-cp312-win_amd64.win_arm64"))
        found = self.problems()["missing_dependency", "demo", "demo-1.0-py3-none-any-null.whl"]
        self.assertIn("graviton3", found["machines"])
        self.assertNotIn("h100", found["machines"])
        self.assertIn("needed", found["message"])
        self.assertEqual([key for key in self.problems() if key[0] == "missing_dependency"], [("missing_dependency", "demo", "demo-1.0-py3-none-any-null.whl")])

    def test_a_dependency_of_which_no_variant_fits(self):
        levels = {"v3": [("x86_64", "level", ["v3"])], "v4": [("x86_64", "level", ["v4"])]}
        self.publish(Wheel("app", "1.0", "v3", document({"v3": levels["v3"]}), requires=["dep==1.0"]),
                     Wheel("dep", "1.0", "v4", document({"v4": levels["v4"]})), Wheel("dep", "0.5"))
        key = ("missing_dependency", "app", "app-1.0-py3-none-any-v3.whl")
        found = self.problems()[key]
        self.assertIn("alder-lake", found["machines"])
        self.assertNotIn("skylake-server", found["machines"])
        for machine, code in (("alder-lake", 3), ("skylake-server", 0)):
            done = self.variant("resolve", "app", "-i", (self.out / "simple").as_uri(), "--python", self.make_venv(), "--for", machine)
            self.assertEqual(done.code, code, done)
        self.publish(Wheel("dep", "1.0", "v3", document({"v3": levels["v3"]})))
        self.assertNotIn(key, self.problems())


class Files(LintCase):
    def setUp(self):
        super().setUp()
        self.publish(*self.levels(labels=("null", "v3")), Wheel("demo", "1.0"), Wheel("other", "1.0"))
        self.demo = self.out / "simple/demo"

    def change_page(self, change, project="demo"):
        path = self.out / "simple" / project / "index.json"
        page = json.loads(path.read_text())
        change(page)
        path.write_text(json.dumps(page))

    def entry(self, page, end):
        return next(file for file in page["files"] if file["filename"].endswith(end))

    def test_missing_hashes(self):
        self.change_page(lambda page: self.entry(page, "any.whl").update(hashes={}))
        self.assertEqual(self.codes(), ["missing_hash"])

    def test_missing_hash_of_metadata(self):
        self.change_page(lambda page: self.entry(page, "any.whl").pop("core-metadata"))
        self.assertEqual(list(self.problems()), [("missing_metadata_hash", "demo", "demo-1.0-py3-none-any.whl")])

    def test_files_that_are_not_as_listed(self):
        (self.demo / "demo-1.0-py3-none-any.whl.metadata").unlink()
        (self.demo / "demo-1.0-py3-none-any-v3.whl").unlink()
        with open(self.demo / "demo-1.0-py3-none-any-null.whl", "ab") as file:
            file.write(b"x")
        self.assertEqual({key for key in self.problems() if key[1] == "demo"},
                         {("missing_file", "demo", "demo-1.0-py3-none-any.whl.metadata"), ("missing_file", "demo", "demo-1.0-py3-none-any-v3.whl"),
                          ("wrong_size", "demo", "demo-1.0-py3-none-any-null.whl")})

    def test_other_bytes_are_found_by_a_deep_look(self):
        path = self.demo / "demo-1.0-py3-none-any.whl"
        data = bytearray(path.read_bytes())
        data[data.index(b"demo")] ^= 1
        path.write_bytes(data)
        self.assertEqual(self.lint()["problems"], [])
        self.assertEqual({key[0] for key in self.problems("--deep")}, {"damaged_file"})
        # A sound wheel that is not the listed one.
        other = Wheel("demo", "1.0", extra_metadata="Keywords: x\n").bytes()
        path.write_bytes(other)
        self.change_page(lambda page: self.entry(page, "any.whl").update(size=len(other)))
        self.assertEqual({key[0] for key in self.problems("--deep")}, {"wrong_hash"})

    def test_variants_files(self):
        path = self.demo / "demo-1.0-variants.json"
        sound = path.read_text()
        path.write_text(sound.replace(": ", " :", 1))  # the same by another spelling, for which installers refuse it
        self.assertEqual(set(self.problems("--deep")), {("wrong_hash", "demo", "demo-1.0-variants.json")})
        path.write_text(sound)
        lost = json.loads(sound)
        lost["variants"]["more"] = lost["variants"].pop("v3")
        text = json.dumps(lost)
        path.write_text(text + " " * max(0, len(sound) - len(text)))
        self.change_page(lambda page: self.entry(page, "variants.json").update(size=path.stat().st_size, hashes={"sha256": hashlib.sha256(path.read_bytes()).hexdigest()}))
        self.assertEqual(set(self.problems()), {("unlisted_variant", "demo", "1.0 v3"), ("variant_without_wheel", "demo", "1.0 more")})
        path.write_text("{" + " " * (path.stat().st_size - 1))
        self.assertEqual(self.codes(), ["unreadable_variants_file"])
        path.unlink()
        self.change_page(lambda page: page["files"].remove(self.entry(page, "variants.json")))
        self.assertEqual(self.codes(), ["missing_variants_file"])

    def test_names(self):
        def rename(page):
            self.entry(page, "any.whl").update(filename="other_name-1.0-py3-none-any.whl", url="https://files.example/other_name-1.0-py3-none-any.whl")
            page["files"].append({**self.entry(page, "null.whl"), "filename": "demo-one-py3-none-any.whl", "url": "https://files.example/demo-one-py3-none-any.whl"})
        self.change_page(rename)
        for name in ("demo-1.0-py3-none-any.whl", "demo-1.0-py3-none-any.whl.metadata"):
            (self.demo / name).unlink()
        self.assertEqual({key for key in self.problems() if key[0] == "invalid_name"},
                         {("invalid_name", "demo", "other_name-1.0-py3-none-any.whl"), ("invalid_name", "demo", "demo-one-py3-none-any.whl")})

    def test_pages(self):
        (self.out / "simple/other/index.json").write_text("{")
        (self.demo / "README").write_text("mine")
        self.assertEqual({key[:2] for key in self.problems()}, {("unreadable_page", "other"), ("unreadable_page", "demo")})
        (self.demo / "README").unlink()
        (self.out / "simple/other/index.json").unlink()
        (self.out / "simple/other").rename(self.root / "gone")
        (self.out / ".axle-change").mkdir()
        self.assertEqual({key[:2] for key in self.problems()}, {("missing_project", "other"), ("unfinished_change", None)})
        (self.root / "gone").rename(self.out / "simple/new")
        (self.out / ".axle-change").rmdir()
        self.assertIn(("unlisted_project", "new"), {key[:2] for key in self.problems()})
        (self.out / "simple/index.json").write_text("{")
        self.assertIn("unreadable_page", self.codes())

    def test_whoever_publishes_is_waited_for(self):
        self.publish(Wheel("demo", "1.0"))
        change = self.out / ".axle-change"
        folder = os.open(self.out, os.O_RDONLY)
        fcntl.flock(folder, fcntl.LOCK_EX)
        change.mkdir()
        running = subprocess.Popen([str(VARIANT), "index", "lint", str(self.out), "--json"], env=self.env, stdout=subprocess.PIPE, text=True)
        time.sleep(0.3)
        self.assertIsNone(running.poll())
        change.rmdir()
        os.close(folder)
        self.assertEqual(json.loads(running.communicate(timeout=60)[0])["problems"], [])
        # Who was killed holds nothing.
        change.mkdir()
        self.assertEqual({key[0] for key in self.problems()}, {"unfinished_change"})

    def test_nothing_is_changed_and_what_is_none_is_refused(self):
        before = tree(self.out)
        self.lint("--deep")
        self.assertEqual(tree(self.out), before)
        self.assert_fails(self.variant("index", "lint", self.root / "dist"), 1, "does not contain a package index", "name an index")

    def test_every_code_is_in_the_manual(self):
        manual = (SOURCE / "docs/indexes.md").read_text()
        codes = set()
        for path in (SOURCE / "resolver/lint").glob("*.cpp"):
            codes |= set(re.findall(r'(?:found\.push_back\(\s*\{|note\(found, |\? )"([a-z_]+)"', path.read_text()))
        self.assertGreater(len(codes), 15)
        for code in codes:
            self.assertIn(f"`{code}`", manual)


if __name__ == "__main__":
    unittest.main()
