"""docs/provider-sdk.md followed literally, in an empty folder: every command of it, in its order, in one shell."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import BIN, SOURCE, TestCase

PAGE = SOURCE / "docs/provider-sdk.md"


def commands_of(page):
    return re.findall(r"^```sh\n(.*?)^```$", page, re.S | re.M)


class Page(TestCase):
    def test_from_nothing_to_a_chosen_variant(self):
        for tool in ("bash", "cmake", "c++", "python3"):
            if shutil.which(tool) is None:
                self.skipTest(f"{tool} is not here: the page cannot be followed")
        if not os.path.exists("/sys/class/mem/zero/dev"):
            self.skipTest("/sys/class/mem/zero is not here: the template's devices cannot be found")
        blocks = commands_of(PAGE.read_text())
        self.assertGreaterEqual(len(blocks), 8)
        empty = self.root / "empty"
        empty.mkdir()
        env = {**self.env, "PATH": f"{BIN}:/usr/bin:{self.env['PATH']}", "PYTHONDONTWRITEBYTECODE": "1"}
        # Each block says that it is through, so that a failure names the one that was not.
        script = "".join(f"{block}echo '=== block {number} ==='\n" for number, block in enumerate(blocks))
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=empty, env=env, text=True,
                              capture_output=True, timeout=500, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, f"{done.stdout}\n{done.stderr}")
        parts = re.split(r"^=== block \d+ ===\n", done.stdout, flags=re.M)
        said = {number: part for number, part in enumerate(parts)}
        by_command = {command: said[number] for number, block in enumerate(blocks)
                      for command in block.splitlines()}

        checked = by_command["variant providers check build/acme_provider.so"]
        self.assertRegex(checked, r"(?m)^ok +stable +100 runs")
        self.assertNotRegex(checked, r"(?m)^fail")
        self.assertIn("device: zero", by_command["variant providers show acme"])
        self.assertTrue(by_command["variant rank wheels/demo-1.0-py3-none-any-with_zero.whl"]
                        .rstrip().endswith("with_zero"))
        self.assertIn("with_zero", by_command["variant list --python venv"])
        without = by_command["variant providers disable acme"]
        self.assertIn("null", without)
        self.assertNotRegex(without, r"(?m)^demo.*with_zero")

        # What is there in the end came from the Python plugin: the shared object is no longer trusted.
        installed = self.variant("list", "--json", "--python", empty / "venv")
        packages = {one["name"]: one["variant"] for one in self.assert_ok(installed).json["packages"]}
        self.assertEqual(packages["demo"], "with_zero")
        shown = self.assert_ok(self.variant("providers", "list", "--json", env=env)).json["providers"]
        kinds = {one["kind"] for one in shown if one["package"] and "acme" in one["package"]}
        self.assertEqual(kinds, {"python"})


if __name__ == "__main__":
    unittest.main()
