"""One table, a matrix of wheels: for this machine, cross-built and for GPUs, with the compilers that are there."""

import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from matrix_case import LISTS, PROJECT, MatrixCase


class ToolchainTest(MatrixCase):
    def test_a_full_disk_is_no_missing_compiler(self):
        self.native()
        compiler = self.root / "cc"
        compiler.write_text("""#!/bin/sh
case "$*" in
  *-march=*) echo "cc1: fatal error: error writing to /tmp/ccX.s: No space left on device" >&2; exit 1 ;;
esac
exec gcc "$@"
""")
        compiler.chmod(0o755)
        done = self.build(env={"CC": str(compiler)})
        self.assert_fails(done, 1, "No space left on device", "--cache-dir")
        self.assertNotIn("does not support", done.err)
        disk = self.root / "disk"
        disk.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)], capture_output=True).returncode:
            self.skipTest("no small file system can be mounted here")
        self.addCleanup(subprocess.run, ["umount", str(disk)], capture_output=True)
        cache = ["--cache-dir", disk / "cache"]
        self.assert_fails(self.build(*cache, env={"CC": "/bin/false"}), 1, "CC")  # makes the folders
        # More and more of it is full.
        for free in (300_000, 30_000, 0):
            filler = disk / "filler"
            filler.unlink(missing_ok=True)
            room = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize - free
            try:
                filler.write_bytes(bytes(max(room, 0)))
            except OSError:
                pass
            done = self.assert_fails(self.build(*cache, env={"TMPDIR": str(disk)}), 1, "No space left on device")
            self.assertNotIn("apt install", done.err)

    def test_what_is_missing_is_said_before_anything_is_compiled(self):
        other = "aarch64" if platform.machine() == "x86_64" else "x86_64"
        table = f'[tool.axle.axes.cpu]\nnull = {{ architectures = ["{platform.machine()}", "{other}"] }}\nv2 = {{ properties.x86_64.level = ["v2"] }}\n'
        self.describe(table + f'[tool.axle.toolchain.{other}]\ncc = "no-such-compiler"\n')
        self.assert_fails(self.build(), 1, "pyproject.toml:", f"there is no compiler for {other}: no-such-compiler",
                          f"--arch {platform.machine()}")
        self.assertEqual(list(self.out.glob("*")), [])
        self.assert_ok(self.build("--arch", platform.machine()))
        self.assert_fails(self.build("--arch", "riscv64"), 1, "no such variant for riscv64")

    def test_no_compiler_of_code_for_gpus(self):
        for properties, variable, words in (
                ('nvidia.sm_arch = ["80_real"]', "CUDACXX", ("no CUDA compiler", "nvidia :: sm_arch :: 80_real", "nvidia-cuda-nvcc")),
                ('amd.gfx_arch = ["gfx942"]', "HIPCXX", ("no HIP compiler", "amd :: gfx_arch :: gfx942", "hipcc")),
                ('intel.device_ip = ["20.1.0"]', "CXX", ("no SYCL compiler for intel_gpu_20_1_0", "icpx"))):
            with self.subTest(properties):
                self.describe(f"[tool.axle.axes.gpu]\ncpu = {{}}\ngpu = {{ properties.{properties} }}\n")
                env = {**self.env, variable: "/no/such/compiler"}
                if variable == "CXX":
                    env["CXX"] = shutil.which("g++") or self.skipTest("no g++")
                self.assert_fails(self.build(env=env), 1, "pyproject.toml:", *words)
                self.assertEqual(list(self.out.glob("*")), [])
                self.assert_ok(self.build("--variant", "null", env={**env, variable: ""} if variable == "CXX" else env))
                shutil.rmtree(self.out)

    def test_an_optional_row_is_left_out_without_its_compiler(self):
        row = '[[tool.axle.variant]]\nlabel = "gpu"\noptional = {}\n'
        table = '[tool.axle.axes.gpu]\ncpu = {}\ngpu = { properties.nvidia.sm_arch = ["80_real"] }\n'
        env = {**self.env, "CUDACXX": "/no/such/compiler"}
        self.describe(table + row.format("true"))
        done = self.assert_ok(self.build(env=env))
        self.assertEqual([one["label"] for one in done.json["wheels"]], ["null"])
        self.assertIn("variant gpu is left out: ", done.err)
        self.assertIn("no CUDA compiler", done.err)
        # Who asks for it is told.
        self.assert_fails(self.build("--variant", "gpu", env=env), 1, "pyproject.toml:", "no CUDA compiler")
        self.describe(table + row.format("false"))
        self.assert_fails(self.build(env=env), 1, "no CUDA compiler")
        self.describe(table + row.format('"yes"'))
        self.assert_fails(self.build(env=env), 1, "optional")
        # Nothing is left of a table with such rows only.
        self.describe('[tool.axle.axes.gpu]\ngpu = { properties.nvidia.sm_arch = ["80_real"], optional = true }\n')
        self.assert_fails(self.build(env=env), 1, "no CUDA compiler")

    def refused_before_the_first_compile(self, *words, env=None, options=()):
        done = self.assert_fails(self.build(*options, env={**self.env, **(env or {})}), 1, *words)
        self.assertEqual(list(self.out.glob("*")), [], str(done))
        return done

    def test_the_compilers_of_a_rows_environment(self):
        self.native()
        table = '[tool.axle.axes.cpu]\nnull = {}\nv2 = { properties.x86_64.level = ["v2"] }\n'
        for variable, value, words in (("CC", "no-such-cc", "no-such-cc"), ("CXX", "no-such-cxx", "no C++ compiler works with CXX=no-such-cxx"),
                                       ("CFLAGS", "-fno-such-flag", "the C compiler does not work with CFLAGS=-fno-such-flag")):
            with self.subTest(variable):
                self.describe(table + f'[tool.axle.axes.cpu.v3]\nproperties.x86_64.level = ["v3"]\nenvironment.{variable} = "{value}"\n')
                place = len((PROJECT + table).splitlines()) + 3
                done = self.refused_before_the_first_compile(f"pyproject.toml:{place}: variant v3: ", words)
                self.assertNotIn("apt install", done.err if variable == "CFLAGS" else "")
        # The others are built with their own.
        wrapper = self.root / "wrapper"
        wrapper.write_text(f'#!/bin/sh\necho "$@" >> {self.root}/calls\nexec gcc "$@"\n')
        wrapper.chmod(0o755)
        self.describe(table + f'v3 = {{ properties.x86_64.level = ["v3"], environment.CC = "{wrapper}" }}\n')
        self.assertEqual(list(self.built()), ["null", "v2", "v3"])
        calls = (self.root / "calls").read_text()
        self.assertIn("-march=x86-64-v3", calls)
        self.assertNotIn("-march=x86-64-v2", calls)

    def test_a_compiler_of_several_words(self):
        """CC="ccache gcc", which CMake, Meson and setuptools all take."""
        self.native()
        launcher = self.root / "launcher"
        launcher.write_text(f'#!/bin/sh\necho "$@" >> {self.root}/calls\nexec "$@"\n')
        launcher.chmod(0o755)
        self.describe('[tool.axle.axes.cpu]\nv3 = { properties.x86_64.level = ["v3"] }\n')
        self.assertEqual(list(self.built(env={**self.env, "CC": f"{launcher} gcc -pthread", "CXX": f"{launcher} g++"})), ["v3"])
        compiled = [line for line in (self.root / "calls").read_text().splitlines() if "-march=x86-64-v3" in line and " -c " in line]
        self.assertTrue(compiled and all(line.startswith("gcc -pthread ") or line.startswith("g++ ") for line in compiled), compiled)
        # Its own version is told, not that of what starts it.
        shutil.rmtree(self.out)
        self.out.mkdir()
        self.describe('[tool.axle.axes.cpu]\nv3 = { properties.x86_64.level = ["v3"], compile-args = ["-mno-such"] }\n')
        self.refused_before_the_first_compile(f"{launcher} gcc (gcc ", "does not support -mno-such",
                                              env={"CC": f"{launcher} gcc", "CXX": f"{launcher} g++"})
        self.refused_before_the_first_compile("no-such-cc", env={"CC": f"{launcher} no-such-cc"})

    def test_compilers_that_do_not_work_say_why(self):
        done = self.refused_before_the_first_compile("the C compiler does not work with CFLAGS=-fno-such-flag", "unrecognized command",
                                                     "correct these variables", env={"CFLAGS": "-fno-such-flag"})
        self.assertNotIn("apt install", done.err)
        self.refused_before_the_first_compile("no C++ compiler works with CXXFLAGS=-fno-such-flag", env={"CXXFLAGS": "-fno-such-flag"})
        self.refused_before_the_first_compile("finding a C compiler with CC=no-such-cc failed", env={"CC": "no-such-cc"})

    def test_a_named_compiler_of_this_architecture(self):
        self.native()
        self.describe('[tool.axle.axes.cpu]\nv2 = { properties.x86_64.level = ["v2"] }\n[tool.axle.toolchain.x86_64]\ncc = "no-such-cc"\n')
        done = self.refused_before_the_first_compile("variant v2: there is no compiler for x86_64: no-such-cc", "[tool.axle.toolchain.x86_64]")
        self.assertNotIn("--arch", done.err)
        self.assertEqual(done.json["error"]["message"].count("pyproject.toml:"), 1)

    def test_nvcc_of_a_row_and_its_own_words(self):
        """Driven by a stand-in that answers as nvcc does (CUDA 13.0): its version, --dryrun, and how it refuses."""
        nvcc = self.root / "nvcc"
        nvcc.write_text("""#!/bin/sh
case "$*" in *--version*) echo "Cuda compilation tools, release 13.0, V13.0.88"; exit 0 ;; esac
set -- $NVCC_PREPEND_FLAGS "$@" $NVCC_APPEND_FLAGS
while [ $# -gt 0 ]; do
  case "$1" in
    -ccbin) shift; command -v "$1" > /dev/null || { echo "nvcc fatal   : Failed to preprocess host compiler properties." >&2; exit 1; } ;;
    *compute_20*) echo "nvcc fatal   : Unsupported gpu architecture 'compute_20'" >&2; exit 1 ;;
  esac
  shift
done
""")
        nvcc.chmod(0o755)
        table = '[tool.axle.axes.gpu]\ncpu = {{}}\n[tool.axle.axes.gpu.sm80]\nproperties.nvidia.sm_arch = ["80_real"]\n{}\n'
        gpu = len(PROJECT.splitlines()) + 4
        env = {"CUDACXX": str(nvcc)}
        self.describe(table.format('environment.CUDACXX = "/no/such/nvcc"'))
        self.refused_before_the_first_compile(f"pyproject.toml:{gpu + 1}: variant sm80: there is no CUDA compiler", "/no/such/nvcc", env=env)
        self.describe(table.format('cuda-architectures = ["20-real"]'))
        self.refused_before_the_first_compile(f"pyproject.toml:{gpu + 1}: variant sm80: ", "has no target 20-real", env=env)
        self.describe(table.format("cmake.GPU = true"))
        self.refused_before_the_first_compile("variant sm80: ", "no C++ compiler for nvcc: no-such-cxx, which CUDAHOSTCXX names",
                                              env={**env, "CUDAHOSTCXX": "no-such-cxx"})
        done = self.refused_before_the_first_compile("variant sm80: ", "does not work with NVCC_APPEND_FLAGS=-ccbin no-such-cxx",
                                                     "Failed to preprocess host compiler", env={**env, "NVCC_APPEND_FLAGS": "-ccbin no-such-cxx"})
        self.assertNotIn("has no target", done.err)

    def test_a_variable_that_no_row_uses(self):
        self.native()
        table = 'cmake.define.STEB = 2\n[tool.axle.axes.cpu]\nnull = {}\nv2 = { properties.x86_64.level = ["v2"], cmake.STEP = 2 }\n'
        self.describe(table)
        place = len(PROJECT.splitlines()) + 1
        for _ in range(2):
            done = self.assert_ok(self.build())
            self.assertEqual(done.err.count("does not use the variable"), 1, done.err)
            self.assertIn(f"pyproject.toml:{place}: the CMake project does not use the variable STEB", done.err)
            self.assertIn("did you mean STEP?", done.err)
        # Read in one row, it is not misspelt. Axle's own are no concern of anybody's.
        (self.project / "CMakeLists.txt").write_text(LISTS + 'if(STEP EQUAL 2)\n  message("${STEB}")\nendif()\n')
        self.assertNotIn("does not use", self.assert_ok(self.build()).err)

    def test_settings_of_a_back_end_that_no_row_has(self):
        self.refused_before_the_first_compile("--config-settings: they are for a build back end", "pyproject.toml", options=["-C", "nonsense=1"])

    def test_offload_architectures_follow_from_the_properties(self):
        clang = shutil.which("clang++")
        if not clang or subprocess.run([clang, "-x", "hip", "--offload-arch=gfx90a", "-nogpuinc", "-nogpulib", "--cuda-device-only",
                                        "-fsyntax-only", "/dev/null"], capture_output=True).returncode != 0:
            self.skipTest("no clang++ that compiles for gfx90a")
        # CMake's language HIP needs ROCm's packages; the compiler alone makes code objects.
        (self.project / "kernel.hip").write_text("__attribute__((global)) void twice(float *x) { x[0] *= 2; }\n")
        (self.project / "CMakeLists.txt").write_text(LISTS.replace("LANGUAGES C)", "LANGUAGES C ASM)").replace("demo.c ", "demo.c code.S ") + """
set(offload "")
foreach(one IN LISTS CMAKE_HIP_ARCHITECTURES)
  list(APPEND offload --offload-arch=${one})
endforeach()
add_custom_command(OUTPUT kernel.hipfb DEPENDS kernel.hip
  COMMAND ${CMAKE_HIP_COMPILER} -x hip ${offload} -nogpuinc -nogpulib --cuda-device-only --gpu-bundle-output
    ${CMAKE_CURRENT_SOURCE_DIR}/kernel.hip -o kernel.hipfb VERBATIM)
set_source_files_properties(code.S PROPERTIES OBJECT_DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/kernel.hipfb)
target_include_directories(demo PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
""")
        (self.project / "code.S").write_text('.section .hip_fatbin,"a",@progbits\n.p2align 12\n.incbin "kernel.hipfb"\n'
                                             '.section .note.GNU-stack,"",@progbits\n')
        self.env["HIPCXX"] = clang
        table = '[tool.axle.axes.gpu]\nmi200 = { properties.amd.gfx_arch = ["gfx90a"] }\nboth = { properties.amd.gfx_arch = ["gfx90a", "gfx1030"] }\n'
        self.describe(table)
        wheels = self.built()
        self.assertEqual(list(wheels), ["mi200", "both"])
        bundler = shutil.which("clang-offload-bundler") or shutil.which("clang-offload-bundler-14")
        for label, codes in (("mi200", ["gfx90a"]), ("both", ["gfx1030", "gfx90a"])):
            library = self.unpack(wheels[label]["file"]) / "demo/libdemo.so"
            section = self.root / "section"
            subprocess.run(["objcopy", "-O", "binary", "--only-section=.hip_fatbin", library, section], check=True)
            if bundler:
                listed = subprocess.run([bundler, "--list", "--type=o", f"--inputs={section}"], capture_output=True, text=True).stdout
                if "gfx" in listed:
                    self.assertEqual(sorted(line.rsplit("-", 1)[1] for line in listed.split() if "gfx" in line), codes)
            self.assertEqual(sorted(code for code in ("gfx90a", "gfx1030", "gfx942") if code.encode() in section.read_bytes()), codes)
        self.describe('[tool.axle.axes.gpu]\nnew = { properties.axle.gfx_code = ["gfx9_4_generic"] }\n')
        if b" 14." in subprocess.run([clang, "--version"], capture_output=True).stdout:
            self.assert_fails(self.build(), 1, "has no offload architecture gfx9-4-generic, which axle :: gfx_code :: gfx9_4_generic needs")
        # A row that says otherwise than its properties is found out by its code.
        shutil.rmtree(self.out)
        self.describe(table + '[[tool.axle.variant]]\nlabel = "mi200"\nhip-architectures = ["gfx1030"]\n')
        self.assert_fails(self.build("--variant", "mi200"), 1, "variant mi200 is not written", "amd :: gfx_arch :: gfx90a", "gfx1030")

    def test_an_argument_that_the_compiler_lacks(self):
        self.describe('[[tool.axle.variant]]\ncompile-args = ["-O2", "-fno-such-thing"]\n')
        self.assert_fails(self.build(), 1, "does not support -fno-such-thing, which compile-args needs")
        self.describe('[[tool.axle.variant]]\nmarch = "z80"\n')
        self.assert_fails(self.build(), 1, "does not support -march=z80, which march needs")

    def test_aarch64_beside_x86_64_from_one_table(self):
        if platform.machine() != "x86_64" or not shutil.which("aarch64-linux-gnu-gcc"):
            self.skipTest("needs aarch64-linux-gnu-gcc on x86-64")
        self.describe("""
[tool.axle.axes.cpu]
null = { architectures = ["x86_64", "aarch64"] }
v2 = { properties.x86_64.level = ["v2"] }
dot = { properties.aarch64.asimddp = ["on"] }
i8mm = { properties.aarch64 = { version = ["8.2a"], i8mm = ["on"] } }
""")
        done = self.assert_ok(self.build()).json["wheels"]
        self.assertEqual([(one["label"], one["architecture"]) for one in done], [
            ("null", "x86_64"), ("null", "aarch64"), ("v2", "x86_64"), ("dot", "aarch64"), ("i8mm", "aarch64")])
        for one in done:
            # glibc begins with 2.17 on aarch64.
            glibc = "2_17" if one["architecture"] == "aarch64" else "2_5"
            self.assertEqual(pathlib.Path(one["file"]).name,
                             f"demo-1.0-py3-none-manylinux_{glibc}_{one['architecture']}-{one['label']}.whl")
            library = self.unpack(one["file"]) / "demo/libdemo.so"
            machine = subprocess.run(["readelf", "-h", library], capture_output=True, text=True, check=True).stdout
            self.assertIn("AArch64" if one["architecture"] == "aarch64" else "X86-64", machine)
        self.run_in_emulator({one["label"]: one["file"] for one in done if one["architecture"] == "aarch64"})

    def run_in_emulator(self, wheels):
        emulator = shutil.which("qemu-aarch64") or shutil.which("qemu-aarch64-static")
        if not emulator:
            self.skipTest("no qemu-aarch64: the libraries were not run")
        source = self.root / "main.c"
        source.write_text('#include <stdio.h>\nint level(void);\nint main(void) { printf("%d\\n", level()); return 0; }\n')
        found = {}
        for label, wheel in wheels.items():
            folder = self.unpack(wheel) / "demo"
            program = folder / "main"
            subprocess.run(["aarch64-linux-gnu-gcc", source, "-o", program, f"-L{folder}", "-ldemo", "-Wl,-rpath,$ORIGIN"], check=True)
            ran = subprocess.run([emulator, "-L", "/usr/aarch64-linux-gnu", "-cpu", "max", program], capture_output=True, text=True)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            found[label] = int(ran.stdout)
        self.assertEqual(found, {"null": 1, "dot": 7, "i8mm": 8})

    def test_cuda_architectures_follow_from_the_properties(self):
        if not shutil.which("nvcc"):
            self.skipTest("no nvcc")
        (self.project / "kernel.cu").write_text(
            "__global__ void twice(float *x) { x[threadIdx.x] *= 2; }\n"
            'extern "C" void run(float *x) { twice<<<1, 32>>>(x); }\n'
            'extern "C" const char *where_cuda(void) { return __FILE__; }\n')
        (self.project / "CMakeLists.txt").write_text(LISTS.replace("LANGUAGES C)", "LANGUAGES C CXX CUDA)").replace(
            "demo.c ", "demo.c kernel.cu "))
        table = """
[tool.axle.axes.gpu]
sm80 = { properties.nvidia.sm_arch = ["80_real"] }
both = { properties.nvidia.sm_arch = ["80_real", "90_real"] }
exact = { properties.axle.cuda_code = ["90a_real"] }
ptx = { properties.nvidia.sm_arch = ["80_virtual"] }
"""
        self.describe(table)
        wheels = self.built()
        self.assertEqual(list(wheels), ["sm80", "both", "exact", "ptx"])
        logs = {label: pathlib.Path(one["log"]).parent / "build/build.ninja" for label, one in wheels.items()}
        for label, flags in (("sm80", ["arch=compute_80,code=[sm_80]"]),
                             ("both", ["arch=compute_80,code=[sm_80]", "arch=compute_90,code=[sm_90]"]),
                             ("exact", ["arch=compute_90a,code=[sm_90a]"]), ("ptx", ["arch=compute_80,code=[compute_80]"])):
            text = logs[label].read_text()
            self.assertEqual(sorted(set(part.strip('"').removeprefix("--generate-code=") for part in text.split()
                                        if "--generate-code=" in part)), flags)
        tool = shutil.which("cuobjdump")
        if tool:
            for label, codes in (("sm80", ["sm_80"]), ("both", ["sm_80", "sm_90"]), ("exact", ["sm_90a"]), ("ptx", [])):
                listed = subprocess.run([tool, "--list-elf", self.unpack(wheels[label]["file"]) / "demo/libdemo.so"],
                                        capture_output=True, text=True).stdout
                self.assertEqual(sorted(line.split(".")[-2] for line in listed.splitlines() if ".cubin" in line), codes)
        moved = self.root / "else where" / "pro ject"
        shutil.copytree(self.project, moved)
        again = self.built("--variant", "both", project=moved, out=self.root / "other")
        self.assertEqual(again["both"]["sha256"], wheels["both"]["sha256"])
        # A row that says otherwise than its properties is found out by its code.
        shutil.rmtree(self.out)
        self.describe(table + '[[tool.axle.variant]]\nlabel = "sm80"\ncuda-architectures = ["90-real"]\n')
        self.assert_fails(self.build("--variant", "sm80"), 1, "variant sm80 is not written", "nvidia :: sm_arch :: 80_real", "sm_90")
        self.describe('[tool.axle.axes.gpu]\nold = { properties.nvidia.sm_arch = ["50_real"] }\n')
        self.assert_fails(self.build(), 1, "has no target 50-real, which nvidia :: sm_arch :: 50_real needs", "release")


if __name__ == "__main__":
    unittest.main()
