"""No cache outlives a change: the real program, twice in one home, with another CPU, driver or device the second time."""

import os
import pathlib
import shutil
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from drivers_test import STUBS, real_driver
from support import Index, NVIDIA_PROVIDER, TestCase, Wheel, publish_levels, variant_document

EMULATOR = shutil.which("qemu-x86_64")


class Cpu(TestCase):
    """uv keeps the CPU's flags and was seen to take a v4 wheel on a v2 machine."""

    def setUp(self):
        super().setUp()
        if EMULATOR is None or os.uname().machine != "x86_64":
            self.skipTest("this needs an x86-64 machine with qemu-x86_64 (Debian: qemu-user)")
        self.need_program_as_shipped()
        self.make_venv()
        self.index = Index(self.root / "index")
        publish_levels(self.index, labels=("v1", "v2", "v3"))

    def on(self, model, *arguments):
        result = self.variant(*arguments, "--json", prefix=(EMULATOR, "-cpu", model))
        return self.assert_ok(result).json

    def test_another_cpu_the_second_time_is_seen_at_once(self):
        for model, level, flag in (("Haswell", "v3", True), ("Nehalem", "v2", False), ("qemu64", "v1", False),
                                   ("Haswell", "v3", True)):
            with self.subTest(model=model):
                properties = self.on(model, "properties", "--namespace", "x86_64")["properties"]["x86_64"]
                self.assertEqual(properties["level"][0], level)
                self.assertEqual("avx2" in properties, flag)
                # The index's pages are kept between these runs, the CPU is not.
                [package] = self.on(model, "resolve", "demo", "--index-url", self.index.url, "--python",
                                    self.venv)["packages"]
                self.assertEqual(package["variant"], level)


class Driver(TestCase):
    OLD, NEW = (12080).to_bytes(4, "little"), (12040).to_bytes(4, "little")

    def setUp(self):
        super().setUp()
        if real_driver():
            self.skipTest(f"this machine has {real_driver()}, which may be asked beside the stand-in")
        self.driver = self.root / "driver"
        shutil.copytree(f"{STUBS}/nvidia", self.driver)
        for mask in ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"):
            self.env.pop(mask, None)
        self.forks = self.root / "forks"
        self.env.update({"LD_LIBRARY_PATH": str(self.driver), "AXLE_STUB": "ok",
                         "LD_PRELOAD": STUBS + "/fork_counter/fork_counter.so", "AXLE_FORK_LOG": str(self.forks)})
        self.make_venv()
        self.index = Index(self.root / "index")
        variants = {f"cu{version.replace('.', '')}": [("nvidia", "cuda_version_lower_bound", [version])]
                    for version in ("12.8", "12.4")}
        variants["null"] = []
        document = variant_document(variants, ["nvidia"], {"nvidia": NVIDIA_PROVIDER})
        for label in variants:
            self.index.add_wheel(Wheel("demo", "1.0", label, dict(document, variants={label: document["variants"][label]})))
        self.index.add_variants("demo", "1.0", document)

    def chosen(self, **env):
        answer = self.assert_ok(self.variant("resolve", "demo", "--index-url", self.index.url, "--python", self.venv,
                                             "--json", env=env)).json
        return answer["packages"][0]["variant"]

    def asked(self):
        """The newest CUDA that the driver runs, and how many children were started to learn it."""
        self.forks.unlink(missing_ok=True)
        lists = self.assert_ok(self.variant("properties", "--namespace", "nvidia", "--json")).json["properties"]["nvidia"]
        count = len(self.forks.read_text().splitlines()) if self.forks.exists() else 0
        return lists["cuda_version_lower_bound"][0], count

    def test_another_driver_the_second_time_is_seen_at_once(self):
        self.assertEqual(self.asked(), ("12.8", 1))
        self.assertEqual(self.asked(), ("12.8", 0))  # kept
        self.assertEqual(self.chosen(), "cu128")
        for file in self.driver.iterdir():
            self.downgrade(file)
        self.assertEqual(self.asked(), ("12.4", 1))
        self.assertEqual(self.asked(), ("12.4", 0))
        self.assertEqual(self.chosen(), "cu124")

    def test_a_device_that_is_hidden_or_gone_the_second_time_is_seen_at_once(self):
        self.assertEqual(self.chosen(), "cu128")
        self.assertEqual(self.chosen(CUDA_VISIBLE_DEVICES=""), "null")
        self.assertEqual(self.chosen(), "cu128")
        for file in self.driver.iterdir():
            file.unlink()
        self.assertEqual(self.chosen(), "null")

    def downgrade(self, file):
        """Another driver of the same name, size and time in the place of the one that is there."""
        content, stamp = file.read_bytes(), file.stat()
        self.assertEqual(content.count(self.OLD), 1)
        new = pathlib.Path(str(file) + ".new")
        new.write_bytes(content.replace(self.OLD, self.NEW))
        shutil.copymode(file, new)
        os.utime(new, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
        new.rename(file)


if __name__ == "__main__":
    unittest.main()
