"""`variant check --vulnerabilities`: advisories in OSV's format, from a file, a list, a folder, an archive or a URL."""

import io
import json
import pathlib
import sys
import unittest
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from loopback import Loopback, behind_login
from support import EnvironmentTestCase, Wheel


def advisory(id, name, *events, aliases=(), **more):
    return {"schema_version": "1.6.0", "id": id, "modified": "2026-01-01T00:00:00Z", "aliases": list(aliases),
            "affected": [{"package": {"ecosystem": "PyPI", "name": name, "purl": f"pkg:pypi/{name}"},
                          "ranges": [{"type": "ECOSYSTEM", "events": list(events)}]}], **more}


DEMO = advisory("PYSEC-2026-1", "Demo_Pkg", {"introduced": "0"}, {"fixed": "1.2"}, aliases=["CVE-2026-1"],
                severity=[{"type": "CVSS_V3", "score": "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H"}])
SAME = advisory("GHSA-1", "demo-pkg", {"introduced": "0"}, {"fixed": "1.3"}, aliases=["CVE-2026-1"],
                summary="Demo runs what it is sent", database_specific={"severity": "CRITICAL"})
OLD = advisory("PYSEC-2020-1", "demo-pkg", {"introduced": "0"}, {"fixed": "0.5"})
OTHER = advisory("PYSEC-2026-2", "other", {"introduced": "2"}, {"last_affected": "2.1"})
GONE = advisory("PYSEC-2026-3", "demo-pkg", {"introduced": "0"}, withdrawn="2026-02-01T00:00:00Z")
ALL = [DEMO, SAME, OLD, OTHER, GONE]


def archive(files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in files.items():
            made.writestr(name, content)
    return out.getvalue()


class VulnerabilitiesTest(EnvironmentTestCase):
    def setUp(self):
        super().setUp()
        for wheel in (Wheel("demo-pkg", "1.0"), Wheel("demo-pkg", "1.3"), Wheel("other", "1.0"), Wheel("other", "2.1")):
            self.index.add_wheel(wheel)

    def put(self, *requirements):
        self.assert_ok(self.install(*requirements, index=self.index))

    def check(self, place, *arguments, **options):
        return self.variant("check", "--python", self.venv, "--vulnerabilities", place, *arguments, **options)

    def file(self, content, name="osv.json"):
        path = self.root / name
        path.write_bytes(content) if isinstance(content, bytes) else path.write_text(json.dumps(content))
        return path

    def test_a_vulnerability_and_what_fixes_it(self):
        self.put("demo-pkg==1.0", "other==1.0")
        result = self.check(self.file(ALL))
        self.assert_fails(result, 1, "demo-pkg 1.0: PYSEC-2026-1 (CVE-2026-1, GHSA-1), CRITICAL: Demo runs what it is sent; "
                          "fixed in 1.2, 1.3")
        for absent in ("PYSEC-2020-1", "PYSEC-2026-3", "other", "No broken"):
            self.assertNotIn(absent, result.out.replace(str(self.venv), ""))
        row, = self.check(self.file(ALL), "--json").json["vulnerabilities"]
        self.assertEqual((row["package"], row["version"], row["id"], row["aliases"]),
                         ("demo-pkg", "1.0", "PYSEC-2026-1", ["CVE-2026-1", "GHSA-1"]))
        self.assertEqual((row["fixed"], row["rating"]), (["1.2", "1.3"], "CRITICAL"))
        self.assertEqual(row["severity"], DEMO["severity"])
        command, = row["fix"]
        self.assertEqual(command, f"variant install 'demo-pkg>=1.3' --python {self.venv}")
        self.assert_ok(self.variant("install", "demo-pkg>=1.3", "--python", self.venv, "--index-url", self.index.url))
        self.assertIn("No known vulnerabilities found.", self.assert_ok(self.check(self.file(ALL))).out)

    def test_one_without_a_fix(self):
        self.put("other==2.1")
        result = self.check(self.file(OTHER))
        self.assert_fails(result, 1, "other 2.1: PYSEC-2026-2; no fixed version is known")
        self.assertNotIn("fix:", result.out)
        self.assertEqual(self.check(self.file(OTHER), "--json").json["vulnerabilities"][0]["fix"], [])

    def test_without_the_option_nothing_is_said(self):
        self.put("demo-pkg==1.0")
        result = self.assert_ok(self.variant("check", "--python", self.venv, "--json"))
        self.assertNotIn("vulnerabilities", result.json)

    def test_every_form(self):
        self.put("demo-pkg==1.0")
        folder = self.root / "advisories"
        (folder / "deep").mkdir(parents=True)
        (folder / "deep/a.json").write_text(json.dumps(DEMO))
        (folder / "b.json").write_text(json.dumps(SAME))
        (folder / "README").write_text("not JSON")
        packed = archive({f"{one['id']}.json": json.dumps(one) for one in ALL})
        server = Loopback(self)
        server.answers["/all.zip"] = behind_login((200, {}, packed), "joe", "secret")
        server.answers["/list.json"] = (200, {}, json.dumps(ALL))
        for title, place in (("one", self.file(DEMO, "one.json")), ("a list", self.file(ALL, "list.json")),
                             ("an answer of the API", self.file({"vulns": ALL}, "api.json")), ("a folder", folder),
                             ("an archive", self.file(packed, "all.zip")), ("a list at a URL", server.url("/list.json")),
                             ("an archive at a URL", server.url("/all.zip", "joe:secret"))):
            with self.subTest(title):
                result = self.check(place)
                self.assert_fails(result, 1, "demo-pkg 1.0: PYSEC-2026-1")
                self.assertNotIn("secret", result.out + result.err)

    def test_what_is_no_advisory(self):
        self.put("demo-pkg==1.0")
        empty = self.root / "empty"
        empty.mkdir()
        server = Loopback(self)
        hostile = archive({"../a.json": json.dumps(DEMO)})
        for title, place, words in (("absent", self.root / "none.json", "none.json"), ("an empty folder", empty, "no file ends in .json"),
                                    ("no JSON", self.file(b"hello", "a"), "is not JSON"),
                                    ("no id", self.file([{}], "b"), '[0]: the key "id" is missing'),
                                    ("an archive without any", self.file(archive({"x.txt": ""}), "c"), "no file ends in .json"),
                                    ("a hostile archive", self.file(hostile, "d"), "../a.json"),
                                    ("a damaged one", self.file(archive({"x.json": "{}"})[:-9], "e"), "e"),
                                    ("one bad in an archive", self.file(archive({"x.json": "{"}), "f"), "x.json"),
                                    ("a URL that is absent", server.url("/none"), "404")):
            with self.subTest(title):
                result = self.check(place, "--retries", "0")
                self.assert_fails(result, 1, words)
                self.assertNotIn("No known", result.out)
        self.assert_fails(self.check(server.url("/none"), "--offline"), 1, "offline")


if __name__ == "__main__":
    unittest.main()
