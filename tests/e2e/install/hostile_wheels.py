"""Every hostile wheel that the tests know, one row each: its class, what it is, how it is made and what Axle says of it.

The classes are those of the literature on zip confusion (You et al., "My ZIP isn't your ZIP", USENIX Security 2025; Fifield, "A
better zip bomb", WOOT 2019), of the public index's rules for uploads, and of what PEP 427 and 491 leave to installers.
"""

import dataclasses
import gzip
import json
import struct
from typing import Callable

from hostile_archive import (CENTRAL, DEFER16, DEFER32, DEFLATED, DESCRIBED, DESCRIPTOR, END, END64, LOCATOR64, UTF8, Member,
                             deflate, extra, small_archive)
from support import variant_document


@dataclasses.dataclass
class Case:
    group: str
    what: str
    says: str  # part of Axle's error
    make: Callable  # changes an Archive
    file_name: str = "demo-1.0-py3-none-any.whl"


CASES: list[Case] = []


def case(group, what, says, make, **more):
    CASES.append(Case(group, what, says, make, **more))


def setting(**fields):
    def make(archive):
        for name, value in fields.items():
            setattr(archive, name, value)
    return make


def module(**fields):
    """Changes the member demo/__init__.py."""
    def make(archive):
        for name, value in fields.items():
            setattr(archive.module, name, value)
    return make


def adding(name, data=b"content\n", **how):
    return lambda archive: archive.add(name, data, **how)


def both(*makes):
    def make(archive):
        for one in makes:
            one(archive)
    return make


HASH = "sha256=" + "A" * 43
TEXT = b"VALUE = 'a demo'\n"
LONG = b"line of a module\n" * 300

# --- the end of the archive -----------------------------------------------------------------------------------------
ENDS = "end record"
case(ENDS, "an empty file", "too short for a zip archive", setting(whole=b""))
case(ENDS, "an HTML page", "no end record", setting(whole=b"<html>not here</html>" * 99))
case(ENDS, "a gzip file", "no end record", setting(whole=gzip.compress(LONG * 9)))
case(ENDS, "an archive without entries", "a wheel has one \".dist-info\" folder", setting(whole=END + bytes(18)))


def cut(keep):
    def make(archive):
        archive.whole = None
        data = archive.bytes()
        archive.whole = data[:keep(len(data))]
    return make


case(ENDS, "the first half", "no end record", cut(lambda size: size // 2))
case(ENDS, "all but the last byte", "no end record", cut(lambda size: size - 1))
case(ENDS, "NUL bytes after the end", "1000 bytes after the end of the archive", setting(after_end=bytes(1000)))
case(ENDS, "a second archive after the end", "two end records", setting(after_end=small_archive()))


def appended(archive):
    archive.after_end = small_archive(len(archive.bytes()))


case(ENDS, "a second archive after the end, its offsets adapted", "bytes before the first entry", appended)
case(ENDS, "a script before the archive", "bytes before the archive", setting(before=b"#!/bin/sh\n" * 50, hidden_offset=500))
case(ENDS, "a script before the archive, the offsets adapted", "500 bytes before the first entry", setting(before=b"#!/bin/sh\n" * 50))
case(ENDS, "another archive before it, the offsets adapted", "bytes before the first entry", setting(before=small_archive()))
case(ENDS, "a comment that is longer than it says", "2 bytes after the end", setting(comment=b"text", end={"comment_length": 2}))
case(ENDS, "a comment that is shorter than it says", "truncated inside the archive comment",
     setting(comment=b"text", end={"comment_length": 40}))
case(ENDS, "a comment with the end record of an empty archive", "two end records", setting(comment=END + bytes(18)))


def in_comment(archive):
    archive.comment = small_archive(len(archive.bytes()))


case(ENDS, "a comment with a whole archive, its offsets adapted", "bytes before the first entry", in_comment)
case(ENDS, "a comment that ends with the signature of an end record", "signature of a zip record in the archive comment",
     setting(comment=b"text" + END))
case(ENDS, "a comment with an end record that its length cuts off", "signature of a zip record in the archive comment",
     setting(comment=END + bytes(17)))
case(ENDS, "a comment with a record of a directory", "signature of a zip record in the archive comment",
     setting(comment=CENTRAL + bytes(60)))
case(ENDS, "one entry fewer than the directory has", "bytes in the directory after its", setting(end={"here": 1, "entries": 1}))
case(ENDS, "one entry more than the directory has", "is damaged or truncated",
     both(module(central={"comment": b"x" * 60}), lambda archive: archive.end.update(
         here=len(archive.members) + 4, entries=len(archive.members) + 4)))
case(ENDS, "65,534 entries in four", "cannot hold 65534 entries", setting(end={"here": 65534, "entries": 65534}))
case(ENDS, "fewer entries in this part than in all", "multi-part", setting(end={"here": 2}))
case(ENDS, "the second part of two", "multi-part", setting(end={"disk": 1}))
case(ENDS, "a directory in another part", "multi-part", setting(end={"directory_disk": 1}))
case(ENDS, "a directory that is shorter than it is", "places the directory", setting(end={"size": 100}))
case(ENDS, "a directory that is longer than the archive", "places the directory", setting(end={"size": 0x7FFFFFFF}))
case(ENDS, "a directory at another place", "places the directory", setting(end={"offset": 1}))
case(ENDS, "bytes between directory and end record", "places the directory", setting(after_directory=b"hidden"))


def second_directory(archive):
    """The first is the one that a reader from the front finds."""
    archive.before_directory = Member("evil.py", b"x").central_record(0)


case(ENDS, "another directory before the directory", "belong to no entry", second_directory)


def signed(archive):
    signature = b"PK\x05\x05" + struct.pack("<H", 6) + b"signed"
    archive.after_directory = signature
    archive.end["size"] = sum(len(one.central_record(0)) for one in [*archive.members, *archive.own, archive.record]) + len(signature)


case(ENDS, "a digital signature in the directory", "bytes in the directory after its", signed)
case(ENDS, "an archive extra data record", "belong to no entry", setting(before_directory=b"PK\x06\x08" + struct.pack("<I", 3) + b"abc"))

# --- Zip64 ----------------------------------------------------------------------------------------------------------
ZIP64 = "Zip64"
case(ZIP64, "a locator that points elsewhere", "locator does not point", setting(end64={"record_offset": 0}))
case(ZIP64, "a locator of two parts", "locator does not point", setting(end64={"disks": 2}))
case(ZIP64, "a locator without its record", "Zip64", setting(after_directory=LOCATOR64 + struct.pack("<IQI", 0, 0, 1)))
case(ZIP64, "another number of entries in each end record", "contradict each other", setting(end64={"here": 2, "entries": 2}))
case(ZIP64, "another directory in each end record", "contradict each other", setting(end64={"offset": 7}))
case(ZIP64, "an end record with extensible data", "Zip64", setting(end64={"length": 52, "more": b"12345678"}))
case(ZIP64, "an end record of version 2", "no plain Zip64 end record", setting(end64={"length": 60}))
case(ZIP64, "2^60 entries", "exceeds the limit",
     setting(end={"here": DEFER16, "entries": DEFER16}, end64={"here": 1 << 60, "entries": 1 << 60}))
case(ZIP64, "a directory at 2^63", "places the directory", setting(end={"offset": DEFER32}, end64={"offset": 1 << 63}))


def end64_in_comment(archive):
    """For readers of Zip64 the last member's comment is its end record."""
    archive.record.central["comment"] = END64 + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, 1, 1, 50, 0) + LOCATOR64 + struct.pack(
        "<IQI", 0, 0, 1)


case(ZIP64, "an end record in the comment of the last entry", "locator does not point", end64_in_comment)
case(ZIP64, "a size that defers to no block", "no Zip64 block", module(central={"size": DEFER32}))
case(ZIP64, "an offset that defers to no block", "no Zip64 block", module(central={"offset": DEFER32}))
case(ZIP64, "two blocks", "two Zip64 blocks",
     module(central={"size": DEFER32, "extra": extra(1, struct.pack("<Q", len(TEXT))) + extra(1, struct.pack("<Q", 5))}))
case(ZIP64, "a block that is too short", "Zip64 block that is too short", module(central={"size": DEFER32, "extra": extra(1, b"1234")}))
case(ZIP64, "a block that is too long", "Zip64 block that is too long", lambda archive: archive.record.central.update(
    size=DEFER32, packed=DEFER32, offset=DEFER32, disk=DEFER16, extra=extra(1, struct.pack("<QQQIQ", 9, 9, 0, 0, 9))))
case(ZIP64, "a block that contradicts the record", "Zip64 block that contradicts", module(central={"extra": extra(1, struct.pack("<Q", 5))}))
case(ZIP64, "a local block that contradicts its header", "Zip64 block that contradicts",
     module(local={"extra": extra(1, struct.pack("<QQ", 5, 5))}))
case(ZIP64, "a local block of one size", "Zip64 block of the wrong length",
     module(local={"packed": DEFER32, "extra": extra(1, struct.pack("<Q", len(TEXT)))}))
case(ZIP64, "a local header of size zero with the sizes in its block", "Zip64 block that contradicts",
     module(local={"packed": 0, "size": 0, "extra": extra(1, struct.pack("<QQ", len(TEXT), len(TEXT)))}))

# --- the two headers of an entry ------------------------------------------------------------------------------------
HEADERS = "local header"
for field, lie, word in (("name", b"demo/__evil__.py", "name"), ("name", b"demo/__INIT__.py", "name"), ("flags", UTF8, "set of flags"),
                         ("flags", 1, "set of flags"), ("method", DEFLATED, "method"), ("crc", 7, "checksum"),
                         ("packed", 5, "compressed size"), ("size", 5, "size"), ("packed", 0, "compressed size")):
    case(HEADERS, f"another {word} ({lie!r})".replace("b'", "'"), f"another {word}", module(local={field: lie}))
case(HEADERS, "a name that goes on after a NUL byte", "another name", module(local={"name": b"demo/__init__.py\0.txt"}))
case(HEADERS, "a descriptor in one header only", "another set of flags", module(local={"flags": DESCRIBED}))


def bent(change):
    """`change` gets the bytes and the place of the module's local header."""
    def make(archive):
        data = bytearray(archive.bytes())
        change(data, data.index(b"demo/__init__.py") - 30)
        archive.whole = bytes(data)
    return make


case(HEADERS, "none where the directory points", "no local header", bent(lambda data, at: data.__setitem__(at + 3, 5)))
case(HEADERS, "an extra field that reaches into the next record", "no local header",
     bent(lambda data, at: data.__setitem__(slice(at + 28, at + 30), b"\x11\0")))
case(HEADERS, "a content that reaches into the next record", "overlaps", module(content=b"", both={"packed": len(TEXT), "size": len(TEXT)}))
case(HEADERS, "an extra field that is cut", "truncated extra field", module(local={"extra": b"xyz"}))
case(HEADERS, "an entry that the directory does not list", "belong to no entry", lambda archive: archive.members.insert(
    1, Member("evil.py", b"evil", in_directory=False, listed=False)))
case(HEADERS, "a second, unlisted entry of the same name", "belong to no entry", lambda archive: archive.members.append(
    Member("demo/__init__.py", b"evil = 1\n", in_directory=False, listed=False)))
case(HEADERS, "bytes between two entries", "belong to no entry", lambda archive: setattr(archive.record, "before", b"hidden"))


def overlapping(archive):
    """Two entries of the directory, one record in the file."""
    twin = archive.add("demo/twin.py", archive.module.data, in_file=False)
    twin.central["offset"] = sum(len(one.local_header()) + len(one.packed()) for one in archive.members[:-2])


case(HEADERS, "two entries of the directory on one record", "overlaps", overlapping)


def quoted(archive):
    """Fifield's bomb: each entry's content is a stored block of deflate with the next header in it, and all share the end."""
    kernel = Member("demo/kernel.bin", bytes(1 << 20), method=DEFLATED)
    outer = Member("demo/outer.bin", method=DEFLATED)
    header = kernel.local_header()
    quote = struct.pack("<BHH", 0, len(header), len(header) ^ 0xFFFF) + header
    outer.content = quote + kernel.packed()
    outer.data = header + kernel.data
    archive.members.append(outer)
    hidden = Member("demo/kernel.bin", kernel.data, method=DEFLATED, in_file=False)
    start = sum(len(one.local_header()) + len(one.packed()) for one in archive.members[:-1])
    hidden.central["offset"] = start + len(outer.local_header()) + 5
    archive.members.append(hidden)


case(HEADERS, "an entry quoted in the content of another (Fifield's bomb)", "overlaps", quoted)


def inside(archive):
    """The content of a stored file is a record of its own, which the directory lists too."""
    inner = Member("demo/evil.py", b"evil = 1\n")
    archive.add("demo/outer.bin", inner.local_header() + inner.data)
    start = sum(len(one.local_header()) + len(one.packed()) for one in archive.members[:-1])
    inner.in_file, inner.central["offset"] = False, start + len(archive.members[-1].local_header())
    archive.members.append(inner)


case(HEADERS, "an entry inside the content of a stored one", "overlaps", inside)

# --- data descriptors -----------------------------------------------------------------------------------------------
DESCRIPTORS = "data descriptor"


def described(*numbers, signature=DESCRIPTOR, layout="<III", data=LONG, **how):
    def make(archive):
        archive.add("demo/streamed.py", data, method=DEFLATED,
                    descriptor=signature + struct.pack(layout, *numbers) if numbers else b"", **how)
    return make


def true_numbers(data=LONG):
    told = Member("x", data, method=DEFLATED).fields()
    return told["crc"], told["packed"], told["size"]


CRC, PACKED, SIZE = true_numbers()
case(DESCRIPTORS, "none behind the content", "no data descriptor", described())
case(DESCRIPTORS, "another checksum", "data descriptor that contradicts", described(CRC ^ 1, PACKED, SIZE))
case(DESCRIPTORS, "another packed size", "data descriptor that contradicts", described(CRC, PACKED + 1, SIZE))
case(DESCRIPTORS, "another size", "data descriptor that contradicts", described(CRC, PACKED, SIZE - 1))
case(DESCRIPTORS, "another signature", "no data descriptor", described(CRC, PACKED, SIZE, signature=b"PK\x07\x09"))
case(DESCRIPTORS, "bytes behind it", "no data descriptor", described(CRC, PACKED, SIZE, 0, layout="<IIIH"))
case(DESCRIPTORS, "behind an entry that announces none", "belong to no entry",
     described(CRC, PACKED, SIZE, both={"flags": 0}, local={"crc": CRC, "packed": PACKED, "size": SIZE}))


def hidden_in_stored(archive):
    """Who reads from the front takes the first descriptor for the end, and what follows for another entry."""
    evil = Member("demo/__init__.py", b"evil = 1\n")
    shown = Member("x", b"shown\n").fields()
    data = b"shown\n" + DESCRIPTOR + struct.pack("<III", shown["crc"], 6, 6) + evil.local_header() + evil.data
    told = Member("x", data).fields()
    archive.add("demo/stored.bin", data, descriptor=DESCRIPTOR + struct.pack("<III", told["crc"], told["packed"], told["size"]))


case(DESCRIPTORS, "a stored entry with a descriptor and another entry in its content", "signature of a data descriptor in its content",
     hidden_in_stored)

# --- content --------------------------------------------------------------------------------------------------------
CONTENT = "content"
packed_long = deflate(LONG)
case(CONTENT, "a wrong checksum everywhere", "its checksum is", module(both={"crc": 7}))
case(CONTENT, "more than both headers say", "unpacks to more than the 9 bytes", adding("demo/a.py", LONG, method=DEFLATED, both={"size": 9}, record=(HASH, 9)))
case(CONTENT, "less than both headers say", "instead of", adding("demo/a.py", LONG, method=DEFLATED, both={"size": SIZE + 1}, record=(HASH, SIZE + 1)))
case(CONTENT, "bytes after the end of the deflate stream", "after the end of its deflate stream",
     adding("demo/a.py", LONG, method=DEFLATED, content=packed_long + b"hidden"))
case(CONTENT, "two deflate streams", "after the end of its deflate stream",
     adding("demo/a.py", LONG, method=DEFLATED, content=packed_long + packed_long))
case(CONTENT, "a deflate stream that is cut", "incomplete", adding("demo/a.py", LONG, method=DEFLATED, content=packed_long[:-3]))
case(CONTENT, "no deflate stream", "not a deflate stream", adding("demo/a.py", LONG, method=DEFLATED, content=b"\xff" * 40))
case(CONTENT, "stored with two sizes", "two different sizes", module(both={"size": 5}))
case(CONTENT, "deflated to nothing", "deflated to nothing", adding("demo/a.py", b"", method=DEFLATED, content=b""))
case(CONTENT, "a folder with content", "is a folder but has content", adding("demo/data/", b"content", attributes=0o40755 << 16))
for method, name in ((1, "shrunk"), (6, "imploded"), (9, "deflate64"), (12, "bzip2"), (14, "LZMA"), (93, "Zstandard"), (95, "xz"),
                     (99, "AES")):
    case(CONTENT, f"method {method} ({name})", f"compressed with method {method}", module(both={"method": method}))
case(CONTENT, "50 MB in 100 bytes, as both headers say", "a zip bomb",
     adding("demo/bomb.bin", b"", method=DEFLATED, content=b"\0" * 100, both={"size": 50_000_000}))
case(CONTENT, "2 GB in 2 MB", "a zip bomb",
     adding("demo/bomb.bin", b"", method=DEFLATED, content=bytes(2 << 20), both={"size": 2 << 30}))
case(CONTENT, "50 MB in 50 KB, 1,000 bytes as both headers say", "unpacks to more than the 1000 bytes",
     adding("demo/bomb.bin", bytes(50_000_000), method=DEFLATED, both={"size": 1000}, record=(HASH, 1000)))
case(CONTENT, "2^50 bytes in Zip64 blocks", "a zip bomb", adding("demo/bomb.bin", b"x", both={
    "size": DEFER32, "extra": extra(1, struct.pack("<QQ", 1 << 50, 1 << 40)), "method": DEFLATED},
    central={"extra": extra(1, struct.pack("<Q", 1 << 50))}))

# --- names ----------------------------------------------------------------------------------------------------------
NAMES = "member name"
for name, says in (("../evil.py", "\"..\" part"), ("demo/../../evil.py", "\"..\" part"), ("demo/..", "\"..\" part"),
                   ("/tmp/evil.py", "absolute path"), ("./evil.py", "\".\" part"), ("demo//evil.py", "empty part"),
                   ("..\\evil.py", "backslash"), ("demo\\evil.py", "backslash"), ("C:/evil.py", "drive letter"), ("C:evil.py", "drive letter"),
                   ("demo/evil.py\0.txt", "control character"), ("demo/evil\n.py", "control character"),
                   ("demo/\x1b[2Jevil.py", "control character"), ("demo/\x7f.py", "control character"),
                   ("demo/\u0085.py", "control character"), ("demo/\u2028.py", "control character"), ("", "is empty"),
                   ("demo/" + "x" * 256, "more than 255 bytes"), ("a/" * 120 + "x.py", "nested too deeply")):
    shown = json.dumps(name if len(name) < 60 else name[:10] + "…" + name[-8:], ensure_ascii=name.isascii() or "\u2028" in name or "\u0085" in name)
    case(NAMES, shown, says, adding(name))
case(NAMES, "not UTF-8, but marked as UTF-8", "not valid UTF-8", adding(b"demo/\xff.py", listed=False))
case(NAMES, "\"../\" as overlong UTF-8", "not valid UTF-8", adding(b"demo/\xc0\xae\xc0\xae\xc0\xaf.py", listed=False))
case(NAMES, "beyond ASCII without the mark of UTF-8", "not marked as UTF-8", adding("demo/\u00e9.py", both={"flags": 0}))
case(NAMES, "the same twice, other content", "is duplicated", adding("demo/__init__.py", b"evil = 1\n"))
case(NAMES, "the same twice, same content", "is duplicated", adding("demo/__init__.py", TEXT))
case(NAMES, "two that differ in case", "differ in case only", adding("demo/__INIT__.py"))
case(NAMES, "two that differ in a character that nobody sees", "cannot lie beside each other", adding("demo/__in\u200bit__.py"))
case(NAMES, "two that differ in a letter of the same case folding", "cannot lie beside each other",
     both(adding("demo/k.py"), adding("demo/\u212a.py")))
case(NAMES, "two that differ in a final dot", "cannot lie beside each other", adding("demo/__init__.py."))
case(NAMES, "two that differ in a final blank", "cannot lie beside each other", adding("demo/__init__.py "))
case(NAMES, "a file and a folder", "one is a file", adding("demo/__init__.py/", b"", attributes=0o40755 << 16))
case(NAMES, "a file and a path below it", "one is a file", adding("demo/__init__.py/evil.py"))
case(NAMES, "another one in the Unicode path of the directory", "second name",
     module(central={"extra": extra(0x7075, b"\1" + bytes(4) + b"demo/evil.py")}))
case(NAMES, "another one in the Unicode path of the local header", "second name",
     module(local={"extra": extra(0x7075, b"\1" + bytes(4) + b"demo/evil.py")}))
case(NAMES, "two Unicode paths", "second name",
     module(central={"extra": 2 * extra(0x7075, b"\1" + bytes(4) + b"demo/__init__.py")}))

# --- modes and flags ------------------------------------------------------------------------------------------------
MODES = "mode or flag"
for mode, name in ((0o120777, "a symbolic link"), (0o010644, "a FIFO"), (0o020644, "a character device"), (0o060644, "a block device"),
                   (0o140644, "a socket")):
    case(MODES, name, "neither a file nor a folder", adding("demo/link", b"../../evil.py", attributes=mode << 16))
case(MODES, "a path below a symbolic link", "neither a file nor a folder", both(
    adding("demo/link", b"../..", attributes=0o120777 << 16), adding("demo/link/evil.py")))
case(MODES, "a folder with the name of a file", "is a folder according to its mode", adding("demo/data", b"", attributes=0o40755 << 16))
case(MODES, "a DOS folder with the name of a file", "is a folder according to its mode", adding("demo/data", b"", attributes=0x10))
case(MODES, "a file with the name of a folder", "is a file according to its mode", adding("demo/data/", b"", attributes=0o100644 << 16))
for flags, says in ((1, "is encrypted"), (1 << 6 | 1, "is encrypted"), (1 << 13, "is encrypted"), (1 << 5, "is a patch"),
                    (1 << 4, "unknown flags"), (1 << 14, "unknown flags")):
    case(MODES, f"flags {flags:#06x}", says, module(both={"flags": flags}))
case(MODES, "a format of version 9.9", "requires a newer zip format", module(both={"version": 99}))
case(MODES, "an entry in another part", "another part of the archive", module(central={"disk": 1}))

# --- RECORD ---------------------------------------------------------------------------------------------------------
RECORD = "RECORD"
case(RECORD, "none", "no \"demo-1.0.dist-info/RECORD\"", setting(record=Member("demo-1.0.dist-info/RECORDS", listed=False)))
case(RECORD, "an empty one", "not listed", setting(record_text=b""))
case(RECORD, "another hash", "RECORD", module(record=(HASH, len(TEXT))))
case(RECORD, "another size", "is listed with 1 bytes", module(record=(HASH, 1)))
case(RECORD, "no hash", "listed without a hash", module(record=("", "")))
case(RECORD, "an MD5 hash", "sha256 or better is required", module(record=("md5=aaaa", len(TEXT))))
case(RECORD, "a SHA-512 hash only", "only sha256 can be verified", module(record=("sha512=aaaa", len(TEXT))))
case(RECORD, "a hash that is none", "43 digits", module(record=("sha256=..", len(TEXT))))
case(RECORD, "a size below zero", "is not a number", module(record=(HASH, -1)))
case(RECORD, "a file that it does not list", "not listed", module(listed=False))
case(RECORD, "a file that is not in the archive", "not in the archive", lambda archive: archive.rows.append(["demo/gone.py", HASH, "3"]))
case(RECORD, "a file outside", "not in the archive", lambda archive: archive.rows.append(["../../../../victim.txt", "", ""]))
case(RECORD, "an absolute path", "not in the archive", lambda archive: archive.rows.append(["/etc/passwd", "", ""]))
case(RECORD, "a file twice", "is listed twice", lambda archive: archive.rows.append(["demo/__init__.py", HASH, len(TEXT)]))
case(RECORD, "a file under another spelling", "not in the archive", lambda archive: archive.rows.append(["./demo/__init__.py", HASH, len(TEXT)]))
case(RECORD, "two fields", "2 fields instead of 3", setting(record_text=b"demo/__init__.py,\n"))
case(RECORD, "an open quote", "an unclosed quote", setting(record_text=b'"demo/__init__.py,,\n'))
case(RECORD, "text after a quote", "text after a closing quote", setting(record_text=b'"demo/__init__.py"x,,\n'))
case(RECORD, "not UTF-8", "not UTF-8", setting(record_text=b"\xff,,\n"))
case(RECORD, "a NUL byte", "NUL byte", setting(record_text=b"demo\0,,\n"))
case(RECORD, "a folder of this name", "RECORD", setting(record=Member("demo-1.0.dist-info/RECORD/", listed=False, attributes=0o40755 << 16),
                                                     record_text=b""))

# --- dist-info ------------------------------------------------------------------------------------------------------
INFO = "dist-info"


def metadata(text):
    return lambda archive: archive.put("METADATA", text)


def wheel_file(text):
    return lambda archive: archive.put("WHEEL", text)


def renamed(folder):
    def make(archive):
        for one in [*archive.own, archive.record]:
            one.name = folder + one.name[len(archive.dist_info):]
        archive.dist_info = folder
    return make


HEAD = "Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n"
case(INFO, "none", "none, but a wheel has one", renamed("demo-1.0.info"))
case(INFO, "two", "2, but a wheel has one", adding("demo-2.0.dist-info/METADATA"))
case(INFO, "a second in capitals", "2, but a wheel has one", adding("demo-2.0.DIST-INFO/METADATA"))
case(INFO, "a second with a character that nobody sees", "2, but a wheel has one", adding("demo-2.0.dist\u200b-info/METADATA"))
case(INFO, "of another name", "another name or version than the file", renamed("other-1.0.dist-info"))
case(INFO, "of another version", "another name or version than the file", renamed("demo-2.0.dist-info"))
case(INFO, "without a version", "another name or version than the file", renamed("demo.dist-info"))
case(INFO, "an egg-info of another package", "belongs to another package's metadata", adding("other-1.0.egg-info/PKG-INFO"))
case(INFO, "no METADATA", "METADATA", lambda archive: archive.drop("METADATA"))
case(INFO, "no WHEEL", "WHEEL", lambda archive: archive.drop("WHEEL"))
case(INFO, "METADATA of another package", "differs from that of the file", metadata(HEAD.replace("demo", "other")))
case(INFO, "METADATA of another version", "differs from that of the file", metadata(HEAD.replace("1.0", "2.0")))
case(INFO, "METADATA with two names", "Name is given twice", metadata(HEAD + "Name: other\n"))
case(INFO, "METADATA with a second name after a lone carriage return", "carriage return",
     metadata("Metadata-Version: 2.1\nSummary: x\rName: other\nName: demo\nVersion: 1.0\n"))
case(INFO, "METADATA that ends for some readers at two carriage returns", "carriage return", metadata(HEAD + "Summary: x\r\rRequires-Dist: evil\n"))
case(INFO, "METADATA without a name", "no Name", metadata("Metadata-Version: 2.1\nVersion: 1.0\n"))
case(INFO, "METADATA without a version", "no Version", metadata("Metadata-Version: 2.1\nName: demo\n"))
case(INFO, "METADATA of version 9", "not supported", metadata(HEAD.replace("2.1", "9.0")))
case(INFO, "METADATA with a requirement that is none", "Requires-Dist", metadata(HEAD + "Requires-Dist: ???\n"))
case(INFO, "METADATA of 17 MB", "more than the", lambda archive: archive.put("METADATA", HEAD + "\n" + "x" * (17 << 20)))
case(INFO, "METADATA of 200,000 fields", "more than 100000 fields", metadata(HEAD + "X: y\n" * 200_000))
case(INFO, "WHEEL of version 2", "only 1.0", wheel_file("Wheel-Version: 2.0\nRoot-Is-Purelib: true\n"))
case(INFO, "WHEEL without a version", "no Wheel-Version", wheel_file("Root-Is-Purelib: true\n"))
case(INFO, "WHEEL of version \"1.0; evil\"", "not a valid version", wheel_file("Wheel-Version: 1.0; evil\n"))
case(INFO, "WHEEL with a field after a lone carriage return", "carriage return",
     wheel_file("Wheel-Version: 1.0\rRoot-Is-Purelib: false\nRoot-Is-Purelib: true\n"))
case(INFO, "WHEEL with two versions", "Wheel-Version is given twice", wheel_file("Wheel-Version: 1.0\nWheel-Version: 2.0\nRoot-Is-Purelib: true\n"))
case(INFO, "WHEEL with two answers to where it belongs", "Root-Is-Purelib is given twice",
     wheel_file("Wheel-Version: 1.0\nRoot-Is-Purelib: true\nRoot-Is-Purelib: false\n"))
case(INFO, "WHEEL with a field after an empty line", "follows a line that is no field", wheel_file("Wheel-Version: 1.0\n\nRoot-Is-Purelib: true\n"))
LABELLED = "demo-1.0-py3-none-any-v1.whl"
DOCUMENT = variant_document({"v1": [("x86_64", "level", ["v1"])]})
case(INFO, "a label without variant.json", "variant.json: missing", lambda archive: None, file_name=LABELLED)
case(INFO, "variant.json without a label", "no variant label", lambda archive: archive.put("variant.json", json.dumps(DOCUMENT)))
case(INFO, "variant.json of another label", "the file name has only v1",
     lambda archive: archive.put("variant.json", json.dumps(DOCUMENT).replace('"v1": {', '"v2": {')), file_name=LABELLED)
case(INFO, "variant.json that is no JSON", "variant.json", lambda archive: archive.put("variant.json", "{"), file_name=LABELLED)

# --- entry points and .data -----------------------------------------------------------------------------------------
PLACES = "installed place"


def entry_points(text):
    return lambda archive: archive.put("entry_points.txt", text)


for line, says in (("../../evil = demo:main", "not a valid name for a script"), ("/tmp/evil = demo:main", "not a valid name for a script"),
                   ("python3 = demo:main", "belongs to the environment"), ("activate = demo:main", "belongs to the environment"),
                   ("evil = demo:main()", "not a reference"), ("evil = demo;import os:main", "not a reference"),
                   ("evil = demo", "not a reference"), ("evil", "no '='"), ("evil = demo:a\nevil = demo:b", "duplicate script")):
    case(PLACES, "script `" + line.replace("\n", "` and `") + "`", says, entry_points("[console_scripts]\n" + line + "\n"))
case(PLACES, "entry points that only some readers see", "line separator", entry_points("[a]\nx = a:b\u2028[console_scripts]\u2028pip = demo:evil\n"))
case(PLACES, "entry points that are not text", "not text", entry_points("[console_scripts]\n\0"))
case(PLACES, "entry points that are not UTF-8", "not UTF-8", entry_points(b"[console_scripts]\n\xff = demo:main\n"))
for name, says in (("demo-1.0.data/scripts/python3", "would replace the environment's own"),
                   ("demo-1.0.data/scripts/sub/evil", "not a valid name for a script"),
                   ("demo-1.0.data/data/bin/activate", "would replace the environment's own"),
                   ("demo-1.0.data/data/pyvenv.cfg", "would replace the environment's own"),
                   ("demo-1.0.data/data/.axle/lock", "would replace the environment's own"),
                   ("demo-1.0.data/data/bin", "would replace the environment's own"),
                   ("demo-1.0.data/evil/x.py", "not an installation scheme"), ("demo-1.0.data/purelib", "does not belong to"),
                   ("demo-1.0.data/purelib/demo/__init__.py", "two of its files"),
                   ("demo-1.0.data/platlib/other-1.0.dist-info/METADATA", "belongs to another package's metadata"),
                   ("demo-1.0.data/purelib/demo-1.0.dist-info/RECORD", "belongs to another package's metadata"),
                   ("other-1.0.data/purelib/evil.py", "not the wheel's own data folder"),
                   ("DEMO-1.0.DATA/purelib/evil.py", "data folder that only some tools recognise")):
    case(PLACES, f"`{name}`", says, adding(name))

# --- file names -----------------------------------------------------------------------------------------------------
FILES = "file name"
case(FILES, "of another version than everything in it", "another name or version than the file", lambda archive: None,
     file_name="demo-2.0-py3-none-any.whl")
case(FILES, "of another package than everything in it", "another name or version than the file", lambda archive: None,
     file_name="other-1.0-py3-none-any.whl")


# What a stricter reader might refuse and Axle installs, because no two readers differ in it.
ACCEPTED = [
    ("names that Windows reserves or cannot have", both(adding("demo/aux.py"), adding("demo/a:b.txt"), adding("demo/ends. "))),
    ("a comment of the archive and of an entry", both(setting(comment=b"made by hand"), module(central={"comment": b"a module"}))),
    ("a set-user-ID bit, which is not kept", module(attributes=0o104755 << 16)),
    ("a file that Python runs at its start (.pth)", adding("demo.pth", b"import sys\n")),
    ("a data descriptor that agrees", described(CRC, PACKED, SIZE)),
    ("a Zip64 end record that agrees", setting(end64={})),
    ("a carriage return in the description", metadata(HEAD + "\nfirst\rsecond\n")),
]
