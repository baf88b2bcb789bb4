"""Wheels and metadata that lie, contradict each other or are damaged: a clear error, and the environment stays as it was."""

import hashlib
import json
import pathlib
import stat
import struct
import sys
import time
import unittest
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import EnvironmentTestCase, Wheel, levels_document, publish_levels, variant_document


class Metadata(EnvironmentTestCase):
    def broken_variants(self, text):
        document = levels_document()
        for label in document["variants"]:
            self.index.add_wheel(Wheel("demo", "1.0", label, document))
        self.index.add_wheel(Wheel("demo", "1.0"))
        self.index.add_variants("demo", "1.0", text)

    def test_a_broken_variants_file_costs_the_variants_and_nothing_else(self):
        contradiction = levels_document()
        contradiction["variants"]["null"] = {"x86_64": {"level": ["v1"]}}
        for text in ["{not json", json.dumps({"$schema": "https://x/peps/999/v7.0.0.json"}), json.dumps(contradiction),
                     '{"a": 1, "a": 2}', "[]", ""]:
            with self.subTest(text=text[:40]):
                self.broken_variants(text)
                result = self.assert_ok(self.install("demo", "--reinstall", index=self.index))
                self.assertIn("warning", result.err)
                self.assertIn("demo-1.0-variants.json", result.err)
                self.assertEqual(self.installed(), {"demo": ("1.0", None)})

    def test_a_variants_file_that_contradicts_its_listed_hash(self):
        document = publish_levels(self.index)
        self.index.add_variants("demo", "1.0", document, hashes={"sha256": "0" * 64})
        self.assert_fails(self.install("demo", index=self.index), 1, "demo-1.0-variants.json", "0000")
        self.assert_untouched()

    def test_a_label_in_the_name_but_not_in_the_metadata(self):
        document = levels_document(("v1",))
        self.index.add_wheel(Wheel("demo", "1.0", "v1", document))
        self.index.add_wheel(Wheel("demo", "1.0", "ghost", {**document, "variants": {"ghost": {}}}))
        self.index.add_variants("demo", "1.0", document)
        result = self.assert_ok(self.install("demo", "--explain", "--for", "x86_64:v1", index=self.index))
        self.assertRegex(result.out, r"skipped.*ghost.*metadata")
        self.assertEqual(self.installed(), {"demo": ("1.0", "v1")})

    def test_a_wheel_whose_own_metadata_differs_from_the_index(self):
        document = levels_document(("v1",))
        lie = variant_document({"v1": [("x86_64", "level", ["v2"])]})
        self.index.add_wheel(Wheel("demo", "1.0", "v1", lie))
        self.index.add_variants("demo", "1.0", document)
        self.assert_fails(self.install("demo", "--for", "x86_64:v1", index=self.index), 1, "v1", "variant.json")
        self.assert_untouched()

    def test_a_variant_wheel_without_its_own_metadata(self):
        document = levels_document(("v1",))
        bare = Wheel("demo", "1.0", "v1", document)
        del bare.members[f"{bare.dist_info}/variant.json"]
        self.index.add_wheel(bare)
        self.index.add_variants("demo", "1.0", document)
        wanted = (1, "demo-1.0-py3-none-any-v1.whl", "variant.json: missing, but the file name has the label v1")
        self.assert_fails(self.install("demo", "--for", "x86_64:v1", index=self.index), *wanted)
        self.assert_untouched()
        self.assert_fails(self.install(bare.write(self.root / "here"), "--no-index", "--for", "x86_64:v1"), *wanted)
        self.assert_untouched()

    def test_two_wheels_that_give_one_label_two_meanings_are_not_published(self):
        folder = self.root / "wheels"
        Wheel("demo", "1.0", "fast", variant_document({"fast": [("x86_64", "level", ["v3"])]}),
              tags="py3-none-any").write(folder)
        Wheel("demo", "1.0", "fast", variant_document({"fast": [("x86_64", "level", ["v4"])]}),
              tags="py2-none-any").write(folder)
        result = self.variant("index", "build", folder, "--out", self.root / "public")
        self.assert_fails(result, 1, "demo-1.0-py3-none-any-fast.whl", "demo-1.0-py2-none-any-fast.whl", "fast")
        self.assertFalse((self.root / "public").exists())

    def test_rank_of_nonsense(self):
        path = self.root / "x.json"
        path.write_text("{")
        self.assert_fails(self.variant("rank", path), 1, "x.json")
        self.assert_fails(self.variant("rank", self.root / "gone.json"), 1, "gone.json")


class Wheels(EnvironmentTestCase):
    def refused(self, data, *words, name="demo-1.0-py3-none-any.whl", **changes):
        self.index.add("demo", name, data, **changes)
        self.assert_fails(self.install("demo", index=self.index), 1, *words)
        self.assert_untouched()

    def test_wrong_hash(self):
        self.refused(Wheel("demo", "1.0").bytes(), "demo-1.0", "sha256", hashes={"sha256": "0" * 64})

    def test_other_hashes_are_checked_as_well(self):
        data = Wheel("demo", "1.0").bytes()
        for algorithm in ("sha512", "sha384", "blake2b", "sha1", "md5", "sha3_256"):
            self.refused(data, "demo-1.0", algorithm, hashes={algorithm: "0" * 64})
        # The strongest counts, and a right one passes.
        right = hashlib.sha512(data).hexdigest().upper()
        self.refused(data, "demo-1.0", "sha512", hashes={"md5": hashlib.md5(data).hexdigest(), "sha512": "0" * 128})
        self.index.add("demo", "demo-1.0-py3-none-any.whl", data, hashes={"md5": "0" * 32, "sha512": right})
        self.assertNotIn("cannot be checked", self.assert_ok(self.install("demo", index=self.index)).err)
        path = Wheel("other", "1.0").write(self.root / "wheels")
        wrong = f"{path.as_uri()}#sha384={'0' * 96}"
        self.assert_fails(self.install(f"other @ {wrong}", "--no-index"), 1, "sha384")
        self.index.add("odd", "odd-1.0-py3-none-any.whl", Wheel("odd", "1.0").bytes(), hashes={"crc32": "0"})
        self.assertIn("cannot be checked", self.assert_ok(self.install("odd", index=self.index)).err)

    def test_wrong_size(self):
        self.refused(Wheel("demo", "1.0").bytes(), "demo-1.0", size=7)

    def test_truncated_and_corrupt(self):
        good = Wheel("demo", "1.0").bytes()
        self.refused(good[: len(good) // 2], "demo-1.0-py3-none-any.whl")
        self.refused(b"", "demo-1.0-py3-none-any.whl")
        self.refused(b"<html>not a wheel</html>" * 99, "demo-1.0-py3-none-any.whl")
        wheel = Wheel("demo", "1.0", files={"demo.py": "x = '" + "abcdefgh" * 500 + "'\n"})
        bent = bytearray(wheel.bytes())
        bent[70] ^= 0xFF
        self.refused(bytes(bent), "demo-1.0-py3-none-any.whl")

    def test_a_record_that_lies(self):
        hash_lie = Wheel("demo", "1.0")
        hash_lie.record_lies["demo.py"] = ("sha256=" + "A" * 43, len(hash_lie.members["demo.py"]))
        self.refused(hash_lie.bytes(), "RECORD", "demo.py")
        size_lie = Wheel("demo", "1.0")
        size_lie.record_lies["demo.py"] = ("", 1)
        self.refused(size_lie.bytes(), "RECORD", "demo.py")
        unlisted = Wheel("demo", "1.0")
        unlisted.record_drops.add("demo.py")
        self.refused(unlisted.bytes(), "RECORD", "demo.py")
        missing = Wheel("demo", "1.0")
        missing.record_adds.append(["gone.py", "sha256=" + "A" * 43, "3"])
        self.refused(missing.bytes(), "RECORD", "gone.py")
        outside = Wheel("demo", "1.0")
        outside.record_adds.append(["../../../../victim.txt", "", ""])
        self.refused(outside.bytes(), "RECORD", "victim.txt")

    def test_paths_that_leave_the_environment(self):
        for path in ("../evil.py", "/tmp/axle-evil.py", "a/../../evil.py", "a\\..\\evil.py", "./evil.py", "a//evil.py"):
            with self.subTest(path=path):
                wheel = Wheel("demo", "1.0")
                wheel.members[path] = "evil"
                self.refused(wheel.bytes(), "demo-1.0-py3-none-any.whl")
        self.assertFalse(pathlib.Path("/tmp/axle-evil.py").exists())

    def test_duplicate_names(self):
        wheel = Wheel("demo", "1.0")
        import warnings
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wheel.raw_members.append((zipfile.ZipInfo("demo.py"), b"other"))
            self.refused(wheel.bytes(), "demo.py")
            folded = Wheel("demo", "1.0")
            folded.members["DEMO.py"] = "x"
            self.refused(folded.bytes(), "DEMO.py")

    def test_a_symbolic_link(self):
        wheel = Wheel("demo", "1.0")
        info = zipfile.ZipInfo("link.py")
        info.create_system = 3
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        wheel.raw_members.append((info, b"/etc/passwd"))
        self.refused(wheel.bytes(), "link.py")

    def test_a_local_header_that_contradicts_the_directory(self):
        data = bytearray(Wheel("demo", "1.0").bytes())
        self.assertEqual(data[:4], b"PK\x03\x04")
        name_length = struct.unpack_from("<H", data, 26)[0]
        other = bytearray(data)
        other[30 : 30 + name_length] = b"e" * name_length
        self.refused(bytes(other), "demo-1.0-py3-none-any.whl")
        crc = bytearray(data)
        crc[14] ^= 0xFF
        self.refused(bytes(crc), "demo-1.0-py3-none-any.whl")

    def test_a_bomb(self):
        wheel = Wheel("demo", "1.0", files={"demo.py": "", "bomb.bin": b"\0" * 50_000_000})
        data = bytearray(wheel.bytes())
        self.assertLess(len(data), 200_000)
        # The directory claims 1,000 bytes; the stream holds fifty million.
        for signature, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
            at = data.find(signature, data.find(b"bomb.bin") - 60 if offset == 22 else data.rfind(b"bomb.bin") - 60)
            struct.pack_into("<I", data, at + offset, 1000)
        started = time.monotonic()
        self.refused(bytes(data), "bomb.bin")
        self.assertLess(time.monotonic() - started, 20)

    def test_names_and_metadata_that_disagree(self):
        self.refused(Wheel("other", "1.0").bytes(), "demo")
        two = Wheel("demo", "1.0")
        two.members["demo-2.0.dist-info/METADATA"] = "Metadata-Version: 2.1\nName: demo\nVersion: 2.0\n"
        self.refused(two.bytes(), "dist-info")

    def test_scripts_that_reach_out(self):
        evil = Wheel("demo", "1.0")
        evil.members["demo-1.0.dist-info/entry_points.txt"] = "[console_scripts]\n../../evil = demo:main\n"
        self.refused(evil.bytes(), "evil")
        python = Wheel("demo", "1.0")
        python.members["demo-1.0.data/scripts/python3"] = "#!/bin/sh\n"
        self.refused(python.bytes(), "python3")
        activate = Wheel("demo", "1.0")
        activate.members["demo-1.0.data/data/bin/activate"] = "x"
        self.refused(activate.bytes(), "activate")

    def test_a_file_of_another_package_is_not_overwritten(self):
        self.index.add_wheel(Wheel("first", "1.0", files={"shared.py": "OWNER = 'first'\n"}))
        self.index.add_wheel(Wheel("second", "1.0", files={"shared.py": "OWNER = 'second'\n"}))
        self.assert_ok(self.install("first", index=self.index))
        self.assert_fails(self.install("second", index=self.index), 1, "shared.py", "first")
        self.assertEqual(self.python("import shared; print(shared.OWNER)"), "first")
        self.assertEqual(self.installed(), {"first": ("1.0", None)})
        self.assert_ok(self.install("second", "--overwrite", index=self.index))
        self.assertEqual(self.python("import shared; print(shared.OWNER)"), "second")


if __name__ == "__main__":
    unittest.main(verbosity=2)
