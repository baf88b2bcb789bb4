"""llama.cpp, through llama-cpp-python: greedy answers of a model; run by a Python that has it.

stdin: {"model": FILE, "most": tokens, "ends": [id], "prompts": [[id]]}. stdout: {"answers": [[id]], "logits": [[float]]}: the answers without the
token that ends them, and the logits behind each prompt. The prompts are taken one after the other, each token by itself from there on.
"""

import ctypes
import json
import sys

import llama_cpp
import numpy as np

QUIET = llama_cpp.llama_log_callback(lambda level, text, data: None)


class Context:
    def __init__(self, path, threads=2, length=1024):
        llama_cpp.llama_log_set(QUIET, ctypes.c_void_p(0))
        llama_cpp.llama_backend_init()
        options = llama_cpp.llama_model_default_params()
        options.use_extra_bufts = False  # llama.cpp 0.3.36 built with GCC 12 crashes in its AMX buffers at two rows or more
        self.model = llama_cpp.llama_model_load_from_file(path.encode(), options)
        if not self.model:
            sys.exit(f"llama.cpp does not load {path}")
        options = llama_cpp.llama_context_default_params()
        options.n_ctx = options.n_batch = length
        options.n_threads = options.n_threads_batch = threads
        options.type_k = options.type_v = llama_cpp.GGML_TYPE_F32
        options.flash_attn_type = llama_cpp.LLAMA_FLASH_ATTN_TYPE_DISABLED
        self.context = llama_cpp.llama_init_from_model(self.model, options)
        self.vocabulary = llama_cpp.llama_model_get_vocab(self.model)
        self.size = llama_cpp.llama_vocab_n_tokens(self.vocabulary)

    def clear(self):
        llama_cpp.llama_memory_clear(llama_cpp.llama_get_memory(self.context), True)

    def logits(self, tokens):
        """What follows the last of them; those before them stay."""
        array = (llama_cpp.llama_token * len(tokens))(*tokens)
        if llama_cpp.llama_decode(self.context, llama_cpp.llama_batch_get_one(array, len(tokens))) != 0:
            sys.exit("llama.cpp does not decode")
        return np.ctypeslib.as_array(llama_cpp.llama_get_logits_ith(self.context, -1), (self.size,)).copy()

    def greedy(self, prompt, most, ends):
        self.clear()
        first = logits = self.logits(prompt)
        answer = []
        while len(answer) < most:
            best = int(logits.argmax())
            if best in ends:
                break
            answer.append(best)
            logits = self.logits([best])
        return answer, first.tolist()


def main():
    asked = json.load(sys.stdin)
    context = Context(asked["model"])
    answers = [context.greedy(prompt, asked["most"], asked["ends"]) for prompt in asked["prompts"]]
    json.dump({"answers": [answer for answer, _ in answers], "logits": [logits for _, logits in answers]}, sys.stdout)


if __name__ == "__main__":
    main()
