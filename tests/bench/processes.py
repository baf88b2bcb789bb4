"""Wall time and peak memory of whole processes, beside an empty one of the same run."""

import os
import statistics
import sys
import time

QUIET = [(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0), (os.POSIX_SPAWN_OPEN, 2, "/dev/null", os.O_WRONLY, 0)]


def measure(command, environment):
    """Wall milliseconds and peak megabytes of one process, waited for by its id."""
    start = time.perf_counter()
    pid = os.posix_spawn(command[0], command, environment, file_actions=QUIET)
    _, status, usage = os.wait4(pid, 0)
    took = (time.perf_counter() - start) * 1e3
    if status != 0:
        sys.exit(f"{' '.join(command)} failed with status {status}")
    return took, usage.ru_maxrss / 1024


def paired(runs, first, second, prepare=lambda: None):
    """(command, environment) twice, in turn `runs` times: what both took, in order."""
    rows = [], []
    for _ in range(runs):
        prepare()
        for line, (command, environment) in zip(rows, (first, second)):
            line.append(measure(command, environment))
    return rows


def median_ms(rows):
    return statistics.median(took for took, _ in rows)


def report(name, rows, empty, bar_ms, bar_mb=None):
    wall = median_ms(rows)
    peak = statistics.median(peak for _, peak in rows)
    low, high = min(took for took, _ in rows), max(took for took, _ in rows)
    bar = f"bar {bar_ms} ms" + (f" and {bar_mb} MB" if bar_mb else "")
    met = wall <= bar_ms and (bar_mb is None or peak <= bar_mb)
    print(f"{name:<34} {wall:7.2f} ms [{low:.2f}..{high:.2f}], {peak:5.1f} MB; empty process {median_ms(empty):.2f} ms; "
          f"{bar}: {'met' if met else 'MISSED'}")
    return met
