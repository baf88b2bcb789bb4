"""What the published providers say of a machine, restated from their sources (wheelnext's repositories at the versions
named at each function; uv 0.13.8 for tpu), and what docs/providers.md says that Axle makes of it. Shares nothing with
the program: facts are those of `variant detect --json`, lists are [(feature, values)], best first.

PUBLISHED answers as the package would on a machine whose GPUs its tools see: NVML sees hidden GPUs too, ROCm and Level
Zero do not. None: the package ends in an exception. AXLE answers as the page says; `axle_gpu_code` restates of namespace
axle what GPUs run, from NVIDIA's and LLVM's documents."""

import re

# --- nvidia-variant-provider 0.0.2 (ffea5d3) ------------------------------------------------------------------------------


def cuda_lower_bounds(major, minor):
    values = []
    for each in range(major, 10, -1):
        values += [f"{each}.{m}" for m in range(minor if each == major else 20, -1, -1)] + [str(each)]
    return values


def cuda_upper_bounds(major, minor):
    values = []
    for each in range(15, major - 1, -1):
        if each > major:
            values += [f"{each}.{m}" for m in range(20, -1, -1)] + [str(each)]
        else:
            values += [f"{each}.{m}" for m in range(20, minor, -1)]
    return values


def sm_values(capability):
    major, minor = capability
    if capability < (5, 0):
        return []
    return [f"{major}{m}_real" for m in range(minor, -1, -1)] + [f"{major}0_virtual"]


def cuda_lists(version):
    lists = [("cuda_version_lower_bound", cuda_lower_bounds(*version)),
             ("cuda_version_upper_bound", cuda_upper_bounds(*version))]
    return [(name, values) for name, values in lists if values]


def published_nvidia(facts):
    driver = facts["drivers"].get("nvidia")
    if not driver or driver["usable"] != "present":
        return []  # NVML does not initialise
    version = pair(driver["api_version"])
    if version is None or not (11, 0) <= version <= (15, 20):
        return []
    capabilities = {pair(gpu["arch"]) for gpu in gpus_of(facts, "nvidia")} - {None}
    if not capabilities:
        return None  # sorted([])[0]
    values = sm_values(max(capabilities))
    return cuda_lists(version) + ([("sm_arch", values)] if values else [])


# --- amd-variant-provider 0.0.2 (4d985a9) ---------------------------------------------------------------------------------

AMD_TARGETS = ["gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1101", "gfx1102", "gfx1200",
               "gfx1201"]


def published_amd(facts):
    found = sorted({gfx_of(gpu) for gpu in seen(facts, "amd")} - {""})
    lists = []
    if found and all(gfx in AMD_TARGETS for gfx in found):
        lists.append(("gfx_arch", found))
    rocm = pair(facts["drivers"].get("amd", {}).get("api_version"))
    if rocm:
        lists.append(("rocm_version", ["{}.{}".format(*rocm)]))
    return lists


# --- intel-variant-provider 0.0.3 (9516bd2) -------------------------------------------------------------------------------

INTEL_DEVICES = [
    "35.11.0", "35.10.4", "30.5.4", "30.4.4", "30.3.1", "30.1.0", "30.0.4", "20.4.4", "20.2.0", "20.1.0", "12.74.4",
    "12.71.4", "12.70.4", "12.60.7", "12.57.0", "12.56.5", "12.55.8", "12.10.0", "12.4.0", "12.3.0", "12.2.0", "12.1.0",
    "12.0.0",
]  # fmt: skip
INTEL_BASES = {
    "30.5.4": "30.0.4", "30.4.4": "30.0.4", "30.3.1": "30.0.4", "30.1.0": "30.0.4", "20.4.4": "20.1.0",
    "20.2.0": "20.1.0", "12.71.4": "12.70.4", "12.57.0": "12.55.8", "12.56.5": "12.55.8",
}  # fmt: skip


def intel_ips(ip):
    return [ip] + ([INTEL_BASES[ip]] if ip in INTEL_BASES else [])


def published_intel(facts):
    ips = []
    for gpu in seen(facts, "intel"):
        for ip in intel_ips(gpu["arch"]) if triple(gpu["arch"]) else []:
            if ip in INTEL_DEVICES and ip not in ips:
                ips.append(ip)
    return [("device_ip", ips)] if ips else []


# --- provider-variant-x86-64 0.0.1.post2 (d88028e), on a CPU that its database has right -------------------------------------

X86_LEVELS = [
    "cmov cx8 fpu fxsr mmx syscall sse sse2 lm",
    "cx16 lahf_lm popcnt sse3 sse4_1 sse4_2 ssse3",
    "avx avx2 bmi1 bmi2 f16c fma abm movbe osxsave",
    "avx512f avx512bw avx512cd avx512dq avx512vl",
]
X86_FLAGS = """avx_vnni cppc ibrs_enhanced tsc_adjust flush_l1d movdir64b movdiri avx512_bf16 avx512_bitalg avx512_vbmi2
avx512_vnni avx512_vp2intersect avx512_vpopcntdq avx512ifma avx512vbmi rdpid sha_ni vaes vpclmulqdq clwb clzero avx512bw
avx512cd avx512dq avx512f avx512vl clflushopt gfni rdseed xsavec xsaveopt adx avx2 avx bmi2 bmi1 abm f16c fma movbe xsave
rdrand aes pclmulqdq sse4a fsgsbase sse4_2 sse4_1 ssse3 sse3 cx16 lahf_lm popcnt sse2 sse mmx""".split()


def x86_lists(facts, states):
    if facts["cpu"]["arch"] != "x86_64":
        return []
    flags = {name for name, state in facts["cpu"]["capabilities"].items() if state in states}
    held = []
    for number, needed in enumerate(X86_LEVELS, 1):
        if not set(needed.split()) <= flags:
            break
        held.insert(0, f"v{number}")
    return ([("level", held)] if held else []) + [(flag, ["on"]) for flag in X86_FLAGS if flag in flags]


# --- provider-variant-aarch64 0.0.3 (47b6e1e), likewise, without the two names run together -----------------------------------

ARM_VERSIONS = [
    ("8a", "fp asimd"), ("8.1a", "crc32 atomics asimdrdm"), ("8.2a", "dcpop"), ("8.3a", "jscvt fcma lrcpc paca pacg"),
    ("8.4a", "asimddp uscat ilrcpc flagm"), ("8.5a", "flagm2 frint dcpodp"), ("9.0a", "sve2"),
]  # fmt: skip
ARM_FLAGS = """sve2 flagm2 frint sb paca pacg ssbs asimdfhm bf16 dcpodp dgh dit flagm i8mm ilrcpc jscvt rng sha3 sha512
svebf16 svei8mm uscat asimddp lrcpc asimdhp dcpop fcma fphp sve aes asimd cpuid crc32 evtstrm fp pmull sha1 sha2""".split()


def arm_lists(facts):
    if facts["cpu"]["arch"] != "aarch64":
        return []
    flags = {name.removeprefix("arm_") for name, state in facts["cpu"]["capabilities"].items() if state == "present"}
    held = []
    for version, needed in ARM_VERSIONS:
        if not set(needed.split()) <= flags:
            break
        held.insert(0, version)
    return ([("version", held)] if held else []) + [(flag, ["on"]) for flag in ARM_FLAGS if flag in flags]


# --- huawei-ascend-variant-provider 0.0.2 (c5ea9f8) -----------------------------------------------------------------------


def ascend_version(candidate_mark):
    def read(text):
        match = re.match(rf"(\d+)\.(\d+)(?:\.(\d+))?(?:\.{candidate_mark}(\d+))?", text or "")
        if not match:
            return None
        major, minor, patch, candidate = (None if part is None else int(part) for part in match.groups())
        return (f"{major}.{minor}" + (f".{patch}" if patch is not None else "")
                + (f".rc{candidate}" if candidate is not None else ""))
    return read


ASCEND_FACTS = [("npu_type", "type", lambda text: text), ("driver_version", "driver_version", ascend_version("rc")),
                ("cann_version", "toolkit_version", ascend_version("RC"))]


def published_ascend(facts):
    npus = [npu for npu in facts["npus"] if npu["kind"] == "ascend" and npu["usable"] == "present"]
    lists = []
    for feature, key, read in ASCEND_FACTS:
        told = [value for value in (read(npu[key]) for npu in npus) if value]
        if told:
            lists.append((feature, told[:1]))
    return lists


# --- the three that need no machine, or one look at the bus --------------------------------------------------------------


def published_tpu(facts):
    return [("present", ["true" if any(npu["kind"] == "tpu" for npu in facts["npus"]) else "false"])]


BLAS_LAPACK = [("provider", ["accelerate", "openblas", "mkl"])]
OPENMP = [("provider", ["gnu", "intel", "llvm"])]

PUBLISHED = {
    "nvidia": published_nvidia,
    "amd": published_amd,
    "intel": published_intel,
    "x86_64": lambda facts: x86_lists(facts, ("present", "blocked")),
    "aarch64": arm_lists,
    "ascend": published_ascend,
    "tpu": published_tpu,
    "blas_lapack": lambda _: BLAS_LAPACK,
    "openmp": lambda _: OPENMP,
}

# --- facts ------------------------------------------------------------------------------------------------------------


def numbers(text, count):
    parts = (text or "").split(".")
    if len(parts) < count or not all(part.isascii() and part.isdigit() for part in parts[:count]):
        return None
    return tuple(map(int, parts[:count]))


def pair(text):
    return numbers(text, 2)


def triple(text):
    return numbers(text, 3) if (text or "").count(".") == 2 else None


def gfx_of(gpu):
    """"gfx942:sramecc+" is gfx942; "" is not a target."""
    name = (gpu["arch"] or "").split(":")[0]
    well_formed = name.startswith("gfx") and 6 <= len(name) <= 10 and all(c in "0123456789abcdef" for c in name[3:])
    return name if well_formed and name[3:-2].isdigit() else ""


def gpus_of(facts, vendor):
    return [gpu for gpu in facts["gpus"] if gpu["vendor"] == vendor]


def works(gpu):
    return gpu["usable"] == "present" and not gpu["masked"]


def seen(facts, vendor):
    return [gpu for gpu in gpus_of(facts, vendor) if works(gpu)]


# --- what the page says that Axle does --------------------------------------------------------------------------------------

AMD_PROCESSORS = ("gfx902 gfx909 gfx90c gfx1013 gfx1033 gfx1035 gfx1036 gfx1037 gfx1103 gfx1150 gfx1151 gfx1152 "
                  "gfx1153").split()


def is_unit(gpu):
    """A graphics unit of a processor."""
    if gpu["integrated"]:
        return True
    if gpu["vendor"] == "amd":
        return gfx_of(gpu) in AMD_PROCESSORS
    ip = triple(gpu["arch"])
    if gpu["vendor"] != "intel" or ip is None:
        return False
    return ip[:2] in [(12, 0), (12, 1), (12, 2), (12, 3), (12, 4), (12, 70), (12, 71), (12, 74), (20, 4), (35, 10)] \
        or ip[0] == 30


def age(gpu):
    if gpu["vendor"] == "nvidia":
        number = pair(gpu["arch"])
        return number + (0,) if number and number[1] <= 9 else (0, 0, 0)
    if gpu["vendor"] == "amd":
        gfx = gfx_of(gpu)
        return (int(gfx[3:-2]), int(gfx[-2], 16), int(gfx[-1], 16)) if gfx else (0, 0, 0)
    return triple(gpu["arch"]) or (0, 0, 0)


def in_bus_order(facts, vendor):
    gpus = gpus_of(facts, vendor)
    if all(gpu["pci_address"] for gpu in gpus):
        gpus.sort(key=lambda gpu: gpu["pci_address"])
    return gpus


def counted(facts, vendor, policy):
    """Those that count, the newest first. `policy`: all, any, first, or device=N,M with numbers alone."""
    gpus = in_bus_order(facts, vendor)
    if policy.startswith("device="):
        wanted = {int(number) for number in policy.removeprefix("device=").split(",")}
        gpus = [gpu for number, gpu in enumerate(gpus) if number in wanted]
    gpus = [gpu for gpu in gpus if works(gpu)]
    if policy in ("all", "first") and not all(is_unit(gpu) for gpu in gpus):
        gpus = [gpu for gpu in gpus if not is_unit(gpu)]
    if policy == "first":
        gpus = gpus[:1]
    return sorted(gpus, key=lambda gpu: (is_unit(gpu), tuple(-part for part in age(gpu))))


def joined(lists, policy):
    values = []
    for one in lists:
        for value in one:
            if value not in values and (policy == "any" or all(value in other for other in lists)):
                values.append(value)
    return values


def axle_nvidia(facts, policy):
    driver = facts["drivers"].get("nvidia")
    gpus = counted(facts, "nvidia", policy)
    version = pair(driver["api_version"]) if driver else None
    no_device = driver and not gpus_of(facts, "nvidia") and driver["usable"] == "present"
    if version is None or not (gpus or no_device) or version[0] < 11:
        return []
    values = joined([sm_values(age(gpu)[:2]) for gpu in gpus], policy)
    return cuda_lists(version) + ([("sm_arch", values)] if values else [])


def axle_amd(facts, policy):
    gpus = counted(facts, "amd", policy)
    values = joined([[gfx] if (gfx := gfx_of(gpu)) else [] for gpu in gpus], policy)
    rocm = pair(facts["drivers"].get("amd", {}).get("api_version"))
    lists = [("gfx_arch", values)] if values else []
    return lists + ([("rocm_version", ["{}.{}".format(*rocm)])] if rocm and gpus else [])


def axle_intel(facts, policy):
    values = joined([intel_ips(gpu["arch"]) if triple(gpu["arch"]) else [] for gpu in counted(facts, "intel", policy)],
                    policy)
    return [("device_ip", values)] if values else []


def axle_ascend(facts, _policy):
    npus = [npu for npu in facts["npus"] if npu["kind"] == "ascend" and npu["usable"] == "present"]
    lists = []
    for feature, key, read in ASCEND_FACTS:
        told = {value for value in (read(npu[key]) for npu in npus) if value and value_of_pep_825(value)}
        if len(told) == 1:
            lists.append((feature, sorted(told)))
    return lists


def value_of_pep_825(text):
    return all(c in "abcdefghijklmnopqrstuvwxyz0123456789_." for c in text)


def axle_tpu(facts, _policy):
    states = [npu["usable"] for npu in facts["npus"] if npu["kind"] == "tpu"]
    if not facts["os"]["system"] or ("unknown" in states and "present" not in states):
        return []
    return [("present", ["true" if "present" in states else "false"])]


AXLE = {
    "nvidia": axle_nvidia,
    "amd": axle_amd,
    "intel": axle_intel,
    "x86_64": lambda facts, _: x86_lists(facts, ("present",)),
    "aarch64": lambda facts, _: arm_lists(facts),
    "ascend": axle_ascend,
    "tpu": axle_tpu,
    "blas_lapack": lambda *_: BLAS_LAPACK,
    "openmp": lambda *_: OPENMP,
}


# --- namespace axle: code that GPUs run ----------------------------------------------------------------------------------

# NVIDIA, "CUDA GPUs" and nvcc --list-gpu-arch of CUDA 11 to 13.
CUDA_CODES = [(3, 5), (3, 7), (5, 0), (5, 2), (5, 3), (6, 0), (6, 1), (6, 2), (7, 0), (7, 2), (7, 5), (8, 0), (8, 6), (8, 7),
              (8, 9), (9, 0), (10, 0), (10, 1), (10, 3), (11, 0), (12, 0), (12, 1)]
# CUDA programming guide, "Binary Compatibility": Tegra's and other compiled code is not each other's. 10.1 is the number
# that 11.0 had until CUDA 12.9.
TEGRA = {(5, 3), (6, 2), (7, 2), (8, 7), (10, 1), (11, 0)}
THOR = {(10, 1), (11, 0)}
# nvcc, "Family-specific features": what each target runs on.
CUDA_FAMILIES = {(10, 0): {(10, 0), (10, 3)}, (10, 3): {(10, 3)}, (10, 1): THOR, (11, 0): THOR,
                 (12, 0): {(12, 0), (12, 1)}, (12, 1): {(12, 1)}}


def runs_compiled(device, code):
    if device == code or {device, code} <= THOR:
        return True
    return not {device, code} & TEGRA and device[0] == code[0] and device[1] >= code[1]


def cuda_code(device, kinds=("real", "virtual")):
    """A set: 90_real, 90a_real, 100f_virtual."""
    codes = {*CUDA_CODES, device}
    values = set()
    if "real" in kinds:
        values |= {"{}{}_real".format(*code) for code in codes if runs_compiled(device, code)}
    if "virtual" in kinds:
        values |= {"{}{}_virtual".format(*code) for code in codes if code <= device}
    for kind in kinds:
        values |= {"{}{}a_{}".format(*code, kind) for code in codes
                   if code >= (9, 0) and (code == device or {code, device} <= THOR)}
        values |= {"{}{}f_{}".format(*code, kind) for code, devices in CUDA_FAMILIES.items() if device in devices}
    return values


# LLVM, "User Guide for AMDGPU Backend", generic processors.
GFX_GENERICS = {
    "gfx9_generic": "gfx900 gfx902 gfx904 gfx906 gfx909 gfx90c",
    "gfx9_4_generic": "gfx942 gfx950",
    "gfx10_1_generic": "gfx1010 gfx1011 gfx1012 gfx1013",
    "gfx10_3_generic": "gfx1030 gfx1031 gfx1032 gfx1033 gfx1034 gfx1035 gfx1036",
    "gfx11_generic": "gfx1100 gfx1101 gfx1102 gfx1103 gfx1150 gfx1151 gfx1152 gfx1153",
    "gfx12_generic": "gfx1200 gfx1201",
    "gfx12_5_generic": "gfx1250 gfx1251",
}


def gfx_code(gfx):
    return {gfx} | {generic for generic, members in GFX_GENERICS.items() if gfx in members.split()} if gfx else set()


def axle_gpu_code(facts, policy):
    """{feature: set of values} of the features of namespace axle that speak of GPUs' code."""
    driver = facts["drivers"].get("nvidia")
    cuda = pair(driver["api_version"]) if driver else None
    cuda = cuda if cuda and cuda >= (11, 0) else None
    toolkits = {f"{major}.{minor}" for major in range(11, 16) for minor in range(21)
                if cuda and (major, minor) <= cuda}
    join = set.union if policy == "any" else set.intersection
    found = {"gpu": {vendor for vendor in ("nvidia", "amd", "intel") if counted(facts, vendor, policy)}}
    if axle_nvidia(facts, policy) and cuda and cuda >= (12, 4):
        found["cuda_compressed_code"] = {"on"}
    nvidia = [age(gpu)[:2] for gpu in counted(facts, "nvidia", policy)]
    if nvidia:
        found["cuda_code"] = join(*[cuda_code(device) for device in nvidia])
        found["cuda_code_or_jit"] = join(*[cuda_code(device, ["real"]) | toolkits for device in nvidia])
    amd = [gfx_of(gpu) for gpu in counted(facts, "amd", policy)]
    if amd:
        found["gfx_code"] = join(*map(gfx_code, amd))
        rocm = pair(facts["drivers"].get("amd", {}).get("api_version"))
        found["rocm_version_lower_bound"] = {
            *(f"{major}.{minor}" for major in range(5, 13) for minor in range(21) if rocm and (major, minor) <= rocm),
            *(str(major) for major in range(5, 13) if rocm and major <= rocm[0])}
    return {feature: values for feature, values in found.items() if values}


def differences(ns, facts, policy):
    """The ids of docs/providers.md that may make Axle's lists other than the published ones on this machine."""
    gpus = gpus_of(facts, ns) if ns in ("nvidia", "amd", "intel") else []
    unlike = len({age(gpu) for gpu in gpus if works(gpu)}) > 1 or policy.startswith("device=")
    driver = facts["drivers"].get(ns, {})
    capabilities = facts["cpu"]["capabilities"].values()
    npus = [npu for npu in facts["npus"] if npu["kind"] == ns]
    told = {
        "nvidia": {
            "nvidia-unlike-gpus": unlike,
            "nvidia-no-device": not gpus,
            "nvidia-masked": any(gpu["masked"] for gpu in gpus),
            "nvidia-unusable": any(gpu["usable"] != "present" for gpu in gpus) or driver.get("usable") != "present",
            "nvidia-newer-driver": (pair(driver.get("api_version")) or (0, 0)) > (15, 20),
        },
        "amd": {
            "amd-each-for-itself": any(gfx_of(gpu) not in AMD_TARGETS for gpu in seen(facts, "amd")),
            "amd-unlike-gpus": unlike,
            "amd-rocm-needs-gpu": not seen(facts, "amd"),
        },
        "intel": {
            "intel-unknown-device": any(gpu["arch"] not in INTEL_DEVICES for gpu in gpus),
            "intel-unlike-gpus": unlike,
        },
        "x86_64": {"x86-os-state": "blocked" in capabilities},
        "ascend": {"ascend-all-agree": len(npus) > 1 or any(not value_of_pep_825(npu["type"] or "") for npu in npus)},
        "tpu": {"tpu-must-work": bool(npus), "tpu-unasked": not facts["os"]["system"]},
    }
    return {one for one, holds in told.get(ns, {}).items() if holds}
