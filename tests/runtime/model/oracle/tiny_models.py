"""Tiny models with random weights from a seed, written as folders and as GGUF files.

The same seed gives the same files. Weights are large enough that a next token is mostly far ahead of the second.
"""

import dataclasses
import json

import numpy as np
import shapes
import tiny_tokenizers as tokenizers
from decoder import frequencies, gguf_name
from gguf import write_gguf
from safetensors import write_folder

LLAMA3_SCALING = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 64}


@dataclasses.dataclass
class TinyModel:
    config: dict  # as config.json has it
    tensors: dict  # Hugging Face's name -> float32
    split: str = ""  # the pre-tokenizer of a decoder


class Weights:
    def __init__(self, seed):
        self.random = np.random.RandomState(seed)
        self.tensors = {}

    def add(self, name, *shape, size, around=0.0):
        self.tensors[name] = (around + size * self.random.standard_normal(shape)).astype(np.float32)

    def matrix(self, name, rows, columns, size):
        self.add(name + ".weight", rows, columns, size=size / np.sqrt(columns))

    def norm(self, name, length):
        self.add(name + ".weight", length, size=0.2, around=1.0)


def make_decoder(kind="llama", seed=1, **changes):
    """`changes`: members of config.json. Blocks of 256 weights fit the sizes unless they are changed."""
    config = {
        "architectures": [{"llama": "Llama", "mistral": "Mistral", "qwen2": "Qwen2", "qwen3": "Qwen3"}[kind] + "ForCausalLM"],
        "model_type": kind, "hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 2, "num_attention_heads": 8,
        "num_key_value_heads": 2, "head_dim": 32, "hidden_act": "silu", "max_position_embeddings": 256, "rms_norm_eps": 1e-5,
        "rope_theta": 10000.0, "tie_word_embeddings": kind == "qwen2", "vocab_size": len(tokenizers.TOKENS), "torch_dtype": "float32",
        "bos_token_id": tokenizers.TOKENS.index(tokenizers.TURN), "eos_token_id": tokenizers.TOKENS.index(tokenizers.TURN_END),
    } | changes
    weights, hidden, depth = Weights(seed), config["hidden_size"], config["head_dim"]
    queries, keys = config["num_attention_heads"] * depth, config["num_key_value_heads"] * depth
    weights.add("model.embed_tokens.weight", config["vocab_size"], hidden, size=1.0)
    for i in range(config["num_hidden_layers"]):
        layer, attention = f"model.layers.{i}.", f"model.layers.{i}.self_attn."
        weights.norm(layer + "input_layernorm", hidden)
        for name, rows, size in (("q_proj", queries, 1.2), ("k_proj", keys, 1.2), ("v_proj", keys, 1)):
            weights.matrix(attention + name, rows, hidden, size)
            if kind == "qwen2":
                weights.add(attention + name + ".bias", rows, size=0.2)
        if kind == "qwen3":
            weights.norm(attention + "q_norm", depth)
            weights.norm(attention + "k_norm", depth)
        weights.matrix(attention + "o_proj", hidden, queries, 1)
        weights.norm(layer + "post_attention_layernorm", hidden)
        for name, rows, columns in (("gate_proj", config["intermediate_size"], hidden), ("up_proj", config["intermediate_size"], hidden),
                                    ("down_proj", hidden, config["intermediate_size"])):
            weights.matrix(layer + "mlp." + name, rows, columns, 1)
    if config["tie_word_embeddings"]:
        # Of both signs: else the last token, whose embedding is most of what comes here, would be repeated for ever.
        weights.add("model.norm.weight", hidden, size=1.0)
    else:
        weights.norm("model.norm", hidden)
        weights.matrix("lm_head", config["vocab_size"], hidden, 3)
    return TinyModel(config, weights.tensors, {"qwen2": "qwen2", "qwen3": "qwen2", "mistral": "smollm"}.get(kind, "llama-bpe"))


def write_json(path, content):
    path.write_text(json.dumps(content, ensure_ascii=False))


def write_decoder_folder(folder, model, dtype="F32", shards=1):
    folder.mkdir(parents=True)
    write_json(folder / "config.json", model.config)
    write_json(folder / "tokenizer.json", tokenizers.byte_pairs_json(model.split))
    write_json(folder / "tokenizer_config.json", {"chat_template": tokenizers.CHAT_TEMPLATE, "eos_token": tokenizers.TURN_END})
    write_folder(folder, model.tensors, dtype, shards)
    return folder


def in_pairs(rows, heads):
    """Rows of queries or keys as llama.cpp's converter lays them for Llama: the two that turn together are neighbours."""
    return rows.reshape(heads, 2, -1, rows.shape[-1]).swapaxes(1, 2).reshape(rows.shape)


def write_decoder_gguf(path, model, kind="F32"):
    """Matrices in blocks of `kind`."""
    config = model.config
    architecture = "llama" if config["model_type"] == "mistral" else config["model_type"]
    metadata = {"general.architecture": architecture, "general.name": "tiny"}
    metadata |= {f"{architecture}.{key}": value for key, value in {
        "block_count": config["num_hidden_layers"], "context_length": config["max_position_embeddings"],
        "embedding_length": config["hidden_size"], "feed_forward_length": config["intermediate_size"],
        "attention.head_count": config["num_attention_heads"], "attention.head_count_kv": config["num_key_value_heads"],
        "attention.key_length": config["head_dim"], "attention.value_length": config["head_dim"], "rope.dimension_count": config["head_dim"],
        "rope.freq_base": config["rope_theta"], "attention.layer_norm_rms_epsilon": config["rms_norm_eps"],
        "vocab_size": config["vocab_size"]}.items()}
    tensors = {}
    for name, values in model.tensors.items():
        for part, heads in (("q_proj.weight", "num_attention_heads"), ("k_proj.weight", "num_key_value_heads")):
            if name.endswith(part) and architecture == "llama":
                values = in_pairs(values, config[heads])
        tensors[gguf_name(name)] = (kind if values.ndim == 2 else "F32", values)
    if config.get("rope_scaling"):
        shape = shapes.of_dictionary(config)
        plain = frequencies(dataclasses.replace(shape, rope_scaling=None))
        tensors["rope_freqs.weight"] = ("F32", plain / frequencies(shape))
    write_gguf(path, metadata | tokenizers.byte_pairs_gguf(model.split), tensors)
    return path


def make_encoder(seed=1, **changes):
    config = {
        "architectures": ["BertModel"], "model_type": "bert", "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 3,
        "num_attention_heads": 4, "hidden_act": "gelu", "max_position_embeddings": 64, "type_vocab_size": 2, "layer_norm_eps": 1e-12,
        "position_embedding_type": "absolute", "vocab_size": len(tokenizers.WORD_TOKENS), "pad_token_id": 0,
    } | changes
    weights, hidden = Weights(seed), config["hidden_size"]

    def norm(name):
        weights.norm(name, hidden)
        weights.add(name + ".bias", hidden, size=0.2)

    def dense(name, rows, columns):
        weights.matrix(name, rows, columns, 1.5)
        weights.add(name + ".bias", rows, size=0.2)

    for name, rows in (("word", config["vocab_size"]), ("position", config["max_position_embeddings"]), ("token_type", config["type_vocab_size"])):
        weights.add(f"embeddings.{name}_embeddings.weight", rows, hidden, size=1.0)
    norm("embeddings.LayerNorm")
    for i in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{i}."
        for name in ("query", "key", "value"):
            dense(layer + "attention.self." + name, hidden, hidden)
        dense(layer + "attention.output.dense", hidden, hidden)
        norm(layer + "attention.output.LayerNorm")
        dense(layer + "intermediate.dense", config["intermediate_size"], hidden)
        dense(layer + "output.dense", hidden, config["intermediate_size"])
        norm(layer + "output.LayerNorm")
    return TinyModel(config, weights.tensors)


def make_reranker(seed=1, classes=1, **changes):
    """As transformers writes a BertForSequenceClassification: the encoder's names behind "bert."."""
    model = make_encoder(seed, architectures=["BertForSequenceClassification"], id2label={str(i): f"LABEL_{i}" for i in range(classes)}, **changes)
    weights, hidden = Weights(seed + 1000), model.config["hidden_size"]
    weights.matrix("bert.pooler.dense", hidden, hidden, 1.0)
    weights.add("bert.pooler.dense.bias", hidden, size=0.2)
    weights.matrix("classifier", classes, hidden, 6.0)
    weights.add("classifier.bias", classes, size=0.5)
    return TinyModel(model.config, {"bert." + name: values for name, values in model.tensors.items()} | weights.tensors)


def write_encoder_folder(folder, model, pooling="mean", normalized=True, dtype="F32"):
    """As sentence-transformers writes it; `pooling`: "mean" or "cls"."""
    (folder / "1_Pooling").mkdir(parents=True)
    write_json(folder / "config.json", model.config)
    write_json(folder / "tokenizer.json", tokenizers.word_pieces_json())
    modules = ["Transformer", "Pooling"] + ["Normalize"] * normalized
    write_json(folder / "modules.json", [{"idx": i, "name": str(i), "path": f"{i}_{name}" if i else "", "type": "sentence_transformers.models." + name}
                                         for i, name in enumerate(modules)])
    write_json(folder / "1_Pooling/config.json", {"word_embedding_dimension": model.config["hidden_size"], "pooling_mode_cls_token": pooling == "cls",
                                                  "pooling_mode_mean_tokens": pooling == "mean", "pooling_mode_max_tokens": False,
                                                  "pooling_mode_mean_sqrt_len_tokens": False})
    write_folder(folder, model.tensors, dtype)
    return folder
