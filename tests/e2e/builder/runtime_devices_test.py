"""The runtime's variants for GPUs: `cuda`, whose code is compiled here where there is nvcc, and `opencl`. What is in the
wheels, that they load where no driver is, and that they compute what the CPU computes: on a GPU if there is one, else on a
modelled driver (tests/runtime/devices/model_cuda.cpp) and on OpenCL for the CPU (PoCL)."""

import json
import pathlib
import platform
import shutil
import subprocess
import sys
import unittest
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import SOURCE, VARIANT, Result, TestCase

MODEL = pathlib.Path(VARIANT).parents[1] / "tests/runtime/devices/libcuda.so.1"
SAME_BYTES = """
import array, ctypes, random, sys
if sys.argv[3:]: ctypes.CDLL(sys.argv[3])  # answers to its name from now on
sys.path.insert(0, sys.argv[1])
import axle_runtime
device = sys.argv[2]
found = [one for one in axle_runtime.devices() if one["name"].split(":")[0] == device]
assert found, axle_runtime.devices()
if not found[0]["usable"]:
    print("problem:", found[0]["problem"])
    raise SystemExit(0)
axle_runtime.selftest(device=device)
numbers = random.Random(1)
n, k = 130, 320
weight = array.array("f", (numbers.gauss(0, 1) for _ in range(n * k)))
weight = memoryview(weight).cast("B").cast("f", (n, k))
bias = array.array("f", (numbers.gauss(0, 1) for _ in range(n)))
for rows in (1, 4, 5, 33, 128):
    x = memoryview(array.array("f", (numbers.gauss(0, 1) for _ in range(rows * k)))).cast("B").cast("f", (rows, k))
    for mode, options in (("da8w8", {}), ("a16w8", {}), ("da8w4", {"group": 32}), ("a16w4", {"group": 128}),
                          ("a16w4", {"scaling": "two_level"})):
        layers = [axle_runtime.quantize(weight, bias, mode, device=one, **options) for one in (None, device)]
        results = [bytes(axle_runtime.linear(x, layer).elements) for layer in layers]
        assert results[0] == results[1], (mode, options, rows)
        assert layers[1].kernel(rows).startswith("axle_"), layers[1].kernel(rows)
print("same bytes:", found[0]["description"])
"""


class DevicesCase(TestCase):
    def setUp(self):
        super().setUp()
        for tool in ("cmake", "ninja", "g++"):
            if not shutil.which(tool):
                self.skipTest(f"no {tool}")
        self.env["POCL_CACHE_DIR"] = str(self.root / "pocl")
        if shutil.which("ccache"):
            self.env |= {"CMAKE_C_COMPILER_LAUNCHER": "ccache", "CMAKE_CXX_COMPILER_LAUNCHER": "ccache",
                         "CCACHE_BASEDIR": "/", "CCACHE_NOHASHDIR": "1",
                         "CCACHE_DIR": subprocess.run(["ccache", "-k", "cache_dir"], capture_output=True, text=True).stdout.strip()}

    def run_variant(self, *arguments):
        return Result(subprocess.run(list(map(str, [VARIANT, *arguments])), env=self.env, cwd=self.root, text=True,
                                     capture_output=True, timeout=1700))

    def built(self, label, source=SOURCE / "runtime", out="wheels"):
        done = self.assert_ok(self.run_variant("build", source, "--variant", label, "--arch", platform.machine(), "--out",
                                               self.root / out, "--json"))
        self.assertEqual([one["label"] for one in done.json["wheels"]], [label])
        wheel = pathlib.Path(done.json["wheels"][0]["file"])
        self.assertRegex(wheel.name, rf"^axle_runtime-0\.1\.0-py3-none-manylinux_2_17_{platform.machine()}-{label}\.whl$")
        return wheel

    def unpack(self, wheel):
        folder = self.root / wheel.stem
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
        return folder

    def audited(self, wheel):
        done = self.assert_ok(self.run_variant("audit", wheel, "--json"))
        return done.json["audited"][0]

    def computed(self, folder, device, *more, environment=None):
        done = subprocess.run([sys.executable, "-c", SAME_BYTES, str(folder), device, *map(str, more)], capture_output=True,
                              text=True, env=environment or self.env, timeout=600)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout.strip()


class CudaTest(DevicesCase):
    def setUp(self):
        super().setUp()
        if not shutil.which("nvcc"):
            self.skipTest("no nvcc on PATH (CUDA toolkit, or nvidia-cuda-nvcc of the package index)")
        if platform.machine() != "x86_64":
            self.skipTest("built for x86-64")

    def test_the_wheel_has_code_for_three_architectures(self):
        wheel = self.built("cuda")
        self.assertEqual(self.audited(wheel)["gpu_code"], {"nvidia": ["sm_100", "sm_80", "sm_90"]})
        folder = self.unpack(wheel)
        variants = json.loads((folder / "axle_runtime-0.1.0.dist-info/variant.json").read_text())["variants"]
        self.assertEqual(variants, {"cuda": {"nvidia": {"cuda_version_lower_bound": ["13.0"],
                                                        "sm_arch": ["100_real", "80_real", "90_real"]}}})
        library = folder / "axle_runtime/libaxle_runtime.so"
        needed = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True).stdout
        self.assertNotIn("libcuda", needed)
        cuobjdump = shutil.which("cuobjdump")
        if cuobjdump:
            listed = subprocess.run([cuobjdump, "--list-elf", library], capture_output=True, text=True).stdout
            found = sorted(line.split(".")[-2] for line in listed.splitlines() if line.endswith(".cubin"))
            self.assertEqual(found, ["sm_100", "sm_80", "sm_90"], listed)
        self.chosen_where_it_runs()
        with self.subTest("a machine's own driver"):
            said = self.computed(folder, "cuda")
            if said.startswith("problem:"):
                print(f"skipped on a GPU: {said}", file=sys.stderr)
        with self.subTest("a modelled driver"):
            if not MODEL.exists():
                self.skipTest(f"no {MODEL}")
            self.assertEqual(self.computed(folder, "cuda", MODEL),
                             "same bytes: Model 0, compute capability 9.0, driver for CUDA 13.0")

    def chosen_where_it_runs(self):
        self.assert_ok(self.run_variant("index", "build", self.root / "wheels", "--out", self.root / "index"))
        for machine, fits in (("h100", True), ("a100", True), ("b200", True), ("rtx4090", True), ("rtx5090", False),
                              ("nvidia:sm=75,driver=580.65.06;x86_64:v4", False), ("nvidia:sm=90,driver=550.54;x86_64:v4", False)):
            with self.subTest(machine):
                done = self.run_variant("resolve", "axle-runtime", "--index-url", (self.root / "index/simple").as_uri(),
                                        "--for", machine)
                self.assertEqual(done.code, 0 if fits else 3, str(done))

    def test_the_same_bytes_from_another_folder(self):
        first = self.built("cuda").read_bytes()
        moved = self.root / "elsewhere/deeper"
        for name in ("runtime", "detect", "foundation"):
            shutil.copytree(SOURCE / name, moved / name)
        self.assertEqual(self.built("cuda", moved / "runtime", "again").read_bytes(), first)

    def test_the_instructions(self):
        """Both products are the integer instructions, and no multiplication in float is fused with an addition."""
        listing = self.root / "linear.ptx"
        subprocess.run(["nvcc", "-std=c++17", "-O3", "-fmad=false", f"-I{SOURCE}", "-arch=sm_80", "-ptx", "-o", listing,
                        SOURCE / "runtime/devices/code/linear.cu"], check=True, env=self.env)
        text = listing.read_text()
        self.assertIn("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", text)
        self.assertIn("dp4a.s32.s32", text)
        self.assertRegex(text, r"\bmul\.rn\.f32\b")
        self.assertNotRegex(text, r"\bfma\.|\bmad\.[a-z.]*f32|\.ftz\b|\bdiv\.[a-z.]*f32")

    def test_without_nvcc(self):
        self.env["CUDACXX"] = "/no/such/nvcc"
        done = self.run_variant("build", SOURCE / "runtime", "--variant", "cuda", "--out", self.root / "wheels")
        self.assert_fails(done, 1, "there is no CUDA compiler", "nvidia-cuda-nvcc")


class OpenclTest(DevicesCase):
    def test_the_wheel_computes_what_the_cpu_computes(self):
        wheel = self.built("opencl")
        self.assertEqual(self.audited(wheel)["gpu_code"], {})
        folder = self.unpack(wheel)
        nowhere = self.root / "no-vendors"
        nowhere.mkdir()
        said = self.computed(folder, "opencl", environment={**self.env, "OCL_ICD_VENDORS": str(nowhere)})
        self.assertRegex(said, "^problem: (OpenCL finds no device|there is no OpenCL here)")
        said = self.computed(folder, "opencl")
        if said.startswith("problem:"):
            self.skipTest(said)
        self.assertRegex(said, "^same bytes: ")


if __name__ == "__main__":
    unittest.main()
