"""Plugins that hang or crash cost their time once, and nothing of them outlives Axle."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from plugin_case import ANSWER, PluginTestCase
from support import VARIANT

SLOW = "import time\ntime.sleep(60)\n"
CRASH = "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n"
# Where the sandbox lets it, it makes a grandchild that tries to leave; else it sleeps itself.
GRANDCHILD = """
import os, time
def leave():
    for way in (os.setsid, lambda: os.setpgid(0, 0)):
        try:
            way()
        except OSError:
            pass
leave()
try:
    if os.fork() == 0:
        leave()
        if os.fork() == 0:
            leave()
            time.sleep(301)
        os._exit(0)
except OSError:
    pass
time.sleep(302)
"""


def processes_with(word):
    """Living ones (no zombies) with `word` in their command lines."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes()
            state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if word.encode() in command and state != "Z" and folder.name != str(os.getpid()):
            found.append(int(folder.name))
    return found


def processes_of(session):
    """Living processes of Axle that `session` began; one that ends while they are looked at is none of them."""
    found = []
    for pid in processes_with(str(VARIANT)):
        try:
            if os.getsid(pid) == session:
                found.append(pid)
        except ProcessLookupError:
            continue
    return found


class RememberedTest(PluginTestCase):
    def setUp(self):
        super().setUp()
        config = self.root / "home/.config/axle"
        config.mkdir(parents=True)
        self.limit = 1

    def trust(self, code, ns="acme"):
        provider = self.program(code)
        self.assert_ok(self.variant("providers", "trust", provider, "--namespace", ns))
        self.time_limit(self.limit)
        return provider

    def time_limit(self, seconds):
        path = self.root / "home/.config/axle/providers.toml"
        lines = [line for line in path.read_text().splitlines() if not line.startswith("time-limit")]
        path.write_text(f"time-limit = {seconds}\n" + "\n".join(lines) + "\n")

    def ask(self, *options):
        began = time.monotonic()
        result = self.assert_ok(self.variant("properties", "--namespace", "acme", *options))
        return result, time.monotonic() - began

    def remembered(self):
        return sorted((self.root / "home/.cache/axle/plugin-failures").glob("*.json"))

    def test_a_plugin_that_hangs_costs_its_time_once(self):
        self.trust(SLOW)
        first, took = self.ask()
        self.assertIn("it was stopped after 1 s", first.err)
        self.assertGreater(took, 0.9)
        for _ in range(3):
            again, took = self.ask()
            self.assertLess(took, 0.9)
            self.assertRegex(again.err, r"failed \d+ seconds? ago: it was stopped after 1 s")
            self.assertIn("variant providers retry acme", again.err)
        # The command that is offered, as it is offered.
        command = next(line for line in again.err.splitlines() if "to run it again: " in line)
        command = command.partition("to run it again: ")[2].split("`")[1].split()
        self.assertEqual(command[0], "variant")
        self.assertIn("runs its plugin again", self.assert_ok(self.variant(*command[1:])).out)
        self.assertGreater(self.ask()[1], 0.9)
        self.assertGreater(self.ask("--no-cache")[1], 0.9)

    def test_a_plugin_that_crashes_is_remembered_too(self):
        self.trust(CRASH)
        self.assertIn("it crashed (SIGSEGV)", self.ask()[0].err)
        self.assertIn("ago: it crashed (SIGSEGV)", self.ask()[0].err)

    def test_a_failure_that_costs_nothing_is_not(self):
        self.trust("raise SystemExit(3)\n")
        for _ in range(2):
            self.assertNotIn("ago", self.ask()[0].err)
        self.assertEqual(self.remembered(), [])

    def test_until_its_file_changes(self):
        provider = self.trust(SLOW)
        self.ask()
        provider.write_text("#!/usr/bin/env python3\n" + ANSWER)
        self.assert_ok(self.variant("providers", "trust", provider, "--namespace", "acme"))
        self.assertEqual(self.ask()[0].err, "")

    def test_until_its_limits_change(self):
        self.trust(SLOW)
        self.ask()
        self.time_limit(2)
        self.assertIn("it was stopped after 2 s", self.ask()[0].err)

    def test_until_an_hour_is_over(self):
        self.trust(SLOW)
        self.ask()
        (path,) = self.remembered()
        kept = json.loads(path.read_text())
        for shift, believed in ((-3500, True), (-3700, False), (60, False)):
            path.write_text(json.dumps({**kept, "time": kept["time"] + shift}))
            self.assertEqual(" ago: " in self.ask()[0].err, believed, shift)

    def test_what_is_old_goes(self):
        self.trust(SLOW)
        self.ask()
        (path,) = self.remembered()
        old = path.with_name("acme-0123.json")
        old.write_text("{}")
        os.utime(old, (time.time() - 4000,) * 2)
        self.time_limit(2)
        self.ask()
        self.assertEqual(len(self.remembered()), 2)
        self.assertFalse(old.exists())

    def test_what_is_kept_is_not_believed_blindly(self):
        self.trust(SLOW)
        self.ask()
        (path,) = self.remembered()
        whole = path.read_text()
        for text in ("", "{", "[]", '{"time": "x"}', "\0" * 100, whole[: len(whole) // 2], "[" * 60000):
            path.write_text(text)
            self.assertNotIn(" ago: ", self.ask()[0].err, text[:20])
            path.write_text(whole)
        path.chmod(0o666)
        self.assertNotIn(" ago: ", self.ask()[0].err)

    def test_a_python_plugin(self):
        self.publish("import time\ntime.sleep(60)\n")
        self.assert_ok(self.variant("providers", "trust", "acme-provider"))
        self.time_limit(1)
        self.assertIn("it was stopped after 1 s", self.chosen()[1].err)
        self.assertRegex(self.chosen()[1].err, r"ago: it was stopped after 1 s")
        self.assert_ok(self.variant("providers", "retry", "acme"))
        self.assertNotIn(" ago: ", self.chosen()[1].err)

    def test_retry_by_itself(self):
        self.assert_fails(self.variant("providers", "retry"), 2, "namespace")
        result = self.assert_ok(self.variant("providers", "retry", "acme", "--json")).json
        self.assertEqual(result["namespaces"], [{"namespace": "acme", "forgotten": 0}])


class OrphansTest(PluginTestCase):
    def start(self, ns):
        provider = self.program(GRANDCHILD, "provider-" + self.root.name)
        self.assert_ok(self.variant("providers", "trust", provider, "--namespace", ns))
        return provider, subprocess.Popen([str(VARIANT), "providers", "show", ns], env=self.env,
                                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)

    def wait_for(self, provider, count):
        for _ in range(200):
            if len(processes_with(str(provider))) >= count:
                return
            time.sleep(0.05)
        self.fail(f"{processes_with(str(provider))} of {provider} run, {count} were expected")

    def kill_and_look(self, ns, count, kill):
        provider, run = self.start(ns)
        try:
            self.wait_for(provider, count)
            kill(run)
            run.wait(20)
            for _ in range(100):
                left = processes_with(str(provider)) + processes_of(run.pid)
                if not left:
                    break
                time.sleep(0.05)
            self.assertEqual(left, [])
            # Nobody holds its pipes: a reader comes to the end.
            run.stderr.read()
        finally:
            run.kill()
            run.wait()
            for pid in processes_with(str(provider)):
                os.kill(pid, signal.SIGKILL)
            run.stderr.close()

    def test_nothing_outlives_a_killed_axle(self):
        """Plugins of nvidia and amd may make processes where nvidia-smi or modinfo is installed: tests/plugins makes sure."""
        self.need_program_as_shipped()
        for ns, count in (("acme", 1), ("nvidia", 1), ("amd", 1)):
            for kill in (lambda run: run.kill(), lambda run: run.send_signal(signal.SIGTERM),
                         lambda run: os.killpg(run.pid, signal.SIGKILL)):
                with self.subTest(ns):
                    self.kill_and_look(ns, count, kill)


if __name__ == "__main__":
    unittest.main()
