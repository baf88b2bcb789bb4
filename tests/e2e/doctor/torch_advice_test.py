"""What `doctor --for-package torch` says would help is followed: the release that it names is asked about, and the facts that it
names are stated of the machine. Then the feature is usable, or where the advice says "perhaps", not refused."""

import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import TestCase

MACHINES = ["h100", "gh200-r570", "b200", "a100-mig", "rtx4090-r535", "windows-rtx3060", "windows-gtx1080", "mi300x", "rx7600",
            "windows-rx7900xtx", "780m", "b580", "graviton2", "windows-none", "windows-snapdragon-x", "macos13-m1",
            "macos15-intel", "none", "sapphire-rapids"]
RELEASES = ["2.7", "2.12"]
NEWEST = "2.15"
# One of them will do where a GPU of a vendor is named.
GPUS = {"NVIDIA": ["nvidia:gpu=rtx5090", "nvidia:gpu=h100", "nvidia:gpu=b200", "nvidia:gpu=gb10"],
        "AMD": ["amd:gpu=rx9070", "amd:gpu=mi300x", "amd:gpu=mi355x", "amd:gpu=rx7900xtx"],
        "Intel": ["intel:gpu=b580", "intel:gpu=max1550"]}
# part of the advice -> facts of which one is stated
STATED = [(r"NVIDIA driver ([\d.]+) or newer", lambda found: [f"nvidia:driver={found[1]}"]),
          (r"a driver that runs CUDA ([\d.]+) or newer", lambda found: [f"nvidia:cuda={found[1]}"]),
          (r"macOS (\d+) or newer", lambda found: [f"macos:{found[1]}"]),
          (r"a CPU with (\w+(?: and \w+)*)", lambda found: ["axle:" + found[1].replace(" and ", ",")]),
          (r"(?:a machine|one) with (an .+)",
           lambda found: [gpu for vendor in re.findall(r"an (\w+) GPU", found[1]) for gpu in GPUS[vendor]])]


class Advice(TestCase):
    def setUp(self):
        super().setUp()
        self.answers = {}

    def features(self, machine, release):
        key = machine, release
        if key not in self.answers:
            result = self.variant("doctor", "--for", machine, "--for-package", f"torch=={release}", "--json")
            self.answers[key] = {one["name"]: one for one in result.json.get("features", [])}
        return self.answers[key]

    def statements(self, machine, release, advice):
        """The machines and releases that one piece of advice describes; none where it cannot be stated with --for."""
        machines, releases = [machine], [release]
        for part in advice.split(", and "):
            if found := re.fullmatch(r"torch ([\d.]+)(?:( or newer)| to ([\d.]+))?", part):
                releases = [found[1], NEWEST if found[2] else found[3] or found[1]]
                continue
            for pattern, facts in STATED:
                if found := re.fullmatch(pattern, part):
                    machines = [f"{one};{fact}" for one in machines for fact in facts(found)]
                    break
            else:
                return []
        return [[(one, each) for one in machines] for each in releases]

    def check(self, machine, release, name, advice):
        least = ["yes", "unknown"] if advice.startswith("perhaps ") else ["yes"]
        followed = 0
        advice = advice.removeprefix("perhaps ")
        for alternative in advice.split(", or "):
            for stated in self.statements(machine, release, alternative):
                answers = [self.features(*one).get(name, {"usable": "refused", "reason": ""}) for one in stated]
                # A release that no fact speaks of contradicts no "or newer".
                helps = [one["usable"] in least or "has no fact about torch" in one["reason"] for one in answers]
                self.assertTrue(any(helps), (machine, release, name, advice, stated, answers))
                followed += 1
        return followed

    def test_what_would_help_does(self):
        followed, told = 0, 0
        for machine in MACHINES:
            for release in RELEASES:
                for name, one in list(self.features(machine, release).items()):
                    if one["usable"] != "no":
                        continue
                    with self.subTest(machine=machine, release=release, feature=name):
                        self.assertTrue(one["change"])
                        told += 1
                        followed += self.check(machine, release, name, one["change"])
        self.assertGreater(told, 300)
        self.assertGreater(followed, told // 4)


if __name__ == "__main__":
    unittest.main()
