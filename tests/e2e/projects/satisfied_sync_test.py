"""What is kept of an environment never makes sync overlook what others did to it: with a cache it plans what it plans without one."""

import pathlib
import shutil
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from project_case import ProjectCase
from support import Wheel


class SatisfiedSync(ProjectCase):
    def setUp(self):
        super().setUp()
        self.add("low", "1.0")
        self.add("low", "2.0")
        self.add("top", "1.0", requires=["low", "six; extra == 'more'"])
        self.add("tool", "1.0")
        self.write_project(["top"])
        self.assert_ok(self.call("sync"))
        # What changed within the last two seconds is not kept.
        time.sleep(2.2)
        self.assertEqual(self.planned(), ([], []))
        self.assertEqual(self.planned(), ([], []))

    def planned(self, *more):
        """(installed, removed): names, the same with the cache and without."""
        rows = []
        for words in (), ("--no-cache",):
            done = self.assert_ok(self.call("sync", "--dry-run", "--json", *words, *more)).json
            rows.append(tuple([one["name"] for one in done[key]] for key in ("installed", "removed")))
        self.assertEqual(rows[0], rows[1])
        return rows[0]

    def check_noticed(self, installed, removed):
        """It is noticed, put right, and right then."""
        self.assertEqual(self.planned(), (installed, removed))
        self.assert_ok(self.call("sync"))
        self.assertEqual(self.installed(), {"top": "1.0", "low": "2.0"})
        self.assertEqual(self.planned(), ([], []))

    def dist_info(self, name):
        return next(self.environment.glob(f"lib/python3*/site-packages/{name}-*.dist-info"))

    def rewrite(self, name, file, old, new):
        path = self.dist_info(name) / file
        text = path.read_text()
        self.assertIn(old, text)
        # A hard link into the store stays what it is.
        path.unlink()
        path.write_text(text.replace(old, new))

    def test_a_dist_info_folder_that_is_gone(self):
        shutil.rmtree(self.dist_info("low"))
        self.assertEqual(self.planned("--overwrite")[0], ["low"])

    def test_metadata_that_was_edited_in_place(self):
        path = self.dist_info("low") / "METADATA"
        text = path.read_text()
        self.rewrite("low", "METADATA", "Version: 2.0", "Version: 2.1")
        self.assertEqual(self.planned()[0], ["low"])
        path.write_text(text)
        self.assertEqual(self.planned(), ([], []))

    def test_metadata_that_cannot_be_interpreted(self):
        self.rewrite("top", "METADATA", "Requires-Dist: low", "Requires-Dist: low ??")
        done = [self.call("sync", "--dry-run", *words) for words in ((), ("--no-cache",))]
        self.assertEqual(done[0].code, done[1].code)
        for one in done:
            self.assertIn("Requires-Dist", one.err)

    def test_another_installer_and_another_origin(self):
        self.rewrite("low", "INSTALLER", "axle", "pip")
        self.assertEqual(self.planned(), ([], []))
        (self.dist_info("low") / "direct_url.json").write_text('{"url": "file:///elsewhere", "dir_info": {}}')
        self.assertEqual(self.planned()[0], ["low"])

    def test_other_programs(self):
        python = self.environment / "bin/python3"
        wheels = self.root / "wheels"
        for name in "low", "tool":
            Wheel(name, "1.0").write(wheels)
        installing = "install", "--no-index", "--find-links", wheels
        self.assert_ok(self.pip("uninstall", "-y", "low", python=python))
        self.check_noticed(["low"], [])
        self.assert_ok(self.pip(*installing, "low==1.0", python=python))
        self.check_noticed(["low"], ["low"])
        self.assert_ok(self.pip(*installing, "tool", python=python))
        self.check_noticed([], ["tool"])

    def test_an_edit_of_the_lock_or_of_the_project(self):
        text = self.lock_file.read_text()
        self.lock_file.write_text(text.replace('version = "2.0"', 'version = "2.0" # a word'))
        self.assertEqual(self.planned(), ([], []))
        self.lock_file.write_text(text.replace('name = "low"', 'name = "lower"'))
        for verb in "sync", "lock":
            self.assert_fails(self.call(verb), 2, "axle.lock:")
        self.lock_file.write_text(text)
        self.write_project(["top", "tool"])
        self.assert_fails(self.call("lock", "--check"), 4)
        self.assertEqual(self.planned()[0], ["tool"])


if __name__ == "__main__":
    unittest.main()
