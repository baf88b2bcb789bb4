"""--minimize builds, --budget and --coverage: one choice for several machines, of a project's lock and of `variant resolve`."""

import json
import pathlib
import random
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from project_case import ProjectCase
from support import PYTHON

SM = ("nvidia", "sm_arch")
CUDA = ("nvidia", "cuda_version_lower_bound")
GPUS = {
    "cu130": [(*SM, ["90_real", "100_real"]), (*CUDA, ["13.0"])],
    "cu126": [(*SM, ["61_real", "90_real"]), (*CUDA, ["12.6"])],
}
MACHINES = '[tool.axle.machines]\nlaptop = "none"\ntrain = "h100"\nold = "gtx1080ti"\n'


class FleetChoice(ProjectCase):
    def setUp(self):
        super().setUp()
        self.add("plain", "1.0")
        self.add("big-libs", "13.0", files={"big/data.bin": random.Random(1).randbytes(1 << 20)})
        self.add_variants("fast", "1.0", GPUS, requires={"cu130": ["big-libs"]}, namespaces=("nvidia",))
        self.write_project(["fast", "plain"], more=MACHINES)

    def builds(self, *words):
        """{label: classes} of `fast` in the lock."""
        answer = self.assert_ok(self.call("lock", "--coverage", "--json", *words)).json
        rows = {one["name"]: one["builds"] for one in answer["coverage"]}["fast"]
        return {row["variant"]: row["classes"] for row in rows}

    def test_few_builds_for_a_lock(self):
        self.assertEqual(self.builds(), {"null": ["laptop"], "cu130": ["train"], "cu126": ["old"]})
        self.assertEqual(self.builds("--minimize", "builds"), {"null": ["laptop"], "cu126": ["train", "old"]})
        package = [one for one in self.lock()["package"] if one.get("variant") == "cu126"]
        self.assertEqual(len(package), 1)
        self.assertIn("cu130 is left out (--minimize builds, --budget)", str(package))
        self.assertNotIn("big-libs", {one["name"] for one in self.lock()["package"]})
        # An option counts once; the file counts always.
        self.assertEqual(self.builds("--upgrade"), {"null": ["laptop"], "cu130": ["train"], "cu126": ["old"]})
        self.write_project(["fast", "plain"], more='[tool.axle]\nminimize = "builds"\n' + MACHINES)
        self.assertEqual(self.builds(), {"null": ["laptop"], "cu126": ["train", "old"]})
        self.assertEqual(self.builds("--best"), {"null": ["laptop"], "cu130": ["train"], "cu126": ["old"]})

    def test_it_is_shown_how_many_choices_are_tried(self):
        said = self.assert_ok(self.call("lock", "--minimize", "builds", "--budget", "500kB", "--progress", "json")).err
        events = [json.loads(line) for line in said.splitlines()]
        shown = [one["what"] for one in events if one["event"] == "work"]
        self.assertTrue(any(re.fullmatch(r"choosing builds: \d+ choices tried", one) for one in shown), shown)
        of_resolve = self.assert_ok(self.variant("resolve", "fast", "--for", "none", "--for", "h100", "--minimize", "builds", "--index-url",
                                                 self.index.url, "--python", PYTHON, "--progress", "json")).err
        self.assertIn("choosing builds: ", of_resolve)

    def test_conditions_are_those_of_the_choice(self):
        """On every machine of a class's condition the same is chosen, with the same builds left out."""
        self.assert_ok(self.call("lock", "--minimize", "builds"))
        holds = {one["name"]: one["holds"] for one in self.lock()["class"]}
        self.assertEqual(holds["train"], holds["old"])
        self.assertIn("61", holds["train"])
        self.assertIn("90", holds["train"])

    def test_a_budget(self):
        self.assertEqual(self.builds("--budget", "500kB"), {"null": ["laptop"], "cu126": ["train", "old"]})
        self.assertEqual(self.builds("--budget", "500MB", "--upgrade"), {"null": ["laptop"], "cu130": ["train"], "cu126": ["old"]})
        self.write_project(["fast", "plain"], more='[tool.axle.machines]\nlaptop = "none"\n'
                                                   'train = { machine = "h100", budget = "500 kB" }\nrich = "h100"\n')
        self.assertEqual(self.builds("--upgrade"), {"null": ["laptop"], "cu126": ["train"], "cu130": ["rich"]})
        # On the command line it is for all of them.
        self.assertEqual(self.builds("--budget", "1GB"), {"null": ["laptop"], "cu130": ["train", "rich"]})

    def test_nothing_is_within_the_budget(self):
        before = self.pyproject.read_bytes()
        self.assert_fails(self.call("lock", "--budget", "100B"), 3, "class laptop", "the smallest choice that was found downloads", "100 B",
                          "the largest are")
        self.assertFalse(self.lock_file.exists())
        self.assertEqual(self.pyproject.read_bytes(), before)

    def test_a_build_for_less_is_said(self):
        self.add_variants("greedy", "1.0", {"gpu": [(*SM, ["90_real"])]}, requires={"gpu": ["big-libs"]}, namespaces=("nvidia",))
        self.write_project(["greedy"], more='[tool.axle.machines]\ntrain = "h100"\n')
        done = self.assert_ok(self.call("lock", "--budget", "500kB"))
        self.assertIn("class train: within 500 kB there is no build of greedy for all that the machine has", done.err)
        self.assertEqual([one["variant"] for one in self.lock()["package"]], ["null"])

    def test_a_budget_goes_before_a_shared_build(self):
        """What is shared may be the larger one: a machine that has a small build for its GPU keeps it."""
        self.add_variants("lean", "1.0", GPUS, requires={"cu126": ["big-libs"]}, namespaces=("nvidia",))
        self.write_project(["lean"], more='[tool.axle]\nminimize = "builds"\n[tool.axle.machines]\n'
                                          'train = { machine = "h100", budget = "500kB" }\nold = "gtx1080ti"\n')
        done = self.assert_ok(self.call("lock", "--json"))
        self.assertNotIn("there is no build", done.err)
        self.assertEqual({one["variant"]: one.get("classes") for one in self.lock()["package"] if one["name"] == "lean"},
                         {"cu130": ["train"], "cu126": ["old"]})

    def test_other_requirements_do_not_lead_below_a_shared_build(self):
        self.add("libx", "12")
        self.add("libx", "13")
        self.add_variants("tied", "1.0", GPUS, requires={"cu126": ["libx==12; python_version >= '3.12'"]}, namespaces=("nvidia",))
        self.write_project(["tied", "libx>=13"], more='[tool.axle.machines]\nlaptop = "none"\n'
                                                      'train = { machine = "h100", python = "3.12" }\nold = { machine = "gtx1080ti", python = "3.11" }\n')
        self.assert_ok(self.call("lock", "--minimize", "builds"))
        self.assertEqual({one["variant"]: one["classes"] for one in self.lock()["package"] if one["name"] == "tied"},
                         {"null": ["laptop"], "cu130": ["train"], "cu126": ["old"]})

    def test_libraries_of_a_shared_build_do_not_count(self):
        for name in ("lib-a", "lib-b"):
            self.add(name, "1.0")
        self.add_variants("wide", "1.0", {"cu130": GPUS["cu130"], "cu126": [(*SM, ["61_real"]), (*CUDA, ["12.6"])],
                                          "cu118": [(*SM, ["61_real", "90_real"]), (*CUDA, ["11.8"])]},
                          requires={"cu118": ["lib-a", "lib-b"]}, namespaces=("nvidia",))
        self.write_project(["wide"], more='[tool.axle.machines]\ntrain = "h100"\nold = "gtx1080ti"\n')
        self.assert_ok(self.call("lock", "--minimize", "builds"))
        self.assertEqual({one["variant"] for one in self.lock()["package"] if one["name"] == "wide"}, {"cu118"})

    def test_words_that_are_none(self):
        for words, said in ((["--minimize", "wheels"], ["--minimize", "builds"]),
                            (["--minimize", "builds", "--best"], ["contradict"]),
                            (["--budget", "much"], ["--budget", "much", "3GB"]),
                            (["--budget", "0"], ["--budget", "3GB"]),
                            (["--budget", "-3GB"], ["--budget", "3GB"])):
            with self.subTest(words):
                self.assert_fails(self.call("lock", *words), 2, *said)
        for table, said in (('minimize = "wheels"', "minimize"), ('budget = "3 parsecs"', "budget")):
            with self.subTest(table):
                self.write_project(["fast"], more=f"[tool.axle]\n{table}\n")
                self.assert_fails(self.call("lock"), 2, "pyproject.toml:8", said)
        self.assertFalse(self.lock_file.exists())

    def test_resolve(self):
        fleet = ["--for", "none", "--for", "h100", "--for", "gtx1080ti"]
        def chosen(*words):
            answer = self.assert_ok(self.call("resolve", "fast", *fleet, "--json", *words)).json
            return {row["machine"]: [one["variant"] for one in row["packages"] if one["name"] == "fast"][0] for row in answer["machines"]}
        self.assertEqual(chosen(), {"none": "null", "h100": "cu130", "gtx1080ti": "cu126"})
        self.assertEqual(chosen("--minimize", "builds"), {"none": "null", "h100": "cu126", "gtx1080ti": "cu126"})
        self.assertEqual(chosen("--budget", "500kB"), {"none": "null", "h100": "cu126", "gtx1080ti": "cu126"})
        only = self.assert_ok(self.call("resolve", "fast", "--for", "h100", "--budget", "500kB", "--json")).json["packages"]
        self.assertEqual([one["variant"] for one in only], ["cu126"])

    def test_coverage_of_resolve(self):
        answer = self.assert_ok(self.call("resolve", "fast", "plain", "--for", "none", "--for", "h100", "--coverage", "--json")).json
        rows = {one["name"]: one for one in answer["coverage"]}
        self.assertEqual({row["variant"]: row["classes"] for row in rows["fast"]["builds"]}, {"null": ["none"], "cu130": ["h100"]})
        self.assertEqual(rows["big-libs"]["without"], ["none"])
        self.assertGreater(rows["big-libs"]["builds"][0]["bytes"], 1000)
        text = self.assert_ok(self.call("resolve", "fast", "plain", "--for", "none", "--for", "h100", "--coverage")).out
        for part in ("none  2 packages, ", "h100  3 packages, ", "all classes", "not for none", "cuda_version_lower_bound :: 13.0 is supported"):
            self.assertIn(part, text)
        alone = self.assert_ok(self.call("resolve", "fast", "--for", "h100", "--coverage")).out
        self.assertIn("h100  2 packages, ", alone)

    def test_a_machine_that_nothing_fits_keeps_nobody_from_an_answer(self):
        self.add_variants("gpu-only", "1.0", {"cu130": GPUS["cu130"], "cu126": GPUS["cu126"]}, null=False, namespaces=("nvidia",))
        answer = self.assert_fails(self.call("resolve", "gpu-only", "--for", "none", "--for", "h100", "--for", "gtx1080ti", "--minimize", "builds",
                                             "--coverage", "--json"), 3).json
        rows = {row["machine"]: row for row in answer["machines"]}
        self.assertIn("error", rows["none"])
        self.assertEqual([rows[name]["packages"][0]["variant"] for name in ("h100", "gtx1080ti")], ["cu126", "cu126"])
        self.assertEqual([one["classes"] for one in answer["coverage"][0]["builds"]], [["h100", "gtx1080ti"]])


if __name__ == "__main__":
    unittest.main()
