"""What each shipped machine is, derived a second time: from nothing but the answers that its recording
holds, by rules restated here from the vendors' documents, and compared with tests/machines/expected.

Neither the generator (which makes recordings and expectations of one table) nor the program is asked.
Sources: Intel SDM volume 2A, CPUID, and volume 1, 13.3; x86-64 psABI, micro-architecture levels; Linux
uapi asm/hwcap.h; CUDA driver API; Linux amdkfd topology; Intel GMDID; Apple, Determining instruction
set characteristics, and Accelerated PyTorch training on Mac; CUDA Toolkit release notes. Of machines
with Windows nothing can be recorded: theirs are derived from what their profiles state. Also here: which machine stands for
which case that detection must get right, with the fact that each case turns on.
"""

import json
import os
import pathlib
import re
import unittest

SOURCE = pathlib.Path(os.environ.get("AXLE_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
PROFILES = SOURCE / "machines" / "profiles"
EXPECTED = SOURCE / "tests" / "machines" / "expected"

YMM, ZMM, TILE, APX = 0x6, 0xE6, 0x60000, 0x80000
EAX, EBX, ECX, EDX = range(4)
# name -> (leaf, sub-leaf, register, bit, what XCR0 must hold)
CPUID = {}


def place(leaf, sub, register, mask, words):
    for word in words.split():
        bit, name = word.split(":")
        CPUID[name] = (leaf, sub, register, int(bit), mask)


place(1, 0, EDX, 0, "0:fpu 8:cx8 15:cmov 23:mmx 24:fxsr 25:sse 26:sse2")
place(1, 0, ECX, 0, "0:sse3 1:pclmulqdq 9:ssse3 13:cx16 19:sse4_1 20:sse4_2 22:movbe 23:popcnt 25:aes 27:osxsave 30:rdrand")
place(1, 0, ECX, YMM, "12:fma 28:avx 29:f16c")
place(7, 0, EBX, 0, "3:bmi1 8:bmi2 18:rdseed 19:adx 23:clflushopt 24:clwb 29:sha_ni")
place(7, 0, EBX, YMM, "5:avx2")
place(7, 0, EBX, ZMM, "16:avx512f 17:avx512dq 21:avx512ifma 26:avx512pf 27:avx512er 28:avx512cd 30:avx512bw 31:avx512vl")
place(7, 0, ECX, ZMM, "1:avx512vbmi 6:avx512_vbmi2 11:avx512_vnni 12:avx512_bitalg 14:avx512_vpopcntdq")
place(7, 0, ECX, 0, "8:gfni 22:rdpid 27:movdiri 28:movdir64b")
place(7, 0, ECX, YMM, "9:vaes 10:vpclmulqdq")
place(7, 0, EDX, ZMM, "2:avx512_4vnniw 3:avx512_4fmaps 8:avx512_vp2intersect 23:avx512_fp16")
place(7, 0, EDX, TILE, "22:amx_bf16 24:amx_tile 25:amx_int8")
place(7, 1, EAX, YMM, "0:sha512 1:sm3 2:sm4 4:avx_vnni 23:avx_ifma")
place(7, 1, EAX, ZMM, "5:avx512_bf16")
place(7, 1, EAX, TILE, "21:amx_fp16")
place(7, 1, EDX, YMM, "4:avx_vnni_int8 5:avx_ne_convert 10:avx_vnni_int16")
place(7, 1, EDX, TILE, "8:amx_complex")
place(7, 1, EDX, APX, "21:apx_f")
place(0x1E, 1, EAX, TILE, "4:amx_fp8 5:amx_transpose 6:amx_tf32 8:amx_movrs")
place(0x80000001, 0, ECX, 0, "0:lahf_lm 5:abm 6:sse4a")
place(0x80000001, 0, ECX, YMM, "11:xop 16:fma4")
place(0x80000001, 0, EDX, 0, "11:syscall 29:lm")

LEVELS = ("cmov cx8 fpu fxsr mmx syscall sse sse2 lm", "cx16 lahf_lm popcnt sse3 ssse3 sse4_1 sse4_2",
          "avx avx2 bmi1 bmi2 f16c fma abm movbe osxsave", "avx512f avx512bw avx512cd avx512dq avx512vl")

HWCAP = ("fp:0 asimd:1 evtstrm:2 aes:3 pmull:4 sha1:5 sha2:6 crc32:7 atomics:8 fphp:9 asimdhp:10 cpuid:11 asimdrdm:12 "
         "jscvt:13 fcma:14 lrcpc:15 dcpop:16 sha3:17 sm3:18 sm4:19 asimddp:20 sha512:21 sve:22 asimdfhm:23 dit:24 "
         "uscat:25 ilrcpc:26 flagm:27 ssbs:28 sb:29 paca:30 pacg:31")
HWCAP2 = ("dcpodp:0 sve2:1 sveaes:2 svepmull:3 svebitperm:4 svesha3:5 svesm4:6 flagm2:7 frint:8 svei8mm:9 svef32mm:10 "
          "svef64mm:11 svebf16:12 i8mm:13 bf16:14 dgh:15 rng:16 bti:17 mte:18 ecv:19 afp:20 rpres:21 mte3:22 sme:23 "
          "wfxt:31 ebf16:32 cssc:34 sve2p1:36 sme2:37")
# The published provider's chain (aarch64-variant-provider 0.2.0).
ARM = (("8a", "fp asimd"), ("8.1a", "crc32 atomics asimdrdm"), ("8.2a", "dcpop"),
       ("8.3a", "jscvt fcma lrcpc paca pacg"), ("8.4a", "asimddp uscat ilrcpc flagm"),
       ("8.5a", "flagm2 frint dcpodp"), ("9.0a", "sve2"))
POWER = {16: "altivec:28 vsx:7", 26: "arch_2_07:31 arch_3_00:23 arch_3_1:18 mma:17"}
S390 = {16: "vx:11 vxe:13 vxe2:15"}
RISCV = "fd:0 c:1 v:2 zba:3 zbb:4 zbs:5 zfh:27 zvfh:30"
INTEL_COMPATIBLE = {"30.5.4": "30.0.4", "30.4.4": "30.0.4", "30.3.1": "30.0.4", "30.1.0": "30.0.4", "20.4.4": "20.1.0",
                    "20.2.0": "20.1.0", "12.71.4": "12.70.4", "12.57.0": "12.55.8", "12.56.5": "12.55.8"}


def read(folder, name):
    return json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))


def recordings(system="Linux"):
    """Of most profiles that state facts there is nothing to derive from."""
    for file in sorted(EXPECTED.glob("*.json")):
        recording = read(PROFILES, file.stem).get("recording")
        if recording and recording["system"]["name"] == system:
            yield file.stem, recording, read(EXPECTED, file.stem)


def stated_windows():
    for file in sorted(EXPECTED.glob("windows-*.json")):
        yield file.stem, read(PROFILES, file.stem), read(EXPECTED, file.stem)


def bits_of(word, table):
    return {name for name, bit in (each.split(":") for each in table.split()) if word >> int(bit) & 1}


# --- x86-64 -----------------------------------------------------------------------------------------
def leaves_of(rows):
    return {tuple(int(part, 16) for part in name.split(":")): [int(word, 16) for word in row.split()]
            for name, row in rows.items()}


def told(leaves, leaf, sub, register, bit):
    """The bit, where CPUID's own bounds let it be read."""
    nothing = [0, 0, 0, 0]
    highest = leaves.get((leaf & 0x80000000, 0), nothing)[EAX]
    if leaf > highest or (leaf in (7, 0x1E) and sub > leaves.get((leaf, 0), nothing)[EAX]):
        return False
    return bool(leaves.get((leaf, sub), nothing)[register] >> bit & 1)


def derive_x86(recording):
    cores = [leaves_of(recording["cpuid"])] + [leaves_of(rows) for rows in recording.get("cpuid_of", {}).values()]
    xcr0 = int(recording.get("xcr0", "0x0"), 16) if told(cores[0], 1, 0, ECX, 27) else 0
    xcomp = recording.get("xcomp")
    states = {}
    for name, (leaf, sub, register, bit, mask) in CPUID.items():
        has = [told(core, leaf, sub, register, bit) for core in cores]
        if not has[0]:
            states[name] = "absent"
        elif not all(has) or xcr0 & mask != mask:
            states[name] = "blocked"
        elif mask == TILE and xcomp is None:
            states[name] = "unknown"
        elif mask == TILE and int(xcomp["supported"], 16) & TILE != TILE:
            states[name] = "blocked"
        else:
            states[name] = "present"
    version = cores[0].get((0x24, 0), [0, 0, 0, 0])[EBX] & 0xFF if told(cores[0], 7, 1, EDX, 19) else 0
    if cores[0][0, 0][EAX] < 0x24:
        version = 0
    for number in (1, 2):
        states[f"avx10_{number}"] = ("absent" if version < number else "present" if xcr0 & ZMM == ZMM else "blocked")
    # Linux knows these names since 3.7; what it does not list it withholds (AMD-SB-7055, clearcpuid).
    listed = re.search(r"^flags\s*: (.*)", recording["files"].get("/proc/cpuinfo", ""), re.MULTILINE)
    release = [int(part) for part in recording["system"]["release"].split(".")[:2]]
    for name in ("rdrand", "rdseed"):
        if listed and release >= [3, 7] and name not in listed[1].split() and states[name] == "present":
            states[name] = "blocked"
    level = 0
    while level < 4 and all(states[name] == "present" for name in LEVELS[level].split()):
        level += 1
    return states, level


# --- the others -------------------------------------------------------------------------------------
def derive_arm(recording):
    words = {int(number): int(word, 16) for number, word in recording["auxv"].items()}
    flags = bits_of(words.get(16, 0), HWCAP) | bits_of(words.get(26, 0), HWCAP2)
    versions = []
    for name, adds in ARM:
        if not set(adds.split()) <= flags:
            break
        versions.insert(0, name)
    return flags, versions


# --- Macs -------------------------------------------------------------------------------------------
# What Linux calls each of Apple's names; where a name of before macOS 12 says the same, that behind "|".
APPLE = """
FEAT_FP16|neon_fp16 fphp asimdhp / FEAT_CRC32|armv8_crc32 crc32 / FEAT_LSE|armv8_1_atomics atomics / AdvSIMD|neon asimd
FEAT_FHM|armv8_2_fhm asimdfhm / FEAT_SHA512|armv8_2_sha512 sha512 / FEAT_SHA3|armv8_2_sha3 sha3 / FEAT_FCMA|armv8_3_compnum fcma
FEAT_DotProd asimddp / FEAT_RDM asimdrdm / FEAT_SHA256 sha2 / FEAT_SHA1 sha1 / FEAT_AES aes / FEAT_PMULL pmull / FEAT_SB sb
FEAT_FRINTTS frint / FEAT_LRCPC lrcpc / FEAT_LRCPC2 ilrcpc / FEAT_JSCVT jscvt / FEAT_PAuth paca pacg / FEAT_DPB dcpop
FEAT_DPB2 dcpodp / FEAT_ECV ecv / FEAT_LSE2 uscat / FEAT_DIT dit / FEAT_SSBS ssbs / FEAT_BF16 bf16 / FEAT_I8MM i8mm
FEAT_BTI bti / FEAT_RPRES rpres / FEAT_AFP afp / FEAT_WFxT wfxt / FEAT_SME sme / FEAT_SME2 sme2 / FEAT_FlagM flagm
FEAT_FlagM2 flagm2 / FEAT_EBF16 ebf16 / FEAT_CSSC cssc / FEAT_MTE2 mte / FEAT_MTE3 mte3 / |floatingpoint fp
"""


def derive_mac(recording):
    """State of each flag that Apple has a name for, and the macOS versions by which MPS is asked for."""
    said = recording["sysctl"]
    states = {}
    for row in APPLE.replace("\n", "/").split("/"):
        names, *flags = row.split() or [""]
        for flag in flags:
            new, _, old = names.partition("|")
            value = said.get(f"hw.optional.arm.{new}", said.get(f"hw.optional.{old}"))
            states[flag] = {"1": "present", "0": "absent", None: "unknown"}[value]
    major = int(said["kern.osproductversion"].split(".")[0])
    mps = [version for version in ("26", "15", "14", "13", "12.3") if float(version) <= major]
    return states, mps


# --- Windows ----------------------------------------------------------------------------------------
# NVIDIA's numbers for Windows by the branch that they belong to, as nvidia-smi shows their CUDA version.
BRANCHES = {525: "12.0", 530: "12.1", 535: "12.2", 545: "12.3", 550: "12.4", 555: "12.5", 560: "12.6", 565: "12.7", 570: "12.8",
            575: "12.9", 580: "13.0", 590: "13.1"}
FLOOR_OF_CUDA_12 = (528, 33)


def derive_windows(profile):
    cpu, properties = profile["cpu"], {}
    has = {name for name, state in cpu["capabilities"].items() if state == "present"}
    if cpu["arch"] == "x86_64":
        level = 0
        while level < 4 and set(LEVELS[level].split()) <= has:
            level += 1
        properties["level"] = [f"v{each}" for each in range(level, 0, -1)]
    for gpu in profile.get("gpus", []):
        if gpu["vendor"] == "nvidia":
            driver = tuple(int(part) for part in profile["drivers"]["nvidia"]["kernel_version"].split("."))
            assert driver >= FLOOR_OF_CUDA_12, "older ones are for another test"
            cuda = [version for branch, version in BRANCHES.items() if branch <= driver[0]][-1]
            lower, upper = cuda_bounds(tuple(int(part) for part in cuda.split(".")))
            major, minor = (int(part) for part in gpu["arch"].split("."))
            properties["nvidia"] = {"cuda_version_lower_bound": lower, "cuda_version_upper_bound": upper,
                                    "sm_arch": [f"{major}{each}_real" for each in range(minor, -1, -1)] + [f"{major}0_virtual"]}
        if gpu["vendor"] == "amd":
            properties["amd"] = {"gfx_arch": [gpu["arch"]]}
        if gpu["vendor"] == "intel":
            properties["intel"] = {"device_ip": [gpu["arch"]] + [INTEL_COMPATIBLE[ip] for ip in (gpu["arch"],) if ip in INTEL_COMPATIBLE]}
    return properties


# --- GPUs -------------------------------------------------------------------------------------------
def lines_of(recording, vendor):
    answer = recording.get("drivers", {}).get(vendor, {"end": "", "lines": []})
    return answer["end"], [line.split("\t") for line in answer.get("lines", [])]


def cuda_bounds(driver):
    """Every version from 11 to 15.20, newest first; a bare major version stands behind its .0."""
    all_of_them = [(major, minor) for major in range(15, 10, -1) for minor in range(20, -2, -1)]
    spell = lambda version: f"{version[0]}" if version[1] < 0 else f"{version[0]}.{version[1]}"
    runs = lambda version: (version[0], max(version[1], 0)) <= driver
    return [spell(each) for each in all_of_them if runs(each)], [spell(each) for each in all_of_them if not runs(each)]


def derive_nvidia(recording):
    """None where no program could run on a GPU: what CUDA and NVML said at last decides."""
    end, lines = lines_of(recording, "nvidia")
    said = {line[0]: line[1:] for line in lines}  # of words said twice the last
    devices = [line for line in lines if line[0] in ("nvml.device", "cuda.device")]
    init = int(said.get("cuda.init", said.get("nvml.init", ["100"]))[0])
    ready = init == 0 or (init == 802 and devices)
    if end != "finished" or not ready or "cuda.missing" in said or "cuda.version" not in said or not devices:
        return None
    number = int(said["cuda.version"][0])
    lower, upper = cuda_bounds((number // 1000, number % 1000 // 10))
    names = {line[5] for line in devices if line[0] == "nvml.device"}
    mask = recording.get("variables", {}).get("CUDA_VISIBLE_DEVICES")
    visible = [line for line in devices if mask is None or line[0] == "cuda.device" or line[5] in mask.split(",")]
    assert mask is None or names & set(mask.split(",")), "masks of this kind only"
    runs = None
    for line in visible:
        major, minor = (int(part) for part in line[2].split("."))
        own = [f"{major}{each}_real" for each in range(minor, -1, -1)] + [f"{major}0_virtual"]
        runs = own if runs is None else [each for each in runs if each in own]
    features = {"cuda_version_lower_bound": lower, "cuda_version_upper_bound": upper}
    return {**features, "sm_arch": runs} if runs else features


def gfx_of(version):
    return f"gfx{version // 10000}{version // 100 % 100:x}{version % 100:x}"


def derive_amd(recording):
    files, nodes = recording["files"], recording.get("nodes", {})
    cards, integrated = [], []
    for path, text in files.items():
        if "/kfd/topology/nodes/" not in path or not path.endswith("/properties"):
            continue
        node = dict(line.split() for line in text.splitlines())
        if node.get("simd_count", "0") == "0":
            continue
        render = nodes.get(f"/dev/dri/renderD{node['drm_render_minor']}")
        if nodes.get("/dev/kfd") != "rw" or render != "rw":
            continue
        place = int(node["location_id"])
        address = f"0000:{place >> 8:02x}:{place >> 3 & 31:02x}.{place & 7}"
        own_memory = f"/sys/bus/pci/devices/{address}/mem_info_vram_vendor" in files
        (cards if own_memory else integrated).append(gfx_of(int(node["gfx_target_version"])))
    best = cards or integrated
    if not best:
        return None
    features = {"gfx_arch": list(dict.fromkeys(best))}
    rocm = files.get("/opt/rocm/.info/version")
    return {**features, "rocm_version": [".".join(rocm.split(".")[:2])]} if rocm else features


def derive_intel(recording):
    _, lines = lines_of(recording, "intel")
    ips = []
    for line in lines:
        if line[0] == "ze.device":
            word = int(line[4])  # architecture 10 bits, release 8, revision 14, of which 6 count
            ips.append(f"{word >> 22}.{word >> 14 & 0xFF}.{word & 0x3F}")
    ips += [INTEL_COMPATIBLE[ip] for ip in ips if ip in INTEL_COMPATIBLE]
    return {"device_ip": ips} if ips else None


class Derived(unittest.TestCase):
    def test_x86_features_and_levels(self):
        seen = 0
        for name, recording, expected in recordings():
            if recording["arch"] != "x86_64":
                continue
            seen += 1
            states, level = derive_x86(recording)
            with self.subTest(name):
                self.assertEqual(expected["cpu"]["level"], f"v{level}" if level else None)
                flags = expected["cpu"]["flags"]
                self.assertEqual({flag: flags[flag] for flag in states}, states)
                properties = expected["properties"]["x86_64"]
                self.assertEqual(properties.get("level", []), [f"v{each}" for each in range(level, 0, -1)])
                on = {flag for flag in properties if flag in states}
                said = {flag for flag in states if states[flag] == "present"}
                self.assertEqual(on, said & PUBLISHED_X86)
        self.assertGreaterEqual(seen, 70)

    def test_aarch64_features_and_versions(self):
        seen = 0
        for name, recording, expected in recordings():
            if recording["arch"] != "aarch64":
                continue
            seen += 1
            flags, versions = derive_arm(recording)
            told_flags = expected["cpu"]["flags"]
            with self.subTest(name):
                self.assertEqual({flag for flag in (each.split(":")[0] for each in (HWCAP + " " + HWCAP2).split())
                                  if told_flags.get("arm_" + flag) == "present"}, flags)
                self.assertEqual(expected["properties"]["aarch64"].get("version", []), versions)
                self.assertEqual(expected["cpu"].get("sve_vector_bytes"), recording.get("sve_bytes"))
                self.assertEqual("sve" in flags, "sve_bytes" in recording)
        self.assertGreaterEqual(seen, 14)

    def test_macs(self):
        seen = 0
        for name, recording, expected in recordings("Darwin"):
            with self.subTest(name):
                if recording["arch"] == "x86_64":
                    leaves = dict(recording)
                    if recording["sysctl"].get("hw.optional.avx512f") == "1":
                        leaves["xcr0"] = hex(int(recording["xcr0"], 16) | 0xE0)
                    states, level = derive_x86({"files": {}, **leaves})
                    self.assertEqual(expected["properties"]["x86_64"]["level"], [f"v{each}" for each in range(level, 0, -1)])
                    self.assertEqual({flag: expected["cpu"]["flags"][flag] for flag in states}, states)
                    self.assertEqual(expected["mps"]["usable"], "unknown")
                    continue
                seen += 1
                states, mps = derive_mac(recording)
                self.assertEqual({flag: expected["cpu"]["flags"]["arm_" + flag] for flag in states}, states)
                versions = []
                for version, adds in ARM:
                    if not all(states.get(flag) == "present" for flag in adds.split()):
                        break
                    versions.insert(0, version)
                self.assertEqual(expected["properties"]["aarch64"]["version"], versions)
                self.assertEqual(expected["properties"]["axle"]["mps"], mps)
                self.assertEqual(expected["mps"]["usable"], "present")
        self.assertGreaterEqual(seen, 5)

    def test_windows(self):
        seen = 0
        for name, profile, expected in stated_windows():
            derived = derive_windows(profile)
            properties = expected["properties"]
            seen += 1
            with self.subTest(name):
                self.assertEqual(properties.get("x86_64", {}).get("level", []), derived.pop("level", []))
                self.assertEqual({ns: properties[ns] for ns in ("nvidia", "amd", "intel") if ns in properties}, derived)
                self.assertEqual(expected["os"]["system"], "Windows")
                self.assertEqual(expected["libc"], {})
        self.assertGreaterEqual(seen, 9)
        # A machine with Windows and the Linux in it are one machine, but for the system.
        outside, inside = read(EXPECTED, "windows-rtx4090"), read(EXPECTED, "wsl-rtx4090")
        self.assertEqual(outside["properties"]["nvidia"], inside["properties"]["nvidia"])
        self.assertEqual(outside["cpu"]["level"], inside["cpu"]["level"])
        lines = read(PROFILES, "wsl-rtx4090")["recording"]["drivers"]["nvidia"]["lines"]
        self.assertIn(f"nvml.driver\t{outside['drivers']['nvidia']['kernel_version']}", lines)
        self.assertEqual(outside["properties"]["x86_64"], {name: value for name, value in inside["properties"]["x86_64"].items()
                                                           if name not in ("cppc", "ibrs_enhanced", "tsc_adjust", "flush_l1d",
                                                                           "clzero", "fsgsbase")})

    def test_features_of_other_processors(self):
        for name, words, prefix in (("power9", POWER, "power_"), ("power10", POWER, "power_"), ("z15", S390, "s390_")):
            recording, expected = read(PROFILES, name)["recording"], read(EXPECTED, name)
            with self.subTest(name):
                for word, table in words.items():
                    here = bits_of(int(recording["auxv"][str(word)], 16), table)
                    for flag in (each.split(":")[0] for each in table.split()):
                        self.assertEqual(expected["cpu"]["flags"][prefix + flag],
                                         "present" if flag in here else "absent", flag)
        recording, expected = read(PROFILES, "spacemit-x60")["recording"], read(EXPECTED, "spacemit-x60")
        here = bits_of(int(recording["hwprobe"]["4"], 16), RISCV)
        for flag in (each.split(":")[0] for each in RISCV.split()):
            self.assertEqual(expected["cpu"]["flags"]["riscv_" + flag], "present" if flag in here else "absent", flag)

    def test_what_runs_on_the_gpus(self):
        seen = {"nvidia": 0, "amd": 0, "intel": 0}
        for name, recording, expected in recordings():
            for vendor, derive in (("nvidia", derive_nvidia), ("amd", derive_amd), ("intel", derive_intel)):
                if name == "b580-no-level-zero" and vendor == "intel":
                    continue  # by its PCI id alone
                derived = derive(recording)
                with self.subTest(name, vendor=vendor):
                    self.assertEqual(expected["properties"].get(vendor), derived)
                    seen[vendor] += derived is not None
        self.assertGreaterEqual(seen["nvidia"], 14)
        self.assertGreaterEqual(seen["amd"], 5)
        self.assertGreaterEqual(seen["intel"], 3)

    def test_every_gpu_on_the_bus_is_one_of_the_machine(self):
        vendors = {"10DE": "nvidia", "1002": "amd", "8086": "intel"}
        for name, recording, expected in recordings():
            on_bus = {}
            for path, text in recording["files"].items():
                if path.endswith("/modalias") and ("bc03" in text or "bc12" in text) and text[9:13] in vendors:
                    if "bc12" in text and vendors[text[9:13]] == "intel":
                        continue  # an NPU
                    on_bus[path.split("/")[-2]] = vendors[text[9:13]]
            told_gpus = {gpu["pci_address"]: gpu["vendor"] for gpu in expected["gpus"] if gpu.get("pci_address")}
            with self.subTest(name):
                if recording["files"].get("/etc/nv_tegra_release") or "wsl" in name or "sandbox" in name:
                    continue  # no NVIDIA device on a bus there
                self.assertEqual(told_gpus, on_bus)


PUBLISHED_X86 = set(
    "avx_vnni sha_ni vaes vpclmulqdq avx512_bf16 avx512_bitalg avx512_vbmi2 avx512_vnni avx512_vp2intersect "
    "avx512_vpopcntdq avx512ifma avx512vbmi movdir64b movdiri rdpid clwb avx512bw avx512cd avx512dq avx512f avx512vl "
    "clflushopt gfni rdseed adx avx2 avx bmi2 bmi1 abm f16c fma movbe rdrand aes pclmulqdq sse4a sse4_2 sse4_1 ssse3 "
    "sse3 cx16 lahf_lm popcnt sse2 sse mmx".split())

# The cases that detection must get right, the machine that stands for each, and what the case turns on:
# a level, features with (+) and without (-) which it would be another, a reason code, a property.
CASES = """
prescott v1 -sse4_1            | k8 v1 -ssse3                   | penryn v1 +sse4_1 -sse4_2
nehalem v2 -avx                | sandy-bridge v2 +avx -avx2     | fx-8350 v2 +fma4 +avx -avx2
jaguar v2 +movbe -avx2         | excavator v3 +avx2             | goldmont v2 -avx
tremont v2 -avx                | haswell v3                     | haswell-noxsave v2 -osxsave
virtualbox-guest v2 +avx2 -bmi2 | skylake v3 -avx512f           | skylake-server v4 -avx512_vnni
cascade-lake v4 +avx512_vnni   | ice-lake-server v4 +avx512_vbmi2 | rocket-lake v4
alder-lake v3 -avx512f         | alder-lake-avx512 v4           | alder-lake-unequal v3
raptor-lake v3                 | meteor-lake v3                 | arrow-lake v3 +avx_vnni_int8
lunar-lake v3                  | panther-lake v3                | sapphire-rapids v4 +amx_int8
sapphire-rapids-linux515 v4 -amx_tile | sapphire-rapids-docker v4 -amx_tile | kvm-amx-guest v4 +amx_tile +avx10_1
captured-kvm-amx v4 +amx_bf16  | emerald-rapids v4              | granite-rapids v4 +avx10_1 +amx_fp16
granite-rapids-d v4 +amx_complex | diamond-rapids v4 +avx10_2 +apx_f +amx_fp8 | knights-landing v3 +avx512f -avx512vl
zen1 v3                        | hygon-dhyana v3                | zen2 v3 +clwb
zen3 v3 +vaes                  | zen4 v4 +avx512_bf16           | zen5 v4 +avx_vnni +avx512_vp2intersect
zen5-no-rdseed v4 +rdrand -rdseed | skylake-clearcpuid v3 +rdseed -rdrand | skylake-rhel6 v3 +rdrand +rdseed
zhaoxin-kx6000 v2 +avx2 -fma   | qemu64 v1                      | kvm-low-leaf v2 -avx2
rosetta v2 -avx                | graviton1 8a -asimddp          | graviton2 8.2a +asimddp -sve
a64fx 8.2a +sve                | graviton3 8.4a +paca           | graviton3-rhel8 8.2a -paca
grace 9.0a +sve2               | ampereone 8.5a +i8mm           | apple-m1-linux 8.5a -bf16
apple-m4-guest 8.5a +bf16 -sme | rk3588 8.2a                    | spacemit-x60
power9                         | power10                        | cloud-vm-no-gpu
p5-h100x8 nvidia=90_real       | p5en-h200x8 nvidia=90_real     | rtx4090-r535 nvidia=89_real
rtx5090-r570 nvidia=120_real   | gtx1080-r580 nvidia=61_real    | rtx5090-rtx2080
a100-mig nvidia=80_real        | wsl-rtx4090 nvidia=89_real     | jetson-orin-jp6 nvidia=87_real
jetson-thor-jp7 nvidia=110_real | docker-without-gpus !no-device-nodes | driver-mismatch !driver-mismatch
h100-cuda-compat nvidia=90_real | rtx4090-cuda-compat !compat-not-supported | nvml-hangs !driver-hangs
nouveau !other-driver          | vfio-h100 !other-driver        | mi300x8-rocm64 amd=gfx942
mi355x-rocm70 amd=gfx950       | rx7900xtx-raphael amd=gfx1100  | strix-halo amd=gfx1151
mi210-no-render-group !no-permission | pvc-i915 intel=12.60.7   | b580-no-level-zero intel=20.1.0
uhd770                         | arc-a770-rtx3060 nvidia=86_real intel=12.55.8 | ascend-910b ascend=910b
tpu-v5e tpu=true               | macos13-m1 8.5a -bf16          | macos14-m2 8.5a +bf16 -sme
macos15-m3 8.5a +afp -wfxt     | macos15-m4 8.5a +sme2 -sve     | macos26-m5 8.5a +sme2p1 +cssc
macos15-intel v3               | macos14-xeon v4 +avx512_vnni   | windows-none v3
windows-gtx1080 v3 nvidia=61_real | windows-rtx3060 v3 nvidia=86_real | windows-rtx4090 v4 nvidia=89_real
windows-rtx5090 v3 nvidia=120_real | windows-a770 v3 intel=12.55.8 | windows-b580 v4 intel=20.1.0
windows-lnl v3 intel=20.4.4    | windows-rx7900xtx v4 amd=gfx1100 | windows-rx9070xt v4 amd=gfx1201
windows-snapdragon-x 8.5a +i8mm -sve
"""


class Cases(unittest.TestCase):
    def test_every_case_has_its_machine(self):
        cases = [case.split() for line in CASES.splitlines() for case in line.split("|") if case.strip()]
        self.assertGreaterEqual(len(cases), 56)
        for name, *wanted in cases:
            expected = read(EXPECTED, name)
            flags = expected["cpu"].get("flags", {})
            for word in wanted:
                with self.subTest(name, turns_on=word):
                    self.check(word, expected, flags)

    def check(self, word, expected, flags):
        properties = expected["properties"]
        if word[0] in "+-":
            flag = word[1:] if word[1:] in flags else "arm_" + word[1:]
            self.assertEqual(flags[flag] == "present", word[0] == "+")
        elif word[0] == "!":
            self.assertTrue(any(code.endswith("." + word[1:]) for code in expected["problems"]), expected["problems"])
        elif "=" in word:
            ns, value = word.split("=")
            self.assertIn(value, [each for values in properties[ns].values() for each in values])
        elif word[0] == "v":
            self.assertEqual(expected["cpu"]["level"], word)
        else:
            self.assertEqual(properties["aarch64"]["version"][0], word)


if __name__ == "__main__":
    unittest.main()
