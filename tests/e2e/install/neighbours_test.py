"""What Axle installed goes on working with pip, uv and importlib.metadata: markers about the variant are evaluated in the
installed METADATA, and permissions are those that pip would give."""

import io
import json
import pathlib
import stat
import subprocess
import sys
import unittest
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import PEERS, VARIANT, Index, TestCase, Wheel, tree, variant_document

MARKED = [
    "lib; variant_label == 'v1'",
    "lib>=1; variant_label == \"v1\" and python_version > \"3\"",
    "never; variant_label == 'v9'",
    "never; 'nvidia' in variant_namespaces and python_version > '3'",
    "lib<9 ; ('x86_64 :: level :: v1' in variant_properties or os_name == 'nt') and (python_version>'3')",
    "never2; os_name == 'nt' or variant_label == 'v9'",
    "plot; 'x86_64' in variant_namespaces and extra == 'Plot'",
    "never; extra == 'Plot' and variant_label == 'v9'",
    "kept;  python_version<'3'",
]

EVALUATED = [
    "lib",
    "lib>=1; python_version > \"3\"",
    "lib<9 ; python_version>'3'",
    "never2; os_name == 'nt'",
    "plot; extra == 'Plot'",
    "kept;  python_version<'3'",
]

REST = "Provides-Extra: Plot\nX-Unknown: a\n  folded\nSummary: Requires-Dist: x; variant_label\n\nRequires-Dist: y; variant_label == 'v9'\n\u00fc\n"


class VariantMarkers(TestCase):
    def setUp(self):
        super().setUp()
        self.make_venv()
        self.index = Index(self.root / "index")
        document = variant_document({"v1": [("x86_64", "level", ["v1"])]})
        self.wheel = Wheel("demo", "1.0", "v1", document, requires=MARKED, extra_metadata=REST)
        self.index.add_wheel(self.wheel)
        self.index.add_variants("demo", "1.0", document)
        for name in ("lib", "plot"):
            self.index.add_wheel(Wheel(name, "1.5"))

    def dist_info(self, venv=None):
        return self.site(venv) / "demo-1.0.dist-info"

    def assert_evaluated(self):
        original = self.wheel.members[f"{self.wheel.dist_info}/METADATA"]
        text = (self.dist_info() / "METADATA").read_text()
        lines = "".join(f"Requires-Dist: {one}\n" for one in EVALUATED)
        self.assertEqual(text, f"Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n{lines}{REST}")
        self.assertEqual((self.dist_info() / "METADATA.original").read_text(), original)
        self.assertEqual(json.loads((self.dist_info() / "axle-markers.json").read_text()),
                         {"variant_label": "v1", "variant_properties": ["x86_64 :: level :: v1"]})

    def test_pip_and_uv_go_on_working_with_what_the_markers_say(self):
        self.assert_ok(self.install("demo[plot]", index=self.index))
        self.assertEqual(self.installed(), {"demo": ("1.0", "v1"), "lib": ("1.5", None), "plot": ("1.5", None)})
        self.assert_evaluated()
        requires = json.loads(self.python("import importlib.metadata as m, json; print(json.dumps(m.requires('demo')))"))
        self.assertEqual(requires, EVALUATED)
        extras = self.python("import importlib.metadata as m; print(m.metadata('demo').get_all('Provides-Extra'))")
        self.assertEqual(extras, "['Plot']")
        self.assert_neighbours_work()

    def test_reinstalling_upgrading_and_removing_know_both(self):
        before = tree(self.venv)
        self.assert_ok(self.install("demo", index=self.index))
        again = self.assert_ok(self.install("demo[plot]", "--json", index=self.index))
        self.assertEqual([one["name"] for one in again.json["installed"]], ["plot"])
        self.assertEqual([one["name"] for one in again.json["kept"]], ["demo", "lib"])
        self.assert_ok(self.install("demo", "--reinstall", index=self.index))
        self.assert_evaluated()
        self.assert_ok(self.variant("check", "--python", self.venv))
        # Its requirement counts for what would break, and for what is missing.
        self.index.add_wheel(Wheel("lib", "9.0"))
        self.assert_fails(self.install("lib==9.0", index=self.index), 1, "demo", "lib<9")
        self.assert_ok(self.variant("uninstall", "lib", "--python", self.venv))
        self.assert_fails(self.variant("check", "--python", self.venv), 1, "demo 1.0", "lib<9")
        self.assert_ok(self.install("demo", index=self.index))
        self.index.add_wheel(Wheel("demo", "2.0"))
        self.assert_ok(self.install("demo==2.0", index=self.index))
        self.assertFalse(self.dist_info().exists())
        self.assert_ok(self.variant("uninstall", "demo", "lib", "plot", "--python", self.venv))
        self.assertEqual({path for path in tree(self.venv) if ".axle" not in path}, set(before))

    def test_the_store_keeps_the_wheel_s_own(self):
        self.assert_ok(self.install("demo", index=self.index))
        other = self.make_venv(self.root / "other")
        self.assert_ok(self.variant("install", "demo", "-i", self.index.url, "--python", other))
        stored = list((self.root / "home").rglob("demo-1.0.dist-info/METADATA"))
        self.assertEqual(len(stored), 1)
        self.assertEqual(stored[0].read_text(), self.wheel.members[f"{self.wheel.dist_info}/METADATA"])
        originals = [self.dist_info(venv) / "METADATA.original" for venv in (self.venv, other)]
        self.assertEqual({path.stat().st_ino for path in originals}, {stored[0].stat().st_ino})
        for venv in (self.venv, other):
            self.assertEqual((self.dist_info(venv) / "METADATA").stat().st_nlink, 1)

    def test_only_what_the_machine_supports_is_seen(self):
        document = variant_document({"two": [("x86_64", "level", ["v1", "v4"])]})
        requires = ["lib; 'x86_64 :: level :: v4' in variant_properties", "plot; 'x86_64 :: level :: v1' in variant_properties"]
        self.index.add_wheel(Wheel("app", "1.0", "two", document, requires=requires))
        self.index.add_variants("app", "1.0", document)
        self.assert_ok(self.install("app", "--for", "x86_64:v2", index=self.index))
        self.assertEqual(set(self.installed()), {"app", "plot"})
        self.assertEqual(self.python("import importlib.metadata as m; print(m.requires('app'))"), "['plot']")
        self.assert_ok(self.variant("check", "--python", self.venv))
        kept = self.assert_ok(self.install("app", "--json", index=self.index))
        self.assertEqual([one["name"] for one in kept.json["kept"]], ["app", "plot"])

    def test_a_plain_wheel_sees_no_variant(self):
        self.index.add_wheel(Wheel("app", "1.0", requires=["lib; variant_label == ''", "never; variant_label != ''",
                                                           "never; 'x86_64' in variant_namespaces"]))
        self.assert_ok(self.install("app", index=self.index))
        self.assertEqual(set(self.installed()), {"app", "lib"})
        self.assertEqual(self.python("import importlib.metadata as m; print(m.requires('app'))"), "['lib']")
        self.assert_neighbours_work()

    def test_without_such_markers_metadata_is_the_wheel_s_byte_for_byte(self):
        wheel = Wheel("app", "1.0", requires=["lib; os_name!='variant_label'"], extra_metadata="\nvariant_label\r\n")
        self.index.add_wheel(wheel)
        self.assert_ok(self.install("app", index=self.index))
        dist_info = self.site() / "app-1.0.dist-info"
        self.assertEqual((dist_info / "METADATA").read_bytes(), wheel.members["app-1.0.dist-info/METADATA"].encode())
        self.assertGreater((dist_info / "METADATA").stat().st_nlink, 1)
        self.assertFalse((dist_info / "METADATA.original").exists())
        self.assertFalse((dist_info / "axle-markers.json").exists())

    def test_an_entry_of_an_older_store_says_nothing_of_markers(self):
        """The first manifests had no word about them."""
        self.assert_ok(self.install("demo", index=self.index))
        [manifest] = [path for path in (self.root / "home").rglob("manifest") if b"demo-1.0" in path.read_bytes()]
        fields = manifest.read_bytes().split(b"\0")
        self.assertEqual((fields[0], fields[5]), (b"axle-manifest 2", b"variant markers"))
        manifest.write_bytes(b"\0".join([b"axle-manifest 1", *fields[1:5], *fields[6:]]))
        before = manifest.stat().st_ino
        self.assert_ok(self.install("demo", "--reinstall", index=self.index))
        self.assertEqual(manifest.stat().st_ino, before)
        self.assert_evaluated()

    def test_a_wheel_cannot_bring_the_files_that_axle_writes(self):
        wheel = Wheel("app", "1.0", files={"app.py": "", "app-1.0.dist-info/METADATA.original": "Name: other\n",
                                           "app-1.0.dist-info/axle-markers.json": "{}"})
        self.index.add_wheel(wheel)
        self.assert_ok(self.install("app", index=self.index))
        self.assertEqual(sorted(path.name for path in (self.site() / "app-1.0.dist-info").iterdir()),
                         ["INSTALLER", "METADATA", "RECORD", "REQUESTED", "WHEEL"])
        self.assert_ok(self.variant("check", "--python", self.venv))

    def test_metadata_that_does_not_follow_from_the_original_is_found(self):
        self.assert_ok(self.install("demo", index=self.index))
        markers = self.dist_info() / "axle-markers.json"
        values = json.loads(markers.read_text())
        markers.write_text(json.dumps({**values, "variant_label": "v9"}))
        result = self.variant("check", "--python", self.venv, "--json")
        faults = {(pathlib.Path(one["file"]).name, one["fault"]) for one in result.json["files"]}
        self.assertIn(("METADATA", "metadata"), faults)
        markers.write_text("[]")
        self.assert_fails(self.variant("check", "--python", self.venv), 1, "axle-markers.json")
        markers.unlink()
        self.assert_fails(self.variant("check", "--python", self.venv), 1, "axle-markers.json")
        self.assert_ok(self.install("demo", "--reinstall", index=self.index))
        self.assert_ok(self.variant("check", "--python", self.venv))

    def test_metadata_with_such_markers_that_somebody_else_installed_is_found(self):
        self.assert_ok(self.install("demo", index=self.index))
        (self.dist_info() / "METADATA.original").replace(self.dist_info() / "METADATA")
        (self.dist_info() / "axle-markers.json").unlink()
        self.assert_fails(self.variant("check", "--python", self.venv), 1, "which pip and uv cannot read")


def modes(venv):
    """Permissions of what the tests' wheel brings, by path; folders too."""
    found = {}
    for path in sorted(venv.rglob("*")):
        text = str(path.relative_to(venv))
        if not path.is_symlink() and "app" in text and not text.endswith((".pyc", "INSTALLER", "REQUESTED", "direct_url.json")):
            found[text] = stat.S_IMODE(path.stat().st_mode)
    return found


class Permissions(TestCase):
    def setUp(self):
        super().setUp()
        wheel = Wheel("app", "1.0", files={"app/__init__.py": "", "app/tool": "#!/bin/sh\n",
                                           "app-1.0.data/scripts/app-old": "#!python\nprint('old')\n",
                                           "app-1.0.data/scripts/app-sh": "#!/bin/sh\necho sh\n",
                                           "app-1.0.data/data/share/app/text": "x",
                                           "app-1.0.dist-info/entry_points.txt": "[console_scripts]\napp = app:main\n"})
        data = wheel.bytes()
        self.wheel = self.root / wheel.file_name
        self.wheel.write_bytes(self.executable(data, {"app/tool", "app-1.0.data/scripts/app-sh", "app-1.0.data/scripts/app-old"}))

    def executable(self, data, names):
        """The same wheel with the executable bit on some of its members."""
        out = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
            for info in old.infolist():
                info.external_attr = (0o100755 if info.filename in names else 0o100644) << 16
                new.writestr(info, old.read(info))
        return out.getvalue()

    def under(self, umask, arguments):
        done = subprocess.run(["/bin/sh", "-c", f"umask {umask:03o}; exec \"$@\"", "sh", *map(str, arguments)],
                              env=self.env, cwd=self.root, text=True, capture_output=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)

    def install_under(self, umask, name):
        venv = self.make_venv(self.root / name)
        self.under(umask, [VARIANT, "install", self.wheel, "--python", venv])
        return modes(venv)

    def test_modes_are_those_that_pip_gives_under_the_same_umask(self):
        """One store under three umasks. pip opens executables and scripts for others whatever the umask says."""
        if not (PEERS / "python").exists():
            self.skipTest(f"{PEERS} is not there: ./dev setup brings pip")
        for umask in (0o022, 0o077, 0o002, 0o022):
            ours = self.install_under(umask, f"ours-{umask:03o}-{len(list(self.root.iterdir()))}")
            venv = self.make_venv(self.root / f"pip-{umask:03o}-{len(list(self.root.iterdir()))}")
            self.under(umask, [PEERS / "python", "-m", "pip", "-q", "--disable-pip-version-check", "--python",
                               venv / "bin/python", "install", "--no-index", "--no-cache-dir", "--no-compile", self.wheel])
            theirs = {path: mode & ~umask for path, mode in modes(venv).items()}
            self.assertEqual({path: oct(mode) for path, mode in ours.items()},
                             {path: oct(mode) for path, mode in theirs.items()}, f"umask {umask:03o}")

    def test_the_store_s_files_are_shared_where_the_modes_agree(self):
        self.install_under(0o022, "first")
        self.install_under(0o077, "second")
        self.install_under(0o022, "third")
        links = {name: (self.site(self.root / name) / "app/__init__.py").stat().st_nlink for name in ("first", "second", "third")}
        self.assertEqual(links, {"first": 3, "second": 1, "third": 3})
        for name in links:
            self.assert_ok(self.variant("check", "--deep", "--python", self.root / name))


if __name__ == "__main__":
    unittest.main()
