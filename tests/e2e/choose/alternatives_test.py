"""Distributions that install the same modules: one of a group, and never one for another unasked."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import Index, TestCase, Wheel


class OneOfAGroup(TestCase):
    def setUp(self):
        super().setUp()
        self.make_venv()
        self.index = Index(self.root / "index")
        for name in ("onnxruntime", "onnxruntime-gpu"):
            self.index.add_wheel(Wheel(name, "1.23.0", files={"onnxruntime/__init__.py": f"NAME = {name!r}\n"}))
        for name in ("opencv-python", "opencv-python-headless"):
            self.index.add_wheel(Wheel(name, "4.12.0", files={"cv2/__init__.py": f"NAME = {name!r}\n"}))
        self.index.add_wheel(Wheel("app", "1.0", requires=["onnxruntime>=1.17"]))
        self.index.add_wheel(Wheel("sees", "1.0", requires=["opencv-python"]))
        self.index.add_wheel(Wheel("serves", "1.0", requires=["opencv-python-headless"]))

    def install_for(self, machine, *arguments):
        return self.install(*arguments, "--for", machine, index=self.index)

    def module(self, name):
        return self.python(f"import {name}; print({name}.NAME)").strip()

    def names(self):
        return sorted(self.installed())

    def test_what_is_named_stands_for_what_is_required(self):
        result = self.assert_ok(self.install("app", "onnxruntime-gpu", "--json", index=self.index))
        (row,) = [one for one in result.json["packages"] if one["name"] == "onnxruntime-gpu"]
        self.assertEqual(row["stands_for"], ["onnxruntime"])
        self.assertEqual(self.names(), ["app", "onnxruntime-gpu"])
        self.assertEqual(self.module("onnxruntime"), "onnxruntime-gpu")
        self.assertIn("Requires-Dist: onnxruntime>=1.17", (self.site() / "app-1.0.dist-info/METADATA").read_text())
        self.assert_ok(self.variant("check", "--python", self.venv))
        doctor = self.variant("doctor", "--python", self.venv, "--json").json
        self.assertNotIn("requirement-broken", [one["code"] for one in doctor["findings"]])
        self.assert_ok(self.install("app", index=self.index))
        self.assertEqual(self.names(), ["app", "onnxruntime-gpu"])

    def test_two_of_a_group_are_refused_before_anything_is_read_of_them(self):
        result = self.assert_fails(self.install("sees", "serves", index=self.index), 1, "both install cv2",
                                   "required by sees 1.0", "required by serves 1.0", "in the same command")
        self.assertEqual(self.installed(), {})
        self.assert_fails(self.install("opencv-python", "opencv-python-headless", index=self.index), 1, "both install cv2")
        self.assert_ok(self.install("sees", "serves", "opencv-python-headless", index=self.index))
        self.assertEqual(self.module("cv2"), "opencv-python-headless")

    def test_a_swap_stops_with_both_and_the_option_that_allows_it(self):
        self.assert_ok(self.install("app", "onnxruntime-gpu", index=self.index))
        for way in (["onnxruntime"], ["onnxruntime", "-U"], ["--reinstall", "onnxruntime"], ["onnxruntime", "--for", "none"]):
            with self.subTest(way=way):
                self.assert_fails(self.install(*way, index=self.index), 1, "onnxruntime-gpu 1.23.0 is installed",
                                  "onnxruntime 1.23.0 would replace it", "--allow-backend-change")
                plans = self.install(*way, "--json", index=self.index).json["error"]["plans"]
                self.assertEqual([one["name"] for one in plans["installed"] + plans["proposed"]],
                                 ["onnxruntime-gpu", "onnxruntime"])
                self.assertEqual(self.names(), ["app", "onnxruntime-gpu"])
        result = self.assert_ok(self.install("onnxruntime", "--allow-backend-change", index=self.index))
        self.assertIn("- onnxruntime-gpu 1.23.0", result.out)
        self.assertEqual(self.names(), ["app", "onnxruntime"])
        self.assertEqual(self.module("onnxruntime"), "onnxruntime")
        self.assert_ok(self.variant("check", "--python", self.venv))
        self.assert_fails(self.install("onnxruntime-gpu", index=self.index), 1, "onnxruntime 1.23.0 is installed")

    def test_the_one_for_the_machine_is_named_and_taken_on_request(self):
        said = self.assert_ok(self.install_for("h100", "onnxruntime", "--dry-run"))
        self.assertIn("onnxruntime-gpu has the same modules for this machine", said.err)
        self.assertNotIn("same modules", self.install_for("none", "onnxruntime", "--dry-run").err)
        self.assert_ok(self.install_for("h100", "app", "--alternatives"))
        self.assertEqual(self.names(), ["app", "onnxruntime-gpu"])

    def test_the_extra_of_one_project_for_the_machine(self):
        backends = {"cuda12": "jax-cuda12-plugin", "cuda13": "jax-cuda13-plugin", "rocm7-local": "jax-rocm7-plugin"}
        lines = [f'{name} ; extra == "{extra}"' for extra, name in backends.items()]
        self.index.add_wheel(Wheel("jax", "0.10.2", requires=["jaxlib", *lines], extra_metadata="".join(
            f"Provides-Extra: {extra}\n" for extra in backends)))
        for name in ("jaxlib", *backends.values()):
            self.index.add_wheel(Wheel(name, "0.10.2"))
        # The drivers and GPUs of JAX's installation page; a GPU that CUDA 13 dropped takes CUDA 12.
        for machine, extra in (("h100", "cuda13"), ("nvidia:sm=9.0,driver=550.54.14", "cuda12"), ("gtx1080ti", "cuda12"),
                               ("mi300x", "rocm7-local"), ("amd:gfx=gfx1102", None), ("none", None)):
            result = self.assert_ok(self.variant("resolve", "jax", "--alternatives", "--json", "-i", self.index.url,
                                                 "--for", machine))
            plugin = {backends[extra]} if extra else set()
            self.assertEqual({one["name"] for one in result.json["packages"]}, {"jax", "jaxlib"} | plugin, machine)


if __name__ == "__main__":
    unittest.main()
