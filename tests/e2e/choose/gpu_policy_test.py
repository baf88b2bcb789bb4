"""--gpu-policy and the variables that force facts, from outside."""

import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import NVIDIA_PROVIDER, Index, TestCase, Wheel, variant_document

UNLIKE = "nvidia:sm=120,driver=580.65;nvidia:sm=75"
ALIKE = "nvidia:sm=90,driver=580.65;nvidia:sm=90"


def publish(index):
    """`both` has code for each of the two GPUs, `new` for the newer, `old` for the older."""
    code = {"both": ["75_real", "120_real"], "new": ["120_real", "100_real"], "old": ["75_real"]}
    variants = {label: [("nvidia", "sm_arch", values)] for label, values in code.items()}
    variants["null"] = []
    document = variant_document(variants, ["nvidia"], {"nvidia": NVIDIA_PROVIDER})
    for label in code:
        one = dict(document, variants={label: document["variants"][label]})
        index.add_wheel(Wheel("demo", "1.0", label, one))
    index.add_wheel(Wheel("demo", "1.0", "null", dict(document, variants={"null": {}})))
    index.add_variants("demo", "1.0", document)
    return document


class GpuPolicy(TestCase):
    def setUp(self):
        super().setUp()
        self.index = Index(self.root / "index")
        self.document = publish(self.index)
        self.make_venv()

    def resolve(self, *options, env=None, machine=UNLIKE):
        answer = self.variant("resolve", "demo", "--for", machine, "--index-url", self.index.url, "--python", self.venv,
                              "--json", *options, env=env)
        [package] = self.assert_ok(answer).json["packages"]
        return package["variant"], package["decision"]

    def properties(self, *options, env=None, machine=UNLIKE):
        answer = self.variant("properties", "--namespace", "nvidia", "--for", machine, "--json", *options, env=env)
        return self.assert_ok(answer).json

    def test_a_build_must_run_on_every_gpu_unless_the_policy_says_otherwise(self):
        label, decision = self.resolve()
        self.assertEqual(label, "both")
        self.assertEqual(decision["gpu_policy"], "all")
        facts = {one["label"]: one["fact"] for one in decision["rejected"]}
        self.assertEqual(set(facts), {"new", "old"})
        self.assertIn("compute capability 7.5", facts["new"])
        self.assertIn("compute capability 12.0", facts["old"])
        self.assertIn("--gpu-policy", facts["old"])
        reasons = {one["label"]: one["facts"] for one in decision["rejected"]}
        self.assertEqual([fact["code"] for fact in reasons["new"]], ["gpu-capability", "every-gpu"])
        self.assertEqual((reasons["new"][0]["seen"], reasons["new"][0]["needed"]), (["7.5"], ["compiled code for 10.0", "compiled code for 12.0"]))
        self.assertEqual(reasons["new"][1]["source"], "--gpu-policy")
        self.assertEqual(self.resolve("--gpu-policy", "device=1")[0], "both")
        self.assertEqual({one["label"] for one in self.resolve("--gpu-policy", "device=1")[1]["rejected"]}, {"new"})
        self.assertEqual({one["label"] for one in self.resolve("--gpu-policy", "first")[1]["rejected"]}, {"old"})
        self.assertEqual(self.resolve("--gpu-policy", "any")[1]["rejected"], [])

    def test_rank_looks_at_every_gpu_too(self):
        path = self.root / "demo-1.0-variants.json"
        path.write_text(json.dumps(self.document))
        answer = self.assert_ok(self.variant("rank", path, "--for", UNLIKE, "--json")).json
        self.assertEqual([one["label"] for one in answer["ranked"]], ["both", "null"])
        self.assertEqual({one["label"]: [fact["code"] for fact in one["facts"]] for one in answer["rejected"]},
                         dict.fromkeys(("new", "old"), ["gpu-capability", "every-gpu"]))
        self.assertEqual(answer["gpu_policy"], "all")
        answer = self.assert_ok(self.variant("rank", path, "--for", UNLIKE, "--gpu-policy", "any", "--json")).json
        self.assertEqual({one["label"] for one in answer["ranked"]}, {"both", "new", "old", "null"})

    def test_lists_hold_what_every_gpu_runs(self):
        strict = self.properties()
        self.assertEqual(strict["gpu_policy"], "all")
        self.assertNotIn("sm_arch", strict["properties"]["nvidia"])
        either = self.properties("--gpu-policy", "any")
        self.assertEqual(either["gpu_policy"], "any")
        self.assertEqual(either["properties"]["nvidia"]["sm_arch"][:3], ["120_real", "120_virtual", "75_real"])
        self.assertEqual(self.properties(env={"AXLE_GPU_POLICY": "device=1"})["properties"]["nvidia"]["sm_arch"][0], "75_real")
        # The option outdoes the variable; where all GPUs are alike nothing is said.
        both = self.properties("--gpu-policy", "any", env={"AXLE_GPU_POLICY": "device=1"})
        self.assertEqual(both["gpu_policy"], "any")
        self.assertNotIn("gpu_policy", self.properties(machine=ALIKE))

    def test_a_policy_without_sense_or_device_is_a_usage_error(self):
        for options, env, words in [
            (["--gpu-policy", "every"], {}, ["--gpu-policy every", "device="]),
            ([], {"AXLE_GPU_POLICY": "ALL"}, ["AXLE_GPU_POLICY=ALL"]),
            (["--gpu-policy", "device=2"], {}, ["has no GPU 2"]),
            (["--gpu-policy", "device=0,h100"], {}, ["--gpu-policy device=0,h100: ", "has no GPU h100"]),
            ([], {"AXLE_GPU_POLICY": "device=2"}, ["AXLE_GPU_POLICY=device=2: ", "has no GPU 2"]),
        ]:
            with self.subTest(options=options, env=env):
                result = self.variant("properties", "--for", UNLIKE, *options, env=env)
                self.assert_fails(result, 2, *words)
                self.assertEqual("--gpu-policy" in result.err, bool(options))

    def test_what_set_the_policy_is_named(self):
        for options, env, words in [(["--gpu-policy", "device=0"], {}, "--gpu-policy device=0"),
                                    ([], {"AXLE_GPU_POLICY": "device=0"}, "AXLE_GPU_POLICY=device=0")]:
            with self.subTest(words):
                facts = [one["fact"] for one in self.resolve(*options, env=env)[1]["rejected"]]
                self.assertTrue(facts)
                self.assertTrue(all("by " + words in fact for fact in facts), facts)


    def test_a_named_gpu_that_counts_for_nothing_is_said(self):
        masked = self.variant("properties", "--namespace", "nvidia", "--for", "h100x2-masked", "--gpu-policy", "device=0")
        self.assertEqual(self.assert_ok(masked).out, "")
        self.assertIn("--gpu-policy names GPU 0 of h100x2-masked, which is ignored", masked.err)
        by_variable = self.variant("properties", "--for", "h100x2-masked", env={"AXLE_GPU_POLICY": "device=0"})
        self.assertIn("AXLE_GPU_POLICY names GPU 0 of h100x2-masked, which is ignored", by_variable.err)
        self.assertIn("hidden from programs by a device mask", masked.err)
        for address in ("0000:20:00.0", "00000000:20:00.0", "20:00.0"):
            held = self.variant("properties", "--namespace", "nvidia", "--for", "h100x2-masked", "--gpu-policy",
                                f"device={address}")
            self.assertIn("90_real", self.assert_ok(held).out)
            self.assertNotIn("is ignored", held.err)


class Overrides(TestCase):
    NVIDIA = {"NV_VARIANT_PROVIDER_FORCE_CUDA_DRIVER_VERSION": "12.8", "NV_VARIANT_PROVIDER_FORCE_SM_ARCH": "9.0"}

    def test_they_speak_for_this_machine_and_are_said(self):
        answer = self.assert_ok(self.variant("detect", "--properties", "--json", env=self.NVIDIA))
        held = answer.json["properties"]["nvidia"]
        self.assertEqual(held["cuda_version_lower_bound"][0], "12.8")
        self.assertEqual(held["sm_arch"], ["90_real", "90_virtual"])
        for name, value in self.NVIDIA.items():
            self.assertIn(f"{name}={value}", answer.err)
        [driver] = [one for one in answer.json["drivers"] if one["vendor"] == "nvidia"] \
            if isinstance(answer.json["drivers"], list) else [answer.json["drivers"]["nvidia"]]
        self.assertEqual(driver["api_source"], "override")

    def test_another_machine_hears_nothing_of_them(self):
        answer = self.assert_ok(self.variant("properties", "--for", "none", "--json", env=self.NVIDIA))
        self.assertEqual(answer.json["properties"]["nvidia"], {})
        self.assertNotIn("NV_VARIANT_PROVIDER", answer.err)

    def test_what_cannot_be_is_refused_by_every_command_that_asks_the_machine(self):
        self.make_venv()
        index = Index(self.root / "index")
        index.add_wheel(Wheel("demo", "1.0"))
        for name, value, nearest in (("NV_VARIANT_PROVIDER_FORCE_SM_ARCH", "999", "9.0"), ("NV_VARIANT_PROVIDER_FORCE_SM_ARCH", "9.0a", "9.0"),
                                     ("NV_VARIANT_PROVIDER_FORCE_CUDA_DRIVER_VERSION", "99.0", "13.2"), ("CONDA_OVERRIDE_CUDA", "999", "13.2"),
                                     ("UV_CUDA_DRIVER_VERSION", "12.8", "384.81"), ("UV_AMD_GPU_ARCHITECTURE", "gfx999", "gfx90"),
                                     ("AMD_VARIANT_PROVIDER_FORCE_ROCM_VERSION", "99.0", "7.14"),
                                     ("INTEL_VARIANT_PROVIDER_FORCE_DEVICE_IP", "99.0.0", "30."),
                                     ("TPU_VARIANT_PROVIDER_FORCE_PRESENT", "on", "TPU_VARIANT_PROVIDER_FORCE_PRESENT=true")):
            with self.subTest(name=name, value=value):
                answer = self.variant("detect", env={name: value})
                self.assert_fails(answer, 2, f"{name}={value}", nearest, "unset it")
                self.assertEqual(answer.out, "")
        env = {"NV_VARIANT_PROVIDER_FORCE_SM_ARCH": "999"}
        for command in (["properties"], ["detect"], ["doctor", "--python", self.venv], ["resolve", "demo", "--index-url", index.url, "--python", self.venv],
                        ["install", "demo", "--index-url", index.url, "--python", self.venv]):
            with self.subTest(command):
                self.assert_fails(self.variant(*command, env=env), 2, "NV_VARIANT_PROVIDER_FORCE_SM_ARCH=999: no machine has that")
        self.assertEqual(self.installed(), {})
        error = self.variant("detect", "--json", env=env)
        self.assertEqual((error.code, error.json["error"]["kind"]), (2, "usage"))
        # Where this machine is not spoken of, they say nothing; nor does an empty one.
        self.assert_ok(self.variant("properties", "--for", "none", env=env))
        self.assert_ok(self.variant("list", "--python", self.venv, env=env))
        self.assert_ok(self.variant("detect", env={"NV_VARIANT_PROVIDER_FORCE_SM_ARCH": "", "CONDA_OVERRIDE_CUDA": " "}))


if __name__ == "__main__":
    unittest.main()
