#!/usr/bin/env python3
"""Orders random releases with variantlib 0.2 (the reference tool) and with ours, and compares.

    variantlib_order.py ORACLE    ORACLE is the program of rank_lines.cpp

variantlib comes from the configured registry into a temporary environment, so the comparison runs only
with AXLE_TEST_REGISTRY=1. Exit codes: 0 all agree, 1 something differs, 77 skipped (with the reason).
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import venv

SKIPPED = 77
SEED = 850
RELEASES = 2000
INSIDE = "--inside"


def some(rng, names, least):
    return rng.sample(names, rng.randint(least, len(names)))


def provider(rng):
    """Static lists, so that both tools know the same machine; an optional one nobody enabled is empty."""
    if rng.random() < 0.15:
        return {"requires": ["nobody-has-this"], "optional": True}, {}
    order = some(rng, ["f0", "f1", "f2", "f3"], 1)
    lists = {feature: some(rng, ["1", "2", "3", "4", "5"], 1) for feature in order}
    written = dict(sorted(lists.items()))  # the order of a JSON object means nothing
    info = {"static-properties": written}
    if len(order) > 1 or rng.random() < 0.5:
        info["feature-order"] = order
    return info, lists


def properties(rng, supported):
    result = {}
    for ns in some(rng, sorted(supported), 1):
        features = {}
        for feature in some(rng, ["f0", "f1", "f2", "f3"], 1):
            values = supported[ns].get(feature)
            if values is None or rng.random() < 0.1:
                if rng.random() < 0.8:
                    continue
                values = ["1", "2", "3", "4", "5", "6"]
            chosen = some(rng, values, 1)
            features[feature] = sorted(chosen if rng.random() < 0.4 else chosen[:1])
        if features:
            result[ns] = features
    return result


def release(rng):
    namespaces = some(rng, ["n0", "n1", "n2"], 1)
    providers, supported = {}, {}
    for ns in namespaces:
        providers[ns], supported[ns] = provider(rng)
    variants = {}
    for _ in range(rng.randint(0, 12)):
        twin = variants and rng.random() < 0.15
        found = rng.choice(list(variants.values())) if twin else properties(rng, supported)
        if found:
            variants[f"l{rng.randint(0, 999)}"] = found
    if rng.random() < 0.5 or not variants:
        variants["null"] = {}
    return {
        "$schema": "https://variants-schema.wheelnext.dev/peps/850/v0.2.0.json",
        "default-priorities": {"namespace": namespaces},
        "providers": providers,
        "variants": variants,
    }


def compare(oracle):
    from importlib.metadata import version

    from variantlib.api import get_variants_by_priority

    rng = random.Random(SEED)
    releases = [release(rng) for _ in range(RELEASES)]
    lines = "".join(json.dumps(document) + "\n" for document in releases)
    done = subprocess.run([oracle], input=lines, text=True, stdout=subprocess.PIPE, check=True)
    answers = done.stdout.split("\n")[:-1]
    if len(answers) != len(releases):
        print(f"{len(releases)} releases, {len(answers)} answers")
        return 1
    wrong, ranked, most = [], 0, 0
    for document, answer in zip(releases, answers):
        theirs = [v.label for v in get_variants_by_priority(variants_json=document)]
        if "null" not in document["variants"]:
            theirs = [label for label in theirs if label != "null"]  # it adds one on its own
        ours = answer.split()
        ranked += len(ours)
        most = max(most, len(ours))
        if ours != theirs:
            wrong.append((document, ours, theirs))
    for document, ours, theirs in wrong[:5]:
        print(json.dumps(document, indent=1))
        print(f"ours:       {ours}\nvariantlib: {theirs}")
    print(f"variantlib {version('variantlib')}: {len(releases)} releases, {ranked} compatible "
          f"variants (at most {most} in one), {len(wrong)} orders differ")
    return 1 if wrong or ranked < RELEASES else 0


def main(arguments):
    if arguments[:1] == [INSIDE]:
        return compare(arguments[1])
    if os.environ.get("AXLE_TEST_REGISTRY") != "1":
        print("skipped: variantlib comes from a registry; set AXLE_TEST_REGISTRY=1")
        return SKIPPED
    if sys.version_info < (3, 10):
        print("skipped: variantlib needs Python 3.10")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = os.path.join(folder, "bin", "python")
        subprocess.run([python, "-m", "pip", "install", "-q", "variantlib>=0.2,<0.3"], check=True)
        # In the folder, so that nobody's variants.toml reorders anything.
        return subprocess.run([python, os.path.abspath(__file__), INSIDE,
                               os.path.abspath(arguments[0])], cwd=folder).returncode


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(main(sys.argv[1:]))
