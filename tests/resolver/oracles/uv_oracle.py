#!/usr/bin/env python3
"""Asks uv and ours for an answer in random worlds (uv_worlds.py), and compares.

    uv_oracle.py WORLDS [COUNT [FIRST]]    WORLDS is the program of worlds_main.cpp

COUNT is 200, or 5,000 with AXLE_SOAK=full. Both must be solved or refused, and whatever is solved must keep every
requirement. An answer that is not uv's must follow from one of the rules.py, which the difference itself shows. With a
COUNT of 1 the world and both answers are printed. Exit codes: 0 all agree, 1 something differs, 77 skipped.
"""

import collections
import http.server
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import urllib.parse

SKIPPED = 77
UV = pathlib.Path(__file__).resolve().parents[3] / "build/peers/bin/uv"

try:
    import indexes
    import rules
    import uv_worlds
    from packaging.markers import default_environment
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name
    from packaging.version import Version
except ImportError as missing:
    print(f"skipped: {missing.name} is not there: ./dev setup brings it from the package index that pip is configured for")
    sys.exit(SKIPPED)


class Server:
    """One index at a time."""

    def __init__(self):
        outer = self
        self.answers = {}

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_GET(self):
                body = outer.answers.get(urllib.parse.unquote(self.path))
                self.send_response(404 if body is None else 200)
                self.send_header("Content-Type", "application/vnd.pypi.simple.v1+json" if self.path.endswith("/") else "text/plain")
                self.send_header("Content-Length", str(len(body or b"")))
                self.end_headers()
                self.wfile.write(body or b"")

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def url(self, place):
        return f"http://127.0.0.1:{self.server.server_port}{place}"


class Uv:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.server = Server()
        self.env = {"PATH": os.environ["PATH"], "HOME": folder, "UV_CACHE_DIR": folder + "/cache", "UV_NO_CONFIG": "1",
                    "UV_NO_MANAGED_PYTHON": "1", "NO_PROXY": "*"}

    def answer(self, place, world):
        """{name: version}, or None, and what it says."""
        self.server.answers = uv_worlds.published(place, world)
        command = [UV, "pip", "compile", "-", "--python", sys.executable, "--default-index",
                   self.server.url(place + "/simple"), "--no-annotate", "--no-header", "--quiet"]
        if world.get("strategy"):
            command += ["--index", self.server.url(place + "/first"), "--index-strategy", world["strategy"]]
        command += ["--no-build"] * (not world.get("built"))
        for package in world["packages"] if world.get("built") else []:
            command += ["--only-binary", package["name"]] * (package["name"] not in world["built"])
        command += ["--prerelease", "allow"] * world["prereleases"]
        for kind in ("constraints", "overrides"):
            listed = self.folder / f"{kind}.txt"
            listed.write_text("".join(need["text"] + "\n" for need in world[kind]))
            command += [f"--{kind}", listed]
        done = subprocess.run(command, input="".join(need["text"] + "\n" for need in world["requests"]), text=True,
                              capture_output=True, env=self.env)
        if done.returncode != 0:
            if "No solution found" not in done.stderr:
                raise RuntimeError(done.stderr)
            return None, done.stderr
        return dict(line.partition(";")[0].strip().split("==") for line in done.stdout.splitlines()), ""


def requirement(text):
    parsed = Requirement(text)
    parsed.name = canonicalize_name(parsed.name)
    return parsed


class Answer:
    """What a resolver chose, and what is active in it; read by `packaging` alone."""

    def __init__(self, world, picks):
        self.world, self.picks = world, picks
        self.environment = {**default_environment(), "python_full_version": world["python"]}
        self.releases = {package["name"]: {release["version"]: release for release in package["releases"]}
                         for package in indexes.counted(world)["packages"]}
        self.overrides = collections.defaultdict(list)
        for need in world["overrides"]:
            one = requirement(need["text"])
            self.overrides[one.name].append(one)
        self.requests = [one for need in world["requests"] for one in self.counted(requirement(need["text"]), set())]
        self.constraints = [requirement(need["text"]) for need in world["constraints"]]
        self.active = self.find_active()
        self.wants = collections.defaultdict(list)  # specifiers, and whether the user has them
        for need, owner in self.active:
            if need.name != owner:
                self.wants[need.name].append((need.specifier, owner is None))
        for need in self.constraints:
            self.wants[need.name].append((need.specifier, True))

    def is_built(self, name, version):
        """No wheel of the release can be used here, but its source distribution may be built."""
        release = self.releases[name][version]
        return (release.get("sdist", False) and name in self.world["built"] and
                not any(build["fits"] for build in release["builds"]))

    def needs(self, name):
        version = self.picks.get(name)
        release = self.releases.get(name, {}).get(version)
        if not release:
            return []
        if self.is_built(name, version):
            return release["sdist_needs"]
        return release["builds"][0]["needs"] if release["builds"] else []

    def age(self, name):
        version = self.picks[name]
        return self.releases[name][version].get("place", 0), Version(version)

    def holds(self, need, extras):
        marker = need.marker
        return marker is None or any(marker.evaluate({**self.environment, "extra": extra}) for extra in ("", *extras))

    def counted(self, need, extras):
        """It, or what overrides it: an override takes the place of its marker too, but for the extra it belongs to."""
        instead = self.overrides.get(need.name)
        of_extra = need.marker is not None and "extra" in str(need.marker)
        if (instead is None or of_extra) and not self.holds(need, extras):
            return []
        return [need] if instead is None else [one for one in instead if self.holds(one, extras)]

    def find_active(self):
        extras, active = {}, []
        todo = [(one, None) for one in self.requests]
        while todo:
            active += todo
            grown = set()
            for need, _ in todo:
                asked = {canonicalize_name(one) for one in need.extras}
                if need.name not in extras or not asked <= extras[need.name]:
                    extras.setdefault(need.name, set()).update(asked)
                    grown.add(need.name)
            known = {(str(need), owner) for need, owner in active}
            todo = []
            for name in sorted(grown):
                for need in self.needs(name):
                    for one in self.counted(requirement(need["text"]), extras[name]):
                        if (str(one), name) not in known:
                            todo.append((one, name))
        return active

    def pins(self, specifiers, version):
        return any(one.operator == "==" and not one.version.endswith(".*") for one in specifiers) and specifiers.contains(version, prereleases=True)

    def fault(self):
        """The requirement that is not kept; None: all are."""
        for need, owner in self.active:
            if need.name not in self.picks:
                return f"{need} of {owner} is missing"
        needless = set(self.picks) - {need.name for need, _ in self.active}
        if needless:
            return f"nobody needs {needless}"
        for name, version in self.picks.items():
            release = self.releases[name].get(version)
            usable = release and (self.is_built(name, version) or any(build["fits"] for build in release["builds"]))
            if not usable or not release["python_fits"]:
                return f"{name} {version} cannot be used here"
            for specifiers, _ in self.wants[name]:
                if not specifiers.contains(version, prereleases=True):
                    return f"{name} {version} is not in {specifiers}"
        return None

    def yanked(self, pinned):
        """Yanked releases in it that somebody pins, or that nobody does."""
        return [name for name, version in self.picks.items() if self.releases[name][version]["yanked"] and
                pinned == any(self.pins(specifiers, version) for specifiers, _ in self.wants[name])]

    def finals(self, name):
        return [version for version, release in self.releases[name].items()
                if not release["yanked"] and not Version(version).is_prerelease]

    def names_early(self, name):
        """The user names a pre-release of it."""
        return any(of_user and any(one.operator != "!=" and not one.version.endswith(".*") and Version(one.version).is_prerelease
                                   for one in specifiers) for specifiers, of_user in self.wants[name])

    def unasked(self):
        """Pre-releases that nobody asks for."""
        return [name for name, version in self.picks.items()
                if Version(version).is_prerelease and not self.world["prereleases"] and not self.names_early(name)
                and self.finals(name) and all(any(specifiers.contains(one) for one in self.finals(name)) for specifiers, _ in self.wants[name])
                and not any(self.pins(specifiers, version) for specifiers, _ in self.wants[name])]

    def early_by_packages(self):
        """Pre-releases that the user does not ask for: packages do, or nobody."""
        return {name for name, version in self.picks.items()
                if Version(version).is_prerelease and not self.world["prereleases"] and not self.names_early(name)
                and self.finals(name) and not any(of_user and (self.pins(specifiers, version) or not any(
                    specifiers.contains(one) for one in self.finals(name))) for specifiers, of_user in self.wants[name])}

    def in_request_order(self):
        return [self.age(one.name) for one in self.requests]

    def is_worse_than(self, other):
        """Nothing is newer in it, and something older."""
        both = [(self.age(name), other.age(name)) for name in set(self.picks) & set(other.picks)]
        return all(own <= its for own, its in both) and any(own < its for own, its in both)


def rule_for(ours, theirs):
    """The rule by which two sound answers differ; None: there is none."""
    built = [{name for name, version in one.picks.items() if one.is_built(name, version)} for one in (ours, theirs)]
    if built[1] and (built[0] < built[1] or (built[0] and built[0] != built[1])):
        return rules.WHEELS
    if ours.yanked(pinned=False):
        return None
    if ours.yanked(pinned=True) and not theirs.yanked(pinned=True):
        return rules.PINNED
    if any(ours.names_early(name) and Version(ours.picks[name]).is_prerelease for name in ours.picks
           if ours.picks[name] != theirs.picks.get(name)):
        return rules.NAMED
    if len(theirs.unasked()) > len(ours.unasked()) or (not ours.early_by_packages() and theirs.early_by_packages()):
        return rules.AT_LAST
    if (ours.unasked() and not theirs.unasked()) or ours.is_worse_than(theirs):
        return None
    return rules.FIRST_ASKED if ours.in_request_order() >= theirs.in_request_order() else None


def judge(world, ours, theirs):
    """What is wrong, or the rule, or neither."""
    ours = None if ours is None else Answer(world, ours)
    theirs = None if theirs is None else Answer(world, theirs)
    for whose, answer in (("ours", ours), ("uv", theirs)):
        if answer and answer.fault():
            return f"{whose}: {answer.fault()}", None
    if ours is theirs:
        return None, None
    if theirs is None:
        rule = rules.PINNED if ours.yanked(pinned=True) and not ours.yanked(pinned=False) else None
        return (None if rule else "uv has no answer"), rule
    if ours is None:
        return "uv has an answer", None
    if ours.picks == theirs.picks:
        return None, None
    rule = rule_for(ours, theirs)
    return (None if rule else "no rule explains it"), rule


def main(arguments):
    if not UV.exists():
        print("skipped: ./dev setup brings uv into build/peers")
        return SKIPPED
    usual = 5000 if os.environ.get("AXLE_SOAK") == "full" else 200
    count = int(arguments[1]) if len(arguments) > 1 else usual
    first = int(arguments[2]) if len(arguments) > 2 else 1
    worlds = [uv_worlds.Dice(seed).world() for seed in range(first, first + count)]
    done = subprocess.run([arguments[0]], input="".join(json.dumps(world) + "\n" for world in worlds), text=True,
                          stdout=subprocess.PIPE, check=True)
    for title in rules.undocumented():
        print(f"{title}: not in docs/requirements.md")
    wrong, by_rule, solved = len(rules.undocumented()), collections.Counter(), 0
    with tempfile.TemporaryDirectory(prefix="axle-uv-") as folder:
        uv = Uv(folder)
        for seed, world, line in zip(range(first, first + count), worlds, done.stdout.splitlines(), strict=True):
            answer = json.loads(line)["answer"]
            ours = {one["name"]: one["version"] for one in answer["chosen"]} if answer["solved"] else None
            theirs, error = uv.answer(f"/{seed}", world)
            fault, rule = judge(world, ours, theirs)
            by_rule[rule] += rule is not None
            solved += ours is not None
            wrong += fault is not None
            if fault or count == 1:
                print(f"seed {seed}: {fault or rule or 'the same'}\n{uv_worlds.described(world)}\nours: {ours} {answer['error']}\nuv:   {theirs} {error}")
    print(f"{count} worlds: {solved} solved, {count - solved} refused, {wrong} wrong; by rule: {dict(+by_rule)}")
    return 1 if wrong or (count > 1 and not 0 < solved < count) else 0


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(main(sys.argv[1:]))
