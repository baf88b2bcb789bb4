"""AMD's multi-arch builds (TheRock): host code in one wheel, the code of each GPU in a package that an extra names. The
index has the names and the shape of the published one (ROCm/TheRock RELEASES.md @ 89553ce3)."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import Index, TestCase, Wheel  # noqa: E402

ROCM = "7.13.0"
TARGETS = ["gfx90a", "gfx942", "gfx1100", "gfx1151"]
LINUX = "py3-none-linux_x86_64"


class DeviceExtrasTest(TestCase):
    def setUp(self):
        super().setUp()
        self.index = Index(self.root / "whl-multi-arch")
        self.put_torch(TARGETS)
        for name in ("core", "libraries", "devel"):
            self.index.add_wheel(Wheel(f"rocm-sdk-{name}", ROCM, tags=LINUX))
        # Published as a source archive only; here as the wheel that it makes.
        self.put("rocm", ROCM, [f"rocm-sdk-core=={ROCM}"], TARGETS, "rocm-sdk-device-",
                 {"libraries": f"rocm-sdk-libraries=={ROCM}", "devel": f"rocm-sdk-devel=={ROCM}"})

    def put(self, name, version, requires, targets, device_package, extras=()):
        own = ROCM if name == "rocm" else version
        parts = {f"device-{target}": f"{device_package}{target}=={own}" for target in targets}
        lines = [*requires, *(f'{need} ; extra == "{extra}"' for extra, need in {**parts, **dict(extras)}.items()),
                 *(f'{need} ; extra == "device-all"' for need in parts.values())]
        self.index.add_wheel(Wheel(name, version, requires=lines, tags=LINUX,
                                   extra_metadata="".join(f"Provides-Extra: {extra}\n"
                                                          for extra in [*parts, "device-all", *dict(extras)])))
        for target in targets:
            if device_package == "rocm-sdk-device-":
                self.index.add_wheel(Wheel(f"rocm-sdk-device-{target}", ROCM, tags=LINUX))

    def put_torch(self, targets):
        version = f"2.11.0+rocm{ROCM}"
        self.put("torch", version, [f"rocm[libraries]=={ROCM}"], targets, "amd-torch-device-")
        for target in targets:
            self.index.add_wheel(Wheel(f"amd-torch-device-{target}", version,
                                       requires=[f"rocm[device-{target}]=={ROCM}"], tags=LINUX))

    def resolve(self, *arguments, machine):
        result = self.assert_ok(self.variant("resolve", *arguments, "-i", self.index.url, "--for", machine, "--json"))
        return {one["name"] for one in result.json["packages"]}, result

    def test_only_the_device_packages_that_the_machine_needs(self):
        host = {"torch", "rocm", "rocm-sdk-core", "rocm-sdk-libraries"}
        for machine, target in (("mi300x", "gfx942"), ("mi210", "gfx90a")):
            names, _ = self.resolve("torch", machine=machine)
            self.assertEqual(names, host | {f"amd-torch-device-{target}", f"rocm-sdk-device-{target}"})
        for machine in ("none", "h100"):
            names, _ = self.resolve("torch", machine=machine)
            self.assertEqual(names, host)

    def test_the_meta_package_with_its_own_extras(self):
        names, result = self.resolve("rocm[libraries,devel]", machine="amd:gfx=gfx1151")
        self.assertEqual(names, {"rocm", "rocm-sdk-core", "rocm-sdk-libraries", "rocm-sdk-devel", "rocm-sdk-device-gfx1151"})
        self.assertIn("[device-gfx1151] is taken for this machine", result.err)

    def test_the_chain_of_names(self):
        for targets, taken in ((["gfx11", "gfx115x", "gfx110x"], "gfx115x"), (["gfx11", "gfx110x"], "gfx11")):
            self.index = Index(self.root / f"index-{taken}")
            self.put("rocm", ROCM, [], targets, "rocm-sdk-device-")
            names, _ = self.resolve("rocm", machine="amd:gfx=gfx1151")
            self.assertEqual(names, {"rocm", f"rocm-sdk-device-{taken}"})

    def test_a_gpu_without_device_code_is_a_warning(self):
        names, result = self.resolve("rocm", machine="amd:gfx=gfx1030")
        self.assertEqual(names, {"rocm", "rocm-sdk-core"})
        self.assertIn("has its device code in extras, and none for gfx1030", result.err)

    def test_what_the_user_names_is_what_comes(self):
        names, _ = self.resolve("rocm[device-gfx90a]", machine="mi300x")
        self.assertEqual(names, {"rocm", "rocm-sdk-core", "rocm-sdk-device-gfx90a"})
        names, _ = self.resolve("rocm[device-all]", machine="mi300x")
        self.assertEqual(len([name for name in names if name.startswith("rocm-sdk-device-")]), len(TARGETS))

    def test_two_kinds_of_gpus_get_both(self):
        names, _ = self.resolve("rocm", machine="amd:gfx=gfx942;amd:gfx=gfx90a")
        self.assertEqual(names, {"rocm", "rocm-sdk-core", "rocm-sdk-device-gfx942", "rocm-sdk-device-gfx90a"})

    def test_the_installation_brings_them(self):
        self.make_venv()
        self.assert_ok(self.variant("install", "torch", "-i", self.index.url, "--python", self.venv, "--for", "mi300x"))
        self.assertIn("amd-torch-device-gfx942", self.installed())
        self.assertNotIn("amd-torch-device-gfx90a", self.installed())
        self.assert_ok(self.variant("check", "--python", self.venv))


if __name__ == "__main__":
    unittest.main()
