#!/usr/bin/env python3
"""Solves the scenarios of packse and uv, and compares with what they expect.

    packse_scenarios.py WORLDS [FOLDER…]    WORLDS is the program of worlds_main.cpp

FOLDER is a checkout of packse or of uv; without one AXLE_SCENARIOS lists them, separated by colons. Nothing of them
is kept here. A scenario that ends otherwise than it says needs a row in DIFFERENCES, and a row needs a scenario.
Exit codes: 0 all agree, 1 something differs, 77 skipped (with the reason).
"""

import collections
import json
import os
import pathlib
import subprocess
import sys
import tomllib

from rules import BOUND, ELSEWHERE, NAMED, NO_FINAL, PINNED, WHEELS, undocumented
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

SKIPPED = 77
# What scenarios mean where they do not say.
PYTHON = "3.12"
REQUIRES_PYTHON = ">=3.12"

# name -> (the rule by which we answer otherwise, what we answer: "name version …", or "refused")
DIFFERENCES = {
    "incompatible-python-compatible-override-available-no-wheels": (WHEELS, "refused"),
    "incompatible-python-compatible-override-no-compatible-wheels": (WHEELS, "refused"),
    "incompatible-python-compatible-override-other-wheel": (WHEELS, "refused"),
    "incompatible-python-compatible-override-unavailable-no-wheels": (WHEELS, "refused"),
    "no-wheels": (WHEELS, "refused"),
    "no-wheels-with-matching-platform": (WHEELS, "refused"),
    "package-only-prereleases-in-range": (NO_FINAL, "a 1.0.0a1"),
    "package-prerelease-specified-mixed-available": (NAMED, "a 1.0.0a1"),
    "package-prereleases-specifier-boundary": (NAMED, "a 0.2.0a1"),
    "prerelease-base-extra-stable-preference-explicit-first": (NAMED, "c 2.0.0a1"),
    "prerelease-base-extra-stable-preference-plain-first": (NAMED, "c 2.0.0a1"),
    "prerelease-equivalent-stable-preference-explicit-first": (NAMED, "c 2.0.0a1"),
    "prerelease-equivalent-stable-preference-plain-first": (NAMED, "c 2.0.0a1"),
    "prerelease-extra-stable-preference": (NAMED, "c 2.0.0a1"),
    "prerelease-multiple-redundant-stable-preference": (NAMED, "c 2.0.0a1"),
    "prerelease-multiple-redundant-stable-preference-explicit-first": (NAMED, "c 2.0.0a1"),
    "prerelease-redundant-stable-preference-explicit-first": (NAMED, "c 2.0.0a1"),
    "prerelease-redundant-stable-preference-plain-first": (NAMED, "c 2.0.0a1"),
    "python-less-than-current": (BOUND, "refused"),
    "requires-python-wheels": (ELSEWHERE, "refused"),
    "specific-architecture": (ELSEWHERE, "refused"),
    "transitive-package-only-prereleases-in-range": (NO_FINAL, "a 0.1.0 b 1.0.0a1"),
    "transitive-prerelease-and-stable-dependency": (NO_FINAL, "a 1.0.0 b 1.0.0 c 2.0.0b1"),
    "transitive-prerelease-and-stable-dependency-many-versions": (NO_FINAL, "a 1.0.0 b 1.0.0 c 2.0.0b9"),
    "transitive-prerelease-and-stable-dependency-many-versions-holes": (NO_FINAL, "a 1.0.0 b 1.0.0 c 2.0.0b4"),
    "transitive-yanked-and-unyanked-dependency": (PINNED, "a 1.0.0 b 1.0.0 c 2.0.0"),
}


def with_extra(requirement, extra):
    """`requirement` as METADATA has it that belongs to `extra`."""
    parsed = Requirement(requirement)
    own = f"extra == '{extra}'"
    parsed.marker = Marker(f"({parsed.marker}) and {own}" if parsed.marker else own)
    return str(parsed)


def release(version, table):
    needs = list(table.get("requires", []))
    for extra, requirements in table.get("extras", {}).items():
        needs += [with_extra(one, extra) for one in requirements]
    wheel = table.get("wheel", True)
    tags = table.get("wheel_tags") or (["py3-none-any"] if wheel else [])
    return {"version": version, "yanked": table.get("yanked", False),
            "requires_python": table.get("requires_python", REQUIRES_PYTHON),
            "builds": [{"tags": one, "needs": [{"text": text} for text in needs]} for one in tags]}


def python_of(scenario):
    """(minor, full version) of the interpreter that is resolved for."""
    told = scenario.get("resolver_options", {}).get("python") or scenario.get("environment", {}).get("python", PYTHON)
    parts = told.split(".")
    return int(parts[1]), told if len(parts) > 2 else told + ".0"


def world(scenario):
    options = scenario.get("resolver_options", {})
    minor, full = python_of(scenario)
    return {"python_minor": minor, "python": full, "prereleases": options.get("prereleases", False),
            "packages": [{"name": name, "releases": [release(version, table)
                                                     for version, table in package.get("versions", {}).items()]}
                         for name, package in scenario.get("packages", {}).items()],
            "requests": [{"text": text} for text in scenario["root"]["requires"]]}


def why_not(scenario):
    """Why a scenario asks for what we do not do; None: it applies."""
    options = scenario.get("resolver_options", {})
    if "resolution" in options:
        return "the lowest versions are wanted"
    if options.get("no_binary"):
        return "source distributions are built"
    if options.get("universal") and not scenario["expected"]["satisfiable"]:
        return "of all environments some cannot be solved"
    if "required_environments" in options:
        return "environments other than one"
    return None


def is_built(scenario, name, version):
    """No wheel of it, so that a source distribution would be built."""
    table = scenario["packages"][name]["versions"].get(version, {})
    return not (table.get("wheel_tags") or table.get("wheel", True))


def expected(scenario):
    """"refused", "name version …", or "solved" where the scenario gives no versions of one environment."""
    wanted = scenario["expected"]
    if not wanted["satisfiable"]:
        return "refused"
    packages = wanted.get("packages")
    if scenario.get("resolver_options", {}).get("universal") or not packages:
        return "solved"
    return " ".join(f"{name} {version}" for name, version in sorted(packages.items()))


def given(answer):
    if not answer["solved"]:
        return "refused"
    return " ".join(f"{one['name']} {one['version']}" for one in sorted(answer["chosen"], key=lambda one: one["name"]))


def scenarios(folders):
    found = {}
    for folder in folders:
        for path in sorted(pathlib.Path(folder).rglob("*.toml")):
            if "scenarios" not in path.parts:
                continue
            scenario = tomllib.loads(path.read_text())
            if "root" in scenario and "expected" in scenario:
                found[path] = scenario
    return found


def compare(program, folders):
    all_scenarios = scenarios(folders)
    if not all_scenarios:
        print(f"there are no scenarios in {', '.join(folders)}")
        return 1
    left_out = collections.Counter()
    asked = {}
    for path, scenario in all_scenarios.items():
        reason = why_not(scenario)
        if reason:
            left_out[reason] += 1
        else:
            asked[path] = scenario
    lines = "".join(json.dumps(world(scenario)) + "\n" for scenario in asked.values())
    done = subprocess.run([program], input=lines, text=True, stdout=subprocess.PIPE, check=True)
    answers = [json.loads(line)["answer"] for line in done.stdout.splitlines()]
    wrong, by_rule, needless = [], collections.Counter(), {one["name"] for one in asked.values()} & set(DIFFERENCES)
    for (path, scenario), answer in zip(asked.items(), answers, strict=True):
        want, ours = expected(scenario), given(answer)
        if ours == want or (want == "solved" and ours != "refused"):
            continue
        rule, ruled = DIFFERENCES.get(scenario["name"], (None, None))
        if ruled == ours:
            by_rule[rule] += 1
            needless.discard(scenario["name"])
        else:
            wrong.append(f"{path}: {scenario['description']}\n  expected {want}\n  ours     {ours} {answer['error']}")
    wrong += [f"{title}: not in docs/requirements.md" for title in undocumented()]
    print("\n".join(wrong + [f"{name}: a row of DIFFERENCES that no scenario needs" for name in sorted(needless) if len(folders) > 1]))
    print(f"{len(all_scenarios)} scenarios; {len(asked)} apply, {len(asked) - len(wrong) - by_rule.total()} agree, "
          f"{by_rule.total()} differ by rule {dict(by_rule)}, {len(wrong)} differ without one; left out: {dict(left_out)}")
    return 1 if wrong or needless and len(folders) > 1 else 0


def main(arguments):
    folders = arguments[1:] or [one for one in os.environ.get("AXLE_SCENARIOS", "").split(":") if one]
    if not folders:
        print("skipped: AXLE_SCENARIOS names no checkout of packse or uv")
        return SKIPPED
    return compare(arguments[0], folders)


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(main(sys.argv[1:]))
