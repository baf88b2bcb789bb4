"""Trains the models of `./dev quality`: several sizes on the same text, from the same seed.

usage: train.py FOLDER

Writes FOLDER/training.txt, held_out.txt, calibration.txt, and for each size FOLDER/NAME as Hugging Face has a model, with FOLDER/NAME.json:
{weights, steps, tokens, loss, seconds}. What is there is kept: remove FOLDER to begin again. Each size is trained by one thread, beside the
others, so that sums have one order on every machine.
"""

import json
import math
import multiprocessing
import pathlib
import sys
import time

import byte_pairs
import numpy as np
import texts
import torch
from llama import CONTEXT, Llama, Shape

SEED = 16
VOCABULARY = 2048
TOKENIZER_BYTES = 3 << 20  # of the training text
# Rows of a multiple of 128 weights, so that groups of 32, 64 and 128 have no remainder.
SIZES = {
    "0.5M": Shape(hidden=128, layers=2, heads=4, kv_heads=2, intermediate=256, vocabulary=VOCABULARY),
    "1M": Shape(hidden=128, layers=4, heads=4, kv_heads=2, intermediate=384, vocabulary=VOCABULARY),
    "4M": Shape(hidden=256, layers=4, heads=4, kv_heads=2, intermediate=768, vocabulary=VOCABULARY),
}
STEPS = {"0.5M": 4000, "1M": 4000, "4M": 3000}
BATCH = 8
PEAK_RATES = {"0.5M": 4e-3, "1M": 4e-3, "4M": 2.5e-3}  # of learning; a larger model takes smaller steps
WARM_UP = 100


def rate_of(step, steps, peak):
    """Of learning: rises to the peak, then falls to a tenth of it along a cosine."""
    if step < WARM_UP:
        return peak * (step + 1) / WARM_UP
    return peak * (0.55 + 0.45 * math.cos(math.pi * (step - WARM_UP) / (steps - WARM_UP)))


def train(name, tokens):
    """A trained model, and the loss of its last steps."""
    model, steps = Llama(SIZES[name], SEED), STEPS[name]
    random = torch.Generator().manual_seed(SEED)
    matrices = [values for values in model.weights.values() if values.ndim == 2]
    vectors = [values for values in model.weights.values() if values.ndim == 1]
    optimizer = torch.optim.AdamW([{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}], betas=(0.9, 0.95))
    losses = []
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = rate_of(step, steps, PEAK_RATES[name])
        starts = torch.randint(len(tokens) - CONTEXT, (BATCH,), generator=random)
        # Matrices are multiplied as bfloat16, which is many times as fast as Debian's float32; weights and their moments are float32.
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = model.loss(torch.stack([tokens[start:start + CONTEXT] for start in starts]))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_([*matrices, *vectors], 1.0)
        optimizer.step()
        losses.append(loss.item())
        if step % 100 == 99:
            print(f"{name}: step {step + 1} of {steps}, loss {sum(losses[-100:]) / 100:.3f}", flush=True)
    return model, sum(losses[-100:]) / len(losses[-100:])


def make_tokens(folder):
    """The tokenizer, and the training text as its tokens; both are kept in the folder."""
    text = (folder / "training.txt").read_text()
    merges_file = folder / "merges.json"
    if not merges_file.exists():
        merges = byte_pairs.train_merges(text[:TOKENIZER_BYTES], VOCABULARY - 257)
        merges_file.write_text(json.dumps(merges))
    tokenizer = byte_pairs.BytePairs([tuple(pair) for pair in json.loads(merges_file.read_text())])
    tokens_file = folder / "tokens.npy"
    if not tokens_file.exists():
        np.save(tokens_file, np.array(tokenizer.encode(text), dtype=np.int16))
    return tokenizer, torch.from_numpy(np.load(tokens_file).astype(np.int64))


def train_size(folder, name):
    report = folder / f"{name}.json"
    if report.exists():
        return
    torch.set_num_threads(1)
    tokenizer, tokens = make_tokens(folder)
    start = time.monotonic()
    model, loss = train(name, tokens)
    model.write(folder / name, tokenizer)
    report.write_text(json.dumps({"weights": model.count(), "steps": STEPS[name], "tokens": STEPS[name] * BATCH * CONTEXT, "loss": loss,
                                  "seconds": time.monotonic() - start}))


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    versions_file = folder / "packages.json"
    if not versions_file.exists():
        versions_file.write_text(json.dumps(texts.make_texts(folder)))
    make_tokens(folder)
    with multiprocessing.get_context("spawn").Pool(len(SIZES)) as pool:
        pool.starmap(train_size, [(folder, name) for name in SIZES])


if __name__ == "__main__":
    main()
