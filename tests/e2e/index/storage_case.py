"""What the tests of a mirror in a storage of S3's kind share."""

import hashlib
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from storage import KEY_ID, SECRET, Storage
from support import EnvironmentTestCase

PLACE = "s3://wheels/team/a"
PLAIN = "team/a/simple/plain/plain-1.0-py3-none-any.whl"


class StorageCase(EnvironmentTestCase):
    def setUp(self):
        super().setUp()
        self.storage = Storage(self)
        self.url = f"{self.storage.url}/wheels/team/a/simple"

    def mirror(self, *words, out=PLACE, index=None, env=None, storage=None, **options):
        told = self.variant("mirror", *words, "--index-url", index or self.index.url, "--out", out, "--python", self.venv,
                            env={**(storage or self.storage).env, **(env or {})}, **options)
        self.assert_no_secrets(told.out + told.err)
        return told

    def assert_no_secrets(self, text):
        for secret in filter(None, (KEY_ID, SECRET, self.storage.token)):
            self.assertNotIn(secret, text)

    def wheels(self, url, machine, name="demo"):
        told = self.assert_ok(self.variant("resolve", name, "--index-url", url, "--json", "--python", self.venv, "--for", machine)).json
        return {one["wheel"] for one in told["packages"]}

    def page(self, project):
        data, _ = self.storage.objects()[f"team/a/simple/{project}/index.json"]
        return {file["filename"]: file for file in json.loads(data)["files"]}

    def arriving(self):
        return list((self.root / "home/.cache/axle/mirrors").glob("work-*"))

    def assert_whole(self):
        """What a page names is there, as the page says."""
        objects = self.storage.objects()
        for key, (data, _) in objects.items():
            if not key.endswith("/index.json") or key.count("/") < 4:
                continue
            folder = key.removesuffix("index.json")
            for file in json.loads(data)["files"]:
                there, _ = objects[folder + file["filename"]]
                self.assertEqual(file["hashes"]["sha256"], hashlib.sha256(there).hexdigest())
                if file["filename"].endswith(".whl"):
                    self.assertIn(folder + file["filename"] + ".metadata", objects)
        self.assertEqual([what for what, _ in self.storage.bad], [])
