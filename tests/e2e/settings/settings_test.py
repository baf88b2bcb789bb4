"""Variables of pip and uv, one scenario a row: their answer changes because of it, and ours changes with it."""

import json
import pathlib
import shutil
import ssl
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import support
from loopback import Loopback
from settings_case import SettingsCase
from support import Wheel


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
        absent, folder = self.root / "absent.pem", self.root / "by-hash"
        folder.mkdir()
        digest = subprocess.run(["openssl", "x509", "-hash", "-noout", "-in", certificate], check=True, capture_output=True, text=True)
        shutil.copy(certificate, folder / f"{digest.stdout.strip()}.0")
        for name in ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
            self.env.pop(name, None)
        for env, works in (({}, False), ({"SSL_CERT_FILE": certificate}, True), ({"CURL_CA_BUNDLE": certificate}, True),
                           ({"SSL_CERT_FILE": certificate, "REQUESTS_CA_BUNDLE": absent}, True),
                           ({"SSL_CERT_DIR": folder}, True), ({"SSL_CERT_DIR": self.root}, False),
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
