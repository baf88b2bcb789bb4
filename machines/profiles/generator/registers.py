"""Where each processor feature is told, written from the vendors' documents and on purpose not from
detect/capability_table.inc: tests/machines/tables_test.py compares the two.

x86: Intel SDM volume 2A, CPUID (325383), Architecture Instruction Set Extensions reference (319433);
AMD APM volume 3, appendix E (24594), PPRs. aarch64: Linux uapi asm/hwcap.h; riscv64: Linux
Documentation/arch/riscv/hwprobe.rst; ppc64le: uapi asm/cputable.h; s390x: asm/elf.h.
"""

# register of CPUID(leaf, sub-leaf) -> {bit: name as /proc/cpuinfo spells it}
X86 = {
    (1, 0, "edx"): {0: "fpu", 1: "vme", 2: "de", 3: "pse", 4: "tsc", 5: "msr", 6: "pae", 7: "mce",
                    8: "cx8", 9: "apic", 11: "sep", 12: "mtrr", 13: "pge", 14: "mca", 15: "cmov",
                    16: "pat", 17: "pse36", 19: "clflush", 23: "mmx", 24: "fxsr", 25: "sse",
                    26: "sse2", 28: "ht"},
    (1, 0, "ecx"): {0: "sse3", 1: "pclmulqdq", 3: "monitor", 9: "ssse3", 12: "fma", 13: "cx16",
                    19: "sse4_1", 20: "sse4_2", 21: "x2apic", 22: "movbe", 23: "popcnt",
                    24: "tsc_deadline_timer", 25: "aes", 26: "xsave", 27: "osxsave", 28: "avx",
                    29: "f16c", 30: "rdrand", 31: "hypervisor"},
    (7, 0, "ebx"): {0: "fsgsbase", 1: "tsc_adjust", 3: "bmi1", 4: "hle", 5: "avx2", 7: "smep",
                    8: "bmi2", 9: "erms", 10: "invpcid", 11: "rtm", 16: "avx512f", 17: "avx512dq",
                    18: "rdseed", 19: "adx", 20: "smap", 21: "avx512ifma", 23: "clflushopt",
                    24: "clwb", 26: "avx512pf", 27: "avx512er", 28: "avx512cd", 29: "sha_ni",
                    30: "avx512bw", 31: "avx512vl"},
    (7, 0, "ecx"): {1: "avx512vbmi", 2: "umip", 4: "pku", 5: "waitpkg", 6: "avx512_vbmi2",
                    8: "gfni", 9: "vaes", 10: "vpclmulqdq", 11: "avx512_vnni", 12: "avx512_bitalg",
                    14: "avx512_vpopcntdq", 16: "la57", 22: "rdpid", 25: "cldemote", 27: "movdiri",
                    28: "movdir64b", 29: "enqcmd"},
    (7, 0, "edx"): {2: "avx512_4vnniw", 3: "avx512_4fmaps", 4: "fsrm", 8: "avx512_vp2intersect",
                    14: "serialize", 15: "hybrid", 16: "tsxldtrk", 18: "pconfig", 20: "ibt",
                    22: "amx_bf16", 23: "avx512_fp16", 24: "amx_tile", 25: "amx_int8",
                    26: "spec_ctrl", 28: "flush_l1d"},
    (7, 1, "eax"): {0: "sha512", 1: "sm3", 2: "sm4", 3: "raoint", 4: "avx_vnni", 5: "avx512_bf16",
                    7: "cmpccxadd", 21: "amx_fp16", 23: "avx_ifma", 31: "movrs"},
    (7, 1, "ecx"): {11: "ace"},
    (7, 1, "edx"): {4: "avx_vnni_int8", 5: "avx_ne_convert", 8: "amx_complex", 10: "avx_vnni_int16",
                    14: "prefetchi", 19: "avx10", 21: "apx_f"},
    (0xD, 1, "eax"): {0: "xsaveopt", 1: "xsavec", 3: "xsaves"},
    (0x1E, 1, "eax"): {4: "amx_fp8", 5: "amx_transpose", 6: "amx_tf32", 7: "amx_avx512",
                       8: "amx_movrs"},
    (0x29, 0, "ebx"): {0: "apx_nci_ndd_nf"},
    (0x80000001, 0, "ecx"): {0: "lahf_lm", 5: "abm", 6: "sse4a", 8: "3dnowprefetch", 11: "xop",
                             16: "fma4", 21: "tbm"},
    (0x80000001, 0, "edx"): {11: "syscall", 20: "nx", 27: "rdtscp", 29: "lm", 30: "3dnowext",
                             31: "3dnow"},
    (0x80000008, 0, "ebx"): {0: "clzero", 9: "wbnoinvd", 27: "cppc"},
    (0x80000021, 0, "eax"): {8: "ibrs_enhanced"},
}

# Registers that the operating system must save (Intel SDM volume 1, 13.3: the bits of XCR0).
XCR0 = {"ymm": 0x6, "zmm": 0xE6, "tile": 0x60000, "apx": 0x80000, "ace": 0x160000}
YMM = set("avx avx2 f16c fma fma4 xop vaes vpclmulqdq avx_vnni avx_ifma avx_vnni_int8 avx_vnni_int16 "
          "avx_ne_convert sha512 sm3 sm4".split())
ZMM = set("avx512f avx512dq avx512ifma avx512pf avx512er avx512cd avx512bw avx512vl avx512vbmi "
          "avx512_vbmi2 avx512_vnni avx512_bitalg avx512_vpopcntdq avx512_4vnniw avx512_4fmaps "
          "avx512_vp2intersect avx512_fp16 avx512_bf16 avx10_1 avx10_2 avx10_128 avx10_256 "
          "avx10_512".split())
TILE = set("amx_tile amx_int8 amx_bf16 amx_fp16 amx_complex amx_fp8 amx_transpose amx_tf32 "
           "amx_avx512 amx_movrs".split())
APX = {"apx_f", "apx_nci_ndd_nf"}

# x86-64 psABI, micro-architecture levels. LZCNT is abm, SCE is syscall.
LEVELS = ["cmov cx8 fpu fxsr mmx syscall sse sse2 lm".split(),
          "cx16 lahf_lm popcnt sse3 ssse3 sse4_1 sse4_2".split(),
          "avx avx2 bmi1 bmi2 f16c fma abm movbe osxsave".split(),
          "avx512f avx512bw avx512cd avx512dq avx512vl".split()]

# word of the auxiliary vector -> names, bit 0 first; "" where no name is of use
HWCAP = {
    16: "fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm jscvt fcma "
        "lrcpc dcpop sha3 sm3 sm4 asimddp sha512 sve asimdfhm dit uscat ilrcpc flagm ssbs sb paca "
        "pacg gcs cmpbr fprcvt f8mm8 f8mm4 svef16mm sveeltperm sveaes2 svebfscale sve2p2 sme2p2 "
        "smesbitperm smeaes smesfexpa smestmop smesmop4".split(),
    26: "dcpodp sve2 sveaes svepmull svebitperm svesha3 svesm4 flagm2 frint svei8mm svef32mm "
        "svef64mm svebf16 i8mm bf16 dgh rng bti mte ecv afp rpres mte3 sme smei16i64 smef64f64 "
        "smei8i32 smef16f32 smeb16f32 smef32f32 smefa64 wfxt ebf16 sveebf16 cssc rprfm sve2p1 sme2 "
        "sme2p1 smei16i32 smebi32i32 smeb16b16 smef16f16 mops hbc sveb16b16 lrcpc3 lse128 fpmr lut "
        "faminmax f8cvt f8fma f8dp4 f8dp2 f8e4m3 f8e5m2 smelutv2 smef8f16 smef8f32 smesf8fma smesf8dp4 "
        "smesf8dp2 poe".split(),
    29: "mtefar mtestoreonly lsfe ls64".split(),
}

# name -> what sysctl says it under, after "hw.optional."; the first that there is counts (Apple,
# Determining instruction set characteristics). MTE of Linux is FEAT_MTE2.
DARWIN = {
    "fp": "floatingpoint", "asimd": "arm.AdvSIMD neon", "aes": "arm.FEAT_AES", "pmull": "arm.FEAT_PMULL",
    "sha1": "arm.FEAT_SHA1", "sha2": "arm.FEAT_SHA256", "crc32": "arm.FEAT_CRC32 armv8_crc32",
    "atomics": "arm.FEAT_LSE armv8_1_atomics", "fphp": "arm.FEAT_FP16 neon_fp16",
    "asimdhp": "arm.FEAT_FP16 neon_fp16", "asimdrdm": "arm.FEAT_RDM", "jscvt": "arm.FEAT_JSCVT",
    "fcma": "arm.FEAT_FCMA armv8_3_compnum", "lrcpc": "arm.FEAT_LRCPC", "ilrcpc": "arm.FEAT_LRCPC2",
    "dcpop": "arm.FEAT_DPB", "dcpodp": "arm.FEAT_DPB2", "sha3": "arm.FEAT_SHA3 armv8_2_sha3",
    "sha512": "arm.FEAT_SHA512 armv8_2_sha512", "asimddp": "arm.FEAT_DotProd",
    "asimdfhm": "arm.FEAT_FHM armv8_2_fhm", "dit": "arm.FEAT_DIT", "uscat": "arm.FEAT_LSE2",
    "flagm": "arm.FEAT_FlagM", "flagm2": "arm.FEAT_FlagM2", "ssbs": "arm.FEAT_SSBS", "sb": "arm.FEAT_SB",
    "paca": "arm.FEAT_PAuth", "pacg": "arm.FEAT_PAuth", "frint": "arm.FEAT_FRINTTS",
    "i8mm": "arm.FEAT_I8MM", "bf16": "arm.FEAT_BF16", "ebf16": "arm.FEAT_EBF16", "bti": "arm.FEAT_BTI",
    "ecv": "arm.FEAT_ECV", "afp": "arm.FEAT_AFP", "rpres": "arm.FEAT_RPRES", "wfxt": "arm.FEAT_WFxT",
    "cssc": "arm.FEAT_CSSC", "hbc": "arm.FEAT_HBC", "mte": "arm.FEAT_MTE2", "mte3": "arm.FEAT_MTE3",
    "mtestoreonly": "arm.FEAT_MTE_STORE_ONLY", "sme": "arm.FEAT_SME", "sme2": "arm.FEAT_SME2",
    "sme2p1": "arm.FEAT_SME2p1", "smef32f32": "arm.SME_F32F32", "smebi32i32": "arm.SME_BI32I32",
    "smeb16f32": "arm.SME_B16F32", "smef16f32": "arm.SME_F16F32", "smei8i32": "arm.SME_I8I32",
    "smei16i32": "arm.SME_I16I32", "smef64f64": "arm.FEAT_SME_F64F64", "smei16i64": "arm.FEAT_SME_I16I64",
    "smef16f16": "arm.FEAT_SME_F16F16", "smeb16b16": "arm.FEAT_SME_B16B16",
}

# key of riscv_hwprobe -> names, bit 0 first
HWPROBE = {
    3: ["ima"],
    4: "fd c v zba zbb zbs zicboz zbc zbkb zbkc zbkx zknd zkne zknh zksed zksh zkt zvbb zvbc zvkb zvkg "
       "zvkned zvknha zvknhb zvksed zvksh zvkt zfh zfhmin zihintntl zvfh zvfhmin zfa ztso zacas zicond "
       "zihintpause zve32x zve32f zve64x zve64f zve64d zimop zca zcb zcd zcf zcmop zawrs supm zicntr "
       "zihpm zfbfmin zvfbfmin zvfbfwma zicbom zaamo zalrsc zabha".split(),
    11: ["xtheadvector"],
    13: "xsfvqmaccdod xsfvqmaccqoq xsfvfnrclipxfqf xsfvfwmaccqqq".split(),
    14: ["xmipsexectl"],
}

# word of the auxiliary vector -> {bit: name}; PPC_FEATURE_*, PPC_FEATURE2_*
POWER = {
    16: {30: "64", 28: "altivec", 27: "fpu", 12: "arch_2_05", 10: "dfp", 9: "power6x", 8: "arch_2_06",
         7: "vsx", 1: "true_le"},
    26: {31: "arch_2_07", 30: "htm", 29: "dscr", 28: "ebb", 27: "isel", 26: "tar", 25: "vcrypto",
         24: "htm_nosc", 23: "arch_3_00", 22: "ieee128", 21: "darn", 20: "scv", 19: "htm_no_suspend",
         18: "arch_3_1", 17: "mma"},
}

# AT_HWCAP of s390, bit 0 first
S390 = ("esan3 zarch stfle msa ldisp eimm dfp edat etf3eh highgprs te vx vxd vxe gs vxe2 vxp sort dflt "
        "vxp2 nnpa pcimio sie").split()

# What the Arm architecture versions make mandatory, of what a kernel tells and compilers use unasked
# (Arm ARM DDI 0487, A2.1 onward).
ARM_VERSIONS = [("8a", "fp asimd"), ("8.1a", "crc32 atomics asimdrdm"), ("8.2a", "dcpop"),
                ("8.3a", "jscvt fcma lrcpc paca pacg"), ("8.4a", "asimddp uscat ilrcpc flagm"),
                ("8.5a", "flagm2 frint dcpodp"), ("9.0a", "sve2")]

# The architecture itself: what it builds on, what is mandatory and told, what is mandatory and hidden
# by some kernels.
ARM_ARCHITECTURES = [
    ("8a", [], "fp asimd", ""), ("8.1a", ["8a"], "crc32 atomics asimdrdm", ""),
    ("8.2a", ["8.1a"], "dcpop", ""), ("8.3a", ["8.2a"], "jscvt fcma lrcpc", "paca pacg"),
    ("8.4a", ["8.3a"], "asimddp uscat ilrcpc flagm", "dit"),
    ("8.5a", ["8.4a"], "flagm2 frint dcpodp", "sb ssbs bti"), ("8.6a", ["8.5a"], "i8mm bf16", ""),
    ("8.7a", ["8.6a"], "wfxt afp", ""), ("8.8a", ["8.7a"], "mops hbc", ""), ("8.9a", ["8.8a"], "cssc", ""),
    ("9.0a", ["8.5a"], "sve2", ""), ("9.1a", ["9.0a", "8.6a"], "", ""), ("9.2a", ["9.1a", "8.7a"], "", "")]
