"""A small project with variants, for the tests of `variant ci`."""

import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import TestCase, VARIANT

# A folder, a file and an index whose names would be commands, expressions or structure if anything read them as such.
HOSTILE = "a $(touch pwned) `touch pwned` '\"; touch pwned #\\ ${{ github.token }} $HOME $$(shell touch pwned) &b: - [x]"

TABLE = """
[project]
name = "demo"
version = "1.0"
[tool.axle]
packages = ["demo"]
[tool.axle.axes.cpu]
null = { architectures = ["x86_64"] }
v3 = { properties.x86_64.level = ["v3"] }
v4 = { properties.x86_64.level = ["v4"] }
[[tool.axle.variant]]
"""


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


class CiCase(TestCase):
    def setUp(self):
        super().setUp()
        self.repository = self.root / "repository"
        self.project = self.repository / "demo"
        self.write_project()
        (self.repository / ".git").mkdir()
        self.out = self.root / "out"

    def write_project(self, more="", code="ANSWER = 42\n", folder=None):
        project = folder or self.project
        (project / "demo").mkdir(parents=True, exist_ok=True)
        (project / "demo/__init__.py").write_text(code)
        (project / "pyproject.toml").write_text(TABLE + more)

    def write_ci(self, system, project=None, *options):
        project = project or self.project
        file = self.root / f"ci-{system}"
        self.assert_ok(self.variant("ci", system, project, "--out", file, *options))
        return file

    def program(self):
        """VARIANT of the jobs. A build without `variant audit` answers for it that all is well."""
        if "no command" not in self.variant("audit").err:
            return str(VARIANT)
        script = self.root / "variant-without-audit"
        script.write_text(f'#!/bin/sh\n[ "$1" != audit ] || {{ echo "audit of $2"; exit 0; }}\nexec "{VARIANT}" "$@"\n')
        script.chmod(0o755)
        return str(script)

    def job_environment(self, **more):
        return {**self.env, "VARIANT": self.program(), "OUT": str(self.out), "PATH": os.environ["PATH"], **more}

    def call(self, *command, env=None, cwd=None, seconds=300):
        return subprocess.run([str(one) for one in command], env=env or self.job_environment(), cwd=cwd or self.repository,
                              capture_output=True, text=True, timeout=seconds, stdin=subprocess.DEVNULL)

    def assert_nothing_ran(self):
        self.assertEqual(list(self.root.rglob("pwned")), [])
        self.assertFalse(pathlib.Path("pwned").exists())
