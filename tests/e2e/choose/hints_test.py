"""Every command that an error or a warning proposes is run as it stands, where it was proposed, and works.

Commands stand in backticks in hints, complete; tests/e2e/doctor/doctor_fix*_test.py do the same for `variant doctor`. All is done
twice: as a user has it who configured everything, and (Elsewhere) with what the run was told on its command line alone."""

import json
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from cause_test import VERSION, CauseTestCase, sdist
from support import PEERS, SOURCE, Index, Wheel, levels_document, publish_levels, tree, variant_document

ROOMS = "resolver installer index builder cli providers wheel machines detect report".split()
BEGIN = r"(?:variant|pip|uv|python3 -m)"
# Literals that are no hints: help, the tables of docs, what completes commands, and the text of an index's pages for people.
NOT_HINTS = {"index/browse/page_frame.cpp", "index/browse/project_page.cpp", "cli/commands.cpp", "session/options.cpp", "doctor/finding.cpp", "session/settings/setting_rows.h", "session/variables.h"}
# Mentions of a command by its name, which propose nothing.
MENTIONS = {
    "variant import": "project_files_test.py runs it",
    "variant add": "project_files_test.py runs it",
    "variant lock --upgrade": "sync_test.py runs it",
    "variant run python -V": "sync_test.py runs such commands",
    "variant index build": "says who wrote an index",
    "variant ci github": "the first line of the file that it writes",
    "variant ci gitlab": "the first line of the file that it writes",
    "variant ci make": "the first line of the file that it writes",
    "variant ci slurm": "the first line of the file that it writes",
    "not in backticks: python3 -m pip install --quiet variant-install": "a line of the file that it writes",
    "variant repack --label": "repack_test.py runs it",
    "variant index": "says who wrote an index",
    "variant index add": "says who wrote an index",
    "variant index update": "incremental_test.py and lint_test.py run it",
    "variant index remove": "lint_test.py runs it",
    "variant publish --help": "the text of --help",
    "variant index {} --help": "the text of --help",
    "variant mirror": "says who wrote an index",
    "variant COMMAND --help": "the text of --help",
    "variant providers trust": "a comment in the file that it writes",
    "variant build": "says what the wheels were meant for",
    "variant model tune": "measures, which takes minutes; tests/runtime/tune has its tests",
    "variant check": "looks, and may find something",
    "variant check --deep": "looks, and may find something",
    "variant doctor": "looks, and may find something",
    "variant undo": "says what is not recorded for it",
    "variant lock": "says what makes or renews a lock",
    "variant sync": "says what installs a lock",
    "variant model tune": "says what measures again",
    "variant providers retry acme": "an example of what to write",
    "variant providers retry {}": "plugin_failures_test.py runs it",
    "pip install keyring": "needs a package index that has keyring",
}
RUN = set()


def literals(text):
    text = re.sub(r"(?m)^\s*//.*$|^#include.*$", "", text)
    text = re.sub(r'(?<!\\)"\s*\n?\s*"', "", text)
    return re.findall(r'"((?:[^"\\\n]|\\.)*)"', text)


def proposals():
    """(file, command) of every literal; {…} where something is filled in, … where it goes on."""
    for room in ROOMS:
        for path in sorted((SOURCE / room).rglob("*.cpp")) + sorted((SOURCE / room).rglob("*.h")):
            name = str(path.relative_to(SOURCE))
            if name in NOT_HINTS:
                continue
            for literal in literals(path.read_text()):
                for at, part in enumerate(literal.split("`")):
                    if at % 2 and re.match(BEGIN + r"\b.* ", part + " ") and " " in part:
                        yield name, part
                outside = " ".join(literal.split("`")[0::2])
                loose = re.search(r"\b(variant (install|uninstall|explain|detect|list|providers|index)|pip (install|wheel)"
                                  r"|-m venv|-m pip)\b", outside)
                if loose and not outside.startswith(loose.group(0)) and "\\n" not in literal:
                    yield name, f"not in backticks: {literal}"


def without_python(command):
    return re.sub(r"^pip --python \S+ ", "pip ", command)


class Hints(CauseTestCase):
    def setUp(self):
        super().setUp()
        # As a user has it: an active environment, a configured index, and the programs on the path.
        self.env |= {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "UV_CACHE_DIR": str(self.root / "uv-cache"),
                     "VIRTUAL_ENV": str(self.venv), "PIP_INDEX_URL": self.index.url, "UV_INDEX_URL": self.index.url}

    def configure_the_index(self):
        """For runs that take no index on their command line."""

    def hints_of(self, result):
        try:
            found = [json.loads(result.out)["error"]["hint"]]
        except (ValueError, KeyError):
            found = []
        return found + re.findall(r"(?m)^  hint: (.*)$", result.err)

    def follow(self, result, *expected, cwd=None):
        """Runs what the hints propose, in order; `expected`: the beginnings of these commands."""
        commands = [one for hint in self.hints_of(result) for one in re.findall("`([^`]*)`", hint)
                    if re.match(BEGIN + r"\b.* ", one + " ")]
        for beginning in expected:
            self.assertTrue([one for one in commands if without_python(one).startswith(beginning)],
                            f"{beginning}: {commands}\n{result}")
        self.assertEqual(len(commands), len(expected), f"{commands}\n{result}")
        for command in commands:
            if re.match("pip|uv", command) and not (PEERS / "uv").exists():
                self.skipTest(f"{PEERS} has no pip and uv: ./dev setup brings them")
            done = subprocess.run(["/bin/sh", "-c", command], env=self.env, cwd=cwd or self.root, text=True,
                                  capture_output=True, timeout=240, stdin=subprocess.DEVNULL)
            # That nothing fits is what explain was asked for.
            good = (0, 3) if command.startswith("variant explain") else (0,)
            self.assertIn(done.returncode, good, f"{command}\n{done.stdout}\n{done.stderr}")
            RUN.add(without_python(command))
        return commands

    def project(self, name="project"):
        file, data = sdist("demo", "1.0")
        (self.root / "sdist.tar.gz").write_bytes(data)
        subprocess.run(["tar", "-xzf", self.root / "sdist.tar.gz", "-C", self.root], check=True)
        (self.root / "demo-1.0").rename(self.root / name)
        return self.root / name

    # --- choosing

    def test_a_source_distribution_is_built_and_installed(self):
        self.index.add_sdist("demo", "1.0")
        result = self.variant("install", "demo")
        self.follow(result, "variant install --build=demo demo==1.0")
        self.assertEqual(self.installed()["demo"], ("1.0", None))

    def test_for_another_machine_nothing_is_built_here(self):
        self.index.add_sdist("demo", "1.0")
        self.follow(self.variant("install", "demo", "--for", "none"), "pip wheel", "variant install --find-links wheels demo==1.0")
        self.assertEqual(self.installed()["demo"], ("1.0", None))
        self.assert_ok(self.variant("uninstall", "demo"))
        self.index.add_wheel(Wheel("demo", "1.0"))
        result = self.variant("install", "--no-binary", ":all:", "demo<2", "--for", "none")
        self.follow(result, "uv pip install --no-binary demo 'demo<2'", "pip wheel --no-binary demo")
        self.assertEqual(self.installed()["demo"], ("1.0", None))

    def test_what_may_not_come_as_a_wheel_is_built(self):
        self.index.add_sdist("demo", "1.0")
        self.index.add_wheel(Wheel("demo", "1.0"))
        result = self.variant("install", "--no-binary", ":all:", "demo<2")
        self.follow(result, "variant install --build=demo 'demo<2'")
        self.assertEqual(self.installed()["demo"], ("1.0", None))

    def test_what_does_not_fit_is_explained(self):
        self.index.add_wheel(Wheel("demo", "1.0", tags="py3-none-win_amd64"))
        self.follow(self.variant("install", "demo==1.0"), "variant explain demo==1.0")

    def test_the_best_variant_that_fits_is_offered(self):
        document = levels_document(("v1", "v2"), extra={"v9": "v9"})
        for label in document["variants"]:
            self.index.add_wheel(Wheel("demo", "1.0", label, document))
        self.index.add_variants("demo", "1.0", document)
        result = self.variant("install", "demo", "--variant", "demo=v9", "--for", "h100")
        command, = self.follow(result, "variant install --variant demo=v1 demo==1.0")
        self.assertNotIn("demo=v9", command)

    def test_what_is_not_built_for_a_vendor_is_explained(self):
        publish_levels(self.index)
        result = self.variant("install", "demo", "--require", "nvidia", "--for", "h100")
        self.follow(result, "variant explain demo")
        self.follow(self.variant("install", "demo", "--require", "acme"), "variant providers list")

    def test_families_are_listed(self):
        self.follow(self.variant("resolve", "torch", "--family", "flame=file:///nowhere"), "variant index families")
        self.follow(self.variant("resolve", "torch", "--torch-backend", "cuda"), "variant index families")

    # --- what is installed

    def test_what_is_not_installed_is_listed(self):
        self.follow(self.variant("uninstall", "nothing"), "variant list")
        self.follow(self.variant("show", "nothing"), "variant list")

    def test_a_package_without_record_is_repaired(self):
        self.index.add_wheel(Wheel("demo", "1.0"))
        self.assert_ok(self.variant("install", "demo"))
        (self.site() / "demo-1.0.dist-info/RECORD").unlink()
        self.configure_the_index()
        result = self.variant("uninstall", "demo")
        self.follow(result, "variant install --reinstall --no-deps demo==1.0")
        self.assert_ok(self.variant("uninstall", "demo"))

    def test_a_package_that_is_installed_twice(self):
        for version in ("1.0", "2.0"):
            wheel = Wheel("demo", version)
            self.index.add_wheel(wheel)
            (self.site() / wheel.dist_info).mkdir()
            (self.site() / wheel.dist_info / "METADATA").write_text(wheel.members[f"{wheel.dist_info}/METADATA"])
            (self.site() / wheel.dist_info / "RECORD").write_text(f"{wheel.dist_info}/METADATA,,\n")
        self.configure_the_index()
        result = self.variant("list")
        self.assertIn("installed twice", result.err)
        self.follow(result, "variant install --reinstall --no-deps demo==2.0")
        self.assertEqual(self.variant("list").err, "")

    def test_an_environment_is_made(self):
        folder = self.root / "empty"
        folder.mkdir()
        self.env.pop("VIRTUAL_ENV")
        self.follow(self.variant("list", cwd=folder), "variant venv", cwd=folder)
        self.assert_ok(self.variant("list", cwd=folder))

    def test_another_file_under_a_mirrored_name_is_removed(self):
        self.index.add_wheel(Wheel("demo", "1.0"))
        words = ["mirror", "demo", "--out", "my mirror", "--python", self.venv, "--index-url", self.index.url]
        self.assert_ok(super().variant(*words))
        (self.root / "my mirror/simple/demo/demo-1.0-py3-none-any.whl").write_bytes(b"other")
        self.follow(super().variant(*words), "variant index remove demo-1.0-py3-none-any.whl")
        self.assert_ok(super().variant(*words))

    def test_what_would_break_is_uninstalled(self):
        for version in ("1.0", "2.0"):
            self.index.add_wheel(Wheel("demo", version))
        self.index.add_wheel(Wheel("pins", "1.0", requires=["demo<2"]))
        self.assert_ok(self.variant("install", "pins"))
        self.follow(self.variant("install", "demo==2.0"), "variant uninstall pins")
        self.assert_ok(self.variant("install", "demo==2.0"))

    def test_a_wheel_is_ranked(self):
        document = publish_levels(self.index)
        (self.root / "my wheels").mkdir()
        name = Wheel("demo", "1.0", "v1", document).write(self.root / "my wheels").name
        self.follow(self.variant("explain", f"my wheels/{name}"), f"variant rank 'my wheels/{name}'")

    # --- which index

    def test_an_index_that_was_not_asked_is_asked(self):
        first = Index(self.root / "first")
        first.add_wheel(Wheel("demo", "1.0"))
        self.index.add_wheel(Wheel("demo", "2.0"))
        run = ("install", "demo>=2", "--extra-index-url", first.url)
        hint = self.hints_of(self.assert_fails(self.variant(*run), 1, "no version of demo"))[0]
        self.assertIn(f"{self.index.folder} was not queried", hint)
        option = re.search(r"--index-strategy \S+", hint).group(0)
        self.assert_ok(self.variant(*run, *option.split()))
        self.assertEqual(self.installed()["demo"], ("2.0", None))

    def test_a_requirements_file_of_a_server_that_is_not_there(self):
        for option in ("-r", "-c", "--overrides"):
            result = self.variant("install", "demo", option, "http://me:secret@127.0.0.1:1/needs.txt", "--retries", "0")
            self.assert_fails(result, 1, "the requirements file http://127.0.0.1:1/needs.txt: cannot connect")
            self.assertNotIn("secret", result.err)

    def test_a_project_is_compiled(self):
        self.index.add_wheel(Wheel("demo", "1.0"))
        (self.root / "my project").mkdir()
        (self.root / "my project/pyproject.toml").write_text('[project]\nname = "p"\nversion = "1"\ndependencies = ["demo"]\n')
        result = self.variant("install", "demo", "-c", "my project/pyproject.toml")
        self.follow(result, "uv pip compile 'my project/pyproject.toml' -o requirements.txt")
        self.assertIn("demo==1.0", (self.root / "requirements.txt").read_text())

    def test_a_project_that_needs_a_source_distribution_is_locked(self):
        self.index.add_sdist("demo", "1.0")
        folder = self.root / "my project"
        folder.mkdir()
        (folder / "pyproject.toml").write_text(f'[project]\nname = "p"\nversion = "1"\nrequires-python = "=={VERSION}.*"\n'
                                               'dependencies = ["demo"]\n')
        # A project's indexes are its own or the user's, and its environment is in its folder.
        self.configure_the_index()
        del self.env["VIRTUAL_ENV"]
        result = super().variant("lock", cwd=folder)
        self.follow(result, "variant lock --build=demo", cwd=folder)
        self.assertIn('name = "demo"', (folder / "axle.lock").read_text())

    # --- machines, providers, indexes, the runtime

    def test_machines_are_recorded_and_listed(self):
        empty = self.root / "fleet"
        empty.mkdir()
        self.follow(self.variant("detect", "--for", empty), "variant detect --profile machine.json")
        (self.root / "broken.json").write_text("{")
        self.follow(self.variant("detect", "--for", self.root / "broken.json"), "variant detect --profile machine.json")

    def test_the_sites_profile_is_renewed(self):
        (self.root / "the site.json").write_text("{")
        self.env["AXLE_SITE_PROFILE"] = str(self.root / "the site.json")
        self.follow(self.variant("detect"), "variant detect --profile")
        self.assertEqual(self.variant("detect", "--quiet").err, "")

    def test_gpus_are_listed(self):
        self.follow(self.variant("detect", "--gpu-policy", "device=7"), "variant detect")

    def test_what_is_published_is_taken_back(self):
        (self.root / "wheels").mkdir()
        Wheel("demo", "1.0").write(self.root / "wheels")
        self.assert_ok(self.variant("index", "build", "wheels", "--out", "the index"))
        Wheel("demo", "1.0", files={"demo.py": "other"}).write(self.root / "wheels")
        result = self.variant("index", "build", "wheels", "--out", "the index")
        self.follow(result, "variant index remove demo-1.0-py3-none-any.whl --out")
        self.assert_ok(self.variant("index", "build", "wheels", "--out", "the index"))
        self.follow(self.variant("index", "remove"), "variant index remove --help")

    def test_providers_are_listed(self):
        self.follow(self.variant("providers", "show", "acme"), "variant providers list")
        self.follow(self.variant("providers", "enable", "acme-corp"), "variant providers list")
        self.follow(self.variant("properties", "--namespace", "acme"), "variant providers list")

    def test_a_provider_is_trusted(self):
        document = variant_document({"fast": [("acme", "speed", ["9"])]}, namespaces=("acme",))
        self.index.add_wheel(Wheel("demo", "1.0", "fast", document))
        self.index.add_wheel(Wheel("demo", "1.0"))
        self.index.add_variants("demo", "1.0", document)
        result = self.variant("install", "demo")
        self.follow(result, "variant providers trust acme-provider")
        self.assertIn("acme-provider", self.variant("providers", "list").out)

    def test_help_is_offered(self):
        result = self.variant("install", "--no-such-option")
        commands = re.findall("`(variant [^`]*)`", result.err)
        self.assertEqual(commands, ["variant install --help"])
        self.follow(result, "variant install --help")

    def test_the_runtime_says_what_it_needs(self):
        self.follow(self.variant("model", "bench", "--for", "h100"), "variant properties --for h100")
        for kernel in ("amx_int8", "avx_vnni", "avx512_vnni", "avx512", "avx2"):
            result = self.variant("model", "bench", env={"AXLE_RUNTIME_KERNEL": kernel})
            if result.code == 3:
                break
        else:
            result.err = "  hint: `variant model info`\n"  # a machine with all of them
        self.follow(result, "variant model info")

    def test_a_provider_project_is_begun(self):
        self.follow(self.variant("providers", "new", "acme"), "variant providers new acme acme-provider")


INDEXED = ("install", "resolve", "explain")
INSTALLED = (*INDEXED, "uninstall", "list", "show", "check", "freeze")


class Elsewhere(Hints):
    """The same states, where another environment is active, the configured index is empty, and the failing run says both
    on its command line. Nothing is to be found in the active environment afterwards."""

    def setUp(self):
        super().setUp()
        self.decoy = self.make_venv(self.root / "active")
        empty = self.root / "no packages"
        empty.mkdir()
        self.env |= {"VIRTUAL_ENV": str(self.decoy), "PIP_INDEX_URL": empty.as_uri(), "UV_INDEX_URL": empty.as_uri()}
        before = tree(self.site(self.decoy))
        self.addCleanup(lambda: self.assertEqual(tree(self.site(self.decoy)), before))

    def configure_the_index(self):
        self.env |= {"PIP_INDEX_URL": self.index.url, "UV_INDEX_URL": self.index.url}

    def variant(self, *arguments, **options):
        where = ["--index-url", self.index.url] if arguments[0] in INDEXED else []
        if arguments[0] in INSTALLED and "VIRTUAL_ENV" in self.env:
            where += ["--python", self.venv]
        return super().variant(*arguments, *where, **options)

    def test_json_says_the_same(self):
        self.index.add_sdist("demo", "1.0")
        self.index.add_sdist("other", "1.0")
        for run in (("install", "demo"), ("resolve", "demo", "--for", "h100"), ("uninstall", "demo"),
                    ("install", "-r", "needs.txt")):
            with self.subTest(run=run):
                (self.root / "needs.txt").write_text("demo\n")
                text, data = self.variant(*run), self.variant(*run, "--json")
                self.assertIn("`", text.err)
                self.assertEqual(self.hints_of(text), self.hints_of(data))

    def test_what_requirements_files_say_is_repeated(self):
        self.index.add_sdist("demo", "1.0")
        self.index.add_wheel(Wheel("other", "1.0"))
        (self.root / "my needs.txt").write_text(f"--index-url {self.index.url}\ndemo\nother\n")
        result = super().variant("install", "-r", "my needs.txt", "--python", self.venv)
        command, = self.follow(result, "variant install --build=demo demo==1.0")
        self.assertIn("--requirement 'my needs.txt'", command)
        self.assertEqual({"demo", "other"} & set(self.installed()), {"demo", "other"})

    def test_the_machine_and_what_limits_the_choice_are_repeated(self):
        publish_levels(self.index)
        (self.root / "limits.txt").write_text("demo==1.0\n")
        result = self.variant("install", "demo", "--require", "nvidia", "--for", "h100", "-c", "limits.txt", "--cache-dir", "my cache",
                              "--index-strategy", "unsafe-best-match")
        command, = self.follow(result, "variant explain demo")
        for option in ("--require nvidia", "--for h100", "--constraint limits.txt", "--cache-dir 'my cache'",
                       "--index-strategy unsafe-best-match"):
            self.assertIn(option, command)

    def test_of_several_machines_the_one_that_failed_is_repeated(self):
        self.index.add_sdist("demo", "1.0")
        rows = self.variant("resolve", "demo", "--for", "h100", "--for", "gtx1080ti", "--json").json["machines"]
        for row, name in zip(rows, ("h100", "gtx1080ti"), strict=True):
            install = re.findall("`(variant install [^`]*)`", row["error"]["hint"])[0]
            self.assertEqual(re.findall("--for (\\S+)", install), [name])

    def test_the_links_are_repeated(self):
        folder = self.root / "it's here"
        folder.mkdir()
        name, data = sdist("demo", "1.0")
        (folder / name).write_bytes(data)
        result = super().variant("install", "demo", "--no-index", "--find-links", folder, "--python", self.venv)
        self.follow(result, "variant install --build=demo demo==1.0")
        self.assertEqual(self.installed()["demo"], ("1.0", None))

    def test_an_interpreter_by_its_version(self):
        """pip takes no version: the command finds the interpreter as Axle does."""
        (self.root / "tools").mkdir()
        program = self.root / "tools/python9.9"
        program.write_text(f'#!/bin/sh\nexec {self.venv}/bin/python "$@"\n')
        program.chmod(0o755)
        self.env["PATH"] = f"{self.root}/tools:{self.env['PATH']}"
        self.index.add_sdist("demo", "1.0")
        result = super().variant("install", "demo", "--for", "none", "--python", "9.9", "--index-url", self.index.url)
        commands = [one for hint in self.hints_of(result) for one in re.findall("`([^`]*)`", hint)]
        self.assertEqual(len(commands), 2, str(result))
        self.assertTrue(commands[0].startswith('pip --python "$(command -v python9.9)" wheel '), commands)
        if not (PEERS / "pip").exists():
            self.skipTest(f"{PEERS} has no pip: ./dev setup brings it")
        for command in commands:
            subprocess.run(["/bin/sh", "-c", command], env=self.env, cwd=self.root, check=True, capture_output=True, timeout=240)
        self.assertEqual(self.installed()["demo"], ("1.0", None))

    def test_an_environment_in_the_working_folder(self):
        self.make_venv(self.root / "my env")
        self.index.add_sdist("demo", "1.0")
        result = super().variant("install", "demo", "--for", "none", "--python", "my env", "--index-url", self.index.url)
        self.assertIn("`pip --python 'my env' wheel ", result.err)
        for command in re.findall("`([^`]*)`", result.err):
            if not (PEERS / "pip").exists():
                self.skipTest(f"{PEERS} has no pip: ./dev setup brings it")
            subprocess.run(["/bin/sh", "-c", command], env=self.env, cwd=self.root, check=True, capture_output=True, timeout=240)
        self.assertTrue((self.site(self.root / "my env") / "demo-1.0.dist-info").exists())

    def test_a_name_that_nobody_knows(self):
        for words, proposed in ((("resolve", "demo", "--for", "nothere"), "variant machines"), (("machines", "nothere"), "variant machines"),
                                (("man", "nothere"), "variant --help")):
            with self.subTest(words):
                self.follow(super().variant(*words), proposed)

    def test_a_login_is_not_repeated(self):
        (self.root / "links").mkdir()
        name, data = sdist("demo", "1.0")
        (self.root / "links" / name).write_bytes(data)
        result = super().variant("install", "demo", "--no-index", "-f", "links", "--python", self.venv,
                                 "--proxy", "http://me:secret@nowhere.invalid:1")
        self.assertNotIn("secret", result.err)
        self.assertIn("--proxy http://nowhere.invalid:1", result.err)
        self.assertIn("login or token in a URL is not repeated", result.err)


class Proposals(unittest.TestCase):
    def test_every_command_in_a_hint_is_run(self):
        missing = []
        for file, command in proposals():
            if command in MENTIONS:
                continue
            pattern = re.escape(re.sub(r"\{[^{}]*\}", "\0", command)).replace("\0", ".+")
            if not any(re.match(pattern, run) for run in RUN):
                missing.append(f"{file}: {command}")
        self.assertEqual(missing, [])


def load_tests(loader, _tests, _pattern):
    """The last test looks at what the others ran."""
    suite = unittest.TestSuite()
    for case in (Hints, Elsewhere, Proposals):
        suite.addTests(loader.loadTestsFromTestCase(case))
    return suite


if __name__ == "__main__":
    unittest.main()
