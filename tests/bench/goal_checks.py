"""Kinds of goals: each says in words what must be, and from what was measured gives (figure, is it met)."""

from dataclasses import dataclass

from measured import Unmeasured

SIDE = 4096  # of the layers that goals are about
LEAST_EXACT = 9e-2  # error of int4 weights that llama.cpp's q4_0 has


def rounded(value):
    return f"{value:.2f}"


@dataclass
class Faster:
    """`ours`, the fastest of these at most as inexact as `error`, is `bar` times as fast as the fastest of `than`. `bar` may depend on
    the rate of reads: (GB/s, bar from there on, bar below)."""

    table: str
    case: str
    ours: tuple
    than: tuple
    bar: object
    error: float = None

    @property
    def words(self):
        bar = self.bar if isinstance(self.bar, float) else f"{self.bar[1]} (below {self.bar[0]} GB/s of reads {self.bar[2]})"
        exact = f", error at most {self.error:.0e}" if self.error else ""
        who = f", {self.ours[0]}" if len(self.ours) == 1 else ""
        return f"{situation(self.table, self.case)}{who}{exact}: at least {bar} times as fast as {' or '.join(self.than)}"

    def figure(self, found):
        table = found.table(self.table)
        ours = found.ours(table, self.case, self.ours, self.error)
        ratio = table.times_faster(ours, found.best(table, self.case, self.than), self.case)
        bar = self.bar
        if not isinstance(bar, float):
            reads = sorted(table.reads(self.case))
            bar = bar[1] if reads[len(reads) // 2] >= bar[0] else bar[2]
        return f"{rounded(ratio)} ({ours})", ratio >= bar


@dataclass
class OfReads:
    """The rate at which weights are read is `bar` of that of plain reads."""

    table: str
    case: str
    ours: tuple
    bar: float
    error: float = None

    @property
    def words(self):
        return f"{situation(self.table, self.case)}: weights arrive at {self.bar} of the rate of plain reads or more"

    def figure(self, found):
        table = found.table(self.table)
        ours = found.ours(table, self.case, self.ours, self.error)
        size = table.contenders[ours]["bytes"]
        share = table.share_of(lambda rate: size / rate / 1e9, ours, self.case)
        return f"{rounded(share)} ({ours})", share >= self.bar


def operations(rows, planes):
    return 2 * planes * rows * SIDE * SIDE


@dataclass
class OfFloor:
    """The least time that reads of the weights, and operations at the peak of VNNI, allow, is `bar` of the time taken."""

    table: str
    case: str
    ours: str
    bar: float
    planes: int = 1

    @property
    def words(self):
        return f"{situation(self.table, self.case)}, {self.ours}: {self.bar} of the floor, the longer of reading the weights and of the operations at VNNI's peak"

    def figure(self, found):
        table = found.table(self.table)
        ours = found.best(table, self.case, (self.ours,))
        size, peak = table.contenders[ours]["bytes"], found.machine["peaks"]["avx512_vnni"]
        share = table.share_of(lambda rate: max(size / rate, operations(int(self.case), self.planes) / peak) / 1e9, ours, self.case)
        return rounded(share), share >= self.bar


@dataclass
class OfPeak:
    """Operations are made at `bar` of VNNI's peak."""

    table: str
    case: str
    ours: str
    bar: float

    @property
    def words(self):
        return f"{situation(self.table, self.case)}, {self.ours}: {self.bar} of VNNI's peak"

    def figure(self, found):
        table = found.table(self.table)
        ours = found.best(table, self.case, (self.ours,))
        share = table.share_of(lambda rate: operations(int(self.case), 1) / found.machine["peaks"]["avx512_vnni"] / 1e9, ours, self.case)
        return rounded(share), share >= self.bar


@dataclass
class Within:
    """`ours` takes at most `bar` times what `other` takes, in every one of the cases."""

    table: str
    cases: tuple
    ours: str
    other: str
    bar: float

    @property
    def words(self):
        where = f"{MODELS[self.table]}, steps and prompt" if self.table in MODELS else situation(self.table, ", ".join(self.cases))
        return f"{where}: {self.ours} takes at most {self.bar} times as long as {self.other}"

    def figure(self, found):
        table = found.table(self.table)
        took = [table.times_faster(*(found.best(table, case, (name,)) for name in (self.other, self.ours)), case) for case in self.cases]
        return ", ".join(rounded(one) for one in took), max(took) <= self.bar


@dataclass
class TwoPlanes:
    """int16 activations count as two rows of int8: within 5 % of int8 while that is below 0.8 of the rows at which operations take as long
    as reads; beyond, within 1.08 times the floor of two planes."""

    cases: tuple

    words = ("int8 weights, 1 to 32 rows: a16w8 takes at most 1.05 times as long as da8w8 while two rows for each are below 0.8 of the rows at which "
             "VNNI's operations take as long as the reads; beyond that at most 1.08 times the floor of twice the operations")

    def figure(self, found):
        figures = []
        for case in self.cases:
            table = found.table("int8")
            found.present(table, case, ("a16w8",))
            rates = sorted(table.reads(case))
            ridge = found.machine["peaks"]["avx512_vnni"] / rates[len(rates) // 2] / 2
            below = 2 * int(case) <= 0.8 * ridge
            one = Within("int8", (case,), "a16w8", "da8w8", 1.05) if below else OfFloor("int8", case, "a16w8", 1 / 1.08, 2)
            figure, met = one.figure(found)
            figures.append((f"M={case} {figure}{'' if below else ' of the floor'}", met))
        return ", ".join(figure for figure, _ in figures), all(met for _, met in figures)


@dataclass
class ShorterBy:
    """A step takes `bar` less time than with the other set."""

    table: str
    case: str
    ours: str
    other: str
    bar: float

    @property
    def words(self):
        return f"{situation(self.table, self.case)}: {self.ours} takes at least {self.bar:.0%} less time than {self.other}"

    def figure(self, found):
        table = found.table(self.table)
        ours, other = (found.best(table, self.case, (name,)) for name in (self.ours, self.other))
        saved = 1 - 1 / table.times_faster(ours, other, self.case)
        return f"{saved:.1%}", saved >= self.bar


@dataclass
class LoadsWithin:
    """The table of tuning is loaded in less than `bar` seconds."""

    table: str
    ours: str
    bar: float

    @property
    def words(self):
        return f"{MODELS[self.table]}: a start with what tuning found takes less than {self.bar * 1e3:.0f} ms longer"

    def figure(self, found):
        table = found.table(self.table)
        found.present(table, "step 1", (self.ours,))
        took = table.contenders[self.ours]["tuning_seconds"]
        return f"{took * 1e3:.2f} ms", took < self.bar


@dataclass
class Coexists:
    """Products of ours and of a peer in turn on one thread, as coexistence.py runs them."""

    peer: str

    @property
    def words(self):
        return f"Products of ours and of {self.peer}, in turn on one thread: both live and stay right"

    def figure(self, found):
        if self.peer not in found.coexistence:
            raise Unmeasured("coexistence.py has not run with it")
        said = found.coexistence[self.peer]
        if "lacks" in said:
            raise Unmeasured(said["lacks"])
        return f"ours: {said['ours']}; {self.peer}: {said['peer']}", said["ours"] == said["peer"] == "right"


@dataclass
class Tested:
    """Not a matter of speed: what tests show, on every machine."""

    words: str
    tests: str

    def figure(self, found):
        return f"tests: {self.tests}", None


def situation(table, case):
    """A table and a case in plain words."""
    if table in ("int8", "int4"):
        return f"{table} weights, {case} row{'' if case == '1' else 's'}"
    what, _, count = case.partition(" ")
    texts = {"step": f"a step of {count} text{'' if count == '1' else 's'}", "prompt": f"a prompt of {count} tokens"}
    return f"{MODELS.get(table, table)}, {texts.get(what, case)}"


MODELS = {"llama-q8_0": "1B model of q8_0", "llama-q4_0": "1B model of q4_0", "smollm2": "SmolLM2"}
