"""Backends do not change by themselves, and nothing that is installed is broken in silence."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import Wheel, tree
from torch_index import TorchTestCase, all_files

FAMILY = ("torch", "torchvision", "torchaudio")


def recent_files():
    return all_files(releases=("2.9", "2.10", "2.14", "2.15"))


class Case(TorchTestCase):
    FILES = staticmethod(recent_files)

    def setUp(self):
        super().setUp()
        self.make_venv()

    def assert_refused(self, result, *words):
        self.assert_fails(result, 1, *words)
        if result.out:
            self.assertEqual(result.json["error"]["kind"], "conflict")
        return result


class Backends(Case):
    def test_no_way_of_installing_turns_cuda_into_cpu_on_a_machine_without_gpu(self):
        self.assert_ok(self.install_for("h100", "torch", "torchvision"))
        expected = {"torch": ("2.15.0", "cu132"), "torchvision": ("0.29.2", "cu132")}
        self.assertEqual(self.labels(), expected)
        self.default.add_wheel(Wheel("sees", "1.0", requires=["torchvision"]))
        wanted = self.root / "wanted.txt"
        wanted.write_text("torch\ntorchvision>=0.20\n")
        for way in (["-U", "torch"], ["--reinstall", "torch"], ["-U", *FAMILY[:2]], ["--reinstall", "torchvision"],
                    ["torch==2.15.0", "--reinstall"], ["-U", "-r", wanted], ["--reinstall", "-r", wanted],
                    ["--reinstall", "sees"], ["-U", "--reinstall", "torchvision", "torch"]):
            for machine in ("none", "mi300x", "h100;nvidia:driver=525.60.13"):
                with self.subTest(way=way, machine=machine):
                    result = self.assert_ok(self.install_for(machine, *way))
                    labels = self.labels()
                    self.assertEqual({name: labels[name] for name in expected}, expected)
                    self.assertIn("cu132", result.err)

    def test_what_is_kept_and_what_would_come_is_said(self):
        self.assert_ok(self.install_for("h100", "torch"))
        result = self.assert_ok(self.install_for("none", "-U", "torch"))
        self.assertRegex(result.err, r"torch 2\.15\.0\+cu132 keeps the installed backend, cu132; use --allow-backend-change "
                                     r"to get 2\.15\.0\+cpu \(cpu\)")

    def test_each_of_the_options_allows_it(self):
        for option in (["--allow-backend-change"], ["--torch-backend", "cpu"], ["--torch-backend", "auto"],
                       ["--variant", "torch=cpu"]):
            with self.subTest(option=option):
                self.venv = self.make_venv(self.root / f"venv{len(option)}{option[-1]}")
                self.assert_ok(self.install_for("h100", "torch", "torchvision"))
                self.assert_ok(self.install_for("none", "-U", "torch", *option))
                self.assertEqual(self.labels(), {"torch": ("2.15.0", "cpu"), "torchvision": ("0.29.2", "cpu")})

    def test_a_variable_that_says_auto_is_no_wish(self):
        self.assert_ok(self.install_for("h100", "torch"))
        self.assert_ok(self.install_for("none", "-U", "torch", env={"UV_TORCH_BACKEND": "auto"}))
        self.assertEqual(self.labels()["torch"], ("2.15.0", "cu132"))
        self.assert_ok(self.install_for("none", "-U", "torch", env={"UV_TORCH_BACKEND": "cpu"}))
        self.assertEqual(self.labels()["torch"], ("2.15.0", "cpu"))

    def test_where_the_new_version_lacks_the_label_both_plans_are_shown(self):
        self.assert_ok(self.install_for("gtx1080ti", *FAMILY[:2]))
        before = tree(self.site())
        for way in (["-U", "torch"], ["torch>=2.15"], ["torch==2.15.0", "torchvision"]):
            with self.subTest(way=way):
                said = self.assert_refused(self.install_for("h100", *way), "torch 2.14.1+cu126 (cu126) is installed",
                                           "torch 2.15.0+cu132 (cu132) would replace it", "--allow-backend-change",
                                           "--torch-backend", "--variant")
                self.assertEqual(said.out, "")
                plans = self.assert_refused(self.install_for("h100", *way, "--json")).json["error"]["plans"]
                self.assertEqual(plans, {
                    "installed": [{"name": "torch", "version": "2.14.1+cu126", "variant": "cu126"},
                                  {"name": "torchvision", "version": "0.29.1+cu126", "variant": "cu126"}],
                    "proposed": [{"name": "torch", "version": "2.15.0+cu132", "variant": "cu132"},
                                 {"name": "torchvision", "version": "0.29.2+cu132", "variant": "cu132"}]})
                self.assertEqual(tree(self.site()), before)

    def test_the_way_that_is_offered_works(self):
        self.assert_ok(self.install_for("h100", "torch==2.9.1+cu126"))
        said = self.assert_refused(self.install_for("h100", "-U", "torch"))
        self.assertIn("torch==2.14.1+cu126 has cu126", said.err)
        self.assert_ok(self.install_for("h100", "-U", "torch==2.14.1+cu126"))
        self.assertEqual(self.labels()["torch"], ("2.14.1", "cu126"))
        self.assert_ok(self.install_for("h100", "-U", "torch", "--allow-backend-change"))
        self.assertEqual(self.labels()["torch"], ("2.15.0", "cu132"))

    def test_a_plain_torch_of_the_default_index_has_a_backend_too(self):
        plain = Wheel("torch", "2.9.1", tags="py3-none-any")
        self.default.add_wheel(plain)
        self.assert_ok(self.install_for("h100", "torch==2.9.1", "--no-variants=torch"))
        self.assertEqual(self.labels()["torch"], ("2.9.1", None))
        # 2.9.1 of the default index is cu128: pip's installation looks the same.
        self.assert_ok(self.install_for("none", "-U", "torch==2.10.0"))
        self.assertEqual(self.labels()["torch"], ("2.10.0", "cu128"))
        self.assert_refused(self.install_for("none", "-U", "torch"), "cu128", "cpu")

    def test_require_asks_the_machine_first(self):
        self.assert_ok(self.install_for("h100", "torch"))
        self.assert_fails(self.install_for("none", "-U", "torch", "--require", "nvidia"), 3, "no NVIDIA GPU")
        self.assert_ok(self.install_for("none", "torch", "--require", "nvidia"))

    def test_uv_and_pip_ask_nobody(self):
        """What they do in the same place: both take another backend with exit 0."""
        self.assert_ok(self.install_for("h100", "torch==2.9.1"))
        folder = self.root / "links"
        folder.mkdir()
        for file in self.shared.files:
            if file.project == "torch" and file.label == "cpu":
                (folder / file.name).write_bytes(file.data)
        theirs = self.assert_ok(self.pip("install", "-U", "torch", "--no-index", "--find-links", folder))
        self.assertIn("2.15.0+cpu", theirs.out)


class Neighbours(Case):
    FLASH = Wheel("flash-attn", "2.8.3+cu12torch2.9cxx11abitrue", requires=["torch"])

    def test_an_upgrade_that_breaks_an_installed_package_stops_and_says_so(self):
        self.default.add_wheel(Wheel("pins", "1.0", requires=["torch==2.9.*"]))
        self.default.add_wheel(self.FLASH)
        for name, word in (("pins", "needs torch==2.9.*"), ("flash-attn", "needs torch 2.9 for CUDA 12")):
            with self.subTest(name):
                self.venv = self.make_venv(self.root / name)
                self.assert_ok(self.install_for("h100", "torch==2.9.0+cu128", name))
                before = tree(self.site())
                said = self.assert_refused(self.install_for("h100", "-U", "torch==2.10.0"), name, word, "would get torch",
                                           f"variant uninstall {name}")
                self.assertIn(f"name {name} in the same command", said.err)
                broken = self.assert_refused(self.install_for("h100", "-U", "torch==2.10.0", "--json")).json["error"]["broken"]
                self.assertEqual([(one["name"], one["gets"]) for one in broken], [(name, "torch 2.10.0+cu128")])
                self.assertEqual(tree(self.site()), before)
                self.assert_ok(self.install_for("h100", "-U", "torch==2.9.1"))

    def test_what_is_offered_works(self):
        self.default.add_wheel(Wheel("pins", "1.0", requires=["torch==2.9.*"]))
        self.default.add_wheel(Wheel("pins", "2.0", requires=["torch==2.10.*"]))
        self.assert_ok(self.install_for("h100", "torch==2.9.0+cu128", "pins"))
        self.assert_refused(self.install_for("h100", "-U", "torch==2.10.0"))
        self.assert_ok(self.install_for("h100", "-U", "torch==2.10.0", "pins"))
        self.assertEqual(self.labels()["pins"], ("2.0", None))
        self.assert_refused(self.install_for("h100", "torch==2.9.1"))
        self.assert_ok(self.variant("uninstall", "pins", "-y", "--python", self.venv))
        self.assert_ok(self.install_for("h100", "torch==2.9.1"))

    def test_another_cuda_breaks_what_was_built_for_this_one(self):
        self.default.add_wheel(self.FLASH)
        self.assert_ok(self.install_for("h100", "torch==2.9.1+cu128", "flash-attn"))
        self.assert_refused(self.install_for("h100", "torch==2.9.1", "--torch-backend", "cu130"), "flash-attn", "CUDA 12")
        self.assert_ok(self.install_for("h100", "torch==2.9.1", "--torch-backend", "cu126"))

    def test_a_dependency_is_chosen_so_that_the_others_stay_whole(self):
        for version in ("1.0", "1.5", "2.0"):
            self.default.add_wheel(Wheel("lib", version))
        self.default.add_wheel(Wheel("neighbour", "1.0", requires=["lib<2"]))
        self.default.add_wheel(Wheel("app", "1.0", requires=["lib>=1.5"]))
        self.default.add_wheel(Wheel("app", "2.0", requires=["lib>=2"]))
        self.assert_ok(self.install_for("none", "lib==1.0", "neighbour"))
        self.assert_ok(self.install_for("none", "app<2"))
        self.assertEqual(self.labels()["lib"], ("1.5", None))
        self.assert_refused(self.install_for("none", "app==2.0"), "neighbour 1.0, which is installed, needs lib<2")
        self.assert_ok(self.variant("check", "--python", self.venv))

    def test_what_pip_and_uv_do(self):
        """pip installs, calls it an error and exits 0; uv says nothing."""
        links = self.root / "links"
        for wheel in (Wheel("lib", "1.0"), Wheel("lib", "2.0"), Wheel("neighbour", "1.0", requires=["lib<2"])):
            wheel.write(links)
        for install in (lambda *line: self.pip("install", "--no-index", "--find-links", links, *line),
                        lambda *line: self.uv("pip", "install", "--no-index", "--find-links", links, "--python",
                                              self.venv / "bin/python", *line)):
            self.assert_ok(install("lib==1.0", "neighbour"))
            theirs = self.assert_ok(install("-U", "lib"))
            if "neighbour" in theirs.out + theirs.err:
                self.assertIn("requires lib<2", theirs.err)
            self.assertEqual(self.installed()["lib"][0], "2.0")
            self.assert_ok(install("lib==1.0"))
        ours = self.variant("install", "-U", "lib", "--no-index", "--find-links", links, "--python", self.venv)
        self.assert_refused(ours, "neighbour")


if __name__ == "__main__":
    unittest.main(verbosity=2)
