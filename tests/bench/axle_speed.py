"""The runtime with one model, for model.py, through its C interface.

usage: axle_speed.py LIBRARY MODEL MODE THREADS [--kernel NAME] [--tuned TABLE]

The same lines as llama_cpp_speed.py's: a step is what lies between two tokens of the first text. ["memory", 0] is answered with bytes
and with the times of loading, that of TABLE among them.
"""

import argparse
import ctypes
import json
import pathlib
import random
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "runtime/python/axle_runtime"))
from _structs import Error, ModelOptions, Prompt, RuntimeOptions, new

STEPS, PROMPTS = 16, 2
OnToken = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int32)


def peak_bytes():
    status = pathlib.Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024


class Model:
    def __init__(self, asked):
        self.library = ctypes.CDLL(asked.library)
        self.library.axle_runtime_version.restype = ctypes.c_char_p
        self.runtime, self.model = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("axle_runtime_create", ctypes.byref(new(RuntimeOptions, kernel=asked.kernel.encode(), threads=asked.threads)), ctypes.byref(self.runtime))
        start = time.perf_counter()
        if asked.tuned:
            self.call("axle_runtime_load_tuning", self.runtime, asked.tuned.encode())
        tuning = time.perf_counter() - start
        self.call("axle_model_open", self.runtime, asked.model.encode(), ctypes.byref(new(ModelOptions, mode=asked.mode.encode())), ctypes.byref(self.model))
        facts = self.facts()
        self.needed = {"weights": int(facts["weight_bytes"]), "page": int(facts["cache_bytes"]), "tuning_seconds": tuning if asked.tuned else None}
        self.about = f"{self.library.axle_runtime_version().decode()} {asked.mode}"

    def call(self, name, *arguments):
        error = Error()
        if getattr(self.library, name)(*arguments, ctypes.byref(error)) != 0:
            sys.exit(f"{name}: {error.message.decode()}")

    def facts(self):
        key, value, facts = ctypes.c_char_p(), ctypes.create_string_buffer(256), {}
        while self.library.axle_model_info(self.model, ctypes.c_size_t(len(facts)), ctypes.byref(key), value, ctypes.c_size_t(256)) == 0:
            facts[key.value.decode()] = value.value.decode()
        return facts

    def generate(self, prompts, most):
        """Times at which tokens of the first prompt came."""
        chance, times = random.Random(1), []
        kept = [(ctypes.c_int32 * count)(*(chance.randrange(300, 10000) for _ in range(count))) for count in prompts]
        made = [new(Prompt, tokens=tokens, count=len(tokens), most_tokens=most, top_p=1) for tokens in kept]
        pointers = (ctypes.c_void_p * len(made))(*(ctypes.addressof(one) for one in made))

        def take(context, prompt, token):
            if prompt == 0:
                times.append(time.perf_counter())
            return 1

        self.call("axle_model_generate", self.model, pointers, ctypes.c_size_t(len(made)), OnToken(take), None)
        return times

    def step(self, texts):
        times = self.generate([1] * texts, STEPS + 1)
        return min(after - before for before, after in zip(times[1:], times[2:]))

    def prompt(self, count):
        best = float("inf")
        for _ in range(PROMPTS):
            start = time.perf_counter()
            best = min(best, self.generate([count], 1)[0] - start)
        return best


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    for name in ("library", "model", "mode"):
        parser.add_argument(name)
    parser.add_argument("threads", type=int)
    parser.add_argument("--kernel", default="")
    parser.add_argument("--tuned")
    asked = parser.parse_args()
    before, start = peak_bytes(), time.perf_counter()
    model = Model(asked)
    loaded = {"load_seconds": time.perf_counter() - start, "load_peak": peak_bytes() - before}
    print(json.dumps(model.about), flush=True)
    for line in sys.stdin:
        what, count = json.loads(line)
        if what == "memory":  # the peak that the model added, after all that was asked for before
            print(json.dumps({**model.needed, **loaded, "peak": peak_bytes() - before}), flush=True)
            continue
        print(json.dumps({"seconds": model.step(count) if what == "step" else model.prompt(count)}), flush=True)


if __name__ == "__main__":
    main()
