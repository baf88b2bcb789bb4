"""Wheels that do not belong into an environment: of another Python or C library, for another GPU backend, built for another
torch; with pip and the loader as oracles, and fixed as `variant doctor` proposes."""

import pathlib
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from doctor_case import H100, level_cpu
from fix_case import FixTestCase
from made_library import library
from support import PEERS, PYTHON, Wheel

HERE = subprocess.run([PYTHON, "-c", "import sys; print('cp%d%d' % sys.version_info[:2])"], check=True, text=True,
                      capture_output=True).stdout.strip()
SUFFIX = subprocess.run([PYTHON, "-c", "import sysconfig; print(sysconfig.get_config_var('EXT_SUFFIX'))"], check=True,
                        text=True, capture_output=True).stdout.strip()
LINUX = f"{HERE}-{HERE}-linux_x86_64"
OTHER_SUFFIX = ".cpython-37m-x86_64-linux-gnu.so"
MUSL = "libc.musl-x86_64.so.1"


class Foreign(FixTestCase):
    def publish_demo(self, **files):
        self.publish(Wheel("demo", "1.0", files={"demo/__init__.py": "", f"demo/_fast{SUFFIX}": library(), **files}, tags=LINUX))

    def pip_says(self, fits):
        """pip compares the tags in WHEEL as it installs by them."""
        if (PEERS / "uv").exists():
            checked = self.pip("check")
            self.assertEqual("is not supported on this platform" not in checked.out, fits, str(checked))

    def put_demo(self, tags, suffix=SUFFIX, **options):
        return self.put_wheel(Wheel("demo", "1.0", tags=tags,
                                    files={"demo/__init__.py": "", f"demo/_fast{suffix}": library(**options)}))

    def test_the_wheels_of_this_interpreter_are_sound(self):
        for tags in (LINUX, f"{HERE}-{HERE}-manylinux_2_17_x86_64", f"{HERE}-abi3-manylinux2014_x86_64", "py3-none-any"):
            self.put_demo(tags)
            self.pip_says(fits=True)
            self.sound()
        self.put_demo(LINUX, ".abi3.so")
        self.sound()
        # For several interpreters: this one takes its own.
        several = {f"demo/_fast{suffix}": library() for suffix in (SUFFIX, OTHER_SUFFIX)}
        self.put_wheel(Wheel("demo", "1.0", files={"demo/__init__.py": "", **several}))
        self.sound()

    def test_a_wheel_of_another_python(self):
        self.publish_demo()
        self.put_demo("cp37-cp37m-manylinux_2_17_x86_64", OTHER_SUFFIX)
        self.pip_says(fits=False)
        found = self.fixes("wheel-foreign", self.good)
        self.assertIn(f"is for cp37-cp37m, and this interpreter is {HERE}", found["message"])
        self.assertEqual(found["evidence"][0]["fact"], "cp37-cp37m-manylinux_2_17_x86_64")
        self.assertTrue((self.site() / f"demo/_fast{SUFFIX}").exists())
        self.pip_says(fits=True)

    def test_a_wheel_of_another_c_library(self):
        for tags in (f"{HERE}-{HERE}-musllinux_1_2_x86_64", f"{HERE}-{HERE}-manylinux_2_99_x86_64"):
            self.publish_demo()
            self.put_demo(tags)
            self.pip_says(fits=False)
            found = self.fixes("wheel-foreign", self.good)
            self.assertIn(f"is for {tags.split('-')[-1]}, and this interpreter is", found["message"])
            self.pip_says(fits=True)
            self.sound()

    def test_libraries_of_another_c_library(self):
        self.publish_demo()
        self.put_demo("py3-none-any", ".so", needed=[MUSL])
        found = self.fixes("wheel-foreign", self.good)
        self.assertEqual((found["severity"], found["evidence"][0]["fact"]), ("error", "is linked with musl"))
        self.sound()
        both = {"demo/a.so": library(needed=[MUSL]), "demo/b.so": library(needed=["libc.so.6"])}
        self.put_wheel(Wheel("demo", "1.0", files=both))
        self.lacks("wheel-foreign", self.good)  # it chooses among them

    def test_modules_that_this_interpreter_never_loads(self):
        self.publish_demo()
        for suffix in (OTHER_SUFFIX, SUFFIX.replace("-gnu", "-musl")):
            self.put_demo("py3-none-any", suffix)
            if suffix != OTHER_SUFFIX:
                (self.site() / f"demo/_fast{SUFFIX}").unlink(missing_ok=True)
            found = self.fixes("wheel-foreign", self.good)
            self.assertEqual(found["severity"], "warning")
            self.assertEqual(found["evidence"][0]["file"], f"demo/_fast{suffix}")

    def test_a_wheel_that_was_named_by_its_path_comes_from_the_index(self):
        self.publish_demo()
        info = self.put_demo("cp37-cp37m-manylinux_2_17_x86_64", OTHER_SUFFIX)
        there = Wheel("demo", "1.0", tags="cp37-cp37m-manylinux_2_17_x86_64").write(self.root / "wheels")
        (info / "direct_url.json").write_text('{"url": "' + there.as_uri() + '", "archive_info": {}}')
        self.assertEqual(len(self.finds("wheel-foreign", self.good, severity="error")["fix"]), 1)
        self.fixes("wheel-foreign", self.good)

    def test_many_are_one_finding(self):
        for name in ("one", "three", "two"):
            self.publish(Wheel(name, "1.0", tags=LINUX))
            self.put_wheel(Wheel(name, "1.0", tags="cp37-cp37m-linux_x86_64"))
        found = self.fixes("wheel-foreign", self.good)
        self.assertEqual(found["subject"], "one 1.0 and 2 more")
        self.sound()


    def test_each_reason_is_a_finding(self):
        tags = {"one": "cp37-cp37m-linux_x86_64", "two": "cp36-cp36m-manylinux1_x86_64",
                "three": f"{HERE}-{HERE}-musllinux_1_2_x86_64", "four": f"{HERE}-{HERE}-manylinux_2_99_x86_64",
                "five": f"{HERE}-{HERE}-manylinux_2_17_aarch64", "six": f"{HERE}-{HERE}-win_amd64"}
        for name, tag in tags.items():
            self.publish(Wheel(name, "1.0", tags=LINUX))
            self.put_wheel(Wheel(name, "1.0", tags=tag))
        self.put_wheel(Wheel("seven", "1.0", files={"seven/__init__.py": "", f"seven/_fast{OTHER_SUFFIX}": library()}))
        found = {one["subject"]: one for one in self.doctor(self.good)["findings"] if one["code"] == "wheel-foreign"}
        self.assertEqual({subject: [(self.site() / one["file"]).name for one in finding["evidence"]]
                          for subject, finding in found.items()},
                         {"one 1.0 and 1 more": ["WHEEL"] * 2, "four 1.0 and 1 more": ["WHEEL"] * 2,
                          "five 1.0 and 1 more": ["WHEEL"] * 2, "seven 1.0": [f"_fast{OTHER_SUFFIX}"]})
        self.assertIn("the wheels are for cp37-cp37m, cp36-cp36m, and this interpreter", found["one 1.0 and 1 more"]["message"])
        self.assertIn("for manylinux_2_99_x86_64, musllinux_1_2_x86_64, and", found["four 1.0 and 1 more"]["message"])
        self.assertIn("for manylinux_2_17_aarch64, win_amd64, and", found["five 1.0 and 1 more"]["message"])
        for _ in range(3):
            self.assertEqual(len(self.fixes("wheel-foreign", self.good)["fix"]), 2)
        self.assertEqual(self.finds("wheel-foreign", self.good)["subject"], "seven 1.0")

    def test_each_package_is_named(self):
        for i in range(12):
            self.put_wheel(Wheel(f"many{i:02}", "1.0", tags="cp37-cp37m-linux_x86_64"))
        found = self.finds("wheel-foreign", self.good)
        self.assertEqual([f"/many{i:02}-1.0.dist-info/WHEEL" in found["evidence"][i]["file"] for i in range(12)], [True] * 12)

    def test_a_package_that_the_index_has_no_fitting_wheel_of(self):
        for name in ("absent", "there"):
            self.put_wheel(Wheel(name, "1.0", tags="cp37-cp37m-linux_x86_64"))
        self.publish(Wheel("absent", "1.0", tags="cp37-cp37m-linux_x86_64"), Wheel("there", "1.0", tags=LINUX))
        found = self.finds("wheel-foreign", self.good)
        self.assertEqual(len(found["fix"]), 2)
        self.assertIn("; variant install", found["hint"])
        subprocess.run(["/bin/sh", "-c", found["hint"]], env=self.env, capture_output=True, timeout=240)
        self.assertEqual(self.finds("wheel-foreign", self.good)["subject"], "absent 1.0")


class Elsewhere(FixTestCase):
    """With --for the tags are those of that machine's Python, as for `variant install --for`."""

    def put_demo(self, platform, files=None):
        tags = "py3-none-any" if platform == "any" else f"{HERE}-{HERE}-{platform}"
        self.put_wheel(Wheel("demo", "1.0", tags=tags, files=files or {"demo/__init__.py": ""}))

    def test_another_system(self):
        for machine, own, other in (("windows", "win_amd64", "win_arm64"), ("windows;aarch64", "win_arm64", "win_amd64"),
                                    ("macos:15", "macosx_11_0_arm64", "macosx_11_0_x86_64"),
                                    ("macos:12;x86_64", "macosx_10_9_x86_64", "macosx_13_0_x86_64")):
            for platform in ("linux_x86_64", "manylinux_2_17_x86_64", other):
                self.put_demo(platform)
                found = self.finds("wheel-foreign", machine, severity="error")
                self.assertRegex(found["message"], f"is for {platform}, and this interpreter is {HERE} on (win|macosx)_")
                self.assertEqual((found["subject"], found["fix"]), ("demo 1.0", []))
                self.assertIn("on that machine", found["hint"])
            for platform in (own, "any"):
                self.put_demo(platform)
                self.lacks("wheel-foreign", machine)

    def test_compiled_modules_for_linux_in_a_wheel_for_all(self):
        self.put_demo("any", {"demo/__init__.py": "", f"demo/_fast{SUFFIX}": library()})
        self.lacks("wheel-foreign", self.good)
        found = self.finds("wheel-foreign", "windows", severity="warning")
        self.assertEqual(found["evidence"][0]["file"], f"demo/_fast{SUFFIX}")

    def test_another_c_library_or_architecture(self):
        arm = self.machine(name="arm.json", cpu={"arch": "aarch64"}, libc={"family": "glibc", "version": "2.28"})
        for machine, fitting in (("alpine-container", "musllinux_1_2_x86_64"), (arm, "manylinux_2_28_aarch64"),
                                 (arm, "linux_aarch64")):
            self.publish(Wheel("demo", "1.0", tags=f"{HERE}-{HERE}-{fitting}", files={"demo/__init__.py": "# that"}))
            self.put_demo("manylinux_2_17_x86_64")
            self.lacks("wheel-foreign", self.good)
            found = self.fixes("wheel-foreign", machine)
            self.assertIn("is for manylinux_2_17_x86_64, and this interpreter is", found["message"])
            self.assertEqual((self.site() / "demo/__init__.py").read_text(), "# that")
            self.finds("wheel-foreign")
        # An older C library than this one.
        self.put_demo("manylinux_2_31_x86_64")
        old = self.machine(name="old.json", libc={"family": "glibc", "version": "2.28"})
        self.finds("wheel-foreign", old, severity="error")

    def test_a_package_for_another_architecture_is_one_finding(self):
        arm = self.machine(name="arm.json", cpu={"arch": "aarch64"})
        self.put_demo("linux_x86_64", {"demo/__init__.py": "", f"demo/_fast{SUFFIX}": library()})
        codes = [one["code"] for one in self.doctor(arm)["findings"] if "demo" in one["subject"]]
        self.assertEqual(codes, ["wheel-foreign"])


FOO, BAR = "_ZN3c103fooEv", "_ZN3c103barEv"


class Torch(FixTestCase):
    def put_torch(self, version="2.10.0+cpu", defined=(FOO,)):
        self.put("torch", version, {"torch/lib/libc10.so": library(soname="libc10.so", defined=defined),
                                    "torch/lib/libtorch.so": library(soname="libtorch.so", needed=["libc10.so"])})

    def extension(self, version, *undefined, needed=("libc10.so",), **more):
        return Wheel("flash", version, requires=["torch"], tags=LINUX, files={
            "flash/__init__.py": "", f"flash/_C{SUFFIX}": library(needed=needed, undefined=undefined,
                                                                  defined=["PyInit__C"]), **more})

    def test_an_extension_that_was_built_for_another_torch(self):
        self.put_torch()
        self.put_wheel(self.extension("1.0", BAR))
        self.publish(self.extension("1.0", BAR), self.extension("1.1", FOO), self.extension("1.2", BAR))
        found = self.fixes("abi-misfit", None)
        self.assertEqual((found["subject"], found["severity"]), ("flash 1.0", "error"))
        self.assertIn("needs c10::bar(), which torch 2.10.0+cpu lacks", found["message"])
        self.assertEqual(found["evidence"][0]["file"], f"flash/_C{SUFFIX}")
        self.assertEqual(self.installed()["flash"][0], "1.1")
        self.assertEqual(self.installed()["torch"][0], "2.10.0+cpu")
        self.lacks("abi-misfit")

    def test_symbols_in_what_torch_needs_in_turn_are_there(self):
        self.put_torch()
        self.put_wheel(self.extension("1.0", FOO, needed=["libtorch.so"]))
        self.lacks("abi-misfit")
        # Of a namespace that nothing it is linked with has, nothing is known.
        self.put_wheel(self.extension("1.0", "_ZN5other3barEv", "PyObject_Call", "cuLaunchKernel"))
        self.lacks("abi-misfit")

    def test_the_loader_agrees(self):
        if not shutil.which("c++"):
            self.skipTest("needs c++")
        sources = {"libc10.so": "namespace c10 { int foo() { return 1; } }",
                   "_C.so": "namespace c10 { int foo(); int NAME(); } int call() { return c10::foo() + c10::NAME(); }"}
        torch = {"libc10.so": self.compiled(sources["libc10.so"], "-Wl,-soname,libc10.so", name="libc10.so")}
        self.put("torch", "2.10.0+cpu", {"torch/lib/libc10.so": torch["libc10.so"]})
        for name, loads in (("foo", True), ("bar", False)):
            made = self.compiled(sources["_C.so"].replace("NAME", name), str(self.site() / "torch/lib/libc10.so"),
                                 "-Wl,-rpath,$ORIGIN/../torch/lib", name="_C.so")
            self.put("flash", "1.0", {"flash/_C.so": made})
            loaded = subprocess.run([PYTHON, "-c", "import ctypes, os, sys; ctypes.CDLL(sys.argv[1], mode=os.RTLD_NOW)",
                                     self.site() / "flash/_C.so"], text=True, capture_output=True)
            self.assertEqual(loaded.returncode == 0, loads, loaded.stderr)
            if loads:
                self.lacks("abi-misfit")
            else:
                self.assertIn("undefined symbol: _ZN3c103barEv", loaded.stderr)
                found = self.finds("abi-misfit")
                self.assertIn("c10::bar()", found["message"])

    def compiled(self, source, *options, name):
        (self.root / "source.cpp").write_text(source)
        made = self.root / "made" / name
        made.parent.mkdir(exist_ok=True)
        subprocess.run(["c++", "-shared", "-fPIC", "-o", made, self.root / "source.cpp", *options], check=True)
        return made.read_bytes()

    def test_a_library_of_another_version(self):
        """Not one of CUDA, which a machine may have."""
        self.put("runtime", "2.0", {"runtime/lib/libaxle-test.so.2": library(soname="libaxle-test.so.2")})
        self.put_torch()
        old, new = ["libaxle-test.so.1"], ["libaxle-test.so.2"]
        self.put_wheel(self.extension("1.0", needed=old))
        self.publish(self.extension("1.0", needed=old), self.extension("1.1", needed=new))
        found = self.fixes("abi-misfit", None)
        self.assertIn("needs libaxle-test.so.1, which runtime 2.0 lacks", found["message"])
        self.lacks("abi-misfit")
        # With libraries for several it takes the one that is there, as bitsandbytes does.
        other = {f"flash/_C1{SUFFIX}": library(needed=old)}
        self.put_wheel(self.extension("1.1", needed=new, **other))
        self.lacks("abi-misfit")
        # And what the loader finds elsewhere is not missing.
        folder = self.root / "cuda"
        folder.mkdir()
        (folder / "libaxle-test.so.1").write_bytes(library(soname="libaxle-test.so.1"))
        (self.site() / f"flash/_C1{SUFFIX}").unlink()
        self.put_wheel(self.extension("1.1", needed=old))
        self.finds("abi-misfit")
        self.lacks("abi-misfit", env={"LD_LIBRARY_PATH": str(folder)})

    def test_a_member_of_the_family_comes_with_its_torch(self):
        self.publish_torch("2.10")
        self.put_torch("2.10.0+cpu")
        none = self.machine(name="none.json", cpu=level_cpu(3))
        vision = {"torchvision/_C.so": library(needed=["libc10.so"], undefined=[BAR])}
        self.put("torchvision", "0.25.0+cpu", vision)
        self.assertIn("--reinstall", self.fixes("abi-misfit", none)["fix"][0])
        self.assert_ok(self.variant("uninstall", "torchvision", "--python", self.venv))
        self.put("torchvision", "0.24.0+cpu", vision)
        self.assertIn("--refit torch torchvision", self.fixes("abi-misfit", none)["fix"][0])
        self.assertEqual(self.installed()["torchvision"][0], "0.25.0+cpu")

    def test_a_local_version_that_names_another_torch(self):
        self.put("torch", "2.10.0+cpu")
        for torch in ("2.9", "2.10", "2.11"):
            self.publish(Wheel("flash-kernels", f"2.8.3+cputorch{torch}", requires=["torch"], tags=LINUX))
        self.put_wheel(Wheel("flash-kernels", "2.8.3+cputorch2.11", requires=["torch"], tags=LINUX))
        self.fixes("requirement-broken", self.good)
        self.assertEqual(self.installed()["flash-kernels"][0], "2.8.3+cputorch2.10")


OLD = {"vendor": "nvidia", "kernel_version": "570.26", "library_version": "570.26", "api_version": "12.8", "usable": "present"}


class Backends(FixTestCase):
    def runtime(self, cuda, requires=()):
        name = "nvidia-cuda-runtime" + ("" if cuda == 13 else f"-cu{cuda}")
        return self.put(name, f"{cuda}.0.96", {f"nvidia/cu{cuda}/lib/libcudart.so.{cuda}": library(soname=f"libcudart.so.{cuda}")},
                        requires)

    def test_a_torch_that_is_newer_than_the_driver(self):
        self.publish_torch("2.9")
        self.runtime(13)
        self.put("torch", "2.9.0+cu130", {"torch/_C.so": library(needed=["libcudart.so.13"])}, requires=["nvidia-cuda-runtime"])
        old = self.machine([H100], [OLD], name="old.json", cpu=level_cpu(3))
        found = self.fixes("cuda-driver-floor", old)
        self.assertIn("this one runs CUDA up to 12.8", found["message"])
        self.assertEqual(self.installed()["torch"], ("2.9.0+cu129", "cu129"))  # CUDA 12, which the driver runs
        self.assertNotIn("nvidia-cuda-runtime", self.installed())
        self.assertEqual([one["code"] for one in self.doctor(old)["findings"] if one["severity"] == "error"], [])

    def test_what_a_torch_that_is_newer_than_the_driver_leaves_behind(self):
        """As torch 2.15 requires it: by way of an extra."""
        self.publish_torch("2.9")
        self.runtime(13)
        self.put("nvidia-cufft", "12.2.0", {"nvidia/cu13/lib/libcufft.so.12": library(soname="libcufft.so.12")})
        info = self.put("cuda-toolkit", "13.2.2", requires=["nvidia-cuda-runtime; extra == 'cudart'",
                                                            "nvidia-cufft; extra == 'cufft'"])
        with open(info / "METADATA", "a") as metadata:
            metadata.write("Provides-Extra: cudart\nProvides-Extra: cufft\n")
        self.put("torch", "2.9.0+cu130", {"torch/_C.so": library(needed=["libcudart.so.13"])},
                 requires=["cuda-toolkit[cudart,cufft]"])
        old = self.machine([H100], [OLD], cpu=level_cpu(3))
        found = self.fixes("cuda-driver-floor", old, reveals=["backends-mixed"])
        self.assertEqual(len(found["fix"]), 1)
        found = self.fixes("backends-mixed", old)
        self.assertIn("uninstall cuda-toolkit nvidia-cuda-runtime nvidia-cufft", found["fix"][0])
        self.assertEqual(list(self.installed()), ["torch"])

    def test_a_runtime_that_nothing_needs_any_more(self):
        self.runtime(12)
        self.put("nvidia-cublas-cu12", "12.8.4", requires=["nvidia-cuda-runtime-cu12"])
        self.runtime(13)
        self.put("torch", "2.9.0+cu130", requires=["nvidia-cuda-runtime"])
        found = self.fixes("backends-mixed", self.good)
        self.assertEqual(found["subject"], "nvidia-cublas-cu12 12.8.4, nvidia-cuda-runtime-cu12 12.0.96")
        self.assertEqual(sorted(self.installed()), ["nvidia-cuda-runtime", "torch"])
        self.sound()

    def test_a_runtime_that_is_needed_by_way_of_an_extra(self):
        """torch 2.15 requires cuda-toolkit[cudart], whose extras require the runtime."""
        self.runtime(13)
        info = self.put("cuda-toolkit", "13.2.2", requires=["nvidia-cuda-runtime; extra == 'cudart'"])
        with open(info / "METADATA", "a") as metadata:
            metadata.write("Provides-Extra: cudart\n")
        self.put("torch", "2.9.0+cu130", requires=["cuda-toolkit[cudart]"])
        self.runtime(12)
        self.put("cupy-cuda12x", "13.6.0", {"cupy/__init__.py": ""}, requires=["nvidia-cuda-runtime-cu12"])
        found = [one["subject"] for one in self.doctor(self.good)["findings"] if one["code"] == "backends-mixed"]
        self.assertEqual(found, ["cupy-cuda12x 13.6.0"])

    def test_one_project_under_two_names(self):
        one = Wheel("cupy-cuda12x", "13.6.0", files={"cupy/__init__.py": "", "cupy/_core.so": library(soname="12")})
        other = Wheel("cupy-cuda13x", "13.6.0", files={"cupy/__init__.py": "", "cupy/_core.so": library(soname="13+")})
        self.publish(one, other)
        old = self.machine([H100], [OLD], name="old.json", cpu=level_cpu(3))
        for machine, kept in ((self.good, "cupy-cuda13x"), (old, "cupy-cuda12x")):
            self.put_wheel(one)
            self.put_wheel(other)
            found = self.fixes("backends-mixed", machine)
            self.assertEqual(found["severity"], "error")
            self.assertIn("cupy, cupyx, cupy_backends", found["message"])
            self.assertEqual(list(self.installed()), [kept])
            self.lacks("backends-mixed", machine)
            self.assert_ok(self.variant("uninstall", kept, "--python", self.venv))
        # What the rest goes with comes before what is newer.
        self.put_wheel(one)
        self.put_wheel(other)
        self.put("torch", "2.9.0+cu128")
        self.fixes("backends-mixed", self.good)
        self.assertEqual(sorted(self.installed()), ["cupy-cuda12x", "torch"])

    def test_packages_for_two_versions_of_cuda(self):
        cupy = [Wheel(f"cupy-cuda{cuda}x", "13.6.0", files={"cupy/__init__.py": str(cuda)}) for cuda in (12, 13)]
        self.publish(*cupy)
        self.put("torch", "2.9.0+cu130")
        self.put_wheel(cupy[0])
        found = self.fixes("backends-mixed", self.good)
        self.assertEqual((found["subject"], found["severity"]), ("cupy-cuda12x 13.6.0", "warning"))
        self.assertIn("for CUDA 12, and other packages of this environment for CUDA 13", found["message"])
        self.assertEqual(sorted(self.installed()), ["cupy-cuda13x", "torch"])
        self.sound()

    def test_packages_without_another_name(self):
        self.put("torch", "2.9.0+cu130")
        self.put("kernels", "1.0", {"kernels/_C.so": library(needed=["libcudart.so.12"])})
        found = self.finds("backends-mixed", self.good, severity="warning")
        self.assertEqual(found["fix"], [])
        self.assertIn("install builds of kernels 1.0 for CUDA 13", found["hint"])
        self.assertIn("torch 2.9.0+cu130 is for CUDA 13", found["evidence"][0]["fact"])
        self.assertEqual(found["evidence"][1]["file"], "kernels/_C.so")
        # It has libraries for both, and chooses.
        self.put("kernels", "1.0", {"kernels/_C.so": library(needed=["libcudart.so.12"]),
                                    "kernels/_C13.so": library(needed=["libcudart.so.13"])})
        self.lacks("backends-mixed", self.good)

    def test_a_backend_without_a_number(self):
        self.put("torch", "2.9.0+cu130")
        for name, version, backend in (("intel-extension-for-pytorch", "2.8.10+xpu", "XPU"), ("foo", "1.0+xpu", "XPU"),
                                       ("foo", "1.0+rocm", "ROCm"), ("foo-rocm", "1.0", "ROCm")):
            self.put(name, version, {f"{name}/_C.so": library(needed=["libm.so.6"])})
            found = self.finds("backends-mixed", self.good, severity="warning")
            self.assertEqual(found["subject"], f"{name} {version}")
            self.assertIn(f"for {backend}, and other packages of this environment for CUDA 13", found["message"])
            self.assertIn(f"{name} {version} is for {backend}", found["evidence"][1]["fact"])
            self.assertIn(f"install builds of {name} {version} for CUDA 13", found["hint"])
            self.assert_ok(self.variant("uninstall", name, "--python", self.venv))
        # Documents and tools have the word in their names, and no libraries.
        self.put("rocm-docs-core", "1.31.0", {"rocm_docs/__init__.py": ""})
        self.lacks("backends-mixed", self.good)
        self.assert_ok(self.variant("uninstall", "rocm-docs-core", "--python", self.venv))
        # Any version of it goes with them, the one that is used.
        self.runtime(12)
        self.put("numba-cuda", "0.1", {"numba_cuda/_C.so": library(needed=["libm.so.6"])})
        self.assertEqual([(one["code"], one["subject"]) for one in self.doctor(self.good)["findings"]],
                         [("backends-mixed", "nvidia-cuda-runtime-cu12 12.0.96")])
        self.assert_ok(self.variant("uninstall", *self.installed(), "--python", self.venv))
        self.put("torch", "2.9.0+rocm6.4")
        self.put("foo-rocm", "1.0", {"foo/_C.so": library(needed=["libm.so.6"])})
        self.lacks("backends-mixed", "mi300x")

    def test_another_distribution_for_the_gpus_backend(self):
        for name in ("onnxruntime", "onnxruntime-gpu", "tensorflow", "cupy-rocm-7-0"):
            self.publish(Wheel(name, "1.0", files={f"{name.split('-')[0]}/__init__.py": name}))
        for there, wrong, machine, instead in (
                ("torch 2.9.0+cu130", "onnxruntime-rocm", "h100", "onnxruntime-gpu"),
                ("torch 2.9.0+cu130", "tensorflow-rocm", "h100", "tensorflow"),
                ("cupy-cuda12x 13.6.0", "tensorflow-rocm", "h100", "tensorflow"),
                ("tensorflow-rocm 1.0", "cupy-cuda12x", "mi300x", "cupy-rocm-7-0")):
            native = library(needed=["libm.so.6"])
            self.put(*there.split(), {"there/_C.so": native})
            self.put_wheel(Wheel(wrong, "1.0", files={f"{wrong.split('-')[0]}/_C.so": native}))
            found = self.fixes("backends-mixed", machine)
            self.assertEqual((found["subject"], len(found["evidence"])), (f"{wrong} 1.0", 2))
            self.assertEqual(sorted(self.installed()), sorted([there.split()[0], instead]))
            self.lacks("backends-mixed", machine)
            self.assert_ok(self.variant("uninstall", *self.installed(), "--python", self.venv))

    def test_the_one_for_any_machine_where_no_gpu_suits(self):
        both = [Wheel(name, "1.0", files={"onnxruntime/__init__.py": name}) for name in ("onnxruntime", "onnxruntime-gpu")]
        self.publish(*both)
        for machine in ("windows-none", "macos15-m4"):
            for wheel in both:
                self.put_wheel(wheel)
            found = self.finds("backends-mixed", machine)
            self.assertEqual((found["subject"], found["fix"]), ("onnxruntime 1.0, onnxruntime-gpu 1.0", []))
            self.assertIn("on that machine, with onnxruntime and without onnxruntime-gpu", found["hint"])
        for machine, kept in (("none", 0), ("zen4", 0), ("mi300x", 0), ("h100", 1)):
            for wheel in both:
                self.put_wheel(wheel)
            found = self.fixes("backends-mixed", machine)
            self.assertEqual((found["severity"], found["subject"]),
                             ("error", ", ".join(f"{wheel.name} 1.0" for wheel in (both[kept], both[1 - kept]))))
            self.assertEqual(list(self.installed()), [both[kept].name], machine)
            self.assertEqual((self.site() / "onnxruntime/__init__.py").read_text(), both[kept].name)
            self.assert_ok(self.variant("uninstall", both[kept].name, "--python", self.venv))

    def test_members_of_one_family_have_their_own_finding(self):
        self.put("torch", "2.9.0+cu130")
        self.put("torchvision", "0.24.0+cu128")
        self.lacks("backends-mixed", self.good)
        self.finds("family-labels-differ", self.good)


if __name__ == "__main__":
    unittest.main()
