"""What the tests of `variant audit` share: libraries that gcc makes, wheels with them, images made with tarfile."""

import gzip
import hashlib
import io
import json
import pathlib
import re
import subprocess
import sys
import tarfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import SOURCE, TestCase, Wheel

CODES = set(re.findall(r'FindingCode\{\s*"([a-z-]+)"', (SOURCE / "doctor/audit/audit_codes.cpp").read_text()))
TAGS = "cp311-cp311-manylinux_2_34_x86_64"
MODULE = "demo/_c.cpython-311-x86_64-linux-gnu.so"


def tar(members, kind=tarfile.PAX_FORMAT):
    """`members`: (name, content); bytes of a file, None for a folder, "-> x" for a symbolic link, "=> x" for a hard one."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=kind) as archive:
        for name, content in members:
            info = tarfile.TarInfo(name)
            if content is None:
                info.type = tarfile.DIRTYPE
            elif isinstance(content, str):
                info.type = tarfile.SYMTYPE if content.startswith("->") else tarfile.LNKTYPE
                info.linkname = content[3:]
            else:
                info.size = len(content)
            archive.addfile(info, io.BytesIO(content) if isinstance(content, bytes) else None)
    return out.getvalue()


def digest(data):
    return hashlib.sha256(data).hexdigest()


def docker_archive(*layers, tag="demo:1"):
    manifest = [{"Config": "c.json", "RepoTags": [tag], "Layers": [f"{i}/layer.tar" for i in range(len(layers))]}]
    return tar([*((f"{i}/layer.tar", layer) for i, layer in enumerate(layers)), ("c.json", b"{}"),
                ("manifest.json", json.dumps(manifest).encode())])


def oci_members(*layers, platforms=("linux/amd64",)):
    """The files of an OCI layout: one image a platform, all with these layers."""
    blobs = {digest(layer): layer for layer in layers}
    manifests = []
    for platform in platforms:
        text = json.dumps({"schemaVersion": 2, "annotations": {"platform": platform}, "layers": [
            {"mediaType": "application/vnd.oci.image.layer.v1.tar+gzip", "digest": f"sha256:{digest(one)}", "size": len(one)}
            for one in layers]}).encode()
        blobs[digest(text)] = text
        system, architecture = platform.split("/")
        manifests.append({"mediaType": "application/vnd.oci.image.manifest.v1+json", "digest": f"sha256:{digest(text)}",
                          "size": len(text), "platform": {"os": system, "architecture": architecture}})
    index = json.dumps({"schemaVersion": 2, "manifests": manifests}).encode()
    return [("oci-layout", b'{"imageLayoutVersion":"1.0.0"}'), ("index.json", index),
            *((f"blobs/sha256/{name}", data) for name, data in blobs.items())]


class AuditTestCase(TestCase):
    def library(self, code="int f(void) { return 1; }\n", *arguments, suffix=".c", more=()):
        """The bytes of a shared library."""
        source = self.root / f"library{suffix}"
        source.write_text(code)
        out = self.root / "library.so"
        done = subprocess.run(["gcc", "-shared", "-fPIC", "-o", out, source, *map(str, more), *arguments],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return out.read_bytes()

    def module(self, body="return 0;", before="", *arguments):
        return self.library(f"{before}\nvoid* PyInit__c(void) {{ {body} }}\n", "-w", *arguments)

    def wheel(self, files, tags=TAGS, **options):
        return Wheel("demo", "1.0", files={"demo/__init__.py": "", **files}, tags=tags, **options).write(self.root / "wheels")

    def audit(self, *arguments):
        return self.variant("audit", *arguments, "--json")

    def codes(self, *arguments):
        """Without the remark that gcc's libraries here would run on older systems than the tag says."""
        return [one["code"] for one in self.audit(*arguments).json["findings"] if one["code"] != "platform-tag-cautious"]

    def found(self, code, *arguments):
        """The finding with that code, which must make the audit fail unless it is information."""
        done = self.audit(*arguments)
        mine = [one for one in done.json["findings"] if one["code"] == code]
        self.assertEqual(len(mine), 1, str(done))
        self.assertIn(code, CODES)
        if mine[0]["severity"] != "info":
            self.assertEqual(done.code, 1, str(done))
        return mine[0]

    def saved(self, data, name="image.tar"):
        path = self.root / name
        path.write_bytes(data)
        return path


__all__ = ["AuditTestCase", "CODES", "MODULE", "TAGS", "digest", "docker_archive", "gzip", "oci_members", "tar"]
