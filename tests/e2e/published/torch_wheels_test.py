"""The family's features of torch beside torch's own wheels: what a release contains, and which GPUs its own tests let through.

Only with AXLE_TEST_REGISTRY=1: the wheels for macOS, the smallest with all Python files, come from the configured registry.
"""

import ast
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import types
import unittest
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import PYTHON, TestCase
from torch_index import TABLE

RELEASES = ["2.7.1", "2.8.0", "2.9.1", "2.10.0", "2.11.0", "2.12.0", "2.13.0", "2.14.0", "2.15.0"]

# feature, vendor or platform of the entry -> the file and what is in it exactly as long as the release has the feature
CONTENTS = {
    ("symmetric-memory", "nvidia"): ("torch/distributed/_symmetric_memory/__init__.py", r"^def rendezvous"),
    ("symmetric-memory", "intel"): ("torch/distributed/_symmetric_memory/__init__.py", r'"XPU"'),
    ("nvshmem", "nvidia"): ("METADATA", r"^Requires-Dist: nvidia-nvshmem"),
    ("nvshmem", "amd"): ("torch/distributed/_symmetric_memory/__init__.py", r"rocSHMEM"),
    ("fsdp2-quantized", None): ("torch/distributed/fsdp/_fully_shard/_fsdp_param.py", r"requires_grad=param\.requires_grad"),
    ("mx-formats", "amd"): ("torch/testing/_internal/common_cuda.py", r"def evaluate_platform_supports_mx_gemm"),
    ("flex-attention", "intel"): ("torch/nn/attention/flex_attention.py", r'"xpu"'),
    ("flex-attention", "macos_arm64"): ("torch/nn/attention/flex_attention.py", r'"mps"'),
    ("flex-attention-flash", "nvidia"): ("torch/_inductor/kernel/flex/flex_flash_attention.py", r"flash_attn"),
    ("compile-hierarchical", None): ("torch/compiler/__init__.py", r"^def nested_compile_region"),
    ("compile-mps", "macos_arm64"): ("torch/_inductor/codegen/mps.py", r"class Metal"),
    ("control-flow", None): ("torch/_higher_order_ops/associative_scan.py", r"^def associative_scan"),
    ("graph-partition", "nvidia"): ("torch/_inductor/config.py", r"^graph_partition"),
    ("cutlass", "intel"): ("torch/_inductor/codegen/cutlass/utils.py", r"xpu"),
    ("amx-fp16", None): ("torch/_inductor/codegen/cpp_micro_gemm.py", r"def check_amx_fp16_extra"),
    ("amx-int4", None): ("torch/_inductor/codegen/cpp_micro_gemm.py", r"class CppMicroGemmWoQInt4Amx"),
    ("sycl-extensions", "linux_x86_64"): ("torch/utils/cpp_extension.py", r"^def SyclExtension"),
    ("muon", None): ("torch/optim/_muon.py", r"^class Muon"),
    ("qat-pt2e", None): ("torch/ao/quantization/quantize_pt2e.py", r"^def prepare_qat_pt2e"),
    ("stable-abi", None): ("torch/include/torch/csrc/stable/tensor.h", r"."),
}
FILES = {file for file, _ in CONTENTS.values()} | {"torch/testing/_internal/common_cuda.py"}

NVIDIA = {"v100": (7, 0), "t4": (7, 5), "a100": (8, 0), "a10": (8, 6), "l4": (8, 9), "h100": (9, 0), "b200": (10, 0),
          "rtx5090": (12, 0)}
AMD = {"mi210": "gfx90a", "mi300x": "gfx942", "mi355x": "gfx950", "rx7900xtx": "gfx1100", "rx7800xt": "gfx1101",
       "rx7600": "gfx1102", "890m": "gfx1150", "8060s": "gfx1151", "rx9060xt": "gfx1200", "rx9070": "gfx1201",
       "rx6800": "gfx1030", "mi100": "gfx908"}
GATES = {"float8": "evaluate_platform_supports_fp8", "mx-formats": "evaluate_platform_supports_mx_gemm",
         "flash-attention": "evaluate_platform_supports_flash_attention"}
EXPERIMENTAL = "TORCH_ROCM_AOTRITON_ENABLE_EXPERIMENTAL"


def numbers(version):
    return [int(part) for part in version.split(".")]


def minor(release):
    return ".".join(release.split(".")[:2])


def knows(entry, release):
    """Whether the entry's `releases` include the release."""
    for clause in entry["releases"].split(","):
        operator, version = re.fullmatch(r"(>=|<=|==|<|>)(.*)", clause).groups()
        left, right = numbers(minor(release)), numbers(version)
        if not {">=": left >= right, "<=": left <= right, "==": left == right, "<": left < right, ">": left > right}[operator]:
            return False
    return True


def has(entry, release):
    return numbers(entry.get("since", "0")) <= numbers(minor(release)) < numbers(entry.get("until", "9999"))


def is_of(entry, what):
    return entry.get("vendor") == what or what in entry.get("platforms", []) or what is None and "vendor" not in entry


class Gate:
    """One of torch's own functions that say which GPUs its tests run a feature on, for a GPU that is not here."""

    def __init__(self, source, name):
        functions = {node.name: node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}
        self.code = "\n".join(ast.unparse(functions[one]) for one in ("evaluate_gfx_arch_within", name))
        self.name = name

    def __call__(self, capability=(9, 4), gfx="", rocm=None, experimental=False):
        properties = types.SimpleNamespace(gcnArchName=gfx)
        hip = ".".join(map(str, rocm)) if rocm else None
        cuda = types.SimpleNamespace(is_available=lambda: True, get_device_capability=lambda *_: capability,
                                     get_device_properties=lambda *_: properties)
        torch = types.SimpleNamespace(cuda=cuda, xpu=types.SimpleNamespace(is_available=lambda: False),
                                      version=types.SimpleNamespace(hip=hip, cuda=None if rocm else "13.0"))
        system = types.SimpleNamespace(environ={EXPERIMENTAL: "1"} if experimental else {})
        scope = {"torch": torch, "os": system, "TEST_WITH_ROCM": bool(rocm), "TEST_CUDA": True, "IS_WINDOWS": False,
                 "TEST_XPU": False, "ROCM_VERSION": rocm or (0, 0),
                 **{f"SM{major}{lesser}OrLater": not rocm and capability >= (major, lesser)
                    for major in range(5, 13) for lesser in range(10)}}
        exec(self.code, scope)  # pylint: disable=exec-used
        return bool(scope[self.name]())


class BesideTorch(TestCase):
    @classmethod
    def setUpClass(cls):
        if os.environ.get("AXLE_TEST_REGISTRY") != "1":
            raise unittest.SkipTest("AXLE_TEST_REGISTRY=1 is not set: nothing was asked of the configured registry")
        super().setUpClass()
        cls.texts = {}
        for release in RELEASES:
            with tempfile.TemporaryDirectory() as folder:
                subprocess.run([PYTHON, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", "--platform",
                                "macosx_14_0_arm64", "--platform", "macosx_11_0_arm64", "--python-version", "3.12", "-d",
                                folder, f"torch=={release}"], check=True)
                with zipfile.ZipFile(next(pathlib.Path(folder).glob("*.whl"))) as wheel:
                    members = {name.rpartition("dist-info/")[2]: name for name in wheel.namelist()}
                    cls.texts[release] = {file: wheel.read(members[file]).decode() for file in FILES if file in members}

    def test_what_releases_contain(self):
        for (name, what), (file, pattern) in CONTENTS.items():
            entries = [one for one in TABLE["features"] if one["name"] == name and is_of(one, what)]
            for release in RELEASES:
                known = [one for one in entries if knows(one, release)]
                with self.subTest(feature=name, of=what, release=release):
                    self.assertTrue(entries)
                    if known:
                        contained = re.search(pattern, self.texts[release].get(file, ""), re.MULTILINE) is not None
                        self.assertEqual(any(has(one, release) for one in known), contained)

    def answers(self, machine, release):
        body = self.variant("doctor", "--for", machine, "--for-package", f"torch=={minor(release)}", "--json").json
        return {one["name"]: one for one in body["features"]}

    def test_nvidia_gpus_that_torch_itself_lets_through(self):
        for release in [one for one in RELEASES if numbers(one) >= [2, 8]]:
            source = self.texts[release]["torch/testing/_internal/common_cuda.py"]
            for machine, capability in NVIDIA.items():
                answers = self.answers(machine, release)
                for feature, function in GATES.items():
                    if f"def {function}" not in source or not answers[feature]["variant"]:
                        continue  # no build of the release runs on the GPU
                    with self.subTest(release=release, machine=machine, feature=feature):
                        self.assertEqual(answers[feature]["usable"] == "yes", Gate(source, function)(capability), answers[feature])

    def test_amd_gpus_that_torch_itself_lets_through(self):
        compared = 0
        for release in [one for one in RELEASES if numbers(one) >= [2, 8]]:
            source = self.texts[release]["torch/testing/_internal/common_cuda.py"]
            for machine, gfx in AMD.items():
                answers = self.answers(machine, release)
                for feature, function in GATES.items():
                    answer = answers[feature]
                    if f"def {function}" not in source or not answer["variant"]:
                        continue
                    rocm = tuple(numbers(answer["variant"].removeprefix("rocm")))[:2]
                    gate = Gate(source, function)
                    plain = answer["usable"] == "yes" and EXPERIMENTAL not in answer["note"]
                    with self.subTest(release=release, machine=machine, feature=feature, rocm=rocm):
                        self.assertEqual(plain, gate(gfx=gfx, rocm=rocm), answer)
                        if feature == "flash-attention":
                            self.assertEqual(answer["usable"] == "yes", gate(gfx=gfx, rocm=rocm, experimental=True), answer)
                    compared += 1
        self.assertGreater(compared, 150)


if __name__ == "__main__":
    unittest.main()
