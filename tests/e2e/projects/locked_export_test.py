"""Exports of a lock that `variant lock` made of torch's family for a laptop and a GPU: pip and uv install its builds."""

import pathlib
import subprocess
import sys
import tomllib
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import PYTHON, Wheel
from torch_index import TorchTestCase, all_files

MACHINES = {"laptop": "none", "train": "h100"}


class LockedExport(TorchTestCase):
    def setUp(self):
        super().setUp()
        self.env["PATH"] = f"{pathlib.Path(PYTHON).parent}:{self.env['PATH']}"
        self.default.add_wheel(Wheel("figures", "2.0"))
        self.default.add_wheel(Wheel("app", "1.0", requires=["torchvision", 'figures; extra == "plot"'],
                                     extra_metadata="Provides-Extra: plot\n"))
        self.own_index(all_files({"2.10"}, projects=("torch", "torchvision")))
        server = self.serve()
        family = self.torch_url.replace(self.root.as_uri(), server)
        self.main = f"{server}/default/"
        self.folder = self.root / "project"
        self.folder.mkdir()
        classes = "".join(f'{name} = "{machine}"\n' for name, machine in MACHINES.items())
        (self.folder / "pyproject.toml").write_text(
            f'[project]\nname = "fleet"\nversion = "0"\ndependencies = ["torch", "app[plot]"]\n[tool.axle.machines]\n{classes}')
        self.assert_ok(self.variant("lock", "-i", self.main, "--family", f"torch={family}", cwd=self.folder))
        self.lock = tomllib.loads((self.folder / "axle.lock").read_text())

    def locked(self, name):
        return {one["name"]: one["version"] for one in self.lock["package"] if name in one.get("classes", [name])}

    def export(self, form, name):
        path = self.root / f"pylock.{name}.toml" if form == "pylock" else self.root / f"{form}.{name}"
        self.assert_ok(self.variant("export", "--format", form, "--class", name, "-o", path, cwd=self.folder))
        return path

    def environment(self, name):
        """With the platform tags of a newer system: stand-in wheels run anywhere."""
        self.venv = self.root / name / "venv"
        self.make_venv(self.venv)
        return self.venv / "bin/python"

    def versions(self):
        return dict(eval(self.python("import importlib.metadata as m; print([(d.name, d.version) for d in m.distributions()])")))

    def the_classes_have_different_builds(self):
        torches = {name: self.locked(name)["torch"].partition("+")[2] for name in MACHINES}
        self.assertEqual(torches["laptop"], "cpu")
        self.assertEqual(len(set(torches.values())), 2, torches)

    def pip_and_uv_install_them_from_requirements(self):
        for name in MACHINES:
            path = self.export("requirements", name)
            with self.subTest(name, tool="pip"):
                self.environment(f"pip-{path.name}")
                self.assert_ok(self.pip("install", "--require-hashes", "-r", path))
                self.assertEqual(self.versions(), self.locked(name))
            with self.subTest(name, tool="uv"):
                python = self.environment(f"uv-{path.name}")
                self.assert_ok(self.uv("pip", "install", "--require-hashes", "-r", path, "--python", python))
                self.assertEqual(self.versions(), self.locked(name))

    def pip_and_uv_install_them_from_a_pylock(self):
        for name in MACHINES:
            path = self.export("pylock", name)
            with self.subTest(name, tool="pip"):
                self.environment(f"pip-{path.name}")
                self.assert_ok(self.pip("install", "-r", path))
                self.assertEqual(self.versions(), self.locked(name))
            with self.subTest(name, tool="uv"):
                python = self.environment(f"uv-{path.name}")
                self.assert_ok(self.uv("pip", "sync", "--preview-features", "pylock", path, "--python", python))
                self.assertEqual(self.versions(), self.locked(name))

    def uv_takes_the_builds_from_the_sources(self):
        folder = self.root / "uv-project"
        folder.mkdir()
        python = subprocess.run([PYTHON, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], check=True,
                                capture_output=True, text=True).stdout.strip()
        text = self.export("uv-sources", "train").read_text()
        (folder / "pyproject.toml").write_text(
            f'[project]\nname = "p"\nversion = "1"\nrequires-python = "=={python}.*"\n'
            'dependencies = ["torch", "torchvision", "app[plot]"]\n' + text)
        self.environment("uv")
        self.assert_ok(self.uv("sync", "--active", "--no-install-project", "--default-index", self.main, cwd=folder,
                               env={"VIRTUAL_ENV": str(self.venv)}))
        self.assertEqual(self.versions(), self.locked("train"))

    def the_other_formats_and_the_tree_take_every_class(self):
        for form in ("conda", "node-affinity", "slurm", "oci"):
            with self.subTest(form):
                done = self.assert_ok(self.variant("export", "--format", form, "--out", form, cwd=self.folder))
                self.assertEqual(len(done.out.splitlines()), len(MACHINES))
        tree = self.assert_ok(self.variant("tree", "--json", cwd=self.folder)).json
        for one in tree["classes"]:
            self.assertEqual({package["name"]: package["version"] for package in one["packages"]}, self.locked(one["name"]))

    def test_one_lock_for_all_tools(self):
        self.the_classes_have_different_builds()
        self.pip_and_uv_install_them_from_requirements()
        self.pip_and_uv_install_them_from_a_pylock()
        self.uv_takes_the_builds_from_the_sources()
        self.the_other_formats_and_the_tree_take_every_class()


if __name__ == "__main__":
    unittest.main()
