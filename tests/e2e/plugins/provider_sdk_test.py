"""The SDK as a vendor meets it: the CMake package with two compilers and two languages, the templates, the
conformance test on good and bad plugins of every kind."""

import os
import pathlib
import shutil
import subprocess
import sys
import textwrap
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import BIN, PYTHON, SOURCE, TestCase, Wheel, variant_document

SDK = SOURCE / "providers/sdk"
HOSTILE = BIN.parent / "tests/sdk/hostile"

PROVIDER = """
    #include <axle_provider.h>
    static int32_t say(const axle_provider_sink *sink) {
      axle_provider_feature(sink, "language", AXLE_PROVIDER_SINGLE);
      axle_provider_value(sink, "any");
      return AXLE_PROVIDER_OK;
    }
    AXLE_PROVIDER("tiny", "1.0", say, say);
"""

PROJECT = """
    cmake_minimum_required(VERSION 3.18)
    project(tiny LANGUAGES @LANGUAGE@)
    include(CTest)
    find_package(AxleProvider 1 REQUIRED)
    axle_add_provider(tiny SOURCES tiny.@EXTENSION@)
    target_compile_options(tiny PRIVATE @STANDARD@ -pedantic -Wall -Wextra -Werror)
"""

EXECUTABLE = """
    #!/bin/sh
    echo '{"namespace": "shell", "features": [{"name": "f", "multi_value": false, "values": ["1"]}]}'
"""


class SdkTestCase(TestCase):
    def setUp(self):
        super().setUp()
        # A conformance test of the vendor's finds the program that is tested.
        self.env["PATH"] = f"{BIN}:{self.env['PATH']}"

    def need(self, *tools):
        for tool in tools:
            if shutil.which(tool) is None:
                self.skipTest(f"{tool} is not here")

    def run_tool(self, *words, cwd=None, **more):
        done = subprocess.run([str(word) for word in words], cwd=cwd or self.root, env={**self.env, **more}, text=True,
                              capture_output=True, timeout=300, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, f"{words}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def write(self, path, text):
        path = self.root / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text).lstrip())
        return path

    def check(self, plugin, *options, code=0, **more):
        """name -> (result, message) of the conformance test."""
        result = self.variant("providers", "check", plugin, "--runs", "3", "--json", *options, **more)
        self.assertEqual(result.code, code, str(result))
        checks = result.json["checks"]
        self.assertEqual(len(checks), len({one["name"] for one in checks}))
        for one in checks:
            self.assertEqual(set(one), {"name", "result", "message"})
            self.assertIn(one["result"], ("ok", "warn", "fail"))
        return {one["name"]: (one["result"], one["message"]) for one in checks}


class CMakePackage(SdkTestCase):
    def installed_sdk(self):
        """Installed from a copy of the folder alone: nothing else of the tree takes part."""
        self.need("cmake")
        alone = self.root / "sdk-alone"
        shutil.copytree(SDK, alone)
        self.run_tool("cmake", "-S", alone, "-B", self.root / "sdk-build")
        prefix = self.root / "prefix"
        self.run_tool("cmake", "--install", self.root / "sdk-build", "--component", "sdk", "--prefix", prefix)
        shutil.rmtree(alone)
        return prefix

    def build(self, name, language, compiler, where):
        standard, extension = {"C": ("-std=c99", "c"), "CXX": ("-std=c++11", "cpp")}[language]
        text = PROJECT.replace("@LANGUAGE@", language).replace("@EXTENSION@", extension)
        folder = self.write(f"{name}/CMakeLists.txt", text.replace("@STANDARD@", standard)).parent
        self.write(f"{name}/tiny.{extension}", PROVIDER)
        self.run_tool("cmake", "-S", folder, "-B", folder / "build", f"-DCMAKE_{language}_COMPILER={compiler}", where)
        self.run_tool("cmake", "--build", folder / "build")
        return folder / "build"

    def test_two_compilers_and_two_languages_find_an_installed_sdk(self):
        prefix = self.installed_sdk()
        self.assertTrue((prefix / "include/axle_provider.h").is_file())
        built = 0
        for language, compilers in {"C": ("gcc", "clang", "clang-19"), "CXX": ("g++", "clang++", "clang++-19")}.items():
            for compiler in compilers:
                if shutil.which(compiler) is None:
                    continue
                with self.subTest(compiler=compiler):
                    build = self.build(f"with-{compiler}", language, compiler, f"-DCMAKE_PREFIX_PATH={prefix}")
                    exported = self.run_tool("nm", "-D", "--defined-only", build / "tiny.so").split()[2::3]
                    self.assertEqual(exported, ["axle_provider_entry"])
                    checks = self.check(build / "tiny.so")
                    self.assertEqual(checks["answers"][0], "ok", checks)
                    built += 1
        self.assertGreater(built, 0, "no compiler was found")

    def test_the_source_tree_is_a_package_too_and_ctest_runs_the_conformance_test(self):
        self.need("cmake", "ctest", "cc")
        build = self.build("in-tree", "C", "cc", f"-DAxleProvider_DIR={SDK / 'cmake'}")
        self.assertIn("tiny.conformance", self.run_tool("ctest", "--test-dir", build, "--output-on-failure"))

    def test_another_version_of_the_interface_is_refused(self):
        self.need("cmake", "cc")
        folder = self.write("other/CMakeLists.txt", """
            cmake_minimum_required(VERSION 3.18)
            project(other LANGUAGES NONE)
            foreach(version 1 1.0 2 0 1.7)
              find_package(AxleProvider ${version} QUIET)
              message(STATUS "version ${version}: ${AxleProvider_FOUND}")
            endforeach()
        """).parent
        said = self.run_tool("cmake", "-S", folder, "-B", folder / "build", f"-DAxleProvider_DIR={SDK / 'cmake'}")
        found = {version: f"version {version}: 1\n" in said for version in ("1", "1.0", "2", "0", "1.7")}
        self.assertEqual(found, {"1": True, "1.0": True, "2": False, "0": False, "1.7": False}, said)


class Templates(SdkTestCase):
    def test_the_project_in_cpp_builds_tests_itself_and_conforms(self):
        self.need("cmake", "ctest", "c++")
        made = self.assert_ok(self.variant("providers", "new", "star_chip2", "project", "--json")).json
        self.assertEqual(made["namespace"], "star_chip2")
        files = {str(path.relative_to(self.root / "project")) for path in (self.root / "project").rglob("*")
                 if path.is_file()}
        self.assertEqual(files, set(made["files"]))
        for path in files:
            self.assertNotIn("acme", path)
            if not path.startswith("sdk/"):
                self.assertNotIn("acme", (self.root / "project" / path).read_text().lower(), path)
        self.run_tool("cmake", "-S", "project", "-B", "build", "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Wpedantic -Werror")
        self.run_tool("cmake", "--build", "build")
        tests = self.run_tool("ctest", "--test-dir", "build", "--output-on-failure")
        self.assertIn("star_chip2_provider.conformance", tests)
        self.assertIn("100% tests passed", tests)
        checks = self.check(self.root / "build/star_chip2_provider.so")
        self.assertFalse([name for name, one in checks.items() if one[0] == "fail"], checks)
        # What is not a matter of time or of this kernel.
        for name in ("answers", "protocol", "namespace", "properties", "declared", "stable", "silence", "threads"):
            self.assertEqual(checks[name][0], "ok", checks)

    def test_the_project_in_python_tests_itself_and_conforms_as_a_folder_and_as_a_wheel(self):
        self.assert_ok(self.variant("providers", "new", "--language", "python", "star", "project"))
        project = self.root / "project"
        tests = subprocess.run([PYTHON, "-m", "unittest"], cwd=project, env=self.env, text=True, capture_output=True)
        self.assertEqual(tests.returncode, 0, tests.stderr)
        self.assertRegex(tests.stderr, r"Ran [1-9]\d* tests")
        built = self.assert_ok(self.variant("build", project, "--out", self.root / "dist", "--json")).json["wheels"]
        for plugin in (project, built[0]["file"]):
            with self.subTest(plugin=plugin):
                checks = self.check(plugin, "--python", PYTHON)
                for name in ("answers", "protocol", "namespace", "properties", "declared", "stable", "silence"):
                    self.assertEqual(checks[name][0], "ok", checks)

    def test_a_folder_that_is_in_use_is_left_alone(self):
        kept = self.write("project/mine", "mine")
        self.assert_fails(self.variant("providers", "new", "star", "project"), 1, "already exists")
        self.assertEqual([path.name for path in kept.parent.iterdir()], ["mine"])

    def test_names_that_cannot_be(self):
        for name, why in {"Star": "a-z", "2star": "start with a letter", "a-b": "a-z", "nvidia": "taken",
                          "abi_dependency": "taken"}.items():
            self.assert_fails(self.variant("providers", "new", name, "project"), 2, name, why)
        self.assert_fails(self.variant("providers", "new", "star"), 2, "two arguments")
        self.assert_fails(self.variant("providers", "new", "star", "project", "--language", "cobol"), 2, "cobol", "python")
        self.assertFalse((self.root / "project").exists())


class Conformance(SdkTestCase):
    def hostile(self, behaviour):
        path = HOSTILE / f"{behaviour}.so"
        if not path.exists():
            self.skipTest(f"{path} was not built")
        return path

    def script(self, name, body):
        path = self.write(name, f"#!{PYTHON}\nimport json, os, sys\n" + textwrap.dedent(body))
        path.chmod(0o755)
        return path

    def answering(self, name, supported, every=None, before=""):
        """A program that says these lists; `supported` and `every` are Python expressions."""
        return self.script(name, f"""
{before}
def say(features):
    rows = [{{"name": n, "multi_value": m, "values": v}} for n, m, v in features]
    print(json.dumps({{"namespace": "odd", "features": rows}}))
say({supported} if sys.argv[1] == "supported" else {every or supported})
""")

    def test_a_good_program(self):
        path = self.write("shell", EXECUTABLE)
        path.chmod(0o755)
        checks = self.check(path)
        self.assertFalse([name for name, one in checks.items() if one[0] == "fail"], checks)
        self.assertEqual(checks["namespace"], ("ok", "it answers for shell"))

    def test_what_fails_and_what_it_is_told(self):
        one = '[("f", False, ["1"])]'
        rows = {
            "undeclared value": (self.answering("a", '[("f", False, ["2"])]', one), "declared", "f :: 2"),
            "undeclared feature": (self.answering("b", '[("g", False, ["1"])]', one), "declared", "feature g"),
            "other kind": (self.answering("c", '[("f", True, ["1"])]', one), "declared", "multi-valued in one"),
            "no order": (self.answering("d", '[("f", False, ["1", "2"][:: random.choice((1, -1))])]',
                                        '[("f", False, ["1", "2"])]', "import random"), "stable", "instead of"),
            "nothing in all": (self.answering("e", "[]", "[]"), "properties", "`all` is empty"),
            "bad value": (self.answering("f", '[("f", False, ["A"])]', one), "protocol", '"A"'),
            "a value twice": (self.answering("g", '[("f", False, ["1", "1"])]', one), "protocol", "duplicate"),
            "a device is a must": (self.answering("h", one, one, "open('/sys/class/mem/null/dev')"),
                                   "nothing there", "without a device"),
            "all looks at the machine": (self.answering(
                "i", one, '[("f", False, ["1"] + sorted(os.path.basename(p) for p in glob.glob("/sys/class/mem/*")))]',
                "import glob"), "nothing there", "depends"),
        }
        for what, (path, name, words) in rows.items():
            with self.subTest(what):
                runs = ("--runs", "30") if what == "no order" else ()
                if name == "nothing there" and not os.path.exists("/sys/class/mem/null/dev"):
                    continue
                result = self.variant("providers", "check", path, "--namespace", "odd", "--runs", "3", *runs, "--json")
                checks = {row["name"]: row for row in result.json["checks"]}
                if name == "nothing there" and "not tested" in checks[name]["message"]:
                    continue  # the kernel lets nobody make a bare machine: the check says so
                self.assertEqual(result.code, 1, str(result))
                self.assertEqual(checks[name]["result"], "fail", str(result))
                self.assertIn(words, checks[name]["message"])

    def test_what_is_tried_and_denied_is_told(self):
        path = self.answering("nosy", '[("f", False, ["1"])]', None, """
import socket
for attempt in (lambda: socket.socket(socket.AF_INET), lambda: open("/tmp/axle-nosy", "w"), lambda: os.fork()):
    try:
        attempt()
        print("allowed", file=sys.stderr)
    except OSError:
        pass
""")
        checks = self.check(path)
        self.assertEqual(checks["silence"][0], "ok", checks)  # nothing was allowed
        self.assertFalse(os.path.exists("/tmp/axle-nosy"))
        if "not monitored" in checks["manners"][1]:
            self.skipTest("this kernel does not tell what it denies: " + checks["manners"][1])
        self.assertEqual(checks["manners"][0], "warn", checks)
        for attempt in ("socket", "/tmp/axle-nosy", "clone"):
            self.assertIn(attempt, checks["manners"][1])

    def test_shared_objects_that_are_ill(self):
        for behaviour, name, words in (("crash_in_query", "answers", "SEGV"), ("value_twice", "protocol", "duplicate"),
                                       ("another_namespace", "namespace", "nvidia"),
                                       ("null_feature", "protocol", "NULL"), ("newer_abi", "protocol", "version 2"),
                                       ("no_entry", "protocol", "exports no axle_provider_entry")):
            with self.subTest(behaviour):
                checks = self.check(self.hostile(behaviour), code=1)
                self.assertEqual(checks[name][0], "fail", checks)
                self.assertIn(words, checks[name][1])
        self.assertEqual(self.check(self.hostile("thread_outlives_the_query"))["threads"][0], "warn")
        self.assertIn("hello from the driver", self.check(self.hostile("prints"))["silence"][1])
        reason = self.check(self.hostile("nothing_here"))["properties"]
        self.assertIn("no card is plugged in", reason[1])

    def test_a_hostile_shared_object_costs_its_namespace_and_one_warning(self):
        """Through the whole program: trusted, asked for a resolution, and the null variant is what is left."""
        document = variant_document({"null": [], "special": [("hostile", "said", ["1"])]}, ("hostile",))
        for label in document["variants"]:
            Wheel("demo", "1.0", label, document).write(self.root / "wheels")
        self.make_venv()
        (self.root / "plugins").mkdir()
        rows = {"nothing_wrong": ("special", None), "prints": ("special", None),
                "thread_outlives_the_query": ("special", None), "crash_in_constructor": ("null", "SIGSEGV"),
                "exit_in_query": ("null", "without an answer"), "another_namespace": ("null", "nvidia"),
                "newer_abi": ("null", "implements version 2"), "null_feature": ("null", "NULL"),
                "gigantic_value": ("null", "longer than 128 bytes"), "negative_kind": ("null", "the unknown kind -1"),
                "floods": ("null", "output was too long")}
        for behaviour, (label, words) in rows.items():
            with self.subTest(behaviour):
                plugin = self.root / "plugins" / f"{behaviour}.so"
                shutil.copy(self.hostile(behaviour), plugin)
                self.assert_ok(self.variant("providers", "trust", plugin, "--namespace", "hostile"))
                result = self.variant("resolve", "demo", "--no-index", "--find-links", self.root / "wheels",
                                      "--python", self.venv, "--json")
                self.assert_ok(result)
                self.assertEqual([one["variant"] for one in result.json["packages"]], [label], str(result))
                warnings = [line for line in result.err.splitlines() if line.startswith("warning:")]
                self.assertEqual(len(warnings), 0 if words is None else 1, result.err)
                self.assertNotIn("hello from the driver", result.err + result.out)
                if words is not None:
                    self.assertIn("hostile", warnings[0])
                    self.assertIn(words, warnings[0])

    def test_a_module_of_an_environment_and_one_of_several_plugins_of_a_wheel(self):
        module = textwrap.dedent("""
            class Config:
                def __init__(self, name): self.name, self.multi_value, self.values = name, False, ["1"]
            class One:
                @staticmethod
                def get_supported_configs(): return [Config("one")]
                get_all_configs = get_supported_configs
            class Two:
                @staticmethod
                def get_supported_configs(): return [Config("two")]
                get_all_configs = get_supported_configs
        """)
        wheel = Wheel("pair", "1.0", files={"pair.py": module})
        wheel.members[f"{wheel.dist_info}/entry_points.txt"] = "[variant_plugins]\none = pair:One\ntwo = pair:Two\n"
        path = wheel.write(self.root)
        both = self.variant("providers", "check", path, "--python", PYTHON)
        self.assert_fails(both, 2, "several plugins: one, two", "--namespace")
        self.assertEqual(self.check(path, "--namespace", "two", "--python", PYTHON)["answers"][0], "ok")
        self.make_venv()
        (self.site() / "pair.py").write_text(module)
        self.assert_fails(self.variant("providers", "check", "pair:One", "--python", self.venv), 2, "--namespace NS")
        self.assertEqual(self.check("pair:One", "--namespace", "one", "--python", self.venv)["answers"][0], "ok")

    def test_words_that_name_no_plugin(self):
        self.assert_fails(self.variant("providers", "check", "./nowhere.so"), 1, "no such file")
        self.assert_fails(self.variant("providers", "check", self.write("text", "hello")), 1, "neither a shared object")
        self.assert_fails(self.variant("providers", "check", self.root / "home"), 1, "pyproject.toml")
        project = self.write("plain/pyproject.toml", "[project]\nname = 'plain'\n").parent
        self.assert_fails(self.variant("providers", "check", project), 1, "has no provider plugin", "entry point")
        broken = self.write("broken/pyproject.toml", "[project\n").parent
        self.assert_fails(self.variant("providers", "check", broken), 1, "pyproject.toml:1")
        for runs in ("0", "-1", "many", "1000000000"):
            self.assert_fails(self.variant("providers", "check", project, f"--runs={runs}"), 2, "--runs")


if __name__ == "__main__":
    unittest.main()
