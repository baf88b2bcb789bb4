"""`variant publish` against pypiserver, and against a server that checks each field of the form and refuses as indexes do."""

import base64
import contextlib
import email.parser
import email.policy
import hashlib
import http.server
import json
import pathlib
import shutil
import socket
import subprocess
import sys
import time
import unittest
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from loopback import serve
from support import PEERS, TestCase, Wheel, levels_document

DOCUMENT = levels_document()
SECRET = "pass:word/ with spaces"


class Taking:
    """An index that takes uploads. `answer`: a function of the form that gives (status, text), or None."""

    def __init__(self, case):
        self.forms, self.logins, self.types = [], [], []
        self.answer = lambda form: None
        self.headers = {}
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                kind = self.headers["Content-Type"]
                message = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(b"Content-Type: " + kind.encode() + b"\r\n\r\n" + body)
                form = []
                for part in message.iter_parts():
                    name = part.get_param("name", header="content-disposition")
                    form.append((name, part.get_payload(decode=True), part.get_filename()))
                outer.forms.append(form)
                outer.logins.append(self.headers.get("Authorization"))
                status, text = outer.answer(form) or (200, "OK")
                self.send_response(status)
                self.send_header("Content-Length", str(len(text.encode())))
                for name, value in outer.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *_):
                pass

        serve(case, http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler), self)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/legacy/"


class UploadCase(TestCase):
    def setUp(self):
        super().setUp()
        self.dist = self.root / "dist"

    def publish(self, *words, env=None, **options):
        told = self.variant("publish", *words, env=env, **options)
        self.assertNotIn(SECRET, told.out + told.err)
        return told


class Forms(UploadCase):
    def setUp(self):
        super().setUp()
        self.index = Taking(self)

    def test_the_form_has_what_the_wheel_says(self):
        extra = ("Summary: Ünïcode\nClassifier: A :: B\nClassifier: C\nRequires-Python: >=3.8\nProject-URL: x, https://x.example\n"
                 "License-Expression: MIT\nProvides-Extra: more\nKeywords: a,b\nDescription-Content-Type: text/markdown\n\n# Title\n\nbody\r\n--boundary\n")
        wheel = Wheel("My.Demo", "1.0", "v3", DOCUMENT, requires=["other>=1; extra == 'more'"], extra_metadata=extra)
        wheel.file_name = "my_demo-1.0-py3-none-any-v3.whl"
        path = wheel.write(self.dist)
        done = self.assert_ok(self.publish(path, "--repository-url", self.index.url, "--json"))
        self.assertEqual(done.json["files"], [{"project": "my-demo", "file": path.name, "existed": False}])
        form = self.index.forms[0]
        fields = {}
        for name, value, filename in form:
            fields.setdefault(name, []).append(value if filename else value.decode())
        data = path.read_bytes()
        self.assertEqual(fields.pop("content"), [data])
        self.assertEqual([filename for name, _, filename in form if name == "content"], [path.name])
        self.assertEqual(form[-1][0], "content")
        description = fields.pop("description")
        self.assertIn("# Title", description[0])
        self.assertEqual(fields, {
            ":action": ["file_upload"], "protocol_version": ["1"], "filetype": ["bdist_wheel"], "pyversion": ["py3"],
            "sha256_digest": [hashlib.sha256(data).hexdigest()], "metadata_version": ["2.1"], "name": ["My.Demo"], "version": ["1.0"],
            "requires_dist": ["other>=1; extra == 'more'"], "summary": ["Ünïcode"], "classifiers": ["A :: B", "C"], "requires_python": [">=3.8"],
            "project_urls": ["x, https://x.example"], "license_expression": ["MIT"], "provides_extra": ["more"], "keywords": ["a,b"],
            "description_content_type": ["text/markdown"]})
        self.assertEqual(self.index.logins, [None])
        self.assertIn("variants", done.err)

    def test_logins(self):
        path = Wheel("demo", "1.0").write(self.dist)
        def basic(user, password):
            return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
        netrc = self.root / "netrc"
        netrc.write_text(f"machine 127.0.0.1 login kept password netrc-word\n")
        host = self.index.url.partition("//")[2]
        for words, env, expected in (
                ([], {"UV_PUBLISH_TOKEN": SECRET}, basic("__token__", SECRET)),
                ([], {"TWINE_PASSWORD": SECRET}, basic("__token__", SECRET)),
                (["--username", "me"], {"TWINE_PASSWORD": SECRET}, basic("me", SECRET)),
                ([], {"UV_PUBLISH_USERNAME": "you", "UV_PUBLISH_PASSWORD": SECRET, "TWINE_PASSWORD": "other"}, basic("you", SECRET)),
                ([], {"NETRC": str(netrc)}, basic("kept", "netrc-word")),
                ([], {}, None)):
            done = self.assert_ok(self.publish(path, "--repository-url", self.index.url, *words, env=env))
            self.assertEqual(self.index.logins[-1], expected, (words, env))
        self.assert_ok(self.publish(path, env={"UV_PUBLISH_URL": f"http://u:p%40x@{host}"}))
        self.assertEqual(self.index.logins[-1], basic("u", "p@x"))
        self.assert_ok(self.publish(path, env={"TWINE_REPOSITORY_URL": self.index.url}))
        count = len(self.index.forms)
        self.assert_fails(self.publish(path), 2, "--repository-url")
        self.assert_fails(self.publish(path, "--repository-url", "ftp://x/"), 2, "https://")
        self.assert_fails(self.publish(path, "--repository-url", "http://files.example/", env={"UV_PUBLISH_TOKEN": SECRET}), 1, "not encrypted", "--trusted-host")
        for host in ("127.evil.example", "127.0.0.1.evil.example", "127.0.0.1@evil.example"):
            refused = self.publish(path, "--repository-url", f"http://{host}/", env={"UV_PUBLISH_TOKEN": SECRET})
            self.assert_fails(refused, 1, "not encrypted", "--trusted-host")
        proxy = Taking(self)
        self.assert_ok(self.publish(path, "--repository-url", self.index.url, env={"UV_PUBLISH_TOKEN": SECRET, "http_proxy": f"http://127.0.0.1:{proxy.port}", "no_proxy": ""}))
        self.assertEqual(proxy.logins, [], "a login of this machine goes through no proxy")
        count = len(self.index.forms)
        self.assert_fails(self.publish("--repository-url", self.index.url), 2, "name the wheels")
        self.assert_fails(self.publish(self.dist, "--repository-url", self.root / "public"), 2, "`variant index add WHEELS --out FOLDER`")
        self.assert_ok(self.publish(self.dist, "--repository-url", self.index.url, "--dry-run"))
        self.assertEqual(len(self.index.forms), count)

    def test_what_an_index_refuses_is_said(self):
        paths = [Wheel("demo", version).write(self.dist) for version in ("1.0", "2.0", "3.0")]
        def run(status, text, *words):
            self.index.forms.clear()
            self.index.answer = lambda form: (status, text) if any(filename == paths[1].name for *_, filename in form) else None
            return self.publish(*paths, "--repository-url", self.index.url, *words)
        for status, text, hint in ((401, "no", "give a login"), (403, "not yours", "give a login"), (404, "x", "--repository-url"), (400, "<html><b>bad  classifier</b>\n\x1b[31m</html>", "bad classifier"),
                                   (400, "<html><head><style type=x>body { color: red }</style><SCRIPT>let a = '<b>';</SCRIPT></head><!-- <p>hid --><h1>Too</h1> large</html>", ": Too large\n"),
                                   (500, "oops", "oops")):
            failed = run(status, text)
            self.assert_fails(failed, 1, paths[1].name, f"HTTP {status}", hint, "1 of 3 files were uploaded", paths[0].name)
            self.assertNotIn("\x1b", failed.err)
            self.assertEqual(len(self.index.forms), 2, "an upload is not repeated")
        for status, text in ((409, "Conflict"), (400, "File already exists. See help"), (400, "Name has already been taken"), (403, "no permission to overwrite artifact"),
                             (400, "repository does not allow updating assets")):
            failed = run(status, text)
            self.assert_fails(failed, 1, "--skip-existing")
            done = self.assert_ok(run(status, text, "--skip-existing"))
            self.assertIn(f"is there already: {paths[1].name}", done.out)
            self.assertEqual(len(self.index.forms), 3)
        self.index.headers = {"Location": "https://elsewhere.example/upload/"}
        self.assert_fails(run(301, ""), 1, "https://elsewhere.example/upload/", "--repository-url")
        self.assert_fails(self.publish(paths[0], "--repository-url", "http://127.0.0.1:9/"), 1, "127.0.0.1:9")

    def test_a_broken_wheel_stops_it_before_the_first_upload(self):
        good = Wheel("demo", "1.0").write(self.dist)
        bad = self.dist / "torn-1.0-py3-none-any.whl"
        bad.write_bytes(good.read_bytes()[:-100])
        self.assert_fails(self.publish(self.dist, "--repository-url", self.index.url), 1, bad.name)
        self.assertEqual(self.index.forms, [])


class PyPIServer(UploadCase):
    """A server that others wrote, brought by `./dev setup`."""

    def setUp(self):
        super().setUp()
        program = PEERS / "pypi-server"
        if not program.exists():
            self.skipTest(f"{program} is not there: ./dev setup brings it from the package index that pip is configured for")
        self.packages = self.root / "packages"
        self.packages.mkdir()
        with contextlib.closing(socket.socket()) as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.log = open(self.root / "log", "w")
        self.addCleanup(self.log.close)
        server = subprocess.Popen([str(program), "run", "-i", "127.0.0.1", "-p", str(self.port), "-P", ".", "-a", ".", "--disable-fallback", str(self.packages)],
                                  stdout=self.log, stderr=self.log)
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        self.url = f"http://127.0.0.1:{self.port}/"
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        for _ in range(150):
            with contextlib.suppress(OSError):
                opener.open(self.url, timeout=5).read()
                return
            time.sleep(0.1)
        self.fail((self.root / "log").read_text())

    def test_it_takes_wheels_and_installers_get_them(self):
        self.make_venv()
        wheels = [Wheel("demo", "1.0"), Wheel("other_thing", "2.0+cu128", requires=["demo"]), Wheel("demo", "1.0", "v3", DOCUMENT)]
        paths = [wheel.write(self.dist) for wheel in wheels]
        self.assert_ok(self.publish(self.dist, "--repository-url", self.url))
        there = {path.name: path.read_bytes() for path in self.packages.iterdir()}
        self.assertEqual(there, {path.name: path.read_bytes() for path in paths})
        index = self.url + "simple/"
        self.assert_ok(self.install("other-thing", index=index))
        self.assertEqual({name: version for name, (version, _) in self.installed().items()}, {"demo": "1.0", "other_thing": "2.0+cu128"})
        self.assert_ok(self.pip("download", "--no-deps", "-i", index, "-d", self.root / "pip", "demo"))
        self.assertEqual([path.name for path in (self.root / "pip").iterdir()], ["demo-1.0-py3-none-any.whl"])
        self.assert_ok(self.uv("pip", "install", "--no-cache", "-i", index, "--target", self.root / "uv", "demo", "--python", self.venv / "bin/python"))
        self.assert_fails(self.publish(paths[0], "--repository-url", self.url), 1, "HTTP 409", "--skip-existing")
        self.assert_ok(self.publish(self.dist, "--repository-url", self.url, "--skip-existing"))


if __name__ == "__main__":
    unittest.main()
