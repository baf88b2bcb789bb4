"""Real requirements solved beside uv: nothing is installed, and every request stays on this machine.

usage: solve.py BIN SOURCE_DIR [RUNS [PART]]

Pages and metadata files of the packages in solve-requirements.txt are fetched once from the index that pip is configured for, by name
and as the two programs ask for them, and kept in $AXLE_BENCH_PAGES (~/.cache/axle-bench/registry). nginx on loopback answers with them, and
a server that waits where requests are to take their time. Both programs run in turn, RUNS times (15); ratios are medians of the pairs' ratios. PART: only this one of all, warm, cold, page,
stack.
"""

import contextlib
import hashlib
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

from nginx import NGINX, served
from processes import measure, paired
from processes import report as report_times
from torch_pages import publish_stack

BIN = pathlib.Path(sys.argv[1])
SOURCE = pathlib.Path(sys.argv[2])
RUNS = int(sys.argv[3]) if len(sys.argv) > 3 else 15
PART = sys.argv[4] if len(sys.argv) > 4 else "all"
PYTHON = "/usr/bin/python3" if os.access("/usr/bin/python3", os.X_OK) else sys.executable
PAGES = pathlib.Path(os.environ.get("AXLE_BENCH_PAGES") or pathlib.Path.home() / ".cache/axle-bench/registry")
HERE = pathlib.Path(__file__).resolve().parent
REQUIREMENTS = HERE / "solve-requirements.txt"
UV = SOURCE / "build/peers/bin/uv"


@contextlib.contextmanager
def registry(*options):
    """A server that is a process of its own: a child's peak memory begins with that of its parent."""
    command = [sys.executable, str(HERE / "registry.py"), str(PAGES), *options]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        try:
            yield f"http://127.0.0.1:{int(server.stdout.readline())}/simple"
        finally:
            server.stdin.close()


def published(folder=PAGES, max_age=600):
    """The files are written by a process of its own, for the same reason."""
    def write(root, origin):
        subprocess.run([sys.executable, str(HERE / "registry.py"), str(folder), "--write", str(root), "--origin", origin], check=True)
    return served(write, max_age=max_age)


def configured_index():
    asked = subprocess.run([PYTHON, "-m", "pip", "config", "get", "global.index-url"], capture_output=True, text=True)
    if asked.returncode == 0:
        return asked.stdout.strip()
    asked = subprocess.run([PYTHON, "-I", "-c", "from pip._internal.models.index import PyPI; print(PyPI.simple_url)"],
                           capture_output=True, text=True)
    return asked.stdout.strip()


class Bench:
    def __init__(self, folder):
        self.folder = folder
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "PIP_CONFIG_FILE": "/dev/null", "UV_NO_CONFIG": "1"}
        self.caches = 0
        self.forget()
        subprocess.run([PYTHON, "-m", "venv", "--without-pip", str(folder / "venv")], check=True)
        self.python = str(folder / "venv/bin/python")

    def ours(self, index, requirements):
        return [str(BIN / "variant"), "resolve", "-r", str(requirements), "--python", str(self.folder / "venv"), "--index-url", index, "--quiet"]

    def theirs(self, index, requirements):
        return [str(UV), "pip", "compile", str(requirements), "--python", self.python, "--no-build", "--default-index", index, "--quiet"]

    def forget(self):
        """New caches. The old ones stay until the end: for minutes after a tree was deleted, ext4 creates files slowly."""
        self.caches += 1
        self.environment.update({name: str(self.folder / f"{program}-cache-{self.caches}")
                                 for name, program in (("AXLE_CACHE_DIR", "axle"), ("UV_CACHE_DIR", "uv"))})

    def run(self, command):
        return subprocess.run(command, env=self.environment, check=True, capture_output=True, text=True).stdout

    def compare(self, name, bar, index, requirements=REQUIREMENTS, cold=False):
        """Pairs of runs; `bar`: the most that the median ratio may be, None: none."""
        ours, theirs = self.ours(index, requirements), self.theirs(index, requirements)
        if not cold:
            for command in (ours, theirs) if UV.exists() else (ours,):
                self.run(command)
        rows = [], []
        for _ in range(RUNS):
            if cold:
                self.forget()
            rows[0].append(measure(ours, self.environment))
            if UV.exists():
                rows[1].append(measure(theirs, self.environment))
        return report(name, bar, rows)


def report(name, bar, rows):
    own, uv = ([statistics.median(column) for column in zip(*line)] for line in rows) if rows[1] else (
        [statistics.median(column) for column in zip(*rows[0])], None)
    text = f"{name:<28} {own[0]:8.1f} ms, {own[1]:6.1f} MB"
    if uv is None:
        print(text + "; uv: skipped, it is not in build/peers (./dev setup)")
        return own, True
    ratio = statistics.median(a[0] / b[0] for a, b in zip(*rows))
    met = bar is None or ratio <= bar
    verdict = "" if bar is None else f", bar {bar}: {'met' if met else 'MISSED'}"
    print(f"{text}; uv {uv[0]:8.1f} ms, {uv[1]:6.1f} MB; ratio {ratio:.2f}{verdict}")
    return own, met


def report_memory(own, bar=64):
    print(f"  peak memory {own[1]:.1f} MB, bar {bar} MB: {'met' if own[1] <= bar else 'MISSED'}")
    return own[1] <= bar


def record(bench):
    """Lets both programs ask for what they need, if something of it was never fetched."""
    with registry() as index:
        for command in (bench.ours(index, REQUIREMENTS), bench.theirs(index, REQUIREMENTS)):
            if command[0] == str(UV) and not UV.exists():
                continue
            if subprocess.run(command, env=bench.environment, capture_output=True).returncode != 0:
                break
        else:
            return bench.forget()
    bench.forget()
    upstream = configured_index()
    print(f"recording the pages that the requirements need in {PAGES}", flush=True)
    with registry("--record", upstream) as index:
        bench.run(bench.ours(index, REQUIREMENTS))
        if UV.exists():
            bench.run(bench.theirs(index, REQUIREMENTS))
    bench.forget()


def write_project(folder, name, files):
    """A recording of one project with so many files, 60 a release, of which one of each release fits any machine."""
    def keep(path, head, body):
        (folder / hashlib.sha256(path.encode()).hexdigest()).write_bytes(json.dumps(head).encode() + b"\n" + body)

    folder.mkdir(exist_ok=True)
    entries = []
    for number in range(files):
        version = f"1.{number // 60}.0"
        tags = "py3-none-any" if number % 60 == 0 else f"cp3{20 + number % 60}-cp3{20 + number % 60}-manylinux_2_17_x86_64.manylinux2014_x86_64"
        wheel = f"{name}-{version}-{tags}.whl"
        path = f"example.invalid/packages/{number:02x}/{hashlib.sha256(wheel.encode()).hexdigest()[4:]}/{wheel}"
        entries.append({"filename": wheel, "url": "https://" + path, "hashes": {"sha256": hashlib.sha256(wheel.encode()).hexdigest()},
                        "requires-python": ">=3.9", "size": 1000000 + number, "upload-time": "2026-05-04T12:30:45.123456Z",
                        "yanked": False, "provenance": None})
        if number % 60 == 0:
            keep(f"/files/{path}.metadata", {"status": 200}, f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode())
    page = {"meta": {"api-version": "1.1"}, "name": name, "files": entries}
    keep(f"/simple/{name}/", {"status": 200, "content-type": "application/vnd.pypi.simple.v1+json"}, json.dumps(page).encode())


def large_page(bench, files=6000, bar=3):
    """What a page of so many files costs a warm solve: the difference to one with a single file."""
    folder = bench.folder / "large"
    requirements = {}
    for name, count in ("large", files), ("small", 1):
        write_project(folder, name, count)
        requirements[name] = bench.folder / f"{name}.in"
        requirements[name].write_text(name + "\n")
    took = {name: [] for name in requirements}
    with published(folder) as index:
        bench.forget()
        commands = {name: bench.ours(index, path) for name, path in requirements.items()}
        for command in commands.values():
            bench.run(command)
        for _ in range(RUNS):
            for name, command in commands.items():
                took[name].append(measure(command, bench.environment)[0])
        large, small = (statistics.median(took[name]) for name in ("large", "small"))
        cost = statistics.median(a - b for a, b in zip(took["large"], took["small"]))
        print(f"a page of {files} files, warm: {large:.1f} ms, one of 1 file: {small:.1f} ms; {cost:.1f} ms more, bar {bar} ms: "
              f"{'met' if cost <= bar else 'MISSED'}")
        bench.compare("a page of 6,000 files, warm", None, index, requirements["large"])
        return cost <= bar


def stack(bench, bar=15):
    """torch, torchvision and torchaudio over their family, whose pages the server calls fresh, beside an empty process."""
    publish_stack(SOURCE, bench.folder / "stack")
    (bench.folder / "empty").mkdir()
    bench.forget()
    with subprocess.Popen([BIN / "index_server", bench.folder / "stack"], stdout=subprocess.PIPE, text=True) as server:
        try:
            url = f"http://127.0.0.1:{int(server.stdout.readline())}/-fresh"
            command = [str(BIN / "variant"), "resolve", "torch", "torchvision", "torchaudio", "--for", "gtx1080ti", "--family",
                       f"torch={url}", "--index-url", (bench.folder / "empty").as_uri(), "--python", str(bench.folder / "venv")]
            for _ in range(2):
                bench.run(command)
            rows = paired(max(RUNS, 31), (command, bench.environment), (["/bin/true"], bench.environment))
            return report_times("torch's family, warm", *rows, bar)
        finally:
            server.terminate()


def solves(bench):
    record(bench)
    results = []
    if PART in ("all", "warm"):
        with published() as index:
            packages = len([line for line in bench.run(bench.theirs(index, REQUIREMENTS)).splitlines() if "==" in line]) if UV.exists() else 0
            print(f"{packages} packages")
            (own, met) = bench.compare("warm", 0.5, index)
            results.append(met)
            results.append(report_memory(own))
        with published(max_age=0) as index:
            bench.forget()
            bench.compare("warm, each page asked again", None, index)
    if PART in ("all", "cold"):
        with published() as index:
            own, met = bench.compare("cold", 0.7, index, cold=True)
            results += [met, report_memory(own)]
        with registry("--delay-ms", "60") as index:
            results.append(bench.compare("cold, 60 ms a request", 1.0, index, cold=True)[1])
    return results


def main():
    if NGINX is None:
        sys.exit("nginx is not installed: ./dev setup")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="axle-solve-"))
    try:
        bench = Bench(folder)
        results = solves(bench) if PART in ("all", "warm", "cold") else []
        if PART in ("all", "page"):
            results.append(large_page(bench))
        if PART in ("all", "stack"):
            results.append(stack(bench))
        return 0 if all(results) else 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)


sys.exit(main())
