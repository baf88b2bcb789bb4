"""The shape of Llama 3.2 1B with random weights, as a GGUF file: as large as the real one, and no two blocks alike."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "runtime/model/oracle"))
import blocks
import numpy as np
import tiny_tokenizers
from gguf import GgufWriter

HIDDEN, LAYERS, FEED_FORWARD, HEADS, KEY_HEADS, DEPTH, VOCABULARY = 2048, 16, 8192, 32, 8, 64, 128256
SLICE = 1 << 20  # blocks that are made at once


def matrices():
    """name -> shape"""
    yield "token_embd", (VOCABULARY, HIDDEN)
    for i in range(LAYERS):
        for name, shape in (("attn_q", (HEADS * DEPTH, HIDDEN)), ("attn_k", (KEY_HEADS * DEPTH, HIDDEN)), ("attn_v", (KEY_HEADS * DEPTH, HIDDEN)),
                            ("attn_output", (HIDDEN, HEADS * DEPTH)), ("ffn_gate", (FEED_FORWARD, HIDDEN)), ("ffn_up", (FEED_FORWARD, HIDDEN)),
                            ("ffn_down", (HIDDEN, FEED_FORWARD))):
            yield f"blk.{i}.{name}", shape


def norms():
    yield "output_norm"
    for i in range(LAYERS):
        yield f"blk.{i}.attn_norm"
        yield f"blk.{i}.ffn_norm"


def metadata():
    tokens = tiny_tokenizers.TOKENS + [f"token{i}" for i in range(len(tiny_tokenizers.TOKENS), VOCABULARY)]
    return {
        "general.architecture": "llama", "general.name": "random", "llama.block_count": LAYERS, "llama.context_length": 8192,
        "llama.embedding_length": HIDDEN, "llama.feed_forward_length": FEED_FORWARD, "llama.attention.head_count": HEADS,
        "llama.attention.head_count_kv": KEY_HEADS, "llama.attention.key_length": DEPTH, "llama.attention.value_length": DEPTH,
        "llama.rope.dimension_count": DEPTH, "llama.rope.freq_base": 500000.0, "llama.attention.layer_norm_rms_epsilon": 1e-5,
        "llama.vocab_size": VOCABULARY, **tiny_tokenizers.byte_pairs_gguf("llama-bpe"), "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": [3] * len(tiny_tokenizers.SPECIAL) + [1] * (VOCABULARY - len(tiny_tokenizers.SPECIAL)),
    }


def write_llama(path, kind, seed=1):
    """`kind`: Q8_0 or Q4_0. Blocks are random bytes behind a scale that gives a row the length of one."""
    if path.exists():
        return path
    _, weights, size = blocks.TYPES[kind]
    spread = {"Q8_0": 74.0, "Q4_0": 4.6}[kind]  # standard deviation of the whole numbers
    random = np.random.RandomState(seed)
    tensors = [(f"{name}.weight", kind, shape) for name, shape in matrices()] + [(f"{name}.weight", "F32", (HIDDEN,)) for name in norms()]
    unfinished = path.with_suffix(".part")
    with unfinished.open("wb") as file:
        writer = GgufWriter(file, metadata(), tensors)
        for _, own, shape in tensors:
            left = int(np.prod(shape)) // weights if own == kind else 0
            scale = np.frombuffer(np.float16(1 / (spread * np.sqrt(shape[-1]))).tobytes(), np.uint8)
            while left > 0:
                count = min(left, SLICE)
                data = np.frombuffer(random.bytes(count * size), np.uint8).reshape(count, size).copy()
                data[:, :2] = scale
                writer.write(data.tobytes())
                left -= count
            if own != kind:
                writer.write(np.ones(shape, np.float32).tobytes())
            writer.end_tensor()
    unfinished.rename(path)
    return path
