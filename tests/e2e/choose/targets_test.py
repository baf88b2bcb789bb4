"""--python-version, --implementation, --abi, --platform and --python-platform: the tags and markers of pip, uv and `packaging`."""

import json
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import support
from support import TestCase, Wheel, levels_document, publish_levels

ARCHITECTURES = ("x86_64", "aarch64")
PLATFORMS = ["any", "win_amd64", "win_arm64", "win32", "macosx_10_6_intel", "macosx_10_9_x86_64", "macosx_10_9_universal2", "macosx_11_0_arm64",
             "macosx_12_0_universal2", "macosx_13_0_arm64", "macosx_13_0_x86_64", "macosx_13_5_arm64", "macosx_14_0_arm64", "macosx_14_0_x86_64",
             "macosx_15_0_universal2", "manylinux_2_39_riscv64", "manylinux_2_40_riscv64"] + [
    f"{name}_{architecture}" for architecture in ARCHITECTURES
    for name in ("linux", "manylinux1", "manylinux2010", "manylinux2014", "manylinux_2_5", "manylinux_2_12", "manylinux_2_17",
                 "manylinux_2_18", "manylinux_2_28", "manylinux_2_31", "manylinux_2_36", "manylinux_2_40", "musllinux_1_1", "musllinux_1_2",
                 "musllinux_1_3")]
INTERPRETERS = ["py2-none", "py3-none", "py37-none", "py311-none", "py312-none", "py313-none", "cp37-cp37m", "cp37-abi3", "cp310-abi3",
                "cp312-abi3", "cp311-cp311", "cp312-cp312", "cp312-none", "cp313-cp313", "cp313-cp313t", "cp313-cp312", "cp313-abi3",
                "cp314-cp314t", "cp315-abi3t", "cp310-cp310", "cp310-none", "py310-none", "pp310-pypy310_pp73", "pp310-none", "py38-none"]
# `any` alone would fit nearly always.
TAGS = [f"py3-none-{platform}" for platform in PLATFORMS] + [
    f"{interpreter}-{platform}" for interpreter in INTERPRETERS
    for platform in ("any", "manylinux2014_x86_64", "manylinux_2_28_aarch64") if not interpreter.endswith("-none") or platform != "any"
    or not interpreter.startswith("py3-")]

# What pip and Axle are asked.
OF_PIP = [
    ["--python-version", "3.12"], ["--python-version", "312"], ["--python-version", "3.12.4"], ["--python-version", "37"],
    ["--python-version", "3.13", "--abi", "cp313t"], ["--python-version", "3.13", "--abi", "cp312"],
    ["--python-version", "3.12", "--abi", "abi3"], ["--python-version", "3.12", "--abi", "none"],
    ["--python-version", "3.12", "--abi", "cp312", "--abi", "none"],
    ["--platform", "manylinux2014_x86_64"], ["--platform", "manylinux2010_x86_64"], ["--platform", "manylinux1_x86_64"],
    ["--platform", "manylinux2014_aarch64"], ["--platform", "manylinux_2_28_x86_64"], ["--platform", "linux_x86_64"],
    ["--platform", "any"], ["--platform", "musllinux_1_2_aarch64"],
    ["--platform", "manylinux_2_28_x86_64", "--platform", "manylinux2014_x86_64", "--platform", "any"],
    ["--python-version", "3.12", "--platform", "manylinux_2_28_aarch64", "--platform", "manylinux2014_aarch64", "--implementation", "cp"],
    ["--python-version", "3.10", "--implementation", "pp", "--abi", "pypy310_pp73", "--platform", "manylinux2014_x86_64"],
    ["--python-version", "3.12", "--implementation", "py"],
    *(["--platform", one] for one in ("win_amd64", "win_arm64", "win32", "macosx_11_0_arm64", "macosx_14_0_arm64", "macosx_14_6_arm64",
                                      "macosx_26_0_x86_64", "macosx_10_9_x86_64", "macosx_12_0_universal2", "macosx_10_6_intel")),
    ["--platform", "macosx_14_0_arm64", "--platform", "macosx_13_0_arm64", "--platform", "any"],
    ["--python-version", "3.12", "--platform", "win_amd64", "--platform", "any"],
]
# The same of uv.
OF_UV = [
    *(["--python-version", one] for one in ("3.12", "3.12.4", "3.10", "3.13")),
    *(["--python-platform", one] for one in (
        "linux", "x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu", "x86_64-unknown-linux-musl", "aarch64-unknown-linux-musl",
        "riscv64-unknown-linux", "x86_64-manylinux2014", "x86_64-manylinux_2_17", "x86_64-manylinux_2_28", "x86_64-manylinux_2_31",
        "x86_64-manylinux_2_40", "aarch64-manylinux2014", "aarch64-manylinux_2_28", "aarch64-manylinux_2_36")),
    ["--python-version", "3.12", "--python-platform", "aarch64-manylinux_2_28"],
    *(["--python-platform", one] for one in (
        "windows", "x86_64-pc-windows-msvc", "aarch64-pc-windows-msvc", "i686-pc-windows-msvc", "macos", "aarch64-apple-darwin",
        "x86_64-apple-darwin")),
    ["--python-version", "3.12", "--python-platform", "macos"],
]
# Tags of which pip and `packaging` do not say the same: pip has pp310-none-any, `packaging` pp3-none-any.
# uv 0.13.9 counts 1_0 of musl out, and gives no free-threaded tags to an ordinary interpreter.

MARKERS = ["python_version == '3.12'", "python_full_version == '3.12.0'", "python_full_version == '3.12.4'", "implementation_version == '3.12.0'",
           "implementation_version == '3.12.4'", "implementation_name == 'cpython'", "platform_python_implementation == 'CPython'",
           "os_name == 'posix'", "sys_platform == 'linux'", "platform_system == 'Linux'", "platform_machine == 'aarch64'",
           "os_name == 'nt'", "sys_platform == 'win32'", "sys_platform == 'darwin'", "platform_system == 'Windows'",
           "platform_system == 'Darwin'", "platform_machine == 'AMD64'", "platform_machine == 'ARM64'", "platform_machine == 'arm64'",
           "platform_machine == 'x86'",
           "platform_machine == 'x86_64'", "platform_machine == 'riscv64'", "platform_release == ''", "platform_version == ''",
           "python_version < '3.11'"]


class Tags(TestCase):
    """Of each tag a package: 2 has the tag, 1 fits everywhere."""

    def setUp(self):
        super().setUp()
        self.make_venv()
        self.wheels = self.root / "wheels"
        self.packages = [f"p{number}" for number in range(len(TAGS))]
        for package, tag in zip(self.packages, TAGS):
            Wheel(package, "2", tags=tag).write(self.wheels)
            Wheel(package, "1", tags="py2.py3-none-any").write(self.wheels)
        Wheel("m", "1", requires=[f"p{number}; {marker}" for number, marker in enumerate(MARKERS)]).write(self.wheels)
        self.folder = ["--no-index", "--find-links", self.wheels]

    def fits(self, versions):
        self.assertEqual(set(versions), set(self.packages))
        return {tag for package, tag in zip(self.packages, TAGS) if versions[package] == "2"}

    def ours(self, options, *packages):
        result = self.assert_ok(self.variant("resolve", *options, *self.folder, "--python", self.venv, "--json", *packages))
        return {one["name"]: one["version"] for one in result.json["packages"]}

    def of_uv(self, options, *packages):
        result = self.assert_ok(self.uv("pip", "install", "--dry-run", *options, *self.folder, "--python", self.venv / "bin/python", *packages))
        return dict(line[3:].split("==") for line in result.err.splitlines() if line.startswith(" + "))

    def test_tags_of_pip(self):
        """pip is asked for its list itself: one run of it for so many packages takes long."""
        code = """if True:
            import json, sys
            from pip._internal.cli import cmdoptions
            from pip._internal.commands import create_command
            answers = []
            for words in json.load(sys.stdin):
                given, _ = create_command("download").parse_args(words)
                answers.append([str(tag) for tag in cmdoptions.make_target_python(given).get_sorted_tags()])
            print(json.dumps(answers))
        """
        if not (support.PEERS / "python").exists():
            self.skipTest("pip 26.3 is not there: ./dev setup brings it")
        done = subprocess.run([support.PEERS / "python", "-c", code], input=json.dumps(OF_PIP), env=self.env, text=True, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        # pip runs in an interpreter of its own, which must be ours where nothing else is stated.
        version = self.python("import sys; print(sys.version_info[:2])")
        same = subprocess.run([support.PEERS / "python", "-c", "import sys; print(sys.version_info[:2])"], text=True, capture_output=True)
        if same.stdout.strip() != version:
            self.skipTest(f"pip runs in {same.stdout.strip()}, the test in {version}")
        compared = 0
        for options, supported in zip(OF_PIP, json.loads(done.stdout)):
            with self.subTest(" ".join(options)):
                wanted = {tag for tag in TAGS if tag in supported}
                found = self.fits(self.ours(options, *self.packages))
                if "pp" in options:
                    wanted.discard("pp310-none-any")
                self.assertEqual(found, wanted, f"more: {found - wanted}, less: {wanted - found}")
                compared += len(wanted)
        self.assertGreater(compared, 10 * len(OF_PIP))

    def test_tags_of_uv(self):
        for options in OF_UV:
            with self.subTest(" ".join(options)):
                found, wanted = self.fits(self.ours(options, *self.packages)), self.fits(self.of_uv(options, *self.packages))
                self.assertEqual(found, wanted, f"more: {found - wanted}, less: {wanted - found}")

    def test_markers_of_uv(self):
        for options in OF_UV:
            with self.subTest(" ".join(options)):
                self.assertEqual(set(self.ours(options, "m")), set(self.of_uv(options, "m")))

    def test_markers_of_what_pip_states(self):
        """pip evaluates them for its own interpreter, whatever it is told: that is not followed."""
        numbers = lambda *options: {MARKERS[int(name[1:])] for name in self.ours(options, "m") if name != "m"}
        self.assertEqual(numbers("--python-version", "312", "--platform", "manylinux2014_aarch64"),
                         numbers("--python-version", "3.12", "--python-platform", "aarch64-manylinux2014"))
        pypy = numbers("--python-version", "3.12", "--implementation", "pp")
        self.assertNotIn("implementation_name == 'cpython'", pypy)
        self.assertNotIn("platform_python_implementation == 'CPython'", pypy)
        self.assertIn("python_full_version == '3.12.0'", pypy)

    def test_requires_python(self):
        for version, requires in (("2.0", ">=3.12.2"), ("1.0", ">=3.8")):
            Wheel("demo", version, extra_metadata=f"Requires-Python: {requires}\n").write(self.wheels)
        for stated, wanted in (("3.12", "1.0"), ("3.12.2", "2.0"), ("3.12rc1", "1.0"), ("3.13.0rc1", "2.0")):
            with self.subTest(stated):
                self.assertEqual(self.ours(["--python-version", stated], "demo"), {"demo": wanted})
                self.assertEqual(self.of_uv(["--python-version", stated], "demo"), {"demo": wanted})


class Composition(TestCase):
    """With --for, and with commands."""

    def setUp(self):
        super().setUp()
        self.make_venv()
        self.wheels = self.root / "wheels"
        self.folder = ["--no-index", "--find-links", self.wheels, "--python", self.venv]

    def chosen(self, *options, name="demo"):
        result = self.assert_ok(self.variant("resolve", name, "--json", *self.folder, *options))
        return next(one["wheel"] for one in result.json["packages"] if one["name"] == name)

    def test_a_machine_and_an_interpreter(self):
        for tags in ("cp312-cp312-manylinux_2_17_aarch64", "cp312-cp312-manylinux_2_17_x86_64", "cp311-cp311-manylinux_2_17_aarch64",
                     "cp312-cp312-manylinux_2_35_x86_64"):
            Wheel("demo", "1.0", tags=tags).write(self.wheels)
        self.assertEqual(self.chosen("--for", "gh200", "--python-version", "3.12"), "demo-1.0-cp312-cp312-manylinux_2_17_aarch64.whl")
        self.assertEqual(self.chosen("--for", "gh200", "--python-version", "311"), "demo-1.0-cp311-cp311-manylinux_2_17_aarch64.whl")
        # What a machine does not state, the platform does: no glibc 2.28 is assumed then.
        self.assertEqual(self.chosen("--for", "h100", "--python-version", "3.12"), "demo-1.0-cp312-cp312-manylinux_2_17_x86_64.whl")
        stated = ["--for", "h100", "--python-version", "3.12", "--python-platform", "x86_64-manylinux_2_35"]
        self.assertEqual(self.chosen(*stated), "demo-1.0-cp312-cp312-manylinux_2_35_x86_64.whl")
        self.assertNotIn("assuming x86_64", self.variant("resolve", "demo", *self.folder, *stated).err)
        self.assertEqual(self.chosen("--for", "h100", "--python-version", "3.12", "--platform", "manylinux_2_17_aarch64"),
                         "demo-1.0-cp312-cp312-manylinux_2_17_aarch64.whl")

    def test_variants_of_a_machine_on_a_platform(self):
        document = levels_document()
        for label in document["variants"]:
            Wheel("demo", "1.0", label, document).write(self.wheels)
        (self.wheels / "demo-1.0-variants.json").write_text(json.dumps(document))
        self.assertEqual(self.chosen("--for", "x86_64:v3", "--python-version", "3.9"), "demo-1.0-py3-none-any-v3.whl")
        self.assertEqual(self.chosen("--for", "x86_64:v3", "--platform", "manylinux2014_x86_64", "--platform", "any"),
                         "demo-1.0-py3-none-any-v3.whl")
        # Of a platform alone nothing more is known than its architecture: this machine's facts do not count.
        self.assertEqual(self.chosen("--python-platform", "linux"), "demo-1.0-py3-none-any-v1.whl")
        self.assertEqual(self.chosen("--python-platform", "aarch64-manylinux_2_28"), "demo-1.0-py3-none-any-null.whl")

    def test_contradictions(self):
        Wheel("demo", "1.0").write(self.wheels)
        for options, words in (
                (["--for", "gh200", "--platform", "manylinux2014_x86_64"], ["--platform manylinux2014_x86_64", "gh200 is aarch64"]),
                (["--for", "x86_64:v3", "--python-platform", "aarch64-manylinux_2_28"], ["x86_64:v3 is x86_64"]),
                (["--for", "graviton3", "--platform", "manylinux_2_17_x86_64"], ["graviton3 is aarch64"]),
                (["--for", "graviton3", "--platform", "manylinux_2_40_aarch64"], ["graviton3 has glibc 2.35"]),
                (["--for", "x86_64:v3;libc:glibc=2.31", "--platform", "manylinux_2_35_x86_64"], ["has glibc 2.31"]),
                (["--for", "alpine-container", "--python-platform", "linux"], ["alpine-container has musl 1.2"]),
                (["--platform", "manylinux2014_x86_64", "--platform", "manylinux2014_aarch64"], ["no machine is both"]),
                (["--platform", "manylinux2014_x86_64", "--platform", "musllinux_1_2_x86_64"], ["no machine is both"]),
                (["--platform", "manylinux2014_x86_64", "--python-platform", "linux"], ["cannot be combined"]),
                (["--for", "x86_64:v4", "--platform", "win_arm64"], ["x86_64:v4 is x86_64"]),
                (["--for", "macos:13", "--platform", "macosx_14_0_arm64"], ["macos:13 has macOS 13.0"]),
                (["--for", "graviton3", "--platform", "win_amd64"], ["graviton3 runs Linux"]),
                (["--for", "windows;libc:glibc=2.28"], ["windows;libc:glibc=2.28: Windows has no glibc"]),
                (["--for", "windows;aarch64;x86_64:avx512f"], ["aarch64", "x86_64"]), (["--for", "macos:17"], ["no machine has that", "15, 26"]),
                (["--for", "wndows"], ["wndows", "windows"]), (["--for", "macos:15;macos:14"], ["stated twice", "15", "14"]),
                (["--for", "macos15-m5"], ["began with macOS 26", "macos26-m5"]), (["--for", "gh200;x86_64"], ["comes with a CPU of aarch64"]),
                (["--platform", "win_amd64", "--platform", "manylinux2014_x86_64"], ["no machine is both"]),
                (["--platform", "win_amd64", "--platform", "win_arm64"], ["no machine is both"]),
                (["--platform", "macosx_9_0_x86_64"], ["there is no such macOS"]), (["--platform", "macosx_14_0"], ["not a platform tag"]),
                (["--platform", "win_ppc"], ["not a platform tag"]), (["--python-platform", "win_amd64"], ["not a platform of uv"]),
                (["--platform", "ios_13_0_arm64_iphoneos"], ["Linux, Windows and macOS only"]),
                (["--python-platform", "wasm32-pyodide2024"], ["Linux, Windows and macOS only"]),
                (["--platform", "manylinux"], ["not a platform tag"]), (["--platform", "manylinux_2_28_"], ["not a platform tag"]),
                (["--platform", "linux_../x"], ["not a platform tag"]), (["--python-platform", "x86_64-manylinux_2"], ["not a platform of uv"]),
                (["--python-version", "3"], ["the minor version is missing"]), (["--python-version", "2.7"], ["Python 3"]),
                (["--python-version", "3.x"], ["not a version"]), (["--python-version", "3.12.1.1"], ["three numbers"]),
                (["--python-version", "3.9999999999"], ["not a version"]), (["--implementation", "jy"], ["--implementation jy"]),
                (["--abi", "cp311-none"], ["not an ABI tag"]), (["--python-version", "3.12", "--build"], ["--build"]),
                (["--platform", "linux_x86_64", "--build"], ["--build"])):
            with self.subTest(" ".join(options)):
                self.assert_fails(self.variant("resolve", "demo", *self.folder, *options), 2, *words)

    def test_windows_and_macos_are_machines(self):
        document = levels_document()
        for tags in ("cp312-cp312-win_amd64", "cp312-cp312-win_arm64", "cp312-cp312-macosx_11_0_arm64", "cp312-cp312-macosx_10_13_x86_64",
                     "cp312-cp312-manylinux_2_17_x86_64"):
            Wheel("demo", "1.0", tags=tags).write(self.wheels)
        for label in document["variants"]:
            Wheel("fast", "1.0", label, document, tags="cp312-cp312-win_amd64").write(self.wheels)
        (self.wheels / "fast-1.0-variants.json").write_text(json.dumps(document))
        python = ["--python-version", "3.12"]
        for machine, tags in (("windows", "win_amd64"), ("windows;aarch64", "win_arm64"), ("macos:15", "macosx_11_0_arm64"), ("macos", "macosx_11_0_arm64"),
                              ("macos:14;x86_64", "macosx_10_13_x86_64"), ("rtx4090;windows", "win_amd64")):
            with self.subTest(machine):
                self.assertEqual(self.chosen("--for", machine, *python), f"demo-1.0-cp312-cp312-{tags}.whl")
        # A Python need not be for the processor: Rosetta 2 and Windows translate, and Windows runs 32-bit programs.
        Wheel("demo", "1.0", tags="cp312-cp312-win32").write(self.wheels)
        for options, tags in ((["--for", "macos15-m4;x86_64"], "macosx_10_13_x86_64"), (["--for", "windows-snapdragon-x;x86_64"], "win_amd64"),
                              (["--for", "macos15-m4", "--platform", "macosx_15_0_x86_64"], "macosx_10_13_x86_64"),
                              (["--for", "windows-snapdragon-x", "--platform", "win_amd64"], "win_amd64"),
                              (["--for", "windows-rtx5090", "--platform", "win32"], "win32"), (["--for", "macos15-m4"], "macosx_11_0_arm64")):
            with self.subTest(" ".join(options)):
                self.assertEqual(self.chosen(*options, *python), f"demo-1.0-cp312-cp312-{tags}.whl")
        self.assertEqual(self.chosen("--for", "windows;x86_64:v3;nvidia:sm=120,driver=581.29", *python, name="fast"),
                         "fast-1.0-cp312-cp312-win_amd64-v3.whl")
        profile = self.root / "pc.json"
        self.assert_ok(self.variant("detect", "--for", "windows;x86_64:v4", "--profile", profile))
        self.assertEqual(self.chosen("--for", profile, *python, name="fast"), "fast-1.0-cp312-cp312-win_amd64-v4.whl")
        self.assert_fails(self.variant("resolve", "demo", *self.folder, "--for", "macos:10.9;x86_64", *python), 3,
                          "its wheels need macOS 10.13 or newer", "this machine has macOS 10.9")
        Wheel("new", "1.0", tags="py3-none-macosx_14_0_arm64").write(self.wheels)
        Wheel("new", "1.0", tags="py3-none-manylinux_2_17_x86_64").write(self.wheels)
        self.assert_fails(self.variant("resolve", "new", *self.folder, "--for", "macos:13"), 3, "its wheels need macOS 14.0 or newer",
                          "this machine has macOS 13.0 (stated, not read)")
        Wheel("odd", "1.0", tags="py3-none-macosx_15_1_arm64").write(self.wheels)
        self.assert_fails(self.variant("resolve", "odd", *self.folder, "--for", "macos15-m4"), 3,
                          "its wheels are tagged for macOS 15.1, a tag that no macOS takes")
        self.assert_fails(self.variant("resolve", "new", *self.folder, "--for", "macos13-m1"), 3, "this machine has macOS 13.6")
        self.assert_fails(self.variant("resolve", "new", *self.folder, "--for", "windows"), 3, "its wheels are for", "macOS", "Linux", "only")
        said = self.variant("resolve", "demo", *self.folder, "--for", "windows")
        self.assertIn("windows: assuming x86_64, which is not stated", said.err)
        self.assertIn("--python-version states another", said.err)
        self.assertNotIn("--python-version", self.variant("resolve", "demo", *self.folder, "--for", "windows", *python).err)

    def test_what_is_for_another_system_is_not_installed_here(self):
        Wheel("demo", "1.0", tags="py3-none-win_amd64").write(self.wheels)
        before = support.tree(self.venv)
        self.assert_fails(self.variant("install", "demo", *self.folder, "--for", "windows"), 2, "windows: packages for Windows", "--target", "--dry-run")
        self.assert_fails(self.variant("install", "demo", *self.folder, "--platform", "win_amd64"), 2, "--platform win_amd64", "--target")
        self.assert_fails(self.variant("install", "demo", *self.folder, "--python-platform", "windows"), 2, "--python-platform windows", "--target")
        self.assert_ok(self.variant("install", "demo", *self.folder, "--for", "windows", "--dry-run"))
        self.assertEqual(support.tree(self.venv), before)
        for options in (["--for", "windows"], ["--platform", "win_amd64"]):
            folder = self.root / options[-1]
            self.assert_ok(self.variant("install", "demo", *self.folder, *options, "--target", folder))
            self.assertTrue((folder / "demo.py").exists() or any(folder.glob("demo*")))
        self.assertEqual(support.tree(self.venv), before)

    def test_files_for_another_system_are_downloaded(self):
        for tags in ("py3-none-win_amd64", "py3-none-macosx_11_0_arm64", "py3-none-manylinux_2_17_x86_64"):
            Wheel("demo", "1.0", tags=tags).write(self.wheels)
        for options, tag in ((["--platform", "win_amd64"], "win_amd64"), (["--platform", "macosx_14_0_arm64"], "macosx_11_0_arm64")):
            with self.subTest(tag):
                ours, theirs = self.root / f"ours-{tag}", self.root / f"theirs-{tag}"
                self.assert_ok(self.variant("download", "demo", *self.folder, *options, "--dest", ours))
                self.assert_ok(self.pip("download", "demo", "--no-index", "-f", self.wheels, *options, "--only-binary=:all:", "-d", theirs))
                self.assertEqual([one.name for one in ours.glob("*.whl")], [f"demo-1.0-py3-none-{tag}.whl"])
                self.assertEqual([one.name for one in theirs.glob("*.whl")], [f"demo-1.0-py3-none-{tag}.whl"])
        both = self.root / "both"
        self.assert_ok(self.variant("download", "demo", *self.folder, "--for", "windows", "--for", "macos:15", "--dest", both))
        self.assertEqual(sorted(one.name for one in both.glob("*.whl")),
                         ["demo-1.0-py3-none-macosx_11_0_arm64.whl", "demo-1.0-py3-none-win_amd64.whl"])

        mirror = self.root / "mirror"
        self.assert_ok(self.variant("mirror", "demo", *self.folder, "--for", "windows", "--for", "macos:15", "--out", mirror))
        self.assertEqual({one.name for one in mirror.rglob("*.whl")}, {one.name for one in both.glob("*.whl")})

    def test_the_error_says_which_interpreter_is_meant(self):
        Wheel("demo", "1.0", tags="cp311-cp311-manylinux2014_x86_64").write(self.wheels)
        self.assert_fails(self.variant("resolve", "demo", *self.folder, "--python-version", "3.12", "--python-platform", "linux"), 3,
                          "this one is 3.12.0 (cp312-cp312)")
        Wheel("arm", "1.0", tags="py3-none-manylinux2014_aarch64").write(self.wheels)
        self.assert_fails(self.variant("resolve", "arm", *self.folder, "--python-platform", "linux"), 3, "this machine is x86_64 (stated, not read)")
        Wheel("new", "1.0", extra_metadata="Requires-Python: >=3.13\n").write(self.wheels)
        self.assert_fails(self.variant("resolve", "new", *self.folder, "--python-version", "3.12"), 3, "but this is 3.12.0",
                          "state another one with --python-version")

    def test_installing_needs_a_folder_or_a_dry_run(self):
        self.wheels.mkdir()
        Wheel("demo", "1.0", tags="cp39-none-any").write(self.wheels)
        before = support.tree(self.venv)
        refused = self.variant("install", "demo", *self.folder, "--python-version", "3.9")
        self.assert_fails(refused, 2, "--python-version 3.9", "--target", "--dry-run")
        self.assertEqual(self.pip("install", "demo", "--no-index", "-f", self.wheels, "--python-version", "3.9", "--only-binary=:all:").code, 1)
        for options in (["--dry-run"], ["--target", self.root / "ours"]):
            result = self.assert_ok(self.variant("install", "demo", *self.folder, "--python-version", "3.9", "--compile-bytecode", *options))
            self.assertIn("byte code is not compiled", result.err)
        self.assertEqual(support.tree(self.venv), before)
        self.assert_ok(self.pip("install", "demo", "--no-index", "-f", self.wheels, "--python-version", "3.9", "--only-binary=:all:",
                                "--no-compile", "--target", self.root / "theirs"))
        of = lambda folder: {path for path in support.tree(folder) if "/.axle/" not in "/" + path}
        self.assertEqual(of(self.root / "ours"), of(self.root / "theirs"))

    def test_hints_name_the_target_again(self):
        Wheel("demo", "1.0", tags="cp311-cp311-manylinux2014_x86_64").write(self.wheels)
        publish = support.Index(self.root / "index")
        publish_levels(publish, plain=False, labels=("v4",))
        result = self.variant("resolve", "demo", "--index-url", publish.url, "--python", self.venv, "--variant", "demo=nothing",
                              "--python-version", "3.12", "--python-platform", "linux")
        self.assertEqual(result.code, 3, str(result))
        self.assertRegex(result.err, "`variant install .* --python-version 3.12 --python-platform linux .* --dry-run`")


if __name__ == "__main__":
    unittest.main()
