"""The wheel `variant-install`: what `variant build` makes of the one program, installed by pip and uv."""

import pathlib
import platform
import sys
import unittest
import zipfile

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1]), str(pathlib.Path(__file__).resolve().parent)]
import released
from support import PYTHON, SOURCE, TestCase, Wheel


class WheelTest(TestCase):
    def setUp(self):
        super().setUp()
        self.program = released.native()
        self.architecture = platform.machine()
        result = self.variant("build", SOURCE / "cli/wheel", "--arch", self.architecture, "--out", self.root / "dist", "--no-cache",
                              program=self.program)
        self.assert_ok(result)
        self.wheel = next((self.root / "dist").glob("*.whl"))

    def test_it_says_what_it_needs_and_keeps_it(self):
        self.assertRegex(self.wheel.name, rf"^variant_install-[0-9.]+-py3-none-manylinux_2_17_{self.architecture}"
                                          rf"(\.manylinux2014_{self.architecture})?\.whl$")
        with zipfile.ZipFile(self.wheel) as archive:
            modes = {info.filename: info.external_attr >> 16 for info in archive.infolist()}
        scripts = {pathlib.PurePath(name).name: mode for name, mode in modes.items() if ".data/scripts/" in name}
        self.assertEqual(set(scripts), {"variant", "variant-install"})
        self.assertTrue(all(mode & 0o111 for mode in scripts.values()), scripts)
        self.assertTrue([name for name in modes if name.startswith("variant_install/licenses/")])
        self.assert_ok(self.variant("audit", self.wheel, program=self.program))

    def test_pip_installs_it(self):
        self.make_venv()
        self.assert_ok(self.pip("install", "--no-index", self.wheel))
        self.check_installed(self.venv / "bin")

    def test_uv_installs_it(self):
        self.make_venv()
        self.assert_ok(self.uv("pip", "install", "--no-index", "--offline", "--python", self.venv / "bin/python", self.wheel))
        self.check_installed(self.venv / "bin")

    def test_it_installs_itself(self):
        self.make_venv()
        self.assert_ok(self.variant("install", self.wheel, "--no-index", "--python", self.venv, program=self.program))
        self.check_installed(self.venv / "bin")

    def test_uvx_runs_it(self):
        ran = self.peer("uvx", "--offline", "--no-index", "--from", self.wheel, "variant-install", "--version", env={"UV_PYTHON": PYTHON})
        self.assertEqual(self.assert_ok(ran).out, self.variant("--version", program=self.program).out)

    def check_installed(self, folder):
        for name in ("variant", "variant-install"):
            self.assert_ok(self.variant("--version", program=folder / name))
        module = self.variant("-m", "variant_install", "--version", program=folder / "python")
        self.assertEqual(self.assert_ok(module).out, self.variant("--version", program=self.program).out)
        wheel = Wheel("demo", "1.0").write(self.root / "packages")
        self.assert_ok(self.variant("demo", "--no-index", "--find-links", wheel.parent, "--python", self.venv,
                                    program=folder / "variant-install"))
        self.assert_ok(self.variant("check", "--python", self.venv, program=folder / "variant"))


if __name__ == "__main__":
    unittest.main()
