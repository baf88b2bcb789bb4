"""Sources in a project: what they need is locked for every class of machines, and nothing of them is built for that."""

import os
import pathlib
import shutil
import sys
import tomllib
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "builds"))
from sdist_case import BuildCase
from support import Wheel

CLASSES = """[tool.axle.machines]
here = "this one"
win = "windows;x86_64:v3"
mac = "macos:15"
train = "h100"
"""
# What it needs is in its pyproject.toml; a build of it stops.
STATED = """[project]
name = "Part.One"
version = "1.2"
requires-python = ">=3.9"
dependencies = ["plain>=1", "winpart; sys_platform == 'win32'"]
[project.optional-dependencies]
Fast = ["quick; sys_platform != 'darwin'"]
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
"""
STOPS = "import sys\nsys.exit('nobody asked for a build')\n"
# What it needs only its backend says; a wheel of it is not to be made.
PREPARES = """
import os
def prepare_metadata_for_build_{product}(folder, config_settings=None):
    os.mkdir(os.path.join(folder, "part_one-1.3.dist-info"))
    with open(os.path.join(folder, "part_one-1.3.dist-info", "METADATA"), "w") as file:
        file.write("Metadata-Version: 2.1\\nName: part-one\\nVersion: 1.3\\nRequires-Dist: plain\\n"
                   "Requires-Dist: winpart; sys_platform == 'win32'\\n")
    return "part_one-1.3.dist-info"
def build_{product}(folder, config_settings=None, metadata_directory=None):
    raise SystemExit("nobody asked for a build")
"""
DYNAMIC = """[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
"""


class SourcesCase(BuildCase):
    def setUp(self):
        super().setUp()
        self.project = self.root / "work/project"
        self.part = self.root / "work/part"
        self.project.mkdir(parents=True)
        self.wheels = self.root / "wheels"
        for name in ("plain", "winpart", "quick", "added"):
            Wheel(name, "1.0").write(self.wheels)

    def write(self, dependencies=("part-one[fast]",), source='path = "../part"', classes=CLASSES):
        sources = f"[tool.uv.sources]\npart-one = {{ {source} }}\n" if source else ""
        (self.project / "pyproject.toml").write_text(
            '[project]\nname = "whole"\nversion = "0.1"\nrequires-python = ">=3.9"\n'
            f"dependencies = {list(dependencies)!r}\n{sources}{classes}")

    def write_part(self, pyproject, backend):
        self.part.mkdir(exist_ok=True)
        (self.part / "pyproject.toml").write_text(pyproject)
        (self.part / "backend.py").write_text(backend)

    def call(self, *arguments, **options):
        return self.variant(*arguments, "--no-index", "--find-links", self.wheels, cwd=self.project, **options)

    def lock(self):
        return tomllib.loads((self.project / "axle.lock").read_text())

    def locked(self, name):
        return {one["name"]: one["version"] for one in self.lock()["package"] if name in one.get("classes", [name])}

    def part_locked(self):
        return next(one for one in self.lock()["package"] if one["name"] == "part-one")


class LockedSources(SourcesCase):
    def test_what_is_stated_is_locked_without_running_anything(self):
        self.write_part(STATED, STOPS)
        for source in ('path = "../part"', 'path = "../part", editable = true'):
            self.write(source=source)
            # Neither pip nor uv is there: nothing needs them.
            self.assert_ok(self.call("lock", "--upgrade", "--python", sys.executable, env={**self.env, "PATH": "/nonexistent"}))
            everywhere = {"part-one": "1.2", "plain": "1.0"}
            self.assertEqual(self.locked("here"), {**everywhere, "quick": "1.0"})
            self.assertEqual(self.locked("train"), {**everywhere, "quick": "1.0"})
            self.assertEqual(self.locked("win"), {**everywhere, "quick": "1.0", "winpart": "1.0"})
            self.assertEqual(self.locked("mac"), everywhere)
            self.assertEqual(self.part_locked()["built-from"]["url"], "../part")
            self.assertEqual(self.part_locked()["built-from"].get("editable", False), "editable" in source)
        self.assertFalse(self.log.exists())

    def test_requirements_are_those_that_uv_locks(self):
        self.write_part(STATED, STOPS)
        self.write(classes="")
        self.assert_ok(self.call("lock", "--python", sys.executable))
        done = self.uv("lock", "--no-index", "--find-links", self.wheels, "--no-config", "--no-cache", "--python", sys.executable, cwd=self.project)
        self.assertEqual(done.code, 0, done)
        theirs = tomllib.loads((self.project / "uv.lock").read_text())
        part = next(one for one in theirs["package"] if one["name"] == "part-one")
        self.assertEqual(part["version"], self.part_locked()["version"])
        self.assertEqual(part["source"]["directory"], self.part_locked()["built-from"]["url"])
        self.assertEqual({one["name"] for one in theirs["package"] if "winpart" != one["name"]} - {"whole"}, set(self.locked("default")))

    def test_a_backend_is_asked_for_metadata_alone(self):
        for product, source in (("wheel", 'path = "../part"'), ("editable", 'path = "../part", editable = true')):
            with self.subTest(product=product):
                self.write_part(DYNAMIC, PREPARES.format(product=product))
                self.write(["part-one"], source)
                self.assert_ok(self.call("lock", "--upgrade"))
                self.assertEqual(self.locked("win"), {"part-one": "1.3", "plain": "1.0", "winpart": "1.0"})
                self.assertEqual(self.locked("train"), {"part-one": "1.3", "plain": "1.0"})

    def test_a_backend_that_prepares_none_builds_the_wheel(self):
        made = Wheel("part-one", "1.4", requires=["plain"], tags="py3-none-linux_x86_64")
        self.sdist("part-one", "1.4", makes=[made]).write(self.part)
        self.write(["part-one"])
        self.assert_ok(self.call("lock"))
        self.assertEqual(self.locked("win"), {"part-one": "1.4", "plain": "1.0"})
        self.assertEqual({one["holds"] for one in self.lock()["class"]}, {"any machine"})
        self.assertEqual(self.log.read_text(), "part-one 1.4\n")

    def test_an_index_s_source_distribution_says_what_it_needs(self):
        source = self.sdist("part-one", "1.5", before="raise SystemExit('nobody asked for a build')")
        source.members["PKG-INFO"] = "Metadata-Version: 2.2\nName: part-one\nVersion: 1.5\nRequires-Dist: plain\n"
        (self.wheels / source.file_name).write_bytes(source.bytes())
        self.write(["part-one"], source=None)
        refused = self.call("lock")
        self.assertEqual(refused.code, 3, refused)
        self.assertIn("--build=part-one", str(refused))
        self.assert_ok(self.call("lock", "--build=part-one"))
        self.assertEqual(self.locked("win"), {"part-one": "1.5", "plain": "1.0"})
        # Of a PKG-INFO whose requirements are dynamic nobody knows them before a build.
        source.members["PKG-INFO"] += "Dynamic: Requires-Dist\n"
        (self.wheels / source.file_name).write_bytes(source.bytes())
        failed = self.call("lock", "--upgrade", "--build=part-one")
        self.assertEqual(failed.code, 3, failed)
        self.assertIn("nobody asked for a build", str(failed))

    def test_a_change_of_what_sources_need_is_noticed(self):
        self.write_part(STATED, STOPS)
        self.write()
        self.assert_ok(self.call("lock"))
        self.assert_ok(self.call("lock", "--check"))
        (self.part / "module.py").write_text("x = 1\n")
        self.assert_ok(self.call("lock", "--check"))
        self.write_part(STATED.replace('"plain>=1"', '"plain>=1", "added"'), STOPS)
        self.assertNotEqual(self.call("lock", "--check").code, 0)
        self.assert_ok(self.call("lock"))
        self.assertEqual(self.locked("mac"), {"part-one": "1.2", "plain": "1.0", "added": "1.0"})

    def test_a_checkout_that_is_moved_keeps_its_lock(self):
        made = Wheel("part-one", "1.4", requires=["plain"])
        self.sdist("part-one", "1.4", makes=[made]).write(self.part)
        self.write(["part-one"])
        self.assert_ok(self.call("lock"))
        shutil.move(self.root / "work", self.root / "else where")
        self.project = self.root / "else where/project"
        self.assert_ok(self.call("lock", "--check"))
        self.make_venv(self.project / ".venv")
        (self.site(self.project / ".venv") / "a_pip.pth").write_text(f"{self.root / 'pip'}\n")
        self.assert_ok(self.call("sync", "--locked"))
        self.assertEqual(sorted(path.name for path in self.site(self.project / ".venv").glob("*.dist-info")),
                         ["part_one-1.4.dist-info", "plain-1.0.dist-info"])

    def test_what_is_wrong_with_sources(self):
        self.write_part(STATED.replace('"1.2"', '"no version"'), STOPS)
        self.write()
        bad = self.call("lock")
        self.assertEqual(bad.code, 1, bad)
        self.assertIn("class here: part-one could not be built from part", str(bad))
        self.write_part(STATED.replace("Part.One", "other"), STOPS)
        other = self.call("lock")
        self.assertEqual(other.code, 1, other)
        self.assertIn("other", str(other))
        shutil.rmtree(self.part)
        gone = self.call("lock")
        self.assertEqual(gone.code, 1, gone)
        self.assertIn("does not exist", str(gone))
        self.assertFalse((self.project / "axle.lock").exists())


class BuiltSources(SourcesCase):
    """What is built at `sync` beside what is locked. The environment has pip."""

    def setUp(self):
        super().setUp()
        self.make_venv(self.project / ".venv")
        (self.site(self.project / ".venv") / "a_pip.pth").write_text(f"{self.root / 'pip'}\n")

    def there(self):
        return sorted(path.name.removesuffix(".dist-info") for path in self.site(self.project / ".venv").glob("*.dist-info"))

    def test_a_folder_that_has_another_version_now_is_said(self):
        self.sdist("part-one", "1.4").write(self.part)
        self.write(["part-one"], classes="")
        self.assert_ok(self.call("lock"))
        shutil.rmtree(self.part)
        self.sdist("part-one", "1.5", makes=[Wheel("part-one", "1.5", requires=["added"])]).write(self.part)
        done = self.assert_ok(self.call("sync", "--locked"))
        self.assertIn("part-one was built from part: it is 1.5, and 1.4 is locked", str(done))
        self.assertEqual(self.there(), ["part_one-1.5"])
        self.assert_ok(self.call("lock", "--upgrade-package", "part-one"))
        self.assertEqual(self.locked("default"), {"part-one": "1.5", "added": "1.0"})

    def test_a_folder_that_needs_more_now_is_said(self):
        self.sdist("part-one", "1.4").write(self.part)
        self.write(["part-one"], classes="")
        self.assert_ok(self.call("lock"))
        shutil.rmtree(self.part)
        self.sdist("part-one", "1.4", makes=[Wheel("part-one", "1.4", requires=["added>=1", "quick; sys_platform == 'win32'"])]).write(self.part)
        self.assertIn("it needs added>=1, which is not locked", str(self.assert_ok(self.call("sync", "--locked"))))

    def test_an_archive_that_lies_is_refused(self):
        source = self.sdist("part-one", "1.0")
        source.members["PKG-INFO"] = "Metadata-Version: 2.2\nName: part-one\nVersion: 9.9\n"
        place = self.root / "work" / source.file_name
        place.write_bytes(source.bytes())
        self.write([f"part-one @ {place.as_uri()}"], source=None, classes="")
        self.assert_ok(self.call("lock"))
        self.assertEqual(self.locked("default"), {"part-one": "9.9"})
        self.assert_fails(self.call("sync"), 1, "it is 1.0, and 9.9 is locked")
        self.assertEqual(self.there(), [])

    def test_nothing_is_built_because_another_package_names_it(self):
        far = self.sdist("far", "1.0")
        place = self.root / far.file_name
        place.write_bytes(far.bytes())
        self.write_part(STATED.replace('"plain>=1"', f'"far @ {place.as_uri()}"').replace('build-backend = "backend"\nbackend-path = ["."]', ""), "")
        self.write(["part-one"], classes="")
        self.assert_fails(self.call("lock"), 1, "--build=far")
        self.assert_ok(self.call("lock", "--build=far"))
        self.log.unlink(missing_ok=True)
        self.assert_fails(self.call("sync", "--locked", "--no-cache"), 1, "the metadata of another package names it", "--build=far")
        self.assertFalse(self.log.exists())
        self.write(["part-one", f"far @ {place.as_uri()}"], classes="")
        self.assert_ok(self.call("lock"))


class OddSources(SourcesCase):
    def test_each_of_two_folders_counts(self):
        other = self.root / "work/other"
        self.write_part(STATED, STOPS)
        shutil.copytree(self.part, other)
        self.write(["part-one"], source=None)
        with (self.project / "pyproject.toml").open("a") as file:
            file.write("""[tool.uv.sources]
part-one = [{ path = "../part", marker = "sys_platform == 'linux'" }, { path = "../other", marker = "sys_platform != 'linux'" }]
""")
        self.assert_ok(self.call("lock"))
        self.assert_ok(self.call("lock", "--check"))
        (other / "pyproject.toml").write_text(STATED.replace('"plain>=1"', '"plain>=1", "added"'))
        self.assert_fails(self.call("lock", "--check"), 4)
        self.assert_ok(self.call("lock"))
        self.assertIn("added", self.locked("mac"))
        self.assertNotIn("added", self.locked("here"))

    def test_where_poetry_has_a_table_of_its_own_its_backend_is_asked(self):
        self.write_part('[project]\nname = "part-one"\nversion = "1.3"\n[tool.poetry.dependencies]\nplain = "*"\n' + DYNAMIC,
                        PREPARES.format(product="wheel"))
        self.write(["part-one"])
        self.assert_ok(self.call("lock"))
        self.assertEqual(self.locked("here"), {"part-one": "1.3", "plain": "1.0"})

    def test_versions_and_names_that_are_not_normalised(self):
        source = self.sdist("part-one", "1.0.post1")
        source.members["PKG-INFO"] = "Metadata-Version: 2.2\nName: Part.One  \nVersion: 1.0-1 \n"
        place = self.root / "work" / source.file_name
        place.write_bytes(source.bytes())
        self.write([f"part-one @ {place.as_uri()}"], source=None)
        self.assert_ok(self.call("lock"))
        # Whoever writes an absolute place means that one, wherever the checkout is.
        self.assertEqual(self.part_locked()["built-from"]["url"], place.as_uri())
        self.assertEqual(self.locked("win"), {"part-one": "1.0.post1"})

    def test_a_project_in_an_archive_is_exported_with_its_folder(self):
        self.write_part(STATED, STOPS)
        archive = shutil.make_archive(str(self.root / "mono"), "zip", self.part.parent, "part")
        url = pathlib.Path(archive).as_uri()
        self.write(["part-one"], source=f'url = "{url}", subdirectory = "part"')
        shutil.make_archive(str(self.root / "mono"), "zip", self.root / "work")
        self.assert_ok(self.call("lock"))
        lines = self.assert_ok(self.variant("export", "--class", "here", "--format", "requirements", cwd=self.project)).out
        self.assertIn(f"part-one @ {url}#subdirectory=part ", lines)

    def test_a_project_below_a_folder_is_exported_with_its_own(self):
        self.write_part(STATED, STOPS)
        self.write([f"part-one @ {self.part.parent.as_uri()}#subdirectory=part"], source=None)
        self.assert_ok(self.call("lock"))
        text = self.assert_ok(self.variant("export", "--class", "here", "--format", "uv-sources", cwd=self.project)).out
        self.assertEqual(tomllib.loads(text)["tool"]["uv"]["sources"]["part-one"], {"path": str(self.part)})

    def test_a_folder_without_an_utf_8_path(self):
        odd = pathlib.Path(os.fsdecode(os.fsencode(self.root) + b"/odd\xff"))
        odd.mkdir()
        shutil.move(self.root / "work", odd)
        self.project = odd / "work/project"
        self.part = self.project.parent / "part"
        self.write_part(DYNAMIC, PREPARES.format(product="wheel"))
        self.write(["part-one"])
        self.assert_fails(self.call("lock"), 1, "UTF-8")


if __name__ == "__main__":
    unittest.main()
