"""axle-variant-provider: built by the builder, installed by Axle, run by a real Python, and by variantlib where it is."""

import json
import os
import re
import shutil
import subprocess
import sys
import unittest
import zipfile

from support import PYTHON, SOURCE, VARIANT, TestCase

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
        self.assertIn("there is no such policy", told)

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

    def test_variantlib_loads_it(self):
        if os.environ.get("AXLE_TEST_REGISTRY") != "1":
            self.skipTest("AXLE_TEST_REGISTRY=1 is not set: variantlib was not asked of the configured registry")
        python = self.installed_python()
        tools = self.root / "tools"
        env = {key: value for key, value in os.environ.items() if key not in ("VIRTUAL_ENV", "PYTHONPATH")}
        subprocess.run([PYTHON, "-m", "venv", str(tools)], check=True, env=env)
        got = subprocess.run([tools / "bin/pip", "install", "--quiet", "variantlib==0.2.2", self.wheel()], env=env, text=True,
                             capture_output=True)
        if got.returncode != 0:
            self.skipTest("variantlib could not be installed: " + got.stderr[-300:])
        listed = subprocess.run([tools / "bin/variantlib", "plugins", "get-configs", "-s", "-n", "axle"],
                                env=env, text=True, capture_output=True)
        self.assertEqual(listed.returncode, 0, listed.stderr)
        [(namespace, told)] = json.loads(listed.stdout[listed.stdout.index("{"):]).items()
        self.assertEqual(namespace, "axle")
        self.assertEqual([(one["name"], one["values"]) for one in told], list(self.properties().items()))
        self.assertEqual(self.ask(python, "get_supported_configs")[0],
                         json.loads(subprocess.run([tools / "bin/python", "-c", ASK, "get_supported_configs"], env=env,
                                                   text=True, capture_output=True, check=True).stdout))


class StaticLists(TestCase):
    MACHINE = "x86_64:v4,amx_tile,amx_int8;nvidia:sm=90,driver=580.65"

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
