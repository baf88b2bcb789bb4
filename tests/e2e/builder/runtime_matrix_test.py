"""The runtime's variants for aarch64: cross-built on x86-64 from the one table, and run by qemu-user on processors that have
what the variant declares."""

import pathlib
import platform
import shutil
import subprocess
import sys
import unittest
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import SOURCE, VARIANT, Result, TestCase

# The variants, the kernel sets in them, and the processor of qemu with the fewest features that must run it: Cortex-A57 is
# Armv8.0, Neoverse N1 has the dot product, and `max` int8 matrices.
EXPECTED = {
    None: ({"neon_i8mm", "neon_dotprod", "baseline"}, "cortex-a57"),
    "null": ({"baseline"}, "cortex-a57"),
    "opencl": ({"neon_i8mm", "neon_dotprod", "baseline"}, "cortex-a57"),
    "aarch64_dotprod": ({"neon_dotprod", "baseline"}, "neoverse-n1"),
    "aarch64_i8mm": ({"neon_i8mm", "neon_dotprod", "baseline"}, "max"),
}
PROGRAM = r"""
#include <stdio.h>
#include "axle_runtime.h"
int main(void) {
  for (size_t i = 0; i < axle_kernel_count(); ++i) {
    axle_kernel_info info = {.struct_size = sizeof info};
    if (axle_kernel_at(i, &info) != AXLE_OK) return 2;
    printf("%s %d\n", info.name, (int)info.built);
  }
  axle_error error;
  axle_runtime *runtime = NULL;
  if (axle_runtime_create(NULL, &runtime, &error) != AXLE_OK) return 3;
  printf("selftest %d\n", (int)axle_runtime_selftest(runtime, &error));
  axle_runtime_destroy(runtime);
  axle_device_info device = {.struct_size = sizeof device};
  if (axle_device_at(0, &device) == AXLE_OK) fprintf(stderr, "%s: %s\n", device.name, device.problem);
  return 0;
}
"""


class RuntimeTest(TestCase):
    def setUp(self):
        super().setUp()
        if platform.machine() != "x86_64":
            self.skipTest("cross-builds from x86-64")
        for tool in ("aarch64-linux-gnu-g++", "qemu-aarch64", "cmake", "ninja"):
            if not shutil.which(tool):
                self.skipTest(f"no {tool}")
        if shutil.which("ccache"):
            self.env |= {"CMAKE_C_COMPILER_LAUNCHER": "ccache", "CMAKE_CXX_COMPILER_LAUNCHER": "ccache",
                         "CCACHE_BASEDIR": "/", "CCACHE_NOHASHDIR": "1",
                         "CCACHE_DIR": subprocess.run(["ccache", "-k", "cache_dir"], capture_output=True, text=True).stdout.strip()}

    def test_each_runs_where_it_is_declared_to(self):
        command = [VARIANT, "build", SOURCE / "runtime", "--arch", "aarch64", "--out", self.root / "wheels", "--json"]
        done = self.assert_ok(Result(subprocess.run(list(map(str, command)), env=self.env, cwd=self.root, text=True,
                                                    capture_output=True, timeout=1700)))
        wheels = {one["label"]: pathlib.Path(one["file"]) for one in done.json["wheels"]}
        self.assertEqual(set(wheels), set(EXPECTED))
        for label, (kernels, processor) in EXPECTED.items():
            with self.subTest(label):
                old, suffix = ("", f"-{label}") if label else ("manylinux2014_aarch64.", "")
                self.assertEqual(wheels[label].name, f"axle_runtime-0.1.0-py3-none-{old}manylinux_2_17_aarch64{suffix}.whl")
                self.run_on(processor, wheels[label], kernels)

    def run_on(self, processor, wheel, kernels):
        folder = self.root / wheel.stem
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
        library = folder / "axle_runtime/libaxle_runtime.so"
        needed = subprocess.run(["readelf", "-Vd", library], capture_output=True, text=True, check=True).stdout
        versions = {tuple(map(int, word.removeprefix("GLIBC_").split("."))) for word in needed.split() if word.startswith("GLIBC_2")}
        self.assertEqual(max(versions), (2, 17))
        source = folder / "main.c"
        source.write_text(PROGRAM)
        subprocess.run(["aarch64-linux-gnu-gcc", "-std=c11", f"-I{SOURCE / 'runtime'}", source, library, "-o", folder / "main",
                        f"-Wl,-rpath,{library.parent}"], check=True)
        ran = subprocess.run(["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", "-cpu", processor, folder / "main"],
                             capture_output=True, text=True, timeout=600)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        lines = dict(line.rsplit(" ", 1) for line in ran.stdout.splitlines())
        self.assertEqual(lines.pop("selftest"), "0", ran.stdout)
        self.assertEqual({name for name, built in lines.items() if built == "1"}, kernels, ran.stdout)
        # An emulated process finds no driver; that is said, and nothing else happens.
        self.assertRegex(ran.stderr, "^opencl:0: there is no OpenCL here" if "opencl" in wheel.name else "^$")


if __name__ == "__main__":
    unittest.main()
