"""An index of a million files: made from records, one more file, one more project, lint.

usage: publishing.py BIN [FILES [FOLDER]]

The records are generated: projects of 2 to 200 wheels that lie elsewhere; one project in ten has releases with variants,
whose variants files lie beside their pages. Wall time and peak memory; the figures of docs/performance.md are of 1000000.
"""

import hashlib
import json
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
os.environ.setdefault("AXLE_BIN", str(pathlib.Path(sys.argv[1]).resolve()))
os.environ.setdefault("AXLE_SOURCE_DIR", str(SOURCE))
sys.path.insert(0, str(SOURCE / "tests/e2e"))
from support import Wheel, levels_document

BIN = pathlib.Path(sys.argv[1])
FILES = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
RUNS = 15
TAGS = ["py3-none-any", "cp312-cp312-manylinux_2_17_x86_64", "cp312-cp312-manylinux_2_28_aarch64", "cp313-cp313-manylinux_2_17_x86_64",
        "cp313-cp313-musllinux_1_2_x86_64", "cp312-cp312-win_amd64", "cp312-cp312-macosx_11_0_arm64"]
MATRICES = [("null", "v2", "v3"), ("null", "v1", "v2", "v3", "v4"), ("v3", "v4"), ("null", "v4")]


def record(filename, url=None, data=None):
    digest = hashlib.sha256(data if data is not None else filename.encode()).hexdigest()
    one = {"filename": filename, "url": url or f"https://files.example/{digest[:2]}/{digest[2:]}/{filename}", "hashes": {"sha256": digest},
           "size": len(data) if data is not None else int(digest[:6], 16) + 1}
    if filename.endswith(".whl"):
        one["requires-python"] = ">=3.9"
        one["core-metadata"] = {"sha256": hashlib.sha256(digest.encode()).hexdigest()}
        one["upload-time"] = "2026-01-31T12:00:00.000000Z"
    return one


def generate(path, files, answer):
    """The records, in random order. In a process of its own: the memory that a command may take begins with that of its parent."""
    if child := os.fork():
        if os.waitpid(child, 0)[1] != 0:
            sys.exit("no records")
        count, projects, beside = json.loads(answer.read_text())
        return count, projects, {place: json.dumps(levels_document([label for label in MATRICES[matrix] if label != "null"])).encode() for place, matrix in beside.items()}
    dice, lines, beside, number = random.Random(17), [], {}, 0
    documents = {labels: json.dumps(levels_document([label for label in labels if label != "null"])).encode() for labels in MATRICES}
    while len(lines) < files:
        number += 1
        name = f"{dice.choice('abcdefghijklmnopqrstuvwxyz')}{number:06}_package"
        matrix = dice.choice(MATRICES) if number % 10 == 0 else None
        left, version = min(int(dice.paretovariate(1.1) * 6) + 2, 200), 0
        while left > 0:
            version += 1
            for tags in dice.sample(TAGS, min(left, dice.randrange(1, 6))):
                lines.append(record(f"{name}-{version}.0-{tags}.whl"))
                left -= 1
            for label in matrix or ():
                lines.append(record(f"{name}-{version}.0-py3-none-any-{label}.whl"))
                left -= 1
            if matrix:
                file = f"{name}-{version}.0-variants.json"
                lines.append(record(file, file, documents[matrix]))
                beside[f"{name.replace('_', '-')}/{file}"] = MATRICES.index(matrix)
                left -= 1
    dice.shuffle(lines)
    path.write_text("".join(json.dumps(one) + "\n" for one in lines))
    answer.write_text(json.dumps((len(lines), number, beside)))
    os._exit(0)


def run(*command, code=0):
    """Seconds, and megabytes at the peak."""
    begin = time.perf_counter()
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    took = time.perf_counter() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != code:
        sys.exit(f"{command}: exit code {process.returncode}")
    return took, usage.ru_maxrss / 1024


def one_by_one(what, wheels, bar, *command):
    times = [run(*command, wheel)[0] * 1000 for wheel in wheels]
    found = statistics.median(times)
    print(f"{what}: {found:.1f} ms (median of {len(times)}; {min(times):.1f} to {max(times):.1f}), bar {bar} ms: {'met' if found <= bar else 'MISSED'}")


def main():
    folder = pathlib.Path(tempfile.mkdtemp(dir=sys.argv[3] if len(sys.argv) > 3 else None))
    try:
        out, records = folder / "index", folder / "records.jsonl"
        files, projects, beside = generate(records, FILES, folder / "answer")
        print(f"{files} files of {projects} projects, {records.stat().st_size / 1e6:.0f} MB of records")
        for path, data in beside.items():
            (out / "simple" / path).parent.mkdir(parents=True, exist_ok=True)
            (out / "simple" / path).write_bytes(data)
        os.sync()
        took, memory = run(BIN / "variant", "index", "update", "--records", records, "--out", out)
        print(f"all of it from records: {took:.1f} s, {memory:.0f} MB, bar 60 s: {'met' if took <= 60 else 'MISSED'}")
        name = next(path for path in os.listdir(out / "simple") if path.endswith("-package"))
        largest = max(os.listdir(out / "simple"), key=lambda one: os.stat(out / "simple" / one / "index.json").st_size if "-" in one else 0)
        for what, of in (("one more file", name), ("one more file of the largest project", largest)):
            wheels = [Wheel(of, f"90{i}.0").write(folder / "dist") for i in range(RUNS)]
            one_by_one(what, wheels, 50, BIN / "variant", "index", "add", "--out", out)
        one_by_one("one more project", [Wheel(f"new{i}", "1.0").write(folder / "dist") for i in range(RUNS)], 50, BIN / "variant", "index", "add", "--out", out)
        one_by_one("one yanked", [f"{name}==90{i}.0" for i in range(RUNS)], 50, BIN / "variant", "index", "yank", "--out", out)
        took, memory = run(BIN / "variant", "index", "lint", out, code=1)
        print(f"lint: {took:.1f} s, {memory:.0f} MB, bar 30 s: {'met' if took <= 30 else 'MISSED'}")
        took, memory = run(BIN / "variant", "index", "update", "--out", out)
        print(f"all pages written anew: {took:.1f} s, {memory:.0f} MB")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
