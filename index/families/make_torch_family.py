#!/usr/bin/env python3
"""Writes torch.toml, the index family of torch, from the facts in torch-builds.json.

    make_torch_family.py            write torch.toml
    make_torch_family.py --check    write nothing; fail with the difference if torch.toml is another

A new release is a new entry in torch-builds.json and one run of this script. The format is docs/families.md.
"""

import argparse
import difflib
import json
import re
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
FACTS = FOLDER / "torch-builds.json"
FAMILY = FOLDER / "torch.toml"

VENDORS = (("cu", "nvidia"), ("rocm", "amd"), ("xpu", "intel"))
PLATFORMS = ("linux_x86_64", "linux_aarch64", "windows_amd64", "windows_arm64", "macos_arm64")


def quote(text):
    """A TOML basic string. JSON escapes the same characters the same way."""
    return json.dumps(text, ensure_ascii=False)


def array(items):
    return "[" + ", ".join(quote(item) for item in items) + "]"


def value(thing):
    """"unknown" stays a string, where a list is usual."""
    return quote(thing) if isinstance(thing, str) else array(thing)


def key(name):
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else quote(name)


def inline_table(pairs):
    return "{ " + ", ".join(f"{key(name)} = {text}" for name, text in pairs) + " }"


def specifier(version):
    """"0.24.x" -> "==0.24.*", "2.11.0" -> "==2.11.0"."""
    return "==" + re.sub(r"\.x$", ".*", version)


def vendor_of(label):
    return next((vendor for start, vendor in VENDORS if label.startswith(start)), None)


def toolkit_of(label):
    """"cu128" -> "12.8" (the last digit is the minor version), "rocm6.2.4" -> "6.2.4"; None for others."""
    if match := re.fullmatch(r"cu(\d+)(\d)", label):
        return f"{match[1]}.{match[2]}"
    match = re.fullmatch(r"rocm(\d+(?:\.\d+)+)", label)
    return match[1] if match else None


def is_label(build):
    """False for what is known to be published, but not under which label: "rocm" of 2.15."""
    return build["label"] in ("cpu", "xpu") or toolkit_of(build["label"]) is not None


def rank(label):
    """Sorts best first: NVIDIA, AMD, Intel, then the CPU; the newest toolkit first."""
    vendors = [vendor for _, vendor in VENDORS] + [None]
    parts = [int(part) for part in (toolkit_of(label) or "0").split(".")]
    padded = parts + [0] * (3 - len(parts))  # 6.2.4 is newer than 6.2
    return vendors.index(vendor_of(label)), [-part for part in padded]


def labels_of(facts):
    found = {build["label"] for release in facts["releases"] for build in release["builds"] if is_label(build)}
    return sorted(found, key=rank)


def floor_of(facts, label):
    """Minor-version compatibility: what any version of a CUDA major built runs on every driver of that major."""
    return facts["cuda_majors"][toolkit_of(label).split(".")[0]]


def label_sources(facts, label):
    """Of the driver floor; where there is none to state, of the newest build that has the label."""
    if vendor_of(label) == "nvidia":
        return floor_of(facts, label)["sources"]
    return next(build["sources"] for release in facts["releases"] for build in release["builds"]
                if build["label"] == label)


def label_lines(facts, label):
    yield "[[labels]]"
    yield f"name = {quote(label)}"
    if vendor_of(label):
        yield f"vendor = {quote(vendor_of(label))}"
    if toolkit_of(label):
        yield f"toolkit = {quote(toolkit_of(label))}"
    if vendor_of(label) == "nvidia":
        floor = floor_of(facts, label)
        yield f"cuda = {quote(floor['cuda'])}"
        yield f"driver = {quote(floor['driver'])}"
        yield f"driver-windows = {quote(floor['driver_windows'])}"
    yield f"source = {array(label_sources(facts, label))}"
    yield ""


def build_line(build):
    pairs = [("label", quote(build["label"])), ("platform", quote(build["platform"]))]
    pairs += [(name, value(build[name])) for name in ("code", "ptx") if name in build]
    pairs += [("macos", quote(build["macos"]))] if "macos" in build else []
    pairs += [("source", array(build["sources"])), ("confidence", quote(build["confidence"]))]
    if "note" in build:
        pairs.append(("note", quote(build["note"])))
    return f"  {inline_table(pairs)},"


def release_lines(release, order):
    skipped = [build for build in release["builds"] if not is_label(build)]
    for note in release.get("notes", []) + [f"Left out: {build['label']} ({build['note']})." for build in skipped]:
        yield f"# {note}"
    yield "[[releases]]"
    yield f"version = {quote(release['version'])}"
    yield f"date = {quote(release['date'])}"
    yield f"source = {array(release['sources'])}"
    others = [(name, quote(specifier(release[name]))) for name in ("torchvision", "torchaudio")]
    yield f"goes-with = {inline_table(others)}"
    yield f"default-index = {inline_table((name, quote(text)) for name, text in release['default_index'].items())}"
    old_abi = ((name, array(labels)) for name, labels in release["old_cxx_abi"].items())
    yield f"old-cxx-abi = {inline_table(old_abi)}"
    yield "builds = ["
    builds = [build for build in release["builds"] if is_label(build)]
    builds.sort(key=lambda build: (PLATFORMS.index(build["platform"]), order.index(build["label"])))
    yield from map(build_line, builds)
    yield "]"
    yield ""


def feature_lines(feature):
    yield "[[features]]"
    for name in ("name", "title", "releases", "since", "until", "vendor", "only", "labels", "platforms", "toolkit", "needs",
                 "capability", "cuda", "gpus", "discrete", "unproven", "check", "sources", "confidence", "date", "note"):
        if name in feature:
            text = json.dumps(feature[name]) if isinstance(feature[name], int) else value(feature[name])
            yield f"{'source' if name == 'sources' else name} = {text}"
    yield ""


def used_sources(facts, order):
    """Every source that torch.toml names, in the order of the JSON file."""
    used = set()
    for label in order:
        used.update(label_sources(facts, label))
    for release in facts["releases"]:
        used.update(release["sources"])
        for build in filter(is_label, release["builds"]):
            used.update(build["sources"])
    for feature in facts["features"]:
        used.update(feature["sources"])
    if missing := used - facts["sources"].keys():
        sys.exit(f"{FACTS.name}: no such sources: {', '.join(sorted(missing))}")
    return [(name, text) for name, text in facts["sources"].items() if name in used]


def head_lines(facts, order):
    family = facts["family"]
    yield "# The index family of torch. Made by make_torch_family.py from torch-builds.json: change that, run this."
    yield "# The format is docs/families.md."
    yield "schema = 1"
    yield f"name = {quote(family['name'])}"
    yield f"url = {quote(family['url'])}"
    yield 'label-in = "version"'
    yield f"members = {array(family['members'])}"
    yield from (f"# The next line: {facts['sources'][name]}" for name in family["unlabelled_sources"])
    yield f"unlabelled = {array(family['unlabelled'])}"
    yield f"fallback = {array(family['fallback'])}"
    yield f"ended = {inline_table((name, quote(last)) for name, last in family['ended'].items())}"
    yield f"ended-platforms = {inline_table((name, quote(last)) for name, last in family['ended_platforms'].items())}"
    yield f"date = {quote(facts['collected'])}"
    yield ""
    yield "[sources]"
    yield from (f"{key(name)} = {quote(text)}" for name, text in used_sources(facts, order))
    yield ""
    for name in facts["device_sources"]:
        yield f"# {facts['sources'][name]}"
    yield "[devices]"
    yield from (f"{key(name)} = {array(ips)}" for name, ips in facts["devices"].items())
    yield ""


def render(facts):
    order = labels_of(facts)
    lines = list(head_lines(facts, order))
    for label in order:
        lines += label_lines(facts, label)
    for release in facts["releases"]:
        lines += release_lines(release, order)
    for feature in facts["features"]:
        lines += feature_lines(feature)
    return "\n".join(lines).rstrip("\n") + "\n"


def check(text):
    committed = FAMILY.read_text(encoding="utf-8")
    if committed == text:
        print(f"{FAMILY.name} is what {FACTS.name} makes")
        return 0
    difference = difflib.unified_diff(committed.splitlines(), text.splitlines(), f"{FAMILY.name}, committed",
                                      f"{FAMILY.name}, from {FACTS.name}", lineterm="")
    print("\n".join(difference))
    print(f"{FAMILY.name} is not what {FACTS.name} makes: run {Path(__file__).name}", file=sys.stderr)
    return 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    arguments = parser.parse_args()
    text = render(json.loads(FACTS.read_text(encoding="utf-8")))
    if arguments.check:
        return check(text)
    FAMILY.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
