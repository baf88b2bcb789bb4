"""Every command that reads axle.lock says the same of one defect, with the same exit code."""

import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from project_case import ProjectCase

# Commands that need a lock, and those that make one where there is none.
READING = (["sync", "--frozen"], ["run", "--frozen", "true"], ["run", "--no-sync", "true"], ["verify"], ["tree"], ["outdated"],
           ["export", "--format", "requirements"])
MAKING = (["lock"], ["lock", "--check"], ["sync"], ["sync", "--locked"], ["run", "true"], ["add", "--no-sync", "other"],
          ["remove", "--no-sync", "demo"])


class Defects(ProjectCase):
    def setUp(self):
        super().setUp()
        self.add("demo", "1.0")
        self.add("other", "1.0")
        self.write_project(["demo"])
        self.assert_ok(self.call("lock"))
        self.sound = self.lock_file.read_text()

    def assert_all_refuse(self, commands, said):
        project = self.pyproject.read_text()
        messages = set()
        for words in commands:
            with self.subTest(words=words):
                result = self.call(*words)
                self.assert_fails(result, 2, *said)
                messages.add(result.err.splitlines()[0])
                self.assertEqual(self.pyproject.read_text(), project)
                self.assertFalse(self.environment.exists())
                json = self.call("--json", *words)
                self.assertEqual(json.code, 2, str(json))
                self.assertIn("message", json.json["error"])
        self.assertEqual(len(messages), 1, messages)

    def test_it_is_not_valid(self):
        package = self.sound[self.sound.index("[[package]]"):]
        for name, text, said in (
                ("not TOML", "schema = \n", ["axle.lock:1"]),
                ("empty", "", ["axle.lock", "schema"]),
                ("a merge", "<<<<<<< HEAD\n" + self.sound + "=======\n>>>>>>> other\n", ["axle.lock:1", "merge"]),
                ("a newer schema", self.sound.replace("schema = 1", "schema = 99"), ["axle.lock", "schema 99"]),
                ("two files of one package", self.sound + "\n" + package, ["axle.lock", "demo"]),
                ("an unknown class", self.sound.replace('version = "1.0"', 'version = "1.0"\nclasses = ["nosuch"]'), ["axle.lock", "nosuch"]),
                ("another version than the file's", self.sound.replace('version = "1.0"', 'version = "2.0"'), ["axle.lock", "demo-1.0"]),
                ("a condition that is none", self.sound.replace('holds = "', 'holds = "nosuch ! '), ["axle.lock", "holds"])):
            with self.subTest(name):
                self.assertNotEqual(text, self.sound)
                self.lock_file.write_text(text)
                self.assert_all_refuse(READING + MAKING, said)
                self.assertEqual(self.lock_file.read_text(), text)

    def test_it_cannot_be_read(self):
        self.lock_file.unlink()
        self.lock_file.mkdir()
        self.assert_all_refuse(READING + MAKING, ["axle.lock", "is a folder"])
        self.lock_file.rmdir()
        if os.geteuid() == 0:
            self.skipTest("root reads everything")
        self.lock_file.write_text(self.sound)
        self.lock_file.chmod(0)
        self.assert_all_refuse(READING + MAKING, ["axle.lock", "Permission denied"])

    def test_it_is_absent(self):
        self.lock_file.unlink()
        self.assert_all_refuse(READING, [f"{self.folder} has no axle.lock", "`variant lock` makes it"])
        self.assert_fails(self.call("sync", "--locked"), 4, f"{self.folder} has no axle.lock")
        self.assert_fails(self.call("lock", "--check"), 4, "would change")

    def test_it_is_absent_and_one_above_is_of_another_project(self):
        inner = self.folder / "inner"
        inner.mkdir()
        (inner / "pyproject.toml").write_text(self.pyproject.read_text())
        for words in READING:
            with self.subTest(words=words):
                self.assert_fails(self.call(*words, cwd=inner), 2, f"{inner} has no axle.lock")

    def test_it_is_out_of_date(self):
        self.write_project(["demo", "other"])
        for words in (["verify"], ["tree"], ["outdated"], ["export", "--format", "requirements"], ["run", "--no-sync", "true"]):
            with self.subTest(words=words):
                said = "axle.lock is not what pyproject.toml asks for now"
                self.assertIn("warning: " + said, self.call(*words).err)
                frozen = [words[0], "--frozen", *words[1:]]
                self.assertNotIn(said, self.call(*frozen).err)
                locked = [words[0], "--locked", *words[1:]]
                self.assert_fails(self.call(*locked), 4, said)
                self.assertIn(said, self.call(*words, env={"UV_LOCKED": "1"}).err)
                self.assertEqual(self.call(*words, env={"UV_LOCKED": "1"}).code, 4)
                self.assertNotIn(said, self.call(*words, env={"UV_FROZEN": "1"}).err)


if __name__ == "__main__":
    unittest.main()
