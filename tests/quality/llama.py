"""A small Llama in PyTorch, to be trained, and its folder as Hugging Face has it."""

import dataclasses
import json
import math
import struct

import torch
from torch.nn import functional

CONTEXT = 256
THETA = 10000.0
EPSILON = 1e-5


@dataclasses.dataclass(frozen=True)
class Shape:
    hidden: int
    layers: int
    heads: int
    kv_heads: int
    intermediate: int
    vocabulary: int

    @property
    def head(self):
        return self.hidden // self.heads

    def config(self, end):
        """What config.json holds; `end`: the token behind a text."""
        return {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": self.hidden, "intermediate_size": self.intermediate,
                "num_hidden_layers": self.layers, "num_attention_heads": self.heads, "num_key_value_heads": self.kv_heads, "head_dim": self.head,
                "hidden_act": "silu", "max_position_embeddings": CONTEXT, "rms_norm_eps": EPSILON, "rope_theta": THETA,
                "tie_word_embeddings": True, "vocab_size": self.vocabulary, "torch_dtype": "float32", "bos_token_id": end, "eos_token_id": end}


def turn(x, angles):
    """RoPE of [batch, heads, positions, head]; the two that turn together are half a head apart."""
    cos, sin = (part[:x.shape[2]] for part in angles)
    first, second = x.chunk(2, dim=-1)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)


class Llama:
    """Weights by Hugging Face's names, and what they compute."""

    def __init__(self, shape, seed):
        self.shape = shape
        random = torch.Generator().manual_seed(seed)
        self.weights = {}

        def matrix(name, rows, columns, size=0.02):
            self.weights[name + ".weight"] = (torch.randn(rows, columns, generator=random) * size).requires_grad_()

        def norm(name):
            self.weights[name + ".weight"] = torch.ones(shape.hidden, requires_grad=True)

        matrix("model.embed_tokens", shape.vocabulary, shape.hidden)
        out = 0.02 / math.sqrt(2 * shape.layers)
        for i in range(shape.layers):
            layer = f"model.layers.{i}."
            norm(layer + "input_layernorm")
            matrix(layer + "self_attn.q_proj", shape.heads * shape.head, shape.hidden)
            matrix(layer + "self_attn.k_proj", shape.kv_heads * shape.head, shape.hidden)
            matrix(layer + "self_attn.v_proj", shape.kv_heads * shape.head, shape.hidden)
            matrix(layer + "self_attn.o_proj", shape.hidden, shape.heads * shape.head, out)
            norm(layer + "post_attention_layernorm")
            matrix(layer + "mlp.gate_proj", shape.intermediate, shape.hidden)
            matrix(layer + "mlp.up_proj", shape.intermediate, shape.hidden)
            matrix(layer + "mlp.down_proj", shape.hidden, shape.intermediate, out)
        norm("model.norm")
        angles = torch.arange(CONTEXT)[:, None] * THETA ** (-torch.arange(0, shape.head, 2) / shape.head)
        self.angles = angles.cos(), angles.sin()
        self.mask = torch.full((CONTEXT, CONTEXT), -math.inf).triu(1)

    def count(self):
        return sum(values.numel() for values in self.weights.values())

    def norm(self, name, x):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + EPSILON) * self.weights[name + ".weight"]

    def linear(self, name, x):
        return functional.linear(x, self.weights[name + ".weight"])

    def attention(self, name, x):
        batch, length, _ = x.shape

        def heads(part, count):
            return self.linear(f"{name}.{part}_proj", x).view(batch, length, count, self.shape.head).transpose(1, 2).float()

        queries = turn(heads("q", self.shape.heads), self.angles)
        keys = turn(heads("k", self.shape.kv_heads), self.angles)
        repeats = self.shape.heads // self.shape.kv_heads
        keys, values = (part.repeat_interleave(repeats, dim=1) for part in (keys, heads("v", self.shape.kv_heads)))
        scores = queries @ keys.transpose(2, 3) / math.sqrt(self.shape.head)
        mixed = (scores.float() + self.mask[:length, :length]).softmax(-1) @ values
        return self.linear(name + ".o_proj", mixed.transpose(1, 2).reshape(batch, length, -1))

    def logits(self, tokens):
        """[batch, positions] -> [batch, positions, vocabulary]."""
        x = self.weights["model.embed_tokens.weight"][tokens]
        for i in range(self.shape.layers):
            layer = f"model.layers.{i}."
            x = x + self.attention(layer + "self_attn", self.norm(layer + "input_layernorm", x)).float()
            inner = self.norm(layer + "post_attention_layernorm", x)
            inner = functional.silu(self.linear(layer + "mlp.gate_proj", inner)) * self.linear(layer + "mlp.up_proj", inner)
            x = x + self.linear(layer + "mlp.down_proj", inner).float()
        return self.linear("model.embed_tokens", self.norm("model.norm", x)).float()

    def loss(self, tokens):
        """The mean of -log p over all tokens but the first of each row."""
        return functional.cross_entropy(self.logits(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())

    def write(self, folder, tokenizer):
        """config.json, tokenizer.json and model.safetensors, the last one last."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.json").write_text(json.dumps(self.shape.config(tokenizer.end), indent=1))
        (folder / "tokenizer.json").write_text(tokenizer.to_json())
        header, data = {"__metadata__": {"format": "pt"}}, bytearray()
        for name, values in self.weights.items():
            begin = len(data)
            data += values.detach().numpy().astype("<f4").tobytes()
            header[name] = {"dtype": "F32", "shape": list(values.shape), "data_offsets": [begin, len(data)]}
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)
