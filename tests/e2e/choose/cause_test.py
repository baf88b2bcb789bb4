"""Why nothing can be installed: errors and hints name what decides, as pip and uv do on the same index."""

import html
import io
import pathlib
import sys
import tarfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import PEERS, BIN, PYTHON, Index, TestCase, Wheel, publish_levels, variant_document

import subprocess

VERSION, TAG = subprocess.run([PYTHON, "-c", "import sys; print('%d.%d' % sys.version_info[:2], 'cp%d%d' % sys.version_info[:2])"],
                              check=True, capture_output=True, text=True).stdout.split()
ARCH = subprocess.run(["uname", "-m"], check=True, capture_output=True, text=True).stdout.strip()


def sdist(name, version, requires_python=""):
    """A source distribution whose back end needs nothing: it copies the wheel that lies in it."""
    wheel = Wheel(name, version)
    root = f"{name}-{version}"
    needs = f'requires-python = "{requires_python}"\n' if requires_python else ""
    files = {
        "PKG-INFO": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        "pyproject.toml": '[build-system]\nrequires = []\nbuild-backend = "copy_it"\nbackend-path = ["backend"]\n'
                          f'[project]\nname = "{name}"\nversion = "{version}"\n{needs}',
        "backend/copy_it.py": "import shutil\ndef build_wheel(folder, config_settings=None, metadata_directory=None):\n"
                              f"    shutil.copy('made.whl', folder + '/{wheel.file_name}')\n"
                              f"    return '{wheel.file_name}'\n",
        "made.whl": wheel.bytes(),
    }
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for path, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            entry = tarfile.TarInfo(f"{root}/{path}")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return f"{root}.tar.gz", out.getvalue()


class PeerIndex(Index):
    """The same pages as HTML, which pip and uv read from a folder."""

    def add(self, project, file_name, data, **changes):
        super().add(project, file_name, data, **changes)
        links = ""
        for one in self.projects[project]:
            marks = ""
            if "requires-python" in one:
                marks += f' data-requires-python="{html.escape(one["requires-python"])}"'
            if one.get("yanked"):
                marks += f' data-yanked="{html.escape(one["yanked"] if isinstance(one["yanked"], str) else "")}"'
            links += f'<a href="{one["url"]}#sha256={one["hashes"]["sha256"]}"{marks}>{one["filename"]}</a>\n'
        (self.folder / project / "index.html").write_text(f"<!DOCTYPE html><html><body>{links}</body></html>")

    def add_sdist(self, name, version, requires_python=""):
        changes = {"requires-python": requires_python} if requires_python else {}
        self.add(name, *sdist(name, version, requires_python), **changes)


class CauseTestCase(TestCase):
    def setUp(self):
        super().setUp()
        self.make_venv()
        self.index = PeerIndex(self.root / "index")
        self.env["PATH"] = f"{BIN}:{PEERS}:/usr/bin:/bin"

    def refused(self, *arguments, code=3):
        result = self.install(*arguments, "--json", index=self.index)
        self.assertEqual(result.code, code, str(result))
        return result.json["error"]["message"], result.json["error"]["hint"]

    def peers_refuse(self, *arguments, pip_says="", uv_says=""):
        if not (PEERS / "uv").exists():
            return  # said by the tests that need them
        pip = self.pip("install", "--dry-run", "--only-binary", ":all:", "-i", self.index.url, *arguments)
        self.assertNotEqual(pip.code, 0, str(pip))
        self.assertIn(pip_says, pip.out + pip.err)
        uv = self.uv("pip", "install", "--dry-run", "--no-build", "--python", self.venv, "--index-url", self.index.url,
                     *arguments)
        self.assertNotEqual(uv.code, 0, str(uv))
        self.assertIn(uv_says, uv.out + uv.err)

    def add(self, name, version, tags="py3-none-any", **changes):
        self.index.add_wheel(Wheel(name, version, tags=tags), **{key.replace("_", "-"): value for key, value in changes.items()})


class Python(CauseTestCase):
    def setUp(self):
        super().setUp()
        self.add("networkx", "3.6", requires_python=">=3.8")
        self.add("networkx", "3.7", requires_python=">=3.99")
        self.index.add_sdist("networkx", "3.7", ">=3.99")

    def test_another_python_is_needed(self):
        message, hint = self.refused("networkx==3.7")
        self.assertIn(f"networkx 3.7 needs Python >=3.99, but this is Python {VERSION}.", message)
        self.assertTrue(hint.startswith("networkx==3.6 is the newest version that can be used here"), hint)
        self.assertIn("an environment with Python >=3.99", hint)
        self.assertNotIn("wheel", message + hint)
        self.peers_refuse("networkx==3.7", pip_says="Requires-Python >=3.99", uv_says="Python>=3.99")
        self.assert_ok(self.install("networkx==3.6", index=self.index))

    def test_a_python_that_only_the_wheel_asks_for(self):
        """The page does not say it, so it is known late: nothing that cannot be installed may be offered."""
        self.index.add_wheel(Wheel("late", "2.0", extra_metadata="Requires-Python: >=3.99\n"))
        message, hint = self.refused("late")
        self.assertIn("needs Python >=3.99", message)
        self.assertEqual(hint, "use an environment with Python >=3.99 (--python)")
        self.index.add_wheel(Wheel("late", "1.0", extra_metadata="Requires-Python: >=3.8\n"))
        message, hint = self.refused("late==2.0")
        self.assertTrue(hint.startswith("late==1.0 is the newest version that can be used here"), hint)
        self.assert_ok(self.install("late==1.0", index=self.index))

    def test_what_is_passed_over_says_why_and_offers_no_build(self):
        result = self.assert_ok(self.install("networkx", index=self.index))
        self.assertIn("networkx 3.6 is chosen, not the newest: networkx 3.7 needs Python >=3.99", result.err)
        self.assertNotIn("pip wheel", result.err)

    def test_a_dependency_that_needs_another_python(self):
        self.index.add_wheel(Wheel("app", "1.0", requires=["networkx==3.7"]))
        message, hint = self.refused("app")
        self.assertIn("networkx 3.7 needs Python >=3.99", message)
        self.assertIn("networkx==3.6 is the newest version that can be used here, which app does not accept", hint)

    def test_a_source_distribution_for_another_python_is_not_to_be_built(self):
        self.index.add_sdist("pure", "1.0", ">=3.99")
        message, hint = self.refused("pure")
        self.assertIn("pure 1.0 needs Python >=3.99", message)
        self.assertNotIn("pip wheel", hint)


class Tags(CauseTestCase):
    def says(self, expected, *tags):
        for one in tags:
            self.add("demo", "2.0", tags=one)
        self.add("demo", "1.0")
        message, hint = self.refused("demo==2.0")
        self.assertIn(f"no wheel of demo 2.0 fits this machine: {expected}", message)
        self.assertTrue(hint.startswith("demo==1.0 is the newest version that can be used here: `variant install "
                                        "demo==1.0"), hint)
        self.assertIn("; or `variant explain demo==2.0", hint)
        self.peers_refuse("demo==2.0")

    def test_a_newer_c_library(self):
        self.says("its wheels need glibc 2.98 or newer, but this machine has glibc 2.",
                  f"py3-none-manylinux_2_98_{ARCH}",
                  f"py3-none-manylinux_2_99_{ARCH}", "py3-none-win_amd64")

    def test_another_c_library(self):
        self.says("its wheels for Linux are for the C library musl, but this machine has glibc",
                  f"{TAG}-{TAG}-musllinux_1_2_{ARCH}")

    def test_another_architecture(self):
        self.says(f"its wheels for Linux are for s390x, riscv64, but this machine is {ARCH}",
                  "py3-none-manylinux_2_17_s390x", "py3-none-manylinux_2_31_riscv64", "py3-none-macosx_11_0_arm64")

    def test_another_system(self):
        self.says("its wheels are for Windows, macOS only", "py3-none-win_amd64", "py3-none-macosx_11_0_arm64")

    def test_another_interpreter(self):
        self.says(f"its wheels are for other interpreters (cp27, pp38-pypy38_pp73), but this one is {VERSION}.",
                  f"cp27-cp27-manylinux2014_{ARCH}", f"pp38-pypy38_pp73-manylinux2014_{ARCH}", "cp27-cp27-win_amd64")

    def test_variants_that_the_machine_does_not_support(self):
        document = variant_document({"v4": [("x86_64", "level", ["v4"])]})
        self.index.add_wheel(Wheel("fast", "1.0", "v4", document))
        self.index.add_variants("fast", "1.0", document)
        result = self.variant("install", "fast", "--for", "x86_64:v2", "--index-url", self.index.url, "--python", self.venv)
        self.assert_fails(result, 3, "v4: x86_64 :: level :: v4 is not supported",
                          "variant explain fast==1.0")


class Versions(CauseTestCase):
    def test_only_a_source_distribution(self):
        self.index.add_sdist("demo", "1.0")
        message, hint = self.refused("demo")
        self.assertIn("demo 1.0 has no wheel, only a source distribution", message)
        self.assertIn("`variant install --build=demo demo==1.0 ", hint)
        self.peers_refuse("demo")

    def test_what_is_yanked(self):
        self.add("demo", "1.5", yanked="it eats files")
        self.add("demo", "1.0")
        message, hint = self.refused("demo>=1.2", code=1)
        self.assertIn("available: 1.5 (yanked), 1.0", message)
        self.assertIn("the only matching releases are yanked", hint)
        self.assertIn("demo==1.5", hint)
        self.peers_refuse("demo>=1.2")
        self.assert_ok(self.install("demo==1.5", index=self.index))

    def test_what_is_not_released_yet(self):
        self.add("demo", "2.0rc1")
        self.add("demo", "1.0")
        for requirement in ("demo==2.0", "demo>=2.0"):
            message, hint = self.refused(requirement, code=1)
            self.assertEqual(hint, "there is only a pre-release, which must be requested explicitly: demo==2.0rc1")
            self.peers_refuse(requirement)
        self.assert_ok(self.install("demo==2.0rc1", index=self.index))

    def test_what_a_constraint_excludes(self):
        self.add("demo", "1.0")
        (self.root / "limits.txt").write_text("other\ndemo<1\n")
        message, hint = self.refused("demo", "-c", "limits.txt", code=1)
        self.assertIn("demo<1 (constraint", message)
        self.assertIn("the constraint", hint)
        self.peers_refuse("demo", "-c", str(self.root / "limits.txt"))

    def test_what_a_package_wants_in_vain(self):
        self.add("base", "1.0")
        self.index.add_wheel(Wheel("app", "1.0", requires=["base>=5"]))
        message, hint = self.refused("app", code=1)
        self.assertIn("base>=5 (required by app 1.0)", message)
        self.assertEqual(hint, "request another version of app")
        self.peers_refuse("app")

    def test_a_healthy_index_needs_no_hint(self):
        publish_levels(self.index)
        result = self.assert_ok(self.install("demo", index=self.index))
        self.assertNotIn("hint", result.err)


if __name__ == "__main__":
    unittest.main()
