"""Requirements that are sources: when they are built, what forbids it, what is kept, and what git is told."""

import hashlib
import json
import os
import pathlib
import socket
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from loopback import behind_login
from sdist_case import BuildCase
from support import Wheel


class SourceCase(BuildCase):
    def setUp(self):
        super().setUp()
        self.project = self.sdist("demo", "1.0").write(self.root / "proj")

    def place(self, version="1.0", name="demo"):
        return self.site() / f"{name}-{version}.dist-info"

    def record(self, **place):
        return json.loads((self.place(**place) / "direct_url.json").read_text())

    def repository(self):
        self.commits = self.make_repository(self.root / "repo", ("v1", {".": self.sdist("demo", "1.0")}), ("v2", {".": self.sdist("demo", "2.0")}))
        return f"git+file://{self.root}/repo"


class Consent(SourceCase):
    """Naming a place is consent to building what is there, not what others need."""

    def test_what_a_source_needs_is_part_of_the_solution(self):
        self.sdist("top", "1.0", requires=["dep<2"]).write(self.root / "top")
        self.publish(Wheel("dep", "1.0"), Wheel("dep", "2.0"), self.sdist("other", "1.0"))
        self.assert_ok(self.ask("./top", "dep"))
        self.assertEqual(self.installed(), {"top": ("1.0", None), "dep": ("1.0", None)})
        self.assert_fails(self.ask("./top", "dep>=2"), 1, "dep<2", "dep>=2")
        self.assert_fails(self.ask("./top", "other"), 3, "other 1.0 has no wheel, only a source distribution")
        self.assertNotIn("other 1.0", self.built())
        self.assert_ok(self.pip("check"))

    def test_a_place_that_metadata_names(self):
        needs = f"demo @ file://{self.project}"
        self.sdist("top", "1.0", requires=[needs]).write(self.root / "top")
        result = self.ask("./top")
        self.assert_fails(result, 1, "demo is not built", "the metadata of another package names it", "--build=demo")
        self.assertEqual(self.built(), ["top 1.0"])
        self.assert_ok(self.ask("./top", "--build=demo"))
        self.assertEqual(sorted(self.installed()), ["demo", "top"])
        self.assert_ok(self.ask("./top", "./proj"))

    def test_what_forbids_it(self):
        named = self.file("name.toml", 'no-build-package = ["demo"]\n')
        for title, arguments, env in (("uv's no-build", ["--no-build"], {}), ("only-binary", ["--only-binary", ":all:"], {}),
                                      ("by name", ["--only-binary", "demo"], {}), ("a variable", [], {"PIP_ONLY_BINARY": ":all:"}),
                                      ("a file", [], {"UV_CONFIG_FILE": str(named)})):
            for form in ("./proj", f"demo @ file://{self.project}"):
                with self.subTest(title, form=form):
                    self.assert_fails(self.ask(form, *arguments, env=env), 1, "is not built")
        self.assertEqual(self.built(), [])
        # The wheel that it makes is not a wheel that somebody published.
        self.assert_ok(self.ask("./proj", "--no-binary", "demo"))
        self.assert_fails(self.ask("./proj", "--for", "none", command="resolve"), 1, "not built for another machine")

    def test_other_settings_of_builds(self):
        self.assert_fails(self.ask("./proj", env={"UV_REQUIRE_BUILD_HASHES": "1"}), 1, "UV_REQUIRE_BUILD_HASHES", "does not pass")
        self.assertEqual(self.built(), [])

    def test_a_build_that_fails(self):
        self.sdist("bad", "1.0", before="print('this is why'); raise SystemExit(3)").write(self.root / "bad")
        self.assert_fails(self.ask("./bad"), 1, "could not be built from bad", "this is why")
        self.sdist("bad", "1.0", makes=[Wheel("bad", "1.0", tags="cp39-cp39-win32")]).write(self.root / "odd")
        self.assert_fails(self.ask("./odd"), 1, "do not fit this interpreter")
        self.assertEqual(self.installed(), {})

    def test_two_places(self):
        url = self.repository()
        self.assert_fails(self.ask("./proj", f"demo @ {url}@v1"), 1, "demo is requested from two places")
        self.assert_fails(self.ask("./proj", "demo==2"), 1, "demo==2")


class Hashes(SourceCase):
    def test_what_has_none_is_refused(self):
        url = self.repository()
        for form in ("./proj", f"demo @ file://{self.project}", f"demo @ {url}@{self.commits[0]}", url):
            with self.subTest(form):
                ours = self.ask(form, "--require-hashes")
                self.assert_fails(ours, 1, "folders and repositories have none")
                self.assertNotEqual(self.pip("install", form, "--require-hashes", "--dry-run", "--no-index").code, 0)
        self.assertEqual(self.built(), [])

    def test_archives(self):
        made = self.sdist("demo", "1.0")
        file = self.root / made.file_name
        file.write_bytes(made.bytes())
        right, wrong = hashlib.sha256(made.bytes()).hexdigest(), "0" * 64
        needs = self.root / "needs.txt"
        for text in (f"./{file.name} --hash=sha256:{wrong}", f"demo @ file://{file}#sha256={wrong}", f"./{file.name}"):
            needs.write_text(text + "\n")
            self.assertEqual(self.ask("-r", needs, "--require-hashes").code, 1)
        self.assertEqual(self.built(), [])
        needs.write_text(f"./{file.name} --hash=sha256:{right}\n")
        self.assert_ok(self.ask("-r", needs))
        needs.write_text(f"demo @ file://{file}#sha256={right}\n")
        self.assert_ok(self.ask("-r", needs, "--require-hashes"))
        self.assertEqual(self.built(), ["demo 1.0"])
        self.assertEqual(self.record()["archive_info"]["hashes"], {"sha256": right})

    def test_an_archive_that_leads_elsewhere(self):
        made = self.sdist("demo", "1.0")
        made.members["../../../outside"] = "x"
        (self.root / "demo-1.0.tar.gz").write_bytes(made.bytes())
        self.assert_fails(self.ask("./demo-1.0.tar.gz"), 1, "could not be unpacked", "leads out of the archive")
        self.assertEqual((self.built(), list(self.root.rglob("outside"))), ([], []))


class Kept(SourceCase):
    def test_a_folder_is_built_each_time(self):
        self.assert_ok(self.ask("./proj"))
        self.sdist("demo", "1.0", makes=[Wheel("demo", "1.0", files={"demo.py": "NEW = 1\n"})]).write(self.project)
        self.assert_ok(self.ask("./proj"))
        self.assertEqual(self.built(), ["demo 1.0"] * 2)
        self.assertEqual((self.site() / "demo.py").read_text(), "NEW = 1\n")
        self.assert_ok(self.variant("check", "--deep", "--python", self.venv))

    def test_a_commit_is_built_once(self):
        url = self.repository()
        for form in (f"{url}@v1", f"demo @ {url}@{self.commits[0]}"):
            self.assert_ok(self.ask(form))
        self.assertEqual(self.built(), ["demo 1.0"])
        self.assertEqual(self.record()["vcs_info"]["commit_id"], self.commits[0])
        # Nothing is asked of git for a commit that is known.
        os.rename(self.root / "repo", self.root / "gone")
        self.assert_ok(self.ask(f"{url}@{self.commits[0]}", "--offline"))
        self.assert_fails(self.ask(f"{url}@v1"), 1, "could not be fetched")
        answer = self.assert_ok(self.ask(f"{url}@{self.commits[0]}", "--json", command="resolve"))
        built = self.package(answer)["built_from"]
        self.assertEqual((built["file"], built["commit"], built["sha256"]), ("repo", self.commits[0], None))

    def test_a_branch_that_moved(self):
        url = self.repository()
        self.assert_ok(self.ask(f"{url}@main"))
        self.assertEqual(self.installed(), {"demo": ("2.0", None)})
        self.git(self.root / "repo", "reset", "--quiet", "--hard", "v1")
        self.assert_ok(self.ask(f"{url}@main"))
        self.assertEqual(self.installed(), {"demo": ("1.0", None)})

    def test_with_uv_alone(self):
        url = self.repository()
        self.with_uv_only()
        made = self.sdist("demo", "1.0")
        (self.root / made.file_name).write_bytes(made.bytes())
        for form in ("./proj", f"./{made.file_name}", f"{url}@v1"):
            self.assert_ok(self.ask(form))
        self.assertEqual(self.built(), ["demo 1.0"] * 3)
        self.assert_ok(self.uv("pip", "check", "--python", self.venv / "bin/python"))

    def test_what_is_frozen_is_installed_again(self):
        url = self.repository()
        self.assert_ok(self.ask(f"{url}@v1"))
        frozen = self.assert_ok(self.variant("freeze", "--python", self.venv)).out
        self.assertEqual(frozen, f"demo @ {url}@{self.commits[0]}\n")
        self.assert_ok(self.variant("uninstall", "demo", "--python", self.venv))
        self.assert_ok(self.ask("-r", self.file("frozen.txt", frozen)))
        self.assertEqual(self.installed(), {"demo": ("1.0", None)})

    def test_without_a_cache(self):
        self.assert_ok(self.ask("./proj", "--no-cache"))
        self.assertFalse((self.root / "cache").exists())


class Git(SourceCase):
    def told(self):
        """A `git` that notes its command lines; gives the file."""
        folder, note = self.root / "noting", self.root / "commands"
        folder.mkdir()
        (folder / "git").write_text(f'#!/bin/sh\necho "$@" >>{note}\nexec /usr/bin/git "$@"\n')
        (folder / "git").chmod(0o755)
        self.env["PATH"] = f"{folder}:{self.env['PATH']}"
        return note

    def test_a_login_stays_secret(self):
        self.repository()
        self.git(self.root, "clone", "--quiet", "--bare", str(self.root / "repo"), str(self.root / "bare.git"))
        self.git(self.root / "bare.git", "update-server-info")
        for file in (self.root / "bare.git").rglob("*"):
            if file.is_file():
                path = "/bare.git/" + str(file.relative_to(self.root / "bare.git"))
                self.server.answers[path] = behind_login((200, {}, file.read_bytes()), "me", "s3cr3t")
        note = self.told()
        url = "git+" + self.server.url("/bare.git", login="me:s3cr3t") + "@v1"
        result = self.assert_ok(self.ask(url, "--verbose"))
        self.assertEqual(self.record(), {"url": self.server.url("/bare.git"),
                                         "vcs_info": {"vcs": "git", "requested_revision": "v1", "commit_id": self.commits[0]}})
        wrong = self.ask("git+" + self.server.url("/bare.git", login="me:wr0ng") + "@v2", "--verbose")
        self.assert_fails(wrong, 1, "could not be fetched")
        texts = [str(result), str(wrong), note.read_text()]
        texts += [file.read_text(errors="replace") for file in (self.root / "cache").rglob("*") if file.is_file()]
        for text in texts:
            self.assertNotIn("s3cr3t", text)
            self.assertNotIn("wr0ng", text)

    def test_hostile_places(self):
        note = self.told()
        for form in ("git+ext::sh -c touch% x", "demo @ git+ext::sh%20-c%20true", "git+--upload-pack=touch x://h/p", "git+ssh://-oProxyCommand=x/p",
                     "git+ssh://-u@h/p", "git+https://h/p@--upload-pack=x", "git+https://h/p#subdirectory=../..", "git+https://h/p#egg=a[b]",
                     "git+file://h/p", "git+fd::17"):
            with self.subTest(form):
                self.assertIn(self.ask(form).code, (1, 2))
        self.assertFalse(note.exists())

    def test_a_submodule_of_this_machine_is_none_of_a_repository(self):
        self.repository()
        self.make_repository(self.root / "secret", ("s", {".": self.sdist("demo", "9.0")}))
        self.git(self.root / "repo", "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(self.root / "secret"), "inner")
        self.git(self.root / "repo", "commit", "--quiet", "-m", "sub")
        self.assert_fails(self.ask(f"git+file://{self.root}/repo"), 1, "could not be fetched", "not allowed")
        self.assertEqual(self.built(), [])

    def test_a_server_that_never_answers(self):
        """--timeout counts for git, too."""
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))
            silent.listen()
            url = f"git+http://127.0.0.1:{silent.getsockname()[1]}/x.git"
            begin = time.monotonic()
            self.assert_fails(self.ask(url, "--timeout", "2"), 1, "x.git could not be fetched", "2 seconds")
            self.assertLess(time.monotonic() - begin, 60)

    def test_no_git(self):
        empty = self.root / "empty"
        empty.mkdir()
        result = self.ask("git+file:///nowhere", env={"PATH": str(empty)})
        self.assert_fails(result, 1, "git is not there", "install git")

    def test_links_do_not_lead_out(self):
        self.repository()
        os.symlink(self.project, self.root / "repo/link")
        self.git(self.root / "repo", "add", ".")
        self.git(self.root / "repo", "commit", "--quiet", "-m", "link")
        self.assert_fails(self.ask(f"git+file://{self.root}/repo#subdirectory=link"), 1, "has no folder link")
        self.assertEqual(self.built(), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
