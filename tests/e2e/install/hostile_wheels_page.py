"""docs/hostile-wheels.md: what pip and uv do with the wheels that Axle refuses.

python3 hostile_wheels_page.py writes it. The columns of pip and uv are a record of one run, and no test compares them.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs/hostile-wheels.md"
PEERS = ROOT / "build/peers/bin"

INTRODUCTION = """# Hostile wheels

The archives that `tests/e2e/install/hostile_wheels.py` makes: two readers could understand them differently, they
write where they must not, or they say of themselves what is not true. Axle installs none of them, neither from a file
nor while it arrives, and nothing is written or left behind: `hostile_wheels_test.py` tries each. The same archives
were given to pip 26.3 and uv 0.13.9, as files with `--no-deps`:

- *refused*: an error; *files stay*: an error, after something was written to the environment; *traceback*: a defect of the
  program ended it.
- *installed*: exit status 0; *without it*: but the environment has not all files that the directory of the archive lists.

The public index takes neither data descriptors nor comments of entries today. Older wheels on it have them, and no two
readers differ in one that is right: Axle installs those (`ACCEPTED` in `hostile_wheels.py`).

`python3 tests/e2e/install/hostile_wheels_page.py` makes this page.
"""


def cell(text):
    return text.replace("|", "\\|")


def page(cases, peers):
    """`peers`: (group, what) -> (pip, uv)."""
    lines = [INTRODUCTION]
    groups = list(dict.fromkeys(one.group for one in cases))
    for group in groups:
        lines += [f"## {group[0].upper()}{group[1:]}\n", "| archive | Axle's error | pip | uv |", "|---|---|---|---|"]
        for one in cases:
            if one.group == group:
                lines.append(f"| {cell(one.what)} | {cell(one.says)} | {' | '.join(peers[one.group, one.what])} |")
        lines.append("")
    return "\n".join(lines)


def listed(text):
    """(archive, Axle's error) of each row of a page."""
    rows = [line.replace("\\|", "\0").split(" | ") for line in text.splitlines() if line.startswith("| ") and "| archive |" not in line]
    return [(one[0].removeprefix("| ").replace("\0", "|"), one[1].replace("\0", "|")) for one in rows]


def snapshot(folder):
    """Each file but uv's lock."""
    return {str(one.relative_to(folder)): one.stat().st_mtime_ns for one in folder.rglob("*")
            if one.is_file() and "__pycache__" not in one.parts and one != folder / ".lock"}


class Peers:
    def __init__(self, folder):
        self.folder = folder
        self.empty, self.venv = folder / "empty", folder / "venv"
        subprocess.run(["/usr/bin/python3", "-m", "venv", "--without-pip", self.venv], check=True)
        shutil.copytree(self.venv, self.empty, symlinks=True)
        self.env = {"PATH": os.environ["PATH"], "HOME": str(folder), "UV_CACHE_DIR": str(folder / "uv-cache"), "PIP_NO_CACHE_DIR": "1",
                    "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_CONFIG_FILE": "/dev/null", "UV_NO_MANAGED_PYTHON": "1", "UV_NO_CONFIG": "1"}

    def verdict(self, wheel, command, wanted):
        shutil.rmtree(self.venv)
        shutil.copytree(self.empty, self.venv, symlinks=True)
        before = snapshot(self.venv)
        done = subprocess.run([*map(str, command), str(wheel)], env=self.env, capture_output=True, text=True, errors="replace", timeout=300)
        after = snapshot(self.venv)
        shutil.rmtree(self.folder / "uv-cache", ignore_errors=True)
        if done.returncode == 0:
            whole = all(next(self.venv.rglob(one), None) for one in wanted)
            return "**installed**" if whole else "**installed**, without it"
        words = ["traceback" if "Traceback" in done.stderr else "refused"]
        if after != before:
            words.append("files stay")
        return ", ".join(words)

    def ask(self, wheel):
        python = self.venv / "bin/python"
        return (self.verdict(wheel, [PEERS / "python", "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", "-q"], ["demo/__init__.py"]),
                self.verdict(wheel, [PEERS / "uv", "pip", "install", "--python", python, "--no-deps", "--no-index", "-q"], ["demo/__init__.py"]))


def main():
    from hostile_archive import Archive
    from hostile_wheels import CASES
    answers = {}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        peers = Peers(folder)
        for number, one in enumerate(CASES):
            archive = Archive()
            one.make(archive)
            wheel = folder / one.file_name
            wheel.write_bytes(archive.bytes())
            answers[one.group, one.what] = peers.ask(wheel)
            wheel.unlink()
            print(f"{number + 1}/{len(CASES)} {one.group}: {one.what}: {answers[one.group, one.what]}", file=sys.stderr)
    PAGE.write_text(page(CASES, answers))


if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
    main()
