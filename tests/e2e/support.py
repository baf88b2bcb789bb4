"""What the end-to-end tests share: an isolated home, wheels made on the spot, indexes that may lie."""

import atexit
import base64
import csv
import functools
import hashlib
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

import neighbours

BIN = pathlib.Path(os.environ["AXLE_BIN"])
SOURCE = pathlib.Path(os.environ["AXLE_SOURCE_DIR"])
VARIANT = BIN / "variant"
PYTHON = "/usr/bin/python3" if os.access("/usr/bin/python3", os.X_OK) else sys.executable
SCHEMA = "https://variants-schema.wheelnext.dev/peps/850/v0.2.0.json"

# What `./dev setup` brings from the configured package index: pip 26.3 and uv 0.13.9.
PEERS = SOURCE / "build/peers/bin"

X86_PROVIDER = {"requires": ["x86-64-variant-provider"]}
NVIDIA_PROVIDER = {
    "requires": ["nvidia-variant-provider"],
    "plugin-api": "nvidia_variant_provider.plugin:NvidiaVariantPlugin",
}


def record_hash(data):
    digest = hashlib.sha256(data).digest()
    return "sha256=" + base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def variant_document(variants, namespaces=("x86_64",), providers=None, schema=SCHEMA):
    """`variants`: label -> [(namespace, feature, [values])]."""
    if providers is None:
        known = {"x86_64": X86_PROVIDER, "nvidia": NVIDIA_PROVIDER}
        providers = {ns: known.get(ns, {"requires": [ns + "-provider"]}) for ns in namespaces}
    document = {
        "$schema": schema,
        "default-priorities": {"namespace": list(namespaces)},
        "providers": providers,
        "variants": {},
    }
    for label, properties in variants.items():
        entry = document["variants"].setdefault(label, {})
        for ns, feature, values in properties:
            entry.setdefault(ns, {})[feature] = sorted(values)
    return document


class Wheel:
    """A wheel in memory; the members may be bent before it is written."""

    def __init__(self, name, version, label=None, document=None, files=None, requires=(), tags="py3-none-any",
                 extra_metadata=""):
        dist = name.replace("-", "_")
        self.name, self.version, self.label = name, version, label
        self.dist_info = f"{dist}-{version}.dist-info"
        self.file_name = f"{dist}-{version}-{tags}" + (f"-{label}" if label else "") + ".whl"
        metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        metadata += "".join(f"Requires-Dist: {one}\n" for one in requires) + extra_metadata
        self.members = dict(files or {f"{dist}.py": f"VARIANT = {label!r}\nVERSION = {version!r}\n"})
        self.members[f"{self.dist_info}/METADATA"] = metadata
        self.members[f"{self.dist_info}/WHEEL"] = (
            "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\n"
            + "".join(f"Tag: {tag}\n" for tag in [tags])
        )
        if document is not None:
            own = dict(document)
            own["variants"] = {label: document["variants"][label]}
            self.members[f"{self.dist_info}/variant.json"] = json.dumps(own)
        self.record_lies = {}  # path -> (hash, size) that RECORD says
        self.record_drops = set()
        self.record_adds = []
        self.raw_members = []  # (ZipInfo, bytes) written as they are

    def record(self):
        text = io.StringIO()
        rows = csv.writer(text, lineterminator="\n")
        for path, content in self.members.items():
            if path in self.record_drops:
                continue
            data = content.encode() if isinstance(content, str) else content
            told = self.record_lies.get(path, (record_hash(data), len(data)))
            rows.writerow([path, *told])
        for row in self.record_adds:
            rows.writerow(row)
        rows.writerow([f"{self.dist_info}/RECORD", "", ""])
        return text.getvalue()

    def bytes(self):
        """The same ones each time: no member has the time of day."""
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as archive:
            for path, content in self.members.items():
                archive.writestr(zipfile.ZipInfo(path), content, zipfile.ZIP_DEFLATED)
            for info, data in self.raw_members:
                archive.writestr(info, data)
            archive.writestr(zipfile.ZipInfo(f"{self.dist_info}/RECORD"), self.record(), zipfile.ZIP_DEFLATED)
        return out.getvalue()

    def write(self, folder):
        path = pathlib.Path(folder) / self.file_name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.bytes())
        return path


class Index:
    """A simple index in a folder, written by hand so that it can be wrong on purpose."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.projects = {}

    @property
    def url(self):
        return self.folder.as_uri()

    def add(self, project, file_name, data, **changes):
        place = self.folder / project
        place.mkdir(parents=True, exist_ok=True)
        (place / file_name).write_bytes(data)
        entry = {
            "filename": file_name,
            "url": file_name.replace("+", "%2B"),
            "hashes": {"sha256": hashlib.sha256(data).hexdigest()},
            "size": len(data),
        }
        entry.update(changes)
        files = self.projects.setdefault(project, [])
        files[:] = [one for one in files if one["filename"] != file_name] + [entry]
        page = {"meta": {"api-version": "1.1"}, "name": project, "versions": [], "files": files}
        (place / "index.json").write_text(json.dumps(page))

    def add_wheel(self, wheel, **changes):
        self.add(wheel.name, wheel.file_name, wheel.bytes(), **changes)

    def add_variants(self, name, version, document, **changes):
        text = document if isinstance(document, str) else json.dumps(document)
        self.add(name, f"{name.replace('-', '_')}-{version}-variants.json", text.encode(), **changes)


def tree(folder):
    """Every file below `folder` with its content's hash; byte code, which Python writes itself, left out."""
    found = {}
    for path in sorted(pathlib.Path(folder).rglob("*")):
        if "__pycache__" in path.parts or path.is_symlink():
            continue
        if path.is_file():
            found[str(path.relative_to(folder))] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


@functools.cache
def environment_named(name):
    """Made once a test program: Python takes thirty times as long as a copy."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="axle-e2e-environment-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", str(folder / name)], check=True)
    return folder / name


def copy_environment(made, path):
    """As new as one that is made here, and with the path that it has here in all that tells it."""
    shutil.copytree(made, path, symlinks=True, copy_function=shutil.copy)
    for file in [path / "pyvenv.cfg", *(path / "bin").glob("[aA]ctivate*")]:
        file.write_bytes(file.read_bytes().replace(bytes(made), bytes(path)))
    for folder, _, _ in os.walk(path):
        os.utime(folder)


class Result:
    def __init__(self, done):
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr

    @property
    def json(self):
        return json.loads(self.out)

    def __str__(self):
        return f"exit {self.code}\nstdout: {self.out}\nstderr: {self.err}"


class TestCase(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="axle-e2e-"))
        self.addCleanup(shutil.rmtree, self.root, ignore_errors=True)
        self.root.chmod(0o755)
        self.env = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith(("PIP_", "UV_", "AXLE_", "XDG_", "CONDA_", "AWS_"))
            and key not in ("VIRTUAL_ENV", "PYTHONPATH", "NO_COLOR") and not key.lower().endswith("_proxy")
        }
        (self.root / "home").mkdir()
        self.env["HOME"] = str(self.root / "home")
        self.env["PIP_CONFIG_FILE"] = "/dev/null"
        self.venv = self.root / "venv"

    def need_program_as_shipped(self):
        if os.environ.get("AXLE_SANITIZED"):
            self.skipTest("the program carries a sanitizer, which runs neither under a tracer, in an emulator nor within limits")

    def make_venv(self, path=None):
        """An environment as `python -m venv --without-pip` makes it."""
        path = path or self.venv
        if os.path.lexists(path):
            subprocess.run([PYTHON, "-m", "venv", "--without-pip", str(path)], check=True, env=self.env)
        else:
            copy_environment(environment_named(pathlib.Path(path).name), pathlib.Path(os.path.abspath(path)))
        return path

    def site(self, venv=None):
        return next((venv or self.venv).glob("lib/python3*/site-packages"))

    def variant(self, *arguments, env=None, program=VARIANT, cwd=None, prefix=(), timeout=120):
        done = subprocess.run(
            [*map(str, prefix), str(program), *map(str, arguments)],
            env={**self.env, **(env or {})}, cwd=cwd or self.root, text=True,
            capture_output=True, timeout=timeout, stdin=subprocess.DEVNULL,
        )
        return Result(done)

    def install(self, *arguments, index=None, **options):
        where = ["--index-url", index.url if isinstance(index, Index) else index] if index else []
        return self.variant("install", *arguments, *where, "--python", self.venv, **options)

    def peer(self, name, *arguments, env=None, cwd=None):
        """pip or uv, with the environment that `variant` gets; where `./dev setup` could not bring it, the test skips."""
        program = PEERS / name
        if not program.exists():
            self.skipTest(f"{program} is not there: ./dev setup brings it from the package index that pip is configured for")
        done = subprocess.run([str(program), *map(str, arguments)], text=True, capture_output=True, timeout=120,
                              env={"UV_CACHE_DIR": str(self.root / "uv-cache"), "UV_NO_MANAGED_PYTHON": "1",
                                   "PIP_DISABLE_PIP_VERSION_CHECK": "1", **self.env, **(env or {})},
                              cwd=cwd or self.root, stdin=subprocess.DEVNULL)
        return Result(done)

    def uv(self, *arguments, **options):
        return self.peer("uv", *arguments, **options)

    def pip(self, *arguments, python=None, **options):
        """pip 26.3; `python`: of the environment that it shall look at (the test's own)."""
        return self.peer("python", "-m", "pip", "--python", python or self.venv / "bin/python", *arguments, **options)

    def python(self, code, venv=None):
        done = subprocess.run([str((venv or self.venv) / "bin/python"), "-I", "-c", code],
                              env=self.env, text=True, capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()

    def assert_ok(self, result):
        self.assertEqual(result.code, 0, str(result))
        return result

    def assert_fails(self, result, code, *words):
        """Exit code, and every word in the error that a person reads."""
        self.assertEqual(result.code, code, str(result))
        for word in words:
            self.assertIn(word, result.err + result.out, str(result))
        return result

    def assert_neighbours_work(self, venv=None):
        """pip, uv and importlib.metadata read, check, add to and empty the environment (a copy of it, for the last); see
        neighbours.py. It must be whole: what `variant check` finds is a failure."""
        if not (PEERS / "uv").exists():
            self.skipTest(f"{PEERS} is not there: ./dev setup brings pip and uv from the package index that pip is configured for")

        def make_wheel(name, requires):
            return Wheel(name, "1.0", requires=requires).write(self.root / "neighbours")

        neighbours.examine(self, venv or self.venv, PEERS, make_wheel)

    def installed(self, venv=None):
        result = self.assert_ok(self.variant("list", "--json", "--python", venv or self.venv))
        return {one["name"]: (one["version"], one["variant"]) for one in result.json["packages"]}


def levels_document(labels=("v1", "v2", "v3", "v4"), extra=()):
    """null and one variant a level; `extra`: label -> level that no machine has."""
    variants = {"null": []}
    for label in labels:
        variants[label] = [("x86_64", "level", [label])]
    for label, value in dict(extra).items():
        variants[label] = [("x86_64", "level", [value])]
    return variant_document(variants)


def publish_levels(index, name="demo", version="1.0", labels=("v1", "v2", "v3", "v4"), plain=True, **wheel_options):
    document = levels_document(labels)
    for label in document["variants"]:
        index.add_wheel(Wheel(name, version, label, document, **wheel_options))
    if plain:
        index.add_wheel(Wheel(name, version, **wheel_options))
    index.add_variants(name, version, document)
    return document


class EnvironmentTestCase(TestCase):
    """With an empty environment and an empty index."""

    def setUp(self):
        super().setUp()
        self.make_venv()
        self.index = Index(self.root / "index")
        self.before = tree(self.venv)

    def assert_untouched(self):
        after = {path: content for path, content in tree(self.venv).items() if not path.startswith(".axle")}
        self.assertEqual(after, self.before)
        self.assertEqual(self.installed(), {})
