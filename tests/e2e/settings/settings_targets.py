"""The rows of settings that say what packages are for, and where `download` and `wheel` put them, for settings_honoured_test.py."""

import functools
import pathlib
import sys

from settings_case import Scenario
from support import Wheel


class Targets:
    def for_another(self, tags, value, peers=("uv",)):
        """demo 2.0 is for an interpreter or a platform that is not here."""
        self.put("a", Wheel("demo", "2.0", tags=tags))
        return Scenario(value, {"demo": "2.0"}, peers=peers)

    def row_python_version(self):
        return self.for_another("cp39-none-any", "3.9")

    def row_implementation(self):
        return self.for_another("pp3-none-any", "pp")

    def row_abi(self):
        return self.for_another(f"cp3{sys.version_info[1]}-cp30-linux_x86_64", ["cp30"])

    def row_platform(self):
        return self.for_another("py3-none-linux_mips64", ["any", "linux_mips64"])

    def row_python_platform(self):
        return self.for_another("py3-none-musllinux_1_2_aarch64", "aarch64-unknown-linux-musl")

    def saved_to(self, *arguments, env=None, command="download"):
        result = self.variant(command, "demo", "--json", "--dry-run", *arguments, "--python", self.venv, env=env, cwd=self.project)
        self.said = str(result)
        return pathlib.Path(result.json["dest"]).name if result.code == 0 else result.code

    def row_wheel_dir(self):
        return Scenario("saved", "saved", before="project", ask=functools.partial(self.saved_to, command="wheel"), peers=())

    def row_dest(self):
        return Scenario("saved", "saved", before="project", ask=self.saved_to, peers=())
