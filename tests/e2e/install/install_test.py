"""The life of a package: found, chosen, explained, installed, upgraded, listed, removed."""

import hashlib
import json
import os
import pathlib
import shutil
import stat
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import (VARIANT, X86_PROVIDER, Index, TestCase, Wheel, levels_document, publish_levels, tree,
                     variant_document)


class Choice(TestCase):
    def setUp(self):
        super().setUp()
        self.make_venv()
        self.index = Index(self.root / "index")

    def test_a_machine_gets_the_best_level_that_it_has(self):
        publish_levels(self.index)
        for machine, label in [("x86_64:v4", "v4"), ("x86_64:v3", "v3"), ("x86_64:v1", "v1")]:
            result = self.assert_ok(self.variant("resolve", "demo", "-i", self.index.url, "--python", self.venv,
                                                 "--for", machine, "--json"))
            self.assertEqual(result.json["packages"][0]["variant"], label)

    def test_what_is_installed_is_what_was_chosen_and_it_runs(self):
        publish_levels(self.index)
        result = self.assert_ok(self.install("demo", "--json", index=self.index))
        label = result.json["packages"][0]["variant"]
        self.assertIn(label, ["v1", "v2", "v3", "v4"])
        self.assertEqual(self.python("import demo; print(demo.VARIANT)"), label)
        self.assertEqual(self.installed(), {"demo": ("1.0", label)})
        self.assert_neighbours_work()

    def test_explain_names_each_variant_with_property_and_fact(self):
        publish_levels(self.index)
        result = self.assert_ok(self.install("demo", "--explain", "--for", "x86_64:v2", index=self.index))
        self.assertRegex(result.out, r"chosen\s+v2")
        self.assertRegex(result.out, r"rejected\s+v4")
        self.assertIn("x86_64 :: level :: v4", result.out)
        self.assertRegex(result.out, r"fits\s+null")

    def test_a_plain_wheel_is_taken_when_variants_are_off_or_broken(self):
        publish_levels(self.index)
        self.assert_ok(self.install("demo", "--no-variants", index=self.index))
        self.assertEqual(self.installed(), {"demo": ("1.0", None)})

    def test_no_variants_of_one_package_leaves_the_others(self):
        publish_levels(self.index)
        publish_levels(self.index, name="other")
        self.assert_ok(self.install("demo", "other", "--no-variants=demo", "--for", "x86_64:v3", index=self.index))
        self.assertEqual(self.installed(), {"demo": ("1.0", None), "other": ("1.0", "v3")})

    def test_a_pinned_variant_is_taken_or_refused_with_the_known_ones(self):
        publish_levels(self.index)
        self.assert_ok(self.install("demo", "--variant", "demo=null", index=self.index))
        self.assertEqual(self.installed(), {"demo": ("1.0", "null")})
        result = self.install("demo", "--reinstall", "--variant", "demo=v9", index=self.index)
        self.assert_fails(result, 3, "v9", "v4")
        self.assertEqual(self.installed(), {"demo": ("1.0", "null")})

    def test_the_link_variant_install_installs(self):
        publish_levels(self.index)
        link = self.root / "variant-install"
        link.symlink_to(VARIANT)
        self.assert_ok(self.variant("demo", "-i", self.index.url, "--python", self.venv, program=link))
        self.assertIn("demo", self.installed())

    def test_a_fleet_gets_one_answer_a_machine(self):
        document = variant_document({"cuda": [("nvidia", "cuda_version_lower_bound", ["12.0"])]}, ["nvidia"])
        self.index.add_wheel(Wheel("demo", "1.0", "cuda", document))
        self.index.add_variants("demo", "1.0", document)
        result = self.variant("resolve", "demo", "-i", self.index.url, "--python", self.venv, "--json",
                              "--for", "h100", "--for", "none")
        self.assertEqual(result.code, 3, str(result))
        h100, none = result.json["machines"]
        self.assertEqual(h100["packages"][0]["variant"], "cuda")
        self.assertEqual(none["machine"], "none")
        self.assertEqual(none["error"]["kind"], "unsupported")
        self.assert_fails(self.install("demo", "--for", "h100", "--for", "none", index=self.index), 2, "one machine")

    def test_rank_reads_a_variants_file_a_wheel_and_given_lists(self):
        document = levels_document()
        path = self.root / "demo-1.0-variants.json"
        path.write_text(json.dumps(document))
        lists = self.root / "lists.json"
        lists.write_text(json.dumps({"x86_64": {"level": ["v2", "v1"]}}))
        result = self.assert_ok(self.variant("rank", path, "--supported", lists, "--json"))
        self.assertEqual([one["label"] for one in result.json["ranked"]], ["v2", "v1", "null"])
        self.assertEqual(result.json["ranked"][0]["keys"], [[0, 0, 0]])
        self.assertEqual({one["label"] for one in result.json["rejected"]}, {"v3", "v4"})
        only = variant_document({"v4": [("x86_64", "level", ["v4"])]})
        wheel = Wheel("demo", "1.0", "v4", only).write(self.root)
        result = self.variant("rank", wheel, "--supported", lists, "--json")
        self.assertEqual(result.code, 3)
        self.assertEqual(result.json["ranked"], [])
        self.assertEqual(result.json["rejected"][0]["property"], "x86_64 :: level :: v4")
        # What the release itself carries counts, unless the file names its namespace.
        own = variant_document({"v2": [("x86_64", "level", ["v2"])], "fast": [("acme", "speed", ["fast"])]}, ["x86_64", "acme"],
                               {"acme": {"static-properties": {"speed": ["fast"]}}, "x86_64": X86_PROVIDER})
        (self.root / "own.json").write_text(json.dumps(own))
        for given, ranked in (({"x86_64": {"level": ["v2"]}}, {"v2", "fast"}), ({}, {"fast"}), ({"acme": {}}, set()),
                              ({"acme": {"speed": ["slow"]}, "x86_64": {"level": ["v2"]}}, {"v2"})):
            lists.write_text(json.dumps(given))
            answer = self.variant("rank", self.root / "own.json", "--supported", lists, "--json")
            self.assertEqual({one["label"] for one in answer.json["ranked"]}, ranked, str(answer))
        # Where no provider was asked, its facts are no reason.
        document["$schema"] = "https://variants-schema.wheelnext.dev/peps/825/v0.1.1.json"
        del document["providers"]
        path.write_text(json.dumps(document))
        nameless = self.variant("rank", path, "--for", "x86_64:v4", "--json").json["rejected"]
        self.assertEqual(len(nameless), 4)
        for one in nameless:
            self.assertNotIn("the CPU has", one["reason"])
            self.assertIn("does not name a provider", one["reason"])
        self.assertEqual(result.json["error"]["kind"], "unsupported")


class Life(TestCase):
    def setUp(self):
        super().setUp()
        self.make_venv()
        self.index = Index(self.root / "index")

    def test_upgrade_replaces_and_uninstall_leaves_nothing(self):
        before = tree(self.venv)
        self.index.add_wheel(Wheel("demo", "1.0", files={"demo.py": "V = 1\n", "old_only.py": ""}))
        self.assert_ok(self.install("demo", index=self.index))
        self.index.add_wheel(Wheel("demo", "2.0", files={"demo.py": "V = 2\n", "demo_more/__init__.py": ""}))
        self.assertIn("demo 1.0", self.assert_ok(self.install("demo", index=self.index)).out)
        self.assertEqual(self.installed(), {"demo": ("1.0", None)})
        result = self.assert_ok(self.install("demo", "-U", "--json", index=self.index))
        self.assertEqual(result.json["removed"][0]["version"], "1.0")
        self.assertEqual(result.json["installed"][0]["version"], "2.0")
        self.assertEqual(self.python("import demo; print(demo.V)"), "2")
        self.assertFalse((self.site() / "old_only.py").exists())
        self.assert_ok(self.variant("uninstall", "demo", "--python", self.venv))
        self.assertEqual({path for path in tree(self.venv) if ".axle" not in path}, set(before))
        self.assert_fails(self.variant("uninstall", "demo", "--python", self.venv), 1, "demo", "not installed")

    def test_dependencies_markers_extras_and_scripts(self):
        self.index.add_wheel(Wheel("app", "1.0", requires=[
            "lib>=1", "never; python_version < '3'", "plot; extra == 'plot'"],
            files={"app.py": "def main():\n    print('hello from app')\n",
                   "app-1.0.dist-info/entry_points.txt": "[console_scripts]\napp = app:main\n"},
            extra_metadata="Provides-Extra: plot\n"))
        for name in ("lib", "plot"):
            self.index.add_wheel(Wheel(name, "1.5"))
        self.assert_ok(self.install("app[plot]", index=self.index))
        self.assertEqual(set(self.installed()), {"app", "lib", "plot"})
        done = subprocess.run([self.venv / "bin/app"], capture_output=True, text=True, env=self.env)
        self.assertEqual(done.stdout, "hello from app\n", done.stderr)
        self.assert_ok(self.variant("check", "--python", self.venv))
        self.assert_ok(self.variant("uninstall", "lib", "--python", self.venv))
        self.assert_fails(self.variant("check", "--python", self.venv), 1, "app 1.0", "lib")
        self.assert_ok(self.install("app[plot]", index=self.index))
        self.assert_neighbours_work()

    def test_a_dry_run_changes_nothing(self):
        self.index.add_wheel(Wheel("demo", "1.0"))
        before = tree(self.venv)
        result = self.assert_ok(self.install("demo", "--dry-run", "--json", index=self.index))
        self.assertEqual(result.json["installed"][0]["name"], "demo")
        self.assertTrue(result.json["dry_run"])
        self.assertEqual(tree(self.venv), before)

    def test_a_dry_run_shows_what_is_in_the_way_and_fails_as_the_change_would(self):
        for name in ("app", "lib"):
            self.index.add_wheel(Wheel(name, "1.0", files={"shared.py": name.encode()}))
        self.assert_ok(self.install("app", index=self.index))
        before = tree(self.venv)
        foreseen = self.assert_fails(self.install("lib", "--dry-run", "--json", index=self.index), 1)
        self.assertEqual(tree(self.venv), before)
        self.assertEqual([row["name"] for row in foreseen.json["installed"]], ["lib"])
        self.assertEqual(foreseen.json["unlisted"], [])
        (conflict,) = foreseen.json["conflicts"]
        self.assertEqual((conflict["package"], conflict["owner"]), ("lib 1.0", "app 1.0"))
        self.assertTrue(conflict["path"].endswith("/shared.py"), conflict)
        done = self.assert_fails(self.install("lib", "--json", index=self.index), 1)
        self.assertEqual(done.json["error"], foreseen.json["error"])
        self.assertEqual(done.json["conflicts"], [conflict])
        self.assertNotIn("installed", done.json)
        self.assertEqual(tree(self.venv), before)

    def test_a_dry_run_of_a_removal_changes_nothing(self):
        self.index.add_wheel(Wheel("demo", "1.0"))
        self.assert_ok(self.install("demo", index=self.index))
        before = tree(self.venv)
        uninstall = ("uninstall", "demo", "--python", self.venv, "--json")
        foreseen = self.assert_ok(self.variant(*uninstall, "--dry-run")).json
        self.assertTrue(foreseen["dry_run"])
        self.assertEqual(tree(self.venv), before)
        done = self.assert_ok(self.variant(*uninstall, env={"PIP_DRY_RUN": "1"})).json  # pip's has no dry run either
        self.assertEqual(done["removed"], foreseen["removed"])
        self.assertEqual(set(self.installed()), set())

    def test_a_local_wheel_find_links_and_requirements_files(self):
        path = Wheel("demo", "1.0", requires=["lib"]).write(self.root / "wheels")
        Wheel("lib", "0.1").write(self.root / "wheels")
        self.assert_ok(self.install(path, "--no-index", "-f", self.root / "wheels"))
        self.assertEqual(set(self.installed()), {"demo", "lib"})
        freeze = self.assert_ok(self.variant("freeze", "--python", self.venv)).out
        self.assertIn("lib==0.1\n", freeze)
        self.assertIn("demo @ file://", freeze)
        self.assert_neighbours_work()
        (self.root / "requirements.txt").write_text("-f wheels\n--no-index\nlib==0.1  # pinned\n")
        other = self.make_venv(self.root / "other")
        self.assert_ok(self.variant("install", "-r", self.root / "requirements.txt", "--python", other))
        self.assertEqual(self.installed(other), {"lib": ("0.1", None)})

    def test_python_agrees_with_what_list_says(self):
        publish_levels(self.index)
        self.index.add_wheel(Wheel("lib-two", "2.0rc1"))
        self.assert_ok(self.install("demo", "lib-two==2.0rc1", index=self.index))
        ours = {name: version for name, (version, _) in self.installed().items()}
        theirs = json.loads(self.python(
            "import importlib.metadata as m, json;"
            "print(json.dumps({d.metadata['Name']: d.version for d in m.distributions()}))"))
        self.assertEqual(ours, theirs)
        broken = self.python(
            "import importlib.metadata as m, hashlib, base64\n"
            "for d in m.distributions():\n"
            "    for f in d.files:\n"
            "        data = f.locate().read_bytes()\n"
            "        if f.hash:\n"
            "            h = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()\n"
            "            if h != f.hash.value or len(data) != f.size: print('bad', f)\n")
        self.assertEqual(broken, "")

    def test_packages_of_the_system_that_the_interpreter_sees_are_listed_and_never_removed(self):
        configuration = self.venv / "pyvenv.cfg"
        configuration.write_text(configuration.read_text().replace(
            "include-system-site-packages = false", "include-system-site-packages = true"))
        self.index.add_wheel(Wheel("demo", "1.0"))
        self.assert_ok(self.install("demo", index=self.index))
        theirs = json.loads(self.python(
            "import importlib.metadata as m, json;"
            "print(json.dumps(sorted({d.metadata['Name'] for d in m.distributions()})))"))
        self.assertEqual(sorted(self.installed()), theirs)
        outside = [name for name in theirs if name != "demo"]
        if not outside:
            self.skipTest("the system's Python has no package of its own")
        before = tree(self.venv)
        result = self.variant("uninstall", "-y", outside[0], "--python", self.venv)
        self.assert_fails(result, 1, outside[0], "outside the environment")
        self.assertEqual(tree(self.venv), before)

    def test_show_and_its_files(self):
        self.index.add_wheel(Wheel("user", "1.0", requires=["demo"]))
        publish_levels(self.index, requires=["zeta; python_version > '3'", "Alpha", "never; python_version < '3'"],
                       extra_metadata="Author-email: me <me@example.org>\n"
                                      "Project-URL: Homepage, https://example.org/\nLicense-Expression: MIT\n")
        self.assert_ok(self.install("demo", "user", "--no-deps", "--variant", "demo=null", index=self.index))
        result = self.assert_ok(self.variant("show", "--files", "demo", "--python", self.venv))
        for line in ("Variant: null", "Author-email: me <me@example.org>", "Home-page: https://example.org/",
                     "License: MIT", "Requires: Alpha, zeta", "Required-by: user"):
            self.assertIn(line + "\n", result.out)
        self.assertIn("demo.py", result.out)
        self.assert_fails(self.variant("show", "nothing", "--python", self.venv), 1, "nothing")

    def test_files_that_nothing_lists_are_unknown(self):
        self.index.add_wheel(Wheel("demo", "1.0"))
        self.assert_ok(self.install("demo", index=self.index))
        record = next(self.venv.glob("lib/python3*/site-packages/demo-1.0.dist-info/RECORD"))
        record.unlink()
        for make in (lambda: None, record.mkdir):
            make()
            result = self.assert_ok(self.variant("show", "-f", "demo", "--python", self.venv))
            self.assertIn("the files of demo are unknown", result.err)
            self.assertIn("RECORD", result.err)
            self.assertTrue(result.out.endswith("Files:\n"), result.out)
            packages = json.loads(self.variant("show", "-f", "demo", "--json", "--python", self.venv).out)["packages"]
            self.assertEqual(packages[0]["files"], [])

    def test_without_a_cache_nothing_is_kept(self):
        self.index.add_wheel(Wheel("demo", "1.0"))
        (self.root / "tmp").mkdir()
        environment = {"TMPDIR": str(self.root / "tmp")}
        remove = lambda: self.assert_ok(self.variant("uninstall", "demo", "--python", self.venv))
        self.assert_ok(self.install("demo", "--no-cache", index=self.index, env=environment))
        self.assertIn("demo", self.installed())
        self.assertEqual(list((self.root / "tmp").iterdir()), [])
        self.assertFalse((self.root / "home/.cache/axle/store").exists())
        remove()
        (self.root / "file").write_text("")
        result = self.assert_ok(self.install("demo", "--cache-dir", self.root / "file", index=self.index, env=environment))
        self.assertIn("--cache-dir", result.err)
        remove()
        del self.env["HOME"]
        self.assert_ok(self.install("demo", index=self.index, env=environment))

    def test_a_caller_that_ignores_its_children_and_closed_pipes_changes_nothing(self):
        self.index.add_wheel(Wheel("demo", "1.0"))
        done = subprocess.run(["/bin/sh", "-c", f"trap '' CHLD PIPE; exec {VARIANT} install demo -i {self.index.url} "
                               f"--python {self.venv}"], env=self.env, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_variant_marker_counts_for_what_is_kept(self):
        document = variant_document({"v1": [("x86_64", "level", ["v1"])]})
        self.index.add_wheel(Wheel("app", "1.0", "v1", document,
                                   requires=["lib<2; 'x86_64' in variant_namespaces", "never; variant_label == 'v9'"]))
        self.index.add_variants("app", "1.0", document)
        self.index.add_wheel(Wheel("lib", "1.0"))
        self.index.add_wheel(Wheel("lib", "2.0"))
        self.assert_ok(self.install("app", "--for", "x86_64:v1", index=self.index))
        self.assertEqual(self.installed(), {"app": ("1.0", "v1"), "lib": ("1.0", None)})
        result = self.install("app", "lib==2.0", index=self.index)
        self.assertIn("lib<2", result.err + result.out, str(result))

    def test_a_wheel_by_its_url_or_path_with_extras_and_marker(self):
        path = Wheel("demo", "1.0", requires=["lib; extra == 'more'"], extra_metadata="Provides-Extra: more\n").write(
            self.root / "wheels")
        Wheel("lib", "1.0").write(self.root / "wheels")
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        links = ("--no-index", "-f", self.root / "wheels")
        for text, expected in [(f"{path.as_uri()}", {"demo"}), (f"{path.as_uri()}#sha256={digest}", {"demo"}),
                               (f"{path}[more]", {"demo", "lib"}), (f"{path} ; python_version < '3'", set()),
                               (f"{path.as_uri()}[more] ; python_version > '3'", {"demo", "lib"})]:
            shutil.rmtree(self.venv)
            self.make_venv()
            self.assert_ok(self.install(text, *links))
            self.assertEqual(set(self.installed()), expected, text)
        self.assertEqual(self.variant("freeze", "--python", self.venv).out.splitlines()[0],
                         f"demo @ {path.as_uri()}#sha256={digest}")
        (self.root / "wheels/requirements.txt").write_text(
            "--only-binary :all:\n--prefer-binary\nwheels/demo-1.0-py3-none-any.whl[more]\n")
        self.assert_ok(self.install("-r", self.root / "wheels/requirements.txt", *links, cwd=self.root))

    def test_uninstall_passes_over_what_is_not_there(self):
        self.index.add_wheel(Wheel("demo", "1.0"))
        self.assert_ok(self.install("demo", index=self.index))
        result = self.assert_ok(self.variant("uninstall", "-y", "demo", "nothing", "--python", self.venv))
        self.assertIn("nothing", result.err)
        self.assertEqual(self.installed(), {})

    def test_verbose_tells_of_the_environment_and_the_index(self):
        self.index.add_wheel(Wheel("demo", "1.0"))
        quiet = self.assert_ok(self.install("demo", "--dry-run", index=self.index))
        told = self.assert_ok(self.install("demo", "--dry-run", "--verbose", index=self.index))
        self.assertNotIn("--index-url", quiet.err)
        for word in (str(self.venv), "--index-url", "1 files of 1 releases"):
            self.assertIn(word, told.err)

    def test_freeze_leaves_out_what_environments_begin_with(self):
        self.index.add_wheel(Wheel("pip", "99"))
        self.index.add_wheel(Wheel("demo", "1.0"))
        self.assert_ok(self.install("demo", "pip", index=self.index))
        self.assertEqual(self.assert_ok(self.variant("freeze", "--python", self.venv)).out, "demo==1.0\n")

    def test_list_and_freeze_with_a_direct_url_of_any_shape(self):
        self.index.add_wheel(Wheel("demo", "1.0"))
        self.assert_ok(self.install("demo", index=self.index))
        direct_url = self.site() / "demo-1.0.dist-info/direct_url.json"
        for text in ('{"url": "file:///d", "archive_info": []}', '{"url": "file:///d", "dir_info": []}', '{"url": []}', "[]", "no"):
            direct_url.write_text(text)
            with self.subTest(text):
                pin = "demo @ file:///d\n" if "file:" in text else "demo==1.0\n"
                self.assertEqual(self.assert_ok(self.variant("freeze", "--python", self.venv)).out, pin)
                self.assertEqual(self.assert_ok(self.variant("list", "--editable", "--python", self.venv)).out, "")
                self.assert_ok(self.variant("doctor", "--python", self.venv, "--json", "--for", "none"))

    def test_quiet_says_nothing_as_pip_and_uv(self):
        self.index.add_wheel(Wheel("demo", "1.0"))
        links = ("--no-index", "--find-links", self.index.folder / "demo")
        for words in (("install", "--dry-run", "demo", *links), ("install", "demo", *links), ("install", "demo", *links),
                      ("uninstall", "-y", "demo")):
            done = self.assert_ok(self.variant(*words, "--quiet", "--python", self.venv))
            self.assertEqual((done.out, done.err), ("", ""), words)
        for words in (("install", "demo", *links), ("uninstall", "-y", "demo")):
            self.assertEqual(self.assert_ok(self.pip(words[0], "-q", *words[1:])).out, "")
        for words in (("install", "demo", *links), ("uninstall", "demo")):
            done = self.assert_ok(self.uv("pip", words[0], "-q", *words[1:], "--python", self.venv))
            self.assertEqual((done.out, done.err), ("", ""))
        asked = self.assert_ok(self.install("demo", *links, "--quiet", "--explain", "--dry-run"))
        self.assertIn("demo", asked.out)
        self.assertEqual(self.assert_ok(self.install("demo", *links, "-q", "--json")).json["installed"][0]["name"], "demo")

    def test_offline_answers_from_what_was_kept(self):
        self.index.add_wheel(Wheel("demo", "1.0"))
        self.assert_ok(self.install("demo", "--offline", index=self.index))
        result = self.install("other", "--offline", index="http://127.0.0.1:9/simple")
        self.assert_fails(result, 1, "offline")


class Detection(TestCase):
    def test_a_recorded_machine_answers_as_the_machine_itself(self):
        profile = self.root / "machine.json"
        here = self.assert_ok(self.variant("detect", "--properties", "--json", "--profile", profile)).json
        again = self.assert_ok(self.variant("detect", "--properties", "--json", "--for", profile)).json
        self.assertEqual(here, again)

    def test_a_profile_replaces_a_file_and_spares_devices_and_what_links_lead_to(self):
        (self.root / "victim").write_text("precious")
        (self.root / "p.json.new").symlink_to(self.root / "victim")
        self.assert_ok(self.variant("detect", "--profile", self.root / "p.json", "--quiet"))
        self.assertEqual((self.root / "victim").read_text(), "precious")
        self.assertFalse((self.root / "p.json").is_symlink())
        if os.geteuid() == 0:
            node = self.root / "null"
            os.mknod(node, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
            self.assert_ok(self.variant("detect", "--profile", node))
            self.assertTrue(stat.S_ISCHR(node.stat().st_mode))
        self.assert_fails(self.variant("detect", "--profile", self.root / "gone/p.json"), 1, "p.json")

    def test_options_for_everything_may_stand_before_the_command(self):
        self.assertEqual(self.assert_ok(self.variant("--json", "--for", "h100", "properties")).json,
                         self.assert_ok(self.variant("properties", "--for", "h100", "--json")).json)

    def test_unknown_machines_are_usage_errors_with_the_nearest_names(self):
        result = self.variant("detect", "--for", "h10O", "--json")
        self.assertEqual(result.code, 2)
        self.assertEqual(result.json["error"]["kind"], "usage")
        self.assertIn("h100", result.json["error"]["hint"] + result.json["error"]["message"])

    def test_properties_and_providers(self):
        result = self.assert_ok(self.variant("properties", "--for", "h100", "--json", "--namespace", "nvidia"))
        self.assertEqual(list(result.json["properties"]), ["nvidia"])
        self.assertEqual(result.json["properties"]["nvidia"]["sm_arch"][0], "90_real")
        names = [one["namespace"] for one in self.assert_ok(self.variant("providers", "list", "--json")).json["providers"]]
        self.assertEqual(set(names), {"x86_64", "aarch64", "nvidia", "amd", "intel", "ascend", "tpu", "blas_lapack",
                                      "openmp", "axle"})

    def test_the_level_is_the_one_that_the_dynamic_loader_reports(self):
        try:
            told = subprocess.run(["/lib64/ld-linux-x86-64.so.2", "--help"], capture_output=True, text=True).stdout
        except OSError:
            self.skipTest("no x86-64 glibc loader here")
        levels = self.assert_ok(self.variant("properties", "--json")).json["properties"]["x86_64"].get("level", [])
        for level in ("v2", "v3", "v4"):
            self.assertEqual(f"x86-64-{level} (supported" in told, level in levels, level)


if __name__ == "__main__":
    unittest.main(verbosity=2)
