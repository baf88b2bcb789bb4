"""Ascend's published variant index: wheels with the labels 910b and a3, documents of version 0.0.x whose provider is a
plugin class, and a plain wheel for pip. Names, labels and properties as sgl-project/sgl-kernel-npu PR #506 (merged
2026-05-19) and verl-project/verl PR #7392 (2026-08-13) publish them; documents as variantlib 0.0.2 and 0.0.3 write them."""

import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import Index, TestCase, Wheel  # noqa: E402

LINUX = "py3-none-manylinux_2_28_aarch64"
PROVIDERS = {
    "huawei-ascend-variant-provider>=0.0.1,<1.0.0": "huawei_ascend_variant_provider.plugin:AscendVariantPlugin",
    "ascend-variant-provider>=0.0.1,<1.0.0": "ascend_variant_provider.plugin:AscendVariantPlugin",
}


def document(requirement, schema, kinds=("910b", "a3")):
    provider = {"requires": [requirement], "enable-if": "platform_system == 'Linux'", "plugin-api": PROVIDERS[requirement]}
    return {"$schema": f"https://variants-schema.wheelnext.dev/{schema}.json",
            "default-priorities": {"namespace": ["ascend"], "feature": {}, "property": {}},
            "providers": {"ascend": provider},
            "variants": {kind: {"ascend": {"npu_type": [kind]}} for kind in kinds}}


class AscendVariantsTest(TestCase):
    def put(self, requirement, schema, version="1.0.0", plain=True):
        self.index = Index(self.root / f"index-{len(list(self.root.glob('index-*')))}")
        described = document(requirement, schema)
        for label in described["variants"]:
            self.index.add_wheel(Wheel("deep-ep", version, label=label, document=described, tags=LINUX))
        if plain:
            self.index.add_wheel(Wheel("deep-ep", version, tags=LINUX))
        self.index.add_variants("deep-ep", version, described)

    def label(self, machine):
        result = self.assert_ok(self.variant("resolve", "deep-ep", "-i", self.index.url, "--for", machine, "--json"))
        (package,) = result.json["packages"]
        return package["variant"]

    def other(self, kind):
        """The recorded machine with another kind of NPU: what `npu-smi` prints is all that differs."""
        path = self.root / f"{kind}.json"
        path.write_text(json.dumps({
            "schema_version": 1, "origin": {"kind": "synthesised", "source": "this test", "date": "2026-11-23"},
            "cpu": {"arch": "aarch64"}, "npus": [{"kind": "ascend", "usable": "present", "type": kind}]}))
        return path

    def test_the_wheel_for_the_npu_of_a_recorded_machine(self):
        for requirement in PROVIDERS:
            for schema in ("v0.0.2", "v0.0.3"):
                self.put(requirement, schema)
                self.assertEqual(self.label("ascend-910b"), "910b", (requirement, schema))
                self.assertEqual(self.label(self.other("a3")), "a3")

    def test_another_npu_and_no_npu_get_the_plain_wheel(self):
        self.put(next(iter(PROVIDERS)), "v0.0.3")
        self.assertEqual(self.label(self.other("310p")), None)
        self.assertEqual(self.label("graviton3"), None)

    def test_without_a_plain_wheel_the_reason_names_the_npu(self):
        self.put(next(iter(PROVIDERS)), "v0.0.2", plain=False)
        refused = self.variant("resolve", "deep-ep", "-i", self.index.url, "--for", self.other("310p"))
        self.assert_fails(refused, 3, "deep-ep", "910b", "310p")

    def test_explained(self):
        self.put(next(iter(PROVIDERS)), "v0.0.3")
        explained = self.assert_ok(self.variant("explain", "deep-ep", "-v", "-i", self.index.url, "--for", "ascend-910b"))
        self.assertIn("ascend :: npu_type :: 910b", explained.out)
        self.assertIn("namespace ascend: built in", explained.out)


if __name__ == "__main__":
    unittest.main()
