"""Requirements that cannot be met together: the few lines on stderr, the whole derivation with --explain, the same object in
--json, and no more lines for hundreds of versions than for two."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import Index, TestCase, Wheel, levels_document

MOST_LINES = 12


class Conflict(TestCase):
    def setUp(self):
        super().setUp()
        self.make_venv()
        self.index = Index(self.root / "index")

    def add(self, name, version, *requires):
        self.index.add_wheel(Wheel(name, version, requires=list(requires)))

    def refused(self, *arguments, code=1):
        result = self.install(*arguments, index=self.index)
        self.assertEqual(result.code, code, str(result))
        self.assertLessEqual(len(result.err.splitlines()), MOST_LINES, result.err)
        return result

    def chain(self):
        self.add("trainer", "1.0", "pipeline>=3")
        self.add("pipeline", "3.0", "protobuf<4")
        for version in ("3.0", "4.0"):
            self.add("protobuf", version)
        return "trainer", "protobuf>=4"

    def test_the_message_says_both_sides_and_the_lines_how_they_come_about(self):
        result = self.refused(*self.chain())
        self.assertEqual(result.out, "")
        lines = result.err.splitlines()
        self.assertIn("protobuf>=4 (requested), protobuf<4 (required by pipeline 3.0)", lines[0])
        self.assertIn("  trainer 1.0 requires pipeline>=3", lines)
        self.assertIn("loosen protobuf>=4", lines[-1])

    def test_explain_prints_the_whole_derivation(self):
        result = self.refused(*self.chain(), "--explain")
        lines = result.out.splitlines()
        self.assertEqual(lines[0], "why nothing can be chosen")
        for sentence in ("trainer (requested)", "trainer 1.0 requires pipeline>=3", "pipeline 3.0 requires protobuf<4",
                         "protobuf>=4 (requested)"):
            self.assertTrue(any(sentence in line for line in lines), result.out)
        self.assertRegex(lines[-1], r"^ *\d+\. so the requests cannot all be met \(from [\d, ]+\)$")

    def test_json_has_the_same_object(self):
        for command in (["install", "--dry-run"], ["resolve"]):
            result = self.variant(*command, *self.chain(), "--json", "--python", self.venv, "--index-url", self.index.url)
            self.assertEqual(result.code, 1, str(result))
            error = result.json["error"]
            self.assertEqual(error["kind"], "conflict")
            conflict = error["conflict"]
            self.assertEqual(conflict["package"], "protobuf")
            kinds = [one["kind"] for one in conflict["statements"]]
            self.assertEqual(kinds.count("request"), 2)
            self.assertEqual(kinds[-1], "conclusion")
            for place, one in enumerate(conflict["statements"]):
                self.assertEqual(bool(one["from"]), one["kind"] == "conclusion")
                self.assertTrue(all(earlier < place for earlier in one["from"]))
            need = next(one for one in conflict["statements"] if one["package"] == "pipeline")
            self.assertEqual((need["needed"], need["needs"]), ("protobuf", [{"versions": ["3.0"], "needs": "protobuf<4"}]))

    def test_hundreds_of_versions_take_no_more_lines(self):
        for minor in range(1, 120):
            self.add("cloud", f"1.{minor}", f"cloud-core=={minor}.0")
            self.add("cloud-core", f"{minor}.0")
        self.add("cloud-core", "500.0")
        result = self.refused("cloud", "cloud-core==500.0")
        self.assertIn("cloud-core==500.0 (requested), cloud-core==119.0 (required by cloud 1.119)", result.err)
        self.assertIn("118 other versions require other versions of it", result.err)
        result = self.refused("cloud", "cloud-core==500.0", "--explain")
        self.assertIn("1.7: cloud-core==7.0", result.out)

    def test_what_the_machine_lacks_is_data(self):
        document = levels_document(("v3", "v4"))
        del document["variants"]["null"]
        for label in document["variants"]:
            self.index.add_wheel(Wheel("demo", "1.0", label, document))
        self.index.add_variants("demo", "1.0", document)
        result = self.variant("resolve", "demo", "--json", "--for", "nehalem", "--python", self.venv,
                              "--index-url", self.index.url)
        self.assertEqual(result.code, 3, str(result))
        unusable = [one for one in result.json["error"]["conflict"]["statements"] if one["kind"] == "unusable"]
        self.assertEqual([one["label"] for one in unusable[0]["rejected"]], ["v3", "v4"])
        self.assertEqual(unusable[0]["rejected"][0]["facts"][0]["code"], "cpu-lacks")


if __name__ == "__main__":
    unittest.main(verbosity=2)
