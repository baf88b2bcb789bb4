"""What each mode costs the trained models: perplexity on the held-out text, by `variant model ppl`.

usage: measure.py BIN FOLDER

FOLDER is that of train.py. Weights of 4 bits are chosen by `variant model quantize`, which AWQ gives FOLDER/calibration.txt. Writes
FOLDER/measured.json: {size: {mode, group, method -> perplexity}} with the number of tokens, as page.py reads it.
"""

import dataclasses
import json
import pathlib
import shutil
import subprocess
import sys

WINDOW = 256


@dataclasses.dataclass(frozen=True)
class Row:
    """A way to compute the linear layers. Without a group: the mode as weights are loaded."""
    mode: str
    group: int = 0
    method: str = ""
    goal: float = 0.0  # the most that perplexity may grow by, of 1; 0: none

    @property
    def name(self):
        return f"{self.mode} g{self.group} {self.method}" if self.group else self.mode


ROWS = [Row("float"), Row("a16w8", goal=0.001), Row("da8w8", goal=0.001), Row("fp8"),
        *(Row("a16w4", group, method, 0.02 if (group, method) == (64, "awq") else 0.0)
          for group in (32, 64, 128) for method in ("absmax", "search", "awq")),
        Row("da8w4", 64, "awq", 0.02)]


def ask(program, *arguments):
    done = subprocess.run([program, "model", *map(str, arguments), "--json"], stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"variant model {' '.join(map(str, arguments))} failed: {done.stdout}")
    return json.loads(done.stdout)


def measure(program, folder, size, row):
    """{perplexity, tokens}."""
    model, how = folder / size, ["--mode", row.mode]
    if row.group:
        quantised = folder / "quantised"
        shutil.rmtree(quantised, ignore_errors=True)
        calibration = ["--calibration", folder / "calibration.txt"] if row.method == "awq" else []
        ask(program, "quantize", model, "--output", quantised, *how, "--group", row.group, "--method", row.method, *calibration)
        model, how = quantised, []  # the mode that the folder is stored in
    answer = ask(program, "ppl", model, "--file", folder / "held_out.txt", "--window", WINDOW, *how)
    if answer["mode"] != row.mode:
        sys.exit(f"{model} was measured in mode {answer['mode']}, not {row.mode}")
    return {"perplexity": answer["perplexity"], "tokens": answer["tokens"]}


def main():
    program, folder = pathlib.Path(sys.argv[1]) / "variant", pathlib.Path(sys.argv[2])
    measured = {}
    for training in sorted(folder.glob("*M.json"), key=lambda path: json.loads(path.read_text())["weights"]):
        size = training.stem
        measured[size] = {}
        for row in ROWS:
            measured[size][row.name] = measure(program, folder, size, row)
            print(f"{size} {row.name}: perplexity {measured[size][row.name]['perplexity']:.4f}", flush=True)
    shutil.rmtree(folder / "quantised", ignore_errors=True)
    (folder / "measured.json").write_text(json.dumps(measured, indent=1))


if __name__ == "__main__":
    main()
