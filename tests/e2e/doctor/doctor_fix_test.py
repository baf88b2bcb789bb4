"""What `variant doctor` proposes is run as it stands, in a shell, and what it reports is gone after it: packages and their
files, here; builds and surroundings in doctor_fix_builds_test.py."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from doctor_case import CODES, PROPOSES_NOTHING, level_cpu
from fix_case import FixTestCase
from made_library import library
from support import X86_PROVIDER, Wheel, variant_document


class Records(FixTestCase):
    def setUp(self):
        super().setUp()
        self.wheel = Wheel("demo", "1.0", files={"demo/__init__.py": "x = 1\n", "demo/data.bin": "0123"})
        self.publish(self.wheel, Wheel("demo", "2.0"))

    def test_a_record_that_is_missing_or_malformed(self):
        for damage in (None, '"never closed', "", "\n\n"):
            with self.subTest(damage=damage):
                info = self.put_wheel(self.wheel)
                (info / "RECORD").unlink()
                if damage is not None:
                    (info / "RECORD").write_text(damage)
                self.fixes("dist-info-broken", self.good)
                self.assertEqual(self.installed()["demo"], ("1.0", None))
                self.sound()

    def test_metadata_that_is_missing_or_malformed(self):
        for damage in (None, "no metadata at all"):
            for record in (True, False):
                with self.subTest(damage=damage, record=record):
                    info = self.put_wheel(self.wheel)
                    (info / "METADATA").unlink()
                    if damage:
                        (info / "METADATA").write_text(damage)
                    if not record:
                        (info / "RECORD").unlink()
                    self.fixes("dist-info-broken", self.good)
                    self.assertEqual(self.installed()["demo"], ("1.0", None))
                    self.sound()

    def test_a_package_that_is_installed_twice(self):
        for record in (True, False):
            with self.subTest(record=record):
                self.put_wheel(self.wheel)
                older = self.put_wheel(Wheel("demo", "0.9", files={"demo/old.py": ""}))
                if not record:
                    (older / "RECORD").unlink()
                    (self.site() / "demo/old.py").unlink()
                self.fixes("dist-info-broken", self.good)
                self.assertEqual(self.installed()["demo"], ("1.0", None))
                self.sound()

    def test_the_ruin_of_an_old_version_beside_a_sound_new_one(self):
        self.put_wheel(self.wheel)
        (self.put_wheel(Wheel("demo", "0.9", files={"demo/__init__.py": "x = 1\n"})) / "METADATA").unlink()
        self.fixes("dist-info-broken", self.good)
        self.assertEqual(self.installed()["demo"], ("1.0", None))
        self.sound()

    def test_what_pip_left_behind_and_a_folder_without_a_name(self):
        for name in ("~emo-1.0.dist-info", "no name at all.dist-info"):
            with self.subTest(name=name):
                folder = self.site() / name
                folder.mkdir()
                (folder / "it's").write_text("")
                self.fixes("dist-info-broken", self.good)
                self.assertFalse(folder.exists())

    def test_a_record_folder_that_holds_nothing(self):
        """The index may never have had such a package: there is nothing to install again."""
        folder = self.site() / "ghost-1.0.dist-info"
        for make in (folder.mkdir, lambda: folder.write_text("x")):
            with self.subTest(make=make):
                make()
                self.fixes("dist-info-broken", self.good)
                self.assertFalse(folder.exists())

    def test_a_variant_keeps_its_label(self):
        document = variant_document({"v2": [("x86_64", "level", ["v2"])], "v3": [("x86_64", "level", ["v3"])]})
        for label in ("v2", "v3"):
            self.publish(Wheel("fast", "1.0", label, document, {"fast.py": ""}))
        self.index.add_variants("fast", "1.0", document)
        for broken in ("RECORD", "variant.json"):
            with self.subTest(broken=broken):
                info = self.put_wheel(Wheel("fast", "1.0", "v2", document, {"fast.py": ""}))
                (info / broken).unlink()
                if broken == "variant.json":
                    (info / broken).write_text("{")
                self.fixes("dist-info-broken", self.good)
                if broken == "RECORD":
                    self.assertEqual(self.installed()["fast"], ("1.0", "v2"))
                self.sound()
        info = self.put_wheel(Wheel("fast", "1.0", "v3", document, {"fast.py": ""}))
        shutil.rmtree(self.site() / "fast-1.0.dist-info")
        info = self.put_wheel(Wheel("fast", "1.0", "v3", document, {"fast.py": ""}))
        (info / "RECORD").unlink()
        old = self.healthy_machine(cpu=level_cpu(2))  # which v3 does not fit
        self.fixes("dist-info-broken", old)
        self.assertEqual(self.installed()["fast"], ("1.0", "v2"))

    def test_a_wheel_that_was_named_by_its_path_comes_from_there(self):
        file = Wheel("only-here", "1.0", files={"only_here.py": ""}).write(self.root / "wheels of mine")
        self.assert_ok(self.install(file))
        (self.site() / "only_here-1.0.dist-info/RECORD").unlink()
        self.fixes("dist-info-broken", self.good)
        self.assertIn("wheels%20of%20mine", (self.site() / "only_here-1.0.dist-info/direct_url.json").read_text())
        self.sound()

    def test_a_project_comes_from_its_folder_by_whoever_installed_it(self):
        for program in ("pip", "uv", "variant"):
            with self.subTest(program=program):
                self.need("uv" if program == "variant" else program)
                project = self.root / f"{program}'s project"
                (project / "backend").mkdir(parents=True)
                name = f"of-{program}"
                wheel = Wheel(name, "1.0", files={f"of_{program}.py": ""})
                (project / "wheel").write_bytes(wheel.bytes())
                (project / "pyproject.toml").write_text(
                    f'[build-system]\nrequires = []\nbuild-backend = "copy_it"\nbackend-path = ["backend"]\n'
                    f'[project]\nname = "{name}"\nversion = "1.0"\n')
                (project / "backend/copy_it.py").write_text(
                    "import shutil\ndef build_wheel(folder, config_settings=None, metadata_directory=None):\n"
                    f"    shutil.copy('wheel', folder + '/{wheel.file_name}')\n    return '{wheel.file_name}'\n"
                    "build_editable = build_wheel\n")
                for editable in ([], ["-e"]):
                    if program == "pip":
                        self.assert_ok(self.pip("install", *editable, project))
                    elif program == "uv":
                        self.assert_ok(self.uv("pip", "install", "--python", self.venv, *editable, project))
                    else:
                        self.assert_ok(self.install(*editable, project))
                    next(self.site().glob(f"of_{program}-1.0.dist-info/RECORD")).unlink()
                    # Axle builds for this machine alone; for another one pip is proposed.
                    found = self.fixes("dist-info-broken", None if program == "variant" else self.good)
                    self.assertTrue(found["fix"][0].startswith(program), found)
                    self.sound()

    def test_what_another_program_answers_for_is_left_to_it(self):
        info = self.put_wheel(self.wheel)
        (info / "INSTALLER").write_text("conda\n")
        (info / "RECORD").unlink()
        found = self.finds("dist-info-broken", self.good)
        self.assertEqual((found["fix"], found["hint"]), ([], "reinstall demo with conda, which installed it"))


class Files(FixTestCase):
    def setUp(self):
        super().setUp()
        self.wheel = Wheel("demo", "1.0", files={"demo/__init__.py": "x = 1\n", "demo/deep/data.bin": "0123",
                                                 "demo/_fast.abi3.so": library(soname="")})
        self.publish(self.wheel)

    def test_files_that_are_gone_or_no_files(self):
        def gone(place):
            (place / "demo/__init__.py").unlink()

        def cut(place):
            (place / "demo/deep/data.bin").write_bytes(b"0")

        def folder(place):
            gone(place)
            (place / "demo/__init__.py").mkdir()
            (place / "demo/__init__.py/mine").write_text("kept")

        def file(place):
            shutil.rmtree(place / "demo/deep")
            (place / "demo/deep").write_text("kept")

        def link(place):
            gone(place)
            (place / "demo/__init__.py").symlink_to("nowhere")

        for damage in (gone, cut, folder, file, link):
            with self.subTest(damage=damage.__name__):
                self.put_wheel(self.wheel)
                damage(self.site())
                self.fixes("files-missing", self.good)
                self.sound()
                for kept in self.site().glob("demo/**/*.set-aside"):
                    shutil.rmtree(kept) if kept.is_dir() else kept.unlink()

    def test_files_that_were_changed_here_or_in_a_twin(self):
        """Also where size and time tell nothing, and the store has the same file."""
        self.assert_ok(self.variant("install", "demo", "--python", self.venv))
        for keep_time, arguments in ((False, ()), (True, ("--deep",))):
            place = self.site() / "demo/deep/data.bin"
            before = place.stat()
            self.assertGreater(before.st_nlink, 1)
            with open(place, "r+") as file:
                file.write("3210")
            if keep_time:
                os.utime(place, ns=(before.st_atime_ns, before.st_mtime_ns))
            self.fixes("files-changed", self.good, *arguments)
            self.assertEqual((self.site() / "demo/deep/data.bin").read_text(), "0123")

    def test_a_record_that_leads_out_of_the_environment(self):
        info = self.put_wheel(self.wheel)
        with open(info / "RECORD", "a") as record:
            record.write(f"{self.index.folder}/demo/index.json,,\n")
        self.fixes("files-outside", self.good)
        self.sound()

    def test_metadata_with_markers_about_the_variant(self):
        document = variant_document({"v1": [("x86_64", "level", ["v1"])]}, providers={"x86_64": X86_PROVIDER})
        wheel = Wheel("marked", "1.0", "v1", document, requires=["demo; variant_label == 'v1'"])
        self.publish(wheel)
        self.index.add_variants("marked", "1.0", document)
        self.put_wheel(self.wheel)
        self.put_wheel(wheel)
        self.fixes("metadata-markers", self.good)
        self.sound()

    def test_the_dependencies_stay_as_they_are(self):
        self.publish(Wheel("base", "1.0"), Wheel("base", "2.0"))
        self.put_wheel(Wheel("base", "1.0"))
        wheel = Wheel("needs", "1.0", requires=["base"])
        self.publish(wheel)
        self.put_wheel(wheel)
        (self.site() / "needs.py").unlink()
        self.fixes("files-missing", self.good)
        self.assertEqual(self.installed()["base"], ("1.0", None))

    def test_an_environment_and_a_machine_with_quotes_in_their_names(self):
        self.venv = self.make_venv(self.root / "Ann's \"own\" $HOME")
        machine = self.root / "this & that.json"
        shutil.copy(self.good, machine)
        self.put_wheel(self.wheel)
        (self.site() / "demo/__init__.py").unlink()
        self.fixes("files-missing", machine)
        self.sound()

    def test_a_module_that_is_damaged(self):
        self.put_wheel(self.wheel)
        place = self.site() / "demo/_fast.abi3.so"
        place.write_bytes(b"\0" * place.stat().st_size)
        self.fixes("library-damaged", self.good)
        self.sound()

    def test_libraries_for_another_architecture(self):
        self.put_wheel(self.wheel)
        for name in ("one", "two"):
            self.publish(Wheel(name, "1.0", files={f"{name}.abi3.so": library(soname="")}))
            self.put_wheel(Wheel(name, "1.0", files={f"{name}.abi3.so": library(machine=183)}))
        self.fixes("wrong-architecture", self.good)
        self.sound()


class Owners(FixTestCase):
    def setUp(self):
        super().setUp()
        self.first = Wheel("first", "1.0", files={"thing/__init__.py": "1", "thing/a.py": ""})
        self.second = Wheel("second", "1.0", files={"thing/__init__.py": "2"})
        self.publish(self.first, self.second)

    def test_one_of_two_owners_goes_and_the_other_is_whole_again(self):
        self.put_wheel(self.first)
        self.put_wheel(self.second)
        self.fixes("path-owned-twice", self.good)
        self.assertEqual(list(self.installed()), ["first"])
        self.assertEqual((self.site() / "thing/__init__.py").read_text(), "1")
        self.sound()

    def test_the_one_that_another_package_needs_stays(self):
        self.put_wheel(self.first)
        self.put_wheel(self.second)
        self.put("user", "1.0", requires=["second"])
        self.fixes("path-owned-twice", self.good)
        self.assertEqual(list(self.installed()), ["second", "user"])
        self.put_wheel(self.first)
        self.put("another", "1.0", requires=["first"])
        found = self.finds("path-owned-twice", self.good)
        self.assertEqual(found["fix"], [])
        self.assertIn("separate environments", found["hint"])

    def test_of_two_packages_with_one_import_name_one_goes(self):
        self.put_wheel(self.first)
        self.put("shadow", "1.0", {"thing.py": ""})
        self.fixes("import-hidden", self.good)
        self.sound()


class Requirements(FixTestCase):
    def setUp(self):
        super().setUp()
        for version in ("1.0", "2.0", "2.5", "3.0"):
            self.publish(Wheel("base", version, extra_metadata="Provides-Extra: more\n"))

    def test_what_is_missing_or_too_old(self):
        self.put("demo", "1.0", requires=["base[more]>=2; python_version>='3'"])
        self.fixes("requirement-broken", self.good)
        subprocess.run(["rm", "-r", *self.site().glob("base*")], check=True)
        self.put_wheel(Wheel("base", "1.0"))
        self.fixes("requirement-broken", self.good)
        self.sound()

    def test_what_others_need_of_it_is_kept(self):
        self.put("demo", "1.0", requires=["base>=2"])
        self.put("other", "1.0", requires=["base<3"])
        self.put("third", "1.0", requires=["base!=2.5"])
        self.put_wheel(Wheel("base", "1.0"))
        self.fixes("requirement-broken", self.good)
        self.assertEqual(self.installed()["base"], ("2.0", None))
        self.sound()

    def test_where_no_version_serves_all_newer_owners_are_asked_for(self):
        self.put_wheel(Wheel("demo", "1.0", requires=["base>=2"]))
        self.put_wheel(Wheel("other", "1.0", requires=["base<2"]))
        self.put_wheel(Wheel("base", "1.0"))
        self.publish(Wheel("demo", "1.0", requires=["base>=2"]), Wheel("other", "2.0", requires=["base>=2"]))
        found = self.fixes("requirement-broken", self.good)
        self.assertIn("no version satisfies all", found["hint"])
        self.sound()


class Codes(unittest.TestCase):
    def test_every_code_has_a_fix_that_is_run_or_a_reason_why_none_is_proposed(self):
        tests = "".join(path.read_text() for path in pathlib.Path(__file__).parent.glob("doctor_fix*_test.py"))
        run = set(re.findall(r'\.fixes\(\s*"([a-z-]+)"', tests))
        self.assertEqual(CODES - run - set(PROPOSES_NOTHING), set())
        self.assertEqual(run & set(PROPOSES_NOTHING), set())
        self.assertLessEqual(set(PROPOSES_NOTHING), CODES)


if __name__ == "__main__":
    unittest.main()
