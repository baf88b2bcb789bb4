"""`variant build` makes no wheel that is empty, or whose code is not what its variant declares."""

import json
import pathlib
import shutil
import subprocess
import sys
import unittest
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from made_library import CUBIN, PTX, bundle, cuda_library, entry, fatbin, library
from support import TestCase

PROJECT = '[project]\nname = "demo"\nversion = "1.0"\n'
VARIANT = """
[variant.default-priorities]
namespace = ["{ns}"]
[variant.providers.{ns}]
requires = ["{ns}-variant-provider"]
[variant.variants.{label}]
{ns} = {{ {properties} }}
"""
PLAIN = "int answer(void) { return 42; }\n"
AVX512 = """
typedef float vector __attribute__((vector_size(64)));
__attribute__((target("avx512f"), noinline)) void twice(vector *x) { *x = *x + *x; }
"""
AVX2 = """
typedef int vector __attribute__((vector_size(32)));
__attribute__((target("avx2"), noinline)) void shift(vector *x, vector *y) { *x = *x << *y; }
"""
DISPATCHED = AVX512 + """
void any(vector *x) { if (__builtin_cpu_supports("avx512f")) twice(x); }
"""
AMX = '__attribute__((target("amx-tile"))) void clear(void) { __asm__ volatile("tilezero %tmm0"); }\n'


class BuildCase(TestCase):
    def setUp(self):
        super().setUp()
        self.project = self.root / "project"
        self.project.mkdir()
        self.out = self.root / "dist"

    def build(self, *options, **kwargs):
        return self.variant("build", self.project, "--out", self.out, *options, **kwargs)

    def built(self):
        return sorted(path.name for path in self.out.glob("*")) if self.out.exists() else []

    def refused(self, *words):
        result = self.assert_fails(self.build(), 1, *words)
        self.assertEqual(self.built(), [], str(result))
        return result


class BackEndTest(BuildCase):
    def test_tool_axle_says_what_another_back_end_knows(self):
        (self.project / "pyproject.toml").write_text(
            '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n' + PROJECT +
            '[tool.axle]\npackages = ["src/demo"]\n')
        (self.project / "src/demo").mkdir(parents=True)
        (self.project / "src/demo/__init__.py").write_text("X = 1\n")
        self.assert_ok(self.build())
        self.assertEqual(self.built(), ["demo-1.0-py3-none-any.whl"])

    def test_a_variant_without_a_file(self):
        (self.project / "pyproject.toml").write_text(PROJECT)
        self.refused("has no file", "pyproject.toml", "[tool.axle]")
        (self.project / "pyproject.toml").write_text(PROJECT + '[tool.axle]\npackages = ["src"]\n')
        (self.project / "src").mkdir()
        self.refused("has no file")

    def test_a_cmake_project_that_installs_nothing(self):
        (self.project / "pyproject.toml").write_text(PROJECT + '[tool.axle]\ncmake.source = "."\n')
        (self.project / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.16)\nproject(demo C)\n")
        self.refused("CMakeLists.txt installs no file", "install(")


class CodeTest(BuildCase):
    """A package with a library in it stands for whatever made the library."""

    def declare(self, ns="x86_64", label="v3", properties='level = ["v3"]', more=""):
        text = PROJECT + VARIANT.format(ns=ns, label=label, properties=properties)
        (self.project / "pyproject.toml").write_text(
            text + f'[tool.axle]\npackages = ["demo"]\nallow-libraries = ["libcuda.so.1"]\n{more}\n'
            f'[[tool.axle.variant]]\nlabel = "{label}"\n')

    def put(self, content, name="libdemo.so"):
        package = self.project / "demo"
        shutil.rmtree(package, ignore_errors=True)
        package.mkdir()
        (package / "__init__.py").write_text("")
        if isinstance(content, bytes):
            (package / name).write_bytes(content)
            return
        if not shutil.which("gcc") or not shutil.which("objdump"):
            self.skipTest("no gcc or no objdump")
        source = self.root / "code.c"
        source.write_text(content)
        done = subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-nostdlib", "-Wno-psabi", str(source), "-o",
                               str(package / name), *(["-lgcc"] if "cpu_supports" in content else [])],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def native(self):
        if subprocess.run(["uname", "-m"], capture_output=True, text=True).stdout.strip() != "x86_64":
            self.skipTest("the code of these tests is x86-64's")

    def test_instructions_beyond_the_declared_level(self):
        self.native()
        self.declare()
        self.put(AVX512)
        self.refused("variant v3 is not written", "demo/libdemo.so", "avx512f", "function twice of .text",
                     "x86_64 :: level :: v3", "allow-instructions")
        self.declare(label="v4", properties='level = ["v4"]')
        self.assert_ok(self.build())
        self.put(AMX)
        shutil.rmtree(self.out)
        self.refused("variant v4 is not written", "amx_tile", "function clear of .text", "tilezero")
        self.declare(label="v2", properties='level = ["v2"]')
        self.put(AVX2)
        self.refused("variant v2 is not written", "avx2")
        self.declare()
        self.assert_ok(self.build())

    def test_the_null_variant_and_the_plain_wheel_declare_the_baseline(self):
        self.native()
        self.declare(more="")
        self.put(AVX2)
        text = (self.project / "pyproject.toml").read_text().replace('label = "v3"\n', "")
        for rows in ('[[tool.axle.variant]]\nlabel = "null"\n', "[[tool.axle.variant]]\n"):
            (self.project / "pyproject.toml").write_text(text.replace("[[tool.axle.variant]]\n", rows))
            self.refused("is not written", "avx2", "no property")

    def test_a_single_feature_brings_what_no_cpu_lacks_that_has_it(self):
        self.native()
        self.put(AVX512)
        for feature in ("avx512_vnni", "avx512f"):
            self.declare(label="one", properties=f'{feature} = ["on"]')
            self.assert_ok(self.build())
        self.declare(label="one", properties='avx2 = ["on"]')
        shutil.rmtree(self.out)
        self.refused("avx512f")
        self.declare(ns="axle", label="one", properties='amx_int8 = ["on"]')
        self.put(AMX)
        self.assert_ok(self.build())

    def test_dispatched_code_is_no_requirement(self):
        self.native()
        self.declare()
        self.put(DISPATCHED)
        self.assert_ok(self.build())
        self.put(AVX512, name="libdemo_avx512.so")
        self.assert_ok(self.build())

    def test_what_is_allowed(self):
        self.native()
        self.declare(more='allow-instructions = ["avx512f"]')
        self.put(AVX512)
        self.assert_ok(self.build())
        self.declare(more='allow-instructions = ["avx521f"]')
        self.assert_fails(self.build(), 1, "avx521f", "pyproject.toml:")

    def test_a_level_that_the_loader_asks_for(self):
        self.declare()
        self.put(library(isa=8))
        self.refused("needs x86-64-v4", ".note.gnu.property", "level :: v3")
        self.declare(label="v4", properties='level = ["v4"]')
        self.assert_ok(self.build())

    def test_another_architecture(self):
        self.declare(ns="aarch64", label="arm", properties='version = ["8.2a"]')
        self.put(library())
        self.refused("demo/libdemo.so is for x86_64", "aarch64")
        self.declare()
        self.put(library(machine=183))
        self.refused("demo/libdemo.so is for aarch64", "x86_64")

    def test_code_for_declared_gpus(self):
        self.declare(ns="nvidia", label="sm80", properties='sm_arch = ["80_real"]')
        self.put(cuda_library(90))
        self.refused("variant sm80 is not written", "nvidia :: sm_arch :: 80_real", "demo/libdemo.so", ".nv_fatbin", "sm_90")
        for architectures in ((80,), (75, 80), (80, 90)):
            self.put(cuda_library(*architectures))
            self.assert_ok(self.build())
        shutil.rmtree(self.out)
        self.put(PLAIN)
        self.refused("variant sm80 is not written", "nvidia :: sm_arch :: 80_real", "have no GPU code")
        self.declare(ns="nvidia", label="both", properties='sm_arch = ["80_real", "90_real"]')
        self.put(cuda_library(80))
        self.refused("nvidia :: sm_arch :: 90_real", "sm_80")
        self.declare(ns="nvidia", label="ptx", properties='sm_arch = ["80_virtual"]')
        self.refused("nvidia :: sm_arch :: 80_virtual")
        self.put(library([(".nv_fatbin", fatbin(entry(CUBIN, 90), entry(PTX, 80, version=(8, 5))))]))
        self.assert_ok(self.build())

    def test_code_for_declared_amd_gpus(self):
        self.declare(ns="amd", label="mi300", properties='gfx_arch = ["gfx942"]')
        self.put(library([(".hip_fatbin", bundle("gfx90a"))]))
        self.refused("amd :: gfx_arch :: gfx942", ".hip_fatbin", "gfx90a")
        self.put(library([(".hip_fatbin", bundle("gfx90a", "gfx942"))]))
        self.assert_ok(self.build())

    def test_code_for_gpus_that_is_damaged_is_refused(self):
        self.declare(ns="nvidia", label="sm80", properties='sm_arch = ["80_real"]')
        self.put(library([(".nv_fatbin", b"nothing that is known" * 40)]))
        self.refused("variant sm80 is not written", "demo/libdemo.so", ".nv_fatbin", "at byte 0")

    def test_doctor_finds_what_the_builder_refuses(self):
        """And nothing in what the builder writes: on a machine that has the declared properties alone."""
        self.native()
        self.make_venv()
        for content, label, machine, expected in ((AVX512, "v3", "zen3", True), (DISPATCHED, "v3", "zen3", False),
                                                  (AVX2, "v3", "zen3", False), (PLAIN, "v3", "zen3", False)):
            self.put(content)
            self.declare(label=label, properties=f'level = ["{label}"]')
            result = self.build()
            self.assertEqual(result.code == 1, expected, str(result))
            self.declare(label=label, properties=f'level = ["{label}"]',
                         more='allow-instructions = ["avx512f", "avx512dq", "avx512vl", "avx512bw"]')
            self.assert_ok(self.build())
            wheel = next(self.out.glob("*.whl"))
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(self.site())
            done = self.variant("doctor", "--deep", "--json", "--python", self.venv, "--for", machine).json
            found = [one for one in done["findings"] if one["code"] == "cpu-instructions" and one["severity"] == "warning"]
            self.assertEqual(bool(found), expected, json.dumps(done["findings"], indent=1))
            shutil.rmtree(self.out)


if __name__ == "__main__":
    unittest.main()
