"""--build: releases without a wheel that fits, built by pip or uv with the user's consent, and kept."""

import hashlib
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import support
from sdist_case import BuildCase
from support import Wheel

OTHER_PLATFORM = "cp311-cp311-win_amd64"


class Consent(BuildCase):
    def test_nothing_runs_without_it(self):
        self.publish(self.sdist("demo", "1.0"))
        result = self.ask("demo")
        self.assert_fails(result, 3, "demo 1.0 has no wheel, only a source distribution", "variant install --build=demo demo==1.0",
                          "runs its code")
        self.assertEqual(self.built(), [])

    def test_the_command_of_the_hint_works(self):
        self.publish(self.sdist("demo", "1.0"))
        hint = self.ask("demo", "--json").json["error"]["hint"]
        command = hint.split("`")[1].split()
        self.assertEqual(command[:2], ["variant", "install"])
        self.assert_ok(self.variant(*command[1:]))
        self.assertEqual(self.installed(), {"demo": ("1.0", None)})

    def test_of_single_packages(self):
        self.publish(self.sdist("demo", "1.0"))
        self.assert_fails(self.ask("--build=other", "demo"), 3, "only a source distribution", "--build=demo")
        self.assertEqual(self.built(), [])
        self.assert_ok(self.ask("--build=other,Demo", "demo"))
        self.assertEqual(self.built(), ["demo 1.0"])

    def test_of_all(self):
        self.publish(self.sdist("demo", "1.0", requires=["dep"]), self.sdist("dep", "2.0"))
        self.assert_ok(self.ask("--build", "demo"))
        self.assertEqual(self.installed(), {"demo": ("1.0", None), "dep": ("2.0", None)})
        self.assertEqual(self.built(), ["demo 1.0", "dep 2.0"])

    def test_only_of_one_that_another_needs(self):
        self.publish(Wheel("top", "1.0", requires=["demo"]), self.sdist("demo", "1.0"))
        self.assert_fails(self.ask("top"), 3, "demo 1.0 has no wheel", "top")
        self.assert_ok(self.ask("--build=demo", "top"))
        self.assertEqual(self.installed(), {"demo": ("1.0", None), "top": ("1.0", None)})

    def test_what_forbids_it(self):
        self.publish(self.sdist("demo", "1.0"))
        uv = self.file("all.toml", "no-build = true\n")
        by_name = self.file("name.toml", 'no-build-package = ["demo"]\n')
        for title, arguments, env in (("an option", ["--only-binary", ":all:"], {}), ("by name", ["--only-binary", "demo"], {}),
                                      ("a variable", [], {"PIP_ONLY_BINARY": ":all:"}), ("uv's", [], {"UV_CONFIG_FILE": str(uv)}),
                                      ("uv's, by name", [], {"UV_CONFIG_FILE": str(by_name)})):
            with self.subTest(title):
                result = self.ask("--build", "demo", *arguments, env=env)
                self.assert_fails(result, 3, "only a source distribution", "is not built: ")
        self.assertEqual(self.built(), [])
        self.assert_ok(self.ask("--build", "demo", "--only-binary", ":all:", "--no-binary", "demo"))

    def test_a_wheel_that_is_excluded(self):
        self.publish(Wheel("demo", "1.0"), self.sdist("demo", "1.0"))
        self.assert_fails(self.ask("--no-binary", "demo", "demo"), 1, "wheels of demo are excluded", "--build=demo")
        self.assertEqual(self.built(), [])
        answer = self.ask("--no-binary", "demo", "--build=demo", "demo", "--json")
        self.assertEqual(self.package(answer)["built_from"]["file"], "demo-1.0.tar.gz")
        self.assertEqual(self.built(), ["demo 1.0"])

    def test_settings_of_builds_that_are_not_passed_on(self):
        self.publish(self.sdist("demo", "1.0"), Wheel("whole", "1.0"))
        uv = self.file("limits.toml", 'no-build-isolation-package = ["demo"]\n')
        for env, where in (({"UV_REQUIRE_BUILD_HASHES": "1"}, "UV_REQUIRE_BUILD_HASHES"), ({"UV_CONFIG_FILE": str(uv)}, f"{uv}:1")):
            with self.subTest(where):
                self.assert_fails(self.ask("--build", "demo", env=env), 2, where, "does not pass")
                self.assert_ok(self.ask("whole", command="resolve", env=env))
        self.assertEqual(self.built(), [])

    def test_settings_of_builds(self):
        """They reach the backend, by pip as by uv, and a wheel that was built with others is not taken."""
        self.publish(self.sdist("demo", "1.0", build_requires=["helper"], before="import helper; note(f'{helper.VERSION} {config_settings}')"),
                     Wheel("helper", "1.0"), Wheel("helper", "2.0"))
        limits = self.file("limits.txt", "helper<2\n")
        for tool in ("pip", "uv"):
            with self.subTest(tool):
                self.log.unlink(missing_ok=True)
                ways = [[], ["-C", "a=b c"], ["--config-settings", "a=1", "-Ca=2"], ["--build-constraint", limits]]
                for words in ways * 2:
                    self.assert_ok(self.ask("--build", "demo", *words, command="resolve"))
                self.assertEqual([line for line in self.built() if line[0].isdigit()],
                                 [f"2.0 {None if tool == 'pip' else {}}", "2.0 {'a': 'b c'}", "2.0 {'a': ['1', '2']}",
                                  f"1.0 {None if tool == 'pip' else {}}"])
            if tool == "pip":
                self.with_uv_only()

    def test_without_isolation(self):
        self.publish(self.sdist("demo", "1.0", build_requires=["nosuch"], before="import helper"))
        self.assert_fails(self.ask("--build", "demo"), 3, "could not be built", "nosuch")
        self.assert_fails(self.ask("--build", "demo", "--no-build-isolation"), 3, "helper")
        self.assert_ok(self.install(Wheel("helper", "1.0").write(self.root / "wheels"), "--no-index"))
        for _ in range(2):
            self.assert_ok(self.ask("--build", "demo", "--no-build-isolation", "--reinstall"))
        self.assertEqual(self.built(), ["demo 1.0"] * 3)

    def test_not_for_another_machine(self):
        self.publish(self.sdist("demo", "1.0"))
        self.assert_fails(self.ask("--build", "demo", "--for", "none", command="resolve"), 2, "--build", "for this machine")
        self.assert_fails(self.ask("demo", "--for", "none", command="resolve"), 3, "let pip build a wheel")

    def test_a_name_that_is_none(self):
        self.assert_fails(self.ask("--build=a b", "demo"), 2, "--build=a b", "not a valid name")


class LastResort(BuildCase):
    def chosen(self, *arguments):
        result = self.assert_ok(self.ask("--build", "--json", *arguments, command="resolve"))
        return {one["name"]: (one["version"], one["built_from"] is not None) for one in result.json["packages"]}

    def test_an_older_wheel_is_better(self):
        self.publish(Wheel("demo", "1.0"), self.sdist("demo", "2.0"))
        self.assertEqual(self.chosen("demo"), {"demo": ("1.0", False)})
        self.assertEqual(self.chosen("demo>=2"), {"demo": ("2.0", True)})
        self.assertEqual(self.built(), ["demo 2.0"])

    def test_the_newest_that_can_be_built(self):
        self.publish(self.sdist("demo", "1.0"), self.sdist("demo", "1.5"), self.sdist("demo", "2.0"))
        self.assertEqual(self.chosen("demo"), {"demo": ("2.0", True)})
        self.assertEqual(self.built(), ["demo 2.0"])

    def test_a_solution_from_wheels_is_better(self):
        """demo 2.0 would do with the newest dep, but an older dep does without anything being built."""
        self.publish(Wheel("demo", "1.0"), self.sdist("demo", "2.0"), Wheel("dep", "1.0", requires=["demo<2"]),
                     Wheel("dep", "2.0", requires=["demo>=2"]))
        self.assertEqual(self.chosen("dep"), {"dep": ("1.0", False), "demo": ("1.0", False)})
        self.assertEqual(self.built(), [])
        self.assertEqual(self.chosen("dep>=2"), {"dep": ("2.0", False), "demo": ("2.0", True)})

    def test_wheels_that_do_not_fit(self):
        self.publish(Wheel("demo", "1.0", tags=OTHER_PLATFORM), self.sdist("demo", "1.0"))
        self.assertEqual(self.chosen("demo"), {"demo": ("1.0", True)})

    def test_what_it_needs_counts(self):
        """The metadata is the backend's: that of 2.0 does not go with the other requirement."""
        self.publish(self.sdist("demo", "1.0", requires=["dep<2"]), self.sdist("demo", "2.0", requires=["dep>=2"]), Wheel("dep", "1.0"),
                     Wheel("dep", "2.0"))
        self.assertEqual(self.chosen("demo", "dep<2"), {"demo": ("1.0", True), "dep": ("1.0", False)})
        self.assertEqual(self.built(), ["demo 2.0", "demo 1.0"])

    def test_python_that_it_is_not_for(self):
        self.publish(self.sdist("demo", "1.0"), self.sdist("demo", "2.0"))
        status, headers, body = self.server.answers["/simple/demo/"]
        body = body.replace('2.0.tar.gz#', '2.0.tar.gz#').replace('<a href="/simple/files/demo-2.0', '<a data-requires-python="&lt;3" href="/simple/files/demo-2.0')
        self.server.answers["/simple/demo/"] = (status, headers, body)
        self.assertEqual(self.chosen("demo"), {"demo": ("1.0", True)})

    def test_as_pip_prefers_binaries(self):
        """pip's --prefer-binary is the same rule, package by package."""
        self.publish(Wheel("a", "1.0"), self.sdist("a", "2.0"), self.sdist("b", "1.0", requires=["a"]), self.sdist("b", "2.0", requires=["a>=2"]),
                     Wheel("c", "1.0", requires=["b<2"]), Wheel("d", "1.0", tags=OTHER_PLATFORM), self.sdist("d", "1.0", requires=["c"]))
        env = {"PIP_INDEX_URL": self.url, "PIP_NO_CACHE_DIR": "1"}
        for asked in (["a"], ["a>=2"], ["b"], ["b<2"], ["c"], ["d"], ["c", "a>=2"], ["b", "a<2"]):
            with self.subTest(asked):
                peer = self.assert_ok(self.pip("install", "--dry-run", "--quiet", "--prefer-binary", "--report", "-", *asked, env=env))
                theirs = {one["metadata"]["name"]: one["metadata"]["version"] for one in peer.json["install"]}
                self.assertEqual({name: version for name, (version, _) in self.chosen(*asked).items()}, theirs)


class Kept(BuildCase):
    def test_what_is_said_of_it(self):
        made = self.sdist("demo", "1.0")
        self.publish(made)
        package = self.package(self.ask("--build", "demo", "--json", command="resolve"))
        self.assertEqual(package["built_from"], {"file": "demo-1.0.tar.gz", "url": self.server.url("/simple/files/demo-1.0.tar.gz"),
                                                 "sha256": hashlib.sha256(made.bytes()).hexdigest(), "subdirectory": None, "commit": None, "builder": "pip 26.3"})
        self.assertEqual(package["wheel"], "demo-1.0-py3-none-any.whl")
        self.assertEqual(package["sha256"], hashlib.sha256(made.wheels["demo-1.0-py3-none-any.whl"]).hexdigest())
        text = self.assert_ok(self.ask("--build", "--explain", "demo", "--dry-run")).out
        self.assertIn("demo 1.0: the plain wheel, built from demo-1.0.tar.gz by pip 26.3, because no wheel can be used", text)

    def test_it_is_built_once(self):
        self.publish(self.sdist("demo", "1.0"))
        self.assert_ok(self.ask("--build", "demo", command="resolve"))
        asked = len(self.server.asked("demo-1.0.tar.gz"))
        self.assert_ok(self.ask("--build", "demo"))
        self.assert_ok(self.ask("--build", "--reinstall", "demo"))
        self.assertEqual(self.built(), ["demo 1.0"])
        self.assertEqual(len(self.server.asked("demo-1.0.tar.gz")), asked)
        (self.site() / "a_pip.pth").unlink()
        self.assert_neighbours_work()

    def test_another_tool_builds_again(self):
        self.publish(self.sdist("demo", "1.0"))
        self.assert_ok(self.ask("--build", "demo", command="resolve"))
        self.with_uv_only()
        package = self.package(self.ask("--build", "demo", "--json", command="resolve"))
        self.assertEqual(package["built_from"]["builder"], "uv 0.13.9")
        self.assertEqual(self.built(), ["demo 1.0", "demo 1.0"])

    def test_without_a_cache(self):
        self.publish(self.sdist("demo", "1.0"))
        for _ in range(2):
            self.assert_ok(self.ask("--build", "--no-cache", "--reinstall", "demo"))
        self.assertEqual(self.built(), ["demo 1.0", "demo 1.0"])
        self.assertFalse((self.root / "cache/builds").exists())

    def test_offline(self):
        self.publish(self.sdist("demo", "1.0"))
        self.assert_fails(self.ask("--build", "--offline", "demo"), 1, "offline")
        self.assert_ok(self.ask("--build", "demo", command="resolve"))
        self.server.server.shutdown()
        self.assert_ok(self.ask("--build", "--offline", "demo"))
        self.assertEqual(self.installed(), {"demo": ("1.0", None)})
        self.assertEqual(self.built(), ["demo 1.0"])

    def test_what_is_installed_is_kept(self):
        self.publish(self.sdist("demo", "1.0"))
        self.assert_ok(self.ask("--build", "demo"))
        self.assertIn("= demo 1.0", self.assert_ok(self.ask("demo")).out)


class Hashes(BuildCase):
    def requirements(self, text):
        return self.file("r.txt", text)

    def test_an_index_that_lies(self):
        self.publish(self.sdist("demo", "1.0"))
        self.server.page("/simple", "demo", f"/simple/files/demo-1.0.tar.gz#sha256={'0' * 64}")
        self.assert_fails(self.ask("--build", "demo"), 1, "demo-1.0.tar.gz has the sha256", "0" * 64)
        self.assertEqual(self.built(), [])

    def test_listed_ones(self):
        made = self.sdist("demo", "1.0")
        self.publish(made)
        right = hashlib.sha256(made.bytes()).hexdigest()
        self.assert_fails(self.ask("--build", "-r", self.requirements(f"demo==1.0 --hash=sha256:{'1' * 64}\n")), 3, "demo")
        self.assert_fails(self.ask("--build", "--require-hashes", "demo==1.0"), 1, "hash")
        self.assertEqual(self.built(), [])
        self.assert_ok(self.ask("--build", "-r", self.requirements(f"demo==1.0 --hash=sha256:{right}\n")))
        self.assertEqual(self.built(), ["demo 1.0"])

    def test_a_dependency_that_is_not_listed(self):
        top = Wheel("top", "1.0", requires=["demo"])
        self.publish(top, self.sdist("demo", "1.0"))
        digest = hashlib.sha256(top.bytes()).hexdigest()
        self.assert_fails(self.ask("--build", "-r", self.requirements(f"top==1.0 --hash=sha256:{digest}\n")), 3, "demo 1.0", "hash")
        self.assertEqual(self.built(), [])

    def test_an_index_without_hashes(self):
        """The first download counts."""
        self.publish(self.sdist("demo", "1.0"))
        self.server.page("/simple", "demo", "/simple/files/demo-1.0.tar.gz")
        self.assert_ok(self.ask("--build", "demo", command="resolve"))
        self.server.answers["/simple/files/demo-1.0.tar.gz"] = (200, {}, self.sdist("demo", "1.0", before="pass").bytes())
        self.assert_fails(self.ask("--build", "demo", command="resolve"), 1, "demo-1.0.tar.gz", "first download")
        self.assertEqual(self.built(), ["demo 1.0"])


if __name__ == "__main__":
    unittest.main()
