"""`variant build` with the back end of the project, once a variant, and out of wheels that exist.

The back ends of the package index take part with AXLE_TEST_REGISTRY=1; without it one that lies in the project.
"""

import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import unittest
import zipfile

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / part) for part in (".", "published")]
from configured_index import configured_index
from support import VARIANT, Result, TestCase, Wheel

LEVELS = """
[tool.axle.axes.cpu]
null = {}
v3 = { properties.x86_64.level = ["v3"] }
"""
OWN = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
"""
# Compiles one file as it is told, and writes what it was told beside it.
BACKEND = '''
import base64, hashlib, json, os, shlex, subprocess, zipfile

def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    os.makedirs("here", exist_ok=True)
    with open("here/count", "a") as file:
        file.write("x")
    subprocess.run(["cc", *shlex.split(os.environ["CFLAGS"]), "-shared", "-fPIC", "demo.c", "-o", "libdemo.so"], check=True)
    said = {"settings": config_settings, "label": os.environ["AXLE_VARIANT_LABEL"], "mode": os.environ.get("MODE"),
            "runs": len(open("here/count").read()), "file": os.path.abspath("demo.c"),
            "flags": [os.environ["CFLAGS"], os.environ["CXXFLAGS"]], "switch": os.environ.get("FORCE_IT"),
            "jobs": [os.environ["MAX_JOBS"], os.environ["CMAKE_BUILD_PARALLEL_LEVEL"]]}
    name = "demo-1.0-py3-none-linux_x86_64.whl"
    files = {"demo/__init__.py": b"", "demo/libdemo.so": open("libdemo.so", "rb").read(),
             "demo-1.0.dist-info/METADATA": b"Metadata-Version: 2.1\\nName: demo\\nVersion: 1.0\\n",
             "demo-1.0.dist-info/WHEEL": b"Wheel-Version: 1.0\\nGenerator: own\\nRoot-Is-Purelib: false\\nTag: py3-none-linux_x86_64\\n"}
    if os.environ.get("SAY"):
        files["demo/said.json"] = json.dumps(said).encode()
    files["demo-1.0.dist-info/RECORD"] = "".join(
        f"{path},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip('=')},{len(data)}\\n"
        for path, data in files.items()).encode() + b"demo-1.0.dist-info/RECORD,,\\n"
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w") as archive:
        for path, content in files.items():
            archive.writestr(path, content)
    print("the back end speaks")
    return name
'''
SOURCE = """
int step(void) {
#ifdef STEP
  return STEP;
#else
  return 1;
#endif
}
const char *where(void) { return __FILE__; }
int level(void) {
#ifdef __AVX2__
  return 3;
#else
  return 1;
#endif
}
"""


class BackEndCase(TestCase):
    def setUp(self):
        super().setUp()
        if platform.machine() != "x86_64" or not shutil.which("cc"):
            self.skipTest("needs a C compiler on x86-64")
        self.project = self.root / "project"
        self.project.mkdir()
        self.out = self.root / "dist"
        self.python = self.make_venv_with_pip()

    def make_venv_with_pip(self):
        folder = self.root / "building"
        if subprocess.run([sys.executable, "-m", "venv", str(folder)], capture_output=True).returncode != 0:
            self.skipTest("this Python makes no environments with pip")
        return folder

    def build(self, *options, project=None, out=None, env=None):
        command = [VARIANT, "build", project or self.project, "--out", out or self.out, "--python", self.python, "--json", *options]
        # pip fetches back ends, and they compile.
        return Result(subprocess.run(list(map(str, command)), env=env or self.env, cwd=self.root, text=True, capture_output=True,
                                     timeout=540, stdin=subprocess.DEVNULL))

    def built(self, *options, **kwargs):
        done = self.assert_ok(self.build(*options, **kwargs))
        return {one["label"]: one for one in done.json["wheels"]}

    def content(self, wheel, name):
        with zipfile.ZipFile(wheel) as archive:
            return archive.read(next(path for path in archive.namelist() if path.endswith(name)))

    def level_of(self, wheel, ending=".so"):
        folder = self.root / pathlib.Path(wheel).stem
        shutil.rmtree(folder, ignore_errors=True)
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
        library = next(folder.rglob(f"*{ending}"))
        code = f"import ctypes; l = ctypes.CDLL({str(library)!r}); print(l.level(), l.step())"
        ran = subprocess.run([self.python / "bin/python", "-c", code], capture_output=True, text=True, check=True)
        return tuple(map(int, ran.stdout.split()))

    def installs(self, wheel):
        """By pip, under its plain name: pip knows no labels."""
        plain = self.root / "plain" / (pathlib.Path(wheel).name.rsplit("-", 1)[0] + ".whl")
        plain.parent.mkdir(exist_ok=True)
        shutil.copy(wheel, plain)
        done = subprocess.run([self.python / "bin/python", "-m", "pip", "install", "--no-index", "--no-deps", "--force-reinstall",
                               "-q", str(plain)], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)


class OwnTest(BackEndCase):
    def setUp(self):
        super().setUp()
        self.describe()
        (self.project / "backend.py").write_text(BACKEND)
        (self.project / "demo.c").write_text(SOURCE)

    def describe(self, rows="", table=LEVELS):
        (self.project / "pyproject.toml").write_text(OWN + table + rows)

    def test_once_a_variant_with_its_flags_and_settings(self):
        self.describe('[[tool.axle.variant]]\nlabel = "v3"\nenvironment = { MODE = "fast", SAY = "1" }\n'
                      'config-settings = { level = "3", list = "one" }\n')
        wheels = self.built()
        # linux_x86_64 of the back end became what the library needs.
        self.assertEqual(sorted(pathlib.Path(one["file"]).name for one in wheels.values()), [
            "demo-1.0-py3-none-manylinux_2_5_x86_64-null.whl", "demo-1.0-py3-none-manylinux_2_5_x86_64-v3.whl"])
        self.assertEqual({label: self.level_of(one["file"]) for label, one in wheels.items()}, {"null": (1, 1), "v3": (3, 1)})
        said = json.loads(self.content(wheels["v3"]["file"], "said.json"))
        self.assertEqual((said["settings"], said["label"], said["mode"], said["runs"]), ({"level": "3", "list": "one"}, "v3", "fast", 1))
        # It worked in a copy.
        self.assertFalse((self.project / "here").exists())
        self.assertNotIn(str(self.project), said["file"])
        self.assertIn("the back end speaks", pathlib.Path(wheels["v3"]["log"]).read_text())
        text = self.content(wheels["v3"]["file"], "WHEEL").decode()
        self.assertIn("Generator: own, axle ", text)
        self.assertIn("Tag: py3-none-manylinux_2_5_x86_64\n", text)
        self.assertEqual(list(json.loads(self.content(wheels["v3"]["file"], "variant.json"))["variants"]), ["v3"])
        self.installs(wheels["null"]["file"])

    def test_only_when_something_changed_and_never_on_what_is_left(self):
        self.describe('[[tool.axle.variant]]\nlabel = "v3"\nenvironment = { SAY = "1" }\n')
        self.built()
        again = self.built()
        self.assertEqual([one["reused"] for one in again.values()], [True, True])
        with open(self.project / "demo.c", "a") as file:
            file.write("int more(void) { return 1; }\n")
        changed = self.built()
        self.assertEqual([one["reused"] for one in changed.values()], [False, False])
        self.assertEqual(json.loads(self.content(changed["v3"]["file"], "said.json"))["runs"], 1)

    def test_flags_come_behind_those_of_python_or_of_the_user(self):
        """setuptools takes CFLAGS in place of what Python's own modules are compiled with: alone, ours would be -O0."""
        self.describe('[[tool.axle.variant]]\nlabel = "v3"\nenvironment = { SAY = "1" }\n')
        question = "import sysconfig; print(sysconfig.get_config_var('CFLAGS') or '')"
        own = subprocess.run([self.python / "bin/python", "-c", question], capture_output=True, text=True, check=True).stdout.strip()
        for env, expected in ({}, [own, own]), ({"CFLAGS": "-O1 -DMINE"}, ["-O1 -DMINE", own]):
            with self.subTest(env):
                wheels = self.built("--variant", "v3", env={**self.env, **env})
                flags = json.loads(self.content(wheels["v3"]["file"], "said.json"))["flags"]
                self.assertEqual([one.split(" -march=")[0] for one in flags], expected)
                self.assertTrue(all(one.startswith(f"{before} -march=x86-64-v3 ") for one, before in zip(flags, expected, strict=True)), flags)

    def test_a_compiler_of_several_words(self):
        launcher = self.root / "launcher"
        launcher.write_text('#!/bin/sh\nexec "$@"\n')
        launcher.chmod(0o755)
        self.describe()
        wheels = self.built(env={**self.env, "CC": f"{launcher} cc", "CXX": f"{launcher} c++ -pthread"})
        self.assertEqual(sorted(wheels), ["null", "v3"])
        self.assert_fails(self.build(env={**self.env, "CC": f"{launcher} no-such-cc"}), 1, f"{launcher} no-such-cc is not installed")

    def test_jobs_are_those_of_all_rows_and_the_users_variables_count(self):
        self.describe('[[tool.axle.variant]]\nlabel = "v3"\nenvironment = { SAY = "1" }\n'
                      '[[tool.axle.variant]]\nlabel = "null"\nenvironment = { SAY = "1" }\n')
        # Two rows at once share them; the wheels are made anew for each question.
        for options, env, expected in ((["-j", "2"], {}, "1"), (["-j", "4"], {}, "2"), ([], {"MAX_JOBS": "6"}, "3"),
                                       ([], {"MAX_JOBS": "6", "CMAKE_BUILD_PARALLEL_LEVEL": "8"}, "4"),
                                       (["-j", "2"], {"MAX_JOBS": "6"}, "1")):
            with self.subTest(options=options, env=env):
                wheels = self.built("--no-cache", *options, env={**self.env, **env})
                for one in wheels.values():
                    self.assertEqual(json.loads(self.content(one["file"], "said.json"))["jobs"], [expected, expected])
        one = self.built("--no-cache", "-j", "4", "--variant", "v3")
        self.assertEqual(json.loads(self.content(one["v3"]["file"], "said.json"))["jobs"], ["4", "4"])
        done = self.build(env={**self.env, "MAX_JOBS": "many"})
        self.assert_fails(done, 2, "MAX_JOBS=many", "expected a number from 1 to 10000")

    def test_a_variable_that_a_build_may_read_counts(self):
        self.describe('[[tool.axle.variant]]\nlabel = "v3"\nenvironment = { SAY = "1" }\n')
        for env, reused in ({}, False), ({"FORCE_IT": "1"}, False), ({"FORCE_IT": "1", "TERM": "other", "SHLVL": "7"}, True):
            with self.subTest(env):
                wheel = self.built("--variant", "v3", env={**self.env, **env})["v3"]
                self.assertEqual(wheel["reused"], reused)
                self.assertEqual(json.loads(self.content(wheel["file"], "said.json"))["switch"], env.get("FORCE_IT"))

    def test_from_another_folder_the_same_bytes(self):
        here = self.built()
        moved = self.root / "much more" / "longer" / "name"
        shutil.copytree(self.project, moved)
        there = self.built(project=moved, out=self.root / "other")
        self.assertEqual([one["sha256"] for one in here.values()], [one["sha256"] for one in there.values()])

    def test_code_beyond_the_label_is_refused(self):
        (self.project / "demo.c").write_text(SOURCE + """
typedef float vector __attribute__((vector_size(64)));
__attribute__((target("avx512f"), noinline)) void twice(vector *x) { *x = *x + *x; }
""")
        self.assert_fails(self.build("--variant", "v3"), 1, "variant v3 is not written", "avx512f", "function twice")
        self.assertEqual(list(self.out.glob("*")), [])

    def test_a_back_end_that_fails(self):
        (self.project / "demo.c").write_text("#error the reason\n")
        done = self.assert_fails(self.build("--variant", "null"), 1, "variant null could not be built: pip")
        log = pathlib.Path(done.json["error"]["hint"].rsplit("the complete output is in ", 1)[1])
        self.assertIn("#error the reason", log.read_text())

    def test_what_a_back_end_cannot_be_told(self):
        self.describe('[[tool.axle.variant]]\nlabel = "v3"\ncmake.STEP = 2\n')
        self.assert_fails(self.build(), 1, "pyproject.toml:", "backend takes no CMake variables (STEP)", "config-settings")
        self.describe(table='[tool.axle.axes.cpu]\ndot = { properties.aarch64.asimddp = ["on"], flags = false }\n'
                            '[tool.axle.toolchain.aarch64]\ncc = "gcc"\n')
        self.assert_fails(self.build(), 1, "backend does not build for aarch64 on x86_64", "--arch x86_64")
        (self.project / "pyproject.toml").write_text(
            '[project]\nname = "demo"\nversion = "1"\n[tool.axle]\npackages = ["demo"]\n[[tool.axle.variant]]\n'
            'config-settings = {a = "b"}\n')
        self.assert_fails(self.build(), 1, "config-settings are for a build back end")

    def test_nothing_may_be_built(self):
        configured = self.root / "home/.config/uv/uv.toml"
        configured.parent.mkdir(parents=True)
        configured.write_text("no-build = true\n")
        self.assert_fails(self.build(), 1, "nothing may be built", "uv.toml")

    def test_no_pip_and_no_uv(self):
        shutil.rmtree(self.python)
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(self.python)], check=True)
        folder = self.root / "path"
        folder.mkdir()
        for name in ("cc", "as", "ld", "gcc"):
            if shutil.which(name):
                (folder / name).symlink_to(shutil.which(name))
        self.assert_fails(self.build(env={**self.env, "PATH": str(folder)}), 1, "has no pip, and there is no uv")


class WheelTest(BackEndCase):
    def describe(self, rows):
        (self.project / "pyproject.toml").write_text('[project]\nname = "demo"\nversion = "1.0"\n' + LEVELS + rows)

    def test_wheels_that_exist_are_checked_and_labelled(self):
        plain = Wheel("demo", "1.0").write(self.project / "made")
        self.describe("".join(f'[[tool.axle.variant]]\nlabel = "{label}"\nwheel = "made/demo-*.whl"\n' for label in ("null", "v3")))
        wheels = self.built()
        self.assertEqual([pathlib.Path(one["file"]).name for one in wheels.values()],
                         ["demo-1.0-py3-none-any-null.whl", "demo-1.0-py3-none-any-v3.whl"])
        with zipfile.ZipFile(plain) as old, zipfile.ZipFile(wheels["v3"]["file"]) as new:
            same = set(old.namelist()) - {"demo-1.0.dist-info/RECORD", "demo-1.0.dist-info/WHEEL"}
            self.assertEqual({name: old.read(name) for name in same}, {name: new.read(name) for name in same})
            self.assertEqual(set(new.namelist()) - set(old.namelist()), {"demo-1.0.dist-info/variant.json"})
        self.installs(wheels["v3"]["file"])

    def test_wheels_of_another_project_or_version(self):
        Wheel("demo", "2.0").write(self.project / "made")
        Wheel("other", "1.0").write(self.project / "made")
        for name, words in (("demo-2.0", "of version 2.0, and the project is 1.0"), ("other-1.0", "of the project other, and the project is demo")):
            self.describe(f'[[tool.axle.variant]]\nlabel = "v3"\nwheel = "made/{name}-*.whl"\n')
            self.assert_fails(self.build(), 1, "pyproject.toml:", "variant v3: wheel: ", words)
            self.assertEqual(list(self.out.glob("*")), [])

    def test_wheels_that_are_not_sound(self):
        row = '[[tool.axle.variant]]\nlabel = "v3"\nwheel = "made/demo-1.0-py3-none-any.whl"\n'
        self.describe(row)
        build = lambda: self.build("--variant", "v3")
        self.assert_fails(build(), 1, "variant v3: wheel:", "no such file")
        bad = Wheel("demo", "1.0")
        bad.record_lies["demo.py"] = ("sha256=" + "A" * 43, len(bad.members["demo.py"]))
        bad.write(self.project / "made")
        self.assert_fails(build(), 1, "demo.py is not what RECORD says")
        bad = Wheel("demo", "1.0")
        bad.record_drops.add("demo.py")
        bad.write(self.project / "made")
        self.assert_fails(build(), 1, "RECORD", "demo.py")
        path = Wheel("demo", "1.0").write(self.project / "made")
        with zipfile.ZipFile(path) as archive:
            files = {name: archive.read(name) for name in archive.namelist() if not name.endswith("RECORD")}
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in files.items():
                archive.writestr(name, content)
        self.assert_fails(build(), 1, "RECORD")
        path.write_bytes(path.read_bytes()[:100])
        self.assert_fails(build(), 1, "demo-1.0-py3-none-any.whl")
        self.assertEqual(list(self.out.glob("*")), [])
        Wheel("demo", "1.0").write(self.project / "made")
        Wheel("demo", "2.0").write(self.project / "made")
        self.describe(row.replace("1.0-py3", "*-py3"))
        self.assert_fails(build(), 1, "is 2 files", "demo-2.0")
        self.describe(row.replace("made/", "../"))
        self.assert_fails(build(), 1, "is not a path inside the project")


class RegistryTest(BackEndCase):
    """The real ones: each gets the flags of its variant, its settings, and gives the same bytes elsewhere."""

    def setUp(self):
        if os.environ.get("AXLE_TEST_REGISTRY") != "1":
            self.skipTest("AXLE_TEST_REGISTRY=1 is not set: nothing was asked of the configured registry")
        super().setUp()
        self.env["PIP_INDEX_URL"] = configured_index()

    def both_places(self, ending=".so"):
        wheels = self.built()
        self.assertEqual({label: self.level_of(one["file"], ending) for label, one in wheels.items()}, {"null": (1, 1), "v3": (3, 3)})
        for one in wheels.values():
            self.installs(one["file"])
        moved = self.root / "much" / "longer" / "name"
        shutil.copytree(self.project, moved)
        there = self.built(project=moved, out=self.root / "other")
        self.assertEqual([one["sha256"] for one in wheels.values()], [one["sha256"] for one in there.values()])

    def write(self, requires, back_end, row, **files):
        (self.project / "pyproject.toml").write_text(
            f'[build-system]\nrequires = ["{requires}"]\nbuild-backend = "{back_end}"\n[project]\nname = "demo"\nversion = "1.0"\n'
            f'{LEVELS}[[tool.axle.variant]]\nlabel = "v3"\n{row}\n')
        (self.project / "demo.c").write_text(SOURCE)
        for name, text in files.items():
            (self.project / name.replace("__", ".")).write_text(text)

    def test_variantlib_writes_the_same_metadata(self):
        table = """
[variant.default-priorities]
namespace = ["axle", "x86_64"]
[variant.providers.axle]
requires = ["axle-variant-provider"]
[variant.providers.x86_64]
requires = ["x86-64-variant-provider"]
plugin-api = "x86_64_variant_provider"
[tool.axle.axes.cpu]
null = {}
v3 = { properties.x86_64.level = ["v3"] }
amx = { properties = { axle = { amx_tile = ["on"], amx_int8 = ["on"] }, x86_64 = { level = ["v4"], avx512_vnni = ["on"] } } }
"""
        rows = "".join(f'[[tool.axle.variant]]\nlabel = "{label}"\nwheel = "demo-1.0-py3-none-any.whl"\n' for label in ("null", "v3", "amx"))
        Wheel("demo", "1.0").write(self.project)
        (self.project / "pyproject.toml").write_text('[project]\nname = "demo"\nversion = "1.0"\n' + table + rows)
        wheels = self.built()
        subprocess.run([self.python / "bin/python", "-m", "pip", "install", "-q", "variantlib==0.2.2"], env=self.env, check=True)
        code = """
import json, pathlib, sys, warnings, zipfile
from variantlib.api import make_variant_dist_info
from variantlib.pyproject_toml import VariantPyProjectToml
from variantlib.variant_dist_info import VariantDistInfo
warnings.simplefilter("ignore")
project = VariantPyProjectToml.from_path(pathlib.Path(sys.argv[1]))
for wheel in sys.argv[2:]:
    text = zipfile.ZipFile(wheel).read("demo-1.0.dist-info/variant.json")
    own = VariantDistInfo(text)
    theirs = json.loads(make_variant_dist_info(own.variant_desc, project, variant_label=own.variant_label))
    ours = json.loads(text)
    assert own.variant_label == wheel.rsplit("-", 1)[1].removesuffix(".whl"), wheel
    assert ours.pop("$schema") and theirs.pop("$schema")
    assert ours == theirs, (ours, theirs)
"""
        done = subprocess.run([self.python / "bin/python", "-c", code, self.project / "pyproject.toml",
                               *(one["file"] for one in wheels.values())], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_cuda_of_the_package_index(self):
        """nvcc out of wheels in the Python environment, where the machine has none on PATH; cuobjdump from there agrees."""
        if any(shutil.which(name, path="/usr/bin:/bin") for name in ("nvcc", "cuobjdump")):
            self.skipTest("a CUDA toolkit is in /usr/bin")
        self.env = {key: value for key, value in self.env.items() if key not in ("CUDA_HOME", "CUDA_PATH", "CUDACXX")}
        self.env["PATH"] = "/usr/bin:/bin"
        (self.project / "pyproject.toml").write_text("""
[project]
name = "demo"
version = "1.0"
[tool.axle]
cmake.source = "."
[tool.axle.axes.gpu]
sm80 = { properties.nvidia.sm_arch = ["80_real"] }
both = { properties.nvidia.sm_arch = ["90_real", "80_real"] }
exact = { properties.axle.cuda_code = ["90a_real"] }
ptx = { properties.nvidia.sm_arch = ["80_virtual"] }
""")
        (self.project / "CMakeLists.txt").write_text("""
cmake_minimum_required(VERSION 3.18)
project(demo LANGUAGES CXX CUDA)
add_library(demo SHARED kernel.cu)
install(TARGETS demo LIBRARY DESTINATION demo)
""")
        (self.project / "kernel.cu").write_text("__global__ void twice(float *x) { x[threadIdx.x] *= 2; }\n"
                                                'extern "C" void run(float *x) { twice<<<1, 32>>>(x); }\n')
        self.assert_fails(self.build("--variant", "sm80"), 1, "there is no CUDA compiler", "nvidia-cuda-nvcc")
        subprocess.run([self.python / "bin/python", "-m", "pip", "install", "-q", "nvidia-cuda-nvcc", "nvidia-cuda-runtime",
                        "nvidia-nvvm", "nvidia-cuda-crt", "nvidia-cuda-cuobjdump"], env=self.env, check=True)
        wheels = self.built()
        cuobjdump = next(self.python.rglob("bin/cuobjdump"))
        for label, elf, ptx in (("sm80", ["sm_80"], []), ("both", ["sm_80", "sm_90"], []), ("exact", ["sm_90a"], []),
                                ("ptx", [], ["sm_80"])):
            folder = self.root / label
            with zipfile.ZipFile(wheels[label]["file"]) as archive:
                archive.extractall(folder)
            for option, ending, codes in (("--list-elf", ".cubin", elf), ("--list-ptx", ".ptx", ptx)):
                listed = subprocess.run([cuobjdump, option, folder / "demo/libdemo.so"], capture_output=True, text=True).stdout
                self.assertEqual(sorted(line.split(".")[-2] for line in listed.splitlines() if line.endswith(ending)), codes, listed)

    def test_scikit_build_core(self):
        self.write("scikit-build-core", "scikit_build_core.build", "cmake.STEP = 3", CMakeLists__txt="""
cmake_minimum_required(VERSION 3.15)
project(demo LANGUAGES C)
add_library(demo SHARED demo.c)
if(STEP)
  target_compile_definitions(demo PRIVATE STEP=${STEP})
endif()
install(TARGETS demo LIBRARY DESTINATION demo)
""")
        self.both_places()

    def test_meson_python(self):
        self.write("meson-python", "mesonpy", 'config-settings = { setup-args = "-Dstep=3" }',
                   meson__build="""
project('demo', 'c', version: '1.0')
py = import('python').find_installation(pure: false)
shared_module('demo', 'demo.c', name_prefix: 'lib', install: true, install_dir: py.get_install_dir() / 'demo',
              c_args: '-DSTEP=' + get_option('step').to_string())
""", meson_options__txt="option('step', type: 'integer', value: 1)\n")
        self.both_places()

    def test_modules_of_a_cross_build_have_the_name_of_their_architecture(self):
        if platform.machine() != "x86_64" or not shutil.which("aarch64-linux-gnu-gcc"):
            self.skipTest("no compiler for aarch64")
        self.write("meson-python", "mesonpy", "", meson__build="""
project('demo', 'c', version: '1.0')
py = import('python').find_installation(pure: false)
py.extension_module('_demo', 'plain.c', install: true, subdir: 'demo')
""")
        (self.project / "plain.c").write_text("void *PyInit__demo(void) { return 0; }\n")
        table = self.project / "pyproject.toml"
        table.write_text(table.read_text().replace("null = {}", 'null = { architectures = ["x86_64", "aarch64"] }'))
        done = self.assert_ok(self.build("--variant", "null"))
        named = {}
        for one in done.json["wheels"]:
            with zipfile.ZipFile(one["file"]) as archive:
                module = next(name for name in archive.namelist() if name.endswith(".so"))
                named[one["architecture"]] = module.split("-", 2)[2]
                self.assertIn(module + ",sha256=", archive.read(next(n for n in archive.namelist() if n.endswith("/RECORD"))).decode())
        self.assertEqual(named, {"x86_64": "x86_64-linux-gnu.so", "aarch64": "aarch64-linux-gnu.so"})

    def test_setuptools(self):
        self.write("setuptools", "setuptools.build_meta", 'environment = { STEP = "3" }', setup__py="""
import os
from setuptools import setup, Extension
setup(ext_modules=[Extension("demo._demo", ["demo.c", "module.c"], define_macros=[("STEP", os.environ.get("STEP", "1"))])],
      packages=["demo"])
""", module__c="""
#include <Python.h>
#if !defined(__OPTIMIZE__) || !defined(NDEBUG)
#error "compiled without the flags of Python"
#endif
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_demo", 0, -1, 0};
PyMODINIT_FUNC PyInit__demo(void) { return PyModule_Create(&definition); }
""")
        (self.project / "demo").mkdir()
        (self.project / "demo/__init__.py").write_text("")
        self.both_places()


if __name__ == "__main__":
    unittest.main()
