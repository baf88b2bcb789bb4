"""Decoders of the Llama family in double: Llama, Mistral, Qwen2, Qwen3. No cache: a text is computed as a whole."""

import math

import numpy as np
import shapes
from gguf import GgufFile
from safetensors import read_folder

# Hugging Face's names, in GGUF files.
GGUF_NAMES = {"embed_tokens": "token_embd", "norm": "output_norm", "lm_head": "output"}
GGUF_LAYER_NAMES = {
    "input_layernorm": "attn_norm", "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output", "self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm",
    "post_attention_layernorm": "ffn_norm", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
}


def gguf_name(name):
    """model.layers.3.mlp.up_proj.weight -> blk.3.ffn_up.weight"""
    parts, kind = name.removeprefix("model.").rsplit(".", 1)
    if not parts.startswith("layers."):
        return f"{GGUF_NAMES[parts]}.{kind}"
    _, layer, part = parts.split(".", 2)
    return f"blk.{layer}.{GGUF_LAYER_NAMES[part]}.{kind}"


def softmax(scores):
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def frequencies(shape, factors=None):
    """Angle of each pair of a head's dimensions at position 1; transformers' modeling_rope_utils defines the scalings."""
    plain = shape.theta ** (-np.arange(0, shape.head_depth, 2) / shape.head_depth)
    if factors is not None:
        return plain / factors
    scaling = shape.rope_scaling or {}
    kind = scaling.get("rope_type", scaling.get("type", "default"))
    if kind == "default":
        return plain
    if kind == "linear":
        return plain / scaling["factor"]
    if kind != "llama3":
        raise ValueError(f"rotary scaling {kind} is not known here")
    low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
    waves = scaling["original_max_position_embeddings"] * plain / (2 * math.pi)
    mixed = np.clip((waves - low) / (high - low), 0, 1)
    return (1 - mixed) * plain / scaling["factor"] + mixed * plain


class Decoder:
    def __init__(self, path):
        """A GGUF file or a folder."""
        self.factors = None
        if path.is_dir():
            self.shape, self.weights = shapes.of_config(path), read_folder(path)
            return
        file = GgufFile(path)
        self.shape = shapes.of_gguf(file)
        self.metadata = file.metadata
        names = ["model.embed_tokens.weight", "model.norm.weight", "lm_head.weight"]
        names += [f"model.layers.{i}.{part}.{kind}" for i in range(self.shape.layers) for part in GGUF_LAYER_NAMES
                  for kind in ("weight", "bias")]
        self.weights = {name: file.tensor(gguf_name(name)) for name in names if gguf_name(name) in file.tensors}
        if "rope_freqs.weight" in file.tensors:
            self.factors = file.tensor("rope_freqs.weight")

    def linear(self, x, name):
        y = x @ self.weights[name + ".weight"].T
        return y + self.weights[name + ".bias"] if name + ".bias" in self.weights else y

    def norm(self, x, name):
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + self.shape.epsilon) * self.weights[name + ".weight"]

    def rotate(self, heads):
        """[tokens, heads, depth], each token by its position."""
        angles = np.arange(len(heads))[:, None, None] * frequencies(self.shape, self.factors)
        cosine, sine = np.cos(angles), np.sin(angles)
        half = self.shape.head_depth // 2
        first, second = (slice(0, None, 2), slice(1, None, 2)) if self.shape.interleaved else (slice(half), slice(half, None))
        turned = np.empty_like(heads)
        turned[..., first] = heads[..., first] * cosine - heads[..., second] * sine
        turned[..., second] = heads[..., second] * cosine + heads[..., first] * sine
        return turned

    def attention(self, x, layer):
        shape, count, part = self.shape, len(x), layer + "self_attn."
        queries, keys, values = (self.linear(x, part + name).reshape(count, -1, shape.head_depth) for name in ("q_proj", "k_proj", "v_proj"))
        if part + "q_norm.weight" in self.weights:
            queries, keys = self.norm(queries, part + "q_norm"), self.norm(keys, part + "k_norm")
        shared = shape.heads // shape.key_heads
        queries = self.rotate(queries).transpose(1, 0, 2)
        keys = np.repeat(self.rotate(keys).transpose(1, 2, 0), shared, axis=0)
        values = np.repeat(values.transpose(1, 0, 2), shared, axis=0)
        age = np.arange(count)[:, None] - np.arange(count)
        seen = (age >= 0) & (age < (shape.window or count))
        mixed = softmax(np.where(seen, queries @ keys / math.sqrt(shape.head_depth), -np.inf)) @ values
        return self.linear(mixed.transpose(1, 0, 2).reshape(count, -1), part + "o_proj")

    def feed_forward(self, x, layer):
        gate = self.linear(x, layer + "mlp.gate_proj")
        return self.linear(gate / (1 + np.exp(-gate)) * self.linear(x, layer + "mlp.up_proj"), layer + "mlp.down_proj")

    def logits(self, tokens, last=None):
        """[tokens, vocabulary], or of the `last` ones only: what follows each."""
        x = self.weights["model.embed_tokens.weight"][np.asarray(tokens)]
        for i in range(self.shape.layers):
            layer = f"model.layers.{i}."
            x = x + self.attention(self.norm(x, layer + "input_layernorm"), layer)
            x = x + self.feed_forward(self.norm(x, layer + "post_attention_layernorm"), layer)
        x = self.norm(x[-last:] if last else x, "model.norm")
        return x @ self.weights["model.embed_tokens.weight" if self.shape.tied else "lm_head.weight"].T

    def greedy(self, prompt, most):
        """The answer, without the token that ends it."""
        tokens = list(prompt)
        while len(tokens) < len(prompt) + most:
            best = int(self.logits(tokens, 1)[0].argmax())
            if best in self.shape.end_tokens:
                break
            tokens.append(best)
        return tokens[len(prompt):]

    def shortfalls(self, prompt, answer, most):
        """Of each token of a greedy answer, and of its end before `most` tokens: how far its logit lies below the best one, as a
        part of the spread (standard deviation) of the logits there. Zeros for an answer that is the same as in double."""
        logits = self.logits([*prompt, *answer], len(answer) + 1)
        below = (logits.max(1, keepdims=True) - logits) / logits.std(1, keepdims=True)
        found = [float(below[i, token]) for i, token in enumerate(answer)]
        if len(answer) < most:
            found.append(min((float(below[-1, token]) for token in self.shape.end_tokens), default=math.inf))
        return found
