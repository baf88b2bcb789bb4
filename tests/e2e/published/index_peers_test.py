"""What pip, uv and variantlib get from an index that we published: as a folder, from `variant index serve`, and from moto's S3."""

import concurrent.futures
import contextlib
import json
import os
import pathlib
import socket
import subprocess
import sys
import time
import unittest
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import PYTHON, VARIANT, TestCase, Wheel, levels_document

DOCUMENT = levels_document()
LABELS = ("null", "v1", "v2", "v3", "v4")


class PeersCase(TestCase):
    def setUp(self):
        super().setUp()
        self.make_venv()
        self.dist, self.out = self.root / "dist", self.root / "public"

    def wheels(self, name, version, labels=LABELS, plain=True, **more):
        made = [Wheel(name, version, label, DOCUMENT, **more).write(self.dist) for label in labels]
        return made + ([Wheel(name, version, **more).write(self.dist)] if plain else [])

    def add(self, *wheels, out=None, **options):
        return self.assert_ok(self.variant("index", "add", *wheels, "--out", out or self.out, **options))

    def serve(self):
        server = subprocess.Popen([str(VARIANT), "index", "serve", str(self.out), "--json"], env=self.env, stdout=subprocess.PIPE, text=True)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        text = ""
        while True:
            text += server.stdout.readline()
            with contextlib.suppress(ValueError):
                return json.loads(text)["index_url"]
            self.assertIsNone(server.poll(), text)

    def by_uv(self, index, *words, variants=True):
        """What uv installs: of each module what its wheel says. Variants are a preview in 0.13.9."""
        words += ("--preview-features", "wheel-variants") if variants else ()
        target = self.root / f"uv-{len(list(self.root.glob('uv-*')))}"
        done = self.uv("pip", "install", "--no-cache", "-i", index, "--target", target, *words, "--python", self.venv / "bin/python")
        return done, self.modules(target)

    def modules(self, folder):
        """Module -> (version, label)."""
        found = {}
        for path in folder.glob("*.py"):
            space = {}
            exec(path.read_text(), space)
            found[path.stem] = (space["VERSION"], space["VARIANT"])
        return found

    def by_us(self, index, *words):
        self.assert_ok(self.install(*words, "--reinstall", index=index))
        return self.modules(self.site())


class Installers(PeersCase):
    def test_each_installs_what_it_knows(self):
        self.add(*self.wheels("demo", "1.0"), *self.wheels("only", "1.0", plain=False), *self.wheels("need", "1.0", labels=(), requires=["demo"]))
        self.add(*self.wheels("demo", "2.0"))
        self.assert_ok(self.variant("index", "yank", "demo==2.0", "--reason", "broken", "--out", self.out))
        for index in ((self.out / "simple").as_uri(), self.serve()):
            ours = self.by_us(index, "need", "only")
            self.assertIn(ours["demo"][1], LABELS)
            self.assertEqual(ours["demo"][0], "1.0")
            done, theirs = self.by_uv(index, "need", "only")
            self.assert_ok(done)
            self.assertEqual(theirs, ours)
            done, theirs = self.by_uv(index, "need", variants=False)
            self.assert_ok(done)
            self.assertEqual(theirs, {"need": ("1.0", None), "demo": ("1.0", None)})
            self.assert_fails(self.by_uv(index, "only", variants=False)[0], 1, "unsupported wheel variants")
            told = self.root / f"pip-{len(list(self.root.glob('pip-*')))}"
            self.assert_ok(self.pip("install", "--no-cache-dir", "-i", index, "--target", told, "need"))
            self.assertEqual(self.modules(told), {"need": ("1.0", None), "demo": ("1.0", None)})
            self.assert_fails(self.pip("download", "--no-cache-dir", "-i", index, "-d", told, "only"), 1, "No matching distribution")
            # A yanked one if it is pinned, and by no other way.
            self.assertEqual(self.by_us(index, "demo==2.0")["demo"][0], "2.0")
            done, theirs = self.by_uv(index, "demo==2.0")
            self.assert_ok(done)
            self.assertEqual(theirs["demo"][0], "2.0")
            self.assertIn("broken", done.err)

    def test_a_time_of_upload_is_read(self):
        for version, epoch in (("1.0", "1600000000"), ("2.0", "1700000000")):
            self.add(*self.wheels("demo", version, labels=()), env={"SOURCE_DATE_EPOCH": epoch})
        index = self.serve()  # of a folder both read the HTML pages, which have no time
        done, theirs = self.by_uv(index, "demo", "--exclude-newer", "2021-01-01")
        self.assert_ok(done)
        self.assertEqual(theirs["demo"][0], "1.0")
        self.assert_ok(self.pip("install", "--no-cache-dir", "-i", index, "--target", self.root / "pip", "--uploaded-prior-to", "2021-01-01T00:00:00Z", "demo"))
        self.assertEqual(self.modules(self.root / "pip")["demo"][0], "1.0")


class FromTheRegistry(PeersCase):
    """moto and variantlib, as the configured package index has them."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if os.environ.get("AXLE_TEST_REGISTRY") != "1":
            raise unittest.SkipTest("AXLE_TEST_REGISTRY=1 is not set: nothing was asked of the configured registry")
        import tempfile
        cls.folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.bin = pathlib.Path(os.environ.get("AXLE_INDEX_PEERS") or cls.folder + "/venv") / "bin"
        if not cls.bin.exists():
            subprocess.run([PYTHON, "-m", "venv", cls.bin.parent], check=True)
            subprocess.run([cls.bin / "python", "-m", "pip", "install", "-q", "--disable-pip-version-check", "moto[server,s3]==5.2.5", "variantlib==0.2.2"], check=True)

    def test_variantlib_makes_the_same_variants_file(self):
        self.add(*self.wheels("demo", "1.0"))
        for label in ("v2", "v4"):
            self.add(*self.wheels("demo", "2.0", labels=(label,)))
        there = self.root / "theirs"
        there.mkdir()
        for version in ("1.0", "2.0"):
            folder = self.root / f"of-{version}"
            folder.mkdir()
            for wheel in (self.out / "simple/demo").glob(f"demo-{version}-py3-none-any-*.whl"):
                os.link(wheel, folder / wheel.name)
            subprocess.run([self.bin / "variantlib", "generate-index-json", "-d", folder], check=True, capture_output=True, text=True)
            theirs = json.loads((folder / f"demo-{version}-variants.json").read_text())
            ours = json.loads((self.out / f"simple/demo/demo-{version}-variants.json").read_text())
            for document in (theirs, ours):
                document.pop("$schema")  # two addresses of one version
            self.assertEqual(ours, theirs)

    def moto(self):
        with contextlib.closing(socket.socket()) as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        server = subprocess.Popen([self.bin / "moto_server", "-H", "127.0.0.1", "-p", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        url = f"http://127.0.0.1:{port}"
        for _ in range(200):
            with contextlib.suppress(OSError):
                opener.open(urllib.request.Request(url + "/wheels", method="PUT"), timeout=10)
                policy = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": "*", "Action": "s3:*", "Resource": "arn:aws:s3:::wheels/*"}]}
                opener.open(urllib.request.Request(url + "/wheels?policy", json.dumps(policy).encode(), {"Content-Type": "application/json"}, method="PUT"), timeout=10)
                return url, opener
            time.sleep(0.1)
        self.fail("moto's server does not answer")

    def test_motos_storage(self):
        url, opener = self.moto()
        keys = {"AWS_ACCESS_KEY_ID": "AKIDTEST", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_ENDPOINT_URL_S3": url}
        place, index = "s3://wheels/team", f"{url}/wheels/team/simple"
        self.add(*self.wheels("demo", "1.0"), *self.wheels("only", "1.0", plain=False), out=place, env=keys)
        ours = self.by_us(index, "demo", "only")
        done, theirs = self.by_uv(index, "demo", "only")
        self.assert_ok(done)
        self.assertEqual(theirs, ours)
        self.assert_ok(self.pip("install", "--no-cache-dir", "-i", index, "--target", self.root / "pip", "demo"))
        self.assertEqual(self.modules(self.root / "pip"), {"demo": ("1.0", None)})
        # Two publishers, to one project and to projects of their own: nothing is lost.
        for number in range(2, 10):
            self.wheels("demo", f"{number}.0", labels=("v3",)), self.wheels(f"own{number}", "1.0", labels=())

        def publish(part):
            for number in range(2 + part, 10, 2):
                self.add(*self.dist.glob(f"demo-{number}.0-*"), *self.dist.glob(f"own{number}-*"), out=place, env=keys)

        with concurrent.futures.ThreadPoolExecutor() as pool:
            list(pool.map(publish, (0, 1)))
        def page(path):
            with opener.open(f"{index}/{path}", timeout=20) as answer:
                return answer.read().decode()
        names = {one["name"] for one in json.loads(page("index.json"))["projects"]}
        self.assertEqual(names, {"demo", "only"} | {f"own{number}" for number in range(2, 10)})
        files = json.loads(page("demo/index.json"))["files"]
        self.assertEqual({one["filename"].split("-")[1] for one in files}, {f"{number}.0" for number in range(1, 10)})
        for form in ("demo/", "demo/index.html"):
            for one in files:
                self.assertIn(f">{one['filename']}</a>", page(form))
        self.assert_ok(self.variant("index", "yank", "demo==9.0", "--out", place, env=keys))
        done, theirs = self.by_uv(index, "demo")
        self.assert_ok(done)
        self.assertEqual(theirs["demo"][0], "8.0")
        self.assertEqual(self.variant("index", "lint", place, "--json", env=keys).json["projects"], 10)
        self.assert_ok(self.variant("index", "remove", "demo==8.0", "--out", place, env=keys))
        done, theirs = self.by_uv(index, "demo")
        self.assert_ok(done)
        self.assertEqual(theirs["demo"][0], "7.0")


if __name__ == "__main__":
    unittest.main()
