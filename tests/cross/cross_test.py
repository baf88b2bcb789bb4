"""The machine side on CPUs that we do not own: cross-built with Debian's compilers, run by qemu-user.

usage: cross_test.py ARCH --build FOLDER [--native PRINT_CPU]

What is expected of a model is written here from its own documents, named beside it. Exits with 77, saying
why, where a compiler or the emulator is missing.
"""

import argparse
import glob
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SKIPPED = 77

# Debian's name of the compilers and qemu's of the emulator.
TRIPLES = {
    "aarch64": "aarch64-linux-gnu",
    "ppc64le": "powerpc64le-linux-gnu",
    "riscv64": "riscv64-linux-gnu",
    "s390x": "s390x-linux-gnu",
}

# --- aarch64 --------------------------------------------------------------------------------------------
# Cortex-A57 and A72 TRM, ID_AA64ISAR0_EL1 = 0x00011120: AES with PMULL, SHA1, SHA256, CRC32; Armv8.0.
V8_0 = "fp asimd aes pmull sha1 sha2 crc32"
# Neoverse N1 TRM, ID_AA64ISAR0_EL1 = 0x0000100010211120, ISAR1 = 0x0000000000100001: Armv8.2 with LSE,
# RDM, half precision, DC CVAP, LDAPR, dot product.
N1 = V8_0 + " atomics asimdrdm fphp asimdhp dcpop lrcpc asimddp"
# A64FX Microarchitecture Manual and Specification: Armv8.2 with SVE of 128, 256 and 512 bits, FCMLA, LSE,
# RDM, half precision, DC CVAP; neither dot product nor LDAPR.
A64FX = V8_0 + " atomics asimdrdm fphp asimdhp dcpop fcma sve"
# qemu 7.2, docs/system/arm/emulation.rst: what `max` emulates and Linux shows of it.
MAX_BASE = N1 + (" jscvt fcma sha3 sm3 sm4 sha512 asimdfhm ilrcpc flagm sb paca pacg dcpodp flagm2 frint i8mm"
                 " bf16 rng bti mte")
MAX_SVE = ("sve sve2 sveaes svepmull svebitperm svesha3 svesm4 svei8mm svef32mm svef64mm svebf16")
MAX_SME = "sme smei16i64 smef64f64 smei8i32 smef16f32 smeb16f32 smef32f32 smefa64"
# What the kernel adds by itself, and what later releases of qemu may show of the same cores.
ANY_KERNEL = "cpuid evtstrm"
LATER = "ssbs dit uscat"

# model: (flags, versions, SVE bytes, SME bytes). qemu-user's lengths are 64 and 32 bytes unless told
# otherwise (docs/system/arm/cpu-features.rst: sve-default-vector-length, sme-default-vector-length).
ARM_MODELS = {
    "cortex-a57": (V8_0, "8a", 0, 0),
    "cortex-a72": (V8_0, "8a", 0, 0),
    "neoverse-n1": (N1, "8.2a 8.1a 8a", 0, 0),
    "a64fx": (A64FX, "8.2a 8.1a 8a", 64, 0),
    "max": (" ".join([MAX_BASE, MAX_SVE, MAX_SME]), None, 64, 32),
    "max,sve512=off,sve256=on": (" ".join([MAX_BASE, MAX_SVE, MAX_SME]), None, 32, 32),
    "max,sve=off,sme=off": (MAX_BASE, None, 0, 0),
}
EXACT = {"cortex-a57", "cortex-a72", "neoverse-n1", "a64fx"}

# --- ppc64le: Linux arch/powerpc/kernel/cputable.c, Power ISA 2.07, 3.0 and 3.1 -----------------------------
POWER8 = "64 altivec fpu dfp arch_2_06 vsx arch_2_07 isel tar vcrypto"
POWER9 = POWER8 + " arch_3_00 ieee128 darn"
POWER10 = POWER9 + " arch_3_1 mma"
GENERATIONS = "arch_2_07 arch_3_00 arch_3_1 mma ieee128"
POWER_MODELS = {"power8": POWER8, "power9": POWER9, "power10": POWER10}

# --- x86-64: qemu docs/system/cpu-models-x86-abi.csv, the level of each model ------------------------------
# The emulator itself ends at AVX2, so that a v4 model may come out as v3.
X86_MODELS = {
    "qemu64": 1, "kvm64": 1, "Conroe": 1, "Penryn": 1, "core2duo": 1, "phenom": 1, "Opteron_G1": 1,
    "Opteron_G3": 1, "Nehalem": 2, "Westmere": 2, "SandyBridge": 2, "IvyBridge": 2, "Denverton": 2,
    "Opteron_G4": 2, "Opteron_G5": 2, "Haswell": 3, "Broadwell": 3, "Skylake-Client": 3, "KnightsMill": 3,
    "Dhyana": 3, "EPYC": 3, "EPYC-Rome": 3, "EPYC-Milan": 3, "Skylake-Server": 4, "Icelake-Server": 4,
}  # fmt: skip
TCG_LEVEL = 3
# What a model is known by, of what the emulator has: Intel and AMD data sheets (each row restates them);
# family and model by CPUID. What came with the next generation is absent.
X86_FEATURES = {
    "qemu64": ("15-107", "sse3 cx16", "ssse3 sse4_1 popcnt xsave osxsave avx"),
    "Conroe": ("6-15", "ssse3 lahf_lm", "sse4_1 popcnt osxsave"),
    "Penryn": ("6-23", "ssse3 sse4_1 cx16", "sse4_2 popcnt osxsave"),
    "phenom": ("16-2", "sse4a abm popcnt", "ssse3 sse4_1 osxsave"),
    "Nehalem": ("6-26", "sse4_1 sse4_2 popcnt", "aes pclmulqdq xsave osxsave avx"),
    "Westmere": ("6-44", "aes pclmulqdq", "xsave osxsave avx"),
    "SandyBridge": ("6-42", "avx xsave osxsave xsaveopt", "f16c rdrand fsgsbase avx2 bmi1 fma"),
    "IvyBridge": ("6-58", "avx f16c rdrand", "avx2 bmi1 bmi2 fma movbe abm"),
    "Haswell": ("6-60", "avx2 bmi1 bmi2 f16c fma abm movbe", "adx clflushopt sse4a avx512f"),
    "Broadwell": ("6-61", "avx2 adx", "clflushopt sse4a avx512f"),
    "Opteron_G5": ("21-2", "avx f16c fma abm sse4a", "avx2 bmi2 movbe"),
    "EPYC": ("23-1", "avx2 bmi2 fma sse4a clflushopt adx", "vaes clwb avx512f"),
    "EPYC-Milan": ("25-1", "clwb", "avx512f"),
}

failures = []


def check(condition, sentence):
    if not condition:
        failures.append(sentence)
        print("FAILED:", sentence)


def skip(reason):
    print("skipped:", reason)
    sys.exit(SKIPPED)


def need(program, package):
    if not shutil.which(program):
        skip(f"this needs {program} (Debian: {package})")


def facts_of(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    check(done.returncode == 0, f"{' '.join(command)} ends with {done.returncode}: {done.stderr}")
    facts = dict(line.split("=", 1) for line in done.stdout.splitlines())
    for state in ("present", "absent", "blocked", "unknown"):
        facts[state] = set(facts.get(state, "").split())
    return facts


def build(arch, folder, targets):
    """Configures and builds."""
    triple = TRIPLES[arch]
    launcher = ["-DCMAKE_C_COMPILER_LAUNCHER=ccache", "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"]
    configure = ["cmake", "-G", "Ninja", "-S", HERE, "-B", folder, "-DCMAKE_SYSTEM_NAME=Linux",
                 f"-DCMAKE_SYSTEM_PROCESSOR={arch}", f"-DCMAKE_C_COMPILER={triple}-gcc",
                 f"-DCMAKE_CXX_COMPILER={triple}-g++", "-DCMAKE_C_FLAGS=-O1", "-DCMAKE_CXX_FLAGS=-O1"]  # fmt: skip
    if shutil.which("ccache"):
        configure += launcher
    done = subprocess.run(configure, capture_output=True, text=True)
    if done.returncode == 0:
        done = subprocess.run(["cmake", "--build", folder, "--target", *targets], capture_output=True, text=True)
    if done.returncode == 0:
        return
    print(f"{done.stdout[-6000:]}{done.stderr[-6000:]}")
    sys.exit(f"error: the {arch} build failed in {folder}")


class Emulator:
    def __init__(self, arch, folder):
        self.program = os.path.join(folder, "bin", "print_cpu")
        self.start = [f"qemu-{arch}", "-L", f"/usr/{TRIPLES[arch]}"]

    def command(self, model, *words):
        return [*self.start, "-cpu", model, *words]

    def facts(self, model):
        return facts_of(self.command(model, self.program))


def named(prefix, words):
    return {prefix + word for word in words.split()}


def test_aarch64(emulator, folder):
    for model, (flags, versions, sve, sme) in ARM_MODELS.items():
        facts = emulator.facts(model)
        expected = named("arm_", flags)
        check(facts["arch"] == "aarch64", f"{model}: arch {facts['arch']}")
        check(expected <= facts["present"], f"{model}: lacks {sorted(expected - facts['present'])}")
        more = facts["present"] - expected - named("arm_", ANY_KERNEL + " " + LATER)
        if model in EXACT:
            check(not more, f"{model}: has {sorted(more)} beyond its manual")
        if "sve=off" in model:
            vectors = {name for name in facts["present"] if name.startswith(("arm_sve", "arm_sme"))}
            check(not vectors, f"{model}: {sorted(vectors)} although it is switched off")
        if versions:
            check(facts["versions"] == versions, f"{model}: versions {facts['versions']}")
        check(facts["sve"] == str(sve), f"{model}: SVE {facts['sve']} bytes, not {sve}")
        check(facts["sme"] == str(sme), f"{model}: SME {facts['sme']} bytes, not {sme}")
        check(facts["source.capabilities"] == "auxv", f"{model}: {facts['source.capabilities']}")
        # The emulator shows the host's /sys, where no core of this kind stands.
        check(facts["source.vendor"] in ("midr", "midr-unreadable"), f"{model}: {facts['source.vendor']}")
        told = {name for name in facts["unknown"] if facts.get("source." + name) != "auxv-without-word"}
        check(not told, f"{model}: {sorted(told)} unknown without a reason")
    for room in ("detect", "machines", "providers"):
        # An emulated program cannot start another one: the stand-ins of drivers are tested natively.
        command = emulator.command("max", os.path.join(folder, "bin", room + "_test"), "--minimal",
                                   "--no-version", "--source-file-exclude=*_stubs_test.cpp")  # fmt: skip
        environment = {**os.environ, "QEMU_LD_PREFIX": f"/usr/{TRIPLES['aarch64']}"}
        environment.pop("AXLE_TEST_REGISTRY", None)
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        print(room + "_test:", done.stdout[-400:].strip())
        check(done.returncode == 0, f"{room}_test on aarch64:\n{done.stdout[-4000:]}{done.stderr}")


def test_aarch64_runtime(emulator, folder):
    """The kernel sets with and without the dot product and SMMLA, and what their objects contain."""
    scripts = os.path.join(HERE, "..", "runtime")
    objects = sorted(glob.glob(os.path.join(folder, "runtime/CMakeFiles/axle_runtime.dir/kernels/*.o")))
    for script, tool in (("check_instructions.sh", "objdump"), ("check_kernel_objects.sh", "nm")):
        done = subprocess.run([os.path.join(scripts, script), f"{TRIPLES['aarch64']}-{tool}", *objects],
                              capture_output=True, text=True)  # fmt: skip
        check(done.returncode == 0 and len(objects) >= 3, f"{script}: {done.stdout}{done.stderr}")
    # Cortex-A53 TRM: Armv8.0, neither FEAT_DotProd nor FEAT_I8MM. Neoverse N1 has the first.
    lacking = {"cortex-a53": {"neon_dotprod", "neon_i8mm"}, "neoverse-n1": {"neon_i8mm"}, "max": set()}
    # As in tests/runtime/run_on_old_cpu.sh.
    without = "*many rows*,*more rows*,*extremes*,*forked*,*in a batch*,*in double*,int4 errors*"
    for model, expected in lacking.items():
        command = emulator.command(model, os.path.join(folder, "bin", "runtime_test"), "--test-case-exclude=" +
                                   without + ("" if model == "cortex-a53" else ",*fast search*"))  # fmt: skip
        environment = {**os.environ, "AXLE_TEST_WITHOUT_MODELS": "1"}
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        lacks = set(re.findall(r"cannot run it: (\w+)", done.stdout))
        check(done.returncode == 0, f"runtime_test on {model}:\n{done.stdout[-4000:]}{done.stderr}")
        check(lacks == expected, f"{model}: runs all kernel sets but {sorted(lacks)}, not {sorted(expected)}")


def test_ppc64le(emulator, _folder):
    for model, flags in POWER_MODELS.items():
        facts = emulator.facts(model)
        expected = named("power_", flags)
        check(facts["arch"] == "ppc64le", f"{model}: arch {facts['arch']}")
        check(expected <= facts["present"], f"{model}: lacks {sorted(expected - facts['present'])}")
        newer = named("power_", GENERATIONS) - expected
        check(newer <= facts["absent"], f"{model}: {sorted(newer - facts['absent'])} not absent")
        check(not facts["unknown"], f"{model}: {sorted(facts['unknown'])} unknown")
        check(facts["source.capabilities"] == "auxv", f"{model}: {facts['source.capabilities']}")


def test_riscv64(emulator, _folder):
    # qemu-user 7.2 has no riscv_hwprobe; 8.1 has.
    for model, letters in (("rv64", "ima fd c"), ("sifive-u54", "ima fd c")):
        facts = emulator.facts(model)
        expected = named("riscv_", letters)
        check(facts["arch"] == "riscv64", f"{model}: arch {facts['arch']}")
        check(expected <= facts["present"], f"{model}: lacks {sorted(expected - facts['present'])}")
        check("riscv_v" in facts["absent"], f"{model}: vectors are not absent")
        newer = {"riscv_v", "riscv_zvfh", "riscv_zvbb"} & facts["present"]
        check(not newer, f"{model}: has {sorted(newer)}")
    facts = emulator.facts("rv64,v=true")
    check("riscv_v" in facts["present"], "rv64,v=true: no vectors")
    if facts["source.capabilities"] == "auxv":
        # The letter alone is not enough; these are 1.0, which the instruction says.
        check(facts["source.riscv_v"] == "vsetvli", "rv64,v=true: " + facts["source.riscv_v"])
        check("riscv_zvfh" in facts["unknown"], "rv64,v=true: Zvfh is told by no letter")


def test_s390x(emulator, _folder):
    # qemu target/s390x/gen-features.c: z900 is where z/Architecture begins; `max` has the vector facility
    # and its first enhancements.
    facts = emulator.facts("z900")
    check(facts["arch"] == "s390x", f"z900: arch {facts['arch']}")
    check(named("s390_", "esan3 zarch") <= facts["present"], f"z900: {facts['present']}")
    check(not named("s390_", "vx vxe vxe2 nnpa eimm ldisp") & facts["present"], f"z900: {facts['present']}")
    facts = emulator.facts("max")
    expected = named("s390_", "esan3 zarch stfle msa ldisp eimm etf3eh vx vxe")
    check(expected <= facts["present"], f"max: lacks {sorted(expected - facts['present'])}")
    check("s390_nnpa" in facts["absent"], "max: has nnpa, which is not emulated")


def test_x86_64(program):
    for model, documented in X86_MODELS.items():
        facts = facts_of(["qemu-x86_64", "-cpu", model, program])
        level = int(facts["level"])
        fits = level in (documented, min(documented, TCG_LEVEL))
        check(fits, f"{model}: v{level}, not v{documented}")
        check(facts["hypervisor"] == "TCGTCGTCGTCG", f"{model}: hypervisor {facts['hypervisor']}")
        if documented < 3:
            check("avx2" not in facts["present"], f"{model}: AVX2")
        check(facts["source.capabilities"] == "cpuid", f"{model}: {facts['source.capabilities']}")
        if model not in X86_FEATURES:
            continue
        number, present, absent = X86_FEATURES[model]
        check(facts["model"].startswith(number + "-"), f"{model}: model {facts['model']}, not {number}")
        vendor = "AuthenticAMD" if "sse4a" in present or model == "qemu64" or "EPYC" in model else "GenuineIntel"
        check(facts["vendor"] == vendor, f"{model}: vendor {facts['vendor']}, not {vendor}")
        lacks = set(present.split()) - facts["present"]
        check(not lacks, f"{model}: lacks {sorted(lacks)}")
        more = set(absent.split()) - facts["absent"]
        check(not more, f"{model}: {sorted(more)} not absent")
        # The emulator's auxiliary vector does not allow FSGSBASE, which the model has from Ivy Bridge on.
        if model in ("IvyBridge", "Haswell", "EPYC") and "fsgsbase" not in facts["present"]:
            check("fsgsbase" in facts["blocked"], f"{model}: fsgsbase is not blocked")
            check(facts["source.fsgsbase"] == "auxv", f"{model}: fsgsbase is blocked without a reason")


def compiles(compiler, flag):
    command = [compiler, flag, "-fsyntax-only", "-x", "c", os.devnull]
    return subprocess.run(command, capture_output=True).returncode == 0


def test_flags(compiler, facts, prefix):
    """The compiler flags of the capability table are ones that the architecture's compiler takes."""
    version = subprocess.run([compiler, "-dumpversion"], capture_output=True, text=True).stdout
    major = int(version.split(".")[0])
    tried = 0
    for word in facts["flags"].split():
        flag, first = word.rsplit("@", 1)
        if major < max(int(first), 12):
            continue
        tried += 1
        check(compiles(compiler, prefix + flag), f"{compiler} {version.strip()} refuses {prefix}{flag}")
    check(tried > 2, f"{compiler}: {tried} flags tried")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("arch", choices=[*TRIPLES, "x86_64"])
    parser.add_argument("--build", required=True)
    parser.add_argument("--native")
    options = parser.parse_args()
    need(f"qemu-{options.arch}", "qemu-user")
    if options.arch == "x86_64":
        if os.uname().machine != "x86_64":
            skip("older x86-64 CPUs are tried with the program of an x86-64 build")
        test_x86_64(options.native)
        test_flags("gcc", facts_of([options.native]), "")
    else:
        triple = TRIPLES[options.arch]
        need(f"{triple}-g++", f"g++-{triple}")
        tests = ["detect_test", "machines_test", "providers_test", "runtime_test"] if options.arch == "aarch64" else []
        build(options.arch, options.build, ["print_cpu", *tests])
        emulator = Emulator(options.arch, options.build)
        globals()["test_" + options.arch](emulator, options.build)
        if options.arch == "aarch64":
            test_aarch64_runtime(emulator, options.build)
        if options.arch != "riscv64":
            prefix = "-march=armv8-a" if options.arch == "aarch64" else ""
            model = {"ppc64le": "power10"}.get(options.arch, "max")
            test_flags(f"{triple}-gcc", emulator.facts(model), prefix)
    print(f"{options.arch}: {len(failures)} failures")
    sys.exit(1 if failures else 0)


main()
