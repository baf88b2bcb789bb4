"""`doctor` accepts the builds that `resolve` chooses: for machines and requests, what is resolved is put into an environment
by hand, and doctor looks at it with the same machine."""

import pathlib
import shutil
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from doctor_case import DoctorTestCase
from torch_index import TorchTestCase, everywhere

MACHINES = ["h100", "h100;nvidia:driver=550.54.14", "gtx1080ti", "v100", "t4", "a100", "rtx4090", "rtx5090", "b200", "gb10",
            "orin", "gtx750ti", "mi25", "mi300x", "mi355x", "rx7900xtx", "780m", "steamdeck", "bmg", "pvc", "none",
            "amd:gpu=mi25;amd:gpu=mi300x", "nvidia:gpu=h100,driver=580.65.06;amd:gpu=mi300x"]
PINNED = ["torch==2.14.1", "torchvision==0.29.1"]
REQUESTS = [["torch"], ["torch", "torchvision"], ["torchaudio"], ["torch", "torchvision", "torchaudio"],
            ["torch==2.9.1", "torchvision", "torchaudio"], ["torch==2.12.*", "torchaudio"], ["torchvision==0.20", "torchaudio"],
            ["torch<2.15", "torchvision"], PINNED, ["torch==2.11.0", "torchvision", "torchaudio"]]
OF_LABELS = {"family-labels-differ", "family-versions-differ", "variant-not-best", "variant-misfit"}


class Accepted(TorchTestCase, DoctorTestCase):
    FILES = staticmethod(everywhere)

    def put_resolved(self, packages):
        for place in self.site().iterdir():
            if place.name.startswith("torch"):
                shutil.rmtree(place) if place.is_dir() else place.unlink()
        for one in packages:
            note = {"family": one["family"], "label": one["variant"]} if one["family"] else None
            self.put(one["name"], one["version"], family=note)

    def test_what_is_resolved_has_no_finding_about_labels(self):
        looked_at = 0
        unlike = 0
        for request in REQUESTS:
            wanted = [word for one in MACHINES for word in ("--for", one)]
            found = self.family("resolve", *request, *wanted, "--json").json["machines"]
            for machine, answer in zip(MACHINES, found):
                if "packages" not in answer or "error" in answer:
                    continue
                self.put_resolved(answer["packages"])
                labels = {one["name"]: one["variant"] for one in answer["packages"]}
                unlike += len(set(labels.values())) > 1
                looked_at += 1
                with self.subTest(machine=machine, request=request, labels=labels):
                    findings = self.doctor(machine)["findings"]
                    found = [one for one in findings if one["code"] in OF_LABELS]
                    if request == PINNED:
                        # Another torchvision has the label that torch would get alone: doctor knows of no pin.
                        self.assertLessEqual({one["severity"] for one in found}, {"info"})
                    else:
                        self.assertEqual(found, [])
        self.assertGreater(looked_at, 200)
        print(f"\n{looked_at} resolutions, {unlike} of unlike labels")

    def test_one_unlike_label_that_could_be_alike_is_found(self):
        wheel_of = {"torch": ("2.9.1", "cu128"), "torchvision": ("0.24.1", "cu130")}
        self.put_resolved([{"name": name, "version": f"{version}+{label}", "family": "torch", "variant": label}
                           for name, (version, label) in wheel_of.items()])
        found = [one["code"] for one in self.doctor("h100")["findings"]]
        self.assertIn("family-labels-differ", found)


if __name__ == "__main__":
    unittest.main(verbosity=2)
