"""variant sbom: the packages of an environment as CycloneDX 1.6, beside pip, importlib.metadata and packaging."""

import base64
import json
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import PEERS, EnvironmentTestCase, Wheel, levels_document

# What the schema of CycloneDX 1.6 says of the parts that are written: the keys that may be there, and those that must.
BOM = ("$schema", "bomFormat!", "specVersion!", "serialNumber", "version", "metadata", "components", "dependencies")
COMPONENT = ("type!", "bom-ref", "authors", "publisher", "name!", "version", "description", "hashes", "licenses", "purl",
             "externalReferences", "components", "properties")
REFERENCE_TYPES = {"vcs", "issue-tracker", "website", "advisories", "bom", "mailing-list", "social", "chat", "documentation", "support",
                   "source-distribution", "distribution", "distribution-intake", "license", "build-meta", "build-system",
                   "release-notes", "security-contact", "other"}
ALGORITHMS = {"MD5": 32, "SHA-1": 40, "SHA-256": 64, "SHA-384": 96, "SHA-512": 128, "SHA3-256": 64, "SHA3-384": 96, "SHA3-512": 128,
              "BLAKE2b-512": 128}
URL = r"[A-Za-z][A-Za-z0-9+.-]*:(//([\w.~-]*|\[[0-9a-fA-F:.]+\])(:\d*)?(?![^/?#]))?[^\s\x00-\x20\x7f-\U0010ffff\"<>\\^`{|}\[\]]*"

# Of every installed package: the others that it needs, also for the extras that others ask of it.
GRAPH = """
import importlib.metadata, json, sys
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
there = {canonicalize_name(one.metadata["Name"]): one for one in importlib.metadata.distributions(path=[sys.argv[1]])}
needs, extras, changed = {name: set() for name in there}, {name: {""} for name in there}, True
while changed:
    before = json.dumps([sorted(map(str, needs.items())), sorted(map(str, extras.items()))])
    for name, one in there.items():
        for text in one.requires or ():
            wanted = Requirement(text)
            target = canonicalize_name(wanted.name)
            if target in there and (wanted.marker is None or any(wanted.marker.evaluate({"extra": extra}) for extra in extras[name])):
                needs[name] |= {target} - {name}
                extras[target] |= {canonicalize_name(extra) for extra in wanted.extras}
    changed = before != json.dumps([sorted(map(str, needs.items())), sorted(map(str, extras.items()))])
print(json.dumps({name: sorted(found) for name, found in needs.items()}))
"""


class Sbom(EnvironmentTestCase):
    def sbom(self, *arguments, **env):
        done = self.assert_ok(self.variant("sbom", "--python", self.venv, *arguments, env=env))
        self.assert_valid(done.json)
        return done.json

    def assert_keys(self, value, keys):
        self.assertLessEqual(set(value), {key.rstrip("!") for key in keys})
        self.assertLessEqual({key[:-1] for key in keys if key.endswith("!")}, set(value))
        for key in value:
            self.assertNotIn(value[key], ("", [], {}), key)

    def assert_valid(self, bom):
        self.assert_keys({**bom, "components": bom["components"] or 1, "dependencies": bom["dependencies"] or 1}, BOM)
        self.assertEqual((bom["bomFormat"], bom["specVersion"], bom["version"]), ("CycloneDX", "1.6", 1))
        self.assertRegex(bom["serialNumber"], r"^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[48][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$")
        self.assert_keys(bom["metadata"], ("timestamp", "tools", "properties"))
        self.assertRegex(bom["metadata"]["timestamp"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        [tool] = bom["metadata"]["tools"]["components"]
        self.assert_keys(tool, COMPONENT)
        self.assertEqual(tool["name"], "axle")
        references = [one["bom-ref"] for one in bom["components"]]
        self.assertEqual(len(set(references)), len(references))
        for one in bom["components"]:
            self.assert_component(one)
        self.assertEqual([one["ref"] for one in bom["dependencies"]], references)
        for one in bom["dependencies"]:
            self.assert_keys(one, ("ref!", "dependsOn"))
            needed = one.get("dependsOn", [])
            self.assertLessEqual(set(needed), set(references))
            self.assertEqual(len(set(needed)), len(needed))

    def assert_component(self, one):
        self.assert_keys(one, COMPONENT)
        self.assertIn(one["type"], ("library", "file"))
        for contact in one.get("authors", ()):
            self.assert_keys(contact, ("name", "email"))
            self.assertRegex(contact.get("email", "a@b"), r"^[^@\s]+@[^@\s]+$")
        for row in one.get("hashes", ()):
            self.assert_keys(row, ("alg!", "content!"))
            self.assertRegex(row["content"], "^[0-9a-f]{%d}$" % ALGORITHMS[row["alg"]])
        licenses = one.get("licenses", [])
        if any("expression" in row for row in licenses):
            self.assertEqual(len(licenses), 1)
        for row in licenses:
            self.assert_keys(row, ("expression!", "acknowledgement") if "expression" in row else ("license!",))
            if "license" in row:
                self.assert_keys(row["license"], ("name!", "acknowledgement", "text"))
                self.assert_keys(row["license"].get("text", {"content": "x"}), ("content!", "contentType"))
        for row in one.get("externalReferences", ()):
            self.assert_keys(row, ("type!", "url!", "comment", "hashes"))
            self.assertIn(row["type"], REFERENCE_TYPES)
            self.assertRegex(row["url"], f"^{URL}$")
        for row in one.get("properties", ()):
            self.assert_keys(row, ("name!", "value!"))
        for row in one.get("components", ()):
            self.assert_component(row)

    def add(self, name, metadata="", requires=(), version="1.0", **more):
        self.index.add_wheel(Wheel(name, version, requires=requires, extra_metadata=metadata, **more))

    def component(self, name, bom=None):
        [found] = [one for one in (bom or self.sbom())["components"] if one["name"] == name]
        return found

    def test_an_empty_environment(self):
        self.assertEqual(self.sbom()["components"], [])

    def test_components_are_those_of_pip_and_dependencies_those_of_packaging(self):
        self.add("app", requires=["lib[fast,Odd_Name]>=1", "gone; python_version < '3'", "lone; extra == 'x'", "absent; os_name == 'nt'"],
                 metadata="Provides-Extra: x\n")
        self.add("lib", requires=["quick; extra == 'fast'", "lib[more]; extra == 'fast'", "deep; extra == 'more'", "slow; extra == 'slow'",
                                  "Zope_Odd.Thing; extra == 'odd-name'"],
                 metadata="Provides-Extra: fast\nProvides-Extra: more\nProvides-Extra: slow\nProvides-Extra: odd-name\n")
        for name in ("quick", "deep", "slow", "lone", "gone", "zope-odd-thing"):
            self.add(name)
        self.assert_ok(self.install("app", "slow", "lone", "gone", index=self.index))
        bom = self.sbom()
        pip = json.loads(self.assert_ok(self.pip("list", "--format", "json")).out)
        self.assertEqual({(one["name"], one["version"]) for one in bom["components"]}, {(one["name"], one["version"]) for one in pip})
        told = subprocess.run([PEERS / "python", "-c", GRAPH, str(self.site())], capture_output=True, text=True, check=True)
        ours = {one["ref"].split("==")[0]: sorted(ref.split("==")[0] for ref in one.get("dependsOn", ())) for one in bom["dependencies"]}
        self.assertEqual(ours, json.loads(told.stdout))
        self.assertEqual(ours["lib"], ["deep", "quick", "zope-odd-thing"])
        self.assertEqual(ours["app"], ["lib"])

    def test_what_metadata_says(self):
        wheel = Wheel("Demo_Pkg", "1!2.0+cu1", extra_metadata="".join(line + "\n" for line in (
            "Summary: does it", "Author: A. Uthor", "Author-email: a@example.org", "Maintainer: Main Tainer",
            "License-Expression: MIT or  (Apache-2.0)", "License: ignored", "Home-page: https://user:secret@example.org/a b",
            "Project-URL: Bug Tracker, https://example.org/bugs", "Project-URL: Odd, javascript:alert(1)",
            "Project-URL: What's New, https://example.org/new", "Project-URL: Same, https://example.org/bugs",
            "Project-URL: Mail, mailto:a@example.org")))
        self.assert_ok(self.install(wheel.write(self.root / "wheels")))
        (self.site() / wheel.dist_info / "direct_url.json").unlink()
        found = self.component("Demo_Pkg")
        self.assertEqual(found["purl"], "pkg:pypi/demo-pkg@1%212.0%2Bcu1")
        self.assertEqual(found["licenses"], [{"expression": "MIT OR (Apache-2.0)", "acknowledgement": "declared"}])
        self.assertEqual((found["description"], found["publisher"]), ("does it", "Main Tainer"))
        self.assertEqual(found["authors"], [{"name": "A. Uthor", "email": "a@example.org"}])
        self.assertEqual([(one["type"], one["url"], one["comment"]) for one in found["externalReferences"]], [
            ("website", "https://example.org/a%20b", "Home-page"), ("issue-tracker", "https://example.org/bugs", "Bug Tracker"),
            ("release-notes", "https://example.org/new", "What's New"), ("other", "https://example.org/bugs", "Same"),
            ("other", "mailto:a@example.org", "Mail")])

    def test_licenses_without_an_expression(self):
        text = "License: First line\n" + "".join(f"        line {number}\n" for number in range(99))
        self.add("whole", metadata=text)
        self.add("named", metadata="License: BSD 3-Clause\nClassifier: License :: OSI Approved :: BSD License\n"
                                   "Classifier: License :: OSI Approved\nClassifier: Topic :: Office\n")
        self.add("bare", metadata="License: UNKNOWN\nHome-page: UNKNOWN\n")
        self.add("wrong", metadata="License-Expression: MIT License\n")
        self.assert_ok(self.install("whole", "named", "bare", "wrong", index=self.index))
        bom = self.sbom()
        names = lambda name: [one["license"]["name"] for one in self.component(name, bom).get("licenses", [])]
        self.assertEqual(names("named"), ["BSD 3-Clause", "BSD License"])
        self.assertEqual(names("bare"), [])
        self.assertEqual(names("wrong"), ["MIT License"])
        self.assertEqual(names("whole"), ["License of whole"])
        self.assertIn("line 98", self.component("whole", bom)["licenses"][0]["license"]["text"]["content"])

    def test_files(self):
        self.add("demo", files={"demo/__init__.py": "x = 1\n", "demo/é.txt": "é", 'demo/a,"b".txt': "q"})
        self.assert_ok(self.install("demo", index=self.index))
        self.assertNotIn("components", self.component("demo"))
        files = {one["name"]: one for one in self.component("demo", self.sbom("--files"))["components"]}
        told = json.loads(self.python("import importlib.metadata, json; print(json.dumps([[str(one), one.hash and one.hash.value] "
                                      "for one in importlib.metadata.files('demo')]))"))
        self.assertEqual({name: one["hashes"][0]["content"] if "hashes" in one else None for name, one in files.items()},
                         {name: digits and base64.urlsafe_b64decode(digits + "=").hex() for name, digits in told})
        (self.site() / "demo-1.0.dist-info/RECORD").unlink()
        done = self.assert_ok(self.variant("sbom", "--files", "--python", self.venv))
        self.assertIn("the files of demo are unknown", done.err)
        self.assert_valid(done.json)

    def test_variants(self):
        document = levels_document()
        self.index.add_wheel(Wheel("demo", "1.0", "v1", document))
        self.index.add_variants("demo", "1.0", document)
        self.assert_ok(self.install("demo", "--variant", "demo=v1", index=self.index))
        properties = [(one["name"], one["value"]) for one in self.component("demo")["properties"]]
        self.assertIn(("axle:variant:label", "v1"), properties)
        self.assertIn(("axle:variant:property", "x86_64 :: level :: v1"), properties)

    def test_where_it_was_installed_from(self):
        wheel = Wheel("demo", "1.0").write(self.root / "wheels")
        self.assert_ok(self.install(wheel))
        place = self.site() / "demo-1.0.dist-info/direct_url.json"
        digits = json.loads(place.read_text())["archive_info"]["hashes"]["sha256"]
        found = self.component("demo")
        self.assertEqual(found["hashes"], [{"alg": "SHA-256", "content": digits}])
        self.assertEqual(found["externalReferences"][0]["url"], wheel.as_uri())
        self.assertEqual(found["purl"], "pkg:pypi/demo@1.0")
        place.write_text(json.dumps({"url": "https://me:secret@example.org/demo.git", "vcs_info": {"vcs": "git", "commit_id": "12ab"}}))
        found = self.component("demo")
        self.assertEqual(found["externalReferences"], [{"type": "vcs", "url": "https://example.org/demo.git", "comment": "git 12ab"}])
        self.assertEqual(found["purl"], "pkg:pypi/demo@1.0?vcs_url=git%2Bhttps%3A%2F%2Fexample.org%2Fdemo.git%4012ab")
        self.assertNotIn("secret", json.dumps(found))

    def test_hostile_metadata_is_valid_json(self):
        nasty = '\x1b[31m\x00 \u202e "\\ {} \ud7ff' + "x" * 5000
        for name, text in (("one", nasty.encode()), ("two", b"\xff\xfe\x80 \xc3"), ("three", b'<a@b> , , "quo, ted" <x@y>, @, <>,a@b@c')):
            info = self.site() / f"{name}-1.0.dist-info"
            info.mkdir()
            lines = [b"Metadata-Version: 2.1", b"Name: " + name.encode(), b"Version: 1.0"]
            lines += [field + b": " + text for field in (b"Summary", b"Author", b"Author-email", b"Maintainer", b"License", b"License-Expression",
                                                         b"Home-page", b"Classifier", b"Requires-Python")]
            lines += [b"Project-URL: " + text + b", https://" + text, b"Project-URL: x, https://[" + text + b"]/[]##", b"Project-URL: ,",
                      b"Classifier: License :: " + text, b"Home-page: https:"]
            (info / "METADATA").write_bytes(b"\n".join(lines) + b"\n")
            (info / "INSTALLER").write_bytes(text + b"\n")
            (info / "RECORD").write_bytes(b"\xff\xfe,sha256=" + b"A" * 43 + b",1\n../../\x01,,\na,sha256=!!,\n,,\n")
            (info / "direct_url.json").write_bytes(b'{"url": "https://u:p@h/\xf0", "archive_info": {"hashes": {"sha256": "zz"}}}')
        bom = self.sbom("--files")
        self.assertEqual([one["name"] for one in bom["components"]], ["one", "three", "two"])
        raw = self.variant("sbom", "--python", self.venv).out
        self.assertNotIn("\x1b", raw)
        self.assertNotIn("\u202e", raw)

    def test_the_same_environment_gives_the_same_text(self):
        self.add("demo")
        self.assert_ok(self.install("demo", index=self.index))
        first = self.sbom(SOURCE_DATE_EPOCH="86400")
        self.assertEqual(first, self.sbom(SOURCE_DATE_EPOCH="86400"))
        self.assertEqual(first["metadata"]["timestamp"], "1970-01-02T00:00:00Z")
        self.assertNotEqual(first["serialNumber"], self.sbom(SOURCE_DATE_EPOCH="86401")["serialNumber"])
        self.assertNotEqual(self.sbom()["serialNumber"], self.sbom()["serialNumber"])
        for wrong in ("now", "-1", "99999999999999"):
            self.assert_fails(self.variant("sbom", "--python", self.venv, env={"SOURCE_DATE_EPOCH": wrong}), 2, "SOURCE_DATE_EPOCH")

    def test_into_a_file_and_of_another_place(self):
        self.add("demo")
        self.assert_ok(self.install("demo", index=self.index))
        out = self.root / "bom.json"
        epoch = {"SOURCE_DATE_EPOCH": "1"}
        done = self.assert_ok(self.variant("sbom", "--python", self.venv, "-o", out, env=epoch))
        self.assertEqual(done.out, f"{out}: 1 package\n")
        self.assertEqual(json.loads(out.read_text()), self.sbom(**epoch))
        self.assertEqual(self.sbom("--json", "-o", "-", **epoch), self.sbom(**epoch))
        done = self.assert_ok(self.variant("sbom", "--python", self.venv, "-o", out, "--json"))
        self.assertEqual((done.json["file"], done.json["components"]), (str(out), 1))
        self.assertEqual(self.assert_ok(self.variant("sbom", "--python", self.venv, "-o", out, "-q")).out, "")
        self.assert_fails(self.variant("sbom", "--python", self.venv, "-o", self.root / "no/bom.json"), 1, "no/bom.json")
        self.assert_ok(self.install("demo", "--target", self.root / "place", index=self.index))
        there = self.sbom("--target", self.root / "place")
        self.assertEqual([one["name"] for one in there["components"]], ["demo"])
        self.assert_fails(self.variant("sbom", "--python", self.root / "none"), 1, "none")


if __name__ == "__main__":
    unittest.main()
