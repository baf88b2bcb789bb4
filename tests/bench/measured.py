"""What benchmarks measure in turn, as tables that are kept in a file of JSON: layers.py and model.py write them, goals.py reads them.

A table is {"name", "contenders": {name: facts}, "cases": {case: [round]}}; a round is {"reads": GB/s of plain reads, "others": CPUs that
everything else kept busy, "seconds": {contender: of one layer, one step or one prompt}}. A contender without samples has the fact "lacks".
"""

import json
import pathlib
import statistics

from contender import QUIET


class Table:
    def __init__(self, stored):
        self.stored = stored
        self.name, self.contenders, self.cases = stored["name"], stored["contenders"], stored["cases"]

    def rounds(self, case):
        """The quiet ones, or all where fewer than three are quiet, and then what to say of that."""
        taken = self.cases.get(case, [])
        quiet = [one for one in taken if one["others"] <= QUIET]
        if len(quiet) >= min(3, len(taken)):
            return quiet, ""
        return taken, f"noisy: others kept {statistics.median(one['others'] for one in taken):.2f} CPUs busy"

    def has(self, case, *names):
        rounds = self.rounds(case)[0]
        return bool(rounds) and all(name in one["seconds"] for name in names for one in rounds)

    def seconds(self, name, case):
        return [one["seconds"][name] for one in self.rounds(case)[0]]

    def times_faster(self, name, than, case):
        """The median of the rounds' ratios."""
        return statistics.median(slow / fast for slow, fast in zip(self.seconds(than, case), self.seconds(name, case)))

    def reads(self, case):
        return [one["reads"] for one in self.rounds(case)[0]]

    def share_of(self, floor, name, case):
        """The median over the rounds of what floor(GB/s of reads) says, in seconds, by the time taken."""
        return statistics.median(floor(rate) / took for rate, took in zip(self.reads(case), self.seconds(name, case)))


def load(path):
    path = pathlib.Path(path)
    return json.loads(path.read_text()) if path.exists() else {"machine": {}, "tables": {}, "coexistence": {}}


def store(path, machine=None, tables=(), coexistence=None):
    """Into the file, beside what other runs have put there."""
    kept = load(path)
    kept["machine"].update(machine or {})
    kept["tables"].update({table.name: table.stored for table in tables})
    kept["coexistence"].update(coexistence or {})
    pathlib.Path(path).write_text(json.dumps(kept, indent=1) + "\n")


class Unmeasured(Exception):
    """Why there is no figure."""


class Results:
    """Everything that the files say."""

    def __init__(self, files):
        self.machine, self.tables, self.coexistence = {}, {}, {}
        for file in files:
            stored = load(file)
            self.machine.update(stored["machine"])
            self.tables.update({name: Table(table) for name, table in stored["tables"].items()})
            self.coexistence.update(stored["coexistence"])

    def table(self, name):
        if name not in self.tables:
            program = "layers.py" if name in ("int8", "int4", "feed-forward") else "model.py"
            raise Unmeasured(f"{program} has not measured {name}")
        return self.tables[name]

    def present(self, table, case, names):
        """Those of the contenders that have samples."""
        found = [name for name in names if table.has(case, name)]
        if found:
            return found
        lacks = [table.contenders[name]["lacks"] for name in names if "lacks" in table.contenders.get(name, {})]
        raise Unmeasured(lacks[0] if lacks else f"no sample of {' or '.join(names)} at {case}")

    def best(self, table, case, names):
        """The fastest of those; in the rounds' medians."""
        return min(self.present(table, case, names), key=lambda name: sorted(table.seconds(name, case))[len(table.seconds(name, case)) // 2])

    def ours(self, table, case, names, error=None):
        """The fastest of ours, among those that are exact enough."""
        present = self.present(table, case, names)
        exact = [name for name in present if error is None or table.contenders[name]["error"] <= error]
        if not exact:
            raise Unmeasured(f"none of {', '.join(present)} has an error of at most {error}")
        return self.best(table, case, exact)
