"""A lock of torch, vllm, an extension and a package of variants for shipped machines: each class has what `resolve --for` gives.

Every twelfth of them; AXLE_EVERY_MACHINE=1 takes all, which is minutes of work.
"""

import os
import pathlib
import sys
import tomllib
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import PYTHON, Wheel, variant_document
from torch_index import PYTHON_TAG, TorchTestCase, all_files

ABI3 = "cp38-abi3-manylinux_2_28"
LINUX = f"{PYTHON_TAG}-{PYTHON_TAG}-linux_x86_64"
VLLM = {"0.14.1": "2.9.1", "0.17.0": "2.10.0", "0.30.0": "2.15.0"}


class EveryMachine(TorchTestCase):
    @staticmethod
    def FILES():
        return all_files(platforms=("linux_x86_64", "linux_aarch64"), projects=("torch",))

    def setUp(self):
        super().setUp()
        self.env["PATH"] = f"{pathlib.Path(PYTHON).parent}:{self.env['PATH']}"
        for version, torch in VLLM.items():
            for arch in ("x86_64", "aarch64"):
                self.default.add_wheel(Wheel("vllm", version, requires=[f"torch=={torch}", "fast"], tags=f"{ABI3}_{arch}"))
        for version in ("2.8.3+cu12torch2.9cxx11abiTRUE", "2.8.3+cu12torch2.10cxx11abiTRUE"):
            self.default.add_wheel(Wheel("flash_attn", version, requires=["torch"], tags=LINUX))
        self.default.add_wheel(Wheel("extension", "1.0", requires=["torch"], tags=f"{PYTHON_TAG}-abi3-manylinux_2_28_x86_64"))
        self.default.add_wheel(Wheel("extension", "0.9", requires=["torch<2.9"]))
        self.default.add_wheel(Wheel("libc-new", "2.0", tags="py3-none-manylinux_2_36_x86_64"))
        self.default.add_wheel(Wheel("libc-new", "1.0", tags="py3-none-any"))
        variants = {"v4": [("x86_64", "level", ["v4"])], "v3": [("x86_64", "level", ["v3"])], "null": []}
        document = variant_document(variants)
        for label in variants:
            self.default.add_wheel(Wheel("fast", "1.0", label, document))
        self.default.add_variants("fast", "1.0", document)
        self.folder = self.root / "project"
        self.folder.mkdir()

    def write_project(self, machines, requirements):
        rows = "".join(f'    "{one}",\n' for one in requirements)
        classes = "".join(f'm{number} = "{name}"\n' for number, name in enumerate(machines))
        (self.folder / "pyproject.toml").write_text(f'[project]\nname = "fleet"\nversion = "0"\ndependencies = [\n{rows}]\n'
                                                    f"[tool.axle.machines]\n{classes}")

    def resolved(self, machine, requirements):
        """{name: (version, file)}; None: nothing fits there."""
        done = self.family("resolve", *requirements, "--json", machine=machine)
        if done.code != 0:
            self.assertEqual(done.code, 3, str(done))
            return None
        return {one["name"]: (one["version"], one["wheel"]) for one in done.json["packages"]}

    def lock(self, **options):
        return self.variant("lock", "-i", self.default.url, "--family", f"torch={self.torch_url}",
                            "--family", f"vllm={self.root}/vllm/{{version}}/{{label}}", cwd=self.folder, **options)

    def family(self, command, *arguments, **options):
        return super().family(command, *arguments, "--family", f"vllm={self.root}/vllm/{{version}}/{{label}}", **options)

    def compare(self, requirements, least):
        names = [one["name"] for one in self.assert_ok(self.variant("machines", "--json")).json["machines"]]
        if os.environ.get("AXLE_EVERY_MACHINE") != "1":
            names, least = names[::12], least // 12
        answers = {name: self.resolved(name, requirements) for name in names}
        fitting = [name for name in names if answers[name] is not None]
        self.assertGreater(len(fitting), least)
        self.write_project(fitting, requirements)
        self.assert_ok(self.lock())
        lock = tomllib.loads((self.folder / "axle.lock").read_text())
        self.assertEqual([one["machine"] for one in lock["class"]], fitting)
        for number, name in enumerate(fitting):
            with self.subTest(name):
                self.assertEqual({one["name"]: (one["version"], one["wheel"]) for one in lock["package"]
                                  if f"m{number}" in one.get("classes", [f"m{number}"])}, answers[name])

    def test_torch_and_an_extension(self):
        self.compare(["torch", "extension", "fast", "libc-new"], 130)

    def test_vllm_too(self):
        self.compare(["torch", "vllm", "fast"], 30)

    def test_a_class_alone(self):
        """What no class before it has found out."""
        for machine in ("none", "zen1", "h100"):
            with self.subTest(machine):
                self.write_project([machine], ["torch", "extension", "fast"])
                self.assert_ok(self.lock())
                lock = tomllib.loads((self.folder / "axle.lock").read_text())
                self.assertEqual({one["name"]: (one["version"], one["wheel"]) for one in lock["package"]},
                                 self.resolved(machine, ["torch", "extension", "fast"]))
                (self.folder / "axle.lock").unlink()

    def test_a_class_that_nothing_fits_is_named(self):
        self.write_project(["h100", "none"], ["torch", "vllm==0.99"])
        failed = self.assert_fails(self.lock(), 1, "class m0", "vllm")
        self.assertFalse((self.folder / "axle.lock").exists(), str(failed))


if __name__ == "__main__":
    unittest.main()
