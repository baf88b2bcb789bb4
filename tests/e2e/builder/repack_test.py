"""`variant repack`: wheels that exist get a label, or are split by GPU architecture."""

import ctypes
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import unittest
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from made_library import CUBIN, PTX
from support import TestCase, Wheel, record_hash

NVCC = shutil.which("nvcc")
CUOBJDUMP = os.environ.get("CUOBJDUMP") or shutil.which("cuobjdump")
CLANG = shutil.which("clang")
BUNDLERS = sorted(map(str, pathlib.Path("/usr/lib").glob("llvm-*/bin/clang-offload-bundler")))
LINKER = shutil.which("ld.lld")
GENCODE = ["-gencode", "arch=compute_80,code=sm_80", "-gencode", "arch=compute_90,code=sm_90",
           "-gencode", "arch=compute_120,code=[sm_120,compute_120]"]
ONE = """
__global__ void one(float *x) { x[threadIdx.x] *= 2; }
extern "C" int host_one(int v) { return v + 1; }
extern "C" int launch_one(float *x) { one<<<1, 32>>>(x); return (int)cudaGetLastError(); }
"""
TWO = """
__device__ int table[50000] = {1, 2, 3};
__global__ void two(float *x) { x[threadIdx.x] += table[threadIdx.x]; }
extern "C" int host_two(int v) { return v * 2; }
extern "C" int launch_two(float *x) { two<<<1, 32>>>(x); return (int)cudaGetLastError(); }
"""


def sections(data):
    """The sections of an ELF file by name, read by themselves: (address, bytes)."""
    table, = struct.unpack_from("<Q", data, 40)
    count, names = struct.unpack_from("<HH", data, 60)
    rows = [struct.unpack_from("<IIQQQQ", data, table + 64 * i) for i in range(count)]
    strings = rows[names][4]
    found = {}
    for name, kind, _, address, offset, size in rows:
        text = data[strings + name:data.index(b"\0", strings + name)].decode()
        found[text] = (address, b"" if kind == 8 else data[offset:offset + size])
    return found


def cubins(data):
    """A list of (kind, architecture, payload) for each fatbin of a library."""
    all_fatbins = []
    for name in (".nv_fatbin", "__nv_relfatbin"):
        content = sections(data).get(name, (0, b""))[1]
        at = 0
        while at < len(content):
            magic, _, header, size = struct.unpack_from("<IHHQ", content, at)
            if magic != 0xBA55ED50:
                at += 8
                continue
            here, end, codes = at + header, at + header + size, []
            while here < end:
                kind, _, head, payload = struct.unpack_from("<HHIQ", content, here)
                architecture, = struct.unpack_from("<I", content, here + 28)
                codes.append((kind, architecture, content[here + head:here + head + payload]))
                here += head + payload
            assert here == end
            all_fatbins.append(codes)
            at = end
    return all_fatbins


class RepackCase(TestCase):
    def setUp(self):
        super().setUp()
        self.out = self.root / "out"

    def repack(self, *arguments, **options):
        return self.variant("repack", *arguments, "--out", self.out, **options)

    def wheel(self, files, tags="py3-none-linux_x86_64", **options):
        return Wheel("demo", "1.0", files={"demo/__init__.py": "", **files}, tags=tags, **options)

    def contents(self, path):
        with zipfile.ZipFile(path) as archive:
            self.assertIsNone(archive.testzip())
            return {name: archive.read(name) for name in archive.namelist()}

    def assert_whole(self, path):
        """RECORD lists exactly the files, with their hashes and sizes."""
        members = self.contents(path)
        record, = (name for name in members if name.endswith(".dist-info/RECORD"))
        told = dict(line.split(",", 1) for line in members[record].decode().splitlines())
        self.assertEqual(told.pop(record), ",")
        self.assertEqual(set(told), set(members) - {record})
        for name, line in told.items():
            self.assertEqual(line, f"{record_hash(members[name])},{len(members[name])}", name)
        return members

    def refused(self, result, *words, code=1):
        self.assert_fails(result, code, *words)
        self.assertEqual(list(self.out.glob("*")) if self.out.exists() else [], [])


class RelabelTest(RepackCase):
    PROPERTY = "nvidia :: sm_arch :: 90_real"

    def test_a_plain_wheel_becomes_a_variant(self):
        made = self.wheel({"demo/data.bin": os.urandom(5000), "demo/text": "a" * 9000}, label=None)
        made.members[f"{made.dist_info}/RECORD.jws"] = "{}"
        path = made.write(self.root)
        result = self.repack(path, "--label", "sm90", "--property", self.PROPERTY, "--json")
        self.assert_ok(result)
        row, = result.json["wheels"]
        self.assertEqual(pathlib.Path(row["file"]).name, "demo-1.0-py3-none-linux_x86_64-sm90.whl")
        self.assertEqual((row["label"], row["properties"], row["architecture"]), ("sm90", [self.PROPERTY], None))
        self.assertIn("RECORD.jws", str(result))
        before, after = self.contents(path), self.assert_whole(row["file"])
        document = json.loads(after.pop("demo-1.0.dist-info/variant.json"))
        self.assertEqual(document["variants"], {"sm90": {"nvidia": {"sm_arch": ["90_real"]}}})
        for members in (before, after):
            members.pop("demo-1.0.dist-info/RECORD")
        before.pop("demo-1.0.dist-info/RECORD.jws")
        self.assertEqual(before, after)
        # What is a variant keeps its properties under another label, and the same bytes come twice.
        again = self.repack(row["file"], "--label", "hopper", "--json").json["wheels"][0]
        self.assertEqual(again["properties"], [self.PROPERTY])
        other = self.assert_ok(self.repack(row["file"], "--label", "ampere", "--property", "nvidia :: sm_arch :: 80_real"))
        self.assertIn(f"its property {self.PROPERTY} is replaced", other.err)
        twice = self.variant("repack", path, "--label", "sm90", "--property", self.PROPERTY, "--json", "--out",
                             self.root / "twice").json["wheels"][0]
        self.assertEqual(twice["sha256"], row["sha256"])

    def test_variants_of_two_namespaces(self):
        """The wheels of a release must agree on the order of the namespaces, which one of them alone does not have."""
        plain = self.wheel({}, tags="py3-none-manylinux_2_17_x86_64").write(self.root)
        level, order = "x86_64 :: level :: v3", ["--namespace-order", "nvidia,x86_64"]
        made = [self.assert_ok(self.repack(plain, *options, "--json")).json["wheels"][0]["file"] for options in (
            ["--label", "sm90", "--property", self.PROPERTY, *order], ["--label", "v3", "--property", level, *order],
            ["--label", "null", *order])]
        self.assert_ok(self.variant("index", "add", *made, plain, "--out", self.root / "index"))
        for machine, label in (("h100", "sm90"), ("haswell", "v3"), ("prescott", "null")):
            done = self.variant("resolve", "demo", "-i", (self.root / "index/simple").as_uri(), "--for", machine, "--python", self.make_venv(), "--json")
            self.assertEqual(self.assert_ok(done).json["packages"][0]["variant"], label)
        alone = self.assert_ok(self.repack(plain, "--label", "old", "--property", level, "--json")).json["wheels"][0]["file"]
        done = self.variant("index", "add", made[0], alone, "--out", self.root / "other")
        self.assert_fails(done, 1, "the order of namespaces differs", "--namespace-order")
        shutil.rmtree(self.out)
        for value, code, words in (("x86_64", 1, "the variant has the namespace nvidia, too"), ("nvidia,nvidia", 1, "nvidia is there twice"),
                                   ("nvidia,,x86_64", 2, "between the commas"), ("nvidia,x86-64", 1, "did you mean x86_64")):
            self.refused(self.repack(plain, "--label", "a", "--property", self.PROPERTY, "--namespace-order", value), words, code=code)

    def test_properties_of_another_architecture(self):
        plain = self.wheel({}, tags="py3-none-manylinux_2_17_x86_64").write(self.root)
        self.refused(self.repack(plain, "--label", "i8mm", "--property", "aarch64 :: i8mm :: on"),
                     "aarch64 :: i8mm :: on is of another CPU architecture than its tag, x86_64")
        power = self.wheel({}, tags="py3-none-manylinux_2_17_ppc64le").write(self.root)
        self.refused(self.repack(power, "--label", "v3", "--property", "x86_64 :: level :: v3"), "than its tag, ppc64le")

    def test_null(self):
        plain = self.wheel({}).write(self.root)
        self.refused(self.repack(plain, "--label", "null"), "null", "namespaces")
        made = self.variant("repack", plain, "--label", "a", "--property", self.PROPERTY, "--out", self.root)
        self.assert_ok(made)
        self.refused(self.repack(self.root / "demo-1.0-py3-none-linux_x86_64-a.whl", "--label", "null"), "null")

    def test_what_is_wrong_is_said(self):
        path = self.wheel({}).write(self.root)
        self.refused(self.repack(path, "--label", "sm90"), "--property")
        self.refused(self.repack(path, "--label", "SM 90", "--property", self.PROPERTY), "label")
        self.refused(self.repack(path, "--label", "a", "--property", "nvidia :: sm_arch :: 90_rea"), "90_real")
        self.refused(self.repack(path, "--label", "a", "--property", "nvidia :: sm_arhc :: 90_real"), "sm_arch")
        self.refused(self.repack(path, "--label", "a", "--property", "nvida :: sm_arch :: 90_real"), "nvidia")
        self.refused(self.repack(path, "--label", "null", "--property", self.PROPERTY), "null")
        self.refused(self.repack(path, "--label", "a", "--property", "nvidia"), "--property", "NAMESPACE :: FEATURE :: VALUE", code=2)
        self.refused(self.repack(path, "--label", "a", "--property", "nvidia : sm_arch"), "NAMESPACE :: FEATURE :: VALUE", code=2)
        self.refused(self.repack(path, "--label", "a", "--property", "nvidia :: sm_arch :: 90"), "no machine has this value", "90_real")
        self.refused(self.repack(path), "--label", "--split", code=2)
        self.refused(self.repack(path, "--label", "a", "--split", "sm"), code=2)
        self.refused(self.repack(path, "--split", "cpu"), "sm", "gfx", code=2)
        self.assert_fails(self.variant("repack", path, "--split", "sm", "--out", "s3://bucket/a"), 2, "index add")
        self.refused(self.repack(path, "--split", "gfx", "--keep-ptx"), "--keep-ptx", code=2)
        self.refused(self.repack(path, "--label", "a", "--property", self.PROPERTY, "--keep-ptx"), "--keep-ptx", code=2)
        self.refused(self.repack(self.root / "none-1.0-py3-none-any.whl", "--label", "a"), "none-1.0")

    def test_properties_that_no_machine_has_together(self):
        path = self.wheel({}).write(self.root)
        for first, second, why in (("nvidia :: cuda_version_lower_bound :: 13.0", "nvidia :: cuda_version_upper_bound :: 12.0", "exclude each other"),
                                   ("x86_64 :: level :: v3", "aarch64 :: version :: 8.2a", "is of aarch64"),
                                   ("x86_64 :: level :: v3", "x86_64 :: level :: v4", "takes one value")):
            self.refused(self.repack(path, "--label", "a", "--property", first, "--property", second), "variant a", why)
        self.assert_ok(self.repack(path, "--label", "a", "--property", "nvidia :: cuda_version_lower_bound :: 12.0", "--property",
                                   "nvidia :: cuda_version_upper_bound :: 13.0", "--property", "x86_64 :: level :: v3"))

    def test_wheels_that_are_not_whole(self):
        lying = self.wheel({"demo/a": "a"})
        lying.record_lies["demo/a"] = (record_hash(b"b"), 1)
        self.refused(self.repack(lying.write(self.root), "--label", "a", "--property", RelabelTest.PROPERTY), "demo/a", "sha256")
        unlisted = self.wheel({"demo/a": "a"})
        unlisted.record_drops.add("demo/a")
        self.refused(self.repack(unlisted.write(self.root), "--label", "a", "--property", RelabelTest.PROPERTY), "demo/a", "RECORD")
        unread = self.wheel({"demo/a": "a"})
        unread.record_lies["demo/a"] = ("sha512=" + "A" * 86, 1)
        self.refused(self.repack(unread.write(self.root), "--label", "a", "--property", RelabelTest.PROPERTY), "demo/a", "sha512")
        path = self.wheel({"demo/a": "a"}).write(self.root)
        path.write_bytes(path.read_bytes()[:-40])
        self.refused(self.repack(path, "--label", "null"), path.name)

    def test_no_wheel_takes_the_place_of_another(self):
        path = self.wheel({}).write(self.root)
        self.assert_ok(self.variant("repack", path, "--label", "a", "--property", self.PROPERTY, "--out", self.root))
        made = self.root / "demo-1.0-py3-none-linux_x86_64-a.whl"
        before = made.read_bytes()
        again = ("repack", made, "--label", "a", "--property", "nvidia :: sm_arch :: 80_real", "--out")
        self.assert_fails(self.variant(*again, self.root), 1, made.name, "--out")
        self.assertEqual(made.read_bytes(), before)
        self.assert_ok(self.variant(*again, self.out))
        shutil.rmtree(self.out)
        other = self.wheel({}).write(self.root / "other")
        self.refused(self.repack(path, other, "--label", "b", "--property", self.PROPERTY), str(path), str(other), code=2)
        self.refused(self.repack(path, made, "--label", "b", "--property", self.PROPERTY), str(path), str(made), code=2)


@unittest.skipUnless(NVCC, "there is no nvcc on PATH")
class SplitTest(RepackCase):
    def compile(self, name, *options, sources=(ONE, TWO), gencode=GENCODE):
        files = []
        for i, text in enumerate(sources):
            files.append(self.root / f"{name}{i}.cu")
            files[-1].write_text(text)
        path = self.root / name
        subprocess.run([NVCC, *gencode, *options, "-Xcompiler", "-fPIC", "-Xlinker", "-rpath,$ORIGIN/../libs", "-shared",
                        "-o", path, *files], check=True, capture_output=True)
        return path.read_bytes()

    def loaded(self, path):
        """Its host code runs, in a process of its own."""
        code = (f"import ctypes; d = ctypes.CDLL({str(path)!r}); x = (ctypes.c_float * 32)(); d.launch_two(x); "
                "d.launch_one(x); print(d.host_one(4), d.host_two(4))")
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertEqual((done.stdout.split(), done.stderr), (["5", "8"], ""))

    def dump(self, path):
        """What cuobjdump lists: architecture -> number of compiled objects; and the number of PTX."""
        elf = subprocess.run([CUOBJDUMP, "--list-elf", path], capture_output=True, text=True).stdout
        ptx = subprocess.run([CUOBJDUMP, "--list-ptx", path], capture_output=True, text=True).stdout
        found = {}
        for number in re.findall(r"\.sm_(\d+)\.cubin", elf):
            found[int(number)] = found.get(int(number), 0) + 1
        return found, len(re.findall(r"\.ptx", ptx))

    def check_split(self, data, name, *options):
        path = self.wheel({f"demo/{name}": data}).write(self.root)
        result = self.repack(path, "--split", "sm", "--json", *options)
        self.assert_ok(result)
        answer = result.json
        self.assertEqual([row["label"] for row in answer["wheels"]], ["sm80", "sm90", "sm120"])
        before = cubins(data)
        for row, architecture in zip(answer["wheels"], (80, 90, 120)):
            self.assertEqual(row["properties"], [f"nvidia :: sm_arch :: {architecture}_real"])
            after = self.assert_whole(row["file"])[f"demo/{name}"]
            self.assertLess(len(after), len(data))
            ptx = architecture == 120 or "--keep-ptx" in options
            expected = [[code for code in codes if code[:2] == (CUBIN, architecture) or (ptx and code[0] == PTX)]
                        for codes in before]
            self.assertEqual(cubins(after), expected)
            self.check_cut(data, after, f"{name}.{architecture}.so", architecture)
        return answer

    def check_cut(self, before, after, name, architecture):
        path, old = self.root / name, self.root / "old.so"
        path.write_bytes(after)
        old.write_bytes(before)
        for tool in (["readelf", "-aW"], ["objdump", "-x"]):
            self.assertEqual(subprocess.run([*tool, path], capture_output=True, text=True).stderr, "")
        dynamic = [subprocess.run(["readelf", "-dW", one], capture_output=True, text=True).stdout for one in (path, old)]
        self.assertIn("$ORIGIN/../libs", dynamic[0])
        self.assertEqual(*[re.sub(r"offset 0x\w+", "", text) for text in dynamic])
        # All else lies at the same addresses with the same content, but for what points at fatbins.
        ours, theirs = sections(after), sections(before)
        moved = {".nv_fatbin", "__nv_relfatbin", ".rela.dyn", ".nvFatBinSegment", ".symtab", ".dynsym"}
        self.assertEqual({k: v for k, v in ours.items() if k not in moved},
                         {k: v for k, v in theirs.items() if k not in moved})
        self.loaded(path)
        if CUOBJDUMP:
            elf, ptx = self.dump(path)
            was, _ = self.dump(old)
            self.assertEqual(elf, {architecture: was[architecture]})

    def test_the_stub_of_device_linking_is_no_code(self):
        source, built = self.root / "one.cu", self.root / "one.o"
        source.write_text(ONE)
        subprocess.run([NVCC, *GENCODE[:4], "-Xcompiler", "-fPIC", "-c", "-o", built, source], check=True, capture_output=True)
        subprocess.run([NVCC, "-shared", "-o", self.root / "lib.so", built], check=True, capture_output=True)
        data = (self.root / "lib.so").read_bytes()
        # Linked by itself, nvcc's stub is for the oldest architecture that it knows, and has nothing but tables.
        empty = {code[1] for codes in cubins(data) for code in codes if code[0] == CUBIN and b".text." not in code[2]}
        self.assertEqual(len(empty), 1)
        self.assertFalse(empty & {80, 90})
        path = self.wheel({"demo/lib.so": data}, tags="py3-none-manylinux_2_34_x86_64").write(self.root)
        result = self.assert_ok(self.repack(path, "--split", "sm", "--json"))
        self.assertEqual([(row["label"], row["code"]["none"]) for row in result.json["wheels"]], [("sm80", 0), ("sm90", 0)])
        audited = self.variant("audit", path, "--for", "t4", "--json").json
        self.assertEqual(audited["audited"][0]["gpu_code"]["nvidia"], ["sm_80", "sm_90"])
        self.assertIn("machine-gpu-code", [one["code"] for one in audited["findings"]])

    def test_several_translation_units(self):
        answer = self.check_split(self.compile("lib.so"), "lib.so")
        machines = {row["machine"]: row["variant"] for row in answer["machines"]}
        self.assertEqual((machines["h100"], machines["a100-mig"], machines["rtx5090-r570"]), ("sm90", "sm80", "sm120"))
        self.assertEqual(machines["rtx4090-r535"], "sm80")
        self.assertNotIn("gtx1080ti", machines)
        # What is a variant already keeps its label, and machines that do not take it do not count.
        cuda = self.wheel({"demo/lib.so": (self.root / "lib.so").read_bytes()}, tags="py3-none-manylinux_2_34_x86_64").write(self.root)
        labelled = self.assert_ok(self.repack(cuda, "--label", "cu13", "--property", "nvidia :: cuda_version_lower_bound :: 13.0", "--json"))
        split = self.assert_ok(self.repack(labelled.json["wheels"][0]["file"], "--split", "sm", "--json")).json
        labels = {row["label"] for row in split["wheels"]}
        self.assertIn("cu13_sm90", labels)
        self.assertEqual({row["variant"] for row in split["machines"]} - {None} - labels, set())
        told = {row["machine"]: row["variant"] for row in split["machines"]}
        self.assertIn("cu13_sm90", told.values())
        self.assertNotIn("rtx4090-r535", told)  # its driver runs no CUDA 13

    def test_without_compression(self):
        self.check_split(self.compile("lib.so", "--no-compress"), "lib.so", "--keep-ptx")

    def test_compressed(self):
        self.check_split(self.compile("lib.so", "--compress-mode=size"), "lib.so")

    def test_relocatable_device_code(self):
        self.check_split(self.compile("lib.so", "-rdc=true"), "lib.so")

    def test_code_of_an_older_architecture_stays_where_it_is_needed(self):
        one = self.compile("one.so", sources=(ONE, TWO),
                           gencode=["-gencode", "arch=compute_80,code=sm_80", "-gencode", "arch=compute_86,code=sm_86"])
        two = self.compile("two.so", sources=(ONE, TWO), gencode=["-gencode", "arch=compute_80,code=[sm_80,compute_80]"])
        path = self.wheel({"demo/one.so": one, "demo/two.so": two}).write(self.root)
        result = self.repack(path, "--split", "sm", "--json")
        self.assert_ok(result)
        rows = {row["label"]: row for row in result.json["wheels"]}
        self.assertEqual(set(rows), {"sm80", "sm86"})
        self.assertEqual(rows["sm80"]["code"]["fallback"], 0)
        self.assertGreater(rows["sm86"]["code"]["fallback"], 0)
        members = self.contents(rows["sm86"]["file"])
        self.assertEqual(cubins(members["demo/two.so"]), cubins(two))
        self.assertEqual({code[1] for codes in cubins(members["demo/one.so"]) for code in codes}, {86})
        machines = {row["machine"]: row["variant"] for row in result.json["machines"]}
        self.assertEqual(machines["rtx4090-r535"], "sm86")

    def test_truncated(self):
        data = self.compile("lib.so")
        for size in (len(data) // 2, len(data) - 100):
            path = self.wheel({"demo/lib.so": data[:size]}).write(self.root)
            self.refused(self.repack(path, "--split", "sm"), "demo/lib.so")


class SplitBundlesTest(RepackCase):
    def library(self, content):
        """As clang registers bundles: a record that points at each."""
        (self.root / "bundle.bin").write_bytes(content)
        (self.root / "code.s").write_text(
            f'.section .hip_fatbin,"a",@progbits\n.balign 4096\nstart:\n.incbin "{self.root}/bundle.bin"\n'
            '.section .hipFatBinSegment,"aw",@progbits\n.balign 8\n.globl wrapper\nwrapper:\n.long 0x48495046, 1\n'
            ".quad start, 0\n.section .note.GNU-stack,\"\",@progbits\n")
        (self.root / "host.c").write_text(
            "extern struct { int magic, version; char *data; void *other; } wrapper __attribute__((visibility(\"hidden\")));\n"
            "int host(int v) { return v + 3; }\nconst char *code(void) { return wrapper.data; }\n")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", self.root / "hip.so", self.root / "host.c", self.root / "code.s"],
                       check=True, capture_output=True)
        return (self.root / "hip.so").read_bytes()

    def bundle(self, **codes):
        """The layout of clang's documentation, with a page for each code object."""
        ids = {"host-x86_64-unknown-linux--": b"", **{f"hipv4-amdgcn-amd-amdhsa--{k}": v for k, v in codes.items()}}
        table = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(ids))
        at, body = 4096, b""
        for name, code in ids.items():
            table += struct.pack("<QQQ", at + len(body), len(code), len(name)) + name.encode()
            body += code + bytes(-len(code) % 4096)
        return table.ljust(4096, b"\0") + body

    def test_one_wheel_a_processor(self):
        code = {"gfx90a:xnack+": b"A" * 70000, "gfx90a:xnack-": b"B" * 50000, "gfx942": b"C" * 90000}
        data = self.library(self.bundle(**code))
        path = self.wheel({"demo/hip.so": data}).write(self.root)
        result = self.repack(path, "--split", "gfx", "--json")
        self.assert_ok(result)
        rows = result.json["wheels"]
        self.assertEqual([row["label"] for row in rows], ["gfx90a", "gfx942"])
        self.assertEqual(rows[1]["properties"], ["amd :: gfx_arch :: gfx942"])
        for row, kept in zip(rows, ([code["gfx90a:xnack+"], code["gfx90a:xnack-"]], [code["gfx942"]])):
            after = self.assert_whole(row["file"])["demo/hip.so"]
            self.assertLess(len(after), len(data) - 80000)
            cut = self.root / f"{row['label']}.so"
            cut.write_bytes(after)
            self.assertEqual(subprocess.run(["readelf", "-aW", cut], capture_output=True, text=True).stderr, "")
            loaded = ctypes.CDLL(str(cut))
            self.assertEqual(loaded.host(4), 7)
            loaded.code.restype = ctypes.c_void_p
            begin = loaded.code()
            self.assertEqual(ctypes.string_at(begin, 24), b"__CLANG_OFFLOAD_BUNDLE__")
            count, = struct.unpack("<Q", ctypes.string_at(begin + 24, 8))
            at, found = begin + 32, []
            for _ in range(count):
                offset, size, length = struct.unpack("<QQQ", ctypes.string_at(at, 24))
                at += 24 + length
                if size:
                    self.assertEqual(offset % 4096, 0)
                    found.append(ctypes.string_at(begin + offset, size))
            self.assertEqual(found, kept)
        machines = {row["machine"]: row["variant"] for row in result.json["machines"]}
        self.assertEqual(machines["mi300x"], "gfx942")

    def check_split(self, content, labels):
        """By clang's own bundler, if there is one."""
        data = self.library(content)
        path = self.wheel({"demo/hip.so": data}).write(self.root)
        result = self.repack(path, "--split", "gfx", "--json")
        self.assert_ok(result)
        self.assertEqual([row["label"] for row in result.json["wheels"]], labels)
        for row in result.json["wheels"]:
            self.assertEqual((row["code"]["kept"], row["code"]["removed"]), (1, len(labels) - 1))
            after = self.assert_whole(row["file"])["demo/hip.so"]
            self.assertLessEqual(len(after), len(data))  # less than a page may be what is removed
            cut = self.root / f"{row['label']}.bundle"
            content = sections(after)[".hip_fatbin"][1]
            if content[:4] == b"CCOB":  # the bundler takes all of the file for its frame
                version, = struct.unpack_from("<H", content, 4)
                content = content[:struct.unpack_from("<I" if version == 2 else "<Q", content, 8)[0]]
            cut.write_bytes(content)
            if BUNDLERS:
                listed = subprocess.run([BUNDLERS[-1], "--list", "--type=o", f"--input={cut}"], capture_output=True,
                                        text=True)
                self.assertEqual(re.findall(r"gfx\w+", listed.stdout), [row["label"]], listed.stderr)

    @unittest.skipUnless(CLANG and LINKER, "there is no clang or no lld")
    def test_made_by_clang(self):
        source = self.root / "hip.hip"
        source.write_text('struct dim3 { unsigned x, y, z; };\n'
                          'extern "C" int hipLaunchKernel(const void *, dim3, dim3, void **, unsigned long, void *);\n'
                          'extern "C" int host(int v) { return v + 3; }\n'
                          '__attribute__((global)) void twice(float *x) { x[0] *= 2; }\n')
        made = subprocess.run(
            [CLANG, "-x", "hip", "--offload-arch=gfx90a", "--offload-arch=gfx1030", "-nogpuinc", "-nogpulib", "-fPIC",
             "-O1", "-c", "-o", self.root / "hip.o", source], capture_output=True, text=True)
        if made.returncode != 0:
            self.skipTest("this clang compiles no HIP: " + made.stderr.splitlines()[0])
        self.check_split(sections((self.root / "hip.o").read_bytes())[".hip_fatbin"][1], ["gfx1030", "gfx90a"])

    @unittest.skipUnless(BUNDLERS, "there is no clang-offload-bundler")
    def test_compressed_by_llvm(self):
        names = ("gfx1030", "gfx90a", "gfx942")
        inputs = [f"-input={os.devnull}"]
        for name in names:
            (self.root / name).write_bytes(os.urandom(60000))
            inputs.append(f"-input={self.root / name}")
        targets = ",".join(["host-x86_64-unknown-linux-gnu-", *(f"hipv4-amdgcn-amd-amdhsa--{one}" for one in names)])
        bundled = self.root / "packed"
        made = subprocess.run([BUNDLERS[-1], "-type=o", "-bundle-align=4096", f"-targets={targets}", *inputs,
                               f"-output={bundled}", "-compress"], capture_output=True, text=True)
        if made.returncode != 0:
            self.skipTest("this clang-offload-bundler does not compress: " + made.stderr.splitlines()[0])
        content = bundled.read_bytes()
        self.assertEqual(content[:4], b"CCOB")
        self.check_split(content, list(names))
        # The code comes out as it went in.
        for name in names:
            done = subprocess.run([BUNDLERS[-1], "-type=o", "-unbundle", f"-input={self.root / name}.bundle",
                                   f"-targets=hipv4-amdgcn-amd-amdhsa--{name}", f"-output={self.root / 'code'}"],
                                  capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual((self.root / "code").read_bytes(), (self.root / name).read_bytes())


if __name__ == "__main__":
    unittest.main()
