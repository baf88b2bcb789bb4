#!/usr/bin/env python3
"""Holds random worlds against a SAT solver: solved where there is a solution, by the rules, and none could be better.

    sat_oracle.py WORLDS [COUNT [FIRST]]    WORLDS is the program of worlds_main.cpp

COUNT is 2,000, or 100,000 with AXLE_SOAK=full. The rules are those of solver.h, written as clauses. Exit codes: 0 all agree, 1 something differs, 77 skipped.
"""

import collections
import functools
import itertools
import json
import os
import subprocess
import sys

try:
    import indexes
    from packaging.specifiers import SpecifierSet
    from packaging.version import Version
    from pysat.solvers import Solver
except ImportError as missing:
    print(f"skipped: {missing.name} is not there: ./dev setup brings it from the package index that pip is configured for")
    sys.exit(77)

SHAPE = (9, 6, 3)  # packages, releases, variants at most
BATCH = 2000
FROM_SOURCE = {"label": "", "level": "", "abi_package": "", "backend": "", "platform": ""}
BACKENDS = ["cu130", "cu126", "rocm6.4", "cpu", ""]  # the best first


@functools.cache
def parsed(version):
    return Version(version)


@functools.cache
def allows(specifiers, version):
    return SpecifierSet(specifiers).contains(parsed(version), prereleases=True)


@functools.cache
def pins(specifiers, version):
    return allows(specifiers, version) and any(
        one.operator == "==" and not one.version.endswith(".*") for one in SpecifierSet(specifiers))


@functools.cache
def names_prerelease(specifiers):
    return any(one.operator != "!=" and not one.version.endswith(".*") and parsed(one.version).is_prerelease
               for one in SpecifierSet(specifiers))


class Candidate:
    """A build that can be used here, what is made of a source distribution, or what is installed."""

    def __init__(self, number, name, version, needs, release=None, build=None, from_source=False):
        self.from_source = from_source
        self.number = number  # the variable
        self.name = name
        self.version = version
        self.needs = needs
        self.release = release
        self.build = build
        self.backend = build["backend"] if build else ""
        if self.backend:
            self.version += f"+{self.backend}"
        self.platform = build["platform"] if build else ""
        self.early = release is not None and parsed(version).is_prerelease
        self.yanked = release is not None and release["yanked"]

    def is_better_than(self, other):
        if self.from_source != other.from_source:
            return other.from_source
        if self.release is not other.release:
            return self.age() > other.age()
        if self.backend or other.backend:
            return BACKENDS.index(self.backend) < BACKENDS.index(other.backend)
        if self.build["abi_package"] or other.build["abi_package"]:
            return False
        return self.rank() > other.rank()

    def age(self):
        """Of two equal versions that of the earlier index is better."""
        return self.release.get("place", 0), parsed(self.release["version"]), -self.release["index"]

    def rank(self):
        if not self.build["label"]:
            return 0
        return 1 + int(self.build["level"][1:] or 0) if self.build["level"] else 1


class Problem:
    """A world as clauses. A node is a package, or an extra of one: (name, extra), extra "" for the package itself."""

    def __init__(self, world):
        self.world = world
        self.last = 0
        self.solver = Solver(name="cadical153")
        self.candidates = collections.defaultdict(list)
        self.nodes = {}
        self.supports = collections.defaultdict(list)  # node -> [(literal that asks for it, node that it comes from)]
        self.installed = {one["name"]: one for one in world["installed"]}
        self.releases = {one["name"]: one["releases"] for one in world["packages"]}
        self.about = collections.defaultdict(list)  # what the user says of a package
        self.pinned_by = collections.defaultdict(list)  # number of a yanked candidate -> literals that pin it
        requests = [one for need in world["requests"] for one in self.replaced(need)]
        for need in requests + world["constraints"] + world["overrides"]:
            self.about[need["name"]].append(need["specifiers"])
        self.add_candidates()
        for name, some in list(self.candidates.items()):
            self.add_package(name, some)
        for need in requests:
            self.add_need(need, [], None)
        members = world["family"]["members"]
        # Other members bring it along, with all that it requires, but are not brought in for that.
        for name in {one["name"] for one in world["installed"]} & set(members):
            for one in itertools.chain(*(self.candidates[other] for other in members if other != name)):
                if one.release:
                    self.supports[name, ""].append((one.number, (one.name, "")))
                    self.add([-one.number, self.node((name, ""))])
        for node, supports in list(self.supports.items()):
            self.add([-self.node(node), *[literal for literal, _ in supports]])
        for one in itertools.chain(*self.candidates.values()):
            if one.yanked and not any(pins(specifiers, one.version) for specifiers in self.about[one.name]):
                self.add([-one.number, *self.pinned_by[one.number]])
        for node in list(self.nodes):
            if node not in self.supports:
                self.add([-self.node(node)])
        self.add_neighbours()
        self.add_platforms()
        self.add_family()

    def add(self, clause):
        if None not in clause:
            self.solver.add_clause(clause)

    def variable(self):
        self.last += 1
        return self.last

    def node(self, node):
        if node not in self.nodes:
            self.nodes[node] = self.variable()
        return self.nodes[node]

    def is_installed(self, name, release, build):
        """The same version from another index is no other one: what is installed stays."""
        there = self.installed.get(name)
        return (there is not None and not build["label"] and build["backend"] == there["backend"]
                and parsed(release["version"]) == parsed(there["version"]))

    def add_candidates(self):
        for package in self.world["packages"]:
            for release in package["releases"]:
                for build in release["builds"]:
                    if build["fits"] and release["python_fits"] and not self.is_installed(package["name"], release, build):
                        self.candidates[package["name"]].append(
                            Candidate(self.variable(), package["name"], release["version"], build["needs"], release, build))
                may_build = release["sdist_builds"] and package["name"] in self.world["built"] and release["python_fits"]
                if may_build and not any(build["fits"] for build in release["builds"]):
                    self.candidates[package["name"]].append(
                        Candidate(self.variable(), package["name"], release["version"], release["sdist_needs"], release,
                                  FROM_SOURCE, from_source=True))
        for one in self.world["installed"]:
            there = Candidate(self.variable(), one["name"], one["version"], one["needs"])
            there.backend, there.platform = one["backend"], one["platform"]
            self.candidates[one["name"]].append(there)

    def add_package(self, name, some):
        present = self.node((name, ""))
        self.add([-present, *[one.number for one in some]])
        for one, other in itertools.combinations(some, 2):
            self.add([-one.number, -other.number])
        binding = [need["specifiers"] for need in self.world["constraints"] + self.world["overrides"] if need["name"] == name]
        for one in some:
            self.add([-one.number, present])
            if not all(allows(specifiers, one.version) for specifiers in binding):
                self.add([-one.number])
            for need in one.needs:
                for instead in self.replaced(need):
                    self.add_need(instead, [one.number], one, need["extra"])
            if one.build and one.build["abi_package"]:
                self.add_linked(one, one.build["abi_package"], f"=={one.build['abi_version']}.*")

    def add_linked(self, one, name, specifiers):
        fitting = [other.number for other in self.candidates.get(name, []) if allows(specifiers, other.version)]
        there = self.installed.get(name)
        if there and allows(specifiers, there["version"]):
            fitting.append(-self.node((name, "")))  # what is installed stays as it is
        self.add([-one.number, *fitting])

    def replaced(self, need):
        instead = [one for one in self.world["overrides"] if one["name"] == need["name"]]
        if instead:
            return instead if need["holds"] or not need["extra"] else []
        return [need] if need["holds"] else []

    def add_need(self, need, owner, candidate, extra=""):
        """`owner`: the literals under which it counts."""
        source = None
        if candidate:
            source = (candidate.name, extra)
            if extra:
                owner = [*owner, self.node(source)]
        if len(owner) == 2:  # one literal for both
            both = self.variable()
            for literal in owner:
                self.add([-both, literal])
            self.add([both, *[-literal for literal in owner]])
            owner = [both]
        if not owner:
            true = self.variable()
            self.add([true])
            owner = [true]
        refused = [-literal for literal in owner]
        own = candidate is not None and need["name"] == candidate.name
        fitting = [one.number for one in self.candidates.get(need["name"], [])
                   if own or allows(need["specifiers"], one.version)]
        self.add([*refused, *fitting])
        for one in self.candidates.get(need["name"], []):
            if one.yanked and not own and pins(need["specifiers"], one.version):
                self.pinned_by[one.number].append(owner[0])
        for node in [(need["name"], ""), *[(need["name"], one) for one in need["extras"]]]:
            self.add([*refused, self.node(node)])
            self.supports[node].append((owner[0], source))

    def add_neighbours(self):
        """What is installed and stays outside of the solution keeps what it has."""
        for name, one in self.breaking():
            self.add([self.node((name, "")), -one.number])

    def breaking(self):
        """What is installed, with what would break it."""
        for neighbour in self.world["installed"]:
            for need in neighbour["needs"]:
                there = self.installed.get(need["name"])
                if not need["holds"] or need["extra"] or not there or not allows(need["specifiers"], there["version"]):
                    continue
                for one in self.candidates[need["name"]]:
                    if not allows(need["specifiers"], one.version):
                        yield neighbour["name"], one

    def add_platforms(self):
        """One environment has the GPU libraries of one platform."""
        of_platform = {}
        for one in itertools.chain(*self.candidates.values()):
            if one.platform:
                self.add([-one.number, of_platform.setdefault(one.platform, self.variable())])
        for one in self.world["installed"]:  # it keeps its backend if it is replaced
            if one["platform"]:
                self.add([of_platform.setdefault(one["platform"], self.variable())])
        for one, other in itertools.combinations(of_platform.values(), 2):
            self.add([-one, -other])

    def add_family(self):
        """Its members have one backend, and the versions that the file says go together."""
        members = self.world["family"]["members"]
        for name, other_name in itertools.combinations(members, 2):
            for one, other in itertools.product(self.candidates[name], self.candidates[other_name]):
                if one.backend != other.backend:
                    self.add([-one.number, -other.number])
        for one in self.candidates[members[0]] if members else []:
            for need in one.release["goes_with"] if one.release else []:
                for other in self.candidates[need["name"]]:
                    if not allows(need["specifiers"], other.version):
                        self.add([-one.number, -other.number])

    def fallbacks(self):
        """Assumptions: no build for the CPU on a machine with a GPU, where the user allows a release that has another one."""
        left = set()
        for name in self.world["family"]["members"] if self.world["family"]["cuda"] else []:
            allowed = [one for one in self.candidates[name]
                       if all(allows(specifiers, one.version) for specifiers in self.about[name])]
            if any(one.backend != "cpu" for one in allowed):
                left |= {-one.number for one in self.candidates[name] if one.backend == "cpu"}
        return left

    def solve(self, assumptions):
        """Whether there is a solution in which all that is present is asked for, from the user on."""
        while True:
            if not self.solver.solve(assumptions=assumptions):
                return False
            true = {literal for literal in self.solver.get_model() if literal > 0}
            reached, grew = {None}, True
            while grew:
                grew = False
                for node, supports in self.supports.items():
                    if node not in reached and any(literal in true and source in reached for literal, source in supports):
                        reached.add(node)
                        grew = True
            loose = [node for node, variable in self.nodes.items() if variable in true and node not in reached]
            if not loose:
                return True
            outside = [literal for node in loose for literal, source in self.supports[node] if source not in loose]
            for node in loose:
                self.add([-self.nodes[node], *outside])

    def wished_by_user(self, one):
        """A pre-release that the user's requirements make count."""
        finals = [release for release in self.releases[one.name] if not parsed(release["version"]).is_prerelease]
        if self.world["prereleases"] or not finals:
            return True
        return any(names_prerelease(specifiers) or not self.has_final(one.name, specifiers)
                   for specifiers in self.about[one.name])

    def has_final(self, name, specifiers):
        return any(not parsed(release["version"]).is_prerelease and allows(specifiers, release["version"]) and
                   (not release["yanked"] or pins(specifiers, release["version"])) for release in self.releases[name])

    def unwished(self):
        """Assumptions: no pre-release that the user does not wish for."""
        return {-one.number for some in self.candidates.values() for one in some if one.early and not self.wished_by_user(one)}

    def yanked_by_packages(self):
        """Assumptions: no yanked release that the user does not pin. The pin of a package that is chosen counts, but no
        older release is chosen for its pin."""
        return [-one.number for one in itertools.chain(*self.candidates.values())
                if one.yanked and not any(pins(specifiers, one.version) for specifiers in self.about[one.name])]

    def kept_outside(self, picks):
        """Assumptions: nothing is brought in so that it may move."""
        return [-one.number for name, one in self.breaking() if name not in picks]


class Answer:
    """What was chosen, checked without the solver."""

    def __init__(self, problem, chosen):
        self.problem = problem
        self.picks = {}
        self.broken = None
        for choice in chosen:
            found = [one for one in problem.candidates.get(choice["name"], [])
                     if one.version == choice["version"] and (one.build is None) == choice["installed"]
                     and (one.build["label"] if one.build else "") == choice["label"]
                     and (one.release["index"] if one.build else 0) == choice["index"]]
            if not found:
                self.broken = f"{choice['name']} {choice['version']} cannot be used here"
                return
            self.picks[choice["name"]] = found[0]
        self.active = self.active_needs()

    def along(self):
        """Installed members of a family, which others of it bring along."""
        return [one["name"] for one in self.problem.world["installed"] if one["backend"]]

    def active_needs(self):
        active = [(need, None) for request in self.problem.world["requests"] for need in self.problem.replaced(request)]
        active += [({"name": name, "specifiers": "", "extras": [], "text": name}, None) for name in self.along() if name in self.picks]
        asked = set()
        for need, _ in active:  # grows
            pick = self.picks.get(need["name"])
            for extra in ["", *need["extras"]]:
                if pick is None or (need["name"], extra) in asked:
                    continue
                asked.add((need["name"], extra))
                active += [(one, need["name"]) for own in pick.needs if own["extra"] == extra
                           for one in self.problem.replaced(own)]
        return active

    def wants(self, name):
        world = self.problem.world
        return [need["specifiers"] for need, owner in self.active if need["name"] == name and owner != name] + [
            need["specifiers"] for need in world["constraints"] + world["overrides"] if need["name"] == name]

    def idle_gpu(self):
        """A build for the CPU where a GPU is, although whoever wants the package allows a release that has another one.
        Of a family it is the first member that is chosen which says it: the others have its backend."""
        world = self.problem.world
        leads = [name for name in world["family"]["members"] if name in self.picks][:1]
        for name in leads if world["family"]["cuda"] else []:
            one = self.picks[name]
            if one.backend == "cpu" and any(
                    other.backend != "cpu" and not other.early and not other.yanked and
                    all(allows(specifiers, other.version) for specifiers in self.wants(name)) and
                    all(allows(need["specifiers"], self.picks[need["name"]].version)
                        for need in other.release["goes_with"] if need["name"] in self.picks)
                    for other in self.problem.candidates[name]):
                return f"{name} {one.version} is for the CPU"
        return None

    def unasked(self):
        """Pre-releases and yanked releases that nobody in it wishes for."""
        for name, one in self.picks.items():
            wants = self.wants(name)
            pinned = any(pins(specifiers, one.version) for specifiers in wants)
            if one.yanked and not pinned:
                return f"{name} {one.version} is yanked"
            if one.early and not self.problem.wished_by_user(one):
                if all(self.problem.has_final(name, specifiers) for specifiers in wants):
                    return f"{name} {one.version} is a pre-release"
        return None

    def fault(self):
        """Why it is wrong; None: it is not."""
        if self.broken:
            return self.broken
        for need, owner in self.active:
            pick = self.picks.get(need["name"])
            if pick is None:
                return f"{need['text']} is missing"
            if need["name"] != owner and not allows(need["specifiers"], pick.version):
                return f"{need['text']} of {owner} is not met"
        superfluous = set(self.picks) - {need["name"] for need, _ in self.active}
        if superfluous:
            return f"nobody needs {superfluous}"
        return self.of_clauses()

    def of_clauses(self):
        """Constraints, what builds were linked with, and neighbours: the clauses say it."""
        problem = self.problem
        chosen = {one.number for one in self.picks.values()}
        everything = [one.number if one.number in chosen else -one.number
                      for some in problem.candidates.values() for one in some]
        return None if problem.solve(everything) else "a clause is broken"


def judge(world, answer):
    """What is wrong with the answer; None: nothing."""
    problem = Problem(indexes.counted(world))
    fallbacks = problem.fallbacks()
    if not answer["solved"]:
        # Whoever names a package wants that one: an older version that breaks nothing is not an answer.
        if answer["breaks_installed"] and {need["name"] for need in world["requests"]} & {one.name for _, one in problem.breaking()}:
            return None
        # The same of an installed build that has no successor with its backend.
        if answer["changes_backend"] and {need["name"] for need in world["requests"]} & set(world["family"]["members"]):
            return None
        kept = problem.kept_outside({}) if answer["breaks_installed"] else []
        return "there is a solution" if problem.solve([*problem.yanked_by_packages(), *fallbacks, *kept]) else None
    made = Answer(problem, answer["chosen"])
    fault = made.fault()
    if fault:
        return fault
    if made.idle_gpu():
        return made.idle_gpu()
    unasked = made.unasked()
    unwished = problem.unwished()
    # What a build was linked with is not brought in for it, and it may have been given up for that before.
    of_source = {-one.number for one in itertools.chain(*problem.candidates.values()) if one.from_source}
    left_alone = of_source | {-one.number for one in itertools.chain(*problem.candidates.values())
                  if one.yanked or one.build and one.build["abi_package"]} | fallbacks
    # The clauses know the wishes of the user for pre-releases alone: where those are not enough, one may be taken that a
    # package asked for which was left again.
    if unasked and (unasked.endswith("is yanked") or problem.solve(
            [*unwished, *problem.yanked_by_packages(), *fallbacks, *problem.kept_outside(made.picks)])):
        return f"{unasked} that nobody wishes for"
    if any(one.from_source for one in made.picks.values()):
        if problem.solve([*unwished, *problem.yanked_by_packages(), *fallbacks, *of_source]):
            return "nothing has to be built"
    if world["installed"]:
        return None
    chosen = {one.number for one in made.picks.values()}
    for name, pick in made.picks.items():
        better = {one.number for one in problem.candidates[name] if one.build and one.is_better_than(pick)}
        itself = of_source - unwished if pick.from_source else set()
        if not better:
            continue
        fixed = [one.number for other, one in made.picks.items() if other != name]
        which = problem.variable()
        problem.add([-which, *better])
        if problem.solve([which, *fixed, *((unwished | left_alone) - {-one for one in chosen} - (itself & {-one for one in better}))]):
            return f"{name} could be better"
    return None


def main(arguments):
    usual = 100_000 if os.environ.get("AXLE_SOAK") == "full" else 2000
    count = int(arguments[1]) if len(arguments) > 1 else usual
    first = int(arguments[2]) if len(arguments) > 2 else 1
    wrong, solved = [], 0
    for start in range(first, first + count, BATCH):
        some = min(BATCH, first + count - start)
        done = subprocess.run([arguments[0], *map(str, (start, some, *SHAPE))], text=True, stdout=subprocess.PIPE, check=True)
        for line in done.stdout.splitlines():
            both = json.loads(line)
            solved += both["answer"]["solved"]
            fault = judge(both["world"], both["answer"])
            if fault:
                wrong.append((fault, line))
    for fault, line in wrong[:20]:
        print(f"{fault}\n{line}")
    print(f"{count} worlds of at most {SHAPE[0]} packages, {SHAPE[1]} releases, {SHAPE[2]} variants: {solved} solved, "
          f"{count - solved} refused, {len(wrong)} wrong")
    return 1 if wrong or not 0 < solved < count else 0


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(main(sys.argv[1:]))
