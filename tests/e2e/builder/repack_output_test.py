"""What `variant repack` leaves in its output folder, and that it asks no machine."""

import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from repack_test import RepackCase
from made_library import CUBIN, entry, fatbin, library

PROPERTY = "nvidia :: sm_arch :: 90_real"


class OutputTest(RepackCase):
    def test_what_a_kill_left_is_removed(self):
        path = self.wheel({}).write(self.root)
        left = self.out / ".variant-drafts/demo-1.0-py3-none-any-x.whl.abc123"
        left.parent.mkdir(parents=True)
        left.write_bytes(b"begun")
        self.assert_ok(self.repack(path, "--label", "a", "--property", PROPERTY))
        self.assertEqual([one.name for one in self.out.iterdir()], ["demo-1.0-py3-none-linux_x86_64-a.whl"])

    def test_no_machine_is_asked(self):
        path = self.wheel({}).write(self.root)
        self.refused(self.repack(path, "--label", "a", "--property", PROPERTY, "--for", "h100"), "--for", code=2)

    def test_a_full_disk_keeps_what_is_finished(self):
        self.out.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(self.out)], capture_output=True).returncode:
            self.skipTest("no small file system can be mounted here")
        self.addCleanup(subprocess.run, ["umount", str(self.out)], capture_output=True)
        code = library([(".nv_fatbin", fatbin(entry(CUBIN, 80), entry(CUBIN, 90)))])
        path = self.wheel({"demo/lib.so": code, "demo/data.bin": os.urandom(1_400_000)}).write(self.root)
        result = self.assert_fails(self.repack(path, "--split", "sm"), 1, "No space left on device")
        # They are written at once: one of them was finished, or the disk was full before.
        left = [one.name for one in self.out.iterdir()]
        self.assertLess(len(left), 2, str(result))
        for whole in left:
            self.assertIn(f"written and whole is {whole}", str(result))
            self.assert_whole(self.out / whole)


if __name__ == "__main__":
    unittest.main()
