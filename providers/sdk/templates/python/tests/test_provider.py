import pathlib
import re
import tempfile
import unittest
from unittest import mock

import acme_variant_provider as provider
from acme_variant_provider import devices


class Provider(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        patch = mock.patch.object(provider, "CLASS_FOLDER", str(self.folder))
        patch.start()
        self.addCleanup(patch.stop)

    def add(self, name):
        (self.folder / name).mkdir()
        (self.folder / name / "dev").write_text("1:3\n")

    def test_a_machine_without_devices_supports_nothing(self):
        self.assertEqual(provider.get_supported_configs(), [])
        self.folder.rmdir()
        self.assertEqual(provider.get_supported_configs(), [])
        self.folder.mkdir()

    def test_known_devices_are_found_the_preferred_one_first(self):
        for name in ("null", "zero", "unheard_of"):
            self.add(name)
        (self.folder / "full").mkdir()
        device, count = provider.get_supported_configs()
        self.assertEqual((device.name, device.multi_value, device.values), ("device", True, ["zero", "null"]))
        self.assertEqual((count.name, count.multi_value, count.values), ("count", False, ["2", "1"]))

    def test_names_are_valid_and_everything_supported_is_known(self):
        for name in devices.KNOWN:
            self.add(name)
        known = {config.name: config.values for config in provider.get_all_configs()}
        for config in provider.get_supported_configs():
            self.assertRegex(config.name, r"\A[a-z0-9_]+\Z")
            for value in config.values:
                self.assertIn(value, known[config.name])
                self.assertTrue(re.fullmatch(r"[a-z0-9_.]+", value), value)


if __name__ == "__main__":
    unittest.main()
