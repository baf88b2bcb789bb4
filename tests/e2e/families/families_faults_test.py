"""torch's index as it is, and as it should not be: each fault of an index alone, and what is said of it."""

import collections
import hashlib
import json
import os
import pathlib
import socket
import sys
import unittest
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import Wheel, variant_document
from torch_index import File, TorchTestCase, all_files, stand_in, tags

FAMILY = ("torch", "torchvision", "torchaudio")
GOOD = {"torch": ("2.15.0", "cu132"), "torchvision": ("0.29.2", "cu132")}
WAY_OUT = "--family torch=URL"


class Served(TorchTestCase):
    """The family's index on loopback; `mode` as tests/support/index_server.h has it."""

    def setUp(self):
        super().setUp()
        self.make_venv()
        self.base = self.serve()
        self.env["PIP_TIMEOUT"] = "2"
        self.env["PIP_RETRIES"] = "0"

    def index(self, files=None, mode="", **options):
        index = self.own_index(all_files(["2.15", "2.14", "2.11"]) if files is None else files, **options)
        self.torch_url = f"{self.base}{mode}/torch-index"
        return index

    def seen(self):
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        return json.loads(opener.open(self.base + "/-/seen", timeout=10).read())

    def assert_refused(self, result, *words):
        self.assert_fails(result, 1, "family torch", *words)
        self.assertEqual(self.installed(), {})


class Pages(Served):
    def test_a_page_of_links_is_enough(self):
        self.index()
        self.assert_ok(self.install_for("h100", "torch", "torchvision"))
        self.assertEqual(self.labels(), GOOD)
        self.assertTrue(any("%2Bcu132" in one["target"] for one in self.seen()))

    def test_links_without_hashes_or_metadata(self):
        for hashes, metadata in [(False, True), (True, False), (False, False)]:
            with self.subTest(hashes=hashes, metadata=metadata):
                self.venv = self.make_venv(self.root / f"venv-{hashes}-{metadata}")
                self.index(hashes=hashes, metadata=metadata)
                self.assert_ok(self.install_for("h100", "torch", "torchvision", "--no-cache"))
                self.assertEqual(self.labels(), GOOD)

    def test_a_wrong_hash_of_the_wheel_stops_everything(self):
        index = self.index()
        page = index.folder / "torch/index.html"
        wheel = next(file for file in index.files if file.name.startswith("torch-2.15.0+cu132"))
        digest = hashlib.sha256(wheel.data).hexdigest()
        page.write_text(page.read_text().replace("#sha256=" + digest, "#sha256=" + "0" * 64))
        self.assert_fails(self.install_for("h100", "torch", "torchvision"), 1, "0000", digest)
        self.assertEqual(self.installed(), {})

    def test_a_wrong_hash_of_the_metadata_is_a_warning(self):
        index = self.index()
        page = index.folder / "torch/index.html"
        wheel = next(file for file in index.files if file.name.startswith("torch-2.15.0+cu132"))
        digest = hashlib.sha256(wheel.metadata).hexdigest()
        page.write_text(page.read_text().replace(f'"sha256={digest}"', f'"sha256={hashlib.sha256(wheel.data).hexdigest()}"'))
        result = self.assert_ok(self.install_for("h100", "torch"))
        self.assertIn("warning", result.err)
        self.assertEqual(self.labels(), {"torch": GOOD["torch"]})

    def test_a_bare_plus_in_the_link(self):
        index = self.index()
        for page in index.folder.rglob("index.html"):
            page.write_text(page.read_text().replace("%2B", "+"))
        self.assert_ok(self.install_for("h100", "torch", "torchvision"))
        self.assertEqual(self.labels(), GOOD)

    def test_files_on_another_host(self):
        other = self.base.replace("127.0.0.1", "localhost")
        self.index(files_url=other + "/torch-index/files")
        self.assert_ok(self.install_for("h100", "torch", "torchvision"))
        self.assertEqual(self.labels(), GOOD)

    def test_a_page_that_redirects(self):
        self.index(mode="/-redirect")
        self.assertEqual(self.builds("torch", "torchvision", machine="h100"), GOOD)

    def test_one_page_and_one_folder_a_label_give_the_same(self):
        self.index(all_files())
        page = self.torch_url
        for url in (page + "/{label}", self.own_index(all_files()).url + "/{label}"):
            for machine in ("h100", "gtx1080ti", "mi300x", "bmg", "none"):
                for asked in (["torch", "torchvision", "torchaudio"], ["torch==2.9.1", "torchvision"], ["torch==2.8.0+cu128"]):
                    self.torch_url = page
                    expected = self.builds(*asked, machine=machine)
                    self.torch_url = url
                    with self.subTest(url=url, machine=machine, asked=asked):
                        self.assertEqual(self.builds(*asked, machine=machine), expected)

    def test_a_mirror_may_have_some_of_the_folders_only(self):
        # Of the twenty labels that the family knows this mirror has three.
        index = self.index([file for file in all_files(["2.14"]) if file.label in ("cu126", "cpu", "rocm7.2")])
        for url in (index.url + "/{label}", self.torch_url + "/{label}"):
            self.torch_url = url
            with self.subTest(url=url):
                self.assert_builds({"torch": ("2.14.1", "cu126")}, "torch", machine="h100")
                self.assert_builds({"torch": ("2.14.1", "cpu")}, "torch", machine="bmg")

    def test_files_without_a_label_are_no_backend(self):
        # At the root of torch's index, and so in every folder: builds for aarch64 of which the name does not say the backend.
        for project, version in [("torchvision", "0.24.1"), ("torchvision", "0.29.2")]:
            self.index(all_files(platforms=("linux_x86_64", "linux_aarch64")) +
                       [stand_in(project, version, None, "linux_aarch64", ["torch"])])
            for url in (self.torch_url, self.torch_url + "/{label}"):
                self.torch_url = url
                with self.subTest(version=version, url=url):
                    self.assert_builds({"torch": ("2.9.1", "cu130"), "torchvision": ("0.24.1", "cu130")}, "torch==2.9.1",
                                       "torchvision", machine="gh200")
                    self.assert_builds({"torch": ("2.15.0", "cpu"), "torchvision": ("0.29.2", "cpu")}, "torch",
                                       "torchvision", machine="orin")

    def test_an_index_without_any_label_is_taken_by_version_with_a_word(self):
        self.index([stand_in("torch", "2.15.0", None, "linux_x86_64")])
        result = self.assert_ok(self.family("resolve", "torch==2.15.0", machine="h100"))
        self.assertIn("torch 2.15.0  ", result.out)
        self.assertRegex(result.err, r"warning: .*the family torch does not specify what")

    def test_where_no_file_with_a_label_fits_the_one_without_is_taken_with_a_word(self):
        self.index(all_files(["2.9"]) + [stand_in("torchvision", "0.24.1", None, "linux_aarch64"),
                                         stand_in("torch", "2.9.1", "cpu", "linux_aarch64")])
        result = self.assert_ok(self.family("resolve", "torchvision==0.24.1", machine="gh200"))
        self.assertIn("torchvision 0.24.1  ", result.out)
        self.assertRegex(result.err, r"warning: .*the family torch does not specify what")

    def test_a_refusal_names_the_file_without_a_label_that_a_pin_would_take(self):
        vision = stand_in("torchvision", "0.24.1", None, "linux_aarch64")
        self.index(all_files(["2.9"]) + [vision, stand_in("torch", "2.9.1", "cpu", "linux_aarch64")])
        result = self.family("resolve", "torchvision", machine="gh200")
        self.assertIn("the family torch does not specify what", result.err)
        self.index([stand_in("torch", "2.15.0", None, "linux_x86_64")])
        self.assertIn("the family torch does not specify what", self.family("resolve", "torch", machine="h100").err)

    def test_a_newer_release_without_labels_is_not_taken_while_one_with_them_fits(self):
        self.index(all_files(["2.9"], platforms=("linux_aarch64",)) + [stand_in("torchvision", "0.26.0", None, "linux_aarch64")])
        self.assert_builds({"torch": ("2.9.1", "cu130"), "torchvision": ("0.24.1", "cu130")}, "torchvision", machine="gh200")

    def test_labels_with_dots(self):
        self.index([file for file in all_files() if file.label in ("rocm6.4", "rocm6.2.4", "cpu")])
        self.assert_ok(self.install_for("mi300x", "torch", "torchvision"))
        self.assertEqual(self.labels(), {"torch": ("2.9.1", "rocm6.4"), "torchvision": ("0.24.1", "rocm6.4")})
        self.assert_neighbours_work()
        self.assert_builds({"torch": ("2.7.1", "rocm6.2.4")}, "torch==2.7.1", machine="mi300x")
        self.assert_builds({"torch": ("2.6.0", "rocm6.2.4")}, "torch==2.6.0+rocm6.2.4", machine="none")
        self.assert_builds({"torch": ("2.7.1", "rocm6.2.4")}, "torch", "--torch-backend", "rocm6.2.4", machine="none")

    def test_a_dependency_that_the_index_lost_is_named_with_who_needs_it(self):
        self.index([stand_in("torch", "2.15.0", "cu132", "linux_x86_64", ["nvidia-cudnn-cu13==9.1.0.70"])])
        self.assert_fails(self.install_for("h100", "torch"), 1, "nvidia-cudnn-cu13", "torch 2.15.0+cu132")
        self.default.add_wheel(Wheel("nvidia-cudnn-cu13", "9.2.0"))
        self.assert_fails(self.install_for("h100", "torch"), 1, "nvidia-cudnn-cu13==9.1.0.70", "torch 2.15.0+cu132", "9.2.0")
        self.assertEqual(self.installed(), {})

    def test_a_large_wheel_is_read_in_parts(self):
        bulk = Wheel("torch", "2.15.0+cu132", tags=tags("linux_x86_64"),
                     files={"torch/__init__.py": "", "torch/lib/code.so": os.urandom(4 << 20)})
        data = bulk.bytes()
        self.index([File("torch", "cu132", bulk.file_name, data, b"")], metadata=False)
        self.assertEqual(self.builds("torch", machine="h100", env={"XDG_CACHE_HOME": str(self.root / "c")}), {"torch": GOOD["torch"]})
        wheels = [one for one in self.seen() if one["target"].endswith(".whl")]
        self.assertTrue(wheels)
        self.assertTrue(all(one["range"].startswith("bytes=") for one in wheels), wheels)
        self.assert_ok(self.install_for("h100", "torch"))

    def test_a_server_without_ranges(self):
        self.index(mode="/-no-range", metadata=False)
        self.assert_ok(self.install_for("h100", "torch"))
        self.assertEqual(self.labels(), {"torch": GOOD["torch"]})

    def test_a_wheel_whose_metadata_names_another_backend_is_passed_over(self):
        wheel = stand_in("torch", "2.15.0", "cu130", "linux_x86_64")
        lie = wheel._replace(label="cu132", name=wheel.name.replace("cu130", "cu132"))
        self.index([lie, stand_in("torch", "2.14.1", "cu132", "linux_x86_64")])
        result = self.assert_ok(self.install_for("h100", "torch"))
        self.assertEqual(self.labels(), {"torch": ("2.14.1", "cu132")})
        self.assertIn("2.15.0+cu130", result.err)


class Beside(Served):
    """The family's index and the default index."""

    def test_the_default_index_s_plain_wheel_stands_for_its_backend(self):
        # 2.9.1 of the default index is cu128, says the table.
        self.index([file for file in all_files(["2.9"]) if file.label in ("cu126", "cpu")])
        plain = stand_in("torch", "2.9.1", None, "linux_x86_64")
        self.default.add("torch", plain.name, plain.data)
        self.assert_ok(self.install_for("h100", "torch"))
        self.assertEqual(self.installed(), {"torch": ("2.9.1", "cu128")})
        self.assert_builds({"torch": ("2.9.1", "cu126")}, "torch", machine="gtx1080ti")
        self.assert_builds({"torch": ("2.9.1", "cpu")}, "torch", machine="none")
        again = self.assert_ok(self.install_for("h100", "torch", "--json"))
        self.assertEqual(again.json["installed"], [])

    def test_the_family_s_own_build_comes_before_the_same_of_the_default_index(self):
        self.index(all_files(["2.9"]))
        plain = stand_in("torch", "2.9.1", None, "linux_x86_64")
        self.default.add("torch", plain.name, plain.data)
        package = self.family("resolve", "torch==2.9.1", "--torch-backend", "cu128", "--json", machine="h100").json["packages"][0]
        self.assertTrue(package["url"].startswith(self.base), package["url"])

    def test_build_tags_of_the_default_index(self):
        self.index(all_files(["2.9"]))
        for tag in ("-2", "-3", ""):
            data = Wheel("torch", "2.10.0", tags=tags("linux_x86_64"), files={"torch/__init__.py": f"BUILD = {tag!r}\n"}).bytes()
            self.default.add("torch", f"torch-2.10.0{tag}-{tags('linux_x86_64')}.whl", data)
        result = self.assert_ok(self.install_for("h100", "torch", "--json"))
        self.assertTrue(result.json["packages"][0]["wheel"].startswith("torch-2.10.0-3-"), result.json["packages"][0]["wheel"])
        self.assertEqual(self.installed(), {"torch": ("2.10.0", "cu128")})

    def test_variant_metadata_of_the_default_index_silences_the_family(self):
        self.index(all_files(["2.15", "2.9"]))
        document = variant_document({"hopper": [("nvidia", "sm_arch", ["90_real"])], "null": []}, ["nvidia"])
        for label in document["variants"]:
            self.default.add_wheel(Wheel("torch", "2.15.0", label, document, tags=tags("linux_x86_64")))
        self.default.add_variants("torch", "2.15.0", document)
        self.assert_builds({"torch": ("2.15.0", "hopper")}, "torch", machine="h100")
        self.assert_builds({"torch": ("2.15.0", "null")}, "torch", machine="none")
        self.assert_builds({"torch": ("2.9.1", "cu130")}, "torch==2.9.1", machine="h100")
        self.assert_ok(self.install_for("h100", "torch"))
        self.assertEqual(self.installed(), {"torch": ("2.15.0", "hopper")})

    def test_an_extra_index_of_one_backend(self):
        self.index(all_files())
        extra = ["--extra-index-url", self.torch_url + "/cu126"]
        for machine in ("h100", "gtx1080ti"):
            self.assert_builds({"torch": ("2.14.1", "cu126"), "torchvision": ("0.29.1", "cu126")}, "torch", "torchvision", *extra,
                               machine=machine)

    def test_a_member_that_only_the_default_index_has(self):
        self.index([file for file in all_files(["2.9"]) if file.project == "torch"])
        vision = stand_in("torchvision", "0.24.1", None, "linux_x86_64", ["torch==2.9.1"])
        self.default.add("torchvision", vision.name, vision.data)
        self.assert_builds({"torch": ("2.9.1", "cu128"), "torchvision": ("0.24.1", "cu128")}, "torch==2.9.1+cu128",
                           "torchvision", machine="h100")
        result = self.assert_ok(self.family("resolve", "torch", "torchvision", machine="h100"))
        self.assertIn("torch 2.9.1+cu128", result.out)
        self.assertIn("torch 2.9.1 is chosen with build cu128 instead of cu130, which torchvision does not have", result.err)

    def test_what_only_the_family_has_is_not_looked_for_elsewhere(self):
        needs = ["pytorch-triton-rocm==3.4.0"]
        self.index([stand_in("torch", "2.9.1", "rocm6.4", "linux_x86_64", needs),
                    stand_in("pytorch-triton-rocm", "3.4.0", None, "linux_x86_64")])
        self.default.add_wheel(Wheel("pytorch-triton-rocm", "9.9.9"))
        self.default.add_wheel(Wheel("pytorch-triton-rocm", "3.4.0"))
        packages = self.assert_ok(self.install_for("mi300x", "torch", "--json")).json["packages"]
        triton = next(one for one in packages if one["name"] == "pytorch-triton-rocm")
        self.assertTrue(triton["url"].startswith(self.base), triton["url"])
        self.assertEqual(triton["version"], "3.4.0")
        # Not for a version that the family's index lacks, either.
        self.assert_fails(self.family("resolve", "pytorch-triton-rocm==9.9.9", machine="mi300x"), 1, "9.9.9")

    def test_a_local_version_of_what_has_no_labels_is_no_label(self):
        full = "3.2.0+git4b3bb1f8"
        self.index([stand_in("torch", "2.6.0", "rocm6.2.4", "linux_x86_64", [f"pytorch-triton-rocm=={full}"]),
                    stand_in("pytorch-triton-rocm", "3.2.0", "git4b3bb1f8", "linux_x86_64")])
        result = self.assert_ok(self.install_for("mi300x", "torch"))
        self.assertNotIn("warning", result.err)
        self.assertEqual(self.installed(), {"torch": ("2.6.0+rocm6.2.4", "rocm6.2.4"), "pytorch-triton-rocm": (full, None)})


class Down(Served):
    def setUp(self):
        super().setUp()
        self.default.add_wheel(Wheel("demo", "1.0"))
        plain = stand_in("torch", "2.9.1", None, "linux_x86_64")
        self.default.add("torch", plain.name, plain.data)

    def test_an_index_that_cannot_be_used_is_named_with_the_way_around_it(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))  # nobody listens here
            self.torch_url = f"http://127.0.0.1:{taken.getsockname()[1]}/whl"
            self.assert_refused(self.install_for("h100", "torch"), self.torch_url, WAY_OUT)
        for mode in ("-status-500", "-status-403", "-login", "-hang", "-cut", "-redirect-loop", "-redirect-file", "-bomb"):
            with self.subTest(mode=mode):
                self.index([stand_in("torch", "2.15.0", "cu132", "linux_x86_64")], mode="/" + mode)
                self.assert_refused(self.install_for("h100", "torch", "--no-cache"), f"{self.base}/{mode}/torch-index", WAY_OUT)
        self.torch_url = f"{self.base}/-status-500/torch-index/{{label}}"
        self.assert_refused(self.install_for("h100", "torch", "--no-cache"), f"{self.base}/-status-500/torch-index/cu132", WAY_OUT)

    def test_a_family_that_is_down_does_not_touch_what_is_not_of_it(self):
        self.index(mode="/-status-500")
        self.assert_ok(self.install_for("h100", "demo"))
        self.assert_ok(self.install_for("h100", "torch", "--no-variants"))
        self.assertEqual(self.installed(), {"demo": ("1.0", None), "torch": ("2.9.1", None)})

    def test_a_member_that_the_family_s_index_lacks_is_the_default_index_s(self):
        self.index([stand_in("torch", "2.9.1", "cu128", "linux_x86_64")])
        self.default.add_wheel(Wheel("torchvision", "0.24.1", tags=tags("linux_x86_64"), requires=["torch==2.9.1"]))
        self.assert_builds({"torch": ("2.9.1", "cu128"), "torchvision": ("0.24.1", "cu128")}, "torch", "torchvision",
                           machine="h100")

    def test_an_index_without_torch_is_not_torch_s(self):
        self.index([])
        (self.root / "torch-index").mkdir(exist_ok=True)
        for url in (self.torch_url, self.base + "/-status-404/torch-index", self.base + "/-status-404/torch-index/{label}"):
            self.torch_url = url
            self.assert_refused(self.install_for("h100", "torch"), "has no torch", WAY_OUT)

    def test_credentials_of_a_mirror_are_not_printed(self):
        self.index()
        address = self.torch_url.replace("http://", "http://bob:hunter2@")
        for url in (address, address + "/wrong", address.replace("http:", "ftp:"), address + "/{label}"):
            self.torch_url = url
            for command in (["resolve", "torch", "-v"], ["explain", "torch", "--json"], ["index families"]):
                result = self.family(command[0], *command[1:], machine="h100") if len(command) > 1 else \
                    self.variant("index", "families", "--family", f"torch={url}", "--json")
                self.assertNotIn("hunter2", result.out + result.err)

    def test_the_family_s_own_file_comes_before_the_default_index_s(self):
        self.index([stand_in("torch", "2.15.0", "cu132", "linux_x86_64")])
        self.default.add_wheel(Wheel("torch", "2.15.0+cu132", tags="9-" + tags("linux_x86_64")))
        result = self.assert_ok(self.family("resolve", "torch", "--json", machine="h100"))
        self.assertTrue(result.json["packages"][0]["url"].startswith(self.base), str(result))

    def test_a_local_version_that_is_no_label_is_nothing_that_is_known(self):
        self.index([stand_in("torch", version, label, "linux_x86_64") for version, label in
                    [("2.6.0", "cu126"), ("2.5.0", "cpu")]])
        self.default.add_wheel(Wheel("torch", "2.6.0+corp.1", tags=tags("linux_x86_64")))
        self.assert_builds({"torch": ("2.6.0", "cu126")}, "torch==2.6.0", machine="h100")
        result = self.assert_ok(self.family("resolve", "torch==2.6.0+corp.1", machine="none"))
        self.assertIn("torch 2.6.0+corp.1  ", result.out)
        self.assertIn("the family torch does not specify what", result.err)

    def test_explain_speaks_of_what_resolve_takes(self):
        self.index([stand_in("torch", "2.15.0", label, "linux_x86_64") for label in ("cpu", "cu132")])
        stand_in_folder = self.root / "links"
        wheel = stand_in("torch", "2.15.0", "cu132", "linux_x86_64")
        stand_in_folder.mkdir()
        (stand_in_folder / wheel.name).write_bytes(wheel.data)
        for command in ("resolve", "explain"):
            result = self.assert_ok(self.family(command, "torch", "-f", stand_in_folder, machine="none"))
            self.assertIn("torch 2.15.0+cpu" if command == "resolve" else "torch 2.15.0: cpu", result.out)
            self.assertNotIn("not the newest", result.err)

    def test_a_page_of_very_many_labels(self):
        links = [File("torch", None, f"torch-2.15.0+x{i}-py3-none-any.whl", b"", b"") for i in range(20000)]
        index = self.index([stand_in("torch", "2.15.0", "cpu", "linux_x86_64")], hashes=False, metadata=False)
        page = index.page("torch", links + index.files, 1)
        (index.folder / "torch/index.html").write_text(page.replace("files/none", "files/cpu"))
        self.assert_builds({"torch": ("2.15.0", "cpu")}, "torch", machine="none")

    def test_a_name_that_no_index_has_is_looked_for_in_the_family_s_as_well(self):
        self.index([], mode="/-status-404")
        self.assert_fails(self.install_for("h100", "torchvision"), 1, self.torch_url)

    def test_a_wheel_that_cannot_be_had_changes_nothing(self):
        for mode in ("-status-500", "-cut", "-wrong", "-status-404"):
            with self.subTest(mode=mode):
                self.index(files_url=f"{self.base}/{mode}/torch-index/files", metadata=False)
                result = self.install_for("h100", "torch==2.15.0", "--no-cache")
                self.assertNotEqual(result.code, 0, str(result))
                self.assertEqual(self.installed(), {})

    def test_offline_with_what_was_kept(self):
        self.index()
        self.env["XDG_CACHE_HOME"] = str(self.root / "cache")
        self.assert_fails(self.install_for("h100", "torch", "--offline"), 1, "family torch", "offline")
        self.assert_ok(self.install_for("h100", "torch", "torchvision"))
        self.venv = self.make_venv(self.root / "other")
        self.assert_ok(self.install_for("h100", "torch", "torchvision", "--offline"))
        self.assertEqual(self.labels(), GOOD)
        result = self.install_for("gtx1080ti", "torch", "--offline", "--reinstall", "--allow-backend-change")
        self.assertNotEqual(result.code, 0, str(result))
        self.assertIn("offline", result.err)
        self.assertEqual(self.labels(), GOOD)
        result = self.assert_ok(self.install_for("gtx1080ti", "torch", "--offline", "--reinstall"))
        self.assertIn("because it is installed, although this machine cannot run it", result.err)
        self.assertEqual(self.labels(), GOOD)

    def test_one_index_for_every_member_is_asked_once_a_project(self):
        self.index()
        self.env["XDG_CACHE_HOME"] = str(self.root / "cache")
        self.assertEqual(self.builds("torch", "torchvision", machine="h100"), GOOD)
        asked = collections.Counter(one["target"] for one in self.seen())
        self.assertEqual({target for target, times in asked.items() if times > 1}, set())


if __name__ == "__main__":
    unittest.main(verbosity=2)
