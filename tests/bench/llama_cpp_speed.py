"""llama.cpp with one model, for model.py; run by a Python that has llama-cpp-python.

usage: llama_cpp_speed.py MODEL THREADS

Each line of stdin is ["step", texts] or ["prompt", tokens]; the answer is {"seconds": of the best one}. The first line of stdout says
what this llama.cpp is.
"""

import ctypes
import json
import pathlib
import sys
import time

import llama_cpp
import numpy as np
from ggml_threads import pinned_pool

QUIET = llama_cpp.llama_log_callback(lambda level, text, data: None)
CONTEXT, TEXTS, BATCH, STEPS, PROMPTS = 64, 32, 512, 16, 2


def loaded(name):
    """The library of this name that is loaded. A wheel holds each under several names, as files of their own: opened by another one it
    would be loaded twice, and its second copy knows nothing of buffers that the first repacked."""
    paths = {line.split(maxsplit=5)[5].strip() for line in pathlib.Path("/proc/self/maps").read_text().splitlines() if f"/{name}.so" in line}
    if len(paths) != 1:
        sys.exit(f"{name} should be loaded once: {sorted(paths)}")
    return ctypes.CDLL(paths.pop())


def pin_threads(context, count):
    pool = pinned_pool(loaded("libggml-cpu"), count)
    loaded("libllama").llama_attach_threadpool(ctypes.c_void_p(context), pool, pool)


class Context:
    def __init__(self, path, threads):
        llama_cpp.llama_log_set(QUIET, ctypes.c_void_p(0))
        llama_cpp.llama_backend_init()
        self.model = llama_cpp.llama_model_load_from_file(path.encode(), llama_cpp.llama_model_default_params())
        if not self.model:
            sys.exit(f"llama.cpp does not load {path}")
        options = llama_cpp.llama_context_default_params()
        options.n_ctx, options.n_seq_max = CONTEXT * TEXTS, TEXTS
        options.n_batch = options.n_ubatch = BATCH
        options.n_threads = options.n_threads_batch = threads
        options.kv_unified = True  # else a prompt would have the context of one text
        self.context = llama_cpp.llama_init_from_model(self.model, options)
        pin_threads(self.context, threads)
        self.tokens = np.random.RandomState(1).randint(300, llama_cpp.llama_vocab_n_tokens(llama_cpp.llama_model_get_vocab(self.model)), BATCH)

    def decode(self, rows):
        """`rows`: [(token, position, text, are its logits wanted)]; seconds."""
        batch = llama_cpp.llama_batch_init(len(rows), 0, 1)
        batch.n_tokens = len(rows)
        for i, (token, position, text, wanted) in enumerate(rows):
            batch.token[i], batch.pos[i], batch.n_seq_id[i], batch.logits[i] = int(token), position, 1, wanted
            batch.seq_id[i][0] = text
        start = time.perf_counter()
        if llama_cpp.llama_decode(self.context, batch) != 0:
            sys.exit("llama.cpp does not decode")
        llama_cpp.llama_synchronize(self.context)
        took = time.perf_counter() - start
        llama_cpp.llama_batch_free(batch)
        return took

    def clear(self):
        llama_cpp.llama_memory_clear(llama_cpp.llama_get_memory(self.context), True)

    def step(self, texts):
        self.clear()
        return min(self.decode([(self.tokens[position + text], position, text, 1) for text in range(texts)]) for position in range(STEPS))

    def prompt(self, count):
        best = float("inf")
        for _ in range(PROMPTS):
            self.clear()
            best = min(best, self.decode([(self.tokens[i], i, 0, i == count - 1) for i in range(count)]))
        return best


def main():
    context = Context(sys.argv[1], int(sys.argv[2]))
    system = llama_cpp.llama_print_system_info().decode()
    print(json.dumps(f"{llama_cpp.__version__} ({system.strip(' |')})"), flush=True)
    for line in sys.stdin:
        what, count = json.loads(line)
        print(json.dumps({"seconds": context.step(count) if what == "step" else context.prompt(count)}), flush=True)


if __name__ == "__main__":
    main()
