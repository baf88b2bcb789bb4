"""`variant bundle`, and installing from one file: whole, listed, signed, and refused where it lies."""

import base64
import datetime
import hashlib
import json
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import sys
import time
import unittest
import zipfile
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import support
from fleet import MACHINES, fleet
from slow_server import SlowServer, interrupt
from support import EnvironmentTestCase, Wheel, publish_levels, tree

SSH_KEYGEN = shutil.which("ssh-keygen")
NAMESPACE = "axle-bundle"
LIST, SIGNATURE = "SHA256SUMS", "SHA256SUMS.sig"


def listed(members, title="# axle-bundle 1\n"):
    """The list of these members, as the documentation describes it."""
    return title + "".join(f"# {len(data)} bytes\n{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in sorted(members.items()))


def stored(members, names=None):
    """An archive of (name, data), written by hand: names may be anything, and occur twice."""
    out, directory = b"", b""
    for name, data in members:
        encoded = name.encode()
        common = struct.pack("<HHHIIIIHH", 20, 0, 0, 0x00210000, zlib.crc32(data), len(data), len(data), len(encoded), 0)
        directory += b"PK\x01\x02" + struct.pack("<H", 0x0314) + common + struct.pack("<HHHII", 0, 0, 0, 0o100644 << 16, len(out)) + encoded
        out += b"PK\x03\x04" + common + encoded + data
    return out + directory + b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, len(members), len(members), len(directory), len(out), 0)


class BundleCase(EnvironmentTestCase):
    def setUp(self):
        super().setUp()
        self.out = self.root / "needs.zip"
        publish_levels(self.index, plain=False, requires=["plain>=1"])
        self.index.add_wheel(Wheel("plain", "1.0"))
        self.index.add_wheel(Wheel("other", "1.0"))

    def bundle(self, *words, out=None, index=None, **options):
        return self.variant("bundle", *words, "--index-url", index or self.index.url, "--out", out or self.out, "--python", self.venv, **options)

    def install(self, *words, bundle=None, **options):
        return self.variant("install", *words, "--bundle", bundle or self.out, "--python", self.venv, **options)

    def members(self, path=None):
        with zipfile.ZipFile(path or self.out) as archive:
            return {one.filename: archive.read(one) for one in archive.infolist()}

    def assert_nothing_beside(self):
        self.assertEqual([path.name for path in self.root.iterdir() if path.name.startswith(".needs")], [])

    def key(self, name="key", kind="ed25519", *more):
        path = self.root / name
        subprocess.run([SSH_KEYGEN, "-q", "-t", kind, *more, "-N", "", "-C", name, "-f", path], check=True)
        return path

    def signers(self, *keys, options="", who="release@example.com"):
        path = self.root / "signers"
        path.write_text("# whom we trust\n" + "".join(f"{who} {options} {key.with_suffix('.pub').read_text()}" for key in keys))
        return path


class Made(BundleCase):
    def test_it_has_what_each_machine_needs_and_the_list_is_true(self):
        told = self.assert_ok(self.bundle("demo", *fleet(), "--json")).json
        self.assertEqual(told["dest"], str(self.out))
        members = self.members()
        self.assertEqual(members.pop(LIST).decode(), listed(members))
        wheels = {name.rpartition("/")[2] for name in members if name.endswith(".whl")}
        self.assertEqual(wheels, {one["file"] for one in told["files"]})
        self.assertGreater(len(wheels), 3)
        self.assertEqual({name + ".metadata" for name in members if name.endswith(".whl")}, {name for name in members if name.endswith(".metadata")})
        self.assertTrue(any(name.endswith("-variants.json") for name in members))
        self.assert_nothing_beside()
        for machine in MACHINES:
            answers = [self.assert_ok(self.variant("resolve", "demo", *where, "--json", "--python", self.venv, "--for", machine)).json["packages"]
                       for where in (["--bundle", self.out], ["--index-url", self.index.url])]
            self.assertEqual(*[{one["wheel"] for one in answer} for answer in answers])

    def test_other_tools_read_it(self):
        self.assert_ok(self.bundle("plain"))
        folder = self.root / "unpacked"
        with zipfile.ZipFile(self.out) as archive:
            self.assertTrue(all(one.compress_type == zipfile.ZIP_STORED for one in archive.infolist()))
            self.assertIsNone(archive.testzip())
            archive.extractall(folder)
        subprocess.run(["sha256sum", "--check", "--strict", "--quiet", LIST], cwd=folder, check=True)
        url = (folder / "simple").as_uri()
        self.assert_ok(self.pip("install", "plain", "-i", url))
        self.assertEqual(self.installed(), {"plain": ("1.0", None)})
        other = self.make_venv(self.root / "other")
        self.assert_ok(self.uv("pip", "install", "plain", "--default-index", url, "--python", other / "bin/python"))
        self.assertEqual(self.installed(other), {"plain": ("1.0", None)})
        third = self.make_venv(self.root / "third")
        self.assert_ok(self.pip("install", "plain", "--no-index", "--find-links", folder / "simple/plain", python=third / "bin/python"))

    def test_the_same_content_gives_the_same_bytes(self):
        self.assert_ok(self.bundle("demo", "other", *fleet()))
        first = self.out.read_bytes()
        again = self.root / "again.zip"
        self.assert_ok(self.bundle("other", "demo", *fleet(reversed(MACHINES)), out=again))
        self.assertEqual(again.read_bytes(), first)

    def test_only_a_bundle_is_replaced(self):
        self.out.write_text("my thesis")
        self.assert_fails(self.bundle("plain"), 1, str(self.out), "not a bundle")
        self.assertEqual(self.out.read_text(), "my thesis")
        with zipfile.ZipFile(self.out, "w") as archive:
            archive.writestr("thesis.txt", "mine")
        self.assert_fails(self.bundle("plain"), 1, "not a bundle")
        self.out.unlink()
        self.out.mkdir()
        self.assert_fails(self.bundle("plain"), 1, "not a bundle")
        self.out.rmdir()
        self.assert_ok(self.bundle("plain"))
        self.assert_ok(self.bundle("other"))
        self.assertIn("simple/other/index.json", self.members())
        self.assertNotIn("simple/plain/index.json", self.members())
        self.assert_nothing_beside()

    def test_words_and_places(self):
        self.assert_fails(self.variant("bundle", "plain", "--python", self.venv), 2, "--out")
        self.assert_fails(self.bundle(), 2, "nothing to save")
        self.assert_fails(self.bundle("plain", out=self.root / "nowhere/x.zip"), 1, "nowhere")
        self.assert_fails(self.bundle("absent"), 1, "absent")
        self.assertFalse(self.out.exists())
        self.assert_ok(self.bundle("plain", "--dry-run"))
        self.assertFalse(self.out.exists())
        self.assert_ok(self.bundle("plain", out="here.zip", cwd=self.root))
        self.assert_ok(self.install("plain", "--dry-run", bundle="here.zip", cwd=self.root))
        self.assert_nothing_beside()

    def test_killed_it_leaves_the_old_one_and_goes_on(self):
        self.assert_ok(self.bundle("other"))
        old = self.out.read_bytes()
        wheel = Wheel("slow", "1.0", files={"slow.bin": os.urandom(6 << 20)})
        self.index.add_wheel(wheel)
        server = SlowServer(self, self.root / "index", 4 << 20)
        words = ["bundle", "slow", "--index-url", server.url, "--out", str(self.out), "--python", str(self.venv)]
        interrupt(self, words, self.root / ".needs.zip-arriving" / wheel.file_name, 4 << 20)
        self.assertEqual(self.out.read_bytes(), old)
        server.given, server.requested = 0, []
        self.assert_ok(self.bundle("slow", index=server.url))
        self.assertEqual([begin for name, begin, size in server.requested if name == wheel.file_name and size > 1 << 20], [4 << 20])
        self.assertEqual(self.members()[f"simple/slow/{wheel.file_name}"], wheel.bytes())
        self.assertNotIn("simple/other/index.json", self.members())
        self.assert_nothing_beside()

    def test_killed_at_any_moment_there_is_the_old_one_or_the_new(self):
        self.assert_ok(self.bundle("plain"))
        new = self.out.read_bytes()
        self.assert_ok(self.bundle("other"))
        old = self.out.read_bytes()
        words = ["bundle", "plain", "--index-url", self.index.url, "--out", str(self.out), "--python", str(self.venv)]
        for step in range(25):
            running = subprocess.Popen([support.VARIANT, *words], env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(0.012 * step)
            running.send_signal(signal.SIGKILL)
            running.wait(30)
            self.assertIn(self.out.read_bytes(), (old, new))
        self.assert_ok(self.bundle("plain"))
        self.assertEqual(self.out.read_bytes(), new)
        self.assert_nothing_beside()


class Installed(BundleCase):
    def test_nothing_but_the_bundle_is_asked(self):
        self.assert_ok(self.bundle("demo"))
        shutil.rmtree(self.root / "index")
        self.env["PIP_INDEX_URL"] = "http://127.0.0.1:9/simple"
        self.env["PIP_FIND_LINKS"] = "http://127.0.0.1:9/links"
        self.assert_ok(self.install("demo"))
        self.assertEqual(set(self.installed()), {"demo", "plain"})
        self.assert_fails(self.install("other"), 1, "other")
        requirements = self.root / "requirements.txt"
        requirements.write_text("--index-url http://127.0.0.1:9/simple\nplain==1.0\n")
        self.assert_ok(self.install("-r", requirements, "--reinstall"))
        self.assert_fails(self.install("-r", "http://127.0.0.1:9/r.txt"), 1, "offline")

    def test_no_system_call_reaches_a_network(self):
        self.need_program_as_shipped()
        self.assert_ok(self.bundle("demo"))
        log = self.root / "trace"
        done = subprocess.run(["strace", "-f", "-e", "trace=socket,connect", "-o", log, support.VARIANT, "install", "demo", "--bundle", self.out,
                               "--python", self.venv], env=self.env, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotRegex(log.read_text(), r"AF_INET")

    def test_it_is_as_from_the_index(self):
        self.assert_ok(self.bundle("demo"))
        self.assert_ok(self.install("demo"))
        other = self.make_venv(self.root / "other")
        self.assert_ok(self.variant("install", "demo", "--index-url", self.index.url, "--python", other))
        site = lambda venv: {path: data for path, data in tree(venv / "lib").items() if "demo" in path or "plain" in path}
        self.assertEqual(site(self.venv), site(other))

    def test_a_large_wheel_comes_whole(self):
        wheel = Wheel("large", "1.0", files={"large/data.bin": os.urandom(24 << 20)})
        self.index.add_wheel(wheel)
        self.assert_ok(self.bundle("large"))
        self.assert_ok(self.install("large", "--no-cache"))
        found, = self.venv.glob("lib/*/site-packages/large/data.bin")
        self.assertEqual(found.read_bytes(), wheel.members["large/data.bin"])

    def test_others_read_it_too(self):
        self.assert_ok(self.bundle("demo", *fleet()))
        folder, mirror = self.root / "wheels", self.root / "mirror"
        self.assert_ok(self.variant("download", "plain", "--bundle", self.out, "--dest", folder, "--python", self.venv))
        self.assertTrue((folder / "plain-1.0-py3-none-any.whl").exists())
        self.assert_ok(self.variant("mirror", "demo", "--bundle", self.out, "--out", mirror, "--python", self.venv, *fleet()))
        # A bundle has no pages for people.
        mirrored = {path: content for path, content in tree(mirror).items() if path.startswith("simple/") and not path.endswith("/page.html")}
        self.assertEqual(mirrored, {name: hashlib.sha256(data).hexdigest() for name, data in self.members().items() if name != LIST})
        self.assert_ok(self.variant("explain", "demo", "--bundle", self.out, "--python", self.venv))

    def test_other_places_are_refused_beside_it(self):
        self.assert_ok(self.bundle("plain"))
        for words in (["--index-url", "http://127.0.0.1:9/"], ["--find-links", "x"], ["--extra-index-url", "http://127.0.0.1:9/"], ["--build"], ["--build=plain"]):
            self.assert_fails(self.install("plain", *words), 2, words[0].replace("=plain", "=PKG"), "--bundle")
        self.assert_fails(self.install("plain", bundle=self.root / "absent.zip"), 1, "absent.zip")
        self.assert_fails(self.variant("install", "plain", "--allowed-signers", "x", "--python", self.venv), 2, "--bundle")
        self.assertEqual(self.installed(), {})

    def test_nothing_that_names_its_own_place_is_taken(self):
        """Not by the user either, and least of all by a project: what is signed is what is installed."""
        self.assert_ok(self.bundle("plain"))
        evil = Wheel("plain", "9.0").write(self.root / "away")
        folder = self.root / "folder"
        folder.mkdir()
        (folder / "pyproject.toml").write_text('[build-system]\nrequires = []\nbuild-backend = "own"\nbackend-path = ["."]\n')
        (folder / "own.py").write_text(f"open({str(self.root / 'ran')!r}, 'w')\n")
        for words in ([evil], [f"plain @ {evil.as_uri()}"], [folder], ["-e", folder]):
            with self.subTest(words):
                self.assert_fails(self.install(*words), 2, "cannot be used with --bundle", "without --bundle")
        self.assertFalse((self.root / "ran").exists())
        (folder / "pyproject.toml").write_text(f'[tool.uv]\noverride-dependencies = ["plain @ {evil.as_uri()}"]\n')
        self.assert_fails(self.install("plain", cwd=folder), 2, "plain-9.0", "cannot be used with --bundle")
        self.assertEqual(self.installed(), {})
        (folder / "pyproject.toml").write_text(f'[tool.uv.sources]\nplain = {{path = "{evil}"}}\n')
        result = self.assert_ok(self.install("plain", cwd=folder))
        self.assertIn("the source of plain is ignored", result.err)
        self.assertEqual(self.installed(), {"plain": ("1.0", None)})

    def test_a_key_without_a_name(self):
        self.assert_fails(self.bundle("plain", "--signing-key", ""), 2, "--signing-key names no key")
        self.assertFalse(self.out.exists())


class Refused(BundleCase):
    def setUp(self):
        super().setUp()
        self.assert_ok(self.bundle("plain"))
        self.good = self.members()
        self.wheel = "simple/plain/plain-1.0-py3-none-any.whl"

    def refused(self, data, *words):
        self.out.write_bytes(data)
        before = tree(self.venv)
        cache = self.root / "home/.cache/axle/store"
        self.assert_fails(self.install("plain"), 1, "needs.zip", *words)
        self.assertEqual(tree(self.venv), before)
        self.assertFalse(cache.exists() and any(cache.iterdir()))

    def archive(self, members, text=None):
        if text is None:
            text = listed(members)
        return stored([(LIST, text.encode()), *members.items()])

    def test_what_is_good_is_installed(self):
        members = {name: data for name, data in self.good.items() if name != LIST}
        self.out.write_bytes(self.archive(members))
        self.assert_ok(self.install("plain"))
        self.assertEqual(self.installed(), {"plain": ("1.0", None)})

    def test_lies(self):
        members = {name: data for name, data in self.good.items() if name != LIST}
        text = self.good[LIST].decode()
        one = hashlib.sha256(members[self.wheel]).hexdigest()
        changed = {**members, self.wheel: members[self.wheel][:-1] + b"x"}
        page = json.loads(members["simple/plain/index.json"])
        page["files"][0]["url"] = "file:///etc/passwd"
        outside = {**members, "simple/plain/index.json": json.dumps(page).encode()}
        lies = {
            "an extra member": (self.archive({**members, "simple/evil.whl": b"x"}, text), "simple/evil.whl", "list does not have"),
            "a missing member": (self.archive({name: data for name, data in members.items() if name != self.wheel}, text), self.wheel, "lacks"),
            "a wrong hash": (self.archive(changed, text), self.wheel, "sha256"),
            "a wrong size": (self.archive({**members, self.wheel: members[self.wheel] + b"x"}, text), self.wheel, "bytes"),
            "a hash of the list": (self.archive(members, text.replace(one, "0" * 64)), self.wheel, "0" * 64),
            "two of one name": (stored([(LIST, text.encode()), *members.items(), (self.wheel, members[self.wheel])]), self.wheel),
            "two lists": (stored([(LIST, text.encode()), (LIST, text.encode()), *members.items()]), LIST),
            "a name outside": (self.archive({**members, "../evil.whl": b"x"}), "evil.whl"),
            "an absolute name": (self.archive({**members, "/evil.whl": b"x"}), "evil.whl"),
            "a name outside in the list": (self.archive(members, listed({**members, "../evil": b"x"})), "../evil"),
            "the list in the list": (self.archive(members, listed({**members, LIST: b"x"})), LIST),
            "no list": (stored(list(members.items())), LIST),
            "another list": (self.archive(members, listed(members, "# axle-bundle 2\n")), "axle-bundle 1"),
            "a list without order": (self.archive(members, text.splitlines(True)[0] + "".join(text.splitlines(True)[3:5] + text.splitlines(True)[1:3])), "not behind"),
            "a list twice": (self.archive(members, text + text.partition("\n")[2]), "not behind"),
            "a list that is cut": (self.archive(members, text[:-1]), LIST),
            "a list of nothing": (self.archive(members, ""), "axle-bundle 1"),
            "a gigantic list": (self.archive(members, text + "#" * (33 << 20)), LIST),
            "not an archive": (b"x" * 100, "needs.zip"),
            "nothing": (b"", "needs.zip"),
        }
        for what, (data, *words) in lies.items():
            with self.subTest(what):
                self.refused(data, *words)
        self.out.write_bytes(self.archive(outside))
        self.assert_fails(self.install("plain"), 1, "plain")
        self.assertEqual(self.installed(), {})

    def test_cut_anywhere(self):
        data = self.archive({name: data for name, data in self.good.items() if name != LIST})
        for size in range(0, len(data), max(1, len(data) // 60)):
            self.out.write_bytes(data[:size])
            self.assert_fails(self.install("plain"), 1, "needs.zip")

    def test_any_byte_changed(self):
        data = bytearray(self.out.read_bytes())
        for place in range(0, len(data), max(1, len(data) // 80)):
            bad = bytearray(data)
            bad[place] ^= 0x41
            self.out.write_bytes(bad)
            if self.install("plain", "--dry-run").code == 0:  # the time of a member, or its mode: nothing that is used
                self.assertEqual(self.members(), self.good, place)

    def test_packed_members(self):
        with zipfile.ZipFile(self.out, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in self.good.items():
                archive.writestr(name, data)
        self.assert_fails(self.install("plain"), 1, "needs.zip")


@unittest.skipUnless(SSH_KEYGEN, "ssh-keygen is not here")
class Signed(BundleCase):
    def keygen(self, *words, input=None):
        return subprocess.run([SSH_KEYGEN, *map(str, words)], input=input, capture_output=True)

    def test_ssh_keygen_verifies_what_we_signed(self):
        key = self.key()
        self.assert_ok(self.bundle("plain", "--signing-key", key))
        members = self.members()
        (self.root / SIGNATURE).write_bytes(members[SIGNATURE])
        self.assertTrue(self.they_verify(self.signers(key), members[LIST]))
        self.assertFalse(self.they_verify(self.signers(key), members[LIST] + b"\n"))
        first = self.out.read_bytes()
        self.assert_ok(self.bundle("plain", "--signing-key", key))
        self.assertEqual(self.out.read_bytes(), first)

    def sign(self, key, *words, namespace=NAMESPACE, text=None):
        """Replaces the signature by one that ssh-keygen makes."""
        members = {name: data for name, data in self.members().items() if name != SIGNATURE}
        done = self.keygen("-Y", "sign", "-f", key, "-n", namespace, *words, input=members[LIST] if text is None else text)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.put(members, done.stdout)

    def put(self, members, signature):
        self.out.write_bytes(stored([(LIST, members[LIST]), (SIGNATURE, signature), *[one for one in members.items() if one[0] != LIST]]))

    def test_we_verify_what_ssh_keygen_signed(self):
        self.assert_ok(self.bundle("plain"))
        for name, kind, *more in (("a", "ed25519"), ("b", "ecdsa", "-b", "256"), ("c", "ecdsa", "-b", "384"), ("d", "ecdsa", "-b", "521"),
                                  ("e", "rsa", "-b", "2048"), ("f", "rsa", "-b", "3072")):
            key = self.key(name, kind, *more)
            for hashed in ("sha256", "sha512"):
                with self.subTest(kind, more=more, hash=hashed):
                    self.sign(key, "-O", f"hashalg={hashed}")
                    result = self.assert_ok(self.install("plain", "--dry-run", "--allowed-signers", self.signers(key), "-v"))
                    fingerprint = self.keygen("-l", "-f", key).stdout.split()[1].decode()
                    self.assertIn(f"release@example.com ({fingerprint})", result.err)
                    other = self.key(f"{name}{hashed}", kind, *more)
                    self.assert_fails(self.install("plain", "--allowed-signers", self.signers(other)), 1, fingerprint, "not among them")

    def test_an_end_that_is_given_twice(self):
        """ssh-keygen refuses such a line, too: which of them counts would be a guess."""
        key = self.key()
        self.assert_ok(self.bundle("plain", "--signing-key", key))
        for options in ('valid-before="20990101",valid-before="20200101"', 'valid-after="20200101",valid-after="x"'):
            signers = self.signers(key, options=options)
            self.assert_fails(self.install("plain", "--allowed-signers", signers), 2, f"{signers}:2", "is given twice")

    def test_who_is_allowed(self):
        key = self.key()
        self.assert_ok(self.bundle("plain", "--signing-key", key))
        day = datetime.date.today()
        past, future = (day - datetime.timedelta(3)).strftime("%Y%m%d"), (day + datetime.timedelta(3)).strftime("%Y%m%d")
        members = self.members()
        (self.root / SIGNATURE).write_bytes(members[SIGNATURE])
        for options, allowed in (('namespaces="axle-bundle"', True), ('namespaces="git"', False), ('namespaces="git,axle-*"', True),
                                 ('namespaces="*,!axle-bundle"', False), ("cert-authority", False), (f'valid-after="{past}"', True),
                                 (f'valid-after="{future}Z"', False), (f'valid-before="{past}"', False), (f'valid-before="{future}0102Z"', True),
                                 (f'namespaces="axle-bundle",valid-after="{past}",valid-before="{future}"', True),
                                 (f'valid-before="{future}",valid-after="{past}"', True), ('NAMESPACES="axle-?undle"', True),
                                 ('namespaces="!git,axle-bundle"', True), ('namespaces="!git"', False), ('namespaces="*"', True),
                                 ('namespaces="Axle-bundle"', False), ('namespaces=" axle-bundle"', False)):
            with self.subTest(options):
                signers = self.signers(key, options=options)
                self.assertEqual(self.they_verify(signers, members[LIST]), allowed)
                result = self.install("plain", "--dry-run", "--allowed-signers", signers)
                self.assertEqual(result.code, 0 if allowed else 1, result)
        for options in ("namespaces=axle-bundle", "namespaces", 'namespaces=""', 'namespaces="axle-bundle', "cert-authority=yes",
                        f"valid-after={past}", 'valid-after="2020"', 'valid-after=""',
                        f'valid-after="{future}",valid-before="{past}"', 'namespaces="git",', 'namespaces="a",namespaces="axle-bundle"'):
            with self.subTest(options):
                signers = self.signers(key, options=options)
                self.assertFalse(self.they_verify(signers, members[LIST]))
                self.assertIn(self.install("plain", "--dry-run", "--allowed-signers", signers).code, (1, 2))

    def they_verify(self, signers, text):
        words = "-Y", "verify", "-f", signers, "-I", "release@example.com", "-n", NAMESPACE, "-s", self.root / SIGNATURE
        return self.keygen(*words, input=text).returncode == 0

    def test_a_file_of_signers_that_is_not_valid(self):
        key = self.key()
        self.assert_ok(self.bundle("plain", "--signing-key", key))
        public = key.with_suffix(".pub").read_text()
        for text in (public, "who unknown-option " + public, 'who valid-after="x" ' + public, "who ssh-rsa " + public.split()[1] + "\n"):
            (self.root / "signers").write_text("\n" + text)
            self.assert_fails(self.install("plain", "--allowed-signers", self.root / "signers"), 2, "signers:2")
        self.assert_fails(self.install("plain", "--allowed-signers", self.root / "absent"), 2, "absent")

    def test_who_names_the_signers(self):
        key, other = self.key(), self.key("other")
        self.assert_ok(self.bundle("plain", "--signing-key", key))
        config = self.root / "home/.config/axle"
        config.mkdir(parents=True)
        shutil.copy(self.signers(other), config / "signers")
        (config / "config.toml").write_text('allowed-signers = "signers"\n')
        self.assert_fails(self.install("plain"), 1, "config.toml:1", "not among them")
        self.env["AXLE_ALLOWED_SIGNERS"] = str(self.signers(key))
        self.assert_ok(self.install("plain", "--dry-run"))
        self.assert_fails(self.install("plain", "--allowed-signers", config / "signers"), 1, "--allowed-signers")
        project = self.root / "project"
        project.mkdir()
        (project / "pyproject.toml").write_text('[tool.axle]\nallowed-signers = "x"\n')
        del self.env["AXLE_ALLOWED_SIGNERS"]
        self.assert_fails(self.install("plain", cwd=project), 2, "pyproject.toml", "allowed-signers")

    def test_without_names_it_is_said(self):
        self.assert_ok(self.bundle("plain", "--signing-key", self.key()))
        self.assertIn("nothing says whether to trust it", self.assert_ok(self.install("plain")).err)

    def test_what_is_refused(self):
        key = self.key()
        signers = self.signers(key)
        self.assert_ok(self.bundle("plain"))
        self.assert_fails(self.install("plain", "--allowed-signers", signers), 1, "not signed", "--signing-key")
        self.sign(key, namespace="file")
        self.assert_fails(self.install("plain", "--allowed-signers", signers), 1, "axle-bundle")
        self.assert_fails(self.install("plain"), 1, "axle-bundle")
        self.sign(key, text=b"something else")
        self.assert_fails(self.install("plain", "--allowed-signers", signers), 1, "has not signed this")
        self.assert_fails(self.install("plain"), 1, "has not signed this")
        self.sign(key)
        members = self.members()
        good = members.pop(SIGNATURE)
        more = dict(members)
        more["simple/plain/evil.whl"] = b"x"
        more[LIST] = listed({name: data for name, data in more.items() if name != LIST}).encode()
        self.put(more, good)
        self.assert_fails(self.install("plain", "--allowed-signers", signers), 1, "has not signed this")
        packed = base64.b64decode(b"".join(good.splitlines()[1:-1]))
        armour = lambda data: b"-----BEGIN SSH SIGNATURE-----\n" + base64.b64encode(data) + b"\n-----END SSH SIGNATURE-----\n"
        for place in range(0, len(packed), 3):
            bad = bytearray(packed)
            bad[place] ^= 1
            self.put(members, armour(bytes(bad)))
            self.assertEqual(self.install("plain", "--dry-run", "--allowed-signers", signers).code, 1, place)
        for bad in (b"", good[:-20], armour(packed[:-1]), armour(packed + b"x"), b"x" * 70000):
            self.put(members, bad)
            self.assert_fails(self.install("plain", "--allowed-signers", signers), 1, "needs.zip")
        self.assertEqual(self.installed(), {})

    def test_a_key_that_cannot_sign(self):
        self.assert_fails(self.bundle("plain", "--signing-key", self.root / "absent"), 1, "absent", "ssh-keygen")
        self.assertFalse(self.out.exists())
        self.env["PATH"] = str(self.root)
        self.assert_fails(self.bundle("plain", "--signing-key", "x"), 1, "ssh-keygen")
        self.assertFalse(self.out.exists())


if __name__ == "__main__":
    unittest.main()
