"""What a model is made of, from config.json or a GGUF file's metadata."""

import dataclasses
import json


@dataclasses.dataclass
class Shape:
    type: str
    hidden: int
    layers: int
    heads: int
    feed_forward: int
    vocabulary: int
    context: int
    epsilon: float
    key_heads: int = 0
    head_depth: int = 0
    theta: float = 10000.0
    rope_scaling: dict | None = None  # as config.json has it
    window: int = 0
    tied: bool = False
    interleaved: bool = False  # rows of queries and keys in pairs (2i, 2i + 1)
    end_tokens: tuple = ()

    def __post_init__(self):
        self.key_heads = self.key_heads or self.heads
        self.head_depth = self.head_depth or self.hidden // self.heads


def of_config(folder):
    return of_dictionary(json.loads((folder / "config.json").read_text()))


def of_dictionary(config):
    ends = config.get("eos_token_id")
    decoder = config["model_type"] != "bert"
    return Shape(
        type=config["model_type"], hidden=config["hidden_size"], layers=config["num_hidden_layers"],
        heads=config["num_attention_heads"], feed_forward=config["intermediate_size"], vocabulary=config["vocab_size"],
        context=config["max_position_embeddings"], epsilon=config.get("rms_norm_eps", 1e-6) if decoder else config.get("layer_norm_eps", 1e-12),
        key_heads=config.get("num_key_value_heads") or 0, head_depth=config.get("head_dim") or 0, theta=config.get("rope_theta", 10000.0),
        rope_scaling=config.get("rope_scaling"), window=(config.get("sliding_window") or 0) if config["model_type"] == "mistral" else 0,
        tied=config.get("tie_word_embeddings", False), end_tokens=tuple(ends if isinstance(ends, list) else [] if ends is None else [ends]))


def of_gguf(file):
    kind = file.metadata["general.architecture"]

    def said(key, fallback=None):
        return file.metadata.get(f"{kind}.{key}", fallback)

    ends = {file.metadata[key] for key in ("tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id") if key in file.metadata}
    vocabulary, hidden = file.tensors["token_embd.weight"][1]
    return Shape(
        type=kind, hidden=hidden, layers=said("block_count"), heads=said("attention.head_count"), feed_forward=said("feed_forward_length"),
        vocabulary=vocabulary, context=said("context_length"), epsilon=said("attention.layer_norm_rms_epsilon", 1e-5),
        key_heads=said("attention.head_count_kv", 0), head_depth=said("attention.key_length", 0), theta=said("rope.freq_base", 10000.0),
        rope_scaling={"rope_type": said("rope.scaling.type"), "factor": said("rope.scaling.factor", 1.0)}
        if said("rope.scaling.type", "none") != "none" else None,
        tied="output.weight" not in file.tensors, interleaved=kind == "llama", end_tokens=tuple(sorted(ends)))
