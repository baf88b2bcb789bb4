"""-e: a project in a folder is installed, and its modules are used where they are (PEP 660)."""

import json
import pathlib
import shutil
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from sdist_case import BuildCase
from support import Wheel

HOOK = '''
def build_editable(folder, config_settings=None, metadata_directory=None):
    name = "demo-1.0-0.editable-py3-none-any.whl"
    note("editable " + os.getcwd())
    shutil.copy("editable.whl", os.path.join(folder, name))
    return name
'''


class EditableCase(BuildCase):
    """demo 1.0 in `proj`: its ordinary wheel has the module, its editable one the path of `proj/src`."""

    def setUp(self):
        super().setUp()
        self.project = self.make_project("proj")
        Wheel("dep", "1.0").write(self.root / "wheels")
        Wheel("extra", "1.0").write(self.root / "wheels")
        self.common = ["--no-index", "--find-links", self.root / "wheels"]

    def make_project(self, name, hook=HOOK):
        needs = {"requires": ["dep"], "extra_metadata": "Provides-Extra: x\nRequires-Dist: extra; extra == 'x'\n"}
        project = self.sdist("demo", "1.0", makes=[Wheel("demo", "1.0", files={"demo.py": "PLACE = 'site'\n"}, **needs)])
        project.members["backend.py"] += hook
        project.members["editable.whl"] = Wheel("demo", "1.0", files={"_demo.pth": f"{self.root / name}/src\n"}, **needs).bytes()
        project.members["src/demo.py"] = "PLACE = 'source'\n"
        return project.write(self.root / name)

    def ours(self, *arguments, command="install", **options):
        return self.variant(command, *arguments, *self.common, "--python", self.venv, **options)

    def record(self, venv=None):
        return json.loads((self.site(venv) / "demo-1.0.dist-info/direct_url.json").read_text())

    def place(self):
        return self.python("import demo; print(demo.PLACE)")


class Editable(EditableCase):
    def test_its_modules_are_used_where_they_are(self):
        self.assert_ok(self.ours("-e", "./proj"))
        self.assertEqual((self.place(), self.built()), ("source", [f"editable {self.project}"]))
        (self.project / "src/demo.py").write_text("PLACE = 'changed'\n")
        self.assertEqual(self.place(), "changed")
        self.assertEqual(sorted(self.installed()), ["demo", "dep"])
        self.assert_ok(self.variant("check", "--deep", "--python", self.venv))
        self.assert_ok(self.pip("check"))
        self.assert_ok(self.uv("pip", "check", "--python", self.venv / "bin/python"))
        self.assert_ok(self.variant("uninstall", "demo", "--python", self.venv))
        self.assertEqual((self.project / "src/demo.py").read_text(), "PLACE = 'changed'\n")
        self.assertFalse((self.site() / "_demo.pth").exists())

    def test_the_same_as_pip(self):
        """What is recorded, listed and frozen."""
        other = self.make_venv(self.root / "other")
        self.assert_ok(self.ours("-e", "./proj[x]"))
        self.assert_ok(self.pip("install", "-e", "./proj[x]", *self.common, python=other / "bin/python"))
        self.assertEqual(self.record(), self.record(other))
        self.assertEqual(self.record(), {"url": f"file://{self.project}", "dir_info": {"editable": True}})
        ours = json.loads(self.assert_ok(self.variant("list", "--format", "json", "--python", self.venv)).out)
        both = [json.loads(self.assert_ok(self.pip("list", "--format", "json", "--exclude", "pip", python=venv / "bin/python")).out)
                for venv in (self.venv, other)]
        self.assertEqual([one for one in ours if one["name"] != "pip"], both[1])
        self.assertEqual(both[0], both[1])
        frozen = self.assert_ok(self.variant("freeze", "--python", self.venv)).out.splitlines()
        theirs = self.assert_ok(self.pip("freeze", "--exclude", "pip", python=other / "bin/python")).out.splitlines()
        self.assertEqual([line for line in frozen if line[0] != "#"], [line for line in theirs if line[0] != "#"])
        self.assertEqual([line for line in frozen if line[0] == "#"], ["# Editable install (demo==1.0)"])
        file = self.file("frozen.txt", "\n".join(line for line in frozen if line.startswith("-e")) + "\n")
        self.assert_ok(self.ours("-r", file, "--dry-run"))

    def test_forms(self):
        group = self.file("needs.txt", "")
        for form in ("proj", "./proj", f"{self.project}", f"file://{self.project}", f"demo @ file://{self.project}", "./proj ; python_version > '3'"):
            with self.subTest(form):
                for spelled in (["-e", form], [f"--editable={form}"], ["-r", group]):
                    group.write_text(f"-e {form}\n")
                    answer = self.assert_ok(self.ours(*spelled, "--dry-run", "--json"))
                    self.assertEqual([one["name"] for one in answer.json["installed"]], ["demo", "dep"])
        self.assertEqual(set(self.built()), {f"editable {self.project}"})
        before = len(self.built())
        self.assert_ok(self.ours("-e", "./proj ; python_version < '3'", "--dry-run"))
        self.assertEqual(len(self.built()), before)

    def test_one_place_that_is_both(self):
        self.assert_ok(self.ours("./proj", "-e", "./proj"))
        self.assertEqual((self.place(), self.built()), ("source", [f"editable {self.project}"]))
        self.assert_ok(self.ours("./proj"))
        self.assertEqual((self.place(), self.record()["dir_info"]), ("site", {}))

    def test_no_editable(self):
        self.file("proj/pyproject.toml", (self.project / "pyproject.toml").read_text() + "[project]\nname = 'demo'\nversion = '1.0'\n")
        for arguments, env in ((["--no-editable"], {}), (["--no-editable-package", "demo"], {}), ([], {"UV_NO_EDITABLE": "1"})):
            self.assert_ok(self.ours("-e", "./proj", *arguments, env=env))
            self.assertEqual(self.place(), "site")

    def test_a_project_that_is_synchronised(self):
        """In either way; verify takes what was built for what is locked, and not the other way of installing it."""
        path = self.project / "pyproject.toml"
        path.write_text(path.read_text() + "[project]\nname = 'demo'\nversion = '1.0'\nrequires-python = '>=3.8'\ndependencies = ['dep']\n")
        shutil.copytree(self.venv, self.project / ".venv", symlinks=True)
        for chosen, other, place in (([], ["--no-editable"], "source"), (["--no-editable"], [], "site")):
            with self.subTest(chosen):
                self.assert_ok(self.variant("sync", *chosen, *self.common, cwd=self.project))
                self.assertEqual(self.python("import demo; print(demo.PLACE)", self.project / ".venv"), place)
                self.assert_ok(self.variant("verify", *chosen, cwd=self.project))
                self.assert_fails(self.variant("verify", *other, cwd=self.project), 4, "demo 1.0 is installed", "the project itself is locked")

    def test_sources_of_a_project(self):
        (self.root / "app").mkdir()
        self.file("app/pyproject.toml", "[project]\nname = 'app'\nversion = '1'\ndependencies = ['demo']\n"
                                        "[tool.uv.sources]\ndemo = {path = '../proj', editable = true}\n")
        other = self.make_venv(self.root / "other")
        self.assert_ok(self.ours("-r", "pyproject.toml", cwd=self.root / "app"))
        self.assert_ok(self.uv("pip", "install", "-r", "pyproject.toml", *self.common, "--python", other / "bin/python", cwd=self.root / "app"))
        self.assertEqual(self.record()["dir_info"], self.record(other)["dir_info"])
        self.assertEqual(self.place(), "source")

    def test_with_uv_alone(self):
        self.with_uv_only()
        self.assert_ok(self.ours("-e", "./proj"))
        self.assertEqual(self.place(), "source")


class Refused(EditableCase):
    def test_what_is_no_folder(self):
        for form, words in (("git+https://h.example/x#egg=x", "not a folder"), ("./wheels/dep-1.0-py3-none-any.whl", "not a folder"),
                            ("demo @ https://h.example/demo.zip", "not a folder"), ("./nothing", "does not exist"), ("wheels", "no Python project")):
            with self.subTest(form):
                result = self.ours("-e", form)
                self.assertIn(result.code, (1, 2))
                self.assertIn(words, result.err)

    def test_where_it_may_not_stand(self):
        limits = self.file("limits.txt", "-e ./proj\n")
        self.assert_fails(self.ours("dep", "-c", limits), 1, "limits.txt:1", "not allowed in constraints")
        self.server.answers["/needs.txt"] = (200, {}, "-e ./proj\n")
        self.assert_fails(self.ours("-r", self.server.url("/needs.txt")), 1, "needs.txt:1", "a file of a server")
        self.assert_fails(self.ours("-e", "./proj", "--require-hashes"), 1, "folders and repositories have none")
        self.assert_fails(self.ours("dep", env={"PIP_EDITABLE": "./proj"}), 2, "PIP_EDITABLE", "--editable DIR")
        self.assertEqual(self.built(), [])

    def test_a_backend_that_cannot(self):
        self.make_project("old", hook="")
        self.assert_fails(self.ours("-e", "./old"), 1, "makes no editable wheels (PEP 660)")
        self.assertEqual(self.installed(), {})


if __name__ == "__main__":
    unittest.main(verbosity=2)
