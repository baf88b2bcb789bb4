"""uv's own providers against ours: which single properties each of the two selects, this machine's and forced ones.
Only with AXLE_TEST_REGISTRY=1: uv comes from the configured registry."""

import json
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from registry_test import RegistryCase
from support import VARIANT, Wheel, variant_document

NVIDIA = {"requires": ["nvidia-variant-provider"],
          "plugin-api": "nvidia_variant_provider.plugin:NvidiaVariantPlugin"}
TPU = {"requires": ["tpu-variant-provider"], "plugin-api": "tpu_variant_provider.plugin:TpuVariantPlugin"}
X86 = {"requires": ["x86-64-variant-provider"]}

PROPERTIES = [
    *[("x86_64", "level", f"v{level}", X86) for level in (1, 2, 3, 4)],
    *[("tpu", "present", value, TPU) for value in ("true", "false")],
    *[("nvidia", feature, version, NVIDIA)
      for feature in ("cuda_version_lower_bound", "cuda_version_upper_bound")
      for version in ("10", "10.2", "10.5", "11", "11.0", "11.20", "12", "12.0", "12.7", "12.8", "12.9", "12.20", "13",
                      "13.0", "15.20", "16", "16.0")],
    *[("nvidia", "sm_arch", value, NVIDIA)
      for value in ("35_real", "50_real", "75_real", "80_real", "86_real", "89_real", "90_real", "80_virtual",
                    "90_virtual", "89_virtual", "100_real", "120_real", "121_real", "120_virtual", "90a_real")],
]

CUDA = "NV_VARIANT_PROVIDER_FORCE_CUDA_DRIVER_VERSION"
SM = "NV_VARIANT_PROVIDER_FORCE_SM_ARCH"
FORCED_TPU = "TPU_VARIANT_PROVIDER_FORCE_PRESENT"

FORCED = [
    {},
    {CUDA: "12.8", SM: "9.0", FORCED_TPU: "1"},
    {CUDA: "12.7", SM: "8.9", FORCED_TPU: "true"},
    {CUDA: "13.0", SM: "12.1", FORCED_TPU: "yes"},
    {CUDA: "11.0", SM: "5.0", FORCED_TPU: "0"},
    {CUDA: "15.2", SM: "7.5", FORCED_TPU: "no"},
    {CUDA: "15.0", SM: "9.0", FORCED_TPU: "TRUE"},
    {CUDA: "10.2", SM: "9.0"},
    {CUDA: "12.8", SM: "3.5"},
    *[{CUDA: version, SM: "9.0"} for version in ("9.2", "13", "12.08", "12.8.1", "12.8.1.2", " 12.8 ")],
    *[{CUDA: "12.8", SM: capability} for capability in ("09.0", "12.9")],
]

# What no machine has: uv takes it or empties the namespace, we refuse it (docs/providers.md, nvidia-forced-nonsense).
NONSENSE = [
    *[{CUDA: version, SM: "9.0"} for version in ("v12.8", "12.8rc1", "12.8+x", "1!12.8", "12.8.post1", "0", "12.60", "12.1000",
                                                 "12.1001", "57.0", "58.0", "40.400", "15.20", "16.0")],
    *[{CUDA: "12.8", SM: capability} for capability in ("9.10", "12.15", "+9.0", "130.0", "9", "9.0a", "4.9", "9.", "9.0.1")],
    {FORCED_TPU: "on"},
]


class UvProviders(RegistryCase):
    def publish(self):
        """A project a property: version 2 has one variant that needs it, version 1 is plain."""
        folder = self.root / "links"
        for number, (ns, feature, value, provider) in enumerate(PROPERTIES):
            document = variant_document({"one": [(ns, feature, [value])]}, [ns], {ns: provider})
            Wheel(f"demo{number}", "2.0", "one", document).write(folder)
            (folder / f"demo{number}-2.0-variants.json").write_text(json.dumps(document))
            Wheel(f"demo{number}", "1.0").write(folder)
        return folder, [f"demo{number}" for number in range(len(PROPERTIES))]

    def both(self, forced):
        """What each selects, as properties: uv's, ours."""
        uv = self.install_uv()
        env = {**self.env, **forced, "UV_CACHE_DIR": str(self.root / "uv-cache"), "UV_NO_CONFIG": "1"}
        done = subprocess.run(
            [uv, "pip", "install", *self.names, "--dry-run", "--no-index", "--find-links", self.folder, "--python",
             self.venv / "bin/python", "--preview-features", "wheel-variants"],
            env=env, text=True, capture_output=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        theirs = set(re.findall(r"\+ (demo\d+)==2\.0", done.stderr + done.stdout))
        ours = self.resolve(forced)
        self.assertEqual(ours.returncode, 0, ours.stderr)
        held = {one["name"] for one in json.loads(ours.stdout)["packages"] if one["version"] == "2.0"}
        return [sorted(" :: ".join(PROPERTIES[int(name[4:])][:3]) for name in packages) for packages in (theirs, held)]

    def resolve(self, forced):
        return subprocess.run(
            [str(VARIANT), "resolve", *self.names, "--no-index", "--find-links", str(self.folder), "--python",
             str(self.venv), "--json"], env={**self.env, **forced}, text=True, capture_output=True, timeout=300)

    def test_forced_and_found_properties(self):
        self.folder, self.names = self.publish()
        self.make_venv()
        for forced in FORCED:
            with self.subTest(forced=forced):
                theirs, ours = self.both(forced)
                self.assertEqual(ours, theirs)
        for forced in NONSENSE:
            with self.subTest(forced=forced):
                refused = self.resolve(forced)
                self.assertEqual(refused.returncode, 2, refused.stderr)
                self.assertTrue(any(f"{name}={value}" in refused.stdout for name, value in forced.items()), refused.stdout)

del RegistryCase

if __name__ == "__main__":
    unittest.main()
