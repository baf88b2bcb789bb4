"""uv's variables for commands on projects: honoured as uv honours them, or refused with a word. docs/settings.md has the list."""

import pathlib
import re
import shutil
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from project_case import ProjectCase
from support import PYTHON, SOURCE, Wheel

PROJECT = """[project]
name = "demo-project"
version = "0.1"
requires-python = ">=3.9"
dependencies = ["demo"]

[dependency-groups]
dev = ["tool"]
"""
DEPTH = "import os; print(os.environ['UV_RUN_RECURSION_DEPTH'])"


class Variables(ProjectCase):
    def setUp(self):
        super().setUp()
        for name in ("demo", "tool", "other"):
            self.add(name, "1.0")
        self.env.update(UV_CACHE_DIR=str(self.root / "uv-cache"), UV_PYTHON_DOWNLOADS="never")
        self.twin = self.root / "twin"  # the same project, of uv
        self.twin.mkdir()
        self.begin()

    def begin(self, stale=False):
        """Both projects locked; `stale`: and changed since."""
        for folder in (self.folder, self.twin):
            (folder / "pyproject.toml").write_text(PROJECT)
        self.assert_ok(self.call("lock"))
        self.assert_ok(self.of_uv("lock"))
        if stale:
            for folder in (self.folder, self.twin):
                (folder / "pyproject.toml").write_text(PROJECT.replace('"demo"', '"demo", "other"'))

    def of_uv(self, *words, env=None):
        files = self.root / "files"
        if not files.exists():
            files.mkdir()
            for name in ("demo", "tool", "other"):
                Wheel(name, "1.0").write(files)
        place = ["--no-index", "--find-links", files]
        return self.uv(words[0], *place, *words[1:], env=env, cwd=self.twin)

    def state(self, folder, environment=".venv"):
        """What a command leaves: what the project requires, whether the lock has it, and what is installed."""
        project = (folder / "pyproject.toml").read_text()
        lock = folder / ("axle.lock" if folder == self.folder else "uv.lock")
        packages = set(re.findall(r'name = "(demo|tool|other)"', lock.read_text()))
        installed = {path.name.split("-")[0] for path in (folder / environment).glob("lib/*/site-packages/*.dist-info")}
        return "other" in project, packages, installed

    def assert_alike(self, words, env, stale=False):
        """Both end well or not, and leave the same."""
        self.begin(stale)
        theirs = self.of_uv(*words, env=env)
        ours = self.call(*words, env=env)
        both = f"ours: {ours}\ntheirs: {theirs}"
        self.assertEqual(ours.code == 0, theirs.code == 0, both)
        environment = env.get("UV_PROJECT_ENVIRONMENT") or ".venv"
        self.assertEqual(self.state(self.folder, environment), self.state(self.twin, environment), both)
        return ours, theirs

    # (command, variables, whether the lock is out of date)
    ALIKE = [
        (["sync"], {"UV_FROZEN": "1"}, False), (["sync"], {"UV_FROZEN": "1"}, True), (["sync"], {"UV_FROZEN": "0"}, True),
        (["sync"], {"UV_LOCKED": "1"}, False), (["sync"], {"UV_LOCKED": "1"}, True), (["sync"], {"UV_LOCKED": "off"}, True),
        (["sync", "--locked"], {"UV_FROZEN": "1"}, True), (["sync", "--frozen"], {"UV_LOCKED": "1"}, True),
        (["sync"], {"UV_FROZEN": "1", "UV_LOCKED": "1"}, False), (["sync"], {"UV_FROZEN": ""}, False),
        (["sync"], {"UV_LOCKED": "perhaps"}, False),
        (["lock"], {"UV_LOCKED": "1"}, False), (["lock"], {"UV_LOCKED": "1"}, True),
        (["sync"], {"UV_NO_SYNC": "1"}, True),  # neither reads it there
        (["add", "other"], {"UV_NO_SYNC": "1"}, False), (["add", "other"], {"UV_FROZEN": "1"}, False),
        (["add", "other"], {"UV_LOCKED": "1"}, False), (["remove", "demo"], {"UV_LOCKED": "1"}, False),
        (["add", "other"], {"UV_DEV": "1"}, False), (["remove", "tool"], {"UV_DEV": "1"}, False),
        (["add", "--group", "docs", "other"], {"UV_DEV": "1"}, False),
        (["sync"], {"UV_NO_DEV": "1"}, False), (["sync"], {"UV_NO_GROUP": "dev"}, False),
        (["sync"], {"UV_NO_DEFAULT_GROUPS": "1"}, False), (["run", "true"], {"UV_NO_DEV": "1"}, False),
        (["run", "true"], {"UV_FROZEN": "1"}, True), (["run", "true"], {"UV_LOCKED": "1"}, True),
        (["sync"], {"UV_PROJECT_ENVIRONMENT": "other/env"}, False), (["sync"], {"UV_PROJECT_ENVIRONMENT": ""}, False),
        (["run", "true"], {"UV_PROJECT_ENVIRONMENT": "elsewhere"}, False),
        (["run", "true"], {"UV_RUN_RECURSION_DEPTH": "100"}, False), (["run", "true"], {"UV_RUN_RECURSION_DEPTH": "101"}, False),
        (["run", "true"], {"UV_RUN_RECURSION_DEPTH": "x"}, False),
        (["run", "true"], {"UV_RUN_RECURSION_DEPTH": "3", "UV_RUN_MAX_RECURSION_DEPTH": "2"}, False),
        (["sync"], {"UV_PYTHON": "/nosuch/python"}, False), (["sync"], {"UV_PYTHON": PYTHON}, False),
        (["sync"], {"UV_PROJECT": "/nosuch"}, False),
        (["run", "true"], {"UV_ENV_FILE": "nosuch"}, False),
        (["run", "true"], {"UV_ENV_FILE": "nosuch", "UV_NO_ENV_FILE": "1"}, False),
    ]

    def test_as_uv(self):
        for words, env, stale in self.ALIKE:
            with self.subTest(words=words, env=env, stale=stale):
                for folder in (self.folder, self.twin):
                    shutil.rmtree(folder)
                    folder.mkdir()
                self.assert_alike(words, env, stale)

    def test_an_option_counts_more_and_says_so(self):
        for words, env, said in ((["--locked"], {"UV_FROZEN": "1"}, "UV_FROZEN does not count beside --locked"),
                                 (["--frozen"], {"UV_LOCKED": "1"}, "UV_LOCKED does not count beside --frozen")):
            self.assertIn("warning: " + said, self.assert_ok(self.call("sync", "--dry-run", *words, env=env)).err)
        self.assert_fails(self.call("sync", env={"UV_FROZEN": "1", "UV_LOCKED": "1"}), 2, "UV_FROZEN and UV_LOCKED cannot be combined")
        for name in ("UV_FROZEN", "UV_LOCKED"):
            self.assert_fails(self.call("sync", "--upgrade", env={name: "1"}), 2, f"--upgrade has no effect with {name}")

    def test_exit_codes_of_a_lock_that_is_out_of_date(self):
        self.begin(stale=True)
        for words in (["sync"], ["lock"], ["run", "true"], ["export", "--format", "requirements"], ["tree"]):
            self.assert_fails(self.call(*words, env={"UV_LOCKED": "1"}), 4)

    def test_no_sync(self):
        self.assert_fails(self.call("run", "true", env={"UV_NO_SYNC": "1"}), 1, ".venv does not exist", "variant sync")
        self.assert_ok(self.call("sync", "--no-dev"))
        self.assert_ok(self.call("run", "true", env={"UV_NO_SYNC": "1"}))
        self.assertEqual(sorted(self.installed()), ["demo"])
        self.assert_ok(self.call("run", "true"))
        self.assertEqual(sorted(self.installed()), ["demo", "tool"])

    def test_the_environment_is_the_stated_one_for_every_command(self):
        env = {"UV_PROJECT_ENVIRONMENT": "env/here"}
        self.assert_ok(self.call("sync", env=env))
        self.assertFalse(self.environment.exists())
        self.assert_ok(self.call("verify", env=env))
        prefix = self.assert_ok(self.call("run", "python", "-c", "import sys; print(sys.prefix)", env=env)).out.strip()
        self.assertEqual(prefix, str(self.folder / "env/here"))
        self.assert_ok(self.call("add", "other", env={**env}))
        self.assertIn("other", self.installed(self.folder / "env/here"))
        self.assert_fails(self.call("verify"), 1, ".venv does not exist")
        absolute = {"UV_PROJECT_ENVIRONMENT": str(self.root / "absolute")}
        self.assert_ok(self.call("sync", env=absolute))
        self.assertIn("demo", self.installed(self.root / "absolute"))

    def test_run_counts_how_often_it_starts_itself(self):
        self.assertEqual(self.assert_ok(self.call("run", "python", "-c", DEPTH)).out, "1\n")
        self.assertEqual(self.assert_ok(self.call("run", "python", "-c", DEPTH, env={"UV_RUN_RECURSION_DEPTH": "41"})).out, "42\n")
        self.assert_fails(self.call("run", "true", env={"UV_RUN_RECURSION_DEPTH": "101"}), 2, "101 times", "UV_RUN_MAX_RECURSION_DEPTH")
        self.assert_fails(self.call("run", "true", env={"UV_RUN_MAX_RECURSION_DEPTH": "many"}), 2, "UV_RUN_MAX_RECURSION_DEPTH: `many`")

    def test_the_project_itself(self):
        (self.folder / "pyproject.toml").write_text(PROJECT + '[build-system]\nrequires = []\nbuild-backend = "nosuch"\n')
        for name in ("UV_NO_INSTALL_PROJECT", "UV_NO_INSTALL_WORKSPACE"):
            self.assert_ok(self.call("sync", env={name: "1"}))
        self.assertNotEqual(self.call("sync").code, 0)
        missing = self.call("verify", "--json").json["drift"]
        self.assertEqual([one["package"] for one in missing], ["demo-project"])
        self.assert_ok(self.call("verify", env={"UV_NO_INSTALL_PROJECT": "1"}))

    REFUSED = [
        ("UV_FROZEN", "1", ["lock"], "variant lock --check"), ("UV_LOCKED", "1", ["add", "other"], "unset it"),
        ("UV_LOCKED", "1", ["remove", "demo"], "unset it"), ("UV_LOCKED", "1", ["import", "requirements.txt"], "unset it"),
        ("UV_ISOLATED", "1", ["run", "true"], "unset it"), ("UV_NO_PROJECT", "1", ["run", "true"], "without `variant run`"),
        ("UV_ENV_FILE", ".env", ["run", "true"], "set -a"), ("UV_RUN_RLIMIT_NOFILE", "512", ["run", "true"], "ulimit -n"), ("UV_INIT_BUILD_BACKEND", "hatch", ["init", "new"], "[build-system]"),
        ("UV_NO_BINARY", "1", ["lock"], "--no-binary :all:"), ("UV_NO_BINARY_PACKAGE", "demo", ["sync"], "--no-binary"),
        ("UV_NO_BUILD_PACKAGE", "demo", ["sync"], "no-build-package"), ("UV_NO_INSTALL_LOCAL", "1", ["sync"], "--no-install-project"),
        ("UV_ONLY_INSTALL_PROJECT", "1", ["sync"], "uv"), ("UV_ONLY_INSTALL_WORKSPACE", "1", ["sync"], "uv"),
        ("UV_ONLY_INSTALL_LOCAL", "1", ["verify"], "uv"),
    ] + [(name, "/", words, "cd DIR") for name in ("UV_PROJECT", "UV_WORKING_DIR", "UV_WORKING_DIRECTORY")
         for words in (["init", "new"], ["lock"], ["sync"], ["run", "true"], ["tree"], ["verify"], ["outdated"], ["add", "other"],
                       ["remove", "demo"], ["import", "requirements.txt"], ["export", "--format", "slurm"])]

    def test_what_is_refused(self):
        (self.folder / "requirements.txt").write_text("other\n")
        before = {path: path.read_bytes() for path in self.folder.iterdir()}
        for name, value, words, instead in self.REFUSED:
            with self.subTest(name=name, words=words):
                self.assert_fails(self.call(*words, env={name: value}), 2, f"{name}: `{value}` is not supported by `variant {words[0]}`", instead)
                self.assertEqual({path: path.read_bytes() for path in self.folder.iterdir()}, before)
        for name, value, words, _ in self.REFUSED:
            if value == "1" and words[0] in ("lock", "sync"):
                self.assert_ok(self.call(*words, env={name: "0"}))

    def test_other_commands_do_not_read_them(self):
        self.make_venv()
        env = {name: "x" for name, *_ in self.REFUSED if name not in ("UV_PROJECT", "UV_WORKING_DIR", "UV_WORKING_DIRECTORY")}
        self.assert_ok(self.call("install", "--dry-run", "demo", "--python", self.venv, env=env))

    def test_every_variable_of_the_page_is_tested(self):
        page = (SOURCE / "docs/settings.md").read_text()
        listed = set(re.findall(r"`(UV_\w+)`", page.split("## Of projects")[1].split("\n## ")[0]))
        self.assertGreater(len(listed), 20)
        tested = {name for _, env, _ in self.ALIKE for name in env} | {name for name, *_ in self.REFUSED}
        tested |= {"UV_NO_INSTALL_PROJECT", "UV_NO_INSTALL_WORKSPACE", "UV_NO_BUILD"}
        self.assertEqual(listed - tested, set())

    def test_nothing_is_built(self):
        self.add("demo", "2.0")
        env = {"UV_NO_BUILD": "1"}
        self.assert_ok(self.call("sync", "--upgrade", env=env))
        self.assert_fails(self.call("sync", env={"UV_NO_BUILD": "perhaps"}), 2, "UV_NO_BUILD")

    def test_every_variable_in_the_help_of_uv_is_listed(self):
        page = (SOURCE / "docs/settings.md").read_text()
        listed = {name.rstrip("*") for name in re.findall(r"`(\w+\*?)`", page)}
        for command in ("sync", "lock", "run", "add", "remove", "export", "tree", "init"):
            text = self.assert_ok(self.uv("help", command, "--no-pager")).out
            named = set(re.findall(r"env: [`\"]?(\w+)", text))
            self.assertGreater(len(named), 5, command)
            self.assertEqual({name for name in named if not any(name.startswith(one) for one in listed)}, set(), command)


if __name__ == "__main__":
    unittest.main()
