"""`variant doctor` on an environment: packages, their files and owners, variants and families."""

import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from doctor_case import CODES, DRIVER, H100, DoctorTestCase, level_cpu
from made_library import cuda_library, library
from support import NVIDIA_PROVIDER, SOURCE, X86_PROVIDER, variant_document


class Healthy(DoctorTestCase):
    def test_a_healthy_environment_has_no_findings(self):
        runtime = library(soname="libcudart.so.12")
        self.put("nvidia-cuda-runtime-cu12", "12.8.90", {"nvidia/cuda_runtime/lib/libcudart.so.12": runtime})
        torch = cuda_library(80, 90, soname="libtorch_cuda.so", needed=["libcudart.so.12"],
                             rpath="$ORIGIN/../../nvidia/cuda_runtime/lib", isa=0b111)
        self.put("torch", "2.10.0+cu130", {"torch/__init__.py": "", "torch/lib/libtorch_cuda.so": torch},
                 requires=["nvidia-cuda-runtime-cu12==12.8.90"])
        self.put("torchvision", "0.25.0+cu130", {"torchvision/__init__.py": "", "torchvision/_C.so": cuda_library(90)})
        machine = self.healthy_machine(cpu=level_cpu(3))
        body = self.doctor(machine)
        self.assertEqual(body["findings"], [])
        self.assertEqual(body["environment"]["libraries"], 3)
        self.assertLess(body["environment"]["bytes_read"], 20_000)
        text = self.variant("doctor", "--for", machine, "--python", self.venv)
        self.assertEqual(text.code, 0)
        self.assertIn("no problems found", text.out)

    def test_an_empty_environment_and_the_machine_at_hand(self):
        body = self.doctor()
        self.assertEqual(body["machine"], "this machine")
        self.assertEqual(body["environment"]["packages"], 0)

    def test_without_an_environment_that_is_said(self):
        found = self.finds("no-environment", self.healthy_machine(), environment=False)
        self.assertIn("--python", found["hint"])
        self.lacks("no-environment", self.healthy_machine())

    def test_an_environment_that_is_none_leaves_the_findings_of_the_machine(self):
        old = {**DRIVER, "kernel_version": "550.54.14", "library_version": "550.54.14", "api_version": "12.4"}
        machine = self.machine([H100], [old])
        broken = self.root / "broken/bin/python"
        broken.parent.mkdir(parents=True)
        broken.write_text("#!/bin/sh\nexit 3\n")
        broken.chmod(0o755)
        for python in (self.root / "nowhere", broken, "/dev/null"):
            found = self.finds("environment-broken", machine, "--python", python, environment=False, severity="error")
            self.assertRegex(found["hint"], "variant venv|--python")
            self.finds("driver-old", machine, "--python", python, environment=False)
        env = {"VIRTUAL_ENV": str(self.root / "gone")}
        self.finds("environment-broken", machine, environment=False, env=env)


class Packages(DoctorTestCase):
    def setUp(self):
        super().setUp()
        self.good = self.healthy_machine()

    def test_broken_records(self):
        info = self.put("demo", "1.0")
        self.lacks("dist-info-broken", self.good)
        (info / "RECORD").write_text('"never closed')
        found = self.finds("dist-info-broken", self.good, severity="error")
        self.assertIn("variant install --reinstall --no-deps demo==1.0 --python", found["hint"])
        (info / "METADATA").unlink()
        found = self.finds("dist-info-broken", self.good)
        self.assertIn("METADATA", json.dumps(found["evidence"]))
        self.assertTrue(found["hint"].startswith("variant install --reinstall --no-deps demo==1.0"), found["hint"])

    def test_files_that_are_gone_or_cut_off(self):
        self.put("demo", "1.0", {"demo/__init__.py": "x = 1\n", "demo/data.bin": b"0123456789"})
        self.lacks("files-missing", self.good)
        (self.site() / "demo/__init__.py").unlink()
        (self.site() / "demo/data.bin").write_bytes(b"0123")
        found = self.finds("files-missing", self.good, severity="error")
        self.assertIn("2 of its", found["message"])
        facts = {one["file"]: one["fact"] for one in found["evidence"]}
        self.assertEqual(facts["demo/__init__.py"], "is missing")
        self.assertIn("4 bytes", facts["demo/data.bin"])

    def test_files_that_were_changed(self):
        self.put("demo", "1.0", {"demo/__init__.py": "x = 1\n", "demo/data.bin": b"0123456789"})
        self.lacks("files-changed", self.good, "--deep")
        path = self.site() / "demo/data.bin"
        path.write_bytes(b"0123456789 and more")
        found = self.finds("files-changed", self.good, severity="warning")
        self.assertEqual([one["file"] for one in found["evidence"]], ["demo/data.bin"])
        path.write_bytes(b"9876543210")
        self.finds("files-changed", self.good)
        # Older than RECORD: only the hash tells.
        os.utime(path, (1, 1))
        self.lacks("files-changed", self.good)
        self.finds("files-changed", self.good, "--deep")

    def test_a_record_that_leads_out_of_the_environment(self):
        info = self.put("demo", "1.0")
        self.lacks("files-outside", self.good)
        with open(info / "RECORD", "a") as record:
            record.write("../../../../outside.txt,,\n")
        found = self.finds("files-outside", self.good, severity="warning")
        self.assertEqual(found["evidence"][0]["file"], "../../../../outside.txt")

    def test_metadata_with_markers_about_the_variant(self):
        document = variant_document({"v1": [("x86_64", "level", ["v1"])]})
        self.put("plain", "1.0", label="v1", document=document, requires=["demo; os_name == 'variant_label'"])
        self.lacks("metadata-markers", self.good)
        self.put("demo", "1.0", label="v1", document=document, requires=["absent; variant_label == 'v9'"])
        found = self.finds("metadata-markers", self.good, severity="error")
        self.assertIn("pip and uv", found["evidence"][0]["fact"])

    def test_what_is_no_file_is_no_library(self):
        name = "demo/_fast.abi3.so"
        self.put("demo", "1.0", {name: library(soname="")})
        self.lacks("files-missing", self.good)
        path = self.site() / name
        size = path.stat().st_size
        path.unlink()
        path.mkdir()
        self.assertEqual(self.finds("files-missing", self.good)["evidence"][0]["fact"], "is not a file")
        path.rmdir()
        path.symlink_to(path.name)
        self.assertIn("link", self.finds("files-missing", self.good)["evidence"][0]["fact"])
        path.unlink()
        os.mkfifo(path)
        self.finds("files-missing", self.good)
        path.unlink()
        path.write_bytes(b"\0" * size)  # what a file system leaves after a crash
        found = self.finds("library-damaged", self.good, severity="error")
        self.assertIn("demo==1.0", found["hint"])

    def test_one_import_name_in_different_files(self):
        self.put("one", "1.0", {"thing.py": "", "space/a.py": ""})
        self.put("two", "1.0", {"space/b.py": "", "other/__init__.py": ""})
        self.lacks("import-hidden", self.good)
        self.put("three", "1.0", {"thing/__init__.py": ""})
        found = self.finds("import-hidden", self.good, severity="warning")
        self.assertIn("`thing`", found["message"])
        self.assertIn("thing/__init__.py is imported, but thing.py of one 1.0 never", found["message"])

    def test_an_editable_package_hidden_by_an_installed_one(self):
        source = self.root / "source"
        (source / "demo").mkdir(parents=True)
        (source / "demo/__init__.py").write_text("")
        self.put("demo-fork", "2.0", {"__editable__.demo_fork.pth": f"{source}\n"})
        self.lacks("import-hidden", self.good)
        self.put("demo", "1.0", {"demo/__init__.py": ""})
        found = self.finds("import-hidden", self.good)
        self.assertIn("demo/__init__.py is imported, but", found["message"])

    def test_the_tests_of_two_editable_packages_hide_nothing(self):
        for name in ("pkga", "pkgb"):
            tree = self.root / name
            for folder in (name, "tests"):
                (tree / folder).mkdir(parents=True)
                (tree / folder / "__init__.py").write_text("")
            self.put(name, "1.0", {f"__editable__.{name}.pth": f"{tree}\n"})
        self.lacks("import-hidden", self.good)
        self.put("careless", "1.0", {"tests/__init__.py": ""})
        self.finds("import-hidden", self.good, severity="warning")

    def test_libraries_in_the_prefix_belong_to_the_environment(self):
        put = self.root / "venv" / "lib" / "libsycl.so.8"
        put.write_bytes(library(soname="libsycl.so.8"))
        self.put("intel-sycl-rt", "2025.1", {}, record="../../libsycl.so.8,,\n../../../../libelse.so.1,,\n")
        self.assertEqual(self.doctor(self.good)["environment"]["libraries"], 1)

    def test_two_packages_own_one_path(self):
        self.put("opencv-python", "4.10", {"cv2/__init__.py": "", "cv2/cv2.abi3.so": library(soname="one")})
        self.put("shared", "1.0", {"space/__init__.py": ""})
        self.put("shared-too", "1.0", {"space/__init__.py": ""})
        self.lacks("path-owned-twice", self.good)
        self.put("opencv-python-headless", "4.10", {"cv2/__init__.py": "", "cv2/cv2.abi3.so": library(soname="two")})
        found = self.finds("path-owned-twice", self.good, severity="error")
        self.assertEqual(found["evidence"][0]["file"], "cv2/cv2.abi3.so")
        self.assertIn("variant uninstall opencv-python-headless", found["hint"])

    def test_python_source_of_two_owners_is_a_warning(self):
        self.put("one", "1.0", {"tests/__init__.py": "1"})
        self.put("two", "1.0", {"tests/__init__.py": "2"})
        self.finds("path-owned-twice", self.good, severity="warning")

    def test_requirements(self):
        self.put("demo", "1.0", requires=["base>=2"])
        self.finds("requirement-broken", self.good, severity="error")
        self.put("base", "1.0")
        found = self.finds("requirement-broken", self.good)
        self.assertIn("base 1.0 is installed", found["message"])
        self.assertTrue(found["hint"].startswith("variant install 'base>=2'"), found["hint"])
        self.put("base", "2.0")
        subprocess.run(["rm", "-r", str(self.site() / "base-1.0.dist-info")], check=True)
        self.lacks("requirement-broken", self.good)


class Variants(DoctorTestCase):
    def test_a_variant_that_does_not_fit_the_machine_of_now(self):
        document = variant_document({"v4": [("x86_64", "level", ["v4"])]})
        self.put("demo", "1.0", label="v4", document=document)
        found = self.finds("variant-misfit", self.healthy_machine(cpu=level_cpu(2)), severity="error")
        self.assertIn("demo 1.0 (v4)", found["subject"])
        self.lacks("variant-misfit", self.healthy_machine(cpu=level_cpu(4)))

    def test_a_namespace_that_nobody_here_knows(self):
        document = variant_document({"fast": [("acme", "speed", ["9"])]}, namespaces=("acme",))
        self.put("demo", "1.0", label="fast", document=document)
        self.finds("variant-unknown", self.healthy_machine(), severity="info")

    def test_what_the_user_switched_on_and_off_counts_as_for_install(self):
        optional = {"x86_64": {**X86_PROVIDER, "optional": True}}
        document = variant_document({"fast": [("x86_64", "level", ["v1"])]}, providers=optional)
        self.put("demo", "1.0", label="fast", document=document)
        machine = self.healthy_machine(cpu=level_cpu(3))
        found = self.finds("variant-unknown", machine, severity="info")
        self.assertIn("optional and not enabled", found["message"])
        self.assert_ok(self.variant("providers", "enable", "x86_64"))
        self.assertEqual(self.doctor(machine)["findings"], [])
        self.put("torch", "2.9.0+cpu")
        self.finds("variant-not-best", machine)
        self.assert_ok(self.variant("providers", "disable", "nvidia"))
        self.lacks("variant-not-best", machine)
        self.put("torchvision", "0.24.0+cu130")
        self.lacks("variant-misfit", machine)
        self.assertIn("namespace nvidia is disabled", self.finds("variant-unknown", machine)["message"])

    def test_a_variant_built_against_another_package(self):
        self.check_built_against("linked_with", {"builtin": "abi_dependency"})

    def test_a_variant_built_against_another_package_in_the_older_spelling(self):
        self.check_built_against("abi_dependency", {"requires": ["abi-dependency"], "optional": True})

    def test_a_local_version_that_names_another_torch(self):
        self.put("torch", "2.9.1+cu128")
        self.put("flash_attn", "2.8.3+cu12torch2.9cxx11abiTRUE")
        self.lacks("requirement-broken", self.healthy_machine())
        self.put("torch_scatter", "2.1.2+pt29cu130")
        found = self.finds("requirement-broken", self.healthy_machine(), severity="error")
        self.assertIn("it was built for torch 2.9 for CUDA 13, but torch 2.9.1+cu128 is installed", found["message"])

    def check_built_against(self, namespace, provider):
        document = variant_document(
            {"l": [(namespace, "torch", ["2.9"]), ("nvidia", "sm_arch", ["90_real"])]},
            namespaces=(namespace, "nvidia"), providers={"nvidia": NVIDIA_PROVIDER, namespace: provider})
        self.put("demo", "1.0", label="l", document=document)
        # The package that nobody knows the version of hides no misfit of the rest.
        self.assertIn("sm_arch", self.finds("variant-misfit", "gtx1080ti", severity="error")["evidence"][0]["fact"])
        self.assertIn("torch is not installed", self.finds("variant-unknown", "h100", severity="info")["message"])
        torch = self.put("torch", "2.9.1+cu130")
        self.assertEqual([one["code"] for one in self.doctor("h100")["findings"] if "demo" in one["subject"]], [])
        subprocess.run(["rm", "-r", str(torch)], check=True)
        self.put("torch", "2.10.0+cu130")
        found = self.finds("variant-misfit", "h100", severity="error")
        self.assertIn("does not fit this environment: torch 2.10.0+cu130 is installed", found["message"])

    def test_the_recorded_label_of_a_family(self):
        self.put("torch", "2.9.0", family={"family": "torch", "label": "cu130"})
        self.lacks("variant-misfit", self.healthy_machine())
        old = {**DRIVER, "kernel_version": "550.54.14", "library_version": "550.54.14", "api_version": "12.4"}
        found = self.finds("variant-misfit", self.machine([H100], [old]), severity="error")
        self.assertIn("13.0", json.dumps(found))
        self.assertIn("variant install --refit torch", found["hint"])

    def test_a_better_build_for_this_machine(self):
        self.put("torch", "2.9.0+cpu")
        found = self.finds("variant-not-best", self.healthy_machine(), severity="warning")
        self.assertIn("cu130", found["message"])
        self.lacks("variant-not-best", "none")

    def test_a_build_for_gpus_runs_without_one(self):
        self.put("torch", "2.9.1")  # as the default index has it: cu128
        self.put("torchvision", "0.24.1")
        found = self.finds("variant-misfit", "none", severity="warning")
        self.assertIn("it runs on the CPU only: no NVIDIA GPU", found["message"])
        self.assertEqual(found["subject"], "torch 2.9.1, torchvision 0.24.1 (cu128)")
        self.assertIn("variant install --refit torch torchvision", found["hint"])
        body = self.doctor("none")
        self.assertEqual(len([one for one in body["findings"] if one["code"] == "variant-misfit"]), 1)

    def test_a_member_that_has_ended_keeps_its_label(self):
        self.put("torch", "2.14.0")
        self.put("torchaudio", "2.11.0")
        self.lacks("family-labels-differ", self.healthy_machine())
        self.put("torch", "2.15.0")
        subprocess.run(["rm", "-r", str(self.site() / "torch-2.14.0.dist-info")], check=True)
        self.lacks("family-labels-differ", self.healthy_machine())
        self.lacks("family-versions-differ", self.healthy_machine())

    def test_a_newer_backend_is_only_worth_a_word(self):
        self.put("torch", "2.9.0+cu128")
        self.finds("variant-not-best", self.healthy_machine(), severity="info")

    def test_a_build_that_the_family_does_not_know(self):
        self.put("torch", "2.9.0+cu777")
        self.finds("variant-unknown", self.healthy_machine())

    def test_members_of_different_builds(self):
        self.put("torch", "2.9.0+cu130")
        self.put("torchvision", "0.24.0+cu130")
        self.lacks("family-labels-differ", self.healthy_machine())
        self.put("torchaudio", "2.9.0+cpu")
        found = self.finds("family-labels-differ", self.healthy_machine(), severity="error")
        self.assertIn("torchaudio 2.9.0+cpu is cpu", json.dumps(found["evidence"]))
        self.assertIn("variant install --refit torch torchvision torchaudio", found["hint"])

    def test_a_member_that_is_a_wheel_variant_has_its_own_label(self):
        document = variant_document({"cu130": [("nvidia", "cuda_version_lower_bound", ["13.0"])]}, ("nvidia",))
        self.put("torch", "2.9.0", label="cu130", document=document)
        self.put("torchvision", "0.24.0+cu130")
        self.lacks("family-labels-differ", self.healthy_machine())
        self.put("torchaudio", "2.9.0+cpu")
        found = self.finds("family-labels-differ", self.healthy_machine())
        self.assertIn("torch 2.9.0 is cu130 (variant.json)", json.dumps(found["evidence"]))

    def test_unlike_gpus_each_have_code_in_the_build(self):
        turing = {**H100, "name": "RTX 2080", "pci_address": "0000:02:00.0", "arch": "7.5"}
        self.put("torch", "2.9.0+cu128")
        both = self.machine([H100, turing], [DRIVER])
        self.lacks("variant-misfit", both)
        pascal = self.machine([H100, {**turing, "arch": "6.1"}], [DRIVER])
        self.finds("variant-misfit", pascal, severity="error")
        for policy in ("any", "first", "device=h100"):
            self.lacks("variant-misfit", pascal, "--gpu-policy", policy)
        self.lacks("variant-misfit", pascal, env={"AXLE_GPU_POLICY": "any"})

    def test_members_of_nearly_the_same_build_are_a_warning(self):
        self.put("torch", "2.9.0+cu128")
        self.put("torchvision", "0.24.0+cu126")
        self.finds("family-labels-differ", self.healthy_machine(), severity="warning")

    def test_a_member_made_for_another_release(self):
        self.put("torch", "2.9.0+cu130")
        self.put("torchvision", "0.25.0+cu130")
        self.finds("family-versions-differ", self.healthy_machine(), severity="error")
        self.lacks("family-labels-differ", self.healthy_machine())


class Codes(unittest.TestCase):
    def test_every_code_has_a_test_that_provokes_it(self):
        texts = "".join(path.read_text() for path in (SOURCE / "tests/e2e/doctor").glob("*_test.py"))
        self.assertEqual(CODES - set(re.findall(r'\.(?:finds|on)\(\s*"([a-z-]+)"', texts)), set())


if __name__ == "__main__":
    unittest.main()
