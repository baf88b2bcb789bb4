"""Whether the runtime's AMX kernels and those of others live on one thread: products of both in turn, in one process for each peer.

usage: coexistence.py BIN [TURNS] [--json FILE] [--llama-cpp PYTHON]

Each is right while its result stays the same and the process lives. llama.cpp configures its tiles once a thread, so that it dies if ours
leave them in another state. The peers are those of layers.py.
"""

import argparse
import json
import pathlib
import signal
import subprocess
import sys

import measured
import peers

HERE = pathlib.Path(__file__).resolve().parent
LIBRARY = "../tests/runtime/package/axle_runtime/libaxle_runtime.so"  # from BIN
SIDE, ROWS = 512, 8


def take_turns(library, module, peer, turns):
    """In a process of its own: says on stdout what it is about to do, and at the end who gave the same result each time."""
    sys.path.insert(0, str(HERE / "contenders"))
    import importlib

    import axle_layers
    import numpy as np
    from task import Task

    task = {"n": SIDE, "k": SIDE, "layers": 1, "threads": 1}
    made = {"ours": axle_layers.Layers(Task(json.dumps({**task, "kind": "da8w8", "kernel": "", "library": library}))),
            "peer": importlib.import_module(module).Layers(Task(json.dumps({**task, **peer})))}
    x = Task(json.dumps({**task, "kind": ""})).activations(ROWS, SIDE)
    first, same = {}, {"ours": True, "peer": True}
    for _ in range(turns):
        for who, one in made.items():
            print(json.dumps({"runs": who}), flush=True)
            y = one.forward(0, x)
            same[who] = same[who] and np.array_equal(first.setdefault(who, y), y)
    print(json.dumps(same), flush=True)


def verdict(done):
    """{"ours", "peer"}: "right", "changes", or how it died."""
    said = [json.loads(line) for line in done.stdout.splitlines()]
    if done.returncode == 0:
        return {who: "right" if same else "changes" for who, same in said[-1].items()}
    if not said:
        return {"lacks": (done.stderr.strip().splitlines() or ["it does not start"])[-1]}
    died = signal.Signals(-done.returncode).name if done.returncode < 0 else f"status {done.returncode}"
    return {**{"ours": "right", "peer": "right"}, said[-1]["runs"]: f"dies of {died} after {len(said) - 1} products"}


def kinds(asked):
    """peer -> (Python, module, its part of the task), made when it is wanted."""
    yield "oneDNN 2", lambda: (sys.executable, "onednn_layers", {"kind": "s8s8", "library": str(peers.onednn(2))})
    yield "oneDNN 3", lambda: (sys.executable, "onednn_layers", {"kind": "s8s8", "library": str(peers.onednn(3))})
    yield "llama.cpp", lambda: (asked.llama_cpp or peers.llama_cpp(), "ggml_layers", {"kind": "q8_0"})


def main():
    if sys.argv[1:2] == ["--turns"]:
        library, module, peer, turns = sys.argv[2:]
        return take_turns(library, module, json.loads(peer), int(turns))
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("turns", type=int, nargs="?", default=1000)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--llama-cpp", type=pathlib.Path)
    asked = parser.parse_args()
    found = {}
    for name, wanted in kinds(asked):
        try:
            python, module, peer = wanted()
            done = subprocess.run([python, __file__, "--turns", asked.bin / LIBRARY, module, json.dumps(peer), str(asked.turns)], capture_output=True, text=True)
            found[name] = verdict(done)
        except peers.Missing as missing:
            found[name] = {"lacks": str(missing)}
        said = found[name]
        print(f"{name}: " + (f"not measured here: {said['lacks']}" if "lacks" in said else f"ours {said['ours']}, {name} {said['peer']}; {asked.turns} turns"), flush=True)
    if asked.json:
        measured.store(asked.json, coexistence=found)
    return 0 if all(said.get("ours", "right") == "right" for said in found.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
