"""Weights as files hold them, and back: plain floats and the blocks of GGUF files (ggml's ggml-common.h says how they lie).

A row is encoded along its last dimension. Encoders round to nearest; they search no better scales, as real quantisers do.
"""

import numpy as np

# Name: its number in GGUF, weights of a block, bytes of a block.
TYPES = {
    "F32": (0, 1, 4), "F16": (1, 1, 2), "Q4_0": (2, 32, 18), "Q4_1": (3, 32, 20), "Q5_0": (6, 32, 22), "Q8_0": (8, 32, 34),
    "Q4_K": (12, 256, 144), "Q5_K": (13, 256, 176), "Q6_K": (14, 256, 210), "F64": (28, 1, 8), "BF16": (30, 1, 2),
}
NAMES = {number: name for name, (number, _, _) in TYPES.items()}


def half(blocks, at):
    """[blocks, 1]: the float16 at byte `at` of each block."""
    return blocks[:, at:at + 2].copy().view("<f2").astype(np.float64)


def halves(values):
    return values.astype("<f2").reshape(-1, 1).view(np.uint8)


def nibbles(data):
    """Low ones of all bytes, then the high ones."""
    return np.concatenate([data & 15, data >> 4], axis=-1)


def join_nibbles(values):
    low, high = np.split(values.astype(np.uint8), 2, axis=-1)
    return low | high << 4


def decode_bf16(data):
    return (data.view("<u2").astype(np.uint32) << 16).view(np.float32)


def encode_bf16(values):
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype("<u2")


def fifth_bits(blocks, at):
    """32 bits from byte `at` on, the lowest first."""
    return np.unpackbits(blocks[:, at:at + 4], axis=1, bitorder="little")


def six_bit_pairs(packed):
    """[n, 12] bytes to scales and minima, [n, 8] each: the first four of both lie in the low six bits of bytes 0 to 3 and 4 to 7,
    whose high two bits are those of the last four; their low four bits share bytes 8 to 11."""
    first, second, shared = packed[:, :4], packed[:, 4:8], packed[:, 8:]
    scales = np.concatenate([first & 63, (shared & 15) | first >> 6 << 4], axis=1)
    minima = np.concatenate([second & 63, shared >> 4 | second >> 6 << 4], axis=1)
    return scales, minima


def join_six_bit_pairs(scales, minima):
    scales, minima = scales.astype(np.uint8), minima.astype(np.uint8)
    first = scales[:, :4] | scales[:, 4:] >> 4 << 6
    second = minima[:, :4] | minima[:, 4:] >> 4 << 6
    return np.concatenate([first, second, (scales[:, 4:] & 15) | minima[:, 4:] << 4], axis=1)


def decode_q8_0(blocks):
    return half(blocks, 0) * blocks[:, 2:].view(np.int8)


def decode_q4_0(blocks):
    return half(blocks, 0) * (nibbles(blocks[:, 2:]).astype(np.int64) - 8)


def decode_q4_1(blocks):
    return half(blocks, 0) * nibbles(blocks[:, 4:]) + half(blocks, 2)


def decode_q5_0(blocks):
    return half(blocks, 0) * ((nibbles(blocks[:, 6:]) | fifth_bits(blocks, 2) << 4).astype(np.int64) - 16)


def decode_k(blocks, values):
    """`values`: [n, 8, 32] weights of eight parts with a scale and a minimum each."""
    scales, minima = six_bit_pairs(blocks[:, 4:16])
    decoded = (half(blocks, 0) * scales)[:, :, None] * values - (half(blocks, 2) * minima)[:, :, None]
    return decoded.reshape(len(blocks), 256)


def decode_q4_k(blocks):
    return decode_k(blocks, nibbles(blocks[:, 16:].reshape(-1, 4, 32)).reshape(-1, 8, 32))


def decode_q5_k(blocks):
    low = nibbles(blocks[:, 48:].reshape(-1, 4, 32)).reshape(-1, 8, 32)
    high = blocks[:, 16:48][:, None, :] >> np.arange(8, dtype=np.uint8)[:, None] & 1
    return decode_k(blocks, low | high << 4)


def decode_q6_k(blocks):
    low = nibbles(blocks[:, :128].reshape(-1, 2, 64)).reshape(-1, 2, 4, 32)
    high = blocks[:, 128:192].reshape(-1, 2, 1, 32) >> np.arange(0, 8, 2, dtype=np.uint8)[:, None] & 3
    values = (low | high << 4).reshape(-1, 16, 16).astype(np.int64) - 32
    scales = half(blocks, 208) * blocks[:, 192:208].view(np.int8)
    return (scales[:, :, None] * values).reshape(-1, 256)


def reciprocal(values):
    return np.divide(1.0, values, out=np.zeros_like(values), where=values != 0)


def rounded(values, scale, low, high):
    return np.clip(np.rint(values * reciprocal(scale)), low, high).astype(np.int64)


def stored(scale):
    """What is left of a scale in float16."""
    return scale.astype("<f2").astype(np.float64)


def encode_q8_0(rows):
    scale = stored(np.abs(rows).max(1, keepdims=True) / 127)
    return np.concatenate([halves(scale), rounded(rows, scale, -127, 127).astype(np.int8).view(np.uint8)], axis=1)


def largest(rows):
    """[n, 1]: of each row the value of the largest magnitude, with its sign."""
    return np.take_along_axis(rows, np.abs(rows).argmax(1)[:, None], 1)


def encode_q4_0(rows):
    scale = stored(largest(rows) / -8)
    return np.concatenate([halves(scale), join_nibbles(rounded(rows, scale, -8, 7) + 8)], axis=1)


def encode_q4_1(rows):
    least = stored(rows.min(1, keepdims=True))
    scale = stored((rows.max(1, keepdims=True) - least) / 15)
    return np.concatenate([halves(scale), halves(least), join_nibbles(rounded(rows - least, scale, 0, 15))], axis=1)


def encode_q5_0(rows):
    scale = stored(largest(rows) / -16)
    values = rounded(rows, scale, -16, 15) + 16
    high = np.packbits((values >> 4).astype(np.uint8), axis=1, bitorder="little")
    return np.concatenate([halves(scale), high, join_nibbles(values & 15)], axis=1)


def encode_k(rows, steps):
    """(the first 16 bytes, values [n, 8, 32] of 0 to `steps`)."""
    parts = rows.reshape(-1, 8, 32)
    least = np.minimum(parts.min(2), 0)
    scales = (parts.max(2) - least) / steps
    scale, least_scale = stored(scales.max(1, keepdims=True) / 63), stored(-least.min(1, keepdims=True) / 63)
    own, own_least = rounded(scales, scale, 0, 63), rounded(-least, least_scale, 0, 63)
    values = rounded(parts + (least_scale * own_least)[:, :, None], (scale * own)[:, :, None], 0, steps)
    return np.concatenate([halves(scale), halves(least_scale), join_six_bit_pairs(own, own_least)], axis=1), values


def encode_q4_k(rows):
    head, values = encode_k(rows, 15)
    return np.concatenate([head, join_nibbles(values.reshape(-1, 4, 64)).reshape(-1, 128)], axis=1)


def encode_q5_k(rows):
    head, values = encode_k(rows, 31)
    high = ((values >> 4) << np.arange(8)[:, None]).sum(1).astype(np.uint8)
    return np.concatenate([head, high, join_nibbles((values & 15).reshape(-1, 4, 64)).reshape(-1, 128)], axis=1)


def encode_q6_k(rows):
    parts = rows.reshape(-1, 16)
    scales = (largest(parts) / -32).reshape(-1, 16)
    scale = stored(largest(scales) / -128)
    own = rounded(scales, scale, -128, 127)
    values = rounded(rows.reshape(-1, 16, 16), (scale * own)[:, :, None], -32, 31) + 32
    values = values.reshape(-1, 2, 4, 32)
    low = join_nibbles((values & 15).reshape(-1, 2, 128)).reshape(-1, 128)
    high = ((values >> 4) << np.arange(0, 8, 2)[:, None]).sum(2).astype(np.uint8).reshape(-1, 64)
    return np.concatenate([low, high, own.astype(np.int8).view(np.uint8), halves(scale)], axis=1)


DECODERS = {"Q8_0": decode_q8_0, "Q4_0": decode_q4_0, "Q4_1": decode_q4_1, "Q5_0": decode_q5_0, "Q4_K": decode_q4_k,
            "Q5_K": decode_q5_k, "Q6_K": decode_q6_k}
ENCODERS = {"Q8_0": encode_q8_0, "Q4_0": encode_q4_0, "Q4_1": encode_q4_1, "Q5_0": encode_q5_0, "Q4_K": encode_q4_k,
            "Q5_K": encode_q5_k, "Q6_K": encode_q6_k}


def byte_count(name, shape):
    _, weights, size = TYPES[name]
    return int(np.prod(shape)) // weights * size


def decode(name, data, shape):
    """float64 of `shape` from bytes."""
    data = np.frombuffer(data, np.uint8)
    if name == "BF16":
        values = decode_bf16(data)
    elif name in DECODERS:
        values = DECODERS[name](data.reshape(-1, TYPES[name][2]))
    else:
        values = data.view({"F16": "<f2", "F32": "<f4", "F64": "<f8"}[name])
    return values.astype(np.float64).reshape(shape)


def encode(name, values):
    """Bytes of an array whose last dimension is a whole number of blocks."""
    values = np.asarray(values, np.float64)
    if name == "BF16":
        return encode_bf16(values).tobytes()
    if name in ENCODERS:
        return np.ascontiguousarray(ENCODERS[name](values.reshape(-1, TYPES[name][1]))).tobytes()
    return values.astype({"F16": "<f2", "F32": "<f4", "F64": "<f8"}[name]).tobytes()
