"""The wheel `variant-install`: what `variant build` makes of the one program, installed by pip and uv; and that for aarch64 in
an emulator."""

import pathlib
import platform
import sys
import unittest
import zipfile

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1]), str(pathlib.Path(__file__).resolve().parent)]
import released
from support import PYTHON, TestCase, Wheel


class EachWheelTest(TestCase):
    """Of all architectures that were built."""

    def wheels(self):
        for program in released.programs():
            architecture = program.parent.name
            with self.subTest(architecture):
                yield architecture, released.build_wheel(architecture)

    def test_it_says_what_it_needs_and_keeps_it(self):
        for architecture, wheel in self.wheels():
            self.assertRegex(wheel.name, rf"^variant_install-[0-9.]+-py3-none-manylinux2014_{architecture}\.manylinux_2_17_{architecture}\.whl$")
            with zipfile.ZipFile(wheel) as archive:
                modes = {info.filename: info.external_attr >> 16 for info in archive.infolist()}
            scripts = {pathlib.PurePath(name).name: mode for name, mode in modes.items() if ".data/scripts/" in name}
            self.assertEqual(set(scripts), {"variant", "variant-install"})
            self.assertTrue(all(mode & 0o111 for mode in scripts.values()), scripts)
            self.assertTrue([name for name in modes if name.startswith("variant_install/licenses/")])
            self.assert_ok(self.variant("audit", wheel))

    def test_pip_takes_it_by_its_old_name_too(self):
        """manylinux2014 is all that pip 19.3 to 20.2 knows; with --platform, pip takes exactly what that stands for."""
        for architecture, wheel in self.wheels():
            for platform_tag in (f"manylinux2014_{architecture}", f"manylinux_2_17_{architecture}"):
                into = self.root / platform_tag
                self.assert_ok(self.peer("python", "-m", "pip", "download", "variant-install", "--no-index", "--find-links", wheel.parent, "--dest", into,
                                         "--only-binary=:all:", "--python-version", "3.8", "--platform", platform_tag))
                self.assertTrue((into / wheel.name).exists())

    def test_the_name_is_in_the_order_that_packaging_asks_for(self):
        code = "import sys; from packaging.utils import parse_wheel_filename as parse; print(len(parse(sys.argv[1], validate_order=True)[3]))"
        for _, wheel in self.wheels():
            self.assertEqual(self.assert_ok(self.peer("python", "-c", code, wheel.name)).out, "2\n")


class WheelTest(TestCase):
    """Of the architecture of this machine."""

    def setUp(self):
        super().setUp()
        self.program, self.prefix = released.native(), ()
        self.wheel = released.build_wheel(platform.machine())

    def run_program(self, *arguments, program):
        return self.variant(*arguments, program=program, prefix=self.prefix)

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
            self.assert_ok(self.run_program("--version", program=folder / name))
        module = self.run_program("-m", "variant_install", "--version", program=folder / "python")
        self.assertEqual(self.assert_ok(module).out, self.run_program("--version", program=self.program).out)
        wheel = Wheel("demo", "1.0").write(self.root / "packages")
        self.assert_ok(self.run_program("demo", "--no-index", "--find-links", wheel.parent, "--python", self.venv,
                                        program=folder / "variant-install"))
        self.assert_ok(self.run_program("check", "--python", self.venv, program=folder / "variant"))


class EmulatedWheelTest(TestCase):
    """The wheel for aarch64, as pip installs it for other machines; on Debian for aarch64 see debian_releases_test."""

    def test_what_pip_installed_starts(self):
        wheel = released.build_wheel("aarch64")
        into = self.root / "site"
        self.assert_ok(self.peer("python", "-m", "pip", "install", wheel, "--no-index", "--target", into, "--only-binary=:all:",
                                 "--platform", "manylinux2014_aarch64", "--python-version", "3.8"))
        prefix = released.emulated()
        self.env |= released.EMULATION
        said = self.assert_ok(self.variant("--version", program=into / "bin/variant", prefix=prefix)).out
        self.assertEqual(self.assert_ok(self.variant("--version", program=into / "bin/variant-install", prefix=prefix)).out, said)
        module = self.variant("-m", "variant_install", "--version", program=PYTHON, prefix=prefix, env={"PYTHONPATH": str(into)})
        self.assertEqual(self.assert_ok(module).out, said)


if __name__ == "__main__":
    unittest.main()
