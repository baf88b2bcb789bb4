"""Records that contradict what is published, or one another: they are refused, and nothing is published."""

import hashlib
import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from storage import Storage
from support import TestCase, Wheel, levels_document, tree

DOCUMENT = levels_document()
WHEEL = "demo-1.0-py3-none-any.whl"
VARIANTS = "demo-1.0-variants.json"


def record(filename, data=b"", url=None, **more):
    return {"filename": filename, "url": url or f"https://files.example/x/{filename}", "hashes": {"sha256": hashlib.sha256(data).hexdigest()},
            "size": len(data), **more}


class Records(TestCase):
    def setUp(self):
        super().setUp()
        self.out = self.root / "public"
        self.lines = self.root / "records.jsonl"

    def update(self, *records, out=None, **options):
        self.lines.write_text("".join(json.dumps(one) + "\n" for one in records))
        return self.variant("index", "update", "--records", self.lines, "--out", out or self.out, **options)

    def add(self, *wheels):
        return self.assert_ok(self.variant("index", "add", *wheels, "--out", self.out))

    def refuse(self, *records, words):
        before = tree(self.out) if self.out.exists() else None
        told = self.assert_fails(self.update(*records), 1, *words)
        self.assertEqual(tree(self.out) if self.out.exists() else None, before)
        return told

    def page(self, project="demo"):
        return {one["filename"]: one for one in json.loads((self.out / "simple" / project / "index.json").read_text())["files"]}

    def assert_whole(self):
        """lint: what is listed is there as it is listed, and nothing else."""
        found = self.variant("index", "lint", self.out, "--deep", "--json").json["problems"]
        self.assertEqual([one for one in found if one["code"] in ("missing_file", "wrong_size", "wrong_hash", "foreign_file", "unreadable_page", "damaged_file")], [])

    def test_another_size_or_hash_than_is_published(self):
        other = record("other-1.0-py3-none-any.whl", b"x")
        self.assert_ok(self.update(record(WHEEL, b"elsewhere"), other))
        for bad in (record(WHEEL, b"ELSEWHERE"), {**record(WHEEL, b"elsewhere"), "size": 8}):
            self.refuse(record("fresh-1.0-py3-none-any.whl", b"y"), bad, words=(WHEEL, "https://files.example/x/" + WHEEL, "9 bytes", "variant index remove"))
        moved = record(WHEEL, b"elsewhere", f"https://other.example/{WHEEL}", **{"requires-python": ">=3.9"})
        self.assert_ok(self.update(moved))
        self.assertEqual(self.page()[WHEEL], {**moved, "yanked": False} if "yanked" in self.page()[WHEEL] else moved)

    def test_two_records_of_one_file(self):
        for second in (record(WHEEL, b"two"), {**record(WHEEL, b"one"), "size": 4}):
            self.refuse(record(WHEEL, b"one"), second, words=(WHEEL,))
        self.refuse(record(WHEEL, b"w"), record(VARIANTS, b"one"), record(VARIANTS, b"two"), words=(VARIANTS, "different hashes"))
        self.refuse(record(WHEEL, b"w"), record("Demo-1.0.0-py3-none-any.whl", b"w"), words=("Demo-1.0.0-py3-none-any.whl", WHEEL, "spelling"))
        self.assert_ok(self.update(record(WHEEL, b"w"), record(WHEEL, b"w"), record(VARIANTS, b"v"), record(VARIANTS, b"v")))

    def test_a_wheel_that_is_published_beside_its_page(self):
        path = Wheel("demo", "1.0").write(self.root / "dist")
        self.add(path, Wheel("demo", "1.0", "v3", DOCUMENT).write(self.root / "dist"))
        data, labelled = path.read_bytes(), self.page()["demo-1.0-py3-none-any-v3.whl"]
        metadata = hashlib.sha256((self.out / f"simple/demo/{WHEEL}.metadata").read_bytes()).hexdigest()
        # Its page would name what is elsewhere, and the file here would be nobody's.
        self.refuse(record(WHEEL, data), words=(WHEEL, "elsewhere", f"variant index remove {WHEEL} --out {self.out}"))
        self.refuse(record(VARIANTS, b"{}"), words=(VARIANTS, "elsewhere"))
        for bad in (record(WHEEL, b"other", WHEEL), {**record(WHEEL, data, WHEEL), "size": 1}):
            self.refuse(bad, words=(WHEEL, str(self.out / "simple/demo" / WHEEL), f"{len(data)} bytes"))
        self.refuse(record(WHEEL, data, WHEEL, **{"core-metadata": {"sha256": "0" * 64}}), words=(WHEEL, "METADATA", metadata))
        self.refuse(record(WHEEL, data, WHEEL, provenance=f"{WHEEL}.provenance"), words=("attestations", "is not there"))
        self.refuse(record(VARIANTS, b"{}", VARIANTS), words=(VARIANTS,))
        # What may be another one.
        self.assert_ok(self.update(record(WHEEL, data, WHEEL, yanked="old", **{"core-metadata": {"sha256": metadata}, "requires-python": ">=3.9"})))
        self.assertEqual((self.page()[WHEEL]["yanked"], self.page()[WHEEL]["requires-python"]), ("old", ">=3.9"))
        self.assertEqual(self.page()["demo-1.0-py3-none-any-v3.whl"], labelled)
        self.assert_whole()

    def test_files_that_were_laid_beside_their_page(self):
        wheel = Wheel("demo", "1.0", "v3", DOCUMENT)
        folder = self.out / "simple/demo"
        data = json.dumps(DOCUMENT).encode()
        beside = record(VARIANTS, data, VARIANTS)
        self.refuse(record(wheel.file_name, b"w"), beside, words=(VARIANTS, "is not there", "put it there first"))
        folder.mkdir(parents=True)
        (folder / VARIANTS).write_bytes(b"{}")
        self.refuse(record(wheel.file_name, b"w"), beside, words=(VARIANTS, str(folder / VARIANTS), "2 bytes"))
        (folder / VARIANTS).write_bytes(data)
        (folder / "README").write_text("mine")
        self.refuse(record(wheel.file_name, b"w"), beside, words=("README", "was not made by"))
        (folder / "README").unlink()
        self.assert_ok(self.update(record(wheel.file_name, b"w"), beside))
        self.assert_whole()
        # A whole wheel; and later another variants file by hand.
        plain = Wheel("demo", "2.0").write(folder)
        self.assert_ok(self.update(record(plain.name, plain.read_bytes(), plain.name)))
        (folder / VARIANTS).write_bytes(data + b"\n")
        self.assert_ok(self.update(record(VARIANTS, data + b"\n", VARIANTS)))
        self.assertEqual(set(self.page()), {wheel.file_name, VARIANTS, plain.name})
        self.assert_whole()
        (folder / "link.whl").symlink_to(plain)
        self.refuse(record("demo-3.0-py3-none-any.whl", b"x"), words=("link.whl", "was not made by"))

    def test_names(self):
        self.refuse(record(WHEEL, b"x", "https://files.example/demo-2.0-py3-none-any.whl"), words=(f"{self.lines}, line 1", "demo-2.0-py3-none-any.whl"))
        self.refuse(record(WHEEL, b"x", "https://files.example/download?id=7"), words=("ends in another name",))
        for name in ("demo-variants.json", "demo-x-variants.json", "Demo-1.0-variants.json", "demo-1.0.0.a1-variants.json"):
            self.refuse(record(WHEEL, b"w"), record(name, b"v"), words=(f"{self.lines}, line 2", "NAME-VERSION-variants.json"))
        self.refuse(record(WHEEL, b"w"), record("demo-2.0-variants.json", b"v"), words=("demo-2.0-variants.json", "no wheel of that version"))
        # The other version may come later, or be there.
        self.assert_ok(self.update(record("demo-2.0-variants.json", b"v"), record("demo-2.0-py3-none-any.whl", b"w")))
        self.assert_ok(self.update(record("demo-2.0-variants.json", b"another")))
        self.assertEqual(self.page()["demo-2.0-variants.json"]["size"], 7)

    def test_in_a_storage(self):
        storage = Storage(self)
        out = "s3://wheels/a"
        self.assert_ok(self.update(record(WHEEL, b"one"), out=out, env=storage.env))
        before = dict(storage.objects())
        # Also of those that come before it, in whichever order they are written.
        others = [record(f"other{number}-1.0-py3-none-any.whl", b"x") for number in range(100)]
        self.assert_fails(self.update(*others, record(WHEEL, b"two"), out=out, env=storage.env), 1, WHEEL, "3 bytes")
        self.assert_fails(self.update(record(VARIANTS, b"two", VARIANTS), out=out, env=storage.env), 1, VARIANTS, "is not there")
        storage.objects()[f"a/simple/demo/{VARIANTS}"] = (b"two", {})
        self.assert_fails(self.update(record(VARIANTS, b"three", VARIANTS), out=out, env=storage.env), 1, VARIANTS, "3 bytes")
        self.assertEqual({key: value for key, value in storage.objects().items() if not key.endswith(VARIANTS)}, before)
        self.assert_ok(self.update(record(VARIANTS, b"two", VARIANTS), out=out, env=storage.env))


if __name__ == "__main__":
    unittest.main()
