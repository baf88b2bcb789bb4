"""A published wheel with CUDA code is split; NVIDIA's cuobjdump, of the same index, agrees with what is in it. Only with
AXLE_TEST_REGISTRY=1."""

import pathlib
import re
import subprocess
import sys
import unittest
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from registry_test import PYTHON, VARIANT, RegistryCase

PACKAGE = "bitsandbytes"  # 43 MB: libraries for several CUDA versions, each with code for up to nine architectures


class RealSplitTest(RegistryCase):
    def fetch(self, *requirements):
        done = subprocess.run([PYTHON, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "-d",
                               self.root / "wheels", *requirements], env=self.env, capture_output=True, text=True,
                              timeout=600)
        self.assertEqual(done.returncode, 0, done.stderr)

    def cuobjdump(self):
        self.fetch("nvidia-cuda-cuobjdump")
        wheel, = (self.root / "wheels").glob("nvidia_cuda_cuobjdump*.whl")
        with zipfile.ZipFile(wheel) as archive:
            name, = (one for one in archive.namelist() if one.endswith("/bin/cuobjdump"))
            program = pathlib.Path(archive.extract(name, self.root / "tools"))
        program.chmod(0o755)
        return program

    def test_a_real_wheel(self):
        program = self.cuobjdump()
        self.fetch(PACKAGE)
        wheel, = (self.root / "wheels").glob(f"{PACKAGE}*.whl")
        done = self.variant("repack", wheel, "--split", "sm", "--out", self.root / "out", "--json")
        self.assert_ok(done)
        rows = done.json["wheels"]
        self.assertGreater(len(rows), 3)
        for row in rows:
            self.assertLess(row["size"], wheel.stat().st_size / 2)
        row = next(row for row in rows if row["label"] == "sm90")
        with zipfile.ZipFile(wheel) as before, zipfile.ZipFile(row["file"]) as after:
            self.assertIsNone(after.testzip())
            names = [name for name in before.namelist() if "cuda" in name and name.endswith(".so")]
            self.assertGreater(len(names), 1)
            for name in names:
                old = self.dump(program, before.extract(name, self.root / "before"))
                cut = after.extract(name, self.root / "after")
                new = self.dump(program, cut)
                self.assertEqual(new.count("90"), old.count("90"), name)
                self.assertLess(len(new), len(old))
                told = [subprocess.run(["readelf", "-aW", one], capture_output=True, text=True).stderr
                        for one in (cut, self.root / "before" / name)]
                self.assertEqual(*told, name)

    def dump(self, program, path):
        done = subprocess.run([program, "--list-elf", path], capture_output=True, text=True)
        return re.findall(r"\.sm_(\d+)\w?\.cubin", done.stdout)


if __name__ == "__main__":
    unittest.main()
