"""Whether pip, uv and importlib.metadata go on working in an environment that Axle installed into."""

import json
import shutil
import subprocess

# In the environment's interpreter, with the pip of build/peers found as its __pip-runner__.py has it found: one start,
# one fork a command. Arguments: pip's folder, then the commands as JSON; "facts" is none of pip's.
BATCH = r'''
import importlib.metadata, json, os, sys, tempfile
from base64 import urlsafe_b64encode
from hashlib import sha256
from importlib.machinery import PathFinder

class Finder:
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return PathFinder.find_spec(name, [sys.argv[1]], target) if name == "pip" else None

sys.meta_path.insert(0, Finder())
from pip._internal.cli.main import main
from pip._vendor.packaging.requirements import Requirement

def facts():
    found = {}
    for dist in importlib.metadata.distributions():
        wrong = []
        for file in dist.files or []:
            path = file.locate()
            if not path.exists():
                wrong.append(f"{file} is gone")
            elif file.hash is not None:
                data = path.read_bytes()
                digest = urlsafe_b64encode(sha256(data).digest()).rstrip(b"=").decode()
                if file.hash.mode != "sha256" or file.hash.value != digest or file.size != len(data):
                    wrong.append(f"{file} is not what RECORD says")
        if dist.files is None:
            wrong.append("there is no RECORD")
        requirements = [str(Requirement(one)) for one in dist.requires or []]
        found[dist.metadata["Name"]] = {"version": dist.version, "requires": requirements, "wrong": wrong}
    print(json.dumps(found))
    return 0

answers = []
for command in json.loads(sys.argv[2]):
    out, err = tempfile.TemporaryFile(), tempfile.TemporaryFile()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        code = 99
        try:
            code = facts() if command == ["facts"] else main(command)
        except SystemExit as end:
            code = end.code or 0
        except BaseException:
            import traceback
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    out.seek(0)
    err.seek(0)
    answers.append([code, out.read().decode(), err.read().decode()])
print(json.dumps(answers))
'''


def normal(name):
    return name.lower().replace("_", "-").replace(".", "-")


def pip_batch(test, peers, venv, commands):
    """The answers of the commands as (exit code, stdout, stderr)."""
    folder = next((peers.parent / "lib").glob("python3*/site-packages"))
    done = subprocess.run([str(venv / "bin/python"), "-I", "-B", "-c", BATCH, str(folder), json.dumps(commands)],
                          env={"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_ROOT_USER_ACTION": "ignore", **test.env},
                          cwd=test.root, text=True, capture_output=True, timeout=300, stdin=subprocess.DEVNULL)
    test.assertEqual(done.returncode, 0, done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def left_behind(site, venv):
    """What an installer put into the virtual environment; `.lock` is uv's own."""
    own = ("python", "activate", "Activate", ".axle", ".lock", "pyvenv.cfg", "__pycache__")
    paths = [path for path in venv.rglob("*") if not any(part.startswith(own) for part in path.relative_to(venv).parts
                                                         if not part.startswith("python3."))]
    return sorted(str(path.relative_to(venv)) for path in paths
                  if (path.is_file() or path.parent == site) and not path.is_symlink())


def examine(test, venv, peers, make_wheel):
    """`make_wheel(name, requires)` writes a further wheel. The environment must be whole; in the end it is as before."""
    test.assert_ok(test.variant("check", "--python", venv))
    listed = test.installed(venv)
    versions = {normal(name): version for name, (version, label) in listed.items()}
    requires = [f"{name}=={version}" for name, version in versions.items()]
    by_pip, by_uv = make_wheel("neighbour-by-pip", requires), make_wheel("neighbour-by-uv", requires)
    quietly = ["--no-index", "--no-cache-dir", "--no-compile"]
    commands = [["facts"], ["list", "--format=json"], ["check"], ["freeze", "--all"], ["show", *versions],
                ["install", *quietly, str(by_pip)], ["check"], ["uninstall", "-y", "neighbour-by-pip"], ["freeze", "--all"]]
    answers = pip_batch(test, peers, venv, commands)
    for command, (code, out, err) in zip(commands, answers):
        test.assertEqual(code, 0, f"pip {' '.join(command)}: {out}{err}")
        test.assertNotIn("WARNING", err, f"pip {' '.join(command)}")
    facts, pip_list, pip_show = json.loads(answers[0][1]), json.loads(answers[1][1]), answers[4][1]
    for name, one in facts.items():
        test.assertEqual(one["wrong"], [], name)
        test.assertFalse([line for line in one["requires"] if "variant_" in line], name)
    test.assertEqual({normal(name): one["version"] for name, one in facts.items()}, versions)
    test.assertEqual({normal(one["name"]): one["version"] for one in pip_list}, versions)
    frozen = test.assert_ok(test.variant("freeze", "--python", venv)).out.splitlines()
    test.assertEqual(sorted(answers[3][1].splitlines()), sorted(frozen))
    test.assertEqual(answers[8][1], answers[3][1])
    shown = test.assert_ok(test.variant("show", *versions, "--json", "--python", venv)).json["packages"]
    for one, block in zip(shown, pip_show.split("\n---\n")):
        lines = dict(line.split(":", 1) for line in block.splitlines() if ":" in line)
        needs = [word.strip() for word in lines["Requires"].split(",") if word.strip()]
        test.assertEqual((lines["Name"].strip(), sorted(map(normal, needs))),
                         (one["name"], sorted(map(normal, one["requires"]))))
    uv_works(test, venv, versions, by_uv)
    for remove in (remove_by_pip, remove_by_uv):
        copy = venv.parent / f"{venv.name}-for-{remove.__name__}"
        shutil.copytree(venv, copy, symlinks=True)
        remove(test, peers, copy, list(versions))
        test.assertEqual(left_behind(copy / test.site(venv).relative_to(venv), copy), [], remove.__name__)
        shutil.rmtree(copy)


def uv_works(test, venv, versions, wheel):
    python = ["--python", venv / "bin/python"]
    rows = json.loads(test.assert_ok(test.uv("pip", "list", "--format", "json", *python)).out)
    test.assertEqual({normal(one["name"]): one["version"] for one in rows}, versions)
    test.assert_ok(test.uv("pip", "check", *python))
    frozen = test.assert_ok(test.uv("pip", "freeze", *python)).out
    test.assert_ok(test.uv("pip", "install", "--no-index", *python, wheel))
    test.assert_ok(test.uv("pip", "check", *python))
    test.assert_ok(test.uv("pip", "uninstall", "neighbour-by-uv", *python))
    test.assertEqual(test.assert_ok(test.uv("pip", "freeze", *python)).out, frozen)


def remove_by_pip(test, peers, venv, names):
    [(code, out, err)] = pip_batch(test, peers, venv, [["uninstall", "-y", *names]])
    test.assertEqual(code, 0, out + err)


def remove_by_uv(test, peers, venv, names):
    test.assert_ok(test.uv("pip", "uninstall", *names, "--python", venv / "bin/python"))
