"""torch's index as a folder of HTML pages with stand-in wheels of a few hundred bytes.

Which builds there are is read from the table that the shipped family is made of; how the pages look follows
pytorch/test-infra s3_management/manage_v2.py: HTML only, `%2B` in links, hashes only where the index happens to have
them, one page with the files of every label beside one folder a label.
"""

import collections
import hashlib
import html
import json
import pathlib
import shutil
import subprocess
import tempfile

from support import BIN, PYTHON, SOURCE, Index, TestCase, Wheel

TABLE = json.loads((SOURCE / "index/families/torch-builds.json").read_text())

# The newest release that the tests speak of; newer ones in the table change none of their answers.
NEWEST = "2.15"
# Patch releases; the rest has .0 alone.
PATCHES = {"2.4": ["2.4.0", "2.4.1"], "2.7": ["2.7.0", "2.7.1"], "2.9": ["2.9.0", "2.9.1"],
           "2.12": ["2.12.0", "2.12.1"], "2.14": ["2.14.0", "2.14.1"]}
# torchvision of each torch; 0.29.2 goes with 2.14.1 and 2.15.
VISION = {"2.4.0": "0.19.0", "2.4.1": "0.19.1", "2.5.0": "0.20.0", "2.6.0": "0.21.0", "2.7.0": "0.22.0",
          "2.7.1": "0.22.1", "2.8.0": "0.23.0", "2.9.0": "0.24.0", "2.9.1": "0.24.1", "2.10.0": "0.25.0",
          "2.11.0": "0.26.0", "2.12.0": "0.27.0", "2.12.1": "0.27.1", "2.13.0": "0.28.0", "2.14.0": "0.29.0",
          "2.14.1": "0.29.1", "2.15.0": "0.29.2"}
LAST_AUDIO = "2.11.0"

PYTHON_TAG = subprocess.run([PYTHON, "-c", "import sys; print('cp%d%d' % sys.version_info[:2])"], check=True,
                            capture_output=True, text=True).stdout.strip()
PLATFORM_TAGS = {"linux_x86_64": "manylinux_2_28_x86_64", "linux_aarch64": "manylinux_2_28_aarch64",
                 "windows_amd64": "win_amd64", "windows_arm64": "win_arm64"}

File = collections.namedtuple("File", "project label name data metadata")


def versions_of(release):
    return PATCHES.get(release, [release + ".0"])


def is_spoken_of(release):
    return [int(part) for part in release.split(".")] <= [int(part) for part in NEWEST.split(".")]


def tags(platform):
    return f"{PYTHON_TAG}-{PYTHON_TAG}-{PLATFORM_TAGS[platform]}"


def stand_in(project, version, label, platform, requires=(), extra_tags=None):
    full = f"{version}+{label}" if label else version
    wheel = Wheel(project, full, requires=requires, tags=extra_tags or tags(platform),
                  files={f"{project}/__init__.py": f"BUILD = {label!r}\n"})
    return File(project, label, wheel.file_name, wheel.bytes(), wheel.members[f"{wheel.dist_info}/METADATA"].encode())


def builds(releases=None, platforms=("linux_x86_64",)):
    """(version, label, platform) of each build of torch, newest first."""
    for release in TABLE["releases"]:
        if not (is_spoken_of(release["version"]) if releases is None else release["version"] in releases):
            continue
        for version in reversed(versions_of(release["version"])):
            for build in release["builds"]:
                absent = (version, build["label"]) in [("2.12.0", "cu129"), ("2.15.0", "rocm")]
                if build["platform"] in platforms and not absent:
                    yield version, build["label"], build["platform"]


def all_files(releases=None, platforms=("linux_x86_64",), projects=("torch", "torchvision", "torchaudio")):
    files = []
    for version, label, platform in builds(releases, platforms):
        if "torch" in projects:
            files.append(stand_in("torch", version, label, platform))
        vision = VISION[version]
        if "torchvision" in projects and (vision, label) != ("0.29.1", "cu132"):
            needs = "torch>=2.14.0" if vision == "0.29.2" else f"torch=={version}"
            files.append(stand_in("torchvision", vision, label, platform, [needs]))
        audio = tuple(map(int, version.split("."))) <= tuple(map(int, LAST_AUDIO.split(".")))
        if "torchaudio" in projects and audio:
            needs = [] if version == LAST_AUDIO else [f"torch=={version}"]
            files.append(stand_in("torchaudio", version, label, platform, needs))
    return files


class TorchIndex:
    """Written below `folder`: files/LABEL/…, PROJECT/index.html with all of them, LABEL/PROJECT/index.html."""

    def __init__(self, folder, files, files_url=None, hashes=True, metadata=True):
        self.folder = pathlib.Path(folder)
        self.files = list(files)
        self.files_url = files_url  # of the folder `files`, where that is another host
        self.hashes, self.metadata = hashes, metadata

    @property
    def url(self):
        return self.folder.as_uri()

    def link(self, file, depth):
        place = self.files_url or "../" * depth + "files"
        href = f"{place}/{file.label or 'none'}/{file.name}".replace("+", "%2B")
        if self.hashes:
            href += "#sha256=" + hashlib.sha256(file.data).hexdigest()
        marks = ""
        if self.metadata:
            digest = "sha256=" + hashlib.sha256(file.metadata).hexdigest()
            marks = f' data-dist-info-metadata="{digest}" data-core-metadata="{digest}"'
        return f'    <a href="{href}"{marks}>{html.escape(file.name)}</a><br/>\n'

    def page(self, project, files, depth):
        links = "".join(self.link(file, depth) for file in files)
        return (f"<!DOCTYPE html>\n<html>\n  <body>\n    <h1>Links for {project}</h1>\n{links}  </body>\n</html>\n"
                "<!--TIMESTAMP 1763000000-->\n")

    def write(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        for file in self.files:
            place = self.folder / "files" / (file.label or "none")
            place.mkdir(parents=True, exist_ok=True)
            (place / file.name).write_bytes(file.data)
            if self.metadata:
                (place / (file.name + ".metadata")).write_bytes(file.metadata)
        by_project = collections.defaultdict(list)
        by_folder = collections.defaultdict(list)
        for file in self.files:
            by_project[file.project].append(file)
            by_folder[file.label, file.project].append(file)
        for project, files in by_project.items():
            self.put(self.folder / project, self.page(project, files, 1))
        for (label, project), files in list(by_folder.items()):
            if label:
                # A folder also lists the files that have no label.
                self.put(self.folder / label / project, self.page(project, files + by_folder[None, project], 2))
        return self

    @staticmethod
    def put(folder, text):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "index.html").write_text(text)


class TorchTestCase(TestCase):
    """Commands against torch's family at `self.torch_url` and the default index `self.default`. The family's index is
    made once a class from `FILES`: tests that change it make one of their own with `own_index`."""

    FILES = None  # a function that gives the files

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if cls.FILES is None:
            return
        folder = tempfile.mkdtemp(prefix="axle-torch-")
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        cls.shared = TorchIndex(folder, cls.FILES()).write()

    def setUp(self):
        super().setUp()
        self.torch_url = self.shared.url if self.FILES else None
        self.default = Index(self.root / "default")
        self.default.folder.mkdir()

    def own_index(self, files, **options):
        index = TorchIndex(self.root / "torch-index", files, **options).write()
        self.torch_url = index.url
        return index

    def serve(self):
        """index_server on this test's folder; the address of its root."""
        server = subprocess.Popen([BIN / "index_server", str(self.root)], stdout=subprocess.PIPE, text=True)
        for cleanup in (server.stdout.close, server.wait, server.terminate):
            self.addCleanup(cleanup)
        return f"http://127.0.0.1:{int(server.stdout.readline())}"

    def family(self, command, *arguments, machine=None, **options):
        """One command with the family in force."""
        chosen = [] if machine is None else ["--for", machine]
        return self.variant(command, *arguments, "-i", self.default.url, "--family", f"torch={self.torch_url}",
                            "--python", self.venv if self.venv.exists() else PYTHON, *chosen, **options)

    def builds(self, *arguments, machine, **options):
        """What `resolve` takes: name -> (version without its label, label)."""
        result = self.assert_ok(self.family("resolve", *arguments, "--json", machine=machine, **options))
        return {one["name"]: (one["version"].partition("+")[0], one["variant"]) for one in result.json["packages"]}

    def assert_builds(self, expected, *arguments, machine, **options):
        self.assertEqual(self.builds(*arguments, machine=machine, **options), expected)

    def install_for(self, machine, *arguments, **options):
        if not self.venv.exists():
            self.make_venv()
        return self.family("install", *arguments, machine=machine, **options)

    def labels(self):
        return {name: (version.partition("+")[0], label) for name, (version, label) in self.installed().items()}

    def profile(self, gpu):
        """A recorded machine with one GPU, for --for."""
        path = self.root / "machine.json"
        path.write_text(json.dumps({
            "schema_version": 1, "origin": {"kind": "synthesised", "source": "this test", "date": "2026-11-20"},
            "cpu": {"arch": "x86_64"}, "gpus": [gpu]}))
        return path


def everywhere():
    return all_files(platforms=("linux_x86_64", "linux_aarch64"))
