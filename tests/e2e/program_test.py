"""The program itself: what it links, what it does over HTTP, what it says when a part of it is missing."""

import json
import shutil
import subprocess
import unittest
import urllib.request

from support import BIN, VARIANT, Index, TestCase, Wheel, levels_document


class Linking(TestCase):
    def needed(self, path):
        out = subprocess.run(["readelf", "-d", str(path)], capture_output=True, text=True, check=True).stdout
        return [line.split("[")[1].rstrip("]") for line in out.splitlines() if "(NEEDED)" in line]

    def test_start_up_does_not_pay_for_curl_or_archives(self):
        needed = self.needed(VARIANT)
        self.assertIn("libc.so.6", needed)
        for name in ("libcurl", "libarchive", "libpython", "libcuda"):
            self.assertFalse([one for one in needed if one.startswith(name)], needed)
        self.assertTrue([one for one in self.needed(BIN / "libaxle_curl.so") if one.startswith("libcurl")])

    def test_without_its_http_module_the_program_says_so_and_the_rest_works(self):
        alone = self.root / "alone"
        alone.mkdir()
        program = alone / "variant"
        shutil.copy(VARIANT, program)
        self.make_venv()
        result = self.variant("install", "demo", "-i", "http://127.0.0.1:9/simple", "--python", self.venv, program=program)
        self.assert_fails(result, 1, "libaxle_curl.so")
        index = Index(self.root / "index")
        index.add_wheel(Wheel("demo", "1.0"))
        self.assert_ok(self.variant("install", "demo", "-i", index.url, "--python", self.venv, program=program))


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
