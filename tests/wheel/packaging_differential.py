#!/usr/bin/env python3
"""Compares axle's wheel formats with the `packaging` library on generated cases.

    packaging_differential.py ORACLE            against the `packaging` of this interpreter
    packaging_differential.py --newest ORACLE   against the newest one of the configured registry, in a
                                                temporary environment (only with AXLE_TEST_REGISTRY=1)

Exit codes: 0 all agree, 1 something differs, 77 skipped (with the reason).
Where releases of `packaging` differ the newest is right: KNOWN lists what an older one does otherwise,
OURS what we do otherwise than every release. Both are counted, never compared.
"""

import argparse
import collections
import os
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the source tree stays as it is

SKIPPED = 77
SEED = 825


class Differential:
    """Collects questions and expected answers, asks the oracle once, compares."""

    def __init__(self, oracle, release):
        self.oracle = oracle
        self.release = release
        self.questions = []
        self.expected = []
        self.known = collections.Counter()
        self.section = ""
        self.sections = []

    def begin(self, section):
        self.section = section

    def differs(self, kind):
        """Whether this `packaging` is known to answer otherwise; counts it."""
        from packaging_known import NEWEST, OURS
        if kind in OURS or self.release < NEWEST:
            self.known[kind] += 1
            return True
        return False

    def ask(self, *fields, expect, read=lambda answer: answer):
        self.questions.append("\t".join(escape(field) for field in fields))
        self.expected.append((self.section, fields, expect, read))

    def tell(self, *fields):
        self.ask(*fields, expect="ok")

    def finish(self):
        from packaging_known import KNOWN, OURS
        done = subprocess.run([self.oracle], input="\n".join(self.questions) + "\n", text=True,
                              stdout=subprocess.PIPE, check=True)
        answers = done.stdout.split("\n")[:-1]
        if len(answers) != len(self.expected):
            print(f"{len(self.expected)} questions, {len(answers)} answers")
            return 1
        counts = collections.Counter()
        refused = collections.Counter()
        wrong = []
        for (section, fields, expect, read), answer in zip(self.expected, answers):
            if fields[0] in ("env", "set"):
                continue
            given = answer if answer == "ERR" else read(answer)
            counts[section] += 1
            refused[section] += expect == "ERR"
            if given != expect:
                wrong.append((fields, expect, given))
        for section, count in counts.items():
            print(f"{section}: {count} cases, {refused[section]} of them malformed")
        for kind, count in sorted(self.known.items()):
            print(f"not compared: {count} times {kind} ({OURS.get(kind) or KNOWN[kind]})")
        for fields, expect, given in wrong[:20]:
            print(f"DIFFERS {fields}\n  packaging: {expect!r}\n  axle:      {given!r}")
        print(f"{sum(counts.values())} cases, {len(wrong)} differ")
        return 1 if wrong else 0


def escape(text):
    return (text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r"))


def ask_all(run, rng):
    from packaging_cases import (marker_cases, name_cases, requirement_cases, specifier_cases,
                                 variant_marker_cases, version_cases, wheel_cases)
    from packaging_tag_cases import tag_cases
    from packaging_texts import Texts
    texts = Texts(rng)
    for cases in (version_cases, specifier_cases, marker_cases, variant_marker_cases, requirement_cases,
                  name_cases, wheel_cases, tag_cases):
        cases(run, texts, rng)


def compare_all(oracle, seed):
    try:
        import packaging
        import packaging.version
    except ImportError:
        print(f"skipped: {sys.executable} has no packaging library")
        return SKIPPED
    release = packaging.version.Version(packaging.__version__).release[:2]
    print(f"against packaging {packaging.__version__}, seed {seed}")
    run = Differential(oracle, release)
    ask_all(run, random.Random(seed))
    return run.finish()


def compare_with_newest(oracle):
    if os.environ.get("AXLE_TEST_REGISTRY") != "1":
        print("skipped: the newest packaging needs a registry (set AXLE_TEST_REGISTRY=1)")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        made = subprocess.run([sys.executable, "-m", "venv", folder], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        if made.returncode != 0:
            print(f"skipped: no virtual environment could be made\n{made.stdout}")
            return SKIPPED
        python = os.path.join(folder, "bin", "python")
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                        "packaging"], check=True)
        return subprocess.run([python, __file__, oracle]).returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--newest", action="store_true", help="compare with the newest packaging")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("oracle", help="the program built from packaging_oracle.cpp")
    options = parser.parse_args()
    if options.newest:
        return compare_with_newest(options.oracle)
    return compare_all(options.oracle, options.seed)


if __name__ == "__main__":
    sys.exit(main())
