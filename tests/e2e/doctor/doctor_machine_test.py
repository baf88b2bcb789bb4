"""`variant doctor` on machines, and the features of a release on them."""

import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from doctor_case import DRIVER, H100, DoctorTestCase, level_cpu
from support import TestCase


class Machines(DoctorTestCase):
    def setUp(self):
        TestCase.setUp(self)

    def on(self, code, severity=None, gpus=(), drivers=(), **rest):
        return self.finds(code, self.machine(gpus, drivers, **rest), severity=severity, environment=False)

    def problem(self, word, vendor="nvidia"):
        return [{"code": f"{vendor}.{word}", "message": f"it is {word}", "hint": "do something"}]

    def blocked(self, word):
        return {**H100, "usable": "blocked", "reason_code": word, "reason": f"it is {word}; do something"}

    def test_a_container_that_was_started_without_the_gpu(self):
        found = self.on("container-without-gpu", "error", [self.blocked("no-device-nodes")],
                        problems=self.problem("no-device-nodes"), os={"system": "Linux", "container": "docker"})
        self.assertIn("docker run --gpus all", found["hint"])
        found = self.on("container-without-gpu", "error", [self.blocked("no-device-nodes")],
                        problems=self.problem("no-device-nodes"), os={"system": "Linux", "container": "podman"})
        self.assertIn("podman run --device nvidia.com/gpu=all", found["hint"])
        self.assertEqual(self.on("gpu-problem", "error", [self.blocked("no-device-nodes")],
                                 problems=self.problem("no-device-nodes"))["evidence"][0]["fact"],
                         "nvidia.no-device-nodes")

    def test_how_each_kind_of_container_is_given_the_gpu(self):
        def hint(vendor, container, **os):
            problems = self.problem("no-device-nodes", vendor)
            machine = self.machine(problems=problems, os={"system": "Linux", "container": container, **os})
            return next(one["hint"] for one in self.doctor(machine, environment=False)["findings"]
                        if one["subject"] == vendor)

        for vendor, container, expected in [
                ("nvidia", "docker", "docker run --gpus all IMAGE"), ("nvidia", "kubernetes", "nvidia.com/gpu: 1"),
                ("nvidia", "lxc", "lxc config device add NAME gpu gpu"), ("nvidia", "apptainer", "exec --nv IMAGE"),
                ("amd", "docker", "docker run --device /dev/kfd --device /dev/dri IMAGE"),
                ("amd", "podman", "podman run --device /dev/kfd"), ("amd", "kubernetes", "amd.com/gpu: 1"),
                ("amd", "lxc", "lxc config device add NAME gpu gpu"), ("amd", "apptainer", "exec --rocm IMAGE"),
                ("intel", "docker", "docker run --device /dev/dri IMAGE")]:
            with self.subTest(vendor=vendor, container=container):
                self.assertIn(expected, hint(vendor, container))
        # What detect says is better than a guess: without a container, in one of another kind, on Tegra.
        for container, more in (("", {}), ("systemd-nspawn", {}), ("docker", {"tegra_release": "36.4.3"})):
            self.assertEqual(hint("nvidia", container, **more), "do something")
        self.assertEqual(hint("intel", "apptainer"), "do something")

    def test_permission(self):
        found = self.on("gpu-permission", "error", problems=self.problem("no-permission", "amd"))
        self.assertIn("usermod -aG render", found["hint"])

    def test_a_problem_without_a_known_fix_leads_to_the_kernel_log(self):
        problem = [{"code": "nvidia.driver-error", "message": "NVML failed with 3", "hint": ""}]
        self.assertIn("dmesg", self.on("gpu-problem", "error", problems=problem)["hint"])

    def test_two_driver_versions(self):
        self.on("driver-versions-differ", "error", problems=self.problem("driver-mismatch"))
        found = self.on("driver-versions-differ", "error", [H100], [{**DRIVER, "library_version": "575.57.08"}])
        self.assertIn("575.57.08", found["message"])

    def test_a_gpu_beside_others_that_cannot_be_used(self):
        self.on("gpu-unusable", "warning", [H100, {**self.blocked("other-driver"), "pci_address": "0000:02:00.0"}], [DRIVER])

    def test_masks(self):
        found = self.on("gpu-masked", "warning", [{**H100, "masked": True}], [DRIVER])
        self.assertEqual(found["hint"], "unset CUDA_VISIBLE_DEVICES")
        amd = {"vendor": "amd", "name": "W7900", "arch": "gfx1100", "usable": "present", "masked": True}
        self.assertIn("GPU_DEVICE_ORDINAL", self.on("gpu-masked", "warning", [amd])["hint"])
        for variable in ("GPU_DEVICE_ORDINAL", "CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"):
            found = self.on("gpu-masked", "warning", [{**amd, "sources": {"masked": variable}}])
            self.assertEqual(found["hint"], f"unset {variable}")
        self.on("gpu-masked", "info", [H100, {**H100, "pci_address": "0000:02:00.0", "masked": True}], [DRIVER])

    def test_instructions_that_the_kernel_withholds(self):
        cpu = level_cpu(4, amx_tile="blocked", amx_int8="blocked")
        found = self.on("cpu-withheld", "warning", cpu=cpu, os={"system": "Linux", "kernel": "5.15.0"})
        self.assertIn("5.16", found["hint"])
        self.assertIn("5.15.0", found["hint"])
        self.assertIn("amx_tile", json.dumps(found["evidence"]))

    def test_an_old_driver(self):
        old = {**DRIVER, "kernel_version": "570.26", "library_version": "570.26", "api_version": "12.8"}
        found = self.on("driver-old", "warning", [H100], [old])
        self.assertIn("580", found["hint"])

    def old_driver(self, gpu=H100, cpu=None, **rest):
        old = {**DRIVER, "kernel_version": "570.26", "library_version": "570.26", "api_version": "12.8"}
        body = self.doctor(self.machine([gpu], [old], cpu=cpu or level_cpu(4), **rest), environment=False)
        return [one["hint"] for one in body["findings"] if one["code"] == "driver-old"]

    def test_whose_driver_is_updated_where(self):
        self.assertIn("install NVIDIA's driver 580", self.old_driver()[0])
        self.assertIn("in Windows", self.old_driver(os={"system": "Linux", "wsl": True})[0])
        self.assertIn("host", self.old_driver(os={"system": "Linux", "container": "docker"})[0])
        self.assertIn("JetPack", self.old_driver(os={"system": "Linux", "tegra_release": "38.2.0"})[0])

    def test_a_newer_driver_is_no_use_for_a_gpu_that_newer_builds_left_out(self):
        self.assertEqual(self.old_driver({**H100, "name": "GTX 1080", "arch": "6.1"}), [])
        arm = {"arch": "aarch64", "capabilities": {}}
        self.assertEqual(self.old_driver({**H100, "name": "Orin", "arch": "8.7"}, arm), [])

    def test_a_mask_over_all_gpus_is_said_once_and_is_no_error(self):
        problem = {"code": "nvidia.all-masked", "message": "hidden by CUDA_VISIBLE_DEVICES", "hint": "unset it"}
        machine = self.machine([{**H100, "masked": True}], [DRIVER], problems=[problem], cpu=level_cpu(4))
        body = self.doctor(machine, environment=False)
        self.assertEqual([(one["code"], one["severity"]) for one in body["findings"]],
                         [("gpu-masked", "warning"), ("no-environment", "info")])

    def test_what_nobody_could_ask_is_a_warning(self):
        self.finds("gpu-problem", "b580-no-level-zero", environment=False, severity="warning")

    def test_graphics_of_the_processor_are_no_fault(self):
        self.finds("gpu-unusable", "uhd770", environment=False, severity="info")

    def test_an_image_gets_its_driver_from_the_host(self):
        found = self.finds("gpu-problem", "docker-without-libcuda", environment=False, severity="error")
        self.assertIn("--gpus all", found["hint"])

    def test_an_old_libc(self):
        self.on("libc-old", "warning", libc={"family": "glibc", "version": "2.17"})

    def test_what_is_only_worth_a_word(self):
        self.on("driver-without-gpu", "info", [], [DRIVER])
        self.on("compat-library", "info", [H100], [{**DRIVER, "compat_version": "13.0",
                                                     "compat_library": "/usr/local/cuda/compat/libcuda.so.1"}])
        self.on("gpu-override", "info", [{"vendor": "amd", "arch": "gfx1030", "usable": "present",
                                          "reason_code": "gfx-override", "reason": "gfx1031 taken as gfx1030"}])
        card = {"vendor": "amd", "arch": "gfx1100", "usable": "present", "name": "Radeon RX 7900 XTX"}
        graphics = {"vendor": "amd", "arch": "gfx1036", "usable": "present", "integrated": True}
        found = self.on("gpu-names-differ", "info", [card, graphics])
        self.assertIn("rocm-bootstrap 0.3.0 names gfx1100, gfx1036, Axle gfx1100", found["message"])
        self.on("wsl", "info", [H100], [DRIVER], os={"system": "Linux", "wsl": True})

    def test_each_way_to_fail_has_a_finding_and_a_fix(self):
        """The recorded and stated machines whose GPU does not work, and what fixes each."""
        for machine, code, hint in [
                ("docker-without-gpus", "container-without-gpu", "docker run --gpus all"),
                ("docker-without-libcuda", "gpu-problem", "docker run --gpus all"),
                ("driver-mismatch", "driver-versions-differ", "reboot"),
                ("driver-not-loaded", "gpu-problem", "install the NVIDIA driver"),
                ("nouveau", "gpu-problem", "install the NVIDIA driver"),
                ("vfio-h100", "gpu-problem", "bind it to nvidia"),
                ("nvidia-no-permission", "gpu-permission", "access"),
                ("rtx4090-cuda-compat", "gpu-problem", "compat folder from LD_LIBRARY_PATH"),
                ("hgx-no-fabric-manager", "gpu-problem", "nvidia-fabricmanager"),
                ("nvml-hangs", "gpu-problem", "dmesg"),
                ("cuda-crashes", "gpu-problem", "reinstall the driver"),
                ("mi210-docker-without-kfd", "container-without-gpu", "--device /dev/kfd"),
                ("mi210-no-render-group", "gpu-permission", "usermod -aG render"),
                ("b580-no-level-zero", "gpu-problem", "Level Zero")]:
            with self.subTest(machine=machine):
                found = [one for one in self.doctor(machine, environment=False)["findings"] if one["code"] == code]
                self.assertEqual(len(found), 1, found)
                self.assertIn(hint, found[0]["hint"])

    def test_machines_without_a_fault_have_no_error(self):
        for machine in ("a100-mig", "p5-h100x8", "rtx5090-rtx2080", "wsl-rtx4090", "jetson-orin-jp6", "jetson-thor-jp7",
                        "gke-sandbox-l4", "mi300x8-rocm64", "rx7900xtx-raphael", "arc-a770-rtx3060", "uhd770", "none",
                        "grace", "power9", "z15", "spacemit-x60", "tpu-v5e", "ascend-910b", "intel-npu"):
            with self.subTest(machine=machine):
                body = self.doctor(machine, environment=False)
                self.assertEqual([one for one in body["findings"] if one["severity"] == "error"], [])

    def test_a_healthy_machine_has_none_of_it(self):
        body = self.doctor(self.machine([H100], [DRIVER], cpu=level_cpu(4),
                                        libc={"family": "glibc", "version": "2.36"}), environment=False)
        self.assertEqual([one["code"] for one in body["findings"]], ["no-environment"])


class Features(DoctorTestCase):
    def setUp(self):
        TestCase.setUp(self)

    def features(self, machine, package="torch==2.9", **options):
        body = self.doctor(machine, "--for-package", package, environment=False, **options)
        return {one["name"]: one for one in body["features"]}

    def usable(self, machine, name, package="torch==2.9"):
        return self.features(machine, package)[name]["usable"]

    def test_features_by_gpu(self):
        for machine, expected in [
                ("h100", {"float8": "yes", "flash-attention": "yes", "compile-gpu": "yes", "bf16": "yes", "xpu": "no",
                          "xccl": "no", "cuda-graphs": "yes", "symmetric-memory": "no", "aotinductor": "yes",
                          "float8-rowwise": "yes", "float8-training": "yes", "mx-formats": "no", "nvshmem": "no",
                          "cutlass": "unknown", "composable-kernel": "no", "graph-partition": "yes", "muon": "yes",
                          "fsdp2-quantized": "no", "stable-abi": "yes", "compile-mps": "no", "sycl-extensions": "no"}),
                ("a100", {"float8": "no", "float8-rowwise": "no", "flash-attention": "yes", "bf16": "yes", "tf32": "yes"}),
                ("b200", {"float8": "yes", "float8-rowwise": "yes", "mx-formats": "yes"}),
                ("rtx5090", {"float8": "yes", "float8-rowwise": "unknown", "mx-formats": "yes"}),
                ("t4", {"float8": "no", "flash-attention": "no", "bf16": "no", "compile-gpu": "yes"}),
                ("gtx1080ti", {"compile-gpu": "no", "flex-attention": "no", "cuda-graphs": "yes", "bf16": "no"}),
                ("mi300x", {"float8": "yes", "float8-rowwise": "yes", "float8-training": "unknown",
                            "flash-attention": "yes", "xpu": "no", "bf16": "unknown", "mx-formats": "no",
                            "composable-kernel": "yes", "cutlass": "unknown", "flex-attention": "yes"}),
                ("rx7900xtx", {"float8": "no", "flash-attention": "yes", "composable-kernel": "no"}),
                ("rx9070", {"float8": "yes", "flash-attention": "yes"}),
                ("bmg", {"xpu": "yes", "xccl": "yes", "flex-attention": "yes", "float8": "no", "xpu-a16w4": "yes",
                         "sycl-extensions": "yes", "compile-gpu": "yes", "mx-formats": "unknown"}),
                ("none", {"float8": "no", "aotinductor": "yes", "amx-int8": "unknown", "cuda-graphs": "no"})]:
            found = self.features(machine)
            for name, usable in expected.items():
                with self.subTest(machine=machine, feature=name):
                    self.assertEqual(found[name]["usable"], usable, found[name])

    def test_every_answer_has_a_reason_and_known_ones_a_source(self):
        for machine in ("h100", "mi300x", "bmg", "none"):
            for one in self.features(machine).values():
                self.assertTrue(one["reason"], one)
                self.assertTrue(one["usable"] == "unknown" or one["source"], one)

    def test_two_gpus_but_nothing_known_of_their_links(self):
        machine = self.machine([H100, {**H100, "pci_address": "0000:02:00.0"}], [DRIVER])
        found = self.features(machine)["symmetric-memory"]
        self.assertEqual(found["usable"], "unknown")
        self.assertIn("NVLink", found["reason"])

    def test_unlike_gpus_and_the_policy(self):
        self.assertEqual(self.usable("rtx5090-rtx2080", "cuda-graphs"), "yes")
        turing = {**H100, "name": "RTX 2080", "pci_address": "0000:02:00.0", "arch": "7.5"}
        machine = self.machine([H100, turing], [DRIVER])
        both = self.features(machine)["float8"]
        self.assertEqual(both["usable"], "yes")
        self.assertIn("only on the H100", both["reason"])
        body = self.doctor(machine, "--for-package", "torch==2.9", "--gpu-policy", "device=rtx2080", environment=False)
        self.assertEqual({one["name"]: one["usable"] for one in body["features"]}["float8"], "no")

    def test_a_release_that_no_fact_speaks_of_is_unknown(self):
        self.assertEqual(self.usable("p5en-h200x8", "symmetric-memory", "torch==2.8"), "unknown")

    def test_releases_differ(self):
        self.assertIn("added in torch 2.8", self.features("bmg", "torch==2.7")["xccl"]["reason"])
        self.assertEqual(self.usable("bmg", "xccl", "torch==2.7"), "no")
        self.assertEqual(self.usable("bmg", "flex-attention", "torch==2.8"), "no")
        self.assertEqual(self.usable("bmg", "mx-formats", "torch==2.14"), "yes")
        self.assertEqual(self.usable("bmg", "quantized-llm-cpu", "torch==2.14"), "unknown")
        self.assertEqual(self.usable("h100", "float8", "torch==2.15"), "yes")

    def test_amx_by_the_cpu(self):
        def usable(presence, name):
            cpu = level_cpu(4, amx_tile=presence, amx_int8=presence, amx_bf16=presence, amx_fp16="absent")
            return self.features(self.machine(cpu=cpu))[name]

        self.assertEqual(usable("present", "amx-int8")["usable"], "yes")
        self.assertEqual(usable("present", "amx-int4")["usable"], "yes")
        self.assertIn("from M = 5 on", usable("present", "amx-int4")["note"])
        self.assertEqual(usable("present", "amx-fp16")["usable"], "no")
        self.assertEqual(usable("absent", "amx-int8")["usable"], "no")
        self.assertEqual(usable("unknown", "amx-int8")["usable"], "unknown")
        withheld = usable("blocked", "amx-int8")
        self.assertEqual(withheld["usable"], "no")
        self.assertIn("amx", withheld["reason"])

    def test_no_builds_for_another_system_or_c_library(self):
        cpu = level_cpu(4, amx_tile="blocked")
        mac = self.machine(cpu=cpu, os={"system": "Darwin", "kernel": "21.3.0"})
        for machine, reason in (("alpine-container", "no builds for this CPU and system"),
                                (mac, "torch 2.2 was the last release for macos_x86_64")):
            found = self.features(machine)["aotinductor"]
            self.assertEqual(found["usable"], "no", found)
            self.assertIn(reason, found["reason"])
        self.assertNotIn("5.16", self.finds("cpu-withheld", mac, environment=False)["hint"])
        unknown = self.machine(cpu=level_cpu(4), os={"system": ""})
        self.assertEqual(self.features(unknown)["aotinductor"]["usable"], "yes")

    def test_what_has_no_facts(self):
        body = self.doctor("h100", "--for-package", "demo==1.0", environment=False)
        self.assertEqual(body["features"], [])
        body = self.doctor("h100", "--for-package", "torch==9.9", environment=False)
        self.assertEqual(body["features"], [])
        self.assertEqual(self.variant("doctor", "--for", "h100", "--for-package", "==1").code, 2)
        text = self.variant("doctor", "--for", "h100", "--for-package", "torch==2.9")
        self.assertRegex(text.out, r"yes +float8")


if __name__ == "__main__":
    unittest.main()
