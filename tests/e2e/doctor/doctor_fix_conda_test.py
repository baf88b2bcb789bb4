"""What conda and other tools put over one another: found, and fixed as `variant doctor` proposes."""

import base64
import hashlib
import json
import pathlib
import stat
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from path_case import PathTestCase
from support import PYTHON, Wheel, tree

# Puts the files of a package back as its record says, as `conda install --force-reinstall` does.
CONDA = """#!{python} -I
import base64, json, pathlib, sys
words = sys.argv[1:]
assert words[0] == "install" and "--force-reinstall" in words and "--yes" in words, words
prefix = pathlib.Path(words[words.index("--prefix") + 1])
name, version, build = words[-1].split("=")
record = json.loads((prefix / f"conda-meta/{{name}}-{{version}}-{{build}}.json").read_text())
for path, content in record["test_content"].items():
    (prefix / path).parent.mkdir(parents=True, exist_ok=True)
    (prefix / path).write_bytes(base64.b64decode(content))
"""


class Conda(PathTestCase):
    def setUp(self):
        super().setUp()
        self.made_prefix()
        programs = self.root / "programs"
        programs.mkdir()
        (programs / "conda").write_text(CONDA.format(python=PYTHON))
        (programs / "conda").chmod(stat.S_IRWXU)
        self.env["PATH"] = f"{programs}:{self.env['PATH']}"

    def conda_install(self, wheel, name=None, build="py311h0_0", installer="conda", in_prefix=None):
        """`in_prefix`: what conda writes where the package has its prefix."""
        members = {**wheel.members, **(in_prefix or {}), f"{wheel.dist_info}/INSTALLER": installer + "\n"}
        members[f"{wheel.dist_info}/RECORD"] = wheel.record()
        place = self.site().relative_to(self.venv)
        content = {f"{place}/{path}": text.encode() if isinstance(text, str) else text for path, text in members.items()}
        name = name or wheel.name
        record = {"name": name, "version": wheel.version, "build": build, "files": list(content),
                  "paths_data": {"paths_version": 1, "paths": [
                      {"_path": path, "path_type": "hardlink", "sha256": hashlib.sha256(data).hexdigest(),
                       "sha256_in_prefix": hashlib.sha256(data).hexdigest(), "size_in_bytes": len(data)}
                      for path, data in content.items()]},
                  "test_content": {path: base64.b64encode(data).decode() for path, data in content.items()}}
        (self.venv / "conda-meta").mkdir(exist_ok=True)
        (self.venv / "conda-meta/history").write_text("")
        (self.venv / f"conda-meta/{name}-{wheel.version}-{build}.json").write_text(json.dumps(record))
        for path, data in content.items():
            (self.venv / path).parent.mkdir(parents=True, exist_ok=True)
            (self.venv / path).write_bytes(data)

    def pip_install(self, wheel):
        info = self.put_wheel(wheel)
        (info / "INSTALLER").write_text("pip\n")
        (info / "RECORD").write_text(wheel.record() + f"{wheel.dist_info}/INSTALLER,,\n")

    def remove(self, wheel):
        """As pip does, by RECORD."""
        for path in [*wheel.members, f"{wheel.dist_info}/RECORD", f"{wheel.dist_info}/INSTALLER"]:
            (self.site() / path).unlink()
        (self.site() / wheel.dist_info).rmdir()

    def test_what_conda_and_pip_each_installed_is_sound(self):
        self.conda_install(Wheel("theirs", "1.0", files={"theirs/__init__.py": "1"}))
        self.pip_install(Wheel("mine", "1.0", files={"mine/__init__.py": "1"}))
        self.sound()

    def test_what_conda_made_with_pip_is_its_own(self):
        self.conda_install(Wheel("theirs", "1.0", files={"theirs/paths.py": "/build/prefix"}), installer="pip",
                           in_prefix={"theirs/paths.py": str(self.venv)})
        self.lacks("conda-overwritten", self.good)

    def test_pip_over_conda(self):
        old = Wheel("demo", "1.0", files={"demo/__init__.py": "1", "demo/gone.py": ""})
        self.conda_install(old)
        before = tree(self.site())
        self.remove(old)
        self.pip_install(Wheel("demo", "2.0", files={"demo/__init__.py": "2"}))
        self.assertEqual(self.pip("check", python=self.interpreter()).code, 0)  # pip sees nothing of it
        found = self.fixes("conda-overwritten", self.good)
        self.assertEqual((found["subject"], found["severity"]), ("conda's demo 1.0", "warning"))
        self.assertIn("pip installed demo 2.0 in its place", found["message"])
        self.assertIn("conda-meta/demo-1.0-py311h0_0.json", found["evidence"][0]["file"])
        self.assertEqual(tree(self.site()), before)
        self.sound()

    def test_pip_over_conda_in_the_same_version(self):
        wheel = Wheel("demo", "1.0", files={"demo/__init__.py": "1"})
        self.conda_install(wheel)
        before = tree(self.site())
        self.pip_install(wheel)
        self.finds("conda-overwritten", self.good, severity="warning")
        self.fixes("conda-overwritten", self.good)
        self.assertEqual(tree(self.site()), before)

    def test_conda_over_pip(self):
        """It leaves the other distribution where it is; the files are its own. One finding, in one direction."""
        self.pip_install(Wheel("demo", "2.0", files={"demo/__init__.py": "longer than conda's", "demo/more.py": ""}))
        self.pip_install(Wheel("numpy", "2.0.0", files={"numpy/__init__.py": "2"}))
        self.conda_install(Wheel("demo", "1.0", files={"demo/__init__.py": "1"}))
        self.conda_install(Wheel("numpy", "1.26.0", files={"numpy/__init__.py": "1"}))
        self.assertEqual([(one["code"], one["subject"], one["severity"]) for one in self.doctor(self.good)["findings"]],
                         [("conda-overwritten", "conda's demo 1.0", "error"), ("conda-overwritten", "conda's numpy 1.26.0", "error")])
        for name, own, other in (("demo", "1.0", "2.0"), ("numpy", "1.26.0", "2.0.0")):
            found = self.fixes("conda-overwritten", self.good)
            self.assertEqual(found["message"], f"conda installed it over {name} {other} of pip, and the metadata of both is there")
            self.assertIn({"file": f"{self.site().relative_to(self.venv)}/{name}/__init__.py", "section": "sha256", "fact": "is conda's"},
                          found["evidence"])
            self.assertEqual((self.installed()[name][0], (self.site() / f"{name}/__init__.py").read_text()), (own, "1"))
        self.sound()

    def test_conda_over_an_older_one_of_pips(self):
        self.pip_install(Wheel("demo", "1.0", files={"demo/__init__.py": "1"}))
        self.conda_install(Wheel("demo", "2.0", files={"demo/__init__.py": "2"}))
        found = self.fixes("conda-overwritten", self.good)
        self.assertEqual(found["message"], "conda installed it over demo 1.0 of pip, and the metadata of both is there")
        self.assertEqual((self.installed()["demo"][0], (self.site() / "demo/__init__.py").read_text()), ("2.0", "2"))
        self.sound()

    def test_pip_over_conda_without_removing_it(self):
        """pip install --ignore-installed, and --target."""
        for old, new in (("1.0", "2.0"), ("2.0", "1.0")):
            self.conda_install(Wheel("demo", old, files={"demo/__init__.py": "conda"}))
            self.pip_install(Wheel("demo", new, files={"demo/__init__.py": "pip"}))
            self.assertEqual([one["code"] for one in self.doctor(self.good)["findings"]], ["conda-overwritten"])
            found = self.fixes("conda-overwritten", self.good)
            self.assertEqual(found["message"], f"conda still has it, but pip installed demo {new} in its place, and the metadata "
                                               "of both is there")
            self.assertEqual((self.installed()["demo"][0], (self.site() / "demo/__init__.py").read_text()), (old, "conda"))
            self.sound()
            for path in (self.venv / "conda-meta").glob("demo*.json"):
                path.unlink()
            self.remove(Wheel("demo", old, files={"demo/__init__.py": "conda"}))

    def test_files_of_a_package_with_another_name(self):
        self.conda_install(Wheel("opencv-python", "4.9", files={"cv2/__init__.py": "conda"}), name="py-opencv")
        before = tree(self.site())
        self.pip_install(Wheel("opencv-extra", "4.10", files={"cv2/__init__.py": "pip"}))
        found = self.fixes("conda-overwritten", self.good)
        self.assertEqual((found["subject"], found["severity"]), ("conda's py-opencv 4.9", "error"))
        self.assertIn("cv2/__init__.py", json.dumps(found["evidence"]))
        self.assertEqual(tree(self.site()), before)
        self.sound()

    def test_what_pip_removed(self):
        wheel = Wheel("demo", "1.0", files={"demo/__init__.py": "1"})
        self.conda_install(wheel)
        self.remove(wheel)
        found = self.fixes("conda-overwritten", self.good)
        self.assertIn("another tool removed it", found["message"])
        self.sound()

    def test_records_that_cannot_be_read(self):
        self.conda_install(Wheel("demo", "1.0"))
        for text in ("", "[]", "{", '{"name": 1, "paths_data": []}', '{"paths_data": {"paths": [1, {"_path": 2}]}}', "\0"):
            (self.venv / "conda-meta/odd.json").write_text(text)
            self.lacks("conda-overwritten", self.good)


if __name__ == "__main__":
    unittest.main()
