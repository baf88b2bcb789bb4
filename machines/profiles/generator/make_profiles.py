#!/usr/bin/env python3
"""Writes the synthesised machine profiles and what is expected of each:

    python3 machines/profiles/generator/make_profiles.py

The tables beside this file are what people read and change; machines/profiles/*.json and
tests/machines/expected/*.json follow from them. Profiles that were captured, and those that were
written by hand (h100, none, …), are not touched. --check writes nothing and fails where a file differs.
"""

import json
import pathlib
import sys

import gpu_machines
import processor_machines
import system_machines

PROFILES = pathlib.Path(__file__).resolve().parent.parent
EXPECTED = PROFILES.parent.parent / "tests" / "machines" / "expected"
DATE = "2026-11-21"

KEYS = ["arch", "system", "glibc", "cpus", "cpuid", "cpuid_of", "xcr0", "xcomp", "auxv", "sve_bytes",
        "sme_bytes", "hwprobe", "sysctl", "variables", "programs", "stopped", "files", "links", "folders", "nodes", "stamps",
        "drivers"]
# In the order of detect/gpu_vendors.h.
VENDORS = ["nvidia", "amd", "intel"]
MAPS = {"sysctl", "variables", "programs", "files", "links", "folders", "nodes", "stamps"}


def leaf_order(name):
    return [int(part, 16) for part in name.split(":")]


def in_order(key, value):
    """As machines/recording_writer.cpp writes it."""
    if key in MAPS:
        return dict(sorted(value.items(), key=lambda item: item[0].encode()))
    if key == "cpuid":
        return dict(sorted(value.items(), key=lambda item: leaf_order(item[0])))
    if key == "cpuid_of":
        return {cpu: in_order("cpuid", value[cpu]) for cpu in sorted(value, key=int)}
    if key in ("auxv", "hwprobe"):
        return dict(sorted(value.items(), key=lambda item: int(item[0])))
    if key == "drivers":
        return {vendor: value[vendor] for vendor in VENDORS if vendor in value}
    return value


def render(value):
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def render_profile(machine):
    origin = {"kind": "synthesised", "source": machine.sources, "date": DATE}
    if hasattr(machine, "facts"):
        known = {key: value for key, value in machine.facts.items() if value}
        return render({"schema_version": 2, "origin": origin} | known)
    assert set(machine.recording) <= set(KEYS), set(machine.recording) - set(KEYS)
    unknown = set(machine.recording.get("drivers", {})) - set(VENDORS)
    assert not unknown, f"{unknown}: add the vendor to VENDORS in make_profiles.py"
    recording = {}
    for key in KEYS:
        value = machine.recording.get(key)
        if value or value == 0:
            recording[key] = in_order(key, value)
    return render({"schema_version": 2, "origin": origin, "recording": recording})


def render_expected(machine):
    expected = dict(machine.expected)
    expected["problems"] = sorted(expected["problems"])
    expected["properties"] = machine.properties
    return render(expected)


def main(check):
    machines = [machine for module in (processor_machines, gpu_machines, system_machines)
                for machine in module.machines()]
    names = [machine.ident for machine in machines]
    assert len(names) == len(set(names)), "a name stands twice"
    EXPECTED.mkdir(parents=True, exist_ok=True)
    stale = []
    for machine in machines:
        for path, text in ((PROFILES / f"{machine.ident}.json", render_profile(machine)),
                           (EXPECTED / f"{machine.ident}.json", render_expected(machine))):
            if path.is_file() and path.read_text(encoding="utf-8") == text:
                continue
            stale.append(path.name)
            if not check:
                path.write_text(text, encoding="utf-8")
    print(f"{len(machines)} machines, {len(stale)} files {'stale' if check else 'written'}")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
