"""The shipped families with more than one page or index a project: PyG's pages of links, one a release of torch and
label, flash-attn's, one a release, and vllm's indexes, one a release and label. The pages have the names and the shape of the published ones; what is in the wheels is made here."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import Wheel  # noqa: E402
from torch_index import PYTHON_TAG, TorchTestCase, all_files  # noqa: E402

LINUX = f"{PYTHON_TAG}-{PYTHON_TAG}-linux_x86_64"
ABI3 = "cp310-abi3-manylinux_2_28_x86_64"
VLLM_TAGS = "cp38-abi3-manylinux_2_28_x86_64"

# Releases of torch and labels of pyg-lib (its matrices at the tags 0.5.0 to 0.8.0), and up to where the older packages
# have wheels (rusty1s/pytorch_scatter issue #513).
PYG = {"0.8.0": {"2.13.0": ["cpu", "cu126", "cu130", "cu132"], "2.12.0": ["cpu", "cu126", "cu130", "cu132"]},
       "0.5.0": {"2.8.0": ["cpu", "cu126", "cu128", "cu129"], "2.6.0": ["cpu", "cu118", "cu124", "cu126"]}}
SCATTER = {"2.1.2": {torch: labels for torch, labels in (*PYG["0.8.0"].items(), *PYG["0.5.0"].items())
                     if torch != "2.13.0"}}
COPIES = {"2.12.1": "2.12.0"}  # pages with the links of another one

# publish.yml at the tags v2.8.2 and v2.8.3.
FLASH = {"2.8.3": ["2.4", "2.5", "2.6", "2.7", "2.8"], "2.8.2": ["2.4", "2.5", "2.6", "2.7"]}


def link_page(links):
    """As upload_final_index.py writes it."""
    lines = "\n".join(f'<a href="{href.replace("+", "%2B")}">{text}</a><br/>' for href, text in links)
    return f"<!DOCTYPE html>\n<html>\n<body>\n{lines}\n</body>\n</html>"


class PygTest(TorchTestCase):
    @staticmethod
    def FILES():
        return all_files(projects=("torch",))

    def setUp(self):
        super().setUp()
        self.whl = self.root / "pyg" / "whl"
        self.pages = {}
        for project, releases in (("pyg_lib", PYG), ("torch_scatter", SCATTER)):
            for version, builds in releases.items():
                for torch, labels in builds.items():
                    for label in labels:
                        self.put(project, version, torch, label)
        for copy, torch in COPIES.items():
            for page in [name for name in self.pages if name.startswith(f"torch-{torch}+")]:
                self.pages[page.replace(torch, copy)] = self.pages[page]
        self.write()

    def put(self, project, version, torch, label):
        local = f"pt{''.join(torch.split('.')[:2])}{label}"
        wheel = Wheel(project.replace("_", "-"), f"{version}+{local}", requires=["torch"] if project != "pyg_lib" else [],
                      tags=ABI3 if version == "0.8.0" else LINUX)
        page = f"torch-{torch}+{label}"
        wheel.write(self.whl / page)
        self.pages.setdefault(page, []).append((f"{page}/{wheel.file_name}", wheel.file_name))

    def write(self):
        for page, links in self.pages.items():
            (self.whl / f"{page}.html").write_text(link_page(links))
        (self.whl / "index.html").write_text(link_page((f"{page}.html", page) for page in self.pages))

    def pyg(self, command, *arguments, base=None, **options):
        return self.family(command, *arguments, "--family",
                           f"pyg={base or self.whl.as_uri()}/torch-{{torch}}+{{label}}.html", **options)

    def chosen(self, *arguments, **options):
        result = self.assert_ok(self.pyg("resolve", *arguments, "--json", **options))
        return {one["name"]: one["version"] for one in result.json["packages"]}

    def test_torch_says_which_page(self):
        self.assertEqual(self.chosen("torch", "pyg-lib", machine="h100"),
                         {"torch": "2.13.0+cu132", "pyg-lib": "0.8.0+pt213cu132"})
        # The newest torch that all of them have wheels for.
        self.assertEqual(self.chosen("torch", "pyg-lib", "torch-scatter", machine="h100"),
                         {"torch": "2.12.1+cu132", "pyg-lib": "0.8.0+pt212cu132", "torch-scatter": "2.1.2+pt212cu132"})
        self.assertEqual(self.chosen("torch==2.8.0", "torch-scatter", machine="h100"),
                         {"torch": "2.8.0+cu129", "torch-scatter": "2.1.2+pt28cu129"})

    def test_a_machine_without_a_gpu_gets_the_cpu_builds(self):
        self.assertEqual(self.chosen("torch", "pyg-lib", "torch-scatter", machine="none"),
                         {"torch": "2.12.1+cpu", "pyg-lib": "0.8.0+pt212cpu", "torch-scatter": "2.1.2+pt212cpu"})
        result = self.assert_ok(self.pyg("resolve", "torch", "pyg-lib", machine="none"))
        self.assertNotIn("is chosen, not the newest", result.err)

    def test_an_old_gpu_and_an_amd_gpu(self):
        # CUDA 13 has no code for it, so torch and with it PyG are of CUDA 12.
        old = self.chosen("torch", "pyg-lib", machine="gtx1080ti")
        self.assertEqual(old, {"torch": "2.13.0+cu126", "pyg-lib": "0.8.0+pt213cu126"})
        # PyG has nothing for AMD: torch's CPU build, and not a CUDA build, is what goes with it.
        self.assert_fails(self.pyg("resolve", "torch", "pyg-lib", "--require", "amd", machine="mi300x"), 1, "pyg-lib")

    def test_over_http_with_the_pages_that_count(self):
        base = f"{self.serve()}/pyg/whl"
        self.assertEqual(self.chosen("torch", "pyg-lib", machine="h100", base=base),
                         {"torch": "2.13.0+cu132", "pyg-lib": "0.8.0+pt213cu132"})
        # Links to other places and to what is no page of the template are not followed.
        (self.whl / "index.html").write_text(link_page(
            [("torch-2.13.0+cu130.html", "torch-2.13.0+cu130"), ("http://127.0.0.1:9/torch-2.13.0+cu132.html", "elsewhere"),
             ("torch-1.13.0+cu117.html", "old"), ("torch-2.13.0+cu999.html", "unknown"), ("nightly/torch-2.14.0+cu130.html", "x"),
             ("torch-2.13.0+..%2F..%2Fcu130.html", "path")]))
        self.assertEqual(self.chosen("torch", "pyg-lib", machine="h100", base=base)["pyg-lib"], "0.8.0+pt213cu130")

    def test_a_list_that_is_missing_is_an_error_that_says_the_way_out(self):
        (self.whl / "index.html").unlink()
        for base in (None, f"{self.serve()}/pyg/whl"):
            self.assert_fails(self.pyg("resolve", "pyg-lib", machine="h100", base=base), 1, "the index of family pyg",
                              "index.html", "--family pyg=URL")

    def test_installed_and_explained(self):
        self.assert_ok(self.install_pyg("torch", "torch-scatter"))
        installed = {name: version for name, (version, _) in self.installed().items()}
        self.assertEqual(installed, {"torch": "2.12.1+cpu", "torch-scatter": "2.1.2+pt212cpu"})
        self.assert_ok(self.variant("check", "--python", self.venv))
        again = self.install_pyg("torch-scatter", "--upgrade")
        self.assertNotIn("+ torch-scatter", again.out)
        explained = self.assert_ok(self.pyg("explain", "torch-scatter", "-v", machine="h100"))
        self.assertIn("family pyg", explained.out)
        self.assertIn("the code that torch has", explained.out)

    def install_pyg(self, *arguments):
        if not self.venv.exists():
            self.make_venv()
        return self.pyg("install", *arguments, machine="none")

    def test_a_place_that_has_wheels_is_not_second_guessed(self):
        (self.whl / "index.html").unlink()
        self.default.add_wheel(Wheel("pyg-lib", "0.8.0+pt213cu130", tags=ABI3))
        self.assertEqual(self.chosen("torch", "pyg-lib", machine="h100")["pyg-lib"], "0.8.0+pt213cu130")
        links = self.root / "links"
        Wheel("torch-scatter", "2.1.2+pt212cu130", tags=LINUX).write(links)
        self.assertEqual(self.chosen("torch", "torch-scatter", "-f", links, machine="h100")["torch-scatter"],
                         "2.1.2+pt212cu130")


class FlashAttnTest(TorchTestCase):
    @staticmethod
    def FILES():
        return all_files(projects=("torch",))

    def setUp(self):
        super().setUp()
        self.default.add_wheel(Wheel("einops", "0.8.1"))
        self.host = self.root / "host"
        for version, torches in FLASH.items():
            self.default.add("flash-attn", f"flash_attn-{version}.tar.gz", b"")
            self.put(version, [f"cu12torch{torch}cxx11abi{abi}" for torch in torches for abi in ("FALSE", "TRUE")])
        # A source archive without a release page, and one that is too old to be read.
        self.default.add("flash-attn", "flash_attn-2.8.1.tar.gz", b"")
        self.default.add("flash-attn", "flash_attn-2.5.0.tar.gz", b"")

    def put(self, version, locals_):
        wheels = [Wheel("flash_attn", f"{version}+{local}", requires=["torch", "einops"], tags=LINUX) for local in locals_]
        for wheel in wheels:
            wheel.write(self.host / "releases" / "download" / f"v{version}")
        items = "".join(
            f'<li class="Box-row"><a href="/host/releases/download/v{version}/{wheel.file_name.replace("+", "%2B")}" '
            f'rel="nofollow" class="Truncate">\n  <span>{wheel.file_name}</span></a></li>\n' for wheel in wheels)
        page = self.host / "releases" / "expanded_assets" / f"v{version}"
        page.parent.mkdir(exist_ok=True)
        page.write_text(f'<div data-view-component="true"><ul>\n{items}<li><a href="/host/archive/v{version}.zip">'
                        "Source code</a></li></ul></div>")

    def flash(self, command, *arguments, **options):
        base = self.serve()
        return self.family(command, *arguments, "--family", f"flash-attn={base}/host/releases/expanded_assets/v{{version}}",
                           **options)

    def chosen(self, *arguments, **options):
        result = self.assert_ok(self.flash("resolve", *arguments, "--json", **options))
        return {one["name"]: one["version"] for one in result.json["packages"] if one["name"] != "einops"}

    def test_joint_with_torch(self):
        newest = {"flash-attn": "2.8.3+cu12torch2.8cxx11abitrue", "torch": "2.8.0+cu129"}
        self.assertEqual(self.chosen("flash-attn", machine="h100"), newest)
        self.assertEqual(self.chosen("torch", "flash-attn", machine="h100"), newest)
        self.assertEqual(self.chosen("flash-attn", "torch==2.6.0+cu124", machine="h100")["flash-attn"],
                         "2.8.3+cu12torch2.6cxx11abifalse")
        self.assertEqual(self.chosen("flash-attn==2.8.2", machine="a100"),
                         {"flash-attn": "2.8.2+cu12torch2.7cxx11abitrue", "torch": "2.7.1+cu128"})

    def test_a_gpu_without_code_is_refused_with_the_reason(self):
        refused = self.assert_fails(self.flash("resolve", "flash-attn", machine="t4"), 3, "flash-attn", "7.5")
        self.assertIn("8.0", refused.err)
        self.assert_fails(self.flash("resolve", "flash-attn", machine="none"), 3, "flash-attn", "GPU")

    def test_explained_by_the_familys_facts(self):
        explained = self.assert_ok(self.flash("explain", "flash-attn", "-v", machine="h100"))
        self.assertIn("family flash-attn", explained.out)
        self.assertIn("code for 8.0, 9.0, 10.0, 12.0", explained.out)

    def test_pages_of_unknown_releases_are_not_asked_for(self):
        self.default.add("flash-attn", "flash_attn-3.0.0.tar.gz", b"")
        result = self.assert_ok(self.flash("resolve", "flash-attn", "-vv", machine="h100"))
        self.assertNotIn("v3.0.0", result.err)
        self.assertNotIn("v2.5.0", result.err)


# The default build of each release is under the plain version: CUDA 13 from 0.20 on (vllm-project/vllm PR #39878).
VLLM = {"0.30.0": ("2.15.0", "cu129"), "0.27.0": ("2.13.0", "cu129"), "0.19.0": ("2.10.0", "cu130")}


class VllmTest(TorchTestCase):
    """An index a release and label, as generate-nightly-index.py writes them."""

    @staticmethod
    def FILES():
        return all_files(projects=("torch",))

    def setUp(self):
        super().setUp()
        self.host = self.root / "vllm"
        for version, (torch, other) in VLLM.items():
            self.default.add_wheel(Wheel("vllm", version, requires=[f"torch=={torch}"], tags=VLLM_TAGS))
            for label in (other, "cpu"):
                self.put(version, label, torch)

    def put(self, version, label, torch):
        wheel = Wheel("vllm", f"{version}+{label}", requires=[f"torch=={torch}"], tags=VLLM_TAGS)
        wheel.write(self.host / version)
        folder = self.host / version / label / "vllm"
        folder.mkdir(parents=True)
        href = f"../../{wheel.file_name}".replace("+", "%2B")
        (folder / "index.html").write_text('<!DOCTYPE html>\n<html>\n  <meta name="pypi:repository-version" content="1.0">\n'
                                           f'  <body>\n    <a href="{href}">{wheel.file_name}</a><br/>\n  </body>\n</html>\n')

    def vllm(self, command, *arguments, base=None, **options):
        return self.family(command, *arguments, "--family",
                           f"vllm={base or self.host.as_uri()}/{{version}}/{{label}}", **options)

    def chosen(self, *arguments, **options):
        result = self.assert_ok(self.vllm("resolve", *arguments, "--json", **options))
        return {one["name"]: one["version"] for one in result.json["packages"]}

    def test_the_build_that_the_driver_runs_with_torch_of_the_same_cuda(self):
        self.assertEqual(self.chosen("vllm", machine="h100"), {"vllm": "0.30.0", "torch": "2.15.0+cu132"})
        # torch 2.15 has no build for CUDA 12.
        old_driver = "nvidia:sm=9.0,driver=550.54.14"
        chosen = self.chosen("vllm", machine=old_driver)
        self.assertEqual((chosen["vllm"], chosen["torch"].partition("+")[2][:4]), ("0.27.0+cu129", "cu12"))
        self.assertEqual(self.chosen("vllm==0.19.0", machine="h100")["vllm"], "0.19.0+cu130")
        self.assertEqual(self.chosen("vllm==0.19.0", machine=old_driver)["vllm"], "0.19.0")

    def test_a_machine_without_a_gpu_gets_the_cpu_build(self):
        self.assertEqual(self.chosen("vllm", machine="none"), {"vllm": "0.30.0+cpu", "torch": "2.15.0+cpu"})
        self.assertEqual(self.chosen("vllm", machine="mi300x")["vllm"], "0.30.0+cpu")

    def test_the_backend_of_torch_decides(self):
        # The plain wheel is CUDA 13's and does not go with a torch for CUDA 12.
        self.assertEqual(self.chosen("vllm", "torch", "--torch-backend", "cu126", machine="h100"),
                         {"vllm": "0.27.0+cu129", "torch": "2.13.0+cu126"})
        self.assertEqual(self.chosen("vllm==0.27.0+cu129", machine="h100")["vllm"], "0.27.0+cu129")

    def test_a_gpu_without_code_is_refused_with_the_reason(self):
        self.assert_fails(self.vllm("resolve", "vllm", "--require", "nvidia", machine="gtx1080ti"), 3, "vllm", "6.1", "7.5")

    def test_only_pages_of_releases_that_are_looked_at_are_read(self):
        base = f"{self.serve()}/vllm"
        result = self.assert_ok(self.vllm("resolve", "vllm", "-vv", base=base, machine="h100"))
        self.assertIn("0.30.0", result.out)
        for page in ("/0.27.0/", "/0.19.0/", "/0.30.0/cu130"):
            self.assertNotIn(f"/vllm{page}", result.err)

    def test_a_page_that_is_missing_has_no_builds_and_a_server_that_fails_is_an_error(self):
        self.default.add_wheel(Wheel("vllm", "0.31.0", requires=["torch==2.15.0"], tags=VLLM_TAGS))
        base = f"{self.serve()}/vllm"
        self.assertEqual(self.chosen("vllm", base=base, machine="h100")["vllm"], "0.31.0")
        self.assertEqual(self.chosen("vllm", base=base, machine="none")["vllm"], "0.30.0+cpu")
        self.assert_fails(self.vllm("resolve", "vllm", base="http://127.0.0.1:9", machine="h100"), 1,
                          "the index of family vllm", "--family vllm=URL")

    def test_explained(self):
        explained = self.assert_ok(self.vllm("explain", "vllm", "-v", machine="nvidia:sm=9.0,driver=550.54.14"))
        self.assertIn("family vllm", explained.out)
        self.assertRegex(explained.out, r"cu130.*")
        self.assertIn("driver 550.54.14", explained.out)


if __name__ == "__main__":
    unittest.main()
