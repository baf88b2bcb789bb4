"""docs/settings.md against pip and uv: their own lists of settings, and what each refused row does."""

import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import support

PAGE = support.SOURCE / "docs/settings.md"


def rows():
    """(treatment, pip's options, uv's options, uv's variables, uv's keys) of each row of the page."""
    treatment = None
    for line in PAGE.read_text().splitlines():
        if line.startswith("## "):
            treatment = line[3:].lower()
        if not line.startswith("| ") or line.startswith("| pip "):
            continue
        pip, uv = line.split(" | ")[:2] if not line.startswith("|  |") else ("", line.split(" | ")[0 if line.count(" | ") < 2 else 1])
        names = re.findall("`([^`]+)`", uv)
        yield (treatment, [name[2:] for name in re.findall("`([^`]+)`", pip)],
               [name[2:] for name in names if name.startswith("--")],
               [name for name in names if re.match(r"[A-Z]", name)],
               [name for name in names if re.match(r"[a-z]", name)])


def names(column, *treatments):
    return {name for row in rows() if not treatments or row[0] in treatments for name in row[column]}


class Completeness(support.TestCase):
    def test_the_page_is_read(self):
        self.assertIn("index-url", names(1, "honoured"))
        self.assertIn("editable", names(1, "refused"))
        self.assertIn("UV_CONSTRAINT", names(3, "honoured"))
        self.assertIn("pip.no-binary", names(4, "honoured"))

    def test_every_option_of_pip_install(self):
        self.make_venv()
        code = ("from pip._internal.commands import create_command\n"
                "print(' '.join(o[2:] for x in create_command('install').parser.option_list_all for o in x._long_opts))")
        listed = self.assert_ok(self.peer("python", "-I", "-c", code)).out.split()
        self.assertGreater(len(listed), 70)
        self.assertEqual(sorted(set(listed) - names(1)), [])

    def test_every_option_of_uv_pip_install(self):
        text = self.assert_ok(self.uv("help", "pip", "install", "--no-pager")).out
        listed = set(re.findall(r"^\s+(?:-\w, )?--([a-z][a-z-]+)", text, re.M))
        self.assertGreater(len(listed), 60)
        self.assertEqual(sorted(listed - names(2)), [])
        variables = set(re.findall(r"env: [`\"]?(\w+)", text))
        self.assertGreater(len(variables), 25)
        self.assertEqual(sorted(variables - names(3)), [])

    def test_every_key_of_uv(self):
        """uv lists its keys when it meets one that it does not know."""
        for table, prefix in (("", ""), ("[pip]\n", "pip.")):
            (self.root / "uv.toml").write_text(table + "nosuch = 1\n")
            error = self.uv("pip", "compile", "-").err
            listed = re.findall("`([a-z-]+)`", error.split("expected one of")[1])
            self.assertGreater(len(listed), 40)
            missing = [prefix + key for key in listed if prefix + key not in names(4) and key != "pip"]
            self.assertEqual(missing, [])

    def test_every_variable_in_the_program_of_uv(self):
        """The names lie in it without separators; one that is cut short by the compiler ends in one letter more."""
        program = support.PEERS / "uv"
        if not program.exists():
            self.skipTest("uv is not there")
        known = {name.rstrip("*") for name in names(3)}
        unknown = set()
        for found in set(re.findall(rb"UV_[A-Z0-9_]{3,}", program.resolve().read_bytes())):
            for piece in re.split("(?=UV_)", found.decode()):
                if not piece:
                    continue
                whole = any(piece.startswith(name) for name in known)
                cut = any(name.startswith(piece[:-1]) for name in known)
                if not whole and not cut:
                    unknown.add(piece)
        self.assertEqual(sorted(unknown), [])


# What a refused setting is set to, where "1" would not be a value of it.
VALUES = {"upgrade-strategy": "eager", "resolution": "lowest", "UV_RESOLUTION": "lowest"}


class Refused(support.TestCase):
    def setUp(self):
        super().setUp()
        self.make_venv()
        self.index = support.Index(self.root / "index")
        self.index.add_wheel(support.Wheel("demo", "1.0"))

    def refused(self, where, **options):
        result = self.install("demo", index=self.index, **options)
        self.assert_fails(result, 2, where, "is not supported by Axle")
        self.assertNotIn("demo", self.installed())
        self.assertRegex(result.err, r"(?s)not supported by Axle.*\n.+", str(result))

    def test_pip_variables(self):
        for name in sorted(names(1, "refused")):
            with self.subTest(name):
                variable = "PIP_" + name.upper().replace("-", "_")
                self.refused(variable + ":", env={variable: VALUES.get(name, "1")})

    def test_pip_files(self):
        for name in sorted(names(1, "refused")):
            with self.subTest(name):
                file = self.root / "pip.conf"
                file.write_text(f"[global]\n# a comment\n{name} = {VALUES.get(name, '1')}\n")
                self.refused(f"{file}:3:", env={"PIP_CONFIG_FILE": str(file)})

    def test_uv_variables(self):
        for name in sorted(names(3, "refused")):
            with self.subTest(name):
                self.refused(name + ":", env={name: VALUES.get(name, "1")})

    def test_uv_keys(self):
        for name in sorted(names(4, "refused")):
            with self.subTest(name):
                table, _, key = name.rpartition(".")
                written = (f"[{table}]\n" if table else "# a comment\n") + f"{key} = "
                for value in (f'"{VALUES.get(key, "1")}"', '["x"]', '{x = "1"}'):
                    file = self.root / "uv.toml"
                    file.write_text(written + value + "\n")
                    result = self.install("demo", index=self.index)
                    self.assertEqual(result.code, 2, str(result))
                    self.assertIn(f"{file}:2", result.err)
                    if "is not supported by Axle" in result.err:
                        break
                else:
                    self.fail(str(result))
                file.unlink()

    def test_options(self):
        for name in sorted(names(1, "refused") | names(2, "refused")):
            if name in ("requirement", "requirements", "group", "editable"):
                continue
            with self.subTest(name):
                result = self.install("demo", f"--{name}=1", index=self.index)
                self.assert_fails(result, 2, f"--{name}")
                self.assertNotIn("see `variant install --help`", result.err)

    def refused_for_builds(self, where, env):
        self.assert_ok(self.install("demo", "--dry-run", index=self.index, env=env))
        self.assert_fails(self.install("demo", "--build", index=self.index, env=env), 2, where, "does not pass this setting on")

    def test_settings_of_builds(self):
        of_builds = "refused with `--build`"
        for name in sorted(names(1, of_builds)):
            with self.subTest(name):
                variable = "PIP_" + name.upper().replace("-", "_")
                self.refused_for_builds(variable, {variable: "1"})
        for name in sorted(names(3, of_builds)):
            with self.subTest(name):
                self.refused_for_builds(name, {name: "1"})
        for name in sorted(names(4, of_builds)):
            table, _, key = name.rpartition(".")
            for value in ("true", '["x"]', '{x = "1"}'):
                file = self.root / "uv.toml"
                file.write_text((f"[{table}]\n" if table else "# a comment\n") + f"{key} = {value}\n")
                if self.install("demo", "--dry-run", index=self.index).code == 0:
                    break
            with self.subTest(name):
                self.refused_for_builds(f"{file}:2", {})
            file.unlink()

    def test_what_asks_for_nothing_is_accepted(self):
        env = {"PIP_UPGRADE_STRATEGY": "only-if-needed", "UV_RESOLUTION": "highest", "PIP_USER": "no", "PIP_TARGET": ""}
        self.assert_ok(self.install("demo", index=self.index, env=env))


if __name__ == "__main__":
    unittest.main()
