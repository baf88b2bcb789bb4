"""Hashes, upload times, overrides, constraints and options of requirements files: what pip 26.3 and uv 0.13.9 accept and
refuse, Axle accepts and refuses. Where the two disagree, Axle does what the stricter of them does."""

import functools
import hashlib
import http.server
import json
import pathlib
import re
import shutil
import sys
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import Index, TestCase, Wheel, publish_levels

BAD = "sha256:" + "0" * 64
ALL = ("pip", "uv")
UV = ("uv",)


class Pages(http.server.SimpleHTTPRequestHandler):
    """The folders of an Index, project pages as JSON: pip and uv read upload times there alone."""

    def do_GET(self):
        page = pathlib.Path(self.translate_path(self.path)) / "index.json"
        if not page.exists():
            return super().do_GET()
        body = page.read_bytes()
        self.send_response(200)
        self.send_header("Content-Type", "application/vnd.pypi.simple.v1+json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class IntegrityCase(TestCase):
    def setUp(self):
        super().setUp()
        self.index = Index(self.root / "index")
        self.wheels = {}
        self.make_venv()
        self.empty = {path.name for path in self.site().iterdir()}

    def serve(self):
        handler = functools.partial(Pages, directory=str(self.index.folder))
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.url = f"http://127.0.0.1:{server.server_port}/"

    def publish(self, name, version, requires=(), **changes):
        wheel = Wheel(name, version, requires=requires)
        self.index.add_wheel(wheel, **changes)
        self.wheels[name, version] = self.index.folder / name / wheel.file_name

    def digest(self, name, version, algorithm="sha256"):
        data = self.wheels[name, version].read_bytes()
        made = hashlib.blake2b(data, digest_size=32) if algorithm == "blake2b" else hashlib.new(algorithm, data)
        return f"{algorithm}:{made.hexdigest()}"

    def spelled(self, text):
        """<lone 1.0>, <lone 1.0 sha512>: a hash; <url lone 1.0>, <path lone 1.0>, <http lone 1.0>; <BAD>."""
        def put(match):
            words = match[1].split()
            if words == ["BAD"]:
                return BAD
            if words == ["INDEX"]:
                return self.url
            if words[0] in ("url", "path", "http"):
                path = self.wheels[words[1], words[2]]
                served = getattr(self, "url", "") + f"{words[1]}/{path.name}"
                return {"url": path.as_uri(), "path": str(path), "http": served}[words[0]]
            return self.digest(*words)
        return re.sub(r"<([^<>\n]+)>", put, text)

    def run_tool(self, tool, arguments):
        """What is installed in an environment that was empty; None: it was refused, and nothing is."""
        for path in self.site().iterdir():
            if path.name not in self.empty:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        where = ["--index-url", self.url]
        if tool == "axle":
            result = self.variant("install", *where, "--python", self.venv, *arguments)
        elif tool == "pip":
            result = self.pip("install", *where, *arguments, env={"PIP_NO_CACHE_DIR": "1"})
        else:
            result = self.uv("pip", "install", *where, "--python", self.venv, *arguments)
        there = sorted(path.name[: -len(".dist-info")] for path in self.site().glob("*.dist-info"))
        if result.code != 0:
            self.assertEqual(there, [], f"{tool} {arguments}: refused, yet installed\n{result}")
            return None, result
        return there, result

    def compare(self, title, files, arguments, expected, tools=ALL):
        """`expected`: what is installed; None: refused. Tools that agree with each other agree with us."""
        for name, text in files.items():
            (self.root / name).write_text(self.spelled(text))
        arguments = [self.spelled(one) for one in arguments]
        with self.subTest(title):
            ours, result = self.run_tool("axle", arguments)
            self.assertEqual(ours, expected, f"{title}: {result}")
            if expected is None:
                self.assertIn(result.code, (1, 2), str(result))
            answers = {tool: self.run_tool(tool, arguments)[0] for tool in tools}
            if len({json.dumps(answer) for answer in answers.values()}) == 1:
                self.assertEqual(ours, next(iter(answers.values())), f"{title}: {answers}")
            else:
                self.assertIn(ours, list(answers.values()), f"{title}: {answers}")


R = ["-r", "r.txt"]
RC = ["-r", "r.txt", "-c", "c.txt"]
LONE = ["lone-1.0"]
LIB = ["dep-1.0", "lib-1.0"]


class HashTable(IntegrityCase):
    def setUp(self):
        super().setUp()
        self.serve()
        self.publish("lone", "1.0")
        self.publish("lone", "2.0")
        self.publish("dep", "1.0")
        self.publish("dep", "2.0")
        self.publish("lib", "1.0", ["dep"])
        self.publish("pinned", "1.0", ["dep==1.0"])
        self.publish("nohash", "1.0", hashes={})

    def rows(self, rows):
        for title, files, arguments, expected in rows:
            files = files if isinstance(files, dict) else {"r.txt": files}
            self.compare(title, files, arguments, expected)

    def test_one_requirement(self):
        self.rows([
            ("good", "lone==1.0 --hash=<lone 1.0>\n", R, LONE),
            ("wrong", "lone==1.0 --hash=<BAD>\n", R, None),
            ("one of two", "lone==1.0 \\\n    --hash=<BAD> \\\n    --hash=<lone 1.0>\n", R, LONE),
            ("a blank in front of the value", "lone==1.0 --hash <lone 1.0>\n", R, LONE),
            ("an older version is the listed one", "lone>=1,<2 --hash=<lone 1.0>\n", R, LONE),
            ("not pinned", "lone --hash=<lone 2.0>\n", R, ["lone-2.0"]),
            ("not pinned, the older one listed", "lone>=1 --hash=<lone 1.0>\n", R, LONE),
            ("both versions listed", "lone>=1 --hash=<lone 1.0> --hash=<lone 2.0>\n", R, ["lone-2.0"]),
            ("===", "lone===1.0 --hash=<lone 1.0>\n", R, LONE),
            ("behind a marker", "lone==1.0 ; python_version>'3' --hash=<lone 1.0>\n", R, LONE),
            ("a comment ends what is continued",
             "lone==1.0 \\\n    --hash=<lone 1.0> \\\n    # via -r x\ndep==1.0 --hash=<dep 1.0>\n", R, ["dep-1.0", "lone-1.0"]),
            ("as uv pip compile writes it",
             "# made by a tool\nlone==1.0 \\\n    --hash=<BAD> \\\n    --hash=<lone 1.0>\n    # via -r x.in\n", R, LONE),
            ("the index has no hash: right", "nohash==1.0 --hash=<nohash 1.0>\n", R, ["nohash-1.0"]),
            ("the index has no hash: wrong", "nohash==1.0 --hash=<BAD>\n", R, None),
            ("twice the same", "lone==1.0 --hash=<lone 1.0>\nlone==1.0 --hash=<lone 1.0>\n", R, LONE),
            ("twice, with nothing in common", "lone==1.0 --hash=<lone 1.0>\nlone==1.0 --hash=<BAD>\n", R, None),
        ])

    def test_algorithms(self):
        good = [(name, f"lone==1.0 --hash=<lone 1.0 {name}>\n", R, LONE) for name in ("sha256", "sha384", "sha512")]
        bad = [(name, f"lone==1.0 --hash=<lone 1.0 {name}>\n", R, None) for name in ("md5", "sha1", "sha224", "sha3_256")]
        self.rows([
            *good, *bad,
            ("blake2b of 256 bits, as uv has it", "lone==1.0 --hash=<lone 1.0 blake2b>\n", R, LONE),
            ("blake2b of 512 bits", "lone==1.0 --hash=blake2b:" + "0" * 128 + "\n", R, None),
            ("sha512 that is wrong", "lone==1.0 --hash=sha512:" + "0" * 128 + "\n", R, None),
            ("sha256 right, sha512 wrong", "lone==1.0 --hash=sha512:" + "0" * 128 + " --hash=<lone 1.0>\n", R, LONE),
            ("sha512 right, sha256 of another file", "lone==1.0 --hash=<lone 1.0 sha512> --hash=<BAD>\n", R, LONE),
            ("md5 beside sha256", "lone==1.0 --hash=<lone 1.0 md5> --hash=<lone 1.0>\n", R, LONE),
            ("unknown", "lone==1.0 --hash=foo:00\n", R, None),
            ("no algorithm", "lone==1.0 --hash=00\n", R, None),
            ("too short", "lone==1.0 --hash=sha256:abcd\n", R, None),
            ("no value", "lone==1.0 --hash\n", R, None),
        ])
        upper = self.digest("lone", "1.0").upper().replace("SHA256", "sha256")
        self.rows([("upper case digits", f"lone==1.0 --hash={upper}\n", R, LONE)])

    def test_one_hash_asks_for_all(self):
        self.rows([
            ("a direct requirement without", "lone==1.0 --hash=<lone 1.0>\ndep==1.0\n", R, None),
            ("one of the command line without", "lone==1.0 --hash=<lone 1.0>\n", [*R, "dep==1.0"], None),
            ("a dependency without", "lib==1.0 --hash=<lib 1.0>\n", R, None),
            ("a dependency pinned by metadata, without", "pinned==1.0 --hash=<pinned 1.0>\n", R, None),
            ("a dependency with", "lib==1.0 --hash=<lib 1.0>\ndep==1.0 --hash=<dep 1.0>\n", R, LIB),
            ("a dependency with a wrong one", "lib==1.0 --hash=<lib 1.0>\ndep==1.0 --hash=<BAD>\n", R, None),
            ("--no-deps", "lib==1.0 --hash=<lib 1.0>\n", [*R, "--no-deps"], ["lib-1.0"]),
            ("a marker that does not hold", "lone==1.0 --hash=<lone 1.0>\ndep==1.0 ; python_version<'3'\n", R, LONE),
        ])

    def test_constraints_with_hashes(self):
        lone = "lone==1.0 --hash=<lone 1.0>\n"
        self.rows([
            ("of a dependency", {"r.txt": "lib==1.0 --hash=<lib 1.0>\n", "c.txt": "dep==1.0 --hash=<dep 1.0>\n"}, RC, LIB),
            ("pins and has the hash", {"r.txt": "lone\n", "c.txt": lone}, RC, LONE),
            ("has the hash", {"r.txt": "lone==1.0\n", "c.txt": lone}, RC, LONE),
            ("has another hash", {"r.txt": lone, "c.txt": "lone==1.0 --hash=<BAD>\n"}, RC, None),
            ("pins what has the hash", {"r.txt": "lone --hash=<lone 1.0>\n", "c.txt": "lone==1.0\n"}, RC, LONE),
            ("asks for all", {"r.txt": "lone==1.0\ndep==1.0\n", "c.txt": lone}, RC, None),
            ("not used, asks for all", {"r.txt": "dep==1.0\n", "c.txt": lone}, RC, None),
            ("a URL", {"c.txt": "dep @ <url dep 1.0>\n"}, ["lib", "-c", "c.txt"], LIB),
            ("a URL for what is named", {"c.txt": "lone @ <url lone 1.0>\n"}, ["lone", "-c", "c.txt"], LONE),
            ("a URL of another version", {"c.txt": "lone @ <url lone 1.0>\n"}, ["lone==2.0", "-c", "c.txt"], None),
            ("without a name", {"c.txt": "<path lone 1.0>\n"}, ["lone", "-c", "c.txt"], None),
            ("with extras", {"c.txt": "lone[x]==1.0\n"}, ["lone", "-c", "c.txt"], None),
            ("editable", {"c.txt": "-e .\n"}, ["lone", "-c", "c.txt"], None),
            ("two files", {"c.txt": "dep<2\n", "d.txt": "lone<2\n"}, ["lib", "lone", "-c", "c.txt", "-c", "d.txt"], [*LIB, "lone-1.0"]),
        ])

    def test_paths_and_urls(self):
        with_hash = "lone @ <url lone 1.0>#sha256=" + self.digest("lone", "1.0").split(":")[1]
        self.rows([
            ("in the fragment", with_hash + "\n", R, LONE),
            ("in the fragment, required", with_hash + "\n", [*R, "--require-hashes"], LONE),
            ("wrong in the fragment", "lone @ <url lone 1.0>#sha256=" + "0" * 64 + "\n", R, None),
            ("beside a URL", "lone @ <url lone 1.0> --hash=<lone 1.0>\n", R, LONE),
            ("beside a URL, wrong", "lone @ <url lone 1.0> --hash=<BAD>\n", R, None),
            ("fragment right, beside wrong", with_hash + " --hash=<BAD>\n", R, None),
            ("beside right, fragment wrong", "lone @ <url lone 1.0>#sha256=" + "0" * 64 + " --hash=<lone 1.0>\n", R, None),
            ("beside a path", "<path lone 1.0> --hash=<lone 1.0>\n", R, LONE),
            ("beside a path, wrong", "<path lone 1.0> --hash=<BAD>\n", R, None),
            ("of a server", "lone @ <http lone 1.0> --hash=<lone 1.0>\n", R, LONE),
            ("of a server, wrong", "lone @ <http lone 1.0> --hash=<BAD>\n", R, None),
            ("none, required", "lone @ <url lone 1.0>\n", [*R, "--require-hashes"], None),
            ("none beside a path, required", "<path lone 1.0>\n", [*R, "--require-hashes"], None),
            ("editable", "-e . --hash=<BAD>\n", R, None),
        ])

    def test_required(self):
        rh = [*R, "--require-hashes"]
        self.rows([
            ("none", "lone==1.0\n", rh, None),
            ("none, only on the command line", "", ["--require-hashes", "lone==1.0"], None),
            ("by a line of the file", "--require-hashes\nlone==1.0\n", R, None),
            ("good", "lone==1.0 --hash=<lone 1.0>\n", rh, LONE),
            ("not pinned", "lone --hash=<lone 2.0>\n", rh, None),
            ("at least", "lone>=1 --hash=<lone 2.0>\n", rh, None),
            ("a wildcard is not a pin", "lone==1.* --hash=<lone 1.0>\n", rh, None),
            ("=== is a pin", "lone===1.0 --hash=<lone 1.0>\n", rh, LONE),
            ("more than a pin", "lone==1.0,>0 --hash=<lone 1.0>\n", rh, None),
            ("a dependency without", "lib==1.0 --hash=<lib 1.0>\n", rh, None),
            ("pinned by metadata, without", "pinned==1.0 --hash=<pinned 1.0>\n", rh, None),
            ("a constraint has the pin and the hash", {"r.txt": "lone\n", "c.txt": "lone==1.0 --hash=<lone 1.0>\n"},
             [*RC, "--require-hashes"], None),
            ("a constraint has the hash", {"r.txt": "lone==1.0\n", "c.txt": "lone==1.0 --hash=<lone 1.0>\n"},
             [*RC, "--require-hashes"], LONE),
            ("md5 alone", "lone==1.0 --hash=<lone 1.0 md5>\n", rh, None),
        ])
        for title, text, arguments, expected in [
            ("disabled", "lone==1.0 --hash=<BAD>\n", [*R, "--no-verify-hashes"], LONE),
            ("switched off, yet required", "lone==1.0 --hash=<BAD>\n", [*rh, "--no-verify-hashes"], None),
        ]:
            self.compare(title, {"r.txt": text}, arguments, expected, tools=UV)

    def test_lines_of_files(self):
        lone = "\nlone==1.0\n"
        accepted = ["--prefer-binary", "--only-binary :all:", "--only-binary=lone", "--no-binary dep",
                    "--no-binary :all:\n--only-binary lone", "--trusted-host example.org", "--use-feature fast-deps",
                    "-i <INDEX>", "--index-url=<INDEX>", "--pre"]
        refused = ["--no-binary :all:", "--no-binary lone", "--no-index", "--process-dependency-links", "--foo", "--no-deps",
                   "--use-pep517", "--constraint nosuch.txt", "--always-unzip", "--config-settings a=b", "--require-hashes"]
        self.rows([(line, line + lone, R, LONE) for line in accepted] + [(line, line + lone, R, None) for line in refused])
        self.rows([(option, f"lone==1.0 {option}\n", R, None) for option in ("--config-settings=a=b", "--global-option=x", "--foo")])

    def test_wheels_forbidden(self):
        self.rows([
            (" ".join(arguments), {}, [*arguments, "lone"], expected) for arguments, expected in [
                (["--no-binary", ":all:"], None), (["--no-binary", "lone"], None), (["--no-binary", "Lone,dep"], None),
                (["--no-binary", "dep"], ["lone-2.0"]), (["--only-binary", ":all:"], ["lone-2.0"]),
                (["--no-binary", ":all:", "--no-binary", ":none:"], ["lone-2.0"]),
                (["--no-binary", ":all:", "--only-binary", "lone"], ["lone-2.0"]),
                (["--only-binary", ":all:", "--no-binary", "lone"], None),
                (["--no-binary", "lone", "--only-binary", ":all:"], ["lone-2.0"]),
                (["--no-binary", "lone", "--only-binary", "lone"], ["lone-2.0"]),
                (["--only-binary", "lone", "--no-binary", "lone"], None),
                (["--only-binary", "lone", "--no-binary", ":all:"], None),
                (["--no-binary", ":all:", "--only-binary", ":all:"], ["lone-2.0"]),
                (["--only-binary", "lone", "--no-binary", ":all:", "--no-binary", ":none:"], ["lone-2.0"]),
                (["--no-binary", ":all:,dep", "--only-binary", "dep"], None),
                (["--no-binary", "lone", "--only-binary", ":none:"], None),
            ]
        ])
        self.rows([("a path", {}, ["--no-binary", ":all:", "<path lone 1.0>"], None)])
        result = self.variant("install", "--index-url", self.url, "--python", self.venv, "--no-binary", "lone", "lone<2")
        self.assert_fails(result, 1, "wheels of lone are excluded", "variant install --build=lone 'lone<2'")


class UvTable(IntegrityCase):
    """What only uv has."""

    def setUp(self):
        super().setUp()
        self.serve()

    def rows(self, rows):
        for title, files, arguments, expected in rows:
            self.compare(title, files, arguments, expected, tools=UV)

    def test_exclude_newer(self):
        self.publish("t", "1.0", **{"upload-time": "2024-01-01T00:00:00Z"})
        self.publish("t", "2.0", **{"upload-time": "2024-06-01T12:00:00.123456Z"})
        self.publish("t", "3.0")
        self.publish("u", "1.0")
        self.publish("w", "1.0", ["t"], **{"upload-time": "2023-01-01T00:00:00Z"})
        en, of = "--exclude-newer", "--exclude-newer-package"
        for when, expected in [("2024-03-01", ["t-1.0"]), ("2024-06-01", ["t-2.0"]), ("2024-05-31", ["t-1.0"]),
                               ("2024-06-01T12:00:00.123456Z", ["t-1.0"]), ("2024-06-01T12:00:00.124Z", ["t-2.0"]),
                               ("2024-06-01T14:00:00+02:00", ["t-1.0"]), ("2024-06-01T14:00:01+02:00", ["t-2.0"]),
                               ("2023-12-31T23:59:59Z", None), ("nonsense", None), ("30 days", ["t-2.0"]), ("P1D", ["t-2.0"])]:
            self.rows([(f"--exclude-newer {when}", {}, [en, when, "t"], expected)])
        folder = str(self.index.folder / "u")
        self.rows([
            ("no upload time", {}, [en, "2024-03-01", "u"], None),
            ("a dependency", {}, [en, "2024-03-01", "w"], ["t-1.0", "w-1.0"]),
            ("one package", {}, [of, "t=2024-03-01", "t", "u"], ["t-1.0", "u-1.0"]),
            ("one package otherwise", {}, [en, "2024-03-01", of, "t=2024-12-01", "t"], ["t-2.0"]),
            ("one package not", {}, [en, "2023-03-01", of, "t=false", "w"], ["t-3.0", "w-1.0"]),
            ("a folder has no times", {}, ["--no-index", "--find-links", folder, en, "2024-01-01", "u"], ["u-1.0"]),
            ("nor has a URL", {}, ["u @ <url u 1.0>", en, "2020-01-01"], ["u-1.0"]),
        ])
        result = self.variant("install", "--index-url", self.url, "--python", self.venv, "--reinstall", "u", en, "2024-01-01")
        self.assert_fails(result, 1, "1 file of u is excluded", "--exclude-newer", "does not give the upload time", "u=false")

    def test_overrides(self):
        self.publish("dep", "1.0")
        self.publish("dep", "2.0")
        self.publish("lone", "1.0")
        self.publish("lib", "1.0", ["dep"])
        self.publish("pinned", "1.0", ["dep==1.0"])
        self.publish("win", "1.0", ["dep==1.0 ; sys_platform == 'win32'"])
        self.publish("more", "1.0", ["dep==1.0 ; extra == 'x'"], )
        o = ["--override", "o.txt"]
        old = {"o.txt": "dep==1.0\n"}
        self.rows([
            ("a dependency", old, [*o, "lib"], LIB),
            ("against metadata", {"o.txt": "dep==2.0\n"}, [*o, "pinned"], ["dep-2.0", "pinned-1.0"]),
            ("a requirement", old, [*o, "lib", "dep>=2"], LIB),
            ("its marker does not hold", {"o.txt": "dep==1.0 ; python_version<'3'\n"}, [*o, "lib"], ["lib-1.0"]),
            ("one of two holds", {"o.txt": "dep==1.0 ; python_version<'3'\ndep==2.0 ; python_version>='3'\n"},
             [*o, "pinned"], ["dep-2.0", "pinned-1.0"]),
            ("the marker that it replaces is gone", old, [*o, "win"], ["dep-1.0", "win-1.0"]),
            ("an extra that nobody asks for", old, [*o, "more"], ["more-1.0"]),
            ("it asks for nothing", {"o.txt": "lone==1.0\n"}, [*o, "dep==1.0"], ["dep-1.0"]),
            ("a URL", {"o.txt": "dep @ <url dep 1.0>\n"}, [*o, "lib"], LIB),
            ("a constraint against it", {**old, "c.txt": "dep==2.0\n"}, [*o, "lib", "-c", "c.txt"], None),
            ("a wrong hash", {"o.txt": "dep==1.0 --hash=<BAD>\n"}, [*o, "lib"], None),
            ("a hash, required", {"o.txt": "dep==1.0 --hash=<dep 1.0>\n", "r.txt": "lib==1.0 --hash=<lib 1.0>\n"},
             [*o, *R, "--require-hashes"], LIB),
        ])

    def test_urls_in_metadata(self):
        self.publish("dep", "1.0")
        self.publish("dep", "2.0")
        self.publish("evil", "1.0", [self.spelled("dep @ <url dep 1.0>")])
        self.publish("http", "1.0", [self.spelled("dep @ <http dep 1.0>")])
        evil = ["dep-1.0", "evil-1.0"]
        self.rows([
            ("a file", {}, ["evil"], None),
            ("a server", {}, ["http"], None),
            ("named by the user", {}, ["evil", "dep @ <url dep 1.0>"], evil),
            ("a server named by the user", {}, ["http", "dep @ <http dep 1.0>"], ["dep-1.0", "http-1.0"]),
            ("named by a constraint", {"c.txt": "dep @ <url dep 1.0>\n"}, ["evil", "-c", "c.txt"], evil),
            ("another one is named", {}, ["http", "dep @ <url dep 1.0>"], None),
            ("overridden", {"o.txt": "dep==2.0\n"}, ["evil", "--override", "o.txt"], ["dep-2.0", "evil-1.0"]),
            ("of what the user named by its URL", {}, ["evil @ <url evil 1.0>"], evil),
            ("of a path", {}, ["<path http 1.0>"], ["dep-1.0", "http-1.0"]),
        ])
        result = self.variant("install", "--index-url", self.url, "--python", self.venv, "--reinstall", "evil")
        self.assert_fails(result, 1, "evil 1.0 requires dep from file://", "a URL that you did not request",
                          "'dep @ file://")


class VariantsTest(IntegrityCase):
    def test_only_listed_variants_count_and_the_better_one_is_named(self):
        publish_levels(self.index, labels=("v1", "v2"))
        by_label = {one["filename"][:-4].split("-")[-1]: one["hashes"]["sha256"] for one in self.index.projects["demo"]
                    if one["filename"].endswith(".whl")}
        for labels, chosen in [(("v1", "v2"), "v2"), (("v1",), "v1"), (("null",), "null"), (("any",), None)]:
            hashes = " ".join(f"--hash=sha256:{by_label[label]}" for label in labels)
            (self.root / "r.txt").write_text(f"demo==1.0 {hashes}\n")
            result = self.assert_ok(self.install("--reinstall", "-r", "r.txt", index=self.index))
            self.assertEqual(self.installed()["demo"], ("1.0", chosen), str(result))
            told = "v2 would fit better, but its hash is not listed" in result.err
            self.assertEqual(told, chosen != "v2", str(result))

    def test_no_variant_is_listed(self):
        publish_levels(self.index, labels=("v1",), plain=False)
        (self.root / "r.txt").write_text(f"demo==1.0 --hash={BAD}\n")
        result = self.install("-r", "r.txt", index=self.index)
        self.assert_fails(result, 1, "expected " + BAD, "got: demo-1.0")
        self.assertEqual(self.installed(), {})

    def test_what_is_stored_is_checked_too(self):
        self.publish("lone", "1.0", hashes={})
        self.assert_ok(self.install("lone", index=self.index))
        for listed, code in [(BAD, 1), ("sha512:" + "0" * 128, 1), (self.digest("lone", "1.0"), 0),
                             (self.digest("lone", "1.0", "sha512"), 0), (self.digest("lone", "1.0", "blake2b"), 0)]:
            (self.root / "r.txt").write_text(f"lone==1.0 --hash={listed}\n")
            result = self.install("--reinstall", "-r", "r.txt", index=self.index)
            self.assertEqual(result.code, code, f"{listed}: {result}")
        self.assertEqual(self.installed()["lone"][0], "1.0")


class ContradictionTest(IntegrityCase):
    """METADATA that the resolver read beside the wheel and that is not the wheel's."""

    def lie(self, wheel, text, **changes):
        metadata = text.encode()
        self.index.add_wheel(wheel, **{"core-metadata": {"sha256": hashlib.sha256(metadata).hexdigest()}, **changes})
        (self.index.folder / wheel.name / (wheel.file_name + ".metadata")).write_bytes(metadata)

    def metadata(self, *lines):
        return "\n".join(["Metadata-Version: 2.1", "Name: demo", "Version: 1.0", *lines, ""])

    def test_fields_that_differ_are_named(self):
        for wheel, lines, words in [
            (Wheel("demo", "1.0"), ["Requires-Python: >=3"], "Requires-Python: only the index has >=3;"),
            (Wheel("demo", "1.0", extra_metadata="Requires-Python: >=2\n"), [], "Requires-Python: only the wheel has >=2;"),
            (Wheel("demo", "1.0", extra_metadata="Provides-Extra: a\n"), ["Provides-Extra: b"],
             "Provides-Extra: only the wheel has a, only the index has b;"),
        ]:
            self.lie(wheel, self.metadata(*lines))
            result = self.assert_ok(self.install("demo", "--reinstall", index=self.index))
            self.assertIn("the METADATA in demo-1.0-py3-none-any.whl differs from the one that", result.err)
            self.assertIn(words + " the wheel's own is used", result.err)

    def test_nothing_is_installed_where_the_truth_does_not_fit(self):
        self.lie(Wheel("demo", "1.0", extra_metadata="Requires-Python: >=99\n"), self.metadata())
        self.assert_fails(self.install("demo", index=self.index), 3, "needs Python >=99")
        self.publish("dep", "1.0")
        self.lie(Wheel("demo", "1.0", requires=["dep<1"]), self.metadata())
        self.assert_fails(self.install("demo", index=self.index), 1, "dep<1")
        self.assertEqual(self.installed(), {})

    def test_what_is_stored_is_compared_too(self):
        wheel = Wheel("demo", "1.0")
        self.index.add_wheel(wheel)
        self.assert_ok(self.install("demo", index=self.index))
        entry = dict(self.index.projects["demo"][0])
        text = self.metadata("Requires-Dist: dep")
        (self.index.folder / "demo" / (wheel.file_name + ".metadata")).write_text(text)
        self.index.add("demo", wheel.file_name, (self.index.folder / "demo" / wheel.file_name).read_bytes(),
                       **{"core-metadata": True, "hashes": entry["hashes"]})
        self.publish("dep", "1.0")
        result = self.assert_ok(self.install("demo", "--reinstall", index=self.index))
        self.assertIn("only the index has dep;", result.err)
        self.assertEqual(set(self.installed()), {"demo"})

    def test_other_spellings_are_the_same(self):
        self.publish("dep", "2.0")
        self.lie(Wheel("demo", "1.0", requires=["dep >= 1, <3", 'other; sys_platform=="win32"']),
                 self.metadata("Requires-Dist: Dep<3,>=1", "Requires-Dist: other ; sys_platform == 'win32'"))
        self.assert_ok(self.install("demo", index=self.index))

    def test_dependencies_that_differ_are_resolved_with_the_truth(self):
        self.publish("dep", "1.0")
        self.publish("dep", "2.0")
        self.lie(Wheel("demo", "1.0", requires=["dep<2"]), self.metadata("Requires-Dist: dep"))
        result = self.assert_ok(self.install("demo", index=self.index))
        self.assertEqual({name: one[0] for name, one in self.installed().items()}, {"demo": "1.0", "dep": "1.0"})
        self.assertIn("only the wheel has dep<2", result.err)


if __name__ == "__main__":
    unittest.main()
