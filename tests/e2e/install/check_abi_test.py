"""--check-abi: symbols and libraries that extension modules need, compared before anything is installed."""

import json
import os
import pathlib
import platform
import subprocess
import sys
import unittest
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from made_library import library  # noqa: E402
from support import BIN, Index, TestCase, Wheel, levels_document, tree  # noqa: E402

PLATFORM = "py3-none-linux_x86_64"
CHECK_OLD = "_ZN3c106detail23torchInternalAssertFailEPKcS2_jS2_RKSs"
CHECK_NEW = "_ZN3c106detail23torchInternalAssertFailEPKcS2_jS2_RKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
MACHINE = {"x86_64": 62, "aarch64": 183}.get(platform.machine(), 62)
PYTHON = ("PyModule_Create2", "_Py_Dealloc")


def torch(version, defined, cudart="12"):
    """A torch whose libc10 defines these symbols, and the CUDA runtime that it requires."""
    files = {"torch/lib/libc10.so": library(soname="libc10.so", defined=defined),
             "torch/lib/libtorch_cpu.so": library(soname="libtorch_cpu.so", needed=["libc10.so"],
                                                  defined=["_ZN2at4_ops3add4callE", "aoti_torch_new"]),
             "torch/__init__.py": ""}
    runtime = {f"nvidia/lib/libcudart.so.{cudart}": library(soname=f"libcudart.so.{cudart}", defined=["cudaMalloc"])}
    return [Wheel("torch", version, requires=[f"cuda-runtime=={cudart}.0"], tags=PLATFORM, files=files),
            Wheel("cuda-runtime", f"{cudart}.0", tags=PLATFORM, files=runtime)]


def flash(version, undefined=(), needed=("libc10.so", "libtorch_cpu.so", "libc.so.6"), **options):
    module = library(needed=needed, undefined=[*undefined, *PYTHON], **options)
    return Wheel("flash-attn", version, requires=["torch"], tags=PLATFORM,
                 files={"flash_attn_2_cuda.so": module, "flash_attn/__init__.py": ""})


class CheckAbiTest(TestCase):
    def setUp(self):
        super().setUp()
        self.index = Index(self.root / "index")
        self.index.folder.mkdir()
        self.make_venv()

    def put(self, *wheels):
        for wheel in wheels:
            self.index.add_wheel(wheel)

    def install(self, *arguments, url=None):
        return self.variant("install", "--check-abi", *arguments, "-i", url or self.index.url, "--python", self.venv)

    def versions(self):
        return {name.replace("_", "-"): version for name, (version, _) in self.installed().items()}

    def test_what_lacks_a_symbol_is_not_taken_and_the_next_build_is(self):
        self.put(*torch("2.10.0", [CHECK_NEW]), flash("2.8.3", [CHECK_OLD, "_ZN3c104goneEv"]),
                 flash("2.8.2", [CHECK_NEW], weak=["_ZN3c105maybeEv"]))
        done = self.assert_ok(self.install("flash-attn"))
        self.assertIn("flash-attn 2.8.3 is not taken: flash_attn_2_cuda.so needs c10::detail::torchInternalAssertFail("
                      "char const*, char const*, unsigned int, char const*, std::string const&), which torch 2.10.0 "
                      "lacks (and 1 more)", done.err)
        self.assertEqual(self.versions(), {"torch": "2.10.0", "cuda-runtime": "12.0", "flash-attn": "2.8.2"})
        self.assertRegex(done.err, r"ABI check: \d+ libraries compared, [\d.]+ kB of wheels read")

    def test_without_a_build_that_suits_nothing_is_installed(self):
        self.put(*torch("2.10.0", [CHECK_NEW]), flash("2.8.3", [CHECK_OLD]))
        before = tree(self.venv)
        refused = self.install("flash-attn")
        self.assertEqual(refused.code, 1, refused)
        self.assertIn("which torch 2.10.0 lacks", refused.err)
        self.assertEqual(tree(self.venv), before)
        # Without the check it is installed, as before.
        self.assert_ok(self.variant("install", "flash-attn", "-i", self.index.url, "--python", self.venv))

    def test_of_a_version_the_next_variant_is_tried(self):
        document = levels_document(("v1",))
        modules = {"v1": [CHECK_OLD], "null": [CHECK_NEW]}
        for label, undefined in modules.items():
            self.put(Wheel("flash-attn", "2.8.3", label, document, requires=["torch"], tags=PLATFORM,
                           files={"flash_attn_2_cuda.so": library(needed=["libc10.so"], undefined=undefined)}))
        self.index.add_variants("flash-attn", "2.8.3", document)
        self.put(*torch("2.10.0", [CHECK_NEW]), flash("2.8.3", [CHECK_OLD]), flash("2.8.2", [CHECK_NEW]))
        done = self.assert_ok(self.install("flash-attn", "--explain"))
        self.assertIn("flash-attn 2.8.3 (variant v1) is not taken: flash_attn_2_cuda.so needs", done.err)
        self.assertIn("which torch 2.10.0 lacks", done.out)
        self.assertEqual(self.installed()["flash-attn"], ("2.8.3", "null"))

    def test_of_a_version_the_plain_wheel_is_tried_before_an_older_version(self):
        document = levels_document(("v1",))
        del document["variants"]["null"]
        self.put(Wheel("flash-attn", "2.8.3", "v1", document, requires=["torch"], tags=PLATFORM,
                       files={"flash_attn_2_cuda.so": library(needed=["libc10.so"], undefined=[CHECK_OLD])}))
        self.index.add_variants("flash-attn", "2.8.3", document)
        self.put(*torch("2.10.0", [CHECK_NEW]), flash("2.8.3", [CHECK_NEW]), flash("2.8.2", [CHECK_NEW]))
        self.assert_ok(self.install("flash-attn"))
        self.assertEqual(self.installed()["flash-attn"], ("2.8.3", None))

    def test_the_installed_torch_counts(self):
        self.put(*torch("2.10.0", [CHECK_NEW]))
        self.assert_ok(self.variant("install", "torch", "-i", self.index.url, "--python", self.venv))
        self.put(flash("2.8.3", [CHECK_OLD]), flash("2.8.2", [CHECK_NEW]))
        done = self.assert_ok(self.install("flash-attn"))
        self.assertIn("which torch 2.10.0 lacks", done.err)
        self.assertEqual(self.versions()["flash-attn"], "2.8.2")

    def test_a_library_of_another_major_version(self):
        self.put(*torch("2.10.0", [CHECK_NEW], cudart="13"),
                 flash("2.8.3", needed=["libc10.so", "libcudart.so.12"]), flash("2.8.2", needed=["libcudart.so.13"]))
        done = self.assert_ok(self.install("flash-attn", "--dry-run"))
        self.assertIn("flash_attn_2_cuda.so needs libcudart.so.12, which cuda-runtime 13.0 lacks", done.err)
        self.assertEqual(self.versions(), {})

    def engine(self, cudart):
        module = library(needed=["libc10.so", f"libcudart.so.{cudart}"], undefined=[CHECK_NEW])
        return Wheel("engine", f"{cudart}.0", requires=["torch"], tags=PLATFORM, files={"engine.so": module})

    def for_cuda(self, version, cudart):
        """A torch that nothing but its libraries says what it is for."""
        wheels = torch(version, [CHECK_NEW], cudart)
        wheels[0].members["torch/lib/libtorch_cuda.so"] = library(soname="libtorch_cuda.so",
                                                                needed=["libc10.so", f"libcudart.so.{cudart}"])
        return wheels

    def test_needed_libraries_say_the_gpu_platform_and_torch_goes_back(self):
        self.put(*self.for_cuda("2.10.0", "13"), *self.for_cuda("2.9.0", "12"), self.engine("12"))
        done = self.assert_ok(self.install("torch", "engine"))
        self.assertEqual(self.versions(), {"torch": "2.9.0", "cuda-runtime": "12.0", "engine": "12.0"})
        self.assertIn("engine 12.0 (needs libcudart.so.12) is for CUDA 12", done.err)

    def test_packages_for_unlike_platforms_by_their_libraries_are_a_conflict(self):
        self.put(*self.for_cuda("2.10.0", "13"), self.engine("12"))
        refused = self.install("torch", "engine")
        self.assertEqual(refused.code, 1, refused)
        self.assertIn("engine 12.0 (needs libcudart.so.12) is for CUDA 12", refused.err)
        self.assertIn("torch 2.10.0 (needs libcudart.so.13) is for CUDA 13", refused.err)
        self.assertEqual(self.versions(), {})

    def test_resolve_says_the_same(self):
        self.put(*torch("2.10.0", [CHECK_NEW]), flash("2.8.3", [CHECK_OLD]), flash("2.8.2", [CHECK_NEW]))
        found = self.assert_ok(self.variant("resolve", "--check-abi", "--json", "flash-attn", "-i", self.index.url,
                                            "--python", self.venv))
        self.assertIn("flash-attn 2.8.3 is not taken", found.err)
        self.assertIn(("flash-attn", "2.8.2"), [(one["name"], one["version"]) for one in found.json["packages"]])

    def test_nothing_is_said_of_what_is_not_known(self):
        # A library that no package has, symbols of C, Python and the driver, and what is not an ELF file.
        broken = Wheel("odd", "1.0", requires=["torch"], tags=PLATFORM,
                       files={"odd.so": b"not a library", "odd/__init__.py": ""})
        self.put(*torch("2.10.0", [CHECK_NEW]), broken,
                 flash("2.8.3", ["cuInit", "my_own_thing", "_ZN4mine1fEv"], needed=["libc10.so", "libcuda.so.1"]))
        done = self.assert_ok(self.install("flash-attn", "odd"))
        self.assertIn("the ABI of odd 1.0 is not checked: odd.so: is not an ELF file", done.err)
        self.assertEqual(self.versions()["flash-attn"], "2.8.3")

    def test_a_newer_c_library_or_runtime_than_the_machine_has(self):
        def demo(version, *versions):
            needed = list({library for library, _, _ in versions})
            return Wheel("demo", version, tags=PLATFORM, files={
                "demo/_C.so": library(machine=MACHINE, needed=needed, versions=versions), "demo/__init__.py": ""})

        # Versions that only weak symbols need do not matter.
        self.put(demo("1.0", ("libc.so.6", "GLIBC_2.99", 2), ("libstdc++.so.6", "GLIBCXX_9.9", 2)),
                 demo("2.0", ("libc.so.6", "GLIBC_2.99", 0)), demo("3.0", ("libstdc++.so.6", "GLIBCXX_9.9", 0)))
        glibc = platform.libc_ver()[1]
        old = self.assert_ok(self.install("demo<3", "--dry-run"))
        self.assertIn(f"demo 2.0 is not taken: _C.so needs GLIBC_2.99, this machine has glibc {glibc}", old.err)
        self.assertIn("demo 1.0", old.out)
        done = self.install("demo==3.0", "--dry-run")
        if "no folder of libraries of this machine has it" in done.err:
            self.skipTest("this machine has no libstdc++")
        self.assertEqual(done.code, 1, done)
        self.assertRegex(done.err, r"_C.so needs GLIBCXX_9.9, this machine has GLIBCXX_3[.\d]+ \(/.*libstdc\+\+.so.6\)")
        # Of another machine its glibc is known and no more.
        there = self.assert_ok(self.variant("resolve", "--check-abi", "demo", "-i", self.index.url, "--python", self.venv,
                                            "--for", "x86_64"))
        self.assertIn("demo 3.0", there.out)

    def put_and_install(self, *wheels):
        """Without the check, so that it may be broken."""
        self.put(*wheels)
        self.assert_ok(self.variant("install", *(f"{one.name}=={one.version}" for one in wheels), "-i", self.index.url, "--python", self.venv))

    def test_what_is_installed_and_stays_must_find_its_symbols(self):
        self.put_and_install(*torch("2.9.0", [CHECK_OLD, CHECK_NEW]), flash("2.8.2", [CHECK_OLD, "_ZN3c104goneEv", CHECK_NEW]))
        # It lacked one before: nothing to keep.
        self.put(*torch("2.9.1", [CHECK_NEW]))
        self.assert_ok(self.install("-U", "torch", "--dry-run"))
        self.put_and_install(flash("2.8.3", [CHECK_OLD]))
        self.put(*torch("2.10.0", [CHECK_OLD, CHECK_NEW]), *torch("2.11.0", [CHECK_NEW]))
        done = self.assert_ok(self.install("-U", "torch"))
        self.assertIn("torch 2.11.0 is not taken: flash_attn_2_cuda.so of flash-attn 2.8.3, which is installed, needs "
                      "c10::detail::torchInternalAssertFail(char const*, char const*, unsigned int, char const*, "
                      "std::string const&), which torch 2.11.0 lacks", done.err)
        self.assertIn("ask for flash-attn as well, in a version that suits: -U flash-attn", done.err)
        self.assertEqual(self.versions(), {"torch": "2.10.0", "cuda-runtime": "12.0", "flash-attn": "2.8.3"})
        # Without another version nothing changes.
        before = tree(self.venv)
        refused = self.install("torch==2.11.0")
        self.assertEqual(refused.code, 1, refused)
        self.assertIn("which torch 2.11.0 lacks", refused.err)
        self.assertIn("-U flash-attn", refused.err)
        self.assertEqual(tree(self.venv), before)
        # What changes with it is compared as a candidate.
        self.put(flash("2.8.4", [CHECK_NEW]))
        self.assert_ok(self.install("torch==2.11.0", "-U", "flash-attn"))
        self.assertEqual(self.versions()["flash-attn"], "2.8.4")

    def test_what_is_installed_and_stays_must_find_its_libraries(self):
        old = torch("2.9.0", [CHECK_NEW])
        old[0].members["torch/lib/libcaffe2.so"] = library(soname="libcaffe2.so", defined=["caffe2_old_f"])
        # It does not say that it requires torch, and plain is none of those that have libraries of others.
        user = Wheel("user", "1.0", tags=PLATFORM, files={"user/_C.so": library(needed=["libcaffe2.so"]), "user/__init__.py": ""})
        plain = Wheel("plain", "1.0", tags=PLATFORM, files={"plain.so": library(needed=["libc.so.6"], undefined=["_ZN3c104goneEv"])})
        self.put_and_install(*old, user, plain)
        self.put(*torch("2.10.0", [CHECK_NEW], cudart="13"))
        done = self.assert_ok(self.install("-U", "torch"))
        self.assertIn("torch 2.10.0 is not taken: _C.so of user 1.0, which is installed, needs libcaffe2.so, which torch 2.10.0 "
                      "lacks", done.err)
        self.assertEqual(self.versions()["torch"], "2.9.0")
        self.assert_ok(self.variant("uninstall", "-y", "user", "--python", self.venv))
        # A library of another major version: the wheel that has it is refused, and so what pins that.
        self.put_and_install(flash("2.8.3", needed=["libcudart.so.12"]))
        done = self.assert_ok(self.install("-U", "torch"))
        self.assertIn("cuda-runtime 13.0 is not taken: flash_attn_2_cuda.so of flash-attn 2.8.3, which is installed, needs "
                      "libcudart.so.12, which cuda-runtime 13.0 lacks", done.err)
        self.assertEqual(self.versions()["torch"], "2.9.0")
        self.assert_ok(self.variant("uninstall", "-y", "flash-attn", "--python", self.venv))
        self.assert_ok(self.install("-U", "torch"))
        self.assertEqual(self.versions(), {"torch": "2.10.0", "cuda-runtime": "13.0", "plain": "1.0"})

    def test_what_is_installed_and_odd_refuses_nothing(self):
        odd = Wheel("odd", "1.0", requires=["torch"], tags=PLATFORM, files={
            "odd/broken.so": b"not a library", "odd/gone.so": library(needed=["libc10.so"], undefined=[CHECK_OLD])})
        self.put_and_install(*torch("2.9.0", [CHECK_OLD]), odd)
        places = self.venv.glob("lib/python*/site-packages/odd")
        for place in places:
            (place / "gone.so").unlink()
        self.put(*torch("2.10.0", [CHECK_NEW]))
        self.assert_ok(self.install("-U", "torch"))
        self.assertEqual(self.versions()["torch"], "2.10.0")

    def serve(self):
        server = subprocess.Popen([BIN / "index_server", str(self.root)], stdout=subprocess.PIPE, text=True)
        for cleanup in (server.stdout.close, server.wait, server.terminate):
            self.addCleanup(cleanup)
        return f"http://127.0.0.1:{int(server.stdout.readline())}"

    def whole_downloads(self, base):
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        seen = json.loads(opener.open(base + "/-/seen", timeout=10).read())
        return [one["target"].rpartition("/")[2] for one in seen if one["target"].endswith(".whl") and not one["range"]]

    def test_wheels_are_read_by_ranges(self):
        large = torch("2.10.0", [CHECK_NEW])
        large[0] = Wheel("torch", "2.10.0", requires=["cuda-runtime"], tags=PLATFORM, files={
            "torch/lib/libc10.so": library(soname="libc10.so", defined=[CHECK_NEW]),
            "torch/lib/libtorch_cuda.so": library([(".nv_fatbin", os.urandom(3 << 20))], soname="libtorch_cuda.so")})
        self.put(*large, flash("2.8.3", [CHECK_OLD], needed=["libc10.so"]))
        base = self.serve()
        refused = self.install("flash-attn", url=f"{base}/index")
        self.assertEqual(refused.code, 1, refused)
        self.assertIn("which torch 2.10.0 lacks", refused.err)
        # Nothing is read of what it is not linked with.
        self.assertEqual(self.whole_downloads(base), [])
        self.assertNotIn("does not support byte ranges", refused.err)
        without = self.install("flash-attn", url=f"{base}/-no-range/index")
        self.assertEqual(without.code, 1, without)
        self.assertIn("does not support byte ranges: it is downloaded to check its ABI", without.err)
        self.assertIn("which torch 2.10.0 lacks", without.err)
        self.assertEqual(self.versions(), {})


if __name__ == "__main__":
    unittest.main()
