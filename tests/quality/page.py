"""docs/quality.md and docs/quality.svg out of what train.py and measure.py wrote.

usage: page.py FOLDER DOCS
"""

import json
import pathlib
import sys

from measure import ROWS, WINDOW
from plot import plot
from texts import HELD_OUT_PART

PLOTTED = ["a16w8", "da8w8", "fp8", "a16w4 g32 awq", "a16w4 g64 absmax", "a16w4 g64 search", "a16w4 g64 awq", "da8w4 g64 awq"]


def growth(measured, row):
    """By how much perplexity is above that of float, of 1."""
    return measured[row.name]["perplexity"] / measured["float"]["perplexity"] - 1


def percent(part):
    return f"{100 * part:+.3f} %"


def misses(measured):
    """[(row, size)] of the goals that are not met."""
    return [(row, size) for row in ROWS for size, own in measured.items() if row.goal and growth(own, row) > row.goal]


def verdict(measured):
    """A paragraph: which goals are met, and by which size each other is missed."""
    missed = misses(measured)
    if not missed:
        return "Every goal is met at every size."
    parts = [f"`{row.name}` at {size} ({percent(growth(measured[size], row))}, goal {percent(row.goal)})" for row, size in missed]
    return f"Missed: {'; '.join(parts)}. All other goals are met."


def table(measured):
    """Rows of modes; columns of sizes, each with the perplexity and its growth."""
    lines = ["| mode | group | scales by |" + "".join(f" {size} | against float |" for size in measured) + " goal |",
             "|---" * (4 + 2 * len(measured)) + "|"]
    for row in ROWS:
        cells = [f"`{row.mode}`", str(row.group or ""), row.method]
        for own in measured.values():
            cells += [f"{own[row.name]['perplexity']:.3f}", "" if row.mode == "float" else percent(growth(own, row))]
        lines.append("| " + " | ".join([*cells, f"{100 * row.goal:g} %" if row.goal else ""]) + " |")
    return "\n".join(lines)


def training_table(training):
    lines = ["| model | weights | steps | tokens read | time |", "|---|---|---|---|---|"]
    for size, own in training.items():
        lines.append(f"| {size} | {own['weights']:,} | {own['steps']} | {own['tokens']:,} | {own['seconds'] / 60:.0f} min |")
    return "\n".join(lines)


def processor():
    for text in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if text.startswith("model name"):
            return text.partition(":")[2].strip()
    return "unknown"


PAGE = """# What quantization costs

How much worse a model predicts a text when its linear layers compute in another mode than float32: the growth of its
perplexity. `./dev quality` writes this page; it is not for editing.

    ./dev quality

The goals are that int8 weights cost at most 0.1 %, and int4 weights with a scale for each 64, chosen by AWQ, at most 2 %.

{verdict}

{table}

`g32`, `g64` and `g128` are weights that share a scale. `absmax` takes the largest weight, `search` the least squared
error, `awq` what the weights do to a calibration text: `variant model quantize` does all three. A figure below zero is chance:
rounding sometimes helps.

![What modes cost over the size of a model](quality.svg)

## How it is measured

Llama models are trained from nothing (tokenizer: byte-level BPE of 2,048 tokens; context {window}; seed fixed), on texts of
these Debian packages:

{packages}

One file in {part} is held out, chosen by its name's hash. Perplexity is that of {tokens:,} tokens of these, the second half of
each window of {window} (`variant model ppl`). AWQ's calibration text is of
files that the models learned from. Keys and values are float16, except with `float`, where they are float32.

{training}

The models are small, and minutes of training leave them short of what their size can learn. What
int4 weights cost falls as models grow. Activations of int8 with one scale a token (`da8w8`, `da8w4`) cost a further 0.1 % or
so; those of `a16w8`, the default, and of `a16w4` are int16 and cost next to nothing. Differences of a tenth of a percent between two methods are chance. More steps (`STEPS` in
`tests/quality/train.py`) make it a stricter test.

Trained and measured on {processor}. The integer modes give the same bits on every machine; the training does so only on
machines whose PyTorch multiplies in the same order, so another machine's models differ a little.
"""


def page(measured, training, packages, machine):
    tokens = next(iter(measured.values()))["float"]["tokens"]
    named = "\n".join(f"- {name} {version}" for name, version in packages.items())
    return PAGE.format(verdict=verdict(measured), table=table(measured), training=training_table(training), packages=named,
                       part=HELD_OUT_PART, window=WINDOW, tokens=tokens, processor=machine)


def picture(measured, training):
    sizes = {size: training[size]["weights"] for size in measured}
    lines = {row.name: [100 * growth(own, row) for own in measured.values()] for row in ROWS if row.name in PLOTTED}
    return plot("Growth of perplexity against float32", sizes, lines, {"goal of int8: 0.1 %": 0.1, "goal of int4, AWQ: 2 %": 2.0})


def main():
    folder, docs = map(pathlib.Path, sys.argv[1:3])
    measured = json.loads((folder / "measured.json").read_text())
    training = {size: json.loads((folder / f"{size}.json").read_text()) for size in measured}
    packages = json.loads((folder / "packages.json").read_text())
    (docs / "quality.md").write_text(page(measured, training, packages, processor()))
    (docs / "quality.svg").write_text(picture(measured, training))
    print(verdict(measured))


if __name__ == "__main__":
    main()
