"""Processors: what each microarchitecture has, in the spelling of /proc/cpuinfo.

Sources: Intel SDM volume 1, 5 and Architecture Instruction Set Extensions reference, table 1-1
("recent instruction set extensions" by processor); Intel Xeon and Core data sheets; AMD Software
Optimization Guides and PPRs of families 0Fh, 15h, 16h, 17h, 19h and 1Ah; GCC manual, "x86 Options"
(-march); Zhaoxin in GCC's lujiazui; Arm Technical Reference Manuals; Fujitsu A64FX manual; NVIDIA
Grace and AWS Graviton guides. What a processor lacks is as telling as what it has.
"""


class X86:
    def __init__(self, brand, vendor, family, model, stepping, flags):
        self.brand, self.vendor = brand, vendor
        self.family, self.model, self.stepping = family, model, stepping
        self.flags = frozenset(flags)

    def but(self, brand=None, model=None, stepping=None, plus="", minus=""):
        """The same processor as it came out next, or as something masks it."""
        missing = set(minus.split()) - self.flags
        assert not missing, missing
        return X86(brand or self.brand, self.vendor, self.family,
                   self.model if model is None else model,
                   self.stepping if stepping is None else stepping,
                   (self.flags | set(plus.split())) - set(minus.split()))


def words(*texts):
    return {word for text in texts for word in text.split()}


INTEL, AMD = "GenuineIntel", "AuthenticAMD"
AMD64 = words("fpu vme de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov pat pse36 clflush mmx fxsr "
              "sse sse2 syscall nx lm")
AVX512_SKX = "avx512f avx512dq avx512cd avx512bw avx512vl"
AVX512_ICL = ("avx512ifma avx512vbmi avx512_vbmi2 avx512_vnni avx512_bitalg avx512_vpopcntdq gfni vaes "
              "vpclmulqdq")

# --- Intel --------------------------------------------------------------------------------------
prescott = X86("Intel(R) Pentium(R) 4 CPU 3.00GHz", INTEL, 15, 4, 3,
               AMD64 | words("ht sse3 monitor cx16"))
penryn = X86("Intel(R) Core(TM)2 Duo CPU E8400 @ 3.00GHz", INTEL, 6, 23, 10,
             prescott.flags | words("ssse3 sse4_1 lahf_lm"))
nehalem = X86("Intel(R) Xeon(R) CPU X5570 @ 2.93GHz", INTEL, 6, 26, 5,
              penryn.flags | words("sse4_2 popcnt rdtscp"))
sandy_bridge = X86("Intel(R) Core(TM) i7-2600K CPU @ 3.40GHz", INTEL, 6, 42, 7,
                   nehalem.flags | words("pclmulqdq aes x2apic tsc_deadline_timer xsave osxsave avx "
                                         "xsaveopt"))
haswell = X86("Intel(R) Core(TM) i7-4770 CPU @ 3.40GHz", INTEL, 6, 60, 3,
              sandy_bridge.flags | words("fma movbe f16c rdrand fsgsbase tsc_adjust bmi1 avx2 smep bmi2 "
                                         "erms invpcid abm"))
skylake = X86("Intel(R) Core(TM) i7-6700K CPU @ 4.00GHz", INTEL, 6, 94, 3,
              haswell.flags | words("rdseed adx smap clflushopt xsavec xsaves 3dnowprefetch flush_l1d"))
skylake_server = X86("Intel(R) Xeon(R) Platinum 8175M CPU @ 2.50GHz", INTEL, 6, 85, 4,
                     skylake.flags | words(AVX512_SKX, "clwb pku"))
cascade_lake = skylake_server.but("Intel(R) Xeon(R) Platinum 8275CL CPU @ 3.00GHz", stepping=7,
                                  plus="avx512_vnni")
ice_lake_server = X86("Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz", INTEL, 6, 106, 6,
                      cascade_lake.flags | words(AVX512_ICL, "sha_ni rdpid fsrm umip la57 pconfig"))
rocket_lake = X86("11th Gen Intel(R) Core(TM) i9-11900K @ 3.50GHz", INTEL, 6, 167, 1,
                  skylake.flags | words(AVX512_SKX, AVX512_ICL, "sha_ni rdpid fsrm umip pku"))
alder_lake = X86("12th Gen Intel(R) Core(TM) i9-12900K", INTEL, 6, 151, 2,
                 skylake.flags | words("clwb pku umip sha_ni gfni vaes vpclmulqdq rdpid fsrm waitpkg "
                                       "movdiri movdir64b serialize hybrid ibt avx_vnni"))
# The boards of 2021 that switched the efficient cores off showed what the others have.
alder_lake_avx512 = alder_lake.but(plus=AVX512_SKX + " " + AVX512_ICL +
                                   " avx512_bf16 avx512_fp16 avx512_vp2intersect")
raptor_lake = alder_lake.but("13th Gen Intel(R) Core(TM) i9-13900K", 183, 1)
meteor_lake = alder_lake.but("Intel(R) Core(TM) Ultra 7 155H", 170, 4)
arrow_lake = alder_lake.but("Intel(R) Core(TM) Ultra 9 285K", 198, 2,
                            plus="avx_ifma avx_vnni_int8 avx_vnni_int16 avx_ne_convert cmpccxadd sha512 "
                                 "sm3 sm4")
lunar_lake = arrow_lake.but("Intel(R) Core(TM) Ultra 7 258V", 189, 1)
panther_lake = arrow_lake.but("Intel(R) Core(TM) Ultra X9 388H", 204, 2, plus="prefetchi")
sapphire_rapids = X86("Intel(R) Xeon(R) Platinum 8488C", INTEL, 6, 143, 8,
                      ice_lake_server.flags | words("avx_vnni avx512_bf16 avx512_fp16 amx_tile amx_int8 "
                                                    "amx_bf16 waitpkg cldemote movdiri movdir64b enqcmd "
                                                    "serialize tsxldtrk ibt"))
emerald_rapids = sapphire_rapids.but("INTEL(R) XEON(R) PLATINUM 8592+", 207, 2)
granite_rapids = sapphire_rapids.but("Intel(R) Xeon(R) 6980P", 173, 1, plus="amx_fp16 prefetchi avx10_1")
granite_rapids_d = granite_rapids.but("Intel(R) Xeon(R) 6776P-B", 174, 1, plus="amx_complex")
# Announced; bits from the extensions reference (AVX10.2, APX, AMX-FP8, AMX-TF32, AMX-AVX512, MOVRS).
diamond_rapids = X86("Intel(R) Xeon(R) (Diamond Rapids)", INTEL, 19, 1, 0,
                     granite_rapids_d.flags |
                     words("avx10_2 apx_f apx_nci_ndd_nf movrs amx_fp8 amx_tf32 amx_avx512 amx_movrs avx_ifma "
                           "avx_vnni_int8 avx_vnni_int16 avx_ne_convert cmpccxadd sha512 sm3 sm4"))
knights_landing = X86("Intel(R) Xeon Phi(TM) CPU 7250 @ 1.40GHz", INTEL, 6, 87, 1,
                      (haswell.flags - {"invpcid"}) |
                      words("rdseed adx avx512f avx512pf avx512er avx512cd"))
goldmont = X86("Intel(R) Celeron(R) CPU J3455 @ 1.50GHz", INTEL, 6, 92, 9,
               nehalem.flags | words("pclmulqdq aes x2apic tsc_deadline_timer xsave osxsave xsaveopt "
                                     "xsavec xsaves movbe rdrand rdseed fsgsbase tsc_adjust smep smap erms "
                                     "sha_ni clflushopt 3dnowprefetch"))
tremont = goldmont.but("Intel Atom(R) P5362 @ 2.20GHz", 134, 5,
                       plus="gfni clwb rdpid waitpkg movdiri movdir64b cldemote umip serialize")

# --- AMD and its licensees ----------------------------------------------------------------------
k8 = X86("AMD Athlon(tm) 64 Processor 3200+", AMD, 15, 5, 10, AMD64 | words("3dnow 3dnowext"))
piledriver = X86("AMD FX(tm)-8350 Eight-Core Processor", AMD, 21, 2, 0,
                 AMD64 | words("ht sse3 pclmulqdq monitor ssse3 fma cx16 sse4_1 sse4_2 popcnt aes xsave "
                               "osxsave avx f16c lahf_lm abm sse4a 3dnowprefetch xop fma4 tbm bmi1 rdtscp"))
excavator = X86("AMD FX-9830P RADEON R7, 12 COMPUTE CORES 4C+8G", AMD, 21, 101, 1,
                piledriver.flags | words("movbe rdrand fsgsbase avx2 smep bmi2 xsaveopt"))
jaguar = X86("AMD Athlon(tm) 5350 APU with Radeon(tm) R3", AMD, 22, 0, 1,
             AMD64 | words("ht sse3 pclmulqdq monitor ssse3 cx16 sse4_1 sse4_2 movbe popcnt aes xsave "
                           "osxsave avx f16c lahf_lm abm sse4a 3dnowprefetch bmi1 xsaveopt rdtscp"))
zen1 = X86("AMD EPYC 7551 32-Core Processor", AMD, 23, 1, 2,
           AMD64 | words("ht sse3 pclmulqdq monitor ssse3 fma cx16 sse4_1 sse4_2 movbe popcnt aes xsave "
                         "osxsave avx f16c rdrand lahf_lm abm sse4a 3dnowprefetch rdtscp fsgsbase bmi1 "
                         "avx2 smep bmi2 rdseed adx smap clflushopt sha_ni xsaveopt xsavec xsaves clzero"))
dhyana = X86("Hygon C86 7185 32-core Processor", "HygonGenuine", 24, 0, 1, zen1.flags)
zen2 = zen1.but("AMD EPYC 7R32", 49, 0, plus="clwb rdpid umip wbnoinvd")
zen3 = X86("AMD EPYC 7R13 Processor", AMD, 25, 1, 1,
           zen2.flags | words("vaes vpclmulqdq pku invpcid erms fsrm"))
zen4 = zen3.but("AMD EPYC 9R14", 17, 1,
                plus=AVX512_SKX + " " + AVX512_ICL + " avx512_bf16 la57 cppc ibrs_enhanced flush_l1d")
zen5 = X86("AMD EPYC 9655 96-Core Processor", AMD, 26, 2, 1,
           zen4.flags | words("avx_vnni avx512_vp2intersect movdiri movdir64b prefetchi tsc_adjust"))
raphael = zen4.but("AMD Ryzen 9 7950X 16-Core Processor", 97, 2)
strix_halo = zen5.but("AMD RYZEN AI MAX+ 395 w/ Radeon 8060S", 112, 0)
lujiazui = X86("ZHAOXIN KaiXian KX-U6780A@2.7GHz", "  Shanghai  ", 7, 59, 0,
               AMD64 | words("ht sse3 pclmulqdq ssse3 cx16 sse4_1 sse4_2 movbe popcnt aes xsave osxsave "
                             "avx f16c rdrand lahf_lm abm fsgsbase bmi1 avx2 smep bmi2 erms rdseed adx "
                             "smap clflushopt sha_ni xsaveopt rdtscp"))

# --- as hypervisors and translators show processors ---------------------------------------------
qemu64 = X86("QEMU Virtual CPU version 2.5+", AMD, 15, 107, 1,
             AMD64 | words("sse3 cx16 hypervisor"))
rosetta = X86("VirtualApple @ 2.50GHz", "VirtualApple", 6, 44, 0,
              (nehalem.flags - words("monitor ht")) | words("aes pclmulqdq"))


class Arm:
    def __init__(self, name, implementer, part, flags, sve_bytes=None):
        self.name, self.implementer, self.part = name, implementer, part
        self.flags, self.sve_bytes = frozenset(flags), sve_bytes

    def but(self, plus="", minus=""):
        assert not set(minus.split()) - self.flags
        return Arm(self.name, self.implementer, self.part,
                   (self.flags | set(plus.split())) - set(minus.split()), self.sve_bytes)


CRYPTO = "aes pmull sha1 sha2 crc32"
cortex_a72 = Arm("Cortex-A72", 0x41, 0xD08, words("fp asimd evtstrm cpuid", CRYPTO))
cortex_a76_a55 = Arm("Cortex-A76", 0x41, 0xD0B,
                     cortex_a72.flags | words("atomics fphp asimdhp asimdrdm lrcpc dcpop asimddp"))
neoverse_n1 = Arm("Neoverse-N1", 0x41, 0xD0C, cortex_a76_a55.flags | words("ssbs"))
a64fx = Arm("A64FX", 0x46, 0x001,
            words("fp asimd evtstrm sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm fcma dcpop sve"), 64)
neoverse_v1 = Arm("Neoverse-V1", 0x41, 0xD40,
                  neoverse_n1.flags | words("jscvt fcma sha3 sm3 sm4 sha512 sve asimdfhm dit uscat ilrcpc "
                                            "flagm paca pacg dcpodp svei8mm svebf16 i8mm bf16 dgh rng"), 32)
neoverse_v2 = Arm("Neoverse-V2", 0x41, 0xD4F,
                  (neoverse_v1.flags - {"rng"}) |
                  words("sb sve2 sveaes svepmull svebitperm svesha3 svesm4 flagm2 frint bti"), 16)
ampere1 = Arm("Ampere-1", 0xC0, 0xAC3,
              (neoverse_v1.flags - words("sve svei8mm svebf16 dgh")) |
              words("sb flagm2 frint bti ecv"))
apple_m1 = Arm("Firestorm", 0x61, 0x023,
               neoverse_n1.flags | words("jscvt fcma sha3 sha512 asimdfhm dit uscat ilrcpc flagm sb paca "
                                         "pacg dcpodp flagm2 frint"))
# As a Linux guest on macOS: SME is not handed on.
apple_m4 = Arm("Apple M4 (guest)", 0x61, 0x000, apple_m1.flags | words("i8mm bf16 bti ecv afp wfxt"))
kunpeng_920 = Arm("TSV110", 0x48, 0xD01,
                  cortex_a76_a55.flags.difference({"lrcpc"}) | words("jscvt fcma asimdfhm ssbs"))
cortex_a78ae = Arm("Cortex-A78AE", 0x41, 0xD42,
                   cortex_a76_a55.flags | words("uscat ilrcpc flagm paca pacg"))
neoverse_v3ae = Arm("Neoverse-V3AE", 0x41, 0xD83,
                    neoverse_v2.flags.difference(words("sm3 sm4 svesm4")) | words("ecv afp wfxt"), 16)
# Without what Linux alone tells of an Armv8.6: no afp and rpres, which the second generation has.
oryon = Arm("Snapdragon(R) X Elite - X1E80100 - Qualcomm(R) Oryon(TM) CPU", 0x51, 0x001,
            ampere1.flags | words("sm3 sm4"))
