"""What the tests of builds share: source distributions with a backend of their own, and environments with or without pip."""

import gzip
import io
import os
import pathlib
import shutil
import subprocess
import tarfile

import support
from loopback import Loopback
from support import PEERS, Wheel

BACKEND = '''
import os, shutil, sys

def note(text):
    with open({log!r}, "a") as log:
        log.write(text + "\\n")

def build_wheel(folder, config_settings=None, metadata_directory=None):
    here = os.path.dirname(os.path.abspath(__file__))
    note({title!r})
{before}
    for name in {wheels!r}:
        shutil.copy(os.path.join(here, name), os.path.join(folder, name))
    return {wheels!r}[0]
'''


class Sdist:
    """`makes`: the wheels that its backend gives, of the same name and version unless it says otherwise; `before`: statements that
    its backend runs first."""

    def __init__(self, case, name, version, makes=None, requires=(), before="", build_requires=()):
        dist = name.replace("-", "_")
        self.name, self.version = name, version
        self.file_name = f"{dist}-{version}.tar.gz"
        self.makes = makes if makes is not None else [Wheel(name, version, requires=requires)]
        lines = "".join(f"    {line}\n" for line in before.splitlines())
        self.members = {
            "PKG-INFO": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
            "pyproject.toml": f'[build-system]\nrequires = {list(build_requires)!r}\nbuild-backend = "backend"\nbackend-path = ["."]\n',
            "backend.py": BACKEND.format(log=str(case.log), title=f"{name} {version}", before=lines,
                                         wheels=[one.file_name for one in self.makes]),
        }

        self.wheels = {one.file_name: one.bytes() for one in self.makes}

    def files(self):
        """[(path, bytes)] of everything in it."""
        return [(path, content.encode() if isinstance(content, str) else content)
                for path, content in {**self.members, **self.wheels}.items()]

    def write(self, folder):
        """The same as a folder."""
        folder = pathlib.Path(folder)
        for path, data in self.files():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(data)
        return folder

    def bytes(self):
        out = io.BytesIO()
        with gzip.GzipFile(fileobj=out, mode="wb", mtime=0) as packed, tarfile.open(fileobj=packed, mode="w") as archive:
            for path, data in self.files():
                member = tarfile.TarInfo(f"{self.file_name.removesuffix('.tar.gz')}/{path}")
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))
        return out.getvalue()


class BuildCase(support.TestCase):
    """An environment with pip 26.3, an index on loopback, and a note of everything that was built."""

    def setUp(self):
        super().setUp()
        self.log = self.root / "built"
        self.make_venv()
        self.env["AXLE_CACHE_DIR"] = str(self.root / "cache")
        self.env["PATH"] = "/usr/bin:/bin"
        self.env["PIP_RETRIES"] = "0"
        self.server = Loopback(self)
        self.url = self.server.url("/simple")
        self.give_pip(self.venv)

    def sdist(self, *arguments, **options):
        return Sdist(self, *arguments, **options)

    def publish(self, *files):
        self.server.publish("/simple", *files)

    def built(self):
        """What was built, in order: "demo 1.0"."""
        return self.log.read_text().splitlines() if self.log.exists() else []

    def give_pip(self, venv):
        found = list(PEERS.parent.glob("lib/python3*/site-packages/pip"))
        if not found:
            self.skipTest(f"{PEERS} is not there: ./dev setup brings pip and uv from the package index that pip is configured for")
        place = self.root / "pip"
        place.mkdir(exist_ok=True)
        (place / "pip").symlink_to(found[0])
        (self.site(venv) / "a_pip.pth").write_text(f"{place}\n")

    def with_uv_only(self):
        (self.site() / "a_pip.pth").unlink()
        folder = self.root / "uv-alone"
        folder.mkdir()
        (folder / "uv").symlink_to((PEERS / "uv").resolve())
        self.env["PATH"] = f"{folder}:/usr/bin:/bin"
        self.env["UV_CACHE_DIR"] = str(self.root / "uv-cache")

    def ask(self, *arguments, command="install", env=None):
        return self.variant(command, *arguments, "--index-url", self.url, "--python", self.venv, env=env)

    def package(self, result, name="demo"):
        return next(one for one in self.assert_ok(result).json["packages"] if one["name"] == name)

    def file(self, name, text):
        path = pathlib.Path(self.root / name)
        path.write_text(text)
        return path

    def make_repository(self, folder, *revisions):
        """A repository of git with one commit for each (tag, {path of a project in it: Sdist}); their ids."""
        if shutil.which("git") is None:
            self.skipTest("git is not installed")
        folder = pathlib.Path(folder)
        folder.mkdir(parents=True)
        self.git(folder, "init", "--quiet", "--initial-branch=main")
        commits = []
        for tag, projects in revisions:
            for path, project in projects.items():
                project.write(folder / path)
            self.git(folder, "add", ".")
            self.git(folder, "commit", "--quiet", "-m", tag)
            self.git(folder, "tag", tag)
            commits.append(self.git(folder, "rev-parse", "HEAD"))
        return commits

    def git(self, folder, *words):
        done = subprocess.run(["git", "-C", str(folder), "-c", "user.name=t", "-c", "user.email=t@example.org", *words],
                              env=self.env, text=True, capture_output=True, check=True, timeout=60)
        return done.stdout.strip()

    def processes(self, word):
        """Command lines on this machine that contain `word`."""
        found = []
        for entry in os.listdir("/proc"):
            try:
                line = pathlib.Path(f"/proc/{entry}/cmdline").read_bytes() if entry.isdigit() else b""
            except OSError:
                continue
            if word.encode() in line:
                found.append(line)
        return found
