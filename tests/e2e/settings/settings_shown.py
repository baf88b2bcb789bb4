"""The rows of settings_honoured_test.py that do not concern what is chosen: what is shown and listed, and where packages are put."""

import json
import os
import pty
import re
import select
import shutil
import subprocess

import support
from settings_case import Scenario
from support import Wheel


class Shown:
    def links(self, *arguments, env=None):
        """How many names the content of an installed file has."""
        shutil.rmtree(self.venv)
        self.make_venv()
        result = self.install("demo", "--cache-dir", self.root / "store-cache", *arguments, env=env, cwd=self.project)
        self.said = str(result)
        return next(self.venv.glob("lib/*/site-packages/demo.py")).stat().st_nlink if result.code == 0 else result.code

    def row_link_mode(self):
        return Scenario("copy", 1, before=2, ask=self.links, peers=())

    def compiles(self, *arguments, env=None):
        """Whether what is installed by it has byte code."""
        shutil.rmtree(self.venv)
        self.make_venv()
        result = self.install("demo", "--no-cache", *arguments, env=env, cwd=self.project)
        self.said = str(result)
        return result.code or bool(list(self.venv.glob("lib/*/site-packages/__pycache__/demo.*.pyc")))

    def lines(self, *arguments, env=None):
        """Whether lines of progress come to a terminal."""
        outer, inner = pty.openpty()
        done = subprocess.run([str(support.VARIANT), "resolve", "demo", "--python", str(self.venv), *arguments], stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=inner, env={**self.env, "TERM": "xterm", **env}, cwd=self.project, timeout=60)
        os.close(inner)
        shown = b""
        while select.select([outer], [], [], 5)[0]:
            try:
                shown += os.read(outer, 65536)
            except OSError:  # all of it is read
                break
        os.close(outer)
        self.said = shown.decode()
        return b"\x1b[K" in shown if done.returncode == 0 else done.returncode

    def row_progress_bar(self):
        return Scenario("off", False, before=True, ask=self.lines, peers=())

    def row_no_progress(self):
        return Scenario(True, False, before=True, ask=self.lines, peers=())

    def listed(self, command):
        """What a list has, which pip answers alike: "json", or the names."""
        self.assert_ok(self.install(Wheel("demo", "1.0").write(self.root / "old"), Wheel("top", "1.0", requires=["demo"]).write(self.root / "old"),
                                    "--no-index", env={"UV_NO_CONFIG": "1"}))
        for name, source in (("edited", {"url": (self.root / "src").as_uri(), "dir_info": {"editable": True}}), ("pip", {})):
            place = self.site() / f"{name}-1.0.dist-info"
            place.mkdir()
            (place / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
            (place / "direct_url.json").write_text(json.dumps(source))
            (place / "RECORD").write_text("")

        def form(text):
            lines = text.splitlines()
            if text.startswith("["):
                return "json"
            return sorted(re.sub(r"# Editable install.* \(", "", line).split("==")[0].split(" @ ")[0].split()[0].lower()
                          for line in (lines[2:] if text.startswith("Package") else lines) if not line.startswith("-e "))

        def ask(*arguments, env):
            ours = self.variant(command, *arguments, "--python", self.venv, env=env, cwd=self.project)
            self.said = str(ours)
            if ours.code != 0:
                return ours.code
            self.assertEqual(form(ours.out), form(self.assert_ok(self.pip(command, *arguments, env=env)).out), self.said)
            return form(ours.out)

        return ask

    def row_format(self):
        return Scenario("json", "json", before=["demo", "edited", "pip", "top"], ask=self.listed("list"), peers=())

    def row_exclude(self):
        return Scenario(["demo", "pip"], ["edited", "top"], before=["demo", "edited", "pip", "top"], ask=self.listed("list"), peers=())

    def row_not_required(self):
        return Scenario(True, ["edited", "pip", "top"], before=["demo", "edited", "pip", "top"], ask=self.listed("list"), peers=())

    def row_exclude_editable(self):
        return Scenario(True, ["demo", "top"], before=["demo", "edited", "top"], ask=self.listed("freeze"), peers=())

    def row_all(self):
        return Scenario(True, ["demo", "edited", "pip", "top"], before=["demo", "edited", "top"], ask=self.listed("freeze"), peers=())

    def test_what_excludes_is_added_up(self):
        ask = self.listed("list")
        self.assertEqual(ask("--exclude", "top", env=self.of_pip_s("exclude = demo\n", env={"PIP_EXCLUDE": "pip"})), ["demo", "edited"])
        self.assertEqual(ask("--exclude", "top", env=self.of_pip_s("exclude = demo\n    pip\n[list]\nformat = freeze\n")), ["edited"])
        for env in ({"PIP_FORMAT": "xml"}, self.of_pip_s("[list]\nformat = xml\n")):
            self.assertEqual(ask(env=env), 2)
            self.assertRegex(self.said, r"(PIP_FORMAT|pip\.conf:\d): format `xml` is not known")

    def placed(self, *arguments, env=None):
        """The folder of the test that the package is in afterwards."""
        elsewhere = self.root / "elsewhere"
        for folder in (self.venv, elsewhere):
            shutil.rmtree(folder, ignore_errors=True)
        self.make_venv()
        result = self.variant("install", *arguments, "demo", "--python", self.venv, env=env, cwd=self.project)
        self.said = str(result)
        if result.code != 0:
            return result.code
        return " ".join(folder.name for folder in (self.venv, elsewhere) if any(folder.rglob("demo.py")))

    def row_target(self):
        return Scenario(str(self.root / "elsewhere"), "elsewhere", before="venv", ask=self.placed, peers=())

    row_prefix = row_root = row_target

    def row_user(self):
        # A virtual environment does not see the user's packages: it is refused, by pip too.
        return Scenario(True, 1, before="venv", ask=self.placed, peers=())

    def row_no_user(self):
        return Scenario(True, "venv", before=1, ask=self.placed, env={"PIP_USER": "1"}, peers=())

    def test_where_packages_are_put_is_for_install_alone(self):
        """PIP_TARGET does not change what the other commands look at, with pip as with us; uv's file does."""
        place = str(self.root / "elsewhere")
        env = self.of_pip_s(env={"PIP_TARGET": place})
        self.assertEqual(self.placed(env=env), "elsewhere")
        self.assertEqual(self.assert_ok(self.variant("freeze", "--python", self.venv, env=env)).out, "")
        self.assertEqual(self.assert_ok(self.pip("freeze", env=env)).out, "")
        env = self.of_uv_s(f'target = "{place}"', "pip")
        for program, line in ((self.variant, ["freeze"]), (self.uv, ["pip", "freeze"])):
            self.assertEqual(self.assert_ok(program(*line, "--python", self.venv, env=env, cwd=self.project)).out, "demo==1.0\n")

    def row_report(self):
        file = self.root / "report.json"

        def ask(*arguments, env):
            file.unlink(missing_ok=True)
            result = self.variant("install", *arguments, "demo", "--dry-run", "--python", self.venv, env=env, cwd=self.project)
            self.said = str(result)
            return file.exists() if result.code == 0 else result.code

        return Scenario(str(file), True, before=False, ask=ask, peers=())
