"""Never torn: kills and faults of every kind at random places of changes to one environment, from a seed. After each the next command
finds the old or the new set of packages, whole, the exit code says which, and every file of the user is as it was. Whether
it is so is judged from the wheels and RECORD alone. AXLE_SOAK=full makes 10,000; AXLE_SOAK_SEED=N repeats one round."""

import base64
import collections
import concurrent.futures
import contextlib
import csv
import hashlib
import itertools
import json
import os
import pathlib
import random
import resource
import shutil
import subprocess
import sys
import time
import traceback
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from loopback import Loopback
from support import BIN, VARIANT, Index, TestCase, Wheel, record_hash

FULL = os.environ.get("AXLE_SOAK") == "full"
WANTED = 10_000 if FULL else 150
FAULTS_OF_A_ROUND = 100 if FULL else 50
ERRORS = ("ENOSPC", "EIO", "EACCES", "EROFS", "EDQUOT", "ESTALE")
YEAR = 365 * 86400
LEFT = {"lock", "unflushed", "history", "class"}


def wheels():
    """Each with all that an installer writes; the second version drops, adds and keeps files."""
    made = []
    for name in ("alpha", "beta"):
        for version in ("1.0", "2.0"):
            files = {f"{name}/__init__.py": f"version = '{version}'\ndef main():\n    print(version)\n",
                     f"{name}/{'newer' if version == '2.0' else 'older/deep'}.py": f"x = '{version}'\n", f"{name}/same.py": "always = 1\n",
                     f"{name}_single.py": f"y = '{version}'\n", f"shared/{name}.py": f"z = '{version}'\n",
                     f"{name}-{version}.dist-info/entry_points.txt": f"[console_scripts]\n{name}-say = {name}:main\n"}
            made.append(Wheel(name, version, files=files))
    return made


class Torn(Exception):
    pass


class Judge:
    """Knows the wheels, the empty environment and the user's files, and nothing of Axle but the name of its folder."""

    def __init__(self, venv, site, made):
        self.venv, self.site = venv, site
        self.members = {(one.name, one.version): one.members for one in made}
        self.mine = {"bin/my-tool": "#!/bin/sh\n", f"{self.inside(site)}/mine.py": "mine = 1\n",
                     f"{self.inside(site)}/alpha/notes.txt": "of the user\n", f"{self.inside(site)}/shared/mine/data.txt": "too\n"}
        for path, text in self.mine.items():
            (venv / path).parent.mkdir(parents=True, exist_ok=True)
            (venv / path).write_text(text)
        self.empty = self.files()

    def inside(self, path):
        return os.path.relpath(path, self.venv)

    def files(self):
        found = set()
        for place, folders, names in os.walk(self.venv):
            if place == str(self.venv) and ".axle" in folders:
                folders.remove(".axle")
            found.update(self.inside(os.path.join(place, name)) for name in names)
        return found

    def check_record(self, info, name, version):
        """The paths that the package owns."""
        owned = set()
        for path, digest, size in csv.reader((info / "RECORD").read_text().splitlines()):
            file = self.site / path
            if not file.is_file():
                raise Torn(f"{name} {version} lacks {path}")
            owned.add(os.path.normpath(self.inside(file)))
            if not digest:
                if not path.endswith((".dist-info/RECORD", ".pyc")):
                    raise Torn(f"no hash of {path}")
                continue
            content = file.read_bytes()
            seen = "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            if (seen, str(len(content))) != (digest, size):
                raise Torn(f"{path} is not what RECORD says")
        for path, text in self.members[name, version].items():
            if (self.site / path).read_text() != text:
                raise Torn(f"{path} is not that of {name} {version}")
        if f"bin/{name}-say" not in owned:
            raise Torn(f"{name} {version} has no script")
        return owned

    def look(self):
        """What is installed."""
        owned, found = set(), {}
        for info in self.site.glob("*.dist-info"):
            name, version = info.name.removesuffix(".dist-info").split("-")
            if name in found:
                raise Torn(f"{name} is there twice")
            found[name] = version
            owned |= self.check_record(info, name, version)
        for path, text in self.mine.items():
            if not (self.venv / path).is_file() or (self.venv / path).read_text() != text:
                raise Torn(f"the user's file {path} is lost")
        now = self.files()
        if self.empty - now:
            raise Torn(f"gone: {self.empty - now}")
        for path in now - self.empty - owned:
            folder, _, name = path.rpartition("/__pycache__/")
            if not name.endswith(".pyc") or f"{folder}/{name.split('.')[0]}.py" not in owned:
                raise Torn(f"nobody owns {path}")
        if left := {one.name for one in (self.venv / ".axle").glob("*")} - LEFT:
            raise Torn(f".axle has {left}")
        return found


class Command:
    """Words for the program, and what they make of a set of packages."""

    def __init__(self, words, new):
        self.words, self.new = words, new

    @property
    def kind(self):
        return " ".join(word for word in self.words if not word.startswith("/"))


class Cut:
    """An index of the same wheels whose answers end in the middle after so many bytes."""

    def __init__(self, case, made):
        self.server = Loopback(case)
        self.server.publish("/simple", *made)
        self.left = 0
        for path, (status, headers, body) in list(self.server.answers.items()):
            self.server.answers[path] = self.answer(status, headers, body)

    def answer(self, status, headers, body):
        body = body.encode() if isinstance(body, str) else body

        def send(handler):
            part, self.left = body[:max(0, self.left)], self.left - len(body)
            handler.close_connection = self.left < 0
            with contextlib.suppress(OSError):  # the other side has ended
                handler.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(body))}.items():
                    handler.send_header(name, value)
                handler.end_headers()
                handler.wfile.write(part)
        return send


class Round(TestCase):
    """An environment through so many faults; one of them is a process's work."""

    def runTest(self):
        """Not run by unittest: `play` goes through it."""

    def prepare(self, seed):
        self.setUp()
        self.seed, self.random, self.calls = seed, random.Random(seed), {}
        self.met, self.log = collections.Counter(), []
        self.cache = self.root / "cache"
        self.env |= {"AXLE_CACHE_DIR": str(self.cache), "TMPDIR": str(self.root / "tmp"), "PYTHONDONTWRITEBYTECODE": "1"}
        (self.root / "tmp").mkdir()
        self.project = self.root / "project"
        self.project.mkdir()
        self.venv = self.project / ".venv"
        self.make_venv()
        made = wheels()
        self.judge = Judge(self.venv, self.site(), made)
        self.index, self.cut = Index(self.root / "index"), Cut(self, made)
        for wheel in made:
            self.index.add_wheel(wheel)
        self.run_words(["list"])
        self.state = self.judge.look()
        self.lock_projects()

    def lock_projects(self):
        """Of each set of packages the files of a project that is locked to it."""
        self.locked = []
        for alpha, beta in itertools.product((None, "1.0", "2.0"), repeat=2):
            wanted = {name: version for name, version in (("alpha", alpha), ("beta", beta)) if version}
            (self.project / "pyproject.toml").write_text(
                f"[project]\nname = 'project'\nversion = '1'\ndependencies = {[f'{name}=={version}' for name, version in wanted.items()]}\n")
            (self.project / "axle.lock").unlink(missing_ok=True)
            code, out, err = self.run_words(["lock"])
            if code != 0:
                raise Torn(f"lock: exit {code} {out} {err}")
            files = {path: path.read_bytes() for path in self.project.iterdir() if path.is_file()}
            self.locked.append((wanted, files))

    def syncing(self):
        wanted, files = self.random.choice(self.locked)
        for path, content in files.items():
            path.write_bytes(content)
        return Command(["sync", "--frozen"], wanted)

    def start(self, words, shim=None, files=None, index=None):
        mark = self.root / "mark"
        environment = {"LD_PRELOAD": str(BIN / "libfault_shim.so"), "AXLE_FAULT_MARK": str(mark)} if shim else {}
        environment |= {f"AXLE_FAULT_{key}": str(value) for key, value in (shim or {}).items()}
        source = ["-i", index or self.index.url] if words[0] in ("install", "lock") else []
        limit = None if files is None else lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
        return subprocess.Popen([str(VARIANT), *words, *source, "--python", str(self.venv)], env={**self.env, **environment}, cwd=self.project,
                                text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=limit)

    def run_words(self, words, **how):
        process = self.start(words, **how)
        out, err = process.communicate(timeout=120)
        return process.returncode, out, err

    def has_met(self):
        """Whether the fault of the last command took place."""
        mark = self.root / "mark"
        met = mark.exists()
        mark.unlink(missing_ok=True)
        return met

    # The commands

    def choose(self):
        pick, state = self.random.choice, self.state
        name = pick(("alpha", "beta"))
        other = "beta" if name == "alpha" else "alpha"
        version, more = pick(("1.0", "2.0")), pick(((), (), ("--compile-bytecode",), ("--reinstall",)))
        turn = self.random.random()
        if turn < 0.1 and (undone := self.undoing()):
            return undone
        if turn < 0.2:
            return self.syncing()
        if turn < 0.35 and state:
            gone = self.random.sample(sorted(state), self.random.randint(1, len(state)))
            return Command(["uninstall", *gone], {one: kept for one, kept in state.items() if one not in gone})
        if turn < 0.5:
            wanted = {name: version, other: pick(("1.0", "2.0"))}
            return Command(["install", *(f"{one}=={number}" for one, number in wanted.items()), *more], wanted)
        if turn < 0.6:
            return Command(["install", "-U", name], {**state, name: "2.0"})
        return Command(["install", f"{name}=={version}", *more], {**state, name: version})

    def undoing(self):
        more = self.random.choice(([], ["--redo"]))
        code, out, _ = self.run_words(["undo", *more, "--dry-run", "--json"])
        if code != 0:
            return None
        told, new = json.loads(out), dict(self.state)
        for one in told["removed"]:
            new.pop(one["name"], None)
        return Command(["undo", *more], new | {one["name"]: one["version"] for one in told["installed"]})

    # The faults: each returns how often something was killed or went wrong.

    def at(self, command):
        return self.random.randint(1, self.calls.get(command.kind, 80))

    def learn(self, command, at, met):
        known = self.calls.get(command.kind, 80)
        self.calls[command.kind] = max(known, at + 20) if met else max(at - 1, 10)

    def strike(self, kind, command, action, *, mode="once", codes=(0, 1), either=False, index=None):
        """One command with a fault of the shim; then the next one finds the environment whole."""
        at = self.at(command)
        code, _, err = self.run_words(command.words, shim={"AT": at, "ACTION": action, "MODE": mode}, index=index)
        met = self.has_met()
        self.learn(command, at, met)
        self.settle(kind, command, f"{action} {mode} at {at}", code, err, codes, either)
        self.met[kind] += met

    def settle(self, kind, command, fault, code, err, codes, either):
        self.log.append(f"{self.state}: {' '.join(command.words)}: {fault}: exit {code} {err.strip()[-600:]}")
        if code not in codes:
            raise Torn(f"exit {code} is none of {codes}")
        if code == 1 and "error: " not in err:
            raise Torn("it failed without a word")
        killed = code == -9
        while killed and self.random.random() < 0.4:  # of what finishes it, too
            if self.run_words(["list"], shim={"AT": self.random.randint(1, 12), "ACTION": "kill"})[0] == -9:
                self.met["kill of a recovery"] += 1
            self.has_met()
        allowed = [self.state, command.new] if killed or either else [command.new if code == 0 else self.state]
        self.find(allowed)

    def find(self, allowed):
        code, out, err = self.run_words(["list", "--json"])
        if code != 0:
            raise Torn(f"list: exit {code} {err}")
        listed = {one["name"]: one["version"] for one in json.loads(out)["packages"]}
        found = self.judge.look()
        if listed != found:
            raise Torn(f"list says {listed}, but there is {found}")
        if found not in allowed:
            raise Torn(f"{found} is none of {allowed}")
        self.state = found

    def kill(self):
        self.strike("kill", self.choose(), "kill", codes=(0, 1, -9))

    def fail(self):
        error = self.random.choice(ERRORS)
        self.strike(error, self.choose(), error)

    def stay_broken(self):
        error = self.random.choice(("ENOSPC", "EIO", "EROFS"))
        self.strike(f"{error} from then on", self.choose(), error, mode="after", either=True)

    def shorten(self):
        self.strike("short writes", self.choose(), "short", codes=(0,))

    def jump(self):
        seconds = self.random.choice((-10 * YEAR, -3600, -3, 3600, 10 * YEAR))
        self.strike("clock jump", self.choose(), f"clock {seconds}", codes=(0,))

    def lose(self):
        """As NFS may: a call is repeated, and the answer is that of the repetition."""
        self.strike("lost answer", self.choose(), "lost")

    def vanish(self):
        place = self.random.choice((self.cache, self.cache / "store", self.cache / "store/wheels"))
        self.strike("store that vanishes", self.choose(), f"vanish {place}")
        for gone in self.root.rglob("*.gone-*"):
            shutil.rmtree(gone)

    def run_out_of_files(self):
        command, files = self.choose(), self.random.randint(4, 24)
        code, _, err = self.run_words(command.words, files=files)
        if code == 127 and "shared librar" in err:  # not even begun
            return
        self.settle("EMFILE", command, f"{files} open files", code, err, (0, 1), False)
        self.met["EMFILE"] += code != 0

    def cut_off(self):
        command = self.choose()
        shutil.rmtree(self.cache, ignore_errors=True)
        self.cut.left = self.random.randint(0, 6000)
        code, _, err = self.run_words([*command.words, *(["--retries", "0"] if command.words[0] == "install" else [])], index=self.cut.server.url("/simple"))
        self.settle("network cut", command, "cut", code, err, (0, 1), False)
        self.met["network cut"] += self.cut.left < 0

    def two_at_once(self):
        pair = [self.choose(), self.choose()]
        kinds = [one.words[0] for one in pair]
        if "undo" in kinds or kinds == ["sync", "sync"]:  # of two projects there is one folder
            return
        ats = [self.at(one) for one in pair]
        actions = [self.random.choice(("kill", "kill", "EIO", "ENOSPC")), self.random.choice(("kill", "short"))]
        running = [self.start(one.words, shim={"AT": at, "ACTION": action, "MARK": self.root / f"mark{i}"})
                   for i, (one, at, action) in enumerate(zip(pair, ats, actions))]
        codes = []
        for i, process in enumerate(running):
            _, err = process.communicate(timeout=120)
            codes.append(process.returncode)
            self.log.append(f"{self.state}: {' '.join(pair[i].words)}: {actions[i]} at {ats[i]}, two at once: exit {codes[i]} {err.strip()[-600:]}")
            mark = self.root / f"mark{i}"
            self.met[f"{actions[i]}, two at once"] += mark.exists()
            mark.unlink(missing_ok=True)
        if any(code not in (0, 1, -9) for code in codes):
            raise Torn(f"exits {codes}")
        self.find(self.outcomes(pair, codes))

    def outcomes(self, pair, codes):
        """What they leave, one after the other; who was killed made its change or did not."""
        found = []
        for order in ((0, 1), (1, 0)):
            for made in ((True, True), (True, False), (False, True), (False, False)):
                if any(code == 0 and not one or code == 1 and one for code, one in zip(codes, made)):
                    continue
                state = dict(self.state)
                for i in order:
                    if made[i]:
                        state = self.applied(pair[i], state)
                found.append(state)
        return found

    @staticmethod
    def applied(command, state):
        if command.words[0] == "sync":
            return dict(command.new)
        if command.words[0] == "uninstall":
            return {one: kept for one, kept in state.items() if one not in command.words[1:]}
        named = {word.split("==")[0] for word in command.words[1:] if not word.startswith("-")}
        return state | {one: number for one, number in command.new.items() if one in named}

    def go(self):
        kinds = [self.kill] * 8 + [self.fail] * 4 + [self.two_at_once] * 3 + [self.stay_broken, self.shorten, self.jump, self.lose, self.vanish,
                                                                                self.run_out_of_files, self.cut_off]
        turns = 0
        while self.met.total() < FAULTS_OF_A_ROUND:
            turns += 1
            self.assertLess(turns, 20 * FAULTS_OF_A_ROUND)
            if self.random.random() < 0.15:
                shutil.rmtree(self.cache / "store", ignore_errors=True)
            self.random.choice(kinds)()
        self.end()

    def end(self):
        """Nothing of the interrupted is left once another command has made all of it again."""
        shutil.rmtree(self.cache / "store/wheels", ignore_errors=True)
        for words in (["install", "alpha==1.0", "beta==1.0", "--reinstall"], ["check", "--deep"]):
            code, out, err = self.run_words(words)
            if code != 0:
                raise Torn(f"{words}: exit {code} {out} {err}")
        self.state = {}
        self.find([{"alpha": "1.0", "beta": "1.0"}])
        left = [*self.cache.glob("store/work-*"), *self.cache.glob("http-2/drafts/*"), *(self.root / "tmp").iterdir()]
        if left:
            raise Torn(f"left behind: {left}")


def play(seed):
    """What one round met, and what was torn."""
    one = Round()
    try:
        one.prepare(seed)
        one.go()
        return one.met, None
    except Exception as error:
        story = "\n".join([*one.log[-4:], "" if isinstance(error, Torn) else traceback.format_exc()])
        return one.met, f"round {seed} (AXLE_SOAK_SEED={seed}): {error}\n{story}"
    finally:
        one.doCleanups()


class NeverTorn(TestCase):
    def test_kills_and_faults_at_random_places(self):
        self.need_program_as_shipped()
        if not (BIN / "libfault_shim.so").exists():
            self.skipTest("the fault shim was not built (sanitizer builds have none)")
        only = os.environ.get("AXLE_SOAK_SEED")
        seeds = [int(only)] if only else range(1, WANTED // FAULTS_OF_A_ROUND + 1)
        met, torn, begun = collections.Counter(), [], time.monotonic()
        with concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
            for counts, story in pool.map(play, seeds):
                met += counts
                if story:
                    torn.append(story)
        for kind, count in met.most_common():
            print(f"{count:6} {kind}")
        print(f"{met.total():6} kills and faults in {len(seeds)} rounds and {time.monotonic() - begun:.0f} s, {len(torn)} torn")
        self.assertEqual(torn, [], "\n".join(torn))
        self.assertGreaterEqual(met.total(), len(seeds) * FAULTS_OF_A_ROUND)


class TheJudge(TestCase):
    """It sees what is torn: each case is one way to be so."""

    def test_what_is_torn_is_told(self):
        self.make_venv()
        made = wheels()
        judge, index = Judge(self.venv, self.site(), made), Index(self.root / "index")
        for wheel in made:
            index.add_wheel(wheel)
        self.assert_ok(self.install("alpha==1.0", "beta==2.0", "--no-cache", index=index))
        self.assertEqual(judge.look(), {"alpha": "1.0", "beta": "2.0"})
        site, whole = self.site(), self.root / "whole"
        shutil.copytree(self.venv, whole, symlinks=True)
        ways = {
            "lacks alpha/same.py": lambda: (site / "alpha/same.py").unlink(),
            "not what RECORD says": lambda: (site / "alpha/same.py").write_text("always = 2\n"),
            "is not that of alpha 1.0": lambda: self.lie(site / "alpha/same.py"),
            "nobody owns": lambda: (site / "alpha/newer.py").write_text(""),
            "is there twice": lambda: shutil.copytree(site / "alpha-1.0.dist-info", site / "alpha-2.0.dist-info"),
            "alpha 1.0 has no script": lambda: self.drop_row(site / "alpha-1.0.dist-info/RECORD", "alpha-say"),
            "user's file": lambda: (site / "alpha/notes.txt").unlink(),
            "gone: ": lambda: (self.venv / "pyvenv.cfg").unlink(),
            ".axle has": lambda: (self.venv / ".axle/transaction").mkdir(),
        }
        for words, tear in ways.items():
            with self.subTest(words):
                tear()
                self.assertRaisesRegex(Torn, words, judge.look)
                shutil.rmtree(self.venv)
                shutil.copytree(whole, self.venv, symlinks=True)

    @staticmethod
    def drop_row(record, word):
        record.write_text("".join(row for row in record.read_text().splitlines(True) if word not in row))

    def lie(self, file):
        """Another content, which RECORD has too."""
        record = self.site() / "alpha-1.0.dist-info/RECORD"
        data = b"always = 2\n"
        rows = [[row[0], record_hash(data), len(data)] if row[0] == "alpha/same.py" else row for row in csv.reader(record.read_text().splitlines())]
        with record.open("w", newline="") as out:
            csv.writer(out, lineterminator="\n").writerows(rows)
        file.unlink()
        file.write_bytes(data)


if __name__ == "__main__":
    unittest.main(defaultTest=["NeverTorn", "TheJudge"] if len(sys.argv) == 1 else None, verbosity=2)
