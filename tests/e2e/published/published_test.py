"""The torch releases that were published as wheel variants, made again (tests/published): on each machine the pick that
the rule gives, from the old documents, from 0.2.0, and from the wheels alone."""

import itertools
import json
import os
import pathlib
import random
import subprocess
import sys
import unittest
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import BIN, PYTHON, SOURCE, Index, TestCase

sys.path.insert(0, str(SOURCE / "tests/published"))
import release_forms  # noqa: E402
import variantlib_opinion  # noqa: E402
from machines import MACHINES, MEASURED_2_10, Machine  # noqa: E402
from the_rule import expected_labels, lists_of, rank  # noqa: E402

PUBLICATIONS = {one.name: one for one in release_forms.publications()}
BULK = 300_000  # of a wheel that must not be fetched whole


def incompressible(name):
    return random.Random(name).randbytes(BULK)


class Published(TestCase):
    def setUp(self):
        super().setUp()
        self.python_minor = int(subprocess.run([PYTHON, "-c", "import sys; print(sys.version_info[1])"], check=True,
                                               capture_output=True, text=True).stdout)
        self.make_venv()
        self.served = self.root / "served"
        self.served.mkdir()
        server = subprocess.Popen([BIN / "index_server", str(self.served)], stdout=subprocess.PIPE, text=True)
        for cleanup in (server.stdout.close, server.wait, server.terminate):
            self.addCleanup(cleanup)
        self.base = f"http://127.0.0.1:{int(server.stdout.readline())}"

    def publish(self, publication, **how):
        release_forms.publish(Index(self.served / publication.name), publication, self.python_minor, **how)
        return f"{self.base}/{publication.name}"

    def ask(self, path):
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        return opener.open(self.base + path, timeout=10).read()

    def resolve(self, where, requirement, machines):
        """machine -> its packages by name, from one run over all of them as a fleet."""
        chosen = list(itertools.chain.from_iterable(("--for", machine.said) for machine in machines))
        result = self.assert_ok(self.variant("resolve", requirement, "-i", where, "--python", self.venv, "--json", *chosen))
        for words in ("would have to be trusted", "is not trusted", "is selectable"):
            self.assertNotIn(words, result.err, "every provider is one that Axle carries")
        answers = result.json.get("machines") or [result.json]
        self.assertEqual(len(answers), len(machines))
        return {machine: {package["name"]: package for package in answer["packages"]}
                for machine, answer in zip(machines, answers)}

    def check_picks(self, publication, where, machines=MACHINES):
        """The pick, the whole order behind it, and the dependencies that follow from the pick."""
        release = publication.release
        for machine, packages in self.resolve(where, f"torch=={release.version}", machines).items():
            with self.subTest(release=publication.name, machine=machine.said):
                expected = expected_labels(publication, machine)
                torch = packages["torch"]
                self.assertEqual(torch["variant"], expected[0])
                self.assertEqual([one["label"] for one in torch["decision"]["ranked"]], expected)
                self.assertTrue(torch["wheel"].endswith(f"{machine.arch}-{expected[0]}.whl"), torch["wheel"])
                if machine.arch == "x86_64":
                    needed = {requirement for requirement, _, labels in release.dependencies
                              if expected[0] in map(publication.label, labels)}
                    self.assertEqual({f"{name}=={one['version']}" for name, one in packages.items() if name != "torch"}, needed)
                if release.version == "2.10.0" and machine.said in MEASURED_2_10:
                    self.assertEqual(torch["variant"], MEASURED_2_10[machine.said])


class Picks(Published):
    def test_each_machine_gets_from_each_document_what_the_rule_gives(self):
        for publication in PUBLICATIONS.values():
            where = self.publish(publication)
            self.check_picks(publication, where)
        self.assertTrue(set(MEASURED_2_10) <= {machine.said for machine in MACHINES})

    def test_an_old_form_and_0_2_0_give_the_same_machine_the_same_build(self):
        for version in ("2.8.0", "2.9.0", "2.10.0"):
            stable = PUBLICATIONS[f"{version}-0.2.0"]
            for publication in PUBLICATIONS.values():
                if publication.release is not stable.release or publication.tied:
                    continue
                for machine in MACHINES:
                    old = expected_labels(publication, machine)
                    self.assertEqual(["null" if label == publication.null else label for label in old],
                                     expected_labels(stable, machine), publication.name)

    def test_without_its_order_2_9_gave_a_hopper_the_older_build(self):
        tied, fixed = PUBLICATIONS["2.9.0-0.0.2-first"], PUBLICATIONS["2.9.0-0.0.2"]
        hopper = [Machine("h100;nvidia:driver=570.26", (12, 8), (9, 0))]
        for publication, label in ((tied, "cuda12.6"), (fixed, "cuda12.8")):
            packages = self.resolve(self.publish(publication), "torch==2.9.0", hopper)[hopper[0]]
            self.assertEqual(packages["torch"]["variant"], label)

    def test_torchvision_gets_the_label_of_its_torch(self):
        for name in ("2.8.0-0.0.3", "2.9.0-0.0.2", "2.10.0-0.0.3", "2.10.0-0.2.0"):
            publication = PUBLICATIONS[name]
            where = self.publish(publication)
            machines = [machine for machine in MACHINES if machine.arch == "x86_64"]
            found = self.resolve(where, f"torchvision=={publication.release.companion}", machines)
            for machine, packages in found.items():
                with self.subTest(release=name, machine=machine.said):
                    self.assertEqual(packages["torchvision"]["variant"], packages["torch"]["variant"])
                    self.assertEqual(packages["torch"]["variant"], expected_labels(publication, machine)[0])

    def test_what_the_published_amd_provider_does_not_know_is_supported_here(self):
        # gfx950 is in the 2.10 builds; the provider's own list ends before it, which would give a CPU build.
        publication = PUBLICATIONS["2.10.0-0.0.3"]
        machine = Machine("mi355x;amd:rocm=7.1", gfx=["gfx950"], rocm="7.1")
        self.assertEqual(expected_labels(publication, machine)[0], "null")
        packages = self.resolve(self.publish(publication), "torch==2.10.0", [machine])[machine]
        self.assertEqual(packages["torch"]["variant"], "rocm7.1")

    def test_rank_reads_the_old_documents_and_their_enable_if(self):
        for name in ("2.8.0-unversioned", "2.9.0-0.0.2", "2.10.0-0.0.3"):
            publication = PUBLICATIONS[name]
            path = self.root / f"torch-{publication.release.version}-variants.json"
            path.write_text(json.dumps(publication.document))
            for machine in MACHINES:
                ranked = self.assert_ok(self.variant("rank", path, "--for", machine.said, "--json")).json["ranked"]
                self.assertEqual([one["label"] for one in ranked],
                                 rank(publication.document, lists_of(machine, publication.document)), machine.said)

    def test_the_reason_names_the_machine_s_fact(self):
        publication = PUBLICATIONS["2.9.0-0.0.2"]
        machine = Machine("gtx1080ti;nvidia:cuda=12.8", (12, 8), (6, 1))
        packages = self.resolve(self.publish(publication), "torch==2.9.0", [machine])[machine]
        rejected = {one["label"]: json.dumps(one) for one in packages["torch"]["decision"]["rejected"]}
        self.assertIn("6.1", rejected["cuda12.8"])
        self.assertIn("CUDA up to 12.8", rejected["cuda13.0"])
        self.assertIn("AMD", rejected["rocm6.4"])


class WithoutVariantsFile(Published):
    def test_the_wheels_say_it_themselves_and_none_is_fetched_whole(self):
        for name in ("2.8.0-0.0.3", "2.9.0-0.0.2", "2.10.0-0.0.3", "2.10.0-0.2.0"):
            publication = PUBLICATIONS[name]
            where = self.publish(publication, variants_file=False, payload=incompressible)
            self.ask("/-/forget")
            self.check_picks(publication, where, MACHINES[:1])
            asked = self.torch_wheels_asked()
            # One look a label, at the end of the wheel; the METADATA of the chosen one is there too.
            self.assertEqual(len(asked), len(publication.release.variants), asked)
            self.check_picks(publication, where)
            for target, ranges in self.torch_wheels_asked().items():
                self.assertEqual(len(ranges), 1, f"{target}: what a wheel says is kept")
                self.assertLess(self.range_size(ranges[0]), BULK / 3)

    def torch_wheels_asked(self):
        asked = {}
        for one in json.loads(self.ask("/-/seen")):
            if "/torch-" in one["target"]:
                asked.setdefault(one["target"], []).append(one["range"])
        return asked

    def range_size(self, text):
        self.assertTrue(text.startswith("bytes="), text)
        first, last = text[len("bytes="):].split("-")
        return int(last) + 1 - int(first) if first else int(last)

    def test_with_a_variants_file_only_the_chosen_wheel_is_looked_into(self):
        publication = PUBLICATIONS["2.9.0-0.0.3"]
        where = self.publish(publication, payload=incompressible)
        self.check_picks(publication, where, [MACHINES[2]])
        seen = json.loads(self.ask("/-/seen"))
        wheels = {one["target"] for one in seen if one["target"].endswith(".whl") and "/torch-" in one["target"]}
        self.assertEqual(len(wheels), 1, wheels)
        self.assertTrue(next(iter(wheels)).endswith("-cuda13.0.whl"))


class Installed(Published):
    def test_an_old_release_is_installed_and_listed_with_its_label(self):
        for name, machine, label in [("2.8.0-0.0.3", "h100;nvidia:driver=575.51.03", "cu129"),
                                     ("2.9.0-0.0.2", "mi300x;amd:rocm=6.4", "rocm6.4"),
                                     ("2.10.0-0.0.3", "bmg", "xpu"), ("2.10.0-0.2.0", "v100", "cuda12.8")]:
            with self.subTest(release=name):
                publication = PUBLICATIONS[name]
                self.venv = self.make_venv(self.root / f"venv-{name}")
                where = self.publish(publication)
                version = publication.release.version
                self.assert_ok(self.install(f"torch=={version}", "--for", machine, index=where))
                self.assertEqual(self.installed()["torch"], (version, label))
                self.assertRegex(self.assert_ok(self.variant("list", "--python", self.venv)).out, rf"torch\s+{version}\s+{label}")
                self.assertEqual(self.python("import torch; print(torch.__version__, torch.VARIANT)"), f"{version} {label}")
                self.assert_ok(self.variant("check", "--python", self.venv))
        self.assert_neighbours_work()

    def test_the_null_variant_is_installed_where_there_is_nothing(self):
        for name, label, files in [("2.8.0-0.0.3", "00000000", True), ("2.8.0-unversioned", "00000000", False),
                                   ("2.9.0-0.0.2", "null", False)]:
            with self.subTest(release=name):
                publication = PUBLICATIONS[name]
                self.venv = self.make_venv(self.root / f"venv-{name}")
                where = self.publish(publication, variants_file=files)
                version = publication.release.version
                self.assert_ok(self.install(f"torch=={version}", "--for", "none", index=where))
                self.assertEqual(self.installed(), {"torch": (version, label)})
                again = self.assert_ok(self.install(f"torch=={version}", "--for", "none", "--json", index=where))
                self.assertEqual([one["variant"] for one in again.json["kept"]], [label])
        self.assert_neighbours_work()

    def test_a_wheel_of_an_old_release_is_installed_from_its_file(self):
        publication = PUBLICATIONS["2.8.0-0.0.3"]
        self.publish(publication)
        folder = self.served / publication.name / "torch"
        for label, machine in [("00000000", "none"), ("cu129", "h100")]:
            path = next(folder.glob(f"torch-*manylinux*x86_64-{label}.whl"))
            self.assert_ok(self.install(path, "--no-deps", "--reinstall", "--no-index", "--for", machine))
            self.assertEqual(self.installed(), {"torch": ("2.8.0", label)})
        self.assert_fails(self.install(path, "--no-deps", "--reinstall", "--no-index", "--for", "none"), 3, "cu129")
        self.assertEqual(self.installed(), {"torch": ("2.8.0", "cu129")})

    def test_a_label_of_an_old_release_can_be_pinned(self):
        publication = PUBLICATIONS["2.8.0-0.0.2"]
        where = self.publish(publication)
        self.assert_ok(self.install("torch==2.8.0", "--for", "h100", "--variant", "torch=00000000", index=where))
        self.assertEqual(self.installed(), {"torch": ("2.8.0", "00000000")})


class Variantlib(TestCase):
    """The reference tool itself, where it is to be had: VARIANTLIB_DIR is a checkout of it (0.0.3 reads the documents
    of that version, 0.2.x those of 0.2.0), else the one that this Python imports, else, with AXLE_TEST_REGISTRY=1,
    the newest 0.2 of the configured registry."""

    def interpreter(self):
        folder = os.environ.get("VARIANTLIB_DIR")
        if folder:
            self.env["PYTHONPATH"] = folder
            return os.environ.get("VARIANTLIB_PYTHON", sys.executable)
        if subprocess.run([sys.executable, "-c", "import variantlib.api"], capture_output=True).returncode == 0:
            return sys.executable
        if os.environ.get("AXLE_TEST_REGISTRY") != "1":
            self.skipTest("no variantlib here: VARIANTLIB_DIR is not set, AXLE_TEST_REGISTRY is not 1")
        venv = self.root / "variantlib"
        subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
        subprocess.run([venv / "bin/pip", "install", "-q", "variantlib>=0.2,<0.3"], check=True)
        return str(venv / "bin/python")

    def test_it_orders_the_releases_as_the_rule_does(self):
        python = self.interpreter()
        # In a tie 0.0.x takes the order of the document, an order that a JSON object does not have.
        asked = [(publication, machine) for publication in PUBLICATIONS.values() if not publication.tied
                 for machine in MACHINES]
        questions = ""
        for publication, machine in asked:
            document = publication.document
            lists = lists_of(machine, document)
            supported = [[ns, feature, value] for ns in document["default-priorities"]["namespace"]
                         for feature, values in lists.get(ns, []) for value in values]
            questions += json.dumps({"document": document, "supported": supported}) + "\n"
        done = subprocess.run([python, variantlib_opinion.__file__], input=questions, env=self.env, cwd=self.root,
                              text=True, capture_output=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        compared = []
        for (publication, machine), line in zip(asked, done.stdout.splitlines(), strict=True):
            theirs = json.loads(line)
            if theirs is None:
                continue
            compared.append(publication.name)
            self.assertEqual(theirs, rank(publication.document, lists_of(machine, publication.document)),
                             f"{publication.name} on {machine.said}")
        self.assertTrue(compared, "this variantlib reads none of the documents")
        print(f"{done.stderr.strip()}: {len(compared)} orders of {', '.join(dict.fromkeys(compared))} agree")


if __name__ == "__main__":
    unittest.main(verbosity=2)
