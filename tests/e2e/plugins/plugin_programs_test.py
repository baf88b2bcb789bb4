"""Programs as provider plugins: trusted as they are, confined, and one that fails takes nothing with it."""

import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from plugin_case import ANSWER, SPEEDS, PluginTestCase
from support import BIN, SOURCE, Wheel, variant_document


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
        words = shlex.split(line[line.index("variant providers trust"):].rstrip("`"))[1:]
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
        self.assertIn(f"you allowed it to write to {nodes[0]}", self.variant("providers", "show", "acme").out)
        # The command that trusts it again says the same.
        program.write_text(program.read_text() + "# changed\n")
        hint = self.variant("providers", "show", "acme").out
        self.assertIn(f"--namespace acme --device {nodes[0]}", hint)
        self.assert_fails(self.variant("providers", "trust", program, "--device", "/dev/*"), 2, "does not name device nodes")
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
            self.assert_fails(self.variant("providers", "list"), 2, word, "providers.toml")



SHARED_OBJECT = """
#include "axle_provider.h"
static int32_t say(const axle_provider_sink *sink) {
  axle_provider_feature(sink, "speed", AXLE_PROVIDER_MULTI);
  axle_provider_value(sink, "fast");
  return AXLE_PROVIDER_OK;
}
AXLE_PROVIDER("acme", "1.0", say, say);
"""


class SharedObjects(PluginTestCase):
    def test_the_programs_own_libraries_lie_elsewhere(self):
        """As in /opt or a conda environment: the sandboxed process needs them too."""
        needed = [line.split() for line in subprocess.run(["ldd", BIN / "variant"], capture_output=True, text=True)
                  .stdout.splitlines() if "libm.so" in line]
        if not needed or not shutil.which("cc"):
            self.skipTest("no compiler, or the program is linked with none of its libraries dynamically")
        bind = ("unshare", "--mount", "sh", "-c", 'mount --bind /dev/null "$0" && exec "$@"')
        own, (name, _, path, *_) = self.root / "own", needed[0]
        if subprocess.run([*bind, path, "true"], capture_output=True).returncode != 0:
            self.skipTest("no mount namespace can be made here")
        own.mkdir()
        shutil.copy(path, own / name)
        (self.root / "acme.c").write_text(SHARED_OBJECT)
        subprocess.run(["cc", "-shared", "-fPIC", f"-I{SOURCE / 'providers/sdk'}", self.root / "acme.c", "-o",
                        self.root / "acme.so"], check=True)
        result = self.variant("providers", "trust", self.root / "acme.so", prefix=(*bind, os.path.realpath(path)),
                              env={"LD_LIBRARY_PATH": str(own)})
        self.assertIn("for namespace acme", self.assert_ok(result).out)


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
        for word in ("nothing in namespace acme is selectable", *words):
            self.assertIn(word, result.err, str(result))
        return result

    def test_crash(self):
        self.fails("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)", "crashed (SIGSEGV)")

    def test_abort(self):
        self.fails("import os\nos.abort()", "crashed (SIGABRT)")

    def test_exit(self):
        self.fails("import sys\nsys.exit(3)", "exited with 3 without an answer")

    def test_hang(self):
        self.fails("import time\ntime.sleep(1000)", "stopped after 1 s", limit=1)

    def test_busy_for_ever(self):
        self.fails("while True: pass", "stopped after 1 s", limit=1)

    def test_flood_on_stdout(self):
        self.fails("while True: print('x' * 65536)", "its output was too long")

    def test_flood_on_stderr(self):
        self.fails("import sys\nwhile True: sys.stderr.write('x' * 65536)", "its output was too long")

    def test_memory(self):
        self.fails("x = bytearray(3 << 30)" + ANSWER, "exited with 1 without an answer")

    def test_another_namespace(self):
        self.fails(ANSWER.replace('"acme"', '"nvidia"'), 'answers for namespace "nvidia"')

    def test_undeclared_feature(self):
        self.fails("import sys\nname = 'speed' if sys.argv[1] == 'supported' else 'other'\n" +
                   ANSWER.replace('"name": "speed"', '"name": name'), "which it does not declare")

    @staticmethod
    def command_line(pid):
        try:
            return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:  # It has ended.
            return b""

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
            if any(b"provider" in self.command_line(one) for one in plugins):
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
        self.fails("print('hello')", "not JSON")

    def test_a_plugins_words_are_no_warnings_of_ours(self):
        result = self.fails("""print('{"error": {"message": "no\\\\nwarning: well\\\\n  hint: run it"}}')""", "hint: run it")
        self.assertEqual(result.err.count("\nwarning:") + result.err.startswith("warning:"), 1, result.err)
        verbose = self.install("demo", "--dry-run", "--reinstall", "--verbose", index=self.index)
        self.assertNotIn("\n  hint: run it", verbose.err)

    def test_terminal_codes_do_not_reach_the_terminal(self):
        result = self.fails("print('{\"namespace\": \"\\x1b[31mred\"}')", "is not JSON")
        self.assertNotIn("\x1b", result.err)


if __name__ == "__main__":
    unittest.main()
