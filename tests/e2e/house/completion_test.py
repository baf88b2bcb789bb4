"""Completion scripts in the shells that they are for, and manual pages in man(1)."""

import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from loopback import Loopback
from support import BIN, EnvironmentTestCase, TestCase, Wheel

#: What is typed, and what must be among the proposals, and what must not. The cursor is at the end.
LINES = [
    (["ins"], {"install"}, {"index"}),
    (["index", ""], {"build", "remove", "families"}, {"install"}),
    (["providers", "tr"], {"trust"}, {"list"}),
    (["install", "--ind"], {"--index-url", "--index-strategy", "--index"}, {"--find-links"}),
    (["list", "--js"], {"--json"}, {"--index-url"}),
    (["--js"], {"--json"}, {"--index-url"}),
    (["--for", "h100", "det"], {"detect"}, {"install"}),
    (["detect", "--for", "gtx10"], {"gtx1080ti", "gtx1060"}, {"h100"}),
    (["detect", "--json", "--why", "nv"], {"nvidia"}, {"amd"}),
    (["install", "--progress", ""], {"auto", "on", "off", "json"}, {"needs.txt"}),
    (["install", "--link-mode", ""], {"hardlink", "reflink", "copy", "symlink"}, {"clone"}),
    (["list", "--format", "f"], {"freeze"}, {"json"}),
    (["install", "--attestations", "r"], {"require"}, {"warn"}),
    (["install", "--index-strategy", "u"], {"unsafe-best-match"}, {"first-index"}),
    (["completion", "z"], {"zsh"}, {"bash"}),
    (["install", "-r", "req"], {"requirements.txt"}, {"install"}),
    (["index", "build", "whe"], {"wheels"}, {"build"}),
    (["index", "build", "wheels", "--o"], {"--out"}, {"--index-url"}),
]


class CompletionTestCase(TestCase):
    shell = ""

    def setUp(self):
        super().setUp()
        if shutil.which(self.shell) is None:
            self.skipTest(f"{self.shell} is not installed")
        self.place = self.root / "place"
        (self.place / "wheels").mkdir(parents=True)
        (self.place / "requirements.txt").write_text("")
        self.env["PATH"] = f"{BIN}:{self.env['PATH']}"
        self.script = self.root / self.name()
        self.script.write_text(self.assert_ok(self.variant("completion", self.shell)).out)

    def name(self):
        return "variant." + self.shell

    def run_shell(self, *words):
        done = subprocess.run([self.shell, *words], env=self.env, cwd=self.place, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=60)
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.returncode, 0)
        return done.stdout

    def check_lines(self, proposals):
        for words, there, absent in LINES:
            with self.subTest(words):
                found = set(proposals(["variant", *words]))
                self.assertLessEqual(there, found)
                self.assertFalse(absent & found, found)


class Bash(CompletionTestCase):
    shell = "bash"

    def proposals(self, words):
        """As the shell calls the function: it splits words at `=`."""
        parts = [part for word in words for part in re.split("(=)", word) if part or not word]
        return self.run_shell("--norc", "--noprofile", "-c", 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); '
                              '_variant; printf "%s\\n" "${COMPREPLY[@]}"', "bash", str(self.script), *parts).splitlines()

    def test_lines(self):
        self.check_lines(self.proposals)

    def test_a_value_after_an_equals_sign(self):
        self.assertIn("gtx1080ti", self.proposals(["variant", "detect", "--for=gtx10"]))
        self.assertIn("h100", self.proposals(["variant", "detect", "--for="]))
        self.assertIn("detect", self.proposals(["variant", "--for=h100", "det"]))

    def test_the_other_name(self):
        self.assertIn("--index-url", self.proposals(["variant-install", "--ind"]))
        self.assertIn("requirements.txt", self.proposals(["variant-install", "-r", "req"]))

    def test_the_shell_itself_completes(self):
        """A tab in a terminal."""
        self.assertIn("[uninstall]", typed(["bash", "--norc", "--noprofile", "-i"], self, "",
                                           f"source {self.script}; variant() {{ printf '[%s]' \"$@\"; }}", "variant unin\t\n"))


class Fish(CompletionTestCase):
    shell = "fish"

    def test_lines(self):
        def proposals(words):
            # `complete -C` answers with the proposals for a line, each with its description.
            told = self.run_shell("--no-config", "-c", f"source {self.script}; complete -C {quoted(' '.join(words))}")
            return [line.split("\t")[0].rstrip("/") for line in told.splitlines()]
        self.check_lines(proposals)
        self.assertIn("--index-url", proposals(["variant-install", "--ind"]))


class Zsh(CompletionTestCase):
    shell = "zsh"

    def name(self):
        return "_variant"

    def complete(self, words):
        """The line as it stands after a tab, of which there is one completion."""
        start = f"fpath=({self.root} $fpath); autoload -U compinit; compinit -u -D; variant() {{ print -n \"[${{(j:|:)@}}]\" }}"
        told = typed(["zsh", "-f", "-i"], self, "variant-install() { variant install $@ }", start, " ".join(words) + "\t\n")
        found = re.findall(r"\[([^\]\n]*)\]", told)
        self.assertTrue(found, told)
        return found[-1].split("|")

    def test_lines(self):
        for words, there in ((["variant", "unin"], "uninstall"), (["variant", "index", "bui"], "build"),
                             (["variant", "providers", "tru"], "trust"), (["variant", "install", "--index-u"], "--index-url"),
                             (["variant", "detect", "--for", "gtx1080t"], "gtx1080ti"), (["variant", "detect", "--why", "nvi"], "nvidia"),
                             (["variant", "--for", "h100", "det"], "detect"),
                             (["variant", "index", "build", "--out", "whe"], "wheels"),
                             (["variant", "install", "-r", "requ"], "requirements.txt"),
                             (["variant-install", "--extra-i"], "--extra-index-url")):
            with self.subTest(words):
                self.assertEqual(self.complete(words)[-1].removesuffix("="), there)

    def test_without_a_file(self):
        """eval, after compinit."""
        start = f"autoload -U compinit; compinit -u -D; source {self.script}; variant() {{ print -n \"[$@]\" }}"
        self.assertIn("[uninstall]", typed(["zsh", "-f", "-i"], self, "", start, "variant unin\t\n"))


def quoted(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def typed(command, test, *lines):
    """What a terminal shows after `lines`: the last is typed when the shell has done with the others."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(test.place)
        os.execvpe(command[0], command, dict(test.env, TERM="dumb" if command[0] == "bash" else "vt100", PS1="", HISTFILE="/dev/null"))
    shown = b""

    def read_until(mark, seconds):
        nonlocal shown
        end = time.monotonic() + seconds
        while time.monotonic() < end and mark not in shown:
            if not select.select([terminal], [], [], 0.1)[0]:
                continue
            try:
                shown += os.read(terminal, 65536)
            except OSError:
                return

    try:
        for number, line in enumerate(lines[:-1]):
            # The line is echoed too, so the mark is made by the shell.
            os.write(terminal, f"{line}\nprintf 'rea''dy{number}'\n".encode())
            read_until(f"ready{number}".encode(), 30)
        shown = b""
        os.write(terminal, lines[-1].removesuffix("\n").encode())
        time.sleep(1)  # a shell may ignore what is typed while it completes
        os.write(terminal, b"\nprintf 'the''end'\n")
        read_until(b"theend", 30)
    finally:
        os.close(terminal)
        os.kill(pid, 9)
        os.waitpid(pid, 0)
    return shown.decode(errors="replace")


class Installed(EnvironmentTestCase):
    def test_names_of_installed_packages(self):
        self.index.add_wheel(Wheel("demo", "1.0"))
        self.assert_ok(self.install("demo", index=self.index))
        script = self.root / "variant.bash"
        script.write_text(self.assert_ok(self.variant("completion", "bash")).out)
        env = dict(self.env, PATH=f"{BIN}:{self.env['PATH']}", VIRTUAL_ENV=str(self.venv))
        done = subprocess.run(["bash", "--norc", "-c", 'source "$1"; COMP_WORDS=(variant uninstall de); COMP_CWORD=2; _variant; '
                               'echo "${COMPREPLY[@]}"', "bash", str(script)], env=env, capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, "demo\n")


class Installation(EnvironmentTestCase):
    """cmake --install: the program elsewhere, with all that belongs to it."""

    def test_the_installed_program_works(self):
        if shutil.which("cmake") is None:
            self.skipTest("cmake is not installed")
        place = self.root / "usr"
        subprocess.run(["cmake", "--install", BIN.parent, "--component", "program", "--prefix", place], check=True,
                       capture_output=True, env=self.env)
        for path in ("share/bash-completion/completions/variant", "share/bash-completion/completions/variant-install",
                     "share/zsh/site-functions/_variant", "share/fish/vendor_completions.d/variant.fish",
                     "share/man/man1/variant.1", "share/man/man1/variant-install.1"):
            self.assertGreater((place / path).stat().st_size, 500, path)
        # Pages are fetched, for which it needs its module.
        server = Loopback(self)
        server.publish("/simple", Wheel("demo", "1.0"))
        done = subprocess.run([place / "bin/variant-install", "demo", "--index-url", server.url("/simple"), "--python", self.venv],
                              env=self.env, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.stdout, "+ demo 1.0\n", done.stderr)


class Scripts(TestCase):
    def test_an_unknown_shell(self):
        self.assert_fails(self.variant("completion", "zhs"), 2, "no completion for `zhs`", "did you mean zsh?")

    def test_json(self):
        told = self.assert_ok(self.variant("completion", "bash", "--json")).json
        self.assertEqual(told["shell"], "bash")
        self.assertIn("complete -F _variant variant variant-install", told["script"])

    def test_every_option_of_the_help_is_in_every_script(self):
        told = self.assert_ok(self.variant("install", "--help")).out
        bash = self.assert_ok(self.variant("completion", "bash")).out
        line = re.search(r"_variant_options\(\).*?'install'\) echo '([^']*)'", bash, re.S).group(1).split()
        zsh = self.assert_ok(self.variant("completion", "zsh")).out
        fish = self.assert_ok(self.variant("completion", "fish")).out
        options = set(re.findall(r"^  (?:-\w,)?(--[a-z-]+)", told, re.M))
        self.assertGreater(len(options), 40)
        self.assertLessEqual(options, set(line))
        for option in sorted(options):
            self.assertIn(option, zsh)
            self.assertIn(f"-l {option[2:]} ", fish)


class Manual(TestCase):
    def setUp(self):
        super().setUp()
        self.folder = self.root / "man1"
        self.pages = self.assert_ok(self.variant("man", "--out", self.folder)).out.split()

    def test_a_page_for_the_program_and_for_each_command(self):
        names = {path.name for path in self.folder.iterdir()}
        self.assertEqual({pathlib.Path(page).name for page in self.pages}, names)
        self.assertLessEqual({"variant.1", "variant-install.1", "variant-index.1", "variant-index-build.1"}, names)

    def test_one_page(self):
        page = self.assert_ok(self.variant("man", "index", "build")).out
        self.assertEqual(page, (self.folder / "variant-index-build.1").read_text())
        self.assertEqual(self.assert_ok(self.variant("man")).out, (self.folder / "variant.1").read_text())
        self.assert_fails(self.variant("man", "instal"), 2, "no command `instal`", "did you mean install")

    def test_man_shows_them_without_a_warning(self):
        if shutil.which("man") is None or shutil.which("groff") is None:
            self.skipTest("man and groff are not installed")
        env = dict(self.env, LC_ALL="C.UTF-8", MANPAGER="cat", MANWIDTH="80")
        for page in self.pages:
            done = subprocess.run(["man", "--warnings=w", "-l", page], env=env, capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stderr), (0, ""), page)
            if page.endswith("/variant-install.1"):
                shown = re.sub(r".\x08", "", done.stdout)  # bold, as a terminal prints it
                for words in ("variant install [option ...] [REQ|PATH ...]", "--index-url, -i, --pypi-url URL", "--for WHAT",
                              "variant install --refit --dry-run"):
                    self.assertIn(words, shown)
                self.assertNotIn("\\", shown)


if __name__ == "__main__":
    unittest.main(verbosity=2)
