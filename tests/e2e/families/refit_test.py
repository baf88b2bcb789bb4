"""install --refit: the installed builds are chosen again for the machine of today, in one change."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import Wheel, publish_levels, tree
from torch_index import TorchTestCase, all_files

CUDA = {"torch": ("2.14.1", "cu132"), "torchvision": ("0.29.2", "cu132")}
CPU = {"torch": ("2.14.1", "cpu"), "torchvision": ("0.29.2", "cpu")}


class Refit(TorchTestCase):
    FILES = staticmethod(lambda: all_files(releases=("2.9", "2.14", "2.15")))

    def setUp(self):
        super().setUp()
        self.make_venv()

    def refit(self, machine, *names, **options):
        return self.install_for(machine, "--refit", *names, **options)

    def test_a_gpu_that_came_or_went_changes_the_label_and_keeps_the_version(self):
        self.assert_ok(self.install_for("none", "torch==2.14.1", "torchvision"))
        self.assertEqual(self.labels(), CPU)
        before = tree(self.site())
        shown = self.assert_ok(self.refit("h100", "--dry-run"))
        self.assertIn("+ torch 2.14.1+cu132", shown.out)
        self.assertEqual(tree(self.site()), before)
        self.assert_ok(self.refit("h100"))
        self.assertEqual(self.labels(), CUDA)
        self.assert_ok(self.refit("none"))
        self.assertEqual(self.labels(), CPU)
        self.assert_neighbours_work()

    def test_nothing_to_do_says_so_and_changes_nothing(self):
        self.assert_ok(self.install_for("h100", "torch==2.14.1", "torchvision"))
        before = tree(self.site())
        said = self.assert_ok(self.refit("h100"))
        self.assertIn("every build is the one that would be chosen for this machine", said.err)
        self.assertEqual(said.out, "")
        answer = self.assert_ok(self.refit("h100", "--json")).json
        self.assertEqual((answer["installed"], answer["removed"]), ([], []))
        self.assertEqual(tree(self.site()), before)

    def test_where_the_version_has_no_build_the_newest_that_has_one_is_taken(self):
        self.assert_ok(self.install_for("h100", "torch", "torchvision"))
        self.assertEqual(self.labels()["torch"], ("2.15.0", "cu132"))
        self.assert_ok(self.refit("gtx1080ti"))
        self.assertEqual(self.labels(), {"torch": ("2.14.1", "cu126"), "torchvision": ("0.29.1", "cu126")})

    def test_one_change_for_the_whole_set_and_only_what_is_named(self):
        publish_levels(self.default, "demo", "1.0")
        self.assert_ok(self.install_for("none", "torch==2.14.1", "demo"))
        self.default.add_wheel(Wheel("plain", "1.0"))
        self.default.add_wheel(Wheel("plain", "2.0"))
        self.assert_ok(self.install_for("none", "plain==1.0"))
        demo = self.labels()["demo"]
        changed = self.assert_ok(self.refit("h100", "torch", "--json")).json
        self.assertEqual([one["name"] for one in changed["installed"]], ["torch"])
        self.assertEqual(self.labels()["plain"], ("1.0", None))
        self.assertEqual(self.labels()["demo"], demo)
        self.assert_ok(self.refit("none"))
        self.assertEqual(self.labels()["torch"], ("2.14.1", "cpu"))
        self.assertEqual(self.labels()["plain"], ("1.0", None))

    def test_what_was_built_for_the_old_one_stops_it_with_a_word(self):
        self.default.add_wheel(Wheel("flash-attn", "2.8.3+cu12torch2.14cxx11abitrue", requires=["torch"]))
        self.assert_ok(self.install_for("gtx1080ti", "torch", "flash-attn"))
        before = tree(self.site())
        self.assert_fails(self.refit("h100"), 1, "flash-attn", "CUDA 12")
        self.assertEqual(tree(self.site()), before)

    def test_what_no_index_has_is_left_as_it_is(self):
        wheel = Wheel("mine", "1.0").write(self.root / "elsewhere")
        self.default.add_wheel(Wheel("gone", "1.0"))
        self.assert_ok(self.install_for("none", "torch==2.14.1", wheel, "gone"))
        self.default.add_wheel(Wheel("gone", "2.0"))
        self.default.projects["gone"] = [one for one in self.default.projects["gone"] if "2.0" in one["filename"]]
        self.default.add_wheel(Wheel("gone", "3.0"))
        self.assert_ok(self.refit("h100"))
        self.assertEqual(self.labels(), {"torch": CUDA["torch"], "mine": ("1.0", None), "gone": ("1.0", None)})

    def test_misuse_is_told(self):
        self.assert_ok(self.install_for("none", "torch==2.14.1"))
        self.assert_fails(self.refit("h100", "numpy"), 2, "numpy is not installed")
        self.assert_fails(self.refit("h100", "torch==2.15"), 2, "takes names of installed packages")
        self.assert_fails(self.refit("h100", "-r", "x.txt"), 2)


class Alternatives(TorchTestCase):
    """Distributions with the same modules: the one that the machine prefers takes the place of the other."""
    FILES = staticmethod(lambda: all_files(releases=("2.14", "2.15")))

    def setUp(self):
        super().setUp()
        self.make_venv()
        for name in ("onnxruntime", "onnxruntime-gpu"):
            for version in ("1.20.0", "1.23.0"):
                wheel = Wheel(name, version)
                wheel.members["onnxruntime/__init__.py"] = f"BUILD = {name!r}\n"
                self.default.add_wheel(wheel)
        self.default.add_wheel(Wheel("detector", "1.0", requires=["onnxruntime>=1.17"]))

    def refit(self, machine, *names):
        return self.assert_ok(self.install_for(machine, "--refit", *names))

    def versions(self):
        return {name: version for name, (version, _) in self.installed().items()}

    def test_they_are_swapped_in_the_one_change(self):
        self.assert_ok(self.install_for("none", "torch==2.14.1", "onnxruntime==1.20.0", "detector"))
        before = tree(self.site())
        shown = self.assert_ok(self.install_for("h100", "--refit", "--dry-run"))
        for line in ("- onnxruntime 1.20.0", "+ onnxruntime-gpu 1.20.0", "+ torch 2.14.1+cu132"):
            self.assertIn(line, shown.out)
        self.assertEqual(tree(self.site()), before)
        self.refit("h100")
        self.assertEqual(self.versions(), {"torch": "2.14.1+cu132", "onnxruntime-gpu": "1.20.0", "detector": "1.0"})
        self.assertEqual(self.python("import onnxruntime; print(onnxruntime.BUILD)"), "onnxruntime-gpu")
        self.assert_ok(self.variant("check", "--python", self.venv))
        self.assertIn("every build is the one", self.refit("h100").err)
        self.refit("none")
        self.assertEqual(self.versions(), {"torch": "2.14.1+cpu", "onnxruntime": "1.20.0", "detector": "1.0"})

    def test_only_what_is_named(self):
        self.assert_ok(self.install_for("none", "torch==2.14.1", "onnxruntime==1.20.0"))
        self.refit("h100", "onnxruntime")
        self.assertEqual(self.versions(), {"torch": "2.14.1+cpu", "onnxruntime-gpu": "1.20.0"})

    def test_the_newest_where_there_is_none_of_the_version(self):
        self.default.add_wheel(Wheel("onnxruntime", "1.21.0"))
        self.assert_ok(self.install_for("none", "onnxruntime==1.21.0"))
        self.refit("h100")
        self.assertEqual(self.versions(), {"onnxruntime-gpu": "1.23.0"})

    def test_what_is_published_for_no_other_machine_stays(self):
        self.default.add_wheel(Wheel("faiss-cpu", "1.9.0"))
        self.assert_ok(self.install_for("none", "faiss-cpu"))
        self.refit("h100")
        self.assertEqual(self.versions(), {"faiss-cpu": "1.9.0"})

    def test_the_cuda_of_the_driver(self):
        for name in ("cupy-cuda12x", "cupy-cuda13x"):
            self.default.add_wheel(Wheel(name, "13.6.0"))
        self.assert_ok(self.install_for("h100;nvidia:driver=550.54.14", "cupy-cuda12x"))
        self.refit("h100;nvidia:driver=580.65.06")
        self.assertEqual(self.versions(), {"cupy-cuda13x": "13.6.0"})
        self.refit("h100;nvidia:driver=550.54.14")
        self.assertEqual(self.versions(), {"cupy-cuda12x": "13.6.0"})


class Published(TorchTestCase):
    """Variants of PEP 825 too."""
    FILES = None

    def test_another_cpu_gets_another_variant(self):
        self.make_venv()
        publish_levels(self.default, "demo", "1.0")
        publish_levels(self.default, "demo", "2.0")

        def run(*arguments):
            return self.assert_ok(self.variant("install", *arguments, "-i", self.default.url, "--python", self.venv))

        run("demo==1.0", "--for", "x86_64:v4")
        first = self.installed()["demo"]
        self.assertEqual(first, ("1.0", "v4"))
        run("--refit", "--for", "x86_64:v3")
        self.assertEqual(self.installed()["demo"], ("1.0", "v3"))


if __name__ == "__main__":
    unittest.main()
