"""axle-variant-provider: built by the builder, installed by Axle, run by a real Python, and by variantlib where it is."""

import atexit
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import PYTHON, SOURCE, VARIANT, TestCase, Wheel, variant_document

ASK = """
import json, sys
import axle_variant_provider as plugin
configs = getattr(plugin, sys.argv[1])()
print(json.dumps([[one.name, one.multi_value, one.values] for one in configs]))
"""

LOAD_ENTRY_POINT = """
from importlib.metadata import entry_points
found = [one for one in entry_points().get("variant_plugins", [])] if isinstance(entry_points(), dict) \\
    else list(entry_points(group="variant_plugins"))
assert [one.name for one in found] == ["axle"], found
plugin = found[0].load()
assert not callable(plugin) and plugin.namespace == "axle"
assert plugin.get_supported_configs(None) == plugin.get_supported_configs()
print("ok")
"""


# Prints {ns: {"static-properties": …, "feature-order": …}} of a pyproject.toml, as variantlib reads it.
READ_PROJECT = """
import json, pathlib, sys
from variantlib.pyproject_toml import VariantPyProjectToml
project = VariantPyProjectToml.from_path(pathlib.Path(sys.argv[1]))
print(json.dumps({ns: {"static-properties": one.static_properties, "feature-order": one.feature_order}
                  for ns, one in project.providers.items()}))
"""

# Prints the labels of a variants.json that fit here, best first, as variantlib has it.
CHOOSE = """
import json, pathlib, sys
from variantlib.api import get_variants_by_priority
document = json.loads(pathlib.Path(sys.argv[1]).read_text())
python = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
print(json.dumps([one.label for one in get_variants_by_priority(variants_json=document, venv_python_executable=python)]))
"""

TOOLS = pathlib.Path(tempfile.mkdtemp(prefix="axle-e2e-package-"))
atexit.register(shutil.rmtree, TOOLS, ignore_errors=True)


def run_clean(command, **more):
    """Without the surroundings' environment, but with its configuration of pip."""
    env = {key: value for key, value in os.environ.items() if key not in ("VIRTUAL_ENV", "PYTHONPATH", "CONDA_PREFIX")}
    return subprocess.run([str(one) for one in command], env={**env, **more}, text=True, capture_output=True, timeout=600)


def pythons_since(major, minor):
    """Version -> program, of every Python that is here."""
    candidates = [PYTHON, *(shutil.which(f"python3.{each}") for each in range(minor, 20))]
    root = pathlib.Path(os.environ.get("PYENV_ROOT", pathlib.Path.home() / ".pyenv"))
    candidates += sorted(root.glob("versions/*/bin/python3"))
    found = {}
    for each in filter(None, candidates):
        asked = run_clean([each, "-c", "import sys; print(*sys.version_info[:2])"])
        # A shim may be for a version that is not switched on.
        if asked.returncode == 0:
            version = tuple(map(int, asked.stdout.split()))
            if version >= (major, minor):
                found.setdefault(version, each)
    return found


def install_from_registry(test, python, *packages):
    """An environment of that Python with those packages; one for all tests."""
    if os.environ.get("AXLE_TEST_REGISTRY") != "1":
        test.skipTest(f"AXLE_TEST_REGISTRY=1 is not set: {packages[0]} was not asked of the configured registry")
    name = re.sub(r"[^a-z0-9]+", "-", f"{python} {' '.join(pathlib.Path(one).name for one in packages)}".lower())
    tools = TOOLS / name
    if not tools.exists():
        made = run_clean([python, "-m", "venv", tools])
        test.assertEqual(made.returncode, 0, made.stderr)
        got = run_clean([tools / "bin/pip", "install", "--quiet", *packages])
        if got.returncode != 0:
            shutil.rmtree(tools)
            test.skipTest(f"{packages[0]} could not be installed: " + got.stderr[-300:])
    return tools


def variantlib_for(test, python, *wheels):
    return install_from_registry(test, python, "variantlib==0.2.2", *map(str, wheels))


def uv_program(test):
    return install_from_registry(test, PYTHON, "uv") / "bin/uv"


def one_variant_a_property(lists, providers):
    """A release with a variant for every property of `lists`, one of each namespace's best, and three that do not fit."""
    properties = [(ns, feature, value) for ns, features in lists.items() for feature, values in features.items()
                  for value in values]
    variants = {f"p{number}": [one] for number, one in enumerate(properties)}
    variants["best"] = [(ns, feature, features[feature][0]) for ns, features in lists.items()
                        for feature in list(features)[:2]]
    variants["other_value"] = [(*properties[0][:2], "no.such.value")]
    variants["other_feature"] = [(properties[0][0], "no_such_feature", "on")]
    variants["half"] = [properties[-1], (*properties[0][:2], "no.such.value")] \
        if properties[-1][:2] != properties[0][:2] else [properties[-1], (properties[0][0], "no_such_feature", "on")]
    variants["null"] = []
    return variant_document({label: [(ns, feature, [value]) for ns, feature, value in each]
                             for label, each in variants.items()}, list(lists), providers)


def ranked_by_us(test, document, *options):
    path = test.root / "demo-1.0-variants.json"
    path.write_text(json.dumps(document))
    answer = test.assert_ok(test.variant("rank", path, "--json", *options)).json
    test.assertLessEqual({"other_value", "other_feature", "half"}, {one["label"] for one in answer["rejected"]})
    return [one["label"] for one in answer["ranked"]]


def chosen_by_variantlib(test, tools, document, in_environment=False):
    path = test.root / "chosen-variants.json"
    path.write_text(json.dumps(document))
    done = run_clean([tools / "bin/python", "-c", CHOOSE, path, *([tools / "bin/python"] if in_environment else [])])
    test.assertEqual(done.returncode, 0, done.stderr)
    return json.loads(done.stdout)


@unittest.skipUnless(shutil.which("cmake"), "there is no cmake to build the package with")
class ProviderPackage(TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.built = None

    def wheel(self):
        """Built once for all tests of the class."""
        cls = type(self)
        if cls.built is None:
            out = self.root / "wheels"
            # It compiles detection and the providers, which takes its time on a busy machine.
            done = subprocess.run([str(VARIANT), "build", str(SOURCE / "providers/python"), "--out", str(out), "--json"],
                                  env=self.env, text=True, capture_output=True, timeout=1500)
            self.assertEqual(done.returncode, 0, done.stderr)
            [made] = json.loads(done.stdout)["wheels"]
            cls.built = (made["file"].rsplit("/", 1)[-1], (out / made["file"].rsplit("/", 1)[-1]).read_bytes())
        path = self.root / cls.built[0]
        path.write_bytes(cls.built[1])
        return path

    def installed_python(self):
        wheel = self.wheel()
        venv = self.make_venv()
        self.assert_ok(self.variant("install", wheel, "--python", venv, "--no-index"))
        return venv / "bin/python"

    def ask(self, python, what, env=None):
        done = subprocess.run([python, "-W", "always", "-c", ASK, what], env={**self.env, **(env or {})}, text=True,
                              capture_output=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout), done.stderr

    def properties(self, *options, env=None):
        answer = self.variant("properties", "--namespace", "axle", "--json", *options, env=env)
        return self.assert_ok(answer).json["properties"]["axle"]

    def test_it_is_plain_needs_the_c_library_alone_and_says_its_version(self):
        wheel = self.wheel()
        self.assertRegex(wheel.name, r"^axle_variant_provider-[0-9.]+-py3-none-manylinux_2_[0-9]+_\w+\.whl$")
        with zipfile.ZipFile(wheel) as archive:
            program = archive.getinfo("axle_variant_provider/axle_properties")
            self.assertTrue(program.external_attr >> 16 & 0o111, "the program is not executable")
            entry_points = next(one for one in archive.namelist() if one.endswith("entry_points.txt"))
            self.assertIn("[variant_plugins]\naxle = axle_variant_provider", archive.read(entry_points).decode())
            archive.extract(program, self.root)
        version = self.assert_ok(self.variant("--version")).out.split()[-1]
        self.assertIn(f"-{version}-", wheel.name)
        if shutil.which("readelf") is None:
            self.skipTest("there is no readelf to see what the program links")
        dynamic = subprocess.run(["readelf", "-d", self.root / "axle_variant_provider/axle_properties"], text=True,
                                 capture_output=True, check=True).stdout
        needed = set(re.findall(r"NEEDED.*\[(.*)\]", dynamic))
        self.assertLessEqual({re.sub(r"\.so.*", "", one) for one in needed},
                             {"libc", "libm", "ld-linux-x86-64", "ld-linux-aarch64"})

    def test_python_hears_what_the_program_says(self):
        python = self.installed_python()
        supported, _ = self.ask(python, "get_supported_configs")
        ours = self.properties()
        self.assertEqual([(name, values) for name, _, values in supported], list(ours.items()))
        everything, _ = self.ask(python, "get_all_configs")
        known = {name: (several, values) for name, several, values in everything}
        self.assertEqual(len(known), len(everything))
        for name, several, values in supported:
            self.assertEqual(known[name][0], several)
            self.assertLessEqual(set(values), set(known[name][1]))
        done = subprocess.run([python, "-c", LOAD_ENTRY_POINT], env=self.env, text=True, capture_output=True)
        self.assertEqual(done.stdout, "ok\n", done.stderr)

    def test_overrides_and_the_policy_are_heard(self):
        python = self.installed_python()
        env = {"NV_VARIANT_PROVIDER_FORCE_CUDA_DRIVER_VERSION": "12.8",
               "AMD_VARIANT_PROVIDER_FORCE_GFX_ARCH": "gfx1100 gfx1102", "AXLE_GPU_POLICY": "any"}
        supported, _ = self.ask(python, "get_supported_configs", env)
        self.assertEqual([(name, values) for name, _, values in supported], list(self.properties(env=env).items()))
        held = {name: values for name, _, values in supported}
        self.assertEqual(held["gfx_code"], ["gfx1102", "gfx11_generic", "gfx1100"])
        strict, told = self.ask(python, "get_supported_configs", {**env, "AXLE_GPU_POLICY": "every"})
        self.assertEqual({name: values for name, _, values in strict}["gfx_code"], ["gfx11_generic"])
        self.assertIn("is not a valid policy", told)
        nothing, told = self.ask(python, "get_supported_configs", {**env, "AXLE_GPU_POLICY": "device=amd:9"})
        self.assertNotIn("gfx_code", {name for name, _, _ in nothing})
        self.assertIn("this machine has no GPU amd:9", told)
        refused, told = self.ask(python, "get_supported_configs", {**env, "AMD_VARIANT_PROVIDER_FORCE_GFX_ARCH": "gfx999"})
        self.assertEqual(refused, [])
        self.assertIn("AMD_VARIANT_PROVIDER_FORCE_GFX_ARCH=gfx999: no machine has that", told)

    def test_a_program_that_lost_its_bit_runs_and_one_that_is_gone_supports_nothing(self):
        python = self.installed_python()
        program = next(self.site().glob("axle_variant_provider/axle_properties"))
        before, _ = self.ask(python, "get_supported_configs")
        program.chmod(0o644)
        self.assertEqual(self.ask(python, "get_supported_configs")[0], before)
        program.unlink()
        nothing, told = self.ask(python, "get_supported_configs")
        self.assertEqual(nothing, [])
        self.assertIn("cannot be looked at", told)

    def test_every_python_that_is_here_hears_the_same(self):
        unpacked = self.root / "unpacked"
        with zipfile.ZipFile(self.wheel()) as archive:
            archive.extractall(unpacked)
        expected, _ = self.ask(self.installed_python(), "get_supported_configs")
        for version, python in pythons_since(3, 9).items():
            with self.subTest(version=version):
                told, _ = self.ask(python, "get_supported_configs", {"PYTHONPATH": str(unpacked)})
                self.assertEqual(told, expected)
                done = subprocess.run([python, "-c", LOAD_ENTRY_POINT], text=True, capture_output=True,
                                      env={**self.env, "PYTHONPATH": str(unpacked)})
                self.assertEqual(done.stdout, "ok\n", done.stderr)

    def test_variantlib_loads_it(self):
        expected = list(self.properties().items())
        for version, python in pythons_since(3, 10).items():
            with self.subTest(version=version):
                tools = variantlib_for(self, python, self.wheel())
                listed = run_clean([tools / "bin/variantlib", "plugins", "get-configs", "-s", "-n", "axle"])
                self.assertEqual(listed.returncode, 0, listed.stderr)
                [(namespace, told)] = json.loads(listed.stdout[listed.stdout.index("{"):]).items()
                self.assertEqual(namespace, "axle")
                self.assertEqual([(one["name"], one["values"]) for one in told], expected)

    def test_variantlib_chooses_by_it(self):
        """A release that asks for the plugin: variantlib runs it in an environment and ranks as we do."""
        held = self.properties()
        if not held:
            self.skipTest("this machine has no property of the axle namespace to choose by")
        document = one_variant_a_property({"axle": held},
                                          {"axle": {"requires": ["axle-variant-provider"],
                                                    "plugin-api": "axle_variant_provider"}})
        tools = variantlib_for(self, PYTHON, self.wheel())
        self.assertEqual(chosen_by_variantlib(self, tools, document, in_environment=True), ranked_by_us(self, document))


class StaticLists(TestCase):
    MACHINE = "x86_64:v4,amx_tile,amx_int8;nvidia:sm=90,driver=580.65"

    def static_tables(self, *options):
        return self.assert_ok(self.variant("properties", "--static", "--json", *options)).json["static"]

    def test_variantlib_reads_the_lists_of_this_and_of_another_machine(self):
        tools = variantlib_for(self, PYTHON)
        for options in ([], ["--for", self.MACHINE]):
            with self.subTest(options=options):
                tables = self.static_tables(*options)
                project = self.root / "pyproject.toml"
                text = self.assert_ok(self.variant("properties", "--static", *options)).out
                project.write_text(f"[variant.default-priorities]\nnamespace = {json.dumps(list(tables))}\n\n{text}")
                read = run_clean([tools / "bin/python", "-c", READ_PROJECT, project])
                self.assertEqual(read.returncode, 0, read.stderr)
                self.assertEqual(json.loads(read.stdout), tables)
                document = one_variant_a_property({ns: table["static-properties"] for ns, table in tables.items()}, tables)
                ours = ranked_by_us(self, document, *options)
                self.assertEqual(chosen_by_variantlib(self, tools, document), ours)
                self.assertGreater(len(ours), 20)

    def test_uv_reads_the_lists(self):
        uv = uv_program(self)
        tables = self.static_tables("--for", self.MACHINE)
        document = one_variant_a_property({ns: table["static-properties"] for ns, table in tables.items()}, tables)
        ranked = ranked_by_us(self, document, "--for", self.MACHINE)
        links = self.root / "links"
        self.make_venv()
        # uv tells of its first choice alone: each time without what it chose before.
        for number, label in enumerate(ranked[:3]):
            shutil.rmtree(links, ignore_errors=True)
            for each in document["variants"]:
                Wheel("demo", "1.0", each, document).write(links)
            (links / "demo-1.0-variants.json").write_text(json.dumps(document))
            done = run_clean([uv, "pip", "install", "demo", "--no-index", "--find-links", links, "--python",
                              self.venv / "bin/python", "--preview-features", "wheel-variants", "--reinstall"],
                             UV_CACHE_DIR=str(self.root / f"uv-cache{number}"), UV_NO_CONFIG="1")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.python("import demo; print(demo.VARIANT)"), label)
            del document["variants"][label]

    def test_static_lists_are_the_properties_as_a_project_writes_them(self):
        answer = self.assert_ok(self.variant("properties", "--namespace", "axle", "--static", "--for", self.MACHINE))
        if sys.version_info < (3, 11):
            self.skipTest("this Python has no tomllib to read the tables with")
        import tomllib
        table = tomllib.loads(answer.out)["variant"]["providers"]["axle"]
        held = self.assert_ok(self.variant("properties", "--namespace", "axle", "--json", "--for", self.MACHINE))
        ours = held.json["properties"]["axle"]
        self.assertEqual(table["static-properties"], ours)
        self.assertEqual(table["feature-order"], list(ours))
        data = self.assert_ok(self.variant("properties", "--static", "--json", "--for", self.MACHINE)).json["static"]
        self.assertEqual(data["axle"], table)
        self.assertIn("x86_64", data)
        self.assertNotIn("aarch64", data)

    def test_nothing_supported_says_so(self):
        answer = self.assert_ok(self.variant("properties", "--namespace", "axle", "--static", "--for", "none"))
        self.assertEqual(answer.out, "# nothing is supported here\n")


if __name__ == "__main__":
    unittest.main()
