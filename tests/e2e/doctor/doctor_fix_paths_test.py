"""What hides modules of an environment from its own interpreter: found, with the interpreter itself as the oracle, and fixed as
`variant doctor` proposes."""

import json
import os
import pathlib
import py_compile
import shlex
import subprocess
import sys
import unittest
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from path_case import FIND, PathTestCase
from support import PYTHON, Wheel


class HiddenModules(PathTestCase):
    def setUp(self):
        super().setUp()
        self.put("demo", "1.0", {"demo/__init__.py": ""})
        self.own = str(self.site() / "demo/__init__.py")

    def hides(self, env=None, cwd=None, name="demo"):
        """The finding, with what the interpreter says; its fix is run, and what it changes is seen by the interpreter."""
        taken = self.imported(name, env, cwd)
        found = self.fixes("module-hidden", env=env, cwd=cwd)
        self.assertEqual(found["severity"], "warning")
        self.assertEqual(os.path.realpath(found["evidence"][0]["file"]), os.path.realpath(taken))
        script = "\n".join(found["fix"]) + "\n" + shlex.join([str(self.interpreter()), "-c", FIND, name])
        after = subprocess.run(["/bin/sh", "-c", script], env={**self.env, **(env or {})}, cwd=cwd or self.root, text=True,
                               capture_output=True)
        self.assertNotEqual(after.stdout.strip(), taken, after.stderr)
        return found

    def test_nothing_is_hidden(self):
        self.assertEqual(self.imported("demo"), self.own)
        self.lacks("module-hidden")

    def test_a_folder_in_pythonpath(self):
        other = self.module("old packages", "demo")
        (other / "demo-0.9.dist-info").mkdir()
        kept = self.module("kept", "unrelated")
        found = self.hides({"PYTHONPATH": f"{kept}:{other}"})
        self.assertEqual(found["fix"], [f"export PYTHONPATH={kept}"])
        self.assertEqual(found["subject"], "demo 1.0")
        self.assertIn("(demo 0.9)", found["evidence"][0]["fact"])
        self.assertEqual(found["evidence"][1]["file"], self.own)
        self.assertEqual(self.hides({"PYTHONPATH": str(other)})["fix"], ["unset PYTHONPATH"])
        relative = self.hides({"PYTHONPATH": "old packages"})
        self.assertIn(str(other), relative["message"])

    def test_one_command_leaves_out_all_folders_in_pythonpath(self):
        self.put("more", "1.0", {"more.py": ""})
        (self.module("first", "demo"), self.module("second", "more"))
        env = {"PYTHONPATH": f"{self.root}/first:{self.root}/second"}
        found = [one for one in self.doctor(env=env)["findings"] if one["code"] == "module-hidden"]
        self.assertEqual([one["subject"] for one in found], ["demo 1.0", "more 1.0"])
        self.assertEqual([one["fix"] for one in found], [["unset PYTHONPATH"]] * 2)
        self.hides(env)

    def test_a_module_of_pythons_own(self):
        folder = self.module("mine", "unrelated")
        (folder / "random.py").write_text("")
        (folder / "sys.py").write_text("")  # built in: never hidden
        found = self.hides({"PYTHONPATH": str(folder)}, name="random")
        self.assertEqual(found["subject"], "Python's random")
        self.assertEqual(found["evidence"][1]["fact"], "is not imported (Python's own)")

    def test_a_module_in_a_zip_archive(self):
        archive, inside = self.root / "lib.zip", self.root / "more.zip"
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as made:
            made.writestr("demo/__init__.py", "")
        found = self.hides({"PYTHONPATH": str(archive)})
        self.assertEqual((found["evidence"][0]["file"], found["fix"]), (f"{archive}/demo/__init__.py", ["unset PYTHONPATH"]))
        with zipfile.ZipFile(inside, "w") as made:
            made.writestr("src/demo.py", "")
            made.writestr("demo.so", "")  # nothing compiled is loaded from an archive
        self.lacks("module-hidden", env={"PYTHONPATH": str(inside)})
        self.hides({"PYTHONPATH": f"{inside}/src"})
        inside.write_bytes(b"PK\3\4 is none")
        body = self.lacks("module-hidden", env={"PYTHONPATH": str(inside)})
        self.assertIn(str(inside), json.dumps(body["not_looked_at"]))

    def test_byte_code_alone(self):
        folder = self.module("old", "unrelated")
        (folder / "made.py").write_text("")
        py_compile.compile(folder / "made.py", cfile=folder / "demo.pyc", doraise=True)
        self.byte_code_is_ours(folder / "demo.pyc")
        self.assertEqual(self.hides({"PYTHONPATH": str(folder)})["evidence"][0]["file"], f"{folder}/demo.pyc")
        (folder / "demo").mkdir()
        (folder / "demo.pyc").rename(folder / "demo/__init__.pyc")
        self.hides({"PYTHONPATH": str(folder)})

    def byte_code_is_ours(self, file):
        """Of another Python than that which runs this test: made again."""
        subprocess.run([self.interpreter(), "-c", "import py_compile, sys; py_compile.compile(sys.argv[1], cfile=sys.argv[2])",
                        file.parent / "made.py", file], check=True)

    def test_compiled_modules(self):
        suffixes = subprocess.run([self.interpreter(), "-c", "import _imp; print(*_imp.extension_suffixes())"], check=True,
                                  text=True, capture_output=True).stdout.split()
        for number, suffix in enumerate(suffixes):
            folder = self.module(f"compiled{number}", "unrelated")
            (folder / f"demo{suffix}").write_bytes(b"")
            self.hides({"PYTHONPATH": str(folder)})
            (folder / f"demo{suffix}").unlink()
            (folder / "demo").mkdir()
            (folder / f"demo/__init__{suffix}").write_bytes(b"")
            self.hides({"PYTHONPATH": str(folder)})
            # An installed module that is compiled.
            self.put("solo", "1.0", {f"solo{suffix}": b""})
            folder = self.module(f"source{number}", "unrelated")
            (folder / "solo.py").write_text("")
            self.hides({"PYTHONPATH": str(folder)}, name="solo")
        folder = self.module("foreign", "unrelated")
        (folder / "demo.cpython-311-sparc-linux-gnu.so").write_bytes(b"")
        self.lacks("module-hidden", env={"PYTHONPATH": str(folder)})

    def test_all_places_in_pythonpath_are_left_out(self):
        first, second = self.module("first", "demo"), self.module("second", "demo")
        link = self.root / "link"
        link.symlink_to(second)
        kept = self.module("kept", "unrelated")
        found = self.hides({"PYTHONPATH": f"{first}:{kept}:{second}:first:{link}/"})
        self.assertEqual(found["fix"], [f"export PYTHONPATH={kept}"])

    def test_all_ways_to_one_module_are_left_out(self):
        self.made_prefix()
        self.put("demo", "1.0", {"demo/__init__.py": ""})
        user = subprocess.run([self.interpreter(), "-c", "import site; print(site.getusersitepackages())"], env=self.env,
                              text=True, capture_output=True, check=True).stdout.strip()
        self.module(user, "demo")
        other, third = self.module("other", "demo"), self.module("third", "demo")
        (pathlib.Path(user) / "mine.pth").write_text(f"{other}\n")
        found = self.hides({"PYTHONPATH": f"{third}:{other}"})
        self.assertEqual(found["fix"], ["unset PYTHONPATH", "export PYTHONNOUSERSITE=1"])

    def test_the_current_folder(self):
        here = self.module("here", "unrelated")
        (here / "demo.py").write_text("")
        if sys.version_info < (3, 11):
            self.assertEqual(self.finds("module-hidden", cwd=here)["fix"], [])
        else:
            found = self.hides(cwd=here)
            self.assertEqual(found["fix"], ["export PYTHONSAFEPATH=1"])
            self.assertIn("programs started in this folder import `demo` from it", found["message"])
            self.assertIn(f"rename {here}/demo.py", found["hint"])
            both = self.hides({"PYTHONPATH": f"{here}:"}, cwd=here)
            self.assertEqual(both["fix"], ["export PYTHONSAFEPATH=1", "unset PYTHONPATH"])
            self.lacks("module-hidden", cwd=here, env={"PYTHONSAFEPATH": "1"})
        (here / "demo.py").rename(here / "my_demo.py")
        self.assertEqual(self.imported("demo", cwd=here), self.own)
        self.lacks("module-hidden", cwd=here)

    def test_the_sources_that_were_installed_are_worth_a_word(self):
        project = self.module("project", "demo")
        info = self.site() / "demo-1.0.dist-info"
        (info / "direct_url.json").write_text(json.dumps({"url": project.as_uri(), "dir_info": {}}))
        found = self.finds("module-hidden", cwd=project, severity="info")
        self.assertIn("install it as editable", found["hint"])

    def test_the_user_site(self):
        self.made_prefix()
        self.put("demo", "1.0", {"demo/__init__.py": ""})
        user = subprocess.run([self.interpreter(), "-c", "import site; print(site.getusersitepackages())"], env=self.env,
                              text=True, capture_output=True, check=True).stdout.strip()
        self.lacks("module-hidden")
        self.module(user, "demo")
        self.assertEqual(self.hides()["fix"], ["export PYTHONNOUSERSITE=1"])
        # A virtual environment without the system's packages has none.
        self.packages, self.venv = None, self.root / "venv"
        self.lacks("module-hidden")

    def test_a_folder_of_a_pth_file(self):
        source = self.module("editable", "wanted")
        self.put("wanted", "1.0", {"z_wanted.pth": f"{source}\n"})
        self.assertEqual(self.imported("wanted"), str(source / "wanted/__init__.py"))
        self.lacks("module-hidden")
        other = self.module("other", "wanted")
        pth = self.site() / "a.pth"
        pth.write_text(f"# mine\n/nowhere\n{other}\n")
        found = self.hides(name="wanted")
        self.assertEqual(found["fix"], [f"sed -i 3d {pth}"])
        self.assertIn(f"{pth}, line 3", found["message"])
        self.assertEqual(pth.read_text(), "# mine\n/nowhere\n")

    def test_the_lines_of_a_pth_file_are_one_finding(self):
        sources = self.module("sources", "wanted")
        (sources / "more.py").write_text("")
        self.put("wanted", "1.0", {"z.pth": f"{sources}\n"})
        self.put("more", "1.0", {"zz.pth": f"{sources}\n"})
        one, two = self.module("one", "wanted"), self.module("two", "more")
        self.module("two", "wanted")
        pth, again = self.site() / "a.pth", self.site() / "b.pth"
        pth.write_text(f"{one}\n# mine\n{two}\n")
        again.write_text(f"{one}\n")
        self.assertEqual((self.imported("more"), self.imported("wanted")), (f"{two}/more/__init__.py", f"{one}/wanted/__init__.py"))
        found = self.fixes("module-hidden")
        self.assertEqual((self.imported("more"), self.imported("wanted")), (f"{sources}/more.py", f"{sources}/wanted/__init__.py"))
        self.assertEqual(found["fix"], [f"sed -i '1d;3d' {pth}", f"sed -i 1d {again}"])
        self.assertEqual(found["subject"], "more 1.0, wanted 1.0")
        self.assertIn(f"from {one} and {two} instead, which {pth}, lines 1, 3 put before them", found["message"])
        self.assertEqual((pth.read_text(), again.read_text()), ("# mine\n", ""))

    def test_a_folder_of_a_pth_file_in_the_user_site(self):
        self.made_prefix()
        self.put("demo", "1.0", {"demo/__init__.py": ""})
        user = subprocess.run([self.interpreter(), "-c", "import site; print(site.getusersitepackages())"], env=self.env,
                              text=True, capture_output=True, check=True).stdout.strip()
        other = self.module("other", "demo")
        pathlib.Path(user).mkdir(parents=True)
        (pathlib.Path(user) / "mine.pth").write_text(f"{other}\n")
        self.assertEqual(self.hides()["fix"], [f"sed -i 1d {user}/mine.pth"])

    def test_a_package_in_a_namespace(self):
        """Parts of a namespace are merged, in the order of the path; of each package in it there is one."""
        self.put("nvidia-cudnn-cu12", "9.1", {"nvidia/cudnn/__init__.py": "", "nvidia/cudnn/lib/__init__.py": ""})
        self.put("nvidia-cublas-cu12", "12.8", {"nvidia/cublas/__init__.py": ""})
        self.put("google-part", "1.0", {"google/deep/part/one.py": ""})
        kept = self.module("kept", "unrelated")
        self.module("sh/nv/nvidia", "cudnn")
        (self.root / "sh/nv/nvidia/mine.py").write_text("")
        found = self.hides({"PYTHONPATH": f"{kept}:{self.root}/sh/nv"}, name="nvidia.cudnn")
        self.assertEqual((found["subject"], found["fix"]), ("nvidia-cudnn-cu12 9.1", [f"export PYTHONPATH={kept}"]))
        self.assertIn("imports `nvidia.cudnn` from", found["message"])
        self.assertEqual(found["evidence"][1]["file"], f"{self.site()}/nvidia/cudnn/__init__.py")
        # A part, the next one, and the whole of it behind them: one command leaves out all.
        self.module("sh/again/nvidia", "cudnn")
        self.module("sh/whole", "nvidia")
        env = {"PYTHONPATH": f"{self.root}/sh/again:{self.root}/sh/nv"}
        self.assertEqual(self.hides(env, name="nvidia.cudnn")["fix"], ["unset PYTHONPATH"])
        (self.site() / "z.pth").write_text(f"{self.root}/sh/whole\n")
        self.assertEqual(self.imported("nvidia", env), f"{self.root}/sh/whole/nvidia/__init__.py")
        found = self.fixes("module-hidden", env=env)
        self.assertEqual(found["subject"], "nvidia-cublas-cu12 12.8, nvidia-cudnn-cu12 9.1")
        self.assertIn("instead, which", found["message"])
        self.assertEqual(sorted(found["fix"]), [f"sed -i 1d {self.site()}/z.pth", "unset PYTHONPATH"])
        self.assertEqual(self.imported("nvidia.cudnn"), f"{self.site()}/nvidia/cudnn/__init__.py")
        # Two folders deep, and as a module.
        (self.root / "deep/google/deep/part").mkdir(parents=True)
        (self.root / "deep/google/deep/part/one.py").write_text("")
        self.hides({"PYTHONPATH": f"{self.root}/deep"}, name="google.deep.part.one")
        (self.root / "deep/google/deep/part/one.py").rename(self.root / "deep/google/deep/part.py")
        self.assertIn("`google.deep.part`", self.hides({"PYTHONPATH": f"{self.root}/deep"}, name="google.deep.part")["message"])

    def test_parts_of_a_namespace_that_hide_nothing(self):
        self.put("nvidia-cudnn-cu12", "9.1", {"nvidia/cudnn/__init__.py": ""})
        self.module("path/nvidia", "other")
        self.lacks("module-hidden", env={"PYTHONPATH": f"{self.root}/path"})
        # A whole package comes before a part in an earlier folder.
        self.put("nvidia-old", "1.0", {"nvidia/__init__.py": ""})
        self.module("path/nvidia", "cudnn")
        own = f"{self.site()}/nvidia/cudnn/__init__.py"
        self.assertEqual(self.imported("nvidia.cudnn", {"PYTHONPATH": f"{self.root}/path"}), own)
        self.lacks("module-hidden", env={"PYTHONPATH": f"{self.root}/path"})
        # Of an older kind of namespace each part has a file that merges them.
        for place in (self.site(), self.root / "old"):
            (place / "nvidia").mkdir(parents=True, exist_ok=True)
            (place / "nvidia/__init__.py").write_text("__path__ = __import__('pkgutil').extend_path(__path__, __name__)\n")
        env = {"PYTHONPATH": f"{self.root}/old"}
        self.assertEqual(self.imported("nvidia.cudnn", env), own)
        self.lacks("module-hidden", env=env)
        self.module("old/nvidia", "cudnn")
        self.hides(env, name="nvidia.cudnn")

    def test_a_namespace_that_is_made_at_the_start(self):
        """As setuptools did: parts of it are merged, but a whole package of that name is not imported any more."""
        self.put("part", "1.0", {"space/inner/part.py": ""})
        for words in (("space",), ("space", "inner")):
            (self.site() / f"part-{len(words)}-nspkg.pth").write_text(
                "import sys, types, os;p = os.path.join(sys._getframe(1).f_locals['sitedir'], *%r);"
                "importlib = __import__('importlib.util');__import__('importlib.machinery');"
                "m = sys.modules.setdefault(%r, importlib.util.module_from_spec(importlib.machinery.PathFinder.find_spec(%r, "
                "[os.path.dirname(p)])));mp = (m or []) and m.__dict__.setdefault('__path__',[]);(p not in mp) and mp.append(p)\n"
                % (words, ".".join(words), ".".join(words)))
        for place in ("space", "whole"):
            (self.root / place / "space/inner").mkdir(parents=True)
            (self.root / place / "space/inner/part.py").write_text("")
        (self.root / "whole/space/__init__.py").write_text("")
        self.hides({"PYTHONPATH": f"{self.root}/space"}, name="space.inner.part")
        env = {"PYTHONPATH": f"{self.root}/whole"}
        self.assertEqual(self.imported("space.inner.part", env), f"{self.site()}/space/inner/part.py")
        self.lacks("module-hidden", env=env)

    def test_a_program_in_a_pth_file(self):
        other, again = self.module("other", "demo"), self.module("again", "demo")
        pth = self.site() / "mine.pth"
        pth.write_text(f"# mine\nimport sys; sys.path.insert(0, {str(other)!r})\nimport sys; sys.path.append('/nowhere')\n")
        found = self.hides()
        self.assertEqual(found["fix"], [f"sed -i -e '2s/^/# /' {pth}"])
        self.assertIn(f"from {other} instead, which {pth}, line 2 puts before it", found["message"])
        self.assertEqual(pth.read_text().splitlines()[0::2], ["# mine", "import sys; sys.path.append('/nowhere')"])
        # Each line that puts such a folder there, and what another one puts there by its name.
        pth.write_text("\n".join([f"import sys; sys.path[:0] = [{str(other)!r}, {str(again)!r}]",
                                  f"import sys; sys.path.insert(0, {str(other)!r})", str(again), ""]))
        found = self.hides()
        self.assertEqual(found["fix"], [f"sed -i -e '1s/^/# /' -e '2s/^/# /' {pth}"])
        self.assertNotIn(str(pth), json.dumps(self.doctor()["not_looked_at"]))

    def test_a_module_that_a_pth_file_imports(self):
        other = self.module("other", "demo")
        (self.site() / "_hlp.py").write_text(f"import sys\nsys.path.insert(0, {str(other)!r})\n")
        pth = self.site() / "helped.pth"
        pth.write_text("import _hlp\n")
        self.assertEqual(self.hides()["fix"], [f"sed -i -e '1s/^/# /' {pth}"])

    def test_a_folder_that_a_program_brings_forward(self):
        """As the .pth file of easy_install does with its eggs."""
        egg = self.module("demo.egg", "demo")
        pth = self.site() / "easy-install.pth"
        first, last = "import sys; sys.__plen = len(sys.path)", \
            "import sys; new = sys.path[sys.__plen:]; del sys.path[sys.__plen:]; sys.path[0:0] = new"
        pth.write_text(f"{first}\n{egg}\n{last}\n")
        self.assertEqual(self.hides()["fix"], [f"sed -i -e '3s/^/# /' {pth}"])

    def test_a_program_that_puts_the_folder_last_is_not_to_blame(self):
        other = self.module("programs", "demo")
        last, first = self.site() / "b.pth", self.site() / "c.pth"
        last.write_text(f"import sys; sys.path.append({str(other)!r})\n")
        self.lacks("module-hidden")
        first.write_text(f"import sys; sys.path.insert(0, {str(other)!r})\n")
        found = self.hides()
        self.assertIn(str(first), " ".join(found["fix"]))
        self.assertNotIn(str(last), " ".join(found["fix"]))

    def test_a_program_of_a_package(self):
        other = self.module("other", "demo")
        self.put_wheel(Wheel("paths", "1.0", files={"paths.pth": f"import sys; sys.path.insert(0, {str(other)!r})\n"}))
        found = self.hides()
        self.assertIn("paths installed it", found["hint"])
        self.assertEqual(list(self.installed()), ["demo"])

    def test_a_sitecustomize_or_usercustomize(self):
        self.made_prefix()
        for other in (self.venv / "lib").glob("python3*/sitecustomize.py"):
            other.unlink()
        self.put("demo", "1.0", {"demo/__init__.py": ""})
        other = self.module("other", "demo")
        user = subprocess.run([self.interpreter(), "-c", "import site; print(site.getusersitepackages())"], env=self.env,
                              text=True, capture_output=True, check=True).stdout.strip()
        for file in (self.site() / "sitecustomize.py", pathlib.Path(user) / "usercustomize.py"):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"import sys\n\ndef put(folder):\n    sys.path.insert(0, folder)\n\nput({str(other)!r})\n")
            found = self.hides()
            self.assertIn(f"which {file}, line 4 puts before it", found["message"])
            self.assertEqual(found["fix"], [f"mv {file} {file}.disabled"])
            self.assertIn(f"take line 4 out of {file}, or put", found["hint"])

    def test_a_program_that_cannot_be_named(self):
        """Its folder is seen all the same."""
        other = self.module("other", "demo")
        line = f"import sys; sys.flags.no_site or sys.path.insert(0, {str(other)!r})"
        (self.site() / "shy.pth").write_text(line + "\n")
        found = self.finds("module-hidden", severity="warning")
        self.assertIn(f"from {other} instead, which a program that Python runs at its start puts", found["message"])
        self.assertEqual((found["fix"], found["evidence"][-1]["file"]), ([], f"{self.site()}/shy.pth"))
        self.assertIn("sitecustomize", found["hint"])

    def editable(self, name, mapping):
        """As setuptools installs a project as editable whose folders are not all its own: with a finder that it writes."""
        try:
            from setuptools.command.editable_wheel import _finder_template
        except ImportError:
            self.skipTest("this setuptools has no finder for editable installs")
        finder = f"__editable___{name}_1_0_finder"
        self.put(name, "1.0", {f"{finder}.py": _finder_template(finder, mapping, {}),
                               f"__editable__.{name}-1.0.pth": f"import {finder}; {finder}.install()"})

    def test_an_editable_install_with_a_finder(self):
        source = self.module("it's a \\ project", "edited") / "edited"
        single = self.module("single", "unrelated") / "single_one"
        single.with_suffix(".py").write_text("")
        self.editable("edited", {"edited": str(source), "single_one": str(single), "names.part": str(source)})
        self.assertEqual(self.imported("edited"), str(source / "__init__.py"))
        self.lacks("module-hidden")
        self.lacks("module-hidden", cwd=source.parent)  # the same files
        self.module("names", "part")
        self.lacks("module-hidden", env={"PYTHONPATH": str(self.root)})
        for name, own in (("edited", source / "__init__.py"), ("single_one", single.with_suffix(".py"))):
            folder = self.module(f"other {name}", name)
            found = self.hides({"PYTHONPATH": str(folder)}, name=name)
            self.assertEqual((found["subject"], found["evidence"][1]["file"]), ("edited 1.0", str(own)))
            self.hides(cwd=folder, name=name)

    def test_an_editable_install_behind_an_installed_package(self):
        source = self.module("work", "demo") / "demo"
        self.editable("edited", {"demo": str(source)})
        self.assertEqual(self.imported("demo"), self.own)
        found = self.finds("import-hidden")
        self.assertIn(f"demo/__init__.py is imported, but {source}/__init__.py of edited 1.0 never", found["message"])

    def test_programs_that_start_with_python_are_not_run_for_it(self):
        """Beyond what each start of the interpreter does, of which doctor makes one."""
        ran = self.root / "ran"
        program = f"import sys; open({str(ran)!r}, 'a').write('x'); sys.path.insert(0, '/nowhere')\n"
        (self.site() / "hostile.pth").write_text(program)
        self.assert_ok(self.variant("list", "--python", self.venv))
        ran.unlink()
        subprocess.run([self.interpreter(), "-c", ""], check=True)
        once = ran.read_text()
        ran.unlink()
        folder = self.module("folder", "unrelated")
        for name in ("sitecustomize", "usercustomize", "json", "os", "site", "posix", "encodings"):
            (folder / f"{name}.py").write_text(f"open({str(ran)!r}, 'a').write({name!r})\n")
        env = {"PYTHONINSPECT": "1", "PYTHONSTARTUP": str(folder / "json.py")}
        body = self.doctor(env=env, cwd=folder)
        self.assertEqual(ran.read_text(), once, body)
        self.assertNotIn("hostile.pth", json.dumps(body))

    def test_for_another_machine_the_surroundings_are_not_looked_at(self):
        other = self.module("other", "demo")
        body = self.lacks("module-hidden", self.good, env={"PYTHONPATH": str(other)})
        self.assertIn("PYTHONPATH", json.dumps(body["not_looked_at"]))


class NothingHidden(PathTestCase):
    """No false alarm: what is healthy, or cannot be imported anyway."""

    def sound_here(self, **options):
        codes = [one["code"] for one in self.doctor(**options)["findings"]]
        self.assertEqual([code for code in codes if code in ("module-hidden", "import-hidden")], [])

    def test_namespaces_are_shared(self):
        self.put("part", "1.0", {"space/part.py": ""})
        (self.root / "path/space").mkdir(parents=True)
        (self.root / "path/space/other.py").write_text("")
        self.sound_here(env={"PYTHONPATH": f"{self.root}/path"})
        (self.root / "path/space/__init__.py").write_text("")
        self.finds("module-hidden", env={"PYTHONPATH": f"{self.root}/path"})  # it is the whole of it then

    def test_a_module_for_another_python(self):
        self.put("demo", "1.0", {"demo.py": ""})
        (self.root / "path").mkdir()
        (self.root / "path/demo.cpython-37m-x86_64-linux-gnu.so").write_bytes(b"")
        self.assertEqual(self.imported("demo", {"PYTHONPATH": f"{self.root}/path"}), str(self.site() / "demo.py"))
        self.sound_here(env={"PYTHONPATH": f"{self.root}/path"})

    def test_the_packages_themselves_by_another_path(self):
        self.put("demo", "1.0", {"demo.py": ""})
        link = self.root / "link"
        link.symlink_to(self.site())
        for path in (self.site(), link, f"{self.root}/nowhere", f"{self.root}/nowhere::", "/dev/null"):
            self.sound_here(env={"PYTHONPATH": str(path)})
        self.sound_here(cwd=self.site())
        stdlib = os.path.dirname(os.__file__)
        self.sound_here(env={"PYTHONPATH": stdlib}, cwd=stdlib)

    def test_a_project_that_is_installed_from_here(self):
        project = self.module("project", "demo")
        self.module("project", "tests")
        (project / "noxfile.py").write_text("")
        self.put("demo", "1.0", {"__editable__.demo.pth": f"{project}\n"})
        other = self.module("other", "second")
        self.module("other", "tests")
        (other / "noxfile.py").write_text("")
        self.put("second", "1.0", {"__editable__.second.pth": f"{other}\n"})
        for folder in (project, other):
            self.sound_here(cwd=folder)
        src = self.module("src layout/src", "third")
        self.put("third", "1.0", {"third/__init__.py": ""})
        self.sound_here(cwd=src.parent)

    def test_what_setuptools_and_the_system_bring(self):
        (self.site() / "distutils-precedence.pth").write_text(
            "import os; var = 'SETUPTOOLS_USE_DISTUTILS'; enabled = os.environ.get(var, 'local') == 'local'; "
            "enabled and __import__('_distutils_hack').add_shim(); \n")
        (self.site() / "_distutils_hack").mkdir()
        (self.site() / "_distutils_hack/__init__.py").write_text("def add_shim(): pass\n")
        self.sound_here()
        subprocess.run([PYTHON, "-m", "venv", "--without-pip", "--system-site-packages", self.root / "sees"], check=True)
        self.venv = self.root / "sees"
        self.put("demo", "1.0", {"demo.py": ""})
        self.sound_here()
        self.assertEqual([one for one in self.variant("doctor", "--json", "--python", PYTHON).json["findings"]
                          if one["code"] in ("module-hidden", "wheel-foreign", "abi-misfit", "backends-mixed")], [])


if __name__ == "__main__":
    unittest.main()
