#!/usr/bin/env python3
"""Random advisories in OSV's format, judged by us and, from the words of OSV's documents, with `packaging`.

    advisory_differential.py ORACLE

Exit codes: 0 all agree, 1 something differs, 77 skipped (with the reason).
"""

import json
import pathlib
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

SKIPPED = 77
SEED = 20210
ADVISORIES = 400
VERSIONS_EACH = 25


def random_version(rng, local=0.1):
    text = ".".join(str(rng.randrange(3)) for _ in range(rng.randrange(1, 4)))
    text += rng.choice(["", "", "", f"a{rng.randrange(2)}", f"rc{rng.randrange(2)}"])
    text += rng.choice(["", "", "", ".post1"]) + rng.choice(["", "", "", ".dev1"])
    return text + (rng.choice(["+cu118", "+cu121", "+security.1"]) if rng.random() < local else "")


def random_range(rng):
    """Events as OSV's schema allows them: no `fixed` beside a `last_affected`."""
    local = 0.1 if rng.random() < 0.2 else 0
    end = rng.choice(["fixed", "last_affected"])
    events = []
    for _ in range(rng.randrange(1, 4)):
        events.append({"introduced": "0" if rng.random() < 0.3 else random_version(rng, local)})
        if rng.random() < 0.8:
            events.append({end: random_version(rng, local)})
    if rng.random() < 0.2:
        events.append({"limit": rng.choice(["*", random_version(rng, local)])})
    rng.shuffle(events)
    return {"type": rng.choice(["ECOSYSTEM"] * 4 + ["GIT"]), "events": events}


def random_advisory(rng):
    affected = []
    for _ in range(rng.randrange(1, 3)):
        one = {"package": {"ecosystem": rng.choice(["PyPI"] * 5 + ["npm"]), "name": rng.choice(["demo", "Demo", "other"])},
               "ranges": [random_range(rng) for _ in range(rng.randrange(3))]}
        if rng.random() < 0.5:
            one["versions"] = [random_version(rng) for _ in range(rng.randrange(4))]
        affected.append(one)
    return {"id": "PYSEC-1", "affected": affected}


class Judge:
    def __init__(self, Version):
        self.Version = Version

    def key(self, text, with_local):
        version = self.Version(text)
        return version if with_local else self.Version(version.public)

    def in_range(self, version, events):
        with_local = any(self.Version(text).local for event in events for text in event.values() if text not in ("0", "*"))
        mine = self.key(version, with_local)
        order = {"introduced": 0, "fixed": 1, "last_affected": 2, "limit": 3}
        rows = [(kind, text) for event in events for kind, text in event.items()]
        limits = [text for kind, text in rows if kind == "limit"]
        if limits and not any(text == "*" or mine < self.key(text, with_local) for text in limits):
            return False
        rows = [row for row in rows if row[0] != "limit"]
        begin = [row for row in rows if row[1] == "0" and row[0] == "introduced"]
        rest = sorted((row for row in rows if row not in begin), key=lambda row: (self.Version(row[1]), order[row[0]]))
        vulnerable = False
        for kind, text in begin + rest:
            if kind == "introduced" and (text == "0" or mine >= self.key(text, with_local)):
                vulnerable = True
            if kind == "fixed" and mine >= self.key(text, with_local):
                vulnerable = False
            if kind == "last_affected" and mine > self.key(text, with_local):
                vulnerable = False
        return vulnerable

    def listed(self, version, versions):
        return any(self.key(version, bool(self.Version(one).local)) == self.Version(one) for one in versions)

    def fixes(self, version, events):
        with_local = any(self.Version(text).local for event in events for text in event.values() if text not in ("0", "*"))
        return {self.Version(event["fixed"]) for event in events
                if "fixed" in event and self.key(event["fixed"], with_local) > self.key(version, with_local)}

    def answer(self, version, advisory):
        affected, fixes = False, set()
        for one in advisory["affected"]:
            if one["package"] != {"ecosystem": "PyPI", "name": one["package"]["name"]} or \
                    one["package"]["name"].lower() != "demo":
                continue
            ranges = [each["events"] for each in one["ranges"] if each["type"] == "ECOSYSTEM"]
            if self.listed(version, one.get("versions", [])) or any(self.in_range(version, each) for each in ranges):
                affected = True
                fixes |= {fix for each in ranges for fix in self.fixes(version, each)}
        if not affected:
            return "not affected", []
        return "affected", sorted(fixes)


def main():
    try:
        from packaging.version import Version
    except ImportError:
        print(f"skipped: {sys.executable} has no packaging library")
        return SKIPPED
    rng = random.Random(SEED)
    judge = Judge(Version)
    with tempfile.TemporaryDirectory() as name:
        questions, expected = [], []
        for number in range(ADVISORIES):
            advisory = random_advisory(rng)
            path = pathlib.Path(name) / f"{number}.json"
            path.write_text(json.dumps(advisory))
            for _ in range(VERSIONS_EACH):
                version = random_version(rng)
                questions.append(f"{path}\t{version}")
                expected.append((advisory, version, *judge.answer(version, advisory)))
        done = subprocess.run([sys.argv[1]], input="\n".join(questions) + "\n", stdout=subprocess.PIPE, text=True, check=True)
    answers = done.stdout.splitlines()
    assert len(answers) == len(expected), (len(answers), len(expected))
    wrong = 0
    for answer, (advisory, version, verdict, fixes) in zip(answers, expected):
        told = answer.removeprefix("affected") if answer.startswith("affected") else ""
        same = answer.startswith(verdict) and [Version(one) for one in told.split()] == fixes
        if not same:
            wrong += 1
            if wrong <= 5:
                print(f"{version}: {answer!r}, expected {verdict} {fixes}: {json.dumps(advisory)}")
    affected = sum(row[2] == "affected" for row in expected)
    print(f"{len(expected)} questions, {affected} affected: {wrong} differ")
    return 1 if wrong or not 1000 < affected < len(expected) - 1000 else 0


if __name__ == "__main__":
    sys.exit(main())
