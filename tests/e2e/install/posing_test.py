"""A wheel installs the package that it is named after and no other: Axle, importlib.metadata, pip and uv see the same."""

import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import TestCase, Wheel, tree

POSED = "Metadata-Version: 2.1\nName: requests\nVersion: 99.0\n"


class Posing(TestCase):
    def setUp(self):
        super().setUp()
        self.make_venv()

    def views(self):
        """What each tool finds: name -> version."""
        code = ("import importlib.metadata as m, json;"
                "print(json.dumps(sorted([d.metadata['Name'].lower(), d.version] for d in m.distributions())))")
        views = {"importlib": [tuple(one) for one in json.loads(self.python(code))],
                 "axle": sorted((name, version) for name, (version, _) in self.installed().items())}
        pip = json.loads(self.assert_ok(self.pip("list", "--format", "json")).out)
        views["pip"] = sorted((one["name"].lower(), one["version"]) for one in pip)
        uv = json.loads(self.assert_ok(self.uv("pip", "list", "--format", "json", "--python", self.venv)).out)
        views["uv"] = sorted((one["name"].lower(), one["version"]) for one in uv)
        return views

    def test_hostile_wheels_are_refused_and_leave_nothing(self):
        before = tree(self.venv)
        hostile = {
            "upper case": {"requests-99.0.DIST-INFO/METADATA": POSED},
            "mixed case": {"requests-99.0.Dist-Info/METADATA": POSED},
            "egg": {"requests-99.0.EGG-INFO/PKG-INFO": POSED},
            "egg file": {"requests-99.0.Egg-Info": POSED},
            "egg link": {"requests.EGG-LINK": "/tmp\n"},
            "whole egg": {"requests-99.0-py3.11.EGG/EGG-INFO/PKG-INFO": POSED},
            "long s": {"requests-99.0.di\u017ft-info/METADATA": POSED},
            "ligature": {"requests-99.0.di\ufb06-info/METADATA": POSED},
            "zero width": {"requests-99.0.dist\u200b-info/METADATA": POSED},
            "below purelib": {"demo-1.0.data/purelib/requests-99.0.DIST-INFO/METADATA": POSED},
            "line separator in RECORD": {"a\u2028requests.py,sha256=x,1": ""},
            "line separator in an entry point": {
                "demo-1.0.dist-info/entry_points.txt": "[console_scripts]\nx = a\u2028b:main\n"},
            "hidden entry point": {
                "demo-1.0.dist-info/entry_points.txt": "[a]\nx = a:b\u2028[console_scripts]\u2028pip = demo:evil\n"},
        }
        for what, files in hostile.items():
            with self.subTest(what):
                wheel = Wheel("demo", "1.0", files={"demo.py": "", **files}).write(self.root / "dist")
                self.assert_fails(self.variant("install", wheel, "--no-index", "--python", self.venv), 1, "error: ")
                self.assertEqual(tree(self.venv), before)

    def test_what_is_installed_is_what_all_see(self):
        for number, files in enumerate([{}, {"Demo.Data/x": ""}, {"pkg/requests-1.0.dist-info/METADATA": POSED},
                                        {"demo-1.0.data/data/share/requests-99.0.dist-info/METADATA": POSED},
                                        {"egg-info/x.py": ""}, {"stra\u00dfe.py": ""}, {"demo.pth": "extra\n"}]):
            with self.subTest(number):
                wheel = Wheel("demo", "1.0", files={"demo.py": "", **files}).write(self.root / "dist")
                self.assert_ok(self.variant("install", wheel, "--no-index", "--reinstall", "--python", self.venv))
                for tool, view in self.views().items():
                    self.assertEqual(view, [("demo", "1.0")], tool)

    def test_what_pip_let_in_is_seen(self):
        wheel = Wheel("demo", "1.0", files={"demo.py": "", "requests-99.0.DIST-INFO/METADATA": POSED})
        installed = self.pip("install", "--no-index", "--no-deps", wheel.write(self.root / "dist"))
        if installed.code != 0:
            self.skipTest("pip refuses it too")
        views = self.views()
        self.assertEqual(views["axle"], views["importlib"])


if __name__ == "__main__":
    unittest.main()
