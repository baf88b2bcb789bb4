"""torch on Windows and macOS: their lists of builds, their floors of drivers, what the plain wheel of the default index is there,
and what each shipped machine gets."""

import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import Wheel, variant_document
from torch_index import PYTHON_TAG, TABLE, TorchTestCase, all_files, stand_in, tags

# The newest file of torch that each macOS takes, as package sets and lock files name them:
# 2.2.2 for Intel, 2.11.0 the last for macOS 11 to 13.
MAC_FILES = (("2.2.2", "macosx_10_9_x86_64"), ("2.2.2", "macosx_11_0_arm64"), ("2.8.0", "macosx_11_0_arm64"), ("2.11.0", "macosx_11_0_arm64"),
             ("2.12.0", "macosx_14_0_arm64"), ("2.15.0", "macosx_14_0_arm64"))

# astral-sh/uv crates/uv-torch/src/backend.rs @ 26a9dd4b, WINDOWS_CUDA_VERSIONS and LINUX_CUDA_DRIVERS.
UV_FLOORS = {"windows": {"cu132": "580", "cu130": "580", "cu129": "528.33", "cu128": "528.33", "cu126": "528.33", "cu124": "528.33",
                         "cu121": "528.33", "cu118": "452.39"},
             "linux": {"cu132": "580", "cu130": "580", "cu129": "525.60.13", "cu128": "525.60.13", "cu126": "525.60.13",
                       "cu124": "525.60.13", "cu121": "525.60.13", "cu118": "450.80.02"}}


class Windows(TorchTestCase):
    FILES = staticmethod(lambda: all_files(platforms=("linux_x86_64", "windows_amd64", "windows_arm64"), projects=("torch",)))

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

    def test_the_shipped_machines(self):
        names = [row["name"] for row in self.assert_ok(self.variant("machines", "windows-", "--json")).json["machines"]]
        wanted = {"windows-none": ("2.15.0", "cpu"), "windows-gtx1080": ("2.14.1", "cu126"), "windows-rtx3060": ("2.14.1", "cu126"),
                  "windows-rtx4090": ("2.14.1", "cu126"), "windows-rtx5090": ("2.15.0", "cu132"), "windows-a770": ("2.14.1", "xpu"),
                  "windows-b580": ("2.14.1", "xpu"), "windows-lnl": ("2.14.1", "xpu"), "windows-rx7900xtx": ("2.15.0", "cpu"),
                  "windows-rx9070xt": ("2.15.0", "cpu"), "windows-snapdragon-x": ("2.13.0", "cpu")}
        self.assertEqual(set(names), set(wanted))
        for name, build in wanted.items():
            with self.subTest(machine=name):
                self.assert_builds({"torch": build}, "torch", machine=name)
        # The Linux inside the fourth has the same driver, and what Linux has.
        self.assert_builds({"torch": ("2.14.1", "cu126")}, "torch", machine="wsl-rtx4090")

    def test_amd_s_builds_are_for_linux(self):
        for machine in ("rx7900xtx;windows", "windows-rx9070xt"):
            result = self.assert_ok(self.family("resolve", "torch", machine=machine))
            self.assertIn("torch 2.15.0+cpu", result.out)
            self.assertRegex(result.err, r"warning: torch 2\.15\.0 \(cpu\) is chosen although there is a GPU")
        rocm = {build["platform"] for release in TABLE["releases"] for build in release["builds"] if build["label"].startswith("rocm")}
        self.assertEqual(rocm, {"linux_x86_64"})

    def test_intel_s_builds_are_for_both(self):
        platforms = {build["platform"] for release in TABLE["releases"] for build in release["builds"] if build["label"] == "xpu"}
        self.assertEqual(platforms, {"linux_x86_64", "windows_amd64"})

    def test_floors_of_drivers_are_those_of_the_system(self):
        """At the floor of each label and just below it: of a GPU that has code in all of them."""
        for system, machine, floors in (
                ("windows", "windows;nvidia:gpu=t4,driver={}", {"580": ("2.15.0", "cu132"), "579.99": ("2.14.1", "cu126"),
                                                                "528.33": ("2.14.1", "cu126"), "528.24": ("2.7.1", "cu118"),
                                                                "527.41": ("2.7.1", "cu118"), "452.39": ("2.7.1", "cu118"),
                                                                "451.82": ("2.15.0", "cpu")}),
                ("linux", "nvidia:gpu=t4,driver={}", {"580": ("2.15.0", "cu132"), "575.57.08": ("2.14.1", "cu126"),
                                                      "525.60.13": ("2.14.1", "cu126"), "520.61.05": ("2.7.1", "cu118"),
                                                      "450.80.02": ("2.7.1", "cu118"), "440.33": ("2.15.0", "cpu")})):
            self.assertLessEqual(set(UV_FLOORS[system].values()), set(floors))
            for driver, build in floors.items():
                with self.subTest(system=system, driver=driver):
                    self.assert_builds({"torch": build}, "torch", machine=machine.format(driver))
        reason = self.assert_ok(self.family("explain", "torch==2.14.1", machine="windows;nvidia:gpu=t4,driver=527.41"))
        self.assertIn("driver 527.41 runs CUDA up to 11.8", reason.out)

    def test_the_data_has_uv_s_floors(self):
        for label, floor in UV_FLOORS["linux"].items():
            major = TABLE["cuda_majors"][label[2:4]]
            self.assertEqual((major["driver"], major["driver_windows"]), (floor, UV_FLOORS["windows"][label]), label)
        listed = self.assert_ok(self.variant("index", "families", "--json")).json["families"]
        torch = next(one for one in listed if one["name"] == "torch")
        self.assertEqual({row["label"]: row["driver_windows"] for row in torch["labels"] if row["vendor"] == "nvidia"}, UV_FLOORS["windows"])
        said = self.assert_ok(self.family("explain", "torch", "--json", machine="windows-rtx4090"))
        self.assertIn("driver 528.33 or newer", said.out)
        self.assertNotIn("525.60.13", said.out)

    def test_windows_on_arm_has_the_cpu_alone(self):
        package = self.assert_ok(self.family("resolve", "torch", "--json", machine="windows-snapdragon-x")).json["packages"][0]
        self.assertTrue(package["wheel"].endswith("win_arm64.whl"), package["wheel"])
        self.assert_builds({"torch": ("2.13.0", "cpu")}, "torch", machine="windows;aarch64")
        self.assert_fails(self.family("resolve", "torch", "--require", "nvidia", machine="gb10;windows"), 3, "its wheels for Windows are for AMD64")

    def test_the_default_index_has_the_cpu_build(self):
        self.own_index([file for file in all_files(["2.15"], ("windows_amd64",), ("torch",)) if file.label != "cpu"])
        self.default.add_wheel(Wheel("torch", "2.15.0", tags=tags("windows_amd64")))
        self.default.add_wheel(Wheel("torch", "2.15.0", tags=tags("linux_x86_64")))
        self.assert_builds({"torch": ("2.15.0", "cpu")}, "torch", machine="windows")
        self.assert_builds({"torch": ("2.15.0", "cu132")}, "torch", machine="rtx5090;windows")
        # For Linux the wheel of the same index is one for CUDA 13.2.
        self.assert_builds({"torch": ("2.15.0", "cu132")}, "torch", machine="rtx5090")


class Mac(TorchTestCase):
    def setUp(self):
        super().setUp()
        self.own_index(all_files(["2.14", "2.15"], ("linux_x86_64",), ("torch",)))
        for version, tag in MAC_FILES:
            self.default.add_wheel(Wheel("torch", version, tags=f"{PYTHON_TAG}-none-{tag}"))

    def test_a_mac_gets_the_one_build_there_is(self):
        for machine, version in (("macos:15", "2.15.0"), ("macos:14", "2.15.0"), ("macos:13", "2.11.0"), ("macos:11", "2.11.0"),
                                 ("macos13-m1", "2.11.0"), ("macos14-m2", "2.15.0"), ("macos15-m3", "2.15.0"), ("macos15-m4", "2.15.0"),
                                 ("macos26-m5", "2.15.0"), ("mps", "2.11.0")):
            with self.subTest(machine=machine):
                self.assert_builds({"torch": (version, "cpu")}, "torch", machine=machine)
        self.assert_fails(self.family("resolve", "torch", "--require", "nvidia", machine="macos:15"), 3, "no build of torch 2.15.0 fits")

    def test_explain_takes_the_release_that_resolve_takes(self):
        """Also where torch's index alone has the wheels for macOS, which have no label there."""
        own = [stand_in("torch", version, None, None, extra_tags=f"{PYTHON_TAG}-none-{tag}") for version, tag in MAC_FILES]
        for files, folder in (([], self.default.folder), (own, self.root / "empty")):
            self.own_index(all_files(["2.11", "2.15"], ("linux_x86_64",), ("torch",)) + files)
            folder.mkdir(exist_ok=True)
            self.default.folder = folder
            for machine, version in (("macos13-m1", "2.11.0"), ("macos15-m4", "2.15.0")):
                for command in ("resolve", "explain"):
                    with self.subTest(machine=machine, command=command, own=bool(files)):
                        said = self.assert_ok(self.family(command, "torch", "--json", machine=machine))
                        self.assertEqual(said.json["packages"][0]["version"], version)

    def test_intel_macs_end_with_2_2(self):
        for machine in ("macos15-intel", "macos14-xeon", "macos:13;x86_64"):
            with self.subTest(machine=machine):
                package = self.assert_ok(self.family("resolve", "torch", "--json", machine=machine)).json["packages"][0]
                self.assertEqual(package["wheel"], f"torch-2.2.2-{PYTHON_TAG}-none-macosx_10_9_x86_64.whl")
                self.assert_fails(self.family("resolve", "torch>=2.4", machine=machine), 3, "its wheels for macOS are for arm64")

    def test_mps_by_release_and_macos(self):
        self.make_venv()
        for machine, release, usable, reason in (
                ("macos15-m4", "2.15", "yes", ""), ("macos14-m2", "2.9", "yes", ""), ("macos13-m1", "2.8", "yes", ""),
                ("macos13-m1", "2.9", "no", "the system has macOS 13.6, and the build needs 14"),
                ("macos:12.6", "2.8", "no", "the system has macOS 12.6, and the build needs 13"), ("macos:12.6", "2.4", "yes", ""),
                ("h100", "2.15", "no", ""), ("windows-rtx5090", "2.15", "no", "")):
            with self.subTest(machine=machine, release=release):
                said = self.variant("doctor", "--for-package", f"torch=={release}.*", "--for", machine, "--json", "--python", self.venv)
                mps = next(row for row in said.json["features"] if row["name"] == "mps")
                self.assertEqual(mps["usable"], usable, mps)
                self.assertIn(reason, mps["reason"])
        for machine, shown in (("macos15-m4", r"MPS +usable"), ("macos:12.1", r"MPS +not usable: MPS began with macOS 12\.3"),
                               ("macos15-intel", r"MPS +unknown: an Intel Mac")):
            self.assertRegex(self.assert_ok(self.variant("detect", "--for", machine)).out, shown)
        listed = self.assert_ok(self.variant("properties", "--namespace", "axle", "--for", "macos15-m4", "--json")).json
        self.assertEqual(listed["properties"]["axle"]["mps"], ["15", "14", "13", "12.3"])

    def test_a_wheel_that_asks_for_mps(self):
        document = variant_document({"metal": [("axle", "mps", ["14"])], "null": []}, namespaces=("axle",),
                                    providers={"axle": {"requires": ["axle-variant-provider"]}})
        for label in document["variants"]:
            self.default.add_wheel(Wheel("shader", "1.0", label, document, tags="py3-none-macosx_11_0_arm64"))
        for machine, label in (("macos15-m4", "metal"), ("macos13-m1", "null")):
            rows = self.assert_ok(self.family("resolve", "shader", "--json", machine=machine)).json["packages"]
            self.assertEqual(rows[0]["variant"], label)
        said = self.assert_ok(self.family("explain", "shader", machine="macos13-m1")).out
        self.assertTrue(re.search(r"the system has macOS 13\.6, and the build\s+needs 14", said), said)


if __name__ == "__main__":
    unittest.main()
