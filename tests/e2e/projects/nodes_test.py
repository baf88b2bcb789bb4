"""--for with the nodes of a cluster: what kubectl and scontrol write."""

import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import SOURCE, Index, TestCase, Wheel, variant_document

SEEDS = SOURCE / "tests/fuzz/corpus/machines"


class Nodes(TestCase):
    def detect(self, path, *arguments):
        return self.variant("detect", "--for", path, *arguments)

    def test_a_node_is_a_machine_and_a_list_a_fleet(self):
        index = Index(self.root / "index")
        document = variant_document({"sm90": [("nvidia", "sm_arch", ["90_real"])], "null": []}, ("nvidia",))
        for label in ("sm90", "null"):
            index.add_wheel(Wheel("demo", "1.0", label, document))
        index.add_wheel(Wheel("demo", "1.0"))
        index.add_variants("demo", "1.0", document)
        nodes = SEEDS / "kubernetes_nodes/list"
        result = self.assert_ok(self.variant("resolve", "demo", "--index-url", index.url, "--for", nodes, "--json"))
        variants = {one["machine"].rpartition(": ")[2]: one["packages"][0]["variant"] for one in result.json["machines"]}
        self.assertEqual(variants, {"gpu-1": "sm90", "cpu-1": "null", "amd-1": "null"})
        self.assert_fails(self.detect(nodes), 2, "one machine")

    def test_what_labels_say_and_what_is_assumed(self):
        node = json.loads((SEEDS / "kubernetes_nodes/list").read_text())["items"][0]
        (self.root / "node.json").write_text(json.dumps(node))
        result = self.assert_ok(self.detect("node.json", "--json"))
        self.assertEqual([gpu["arch"] for gpu in result.json["gpus"]], ["9.0"] * 8)
        self.assertEqual(result.json["cpu"]["level"], "v4")
        self.assertIn("assuming glibc 2.28", result.err)
        # A folder of nodes is a fleet, beside profiles.
        (self.root / "fleet").mkdir()
        (self.root / "fleet/a.json").write_text(json.dumps(node))
        (self.root / "fleet/b.json").write_text(json.dumps(node))
        self.assert_fails(self.detect("fleet"), 2, "one machine")

    def test_scontrol(self):
        result = self.assert_ok(self.detect(SEEDS / "slurm_nodes/h100", "--json"))
        self.assertEqual([gpu["arch"] for gpu in result.json["gpus"]], ["9.0"] * 4)
        self.assert_fails(self.detect(SEEDS / "slurm_nodes/unknown_type"), 1, "unknown_type:1", "zork", "gpu:h100:4")
        self.assert_fails(self.detect(SEEDS / "kubernetes_nodes/bad_label"), 1, "bad_label", "gpu.compute.major", "nine")


if __name__ == "__main__":
    unittest.main()
