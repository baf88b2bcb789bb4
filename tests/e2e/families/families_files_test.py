"""Family files: the shipped ones, the user's, broken ones; and a family whose labels are folders."""

import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import SOURCE, Wheel
from torch_index import TorchTestCase, all_files, stand_in

PLAIN_TAGS = "py3-none-manylinux_2_28_x86_64"

ACME = """schema = 1
name = "acme"
url = "{url}"
label-in = "folder"
members = ["acme-kernels"]
fallback = ["cpu"]
date = "2026-11-20"

[sources]
CI = "the build script"

[[labels]]
name = "cu130"
vendor = "nvidia"
toolkit = "13.0"
cuda = "13.0"
driver = "580"
source = ["CI"]

[[labels]]
name = "cu126"
vendor = "nvidia"
toolkit = "12.6"
cuda = "12.0"
driver = "525.60.13"
source = ["CI"]

[[labels]]
name = "cpu"
source = ["CI"]

[[releases]]
version = "*"
date = "2026-10"
source = ["CI"]
builds = [
  {{ label = "cu130", platform = "linux_x86_64", code = ["7.5", "9.0"], source = ["CI"], confidence = "high" }},
  {{ label = "cu126", platform = "linux_x86_64", code = ["6.0", "9.0"], ptx = ["9.0"], source = ["CI"], confidence = "high" }},
  {{ label = "cpu", platform = "linux_x86_64", source = ["CI"], confidence = "high" }},
]
"""


class Folders:
    """One index a label, whose files do not bear it."""

    def __init__(self, folder, project):
        self.folder, self.project = folder, project

    @property
    def url(self):
        return self.folder.as_uri() + "/{label}"

    def add(self, version, *labels, project=None, **wheel_options):
        project = project or self.project
        package = project.replace("-", "_")
        for label in labels:
            wheel = Wheel(project, version, tags=PLAIN_TAGS, files={f"{package}.py": f"BUILD = {label!r}\n"}, **wheel_options)
            place = self.folder / label / project
            place.mkdir(parents=True, exist_ok=True)
            wheel.write(place)
            names = sorted(path.name for path in place.glob("*.whl"))
            (place / "index.html").write_text(f"<h1>Links for {project}</h1>" +
                                              "".join(f'<a href="{name}">{name}</a>' for name in names))


class UserFiles(TorchTestCase):
    def setUp(self):
        super().setUp()
        self.make_venv()
        self.folder = self.root / "config/axle/families"
        self.folder.mkdir(parents=True)
        self.env["XDG_CONFIG_HOME"] = str(self.root / "config")
        # Without --index-url, which would silence the families.
        self.env["PIP_INDEX_URL"] = self.default.url

    def write(self, text, name="acme.toml"):
        (self.folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())

    def ask(self, command, *arguments, machine="h100", **options):
        return self.variant(command, *arguments, "--python", self.venv, "--for", machine, **options)

    def acme(self):
        folders = Folders(self.root / "acme", "acme-kernels")
        folders.add("1.0", "cu130", "cu126", "cpu")
        self.write(ACME.format(url=folders.url))
        return folders


class Own(UserFiles):
    def test_a_second_family_works_as_the_shipped_ones_do(self):
        self.acme()
        for machine, label in [("h100", "cu130"), ("gtx1080ti", "cu126"), ("none", "cpu"), ("mi300x", "cpu")]:
            package = self.assert_ok(self.ask("resolve", "acme-kernels", "--json", machine=machine)).json["packages"][0]
            self.assertEqual((package["version"], package["variant"], package["family"]), ("1.0", label, "acme"))
        text = self.assert_ok(self.ask("explain", "acme-kernels", "-v", machine="gtx1080ti")).out
        self.assertIn(f"variants from family acme ({self.folder}/acme.toml, 2026-11-20)", text)
        self.assertRegex(text, r"rejected +cu130")
        self.assertIn("the build script", text)
        self.assert_ok(self.ask("install", "acme-kernels", machine="gtx1080ti"))
        self.assertEqual(self.installed(), {"acme-kernels": ("1.0", "cu126")})
        self.assertEqual(self.python("import acme_kernels; print(acme_kernels.BUILD)"), "cu126")
        self.assert_neighbours_work()

    def test_it_is_listed(self):
        self.acme()
        result = self.assert_ok(self.variant("index", "families"))
        for words in ("acme", "torch", "llama-cpp-python", f"{self.folder}/acme.toml", "cu130, cu126, cpu"):
            self.assertIn(words, result.out)
        families = {one["name"]: one for one in self.variant("index", "families", "--json").json["families"]}
        self.assertEqual(families["acme"]["label_in"], "folder")
        self.assertEqual(families["acme"]["where"], f"{self.folder}/acme.toml")
        self.assertEqual([one["label"] for one in families["acme"]["labels"]], ["cu130", "cu126", "cpu"])
        self.assertEqual(families["torch"]["members"], ["torch", "torchvision", "torchaudio"])
        self.assertEqual(families["torch"]["label_in"], "version")

    def test_a_file_of_its_name_replaces_the_shipped_torch(self):
        index = self.own_index(all_files(["2.15"]))
        shipped = (SOURCE / "index/families/torch.toml").read_text()
        url = next(line for line in shipped.splitlines() if line.startswith("url = "))
        own = shipped.replace(url, f'url = "{index.url}"').replace('fallback = ["cpu"]', 'fallback = []')
        # An order of the labels of one's own: cu130 before cu132.
        head, *tables = own.split("[[labels]]\n")
        own = "[[labels]]\n".join([head, tables[1], tables[0], *tables[2:]])
        self.write(own, "torch.toml")
        package = self.assert_ok(self.ask("resolve", "torch", "--json")).json["packages"][0]
        self.assertEqual(package["variant"], "cu130")
        families = {one["name"]: one for one in self.variant("index", "families", "--json").json["families"]}
        self.assertEqual(families["torch"]["where"], f"{self.folder}/torch.toml")
        self.assertEqual(families["torch"]["fallback"], [])

    def test_a_file_comes_before_a_shipped_family_whatever_its_name(self):
        folders = Folders(self.root / "mine", "torch")
        folders.add("1.0", "cu126", "cpu")
        for name in ("a-torch", "zeta"):
            self.write(ACME.format(url=folders.url).replace("acme-kernels", "torch").replace('"acme"', f'"{name}"'))
            package = self.assert_ok(self.ask("resolve", "torch", "--json")).json["packages"][0]
            self.assertEqual((package["family"], package["variant"]), (name, "cu126"))

    def test_an_index_on_the_command_line_silences_families_unless_one_is_named(self):
        index = self.own_index(all_files(["2.9"]))
        plain = stand_in("torch", "2.9.1", None, "linux_x86_64")
        self.default.add("torch", plain.name, plain.data)
        asked = ["resolve", "torch", "--json", "-i", self.default.url]
        for more, label in [([], None), (["--family", f"torch={index.url}"], "cu130")]:
            package = self.assert_ok(self.ask(*asked, *more)).json["packages"][0]
            self.assertEqual(package["variant"], label)
        self.assert_fails(self.ask("resolve", "torch", "--no-index"), 1, "torch")

    def test_misuse_of_the_option(self):
        for value, words in [("torch", "NAME=URL"), ("=x", "NAME=URL"), ("torch=", "NAME=URL"), ("nothing=/x", "torch"),
                             ("torch=ftp://x/y", "http"), ("llama-cpp-python=/x", "{label}"), ("", "NAME=URL")]:
            with self.subTest(value=value):
                self.assert_fails(self.ask("resolve", "torch", "--family", value), 2, "--family", words)

    def test_a_mirror_is_a_path_or_an_address(self):
        index = self.own_index(all_files(["2.9"]))
        for place in (index.url, index.url + "/", str(index.folder), "torch-index", "./torch-index"):
            with self.subTest(place=place):
                result = self.assert_ok(self.ask("resolve", "torch", "--family", f"torch={place}", cwd=self.root))
                self.assertIn("torch 2.9.1+cu130", result.out)

    def test_families_need_no_folder_of_their_own(self):
        for config in ("/nowhere", "relative", ""):
            self.assert_ok(self.variant("index", "families", env={"XDG_CONFIG_HOME": config}))
        (self.root / "config-file").write_text("")
        self.env["XDG_CONFIG_HOME"] = str(self.root / "config-file")
        self.assert_ok(self.variant("index", "families"))
        del self.env["XDG_CONFIG_HOME"]
        self.assert_ok(self.variant("index", "families", env={"HOME": "/dev/null"}))

    def test_what_is_no_family_file_is_passed_over(self):
        for name in ("notes.txt", "acme.toml~", "acme.toml.bak"):
            self.write("not TOML at all [", name)
        self.assert_ok(self.variant("index", "families"))


class Broken(UserFiles):
    def setUp(self):
        super().setUp()
        self.default.add_wheel(Wheel("demo", "1.0"))
        self.good = ACME.format(url="file:///nowhere/{label}")

    def assert_refused(self, *words, name="acme.toml"):
        for command in (["index", "families"], ["install", "demo", "--python", self.venv]):
            self.assert_fails(self.variant(*command), 2, f"{self.folder}/{name}", *words)
        self.assertEqual(self.variant("index", "families", "--json").json["error"]["kind"] in
                         ("malformed", "unsupported", "io"), True)
        self.assertEqual(self.installed(), {})

    def line_of(self, text, words):
        return next(number for number, line in enumerate(text.splitlines(), 1) if words in line)

    def test_each_fault_names_the_file_the_line_and_the_key(self):
        label = 'name = "cu126"'
        for old, new, key in [
                ('date = "2026-11-20"', 'date = "2026-11-20"\ncolour = "red"', "colour"),
                ('members = ["acme-kernels"]', 'members = "acme-kernels"', "members"),
                ('members = ["acme-kernels"]', "members = []", "members"),
                ('members = ["acme-kernels"]', 'members = ["acme-kernels", "Acme_Kernels"]', "duplicate"),
                ('members = ["acme-kernels"]', 'members = ["../etc"]', "members"),
                ('label-in = "folder"', 'label-in = "name"', "label-in"),
                ('label-in = "folder"', 'label-in = 3', "label-in"),
                ('name = "acme"', 'name = "a/b"', "name"),
                ('fallback = ["cpu"]', 'fallback = ["gpu"]', "fallback"),
                (label, 'name = "cu130"', "duplicate"),
                (label, 'name = "CU126"', "name"),
                (label, "name = 126", "name"),
                ('toolkit = "12.6"', 'toolkit = "twelve"', "toolkit"),
                ('toolkit = "12.6"', "toolkit = 12.6", "toolkit"),
                ('cuda = "12.0"', "", "cuda"),
                ('vendor = "nvidia"\ntoolkit = "12.6"', 'vendor = "acme"\ntoolkit = "12.6"', "vendor"),
                ('ptx = ["9.0"], source = ["CI"]', 'ptx = ["9.0"]', "source"),
                ('ptx = ["9.0"], source = ["CI"]', 'ptx = ["9.0"], source = ["CJ"]', "CJ"),
                ('label = "cu126", platform = "linux_x86_64"', 'label = "cu126", platform = "linux_riscv64"', "platform"),
                ('label = "cu126", platform', 'label = "cu130", platform', "duplicate"),
                ('label = "cu126", platform', 'label = "cu999", platform', "cu999"),
                ('code = ["6.0", "9.0"]', 'code = ["6"]', "code"),
                ('code = ["6.0", "9.0"]', 'code = []', "code"),
                ('code = ["6.0", "9.0"]', 'code = "all"', "code"),
                ('code = ["6.0", "9.0"]', 'code = ["sm_60"]', "code"),
                ('confidence = "high" },\n]', 'confidence = "sure" },\n]', "confidence"),
                (', confidence = "high" },\n]', ' },\n]', "confidence"),
                ('version = "*"', 'version = "2.14rc1"', "version"),
                ('version = "*"', 'version = "*"\ngoes-with = { torch = "==1" }', "goes-with"),
                ('version = "*"', 'version = "*"\ngoes-with = { acme-kernels = "what" }', "goes-with"),
                ('version = "*"', 'version = "*"\ndefault-index = { linux_x86_64 = "cu999" }', "default-index"),
                ('date = "2026-11-20"', 'date = "2026-11-20"\nended = { torch = "1" }', "ended"),
                ('date = "2026-11-20"', 'date = "2026-11-20"\nended-platforms = { macos_x86_64 = "two" }', "ended-platforms")]:
            text = self.good.replace(old, new, 1)
            self.assertNotEqual(text, self.good)
            with self.subTest(new=new):
                self.write(text)
                self.assert_refused(key)
                self.assertRegex(self.variant("index", "families").err, r"acme\.toml:\d+")

    def test_the_line_is_said(self):
        text = self.good.replace('label-in = "folder"', 'label-in = "name"')
        self.write(text)
        self.assert_refused(str(self.line_of(text, "label-in")), "label-in")
        text = self.good.replace('cuda = "12.0"', 'cuda = "twelve"')
        self.write(text)
        self.assert_refused(str(self.line_of(text, '"twelve"')), "cuda")

    def test_a_release_there_twice(self):
        self.write(self.good + self.good[self.good.index("[[releases]]"):])
        self.assert_refused("duplicate")

    def test_a_newer_schema_wants_a_newer_axle(self):
        self.write(self.good.replace("schema = 1", "schema = 2\nnew-key = 1"))
        self.assert_refused("schema", "newer version of Axle")
        for schema in ("", 'schema = "1"', "schema = 1.0", "schema = -1", "schema = 99999999999999999999"):
            self.write(self.good.replace("schema = 1", schema))
            self.assert_refused("schema" if not schema.endswith("9") else "acme.toml")

    def test_what_is_not_toml(self):
        for text in (b"", b"\n\n", b"not toml [", b"\x00" * 100, b"\xff\xfe\xfa", self.good.encode() + b"\x00",
                     self.good.replace("CI = ", "CI\x07 = ").encode(), b"[" * 100000, b"a = " + b"[" * 100000,
                     b"a" * (9 << 20), b"x = 1\n" * 3, b"\xef\xbb\xbf[[", self.good.encode()[:300]):
            with self.subTest(text=text[:30]):
                self.write(text)
                self.assert_refused()

    def test_control_characters_do_not_reach_the_terminal(self):
        escape = "\\u001b[2J"
        for old, new in [('name = "acme"', f'name = "acme{escape}"'), ('label-in = "folder"', f'label-in = "{escape}"'),
                         ('date = "2026-11-20"', f'date = "2026-11-20"\n"{escape}" = 1'),
                         ('name = "cu126"', f'name = "{escape}"'), ('members = ["acme-kernels"]', f'members = ["{escape}"]')]:
            with self.subTest(new=new):
                self.write(self.good.replace(old, new))
                self.assertNotIn("\x1b", self.variant("index", "families").err)
                self.assert_refused()
        for old, new in [("the build script", escape), ('"2026-11-20"', f'"{escape}"')]:
            self.write(self.good.replace(old, new))
            result = self.variant("index", "families")
            self.assertNotIn("\x1b", result.err + result.out)

    def test_a_file_that_cannot_be_read(self):
        self.write(self.good)
        (self.folder / "acme.toml").chmod(0)
        if not os.access(self.folder / "acme.toml", os.R_OK):
            self.assert_refused()
        (self.folder / "acme.toml").unlink()
        (self.folder / "acme.toml").mkdir()
        self.assert_refused()

    def test_what_is_no_file(self):
        for place in ("/dev/zero", "/dev/null"):
            (self.folder / "acme.toml").symlink_to(place)
            self.assert_refused()
            (self.folder / "acme.toml").unlink()
        os.mkfifo(self.folder / "acme.toml")
        self.assert_refused()

    def test_a_link_to_nowhere(self):
        (self.folder / "acme.toml").symlink_to("/nowhere/acme.toml")
        self.assert_refused()

    def test_a_broken_file_stops_nothing_that_needs_no_family(self):
        self.write("not TOML [")
        self.assert_ok(self.variant("install", "demo", "--python", self.venv, "-i", self.default.url))
        self.assert_ok(self.variant("list", "--python", self.venv))
        self.assertEqual(self.installed(), {"demo": ("1.0", None)})

    def test_two_files_cannot_have_one_project(self):
        other = self.good.replace('name = "acme"', 'name = "zeta"', 1)
        self.write(self.good)
        self.write(other, "zeta.toml")
        self.assert_refused("acme-kernels", "family acme", f"{self.folder}/acme.toml", name="zeta.toml")


class LabelsInFolders(TorchTestCase):
    """The shipped family llama-cpp-python: one index a label, versions without it."""

    def setUp(self):
        super().setUp()
        self.make_venv()
        self.folders = Folders(self.root / "llama", "llama-cpp-python")

    def ask(self, command, *arguments, machine, **options):
        return self.variant(command, *arguments, "-i", self.default.url, "--family", f"llama-cpp-python={self.folders.url}",
                            "--python", self.venv, "--for", machine, **options)

    def test_each_machine_gets_the_wheel_of_its_folder(self):
        self.folders.add("0.3.35", "cu132", "cu130", "cu125", "cu118", "rocm72", "cpu")
        for machine, label in [("h100", "cu132"), ("gtx1080ti", "cu125"), ("h100;nvidia:driver=550.54", "cu125"),
                               ("t4;nvidia:driver=470.57.02", "cu118"), ("mi300x", "rocm72"), ("none", "cpu"), ("bmg", "cpu")]:
            with self.subTest(machine=machine):
                package = self.assert_ok(self.ask("resolve", "llama-cpp-python", "--json", machine=machine)).json["packages"][0]
                self.assertEqual((package["version"], package["variant"]), ("0.3.35", label))
                self.assertIn(f"/{label}/", package["url"])

    def test_the_label_is_kept_and_upgrades_go_on(self):
        self.folders.add("0.3.34", "cu130", "cpu")
        self.assert_ok(self.ask("install", "llama-cpp-python", machine="h100"))
        self.assertEqual(self.installed(), {"llama-cpp-python": ("0.3.34", "cu130")})
        self.assertEqual(self.python("import llama_cpp_python; print(llama_cpp_python.BUILD)"), "cu130")
        self.assertRegex(self.variant("list", "--python", self.venv).out, r"llama-cpp-python +0\.3\.34 +cu130")
        self.assertEqual(self.variant("freeze", "--python", self.venv).out.strip(), "llama-cpp-python==0.3.34")
        self.folders.add("0.3.35", "cu132", "cu130", "cpu")
        again = self.assert_ok(self.ask("install", "llama-cpp-python", "--json", machine="none"))
        self.assertEqual(again.json["installed"], [])
        self.assert_ok(self.ask("install", "-U", "llama-cpp-python", machine="h100"))
        self.assertEqual(self.installed(), {"llama-cpp-python": ("0.3.35", "cu130")})
        self.assert_ok(self.ask("install", "-U", "llama-cpp-python", "--allow-backend-change", machine="h100"))
        self.assertEqual(self.installed(), {"llama-cpp-python": ("0.3.35", "cu132")})
        self.assertEqual(self.python("import llama_cpp_python; print(llama_cpp_python.BUILD)"), "cu132")
        self.assert_ok(self.ask("install", "--variant", "llama-cpp-python=cpu", "llama-cpp-python", machine="h100"))
        self.assertEqual(self.python("import llama_cpp_python; print(llama_cpp_python.BUILD)"), "cpu")

    def test_the_same_version_of_another_folder_is_another_build(self):
        # Same name, same version, other bytes: no cache may take one for the other.
        self.env["XDG_CACHE_HOME"] = str(self.root / "cache")
        self.folders.add("0.3.35", "cu132", "cu125", "cpu")
        for machine, label in [("h100", "cu132"), ("gtx1080ti", "cu125"), ("none", "cpu"), ("h100", "cu132")]:
            self.assert_ok(self.ask("install", "llama-cpp-python", "--reinstall", "--allow-backend-change", machine=machine))
            self.assertEqual(self.installed(), {"llama-cpp-python": ("0.3.35", label)})
            self.assertEqual(self.python("import llama_cpp_python; print(llama_cpp_python.BUILD)"), label)

    def test_the_same_over_http(self):
        self.folders.add("0.3.35", "cu132", "cu125", "cpu")
        base = self.serve()
        self.env["XDG_CACHE_HOME"] = str(self.root / "cache")
        for machine, label in [("h100", "cu132"), ("gtx1080ti", "cu125"), ("none", "cpu"), ("h100", "cu132")]:
            result = self.variant("install", "llama-cpp-python", "--reinstall", "--allow-backend-change", "-i",
                                  self.default.url, "--family", f"llama-cpp-python={base}/llama/{{label}}", "--python", self.venv, "--for", machine)
            self.assert_ok(result)
            self.assertEqual(self.python("import llama_cpp_python; print(llama_cpp_python.BUILD)"), label)

    def test_a_version_that_a_folder_lacks_is_no_source_build(self):
        # The default index has sources only, which pip would fall back to.
        self.folders.add("0.3.34", "cu130", "cpu")
        self.folders.add("0.3.35", "cpu")
        self.default.add("llama-cpp-python", "llama_cpp_python-0.3.35.tar.gz", b"sources")
        result = self.assert_ok(self.ask("resolve", "llama-cpp-python", machine="h100"))
        self.assertIn("llama-cpp-python 0.3.34 (variant cu130)", result.out)
        self.assertIn("0.3.35", result.err)
        self.assertIn("llama-cpp-python 0.3.35 (variant cpu)", self.ask("resolve", "llama-cpp-python", machine="none").out)

    def test_dependencies_come_from_the_default_index(self):
        self.folders.add("0.3.35", "cpu", requires=["diskcache>=5"])
        self.folders.add("9.0", "cpu", project="diskcache")
        self.default.add_wheel(Wheel("diskcache", "5.6.3"))
        self.assert_ok(self.ask("install", "llama-cpp-python", machine="none"))
        self.assertEqual(self.installed(), {"diskcache": ("5.6.3", None), "llama-cpp-python": ("0.3.35", "cpu")})

    def test_the_backend_of_torch_does_not_reach_it(self):
        self.folders.add("0.3.35", "cu132", "cpu")
        package = self.assert_ok(self.ask("resolve", "llama-cpp-python", "--torch-backend", "cpu", "--json",
                                          machine="h100")).json["packages"][0]
        self.assertEqual(package["variant"], "cu132")


if __name__ == "__main__":
    unittest.main(verbosity=2)
