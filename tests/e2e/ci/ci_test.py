"""`variant ci`: the files of GitHub, GitLab and make, read by other readers than ours and run where that is possible."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from ci_case import CiCase, HOSTILE, quoted

try:
    import yaml
except ImportError:
    yaml = None

SYSTEMS = ("github", "gitlab", "slurm", "make")
MATRIX = [("null", "x86_64"), ("v3", "x86_64"), ("v4", "x86_64"), ("plain", "x86_64")]
CI = """
[tool.axle.ci]
lock-files = [{lock}]
index = {index}
"""


def github_value(text):
    """What GitHub makes of a text: the one expression in it that may be there is the one that stands for its own
    beginning. Any other is a mistake of ours."""
    pieces = re.split(r"\$\{\{ '(\$\{\{)' \}\}", text)
    if any("${{" in piece for piece in pieces[::2]):
        raise AssertionError(f"an expression: {text}")
    return "".join(pieces)


def gitlab_value(text):
    if re.search(r"(?<!\$)(?:\$\$)*\$(?!\$)", text):
        raise AssertionError(f"a variable: {text}")
    return text.replace("$$", "$")


class FilesTest(CiCase):
    def test_a_regenerated_file_is_byte_identical_from_everywhere(self):
        for system in SYSTEMS:
            with self.subTest(system):
                first = self.variant("ci", system, self.project, "--out", "-")
                self.assert_ok(first)
                self.assertEqual(self.variant("ci", system, ".", "--out", "-", cwd=self.project).out, first.out)
                self.assertEqual(self.variant("ci", system, f"{self.project}/", "--out", "-", cwd="/").out, first.out)
                self.assertNotIn(str(self.root), first.out)
                moved = self.root / "elsewhere"
                shutil.copytree(self.repository, moved, dirs_exist_ok=True)
                self.assertEqual(self.variant("ci", system, moved / "demo", "--out", "-").out, first.out)

    def test_where_files_go(self):
        for system, name in (("github", ".github/workflows/variants.yml"), ("gitlab", ".gitlab/variants.yml"),
                             ("slurm", "demo/variants.slurm"), ("make", "demo/variants.mk")):
            with self.subTest(system):
                result = self.assert_ok(self.variant("ci", system, self.project, "--json"))
                self.assertEqual(result.json["file"], str(self.repository / name))
                self.assert_ok(self.variant("ci", system, self.project, "--check"))
                self.assertTrue(self.assert_ok(self.variant("ci", system, self.project, "--check", "--json")).json["up_to_date"])

    def test_a_stale_file_is_exit_code_4_with_what_differs(self):
        for system in SYSTEMS:
            with self.subTest(system):
                self.write_project()
                file = self.write_ci(system)
                before = file.read_bytes()
                self.write_project('[[tool.axle.ci.jobs]]\nlabels = ["v4"]\nsmoke-test = "required"\n')
                result = self.variant("ci", system, self.project, "--out", file, "--check")
                self.assert_fails(result, 4, str(file), "is not what the project's table makes", f"variant ci {system}", "--out")
                self.assertIn("-", result.out)
                self.assertIn("required", result.out)
                self.assertEqual(file.read_bytes(), before, "--check wrote something")
                result = self.variant("ci", system, self.project, "--out", file, "--check", "--json")
                self.assertEqual(result.code, 4)
                self.assertTrue(any("required" in line for line in result.json["difference"]))
                self.assertEqual(result.json["error"]["kind"], "mismatch")
                self.write_ci(system)
                self.assert_ok(self.variant("ci", system, self.project, "--out", file, "--check"))

    def test_a_missing_file_is_stale(self):
        self.assert_fails(self.variant("ci", "make", self.project, "--check"), 4, "there is no such file", "variant ci make")
        self.assertFalse((self.project / "variants.mk").exists())

    def test_bad_input(self):
        self.assert_fails(self.variant("ci", "make", self.root / "none"), 1, "pyproject.toml")
        self.assert_fails(self.variant("ci", "make", self.project, "--check", "--out", "-"), 2, "--check")
        self.assert_fails(self.variant("ci", "jenkins", self.project), 2)
        self.write_project('[tool.axle.ci]\nindx = "public"\n')
        self.assert_fails(self.variant("ci", "make", self.project), 1, "pyproject.toml", "indx")
        self.write_project('[tool.axle.ci]\nlock-files = ["nope.lock"]\n')
        for system in ("github", "make"):
            self.assert_fails(self.variant("ci", system, self.project), 1, "pyproject.toml:", "lock-files", "the project has no file \"nope.lock\"")
        for name in "abc":
            (self.project / name).write_text("locked\n")
        self.write_project("[tool.axle.ci]\nlock-files = [\"a\", \"b\", \"c\"]\n")
        self.assert_fails(self.variant("ci", "gitlab", self.project), 1, "lock-files")
        self.assert_ok(self.variant("ci", "github", self.project, "--out", "-"))
        for name in ("a\nb", "a\u2028b", "a\u0085b"):
            bad = self.root / name
            self.write_project(folder=bad / "demo")
            (bad / ".git").mkdir()
            shutil.move(bad / "demo", bad / name)
            self.assert_fails(self.variant("ci", "make", bad / name), 1, "control characters")


class HostileCase(CiCase):
    """Everything that can be any text is HOSTILE."""

    def setUp(self):
        super().setUp()
        self.project = self.repository / HOSTILE
        self.index = "index " + HOSTILE
        self.write_project(CI.format(lock=quoted(HOSTILE), index=quoted(self.index)) +
                           f"runs-on = [{quoted(HOSTILE)}]\ntags = [{quoted(HOSTILE)}]\nimage = {quoted(HOSTILE)}\n")
        (self.project / HOSTILE).write_text("locked\n")


@unittest.skipUnless(yaml, "python3-yaml is not installed")
class YamlTest(HostileCase):
    def scripts(self, system, text):
        """Every script that a shell reads, as it gets it."""
        document = yaml.safe_load(text)
        if system == "github":
            return [github_value(step["run"]) if "matrix" not in step["run"] else step["run"]
                    for job in document["jobs"].values() for step in job["steps"] if "run" in step]
        return [entry for job in document.values() if isinstance(job, dict) for entry in job.get("script", [])]

    def test_github(self):
        text = self.write_ci("github").read_text()
        document = yaml.safe_load(text)
        self.assertEqual(list(document), ["name", "on", "permissions", "defaults", "env", "jobs"])
        self.assertEqual(document["permissions"], {"contents": "read"})
        self.assertEqual(list(document["jobs"]), ["check", "build-x86_64", "publish"])
        self.assertEqual(document["jobs"]["publish"]["needs"], ["build-x86_64"])
        self.assertEqual(github_value(document["env"]["VARIANT_PROJECT"]), HOSTILE)
        for name, job in document["jobs"].items():
            self.assertRegex(name, "^[A-Za-z_][A-Za-z0-9_-]*$")
            self.assertEqual(job["permissions"], {"contents": "read"})
            self.assertEqual([github_value(one) for one in job["runs-on"]], [HOSTILE])
            for step in job["steps"]:
                self.assertRegex(step.get("uses", "a/b@" + "0" * 40), "^[a-z-]+/[a-z-]+@[0-9a-f]{40}$")
        build = document["jobs"]["build-x86_64"]
        rows = build["strategy"]["matrix"]["include"]
        self.assertEqual([(row["VARIANT_LABEL"], row["VARIANT_ARCH"]) for row in rows], MATRIX)
        self.assertEqual({name: f"${{{{ matrix.{name} }}}}" for name in rows[0]},
                         {name: value for name, value in build["env"].items() if name.startswith("VARIANT_")})
        self.assertEqual(len({row["VARIANT_ROW"] for row in rows}), len(rows))
        self.assertNotIn("secrets.", text)

    def test_keys_name_the_project(self):
        for system in ("github", "gitlab"):
            document = yaml.safe_load(self.write_ci(system).read_text())
            build = (document["jobs"]["build-x86_64"]["steps"] if system == "github"
                     else document["variants: build-x86_64"]["cache"])
            self.assertEqual(str(build).count("VARIANT_NAME"), 2 if system == "github" else 1)
            names = document["env"] if system == "github" else document["variables"]
            self.assertEqual(names["VARIANT_NAME"], "demo")

    def test_secrets_are_known_to_the_publishing_step_alone(self):
        self.write_project('[tool.axle.ci]\nrepository-url = "https://packages.example/upload/"\n')
        document = yaml.safe_load(self.write_ci("github").read_text())
        for name, job in document["jobs"].items():
            for step in job["steps"]:
                holds = "secrets." in str(step)
                self.assertEqual(holds, (name, step.get("name")) == ("publish", "Publish"), step)
                self.assertNotIn("secrets.", step.get("run", ""))

    def test_gitlab(self):
        document = yaml.safe_load(self.write_ci("gitlab").read_text())
        self.assertEqual(gitlab_value(document["variables"]["VARIANT_PROJECT"]), HOSTILE)
        build, publish = document["variants: build-x86_64"], document["variants: publish"]
        self.assertEqual([(row["VARIANT_LABEL"], row["VARIANT_ARCH"]) for row in build["parallel"]["matrix"]], MATRIX)
        for row in build["parallel"]["matrix"]:
            for name, value in row.items():
                self.assertIsInstance(value, str, name)
                gitlab_value(value)
        self.assertEqual([one["job"] for one in publish["needs"]], ["variants: check", "variants: build-x86_64"])
        self.assertEqual(build["cache"]["key"]["files"], [f"{HOSTILE}/{HOSTILE}"])
        self.assertEqual(gitlab_value(build["image"]), HOSTILE)
        self.assertEqual([gitlab_value(one) for one in build["tags"]], [HOSTILE])

    def test_scripts_run_nothing_of_the_table(self):
        """They are parsed, and those that begin nothing else are run as the runner would."""
        for system in ("github", "gitlab"):
            scripts = self.scripts(system, self.write_ci(system).read_text())
            self.assertGreater(len(scripts), 5)
            for script in scripts:
                done = subprocess.run(["sh", "-n"], input=script, text=True, capture_output=True)
                self.assertEqual(done.returncode, 0, done.stderr + script)
            words = self.root / "words"
            recorder = self.root / "recorder"
            recorder.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >>"{words}"\n')
            recorder.chmod(0o755)
            dist = self.root / "dist"
            dist.mkdir(exist_ok=True)
            for number in range(len(MATRIX)):
                (dist / f"{number}.whl").write_text("")
            for script in scripts:
                if "check" in script or "index build" in script:
                    self.call("sh", "-euc", script,
                              env=self.job_environment(VARIANT=str(recorder), VARIANT_DIST=str(dist)))
            said = words.read_text().splitlines()
            self.assertIn("--out=" + self.index, said)
            self.assertIn(HOSTILE, said)
            words.unlink()
        self.assert_nothing_ran()


@unittest.skipUnless(shutil.which("make"), "make is not installed")
class MakeTest(HostileCase):
    def wheels(self, folder):
        return sorted(path.name for path in folder.glob("*.whl"))

    def test_make_builds_tests_and_publishes(self):
        file = self.write_ci("make")
        done = self.call("make", "-n", "-f", file, "publish")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertFalse(self.out.exists())
        done = self.call("make", "-j2", "-f", file, "publish")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        names = ["demo-1.0-py3-none-any-null.whl", "demo-1.0-py3-none-any-v3.whl", "demo-1.0-py3-none-any-v4.whl",
                 "demo-1.0-py3-none-any.whl"]
        self.assertEqual(self.wheels(self.out / "dist/demo"), names)
        published = sorted(path.name for path in (self.repository / self.index).rglob("*.whl"))
        self.assertEqual(published, names)
        self.assert_nothing_ran()

    def test_publishing_removes_nothing_but_its_own_wheels(self):
        """OUT may be a folder that has a "dist" of another kind."""
        self.write_project(CI.format(lock="", index='"index"'))
        kept = self.out / "dist/demo-1.0.tar.gz"
        kept.parent.mkdir(parents=True)
        kept.write_text("")
        old = self.out / "dist/demo/demo-0.9-py3-none-any.whl"
        old.parent.mkdir()
        old.write_text("")
        (self.out / "dist/demo/notes").write_text("")
        done = self.call("make", "-f", self.write_ci("make"), "publish")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertTrue(kept.exists())
        self.assertTrue((self.out / "dist/demo/notes").exists())
        self.assertFalse(old.exists())

    def test_two_projects_in_one_place(self):
        other = self.repository / "other"
        self.write_project(CI.format(lock="", index='"index"'))
        self.write_project(CI.format(lock="", index='"index"'), folder=other)
        table = (other / "pyproject.toml").read_text().replace('name = "demo"', 'name = "Other.Demo"')
        (other / "pyproject.toml").write_text(table)
        for project in (self.project, other, self.project):
            done = self.call("make", "-f", self.write_ci("make", project), "publish")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for place in ("wheels", "cache", "dist"):
            self.assertEqual(sorted(path.name for path in (self.out / place).iterdir()), ["demo", "other-demo"])
        self.assertEqual(len(self.wheels(self.out / "dist/other-demo")), 4)

    def test_a_label_that_is_a_folder_of_its_own(self):
        self.write_project('[tool.axle.axes.gpu]\nany = {}\n".." = { properties.nvidia.sm_arch = ["90_real"] }\n')
        self.assert_fails(self.variant("ci", "make", self.project), 1, 'variant ".."', "choose another label")

    def test_a_module_that_cannot_be_imported_stops_before_publishing(self):
        self.write_project(CI.format(lock="", index='"index"'), code="raise ImportError('broken on purpose')\n")
        done = self.call("make", "-k", "-f", self.write_ci("make"), "publish")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("broken on purpose", done.stdout + done.stderr)
        self.assertFalse((self.repository / "index").exists())

    def test_a_machine_of_another_class_is_said_or_is_a_failure(self):
        # Built for a GPU that machines of tests do not have.
        row = '[tool.axle.axes.gpu]\nany = {}\nsm120 = { properties.nvidia.sm_arch = ["120_real"] }\n'
        if "120_real" in self.variant("properties", "--json").out:
            self.skipTest("this machine has what no machine should have here")
        self.write_project(row)
        done = self.call("make", "-f", self.write_ci("make"), "variant-sm120")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("skipped, this machine is of another class than sm120 is for", done.stdout)
        self.write_project(row + '[tool.axle.ci]\nsmoke-test = "required"\n')
        done = self.call("make", "-f", self.write_ci("make"), "variant-sm120")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("no wheel of demo 1.0 fits this machine", done.stderr)

    def test_an_emulated_machine(self):
        if not shutil.which("qemu-x86_64") or os.uname().machine != "x86_64":
            self.skipTest("this needs an x86-64 machine with qemu-x86_64 (Debian: qemu-user)")
        emulated = '[tool.axle.ci]\nsmoke-test = "emulated"\npython = "/usr/bin/python3"\n'
        self.write_project(emulated)
        done = self.call("make", "-f", self.write_ci("make"), "variant-v3")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.write_project(emulated, code="raise ImportError('broken on purpose')\n")
        done = self.call("make", "-f", self.write_ci("make"), "variant-v3")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("broken on purpose", done.stdout + done.stderr)

    def test_what_decides_the_result_decides_the_cache(self):
        def caches(job):
            return {path.name for path in (self.out / "cache/demo" / job).iterdir()}

        self.write_project('[tool.axle.ci]\nlock-files = ["lock"]\n')
        (self.project / "lock").write_text("1\n")
        file = self.write_ci("make")
        self.assertEqual(self.call("make", "-f", file, "variant-v3", "variant-null").returncode, 0)
        first = caches("v3")
        self.assertEqual(self.call("make", "-f", file, "variant-v3").returncode, 0)
        self.assertEqual(caches("v3"), first)
        (self.project / "lock").write_text("2\n")
        null = caches("null")
        self.assertEqual(self.call("make", "-f", file, "variant-v3").returncode, 0)
        second = caches("v3")
        self.assertEqual((len(second), second & first), (1, set()), "the older one is removed, the new one is another")
        self.assertEqual(caches("null"), null)
        (self.project / "lock").unlink()
        done = self.call("make", "-f", file, "variant-v3")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("cannot be read", done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
