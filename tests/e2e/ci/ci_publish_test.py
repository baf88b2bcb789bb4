"""Publishing by what `variant ci` writes, in one step to each place that there is: the publishing jobs of all four systems are
run against servers on loopback that want a login."""

import pathlib
import shutil
import sys
import unittest

for folder in ("..", "../index"):
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / folder))
from ci_case import CiCase, quoted
from loopback import basic
from storage import Storage
from upload_test import Taking
from webdav import Dav

try:
    import yaml
except ImportError:
    yaml = None

LOGIN = ("publisher", "pass word")
WHEELS = {"demo-1.0-py3-none-any-null.whl", "demo-1.0-py3-none-any-v3.whl", "demo-1.0-py3-none-any-v4.whl",
          "demo-1.0-py3-none-any.whl"}


def names(paths):
    return {path.rsplit("/", 1)[1] for path in paths if path.endswith(".whl")}


class Folder:
    """An index in a folder of the repository."""

    def __init__(self, case):
        self.settings, self.secrets, self.variables = 'index = "public"', {}, {}
        self.published = lambda: names(str(path) for path in (case.repository / "public").rglob("*.whl"))

    def local(self, case):
        return {}


class InStorage(Folder):
    def __init__(self, case):
        store = Storage(case)
        self.settings = 'index = "s3://wheels/team"'
        self.secrets = {name: value for name, value in store.env.items() if name != "AWS_ENDPOINT_URL_S3"}
        self.variables = {"AWS_ENDPOINT_URL_S3": store.env["AWS_ENDPOINT_URL_S3"]}
        self.published = lambda: names(store.objects())

    def local(self, case):
        return {**self.secrets, **self.variables}


class OnServer(Folder):
    def __init__(self, case):
        server = Dav(case, login=LOGIN)
        self.settings = f"index = {quoted(server.url('/dav/wheels'))}"
        self.secrets = {"NETRC": f'machine 127.0.0.1 login {LOGIN[0]} password "{LOGIN[1]}"'}
        self.variables = {}
        self.published = lambda: names(path for path in server.files if "/simple/" in path)

    def local(self, case):
        # GitLab's variables of the type "File" are this, too.
        file = case.root / "netrc"
        file.write_text(self.secrets["NETRC"] + "\n")
        file.chmod(0o600)
        return {"NETRC": str(file)}


class Uploaded(Folder):
    def __init__(self, case):
        server = Taking(case)
        self.settings = f"repository-url = {quoted(server.url)}"
        self.secrets = {"UV_PUBLISH_USERNAME": LOGIN[0], "UV_PUBLISH_PASSWORD": LOGIN[1]}
        self.variables = {}

        def published():
            case.assertEqual(set(server.logins), {basic(*LOGIN)})
            return {name for form in server.forms for _, _, name in form if name}

        self.published = published

    def local(self, case):
        return self.secrets


@unittest.skipUnless(shutil.which("make"), "make is not installed")
class PublishingTest(CiCase):
    PLACES = (Folder, InStorage, OnServer, Uploaded)

    def prepare(self, system, place):
        """The file, which says that it is up to date."""
        self.write_project(f"[tool.axle.ci]\n{place.settings}\n")
        file = self.write_ci(system)
        self.assert_ok(self.variant("ci", system, self.project, "--out", file, "--check"))
        text = file.read_text()
        for secret in (*place.secrets.values(), LOGIN[1]):
            self.assertNotIn(secret, text)
        return file

    def each_place(self):
        """The wheels are built once."""
        self.prepare("make", Folder(self))
        done = self.call("make", "-j2", "-f", self.root / "ci-make", "build")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for make_place in self.PLACES:
            with self.subTest(make_place.__name__):
                shutil.rmtree(self.repository / "public", ignore_errors=True)
                yield make_place(self)

    def assert_published(self, done, place):
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(place.published(), WHEELS)
        for secret in (*place.secrets.values(), LOGIN[1]):
            self.assertNotIn(secret, done.stdout + done.stderr)

    def collected(self, folder):
        """What the systems' own artifacts bring."""
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for wheel in (self.out / "wheels").rglob("*.whl"):
            shutil.copy(wheel, folder)

    def test_make(self):
        for place in self.each_place():
            file = self.prepare("make", place)
            self.assert_published(self.call("make", "-f", file, "publish", env=self.job_environment(**place.local(self))), place)

    def test_slurm(self):
        """The job that is submitted last, as its node runs it."""
        for place in self.each_place():
            file = self.prepare("slurm", place)
            env = self.job_environment(**place.local(self))
            self.assert_published(self.call("sh", file, "--job", "publish", env=env), place)

    @unittest.skipUnless(yaml, "python3-yaml is not installed")
    def test_github(self):
        for place in self.each_place():
            document = yaml.safe_load(self.prepare("github", place).read_text())
            steps = document["jobs"]["publish"]["steps"]
            step = next(one for one in steps if one.get("name") == "Publish")
            context = {f"${{{{ secrets.{name} }}}}": value for name, value in place.secrets.items()}
            context |= {f"${{{{ vars.{name} }}}}": value for name, value in place.variables.items()}
            # What nobody has set is empty.
            given = {name: context.get(value, "") for name, value in step.get("env", {}).items()}
            self.assertEqual(set(filter(None, given.values())), set(context.values()))
            self.collected(self.repository / "dist-variants")
            env = {name: value for name, value in document["env"].items() if name != "VARIANT"}
            temporary = self.root / "temporary"
            temporary.mkdir(exist_ok=True)
            env = self.job_environment(**env, **given, TMPDIR=str(temporary))
            self.assert_published(self.call("sh", "-euc", step["run"], env=env), place)
            self.assertEqual(list(temporary.glob("tmp.*")), [], "a login stays on the disk")
            artifacts = [one["with"]["path"] for one in steps if "upload-artifact" in one.get("uses", "")]
            self.assertEqual(artifacts, ["public"] if type(place) is Folder else [])

    @unittest.skipUnless(yaml, "python3-yaml is not installed")
    def test_gitlab(self):
        for place in self.each_place():
            document = yaml.safe_load(self.prepare("gitlab", place).read_text())
            job = document["variants: publish"]
            self.collected(self.repository / "dist-variants")
            env = {name: value.replace("$$", "$") for name, value in document["variables"].items() if name != "VARIANT"}
            env = self.job_environment(**{**env, **job["variables"], **place.local(self)})
            # The first entry installs this program.
            script = "set -eu\n" + "".join(job["script"][1:])
            self.assert_published(self.call("sh", "-euc", script, env=env), place)
            self.assertEqual(job.get("artifacts"), {"paths": ["public"]} if type(place) is Folder else None)


if __name__ == "__main__":
    unittest.main()
