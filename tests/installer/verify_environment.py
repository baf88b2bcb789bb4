"""What the environment of this interpreter holds, judged without Axle.

Prints "name==version ..." sorted, on one line. Exits with 1 and the reason when anything is torn: a
RECORD that lies, a file that nobody owns, a module that does not import, a transaction left behind.

usage: verify_environment.py BASELINE    (a list of the files of the empty environment; made when missing)
"""

import base64
import hashlib
import importlib
import importlib.metadata
import os
import re
import subprocess
import sys
import sysconfig

PREFIX = os.path.realpath(sys.prefix)


def files_below(folder):
    found = set()
    for place, folders, files in os.walk(folder):
        if place == folder and ".axle" in folders:
            folders.remove(".axle")
        for name in files + [f for f in folders if os.path.islink(os.path.join(place, f))]:
            found.add(os.path.relpath(os.path.join(place, name), folder))
        if not folders and not files:
            found.add(os.path.relpath(place, folder) + "/")
    return found


def torn(why):
    print("torn: " + why)
    sys.exit(1)


def check_record(distribution, site):
    owned = set()
    for file in distribution.files or torn(f"{distribution.metadata['Name']} has no RECORD"):
        path = os.path.realpath(os.path.join(site, str(file)))
        if not os.path.isfile(path):
            torn(f"{distribution.metadata['Name']} lacks {file}")
        owned.add(os.path.relpath(path, PREFIX))
        content = open(path, "rb").read()
        if file.hash is None:
            if not str(file).endswith("RECORD"):
                torn(f"no hash for {file}")
            continue
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        if file.hash.mode != "sha256" or file.hash.value != digest or file.size != len(content):
            torn(f"the content of {file} is not what RECORD says")
    return owned


def check_scripts(distribution):
    for entry in distribution.entry_points:
        if entry.group != "console_scripts":
            continue
        script = os.path.join(sysconfig.get_path("scripts"), entry.name)
        run = subprocess.run([script], capture_output=True, text=True)
        if run.returncode != 0 or run.stdout.strip() != distribution.version:
            torn(f"script {entry.name}: {run.stdout}{run.stderr}")


def main():
    baseline_file = sys.argv[1]
    site = os.path.realpath(sysconfig.get_path("purelib"))
    if not os.path.exists(baseline_file):
        with open(baseline_file, "w") as file:
            file.write("\n".join(sorted(files_below(PREFIX))))
    baseline = set(open(baseline_file).read().split("\n"))
    owned, found = set(), []
    for distribution in importlib.metadata.distributions(path=[site]):
        found.append(f"{distribution.metadata['Name']}=={distribution.version}")
        owned |= check_record(distribution, site)
        module = re.sub(r"[-.]", "_", distribution.metadata["Name"])
        imported = importlib.import_module(module)
        if imported.__version__ != distribution.version:
            torn(f"{module} says that it is {imported.__version__}")
        for part in getattr(imported, "PARTS", []):
            if importlib.import_module(part).__version__ != distribution.version:
                torn(f"{part} is of another version than {module}")
        check_scripts(distribution)
    for name in files_below(PREFIX) - baseline - owned:
        cached = re.fullmatch(r"(.*)__pycache__/([^/]*?)\.[^./]+\.pyc", name)
        if cached and cached.group(1) + cached.group(2) + ".py" in owned:
            continue
        torn(f"nobody owns {name}")
    for name in baseline - files_below(PREFIX):
        if name and not name.endswith("/"):
            torn(f"{name} of the empty environment is gone")
    for name in ("transaction", "discard"):
        if os.path.exists(os.path.join(PREFIX, ".axle", name)):
            torn(f".axle/{name} is left behind")
    print(" ".join(sorted(found)))


main()
