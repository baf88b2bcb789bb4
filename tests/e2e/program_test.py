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

    def test_start_up_does_not_pay_for_curl_archives_or_libstdcpp(self):
        needed = self.needed(VARIANT)
        self.assertIn("libc.so.6", needed)
        for name in ("libcurl", "libarchive", "libstdc++", "libgcc_s", "libpython", "libcuda"):
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


if __name__ == "__main__":
    unittest.main(verbosity=2)
