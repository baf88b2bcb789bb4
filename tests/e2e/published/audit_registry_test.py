"""`variant audit` of real wheels, and its manylinux verdict beside auditwheel's. Only with AXLE_TEST_REGISTRY=1."""

import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import PYTHON, VARIANT
from registry_test import RegistryCase

# A wheel a Python, one with the stable ABI, C++ and Fortran of others within, plain C.
WHEELS = ["numpy", "cryptography", "safetensors", "markupsafe", "pyyaml"]
# The names of libc's own symbols that auditwheel excludes from older tags are no versions; none of these wheels has one.
EXCEPTIONS = {}


def newest(policies):
    """manylinux_2_28_x86_64 of what auditwheel says."""
    return max(policies, key=lambda one: [int(word) for word in re.findall(r"\d+", one)][:2])


class Audits(RegistryCase):
    def fetch(self, *names):
        folder = self.root / "wheels"
        done = subprocess.run([PYTHON, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:", "-d", folder, *names],
                              env=self.env, text=True, capture_output=True, timeout=900)
        if done.returncode != 0:
            self.skipTest(f"the configured index does not give {', '.join(names)}: {done.stderr[-300:]}")
        return sorted(folder.glob("*.whl"))

    def audit(self, path, *arguments):
        done = subprocess.run([VARIANT, "audit", path, "--json", *arguments], env=self.env, text=True, capture_output=True, timeout=600)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return json.loads(done.stdout)

    def peer(self):
        venv = self.root / "peer"
        subprocess.run([PYTHON, "-m", "venv", venv], check=True, env=self.env)
        done = subprocess.run([venv / "bin/pip", "install", "-q", "auditwheel"], env=self.env, text=True, capture_output=True, timeout=600)
        if done.returncode != 0:
            self.skipTest(f"the configured index does not give auditwheel: {done.stderr[-300:]}")
        return venv / "bin"

    def test_the_platform_is_auditwheels(self):
        peer = self.peer()
        for wheel in self.fetch(*WHEELS):
            with self.subTest(wheel.name):
                floor = self.audit(wheel)["audited"][0]["floor"]["platform"]
                said = subprocess.run([peer / "auditwheel", "show", wheel], text=True, capture_output=True, timeout=600,
                                      env={**self.env, "PATH": f"{peer}:{os.environ['PATH']}"})
                self.assertEqual(said.returncode, 0, said.stderr)
                tags = re.findall(r"manylinux_\d+_\d+_\w+", said.stdout)
                # auditwheel knows the tags that images exist for; ours is that of the glibc itself.
                own = [int(word) for word in re.findall(r"\d+", floor)][:2]
                theirs = [int(word) for word in re.findall(r"\d+", tags[0])][:2]
                self.assertLessEqual(own, theirs, said.stdout)
                policies = [int(one) for one in re.findall(r"manylinux_2_(\d+)", self.policies(peer))]
                between = [one for one in policies if own[1] <= one < theirs[1]]
                self.assertEqual(between, EXCEPTIONS.get(wheel.name.split("-")[0], []), said.stdout)

    def policies(self, peer):
        code = "import auditwheel.policy, pathlib; print((pathlib.Path(auditwheel.policy.__file__).parent / 'manylinux-policy.json').read_text())"
        policies = json.loads(subprocess.run([peer / "python", "-c", code], check=True, capture_output=True, text=True).stdout)
        return " ".join(one["name"] for one in policies)

    def test_the_stable_abi_is_kept_by_who_says_so(self):
        wheels = self.fetch("cryptography", "safetensors")
        for wheel in wheels:
            with self.subTest(wheel.name):
                said = self.audit(wheel)
                self.assertEqual(said["audited"][0]["release"]["python"], "stable")
                self.assertNotIn("stable-abi-broken", [one["code"] for one in said["findings"]])

    def test_torch(self):
        (wheel,) = self.fetch("torch")
        said = self.audit(wheel, "--for", "h100", "--for", "gtx1080ti", "--for", "mi300x")
        found = [(one["code"], one["message"]) for one in said["findings"]]
        codes = {code for code, _ in found}
        release = said["audited"][0]["release"]
        self.assertEqual((release["python"], release["torch"], len(release["cuda"])), ("each", "any", 1))
        self.assertIn("sm_90", said["audited"][0]["gpu_code"]["nvidia"])
        # Where a section of a library is not understood (.ldata has data of other kinds, too), it is unknown whether it has code.
        old = {code for code, message in found if message.startswith("gtx1080ti:")}
        self.assertIn(old, ({"machine-gpu-code"}, {"machine-gpu-unknown"}))
        self.assertEqual(old, {"machine-gpu-unknown" if "gpu-code-unknown" in codes else "machine-gpu-code"})
        self.assertFalse([one for one in found if one[1].startswith("h100:")])
        self.assertTrue({code for code, message in found if message.startswith("mi300x:")} & {"machine-cpu-only", "machine-gpu-unknown"})
        self.assertNotIn("wheel-broken", codes)


if __name__ == "__main__":
    unittest.main()
