"""`variant doctor` on libraries: code for GPUs and CPUs, and other libraries of the same name."""

import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from doctor_case import DRIVER, H100, DoctorTestCase, level_cpu
from made_library import CUBIN, PTX, bundle, cuda_library, entry, fatbin, library
from support import variant_document


class Code(DoctorTestCase):
    def torch(self, *entries, **files):
        content = library([(".nv_fatbin", fatbin(*entries))])
        self.put("kernels", "1.0", {"kernels/_C.so": content, **files})

    def test_no_code_for_the_gpu(self):
        self.torch(entry(CUBIN, 75), entry(CUBIN, 80))
        found = self.finds("gpu-code-missing", self.healthy_machine(), severity="error")
        self.assertEqual(found["evidence"][0], {"file": "kernels/_C.so", "section": ".nv_fatbin", "fact": "sm_75 sm_80"})
        ampere = self.machine([{**H100, "arch": "8.6"}], [DRIVER])
        self.assertEqual(self.doctor(ampere)["findings"], [])

    def test_ptx_needs_the_driver_of_its_toolkit(self):
        self.torch(entry(CUBIN, 80), entry(PTX, 80, 0, (8, 7)))
        old = {**DRIVER, "kernel_version": "550.54.14", "library_version": "550.54.14", "api_version": "12.4"}
        found = self.finds("ptx-needs-driver", self.machine([H100], [old]), severity="error")
        self.assertIn("12.4", json.dumps(found["evidence"]))
        self.lacks("ptx-needs-driver", self.healthy_machine())

    def test_some_libraries_and_some_gpus(self):
        self.torch(entry(CUBIN, 90), **{"kernels/old.so": cuda_library(70)})
        found = self.finds("gpu-code-partial", self.healthy_machine(), severity="info")
        self.assertEqual(found["evidence"][0]["file"], "kernels/old.so")
        (self.site() / "kernels/old.so").unlink()
        mixed = self.machine([H100, {**H100, "pci_address": "0000:02:00.0", "arch": "7.5"}], [DRIVER])
        found = self.finds("gpu-code-partial", mixed, severity="warning")
        self.assertIn("7.5", found["message"])

    def test_code_that_cannot_be_read(self):
        self.put("kernels", "1.0", {"kernels/_C.so": library([(".nv_fatbin", b"nothing that is known" * 40)])})
        self.lacks("gpu-code-unknown", self.healthy_machine())
        broken = fatbin(entry(CUBIN, 75)) + b"something else that is not known" * 400
        self.put("kernels", "1.0", {"kernels/_C.so": library([(".nv_fatbin", broken)])})
        self.finds("gpu-code-unknown", self.healthy_machine(), severity="info")

    def test_amd_targets(self):
        self.put("kernels", "1.0", {"kernels/_C.so": library([(".hip_fatbin", bundle("gfx90a", "gfx11-generic"))])})
        self.finds("gpu-code-missing", "mi300x")
        self.lacks("gpu-code-missing", "rx7900xtx")

    def test_intel_images(self):
        name = "__CLANG_OFFLOAD_BUNDLE__sycl-spir64_gen"
        member = b"64.12.60.7/".ljust(16) + b"0".ljust(12) + b"0".ljust(6) * 2 + b"644".ljust(8) + b"2".ljust(10) + b"`\n"
        self.put("kernels", "1.0", {"kernels/_C.so": library([(name, b"!<arch>\n" + member + b"ab")])})
        self.finds("gpu-code-missing", "bmg")
        self.lacks("gpu-code-missing", "pvc")

    def test_code_that_the_driver_cannot_unpack(self):
        zstd, lz4 = 0x8000, 0x2000
        def on(version, cuda):
            return self.machine([H100], [{**DRIVER, "kernel_version": version, "library_version": version,
                                          "api_version": cuda}])

        self.torch(entry(CUBIN, 90, zstd), entry(CUBIN, 80))
        found = self.finds("gpu-code-packed", on("535.54.03", "12.2"), severity="error")
        self.assertIn("550.54.14", found["hint"])
        self.lacks("gpu-code-packed", on("550.54.14", "12.4"))
        self.torch(entry(CUBIN, 90, lz4))
        self.lacks("gpu-code-packed", on("535.54.03", "12.2"))

    def test_the_policy_says_which_gpus_count(self):
        turing = {**H100, "name": "RTX 2080", "pci_address": "0000:02:00.0", "arch": "7.5"}
        machine = self.machine([H100, turing], [DRIVER])
        self.torch(entry(CUBIN, 90))
        self.assertIn("RTX 2080", self.finds("gpu-code-partial", machine, severity="warning")["message"])
        self.finds("gpu-code-partial", machine, "--gpu-policy", "any", severity="info")
        self.lacks("gpu-code-partial", machine, "--gpu-policy", "device=h100")
        self.finds("gpu-code-missing", machine, "--gpu-policy", "device=rtx2080")

    def test_a_package_with_a_library_for_each_backend_is_not_the_wrong_one(self):
        self.put("bits", "1.0", {"bits/libcuda.so": cuda_library(90),
                                 "bits/libhip.so": library([(".hip_fatbin", bundle("gfx942"))])})
        for machine in (self.healthy_machine(), "mi300x", "none"):
            self.lacks("gpu-build-without-gpu", machine)

    def test_a_fix_is_no_command_that_changes_nothing(self):
        self.put("kernels", "1.0", {"kernels/_C.so": cuda_library(90)})
        self.assertNotIn("variant install", self.finds("gpu-build-without-gpu", "none")["hint"])
        self.put("torch", "2.9.0+cu128", {"torch/_C.so": cuda_library(90)})
        self.assertIn("variant install --refit torch", self.finds("gpu-build-without-gpu", "none")["hint"])

    def test_a_fix_brings_the_same_release_of_a_whole_family(self):
        self.put("torch", "2.9.0+cu128", {"torch/_C.so": cuda_library(90)})
        self.put("torchvision", "0.24.0+cu128", {"torchvision/_C.so": cuda_library(90)}, requires=["torch==2.9.0"])
        pascal = self.machine([{**H100, "arch": "6.1"}], [DRIVER])
        for code, machine in (("gpu-build-without-gpu", "none"), ("gpu-code-missing", pascal)):
            self.assertIn("install --refit torch torchvision --python", self.finds(code, machine)["hint"])

    def test_gpu_code_where_no_gpu_can_be_used(self):
        self.torch(entry(CUBIN, 90))
        self.finds("gpu-build-without-gpu", "none", severity="info")
        self.put("torch", "2.9.0+cu128", {"torch/_C.so": cuda_library(90)})
        self.finds("gpu-build-without-gpu", "none", severity="warning")
        self.lacks("gpu-build-without-gpu", self.healthy_machine())

    def test_the_driver_floor_of_the_run_time(self):
        self.put("nvidia-cuda-runtime", "13.0.96")
        old = {**DRIVER, "kernel_version": "570.26", "library_version": "570.26", "api_version": "12.8"}
        found = self.finds("cuda-driver-floor", self.machine([H100], [old]), severity="error")
        self.assertIn("580.65.06", found["message"])
        self.lacks("cuda-driver-floor", self.healthy_machine())
        self.put("nvidia-cuda-runtime-cu12", "12.9.1")
        self.assertEqual(len([one for one in self.doctor(self.machine([H100], [old]))["findings"]
                              if one["code"] == "cuda-driver-floor"]), 1)

    def test_the_driver_floor_of_a_bundled_run_time(self):
        old = self.machine([H100], [{**DRIVER, "kernel_version": "570.26", "api_version": "12.8"}])
        self.put("kernels", "1.0", {"kernels/_C.so": library(needed=["libcudart-9335f6a2.so.13.0.96"])})
        found = self.finds("cuda-driver-floor", old, severity="error")
        self.assertIn("kernels/_C.so", json.dumps(found["evidence"]))
        # One library for each CUDA: the package chooses.
        self.put("kernels", "1.0", {"kernels/_C.so": library(needed=["libcudart.so.13"]),
                                    "kernels/_C12.so": library(needed=["libcudart.so.12"])})
        self.lacks("cuda-driver-floor", old)

    def test_an_old_driver_is_said_once_for_each_cuda(self):
        old = self.machine([H100], [{**DRIVER, "kernel_version": "520.61.05", "api_version": "11.8"}])
        for name in ("one", "three", "two"):
            self.put(name, "1.0", {f"{name}/_C.so": library(needed=["libcudart.so.13"])})
        self.put("four", "1.0", {"four/_C.so": library(needed=["libcudart.so.12"])})
        found = [one for one in self.doctor(old)["findings"] if one["code"] == "cuda-driver-floor"]
        self.assertEqual([one["subject"] for one in found], ["four 1.0", "one 1.0 and 2 more"])
        self.assertIn("two/_C.so", json.dumps(found[1]["evidence"]))

    def test_a_level_that_the_loader_asks_for(self):
        self.put("kernels", "1.0", {"kernels/_C.so": library(isa=0b1111),
                                    "kernels/glibc-hwcaps/x86-64-v4/libx.so": library(isa=0b1111)})
        found = self.finds("cpu-level-missing", self.healthy_machine(cpu=level_cpu(3)), severity="error")
        self.assertIn("x86-64-v4", found["message"])
        self.assertEqual(found["hint"], "install a build of kernels for an older CPU, if there is one")
        self.lacks("cpu-level-missing", self.healthy_machine(cpu=level_cpu(4)))

    def test_what_nobody_knows_of_the_cpu_is_said(self):
        self.assertNotIn("instructions", json.dumps(self.doctor("h100", "--deep")["not_looked_at"]))
        self.put("kernels", "1.0", {"kernels/_C.so": library(isa=0b1111)})
        for machine in ("h100", "x86_64:v2"):
            unseen = json.dumps(self.lacks("cpu-level-missing", machine, "--deep")["not_looked_at"])
            self.assertIn("whether this CPU has x86-64-v4, which kernels/_C.so needs", unseen)
            self.assertIn("this CPU is not known to lack any", unseen)  # and nothing is disassembled
        for level in (3, 4):
            unseen = self.doctor(self.healthy_machine(cpu=level_cpu(level)))["not_looked_at"]
            self.assertNotIn("whether", json.dumps(unseen))
        self.put("kernels", "1.0", {"kernels/_C.so": library(isa=0b1)})  # what every x86-64 CPU has
        self.assertNotIn("whether", json.dumps(self.doctor("h100")["not_looked_at"]))

    def test_the_build_of_a_variant_for_an_older_cpu_is_chosen_anew(self):
        document = variant_document({"fast": [("x86_64", "level", ["v4"])]})
        self.put("kernels", "1.0+fast", {"kernels/_C.so": library(isa=0b1111)}, label="fast", document=document)
        hint = self.finds("cpu-level-missing", self.healthy_machine(cpu=level_cpu(3)))["hint"]
        self.assertTrue(hint.startswith("variant install --refit kernels --python"), hint)

    def test_another_architecture(self):
        self.put("kernels", "1.0", {"kernels/_C.so": library(machine=183)})
        self.finds("wrong-architecture", self.healthy_machine(cpu=level_cpu(3)), severity="error")
        self.put("kernels", "1.0", {"kernels/_C.so": library(machine=62)})
        self.lacks("wrong-architecture", self.healthy_machine(cpu=level_cpu(3)))

    def test_a_package_for_several_architectures_chooses_itself(self):
        self.put("attach", "1.0", {"attach/amd64.so": library(machine=62), "attach/arm64.so": library(machine=183)})
        self.lacks("wrong-architecture", self.healthy_machine(cpu=level_cpu(3)))

    def test_a_foreign_environment_is_said_once(self):
        for name in ("one", "two", "three"):
            self.put(name, "1.0", {f"{name}.abi3.so": cuda_library(75, machine=183)})
        body = self.doctor(self.healthy_machine(cpu=level_cpu(3)))
        self.assertEqual([one["code"] for one in body["findings"]], ["wrong-architecture"])
        self.assertIn("create the environment again", body["findings"][0]["hint"])

    def test_instructions_by_disassembly(self):
        made = self.vector_library('target("avx512f")')
        self.put("kernels", "1.0", {"kernels/_C.so": made})
        machine = self.healthy_machine(cpu=level_cpu(3))
        self.lacks("cpu-instructions", machine)
        found = self.finds("cpu-instructions", machine, "--deep", severity="warning")
        self.assertIn("never check the CPU", found["message"])
        self.assertIn("install a build of kernels for an older CPU", found["hint"])
        self.put("kernels", "1.0", {"kernels/_C_avx512.so": made})  # the package chooses it by its name
        self.finds("cpu-instructions", machine, "--deep", severity="info")
        by_chance = ("libassets.so", "_frozen.so", "librpc_v2.so", "bizen.so")
        self.put("kernels", "1.0", {f"kernels/{name}": made for name in by_chance})
        found = self.finds("cpu-instructions", machine, "--deep", severity="warning")
        self.assertIn("4 of its libraries", found["message"])
        chosen = ("libAVX2.so", "libggml-cpu-skylakex.so", "_k.sse42.abi3.so", "libk_x86_64_v4.so", "libk-x86-64-v3.so.1")
        self.put("kernels", "1.0", {f"kernels/{name}": made for name in chosen})
        self.finds("cpu-instructions", machine, "--deep", severity="info")
        self.lacks("cpu-instructions", self.healthy_machine(cpu=level_cpu(4)), "--deep")
        unknown = self.healthy_machine(cpu=level_cpu(3, avx512f="unknown"))
        self.assertIn("unknown for avx512f", json.dumps(self.doctor(unknown, "--deep")["not_looked_at"]))

    def test_instructions_behind_a_dispatcher(self):
        made = self.vector_library('target_clones("avx512f", "default")')
        self.put("kernels", "1.0", {"kernels/_C.so": made})
        found = self.finds("cpu-instructions", self.healthy_machine(cpu=level_cpu(3)), "--deep", severity="info")
        self.assertIn("avx512f", found["evidence"][0]["fact"])

    def test_a_library_of_gigabytes_costs_its_headers(self):
        content = bytearray(library([(".nv_fatbin", fatbin(entry(CUBIN, 90)))]))
        self.put("kernels", "1.0", {"kernels/_C.so": bytes(content)})
        path = self.site() / "kernels/_C.so"
        with open(path, "r+b") as file:
            file.truncate(8 << 30)
        body = self.doctor(self.healthy_machine())
        self.assertEqual([one["code"] for one in body["findings"]], ["files-changed"])  # longer than RECORD says
        self.assertLess(body["environment"]["bytes_read"], 50_000)


class Shadows(DoctorTestCase):
    def wheels(self, **paths):
        self.put("nvidia-cudnn-cu12", "9.10.2", {"nvidia/cudnn/lib/libcudnn.so.9": library(soname="libcudnn.so.9")})
        user = library(soname="libuser.so", needed=["libcudnn.so.9"], **paths)
        self.put("user", "1.0", {"user/libuser.so": user})

    def foreign(self):
        folder = self.root / "cuda"
        folder.mkdir()
        (folder / "libcudnn.so.9.1.0").write_bytes(library(soname="libcudnn.so.9"))
        (folder / "libcudnn.so.9").symlink_to("libcudnn.so.9.1.0")
        return {"LD_LIBRARY_PATH": str(folder)}

    def test_the_library_path_comes_before_runpath(self):
        self.wheels(runpath="$ORIGIN/../nvidia/cudnn/lib")
        self.lacks("library-shadowed", env={"LD_LIBRARY_PATH": ""})
        found = self.finds("library-shadowed", env=self.foreign(), severity="warning")
        self.assertIn("libcudnn.so.9.1.0", json.dumps(found))
        self.assertIn("nvidia-cudnn-cu12 9.10.2", json.dumps(found["evidence"]))
        self.assertIn("LD_LIBRARY_PATH", found["hint"])

    def test_rpath_comes_before_the_library_path(self):
        self.wheels(rpath="$ORIGIN/../nvidia/cudnn/lib")
        env = self.foreign()
        self.lacks("library-shadowed", env=env)
        self.finds("library-elsewhere", env=env, severity="info")

    def test_the_loader_passes_over_another_architecture(self):
        self.wheels(runpath="$ORIGIN/../nvidia/cudnn/lib")
        env = self.foreign()
        place = self.root / "cuda/libcudnn.so.9.1.0"
        place.write_bytes(library(soname="libcudnn.so.9", machine=183))
        self.lacks("library-shadowed", env=env)
        narrow = bytearray(library(soname="libcudnn.so.9"))
        narrow[4] = 1  # 32 bits
        place.write_bytes(narrow)
        self.lacks("library-shadowed", env=env)
        place.write_bytes(b"no library at all")
        self.finds("library-shadowed", env=env)

    def test_folders_for_cpu_levels_come_first(self):
        self.wheels(runpath="$ORIGIN/../nvidia/cudnn/lib")
        env = self.foreign()
        deep = self.root / "cuda/glibc-hwcaps/x86-64-v2"
        deep.mkdir(parents=True)
        (self.root / "cuda/libcudnn.so.9").rename(deep / "libcudnn.so.9")
        (deep / "libcudnn.so.9").unlink()
        (deep / "libcudnn.so.9").write_bytes(library(soname="libcudnn.so.9"))
        self.assertIn("glibc-hwcaps", self.finds("library-shadowed", env=env)["message"])

    def test_an_empty_item_of_the_path_is_the_working_folder(self):
        self.wheels(runpath="$ORIGIN/../nvidia/cudnn/lib")
        self.foreign()
        self.finds("library-shadowed", env={"LD_LIBRARY_PATH": "/nowhere:"}, cwd=self.root / "cuda")

    def test_two_packages_with_one_cuda_library(self):
        self.wheels(rpath="$ORIGIN/../nvidia/cudnn/lib")
        self.lacks("library-twice", self.healthy_machine())
        other = library([("more", b"x" * 64)], soname="libcudnn.so.9")
        copies = {"bundle/libcudnn.so.9": other, "bundle/libcudnn.so": other}
        self.put("bundle", "1.0", copies)
        self.lacks("library-twice", self.healthy_machine())  # opened by its path it is a library of its own
        self.put("bundle", "1.0", {**copies, "bundle/_C.so": library(needed=["libcudnn.so.9"], rpath="$ORIGIN")})
        found = self.finds("library-twice", self.healthy_machine(), severity="warning")
        self.assertIn("libcudnn.so.9 of bundle 1.0 and nvidia-cudnn-cu12 9.10.2", found["subject"])
        self.assertNotIn("uninstall", found["hint"])
        codes = [one["code"] for one in self.doctor(self.healthy_machine())["findings"]]
        self.assertEqual(codes.count("library-twice"), 1)

    def test_stock_torch_has_its_profiler_twice_and_nothing_is_wrong(self):
        """triton 3.3.1 opens its own libcupti by path, torch 2.7.1 that of nvidia-cuda-cupti-cu12."""
        names = ("libcupti.so.12", "libnvperf_host.so", "libnvperf_target.so")
        self.put("nvidia-cuda-cupti-cu12", "12.6.80",
                 {f"nvidia/cuda_cupti/lib/{name}": library(soname=name) for name in names})
        inner = {f"triton/backends/nvidia/lib/cupti/{name}": library([("more", b"x" * 64)], soname=name) for name in names}
        inner["triton/backends/nvidia/lib/cupti/libcupti.so"] = inner["triton/backends/nvidia/lib/cupti/libcupti.so.12"]
        self.put("triton", "3.3.1", inner)
        self.put("torch", "2.7.1+cu126", {"torch/lib/libtorch_cpu.so": library(
            soname="libtorch_cpu.so", needed=["libcupti.so.12"], rpath="$ORIGIN/../../nvidia/cuda_cupti/lib:$ORIGIN")})
        self.lacks("library-twice", self.healthy_machine())

    def test_what_is_no_library_of_cuda_may_be_there_twice(self):
        for name, more in (("one", b"x" * 64), ("two", b"x" * 128)):
            self.put(name, "1.0", {f"{name}/libcurl.so.4": library([("more", more)], soname="libcurl.so.4"),
                                   f"{name}/_C.so": library(needed=["libcurl.so.4"], rpath="$ORIGIN")})
        self.lacks("library-twice", self.healthy_machine())

    def test_what_the_machine_of_for_has_on_its_path_is_not_known(self):
        self.wheels(runpath="$ORIGIN/../nvidia/cudnn/lib")
        body = self.lacks("library-shadowed", self.healthy_machine(), env=self.foreign())
        self.assertIn("LD_LIBRARY_PATH", json.dumps(body["not_looked_at"]))


if __name__ == "__main__":
    unittest.main()
