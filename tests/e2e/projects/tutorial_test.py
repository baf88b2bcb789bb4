"""The tutorial of docs/projects.md, carried out literally from an empty folder: its commands, in its order, say what it shows. Torch's index and
the default one are stand-ins on this machine, which the page's own ways name: `--family torch=URL` for commands that lock, and pip's file."""

import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import BIN, PYTHON, SOURCE, Index, TestCase, Wheel
from torch_index import File, TorchIndex, builds, tags

OF_TORCH = ["filelock", "fsspec", "jinja2", "networkx", "sympy", "typing-extensions"]
PACKAGES = [("filelock", "4.3.1", []), ("fsspec", "2026.9.0", []), ("jinja2", "3.2.0", ["markupsafe"]), ("markupsafe", "3.1.0", []),
            ("networkx", "3.7", []), ("sympy", "1.14.0", ["mpmath"]), ("mpmath", "1.4.0", []), ("typing-extensions", "4.16.0", []),
            ("rich", "15.0.0", ["markdown-it-py", "pygments"]), ("markdown-it-py", "4.1.0", ["mdurl"]), ("mdurl", "0.2.0", []),
            ("pygments", "2.20.0", []), ("pytest", "9.2.0", ["iniconfig", "packaging", "pluggy", "pygments"]), ("iniconfig", "2.4.0", []),
            ("packaging", "26.1", []), ("pluggy", "1.7.0", [])]


def steps():
    """[(command, the lines that it shows)]"""
    page = (SOURCE / "docs/projects.md").read_text()
    section = page[page.index("## A project for a laptop"):page.index("## Classes of machines")]
    found = []
    for line in re.findall(r"^    (.*)$", section, re.MULTILINE):
        if line.startswith("$ "):
            found.append((re.sub(r" +# .*", "", line[2:]), []))
        elif found:
            found[-1][1].append(line)
    return found


class Tutorial(TestCase):
    def setUp(self):
        super().setUp()
        files = []
        for version, label, platform in builds():
            wheel = Wheel("torch", f"{version}+{label}", requires=OF_TORCH, tags=tags(platform),
                          files={"torch/__init__.py": f"__version__ = '{version}+{label}'\n"})
            files.append(File("torch", label, wheel.file_name, wheel.bytes(), wheel.members[f"{wheel.dist_info}/METADATA"].encode()))
        self.torch = TorchIndex(self.root / "torch", files).write()
        index = Index(self.root / "index")
        for name, version, requires in PACKAGES:
            index.add_wheel(Wheel(name, version, requires=requires))
        (self.root / "pip.conf").write_text(f"[global]\nindex-url = {index.url}\n")
        self.env["PIP_CONFIG_FILE"] = str(self.root / "pip.conf")
        self.env["PATH"] = f"{BIN}:{pathlib.Path(PYTHON).parent}:{self.env['PATH']}"
        self.home = self.root / "me"
        self.home.mkdir()

    def test_it_is_as_the_page_says(self):
        where = self.home
        done = []
        for command, shown in steps():
            if command.startswith("cd "):
                where = where / command[3:]
                continue
            if command.split()[1] in ("add", "lock"):
                command += f" --family torch={self.torch.url}"
            run = subprocess.run(command, shell=True, env=self.env, cwd=where, capture_output=True, text=True, timeout=120)
            self.assertEqual(run.returncode, 0, f"{command}\n{run.stdout}{run.stderr}")
            said = (run.stdout + run.stderr).replace(str(self.home), "/home/me").splitlines()
            for line in shown:
                if line != "...":
                    self.assertIn(line, said, command)
            done.append(command.split()[1])
        self.assertEqual(done, ["init", "add", "add", "lock", "sync", "run", "verify"])

    def test_the_project_that_init_writes_is_the_one_shown(self):
        page = (SOURCE / "docs/projects.md").read_text()
        shown = re.search(r"```toml\n(\[project\]\nname = \"vision\".*?)```", page, re.DOTALL).group(1)
        command, _ = steps()[0]
        subprocess.run(command + f" --python {PYTHON}", shell=True, env=self.env, cwd=self.home, check=True, capture_output=True, timeout=120)
        text = (self.home / "vision/pyproject.toml").read_text()
        self.assertEqual(re.sub(r">=3\.\d+", ">=3.11", text), shown)


if __name__ == "__main__":
    unittest.main()
