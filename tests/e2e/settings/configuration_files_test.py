"""Configuration files of pip and uv, one scenario a row: their answer changes because of it, and ours changes with it."""

import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from settings_case import SettingsCase
from support import Wheel


class PipFiles(SettingsCase):
    """PIP_CONFIG_FILE=/dev/null keeps the machine's own files out of the other tests; here it names one, or none."""

    def setUp(self):
        super().setUp()
        self.a, self.b, self.c = (self.put(name, version) for name, version in (("a", "1.0"), ("b", "2.0"), ("c", "3.0")))
        self.file = self.root / "pip.conf"
        self.env["PIP_CONFIG_FILE"] = str(self.file)
        self.env["LC_ALL"] = "C.UTF-8"

    def test_what_configparser_takes(self):
        url = f"index-url = {self.a}\n"
        for text in (f"[global]\n{url}", f"[global]\nindex-url: {self.a}\n", f" [global]\n  {url}", f"[global] more\n{url}",
                     f"[global]\r\nindex-url = {self.a}\r\n", f"[global]\r{url}", f"[global]\n--{url}",
                     f"[global]\nINDEX_URL={self.a}", f"[DEFAULT]\n{url}[global]\n", f"[:env:]\n{url}",
                     f"[install]\n{url}[global]\nindex-url = {self.b}\n", f"[global]\nindex-url =\n   {self.a}\n",
                     f"[global]\nindex-url = {self.a}\n  # no value\n", f"[download]\nno-index=maybe\n[global]\n{url}",
                     f"[global]\nzork=1\nno-index=\n{url}", f"[global]\nx=%(y)s\n{url}"):
            with self.subTest(text):
                self.file.write_bytes(text.encode())
                self.assert_same(self.of_pip, {"demo": "1.0"})

    def test_what_configparser_refuses(self):
        url = f"index-url = {self.a}\n"
        for line, text in ((2, f"[global]\nstray\n{url}"), (1, f"\ufeff[global]\n{url}"), (1, url), (1, f"[global\n{url}"),
                           (3, f"[global]\n{url}{url}"), (3, f"[global]\n{url}[global]\n"),
                           (3, f"[global]\nindex_url = x\n{url}"), (2, f"[global]\n= x\n{url}"),
                           (2, f"[global]\nno-index = maybe\n{url}"), (2, f"[global]\npre = zork\n{url}"),
                           (2, f"[global]\ntimeout = soon\n{url}"), (2, f"[global]\nkeyring-provider = zork\n{url}"),
                           (2, b"[global]\n# \xe9\n" + url.encode())):
            with self.subTest(text):
                self.file.write_bytes(text if isinstance(text, bytes) else text.encode())
                self.assertIsInstance(self.of_pip(), int, self.said_by_peer)
                self.assertEqual(self.ours(), 2, self.said)
                self.assertIn(f"{self.file}:{line}:", self.said)
                self.assertEqual(self.server.asked.count("b"), 0)

    def test_a_file_that_cannot_be_read_is_not_absent(self):
        self.env["PIP_INDEX_URL"] = self.a
        self.file.mkdir()
        self.assertEqual(self.ours(), 2, self.said)
        self.assertIn(str(self.file), self.said)
        self.file.rmdir()
        self.file.symlink_to(self.file)
        self.assertEqual(self.ours(), 2, self.said)
        self.file.unlink()
        self.assert_same(self.of_pip, {"demo": "1.0"})

    def test_the_order_of_files_and_sections(self):
        home = self.root / "home"
        self.write(".pip/pip.conf", f"[global]\nindex-url = {self.a}\n", home)
        del self.env["PIP_CONFIG_FILE"]
        self.assert_same(self.of_pip, {"demo": "1.0"})
        user = self.write(".config/pip/pip.conf", f"[global]\nindex-url = {self.b}\n", home)
        self.assert_same(self.of_pip, {"demo": "2.0"})
        self.write("pip.conf", f"[global]\nindex-url = {self.c}\n", self.venv)
        self.assert_same(self.of_pip, {"demo": "3.0"})
        user.write_text(f"[install]\nindex-url = {self.b}\n")
        self.assert_same(self.of_pip, {"demo": "2.0"})
        self.env["PIP_CONFIG_FILE"] = str(self.file)
        self.file.write_text("[global]\ntimeout = 30\n")
        self.assert_same(self.of_pip, {"demo": "3.0"})

    def test_paths_count_from_the_current_folder_and_lists_from_blanks(self):
        self.write("low.txt", "demo<1\n")
        self.write("high.txt", "demo<9\n")
        self.file.write_text(f"[global]\nindex-url = {self.a}\nconstraint =\n    high.txt\n    low.txt\n")
        self.assert_same(self.of_pip, "fails")
        self.write("low.txt", "demo<2\n")
        self.assert_same(self.of_pip, {"demo": "1.0"})

    def test_the_environment_s_own_file_comes_too_late_for_some(self):
        self.env["PIP_INDEX_URL"] = self.a
        self.write("pip.conf", "[global]\nbreak-system-packages = yes\n", self.venv)
        self.assertEqual(self.ours(), 2, self.said)

    def test_sections_of_other_commands(self):
        self.file.write_text("[uninstall]\nbreak-system-packages = maybe\n")
        self.assert_fails(self.variant("uninstall", "demo", "--python", self.venv), 2, f"{self.file}:2:")
        self.assert_ok(self.variant("list", "--python", self.venv))


class UvFiles(SettingsCase):
    PROJECT = '[project]\nname = "p"\nversion = "1"\nrequires-python = ">=3.9"\n'

    def setUp(self):
        super().setUp()
        for name, version in (("a", "1.0"), ("b", "2.0"), ("c", "3.0"), ("d", "4.0"), ("e", "5.0")):
            self.put(name, version)
        self.put("a", "0.5", "1.5a1")

    def index(self, name):
        return f'index-url = "{self.server.url(name)}"\n'

    def extra(self, *names):
        return f"extra-index-url = {json.dumps([self.server.url(name) for name in names])}\n"

    def table(self, name, table="index", more=""):
        return f'[[{table}]]\nname = "{name}"\nurl = "{self.server.url(name)}"\n{more}'

    def test_which_file_of_the_project_counts(self):
        sub = self.project / "sub"
        rows = [({"uv.toml": self.index("a"), "sub/x": ""}, "1.0"),
                ({"uv.toml": self.index("a"), "sub/uv.toml": self.index("b")}, "2.0"),
                ({"sub/uv.toml": self.index("a"), "sub/pyproject.toml": "[tool.uv]\n" + self.index("b")}, "1.0"),
                ({"uv.toml": self.index("a"), "sub/pyproject.toml": "[tool.uv]\n" + self.index("b")}, "2.0"),
                ({"uv.toml": self.index("a"), "sub/pyproject.toml": self.PROJECT}, "1.0"),
                ({"pyproject.toml": "[tool.uv]\n" + self.index("b"), "sub/pyproject.toml": self.PROJECT}, "2.0"),
                ({"pyproject.toml": self.PROJECT, "uv.toml": self.index("a"), "sub/uv.toml": self.index("b")}, "1.0"),
                ({"pyproject.toml": "[tool.uv]\n", "uv.toml": self.index("a"), "sub/uv.toml": self.index("b")}, "2.0"),
                ({"pyproject.toml": "[tool.uv]\n" + self.index("b") + "[tool.uv.workspace]\nmembers = ['s*']\n" + self.PROJECT,
                  "sub/pyproject.toml": self.PROJECT.replace('"p"', '"q"') + "[tool.uv]\n" + self.index("c")}, "2.0"),
                ({"uv.toml": "index-url = 3\n", "sub/uv.toml": self.index("b")}, "2.0")]
        for files, version in rows:
            with self.subTest(files):
                for name, text in files.items():
                    self.write(name, text)
                self.assert_same(self.of_uv, {"demo": version}, cwd=sub)
                for name in files:
                    (self.project / name).unlink()

    def test_the_user_s_file_and_the_named_one(self):
        self.write(".config/uv/uv.toml", self.index("d") + self.extra("e"), self.root / "home")
        self.assert_same(self.of_uv, {"demo": "5.0"})
        self.write("uv.toml", self.index("a") + self.extra("b", "c"))
        self.assert_same(self.of_uv, {"demo": "2.0"})
        self.assert_same(self.of_uv, {"demo": "5.0"}, "--index-strategy", "unsafe-best-match", "demo")
        self.write("other.toml", self.index("c"))
        self.assert_same(self.of_uv, {"demo": "3.0"}, env={"UV_CONFIG_FILE": "other.toml"})
        self.assert_same(self.of_uv, {"demo": "3.0"}, env={"UV_CONFIG_FILE": "other.toml", "UV_NO_CONFIG": "1"})
        self.assert_same(self.of_uv, {"demo": "4.0"}, "--index-url", self.server.url("d"), "demo", env={"UV_NO_CONFIG": "1"})

    def test_keys_of_the_project(self):
        Wheel("demo", "9.0").write(self.project / "wheels")
        plain, start = {"demo": "1.0"}, self.index("a")
        rows = [("", plain), ("no-index = true\n", "fails"), ('find-links = ["wheels"]\n', {"demo": "9.0"}),
                (self.extra("c"), {"demo": "3.0"}), ("constraint-dependencies = ['demo<1']\n", {"demo": "0.5"}),
                ("override-dependencies = ['demo==0.5']\n", {"demo": "0.5"}), ("prerelease = 'allow'\n", {"demo": "1.5a1"}),
                ("exclude-newer = '2020-01-01'\n", "fails"), ("exclude-newer = false\n", plain),
                ("exclude-newer-package = {demo = '2020-01-01'}\n", "fails"),
                ("exclude-newer-package = {other = '2020-01-01', demo = false}\n", plain),
                ("no-binary = true\n", "fails"), ("no-binary = false\n", plain), ("no-binary-package = ['demo']\n", "fails"),
                ("no-build = true\n", plain), ("offline = true\n", "fails"), ("link-mode = 'copy'\n", plain),
                (self.extra("c", "d") + "index-strategy = 'unsafe-best-match'\n", {"demo": "4.0"}),
                (self.table("b"), {"demo": "2.0"}), (self.table("b", more="default = true\n"), {"demo": "2.0"}),
                (self.table("b", more="explicit = true\n"), plain),
                (self.table("b", more="default = true\n") + self.table("c", more="explicit = true\n") + self.table("d"), {"demo": "4.0"}),
                ("[pip]\n" + self.index("b"), {"demo": "2.0"}), ("[pip]\n" + self.extra("c"), {"demo": "3.0"}),
                (self.extra("b") + "[pip]\n" + self.extra("c"), {"demo": "3.0"}), ("[pip]\nno-index = true\n", "fails"),
                ("[pip]\nno-binary = ['demo']\n", "fails"), ("[pip]\nno-binary = [':all:']\n", "fails"),
                ("[pip]\nonly-binary = ['demo']\n", plain), ("[pip]\nrequire-hashes = true\n", "fails"),
                ("[pip]\nverify-hashes = false\n", plain), ("[pip]\nprerelease = 'allow'\n", {"demo": "1.5a1"}),
                ("no-index = true\n[pip]\nno-index = false\n", plain)]
        for text, wanted in rows:
            with self.subTest(text):
                self.write("uv.toml", start + text)
                self.assert_same(self.of_uv, wanted)
                (self.project / "uv.toml").unlink()
                own = text.replace("[pip]", "[tool.uv.pip]").replace("[[index]]", "[[tool.uv.index]]")
                self.write("pyproject.toml", "[tool.uv]\n" + start + own)
                self.assert_same(self.of_uv, wanted)
                (self.project / "pyproject.toml").unlink()

    def test_a_damaged_file_ends_the_command_and_no_index_is_asked(self):
        self.env["PIP_INDEX_URL"] = self.server.url("a")
        for line, text in ((1, "zork = 1\n"), (1, "[tool.uv]\n"), (2, "# x\nindex-url = 3\n"), (1, "index-url = ''\n"),
                           (1, "no-index = 'true'\n"), (1, "keyring-provider = 'x'\n"), (2, "[[index]]\nname = 'a b'\nurl = 'https://x.invalid'\n"),
                           (1, "[[index]]\nurl = 'https://x.invalid'\nexplicit = true\n"), (2, "no-index = true\nno-index = true\n"),
                           (1, "find-links = 'x'\n"), (1, "no-binary = ['demo']\n"), (2, "[pip]\nno-binary = true\n"),
                           (1, "index-strategy = 'x'\n"), (1, "exclude-newer = 2020-01-01T00:00:00Z\n"),
                           (1, "constraint-dependencies = 'x'\n"), (1, "a = = 1\n"), (1, "[sources]\ndemo = {index = 'b'}\n")):
            with self.subTest(text):
                file = self.write("uv.toml", text)
                self.assertEqual(self.of_uv(), 2, self.said_by_peer)
                self.server.asked.clear()
                self.assertEqual(self.ours(), 2, self.said)
                self.assertIn(f"{file}:{line}:", self.said)
                self.assertEqual(self.server.asked, [])
        file.unlink()
        file.mkdir()
        self.assertEqual(self.of_uv(), 2, self.said_by_peer)
        self.assertEqual(self.ours(), 2, self.said)
        file.rmdir()
        # Of a damaged pyproject.toml uv only warns, and then asks the default index: Axle does not.
        for line, text in ((2, "[tool.uv]\nzork = 1\n"), (1, "[tool.uv\n"), (2, "[tool.uv]\nindex-url = 3\n")):
            with self.subTest(text):
                file = self.write("pyproject.toml", text)
                self.server.asked.clear()
                self.assertEqual(self.ours(), 2, self.said)
                self.assertIn(f"{file}:{line}:", self.said)
                self.assertEqual(self.server.asked, [])

    def test_credentials_of_a_named_index(self):
        self.write("uv.toml", self.index("a") + self.table("b"))
        env = {"UV_INDEX_B_USERNAME": "me", "UV_INDEX_B_PASSWORD": "a@b"}
        result = self.variant("resolve", "demo", "-v", "--python", self.venv, env=env, cwd=self.project)
        self.assert_ok(result)
        self.assertNotIn("a@b", result.err)
        self.assertNotIn("a%40b", result.err)


if __name__ == "__main__":
    unittest.main()
