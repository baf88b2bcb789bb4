#!/usr/bin/env python3
"""Attestations, right ones and such that are wrong in one thing, and what the program says of them.

    attestation_differential.py ORACLE          each is accepted or refused with its reason
    attestation_differential.py --peer ORACLE   and pypi-attestations does the same: it is installed from the configured
                                                registry into a temporary environment (only with AXLE_TEST_REGISTRY=1)

Exit codes: 0 all agree, 1 something differs, 77 skipped (with the reason).
"""

import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

SKIPPED = 77
SEED = 740
FEWEST_CASES = 140
HERE = pathlib.Path(__file__).resolve().parent


def write_cases(folder, published=None):
    """Each case as two files; their list. `published`: the predicate of an index that says so, if not the tests' own."""
    sys.path.insert(0, str(HERE))
    import attested
    from attestation_cases import all_cases
    from attested import Sigstore
    attested.PUBLISHED = published or attested.PUBLISHED
    rows = []
    roots = {}
    for number, case in enumerate(all_cases(Sigstore(), random.Random(SEED))):
        root = json.dumps(case.trusted_root)
        if root not in roots:
            roots[root] = folder / f"root-{len(roots)}.json"
            roots[root].write_text(root)
        provenance = folder / f"{number}.provenance"
        provenance.write_text(json.dumps(case.provenance))
        rows.append({"name": case.name, "root": str(roots[root]), "provenance": str(provenance), "file": case.file,
                     "digest": case.digest, "reason": case.reason, "accepted_elsewhere": case.accepted_elsewhere})
    return rows


def ask_ours(oracle, rows):
    lines = "".join("\t".join((row["root"], row["provenance"], row["file"], row["digest"])) + "\n" for row in rows)
    done = subprocess.run([oracle], input=lines, stdout=subprocess.PIPE, text=True, check=True)
    answers = done.stdout.splitlines()
    assert len(answers) == len(rows), (len(answers), len(rows))
    wrong = 0
    for row, answer in zip(rows, answers):
        good = answer == "accepted 1005" if row["reason"] is None else \
            answer.startswith("refused ") and row["reason"] in answer
        if not good:
            wrong += 1
            print(f"{row['name']}: {answer!r}, expected {row['reason'] or 'accepted'!r}")
    return wrong


def ask_peer(rows):
    """In an interpreter that has pypi-attestations."""
    from sigstore.models import TrustedRoot
    from sigstore.verify import Verifier
    import pypi_attestations
    from pypi_attestations import Distribution, Provenance
    from unittest import mock
    wrong = 0
    for row in rows:
        try:
            verifier = Verifier(trusted_root=TrustedRoot.from_file(row["root"]))
            provenance = Provenance.model_validate_json(pathlib.Path(row["provenance"]).read_text())
            file = Distribution(name=row["file"], digest=row["digest"])
            with mock.patch.object(pypi_attestations._impl.Verifier, "production", lambda **_: verifier):
                for bundle in provenance.attestation_bundles:
                    for attestation in bundle.attestations:
                        attestation.verify(bundle.publisher, file, offline=True)
            answer = None
        except Exception as error:  # each of its libraries has errors of its own
            answer = f"{type(error).__name__}: {error}"
        if (answer is None) != row["accepted_elsewhere"]:
            wrong += 1
            print(f"{row['name']}: pypi-attestations says {answer or 'accepted'!r}")
    return wrong


def compare_with_peer(folder, oracle):
    environment = folder / "peer"
    made = subprocess.run([sys.executable, "-m", "venv", environment], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if made.returncode != 0:
        print(f"skipped: no virtual environment could be made\n{made.stdout}")
        return SKIPPED
    python = environment / "bin/python"
    done = subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                           "pypi-attestations==0.0.30", "sigstore==4.5.1"], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        print(f"skipped: pypi-attestations cannot be installed\n{done.stdout}")
        return SKIPPED
    published = subprocess.run([python, "-c", "from pypi_attestations import AttestationType as T; print(T.PYPI_PUBLISH_V1.value)"],
                               stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    rows = write_cases(folder, published)
    if ask_ours(oracle, rows):
        return 1
    (folder / "rows.json").write_text(json.dumps(rows))
    return subprocess.run([python, __file__, "--rows", folder / "rows.json"]).returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer", action="store_true", help="compare with pypi-attestations")
    parser.add_argument("--rows", help=argparse.SUPPRESS)
    parser.add_argument("oracle", nargs="?", help="the program built from attestation_oracle.cpp")
    options = parser.parse_args()
    if options.rows:
        return min(ask_peer(json.loads(pathlib.Path(options.rows).read_text())), 1)
    if options.peer and os.environ.get("AXLE_TEST_REGISTRY") != "1":
        print("skipped: pypi-attestations needs a registry (set AXLE_TEST_REGISTRY=1)")
        return SKIPPED
    sys.path.insert(0, str(HERE.parents[1] / "e2e"))
    import attested
    if attested.missing:
        print(f"skipped: {attested.missing}")
        return SKIPPED
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        rows = write_cases(folder)
        assert len(rows) >= FEWEST_CASES, len(rows)
        wrong = ask_ours(options.oracle, rows)
        print(f"{len(rows)} attestations, {sum(row['reason'] is None for row in rows)} of them right: {wrong} differ")
        if wrong or not options.peer:
            return min(wrong, 1)
        return compare_with_peer(folder, options.oracle)


if __name__ == "__main__":
    sys.exit(main())
