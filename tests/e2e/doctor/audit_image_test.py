"""`variant audit` of container images: OCI layouts and docker archives that tarfile makes, on fleets; and images that lie."""

import gzip
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tarfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from audit_case import AuditTestCase, digest, docker_archive, oci_members, tar
from made_library import CUBIN, PTX, entry, fatbin, library
from support import VARIANT

SITE = "usr/lib/python3.12/site-packages"


def cuda(*architectures, kind=CUBIN, version=(1, 8)):
    return library([(".nv_fatbin", fatbin(*(entry(kind, one, version=version) for one in architectures)))])


def base(*more):
    return tar([("usr", None), ("usr/lib", None), ("usr/lib/libplain.so", library(needed=["libc.so.6"])), ("etc/os-release", b"ID=debian\n"), *more])


class Forms(AuditTestCase):
    """The same image in each form is the same."""

    def layers(self):
        return base((f"{SITE}/demo/libx.so", cuda(80))), tar([(f"{SITE}/demo/liby.so", cuda(90)), ("usr/lib/.wh.libplain.so", b"")])

    def assert_same(self, path, titles):
        done = self.audit(path)
        self.assertEqual([one["title"] for one in done.json["audited"]], titles, str(done))
        for image in done.json["audited"]:
            self.assertEqual(image["kind"], "image")
            self.assertEqual([one["path"] for one in image["libraries"]], [f"{SITE}/demo/libx.so", f"{SITE}/demo/liby.so"])
            self.assertEqual(image["gpu_code"], {"nvidia": ["sm_80", "sm_90"]})
            self.assertEqual(image["files"], 3)
        self.assertEqual([one["severity"] for one in done.json["findings"]], ["info"] * len(titles), str(done))
        self.assertEqual(done.code, 0)

    def test_docker_archives(self):
        self.assert_same(self.saved(docker_archive(*self.layers())), ["demo:1"])
        self.assert_same(self.saved(docker_archive(*map(gzip.compress, self.layers()))), ["demo:1"])

    def test_oci_layouts(self):
        path = self.saved(tar(oci_members(*map(gzip.compress, self.layers()))))
        self.assert_same(path, [f"{path} (linux/amd64)"])
        both = self.saved(tar(oci_members(*self.layers(), platforms=("linux/amd64", "linux/arm64"))))
        self.assert_same(both, [f"{both} (linux/amd64)", f"{both} (linux/arm64)"])

    def test_layers_in_zstd(self):
        zstd = shutil.which("zstd")
        if not zstd:
            self.skipTest("needs zstd")
        packed = [subprocess.run([zstd, "-q", "-c"], input=one, capture_output=True, check=True).stdout for one in self.layers()]
        path = self.saved(tar(oci_members(*packed)))
        self.assert_same(path, [f"{path} (linux/amd64)"])

    def test_folders(self):
        folder = self.root / "layout"
        for name, data in oci_members(*map(gzip.compress, self.layers())):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)
        self.assert_same(folder, [f"{folder} (linux/amd64)"])

    def test_the_formats_of_tar(self):
        deep = "/".join(["d" * 60] * 4)
        for kind in (tarfile.PAX_FORMAT, tarfile.GNU_FORMAT):
            path = self.saved(docker_archive(tar([(f"{deep}/libx.so", cuda(90))], kind)))
            self.assertEqual([one["path"] for one in self.audit(path).json["audited"][0]["libraries"]], [f"{deep}/libx.so"])


class Fleets(AuditTestCase):
    def said(self, path, *machines):
        done = self.audit(path, *(word for one in machines for word in ("--for", one)))
        return {one["code"]: one for one in done.json["findings"] if one["code"].startswith("machine")}, done

    def test_cpu_only(self):
        path = self.saved(docker_archive(base()))
        found, done = self.said(path, "h100")
        self.assertIn("this image is CPU only", found["machine-cpu-only"]["message"])
        self.assertEqual(done.code, 1)
        self.assertEqual(self.said(path, "none")[0], {})
        self.assertEqual(self.said(path)[0], {})

    def test_no_code_for_a_gpu(self):
        path = self.saved(docker_archive(base((f"{SITE}/demo/libx.so", cuda(80, 90)))))
        self.assertEqual(self.said(path, "h100")[0], {})
        found, done = self.said(path, "h100", "rtx5090")
        self.assertEqual(set(found), {"machine-gpu-code"})
        self.assertIn("rtx5090: no code for sm_120", found["machine-gpu-code"]["message"])
        self.assertIn("there is sm_80 sm_90", found["machine-gpu-code"]["message"])

    def test_what_a_driver_cannot_use(self):
        ptx = self.saved(docker_archive(base(("usr/lib/libx.so", cuda(80, kind=PTX, version=(8, 8))))))
        self.assertEqual(set(self.said(ptx, "h100;nvidia:driver=535.54")[0]), {"machine-driver"})
        packed = library([(".nv_fatbin", fatbin(entry(CUBIN, 90, flags=0x8000)))])
        path = self.saved(docker_archive(base(("usr/lib/libx.so", packed))))
        self.assertEqual(set(self.said(path, "h100;nvidia:driver=535.54")[0]), {"machine-driver"})
        self.assertEqual(set(self.said(path, "h100;nvidia:driver=570.26")[0]), set())

    def test_what_is_unknown_is_said(self):
        path = self.saved(docker_archive(base(("usr/lib/libx.so", library([(".nv_fatbin", b"rubbish" * 9)])))))
        self.assertEqual(set(self.said(path, "h100")[0]), {"machine-gpu-unknown"})
        path = self.saved(docker_archive(base(("usr/lib/libx.so", library([(".nv_fatbin", fatbin(entry(CUBIN, 80)) + b"rubbish" * 9)])))))
        self.assertEqual(set(self.said(path, "h100")[0]), {"machine-gpu-unknown"})

    def test_another_architecture(self):
        path = self.saved(docker_archive(base()))
        self.assertEqual(set(self.said(path, "grace")[0]) & {"machine-cpu"}, {"machine-cpu"})

    def test_the_c_library_of_a_machine_is_that_of_wheels_alone(self):
        needs = library(needed=["libc.so.6"], undefined=["f"], versions=[("libc.so.6", "GLIBC_2.41", 0)])
        self.assertEqual(self.said(self.saved(docker_archive(base(("usr/lib/libx.so", needs)))), "h100")[0].keys() & {"machine-libc"}, set())
        wheel = self.wheel({"demo/libx.so": needs}, "py3-none-manylinux_2_41_x86_64")
        self.assertIn("machine-libc", self.said(wheel, "h100")[0])


class Sizes(AuditTestCase):
    def test_cuda_twice(self):
        toolkit, wheels = bytes(1000) * 900, bytes(1000) * 1000
        path = self.saved(docker_archive(
            base(("usr/local/cuda/lib64/libcublas.so.12.8", toolkit), ("usr/local/cuda/lib64/libcublas.so.12", "-> libcublas.so.12.8"),
                 ("usr/local/cuda/lib64/libcufft.so.11", toolkit)),
            tar([(f"{SITE}/nvidia/cublas/lib/libcublas.so.12", wheels)])))
        found = self.found("image-twice", path)
        self.assertEqual(found["severity"], "warning")
        self.assertIn("CUDA twice, 2.80 MB", found["message"])
        self.assertIn("1 of 2 libraries", found["message"])
        self.assertIn("900 kB of it in vain", found["message"])
        removed = self.saved(docker_archive(
            base(("usr/local/cuda/lib64/libcublas.so.12.8", toolkit)), tar([("usr/local/.wh.cuda", b"")]),
            tar([(f"{SITE}/nvidia/cublas/lib/libcublas.so.12", wheels)])))
        self.assertEqual([one["code"] for one in self.audit(removed).json["findings"]], ["image-hidden"])

    def test_what_layers_hide(self):
        big = self.saved(docker_archive(gzip.compress(base(("big", bytes(120_000_000))), 1), tar([(".wh.big", b"")])))
        found = self.found("image-hidden", big)
        self.assertEqual(found["severity"], "warning")
        self.assertIn("120 MB", found["message"])


class Hostile(AuditTestCase):
    def broken(self, data, *words):
        done = self.audit(self.saved(data))
        self.assertEqual(done.code, 1, str(done))
        text = done.out + done.err
        for word in words:
            self.assertIn(word, text)
        return done

    def test_truncated_at_any_place(self):
        whole = tar(oci_members(gzip.compress(base())))
        for size in range(1, len(whole.rstrip(b"\0")), 97):
            with self.subTest(size):
                done = self.audit(self.saved(whole[:size]))
                self.assertIn(done.code, (1, 2), str(done))
                self.assertTrue(done.json, str(done))

    def test_layers_that_are_damaged(self):
        layer = gzip.compress(base())
        self.broken(docker_archive(layer[:-20]), "image-broken", "truncated")
        self.broken(docker_archive(base()[:700]), "image-broken")
        self.broken(docker_archive(b"no archive at all" * 100), "image-broken", "checksum")
        members = oci_members(layer)
        lying = [(name, data if not name.endswith(digest(layer)) else gzip.compress(base(("x", b"y")))) for name, data in members]
        self.broken(tar(lying), "image-broken", "sha256")
        missing = [(name, data) for name, data in members if not name.endswith(digest(layer))]
        self.broken(tar(missing), "image-broken", digest(layer))

    def test_manifests_that_are_none(self):
        for text in (b"", b"[", b"{}", b"[{}, 1]", b'[{"Layers": "a"}]', b'[{"Layers": ["/etc/passwd"]}]', b'[{"Layers": ["../../etc/passwd"]}]'):
            with self.subTest(text):
                done = self.audit(self.saved(tar([("manifest.json", text)])))
                self.assertTrue(done.code == 1 or text == b"[{}, 1]" and done.code in (0, 1), str(done))
        self.broken(tar([("a", b"b")]), "neither an OCI layout nor a docker archive")
        self.broken(gzip.compress(docker_archive(base())), "compressed")
        nested = {"schemaVersion": 2, "manifests": []}
        text = json.dumps(nested).encode()
        members = []
        for _ in range(8):
            members.append((f"blobs/sha256/{digest(text)}", text))
            text = json.dumps({"manifests": [{"mediaType": "application/vnd.oci.image.index.v1+json", "digest": f"sha256:{digest(text)}", "size": 1}]}).encode()
        self.broken(tar([("oci-layout", b"{}"), ("index.json", text), *members]), "indexes within indexes")

    def test_names_that_lead_out(self):
        before = sorted(os.listdir(self.root))
        layer = tar([("../../evil.so", cuda(90)), ("/etc/abs.so", cuda(80)), ("a/../../b", b""), ("link", "-> /etc"), ("link/x.so", cuda(90))])
        done = self.broken(docker_archive(layer), "image-broken", "leads out of the image")
        paths = [one["path"] for one in done.json["audited"][0]["libraries"]]
        self.assertEqual(paths, ["etc/abs.so", "link/x.so"])
        self.assertEqual(sorted(set(os.listdir(self.root)) - {"image.tar"}), sorted(set(before) - {"image.tar"}))

    def test_a_bomb_ends_in_time_and_memory(self):
        packed = subprocess.run(["sh", "-c", "head -c 1400000000 /dev/zero | gzip -1c"], capture_output=True, check=True).stdout
        path = self.saved(docker_archive(packed))
        limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))  # noqa: E731
        done = subprocess.run([VARIANT, "audit", path, "--json"], env=self.env, cwd=self.root, capture_output=True, text=True, timeout=60, preexec_fn=limit)
        self.assertIn(done.returncode, (0, 1), done.stderr)

    def test_a_size_that_lies(self):
        layer = bytearray(tar([("lib.so", cuda(90))]))
        layer[124:136] = b"77777777777\0"
        layer[148:156] = b"        "
        layer[148:156] = b"%06o\0 " % sum(layer[:512])
        self.broken(docker_archive(bytes(layer)), "image-broken", "ends within a file")


if __name__ == "__main__":
    unittest.main()
