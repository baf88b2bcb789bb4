"""A lock that was made with other indexes than those that are named now: as uv does it."""

import pathlib
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1]), str(pathlib.Path(__file__).resolve().parents[1] / "settings")]
from settings_case import SettingsCase
from support import PYTHON, Wheel

PROJECT = '[project]\nname = "p"\nversion = "0.1"\nrequires-python = ">=3.9"\ndependencies = ["demo"]\n'


class OtherIndexes(SettingsCase):
    def setUp(self):
        super().setUp()
        self.env.update(UV_CACHE_DIR=str(self.root / "uv-cache"), UV_PYTHON_DOWNLOADS="never", PIP_CONFIG_FILE="/dev/null")
        self.env["PATH"] = f"{pathlib.Path(PYTHON).parent}:{self.env['PATH']}"
        self.a, self.b = self.put("a", "1.0"), self.put("b", "1.0", "2.0")
        self.newer = self.put("c", "3.0")
        self.twin = self.root / "twin"
        self.twin.mkdir()
        for folder in (self.project, self.twin):
            (folder / "pyproject.toml").write_text(PROJECT)

    def sources(self):
        """Which index each lock has `demo` from, and in which version."""
        ours, theirs = (self.project / "axle.lock").read_text(), (self.twin / "uv.lock").read_text()
        of = lambda text: [name for name in "abc" if f'"{self.server.url(name)}' in text.split("[[package]]")[-1 if text is ours else 1]]
        version = lambda text: text.split('name = "demo"\nversion = "')[1].split('"')[0]
        return (of(ours), version(ours)), (of(theirs), version(theirs))

    def both(self, *words, env=None):
        ours = self.variant(*words, cwd=self.project, env=env)
        theirs = self.uv(*words, cwd=self.twin, env=env)
        self.assertEqual(ours.code == 0, theirs.code == 0, f"ours: {ours}\ntheirs: {theirs}")
        return ours

    def test_as_uv(self):
        for words, env in ((["lock", "--default-index", self.b], {}), (["lock", "--index-url", self.b], {}),
                           (["lock"], {"UV_DEFAULT_INDEX": self.b}), (["lock"], {"UV_INDEX_URL": self.b}),
                           (["lock", "--default-index", self.a, "--index", self.b], {}),
                           (["lock", "--default-index", self.a, "--extra-index-url", self.newer], {}),
                           (["lock", "--default-index", self.b, "--index", self.a], {}),
                           (["lock", "--default-index", self.newer], {}),
                           (["sync", "--default-index", self.b], {}), (["sync", "--default-index", self.a], {}),
                           (["lock", "--check", "--default-index", self.b], {}), (["lock", "--check", "--default-index", self.a], {}),
                           (["sync", "--locked", "--default-index", self.b], {}), (["sync", "--locked"], {"UV_DEFAULT_INDEX": self.b}),
                           (["sync", "--frozen", "--default-index", self.b], {}),
                           (["lock", "--no-index"], {})):
            with self.subTest(words=words, env=env):
                for folder in (self.project, self.twin):
                    for name in ("axle.lock", "uv.lock"):
                        (folder / name).unlink(missing_ok=True)
                self.both("lock", "--default-index", self.a)
                self.both(*words, env=env)
                ours, theirs = self.sources()
                self.assertEqual(ours, theirs)

    def test_what_is_said(self):
        self.assert_ok(self.variant("lock", "--default-index", self.a, cwd=self.project))
        said = f"demo comes from {self.a}, which is none of the places that --default-index leaves"
        self.assert_fails(self.variant("sync", "--locked", "--default-index", self.b, cwd=self.project), 4, said, "variant lock")
        self.assert_fails(self.variant("sync", "--locked", cwd=self.project, env={"PIP_INDEX_URL": self.b}), 4, "PIP_INDEX_URL")
        self.assertIn(said, self.variant("lock", "--verbose", "--default-index", self.b, cwd=self.project).err)
        self.assert_ok(self.variant("sync", "--locked", "--default-index", self.b + "/", cwd=self.project))

    def test_folders_and_pages_of_files(self):
        for place in (self.project / "wheels", self.root / "elsewhere"):
            place.mkdir()
            Wheel("demo", "1.0").write(place)
            named = ["--no-index", "--find-links", place]
            with self.subTest(place):
                self.assert_ok(self.variant("lock", *named, cwd=self.project))
                before = (self.project / "axle.lock").read_text()
                for words, env in ((named, {}), (["--find-links", place], {}), ([], {"UV_FIND_LINKS": str(place)}), ([], {"PIP_FIND_LINKS": str(place)}),
                                   (["--find-links", f"{self.project}/../{place.relative_to(self.root)}/"], {}),
                                   (["--default-index", self.a, "--find-links", place.as_uri()], {})):
                    self.assert_ok(self.variant("lock", "--check", *words, cwd=self.project, env=env))
                self.assert_fails(self.variant("sync", "--locked", "--default-index", self.a, cwd=self.project), 4, "demo comes from")
                self.assert_ok(self.variant("sync", "--locked", cwd=self.project))
                self.assertEqual((self.project / "axle.lock").read_text(), before)
                (self.project / "axle.lock").unlink()

    def test_indexes_of_the_project_are_there_always(self):
        (self.project / "pyproject.toml").write_text(PROJECT + f'[[tool.uv.index]]\nname = "own"\nurl = "{self.a}"\nexplicit = true\n'
                                                     '[tool.uv.sources]\ndemo = { index = "own" }\n')
        self.assert_ok(self.variant("lock", cwd=self.project))
        for words in (["--default-index", self.b], ["--index", self.newer]):
            self.assert_ok(self.variant("sync", "--locked", *words, cwd=self.project))

    def test_a_login_is_no_other_index(self):
        with_login = self.a.replace("http://", "http://user:secret@")
        self.assert_ok(self.variant("lock", "--default-index", with_login, cwd=self.project))
        self.assertNotIn("secret", (self.project / "axle.lock").read_text())
        for url in (self.a, with_login):
            self.assert_ok(self.variant("lock", "--check", "--default-index", url, cwd=self.project))

    def test_files_of_this_machine_do_not_count(self):
        self.assert_ok(self.variant("lock", "--default-index", self.a, cwd=self.project))
        before = (self.project / "axle.lock").read_text()
        (self.root / "pip.conf").write_text(f"[global]\nindex-url = {self.b}\n")
        self.assert_ok(self.variant("sync", "--locked", cwd=self.project, env={"PIP_CONFIG_FILE": str(self.root / "pip.conf")}))
        self.assertEqual((self.project / "axle.lock").read_text(), before)


if __name__ == "__main__":
    unittest.main()
