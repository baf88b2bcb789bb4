"""The seeds that are no text, made where they are needed: make_seeds.py FOLDER writes FOLDER/<room>/<target>/<seed>."""

import gzip
import hashlib
import io
import pathlib
import struct
import sys
import tarfile

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent.parent / "e2e" / one) for one in ("", "install")]
import stored_models  # noqa: E402
from hostile_archive import DESCRIPTOR, END, Archive, Member, extra  # noqa: E402
from made_library import CUBIN, PTX, bundle, entry, fatbin, library, registered_library  # noqa: E402

COMPAT_NOTE = b'{"format":1,"CUDA version":"12.9","driver":[535,550,570],}\0\0'
OWNER = b"NVIDIA Corporation\0"


def zero_ended(*texts):
    return b"".join(text.encode() + b"\0" for text in texts)


def note(owner, content):
    return struct.pack("<III", len(owner), len(content), 1) + owner.ljust(20, b"\0") + content


def packed_bundle(version, kind, size):
    """The head of a compressed bundle (LLVM, OffloadBundler): its content is only the beginning of one."""
    return struct.pack("<4sHHII8s", b"CCOB", version, kind, size, 100, b"h" * 8) + b"\x28\xb5\x2f\xfd".ljust(16, b"\0")



def archive(**changes):
    """A wheel with these fields, and `module`: of its member demo/__init__.py."""
    made = Archive()
    for name, value in changes.pop("module", {}).items():
        setattr(made.module, name, value)
    for name, value in changes.items():
        setattr(made, name, value)
    return made.bytes()


def described(data):
    """Stored, with a data descriptor in the content and behind it."""
    told = Member("x", data).fields()
    return {"data": data, "descriptor": DESCRIPTOR + struct.pack("<III", told["crc"], told["packed"], told["size"])}


def safetensors(header, data=b""):
    return struct.pack("<Q", len(header)) + header + data


def gguf_text(value):
    return struct.pack("<Q", len(value)) + value


def gguf_value(key, kind, value):
    return gguf_text(key) + struct.pack("<I", kind) + value


def gguf_tensor(name, kind, offset, *lengths):
    return gguf_text(name) + struct.pack(f"<I{len(lengths)}QIQ", len(lengths), *lengths, kind, offset)


def gguf(values, tensors, data=b"", version=3):
    head = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(values)) + b"".join(values + tensors)
    return head + bytes(-len(head) % 32) + data if data else head


GGUF_VALUES = [
    gguf_value(b"a", 4, struct.pack("<I", 32)), gguf_value(b"b", 8, gguf_text(b"llama")), gguf_value(b"c", 7, b"\1"),
    gguf_value(b"d", 9, struct.pack("<IQ", 8, 2) + gguf_text(b"one") + gguf_text(b"")),
    gguf_value(b"e", 9, struct.pack("<IQ", 6, 2) + bytes(8)), gguf_value(b"k", 12, bytes(8)),
]
# ggml's numbers of the types of blocks, and the bytes of one.
GGUF_BLOCKS = {2: 18, 3: 20, 6: 22, 8: 34, 12: 144, 13: 176, 14: 210}

COMPAT_LIBRARY = library([(".note.cuda.fwd_compatibility", note(OWNER, COMPAT_NOTE))], soname="libcuda.so.1")
TWO_FATBINS = fatbin(entry(CUBIN, 80), entry(CUBIN, 90, flags=0x100000)) + fatbin(entry(PTX, 90))
BUNDLE = bundle("gfx942:sramecc+:xnack-", "gfx11-generic")



def tar(members):
    """`members`: name -> bytes, a link's target as text, or None for a folder."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            if content is None:
                info.type = tarfile.DIRTYPE
            elif isinstance(content, str):
                info.type, info.linkname = tarfile.SYMTYPE, content
            else:
                info.size = len(content)
            archive.addfile(info, io.BytesIO(content) if isinstance(content, bytes) else None)
    return out.getvalue().rstrip(b"\0") + bytes(1024)


LONG_FATBIN = fatbin(*[entry(CUBIN, 80)] * 120, entry(CUBIN, 90))
LAYER = tar({"usr/lib/libx.so": library(needed=["libc.so.6"]), "a" * 120: b"long", "usr/.wh.gone": b"", "link": "/etc"})
MANIFEST = b'{"layers":[]}'
DIGEST = hashlib.sha256(MANIFEST).hexdigest()
OCI_INDEX = b'{"manifests":[{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":"sha256:%s","size":13}]}' % DIGEST.encode()

SEEDS = {
    "doctor/image_layer": {"plain": LAYER, "gzip": gzip.compress(LAYER, mtime=0), "two_members": gzip.compress(LAYER[:700], mtime=0)
                           + gzip.compress(LAYER[700:], mtime=0), "cut": gzip.compress(LAYER, mtime=0)[:200]},
    "doctor/image_manifest": {
        "docker": tar({"manifest.json": b'[{"Config":"c","RepoTags":["a:1"],"Layers":["l.tar"]}]', "l.tar": b""}),
        "oci": tar({"oci-layout": b"{}", "index.json": OCI_INDEX, f"blobs/sha256/{DIGEST}": MANIFEST})},
    "binaries/code_scan": {
        "library": library(needed=["libc.so.6"], undefined=["PyErr_Clear", "_ZN3c104goneEv", "torch_call"]),
        "code": bytes.fromhex("62f17c4858c0c5f877f3480fb8c00fa2c4e27d180500000000660f3a0fc008e8000000000f01d0c3")},
    "binaries/abi_match": {
        "symbols": library(soname="fuzz.so", needed=["libother.so"], defined=["_ZN3c105ErrorE"],
                           undefined=["_ZNK3c104goneEv", "aoti_torch_new", "PyInit_x"], weak=["maybe"]),
        "versions": library(soname="fuzz.so", needed=["libc.so.6", "libother.so"], undefined=["f"], versions=[
            ("libc.so.6", "GLIBC_2.38", 0), ("libc.so.6", "GLIBC_2.40", 2), ("libother.so", "OTHER_1", 0)])},
    "binaries/binary_scan": {
        "archive": b"!<arch>\n" + b"64.20.1.0/      0           0     0     644     2         `\nab",
        "cuda": library([(".nv_fatbin", TWO_FATBINS)], needed=["libcudart.so.12"]),
        "rocm": library([(".hip_fatbin", BUNDLE)], isa=4),
    },
    "binaries/binary_file": {"cuda": library([(".nv_fatbin", TWO_FATBINS)], needed=["libcudart.so.12"])},
    "binaries/library_cut": {"cuda": library([(".nv_fatbin", TWO_FATBINS)]), "rocm": library([(".hip_fatbin", BUNDLE)]),
                             "fatbins": TWO_FATBINS, "bundle": BUNDLE, "packed": packed_bundle(2, 1, 40),
                             "cuda_registered": registered_library(LONG_FATBIN, ".nv_fatbin"),
                             "rocm_registered": registered_library(BUNDLE, ".hip_fatbin")},
    "binaries/cuda_fatbin": {"cut": TWO_FATBINS[:60], "two": TWO_FATBINS},
    "foundation/elf_file": {"needed": library(needed=["libc.so.6", "libm.so.6"], soname="liba.so.1", rpath="$ORIGIN")},
    "detect/elf_note": {"compat": COMPAT_LIBRARY, "cut": COMPAT_LIBRARY[:-70]},
    "installer/unflushed_change": {
        "newer": zero_ended("axle-unflushed 3", "t"),
        "removal": zero_ended("axle-unflushed 2", "remove a 1", "/store", "0", "1", "lib/a", "1", "3", "4", "b.py", "0"),
        "package": zero_ended("axle-unflushed 2", "install a 1", "/store", "5", "0", "1", "a", "1", "a-1-py3-none-any.whl", "file:///a",
                              "a" * 64, "lib/a-1.dist-info", "1", "lib/a.py", "a.py", "hash", "-", "5"),
        "record": zero_ended("axle-unflushed 2", "install a 1", "/store", "5", "0", "1", "a", "1", "a-1-py3-none-any.whl", "file:///a",
                             "a" * 64, "lib/a-1.dist-info", "1", "lib/a-1.dist-info/RECORD", "", "hash", "-", "58")
                  + f"a.py,sha256={'h' * 43},1\n".encode(),
    },
    "installer/history": {
        "newer": zero_ended("axle-history 9", "0", "0", "0"),
        "empty": zero_ended("axle-history 1", "0", "0", "0"),
        "removal": zero_ended("axle-history 1", "0", "1", "remove a 1", "1", "a", "1", "a-1-py3-none-any.whl", "file:///a", "0" * 64, "r", "+v3",
                              "", "1", "x86_64 :: level :: v3", "0", "rd", "0", "0"),
    },
    "installer/journal": {
        "newer": zero_ended("axle-journal 2", "t"),
        "outside": zero_ended("axle-journal 1", "t", "-0", "../x"),
        "two": zero_ended("axle-journal 1", "install a 1", "-0", "lib/a", "+0", "lib/a"),
    },
    "detect/loader_cache": {
        "two": zero_ended("glibc-ld.so.cache1.1", "libcuda.so.1", "/opt/x/libcuda.so.1", "/opt/y/libcuda.so.1"),
    },
    "installer/manifest": {
        "count": zero_ended("axle-manifest 1", "a", "b", "platlib", "x", "9" * 20),
        "markers": zero_ended("axle-manifest 2", "a-1-py3-none-any.whl", "a-1.dist-info", "purelib", "",
                              "variant markers", "0"),
        "one": zero_ended("axle-manifest 1", "a-1-py3-none-any.whl", "a-1.dist-info", "purelib", "", "1", "a.py",
                          "hash", "12", "1700000000", "-"),
    },
    "installer/partial_log": {
        # The target adds the first line, and the check of each.
        "hashes": b"hash 64 " + b"00c0ffee " * 7 + b"00c0ffee\nhash 640" + b" 00000001" * 8,
        "members": b"done 0\ndone 3\nplace 7 1000 40003 20000 deadbeef",
        "far": b"place 7 18446744073709551615 18446744073709551615 0 00000000\nhash 64\ndone -1\n",
    },
    "installer/site_snapshot": {
        "newer": zero_ended("axle-site 3", "/site"),
        "long": zero_ended("axle-site 2", "/site", "a-1.dist-info", "99999999999999999999"),
        "two": zero_ended("axle-site 2", "/site", "a-1.dist-info", "3") + b"1\x002"
               + zero_ended("Name: a\nVersion: 1\n", "-", "-", "+pip", "-", "+", "+", "b-1.dist-info", "0", "", "+{}", "-", "-", "-", "-", "-"),
    },
    "session/answer_record": {
        "newer": zero_ended("axle-answer 2", "key"),
        "once": zero_ended("axle-answer 1", "key", "", "text\n", "", "/venv", "-", "4") + b"1\x002\x00" + zero_ended("/a", "/b"),
        "twice": zero_ended("axle-answer 1", "key", "sm=90\n", "text\n", "note", "/venv", "+", "0"),
        "long": zero_ended("axle-answer 1", "key", "", "", "", "", "+", "18446744073709551615"),
    },
    "binaries/offload_bundle": {"packed_v2": packed_bundle(2, 1, 40), "plain": BUNDLE},
    "wheel/zip_reader": {
        "comment": archive(comment=b"text" + END),
        "descriptor_in_content": archive(module=described(b"x" + DESCRIPTOR + bytes(12))),
        "zip64_zero": archive(module={"local": {"packed": 0, "size": 0, "extra": extra(1, struct.pack("<QQ", 17, 17))}}),
        "zip64_end": archive(end64={}),
        "final_dot": archive(members=[Member("demo/__init__.py", b"a"), Member("demo/__init__.py.", b"b")]),
    },
    "wheel/core_metadata": {"carriage_return": b"Metadata-Version: 2.1\nSummary: x\rName: other\nName: demo\nVersion: 1.0\n"},
    "runtime/safetensors": {
        "empty": safetensors(b"{}   "),
        "metadata": safetensors(b'{"__metadata__":{"format":"pt"},"x":{"dtype":"BF16","shape":[2,1],"data_offsets":[0,4]}}', b"abcd"),
        "three": safetensors(b'{"a":{"dtype":"F16","shape":[],"data_offsets":[0,2]},"b":{"dtype":"F8_E4M3","shape":[0,3],'
                             b'"data_offsets":[2,2]},"c":{"dtype":"I64","shape":[1],"data_offsets":[2,10]}}', b"0123456789"),
    },
    "runtime/tokenizer_json": {
        "text_behind": b'{"model":{"type":"BPE","vocab":{"a":0,"b":1,"ab":2},"merges":["a b"],"ignore_merges":true},'
                       b'"pre_tokenizer":{"type":"ByteLevel"},"added_tokens":[{"id":3,"content":"<e>"}]}\0ab <e>\xff\xc3\xa9 abab'},
    "runtime/gguf": {
        "values": gguf(GGUF_VALUES, []),
        "version_2": gguf([gguf_value(b"general.alignment", 4, struct.pack("<I", 64))], [], version=2),
        "two": gguf([], [gguf_tensor(b"x", 0, 0, 2, 3), gguf_tensor(b"y", 30, 32, 1)], bytes(34)),
    } | {f"blocks_{kind}": gguf([], [gguf_tensor(b"x", kind, 0, 256 if kind > 8 else 32)], b"b" * size)
         for kind, size in GGUF_BLOCKS.items()},
    "runtime/stored_model": stored_models.seeds(),
    "session/requirements_file": {"nul": b"demo\n-c3\0\0s/st\nmore\n"},
}


def main(folder):
    for target, seeds in SEEDS.items():
        place = pathlib.Path(folder) / target
        place.mkdir(parents=True, exist_ok=True)
        for name, content in seeds.items():
            (place / name).write_bytes(content)


if __name__ == "__main__":
    main(*sys.argv[1:])
