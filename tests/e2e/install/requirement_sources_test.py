"""Where requirements files come from, and what `uninstall` takes from them: pip, uv and `variant` say the same."""

import json
import pathlib
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1]), str(pathlib.Path(__file__).resolve().parents[1] / "settings")]
from settings_case import SettingsCase
from support import Wheel


class OfServers(SettingsCase):
    def setUp(self):
        super().setUp()
        self.index = self.put("a", "0.5", "1.0", Wheel("top", "1.0", requires=["demo"]), Wheel("other", "1.0"))
        self.env["PIP_INDEX_URL"] = self.env["UV_DEFAULT_INDEX"] = self.index
        self.env["PIP_RETRIES"] = self.env["UV_HTTP_RETRIES"] = "0"

    def serve(self, name, text):
        self.write(name, text, self.root / "web/files")
        return self.server.url(f"files/{name}")

    def test_files_of_a_server(self):
        self.serve("more.txt", "other\n")
        self.serve("deep/limits.txt", "demo<1\n")
        self.serve("deep/up.txt", "-r ../more.txt\n")
        for text, wanted in (("demo\n", {"demo": "1.0"}), ("# nothing\ndemo<1 # why\n", {"demo": "0.5"}),
                             ("-r more.txt\n", {"other": "1.0"}), ("demo\n-c deep/limits.txt\n", {"demo": "0.5"}),
                             ("-r deep/up.txt\n", {"other": "1.0"}), (f"-r {self.server.url('files/more.txt')}\n", {"other": "1.0"}),
                             (f"--index-url {self.server.url('nosuch')}\ndemo\n", None), ("-r nosuch.txt\n", None), ("demo demo\n", None)):
            with self.subTest(text):
                self.assert_as_peers(wanted, "-r", self.serve("needs.txt", text))
        self.assert_as_peers(None, "-r", self.server.url("files/gone.txt"))
        self.assertIn("files/gone.txt: the server answers 404", self.said)
        self.assert_as_peers({"demo": "0.5"}, "demo", "-c", self.server.url("files/deep/limits.txt"))

    def test_a_constraint_of_the_configuration(self):
        limits = self.serve("limits.txt", "demo<1\n")
        self.assert_same(self.of_pip, {"demo": "0.5"}, "demo", env={"PIP_CONSTRAINT": limits})
        self.assert_same(self.of_uv, {"demo": "0.5"}, "demo", env={"UV_CONSTRAINT": limits})

    def test_a_file_of_this_machine_is_none_of_the_server_s(self):
        mine = self.write("mine.txt", "demo\n")
        before = len(self.server.asked)
        result = self.variant("resolve", "-r", self.serve("needs.txt", f"-r {mine.as_uri()}\n"), "--python", self.venv)
        self.assert_fails(result, 1, "needs.txt:1: the server's file names", "not on a server")
        result = self.variant("resolve", "-r", self.serve("needs.txt", "-i http://x/${WORD}\ndemo\n"), "--python", self.venv, env={"WORD": "secret"})
        self.assert_fails(result, 1, "needs.txt:1: the server's file asks for the value of a variable")
        self.assertNotIn("secret", str(result))
        self.assertEqual(self.server.asked[before:], ["files", "files"])

    def test_without_a_network(self):
        needs = self.serve("needs.txt", "demo\n")
        before = len(self.server.asked)
        self.assert_fails(self.variant("resolve", "-r", needs, "--offline", "--python", self.venv), 1, "offline")
        self.assertEqual(len(self.server.asked), before)

    def test_several_options_on_a_line(self):
        folder = self.root / "my wheels"
        self.root.joinpath("web/a/demo").rename(folder)
        for text in ('--no-index --find-links "%s"\ndemo<1\n', "--no-index\n--find-links='%s'\ndemo<1\n"):
            self.assert_as_peers({"demo": "0.5"}, "-r", self.write("needs.txt", text % folder))
        # uv takes the rest of the line as the URL.
        self.assert_same(self.of_pip, {"demo": "0.5"}, "-r", self.write("needs.txt", f"--no-index --pre -f '{folder}'\ndemo<1\n"))

    def test_lines_of_other_systems(self):
        for name, data in (("utf-16", "demo<1\r\nother\r\n".encode("utf-16")), ("big", "\ufeffdemo<1\nother".encode("utf-16-be")),
                           ("old", b"demo<1\rother\r"), ("mark", "\ufeffdemo<1\r\nother".encode())):
            with self.subTest(name):
                path = self.root / "needs.txt"
                path.write_bytes(data)
                self.assert_as_peers({"demo": "0.5", "other": "1.0"}, "-r", path)

    def test_standard_input(self):
        shell = ("/bin/sh", "-c", "printf 'demo<1\\n-r more.txt\\n' | \"$0\" \"$@\"")
        self.write("more.txt", "other\n")
        result = self.variant("resolve", "--json", "-r", "-", "--python", self.venv, cwd=self.project, prefix=shell)
        self.assert_ok(result)
        self.assertEqual({one["name"]: one["version"] for one in result.json["packages"]}, {"demo": "0.5", "other": "1.0"})


class Uninstall(SettingsCase):
    """What of demo, top and other is left when a file is uninstalled."""

    def left(self, run):
        wheels = [Wheel(name, "1.0").write(self.root / "wheels") for name in ("demo", "top", "other")]
        self.assert_ok(self.install(*wheels, "--no-index"))
        result = run()
        self.said = str(result)
        return sorted(self.installed()) if result.code == 0 else "fails"

    def test_what_a_file_names(self):
        self.write("more.txt", "top\n")
        self.write("limits.txt", "other\n")
        for text, wanted in (("demo\n", ["other", "top"]), ("demo==9.0\n", ["other", "top"]), ("Demo[x] >= 0\n", ["other", "top"]),
                             ("top ; python_version < '3'\n", ["demo", "other"]), ("demo\n-r more.txt\n", ["other"]),
                             ("demo @ https://nowhere.invalid/demo-1.0-py3-none-any.whl\n", ["other", "top"]),
                             ("demo\nnosuch\n", ["other", "top"]), ("demo\n--index-url https://nowhere.invalid\n", ["other", "top"]),
                             ("demo --hash=sha256:" + "0" * 64 + "\n", ["other", "top"]), ("demo demo\n", "fails"), ("-r nosuch.txt\n", "fails")):
            with self.subTest(text):
                file = self.write("needs.txt", text)
                ours = self.left(lambda: self.variant("uninstall", "-r", file, "--python", self.venv, cwd=self.project))
                self.assertEqual(ours, wanted, self.said)
                self.assertEqual(self.left(lambda: self.pip("uninstall", "-y", "-r", file, cwd=self.project)), wanted, self.said)
                self.assertEqual(self.left(lambda: self.uv("pip", "uninstall", "-r", file, "--python", self.venv, cwd=self.project)), wanted, self.said)

    def test_what_the_command_line_names(self):
        for words, wanted in ((["demo==9.0"], ["other", "top"]), (["Demo[x]", "top"], ["other"]), (["demo demo"], "fails")):
            with self.subTest(words):
                self.assertEqual(self.left(lambda: self.variant("uninstall", *words, "--python", self.venv)), wanted, self.said)
                self.assertEqual(self.left(lambda: self.pip("uninstall", "-y", *words)), wanted, self.said)
                self.assertEqual(self.left(lambda: self.uv("pip", "uninstall", *words, "--python", self.venv)), wanted, self.said)

    def test_limits_are_not_uninstalled_and_nothing_is_an_error(self):
        self.write("limits.txt", "other\n")
        file = self.write("needs.txt", "demo\n-c limits.txt\n")
        self.assertEqual(self.left(lambda: self.variant("uninstall", "-r", file, "--python", self.venv)), ["other", "top"], self.said)
        result = self.variant("uninstall", "-r", self.write("empty.txt", "# nothing\n"), "--python", self.venv)
        self.assert_fails(result, 2, "nothing to uninstall")
        self.assert_fails(self.variant("uninstall", "./demo-1.0-py3-none-any.whl", "--python", self.venv), 2, "the place of a package")


class Lists(SettingsCase):
    """list and freeze, in the forms that scripts read."""

    def setUp(self):
        super().setUp()
        folder = self.root / "wheels"
        self.assert_ok(self.install(*(one.write(folder) for one in (Wheel("demo", "1.0"), Wheel("Top_Most", "2.0", requires=["demo"]),
                                                                  Wheel("other", "1.0rc1", requires=["demo; python_version<'3'"]))), "--no-index"))
        place = self.site() / "edited-3.0.dist-info"
        place.mkdir()
        (place / "METADATA").write_text("Metadata-Version: 2.1\nName: edited\nVersion: 3.0\nRequires-Dist: other\n")
        (place / "direct_url.json").write_text(json.dumps({"url": (self.root / "src").as_uri(), "dir_info": {"editable": True}}))
        (place / "RECORD").write_text("edited-3.0.dist-info/METADATA,,\n")

    def ask(self, command, *options):
        return (self.assert_ok(self.variant(command, *options, "--python", self.venv)).out, self.assert_ok(self.pip(command, *options)).out,
                self.uv("pip", command, *options, "--python", self.venv))

    def test_forms_and_selections(self):
        for more in ([], ["--exclude", "demo"], ["--exclude", "top.most", "--exclude", "other"], ["--exclude-editable"], ["--editable"], ["-e"]):
            with self.subTest(more):
                ours, pip, uv = self.ask("list", "--format", "json", *more)
                self.assertEqual(json.loads(ours), json.loads(pip))
                # uv writes names normalised.
                self.assertEqual(json.loads(ours.lower().replace("_", "-")), json.loads(self.assert_ok(uv).out.lower().replace("_", "-")))
                ours, pip, uv = self.ask("list", "--format=freeze", *more)
                self.assertEqual(ours.lower().replace("_", "-").splitlines(), pip.lower().replace("_", "-").splitlines())
        for more in ([], ["--exclude", "edited"], ["--exclude-editable"]):
            ours, pip, _ = self.ask("list", "--not-required", "--format", "json", *more)
            self.assertEqual(json.loads(ours), json.loads(pip), more)

    def test_freeze(self):
        (self.site() / "pip-1.0.dist-info").mkdir()
        (self.site() / "pip-1.0.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: pip\nVersion: 1.0\n")
        (self.site() / "pip-1.0.dist-info/RECORD").write_text("")
        for more in (["--exclude-editable"], ["--all", "--exclude-editable"], ["--exclude", "edited", "--exclude", "demo"]):
            ours = self.assert_ok(self.variant("freeze", *more, "--python", self.venv)).out.lower().splitlines()
            pip = self.assert_ok(self.pip("freeze", *more)).out.lower().splitlines()
            names = lambda lines: sorted(line.replace("_", "-").split("==")[0].split(" @ ")[0] for line in lines)
            self.assertEqual(names(ours), names(pip), more)

    def test_another_form_is_refused(self):
        self.assert_fails(self.variant("list", "--format", "xml", "--python", self.venv), 2, "--format: format `xml` is not known", "columns, freeze or json")


if __name__ == "__main__":
    unittest.main()
