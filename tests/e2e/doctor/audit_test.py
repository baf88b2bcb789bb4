"""`variant audit` of wheels, folders and environments: each finding is provoked with a library that gcc makes, and absent from
a healthy wheel; facts are compared with what readelf says."""

import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from audit_case import CODES, MODULE, TAGS, AuditTestCase
from made_library import CUBIN, PTX, bundle, entry, fatbin, library
from support import VARIANT, Wheel, record_hash, variant_document

PROVOKED = {  # by audit_image_test.py
    "image-broken", "image-libc", "image-twice", "image-hidden", "machine-cpu-only", "machine-gpu-code", "machine-driver", "machine-libc",
    "machine-cpu", "machine-gpu-unknown", "machine-unstated",
}
X86 = subprocess.run(["uname", "-m"], capture_output=True, text=True).stdout.strip() == "x86_64"


@unittest.skipUnless(X86 and shutil.which("gcc"), "needs x86-64 and gcc")
class Findings(AuditTestCase):
    def provoke(self, code, *arguments):
        PROVOKED.add(code)
        return self.found(code, *arguments)

    def test_a_healthy_wheel_has_none(self):
        done = self.audit(self.wheel({MODULE: self.module()}))
        self.assertEqual([one for one in done.json["findings"] if one["severity"] != "info"], [], str(done))
        self.assertEqual(done.code, 0)
        release = done.json["audited"][0]["release"]
        self.assertEqual((release["python"], release["pythons"], release["torch"], release["cuda"]), ("each", ["cp311"], "any", []))
        text = self.assert_ok(self.variant("audit", self.wheel({MODULE: self.module()})))
        self.assertIn("to build", text.out)

    def test_a_pure_wheel_has_none(self):
        done = self.audit(Wheel("demo", "1.0").write(self.root))
        self.assertEqual((done.code, done.json["findings"]), (0, []))

    def test_floors_are_readelfs(self):
        data = self.module("extern int clock_gettime(int, void*); clock_gettime(0, 0); return 0;")
        floor = self.audit(self.wheel({MODULE: data})).json["audited"][0]["floor"]
        (self.root / "m.so").write_bytes(data)
        said = subprocess.run(["readelf", "-V", "--wide", self.root / "m.so"], capture_output=True, text=True).stdout
        versions = [tuple(map(int, one.split("."))) for one in re.findall(r"GLIBC_([0-9.]+)", said)]
        self.assertEqual(floor["versions"]["GLIBC"]["version"], ".".join(map(str, max(versions))))

    def test_platform_tags(self):
        # memfd_create is of glibc 2.27.
        needs = self.module("extern int memfd_create(const char*, unsigned); memfd_create(0, 0); return 0;")
        old = self.provoke("platform-tag-old", self.wheel({MODULE: needs}, "cp311-cp311-manylinux_2_17_x86_64"))
        self.assertIn("GLIBC_2.27", old["message"])
        self.assertIn("manylinux_2_27_x86_64", old["hint"])
        self.assertNotIn("platform-tag-old", self.codes(self.wheel({MODULE: needs}, "cp311-cp311-manylinux_2_27_x86_64")))
        self.provoke("platform-tag-cautious", self.wheel({MODULE: needs}))
        self.provoke("platform-tag-any", self.wheel({"demo/libx.so": self.library()}, "py3-none-any"))
        self.provoke("platform-tag-local", self.wheel({MODULE: self.module()}, "cp311-cp311-linux_x86_64"))
        self.provoke("architecture-differs", self.wheel({MODULE: self.module()}, "cp311-cp311-manylinux_2_17_aarch64"))
        self.provoke("libc-differs", self.wheel({MODULE: needs}, "cp311-cp311-musllinux_1_2_x86_64"))

    def test_a_private_symbol_version(self):
        data = library(needed=["libc.so.6"], undefined=["f"], versions=[("libc.so.6", "GLIBC_PRIVATE", 0)])
        self.assertIn("GLIBC_PRIVATE", self.provoke("symbol-version-unknown", self.wheel({"demo/libx.so": data}))["message"])

    def test_undeclared_libraries(self):
        needs = library(needed=["libc.so.6", "libcublas.so.12", "libfoo.so.3"], soname="libx.so")
        codes = self.codes(self.wheel({"demo/libx.so": needs}))
        self.assertEqual(codes.count("library-undeclared"), 2)
        PROVOKED.add("library-undeclared")
        # Each of the ways to bring one.
        for requires, files, left in (
                (["nvidia-cublas-cu12"], {}, {"libfoo.so.3"}), (["torch==2.9.0"], {}, {"libfoo.so.3"}),
                (["nvidia-cublas-cu11"], {}, {"libcublas.so.12", "libfoo.so.3"}),
                ([], {"demo.libs/libfoo.so.3": library(soname="libfoo.so.3")}, {"libcublas.so.12"})):
            with self.subTest(requires):
                done = self.audit(self.wheel({"demo/libx.so": needs, **files}, requires=requires)).json
                said = {one["evidence"][0]["fact"] for one in done["findings"] if one["code"] == "library-undeclared"}
                self.assertEqual(said, left)

    def test_libraries_of_the_driver_python_and_two_cudas(self):
        self.provoke("needs-driver", self.wheel({"demo/libx.so": library(needed=["libcuda.so.1"])}))
        self.provoke("links-python", self.wheel({"demo/libx.so": library(needed=["libpython3.11.so.1.0"])}))
        both = {"demo/liba.so": library(needed=["libcudart.so.12"]), "demo/libb.so": library(needed=["libcublas.so.11"])}
        self.provoke("cuda-majors-differ", self.wheel(both, requires=["nvidia-cuda-runtime-cu12", "nvidia-cublas-cu11"]))

    def test_python_tags_and_the_stable_abi(self):
        foreign = MODULE.replace("-x86_64-", "-s390x-")
        pypy = "demo/_c.pypy311-pp73-x86_64-linux-gnu.so"
        self.assertNotIn("python-tag-differs", self.codes(self.wheel({pypy: self.module()}, "pp311-pypy311_pp73-manylinux_2_34_x86_64")))
        self.provoke("python-tag-differs", self.wheel({pypy: self.module()}, "cp311-cp311-manylinux_2_34_x86_64"))
        found = self.provoke("module-name-differs", self.wheel({foreign: self.module()}))
        self.assertIn(MODULE.rsplit("/", 1)[1], found["hint"])
        self.provoke("python-tag-differs", self.wheel({MODULE: self.module()}, "cp312-cp312-manylinux_2_34_x86_64"))
        stable = "demo/_c.abi3.so"
        vectorcall = self.module("PyObject_Vectorcall(); return 0;", "void PyObject_Vectorcall(void);")
        private = self.module("_PyUnicode_Ready(); return 0;", "void _PyUnicode_Ready(void);")
        early = self.provoke("stable-abi-broken", self.wheel({stable: vectorcall}, "cp39-abi3-manylinux_2_34_x86_64"))
        self.assertIn("since 3.12", early["evidence"][0]["fact"])
        self.assertEqual(self.audit(self.wheel({stable: vectorcall}, "cp312-abi3-manylinux_2_34_x86_64")).code, 0)
        self.assertIn("not in the stable ABI", self.found(
            "stable-abi-broken", self.wheel({stable: private}, "cp312-abi3-manylinux_2_34_x86_64"))["evidence"][0]["fact"])

    def test_torch(self):
        cxx = self.module("_ZN3c105ErrorC1Ev(); return 0;", "void _ZN3c105ErrorC1Ev(void);")
        shim = self.module("aoti_torch_new(); return 0;", "void aoti_torch_new(void);")
        for requires in ([], ["torch"], ["torch>=2.4"], ["torch<2.10,>=2.8"]):
            with self.subTest(requires):
                self.provoke("torch-unpinned", self.wheel({MODULE: cxx}, requires=requires))
        for requires in (["torch==2.9.0"], ["torch==2.9.*"], ["torch~=2.9.0"], ["torch<2.10,>=2.9"]):
            with self.subTest(requires):
                done = self.audit(self.wheel({MODULE: cxx}, requires=requires))
                self.assertEqual(done.code, 0, str(done))
                self.assertEqual(done.json["audited"][0]["release"]["torch"], "each")
        done = self.audit(self.wheel({MODULE: shim}, requires=["torch>=2.4"]))
        self.assertEqual((done.code, done.json["audited"][0]["release"]["torch"]), (0, "stable"))
        self.assertIn("torch releases since", done.json["audited"][0]["release"]["line"])

    def test_loading(self):
        plain = "int f(void) { return 1; }\n"
        self.provoke("executable-stack", self.wheel({"demo/libx.so": self.library(plain, "-Wl,-z,execstack")}))
        self.provoke("writable-code", self.wheel({"demo/libx.so": self.library(plain, "-nostdlib", "-Wl,-N")}))
        (self.root / "r.s").write_text("  .text\n  .globl g\ng:\n  movabs $f, %rax\n  ret\n  .section .note.GNU-stack,\"\",@progbits\n")
        self.provoke("text-relocations", self.wheel({"demo/libx.so": self.library(plain, "-Wl,-z,notext", more=[self.root / "r.s"])}))
        absolute = self.provoke("rpath-absolute", self.wheel({"demo/libx.so": self.library(plain, "-Wl,-rpath,/home/me/lib")}))
        self.assertIn("/home/me/lib", absolute["message"])
        self.provoke("rpath-outside", self.wheel({"demo/libx.so": self.library(plain, "-Wl,-rpath,$ORIGIN/../../../../../lib")}))
        for inside in ("$ORIGIN/../demo.libs", "$ORIGIN/../../../../", "$ORIGIN"):
            self.assertEqual(self.audit(self.wheel({"demo/libx.so": self.library(plain, f"-Wl,-rpath,{inside}")})).code, 0, inside)

    def test_instructions(self):
        avx = "void f(float* p) { for (int i = 0; i < 4096; ++i) p[i] *= 3.0f; }\n"
        guarded = avx + "int g(void) { return __builtin_cpu_supports(\"avx2\"); }\n"
        found = self.provoke("instructions-undeclared", self.wheel({"demo/libx.so": self.library(avx, "-O3", "-mavx2")}))
        self.assertEqual(found["severity"], "error")
        self.assertIn("function f", found["evidence"][0]["fact"])
        self.assertEqual(self.audit(self.wheel({"demo/libx.so": self.library(guarded, "-O3", "-mavx2")})).code, 0)
        self.assertEqual(self.audit(self.wheel({"demo/libx_avx2.so": self.library(avx, "-O3", "-mavx2")})).code, 0)
        both = {"demo/libx.so": self.library(avx, "-O3", "-mavx2"), "demo/liby.so": self.library(guarded, "-O3", "-mavx2")}
        self.assertEqual(self.found("instructions-undeclared", self.wheel(both))["severity"], "warning")
        document = variant_document({"v3": [("x86_64", "level", ["v3"])]})
        of_v3 = dict(label="v3", document=document)
        self.assertEqual(self.audit(self.wheel({"demo/libx.so": self.library(avx, "-O3", "-mavx2")}, **of_v3)).code, 0)
        self.found("instructions-undeclared", self.wheel({"demo/libx.so": self.library(avx, "-O3", "-march=x86-64-v4", "-mprefer-vector-width=512")}, **of_v3))
        level = self.library(avx, "-O3", "-march=x86-64-v3", "-Wl,-z,x86-64-v3")
        self.provoke("cpu-level-undeclared", self.wheel({"demo/libx_avx2.so": level}))

    def test_gpu_code(self):
        document = variant_document({"sm90": [("nvidia", "sm_arch", ["90_real"])]}, namespaces=("nvidia",))
        code = library([(".nv_fatbin", fatbin(entry(CUBIN, 80)))])
        found = self.provoke("gpu-code-missing", self.wheel({"demo/libx.so": code}, label="sm90", document=document))
        self.assertIn("sm_80", found["evidence"][0]["fact"])
        fitting = library([(".nv_fatbin", fatbin(entry(CUBIN, 80), entry(CUBIN, 90)))])
        done = self.audit(self.wheel({"demo/libx.so": fitting}, label="sm90", document=document))
        self.assertEqual((done.code, done.json["audited"][0]["gpu_code"]), (0, {"nvidia": ["sm_80", "sm_90"]}))
        self.provoke("gpu-code-packed", self.wheel({"demo/libx.so": library([(".nv_fatbin", fatbin(entry(CUBIN, 80, flags=0x8000)))])}))
        newer = b"CCOB" + struct.pack("<HHIIQ", 9, 1, 24, 64, 0) + b"c" * 64
        self.provoke("gpu-code-unknown", self.wheel({"demo/libx.so": library([(".hip_fatbin", newer)])}))
        self.found("library-damaged", self.wheel({"demo/libx.so": library([(".nv_fatbin", b"rubbish" * 9)])}))

    def declared(self, files, *properties, tags=TAGS, label="x"):
        namespaces = tuple(dict.fromkeys(one[0] for one in properties))
        document = variant_document({label: [(ns, feature, [value]) for ns, feature, value in properties]}, namespaces)
        return self.wheel(files, tags, label=label, document=document)

    def test_properties_of_another_cpu(self):
        library_x86 = {"demo/libx.so": self.library()}
        wheel = self.declared(library_x86, ("aarch64", "version", "8.2a"))
        found = self.provoke("property-architecture", wheel)
        self.assertIn("aarch64 :: version :: 8.2a is declared", found["message"])
        self.assertIn("its libraries are for x86_64", found["message"])
        self.assertNotIn("property-architecture", self.codes(self.declared(library_x86, ("x86_64", "level", "v3"))))
        arm = {"demo/libx.so": library(machine=183)}
        tags = "cp311-cp311-manylinux_2_34_aarch64"
        self.found("property-architecture", self.declared(arm, ("x86_64", "level", "v3"), tags=tags))
        self.assertNotIn("property-architecture", self.codes(self.declared(arm, ("aarch64", "version", "8.2a"), tags=tags)))
        # Without libraries the tag says it, or another property.
        self.found("property-architecture", self.declared({}, ("aarch64", "version", "8.2a")))
        self.found("property-architecture", self.declared({}, ("aarch64", "version", "8.2a"), ("x86_64", "level", "v3"), tags="py3-none-any"))
        self.assertNotIn("property-architecture", self.codes(self.declared({}, ("aarch64", "version", "8.2a"), tags="py3-none-any")))

    def test_a_newer_cuda_than_the_declared_one(self):
        def codes(content, bound, *more):
            return self.codes(self.declared({"demo/libx.so": content}, ("nvidia", "cuda_version_lower_bound", bound), *more))

        ptx = library([(".nv_fatbin", fatbin(entry(PTX, 90, version=(8, 8))))])
        found = self.provoke("cuda-version-undeclared", self.declared(
            {"demo/libx.so": ptx}, ("nvidia", "cuda_version_lower_bound", "12.0")))
        self.assertIn("PTX of CUDA 12.9", json.dumps(found["evidence"]))
        self.assertNotIn("cuda-version-undeclared", codes(ptx, "12.9"))
        # Compiled code of any age runs with any driver that knows its GPU; PTX beside it is for newer ones.
        both = library([(".nv_fatbin", fatbin(entry(CUBIN, 90), entry(PTX, 90, version=(8, 8))))])
        self.assertNotIn("cuda-version-undeclared", codes(both, "12.0"))
        self.assertNotIn("cuda-version-undeclared", codes(both, "12.0", ("nvidia", "sm_arch", "90_real")))
        self.assertIn("cuda-version-undeclared", codes(both, "12.0", ("nvidia", "sm_arch", "90_virtual")))
        packed = library([(".nv_fatbin", fatbin(entry(CUBIN, 90, flags=0x8000)))])
        self.assertIn("cuda-version-undeclared", codes(packed, "12.0"))
        self.assertNotIn("cuda-version-undeclared", codes(packed, "12.4"))
        self.assertIn("cuda-version-undeclared", codes(library(needed=["libcudart.so.13"]), "12.8"))
        self.assertNotIn("cuda-version-undeclared", codes(library(needed=["libcudart.so.13"]), "13.0"))

    def test_numbers_that_no_version_has(self):
        many = "9" * 400
        content = {"demo/libx.so": library([(".nv_fatbin", fatbin(entry(PTX, 90)))], needed=[f"libcudart.so.{many}"],
                                           versions=[("libc.so.6", f"GLIBC_2.{many}", 0)])}
        for one in (("nvidia", "sm_arch", f"{many}_virtual"), ("nvidia", "sm_arch", f"{many}_real"), ("x86_64", "level", "vx"),
                    ("nvidia", "cuda_version_lower_bound", f"{many}.{many}"), ("x86_64", "level", "v" + many)):
            with self.subTest(one):
                done = self.audit(self.declared(content, one))
                self.assertIn(done.code, (0, 1), str(done))
                self.assertTrue(done.json["audited"], str(done))
                self.assertNotIn("defect", done.out + done.err)
        # A level that is none declares nothing.
        wide = self.library("void f(float* x) { for (int i = 0; i < 64; ++i) x[i] *= 3; }\n", "-O3", "-mavx2")
        self.assertIn("instructions-undeclared", self.codes(self.declared({"demo/libx.so": wide}, ("x86_64", "level", "vx"))))

    def test_what_cannot_be_read_is_said(self):
        as_nobody = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
        if os.geteuid() == 0 and not shutil.which("setpriv"):
            self.skipTest("root reads everything, and there is no setpriv")
        self.root.chmod(0o755)
        folder = self.root / "tree"
        for name in ("demo", "closed", "demo-1.0.dist-info"):
            (folder / name).mkdir(parents=True)
        (folder / "demo/libx.so").write_bytes(self.library())
        (folder / "demo/liby.so").write_bytes(self.library())
        (folder / "closed/libz.so").write_bytes(self.library())
        info = folder / "demo-1.0.dist-info"
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n")
        (info / "WHEEL").write_text("Wheel-Version: 1.0\nTag: py3-none-manylinux_2_34_x86_64\n")
        (info / "RECORD").write_text("demo/libx.so,,\n")
        closed = [folder / "demo/liby.so", folder / "closed", info / "WHEEL"]
        for path in closed:
            path.chmod(0)
        self.addCleanup(lambda: [path.chmod(0o755) for path in closed])
        done = self.variant("audit", folder, "--json", prefix=as_nobody if os.geteuid() == 0 else (), env={"HOME": "/nowhere"})
        said = "\n".join(done.json["not_looked_at"])
        for words in ("demo/liby.so: Permission denied", "closed: ", "demo-1.0.dist-info/WHEEL: Permission denied"):
            self.assertIn(words, said)

    def test_broken_wheels_and_libraries(self):
        lies = Wheel("demo", "1.0")
        lies.record_lies["demo.py"] = (record_hash(b"other"), len(lies.members["demo.py"]))
        self.assertIn("hash", self.provoke("wheel-broken", lies.write(self.root))["message"])
        drops = Wheel("demo", "1.0")
        drops.record_drops.add("demo.py")
        self.found("wheel-broken", drops.write(self.root))
        path = self.root / "demo-1.0-py3-none-any.whl"
        path.write_bytes(b"no archive")
        self.found("wheel-broken", path)
        whole = self.library()
        for size in (70, 500, len(whole) // 2, len(whole) - 100):
            with self.subTest(size):
                self.provoke("library-damaged", self.wheel({"demo/libx.so": whole[:size]}))

    def test_zz_every_code_is_provoked(self):
        self.assertEqual(CODES - PROVOKED, set())


@unittest.skipUnless(X86 and shutil.which("gcc"), "needs x86-64 and gcc")
class Targets(AuditTestCase):
    def test_a_folder_of_wheels(self):
        needs = library(needed=["libdemo_core.so.1"])
        self.wheel({"demo/libx.so": needs}, requires=["demo-core"])
        folder = self.root / "wheels"
        self.assertIn("library-undeclared", self.codes(folder))
        Wheel("demo-core", "1.0", files={"core/libdemo_core.so.1": library(soname="libdemo_core.so.1")}, tags="py3-none-manylinux_2_17_x86_64").write(folder)
        done = self.audit(folder)
        self.assertEqual((done.code, len(done.json["audited"])), (0, 2), str(done))
        (folder / "demo-1.0-py3-none-any.whl").write_bytes(b"broken")
        self.assertEqual(self.codes(folder), ["wheel-broken"])

    def test_an_environment_and_a_tree(self):
        self.make_venv()
        wheel = self.wheel({"demo/libx.so": self.library("int f(void) { return 1; }\n", "-Wl,-z,execstack")}, "py3-none-manylinux_2_34_x86_64")
        self.assert_ok(self.install(wheel))
        self.assertEqual(self.codes("installed", "--python", self.venv), ["executable-stack"])
        site = self.audit(self.site()).json
        self.assertEqual(self.codes(self.site()), ["executable-stack"])
        self.assertEqual([one["kind"] for one in site["audited"]], ["package"])
        tree = self.root / "tree"
        tree.mkdir()
        shutil.copy(self.site() / "demo/libx.so", tree / "libx.so")
        (tree / "loop").symlink_to(tree)
        found = self.audit(tree).json
        self.assertEqual([(one["kind"], len(one["libraries"])) for one in found["audited"]], [("tree", 1)])
        self.assertEqual([one["code"] for one in found["findings"]], ["executable-stack"])

    def test_machines(self):
        wheel = self.wheel({"demo/libx.so": library([(".nv_fatbin", fatbin(entry(CUBIN, 90)))]),
                            MODULE: self.module("extern int memfd_create(const char*, unsigned); memfd_create(0, 0); return 0;")})
        self.assertEqual([one for one in self.codes(wheel, "--for", "h100") if one.startswith("machine")], [])
        done = self.audit(wheel, "--for", "h100", "--for", "rtx5090", "--for", "mi300x")
        said = {(one["code"], one["message"].split(":")[0]) for one in done.json["findings"] if one["code"].startswith("machine")}
        self.assertEqual(said, {("machine-gpu-code", "rtx5090"), ("machine-cpu-only", "mi300x")})
        self.assertIn("no code for sm_120", str(done))
        self.assertEqual(done.json["machines"], ["h100", "rtx5090", "mi300x"])
        self.found("machine-cpu", wheel, "--for", "grace")

    def test_another_c_library(self):
        glibc = self.wheel({"demo/libx.so": library(needed=["libc.so.6"])})
        found = self.found("machine-libc", glibc, "--for", "h100;libc:musl=1.2")
        self.assertIn("it has musl, and demo/libx.so needs glibc", found["message"])
        musl = self.wheel({"demo/libx.so": library(needed=["libc.musl-x86_64.so.1"])}, "cp311-cp311-musllinux_1_2_x86_64")
        self.assertNotIn("machine-libc", self.codes(musl, "--for", "h100;libc:musl=1.2"))
        self.assertIn("needs musl", self.found("machine-libc", musl, "--for", "h100;libc:glibc=2.36")["message"])

    def test_what_is_only_assumed_is_no_fault(self):
        new = self.wheel({"demo/libx.so": library([(".nv_fatbin", fatbin(entry(CUBIN, 90)))]),
                          MODULE: self.module("extern unsigned arc4random(void); arc4random();")}, "cp311-cp311-manylinux_2_36_x86_64")
        for machine, code in ("h100", "machine-unstated"), ("h100;libc:glibc=2.28", "machine-libc"), ("h100;libc:glibc=2.36", None):
            done = self.audit(new, "--for", machine)
            self.assertEqual([one["code"] for one in done.json["findings"] if one["code"].startswith("machine")], [code] if code else [])
            self.assertEqual(done.code, 1 if code == "machine-libc" else 0, str(done))
        found = self.found("machine-unstated", new, "--for", "h100")
        self.assertEqual(found["severity"], "info")
        self.assertIn("needs glibc 2.36, and which one it has was not stated", found["message"])
        self.assertIn("h100;libc:glibc=2.36", found["hint"])
        musl = self.wheel({"demo/libx.so": library(needed=["libc.musl-x86_64.so.1"])}, "cp311-cp311-musllinux_1_2_x86_64")
        self.assertIn("which C library it has", self.found("machine-unstated", musl, "--for", "h100")["message"])
        arm = self.wheel({"demo/libx.so": library(machine=183)}, "cp311-cp311-manylinux_2_28_aarch64")
        self.assertIn("for aarch64", self.found("machine-unstated", arm, "--for", "h100")["message"])
        self.found("machine-cpu", arm, "--for", "h100;x86_64:v3")
        # PTX 9.9 is newer than any driver that is assumed.
        ptx = self.wheel({"demo/libx.so": library([(".nv_fatbin", fatbin(entry(PTX, 80, version=(9, 1))))])})
        self.assertIn("which driver it has", self.found("machine-unstated", ptx, "--for", "h100")["message"])
        self.found("machine-driver", ptx, "--for", "h100;nvidia:driver=580.65.06")

    def test_usage(self):
        self.assert_fails(self.variant("audit"), 2, "nothing to audit")
        self.assert_fails(self.variant("audit", "nowhere.whl"), 2, "nowhere.whl", "no such file")
        empty = self.root / "empty"
        (empty / "inside").mkdir(parents=True)
        self.assert_fails(self.variant("audit", empty), 1, str(empty), "nothing to audit")
        (empty / "inside/text").write_text("no library")
        self.assert_fails(self.variant("audit", empty), 1, "nothing to audit")
        alone = empty / "inside/libx.so"
        alone.write_bytes(self.library())
        self.assert_fails(self.variant("audit", alone), 2, "libx.so: it is a library", "the folder that it is in")
        self.assert_ok(self.variant("audit", alone.parent))
        self.assert_fails(self.variant("audit", "installed", "--python", self.root / "nowhere"), 1)
        self.assert_fails(self.audit(self.wheel({MODULE: self.module()}), "--for", "h1000"), 2, "h100")


if __name__ == "__main__":
    unittest.main()
