"""One table, a matrix of wheels: built again only where something changed, and gone on with after a kill."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from matrix_case import LEVELS, LISTS, MatrixCase, SOURCE
from support import VARIANT


class AgainTest(MatrixCase):
    def setUp(self):
        super().setUp()
        self.native()

    def test_only_what_changed_is_built_again_whatever_its_time(self):
        first = self.built()
        self.assertEqual([one["reused"] for one in first.values()], [False] * 3)
        self.assertEqual({label: self.call(one["file"], "level") for label, one in first.items()}, {"null": 1, "v2": 2, "v3": 3})
        self.assertIn("Building C object", pathlib.Path(first["v3"]["log"]).read_text())
        os.utime(self.project / "demo.c")
        again = self.built()
        self.assertEqual([one["reused"] for one in again.values()], [True] * 3)
        self.assertEqual([one["sha256"] for one in again.values()], [one["sha256"] for one in first.values()])
        pathlib.Path(first["v2"]["file"]).unlink()
        self.assertTrue(self.built()["v2"]["reused"])
        self.assertTrue(pathlib.Path(first["v2"]["file"]).exists())

        header = self.project / "step.h"
        header.write_text("#define FACTOR 10\n")
        changed = self.built()
        self.assertEqual([self.call(one["file"], "step") for one in changed.values()], [10, 10, 30])
        # Another content with the old time: a clock that was set back, an unpacked archive.
        header.write_text("#define FACTOR 20\n")
        os.utime(header, (10**9, 10**9))
        self.assertEqual([self.call(one["file"], "step") for one in self.built().values()], [20, 20, 60])
        # The first content again is the first wheel again.
        header.write_text("#define FACTOR 1\n")
        self.assertEqual([one["sha256"] for one in self.built().values()], [one["sha256"] for one in first.values()])

    def test_a_row_that_changed_is_the_only_one_that_is_built(self):
        self.built()
        self.describe(LEVELS.replace("STEP = 3", "STEP = 4"))
        again = self.built()
        self.assertEqual(self.call(again["v3"]["file"], "step"), 4)
        # A definition that is gone is gone.
        self.describe(LEVELS.replace(", cmake.STEP = 3", ""))
        self.assertEqual(self.call(self.built()["v3"]["file"], "step"), 1)
        self.assertEqual(self.call(self.built("--variant", "v3")["v3"]["file"], "level"), 3)

    def test_another_folder_and_epoch(self):
        here = self.built()
        moved = self.make_project(self.root / "a folder with a longer name" / "project")
        there = self.built(project=moved, out=self.root / "other")
        self.assertEqual([one["sha256"] for one in here.values()], [one["sha256"] for one in there.values()])
        self.env["SOURCE_DATE_EPOCH"] = "1700000000"
        later = self.built()
        self.assertEqual([one["reused"] for one in later.values()], [False] * 3)
        library = self.unpack(later["null"]["file"]) / "demo/libdemo.so"
        self.assertIn(b"/src/demo.c Nov 14 2023 22:13:20", library.read_bytes())

    def test_without_a_cache_nothing_is_kept(self):
        wheels = self.built("--no-cache")
        self.assertIsNone(wheels["null"]["log"])
        self.assertFalse(self.built("--no-cache")["null"]["reused"])

    def test_the_cache_knows_it(self):
        self.built()
        info = self.assert_ok(self.variant("cache", "info", "--json")).json
        self.assertIn("build_trees", json.dumps(info))
        self.assert_ok(self.variant("cache", "clean"))
        self.assertFalse(self.built()["null"]["reused"])

    def test_a_build_that_is_killed_goes_on_where_it_was(self):
        parts = {f"part{number}.c": "\n".join(
            f"int f{number}_{i}(int x) {{ return x * {i} + {number}; }}" for i in range(100)) for number in range(6)}
        for name, text in parts.items():
            (self.project / name).write_text(text)
        whole = self.built("--no-cache", "-j1")
        shutil.rmtree(self.out)
        command = [str(VARIANT), "build", str(self.project), "--out", str(self.out), "-j", "1"]
        compiled = []
        for attempt in range(4):
            process = subprocess.Popen(command, env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline and process.poll() is None and len(self.objects()) < 3 * (attempt + 1):
                time.sleep(0.01)
            process.send_signal(signal.SIGKILL)
            process.wait()
            compiled.append(len(self.objects()))
        kept = {path: path.stat().st_mtime_ns for path in self.objects()}
        # What Ninja has in its log is finished; a file that was being compiled is not.
        finished = {path: when for path, when in kept.items() if self.is_logged(path)}
        self.assertGreaterEqual(len(finished), 6, compiled)
        built = self.built()
        self.assertEqual([one["sha256"] for one in built.values()], [one["sha256"] for one in whole.values()])
        self.assertEqual({path: path.stat().st_mtime_ns for path in finished}, finished)

    def test_an_interruption_ends_the_compilers(self):
        """Ninja's are in process groups of their own."""
        running = self.root / "running"
        compiler = self.root / "cc"
        compiler.write_text(f"""#!/bin/sh
case "$*" in *"demo.c"*) echo $$ >> {running}; sleep 300 ;; esac
exec gcc "$@"
""")
        compiler.chmod(0o755)
        command = [str(VARIANT), "build", str(self.project), "--out", str(self.out), "-j", "2"]
        for number in (signal.SIGINT, signal.SIGTERM):
            running.unlink(missing_ok=True)
            process = subprocess.Popen(command, env={**self.env, "CC": str(compiler)}, start_new_session=True,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline and (not running.exists() or len(running.read_text().split()) < 2):
                time.sleep(0.05)
            process.send_signal(number)
            said = process.communicate(timeout=30)[1]
            self.assertEqual(process.returncode, -number)
            self.assertIn("error: interrupted", said)
            self.assertNotIn("failed", said)
            for one in running.read_text().split():
                self.assertFalse(self.goes_on(one), f"process {one} goes on after signal {number}")

    def goes_on(self, process):
        """Not one that has ended, and waits to be reaped."""
        try:
            return pathlib.Path("/proc", process, "stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
        except (FileNotFoundError, ProcessLookupError):
            return False

    def test_a_build_that_fails_leaves_its_log_alone(self):
        (self.project / "demo.c").write_text("#error the reason\n")
        scratch = self.root / "scratch"
        scratch.mkdir()
        done = self.assert_fails(self.build("--no-cache", "--variant", "null", env={**self.env, "TMPDIR": str(scratch)}), 1, "the reason")
        left = [path for path in scratch.rglob("*") if path.is_file()]
        self.assertEqual([path.name for path in left], ["build.log"])
        self.assertIn(str(left[0]), done.json["error"]["hint"])
        self.describe('[[tool.axle.variant]]\ncompile-args = ["-fno-such-thing"]\n')
        shutil.rmtree(scratch)
        scratch.mkdir()
        self.assert_fails(self.build("--no-cache", env={**self.env, "TMPDIR": str(scratch)}), 1, "-fno-such-thing")
        self.assertEqual(list(scratch.iterdir()), [])

    def trees(self):
        return self.root / "home/.cache/axle/variant-builds"

    def objects(self):
        return sorted(self.trees().glob("*/*/build/CMakeFiles/demo.dir/*.o"))

    def is_logged(self, path):
        log = path.parents[2] / ".ninja_log"
        return log.exists() and f"\tCMakeFiles/demo.dir/{path.name}\t" in log.read_text()

    def test_two_builds_at_once(self):
        for number in range(6):
            (self.project / f"part{number}.c").write_text(f"int f{number}(void) {{ return {number}; }}\n")
        command = [str(VARIANT), "build", str(self.project), "--out", str(self.out), "--json"]
        both = [subprocess.Popen(command, env=self.env, stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL, text=True) for _ in range(2)]
        answers = [json.loads(one.communicate(timeout=300)[0])["wheels"] for one in both]
        self.assertEqual([one["sha256"] for one in answers[0]], [one["sha256"] for one in answers[1]])


    def test_a_server_that_a_compiler_leaves_holds_nothing_up(self):
        """As sccache does: the first compiler starts it, and it inherits whatever is open."""
        compiler, server = self.root / "cc", self.root / "server"
        compiler.write_text(f"""#!/bin/sh
[ -e "{server}" ] || {{ setsid sleep 60 </dev/null >/dev/null 2>&1 & echo $! >"{server}"; }}
exec gcc "$@"
""")
        compiler.chmod(0o755)
        self.env["CC"] = str(compiler)
        self.assert_ok(self.build("--variant", "null"))
        self.addCleanup(os.kill, int(server.read_text()), signal.SIGKILL)
        again = self.assert_ok(self.build("--variant", "null"))
        self.assertNotIn("waiting", again.err)

    def test_nor_after_a_kill(self):
        """Its compilers, which are in its session, are waited for."""
        compiler, server, ended = (self.root / name for name in ("cc", "server", "ended"))
        compiler.write_text(f"""#!/bin/sh
case "$*" in
  *demo.c*)
    [ -e "{server}" ] || {{ setsid sleep 60 </dev/null >/dev/null 2>&1 & echo $! >"{server}"; sleep 3; echo >"{ended}"; }} ;;
esac
exec gcc "$@"
""")
        compiler.chmod(0o755)
        self.env["CC"] = str(compiler)
        command = [str(VARIANT), "build", str(self.project), "--out", str(self.out), "--variant", "null"]
        process = subprocess.Popen(command, env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not server.exists():
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
        again = self.assert_ok(self.build("--variant", "null"))
        self.addCleanup(os.kill, int(server.read_text()), signal.SIGKILL)
        self.assertTrue(ended.exists())
        self.assertIn("waiting", again.err)

    def test_variants_that_are_called_as_the_builders_own_files(self):
        names = ["lock", "compilers", "compilers.log", "..", "."]
        self.describe("[tool.axle.axes.cpu]\n" + "".join(
            f'"{name}" = {{ properties.x86_64.{one} = ["on"], cmake.STEP = {number} }}\n'
            for number, (name, one) in enumerate(zip(names, ("sse3", "ssse3", "sse4_1", "sse4_2", "popcnt")))))
        for _ in range(2):
            built = self.built()
            self.assertEqual(list(built), names)
        self.assertEqual([one["reused"] for one in built.values()], [True] * len(names))
        self.assertEqual([self.call(one["file"], "step") for one in built.values()], list(range(len(names))))

    def test_the_users_flags_count(self):
        (self.project / "demo.c").write_text(SOURCE + "int users(void) { return USERS; }\n")
        for number in (1, 2):
            self.env["CFLAGS"] = f"-DUSERS={number}"
            built = self.built()
            self.assertEqual([self.call(one["file"], "users") for one in built.values()], [number] * 3)
        self.assertEqual(self.call(built["v3"]["file"], "level"), 3)
        # The row's own environment wins; what the variant needs is beside it.
        self.describe(LEVELS.replace("cmake.STEP = 3", 'environment.CFLAGS = "-DUSERS=7"'))
        built = self.built()
        self.assertEqual({label: self.call(one["file"], "users") for label, one in built.items()},
                         {"null": 2, "v2": 2, "v3": 7})
        self.assertEqual(self.call(built["v3"]["file"], "level"), 3)
        self.assertTrue(self.built()["v3"]["reused"])
        for name in ("LDFLAGS", "CMAKE_PREFIX_PATH", "PKG_CONFIG_PATH"):
            self.env[name] = "-L/nowhere" if name == "LDFLAGS" else "/nowhere"
            self.assertFalse(self.built()["v3"]["reused"], name)

    def test_a_header_before_another_of_its_name(self):
        (self.project / "first").mkdir()
        lists = LISTS.replace("target_compile", "target_include_directories(demo PRIVATE first second)\ntarget_compile")
        (self.project / "CMakeLists.txt").write_text(lists)
        (self.project / "step.h").unlink()
        (self.project / "second").mkdir()
        (self.project / "second/step.h").write_text("#define FACTOR 1\n")
        self.assertEqual(self.call(self.built()["null"]["file"], "step"), 1)
        (self.project / "first/step.h").write_text("#define FACTOR 5\n")
        self.assertEqual(self.call(self.built()["null"]["file"], "step"), 5)

    def test_out_is_a_folder(self):
        self.assert_fails(self.build(out="s3://wheels/simple", cwd=self.root), 2, "--out", "index add")
        self.assertFalse((self.root / "s3:").exists())


if __name__ == "__main__":
    unittest.main()
