"""The goals for the runtime's speed on this class of machine, and whether what was measured meets them, as Markdown.

usage: goals.py FILE…

FILE is what layers.py, model.py and coexistence.py wrote with --json: of several, the last that has a table counts. Which of the two
lists of goal_tables.py applies is told by the machine's kernel sets.
"""

import sys

import goal_tables
from measured import Results, Unmeasured


VERDICTS = {True: "met", False: "**missed**", None: "not a matter of speed"}


def classes(machine):
    kernels = machine.get("kernels", [])
    if "amx_int8" in kernels:
        return "with AMX", goal_tables.WITH_AMX
    if "avx512_vnni" in kernels:
        return "AVX-512 VNNI without AMX", goal_tables.WITHOUT_AMX
    sys.exit("goals.py: there are goals for machines with AMX and for those with AVX-512 VNNI; this one has " + (", ".join(kernels) or "no sets, or layers.py has not run"))


def rows(goals, found):
    """(number, what, bar, figure, verdict) of each check."""
    for number, checks in goals:
        for check in checks:
            try:
                figure, met = check.figure(found)
                yield number, check.words, figure, VERDICTS[met]
            except Unmeasured as why:
                yield number, check.words, "", f"not measured here: {why}"


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    found = Results(sys.argv[1:])
    kind, goals = classes(found.machine)
    print(f"Goals for machines {kind}; {found.machine['processor']}, {found.machine['threads']} threads.\n")
    print("| | goal | measured | |\n|---|---|---|---|")
    verdicts = []
    for number, words, figure, verdict in rows(goals, found):
        print(f"| {number} | {words} | {figure} | {verdict} |")
        verdicts.append(verdict)
    met, missed = verdicts.count(VERDICTS[True]), verdicts.count(VERDICTS[False])
    print(f"\n{met} met, {missed} missed, {len(verdicts) - met - missed - verdicts.count(VERDICTS[None])} not measured.")
    for table in found.tables.values():
        noisy = [case for case in table.cases if table.rounds(case)[1]]
        if noisy:
            print(f"Noisy, so that figures of it say little: {table.name} at {', '.join(noisy)}.")


if __name__ == "__main__":
    main()
