"""variant export: what pip 26.3 and uv 0.13.9 install from an export are the packages of the lock."""

import pathlib
import re
import subprocess
import sys
import tomllib
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from lock_text import EVERY_LINUX, PYTHON_MINOR, LockText
from loopback import Loopback
from support import PEERS, TestCase, Wheel, variant_document

TRAIN = EVERY_LINUX + " and driver >= 570.26 and sm in {80, 86, 90} and x86_64 >= v3 and cpu has avx512_vnni"


class ExportCase(TestCase):
    def setUp(self):
        super().setUp()
        self.web = Loopback(self)
        self.project = self.root / "project"
        (self.project / "wheels").mkdir(parents=True)
        self.demo = Wheel("demo", "1.0", requires=["torch>=2", 'figures; extra == "plot"'], extra_metadata="Provides-Extra: plot\n")
        self.figures = Wheel("figures", "2.1")
        self.cuda = Wheel("torch", "2.9.0+cu130", requires=["toolkit"])
        self.cpu = Wheel("torch", "2.9.0+cpu")
        self.toolkit = Wheel("toolkit", "13.0")
        self.checker = Wheel("checker", "0.5")
        # The main index has a torch, too, which must not be taken.
        self.web.publish("/simple", self.demo, self.figures, self.toolkit, Wheel("torch", "2.9.0"), Wheel("figures", "2.2"))
        self.web.publish("/whl/cu130", self.cuda)
        self.web.publish("/whl/cpu", self.cpu)
        # As servers answer: what is %2B in a URL is a plus in a name.
        self.web.answers |= {path.replace("+", "%2B"): answer for path, answer in self.web.answers.items()}
        self.checker.write(self.project / "wheels")
        self.lock = LockText(["demo[plot]"], groups={"lint": ["checker"]})
        self.lock.add_class("laptop", "none").add_class("train", "h100", TRAIN)
        main = self.web.url("/simple/")
        self.lock.add_wheel(self.demo, self.file("/simple", self.demo), main, needs=["torch>=2"], extras={"plot": ["figures"]})
        self.lock.add_wheel(self.figures, self.file("/simple", self.figures), main)
        self.lock.add_wheel(self.toolkit, self.file("/simple", self.toolkit), main, classes=["train"])
        self.lock.add_wheel(self.cuda, self.file("/whl/cu130", self.cuda), self.web.url("/whl/cu130"), classes=["train"],
                            family="torch", variant="cu130", needs=["toolkit"])
        self.lock.add_wheel(self.cpu, self.file("/whl/cpu", self.cpu), self.web.url("/whl/cpu"), classes=["laptop"],
                            family="torch", variant="cpu")
        self.lock.add_wheel(self.checker, "wheels/" + self.checker.file_name, "wheels")
        self.lock.write(self.project)

    def file(self, place, wheel):
        return self.web.url(f"{place}/files/{wheel.file_name}").replace("+", "%2B")

    def export(self, form, *arguments, **options):
        return self.variant("export", "--format", form, *arguments, cwd=self.project, **options)

    def exported(self, form, *arguments):
        return self.assert_ok(self.export(form, *arguments)).out

    def versions(self):
        """As importlib.metadata sees them: of torch also which wheel it is."""
        code = "import importlib.metadata as m; print(sorted((d.name, d.version) for d in m.distributions()))"
        return dict(eval(self.python(code)))

    WANTED = {"train": {"demo": "1.0", "figures": "2.1", "toolkit": "13.0", "torch": "2.9.0+cu130"},
              "laptop": {"demo": "1.0", "figures": "2.1", "torch": "2.9.0+cpu"}}


class Requirements(ExportCase):
    def test_pip_installs_the_same(self):
        for name, wanted in self.WANTED.items():
            with self.subTest(name):
                self.make_venv(self.root / name / "venv")
                self.venv = self.root / name / "venv"
                self.assert_ok(self.export("requirements", "--class", name, "-o", self.root / "r.txt"))
                self.assert_ok(self.pip("install", "--require-hashes", "-r", self.root / "r.txt"))
                self.assertEqual(self.versions(), wanted)

    def test_uv_installs_the_same(self):
        for name, wanted in self.WANTED.items():
            with self.subTest(name):
                self.make_venv(self.root / name / "venv")
                self.venv = self.root / name / "venv"
                self.assert_ok(self.export("requirements", "--class", name, "-o", self.root / "r.txt"))
                self.assert_ok(self.uv("pip", "install", "--require-hashes", "-r", self.root / "r.txt",
                                       "--python", self.venv / "bin/python"))
                self.assertEqual(self.versions(), wanted)

    def test_groups_come_with_their_name_and_places_are_absolute(self):
        self.assertNotIn("checker", self.exported("requirements", "--class", "train"))
        text = self.exported("requirements", "--class", "train", "--group", "lint")
        self.assertIn(f"checker @ {(self.project / 'wheels').as_uri()}/checker-0.5", text)
        self.make_venv()
        (self.root / "r.txt").write_text(text)
        self.assert_ok(self.pip("install", "--require-hashes", "-r", self.root / "r.txt"))
        self.assertEqual(self.versions(), {**self.WANTED["train"], "checker": "0.5"})
        self.assert_fails(self.export("requirements", "--class", "train", "--group", "lnit"), 2, "lnit", "did you mean lint?")

    def test_what_is_built_from_a_folder_has_no_hash(self):
        (self.project / "own").mkdir()
        self.lock.head = self.lock.head.replace('"demo[plot]"', '"demo[plot]", "own"')
        self.lock.add_built("own", "0.1", {"kind": "folder", "name": "own", "url": "own", "editable": True})
        self.lock.write(self.project)
        result = self.assert_ok(self.export("requirements", "--class", "laptop"))
        self.assertIn(f"#   -e {(self.project / 'own').as_uri()}", result.out)
        self.assertIn("--no-deps", result.err)


class Pylock(ExportCase):
    def test_packaging_accepts_it_and_selects_the_wheels_of_the_lock(self):
        self.need_peers()
        for name, wanted in self.WANTED.items():
            with self.subTest(name):
                path = self.root / f"pylock.{name}.toml"
                self.assert_ok(self.export("pylock", "--class", name, "-o", path))
                code = ("import pathlib, sys, tomllib; from packaging.pylock import Pylock, is_valid_pylock_path as valid\n"
                        "path = pathlib.Path(sys.argv[1]); assert valid(path)\n"
                        "lock = Pylock.from_dict(tomllib.loads(path.read_text()))\n"
                        "print({p.name: str(p.version) for p, _ in lock.select()})")
                done = subprocess.run([PEERS / "python", "-I", "-c", code, str(path)], capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(eval(done.stdout), wanted)

    def need_peers(self):
        if not (PEERS / "python").exists():
            self.skipTest(f"{PEERS} is not there")

    def test_pip_installs_the_same(self):
        self.assert_ok(self.export("pylock", "--out", self.root / "locks"))
        self.assertEqual(sorted(path.name for path in (self.root / "locks").iterdir()),
                         ["pylock.laptop.toml", "pylock.train.toml"])
        for name, wanted in self.WANTED.items():
            with self.subTest(name):
                self.make_venv(self.root / name / "venv")
                self.venv = self.root / name / "venv"
                self.assert_ok(self.pip("install", "-r", self.root / f"locks/pylock.{name}.toml"))
                self.assertEqual(self.versions(), wanted)

    def test_uv_installs_the_same(self):
        self.assert_ok(self.export("pylock", "--out", self.root / "locks"))
        for name, wanted in self.WANTED.items():
            with self.subTest(name):
                self.make_venv(self.root / name / "venv")
                self.venv = self.root / name / "venv"
                self.assert_ok(self.uv("pip", "sync", "--preview-features", "pylock", self.root / f"locks/pylock.{name}.toml",
                                       "--python", self.venv / "bin/python"))
                self.assertEqual(self.versions(), wanted)

    def test_a_label_in_a_file_name_cannot_be_in_one(self):
        document = variant_document({"v3": [("x86_64", "level", ["v3"])]})
        kernel = Wheel("kernel", "1.0", "v3", document)
        kernel.write(self.project / "wheels")
        self.lock.head = self.lock.head.replace('"demo[plot]"', '"demo[plot]", "kernel"')
        plain = Wheel("kernel", "1.0")
        plain.write(self.project / "wheels")
        self.lock.add_wheel(kernel, "wheels/" + kernel.file_name, "wheels", classes=["train"], variant="v3",
                            properties=["x86_64 :: level :: v3"])
        self.lock.add_wheel(plain, "wheels/" + plain.file_name, "wheels", classes=["laptop"])
        self.lock.write(self.project)
        for form in ("pylock", "requirements", "conda"):
            with self.subTest(form):
                self.assert_fails(self.export(form, "--class", "train"), 3, "class train", kernel.file_name, "variant sync", "--no-variants")
                self.assert_ok(self.export(form, "--class", "laptop"))
                # All or none.
                self.assert_fails(self.export(form, "--out", self.root / "all"), 3)
                self.assertFalse((self.root / "all").exists())


class Uv(ExportCase):
    def test_a_project_with_the_sources_locks_the_same_build(self):
        text = self.exported("uv-sources", "--class", "train")
        snippet = tomllib.loads(text)
        self.assertEqual(snippet["tool"]["uv"]["sources"]["torch"], {"index": "torch-cu130"})
        self.assertIn("own dependencies. Add these to them: torch", text)
        folder = self.root / "uv-project"
        folder.mkdir()
        (folder / "pyproject.toml").write_text(
            f'[project]\nname = "p"\nversion = "1"\nrequires-python = "=={PYTHON_MINOR}.*"\ndependencies = ["demo[plot]", "torch"]\n' + text)
        self.make_venv()
        self.assert_ok(self.uv("sync", "--active", "--no-install-project", "--default-index", self.web.url("/simple/"),
                               "--python", self.venv / "bin/python", cwd=folder, env={"VIRTUAL_ENV": str(self.venv)}))
        self.assertEqual(self.versions(), {**self.WANTED["train"], "figures": "2.2"})  # uv takes the newest


class Clusters(ExportCase):
    def yaml(self, text):
        try:
            import yaml
        except ImportError:
            self.skipTest("python3-yaml is not installed")
        return yaml.safe_load(text)

    def nodes(self, text):
        """What the terms say of a node with these labels: as the scheduler evaluates them."""
        affinity = self.yaml(text)["affinity"]
        terms = affinity["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]

        def holds(one, labels):
            value, op = labels.get(one["key"]), one["operator"]
            if op in ("Exists", "DoesNotExist"):
                return (value is not None) == (op == "Exists")
            if value is None:
                return False
            if op == "In":
                return value in one["values"]
            self.assertEqual(len(one["values"]), 1)
            self.assertIn(op, ("Gt", "Lt"))
            bound = int(one["values"][0])
            return int(value) > bound if op == "Gt" else int(value) < bound

        return lambda labels: any(all(holds(one, labels) for one in term["matchExpressions"]) for term in terms)

    def node(self, major, minor, cuda, arch="amd64", vnni=True):
        labels = {"kubernetes.io/arch": arch, "kubernetes.io/os": "linux", "nvidia.com/gpu.compute.major": str(major),
                  "nvidia.com/gpu.compute.minor": str(minor), "nvidia.com/cuda.runtime.major": str(cuda[0]),
                  "nvidia.com/cuda.runtime.minor": str(cuda[1])}
        for feature in ["AVX2", "FMA3"] + ["AVX512VNNI"] * vnni:
            labels[f"feature.node.kubernetes.io/cpu-cpuid.{feature}"] = "true"
        return labels

    def test_node_affinity_selects_the_machines_of_the_predicate(self):
        result = self.assert_ok(self.export("node-affinity", "--class", "train"))
        fits = self.nodes(result.out)
        for major, minor, cuda, wanted in [(9, 0, (12, 8), True), (8, 6, (13, 0), True), (8, 0, (12, 9), True),
                                           (9, 0, (12, 7), False), (8, 9, (12, 8), False), (7, 5, (12, 8), False),
                                           (9, 0, (11, 9), False), (10, 0, (13, 0), False)]:
            with self.subTest(major=major, minor=minor, cuda=cuda):
                self.assertEqual(fits(self.node(major, minor, cuda)), wanted)
        self.assertFalse(fits(self.node(9, 0, (12, 8), arch="arm64")))
        self.assertFalse(fits(self.node(9, 0, (12, 8), vnni=False)))
        self.assertFalse(fits({}))
        self.assertIn("# No label says: glibc >= 2.17", result.out)
        self.assertIn("glibc >= 2.17", result.err)

    def fitting(self, holds):
        """Of nodes with these GPUs and drivers, those that a class with the predicate is for."""
        lock = LockText([]).add_class("one", "none", EVERY_LINUX + " and " + holds)
        lock.write(self.project)
        fits = self.nodes(self.exported("node-affinity"))
        nodes = {"none": {"kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux"}}
        for sm, cuda in [((6, 1), (12, 4)), ((9, 0), (12, 8)), ((9, 0), (13, 0)), ((12, 0), (13, 1))]:
            nodes[f"{sm[0]}{sm[1]} {cuda[0]}.{cuda[1]}"] = self.node(*sm, cuda)
        return {name for name, labels in nodes.items() if fits(labels)}

    def test_bounds_from_above_and_what_must_not_be_there(self):
        self.assertEqual(self.fitting("driver < 580.65.06"), {"none", "61 12.4", "90 12.8"})
        self.assertEqual(self.fitting("driver >= 550.54.14 and driver < 570.26"), {"61 12.4"})
        self.assertEqual(self.fitting("driver >= 580.65.06"), {"90 13.0", "120 13.1"})
        self.assertEqual(self.fitting("sm in {none, 61}"), {"none", "61 12.4"})
        self.assertEqual(self.fitting("sm = none"), {"none"})
        # Unlike GPUs that are each in the set: labels tell one of them.
        self.assertEqual(self.fitting("sm in {61, 90, mixed}"), {"61 12.4", "90 12.8", "90 13.0"})
        self.assertEqual(self.fitting("cpu lacks avx512_vnni"), {"none"})
        self.assertEqual(self.fitting("x86_64 < v3"), {"none"})
        self.assertEqual(self.fitting("gfx = none and sm = 90"), {"90 12.8", "90 13.0"})

    def test_amd(self):
        lock = LockText([]).add_class("one", "mi300x", EVERY_LINUX + " and gfx in {gfx942, gfx950}")
        lock.write(self.project)
        fits = self.nodes(self.exported("node-affinity"))
        node = {"kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux"}
        self.assertTrue(fits({**node, "amd.com/gpu.device-id": "74a1"}))
        self.assertFalse(fits({**node, "amd.com/gpu.device-id": "740f"}))
        self.assertFalse(fits(node))

    def test_a_class_without_a_gpu_needs_none(self):
        fits = self.nodes(self.exported("node-affinity", "--class", "laptop"))
        self.assertTrue(fits({"kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux"}))

    def test_slurm_asks_for_a_gpu_and_features(self):
        text = self.exported("slurm", "--class", "train")
        self.assertIn("#SBATCH --gres=gpu:1\n", text)
        self.assertEqual(sorted(re.search('--constraint="(.*)"', text)[1].replace("(", "&").replace(")", "&").replace("|", "&").strip("&").replace("&&", "&").split("&")),
                         ["sm_80", "sm_86", "sm_90", "x86-64-v3"])
        self.assertNotIn("SBATCH", self.exported("slurm", "--class", "laptop"))

    def test_slurm_has_no_feature_for_unlike_gpus(self):
        LockText([]).add_class("one", "h100", EVERY_LINUX + " and sm in {80, 90, mixed}").write(self.project)
        self.assertIn('#SBATCH --constraint="sm_80|sm_90"\n', self.exported("slurm"))

    def test_labels_of_an_image(self):
        labels = dict(line.split("=", 1) for line in self.exported("oci", "--class", "train").splitlines())
        self.assertEqual(labels["axle.class"], "train")
        self.assertEqual(labels["axle.machine"], "h100")
        self.assertEqual(labels["axle.holds"], TRAIN)
        self.assertEqual(labels["axle.requires.driver"], "driver >= 570.26")
        self.assertEqual(labels["axle.python"], PYTHON_MINOR)

    def test_a_conda_environment_has_hashed_requirements_and_virtual_packages(self):
        text = self.exported("conda", "--class", "train")
        environment = self.yaml(text)
        self.assertEqual(environment["name"], "train")
        self.assertEqual(environment["dependencies"][0], f"python={PYTHON_MINOR}")
        lines = environment["dependencies"][2]["pip"]
        self.assertEqual(lines[0], f"--index-url {self.web.url('/simple/')}")
        for package in ("__cuda >=12.8", "__glibc >=2.17", "__archspec =1=x86_64_v3", "__linux"):
            self.assertIn(package, text)
        self.make_venv()
        (self.root / "r.txt").write_text("\n".join(lines) + "\n")  # as conda gives them to pip
        self.assert_ok(self.pip("install", "-U", "-r", self.root / "r.txt"))
        self.assertEqual(self.versions(), self.WANTED["train"])


class Words(ExportCase):
    def test_what_is_missing_is_said(self):
        self.assert_fails(self.variant("export", cwd=self.project), 2, "--format", "pylock", "or oci")
        self.assert_fails(self.export("pylok"), 2, "pylok", "did you mean pylock?")
        self.assert_fails(self.export("pylock"), 2, "2 classes, laptop, train", "--class", "--out")
        self.assert_fails(self.export("pylock", "--class", "trian"), 2, "trian", "did you mean train?")
        self.assert_fails(self.export("pylock", "--class", "train", "-o", "a", "--out", "b"), 2, "two places")
        self.assert_fails(self.variant("export", "--format", "pylock"), 2, "there is no axle.lock", "variant lock")

    def test_a_lock_that_is_none_is_told_with_its_line(self):
        (self.project / "axle.lock").write_text("schema = 9\n")
        self.assert_fails(self.export("pylock"), 2, "axle.lock:1", "schema 9 is not supported", "newer version")
        (self.project / "axle.lock").write_text("<<<<<<< HEAD\n")
        self.assert_fails(self.export("pylock"), 2, "axle.lock:1", "conflict markers", "variant lock")
        self.lock.classes = self.lock.classes.replace("sm in", "smm in")
        self.lock.write(self.project)
        self.assert_fails(self.export("pylock", "--class", "train"), 2, "class train", "smm")

    def test_the_lock_of_a_folder_above_counts_and_json_has_the_text(self):
        inner = self.project / "a/b"
        inner.mkdir(parents=True)
        result = self.assert_ok(self.variant("export", "--format", "oci", "--class", "train", "--json", cwd=inner))
        self.assertEqual(result.json["format"], "oci")
        self.assertEqual(result.json["exports"][0]["class"], "train")
        self.assertEqual(result.json["exports"][0]["text"], self.exported("oci", "--class", "train"))
        written = self.assert_ok(self.export("oci", "--out", "out", "--json")).json["exports"]
        self.assertEqual([one["file"] for one in written], ["out/oci.laptop.labels", "out/oci.train.labels"])
        self.assertEqual(self.web.seen, [])  # no network


class Tree(ExportCase):
    def tree(self, *arguments):
        return self.assert_ok(self.variant("tree", *arguments, cwd=self.project)).out

    def test_who_requires_whom_by_class(self):
        self.assertEqual(self.tree("--class", "train"), f"""\
train (h100, Python {PYTHON_MINOR})
checker 0.5
demo[plot] 1.0
├── figures 2.1
└── torch 2.9.0+cu130
    └── toolkit 13.0
""")
        self.assertIn("laptop (none", self.tree())
        self.assertEqual(self.tree("--class", "train", "--invert", "Toolkit"), f"""\
train (h100, Python {PYTHON_MINOR})
toolkit 13.0
└── torch 2.9.0+cu130
    └── demo[plot] 1.0
""")
        self.assertEqual(self.tree("--class", "train", "--depth", "1").splitlines()[2:],
                         ["demo[plot] 1.0", "├── figures 2.1", "└── torch 2.9.0+cu130"])

    def test_json_and_errors(self):
        result = self.assert_ok(self.variant("tree", "--json", cwd=self.project)).json
        self.assertEqual([one["name"] for one in result["classes"]], ["laptop", "train"])
        packages = {one["name"]: one for one in result["classes"][1]["packages"]}
        self.assertEqual(packages["torch"]["variant"], "cu130")
        self.assertEqual(packages["torch"]["required_by"], ["demo"])
        self.assertEqual(packages["demo"]["requires"], ["torch>=2", "figures"])
        self.assert_fails(self.variant("tree", "--invert", "toolkti", cwd=self.project), 1, "toolkti", "toolkit")
        self.assert_fails(self.variant("tree", "--depth", "x", cwd=self.project), 2, "--depth x")
        self.assert_fails(self.variant("tree", "--class", "x", cwd=self.project), 2, "laptop or train")


if __name__ == "__main__":
    unittest.main()
