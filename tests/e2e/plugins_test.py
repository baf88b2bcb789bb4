"""Provider plugins from outside: who may run, what they may do, and that one that fails takes nothing with it."""

import grp
import json
import os
import pathlib
import pwd
import random
import shlex
import subprocess
import sys
import time
import unittest

from support import BIN, Index, TestCase, Wheel, variant_document

CONFIG = '''
class Config:
    def __init__(self, name, values, multi_value=True):
        self.name, self.values, self.multi_value = name, values, multi_value
'''
NEW = CONFIG + '''
print("chatter on stdout")
def get_supported_configs():
    return [Config("speed", ["fast", "slow"])]
def get_all_configs():
    return [Config("speed", ["fastest", "fast", "slow"])]
'''
OLD = CONFIG + '''
class Plugin:
    namespace = "acme"
    def get_supported_configs(self, known_properties):
        return [Config("speed", ["fast", "slow"])]
'''
SPEEDS = {
    "null": [],
    "fastest": [("acme", "speed", ["fastest"])],
    "fast": [("acme", "speed", ["fast"])],
    "slow": [("acme", "speed", ["slow"])],
}


class PluginTestCase(TestCase):
    def setUp(self):
        super().setUp()
        self.make_venv()
        self.index = Index(self.root / "index")

    def publish(self, code=NEW, plugin_api=None, requires=("acme-provider",), version="1.0", **changes):
        """A plugin's package, and a package whose variants need it."""
        if code is not None:
            self.index.add_wheel(Wheel("acme-provider", version, files={"acme_provider.py": code}))
        provider = {"requires": list(requires), **changes}
        if plugin_api:
            provider["plugin-api"] = plugin_api
        document = variant_document(SPEEDS, ("acme",), {"acme": provider})
        for label in SPEEDS:
            self.index.add_wheel(Wheel("demo", "1.0", label, document))
        self.index.add_variants("demo", "1.0", document)

    def program(self, code, name="provider"):
        path = self.root / "tools" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/usr/bin/env python3\n" + code)
        path.chmod(0o755)
        return path

    def chosen(self, *options, **kwargs):
        result = self.assert_ok(self.install("--dry-run", "--json", "demo", *options, index=self.index, **kwargs))
        return result.json["packages"][0]["variant"], result


class Trust(PluginTestCase):
    def refused_then_trusted(self):
        before = self.assert_ok(self.install("demo", index=self.index))
        self.assertEqual(self.installed()["demo"], ("1.0", "null"))
        self.assertIn("is not trusted", before.err)
        # The very command that the refusal prints, run by a shell.
        line = next(one for one in before.err.splitlines() if "variant providers trust" in one)
        command = line[line.index("variant providers trust"):]
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
        self.assertEqual(list((shared / "plugins").iterdir()), [])

    def test_another_machine_is_not_this_one(self):
        self.publish()
        result = self.assert_ok(self.variant("resolve", "demo", "--for", "h100", "--trust", "acme-provider",
                                             "--index-url", self.index.url, "--json", "--python", self.venv))
        self.assertEqual(result.json["packages"][0]["variant"], "null")
        self.assertIn("only speak of the machine that it runs on", result.err)

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
        self.assert_fails(self.install("demo", "--enable-provider", "A-B", index=self.index), 2, "no namespace")
        self.assert_fails(self.install("demo", "--trust", "../x", index=self.index), 2, "no name of a package")
        self.assert_fails(self.variant("providers", "disable", "Not A Name"), 2, "neither a namespace")
        self.assert_fails(self.variant("providers", "trust"), 2, "nothing to trust")
        self.assert_fails(self.variant("providers", "trust", "x", "--namespace", "Y"), 2, "no namespace")
        self.assert_fails(self.variant("providers", "show", "nobody"), 2, "nothing is known")


ANSWER = '''
import json, sys
print(json.dumps({"namespace": "acme", "features": [
    {"name": "speed", "multi_value": True, "values": ["fast", "slow"]}]}))
'''


class Executables(PluginTestCase):
    def test_a_program_is_trusted_as_it_is(self):
        self.publish(None)
        program = self.program(ANSWER)
        result = self.assert_ok(self.variant("providers", "trust", program))
        self.assertIn("for namespace acme", result.out)
        self.assertEqual(self.chosen()[0], "fast")
        rows = self.assert_ok(self.variant("providers", "list", "--json")).json["providers"]
        row = next(one for one in rows if one["kind"] == "executable")
        self.assertEqual((row["namespace"], row["supported"], row["trusted"]), ("acme", 2, True))

        program.write_text(program.read_text() + "# changed\n")
        label, result = self.chosen()
        self.assertEqual(label, "null")
        self.assertIn("has changed since it was trusted", result.err)
        line = next(one for one in result.err.splitlines() if "variant providers trust" in one)
        words = shlex.split(line[line.index("variant providers trust"):])[1:]
        self.assert_ok(self.variant(*words))
        self.assertEqual(self.chosen()[0], "fast")
        self.assert_ok(self.variant("providers", "untrust", program))
        self.assertEqual(self.chosen()[0], "null")

    def test_properties_are_what_counts_here(self):
        """With the user's own plugins, without what is switched off; of another machine they say nothing."""
        def properties(*options):
            return self.assert_ok(self.variant("properties", "--json", *options)).json["properties"]
        self.assertNotIn("acme", properties())
        self.assert_fails(self.variant("properties", "--namespace", "acme"), 2, "no provider for the namespace")
        self.assert_ok(self.variant("providers", "trust", self.program(ANSWER)))
        self.assertEqual(properties()["acme"], {"speed": ["fast", "slow"]})
        self.assertEqual(properties("--namespace", "acme"), {"acme": {"speed": ["fast", "slow"]}})
        detected = self.assert_ok(self.variant("detect", "--properties", "--json")).json["properties"]
        self.assertEqual(detected["acme"], {"speed": ["fast", "slow"]})
        self.assertIn("acme :: speed :: fast\n", self.assert_ok(self.variant("properties")).out)
        self.assertIn('speed = ["fast","slow"]', self.assert_ok(self.variant("properties", "--static")).out)
        self.assertNotIn("acme", properties("--for", "h100"))
        self.assertTrue(properties()["openmp"])
        self.assert_ok(self.variant("providers", "disable", "acme", "openmp"))
        self.assertEqual(properties()["openmp"], {})
        self.assertNotIn("acme", properties())

    def test_device_nodes_are_opened_for_writing_where_the_user_says_so(self):
        def opens(path):
            try:
                os.close(os.open(path, os.O_RDWR))
                return True
            except OSError:
                return False
        nodes = [path for path in ("/dev/fuse", "/dev/loop-control", "/dev/net/tun", "/dev/kvm") if opens(path)]
        if not nodes:
            self.skipTest("no device node here that one may open for writing")
        sandbox = self.assert_ok(self.variant("providers", "show", "nvidia", "--json")).json["sandbox"]
        if not sandbox["landlock"]:
            self.skipTest("this kernel has no Landlock: no exception is granted")
        program = self.program(f'''
import json, os, sys
def answer(path):
    try: os.close(os.open(path, os.O_RDWR))
    except OSError: return "no"
    return "yes"
values = ["yes", "no"] if sys.argv[1] == "all" else [answer({nodes[0]!r})]
print(json.dumps({{"namespace": "acme", "features": [{{"name": "open", "multi_value": True, "values": values}}]}}))
''')
        def shown():
            return self.assert_ok(self.variant("providers", "show", "acme", "--json")).json["providers"][0]
        self.assert_ok(self.variant("providers", "trust", program))
        self.assertEqual((shown()["supported"], shown()["devices"]), ({"open": ["no"]}, []))
        self.assert_ok(self.variant("providers", "trust", program, "--device", nodes[0]))
        self.assertEqual((shown()["supported"], shown()["devices"]), ({"open": ["yes"]}, [nodes[0]]))
        self.assertIn(f"you let it write to {nodes[0]}", self.variant("providers", "show", "acme").out)
        # The command that trusts it again says the same.
        program.write_text(program.read_text() + "# changed\n")
        mend = self.variant("providers", "show", "acme").out
        self.assertIn(f"--namespace acme --device {nodes[0]}", mend)
        self.assert_fails(self.variant("providers", "trust", program, "--device", "/dev/*"), 2, "names no device nodes")
        self.assert_fails(self.variant("providers", "trust", program, "--device", "/etc/shadow"), 2, "/dev/acme0")

    def test_show_says_what_it_may_do(self):
        program = self.program(ANSWER)
        self.assert_ok(self.variant("providers", "trust", program, "--namespace", "acme"))
        shown = self.assert_ok(self.variant("providers", "show", "acme", "--json")).json
        self.assertEqual(shown["providers"][0]["supported"], {"speed": ["fast", "slow"]})
        self.assertEqual(set(shown["sandbox"]), {"landlock", "seccomp", "lacks"})
        amd = self.assert_ok(self.variant("providers", "show", "amd", "--json")).json
        self.assertIn("rocminfo", amd["exceptions"]["programs"])
        self.assertIn("/dev/kfd", amd["exceptions"]["devices"])

    def test_what_is_trusted_can_always_be_read_again(self):
        self.publish(None)
        long = "n" * 128
        self.assert_ok(self.variant("providers", "trust", self.program(ANSWER.replace("acme", long), "long")))
        self.assertIn(long, self.assert_ok(self.variant("providers", "list")).out)
        folder = os.fsencode(self.root) + b"/odd\xff"
        os.mkdir(folder)
        with open(folder + b"/provider", "w") as file:
            file.write("#!/usr/bin/env python3\n" + ANSWER)
        os.chmod(folder + b"/provider", 0o755)
        self.assert_fails(self.variant("providers", "trust", os.fsdecode(folder + b"/provider")), 1, "not UTF-8")
        self.assert_ok(self.variant("providers", "list"))

    def test_a_program_that_anyone_may_change_is_not_trusted(self):
        program = self.program(ANSWER)
        program.chmod(0o777)
        self.assert_fails(self.variant("providers", "trust", program), 1, "others may write", "chmod")

    def test_a_program_below_a_folder_that_anyone_may_change_is_not_trusted(self):
        """Who may write a folder above it can put another one in its place at any moment."""
        program = self.program(ANSWER, "a/b/provider")
        self.assert_ok(self.variant("providers", "trust", program))
        (self.root / "tools/a").chmod(0o777)
        self.assert_fails(self.variant("providers", "trust", program), 1, "tools/a: others may write this folder", "chmod")
        self.publish(None)
        label, result = self.chosen()
        self.assertEqual(label, "null")
        self.assertIn("others may write", result.err)
        (self.root / "tools/a").chmod(0o1777)  # sticky: only the owner exchanges what is in it
        self.assertEqual(self.chosen()[0], "fast")

    def test_ones_own_group_is_nobody_else(self):
        """With a umask of 002, as many systems have it."""
        user, group = pwd.getpwuid(os.geteuid()), grp.getgrgid(os.getegid())
        program = self.program(ANSWER)
        program.chmod(0o775)
        program.parent.chmod(0o775)
        if user.pw_name == group.gr_name and set(group.gr_mem) <= {user.pw_name}:
            self.assert_ok(self.variant("providers", "trust", program))
        if os.geteuid() == 0:
            others = next(one for one in grp.getgrall() if one.gr_name != user.pw_name)
            os.chown(program, 0, others.gr_gid)
            self.assert_fails(self.variant("providers", "trust", program), 1, "others may write the file")

    def test_settings_that_are_a_link_stay_one(self):
        kept = self.root / "dotfiles/providers.toml"
        kept.parent.mkdir()
        kept.write_text("schema = 1\n")
        link = self.root / "home/.config/axle/providers.toml"
        link.parent.mkdir(parents=True)
        link.symlink_to(kept)
        self.assert_ok(self.variant("providers", "disable", "acme"))
        self.assertTrue(link.is_symlink())
        self.assertIn("acme", kept.read_text())

    def test_settings_that_anyone_may_change_are_refused(self):
        self.publish(None)
        self.assert_ok(self.variant("providers", "disable", "acme"))
        settings = self.root / "home/.config/axle/providers.toml"
        self.assertEqual(settings.stat().st_mode & 0o777, 0o600)
        settings.chmod(0o666)
        self.assert_fails(self.install("demo", index=self.index), 1, "others may write", "chmod")

    def test_settings_that_are_wrong_say_where(self):
        folder = self.root / "home/.config/axle"
        folder.mkdir(parents=True)
        for text, word in [("schema = 1\nenabeld = []\n", "enabeld"), ("schema = 2\n", "schema 2"), ("", "schema"),
                           ("schema = 1\n[[trusted]]\npath = \"x\"\n", "providers.toml"), ("schema = ", "providers.toml"),
                           ("schema = 1\ntime-limit = 0\n", "time-limit")]:
            (folder / "providers.toml").write_text(text)
            self.assert_fails(self.variant("providers", "list"), 1, word, "providers.toml")


class Contained(PluginTestCase):
    """What a plugin does is its own affair: its namespace gives nothing, everything else goes on."""

    def fails(self, body, *words, limit=None):
        program = self.program(body)
        settings = self.root / "home/.config/axle/providers.toml"
        self.assert_ok(self.variant("providers", "trust", program, "--namespace", "acme"))
        if limit:
            settings.write_text(settings.read_text().replace("schema = 1", f"schema = 1\ntime-limit = {limit}"))
        # Another namespace, which a provider of ours answers for, is there all the same.
        level = [("x86_64", "level", ["v1"])] if os.uname().machine == "x86_64" else []
        document = variant_document({"null": [], "fast": SPEEDS["fast"], "v1": level}, ("acme", "x86_64"), {
            "acme": {"requires": ["acme-provider"]}, "x86_64": {"requires": ["x86-64-variant-provider"]}})
        for label in document["variants"]:
            self.index.add_wheel(Wheel("demo", "1.0", label, document))
        self.index.add_variants("demo", "1.0", document)
        result = self.assert_ok(self.install("demo", index=self.index))
        self.assertEqual(self.installed()["demo"], ("1.0", "v1"), str(result))
        for word in ("nothing of namespace acme is selectable", *words):
            self.assertIn(word, result.err, str(result))
        return result

    def test_crash(self):
        self.fails("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)", "crashed (SIGSEGV)")

    def test_abort(self):
        self.fails("import os\nos.abort()", "crashed (SIGABRT)")

    def test_exit(self):
        self.fails("import sys\nsys.exit(3)", "ended with 3 and no answer")

    def test_hang(self):
        self.fails("import time\ntime.sleep(1000)", "stopped after 1 s", limit=1)

    def test_busy_for_ever(self):
        self.fails("while True: pass", "stopped after 1 s", limit=1)

    def test_flood_on_stdout(self):
        self.fails("while True: print('x' * 65536)", "talked without end")

    def test_flood_on_stderr(self):
        self.fails("import sys\nwhile True: sys.stderr.write('x' * 65536)", "talked without end")

    def test_memory(self):
        self.fails("x = bytearray(3 << 30)" + ANSWER, "ended with 1 and no answer")

    def test_another_namespace(self):
        self.fails(ANSWER.replace('"acme"', '"nvidia"'), 'answers for namespace "nvidia"')

    def test_undeclared_feature(self):
        self.fails("import sys\nname = 'speed' if sys.argv[1] == 'supported' else 'other'\n" +
                   ANSWER.replace('"name": "speed"', '"name": name'), "which it does not declare")

    def test_a_plugin_dies_with_axle(self):
        self.publish(None)
        self.assert_ok(self.variant("providers", "trust", self.program("import time\ntime.sleep(1000)"),
                                    "--namespace", "acme"))
        axle = subprocess.Popen([str(BIN / "variant"), "install", "demo", "--index-url", self.index.url, "--python",
                                 str(self.venv)], env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        children = pathlib.Path(f"/proc/{axle.pid}/task/{axle.pid}/children")
        if not children.exists():
            axle.kill()
            axle.wait()
            self.skipTest("this kernel does not list children (CONFIG_PROC_CHILDREN)")
        plugins = []
        for _ in range(600):
            plugins = children.read_text().split()
            if any(b"provider" in pathlib.Path(f"/proc/{one}/cmdline").read_bytes() for one in plugins):
                break
            time.sleep(0.05)
        axle.kill()
        axle.wait()
        self.assertTrue(plugins)
        for one in plugins:
            for _ in range(600):
                if not pathlib.Path(f"/proc/{one}").exists():
                    break
                time.sleep(0.05)
            self.assertFalse(pathlib.Path(f"/proc/{one}").exists(), one)

    def test_words_in_the_place_of_an_answer(self):
        self.fails("print('hello')", "no JSON")

    def test_a_plugins_words_are_no_warnings_of_ours(self):
        result = self.fails("""print('{"error": {"message": "no\\\\nwarning: well\\\\n  hint: run it"}}')""", "hint: run it")
        self.assertEqual(result.err.count("\nwarning:") + result.err.startswith("warning:"), 1, result.err)
        verbose = self.install("demo", "--dry-run", "--reinstall", "--verbose", index=self.index)
        self.assertNotIn("\n  hint: run it", verbose.err)

    def test_terminal_codes_do_not_reach_the_terminal(self):
        result = self.fails("print('{\"namespace\": \"\\x1b[31mred\"}')", "is no JSON")
        self.assertNotIn("\x1b", result.err)


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
