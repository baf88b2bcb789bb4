"""[defaults] of the user's axle/config.toml: options that hold for every command that has them."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import support
from settings_case import SettingsCase
from support import Wheel


class Defaults(SettingsCase):
    def setUp(self):
        super().setUp()
        self.a, self.b = self.put("a", "1.0"), self.put("b", "2.0")
        self.config = self.root / "home/.config/axle/config.toml"
        self.config.parent.mkdir(parents=True)

    def say(self, text):
        self.config.write_text("[defaults]\n" + text)

    def test_which_place_wins(self):
        """Options and variables first, then the project, then Axle's file, then pip's and the user's of uv."""
        self.say(f'index-url = "{self.a}"\n')
        self.assertEqual(self.ours(), {"demo": "1.0"}, self.said)
        self.assertEqual(self.ours("demo", "--index-url", self.b), {"demo": "2.0"}, self.said)
        for variable in ("PIP_INDEX_URL", "UV_INDEX_URL", "UV_DEFAULT_INDEX"):
            self.assertEqual(self.ours(env={variable: self.b}), {"demo": "2.0"}, self.said)
        conf = self.root / "pip.conf"
        conf.write_text(f"[global]\nindex-url = {self.b}\n")
        self.assertEqual(self.ours(env={"PIP_CONFIG_FILE": str(conf)}), {"demo": "1.0"}, self.said)
        of_uv = self.root / "home/.config/uv/uv.toml"
        of_uv.parent.mkdir(parents=True)
        of_uv.write_text(f'index-url = "{self.b}"\n')
        self.assertEqual(self.ours(), {"demo": "1.0"}, self.said)
        self.write("uv.toml", f'index-url = "{self.b}"\n')
        self.assertEqual(self.ours(), {"demo": "2.0"}, self.said)

    def test_lists_of_all_places_count_and_paths_begin_at_the_file(self):
        Wheel("other", "3.0").write(self.config.parent / "wheels")
        Wheel("third", "4.0").write(self.root / "more")
        self.say(f'index-url = "{self.a}"\nfind-links = ["wheels"]\n')
        self.assertEqual(self.ours("demo", "other", "third", "--find-links", self.root / "more"),
                         {"demo": "1.0", "other": "3.0", "third": "4.0"}, self.said)
        (self.config.parent / "limits.txt").write_text("demo<2\n")
        self.say(f'index-url = "{self.b}"\nextra-index-url = ["{self.a}"]\nindex-strategy = "unsafe-best-match"\n'
                 'constraint = "limits.txt"\n')
        self.assertEqual(self.ours(), {"demo": "1.0"}, self.said)

    def test_every_place_begins_at_the_file(self):
        beside = self.config.parent / "beside"
        support.Index(beside).add_wheel(Wheel("demo", "7.0"))
        for text in ('index-url = "beside"', 'default-index = "beside"', 'default-index = "named=beside"',
                     'no-index = false\nextra-index-url = "beside"', 'index = ["beside"]', 'index = ["named=beside"]'):
            with self.subTest(text):
                self.say(text + "\n")
                self.assertEqual(self.ours(), {"demo": "7.0"}, self.said)
        (self.config.parent / "env").symlink_to(self.venv)
        self.say('index-url = "beside"\npython = "env/bin/python"\n')
        self.assert_ok(self.variant("install", "demo"))
        self.assertEqual(self.installed(), {"demo": ("7.0", None)})

    def test_formats(self):
        self.say(f'index-url = "{self.a}"\nno-binary = [":all:"]\n')
        self.assertNotEqual(self.ours(), {"demo": "1.0"}, self.said)
        self.say(f'index-url = "{self.a}"\nno-binary = [":all:"]\nonly-binary = ["demo"]\n')
        self.assertEqual(self.ours(), {"demo": "1.0"}, self.said)

    def test_a_date_means_what_the_option_means(self):
        """pip's name: the beginning of the day; uv's: its end."""
        url = self.put("dated", "1.0", **{"upload-time": "2024-05-31T12:00:00Z"})
        self.put("dated", "2.0", **{"upload-time": "2024-06-01T12:00:00Z"})
        for name, wanted in (("uploaded-prior-to", "1.0"), ("exclude-newer", "2.0")):
            self.say(f'index-url = "{url}"\n{name} = "2024-06-01"\n')
            self.assertEqual(self.ours(env={"TZ": "UTC"}), {"demo": wanted}, self.said)

    def test_flags_and_numbers(self):
        self.put("c", "1.0", "2.0rc1")
        self.say(f'index-url = "{self.server.url("c")}"\npre = true\ntimeout = 7\n')
        self.assertEqual(self.ours(), {"demo": "2.0rc1"}, self.said)
        self.say(f'index-url = "{self.server.url("c")}"\npre = false\n')
        self.assertEqual(self.ours(), {"demo": "1.0"}, self.said)

    def test_the_installation_is_as_the_file_says(self):
        self.say(f'index-url = "{self.a}"\nlink-mode = "copy"\ncompile-bytecode = true\nquiet = true\n')
        result = self.assert_ok(self.variant("install", "demo", "--python", self.venv))
        self.assertEqual((result.out, result.err), ("", ""))
        self.assertEqual((self.site() / "demo.py").stat().st_nlink, 1)
        self.assertTrue(list((self.site() / "__pycache__").glob("demo.*.pyc")))
        self.assertEqual(self.assert_ok(self.variant("list", "--python", self.venv, "-v")).out.split()[-2:], ["demo", "1.0"])
        self.assert_ok(self.variant("uninstall", "demo", "--python", self.venv))
        self.assertFalse((self.site() / "demo.py").exists())

    def test_commands_without_the_option_are_not_concerned(self):
        self.say('index-url = "https://127.0.0.1:1/simple"\nlink-mode = "symlink"\nverbose = true\n')
        self.assert_ok(self.variant("machines"))
        self.assert_ok(self.variant("list", "--python", self.venv))

    def test_what_is_refused(self):
        for text, words in (('indexurl = "x"', ("indexurl", "there is no such option", "did you mean index-url?")),
                            ('index-url = 3.5', ("index-url",)), ('pre = "yes"', ("pre",)), ('find-links = [1]', ("find-links",)),
                            ('requirement = ["a"]', ("requirement", "has no default", "--requirement with each command")),
                            ('dry-run = true', ("dry-run", "has no default")), ('-v = true', ()),
                            ('find-links = ""', ("find-links", "is empty")), ('proxy = ""', ("proxy", "is empty")),
                            ('link-mode = "soft"', ("link-mode", "soft")), ('timeout = "long"', ("timeout", "long")),
                            ('index-strategy = "best"', ("index-strategy", "best"))):
            with self.subTest(text):
                self.say(f'index-url = "{self.a}"\n{text}\n' if "index-url" not in text else text + "\n")
                line = 2 if "index-url" in text else 3
                result = self.variant("install", "demo", "--dry-run", "--python", self.venv)
                self.assert_fails(result, 2, f"{self.config}:{line}", *words)
        self.say('exclude-newer = "2030-01-01"\nuploaded-prior-to = "2020-01-01"\n')
        self.assert_fails(self.variant("install", "demo", "--python", self.venv), 2, f"{self.config}:3", "said twice")
        self.config.write_text("defaults = 3\n")
        self.assert_fails(self.variant("list", "--python", self.venv), 2, f"{self.config}:1")

    def test_a_wrong_value_is_refused_by_commands_that_do_not_use_it(self):
        """Each with the file, the line and the key."""
        for text, words in (('format = "table"', ("format `table`", "columns, freeze or json")), ('link-mode = "soft"', ("link-mode", "soft")),
                            ('cert = "nowhere.pem"', ("cert", f"{self.config.parent}/nowhere.pem", "No such file")),
                            ('client-cert = "nowhere.pem"', ("client-cert", "No such file")),
                            ('constraint = ["nowhere.txt"]', ("constraint", "No such file")), ('overrides = ["nowhere.txt"]', ("override", "No such file")),
                            ('build-constraint = ["nowhere.txt"]', ("build-constraint", "No such file")), ('timeout = "long"', ("timeout", "long")),
                            ('retries = 1000', ("retries", "1000")), ('index-strategy = "best"', ("index-strategy", "best")),
                            ('keyring-provider = "import"', ("keyring-provider", "import")), ('prerelease = "some"', ("prerelease", "some")),
                            ('exclude-newer = "soon"', ("soon",)), ('exclude-newer-package = ["demo"]', ("exclude-newer-package", "PKG=WHEN")),
                            ('config-settings = ["word"]', ("config-settings", "KEY=VALUE")), ('upgrade-package = ["a b"]', ("upgrade-package", "a b")),
                            ('reinstall-package = ["a b"]', ("reinstall-package", "a b")), ('progress = "some"', ("progress", "some")),
                            ('no-binary = ["a b"]', ("no-binary", "a b")), ('torch-backend = "cuda"', ("torch-backend", "cuda"))):
            self.say(f"verbose = false\n{text}\n")
            for command in (["machines"], ["cache", "dir"], ["list", "--python", self.venv]):
                with self.subTest(text, command=command):
                    self.assert_fails(self.variant(*command), 2, f"{self.config}:3", *words)

    def test_the_home_folder(self):
        home = self.root / "home"
        Wheel("other", "3.0").write(home / "wheels")
        (home / "limits.txt").write_text("demo<2\n")
        self.put("both", "1.0", "2.0")
        self.say(f'index-url = "{self.a}"\nfind-links = ["~/wheels"]\nconstraint = "~/limits.txt"\n')
        self.assertEqual(self.ours("demo", "other"), {"demo": "1.0", "other": "3.0"}, self.said)
        (self.config.parent / "~name").mkdir()
        Wheel("third", "4.0").write(self.config.parent / "~name")
        self.say(f'index-url = "{self.a}"\nfind-links = ["~name"]\n')
        self.assertEqual(self.ours("third"), {"third": "4.0"}, self.said)
        self.say('cert = "~/nowhere.pem"\n')
        self.assert_fails(self.variant("machines"), 2, f"{self.config}:2", f"{home}/nowhere.pem")

    def test_the_home_folder_in_files_of_pip_and_uv(self):
        """pip expands it in links that are there; uv takes it as a name."""
        Wheel("other", "3.0").write(self.root / "home/wheels")
        conf = self.root / "pip.conf"
        conf.write_text("[global]\nno-index = true\nfind-links = ~/wheels\n")
        env = {"PIP_CONFIG_FILE": str(conf)}
        self.assertEqual(self.ours("other", env=env), {"other": "3.0"}, self.said)
        self.assert_ok(self.pip("download", "other", "-d", self.root / "got", env=env))
        self.write("uv.toml", 'no-index = true\nfind-links = ["~/wheels"]\n')
        self.assertNotEqual(self.ours("other"), {"other": "3.0"}, self.said)

    def test_a_project_has_none(self):
        self.write("pyproject.toml", '[tool.axle.defaults]\nindex-url = "x"\n')
        self.say(f'index-url = "{self.a}"\n')
        result = self.variant("install", "demo", "--dry-run", "--python", self.venv, cwd=self.project)
        self.assert_fails(result, 2, "pyproject.toml:1", "defaults")


if __name__ == "__main__":
    unittest.main(verbosity=2)
