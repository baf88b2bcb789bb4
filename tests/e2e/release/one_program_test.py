"""The one program: what it needs of a machine, read by binutils; that it works, on https too; aarch64 in an emulator."""

import pathlib
import re
import shutil
import ssl
import subprocess
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1]), str(pathlib.Path(__file__).resolve().parent)]
import released
from loopback import Loopback
from support import TestCase, Wheel, levels_document

C_LIBRARY = re.compile(r"(libc|libm|libdl|libpthread|librt)\.so\.[0-9]+|ld-linux.*\.so\.[0-9]+")


class Needs(unittest.TestCase):
    def test_the_c_library_alone(self):
        for program in released.programs():
            for file in (program, program.with_name("variant-install")):
                self.assertEqual([one for one in released.needed(file) if not C_LIBRARY.fullmatch(one)], [])
                self.assertLessEqual(max(released.glibc_versions(file)), released.FLOOR)

    def test_what_it_carries_is_not_seen_by_libraries_that_it_opens(self):
        for program in released.programs():
            shown = [name for name in released.defined_symbols(program)
                     if re.match(r"(SSL|EVP|OPENSSL|X509|CRYPTO|curl|nghttp2|MHD|ZSTD|isal|seccomp|_ZNS|_ZNK|_Unwind|__cxa)", name)]
            self.assertEqual(shown, [])

    def test_it_is_hardened_and_has_no_path_of_the_machine_that_built_it(self):
        for program in released.programs():
            segments, dynamic = released.readelf("-l", program), released.readelf("-d", program)
            self.assertRegex(segments, r"Elf file type is DYN")
            self.assertRegex(segments, r"GNU_STACK .* RW ")
            self.assertIn("GNU_RELRO", segments)
            self.assertNotRegex(dynamic, r"RPATH|RUNPATH|TEXTREL")
            self.assertNotIn(str(released.DIST.parent).encode(), program.read_bytes())

    def test_a_debugger_finds_the_rest_beside_it(self):
        for program in released.programs():
            self.assertNotIn(".debug_info", released.readelf("-S", program))
            self.assertIn(".gnu_debuglink", released.readelf("-S", program))
            self.assertIn(".debug_line", released.readelf("-S", program.with_name("variant.debug")))

    def test_the_notices_of_what_it_carries(self):
        for program in released.programs():
            notices = {file.stem.split("-")[0] for file in (program.parent / "licenses").iterdir()}
            self.assertLessEqual({"curl", "openssl", "nghttp2", "libisal", "libzstd", "libcxx", "libfmt"}, notices)


class Works(TestCase):
    def setUp(self):
        super().setUp()
        self.program = released.native()

    def test_self_test(self):
        result = self.variant("self-test", program=self.program)
        self.assert_ok(result)

    def test_it_works_alone_in_a_folder(self):
        shutil.copy(self.program, self.root / "variant")
        self.make_venv()
        document = levels_document()
        for label in ("null", "v2"):
            Wheel("demo", "1.0", label=label, document=document).write(self.root / "dist")
        self.assert_ok(self.variant("install", "demo", "--no-index", "--find-links", self.root / "dist", "--python", self.venv,
                                    program=self.root / "variant"))

    def test_an_index_over_https(self):
        server, certificate, key = Loopback(self), self.root / "own.pem", self.root / "key.pem"
        server.publish("/simple", Wheel("demo", "1.0"))
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, "-days", "1",
                        "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"], check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        server.server.socket = context.wrap_socket(server.server.socket, server_side=True)
        self.make_venv()
        install = ("install", "demo", "--index-url", f"https://localhost:{server.server.server_port}/simple", "--python", self.venv)
        self.assert_fails(self.variant(*install, program=self.program), 1, "certificate")
        self.assert_ok(self.variant(*install, program=self.program, env={"SSL_CERT_FILE": str(certificate)}))
        self.assertIn("demo", self.variant("list", "--python", self.venv, program=self.program).out)

    def test_the_starter_is_install(self):
        starter = self.program.with_name("variant-install")
        self.assertRegex(self.assert_ok(self.variant("--version", program=starter)).out, r"[0-9]+\.[0-9]+")
        self.assertIn("variant install", self.assert_ok(self.variant("--help", program=starter)).out)
        alone = self.root / "alone"
        alone.mkdir()
        shutil.copy(starter, alone)
        self.assert_fails(self.variant("demo", program=alone / "variant-install"), 1, "alone/variant cannot be started", "reinstall")


class InAnEmulator(TestCase):
    def test_aarch64(self):
        program = released.program("aarch64")
        emulator, libraries = shutil.which("qemu-aarch64"), pathlib.Path("/usr/aarch64-linux-gnu")
        if emulator is None or not libraries.exists():
            self.skipTest("qemu-aarch64 or the C library for it is not installed (Debian: qemu-user, g++-aarch64-linux-gnu)")
        emulated = (emulator, "-cpu", "neoverse-n1", "-L", libraries)
        self.assertIn("aarch64", self.assert_ok(self.variant("detect", prefix=emulated, program=program)).out)
        answer = self.variant("self-test", "--json", prefix=emulated, program=program).json
        failed = {row["test"]: row["said"] for row in answer["tests"] if row["state"] == "failed"}
        # The kernel does not know the format of the program that is emulated.
        self.assertEqual(list(failed), ["resolver"], failed)
        self.assertIn("cannot start itself", failed["resolver"])
        document = levels_document()
        for label in ("null", "v2"):
            Wheel("demo", "1.0", label=label, document=document).write(self.root / "dist")
        chosen = self.variant("resolve", "demo", "--no-index", "--find-links", self.root / "dist", "--for", "alder-lake", "--python-version",
                              "3.12", "--platform", "manylinux_2_17_x86_64", "--json", prefix=emulated, program=program)
        self.assertEqual(self.assert_ok(chosen).json["packages"][0]["variant"], "v2")


if __name__ == "__main__":
    unittest.main()
