"""The real program over drivers that work, fail, hang and fall: what it says, starts and remembers."""

import glob
import json
import os
import pathlib
import pty
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import support

STUBS = os.environ["AXLE_STUBS"]
TALK = "a driver library talks"
REAL_DRIVERS = ["/dev/nvidiactl", "/dev/kfd", "/dev/dxg", "/dev/davinci_manager"]
REAL_LIBRARIES = ["libcuda.so.1", "libnvidia-ml.so.1", "libze_intel_gpu.so.1"]


def real_driver():
    """A device node or driver library of this machine, or None."""
    for path in REAL_DRIVERS:
        if os.path.exists(path):
            return path
    for folder in ["/usr/lib", "/usr/lib64", "/usr/local/lib", *glob.glob("/usr/lib/*-linux-gnu")]:
        for name in REAL_LIBRARIES:
            if os.path.exists(f"{folder}/{name}"):
                return f"{folder}/{name}"
    return None


class Drivers(support.TestCase):
    def setUp(self):
        super().setUp()
        self.env.pop("LD_LIBRARY_PATH", None)
        for mask in ("CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ZE_AFFINITY_MASK"):
            self.env.pop(mask, None)
        self.forks = self.root / "forks"
        self.env["LD_PRELOAD"] = STUBS + "/fork_counter/fork_counter.so"
        self.env["AXLE_FORK_LOG"] = str(self.forks)

    def started(self):
        """Processes since the last call."""
        if not self.forks.exists():
            return 0
        count = len(self.forks.read_text().splitlines())
        self.forks.unlink()
        return count

    def detect(self, *folders, stub="ok", expect=0, options=(), **env):
        more = {"AXLE_STUB": stub, **env}
        if folders:
            more["LD_LIBRARY_PATH"] = ":".join(f if f.startswith("/") else f"{STUBS}/{f}" for f in folders)
        result = self.variant("detect", "--json", *options, env=more)
        self.assertEqual(result.code, expect, result)
        self.assertNotIn(TALK, result.out)
        self.assertNotIn(TALK, result.err)
        return result.json

    def problems(self, facts):
        return [problem["code"] for problem in facts["problems"]]

    def of(self, vendor, facts):
        return [one for one in facts["gpus"] if one["vendor"] == vendor]

    def test_without_driver_libraries_or_device_nodes_no_process_is_started(self):
        if real_driver():
            self.skipTest(f"this machine has {real_driver()}")
        facts = self.detect()
        self.assertEqual(self.started(), 0)
        self.assertEqual(facts["problems"], [])
        self.assertFalse((self.root / "home/.cache/axle/detect").exists())
        # The counter counts: a driver library on the path is asked in one child.
        self.detect("nvidia")
        self.assertEqual(self.started(), 1)

    def test_a_working_driver(self):
        facts = self.detect("nvidia")
        gpu, = self.of("nvidia", facts)
        self.assertEqual((gpu["arch"], gpu["usable"], gpu["name"]), ("9.0", "present", "Stub H100"))
        driver = facts["drivers"]["nvidia"]
        self.assertEqual(driver["api_version"], "12.8")

    def test_the_second_run_starts_nothing_and_says_the_same(self):
        if real_driver():
            self.skipTest(f"this machine has {real_driver()}, which may be asked beside the stand-in")
        first = self.detect("nvidia")
        self.assertEqual(self.started(), 1)
        self.assertEqual(self.detect("nvidia"), first)
        self.assertEqual(self.started(), 0)
        # Another mask, another path, no cache: asked anew.
        masked = self.detect("nvidia", CUDA_VISIBLE_DEVICES="")
        self.assertEqual(self.started(), 1)
        self.assertIn("nvidia.all-masked", self.problems(masked))
        self.detect("cuda")
        self.assertEqual(self.started(), 1)
        self.detect("nvidia", options=["--no-cache"])
        self.assertEqual(self.started(), 1)
        self.detect("nvidia")
        self.assertEqual(self.started(), 0)
        file = min((self.root / "home/.cache/axle/detect").iterdir())
        self.assertEqual(file.stat().st_mode & 0o777, 0o600)

    def test_a_cache_that_someone_bent_is_no_cache(self):
        if real_driver():
            self.skipTest(f"this machine has {real_driver()}, which may be asked beside the stand-in")
        first = self.detect("nvidia")
        file, = (self.root / "home/.cache/axle/detect").iterdir()
        kept = file.read_bytes()
        bent = [b"", kept[:-1], kept.replace(b"12080", b"99999999999999999999"), b"\0" * 5000, kept + kept,
                kept.replace(b"end\n", b"\tnvml.device\t" + b"\xff" * 100000 + b"\nend\n")]
        for content in bent:
            file.write_bytes(content)
            self.detect("nvidia")
        file.chmod(0o644)
        self.started()
        self.assertEqual(self.detect("nvidia"), first)
        self.assertEqual(self.started(), 1)

    def test_a_hanging_driver_costs_the_time_limit_and_keeps_what_it_said(self):
        for run in range(2):  # and it is not remembered
            facts = self.detect("nvidia", stub="hang", AXLE_DRIVER_TIMEOUT="300ms")
            self.assertIn("nvidia.driver-hangs", self.problems(facts))
            driver = facts["drivers"]["nvidia"]
            self.assertEqual((driver["api_version"], driver["usable"]), ("12.8", "blocked"))
            self.assertIn("300 ms", facts["problems"][0]["message"])

    def test_a_child_that_does_not_die_is_given_up(self):
        facts = self.detect("nvidia", stub="hang", AXLE_DRIVER_TIMEOUT="100ms", AXLE_DEAF_CHILDREN="1")
        self.assertIn("nvidia.driver-hangs", self.problems(facts))
        self.assertEqual(facts["drivers"]["nvidia"]["api_version"], "12.8")

    def test_drivers_that_fall(self):
        for stub in ("crash", "abort", "exit"):
            with self.subTest(stub):
                facts = self.detect("nvidia", stub=stub)
                self.assertIn("nvidia.driver-crashed", self.problems(facts))
        self.assertEqual(self.of("nvidia", self.detect("nvidia", stub="flood"))[0]["usable"], "present")
        self.assertEqual(self.of("nvidia", self.detect("nvidia", stub="daemon"))[0]["usable"], "present")

    def test_each_code_of_a_driver_has_its_reason(self):
        nvml = {"error:4": "no-permission", "error:12": "no-user-driver", "error:15": "gpu-lost",
                "error:17": "driver-error", "error:18": "driver-mismatch", "error:9": "driver-not-loaded",
                "error:77": "driver-error"}
        cuda = {"error:100": "no-device", "error:101": "no-device", "error:304": "no-permission",
                "error:802": "not-ready", "error:803": "driver-mismatch", "error:804": "compat-not-supported",
                "error:999": "driver-error", "version_error:34": "stub-library"}
        for folder, table in (("nvidia", nvml), ("cuda", cuda)):
            for stub, code in table.items():
                with self.subTest(f"{folder} {stub}"):
                    facts = self.detect(folder, stub=stub)
                    self.assertEqual(facts["drivers"]["nvidia"]["reason_code"], code)
                    # What is only left over on a machine without the hardware is no problem.
                    harmless = code in ("no-device", "driver-not-loaded", "no-user-driver", "stub-library")
                    self.assertEqual(f"nvidia.{code}" in self.problems(facts), not harmless)
        self.assertEqual(self.detect("nvidia", stub="none")["drivers"]["nvidia"]["reason_code"], "no-device")
        self.assertEqual(self.detect("nvidia", stub="mig-empty")["gpus"][0]["reason_code"], "no-mig-instance")

    def test_a_driver_that_lacks_its_functions(self):
        facts = self.detect("cuda-old")
        self.assertIn("nvidia.missing-symbol", self.problems(facts))
        self.assertEqual(facts["drivers"]["nvidia"]["api_version"], "12.8")
        self.assertEqual(self.of("intel", self.detect("intel-old")), [])

    def test_a_driver_behind_debians_level_zero_loader(self):
        if not glob.glob("/usr/lib/*/libze_loader.so.1"):
            self.skipTest("libze1 is not installed")
        driver = {"ZE_ENABLE_ALT_DRIVERS": f"{STUBS}/ze-driver/libze_fake.so"}
        gpu, = self.of("intel", self.detect(**driver))
        self.assertEqual((gpu["pci_id"], gpu["arch"], gpu["usable"]), ("8086:e20b", "20.1.0", "present"))
        anew = {"options": ["--no-cache"], **driver}
        hangs = self.detect(stub="hang", AXLE_DRIVER_TIMEOUT="400ms", **anew)
        self.assertIn("intel.driver-hangs", self.problems(hangs))
        self.assertIn("intel.driver-crashed", self.problems(self.detect(stub="crash", **anew)))

    def test_debians_rocm_smi_is_contained(self):
        libraries = glob.glob("/usr/lib/librocm_smi64.so.1") + glob.glob("/usr/lib/*/librocm_smi64.so.1")
        if not libraries:
            self.skipTest("librocm-smi64-1 is not installed")
        if os.path.exists("/dev/kfd"):
            self.skipTest("this machine has an AMD GPU, of which ROCm SMI has more to say")
        folder = self.root / "smi"
        folder.mkdir()
        (folder / "librocm_smi64.so.1").symlink_to(libraries[0])
        result = self.variant("detect", "--json", env={"LD_LIBRARY_PATH": str(folder)})
        self.assertEqual((result.code, result.err), (0, ""))
        self.assertEqual(self.problems(result.json), [])
        self.assertEqual(self.started(), 1)

    def test_a_program_that_can_load_no_library_asks_the_tool(self):
        if real_driver():
            self.skipTest(f"this machine has {real_driver()}, which is asked beside the stand-in")
        folder = self.root / "tool"
        folder.mkdir()
        tool = folder / "nvidia-smi"
        gpu = "0, 570.124.06, 9.0, 00000000:65:00.0, 81559, GPU-a, 0x233010DE, Disabled, NVIDIA H100"
        env = {"LD_PRELOAD": f"{STUBS}/no_loader/no_loader.so", "PATH": f"{folder}:{self.env.get('PATH', '/bin')}"}
        options = ["--no-cache"]
        facts = self.detect("nvidia", options=options, **env)
        self.assertIn("there is no nvidia-smi", facts["drivers"]["nvidia"]["reason"])
        tool.write_text(f"#!/bin/sh\necho {TALK} >&2\necho '{gpu}'\n")
        tool.chmod(0o755)
        facts = self.detect("nvidia", options=options, **env)
        found, = self.of("nvidia", facts)
        self.assertEqual((found["name"], found["arch"], found["usable"]), ("NVIDIA H100", "9.0", "present"))
        self.assertEqual(found["sources"]["arch"], "nvidia-smi")
        self.assertEqual(facts["drivers"]["nvidia"]["api_version"], "12.8")
        tool.write_text("#!/bin/sh\nexec sleep 60\n")
        facts = self.detect("nvidia", options=options, AXLE_DRIVER_TIMEOUT="300ms", **env)
        self.assertIn("nvidia.driver-hangs", self.problems(facts))

    def test_a_gpu_of_this_machine(self):
        if not os.path.exists("/dev/nvidiactl"):
            self.skipTest("there is no /dev/nvidiactl here, so no NVIDIA GPU to ask")
        gpu = self.of("nvidia", self.detect())[0]
        self.assertEqual(gpu["usable"], "present", gpu)
        self.assertRegex(gpu["arch"], r"^\d+\.\d$")

    def test_one_vendor_that_hangs_does_not_cost_the_other_its_facts(self):
        folder = self.root / "mixed"
        folder.mkdir()
        shutil.copy(f"{STUBS}/intel/libze_loader.so.1", folder)
        facts = self.detect("nvidia", str(folder), AXLE_STUB_DELAY="0")
        self.assertEqual(self.of("intel", facts)[0]["arch"], "20.1.0")
        self.assertEqual(self.of("nvidia", facts)[0]["arch"], "9.0")
        self.assertEqual(self.started(), 2)
        # A loader that never returns from its own start.
        (folder / "libze_loader.so.1").unlink()
        shutil.copy(f"{STUBS}/hanging/libze_loader.so.1", folder)
        facts = self.detect("nvidia", str(folder), AXLE_DRIVER_TIMEOUT="0.5")
        self.assertEqual(self.of("nvidia", facts)[0]["arch"], "9.0")
        self.assertIn("intel.driver-hangs", self.problems(facts))

    def test_the_forward_compatibility_library_gives_way(self):
        facts = self.detect("forward/compat", "forward/own")
        driver = facts["drivers"]["nvidia"]
        self.assertEqual((driver["api_version"], driver["usable"]), ("12.8", "present"))
        self.assertIn("nvidia.compat-not-supported", self.problems(facts))

    def test_a_time_limit_that_is_none_is_told_and_ignored(self):
        for value in ("soon", "-1", "0", "1h", "1e3", "601", "nan", "infs"):
            result = self.variant("detect", "--json", env={"AXLE_DRIVER_TIMEOUT": value})
            self.assertEqual(result.code, 0, result)
            self.assertIn(f"AXLE_DRIVER_TIMEOUT={value} is ignored", result.err)
        for value in ("1", "0.25", "2s", "900ms", "600"):
            result = self.variant("detect", "--json", env={"AXLE_DRIVER_TIMEOUT": value})
            self.assertNotIn("ignored", result.err)

    def test_another_machine_asks_and_keeps_nothing_here(self):
        self.detect("nvidia", options=["--for", "h100"])
        self.assertEqual(self.started(), 0)
        self.assertFalse((self.root / "home/.cache/axle/detect").exists())

    def test_a_driver_cannot_write_to_the_terminal(self):
        ours, theirs = pty.openpty()
        env = {**self.env, "LD_LIBRARY_PATH": f"{STUBS}/nvidia", "AXLE_STUB": "ok"}
        process = subprocess.Popen([support.VARIANT, "--no-color", "detect"], stdin=theirs, stdout=theirs,
                                   stderr=theirs, env=env, start_new_session=True,
                                   preexec_fn=lambda: os.close(os.open(os.ttyname(theirs), os.O_RDWR)))
        os.close(theirs)
        text = b""
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError:  # the terminal's other end is closed
                break
            if not part:
                break
            text += part
        self.assertEqual(process.wait(), 0)
        os.close(ours)
        self.assertIn(b"Stub H100", text)
        self.assertNotIn(TALK.encode(), text)

    def test_without_dev_null_a_driver_is_silent_all_the_same(self):
        script = f'mount -t tmpfs none /dev && exec "{support.VARIANT}" detect --json --no-cache'
        env = {**self.env, "LD_LIBRARY_PATH": f"{STUBS}/nvidia", "AXLE_STUB": "ok"}
        env.pop("LD_PRELOAD")
        kind = ["--mount"] if os.geteuid() == 0 else ["--map-root-user", "--mount"]
        done = subprocess.run(["unshare", *kind, "sh", "-c", script], env=env, capture_output=True, text=True)
        if not done.stdout:
            self.skipTest(f"no mount namespace here: {done.stderr.strip()}")
        self.assertNotIn(TALK, done.stdout + done.stderr)
        self.assertEqual(self.of("nvidia", json.loads(done.stdout))[0]["name"], "Stub H100")

    def test_a_library_replaced_between_two_runs_is_asked_anew(self):
        if real_driver():
            self.skipTest(f"this machine has {real_driver()}, which may be asked beside the stand-in")
        folder = self.root / "driver"
        folder.mkdir()
        for name in ("libcuda.so.1", "libnvidia-ml.so.1"):
            shutil.copy(f"{STUBS}/nvidia/{name}", folder)
        library = folder / "libcuda.so.1"
        self.detect(str(folder))
        self.detect(str(folder))
        self.assertEqual(self.started(), 1)
        # Another file of the same size and times, as `cp -p` or a layer of a container makes it.
        status = library.stat()
        other = self.root / "other"
        shutil.copy(library, other)
        os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
        os.replace(other, library)
        self.assertEqual(library.stat().st_mtime_ns, status.st_mtime_ns)
        self.detect(str(folder))
        self.assertEqual(self.started(), 1)

    def test_root_loads_no_library_of_another_user(self):
        if os.geteuid() != 0:
            self.skipTest("only root can give a file away, and only root is this careful")
        folder = self.root / "foreign"
        folder.mkdir()
        for name in ("libcuda.so.1", "libnvidia-ml.so.1"):
            shutil.copy(f"{STUBS}/nvidia/{name}", folder)
            os.chown(folder / name, 4711, 4711)
        log = self.root / "log"
        facts = self.detect(str(folder), AXLE_STUB_LOG=str(log))
        self.assertEqual(self.of("nvidia", facts), [])
        self.assertIn("nvidia.untrusted-library", self.problems(facts))
        self.assertFalse(log.exists())
        for name in ("libcuda.so.1", "libnvidia-ml.so.1"):
            os.chown(folder / name, 0, 0)
        folder.chmod(0o777)
        self.assertEqual(self.of("nvidia", self.detect(str(folder), AXLE_STUB_LOG=str(log))), [])
        folder.chmod(0o755)
        self.assertEqual(self.of("nvidia", self.detect(str(folder)))[0]["usable"], "present")

    def test_root_does_not_leave_it_to_the_loader_which_file_that_is(self):
        """It passes over files of another class, and looks for builds for this CPU first."""
        if os.geteuid() != 0:
            self.skipTest("only root can give a file away, and only root is this careful")
        log = self.root / "log"
        foreign = self.root / "foreign"
        level = self.root / "mine/glibc-hwcaps/x86-64-v2"
        for folder in (foreign, level):
            folder.mkdir(parents=True)
            for name in ("libcuda.so.1", "libnvidia-ml.so.1"):
                shutil.copy(f"{STUBS}/nvidia/{name}", folder)
                os.chown(folder / name, 4711, 4711)
        facts = self.detect("elf32", str(foreign), AXLE_STUB_LOG=str(log))
        self.assertFalse(log.exists(), facts)
        self.assertIn("nvidia.untrusted-library", self.problems(facts))
        facts = self.detect(str(level.parent.parent), AXLE_STUB_LOG=str(log))
        self.assertFalse(log.exists(), facts)

    def test_stated_machines_ask_no_driver(self):
        stated = {"NV_VARIANT_PROVIDER_FORCE_SM_ARCH": "9.0", "CONDA_OVERRIDE_CUDA": "12.8"}
        self.detect("nvidia")
        self.assertEqual(self.started(), 1)
        self.detect("nvidia", options=["--no-cache"], NV_VARIANT_PROVIDER_FORCE_SM_ARCH="9.0")
        self.assertEqual(self.started(), 1)  # which CUDA its driver runs is not stated
        facts = self.detect("nvidia", options=["--no-cache"], **stated)
        self.assertEqual(self.started(), 0)
        self.assertEqual([gpu["arch"] for gpu in facts["gpus"]], ["9.0"])

    def test_a_program_with_more_rights_than_its_user_takes_no_library_from_the_environment(self):
        if os.geteuid() != 0:
            self.skipTest("only root can make a program setuid")
        if real_driver():
            self.skipTest(f"this machine has {real_driver()}, which is asked all the same")
        program = self.root / "variant"
        shutil.copy(support.VARIANT, program)
        program.chmod(0o4755)
        log = self.root / "log"
        env = {**self.env, "LD_LIBRARY_PATH": f"{STUBS}/nvidia", "AXLE_STUB_LOG": str(log)}
        env.pop("LD_PRELOAD")
        done = subprocess.run([str(program), "detect", "--no-cache", "--json"], env=env, capture_output=True,
                              text=True, user=65534, group=65534, extra_groups=[], cwd="/")
        if done.returncode != 0:
            self.skipTest(f"the copied program does not run as another user: {done.stderr.strip()}")
        self.assertEqual(json.loads(done.stdout)["gpus"], [])
        self.assertFalse(log.exists())
        # Level Zero's own loader reads the environment, whoever runs it.
        env["ZE_ENABLE_ALT_DRIVERS"] = f"{STUBS}/ze-driver/libze_fake.so"
        done = subprocess.run([str(program), "detect", "--no-cache", "--json"], env=env, capture_output=True,
                              text=True, user=65534, group=65534, extra_groups=[], cwd="/")
        self.assertEqual(json.loads(done.stdout)["gpus"], [])
        self.assertFalse(log.exists())


if __name__ == "__main__":
    unittest.main()
