"""Python packages as provider plugins: who may run, what they may say, and what variantlib makes of the same ones."""

import json
import os
import pathlib
import random
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from plugin_case import CONFIG, NEW, OLD, SPEEDS, PluginTestCase
from support import BIN, Wheel, variant_document


class Trust(PluginTestCase):
    def refused_then_trusted(self):
        before = self.assert_ok(self.install("demo", index=self.index))
        self.assertEqual(self.installed()["demo"], ("1.0", "null"))
        self.assertIn("is not trusted", before.err)
        # The very command that the refusal prints, run by a shell.
        line = next(one for one in before.err.splitlines() if "variant providers trust" in one)
        command = line[line.index("variant providers trust"):].rstrip("`")
        done = subprocess.run(["/bin/sh", "-c", command], env={**self.env, "PATH": f"{BIN}:{self.env['PATH']}"},
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        after = self.assert_ok(self.install("demo", "--reinstall", index=self.index))
        self.assertEqual(self.installed()["demo"], ("1.0", "fast"), str(after))
        self.assertNotIn("acme-provider", self.installed())
        self.assertNotIn("chatter", after.out + after.err)

    def test_a_module_of_the_newer_api(self):
        self.publish()
        self.refused_then_trusted()
        self.assert_neighbours_work()

    def test_a_class_of_the_older_api(self):
        self.publish(OLD, "acme_provider:Plugin")
        self.refused_then_trusted()

    def test_untrusted_code_never_runs(self):
        mark = self.root / "ran"
        self.publish(f"open({str(mark)!r}, 'w')\n" + NEW)
        self.chosen()
        self.assertFalse(mark.exists())
        self.assertFalse((self.root / "home/.cache/axle/plugins").exists(), "nothing is even installed")

    def test_for_one_run_and_for_one_namespace(self):
        self.publish()
        self.assertEqual(self.chosen("--trust", "Acme_Provider")[0], "fast")
        self.assertEqual(self.chosen()[0], "null")
        self.assert_ok(self.variant("providers", "trust", "acme-provider", "--namespace", "other"))
        self.assertEqual(self.chosen()[0], "null")
        self.assert_ok(self.variant("providers", "trust", "acme-provider", "--namespace", "acme"))
        self.assertEqual(self.chosen()[0], "fast")
        self.assert_ok(self.variant("providers", "untrust", "acme-provider"))
        self.assertEqual(self.chosen()[0], "null")
        self.assert_fails(self.variant("providers", "untrust", "acme-provider"), 1, "was not trusted")

    def test_every_package_that_is_named_must_be_trusted(self):
        self.index.add_wheel(Wheel("smuggled", "1.0", files={"smuggled.py": NEW}))
        self.publish(NEW, "smuggled", requires=("acme-provider", "smuggled"))
        label, result = self.chosen("--trust", "acme-provider")
        self.assertEqual(label, "null")
        self.assertIn("its provider smuggled is not trusted", result.err)

    def test_trust_is_in_a_name_not_in_an_address(self):
        wheel = Wheel("acme-provider", "1.0", files={"acme_provider.py": NEW}).write(self.root / "elsewhere")
        self.publish(None, requires=(f"acme-provider @ {wheel.as_uri()}",))
        label, result = self.chosen("--trust", "acme-provider")
        self.assertEqual(label, "null")
        self.assertIn("cannot be trusted", result.err)

    def test_a_plugins_own_dependencies_are_plain_wheels(self):
        """A dependency with variants alone cannot be had for a plugin; its plain wheel can."""
        document = variant_document({"null": []}, ("acme",), {"acme": {"requires": ["acme-provider"]}})
        self.index.add_wheel(Wheel("helper", "2.0", "null", document, files={"helper.py": "KIND = 'variant'"}))
        self.index.add_variants("helper", "2.0", document)
        self.index.add_wheel(Wheel("helper", "1.0", files={"helper.py": "KIND = 'plain'"}))
        self.index.add_wheel(Wheel("acme-provider", "1.0", requires=["helper"], files={
            "acme_provider.py": "import helper\nassert helper.KIND == 'plain'\n" + NEW}))
        self.publish(None)
        self.assertEqual(self.chosen("--trust", "acme-provider")[0], "fast")

    def test_environments_are_kept_by_what_was_resolved(self):
        self.publish()
        kept = self.root / "home/.cache/axle/plugins"
        self.chosen("--trust", "acme-provider")
        first = sorted(kept.iterdir())
        self.chosen("--trust", "acme-provider")
        self.assertEqual(sorted(kept.iterdir()), first)
        self.publish(NEW.replace('["fast", "slow"]', '["slow"]'), version="1.1")
        self.assertEqual(self.chosen("--trust", "acme-provider")[0], "slow")
        self.assertEqual(len(list(kept.iterdir())), 2)
        self.assertEqual(self.chosen("--trust", "acme-provider", "--no-cache")[0], "slow")
        self.assertEqual(len(list(kept.iterdir())), 2)

    def test_a_local_wheel_that_was_made_anew_is_installed_anew(self):
        """Its folder lists no hashes: a vendor who tries a change would be asked what the old one answers."""
        wheels = self.root / "wheels"
        document = variant_document(SPEEDS, ("acme",), {"acme": {"requires": ["acme-provider"]}})
        for label in SPEEDS:
            Wheel("demo", "1.0", label, document).write(wheels)
        for code, label in ((NEW, "fast"), (NEW.replace('["fast", "slow"]', '["slow"]'), "slow")):
            Wheel("acme-provider", "1.0", files={"acme_provider.py": code}).write(wheels)
            result = self.assert_ok(self.variant("resolve", "demo", "--no-index", "--find-links", wheels, "--python",
                                                 self.venv, "--trust", "acme-provider", "--json"))
            self.assertEqual(result.json["packages"][0]["variant"], label, result.err)

    def test_environments_that_nobody_uses_are_removed(self):
        self.publish()
        kept = self.root / "home/.cache/axle/plugins"
        self.chosen("--trust", "acme-provider")
        first, = kept.iterdir()
        interrupted = kept / (first.name + ".Ab12Cd")
        interrupted.mkdir()
        long_ago = time.time() - 40 * 24 * 3600
        for folder in (first, interrupted):
            os.utime(folder, (long_ago, long_ago))
        self.chosen("--trust", "acme-provider")  # used: young again
        self.publish(NEW, version="1.1")
        self.chosen("--trust", "acme-provider")
        self.assertTrue(first.exists())
        self.assertFalse(interrupted.exists())
        os.utime(first, (long_ago, long_ago))
        self.publish(NEW, version="1.2")
        self.chosen("--trust", "acme-provider")
        self.assertFalse(first.exists())
        self.assertEqual(len(list(kept.iterdir())), 2)

    def test_environments_are_not_taken_from_where_others_may_put_them(self):
        self.publish()
        shared = self.root / "shared"
        shared.mkdir()
        shared.chmod(0o777)
        label, result = self.chosen("--trust", "acme-provider", "--cache-dir", shared, "--verbose")
        self.assertEqual(label, "fast")
        self.assertIn("others may write", result.err)
        self.assertFalse((shared / "plugins").exists())

    def test_a_link_to_where_others_may_put_them(self):
        """The folders above what it leads to count, not only those above itself."""
        self.publish()
        shared = self.root / "shared"
        (shared / "cache").mkdir(parents=True)
        shared.chmod(0o777)
        link = self.root / "cache"
        link.symlink_to(shared / "cache")
        label, result = self.chosen("--trust", "acme-provider", "--cache-dir", link, "--verbose")
        self.assertEqual(label, "fast")
        self.assertIn("shared: others may write", result.err)
        self.assertFalse((shared / "cache/plugins").exists())
        shared.chmod(0o755)
        self.chosen("--trust", "acme-provider", "--cache-dir", link)
        self.assertEqual(len(list((shared / "cache/plugins").iterdir())), 1)

    def test_a_sticky_folder_is_one_where_others_may_put_them(self):
        """It only keeps what is there; the name of an environment is known before it is made."""
        self.publish()
        shared = self.root / "shared"
        for sticky in (shared / "plugins", shared):
            (shared / "plugins").mkdir(parents=True, exist_ok=True)
            sticky.chmod(0o1777)
            label, result = self.chosen("--trust", "acme-provider", "--cache-dir", shared, "--verbose")
            self.assertEqual(label, "fast")
            self.assertIn("others may write", result.err)
            self.assertEqual(list((shared / "plugins").iterdir()), [])
            self.assertFalse((shared / "store").exists())
            sticky.chmod(0o755)

    def test_another_machine_is_not_this_one(self):
        self.publish()
        result = self.assert_ok(self.variant("resolve", "demo", "--for", "h100", "--trust", "acme-provider",
                                             "--index-url", self.index.url, "--json", "--python", self.venv))
        self.assertEqual(result.json["packages"][0]["variant"], "null")
        self.assertIn("only report on the machine that it runs on", result.err)

    def test_the_decision_says_where_each_list_comes_from(self):
        self.publish()
        _, result = self.chosen("--trust", "acme-provider")
        origins = result.json["packages"][0]["decision"]["namespaces"]
        self.assertEqual([(one["namespace"], one["origin"]) for one in origins], [("acme", "plugin")])
        self.assertIn("acme-provider 1.0", origins[0]["detail"])

    def test_a_plugin_that_is_not_on_the_index(self):
        self.publish(None)
        label, result = self.chosen("--trust", "acme-provider")
        self.assertEqual(label, "null")
        self.assertIn("cannot be installed", result.err)


class Switches(PluginTestCase):
    def test_optional_providers_are_off_until_switched_on(self):
        self.publish(optional=True)
        trust = ("--trust", "acme-provider")
        self.assertEqual(self.chosen(*trust)[0], "null")
        self.assertEqual(self.chosen(*trust, "--enable-provider", "acme")[0], "fast")
        self.assert_ok(self.variant("providers", "enable", "acme"))
        self.assertEqual(self.chosen(*trust)[0], "fast")
        self.assertEqual(self.chosen(*trust, "--disable-provider", "acme")[0], "null")
        self.assert_ok(self.variant("providers", "disable", "acme"))
        self.assertEqual(self.chosen(*trust)[0], "null")

    def test_a_namespace_that_is_off_is_not_touched(self):
        self.publish()
        label, result = self.chosen("--disable-provider", "acme")
        self.assertEqual(label, "null")
        self.assertNotIn("trust", result.err)

    def test_a_static_list_of_an_optional_provider_is_empty_too(self):
        provider = {"static-properties": {"speed": ["fast"]}, "optional": True}
        document = variant_document(SPEEDS, ("acme",), {"acme": provider})
        for label in SPEEDS:
            self.index.add_wheel(Wheel("demo", "1.0", label, document))
        self.index.add_variants("demo", "1.0", document)
        self.assertEqual(self.chosen()[0], "null")
        self.assertEqual(self.chosen("--enable-provider", "acme")[0], "fast")

    def test_lists_that_are_given_are_used_exclusively(self):
        """Instead of the provider's, and only where neither the user nor the release has said otherwise before."""
        lists = self.root / "lists.json"
        lists.write_text(json.dumps({"acme": {"speed": ["slow", "fast"]}}))
        given = ("--trust", "acme-provider", "--supported", lists)
        self.publish("raise SystemError('asked all the same')")
        label, result = self.chosen(*given)
        self.assertEqual(label, "slow", "in the order of the list")
        self.assertEqual(result.json["packages"][0]["decision"]["namespaces"][0]["origin"], "user")
        self.assertEqual(self.chosen(*given, "--disable-provider", "acme")[0], "null")
        lists.write_text(json.dumps({"other": {"speed": ["slow"]}}))
        self.assertEqual(self.chosen(*given)[0], "null", "a list of another namespace says nothing of this one")
        lists.write_text(json.dumps({"acme": {"speed": ["fastest"]}}))
        self.publish(None, optional=True)
        self.assertEqual(self.chosen(*given)[0], "null")
        self.assertEqual(self.chosen(*given, "--enable-provider", "acme")[0], "fastest")
        lists.write_text("{")
        self.assert_fails(self.install("demo", "--supported", lists, index=self.index), 1, "lists.json", "not JSON")

    def test_a_static_list_comes_before_a_given_one(self):
        document = variant_document(SPEEDS, ("acme",), {"acme": {"static-properties": {"speed": ["fast"]}}})
        for label in SPEEDS:
            self.index.add_wheel(Wheel("demo", "1.0", label, document))
        self.index.add_variants("demo", "1.0", document)
        lists = self.root / "lists.json"
        lists.write_text(json.dumps({"acme": {"speed": ["fastest"]}}))
        self.assertEqual(self.chosen("--supported", lists)[0], "fast")

    def test_names_that_are_none(self):
        self.publish()
        self.assert_fails(self.install("demo", "--enable-provider", "A-B", index=self.index), 2, "not a valid namespace")
        self.assert_fails(self.install("demo", "--trust", "../x", index=self.index), 2, "not a valid package name")
        self.assert_fails(self.variant("providers", "disable", "Not A Name"), 2, "neither a namespace")
        self.assert_fails(self.variant("providers", "trust"), 2, "nothing to trust")
        self.assert_fails(self.variant("providers", "trust", "x", "--namespace", "Y"), 2, "not a valid namespace")
        self.assert_fails(self.variant("providers", "show", "nobody"), 2, "unknown namespace")


RANDOM_PLUGIN = CONFIG + '''
import json, pathlib
LISTS = json.loads((pathlib.Path(__file__).parent / "acme_lists.json").read_text())
def get_supported_configs(): return [Config(name, values) for name, values in LISTS["supported"]]
def get_all_configs(): return [Config(name, values) for name, values in LISTS["all"]]
'''
ASK_VARIANTLIB = '''
import json, sys
from variantlib.api import get_variants_by_priority
print(json.dumps([one.label for one in get_variants_by_priority(variants_json=json.load(sys.stdin))]))
'''


class Oracle(PluginTestCase):
    """The reference tool runs the same plugin, through its own loader, and orders the same variants."""

    def setUp(self):
        if os.environ.get("AXLE_TEST_REGISTRY") != "1":
            self.skipTest("AXLE_TEST_REGISTRY=1 is not set: variantlib comes from a registry")
        super().setUp()
        self.tools = self.root / "tools"
        subprocess.run([sys.executable, "-m", "venv", str(self.tools)], check=True)
        got = subprocess.run([self.tools / "bin/pip", "install", "--quiet", "variantlib>=0.2,<0.3"], text=True,
                             capture_output=True)
        if got.returncode != 0:
            self.skipTest("variantlib could not be installed: " + got.stderr[-300:])

    def test_variantlib_agrees(self):
        rng = random.Random(850)
        for number in range(12):
            features = ["f0", "f1", "f2"]
            every = [[name, ["1", "2", "3", "4"]] for name in features]
            supported = [[name, rng.sample(["1", "2", "3", "4"], rng.randint(1, 4))]
                         for name in rng.sample(features, rng.randint(1, 3))]
            lists = json.dumps({"supported": supported, "all": every})
            version = f"1.{number}"
            self.index.add_wheel(Wheel("acme-provider", version, files={
                "acme_provider.py": RANDOM_PLUGIN, "acme_lists.json": lists}))
            variants = {"null": []}
            for label in range(8):
                variants[f"v{label}"] = [("acme", name, rng.sample(["1", "2", "3", "4"], rng.randint(1, 2)))
                                         for name in rng.sample(features, rng.randint(1, 3))]
            document = variant_document(variants, ("acme",), {"acme": {"requires": ["acme-provider"]}})
            for label in document["variants"]:
                self.index.add_wheel(Wheel("demo", version, label, document))
            self.index.add_variants("demo", version, document)
            ours = self.assert_ok(self.variant("explain", f"demo=={version}", "--json", "--trust", "acme-provider",
                                               "--index-url", self.index.url, "--python", self.venv)).json
            ours = [one["label"] for one in ours["packages"][0]["decision"]["ranked"]]
            self.assert_ok(self.variant("install", f"acme-provider=={version}", "--index-url", self.index.url,
                                        "--python", self.tools))
            theirs = subprocess.run([self.tools / "bin/python", "-c", ASK_VARIANTLIB], input=json.dumps(document),
                                    text=True, capture_output=True, cwd=self.root, timeout=120)
            self.assertEqual(theirs.returncode, 0, theirs.stderr)
            self.assertEqual(ours, json.loads(theirs.stdout), lists)

    @unittest.skipUnless(os.uname().machine == "x86_64", "the plugin knows x86-64")
    def test_a_published_plugin_of_the_older_api_runs_in_the_sandbox(self):
        """Two requirements, so that the provider that Axle carries is not the one."""
        for key in os.environ:
            if key.startswith(("PIP_", "UV_")):
                self.env[key] = os.environ[key]
        levels = [f"v{number}" for number in range(1, 5)]
        document = variant_document(
            {"null": [], **{level: [("x86_64", "level", [level])] for level in levels}}, ("x86_64",),
            {"x86_64": {"requires": ["provider-variant-x86-64", "packaging"],
                        "plugin-api": "provider_variant_x86_64.plugin:X8664Plugin"}})
        wheels = self.root / "wheels"
        for label in document["variants"]:
            Wheel("demo", "1.0", label, document).write(wheels)
        (wheels / "demo-1.0-variants.json").write_text(json.dumps(document))
        trust = ("--trust", "provider-variant-x86-64", "--trust", "packaging")
        result = self.variant("explain", "demo", "--json", *trust, "--find-links", wheels, "--python", self.venv)
        decision = self.assert_ok(result).json["packages"][0]["decision"]
        self.assertEqual(decision["namespaces"][0]["origin"], "plugin", result.err)
        ranked = [one["label"] for one in decision["ranked"]]
        self.assertIn("v1", ranked)
        # Each level brings those below it.
        self.assertEqual(ranked, [*sorted((one for one in ranked if one != "null"), reverse=True), "null"])


if __name__ == "__main__":
    unittest.main()
