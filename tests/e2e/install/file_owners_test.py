"""Two wheels that own the same files are refused before anything is changed, and before anything large is downloaded."""

import json
import os
import pathlib
import re
import subprocess
import sys
import unittest
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import BIN, Index, TestCase, Wheel, tree

LARGE = 17 << 20


class OneOwner(TestCase):
    def setUp(self):
        super().setUp()
        self.make_venv()
        self.index = Index(self.root / "index")

    def serve(self):
        server = subprocess.Popen([BIN / "index_server", str(self.root)], stdout=subprocess.PIPE, text=True)
        for cleanup in (server.stdout.close, server.wait, server.terminate):
            self.addCleanup(cleanup)
        return f"http://127.0.0.1:{int(server.stdout.readline())}"

    def content(self):
        return {path: data for path, data in tree(self.venv).items() if path != ".axle/lock"}

    def whole_downloads(self, base):
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        seen = json.loads(opener.open(base + "/-/seen", timeout=10).read())
        return [one["target"].rpartition("/")[2] for one in seen if one["target"].endswith(".whl") and not one["range"]]

    def install_from(self, url, *arguments):
        return self.variant("install", *arguments, "-i", url, "--python", self.venv)

    def publish(self, size=0):
        """Two names for one import package, each with its own files, and one package that wants both."""
        code = {"kernels/code.so": os.urandom(size)} if size else {}
        self.index.add_wheel(Wheel("kernels", "1.0", files={"kernels/__init__.py": "DEVICE = 'cpu'\n", **code}))
        self.index.add_wheel(Wheel("kernels-gpu", "1.0", files={"kernels/__init__.py": "DEVICE = 'gpu'\n", **code}))
        self.index.add_wheel(Wheel("app", "1.0", requires=["kernels", "kernels-gpu"]))

    def test_the_message_names_both_the_path_and_what_to_do(self):
        self.publish()
        before = self.content()
        for arguments in (["kernels", "kernels-gpu"], ["app"], ["kernels-gpu", "kernels", "--dry-run"]):
            result = self.install_from(self.index.url, *arguments)
            self.assert_fails(result, 1, "kernels 1.0", "kernels-gpu 1.0", "both install", "kernels/__init__.py",
                              "leave one of them out", "nothing was changed")
        self.assertEqual(self.content(), before)

    def test_the_offered_way_works(self):
        self.publish()
        self.assert_ok(self.install_from(self.index.url, "kernels"))
        self.assert_fails(self.install_from(self.index.url, "kernels-gpu"), 1, "belongs to kernels 1.0", "--overwrite")
        self.assert_ok(self.install_from(self.index.url, "kernels-gpu", "--overwrite"))
        self.assertEqual((self.site() / "kernels/__init__.py").read_text(), "DEVICE = 'gpu'\n")

    def test_files_of_the_same_content_are_shared_and_stay_until_the_last_owner_goes(self):
        for name in ("one", "two"):
            self.index.add_wheel(Wheel(name, "1.0", files={"shared/__init__.py": "", f"shared/{name}.py": "1\n"}))
        self.assert_ok(self.install_from(self.index.url, "one", "two"))
        self.assert_ok(self.variant("uninstall", "one", "--python", self.venv))
        self.assertEqual(sorted(path.name for path in (self.site() / "shared").glob("*.py")), ["__init__.py", "two.py"])
        self.assert_ok(self.variant("check", "--python", self.venv))
        self.assert_ok(self.variant("uninstall", "two", "--python", self.venv))
        self.assertFalse((self.site() / "shared").exists())

    def install_neighbours(self):
        for name in ("one", "two"):
            self.index.add_wheel(Wheel(name, "1.0", files={"shared/a.py": "1\n", f"{name}.py": "1\n"}))
        self.assert_ok(self.install_from(self.index.url, "one", "two"))
        return self.site() / "two-1.0.dist-info/RECORD"

    def test_a_file_that_is_listed_through_a_link_stays(self):
        record = self.install_neighbours()
        (self.site() / "elsewhere").symlink_to("shared")
        record.write_text(record.read_text().replace("shared/a.py", "elsewhere/a.py"))
        self.assert_ok(self.variant("uninstall", "one", "--python", self.venv))
        self.assertEqual((self.site() / "shared/a.py").read_text(), "1\n")
        self.assertFalse((self.site() / "one.py").exists())

    def test_a_malformed_line_of_a_neighbour_costs_it_no_file(self):
        record = self.install_neighbours()
        record.write_text(record.read_text() + "broken\n")
        self.assert_ok(self.variant("uninstall", "one", "--python", self.venv))
        self.assertEqual((self.site() / "shared/a.py").read_text(), "1\n")
        self.index.add_wheel(Wheel("three", "1.0", files={"shared/a.py": "3\n"}))
        self.assert_fails(self.install_from(self.index.url, "three"), 1, "belongs to two 1.0")
        refused = self.assert_fails(self.install_from(self.index.url, "three", "--overwrite"), 1, "RECORD", "malformed")
        repair = re.search(r"`variant (install --reinstall[^`]*)`", refused.err)[1]
        self.assertEqual((self.site() / "shared/a.py").read_text(), "1\n")
        self.assert_ok(self.install_from(self.index.url, *repair.split()[1:]))
        self.assert_ok(self.install_from(self.index.url, "three", "--overwrite"))
        self.assertEqual((self.site() / "shared/a.py").read_text(), "3\n")
        self.assert_ok(self.variant("check", "--python", self.venv))

    def test_many_files_are_one_line_a_pair(self):
        for name in ("one", "two"):
            files = {f"both/m{i:03}.py": name for i in range(60)}
            self.index.add_wheel(Wheel(name, "1.0", files=files))
        result = self.assert_fails(self.install_from(self.index.url, "one", "two"), 1, "both/m000.py", "59 more files")
        self.assertLess(len(result.err.splitlines()), 5, result.err)
        listed = self.variant("install", "one", "two", "-i", self.index.url, "--python", self.venv, "--json")
        self.assertEqual(len(listed.json["conflicts"]), 60)

    def test_large_wheels_are_not_downloaded_for_a_conflict(self):
        self.publish(LARGE)
        base = self.serve()
        before = self.content()
        self.assert_fails(self.install_from(f"{base}/index", "kernels", "kernels-gpu"), 1, "both install")
        self.assertEqual(self.whole_downloads(base), [])
        self.assertEqual(self.content(), before)
        self.assert_ok(self.install_from(f"{base}/index", "kernels"))
        self.assert_fails(self.install_from(f"{base}/index", "kernels-gpu"), 1, "belongs to kernels 1.0")
        self.assertEqual(self.whole_downloads(base), ["kernels-1.0-py3-none-any.whl"])

    def test_a_server_without_ranges_is_no_way_around(self):
        self.publish(LARGE)
        base = self.serve()
        before = self.content()
        self.assert_fails(self.install_from(f"{base}/-no-range/index", "kernels", "kernels-gpu"), 1, "both install")
        self.assertEqual(self.content(), before)


if __name__ == "__main__":
    unittest.main()
