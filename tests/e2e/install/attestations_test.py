"""Attestations (PEP 740): what the user's policy asks of the publisher of each file is checked before anything is
downloaded, with a Sigstore of the test's own (attested.py)."""

import copy
import hashlib
import json
import pathlib
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / one) for one in ("", "builds")]
import attested
from attested import GITHUB, GITLAB
from loopback import Loopback, behind_login
from sdist_case import BuildCase
from support import TestCase, Wheel

JSON = {"Content-Type": "application/vnd.pypi.simple.v1+json"}
OTHER = {**GITHUB, "repository": "mallory/demo"}


class AttestedIndex:
    """An index on loopback, and the provenance of its files."""

    def __init__(self, case, sigstore):
        self.sigstore = sigstore
        self.server = Loopback(case)
        self.projects = {}

    @property
    def url(self):
        return self.server.url("/simple")

    def add(self, file, provenance=None, publisher=GITHUB, bent=None, hashed=True, data=None):
        """`provenance`: None: a right one; False: none."""
        data = data or file.bytes()
        path = f"/files/{file.file_name}"
        entry = {"filename": file.file_name, "url": self.server.url(path), "size": len(data),
                 "hashes": {"sha256": hashlib.sha256(data).hexdigest()} if hashed else {}}
        if isinstance(file, Wheel):
            entry["core-metadata"] = True
            self.server.answers[path + ".metadata"] = (200, {}, file.members[f"{file.dist_info}/METADATA"])
        if provenance is None:
            provenance = self.sigstore.provenance(file.file_name, data, publisher, bent)
        if provenance is not False:
            entry["provenance"] = self.server.url(f"/integrity/{file.file_name}/provenance")
            self.server.answers[f"/integrity/{file.file_name}/provenance"] = (200, {}, json.dumps(provenance))
        self.server.answers[path] = (200, {}, data)
        self.projects.setdefault(file.name, []).append(entry)
        page = {"meta": {"api-version": "1.3"}, "name": file.name, "files": self.projects[file.name]}
        self.server.answers[f"/simple/{file.name}/"] = (200, JSON, json.dumps(page))
        return file

    def downloads(self):
        return [path for path in self.server.asked() if path.endswith((".whl", ".gz"))]


class AttestedCase(TestCase):
    def setUp(self):
        super().setUp()
        if attested.missing:
            self.skipTest(attested.missing)
        self.sigstore = attested.Sigstore()
        self.index = AttestedIndex(self, self.sigstore)
        self.trusted = self.sigstore.write_trusted_root(self.root / "trusted_root.json")
        self.env["AXLE_CACHE_DIR"] = str(self.root / "cache")
        self.make_venv()

    def ask(self, *arguments, policy="require", trusted=None, **options):
        said = ["--attestations", policy, "--trusted-root", trusted or self.trusted] if policy else []
        return self.variant("install", "--python", self.venv, "--index-url", self.index.url, *said, *arguments, **options)

    def project(self, text, folder="project"):
        place = self.root / folder
        place.mkdir(exist_ok=True)
        (place / "pyproject.toml").write_text(text)
        return place

    def user_config(self, text):
        place = self.root / "home/.config/axle"
        place.mkdir(parents=True, exist_ok=True)
        (place / "config.toml").write_text(text)
        return place / "config.toml"

    def assert_refused(self, result, *words):
        self.assert_fails(result, 1, *words)
        self.assertEqual(self.installed(), {})
        self.assertEqual(self.index.downloads(), [])


class Policies(AttestedCase):
    def test_an_attested_file_is_installed_and_its_publisher_told(self):
        wheel = self.index.add(Wheel("demo", "1.0"))
        result = self.assert_ok(self.ask("demo", "--json"))
        told = result.json["packages"][0]["attestation"]
        self.assertEqual(told["passed"], True)
        self.assertIsNone(told["reason"])
        one, = told["attestations"]
        self.assertEqual(one["publisher"], {"kind": "GitHub", "repository": "axle/demo", "workflow": "release.yml"})
        self.assertEqual(one["sha256"], hashlib.sha256(wheel.bytes()).hexdigest())
        self.assertEqual((one["log"], one["log_index"], one["logged_at"]),
                         ("https://rekor.axle.example", 1005, "2026-03-01T12:01:00Z"))
        self.assertEqual(self.installed(), {"demo": ("1.0", None)})

    def test_the_report_has_it(self):
        self.index.add(Wheel("demo", "1.0"))
        report = json.loads(self.assert_ok(self.ask("demo", "--dry-run", "--quiet", "--report", "-")).out)
        self.assertEqual(report["install"][0]["axle"]["attestation"]["attestations"][0]["log_index"], 1005)

    def test_without_a_policy_nothing_is_requested(self):
        self.index.add(Wheel("demo", "1.0"))
        result = self.assert_ok(self.ask("demo", "--json", policy=None))
        self.assertNotIn("attestation", result.json["packages"][0])
        self.assertEqual(self.index.server.asked("/provenance"), [])

    def test_one_without_provenance(self):
        self.index.add(Wheel("demo", "1.0"), provenance=False)
        self.assert_refused(self.ask("demo"), "demo-1.0-py3-none-any.whl is not attested", "names no provenance",
                            "--attestations requires it", "or use --attestations warn or off")
        warned = self.assert_ok(self.ask("demo", "--json", policy="warn"))
        self.assertIn("is not attested: its index names no provenance", warned.err)
        told = warned.json["packages"][0]["attestation"]
        self.assertEqual((told["passed"], told["attestations"]), (False, []))
        self.assertIn("names no provenance", told["reason"])

    def test_all_that_are_not_attested_are_named(self):
        self.index.add(Wheel("demo", "1.0", requires=["dep"]), provenance=False)
        self.index.add(Wheel("dep", "1.0"), provenance=False)
        self.assert_refused(self.ask("demo"), "demo-1.0-py3-none-any.whl is not attested",
                            "dep-1.0-py3-none-any.whl is not attested")

    def test_a_dry_run_says_the_same(self):
        self.index.add(Wheel("demo", "1.0"), provenance=False)
        self.assert_refused(self.ask("demo", "--dry-run"), "is not attested")

    def test_what_is_installed_already_is_left_alone(self):
        self.index.add(Wheel("demo", "1.0"), provenance=False)
        self.assert_ok(self.ask("demo", policy="off"))
        self.assert_ok(self.ask("demo"))
        self.assert_fails(self.ask("demo", "--reinstall"), 1, "is not attested")
        self.assertEqual(self.installed(), {"demo": ("1.0", None)})

    def test_without_a_trusted_root(self):
        self.index.add(Wheel("demo", "1.0"))
        result = self.variant("install", "--python", self.venv, "--index-url", self.index.url, "demo",
                              "--attestations", "require")
        self.assert_fails(result, 2, "nothing says whom to trust", "--trusted-root FILE")
        self.assert_fails(self.ask("demo", trusted=self.root / "none.json"), 2, "cannot be read", "none.json")
        bad = self.root / "bad.json"
        bad.write_text('{"mediaType": "other"}')
        self.assert_fails(self.ask("demo", trusted=bad), 2, "is not a format of trusted roots")
        self.assertEqual(self.installed(), {})

    def test_words_that_are_no_policy(self):
        self.assert_fails(self.ask("demo", policy="requires"), 2, "--attestations: `requires` is not a policy",
                          "did you mean require?")
        self.assert_fails(self.ask("demo", policy=None, env={"AXLE_ATTESTATIONS": "yes"}), 2,
                          "AXLE_ATTESTATIONS: `yes` is not a policy")

    def test_variables(self):
        self.index.add(Wheel("demo", "1.0"), provenance=False)
        env = {"AXLE_ATTESTATIONS": "require", "AXLE_TRUSTED_ROOT": str(self.trusted)}
        self.assert_refused(self.ask("demo", policy=None, env=env), "is not attested", "AXLE_ATTESTATIONS requires it")
        self.assert_ok(self.ask("demo", policy="off", env=env))


class Lies(AttestedCase):
    def test_another_trusted_root(self):
        self.index.add(Wheel("demo", "1.0"))
        other = attested.Sigstore().write_trusted_root(self.root / "other.json")
        self.assert_refused(self.ask("demo", trusted=other), "in a log that is not trusted")

    def test_the_index_claims_another_publisher(self):
        wheel = Wheel("demo", "1.0")
        provenance = self.sigstore.provenance(wheel.file_name, wheel.bytes(), OTHER)
        provenance["attestation_bundles"][0]["publisher"] = GITHUB
        self.index.add(wheel, provenance)
        self.assert_refused(self.ask("demo"), "its certificate says that the repository is")

    def test_the_attestation_of_another_file(self):
        other = Wheel("demo", "2.0")
        self.index.add(Wheel("demo", "1.0"), self.sigstore.provenance(other.file_name, other.bytes()))
        self.assert_refused(self.ask("demo"), "it is about another file")

    def test_a_file_that_is_not_the_attested_one(self):
        wheel = Wheel("demo", "1.0")
        altered = Wheel("demo", "1.0", files={"demo.py": "import evil\n"})
        provenance = self.sigstore.provenance(wheel.file_name, wheel.bytes())
        self.index.add(altered, provenance)
        self.assert_refused(self.ask("demo"), "it is about a file with the sha256")

    def test_without_a_hash_of_the_index_the_attested_one_counts(self):
        wheel = Wheel("demo", "1.0")
        altered = Wheel("demo", "1.0", files={"demo.py": "import evil\n"})
        self.index.add(altered, self.sigstore.provenance(wheel.file_name, wheel.bytes()), hashed=False)
        self.assert_fails(self.ask("demo"), 1, "but it is attested with", "it was not installed")
        self.assertEqual(self.installed(), {})
        self.index.projects.clear()
        self.index.add(wheel, hashed=False)
        self.assert_ok(self.ask("demo", "--refresh"))
        self.assertEqual(self.installed(), {"demo": ("1.0", None)})

    def test_answers_that_are_no_provenance(self):
        self.index.add(Wheel("demo", "1.0"))
        path = "/integrity/demo-1.0-py3-none-any.whl/provenance"
        good = self.index.server.answers[path]
        later = json.loads(good[2])
        later["version"] = 2
        for title, answer, words in (("absent", (404, {}, b""), "404"), ("no JSON", (200, {}, b"<html>"), "is not JSON"),
                                     ("a list", (200, {}, b"[]"), "an array instead of an object"),
                                     ("another version", (200, {}, json.dumps(later)), "version 2"),
                                     ("empty", (200, {}, b'{"version": 1, "attestation_bundles": []}'), "no attestation"),
                                     ("too long", (200, {}, b" " * (5 << 20)), "4194304"),
                                     ("a file", (302, {"Location": f"file://{self.trusted}"}, b""), "file"),
                                     ("down", (500, {}, b""), "500")):
            with self.subTest(title):
                self.index.server.answers[path] = answer
                result = self.ask("demo", "--no-cache", "--retries", "0")
                self.assert_refused(result, "is not attested", words)
        self.index.server.answers[path] = good
        self.assert_ok(self.ask("demo"))

    def test_an_unknown_kind_of_publisher_beside_a_known_one(self):
        wheel = Wheel("demo", "1.0")
        provenance = self.sigstore.provenance(wheel.file_name, wheel.bytes())
        unknown = copy.deepcopy(provenance["attestation_bundles"][0])
        unknown["publisher"] = {"kind": "Forge", "forge": "x"}
        provenance["attestation_bundles"].insert(0, unknown)
        self.index.add(wheel, provenance)
        self.assert_ok(self.ask("demo"))
        provenance["attestation_bundles"].pop()
        self.index.add(Wheel("other", "1.0"), provenance)
        self.assert_fails(self.ask("other"), 1, "no attestation of a publisher that is known here")

    def test_a_link_that_a_page_may_not_have(self):
        wheel = self.index.add(Wheel("demo", "1.0"), provenance=False)
        (self.root / "p.json").write_text(json.dumps(self.sigstore.provenance(wheel.file_name, wheel.bytes())))
        self.index.projects["demo"][0]["provenance"] = (self.root / "p.json").as_uri()
        page = {"meta": {"api-version": "1.3"}, "name": "demo", "files": self.index.projects["demo"]}
        self.index.server.answers["/simple/demo/"] = (200, JSON, json.dumps(page))
        self.assert_refused(self.ask("demo"), "the provenance of demo-1.0-py3-none-any.whl is ignored",
                            "names no provenance")


class Places(AttestedCase):
    def test_pages_in_html(self):
        wheel = self.index.add(Wheel("demo", "1.0"))
        entry, = self.index.projects["demo"]
        link = f'<a href="{entry["url"]}#sha256={entry["hashes"]["sha256"]}"'
        page = f'<!DOCTYPE html><title>Links for demo</title>{link} data-provenance="{entry["provenance"]}">{wheel.file_name}</a>'
        self.index.server.answers["/simple/demo/"] = (200, {"Content-Type": "text/html"}, page)
        self.assert_ok(self.ask("demo"))
        self.index.server.answers["/simple/demo/"] = (200, {"Content-Type": "text/html"}, f"{page.split(' data-')[0]}>x</a>")
        self.assert_fails(self.ask("demo", "--reinstall", "--refresh"), 1, "names no provenance")

    def test_a_page_that_was_kept_still_names_it(self):
        self.index.add(Wheel("demo", "1.0"))
        self.index.add(Wheel("demo", "0.9"), provenance=False)
        self.index.add(Wheel("demo", "0.8"), publisher=GITLAB)
        self.index.server.answers["/simple/demo/"][1]["Cache-Control"] = "max-age=600"
        self.assert_ok(self.ask("demo", "--dry-run"))
        self.assert_ok(self.ask("demo==0.8", "--dry-run"))
        self.assert_fails(self.ask("demo==0.9", "--dry-run"), 1, "names no provenance")
        self.assertEqual(len(self.index.server.asked("/simple/demo/")), 1)

    def test_a_folder_has_it_beside_the_file(self):
        folder = self.root / "wheels"
        path = Wheel("demo", "1.0").write(folder)
        arguments = ["--no-index", "--find-links", folder, "--offline"]
        self.assert_fails(self.ask("demo", *arguments), 1, "names no provenance")
        beside = path.with_name(path.name + ".provenance")
        beside.write_text(json.dumps(self.sigstore.provenance(path.name, path.read_bytes())))
        self.assert_ok(self.ask("demo", *arguments))
        self.assertEqual(self.installed(), {"demo": ("1.0", None)})

    def test_a_wheel_by_its_path(self):
        path = Wheel("demo", "1.0").write(self.root)
        self.assert_fails(self.ask(path), 1, "names no provenance")
        beside = path.with_name(path.name + ".provenance")
        beside.write_text(json.dumps(self.sigstore.provenance(path.name, path.read_bytes())))
        self.assert_ok(self.ask(path))
        path.write_bytes(Wheel("demo", "1.0", files={"demo.py": "import evil\n"}).bytes())
        self.assert_fails(self.ask(path, "--reinstall", "--no-cache"), 1, "but it is attested with")
        # What is attested is in the store, under its sha256: the altered file is not even read.
        self.assert_ok(self.ask(path, "--reinstall"))
        self.assertNotIn("evil", (self.site() / "demo.py").read_text())

    def test_an_index_behind_a_login(self):
        self.index.add(Wheel("demo", "1.0"))
        answers = self.index.server.answers
        for path in list(answers):
            answers[path] = behind_login(answers[path], "joe", "secret")
        url = self.index.server.url("/simple", "joe:secret")
        result = self.ask("demo", "--index-url", url, "-v")
        self.assert_ok(result)
        self.assertNotIn("secret", result.out + result.err)
        self.assertNotIn(b"secret", (self.venv / ".axle/history").read_bytes())


class Publishers(AttestedCase):
    EXPECTED = '[tool.axle.publishers]\ndemo = {{kind = "GitHub", repository = "{}", workflow = "release.yml"}}\n'

    def trusting(self, text):
        return f'[tool.axle]\ntrusted-root = "../{self.trusted.name}"\n{text}'

    def test_one_that_the_project_expects(self):
        self.index.add(Wheel("demo", "1.0"))
        project = self.project(self.trusting(self.EXPECTED.format("Axle/Demo")))
        self.assert_ok(self.ask("demo", policy=None, cwd=project))

    def test_another_one_is_refused(self):
        self.index.add(Wheel("demo", "1.0"), publisher=OTHER)
        project = self.project(self.trusting(self.EXPECTED.format("axle/demo")))
        words = ("it was published by GitHub, repository mallory/demo, workflow release.yml",
                 f"{project}/pyproject.toml:4 expects GitHub, repository axle/demo, workflow release.yml",
                 "or use --attestations off")
        self.assert_refused(self.ask("demo", policy=None, cwd=project), *words)
        self.assert_refused(self.ask("demo", policy="warn", cwd=project), *words)
        inside = project / "src"
        inside.mkdir()
        self.assert_refused(self.ask("demo", policy=None, cwd=inside), *words)

    def test_of_others_nothing_is_asked(self):
        self.index.add(Wheel("other", "1.0"), provenance=False)
        project = self.project(self.trusting(self.EXPECTED.format("axle/demo")))
        self.assert_ok(self.ask("other", policy=None, cwd=project))

    def test_resolve_and_download_ask_for_the_same(self):
        self.index.add(Wheel("demo", "1.0"), publisher=OTHER)
        project = self.project(self.trusting(self.EXPECTED.format("axle/demo")))
        for command, words in (("resolve", []), ("download", ["--dest", self.root / "files"])):
            with self.subTest(command):
                asked = [command, "demo", "--python", self.venv, "--index-url", self.index.url, *words]
                self.assert_refused(self.variant(*asked, cwd=project), "it was published by GitHub, repository mallory/demo")
                self.assertFalse((self.root / "files").exists())
                told = self.assert_ok(self.variant(*asked, "--attestations", "off", "--json", cwd=project)).json
                self.assertNotIn("attestation", str(told))

    def test_undo_asks_for_the_same(self):
        self.index.add(Wheel("demo", "1.0"), provenance=False)
        self.index.add(Wheel("demo", "2.0"))
        self.assert_ok(self.ask("demo==1.0", policy=None))
        self.assert_ok(self.ask("demo==2.0"))
        undo = ["undo", "--python", self.venv, "--trusted-root", self.trusted]
        self.assert_fails(self.variant(*undo, "--attestations", "require"), 1, "demo-1.0-py3-none-any.whl is not attested")
        self.assertEqual(self.installed(), {"demo": ("2.0", None)})
        self.assert_ok(self.variant(*undo, "--attestations", "warn"))
        self.assert_ok(self.variant(*undo, "--redo", "--attestations", "require"))
        self.assertEqual(self.installed(), {"demo": ("2.0", None)})

    def test_off_is_said(self):
        self.index.add(Wheel("demo", "1.0"), provenance=False)
        project = self.project(self.trusting(self.EXPECTED.format("axle/demo")))
        result = self.assert_ok(self.ask("demo", policy="off", cwd=project))
        self.assertIn("pyproject.toml:4 expects are not checked: --attestations is off", result.err)

    def test_tables_that_are_not_valid(self):
        for text, words in (('demo = {kind = "Github", repository = "a/b"}', ("pyproject.toml:4", "did you mean GitHub?")),
                            ('demo = {kind = "GitHub", repositry = "a/b", workflow = "x"}',
                             ("pyproject.toml:4", "repositry: unknown key", "did you mean repository?")),
                            ('demo = {kind = "GitHub"}', ("pyproject.toml:4", "says nothing of the publisher")),
                            ('demo = {repository = "a/b"}', ("pyproject.toml:4", "kind")),
                            ('demo = "a/b"', ("pyproject.toml:4",)),
                            ('demo = {kind = "Google", email = "a"}\nDEMO = {kind = "Google", email = "b"}', ("named twice",))):
            with self.subTest(text):
                project = self.project(self.trusting("[tool.axle.publishers]\n" + text))
                self.assert_fails(self.ask("demo", policy=None, cwd=project), 2, *words)

    def test_unknown_keys(self):
        project = self.project('[tool.axle]\nattestation = "require"\n')
        self.assert_fails(self.ask("demo", policy=None, cwd=project), 2, "pyproject.toml:2", "attestation: unknown key",
                          "did you mean attestations?")
        self.project("")
        config = self.user_config('attestations = "require"\ntrusted_root = "x"\n')
        self.assert_fails(self.ask("demo", policy=None), 2, f"{config}:2", "did you mean trusted-root?")

    def test_a_project_that_is_built_may_have_all_of_it(self):
        project = self.project(self.trusting('packages = ["demo"]\n' + self.EXPECTED.format("axle/demo")) +
                               '[project]\nname = "demo"\nversion = "1.0"\n[build-system]\nrequires = []\n')
        (project / "demo").mkdir()
        (project / "demo/__init__.py").write_text("")
        self.assert_ok(self.variant("build", project, "--out", self.root / "out"))
        self.index.add(Wheel("other", "1.0"), provenance=False)
        self.assert_ok(self.ask("other", policy=None, cwd=project))

    def test_the_strictest_of_user_and_project(self):
        self.index.add(Wheel("demo", "1.0"), provenance=False)
        config = self.user_config(f'attestations = "require"\ntrusted-root = "{self.trusted}"\n')
        project = self.project('[tool.axle]\nattestations = "off"\n')
        self.assert_refused(self.ask("demo", policy=None, cwd=project), "is not attested", f"{config}:1 requires it")
        self.user_config(f'attestations = "off"\ntrusted-root = "{self.trusted}"\n')
        self.project('[tool.axle]\nattestations = "require"\n')
        self.assert_refused(self.ask("demo", policy=None, cwd=project), "pyproject.toml:2 requires it")

    def test_a_project_does_not_choose_whom_its_user_trusts(self):
        other = attested.Sigstore()
        self.index.sigstore = other
        self.index.add(Wheel("demo", "1.0"))
        self.user_config(f'attestations = "require"\ntrusted-root = "{self.trusted}"\n')
        project = self.project('[tool.axle]\ntrusted-root = "own.json"\n')
        other.write_trusted_root(project / "own.json")
        self.assert_refused(self.ask("demo", policy=None, cwd=project), "in a log that is not trusted")


class Builds(BuildCase):
    def setUp(self):
        super().setUp()
        if attested.missing:
            self.skipTest(attested.missing)
        self.index = AttestedIndex(self, attested.Sigstore())
        self.trusted = self.index.sigstore.write_trusted_root(self.root / "trusted_root.json")

    def build(self, *arguments, named="demo", policy="require"):
        said = ["--attestations", policy] if policy else []
        return self.variant("install", "--python", self.venv, "--index-url", self.index.url, "--build", named, *said,
                            "--trusted-root", self.trusted, *arguments)

    def test_a_source_distribution_is_checked_before_its_code_runs(self):
        self.index.add(self.sdist("demo", "1.0"), provenance=False)
        self.assert_fails(self.build(), 1, "demo-1.0.tar.gz is not attested")
        self.assertEqual(self.built(), [])

    def test_one_that_is_attested_is_built(self):
        self.index.add(self.sdist("demo", "1.0"))
        for _ in range(2):  # also the kept wheel of it
            told = self.assert_ok(self.build("--json", "--reinstall")).json["packages"][0]["attestation"]
            self.assertEqual((told["passed"], told["attestations"][0]["log_index"]), (True, 1005))
        self.assertEqual(self.built(), ["demo 1.0"])

    def test_an_archive_named_by_its_place_is_checked_before_its_code_runs(self):
        file = self.root / "demo-1.0.tar.gz"
        file.write_bytes(self.sdist("demo", "1.0").bytes())
        for name in (file, f"demo @ {file.as_uri()}"):
            self.assert_fails(self.build(named=name), 1, "demo-1.0.tar.gz is not attested")
        self.assertEqual(self.built(), [])
        provenance = self.index.sigstore.provenance(file.name, file.read_bytes(), GITHUB, None)
        pathlib.Path(f"{file}.provenance").write_text(json.dumps(provenance))
        for name in (file, f"demo @ {file.as_uri()}"):
            told = self.assert_ok(self.build("--json", "--reinstall", named=name)).json["packages"][0]["attestation"]
            self.assertTrue(told["passed"], told)
        self.assertEqual(self.built(), ["demo 1.0"])

    def test_where_a_publisher_is_expected_a_name_comes_before_the_code(self):
        file = self.root / "demo-1.0.tar.gz"
        file.write_bytes(self.sdist("demo", "1.0").bytes())
        place = self.root / "home/.config/axle"
        place.mkdir(parents=True)
        (place / "config.toml").write_text('[publishers]\ndemo = { kind = "GitHub", repository = "axle/demo", workflow = "release.yml" }\n')
        self.assert_fails(self.build(named=file, policy=None), 1, "which package it is, is not known before", "write `NAME @ URL`")
        named = f"demo @ {file.as_uri()}"
        self.assert_fails(self.build(named=named, policy=None), 1, "demo-1.0.tar.gz is not attested")
        for publisher in (OTHER, GITHUB):
            self.assertEqual(self.built(), [])
            provenance = self.index.sigstore.provenance(file.name, file.read_bytes(), publisher, None)
            pathlib.Path(f"{file}.provenance").write_text(json.dumps(provenance))
            run = self.build(named=named, policy=None)
            if publisher is OTHER:
                self.assert_fails(run, 1, "it was published by GitHub, repository mallory/demo")
        self.assert_ok(run)

    def test_folders_and_repositories_are_attested_by_nobody(self):
        folder = self.sdist("demo", "1.0").write(self.root / "demo")
        self.assert_fails(self.build(named=self.root / "demo"), 1,
                          "demo is not attested: it is built from a folder, which nobody attests")
        self.assertEqual(self.built(), [])
        told = self.assert_ok(self.build("--json", named=self.root / "demo", policy="warn"))
        self.assertIn("demo is not attested: it is built from a folder", told.err)
        self.assertFalse(told.json["packages"][0]["attestation"]["passed"])


if __name__ == "__main__":
    unittest.main()
