"""The one program in Debian releases, old and new, as debootstrap makes them: with nothing but what is essential,
Python and certificates. AXLE_DEBIAN_SUITES names others than these; releases that the machine's mirror does not have are skipped."""

import os
import pathlib
import shutil
import subprocess
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1]), str(pathlib.Path(__file__).resolve().parent)]
import released
from support import TestCase, Wheel, levels_document

SUITES = os.environ.get("AXLE_DEBIAN_SUITES", "stretch buster bullseye bookworm trixie sid").split()
ROOTS = released.DIST / "debian"


def mirror():
    """Where this machine has Debian's packages from."""
    asked = ("apt-get", "indextargets", "--format", "$(REPO_URI) $(CODENAME) $(ORIGIN)", "Identifier: Packages")
    if shutil.which("apt-get") is None:
        raise unittest.SkipTest("this machine is no Debian: it has no mirror")
    for line in subprocess.run(asked, check=True, capture_output=True, text=True).stdout.splitlines():
        address, codename, origin = line.split()
        if origin == "Debian" and "-" not in codename:
            return address
    raise unittest.SkipTest("apt has no lists of Debian's main archive: run apt-get update")


def root_of(suite):
    """Kept between runs; half a one has another name."""
    root = ROOTS / suite
    if root.exists():
        return root
    if os.geteuid() != 0:
        raise unittest.SkipTest("debootstrap needs root")
    if shutil.which("debootstrap") is None:
        raise unittest.SkipTest("debootstrap is not installed")
    begun = ROOTS / f"{suite}.begun"
    shutil.rmtree(begun, ignore_errors=True)
    ROOTS.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(["debootstrap", "--variant=minbase", "--include=ca-certificates,python3", suite, begun, mirror()],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()][-1]
        shutil.rmtree(begun, ignore_errors=True)
        raise unittest.SkipTest(f"debootstrap cannot make {suite} of this machine's mirror: {last}")
    begun.rename(root)
    return root


class Debian(TestCase):
    def setUp(self):
        super().setUp()
        self.program = released.native()

    def inside(self, root, *command):
        """In the release, with a /proc of its own."""
        isolated = ("unshare", "--mount", "--pid", "--fork", f"--root={root}", "--mount-proc", "/usr/bin/env", "-i",
                    "PATH=/usr/bin:/bin", "HOME=/root")
        return self.variant(*command[1:], program=command[0], prefix=isolated, cwd="/")

    def test_each_release(self):
        for suite in SUITES:
            with self.subTest(suite):
                root = root_of(suite)
                if self.inside(root, "/bin/true").code != 0:
                    self.skipTest("this machine allows no namespaces: " + self.inside(root, "/bin/true").err)
                self.check(root)

    def check(self, root):
        place = root / "axle"
        shutil.rmtree(place, ignore_errors=True)
        self.addCleanup(shutil.rmtree, place, ignore_errors=True)
        place.mkdir()
        for name in ("variant", "variant-install"):
            shutil.copy(self.program.with_name(name), place)
        tested = self.inside(root, "/axle/variant", "self-test", "--json").json
        states = {row["test"]: row["state"] + ": " + row["said"] for row in tested["tests"] if row["state"] != "ok"}
        self.assertEqual(states, {})
        self.assertIn("glibc", self.inside(root, "/axle/variant", "detect").out)
        document = levels_document()
        for label in ("null", "v1"):
            Wheel("demo", "1.0", label=label, document=document).write(place / "packages")
        self.assert_ok(self.inside(root, "/axle/variant", "venv", "/axle/venv"))
        self.assert_ok(self.inside(root, "/axle/variant-install", "demo", "--no-index", "--find-links", "/axle/packages", "--python",
                                   "/axle/venv"))
        self.assertEqual(self.assert_ok(self.inside(root, "/axle/venv/bin/python", "-c", "import demo; print(demo.VARIANT)")).out, "v1\n")
        self.assert_ok(self.inside(root, "/axle/variant", "check", "--python", "/axle/venv"))


if __name__ == "__main__":
    unittest.main()
