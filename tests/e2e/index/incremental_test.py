"""An index that is changed in place: added to, yanked from, brought up to date. Whoever reads it meanwhile, or after a command was
killed or ran out of disk at any of its system calls, finds no page that names a file that is not there as the page says."""

import concurrent.futures
import hashlib
import html.parser
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import BIN, SCHEMA, VARIANT, TestCase, Wheel, levels_document, tree

DOCUMENT = levels_document()
SHIM = BIN / "libfault_shim.so"


class Links(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        if tag == "a":
            self.links.append(dict(attributes))


class IncrementalCase(TestCase):
    def setUp(self):
        super().setUp()
        self.out = self.root / "public"

    def wheel(self, name="demo", version="1.0", label=None, folder="dist", **more):
        return Wheel(name, version, label, DOCUMENT if label else None, **more).write(self.root / folder)

    def add(self, *wheels, **options):
        return self.variant("index", "add", *wheels, "--out", self.out, **options)

    def page(self, project="demo"):
        return json.loads((self.out / "simple" / project / "index.json").read_text())

    def files(self, project="demo"):
        return {one["filename"]: one for one in self.page(project)["files"]}

    def check_pages(self, strict=True):
        """Each page names files that are there. `strict`: and nothing else is, and HTML says the same as JSON."""
        simple = self.out / "simple"
        if not (simple / "index.json").exists():
            return {}
        found = {}
        names = [one["name"] for one in json.loads((simple / "index.json").read_text())["projects"]]
        for name in names:
            page = json.loads((simple / name / "index.json").read_text())
            expected = {"index.json", "index.html", "page.html"}
            for file in page["files"]:
                data = (simple / name / file["filename"]).read_bytes()
                expected.add(file["filename"])
                # A variants file is replaced just before its page.
                if strict or file["filename"].endswith(".whl"):
                    self.assertEqual(hashlib.sha256(data).hexdigest(), file["hashes"]["sha256"])
                    self.assertEqual(len(data), file["size"])
                if "core-metadata" in file:
                    metadata = (simple / name / (file["filename"] + ".metadata")).read_bytes()
                    self.assertEqual(hashlib.sha256(metadata).hexdigest(), file["core-metadata"]["sha256"])
                    expected.add(file["filename"] + ".metadata")
            for link in Links((simple / name / "index.html").read_text()).links:
                href, _, fragment = link["href"].partition("#sha256=")
                self.assertTrue((simple / name / href.replace("%2B", "+")).exists())
                if strict or href.endswith(".whl"):
                    self.assertEqual(hashlib.sha256((simple / name / href.replace("%2B", "+")).read_bytes()).hexdigest(), fragment)
            found[name] = {file["filename"] for file in page["files"]}
            if strict:
                self.assertEqual({path.name for path in (simple / name).iterdir()}, expected)
                shown = (simple / name / "page.html").read_text()
                self.assertEqual({file for file in found[name] if f">{file}<" not in shown}, set())
                links = Links((simple / name / "index.html").read_text()).links
                self.assertEqual([link["href"].partition("#")[2] for link in links],
                                 ["sha256=" + file["hashes"]["sha256"] for file in page["files"]])
                self.assertEqual([link.get("data-yanked") for link in links],
                                 [None if not file.get("yanked") else "" if file["yanked"] is True else file["yanked"] for file in page["files"]])
        if strict:
            self.assertEqual(set(names) | {"index.json", "index.html"}, {path.name for path in simple.iterdir()})
            self.assertEqual({path.name for path in self.out.iterdir()}, {"index.html", "page", "simple"})
            roots = Links((simple / "index.html").read_text()).links
            self.assertEqual([link["href"] for link in roots], [name + "/" for name in names])
        return found


class Adding(IncrementalCase):
    def test_what_is_added_is_what_a_build_makes(self):
        wheels = [self.wheel(name, version, label) for name in ("demo", "other") for version in ("1.0", "1.10", "1.9")
                  for label in (None, "null", "v3", "v4")]
        random.Random(3).shuffle(wheels)
        for wheel in wheels:
            self.assert_ok(self.add(wheel, env={"SOURCE_DATE_EPOCH": "1700000000"}))
            self.check_pages()
        built = self.root / "built"
        self.assert_ok(self.variant("index", "build", self.root / "dist", "--out", built))
        self.assertEqual(set(tree(built)), set(tree(self.out)))
        for path in tree(built):
            data, found = (built / path).read_bytes(), (self.out / path).read_bytes()
            if not path.endswith("index.json"):
                # Nor does the page for people say when.
                self.assertEqual(data, found.replace(b", 2023-11-14</span>", b"</span>"), path)
                continue
            page = json.loads(found)
            for file in page.get("files", []):
                if file["filename"].endswith(".whl"):
                    self.assertEqual(file.pop("upload-time"), "2023-11-14T22:13:20.000000Z")
            self.assertEqual(page, json.loads(data), path)

    def test_it_opens_nothing_but_its_project(self):
        for name in ("demo", "other"):
            self.assert_ok(self.add(self.wheel(name), self.wheel(name, label="v3")))
        log = self.root / "log"
        self.assert_ok(self.variant("index", "add", self.wheel(version="2.0"), "--out", self.out,
                                    prefix=["strace", "-f", "-qq", "-o", log, "-e", "trace=%file"]))
        self.assertNotIn("simple/other", log.read_text())
        self.assertNotIn("demo-1.0-py3-none-any.whl\", O_RDONLY", log.read_text())

    def test_variants_of_one_release_are_combined(self):
        self.assert_ok(self.add(self.wheel(label="v3")))
        self.assert_ok(self.add(self.wheel(label="v4")))
        variants = json.loads((self.out / "simple/demo/demo-1.0-variants.json").read_text())
        self.assertEqual(set(variants["variants"]), {"v3", "v4"})
        other = levels_document()
        other["variants"]["v3"] = {"x86_64": {"level": ["v2"]}}
        before = tree(self.out)
        refused = self.add(Wheel("demo", "1.0", "v3", other, tags="py2-none-any").write(self.root / "two"))
        self.assert_fails(refused, 1, "demo-1.0-py3-none-any-v3.whl", "demo-1.0-py2-none-any-v3.whl")
        self.assertEqual(tree(self.out), before)
        changed = Wheel("demo", "1.0", "v3", DOCUMENT, files={"demo.py": "OTHER = 1\n"}).write(self.root / "two")
        self.assert_fails(self.add(changed), 1, str(changed), "variant index remove demo-1.0-py3-none-any-v3.whl")
        self.assertEqual(tree(self.out), before)
        self.assert_ok(self.variant("index", "remove", "demo==1.0", "--variant", "v4", "--out", self.out))
        variants = json.loads((self.out / "simple/demo/demo-1.0-variants.json").read_text())
        self.assertEqual(set(variants["variants"]), {"v3"})
        self.check_pages()

    def test_the_older_generation_of_metadata_keeps_its_form(self):
        """What 0.2.0 cannot say, torch 2.9's tables for instance, is published as 0.0.3."""
        site = SCHEMA.rsplit("/", 1)[0].removesuffix("/peps/850")
        def document(*labels):
            return {"$schema": site + "/v0.0.3.json",
                    "default-priorities": {"namespace": ["priority", "x86_64"], "feature": {"x86_64": ["level"]},
                                           "property": {"priority": {"order": ["1", "2"]}}},
                    "providers": {"priority": {"install-time": False},
                                  "x86_64": {"requires": ["provider-variant-x86-64"], "plugin-api": "provider_variant_x86_64.plugin:X8664Plugin"}},
                    "variants": {label: {"priority": {"order": [order]}, "x86_64": {"level": [level]}} for label, order, level in labels}}
        everything = document(("a1", "1", "v1"), ("b2", "2", "v2"))
        for label in ("a1", "b2"):
            self.assert_ok(self.add(Wheel("demo", "1.0", label, everything).write(self.root / "old")))
        text = (self.out / "simple/demo/demo-1.0-variants.json").read_text()
        self.assertEqual(json.loads(text), everything)
        ranked = self.assert_ok(self.variant("rank", self.out / "simple/demo/demo-1.0-variants.json", "--for", "x86_64:v3", "--json"))
        self.assertEqual([one["label"] for one in ranked.json["ranked"]], ["a1", "b2"])
        self.check_pages()

    def test_yanking_is_read_by_pip_and_uv(self):
        self.make_venv()
        self.assert_ok(self.add(self.wheel(), self.wheel(version="2.0")))
        index = (self.out / "simple").as_uri()
        self.assert_fails(self.variant("index", "yank", "demo==3", "--out", self.out), 1, "the index has no demo==3", "demo-2.0")
        self.assert_fails(self.variant("index", "yank", "demo==2.0"), 2, "--out")
        would = self.assert_ok(self.variant("index", "yank", "demo==2.0", "--out", self.out, "--dry-run"))
        self.assertEqual(would.out, "would yank demo: demo-2.0-py3-none-any.whl\n")
        self.assertNotIn("yanked", json.dumps(self.page()))
        self.assert_ok(self.variant("index", "yank", "demo==2.0", "--reason", 'wrong <ABI> & "names"', "--out", self.out))
        self.check_pages()
        for expected in ("1.0", "2.0"):
            target = self.root / f"pip-{expected}"
            self.assert_ok(self.pip("download", "--no-deps", "-i", index, "-d", target, "demo"))
            self.assertEqual([path.name for path in target.iterdir()], [f"demo-{expected}-py3-none-any.whl"])
            done = self.assert_ok(self.uv("pip", "install", "--no-cache", "-i", index, "--target", self.root / f"uv-{expected}", "demo",
                                          "--python", self.venv / "bin/python"))
            self.assertIn(f"demo=={expected}", done.err)
            self.assert_ok(self.install("demo", "--reinstall", index=index))
            self.assertEqual(self.installed()["demo"][0], expected)
            if expected == "1.0":
                pinned = self.assert_ok(self.pip("download", "--no-deps", "-i", index, "-d", self.root / "pinned", "demo==2.0"))
                self.assertIn('wrong <ABI> & "names"', pinned.out + pinned.err)
                self.assert_ok(self.variant("index", "yank", "demo==2.0", "--undo", "--out", self.out))
                self.check_pages()
        # A mark survives what is added beside it, and a build of the whole.
        self.assert_ok(self.variant("index", "yank", "demo==1.0", "--out", self.out))
        self.assert_ok(self.add(self.wheel(version="4.0")))
        self.assert_ok(self.variant("index", "build", self.root / "dist", "--out", self.out))
        self.assertIs(self.files()["demo-1.0-py3-none-any.whl"]["yanked"], True)
        self.check_pages()

    def test_somebody_elses_files_are_left_alone(self):
        self.assert_ok(self.add(self.wheel()))
        (self.out / "simple/demo/README").write_text("mine")
        before = tree(self.out)
        self.assert_fails(self.add(self.wheel(version="2.0")), 1, "README", "was not made by")
        self.assertEqual(tree(self.out), before)
        folder = self.root / "thesis"
        folder.mkdir()
        (folder / "text").write_text("years of work")
        self.assert_fails(self.variant("index", "add", self.wheel(), "--out", folder), 1, "thesis/text", "was not made by")
        self.assertEqual([(path.name, path.read_text()) for path in folder.iterdir()], [("text", "years of work")])
        self.assert_fails(self.variant("index", "update", "--out", folder), 1, "does not contain a package index")
        self.assert_fails(self.variant("index", "add", self.root / "none.whl", "--out", self.out), 1, "none.whl")
        self.assert_fails(self.variant("index", "add", "--out", self.out), 2, "name the wheels")


class Updating(IncrementalCase):
    def update(self, *words, **options):
        return self.variant("index", "update", *words, "--out", self.out, **options)

    def test_new_wheels_of_a_folder_are_read_and_others_are_not(self):
        self.wheel(), self.wheel(label="v3"), self.wheel("other")
        first = self.assert_ok(self.update(self.root / "dist", "--json")).json
        self.assertEqual(first["updated"], {"projects": 2, "files": 3})
        self.check_pages()
        new = self.wheel(version="2.0")
        log = self.root / "log"
        second = self.assert_ok(self.variant("index", "update", self.root / "dist", "--out", self.out, "--json",
                                             prefix=["strace", "-f", "-qq", "-o", log, "-e", "trace=openat"])).json
        self.assertEqual(second["updated"], {"projects": 1, "files": 1})
        opened = {line.split('"')[1] for line in log.read_text().splitlines() if "dist/" in line}
        self.assertEqual({path for path in opened if path.endswith(".whl")}, {str(new)})
        # Another content of the same size, later: it is read, and refused.
        wheel = self.wheel("other")
        data = bytearray(wheel.read_bytes())
        os.utime(wheel, (2e9, 2e9))
        wheel.write_bytes(Wheel("other", "1.0", files={"other.py": "X = 1\n"}).bytes())
        os.utime(wheel, (2e9, 2e9))
        self.assert_fails(self.update(self.root / "dist"), 1, "differs from")
        wheel.write_bytes(data)
        self.check_pages()

    def test_pages_are_written_anew(self):
        self.assert_ok(self.add(self.wheel(), self.wheel(label="v3"), self.wheel("other")))
        before = tree(self.out)
        self.assertEqual(self.assert_ok(self.update("--json")).json["updated"]["projects"], 0)
        (self.out / "simple/index.html").write_text("damaged")
        (self.out / "simple/index.json").write_text("{")
        (self.out / "simple/demo/index.html").unlink()
        self.assertEqual(self.assert_ok(self.update("--json")).json["updated"]["projects"], 1)
        self.assertEqual(tree(self.out), before)
        self.assert_fails(self.variant("index", "update", "--out", self.root / "nothing"), 1, "does not contain a package index")
        self.assertFalse((self.root / "nothing").exists())

    def test_records_of_files_that_are_elsewhere(self):
        """What one server has, as the pages of another place list it; pip and uv install from there."""
        self.make_venv()
        for version in ("1.0", "2.0"):
            for label in (None, "v1", "v3"):
                self.wheel(version=version, label=label)
        self.wheel("other")
        self.assert_ok(self.variant("index", "build", self.root / "dist", "--out", self.root / "files"))
        server = subprocess.Popen([str(VARIANT), "index", "serve", str(self.root / "files")], env=self.env, stdout=subprocess.PIPE, text=True)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        base = server.stdout.readline().split(" is at ")[1].strip().rstrip("/")
        records = []
        for name in ("demo", "other"):
            for file in json.loads((self.root / "files/simple" / name / "index.json").read_text())["files"]:
                records.append({**file, "url": f"{base}/{name}/{file['url']}"})
        random.Random(5).shuffle(records)
        lines = self.root / "records.jsonl"
        lines.write_text("\n\n".join(json.dumps(one) for one in records))
        done = self.assert_ok(self.update("--records", lines, "--json")).json
        self.assertEqual(done["updated"], {"projects": 2, "files": len(records)})
        self.assertEqual({one["url"] for one in self.page()["files"]}, {one["url"] for one in records if "/demo/" in one["url"]})
        self.assertEqual([path.name for path in (self.out / "simple/demo").iterdir() if path.name.startswith("demo")], [])
        index = (self.out / "simple").as_uri()
        self.assert_ok(self.pip("download", "--no-deps", "-i", index, "-d", self.root / "pip", "demo"))
        self.assertEqual([path.name for path in (self.root / "pip").iterdir()], ["demo-2.0-py3-none-any.whl"])
        self.assert_ok(self.uv("pip", "install", "--no-cache", "-i", index, "--target", self.root / "uv", "demo", "other",
                               "--python", self.venv / "bin/python"))
        told = self.assert_ok(self.variant("resolve", "demo", "-i", index, "--python", self.venv, "--for", "x86_64:v3", "--json")).json
        self.assertEqual((told["packages"][0]["variant"], told["packages"][0]["version"]), ("v3", "2.0"))
        # The same again changes nothing; what is beside the page and what is elsewhere live together.
        before = tree(self.out)
        self.assert_ok(self.variant("index", "update", "--records", "-", "--out", self.out, prefix=["sh", "-c", 'exec "$@" < ' + str(lines), "x"]))
        self.assertEqual(tree(self.out), before)
        self.assert_ok(self.add(self.wheel(version="3.0")))
        self.assert_ok(self.variant("index", "yank", "demo==2.0", "--out", self.out))
        self.assert_ok(self.variant("index", "remove", "demo==1.0", "--out", self.out))
        self.assertEqual({one["filename"].split("-")[1] for one in self.page()["files"]}, {"2.0", "3.0"})
        self.assert_ok(self.pip("download", "--no-deps", "-i", index, "-d", self.root / "three", "demo"))
        self.assertEqual([path.name for path in (self.root / "three").iterdir()], ["demo-3.0-py3-none-any.whl"])

    def test_bad_records_are_told_by_their_line(self):
        good = {"filename": "demo-1.0-py3-none-any.whl", "url": "https://files.example/demo-1.0-py3-none-any.whl",
                "hashes": {"sha256": "0" * 64}, "size": 1}
        lines = self.root / "records"
        for change, word in (({"hashes": {}}, "sha256"), ({"hashes": {"sha256": "x"}}, "sha256"), ({"size": None}, "size"),
                             ({"filename": "demo-1.0.tar.gz"}, "neither of a wheel"), ({"filename": "../demo-1.0-py3-none-any.whl"}, "name"),
                             ({"url": "../elsewhere/demo-1.0-py3-none-any.whl"}, "absolute"), ({"url": "ftp://x/demo-1.0-py3-none-any.whl"}, "link"),
                             ({"core-metadata": True}, "core-metadata")):
            record = {key: value for key, value in {**good, **change}.items() if value is not None}
            lines.write_text(json.dumps(good) + "\n" + json.dumps(record) + "\n")
            self.assert_fails(self.update("--records", lines), 1, f"{lines}, line 2", word)
            self.assertFalse(self.out.exists())
        for text in ("{", "[]", "1", json.dumps(good) + "," + json.dumps(good), "x" * (1 << 20 | 1)):
            lines.write_text(text)
            self.assert_fails(self.update("--records", lines), 1, f"{lines}, line 1")
        self.assert_fails(self.update("--records", self.root / "none"), 1, "none")
        self.assert_fails(self.update(self.root, "--records", lines), 2, "or records")
        self.assertFalse(self.out.exists())


class Together(IncrementalCase):
    def test_publishers_at_once_lose_nothing(self):
        """One adds to the same project as the other, and a third builds, yanks and removes beside them."""
        self.assert_ok(self.add(self.wheel("base")))
        versions = [f"{number}.0" for number in range(1, 13)]
        for version in versions:
            self.wheel(version=version), self.wheel(version=version, label="v3"), self.wheel(f"own{version[:-2]}")
        done, stop = [], threading.Event()

        def publish(part):
            for version in versions[part::2]:
                done.append(self.add(*(self.root / "dist").glob(f"*-{version}-*"), self.root / f"dist/own{version[:-2]}-1.0-py3-none-any.whl"))

        def watch():
            looks = 0
            while not stop.is_set():
                self.check_pages(strict=False)
                looks += 1
            return looks

        with concurrent.futures.ThreadPoolExecutor() as pool:
            watching = pool.submit(watch)
            others = [pool.submit(publish, part) for part in (0, 1)]
            for _ in range(3):
                self.assert_ok(self.variant("index", "yank", "base", "--out", self.out))
                self.assert_ok(self.variant("index", "build", (self.wheel("late", folder="late")).parent, "--out", self.out))
                self.assert_ok(self.variant("index", "remove", "late", "--out", self.out))
            concurrent.futures.wait(others)
            stop.set()
            for one in others:
                one.result()
        for result in done:
            self.assert_ok(result)
        found = self.check_pages()
        self.assertEqual(set(found), {"base", "demo"} | {f"own{version[:-2]}" for version in versions})
        self.assertEqual(len([name for name in found["demo"] if name.endswith(".whl")]), 2 * len(versions))
        self.assertIs(self.files("base")["base-1.0-py3-none-any.whl"]["yanked"], True)
        return watching

    def at_each_call(self, action, command, step=1):
        """The state after a fault at each system call of `command`, which the next one finds."""
        self.need_program_as_shipped()
        if not SHIM.exists():
            self.skipTest("the fault shim was not built (sanitizer builds have none)")
        kept, mark = self.root / "kept", self.root / "mark"
        if not kept.exists():
            shutil.copytree(self.out, kept)
        for at in range(1, 2000, step):
            shutil.rmtree(self.out)
            shutil.copytree(kept, self.out)
            mark.unlink(missing_ok=True)
            result = self.variant(*command, env={"LD_PRELOAD": str(SHIM), "AXLE_FAULT_AT": str(at), "AXLE_FAULT_ACTION": action,
                                                 "AXLE_FAULT_MARK": str(mark)})
            if not mark.exists():
                return
            yield at, result
        self.fail("the command made no end of calls")

    def test_a_fault_at_any_call_leaves_the_old_or_the_new_index(self):
        self.assert_ok(self.add(self.wheel("base"), self.wheel(label="v3"), self.wheel(version="0.1")))
        adds = ("index", "add", self.wheel(label="v4"), self.wheel("fresh"), "--out", self.out)
        removes = ("index", "remove", "demo==1.0", "base", "--out", self.out)
        old = self.check_pages()
        states = {adds: {**old, "demo": old["demo"] | {"demo-1.0-py3-none-any-v4.whl"}, "fresh": {"fresh-1.0-py3-none-any.whl"}},
                  removes: {"demo": {"demo-0.1-py3-none-any.whl"}}}
        for command, new in states.items():
            for action in ("kill", "ENOSPC"):
                with self.subTest(command=command[1], action=action):
                    seen = {"old": 0, "new": 0}
                    for at, result in self.at_each_call(action, command):
                        self.check_pages(strict=False)  # before anybody else comes
                        if action == "ENOSPC" and result.code != 0:
                            self.assertEqual(result.code, 1, result)
                            self.assertTrue("No space left" in result.err, result)
                        self.assert_ok(self.variant("index", "update", "--out", self.out))
                        found = self.check_pages()
                        self.assertIn(found, (old, new), at)
                        seen["old" if found == old else "new"] += 1
                        if result.code == 0:
                            self.assertEqual(found, new)
                    self.assertGreater(min(seen.values()), 0, seen)
            shutil.rmtree(self.root / "kept")
            shutil.rmtree(self.out)
            self.assert_ok(self.add(*(self.root / "dist").glob("base*"), *(self.root / "dist").glob("*-v3.whl"),
                                    *(self.root / "dist").glob("demo-0.1*")))

    def test_a_journal_that_is_not_understood_stops_a_change(self):
        self.assert_ok(self.add(self.wheel()))
        for text in ("axle-index-change 2\nend\n", "axle-index-change 1\nput 0 ../../evil\nend\n", "axle-index-change 1\ndrop simple/../../x\nend\n",
                     "axle-index-change 1\nput x simple/a\nend\n", "axle-index-change 1\n", ""):
            (self.out / ".axle-change").mkdir(exist_ok=True)
            (self.out / ".axle-change/journal").write_text(text)
            before = tree(self.out)
            self.assert_fails(self.add(self.wheel(version="2.0")), 1, ".axle-change/journal, line", "version")
            self.assert_fails(self.variant("index", "build", self.root / "dist", "--out", self.out), 1, ".axle-change/journal, line")
            self.assertEqual(tree(self.out), before)


if __name__ == "__main__":
    unittest.main()
