"""`variant mirror --out s3://…`: an index in a storage of S3's kind, which pip, uv and `variant` install from."""

import hashlib
import json
import os
import pathlib
import subprocess
import sys
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from loopback import Loopback
from storage import KEY_ID, SECRET, Storage, error
from support import VARIANT, EnvironmentTestCase, Wheel, publish_levels

MACHINES = ("x86_64:v2", "x86_64:v3", "x86_64:v4", "gh200")
PLACE = "s3://wheels/team/a"
PLAIN = "team/a/simple/plain/plain-1.0-py3-none-any.whl"


class StorageCase(EnvironmentTestCase):
    def setUp(self):
        super().setUp()
        self.storage = Storage(self)
        self.url = f"{self.storage.url}/wheels/team/a/simple"

    def mirror(self, *words, out=PLACE, index=None, env=None, storage=None, **options):
        told = self.variant("mirror", *words, "--index-url", index or self.index.url, "--out", out, "--python", self.venv,
                            env={**(storage or self.storage).env, **(env or {})}, **options)
        self.assert_no_secrets(told.out + told.err)
        return told

    def assert_no_secrets(self, text):
        for secret in filter(None, (KEY_ID, SECRET, self.storage.token)):
            self.assertNotIn(secret, text)

    def fleet(self, machines=MACHINES):
        return [word for machine in machines for word in ("--for", machine)]

    def wheels(self, url, machine, name="demo"):
        told = self.assert_ok(self.variant("resolve", name, "--index-url", url, "--json", "--python", self.venv, "--for", machine)).json
        return {one["wheel"] for one in told["packages"]}

    def page(self, project):
        data, _ = self.storage.objects()[f"team/a/simple/{project}/index.json"]
        return {file["filename"]: file for file in json.loads(data)["files"]}

    def arriving(self):
        return list((self.root / "home/.cache/axle/mirrors").glob("work-*"))

    def assert_whole(self):
        """What a page names is there, as the page says."""
        objects = self.storage.objects()
        for key, (data, _) in objects.items():
            if not key.endswith("/index.json") or key.count("/") < 4:
                continue
            folder = key.removesuffix("index.json")
            for file in json.loads(data)["files"]:
                there, _ = objects[folder + file["filename"]]
                self.assertEqual(file["hashes"]["sha256"], hashlib.sha256(there).hexdigest())
                if file["filename"].endswith(".whl"):
                    self.assertIn(folder + file["filename"] + ".metadata", objects)
        self.assertEqual([what for what, _ in self.storage.bad], [])


class Kept(StorageCase):
    def setUp(self):
        super().setUp()
        publish_levels(self.index, plain=False, requires=["plain>=1"])
        self.index.add_wheel(Wheel("plain", "1.0"))
        self.index.add_wheel(Wheel("plain", "2.0", tags="py3-none-manylinux_2_17_aarch64", requires=["arm"]))
        self.index.add_wheel(Wheel("arm", "1.0"))

    def test_each_machine_gets_from_it_what_it_gets_from_the_index(self):
        result = self.assert_ok(self.mirror("demo", *self.fleet(), "--json"))
        self.assertNotIn("alone", result.err)
        self.assertEqual(result.json["dest"], PLACE)
        for machine in MACHINES:
            self.assertEqual(self.wheels(self.url, machine), self.wheels(self.index.url, machine))
        self.assert_whole()
        self.assertEqual(self.arriving(), [])

    def test_it_is_the_folder_form_and_what_installers_ask_for(self):
        self.assert_ok(self.mirror("demo", *self.fleet()))
        folder = self.root / "mirror"
        self.assert_ok(self.mirror("demo", *self.fleet(), out=folder))
        files = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        objects = {key.removeprefix("team/a/"): data for key, (data, _) in self.storage.objects().items()}
        self.assertEqual({key: data for key, data in objects.items() if not key.endswith("/")}, files)
        self.assertEqual({key: data for key, data in objects.items() if key.endswith("/")},
                         {name.removesuffix("index.html"): data for name, data in files.items() if name.endswith("index.html")})
        kinds = {key.removeprefix("team/a/"): headers for key, (_, headers) in self.storage.objects().items()}
        self.assertEqual(kinds["simple/demo/"], {**kinds["simple/demo/index.html"]})
        self.assertEqual(kinds["simple/demo/"]["content-type"], "text/html; charset=utf-8")
        self.assertEqual(kinds["simple/demo/"]["cache-control"], "no-cache")
        self.assertEqual(kinds["simple/plain/plain-1.0-py3-none-any.whl"]["x-amz-meta-sha256"],
                         hashlib.sha256(files["simple/plain/plain-1.0-py3-none-any.whl"]).hexdigest())

    def test_pip_uv_and_variant_install_from_it(self):
        self.assert_ok(self.mirror("plain", *self.fleet(("x86_64:v3", "gh200"))))
        self.assert_ok(self.pip("install", "plain", "-i", self.url + "/"))
        self.assertEqual(self.installed(), {"plain": ("1.0", None)})
        for name, install in (("by-uv", lambda python: self.uv("pip", "install", "plain", "--default-index", self.url, "--python", python)),
                              ("ours", lambda python: self.variant("install", "plain", "--index-url", self.url, "--python", python))):
            other = self.make_venv(self.root / name)
            self.assert_ok(install(other / "bin/python"))
            self.assertEqual(self.installed(other), {"plain": ("1.0", None)})

    def test_files_come_before_the_pages_that_name_them(self):
        self.assert_ok(self.mirror("demo", *self.fleet()))
        self.index.add_wheel(Wheel("plain", "1.5"))
        self.storage.seen.clear()
        self.assert_ok(self.mirror("demo", *self.fleet()))
        puts = [what.removeprefix("PUT team/a/simple/") for what in self.storage.writes()]
        is_page = [name.endswith(("/", "index.json", "index.html")) or not name for name in puts]
        self.assertEqual(is_page, sorted(is_page), puts)
        self.assertIn("plain/plain-1.5-py3-none-any.whl", puts)

    def test_a_reader_never_sees_a_page_that_names_a_missing_file(self):
        whole = self.assert_whole
        self.storage.gate = lambda request: whole() if request.method == "PUT" else None
        failures = []
        def watch(request):
            try:
                whole()
            except (AssertionError, KeyError) as problem:
                failures.append((request.what, problem))
        self.storage.gate = watch
        self.assert_ok(self.mirror("demo", *self.fleet()))
        self.index.add_wheel(Wheel("plain", "1.5"))
        self.assert_ok(self.mirror("demo", *self.fleet()))
        self.assertEqual(failures, [])

    def test_again_only_what_is_new_comes(self):
        self.assert_ok(self.mirror("demo", *self.fleet()))
        self.storage.seen.clear()
        again = self.assert_ok(self.mirror("demo", *self.fleet(), "--json"))
        self.assertTrue(all(one["was_there"] for one in again.json["files"]))
        self.assertEqual(self.storage.writes(), [])
        self.index.add_wheel(Wheel("plain", "1.5"))
        added = self.assert_ok(self.mirror("demo", *self.fleet(), "--json"))
        self.assertEqual([one["file"] for one in added.json["files"] if not one["was_there"]], ["plain-1.5-py3-none-any.whl"])
        self.assertEqual(sorted(what.removeprefix("PUT team/a/simple/plain/") for what in self.storage.writes()),
                         ["", "index.html", "index.json", "plain-1.5-py3-none-any.whl", "plain-1.5-py3-none-any.whl.metadata"])
        self.assertIn("plain-1.0-py3-none-any.whl", self.page("plain"))
        self.assert_whole()

    def test_a_second_variant_joins_the_release(self):
        self.assert_ok(self.mirror("demo", "--for", "x86_64:v2"))
        self.assert_ok(self.mirror("demo", "--for", "x86_64:v4"))
        for machine in ("x86_64:v2", "x86_64:v4"):
            self.assertEqual(self.wheels(self.url, machine), self.wheels(self.index.url, machine))
        self.assert_whole()

    def test_a_dry_run_changes_nothing(self):
        told = self.assert_ok(self.mirror("demo", *self.fleet(), "--dry-run", "--json")).json
        self.assertFalse(any(one["was_there"] for one in told["files"]))
        self.assertEqual((self.storage.objects(), self.storage.writes()), ({}, []))
        self.assert_ok(self.mirror("demo", *self.fleet()))
        told = self.assert_ok(self.mirror("demo", *self.fleet(), "--dry-run", "--json")).json
        self.assertTrue(all(one["was_there"] for one in told["files"]))

    def test_another_file_under_a_mirrored_name(self):
        self.assert_ok(self.mirror("plain"))
        data, headers = self.storage.objects()[PLAIN]
        self.storage.objects()[PLAIN] = (b"x" * len(data), {**headers, "x-amz-meta-sha256": hashlib.sha256(b"x" * len(data)).hexdigest()})
        for words in ([], ["--dry-run"]):
            self.assert_fails(self.mirror("plain", *words), 1, f"{PLACE}/simple/plain/plain-1.0-py3-none-any.whl is not the file",
                              f"variant index remove plain-1.0-py3-none-any.whl --out {PLACE}")
        self.assert_ok(self.variant("index", "remove", "plain-1.0-py3-none-any.whl", "--out", PLACE, env=self.storage.env))
        self.assertNotIn(PLAIN, self.storage.objects())
        self.assert_ok(self.mirror("plain"))
        self.assertEqual(self.storage.objects()[PLAIN][0], data)
        self.assert_whole()

    def test_an_object_that_is_gone_comes_again(self):
        self.assert_ok(self.mirror("plain"))
        for gone in (PLAIN, PLAIN + ".metadata"):
            del self.storage.objects()[gone]
            self.assert_ok(self.mirror("plain"))
            self.assert_whole()

    def test_words_and_places(self):
        for out, words in (("s3://", ["names no bucket"]), ("s3:///a", ["names no bucket"]), ("s3://wheels/a/../b", [".."]),
                           ("s3://key:pass@wheels/a", ["login", "AWS_ACCESS_KEY_ID"]), ("s3://wheels//a", ["empty"])):
            self.assert_fails(self.mirror("plain", out=out), 2, *words)
        self.storage.objects()["team/a/simple/thesis.txt"] = (b"mine", {})
        self.assert_fails(self.mirror("plain"), 1, f"{PLACE}/simple has objects", "another prefix")
        self.assertEqual(set(self.storage.objects()), {"team/a/simple/thesis.txt"})

    def test_the_whole_bucket_and_strange_prefixes(self):
        for out in ("s3://wheels", "s3://wheels/a b+c/ü~(1)'!*", "s3://wheels/slash/"):
            self.assert_ok(self.mirror("plain", out=out))
            prefix = out.removeprefix("s3://wheels").strip("/")
            self.assertIn((prefix + "/" if prefix else "") + "simple/plain/", self.storage.objects())
        self.assertEqual(self.storage.bad, [])

    def test_a_storage_without_folder_keys(self):
        self.storage.folder_keys = False
        told = self.assert_ok(self.mirror("plain"))
        self.assertIn("takes no objects whose key ends with", told.err)
        self.assertFalse([key for key in self.storage.objects() if key.endswith("/")])
        self.assert_whole()

    def test_removing(self):
        self.assert_ok(self.mirror("demo", *self.fleet(("x86_64:v2", "x86_64:v4"))))
        remove = lambda *words: self.variant("index", "remove", *words, "--out", PLACE, env=self.storage.env)
        before = dict(self.storage.objects())
        told = self.assert_ok(remove("demo==1.0", "--variant", "v4", "--dry-run"))
        self.assertIn("would remove demo: demo-1.0-py3-none-any-v4.whl", told.out)
        self.assertEqual(self.storage.objects(), before)
        self.assert_ok(remove("demo==1.0", "--variant", "v4"))
        self.assertFalse([key for key in self.storage.objects() if "v4" in key])
        self.assert_whole()
        self.assertEqual(self.wheels(self.url, "x86_64:v4"), self.wheels(self.index.url, "x86_64:v2"))
        self.assert_ok(remove("demo"))
        self.assertFalse([key for key in self.storage.objects() if key.startswith("team/a/simple/demo")])
        self.assertEqual([one["name"] for one in json.loads(self.storage.objects()["team/a/simple/index.json"][0])["projects"]], ["plain"])
        self.assert_fails(remove("demo"), 1, "demo")

    def test_a_folder_is_published(self):
        wheels = self.root / "dist"
        for one in (Wheel("plain", "1.0"), Wheel("other", "1.0")):
            one.write(wheels)
        told = self.assert_ok(self.variant("index", "build", wheels, "--out", PLACE, "--json", env=self.storage.env)).json
        self.assertEqual((told["folder"], told["index_url"]), (PLACE, self.url))
        self.assert_ok(self.pip("install", "other", "-i", self.url))
        self.assert_whole()


class Keys(StorageCase):
    def setUp(self):
        super().setUp()
        self.index.add_wheel(Wheel("plain", "1.0"))
        self.aws = self.root / "home/.aws"
        self.aws.mkdir()
        self.none = {"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_ENDPOINT_URL_S3": "", "AWS_SESSION_TOKEN": ""}

    def write(self, name, text):
        (self.aws / name).write_text(text)

    def test_of_the_environment_with_a_token(self):
        self.storage.token = "temporary+token/=="
        self.assert_ok(self.mirror("plain"))
        self.assert_fails(self.mirror("plain", env={"AWS_SESSION_TOKEN": "another"}), 1, "InvalidToken", "AWS_SESSION_TOKEN")

    def test_of_a_profile(self):
        self.storage.region = "eu-north-1"
        self.write("credentials", f"[default]\naws_access_key_id = nobody\naws_secret_access_key = nothing\n\n[team]\naws_access_key_id={KEY_ID}\naws_secret_access_key={SECRET}\n")
        self.write("config", f"[default]\nregion = us-west-2\n[profile team]\nregion = eu-north-1\nendpoint_url = {self.storage.url}\n")
        self.assert_ok(self.mirror("plain", env={**self.none, "AWS_PROFILE": "team"}))
        self.assert_fails(self.mirror("plain", env={**self.none, "AWS_ENDPOINT_URL": self.storage.url, "AWS_REGION": "eu-north-1"}), 1,
                          "InvalidAccessKeyId", "check AWS_ACCESS_KEY_ID")
        self.assert_fails(self.mirror("plain", env={**self.none, "AWS_PROFILE": "tema"}), 2, "`tema`", str(self.aws / "credentials"))
        self.assert_ok(self.mirror("plain", env={**self.none, "AWS_PROFILE": "team", "AWS_CONFIG_FILE": str(self.aws / "nothing"),
                                                 "AWS_ENDPOINT_URL": self.storage.url, "AWS_DEFAULT_REGION": "eu-north-1"}))

    def test_what_is_missing_or_wrong_is_said(self):
        ask = lambda **env: self.mirror("plain", env={**self.none, "AWS_ENDPOINT_URL": self.storage.url, **env})
        self.assert_fails(ask(), 2, f"no keys for {PLACE}", "AWS_ACCESS_KEY_ID", "~/.aws/credentials")
        self.assert_fails(ask(AWS_ACCESS_KEY_ID=KEY_ID), 2, "no secret access key")
        self.assert_fails(ask(AWS_ACCESS_KEY_ID=KEY_ID, AWS_SECRET_ACCESS_KEY=SECRET + "\n"), 2, "blanks")
        self.assert_fails(ask(AWS_ACCESS_KEY_ID=KEY_ID, AWS_SECRET_ACCESS_KEY=SECRET, AWS_REGION="a b"), 2, "region")
        self.write("config", "[profile sso]\nsso_session = work\n[default]\ncredential_process = x\n")
        self.assert_fails(ask(AWS_PROFILE="sso"), 2, "sso_session", "export-credentials")
        self.assert_fails(ask(), 2, "credential_process")
        self.write("credentials", f"[default]\naws_access_key_id = {KEY_ID}\nno sense {SECRET}\n")
        self.assert_fails(ask(), 2, str(self.aws / "credentials") + ":3")
        self.assertEqual(self.storage.seen, [])

    def test_endpoints(self):
        ask = lambda url, *words: self.mirror("plain", *words, "--retries", "0", "--timeout", "2", env={"AWS_ENDPOINT_URL_S3": url})
        for url in ("storage.example:9000", "ftp://storage.example", "https://anna:hunter2@storage.example", "https://storage.example/?a=b"):
            told = self.assert_fails(ask(url), 2, "no endpoint of a storage", "AWS_ENDPOINT_URL_S3")
            self.assertNotIn("hunter2", told.err)
        self.assert_fails(ask("http://storage.example:9000"), 2, "http://storage.example:9000 is not encrypted", "--trusted-host storage.example")
        # No proxy's answer to it: the name of the host is one that nobody has.
        told = ask("http://storage.invalid:9000", "--trusted-host", "storage.invalid")
        self.assertNotIn("is not encrypted", told.err)
        self.assert_ok(ask(self.storage.url.replace("127.0.0.1", "localhost") + "/"))

    def test_nothing_stores_them(self):
        self.assert_ok(self.mirror("plain", "-v"))
        for path in (self.root / "home").rglob("*"):
            if path.is_file():
                text = path.read_bytes()
                self.assertNotIn(SECRET.encode(), text, path)
                self.assertNotIn(b"Signature=", text, path)
        for data, headers in self.storage.objects().values():
            self.assert_no_secrets(data.decode("latin-1") + str(headers))

    def test_logins_of_indexes_are_not_sent(self):
        (self.root / "home/.netrc").write_text("machine 127.0.0.1 login anna password of-the-index\n")
        (self.root / "home/.netrc").chmod(0o600)
        self.assert_ok(self.mirror("plain"))
        self.assertEqual(self.storage.bad, [])


class Refused(StorageCase):
    def setUp(self):
        super().setUp()
        self.index.add_wheel(Wheel("plain", "1.0"))

    def on(self, begin, answer, times=1000):
        """Answers so for requests whose `what` begins like this; returns those that were."""
        hit = []
        def fault(request):
            if request.what.startswith(begin) and len(hit) < times:
                hit.append(request)
                return answer(request) if callable(answer) else answer
            return None
        self.storage.fault = fault
        return hit

    def test_what_a_storage_says(self):
        self.assert_fails(self.mirror("plain", env={"AWS_SECRET_ACCESS_KEY": "another"}), 1, "SignatureDoesNotMatch", "AWS_SECRET_ACCESS_KEY",
                          f"{self.url}/index.json")
        self.assert_fails(self.mirror("plain", out="s3://nothing/a"), 1, "NoSuchBucket", "create the bucket")
        self.storage.region = "eu-west-3"
        self.assert_fails(self.mirror("plain"), 1, "AWS_REGION=eu-west-3")
        self.storage.region = "us-east-1"
        self.on("PUT", error(403, "AccessDenied", f"User {KEY_ID} may not do that with {SECRET}"))
        self.assert_fails(self.mirror("plain"), 1, "AccessDenied", "s3:PutObject", "***")
        self.on("PUT", error(400, "RequestTimeTooSkewed"))
        self.assert_fails(self.mirror("plain"), 1, "set the clock")
        self.on("PUT", error(507, "XMinioStorageFull"))
        self.assert_fails(self.mirror("plain", "--retries", "0"), 1, "free space")
        self.assertEqual(self.storage.objects(), {})

    def test_a_busy_one_is_asked_again(self):
        hit = self.on("PUT", error(503, "SlowDown", "Please reduce your request rate."), times=2)
        self.assert_ok(self.mirror("plain"))
        self.assertEqual(len(hit), 2)
        self.assert_whole()

    def test_one_that_stays_busy(self):
        self.on("PUT team/a/simple/plain/", error(503, "SlowDown", headers={"Retry-After": "0"}))
        self.assert_fails(self.mirror("plain", "--retries", "1"), 1, "SlowDown", "run the command again")
        # Nothing names what is not there, and what arrived is kept.
        self.assertFalse([key for key in self.storage.objects() if "/plain/" in key])
        self.storage.fault = lambda request: None
        self.assert_ok(self.mirror("plain"))
        self.assert_whole()

    def test_cut_connections(self):
        hit = self.on(f"PUT {PLAIN}", "cut", times=1)
        self.assert_ok(self.mirror("plain"))
        self.assertEqual(len(hit), 1)
        self.assert_whole()
        self.storage.objects().clear()
        self.on(f"PUT {PLAIN}", "cut")
        self.assert_fails(self.mirror("plain", "--retries", "1"), 1, f"{self.url}/plain/plain-1.0-py3-none-any.whl")

    def test_redirects_are_not_followed(self):
        other = Loopback(self)
        for status in (301, 302, 307, 308):
            self.on("PUT", error(status, "TemporaryRedirect", headers={"Location": other.url("/wheels/x")}))
            self.assert_fails(self.mirror("plain"), 1, "keys are not sent elsewhere", other.host)
            self.on("GET", error(status, "PermanentRedirect", more="<Endpoint>elsewhere.example</Endpoint>", headers={"Location": other.url("/wheels/x")}))
            self.assert_fails(self.mirror("plain"), 1, "keys are not sent elsewhere")
            self.on("HEAD", (status, {"Location": other.url("/"), "x-amz-bucket-region": "eu-west-1"}, b""))
            self.assert_fails(self.mirror("plain"), 1, "AWS_REGION=eu-west-1")
        self.assertEqual(other.seen, [])

    def test_hostile_words(self):
        evil = "\x1b[2J\u202e" + "A" * 5000
        for body in (b"<html>" + b"x" * (3 << 20), b"\x00\xff\xfe" * 1000, b"", b"<Error><Code>" + b"B" * 5000 + b"</Code></Error>",
                     b"<!DOCTYPE a [<!ENTITY b 'c'>]><Error><Code>&b;</Code></Error>", b"<Error><Code>AccessDenied",
                     error(403, "AccessDenied", evil)[2], error(403, "A\x1b[2Jb")[2]):
            for begin in ("GET", "PUT"):
                self.on(begin, (403, {"Content-Type": "application/xml"}, body))
                told = self.assert_fails(self.mirror("plain"), 1, "403", "s3:GetObject")
                self.assertNotIn("\x1b", told.err)
                self.assertLess(len(told.err), 1500)
        self.assertEqual(self.storage.objects(), {})

    def test_pages_that_are_none(self):
        self.assert_ok(self.mirror("plain"))
        for key in ("team/a/simple/index.json", "team/a/simple/plain/index.json"):
            kept = self.storage.objects()[key]
            for data in (b"", b"[]", b"{}", b"\xff", b'{"projects": [{"name": "../x"}]}', b"[" * 100000):
                self.storage.objects()[key] = (data, kept[1])
                self.assert_fails(self.variant("index", "remove", "plain", "--out", PLACE, env=self.storage.env), 1, key)
            self.storage.objects()[key] = kept
        self.assertIn(PLAIN, self.storage.objects())

    def test_a_hash_that_is_none_or_a_lie_about_the_size(self):
        self.assert_ok(self.mirror("plain"))
        data, headers = self.storage.objects()[PLAIN]
        for bad in ({}, {"x-amz-meta-sha256": "x" * 64}, {"x-amz-meta-sha256": ""}):
            self.storage.objects()[PLAIN] = (b"another", bad)
            told = self.mirror("plain")
            self.assertIn(told.code, (0, 1))
            self.assertEqual(self.storage.objects()[PLAIN][0], data if told.code == 0 else b"another")
            self.storage.objects()[PLAIN] = (data, headers)


class Large(StorageCase):
    """A file of more than 64 MiB goes in parts of 16."""

    SIZE = 70 << 20

    @classmethod
    def setUpClass(cls):
        cls.wheel = Wheel("large", "1.0", files={"large.bin": os.urandom(cls.SIZE)})
        cls.data = cls.wheel.bytes()
        cls.wheel.bytes = lambda: cls.data

    def setUp(self):
        super().setUp()
        self.index.add_wheel(self.wheel)
        self.key = f"team/a/simple/large/{self.wheel.file_name}"

    def assert_all_there(self):
        self.assertEqual(hashlib.sha256(self.storage.objects()[self.key][0]).digest(), hashlib.sha256(self.data).digest())
        self.assertEqual(self.storage.uploads, {})
        self.assert_whole()
        self.assertEqual(self.arriving(), [])

    def test_in_parts_and_again_not_at_all(self):
        self.assert_ok(self.mirror("large"))
        self.assertEqual(len([what for what in self.storage.seen if what.startswith("PART")]), 5)
        self.assert_all_there()
        self.storage.seen.clear()
        self.assert_ok(self.mirror("large"))
        self.assertEqual(self.storage.writes(), [])

    def test_killed_in_the_middle_it_goes_on(self):
        stuck = threading.Event()
        done = []
        release = threading.Event()
        self.addCleanup(release.set)

        def gate(request):
            if request.what.startswith("PART"):
                with self.storage.lock:
                    done.append(request.what)
                    nth = len(done)
                if nth > 3:
                    stuck.set()
                    release.wait(30)
        self.storage.gate = gate
        running = subprocess.Popen([VARIANT, "mirror", "large", "--index-url", self.index.url, "--out", PLACE, "--python", str(self.venv)],
                                   env={**self.env, **self.storage.env}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.assertTrue(stuck.wait(60))
        while len(next(iter(self.storage.uploads.values()))[2]) < 3:
            pass
        import time
        time.sleep(0.5)
        running.kill()
        running.wait(30)
        self.storage.gate = lambda request: None
        there = set(next(iter(self.storage.uploads.values()))[2])
        release.set()
        self.storage.seen.clear()
        self.storage.sent = 0
        self.assert_ok(self.mirror("large"))
        sent = {int(what.split()[-1]) for what in self.storage.seen if what.startswith("PART")}
        self.assertEqual(sent, {1, 2, 3, 4, 5} - there)
        self.assertNotIn("BEGIN", " ".join(self.storage.seen))
        self.assert_all_there()

    def test_an_upload_that_somebody_removed_begins_again(self):
        self.storage.fault = lambda request: error(403, "AccessDenied") if request.what.startswith("ABORT") else "cut" if request.what.startswith("PART") and request.what.endswith(" 3") else None
        self.assert_fails(self.mirror("large", "--retries", "0"), 1, "goes on with them")
        self.assertEqual(len(self.storage.uploads), 1)
        self.storage.uploads.clear()
        self.storage.fault = lambda request: None
        self.assert_ok(self.mirror("large"))
        self.assert_all_there()

    def test_a_part_that_is_refused_ends_the_upload(self):
        self.storage.fault = lambda request: error(403, "AccessDenied") if request.what.startswith("PART") and request.what.endswith(" 3") else None
        self.assert_fails(self.mirror("large"), 1, "AccessDenied", self.wheel.file_name)
        self.assertEqual((self.storage.uploads, self.storage.objects().get(self.key)), ({}, None))
        self.storage.fault = lambda request: error(403, "AccessDenied") if request.what.startswith(("PART", "ABORT")) else None
        self.assert_fails(self.mirror("large"), 1, "AccessDenied", "may be left in the storage")
        self.storage.fault = lambda request: None
        self.assert_ok(self.mirror("large"))
        self.assertIn(self.key, self.storage.objects())

    def test_answers_that_lie(self):
        late = lambda request: (200, {}, error(500, "InternalError")[2]) if request.what.startswith("JOIN") else None
        for fault in (late, lambda request: (200, {"ETag": "x" * 5000}, b"") if request.what.startswith("PART") else None,
                      lambda request: (200, {}, b"<UploadId></UploadId>") if request.what.startswith("BEGIN") else None,
                      lambda request: (200, {"ETag": '"lie<&>"'}, b"") if request.what.startswith("PART") else None):
            self.storage.fault = fault
            self.assert_fails(self.mirror("large", "--retries", "0"), 1, self.wheel.file_name)
            self.assertNotIn(self.key, self.storage.objects())
            self.assertFalse([key for key in self.storage.objects() if "/large/" in key])
        self.storage.fault = lambda request: None
        told = self.mirror("large")
        if told.code:
            self.assert_ok(self.mirror("large"))
        self.assertIn(self.key, self.storage.objects())


if __name__ == "__main__":
    unittest.main()
