"""Installing, listing and removing real wheels beside uv; every request stays on this machine.

usage: install.py BIN SOURCE_DIR [RUNS] [--folder DIR]

The wheels of the packages that solve-requirements.txt needs, and torch, are fetched once from the index that pip is configured for, by
name, and kept in $AXLE_BENCH_WHEELS (~/.cache/axle-bench/wheels). nginx on loopback serves them: pages of one file, metadata, ranges.
Both programs run in turn, RUNS times (5; what changes nothing: 31); ratios are medians of the pairs' ratios. Environments and caches
are in DIR (a temporary folder): tmpfs for ratios. What was used is removed only at the end, because ext4 creates files slowly for
minutes after a tree was deleted; on tmpfs it is removed after each run. What 8 cores would do is modelled from the processor time of each
stage (more_cores.py) where there are fewer, and measured on 8 of them where there are more.
"""

import argparse
import functools
import hashlib
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile

import more_cores
from nginx import NGINX, served
from processes import measure

HERE = pathlib.Path(__file__).resolve().parent
PYTHON = "/usr/bin/python3" if os.access("/usr/bin/python3", os.X_OK) else sys.executable
EIGHT = 8  # cores
WHEELS = pathlib.Path(os.environ.get("AXLE_BENCH_WHEELS") or pathlib.Path.home() / ".cache/axle-bench/wheels")


def pins_of(source, wheels):
    """(the pins of the requirements' closure, torch's pin): resolved by uv once, and kept with the wheels."""
    kept = wheels / "pins.txt"
    if not kept.exists():
        solved = subprocess.run([str(source / "build/peers/bin/uv"), "pip", "compile", "-", "--python", PYTHON, "--no-build", "--no-header", "--no-annotate",
                                 "--quiet"], input=(HERE / "solve-requirements.txt").read_text(), text=True, check=True, capture_output=True)
        torch = subprocess.run([str(source / "build/peers/bin/uv"), "pip", "compile", "-", "--python", PYTHON, "--no-build", "--no-header", "--no-annotate",
                                "--no-deps", "--quiet"], input="torch\n", text=True, check=True, capture_output=True)
        kept.write_text(solved.stdout + torch.stdout)
    lines = [line for line in kept.read_text().splitlines() if "==" in line]
    return [line for line in lines if not line.startswith("torch==")], next(line for line in lines if line.startswith("torch=="))


def fetch(source, wheels):
    wheels.mkdir(parents=True, exist_ok=True)
    """The pins; the wheel before numpy's is there too, to be upgraded."""
    pins, torch = pins_of(source, wheels)
    pip = [str(source / "build/peers/bin/python"), "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest", str(wheels)]
    if len(list(wheels.glob("*.whl"))) <= len(pins):
        print(f"fetching {len(pins) + 1} wheels into {wheels}", flush=True)
        subprocess.run([*pip, *pins, torch], check=True)
    if len(list(wheels.glob("numpy-*.whl"))) < 2:
        subprocess.run([*pip, upgraded_from(pins)], check=True)
    return pins, torch


def upgraded_from(pins):
    return next(pin for pin in pins if pin.startswith("numpy==")).replace("==", "<")


def normalized(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def write_pages(wheels, root, origin):
    pages = {}
    for path in sorted(wheels.glob("*.whl")):
        hashes = wheels / f"{path.name}.sha256"
        if not hashes.exists():
            with path.open("rb") as file:
                hashes.write_text(hashlib.file_digest(file, "sha256").hexdigest())
        metadata = wheels / f"{path.name}.metadata"
        if not metadata.exists():
            with zipfile.ZipFile(path) as archive:
                member = next(name for name in archive.namelist() if re.fullmatch(r"[^/]+\.dist-info/METADATA", name))
                metadata.write_bytes(archive.read(member))
        pages.setdefault(normalized(path.name.split("-")[0]), []).append({
            "filename": path.name, "url": f"{origin}/files/{path.name}", "size": path.stat().st_size, "hashes": {"sha256": hashes.read_text()},
            "core-metadata": {"sha256": hashlib.sha256(metadata.read_bytes()).hexdigest()}})
    for name, files in pages.items():
        folder = root / "simple" / name
        folder.mkdir(parents=True)
        (folder / "index.json").write_text(json.dumps({"meta": {"api-version": "1.1"}, "name": name, "files": files}))


class Bench:
    """Two programs, each with a cache and environments of its own in one folder."""

    def __init__(self, chosen, folder, index):
        self.source, self.folder, self.index, self.number = chosen.source, folder, index, 0
        self.variant, self.uv = str(chosen.bin / "variant"), str(chosen.source / "build/peers/bin/uv")
        self.link_limit, self.unpack_stages = chosen.bin / "link_limit", chosen.bin / "unpack_stages"
        self.keep = os.statvfs(folder).f_files > 0 and "tmpfs" not in self.file_system()
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "PIP_CONFIG_FILE": "/dev/null", "UV_NO_CONFIG": "1"}

    def file_system(self):
        return subprocess.run(["stat", "-f", "-c", "%T", str(self.folder)], capture_output=True, text=True).stdout.strip()

    def fresh(self, kind):
        self.number += 1
        return self.folder / f"{kind}{self.number}"

    def done_with(self, *paths):
        if not self.keep:
            for path in paths:
                shutil.rmtree(path, ignore_errors=True)

    def venv(self):
        path = self.fresh("venv")
        subprocess.run([PYTHON, "-m", "venv", "--without-pip", str(path)], check=True)
        return path

    def using(self, cache):
        return {**self.environment, "AXLE_CACHE_DIR": str(cache), "UV_CACHE_DIR": str(cache)}

    def ours(self, verb, venv, *words):
        index = ["--index-url", self.index] if verb == "install" else []
        return [self.variant, verb, *words, "--python", str(venv), "--quiet", *index]

    def theirs(self, verb, venv, *words):
        index = ["--default-index", self.index, "--no-build"] if verb == "install" else []
        return [self.uv, "pip", verb, *words, "--python", str(venv / "bin/python"), "--quiet", *index]

    def run(self, command, cache):
        done = subprocess.run(command, env=self.using(cache), capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)} failed: {done.stderr}")

    def pairs(self, runs, sides):
        """`sides`: two functions that prepare one run and give (command, cache, what to remove after it)."""
        rows = [], []
        for _ in range(runs):
            for line, side in zip(rows, sides):
                command, cache, used = side()
                os.sync()
                line.append(measure(command, self.using(cache)))
                self.done_with(*used)
        return rows


def report(name, bar, rows, bar_mb=None, peer="uv"):
    own, uv = ([statistics.median(column) for column in zip(*line)] for line in rows)
    ratio = statistics.median(a[0] / b[0] for a, b in zip(*rows))
    low, high = min(a[0] / b[0] for a, b in zip(*rows)), max(a[0] / b[0] for a, b in zip(*rows))
    met = ratio <= bar and (bar_mb is None or own[1] <= bar_mb)
    print(f"{name:<34} {own[0]:8.1f} ms, {own[1]:6.1f} MB; {peer} {uv[0]:8.1f} ms, {uv[1]:6.1f} MB; ratio {ratio:.2f} [{low:.2f}..{high:.2f}], "
          f"bar {bar}{f' and {bar_mb} MB' if bar_mb else ''}: {'met' if met else 'MISSED'}", flush=True)
    return met


def install_words(what):
    return [*what, "--no-deps"]


def cold_side(bench, command_of, what):
    def prepare():
        venv, cache = bench.venv(), bench.fresh("cache")
        # The interpreter's answers are cached: they are not what is measured.
        bench.run(command_of("list", venv), cache)
        return command_of("install", venv, *install_words(what)), cache, (venv, cache)
    return prepare


def cold(bench, runs, what):
    return bench.pairs(runs, (cold_side(bench, bench.ours, what), cold_side(bench, bench.theirs, what)))


def cold_on_eight_cores(name, bar, bench, runs, warm, pin):
    """The wheel of `pin` on 8 cores. `warm`: with it in the caches."""
    usable = sorted(os.sched_getaffinity(0))
    if len(usable) >= EIGHT:
        os.sched_setaffinity(0, usable[:EIGHT])
        try:
            return report(name, bar, cold(bench, runs, [pin]))
        finally:
            os.sched_setaffinity(0, usable)
    if not bench.unpack_stages.exists():
        print("8 cores are not modelled: unpack_stages is not built (cmake --build build/release)")
        return True
    wheel = next(WHEELS.glob(f"{pin.partition('==')[0]}-*.whl"))
    url = f"{bench.index.removesuffix('/simple')}/files/{wheel.name}"
    stages, peers = [], []
    for _ in range(runs):
        unpacked = bench.fresh("stages")
        stages.append(more_cores.measure_stages(bench.unpack_stages, wheel, url, unpacked))
        # Before the other one begins: memory that was just given back is had faster than any other.
        bench.done_with(unpacked)
        command, cache, used = cold_side(bench, bench.theirs, [pin])()
        peers.append(more_cores.busiest_thread(command, bench.using(cache)))
        bench.done_with(*used)
    rest = statistics.median(took for took, _ in warm.into_empty(runs)[0]) / 1e3

    def modelled(cores):
        return rest + statistics.median(max(more_cores.streamed(one, cores), one.total() / cores) for one in stages)
    ours, uv = modelled(EIGHT), statistics.median(peers)
    met = ours / uv <= bar
    print(f"{name:<34} {ours * 1e3:8.1f} ms by the model, uv {uv * 1e3:8.1f} ms of its busiest thread: ratio {ours / uv:.2f}, bar {bar}: "
          f"{'met' if met else 'MISSED'} (by the model {len(usable)} cores take {modelled(len(usable)) * 1e3:.1f} ms)", flush=True)
    return met


class Warm:
    """A cache of each program that has the wheels."""

    def __init__(self, bench, what):
        self.bench, self.what = bench, what
        self.caches = {command_of: bench.fresh("cache") for command_of in (bench.ours, bench.theirs)}
        self.venvs = {command_of: self.installed(command_of) for command_of in self.caches}
        # Of files that were just changed nothing is kept: most environments are older than two seconds.
        time.sleep(2.5)

    def installed(self, command_of):
        venv = self.bench.venv()
        self.bench.run(command_of("install", venv, *install_words(self.what)), self.caches[command_of])
        return venv

    def pairs(self, runs, prepare):
        """`prepare(command_of)`: (venv, verb, words, whether the environment is used once)."""
        def side(command_of):
            def prepared():
                venv, verb, words, once = prepare(command_of)
                return command_of(verb, venv, *words), self.caches[command_of], (venv,) if once else ()
            return prepared
        return self.bench.pairs(runs, (side(self.bench.ours), side(self.bench.theirs)))

    def empty(self, command_of):
        """An environment of which the interpreter's answers are cached: they are not what is measured."""
        venv = self.bench.venv()
        self.bench.run(command_of("list", venv), self.caches[command_of])
        return venv

    def into_empty(self, runs, *more):
        """What is compiled the first time is kept by one of the two."""
        if more:
            for command_of in self.caches:
                self.bench.run(command_of("install", self.empty(command_of), *install_words(self.what), *more), self.caches[command_of])
        return self.pairs(runs, lambda command_of: (self.empty(command_of), "install", [*install_words(self.what), *more], True))

    def linked(self, runs):
        """What the system calls of a warm installation take alone, looks at files and links: the limit of its ratio beside uv."""
        limits, rows = [], self.into_empty(runs)
        if not self.bench.link_limit.exists():
            print("the limit of links is not measured: link_limit is not built (cmake --build build/release)")
            return rows
        for _ in range(runs):
            made = self.bench.fresh("links")
            done = subprocess.run([str(self.bench.link_limit), str(self.caches[self.bench.ours] / "store"), str(made)], capture_output=True, text=True, check=True)
            limits.append([float(word) for word in done.stdout.split()])
            self.bench.done_with(made)
        looks, folders, links = (statistics.median(column) for column in zip(*limits))
        uv = statistics.median(took for took, _ in rows[1])
        print(f"{'':<34} system calls alone: {looks:.1f} ms looks, {folders:.1f} ms folders, {links:.1f} ms links: "
              f"{(folders + links) / uv:.2f} of uv's, with the looks {(looks + folders + links) / uv:.2f}", flush=True)
        return rows

    def satisfied(self, runs):
        return self.pairs(runs, lambda command_of: (self.venvs[command_of], "install", install_words(self.what), False))

    def listed(self, runs):
        return self.pairs(runs, lambda command_of: (self.venvs[command_of], "list", [], False))

    def removed(self, runs, name):
        return self.pairs(runs, lambda command_of: (self.installed(command_of), "uninstall", [name], True))

    def into_empty_after_removal(self, runs, name):
        """What another environment had until just now."""
        def prepare(command_of):
            self.bench.run(command_of("uninstall", self.installed(command_of), name), self.caches[command_of])
            return self.empty(command_of), "install", install_words(self.what), True
        return self.pairs(runs, prepare)

    def upgraded(self, runs, older, newer):
        def prepare(command_of):
            venv = self.installed(command_of)
            self.bench.run(command_of("install", venv, older, "--no-deps"), self.caches[command_of])
            # A new version is one that no environment had before.
            for spare in self.caches[command_of].glob("store/wheels/*/spare"):
                shutil.rmtree(spare)
            time.sleep(2.5)  # for the same reason as in __init__
            return venv, "install", [newer, "--no-deps"], True
        return self.pairs(runs, prepare)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("source", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("runs", type=int, nargs="?", default=5)
    parser.add_argument("--folder")
    parser.add_argument("--only", default="", help="part of the names of the measurements to take")
    chosen = parser.parse_args()
    for tool, path in ("nginx", NGINX), ("uv", chosen.source / "build/peers/bin/uv"):
        if path is None or not os.access(path, os.X_OK):
            print(f"skipped: {tool} is not installed (./dev setup)")
            return 0
    pins, torch = fetch(chosen.source, WHEELS)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="axle-install-", dir=chosen.folder))
    try:
        with served(functools.partial(write_pages, WHEELS), files=WHEELS) as index:
            bench = Bench(chosen, folder, index)
            tmpfs = not bench.keep
            print(f"{len(pins)} wheels and torch, on {bench.file_system()}", flush=True)
            numpy = next(pin for pin in pins if pin.startswith("numpy=="))
            many, quick, wheels = max(chosen.runs, 31), chosen.runs, f"{len(pins)} wheels"
            warm_torch = functools.cache(lambda: Warm(bench, [torch]))
            warm_all = functools.cache(lambda: Warm(bench, pins))
            measurements = [
                ("satisfied: torch", 0.35, lambda: warm_torch().satisfied(many)),
                (f"satisfied: {wheels}", 0.4, lambda: warm_all().satisfied(many)),
                (f"list: {wheels}", 0.5, lambda: warm_all().listed(many)),
                ("warm: torch", 0.4 if tmpfs else 0.6, lambda: warm_torch().linked(quick)),
                (f"warm: {wheels}", 0.55 if tmpfs else 0.8, lambda: warm_all().linked(quick)),
                (f"warm, byte code: {wheels}", 0.1, lambda: warm_all().into_empty(min(quick, 5), "--compile-bytecode")),
                ("upgrade numpy", 0.6, lambda: warm_all().upgraded(quick, upgraded_from(pins), numpy)),
                ("uninstall torch", 0.5, lambda: warm_torch().removed(quick, "torch")),
                ("warm: torch, after its removal", 0.6, lambda: warm_torch().into_empty_after_removal(quick, "torch")),
                ("cold: torch", 0.95, lambda: cold(bench, quick, [torch])),
                (f"cold: {wheels}", 0.85, lambda: cold(bench, quick, pins)),
            ]
            results = [report(name, bar, take(), 64 if name == "cold: torch" else None)
                       for name, bar, take in measurements if chosen.only in name]
            if chosen.only in (name := "cold: torch, 8 cores"):
                results.append(cold_on_eight_cores(name, 0.35, bench, quick, warm_torch(), torch))
        return 0 if all(results) else 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
