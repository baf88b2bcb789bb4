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
                            "tile" if name in registers.TILE else "apx" if name == "apx_f" else None)
                if expected:
                    self.assertEqual(state, expected)
                else:
                    self.assertIn(state, ("none", "xmm"))
        self.assertGreater(compared, 90)

    def test_every_flag_of_the_program_is_in_the_generator(self):
        ours = {name for bits in registers.X86.values() for name in bits.values()}
        known = {name for name, leaf, *_ in rows("X86") if int(leaf, 0) != 0x24}
        # Too new for any machine of the table.
        self.assertLessEqual(known - ours, {"ace"})

    def test_aarch64_bits(self):
        words = {16: 1, 26: 2}
        ours = {f"arm_{name}": (words[word], bit) for word, names in registers.HWCAP.items()
                for bit, name in enumerate(names) if name}
        compared = 0
        for arch, name, word, bit in rows("KERNEL"):
            if arch != "aarch64" or name not in ours:
                continue
            compared += 1
            with self.subTest(name):
                self.assertEqual(ours[name], (int(word), int(bit)))
        self.assertGreater(compared, 65)

    def test_profiles_are_what_the_tables_say(self):
        done = subprocess.run([sys.executable, "-B", str(GENERATOR / "make_profiles.py"), "--check"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr +
                         "run machines/profiles/generator/make_profiles.py")


if __name__ == "__main__":
    unittest.main()
