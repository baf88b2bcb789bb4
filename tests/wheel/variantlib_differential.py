"""Variant metadata against variantlib 0.2.2, the reference implementation.

usage: variantlib_differential.py PROGRAM, where PROGRAM is built from variant_metadata_rewrite.cpp.

What we write it takes and understands as we do, what it writes we take and write again the same, and of documents
with one thing wrong both refuse the same ones. Needs a registry: runs with AXLE_TEST_REGISTRY=1 only.
"""

import copy
import json
import logging
import os
import random
import subprocess
import sys
import tempfile

VERSION = "0.2.2"
DOCUMENTS = 2000
INSIDE = "--inside"


def skip(reason):
    print(f"skipped: {reason}")
    raise SystemExit(77)


def run_in_environment():
    """Installs variantlib into a fresh environment and runs this file there."""
    if os.environ.get("AXLE_TEST_REGISTRY") != "1":
        skip("AXLE_TEST_REGISTRY is not 1")
    if sys.version_info < (3, 10):
        skip("variantlib needs Python 3.10")
    with tempfile.TemporaryDirectory() as folder:
        made = subprocess.run([sys.executable, "-m", "venv", folder])
        if made.returncode != 0:
            skip("this Python makes no environments")
        python = os.path.join(folder, "bin", "python")
        subprocess.run(
            [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", f"variantlib=={VERSION}"],
            check=True,
        )
        raise SystemExit(subprocess.run([python, __file__, sys.argv[1], INSIDE]).returncode)


class Program:
    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def rewrite(self, document):
        """The document as we write it, or None and the reason."""
        self.process.stdin.write(json.dumps(document) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline().strip()
        if line.startswith("refused "):
            return None, line[8:]
        return json.loads(line), None


def some(rng, names, least=1):
    return rng.sample(names, rng.randint(least, len(names)))


def document(rng):
    """A sound document of version 0.2.0."""
    namespaces = some(rng, ["nvidia", "x86_64", "blas", "a1", "_x"])
    features = {ns: some(rng, ["level", "sm_arch", "f_3", "9"]) for ns in namespaces}
    providers = {}
    for ns in rng.sample(namespaces, len(namespaces)):
        provider = providers[ns] = {}
        if rng.random() < 0.5:
            provider["requires"] = some(rng, ["p-one", "p-two>=1.0,<2", "p3; python_version >= '3.9'"])
            if rng.random() < 0.5:
                provider["plugin-api"] = rng.choice(["mod.sub:Class", "mod", "a:b.c"])
        else:
            static = {f: some(rng, ["v1", "v2", "1.0", "x_y"]) for f in features[ns]}
            provider["static-properties"] = static
            if len(static) > 1 or rng.random() < 0.3:
                provider["feature-order"] = rng.sample(list(static), len(static))
        if rng.random() < 0.3:
            provider["optional"] = rng.random() < 0.8
    variants = {}
    for label in some(rng, ["fast", "slow", "cu12.8", "v4_mkl", "null"], 0):
        variants[label] = {}
        if label != "null":
            for ns in some(rng, namespaces):
                variants[label][ns] = {f: some(rng, ["v1", "v2", "2.0", "z"]) for f in some(rng, features[ns])}
    return {
        "$schema": f"https://variants-schema.wheelnext.dev/v0.2.0.json",
        "default-priorities": {"namespace": namespaces},
        "providers": providers,
        "variants": variants,
    }


def places(value, path=()):
    """The paths of all values inside `value`."""
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield path + (key,)
        yield from places(child, path + (key,))


def spoil(rng, sound):
    """One thing changed that may break a rule, outside of what the two are known to see differently."""
    spoilt = copy.deepcopy(sound)
    path = rng.choice([place for place in places(spoilt) if place[0] != "$schema" and len(place) > 1])
    parent = spoilt
    for key in path[:-1]:
        parent = parent[key]
    kind = rng.randrange(5)
    if kind == 0:
        del parent[path[-1]]
    elif kind == 1:
        parent[path[-1]] = rng.choice([None, 5, "", "Upper", "a b", [], {}, ["x"], [1], {"x": 1}, True])
    elif kind == 2 and isinstance(parent, dict):
        parent[rng.choice(["x", "Upper", "optional", "requires", "feature-order", "null"])] = parent[path[-1]]
    elif kind == 3 and isinstance(parent, list):
        parent.append(parent[path[-1]])
    elif kind == 4 and isinstance(parent, dict):
        parent[str(path[-1]) + "-"] = parent.pop(path[-1])
    return spoilt, path


def plain(document):
    """Without what means nothing: absent and false `optional`, the order of keys and sets."""
    result = copy.deepcopy(document)
    for provider in result["providers"].values():
        if provider.get("optional") is False:
            del provider["optional"]
        if len(provider.get("static-properties", {})) == 1:
            provider.pop("feature-order", None)
    for variant in result["variants"].values():
        for features in variant.values():
            for values in features.values():
                values.sort()
    return result


# Where we are stricter than variantlib, and mean it; nowhere do we take what it refuses.
STRICTER = (
    "is duplicated in the list",
    "an empty list",
    "it has no feature",
    ".requires[",  # any text is a requirement to variantlib
)


def compare(program):
    from variantlib.variants_json import VariantsJson

    logging.disable(logging.CRITICAL)  # it logs every refusal

    def reference(document):
        try:
            return json.loads(VariantsJson(document).to_str()), None
        except Exception as error:  # its errors are of many types
            return None, f"{type(error).__name__}: {error}"

    refused = 0
    for seed in range(DOCUMENTS):
        rng = random.Random(seed)
        sound = document(rng)
        ours, reason = program.rewrite(sound)
        if ours is None:
            raise SystemExit(f"seed {seed}: we refuse a sound document: {reason}\n{json.dumps(sound)}")
        theirs, reason = reference(ours)
        if theirs is None:
            raise SystemExit(f"seed {seed}: variantlib refuses what we write: {reason}\n{json.dumps(ours)}")
        again, reason = program.rewrite(theirs)
        if again is None:
            raise SystemExit(f"seed {seed}: we refuse what variantlib writes: {reason}\n{json.dumps(theirs)}")
        if not plain(sound) == plain(ours) == plain(theirs) == plain(again):
            raise SystemExit(f"seed {seed}: changed on the way:\n{sound}\n{ours}\n{theirs}\n{again}")
        spoilt, path = spoil(rng, sound)
        ours, our_reason = program.rewrite(spoilt)
        theirs, their_reason = reference(spoilt)
        if theirs is None and ours is not None:
            raise SystemExit(f"seed {seed}: spoilt at {path}: we take what variantlib refuses: {their_reason}")
        if ours is None and theirs is not None and not any(text in our_reason for text in STRICTER):
            raise SystemExit(f"seed {seed}: spoilt at {path}: variantlib takes what we refuse: {our_reason}")
        refused += ours is None
    print(f"{DOCUMENTS} documents agree with variantlib {VERSION}; of as many spoilt ones we refuse {refused}, all that it refuses")


if INSIDE in sys.argv:
    compare(Program(sys.argv[1]))
else:
    run_in_environment()
