"""Servers that know neither metadata files nor byte ranges: a wheel that is downloaded for its metadata is not downloaded
again for its installation."""

import collections
import json
import pathlib
import subprocess
import sys
import unittest
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from made_library import library  # noqa: E402
from support import BIN, Index, TestCase, Wheel, publish_levels  # noqa: E402


class WholeWheelsTest(TestCase):
    def setUp(self):
        super().setUp()
        self.make_venv()
        self.index = Index(self.root / "index")
        self.index.folder.mkdir()
        server = subprocess.Popen([BIN / "index_server", str(self.root)], stdout=subprocess.PIPE, text=True)
        for cleanup in (server.stdout.close, server.wait, server.terminate):
            self.addCleanup(cleanup)
        self.base = f"http://127.0.0.1:{int(server.stdout.readline())}"
        self.url = f"{self.base}/-no-range/index"

    def whole_downloads(self):
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        seen = json.loads(opener.open(self.base + "/-/seen", timeout=10).read())
        return collections.Counter(one["target"].rpartition("/")[2] for one in seen
                                   if one["target"].endswith(".whl") and not one["range"])

    def test_each_wheel_is_downloaded_once(self):
        self.index.add_wheel(Wheel("app", "2.0", requires=["lib<2"]))
        self.index.add_wheel(Wheel("lib", "1.0", requires=["base"]))
        self.index.add_wheel(Wheel("lib", "2.0"))
        self.index.add_wheel(Wheel("base", "1.0"), hashes={})
        for options in ((), ("--no-cache", "--reinstall")):
            self.assert_ok(self.install("app", *options, index=self.url))
            self.assertEqual(self.installed(), {"app": ("2.0", None), "lib": ("1.0", None), "base": ("1.0", None)})
        once = {"app-2.0-py3-none-any.whl": 1, "lib-1.0-py3-none-any.whl": 1, "base-1.0-py3-none-any.whl": 1}
        self.assertEqual(self.whole_downloads(), {name: 2 * count for name, count in once.items()})

    def test_variants_without_a_variants_file(self):
        publish_levels(self.index, labels=("v1",), plain=False)
        page = self.index.folder / "demo/index.json"
        files = json.loads(page.read_text())
        files["files"] = [one for one in files["files"] if one["filename"].endswith(".whl")]
        page.write_text(json.dumps(files))
        self.assert_ok(self.install("demo", index=self.url))
        self.assertEqual(self.installed(), {"demo": ("1.0", "v1")})
        self.assertEqual(set(self.whole_downloads().values()), {1}, self.whole_downloads())

    def test_what_was_downloaded_for_the_abi_check(self):
        platform = "py3-none-linux_x86_64"
        self.index.add_wheel(Wheel("torch", "2.10.0", tags=platform,
                                   files={"torch/lib/libc10.so": library(soname="libc10.so", defined=["_ZN3c103getEv"])}))
        self.index.add_wheel(Wheel("flash-attn", "2.8.3", requires=["torch"], tags=platform,
                                   files={"flash.so": library(needed=["libc10.so"], undefined=["_ZN3c103getEv"])}))
        done = self.assert_ok(self.install("flash-attn", "--check-abi", index=self.url))
        self.assertIn("does not support byte ranges: it is downloaded to check its ABI", done.err)
        self.assertEqual(set(self.whole_downloads().values()), {1}, self.whole_downloads())


if __name__ == "__main__":
    unittest.main()
