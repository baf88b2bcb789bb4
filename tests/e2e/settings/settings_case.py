"""What the tests of settings share: indexes on one server, and what pip, uv and we would install from them."""

import http.server
import json
import pathlib
import sys
import threading

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "builds"))
import support
from sdist_case import Sdist
from support import Wheel


PLAIN = {"demo": "1.0"}


class Scenario:
    """`value` (of `spelled[name]`, where a name wants another) makes `before` into `after`; "fails" is any exit code but 0.
    `ask` asks us in another way; `peers`: what of "pip" and "uv" answers alike."""

    def __init__(self, value, after, before=PLAIN, ask=None, peers=("pip", "uv"), spelled=None, env=None, arguments=()):
        self.value, self.after, self.before, self.ask, self.peers = value, after, before, ask, peers
        self.spelled, self.env, self.arguments = spelled or {}, env or {}, list(arguments)


class Folders(http.server.ThreadingHTTPServer):
    """Simple indexes in folders, with the pages that pip and uv both read; `asked` has the indexes that were."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.asked = []
        outer = self

        class Handler(http.server.SimpleHTTPRequestHandler):
            def __init__(self, *arguments, **options):
                super().__init__(*arguments, directory=str(outer.root), **options)

            def do_GET(self):
                outer.asked.append(self.path.split("/")[1])
                page = pathlib.Path(str(outer.root) + self.path) / "index.json"
                if not page.exists():
                    return super().do_GET()
                data = page.read_bytes()
                self.send_response(200)
                self.send_header("Content-Type", "application/vnd.pypi.simple.v1+json")
                self.send_header("Content-Length", str(len(data)))
                self.send_header("Cache-Control", "no-store")
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def url(self, name):
        return f"http://127.0.0.1:{self.server_address[1]}/{name}"


def in_words(value):
    return "1" if value is True else " ".join(value) if isinstance(value, list) else value


def in_toml(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {in_toml(one)}" for key, one in value.items()) + "}"
    return "[" + ", ".join(map(in_toml, value)) + "]" if isinstance(value, list) else json.dumps(value)


def in_options(name, value):
    if value is True:
        return [name]
    return [word for one in (value if isinstance(value, list) else [value]) for word in (name, one)]


class SettingsCase(support.TestCase):
    def setUp(self):
        super().setUp()
        self.make_venv()
        self.server = Folders(self.root / "web")
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.indexes = {}
        self.project = self.root / "project"
        self.project.mkdir()

    def put(self, name, *wheels, **changes):
        """An index with these wheels, as `version` or Wheel; gives its URL."""
        index = self.indexes.setdefault(name, support.Index(self.root / "web" / name))
        for one in wheels:
            index.add_wheel(one if isinstance(one, Wheel) else Wheel("demo", one), **changes)
        return self.server.url(name)

    def page(self, name, project, **changes):
        """Changes every file of a page that is there."""
        place = self.root / "web" / name / project / "index.json"
        page = json.loads(place.read_text())
        for one in page["files"]:
            one.update(changes)
        place.write_text(json.dumps(page))

    def ours(self, *arguments, env=None, cwd=None):
        """name -> version of what would be installed, or the exit code."""
        result = self.variant("resolve", "--json", *(arguments or ["demo"]), "--python", self.venv, "--no-cache",
                              env=env, cwd=cwd or self.project)
        self.said = str(result)
        if result.code != 0:
            return result.code
        return {one["name"]: one["version"] for one in result.json["packages"]}

    def would_install(self, *arguments, env=None):
        """The same of `install`, which looks at the environment."""
        result = self.variant("install", "--dry-run", "--json", *arguments, "--python", self.venv, "--no-cache",
                              env=env, cwd=self.project)
        self.said = str(result)
        if result.code != 0:
            return result.code
        return {one["name"]: one["version"] for one in result.json["installed"]}

    def of_uv(self, *arguments, env=None, cwd=None):
        result = self.uv("pip", "install", "--dry-run", "--no-cache", "--python", self.venv / "bin/python",
                         *(arguments or ["demo"]), env=env, cwd=cwd or self.project)
        self.said_by_peer = str(result)
        if result.code != 0:
            return result.code
        lines = [line[3:] for line in result.err.splitlines() if line.startswith(" + ")]
        # Of a wheel by its place uv says where: "demo @ file:///demo-1.0-py3-none-any.whl".
        return dict(line.split("==") if "==" in line else (line.split(" @ ")[0], line.rpartition("/")[2].split("-")[1])
                    for line in lines)

    def of_pip(self, *arguments, env=None, cwd=None):
        result = self.pip("install", "--dry-run", "--no-cache-dir", "--quiet", "--report", "-", *(arguments or ["demo"]),
                          env=env, cwd=cwd or self.project)
        self.said_by_peer = str(result)
        if result.code != 0:
            return result.code
        return {one["metadata"]["name"]: one["metadata"]["version"] for one in json.loads(result.out)["install"]}

    def assert_as_peers(self, wanted, *arguments):
        """`wanted`: versions by name; None: refused. If pip and uv agree, Axle agrees with them."""
        answers = {peer.__name__: peer(*arguments) for peer in (self.of_pip, self.of_uv)}
        answers = {name: None if isinstance(one, int) else one for name, one in answers.items()}
        ours = self.ours(*arguments)
        self.assertEqual(None if isinstance(ours, int) else ours, wanted, self.said)
        if answers["of_pip"] == answers["of_uv"]:
            self.assertEqual(wanted, answers["of_pip"], str(answers))
        else:
            self.assertIn(wanted, list(answers.values()), str(answers))

    def assert_same(self, peer, wanted, *arguments, **options):
        """Both fail, or both would install `wanted`."""
        theirs = peer(*arguments, **options)
        ours = self.ours(*arguments, **options)
        message = f"ours: {self.said}\ntheirs: {self.said_by_peer}"
        if wanted == "fails":
            self.assertIsInstance(theirs, int, message)
            self.assertIsInstance(ours, int, message)
        else:
            self.assertEqual(theirs, wanted, message)
            self.assertEqual(ours, wanted, message)

    def write(self, name, text, folder=None):
        place = (folder or self.project) / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
        return place

    def of_a_sdist(self, **options):
        """The question `sdemo`, which has to be built, with `options` of its Sdist; Axle is told that it may."""
        self.log = self.root / "built"
        made = Sdist(self, "sdemo", "1.0", **options)
        support.Index(self.root / "web/a").add("sdemo", made.file_name, made.bytes())
        tools = self.root / "tools"
        tools.mkdir()
        (tools / "uv").symlink_to((support.PEERS / "uv").resolve())
        env = {"PATH": f"{tools}:{self.env['PATH']}", "UV_CACHE_DIR": str(self.root / "uv-cache")}
        return {"before": {"sdemo": "1.0"}, "arguments": ["sdemo"], "env": env, "peers": ("uv",),
                "ask": lambda *arguments, env: self.ours("--build", *arguments, env=env)}
