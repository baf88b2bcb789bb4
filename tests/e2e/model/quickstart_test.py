"""The commands of docs/quickstart-model.md, as they stand there, with the index that is configured. Only with AXLE_TEST_REGISTRY=1."""

import json
import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import BIN, SOURCE, TestCase

# Enough to see that one is chosen: each takes minutes to compile.
LABELS = ["null", "x86_64_v3"]


def documented():
    """(command, what it is said to print), in their order."""
    commands = []
    for line in (SOURCE / "docs/quickstart-model.md").read_text().splitlines():
        if line.startswith("    $ "):
            commands.append((line[6:], []))
        elif line.startswith("    "):
            commands[-1][1].append(line[4:])
    return commands


class QuickStart(TestCase):
    def setUp(self):
        if os.environ.get("AXLE_TEST_REGISTRY") != "1":
            self.skipTest("AXLE_TEST_REGISTRY=1 is not set: nothing was asked of the configured registry")
        super().setUp()
        programs = self.root / "programs"
        programs.mkdir()
        for name in ("variant", "variant-install"):
            (programs / name).symlink_to(BIN / "variant")
        self.env = {key: value for key, value in os.environ.items() if key not in ("VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH")}
        self.env |= {"PATH": f"{programs}:{self.env['PATH']}", "AXLE_CACHE_DIR": str(self.root / "cache")}

    def run_line(self, line, timeout=900):
        return subprocess.run(["bash", "-c", line], env=self.env, cwd=self.root, text=True, capture_output=True, timeout=timeout)

    def build_index(self):
        for label in LABELS:
            done = self.run_line(f"variant build {SOURCE}/runtime --variant {label} --out wheels", timeout=1700)
            self.assertEqual(done.returncode, 0, done.stderr)
        done = self.run_line("variant index build wheels --out index")
        self.assertEqual(done.returncode, 0, done.stderr)
        return f"file://{self.root}/index/simple"

    def test_the_commands_do_what_they_are_said_to(self):
        index, commands = self.build_index(), documented()
        self.assertEqual(len(commands), 6)
        for command, told in commands:
            with self.subTest(command):
                done = self.run_line(command.replace("INDEX", index))
                self.assertEqual(done.returncode, 0, done.stderr)
                if told:
                    self.assertEqual(done.stdout.splitlines(), told)
                elif "--json" in command:
                    self.assertEqual([len(vector) for vector in json.loads(done.stdout)["vectors"]], [384, 384])
        installed = json.loads(next((self.root / "models").glob("axle_runtime-*.dist-info/variant.json")).read_text())
        print(f"the runtime's variant: {list(installed['variants'])}", file=sys.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
