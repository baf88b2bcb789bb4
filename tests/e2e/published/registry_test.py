"""Against what we did not write: a real index, pip, uv. Only with AXLE_TEST_REGISTRY=1, part of the release checklist."""

import collections
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import differences_from_uv as differences
import torch_index
from configured_index import configured_index
from support import BIN, PEERS, PYTHON, SOURCE, VARIANT, TestCase
from uv_backend import StandInHost, Uv

WANTED = ["numpy", "requests", "rich", "pandas", "scikit-learn"]
IMPORTS = ["numpy", "requests", "rich", "pandas", "sklearn"]


class RegistryCase(TestCase):
    def setUp(self):
        if os.environ.get("AXLE_TEST_REGISTRY") != "1":
            self.skipTest("AXLE_TEST_REGISTRY=1 is not set: nothing was asked of the configured registry")
        super().setUp()
        # The caller's configuration is what is tested here; only home and cache are our own.
        home = self.env["HOME"]
        self.env = {key: value for key, value in os.environ.items()
                    if key not in ("VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH")}
        self.env["AXLE_CACHE_DIR"] = home + "/axle-cache"

    def install_uv(self):
        if not (PEERS / "uv").exists():
            self.skipTest("uv is not there: ./dev setup brings it")
        return PEERS / "uv"


class Registry(RegistryCase):
    def pip(self, *arguments, python=PYTHON):
        return subprocess.run([python, "-m", "pip", *map(str, arguments)], env=self.env, text=True,
                              capture_output=True, timeout=600)

    def test_well_known_packages_install_import_and_agree_with_pip(self):
        self.make_venv()
        done = subprocess.run([str(VARIANT), "install", *WANTED, "--python", str(self.venv)],
                              env=self.env, text=True, capture_output=True, timeout=900)
        self.assertEqual(done.returncode, 0, done.stderr)
        for module in IMPORTS:
            self.python(f"import {module}")
        python = str(self.venv / "bin/python")
        # The environment has no pip of its own; another one looks at it from outside.
        check = self.pip("--python", python, "check")
        self.assertEqual(check.returncode, 0, check.stdout + check.stderr)
        listed = json.loads(self.pip("--python", python, "list", "--format", "json").stdout)
        theirs = {one["name"].lower().replace("_", "-"): one["version"] for one in listed}
        listing = subprocess.run([str(VARIANT), "list", "--json", "--python", python], env=self.env, text=True,
                                 capture_output=True, check=True)
        ours = {one["name"].lower().replace("_", "-"): one["version"]
                for one in json.loads(listing.stdout)["packages"]}
        self.assertEqual(ours, theirs)

    def test_the_abi_check_refuses_no_wheel_that_the_loader_takes(self):
        modules = {"numpy": "numpy", "scipy": "scipy.linalg", "pillow": "PIL._imaging", "lxml": "lxml.etree",
                   "cryptography": "cryptography.hazmat.bindings._rust", "grpcio": "grpc", "psutil": "psutil"}
        self.make_venv()
        done = subprocess.run([str(VARIANT), "install", "--check-abi", *modules, "--python", str(self.venv)], env=self.env,
                              text=True, capture_output=True, timeout=900)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("is not taken", done.stderr)
        self.assertNotIn("is not checked", done.stderr)
        for module in modules.values():
            loaded = subprocess.run([str(self.venv / "bin/python"), "-c", f"import {module}"], text=True,
                                    env={**self.env, "LD_BIND_NOW": "1"}, capture_output=True, timeout=60)
            self.assertEqual(loaded.returncode, 0, loaded.stderr)

    @unittest.skipUnless(platform.machine() == "x86_64", "these wheels are of x86-64")
    def test_the_abi_check_refuses_what_the_loader_refuses(self):
        # The wheel requires nvidia-nvjitlink-cu12 of any version; its library needs symbols of 12.4. About 230 MB.
        self.make_venv()

        def install(linker, *options):
            return subprocess.run([str(VARIANT), "install", *options, "nvidia-cusparse-cu12==12.3.1.170",
                                   f"nvidia-nvjitlink-cu12=={linker}", "--python", str(self.venv)], env=self.env, text=True,
                                  capture_output=True, timeout=900)

        # Before anything is installed, of the wheels.
        checked = {linker: install(linker, "--check-abi", "--dry-run") for linker in ("12.4.127", "12.1.105")}
        for linker, check in checked.items():
            # The second time cusparse is installed, and found its symbols so far.
            again = install(linker, "--check-abi", "--dry-run")
            self.assertEqual(again.returncode, check.returncode, again.stderr)
            done = install(linker)
            self.assertEqual(done.returncode, 0, done.stderr)
            folder = self.site() / "nvidia"
            loaded = subprocess.run([PYTHON, "-c", "import ctypes, sys; ctypes.CDLL(sys.argv[1])",
                                     folder / "cusparse/lib/libcusparse.so.12"], text=True, capture_output=True, timeout=60,
                                    env={**self.env, "LD_BIND_NOW": "1", "LD_LIBRARY_PATH": str(folder / "nvjitlink/lib")})
            self.assertEqual(check.returncode == 0, loaded.returncode == 0, check.stderr + loaded.stderr)
        self.assertEqual(checked["12.4.127"].returncode, 0)
        self.assertRegex(loaded.stderr, r"undefined symbol: __nvJitLink\w+_12_4, version libnvJitLink.so.12")
        self.assertRegex(checked["12.1.105"].stderr, r"libcusparse.so.12 needs __nvJitLink\w+_12_4 of libnvJitLink.so.12, "
                                                     r"which nvidia-nvjitlink-cu12 12.1.105 lacks")
        self.assertRegex(again.stderr, r"nvidia-nvjitlink-cu12 12.1.105 is not taken: libcusparse.so.12 of nvidia-cusparse-cu12 "
                                       r"12.3.1.170, which is installed, needs __nvJitLink\w+_12_4 of libnvJitLink.so.12")

    def test_the_abi_check_tells_builds_of_torch_apart(self):
        # The wheels for aarch64, of which torch has 100 MB and no CUDA: three quarters of that, by ranges, each time.
        folder = self.make_venv()
        wheels = "--python", folder, "--no-deps", "--for", "aarch64", "--index-url", configured_index()
        for torch, vision, audio, lacking in [
                ("2.9.1", "0.24.1", "2.9.1", {}),
                ("2.6.0", "0.24.1", "2.9.1", {"torchvision": ("_C.so", "c10::SymBool::guard_or_false(char const*, long) const"),
                                              "torchaudio": ("libtorchaudio.so", "c10::SymInt::maybe_as_int_slow_path() const")}),
                # Built with libstdc++'s older strings, as torch was before 2.6 there.
                ("2.6.0", "0.19.0", "2.6.0", {"torchvision": ("_C.so", "torch::jit::parseSchemaOrName(std::string const&, bool)")})]:
            with self.subTest(torch=torch, vision=vision, audio=audio):
                versions = {"torch": torch, "torchvision": vision, "torchaudio": audio}
                done = subprocess.run([str(VARIANT), "resolve", "--check-abi", *(f"{name}=={version}" for name, version in versions.items()),
                                       *map(str, wheels)], env=self.env, text=True, capture_output=True, timeout=900)
                self.assertEqual(done.returncode, 1 if lacking else 0, done.stderr)
                refused = re.findall(r"^warning: (\S+) (\S+) is not taken: (\S+) needs (.*), which torch (\S+) lacks", done.stderr, re.M)
                self.assertEqual({(name, versions[name], *lacking[name], torch) for name in lacking}, set(refused), done.stderr)
                self.assertNotIn("does not support byte ranges", done.stderr)

    def test_uv_installs_our_runtime_and_picks_the_label_that_we_pick(self):
        uv = self.install_uv()
        self.assert_ok(self.variant("build", SOURCE / "runtime", "--arch", "x86_64", "--out", self.root / "wheels", timeout=1200))
        self.assert_ok(self.variant("index", "build", self.root / "wheels", "--out", self.root / "index"))
        venv = self.make_venv()
        served = subprocess.Popen([BIN / "index_server", str(self.root / "index")], stdout=subprocess.PIPE, text=True)
        try:
            port = int(served.stdout.readline().split()[-1].rsplit(":")[-1].strip("/"))
            done = subprocess.run(
                [uv, "pip", "install", "axle-runtime", "--python", venv / "bin/python",
                 "--preview-features", "wheel-variants", "--default-index", f"http://127.0.0.1:{port}/simple"],
                env={**self.env, "UV_CACHE_DIR": str(self.root / "uv-cache"), "UV_NO_CONFIG": "1"},
                text=True, capture_output=True, timeout=120)
            self.assertEqual(done.returncode, 0, done.stderr)
        finally:
            served.terminate()
            served.wait()
        picked = json.loads(next(self.site().glob("axle_runtime-*.dist-info/variant.json")).read_text())
        # uv's providers know the level of the CPU and nothing of single flags or of our namespace.
        levels = self.assert_ok(self.variant("properties", "--json")).json["properties"]["x86_64"]["level"]
        lists = self.root / "lists.json"
        lists.write_text(json.dumps({"x86_64": {"level": levels}}))
        metadata = next((self.root / "index").rglob("axle_runtime-*-variants.json"))
        ranked = self.assert_ok(self.variant("rank", metadata, "--supported", lists, "--json")).json["ranked"]
        self.assertEqual(list(picked["variants"]), [ranked[0]["label"]])
        self.python("import axle_runtime; axle_runtime.selftest()")


def nvidia(driver):
    return [("UV_CUDA_DRIVER_VERSION", driver)]


def amd(gfx):
    return [("UV_AMD_GPU_ARCHITECTURE", gfx)]


@unittest.skipUnless(platform.machine() == "x86_64", "uv judges the machine that it runs on: this one is not x86-64")
class TorchBackend(RegistryCase):
    """docs/torch.md lists where uv's --torch-backend auto and Axle differ; here both are asked."""

    DRIVERS = ["440.33", "450.80.02", "470.256.02", "525.60.13", "550.54.14", "575.51.03", "580.65.06", "595.71.05"]

    # By the generation of the GPU: older branches know none of it.
    FIRST_BRANCH = {"8.0": 450, "8.6": 455, "8.9": 520, "9": 520, "10": 570, "11": 580, "12": 570}
    # Later branches know none of it any more.
    LAST_BRANCH = {"5": 580, "6": 580, "7.0": 580}

    def setUp(self):
        super().setUp()
        program = self.install_uv()
        self.index = torch_index.TorchIndex(self.root / "whl", torch_index.all_files()).write()
        if shutil.which("openssl") is None:
            self.skipTest("there is no openssl to make the certificate of a stand-in host with")
        host = StandInHost(torch_index.TABLE["family"]["url"], self.index.folder, self.root)
        self.addCleanup(host.close)
        self.make_venv()
        self.uv = Uv(program, self.venv / "bin/python", host, self.root, self.env)
        self.no_nvidia = not pathlib.Path("/proc/driver/nvidia/version").exists() and not shutil.which("nvidia-smi")

    def ours(self, machines, requirement="torch", url=None, options=()):
        """(version, label) a machine, as uv answers."""
        answer = self.variant("resolve", requirement, *[word for one in machines for word in ("--for", one)], "--json",
                              "--python", self.venv, "--family", "torch=" + (url or self.index.url), "--no-index", *options)
        found = self.assert_ok(answer).json.get("machines", [answer.json])
        return [(one["packages"][0]["version"].partition("+")[0], one["packages"][0]["variant"]) for one in found]

    def single_gpus(self):
        """(what --for is given, what uv is told, the GPU)."""
        for gpu in torch_index.TABLE["gpus"]:
            for name in gpu["for"]:
                if gpu["vendor"] == "nvidia":
                    for driver in self.DRIVERS:
                        arch = gpu["arch"]
                        first = self.FIRST_BRANCH.get(arch, self.FIRST_BRANCH.get(arch.split(".")[0], 0))
                        last = self.LAST_BRANCH.get(arch, self.LAST_BRANCH.get(arch.split(".")[0], 10_000))
                        if not first <= int(driver.split(".")[0]) <= last:
                            continue  # no machine has both, and Axle refuses them
                        yield f"{name};x86_64;nvidia:driver={driver}", nvidia(driver), gpu
                elif gpu["vendor"] == "amd":
                    yield name, amd(gpu["arch"]), gpu

    def test_each_disagreement_over_one_gpu_is_one_that_the_page_lists(self):
        cases = [case for case in self.single_gpus() if not differences.is_of_aarch64(case[2])]
        seen = collections.Counter()
        for (machine, told, gpu), ours in zip(cases, self.ours([case[0] for case in cases])):
            theirs = self.uv.choose(told=told)
            difference = "none" if ours == theirs else differences.reason(ours, theirs, gpu)
            self.assertIsNotNone(difference, f"{machine}: Axle {ours}, uv {theirs}")
            seen[difference] += 1
        self.assertEqual(set(seen) - {"none"}, set(differences.OF_ONE_GPU))
        self.assertGreater(seen["none"], 90)
        print(f"\n{len(cases)} machines beside uv:", dict(seen))

    def test_the_other_differences_are_there(self):
        for difference, case in differences.SINGLE_CASES.items():
            if case.get("agents") and not self.no_nvidia:
                continue  # uv asks the driver of this machine first
            with self.subTest(difference):
                requirement = case.get("requirement", "torch")
                theirs = self.uv.choose(requirement, case.get("told", ()), case.get("agents"))
                ours = self.ours([case["machine"]], requirement, options=case.get("options", ()))[0]
                self.assertEqual((ours, theirs), (case["ours"], case["uv"]))

    def test_projects_and_labels_that_only_one_of_the_two_knows(self):
        asked = self.uv.run("torchao", "--torch-backend", "cpu").stderr
        self.assertIn("/cpu/torchao/", asked)
        listed = self.assert_ok(self.variant("index", "families", "--json")).json["families"]
        family = next(one for one in listed if one["name"] == "torch")
        self.assertNotIn("torchao", json.dumps(family))
        # A label that came after both programs.
        newer = torch_index.stand_in("torch", "2.15.0", "cu134", "linux_x86_64")
        torch_index.TorchIndex(self.index.folder, self.index.files + [newer]).write()
        self.assertEqual(self.uv.run("torch", "--torch-backend", "cu134").returncode, 2)
        forced = self.variant("resolve", "torch", "--torch-backend", "cu134", "--for", "h100", "--family",
                              "torch=" + self.index.url, "--no-index", "--json", "--python", self.venv)
        self.assertEqual(self.assert_ok(forced).json["packages"][0]["variant"], "cu134")

    def test_an_installed_torch_keeps_its_backend_with_axle_only(self):
        self.assert_ok(self.variant("install", "torch==2.10.*", "--torch-backend", "cu126", "--family",
                                    "torch=" + self.index.url, "--no-index", "--python", self.venv))
        theirs = self.uv.run("torchaudio==2.10.0", "--torch-backend", "auto", told=nvidia("580.65.06")).stderr
        self.assertRegex(theirs, r"(?m)^ \+ torchaudio==2\.10\.0\+cu130$")
        self.assertNotRegex(theirs, r"(?m)^ \+ torch==")
        ours = self.variant("install", "torchaudio==2.10.0", "--dry-run", "--json", "--for", "h100", "--python",
                            self.venv, "--family", "torch=" + self.index.url, "--no-index")
        self.assertEqual(self.assert_ok(ours).json["packages"][0]["variant"], "cu126")

    def test_the_real_index_gives_the_same_as_the_stand_in(self):
        machines = ["h100", "h100;nvidia:driver=550.54.14", "gtx1080ti", "rtx5090", "mi300x", "none"]
        url = torch_index.TABLE["family"]["url"]
        first = self.variant("resolve", "torch", "--for", "none", "--family", "torch=" + url, "--no-index")
        if first.code == 1:
            self.skipTest("torch's own index cannot be reached: " + first.err)
        real = self.ours(machines, url=url)
        for machine, there, here in zip(machines, real, self.ours(machines)):
            same_release = there[0].rsplit(".", 1)[0], there[1]
            self.assertEqual(same_release, (here[0].rsplit(".", 1)[0], here[1]), machine)


class TorchPage(unittest.TestCase):
    def test_the_page_lists_what_is_tested_and_what_only_a_source_says(self):
        page = re.sub(r"\n +", " ", (SOURCE / "docs/torch.md").read_text())
        section = page.partition("## Differences from uv\n")[2]
        self.assertEqual(sorted(re.findall(r"(?m)^- \*\*([^*]+)\.\*\*", section)), sorted(differences.ALL))


if __name__ == "__main__":
    unittest.main(verbosity=2)
