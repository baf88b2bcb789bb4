"""`variant cache clean`, `prune` and `verify`, killed or refused at any call: environments stay whole, what is left in the store is
whole or not taken, and the next command works. The calls are chosen from a seed; AXLE_SOAK=full takes more of them."""

import os
import pathlib
import random
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import BIN, Index, TestCase, Wheel, tree

POINTS = 60 if os.environ.get("AXLE_SOAK") == "full" else 6
ACTIONS = ("kill", "ENOSPC", "EIO", "EACCES")
LONG_AGO = 1_500_000_000


class KilledCache(TestCase):
    def setUp(self):
        super().setUp()
        self.shim = BIN / "libfault_shim.so"
        if not self.shim.exists():
            self.skipTest("libfault_shim.so is not built")
        self.need_program_as_shipped()
        self.make_venv()
        self.cache, self.mark = self.root / "cache", self.root / "mark"
        self.env["AXLE_CACHE_DIR"] = str(self.cache)
        self.env["PYTHONDONTWRITEBYTECODE"] = "1"
        self.index = Index(self.root / "index")
        self.wheels = [Wheel("demo", "1.0", files={f"demo/m{i}.py": f"x = {i}\n" * 50 for i in range(12)}),
                       Wheel("other", "1.0", files={"other/deep/a.py": "a\n", "other/b.py": "b\n"})]
        for wheel in self.wheels:
            self.index.add_wheel(wheel)
        self.assert_ok(self.install("demo", "other", index=self.index))
        self.content = self.environment()

    def environment(self):
        return {path: digest for path, digest in tree(self.venv).items() if not path.startswith(".axle")}

    def keep(self):
        """Both in one copy, which keeps the links between them."""
        kept = self.root / "kept"
        kept.mkdir()
        subprocess.run(["cp", "-a", self.venv, self.cache, kept], check=True)
        return kept

    def bring_back(self, kept):
        for place in (self.venv, self.cache):
            shutil.rmtree(place, ignore_errors=True)
            subprocess.run(["cp", "-a", kept / place.name, place.parent], check=True)

    def faults(self, *command):
        """The result of each run with a fault."""
        kept = self.keep()
        count = self.root / "count"
        self.variant(*command, env={"LD_PRELOAD": str(self.shim), "AXLE_FAULT_COUNT": str(count)})
        calls = int(count.read_text())
        for action in ACTIONS:
            met = 0
            for at in sorted(random.Random(f"{command} {action}").sample(range(1, calls + 1), min(POINTS, calls))):
                self.bring_back(kept)
                self.mark.unlink(missing_ok=True)
                done = self.variant(*command, env={"LD_PRELOAD": str(self.shim), "AXLE_FAULT_AT": str(at),
                                                   "AXLE_FAULT_ACTION": action, "AXLE_FAULT_MARK": str(self.mark)})
                met += self.mark.exists()
                with self.subTest(command=command, action=action, at=at):
                    if self.mark.exists():
                        self.assertIn(done.code, (-9, 137) if action == "kill" else (0, 1), done)
                    self.assertEqual(self.environment(), self.content, done)
                    yield done
            self.assertGreater(met, 0, (command, action))

    def assert_installs(self):
        """Into another folder, from what the store has and the index."""
        target = self.root / "target"
        shutil.rmtree(target, ignore_errors=True)
        self.assert_ok(self.install("demo", "other", "--target", target, index=self.index))
        for wheel in self.wheels:
            for path, text in wheel.members.items():
                if not path.endswith("/RECORD"):
                    self.assertEqual((target / path).read_text(), text, path)

    def assert_goes_on(self, *command):
        self.assert_ok(self.variant("cache", "verify"))
        self.assert_installs()
        self.assert_ok(self.variant(*command))
        self.assertEqual(self.environment(), self.content)
        self.assert_ok(self.variant("check", "--deep", "--python", self.venv))

    def test_clean(self):
        for _ in self.faults("cache", "clean"):
            self.assert_goes_on("cache", "clean")
            self.assertEqual(list(self.cache.rglob("m0.py")), [])

    def test_clean_of_a_package(self):
        for _ in self.faults("cache", "clean", "demo"):
            self.assert_goes_on("cache", "clean", "demo")
            self.assertEqual(list(self.cache.rglob("m0.py")), [])

    def test_prune(self):
        shutil.rmtree(self.venv / ".axle/history", ignore_errors=True)
        for path in [self.cache, *self.cache.rglob("*")]:
            os.utime(path, (LONG_AGO, LONG_AGO), follow_symlinks=False)
        for _ in self.faults("cache", "prune"):
            self.assert_goes_on("cache", "prune")

    def test_verify(self):
        for _ in self.faults("cache", "verify"):
            self.assert_goes_on("cache", "verify")

    def test_verify_that_removes_what_is_damaged(self):
        damaged = next(self.cache.rglob("m3.py"))
        text = damaged.read_bytes()
        damaged.chmod(0o644)
        damaged.unlink()
        damaged.write_bytes(b"y" + text[1:])
        for done in self.faults("cache", "verify", "--fix"):
            self.variant("cache", "verify", "--fix")
            self.assert_goes_on("cache", "verify", "--fix")


if __name__ == "__main__":
    unittest.main()
