"""An index on loopback that has pages and metadata files alone: thousands of releases are made in no time, and nothing can be
installed from it. `measured` runs a program on it."""

import json
import os
import subprocess

from loopback import Loopback

JSON = {"Content-Type": "application/vnd.pypi.simple.v1+json"}


class MetadataIndex:
    def __init__(self, case):
        self.server = Loopback(case)
        self.files = {}

    @property
    def url(self):
        return self.server.url("/simple")

    def publish(self, name, version, needs=(), python="", metadata=None):
        """`metadata`: instead of what `needs` and `python` say."""
        file = f"{name}-{version}-py3-none-any.whl"
        if metadata is None:
            metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
            metadata += f"Requires-Python: {python}\n" if python else ""
            metadata += "".join(f"Requires-Dist: {one}\n" for one in needs)
        self.server.answers[f"/files/{file}.metadata"] = (200, {"Content-Type": "text/plain"}, metadata)
        entry = {"filename": file, "url": f"/files/{file}", "hashes": {}, "core-metadata": True}
        self.files.setdefault(name, []).append({**entry, "requires-python": python} if python else entry)

    def serve(self):
        for name, files in self.files.items():
            page = {"meta": {"api-version": "1.1"}, "name": name, "versions": [], "files": files}
            self.server.answers[f"/simple/{name}/"] = (200, JSON, json.dumps(page))

    def asked(self):
        """Requests since the last call."""
        asked = self.server.asked()
        self.server.seen.clear()
        return asked


class Measured:
    """What a program answered, and what that took: seconds of CPU time, MiB of memory."""

    def __init__(self, case, command):
        out, err = case.root / "measured.out", case.root / "measured.err"
        with open(out, "w") as out_file, open(err, "w") as err_file:
            env = {**case.env, "UV_CACHE_DIR": str(case.root / "uv-cache"), "UV_NO_MANAGED_PYTHON": "1"}
            child = subprocess.Popen([str(word) for word in command], stdout=out_file, stderr=err_file, cwd=case.root,
                                     stdin=subprocess.DEVNULL, env=env)
            _, status, used = os.wait4(child.pid, 0)
            child.returncode = self.code = os.waitstatus_to_exitcode(status)
        self.out, self.err = out.read_text(), err.read_text()
        self.seconds, self.memory = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024

    @property
    def json(self):
        return json.loads(self.out)
