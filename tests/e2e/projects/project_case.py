"""What the tests of projects share: a project in a folder, an index beside it, variants by CPU level and by GPU."""

import pathlib
import subprocess
import sys
import tomllib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import PYTHON, Index, TestCase, Wheel, variant_document

VERSION = subprocess.run([PYTHON, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
                         check=True, capture_output=True, text=True).stdout.strip()


class ProjectCase(TestCase):
    def setUp(self):
        super().setUp()
        self.index = Index(self.root / "index")
        self.folder = self.root / "project"
        self.folder.mkdir()
        self.env["PIP_CONFIG_FILE"] = str(self.root / "pip.conf")
        (self.root / "pip.conf").write_text(f"[global]\nindex-url = {self.index.url}\n")
        self.env["PATH"] = f"{pathlib.Path(PYTHON).parent}:{self.env['PATH']}"

    def write_project(self, dependencies=(), more="", head=""):
        rows = "".join(f"    {one!r},\n" for one in dependencies)
        self.pyproject.write_text(f"[project]\nname = \"demo-project\"\nversion = \"0.1\"\n{head}"
                                  f"dependencies = [\n{rows}]\n{more}")

    @property
    def pyproject(self):
        return self.folder / "pyproject.toml"

    @property
    def lock_file(self):
        return self.folder / "axle.lock"

    def lock(self):
        """axle.lock, as Python reads it."""
        return tomllib.loads(self.lock_file.read_text())

    def locked(self, class_name):
        """{name: version} of a class."""
        return {one["name"]: one["version"] for one in self.lock()["package"] if class_name in one.get("classes", [class_name])}

    def call(self, *arguments, **options):
        options.setdefault("cwd", self.folder)
        return self.variant(*arguments, **options)

    def add(self, name, version, requires=(), **options):
        wheel = Wheel(name, version, requires=requires, **options)
        self.index.add_wheel(wheel)
        return wheel

    def add_variants(self, name, version, variants, requires=None, null=True, namespaces=("x86_64",), tags="py3-none-any"):
        """A release with builds; `variants`: label -> [(namespace, feature, [values])]. `requires`: label -> requirements."""
        if null:
            variants = {**variants, "null": []}
        document = variant_document(variants, namespaces)
        for label in variants:
            self.index.add_wheel(Wheel(name, version, label, document, requires=(requires or {}).get(label, ()), tags=tags))
        self.index.add_variants(name, version, document)

    @property
    def environment(self):
        return self.folder / ".venv"

    def installed(self, environment=None):
        rows = self.assert_ok(self.call("list", "--json", "--python", environment or self.environment)).json["packages"]
        return {row["name"]: row["version"] for row in rows}
