"""torch on Windows and macOS: their lists of builds, and what the plain wheel of the default index is there."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import Wheel
from torch_index import PYTHON_TAG, TorchTestCase, all_files, tags


class Windows(TorchTestCase):
    FILES = staticmethod(lambda: all_files(platforms=("linux_x86_64", "windows_amd64"), projects=("torch",)))

    def test_each_machine_gets_the_newest_release_with_a_build_for_it(self):
        for machine, version, label in [
                ("windows", "2.15.0", "cpu"), ("rtx5090;windows", "2.15.0", "cu132"), ("rtx3060;windows", "2.15.0", "cu132"),
                ("gtx1080ti;windows", "2.14.1", "cu126"), ("windows;nvidia:sm=90,driver=552.74", "2.14.1", "cu126"),
                # On Linux 2.11 has a cu129, on Windows it has not.
                ("windows;nvidia:gpu=rtx5090,driver=572.16", "2.11.0", "cu128"), ("bmg;windows", "2.14.1", "xpu")]:
            with self.subTest(machine=machine):
                self.assert_builds({"torch": (version, label)}, "torch", machine=machine)
                package = self.family("resolve", "torch", "--json", machine=machine).json["packages"][0]
                self.assertTrue(package["wheel"].endswith("win_amd64.whl"), package["wheel"])

    def test_amd_s_builds_are_for_linux(self):
        result = self.assert_ok(self.family("resolve", "torch", machine="rx7900xtx;windows"))
        self.assertIn("torch 2.15.0+cpu", result.out)
        self.assertRegex(result.err, r"warning: torch 2\.15\.0 \(cpu\) is chosen although there is a GPU")

    def test_the_default_index_has_the_cpu_build(self):
        self.own_index([file for file in all_files(["2.15"], ("windows_amd64",), ("torch",)) if file.label != "cpu"])
        self.default.add_wheel(Wheel("torch", "2.15.0", tags=tags("windows_amd64")))
        self.default.add_wheel(Wheel("torch", "2.15.0", tags=tags("linux_x86_64")))
        self.assert_builds({"torch": ("2.15.0", "cpu")}, "torch", machine="windows")
        self.assert_builds({"torch": ("2.15.0", "cu132")}, "torch", machine="rtx5090;windows")
        # For Linux the wheel of the same index is one for CUDA 13.2.
        self.assert_builds({"torch": ("2.15.0", "cu132")}, "torch", machine="rtx5090")


class Mac(TorchTestCase):
    def test_a_mac_gets_the_one_build_there_is(self):
        self.own_index(all_files(["2.14", "2.15"], ("linux_x86_64",), ("torch",)))
        for version, macos in (("2.15.0", "14"), ("2.14.0", "11")):
            self.default.add_wheel(Wheel("torch", version, tags=f"{PYTHON_TAG}-none-macosx_{macos}_0_arm64"))
        self.assert_builds({"torch": ("2.15.0", "cpu")}, "torch", machine="macos:15")
        self.assert_builds({"torch": ("2.14.0", "cpu")}, "torch", machine="macos:13")
        self.assert_fails(self.family("resolve", "torch", machine="macos:15;x86_64"), 3, "its wheels for macOS are for arm64")
        self.assert_fails(self.family("resolve", "torch", "--require", "nvidia", machine="macos:15"), 3, "no build of torch 2.15.0 fits")


if __name__ == "__main__":
    unittest.main()
