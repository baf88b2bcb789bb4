"""Settings that pip and uv both have and mean differently, and which of several wins."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from settings_case import SettingsCase
from support import Wheel


class Formats(SettingsCase):
    """--no-binary and --only-binary: with pip the later one wins, with uv the more exact one."""

    def setUp(self):
        super().setUp()
        self.url = self.put("a", "1.0")

    def test_of_pip_s_places_each_adds_to_those_before_it(self):
        conf = self.root / "pip.conf"
        no, only, plain = "no-binary = {}\n", "only-binary = {}\n", {"demo": "1.0"}
        for text, env, options, wanted in (
                (no.format(":all:") + only.format("demo"), {}, [], plain), (only.format("demo") + no.format(":all:"), {}, [], "fails"),
                (no.format("demo") + only.format(":all:"), {}, [], plain), (only.format(":all:") + no.format("demo"), {}, [], "fails"),
                (no.format("demo") + "[install]\n" + only.format(":all:"), {}, [], plain),
                (only.format("demo") + "[install]\n" + no.format("demo"), {}, [], "fails"),
                (no.format("demo"), {"PIP_NO_BINARY": "other"}, [], "fails"), (no.format("demo"), {"PIP_NO_BINARY": ":none:"}, [], plain),
                (no.format("demo"), {"PIP_ONLY_BINARY": "demo"}, [], plain), (only.format("demo"), {"PIP_NO_BINARY": "demo"}, [], "fails"),
                ("", {"PIP_NO_BINARY": "demo"}, ["--only-binary", "demo"], plain), ("", {"PIP_ONLY_BINARY": "demo"}, ["--no-binary", "demo"], "fails"),
                ("", {"PIP_NO_BINARY": "demo"}, ["--only-binary", ":none:"], "fails")):
            with self.subTest(text=text, env=env, options=options):
                conf.write_text(f"[global]\nindex-url = {self.url}\n{text}")
                self.assert_same(self.of_pip, wanted, *options, "demo", env={"PIP_CONFIG_FILE": str(conf), **env})

    def test_uv_s_settings_know_no_order(self):
        no, only, plain = "no-binary = {}\n", "only-binary = {}\n", {"demo": "1.0"}
        rows = [([":all:"], ["demo"], plain), (["demo"], [":all:"], "fails"), (["demo"], ["demo"], "fails"), ([":all:"], [":all:"], "fails"),
                ([":all:", ":none:"], [], plain), (["demo", ":none:"], ["demo"], plain), ([":all:", "other"], ["demo"], plain)]
        for forbidden, allowed, wanted in rows:
            for text in (no.format(forbidden) + only.format(allowed), only.format(allowed) + no.format(forbidden)):
                with self.subTest(text):
                    self.write("uv.toml", f'index-url = "{self.url}"\n[pip]\n{text}')
                    self.assert_same(self.of_uv, wanted)


class Dates(SettingsCase):
    """A date is the beginning of its day with pip, its end with uv; both in the time zone of the system."""

    def test_a_date_alone(self):
        self.put("a", "1.0", **{"upload-time": "2024-05-31T12:00:00Z"})
        self.put("a", "2.0", **{"upload-time": "2024-06-01T12:00:00Z"})
        self.put("a", "3.0", **{"upload-time": "2024-06-01T23:30:00Z"})
        conf = self.root / "pip.conf"
        for zone, of_pip, of_uv in (("UTC", "1.0", "3.0"), ("EST5", "1.0", "3.0"), ("XYZ-14", None, "1.0"), ("XYZ+13", "2.0", "3.0")):
            with self.subTest(zone):
                before = {"demo": of_pip} if of_pip else "fails"
                env = {"TZ": zone, "PIP_INDEX_URL": self.server.url("a")}
                self.assert_same(self.of_pip, before, env={**env, "PIP_UPLOADED_PRIOR_TO": "2024-06-01"})
                self.assert_same(self.of_pip, before, "--uploaded-prior-to", "2024-06-01", "demo", env=env)
                conf.write_text("[global]\nuploaded-prior-to = 2024-06-01\n")
                self.assert_same(self.of_pip, before, env={**env, "PIP_CONFIG_FILE": str(conf)})
                env = {"TZ": zone, "UV_DEFAULT_INDEX": self.server.url("a")}
                self.assert_same(self.of_uv, {"demo": of_uv}, env={**env, "UV_EXCLUDE_NEWER": "2024-06-01"})
                self.assert_same(self.of_uv, {"demo": of_uv}, "--exclude-newer", "2024-06-01", "demo", env=env)
                self.write("uv.toml", "exclude-newer = '2024-06-01'\n")
                self.assert_same(self.of_uv, {"demo": of_uv}, env=env)
                (self.project / "uv.toml").unlink()


class NoIndex(SettingsCase):
    def test_it_wins_over_an_index_that_the_command_line_names(self):
        url = self.put("a", "1.0")
        named = ["--index-url", url, "demo"]
        self.assert_same(self.of_pip, "fails", *named, env={"PIP_NO_INDEX": "1"})
        self.assertIn("--index-url is not queried: no-index is set by PIP_NO_INDEX", self.said)
        self.write("uv.toml", "no-index = true\n")
        for option in ("--index-url", "--index", "--default-index"):
            self.assert_same(self.of_uv, "fails", option, url, "demo")
            self.assertIn(f"{option} is not queried: no-index is set by {self.project}/uv.toml:1", self.said)
        Wheel("demo", "9.0").write(self.project / "wheels")
        self.assert_same(self.of_uv, {"demo": "9.0"}, *named, "--find-links", "wheels")
        self.assertEqual(self.server.asked, [])


del SettingsCase

if __name__ == "__main__":
    unittest.main()
