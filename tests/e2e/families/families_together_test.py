"""torch, torchvision and torchaudio in one solution and in one environment: one label, versions that go together."""

import itertools
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import Wheel, tree
from torch_index import TorchTestCase, all_files, everywhere, stand_in

FAMILY = ("torch", "torchvision", "torchaudio")


class OneSolution(TorchTestCase):
    FILES = staticmethod(everywhere)

    def test_the_order_of_the_arguments_does_not_matter(self):
        for machine, label in [("h100", "cu130"), ("gtx1080ti", "cu126"), ("mi300x", "rocm6.4"), ("none", "cpu"),
                               ("gb10", "cu130"), ("bmg", "xpu")]:
            expected = {"torch": ("2.9.1", label), "torchvision": ("0.24.1", label), "torchaudio": ("2.9.1", label)}
            for order in itertools.permutations(["torch==2.9.1", "torchvision", "torchaudio"]):
                with self.subTest(machine=machine, order=order):
                    self.assert_builds(expected, *order, machine=machine)

    def test_the_newest_of_all_in_every_order(self):
        for machine, torch, vision, audio in [
                ("h100", ("2.15.0", "cu130"), ("0.29.2", "cu130"), ("2.11.0", "cu130")),
                ("gtx1080ti", ("2.14.1", "cu126"), ("0.29.1", "cu126"), ("2.11.0", "cu126")),
                ("mi300x", ("2.14.1", "rocm7.2"), ("0.29.1", "rocm7.2"), ("2.11.0", "rocm7.2")),
                ("none", ("2.15.0", "cpu"), ("0.29.2", "cpu"), ("2.11.0", "cpu"))]:
            for order in itertools.permutations(FAMILY):
                with self.subTest(machine=machine, order=order):
                    self.assert_builds({"torch": torch, "torchvision": vision, "torchaudio": audio}, *order, machine=machine)

    def test_torchvision_alone_brings_the_torch_that_it_was_made_for(self):
        self.assert_builds({"torch": ("2.15.0", "cu132"), "torchvision": ("0.29.2", "cu132")}, "torchvision", machine="h100")
        old = {"torch": ("2.5.0", "cu124"), "torchvision": ("0.20.0", "cu124")}
        for order in (["torchvision==0.20"], ["torch", "torchvision==0.20"], ["torchvision==0.20", "torch"]):
            self.assert_builds(old, *order, machine="h100")

    def test_a_pin_of_one_member_is_followed_by_all(self):
        expected = {"torch": ("2.8.0", "cu128"), "torchvision": ("0.23.0", "cu128"), "torchaudio": ("2.8.0", "cu128")}
        for torch in (["torch==2.8.0+cu128"], ["torch==2.8.0", "--variant", "torch=cu128"],
                      ["torch==2.8.0", "--torch-backend", "cu128"]):
            for order in (FAMILY[1:], FAMILY[:0:-1]):
                with self.subTest(torch=torch, order=order):
                    self.assert_builds(expected, *order, *torch, machine="h100")

    def test_a_pin_of_torchvision_is_torch_s_as_well(self):
        for pin in (["torchvision==0.23.0+cu128"], ["torchvision==0.23.0", "--variant", "torchvision=cu128"]):
            self.assert_builds({"torch": ("2.8.0", "cu128"), "torchvision": ("0.23.0", "cu128")}, *pin, machine="h100")

    def test_an_older_member_with_the_label_is_better_than_a_newer_without(self):
        expected = {"torch": ("2.14.1", "cu126"), "torchvision": ("0.29.1", "cu126")}
        for pin in (["torch", "--variant", "torch=cu126"], ["torch==2.14.1+cu126"]):
            self.assert_builds(expected, *pin, "torchvision", machine="h100")

    def test_a_constraint_counts_as_a_pin(self):
        limits = self.root / "limits.txt"
        for limit, label in [("torch==2.8.0+cu126", "cu126"), ("torch==2.8.0", "cu129"), ("torch<2.9", "cu129")]:
            limits.write_text(limit + "\n")
            for order in (["torchvision"], ["torchvision", "torch"], ["torch", "torchvision"]):
                with self.subTest(limit=limit, order=order):
                    self.assert_builds({"torch": ("2.8.0", label), "torchvision": ("0.23.0", label)}, *order, "-c", limits,
                                       machine="h100")

    def test_members_that_others_need(self):
        self.default.add_wheel(Wheel("sees", "1.0", requires=["torchvision"]))
        self.default.add_wheel(Wheel("hears", "1.0", requires=["torch", "torchaudio"]))
        self.default.add_wheel(Wheel("old", "1.0", requires=["torch<2.10"]))
        plain = ("1.0", None)
        self.assert_builds({"sees": plain, "torch": ("2.15.0", "cu132"), "torchvision": ("0.29.2", "cu132")}, "sees",
                           machine="h100")
        self.assert_builds({"sees": plain, "torch": ("2.14.1", "cu126"), "torchvision": ("0.29.1", "cu126")}, "sees",
                           machine="gtx1080ti")
        self.assert_builds({"hears": plain, "torch": ("2.15.0", "cu130"), "torchaudio": ("2.11.0", "cu130")}, "hears",
                           machine="h100")
        for order in itertools.permutations(["sees", "hears", "old"]):
            with self.subTest(order=order):
                self.assert_builds({"sees": plain, "hears": plain, "old": plain, "torch": ("2.9.1", "cu126"),
                                    "torchvision": ("0.24.1", "cu126"), "torchaudio": ("2.9.1", "cu126")},
                                   *order, machine="gtx1080ti")

    def test_torchaudio_past_its_end_comes_with_a_word(self):
        result = self.assert_ok(self.family("resolve", "torch", "torchaudio", machine="h100"))
        self.assertIn("2.11.0 is the last release of torchaudio", result.err)
        self.assertIn("torch 2.15.0 is chosen with build cu130 instead of cu132, which torchaudio does not have", result.err)
        self.assertNotIn("has no build", result.err)
        result = self.assert_ok(self.family("resolve", "torch", "torchaudio", machine="gtx1080ti"))
        self.assertIn("2.11.0 is the last release of torchaudio", result.err)
        self.assertNotIn("has no build", result.err)
        result = self.assert_ok(self.family("resolve", "torch==2.9.1", "torchaudio", machine="h100"))
        self.assertNotIn("last release", result.err)

    def test_a_member_without_the_label_is_refused_unless_its_build_is_named(self):
        torch = "torch==2.14.1+cu132"
        self.assert_fails(self.family("resolve", torch, "torchvision==0.29.1", machine="h100"), 1, "torch 2.14.1+cu132",
                          "torchvision 0.29.1+cu130", "one label", "--variant PKG=LABEL")
        result = self.assert_ok(self.family("resolve", torch, "torchvision==0.29.1+cu130", machine="h100"))
        self.assertIn("torchvision 0.29.1+cu130", result.out)
        self.assertIn("of unlike backends", result.err)

    def test_the_set_takes_the_label_that_all_have(self):
        result = self.assert_ok(self.family("resolve", "torch==2.14.1", "torchvision==0.29.1", machine="h100"))
        self.assertIn("torch 2.14.1+cu130", result.out)
        self.assertIn("torchvision 0.29.1+cu130", result.out)
        self.assertIn("torch 2.14.1 is chosen with build cu130 instead of cu132, which torchvision does not have", result.err)

    def test_an_older_member_with_the_label_comes_before_a_newer_one_without(self):
        self.assert_builds({"torch": ("2.14.1", "cu126"), "torchvision": ("0.29.1", "cu126")}, "torch==2.14.1+cu126",
                           "torchvision", machine="h100")

    def test_only_what_is_taken_is_called_taken(self):
        result = self.assert_ok(self.family("resolve", "torchaudio==2.9.0", "torch", machine="gtx1080ti"))
        self.assertIn("torch 2.9.0+cu126", result.out)
        self.assertNotIn("torch 2.14.0 (cu126) is chosen", result.err)

    def test_whether_there_is_an_answer_does_not_hang_on_the_order(self):
        # torch is chosen first and too new; what followed it must let it go back.
        for machine, label, torch, vision, audio, requests in [
                ("h100", "cu130", "2.9.1", "0.24.1", "2.9.1", ["torch", "torchvision", "torchaudio<2.10.0"]),
                ("h100", "cu124", "2.5.0", "0.20.0", "2.5.0", ["torch>=2.5.0", "torchvision", "torchaudio~=2.5.0"]),
                ("h100;nvidia:driver=550.54", "cu124", "2.4.1", "0.19.1", "2.4.1", ["torch<=2.14.0", "torchvision!=0.20.0",
                                                                                   "torchaudio==2.4.1"]),
                ("bmg", "cpu", "2.5.0", "0.20.0", "2.5.0", ["torch>=2.4.1", "torchvision<0.22.1", "torchaudio<=2.5.0"]),
                ("bmg", "xpu", "2.9.0", "0.24.0", "2.9.0", ["torchvision!=0.27.1", "torchaudio<=2.9.0"])]:
            for order in itertools.permutations(requests):
                with self.subTest(machine=machine, order=order):
                    self.assert_builds({"torch": (torch, label), "torchvision": (vision, label), "torchaudio": (audio, label)},
                                       *order, machine=machine)

    def test_versions_that_contradict_each_other_are_a_conflict(self):
        result = self.assert_fails(self.family("resolve", "torch==2.9.1", "torchvision==0.20", machine="h100"), 1,
                                   "torchvision==0.20", "2.9.1")
        self.assertNotIn("2.15", result.err)

    def test_labels_that_the_user_mixes_are_not_called_missing(self):
        result = self.assert_ok(self.family("resolve", "torch==2.8.0+cu128", "torchvision==0.23.0+cu126", machine="h100"))
        self.assertIn("torchvision 0.23.0+cu126", result.out)
        self.assertNotIn("has no build cu128", result.err)


class Environment(TorchTestCase):
    FILES = staticmethod(all_files)

    def setUp(self):
        super().setUp()
        self.make_venv()

    def pip_installed(self, name, version, requires=()):
        """As pip leaves it: no word of a variant or a family."""
        wheel = Wheel(name, version, requires=requires)
        wheel.members[f"{wheel.dist_info}/INSTALLER"] = "pip\n"
        wheel.members[f"{wheel.dist_info}/RECORD"] = wheel.record()
        for path, content in wheel.members.items():
            place = self.site() / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(content)

    def test_a_member_that_comes_later_follows_what_is_installed(self):
        self.assert_ok(self.install_for("gtx1080ti", "torch"))
        before = {path: content for path, content in tree(self.site()).items() if path.startswith("torch")}
        self.assert_ok(self.install_for("h100", "torchaudio"))
        self.assert_ok(self.install_for("gtx1080ti", "torchvision"))
        self.assertEqual(self.labels(), {"torch": ("2.14.1", "cu126"), "torchvision": ("0.29.1", "cu126"),
                                         "torchaudio": ("2.11.0", "cu126")})
        after = tree(self.site())
        self.assertEqual({path: after.get(path) for path in before}, before)

    def test_torchvision_on_another_machine_follows_what_is_installed(self):
        self.assert_ok(self.install_for("gtx1080ti", "torch"))
        self.assert_ok(self.install_for("h100", "torchvision"))
        self.assertEqual(self.labels(), {"torch": ("2.14.1", "cu126"), "torchvision": ("0.29.1", "cu126")})

    def test_another_machine_changes_nothing_that_is_installed(self):
        self.assert_ok(self.install_for("gtx1080ti", "torch==2.9.1", "torchvision"))
        before = tree(self.site())
        self.default.add_wheel(Wheel("sees", "1.0", requires=["torchvision", "torch"]))
        for machine in ("h100", "none", "mi300x"):
            result = self.assert_ok(self.install_for(machine, "torch", "torchvision", "--json"))
            self.assertEqual(result.json["installed"], [])
            self.assertEqual(tree(self.site()), before)
        self.assert_ok(self.install_for("none", "sees"))
        self.assertEqual(self.labels(), {"sees": ("1.0", None), "torch": ("2.9.1", "cu126"), "torchvision": ("0.24.1", "cu126")})

    def test_a_member_that_lacks_the_label_is_kept_as_well(self):
        self.assert_ok(self.install_for("h100", "torch", "torchaudio"))
        self.default.add_wheel(Wheel("hears", "1.0", requires=["torch", "torchaudio"]))
        result = self.assert_ok(self.install_for("h100", "torch", "torchaudio", "--json"))
        self.assertEqual(result.json["installed"], [])
        self.assert_ok(self.install_for("none", "hears"))
        self.assertEqual(self.labels()["torchaudio"], ("2.11.0", "cu130"))

    def test_an_upgrade_of_the_newest_changes_nothing(self):
        self.assert_ok(self.install_for("h100", "torch"))
        result = self.assert_ok(self.install_for("h100", "-U", "torch", "--json"))
        self.assertEqual(result.json["installed"], [])

    def test_what_needs_a_newer_torch_than_the_label_has_is_refused(self):
        self.default.add_wheel(Wheel("newer", "1.0", requires=["torch>=2.15"]))
        self.assert_ok(self.install_for("gtx1080ti", "torch", "torchvision"))
        before = tree(self.site())
        result = self.install_for("h100", "newer")
        self.assertNotEqual(result.code, 0, str(result))
        self.assertIn("cu126", result.err)
        self.assertEqual(tree(self.site()), before)
        self.assertNotEqual(self.install_for("h100", "newer", "torch").code, 0)
        self.assert_ok(self.install_for("h100", "newer", "--allow-backend-change"))
        self.assertEqual(self.labels(), {"newer": ("1.0", None), "torch": ("2.15.0", "cu132"), "torchvision": ("0.29.2", "cu132")})

    def test_the_refusal_says_what_helps(self):
        self.default.add_wheel(Wheel("newer", "1.0", requires=["torch>=2.15"]))
        self.assert_ok(self.install_for("gtx1080ti", "torch"))
        result = self.install_for("h100", "newer")
        self.assertRegex(result.err, r"newer 1\.0")
        self.assertRegex(result.err, r"hint: .*--allow-backend-change")

    def test_an_upgrade_of_torch_takes_the_others_along(self):
        self.assert_ok(self.install_for("gtx1080ti", *FAMILY))
        result = self.assert_ok(self.install_for("h100", "-U", "torch", "--allow-backend-change"))
        self.assertEqual(self.labels(), {"torch": ("2.15.0", "cu130"), "torchvision": ("0.29.2", "cu130"),
                                         "torchaudio": ("2.11.0", "cu130")})
        self.assertIn("last release of torchaudio", result.err)
        self.assert_ok(self.variant("check", "--python", self.venv))

    def test_another_version_of_torch_takes_the_others_along(self):
        self.assert_ok(self.install_for("h100", "torch==2.9.1", "torchvision", "torchaudio"))
        self.assert_ok(self.install_for("gtx1080ti", "torch==2.8.0", "--allow-backend-change"))
        self.assertEqual(self.labels(), {one: (version, "cu126") for one, version in
                                         zip(FAMILY, ("2.8.0", "0.23.0", "2.8.0"))})

    def test_a_torch_that_is_kept_at_first_and_changed_later_takes_the_others_along(self):
        # torchaudio, made for all of 2.4, comes as 2.4.1, which needs another torch than the one that was to stay.
        self.assert_ok(self.install_for("h100", "torch==2.4.0+cu118", "torchvision"))
        self.assert_ok(self.install_for("bmg", "torchaudio==2.4.1", "torch"))
        self.assertEqual(self.labels(), {"torch": ("2.4.1", "cu118"), "torchvision": ("0.19.1", "cu118"),
                                         "torchaudio": ("2.4.1", "cu118")})
        self.assert_ok(self.variant("check", "--python", self.venv))

    def test_the_backend_can_be_changed(self):
        self.assert_ok(self.install_for("h100", "torch==2.9.1", "torchvision"))
        for label in ("cpu", "cu126"):
            self.assert_ok(self.install_for("h100", "--torch-backend", label, "torch==2.9.1"))
            self.assertEqual(self.labels(), {"torch": ("2.9.1", label), "torchvision": ("0.24.1", label)})
            again = self.assert_ok(self.install_for("h100", "--torch-backend", label, "torch", "--json"))
            self.assertEqual(again.json["installed"], [])
        self.assertEqual(self.python("import torch, torchvision; print(torch.BUILD, torchvision.BUILD)"), "cu126 cu126")

    def test_a_label_can_be_changed_by_its_version(self):
        self.assert_ok(self.install_for("h100", "torch==2.9.1", "torchvision"))
        self.assert_ok(self.install_for("h100", "torch==2.9.1+cpu"))
        self.assertEqual(self.labels(), {"torch": ("2.9.1", "cpu"), "torchvision": ("0.24.1", "cpu")})
        self.assert_ok(self.install_for("h100", "--variant", "torch=cu128", "torch==2.9.1"))
        self.assertEqual(self.labels()["torchvision"], ("0.24.1", "cu128"))

    def test_the_other_commands_know_the_label(self):
        self.assert_ok(self.install_for("gtx1080ti", "torch", "torchvision"))
        where = ["--python", self.venv]
        self.assertRegex(self.variant("list", *where).out, r"(?m)^torch +2\.14\.1\+cu126 +cu126$")
        self.assertEqual(self.variant("freeze", *where).out.split(), ["torch==2.14.1+cu126", "torchvision==0.29.1+cu126"])
        self.assertRegex(self.variant("show", "torch", *where).out, r"Variant: cu126")
        self.assert_ok(self.variant("check", *where))
        files = self.variant("show", "-f", "torch", *where).out
        self.assertIn("axle-family.json", files)
        self.assertIn("torch-2.14.1+cu126.dist-info", files)
        self.assert_neighbours_work()
        self.assert_ok(self.variant("uninstall", "-y", "torch", "torchvision", *where))
        self.assertEqual(self.installed(), {})
        self.assertEqual([path for path in tree(self.site()) if "torch" in path], [])

    def test_what_freeze_wrote_installs_the_same(self):
        self.assert_ok(self.install_for("gtx1080ti", *FAMILY))
        before = self.installed()
        frozen = self.root / "requirements.txt"
        frozen.write_text(self.variant("freeze", "--python", self.venv).out)
        self.venv = self.make_venv(self.root / "other")
        self.assert_ok(self.install_for("h100", "-r", frozen))
        self.assertEqual(self.installed(), before)

    def test_what_pip_installed_counts_with_its_backend(self):
        for version, label, vision in [("2.9.1+cu126", "cu126", "0.24.1"), ("2.9.1", "cu128", "0.24.1"), ("2.6.0", "cu124", "0.21.0")]:
            with self.subTest(version=version):
                self.venv = self.make_venv(self.root / f"venv-{version}")
                self.pip_installed("torch", version)
                self.assert_ok(self.install_for("h100", "torchvision"))
                self.assertEqual(self.labels(), {"torch": (version.partition("+")[0], None), "torchvision": (vision, label)})
                self.assertIn((version, None), self.installed().values())
        self.assert_ok(self.install_for("h100", "--torch-backend", "cpu", "torch==2.6.0"))
        self.assertEqual(self.labels(), {"torch": ("2.6.0", "cpu"), "torchvision": ("0.21.0", "cpu")})

    def test_a_wheel_named_by_its_place_leads_too(self):
        torch = stand_in("torch", "2.9.1", "cu126", "linux_x86_64")
        path = self.root / torch.name
        path.write_bytes(torch.data)
        for way in (str(path), "torch @ " + path.as_uri().replace("+", "%2B")):
            for order in ([way, "torchvision", "torchaudio"], ["torchaudio", "torchvision", way]):
                with self.subTest(order=order):
                    self.assert_builds({"torch": ("2.9.1", None), "torchvision": ("0.24.1", "cu126"),
                                        "torchaudio": ("2.9.1", "cu126")}, *order, machine="h100")
        self.assert_ok(self.install_for("h100", path))
        self.assert_ok(self.install_for("none", "torchvision"))
        self.assertEqual(self.labels()["torchvision"], ("0.24.1", "cu126"))

    def test_a_plain_torch_of_the_default_index_leads_too(self):
        plain = stand_in("torch", "2.9.1", None, "linux_x86_64")
        self.default.add("torch", plain.name, plain.data)
        self.assert_builds({"torch": ("2.9.1", None), "torchvision": ("0.24.1", "cu128")}, "torch", "torchvision",
                           "--no-variants=torch", machine="h100")

    def test_a_backend_for_torchaudio_reaches_the_installed_torch(self):
        self.assert_ok(self.install_for("h100", "torch==2.14.0+cu130"))
        result = self.assert_ok(self.install_for("h100", "torchaudio", "--torch-backend", "cpu"))
        self.assertNotIn("has no build cu130", result.err)
        self.assertEqual(self.labels()["torch"][1], self.labels()["torchaudio"][1])

    def test_a_new_member_does_not_hold_torch_where_it_is(self):
        self.default.add_wheel(Wheel("newer", "1.0", requires=["torch>=2.9"]))
        self.assert_ok(self.install_for("none", "torch==2.4.1"))
        for order in (["newer"], ["newer", "torchaudio"], ["torchaudio", "newer"]):
            with self.subTest(order=order):
                self.assert_ok(self.install_for("none", *order, "--dry-run"))

    def test_require_counts_what_is_installed(self):
        self.pip_installed("torch", "2.9.1+cu126")
        self.assert_ok(self.install_for("h100", "torch", "--require", "nvidia"))
        self.assert_ok(self.install_for("none", "--torch-backend", "cpu", "torch"))
        self.assert_fails(self.install_for("h100", "torch", "--require", "nvidia"), 3, "nvidia")

    def test_a_broken_note_of_the_label_counts_as_none(self):
        self.assert_ok(self.install_for("h100", "torch==2.9.1"))
        note = next(self.site().glob("torch-*.dist-info")) / "axle-family.json"
        for text in ("", "{", "[]", '{"label": 3}', '{"label": "../x"}', "null", "[" * 100000,
                     '{"label": "cu128", "family": 5}'):
            with self.subTest(text=text[:30]):
                note.write_text(text)
                self.assertEqual(self.installed()["torch"], ("2.9.1+cu130", None))
                self.assert_ok(self.install_for("gtx1080ti", "torchvision", "--reinstall", "--no-deps"))
                self.assertEqual(self.labels()["torchvision"], ("0.24.1", "cu130"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
