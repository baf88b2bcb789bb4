"""After a power failure the environment is the old or the new one, whole, and no file of the user is lost: on every state that the
recorded writes of real commands can leave (power_loss.py). A Python script that knows nothing of Axle judges. AXLE_SOAK=full takes
every state, AXLE_SOAK=quick some more of them."""

import itertools
import os
import pathlib
import random
import shutil
import subprocess
import sys
import unittest
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import power_loss
from loopback import Loopback
from support import BIN, SOURCE, VARIANT, TestCase, Wheel

JUDGE = SOURCE / "tests/installer/verify_environment.py"
STEP = {"full": 1, "quick": 37}.get(os.environ.get("AXLE_SOAK"), 101)  # primes: every kind of loss gets its turn


def odd(path):
    return zlib.crc32(os.path.basename(path).encode()) % 2


LOSSES = {"complete": lambda path: 1.0, "empty": lambda path: 0.0, "half": lambda path: 0.5, "some empty": lambda path: float(odd(path)),
          "others half": lambda path: 1 - odd(path) / 2}


def module(version, extra=""):
    return f'__version__ = "{version}"\n{extra}'


def alpha(version, part):
    return Wheel("alpha", version, files={
        "alpha/__init__.py": module(version, f"PARTS = ['alpha.{part}', 'alpha_single', 'shared.alpha']\n"
                                             "def main():\n    print(__version__)\n"),
        f"alpha/{part}.py": module(version), "alpha/same.py": "always = 1\n" * 50, "alpha_single.py": module(version),
        "shared/alpha.py": module(version), "shared/both.py": "both = 1\n",
        f"alpha-{version}.data/data/share/alpha/{version}.txt": f"data of {version}",
        f"alpha-{version}.dist-info/entry_points.txt": "[console_scripts]\nalpha-say = alpha:main\n"})


def beta():
    return Wheel("beta", "1.0", files={"beta/__init__.py": module("1.0", "PARTS = ['shared.beta']\n"), "shared/beta.py": module("1.0"),
                                       "shared/both.py": "both = 1\n"})


def gamma():
    """With a file of alpha's."""
    return Wheel("gamma", "1.0", files={"gamma.py": module("1.0"), "alpha/same.py": "always = 2\n"})


class PowerLoss(TestCase):
    def setUp(self):
        super().setUp()
        self.cache = self.root / "cache"
        self.env["AXLE_CACHE_DIR"] = str(self.cache)
        self.env["PYTHONDONTWRITEBYTECODE"] = "1"
        self.make_venv()
        self.wheels = {"1": alpha("1.0", "older").write(self.root), "2": alpha("2.0", "newer").write(self.root),
                       "beta": beta().write(self.root), "gamma": gamma().write(self.root)}
        (self.site() / "shared").mkdir()
        (self.site() / "shared/notes.txt").write_text("the user's\n")

    def judge(self, what):
        done = subprocess.run([str(self.venv / "bin/python"), str(JUDGE), str(self.root / "baseline")], capture_output=True, text=True,
                              env=self.env, timeout=60)
        self.assertEqual(done.returncode, 0, f"{what}: {done.stdout}{done.stderr}")
        return done.stdout.strip()

    def run_it(self, *words):
        return self.variant(*words, "--python", self.venv)

    def marks(self):
        return [path.name for path in (self.venv / ".axle/unflushed").glob("*.*.*")]


class Replay(PowerLoss):
    def setUp(self):
        super().setUp()
        if not power_loss.can_trace():
            self.skipTest("system calls cannot be recorded without strace, and leave to trace")
        self.need_program_as_shipped()
        self.assert_ok(self.run_it("list"))
        self.judge("the beginning")
        self.random = random.Random(self.id())

    def replay(self, before, *commands):
        """`commands` one after the other in one boot, after `before`, which is on the disk. The power fails at every point."""
        for words in before:
            self.assert_ok(self.run_it(*words))
        shutil.rmtree(self.venv / ".axle/unflushed", ignore_errors=True)
        for mark in self.cache.glob("store/*/*/unflushed"):
            mark.unlink()
        folders = [self.venv, self.cache]
        disk = power_loss.Disk(folders)
        deeds, ends, known, seen = [], [0], [self.judge("before")], {}
        for words in commands:
            more, done = power_loss.record([VARIANT, *words, "--python", self.venv], folders, self.root / "trace", env=self.env,
                                           cwd=self.root, capture_output=True, text=True, timeout=120)
            self.assertEqual(done.returncode, 0, done.stderr)
            deeds += more
            ends.append(len(deeds))
            known.append(self.judge(words))
            seen[len(deeds)] = power_loss.Disk(folders)
        keep = {str(self.venv / "pyvenv.cfg")}
        count = 0
        cases = itertools.product(power_loss.states(disk, deeds, seen), LOSSES.items())
        for (index, done, state), (loss, left) in itertools.islice(cases, self.random.randrange(STEP), None, STEP):
            state.write(folders, left, keep)
            self.survive(index, done, deeds, (ends, known), loss)
            count += 1
        print(f"{self.id()}: {len(deeds)} deeds, {count} states", flush=True)
        self.assertGreater(count, 1)

    def survive(self, index, done, deeds, story, loss):
        ends, known = story
        last = next(number for number, end in enumerate(ends) if done <= end)
        allowed = {known[last], known[max(last - 1, 0)]}
        what = f"names up to {index}, {done} of {len(deeds)} deeds, contents {loss}: {deeds[index:index + 1]}"
        if (BIN / "libfault_shim.so").exists() and self.random.randrange(3) == 0:  # the recovery is killed, too
            at = self.random.randrange(1, 30)
            what += f", recovery killed at {at}"
            self.variant("list", "--python", self.venv, env={
                "LD_PRELOAD": str(BIN / "libfault_shim.so"), "AXLE_FAULT_AT": str(at), "AXLE_FAULT_ACTION": "kill"})
        found = self.assert_ok(self.run_it("list"))
        self.assertNotIn("cannot", found.err, what)
        state = self.judge(f"{what}: {found.err}")
        self.assertIn(state, allowed, what)
        self.assertEqual(state, " ".join(sorted("==".join(line.split()[:2]) for line in found.out.splitlines()[2:])), what)
        self.assertEqual((self.site() / "shared/notes.txt").read_text(), "the user's\n", what)
        self.assertEqual(self.marks(), [], what)
        again = self.assert_ok(self.run_it("list"))
        self.assertEqual((again.out, again.err), (found.out, ""), what)
        if self.random.randrange(4) == 0:
            self.assert_ok(self.run_it("check", "--deep"))
            following = self.random.choice(["1", "2", "beta"])
            self.assert_ok(self.run_it("install", self.wheels[following], "--overwrite"))
            self.judge(f"{what}; then {following}")

    def test_a_first_installation(self):
        self.replay([], ["install", self.wheels["1"]])

    def test_an_upgrade(self):
        self.replay([["install", self.wheels["1"], self.wheels["beta"]]], ["install", self.wheels["2"]])

    def test_an_upgrade_from_a_full_store(self):
        self.replay([["install", self.wheels["2"]], ["install", self.wheels["1"]]], ["install", self.wheels["2"]])

    def test_a_file_that_is_overwritten(self):
        self.replay([["install", self.wheels["1"]]], ["install", self.wheels["gamma"], "--overwrite"])

    def test_a_file_that_was_overwritten_in_the_same_boot(self):
        self.replay([], ["install", self.wheels["1"]], ["install", self.wheels["gamma"], "--overwrite"], ["uninstall", "alpha"])

    def test_a_removal(self):
        self.replay([["install", self.wheels["1"], self.wheels["beta"]]], ["uninstall", "alpha"])

    def test_byte_code(self):
        """What of it was not written is removed, or an import would fail by half a file."""
        self.replay([], ["install", "--compile-bytecode", self.wheels["1"]])

    def test_byte_code_of_another_version(self):
        self.replay([["install", "--compile-bytecode", self.wheels["1"]]], ["install", "--compile-bytecode", self.wheels["2"]])

    def test_several_changes_in_one_boot(self):
        self.replay([], ["install", self.wheels["1"]], ["install", self.wheels["2"], self.wheels["beta"]], ["uninstall", "alpha"])


class Elsewhere(PowerLoss):
    def test_a_wheel_is_downloaded_again(self):
        server = Loopback(self)
        server.publish("/simple", Wheel("demo", "1.0"), Wheel("other", "1.0"))
        index = ("--index-url", server.url("/simple"), "--python", self.venv)
        self.assert_ok(self.variant("install", "demo", *index))
        module = self.site() / "demo.py"
        content = module.read_bytes()
        times = (module.stat().st_atime_ns, module.stat().st_mtime_ns)
        module.write_bytes(b"")  # the store's too
        os.utime(module, ns=times)
        for mark in (self.venv / ".axle/unflushed").glob("*.*.*.*"):
            number, _, seconds, inode = mark.name.split(".")
            mark.rename(mark.with_name(f"{number}.{power_loss.OTHER_BOOT}.{seconds}.{inode}"))
        listed = self.assert_ok(self.run_it("list"))
        self.assertIn("demo 1.0 is damaged", listed.err)
        self.assertIn("variant install --reinstall --no-deps", listed.err)
        self.assertEqual(len(self.marks()), 1)
        added = self.assert_ok(self.variant("install", "other", *index))
        self.assertIn("demo 1.0: 1 file was not on the disk", added.err)
        self.assertEqual(module.read_bytes(), content)
        self.assertEqual(self.assert_ok(self.run_it("list")).err, "")


if __name__ == "__main__":
    unittest.main()
