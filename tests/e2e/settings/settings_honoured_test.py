"""Every honoured row of docs/settings.md, by each of its spellings: what is asked for changes because of it, for pip and uv
where they have the spelling, and for us. A row without a scenario fails."""

import json
import pathlib
import shutil
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import settings_table_test
import support
from loopback import Loopback, behind_login
from settings_builds import Builds
from settings_case import PLAIN, Scenario, SettingsCase, in_options, in_toml, in_words
from settings_servers import Servers
from settings_shown import Shown
from settings_targets import Targets
from support import Wheel
from torch_index import TorchIndex, all_files

# What uv 0.13.9's `uv pip install` does not read (its other commands read the variables), or takes without doing anything.
NOT_OF_UV = {"--cert", "UV_NO_INDEX", "UV_EXCLUDE_NEWER_PACKAGE"}


class Honoured(SettingsCase, Builds, Servers, Shown, Targets):
    """Where nothing else is said, index `a` is named: by pip's file in turns of pip, by the user's uv.toml in those of uv."""

    def setUp(self):
        super().setUp()
        for name in ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
            self.env.pop(name, None)
        self.put("a", "0.5", "1.0", "1.5a1", Wheel("top", "1.0", requires=["demo"]))
        self.put("b", "2.0")
        self.put("c", "3.0")
        self.base = self.server.url("a")
        self.pip_base, self.more_base = "", ""
        self.pyproject = ""
        self.pip_options = {name for row in settings_table_test.rows() for name in row[1]}
        self.uv_options = {name for row in settings_table_test.rows() for name in row[2]}

    def file(self, name, text):
        return str(self.write(name, text))

    # How each spelling is said: environment and arguments, with the files written.

    def of_pip_s(self, more="", env=None):
        conf = self.root / "pip.conf"
        base = "" if more.startswith(("index-url ", "pypi-url ")) else f"index-url = {self.base}\n"
        conf.write_text(f"[global]\n{base}{self.pip_base}{more}")
        return {"PIP_CONFIG_FILE": str(conf), "PIP_RETRIES": "0", **(env or {})}

    def of_uv_s(self, lines="", table="", env=None):
        self.write(".config/uv/uv.toml", f'index-url = "{self.base}"\n{self.more_base}', self.root / "home")
        for name in ("uv.toml", "pyproject.toml"):
            (self.project / name).unlink(missing_ok=True)
        if self.pyproject:
            self.write("pyproject.toml", f"[tool.uv{'.' + table if table else ''}]\n{lines}\n{self.pyproject}")
        elif lines:
            self.write("uv.toml", (f"[{table}]\n" if table else "") + lines + "\n")
        return {"UV_HTTP_RETRIES": "0", **(env or {})}

    def spellings(self, row, scenario):
        """(peer or None, spelling, a function that makes environment and arguments)."""
        _, of_pip, of_uv, variables, keys = row
        value = lambda name: scenario.spelled.get(name, scenario.value)
        for name in of_pip:
            variable = "PIP_" + name.upper().replace("-", "_")
            yield "pip", variable, lambda v=variable: (self.of_pip_s(env={v: in_words(value(v))}), [])
            yield "pip", f"{name} =", lambda n=name: (self.of_pip_s(f"{n} = {in_words(value(n + ' ='))}\n"), [])
            option = "--" + name
            yield "pip", option, lambda o=option: (self.of_pip_s(), in_options(o, value(o)))
        for name in variables:
            said = {name: in_words(value(name))} if not name.endswith("*") else value(name)
            yield None if name in NOT_OF_UV else "uv", name, lambda s=said: (self.of_uv_s(env=s), [])
        for key in keys:
            table, _, name = key.rpartition(".")
            line = value(key) if name == "index" else f"{name} = {in_toml(value(key))}"
            yield "uv", key, lambda l=line, t=table: (self.of_uv_s(l, t), [])
        for name in of_uv:
            option = "--" + name
            yield None if option in NOT_OF_UV else "uv", option, lambda o=option: (self.of_uv_s(), in_options(o, value(o)))

    def compare(self, row, scenario):
        ask = scenario.ask or self.ours
        arguments = scenario.arguments or ([] if scenario.ask else ["demo"])
        bases = {"pip": self.of_pip_s, "uv": self.of_uv_s}
        for peer in ("pip", "uv"):
            if row[1] if peer == "pip" else any(row[2:]):
                self.assert_is(scenario.before, ask(*arguments, env={**scenario.env, **bases[peer]()}), f"nothing said, {peer}")
        for peer, spelling, say in self.spellings(row, scenario):
            with self.subTest(spelling):
                env, options = say()
                env = {**scenario.env, **env}
                ours = ask(*options, *arguments, env=env)
                self.assert_is(scenario.after, ours, f"ours\n{self.said}")
                if peer in scenario.peers and not (peer == "pip" and options):
                    of_peer = self.of_pip if peer == "pip" else self.of_uv
                    self.assert_is(scenario.after, of_peer(*options, *(scenario.arguments or ["demo"]), env=env), f"{peer}\n{self.said_by_peer}")

    def assert_is(self, wanted, answer, message):
        if wanted == "fails":
            self.assertIsInstance(answer, int, message)
        else:
            self.assertEqual(answer, wanted, message)

    # Other questions than what would be resolved.

    def environment(self, *arguments, env=None):
        """Which environment is meant when none is named and `venv` is active."""
        result = self.variant("resolve", "demo", "-v", "--no-cache", *arguments, env={"VIRTUAL_ENV": str(self.venv), **env}, cwd=self.project)
        self.said = str(result)
        return next((place for place in ("other", "venv") if f"{self.root}/{place}" in result.err), "system") if result.code == 0 else result.code

    def installs(self, *arguments, env=None):
        """What is installed by it, in an environment that has demo 0.5."""
        shutil.rmtree(self.venv)
        self.make_venv()
        self.assert_ok(self.install(Wheel("demo", "0.5").write(self.root / "old"), "--no-index", env={"UV_NO_CONFIG": "1"}))
        (self.site() / "demo.py").write_text("VERSION = 'edited'\n")
        result = self.variant("install", *arguments, "demo", "--python", self.venv, env=env, cwd=self.project)
        self.said = str(result)
        if result.code != 0:
            return result.code
        return (self.installed()["demo"][0], "edited" in (self.site() / "demo.py").read_text())

    def kept(self, *arguments, env=None):
        cache = self.root / "cache"
        shutil.rmtree(cache, ignore_errors=True)
        result = self.variant("resolve", *arguments, "demo", "--python", self.venv, env={"AXLE_CACHE_DIR": str(cache), **env}, cwd=self.project)
        self.said = str(result)
        return cache.exists() if result.code == 0 else result.code

    def without_venv(self, *arguments, env=None):
        """An installation into what is not a virtual environment."""
        config, away = self.venv / "pyvenv.cfg", self.venv / "away"
        config.rename(away)
        try:
            result = self.variant("install", "demo", "--dry-run", "--break-system-packages", *arguments, "--python", self.venv, env=env, cwd=self.project)
        finally:
            away.rename(config)
        self.said = str(result)
        return result.code

    def managed(self, *arguments, env=None):
        result = self.variant("install", "demo", "--dry-run", "--python", support.PYTHON, *arguments, env=env, cwd=self.project)
        self.said = str(result)
        return result.code

    # The rows, by the first of their names.

    def row_index_url(self):
        return Scenario(self.server.url("b"), {"demo": "2.0"})

    def row_default_index(self):
        return Scenario(self.server.url("b"), {"demo": "2.0"})

    def row_index(self):
        b = self.server.url("b")
        return Scenario(b, {"demo": "2.0"}, spelled={"index": f'[[index]]\nname = "b"\nurl = "{b}"\n'})

    def row_UV_INDEX_(self):
        server = Loopback(self)
        server.publish("/simple", Wheel("demo", "2.0"))
        server.answers = {path: behind_login(answer, "me", "word") for path, answer in server.answers.items()}
        self.more_base = f'[[index]]\nname = "b"\nurl = "{server.url("/simple")}"\n'
        return Scenario({"UV_INDEX_B_USERNAME": "me", "UV_INDEX_B_PASSWORD": "word"}, {"demo": "2.0"}, before="fails")

    def row_extra_index_url(self):
        return Scenario([self.server.url("c")], {"demo": "3.0"})

    def row_find_links(self):
        Wheel("demo", "9.0").write(self.project / "wheels")
        return Scenario(["wheels"], {"demo": "9.0"})

    def row_no_index(self):
        return Scenario(True, "fails")

    def row_index_strategy(self):
        self.more_base = f'extra-index-url = ["{self.server.url("b")}", "{self.server.url("c")}"]\n'
        return Scenario("unsafe-best-match", {"demo": "3.0"}, before={"demo": "2.0"})

    def row_keyring_provider(self):
        server = Loopback(self)
        server.publish("/simple", Wheel("demo", "1.0"))
        server.answers = {path: behind_login(answer, "me", "word") for path, answer in server.answers.items()}
        self.base = server.url("/simple", "me")
        program = self.write("keyring", """#!/bin/sh\ncase "$*" in *json*) echo '{"username": "me", "password": "word"}';; *) echo word;; esac\n""", self.root / "tools")
        program.chmod(0o755)
        return Scenario("subprocess", PLAIN, before="fails", env={"PATH": f"{program.parent}:{self.env['PATH']}", "PIP_NO_INPUT": "1"})

    def project_with_sources(self):
        self.pyproject = (f'[[tool.uv.index]]\nname = "b"\nurl = "{self.server.url("b")}"\nexplicit = true\n[tool.uv.sources]\ndemo = {{index = "b"}}\n'
                          '[project]\nname = "p"\nversion = "1"\nrequires-python = ">=3.9"\ndependencies = ["demo"]\n')

    def row_sources(self):
        b = f'[[tool.uv.index]]\nname = "b"\nurl = "{self.server.url("b")}"\nexplicit = true\n'
        self.pyproject = b + '[project]\nname = "p"\nversion = "1"\nrequires-python = ">=3.9"\ndependencies = ["demo"]\n'
        return Scenario({"demo": {"index": "b"}}, {"demo": "2.0"}, peers=())

    def row_no_sources(self):
        self.project_with_sources()
        return Scenario(True, PLAIN, before={"demo": "2.0"}, peers=())

    def row_no_sources_package(self):
        self.project_with_sources()
        return Scenario(["demo"], PLAIN, before={"demo": "2.0"}, peers=())

    def test_uv_reads_sources_of_a_project_that_is_named(self):
        self.project_with_sources()
        env = self.of_uv_s()
        for more, wanted in (([], {"demo": "2.0"}), (["--no-sources"], PLAIN), (["--no-sources-package", "demo"], PLAIN)):
            self.assertEqual(self.of_uv("-r", "pyproject.toml", *more, env=env), wanted, self.said_by_peer)
            said = {"UV_NO_SOURCES": "1"} if more == ["--no-sources"] else {"UV_NO_SOURCES_PACKAGE": "demo"} if more else {}
            self.assertEqual(self.of_uv("-r", "pyproject.toml", env={**env, **said}), wanted, self.said_by_peer)
            self.assertEqual(self.ours("demo", env={**env, **said}), wanted, self.said)

    def row_trusted_host(self):
        url, _ = self.certificate()
        self.base = url + "/a"
        return Scenario(["127.0.0.1"], PLAIN, before="fails")

    def row_cert(self):
        url, pem = self.certificate()
        self.base = url + "/a"
        return Scenario(pem, PLAIN, before="fails")

    def row_client_cert(self):
        url, pem = self.certificate(asks=True)
        self.base = url + "/a"
        return Scenario(str(self.root / "client.pem"), PLAIN, before="fails", env={"PIP_CERT": pem, "SSL_CERT_FILE": pem})

    def test_a_client_certificate_without_a_key_is_said(self):
        url, pem = self.certificate(asks=True)
        self.base = url + "/a"
        env = {**self.of_pip_s(), "PIP_CERT": pem}
        for wrong in (str(self.root / "own.pem"), "nosuch.pem"):
            self.assertIsInstance(self.ours("--client-cert", wrong, "demo", env=env), int)
            self.assertIn("the client certificate cannot be used", self.said)

    def row_proxy(self):
        proxy, env = self.proxy("http")
        return Scenario(proxy, PLAIN, before="fails", env=env)

    def row_http_proxy(self):
        proxy, env = self.proxy("http")
        return Scenario(proxy, PLAIN, before="fails", env=env)

    def row_https_proxy(self):
        proxy, env = self.proxy("https")
        return Scenario(proxy, PLAIN, before="fails", env=env)

    def row_no_proxy(self):
        self.more_base = f'http-proxy = "{self.dead()}"\n'
        return Scenario(["127.0.0.1"], PLAIN, before="fails")

    def row_no_proxy_env(self):
        return Scenario(True, PLAIN, before="fails", env={"http_proxy": self.dead()})

    def row_timeout(self):
        server = Loopback(self)
        server.publish("/simple", Wheel("demo", "1.0"))
        page = server.answers["/simple/demo/"]
        server.answers["/simple/demo/"] = lambda _: time.sleep(3) or page
        self.base = server.url("/simple")
        return Scenario("1", "fails")

    def row_retries(self):
        server = self.broken()

        def ask(*arguments, env):
            env = {name: value for name, value in env.items() if name not in ("PIP_RETRIES", "UV_HTTP_RETRIES") or value != "0"}
            before = len(server.asked("/demo/"))
            self.assertIsInstance(self.ours("demo", *arguments, env=env), int, self.said)
            return len(server.asked("/demo/")) - before

        return Scenario("1", 2, before=4, ask=ask, peers=())

    def test_pip_and_uv_count_retries_as_we_do(self):
        server = self.broken()
        for peer, env, said in ((self.of_pip, self.of_pip_s(), {"PIP_RETRIES": "1"}), (self.of_uv, self.of_uv_s(), {"UV_HTTP_RETRIES": "1"})):
            counts = []
            for ask in (peer, self.ours):
                before = len(server.asked("/demo/"))
                self.assertIsInstance(ask("demo", env={**env, **said}), int)
                counts.append(len(server.asked("/demo/")) - before)
            self.assertEqual(counts, [2, 2], peer.__name__)

    def row_offline(self):
        return Scenario(True, "fails")

    def refreshed(self, value):
        server = Loopback(self)
        server.publish("/simple", Wheel("demo", "1.0"))
        status, headers, body = server.answers["/simple/demo/"]
        server.answers["/simple/demo/"] = (status, {**headers, "Cache-Control": "max-age=600"}, body)
        self.base = server.url("/simple")

        def ask(*arguments, env):
            cached = {**env, "AXLE_CACHE_DIR": str(self.root / "cache")}
            self.assert_ok(self.variant("resolve", "demo", "--python", self.venv, env=cached, cwd=self.project))
            before = len(server.asked("/demo/"))
            result = self.variant("resolve", "demo", *arguments, "--python", self.venv, env=cached, cwd=self.project)
            self.said = str(result)
            self.assert_ok(result)
            return len(server.asked("/demo/")) - before

        return Scenario(value, 1, before=0, ask=ask, peers=())

    def row_refresh(self):
        return self.refreshed(True)

    def row_refresh_package(self):
        return self.refreshed(["demo"])

    def row_extra(self, value=("top",)):
        file = self.write("other/pyproject.toml", '[project]\nname = "p"\nversion = "1"\ndependencies = ["demo"]\n[project.optional-dependencies]\ntop = ["top"]\n')
        return Scenario(value if value is True else list(value), {"demo": "1.0", "top": "1.0"}, arguments=["-r", file])

    def row_all_extras(self):
        return self.row_extra(True)

    def row_config_file(self):
        named = self.file("other.toml", f'index-url = "{self.server.url("c")}"\n')
        return Scenario(named, {"demo": "3.0"})

    def row_no_config(self):
        # Without any, uv would ask its own default index: the environment names one here.
        self.put("d", "4.0")
        self.more_base = f'extra-index-url = ["{self.server.url("d")}"]\n'
        return Scenario(True, PLAIN, before={"demo": "4.0"}, env={"UV_DEFAULT_INDEX": self.server.url("a")})

    def row_UV_NO_SYSTEM_CONFIG(self):
        self.put("d", "4.0")
        folder = self.root / "etc"
        self.write("uv/uv.toml", f'extra-index-url = ["{self.server.url("d")}"]\n', folder)
        return Scenario(True, PLAIN, before={"demo": "4.0"}, env={"XDG_CONFIG_DIRS": str(folder)})

    def row_constraint(self):
        return Scenario([self.file("low.txt", "demo<1\n")], {"demo": "0.5"})

    def row_constraint_dependencies(self):
        return Scenario(["demo<1"], {"demo": "0.5"})

    def row_overrides(self):
        return Scenario([self.file("over.txt", "demo==0.5\n")], {"demo": "0.5"})

    def row_override_dependencies(self):
        return Scenario(["demo==0.5"], {"demo": "0.5"})

    def row_require_hashes(self):
        return Scenario(True, "fails")

    def one_hash(self):
        """A file where one requirement of two has a hash, right or wrong."""
        data = Wheel("top", "1.0", requires=["demo"]).bytes()
        place = self.root / "web/a/top/index.json"
        right = json.loads(place.read_text())["files"][0]["hashes"]["sha256"]
        self.assertTrue(data)
        return lambda digest=right: ["-r", self.file("hashed.txt", f"top==1.0 --hash=sha256:{digest}\ndemo==1.0\n")]

    def row_no_require_hashes(self):
        return Scenario(True, {"top": "1.0", "demo": "1.0"}, before="fails", arguments=self.one_hash()())

    def row_no_verify_hashes(self):
        return Scenario(True, {"top": "1.0", "demo": "1.0"}, before="fails", arguments=self.one_hash()("0" * 64))

    def row_pip_verify_hashes(self):
        return Scenario(False, {"top": "1.0", "demo": "1.0"}, before="fails", arguments=self.one_hash()("0" * 64))

    def uploaded(self):
        for name, time_of_it in (("0.5", "2024-01-01T00:00:00Z"), ("1.0", "2025-06-01T00:00:00Z"), ("1.5a1", "2025-06-01T00:00:00Z")):
            place = self.root / "web/a/demo/index.json"
            page = json.loads(place.read_text())
            for one in page["files"]:
                if f"-{name}-" in one["filename"]:
                    one["upload-time"] = time_of_it
            place.write_text(json.dumps(page))

    def row_uploaded_prior_to(self):
        self.uploaded()
        return Scenario("2025-01-01T00:00:00Z", {"demo": "0.5"})

    def row_exclude_newer_package(self):
        self.uploaded()
        table = {"demo": "2025-01-01T00:00:00Z"}
        return Scenario(["demo=2025-01-01T00:00:00Z"], {"demo": "0.5"}, spelled={"exclude-newer-package": table, "pip.exclude-newer-package": table})

    def row_no_binary(self):
        return Scenario(["demo"], "fails", spelled={"no-binary": True})

    def row_only_binary(self):
        # What they forbid, Axle never does: it is seen where it takes back what was said before.
        self.pip_base, self.more_base = "no-binary = :all:\n", "no-binary = true\n"
        return Scenario(["demo"], PLAIN, before="fails")

    def row_pre(self):
        return Scenario(True, {"demo": "1.5a1"})

    def row_prerelease(self):
        return Scenario("allow", {"demo": "1.5a1"})

    def row_no_deps(self):
        return Scenario(True, {"top": "1.0"}, before={"top": "1.0", "demo": "1.0"}, arguments=["top"])

    def row_upgrade(self):
        return Scenario(True, ("1.0", False), before=("0.5", True), ask=self.installs, peers=())

    def row_compile(self):
        return Scenario(True, True, before=False, ask=self.compiles, peers=())

    def row_no_compile(self):
        return Scenario(True, False, before=True, ask=self.compiles, peers=(), env={"UV_COMPILE_BYTECODE": "1"})

    def with_old(self, *versions):
        """`venv` has top and these versions of demo; nothing asks for another one."""
        self.assert_ok(self.install(Wheel("top", "1.0", requires=["demo"]).write(self.root / "old"),
                                    *(Wheel("demo", one).write(self.root / "old") for one in versions), "--no-index", env={"UV_NO_CONFIG": "1"}))

    def row_upgrade_package(self):
        self.with_old("0.5")
        return Scenario(["demo"], {"demo": "1.0"}, before={}, ask=lambda *a, env: self.would_install(*a, "top", env=env), arguments=["top"])

    def row_reinstall_package(self):
        self.with_old("1.0")
        return Scenario(["demo"], {"demo": "1.0"}, before={}, ask=lambda *a, env: self.would_install(*a, "top", env=env), peers=())

    def row_force_reinstall(self):
        return Scenario(True, ("1.0", False), before=("0.5", True), ask=self.installs, peers=())

    def row_python(self):
        other = self.make_venv(self.root / "other")
        return Scenario(str(other), "other", before="venv", ask=self.environment, peers=())

    def row_system(self):
        path = f"{pathlib.Path(support.PYTHON).parent}:{self.env['PATH']}"
        return Scenario(True, "system", before="venv", ask=self.environment, peers=(), env={"PATH": path})

    def test_uv_takes_the_system_s_python_too(self):
        env = {**self.of_uv_s(), "VIRTUAL_ENV": str(self.venv)}
        for more, in_venv in (({}, True), ({"UV_SYSTEM_PYTHON": "1"}, False)):
            result = self.uv("pip", "install", "demo", "--dry-run", "--break-system-packages", env={**env, **more})
            self.assertEqual("environment at: venv" in result.err, in_venv, result.err)

    def row_break_system_packages(self):
        if self.managed(env=self.of_uv_s()) == 0:
            self.skipTest(f"{support.PYTHON} is not externally managed")
        return Scenario(True, 0, before=self.managed(env=self.of_uv_s()), ask=self.managed, peers=())

    def row_require_virtualenv(self):
        return Scenario(True, 2, before=0, ask=self.without_venv, peers=())

    def row_dry_run(self):
        return Scenario(True, ("0.5", True), before=("1.0", False), ask=lambda *a, env: self.installs("-U", *a, env=env), peers=())

    def row_no_cache_dir(self):
        return Scenario(True, False, before=True, ask=self.kept, peers=())

    def row_torch_backend(self):
        torch = TorchIndex(self.root / "torch", all_files(["2.9"])).write()

        def ask(*arguments, env):
            result = self.variant("resolve", "torch", "--json", "--family", f"torch={torch.url}", "--for", "h100", "--no-cache", *arguments,
                                  "--python", self.venv, env=env, cwd=self.project)
            self.said = str(result)
            return result.json["packages"][0]["variant"] if result.code == 0 else result.code

        return Scenario("cpu", "cpu", before="cu130", ask=ask, peers=())


def row_name(row):
    names = row[1] or row[2] or row[3] or row[4]
    return "row_" + names[0].strip("*").replace("-", "_").replace(".", "_")


def add_rows():
    """A test a row, so that one that fails names it, and one that has no scenario does too."""
    def test_of(row, name):
        def test(self):
            make = getattr(self, name, None)
            self.assertIsNotNone(make, f"{row}: an honoured row that no scenario tries; write {name}")
            self.compare(row, make())
        return test

    for row in settings_table_test.rows():
        if row[0] == "honoured":
            setattr(Honoured, "test_" + row_name(row), test_of(row, row_name(row)))


add_rows()
del SettingsCase

if __name__ == "__main__":
    unittest.main()
