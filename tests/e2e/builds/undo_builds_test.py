"""`variant undo` of what was built from a folder, an archive or a repository: it comes back from where it came, and nothing else."""

import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from sdist_case import BuildCase
from support import tree


class Undo(BuildCase):
    def setUp(self):
        super().setUp()
        self.env["PYTHONDONTWRITEBYTECODE"] = "1"
        self.project = self.sdist("demo", "1.0").write(self.root / "proj")

    def state(self):
        return {path: digest for path, digest in tree(self.venv).items() if not path.startswith(".axle/")}

    def undo(self, *arguments):
        return self.variant("undo", *arguments, "--python", self.venv)

    def test_it_says_where_it_is_from_as_before(self):
        archive = self.root / "demo-1.0.tar.gz"
        archive.write_bytes(self.sdist("demo", "1.0").bytes())
        self.make_repository(self.root / "repo", ("v1", {"inner": self.sdist("demo", "1.0")}))
        for place in ("./proj", archive, f"demo @ git+file://{self.root}/repo@v1#subdirectory=inner"):
            with self.subTest(place):
                self.assert_ok(self.ask(place))
                before, frozen = self.state(), self.assert_ok(self.variant("freeze", "--python", self.venv)).out
                self.assert_ok(self.variant("uninstall", "demo", "--python", self.venv))
                self.assert_ok(self.undo())
                self.assertEqual(self.state(), before)
                self.assertEqual(self.assert_ok(self.variant("freeze", "--python", self.venv)).out, frozen)
                self.assert_ok(self.undo())
                self.assertEqual(self.installed(), {})
                self.assert_ok(self.undo("--redo"))
                self.assertEqual(self.state(), before)
                self.assert_ok(self.variant("uninstall", "demo", "--python", self.venv))

    def test_what_is_no_longer_kept_is_not_taken_from_an_index(self):
        self.assert_ok(self.ask("./proj"))
        self.assert_ok(self.variant("uninstall", "demo", "--python", self.venv))
        self.assert_ok(self.variant("cache", "clean"))
        self.assert_fails(self.undo(), 1, f"install it from its place again: demo from file://{self.root}/proj")
        self.assertEqual(self.installed(), {})

    def test_a_hint_for_it_names_its_place(self):
        self.assert_ok(self.ask("./proj"))
        record = self.site() / "demo-1.0.dist-info/RECORD"
        record.unlink()
        refused = self.variant("uninstall", "demo", "--python", self.venv)
        self.assert_fails(refused, 1, f"installing demo from file://{self.root}/proj again")
        self.assertNotIn("demo==1.0", refused.err)


if __name__ == "__main__":
    unittest.main()
