"""The program itself: what it links, what it does over HTTP, what it says when a part of it is missing."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import unittest
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import BIN, VARIANT, Index, TestCase, Wheel, levels_document


class Linking(TestCase):
    def needed(self, path):
        out = subprocess.run(["readelf", "-d", str(path)], capture_output=True, text=True, check=True).stdout
        return [line.split("[")[1].rstrip("]") for line in out.splitlines() if "(NEEDED)" in line]

    def test_start_up_opens_the_c_library_and_modules_have_the_rest(self):
        self.need_program_as_shipped()
        loader = re.compile(r"ld-linux.*|libc\.so\..*|libm\.so\..*")
        needed = self.needed(VARIANT)
        self.assertIn("libc.so.6", needed)
        self.assertEqual([one for one in needed if not loader.fullmatch(one)], [])
        for module, library in (("libaxle_curl.so", "libcurl"), ("libaxle_pages.so", "libsimdjson")):
            self.assertTrue([one for one in self.needed(BIN / module) if one.startswith(library)])

    def test_modules_show_nothing_but_what_is_asked_of_them(self):
        self.need_program_as_shipped()
        for module, function in (("libaxle_curl.so", "axle_curl_api"), ("libaxle_pages.so", "axle_parse_json_page")):
            out = subprocess.run(["readelf", "--dyn-syms", "-W", str(BIN / module)], capture_output=True, text=True, check=True).stdout
            strong = [line.split()[7] for line in out.splitlines()
                      if re.search(r" (FUNC|OBJECT) +GLOBAL +DEFAULT +\d+ ", line)]
            self.assertEqual(strong, [function])

    def test_without_a_module_the_program_says_so_and_the_rest_works(self):
        alone = self.root / "alone"
        alone.mkdir()
        program = alone / "variant"
        shutil.copy(VARIANT, program)
        self.make_venv()
        index = Index(self.root / "index")
        index.add_wheel(Wheel("demo", "1.0"))
        install = ("install", "demo", "--python", self.venv)
        self.assert_fails(self.variant(*install, "-i", "http://127.0.0.1:9/simple", program=program), 1, "libaxle_curl.so")
        self.need_program_as_shipped()
        self.assert_fails(self.variant(*install, "-i", index.url, program=program), 1, "module for pages of indexes", "libaxle_pages.so")
        (alone / "libaxle_pages.so").write_text("not a library")
        self.assert_fails(self.variant(*install, "-i", index.url, program=program), 1, "libaxle_pages.so cannot be opened")
        shutil.copy(BIN / "libaxle_curl.so", alone / "libaxle_pages.so")
        self.assert_fails(self.variant(*install, "-i", index.url, program=program), 1, "libaxle_pages.so belongs to another release")
        self.assert_ok(self.variant("list", "--python", self.venv, program=program))
        shutil.copy(BIN / "libaxle_pages.so", alone)
        self.assert_ok(self.variant(*install, "-i", index.url, program=program))

    def test_a_library_that_cannot_be_loaded_is_named_and_no_defect(self):
        self.need_program_as_shipped()
        self.make_venv()
        (self.root / "lib").mkdir()
        (self.root / "lib/libisal.so.2").write_text("not a library")
        wheel = Wheel("demo", "1.0").write(self.root / "dist")
        result = self.variant("install", wheel, "--no-index", "--python", self.venv, env={"LD_LIBRARY_PATH": str(self.root / "lib")})
        self.assert_fails(result, 1, "libisal.so.2 (ISA-L) cannot be loaded", "install it with the system's packages")
        self.assertNotIn("defect", result.err)
        self.assertEqual(self.installed(), {})


class Http(TestCase):
    def setUp(self):
        super().setUp()
        self.make_venv()
        document = levels_document()
        for label in document["variants"]:
            Wheel("demo", "1.0", label, document).write(self.root / "wheels")
        Wheel("lib", "1.0").write(self.root / "wheels")
        self.assert_ok(self.variant("index", "build", self.root / "wheels", "--out", self.root / "served"))
        self.server = subprocess.Popen([BIN / "index_server", str(self.root / "served")], stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.server.stdout.close)
        self.addCleanup(self.server.wait)
        self.addCleanup(self.server.terminate)
        self.base = f"http://127.0.0.1:{int(self.server.stdout.readline())}"

    def requests(self):
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        return json.loads(opener.open(self.base + "/-/seen", timeout=10).read())

    def test_an_installation_over_http_and_again_from_the_cache(self):
        self.assert_ok(self.install("demo", "lib", index=self.base + "/simple"))
        self.assertEqual(set(self.installed()), {"demo", "lib"})
        first = len(self.requests())
        other = self.make_venv(self.root / "other")
        self.assert_ok(self.variant("install", "demo", "lib", "-i", self.base + "/simple", "--python", other))
        again = self.requests()[first:]
        fetched = [one["target"] for one in again if one["target"].endswith(".whl")]
        self.assertEqual(fetched, [], "the store has both wheels")
        self.assertTrue([one for one in again if one["target"].startswith("/simple/demo/")], "pages are revalidated")

    def test_a_satisfied_request_asks_the_index_for_nothing(self):
        self.assert_ok(self.install("lib", index=self.base + "/simple"))
        before = len(self.requests())
        result = self.assert_ok(self.install("lib", "--json", index=self.base + "/simple"))
        self.assertEqual(result.json["kept"][0]["name"], "lib")
        self.assertEqual(len(self.requests()), before)

    def test_transfers_that_are_cut_leave_the_environment_as_it_was(self):
        result = self.install("demo", index=self.base + "/-cut/simple", env={"PIP_TIMEOUT": "3"})
        self.assertEqual(result.code, 1, str(result))
        self.assertEqual(self.installed(), {})


class FullStdout(TestCase):
    """The answer cannot be written: stderr says whether something was changed."""

    def setUp(self):
        super().setUp()
        self.make_venv()
        Wheel("demo", "1.0").write(self.root / "dist")

    def run_into(self, stdout, *arguments):
        return subprocess.run([str(VARIANT), *map(str, arguments), "--python", str(self.venv)], stdout=stdout, text=True,
                              stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, env=self.env, cwd=self.root, timeout=120)

    def both(self, *arguments):
        """With a full device, and with a pipe that nobody reads."""
        with open("/dev/full", "w") as full:
            yield self.run_into(full, *arguments)
        read, write = os.pipe()
        os.close(read)
        yield self.run_into(write, *arguments)
        os.close(write)

    def test_a_change_that_was_made_is_said(self):
        install = ("install", "demo", "--no-index", "--find-links", self.root / "dist", "--reinstall")
        for json_too in ((), ("--json",)):
            for done in self.both(*install, *json_too):
                self.assertEqual(done.returncode, 1)
                self.assertIn("error: the change was made; only its report could not be written", done.stderr)
                self.assertEqual(self.installed(), {"demo": ("1.0", None)})
        full, closed = self.both("list")
        self.assertEqual(full.returncode, 1)
        self.assertIn("error: the result could not be written to stdout", full.stderr)
        self.assertEqual(closed.returncode, -signal.SIGPIPE)
        self.assertEqual(closed.stderr, "")
        for done in self.both("install", "demo", "--no-index", "--find-links", self.root / "dist", "--dry-run", "--reinstall"):
            self.assertNotIn("the change was made", done.stderr)
        for done in self.both("uninstall", "demo"):
            self.assertEqual(done.returncode, 1)
            self.assertIn("error: the change was made", done.stderr)
            self.assertEqual(self.installed(), {})
            self.install("demo", "--no-index", "--find-links", self.root / "dist")

    def test_what_is_written_outside_of_an_environment_is_a_change_too(self):
        settings = {"AXLE_CONFIG_DIR": str(self.root / "config")}
        rows = {("index", "build", "dist", "--out", "out"): self.root / "out/simple/demo",
                ("providers", "disable", "nvidia"): None}
        for words, written in rows.items():
            with self.subTest(words), open("/dev/full", "w") as full:
                done = subprocess.run([str(VARIANT), *words], stdout=full, text=True, stderr=subprocess.PIPE,
                                      stdin=subprocess.DEVNULL, env={**self.env, **settings}, cwd=self.root, timeout=120)
                self.assertEqual(done.returncode, 1)
                self.assertIn("error: the change was made; only its report could not be written", done.stderr)
                self.assertTrue(written is None or written.exists())
        for words, said in ((("index", "build", "dist", "--out", "out"), "the result"),
                            (("index", "remove", "demo", "--out", "out", "--dry-run"), "the result"),
                            (("index", "remove", "demo", "--out", "out"), "the change was made")):
            with self.subTest(words), open("/dev/full", "w") as full:
                done = subprocess.run([str(VARIANT), *words], stdout=full, text=True, stderr=subprocess.PIPE,
                                      stdin=subprocess.DEVNULL, env=self.env, cwd=self.root, timeout=120)
                self.assertIn("error: " + said, done.stderr)


class Durability(TestCase):
    """docs/architecture.md: what exit code 0 means for the disk."""

    def test_no_command_waits_for_all_of_a_file_system_and_nothing_after_the_journal_for_the_disk(self):
        self.need_program_as_shipped()
        if not shutil.which("strace"):
            self.skipTest("strace is not installed")
        self.make_venv()
        wheel = Wheel("demo", "1.0").write(self.root / "dist")
        trace = self.root / "trace"
        calls = "trace=fsync,fdatasync,syncfs,sync,sync_file_range,rename,renameat,renameat2"
        done = self.variant("install", wheel, "--no-index", "--python", self.venv,
                            prefix=["strace", "-f", "-qq", "-o", trace, "-e", calls])
        if done.code != 0 and "ptrace" in done.err:
            self.skipTest("tracing is not permitted here")
        self.assert_ok(done)
        lines = [line for line in trace.read_text().splitlines() if "sync" in line or ".axle/" in line]
        syncs = [number for number, line in enumerate(lines) if "sync" in line]
        journal = next(number for number, line in enumerate(lines) if "journal.draft" in line)
        self.assertTrue(syncs, lines)
        self.assertFalse([line for line in lines if "syncfs(" in line or re.search(r" sync\(", line)], lines)
        self.assertLess(max(syncs), journal, lines)
        self.assertGreater(len(lines), journal + 2)


class Kills(TestCase):
    """kill -9 and write errors inside the shipped program; tests/installer/soak goes through every point."""

    def setUp(self):
        super().setUp()
        if not (BIN / "libfault_shim.so").exists():
            self.skipTest("the fault shim was not built (sanitizer builds have none)")
        self.make_venv()
        self.index = Index(self.root / "index")
        for version in ("1.0", "2.0"):
            files = {f"demo/part{number}.py": f"V = '{version}'\n" for number in range(5)}
            files["demo/__init__.py"] = "from . import part0, part1, part2, part3, part4\nV = part0.V\n"
            self.index.add_wheel(Wheel("demo", version, files=files))

    def upgrade(self, venv, **shim):
        environment = {"LD_PRELOAD": str(BIN / "libfault_shim.so")} | {f"AXLE_FAULT_{k}": str(v) for k, v in shim.items()}
        return self.variant("install", "demo==2.0", "-i", self.index.url, "--python", venv, env=environment if shim else {})

    def fresh(self, name):
        venv = self.make_venv(self.root / name)
        self.assert_ok(self.variant("install", "demo==1.0", "-i", self.index.url, "--python", venv))
        return venv

    def check_whole(self, venv, what):
        version, _ = self.installed(venv)["demo"]
        self.assertIn(version, ("1.0", "2.0"), what)
        told = self.python("import demo; print(*{getattr(demo, f'part{n}').V for n in range(5)})", venv)
        self.assertEqual(told, version, what)

    def test_killed_or_failing_anywhere_the_environment_is_the_old_or_the_new_one(self):
        count = self.root / "count"
        self.assert_ok(self.upgrade(self.fresh("counted"), COUNT=count))
        calls = int(count.read_text())
        self.assertGreater(calls, 20)
        venv = self.fresh("venv")
        states, killed = set(), 0
        for at in range(1, calls + 1, max(1, calls // 12)):
            for action in ("kill", "ENOSPC"):
                result = self.upgrade(venv, AT=at, ACTION=action)
                killed += result.code == -9
                self.check_whole(venv, f"{action} at call {at}")
                states.add(self.installed(venv)["demo"][0])
                self.assert_ok(self.upgrade(venv))
                self.assert_ok(self.variant("install", "demo==1.0", "-i", self.index.url, "--python", venv))
        # A warm store needs fewer calls than were counted: the last points lie behind the end.
        self.assertGreater(killed, 5)
        self.assertEqual(states, {"1.0", "2.0"})


if __name__ == "__main__":
    unittest.main(verbosity=2)
