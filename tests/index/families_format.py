#!/usr/bin/env python3
"""Holds family files to the format of docs/families.md, with a reader that is not ours: Python's tomllib.

    families_format.py FOLDER [PAGE…]

checks every *.toml of FOLDER and every example in the Markdown pages, prints what is wrong, exit 1 if anything is
"""

import re
import sys
import tomllib
from pathlib import Path

PLATFORMS = {"linux_x86_64", "linux_aarch64", "windows_amd64", "windows_arm64", "macos_arm64"}
CONFIDENCES = {"measured", "high", "medium", "low", "unknown"}
CODE = {"nvidia": r"\d{1,2}\.\d", "amd": r"gfx[0-9a-f]{3,4}", "intel": r"[a-z0-9]+(-[a-z0-9]+)*"}
VERSION = r"\d+(\.\d+)*"

# Per table: key -> (type, whether it must be there)
FAMILY = {"schema": (int, True), "name": (str, True), "url": (str, True), "label-in": (str, True),
          "links": (bool, False), "page-list": (str, False), "torch": (str, False),
          "members": (list, True), "unlabelled": (list, False), "fallback": (list, False), "ended": (dict, False), "ended-platforms": (dict, False),
          "date": (str, True), "sources": (dict, True), "devices": (dict, False), "labels": (list, True),
          "releases": (list, True), "features": (list, False)}
LABEL = {"name": (str, True), "vendor": (str, False), "toolkit": (str, False), "cuda": (str, False),
         "driver": (str, False), "driver-windows": (str, False), "url": (str, False), "source": (list, True)}
RELEASE = {"version": (str, True), "date": (str, True), "source": (list, True), "goes-with": (dict, False),
           "default-index": (dict, False), "old-cxx-abi": (dict, False), "builds": (list, True)}
BUILD = {"label": (str, True), "platform": (str, True), "code": ((list, str), False), "ptx": ((list, str), False),
         "macos": (str, False), "cuda": (str, False), "driver": (str, False), "source": (list, True),
         "confidence": (str, True), "note": (str, False)}
FEATURE = {"name": (str, True), "title": (str, True), "releases": (str, True), "since": (str, False), "until": (str, False),
           "vendor": (str, False), "only": (bool, False), "labels": (list, False), "platforms": (list, False),
           "toolkit": (str, False), "needs": (list, False), "capability": (str, False), "cuda": (str, False),
           "gpus": (int, False), "discrete": (bool, False), "unproven": (str, False), "check": (str, False), "source": (list, True),
           "confidence": (str, True), "date": (str, False), "note": (str, False)}


class Family:
    def __init__(self, file, text):
        self.file = file
        self.problems = []
        self.used = set()
        self.table = tomllib.loads(text)

    def expect(self, holds, where, message):
        if not holds:
            self.problems.append(f"{self.file}: {where}: {message}")
        return holds

    def keys(self, table, known, where):
        """Whether the keys are known, of their types, and complete."""
        fine = True
        for key, thing in table.items():
            kind = known.get(key, (None, False))[0]
            fine &= self.expect(kind is not None, where, f"unknown key {key}")
            fine &= kind is None or self.expect(isinstance(thing, kind), where, f"{key} has the wrong type")
        for key, (_, needed) in known.items():
            fine &= self.expect(key in table or not needed, where, f"lacks {key}")
        return fine

    def sources(self, table, where):
        self.expect(table["source"], where, "a fact without a source")
        for source in table["source"]:
            self.expect(source in self.table["sources"], where, f"no source is called {source}")
            self.used.add(source)

    def check(self):
        if self.keys(self.table, FAMILY, "family"):
            self.check_head()
            self.check_labels()
            self.check_releases()
            self.check_features()
            unused = self.table["sources"].keys() - self.used
            self.expect(not unused, "sources", f"nobody uses {', '.join(sorted(unused))}")
        return self.problems

    def check_head(self):
        head = self.table
        self.expect(head["schema"] == 1, "schema", "is not 1")
        self.expect(not self.file.endswith(".toml") or f"{head['name']}.toml" == self.file, "name",
                    "is not the name of the file")
        self.check_url(head["url"], "url")
        self.expect(head["label-in"] in ("version", "folder", "built-for"), "label-in", "is an unknown place")
        self.expect(head["label-in"] != "built-for" or "fallback" not in head, "fallback", "is torch's to say")
        self.expect(("{torch}" in head["url"]) == ("page-list" in head), "page-list", "is for a URL with {torch}")
        self.expect("page-list" in head or "torch" not in head, "torch", "is for a URL with {torch}")
        self.expect(re.fullmatch(rf"(==|>=|<=|<|>){VERSION}", head.get("torch", ">=1")), "torch", "is no specifier")
        self.expect(head["label-in"] != "folder" or "{label}" in head["url"], "url", "has no {label}")
        self.expect(re.fullmatch(r"\d{4}-\d\d-\d\d", head["date"]), "date", "is not a date")
        names = head["members"] + head.get("unlabelled", [])
        self.expect(head["members"], "members", "is empty")
        self.expect(len(names) == len(set(names)), "members", "duplicate project")
        for name in names:
            self.expect(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name), "members", f"{name} is not normalised")
        for name, last in head.get("ended", {}).items():
            self.expect(name in head["members"][1:], "ended", f"{name} is not a further member")
            self.expect(re.fullmatch(VERSION, last), "ended", f"{last} is not a valid version")
        for platform, last in head.get("ended-platforms", {}).items():
            self.expect(platform in PLATFORMS | {"macos_x86_64"}, "ended-platforms", f"{platform} is not a platform")
            self.expect(re.fullmatch(VERSION, last), "ended-platforms", f"{last} is not a valid version")
        for name, ips in head.get("devices", {}).items():
            for ip in ips:
                self.expect(re.fullmatch(r"\d+\.\d+\.\d+", ip), "devices", f"{name}: {ip} is not a device IP")

    def check_url(self, url, where):
        self.expect(re.fullmatch(r"https://[a-z0-9.-]+(/[A-Za-z0-9._+{}-]+)*", url), where, "is no such address")
        self.expect(set(re.findall(r"{[^}]*}?", url)) <= {"{label}", "{version}", "{torch}"}, where, "has another mark")
        self.expect("{torch}" not in url or self.table.get("links"), where, "{torch} is for pages of links")
        by_release = "{version}" in self.table["url"]
        self.expect(("{version}" in url) == by_release, where, "all addresses have {version}, or none")

    def check_labels(self):
        self.labels = {}
        for label in self.table["labels"]:
            where = f"label {label.get('name')}"
            if not self.keys(label, LABEL, where):
                continue
            self.expect(label["name"] not in self.labels, where, "is duplicated")
            self.expect(re.fullmatch(r"[0-9a-z._]{1,16}", label["name"]), where, "cannot be a variant label")
            self.expect(label.get("vendor") in (*CODE, None), where, "has an unknown vendor")
            nvidia = label.get("vendor") == "nvidia"
            for key in ("toolkit", "cuda", "driver"):
                self.expect(key in label or not nvidia, where, f"lacks {key}")
            self.expect("cuda" not in label or nvidia, where, "has cuda without being NVIDIA's")
            if "url" in label:
                self.check_url(label["url"], where)
            self.sources(label, where)
            self.labels[label["name"]] = label
        for name in self.table.get("fallback", []):
            self.expect(name in self.labels, "fallback", f"{name} is not a valid label")

    def check_releases(self):
        seen = set()
        for release in self.table["releases"]:
            where = f"release {release.get('version')}"
            if not self.keys(release, RELEASE, where):
                continue
            self.expect(re.fullmatch(rf"{VERSION}|\*", release["version"]), where, "is not a valid version")
            self.expect(release["version"] not in seen, where, "is duplicated")
            seen.add(release["version"])
            self.expect(re.fullmatch(r"\d{4}-\d\d(-\d\d)?", release["date"]), where, "has no date")
            self.sources(release, where)
            for member, specifier in release.get("goes-with", {}).items():
                self.expect(member in self.table["members"][1:], where, f"{member} is not a further member")
                self.expect(re.fullmatch(rf"=={VERSION}(\.\*)?", specifier), where, f"{specifier} is not a specifier")
            self.check_builds(release, where)

    def check_features(self):
        titles, names = {}, []
        for feature in self.table.get("features", []):
            where = f"feature {feature.get('name')}"
            if not self.keys(feature, FEATURE, where):
                continue
            self.expect(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", feature["name"]), where, "is not a valid name")
            self.expect(titles.setdefault(feature["name"], feature["title"]) == feature["title"], where,
                        "has two titles")
            names += [feature["name"]] if names[-1:] != [feature["name"]] else []
            clause = rf"(==|>=|<=|<|>){VERSION}"
            self.expect(re.fullmatch(rf"{clause}(,{clause})*", feature["releases"]), where, "has no releases")
            self.expect(re.fullmatch(VERSION, feature.get("since", "1")), where, "since is not a valid version")
            self.expect(re.fullmatch(VERSION, feature.get("until", "1")), where, "until is not a valid version")
            since, until = ([int(part) for part in feature.get(key, missing).split(".")]
                            for key, missing in (("since", "0"), ("until", "9999")))
            self.expect(since < until, where, "ends before it begins")
            vendor = feature.get("vendor")
            self.expect(vendor in (*CODE, None), where, "has an unknown vendor")
            for label in feature.get("labels", []):
                known = self.expect(label in self.labels, where, f"{label} is not a valid label")
                self.expect(not known or vendor in (None, self.labels[label].get("vendor")), where,
                            f"{label} is another vendor's")
            self.expect(set(feature.get("platforms", [])) <= PLATFORMS, where, "has an unknown platform")
            for need in feature.get("needs", []):
                self.expect(re.fullmatch(r"[a-z0-9_]+ :: [a-z0-9_]+ :: [a-z0-9_.]+", need), where,
                            f"{need} is not a property")
            self.expect("capability" not in feature or vendor == "nvidia", where, "capability is NVIDIA's")
            self.expect(re.fullmatch(r"\d{1,2}\.\d", feature.get("capability", "9.0")), where, "has no capability")
            self.expect("cuda" not in feature or vendor == "nvidia", where, "cuda is NVIDIA's")
            self.expect("toolkit" not in feature or vendor in ("nvidia", "amd"), where, "toolkit is NVIDIA's and AMD's")
            for key in ("cuda", "toolkit"):
                self.expect(re.fullmatch(r"\d{1,2}\.\d{1,2}", feature.get(key, "9.0")), where, f"{key} is not a version")
            self.expect("check" not in feature or "unproven" in feature, where, "check is for what is unproven")
            self.expect("only" not in feature or vendor, where, "only the key vendor is missing")
            self.expect("gpus" not in feature or vendor, where, "gpus the key vendor is missing")
            self.expect("discrete" not in feature or vendor, where, "discrete the key vendor is missing")
            self.expect(feature["confidence"] in CONFIDENCES, where, "has an unknown confidence")
            self.sources(feature, where)
        self.expect(len(names) == len(set(names)), "features", "entries of one name are not adjacent")

    def check_builds(self, release, where):
        seen = set()
        for build in release["builds"]:
            here = f"{where}: {build.get('label')} on {build.get('platform')}"
            if not self.keys(build, BUILD, here):
                continue
            pair = build["label"], build["platform"]
            self.expect(pair not in seen, here, "is duplicated")
            seen.add(pair)
            self.expect(build["platform"] in PLATFORMS, here, "is not a platform")
            self.expect(build["confidence"] in CONFIDENCES, here, "has an unknown confidence")
            self.sources(build, here)
            if self.expect(build["label"] in self.labels, here, "has no such label"):
                self.check_code(build, self.labels[build["label"]].get("vendor"), here)
        for platform, labels in release.get("old-cxx-abi", {}).items():
            self.expect(platform in PLATFORMS and set(labels) <= set(self.labels), where, f"old-cxx-abi: {platform}")
        for platform, label in release.get("default-index", {}).items():
            self.expect((label, platform) in seen, where, f"default-index: {label} on {platform} is not a build")

    def check_code(self, build, vendor, where):
        self.expect(("code" in build) == (vendor is not None), where, "code is for builds with a vendor, and for all")
        self.expect("ptx" not in build or vendor == "nvidia", where, "has PTX without being NVIDIA's")
        for key in ("code", "ptx"):
            codes = build.get(key, "unknown")
            if codes == "unknown" or codes == "torch" and self.table["label-in"] == "built-for" and key == "code":
                continue
            if not self.expect(isinstance(codes, list) and codes, where, f"{key} is empty"):
                continue
            self.expect(len(codes) == len(set(codes)), where, f"{key} has one twice")
            for code in codes:
                self.expect(re.fullmatch(CODE[vendor], code), where, f"{code} is not a code of {vendor}")
                known = vendor != "intel" or code in self.table.get("devices", {})
                self.expect(known, where, f"{code} is not in [devices]")


def read_families(folder, pages):
    for path in sorted(Path(folder).glob("*.toml")):
        yield Family(path.name, path.read_text(encoding="utf-8"))
    for page in map(Path, pages):
        examples = re.findall(r"^```toml\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
        if not examples:
            sys.exit(f"{page}: has no example")
        yield from (Family(page.name, example) for example in examples)


def main():
    families = list(read_families(sys.argv[1], sys.argv[2:]))
    problems = [problem for family in families for problem in family.check()]
    print("\n".join(problems) or f"{len(families)} families obey the format")
    return 1 if problems or not families else 0


if __name__ == "__main__":
    sys.exit(main())
