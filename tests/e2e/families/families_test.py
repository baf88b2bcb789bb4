"""Index families: which of torch's builds each machine gets, and why; pins; builds and releases that are not known."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import PYTHON, SOURCE, Wheel, publish_levels
from torch_index import TABLE, TorchTestCase, all_files, everywhere, stand_in

HINT = "no driver is loaded for it: install NVIDIA's driver 580 or newer"
UNUSABLE = {"vendor": "nvidia", "name": "NVIDIA H100", "pci_address": "0000:01:00.0", "arch": "9.0", "reason": HINT}


class Machines(TorchTestCase):
    FILES = staticmethod(everywhere)

    def test_each_machine_gets_the_newest_release_with_a_build_for_it(self):
        for machine, version, label in [
                ("h100", "2.15.0", "cu132"), ("t4", "2.15.0", "cu132"), ("b300", "2.15.0", "cu132"),
                ("rtx5090", "2.15.0", "cu132"), ("gtx1080ti", "2.14.1", "cu126"), ("gtx750ti", "2.14.1", "cu126"),
                ("v100", "2.14.1", "cu126"), ("h100;nvidia:driver=550.54", "2.14.1", "cu126"),
                # The newest cu126 has no code for 12.0, and no cu128 came after 2.11, whose cu129 is newer still.
                ("rtx5090;nvidia:driver=570.26", "2.11.0", "cu129"),
                ("a100;nvidia:driver=450.80.02", "2.7.1", "cu118"),
                ("mi300x", "2.14.1", "rocm7.14"), ("mi50", "2.14.1", "rocm7.2"), ("rx7900xtx", "2.14.1", "rocm7.14"),
                ("bmg", "2.14.1", "xpu"), ("pvc", "2.14.1", "xpu"), ("none", "2.15.0", "cpu"),
                ("thor", "2.15.0", "cu132"), ("gb10", "2.15.0", "cu132"), ("gh200", "2.15.0", "cu132")]:
            with self.subTest(machine=machine):
                self.assert_builds({"torch": (version, label)}, "torch", machine=machine)

    def test_the_wheel_is_of_the_machine_s_architecture(self):
        for machine, ending in [("gb10", "aarch64.whl"), ("thor", "aarch64.whl"), ("h100", "x86_64.whl")]:
            package = self.family("resolve", "torch", "--json", machine=machine).json["packages"][0]
            self.assertTrue(package["wheel"].endswith(ending), package["wheel"])

    def test_who_misses_the_newest_release_hears_of_it_and_why(self):
        for machine, fact in [("gtx1080ti", "compute capability 6.1"), ("v100", "compute capability 7.0"),
                              ("h100;nvidia:driver=550.54", "driver 550.54"), ("mi300x", "no NVIDIA GPU")]:
            with self.subTest(machine=machine):
                result = self.assert_ok(self.family("resolve", "torch", machine=machine))
                self.assertIn("not the newest", result.err)
                self.assertIn("torch 2.15.0", result.err)
                self.assertIn(fact, result.err)
                self.assertNotIn("warning", result.err)

    def test_who_gets_the_newest_release_hears_nothing_of_others(self):
        self.assertNotIn("newest:", self.assert_ok(self.family("resolve", "torch", machine="h100")).err)

    def test_a_gpu_without_a_build_gets_cpu_with_a_warning_or_a_refusal(self):
        for machine, capability in [("orin", "8.7"), ("xavier", "7.2")]:
            with self.subTest(machine=machine):
                result = self.assert_ok(self.family("resolve", "torch", machine=machine))
                self.assertIn("torch 2.15.0+cpu", result.out)
                self.assertRegex(result.err, r"warning: torch 2\.15\.0 \(cpu\) is chosen although there is a GPU")
                self.assertIn(capability, result.err)
                self.assert_fails(self.family("resolve", "torch", "--require", "nvidia", machine=machine), 3, capability)

    def test_require_refuses_what_is_not_built_for_it(self):
        for machine in ("none", "bmg", "mi300x"):
            self.assert_fails(self.family("resolve", "torch", "--require", "nvidia", machine=machine), 3, "NVIDIA")
        self.assert_fails(self.family("resolve", "torch", "--require", "cuda", machine="h100"), 2, "cuda")
        self.assert_builds({"torch": ("2.14.1", "cu126")}, "torch", "--require", "nvidia", machine="gtx1080ti;intel:gpu=bmg")

    def test_require_goes_back_to_a_release_that_is_built_for_it(self):
        self.assert_builds({"torch": ("2.14.1", "rocm7.14")}, "torch", "--require", "amd", machine="h100;amd:gfx=gfx942")
        self.assert_builds({"torch": ("2.14.1", "xpu")}, "torch", "--require", "intel", machine="h100;intel:gpu=bmg")

    def test_a_gpu_without_its_driver_is_never_silently_a_cpu_install(self):
        for usable, why in [("absent", HINT), ("blocked", HINT), ("unknown", "unknown whether")]:
            with self.subTest(usable=usable):
                machine = self.profile({**UNUSABLE, "usable": usable})
                result = self.assert_ok(self.family("resolve", "torch", machine=machine))
                self.assertIn("torch 2.15.0+cpu", result.out)
                self.assertIn("warning", result.err)
                self.assertIn(HINT, result.err)
                self.assert_fails(self.family("resolve", "torch", "--require", "nvidia", machine=machine), 3, why)
                self.assertIn(HINT, self.assert_ok(self.install_for(machine, "torch", "--dry-run")).err)

    def test_a_gpu_that_the_user_hides_does_not_count(self):
        machine = self.profile({**UNUSABLE, "reason": "", "usable": "present", "masked": True})
        result = self.assert_ok(self.family("resolve", "torch", machine=machine))
        self.assertIn("torch 2.15.0+cpu", result.out)
        self.assert_fails(self.family("resolve", "torch", "--require", "nvidia", machine=machine), 3, "mask")

    def test_of_two_vendors_the_order_of_the_labels_decides(self):
        self.assert_builds({"torch": ("2.15.0", "cu132")}, "torch", machine="h100;intel:gpu=bmg")
        self.assert_builds({"torch": ("2.14.1", "rocm7.14")}, "torch", machine="mi300x;intel:gpu=bmg")
        # The old NVIDIA GPU's build is as new as the Intel GPU's.
        self.assert_builds({"torch": ("2.14.1", "cu126")}, "torch", machine="gtx1080ti;intel:gpu=bmg")

    def test_several_machines_are_one_table(self):
        asked = ["--for", "h100", "--for", "gtx1080ti", "--for", "none"]
        result = self.assert_ok(self.family("resolve", "torch", *asked))
        lines = result.out.splitlines()
        self.assertEqual(lines[0].split(), ["MACHINE", "PACKAGE", "BUILD", "SIZE", "WHY"])
        self.assertRegex(lines[1], r"^h100 +torch +2\.15\.0 cu132 .*9\.0")
        self.assertRegex(lines[2], r"^gtx1080ti +torch +2\.14\.1 cu126 .*6\.1")
        self.assertRegex(lines[3], r"^none +torch +2\.15\.0 cpu .*no GPU is usable here")
        self.assertEqual(len(lines), 4)
        rows = self.assert_ok(self.family("resolve", "torch", "--json", *asked)).json["machines"]
        self.assertEqual([(row["machine"], row["packages"][0]["variant"]) for row in rows],
                         [("h100", "cu132"), ("gtx1080ti", "cu126"), ("none", "cpu")])

    def test_a_folder_called_torch_is_not_what_is_asked_for(self):
        (self.root / "torch").mkdir()
        self.assert_builds({"torch": ("2.15.0", "cu132")}, "torch", machine="h100", cwd=self.root)
        self.assert_fails(self.family("resolve", "./torch", machine="h100"), 1, "is no Python project")

    def test_a_fleet_names_the_machine_that_nothing_fits(self):
        asked = ["--for", "h100", "--for", "none", "--require", "nvidia"]
        result = self.assert_fails(self.family("resolve", "torch", *asked), 3)
        self.assertRegex(result.out, r"(?m)^h100 +torch +2\.15\.0 cu132")
        self.assertRegex(result.out, r"(?m)^none +none .*NVIDIA")
        rows = self.family("resolve", "torch", "--json", *asked).json["machines"]
        self.assertEqual(rows[0]["packages"][0]["variant"], "cu132")
        self.assertEqual(rows[1]["error"]["kind"], "unsupported")

    def test_an_unknown_machine_lists_the_nearest(self):
        self.assert_fails(self.family("resolve", "torch", machine="gtx1081ti"), 2, "gtx1081ti", "gtx1080ti")
        self.assert_fails(self.family("resolve", "torch", machine="h100;nvidia:drivr=550"), 2, "drivr", "driver")


class Explaining(TorchTestCase):
    FILES = staticmethod(everywhere)

    def explained(self, requirement, machine):
        return self.assert_ok(self.family("explain", requirement, "--json", machine=machine)).json["packages"][0]

    def test_every_build_is_there_with_verdict_fact_and_evidence(self):
        package = self.explained("torch==2.14.1", "gtx1080ti")
        decision = package["decision"]
        release = next(one for one in TABLE["releases"] if one["version"] == "2.14")
        labels = {one["label"] for one in release["builds"] if one["platform"] == "linux_x86_64"}
        ranked = [one["label"] for one in decision["ranked"]]
        self.assertEqual(ranked, ["cu126", "cpu"])
        self.assertEqual(set(ranked) | {one["label"] for one in decision["rejected"]}, labels)
        for verdict in decision["rejected"]:
            self.assertTrue(verdict["fact"], verdict)
            self.assertIn("2026-11-20", verdict["evidence"])
        self.assertIn("6.1", {one["label"]: one["fact"] for one in decision["rejected"]}["cu132"])
        self.assertIn("AMD", {one["label"]: one["fact"] for one in decision["rejected"]}["rocm7.14"])
        facts = {one["label"]: one["facts"] for one in decision["rejected"]}
        self.assertTrue(all(set(fact) == {"code", "subject", "needed", "seen", "source"}
                            for reasons in facts.values() for fact in reasons), facts)
        self.assertEqual((facts["cu132"][0]["code"], facts["cu132"][0]["seen"]), ("gpu-capability", ["6.1"]))
        self.assertEqual([(fact["code"], fact["subject"]) for fact in facts["rocm7.14"]], [("no-gpu", "AMD GPU")])
        for one in decision["ranked"]:
            self.assertEqual(len(one["facts"]), len(one["properties"]), one)
        self.assertIn("gpu-capability", [fact["code"] for reasons in decision["ranked"][0]["facts"] for fact in reasons])
        self.assertTrue(all(one["evidence"] for one in decision["ranked"]))

    def test_the_text_has_the_same(self):
        text = self.assert_ok(self.family("explain", "torch", machine="gtx1080ti")).out
        # The answer, then the list; sources only when asked for.
        self.assertTrue(text.startswith("torch 2.14.1: cu126, because the best build that fits: the GPU has "), text)
        self.assertRegex(text, r"\A[^\n]*\n  chosen +cu126\n")
        told = self.assert_ok(self.family("explain", "torch", "-v", machine="gtx1080ti")).out
        self.assertRegex(told, r"chosen +cu126\n +code for 5\.0, .*driver 525\.60\.13 or newer")
        for words in (r"pytorch/pytorch", r"variants from family torch"):
            self.assertRegex(told, words)
            self.assertNotRegex(text, words)
        for words in (r"rejected +cu132", r"fits +cpu"):
            self.assertRegex(text, words)
            self.assertRegex(told, words)

    def test_json_has_label_and_family(self):
        package = self.explained("torch", "h100")
        self.assertEqual((package["version"], package["variant"], package["family"]), ("2.15.0+cu132", "cu132", "torch"))
        self.default.add_wheel(Wheel("demo", "1.0"))
        self.assertIsNone(self.explained("demo", "h100")["family"])

    def test_install_explains_too(self):
        result = self.assert_ok(self.install_for("gtx1080ti", "torch", "--dry-run", "--explain"))
        self.assertRegex(result.out, r"rejected +rocm7\.14")


class Pins(TorchTestCase):
    FILES = staticmethod(all_files)

    def test_a_label_can_be_pinned_in_each_way(self):
        self.assert_builds({"torch": ("2.11.0", "cu128")}, "torch", "--variant", "torch=cu128", machine="h100")
        self.assert_builds({"torch": ("2.8.0", "cu128")}, "torch==2.8.0+cu128", machine="h100")
        self.assert_builds({"torch": ("2.8.0", "cu128")}, "torch==2.8.0", "--variant", "torch=cu128", machine="h100")
        for backend, version in [("cu118", "2.7.1"), ("cpu", "2.15.0"), ("cu126", "2.14.1"), ("rocm7.14", "2.14.1")]:
            with self.subTest(backend=backend):
                self.assert_builds({"torch": (version, backend)}, "torch", "--torch-backend", backend, machine="h100")
        self.assert_builds({"torch": ("2.15.0", "cu132")}, "torch", "--torch-backend", "auto", machine="h100")
        self.assert_builds({"torch": ("2.15.0", "xpu")}, "torch", "--torch-backend", "xpu", machine="h100")

    def test_the_variable_counts_where_the_option_is_silent(self):
        cpu = {"UV_TORCH_BACKEND": "cpu"}
        self.assert_builds({"torch": ("2.15.0", "cpu")}, "torch", machine="h100", env=cpu)
        self.assert_builds({"torch": ("2.15.0", "cu132")}, "torch", "--torch-backend", "auto", machine="h100", env=cpu)

    def test_a_pin_that_the_machine_cannot_run_is_said(self):
        result = self.assert_ok(self.family("resolve", "torch==2.8.0+cu128", machine="none"))
        self.assertRegex(result.err, r"warning: .*cu128.*cannot run it: no NVIDIA GPU")
        result = self.assert_ok(self.family("resolve", "torch", "--torch-backend", "xpu", machine="h100"))
        self.assertRegex(result.err, r"warning: .*xpu.*cannot run it: no Intel GPU")
        self.assert_fails(self.family("resolve", "torch==2.8.0", "--variant", "torch=cu128", machine="none"), 3, "NVIDIA")

    def test_a_pinned_label_that_fits_nowhere_is_refused_with_the_machine_s_fact(self):
        self.assert_fails(self.family("resolve", "torch", "--variant", "torch=cu128", machine="gtx1080ti"), 3, "6.1")

    def test_a_pin_is_the_reason_that_is_given(self):
        result = self.assert_ok(self.family("resolve", "torch", "--variant", "torch=cu126", "--for", "t4", machine="h100"))
        self.assertEqual(result.out.count("variant cu126 was requested"), 2, str(result))

    def test_the_variable_asks_for_the_family_as_the_option_does(self):
        self.default.add("torch", "torch-99.0-py3-none-any.whl", stand_in("torch", "99.0", None, "linux_x86_64").data)
        config = self.root / "home/.config/axle/families"
        config.mkdir(parents=True)
        text = (SOURCE / "index/families/torch.toml").read_text()
        (config / "torch.toml").write_text(text.replace("https://download.pytorch.org/whl", self.torch_url))
        for more in ({}, {"UV_TORCH_BACKEND": "cpu"}):
            result = self.assert_ok(self.variant("resolve", "torch", "-i", self.default.url, "--for", "h100", "--python",
                                                 PYTHON, env=more))
            self.assertIn("torch 2.15.0+cpu" if more else "torch 99.0", result.out)

    def test_values_that_are_none_name_those_that_are(self):
        for value in ("cuda12", "ROCM6.4", "", "cu 126", "gpu", "cu", "rocm", "cu126/..", "../cu126"):
            with self.subTest(value=value):
                self.assert_fails(self.family("resolve", "torch", "--torch-backend", value, machine="h100"), 2,
                                  "auto", "cpu", "xpu", "cu130", "rocm7.2")
        self.assert_fails(self.family("resolve", "torch", machine="h100", env={"UV_TORCH_BACKEND": "gpu"}), 2,
                          "UV_TORCH_BACKEND gpu", "cu130")
        self.assert_fails(self.family("resolve", "torch==2.8.0", "--torch-backend", "cu118", machine="h100"), 3,
                          "cu118", "cu126, cu128, cu129")
        self.assert_fails(self.family("resolve", "torch==2.8.0+cu118", machine="h100"), 1, "2.8.0+cu118")
        for bad in ("torch", "=cu128", "torch="):
            self.assert_fails(self.family("resolve", "torch", "--variant", bad, machine="h100"), 2, "PKG=LABEL")

    def test_a_label_that_a_version_lacks_names_those_it_has(self):
        self.assert_fails(self.family("resolve", "torch==2.8.0+cu118", machine="h100"), 1, "2.8.0+cu118", "cu126")

    def test_a_pinned_label_without_a_wheel_for_this_machine_says_so(self):
        # The aarch64 builds of 2.8.0 are cpu and cu129; gb10 is aarch64.
        for pin in (["--variant", "torch=cu128"], ["--torch-backend", "cu128"]):
            self.assert_fails(self.family("resolve", "torch==2.8.0", *pin, machine="gb10"), 3, "cu128", "its tags",
                              "x86_64")
        self.assert_fails(self.family("resolve", "torch==2.8.0+cu126", "--torch-backend", "cpu", machine="h100"), 3,
                          "2.8.0+cpu is not the required version")

    def test_the_backend_is_of_torch_s_family_only(self):
        publish_levels(self.default)
        builds = self.builds("demo", "torch", "--torch-backend", "cpu", machine="x86_64:v3")
        self.assertEqual(builds, {"demo": ("1.0", "v3"), "torch": ("2.15.0", "cpu")})

    def test_without_variants_the_default_index_s_plain_wheel_is_taken(self):
        plain = stand_in("torch", "2.9.1", None, "linux_x86_64")
        self.default.add("torch", plain.name, plain.data)
        for option in ("--no-variants", "--no-variants=torch"):
            self.assert_builds({"torch": ("2.9.1", None)}, "torch", option, machine="h100")
        self.assert_ok(self.install_for("h100", "torch", "--no-variants=torch"))
        self.assertEqual(self.installed(), {"torch": ("2.9.1", None)})


class Unknown(TorchTestCase):
    def index_with(self, *more):
        self.own_index(all_files(["2.15", "2.14"]) + [stand_in("torch", *one, "linux_x86_64") for one in more])

    def test_an_unknown_release_is_said_and_not_taken(self):
        self.index_with(("9.9.0", "cu132"), ("9.9.0", "cpu"))
        for machine, label in [("h100", "cu132"), ("none", "cpu")]:
            result = self.assert_ok(self.family("resolve", "torch", machine=machine))
            self.assertIn(f"torch 2.15.0+{label}", result.out)
            self.assertRegex(result.err, r"9\.9\.0")
            self.assertIn("does not know", result.err)

    def test_an_unknown_release_is_taken_with_a_warning_when_asked_for(self):
        self.index_with(("9.9.0", "cu132"), ("9.9.0", "cpu"))
        for requirement in ("torch==9.9.0", "torch==9.9.0+cu132"):
            result = self.assert_ok(self.family("resolve", requirement, machine="h100"))
            self.assertIn("torch 9.9.0+cu132", result.out)
            self.assertRegex(result.err, r"warning: .*does not know the release torch 9\.9\.0")
        result = self.assert_ok(self.family("resolve", "torch>=9.9", machine="h100"))
        self.assertIn("warning", result.err)

    def test_an_unknown_release_still_respects_what_its_label_says(self):
        self.index_with(("9.9.0", "cu132"), ("9.9.0", "cpu"))
        for machine in ("none", "mi300x", "h100;nvidia:driver=550.54"):
            self.assert_builds({"torch": ("9.9.0", "cpu")}, "torch==9.9.0", machine=machine)

    def test_an_unknown_label_is_not_taken_unless_it_is_pinned(self):
        self.index_with(("2.15.0", "cu134"))
        self.assert_builds({"torch": ("2.15.0", "cu132")}, "torch", machine="h100")
        for pin in (["torch==2.15.0+cu134"], ["torch", "--variant", "torch=cu134"], ["torch", "--torch-backend", "cu134"]):
            with self.subTest(pin=pin):
                result = self.assert_ok(self.family("resolve", *pin, machine="h100"))
                self.assertIn("torch 2.15.0+cu134", result.out)
                self.assertRegex(result.err, r"warning: .*does not know the label cu134")

    def test_an_unknown_label_of_an_unknown_release_is_taken_only_when_pinned(self):
        self.index_with(("9.9.0", "cu134"))
        self.assert_builds({"torch": ("2.15.0", "cu132")}, "torch", machine="h100")
        self.assert_fails(self.family("resolve", "torch==9.9.0", machine="h100"), 3, "cu134")
        self.assert_builds({"torch": ("9.9.0", "cu134")}, "torch==9.9.0+cu134", machine="h100")

    def test_a_build_whose_code_is_not_known_is_taken_only_when_its_release_is_asked_for(self):
        # 2.15.0 has an xpu build of which nothing is known, 2.14.1 one that is.
        self.index_with()
        self.assert_builds({"torch": ("2.14.1", "xpu")}, "torch", machine="bmg")
        result = self.assert_ok(self.family("resolve", "torch==2.15.0", machine="bmg"))
        self.assertIn("torch 2.15.0+xpu", result.out)
        self.assertRegex(result.err, r"warning: .*does not know which GPUs the build xpu of torch 2\.15\.0")


if __name__ == "__main__":
    unittest.main(verbosity=2)
