"""`variant mirror --out s3://…`: an index in a storage of S3's kind, which pip, uv and `variant` install from."""

import hashlib
import json
import unittest

from storage_case import PLACE, PLAIN, StorageCase
from fleet import MACHINES, fleet, publish_for_fleet
from loopback import Loopback
from storage import KEY_ID, SECRET
from support import Wheel


class Kept(StorageCase):
    def setUp(self):
        super().setUp()
        publish_for_fleet(self.index)

    def test_each_machine_gets_from_it_what_it_gets_from_the_index(self):
        result = self.assert_ok(self.mirror("demo", *fleet(), "--json"))
        self.assertNotIn("alone", result.err)
        self.assertEqual(result.json["dest"], PLACE)
        for machine in MACHINES:
            self.assertEqual(self.wheels(self.url, machine), self.wheels(self.index.url, machine))
        self.assert_whole()
        self.assertEqual(self.arriving(), [])

    def test_it_is_the_folder_form_and_what_installers_ask_for(self):
        self.assert_ok(self.mirror("demo", *fleet()))
        folder = self.root / "mirror"
        self.assert_ok(self.mirror("demo", *fleet(), out=folder))
        files = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        objects = {key.removeprefix("team/a/"): data for key, (data, _) in self.storage.objects().items()}
        self.assertEqual({key: data for key, data in objects.items() if not key.endswith("/")}, files)
        self.assertEqual({key: data for key, data in objects.items() if key.endswith("/")},
                         {name.removesuffix("index.html"): data for name, data in files.items() if name.endswith("/index.html")})
        kinds = {key.removeprefix("team/a/"): headers for key, (_, headers) in self.storage.objects().items()}
        self.assertEqual(kinds["simple/demo/"], {**kinds["simple/demo/index.html"]})
        self.assertEqual(kinds["simple/demo/"]["content-type"], "text/html; charset=utf-8")
        self.assertEqual(kinds["simple/demo/"]["cache-control"], "no-cache")
        self.assertEqual(kinds["simple/plain/plain-1.0-py3-none-any.whl"]["x-amz-meta-sha256"],
                         hashlib.sha256(files["simple/plain/plain-1.0-py3-none-any.whl"]).hexdigest())

    def test_pip_uv_and_variant_install_from_it(self):
        self.assert_ok(self.mirror("plain", *fleet(("x86_64:v3", "gh200"))))
        self.assert_ok(self.pip("install", "plain", "-i", self.url + "/"))
        self.assertEqual(self.installed(), {"plain": ("1.0", None)})
        for name, install in (("by-uv", lambda python: self.uv("pip", "install", "plain", "--default-index", self.url, "--python", python)),
                              ("ours", lambda python: self.variant("install", "plain", "--index-url", self.url, "--python", python))):
            other = self.make_venv(self.root / name)
            self.assert_ok(install(other / "bin/python"))
            self.assertEqual(self.installed(other), {"plain": ("1.0", None)})

    def test_files_come_before_the_pages_that_name_them(self):
        self.assert_ok(self.mirror("demo", *fleet()))
        self.index.add_wheel(Wheel("plain", "1.5"))
        self.storage.seen.clear()
        self.assert_ok(self.mirror("demo", *fleet()))
        puts = [what.removeprefix("PUT team/a/simple/") for what in self.storage.writes()]
        is_page = [name.endswith(("/", "index.json", "index.html", "page.html")) or not name for name in puts]
        self.assertEqual(is_page, sorted(is_page), puts)
        self.assertIn("plain/plain-1.5-py3-none-any.whl", puts)

    def test_a_reader_never_sees_a_page_that_names_a_missing_file(self):
        failures = []

        def watch(request):
            try:
                with self.storage.lock:
                    self.assert_whole()
            except (AssertionError, KeyError) as problem:
                failures.append((request.what, problem))
        self.storage.gate = watch
        self.assert_ok(self.mirror("demo", *fleet()))
        self.index.add_wheel(Wheel("plain", "1.5"))
        self.assert_ok(self.mirror("demo", *fleet()))
        self.assertEqual(failures, [])

    def test_again_only_what_is_new_comes(self):
        self.assert_ok(self.mirror("demo", *fleet()))
        self.storage.seen.clear()
        again = self.assert_ok(self.mirror("demo", *fleet(), "--json"))
        self.assertTrue(all(one["was_there"] for one in again.json["files"]))
        self.assertEqual(self.storage.writes(), [])
        self.index.add_wheel(Wheel("plain", "1.5"))
        added = self.assert_ok(self.mirror("demo", *fleet(), "--json"))
        self.assertEqual([one["file"] for one in added.json["files"] if not one["was_there"]], ["plain-1.5-py3-none-any.whl"])
        self.assertEqual(sorted(what.removeprefix("PUT team/a/simple/plain/") for what in self.storage.writes()),
                         ["", "index.html", "index.json", "page.html", "plain-1.5-py3-none-any.whl", "plain-1.5-py3-none-any.whl.metadata"])
        self.assertIn("plain-1.0-py3-none-any.whl", self.page("plain"))
        self.assert_whole()

    def test_a_second_variant_joins_the_release(self):
        self.assert_ok(self.mirror("demo", "--for", "x86_64:v2"))
        self.assert_ok(self.mirror("demo", "--for", "x86_64:v4"))
        for machine in ("x86_64:v2", "x86_64:v4"):
            self.assertEqual(self.wheels(self.url, machine), self.wheels(self.index.url, machine))
        self.assert_whole()

    def test_a_dry_run_changes_nothing(self):
        told = self.assert_ok(self.mirror("demo", *fleet(), "--dry-run", "--json")).json
        self.assertFalse(any(one["was_there"] for one in told["files"]))
        self.assertEqual((self.storage.objects(), self.storage.writes()), ({}, []))
        self.assert_ok(self.mirror("demo", *fleet()))
        told = self.assert_ok(self.mirror("demo", *fleet(), "--dry-run", "--json")).json
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
        self.assert_ok(self.mirror("demo", *fleet(("x86_64:v2", "x86_64:v4"))))
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

    def test_what_is_not_encrypted_goes_to_no_proxy(self):
        proxy = Loopback(self)
        self.assert_ok(self.mirror("plain", "--proxy", proxy.url()))
        self.assert_ok(self.mirror("plain", env={"http_proxy": proxy.url(), "all_proxy": proxy.url()}))
        self.assertEqual(proxy.seen, [])

    def test_offline(self):
        self.assert_fails(self.mirror("plain", "--offline"), 1, "offline", self.url)
        self.assertEqual(self.storage.seen, [])

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


if __name__ == "__main__":
    unittest.main()
