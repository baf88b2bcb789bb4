"""The options of all commands in every one of them: --json, --quiet, --verbose, --no-color; and --for, which puts
another machine in the place of this one, so that nothing of this one is looked at, or is refused."""

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
from support import Index, TestCase, VARIANT, Wheel, levels_document, publish_levels, variant_document

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
    "lock": [],
    "sync": [],
    "run": [],
    "verify": [],
}
FLEETS = {"audit", "resolve", "explain", "download", "mirror", "bundle", "index lint"}
# What they answer depends on the machine.
HONOURED = FLEETS | {"detect", "properties", "install", "wheel", "check", "doctor", "rank", "providers list",
                     "providers show"}
# They run what only this machine has, or do the same for every machine.
REFUSED = set(COMMANDS) - HONOURED


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
        for command in sorted(HONOURED):
            with self.subTest(command):
                self.assert_fails(self.call(command, "--for", "h1000"), 2, "h1000", "h100")
                self.assert_fails(self.call(command, "--for", "nvidia:smm=90"), 2, "smm", "sm")
        self.assertEqual(list(self.config_files()), [])

    def test_a_broken_profile_does_too(self):
        broken = self.root / "broken.json"
        broken.write_text("{")
        for command in ("check", "resolve", "providers list"):
            with self.subTest(command):
                self.assert_fails(self.call(command, "--for", broken), 1, "broken.json")

    def test_several_machines_are_for_those_that_compare(self):
        for command in sorted(HONOURED - FLEETS):
            with self.subTest(command):
                self.assert_fails(self.call(command, "--for", "h100", "--for", "none"), 2, "one machine", *FLEETS)
        self.assertEqual(list(self.config_files()), [])

    def test_a_machine_that_would_change_nothing_is_refused(self):
        for command in sorted(REFUSED):
            with self.subTest(command):
                refusal = f"`variant {command}`: --for is not supported here"
                self.assert_fails(self.call(command, "--for", "h100"), 2, refusal)
                self.assert_fails(self.call(command, "--for", "h1000"), 2, refusal)
                # Before the command, too; and in JSON as in words.
                before = self.variant("--json", "--for", "h100", *command.split(), *COMMANDS[command])
                self.assertEqual(before.json["error"]["kind"], "usage")
                self.assertIn(refusal, before.json["error"]["message"])
        self.assertEqual(list(self.config_files()), [])

    def test_only_commands_that_honour_it_offer_it(self):
        for command in sorted(COMMANDS):
            with self.subTest(command):
                told = self.assert_ok(self.variant(*command.split(), "--help")).out
                self.assertEqual("--for WHAT" in told, command in HONOURED)

    def config_files(self):
        """What a command that was refused may have written all the same."""
        for folder, _, files in os.walk(self.root):
            for name in files:
                if "axle" in folder and "venv" not in folder:
                    yield os.path.join(folder, name)


class Shared(ElsewhereTestCase):
    """The options that every command has and that only say how it answers."""

    def run_with(self, command, *options):
        return self.call(command, *options, env={"SOURCE_DATE_EPOCH": "0"})

    def test_json_is_one_object_also_of_a_failure(self):
        for command in sorted(COMMANDS):
            with self.subTest(command):
                done = self.run_with(command, "--json")
                body = done.json
                self.assertIsInstance(body, dict)
                if command != "sbom":  # a document of CycloneDX, which has no other keys
                    self.assertIn("schema_version", body)

    def test_what_is_said_does_not_change_what_is_done(self):
        once = {"init", "providers untrust"}  # the second time there is nothing left to do
        for command in sorted(set(COMMANDS) - once - {"model bench", "model selftest", "self-test", "venv"}):
            plain = self.run_with(command)
            for option in ("--verbose", "--quiet", "--no-color"):
                with self.subTest(command=command, option=option):
                    done = self.run_with(command, option)
                    self.assertEqual(done.code, plain.code, f"{plain}\n{done}")
                    if option == "--quiet":
                        self.assertNotRegex(done.err, r"(?m)^(note|warning):")


class Facts(ElsewhereTestCase):
    ONE, OTHER = "nvidia:sm=90,driver=570.26;x86_64:v4", "grace"

    def test_another_machine_gets_another_answer(self):
        levels = levels_document(("v3", "v4"))
        for label in levels["variants"]:
            Wheel("demo", "1.0", label, levels).write(self.root / "levels")
        Wheel("alone", "1.0", "v3", levels).write(self.root / "levels")  # nothing of it is for other CPUs
        self.assert_ok(self.variant("index", "build", self.root / "levels", "--out", self.root / "public"))
        folder = self.root / "wheels"
        Wheel("app", "1.0", requires=['other; platform_machine == "aarch64"']).write(folder)
        (self.root / "variants.json").write_text(json.dumps(levels))
        self.make_venv()
        self.assert_ok(self.variant("install", "app", "--no-index", "--find-links", folder))
        more = {command: ["--index-url", self.root / "public" / "simple"] for command in
                ("install", "resolve", "explain", "download", "mirror", "bundle", "wheel")}
        more["audit"] = [folder]
        words = {"rank": [self.root / "variants.json"], "index lint": [self.root / "public"]}
        for command in sorted(HONOURED):
            with self.subTest(command):
                answers = [
                    self.variant(*command.split(), *words.get(command, COMMANDS[command]), *more.get(command, []), "--json",
                                 "--for", machine) for machine in (self.ONE, self.OTHER)]
                for answer in answers:
                    self.assertNotEqual(answer.code, 2, str(answer))
                self.assertNotEqual(answers[0].json, answers[1].json)

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
        for command in sorted(HONOURED - {"index lint"}):  # it needs an index of its own
            for machine in ("p5-h100x8", "nvidia:sm=90,driver=570.26;x86_64:v4"):
                with self.subTest(command=command, machine=machine):
                    done, seen = self.trace(command, "--for", machine)
                    self.assertEqual(seen, [])
                    self.assertIn(done.code, (0, 1) if command in ("audit", "doctor") else (0,), str(done))


if __name__ == "__main__":
    unittest.main()
