"""One linear layer beside the peers': llama.cpp, oneDNN, ONNX Runtime, OpenVINO and torchao.

usage: layers.py BIN [ROUNDS] [--parts int8,int4,feed-forward] [--rows 1,4,8,16,32,128] [--only NAME,…] [--without NAME,…]
                 [--gigabytes N] [--json FILE] [--llama-cpp PYTHON] [--llama-cpp-avx2 PYTHON] [--peers-python PYTHON] [--torchao PYTHON]

Layers of 4096 x 4096 (feed-forward: 14336 x 4096 and back), as many as make N GB (0.8) of weights, no two alike, one after the other, so
that no cache holds them. Each contender is a process of its own that stays loaded and pins its threads, one for each CPU; they are
measured in turn, ROUNDS times (7), with a probe of plain reads in each turn. Ratios are medians of the rounds' ratios. Times include the
quantisation of activations, but for oneDNN's, which has none. The error is that of one layer of normally distributed numbers against the
product in double. Peers are installed into $AXLE_BENCH_PEERS (~/.cache/axle-bench) from the index that pip is configured for; those that
cannot be are said. --llama-cpp names a Python that has llama-cpp-python, --llama-cpp-avx2 one where it was built for AVX2 alone (each is
compiled for minutes unless it is named or left out by --without), --peers-python one that has onnxruntime and openvino, --torchao one that
has torchao and PyTorch (5 GB where that is the one for CUDA).
"""

import argparse
import contextlib
import json
import os
import pathlib
import statistics
import sys

import measured
import peers
from contender import Contender, OthersBusy

HERE = pathlib.Path(__file__).resolve().parent
LIBRARY = "../tests/runtime/package/axle_runtime/libaxle_runtime.so"  # from BIN
OPENMP = {"OMP_NUM_THREADS": str(os.cpu_count()), "OMP_PROC_BIND": "close", "OMP_PLACES": "cores"}
WIDE_ROWS = [1, 4, 8, 16, 32, 128]
FEW_ROWS = [1, 8]  # of sets that are slow with more
COMPILED_ROWS = [1, 8, 32, 128]  # of those that compile each number for seconds

# (name, program, its kind, rows if not all)
INT8 = [("da8w8", "axle", "da8w8"), ("a16w8", "axle", "a16w8"), ("a16f8", "axle", "a16f8"), ("da8w8 avx512_vnni", "axle", "da8w8"),
        ("da8w8 avx_vnni", "axle", "da8w8", FEW_ROWS), ("da8w8 avx2", "axle", "da8w8", FEW_ROWS),
        ("llama.cpp q8_0", "ggml", "q8_0"), ("llama.cpp avx2 q8_0", "ggml", "q8_0", FEW_ROWS), ("oneDNN 2 s8s8", "onednn", "s8s8"), ("oneDNN 2 u8s8", "onednn", "u8s8"),
        ("oneDNN 3 s8s8", "onednn", "s8s8"), ("ONNX Runtime int8", "ort", "int8"), ("OpenVINO int8", "openvino", "int8"), ("torchao int8", "torchao", "plain", COMPILED_ROWS),
        ("torchao int8 fused", "torchao", "fused", COMPILED_ROWS)]
INT4 = [("da8w4 g128", "axle", "da8w4 g128"), ("a16w4 g128", "axle", "a16w4 g128"), ("da8w4 g64", "axle", "da8w4 g64"), ("da8w4 2l", "axle", "da8w4 2l"),
        ("a16w4 2l", "axle", "a16w4 2l"), ("llama.cpp q4_0", "ggml", "q4_0"), ("llama.cpp q4_K", "ggml", "q4_K"),
        ("ONNX Runtime int4", "ort", "int4 g32"), ("OpenVINO u4", "openvino", "u4 g128")]
FEED_FORWARD = [one for one in INT8 + INT4 if one[0] in ("da8w8", "a16w8", "da8w4 g128", "da8w4 2l", "llama.cpp q8_0", "llama.cpp q4_0", "oneDNN 3 s8s8")]
PARTS = {"int8": (INT8, (4096, 4096), WIDE_ROWS), "int4": (INT4, (4096, 4096), WIDE_ROWS), "feed-forward": (FEED_FORWARD, (14336, 4096), [1, 8, 32])}


class Peers:
    """How each contender is started."""

    def __init__(self, asked, kernels):
        self.asked, self.kernels = asked, kernels

    def start(self, name, program, kind, task):
        """A Contender; raises peers.Missing where there is no such peer."""
        task = {"kind": kind, **task}
        python, environment = getattr(self, program)(name, task)
        environment = {"OPENBLAS_NUM_THREADS": "1", **environment}
        return Contender(name, python, HERE / f"contenders/{program}_layers.py", json.dumps(task), environment=environment, may_lack=True)

    def axle(self, name, task):
        task["library"] = str(self.asked.bin / LIBRARY)
        task["kernel"] = name.rsplit(" ", 1)[1] if name.startswith("da8w8 ") else ""
        if task["kernel"] and task["kernel"] not in self.kernels:
            raise peers.Missing(f"this machine has no {task['kernel']}")
        return sys.executable, {}

    def ggml(self, name, task):
        if "avx2" in name:
            task["nothing_beyond"] = "avx2"
            return self.asked.llama_cpp_avx2 or peers.llama_cpp_avx2(), {}
        return self.asked.llama_cpp or peers.llama_cpp(), {}

    def onednn(self, name, task):
        task["library"] = str(peers.onednn(3 if " 3 " in name else 2))
        return sys.executable, OPENMP

    def ort(self, name, task):
        return self.asked.peers_python or peers.onnx_runtime(), {}

    def openvino(self, name, task):
        return self.asked.peers_python or peers.openvino(), {}

    def torchao(self, name, task):
        return self.asked.torchao or peers.torchao(), OPENMP


def layers_of(part, gigabytes):
    n, k = PARTS[part][1]
    weights = n * k * (0.52 if part == "int4" else 1)
    return max(2, round(gigabytes * 1e9 / weights) // 2 * 2)


def start_all(part, starter, asked):
    """([(Contender, its rows)], {name: facts})"""
    contenders, facts = [], {}
    (n, k), count = PARTS[part][1], layers_of(part, asked.gigabytes)
    for name, program, kind, *rows in PARTS[part][0]:
        if (asked.only and name not in asked.only) or name in asked.without:
            continue
        try:
            made = starter.start(name, program, kind, {"n": n, "k": k, "layers": count, "threads": os.cpu_count()})
        except peers.Missing as missing:
            facts[name] = {"lacks": str(missing)}
            continue
        facts[name] = {"lacks": made.lacks} if made.lacks else made.about
        if not made.lacks:
            contenders.append((made, rows[0] if rows else WIDE_ROWS))
    return contenders, facts


def measure(part, probe, contenders, facts, asked):
    cases = {}
    for one, measured_rows in contenders:
        for rows in [rows for rows in PARTS[part][2] if rows in asked.rows and rows in measured_rows]:
            one.ask(rows, "prepare")  # which compiles for seconds, in processes that are not its own
    for _ in range(asked.rounds):
        for rows in [rows for rows in PARTS[part][2] if rows in asked.rows]:
            taken = [one for one, measured_rows in contenders if rows in measured_rows]
            with OthersBusy([probe, *taken]) as others:
                reads = probe.about["bytes"] / probe.ask()["seconds"] / 1e9
                seconds = {one.name: one.ask(rows)["seconds"] for one in taken}
            cases.setdefault(str(rows), []).append({"reads": reads, "others": others.cpus, "seconds": seconds})
    return measured.Table({"name": part, "contenders": facts, "cases": cases})


def cell(table, name, case, first):
    """Best time, share of reads, how often as long as the first takes."""
    took = min(table.seconds(name, case)) * 1e6
    share = table.share_of(lambda rate: table.contenders[name]["bytes"] / rate / 1e9, name, case)
    return f"{took:.0f} ({share:.2f}, x{table.times_faster(first, name, case):.2f})"


def report(table, part):
    first = next((name for name, facts in table.contenders.items() if "lacks" not in facts), None)
    if first is None:
        return
    n, k = PARTS[part][1]
    print(f"\n{part}: {n} x {k}{'' if n == k else ' and back'}; us of the best round (share of plain reads, times as long as {first} takes)\n")
    heads = []
    for case in table.cases:
        reads, (taken, noise) = table.reads(case), table.rounds(case)
        heads.append(f"M={case}, {statistics.median(reads):.1f} GB/s{f', {noise}' if noise else ''}{f', {len(taken)} rounds' if len(taken) < len(table.cases[case]) else ''}")
    print("| contender | " + " | ".join(heads) + " | error |")
    print("|---" * (len(heads) + 2) + "|")
    for name, facts in table.contenders.items():
        if "lacks" not in facts:
            cells = [cell(table, name, case, first) if table.has(case, name, first) else "-" for case in table.cases]
            print(f"| {name} | {' | '.join(cells)} | {facts['error']:.1e} |")
    print()
    for name, facts in table.contenders.items():
        print(f"{name}: " + (f"not measured here: {facts['lacks']}" if "lacks" in facts else facts["about"]), flush=True)


def arguments():
    names = lambda text: text.split(",")
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("rounds", type=int, nargs="?", default=7)
    parser.add_argument("--parts", type=names, default=list(PARTS))
    parser.add_argument("--rows", type=lambda text: [int(rows) for rows in text.split(",")], default=WIDE_ROWS)
    parser.add_argument("--only", type=names)
    parser.add_argument("--without", type=names, default=[])
    parser.add_argument("--gigabytes", type=float, default=0.8)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--llama-cpp", type=pathlib.Path)
    parser.add_argument("--llama-cpp-avx2", type=pathlib.Path)
    parser.add_argument("--peers-python", type=pathlib.Path)
    parser.add_argument("--torchao", type=pathlib.Path)
    return parser.parse_args()


def main():
    asked = arguments()
    with contextlib.suppress(PermissionError):  # of root alone: whatever else runs waits, so that threads that wait for each other do not
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    piece = 1 << 24
    probe = Contender("reads", asked.bin / "machine_limits", piece, max(1, round(asked.gigabytes * 1e9 / piece)), os.cpu_count())
    processor = next((line.split(":", 1)[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")), "")
    machine = {"processor": processor, "threads": os.cpu_count(), "kernels": probe.about["kernels"], "peaks": probe.about["peaks"]}
    print(f"{processor}, {os.cpu_count()} threads; peaks in 10^9 operations a second: " + ", ".join(f"{name} {peak:.0f}" for name, peak in machine["peaks"].items() if peak))
    for part in asked.parts:
        contenders, facts = start_all(part, Peers(asked, machine["kernels"]), asked)
        table = measure(part, probe, contenders, facts, asked)
        for one, _ in contenders:
            one.close()
        report(table, part)
        if asked.json:
            measured.store(asked.json, machine, [table])
    probe.close()


if __name__ == "__main__":
    main()
