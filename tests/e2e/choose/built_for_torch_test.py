"""Torch, flash-attn, vllm and PyG from prebuilt wheels, solved together. The names are those of published files:
Dao-AILab/flash-attention v2.8.3 (its release page; torch 2.10 and 2.11 from the issues #2299 and #2425), vllm's
and xformers' requirements of torch, PyG's find-links pages."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import Wheel  # noqa: E402
from torch_index import PYTHON_TAG, TorchTestCase, all_files  # noqa: E402

LINUX = f"{PYTHON_TAG}-{PYTHON_TAG}-linux_x86_64"
ABI3 = "cp38-abi3-manylinux_2_28_x86_64"
FLASH = [f"2.8.3+cu12torch2.{minor}cxx11abi{abi}" for minor in range(4, 9) for abi in ("FALSE", "TRUE")]
FLASH += [f"2.8.3+cu12torch2.{minor}cxx11abiTRUE" for minor in (9, 10, 11)]
XFORMERS = {"0.0.32.post2": "2.8.0", "0.0.33.post2": "2.9.1"}
VLLM = {"0.11.0": "2.8.0", "0.14.1": "2.9.1", "0.17.0": "2.10.0", "0.30.0": "2.15.0"}


class BuiltForTorchTest(TorchTestCase):
    @staticmethod
    def FILES():
        return all_files(projects=("torch",))

    def release_page(self, wheels):
        """A list of files as a code host shows it: links elsewhere, without hashes, behind other links."""
        files = self.root / "host" / "download"
        files.mkdir(parents=True)
        for wheel in wheels:
            (files / wheel.file_name).write_bytes(wheel.bytes())
        links = "".join(f'<li><a href="/host/download/{one.file_name.replace("+", "%2B")}" class="Truncate">\n'
                        f'  <span>{one.file_name}</span></a></li>\n' for one in wheels)
        (self.root / "host" / "assets.html").write_text(
            f'<ul><li><a href="/host/notes">notes</a></li>\n{links}<li><a href="/host/source.zip">zip</a></li></ul>')
        return f"{self.serve()}/host/assets.html"

    def flash_page(self):
        return self.release_page(
            [Wheel("flash_attn", version, requires=["torch", "einops"], tags=LINUX) for version in FLASH])

    def setUp(self):
        super().setUp()
        self.default.add_wheel(Wheel("einops", "0.8.1"))
        for version, torch in VLLM.items():
            self.default.add_wheel(Wheel("vllm", version, requires=[f"torch=={torch}"], tags=ABI3))
        for version, torch in XFORMERS.items():
            self.default.add_wheel(Wheel("xformers", version, requires=[f"torch=={torch}"], tags=ABI3))

    def family(self, command, *arguments, **options):
        """With an index of vllm that has nothing beside the default one."""
        return super().family(command, *arguments, "--family", f"vllm={self.root}/vllm/{{version}}/{{label}}", **options)

    def chosen(self, *arguments, machine="h100"):
        result = self.assert_ok(self.family("resolve", *arguments, "--json", machine=machine))
        return {one["name"]: one["version"] for one in result.json["packages"] if one["name"] != "einops"}

    def test_each_request_gets_one_torch(self):
        page = self.flash_page()
        newest = {"flash-attn": "2.8.3+cu12torch2.11cxx11abitrue", "torch": "2.11.0+cu129"}
        self.assertEqual(self.chosen("flash-attn", "-f", page), newest)
        self.assertEqual(self.chosen("torch", "flash-attn", "-f", page), newest)
        for request in (["vllm", "flash-attn"], ["flash-attn", "vllm"]):
            self.assertEqual(self.chosen(*request, "-f", page),
                             {"flash-attn": "2.8.3+cu12torch2.10cxx11abitrue", "torch": "2.10.0+cu129", "vllm": "0.17.0"})
        self.assertEqual(self.chosen("flash-attn", "torch==2.6.0", "-f", page)["flash-attn"],
                         "2.8.3+cu12torch2.6cxx11abitrue")
        self.assertEqual(self.chosen("flash-attn", "torch==2.6.0+cu124", "-f", page)["flash-attn"],
                         "2.8.3+cu12torch2.6cxx11abifalse")

    def test_torch_flash_attn_vllm_and_xformers_in_any_order(self):
        page = self.flash_page()
        names = ["torch", "flash-attn", "vllm", "xformers"]
        together = {"flash-attn": "2.8.3+cu12torch2.9cxx11abitrue", "torch": "2.9.1+cu129", "vllm": "0.14.1",
                    "xformers": "0.0.33.post2"}
        for first in range(len(names)):
            self.assertEqual(self.chosen(*names[first:], *names[:first], "-f", page), together)
        # An older GPU moves the label, not the release.
        older = self.chosen(*names, "-f", page, "--no-variants=vllm", machine="gtx1080ti")
        self.assertEqual(older, {**together, "torch": "2.9.1+cu126"})
        # Where torch has no build for CUDA 12, the wheel that needs one is not taken.
        refused = self.family("resolve", *names, "-f", page, "--no-variants=vllm", machine="mi300x")
        self.assertEqual(refused.code, 1, refused)
        self.assertIn("flash-attn", refused.err)

    def test_a_conflict_names_what_the_wheels_were_built_for(self):
        page = self.flash_page()
        refused = self.family("resolve", "flash-attn", "torch==2.15.*", "-f", page, machine="h100")
        self.assertEqual(refused.code, 1, refused)
        self.assertIn("torch 2.11 for CUDA 12 with the C++11 ABI", refused.err)

    def test_the_installed_torch_stays_where_there_is_a_build_for_it(self):
        page = self.flash_page()
        self.assert_ok(self.install_for("h100", "torch==2.9.1", "--torch-backend", "cu128"))
        self.assert_ok(self.install_for("h100", "flash-attn", "-f", page))
        self.assertEqual({name: version for name, (version, _) in self.installed().items()},
                         {"einops": "0.8.1", "flash_attn": "2.8.3+cu12torch2.9cxx11abitrue", "torch": "2.9.1+cu128"})
        # A torch that it was not built for is refused, and what is installed stays.
        refused = self.install_for("h100", "torch==2.10.0", "--torch-backend", "cu128")
        self.assertEqual(refused.code, 1, refused)
        self.assertIn("torch 2.9 for CUDA 12 with the C++11 ABI, according to its version", refused.err)
        # Both together are exchanged.
        self.assert_ok(self.install_for("h100", "torch==2.10.0", "flash-attn", "--upgrade", "-f", page))
        self.assertEqual(self.installed()["flash_attn"][0], "2.8.3+cu12torch2.10cxx11abitrue")

    def test_pages_that_are_named_by_torch(self):
        page = self.release_page([Wheel("torch_scatter", f"2.1.2+pt{torch}{backend}", tags=LINUX)
                                  for torch in ("28", "29", "210") for backend in ("cpu", "cu126", "cu128")])
        chosen = self.chosen("torch-scatter", "torch", "-f", page)
        self.assertEqual(chosen, {"torch-scatter": "2.1.2+pt210cu128", "torch": "2.10.0+cu129"})
        chosen = self.chosen("torch-scatter", "torch==2.9.1", "-f", page, machine="none")
        self.assertEqual(chosen, {"torch-scatter": "2.1.2+pt29cpu", "torch": "2.9.1+cpu"})


if __name__ == "__main__":
    unittest.main()
