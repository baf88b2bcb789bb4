"""Which of several indexes gives a package its versions: held against uv, whose names the strategies have."""

import gzip
import json
import pathlib
import sys
import time
import unittest
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from loopback import Loopback
from support import PYTHON, TestCase, Wheel

STRATEGIES = ("first-index", "unsafe-first-match", "unsafe-best-match")
STATUSES = {"401": 401, "403": 403, "410": 410, "500": 500}
REQUIREMENTS = ("corp", "corp>=2", "other", "loose")


class TwoIndexes(TestCase):
    """A private index that is asked first and a public one, which has the same name with a higher version."""

    def setUp(self):
        super().setUp()
        self.make_venv()
        self.own, self.public = Loopback(self), Loopback(self)
        self.own.publish("/simple", Wheel("corp", "1.0"))
        self.public.publish("/simple", Wheel("corp", "9.9"), Wheel("other", "1.0", requires=["corp>=2"]),
                            Wheel("loose", "1.0", requires=["corp"]))

    def private(self, state):
        """What the private index answers for corp."""
        if state == "empty":
            self.own.page("/simple", "corp")
        elif state == "404":
            del self.own.answers["/simple/corp/"]
        elif state in STATUSES:
            self.own.answers["/simple/corp/"] = (STATUSES[state], {}, b"trouble")

    def places(self):
        return "--index", self.own.url("/simple"), "--default-index", self.public.url("/simple")

    def resolve(self, requirement, *arguments, cwd=None, env=None):
        """name -> version as `variant resolve` has it; None where it fails."""
        result = self.variant("resolve", requirement, *arguments, "--python", self.venv, "--no-cache", "--json", cwd=cwd, env=env)
        self.last = result
        return {one["name"]: one["version"] for one in result.json["packages"]} if result.code == 0 else None

    def uv_compile(self, requirement, *arguments, cwd=None, env=None):
        wanted = self.root / "wanted.in"
        wanted.write_text(requirement + "\n")
        result = self.uv("pip", "compile", wanted, "--no-header", "--no-annotate", "--no-cache", "-q", "--python", PYTHON,
                         *arguments, cwd=cwd, env={"UV_HTTP_RETRIES": "0", **(env or {})})
        return dict(line.split("==") for line in result.out.split()) if result.code == 0 else None


class AsUvDoes(TwoIndexes):
    def compare(self, strategy):
        for state in ("ok", "empty", "404", *STATUSES):
            if state == "500" and strategy != "first-index":
                continue  # as 410, and each takes seconds of retries
            self.own.publish("/simple", Wheel("corp", "1.0"))
            self.private(state)
            for requirement in REQUIREMENTS:
                with self.subTest(strategy=strategy, state=state, requirement=requirement):
                    places = (*self.places(), "--index-strategy", strategy)
                    self.public.seen.clear()
                    ours = self.resolve(requirement, *places)
                    asked = self.public.asked("/corp/")
                    if state in ("401", "403") and strategy != "first-index":
                        # uv passes over an index that refuses the login; here no error is passed over.
                        self.assertIsNone(ours, str(self.last))
                        self.assertIn(f"HTTP status {state}", self.last.out)
                        continue
                    self.assertEqual(ours, self.uv_compile(requirement, *places), str(self.last))
                    if strategy == "first-index" and state != "404":
                        self.assertEqual(asked, [], "the public index was asked for a name that another one decides about")

    def test_first_index(self):
        self.compare("first-index")

    def test_unsafe_first_match(self):
        self.compare("unsafe-first-match")

    def test_unsafe_best_match(self):
        self.compare("unsafe-best-match")

    def test_the_strategy_may_come_from_uvs_variable(self):
        env = {"UV_INDEX_STRATEGY": "unsafe-best-match"}
        self.assertEqual(self.resolve("corp", *self.places(), env=env), {"corp": "9.9"})
        self.assertEqual(self.uv_compile("corp", *self.places(), env=env), {"corp": "9.9"})

    def test_find_links_join_whatever_index_decides(self):
        links = self.root / "links"
        Wheel("corp", "5.0").write(links)
        for state in ("ok", "empty", "404", "410"):
            self.private(state)
            with self.subTest(state=state):
                arguments = (*self.places(), "--find-links", links)
                ours = self.resolve("corp", *arguments)
                self.assertEqual(ours, self.uv_compile("corp", *arguments), str(self.last))

    def test_find_links_that_cannot_be_read_end_the_search(self):
        for place in (self.own.url("/nothing"), self.root / "absent"):
            with self.subTest(place=place):
                arguments = (*self.places(), "--find-links", place)
                self.assertIsNone(self.uv_compile("corp", *arguments))
                self.assertIsNone(self.resolve("corp", *arguments))

    def test_the_order_is_that_of_uv(self):
        for names in (("--extra-index-url", "--index-url"), ("--index", "--index-url"), ("--extra-index-url", "--default-index")):
            with self.subTest(names=names):
                arguments = (names[0], self.own.url("/simple"), names[1], self.public.url("/simple"))
                self.assertEqual(self.resolve("corp", *arguments), self.uv_compile("corp", *arguments))


class WhatIsSaid(TwoIndexes):
    def test_a_conflict_names_the_index_that_decided_and_what_changes_that(self):
        for requirement in ("corp>=2", "other"):
            with self.subTest(requirement=requirement):
                result = self.variant("resolve", requirement, *self.places(), "--python", self.venv)
                self.assert_fails(result, 1, f"{self.own.url('/simple')} is the first index that has corp",
                                  f"{self.public.url('/simple')} was not queried", "--index-strategy unsafe-best-match")
                changed = self.resolve(requirement, *self.places(), "--index-strategy", "unsafe-best-match")
                self.assertEqual(changed["corp"], "9.9", "what the hint says works")

    def test_a_compressed_page_that_is_cut_or_bent_is_no_answer(self):
        """Cut between two links it would still look like a page, of older versions."""
        self.own.publish("/simple", *[Wheel("corp", f"{number}.0") for number in range(1, 40)])
        page = self.own.answers["/simple/corp/"][2].encode()
        bent = bytearray(gzip.compress(page))
        bent[-6] ^= 255
        for coding, body in {"whole": ("gzip", gzip.compress(page)), "cut": ("gzip", gzip.compress(page)[:-300]),
                             "no checksum": ("gzip", gzip.compress(page)[:-8]), "bent": ("gzip", bytes(bent)),
                             "zlib": ("deflate", zlib.compress(page)), "zlib, cut": ("deflate", zlib.compress(page)[:-300])}.items():
            with self.subTest(coding):
                self.own.answers["/simple/corp/"] = (200, {"Content-Type": "text/html", "Content-Encoding": body[0]}, body[1])
                ours = self.resolve("corp", *self.places())
                self.assertEqual(ours, self.uv_compile("corp", *self.places()), str(self.last))
                self.assertEqual(ours is None, coding not in ("whole", "zlib"))
                self.assertEqual(self.public.asked("/corp/"), [])

    def test_an_index_that_never_answers_ends_the_search(self):
        self.own.answers["/simple/corp/"] = lambda handler: time.sleep(20)
        result = self.variant("resolve", "corp", *self.places(), "--python", self.venv, "--timeout", "1", "--no-cache")
        self.assert_fails(result, 1, "no response for 1 second", self.own.host)
        self.assertEqual(self.public.asked("/corp/"), [])

    def test_installing_takes_the_private_one(self):
        self.assert_ok(self.variant("install", "loose", *self.places(), "--python", self.venv))
        self.assertEqual(self.installed(), {"corp": ("1.0", None), "loose": ("1.0", None)})

    def test_a_local_folder_decides_as_a_server_does(self):
        folder = self.root / "folder"
        Wheel("corp", "1.0").write(folder / "corp")
        places = ("--index", folder, "--default-index", self.public.url("/simple"))
        self.assertEqual(self.resolve("corp", *places), {"corp": "1.0"})
        self.assertIsNone(self.resolve("other", *places))
        (folder / "corp" / "corp-1.0-py3-none-any.whl").unlink()
        self.assertIsNone(self.resolve("corp", *places), "a folder without files is an answer")
        (folder / "corp").rmdir()
        self.assertEqual(self.resolve("corp", *places), {"corp": "9.9"})


class ProjectSources(TwoIndexes):
    """[[tool.uv.index]] and [tool.uv.sources] of the project one stands in."""

    def setUp(self):
        super().setUp()
        self.project = self.root / "project"
        self.project.mkdir()
        self.default = ("--default-index", self.public.url("/simple"))

    def write(self, *tables, requires=("corp",)):
        (self.project / "pyproject.toml").write_text(
            f'[project]\nname = "p"\nversion = "1"\ndependencies = {json.dumps(list(requires))}\n' + "\n".join(tables) + "\n")

    def index(self, *lines):
        return f'[[tool.uv.index]]\nname = "priv"\nurl = "{self.own.url("/simple")}"\n' + "\n".join(lines) + "\n"

    def uv_project(self):
        result = self.uv("pip", "compile", "pyproject.toml", "--no-header", "--no-annotate", "--no-cache", "-q", "--python", PYTHON,
                         *self.default, cwd=self.project, env={"UV_HTTP_RETRIES": "0"})
        return dict(line.replace(" @ ", "==").split("==") for line in result.out.splitlines()) if result.code == 0 else None

    ROWS = {
        "explicit without a source": (("explicit = true",), None),
        "not explicit": ((), None),
        "explicit with a source": (("explicit = true",), 'corp = { index = "priv" }'),
        "another spelling of the name": (("explicit = true",), 'CORP = { index = "priv" }'),
        "a marker that does not hold": (("explicit = true",), 'corp = { index = "priv", marker = "sys_platform == \'win32\'" }'),
        "a marker that holds": (("explicit = true",), 'corp = { index = "priv", marker = "sys_platform == \'linux\'" }'),
        "one of several markers": (("explicit = true",), 'corp = [{ index = "priv", marker = "sys_platform == \'linux\'" }, '
                                   '{ index = "priv", marker = "sys_platform == \'win32\'" }]'),
        "an index that is not declared": (("explicit = true",), 'corp = { index = "nope" }'),
        "an unknown key": (("explicit = true",), 'corp = { index = "priv", wrong = "x" }'),
        "two kinds at once": (("explicit = true",), 'corp = { index = "priv", url = "http://127.0.0.1/x.whl" }'),
    }

    def test_sources_as_uv_has_them(self):
        for title, (lines, source) in self.ROWS.items():
            with self.subTest(title):
                self.write(self.index(*lines), "[tool.uv.sources]\n" + source if source else "")
                ours = self.resolve("corp", *self.default, cwd=self.project)
                self.assertEqual(ours, self.uv_project(), str(self.last))

    def test_a_source_holds_for_what_others_want_too(self):
        self.write(self.index("explicit = true"), '[tool.uv.sources]\ncorp = { index = "priv" }', requires=("corp", "loose"))
        self.assertEqual(self.resolve("loose", *self.default, cwd=self.project), {"corp": "1.0", "loose": "1.0"})
        self.assertEqual(self.uv_project(), {"corp": "1.0", "loose": "1.0"})

    def test_a_package_that_its_index_lacks_is_not_looked_for_elsewhere(self):
        self.write(self.index("explicit = true"), '[tool.uv.sources]\nloose = { index = "priv" }', requires=("loose",))
        self.assertIsNone(self.uv_project())
        self.assertIsNone(self.resolve("loose", *self.default, cwd=self.project))
        self.assertIn(" only", self.last.out)

    def test_a_wheel_by_its_url(self):
        wheel = self.own.url("/simple/files/corp-1.0-py3-none-any.whl")
        self.write(f'[tool.uv.sources]\ncorp = {{ url = "{wheel}" }}')
        self.assertEqual(self.uv_project(), {"corp": wheel})
        self.assertEqual(self.resolve("corp", *self.default, cwd=self.project), {"corp": "1.0"})
        self.assertEqual(self.resolve("loose", *self.default, cwd=self.project), {"corp": "1.0", "loose": "1.0"})

    def test_codes_that_count_as_absent(self):
        for code in (401, 500):
            self.own.answers["/simple/corp/"] = (code, {}, b"")
            for listed in (code, 418):
                with self.subTest(code=code, listed=listed):
                    self.write(self.index(f"ignore-error-codes = [{listed}]"))
                    ours = self.resolve("corp", *self.default, cwd=self.project)
                    self.assertEqual(ours, {"corp": "9.9"} if listed == code else None, str(self.last))
                    if code == 401:  # uv repeats 500 for seconds
                        self.assertEqual(ours, self.uv_project())


if __name__ == "__main__":
    unittest.main()
