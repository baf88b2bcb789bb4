"""`variant detect` for people and for programs: 80 columns, no colours in a pipe, canonical JSON."""

import json
import os
import pathlib
import pty
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import SOURCE, VARIANT, TestCase

PROFILES = sorted((SOURCE / "machines/profiles").glob("*.json"))


class Terminal(TestCase):
    def detect(self, machine, *arguments):
        result = self.variant("detect", "--for", machine, *arguments)
        self.assertEqual(result.code, 0, str(result))
        return result.out

    def test_every_shipped_machine_fits_into_80_columns(self):
        for path in PROFILES:
            for arguments in ((), ("--verbose",)):
                for line in self.detect(path, *arguments).splitlines():
                    with self.subTest(machine=path.stem, line=line):
                        # A word of its own (a path) may be longer; nothing is broken inside.
                        self.assertTrue(len(line) <= 80 or " " not in line.strip(), line)
                        self.assertNotIn("\x1b", line)

    def test_a_problem_is_told_once(self):
        text = " ".join(self.detect("docker-without-gpus").split())
        self.assertEqual(text.count("but no /dev/nvidia* here"), 1)
        self.assertIn("not usable: nvidia.no-device-nodes", text)
        self.assertIn("hint: in a container: start it with --gpus all", text)

    def test_each_gpu_and_what_it_is_in(self):
        self.assertEqual(self.detect("p5-h100x8").count("\nGPU "), 8)
        self.assertIn("in MIG instances", " ".join(self.detect("a100-mig").split()))
        self.assertIn("Jetson Linux 36.4.3", self.detect("jetson-orin-jp6"))
        self.assertIn("Windows Subsystem", self.detect("wsl-rtx4090"))
        self.assertRegex(self.detect("none"), r"GPU +none")
        self.assertIn("hidden by a device mask", " ".join(self.detect("h100x2-masked").split()))

    def test_what_only_a_kernel_uses_is_left_to_verbose(self):
        self.assertNotIn("tsc_adjust", self.detect("sapphire-rapids"))
        self.assertIn("tsc_adjust", self.detect("sapphire-rapids", "--verbose"))

    def test_colours_are_for_terminals(self):
        def in_terminal(*arguments):
            out = b""
            child, end = pty.fork()
            if child == 0:
                os.environ.update(TERM="xterm", HOME=str(self.root))
                os.environ.pop("NO_COLOR", None)
                os.execv(VARIANT, [str(VARIANT), "detect", "--for", "driver-mismatch", *arguments])
            while True:
                try:
                    part = os.read(end, 4096)
                except OSError:
                    break
                if not part:
                    break
                out += part
            os.waitpid(child, 0)
            os.close(end)
            return out

        self.assertIn(b"\x1b[31m", in_terminal())
        self.assertNotIn(b"\x1b", in_terminal("--no-color"))

    def test_names_from_a_profile_steer_no_terminal(self):
        path = self.root / "evil.json"
        path.write_text(json.dumps({
            "schema_version": 1, "origin": {"kind": "synthesised", "source": "a test", "date": "2026-11-20"},
            "cpu": {"arch": "x86_64", "brand": "a\x1b[2Jb"},
            "gpus": [{"vendor": "nvidia", "name": "x\x1b]0;title\x07", "arch": "9.0", "usable": "present"}]}))
        result = self.variant("detect", "--for", path)
        self.assertNotIn("\x1b", result.out + result.err)


class Json(TestCase):
    def test_the_same_facts_are_the_same_bytes(self):
        for machine in ("p5-h100x8", "rtx5090-rtx2080", "mi300x8-rocm64", "arc-a770-rtx3060", "ascend-910b"):
            first = self.variant("detect", "--json", "--for", machine)
            again = self.variant("detect", "--json", "--for", machine)
            self.assertEqual(first.out, again.out)
            gpus = [one["pci_address"] for one in first.json["gpus"]]
            self.assertEqual(gpus, sorted(gpus))
            self.assertEqual(first.out, json.dumps(first.json, indent=2, ensure_ascii=False) + "\n")

    def test_this_machine_too(self):
        first, again = (self.variant("detect", "--json").out for _ in range(2))
        self.assertEqual(first, again)

    def test_the_keys_of_the_contract(self):
        body = self.variant("detect", "--json", "--for", "p5-h100x8").json
        self.assertLessEqual({"schema_version", "cpu", "gpus", "drivers", "os", "libc", "problems"}, set(body))
        words = list(body["cpu"]["capabilities"])
        self.assertEqual(words, sorted(words))


if __name__ == "__main__":
    unittest.main()
