"""A machine as the answers it gives: what make_profiles.py writes, and what is expected of it."""

import registers
from processors import X86

DEBIAN = {"name": "Debian GNU/Linux", "id": "debian", "version": "12", "pretty":
          "Debian GNU/Linux 12 (bookworm)"}
UBUNTU22 = {"name": "Ubuntu", "id": "ubuntu", "version": "22.04", "pretty": "Ubuntu 22.04.5 LTS"}
UBUNTU24 = {"name": "Ubuntu", "id": "ubuntu", "version": "24.04", "pretty": "Ubuntu 24.04.1 LTS"}
AL2023 = {"name": "Amazon Linux", "id": "amzn", "version": "2023", "pretty": "Amazon Linux 2023"}
RHEL6 = {"name": "Red Hat Enterprise Linux Server", "id": "rhel", "version": "6.10",
         "pretty": "Red Hat Enterprise Linux Server release 6.10 (Santiago)"}
RHEL8 = {"name": "Red Hat Enterprise Linux", "id": "rhel", "version": "8.10",
         "pretty": "Red Hat Enterprise Linux 8.10 (Ootpa)"}
RHEL9 = {"name": "Red Hat Enterprise Linux", "id": "rhel", "version": "9.4",
         "pretty": "Red Hat Enterprise Linux 9.4 (Plow)"}
ALPINE = {"name": "Alpine Linux", "id": "alpine", "version": "3.20.3", "pretty": "Alpine Linux v3.20"}

OPENEULER = {"name": "openEuler", "id": "openEuler", "version": "22.03",
             "pretty": "openEuler 22.03 (LTS-SP4)"}

LIB = "/usr/lib/x86_64-linux-gnu/"
GIB = 1 << 30


def hexadecimal(registers_of_leaf):
    return " ".join("%08x" % value for value in registers_of_leaf)


def text_words(text, count):
    """A text in 32-bit words, least significant byte first, as CPUID gives names."""
    raw = text.encode().ljust(4 * count, b"\0")
    assert len(raw) == 4 * count, text
    return [int.from_bytes(raw[4 * i:4 * i + 4], "little") for i in range(count)]


class Machine:
    def __init__(self, ident, sources, kernel="6.8.0-generic", glibc="2.39", cpus=8, os=UBUNTU24,
                 arch="x86_64"):
        self.ident, self.sources = ident, sources
        self.recording = {"arch": arch,
                          "system": {"name": "Linux", "release": kernel, "machine": arch},
                          "glibc": "glibc " + glibc if glibc else "", "cpus": cpus}
        self.expected = {"os": {"system": "Linux", "kernel": kernel, "name": os["pretty"]},
                         "libc": {"family": "glibc", "version": glibc} if glibc else {},
                         "gpus": [], "npus": [], "drivers": {}, "problems": []}
        self.properties = {}
        self.files = self.part("files")
        self.files["/etc/os-release"] = (
            f'PRETTY_NAME="{os["pretty"]}"\nNAME="{os["name"]}"\nID={os["id"]}\n'
            f'VERSION_ID="{os["version"]}"\n')
        self.hidden = set()

    def part(self, key):
        return self.recording.setdefault(key, {})

    # --- processors -----------------------------------------------------------------------------
    def x86(self, cpu: X86, xcr0=None, xcomp="as xcr0", highest_leaf=None, hypervisor="",
            mitigation=None, osxsave=True, other_cores=None, unlisted=()):
        """`xcr0`: as the kernel set it, else all that the processor has. `xcomp` None: refused or
        unknown. `highest_leaf`: as a hypervisor bounds CPUID. `unlisted`: missing in /proc/cpuinfo."""
        flags = set(cpu.flags)
        if not osxsave:
            flags.discard("osxsave")
        if hypervisor:
            flags.add("hypervisor")
        if xcr0 is None:
            xcr0 = natural_xcr0(flags)
        self.part("cpuid").update(encode_x86(cpu, flags, highest_leaf, hypervisor))
        if "osxsave" in flags:
            self.recording["xcr0"] = hex(xcr0)
            if xcomp == "as xcr0" and xcr0 & 0x60000:
                self.recording["xcomp"] = {"supported": hex(xcr0), "permitted": hex(xcr0 & ~0x40000)}
            elif isinstance(xcomp, int):
                self.recording["xcomp"] = {"supported": hex(xcomp), "permitted": hex(xcomp)}
        # FSGSBASE is the kernel's to allow, from Linux 5.9 on.
        self.part("auxv")["26"] = "0x2"
        if mitigation:
            self.files["/sys/devices/system/cpu/vulnerabilities/spectre_v2"] = mitigation
        if unlisted:
            listed = sorted({"sse3": "pni"}.get(flag, flag) for flag in flags - set(unlisted))
            self.files["/proc/cpuinfo"] = f"flags\t\t: {' '.join(listed)}\n"
        visible = flags if highest_leaf is None else {
            flag for flag in flags if leaf_of(flag) <= highest_leaf or leaf_of(flag) >= 0x80000000}
        if other_cores is not None:
            first, cores = other_cores
            self.part("cpuid_of")[str(first)] = encode_x86(cores, set(cores.flags), None, "")
        self.expected["cpu"] = expect_x86(self, visible, xcr0 if "osxsave" in flags else 0,
                                          other_cores[1].flags if other_cores else None, mitigation,
                                          self.withheld_of(unlisted))
        self.expected["cpu"].update({
            "arch": "x86_64", "vendor": cpu.vendor.strip(), "brand": cpu.brand,
            "model": f"{cpu.family}-{cpu.model}-{cpu.stepping}", "hybrid": "hybrid" in visible,
            "logical_cpus": self.recording["cpus"],
            "hypervisor": hypervisor or ("VirtualApple" if cpu.vendor == "VirtualApple" else None)})

    def withheld_of(self, unlisted):
        """Kernels from 3.7 on know the names rdrand and rdseed: what they do not list, they withhold."""
        release = self.recording["system"]["release"].split(".")
        return set(unlisted) & {"rdrand", "rdseed"} if (int(release[0]), int(release[1])) >= (3, 7) else set()

    def arm(self, cpu, words=(16, 26), midrs=None):
        masks = {word: sum(1 << bit for bit, name in enumerate(registers.HWCAP[word])
                           if name in cpu.flags) for word in words}
        self.recording["auxv"] = {str(word): hex(mask) for word, mask in masks.items()}
        known = {name for word in words for name in registers.HWCAP[word]}
        assert cpu.flags <= known, cpu.flags - known
        if cpu.sve_bytes:
            self.recording["sve_bytes"] = cpu.sve_bytes
        for number, (implementer, part) in enumerate(midrs or [(cpu.implementer, cpu.part)]):
            midr = implementer << 24 | 0xF << 16 | part << 4 | 1
            self.files[f"/sys/devices/system/cpu/cpu{number}/regs/identification/midr_el1"] = (
                "0x%016x\n" % midr)
        self.expected["cpu"] = {
            "arch": "aarch64", "vendor": "0x%02x" % (midrs[0][0] if midrs else cpu.implementer),
            "model": "0x%03x" % (midrs[0][1] if midrs else cpu.part),
            "logical_cpus": self.recording["cpus"], "hybrid": False, "hypervisor": None,
            "sve_vector_bytes": cpu.sve_bytes, "sme_vector_bytes": None,
            "flags": {"arm_" + name: "unknown" if word not in words else
                      "present" if name in cpu.flags else "absent"
                      for word, names in registers.HWCAP.items() for name in names}}
        self.properties["aarch64"] = expect_aarch64(cpu.flags)
        self.properties["axle"] = expect_axle_arm(cpu)

    def told_by_kernel(self, prefix, states):
        """`states`: name -> present, absent or unknown."""
        self.expected["cpu"] = {
            "arch": self.recording["arch"], "logical_cpus": self.recording["cpus"], "hybrid": False,
            "hypervisor": None, "flags": {prefix + name: state for name, state in states.items()}}
        self.properties["axle"] = {prefix + name: ["on"] for name, state in states.items()
                                   if state == "present"}

    def riscv(self, names, keys=(3, 4)):
        every = {name for key in keys for name in registers.HWPROBE[key]}
        assert set(names) <= every, set(names) - every
        self.recording["hwprobe"] = {
            str(key): hex(sum(1 << bit for bit, name in enumerate(registers.HWPROBE[key])
                              if name in names)) for key in keys}
        self.told_by_kernel("riscv_", {
            name: "unknown" if key not in keys else "present" if name in names else "absent"
            for key, bits in registers.HWPROBE.items() for name in bits})

    def power(self, words):
        self.recording["auxv"] = {str(word): hex(mask) for word, mask in words.items()}
        self.told_by_kernel("power_", {name: "present" if words[word] >> bit & 1 else "absent"
                                       for word, bits in registers.POWER.items()
                                       for bit, name in bits.items()})

    def s390(self, mask):
        self.recording["auxv"] = {"16": hex(mask)}
        self.told_by_kernel("s390_", {name: "present" if mask >> bit & 1 else "absent"
                                      for bit, name in enumerate(registers.S390)})

    def container(self, kind):
        marks = {"docker": "/.dockerenv", "podman": "/run/.containerenv"}
        self.part("nodes")[marks[kind]] = "r"
        self.expected["os"]["container"] = kind

    # --- the bus --------------------------------------------------------------------------------
    def pci(self, address, vendor, device, driver="", kind="0300"):
        folder = "/sys/bus/pci/devices/" + address
        self.files[folder + "/modalias"] = (
            f"pci:v{vendor:08X}d{device:08X}sv{vendor:08X}sd00000000bc{kind[:2]}sc{kind[2:]}i00\n")
        if driver:
            self.part("links")[folder + "/driver"] = "../../../../bus/pci/drivers/" + driver
        return folder

    def nodes(self, *paths, access="rw"):
        for path in paths:
            self.part("nodes")[path] = access

    def library(self, *paths):
        self.nodes(*paths, access="r")

    def say(self, vendor, lines, end="finished", signal=0):
        answer = {"end": end}
        if signal:
            answer["signal"] = signal
        answer["lines"] = ["\t".join(str(field) for field in line) for line in lines]
        self.part("drivers")[vendor] = answer

    def variable(self, name, value):
        self.part("variables")[name] = value

    # --- what follows ---------------------------------------------------------------------------
    def gpu(self, vendor, **facts):
        self.expected["gpus"].append({"vendor": vendor, **facts})

    def driver(self, vendor, **facts):
        self.expected["drivers"][vendor] = facts

    def problem(self, *codes):
        self.expected["problems"] += codes


def leaf_of(flag):
    if flag.startswith("avx10"):
        return 0x24
    return next(leaf for (leaf, _, _), bits in registers.X86.items() if flag in bits.values())


def natural_xcr0(flags):
    mask = 0x3
    if "avx" in flags:
        mask |= 0x4
    if "avx512f" in flags:
        mask |= 0xE0
    if "pku" in flags:
        mask |= 0x200
    if "amx_tile" in flags:
        mask |= 0x60000
    if "apx_f" in flags:
        mask |= 0x80000
    return mask


def encode_x86(cpu, flags, highest_leaf, hypervisor):
    leaves = {}

    def leaf(number, sub=0):
        return leaves.setdefault((number, sub), {"eax": 0, "ebx": 0, "ecx": 0, "edx": 0})

    placed = set()
    for (number, sub, register), bits in registers.X86.items():
        for bit, name in bits.items():
            if name in flags:
                leaf(number, sub)[register] |= 1 << bit
                placed.add(name)
    version = max((int(name[len("avx10_"):]) for name in flags if name.startswith("avx10_")), default=0)
    if version:
        leaf(7, 1)["edx"] |= 1 << 19
        leaf(0x24)["ebx"] = 0x70000 | version  # 128, 256 and 512 bits
        placed |= {name for name in flags if name.startswith("avx10_")}
    assert placed == flags, flags - placed
    if (7, 1) in leaves:
        leaf(7)["eax"] = 1
    if "osxsave" in flags or "xsave" in flags:
        natural = natural_xcr0(flags)
        leaf(0xD)["eax"] = natural & 0xFFFFFFFF
    if "amx_tile" in flags:  # Intel SDM, leaves 1DH and 1EH
        leaf(0x1D)["eax"] = 1
        leaf(0x1D, 1).update(eax=8192 | 1024 << 16, ebx=64 | 8 << 16, ecx=16)
        leaf(0x1E).update(eax=1 if (0x1E, 1) in leaves else 0, ebx=16 | 64 << 8)
    vendor = text_words(cpu.vendor, 3)
    leaf(0).update(ebx=vendor[0], edx=vendor[1], ecx=vendor[2])
    leaf(1)["eax"] = signature(cpu)
    brand = text_words(cpu.brand, 12)
    for i in range(3):
        leaf(0x80000002 + i).update(zip(("eax", "ebx", "ecx", "edx"), brand[4 * i:4 * i + 4]))
    leaf(0x80000000)["eax"] = max(number for number, _ in leaves if number >= 0x80000000)
    leaf(0)["eax"] = max(number for number, _ in leaves if number < 0x40000000)
    if hypervisor:
        name = text_words(hypervisor, 3)
        leaf(0x40000000).update(eax=0x40000001, ebx=name[0], ecx=name[1], edx=name[2])
    if highest_leaf is not None:
        leaf(0)["eax"] = highest_leaf
    order = ("eax", "ebx", "ecx", "edx")
    return {f"{number:x}:{sub:x}": hexadecimal(value[register] for register in order)
            for (number, sub), value in sorted(leaves.items())}


def signature(cpu):
    """CPUID(1).EAX (Intel SDM volume 2A, figure 3-6)."""
    family = min(cpu.family, 15)
    extended = cpu.family - family
    assert cpu.model < 256
    return extended << 20 | cpu.model >> 4 << 16 | family << 8 | (cpu.model & 15) << 4 | cpu.stepping


def expect_x86(machine, flags, xcr0, other_flags, mitigation, withheld):
    """What each feature is, by the rules of the SDM and of the kernel, and the level that follows."""
    everywhere = flags if other_flags is None else flags & other_flags
    tile = "present" if machine.recording.get("xcomp") else "unknown"
    if xcr0 & registers.XCR0["tile"] != registers.XCR0["tile"]:
        tile = "blocked"
    if tile == "present" and int(machine.recording["xcomp"]["supported"], 16) & 0x60000 != 0x60000:
        tile = "blocked"

    def has(state):
        return xcr0 & registers.XCR0[state] == registers.XCR0[state]

    def judge(name):
        if name not in flags:
            return "absent"
        if name not in everywhere or name in withheld:
            return "blocked"
        if name in registers.TILE:
            if name == "amx_avx512" and not has("zmm"):
                return "blocked"
            return tile
        if name in ("xsave", "xsavec", "xsaveopt"):
            return "present" if "osxsave" in flags else "blocked"
        for names, state in ((registers.YMM, "ymm"), (registers.ZMM, "zmm"), (registers.APX, "apx")):
            if name in names:
                return "present" if has(state) else "blocked"
        return "present"

    names = {name for bits in registers.X86.values() for name in bits.values()}
    avx10 = {"avx10_1", "avx10_128", "avx10_256", "avx10_512"}
    if {"avx10_1", "avx10_2"} & flags:
        flags = flags | avx10
        everywhere = everywhere | avx10
    result = {name: judge(name) for name in sorted(names | avx10 | {"avx10_2"})}
    if mitigation and "Enhanced" in mitigation:
        result["ibrs_enhanced"] = "present"  # Intel tells it in a register that only kernels read
    level = 0
    while level < 4 and all(result[name] == "present" for name in registers.LEVELS[level]):
        level += 1
    machine.properties["x86_64"] = expect_x86_64(level, result)
    machine.properties["axle"] = expect_axle_x86(result)
    facts = {"level": f"v{level}" if level else None, "flags": result}
    facts["amx"] = expect_amx(machine, "amx_tile" in everywhere, tile, has("tile"))
    if "amx_tile" in everywhere:  # Intel SDM, leaves 1DH and 1EH
        facts["amx_tiles"] = {"total_bytes": 8192, "tile_bytes": 1024, "row_bytes": 64, "tiles": 8,
                              "rows": 16, "multiply_k": 16, "multiply_n": 64}
    return facts


def expect_amx(machine, there, tile, asked):
    if not there:
        return {"cpu": "absent", "os": "unknown", "permitted": "unknown"}
    permitted = "unknown"
    if asked and machine.recording.get("xcomp"):
        mask = int(machine.recording["xcomp"]["permitted"], 16)
        permitted = "present" if mask & 0x60000 == 0x60000 else "absent"
    return {"cpu": "present", "os": tile, "permitted": permitted}


# Beyond the published lists: what docs/providers.md says of namespace axle.
AXLE_X86 = (
    "amx_tile amx_int8 amx_bf16 amx_fp16 amx_complex amx_fp8 amx_transpose amx_tf32 amx_avx512 amx_movrs "
    "avx512_fp16 avx512er avx512pf avx512_4vnniw avx512_4fmaps avx_ifma avx_vnni_int8 avx_ne_convert "
    "avx_vnni_int16 sha512 sm3 sm4 avx10_1 avx10_2 avx10_128 avx10_256 avx10_512 ace apx_f apx_nci_ndd_nf "
    "movrs cmpccxadd raoint prefetchi serialize waitpkg cldemote pku fma4 xop tbm").split()


def expect_axle_x86(result):
    features = {name: ["on"] for name in AXLE_X86 if result[name] == "present"}
    for feature, values in (("avx10_version", ("2", "1")), ("avx10_bits", ("512", "256", "128"))):
        held = [value for value in values if result["avx10_" + value] == "present"]
        if held:
            features[feature] = held
    return features


def expect_axle_arm(cpu):
    features = {"arm_" + name: ["on"] for names in registers.HWCAP.values() for name in names
                if name in cpu.flags and name not in AARCH64_FLAGS}
    for feature, strict in (("arm_version", False), ("arm_version_strict", True)):
        held = []
        for name, below, adds, soft in registers.ARM_ARCHITECTURES:
            needed = set(adds.split()) | (set(soft.split()) if strict else set())
            if set(below) <= set(held) and needed <= cpu.flags:
                held.insert(0, name)
        if held:
            features[feature] = held
    if cpu.sve_bytes:
        features["sve_bytes"] = [str(cpu.sve_bytes)]
        features["sve_bytes_lower_bound"] = [str(length) for length in (256, 128, 64, 32, 16)
                                             if length <= cpu.sve_bytes]
    return features


# The published lists (x86-64-variant-provider 0.2.1, aarch64-variant-provider 0.2.0).
X86_64_FLAGS = (
    "avx_vnni cppc ibrs_enhanced tsc_adjust flush_l1d movdir64b movdiri avx512_bf16 avx512_bitalg "
    "avx512_vbmi2 avx512_vnni avx512_vp2intersect avx512_vpopcntdq avx512ifma avx512vbmi rdpid sha_ni vaes "
    "vpclmulqdq clwb clzero avx512bw avx512cd avx512dq avx512f avx512vl clflushopt gfni rdseed xsavec "
    "xsaveopt adx avx2 avx bmi2 bmi1 abm f16c fma movbe xsave rdrand aes pclmulqdq sse4a fsgsbase sse4_2 "
    "sse4_1 ssse3 sse3 cx16 lahf_lm popcnt sse2 sse mmx").split()
AARCH64_FLAGS = (
    "sve2 flagm2 frint sb paca pacg ssbs asimdfhm bf16 dcpodp dgh dit flagm i8mm ilrcpc jscvt rng sha3 "
    "sha512 svebf16 svei8mm uscat asimddp lrcpc asimdhp dcpop fcma fphp sve aes asimd cpuid crc32 evtstrm "
    "fp pmull sha1 sha2").split()


def expect_x86_64(level, result):
    features = {}
    if level:
        features["level"] = [f"v{each}" for each in range(level, 0, -1)]
    features.update({flag: ["on"] for flag in X86_64_FLAGS if result[flag] == "present"})
    return features


def expect_aarch64(flags):
    versions, features = [], {}
    for name, adds in registers.ARM_VERSIONS:
        if not set(adds.split()) <= flags:
            break
        versions.insert(0, name)
    if versions:
        features["version"] = versions
    features.update({flag: ["on"] for flag in AARCH64_FLAGS if flag in flags})
    return features


def expect_nvidia(cuda, newest=None):
    """peers' rules: bounds of the driver's CUDA, code of the newest GPU."""
    major, minor = (int(part) for part in cuda.split("."))
    lower, upper = [], []
    for each in range(major, 10, -1):
        top = minor if each == major else 20
        lower += [f"{each}.{m}" for m in range(top, -1, -1)] + [str(each)]
    for each in range(15, major, -1):
        upper += [f"{each}.{m}" for m in range(20, -1, -1)] + [str(each)]
    upper += [f"{major}.{m}" for m in range(20, minor, -1)]
    features = {"cuda_version_lower_bound": lower, "cuda_version_upper_bound": upper}
    if newest:
        sm_major, sm_minor = (int(part) for part in newest.split("."))
        features["sm_arch"] = ([f"{sm_major}{m}_real" for m in range(sm_minor, -1, -1)] +
                               [f"{sm_major}0_virtual"])
    return features
