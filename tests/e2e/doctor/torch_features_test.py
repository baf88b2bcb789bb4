"""Features of torch on shipped machines: what they can use, why not, and what would help; `doctor` and `explain` agree."""

import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import SOURCE
from torch_index import TABLE, TorchTestCase, everywhere

# machine, release -> feature -> (usable, what its reason must say, what its change must say)
EXPECTED = {
    ("h100", "2.15"): {
        "float8": ("yes", "with the build cu132", ""),
        "mx-formats": ("no", "it needs compute capability 10.0, but the GPU has 9.0", "compute capability 10.0"),
        "symmetric-memory": ("no", "needs 2 NVIDIA GPUs, but 1", "2 such GPUs"),
        "cutlass": ("unknown", "68 or more multiprocessors", "multi_processor_count"),
        "composable-kernel": ("no", "no AMD GPU", "a machine with an AMD GPU"),
        "qat-pt2e": ("no", "torch 2.11 has it no more", "torch 2.10"),
        "flex-attention-flash": ("yes", "with the build cu132", ""),
        "compile-mps": ("no", "only builds for macos_arm64", "macos_arm64"),
    },
    ("h100", "2.10"): {
        "flex-attention-flash": ("yes", "with the build cu130", ""),
        "fsdp2-quantized": ("no", "it was added in torch 2.12", "torch 2.12 or newer"),
        "qat-pt2e": ("yes", "with the build", ""),
    },
    ("p5-h100x8", "2.9"): {
        "flex-attention-flash": ("no", "it was added in torch 2.10", "torch 2.10"),
        "symmetric-memory": ("unknown", "peer access", "nvidia-smi topo -p2p r"),
        "nvshmem": ("unknown", "NVLink", "is_nvshmem_available"),
    },
    ("p5-h100x8", "2.8"): {"nvshmem": ("no", "it was added in torch 2.9", "perhaps torch 2.9")},
    ("mi355x-rocm70", "2.10"): {
        "mx-formats": ("yes", "with the build rocm7.1", ""),
        "float8": ("yes", "with the build rocm7.1", ""),
        "float8-rowwise": ("unknown", "hipBLASLt", "torch._scaled_mm"),
        "composable-kernel": ("yes", "with the build rocm7.1", ""),
        "flash-attention": ("yes", "with the build rocm7.1", ""),
        "cutlass": ("unknown", "no fact about it on AMD GPUs", ""),
    },
    # Announced with 2.9, whose builds are made with ROCm 6 and have no code for this GPU.
    ("mi355x-rocm70", "2.9"): {"mx-formats": ("no", "the build rocm6.4 does not fit", "torch 2.10")},
    ("mi300x", "2.9"): {"mx-formats": ("no", "gfx942", "an AMD GPU with gfx950")},
    ("b580", "2.14"): {
        "flex-attention": ("yes", "with the build xpu", ""),
        "float8": ("yes", "with the build xpu", ""),
        "xpu-a16w4": ("yes", "with the build xpu", ""),
        "sycl-extensions": ("yes", "with the build xpu", ""),
        "flash-attention": ("unknown", "no fact about it on Intel GPUs", ""),
        "symmetric-memory": ("no", "needs 2 Intel GPUs, but 1", "2 such GPUs"),
    },
    ("b580", "2.9"): {"float8": ("no", "it was added in torch 2.10", "torch 2.10")},
    ("b580;windows", "2.8"): {"sycl-extensions": ("no", "it was added in torch 2.10", "torch 2.10")},
    ("sapphire-rapids", "2.9"): {
        "amx-bf16": ("yes", "with the build cpu", ""),
        "amx-int8": ("yes", "with the build cpu", ""),
        "amx-int4": ("yes", "with the build cpu", ""),
        "amx-fp16": ("no", "amx_fp16", "a CPU with amx_fp16"),
        "cpu-fp8": ("yes", "with the build cpu", ""),
        "flex-attention": ("no", "no NVIDIA, AMD or Intel GPU", "a machine with an NVIDIA GPU with compute capability 7.0 or newer, or an AMD GPU, or an Intel GPU"),
        "flex-attention-cpu": ("yes", "with the build cpu", ""),
        "muon": ("yes", "with the build cpu", ""),
    },
    ("granite-rapids", "2.9"): {"amx-fp16": ("yes", "with the build cpu", "")},
    ("granite-rapids", "2.8"): {"amx-fp16": ("no", "it was added in torch 2.9", "torch 2.9 or newer")},
    ("ice-lake-server", "2.9"): {"amx-int8": ("no", "amx", "a CPU with amx_")},
    ("macos:15", "2.13"): {
        "compile-mps": ("yes", "with the build cpu", ""),
        "flex-attention": ("yes", "with the build cpu", ""),
        "stable-abi": ("yes", "with the build cpu", ""),
        "amx-int8": ("no", "only builds for linux_x86_64", "linux_x86_64"),
        "float8": ("unknown", "no fact about it on Apple's GPUs", ""),
    },
    ("macos:15", "2.12"): {"flex-attention": ("no", "it was added in torch 2.13", "torch 2.13 or newer")},
    # The wheels of 2.12 name macOS 14; MPS asks for it since 2.9.
    ("macos13-m1", "2.12"): {
        "compile-mps": ("no", "the system has macOS 13.6, and the build needs 14",
                        "macOS 14 or newer, or torch 2.8"),
        "muon": ("no", "the wheels of torch 2.12 are for macOS 14", "or torch 2.11"),
    },
    ("macos13-m1", "2.11"): {"compile-mps": ("no", "macOS 13.6", "macOS 14 or newer"), "muon": ("yes", "with the build cpu", "")},
    ("macos13-m1", "2.8"): {"compile-mps": ("yes", "with the build cpu", "")},
    ("macos15-m4", "2.9+cu128"): {"muon": ("unknown", "knows no build cu128 of torch 2.9 for macos_arm64", "")},
    # What would help is found by asking the other releases, and what is missing is said whole.
    ("macos13-m1", "2.9"): {"flex-attention": ("no", "it was added in torch 2.13", "macOS 14 or newer, and torch 2.13 or newer")},
    ("windows-gtx1080", "2.15"): {"cuda-graphs": ("no", "compute capability 6.1", "torch 2.14")},
    ("jetson-thor-jp7", "2.9"): {"flex-attention-flash": ("no", "it needs compute capability", "perhaps torch 2.10")},
    ("windows-b580", "2.10"): {"symmetric-memory": ("no", "it was added in torch 2.14", "2 such GPUs, and torch 2.14 or newer")},
    ("sapphire-rapids", "2.8"): {"amx-fp16": ("no", "amx_fp16", "a CPU with amx_fp16, and torch 2.9 or newer")},
    ("windows-rx9070xt", "2.10"): {"float8": ("no", "no build with it for windows_amd64", "linux_x86_64")},
    ("macos15-intel", "2.10"): {"muon": ("no", "torch 2.2 was the last release for macos_x86_64", "torch 2.2")},
    ("windows-snapdragon-x", "2.9"): {"muon": ("unknown", "no fact about a build of torch 2.9 for windows_arm64", "")},
    ("windows-snapdragon-x", "2.10"): {"muon": ("yes", "with the build cpu", "")},
    ("lunar-lake-xe", "2.8"): {"xccl": ("unknown", "part of the CPU", "xccl")},
    ("max1550", "2.8"): {"xccl": ("yes", "with the build xpu", "")},
    ("rtx5090", "2.10"): {"float8-rowwise": ("no", "but the GPU has 12.0", "compute capability")},
    ("windows-rtx5090", "2.9"): {"xpu": ("no", "no Intel GPU", "an Intel GPU")},
    ("h100", "2.13"): {"python-3-15": ("yes", "with the build", ""), "free-threaded": ("yes", "with the build", "")},
    ("windows-none", "2.9"): {"flex-attention-cpu": ("yes", "with the build cpu", "")},
    ("windows-b580", "2.5"): {"xpu": ("no", "it was added in torch 2.6", "torch 2.6 to 2.14")},
    ("b580", "2.6"): {"xpu": ("unknown", "nobody has verified that its SPIR-V runs there", "torch 2.7 to 2.14")},
    ("zen4", "2.9"): {"cpu-fp8": ("no", "amx_tile", "a CPU with amx_int8 and amx_tile")},
    # What the machine lacks is the cause, whatever the release lacks.
    ("mi300x", "2.8"): {"mx-formats": ("no", "gfx942", "an AMD GPU with gfx950")},
    ("h100", "2.8"): {"composable-kernel": ("no", "no AMD GPU", "a machine with an AMD GPU")},
    ("mi300x", "2.7"): {"flex-attention": ("unknown", "no fact about it on AMD GPUs", "")},
    ("none", "2.15"): {
        "control-flow": ("yes", "with the build cpu", ""),
        "compile-hierarchical": ("yes", "with the build cpu", ""),
        "python-3-15": ("yes", "with the build cpu", ""),
        "cuda-graphs": ("no", "no NVIDIA GPU", "a machine with an NVIDIA GPU"),
    },
    ("none", "2.8"): {"python-3-14": ("no", "it was added in torch 2.9", "torch 2.9 or newer"),
                      "muon": ("no", "it was added in torch 2.9", "torch 2.9 or newer")},
}
KEYS = ["name", "title", "usable", "reason", "change", "since", "until", "variant", "note", "source", "confidence", "date"]


class FeatureCase(TorchTestCase):
    FILES = staticmethod(everywhere)

    def features(self, machine, release):
        result = self.variant("doctor", "--for", machine, "--for-package", f"torch=={release}", "--json")
        return {one["name"]: one for one in result.json["features"]}


class OnMachines(FeatureCase):
    def test_what_each_machine_can_use_and_what_would_help(self):
        for (machine, release), expected in EXPECTED.items():
            found = self.features(machine, release)
            for name, (usable, reason, change) in expected.items():
                with self.subTest(machine=machine, release=release, feature=name):
                    one = found[name]
                    self.assertEqual(one["usable"], usable, one)
                    self.assertIn(reason, one["reason"])
                    self.assertIn(change, one["change"])

    def test_every_no_says_what_would_help_and_every_known_answer_has_a_source(self):
        for machine in ("h100", "mi355x-rocm70", "b580", "sapphire-rapids", "none", "gtx1080ti"):
            for release in ("2.8", "2.15"):
                for one in self.features(machine, release).values():
                    with self.subTest(machine=machine, release=release, feature=one["name"]):
                        self.assertEqual(list(one), KEYS)
                        self.assertTrue(one["usable"] != "no" or one["change"], one)
                        self.assertTrue(one["usable"] != "yes" or (one["source"] and one["date"]), one)

    def test_every_feature_of_the_facts_is_answered(self):
        names = list(dict.fromkeys(one["name"] for one in TABLE["features"]))
        self.assertEqual(list(self.features("h100", "2.15")), names)

    def test_the_text_has_what_would_help_and_sources_with_v(self):
        arguments = ("doctor", "--for", "h100", "--for-package", "torch==2.15")
        text = self.variant(*arguments)
        words = " ".join(text.out.split())
        self.assertIn("no MX formats (mx-fp8, mx-fp4): block-scaled matrix products: it needs compute capability 10.0", words)
        self.assertIn("what would help: a GPU with compute capability 10.0 or newer", words)
        self.assertIn("find out with python -c 'import torch; print(", words)
        self.assertNotIn("common_cuda.py", text.out)
        self.assertIn("common_cuda.py", self.variant(*arguments, "-v").out)


class Explained(FeatureCase):
    def explain(self, machine, *arguments):
        return self.assert_ok(self.family("explain", *arguments, machine=machine))

    def test_one_line_counts_them_and_v_lists_them(self):
        lines = [line for line in self.explain("h100", "torch").out.splitlines() if "features of" in line]
        self.assertEqual(len(lines), 1)
        features = self.explain("h100", "torch", "--json").json["packages"][0]["features"]
        count = {usable: sum(one["usable"] == usable for one in features) for usable in ("yes", "no", "unknown")}
        self.assertEqual(lines[0].strip(), "features of torch 2.15.0+cu132 here: {yes} usable, {no} not, {unknown} unknown "
                         "(-v lists them)".format(**count))
        listed = self.explain("h100", "torch", "-v").out
        for one in features:
            self.assertIn(one["title"].split(":")[0], " ".join(listed.split()))
        self.assertIn("common_cuda.py", listed)

    def test_what_was_chosen_counts(self):
        features = {one["name"]: one for one in
                    self.explain("h100", "torch==2.9.1", "--torch-backend", "cpu", "--json").json["packages"][0]["features"]}
        self.assertEqual(features["float8"]["usable"], "no")
        self.assertEqual(features["float8"]["reason"], "the build cpu does not have it")
        self.assertIn("which fits too", features["float8"]["change"])
        self.assertEqual(features["muon"]["variant"], "cpu")

    def test_wheels_for_other_platforms_are_counted_and_v_lists_them(self):
        said = self.explain("h100", "torch").out
        count = re.search(r"skipped  (\d+) wheels: for other interpreters and platforms \(-v lists them\)", said)
        self.assertIsNotNone(count, said)
        self.assertNotIn("do not fit this interpreter and platform", said)
        every = [line for line in self.explain("h100", "torch", "-v").out.splitlines() if "do not fit this interpreter" in line]
        self.assertEqual(len(every), int(count[1]))
        skipped = self.explain("h100", "torch", "--json").json["packages"][0]["decision"]["skipped"]
        self.assertEqual(sum(one["code"] == "tags" for one in skipped), int(count[1]))

    def test_it_agrees_with_doctor(self):
        for machine in ("h100", "mi300x", "b580", "none"):
            with self.subTest(machine=machine):
                package = self.explain(machine, "torch", "--json").json["packages"][0]
                release = ".".join(package["version"].split(".")[:2])
                usable = {name: one["usable"] for name, one in self.features(machine, release).items()}
                self.assertEqual({one["name"]: one["usable"] for one in package["features"]}, usable)

    def test_other_packages_and_machines(self):
        self.assertNotIn("features", self.explain("h100", "torchvision", "--json").json["packages"][0])
        self.assertNotIn("features of", self.explain("h100", "torchvision").out)
        both = self.assert_ok(self.family("explain", "torch", "--for", "none", machine="h100")).out
        self.assertEqual(both.count("features of"), 2)


class Facts(unittest.TestCase):
    def test_each_entry_has_sources_that_say_where_to_look(self):
        for entry in TABLE["features"]:
            with self.subTest(feature=entry["name"]):
                self.assertTrue(entry["sources"])
                for source in entry["sources"]:
                    self.assertRegex(TABLE["sources"][source], r"/|PyTorch|NVIDIA|on the default index")

    def test_the_page_has_every_feature_and_source(self):
        page = (SOURCE / "docs/torch.md").read_text()
        for entry in TABLE["features"]:
            self.assertIn(f"(`{entry['name']}`)", page)
            for source in entry["sources"]:
                self.assertIn(f"- {source}: ", page)


if __name__ == "__main__":
    unittest.main()
