"""Every command that an error or a warning proposes is run as it stands, where it was proposed, and works.

Commands stand in backticks in hints, complete; tests/e2e/doctor_fix_test.py does the same for `variant doctor`."""

import json
import re
import subprocess
import unittest

from cause_test import CauseTestCase, sdist
from support import PEERS, PYTHON, SOURCE, Wheel, publish_levels, variant_document

ROOMS = "resolver installer index builder cli providers wheel machines detect report".split()
BEGIN = r"(?:variant|pip|uv|python3 -m)"
# Literals that are no hints: help, the tables of docs, and what completes commands.
NOT_HINTS = {"cli/commands.cpp", "cli/options.cpp", "cli/doctor/finding.cpp", "cli/settings/setting_rows.h", "cli/variables.h"}
# Mentions of a command by its name, which propose nothing.
MENTIONS = {
    "variant index build": "says who wrote an index",
    "variant index": "says who wrote an index",
    "variant COMMAND --help": "the text of --help",
    "variant providers trust": "a comment in the file that it writes",
    "variant build": "says what the wheels were meant for",
    "variant check": "looks, and may find something",
    "variant doctor": "looks, and may find something",
    "variant providers retry acme": "an example of what to write",
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
                if "variant uninstall {0}" in outside:
                    continue  # backend_change_test.py provokes it
                if loose and not outside.startswith(loose.group(0)) and "\\n" not in literal:
                    yield name, f"not in backticks: {literal}"


class Hints(CauseTestCase):
    def setUp(self):
        super().setUp()
        # As a user has it: an active environment, a configured index, and the programs on the path.
        self.env |= {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "UV_CACHE_DIR": str(self.root / "uv-cache"),
                     "VIRTUAL_ENV": str(self.venv), "PIP_INDEX_URL": self.index.url, "UV_INDEX_URL": self.index.url}

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
            self.assertTrue([one for one in commands if one.startswith(beginning)], f"{beginning}: {commands}\n{result}")
        self.assertEqual(len(commands), len(expected), f"{commands}\n{result}")
        for command in commands:
            if re.match("pip|uv", command) and not (PEERS / "uv").exists():
                self.skipTest(f"{PEERS} has no pip and uv: ./dev setup brings them")
            done = subprocess.run(["/bin/sh", "-c", command], env=self.env, cwd=cwd or self.root, text=True,
                                  capture_output=True, timeout=240, stdin=subprocess.DEVNULL)
            # That nothing fits is what explain was asked for.
            good = (0, 3) if command.startswith("variant explain") else (0,)
            self.assertIn(done.returncode, good, f"{command}\n{done.stdout}\n{done.stderr}")
            RUN.add(re.sub(r"^(uv pip|pip) --python \S+ ", r"\1 ", command))
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
        self.follow(result, "pip wheel", "variant install --find-links wheels demo==1.0")
        self.assertEqual(self.installed()["demo"], ("1.0", None))

    def test_a_source_that_is_named_is_built_and_installed(self):
        self.project("a project")
        for source in ("./a project", "sdist.tar.gz"):
            with self.subTest(source=source):
                result = self.variant("install", source)
                self.follow(result, "pip wheel", "variant install wheels/")
                self.assertEqual(self.installed()["demo"], ("1.0", None))
                self.assert_ok(self.variant("uninstall", "demo"))
                subprocess.run(["rm", "-r", self.root / "wheels"], check=True)

    def test_a_source_at_an_address_is_built_and_installed(self):
        self.project()
        url = (self.root / "sdist.tar.gz").as_uri()
        result = self.variant("install", f"demo @ {url}")
        self.follow(result, "pip wheel", "variant install wheels/")
        self.assertEqual(self.installed()["demo"], ("1.0", None))

    def test_what_may_not_come_as_a_wheel_is_built(self):
        self.index.add_sdist("demo", "1.0")
        self.index.add_wheel(Wheel("demo", "1.0"))
        result = self.variant("install", "--no-binary", ":all:", "demo<2")
        self.follow(result, "uv pip install --no-binary demo 'demo<2'", "pip wheel --no-binary demo")
        self.assertEqual(self.installed()["demo"], ("1.0", None))

    def test_what_does_not_fit_is_explained(self):
        self.index.add_wheel(Wheel("demo", "1.0", tags="py3-none-win_amd64"))
        self.follow(self.variant("install", "demo==1.0"), "variant explain demo==1.0")

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
        result = self.variant("list")
        self.assertIn("installed twice", result.err)
        self.follow(result, "variant install --reinstall --no-deps demo==2.0")
        self.assertEqual(self.variant("list").err, "")

    def test_an_environment_is_made(self):
        if subprocess.run([PYTHON, "-c", "import ensurepip"], capture_output=True).returncode:
            self.skipTest("python3 -m venv does not work here without ensurepip")
        folder = self.root / "empty"
        folder.mkdir()
        self.env.pop("VIRTUAL_ENV")
        self.follow(self.variant("list", cwd=folder), "python3 -m venv .venv", cwd=folder)
        self.assert_ok(self.variant("list", cwd=folder))

    def test_editable_installs_are_pips(self):
        project = self.project("my project")
        backend = project / "backend/copy_it.py"
        backend.write_text(backend.read_text() + "build_editable = build_wheel\n")
        result = self.variant("install", "-e", "./my project", "--python", self.venv)
        self.follow(result, f"pip --python {self.venv} install -e './my project'")
        self.assertEqual(self.installed()["demo"], ("1.0", None))
        # The same in a file; which pip is on the path is the user's affair.
        (self.root / "needs.txt").write_text(f"-e {project}\n")
        result = self.variant("install", "-r", "needs.txt")
        self.assertIn(f"`pip install -e {project}`", result.err)

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
        self.follow(self.variant("run", "bench", "--for", "h100"), "variant properties --for h100")
        for kernel in ("amx_int8", "avx_vnni", "avx512_vnni", "avx512", "avx2"):
            result = self.variant("run", "bench", env={"AXLE_RUNTIME_KERNEL": kernel})
            if result.code == 3:
                break
        else:
            result.err = "  hint: `variant run info`\n"  # a machine with all of them
        self.follow(result, "variant run info")

    def test_a_provider_project_is_begun(self):
        self.follow(self.variant("providers", "new", "acme"), "variant providers new acme acme-provider")


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
    for case in (Hints, Proposals):
        suite.addTests(loader.loadTestsFromTestCase(case))
    return suite


if __name__ == "__main__":
    unittest.main()
