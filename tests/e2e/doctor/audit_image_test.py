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

    def test_compressed_archives(self):
        """`docker save demo | gzip`: unpacked on the way, whatever the order of its files."""
        layers = self.layers()
        self.assert_same(self.saved(gzip.compress(docker_archive(*layers)), "image.tar.gz"), ["demo:1"])
        self.assert_same(self.saved(gzip.compress(docker_archive(*map(gzip.compress, layers)))), ["demo:1"])
        members = oci_members(*layers)
        for order in (members, members[::-1]):
            path = self.saved(gzip.compress(tar(order)))
            self.assert_same(path, [f"{path} (linux/amd64)"])
        zstd = shutil.which("zstd")
        if zstd:
            packed = subprocess.run([zstd, "-q", "-c"], input=docker_archive(*layers), capture_output=True, check=True).stdout
            self.assert_same(self.saved(packed), ["demo:1"])

    def test_compressed_archives_take_little_memory(self):
        """The archive unpacks to 1.5 GB; the limit is on the address space, which memory is part of."""
        self.need_program_as_shipped()
        noise = bytes(range(256)) * 4096
        layer = tar([("usr/lib/libx.so", cuda(90)), *((f"data/{i}", noise) for i in range(500))])
        packed = gzip.compress(docker_archive(layer, tar([("a", layer)]), layer), 1)
        path = self.saved(packed)
        limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))  # noqa: E731
        done = subprocess.run([VARIANT, "audit", path, "--json"], env=self.env, cwd=self.root, capture_output=True, text=True, timeout=300, preexec_fn=limit)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.assertEqual([one["path"] for one in json.loads(done.stdout)["audited"][0]["libraries"]], ["usr/lib/libx.so"])

    def test_linked_layers(self):
        """Old ones of docker save a layer that is there twice as a link."""
        first, second = self.layers()
        text = json.dumps([{"RepoTags": ["demo:1"], "Layers": ["a/layer.tar", "b/layer.tar", "c/layer.tar", "d/layer.tar"]}]).encode()
        archive = tar([("a/layer.tar", first), ("b/layer.tar", "-> ../a/layer.tar"), ("c/layer.tar", "=> a/layer.tar"),
                       ("d/layer.tar", second), ("manifest.json", text)])
        for data in (archive, gzip.compress(archive)):
            done = self.audit(self.saved(data))
            self.assertEqual([one["path"] for one in done.json["audited"][0]["libraries"]],
                             [f"{SITE}/demo/libx.so", f"{SITE}/demo/liby.so"], str(done))
            self.assertNotIn("image-broken", done.out)
        out = tar([("a/layer.tar", "-> ../../../etc/passwd"), ("b/layer.tar", "-> b/layer.tar"), ("manifest.json", text)])
        self.assertIn("no a/layer.tar in it", self.audit(self.saved(out)).out)
        folder = self.root / "layout"
        for name, data in oci_members(first, second):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)
        blob = folder / "blobs/sha256" / digest(first)
        blob.rename(folder / "kept")
        blob.symlink_to("../../kept")
        self.assert_same(folder, [f"{folder} (linux/amd64)"])
        (folder / "kept").rename(self.root / "outside")
        blob.unlink()
        blob.symlink_to(self.root / "outside")
        self.assertIn("is a link that leads out of the image", self.audit(folder).out)

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

    def test_an_image_of_scripts_has_no_code_either(self):
        path = self.saved(docker_archive(tar([("usr/bin/run", b"#!/bin/sh\n"), ("etc/os-release", b"ID=none\n")])))
        self.assertEqual(set(self.said(path, "h100")[0]), {"machine-cpu-only"})
        self.assertEqual(self.said(path, "none")[0], {})
        broken = self.saved(docker_archive(tar([("usr/bin/run", b"#!/bin/sh\n")]), b"no archive" * 100))
        self.assertEqual(set(self.said(broken, "h100")[0]), {"machine-gpu-unknown"})

    def test_musl(self):
        loader = ("lib/ld-musl-x86_64.so.1", library(soname="libc.musl-x86_64.so.1"))
        own = ("usr/lib/libown.so", library(needed=["libc.musl-x86_64.so.1"]))
        other = (f"{SITE}/demo/libx.so", library(needed=["libc.so.6"]))
        self.assertEqual(self.audit(self.saved(docker_archive(tar([loader, own])))).json["findings"], [])
        found = self.found("image-libc", self.saved(docker_archive(tar([loader, own, other]))))
        self.assertIn(f"{SITE}/demo/libx.so needs glibc", found["message"])
        glibc = ("lib/x86_64-linux-gnu/libc.so.6", library(soname="libc.so.6"))
        self.assertNotIn("image-libc", self.audit(self.saved(docker_archive(tar([loader, own, other, glibc])))).out)

    def test_another_architecture(self):
        path = self.saved(docker_archive(base()))
        self.assertEqual(set(self.said(path, "grace")[0]) & {"machine-cpu"}, {"machine-cpu"})

    def test_the_c_library_of_a_machine_is_that_of_wheels_alone(self):
        needs = library(needed=["libc.so.6"], undefined=["f"], versions=[("libc.so.6", "GLIBC_2.41", 0)])
        self.assertEqual(self.said(self.saved(docker_archive(base(("usr/lib/libx.so", needs)))), "h100")[0].keys() & {"machine-libc"}, set())
        wheel = self.wheel({"demo/libx.so": needs}, "py3-none-manylinux_2_41_x86_64")
        self.assertIn("machine-libc", self.said(wheel, "h100;libc:glibc=2.28")[0])


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


class Members(AuditTestCase):
    """What a layer may have besides files and folders."""

    def libraries(self, *layers):
        done = self.audit(self.saved(docker_archive(*layers)))
        self.assertNotIn("image-broken", done.out)
        return [one["path"] for one in done.json["audited"][0]["libraries"]], done

    def test_hard_links(self):
        first = tar([("a/libx.so", cuda(90)), ("b/liby.so", "=> a/libx.so"), ("c/libz.so", "=> b/liby.so")])
        self.assertEqual(self.libraries(first)[0], ["a/libx.so"])
        # The file stays under its other name.
        self.assertEqual(self.libraries(first, tar([("a/.wh.libx.so", b"")]))[0], ["b/liby.so"])
        self.assertEqual(self.libraries(first, tar([("a/.wh.libx.so", b""), ("b/liby.so", b"")]))[0], ["c/libz.so"])
        # A link into a lower layer.
        self.assertEqual(self.libraries(tar([("a/libx.so", cuda(90))]), tar([("d/libw.so", "=> a/libx.so")]),
                                        tar([(".wh.a", b"")]))[0], ["d/libw.so"])
        self.assertEqual(self.libraries(tar([("a/libx.so", cuda(90))]), tar([("a/libx.so", b"text"), ("d/libw.so", "=> a/libx.so")]))[0], [])
        self.assertEqual(self.libraries(tar([("a", "=> b"), ("b", "=> a"), ("c", "=> ../../x"), ("d", "=> d")]))[0], [])

    def test_devices_have_no_content(self):
        """Whatever their size says: what follows is the next member, as for tarfile and libarchive."""
        for kind in (tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE):
            info = tarfile.TarInfo("dev/null")
            info.type = kind
            info.size = 4096
            layer = info.tobuf(tarfile.PAX_FORMAT) + tar([("usr/lib/libx.so", cuda(90))])
            self.assertEqual(self.libraries(layer)[0], ["usr/lib/libx.so"])

    def test_sparse_files_are_said(self):
        if "GNU tar" not in subprocess.run(["tar", "--version"], capture_output=True, text=True).stdout:
            self.skipTest("needs GNU tar")
        folder = self.root / "sparse"
        folder.mkdir()
        with open(folder / "libx.so", "wb") as file:
            file.write(cuda(90))
            file.truncate(1 << 22)
        (folder / "liby.so").write_bytes(cuda(80))
        for version in ("gnu", "posix"):
            layer = subprocess.run(["tar", "-C", folder, "--sparse", f"--format={version}", "-c", "."], capture_output=True, check=True).stdout
            self.assertLess(len(layer), 1 << 20)
            paths, done = self.libraries(layer)
            self.assertEqual(paths, ["liby.so"])
            self.assertIn("libx.so: it is stored as a sparse file", "\n".join(done.json["not_looked_at"]))

    def test_many_layers(self):
        layers = [tar([(f"usr/lib/lib{i}.so", cuda(90)), ("usr/lib/same.so", cuda(80 + 10 * (i % 2)))]) for i in range(60)]
        paths, done = self.libraries(*layers)
        self.assertEqual(paths, sorted([*(f"usr/lib/lib{i}.so" for i in range(60)), "usr/lib/same.so"]))
        same = [one for one in done.json["audited"][0]["libraries"] if one["path"] == "usr/lib/same.so"]
        self.assertEqual(len(same), 1)


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
        self.broken(b"\xfd7zXZ\0" + bytes(100), "compressed with xz", "xz -d")
        self.broken(gzip.compress(docker_archive(base()))[:-30], "gzip")
        self.broken(gzip.compress(b"no archive" * 100), "checksum")
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
        self.need_program_as_shipped()
        packed = subprocess.run(["sh", "-c", "head -c 1400000000 /dev/zero | gzip -1c"], capture_output=True, check=True).stdout
        path = self.saved(docker_archive(packed))
        limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))  # noqa: E731
        done = subprocess.run([VARIANT, "audit", path, "--json"], env=self.env, cwd=self.root, capture_output=True, text=True, timeout=60, preexec_fn=limit)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.assertTrue(json.loads(done.stdout)["schema_version"])

    def test_a_size_that_lies(self):
        layer = bytearray(tar([("lib.so", cuda(90))]))
        layer[124:136] = b"77777777777\0"
        layer[148:156] = b"        "
        layer[148:156] = b"%06o\0 " % sum(layer[:512])
        self.broken(docker_archive(bytes(layer)), "image-broken", "ends within a file")


if __name__ == "__main__":
    unittest.main()
