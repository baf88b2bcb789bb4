"""How long `variant build` takes for the runtime's six variants above the null one, beside the compile jobs alone.

usage: building.py BIN [RUNS] [PROJECT LABEL...]     PROJECT: a CMake project, else the runtime

The limit is what compilers have to do at least: the commands of all object files of the six, as Ninja has them, run again
with as many at once as there are processors, one pool for all, without CMake, Ninja, links, checks or wheels. Both are
without ccache, and each build begins with an empty cache.
"""

import concurrent.futures
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

GOAL = 1.2
LABELS = ("x86_64_v2", "x86_64_v3", "x86_64_v3_vnni", "x86_64_v4", "x86_64_v4_vnni", "x86_64_v4_amx")


def build(bin_folder, project, labels, folder, processors, env):
    command = [f"{bin_folder}/variant", "build", str(project), "--arch", "x86_64", "--jobs", str(processors), "--out", f"{folder}/dist",
               "--cache-dir", f"{folder}/cache", "--quiet"]
    for label in labels:
        command += ["--variant", label]
    begin = time.monotonic()
    if subprocess.run(command, env=env, stdout=subprocess.DEVNULL).returncode != 0:
        raise SystemExit("variant build failed")
    return time.monotonic() - begin


def compile_jobs(folder):
    """(folder, command) of every object file of every variant."""
    jobs = []
    for tree in sorted(pathlib.Path(folder, "cache/variant-builds").glob("*/variant-*/build")):
        said = subprocess.run(["ninja", "-C", str(tree), "-t", "compdb"], capture_output=True, text=True, check=True).stdout
        made = {one["output"]: one for one in json.loads(said) if one["output"].endswith(".o")}
        jobs += [(one["directory"], one["command"]) for one in made.values()]
    return jobs


def flat_out(jobs, processors, env):
    def run(job):
        subprocess.run(job[1], shell=True, cwd=job[0], env=env, check=True, stdout=subprocess.DEVNULL)

    begin = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(processors) as pool:
        list(pool.map(run, jobs))
    return time.monotonic() - begin


def main():
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    project = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else pathlib.Path(__file__).resolve().parents[2] / "runtime"
    labels = sys.argv[4:] or LABELS
    processors = len(os.sched_getaffinity(0))
    env = {**os.environ, "CCACHE_DISABLE": "1"}
    pairs, jobs = [], []
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as folder:
            took = build(sys.argv[1], project, labels, folder, processors, env)
            jobs = compile_jobs(folder)
            if not jobs:
                raise SystemExit(f"{project}: nothing is compiled")
            pairs.append((took, flat_out(jobs, processors, env)))
    took, least = (statistics.median(column) for column in zip(*pairs))
    ratio = statistics.median(one / other for one, other in pairs)
    print(f"{len(labels)} variants of {project.name}, {len(jobs)} compile jobs, {processors} processors, {runs} runs, without ccache")
    print(f"variant build {took:.1f} s, the compile jobs flat out {least:.1f} s: {ratio:.2f} times as long "
          f"({min(one / other for one, other in pairs):.2f} to {max(one / other for one, other in pairs):.2f}), "
          f"goal {GOAL}: {'met' if ratio <= GOAL else 'MISSED'}")


if __name__ == "__main__":
    main()
