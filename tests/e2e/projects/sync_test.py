"""lock, sync, run and verify: one lock, and an environment that is equal to it."""

import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from project_case import PYTHON, VERSION, ProjectCase
from loopback import Loopback
from support import Wheel


class Sync(ProjectCase):
    def setUp(self):
        super().setUp()
        self.add("low", "1.0")
        self.add("low", "2.0")
        self.add("top", "1.0", requires=["low"])
        self.add("extra-thing", "1.0")
        self.add("tool", "1.0")

    def test_an_environment_is_made_equal_to_the_lock(self):
        self.write_project(["top"])
        done = self.assert_ok(self.call("sync", "--json"))
        self.assertEqual({one["name"] for one in done.json["installed"]}, {"top", "low"})
        self.assertEqual(self.installed(), {"top": "1.0", "low": "2.0"})
        again = self.assert_ok(self.call("sync", "--json")).json
        self.assertEqual((again["installed"], again["removed"]), ([], []))
        self.assertEqual({one["name"] for one in again["kept"]}, {"top", "low"})

    def test_what_is_not_locked_goes_and_installers_stay(self):
        self.write_project(["low"])
        self.assert_ok(self.call("sync"))
        self.add("pip", "99.0")
        self.assert_ok(self.call("install", "tool", "pip", "--python", self.environment))
        self.assert_ok(self.call("sync", "--inexact"))
        self.assertEqual(set(self.installed()), {"low", "tool", "pip"})
        removed = self.assert_ok(self.call("sync", "--json")).json["removed"]
        self.assertEqual([one["name"] for one in removed], ["tool"])
        self.assertEqual(set(self.installed()), {"low", "pip"})

    def test_a_lock_that_is_out_of_date(self):
        self.write_project(["low"])
        self.assert_ok(self.call("sync"))
        before = self.lock_file.read_bytes()
        self.write_project(["low", "tool"])
        self.assert_fails(self.call("sync", "--locked"), 4, "axle.lock", "variant lock")
        self.assert_fails(self.call("lock", "--check"), 4)
        self.assertEqual(self.lock_file.read_bytes(), before)
        self.assert_ok(self.call("sync", "--frozen"))
        self.assertEqual(set(self.installed()), {"low"})
        self.assert_ok(self.call("sync"))
        self.assertEqual(set(self.installed()), {"low", "tool"})
        self.assert_ok(self.call("sync", "--locked"))
        self.assert_ok(self.call("lock", "--check"))
        self.assert_fails(self.call("sync", "--locked", "--frozen"), 2, "--frozen")

    def test_comments_and_spaces_do_not_make_a_lock_old(self):
        self.write_project(["low"])
        self.assert_ok(self.call("lock"))
        self.pyproject.write_text("# a word\n" + self.pyproject.read_text().replace("'low',", "'low' , # why"))
        self.assert_ok(self.call("sync", "--locked"))

    def test_files_for_which_an_index_gives_no_hash(self):
        """A folder of wheels, pages of bare links: the lock has the sha256 all the same."""
        wheel = Wheel("bare", "1.0")
        path = wheel.write(self.root / "wheels")
        pages = self.root / "pages/bare"
        pages.mkdir(parents=True)
        shutil.copy(path, pages)
        (pages / "index.html").write_text(f'<!DOCTYPE html><html><body><a href="{path.name}">{path.name}</a></body></html>')
        server = Loopback(self)
        server.answers[f"/{path.name}"] = (200, {}, path.read_bytes())
        server.answers["/simple/bare/"] = (200, {"Content-Type": "text/html"}, f'<!DOCTYPE html><a href="/{path.name}">{path.name}</a>')
        self.write_project(["bare"])
        for where in (["--no-index", "--find-links", self.root / "wheels"], ["-i", (self.root / "pages").as_uri()],
                      ["-i", f"http://{server.host}/simple"]):
            with self.subTest(where):
                self.lock_file.unlink(missing_ok=True)
                shutil.rmtree(self.environment, ignore_errors=True)
                self.assert_ok(self.call("lock", *where))
                self.assertEqual([(one["sha256"], one["size"]) for one in self.lock()["package"]],
                                 [(hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_size)])
                self.assert_ok(self.call("sync", "--locked", *where))
                self.assertEqual(self.installed(), {"bare": "1.0"})

    def test_without_a_lock(self):
        self.write_project(["low"])
        self.assert_fails(self.call("sync", "--frozen"), 2, "axle.lock", "variant lock")
        self.assert_fails(self.call("sync", "--locked"), 4, "axle.lock")
        self.assertFalse(self.environment.exists())
        self.assert_fails(self.call("verify"), 2, "axle.lock")

    def test_versions_stay_until_they_are_upgraded(self):
        self.write_project(["low<2", "tool"])
        self.assert_ok(self.call("lock"))
        self.add("tool", "2.0")
        self.write_project(["low", "tool"])
        self.assert_ok(self.call("lock"))
        self.assertEqual(self.locked("default"), {"low": "1.0", "tool": "1.0"})
        self.assert_ok(self.call("lock", "-P", "low"))
        self.assertEqual(self.locked("default"), {"low": "2.0", "tool": "1.0"})
        changes = self.assert_ok(self.call("lock", "--upgrade", "--json")).json["changes"]
        self.assertEqual(changes, [{"name": "tool", "before": "1.0", "after": "2.0"}])
        self.assert_ok(self.call("sync"))
        self.assertEqual(self.installed(), {"low": "2.0", "tool": "2.0"})

    def test_extras_and_groups(self):
        self.write_project(["low"], more='[project.optional-dependencies]\nmore = ["extra-thing"]\n'
                                         '[dependency-groups]\ndev = ["tool"]\ndocs = ["top"]\n')
        self.assert_ok(self.call("sync"))
        self.assertEqual(set(self.installed()), {"low", "tool"})
        self.assert_ok(self.call("sync", "--extra", "More", "--group", "docs", "--no-default-groups"))
        self.assertEqual(set(self.installed()), {"low", "extra-thing", "top"})
        self.assert_ok(self.call("sync", "--only-group", "dev"))
        self.assertEqual(set(self.installed()), {"tool"})
        self.assert_ok(self.call("sync", "--all-extras", "--all-groups"))
        self.assertEqual(set(self.installed()), {"low", "extra-thing", "top", "tool"})
        self.assert_fails(self.call("sync", "--extra", "mor"), 2, "mor", "more")
        self.assert_fails(self.call("sync", "--group", "absent"), 2, "absent", "dev")

    def test_extras_and_groups_of_a_project_that_is_not_locked_yet(self):
        self.write_project(["low"], more='[project.optional-dependencies]\nmore = ["extra-thing"]\n'
                                         '[dependency-groups]\ndocs = ["top"]\n')
        below = self.folder / "src"
        below.mkdir()
        self.assert_ok(self.call("sync", "--extra", "more", "--group", "docs", cwd=below))
        self.assertEqual(set(self.installed()), {"low", "extra-thing", "top"})

    def test_options_of_choosing_count_also_where_a_lock_is_up_to_date(self):
        self.add("low", "3.0rc1")
        self.write_project(["low"])
        self.assert_ok(self.call("lock"))
        self.assertEqual(self.locked("default"), {"low": "2.0"})
        for stay in ("--frozen", "--locked"):
            self.assert_fails(self.call("sync", stay, "--pre"), 2, "--pre has no effect with " + stay)
        self.assert_ok(self.call("lock", "--pre", "-P", "low"))
        self.assertEqual(self.locked("default"), {"low": "3.0rc1"})

    def test_a_dry_run_changes_nothing(self):
        self.write_project(["top"])
        done = self.assert_ok(self.call("sync", "--dry-run", "--json")).json
        self.assertEqual({one["name"] for one in done["installed"]}, {"top", "low"})
        self.assertFalse(self.environment.exists())
        self.assertFalse(self.lock_file.exists())
        self.assert_ok(self.call("sync"))
        self.write_project(["low"])
        done = self.assert_ok(self.call("sync", "--dry-run", "--json")).json
        self.assertEqual([one["name"] for one in done["removed"]], ["top"])
        self.assertEqual(set(self.installed()), {"top", "low"})

    def test_from_a_folder_below(self):
        self.write_project(["low"])
        below = self.folder / "src" / "deep"
        below.mkdir(parents=True)
        self.assert_ok(self.call("sync", cwd=below))
        self.assertTrue(self.environment.exists())
        self.assertEqual(set(self.installed()), {"low"})

    def test_a_build_that_another_program_put_in_its_place(self):
        self.write_project(["low"])
        self.assert_ok(self.call("sync"))
        self.assert_ok(self.call("install", "low==1.0", "--python", self.environment))
        self.assert_ok(self.call("sync"))
        self.assertEqual(self.installed(), {"low": "2.0"})

    def test_an_index_that_is_gone(self):
        self.write_project(["top"])
        self.assert_ok(self.call("sync"))
        shutil.rmtree(self.environment)
        self.index.folder.rename(self.root / "elsewhere")
        self.assert_ok(self.call("sync", "--frozen"))
        self.assertEqual(set(self.installed()), {"top", "low"})

    def test_a_hash_that_changed_on_the_index(self):
        self.write_project(["low"])
        self.assert_ok(self.call("lock"))
        file = self.index.folder / "low" / "low-2.0-py3-none-any.whl"
        file.write_bytes(file.read_bytes()[:-1] + b"x")
        self.assert_fails(self.call("sync"), 1, "low-2.0-py3-none-any.whl")
        self.assertEqual(self.installed(), {})

    def test_locks_that_are_none(self):
        self.write_project(["low"])
        self.assert_ok(self.call("lock"))
        good = self.lock_file.read_text()
        for text, words in ((good.replace("schema = 1", "schema = 2"), ("schema",)),
                            ("<<<<<<< HEAD\n" + good, ("merge", "variant lock")),
                            (good.replace('version = "2.0"', 'version = "x"'), ("version",)),
                            (good[: len(good) // 2], ())):
            with self.subTest(text[:60]):
                self.lock_file.write_text(text)
                for command in ("sync", "verify", "lock"):
                    self.assert_fails(self.call(command), 2, "axle.lock", *words)
                self.assertEqual(self.lock_file.read_text(), text)
        self.assert_ok(self.call("lock", "--upgrade"))
        self.assertEqual(self.lock_file.read_text(), good)


class Edits(ProjectCase):
    """add and remove end with an environment that follows."""

    def setUp(self):
        super().setUp()
        self.add("low", "1.0")
        self.add("top", "1.0", requires=["low"])
        self.add("tool", "1.0")
        self.add("other", "1.0")

    def test_what_is_added_is_installed_and_what_is_removed_goes(self):
        self.write_project([])
        added = self.assert_ok(self.call("add", "top", "--json")).json
        self.assertEqual({one["name"] for one in added["sync"]["installed"]}, {"top", "low"})
        self.assertEqual(added["sync"]["environment"], str(self.environment))
        self.assertEqual(set(self.installed()), {"top", "low"})
        text = self.assert_ok(self.call("add", "other"))
        self.assertIn("+ other 1.0", text.out)
        self.assertIn("checked", text.err)
        # What somebody else installed stays until something goes.
        self.assert_ok(self.call("install", "tool", "--python", self.environment))
        self.assert_ok(self.call("remove", "other"))
        self.assertEqual(set(self.installed()), {"top", "low"})
        self.assert_ok(self.call("install", "tool", "--python", self.environment))
        self.assert_ok(self.call("add", "other"))
        self.assertEqual(set(self.installed()), {"top", "low", "tool", "other"})
        self.assert_ok(self.call("verify", "--inexact"))

    def test_lists_that_are_not_wanted_otherwise(self):
        self.write_project(["low"])
        self.assert_ok(self.call("add", "--group", "docs", "tool"))
        self.assertEqual(set(self.installed()), {"low", "tool"})
        self.assert_ok(self.call("add", "--extra", "fast", "other"))
        self.assertEqual(set(self.installed()), {"low", "tool", "other"})
        self.assert_ok(self.call("remove", "--extra", "fast", "other"))
        self.assertEqual(set(self.installed()), {"low"})

    def test_the_rest_of_a_group_stays(self):
        self.write_project(["low"])
        self.assert_ok(self.call("add", "--group", "docs", "tool", "other"))
        self.assert_ok(self.call("remove", "--group", "docs", "tool"))
        self.assertEqual(set(self.installed()), {"low", "other"})

    def test_a_class_that_is_not_there(self):
        self.write_project(["low"])
        before = self.pyproject.read_bytes()
        self.assert_fails(self.call("add", "tool", "--class", "nope"), 2, "no class nope", "default")
        self.assertEqual((self.pyproject.read_bytes(), self.lock_file.exists()), (before, False))

    def test_a_python_that_is_not_here(self):
        self.write_project(["low"], more='[tool.axle.machines]\nhere = { machine = "none", python = "3.99" }\n')
        failed = self.assert_fails(self.call("add", "tool"), 3, "is for Python 3.99", "are changed, the environment is not")
        self.assertEqual(set(self.locked("here")), {"low", "tool"}, str(failed))
        self.assertFalse(self.environment.exists())

    def test_without_the_environment(self):
        self.write_project([])
        for words in (["--no-sync"], ["--frozen"]):
            self.assert_ok(self.call("add", "low" if words == ["--no-sync"] else "tool", *words))
            self.assertFalse(self.environment.exists())
        self.assertEqual(set(self.locked("default")), {"low"})

    def test_a_machine_of_no_class(self):
        self.write_project([], more='[tool.axle.machines]\ntrain = "h100"\n')
        self.add_variants("gpu", "1.0", {"sm90": [("nvidia", "sm_arch", ["90_real"])]}, namespaces=("nvidia",))
        added = self.assert_ok(self.call("add", "gpu"))
        self.assertIn("no environment is changed: class train is not for this machine", added.err)
        self.assertFalse(self.environment.exists())
        self.assertEqual(set(self.locked("train")), {"gpu"})
        self.assertNotIn("sync", self.assert_ok(self.call("add", "low", "--json")).json)

    def test_an_environment_that_cannot_be_changed(self):
        """The change of the project stays: `variant sync` goes on where it ended."""
        self.write_project(["tool"])
        self.assert_ok(self.call("sync"))
        in_the_way = next(self.environment.rglob("site-packages")) / "low.py"
        in_the_way.write_text("somebody's\n")
        self.assert_fails(self.call("add", "low"), 1, "low.py", "are changed, the environment is not", "variant sync")
        self.assertIn("low", self.pyproject.read_text())
        self.assertEqual(set(self.locked("default")), {"low", "tool"})
        self.assertEqual(in_the_way.read_text(), "somebody's\n")
        again = self.assert_fails(self.call("add", "low"), 1, "low.py")
        self.assertNotIn("are changed", again.err)
        in_the_way.unlink()
        self.assert_ok(self.call("add", "low"))
        self.assertEqual(set(self.installed()), {"low", "tool"})


class PatchReleases(ProjectCase):
    """What a marker with python_full_version, or Requires-Python, tells apart."""

    def test_a_class_for_some_of_them(self):
        patch = int(subprocess.run([PYTHON, "-c", "import sys; print(sys.version_info.micro)"], check=True, capture_output=True, text=True).stdout)
        self.add("low", "1.0")
        self.add("edge", "1.0", requires=[f"low; python_full_version < '{VERSION}.{patch + 5}'"])
        self.write_project(["edge"])
        self.assert_ok(self.call("sync"))
        self.assertEqual(set(self.installed()), {"edge", "low"})
        self.assertEqual(self.lock()["class"][0]["python-releases"], f"<{VERSION}.{patch + 5}")
        text = self.lock_file.read_text()
        self.lock_file.write_text(text.replace(f"<{VERSION}.{patch + 5}", f">={VERSION}.{patch + 1}"))
        failed = self.assert_fails(self.call("sync"), 3, f"is for Python {VERSION} (>={VERSION}.{patch + 1})", "variant lock --upgrade")
        self.assertIn("rm -r", failed.err)
        self.assert_fails(self.call("verify"), 4, f"Python {VERSION} (>={VERSION}.{patch + 1})")
        self.assert_ok(self.call("lock", "--upgrade"))
        self.assertEqual(self.lock_file.read_text(), text)
        self.lock_file.write_text(text.replace(f"<{VERSION}.{patch + 5}", "new"))
        self.assert_fails(self.call("sync"), 2, "axle.lock", "python-releases")

    def test_the_project_allows_some_of_them(self):
        patch = int(subprocess.run([PYTHON, "-c", "import sys; print(sys.version_info.micro)"], check=True, capture_output=True, text=True).stdout)
        self.add("low", "1.0")
        self.write_project(["low"], head=f'requires-python = ">={VERSION}.{patch + 1}"\n')
        self.assert_fails(self.call("lock"), 1, f"it is for Python {VERSION}.{patch}", f"requires-python is >={VERSION}.{patch + 1}")
        self.write_project(["low"], head=f'requires-python = ">={VERSION}.{patch}"\n')
        self.assert_ok(self.call("sync"))
        self.assertEqual(self.lock()["class"][0].get("python-releases"), f">={VERSION}.{patch}" if patch else None)
        # Of another minor release the newest that is allowed: what only a newer one needs is not locked.
        self.add("edge", "1.0", requires=["low; python_full_version >= '3.99.10'"])
        self.write_project(["edge"], head='requires-python = "<3.99.5"\n', more='[tool.axle.machines]\nnext = { machine = "none", python = "3.99" }\n')
        self.assert_ok(self.call("lock"))
        self.assertEqual((set(self.locked("next")), self.lock()["class"][0]["python-releases"]), ({"edge"}, "<3.99.10,<3.99.5"))

    def test_most_locks_do_not_name_them(self):
        self.add("low", "1.0")
        self.write_project(["low"])
        self.assert_ok(self.call("lock"))
        self.assertNotIn("python-releases", self.lock_file.read_text())


class Classes(ProjectCase):
    def setUp(self):
        super().setUp()
        self.add("plain", "1.0")
        self.add("cuda-runtime", "13.0")
        self.add_variants("fast", "1.0", {"sm90": [("nvidia", "sm_arch", ["90_real"]),
                                                  ("nvidia", "cuda_version_lower_bound", ["12.8"])],
                                         "sm61": [("nvidia", "sm_arch", ["61_real"])]},
                          requires={"sm90": ["cuda-runtime"]}, namespaces=("nvidia",))

    machines = '[tool.axle.machines]\nlaptop = "none"\ntrain = "h100"\nold = "gtx1080ti"\n'

    def test_each_class_has_its_build(self):
        self.write_project(["fast", "plain"], more=self.machines)
        answer = self.assert_ok(self.call("lock", "--coverage", "--json")).json
        builds = {one["name"]: {row["variant"]: row["classes"] for row in one["builds"]} for one in answer["coverage"]}
        self.assertEqual(builds["fast"], {"null": ["laptop"], "sm90": ["train"], "sm61": ["old"]})
        self.assertEqual(builds["plain"], {None: ["laptop", "train", "old"]})
        self.assertEqual(builds["cuda-runtime"], {None: ["train"]})
        text = self.assert_ok(self.call("lock", "--coverage")).out
        self.assertIn("sm_arch", text)
        for name in ("laptop", "train", "old"):
            self.assertIn(name, text)
        holds = {one["name"]: one["holds"] for one in answer["classes"]}
        self.assertIn("driver >= ", holds["train"])
        self.assertIn("sm = 90", holds["train"])

    def test_what_is_locked_for_a_machine_is_what_install_for_it_gives(self):
        self.write_project(["fast", "plain"], more=self.machines)
        self.assert_ok(self.call("lock"))
        for name, machine in (("laptop", "none"), ("train", "h100"), ("old", "gtx1080ti")):
            with self.subTest(name):
                rows = self.assert_ok(self.call("resolve", "fast", "plain", "--for", machine, "--json")).json["packages"]
                self.assertEqual({row["wheel"] for row in rows},
                                 {one["wheel"] for one in self.lock()["package"] if name in one.get("classes", [name])})

    def test_this_machine_takes_its_class(self):
        self.write_project(["fast", "plain"], more=self.machines)
        done = self.assert_ok(self.call("sync", "--json"))
        self.assertEqual(done.json["class"], "laptop", str(done))
        self.assertEqual(set(self.installed()), {"fast", "plain"})
        self.assert_fails(self.call("sync", "--class", "train"), 3, "class train is not for this machine", "sm = 90")
        self.assert_fails(self.call("sync", "--class", "trian"), 2, "trian", "train")
        self.assert_fails(self.call("sync", "--class", "laptop", "--class", "train"), 2, "one class")
        self.assertEqual(set(self.installed()), {"fast", "plain"})

    def test_no_class_is_for_this_machine(self):
        self.write_project(["fast"], more='[tool.axle.machines]\ntrain = "h100"\nold = "gtx1080ti"\n')
        self.assert_ok(self.call("lock"))
        failed = self.assert_fails(self.call("sync"), 3, "no class", "variant lock")
        self.assertRegex(failed.err, "class old needs .*sm in {61, 62, mixed}")
        self.assertFalse(self.environment.exists())

    def test_a_profile_that_changed(self):
        profile = self.folder / "node.json"
        self.assert_ok(self.call("detect", "--for", "none", "--profile", profile))
        self.write_project(["fast"], more='[tool.axle.machines]\nnode = "node.json"\n')
        self.assert_ok(self.call("lock"))
        self.assert_ok(self.call("lock", "--check"))
        profile.unlink()
        self.assert_ok(self.call("detect", "--for", "h100", "--profile", profile))
        self.assert_fails(self.call("lock", "--check"), 4)

    def test_environments_by_class(self):
        self.write_project(["fast"], more=self.machines + '[tool.axle]\nenvironments = "by-class"\n')
        self.assert_ok(self.call("sync"))
        self.assertEqual(set(self.installed(self.folder / ".venv-laptop")), {"fast"})
        self.assertFalse(self.environment.exists())

    def test_another_python(self):
        other = "3.9" if VERSION != "3.9" else "3.10"
        self.write_project(["plain"], more=f'[tool.axle.machines]\nold = {{ machine = "none", python = "{other}" }}\n'
                                           'here = "this"\n')
        self.assert_ok(self.call("lock"))
        self.assertEqual([one["python"] for one in self.lock()["class"]], [other, VERSION])
        self.assertEqual(self.assert_ok(self.call("sync", "--json")).json["class"], "here")


class Run(ProjectCase):
    def setUp(self):
        super().setUp()
        self.add("low", "1.0")
        self.write_project(["low"])

    def test_a_command_runs_in_the_environment(self):
        done = self.assert_ok(self.call("run", "python", "-c", "import low, sys; print(low.VERSION, *sys.argv[1:])",
                                        "--json", "-q", "a b"))
        self.assertEqual(done.out, "1.0 --json -q a b\n")
        self.assertEqual(self.assert_ok(self.call("run", "--", "python", "-c", "import os; print(os.environ['VIRTUAL_ENV'])")).out,
                         f"{self.environment}\n")
        self.assertEqual(self.call("run", "sh", "-c", "exit 7").code, 7)
        self.assertEqual(self.call("run", "sh", "-c", "kill -9 $$").code, -9)

    def test_what_cannot_run(self):
        self.assert_fails(self.call("run"), 2, "name a command")
        self.assert_fails(self.call("run", "absent-program"), 1, "absent-program", str(self.environment))
        self.write_project(["absent"])
        self.assert_fails(self.call("run", "python", "-V"), 1, "absent")

    def test_without_synchronising(self):
        self.assert_ok(self.call("lock"))
        self.assert_fails(self.call("run", "--no-sync", "python", "-V"), 1, "variant sync")
        self.assert_ok(self.call("sync"))
        self.add("low", "2.0")
        self.assert_ok(self.call("lock", "--upgrade"))
        code = "import low; print(low.VERSION)"
        self.assertEqual(self.assert_ok(self.call("run", "--no-sync", "python", "-c", code)).out, "1.0\n")
        before = self.lock_file.read_bytes()
        self.write_project(["low", "absent"])
        self.assertEqual(self.assert_ok(self.call("run", "--no-sync", "python", "-c", code)).out, "1.0\n")
        self.assertEqual(self.lock_file.read_bytes(), before)
        self.write_project(["low"])
        self.assertEqual(self.assert_ok(self.call("run", "python", "-c", code)).out, "2.0\n")


class Verify(ProjectCase):
    def setUp(self):
        super().setUp()
        self.add("low", "1.0")
        self.add("tool", "1.0")
        self.write_project(["low"])
        self.assert_ok(self.call("sync"))

    def test_what_is_as_it_was_locked(self):
        done = self.assert_ok(self.call("verify", "--json")).json
        self.assertEqual((done["holds"], done["drift"], done["packages"]), (True, [], 1))
        self.assertIn("axle.lock", self.assert_ok(self.call("verify")).out)

    def test_a_file_that_was_edited(self):
        site = self.site(self.environment)
        (site / "low.py").write_text("VERSION = 'mine'\n")
        self.assertEqual(self.call("verify").code, 4)
        self.assertIn("low.py", self.call("verify").out)

    def test_a_file_that_something_was_added_to(self):
        path = self.site(self.environment) / "low.py"
        path.write_text(path.read_text() + "# mine\n")
        done = self.call("verify")
        self.assertEqual(done.code, 4, done)
        self.assertIn("low.py", done.out)
        self.assertNotIn("is what axle.lock has", done.out)

    def test_packages_that_drifted(self):
        self.assert_ok(self.call("install", "tool", "--python", self.environment))
        self.assert_ok(self.call("uninstall", "low", "--python", self.environment))
        done = self.call("verify", "--json")
        self.assertEqual(done.code, 4)
        self.assertEqual([(one["kind"], one["package"]) for one in done.json["drift"]],
                         [("missing", "low"), ("extraneous", "tool")])
        self.assertEqual([one["kind"] for one in self.call("verify", "--inexact", "--json").json["drift"]], ["missing"])
        self.assert_ok(self.call("sync"))
        self.assert_ok(self.call("verify"))

    def test_before_anything_is_synchronised(self):
        shutil.rmtree(self.environment)
        self.assert_fails(self.call("verify"), 1, "variant sync")


if __name__ == "__main__":
    unittest.main()
