"""The published Python providers of x86_64 and aarch64 against ours: their lists, this machine, the machines whose
/proc/cpuinfo they bring along, and those that we ship. Only with AXLE_TEST_REGISTRY=1: they come from the configured registry."""

import atexit
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import PYTHON, SOURCE, TestCase

TOOLS = pathlib.Path(tempfile.mkdtemp(prefix="axle-e2e-published-"))
atexit.register(shutil.rmtree, TOOLS, ignore_errors=True)

VERSION = "0.0.1.post2"

# Prints {machine: [[feature, [value, ...]], ...]}; "" is the machine at hand. archspec is fed with a recorded
# /proc/cpuinfo in the place of this machine's.
ORACLE = """
import builtins, json, pathlib, platform, sys, warnings
warnings.simplefilter("ignore")
arch = sys.argv[1]
if arch == "x86_64":
    from provider_variant_x86_64.plugin import X8664Plugin as Plugin
else:
    from provider_variant_aarch64.plugin import AArch64Plugin as Plugin
import archspec.cpu.detect as detect
targets = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else pathlib.Path(detect.__file__).parent.parent / "json/tests/targets"
plugin = Plugin()
answers = {"all": Plugin.all_features, "targets": str(targets)}
def ask():
    return [[one.name, one.values] for one in plugin.get_supported_configs(None)]
if platform.machine() == arch:
    answers["here"] = ask()
platform.system = lambda: "Linux"
detect._machine = lambda: arch
answers["machines"] = {}
for target in sorted(targets.glob("linux-*")):
    text = target.read_text()
    if ("Features" in text and "CPU implementer" in text) != (arch == "aarch64") or ("flags\\t" not in text and arch == "x86_64"):
        continue
    detect.open = lambda path, *rest, _target=target: builtins.open(_target, *rest)
    answers["machines"][target.name] = ask()
print(json.dumps(answers))
"""

# Where archspec's entry of the machine lacks flags that the machine itself reports. All others must be equal, order
# included.
POORER = {
    "x86_64": {
        "linux-rhel7-broadwell", "linux-rhel7-haswell", "linux-rhel7-ivybridge", "linux-rhel7-skylake_avx512",
        "linux-rhel7-x86_64_v3", "linux-rhel7-zen", "linux-rocky8.5-zen4", "linux-scientific7-piledriver",
        "linux-scientificfermi6-piledriver", "linux-ubuntu18.04-broadwell", "linux-ubuntu20.04-zen3",
    },
    "aarch64": {
        "linux-amazon-neoverse_n1", "linux-amazon-neoverse_v1", "linux-asahi-m1", "linux-rhel8-neoverse_v1",
        "linux-rhel9-neoverse_n2", "linux-rhel9-neoverse_v2", "linux-ubuntu22.04-neoverse_n2",
        "linux-ubuntu22.04-neoverse_v2", "linux-unknown-neoverse_v2",
    },
}

# Newest version: the published one by the core's name, ours by what the kernel tells (docs/providers.md,
# aarch64-flags-not-names).
VERSIONS = {
    "linux-asahi-m1": ("8.4a", "8.5a"),  # has all of 8.5 that a compiler uses unasked
    "linux-rhel8-neoverse_v1": ("8.4a", "8.2a"),  # the kernel withholds pointer authentication
    "linux-rhel9-neoverse_n2": ("9.0a", "8.2a"),
    "linux-rhel9-neoverse_v2": ("9.0a", "8.2a"),
}


# The machines that we ship. Where archspec's entry of a machine has a feature, or a level above v1, ours has it too, in
# the same place and with the same value. What entries lack, each of some machines that have it:
SHIPPED_LACKS = {
    "x86_64": set(
        "level abm adx aes avx avx2 avx512_bf16 avx512_bitalg avx512_vbmi2 avx512_vnni avx512_vp2intersect "
        "avx512_vpopcntdq avx512ifma avx512vbmi avx_vnni bmi1 bmi2 clflushopt clwb clzero cppc cx16 f16c flush_l1d fma "
        "fsgsbase gfni ibrs_enhanced lahf_lm mmx movbe movdir64b movdiri pclmulqdq popcnt rdpid rdrand rdseed sha_ni "
        "sse sse2 sse3 sse4_1 sse4a ssse3 tsc_adjust vaes vpclmulqdq xsave xsavec xsaveopt".split()),
    "aarch64": set(
        "aes asimd asimddp asimdfhm asimdhp bf16 cpuid crc32 dcpodp dcpop dgh dit evtstrm fcma flagm flagm2 fp fphp frint "
        "i8mm ilrcpc jscvt lrcpc paca pacg pmull rng sb sha1 sha2 sha3 sha512 ssbs uscat".split()),
}
# Newest version, published and ours: a core that archspec does not know is plain 8a, else its name decides.
SHIPPED_VERSIONS = {
    "ampereone": ("8a", "8.5a"),
    "apple-m1-linux": ("8.4a", "8.5a"),
    "ascend-910b": ("8a", "8.2a"),
    "graviton3-rhel8": ("8.4a", "8.2a"),
}


def cpuinfo(name, arch):
    """What Linux would show of a shipped machine."""
    recording = json.loads((SOURCE / f"machines/profiles/{name}.json").read_text())["recording"]
    cpu = json.loads((SOURCE / f"tests/machines/expected/{name}.json").read_text())["cpu"]
    flags = sorted(flag for flag, state in cpu["flags"].items() if state == "present")
    if arch == "x86_64":
        shown = " ".join("pni" if flag == "sse3" else flag for flag in flags if flag != "osxsave")
        return f"vendor_id\t: {cpu['vendor']}\nmodel name\t: {cpu['brand']}\nflags\t\t: {shown}\n"
    midr = int(recording["files"]["/sys/devices/system/cpu/cpu0/regs/identification/midr_el1"], 16)
    shown = " ".join(flag.removeprefix("arm_") for flag in flags)
    return f"Features\t: {shown}\nCPU implementer\t: {midr >> 24:#04x}\nCPU part\t: {midr >> 4 & 0xFFF:#05x}\n"


def rows(arch):
    """The names that --for takes as facts of a CPU of `arch`."""
    table = (SOURCE / "detect/capability_table.inc").read_text()
    if arch == "x86_64":
        return set(re.findall(r"^AXLE_CAPABILITY_X86\((\w+)", table, re.M))
    return set(re.findall(r"^AXLE_CAPABILITY_\w+\((?:aarch64, )?arm_(\w+)", table, re.M))


def told_flags(text, arch):
    """The flags of the first processor as the capability table spells them."""
    key = "flags" if arch == "x86_64" else "Features"
    flags = set(re.search(rf"^{key}\s*:\s*(.*)$", text, re.M)[1].split())
    if arch == "x86_64":
        if "pni" in flags:
            flags.add("sse3")
        if "lzcnt" in flags:
            flags.add("abm")
        if "avx" in flags:
            flags.add("osxsave")  # the kernel shows avx only where it keeps the registers
        flags |= {"syscall", "lm", "cmov", "fxsr", "cx8", "fpu"} & rows(arch)
    return sorted(flags & rows(arch))


class PublishedProviders(TestCase):
    def setUp(self):
        if os.environ.get("AXLE_TEST_REGISTRY") != "1":
            self.skipTest("AXLE_TEST_REGISTRY=1 is not set: nothing was asked of the configured registry")
        super().setUp()
        if not (TOOLS / "bin").exists():
            env = {key: value for key, value in os.environ.items() if key not in ("VIRTUAL_ENV", "PYTHONPATH")}
            subprocess.run([PYTHON, "-m", "venv", str(TOOLS)], check=True, env=env)
            got = subprocess.run([TOOLS / "bin/pip", "install", "--quiet", f"provider-variant-x86-64=={VERSION}",
                                  f"provider-variant-aarch64=={VERSION}"], env=env, text=True, capture_output=True)
            if got.returncode != 0:
                shutil.rmtree(TOOLS / "bin")
                self.skipTest("the published providers could not be installed: " + got.stderr[-300:])

    def oracle(self, arch, *targets):
        done = subprocess.run([TOOLS / "bin/python", "-c", ORACLE, arch, *targets], text=True, capture_output=True,
                              timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def ours(self, ns, machine=None):
        options = ["--for", machine] if machine else []
        answer = self.assert_ok(self.variant("properties", "--namespace", ns, "--json", *options))
        return [[name, values] for name, values in answer.json["properties"][ns].items()]

    def all_of(self, ns):
        """Every feature of the namespace, in our order: what a machine with every flag supports."""
        return [name for name, _ in self.ours(ns, f"{ns}:" + ",".join(sorted(rows(ns))))]

    def compare(self, ns):
        """Every recorded machine: equal, or the published list is a part of ours and the rest is what the machine reports."""
        answers = self.oracle(ns)
        folder = pathlib.Path(answers["targets"])
        self.assertGreater(len(answers["machines"]), 8)
        unequal = set()
        for machine, theirs in answers["machines"].items():
            with self.subTest(machine=machine):
                flags = told_flags((folder / machine).read_text(), ns)
                ours = self.ours(ns, f"{ns}:" + ",".join(flags))
                theirs = [one for one in theirs if one[0] not in ("btiecv", "asimdrdmatomics")]
                if ours == theirs:
                    continue
                unequal.add(machine)
                held, published = dict(ours), dict(theirs)
                if machine in VERSIONS:
                    self.assertEqual((published.pop("version")[0], held.pop("version")[0]), VERSIONS[machine])
                self.assertEqual({name: held.get(name) for name in published}, published)
                self.assertEqual([name for name in held if name in published], list(published))
                self.assertLessEqual(set(held) - set(published), set(flags))
        self.assertEqual(unequal, POORER[ns])

    def compare_shipped(self, ns):
        """Ours read the recording, theirs what Linux would show of it."""
        targets = self.root / "targets"
        targets.mkdir()
        for file in sorted((SOURCE / "tests/machines/expected").glob("*.json")):
            cpu = json.loads(file.read_text())["cpu"]
            if cpu.get("arch") == ns and "flags" in cpu:
                (targets / f"linux-{file.stem}").write_text(cpuinfo(file.stem, ns))
        answers = self.oracle(ns, targets)["machines"]
        self.assertEqual(len(answers), len(list(targets.iterdir())))
        compared, lacks, versions = 0, set(), {}
        for machine, theirs in answers.items():
            name = machine.removeprefix("linux-")
            with self.subTest(machine=name):
                held, published = dict(self.ours(ns, name)), dict(theirs)
                for run_together in ("btiecv", "asimdrdmatomics"):
                    published.pop(run_together, None)
                if held.get("version") != published.get("version"):
                    versions[name] = (published.pop("version")[0], held.pop("version")[0])
                self.assertEqual({feature: held.get(feature) for feature in published}, published)
                self.assertEqual([feature for feature in held if feature in published], list(published))
                if held.get("level", ["v1"]) != ["v1"]:
                    self.assertEqual(published["level"], held["level"])
                compared += len(published)
                lacks |= set(held) - set(published)
        self.assertEqual(lacks, SHIPPED_LACKS[ns])
        return compared, versions

    def test_shipped_x86_64_machines(self):
        compared, versions = self.compare_shipped("x86_64")
        self.assertGreater(compared, 1800)
        self.assertEqual(versions, {})

    def test_shipped_aarch64_machines(self):
        compared, versions = self.compare_shipped("aarch64")
        self.assertGreater(compared, 250)
        self.assertEqual(versions, SHIPPED_VERSIONS)

    def test_x86_64_lists_are_equal(self):
        self.assertEqual(self.all_of("x86_64"), ["level", *self.oracle("x86_64")["all"]])

    def test_aarch64_lists_are_equal_but_for_two_names_run_together(self):
        published = [name for name in self.oracle("aarch64")["all"] if name not in ("btiecv", "asimdrdmatomics")]
        self.assertEqual(self.all_of("aarch64"), ["version", *published])

    def test_recorded_x86_64_machines(self):
        self.compare("x86_64")

    def test_recorded_aarch64_machines(self):
        self.compare("aarch64")

    def test_this_machine_has_what_the_published_provider_says(self):
        ns = platform.machine()
        if ns not in ("x86_64", "aarch64"):
            self.skipTest(f"no published provider knows a {ns}")
        ours = dict(self.ours(ns))
        theirs = [one for one in self.oracle(ns)["here"] if one[0] in ours]
        # archspec goes by names and may know less or, where a hypervisor hides a flag, more.
        self.assertEqual([name for name in ours if name in dict(theirs)], [name for name, _ in theirs])
        for name, values in theirs:
            if name != "version":
                self.assertEqual(ours[name], values)


if __name__ == "__main__":
    unittest.main()
