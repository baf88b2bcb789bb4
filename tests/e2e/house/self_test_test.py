"""`variant self-test`: what it says of a program that works, and of one that lacks something."""

import os
import pathlib
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import VARIANT, TestCase

TESTS = ["data", "hashes", "pages", "wheels", "detection", "resolver", "certificates", "TLS", "kernels"]


class SelfTest(TestCase):
    def setUp(self):
        super().setUp()
        self.certificates = self.root / "ca.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", self.root / "key.pem", "-out",
                        self.certificates, "-days", "1", "-subj", "/CN=authority"], check=True, capture_output=True)
        for name in ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
            self.env.pop(name, None)

    def states(self, failing=(), env=None, **options):
        """Which tests have which state; that `failing` and no others fail, and the exit code says so."""
        env = {"SSL_CERT_FILE": str(self.certificates)} if env is None else env
        result = self.variant("self-test", "--json", env=env, **options)
        answer = result.json
        self.assertEqual([row["test"] for row in answer["tests"]], TESTS)
        self.said = {row["test"]: row["said"] for row in answer["tests"]}
        self.hints = {row["test"]: row["hint"] for row in answer["tests"]}
        states = {row["test"]: row["state"] for row in answer["tests"]}
        self.assertEqual(sorted(name for name, state in states.items() if state == "failed"), sorted(failing), str(result))
        self.assertEqual(result.code, 1 if failing else 0, str(result))
        self.assertEqual(answer["works"], not failing)
        return states

    def test_a_program_that_works(self):
        states = self.states()
        self.assertEqual(set(states.values()), {"ok"}, self.said)
        self.assertIn(f"1 in {self.certificates}", self.said["certificates"])
        text = self.assert_ok(self.variant("self-test", env={"SSL_CERT_FILE": str(self.certificates)})).out
        self.assertEqual([line.split()[0] for line in text.splitlines()[:-1]], TESTS)
        self.assertRegex(text.splitlines()[-1], r"^axle [0-9.]+ works here$")

    def test_a_machine_without_python(self):
        states = self.states(env={"SSL_CERT_FILE": str(self.certificates), "PATH": str(self.root / "absent")})
        self.assertEqual({name for name, state in states.items() if state == "skipped"}, {"resolver"})
        self.assertIn("no Python", self.said["resolver"])
        self.assertIn("install Python", self.hints["resolver"])

    def test_certificates_that_are_not_there(self):
        absent = self.root / "absent.pem"
        self.states({"certificates", "TLS"}, env={"SSL_CERT_FILE": str(absent)})
        self.assertIn(f"{absent} cannot be read", self.said["certificates"])
        self.assertIn("ca-certificates", self.hints["certificates"])
        self.assertIn("SSL_CERT_FILE", self.hints["TLS"])
        empty = self.root / "empty"
        empty.mkdir()
        self.states({"certificates"}, env={"SSL_CERT_DIR": str(empty)})
        self.assertIn(f"0 in {empty}", self.said["certificates"])
        shutil.copy(self.certificates, empty / "5ed36f99.0")
        self.states(env={"SSL_CERT_DIR": str(empty)})

    def test_a_file_with_certificates_of_nobody(self):
        (self.root / "text.pem").write_text("nothing\n")
        self.states({"certificates", "TLS"}, env={"SSL_CERT_FILE": str(self.root / "text.pem")})

    def test_no_place_for_temporary_files(self):
        env = {"SSL_CERT_FILE": str(self.certificates), "TMPDIR": str(self.root / "absent")}
        self.states({"wheels", "resolver"}, env=env)
        for name in ("wheels", "resolver"):
            self.assertIn(str(self.root / "absent"), self.said[name])
            self.assertIn("TMPDIR", self.hints[name])

    def test_a_disk_that_takes_no_more(self):
        self.states({"wheels", "resolver"}, prefix=("prlimit", "--fsize=600"))
        self.assertIn("File too large", self.said["wheels"])

    def test_a_program_without_its_modules(self):
        if not (VARIANT.parent / "libaxle_pages.so").exists():
            self.skipTest("this program has no modules")
        alone = self.root / "alone"
        alone.mkdir()
        shutil.copy(VARIANT, alone)
        self.states({"pages", "TLS"}, program=alone / "variant")
        self.assertIn("libaxle_pages.so", self.said["pages"])
        self.assertIn("libaxle_curl.so", self.said["TLS"])

    def test_a_library_that_cannot_be_opened(self):
        if not (VARIANT.parent / "libaxle_pages.so").exists():
            self.skipTest("this program opens no libraries")
        self.need_program_as_shipped()
        folder = self.root / "lib"
        folder.mkdir()
        (folder / "libisal.so.2").write_text("not a library")
        self.states({"wheels", "resolver"}, env={"SSL_CERT_FILE": str(self.certificates), "LD_LIBRARY_PATH": str(folder)})
        self.assertIn("libisal.so.2", self.said["wheels"])

    def test_no_child_can_be_started(self):
        if os.geteuid() != 0:
            self.skipTest("only root can become another user, of whom there is no other process")
        self.need_program_as_shipped()  # its leak checker starts a process of its own
        os.chmod(self.root, 0o755)
        for name in (self.certificates, self.root / "key.pem"):
            os.chmod(name, 0o644)
        user = ("setpriv", "--reuid=64123", "--regid=64123", "--clear-groups", "prlimit", "--nproc=1")
        if subprocess.run([*user, str(VARIANT), "--version"], capture_output=True, check=False).returncode != 0:
            self.skipTest("another user cannot run the program here")
        env = {"SSL_CERT_FILE": str(self.certificates), "TMPDIR": "/tmp", "HOME": "/nonexistent", "XDG_CACHE_HOME": "/nonexistent"}
        result = self.variant("self-test", "--json", env=env, prefix=user, cwd="/")
        failed = {row["test"]: row["said"] for row in result.json["tests"] if row["state"] == "failed"}
        self.assertIn("cannot be started", failed.get("detection", ""), str(result))
        self.assertEqual(result.code, 1)

    def test_kernels_that_the_user_forbids(self):
        env = {"SSL_CERT_FILE": str(self.certificates), "AXLE_RUNTIME_KERNEL": "nonsense"}
        self.states({"kernels"}, env=env)
        self.assertIn("nonsense", self.said["kernels"])


if __name__ == "__main__":
    unittest.main()
