"""`variant doctor`: each finding is provoked in an environment made for it, and absent from a healthy one."""

import json
import os
import re
import struct
import subprocess
import unittest

from support import BIN, SOURCE, TestCase, Wheel, variant_document

CODES = set(re.findall(r'FindingCode\{\s*"([a-z-]+)"', (SOURCE / "cli/doctor/finding.cpp").read_text()))
PROVOKED = set()
SKIPPED = set()

CUBIN, PTX = 2, 1
H100 = {"vendor": "nvidia", "name": "H100", "pci_address": "0000:01:00.0", "arch": "9.0", "usable": "present"}
DRIVER = {"vendor": "nvidia", "kernel_version": "580.65.06", "library_version": "580.65.06", "api_version": "13.0",
          "usable": "present"}


def entry(kind, architecture, flags=0, version=(1, 8)):
    payload = b"code" * 4
    head = struct.pack("<HHIQIIHHIQQ", kind, 0x101, 64, len(payload), 0, 0, version[1], version[0], architecture, 0,
                       flags | 0x11)
    return head.ljust(64, b"\0") + payload


def fatbin(*entries):
    body = b"".join(entries)
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


def bundle(*targets):
    ids = [b"host-x86_64-unknown-linux--"] + [f"hipv4-amdgcn-amd-amdhsa--{one}".encode() for one in targets]
    table = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(ids))
    for name in ids:
        table += struct.pack("<QQQ", 4096, 0 if name.startswith(b"host") else 16, len(name)) + name
    return table.ljust(4096, b"\0") + b"c" * 16


def library(sections=(), machine=62, soname="", needed=(), rpath="", runpath="", isa=0):
    """A shared library as bytes: a dynamic segment, notes, and sections with their content."""
    strings = b"\0"

    def text(word):
        nonlocal strings
        strings += word.encode() + b"\0"
        return len(strings) - len(word) - 1

    tags = [(1, text(one)) for one in needed]
    tags += [(tag, text(word)) for tag, word in ((14, soname), (15, rpath), (29, runpath)) if word]
    parts = [(".shstrtab", 3, b"")]
    if isa:
        value = struct.pack("<III", 0xC0008002, 4, isa) + b"\0" * 4
        parts.append((".note.gnu.property", 7, struct.pack("<III", 4, len(value), 5) + b"GNU\0" + value))
    parts += [(name, 1, content) for name, content in sections]
    names = b"\0" + b"".join(name.encode() + b"\0" for name, _, _ in parts)
    parts[0] = (".shstrtab", 3, names)
    at = 64 + 2 * 56
    dynamic_at = at
    dynamic_size = 16 * (len(tags) + 3)
    strings_at = dynamic_at + dynamic_size
    tags += [(5, strings_at), (10, len(strings)), (0, 0)]
    blob = b"".join(struct.pack("<QQ", *tag) for tag in tags) + strings
    headers = b"\0" * 64
    offset = 0
    for name, kind, content in parts:
        blob += b"\0" * (-(at + len(blob)) % 16)
        headers += struct.pack("<IIQQQQIIQQ", names.index(b"\0" + name.encode() + b"\0") + 1, kind, 0, 0,
                               at + len(blob), len(content), 0, 0, 8, 0)
        blob += content
    blob += b"\0" * (-(at + len(blob)) % 16)
    section_headers_at = at + len(blob)
    size = section_headers_at + len(headers)
    head = b"\x7fELF" + bytes([2, 1, 1]) + b"\0" * 9
    head += struct.pack("<HHIQQQIHHHHHH", 3, machine, 1, 0, 64, section_headers_at, 0, 64, 56, 2, 64,
                        len(parts) + 1, 1)
    segments = struct.pack("<IIQQQQQQ", 1, 4, 0, 0, 0, size, size, 4096)
    segments += struct.pack("<IIQQQQQQ", 2, 4, dynamic_at, dynamic_at, dynamic_at, dynamic_size, dynamic_size, 8)
    return head + segments + blob + headers


def cuda_library(*architectures, **options):
    return library([(".nv_fatbin", fatbin(*[entry(CUBIN, one) for one in architectures]))], **options)


class DoctorTestCase(TestCase):
    def setUp(self):
        super().setUp()
        self.make_venv()

    def put(self, name, version, files=None, requires=(), label=None, document=None, family=None, **bend):
        """Installs a package by hand, so that it may be wrong."""
        wheel = Wheel(name, version, label, document, files, requires)
        site = self.site()
        for path, content in wheel.members.items():
            place = site / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content.encode() if isinstance(content, str) else content)
        if family:
            (site / wheel.dist_info / "axle-family.json").write_text(json.dumps(family))
        (site / wheel.dist_info / "RECORD").write_text(bend.get("record", wheel.record()))
        return site / wheel.dist_info

    def machine(self, gpus=(), drivers=(), name="machine.json", **rest):
        path = self.root / name
        by_vendor = {one["vendor"]: {key: value for key, value in one.items() if key != "vendor"} for one in drivers}
        facts = {"schema_version": 1, "origin": {"kind": "synthesised", "source": "a test", "date": "2026-11-20"},
                 "cpu": {"arch": "x86_64"}, "gpus": list(gpus), "drivers": by_vendor, **rest}
        path.write_text(json.dumps(facts))
        return path

    def healthy_machine(self, **rest):
        return self.machine([H100], [DRIVER], **rest)

    def doctor(self, machine=None, *arguments, environment=True, **options):
        line = ["doctor", "--json", *arguments]
        if machine is not None:
            line += ["--for", machine]
        if environment:
            line += ["--python", self.venv]
        result = self.variant(*line, **options)
        self.assertIn(result.code, (0, 1), str(result))
        body = result.json
        errors = [one for one in body["findings"] if one["severity"] == "error"]
        self.assertEqual(result.code, 1 if errors else 0, str(result))
        for one in body["findings"]:
            self.assertIn(one["code"], CODES)
            PROVOKED.add(one["code"])
            self.assertTrue(one["message"])
            if one["severity"] == "error":
                self.assertTrue(one["mend"], one)
                self.assertTrue(one["evidence"], one)
        return body

    def finds(self, code, machine=None, *arguments, severity=None, **options):
        body = self.doctor(machine, *arguments, **options)
        found = [one for one in body["findings"] if one["code"] == code]
        self.assertTrue(found, f"{code} is not among {[one['code'] for one in body['findings']]}")
        if severity:
            self.assertEqual(found[0]["severity"], severity, found)
        return found[0]

    def lacks(self, code, machine=None, *arguments, **options):
        body = self.doctor(machine, *arguments, **options)
        self.assertNotIn(code, [one["code"] for one in body["findings"]], body["findings"])
        return body


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
        self.assertIn("nothing wrong was found", text.out)

    def test_an_empty_environment_and_the_machine_at_hand(self):
        body = self.doctor()
        self.assertEqual(body["machine"], "this machine")
        self.assertEqual(body["environment"]["packages"], 0)

    def test_without_an_environment_that_is_said(self):
        found = self.finds("no-environment", self.healthy_machine(), environment=False)
        self.assertIn("--python", found["mend"])
        self.lacks("no-environment", self.healthy_machine())
        wrong = self.variant("doctor", "--python", self.root / "nowhere", "--for", "h100")
        self.assertEqual(wrong.code, 1, str(wrong))


BEYOND_V3 = ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")


def level_cpu(level, **presence):
    """A CPU of that level, which lacks what v4 has beyond it; further capabilities by name."""
    inline = subprocess.run([str(BIN / "variant"), "detect", "--json", "--for", f"x86_64:v{level}"], check=True,
                            capture_output=True, text=True)
    cpu = json.loads(inline.stdout)["cpu"]
    absent = {} if level == 4 else dict.fromkeys(BEYOND_V3, "absent")
    capabilities = {**cpu["capabilities"], **absent, **presence}
    return {"arch": "x86_64", "capabilities": capabilities}


class Packages(DoctorTestCase):
    def setUp(self):
        super().setUp()
        self.good = self.healthy_machine()

    def test_broken_records(self):
        info = self.put("demo", "1.0")
        self.lacks("dist-info-broken", self.good)
        (info / "RECORD").write_text('"never closed')
        found = self.finds("dist-info-broken", self.good, severity="error")
        self.assertIn("variant install --reinstall demo==1.0 --python", found["mend"])
        (info / "METADATA").unlink()
        found = self.finds("dist-info-broken", self.good)
        self.assertIn("METADATA", json.dumps(found["evidence"]))
        self.assertTrue(found["mend"].startswith("rm -r /"), found["mend"])

    def test_files_that_are_gone_or_cut_off(self):
        self.put("demo", "1.0", {"demo/__init__.py": "x = 1\n", "demo/data.bin": b"0123456789"})
        self.lacks("files-missing", self.good)
        (self.site() / "demo/__init__.py").unlink()
        (self.site() / "demo/data.bin").write_bytes(b"0123")
        found = self.finds("files-missing", self.good, severity="error")
        self.assertIn("2 of its", found["message"])
        facts = {one["file"]: one["fact"] for one in found["evidence"]}
        self.assertEqual(facts["demo/__init__.py"], "is gone")
        self.assertIn("4 bytes", facts["demo/data.bin"])

    def test_two_packages_own_one_path(self):
        self.put("opencv-python", "4.10", {"cv2/__init__.py": "", "cv2/cv2.abi3.so": library(soname="one")})
        self.put("shared", "1.0", {"space/__init__.py": ""})
        self.put("shared-too", "1.0", {"space/__init__.py": ""})
        self.lacks("path-owned-twice", self.good)
        self.put("opencv-python-headless", "4.10", {"cv2/__init__.py": "", "cv2/cv2.abi3.so": library(soname="two")})
        found = self.finds("path-owned-twice", self.good, severity="error")
        self.assertEqual(found["evidence"][0]["file"], "cv2/cv2.abi3.so")
        self.assertIn("variant uninstall opencv-python-headless", found["mend"])

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
        self.assertTrue(found["mend"].startswith("variant install 'base>=2'"), found["mend"])
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

    def test_the_recorded_label_of_a_family(self):
        self.put("torch", "2.9.0", family={"family": "torch", "label": "cu130"})
        self.lacks("variant-misfit", self.healthy_machine())
        old = {**DRIVER, "kernel_version": "550.54.14", "library_version": "550.54.14", "api_version": "12.4"}
        found = self.finds("variant-misfit", self.machine([H100], [old]), severity="error")
        self.assertIn("13.0", json.dumps(found))
        self.assertIn("variant install --reinstall torch==2.9.0", found["mend"])

    def test_a_better_build_for_this_machine(self):
        self.put("torch", "2.9.0+cpu")
        found = self.finds("variant-not-best", self.healthy_machine(), severity="warning")
        self.assertIn("cu130", found["message"])
        self.lacks("variant-not-best", "none")

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
        self.assertIn("torch==2.9.0 torchvision torchaudio", found["mend"])

    def test_members_of_nearly_the_same_build_are_a_warning(self):
        self.put("torch", "2.9.0+cu128")
        self.put("torchvision", "0.24.0+cu126")
        self.finds("family-labels-differ", self.healthy_machine(), severity="warning")

    def test_a_member_made_for_another_release(self):
        self.put("torch", "2.9.0+cu130")
        self.put("torchvision", "0.25.0+cu130")
        self.finds("family-versions-differ", self.healthy_machine(), severity="error")
        self.lacks("family-labels-differ", self.healthy_machine())


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

    def test_gpu_code_where_no_gpu_can_be_used(self):
        self.torch(entry(CUBIN, 90))
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

    def test_a_level_that_the_loader_asks_for(self):
        self.put("kernels", "1.0", {"kernels/_C.so": library(isa=0b1111),
                                    "kernels/glibc-hwcaps/x86-64-v4/libx.so": library(isa=0b1111)})
        found = self.finds("cpu-level-missing", self.healthy_machine(cpu=level_cpu(3)), severity="error")
        self.assertIn("x86-64-v4", found["message"])
        self.lacks("cpu-level-missing", self.healthy_machine(cpu=level_cpu(4)))

    def test_another_architecture(self):
        self.put("kernels", "1.0", {"kernels/_C.so": library(machine=183)})
        self.finds("wrong-architecture", self.healthy_machine(cpu=level_cpu(3)), severity="error")
        self.put("kernels", "1.0", {"kernels/_C.so": library(machine=62)})
        self.lacks("wrong-architecture", self.healthy_machine(cpu=level_cpu(3)))

    def test_instructions_by_disassembly(self):
        if os.uname().machine != "x86_64" or subprocess.run(["sh", "-c", "command -v objdump && command -v cc"],
                                                            capture_output=True).returncode:
            SKIPPED.add("cpu-instructions")
            self.skipTest("needs objdump and cc on x86-64")
        (self.root / "f.c").write_text('__attribute__((target("avx512f"))) void f(float* p) {\n'
                                       "  for (int i = 0; i < 4096; ++i) p[i] *= 3.0f;\n}\n")
        made = self.root / "f.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-O3", "-mprefer-vector-width=512", "-o", made, self.root / "f.c"],
                       check=True)
        self.put("kernels", "1.0", {"kernels/_C.so": made.read_bytes()})
        machine = self.healthy_machine(cpu=level_cpu(3))
        self.lacks("cpu-instructions", machine)
        self.finds("cpu-instructions", machine, "--deep", severity="info")
        self.lacks("cpu-instructions", self.healthy_machine(cpu=level_cpu(4)), "--deep")

    def test_a_library_of_gigabytes_costs_its_headers(self):
        content = bytearray(library([(".nv_fatbin", fatbin(entry(CUBIN, 90)))]))
        self.put("kernels", "1.0", {"kernels/_C.so": bytes(content)})
        path = self.site() / "kernels/_C.so"
        with open(path, "r+b") as file:
            file.truncate(8 << 30)
        body = self.doctor(self.healthy_machine())
        self.assertEqual(body["findings"], [])
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
        self.assertIn("LD_LIBRARY_PATH", found["mend"])

    def test_rpath_comes_before_the_library_path(self):
        self.wheels(rpath="$ORIGIN/../nvidia/cudnn/lib")
        env = self.foreign()
        self.lacks("library-shadowed", env=env)
        self.finds("library-elsewhere", env=env, severity="info")

    def test_what_the_machine_of_for_has_on_its_path_is_not_known(self):
        self.wheels(runpath="$ORIGIN/../nvidia/cudnn/lib")
        body = self.lacks("library-shadowed", self.healthy_machine(), env=self.foreign())
        self.assertIn("LD_LIBRARY_PATH", json.dumps(body["not_looked_at"]))


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
        self.assertIn("docker run --gpus all", found["mend"])
        found = self.on("container-without-gpu", "error", [self.blocked("no-device-nodes")],
                        problems=self.problem("no-device-nodes"), os={"system": "Linux", "container": "podman"})
        self.assertIn("podman run --device nvidia.com/gpu=all", found["mend"])
        self.assertEqual(self.on("gpu-problem", "error", [self.blocked("no-device-nodes")],
                                 problems=self.problem("no-device-nodes"))["evidence"][0]["fact"],
                         "nvidia.no-device-nodes")

    def test_permission(self):
        found = self.on("gpu-permission", "error", problems=self.problem("no-permission", "amd"))
        self.assertIn("usermod -aG render", found["mend"])

    def test_a_problem_without_a_known_mend_leads_to_the_kernel_log(self):
        problem = [{"code": "nvidia.driver-error", "message": "NVML failed with 3", "hint": ""}]
        self.assertIn("dmesg", self.on("gpu-problem", "error", problems=problem)["mend"])

    def test_two_driver_versions(self):
        self.on("driver-versions-differ", "error", problems=self.problem("driver-mismatch"))
        found = self.on("driver-versions-differ", "error", [H100], [{**DRIVER, "library_version": "575.57.08"}])
        self.assertIn("575.57.08", found["message"])

    def test_a_gpu_beside_others_that_cannot_be_used(self):
        self.on("gpu-unusable", "warning", [H100, {**self.blocked("other-driver"), "pci_address": "0000:02:00.0"}], [DRIVER])

    def test_masks(self):
        found = self.on("gpu-masked", "warning", [{**H100, "masked": True}], [DRIVER])
        self.assertEqual(found["mend"], "unset CUDA_VISIBLE_DEVICES")
        self.on("gpu-masked", "info", [H100, {**H100, "pci_address": "0000:02:00.0", "masked": True}], [DRIVER])

    def test_instructions_that_the_kernel_withholds(self):
        cpu = level_cpu(4, amx_tile="blocked", amx_int8="blocked")
        found = self.on("cpu-withheld", "warning", cpu=cpu, os={"system": "Linux", "kernel": "5.15.0"})
        self.assertIn("5.16", found["mend"])
        self.assertIn("5.15.0", found["mend"])
        self.assertIn("amx_tile", json.dumps(found["evidence"]))

    def test_an_old_driver(self):
        old = {**DRIVER, "kernel_version": "570.26", "library_version": "570.26", "api_version": "12.8"}
        found = self.on("driver-old", "warning", [H100], [old])
        self.assertIn("580", found["mend"])

    def test_an_old_libc(self):
        self.on("libc-old", "warning", libc={"family": "glibc", "version": "2.17"})

    def test_what_is_only_worth_a_word(self):
        self.on("driver-without-gpu", "info", [], [DRIVER])
        self.on("compat-library", "info", [H100], [{**DRIVER, "compat_version": "13.0",
                                                     "compat_library": "/usr/local/cuda/compat/libcuda.so.1"}])
        self.on("gpu-override", "info", [{"vendor": "amd", "arch": "gfx1030", "usable": "present",
                                          "reason_code": "gfx-override", "reason": "gfx1031 taken as gfx1030"}])
        self.on("wsl", "info", [H100], [DRIVER], os={"system": "Linux", "wsl": True})

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
                          "xccl": "no", "cuda-graphs": "yes", "symmetric-memory": "no", "aotinductor": "yes"}),
                ("a100", {"float8": "no", "flash-attention": "yes", "bf16": "yes", "tf32": "yes"}),
                ("t4", {"float8": "no", "flash-attention": "no", "bf16": "no", "compile-gpu": "yes"}),
                ("gtx1080ti", {"compile-gpu": "no", "cuda-graphs": "yes", "bf16": "no"}),
                ("mi300x", {"float8": "yes", "flash-attention": "yes", "xpu": "no", "bf16": "unknown"}),
                ("rx7900xtx", {"float8": "unknown", "flash-attention": "unknown"}),
                ("bmg", {"xpu": "yes", "xccl": "yes", "flex-attention-xpu": "yes", "float8": "unknown"}),
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

    def test_releases_differ(self):
        self.assertIn("came with torch 2.8", self.features("bmg", "torch==2.7")["xccl"]["reason"])
        self.assertEqual(self.usable("bmg", "xccl", "torch==2.7"), "no")
        self.assertEqual(self.usable("bmg", "flex-attention-xpu", "torch==2.14"), "unknown")
        self.assertEqual(self.usable("h100", "float8", "torch"), "yes")

    def test_amx_by_the_cpu(self):
        def usable(presence, name):
            cpu = level_cpu(4, amx_tile=presence, amx_int8=presence, amx_bf16=presence, amx_fp16="absent")
            return self.features(self.machine(cpu=cpu))[name]

        self.assertEqual(usable("present", "amx-int8")["usable"], "yes")
        self.assertEqual(usable("present", "amx-fp16")["usable"], "no")
        self.assertEqual(usable("absent", "amx-int8")["usable"], "no")
        self.assertEqual(usable("unknown", "amx-int8")["usable"], "unknown")
        withheld = usable("blocked", "amx-int8")
        self.assertEqual(withheld["usable"], "no")
        self.assertIn("amx", withheld["reason"])

    def test_what_has_no_facts(self):
        body = self.doctor("h100", "--for-package", "demo==1.0", environment=False)
        self.assertEqual(body["features"], [])
        body = self.doctor("h100", "--for-package", "torch==9.9", environment=False)
        self.assertEqual(body["features"], [])
        self.assertEqual(self.variant("doctor", "--for", "h100", "--for-package", "==1").code, 2)
        text = self.variant("doctor", "--for", "h100", "--for-package", "torch==2.9")
        self.assertRegex(text.out, r"yes +float8")


class Zz(unittest.TestCase):
    def test_every_code_was_provoked(self):
        """Runs last, by its name."""
        self.assertEqual(CODES - PROVOKED - SKIPPED, set())


if __name__ == "__main__":
    unittest.main()
