"""Signals in every phase of a change: the environment is the old or the new one, the word on stderr says which, the exit is by the
signal, children end, and what is left lying is cleared by the next command. AXLE_SOAK=full tries every call that changes a file."""

import contextlib
import os
import pathlib
import pty
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from loopback import Loopback
from support import BIN, PYTHON, VARIANT, Index, TestCase, Wheel, tree

POLITE = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
NOTHING = "error: interrupted; nothing was changed in the environment\n"
MADE = "error: interrupted, after the change was made\n"


class Interruption(TestCase):
    def setUp(self):
        super().setUp()
        self.make_venv()
        self.cache = self.root / "cache"
        self.env["AXLE_CACHE_DIR"] = str(self.cache)
        self.env["TMPDIR"] = str(self.root / "tmp")
        pathlib.Path(self.env["TMPDIR"]).mkdir()

    def start(self, *arguments, env=None, **options):
        options.setdefault("stderr", subprocess.PIPE)
        process = subprocess.Popen([str(VARIANT), *map(str, arguments)], env={**self.env, **(env or {})}, cwd=self.root, text=True,
                                   stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, **options)
        self.addCleanup(process.kill)
        return process

    def wait_for(self, condition, what):
        end = time.monotonic() + 60
        while not condition():
            self.assertLess(time.monotonic(), end, what)
            time.sleep(0.01)

    def state(self):
        return {path: digest for path, digest in tree(self.venv).items() if not path.startswith(".axle/")}

    def left(self):
        """What is not whole: transactions, work in progress, drafts."""
        places = [*(self.venv / ".axle").glob("*"), *self.cache.glob("store/work-*"), *self.cache.glob("http-2/drafts/*"),
                  *pathlib.Path(self.env["TMPDIR"]).iterdir()]
        return [place for place in places if place.name not in ("lock", "unflushed", "history")]


class Waiting(Interruption):
    """Where a command waits for others: the signal ends it at once."""

    def setUp(self):
        super().setUp()
        self.server = Loopback(self)
        self.server.publish("/simple", Wheel("demo", "1.0"), Wheel("demo", "2.0"))
        self.words = ("install", "demo", "--index-url", self.server.url("/simple"), "--python", self.venv)
        # The newer one too: the cache then has its metadata, and only the wheel is asked for.
        for version in ("2.0", "1.0"):
            self.assert_ok(self.variant("install", f"demo=={version}", *self.words[2:]))
        shutil.rmtree(self.cache / "store/wheels")
        self.old = self.state()

    def start_asking(self, path, *words, **options):
        """Starts a command and waits until it asks for `path`. Counted before the start: the request may come first. Requests of a
        command that was killed may still arrive, so the count has to stand still."""
        asked = -1
        while asked != len(self.server.asked(path)):
            asked = len(self.server.asked(path))
            time.sleep(0.2)
        process = self.start(*words, **options)
        self.wait_for(lambda: len(self.server.asked(path)) > asked, path)
        return process

    def interrupt(self, path, number, *more):
        process = self.start_asking(path, *self.words, "--upgrade", *more)
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, -number, err)
        self.assertEqual(out, "")
        return err

    def stall(self, path, *, drip=False):
        """Answers with a beginning and no end; with `drip` some bytes more come now and then."""
        def answer(handler):
            handler.send_response(200)
            handler.send_header("Content-Length", "100000")
            handler.end_headers()
            handler.wfile.write(b"PK" + b" " * 2000)
            handler.wfile.flush()
            if not drip:
                time.sleep(60)
            with contextlib.suppress(OSError):  # the reader has ended
                for _ in range(600):
                    time.sleep(0.1)
                    handler.wfile.write(b" ")
                    handler.wfile.flush()
        kept, self.server.answers[path] = self.server.answers[path], answer
        return kept

    def check(self, path):
        kept = self.stall(path)
        for number in (*POLITE, signal.SIGKILL):
            for more in ((), ("--no-cache",)):
                with self.subTest(number=number, more=more):
                    err = self.interrupt(path, number, *more)
                    self.assertTrue(err.endswith(NOTHING) or number == signal.SIGKILL, err)
                    self.assertEqual(self.state(), self.old)
        self.server.answers[path] = kept
        self.assert_ok(self.variant(*self.words, "--upgrade", "--no-cache"))
        self.assert_ok(self.variant("uninstall", "demo", "--python", self.venv))
        self.assert_ok(self.variant(*self.words, "--upgrade"))
        self.assertEqual(self.left(), [])

    def test_while_it_resolves(self):
        self.check("/simple/demo/")

    def test_while_it_downloads(self):
        self.check("/simple/files/demo-2.0-py3-none-any.whl")

    def test_what_the_caller_ignores_is_ignored(self):
        wheel = "/simple/files/demo-2.0-py3-none-any.whl"
        kept = self.server.answers[wheel]
        self.server.answers[wheel] = lambda handler: (time.sleep(2), kept)[1]
        process = self.start_asking(wheel, *self.words, "--upgrade", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        process.send_signal(signal.SIGHUP)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, err)
        self.assertIn("demo 2.0", out)

    def test_the_line_of_progress_is_cleared(self):
        # The line is written at most every 50 ms: the first bytes alone may come too soon after the line before.
        self.stall("/simple/files/demo-2.0-py3-none-any.whl", drip=True)
        ours, theirs = pty.openpty()
        process = self.start(*self.words, "--upgrade", stderr=theirs, env={"TERM": "xterm"})
        os.close(theirs)
        seen = b""
        while b"downloading demo" not in seen:
            try:
                seen += os.read(ours, 4096)
            except OSError:
                self.fail(f"it ended: {seen} {process.communicate()}")
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        try:
            while more := os.read(ours, 4096):
                seen += more
        except OSError:
            pass  # the terminal has no other end any more
        os.close(ours)
        self.assertEqual(seen.split(b"\r")[-2:], [b"\x1b[K" + NOTHING.strip().encode(), b"\n"])

    def test_a_command_that_changes_nothing_says_only_that_it_was_interrupted(self):
        self.stall("/simple/demo/")
        process = self.start_asking("/simple/demo/", "resolve", "demo", *self.words[2:], "--refresh")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, err), (-signal.SIGINT, "error: interrupted\n"))


class Children(Interruption):
    def test_what_it_started_ends_with_it(self):
        """A keyring that waits; killed with -9 nobody is left to end what a script started, but the script itself ends."""
        tools = self.root / "tools"
        tools.mkdir()
        started = self.root / "started"
        (tools / "keyring").write_text(f"#!{PYTHON}\nimport os, time, pathlib\nif os.fork(): pathlib.Path({str(started)!r}).write_text(str(os.getpid()))\ntime.sleep(300)\n")
        (tools / "keyring").chmod(0o755)
        server = Loopback(self)
        server.answers["/simple/demo/"] = (401, {"WWW-Authenticate": 'Basic realm="index"'}, b"")
        for number in (*POLITE, signal.SIGKILL):
            with self.subTest(number=number):
                started.unlink(missing_ok=True)
                process = self.start("install", "demo", "--index-url", server.url("/simple", login="somebody"), "--python", self.venv,
                                     "--keyring-provider", "subprocess", env={"PATH": f"{tools}:{self.env['PATH']}"})
                self.wait_for(lambda: started.exists() and started.read_text(), "the keyring")
                group = int(started.read_text())
                self.addCleanup(self.end, group)
                process.send_signal(number)
                process.communicate(timeout=60)
                self.assertEqual(process.returncode, -number)
                gone = self.is_gone if number == signal.SIGKILL else self.is_group_gone
                self.wait_for(lambda: gone(group), "the keyring is alive")

    @staticmethod
    def end(group):
        try:
            os.killpg(group, signal.SIGKILL)
        except ProcessLookupError:
            pass

    @staticmethod
    def is_running(pid):
        try:
            return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        except OSError:
            return False

    def is_gone(self, pid):
        return not self.is_running(pid)

    def is_group_gone(self, group):
        members = []
        for place in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if os.getpgid(int(place.name)) == group:
                    members.append(int(place.name))
            except OSError:
                pass
        return not any(map(self.is_running, members))


class EveryCall(Interruption):
    """Before each call that changes a file, in one process after another, the next of three signals comes."""

    def setUp(self):
        super().setUp()
        self.need_program_as_shipped()
        if not (BIN / "libfault_shim.so").exists():
            self.skipTest("the fault shim was not built (sanitizer builds have none)")
        self.index = Index(self.root / "index")
        for version in ("1.0", "2.0"):
            files = {f"demo/part{number}.py": f"V = '{version}'\n" for number in range(4)}
            files[f"demo/only_{version[0]}.py"] = "x = 1\n"
            self.index.add_wheel(Wheel("demo", version, files=files))
        self.where = ("--python", self.venv)
        self.assert_ok(self.variant("list", *self.where))  # the interpreter's answer is kept from here on

    def act(self, words, **shim):
        environment = {"LD_PRELOAD": str(BIN / "libfault_shim.so")} | {f"AXLE_FAULT_{key}": str(value) for key, value in shim.items()}
        index = ("-i", self.index.url) if words[0] == "install" else ()
        return self.variant(*words, *index, *self.where, env=environment if shim else {})

    def empty_store(self):
        shutil.rmtree(self.cache / "store/wheels", ignore_errors=True)

    def attempt(self, before, words, new, at, number):
        self.assert_ok(self.act(before))
        self.empty_store()
        old = self.state()
        result = self.act(words, AT=at, ACTION=f"signal {int(number)}")
        what = f"{words} signal {number} at call {at}: {result}"
        now = self.state()
        self.assertIn(result.code, (0, -number), what)
        if result.code == 0:
            return "done"  # there was no such call
        self.assertIn(result.err, (NOTHING, MADE), what)
        self.assertEqual(now == new, result.err == MADE, what)
        self.assertEqual(now == old, result.err == NOTHING, what)
        self.assertFalse((self.venv / ".axle/transaction/journal").exists(), what)
        self.assert_ok(self.variant("list", *self.where))
        self.assertEqual(self.state(), now, what)
        return "made" if result.err == MADE else "nothing"

    def check(self, before, words):
        self.assert_ok(self.act(before))
        self.empty_store()
        count = self.root / "count"
        self.assert_ok(self.act(words, COUNT=count))
        calls, new = int(count.read_text()), self.state()
        self.assertGreater(calls, 8)
        step = 1 if os.environ.get("AXLE_SOAK") == "full" else max(1, calls // 15)
        met = set()
        for at in range(1, calls + 1, step):
            met.add(self.attempt(before, words, new, at, POLITE[at // step % 3]))
        self.assertLessEqual({"nothing", "made"}, met)
        self.empty_store()
        self.assert_ok(self.act(before))
        self.assert_ok(self.act(words))
        self.assertEqual(self.left(), [])

    NONE = ("uninstall", "demo")
    OLD = ("install", "demo==1.0")

    def test_an_installation(self):
        self.index.add_wheel(Wheel("other", "1.0"))
        self.assert_ok(self.act(("install", "other")))
        before = ("install", "other", "--reinstall")  # a command that leaves demo where it is: nowhere
        done = self.act

        def without_demo(words, **shim):
            if words == before and self.installed().get("demo"):
                self.assert_ok(done(self.NONE))
            return done(words, **shim)

        self.act = without_demo
        self.check(before, self.OLD)

    def test_an_upgrade(self):
        self.check(self.OLD, ("install", "-U", "demo"))

    def test_a_reinstallation(self):
        before, plain = ("install", "demo==1.0", "--reinstall"), self.act

        def damaged(words, **shim):
            result = plain(words, **shim)
            if words == before:
                (self.site() / "demo/part0.py").unlink()
            return result

        self.act = damaged
        self.check(before, ("install", "--reinstall", "demo==1.0"))

    def test_an_uninstallation(self):
        self.check(self.OLD, self.NONE)

    def test_a_recovery(self):
        """A change that was killed is finished by the next command, which a signal does not cut off."""
        self.assert_ok(self.act(self.OLD))
        old = self.state()
        count = self.root / "count"
        self.assert_ok(self.act(("install", "-U", "demo"), COUNT=count))
        new, calls, torn, finished = self.state(), int(count.read_text()), 0, 0
        for at in range(calls, 0, -1):
            self.assert_ok(self.act(self.OLD))
            self.act(("install", "-U", "demo"), AT=at, ACTION="kill")
            if not (self.venv / ".axle/transaction/journal").exists():
                continue
            torn += 1
            number = POLITE[at % 3]
            result = self.act(("list",), AT=1 + torn % 6, ACTION=f"signal {int(number)}")
            self.assertIn(result.code, (0, -number), str(result))
            finished += not (self.venv / ".axle/transaction").exists()
            if (self.venv / ".axle/transaction").exists():  # it came before anything was done
                self.assert_ok(self.variant("list", *self.where))
            self.assertIn(self.state(), (old, new), str(result))
            self.assertNotIn("another program", result.err)
            if torn == 12 and os.environ.get("AXLE_SOAK") != "full":
                break
        self.assertGreater(torn, 2)
        self.assertGreater(finished, 2)


if __name__ == "__main__":
    unittest.main(verbosity=2)
