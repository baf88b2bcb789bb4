"""--for in every command: another machine in the place of this one, and nothing of this one is looked at."""

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
from support import Index, TestCase, VARIANT, Wheel, publish_levels, variant_document

# Words that every command can be called with, as far as it needs any. What they name need not be there.
COMMANDS = {
    "detect": [],
    "machines": [],
    "completion": ["bash"],
    "man": [],
    "self-test": [],
    "properties": [],
    "install": ["demo", "--dry-run"],
    "download": ["demo", "--dry-run"],
    "mirror": ["demo", "--dry-run", "--out", "mirror"],
    "bundle": ["demo", "--dry-run", "--out", "demo.zip"],
    "wheel": ["demo", "--dry-run"],
    "venv": ["--clear"],
    "init": ["demo"],
    "add": ["demo"],
    "remove": ["demo"],
    "outdated": [],
    "import": ["requirements.txt"],
    "uninstall": ["demo"],
    "undo": ["--dry-run"],
    "list": [],
    "freeze": [],
    "check": [],
    "show": ["demo"],
    "sbom": [],
    "doctor": [],
    "resolve": ["demo"],
    "explain": ["demo"],
    "export": ["--format", "oci"],
    "tree": [],
    "rank": ["variants.json"],
    "audit": ["installed"],
    "build": ["."],
    "repack": ["demo.whl", "--split", "sm"],
    "index add": ["demo-1.0-py3-none-any.whl", "--out", "public"],
    "ci github": [".", "--out", "-"],
    "ci gitlab": [".", "--out", "-"],
    "ci slurm": [".", "--out", "-"],
    "ci make": [".", "--out", "-"],
    "index build": ["."],
    "index lint": ["public"],
    "index serve": ["public"],
    "index update": ["--out", "public"],
    "index yank": ["demo", "--out", "public"],
    "publish": ["demo-1.0-py3-none-any.whl", "--repository-url", "http://127.0.0.1:9/"],
    "index families": [],
    "index remove": ["demo", "--out", "public"],
    "cache dir": [],
    "cache info": [],
    "cache verify": [],
    "cache clean": [],
    "cache prune": [],
    "providers list": [],
    "providers show": ["nvidia"],
    "providers trust": ["acme"],
    "providers untrust": ["acme"],
    "providers enable": ["nvidia"],
    "providers disable": ["nvidia"],
    "providers retry": ["acme"],
    "providers check": ["/bin/true"],
    "providers new": ["acme"],
    "model info": [],
    "model generate": ["model.gguf", "--prompt", "a"],
    "model embed": ["model", "--text", "a"],
    "model rerank": ["model", "--query", "a", "--text", "b"],
    "model ppl": ["model.gguf", "--file", "a.txt"],
    "model quantize": ["model.gguf", "--output", "folder", "--mode", "a16w4"],
    "model bench": [],
    "model tune": ["model.gguf"],
    "model selftest": [],
    "model tune": ["model.gguf"],
}
FLEETS = {"audit", "resolve", "explain", "download", "mirror", "bundle", "index lint"}
# They run what only this machine has, or ask no machine.
REFUSED = {"init", "remove", "import", "export", "tree", "build", "repack", "providers check", "model info", "model generate", "model embed", "model rerank", "model ppl", "model quantize", "model bench", "model tune", "model selftest", "self-test"}


class ElsewhereTestCase(TestCase):
    def setUp(self):
        super().setUp()
        self.env["VIRTUAL_ENV"] = str(self.venv)

    def call(self, command, *arguments, **options):
        return self.variant(*command.split(), *COMMANDS[command], *arguments, **options)


class Names(ElsewhereTestCase):
    def test_every_command_is_in_the_list(self):
        found = set()
        for name in re.findall(r"^  ([a-z-]+) ", self.variant("--help").out.partition("Subcommands:")[2], re.M):
            inner = self.variant(name, "--help").out.partition("Subcommands:")[2]
            found |= {f"{name} {each}" for each in re.findall(r"^  ([a-z-]+) ", inner, re.M)} or {name}
        self.assertEqual(found, set(COMMANDS))

    def test_an_unknown_machine_ends_every_command_before_it_begins(self):
        for command in COMMANDS:
            with self.subTest(command):
                self.assert_fails(self.call(command, "--for", "h1000"), 2, "h1000", "h100")
                self.assert_fails(self.call(command, "--for", "nvidia:smm=90"), 2, "smm", "sm")
        self.assertEqual(list(self.config_files()), [])

    def test_a_broken_profile_does_too(self):
        broken = self.root / "broken.json"
        broken.write_text("{")
        for command in ("list", "resolve", "providers trust"):
            with self.subTest(command):
                self.assert_fails(self.call(command, "--for", broken), 1, "broken.json")

    def test_several_machines_are_for_those_that_compare(self):
        for command in sorted(set(COMMANDS) - FLEETS):
            with self.subTest(command):
                self.assert_fails(self.call(command, "--for", "h100", "--for", "none"), 2, "one machine")
        self.assertEqual(list(self.config_files()), [])

    def test_what_runs_here_has_no_other_machine(self):
        for command in sorted(REFUSED):
            with self.subTest(command):
                self.assert_fails(self.call(command, "--for", "h100"), 2, "--for is not supported here")

    def config_files(self):
        """What a command that was refused may have written all the same."""
        for folder, _, files in os.walk(self.root):
            for name in files:
                if "axle" in folder and "venv" not in folder:
                    yield os.path.join(folder, name)


class Facts(ElsewhereTestCase):
    def test_the_requirements_of_what_is_installed_are_those_of_that_machine(self):
        other = "grace" if platform.machine() == "x86_64" else "haswell"
        machine = "aarch64" if other == "grace" else "x86_64"
        folder = self.root / "wheels"
        Wheel("demo", "1.0", requires=[f'other; platform_machine == "{machine}"']).write(folder)
        self.make_venv()
        self.assert_ok(self.variant("install", "demo", "--no-index", "--find-links", folder))
        self.assert_ok(self.variant("check"))
        self.assert_fails(self.variant("check", "--for", other), 1)

    def test_variables_that_stand_for_this_machine_do_not_reach_another(self):
        said = {"NV_VARIANT_PROVIDER_FORCE_CUDA_DRIVER_VERSION": "12.8", "NV_VARIANT_PROVIDER_FORCE_SM_ARCH": "9.0",
                "AMD_VARIANT_PROVIDER_FORCE_GFX_ARCH": "gfx942", "CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": "",
                "TPU_VARIANT_PROVIDER_FORCE_PRESENT": "1", "CONDA_OVERRIDE_CUDA": "12.8",
                "HSA_OVERRIDE_GFX_VERSION": "9.0.0", "LD_LIBRARY_PATH": "/nowhere", "AXLE_SITE_PROFILE": "/nowhere"}
        for machine in ("none", "mi300x8-rocm64", "h100x2-masked"):
            with self.subTest(machine):
                plain = self.assert_ok(self.variant("detect", "--json", "--properties", "--for", machine)).out
                told = self.assert_ok(self.variant("detect", "--json", "--properties", "--for", machine, env=said))
                self.assertEqual(told.out, plain)

    def test_kept_answers_are_neither_read_nor_written(self):
        cache = self.root / "kept"
        self.assert_ok(self.variant("detect", "--cache-dir", cache, "--for", "p5-h100x8"))
        self.assertFalse(cache.exists())


class Traced(ElsewhereTestCase):
    """What the program asked the kernel for, the interpreter that it installs for aside."""

    MACHINE = re.compile(r'"(/sys/|/proc/|/dev/(?!null|tty|urandom|shm|pts)|/etc/axle/machine'
                         r'|/etc/os-release|/usr/lib/os-release|/etc/nv_tegra|/\.dockerenv|/run/)[^"]*"'
                         r"|arch_prctl\(0x102|sched_setaffinity\(|PR_SVE|PR_SME|hwprobe")

    def setUp(self):
        super().setUp()
        if not shutil.which("strace"):
            self.skipTest("strace is not installed")
        if subprocess.run(["strace", "-o", "/dev/null", "/bin/true"], capture_output=True).returncode != 0:
            self.skipTest("nothing may be traced here")
        self.need_program_as_shipped()
        self.index = Index(self.root / "index")
        publish_levels(self.index)
        self.make_venv()
        self.assert_ok(self.install("demo", index=self.index))
        document = variant_document({"v3": [("x86_64", "level", ["v3"])]})
        (self.root / "variants.json").write_text(json.dumps(document))

    def trace(self, command, *arguments):
        log = self.root / "trace.txt"
        words = list(COMMANDS[command])
        if command == "rank":
            words = [self.root / "variants.json"]
        if command in ("resolve", "explain", "install", "download", "mirror", "bundle", "wheel"):
            arguments = (*arguments, "--index-url", self.index.url)
        done = self.variant(*command.split(), *words, *arguments, prefix=[
            "strace", "-f", "-qq", "-o", log, "-e", "trace=%file,%process,arch_prctl,prctl,sched_setaffinity"])
        others, seen = set(), []
        for line in log.read_text(errors="replace").splitlines():
            pid, _, call = line.partition(" ")
            call = call.strip()
            started = re.match(r'execve\("([^"]+)"', call)
            if started and not started[1].endswith((VARIANT.name, "/proc/self/exe")):
                others.add(pid)
            # Whether an environment's files have reached the disk, and where the program and its modules lie, says
            # nothing of the machine.
            harmless = "/proc/sys/kernel/random/boot_id" in call or '"/proc/self/exe"' in call
            if pid not in others and self.MACHINE.search(call) and not harmless:
                seen.append(call)
        return done, seen

    def test_the_trace_sees_what_detection_reads(self):
        done, seen = self.trace("detect", "--no-cache")
        self.assert_ok(done)
        self.assertTrue(any("/sys/bus/pci" in call for call in seen), seen[:5])

    def test_no_command_looks_at_this_machine(self):
        for command in sorted(set(COMMANDS) - REFUSED - {"providers new", "build", "repack", "index build", "index remove", "index add", "index lint", "index serve",
                                                        "index update", "index yank", "publish", "uninstall", "ci github",
                                                        "ci gitlab", "ci slurm", "ci make"}):
            for machine in ("p5-h100x8", "nvidia:sm=90,driver=570.26;x86_64:v4"):
                with self.subTest(command=command, machine=machine):
                    done, seen = self.trace(command, "--for", machine)
                    self.assertEqual(seen, [])
                    self.assertIn(done.code, (0, 1) if command in ("audit", "doctor", "providers untrust") else (0,), str(done))


if __name__ == "__main__":
    unittest.main()
