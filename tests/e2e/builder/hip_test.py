"""Variants with code for AMD GPUs, by the compiler that is there: CMake's language HIP, whose kernels are in the wheels as the
properties say. On Debian: apt install hipcc."""

import pathlib
import re
import shutil
import struct
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from matrix_case import MatrixCase

HIPCC = shutil.which("hipcc")
LISTS = """cmake_minimum_required(VERSION 3.21)
project(demo LANGUAGES CXX HIP)
add_library(demo SHARED demo.hip)
install(TARGETS demo LIBRARY DESTINATION demo)
"""
SOURCE = """#include <hip/hip_runtime.h>

__global__ void scale(float *values, float factor, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] *= factor;
}

extern "C" int demo_scale(float *values, float factor, int count) {
  scale<<<dim3((count + 255) / 256), dim3(256)>>>(values, factor, count);
  return static_cast<int>(hipGetLastError());
}

extern "C" int demo_devices() {
  int count = 0;
  return hipGetDeviceCount(&count) == hipSuccess ? count : 0;
}
"""
# HIP's runtime is the system's, of ROCm 5, 6 or 7.
ALLOWED = 'allow-libraries = ["libamdhip64.so.5", "libamdhip64.so.6", "libamdhip64.so.7"]\n'
TABLE = ALLOWED + """
[tool.axle.axes.gpu]
gfx90a = { properties.amd.gfx_arch = ["gfx90a"] }
both = { properties.amd.gfx_arch = ["gfx90a", "gfx1030"] }
"""
# LLVM, "User Guide for AMDGPU Backend": e_machine, and EF_AMDGPU_MACH in e_flags.
EM_AMDGPU = 224
MACH = {0x3F: "gfx90a", 0x36: "gfx1030"}


def code_objects(section):
    """Target and ELF header of each device's code object: clang's own format of bundles, read here by itself."""
    magic = b"__CLANG_OFFLOAD_BUNDLE__"
    found = []
    for match in re.finditer(re.escape(magic), section):
        base = match.start()
        count, = struct.unpack_from("<Q", section, base + len(magic))
        at = base + len(magic) + 8
        for _ in range(count):
            offset, size, length = struct.unpack_from("<QQQ", section, at)
            name = section[at + 24:at + 24 + length].decode()
            at += 24 + length
            if size != 0 and not name.startswith("host"):
                found.append((name.rsplit("-", 1)[1], section[base + offset:base + offset + 64]))
    return found


@unittest.skipUnless(HIPCC, "there is no hipcc (Debian: apt install hipcc)")
class HipTest(MatrixCase):
    def setUp(self):
        super().setUp()
        for name in ("HIPCXX", "ROCM_PATH", "HIPFLAGS"):
            self.env.pop(name, None)
        self.write(self.project)
        self.describe(TABLE)

    def write(self, project):
        (project / "demo.c").unlink(missing_ok=True)
        (project / "CMakeLists.txt").write_text(LISTS)
        (project / "demo.hip").write_text(SOURCE)

    def section(self, library):
        out = self.root / "section"
        subprocess.run(["objcopy", "-O", "binary", "--only-section=.hip_fatbin", library, out],
                       check=True)
        return out.read_bytes()

    def test_each_variant_has_the_code_that_it_declares(self):
        wheels = self.built()
        self.assertEqual(list(wheels), ["gfx90a", "both"])
        for label, expected in (("gfx90a", ["gfx90a"]), ("both", ["gfx1030", "gfx90a"])):
            with self.subTest(label):
                library = self.unpack(wheels[label]["file"]) / "demo/libdemo.so"
                objects = code_objects(self.section(library))
                self.assertEqual(sorted(name for name, _ in objects), expected)
                for name, header in objects:
                    self.assertEqual(header[:4], b"\x7fELF")
                    machine, = struct.unpack_from("<H", header, 18)
                    flags, = struct.unpack_from("<I", header, 48)
                    self.assertEqual((machine, MACH[flags & 0xFF]), (EM_AMDGPU, name))
                dynamic = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True).stdout
                self.assertIn("libamdhip64.so", dynamic)
                self.assertNotRegex(dynamic, "RPATH|RUNPATH", "where HIP lies on this machine is nobody's business")
        # Run where there is no such GPU: the library is loaded, its kernels registered, and there is no device.
        code = f"import ctypes; print(ctypes.CDLL({str(self.unpack(wheels['gfx90a']['file']) / 'demo/libdemo.so')!r}).demo_devices())"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"^\d+$")

    def test_the_same_bytes_again_and_from_another_folder(self):
        first = self.built("--variant", "gfx90a")["gfx90a"]
        again = self.built("--variant", "gfx90a")["gfx90a"]
        self.assertTrue(again["reused"])
        other = self.make_project(self.root / "else where" / "de ep", TABLE)
        self.write(other)
        moved = self.built("--variant", "gfx90a", project=other, out=self.root / "moved")["gfx90a"]
        self.assertEqual({one["sha256"] for one in (first, again, moved)}, {first["sha256"]})

    def test_what_the_user_says_of_flags_counts(self):
        (self.project / "demo.hip").write_text(SOURCE + '\nextern "C" int demo_said() { return SAID; }\n')
        self.env["HIPFLAGS"] = "-DSAID=7"
        wheel = self.built("--variant", "gfx90a")["gfx90a"]["file"]
        self.assertEqual(self.call(wheel, "demo_said"), 7)

    def test_an_architecture_that_the_compiler_lacks(self):
        self.describe(ALLOWED + '[tool.axle.axes.gpu]\nnew = { properties.axle.gfx_code = ["gfx9_4_generic"] }\n')
        if "clang version 15." not in subprocess.run([HIPCC, "--version"], capture_output=True, text=True).stdout:
            self.skipTest("this clang may have it")
        self.assert_fails(self.build(env={"HIPCXX": HIPCC}), 1, "pyproject.toml:", "HIP version",
                          "has no offload architecture gfx9-4-generic, which axle :: gfx_code :: gfx9_4_generic needs")
        self.assertEqual(list(self.out.glob("*")), [])

    def test_a_wrapper_that_does_not_say_what_it_starts(self):
        script = self.root / "bin/hipcc"
        script.parent.mkdir()
        script.write_text(f'#!/bin/sh\nunset HIPCC_VERBOSE\nexec {HIPCC} "$@"\n')
        script.chmod(0o755)
        self.assert_fails(self.build(env={"HIPCXX": str(script)}), 1, "pyproject.toml:", "does not say which clang it starts",
                          "amd :: gfx_arch :: gfx90a", "HIPCXX")
        self.assertEqual(list(self.out.glob("*")), [])


if __name__ == "__main__":
    unittest.main()
