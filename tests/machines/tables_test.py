"""The generator's tables against the program's: both say where each feature is told, written apart.

Also: the profiles and expected files in the tree are what the generator makes of its tables.
"""

import os
import pathlib
import re
import subprocess
import sys
import unittest

SOURCE = pathlib.Path(os.environ.get("AXLE_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
GENERATOR = SOURCE / "machines" / "profiles" / "generator"
sys.path.insert(0, str(GENERATOR))
sys.dont_write_bytecode = True

AUXV = {16: 1, 26: 2, 29: 3}  # getauxval's type -> the table's word

import registers  # noqa: E402


def rows(kind):
    text = (SOURCE / "detect" / "capability_table.inc").read_text()
    for found in re.finditer(rf"^AXLE_CAPABILITY_{kind}\(([^\"]*)", text, re.MULTILINE):
        yield [field.strip() for field in found.group(1).rstrip(", ").split(",")]


class Tables(unittest.TestCase):
    def test_x86_bits(self):
        ours = {name: (leaf, sub, register, bit) for (leaf, sub, register), bits in registers.X86.items()
                for bit, name in bits.items()}
        compared = 0
        for name, leaf, sub, register, bit, state in rows("X86"):
            place = (int(leaf, 0), int(sub, 0), register, int(bit, 0))
            if place[0] == 0x24 or name not in ours:
                continue
            compared += 1
            with self.subTest(name):
                self.assertEqual(ours[name], place)
                expected = ("ymm" if name in registers.YMM else "zmm" if name in registers.ZMM else
                            "tile" if name in registers.TILE else "apx" if name in registers.APX else
                            "ace" if name == "ace" else None)
                if expected:
                    self.assertEqual(state, expected)
                else:
                    self.assertIn(state, ("none", "xmm"))
        self.assertGreater(compared, 90)

    def test_every_flag_of_the_program_is_in_the_generator(self):
        ours = {name for bits in registers.X86.values() for name in bits.values()}
        known = {name for name, leaf, *_ in rows("X86") if int(leaf, 0) != 0x24}
        self.assertEqual(known - ours, set(), "write it into machines/profiles/generator/registers.py too, from the vendor's document")

    def check_kernel_rows(self, wanted, ours):
        program = {name: (int(word), int(bit)) for arch, name, word, bit in rows("KERNEL") if arch == wanted}
        self.assertEqual(program, ours, "write it into machines/profiles/generator/registers.py too, from the kernel's header")

    def test_aarch64_bits(self):
        self.check_kernel_rows("aarch64", {
            f"arm_{name}": (AUXV[word], bit) for word, names in registers.HWCAP.items()
            for bit, name in enumerate(names)})

    def test_names_of_macos(self):
        text = (SOURCE / "detect" / "cpu" / "darwin.cpp").read_text()
        program = {name: " ".join(filter(None, names)) for name, *names in
                   re.findall(r'\{arm_(\w+), "([\w.]+)"(?:, "(\w+)")?\}', text)}
        self.assertEqual(program, registers.DARWIN, "write it into machines/profiles/generator/registers.py too")
        self.assertGreater(len(program), 50)

    def test_riscv64_bits(self):
        self.check_kernel_rows("riscv64", {
            f"riscv_{name}": (key, bit) for key, names in registers.HWPROBE.items()
            for bit, name in enumerate(names)})

    def test_ppc64le_bits(self):
        self.check_kernel_rows("ppc64le", {
            f"power_{name}": (AUXV[word], bit) for word, bits in registers.POWER.items()
            for bit, name in bits.items()})

    def test_s390x_bits(self):
        self.check_kernel_rows("s390x", {f"s390_{name}": (1, bit)
                                         for bit, name in enumerate(registers.S390)})

    def check_headers(self, header, pattern, bits):
        """Every macro that a C library's or kernel's header defines and `bits` names has that bit."""
        path = pathlib.Path(header)
        if not path.is_file():
            self.skipTest(f"{header} is not installed (Debian: the cross compiler's headers)")
        compared = 0
        for name, value in re.findall(pattern, path.read_text(), re.MULTILINE):
            if name in bits:
                compared += 1
                with self.subTest(name):
                    number = (1 << int(value.split("<<")[1].strip(" )UL"))) if "<<" in value else int(value, 0)
                    self.assertEqual(number, 1 << bits[name])
        return compared

    def test_aarch64_bits_in_the_kernel_header(self):
        for prefix, word, least in (("HWCAP_", 16, 32), ("HWCAP2_", 26, 30)):
            bits = {name.upper(): bit for bit, name in enumerate(registers.HWCAP[word])}
            # Where the kernel writes a name with underscores.
            bits.update({"SME_" + name[3:].upper(): bit for name, bit in
                         ((name, bit) for bit, name in enumerate(registers.HWCAP[word]))
                         if name.startswith("sme") and name not in ("sme", "sme2", "sme2p1")})
            compared = self.check_headers("/usr/aarch64-linux-gnu/include/asm/hwcap.h",
                                          rf"^#define {prefix}(\w+)\s+(\(.*\))", bits)
            self.assertGreaterEqual(compared, least)

    def test_ppc64le_bits_in_the_kernel_header(self):
        names = {"TRUE_LE": 1, "POWER6_EXT": 9, "HAS_VSX": 7, "HAS_ALTIVEC": 28, "HAS_FPU": 27,
                 "HAS_DFP": 10, "64": 30, "ARCH_2_05": 12, "ARCH_2_06": 8}
        ours = {bit for bit in registers.POWER[16]}
        self.assertEqual(ours, set(names.values()))
        header = "/usr/powerpc64le-linux-gnu/include/asm/cputable.h"
        self.assertEqual(self.check_headers(header, r"^#define PPC_FEATURE_(\w+)\s+(0x\w+)", names), 9)
        names = {name.upper(): bit for bit, name in registers.POWER[26].items()}
        names.update(VEC_CRYPTO=25, HAS_ISEL=27, HAS_TAR=26, HAS_EBB=28, HAS_DSCR=29, HTM_NOSC=24,
                     HAS_IEEE128=22)
        self.assertGreaterEqual(
            self.check_headers(header, r"^#define PPC_FEATURE2_(\w+)\s+(0x\w+)", names), 13)

    def test_s390x_bits_in_the_c_library(self):
        kernel = {"HIGH_GPRS": "highgprs", "VXRS": "vx", "VXRS_BCD": "vxd", "VXRS_EXT": "vxe",
                  "VXRS_EXT2": "vxe2", "VXRS_PDE": "vxp", "VXRS_PDE2": "vxp2", "HPAGE": "edat"}
        bits = {name.upper(): bit for bit, name in enumerate(registers.S390)}
        bits.update({name: registers.S390.index(ours) for name, ours in kernel.items()})
        compared = self.check_headers("/usr/s390x-linux-gnu/include/bits/hwcap.h",
                                      r"^#define HWCAP_S390_(\w+)\s+(\d+|0x\w+|\(.*\))", bits)
        self.assertGreaterEqual(compared, 17)

    def test_profiles_are_what_the_tables_say(self):
        done = subprocess.run([sys.executable, "-B", str(GENERATOR / "make_profiles.py"), "--check"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr +
                         "run machines/profiles/generator/make_profiles.py")


if __name__ == "__main__":
    unittest.main()
