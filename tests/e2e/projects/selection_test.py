"""Options and variables about extras and groups: what export, sync and tree select is what `uv export` selects."""

import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from project_case import ProjectCase
from support import Wheel

NAMES = ("base", "devtool", "docstool", "linter", "plotter", "other")
PROJECT = """[project]
name = "demo-project"
version = "0.1"
requires-python = ">=3.9"
dependencies = ["base"]

[project.optional-dependencies]
plot = ["plotter"]
more = ["other"]

[dependency-groups]
dev = ["devtool"]
docs = ["docstool"]
lint = ["linter"]
"""

# What is asked for, by options and variables.
ASKED = [
    ([], {}),
    (["--no-default-groups"], {}), (["--no-dev"], {}), (["--no-group", "docs"], {}), (["--dev"], {}),
    (["--group", "lint"], {}), (["--group", "lint", "--no-group", "lint"], {}), (["--group", "lint", "--no-dev"], {}),
    (["--group", "dev", "--no-dev"], {}), (["--group", "docs", "--no-default-groups"], {}),
    (["--all-groups"], {}), (["--all-groups", "--no-dev"], {}), (["--all-groups", "--no-group", "docs"], {}),
    (["--all-groups", "--no-group", "docs", "--no-group", "lint"], {}), (["--all-groups", "--no-default-groups"], {}),
    (["--only-group", "docs"], {}), (["--only-group", "docs", "--only-group", "lint"], {}), (["--only-dev"], {}),
    (["--only-group", "docs", "--only-dev"], {}), (["--only-group", "docs", "--no-group", "docs"], {}),
    (["--only-group", "docs", "--no-default-groups"], {}),
    (["--extra", "plot"], {}), (["--extra", "plot", "--extra", "more", "--no-dev"], {}), (["--all-extras"], {}),
    (["--all-extras", "--no-extra", "plot"], {}), (["--extra", "plot", "--no-extra", "plot"], {}), (["--no-extra", "plot"], {}),
    (["--all-extras", "--all-groups"], {}), (["--all-extras", "--all-groups", "--no-extra", "more", "--no-group", "lint"], {}),
    ([], {"UV_NO_DEV": "1"}), ([], {"UV_NO_DEV": "0"}), ([], {"UV_DEV": "1"}), ([], {"UV_DEV": "1", "UV_NO_DEV": "1"}),
    ([], {"UV_NO_GROUP": "dev"}), ([], {"UV_NO_GROUP": "dev docs"}), ([], {"UV_NO_DEFAULT_GROUPS": "true"}),
    (["--dev"], {"UV_NO_DEV": "1"}), (["--only-dev"], {"UV_NO_DEV": "1"}), (["--no-dev"], {"UV_DEV": "1"}),
    (["--group", "dev"], {"UV_NO_DEV": "1"}), (["--group", "lint"], {"UV_NO_GROUP": "lint"}),
    (["--no-group", "dev"], {"UV_NO_GROUP": "docs"}), (["--all-groups"], {"UV_NO_DEV": "on"}),
    (["--only-group", "docs"], {"UV_NO_DEFAULT_GROUPS": "1"}), (["--all-groups"], {"UV_NO_GROUP": "docs lint"}),
]

# What both refuse, and of what our message speaks.
REFUSED = [
    (["--group", "nosuch"], {}, "--group nosuch"), (["--no-group", "lnit"], {}, "did you mean lint?"),
    (["--only-group", "nosuch"], {}, "--only-group nosuch"), (["--extra", "plto"], {}, "did you mean plot?"),
    (["--all-extras", "--no-extra", "nosuch"], {}, "--no-extra nosuch"),
    (["--only-group", "docs", "--group", "lint"], {}, "--only-group and --group"),
    (["--only-group", "docs", "--all-groups"], {}, "--only-group and --all-groups"),
    (["--only-group", "docs", "--extra", "plot"], {}, "--only-group and --extra"),
    (["--only-group", "docs", "--all-extras"], {}, "--only-group and --all-extras"),
    ([], {"UV_NO_DEV": "maybe"}, "UV_NO_DEV"), ([], {"UV_NO_DEV": ""}, "UV_NO_DEV"), ([], {"UV_NO_GROUP": "nosuch"}, "nosuch"),
]


class Selection(ProjectCase):
    def setUp(self):
        super().setUp()
        for name in NAMES:
            self.add(name, "1.0")
        self.env["UV_CACHE_DIR"] = str(self.root / "uv-cache")
        self.env["UV_PYTHON_DOWNLOADS"] = "never"

    def locked_by_both(self, default_groups):
        stated = f"[tool.uv]\ndefault-groups = {default_groups}\n" if default_groups else ""
        self.pyproject.write_text(PROJECT + stated)
        self.assert_ok(self.call("lock"))
        # uv reads no index of a folder, but a folder of files.
        self.assert_ok(self.of_uv("lock"))

    def of_uv(self, *words, env=None):
        files = self.root / "files"
        if not files.exists():
            files.mkdir()
            for name in NAMES:
                Wheel(name, "1.0").write(files)
        return self.uv(*words, "--no-index", "--find-links", files, env=env, cwd=self.folder)

    def uv_selects(self, words, env):
        result = self.assert_ok(self.of_uv("export", "--no-hashes", "--no-emit-project", "--no-annotate", "--no-header", *words, env=env))
        return sorted(re.match(r"[\w-]+", line)[0].replace("_", "-") for line in result.out.splitlines() if re.match(r"\w", line))

    def exported(self, words, env):
        result = self.assert_ok(self.call("export", "--format", "requirements", *words, env=env))
        return sorted(re.match(r"[\w-]+", line)[0] for line in result.out.splitlines() if re.match(r"\w", line))

    def synchronised(self, words, env):
        result = self.assert_ok(self.call("sync", "--dry-run", "--json", *words, env=env))
        return sorted(one["name"] for one in result.json["installed"])

    def shown(self, words, env):
        classes = self.assert_ok(self.call("tree", "--json", *words, env=env)).json["classes"]
        return sorted(one["name"] for one in classes[0]["packages"])

    def test_the_same_as_uv(self):
        for default_groups in (None, '["docs"]', '["docs", "dev"]', '"all"', "[]"):
            self.locked_by_both(default_groups)
            for words, env in ASKED:
                with self.subTest(default_groups=default_groups, words=words, env=env):
                    wanted = self.uv_selects(words, env)
                    self.assertEqual(self.exported(words, env), wanted)
                    if default_groups in (None, '["docs"]'):
                        self.assertEqual(self.synchronised(words, env), wanted)

    def test_the_same_is_refused(self):
        self.locked_by_both(None)
        for words, env, said in REFUSED:
            with self.subTest(words=words, env=env):
                theirs = self.of_uv("export", *words, env=env)
                self.assertEqual(theirs.code, 2, str(theirs))
                for command in (["export", "--format", "requirements"], ["sync", "--dry-run"], ["tree"]):
                    self.assert_fails(self.call(*command, *words, env=env), 2, said)

    def test_tree_shows_all_unless_some_are_selected(self):
        self.locked_by_both(None)
        everything = sorted(NAMES)
        self.assertEqual(self.shown([], {}), everything)
        for words, env, left in ((["--no-dev"], {}, ["devtool"]), ([], {"UV_NO_DEV": "1"}, ["devtool"]),
                                 (["--no-group", "docs", "--no-extra", "plot"], {}, ["docstool", "plotter"])):
            with self.subTest(words=words, env=env):
                self.assertEqual(self.shown(words, env), [name for name in everything if name not in left])
        for words in (["--only-group", "docs"], ["--group", "lint"], ["--no-default-groups"], ["--all-extras"], ["--only-dev"]):
            with self.subTest(words=words):
                self.assertEqual(self.shown(words, {}), self.exported(words, {}))

    def test_a_lock_without_its_project_has_the_usual_default_group(self):
        self.locked_by_both(None)
        self.pyproject.unlink()
        self.assertEqual(self.exported([], {}), ["base", "devtool"])
        self.assertEqual(self.exported(["--no-dev"], {}), ["base"])

    def test_verify_and_run_select_alike(self):
        self.locked_by_both(None)
        words = ["--only-group", "docs", "--no-default-groups"]
        self.assert_ok(self.call("sync", *words))
        self.assertEqual(sorted(self.installed()), ["docstool"])
        self.assert_ok(self.call("verify", *words))
        self.assert_fails(self.call("verify"), 4, "base 1.0 is locked and not installed")
        self.assert_ok(self.call("run", "--no-dev", "true"))
        self.assertEqual(sorted(self.installed()), ["base"])


if __name__ == "__main__":
    unittest.main()
