"""Small worlds made by chance for two resolvers: extras, markers, pre-releases, yanked files, local versions, epochs,
requires-python, constraints and overrides, source distributions that may be built, two indexes, as indexes publish them.
uv_oracle.py asks both."""

import io
import json
import random
import re
import sys
import tarfile
import urllib.parse

from packaging.version import Version

LADDER = ["0.9", "1.0", "1.0.post1", "1.1a1", "1.1", "1.1+cpu", "1.1+local.2", "2.0.dev1", "2.0rc1", "2.0", "2.0.1",
          "2.1b2", "2.1", "3.0", "3.0+x", "3.1.dev2", "4.0", "1!0.5"]
ASKED_FOR = [*LADDER, "1", "2", "3", "2.0.0", "1.1.0"]
EXTRAS = ["x", "y", "x,y", "X_z"]
OF_EXTRA = ["extra == 'x'", "extra == 'y'", "extra == 'x-z'", "extra == 'X_Z'", "(extra == 'x' or extra == 'y')", "extra == 'x'"]
MARKERS = ["python_version < '3.9'", "python_version >= '3.8'", "sys_platform == 'linux'", "sys_platform == 'win32'",
           "python_full_version >= '3.8.1' and os_name == 'posix'", "platform_machine in 'x86_64 AMD64 aarch64'",
           "implementation_name != 'cpython'", "'linux' in sys_platform", "python_version not in '3.7, 3.8'",
           "sys_platform == 'linux' or python_version < '3'"]
# uv ignores an upper bound: none here excludes the Python that runs this.
PYTHONS = [">=3.99", ">=3.8,<4", ">=3.8", f"=={sys.version_info[0]}.{sys.version_info[1]}.*", "~=3.8", "!=3.7.*,>3"]


class Dice:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.names = ["a-b", "c", "d", "e", "f-g", "h", "i", "j"][:self.random.randint(2, 8)]
        self.density = self.random.randint(1, 4)
        # What complicates the rest is in some worlds only, and there often.
        self.has_early = self.chance(0.4)
        self.has_yanked = self.chance(0.3)
        self.has_local = self.chance(0.3)

    def chance(self, probability):
        return self.random.random() < probability

    def counts(self, version):
        return (self.has_early or not Version(version).is_prerelease) and (self.has_local or not Version(version).local)

    def version(self):
        return self.random.choice([one for one in ASKED_FOR if self.counts(one)])

    def specifiers(self):
        version = self.version()
        public = version.partition("+")[0]
        release = re.match(r"(\d+!)?\d+(\.\d+)*", public).group()
        forms = [f"=={version}", f"<{public}", f">={public}", f"=={version}", f"<{public}", f">={public}", f"=={version}",
                 f"<{public}", f"<={public}", f">{public}", f"!={version}", f"=={release}.*", f"!={release}.*",
                 f"~={public if '.' in release else release + '.0'}", f">={public},!={self.version()}", f">=1.0,<{public}"]
        place = self.random.randrange(2 * len(forms))
        return forms[place] if place < len(forms) else ""

    def requirement(self, name):
        name = self.random.choice([name, name, name.upper(), name.replace("-", "_"), name.replace("-", ".")])
        extras = f"[{self.random.choice(EXTRAS)}]" if self.chance(0.15) else ""
        return name + extras + self.specifiers()

    def dependency(self, owner):
        name = "ghost" if self.chance(0.02) else self.random.choice(self.names)
        text = f"{owner}[{self.random.choice(EXTRAS)}]" if name == owner else self.requirement(name)
        markers = []
        if name == owner or self.chance(0.15):
            markers.append(self.random.choice(OF_EXTRA))
        if self.chance(0.12):
            markers.append(f"({self.random.choice(MARKERS)})")
        return text + ("; " + " and ".join(markers) if markers else "")

    def release(self, owner, version):
        made = {"version": version, "yanked": self.has_yanked and self.chance(0.12), "requires_python": "",
                "python_fits": True, "builds": []}
        if self.chance(0.08):
            made["requires_python"] = self.random.choice(PYTHONS)
            made["python_fits"] = made["requires_python"] != ">=3.99"
        if self.chance(0.02):
            return made  # a source distribution
        needs = [{"text": self.dependency(owner)} for _ in range(self.random.randint(0, self.density))]
        for fits in self.random.choices([[True], [False], [False, True]], [90, 4, 6])[0]:
            made["builds"].append({"tags": "py3-none-any" if fits else "py3-none-win_amd64", "fits": fits, "needs": needs})
        return made

    def world(self):
        world = {"python_minor": sys.version_info[1], "python": ".".join(map(str, sys.version_info[:3])),
                 "prereleases": self.has_early and self.chance(0.1), "packages": []}
        for name in self.names:
            versions = [one for one in LADDER if self.counts(one)]
            some = self.random.sample(versions, min(len(versions), self.random.randint(1, 7)))
            world["packages"].append({"name": name, "releases": [self.release(name, one) for one in sorted(some, key=Version)]})
        world["requests"] = [{"text": self.request()} for _ in range(self.random.randint(1, 3))]
        world["constraints"] = [{"text": self.random.choice(self.names) + self.specifiers()}
                                for _ in range(self.random.choice([0] * 5 + [1, 2]))]
        world["overrides"] = [{"text": self.request()}] if self.chance(0.1) else []
        if self.chance(0.2):
            self.add_source_distributions(world)
        if self.chance(0.2):
            self.add_index(world)
        return world

    def add_source_distributions(self, world):
        everything = self.chance(0.5)
        world["built"] = [package["name"] for package in world["packages"] if everything or self.chance(0.6)]
        for package in world["packages"]:
            for release in package["releases"]:
                if self.chance(0.6 if release["builds"] else 0):
                    continue
                needs = [{"text": self.dependency(package["name"])} for _ in range(self.random.randint(0, self.density))]
                if release["builds"]:  # uv takes the metadata of any wheel for that of the release
                    needs = release["builds"][0]["needs"]
                release.update(sdist=True, sdist_builds=True, sdist_needs=needs)
                if self.chance(0.5):
                    release["builds"] = []

    def add_index(self, world):
        """Each version is in one of them: of two equal ones uv would look at the first alone."""
        world["strategy"] = self.random.choice(["first-index", "unsafe-first-match", "unsafe-best-match"])
        for package in world["packages"]:
            place = self.random.choice([(0,), (1,), (0, 1), (0, 1)])
            for release in package["releases"]:
                release["index"] = self.random.choice(place)

    def request(self):
        return self.requirement(self.random.choice(self.names)) + (f"; {self.random.choice(MARKERS)}" if self.chance(0.05) else "")


def metadata(name, release, needs):
    lines = ["Metadata-Version: 2.2", f"Name: {name}", f"Version: {release['version']}"]
    if release["requires_python"]:
        lines.append(f"Requires-Python: {release['requires_python']}")
    lines += [f"Requires-Dist: {need['text']}" for need in needs]
    lines += [f"Provides-Extra: {extra}" for extra in ("x", "y", "x-z")]
    return "\n".join(lines) + "\n"


def source_distribution(name, release):
    """One that states its metadata, so that nothing has to be built for them."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        text = metadata(name, release, release["sdist_needs"]).encode()
        member = tarfile.TarInfo(f"{name.replace('-', '_')}-{release['version']}/PKG-INFO")
        member.size = len(text)
        archive.addfile(member, io.BytesIO(text))
    return packed.getvalue()


def folder(world, release):
    """Of the index that has it."""
    return "first" if world.get("strategy") and not release["index"] else "simple"


def published(place, world):
    """What a server answers for the world's indexes at `place`, by path."""
    answers, pages = {}, {}
    for package in world["packages"]:
        name = package["name"]
        for release in package["releases"]:
            index = folder(world, release)
            names = [f"{name.replace('-', '_')}-{release['version']}-{build['tags']}.whl" for build in release["builds"]]
            for file, build in zip(names, release["builds"], strict=True):
                answers[f"{place}/{index}/files/{file}.metadata"] = metadata(name, release, build["needs"]).encode()
            if release.get("sdist") or not names:
                names.append(f"{name}-{release['version']}.tar.gz")
            if release.get("sdist"):
                answers[f"{place}/{index}/files/{names[-1]}"] = source_distribution(name, release)
            for file in names:
                entry = {"filename": file, "url": f"{place}/{index}/files/{urllib.parse.quote(file)}", "hashes": {},
                         "core-metadata": file.endswith(".whl"), "yanked": release["yanked"]}
                if release["requires_python"]:
                    entry["requires-python"] = release["requires_python"]
                pages.setdefault((index, name), []).append(entry)
    for (index, name), files in pages.items():
        page = {"meta": {"api-version": "1.1"}, "name": name, "versions": [], "files": files}
        answers[f"{place}/{index}/{name}/"] = json.dumps(page).encode()
    return answers


def described(world):
    """The world for a person to read."""
    lines = [f"{kind}: " + "  ".join(need["text"] for need in world[kind])
             for kind in ("requests", "constraints", "overrides") if world[kind]]
    lines += ["--pre"] * world["prereleases"]
    lines += [f"--{option}: {world[option]}" for option in ("strategy", "built") if world.get(option)]
    for package in world["packages"]:
        for release in package["releases"]:
            needs = [need["text"] for build in release["builds"][:1] for need in build["needs"]]
            marks = ["yanked"] * release["yanked"] + [f"Python {release['requires_python']}"] * bool(release["requires_python"])
            marks += [build["tags"] for build in release["builds"] if not build["fits"]] or ["sdist"] * (not release["builds"])
            marks += [f"index {release.get('index')}"] * bool(world.get("strategy"))
            marks += ["sdist with " + " ".join(need["text"] for need in release.get("sdist_needs", []))] * bool(release.get("sdist"))
            lines.append(f"  {package['name']} {release['version']} {' '.join(marks)}: {'   '.join(needs)}")
    return "\n".join(lines)
