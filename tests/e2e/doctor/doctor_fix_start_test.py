"""An interpreter that ends or prints at its start, by a file that `site` runs or by a variable: found also if its answer is
cached, with the interpreter as the oracle, and fixed as `variant doctor` proposes."""

import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from path_case import PathTestCase
from support import PYTHON, Wheel

EXIT = "import sys; sys.exit(3)"
FAIL = "import nothing_of_that_name"
PRINT = "import sys; print('good morning')"


class StartTestCase(PathTestCase):
    def start(self, env=None, cwd=None):
        return subprocess.run([self.interpreter(), "-c", "print('up')"], env={**self.env, **(env or {})}, text=True,
                              cwd=cwd or self.root, capture_output=True, timeout=60)

    def is_sound(self, env=None):
        done = self.start(env)
        return (done.returncode, done.stdout, done.stderr) == (0, "up\n", "")

    def heals(self, env=None, machine=None, reveals=()):
        """The finding, whose fix lets the interpreter start; also if its answer is cached."""
        self.assertFalse(self.is_sound(env))
        ended = "up" not in self.start(env).stdout
        found = self.fixes("start-broken", machine, env=env, reveals=reveals)
        self.assertEqual(found["severity"], "error" if ended else "warning", found)
        return found


class Files(StartTestCase):
    def cached(self):
        """Doctor has seen it healthy."""
        self.lacks("start-broken")

    def test_a_line_of_a_pth_file(self):
        pth = self.site() / "mine.pth"
        for line, text in ((EXIT, "SystemExit: 3"),  # nothing is cached before
                           (EXIT, "SystemExit: 3"), ("import os; os._exit(4)", "os._exit(4)"),
                           (FAIL, "ModuleNotFoundError: No module named 'nothing_of_that_name'"), (PRINT, "good morning")):
            pth.write_text(f"# mine\nimport sys\n{line}\n")
            found = self.heals()
            self.assertEqual((found["subject"], found["fix"]), (str(pth), [f"sed -i -e '3s/^/# /' {pth}"]))
            self.assertEqual(found["evidence"][0], {"file": str(pth), "section": "line 3", "fact": text})
            self.assertIn(f"line 3 of {pth} ", found["message"])
            self.assertEqual(pth.read_text(), f"# mine\nimport sys\n# {line}\n")
            self.assertTrue(self.is_sound())

    def test_for_another_machine_too(self):
        (self.site() / "mine.pth").write_text(EXIT + "\n")
        self.heals(machine=self.good)
        self.sound()

    def test_the_lines_of_several_files(self):
        self.cached()
        one, two = self.site() / "one.pth", self.site() / "two.pth"
        one.write_text(f"{EXIT}\n{PRINT}\n{EXIT}\n")
        two.write_text(FAIL + "\n")
        found = [finding for finding in self.doctor()["findings"] if finding["code"] == "start-broken"]
        self.assertEqual([(finding["subject"], finding["severity"]) for finding in found],
                         [(str(one), "error"), (str(two), "warning")])
        self.assertEqual(found[0]["fix"], [f"sed -i -e '1s/^/# /' -e '2s/^/# /' -e '3s/^/# /' {one}"])
        self.heals()
        self.heals()
        self.assertTrue(self.is_sound())

    def test_a_file_that_is_not_text(self):
        pth = self.site() / "mine.pth"
        pth.write_bytes(b"# mine\n/caf\xe9\n")
        if self.is_sound():
            self.skipTest("this Python reads it as Latin-1")
        found = self.heals()
        self.assertEqual(found["fix"], [f"mv {pth} {pth}.disabled"])
        self.assertIn(f"line 2 of {pth} is not text", found["message"])
        self.assertTrue(self.is_sound())

    def test_a_module_that_a_pth_file_imports(self):
        """The file that is to blame is the one that is read at each start."""
        (self.site() / "hook.py").write_text("import sys\nsys.exit('hook')\n")
        (self.site() / "mine.pth").write_text("import hook\n")
        self.assertEqual(self.heals()["evidence"][0]["fact"], "SystemExit: hook")

    def test_a_file_of_a_package(self):
        self.cached()
        for line, first in ((EXIT, "sed -i -e '1s/^/# /'"), (FAIL, "variant uninstall hooks")):
            self.put_wheel(Wheel("hooks", "1.0", files={"hooks.pth": line + "\n", "hooks/__init__.py": ""}))
            found = self.heals()
            self.assertTrue(found["fix"][0].startswith(first), found)
            self.assertIn("hooks installed it", found["hint"])
            self.assertEqual((list(self.installed()), self.is_sound()), ([], True))
            self.assertFalse((self.site() / "hooks.pth").exists())
        # What another one needs stays, without the line.
        self.put_wheel(Wheel("hooks", "1.0", files={"hooks.pth": FAIL + "\n"}))
        self.put_wheel(Wheel("needs-them", "1.0", requires=["hooks>=1"]))
        found = self.heals(reveals=["files-changed"])
        self.assertEqual(len(found["fix"]), 1)
        self.assertEqual(sorted(self.installed()), ["hooks", "needs-them"])

    def test_lines_that_look_at_the_frame_above(self):
        """As those of setuptools do for namespaces."""
        (self.site() / "space-nspkg.pth").write_text("import sys; sys._getframe(1).f_locals['sitedir']\n")
        self.assertTrue(self.is_sound())
        (self.site() / "mine.pth").write_text(PRINT + "\n")
        self.assertEqual(self.heals()["subject"], str(self.site() / "mine.pth"))

    def test_a_sitecustomize(self):
        self.made_prefix()
        for other in (self.venv / "lib").glob("python3*/sitecustomize.py"):
            other.unlink()
        self.cached()
        file = self.site() / "sitecustomize.py"
        for line, text in ((EXIT, "SystemExit: 3"), ("raise ValueError('no')", "ValueError: no"), (PRINT, "good morning"),
                           ("def broken(:", None)):
            file.write_text(f"import os\n{line}\n")
            found = self.heals()
            self.assertEqual((found["subject"], found["evidence"][0]["section"]), (str(file), "line 2"))
            if text:
                self.assertEqual(found["evidence"][0]["fact"], text)
            self.assertEqual(found["fix"], [f"mv {file} {file}.disabled"])
            self.assertTrue(self.is_sound())
            (self.site() / "sitecustomize.py.disabled").unlink()
        (self.site() / "sitecustomize").mkdir()
        (self.site() / "sitecustomize/__init__.py").write_text(EXIT + "\n")
        (self.site() / "sitecustomize.disabled").mkdir()  # from the last time
        self.assertEqual(self.heals()["fix"], [f"mv {self.site()}/sitecustomize {self.site()}/sitecustomize.disabled2"])
        self.assertTrue(self.is_sound())

    def test_the_user_site(self):
        self.made_prefix()
        user = pathlib.Path(subprocess.run([self.interpreter(), "-c", "import site; print(site.getusersitepackages())"],
                                           env=self.env, text=True, capture_output=True, check=True).stdout.strip())
        user.mkdir(parents=True)
        self.cached()
        for line in (EXIT, "raise ValueError('no')"):
            (user / "usercustomize.py").write_text(f"import os\n\n{line}\n")
            found = self.heals()
            self.assertEqual((found["subject"], found["evidence"][0]["section"]), (str(user / "usercustomize.py"), "line 3"))
            self.assertTrue(self.is_sound())
        (user / "mine.pth").write_text(EXIT + "\n")
        self.assertEqual(self.heals()["subject"], str(user / "mine.pth"))
        # That of this machine's user is no matter of another one.
        (user / "mine.pth").write_text(EXIT + "\n")
        self.lacks("start-broken", self.good)

    def test_what_is_no_interpreter_is_not_explained(self):
        program = self.root / "program"
        program.write_text("#!/bin/sh\necho hello\nexit 3\n")
        program.chmod(0o755)
        body = self.doctor(None, "--python", program, environment=False)
        self.assertIn("environment-broken", [one["code"] for one in body["findings"]])
        self.assertNotIn("start-broken", [one["code"] for one in body["findings"]])

    def test_an_interpreter_that_lost_its_library_is_not_healthy_because_its_answer_is_cached(self):
        self.made_prefix()
        self.cached()
        library = next((self.venv / "lib").glob("python3*"))
        (library / "encodings").unlink()
        found = self.finds("environment-broken", severity="error")
        self.assertIn("exited with status", found["evidence"][0]["fact"])
        self.lacks("start-broken")


class Variables(StartTestCase):
    def test_each_that_ends_it(self):
        broken = self.module("broken", "encodings", "raise SystemExit('broken on purpose')")
        customized = self.module("customized", "unrelated")
        (customized / "sitecustomize.py").write_text("import os\n" + EXIT + "\n")
        for name, value in (("PYTHONHOME", "/nowhere"), ("PYTHONPATH", str(broken)), ("PYTHONPATH", str(customized)),
                            ("PYTHONHASHSEED", "often"), ("PYTHONIOENCODING", "no-such-encoding")):
            found = self.heals({name: value, "PYTHONDONTWRITEBYTECODE": "1"})
            self.assertEqual((found["subject"], found["fix"]), (name, [f"unset {name}"]))
            self.assertEqual(found["evidence"][0]["section"], name)
        found = self.finds("start-broken", env={"PYTHONPATH": str(customized)})
        self.assertEqual(found["evidence"][1], {"file": f"{customized}/sitecustomize.py", "section": "line 2",
                                                "fact": "SystemExit: 3"})

    def test_those_of_the_loader(self):
        found = self.heals({"LD_PRELOAD": "/nowhere/lib.so"})
        self.assertEqual((found["subject"], found["fix"]), ("LD_PRELOAD", ["unset LD_PRELOAD"]))
        self.assertIn("/nowhere/lib.so", found["evidence"][0]["fact"])
        linked = subprocess.run(["ldd", self.interpreter()], text=True, capture_output=True).stdout
        names = [name for name in re.findall(r"^\s*(lib\S+\.so\S*) =>", linked, re.M)
                 if not re.match(r"lib(c|m|dl|pthread|rt|util|gcc_s|stdc\+\+)\.so", name)]
        if not names:
            self.skipTest("this Python needs no library but the C library")
        (self.root / "libraries").mkdir()
        (self.root / "libraries" / names[0]).write_bytes(b"\x7fELF")
        for machine, cache in ((None, "one"), (self.good, "two")):  # for another one too, if there is no answer without
            found = self.heals({"LD_LIBRARY_PATH": f"{self.root}/libraries", "AXLE_CACHE_DIR": f"{self.root}/{cache}"}, machine)
            self.assertEqual((found["subject"], found["fix"]), ("LD_LIBRARY_PATH", ["unset LD_LIBRARY_PATH"]))
            self.assertIn(names[0], found["evidence"][0]["fact"])

    def test_several_are_found_one_by_one(self):
        env = {"PYTHONHOME": "/nowhere", "LD_PRELOAD": "/nowhere/lib.so", "PYTHONUNBUFFERED": "1", "PYTHONHASHSEED": "often"}
        found = [one for one in self.doctor(env=env)["findings"] if one["code"] == "start-broken"]
        self.assertEqual(sorted((one["subject"], one["fix"][0]) for one in found),
                         [(name, f"unset {name}") for name in ("LD_PRELOAD", "PYTHONHASHSEED", "PYTHONHOME")])

    def test_those_that_do_no_harm(self):
        folder = self.module("folder", "unrelated")
        env = {"PYTHONVERBOSE": "1", "PYTHONINSPECT": "1", "PYTHONPATH": str(folder), "LD_LIBRARY_PATH": str(folder),
               "PYTHONDEVMODE": "1", "LD_BIND_NOW": "1", "PYTHONNOUSERSITE": "1", "PYTHONPROFILEIMPORTTIME": "1"}
        self.lacks("start-broken", env=env)
        self.lacks("start-broken", cwd=self.module("here", "encodings", "raise SystemExit"))

    def test_the_system_s_own_is_sound(self):
        body = self.variant("doctor", "--json", "--python", PYTHON).json
        self.assertNotIn("start-broken", [one["code"] for one in body["findings"]])


if __name__ == "__main__":
    unittest.main()
