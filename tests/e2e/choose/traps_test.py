"""Shapes of real indexes that make solvers look at everything: ours tries at most twice as many candidates as uv does,
in ten seconds of CPU time, and gives its answer."""

import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from metadata_index import Measured, MetadataIndex  # noqa: E402
from support import PEERS, PYTHON, VARIANT, TestCase  # noqa: E402

MOST_SECONDS = 10


def at(minor):
    return f"1.{minor}"


class TrapsTest(TestCase):
    def setUp(self):
        super().setUp()
        if not (PEERS / "uv").exists():
            self.skipTest(f"{PEERS}/uv is not there: ./dev setup brings it from the package index that pip is configured for")
        self.make_venv()
        self.index = MetadataIndex(self)
        self.publish, self.serve = self.index.publish, self.index.serve

    def compare(self, requirements, expected=None):
        """`expected`: what both choose, or a part of it; None: there is no answer."""
        listed = self.root / "requirements.txt"
        listed.write_text("\n".join(requirements) + "\n")
        ours = Measured(self, [VARIANT, "resolve", "-v", "-r", listed, "--python", self.venv, "--index-url", self.index.url, "--json"])
        self.assertEqual(ours.code == 0, expected is not None, ours.err[-2000:])
        self.assertLess(ours.seconds, MOST_SECONDS)
        uv = Measured(self, [PEERS / "uv", "pip", "compile", "-v", listed, "--python", PYTHON, "--no-build", "--default-index",
                             self.index.url, "--no-annotate", "--no-header"])
        self.assertEqual(uv.code == 0, expected is not None, uv.err[-2000:])
        our_count = int(re.search(r"(\d+) candidates were tried", ours.err)[1])
        self.assertLessEqual(our_count, 2 * len(re.findall("DEBUG Selecting: ", uv.err)))
        if expected is None:
            return {}
        made = {one["name"]: one["version"] for one in ours.json["packages"]}
        its = dict(line.split("==") for line in uv.out.splitlines())
        for name, version in expected.items():
            self.assertEqual((made[name], its[name]), (version, version), name)
        return made

    def publish_sdk(self):
        for place in range(1000):
            self.publish("boto3", at(place), [f"botocore>={at(place)},<{at(place + 1)}"])
            self.publish("botocore", at(place), ["urllib3>=1.25,<1.27" if place < 400 else "urllib3>=1.25,<3"])
        for place in range(60):
            self.publish("aiobotocore", at(place), [f"botocore>={at(10 * place)},<{at(10 * place + 3)}"])
            self.publish("s3fs", at(place), [f"aiobotocore~={at(place)}.0"])
        for version in ("1.25", "1.26", "2.0", "2.1"):
            self.publish("urllib3", version)
        self.serve()

    def test_packages_that_move_in_step(self):
        self.publish_sdk()
        self.compare(["s3fs", "boto3", "urllib3<2"], {"s3fs": "1.59", "boto3": "1.592", "botocore": "1.592"})
        self.compare(["boto3", "botocore<1.30", "urllib3<2"], {"boto3": "1.29", "botocore": "1.29", "urllib3": "1.26"})
        self.compare(["boto3", "s3fs", "urllib3<2"], {})

    def test_missing_lower_bounds(self):
        self.publish("a", "1.0")
        self.publish("a", "2.0", ["c>=1"])
        self.publish("b", "1.0")
        for place in range(1, 300):
            self.publish("b", f"2.{place}", ["a<2"])
        self.publish("c", "1.0")
        self.serve()
        self.compare(["b", "a"], {"a": "1.0", "b": "2.299"})

    def test_a_low_python(self):
        for place in range(500):
            self.publish("lib", at(place), python=">=3.8" if place < 50 else ">=3.99")
            self.publish("app", at(place), [f"lib>={at(place)}"])
        self.serve()
        self.compare(["app"], {"app": "1.49", "lib": "1.49"})

    def test_extras_by_the_hundred(self):
        names = [f"p{place}" for place in range(500)]
        for name in names:
            for place in range(5):
                self.publish(name, at(place), ["core" if place < 3 else "core<3"])
        needs = ["core>=2", *[f"{name}; extra == '{name}'" for name in names], f"flow[{','.join(names)}]; extra == 'all'"]
        self.publish("flow", "1.0", needs)
        for version in ("1.0", "2.0", "3.0"):
            self.publish("core", version)
        self.serve()
        # uv takes core 3.0, and older releases of all the others.
        ours = self.compare(["flow[all]"], {"flow": "1.0"})
        self.assertEqual((len(ours), ours["core"], ours["p499"]), (502, "2.0", "1.4"))

    def test_extras_that_conflict(self):
        for place in range(30):
            self.publish("lib", at(place))
        needs = [f"lib=={at(place)}; extra == 'x{place}'" for place in range(30)]
        for place in range(20):
            self.publish("app", at(place), needs)
        self.serve()
        self.compare([f"app[x{place}]" for place in range(30)])
        self.compare(["app[x3]"], {"app": "1.19", "lib": "1.3"})

    def test_a_deep_chain(self):
        length = 1000
        for place in range(length):
            self.publish(f"p{place}", "1.0", [f"p{place + 1}"])
        self.publish(f"p{length}", "1.0")
        self.serve()
        self.assertEqual(len(self.compare(["p0"], {f"p{length}": "1.0"})), length + 1)
        self.compare(["p0", f"p{length}>=2"])

    def test_an_old_release_that_many_pin(self):
        """Each of many services goes with its own years of a core, of which one wants an old one."""
        for place in range(200):
            self.publish("core", at(place))
            for service in range(20):
                self.publish(f"service{service}", at(place), [f"core>={at(place)},<{at(place + 20)}"])
        self.publish("old", "1.0", ["core<1.100"])
        self.serve()
        self.compare([*[f"service{service}" for service in range(20)], "old"], {"old": "1.0"})


if __name__ == "__main__":
    unittest.main()
