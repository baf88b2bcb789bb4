"""Seeds of fuzz target runtime/stored_model: tiny folders as `model quantize` writes them, and such whose weights or scales lie."""

import json
import struct

WIDE, VOCABULARY, CONTEXT = 16, 2, 16
FLOAT_ONE = struct.pack("<f", 1)
BFLOAT_ONE = struct.pack("<H", 0x3F80)


class Tensors:
    def __init__(self, mode):
        self.mode, self.header, self.data = mode, {}, b""

    def add(self, name, dtype, shape, data):
        self.header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(self.data), len(self.data) + len(data)]}
        self.data += data

    def vector(self, name, length, value=FLOAT_ONE):
        self.add(name, "F32", [length], value * length)

    def floats(self, name, rows):
        self.add(name, "F32", [rows, WIDE], FLOAT_ONE * rows * WIDE)

    def linear(self, name, rows):
        if self.mode.endswith("w4"):
            self.add(name + ".weight", "U8", [rows, WIDE // 2], bytes(range(rows * WIDE // 2)))
            self.add(name + ".weight_scale", "BF16", [rows, 1], BFLOAT_ONE * rows)
        else:
            self.add(name + ".weight", "F8_E4M3" if self.mode == "fp8" else "I8", [rows, WIDE], b"\x31" * rows * WIDE)
            self.vector(name + ".weight_scale", rows)

    def model(self, kind, **config):
        """`config.json`, a zero byte, the safetensors file."""
        group = {"group": 32} if self.mode.endswith("w4") else {}
        config = {"model_type": kind, "hidden_size": WIDE, "intermediate_size": WIDE, "num_hidden_layers": 1, "num_attention_heads": 1,
                  "max_position_embeddings": CONTEXT, "vocab_size": VOCABULARY, **config,
                  "quantization_config": {"quant_method": "axle", "format": 1, "mode": self.mode, "method": "absmax", **group}}
        header = json.dumps(self.header).encode()
        return json.dumps(config).encode() + b"\0" + struct.pack("<Q", len(header)) + header + self.data


def decoder(mode, **config):
    tensors = Tensors(mode)
    tensors.floats("model.embed_tokens.weight", VOCABULARY)
    for name in ("input_layernorm", "post_attention_layernorm"):
        tensors.vector(f"model.layers.0.{name}.weight", WIDE)
    for name in ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj", "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"):
        tensors.linear("model.layers.0." + name, WIDE)
    tensors.vector("model.norm.weight", WIDE)
    tensors.linear("lm_head", VOCABULARY)
    return tensors.model("llama", hidden_act="silu", **config)


def encoder(mode):
    tensors = Tensors(mode)
    for name, rows in (("word", VOCABULARY), ("position", CONTEXT), ("token_type", 2)):
        tensors.floats(f"embeddings.{name}_embeddings.weight", rows)
    norms = ["embeddings.LayerNorm", "encoder.layer.0.attention.output.LayerNorm", "encoder.layer.0.output.LayerNorm"]
    dense = [f"encoder.layer.0.{name}" for name in ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense",
                                                    "intermediate.dense", "output.dense")]
    for name in norms:
        tensors.vector(name + ".weight", WIDE)
    for name in norms + dense:
        tensors.vector(name + ".bias", WIDE)
    for name in dense:
        tensors.linear(name, WIDE)
    return tensors.model("bert", hidden_act="gelu", type_vocab_size=2)


def seeds():
    made = {mode: decoder(mode) for mode in ("a16w8", "da8w8", "a16w4", "da8w4", "fp8")}
    made |= {f"encoder_{mode}": encoder(mode) for mode in ("a16w8", "a16w4", "fp8")}
    whole, nibbles, end = made["a16w8"], made["a16w4"], len(made["a16w8"]) - VOCABULARY * 4
    for name, scale in (("nan", 0x7FC00000), ("negative", 0xBF800000), ("zero", 0), ("large", 0x7F7FFFFF)):
        made[f"scale_{name}"] = whole[:end] + struct.pack("<I", scale) * VOCABULARY
    made["scale_no_bfloat16_in_range"] = nibbles[:-2] + struct.pack("<H", 1)
    made["weight_below"] = whole[:end - 1] + b"\x80" + whole[end:]
    made["other_mode"] = whole.replace(b'"a16w8"', b'"a16w4"')
    made["no_group"] = nibbles.replace(b'"group": 32', b'"group": 48')
    made["other_type"] = whole.replace(b'"I8"', b'"U8"')
    made["other_scales"] = nibbles.replace(b'"BF16"', b'"F16" ')
    made["cut"] = whole[:-1]
    return made
