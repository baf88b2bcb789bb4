"""Settings of pip and uv, one scenario a row: their answer changes because of it, and ours changes with it."""

import http.server
import json
import pathlib
import shutil
import ssl
import subprocess
import sys
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import support
from loopback import Loopback
from support import Wheel


class Folders(http.server.ThreadingHTTPServer):
    """Simple indexes in folders, with the pages that pip and uv both read; `asked` has the indexes that were."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.asked = []
        outer = self

        class Handler(http.server.SimpleHTTPRequestHandler):
            def __init__(self, *arguments, **options):
                super().__init__(*arguments, directory=str(outer.root), **options)

            def do_GET(self):
                outer.asked.append(self.path.split("/")[1])
                page = pathlib.Path(str(outer.root) + self.path) / "index.json"
                if not page.exists():
                    return super().do_GET()
                data = page.read_bytes()
                self.send_response(200)
                self.send_header("Content-Type", "application/vnd.pypi.simple.v1+json")
                self.send_header("Content-Length", str(len(data)))
                self.send_header("Cache-Control", "no-store")
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def url(self, name):
        return f"http://127.0.0.1:{self.server_address[1]}/{name}"


class SettingsCase(support.TestCase):
    def setUp(self):
        super().setUp()
        self.make_venv()
        self.server = Folders(self.root / "web")
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.indexes = {}
        self.project = self.root / "project"
        self.project.mkdir()

    def put(self, name, *wheels, **changes):
        """An index with these wheels, as `version` or Wheel; gives its URL."""
        index = self.indexes.setdefault(name, support.Index(self.root / "web" / name))
        for one in wheels:
            index.add_wheel(one if isinstance(one, Wheel) else Wheel("demo", one), **changes)
        return self.server.url(name)

    def page(self, name, project, **changes):
        """Changes every file of a page that is there."""
        place = self.root / "web" / name / project / "index.json"
        page = json.loads(place.read_text())
        for one in page["files"]:
            one.update(changes)
        place.write_text(json.dumps(page))

    def ours(self, *arguments, env=None, cwd=None):
        """name -> version of what would be installed, or the exit code."""
        result = self.variant("resolve", "--json", *(arguments or ["demo"]), "--python", self.venv, "--no-cache",
                              env=env, cwd=cwd or self.project)
        self.said = str(result)
        if result.code != 0:
            return result.code
        return {one["name"]: one["version"] for one in result.json["packages"]}

    def would_install(self, *arguments, env=None):
        """The same of `install`, which looks at the environment."""
        result = self.variant("install", "--dry-run", "--json", *arguments, "--python", self.venv, "--no-cache",
                              env=env, cwd=self.project)
        self.said = str(result)
        if result.code != 0:
            return result.code
        return {one["name"]: one["version"] for one in result.json["installed"]}

    def of_uv(self, *arguments, env=None, cwd=None):
        result = self.uv("pip", "install", "--dry-run", "--no-cache", "--python", self.venv / "bin/python",
                         *(arguments or ["demo"]), env=env, cwd=cwd or self.project)
        self.said_by_peer = str(result)
        if result.code != 0:
            return result.code
        lines = [line[3:] for line in result.err.splitlines() if line.startswith(" + ")]
        return dict(line.split("==") for line in lines)

    def of_pip(self, *arguments, env=None, cwd=None):
        result = self.pip("install", "--dry-run", "--no-cache-dir", "--quiet", "--report", "-", *(arguments or ["demo"]),
                          env=env, cwd=cwd or self.project)
        self.said_by_peer = str(result)
        if result.code != 0:
            return result.code
        return {one["metadata"]["name"]: one["metadata"]["version"] for one in json.loads(result.out)["install"]}

    def assert_same(self, peer, wanted, *arguments, **options):
        """Both fail, or both would install `wanted`."""
        theirs = peer(*arguments, **options)
        ours = self.ours(*arguments, **options)
        message = f"ours: {self.said}\ntheirs: {self.said_by_peer}"
        if wanted == "fails":
            self.assertIsInstance(theirs, int, message)
            self.assertIsInstance(ours, int, message)
        else:
            self.assertEqual(theirs, wanted, message)
            self.assertEqual(ours, wanted, message)

    def write(self, name, text, folder=None):
        place = (folder or self.project) / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
        return place


class PipVariables(SettingsCase):
    def setUp(self):
        super().setUp()
        self.env["PIP_INDEX_URL"] = self.put("a", "0.5", "1.0", "1.5a1", Wheel("top", "1.0", requires=["demo"]))
        self.put("b", "2.0")
        self.write("low.txt", "demo<1\n")
        Wheel("demo", "9.0").write(self.project / "wheels")

    def test_each(self):
        plain = {"demo": "1.0"}
        self.assert_same(self.of_pip, plain)
        rows = [("PIP_INDEX_URL", self.server.url("b"), {"demo": "2.0"}),
                ("PIP_PYPI_URL", self.server.url("b"), None),
                ("PIP_FIND_LINKS", "wheels", {"demo": "9.0"}),
                ("PIP_NO_INDEX", "1", "fails"),
                ("PIP_no_index", "yes", "fails"),
                ("PIP_NO_INDEX", "", plain),
                ("PIP_NO_INDEX", "off", plain),
                ("PIP_NO_INDEX", "maybe", "fails"),
                ("PIP_CONSTRAINT", "low.txt", {"demo": "0.5"}),
                ("PIP_CONSTRAINT", "nosuch.txt", "fails"),
                ("PIP_REQUIRE_HASHES", "1", "fails"),
                ("PIP_REQUIRE_HASHES", "0", plain),
                ("PIP_NO_BINARY", "demo", "fails"),
                ("PIP_NO_BINARY", ":all:", "fails"),
                ("PIP_NO_BINARY", "demo,:none:", plain),
                ("PIP_ONLY_BINARY", ":all:", plain),
                ("PIP_PRE", "1", {"demo": "1.5a1"}),
                ("PIP_PRE", "perhaps", "fails"),
                ("PIP_TIMEOUT", "soon", "fails"),
                ("PIP_DEFAULT_TIMEOUT", "20.5", plain),
                ("PIP_KEYRING_PROVIDER", "zork", "fails"),
                ("PIP_KEYRING_PROVIDER", "disabled", plain),
                ("PIP_UPLOADED_PRIOR_TO", "tomorrow", "fails")]
        for name, value, wanted in rows:
            with self.subTest(name=name, value=value):
                if name == "PIP_PYPI_URL":
                    env = {"PIP_INDEX_URL": "", name: value}
                    wanted = {"demo": "2.0"}
                else:
                    env = {name: value}
                self.assert_same(self.of_pip, wanted, env=env)

    def test_lists_are_cut_at_blanks_and_added_to_those_of_the_command_line(self):
        self.write("high.txt", "demo<3\n")
        self.assert_same(self.of_pip, {"demo": "0.5"}, env={"PIP_CONSTRAINT": "high.txt low.txt"})
        self.assert_same(self.of_pip, {"demo": "0.5"}, "-c", "high.txt", "demo", env={"PIP_CONSTRAINT": "low.txt"})

    def test_no_deps(self):
        self.assert_same(self.of_pip, {"top": "1.0", "demo": "1.0"}, "top")
        self.assert_same(self.of_pip, {"top": "1.0"}, "top", env={"PIP_NO_DEPS": "1"})
        self.assert_same(self.of_pip, {"top": "1.0"}, "top", env={"PIP_NO_DEPENDENCIES": "1"})

    def test_uploaded_prior_to(self):
        self.page("a", "demo", **{"upload-time": "2024-01-01T00:00:00Z"})
        self.put("a", "1.7")
        place = self.root / "web/a/demo/index.json"
        page = json.loads(place.read_text())
        for one in page["files"]:
            one["upload-time"] = "2025-06-01T00:00:00Z" if "1.7" in one["filename"] else "2024-01-01T00:00:00Z"
        place.write_text(json.dumps(page))
        self.assert_same(self.of_pip, {"demo": "1.7"})
        self.assert_same(self.of_pip, {"demo": "1.0"}, env={"PIP_UPLOADED_PRIOR_TO": "2025-01-01T00:00:00Z"})

    def test_upgrade_and_reinstall(self):
        self.assert_ok(self.install("demo==0.5"))
        self.assertEqual(self.of_pip("demo"), {})
        self.assertEqual(self.would_install("demo"), {}, self.said)
        for name in ("PIP_UPGRADE", "PIP_FORCE_REINSTALL"):
            wanted = {"demo": "1.0"}
            self.assertEqual(self.of_pip("demo", env={name: "1"}), wanted)
            self.assertEqual(self.would_install("demo", env={name: "1"}), wanted, self.said)

    def test_dry_run_and_virtualenv_are_honoured_by_install(self):
        self.assert_ok(self.install("demo", env={"PIP_DRY_RUN": "1"}))
        self.assertEqual(self.installed(), {})
        self.assert_ok(self.install("demo", env={"PIP_REQUIRE_VIRTUALENV": "1"}))
        (self.venv / "pyvenv.cfg").rename(self.venv / "away")
        result = self.install("demo", env={"PIP_REQUIRE_VIRTUALENV": "1"})
        self.assertEqual(result.code, 2, str(result))

    def test_python_is_the_environment(self):
        other = self.make_venv(self.root / "other")
        for name in ("PIP_PYTHON", "UV_PYTHON"):
            result = self.assert_ok(self.variant("install", "demo", "--dry-run", "-v", env={name: str(other)}))
            self.assertIn(str(other), result.err)


class PipFiles(SettingsCase):
    """PIP_CONFIG_FILE=/dev/null keeps the machine's own files out of the other tests; here it names one, or none."""

    def setUp(self):
        super().setUp()
        self.a, self.b, self.c = (self.put(name, version) for name, version in (("a", "1.0"), ("b", "2.0"), ("c", "3.0")))
        self.file = self.root / "pip.conf"
        self.env["PIP_CONFIG_FILE"] = str(self.file)
        self.env["LC_ALL"] = "C.UTF-8"

    def test_what_configparser_takes(self):
        url = f"index-url = {self.a}\n"
        for text in (f"[global]\n{url}", f"[global]\nindex-url: {self.a}\n", f" [global]\n  {url}", f"[global] more\n{url}",
                     f"[global]\r\nindex-url = {self.a}\r\n", f"[global]\r{url}", f"[global]\n--{url}",
                     f"[global]\nINDEX_URL={self.a}", f"[DEFAULT]\n{url}[global]\n", f"[:env:]\n{url}",
                     f"[install]\n{url}[global]\nindex-url = {self.b}\n", f"[global]\nindex-url =\n   {self.a}\n",
                     f"[global]\nindex-url = {self.a}\n  # no value\n", f"[download]\nno-index=maybe\n[global]\n{url}",
                     f"[global]\nzork=1\nno-index=\n{url}", f"[global]\nx=%(y)s\n{url}"):
            with self.subTest(text):
                self.file.write_bytes(text.encode())
                self.assert_same(self.of_pip, {"demo": "1.0"})

    def test_what_configparser_refuses(self):
        url = f"index-url = {self.a}\n"
        for line, text in ((2, f"[global]\nstray\n{url}"), (1, f"\ufeff[global]\n{url}"), (1, url), (1, f"[global\n{url}"),
                           (3, f"[global]\n{url}{url}"), (3, f"[global]\n{url}[global]\n"),
                           (3, f"[global]\nindex_url = x\n{url}"), (2, f"[global]\n= x\n{url}"),
                           (2, f"[global]\nno-index = maybe\n{url}"), (2, f"[global]\npre = zork\n{url}"),
                           (2, f"[global]\ntimeout = soon\n{url}"), (2, f"[global]\nkeyring-provider = zork\n{url}"),
                           (2, b"[global]\n# \xe9\n" + url.encode())):
            with self.subTest(text):
                self.file.write_bytes(text if isinstance(text, bytes) else text.encode())
                self.assertIsInstance(self.of_pip(), int, self.said_by_peer)
                self.assertEqual(self.ours(), 2, self.said)
                self.assertIn(f"{self.file}:{line}:", self.said)
                self.assertEqual(self.server.asked.count("b"), 0)

    def test_a_file_that_cannot_be_read_is_not_absent(self):
        self.env["PIP_INDEX_URL"] = self.a
        self.file.mkdir()
        self.assertEqual(self.ours(), 2, self.said)
        self.assertIn(str(self.file), self.said)
        self.file.rmdir()
        self.file.symlink_to(self.file)
        self.assertEqual(self.ours(), 2, self.said)
        self.file.unlink()
        self.assert_same(self.of_pip, {"demo": "1.0"})

    def test_the_order_of_files_and_sections(self):
        home = self.root / "home"
        self.write(".pip/pip.conf", f"[global]\nindex-url = {self.a}\n", home)
        del self.env["PIP_CONFIG_FILE"]
        self.assert_same(self.of_pip, {"demo": "1.0"})
        user = self.write(".config/pip/pip.conf", f"[global]\nindex-url = {self.b}\n", home)
        self.assert_same(self.of_pip, {"demo": "2.0"})
        self.write("pip.conf", f"[global]\nindex-url = {self.c}\n", self.venv)
        self.assert_same(self.of_pip, {"demo": "3.0"})
        user.write_text(f"[install]\nindex-url = {self.b}\n")
        self.assert_same(self.of_pip, {"demo": "2.0"})
        self.env["PIP_CONFIG_FILE"] = str(self.file)
        self.file.write_text("[global]\ntimeout = 30\n")
        self.assert_same(self.of_pip, {"demo": "3.0"})

    def test_paths_count_from_the_current_folder_and_lists_from_blanks(self):
        self.write("low.txt", "demo<1\n")
        self.write("high.txt", "demo<9\n")
        self.file.write_text(f"[global]\nindex-url = {self.a}\nconstraint =\n    high.txt\n    low.txt\n")
        self.assert_same(self.of_pip, "fails")
        self.write("low.txt", "demo<2\n")
        self.assert_same(self.of_pip, {"demo": "1.0"})

    def test_the_environment_s_own_file_comes_too_late_for_some(self):
        self.env["PIP_INDEX_URL"] = self.a
        self.write("pip.conf", "[global]\nbreak-system-packages = yes\n", self.venv)
        self.assertEqual(self.ours(), 2, self.said)

    def test_sections_of_other_commands(self):
        self.file.write_text("[uninstall]\nbreak-system-packages = maybe\n")
        self.assert_fails(self.variant("uninstall", "demo", "--python", self.venv), 2, f"{self.file}:2:")
        self.assert_ok(self.variant("list", "--python", self.venv))


class UvVariables(SettingsCase):
    def setUp(self):
        super().setUp()
        self.env["UV_DEFAULT_INDEX"] = self.put("a", "0.5", "1.0", "1.5a1")
        self.put("b", "2.0")
        self.put("c", "3.0")
        self.write("low.txt", "demo<1\n")
        self.write("top.txt", "demo==0.5\n")
        Wheel("demo", "9.0").write(self.project / "wheels with blanks")

    def test_each(self):
        plain = {"demo": "1.0"}
        b, c = self.server.url("b"), self.server.url("c")
        self.assert_same(self.of_uv, plain)
        rows = [({"UV_DEFAULT_INDEX": b}, {"demo": "2.0"}),
                ({"UV_DEFAULT_INDEX": "corp=" + b}, {"demo": "2.0"}),
                ({"UV_DEFAULT_INDEX": "", "UV_INDEX_URL": b}, {"demo": "2.0"}),
                ({"UV_INDEX_URL": b}, plain),
                ({"UV_INDEX": b}, {"demo": "2.0"}),
                ({"UV_INDEX": f"x={b} y={c}"}, {"demo": "2.0"}),
                ({"UV_EXTRA_INDEX_URL": f"{c} {b}"}, {"demo": "3.0"}),
                ({"UV_EXTRA_INDEX_URL": c, "UV_INDEX": b}, {"demo": "2.0"}),
                ({"UV_EXTRA_INDEX_URL": c, "UV_INDEX": b, "UV_INDEX_STRATEGY": "unsafe-best-match"}, {"demo": "3.0"}),
                ({"UV_INDEX_STRATEGY": "best"}, "fails"),
                ({"UV_INDEX_STRATEGY": ""}, "fails"),
                ({"UV_FIND_LINKS": "wheels with blanks"}, {"demo": "9.0"}),
                ({"UV_CONSTRAINT": "low.txt"}, {"demo": "0.5"}),
                ({"UV_CONSTRAINT": "nosuch.txt"}, "fails"),
                ({"UV_CONSTRAINT": ""}, plain),
                ({"UV_OVERRIDE": "top.txt"}, {"demo": "0.5"}),
                ({"UV_REQUIRE_HASHES": "1"}, "fails"),
                ({"UV_REQUIRE_HASHES": "maybe"}, "fails"),
                ({"UV_EXCLUDE_NEWER": "2020-01-01"}, "fails"),
                ({"UV_EXCLUDE_NEWER": "tomorrow"}, "fails"),
                ({"UV_EXCLUDE_NEWER": ""}, "fails"),
                ({"UV_PRERELEASE": "allow"}, {"demo": "1.5a1"}),
                ({"UV_PRERELEASE": "zork"}, "fails"),
                ({"UV_OFFLINE": "1"}, "fails"),
                ({"UV_OFFLINE": "0"}, plain),
                ({"UV_OFFLINE": "2"}, "fails"),
                ({"UV_OFFLINE": ""}, "fails"),
                ({"UV_HTTP_TIMEOUT": "soon"}, "fails"),
                ({"UV_HTTP_TIMEOUT": ""}, plain),
                ({"UV_KEYRING_PROVIDER": "zork"}, "fails"),
                ({"UV_CONFIG_FILE": "nosuch.toml"}, "fails"),
                ({"UV_NO_CONFIG": "2"}, "fails"),
                # Of uv's project commands only.
                ({"UV_NO_BINARY": "1"}, plain),
                ({"UV_NO_BINARY_PACKAGE": "demo"}, plain),
                ({"UV_NO_BUILD": "1"}, plain)]
        for env, wanted in rows:
            with self.subTest(env):
                self.assert_same(self.of_uv, wanted, env=env)

    def test_an_option_takes_the_place_of_its_variable(self):
        self.write("high.txt", "demo<9\n")
        self.assert_same(self.of_uv, {"demo": "1.0"}, "-c", "high.txt", "demo", env={"UV_CONSTRAINT": "low.txt"})
        self.assert_same(self.of_uv, {"demo": "3.0"}, "--index", self.server.url("c"), "demo",
                         env={"UV_INDEX": self.server.url("b")})


class UvFiles(SettingsCase):
    PROJECT = '[project]\nname = "p"\nversion = "1"\nrequires-python = ">=3.9"\n'

    def setUp(self):
        super().setUp()
        for name, version in (("a", "1.0"), ("b", "2.0"), ("c", "3.0"), ("d", "4.0"), ("e", "5.0")):
            self.put(name, version)
        self.put("a", "0.5", "1.5a1")

    def index(self, name):
        return f'index-url = "{self.server.url(name)}"\n'

    def extra(self, *names):
        return f"extra-index-url = {json.dumps([self.server.url(name) for name in names])}\n"

    def table(self, name, table="index", more=""):
        return f'[[{table}]]\nname = "{name}"\nurl = "{self.server.url(name)}"\n{more}'

    def test_which_file_of_the_project_counts(self):
        sub = self.project / "sub"
        rows = [({"uv.toml": self.index("a"), "sub/x": ""}, "1.0"),
                ({"uv.toml": self.index("a"), "sub/uv.toml": self.index("b")}, "2.0"),
                ({"sub/uv.toml": self.index("a"), "sub/pyproject.toml": "[tool.uv]\n" + self.index("b")}, "1.0"),
                ({"uv.toml": self.index("a"), "sub/pyproject.toml": "[tool.uv]\n" + self.index("b")}, "2.0"),
                ({"uv.toml": self.index("a"), "sub/pyproject.toml": self.PROJECT}, "1.0"),
                ({"pyproject.toml": "[tool.uv]\n" + self.index("b"), "sub/pyproject.toml": self.PROJECT}, "2.0"),
                ({"pyproject.toml": self.PROJECT, "uv.toml": self.index("a"), "sub/uv.toml": self.index("b")}, "1.0"),
                ({"pyproject.toml": "[tool.uv]\n", "uv.toml": self.index("a"), "sub/uv.toml": self.index("b")}, "2.0"),
                ({"pyproject.toml": "[tool.uv]\n" + self.index("b") + "[tool.uv.workspace]\nmembers = ['s*']\n" + self.PROJECT,
                  "sub/pyproject.toml": self.PROJECT.replace('"p"', '"q"') + "[tool.uv]\n" + self.index("c")}, "2.0"),
                ({"uv.toml": "index-url = 3\n", "sub/uv.toml": self.index("b")}, "2.0")]
        for files, version in rows:
            with self.subTest(files):
                for name, text in files.items():
                    self.write(name, text)
                self.assert_same(self.of_uv, {"demo": version}, cwd=sub)
                for name in files:
                    (self.project / name).unlink()

    def test_the_user_s_file_and_the_named_one(self):
        self.write(".config/uv/uv.toml", self.index("d") + self.extra("e"), self.root / "home")
        self.assert_same(self.of_uv, {"demo": "5.0"})
        self.write("uv.toml", self.index("a") + self.extra("b", "c"))
        self.assert_same(self.of_uv, {"demo": "2.0"})
        self.assert_same(self.of_uv, {"demo": "5.0"}, "--index-strategy", "unsafe-best-match", "demo")
        self.write("other.toml", self.index("c"))
        self.assert_same(self.of_uv, {"demo": "3.0"}, env={"UV_CONFIG_FILE": "other.toml"})
        self.assert_same(self.of_uv, {"demo": "3.0"}, env={"UV_CONFIG_FILE": "other.toml", "UV_NO_CONFIG": "1"})
        self.assert_same(self.of_uv, {"demo": "4.0"}, "--index-url", self.server.url("d"), "demo", env={"UV_NO_CONFIG": "1"})

    def test_keys_of_the_project(self):
        Wheel("demo", "9.0").write(self.project / "wheels")
        plain, start = {"demo": "1.0"}, self.index("a")
        rows = [("", plain), ("no-index = true\n", "fails"), ('find-links = ["wheels"]\n', {"demo": "9.0"}),
                (self.extra("c"), {"demo": "3.0"}), ("constraint-dependencies = ['demo<1']\n", {"demo": "0.5"}),
                ("override-dependencies = ['demo==0.5']\n", {"demo": "0.5"}), ("prerelease = 'allow'\n", {"demo": "1.5a1"}),
                ("exclude-newer = '2020-01-01'\n", "fails"), ("exclude-newer = false\n", plain),
                ("exclude-newer-package = {demo = '2020-01-01'}\n", "fails"),
                ("exclude-newer-package = {other = '2020-01-01', demo = false}\n", plain),
                ("no-binary = true\n", "fails"), ("no-binary = false\n", plain), ("no-binary-package = ['demo']\n", "fails"),
                ("no-build = true\n", plain), ("offline = true\n", "fails"), ("link-mode = 'copy'\n", plain),
                (self.extra("c", "d") + "index-strategy = 'unsafe-best-match'\n", {"demo": "4.0"}),
                (self.table("b"), {"demo": "2.0"}), (self.table("b", more="default = true\n"), {"demo": "2.0"}),
                (self.table("b", more="explicit = true\n"), plain),
                (self.table("b", more="default = true\n") + self.table("c", more="explicit = true\n") + self.table("d"), {"demo": "4.0"}),
                ("[pip]\n" + self.index("b"), {"demo": "2.0"}), ("[pip]\n" + self.extra("c"), {"demo": "3.0"}),
                (self.extra("b") + "[pip]\n" + self.extra("c"), {"demo": "3.0"}), ("[pip]\nno-index = true\n", "fails"),
                ("[pip]\nno-binary = ['demo']\n", "fails"), ("[pip]\nno-binary = [':all:']\n", "fails"),
                ("[pip]\nonly-binary = ['demo']\n", plain), ("[pip]\nrequire-hashes = true\n", "fails"),
                ("[pip]\nverify-hashes = false\n", plain), ("[pip]\nprerelease = 'allow'\n", {"demo": "1.5a1"}),
                ("no-index = true\n[pip]\nno-index = false\n", plain)]
        for text, wanted in rows:
            with self.subTest(text):
                self.write("uv.toml", start + text)
                self.assert_same(self.of_uv, wanted)
                (self.project / "uv.toml").unlink()
                own = text.replace("[pip]", "[tool.uv.pip]").replace("[[index]]", "[[tool.uv.index]]")
                self.write("pyproject.toml", "[tool.uv]\n" + start + own)
                self.assert_same(self.of_uv, wanted)
                (self.project / "pyproject.toml").unlink()

    def test_a_damaged_file_ends_the_command_and_no_index_is_asked(self):
        self.env["PIP_INDEX_URL"] = self.server.url("a")
        for line, text in ((1, "zork = 1\n"), (1, "[tool.uv]\n"), (2, "# x\nindex-url = 3\n"), (1, "index-url = ''\n"),
                           (1, "no-index = 'true'\n"), (1, "keyring-provider = 'x'\n"), (2, "[[index]]\nname = 'a b'\nurl = 'https://x.invalid'\n"),
                           (1, "[[index]]\nurl = 'https://x.invalid'\nexplicit = true\n"), (2, "no-index = true\nno-index = true\n"),
                           (1, "find-links = 'x'\n"), (1, "no-binary = ['demo']\n"), (2, "[pip]\nno-binary = true\n"),
                           (1, "index-strategy = 'x'\n"), (1, "exclude-newer = 2020-01-01T00:00:00Z\n"),
                           (1, "constraint-dependencies = 'x'\n"), (1, "a = = 1\n"), (1, "[sources]\ndemo = {index = 'b'}\n")):
            with self.subTest(text):
                file = self.write("uv.toml", text)
                self.assertEqual(self.of_uv(), 2, self.said_by_peer)
                self.server.asked.clear()
                self.assertEqual(self.ours(), 2, self.said)
                self.assertIn(f"{file}:{line}:", self.said)
                self.assertEqual(self.server.asked, [])
        file.unlink()
        file.mkdir()
        self.assertEqual(self.of_uv(), 2, self.said_by_peer)
        self.assertEqual(self.ours(), 2, self.said)
        file.rmdir()
        # Of a damaged pyproject.toml uv only warns, and then asks the default index: Axle does not.
        for line, text in ((2, "[tool.uv]\nzork = 1\n"), (1, "[tool.uv\n"), (2, "[tool.uv]\nindex-url = 3\n")):
            with self.subTest(text):
                file = self.write("pyproject.toml", text)
                self.server.asked.clear()
                self.assertEqual(self.ours(), 2, self.said)
                self.assertIn(f"{file}:{line}:", self.said)
                self.assertEqual(self.server.asked, [])

    def test_credentials_of_a_named_index(self):
        self.write("uv.toml", self.index("a") + self.table("b"))
        env = {"UV_INDEX_B_USERNAME": "me", "UV_INDEX_B_PASSWORD": "a@b"}
        result = self.variant("resolve", "demo", "-v", "--python", self.venv, env=env, cwd=self.project)
        self.assert_ok(result)
        self.assertNotIn("a@b", result.err)
        self.assertNotIn("a%40b", result.err)


@unittest.skipUnless(shutil.which("openssl"), "openssl makes the certificate")
class Authorities(support.TestCase):
    """Which variable names the trusted certificates."""

    def test_those_of_pip_count_where_that_of_uv_is_not_set(self):
        server, certificate, key = Loopback(self), self.root / "own.pem", self.root / "key.pem"
        server.publish("/simple", Wheel("demo", "1.0"))
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, "-days", "1",
                        "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"], check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        server.server.socket = context.wrap_socket(server.server.socket, server_side=True)
        self.make_venv()
        absent = self.root / "absent.pem"
        for name in ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
            self.env.pop(name, None)
        for env, works in (({}, False), ({"SSL_CERT_FILE": certificate}, True), ({"CURL_CA_BUNDLE": certificate}, True),
                           ({"SSL_CERT_FILE": certificate, "REQUESTS_CA_BUNDLE": absent}, True),
                           ({"REQUESTS_CA_BUNDLE": certificate, "CURL_CA_BUNDLE": absent}, True),
                           ({"SSL_CERT_FILE": absent, "REQUESTS_CA_BUNDLE": certificate}, False)):
            with self.subTest(env):
                url = f"https://localhost:{server.server.server_port}/simple"
                result = self.variant("resolve", "demo", "--index-url", url, "--python", self.venv, "--no-cache",
                                      env={name: str(file) for name, file in env.items()})
                self.assertEqual(result.code, 0 if works else 1, str(result))
                self.assertIn("demo 1.0" if works else "certificate", result.out + result.err)


class BetweenPipAndUv(SettingsCase):
    def test_pip_s_variable_uv_s_variable_the_project_pip_s_file_uv_s_file(self):
        a, b, c, d, e = (self.put(name, version) for name, version in
                         (("a", "1.0"), ("b", "2.0"), ("c", "3.0"), ("d", "4.0"), ("e", "5.0")))
        self.write(".config/uv/uv.toml", f'index-url = "{e}"\n', self.root / "home")
        self.assertEqual(self.ours(), {"demo": "5.0"}, self.said)
        del self.env["PIP_CONFIG_FILE"]
        self.write(".config/pip/pip.conf", f"[global]\nindex-url = {d}\n", self.root / "home")
        self.assertEqual(self.ours(), {"demo": "4.0"}, self.said)
        self.write("uv.toml", f'index-url = "{c}"\n')
        self.assertEqual(self.ours(), {"demo": "3.0"}, self.said)
        self.env["UV_INDEX_URL"] = b
        self.assertEqual(self.ours(), {"demo": "2.0"}, self.said)
        self.env["PIP_INDEX_URL"] = a
        self.assertEqual(self.ours(), {"demo": "1.0"}, self.said)
        self.assertEqual(self.ours("demo", "--index-url", e), {"demo": "5.0"}, self.said)


if __name__ == "__main__":
    unittest.main()
