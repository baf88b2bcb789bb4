"""Wheels written byte by byte, so that every field of a zip archive can lie; see hostile_wheels.py.

The layout is that of PKWARE's APPNOTE 6.3.10. A field that no test bends is what an honest writer puts there."""

import base64
import csv
import dataclasses
import hashlib
import io
import struct
import zlib

LOCAL, CENTRAL, END, END64, LOCATOR64, DESCRIPTOR = (b"PK" + kind for kind in (
    b"\x03\x04", b"\x01\x02", b"\x05\x06", b"\x06\x06", b"\x06\x07", b"\x07\x08"))
STORED, DEFLATED = 0, 8
UTF8, DESCRIBED = 1 << 11, 1 << 3
DEFER16, DEFER32 = 0xFFFF, 0xFFFFFFFF


def record_hash(data):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


# What makes a wheel large enough to be unpacked while it arrives.
PADDING = b"\0" * (16 << 20)
PADDING_FACTS = (zlib.crc32(PADDING), record_hash(PADDING))


def deflate(data):
    packer = zlib.compressobj(6, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


def extra(kind, data):
    return struct.pack("<HH", kind, len(data)) + data


@dataclasses.dataclass
class Member:
    """`both`, `local` and `central` have what stands in the headers in place of the truth: version, flags, method, crc,
    packed, size, name, extra; in the directory also disk, attributes, offset and comment."""
    name: str | bytes
    data: bytes = b""
    method: int = STORED
    both: dict = dataclasses.field(default_factory=dict)
    local: dict = dataclasses.field(default_factory=dict)
    central: dict = dataclasses.field(default_factory=dict)
    attributes: int = 0o100644 << 16
    content: bytes | None = None  # in place of the packed data
    descriptor: bytes | None = None  # behind the content; sets the flag and zeroes the local header
    before: bytes = b""  # between the record before and this one
    listed: bool = True  # in RECORD
    in_directory: bool = True
    in_file: bool = True
    record: tuple | None = None  # (hash, size) that RECORD says

    def raw_name(self):
        return self.name if isinstance(self.name, bytes) else self.name.encode()

    def packed(self):
        if self.content is not None:
            return self.content
        return deflate(self.data) if self.method == DEFLATED else self.data

    def fields(self, **lies):
        name = self.raw_name()
        crc = PADDING_FACTS[0] if self.data is PADDING else zlib.crc32(self.data)
        flags = (0 if name.isascii() else UTF8) | (DESCRIBED if self.descriptor is not None else 0)
        return {"version": 20, "flags": flags, "method": self.method, "crc": crc, "packed": len(self.packed()),
                "size": len(self.data), "name": name, "extra": b"", "disk": 0, "attributes": self.attributes, "comment": b"",
                **self.both, **lies}

    def local_header(self):
        zeros = {"crc": 0, "packed": 0, "size": 0} if self.descriptor is not None else {}
        told = self.fields(**{**zeros, **self.local})
        return LOCAL + struct.pack("<HHHIIIIHH", told["version"], told["flags"], told["method"], 0x21 << 16, told["crc"],
                                   told["packed"], told["size"], len(told["name"]), len(told["extra"])) + told["name"] + told["extra"]

    def central_record(self, offset):
        told = {"offset": offset, **self.fields(**self.central)}
        return CENTRAL + struct.pack("<HHHHIIIIHHHHHII", 3 << 8 | 20, told["version"], told["flags"], told["method"], 0x21 << 16,
                                     told["crc"], told["packed"], told["size"], len(told["name"]), len(told["extra"]),
                                     len(told["comment"]), told["disk"], 0, told["attributes"],
                                     told["offset"]) + told["name"] + told["extra"] + told["comment"]


class Archive:
    """The wheel demo 1.0; whoever makes a case changes it before `bytes`."""

    def __init__(self, padded=False, name="demo", version="1.0"):
        self.dist_info = f"{name}-{version}.dist-info"
        self.file_name = f"{name}-{version}-py3-none-any.whl"
        self.members = [Member("demo/__init__.py", b"VALUE = 'a demo'\n")]
        if padded:
            self.members.insert(0, Member("demo/padding.bin", PADDING))
        self.own = [Member(f"{self.dist_info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode()),
                    Member(f"{self.dist_info}/WHEEL", b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")]
        self.rows = []  # more rows of RECORD
        self.record_text = None  # in place of RECORD
        self.record = Member(f"{self.dist_info}/RECORD")
        self.before = self.before_directory = self.after_directory = self.after_end = self.comment = b""
        self.end = {}  # what stands in the end record: disk, directory_disk, here, entries, size, offset, comment_length
        self.end64 = None  # a dictionary: there are Zip64 end records, which say this
        self.hidden_offset = 0  # of the bytes before the archive how many the offsets do not count
        self.whole = None  # in place of everything

    def add(self, name, data=b"content\n", **how):
        member = Member(name, data, **how)
        self.members.append(member)
        return member

    def put(self, name, text, **how):
        """A file of the dist-info, in place of the honest one of this name."""
        self.drop(name)
        self.own.append(Member(f"{self.dist_info}/{name}", text if isinstance(text, bytes) else text.encode(), **how))
        return self.own[-1]

    def drop(self, name):
        self.own = [one for one in self.own if one.name != f"{self.dist_info}/{name}"]

    @property
    def module(self):
        return next(one for one in self.members if one.name == "demo/__init__.py")

    def render_record(self):
        text = io.StringIO()
        rows = csv.writer(text, lineterminator="\n")
        for member in [*self.members, *self.own]:
            if member.listed and not member.raw_name().endswith(b"/"):
                said = PADDING_FACTS[1] if member.data is PADDING else record_hash(member.data)
                name = member.raw_name().decode(errors="replace").replace("\0", "")
                rows.writerow([name, *(member.record or (said, len(member.data)))])
        rows.writerows(self.rows)
        rows.writerow([self.record.name, "", ""])
        return text.getvalue().encode()

    def bytes(self):
        if self.whole is not None:
            return self.whole(self) if callable(self.whole) else self.whole
        self.record.data = self.render_record() if self.record_text is None else self.record_text
        out, directory, place = [self.before], [], len(self.before) - self.hidden_offset
        members = [*self.members, *self.own, *([self.record] if self.record else [])]
        for member in members:
            if member.in_directory:
                directory.append(member.central_record(place + len(member.before)))
            if not member.in_file:
                continue
            pieces = [member.before, member.local_header(), member.packed(), member.descriptor or b""]
            out += pieces
            place += sum(map(len, pieces))
        out.append(self.before_directory)
        place += len(self.before_directory)
        listing = b"".join(directory)
        out += [listing, self.after_directory]
        true = {"disk": 0, "directory_disk": 0, "here": len(directory), "entries": len(directory), "size": len(listing),
                "offset": place, "comment_length": len(self.comment)}
        if self.end64 is not None:
            told = {"length": 44, "record_offset": place + len(listing) + len(self.after_directory), "disks": 1, "more": b"", **true,
                    **self.end64}
            out += [END64, struct.pack("<QHHIIQQQQ", told["length"], 45, 45, 0, 0, told["here"], told["entries"], told["size"],
                                       told["offset"]), told["more"],
                    LOCATOR64, struct.pack("<IQI", 0, told["record_offset"], told["disks"])]
        told = {**true, **self.end}
        out += [END, struct.pack("<HHHHIIH", told["disk"], told["directory_disk"], told["here"], told["entries"], told["size"],
                                 told["offset"], told["comment_length"]), self.comment, self.after_end]
        return b"".join(out)


def small_archive(offset=0):
    """A second archive, complete in itself, whose offsets begin to count `offset` bytes before it."""
    member = Member("evil.py", b"evil = 1\n")
    local = member.local_header() + member.data
    central = member.central_record(offset)
    return local + central + END + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(central), offset + len(local), 0)
