"""What the tests of a matrix of wheels share: a project of one table, and what its wheels do."""

import json
import pathlib
import platform
import shutil
import subprocess
import sys
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import TestCase

PROJECT = """
[project]
name = "demo"
version = "1.0"
[tool.axle]
cmake.source = "."
"""
LEVELS = """
[tool.axle.axes.cpu]
null = {}
v2 = { properties.x86_64.level = ["v2"] }
v3 = { properties.x86_64.level = ["v3"], cmake.STEP = 3 }
"""
LISTS = """cmake_minimum_required(VERSION 3.18)
project(demo LANGUAGES C)
set(STEP 1 CACHE STRING "")
file(GLOB parts CONFIGURE_DEPENDS part*.c)
add_library(demo SHARED demo.c ${parts})
target_compile_definitions(demo PRIVATE STEP=${STEP})
install(TARGETS demo LIBRARY DESTINATION demo)
"""
SOURCE = """#include "step.h"
int step(void) { return STEP * FACTOR; }
const char *where(void) { return __FILE__ " " __DATE__ " " __TIME__; }
int level(void) {
#if defined(__AVX2__)
  return 3;
#elif defined(__SSE4_2__)
  return 2;
#elif defined(__ARM_FEATURE_MATMUL_INT8)
  return 8;
#elif defined(__ARM_FEATURE_DOTPROD)
  return 7;
#else
  return 1;
#endif
}
"""


class MatrixCase(TestCase):
    def setUp(self):
        super().setUp()
        for tool in ("cmake", "ninja", "gcc"):
            if not shutil.which(tool):
                self.skipTest(f"no {tool}")
        self.project = self.make_project(self.root / "project")
        self.out = self.root / "dist"

    def make_project(self, folder, table=LEVELS, **files):
        folder.mkdir(parents=True)
        (folder / "pyproject.toml").write_text(PROJECT + table)
        (folder / "CMakeLists.txt").write_text(LISTS)
        (folder / "demo.c").write_text(SOURCE)
        (folder / "step.h").write_text("#define FACTOR 1\n")
        for name, text in files.items():
            (folder / name).write_text(text)
        return folder

    def describe(self, table):
        (self.project / "pyproject.toml").write_text(PROJECT + table)

    def build(self, *options, project=None, out=None, **kwargs):
        return self.variant("build", project or self.project, "--out", out or self.out, "--json", *options, **kwargs)

    def built(self, *options, **kwargs):
        """The wheels by label, as the JSON lists them."""
        done = self.assert_ok(self.build(*options, **kwargs))
        return {one["label"]: one for one in done.json["wheels"]}

    def native(self):
        if platform.machine() != "x86_64":
            self.skipTest("the variants of these tests are x86-64's")

    def unpack(self, wheel):
        folder = self.root / f"unpacked-{pathlib.Path(wheel).stem}"
        shutil.rmtree(folder, ignore_errors=True)
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
        return folder

    def call(self, wheel, function, library="demo/libdemo.so"):
        """In a process of its own: a library is loaded once."""
        code = f"import ctypes; print(ctypes.CDLL({str(self.unpack(wheel) / library)!r}).{function}())"
        return int(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
