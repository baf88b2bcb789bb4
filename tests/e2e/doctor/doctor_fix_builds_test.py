"""Fixes of `variant doctor` for builds that do not fit, and for what surrounds an environment: run as they stand, in a shell."""

import os
import pathlib
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from doctor_case import DRIVER, H100, level_cpu
from fix_case import FixTestCase
from made_library import cuda_library, library
from support import X86_PROVIDER, Wheel, variant_document
from torch_index import all_files

STUBS = os.environ["AXLE_STUBS"]


class Builds(FixTestCase):
    def levels(self, **files):
        document = variant_document({"null": [], "v2": [("x86_64", "level", ["v2"])], "v4": [("x86_64", "level", ["v4"])]})
        content = {"v4": files or {"fast.py": "4"}}
        for label in document["variants"]:
            self.publish(Wheel("fast", "1.0", label, document, content.get(label, {"fast.py": label})))
        self.index.add_variants("fast", "1.0", document)
        self.publish(Wheel("fast", "2.0"))
        self.put_wheel(Wheel("fast", "1.0", "v4", document, content["v4"]))

    def test_a_variant_that_does_not_fit(self):
        self.levels()
        self.fixes("variant-misfit", self.healthy_machine(cpu=level_cpu(2)))
        self.assertEqual(self.installed()["fast"], ("1.0", "v2"))

    def test_a_library_that_the_loader_refuses(self):
        self.levels(**{"fast/_C.so": library(isa=0b1111)})
        self.fixes("cpu-level-missing", self.healthy_machine(cpu=level_cpu(3)))
        self.sound()

    def test_instructions_that_the_cpu_lacks(self):
        made = self.vector_library('target("avx512f")')
        self.levels(**{"fast/_C.so": made})
        self.fixes("cpu-instructions", self.good, "--deep")

    def test_a_build_that_would_be_chosen_again_is_not_proposed(self):
        document = variant_document({"v2": [("x86_64", "level", ["v2"])]})
        self.put_wheel(Wheel("fast", "1.0", "v2", document, {"fast/_C.so": library(isa=0b1111)}))
        found = self.finds("cpu-level-missing", self.good)
        self.assertEqual(found["fix"], [])

    def test_a_namespace_that_is_switched_off(self):
        optional = {"x86_64": {**X86_PROVIDER, "optional": True}}
        document = variant_document({"v1": [("x86_64", "level", ["v1"])]}, providers=optional)
        self.put_wheel(Wheel("fast", "1.0", "v1", document))
        self.fixes("variant-unknown", self.good)
        self.assert_ok(self.variant("providers", "disable", "x86_64"))
        self.fixes("variant-unknown", self.good)
        self.sound()


class Torch(FixTestCase):
    def put_torch(self, torch, vision=None):
        self.put("torch", torch)
        if vision:
            self.put("torchvision", vision)

    def test_a_better_build(self):
        self.publish_torch("2.9")
        self.put_torch("2.9.0+cpu", "0.24.0+cpu")
        self.fixes("variant-not-best", self.good)
        self.assertEqual(self.installed()["torch"], ("2.9.0+cu130", "cu130"))
        self.assertEqual(self.installed()["torchvision"], ("0.24.0+cu130", "cu130"))
        self.sound()

    def test_a_build_for_a_gpu_that_is_not_there_with_what_came_with_it(self):
        self.publish_torch("2.9")
        self.put("nvidia-cublas-cu12", "12.8", {"nvidia/cublas/lib/libcublas.so.12": cuda_library(90)})
        self.put("kept-cuda", "1.0", {"kept/_C.so": cuda_library(90)})
        self.put("torch", "2.9.1+cu128", {"torch/_C.so": cuda_library(90)}, requires=["nvidia-cublas-cu12"])
        none = self.machine(cpu=level_cpu(3))
        before = self.finds("gpu-build-without-gpu", none, severity="warning")
        self.assertIn("nvidia-cublas-cu12", before["fix"][1])
        self.assertNotIn("kept-cuda", before["fix"][1])
        self.fixes("gpu-build-without-gpu", none)
        self.assertEqual(sorted(self.installed()), ["kept-cuda", "torch"])
        self.assertEqual(self.installed()["torch"][1], "cpu")

    def test_a_release_that_has_no_build_for_the_gpu(self):
        self.publish_torch("2.14", "2.15")
        self.put_torch("2.15.0+cu132")
        pascal = self.machine([{**H100, "arch": "6.1"}], [DRIVER], cpu=level_cpu(3))
        self.fixes("variant-misfit", pascal)
        self.assertEqual(self.installed()["torch"], ("2.14.1+cu126", "cu126"))

    def test_no_code_for_the_gpu(self):
        self.publish_torch("2.9")
        self.put("torch", "2.9.0+cu130", {"torch/_C.so": cuda_library(90)})
        pascal = self.machine([{**H100, "arch": "6.1"}], [DRIVER], cpu=level_cpu(3))
        self.fixes("gpu-code-missing", pascal)
        self.assertEqual(self.installed()["torch"], ("2.9.0+cu126", "cu126"))

    def test_members_that_do_not_belong_together(self):
        self.publish_torch("2.9")
        self.put_torch("2.9.0+cu130", "0.24.0+cpu")
        self.fixes("family-labels-differ", self.good)
        self.sound()
        self.assert_ok(self.variant("uninstall", "torch", "torchvision", "--python", self.venv))
        self.put_torch("2.9.0+cu130", "0.25.0+cu130")
        self.fixes("family-versions-differ", self.good)
        self.assertEqual(self.installed()["torchvision"][0], "0.24.0+cu130")
        self.sound()

    def test_a_damaged_member_keeps_its_build(self):
        self.publish_torch("2.9")
        wheel = next(file for file in all_files(releases=["2.9"]) if file.label == "cu128" and "torch-2.9.1" in file.name)
        (self.root / wheel.name).write_bytes(wheel.data)
        self.assert_ok(self.variant("install", "torch==2.9.1+cu128", "--python", self.venv, "--for", self.good))
        (self.site() / "torch/__init__.py").unlink()
        self.fixes("files-missing", self.good)
        self.assertEqual(self.installed()["torch"], ("2.9.1+cu128", "cu128"))


class Surroundings(FixTestCase):
    def folder_with(self, name, soname):
        folder = self.root / name
        folder.mkdir(exist_ok=True)
        (folder / soname).write_bytes(library([("more", b"x" * 64)], soname=soname))
        return str(folder)

    def own(self, *names):
        for name in names:
            self.put(name, "1.0", {f"{name}/lib{name}.so.1": library(soname=f"lib{name}.so.1")})

    def test_folders_that_hide_the_wheels_libraries(self):
        self.own("one", "two")
        first, second = self.folder_with("first here", "libone.so.1"), self.folder_with("second", "libtwo.so.1")
        again = self.folder_with("again", "libone.so.1")
        kept = self.folder_with("kept", "libother.so.1")
        path = ":".join([first, kept, again, second])
        found = self.fixes("library-shadowed", env={"LD_LIBRARY_PATH": path})
        self.assertEqual(found["fix"], [f"export LD_LIBRARY_PATH={kept}"])
        found = self.fixes("library-shadowed", env={"LD_LIBRARY_PATH": second})
        self.assertEqual(found["fix"], ["unset LD_LIBRARY_PATH"])
        # One command clears both.
        body = self.doctor(env={"LD_LIBRARY_PATH": path})
        shadowed = [one["fix"] for one in body["findings"] if one["code"] == "library-shadowed"]
        self.assertEqual(len(shadowed), 2)
        self.assertEqual(shadowed[0], shadowed[1])

    def test_libraries_that_are_preloaded(self):
        if not shutil.which("cc"):
            self.skipTest("needs cc: what is preloaded is loaded")
        self.own("one", "two")
        for name in ("one", "kept"):
            subprocess.run(["cc", "-shared", "-x", "c", "/dev/null", f"-Wl,-soname,lib{name}.so.1", "-o",
                            self.root / f"lib{name}.so.1"], check=True)
        one, kept = self.root / "libone.so.1", self.root / "libkept.so.1"
        found = self.fixes("library-shadowed", env={"LD_PRELOAD": str(one)})
        self.assertEqual(found["fix"], ["unset LD_PRELOAD"])
        found = self.fixes("library-shadowed", env={"LD_PRELOAD": f"{one} {kept}"})
        self.assertEqual(found["fix"], [f"export LD_PRELOAD={kept}"])

    def test_a_mask_over_the_gpus(self):
        if not pathlib.Path(STUBS, "nvidia").is_dir() or not list(pathlib.Path(STUBS, "nvidia").iterdir()):
            self.skipTest("the stubs of the drivers are not built")
        env = {"LD_LIBRARY_PATH": f"{STUBS}/nvidia", "AXLE_STUB": "ok"}
        for variable in ("CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ZE_AFFINITY_MASK"):
            self.env.pop(variable, None)
        self.fixes("gpu-masked", None, environment=False, env={**env, "CUDA_VISIBLE_DEVICES": ""},
                   reveals=("driver-old",))


class Environments(FixTestCase):
    def test_an_environment_that_is_not_there(self):
        self.venv = self.root / "not there"
        self.fixes("environment-broken", self.good)
        gone = {"VIRTUAL_ENV": str(self.root / "gone")}
        self.fixes("environment-broken", self.good, environment=False, env=gone)

    def test_an_environment_whose_interpreter_is_gone(self):
        for name in ("python", "python3"):
            (self.venv / "bin" / name).unlink()
        (self.venv / "bin/python3").symlink_to("/nowhere/python3")
        found = self.fixes("environment-broken", self.good)
        self.assertIn("without its packages", found["hint"])

    def test_what_is_no_environment_is_not_overwritten(self):
        (self.root / "documents/bin").mkdir(parents=True)
        (self.root / "documents/bin/python").write_text("mine")
        for place in (self.root / "documents", self.root / "documents/bin/python", "python9.9", "/dev/null"):
            self.venv = place
            self.assertEqual(self.finds("environment-broken", self.good)["fix"], [], place)

    def test_no_environment(self):
        (self.root / "project").mkdir()
        self.fixes("no-environment", self.good, environment=False, cwd=self.root / "project")


if __name__ == "__main__":
    unittest.main()
