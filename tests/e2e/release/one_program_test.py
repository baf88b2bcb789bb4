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
from support import TestCase, Wheel, levels_document, variant_document

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
    """Of the architecture of this machine."""

    def setUp(self):
        super().setUp()
        self.program, self.prefix = self.released_program(), ()

    def released_program(self):
        return released.native()

    def run_program(self, *arguments, program=None, env=None):
        return self.variant(*arguments, program=program or self.program, prefix=self.prefix, env=env)

    def test_self_test(self):
        tests = self.assert_ok(self.run_program("self-test", "--json")).json["tests"]
        self.assertEqual({row["test"]: row["said"] for row in tests if row["state"] == "failed"}, {})
        self.assertIn("resolver", [row["test"] for row in tests if row["state"] == "ok"])

    def test_it_works_alone_in_a_folder(self):
        shutil.copy(self.program, self.root / "variant")
        self.make_venv()
        document = levels_document()
        for label in ("null", "v2"):
            Wheel("demo", "1.0", label=label, document=document).write(self.root / "dist")
        self.assert_ok(self.run_program("install", "demo", "--no-index", "--find-links", self.root / "dist", "--python", self.venv,
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
        self.assert_fails(self.run_program(*install), 1, "certificate")
        self.assert_ok(self.run_program(*install, env={"SSL_CERT_FILE": str(certificate)}))
        self.assertIn("demo", self.run_program("list", "--python", self.venv).out)

    def test_the_starter_is_install(self):
        starter = self.program.with_name("variant-install")
        self.assertRegex(self.assert_ok(self.run_program("--version", program=starter)).out, r"[0-9]+\.[0-9]+")
        self.assertIn("variant install", self.assert_ok(self.run_program("--help", program=starter)).out)
        alone = self.root / "alone"
        alone.mkdir()
        shutil.copy(starter, alone)
        self.assert_fails(self.run_program("demo", program=alone / "variant-install"), 1, "alone/variant cannot be started", "reinstall")


class WorksEmulated(Works):
    """The same with the program for aarch64, which the kernel starts in an emulator."""

    def released_program(self):
        return released.program("aarch64")

    def setUp(self):
        super().setUp()
        if not pathlib.Path(released.EMULATION["QEMU_LD_PREFIX"]).exists():
            self.skipTest("no C library for aarch64 is installed (Debian: g++-aarch64-linux-gnu)")
        self.prefix = released.emulated()
        self.env |= released.EMULATION


class InAnEmulator(TestCase):
    """Without the kernel's help: the program works, what it would start of its own architecture does not."""

    def setUp(self):
        super().setUp()
        self.program = released.program("aarch64")
        emulator, libraries = shutil.which("qemu-aarch64"), pathlib.Path("/usr/aarch64-linux-gnu")
        if emulator is None or not libraries.exists():
            self.skipTest("qemu-aarch64 or the C library for it is not installed (Debian: qemu-user, g++-aarch64-linux-gnu)")
        self.emulator = (emulator, "-cpu", "neoverse-n1", "-L", libraries)

    def emulate(self, *arguments, **options):
        return self.variant(*arguments, prefix=self.emulator, **{"program": self.program, **options})

    def test_it_knows_its_machine(self):
        self.assertRegex(self.assert_ok(self.emulate("--version")).out, r"[0-9]+\.[0-9]+")
        found = self.assert_ok(self.emulate("detect", "--json")).json
        self.assertEqual(found["cpu"]["arch"], "aarch64")
        self.assertIn("aarch64 :: version :: 8.2a", self.assert_ok(self.emulate("properties")).out)

    def test_it_does_not_start_its_own(self):
        answer = self.emulate("self-test", "--json").json
        failed = {row["test"]: row["said"] for row in answer["tests"] if row["state"] == "failed"}
        # A child that it forks answers (detection); the kernel does not know the format of a program that it starts.
        self.assertEqual(list(failed), ["resolver"], failed)
        self.assertIn("cannot start itself", failed["resolver"])
        self.assert_fails(self.emulate("demo", program=self.program.with_name("variant-install")), 1, "variant cannot be started")

    def test_resolve_and_install_from_an_index(self):
        server = Loopback(self)
        document = variant_document({"null": [], "v82": [("aarch64", "version", ["8.2a"])], "v84": [("aarch64", "version", ["8.4a"])]},
                                    ("aarch64",), {"aarch64": {"requires": ["aarch64-variant-provider"]}})
        for label in document["variants"]:
            Wheel("demo", "1.0", label=label, document=document).write(self.root / "packages")
        self.assert_ok(self.emulate("index", "build", self.root / "packages", "--out", self.root / "index"))
        for file in (self.root / "index").rglob("*.*"):
            place = f"/{file.relative_to(self.root / 'index')}"
            server.answers[place] = server.answers[place.removesuffix("index.html")] = (
                200, {"Content-Type": "text/html" if file.suffix == ".html" else "application/octet-stream"}, file.read_bytes())
        where = ("--index-url", server.url("/simple"), "--python-version", "3.12")
        chosen = self.assert_ok(self.emulate("resolve", "demo", *where, "--json")).json
        self.assertEqual(chosen["packages"][0]["variant"], "v82")
        self.assert_ok(self.emulate("install", "demo", *where, "--target", self.root / "site"))
        self.assertIn("'v82'", (self.root / "site/demo.py").read_text())
        other = self.assert_ok(self.emulate("resolve", "demo", *where, "--for", "alder-lake", "--json")).json
        self.assertEqual(other["packages"][0]["variant"], "null")


if __name__ == "__main__":
    unittest.main()
