"""Shared libraries as bytes, with whatever code for GPUs: no compiler is needed."""

import struct

CUBIN, PTX = 2, 1
def entry(kind, architecture, flags=0, version=(1, 8)):
    payload = b"code" * 4
    head = struct.pack("<HHIQIIHHIQQ", kind, 0x101, 64, len(payload), 0, 0, version[1], version[0], architecture, 0,
                       flags | 0x11)
    return head.ljust(64, b"\0") + payload


def fatbin(*entries):
    body = b"".join(entries)
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


def bundle(*targets):
    ids = [b"host-x86_64-unknown-linux--"] + [f"hipv4-amdgcn-amd-amdhsa--{one}".encode() for one in targets]
    table = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(ids))
    for name in ids:
        table += struct.pack("<QQQ", 4096, 0 if name.startswith(b"host") else 16, len(name)) + name
    return table.ljust(4096, b"\0") + b"c" * 16


def symbol_tables(defined, undefined, weak):
    """.dynsym and the names of its symbols: global functions, of which those that are not defined are needed."""
    names, table = b"\0", b"\0" * 24
    for symbol in (*defined, *undefined, *weak):
        binding = 2 if symbol in weak else 1
        at = 1 if symbol in defined else 0
        table += struct.pack("<IBBHQQ", len(names), binding << 4 | 2, 0, at, 0, 0)
        names += symbol.encode() + b"\0"
    return table, names


def version_needs(needs):
    """.gnu.version_r: one version of one library each, by the places of their names."""
    table = b""
    for i, (library, version, flags) in enumerate(needs):
        last = i == len(needs) - 1
        table += struct.pack("<HHIII", 1, 1, library, 16, 0 if last else 32)
        table += struct.pack("<IHHII", 0, flags, i + 2, version, 0)
    return table


def library(sections=(), machine=62, soname="", needed=(), rpath="", runpath="", isa=0, defined=(), undefined=(),
            weak=(), versions=()):
    """A shared library as bytes: a dynamic segment, and sections with their content; .note.* are notes. `weak` symbols
    are not defined. `versions`: (library, version of its symbols that is needed, flags)."""
    strings = b"\0"

    def text(word):
        nonlocal strings
        strings += word.encode() + b"\0"
        return len(strings) - len(word) - 1

    tags = [(1, text(one)) for one in needed]
    tags += [(tag, text(word)) for tag, word in ((14, soname), (15, rpath), (29, runpath)) if word]
    needs = version_needs([(text(library), text(version), flags) for library, version, flags in versions])
    parts = [(".shstrtab", 3, b"")]
    if isa:
        value = struct.pack("<III", 0xC0008002, 4, isa) + b"\0" * 4
        parts.append((".note.gnu.property", 7, struct.pack("<III", 4, len(value), 5) + b"GNU\0" + value))
    parts += [(name, 7 if name.startswith(".note.") else 1, content) for name, content in sections]
    if defined or undefined or weak:
        table, symbols = symbol_tables(defined, undefined, weak)
        parts += [(".dynstr", 3, symbols), (".dynsym", 11, table)]
    names = b"\0" + b"".join(name.encode() + b"\0" for name, _, _ in parts)
    parts[0] = (".shstrtab", 3, names)
    at = 64 + 2 * 56
    dynamic_at = at
    dynamic_size = 16 * (len(tags) + 5)
    strings_at = dynamic_at + dynamic_size
    tags += [(5, strings_at), (10, len(strings)), (0x6ffffffe, strings_at + len(strings)), (0x6fffffff, len(versions)),
             (0, 0)]
    blob = b"".join(struct.pack("<QQ", *tag) for tag in tags) + strings + needs
    headers = b"\0" * 64
    for name, kind, content in parts:
        blob += b"\0" * (-(at + len(blob)) % 16)
        link = [one[0] for one in parts].index(".dynstr") + 1 if kind == 11 else 0
        headers += struct.pack("<IIQQQQIIQQ", names.index(b"\0" + name.encode() + b"\0") + 1, kind, 0, 0,
                               at + len(blob), len(content), link, 0, 8, 24 if kind == 11 else 0)
        blob += content
    blob += b"\0" * (-(at + len(blob)) % 16)
    section_headers_at = at + len(blob)
    size = section_headers_at + len(headers)
    head = b"\x7fELF" + bytes([2, 1, 1]) + b"\0" * 9
    head += struct.pack("<HHIQQQIHHHHHH", 3, machine, 1, 0, 64, section_headers_at, 0, 64, 56, 2, 64,
                        len(parts) + 1, 1)
    segments = struct.pack("<IIQQQQQQ", 1, 4, 0, 0, 0, size, size, 4096)
    segments += struct.pack("<IIQQQQQQ", 2, 4, dynamic_at, dynamic_at, dynamic_at, dynamic_size, dynamic_size, 8)
    return head + segments + blob + headers


def cuda_library(*architectures, **options):
    return library([(".nv_fatbin", fatbin(*[entry(CUBIN, one) for one in architectures]))], **options)


def registered_library(code, section):
    """A shared library whose `section` a pointer leads to, as those that compilers make, with more behind it: what is
    cut of its code makes the file shorter."""
    names = b"\0" + section.encode() + b"\0.shstrtab\0"
    relocation, code_at = 1024, 4096
    loaded = code_at + len(code) + 64
    data = -(-loaded // 4096) * 4096
    address, dynamic = data + 4096, data + 32
    names_at = dynamic + 48
    headers_at = -(-(names_at + len(names)) // 8) * 8
    parts = {
        0: b"\x7fELF" + bytes([2, 1, 1]) + bytes(9)
        + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, headers_at, 0, 64, 56, 3, 64, 3, 2),
        64: struct.pack("<IIQQQQQQ", 1, 4, 0, 0, 0, loaded, loaded, 4096)
        + struct.pack("<IIQQQQQQ", 1, 6, data, address, 0, 80, 80, 4096)
        + struct.pack("<IIQQQQQQ", 2, 6, dynamic, dynamic + 4096, 0, 48, 48, 8),
        relocation: struct.pack("<QQQ", address + 8, 8, code_at),
        code_at: code,
        loaded - 64: b"t" * 64,
        data + 8: struct.pack("<Q", code_at),
        dynamic: struct.pack("<QQQQQQ", 7, relocation, 8, 24, 0, 0),
        names_at: names,
        headers_at: bytes(64) + struct.pack("<IIQQQQIIQQ", 1, 1, 2, code_at, code_at, len(code), 0, 0, 16, 0)
        + struct.pack("<IIQQQQIIQQ", len(section) + 2, 3, 0, 0, names_at, len(names), 0, 0, 1, 0)}
    data = bytearray()
    for at, part in parts.items():
        data[at:] = bytes(at - len(data)) + part
    return bytes(data)
