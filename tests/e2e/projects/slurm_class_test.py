"""A real Slurm: it takes what `export --format slurm` writes, and its own words are a machine."""

import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "ci"))
from lock_text import EVERY_LINUX, LockText
from slurm_cluster import SlurmCluster, found, missing_packages
from support import TestCase

CLASSES = {"fits": "sm in {80, 90} and x86_64 >= v3", "one": "sm = 90", "other": "sm = 75 and x86_64 >= v3",
           "newer": "sm = 90 and x86_64 >= v4", "cpu": "x86_64 >= v2"}


class GpuCluster(SlurmCluster):
    """Of one node, which says that it has a GPU."""

    def __init__(self, folder, features, gres):
        super().__init__(folder)
        conf = folder / "slurm.conf"
        text = conf.read_text()
        conf.write_text(text.replace(" State=UNKNOWN", f" Features={features} Gres={gres} State=UNKNOWN") + "GresTypes=gpu\n")
        node = re.search(r"NodeName=(\S+)", text)[1]
        kind, count = gres.split(":")[1:]
        # It counts devices; any will do as long as nothing opens them.
        devices = ["/dev/null", "/dev/zero"][:int(count)]
        (folder / "gres.conf").write_text("".join(f"NodeName={node} Name=gpu Type={kind} File={one}\n" for one in devices))


class SlurmClass(TestCase):
    def setUp(self):
        super().setUp()
        if missing_packages():
            self.skipTest(f"not installed: {', '.join(missing_packages())}")
        self.cluster = GpuCluster(self.root / "slurm", "x86-64-v2,x86-64-v3,sm_90", "gpu:h100:2")
        self.addCleanup(self.cluster.stop)
        self.cluster.start()

    def test_jobs_of_a_class_go_to_the_nodes_that_fit(self):
        lock = LockText([])
        for name, holds in CLASSES.items():
            lock.add_class(name, "h100", f"{EVERY_LINUX} and {holds}")
        lock.write(self.root)
        taken = {}
        for name in CLASSES:
            text = self.assert_ok(self.variant("export", "--format", "slurm", "--class", name)).out
            if name == "fits":
                # No node of this cluster has an older GPU.
                self.assertIn("leave those out", text)
                text = text.replace("(sm_80|sm_90)", "sm_90")
            script = self.root / f"{name}.sh"
            script.write_text(f"#!/bin/sh\n{text}true\n")
            done = subprocess.run([found("sbatch"), "--test-only", str(script)], env=self.cluster.env, capture_output=True,
                                  text=True, timeout=60, cwd=self.root)
            taken[name] = done.returncode == 0
            if done.returncode != 0:
                # Of a feature that no node has, Slurm says that it is not valid.
                self.assertRegex(done.stderr, "Invalid feature|node configuration is not available")
        self.assertEqual(taken, {"fits": True, "one": True, "other": False, "newer": False, "cpu": True})

    def test_scontrol_tells_the_machine(self):
        (self.root / "nodes.txt").write_text(self.cluster.ask("scontrol", "show", "node") + "\n")
        result = self.assert_ok(self.variant("detect", "--for", "nodes.txt", "--json"))
        self.assertEqual([gpu["arch"] for gpu in result.json["gpus"]], ["9.0", "9.0"])
        self.assertEqual(result.json["cpu"]["level"], "v3")
        (self.root / "nodes.txt").write_text(self.cluster.ask("scontrol", "--oneliner", "show", "node") + "\n")
        self.assertEqual(self.assert_ok(self.variant("detect", "--for", "nodes.txt", "--json")).json["gpus"], result.json["gpus"])


if __name__ == "__main__":
    unittest.main()
