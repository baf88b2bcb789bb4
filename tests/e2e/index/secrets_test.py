"""No password and no token reaches a message, a JSON answer, the cache or an environment, whatever is mistyped."""

import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from loopback import Loopback, behind_login
from support import TestCase, Wheel

SECRET = "s3cr3t-W0rd"


class Secrets(TestCase):
    def setUp(self):
        super().setUp()
        self.make_venv()
        self.server = Loopback(self)
        demo = Wheel("demo", "1.0")
        self.server.page("/simple", "demo", "/files/" + demo.file_name)
        self.server.answers["/files/" + demo.file_name] = (200, {"ETag": '"1"'}, demo.bytes())
        self.host = self.server.host
        self.wheel = "/files/" + demo.file_name

    def look_for_it(self, result, title):
        places = {"stdout": result.out, "stderr": result.err}
        for folder in (self.root / "home", self.venv):
            for path in folder.rglob("*"):
                if path.is_file() and not path.is_symlink():
                    places[str(path)] = path.read_bytes().decode("latin-1")
                self.assertNotIn(SECRET, path.name)
        for place, text in places.items():
            at = text.find(SECRET)
            self.assertEqual(at, -1, f"{title}: {place} has it: …{text[max(0, at - 60):at + 30]}…")
        self.assertNotIn("***@***", places["stderr"])

    def try_it(self, *arguments, title=None, env=None, code=None):
        for more in ((), ("--verbose",), ("--json",)):
            with self.subTest(title or arguments, more=more):
                result = self.variant(*arguments, "--python", self.venv, *more, env=env)
                if code is not None:
                    self.assertEqual(result.code, code, str(result))
                self.look_for_it(result, title or arguments)

    def test_urls_of_an_index_right_and_mistyped(self):
        login = f"user:{SECRET}"
        for url in (f"http://{login}@{self.host}/simple", f"http://{SECRET}@{self.host}/simple",
                    f"http://{self.host}/simple?token={SECRET}", f"htp://{login}@{self.host}/simple",
                    f"http:/{login}@{self.host}/simple", f"http:{login}@{self.host}/simple", f"{login}@{self.host}/simple",
                    f"http://user:x/{SECRET}@{self.host}/simple", f"http://user:x#{SECRET}@{self.host}/simple",
                    f"http://user:x@{SECRET}@{self.host}/simple", f"http//{login}@{self.host}/simple",
                    f"http://{login}@127.0.0.1:1/simple", f"http://{login}@{self.host}x/simple", f"//{login}@{self.host}/simple",
                    f"http://{login}@[::1/simple", f"ftp://{login}@{self.host}/simple", f"file://{login}@host/simple",
                    f"http://user:it's{SECRET}@{self.host}/simple"):
            for option in ("--index-url", "--extra-index-url", "--find-links", "--index"):
                self.try_it("install", "demo", "--no-deps", option, url, "--timeout", "2", title=f"{option} {url}")

    def test_lines_of_requirements(self):
        wanted = self.root / "wanted.txt"
        for line in (f"demo @ http://user:{SECRET}@{self.host}{self.wheel}", f"demo @ http://{self.host}{self.wheel}?sig={SECRET}",
                     f"demo@http://user:{SECRET}@{self.host}/x.whl ;; bad", f"demo >=1 http://user:{SECRET}@{self.host}/",
                     f"http://user:{SECRET}@{self.host}/nothing", f"git+https://user:{SECRET}@{self.host}/x.git",
                     f"demo @ htp://user:{SECRET}@{self.host}/demo-1.0-py3-none-any.whl",
                     f"--index-url http:/user:{SECRET}@{self.host}/simple\ndemo", f"--wrong http://user:{SECRET}@{self.host}",
                     f"-e git+https://{SECRET}@{self.host}/x.git#egg=demo", f"http://{self.host}/demo-1.0.tar.gz?token={SECRET}"):
            wanted.write_text(line + "\n")
            self.try_it("install", "-r", wanted, "--no-index", title=line)
            self.try_it("install", "-c", wanted, "demo", "--no-index", title="constraint " + line)
            if "\n" not in line and not line.startswith("-"):
                self.try_it("install", line, "--no-index", title="argument " + line)

    def test_a_wheel_installed_from_a_url_with_a_login_and_a_token(self):
        url = f"http://user:{SECRET}@{self.host}{self.wheel}?sig={SECRET}&X-Amz-Signature={SECRET}"
        self.try_it("install", f"demo @ {url}", "--reinstall", code=0)
        self.try_it("resolve", f"demo @ {url}", code=0)
        self.try_it("explain", f"demo @ {url}")
        for command in (("list",), ("freeze",), ("show", "demo"), ("check",)):
            self.try_it(*command)
        [direct] = self.site().glob("demo-1.0.dist-info/direct_url.json")
        self.assertIn(self.host, json.loads(direct.read_text())["url"])

    def test_an_index_whose_links_and_redirects_carry_tokens(self):
        demo = Wheel("demo", "2.0")
        self.server.page("/simple", "demo", f"/moved/{demo.file_name}")
        self.server.answers[f"/moved/{demo.file_name}"] = (
            302, {"Location": f"http://user:{SECRET}@{self.host}/store/{demo.file_name}?X-Amz-Signature={SECRET}"}, b"")
        self.server.answers[f"/store/{demo.file_name}"] = (200, {}, demo.bytes())
        self.try_it("install", "demo", "--reinstall", "--index-url", self.server.url("/simple"), code=0)
        self.assertIn(f"/store/{demo.file_name}?X-Amz-Signature={SECRET}", self.server.asked())
        self.server.answers[f"/store/{demo.file_name}"] = (500, {}, b"")
        self.try_it("install", "demo", "--reinstall", "--no-cache", "--index-url", self.server.url("/simple"))
        self.server.answers[f"/moved/{demo.file_name}"] = (302, {"Location": f"ftp://user:{SECRET}@host/x?token={SECRET}"}, b"")
        self.try_it("install", "demo", "--reinstall", "--no-cache", "--index-url", self.server.url("/simple"), code=1)

    def test_an_index_that_is_asked_with_a_login_and_a_token(self):
        for path, answer in list(self.server.answers.items()):
            self.server.answers[path] = behind_login(answer, "user", SECRET)
        where = ("--index-url", self.server.url("/simple", f"user:{SECRET}") + f"?token={SECRET}")
        self.try_it("install", "demo", "--reinstall", *where, code=0)
        self.try_it("resolve", "demo", *where, code=0)
        self.try_it("explain", "demo", *where, code=0)
        self.assertIn(f"/simple/demo/?token={SECRET}", self.server.asked())
        self.try_it("install", "demo>5", *where, code=1)
        self.try_it("install", "nothing-like-it", *where, code=1)

    def test_proxies(self):
        for proxy in (f"http://user:{SECRET}@127.0.0.1:1", f"user:{SECRET}@127.0.0.1:1", f"htp://user:{SECRET}@127.0.0.1:1",
                      f"http://user:{SECRET}@no.such.host.invalid:1", f"http://user:{SECRET}@127.0.0.1:99999"):
            for env in ({"PIP_PROXY": proxy}, {"http_proxy": proxy}):
                self.try_it("install", "demo", "--index-url", self.server.url("/simple"), title=str(env), env=env, code=1)

    def test_configuration_files_and_variables(self):
        bad = f"http://user:{SECRET}@{self.host}/simple"
        pip = self.root / "pip.conf"
        for text in (f"[global]\nindex-url = {bad} {bad}\n", f"[global]\nindex-url {bad}\n", f"index-url = {bad}\n", f"[global\n{bad}\n"):
            pip.write_text(text)
            self.try_it("install", "demo>7", title=text, env={"PIP_CONFIG_FILE": str(pip)})
        uv = self.root / "uv.toml"
        for text in (f'index-url = "{bad}\n', f'[[index]]\nurl = "{bad}"\nname = "{bad}"\n', f'[[index]]\nurl = ["{bad}"]\n',
                     f'index-url = "{bad}"\n'):
            uv.write_text(text)
            self.try_it("install", "demo>7", title=text, env={"UV_CONFIG_FILE": str(uv)})
        for name in ("PIP_INDEX_URL", "UV_INDEX", "UV_DEFAULT_INDEX", "UV_FIND_LINKS", "PIP_EXTRA_INDEX_URL"):
            self.try_it("install", "demo>7", "--timeout", "1", title=name, env={name: bad})

    def test_mirrors_of_families(self):
        for url in (f"http://user:{SECRET}@{self.host}/whl/{{label}}", f"http://{self.host}/whl/{{label}}?token={SECRET}",
                    f"user:{SECRET}@{self.host}/whl", f"http:/user:{SECRET}@{self.host}/whl"):
            self.try_it("resolve", "torch", "--family", f"torch={url}", "--index-url", self.server.url("/simple"), title=url)


if __name__ == "__main__":
    unittest.main()
