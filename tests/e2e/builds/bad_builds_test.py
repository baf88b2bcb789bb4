"""Builds that fail, hang or give something else: only that version is out, with a word, and nothing of them is installed."""

import pathlib
import subprocess
import sys
import time
import unittest
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from loopback import behind_login
from sdist_case import BuildCase
from support import VARIANT, Wheel


class Failing(BuildCase):
    def test_its_output_is_shown(self):
        self.publish(self.sdist("demo", "1.0", before="raise SystemExit('no compiler here')"))
        result = self.ask("--build", "demo")
        self.assert_fails(result, 3, "demo 1.0 could not be built from demo-1.0.tar.gz: pip 26.3 ended with exit code 1",
                          "no compiler here")
        self.assertEqual(self.built(), ["demo 1.0"])
        self.assertEqual(self.installed(), {})
        verbose = self.ask("--build", "demo", "--verbose")
        self.assertIn("pip 26.3: ", verbose.err)

    def test_only_that_version_is_out(self):
        self.publish(self.sdist("demo", "1.0"), self.sdist("demo", "2.0", before="raise SystemExit('broken')"))
        result = self.assert_ok(self.ask("--build", "demo"))
        self.assertEqual(self.installed(), {"demo": ("1.0", None)})
        self.assertIn("demo 2.0 could not be built", result.err)
        self.assertIn("broken", result.err)
        self.assertEqual(self.built(), ["demo 2.0", "demo 1.0"])

    def test_a_build_requirement_that_is_missing(self):
        self.publish(self.sdist("demo", "1.0", build_requires=["nosuch"]))
        self.assert_fails(self.ask("--build", "demo"), 3, "demo 1.0 could not be built", "nosuch")
        self.with_uv_only()
        self.assert_fails(self.ask("--build", "demo"), 3, "demo 1.0 could not be built", "uv 0.13.9", "nosuch")

    def test_no_archive(self):
        made = self.sdist("demo", "1.0")
        made.bytes = lambda: b"not an archive"
        self.publish(made)
        self.assert_fails(self.ask("--build", "demo"), 3, "demo 1.0 could not be built")

    def test_one_that_hangs(self):
        word = f"sleeper-{self.root.name}"
        self.publish(self.sdist("demo", "1.0", before=f"import subprocess\nsubprocess.run([sys.executable, '-c', 'import time; time.sleep(600)', {word!r}])"))
        begin = time.monotonic()
        result = self.ask("--build", "demo", env={"AXLE_BUILD_TIMEOUT": "6"})
        self.assert_fails(result, 3, "demo 1.0 could not be built", "did not end within 6 seconds", "AXLE_BUILD_TIMEOUT")
        self.assertLess(time.monotonic() - begin, 60)
        self.assertEqual(self.built(), ["demo 1.0"])
        time.sleep(0.5)
        self.assertEqual(self.processes(word), [])
        self.assertEqual([one.name for one in (self.root / "cache/builds").iterdir()], [])

    def test_a_time_limit_that_is_none(self):
        self.publish(Wheel("demo", "1.0"))
        self.assertIn("AXLE_BUILD_TIMEOUT=soon is ignored", self.ask("demo", env={"AXLE_BUILD_TIMEOUT": "soon"}).err)

    def test_neither_pip_nor_uv(self):
        (self.site() / "a_pip.pth").unlink()
        self.publish(self.sdist("demo", "1.0"))
        self.assert_fails(self.ask("--build", "demo"), 1, "has no pip", "no uv on PATH", "ensurepip")


class Giving(BuildCase):
    def refused(self, makes, *words):
        self.publish(self.sdist("demo", "1.0", makes=makes))
        self.assert_fails(self.ask("--build", "demo"), 1, "demo 1.0 could not be built", *words)
        self.assertEqual(self.installed(), {})

    def test_another_name(self):
        self.refused([Wheel("other", "1.0")])

    def test_another_version(self):
        self.refused([Wheel("demo", "1.1")])

    def test_another_version_by_uv(self):
        self.with_uv_only()
        self.publish(self.sdist("demo", "1.0", makes=[Wheel("demo", "1.1")]))
        self.assert_fails(self.ask("--build", "demo"), 3, "demo 1.0 could not be built", "declares version 1.1")

    def test_another_platform(self):
        self.refused([Wheel("demo", "1.0", tags="cp311-cp311-win_amd64")])

    def test_a_record_that_lies(self):
        wheel = Wheel("demo", "1.0")
        wheel.record_lies["demo.py"] = ("sha256=" + "A" * 43, 5)
        self.refused([wheel], "demo.py")

    def test_a_member_outside(self):
        wheel = Wheel("demo", "1.0")
        wheel.raw_members.append((zipfile.ZipInfo("../../outside.py"), b"x = 1\n"))
        self.refused([wheel], "outside.py")
        self.assertFalse((self.root / "outside.py").exists())

    def test_what_is_bad_is_not_kept(self):
        wheel = Wheel("demo", "1.0")
        wheel.record_lies["demo.py"] = ("sha256=" + "A" * 43, 5)
        self.refused([wheel])
        self.ask("--build", "demo")
        self.assertEqual(self.built(), ["demo 1.0", "demo 1.0"])

    def test_a_kept_wheel_that_was_changed(self):
        self.publish(self.sdist("demo", "1.0"))
        self.assert_ok(self.ask("--build", "demo", command="resolve"))
        [kept] = (self.root / "cache/builds").glob("*/*.whl")
        kept.write_bytes(Wheel("demo", "1.0", files={"demo.py": "VERSION = 'changed'\n"}).bytes())
        self.assert_fails(self.ask("--build", "demo"), 1, "demo-1.0-py3-none-any.whl", "sha256")
        self.assertEqual(self.installed(), {})


class Isolated(BuildCase):
    """The backend sees what it asks for, from where packages come from here, and nothing else."""

    def test_build_requirements_from_the_same_index(self):
        self.publish(Wheel("helper", "1.0"), self.sdist("demo", "1.0", build_requires=["helper"], before="import helper"))
        for tool in ("pip", "uv"):
            with self.subTest(tool):
                self.assert_ok(self.ask("--build", "demo", command="resolve"))
                self.assertTrue(self.server.asked("helper-1.0-py3-none-any.whl"))
                self.server.seen.clear()
            if tool == "pip":
                self.with_uv_only()

    def test_no_index_is_asked_where_none_may_be(self):
        """`uv build` reads no UV_NO_INDEX: it would ask its own default index."""
        folder = self.root / "links"
        folder.mkdir()
        made = self.sdist("demo", "1.0", build_requires=["nosuch-helper"], before="pass")
        (folder / made.file_name).write_bytes(made.bytes())
        for tool in ("pip", "uv"):
            with self.subTest(tool):
                result = self.variant("install", "--build", "demo", "--no-index", "--find-links", folder, "--python", self.venv, "-v")
                self.assert_fails(result, 3, "demo 1.0 could not be built", "nosuch-helper")
                self.assertNotRegex(result.err, "https?://(?!127)")
            if tool == "pip":
                self.with_uv_only()

    def test_what_wheels_may_be_used_counts_for_build_requirements(self):
        self.publish(self.sdist("helper", "1.0"), self.sdist("demo", "1.0", build_requires=["helper"], before="import helper"))
        for tool in ("pip", "uv"):
            with self.subTest(tool):
                result = self.ask("--build=demo", "--only-binary", "helper", "demo")
                self.assert_fails(result, 3, "demo 1.0 could not be built", "helper")
                self.assert_ok(self.ask("--build=demo", "demo", command="resolve"))
                self.assertEqual(self.built()[-2:], ["helper 1.0", "demo 1.0"])
            if tool == "pip":
                self.with_uv_only()

    def test_not_what_is_installed(self):
        self.publish(Wheel("helper", "1.0"), self.sdist("demo", "1.0", before="import helper"))
        self.assert_ok(self.ask("helper"))
        self.assert_fails(self.ask("--build", "demo"), 3, "No module named 'helper'")

    def test_a_login_is_passed_on_and_never_shown(self):
        for tool in ("pip", "uv"):
            with self.subTest(tool):
                word = f"secret-{tool}"
                lines = ("import glob\n"
                         "def words_of(path):\n"
                         "    try:\n"
                         "        with open(path, 'rb') as file:\n"
                         "            return file.read()\n"
                         "    except OSError:\n"
                         "        return b''\n"
                         "everything = [words_of(path) for path in glob.glob('/proc/[0-9]*/cmdline')]\n"
                         f"note('on a command line' if any({word!r}.encode() in one for one in everything if b'unittest' not in one) else 'hidden')\n"
                         f"print('http://me:{word}@127.0.0.1/simple')")
                self.publish(Wheel("helper", "1.0"), self.sdist("demo", "1.0", build_requires=["helper"], before=lines))
                self.server.answers = {path: behind_login(answer, "me", word) if not callable(answer) else answer
                                       for path, answer in self.server.answers.items()}
                index = self.server.url("/simple", f"me:{word}")
                conf = self.file("pip.conf", f"[global]\nindex-url = {index}\n")
                result = self.assert_ok(self.variant("resolve", "--build", "demo", "-v", "--python", self.venv, env={"PIP_CONFIG_FILE": str(conf)}))
                self.assertEqual(self.built()[-2:], ["demo 1.0", "hidden"])
                self.assertNotIn(word, result.err + result.out)
            if tool == "pip":
                self.with_uv_only()

    def test_settings_of_pip_that_are_not_ours_do_not_reach_it(self):
        before = "note(' '.join(sorted(f'{k}={v}' for k, v in os.environ.items() if k.startswith('PIP_') and 'INDEX' in k)))"
        self.publish(self.sdist("demo", "1.0", before=before))
        self.assert_ok(self.ask("--build", "demo", env={"PIP_EXTRA_INDEX_URL": "", "PIP_FIND_LINKS": ""}))
        self.assertEqual(self.built()[1], f"PIP_INDEX_URL={self.url}")

    def test_several_indexes_are_not_mixed(self):
        """With pip the public `helper` would win over one's own."""
        self.publish(self.sdist("demo", "1.0", build_requires=["helper"], before="import helper\nnote(helper.VERSION)"), Wheel("helper", "9.0"))
        self.server.publish("/own", Wheel("helper", "1.0"))
        more = ["--extra-index-url", self.server.url("/own")]
        self.assert_fails(self.ask("--build", "demo", *more), 1, "pip would mix the indexes", "no uv on PATH")
        self.assertEqual(self.built(), [])
        self.assert_ok(self.ask("--build", "demo", *more, "--index-strategy", "unsafe-best-match", command="resolve"))
        self.assertEqual(self.built()[-1], "9.0")
        self.with_uv_only()
        self.assert_ok(self.ask("--build", "demo", *more, command="resolve"))
        self.assertEqual(self.built()[-1], "1.0")

    def test_a_dead_parent_leaves_nothing(self):
        """SIGTERM in the middle: the build ends, too, and the next command removes what it left."""
        word = f"sleeper-{self.root.name}"
        self.publish(self.sdist("demo", "1.0", before=f"import subprocess\nsubprocess.run([sys.executable, '-c', 'import time; time.sleep(600)', {word!r}])"))
        process = subprocess.Popen([str(VARIANT), "install", "--build", "demo", "--index-url", self.url, "--python", str(self.venv)],
                                   env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(300):
            if self.processes(word):
                break
            time.sleep(0.1)
        self.assertTrue(self.processes(word))
        process.terminate()
        self.assertEqual(process.wait(30), -15)
        for _ in range(50):
            if not self.processes(word):
                break
            time.sleep(0.1)
        self.assertEqual(self.processes(word), [])
        self.assertEqual(self.installed(), {})


if __name__ == "__main__":
    unittest.main()
