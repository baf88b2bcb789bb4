"""An index on Debian's apache2 with mod_dav: what pip, uv and Axle install from it, publishers at once, and a publisher that is cut
off or killed at each of its requests."""

import concurrent.futures
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import VARIANT, tree
from webdav import Apache, BeforeApache
from webdav_case import EPOCH, PLACE, SECRET, WebDavCase


class ApacheCase(WebDavCase):
    login = None

    def setUp(self):
        super().setUp()
        self.apache = Apache(self, self.login)
        self.out = self.apache.url(PLACE)

    def files(self):
        """Without what killed commands left aside."""
        folder = self.apache.root / PLACE[1:]
        return {path: (folder / path).read_bytes() for path in tree(folder) if not path.startswith(".axle-change") and (folder / path).is_file()}

    def aside(self):
        return sorted(path.name for path in (self.apache.root / PLACE[1:] / ".axle-change").iterdir() if path.name != ".DAV")


class Installers(ApacheCase):
    def test_each_installs_what_was_published(self):
        self.make_venv()
        wheels = [self.wheel("demo", "1.0", label) for label in (None, "null", "v1", "v2")] + [self.wheel("need", "1.0", requires=["demo"])]
        told = self.assert_ok(self.add(*wheels, "--json", env=EPOCH)).json
        self.assertEqual((told["folder"], told["index_url"]), (self.out, self.out + "/simple"))
        index = self.out + "/simple/"
        self.assert_ok(self.install("need", index=index))
        self.assertEqual({name: version for name, (version, _) in self.installed().items()}, {"need": "1.0", "demo": "1.0"})
        self.assertEqual(self.assert_ok(self.variant("resolve", "demo", "-i", index, "--python", self.venv, "--for", "x86_64:v2", "--json")).json["packages"][0]["variant"], "v2")
        self.assert_ok(self.pip("install", "--no-cache-dir", "-i", index, "--target", self.root / "pip", "need"))
        self.assertEqual(sorted(path.stem for path in (self.root / "pip").glob("*.py")), ["demo", "need"])
        self.assert_ok(self.uv("pip", "install", "--no-cache", "-i", index, "--target", self.root / "uv", "need", "--preview-features", "wheel-variants", "--python", self.venv / "bin/python"))
        self.assertEqual(sorted(path.stem for path in (self.root / "uv").glob("*.py")), ["demo", "need"])
        # The same files as in a folder, and nothing beside them.
        self.assert_ok(self.variant("index", "add", *wheels, "--out", self.root / "same", env=EPOCH))
        self.assertEqual(self.files(), {path: (self.root / "same" / path).read_bytes() for path in tree(self.root / "same")})
        self.assertEqual(self.aside(), [])

    def test_all_that_changes_an_index(self):
        self.wheel(), self.wheel(label="v3"), self.wheel("other")
        self.assert_ok(self.command("index", "build", self.root / "dist", "--out", self.out + "/"))
        self.assert_index(self.files())
        self.wheel(version="2.0")
        done = self.assert_ok(self.command("index", "update", self.root / "dist", "--out", self.out, "--json")).json
        self.assertEqual(done["updated"], {"projects": 1, "files": 1})
        self.assert_ok(self.command("index", "yank", "demo==2.0", "--reason", "why", "--out", self.out))
        self.assertIn('"yanked": "why"', self.files()["simple/demo/index.json"].decode())
        would = self.assert_ok(self.command("index", "remove", "demo==1.0", "--variant", "v3", "--out", self.out, "--dry-run"))
        self.assertIn("would remove", would.out)
        self.assert_ok(self.command("index", "remove", "demo==1.0", "--variant", "v3", "--out", self.out))
        self.assert_ok(self.command("index", "remove", "other", "--out", self.out))
        self.assertEqual(self.assert_index(self.files()), {"demo"})
        self.assertEqual({path for path in self.files() if "v3" in path or "variants" in path or "other/" in path}, set())
        told = self.assert_ok(self.command("index", "lint", self.out, "--json")).json
        self.assertEqual((told["folder"], told["projects"], told["problems"]), (self.out, 1, []))
        # Again the same: nothing is written.
        before = {path: os.stat(self.apache.root / PLACE[1:] / path).st_mtime_ns for path in self.files()}
        self.assert_ok(self.add(*(self.root / "dist").glob("demo-2.0*")))
        self.assert_ok(self.command("index", "update", "--out", self.out))
        self.assertEqual({path: os.stat(self.apache.root / PLACE[1:] / path).st_mtime_ns for path in self.files()}, before)
        record = {"filename": "far-1.0-py3-none-any.whl", "url": "https://files.example/far-1.0-py3-none-any.whl", "hashes": {"sha256": "0" * 64}, "size": 1}
        (self.root / "records").write_text(json.dumps(record))
        self.assert_ok(self.command("index", "update", "--records", self.root / "records", "--out", self.out))
        self.assertEqual(self.names(), {"demo", "far"})
        self.assert_fails(self.command("index", "remove", "absent", "--out", self.out), 1, "has no absent")
        other = self.wheel(folder="other", files={"demo.py": "OTHER = 1\n"})
        self.assert_fails(self.add(other), 1, "differs from", f"--out {self.out}")

    def test_somebody_elses_folder_is_left_alone(self):
        theirs = self.apache.root / PLACE[1:] / "simple"
        theirs.mkdir(parents=True)
        (theirs / "index.html").write_text("years of work")
        for path in (theirs, theirs.parent, theirs.parent.parent):
            os.chown(path, *(2 * (65534,) if os.geteuid() == 0 else (-1, -1)))
        self.assert_fails(self.add(self.wheel()), 1, f"{self.out}/simple is there", "left as it is")
        self.assertEqual(self.files(), {"simple/index.html": b"years of work"})
        self.assertFalse((theirs.parent / ".axle-change").exists())
        self.assert_fails(self.command("index", "update", "--out", self.apache.url("/none")), 1, "does not contain a package index")
        self.assertFalse((self.apache.root / "none").exists())

    def test_a_mirror(self):
        source = self.root / "source"
        self.assert_ok(self.variant("index", "add", self.wheel(), self.wheel(label="v3"), "--out", source))
        words = ("mirror", "demo", "-i", (source / "simple").as_uri(), "--out", self.out, "--for", "x86_64:v3", "--for", "x86_64:v1")
        self.assert_ok(self.command(*words))
        self.assertEqual(self.assert_index(self.files()), {"demo"})
        before = {path: os.stat(self.apache.root / PLACE[1:] / path).st_mtime_ns for path in self.files()}
        self.assert_ok(self.command(*words))
        self.assertEqual({path: os.stat(self.apache.root / PLACE[1:] / path).st_mtime_ns for path in self.files()}, before)


class Logins(ApacheCase):
    login = ("me", SECRET)

    def test_where_a_login_comes_from(self):
        wheel = self.wheel()
        for words in ((), ("--out", self.apache.url(PLACE, "me:wrong"))):
            self.assert_fails(self.command("index", "add", wheel, "--out", self.out, *words), 1, "HTTP 401", "user name and password" if words else "~/.netrc")
        self.assertEqual(list(self.apache.root.iterdir()), [])
        netrc = self.root / "netrc"
        netrc.write_text(f'machine 127.0.0.1 login me password "{SECRET}"\n')
        self.assert_ok(self.add(wheel, env={"NETRC": str(netrc)}))
        self.assert_ok(self.add(self.wheel(version="2.0"), out=self.apache.url(PLACE, "me:pass%3Aword%2F%20with%20spaces"), env={}))
        self.assert_ok(self.command("index", "lint", self.apache.url(PLACE, "me"), env={"NETRC": str(netrc)}))
        self.assertEqual(self.assert_index(self.files()), {"demo"})
        told = self.command("mirror", "demo", "-i", self.apache.url(PLACE + "/simple"), "--out", self.apache.url("/copy", "me:pass%3Aword%2F%20with%20spaces"), "--python",
                            self.make_venv(), "--json", env={"NETRC": str(netrc)})
        self.assertEqual(self.assert_ok(told).json["dest"], self.apache.url("/copy"))
        self.assertNotIn("with%20spaces", told.out + told.err)
        # One that is wrong in the middle of it leaves what was there.
        before = self.files()
        self.assert_fails(self.add(self.wheel(version="3.0"), out=self.apache.url(PLACE, "me:no")), 1, "HTTP 401")
        self.assertEqual(self.files(), before)

    def test_it_is_not_sent_in_clear_text(self):
        for host in ("files.example", "127.evil.example", "127.0.0.1.evil.example"):
            told = self.add(self.wheel(), out=f"http://me:pass%3Aword@{host}/wheels")
            self.assert_fails(told, 2, "not encrypted", f"--trusted-host {host}")
            self.assertNotIn("pass%3Aword", told.err)


class Certificates(WebDavCase):
    def test_an_authority_that_nobody_knows(self):
        if not shutil.which("openssl"):
            self.skipTest("openssl is not there, which makes the certificate")
        apache = Apache(self, ("me", SECRET), tls=True)
        self.out = apache.url(PLACE, "me:pass%3Aword%2F%20with%20spaces")
        wheel = self.wheel()
        self.assert_fails(self.add(wheel, "--retries", "0"), 1, "certificate is not trusted")
        self.assertEqual(list(apache.root.iterdir()), [])
        self.assert_ok(self.add(wheel, "--cert", apache.certificate))
        self.assert_ok(self.add(self.wheel(version="2.0"), "--trusted-host", f"127.0.0.1:{apache.port}"))
        self.assertEqual({path.name for path in (apache.root / PLACE[1:] / "simple/demo").glob("*.whl")}, {"demo-1.0-py3-none-any.whl", "demo-2.0-py3-none-any.whl"})


class Together(ApacheCase):
    def test_publishers_at_once_lose_nothing(self):
        """Three add to one release, one project and projects of their own; whoever reads meanwhile finds whole pages."""
        for number in range(6):
            self.wheel("demo", f"{number}.0"), self.wheel(f"own{number}", "1.0")
        for label in ("v1", "v2", "v3"):
            self.wheel("demo", "50.0", label)
        self.assert_ok(self.add(self.wheel("base")))
        folder, stop, seen = self.root / "dist", threading.Event(), []

        def publish(part):
            for number in range(part, 6, 3):
                self.assert_ok(self.add(*folder.glob(f"demo-{number}.0-*"), *folder.glob(f"own{number}-*"), *folder.glob(f"demo-50.0-*-v{part + 1}.whl")))

        def page_of(path):
            """Apache finds out how long a file is before it opens it: a page replaced in between comes with the length of the old one.
            The file itself is whole at any time."""
            page = self.ask(path)
            if page == 404:
                return page
            try:
                return json.loads(page)
            except json.JSONDecodeError:
                return json.loads((self.apache.root / PLACE[1:] / "simple" / path).read_bytes())

        def watch():
            known = set()
            while not stop.is_set():
                page = page_of("demo/index.json")
                if page == 404 and not known:
                    continue
                now = {one["filename"] for one in page["files"] if one["filename"].endswith(".whl")}
                self.assertLessEqual(known, now)
                for name in now - known:
                    self.assertIsInstance(self.ask("demo/" + name), bytes)
                known = now
                self.assertIsInstance(self.ask("demo/"), (bytes, int))
                self.assertIn("base", {one["name"] for one in page_of("index.json")["projects"]})
                seen.append(len(now))

        with concurrent.futures.ThreadPoolExecutor() as pool:
            watching = pool.submit(watch)
            try:
                list(pool.map(publish, range(3)))
            finally:
                stop.set()
            watching.result()
        self.assertGreater(len(set(seen)), 1)
        self.assertEqual(self.assert_index(self.files()), {"base", "demo"} | {f"own{number}" for number in range(6)})
        self.assertEqual(self.listed(), {path.name for path in folder.glob("demo-*")} | {"demo-50.0-variants.json"})
        self.assertEqual(set(json.loads(self.ask("demo/demo-50.0-variants.json"))["variants"]), {"v1", "v2", "v3"})
        self.assertEqual(self.aside(), [])


    def test_the_first_two_of_an_index(self):
        """At the same moment, where nothing is: folders are made by both."""
        wheels = [self.wheel("shared", "1.0"), self.wheel("shared", "2.0")], [self.wheel("one", "1.0"), self.wheel("two", "1.0")]
        for place in range(12):
            out = self.apache.url(f"/new/st{place}")
            with concurrent.futures.ThreadPoolExecutor() as pool:
                for told in pool.map(lambda part: self.add(wheels[0][part], wheels[1][part], out=out), range(2)):
                    self.assert_ok(told)
            page = json.loads(self.ask("index.json", out))
            self.assertEqual({one["name"] for one in page["projects"]}, {"shared", "one", "two"})
            self.assertEqual(len(json.loads(self.ask("shared/index.json", out))["files"]), 2)

    def test_an_empty_folder_is_nobodys_index(self):
        """What two left that failed at the beginning."""
        theirs = self.apache.root / PLACE[1:] / "simple"
        theirs.mkdir(parents=True)
        for path in (theirs, theirs.parent, theirs.parent.parent):
            os.chown(path, *(2 * (65534,) if os.geteuid() == 0 else (-1, -1)))
        self.assert_ok(self.add(self.wheel()))
        self.assert_index(self.files())

    def test_lint_looks_at_each_file(self):
        self.assert_ok(self.add(self.wheel("demo", "1.0", "v1"), self.wheel("demo", "1.0"), self.wheel("gone"), self.wheel("short")))
        self.assertEqual(self.assert_ok(self.command("index", "lint", self.out, "--json")).json["problems"], [])
        folder = self.apache.root / PLACE[1:] / "simple"
        (folder / "gone/gone-1.0-py3-none-any.whl").unlink()
        (folder / "gone/gone-1.0-py3-none-any.whl.metadata").unlink()
        (folder / "short/short-1.0-py3-none-any.whl").write_bytes(b"xy")
        told = self.command("index", "lint", self.out, "--json")
        self.assertEqual(told.code, 1)
        self.assertEqual({(one["code"], one["subject"]) for one in told.json["problems"]} - {("missing_file", "gone-1.0-py3-none-any.whl.metadata")},
                         {("missing_file", "gone-1.0-py3-none-any.whl"), ("wrong_size", "short-1.0-py3-none-any.whl"),
                          *((one["code"], one["subject"]) for one in told.json["problems"] if one["code"] == "unreadable_metadata")})
        self.assertIn(("missing_file", "gone-1.0-py3-none-any.whl.metadata"), {(one["code"], one["subject"]) for one in told.json["problems"]})
        self.assert_fails(self.command("index", "lint", self.out, "--deep"), 2, "--deep reads whole wheels of a folder")


class CutOff(ApacheCase):
    """At each request of a change, and of the first change of an index."""

    def setUp(self):
        super().setUp()
        self.before = BeforeApache(self, self.apache)
        self.near = self.before.url(PLACE)
        self.first = [self.wheel(), self.wheel(label="v3"), self.wheel("other")]
        self.second = [self.wheel(version="2.0"), self.wheel(label="v4"), self.wheel("third")]

    def reset(self, with_index):
        subprocess.run(["rm", "-rf", *map(str, self.apache.root.iterdir())], check=True)
        if with_index:
            self.assert_ok(self.add(*self.first, env=EPOCH))
        self.before.seen.clear()

    def assert_readable(self):
        """Pages name what is there, whatever is not finished."""
        files = self.files()
        for path, data in files.items():
            if path.endswith("/index.json") and path.count("/") == 2:
                for one in json.loads(data)["files"]:
                    there = files[path.removesuffix("index.json") + one["filename"]]
                    if one["filename"].endswith(".whl"):
                        self.assertEqual(len(there), one["size"])
        for one in json.loads(files["simple/index.json"])["projects"] if "simple/index.json" in files else []:
            self.assertIn(f"simple/{one['name']}/index.json", files)

    def at_each_request(self, what, with_index, *words):
        words = words or ("add", *(self.second if with_index else self.first))

        def change(out):
            return self.command("index", *words, "--out", out, env=EPOCH)
        self.reset(with_index)
        self.assert_ok(change(self.near))
        whole, count = self.files(), len(self.before.seen)
        self.assertGreater(count, 10)
        for number in range(random.randrange(1, 4), count + 1, 3):  # each third; another time others
            with self.subTest(f"{what} at request {number} of {count}"):
                self.reset(with_index)
                what(number, words, change)
                self.assert_readable()
                self.before.fault = lambda request: None
                self.before.end_locks()
                self.assert_ok(change(self.out))
                now = self.files()
                self.assertEqual({path for path in {*now, *whole} if now.get(path) != whole.get(path)}, set())

    def nth(self, number, fault):
        def at(request):
            with self.before.mutex:
                count = len(self.before.seen)
            return fault(request) if count == number else None
        self.before.fault = at

    def once_cut(self, number, words, change):
        self.nth(number, lambda request: "cut")
        self.assert_ok(change(self.near))

    def answer_lost(self, number, words, change):
        self.nth(number, lambda request: "lose" if request.method != "LOCK" else None)
        self.assert_ok(change(self.near))

    def killed(self, number, words, change):
        running = subprocess.Popen([str(VARIANT), "index", *map(str, words), "--out", self.near], env={**self.env, **EPOCH}, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)

        def kill(request):
            running.kill()
            running.wait(30)
            return "cut"
        self.nth(number, kill)
        running.wait(60)

    def test_a_cut_connection(self):
        self.at_each_request(self.once_cut, True)

    def test_a_lost_answer(self):
        self.at_each_request(self.answer_lost, True)

    def test_killed(self):
        self.at_each_request(self.killed, True)

    def test_killed_while_an_index_is_made(self):
        self.at_each_request(self.killed, False)

    def test_killed_while_it_yanks(self):
        self.at_each_request(self.killed, True, "yank", "demo==1.0", "--reason", "why")

    def test_killed_while_it_writes_pages_anew(self):
        self.at_each_request(self.killed, True, "update", self.wheel("late", folder="more").parent)

    def test_a_file_that_arrived_is_not_sent_again(self):
        self.reset(True)
        large = self.wheel("large", files={"large.bin": os.urandom(3 << 20)})

        def fault(request):
            return (503, {"Retry-After": "0"}, b"") if request.method == "LOCK" else None
        self.before.fault = fault
        self.assert_fails(self.add(large, "--retries", "0", out=self.near), 1, "HTTP 503")
        self.assertNotIn("large", self.names())
        self.before.fault = lambda request: None
        self.before.seen.clear()
        sizes = []
        self.before.gate = lambda request: sizes.append(len(request.body)) if request.method == "PUT" else None
        self.assert_ok(self.add(large, out=self.near))
        self.assertLess(max(sizes), 1 << 20)
        self.assertEqual(self.assert_index(self.files()), {"demo", "other", "large"})


class Refusals(WebDavCase):
    def test_a_folder_that_is_not_writable(self):
        apache = Apache(self)
        self.out = apache.url(PLACE)
        self.assert_ok(self.add(self.wheel()))
        place = apache.root / PLACE[1:]
        before = tree(place)
        folders = [place / "simple/demo", place / "simple", place / ".axle-change", place]
        for folder in folders:
            folder.chmod(0o555)
        try:
            self.assert_fails(self.add(self.wheel(version="2.0"), "--retries", "0"), 1, "the server does not let us write it", "HTTP 50")
        finally:
            for folder in reversed(folders):
                folder.chmod(0o755)
        self.assertEqual(tree(place), before)
        apache.root.chmod(0o555)
        self.assert_fails(self.add(self.wheel(), "--retries", "0", out=apache.url("/new")), 1, "HTTP")
        apache.root.chmod(0o755)

    def test_a_full_disk(self):
        """A file may not be larger than 1 MiB, which ends a write as a full disk does."""
        apache = Apache(self, largest_file=1 << 20)
        self.out = apache.url(PLACE)
        self.assert_ok(self.add(self.wheel()))
        before = tree(apache.root / PLACE[1:] / "simple")
        self.assert_fails(self.add(self.wheel("large", files={"large.bin": os.urandom(2 << 20)}), "--retries", "0"), 1, "HTTP 5", "disk")
        self.assertEqual(tree(apache.root / PLACE[1:] / "simple"), before)
        self.assert_ok(self.add(self.wheel(version="2.0")))

    def test_a_server_without_webdav(self):
        apache = Apache(self, dav="Off")
        self.assert_fails(self.add(self.wheel(), out=apache.url(PLACE)), 1, "HTTP 405", "WebDAV server")

    def test_a_limit_of_the_server(self):
        apache = Apache(self, settings="LimitRequestBody 100000")
        self.assert_fails(self.add(self.wheel(files={"large.bin": os.urandom(1 << 18)}), out=apache.url(PLACE)), 1, "HTTP 413", "LimitRequestBody")


if __name__ == "__main__":
    unittest.main()
