"""What `variant repack`, a row of `variant build` and `variant audit` make of damaged code, and of code that cannot be cut."""

import pathlib
import shutil
import struct
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from repack_test import RepackCase, sections
from made_library import CUBIN, PTX, bundle, entry, fatbin, library, registered_library

PROPERTY = "nvidia :: sm_arch :: 90_real"


class BadCodeTest(RepackCase):
    def test_damaged_code_gets_no_label(self):
        """Nor does a row of a table take it; `variant audit` finds it."""
        whole = library([(".nv_fatbin", fatbin(entry(CUBIN, 90)))], needed=["libc.so.6"])
        code = fatbin(entry(CUBIN, 90))
        long = library([(".nv_fatbin", code[:8] + struct.pack("<Q", 1 << 20) + code[16:])], needed=["libc.so.6"])
        amd = library([(".hip_fatbin", bundle("gfx90a")[:40])], needed=["libc.so.6"])
        for damaged, place in ((whole[:-100], "demo/lib.so"), (long, ".nv_fatbin: at byte 0: a fatbin is longer than its section"), (amd, ".hip_fatbin")):
            path = self.wheel({"demo/lib.so": damaged}, tags="py3-none-manylinux_2_17_x86_64").write(self.root / "in")
            self.refused(self.repack(path, "--label", "a", "--property", PROPERTY), "demo/lib.so", place)
            (self.root / "pyproject.toml").write_text('[project]\nname = "demo"\nversion = "1.0"\n[tool.axle.axes.gpu]\n'
                                                      'sm90 = { properties.nvidia.sm_arch = ["90_real"], wheel = "in/demo-*.whl" }\n')
            self.refused(self.variant("build", self.root, "--out", self.out), "demo/lib.so", place)
            audited = self.variant("audit", path, "--json")
            self.assertEqual(audited.code, 1, str(audited))
            found, = (one for one in audited.json["findings"] if one["code"] == "library-damaged")
            self.assertIn("demo/lib.so is damaged", found["message"])
        sound = self.wheel({"demo/lib.so": whole}, tags="py3-none-manylinux_2_17_x86_64").write(self.root / "sound")
        self.assert_ok(self.repack(sound, "--label", "a", "--property", PROPERTY))

    def split(self, content, by="sm"):
        section = ".nv_fatbin" if by == "sm" else ".hip_fatbin"
        path = self.wheel({"demo/lib.so": library([(section, content)])}).write(self.root)
        return self.repack(path, "--split", by)

    def test_damaged_fat_binaries(self):
        whole = fatbin(entry(CUBIN, 80), entry(CUBIN, 90), entry(PTX, 90))
        for damaged in (whole[:-8], whole + b"garbage!" * 4, whole[:8] + struct.pack("<Q", 1 << 60) + whole[16:],
                        whole[:16 + 8] + struct.pack("<Q", 1 << 50) + whole[32:]):
            self.refused(self.split(damaged), "demo/lib.so", ".nv_fatbin", "at byte")
        whole = bundle("gfx90a", "gfx942")
        self.refused(self.split(whole[:40], "gfx"), "demo/lib.so")
        self.refused(self.split(whole[:24] + struct.pack("<Q", 1 << 40) + whole[32:], "gfx"), "demo/lib.so")

    def test_no_code(self):
        path = self.wheel({"demo/lib.so": library()}).write(self.root)
        self.refused(self.repack(path, "--split", "sm"), "CUDA")
        self.refused(self.repack(path, "--split", "gfx"), "AMD")

    def test_what_cannot_be_cut_stays_whole(self):
        # Nothing points at its code: who refers to it is not known.
        path = self.wheel({"demo/lib.so": library([(".nv_fatbin", fatbin(entry(CUBIN, 80), entry(CUBIN, 90)))])})
        path = path.write(self.root)
        result = self.repack(path, "--split", "sm")
        self.assert_ok(result)
        self.assertIn("stays whole", str(result))
        for label in ("sm80", "sm90"):
            members = self.assert_whole(self.out / f"demo-1.0-py3-none-linux_x86_64-{label}.whl")
            self.assertEqual(members["demo/lib.so"], self.contents(path)["demo/lib.so"])

    def test_code_objects_over_one_another(self):
        # Each by itself would have 8 GB.
        own, size = b"hipv4-amdgcn-amd-amdhsa--gfx942", 8 << 20
        code = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", 1000)
        code += (struct.pack("<QQQ", 1 << 17, size, len(own)) + own) * 999
        code += struct.pack("<QQQ", 1 << 17, size, len(own)) + own.replace(b"gfx942", b"gfx90a")
        data = registered_library(code.ljust(1 << 17, b"\0") + b"c" * size, ".hip_fatbin")
        path = self.wheel({"demo/lib.so": data}).write(self.root)
        self.refused(self.repack(path, "--split", "gfx"), "demo/lib.so", "over one another")

    def test_a_bundle_that_unpacks_to_more_than_code_does(self):
        zstd = shutil.which("zstd")
        if not zstd:
            self.skipTest("needs zstd")
        size = 512 << 20
        frame = subprocess.run(f"head -c {size} /dev/zero | {zstd} -q -c", shell=True, capture_output=True, check=True).stdout
        self.assertLess(len(frame), 100_000)
        code = b"CCOB" + struct.pack("<HHIIQ", 2, 1, 24 + len(frame), size, 0) + frame
        self.refused(self.split(code, "gfx"), "demo/lib.so", "unpacks to too much")

    def test_a_registered_library(self):
        data = registered_library(fatbin(*[entry(CUBIN, 80)] * 120, entry(CUBIN, 90)), ".nv_fatbin")
        path = self.wheel({"demo/lib.so": data}).write(self.root)
        self.assert_ok(self.repack(path, "--split", "sm"))
        cut = self.contents(self.out / "demo-1.0-py3-none-linux_x86_64-sm90.whl")["demo/lib.so"]
        self.assertEqual(len(data) - len(cut), 8192)
        self.assertEqual(sections(cut)[".nv_fatbin"][1], fatbin(entry(CUBIN, 90)))

    def test_a_compression_that_is_not_read_stays(self):
        packed = b"CCOB" + struct.pack("<HHIQ", 1, 1, 100, 0) + b"x" * 50
        path = self.wheel({"demo/old.so": library([(".hip_fatbin", packed)]),
                           "demo/new.so": library([(".hip_fatbin", bundle("gfx90a", "gfx942"))])}).write(self.root)
        result = self.repack(path, "--split", "gfx")
        self.assert_ok(result)
        self.assertRegex(str(result), r"demo/old\.so: .*version 1 .*stays whole")
        for label in ("gfx90a", "gfx942"):
            members = self.assert_whole(self.out / f"demo-1.0-py3-none-linux_x86_64-{label}.whl")
            self.assertEqual(members["demo/old.so"], self.contents(path)["demo/old.so"])


if __name__ == "__main__":
    unittest.main()
