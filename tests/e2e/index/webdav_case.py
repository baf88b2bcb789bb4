"""What the tests of an index on a WebDAV server share."""

import hashlib
import json
import pathlib
import sys
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import TestCase, Wheel, levels_document

DOCUMENT = levels_document()
SECRET = "pass:word/ with spaces"
PLACE = "/dav/wheels"
EPOCH = {"SOURCE_DATE_EPOCH": "1700000000"}


class WebDavCase(TestCase):
    def command(self, *words, **options):
        told = self.variant(*words, **options)
        self.assertNotIn(SECRET, told.out + told.err)
        return told

    def add(self, *wheels, out=None, **options):
        return self.command("index", "add", *wheels, "--out", out or self.out, **options)

    def wheel(self, name="demo", version="1.0", label=None, folder="dist", **more):
        return Wheel(name, version, label, DOCUMENT if label else None, **more).write(self.root / folder)

    def ask(self, path, base=None):
        """The body below "simple", or a status."""
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(f"{base or self.out}/simple/{path}", timeout=30) as answer:
                return answer.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code

    def names(self):
        page = self.ask("index.json")
        return {one["name"] for one in json.loads(page)["projects"]} if isinstance(page, bytes) else set()

    def listed(self, project="demo"):
        page = self.ask(f"{project}/index.json")
        return {one["filename"] for one in json.loads(page)["files"]} if isinstance(page, bytes) else set()

    def assert_index(self, files):
        """`files`: path -> bytes of the whole folder. What a page names is there as it says, JSON and HTML agree."""
        names = {one["name"] for one in json.loads(files["simple/index.json"])["projects"]}
        for name in names:
            self.assertIn(f'"{name}/"', files["simple/index.html"].decode())
            self.assert_project(files, name)
        return names

    def assert_project(self, files, name):
        place = f"simple/{name}/"
        for one in json.loads(files[place + "index.json"])["files"]:
            data = files[place + one["filename"]]
            self.assertEqual((hashlib.sha256(data).hexdigest(), len(data)), (one["hashes"]["sha256"], one["size"]), one["filename"])
            self.assertIn(f">{one['filename']}</a>", files[place + "index.html"].decode())
            if one["filename"].endswith(".whl"):
                self.assertEqual(hashlib.sha256(files[place + one["filename"] + ".metadata"]).hexdigest(), one["core-metadata"]["sha256"])
