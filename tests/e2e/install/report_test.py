"""--report against pip's, for the same packages."""

import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from loopback import Loopback
from support import EnvironmentTestCase, Wheel, publish_levels

METADATA = """Summary: what it is
Keywords: one,two words
Author-email: A <a@example.org>
License: MIT
Classifier: Programming Language :: Python
Classifier: Topic :: Software Development
Project-URL: Source, https://example.org/source
Provides-Extra: fast
Requires-Dist: extra-one ; extra == 'fast'
Description-Content-Type: text/markdown

# Title

A text with ü.
"""


class Report(EnvironmentTestCase):
    def setUp(self):
        super().setUp()
        self.server = Loopback(self)
        self.server.publish("/simple", Wheel("demo", "1.0", requires=["other>=1"], extra_metadata=METADATA), Wheel("other", "1.0"), Wheel("other", "1.5"),
                            Wheel("extra-one", "0.1"), Wheel("pulled", "3.0", extra_metadata="Keywords: some words\n"))
        status, headers, page = self.server.answers["/simple/pulled/"]
        self.server.answers["/simple/pulled/"] = (status, headers, page.replace("<a ", '<a data-yanked="broken" '))
        self.line = ["demo[fast]", "pulled==3.0", "--index-url", self.server.url("/simple")]

    def both(self, *line, python=None):
        """Ours and pip's, without what each has alone."""
        files = [self.root / "ours.json", self.root / "pip.json"]
        self.assert_ok(self.variant("install", *line, "--report", files[0], "--python", self.venv))
        self.assert_ok(self.pip("install", *line, "--report", files[1], "--ignore-installed"))
        ours, theirs = (json.loads(file.read_text()) for file in files)
        self.assertEqual(theirs.pop("pip_version"), "26.3")
        self.extra = {one["metadata"]["name"]: one.pop("axle") for one in ours["install"]}
        self.assertEqual(list(ours.pop("axle")), ["version"])
        for report in (ours, theirs):
            report["install"].sort(key=lambda one: one["metadata"]["name"])
        return ours, theirs

    def test_it_is_pip_s(self):
        for more in (["--dry-run"], []):
            ours, theirs = self.both(*self.line, *more)
            self.assertEqual(ours, theirs, more)
        by_name = {one["metadata"]["name"]: one for one in ours["install"]}
        self.assertEqual(sorted(by_name), ["demo", "extra-one", "other", "pulled"])
        self.assertEqual((by_name["pulled"]["is_yanked"], by_name["demo"]["requested_extras"], by_name["other"]["requested"]), (True, ["fast"], False))
        self.assertIn("A text with ü.", by_name["demo"]["metadata"]["description"])
        self.assertEqual(self.extra["demo"], {"variant": None, "family": None, "properties": [], "file": "demo-1.0-py3-none-any.whl"})

    def test_a_wheel_that_is_named(self):
        path = Wheel("near", "1.0").write(self.root / "wheels")
        for named in (path, path.as_uri()):
            ours, theirs = self.both(named, "--no-index", "--dry-run")
            self.assertEqual(ours, theirs)
            self.assertTrue(ours["install"][0]["is_direct"])

    def test_stdout(self):
        result = self.assert_ok(self.variant("install", *self.line, "--report", "-", "--dry-run", "--python", self.venv))
        self.assertEqual(result.json["version"], "1")
        self.assertEqual(len(result.json["install"]), 4)
        self.assert_fails(self.variant("install", *self.line, "--report", "-", "--json", "--python", self.venv), 2, "--report - and --json")
        self.assert_untouched()

    def test_what_is_there_is_not_in_it(self):
        self.assert_ok(self.variant("install", "other", *self.line[2:], "--python", self.venv))
        file = self.root / "report.json"
        self.assert_ok(self.variant("install", *self.line, "--report", file, "--python", self.venv))
        self.assertEqual([one["metadata"]["name"] for one in json.loads(file.read_text())["install"]], ["demo", "extra-one", "pulled"])

    def test_variants(self):
        publish_levels(self.index)
        result = self.assert_ok(self.install("demo", "--report", "-", "--variant", "demo=v1", index=self.index))
        self.assertEqual(result.json["install"][0]["axle"], {"variant": "v1", "family": None, "properties": ["x86_64 :: level :: v1"],
                                                             "file": "demo-1.0-py3-none-any-v1.whl"})

    def test_a_file_that_cannot_be_written_prevents_the_change(self):
        result = self.variant("install", *self.line, "--report", self.root / "none/report.json", "--python", self.venv)
        self.assert_fails(result, 1, "the report could not be written")
        self.assert_untouched()


if __name__ == "__main__":
    unittest.main(verbosity=2)
