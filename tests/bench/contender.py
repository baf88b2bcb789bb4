"""What is measured in turn: programs that stay loaded and answer lines of JSON, and how quiet the machine was meanwhile."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

QUIET = 0.15  # of a CPU, busy with something else: what the system leaves to others is 0.05 of each

MOST_RESTLESS = 1.0  # seconds that a contender's threads are waited for


class Contender:
    """A program that stays loaded. Its first line says what it is; then it answers each line of its stdin with one."""

    def __init__(self, name, *command, environment=None, may_lack=False):
        """`may_lack`: where it ends instead of answering, that is said in `lacks` and no error."""
        self.name = name
        self.lacks = ""
        self.errors = tempfile.TemporaryFile("w+") if may_lack else None
        self.process = subprocess.Popen([str(part) for part in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        stderr=self.errors, env={**os.environ, **(environment or {})})
        self.pid = self.process.pid
        line = self.process.stdout.readline()
        if not line and not may_lack:
            sys.exit(f"{self.name} ended with status {self.process.wait()}")
        if not line:
            status = self.process.wait()
            self.errors.seek(0)
            said = self.errors.read().strip().splitlines()
            self.lacks = said[-1] if said else f"it ended with status {status}"
        self.about = json.loads(line) if line else ""

    def ask(self, *question):
        """Its answer, given when its threads rest: they go on looking out for work, some for a tenth of a second."""
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"{self.name} ended with status {self.process.wait()}")
        until = time.monotonic() + MOST_RESTLESS
        while self.runs() and time.monotonic() < until:
            time.sleep(0.001)
        return json.loads(line)

    def runs(self):
        stats = [path.read_text() for path in pathlib.Path(f"/proc/{self.pid}/task").glob("*/stat")]
        return any(stat.rsplit(")", 1)[1].split()[0] == "R" for stat in stats)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def busy_seconds(pids):
    """(of all CPUs, of these processes, the time)"""
    fields = pathlib.Path("/proc/stat").read_text().split("\n")[0].split()[1:]
    tick = os.sysconf("SC_CLK_TCK")
    own = 0
    for pid in pids:
        of_one = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        own += int(of_one[11]) + int(of_one[12])
    return sum(int(fields[i]) for i in (0, 1, 2, 5, 6, 7)) / tick, own / tick, os.times().elapsed


class OthersBusy:
    """with OthersBusy(contenders) as others: … ; others.cpus says how many CPUs everything else kept busy meanwhile. The system counts
    in hundredths of a second, so less than half a second says little."""

    def __init__(self, contenders):
        self.pids = [os.getpid(), *(one.pid for one in contenders)]
        self.cpus = 0.0

    def __enter__(self):
        self.before = busy_seconds(self.pids)
        return self

    def __exit__(self, *_):
        everyone, own, elapsed = (after - was for after, was in zip(busy_seconds(self.pids), self.before))
        self.cpus = max(0.0, everyone - own) / max(elapsed, 1e-3)
