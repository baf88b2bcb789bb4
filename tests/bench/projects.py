"""Projects beside uv: a satisfied one synchronised, a lock that did not change, and what more classes of machines cost.

usage: projects.py BIN SOURCE_DIR [RUNS]

The wheels of install.py, served by nginx on loopback, are what a project asks for, pinned. Both programs run in turn, RUNS times (31); ratios
are medians of the pairs' ratios. The classes are those of a project that asks for the pins and for torch, with stand-ins for all builds of its family:
of one machine whose driver differs, and of unlike machines; each beside a lock of one class, by our own program.
"""

import functools
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("AXLE_BIN", sys.argv[1])
os.environ.setdefault("AXLE_SOURCE_DIR", sys.argv[2])
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
from install import PYTHON, WHEELS, fetch, report, write_pages
from nginx import NGINX, served
from processes import measure
from torch_index import TorchIndex, all_files

BIN = pathlib.Path(sys.argv[1]).resolve()
SOURCE = pathlib.Path(sys.argv[2]).resolve()
RUNS = int(sys.argv[3]) if len(sys.argv) > 3 else 31
UV = SOURCE / "build/peers/bin/uv"

RELEASE = subprocess.run([PYTHON, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], check=True, capture_output=True, text=True).stdout.strip()
LINUX = "sys_platform == 'linux' and platform_machine == 'x86_64'"

DRIVERS = ["525.60.13", "535.54.03", "545.23.06", "550.54.14", "555.42.02", "560.28.03", "565.57.01", "570.26", "575.51.03", "580.65.06",
           "590.44.01", "610.30"]
UNLIKE = ["none", "h100", "gtx1080ti", "rtx4090", "rtx5090", "a100", "mi300x", "mi250x", "v100", "t4", "haswell", "sapphire-rapids"]


class Project:
    """One folder, with an environment and a cache for each program."""

    def __init__(self, folder, index, dependencies, machines=""):
        self.folder, self.index = folder, index
        folder.mkdir()
        rows = "".join(f'    "{one}",\n' for one in dependencies)
        # uv locks for every Python and system unless it is told; the pins are one interpreter's on Linux.
        (folder / "pyproject.toml").write_text(f'[project]\nname = "bench"\nversion = "0"\nrequires-python = "=={RELEASE}.*"\n'
                                               f"dependencies = [\n{rows}]\n[tool.uv]\nenvironments = [\"{LINUX}\"]\n{machines}")
        self.environment = {"PATH": f"{pathlib.Path(PYTHON).parent}:{os.environ['PATH']}", "HOME": str(folder), "PIP_CONFIG_FILE": "/dev/null",
                            "UV_NO_CONFIG": "1", "AXLE_CACHE_DIR": str(folder.parent / "axle-cache"), "UV_CACHE_DIR": str(folder.parent / "uv-cache"),
                            "PWD": str(folder)}

    def ours(self, verb, *words):
        return [str(BIN / "variant"), verb, "--index-url", self.index, "--quiet", *words]

    def theirs(self, verb):
        return [str(UV), verb, "--default-index", self.index, "--python", PYTHON, "--quiet", "--no-build"]

    def run(self, command):
        done = subprocess.run(command, env=self.environment, cwd=self.folder, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)} failed: {done.stderr}")



def classes(rows):
    """With the C library of a current distribution, which some of the pins need."""
    return "[tool.axle.machines]\n" + "".join(f'm{number} = "{row};libc:glibc=2.39"\n' for number, row in enumerate(rows))


def main():
    for tool, path in ("nginx", NGINX), ("uv", UV):
        if path is None or not os.access(path, os.X_OK):
            print(f"skipped: {tool} is not installed (./dev setup)")
            return 0
    pins, _ = fetch(SOURCE, WHEELS)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="axle-projects-"))
    results = []
    try:
        with served(functools.partial(write_pages, WHEELS), files=WHEELS) as index:
            theirs, ours = Project(folder / "uv", index, pins), Project(folder / "axle", index, pins)
            theirs.run(theirs.theirs("sync"))
            ours.run(ours.ours("sync"))
            # What changed a moment ago is read again, lest a change within the clock's tick is overlooked.
            time.sleep(3)
            for name, bar, verb in (("satisfied sync", 0.4, "sync"), ("unchanged lock", 0.5, "lock")):
                rows = [], []
                for _ in range(RUNS):
                    for line, project, command in ((rows[0], ours, ours.ours(verb)), (rows[1], theirs, theirs.theirs(verb))):
                        os.chdir(project.folder)
                        line.append(measure(command, project.environment))
                results.append(report(f"{name}: {len(pins)} wheels", bar, rows))
            family = "--family", f"torch={TorchIndex(folder / 'torch', all_files(projects=('torch',))).write().url}"
            one = Project(folder / "one", index, [*pins, "torch"], classes(["h100"]))
            for name, bar, rows_of in (("12 classes, one fact differs", 2, [f"h100;nvidia:driver={one}" for one in DRIVERS]),
                                       ("12 classes, all different", 12, UNLIKE)):
                many = Project(folder / f"many{bar}", index, [*pins, "torch"], classes(rows_of))
                rows = [], []
                for _ in range(max(RUNS // 4, 3)):
                    for line, project in ((rows[0], many), (rows[1], one)):
                        os.chdir(project.folder)
                        line.append(measure(project.ours("lock", "--upgrade", *family), project.environment))
                results.append(report(name, bar, rows, peer="one class"))
        return 0 if all(results) else 1
    finally:
        os.chdir("/")
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
