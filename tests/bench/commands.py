"""Whole commands: wall time and peak memory, beside an empty process of the same run.

usage: commands.py BIN SOURCE_DIR [RUNS]

Every command is run in turn with /bin/true, RUNS times (31); medians are compared with their bars.
"""

import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import zipfile

from processes import measure, paired, report
from torch_pages import publish_stack

BIN = pathlib.Path(sys.argv[1])
SOURCE = pathlib.Path(sys.argv[2])
RUNS = int(sys.argv[3]) if len(sys.argv) > 3 else 31
PYTHON = "/usr/bin/python3" if os.access("/usr/bin/python3", os.X_OK) else sys.executable


def series(command, environment, prepare=lambda: None):
    return paired(RUNS, (command, environment), (["/bin/true"], environment), prepare)


def write_plain(variant_wheel, plain):
    """The wheel without its label: no variant.json, no line of it in RECORD."""
    with zipfile.ZipFile(variant_wheel) as source, zipfile.ZipFile(plain, "w", zipfile.ZIP_DEFLATED) as target:
        for name in source.namelist():
            data = source.read(name)
            if name.endswith(".dist-info/RECORD"):
                data = b"".join(line for line in data.splitlines(True) if b"/variant.json," not in line)
            if not name.endswith(".dist-info/variant.json"):
                target.writestr(name, data)


def against_pip(folder, environment):
    """The same files as a plain wheel, which pip can install as well, by both in turn."""
    if subprocess.run([PYTHON, "-m", "pip", "--version"], capture_output=True, env=environment).returncode != 0:
        print("pip: skipped, this Python has none")
        return
    null = next((folder / "wheels").glob("*-null.whl"))
    plain = folder / "plain" / null.name.replace("-null.whl", ".whl")
    plain.parent.mkdir()
    write_plain(null, plain)
    place = folder / "pip-venv"
    source = ["--no-index", "--find-links", str(plain.parent), "axle-runtime"]
    commands = {
        "variant": [str(BIN / "variant"), "install", "--python", str(place), *source],
        "pip": [PYTHON, "-m", "pip", "--python", str(place), "--disable-pip-version-check", "install", *source]}
    took = {name: [] for name in commands}
    for _ in range(max(3, RUNS // 6)):
        for name, command in commands.items():
            shutil.rmtree(place, ignore_errors=True)
            subprocess.run([PYTHON, "-m", "venv", "--without-pip", str(place)], env=environment, check=True)
            took[name].append(measure(command, environment)[0])
    ours, theirs = (statistics.median(took[name]) for name in ("variant", "pip"))
    print(f"the null variant as a plain wheel: variant {ours:.0f} ms, pip {theirs:.0f} ms: {theirs / ours:.0f} times as fast")


def resolve_stack(folder, environment):
    """Every page is asked for again and answered with 304: the server's time is in the figure."""
    publish_stack(SOURCE, folder / "stack")
    (folder / "empty").mkdir()
    with subprocess.Popen([BIN / "index_server", folder / "stack"], stdout=subprocess.PIPE, text=True) as server:
        try:
            resolve = [str(BIN / "variant"), "resolve", "torch", "torchvision", "torchaudio", "--for", "gtx1080ti",
                       "--family", f"torch=http://127.0.0.1:{int(server.stdout.readline())}", "--index-url",
                       (folder / "empty").as_uri(), "--python", str(folder / "venv")]
            subprocess.run(resolve, env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            return report("variant resolve, torch's family", *series(resolve, environment), 25)
        finally:
            server.terminate()


def main():
    variant = str(BIN / "variant")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="axle-bench-"))
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "PIP_CONFIG_FILE": "/dev/null",
                   "AXLE_CACHE_DIR": str(folder / "cache")}
    try:
        met = report("variant detect", *series([variant, "detect"], environment), 5, 20)
        run = lambda *line: subprocess.run(line, env=environment, check=True, stdout=subprocess.DEVNULL)
        run(variant, "build", str(SOURCE / "runtime"), "--arch", os.uname().machine, "--no-cache", "--out", str(folder / "wheels"), "--quiet")
        run(variant, "index", "build", str(folder / "wheels"), "--out", str(folder / "index"), "--quiet")
        run(PYTHON, "-m", "venv", "--without-pip", str(folder / "venv"))
        install = [variant, "install", "axle-runtime", "--python", str(folder / "venv"), "--index-url",
                   (folder / "index/simple").as_uri()]
        clean = lambda: subprocess.run([variant, "uninstall", "axle-runtime", "--python", str(folder / "venv")],
                                       env=environment, capture_output=True)
        met &= report("variant install, store warm", *series(install, environment, clean), 100)

        def forget():
            clean()
            shutil.rmtree(folder / "cache", ignore_errors=True)

        met &= report("variant install, nothing cached", *series(install, environment, forget), 100)
        met &= resolve_stack(folder, environment)
        against_pip(folder, environment)
        return 0 if met else 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)


sys.exit(main())
