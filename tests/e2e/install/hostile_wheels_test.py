"""No wheel of hostile_wheels.py is installed: from a file, and while it arrives; a word says why, and nothing stays behind."""

import hashlib
import json
import os
import pathlib
import subprocess
import sys
import unittest
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from hostile_archive import Archive
import hostile_wheels_page
from hostile_wheels import ACCEPTED, CASES
from support import BIN, EnvironmentTestCase


def made(make, padded=False):
    archive = Archive(padded)
    make(archive)
    return archive.bytes()


class Hostile(EnvironmentTestCase):
    def everything(self):
        """Each path below the test's folder that is not what a command leaves for the next one."""
        kept = {"home/.cache/axle/" + one for one in ("http", "interpreters", "installed", "lock")}
        found = {}
        for path in sorted(self.root.rglob("*")):
            name = str(path.relative_to(self.root))
            if path.is_dir() or name.startswith(("served/", "wheels/", "venv/.axle/")) or any(name.startswith(one) for one in kept):
                continue
            found[name] = path.lstat().st_mtime_ns
        return found

    def refuse(self, case, command):
        before = self.everything()
        result = command()
        self.assertIn(result.code, (1, 3), str(result))
        self.assertIn(case.says, result.err)
        self.assertIn(case.file_name, result.err)
        self.assertLess(len(result.err), 4000)
        self.assertFalse([c for c in result.err if c < " " and c != "\n"], result.err)
        self.assertEqual(self.everything(), before)

    def test_from_a_file(self):
        self.assertEqual(self.installed(), {})
        self.assertGreaterEqual(len(CASES), 100)
        for case in CASES:
            with self.subTest(case.group + ": " + case.what):
                path = self.root / "wheels" / case.file_name
                path.parent.mkdir(exist_ok=True)
                path.write_bytes(made(case.make))
                self.refuse(case, lambda: self.variant("install", path, "--no-index", "--python", self.venv))
        self.assert_untouched()

    def test_while_it_arrives(self):
        served = self.root / "served"
        served.mkdir()
        server = subprocess.Popen([BIN / "index_server", str(served)], stdout=subprocess.PIPE, text=True)
        for cleanup in (server.stdout.close, server.wait, server.terminate):
            self.addCleanup(cleanup)
        base = f"http://127.0.0.1:{int(server.stdout.readline())}"
        self.assertEqual(self.installed(), {})
        # With a sanitizer the server takes seconds for 16 MiB.
        cases = CASES[::8] if os.environ.get("AXLE_SANITIZED") else CASES
        for case in cases:
            with self.subTest(case.group + ": " + case.what):
                data = made(case.make, padded=True)
                name = case.file_name.split("-")[0]
                (served / name).mkdir(exist_ok=True)
                (served / name / case.file_name).write_bytes(data)
                entry = {"filename": case.file_name, "url": case.file_name, "size": len(data),
                         "hashes": {"sha256": hashlib.sha256(data).hexdigest()}}
                (served / name / "index.json").write_text(json.dumps(
                    {"meta": {"api-version": "1.1"}, "name": name, "versions": [], "files": [entry]}))
                self.refuse(case, lambda: self.install(name, "--refresh", index=base))
        self.assert_untouched()
        seen = json.loads(urllib.request.build_opener(urllib.request.ProxyHandler({})).open(base + "/-/seen", timeout=10).read())
        whole = [one for one in seen if one["target"].endswith(".whl") and not one["range"]]
        self.assertGreater(len(whole), len(cases) // 12, "what the directory does not show is found in what arrives")

    def test_the_page_lists_them(self):
        self.assertEqual(hostile_wheels_page.listed(hostile_wheels_page.PAGE.read_text()), [(one.what, one.says) for one in CASES],
                         "run python3 tests/e2e/install/hostile_wheels_page.py")

    def test_what_no_two_readers_differ_in_is_installed(self):
        for what, make in ACCEPTED:
            with self.subTest(what):
                path = self.root / "wheels/demo-1.0-py3-none-any.whl"
                path.parent.mkdir(exist_ok=True)
                path.write_bytes(made(make))
                self.assert_ok(self.variant("install", path, "--no-index", "--reinstall", "--python", self.venv))
                self.assertEqual(self.python("import demo; print(demo.VALUE)"), "a demo")
                self.assertEqual((self.site() / "demo/__init__.py").stat().st_mode & 0o6000, 0)


if __name__ == "__main__":
    unittest.main()
