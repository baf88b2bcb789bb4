"""What the tests of `variant doctor` share: machines, packages put in by hand, and what was found."""

import json
import os
import re
import subprocess

from support import BIN, SOURCE, TestCase, Wheel

CODES = set(re.findall(r'FindingCode\{\s*"([a-z-]+)"', (SOURCE / "doctor/finding.cpp").read_text()))
H100 = {"vendor": "nvidia", "name": "H100", "pci_address": "0000:01:00.0", "arch": "9.0", "usable": "present"}
DRIVER = {"vendor": "nvidia", "kernel_version": "580.65.06", "library_version": "580.65.06", "api_version": "13.0",
          "usable": "present"}


# Findings that no command of ours ends, and why: `fix` is empty for them, always. All others have a fix that
# doctor_fix*_test.py run.
PROPOSES_NOTHING = {
    "container-without-gpu": "how a container is started is decided outside of it",
    "gpu-permission": "groups of the system, and a new login",
    "gpu-problem": "a driver is installed, loaded or reset",
    "driver-versions-differ": "a reboot",
    "gpu-unusable": "hardware",
    "cpu-withheld": "another kernel, boot option or hypervisor",
    "driver-old": "a driver is installed",
    "libc-old": "another distribution",
    "gpu-override": "a line in a profile of the user's choice; `unset` is run for masks",
    "gpu-names-differ": "nothing is wrong",
    "compat-library": "nothing is wrong",
    "driver-without-gpu": "nothing is wrong",
    "wsl": "nothing is wrong",
    "gpu-code-packed": "a driver is installed",
    "ptx-needs-driver": "a driver is installed",
    "gpu-code-partial": "nothing is wrong while these libraries are not used",
    "gpu-code-unknown": "nothing is known to be wrong",
    "library-twice": "which versions belong together nobody here knows",
    "library-elsewhere": "nothing is wrong",
}
COMMAND = re.compile(r"\b(variant (install|uninstall|explain|resolve|providers|doctor|venv)|pip install|uv pip|-m pip|-m venv)\b")


BEYOND_V3 = ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")


def level_cpu(level, **presence):
    """A CPU of that level, which lacks what v4 has beyond it; further capabilities by name."""
    inline = subprocess.run([str(BIN / "variant"), "detect", "--json", "--for", f"x86_64:v{level}"], check=True,
                            capture_output=True, text=True)
    cpu = json.loads(inline.stdout)["cpu"]
    absent = {} if level == 4 else dict.fromkeys(BEYOND_V3, "absent")
    capabilities = {**cpu["capabilities"], **absent, **presence}
    return {"arch": "x86_64", "capabilities": capabilities}


class DoctorTestCase(TestCase):
    def setUp(self):
        super().setUp()
        self.make_venv()

    def vector_library(self, attribute):
        """The bytes of a library whose function has `attribute` and vectors of 512 bits; skips where none can be made and read."""
        tools = subprocess.run(["sh", "-c", "command -v objdump && command -v cc"], capture_output=True)
        if os.uname().machine != "x86_64" or tools.returncode:
            self.skipTest("needs objdump and cc on x86-64")
        source, made = self.root / "f.c", self.root / "f.so"
        source.write_text(f"__attribute__(({attribute})) void f(float* p) {{\n  for (int i = 0; i < 4096; ++i) p[i] *= 3.0f;\n}}\n")
        subprocess.run(["cc", "-shared", "-fPIC", "-O3", "-mprefer-vector-width=512", "-o", made, source], check=True)
        return made.read_bytes()

    def put(self, name, version, files=None, requires=(), label=None, document=None, family=None, **bend):
        """Installs a package by hand, so that it may be wrong."""
        wheel = Wheel(name, version, label, document, files, requires)
        site = self.site()
        for path, content in wheel.members.items():
            place = site / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content.encode() if isinstance(content, str) else content)
        if family:
            (site / wheel.dist_info / "axle-family.json").write_text(json.dumps(family))
        (site / wheel.dist_info / "RECORD").write_text(bend.get("record", wheel.record()))
        return site / wheel.dist_info

    def machine(self, gpus=(), drivers=(), name="machine.json", **rest):
        path = self.root / name
        by_vendor = {one["vendor"]: {key: value for key, value in one.items() if key != "vendor"} for one in drivers}
        facts = {"schema_version": 1, "origin": {"kind": "synthesised", "source": "a test", "date": "2026-11-20"},
                 "cpu": {"arch": "x86_64"}, "gpus": list(gpus), "drivers": by_vendor, **rest}
        path.write_text(json.dumps(facts))
        return path

    def healthy_machine(self, **rest):
        return self.machine([H100], [DRIVER], **rest)

    def doctor(self, machine=None, *arguments, environment=True, **options):
        line = ["doctor", "--json", *arguments]
        if machine is not None:
            line += ["--for", machine]
        if environment:
            line += ["--python", self.venv]
        result = self.variant(*line, **options)
        self.assertIn(result.code, (0, 1), str(result))
        body = result.json
        errors = [one for one in body["findings"] if one["severity"] == "error"]
        self.assertEqual(result.code, 1 if errors else 0, str(result))
        for one in body["findings"]:
            self.assertIn(one["code"], CODES)
            self.assertTrue(one["message"])
            words = one["hint"]
            for command in one["fix"]:
                words = words.replace(command, "")
            self.assertIsNone(COMMAND.search(words), f"a command that is not part of `fix`: {one}")
            if one["code"] in PROPOSES_NOTHING:
                self.assertEqual(one["fix"], [], one)
            if one["severity"] == "error":
                self.assertTrue(one["hint"], one)
                self.assertTrue(one["evidence"], one)
        return body

    def finds(self, code, machine=None, *arguments, severity=None, **options):
        body = self.doctor(machine, *arguments, **options)
        found = [one for one in body["findings"] if one["code"] == code]
        self.assertTrue(found, f"{code} is not among {[one['code'] for one in body['findings']]}")
        if severity:
            self.assertEqual(found[0]["severity"], severity, found)
        return found[0]

    def lacks(self, code, machine=None, *arguments, **options):
        body = self.doctor(machine, *arguments, **options)
        self.assertNotIn(code, [one["code"] for one in body["findings"]], body["findings"])
        return body
