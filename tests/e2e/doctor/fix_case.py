"""What `variant doctor` proposes, run as it stands: what the tests of fixes share."""

import json
import re
import subprocess

from doctor_case import DoctorTestCase, level_cpu
from support import BIN, PEERS, SOURCE, Index
from torch_index import TorchIndex, all_files


def family_file(url):
    """The shipped family of torch, at another address."""
    shipped = (SOURCE / "index/families/torch.toml").read_text()
    return re.sub(r'(?m)^url = ".*"$', f'url = "{url}"', shipped, count=1)


class FixTestCase(DoctorTestCase):
    def setUp(self):
        super().setUp()
        self.good = self.healthy_machine(cpu=level_cpu(3))
        self.index = Index(self.root / "the index")
        self.index.folder.mkdir()
        # As a user has it: an index that is configured, and the programs on the path.
        self.env |= {"PIP_INDEX_URL": self.index.url, "UV_INDEX_URL": self.index.url,
                     "PIP_DISABLE_PIP_VERSION_CHECK": "1", "UV_CACHE_DIR": str(self.root / "uv-cache"),
                     "PATH": f"{BIN}:{PEERS}:/usr/bin:/bin"}

    def publish(self, *wheels):
        for wheel in wheels:
            self.index.add_wheel(wheel)

    def publish_torch(self, *releases):
        folder = self.root / "torch-index"
        TorchIndex(folder, all_files(releases=releases)).write()
        families = self.root / "home/.config/axle/families"
        families.mkdir(parents=True, exist_ok=True)
        (families / "torch.toml").write_text(family_file(folder.as_uri()))

    def put_wheel(self, wheel):
        """As an installer leaves it."""
        for path, content in wheel.members.items():
            place = self.site() / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content.encode() if isinstance(content, str) else content)
        info = self.site() / wheel.dist_info
        (info / "RECORD").write_text(wheel.record())
        return info

    def line(self, machine, arguments, environment):
        words = ["variant", "doctor", "--json", *arguments]
        words += ["--for", machine] if machine is not None else []
        words += ["--python", self.venv] if environment else []
        return " ".join("'" + str(word).replace("'", "'\\''") + "'" for word in words)

    def fixes(self, code, machine=None, *arguments, environment=True, env=None, cwd=None, reveals=()):
        """The first finding of that code, its commands run in one shell, and doctor again: it is gone, and there are no
        new ones but what it hid."""
        line = self.line(machine, arguments, environment)
        more = {**self.env, **(env or {})}

        def run(script):
            return subprocess.run(["/bin/sh", "-c", script], env=more, cwd=cwd or self.root, text=True,
                                  capture_output=True, timeout=240, stdin=subprocess.DEVNULL)

        before = json.loads(run(line).stdout)["findings"]
        found = [one for one in before if one["code"] == code]
        self.assertTrue(found, f"{code} is not among {[one['code'] for one in before]}")
        commands = found[0]["fix"]
        self.assertTrue(commands, found[0])
        for command in commands:
            self.assertIn(command, found[0]["hint"])
        text = run(line.replace("'--json'", ""))
        self.assertIn(f"hint: {found[0]['hint']}\n", text.stdout)
        script = "set -e\n" + "\n".join(commands) + "\nset +e\necho '=====' \n" + line
        done = run(script)
        head, middle, tail = done.stdout.partition("=====")
        self.assertTrue(middle, f"{commands}\n{head}\n{done.stderr}")
        after = json.loads(tail)["findings"]
        self.assertNotIn((code, found[0]["subject"]), [(one["code"], one["subject"]) for one in after],
                         f"{commands}\n{head}\n{done.stderr}\n{after}")
        new = {one["code"] for one in after} - {one["code"] for one in before}
        self.assertEqual(new - set(reveals), set(), f"{commands}\n{after}")
        return found[0]

    def sound(self, machine=None):
        self.assertEqual(self.doctor(machine or self.good)["findings"], [])

    def need(self, program):
        if not (PEERS / program).exists():
            self.skipTest(f"{PEERS / program} is not there: ./dev setup brings it")
