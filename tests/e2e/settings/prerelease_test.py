"""--prerelease: each of uv's ways, over the same index as uv."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from settings_case import SettingsCase
from support import Wheel

MODES = ("disallow", "allow", "if-necessary", "explicit", "if-necessary-or-explicit")
x = "fails"


class Prereleases(SettingsCase):
    def setUp(self):
        super().setUp()
        self.env["UV_DEFAULT_INDEX"] = self.put(
            "a", "0.5", "1.0", "1.5a1", Wheel("only", "1.0a1"), Wheel("only", "1.0a2"),
            Wheel("names", "1.0", requires=["demo>=1.5a1"]), Wheel("bound", "1.0", requires=["demo<1.5.dev9"]),
            Wheel("above", "1.0", requires=["demo>1.0"]), Wheel("wants-only", "1.0", requires=["only"]))
        self.write("early.txt", "demo>=0.5.dev1\n")
        self.write("late.txt", "demo>=1.5a1\n")

    def test_each_way(self):
        d, o = {"demo": "1.0"}, {"demo": "1.5a1"}
        only = {"only": "1.0a2"}
        rows = [  # request, then disallow, allow, if-necessary, explicit, if-necessary-or-explicit
            (["demo"], d, o, d, d, d),
            (["demo>1.0"], x, o, o, x, o),
            (["demo==1.5a1"], x, o, o, o, o),
            (["demo>=1.5a1"], x, o, o, o, o),
            (["demo<1.5.dev9"], d, d, d, d, d),
            (["only"], x, only, only, x, only),
            (["only>=1.0a1"], x, only, only, only, only),
            (["wants-only"], x, {"wants-only": "1.0", **only}, {"wants-only": "1.0", **only}, x, {"wants-only": "1.0", **only}),
            (["wants-only", "only>=0.dev0"], x, {"wants-only": "1.0", **only}, {"wants-only": "1.0", **only},
             {"wants-only": "1.0", **only}, {"wants-only": "1.0", **only}),
            (["names"], x, {"names": "1.0", **o}, {"names": "1.0", **o}, x, {"names": "1.0", **o}),
            (["bound"], {"bound": "1.0", **d}, {"bound": "1.0", **d}, {"bound": "1.0", **d}, {"bound": "1.0", **d}, {"bound": "1.0", **d}),
            (["above"], x, {"above": "1.0", **o}, {"above": "1.0", **o}, x, {"above": "1.0", **o}),
            (["demo", "-c", "late.txt"], x, o, o, o, o)]
        for request, *wanted in rows:
            for mode, answer in zip(MODES, wanted):
                with self.subTest(request=request, mode=mode):
                    self.assert_same(self.of_uv, answer, *request, "--prerelease", mode)

    def test_a_final_release_that_will_do(self):
        """Named pre-releases: Axle takes the newest, as pip does; uv the final one (docs/requirements.md)."""
        for mode, wanted in zip(MODES, ("1.0", "1.5a1", "1.0", "1.5a1", "1.5a1")):
            with self.subTest(mode=mode):
                self.assertEqual(self.ours("demo>=0.5.dev1", "--prerelease", mode), {"demo": wanted}, self.said)
                self.assertEqual(self.ours("demo", "-c", "early.txt", "--prerelease", mode), {"demo": wanted}, self.said)

    def test_what_is_left_out_is_said(self):
        for request in ("demo==1.5a1", "only", "wants-only", "names"):
            for mode, why in (("disallow", "which the setting prerelease leaves out"), ("explicit", "which nobody asks for by name")):
                if (request, mode) == ("demo==1.5a1", "explicit"):
                    continue
                with self.subTest(request=request, mode=mode):
                    result = self.assert_fails(self.variant("resolve", request, "--prerelease", mode, "--python", self.venv), 1, why)
                    self.assertEqual("--prerelease=explicit" in result.err, mode == "disallow", result.err)


if __name__ == "__main__":
    unittest.main()
