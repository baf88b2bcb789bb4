"""What an installation shows on a terminal, that it shows none of it elsewhere, and its events for programs."""

import fcntl
import hashlib
import json
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from loopback import Loopback
from support import SOURCE, VARIANT, EnvironmentTestCase, Wheel

ESCAPE = "\x1b"


class ProgressTestCase(EnvironmentTestCase):
    def setUp(self):
        super().setUp()
        self.server = Loopback(self)
        self.wheel = self.publish_slowly("demo")

    def publish_slowly(self, name, hash_of=None, **options):
        """A wheel of 2 MB that takes two seconds to come."""
        wheel = Wheel(name, "1.0", files={f"{name}.bin": os.urandom(2_000_000)}, **options)
        data = wheel.bytes()
        place = "/simple/files/" + wheel.file_name
        # With METADATA of its own nothing of the wheel is read before it is downloaded.
        page = {"meta": {"api-version": "1.1"}, "name": name, "versions": ["1.0"], "files": [{
            "filename": wheel.file_name, "url": place, "size": len(data), "core-metadata": True,
            "hashes": {"sha256": hash_of or hashlib.sha256(data).hexdigest()}}]}
        self.server.answers[f"/simple/{name}/"] = (200, {"Content-Type": "application/vnd.pypi.simple.v1+json"}, json.dumps(page))
        self.server.answers[place + ".metadata"] = (200, {}, wheel.members[f"{name}-1.0.dist-info/METADATA"])

        def slowly(handler):
            handler.send_response(200)
            handler.send_header("Content-Length", str(len(data)))
            handler.end_headers()
            for start in range(0, len(data), 100_000):
                handler.wfile.write(data[start:start + 100_000])
                time.sleep(0.1)

        self.server.answers[place] = slowly
        return wheel

    def line(self, *arguments):
        return [str(VARIANT), "install", "demo", "--index-url", self.server.url("/simple"), "--python", str(self.venv), *arguments]

    def on_terminal(self, *arguments, columns=120, **variables):
        """stdout and stderr of the installation in a terminal."""
        return self.shown_by(self.line(*arguments), columns, variables)

    def shown_by(self, command, columns=120, variables=None):
        outer, inner = pty.openpty()
        fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        env = dict(self.env, TERM="xterm", **(variables or {}))
        done = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=inner, stderr=inner, env=env)
        os.close(inner)
        shown = b""
        while True:
            try:
                part = os.read(outer, 65536) if select.select([outer], [], [], 60)[0] else b""
            except OSError:  # the other side is closed
                break
            if not part:
                break
            shown += part
        os.close(outer)
        self.assertEqual(done.wait(60), 0, shown)
        return shown.decode().replace("\r\n", "\n")


class Terminal(ProgressTestCase):
    def test_what_is_no_bytes_is_counted(self):
        for number in range(3):
            self.wheel_file(f"one{number}")
        shown = self.shown_by([str(VARIANT), "index", "build", str(self.root / "made"), "--out", str(self.root / "index")])
        self.assertRegex(shown, r"\r\x1b\[Kreading wheels \([0-3] of 3\)\r")
        self.assertNotRegex(shown, r"\d B\b")

    def wheel_file(self, name):
        (self.root / "made").mkdir(exist_ok=True)
        Wheel(name, "1.0").write(self.root / "made")

    def test_a_line_with_speed_and_time_left_then_an_end_line(self):
        shown = self.on_terminal()
        self.assertRegex(shown, r"\r\x1b\[Kdownloading demo-1\.0-py3-none-any\.whl [\d.]+ [kM]B of 2\.00 MB \(\d+ %\), "
                                r"[\d.]+ [kM]B/s, \d s left\r")
        # The line is gone in the end: what stays are the change, in colour, and the end line.
        last = shown.rsplit(f"\r{ESCAPE}[K", 1)[1]
        self.assertRegex(last, r"1 package in [\d.]+ s, 2\.00 MB downloaded\n")
        self.assertIn(f"{ESCAPE}[32m+ demo 1.0{ESCAPE}[0m\n", last)

    def test_what_the_store_saves(self):
        self.on_terminal()
        shown = self.on_terminal("--reinstall")
        self.assertRegex(shown, r"1 package in [\d.]+ s, 2\.00 MB were in the store\n")
        self.assertNotIn("downloaded", shown)

    def test_it_fits_into_a_narrow_terminal(self):
        for part in self.on_terminal(columns=40).split(f"\r{ESCAPE}[K")[1:-1]:
            self.assertLess(len(part.split("\n")[0]), 40)

    def test_without_colours(self):
        for arguments, variables in ((["--no-color"], {}), ([], {"NO_COLOR": "1"})):
            shown = self.on_terminal(*arguments, "--reinstall", **variables)
            self.assertIn("\n+ demo 1.0\n", "\n" + shown.rsplit(f"{ESCAPE}[K", 1)[-1])
            self.assertNotIn(f"{ESCAPE}[32m", shown)

    def test_quiet(self):
        shown = self.on_terminal("--quiet")
        self.assertEqual(shown, "")
        self.assertIn("downloading demo", self.on_terminal("--quiet", "--progress", "on", "--reinstall", "--no-cache"))

    def test_off(self):
        conf = self.root / "pip.conf"
        conf.write_text("[global]\nprogress-bar = off\n")
        for arguments, variables in ((["--no-progress"], {}), (["--progress", "off"], {}), (["--progress-bar=off"], {}), ([], {"UV_NO_PROGRESS": "1"}),
                                     ([], {"PIP_PROGRESS_BAR": "off"}), ([], {"PIP_CONFIG_FILE": str(conf)})):
            with self.subTest(arguments=arguments, variables=variables):
                shown = self.on_terminal(*arguments, "--reinstall", "--no-color", **variables)
                self.assertEqual(shown.removeprefix("- demo 1.0\n"), "+ demo 1.0\n")

    def test_the_pip_conf_of_the_environment(self):
        """It is read after the others, and wins over the user's."""
        del self.env["PIP_CONFIG_FILE"]
        (self.venv / "pip.conf").write_text("[global]\nprogress-bar = off\n")
        self.assertEqual(self.on_terminal("--no-color"), "+ demo 1.0\n")
        user = self.root / "home/.config/pip/pip.conf"
        user.parent.mkdir(parents=True, exist_ok=True)
        user.write_text("[global]\nprogress-bar = on\n")
        self.assertEqual(self.on_terminal("--no-color", "--reinstall", "--no-cache"), "- demo 1.0\n+ demo 1.0\n")

    def test_the_command_line_wins(self):
        shown = self.on_terminal("--progress", "auto", UV_NO_PROGRESS="1", PIP_PROGRESS_BAR="off")
        self.assertIn("downloading demo", shown)

    def test_one_line_for_several_downloads(self):
        self.publish_slowly("other")
        self.publish_slowly("third")
        shown = self.on_terminal("other", "third")
        lines = [line for line in shown.split(f"\r{ESCAPE}[K") if line.startswith("downloading")]
        self.assertTrue(all(re.match(r"downloading [012] of 3 files(, |$)", line) for line in lines), lines)
        self.assertRegex(shown, r"\rX?\x1b\[Kdownloading 0 of 3 files, [\d.]+ [kM]B of 6\.00 MB, [\d.]+ [kM]B/s, \d s left\r")
        self.assertRegex(shown, r"\n?3 packages in [\d.]+ s, 6\.00 MB downloaded\n")


class Elsewhere(ProgressTestCase):
    def test_a_pipe_gets_none_of_it(self):
        done = subprocess.run(self.line(), env=self.env, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.stdout, "+ demo 1.0\n")
        for words in ("downloading", "/s", "package in", ESCAPE, "\r"):
            self.assertNotIn(words, done.stderr)

    def test_what_is_no_choice(self):
        for arguments, variables, where in ((["--progress-bar", "raw"], {}, "--progress: progress `raw`"), ([], {"PIP_PROGRESS_BAR": "raw"}, "PIP_PROGRESS_BAR"),
                                            (["--progress", "json", "--no-progress"], {}, "contradicts --no-progress"), ([], {"UV_NO_PROGRESS": "x"}, "UV_NO_PROGRESS")):
            self.assert_fails(self.variant(*self.line(*arguments)[1:], env=variables), 2, where)
        self.assert_untouched()


def documented():
    """event -> key -> types, of docs/progress.md."""
    found, event = {}, None
    for line in (SOURCE / "docs/progress.md").read_text().split("## Events")[1].splitlines():
        if line.startswith("### "):
            event = found.setdefault(line[4:], {})
        elif line.startswith("| `"):
            key, types = (cell.strip() for cell in line.split("|")[1:3])
            event[key.strip("`")] = types.split(" or ")
    return found


TYPES = {"number": (int, float), "string": str, "null": type(None), "array": list, "boolean": bool}


class Events(ProgressTestCase):
    def setUp(self):
        super().setUp()
        self.schema = documented()

    def events(self, text):
        """Each line is one, as the page says."""
        events = [json.loads(line) for line in text.splitlines()]
        for event in events:
            keys = self.schema[event["event"]]
            self.assertEqual(sorted(set(event) - {"event"}), sorted(keys), event)
            for key, types in keys.items():
                self.assertTrue(any(isinstance(event[key], TYPES[one]) and (one == "boolean") == isinstance(event[key], bool) for one in types), (event, key))
        return events

    def run_for_events(self, *arguments, code=0, line=None):
        done = subprocess.run(line or self.line("--progress", "json", *arguments), env=self.env, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, code, done)
        self.out = done.stdout
        return self.events(done.stderr)

    def test_an_installation_an_upgrade_and_its_removal(self):
        other = self.publish_slowly("other", requires=["demo"])
        size = len(self.wheel.bytes())
        events = self.run_for_events("other", "-v")
        names = [event["event"] for event in events]
        self.assertEqual((names[0], names[-1], self.out), ("begin", "end", "+ demo 1.0\n+ other 1.0\n"))
        self.assertEqual(events[0]["command"], "install")
        for wheel in (self.wheel, other):
            of_file = [event for event in events if event.get("file") == wheel.file_name]
            self.assertEqual(of_file[0], {"event": "download-begin", "file": wheel.file_name, "bytes": 0, "total": len(wheel.bytes())})
            self.assertEqual(of_file[-1], {"event": "download-end", "file": wheel.file_name, "bytes": len(wheel.bytes()), "total": len(wheel.bytes())})
            counted = [event["bytes"] for event in of_file[1:-1] if event["event"] == "download-progress"]
            self.assertEqual(len(counted), len(of_file) - 2)
            self.assertGreater(len(counted), 5)
            self.assertLess(len(counted), 30)
            self.assertEqual(counted, sorted(counted))
        self.assertEqual([(event["name"], event["version"], event["variant"]) for event in events if event["event"] == "installed"],
                         [("demo", "1.0", None), ("other", "1.0", None)])
        end = events[-1]
        self.assertEqual((end["installed"], end["removed"], end["downloaded"], end["saved"]), (2, 0, size + len(other.bytes()), 0))
        self.assertGreater(end["seconds"], 1)
        self.assertTrue({"detail", "work"} <= set(names), names)

        again = self.run_for_events("--reinstall")
        self.assertEqual([event["event"] for event in again if event["event"] in ("removed", "installed", "download-begin")], ["removed", "installed"])
        self.assertEqual((again[-1]["downloaded"], again[-1]["saved"]), (0, size))

        removal = self.run_for_events(line=[str(VARIANT), "uninstall", "demo", "other", "--python", str(self.venv), "--progress", "json"])
        self.assertEqual([event["event"] for event in removal], ["begin", "removed", "removed", "end"])
        self.assertEqual(removal[-1]["removed"], 2)

    def test_a_dry_run_changes_nothing_and_says_so(self):
        events = self.run_for_events("--dry-run", "--json")
        self.assertEqual(json.loads(self.out)["dry_run"], True)
        self.assertIn("dry run: nothing was changed", [event.get("message") for event in events if event["event"] == "note"])
        self.assertFalse({"installed", "end", "download-begin"} & {event["event"] for event in events})

    def test_failures(self):
        self.publish_slowly("broken", hash_of="0" * 64)
        for more in ([], ["--json"]):
            events = self.run_for_events("broken", *more, code=1)
            self.assertEqual([event["bytes"] > 0 for event in events if event["event"] == "download-failed"][:1], [True])
            self.assertEqual((events[-1]["event"], events[-1]["kind"]), ("error", "mismatch"))
            self.assertIn("sha256", events[-1]["message"])
            if more:
                self.assertEqual(json.loads(self.out)["error"]["message"], events[-1]["message"])
        self.assertEqual(self.run_for_events("--python", "/nonexistent/python", code=1)[-1]["event"], "error")
        self.assertEqual(self.run_for_events("--for", "no-such-machine", code=2)[-1]["kind"], "usage")
        self.assert_untouched()
        warned = self.run_for_events("--cache-dir", "/proc/none")
        self.assertIn("warning", [event["event"] for event in warned])

    def test_interrupted(self):
        done = subprocess.Popen(self.line("--progress", "json"), env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        first = ""
        while "download-progress" not in first:
            first = done.stderr.readline()
        done.send_signal(signal.SIGTERM)
        events = self.events(done.stderr.read())
        done.wait(60)
        done.stdout.close()
        done.stderr.close()
        self.assertEqual((events[-1], done.returncode), ({"event": "interrupted", "changed": False}, -signal.SIGTERM))
        self.assert_untouched()

    def test_a_terminal_gets_them_too(self):
        self.assertEqual(self.events(self.on_terminal("--progress", "json", "--no-color").replace("+ demo 1.0\n", ""))[-1]["event"], "end")


if __name__ == "__main__":
    unittest.main(verbosity=2)
