"""Against what we did not write: a real index, pip, uv. Only with AXLE_TEST_REGISTRY=1, part of the release checklist."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

from support import BIN, PYTHON, SOURCE, VARIANT, TestCase

WANTED = ["numpy", "requests", "rich", "pandas", "scikit-learn"]
IMPORTS = ["numpy", "requests", "rich", "pandas", "sklearn"]


@unittest.skipUnless(os.environ.get("AXLE_TEST_REGISTRY") == "1",
                     "AXLE_TEST_REGISTRY=1 is not set: nothing was asked of the configured registry")
class Registry(TestCase):
    def setUp(self):
        super().setUp()
        # The caller's configuration is what is tested here; only home and cache are our own.
        home = self.env["HOME"]
        self.env = {key: value for key, value in os.environ.items()
                    if key not in ("VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH")}
        self.env["AXLE_CACHE_DIR"] = home + "/axle-cache"

    def pip(self, *arguments, python=PYTHON):
        return subprocess.run([python, "-m", "pip", *map(str, arguments)], env=self.env, text=True,
                              capture_output=True, timeout=600)

    def test_well_known_packages_install_import_and_agree_with_pip(self):
        self.make_venv()
        done = subprocess.run([str(VARIANT), "install", *WANTED, "--python", str(self.venv)],
                              env=self.env, text=True, capture_output=True, timeout=900)
        self.assertEqual(done.returncode, 0, done.stderr)
        for module in IMPORTS:
            self.python(f"import {module}")
        python = str(self.venv / "bin/python")
        # The environment has no pip of its own; another one looks at it from outside.
        check = self.pip("--python", python, "check")
        self.assertEqual(check.returncode, 0, check.stdout + check.stderr)
        listed = json.loads(self.pip("--python", python, "list", "--format", "json").stdout)
        theirs = {one["name"].lower().replace("_", "-"): one["version"] for one in listed}
        listing = subprocess.run([str(VARIANT), "list", "--json", "--python", python], env=self.env, text=True,
                                 capture_output=True, check=True)
        ours = {one["name"].lower().replace("_", "-"): one["version"]
                for one in json.loads(listing.stdout)["packages"]}
        self.assertEqual(ours, theirs)

    def test_uv_installs_our_runtime_and_picks_the_label_that_we_pick(self):
        tools = self.root / "tools"
        subprocess.run([PYTHON, "-m", "venv", str(tools)], check=True, env=self.env)
        got = subprocess.run([tools / "bin/pip", "install", "--quiet", "uv"], env=self.env, text=True, capture_output=True)
        if got.returncode != 0:
            self.skipTest("uv could not be installed: " + got.stderr[-300:])
        self.assert_ok(self.variant("build", SOURCE / "runtime", "--out", self.root / "wheels"))
        self.assert_ok(self.variant("index", "build", self.root / "wheels", "--out", self.root / "index"))
        venv = self.make_venv()
        served = subprocess.Popen([BIN / "index_server", str(self.root / "index")], stdout=subprocess.PIPE, text=True)
        try:
            port = int(served.stdout.readline().split()[-1].rsplit(":")[-1].strip("/"))
            done = subprocess.run(
                [tools / "bin/uv", "pip", "install", "axle-runtime", "--python", venv / "bin/python",
                 "--preview-features", "wheel-variants", "--default-index", f"http://127.0.0.1:{port}/simple"],
                env={**self.env, "UV_CACHE_DIR": str(self.root / "uv-cache"), "UV_NO_CONFIG": "1"},
                text=True, capture_output=True, timeout=120)
            self.assertEqual(done.returncode, 0, done.stderr)
        finally:
            served.terminate()
            served.wait()
        picked = json.loads(next(self.site().glob("axle_runtime-*.dist-info/variant.json")).read_text())
        # uv's providers know the level of the CPU and nothing of single flags or of our namespace.
        levels = self.assert_ok(self.variant("properties", "--json")).json["properties"]["x86_64"]["level"]
        lists = self.root / "lists.json"
        lists.write_text(json.dumps({"x86_64": {"level": levels}}))
        metadata = next((self.root / "index").rglob("axle_runtime-*-variants.json"))
        ranked = self.assert_ok(self.variant("rank", metadata, "--supported", lists, "--json")).json["ranked"]
        self.assertEqual(list(picked["variants"]), [ranked[0]["label"]])
        self.python("import axle_runtime; axle_runtime.selftest()")


if __name__ == "__main__":
    unittest.main(verbosity=2)
