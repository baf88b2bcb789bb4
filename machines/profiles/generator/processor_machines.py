"""Machines that are told by their processor: each proves one thing, said in its comment."""

import processors as p
from recordings import (AL2023, ALPINE, DEBIAN, RHEL6, RHEL8, RHEL9, UBUNTU22, UBUNTU24, Machine)

SDM = "Intel SDM volume 2A (CPUID); "
APM = "AMD APM volume 3, appendix E; "
ENHANCED = "Mitigation: Enhanced / Automatic IBRS; IBPB: conditional; RSB filling\n"
RETPOLINES = "Mitigation: Retpolines; IBPB: conditional; IBRS_FW; STIBP: conditional; RSB filling\n"


def simple():
    """ident, processor, documents, further arguments of Machine.x86"""
    return [
        # v1 with 64 bits and SSE3: no LAHF, no SSSE3
        ("prescott", p.prescott, SDM + "Pentium 4 data sheet 302351", {}),
        # the first v1: not even SSE3
        ("k8", p.k8, APM + "BIOS and Kernel Developer's Guide 26094", {}),
        # SSE4.1 without SSE4.2: v1
        ("penryn", p.penryn, SDM + "Core 2 data sheet 318732", {}),
        # v2, no XSAVE at all
        ("nehalem", p.nehalem, SDM + "Xeon 5500 data sheet 321321", {}),
        # AVX without AVX2: v2
        ("sandy-bridge", p.sandy_bridge, SDM + "2nd generation Core data sheet 324641", {}),
        # FMA, F16C, BMI1 and XOP, but no AVX2: v2
        ("fx-8350", p.piledriver, APM + "Optimization Guide family 15h 47414", {}),
        # AVX, MOVBE and BMI1 without AVX2: v2
        ("jaguar", p.jaguar, APM + "Optimization Guide family 16h 52128", {}),
        # the first v3 of AMD, with FMA4, XOP and TBM
        ("excavator", p.excavator, APM + "PPR family 15h models 60h to 6Fh 50742", {}),
        # RDSEED, SHA and MOVBE without AVX: v2
        ("goldmont", p.goldmont, SDM + "extensions reference 319433", {}),
        # GFNI and MOVDIRI without AVX: v2
        ("tremont", p.tremont, SDM + "extensions reference 319433", {"mitigation": ENHANCED}),
        # v3
        ("haswell", p.haswell, SDM + "4th generation Core data sheet 328897",
         {"mitigation": RETPOLINES}),
        ("skylake", p.skylake, SDM + "6th generation Core data sheet 332687",
         {"mitigation": RETPOLINES}),
        # v4
        ("skylake-server", p.skylake_server, SDM + "Xeon Scalable data sheet 336065",
         {"mitigation": RETPOLINES}),
        # AVX512-VNNI; enhanced IBRS, which only the kernel tells
        ("cascade-lake", p.cascade_lake, SDM + "2nd generation Xeon Scalable data sheet 338848",
         {"mitigation": ENHANCED}),
        ("ice-lake-server", p.ice_lake_server, SDM + "3rd generation Xeon Scalable data sheet 634950",
         {"mitigation": ENHANCED}),
        # a desktop with v4
        ("rocket-lake", p.rocket_lake, SDM + "11th generation Core data sheet 634648",
         {"mitigation": ENHANCED}),
        ("emerald-rapids", p.emerald_rapids, SDM + "extensions reference 319433",
         {"mitigation": ENHANCED}),
        # AVX10.1 and AMX-FP16
        ("granite-rapids", p.granite_rapids, SDM + "AVX10 specification 355989; extensions reference 319433",
         {"mitigation": ENHANCED}),
        # AMX-COMPLEX
        ("granite-rapids-d", p.granite_rapids_d, SDM + "extensions reference 319433",
         {"mitigation": ENHANCED}),
        # AVX10.2, APX, AMX-FP8: announced
        ("diamond-rapids", p.diamond_rapids,
         SDM + "AVX10 specification 355989; APX specification 355828; extensions reference 319433",
         {"mitigation": ENHANCED}),
        # AVX-512 without BW, DQ and VL: v3
        ("knights-landing", p.knights_landing, SDM + "Xeon Phi data sheet 333577", {}),
        ("zen1", p.zen1, APM + "PPR family 17h model 01h 54945", {"mitigation": RETPOLINES}),
        # another vendor's name on the same features
        ("hygon-dhyana", p.dhyana, APM + "PPR family 17h model 01h 54945", {"mitigation": RETPOLINES}),
        ("zen2", p.zen2, APM + "PPR family 17h model 31h 55803", {"mitigation": RETPOLINES}),
        ("zen3", p.zen3, APM + "PPR family 19h model 01h 55898", {"mitigation": RETPOLINES}),
        # AMD's first v4
        ("zen4", p.zen4, APM + "PPR family 19h model 11h 55901", {"mitigation": ENHANCED}),
        # AVX-VNNI and VP2INTERSECT
        ("zen5", p.zen5, APM + "PPR family 1Ah model 02h 57238", {"mitigation": ENHANCED}),
        # AVX2 without FMA: v2
        ("zhaoxin-kx6000", p.lujiazui, "GCC manual, -march=lujiazui; Zhaoxin KX-6000 brief", {}),
    ]


def hybrids():
    """Performance cores are asked like any; one efficient core is asked on its own."""
    efficient = {"minus": ""}
    for ident, cpu, first in (("alder-lake", p.alder_lake, 16), ("raptor-lake", p.raptor_lake, 16),
                              ("meteor-lake", p.meteor_lake, 12), ("arrow-lake", p.arrow_lake, 8),
                              ("lunar-lake", p.lunar_lake, 4), ("panther-lake", p.panther_lake, 4)):
        machine = Machine(ident, SDM + "Core data sheets; extensions reference 319433", cpus=first + 4)
        machine.x86(cpu, mitigation=ENHANCED, other_cores=(first, cpu.but(**efficient)))
        machine.part("cpuid_of")["0"] = dict(machine.part("cpuid"))
        machine.files["/sys/devices/cpu_core/cpus"] = f"0-{first - 1}\n"
        machine.files["/sys/devices/cpu_atom/cpus"] = f"{first}-{first + 3}\n"
        yield machine
    # A board of 2021: efficient cores off, so nothing takes the AVX-512 of the others away.
    machine = Machine("alder-lake-avx512", SDM + "extensions reference 319433", cpus=16)
    machine.x86(p.alder_lake_avx512, mitigation=ENHANCED)
    machine.part("cpuid_of")["0"] = dict(machine.part("cpuid"))
    machine.files["/sys/devices/cpu_core/cpus"] = "0-15\n"
    yield machine
    # An operating system that lets both kinds run, AVX-512 on the one only: nothing may use it.
    machine = Machine("alder-lake-unequal", SDM + "extensions reference 319433", cpus=20)
    machine.x86(p.alder_lake_avx512, mitigation=ENHANCED, other_cores=(16, p.alder_lake))
    machine.part("cpuid_of")["0"] = dict(machine.part("cpuid"))
    machine.files["/sys/devices/cpu_core/cpus"] = "0-15\n"
    machine.files["/sys/devices/cpu_atom/cpus"] = "16-19\n"
    yield machine


def withheld():
    """What a kernel, a container or a hypervisor keeps back."""
    # The kernel was told noxsave: AVX2 is there and may not be used, v2.
    machine = Machine("haswell-noxsave", SDM + "Linux kernel-parameters.txt, noxsave")
    machine.x86(p.haswell, osxsave=False, mitigation=RETPOLINES)
    yield machine
    # A guest with AVX2 but without BMI and FMA: v2.
    machine = Machine("virtualbox-guest", SDM + "VirtualBox manual, VBoxManage modifyvm", cpus=2)
    machine.x86(p.haswell.but(minus="bmi1 bmi2 fma invpcid"), hypervisor="VBoxVBoxVBox",
                mitigation=RETPOLINES)
    yield machine
    # CPUID bounded below leaf 7: what is enumerated there cannot be read, v2.
    machine = Machine("kvm-low-leaf", SDM + "IA32_MISC_ENABLE, limit CPUID maxval", cpus=2)
    machine.x86(p.haswell, highest_leaf=4, hypervisor="KVMKVMKVM")
    yield machine
    # QEMU without KVM and without a model: v1, OSXSAVE off.
    machine = Machine("qemu64", "QEMU 7.2 documentation, CPU models", cpus=1, os=DEBIAN, glibc="2.36",
                      kernel="6.1.0-18-amd64")
    machine.x86(p.qemu64, hypervisor="TCGTCGTCGTCG")
    yield machine
    # A Linux guest under Rosetta 2: v2, no XSAVE.
    machine = Machine("rosetta", "Apple, Running Intel binaries in Linux VMs with Rosetta", os=DEBIAN,
                      glibc="2.36", kernel="6.6.0")
    machine.x86(p.rosetta)
    yield machine
    # The processor's RDSEED may return 0 and report success: the kernel does not list it.
    machine = Machine("zen5-no-rdseed", APM + "AMD-SB-7055; Linux arch/x86/kernel/cpu/amd.c", cpus=2,
                      os=DEBIAN, glibc="2.36", kernel="6.18.44")
    machine.x86(p.zen5, hypervisor="KVMKVMKVM", mitigation=ENHANCED, unlisted=["rdseed"])
    yield machine
    # Booted with clearcpuid=rdrand; CPUID has it all the same.
    machine = Machine("skylake-clearcpuid", SDM + "Linux kernel-parameters.txt, clearcpuid")
    machine.x86(p.skylake, mitigation=RETPOLINES, unlisted=["rdrand"])
    yield machine
    # A kernel that is too old to know the names withholds nothing.
    machine = Machine("skylake-rhel6", SDM + "Linux 2.6.32, arch/x86/include/asm/cpufeature.h", os=RHEL6,
                      glibc="2.12", kernel="2.6.32-754.el6.x86_64")
    machine.x86(p.skylake, unlisted=["rdrand", "rdseed"])
    yield machine
    spr = SDM + "Xeon data sheet 784473; Linux Documentation/arch/x86/xstate.rst"
    machine = Machine("sapphire-rapids", spr, cpus=96)
    machine.x86(p.sapphire_rapids, mitigation=ENHANCED)
    yield machine
    # Linux 5.15 knows no tiles: XCR0 lacks them, v4 all the same.
    machine = Machine("sapphire-rapids-linux515", spr, kernel="5.15.0-91-generic", glibc="2.35",
                      os=UBUNTU22, cpus=96)
    machine.x86(p.sapphire_rapids, xcr0=0x2E7, xcomp=None, mitigation=ENHANCED)
    yield machine
    # Docker's seccomp of old refuses arch_prctl: whether AMX may be used is not known.
    machine = Machine("sapphire-rapids-docker", spr, cpus=96)
    machine.x86(p.sapphire_rapids, xcomp=None, mitigation=ENHANCED)
    machine.container("docker")
    yield machine
    # The name says Rocket Lake, the features say Sapphire Rapids and more.
    machine = Machine("kvm-amx-guest", SDM + "AVX10 specification 355989", cpus=2, os=DEBIAN,
                      glibc="2.36", kernel="6.1.0-18-amd64")
    machine.x86(p.sapphire_rapids.but("Intel(R) Xeon(R) Processor", 167, 0, plus="avx10_1",
                                      minus="waitpkg enqcmd tsxldtrk"),
                hypervisor="KVMKVMKVM", mitigation=ENHANCED)
    yield machine
    # musl
    machine = Machine("alpine-container", SDM + "musl 1.2.5, ldso", glibc="", os=ALPINE, cpus=4)
    machine.x86(p.ice_lake_server, mitigation=ENHANCED)
    machine.container("docker")
    machine.part("folders")["/lib"] = ["ld-musl-x86_64.so.1"]
    machine.part("programs")["/lib/ld-musl-x86_64.so.1"] = "musl libc (x86_64)\nVersion 1.2.5\n"
    machine.expected["libc"] = {"family": "musl", "version": "1.2"}
    yield machine


def arms():
    arm = "Arm ARM DDI 0487; Linux uapi asm/hwcap.h; "
    # ident, processor, documents, system
    rows = [
        # Armv8.0: no LSE atomics
        ("graviton1", p.cortex_a72, "Cortex-A72 TRM 100095", AL2023, "6.1.0-amzn2023", "2.34"),
        ("graviton2", p.neoverse_n1, "Neoverse N1 TRM 100616", AL2023, "6.1.0-amzn2023", "2.34"),
        # SVE of 64 bytes, no dot product
        ("a64fx", p.a64fx, "A64FX Microarchitecture Manual", RHEL8, "4.18.0-553.el8", "2.28"),
        # SVE of 32 bytes
        ("graviton3", p.neoverse_v1, "Neoverse V1 TRM 101427", UBUNTU22, "6.5.0-aws", "2.35"),
        # the same silicon under a kernel that hides pointer authentication
        ("graviton3-rhel8", p.neoverse_v1.but(minus="paca pacg"), "Neoverse V1 TRM 101427", RHEL8,
         "4.18.0-553.el8", "2.28"),
        # SVE2 of 16 bytes
        ("grace", p.neoverse_v2, "Neoverse V2 TRM 102375; NVIDIA Grace tuning guide", UBUNTU22,
         "6.5.0-nvidia-64k", "2.35"),
        # Armv8.6 without SVE
        ("ampereone", p.ampere1, "AmpereOne documentation; GCC, -mcpu=ampere1", RHEL9, "5.14.0-427.el9",
         "2.34"),
        ("apple-m1-linux", p.apple_m1, "Asahi Linux documentation; LLVM, apple-m1", DEBIAN, "6.6.0-asahi",
         "2.36"),
        # a guest on macOS: SME is not handed on
        ("apple-m4-guest", p.apple_m4, "LLVM, apple-m4; Apple, Virtualization", DEBIAN, "6.6.0", "2.36"),
    ]
    for ident, cpu, documents, system, kernel, glibc in rows:
        machine = Machine(ident, arm + documents, kernel=kernel, glibc=glibc, os=system, arch="aarch64")
        machine.arm(cpu)
        yield machine
    # Two kinds of core; what the kernel tells is what both have.
    machine = Machine("rk3588", arm + "Cortex-A76 TRM 100798; Cortex-A55 TRM 100442", os=DEBIAN,
                      glibc="2.36", kernel="6.1.0-rockchip", arch="aarch64")
    machine.arm(p.cortex_a76_a55, midrs=[(0x41, 0xD05)] * 4 + [(0x41, 0xD0B)] * 4)
    yield machine


def others():
    # The vector extension is told by riscv_hwprobe: IMA, F and D, C, V, Zba, Zbb, Zbs, Zfh, Zvfh …
    machine = Machine("spacemit-x60", "Linux Documentation/arch/riscv/hwprobe.rst; SpacemiT K1 user manual",
                      kernel="6.6.63", glibc="2.39", arch="riscv64")
    machine.riscv("ima fd c v zba zbb zbs zfh zfhmin zvfh zvfhmin".split())
    machine.recording["auxv"] = {"16": hex(sum(1 << ord(c) - ord("a") for c in "imafdcv"))}
    yield machine
    # What QEMU's power9 and power10 show: ARCH_3_00 and VSX; ARCH_3_1 and MMA.
    for ident, hwcap2 in (("power9", 0x8EE00000), ("power10", 0x8EE60000)):
        machine = Machine(ident, "Linux uapi asm/cputable.h; Power ISA 3.0B and 3.1", os=RHEL9,
                          kernel="5.14.0-427.el9.ppc64le", glibc="2.34", arch="ppc64le")
        machine.power({16: 0xDC0065C2, 26: hwcap2})
        yield machine
    machine = Machine("z15", "Linux s390 asm/elf.h; z/Architecture Principles of Operation", os=UBUNTU24,
                      glibc="2.39", arch="s390x")
    machine.s390(2048 | 8192 | 32768 | 0x7FF)
    yield machine


def machines():
    for ident, cpu, documents, arguments in simple():
        machine = Machine(ident, documents)
        machine.x86(cpu, **arguments)
        yield machine
    for group in (hybrids, withheld, arms, others):
        yield from group()
