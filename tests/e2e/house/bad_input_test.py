"""Bad input: a clear error, nothing lost, nothing half done. One test a case of the list; that of wheels
is install/bad_wheels_test.py."""

import os
import pathlib
import shutil
import stat
import subprocess
import sys
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import (BIN, PYTHON, VARIANT, EnvironmentTestCase, Index, TestCase, Wheel, publish_levels, tree,
                     variant_document)


class Choosing(EnvironmentTestCase):
    def test_no_such_package(self):
        self.index.add_wheel(Wheel("demo", "1.0"))
        result = self.assert_fails(self.install("nothing", "--json", index=self.index), 1)
        self.assertEqual(result.json["error"]["kind"], "not_found")
        self.assertIn("nothing", result.json["error"]["message"])
        self.assertIn(str(self.index.folder), result.json["error"]["message"] + result.json["error"]["hint"])
        self.assert_untouched()

    def test_a_misspelt_package(self):
        self.index.add_wheel(Wheel("numpy", "1.0"))
        self.index.add_wheel(Wheel("demo", "1.0", requires=["numpi"]))
        hint = "did you mean numpy? check the spelling"
        self.assert_fails(self.install("numpi", index=self.index), 1, "package numpi was not found", hint)
        # Whoever requires it has misspelt it: the user cannot.
        told = self.assert_fails(self.install("demo", index=self.index), 1, "numpi")
        self.assertNotIn("did you mean", told.err)
        folder = self.root / "wheels"
        Wheel("Num-Py2", "1.0").write(folder)
        self.assert_fails(self.install("numpy2", "--no-index", "--find-links", folder), 1, "did you mean num-py2?")
        self.assert_ok(self.install("numpy", index=self.index))
        empty = Index(self.root / "empty")
        empty.folder.mkdir()
        self.assert_fails(self.install("numpi", index=empty), 1, hint)
        for command in ("show", "uninstall"):
            self.assert_fails(self.variant(command, "numyp", "--python", self.venv), 1, "did you mean numpy?")
        self.assert_fails(self.install("--refit", "numyp", index=self.index), 2, "did you mean numpy?")

    def test_a_misspelt_variant(self):
        document = variant_document({"x86_64_v1": [("x86_64", "level", ["v1"])], "x86_64_v2": [("x86_64", "level", ["v2"])]})
        for label in document["variants"]:
            self.index.add_wheel(Wheel("demo", "1.0", label, document))
        self.index.add_variants("demo", "1.0", document)
        for label, hint in (("x86_64-v1", "did you mean x86_64_v1? "), ("x8664v2", "did you mean x86_64_v2? "),
                            ("null", "the variants of demo 1.0 are")):
            with self.subTest(label):
                told = self.assert_fails(self.install("demo", "--variant", "demo=" + label, index=self.index), 3, hint)
                self.assertEqual("did you mean" in told.err, "did you mean" in hint)

    def test_no_fitting_variant_says_the_reason_for_each(self):
        document = variant_document({"hopper": [("nvidia", "sm_arch", ["90_real"])], "v4": [("x86_64", "level", ["v4"])]},
                                    ["nvidia", "x86_64"])
        for label in document["variants"]:
            self.index.add_wheel(Wheel("demo", "1.0", label, document))
        self.index.add_variants("demo", "1.0", document)
        result = self.install("demo", "--for", "x86_64:v2", index=self.index)
        self.assert_fails(result, 3, "hopper", "sm_arch", "v4", "level")
        result = self.install("demo", "--for", "x86_64:v2", "--json", index=self.index)
        self.assertEqual(result.json["error"]["kind"], "unsupported")
        rejected = result.json["packages"][0]["decision"]["rejected"]
        self.assertEqual({one["label"] for one in rejected}, {"hopper", "v4"})
        result = self.install("demo", "--for", "x86_64:v2", "--explain", index=self.index)
        self.assertRegex(result.out, r"rejected\s+hopper")
        explained = self.variant("explain", "demo", "-i", self.index.url, "--python", self.venv, "--for", "x86_64:v2")
        self.assert_fails(explained, 3, "hopper", "v4")
        self.assert_untouched()

    def test_a_conflict_names_both_requirements(self):
        self.index.add_wheel(Wheel("app", "1.0", requires=["lib<2", "other"]))
        self.index.add_wheel(Wheel("other", "1.0", requires=["lib>=2"]))
        self.index.add_wheel(Wheel("lib", "1.0"))
        self.index.add_wheel(Wheel("lib", "2.0"))
        result = self.install("app", "--json", index=self.index)
        self.assertEqual(result.code, 1)
        self.assertEqual(result.json["error"]["kind"], "conflict")
        for words in ("lib<2", "lib>=2", "app", "other"):
            self.assertIn(words, result.json["error"]["message"])
        self.assert_untouched()

    def test_an_index_page_that_is_not_one(self):
        for name, text in [("index.json", "<html><body>maintenance</body></html>"), ("index.json", '{"hello": 1}'),
                           ("index.json", '{"meta": {"api-version": "9.0"}, "name": "demo", "files": []}')]:
            place = self.root / "bad" / "demo"
            place.mkdir(parents=True, exist_ok=True)
            (place / name).write_text(text)
            self.assert_fails(self.install("demo", index=(self.root / "bad").as_uri()), 1, "index.json")
        self.assert_untouched()

    def test_an_unreachable_index_is_named(self):
        self.assert_fails(self.install("demo", index="http://127.0.0.1:9/simple", env={"PIP_TIMEOUT": "2"}),
                          1, "127.0.0.1:9")
        self.assert_untouched()


class Drivers(EnvironmentTestCase):
    """A stub where a vendor's library would be, found by the program through the normal search path."""

    def driver(self, behaviour):
        folder = BIN.parent / "tests/detect/stubs/nvidia"
        self.assertTrue(folder.is_dir(), f"{folder} was not built")
        return {"LD_LIBRARY_PATH": str(folder), "AXLE_STUB": behaviour}

    def detect_with(self, behaviour):
        started = time.monotonic()
        result = self.assert_ok(self.variant("detect", "--json", env=self.driver(behaviour)))
        return result.json, time.monotonic() - started

    def test_a_driver_library_that_crashes(self):
        facts, _ = self.detect_with("crash")
        self.assertTrue(any("nvidia" in problem["code"] for problem in facts["problems"]), facts["problems"])

    def test_a_driver_library_that_hangs(self):
        facts, seconds = self.detect_with("hang")
        self.assertLess(seconds, 15)
        self.assertTrue(any("nvidia" in problem["code"] for problem in facts["problems"]), facts["problems"])

    def test_an_installation_goes_on_without_the_driver(self):
        publish_levels(self.index)
        result = self.assert_ok(self.install("demo", index=self.index, env=self.driver("crash")))
        self.assertIn("demo", self.installed())
        self.assertNotIn("Segmentation", result.err)


class Environments(EnvironmentTestCase):
    def test_an_environment_that_is_not_one(self):
        self.index.add_wheel(Wheel("demo", "1.0"))
        empty = self.root / "empty"
        empty.mkdir()
        self.assert_fails(self.variant("install", "demo", "-i", self.index.url, "--python", empty), 1, str(empty))
        script = self.root / "python"
        script.write_text("#!/bin/sh\necho I am no interpreter\n")
        script.chmod(0o755)
        self.assert_fails(self.variant("install", "demo", "-i", self.index.url, "--python", script), 1, str(script))
        result = self.variant("install", "demo", "-i", self.index.url, env={"VIRTUAL_ENV": str(empty)})
        self.assert_fails(result, 1, str(empty))
        result = self.variant("install", "demo", "-i", self.index.url)
        self.assert_fails(result, 1, "venv")

    def test_an_externally_managed_environment(self):
        self.index.add_wheel(Wheel("demo", "1.0"))
        stdlib = self.python("import sysconfig; print(sysconfig.get_path('stdlib'))")
        if not pathlib.Path(stdlib, "EXTERNALLY-MANAGED").exists():
            self.skipTest(f"{PYTHON} is not externally managed")
        result = self.variant("install", "demo", "-i", self.index.url, "--python", PYTHON)
        self.assert_fails(result, 1, "managed", "variant venv")

    def unprivileged(self):
        if os.geteuid() != 0:
            return ()
        if shutil.which("setpriv") is None:
            self.skipTest("running as root without setpriv: permissions cannot be tested")
        return ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")

    def test_no_write_permission(self):
        self.index.add_wheel(Wheel("demo", "1.0"))
        prefix = self.unprivileged()
        for path in [self.root, *self.root.rglob("*")]:
            if not path.is_symlink():
                path.chmod(0o555 if path.is_dir() else stat.S_IMODE(path.stat().st_mode) & 0o555)
        home = self.root.parent / (self.root.name + "-home")
        home.mkdir()
        home.chmod(0o777)
        self.addCleanup(shutil.rmtree, home, ignore_errors=True)
        try:
            result = self.install("demo", index=self.index, prefix=prefix, env={"HOME": str(home)})
            self.assert_fails(result, 1, str(self.venv))
            self.assertIn("ermission", result.err)
        finally:
            for path in [self.root, *self.root.rglob("*")]:
                if not path.is_symlink():
                    path.chmod(0o755)
        self.assertFalse((self.site() / "demo.py").exists())

    def test_a_full_disk(self):
        disk = self.root / "disk"
        disk.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)], capture_output=True)
        if mounted.returncode != 0:
            self.skipTest("no small file system can be mounted here")
        self.addCleanup(subprocess.run, ["umount", str(disk)], capture_output=True)
        venv = self.make_venv(disk / "venv")
        self.index.add_wheel(Wheel("small", "1.0"))
        self.assert_ok(self.variant("install", "small", "-i", self.index.url, "--python", venv))
        before = tree(venv)
        import random
        noise = random.Random(7).randbytes(3_000_000)
        self.index.add_wheel(Wheel("demo", "1.0", files={"demo.py": "", "data.bin": noise}))
        result = self.variant("install", "demo", "-i", self.index.url, "--python", venv)
        self.assert_fails(result, 1, "space")
        self.assertEqual(set(self.installed(venv)), {"small"})
        changed = {path for path in set(before) ^ set(tree(venv)) if not path.startswith(".axle")}
        self.assertEqual(changed, set())


class Usage(TestCase):
    def test_usage_errors_are_exit_2_and_say_where_help_is(self):
        for line in (["frobnicate"], ["install"], ["install", "--nope", "x"], ["explain"], ["install", "--variant", "x", "y"],
                     ["install", "not a requirement!"], []):
            with self.subTest(line=line):
                result = self.variant(*line)
                self.assertEqual(result.code, 2, str(result))
                self.assertTrue(result.err.startswith("error: "), str(result))
                result = self.variant(*line, "--json")
                self.assertEqual(result.json["error"]["kind"], "usage")

    def test_a_requirement_as_long_as_tools_write_them(self):
        marker = " or ".join(f"python_version == '3.{minor}'" for minor in range(40))
        nothing = Index(self.root / "index")
        nothing.folder.mkdir()
        self.make_venv()
        result = self.variant("install", f"demo; {marker}", "-i", nothing.url, "--python", self.venv)
        self.assert_fails(result, 1, "demo")
        self.assertNotIn("defect", result.err)
        self.assert_fails(self.variant("install", "-r", "x" * 300), 1, "requirements file")

    def test_what_is_no_requirements_file_is_said(self):
        (self.root / "pyproject.toml").write_text('[project]\nname = "p"\nversion = "1"\n')
        (self.root / "nested.txt").write_text("-r ftp://host.example/wanted.txt\n")
        (self.root / "names.txt").write_text("-r pyproject.toml\n")
        for words in (("-r", "names.txt"), ("-c", self.root / "pyproject.toml")):
            self.assert_fails(self.variant("resolve", "demo", *words), 1, "pyproject.toml describes a project", "uv pip compile")
        self.assert_fails(self.variant("resolve", "-r", "nested.txt"), 1, "nested.txt:1",
                          "ftp://host.example/wanted.txt: requirements files are read from disk", "download it")
        result = self.variant("resolve", "-r", "ftp://u:secret@host.example/wanted.txt")
        self.assert_fails(result, 1, "ftp://host.example/wanted.txt: requirements files")
        self.assertNotIn("secret", result.err)

    def test_an_unknown_command_and_an_empty_index_are_named(self):
        self.assertIn("`bogus`", self.variant("bogus", "--json").json["error"]["message"])
        self.make_venv()
        self.assert_fails(self.variant("install", "demo", "--index-url", "", "--python", self.venv), 2, "--index-url")

    def test_no_index_at_all_says_how_to_name_one(self):
        venv = self.make_venv()
        nothing = self.root / "nothing"
        nothing.mkdir()
        (nothing / "python3").write_text("#!/bin/sh\nexit 1\n")
        (nothing / "python3").chmod(0o755)
        result = self.variant("install", "demo", "--python", venv, env={"PATH": str(nothing)})
        self.assert_fails(result, 1, "--index-url")
        # Who needs no index hears nothing of it.
        wheel = Wheel("demo", "1.0").write(self.root / "wheels")
        self.assert_ok(self.variant("install", wheel, "--python", venv, env={"PATH": str(nothing)}))
        self.assert_ok(self.variant("install", "demo", "--python", venv, env={"PATH": str(nothing)}))

    def test_a_constraint_with_extras_and_a_profile_without_a_name_are_usage_errors(self):
        venv = self.make_venv()
        (self.root / "limits.txt").write_text("demo[more]<2\n")
        self.assert_fails(self.variant("install", "demo", "-c", "limits.txt", "--python", venv), 2, "demo[more]<2", "extras")
        self.assert_fails(self.variant("detect", "--profile", ""), 2, "--profile")

    def test_a_project_that_is_not_one(self):
        empty = self.root / "project"
        empty.mkdir()
        self.assert_fails(self.variant("build", empty), 1, "pyproject.toml")
        # Lexical errors end in the TOML library's exceptions: those of the shipped program must be caught.
        for text in (b"[project\n", b'a = "x', b"a = 1e999", b"a = \x00", b"a = 1979-13-45", b"\xff\xfea", b"\x7fELF",
                     b"a = 99999999999999999999999", b"a = [" + b"[\n" * 400):
            (empty / "pyproject.toml").write_bytes(text)
            result = self.assert_fails(self.variant("build", empty, "--json"), 1, "pyproject.toml")
            self.assertEqual(result.json["error"]["kind"], "malformed", text)

    def test_a_script_that_no_installer_takes_is_not_built(self):
        project = self.root / "project"
        project.mkdir()
        for name in ("../x", "python", "activate", "-x"):
            (project / "pyproject.toml").write_text(
                f'[project]\nname = "p"\nversion = "1"\nscripts = {{ "{name}" = "p:main" }}\n[tool.axle]\npackages = ["p"]\n')
            (project / "p").mkdir(exist_ok=True)
            (project / "p/__init__.py").write_text("")
            result = self.variant("build", project, "--out", self.root / "out")
            self.assertNotEqual(result.code, 0, name)
            self.assertFalse(list((self.root / "out").glob("*.whl")) if (self.root / "out").exists() else [], name)

    def test_a_broken_configuration_of_uv_ends_the_command(self):
        self.make_venv()
        index = Index(self.root / "index")
        index.add_wheel(Wheel("demo", "1.0"))
        (self.root / "home/.config/uv").mkdir(parents=True)
        (self.root / "home/.config/uv/uv.toml").write_text('index-url = "x')
        self.assert_fails(self.install("demo", index=index), 2, "uv.toml:1")


    def test_a_damaged_configuration_ends_the_command_whichever_file_it_is(self):
        index = Index(self.root / "index")
        index.add_wheel(Wheel("demo", "1.0"))
        self.make_venv()
        project = self.root / "project"
        project.mkdir()
        deep = ".".join(["a"] * 40_000)
        for path in (self.root / "home/.config/uv/uv.toml", project / "pyproject.toml",
                     self.root / "home/.config/axle/providers.toml"):
            path.parent.mkdir(parents=True, exist_ok=True)
            for text, line in ((f"{deep} = 1\n", 1), ("a = 1\nb = [\n", 2), ("\xff\n", 1)):
                with self.subTest(path=path.name, text=text[:10]):
                    path.write_bytes(text.encode("latin-1"))
                    result = self.variant("install", "demo", "--python", self.venv, "--index-url", index.url, cwd=project)
                    self.assert_fails(result, 2, f"{path.name}:{line}")
            path.unlink()

    def test_what_strangers_write_does_not_steer_the_terminal(self):
        self.make_venv()
        index = Index(self.root / "index")
        index.add_wheel(Wheel("demo", "1.0", extra_metadata="Summary: a\x1b]0;title\x07b \u009b2J\n"))
        self.assert_ok(self.install("demo", index=index))
        text = self.assert_ok(self.variant("show", "demo", "--python", self.venv)).out
        self.assertNotIn("\x1b", text)
        self.assertNotIn("\u009b", text)
        self.assertIn("\\x1b]0;title\\x07b \\x9b2J", text)

    def test_a_relative_path_entry_runs_nothing_from_the_working_folder(self):
        self.make_venv()
        trap = self.root / "work/bin"
        trap.mkdir(parents=True)
        (trap / "python3").write_text(f"#!/bin/sh\ntouch {self.root}/trapped\necho https://trap.invalid/simple\n")
        (trap / "python3").chmod(0o755)
        result = self.variant("install", "demo", "--python", self.venv, env={"PATH": "bin"}, cwd=self.root / "work")
        self.assert_fails(result, 1, "--index-url")
        self.assertFalse((self.root / "trapped").exists())


class FilesTest(TestCase):
    """Files that are named on the command line and are none, or have no end."""

    def places(self):
        sparse, folder, binary = self.root / "sparse", self.root / "folder", self.root / "binary"
        with open(sparse, "wb") as file:
            file.truncate(10 << 30)
        folder.mkdir()
        binary.write_bytes(bytes(range(256)) * 100)
        return {"/dev/zero": "too large", "/dev/random": "too large", sparse: "too large", folder: "", binary: ""}

    def test_each_file_argument_is_read_with_bounds(self):
        for place, word in self.places().items():
            for command in (["resolve", "--no-index", "-r", place], ["resolve", "--no-index", "demo", "-c", place],
                            ["resolve", "--no-index", "demo", "--supported", place], ["rank", place],
                            ["rank", place, "--supported", place], ["detect", "--for", place]):
                with self.subTest(command=command, place=place):
                    began = time.monotonic()
                    # Without a bound this is killed by the limit, with exit code -6 or worse. A sanitizer's
                    # shadow memory alone is larger.
                    limit = [] if os.environ.get("AXLE_SANITIZED") else ["prlimit", "--as=2000000000"]
                    result = self.variant(*command, prefix=limit)
                    self.assertIn(result.code, (1, 2), str(result))
                    self.assertIn(str(place), result.err)
                    self.assertNotIn("a defect in Axle", result.err)
                    if "--for" not in command:
                        self.assertIn(word, result.err)
                    self.assertLess(time.monotonic() - began, 10)

    def test_a_named_pipe_that_nobody_writes_to(self):
        pipe = self.root / "pipe"
        os.mkfifo(pipe)
        commands = (["resolve", "--no-index", "-r", pipe], ["rank", pipe], ["detect", "--for", pipe])
        runs = [subprocess.Popen([str(VARIANT), *map(str, command)], env=self.env, text=True, stderr=subprocess.PIPE,
                                 stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL) for command in commands]
        for run in runs:
            _, err = run.communicate(timeout=60)
            self.assertIn(run.returncode, (1, 2))
            self.assertIn(str(pipe), err)

    def test_a_named_pipe_with_a_writer_is_read(self):
        pipe = self.root / "pipe"
        os.mkfifo(pipe)
        writer = threading.Thread(target=lambda: (time.sleep(1), pipe.write_text("# nothing\n")))
        writer.start()
        result = self.variant("resolve", "--no-index", "-r", pipe)
        writer.join()
        self.assertNotIn("pipe", result.err)


class CommandTest(TestCase):
    """A command that does not exist is named wherever it stands, as text and as JSON."""

    def test_an_unknown_command(self):
        for words, shown, nearest in ((["nosuch"], "nosuch", ""), (["--json", "nosuch"], "nosuch", ""),
                                      (["nosuch", "--json"], "nosuch", ""), (["--for", "h100", "instal"], "instal", "install"),
                                      (["--for=h100", "-q", "instal", "x"], "instal", "install"),
                                      (["index", "buid"], "index buid", "build"),
                                      (["--json", "providers", "lst"], "providers lst", "list"),
                                      (["index", "build2", "--out", "x"], "index build2", "build"),
                                      (["families"], "families", "did you mean `variant index families`"),
                                      (["runtime", "info"], "runtime", "or `variant model info`?"),
                                      (["runtime", "--json", "bench"], "runtime", "`variant --help` lists the commands"), (["runtime", "bench"], "runtime", "did you mean `variant model bench`?"),
                                      (["provider", "list"], "provider", "did you mean `variant providers list`?"),
                                      (["isntall"], "isntall", "did you mean `variant install`"),
                                      (["model", "run"], "model run", "`variant model --help` lists the commands")):
            with self.subTest(words):
                result = self.assert_fails(self.variant(*words), 2, f"no command `{shown}`", nearest)
                if "--json" in words:
                    self.assertEqual(result.json["error"]["kind"], "usage")

    def test_no_command(self):
        for words, shown in (([], "variant"), (["--json"], "variant"), (["--for", "h100"], "variant"), (["index"], "variant index"),
                             (["--json", "index"], "variant index"), (["index", "--json"], "variant index")):
            with self.subTest(words):
                self.assert_fails(self.variant(*words), 2, f"`{shown}` needs a command", f"`{shown} --help`")

    def test_an_unknown_option_without_a_command(self):
        for words in (["--jsno"], ["--jsno", "list"], ["--json", "--nosuch=x"], ["index", "--nosuch"]):
            with self.subTest(words):
                option = next(word for word in words if word in ("--jsno", "--nosuch", "--nosuch=x")).split("=")[0]
                self.assert_fails(self.variant(*words), 2, f"no option `{option}`", "--help`")

    def test_a_misspelt_option(self):
        for words, hint in ((["install", "--indx-url", "x"], "did you mean --index-url?"),
                            (["install", "--drry-run", "x"], "did you mean --dry-run?"),
                            (["--jsno", "list"], "did you mean --json?"),
                            (["list", "--refit"], "--refit is an option of variant install;"),
                            (["list", "--index-url=x"], "--index-url is an option of other commands;"),
                            (["model", "info", "--python=x"], "--python is an option of other commands;"),
                            (["list", "--zzzz"], "see `variant list --help`")):
            with self.subTest(words):
                self.assert_fails(self.variant(*words), 2, hint)

    def test_a_misspelt_name(self):
        for words, hint in ((["detect", "--for", "H100"], "did you mean h100?"),
                            (["detect", "--for", "RTX 4090"], "did you mean rtx4090?"),
                            (["detect", "--for", "NVIDIA H100 80GB HBM3"], "did you mean h100?"),
                            (["detect", "--for", "nvidia:gpu=RTX4090"], "did you mean rtx4090?"),
                            (["detect", "--why", "nvidai"], "did you mean nvidia?"),
                            (["properties", "--namespace", "x8664"], "did you mean x86_64?"),
                            (["providers", "show", "nvidai"], "did you mean nvidia?"),
                            (["resolve", "x", "--no-index", "--require", "nvidai"], "did you mean nvidia?"),
                            (["index", "families", "--family", "torc=http://127.0.0.1/x"], "did you mean torch?")):
            with self.subTest(words):
                self.assert_fails(self.variant(*words), 2, hint)

    def test_the_hint_works(self):
        self.assertIn("install", self.assert_ok(self.variant("--help")).out)
        self.assertIn("build", self.assert_ok(self.variant("index", "--help")).out)


if __name__ == "__main__":
    unittest.main(verbosity=2)
