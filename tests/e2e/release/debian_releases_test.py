"""The one program in Debian releases, old and new, as debootstrap makes them: with nothing but what is essential, Python and
certificates; the one for aarch64 in those for arm64, which are unpacked alone, and whose programs the kernel starts in an
emulator. AXLE_DEBIAN_SUITES names others than these; releases that the machine's mirror does not have are skipped."""

import os
import pathlib
import platform
import shutil
import subprocess
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1]), str(pathlib.Path(__file__).resolve().parent)]
import released
from support import PEERS, TestCase, Wheel, levels_document, variant_document

SUITES = os.environ.get("AXLE_DEBIAN_SUITES", "stretch buster bullseye bookworm trixie sid").split()
ROOTS = released.DIST / "debian"
CLEAN = ("/usr/bin/env", "-i", "PATH=/usr/bin:/bin:/usr/sbin:/sbin", "HOME=/root")


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


def bootstrap(suite, folder, *options):
    """What went wrong; empty: nothing."""
    done = subprocess.run(["debootstrap", "--variant=minbase", "--include=ca-certificates,python3", *options, suite, folder, mirror()],
                          capture_output=True, text=True, check=False)
    return last_line(done)


def unpack(folder):
    """The second stage of another architecture, without its programs: in an emulator, dpkg takes hours for their scripts. Every
    package is unpacked by this machine's dpkg-deb, and what scripts would have made of what is needed here is made."""
    # In a container debootstrap leaves a link to the outside.
    if (folder / "proc").is_symlink():
        (folder / "proc").unlink()
        (folder / "proc").mkdir()
    for package in sorted((folder / "var/cache/apt/archives").glob("*.deb")):
        # Through tar, since dpkg-deb -x puts a folder where the release has a link (/lib to usr/lib).
        done = subprocess.run(["sh", "-c", 'dpkg-deb --fsys-tarfile "$1" | tar -x --keep-directory-symlink -C "$2"', "sh", package, folder],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0 or done.stderr:
            return f"{package.name}: {done.stderr.strip()}"
    for name in ("passwd", "group"):  # base-passwd
        shutil.copy(folder / f"usr/share/base-passwd/{name}.master", folder / f"etc/{name}")
    certificates = sorted((folder / "usr/share/ca-certificates").rglob("*.crt"))  # ca-certificates
    bundle = folder / "etc/ssl/certs/ca-certificates.crt"
    bundle.parent.mkdir(parents=True, exist_ok=True)
    bundle.write_bytes(b"".join(one.read_bytes() for one in certificates))
    return ""


def last_line(done):
    if done.returncode == 0:
        return ""
    return [line for line in (done.stdout + done.stderr).splitlines() if line.strip()][-1]


def root_of(suite, foreign):
    """Kept between runs; half a one has another name. `foreign`: Debian's name of another architecture than this machine's."""
    root = ROOTS / (f"{suite}-{foreign}" if foreign else suite)
    if root.exists():
        return root
    if os.geteuid() != 0:
        raise unittest.SkipTest("debootstrap needs root")
    if shutil.which("debootstrap") is None:
        raise unittest.SkipTest("debootstrap is not installed")
    begun = root.with_name(root.name + ".begun")
    shutil.rmtree(begun, ignore_errors=True)
    ROOTS.mkdir(parents=True, exist_ok=True)
    wrong = bootstrap(suite, begun, "--foreign", f"--arch={foreign}") or unpack(begun) if foreign else bootstrap(suite, begun)
    if wrong:
        shutil.rmtree(begun, ignore_errors=True)
        raise unittest.SkipTest(f"debootstrap cannot make {root.name} of this machine's mirror: {wrong}")
    begun.rename(root)
    return root


class Debian(TestCase):
    """Those for this machine."""

    architecture, foreign = platform.machine(), ""
    document = levels_document()
    best = "v1"
    environment = ()

    def setUp(self):
        super().setUp()
        self.program = released.program(self.architecture)

    def isolation(self, root):
        """What runs a command in the release, with a /proc of its own."""
        return ("unshare", "--mount", "--pid", "--fork", f"--root={root}", "--mount-proc")

    def inside(self, root, *command):
        prefix = (*self.isolation(root), *CLEAN, *self.environment)
        return self.variant(*command[1:], program=command[0], prefix=prefix, cwd="/")

    def test_each_release(self):
        for suite in SUITES:
            with self.subTest(suite):
                root = root_of(suite, self.foreign)
                if self.inside(root, "/bin/true").code != 0:
                    self.skipTest("this machine allows no namespaces: " + self.inside(root, "/bin/true").err)
                self.check(root)
                self.check_wheel(root)

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
        for label in ("null", self.best):
            Wheel("demo", "1.0", label=label, document=self.document).write(place / "packages")
        self.assert_ok(self.inside(root, "/axle/variant", "venv", "/axle/venv"))
        self.assert_ok(self.inside(root, "/axle/variant-install", "demo", "--no-index", "--find-links", "/axle/packages", "--python",
                                   "/axle/venv"))
        self.assertEqual(self.assert_ok(self.inside(root, "/axle/venv/bin/python", "-c", "import demo; print(demo.VARIANT)")).out,
                         self.best + "\n")
        self.assert_ok(self.inside(root, "/axle/variant", "check", "--python", "/axle/venv"))

    def check_wheel(self, root):
        """The wheel, installed by the program and by pip (no file of which is for one architecture)."""
        place = root / "axle"
        wheel = "/axle/" + pathlib.Path(shutil.copy(released.build_wheel(self.architecture), place)).name
        self.assert_ok(self.inside(root, "/axle/variant", "install", wheel, "--no-index", "--python", "/axle/venv"))
        self.check_installed(root)
        if not PEERS.exists():
            self.skipTest(f"{PEERS} is not there: ./dev setup brings pip")
        if self.inside(root, "/usr/bin/python3", "-c", "import sys; sys.exit(sys.version_info < (3, 10))").code != 0:
            self.skipTest("all but pip: pip 26.3 needs Python 3.10")
        self.assert_ok(self.inside(root, "/axle/variant", "uninstall", "variant-install", "--python", "/axle/venv"))
        shutil.copytree(next(PEERS.parent.glob("lib/python3*/site-packages/pip")), place / "peers/pip")
        self.assert_ok(self.inside(root, "/usr/bin/env", "PYTHONPATH=/axle/peers", "/axle/venv/bin/python", "-m", "pip", "install", "--no-index",
                                   wheel))
        self.check_installed(root)

    def check_installed(self, root):
        said = self.assert_ok(self.inside(root, "/axle/variant", "--version")).out
        for name in ("variant", "variant-install"):
            self.assertEqual(self.assert_ok(self.inside(root, f"/axle/venv/bin/{name}", "--version")).out, said)
        module = self.inside(root, "/axle/venv/bin/python", "-m", "variant_install", "--version")
        self.assertEqual(self.assert_ok(module).out, said)


class DebianForArm(Debian):
    """Those for arm64."""

    architecture, foreign = "aarch64", "arm64"
    document = variant_document({"null": [], "v82": [("aarch64", "version", ["8.2a"])]}, ("aarch64",),
                                {"aarch64": {"requires": ["aarch64-variant-provider"]}})
    best = "v82"
    environment = (f"QEMU_CPU={released.EMULATION['QEMU_CPU']}",)

    def isolation(self, root):
        return released.emulated(root)


if __name__ == "__main__":
    unittest.main()
