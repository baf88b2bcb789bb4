"""Archives that Python's zipfile writes, in every mode it has, against our strict reader.

usage: zip_differential.py PROGRAM, where PROGRAM is built from zip_list.cpp.

Every honest archive must be taken with equal names, sizes and contents. Every damaged one must be refused, or
give what zipfile gives: never something else.
"""

import hashlib
import io
import os
import random
import stat
import subprocess
import sys
import tempfile
import zipfile

HONEST = 150
BASES = 30
DAMAGED = 3000


class Unseekable(io.RawIOBase):
    """A pipe to zipfile: it then writes data descriptors."""

    def __init__(self, target):
        self.target = target

    def writable(self):
        return True

    def seekable(self):
        return False

    def write(self, data):
        return self.target.write(data)


class Reader:
    def __init__(self, program):
        self.process = subprocess.Popen(
            [program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )

    def members(self, path):
        """[(name, size, kind, sha256)], or the refusal as a string."""
        self.process.stdin.write(path + "\n")
        self.process.stdin.flush()
        members, refusal = [], None
        while True:
            line = self.process.stdout.readline()
            if not line:
                raise SystemExit(f"the program ended at {path}")
            line = line.rstrip("\n")
            if line == "end":
                return refusal if refusal is not None else members
            if line.startswith("refused "):
                refusal = line[8:]
            else:
                _, digest, size, kind, name = line.split(" ", 4)
                members.append((name, int(size), kind, digest))


def content(rng):
    size = rng.choice([0, 0, 1, 5, 100, 1000, 20_000, 262_143, 262_144, 262_145])
    kind = rng.randrange(3)
    if kind == 0:
        return rng.randbytes(size)
    if kind == 1:
        return bytes(size)
    return b"".join(b"line %d\n" % rng.randrange(50) for _ in range(size // 8))


def name(rng, number):
    parts = [rng.choice(["pkg", "pkg/sub", "data", "lib.data/purelib", "ä/ö", "日本"])]
    parts.append(rng.choice(["m", "file name", "é", "x+y", "-dash", "a..b", "...", "~t"]) + str(number))
    return "/".join(parts)


def info(rng, path):
    entry = zipfile.ZipInfo(path, (1980 + rng.randrange(120), 1 + rng.randrange(12), 1, 2, 3, 4))
    entry.compress_type = rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
    mode = rng.choice([0, 0o644, 0o755, stat.S_IFREG | 0o644, stat.S_IFREG | 0o755])
    entry.external_attr = mode << 16
    entry.create_system = rng.choice([0, 3])
    if rng.random() < 0.2:
        entry.extra = b"\x55\x54\x05\x00\x03\x00\x00\x00\x00"
    return entry


def write_archive(rng, target):
    """Writes members in a random mode; returns how, for messages."""
    mode = rng.choice(["info", "writestr", "open", "files"])
    streaming = rng.random() < 0.4
    level = rng.choice([None, 1, 6, 9])
    raw = Unseekable(target) if streaming else target
    method = rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
    with zipfile.ZipFile(raw, "w", method, compresslevel=level) as archive:
        if rng.random() < 0.3:
            archive.writestr("pkg/", b"")
        for number in range(rng.randrange(8)):
            path, data = name(rng, number), content(rng)
            if mode == "info":
                archive.writestr(info(rng, path), data)
            elif mode == "writestr":
                archive.writestr(path, data)
            elif mode == "open":
                with archive.open(info(rng, path), "w", force_zip64=rng.random() < 0.5) as member:
                    for at in range(0, len(data), 10_000):
                        member.write(data[at : at + 10_000])
            else:
                with tempfile.NamedTemporaryFile() as file:
                    file.write(data)
                    file.flush()
                    archive.write(file.name, path)
        if rng.random() < 0.1:
            archive.comment = b"a comment"
    return f"{mode}, {'streaming' if streaming else 'seekable'}, level {level}"


def by_zipfile(path):
    with zipfile.ZipFile(path) as archive:
        result = []
        for entry in archive.infolist():
            data = archive.read(entry)
            executable = bool((entry.external_attr >> 16) & 0o111)
            kind = "d" if entry.filename.endswith("/") else "x" if executable else "-"
            result.append((entry.filename, len(data), kind, hashlib.sha256(data).hexdigest()))
        return result


def check_honest(reader, folder):
    for seed in range(HONEST):
        rng = random.Random(seed)
        path = os.path.join(folder, f"{seed}.zip")
        with open(path, "wb") as file:
            how = write_archive(rng, file)
        ours, theirs = reader.members(path), by_zipfile(path)
        if ours != theirs:
            raise SystemExit(f"seed {seed} ({how}): ours {ours!r}, zipfile {theirs!r}")
    print(f"{HONEST} archives of zipfile: equal")


def damage(rng, data):
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 5])):
        kind = rng.randrange(4)
        at = rng.randrange(len(data)) if data else 0
        if kind == 0 and data:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del data[at : at + rng.randrange(1, 20)]
        elif kind == 2:
            data[at:at] = rng.randbytes(rng.randrange(1, 20))
        elif data:
            data[at : at + 4] = rng.choice([b"\0\0\0\0", b"\xff\xff\xff\xff", b"PK\x05\x06"])
    return bytes(data)


def check_damaged(reader, folder):
    taken = 0
    bases = [io.BytesIO() for _ in range(BASES)]
    for seed, base in enumerate(bases):
        write_archive(random.Random(seed), base)
    for seed in range(DAMAGED):
        rng = random.Random(seed)
        path = os.path.join(folder, "damaged.zip")
        with open(path, "wb") as file:
            file.write(damage(rng, bases[seed % BASES].getvalue()))
        ours = reader.members(path)
        if isinstance(ours, str):
            continue
        taken += 1
        try:
            theirs = by_zipfile(path)
        except Exception as error:  # zipfile raises whatever comes its way on damaged input
            raise SystemExit(f"damage {seed}: we take what zipfile refuses ({error!r}): {ours!r}")
        if ours != theirs:
            raise SystemExit(f"damage {seed}: ours {ours!r}, zipfile {theirs!r}")
    print(f"{DAMAGED} damaged archives: {DAMAGED - taken} refused, {taken} equal to zipfile")


def main():
    reader = Reader(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        check_honest(reader, folder)
        check_damaged(reader, folder)


main()
