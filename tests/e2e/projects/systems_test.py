"""Classes for Windows and macOS, locked on Linux: what each gets, under which condition, and what goes out for it."""

import pathlib
import sys
import tomllib
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from project_case import VERSION, ProjectCase

MACHINES = """[tool.axle.machines]
laptop = "none"
win = "windows"
train = { machine = "windows;x86_64:v3;nvidia:sm=120,driver=581.29" }
arm = { machine = "none", platform = "aarch64-pc-windows-msvc" }
mac = "macos:15"
old = { machine = "none", platform = "x86_64-apple-darwin" }
"""


class Systems(ProjectCase):
    def setUp(self):
        super().setUp()
        for tag in ("win_amd64", "win_arm64", "macosx_11_0_arm64", "macosx_10_13_x86_64", "manylinux_2_17_x86_64"):
            self.add("core", "1.0", tags=f"py3-none-{tag}")
        self.add("core", "2.0", tags="py3-none-macosx_14_0_arm64")
        self.add("plain", "1.0", requires=["core", "registry; sys_platform == 'win32'", "dispatch; platform_system == 'Darwin'",
                                           "narrow; platform_machine == 'ARM64'"])
        for name in ("registry", "dispatch", "narrow"):
            self.add(name, "1.0")
        self.add_variants("fast", "1.0", {"sm120": [("nvidia", "sm_arch", ["120_real"]), ("nvidia", "cuda_version_lower_bound", ["12.8"])]},
                          namespaces=("nvidia",), tags="py3-none-win_amd64")
        self.write_project(["plain"], more=MACHINES)

    def holds(self):
        return {one["name"]: one["holds"] for one in self.lock()["class"]}

    def test_each_class_has_what_resolve_gives(self):
        self.assert_ok(self.call("lock"))
        self.assertEqual(self.locked("laptop"), {"plain": "1.0", "core": "1.0"})
        self.assertEqual(self.locked("win"), {"plain": "1.0", "core": "1.0", "registry": "1.0"})
        self.assertEqual(self.locked("arm"), {"plain": "1.0", "core": "1.0", "registry": "1.0", "narrow": "1.0"})
        self.assertEqual(self.locked("mac"), {"plain": "1.0", "core": "2.0", "dispatch": "1.0"})
        self.assertEqual(self.locked("old"), {"plain": "1.0", "core": "1.0", "dispatch": "1.0"})
        for name, words in (("win", ["--for", "windows"]), ("mac", ["--for", "macos:15"]),
                            ("arm", ["--python-platform", "aarch64-pc-windows-msvc"]), ("old", ["--python-platform", "x86_64-apple-darwin"])):
            rows = self.assert_ok(self.call("resolve", "plain", *words, "--json")).json["packages"]
            self.assertEqual({row["wheel"] for row in rows},
                             {one["wheel"] for one in self.lock()["package"] if name in one.get("classes", [name])}, name)

    def test_conditions_are_the_weakest(self):
        self.assert_ok(self.call("lock"))
        self.assertEqual(self.holds(), {"laptop": "arch = x86_64 and glibc >= 2.17", "win": "system = windows and arch = x86_64",
                                        "train": "system = windows and arch = x86_64", "arm": "system = windows and arch = aarch64",
                                        "mac": "arch = aarch64 and macos >= 14.0", "old": "arch = x86_64 and macos >= 10.13"})
        before = self.lock_file.read_bytes()
        self.assert_ok(self.call("lock", "--check"))
        self.assert_ok(self.call("lock"))
        self.assertEqual(self.lock_file.read_bytes(), before)

    def test_builds_for_gpus_on_windows(self):
        self.write_project(["fast"], more='[tool.axle.machines]\nwin = "windows"\ntrain = "windows;nvidia:sm=120,driver=581.29"\n')
        self.assert_ok(self.call("lock"))
        wheels = {name: [one["wheel"] for one in self.lock()["package"] if name in one.get("classes", [name])] for name in ("win", "train")}
        self.assertEqual(wheels, {"win": ["fast-1.0-py3-none-win_amd64-null.whl"], "train": ["fast-1.0-py3-none-win_amd64-sm120.whl"]})
        self.assertIn("system = windows", self.holds()["train"])
        self.assertIn("driver >= 570.26", self.holds()["train"])

    def test_this_machine_is_of_no_such_class(self):
        self.assert_ok(self.call("lock"))
        for name, words in (("win", ["system = windows", "linux"]), ("mac", ["macos >= 14.0", "operating system linux"])):
            self.assert_fails(self.call("sync", "--class", name), 3, f"class {name} is not for this machine", *words)
        self.assertFalse(self.environment.exists())
        self.assertEqual(self.assert_ok(self.call("sync", "--json")).json["class"], "laptop")

    def test_what_is_exported(self):
        self.write_project(["plain", "dispatch; os_name == 'nt'"], more=MACHINES)
        self.assert_ok(self.call("lock"))
        text = self.assert_ok(self.call("export", "--class", "win", "--format", "requirements")).out
        names = [line.split()[0].partition("==")[0] for line in text.splitlines() if line and line[0] not in "# -"]
        self.assertEqual(names, ["core", "dispatch", "plain", "registry"])
        self.assertIn("core-1.0-py3-none-win_amd64.whl", text)
        for name, environment in (("win", "sys_platform == 'win32' and platform_machine == 'AMD64'"),
                                  ("arm", "sys_platform == 'win32' and platform_machine == 'ARM64'"),
                                  ("mac", "sys_platform == 'darwin' and platform_machine == 'arm64'"),
                                  ("laptop", "sys_platform == 'linux' and platform_machine == 'x86_64'")):
            lock = tomllib.loads(self.assert_ok(self.call("export", "--class", name, "--format", "pylock")).out)
            self.assertEqual(lock["environments"], [environment])
        self.assertIn("__osx >=14.0", self.assert_ok(self.call("export", "--class", "mac", "--format", "conda")).out)

    def test_a_lock_of_pure_packages_is_for_every_system(self):
        self.write_project(["registry"], more=MACHINES)
        self.assert_ok(self.call("lock"))
        self.assertEqual(set(self.holds().values()), {"any machine"})
        lock = tomllib.loads(self.assert_ok(self.call("export", "--class", "win", "--format", "pylock")).out)
        self.assertNotIn("environments", lock)

    def test_what_no_machine_is(self):
        for machine, words in (('"windows;libc:glibc=2.28"', ["Windows has no glibc"]),
                               ('{ machine = "macos:15", platform = "windows" }', ["runs macOS"]),
                               ('{ machine = "x86_64:v4", platform = "aarch64-pc-windows-msvc" }', ["is x86_64"]),
                               ('"macos:15;nvidia:sm=90"', ["macOS has no driver of nvidia"]),
                               ('"macos:17"', ["no machine has that", "15, 26"]), ('"windws"', ["windows"])):
            with self.subTest(machine):
                self.write_project(["plain"], more=f"[tool.axle.machines]\nbad = {machine}\n")
                self.assert_fails(self.call("lock"), 2, "class bad", "pyproject.toml", *words)
                self.assertFalse(self.lock_file.exists())


if __name__ == "__main__":
    unittest.main()
