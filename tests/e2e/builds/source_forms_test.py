"""Requirements that are sources: folders, archives and repositories, as pip 26.3 and uv 0.13.9 read them."""

import hashlib
import json
import pathlib
import shutil
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from sdist_case import BuildCase
from support import Wheel


class FormsCase(BuildCase):
    """demo 1.0 in `proj` and in archives, demo 2.0 in `many/inner` and below the folders of archives, both in a repository."""

    def setUp(self):
        super().setUp()
        self.work = self.root / "work"
        one, two = (self.sdist("demo", version, makes=[Wheel("demo", version, extra_metadata="Provides-Extra: x\nRequires-Dist: dep; extra == 'x'\n")])
                    for version in ("1.0", "2.0"))
        Wheel("dep", "1.0").write(self.work / "wheels")
        one.write(self.work / "proj")
        one.write(self.work / "odd [x]#1")
        (self.work / "empty").mkdir()
        two.write(self.work / "many/many-1/inner")
        (self.work / "demo-1.0.tar.gz").write_bytes(one.bytes())
        for suffix, kind in ((".zip", "zip"), (".tar.bz2", "bztar")):
            shutil.make_archive(str(self.work / "many"), kind, self.work / "many", "many-1")
            self.server.answers[f"/many{suffix}"] = (200, {}, (self.work / f"many{suffix}").read_bytes())
        self.sha256 = hashlib.sha256(one.bytes()).hexdigest()
        self.server.answers["/demo-1.0.tar.gz"] = (200, {}, one.bytes())
        self.commits = self.make_repository(self.work / "repo", ("v1", {".": one}), ("v2", {"inner": two}))
        self.git(self.work / "repo", "branch", "old", "v1")

    def target(self, name):
        place = self.root / "targets" / name
        shutil.rmtree(place, ignore_errors=True)
        return place

    def outcome(self, result, place):
        """{name: (version, its direct_url.json)}; None: it failed."""
        if result.code != 0:
            return None
        found = {}
        for info in place.glob("*.dist-info"):
            name, version = info.name.removesuffix(".dist-info").split("-")
            record = info / "direct_url.json"
            found[name] = (version, json.loads(record.read_text()) if record.exists() else None)
        return found

    def all_three(self, *arguments):
        """What ours, pip and uv made of it."""
        common = ["--no-index", "--find-links", self.work / "wheels"]
        ours, pip, uv = (self.target(name) for name in ("ours", "pip", "uv"))
        self.said = self.variant("install", *arguments, *common, "--target", ours, "--python", self.venv, cwd=self.work)
        by_pip = self.pip("install", "--no-cache-dir", *arguments, *common, "--target", pip, cwd=self.work)
        by_uv = self.uv("pip", "install", "--no-cache", *arguments, *common, "--target", uv, "--python", self.venv / "bin/python", cwd=self.work)
        self.said_by_peers = f"{by_pip}\n{by_uv}"
        return self.outcome(self.said, ours), self.outcome(by_pip, pip), self.outcome(by_uv, uv)

    def same(self, version, *arguments, uv=True, record=True):
        """All three install demo in this version, and ours and pip say alike where it is from. `uv`: it does, too; `record`: pip's is
        right."""
        with self.subTest(arguments=arguments):
            ours, pip, by_uv = self.all_three(*arguments)
            message = f"{self.said}\n{self.said_by_peers}"
            self.assertIsNotNone(ours, message)
            self.assertEqual(ours["demo"][0], version, message)
            if record:
                self.assertEqual(ours, pip, message)
            versions = {name: one[0] for name, one in ours.items()}
            self.assertEqual({name: one[0] for name, one in by_uv.items()} if by_uv else None, versions if uv else None, message)
            if record:
                own = self.assert_ok(self.variant("freeze", "--target", self.root / "targets/ours", "--python", self.venv)).out
                theirs = self.assert_ok(self.pip("freeze", "--path", self.root / "targets/pip")).out
                self.assertEqual(own, theirs)
            return ours["demo"][1]

    def refused(self, *arguments, pip=True, uv=True, words=()):
        """We refuse it; `pip`, `uv`: so do they."""
        with self.subTest(arguments=arguments):
            ours, by_pip, by_uv = self.all_three(*arguments)
            message = f"{self.said}\n{self.said_by_peers}"
            self.assertIsNone(ours, message)
            self.assertEqual((by_pip is None, by_uv is None), (pip, uv), message)
            for word in words:
                self.assertIn(word, str(self.said))


class Folders(FormsCase):
    def test_forms(self):
        work = self.work
        for form in ("./proj", "proj/", f"{work}/proj", f"file://{work}/proj", f"demo @ file://{work}/proj"):
            self.same("1.0", form)
        for form in ("file:proj", "demo@file:proj"):  # pip writes file:///proj
            record = self.same("1.0", form, record=False)
            self.assertEqual(record, {"url": f"file://{work}/proj", "dir_info": {}})
        self.assertEqual(self.same("1.0", "./proj[x]"), {"url": f"file://{work}/proj", "dir_info": {}})
        self.same("1.0", "./odd [x]#1/", uv=False)
        self.same("2.0", f"demo @ file://{work}/many#subdirectory=many-1/inner", uv=False)

    def test_what_is_refused(self):
        self.refused("proj", words=["proj"])
        self.refused("./nothing", words=["folder ./nothing does not exist"])
        self.refused("./empty", words=["neither pyproject.toml nor setup.py"])
        self.refused("other @ file:proj", words=["not a plain wheel of other"])
        self.refused("demo @ ./proj", uv=False, words=["`demo @ file:./proj`"])
        self.refused(f"demo @ file://{self.work}/proj#subdirectory=../proj", pip=False, uv=False, words=["not one of the sources"])

    def test_markers(self):
        self.same("1.0", "./proj ; python_version > '3'")
        self.variant("install", "./proj ; python_version < '3'", "./nothing ; python_version < '3'", "--no-index", "--python", self.venv, cwd=self.work)
        self.assertEqual(self.built(), ["demo 1.0"] * 3)


class Archives(FormsCase):
    def test_forms(self):
        web = self.server.url()
        hashed = {"url": f"{web}/demo-1.0.tar.gz", "archive_info": {"hash": f"sha256={self.sha256}", "hashes": {"sha256": self.sha256}}}
        self.same("1.0", "./demo-1.0.tar.gz")
        self.same("1.0", "demo-1.0.tar.gz")
        self.same("1.0", f"demo[x] @ file:demo-1.0.tar.gz#sha256={self.sha256}", record=False)
        self.assertEqual(self.same("1.0", f"{web}/demo-1.0.tar.gz#sha256={self.sha256}"), hashed)
        self.assertEqual(self.same("1.0", f"{web}/demo-1.0.tar.gz#egg=demo"), hashed)
        for name in ("many.zip", "many.tar.bz2"):
            self.same("2.0", f"{web}/{name}#subdirectory=inner&egg=demo", uv=name.endswith("zip"))

    def test_what_is_refused(self):
        web = self.server.url()
        self.refused(f"{web}/demo-1.0.tar.gz#sha256={'0' * 64}", words=["0000"])
        self.refused("./nothing-1.0.tar.gz", words=["does not exist"])
        self.refused(f"{web}/nothing.zip", words=["404"])
        self.refused(f"{web}/many.zip", words=["no Python project", "#subdirectory=FOLDER"])
        self.refused(f"{web}/demo", words=["neither a wheel nor an archive"])


class Repositories(FormsCase):
    def test_forms(self):
        url = f"git+file://{self.work}/repo"
        first, second = self.commits
        pinned = {"url": f"file://{self.work}/repo", "vcs_info": {"vcs": "git", "requested_revision": "v1", "commit_id": first}}
        self.same("1.0", url)
        self.assertEqual(self.same("1.0", f"{url}@v1"), pinned)
        self.assertEqual(self.same("1.0", f"demo[x] @ {url}@old")["vcs_info"]["requested_revision"], "old")
        self.same("1.0", f"{url}@{first}#egg=demo")
        self.same("2.0", f"demo @ {url}@v2#subdirectory=inner")
        self.same("2.0", f"{url}@{second[:9]}#egg=demo&subdirectory=inner")

    def test_what_is_refused(self):
        url = f"git+file://{self.work}/repo"
        self.refused(f"{url}@nosuch", words=["no branch, tag or commit nosuch"])
        self.refused(f"{url}@", words=["not a revision"])
        self.refused(f"{url}-gone", words=["could not be fetched"])
        self.refused(f"demo @ {url}@v1#subdirectory=inner", words=["has no folder inner"])
        self.refused(f"other @ {url}@v1", words=["not a plain wheel of other"])
        self.refused(f"hg+file://{self.work}/repo", words=["no repository of git"])
        self.refused(f"-e{url}#egg=demo")


class Lists(FormsCase):
    """The same in files, groups and projects."""

    def test_files(self):
        (self.work / "sub").mkdir()
        needs = self.work / "sub/needs.txt"
        for line in ("./proj", f"demo @ file://{self.work}/proj", f"git+file://{self.work}/repo@v1#egg=demo", f"./demo-1.0.tar.gz --hash=sha256:{self.sha256}"):
            needs.write_text(line + "\n")
            self.same("1.0", "-r", "sub/needs.txt")
        needs.write_text("./many-1\n")
        self.refused("-r", "sub/needs.txt", words=["sub/needs.txt:1: folder ./many-1 does not exist"])

    def test_constraints(self):
        (self.work / "limits.txt").write_text(f"demo @ file://{self.work}/proj\n")
        self.same("1.0", "demo", "-c", "limits.txt")
        (self.work / "limits.txt").write_text("./proj\n")
        self.refused("demo", "-c", "limits.txt", words=["limits.txt:1", "has no name"])

    def test_groups_and_projects(self):
        text = json.dumps([f"demo @ git+file://{self.work}/repo@v1"])
        (self.work / "pyproject.toml").write_text(f"[project]\nname = 'p'\nversion = '1'\ndependencies = {text}\n[dependency-groups]\ntest = {text}\n")
        self.same("1.0", "--group", "test")
        place = self.target("ours")
        answer = self.variant("install", "-r", "pyproject.toml", "--no-index", "--target", place, "--python", self.venv, cwd=self.work)
        self.assertEqual(self.outcome(self.assert_ok(answer), place)["demo"][0], "1.0")

    def test_sources_of_a_project(self):
        """[tool.uv.sources] with a repository, a folder and an archive, as uv has them."""
        for place, version in (({"git": f"file://{self.work}/repo", "tag": "v1"}, "1.0"), ({"path": "proj"}, "1.0"),
                               ({"git": f"file://{self.work}/repo", "branch": "main", "subdirectory": "inner"}, "2.0"),
                               ({"path": "demo-1.0.tar.gz"}, "1.0"), ({"url": self.server.url("/many.zip"), "subdirectory": "inner"}, "2.0")):
            with self.subTest(place):
                source = ", ".join(f"{key} = {json.dumps(value)}" for key, value in place.items())
                (self.work / "pyproject.toml").write_text("[project]\nname = 'p'\nversion = '1'\ndependencies = ['demo']\n"
                                                          f"[tool.uv.sources]\ndemo = {{{source}}}\n")
                ours, _, uv = self.all_three("-r", "pyproject.toml")
                self.assertEqual({name: one[0] for name, one in (ours or {}).items()}, {"demo": version}, str(self.said))
                self.assertEqual({name: one[0] for name, one in (uv or {}).items()}, {"demo": version}, self.said_by_peers)


if __name__ == "__main__":
    unittest.main(verbosity=2)
