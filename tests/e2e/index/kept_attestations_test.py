"""download, mirror, bundle and index build keep the attestations of wheels, so that they are verified where the files go."""

import pathlib
import sys
import unittest
import zipfile

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / one) for one in ("", "install")]
from attestations_test import AttestedCase
from support import Wheel, tree


class Kept(AttestedCase):
    def test_what_is_saved_keeps_them(self):
        wheel = self.index.add(Wheel("demo", "1.0", requires=["dep"]))
        self.index.add(Wheel("dep", "1.0"), provenance=False)
        config = ["--index-url", self.index.url, "--python", self.venv]
        folder, mirror, bundle = self.root / "wheels", self.root / "mirror", self.root / "needs.zip"
        self.assert_ok(self.variant("download", "demo", "--dest", folder, *config))
        self.assert_ok(self.variant("mirror", "demo", "--out", mirror, *config))
        self.assert_ok(self.variant("bundle", "demo", "--out", bundle, *config))
        self.assertEqual({path.name for path in folder.iterdir()},
                         {wheel.file_name, wheel.file_name + ".provenance", "dep-1.0-py3-none-any.whl"})
        self.assertTrue((mirror / "simple/demo" / (wheel.file_name + ".provenance")).exists())
        before = tree(mirror)
        self.assert_ok(self.variant("mirror", "demo", "--out", mirror, *config))
        self.assertEqual(tree(mirror), before)
        self.assert_ok(self.variant("index", "build", folder, "--out", self.root / "built"))
        self.assertEqual(tree(self.root / "built"), before)
        unpacked = self.root / "unpacked"
        with zipfile.ZipFile(bundle) as archive:
            archive.extractall(unpacked)
        for place in (["--no-index", "--find-links", folder], ["--index-url", mirror / "simple"], ["--bundle", bundle],
                      ["--index-url", unpacked / "simple"]):
            with self.subTest(place):
                asked = ["--python", self.venv, *place, "--attestations", "require", "--trusted-root", self.trusted, "--dry-run"]
                told = self.assert_ok(self.variant("install", "--no-deps", "demo", "--json", *asked)).json
                self.assertTrue(told["packages"][0]["attestation"]["passed"])
                self.assert_fails(self.variant("install", "demo", *asked), 1, "dep-1.0", "not attested")

    def test_what_an_index_names_and_has_not_is_said(self):
        self.index.add(Wheel("demo", "1.0"))
        self.index.server.answers["/integrity/demo-1.0-py3-none-any.whl/provenance"] = (404, {}, "")
        result = self.assert_ok(self.variant("download", "demo", "--dest", self.root / "wheels", "--index-url", self.index.url, "--python", self.venv))
        self.assertIn("attestations of demo-1.0-py3-none-any.whl are not saved", result.err)
        self.assertEqual([path.name for path in (self.root / "wheels").iterdir()], ["demo-1.0-py3-none-any.whl"])


if __name__ == "__main__":
    unittest.main()
