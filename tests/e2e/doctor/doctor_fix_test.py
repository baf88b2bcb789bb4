"""What `variant doctor` proposes is run as it stands, in a shell, and what it reports is gone after it."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from doctor_case import CODES, DRIVER, H100, PROPOSES_NOTHING, DoctorTestCase, level_cpu
from made_library import cuda_library, library
from support import BIN, PEERS, PYTHON, SOURCE, X86_PROVIDER, Index, Wheel, variant_document
from torch_index import TorchIndex, all_files

STUBS = os.environ["AXLE_STUBS"]


def family_file(url):
    """The shipped family of torch, at another address."""
    shipped = (SOURCE / "index/families/torch.toml").read_text()
    return re.sub(r'(?m)^url = ".*"$', f'url = "{url}"', shipped, count=1)


class FixTestCase(DoctorTestCase):
    def setUp(self):
        super().setUp()
        self.good = self.healthy_machine(cpu=level_cpu(3))
        self.index = Index(self.root / "the index")
        self.index.folder.mkdir()
        # As a user has it: an index that is configured, and the programs on the path.
        self.env |= {"PIP_INDEX_URL": self.index.url, "UV_INDEX_URL": self.index.url,
                     "PIP_DISABLE_PIP_VERSION_CHECK": "1", "UV_CACHE_DIR": str(self.root / "uv-cache"),
                     "PATH": f"{BIN}:{PEERS}:/usr/bin:/bin"}

    def publish(self, *wheels):
        for wheel in wheels:
            self.index.add_wheel(wheel)

    def publish_torch(self, *releases):
        folder = self.root / "torch-index"
        TorchIndex(folder, all_files(releases=releases)).write()
        families = self.root / "home/.config/axle/families"
        families.mkdir(parents=True, exist_ok=True)
        (families / "torch.toml").write_text(family_file(folder.as_uri()))

    def put_wheel(self, wheel):
        """As an installer leaves it."""
        for path, content in wheel.members.items():
            place = self.site() / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content.encode() if isinstance(content, str) else content)
        info = self.site() / wheel.dist_info
        (info / "RECORD").write_text(wheel.record())
        return info

    def line(self, machine, arguments, environment):
        words = ["variant", "doctor", "--json", *arguments]
        words += ["--for", machine] if machine is not None else []
        words += ["--python", self.venv] if environment else []
        return " ".join("'" + str(word).replace("'", "'\\''") + "'" for word in words)

    def fixes(self, code, machine=None, *arguments, environment=True, env=None, cwd=None, reveals=()):
        """The first finding of that code, its commands run in one shell, and doctor again: it is gone, and there are no
        new ones but what it hid."""
        line = self.line(machine, arguments, environment)
        more = {**self.env, **(env or {})}

        def run(script):
            return subprocess.run(["/bin/sh", "-c", script], env=more, cwd=cwd or self.root, text=True,
                                  capture_output=True, timeout=240, stdin=subprocess.DEVNULL)

        before = json.loads(run(line).stdout)["findings"]
        found = [one for one in before if one["code"] == code]
        self.assertTrue(found, f"{code} is not among {[one['code'] for one in before]}")
        commands = found[0]["fix"]
        self.assertTrue(commands, found[0])
        for command in commands:
            self.assertIn(command, found[0]["hint"])
        text = run(line.replace("'--json'", ""))
        self.assertIn(f"hint: {found[0]['hint']}\n", text.stdout)
        script = "set -e\n" + "\n".join(commands) + "\nset +e\necho '=====' \n" + line
        done = run(script)
        head, middle, tail = done.stdout.partition("=====")
        self.assertTrue(middle, f"{commands}\n{head}\n{done.stderr}")
        after = json.loads(tail)["findings"]
        self.assertNotIn((code, found[0]["subject"]), [(one["code"], one["subject"]) for one in after],
                         f"{commands}\n{head}\n{done.stderr}\n{after}")
        new = {one["code"] for one in after} - {one["code"] for one in before}
        self.assertEqual(new - set(reveals), set(), f"{commands}\n{after}")
        return found[0]

    def sound(self, machine=None):
        self.assertEqual(self.doctor(machine or self.good)["findings"], [])

    def need(self, program):
        if not (PEERS / program).exists():
            self.skipTest(f"{PEERS / program} is not there: ./dev setup brings it")


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

    def test_a_project_that_pip_or_uv_installed_comes_from_its_folder(self):
        for program in ("pip", "uv"):
            with self.subTest(program=program):
                self.need(program)
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
                    else:
                        self.assert_ok(self.uv("pip", "install", "--python", self.venv, *editable, project))
                    next(self.site().glob(f"of_{program}-1.0.dist-info/RECORD")).unlink()
                    found = self.fixes("dist-info-broken", self.good)
                    self.assertTrue(found["fix"][0].startswith(program), found)
                    self.sound()

    def test_what_another_program_answers_for_is_left_to_it(self):
        info = self.put_wheel(self.wheel)
        (info / "INSTALLER").write_text("conda\n")
        (info / "RECORD").unlink()
        found = self.finds("dist-info-broken", self.good)
        self.assertEqual((found["fix"], found["hint"]), ([], "install demo again with conda, which installed it"))


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
        self.assertIn("environments of their own", found["hint"])

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
        self.assertIn("no version serves all", found["hint"])
        self.sound()


class Builds(FixTestCase):
    def levels(self, **files):
        document = variant_document({"null": [], "v2": [("x86_64", "level", ["v2"])], "v4": [("x86_64", "level", ["v4"])]})
        content = {"v4": files or {"fast.py": "4"}}
        for label in document["variants"]:
            self.publish(Wheel("fast", "1.0", label, document, content.get(label, {"fast.py": label})))
        self.index.add_variants("fast", "1.0", document)
        self.publish(Wheel("fast", "2.0"))
        self.put_wheel(Wheel("fast", "1.0", "v4", document, content["v4"]))

    def test_a_variant_that_does_not_fit(self):
        self.levels()
        self.fixes("variant-misfit", self.healthy_machine(cpu=level_cpu(2)))
        self.assertEqual(self.installed()["fast"], ("1.0", "v2"))

    def test_a_library_that_the_loader_refuses(self):
        self.levels(**{"fast/_C.so": library(isa=0b1111)})
        self.fixes("cpu-level-missing", self.healthy_machine(cpu=level_cpu(3)))
        self.sound()

    def test_instructions_that_the_cpu_lacks(self):
        tools = subprocess.run(["sh", "-c", "command -v objdump && command -v cc"], capture_output=True)
        if os.uname().machine != "x86_64" or tools.returncode:
            self.skipTest("needs objdump and cc on x86-64")
        (self.root / "f.c").write_text('__attribute__((target("avx512f"))) void f(float* p) {\n'
                                       "  for (int i = 0; i < 4096; ++i) p[i] *= 3.0f;\n}\n")
        made = self.root / "f.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-O3", "-mprefer-vector-width=512", "-o", made, self.root / "f.c"],
                       check=True)
        self.levels(**{"fast/_C.so": made.read_bytes()})
        self.fixes("cpu-instructions", self.good, "--deep")

    def test_a_build_that_would_be_chosen_again_is_not_proposed(self):
        document = variant_document({"v2": [("x86_64", "level", ["v2"])]})
        self.put_wheel(Wheel("fast", "1.0", "v2", document, {"fast/_C.so": library(isa=0b1111)}))
        found = self.finds("cpu-level-missing", self.good)
        self.assertEqual(found["fix"], [])

    def test_a_namespace_that_is_switched_off(self):
        optional = {"x86_64": {**X86_PROVIDER, "optional": True}}
        document = variant_document({"v1": [("x86_64", "level", ["v1"])]}, providers=optional)
        self.put_wheel(Wheel("fast", "1.0", "v1", document))
        self.fixes("variant-unknown", self.good)
        self.assert_ok(self.variant("providers", "disable", "x86_64"))
        self.fixes("variant-unknown", self.good)
        self.sound()


class Torch(FixTestCase):
    def put_torch(self, torch, vision=None):
        self.put("torch", torch)
        if vision:
            self.put("torchvision", vision)

    def test_a_better_build(self):
        self.publish_torch("2.9")
        self.put_torch("2.9.0+cpu", "0.24.0+cpu")
        self.fixes("variant-not-best", self.good)
        self.assertEqual(self.installed()["torch"], ("2.9.0+cu130", "cu130"))
        self.assertEqual(self.installed()["torchvision"], ("0.24.0+cu130", "cu130"))
        self.sound()

    def test_a_build_for_a_gpu_that_is_not_there_with_what_came_with_it(self):
        self.publish_torch("2.9")
        self.put("nvidia-cublas-cu12", "12.8", {"nvidia/cublas/lib/libcublas.so.12": cuda_library(90)})
        self.put("kept-cuda", "1.0", {"kept/_C.so": cuda_library(90)})
        self.put("torch", "2.9.1+cu128", {"torch/_C.so": cuda_library(90)}, requires=["nvidia-cublas-cu12"])
        none = self.machine(cpu=level_cpu(3))
        before = self.finds("gpu-build-without-gpu", none, severity="warning")
        self.assertIn("nvidia-cublas-cu12", before["fix"][1])
        self.assertNotIn("kept-cuda", before["fix"][1])
        self.fixes("gpu-build-without-gpu", none)
        self.assertEqual(sorted(self.installed()), ["kept-cuda", "torch"])
        self.assertEqual(self.installed()["torch"][1], "cpu")

    def test_a_release_that_has_no_build_for_the_gpu(self):
        self.publish_torch("2.14", "2.15")
        self.put_torch("2.15.0+cu132")
        pascal = self.machine([{**H100, "arch": "6.1"}], [DRIVER], cpu=level_cpu(3))
        self.fixes("variant-misfit", pascal)
        self.assertEqual(self.installed()["torch"], ("2.14.1+cu126", "cu126"))

    def test_no_code_for_the_gpu(self):
        self.publish_torch("2.9")
        self.put("torch", "2.9.0+cu130", {"torch/_C.so": cuda_library(90)})
        pascal = self.machine([{**H100, "arch": "6.1"}], [DRIVER], cpu=level_cpu(3))
        self.fixes("gpu-code-missing", pascal)
        self.assertEqual(self.installed()["torch"], ("2.9.0+cu126", "cu126"))

    def test_members_that_do_not_belong_together(self):
        self.publish_torch("2.9")
        self.put_torch("2.9.0+cu130", "0.24.0+cpu")
        self.fixes("family-labels-differ", self.good)
        self.sound()
        self.assert_ok(self.variant("uninstall", "torch", "torchvision", "--python", self.venv))
        self.put_torch("2.9.0+cu130", "0.25.0+cu130")
        self.fixes("family-versions-differ", self.good)
        self.assertEqual(self.installed()["torchvision"][0], "0.24.0+cu130")
        self.sound()

    def test_a_damaged_member_keeps_its_build(self):
        self.publish_torch("2.9")
        wheel = next(file for file in all_files(releases=["2.9"]) if file.label == "cu128" and "torch-2.9.1" in file.name)
        (self.root / wheel.name).write_bytes(wheel.data)
        self.assert_ok(self.variant("install", "torch==2.9.1+cu128", "--python", self.venv, "--for", self.good))
        (self.site() / "torch/__init__.py").unlink()
        self.fixes("files-missing", self.good)
        self.assertEqual(self.installed()["torch"], ("2.9.1+cu128", "cu128"))


class Surroundings(FixTestCase):
    def folder_with(self, name, soname):
        folder = self.root / name
        folder.mkdir(exist_ok=True)
        (folder / soname).write_bytes(library([("more", b"x" * 64)], soname=soname))
        return str(folder)

    def own(self, *names):
        for name in names:
            self.put(name, "1.0", {f"{name}/lib{name}.so.1": library(soname=f"lib{name}.so.1")})

    def test_folders_that_hide_the_wheels_libraries(self):
        self.own("one", "two")
        first, second = self.folder_with("first here", "libone.so.1"), self.folder_with("second", "libtwo.so.1")
        again = self.folder_with("again", "libone.so.1")
        kept = self.folder_with("kept", "libother.so.1")
        path = ":".join([first, kept, again, second])
        found = self.fixes("library-shadowed", env={"LD_LIBRARY_PATH": path})
        self.assertEqual(found["fix"], [f"export LD_LIBRARY_PATH={kept}"])
        found = self.fixes("library-shadowed", env={"LD_LIBRARY_PATH": second})
        self.assertEqual(found["fix"], ["unset LD_LIBRARY_PATH"])
        # One command clears both.
        body = self.doctor(env={"LD_LIBRARY_PATH": path})
        shadowed = [one["fix"] for one in body["findings"] if one["code"] == "library-shadowed"]
        self.assertEqual(len(shadowed), 2)
        self.assertEqual(shadowed[0], shadowed[1])

    def test_libraries_that_are_preloaded(self):
        if not shutil.which("cc"):
            self.skipTest("needs cc: what is preloaded is loaded")
        self.own("one", "two")
        for name in ("one", "kept"):
            subprocess.run(["cc", "-shared", "-x", "c", "/dev/null", f"-Wl,-soname,lib{name}.so.1", "-o",
                            self.root / f"lib{name}.so.1"], check=True)
        one, kept = self.root / "libone.so.1", self.root / "libkept.so.1"
        found = self.fixes("library-shadowed", env={"LD_PRELOAD": str(one)})
        self.assertEqual(found["fix"], ["unset LD_PRELOAD"])
        found = self.fixes("library-shadowed", env={"LD_PRELOAD": f"{one} {kept}"})
        self.assertEqual(found["fix"], [f"export LD_PRELOAD={kept}"])

    def test_a_mask_over_the_gpus(self):
        if not pathlib.Path(STUBS, "nvidia").is_dir() or not list(pathlib.Path(STUBS, "nvidia").iterdir()):
            self.skipTest("the stubs of the drivers are not built")
        env = {"LD_LIBRARY_PATH": f"{STUBS}/nvidia", "AXLE_STUB": "ok"}
        for variable in ("CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ZE_AFFINITY_MASK"):
            self.env.pop(variable, None)
        self.fixes("gpu-masked", None, environment=False, env={**env, "CUDA_VISIBLE_DEVICES": ""},
                   reveals=("driver-old",))


class Environments(FixTestCase):
    def setUp(self):
        super().setUp()
        if subprocess.run([PYTHON, "-c", "import ensurepip"], capture_output=True).returncode:
            self.skipTest("python3 -m venv does not work here without ensurepip")

    def test_an_environment_that_is_not_there(self):
        self.venv = self.root / "not there"
        self.fixes("environment-broken", self.good)
        gone = {"VIRTUAL_ENV": str(self.root / "gone")}
        self.fixes("environment-broken", self.good, environment=False, env=gone)

    def test_an_environment_whose_interpreter_is_gone(self):
        for name in ("python", "python3"):
            (self.venv / "bin" / name).unlink()
        (self.venv / "bin/python3").symlink_to("/nowhere/python3")
        found = self.fixes("environment-broken", self.good)
        self.assertIn("without the packages", found["hint"])

    def test_what_is_no_environment_is_not_overwritten(self):
        (self.root / "documents/bin").mkdir(parents=True)
        (self.root / "documents/bin/python").write_text("mine")
        for place in (self.root / "documents", self.root / "documents/bin/python", "python9.9", "/dev/null"):
            self.venv = place
            self.assertEqual(self.finds("environment-broken", self.good)["fix"], [], place)

    def test_no_environment(self):
        (self.root / "project").mkdir()
        self.fixes("no-environment", self.good, environment=False, cwd=self.root / "project")


class Codes(unittest.TestCase):
    def test_every_code_has_a_fix_that_is_run_or_a_reason_why_none_is_proposed(self):
        tests = pathlib.Path(__file__).read_text()
        run = set(re.findall(r'\.fixes\(\s*"([a-z-]+)"', tests))
        self.assertEqual(CODES - run - set(PROPOSES_NOTHING), set())
        self.assertEqual(run & set(PROPOSES_NOTHING), set())
        self.assertLessEqual(set(PROPOSES_NOTHING), CODES)


if __name__ == "__main__":
    unittest.main()
