"""axle.lock as tests write it, by hand: what a lock of some wheels says."""

import hashlib
import json
import subprocess

from support import PYTHON

PYTHON_MINOR = subprocess.run([PYTHON, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], check=True,
                              capture_output=True, text=True).stdout.strip()

EVERY_LINUX = "system = linux and arch = x86_64 and glibc >= 2.17"


def row(key, value):
    return f"{key} = {json.dumps(value)}\n"


class LockText:
    def __init__(self, project, extras=None, groups=None):
        self.head = row("schema", 1) + row("made-by", "axle test") + row("inputs", "0" * 64)
        self.head += "[requests]\n" + row("project", project)
        for title, lists in (("extras", extras), ("groups", groups)):
            if lists:
                self.head += f"[requests.{title}]\n" + "".join(row(key, value) for key, value in lists.items())
        self.classes = ""
        self.packages = []

    def add_class(self, name, machine, holds=EVERY_LINUX, python=PYTHON_MINOR):
        self.classes += "[[class]]\n" + row("name", name) + row("machine", machine) + row("python", python) + row("holds", holds)
        return self

    def add_wheel(self, wheel, url, source="", extras=None, **more):
        """`more`: further keys, with _ for -."""
        text = row("name", wheel.name) + row("version", wheel.version) + row("wheel", wheel.file_name) + row("url", url)
        text += row("sha256", hashlib.sha256(wheel.bytes()).hexdigest()) + row("size", len(wheel.bytes()))
        text += row("source", source) if source else ""
        text += "".join(row(key.replace("_", "-"), value) for key, value in more.items())
        if extras:
            text += "[package.extras]\n" + "".join(row(key, value) for key, value in extras.items())
        self.packages.append((wheel.name, "[[package]]\n" + text))
        return self

    def add_built(self, name, version, built_from, **more):
        text = row("name", name) + row("version", version)
        text += "".join(row(key.replace("_", "-"), value) for key, value in more.items())
        text += "[package.built-from]\n" + "".join(row(key, value) for key, value in built_from.items())
        self.packages.append((name, "[[package]]\n" + text))
        return self

    def write(self, folder):
        text = self.head + self.classes + "".join(text for _, text in sorted(self.packages, key=lambda one: one[0]))
        (folder / "axle.lock").write_text(text)
        return text
