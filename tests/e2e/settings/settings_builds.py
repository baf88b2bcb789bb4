"""Scenarios of the settings that are about building from source (settings_honoured_test.py)."""

from settings_case import Scenario, Sdist
from support import Wheel


class Builds:
    def of_an_editable(self):
        """The question `-e ./sdemo`, a project of which only the editable wheel can be built."""
        said = self.of_a_sdist()
        made = Sdist(self, "sdemo", "1.0", before="raise SystemExit('no ordinary wheel')")
        name = made.makes[0].file_name
        made.members["pyproject.toml"] += "[project]\nname = 'sdemo'\nversion = '1.0'\n"
        made.members["backend.py"] += ("\ndef build_editable(folder, config_settings=None, metadata_directory=None):\n"
                                       f"    shutil.copy({name!r}, os.path.join(folder, {name!r}))\n    return {name!r}\n")
        made.write(self.project / "sdemo")
        return {**said, "arguments": ["-e", "./sdemo"], "peers": (), "ask": None}

    def row_no_build(self):
        return Scenario(True, "fails", **self.of_a_sdist())

    def row_no_build_package(self):
        return Scenario(["sdemo"], "fails", **self.of_a_sdist())

    def of_limited_sdist(self):
        self.put("a", Wheel("helper", "1.0"), Wheel("helper", "2.0"))
        said = self.of_a_sdist(build_requires=["helper"], before="import helper; assert helper.VERSION == '1.0', helper.VERSION")
        return {**said, "before": "fails"}

    def row_build_constraint(self):
        self.write("limits.txt", "helper<2\n")
        return Scenario(["limits.txt"], {"sdemo": "1.0"}, **self.of_limited_sdist())

    def row_build_constraint_dependencies(self):
        return Scenario(["helper<2"], {"sdemo": "1.0"}, **self.of_limited_sdist())

    def row_no_build_isolation(self):
        return Scenario(True, {"sdemo": "1.0"}, **{**self.of_a_sdist(build_requires=["nosuch"]), "before": "fails"})

    def row_config_settings(self):
        said = self.of_a_sdist(before="assert config_settings == {'key': 'value'}, config_settings")
        table = {"key": "value"}
        return Scenario(["key=value"], {"sdemo": "1.0"}, spelled={"config-settings": table, "pip.config-settings": table},
                        **{**said, "before": "fails"})

    def row_no_editable(self):
        return Scenario(True, "fails", **self.of_an_editable())

    def row_no_editable_package(self):
        return Scenario(["sdemo"], "fails", **self.of_an_editable())
