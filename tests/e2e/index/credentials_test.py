"""User names and passwords: where they come from, and who gets to see them. Two servers remember what they were told."""

import pathlib
import stat
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from loopback import Loopback, basic, behind_login
from support import TestCase, Wheel

RIGHT = basic("me", "pass/w@rd")
LOGIN = "me:pass%2Fw%40rd"


class TwoServers(TestCase):
    """The index behind a login; its files partly on another server, partly behind a redirect to it."""

    def setUp(self):
        super().setUp()
        self.make_venv()
        self.index, self.files = Loopback(self), Loopback(self)
        linked, moved, near = Wheel("linked", "1.0"), Wheel("moved", "1.0"), Wheel("near", "1.0", requires=["linked", "moved"])
        for wheel in (linked, moved):
            self.files.answers[f"/{wheel.file_name}"] = (200, {}, wheel.bytes())
        self.index.page("/simple", "linked", self.files.url("/" + linked.file_name))
        self.index.page("/simple", "moved", "/away/" + moved.file_name)
        self.index.page("/simple", "near", "/near/" + near.file_name)
        self.index.answers["/away/" + moved.file_name] = (302, {"Location": self.files.url("/" + moved.file_name)}, b"")
        self.index.answers["/near/" + near.file_name] = (200, {}, near.bytes())
        for path, answer in list(self.index.answers.items()):
            self.index.answers[path] = behind_login(answer, "me", "pass/w@rd")
        self.tools = self.root / "tools"
        self.tools.mkdir()
        self.env["PATH"] = f"{self.tools}:{self.env['PATH']}"
        self.venvs = 0

    def forget(self):
        self.index.seen.clear()
        self.files.seen.clear()

    def check_what_was_seen(self, who):
        self.assertTrue(self.files.seen, who)
        self.assertEqual([one for one in self.files.seen if one[1]], [], f"{who} told the other server")
        # A user name without a password may be tried as it is.
        self.assertEqual({one[1] for one in self.index.seen} - {None, RIGHT, basic("me", "")}, set(), who)

    def everyone(self, index, *arguments, env=None):
        """Axle, pip and uv, each into an environment of its own."""
        for who in ("axle", "pip", "uv"):
            self.forget()
            self.venvs += 1
            venv = self.make_venv(self.root / f"venv-{self.venvs}")
            with self.subTest(who):
                if who == "axle":
                    done = self.variant("install", "near", "--index-url", index, "--python", venv, "--no-cache", *arguments, env=env)
                elif who == "pip":
                    done = self.pip("install", "near", "--index-url", index, "--no-cache-dir", "--retries", "0",
                                    *arguments, python=venv / "bin/python", env=env)
                else:
                    done = self.uv("pip", "install", "near", "--default-index", index, "--no-cache", "--python", venv, *arguments, env=env)
                self.assert_ok(done)
                self.check_what_was_seen(who)
                self.assertNotIn("pass/w@rd", done.out + done.err)
                self.assertNotIn("pass%2Fw%40rd", done.out + done.err)


class Urls(TwoServers):
    def test_a_login_in_the_url_stays_with_its_server(self):
        self.everyone(self.index.url("/simple", LOGIN))

    def test_paths_of_one_server_have_logins_of_their_own(self):
        server = Loopback(self)
        for place, user in (("/a", "anna"), ("/b", "bert")):
            wheel = Wheel("of-" + place[1:], "1.0")
            server.publish(place, wheel)
        for path, answer in list(server.answers.items()):
            server.answers[path] = behind_login(answer, *(("anna", "1") if path.startswith("/a/") else ("bert", "2")))
        places = ("--index", server.url("/a", "anna:1"), "--default-index", server.url("/b", "bert:2"))
        self.assert_ok(self.variant("install", "of-a", "of-b", *places, "--python", self.venv, "--no-cache"))
        said = set(server.seen)
        self.assertTrue(said)
        for path, told in said:
            self.assertEqual(told, basic("anna", "1") if path.startswith("/a/") else basic("bert", "2"), path)
        other = self.make_venv(self.root / "other")
        self.assert_ok(self.uv("pip", "install", "of-a", "of-b", *places, "--python", other, "--no-cache"))

    def test_a_wrong_login_ends_the_search_and_says_what_to_do(self):
        public = Loopback(self)
        public.publish("/simple", Wheel("near", "9.9"))
        result = self.variant("install", "near", "--index", self.index.url("/simple", "me:wrong"), "--default-index",
                              public.url("/simple"), "--python", self.venv)
        self.assert_fails(result, 1, "HTTP status 401", "netrc", "UV_INDEX_", "--keyring-provider")
        self.assertEqual(public.seen, [])
        self.assertNotIn("wrong", result.err)

    def test_uvs_variables_name_the_login_of_a_named_index(self):
        env = {"UV_INDEX_MY_PRIV_USERNAME": "me", "UV_INDEX_MY_PRIV_PASSWORD": "pass/w@rd"}
        for login, code in (("", 0), ("someone:else", 1)):  # what the URL has comes first
            with self.subTest(login):
                index = "my-priv=" + self.index.url("/simple", login)
                for who in ("axle", "uv"):
                    self.forget()
                    self.venvs += 1
                    arguments = ("install", "near", "--default-index", index, "--no-cache",
                                 "--python", self.make_venv(self.root / f"venv-{self.venvs}"))
                    done = self.variant(*arguments, env=env) if who == "axle" else self.uv("pip", *arguments, env=env)
                    self.assertEqual(done.code, code, str(done))
                    if code == 0:
                        self.check_what_was_seen(who)


class Netrc(TwoServers):
    def setUp(self):
        super().setUp()
        # netrc knows hosts, not ports: the two servers need names of their own.
        self.named = self.index.url("/simple").replace("127.0.0.1", "localhost")
        self.netrc = self.root / "home/.netrc"

    def test_the_file_is_read_as_pip_and_uv_read_it(self):
        for text in ("machine localhost login me password pass/w@rd\n",
                     "# a comment\nmachine other login x password y\nmachine localhost\n  login me\n  password pass/w@rd\n",
                     'default login me password pass/w@rd\nmachine 127.0.0.1 login "" password ""\n'):
            with self.subTest(text=text):
                self.netrc.write_text(text)
                if text.startswith("default"):
                    # Of the peers one tells the default's login to every server: only ours is looked at.
                    self.assert_ok(self.variant("resolve", "near", "--index-url", self.named, "--python", self.venv, "--no-cache",
                                                "--no-deps"))
                    continue
                self.everyone(self.named)

    def test_the_variable_names_another_file(self):
        other = self.root / "elsewhere"
        other.write_text("machine localhost login me password pass/w@rd\n")
        self.everyone(self.named, env={"NETRC": str(other)})

    def test_a_login_in_the_url_comes_first_and_a_user_is_completed(self):
        self.netrc.write_text("machine localhost login me password pass/w@rd\n")
        for login in (LOGIN, "me"):
            with self.subTest(login):
                self.everyone(self.named.replace("//", f"//{login}@"))

    def test_one_that_is_damaged_stops_with_file_and_line(self):
        rows = {
            "machine localhost login me\nsecretword\n": ":2:",
            "machine localhost login me password pass/w@rd\nmachine\n": ":2:",
            "login me password x\n": ":1:",
            "machine localhost login": ":1:",
        }
        for text, line in rows.items():
            with self.subTest(text=text):
                self.netrc.write_text(text)
                result = self.variant("resolve", "near", "--index-url", self.named, "--python", self.venv)
                self.assert_fails(result, 2, str(self.netrc) + line)
                self.assertNotIn("secretword", result.err)

    def test_one_that_cannot_be_read_stops(self):
        self.netrc.mkdir()
        self.assert_fails(self.variant("resolve", "near", "--index-url", self.named, "--python", self.venv), 2, str(self.netrc))
        self.netrc.rmdir()
        self.netrc.write_bytes(b"#" * (2 << 20))
        self.assert_fails(self.variant("resolve", "near", "--index-url", self.named, "--python", self.venv), 2, str(self.netrc))
        for named, says in (("/absent/netrc", "/absent/netrc: not a readable file"), ("/dev/zero", "not a regular file: /dev/zero")):
            result = self.variant("resolve", "near", "--index-url", self.named, "--python", self.venv, env={"NETRC": named})
            self.assert_fails(result, 2, says)


class Keyring(TwoServers):
    def setUp(self):
        super().setUp()
        self.asked = self.root / "asked"
        self.url = self.index.url("/simple", "me")

    def write_keyring(self, condition="-n $user", body=None):
        """The program `keyring` as uv calls it (get SERVICE USER) and pip does (--mode=creds --output=json get SERVICE USER)."""
        program = self.tools / "keyring"
        answers = """case "$*" in *json*) echo '{"username": "me", "password": "pass/w@rd"}';; *) echo pass/w@rd;; esac"""
        program.write_text(f"""#!/bin/bash
echo "$@" >> {self.asked}
service="${{@: -2:1}}" user="${{@: -1}}"
{body or f"[[ {condition} ]] || exit 1"}
{answers}
""")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)

    def questions(self):
        text = self.asked.read_text() if self.asked.exists() else ""
        self.asked.unlink(missing_ok=True)
        return text.splitlines()

    def test_the_password_comes_from_the_program_as_with_pip_and_uv(self):
        self.write_keyring("$user == me")
        self.everyone(self.url, "--keyring-provider", "subprocess")

    def test_it_is_asked_for_the_host_where_it_does_not_know_the_url(self):
        self.write_keyring(f"$service == {self.index.host} && $user == me")
        self.everyone(self.url, "--keyring-provider", "subprocess")

    def test_only_who_asked_for_a_login_is_asked_about_and_once(self):
        self.write_keyring()
        install = ("install", "near", "--python", self.venv, "--no-cache", "--reinstall", "--index-url")
        self.assert_ok(self.variant(*install, self.url, "--keyring-provider", "subprocess"))
        asked = self.questions()
        self.assertEqual(asked, [f"get {self.index.url('/simple')} me"])
        self.assert_ok(self.variant(*install, self.index.url("/simple", LOGIN), "--keyring-provider", "subprocess"))
        self.assertEqual(self.questions(), [], "the password is known")
        self.assert_fails(self.variant(*install, self.url), 1, "401")
        self.assertEqual(self.questions(), [], "nobody switched it on")
        self.assert_ok(self.variant(*install, self.url, env={"UV_KEYRING_PROVIDER": "subprocess"}))
        self.assert_ok(self.variant(*install, self.url, env={"PIP_KEYRING_PROVIDER": "subprocess"}))

    def test_a_keyring_without_the_password_or_without_a_program(self):
        self.write_keyring(body="exit 1")
        result = self.variant("install", "near", "--index-url", self.url, "--python", self.venv, "--keyring-provider", "subprocess")
        self.assert_fails(result, 1, "HTTP status 401")
        (self.tools / "keyring").unlink()
        result = self.variant("install", "near", "--index-url", self.url, "--python", self.venv, "--keyring-provider", "subprocess",
                              env={"PATH": "/usr/bin:/bin"})
        self.assert_fails(result, 1, "the program `keyring` is not on PATH")

    def test_one_that_hangs_is_ended_and_said(self):
        self.write_keyring(body="exec sleep 600")
        result = self.variant("install", "near", "--index-url", self.url, "--python", self.venv, "--keyring-provider", "subprocess")
        self.assert_fails(result, 1, "keyring get", "did not answer within 20 seconds")


class Authenticate(TwoServers):
    """uv's key `authenticate` of an index."""

    def resolve(self, how, login=""):
        (self.root / "uv.toml").write_text(
            f'[[index]]\nname = "priv"\nurl = "{self.index.url("/simple", login)}"\ndefault = true\nauthenticate = "{how}"\n')
        return self.variant("resolve", "near", "--no-deps", "--python", self.venv, "--no-cache",
                            env={"UV_CONFIG_FILE": str(self.root / "uv.toml")})

    def test_always_asks_nothing_without_a_login(self):
        self.assert_fails(self.resolve("always"), 1, "authenticate")
        self.assertEqual(self.index.seen, [])
        self.assert_ok(self.resolve("always", LOGIN))

    def test_never_sends_none(self):
        self.assert_fails(self.resolve("never", LOGIN), 1, "401")
        self.assertEqual({told for _, told in self.index.seen}, {None})

    def test_another_word_is_refused(self):
        self.assert_fails(self.resolve("sometimes", LOGIN), 2, "authenticate")


if __name__ == "__main__":
    unittest.main()
