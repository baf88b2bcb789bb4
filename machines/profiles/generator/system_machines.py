"""Machines with macOS and Windows.

Macs are recordings of sysctl(3): the values that owners published, name by name. Axle does not run on
Windows, so there is nothing to record: what is stated of these machines follows from their processor,
GPU and driver.
"""

import processors as p
import registers
from recordings import (AXLE_X86, GIB, X86_64_FLAGS, Machine, expect_aarch64, expect_axle_arm, expect_axle_x86,
                        expect_nvidia, expect_x86_64)

APPLE = "Apple, Determining instruction set characteristics; "


class AppleChip:
    """`on`, `off`: what sysctl says 1 and 0 for, after "hw.optional.arm."; other names it does not have."""

    def __init__(self, brand, family, on, off="", sme_bytes=None):
        self.brand, self.family, self.sme_bytes = brand, family, sme_bytes
        self.values = {name: "1" for name in on.split()} | {name: "0" for name in off.split()}


# macOS 13 on an M1, name by name; those of before macOS 12 are still there.
M1_ON = ("FEAT_FlagM FEAT_FlagM2 FEAT_FHM FEAT_DotProd FEAT_SHA3 FEAT_RDM FEAT_LSE FEAT_SHA256 FEAT_SHA512 FEAT_SHA1 "
         "FEAT_AES FEAT_PMULL FEAT_SB FEAT_FRINTTS FEAT_LRCPC FEAT_LRCPC2 FEAT_FCMA FEAT_JSCVT FEAT_PAuth FEAT_DPB "
         "FEAT_DPB2 FEAT_ECV FEAT_LSE2 FEAT_DIT FEAT_FP16 FEAT_SSBS ")
M2_ON = M1_ON + "FEAT_BF16 FEAT_I8MM FEAT_BTI "
# macOS 15 has more names.
M3_ON = M2_ON + "FEAT_CRC32 FEAT_RPRES FEAT_AFP AdvSIMD "
SME = ("FEAT_SME FEAT_SME2 SME_F32F32 SME_BI32I32 SME_B16F32 SME_F16F32 SME_I8I32 SME_I16I32 FEAT_SME_F64F64 "
       "FEAT_SME_I16I64 ")
M4_ON = M3_ON.replace("FEAT_SSBS ", "") + "FEAT_WFxT " + SME
M5_ON = M4_ON + ("FEAT_EBF16 FEAT_CSSC FEAT_HBC FEAT_SME2p1 FEAT_MTE2 FEAT_MTE_STORE_ONLY FEAT_SME_F16F16 "
                 "FEAT_SME_B16B16 ")
m1 = AppleChip("Apple M1", "458787763", M1_ON, "FEAT_BF16 FEAT_I8MM FEAT_BTI")
m2 = AppleChip("Apple M2", "-634136515", M2_ON)
m3_max = AppleChip("Apple M3 Max", "1912690738", M3_ON, "FEAT_EBF16 FEAT_WFxT FEAT_CSSC FEAT_HBC " + SME, sme_bytes=0)
m4_max = AppleChip("Apple M4 Max", "399882554", M4_ON, "FEAT_EBF16 FEAT_CSSC FEAT_HBC FEAT_SSBS", sme_bytes=64)
m5 = AppleChip("Apple M5", "492472296", M5_ON, "FEAT_SSBS FEAT_MTE3", sme_bytes=64)

OLDER_NAMES = "floatingpoint neon neon_fp16 armv8_1_atomics armv8_2_fhm armv8_2_sha512 armv8_2_sha3 armv8_3_compnum armv8_crc32"


class Told:
    """As expect_axle_arm takes a processor."""

    def __init__(self, flags):
        self.flags, self.sve_bytes = frozenset(flags), None


class Mac(Machine):
    def __init__(self, ident, sources, macos, darwin, cpus, arch):
        super().__init__(ident, sources, kernel=darwin, glibc="", cpus=cpus, arch=arch)
        self.recording["system"] = {"name": "Darwin", "release": darwin,
                                    "machine": "arm64" if arch == "aarch64" else arch}
        del self.files["/etc/os-release"]
        self.expected["os"] = {"system": "Darwin", "kernel": darwin, "name": f"macOS {macos}"}
        self.sysctl = self.part("sysctl")
        self.sysctl["kern.osproductversion"] = macos
        self.macos = [int(part) for part in macos.split(".")]

    def apple(self, chip):
        self.sysctl.update({"hw.optional.arm64": "1", "machdep.cpu.brand_string": chip.brand,
                            "hw.cpufamily": chip.family})
        self.sysctl.update({f"hw.optional.{name}": "1" for name in OLDER_NAMES.split()})
        self.sysctl.update({f"hw.optional.arm.{name}": value for name, value in chip.values.items()})
        if chip.sme_bytes is not None:
            self.sysctl["hw.optional.arm.sme_max_svl_b"] = str(chip.sme_bytes)
        states = {}
        for names in registers.HWCAP.values():
            for name in names:
                said = [self.sysctl.get("hw.optional." + word) for word in registers.DARWIN.get(name, "").split()]
                told = next((value for value in said if value is not None), None)
                states[name] = {"1": "present", "0": "absent", None: "unknown"}[told]
        present = {name for name, state in states.items() if state == "present"}
        self.expected["cpu"] = {
            "arch": "aarch64", "vendor": "0x61", "brand": chip.brand, "model": hex(int(chip.family) & 0xFFFFFFFF),
            "logical_cpus": self.recording["cpus"], "hybrid": False, "hypervisor": None, "sve_vector_bytes": None,
            "sme_vector_bytes": chip.sme_bytes or None,
            "flags": {"arm_" + name: state for name, state in states.items()}}
        self.properties["aarch64"] = expect_aarch64(present)
        self.properties["axle"] = axle = expect_axle_arm(Told(present))
        if "sme" in present:
            axle["sme_bytes"] = [str(chip.sme_bytes)]
            axle["sme_bytes_lower_bound"] = [str(length) for length in (256, 128, 64, 32, 16) if length <= chip.sme_bytes]
        # MPS began with macOS 12.3; no version is between 15 and 26.
        self.expected["mps"] = {"usable": "present", "reason_code": None}
        axle["mps"] = [str(major) for major in range(self.macos[0], 12, -1) if major <= 15 or major >= 26] + ["12.3"]

    def intel(self, cpu, zmm=False):
        self.x86(cpu)
        del self.recording["auxv"]  # Linux's
        if zmm:
            # The kernel enables these registers at their first use: XCR0 does not show them.
            self.recording["xcr0"] = "0x7"
            self.sysctl["hw.optional.avx512f"] = "1"
        self.expected["mps"] = {"usable": "unknown", "reason_code": "intel-mac"}


def macs():
    published = APPLE + "archspec-json, tests/targets/darwin-"
    # MPS for releases of torch that have it for macOS 13
    machine = Mac("macos13-m1", APPLE + "sysctl hw.optional.arm of an M1 with macOS 13, zenn.dev (2024)", "13.6",
                  "22.6.0", 8, "aarch64")
    machine.apple(m1)
    yield machine
    # a processor family with its sign bit set
    machine = Mac("macos14-m2", APPLE + "sysctl hw of M2 and M3 with macOS 14, qiita.com (2022, 2024)", "14.4",
                  "23.4.0", 8, "aarch64")
    machine.apple(m2)
    yield machine
    machine = Mac("macos15-m3", published + "sequoia-m3", "15.3", "24.3.0", 14, "aarch64")
    machine.apple(m3_max)
    yield machine
    # SME2 in streaming mode, no SVE
    machine = Mac("macos15-m4", published + "sequoia-m4", "15.3", "24.3.0", 16, "aarch64")
    machine.apple(m4_max)
    yield machine
    # no macOS 16 to 25
    machine = Mac("macos26-m5", published + "tahoe-m5", "26.2", "25.2.0", 10, "aarch64")
    machine.apple(m5)
    yield machine
    # an Intel Mac: torch ended with 2.2 there
    machine = Mac("macos15-intel", "Intel SDM volume 2A (CPUID); sysctl machdep.cpu of a Core i9-9880H", "15.3",
                  "24.3.0", 16, "x86_64")
    machine.intel(p.skylake.but("Intel(R) Core(TM) i9-9880H CPU @ 2.30GHz", 158, 13))
    yield machine
    # AVX-512 that XCR0 does not show
    machine = Mac("macos14-xeon", "Intel SDM volume 2A (CPUID); Apple, Mac Pro (2019) technical specifications; "
                  "Apple, hw.optional.avx512f", "14.4", "23.4.0", 32, "x86_64")
    machine.intel(p.cascade_lake.but("Intel(R) Xeon(R) W-3245 CPU @ 3.20GHz"), zmm=True)
    yield machine


# What Windows lets programs find out by CPUID: what its kernel alone tells is not stated.
OF_KERNELS = {"cppc", "ibrs_enhanced", "tsc_adjust", "flush_l1d", "clzero", "fsgsbase"}
STATED_X86 = ({name for level in registers.LEVELS for name in level} | set(X86_64_FLAGS) | set(AXLE_X86)) - OF_KERNELS

# First driver of each CUDA version on Windows, oldest first, from CUDA 11.8 on (NVIDIA, CUDA Toolkit
# release notes; from 13.0 on NVIDIA names none: the branch). 528.33: from it on all of CUDA 12 runs.
WINDOWS_DRIVERS = (("520.06", "11.8"), ("528.33", "12.0"), ("530", "12.1"), ("535", "12.2"), ("545", "12.3"), ("550", "12.4"),
                   ("555", "12.5"), ("560", "12.6"), ("565", "12.7"), ("570", "12.8"), ("575", "12.9"), ("580", "13.0"),
                   ("590", "13.1"), ("595", "13.2"))


def numbers(version):
    return [int(part) for part in version.split(".")]


class WindowsMachine:
    """Has facts instead of a recording."""

    def __init__(self, ident, sources, cpu, cpus):
        self.ident, self.sources = ident, sources
        system = {"system": "Windows", "name": "Windows 11"}
        self.facts = {"cpu": {}, "gpus": [], "drivers": {}, "os": system}
        self.expected = {"os": dict(system), "libc": {}, "gpus": [], "npus": [], "drivers": {}, "problems": []}
        self.properties = {}
        (self.x86 if isinstance(cpu, p.X86) else self.arm)(cpu, cpus)

    def x86(self, cpu, cpus):
        known = {name: "present" if name in cpu.flags else "absent" for name in STATED_X86}
        self.facts["cpu"] = {"arch": "x86_64", "vendor": cpu.vendor, "brand": cpu.brand,
                             "model": f"{cpu.family}-{cpu.model}-{cpu.stepping}"}
        if "hybrid" in cpu.flags:
            self.facts["cpu"]["hybrid"] = True
        self.facts["cpu"] |= {"logical_cpus": cpus, "capabilities": dict(sorted(known.items()))}
        names = {name for bits in registers.X86.values() for name in bits.values()} | set(known)
        states = {name: known.get(name, "unknown") for name in sorted(names)}
        level = 0
        while level < 4 and all(states[name] == "present" for name in registers.LEVELS[level]):
            level += 1
        self.expected["cpu"] = {
            "level": f"v{level}", "flags": states, "amx": {"cpu": "absent", "os": "unknown", "permitted": "unknown"},
            "arch": "x86_64", "vendor": cpu.vendor, "brand": cpu.brand, "model": self.facts["cpu"]["model"],
            "hybrid": "hybrid" in cpu.flags, "logical_cpus": cpus, "hypervisor": None}
        self.properties["x86_64"] = expect_x86_64(level, states)
        self.properties["axle"] = expect_axle_x86(states)

    def arm(self, cpu, cpus):
        told = {name for name in cpu.flags if name not in ("evtstrm", "cpuid")}  # Linux's own
        self.facts["cpu"] = {"arch": "aarch64", "vendor": "0x%02x" % cpu.implementer, "brand": cpu.name,
                             "model": "0x%03x" % cpu.part, "logical_cpus": cpus,
                             "capabilities": dict(sorted(("arm_" + name, "present") for name in told))}
        self.expected["cpu"] = {
            "arch": "aarch64", "vendor": self.facts["cpu"]["vendor"], "brand": cpu.name, "model": self.facts["cpu"]["model"],
            "logical_cpus": cpus, "hybrid": False, "hypervisor": None, "sve_vector_bytes": None, "sme_vector_bytes": None,
            "flags": {"arm_" + name: "present" if name in told else "unknown"
                      for names in registers.HWCAP.values() for name in names}}
        self.properties["aarch64"] = expect_aarch64(told)
        self.properties["axle"] = expect_axle_arm(Told(told))

    def gpu(self, vendor, name, arch, gib, integrated=False):
        facts = {"vendor": vendor, "name": name, "arch": arch}
        if gib:
            facts["memory_bytes"] = gib * GIB
        if integrated:
            facts["integrated"] = True
        self.facts["gpus"].append(facts | {"usable": "present"})
        self.facts["drivers"].setdefault(vendor, {"usable": "present"})
        self.expected["gpus"].append(facts | {"usable": "present"})
        self.expected["drivers"].setdefault(vendor, {"usable": "present"})

    def nvidia(self, name, capability, gib, driver):
        self.gpu("nvidia", name, capability, gib)
        cuda = [version for first, version in WINDOWS_DRIVERS if numbers(first) <= numbers(driver)][-1]
        self.facts["drivers"]["nvidia"] = {"kernel_version": driver, "usable": "present"}
        self.expected["drivers"]["nvidia"] = {"kernel_version": driver, "api_version": cuda, "api_source": "driver-table",
                                              "usable": "present"}
        self.properties["nvidia"] = expect_nvidia(cuda, capability)


def windows_machines():
    nvidia = "NVIDIA, CUDA GPUs; CUDA Toolkit release notes, driver versions of Windows; "
    amd = "AMD, GPU hardware specifications (LLVM targets); "
    intel = "Intel, ocloc device names; "
    machine = WindowsMachine("windows-none", "Intel SDM volume 2A (CPUID); 6th generation Core data sheet 332687", p.skylake, 8)
    yield machine
    # the first driver with which all of CUDA 12 runs on Windows: 525 is enough on Linux
    machine = WindowsMachine("windows-gtx1080", nvidia + "GeForce GTX 1080 specifications", p.haswell, 8)
    machine.nvidia("NVIDIA GeForce GTX 1080", "6.1", 8, "528.33")
    yield machine
    machine = WindowsMachine("windows-rtx3060", nvidia + "GeForce RTX 3060 specifications",
                             p.zen3.but("AMD Ryzen 7 5800X 8-Core Processor", 33, 0), 16)
    machine.nvidia("NVIDIA GeForce RTX 3060", "8.6", 12, "552.44")
    yield machine
    # the host of wsl-rtx4090
    machine = WindowsMachine("windows-rtx4090", nvidia + "GeForce RTX 4090 specifications", p.raphael, 32)
    machine.nvidia("NVIDIA GeForce RTX 4090", "8.9", 24, "560.94")
    yield machine
    machine = WindowsMachine("windows-rtx5090", nvidia + "GeForce RTX 5090 specifications", p.arrow_lake, 24)
    machine.nvidia("NVIDIA GeForce RTX 5090", "12.0", 32, "581.29")
    yield machine
    machine = WindowsMachine("windows-a770", intel + "Arc A770 specifications", p.raptor_lake, 32)
    machine.gpu("intel", "Intel Arc A770", "12.55.8", 16)
    machine.properties["intel"] = {"device_ip": ["12.55.8"]}
    yield machine
    machine = WindowsMachine("windows-b580", intel + "Arc B580 specifications",
                             p.zen5.but("AMD Ryzen 7 9800X3D 8-Core Processor", 68, 0), 16)
    machine.gpu("intel", "Intel Arc B580", "20.1.0", 12)
    machine.properties["intel"] = {"device_ip": ["20.1.0"]}
    yield machine
    # the graphics of the processor alone
    machine = WindowsMachine("windows-lnl", intel + "Core Ultra 200V data sheet", p.lunar_lake, 8)
    machine.gpu("intel", "Intel Arc graphics of Core Ultra 200V", "20.4.4", None, integrated=True)
    machine.properties["intel"] = {"device_ip": ["20.4.4", "20.1.0"]}
    yield machine
    for ident, name, gfx, gib, cpu in (
            ("windows-rx7900xtx", "AMD Radeon RX 7900 XTX", "gfx1100", 24, p.raphael),
            ("windows-rx9070xt", "AMD Radeon RX 9070 XT", "gfx1201", 16, p.zen5.but("AMD Ryzen 9 9950X 16-Core Processor", 68, 0))):
        machine = WindowsMachine(ident, amd + name.removeprefix("AMD ") + " specifications", cpu, 32)
        machine.gpu("amd", name, gfx, gib)
        machine.properties["amd"] = {"gfx_arch": [gfx]}
        yield machine
    # Windows on Arm
    machine = WindowsMachine("windows-snapdragon-x", "LLVM, oryon-1 (Armv8.6); lscpu of Oryon cores", p.oryon, 12)
    yield machine


def machines():
    yield from macs()
    yield from windows_machines()
