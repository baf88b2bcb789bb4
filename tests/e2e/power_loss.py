"""What a power failure can leave of commands, made from a record of their system calls.

`record` runs a command under strace and returns what it did to the files below some folders. A `Disk` is a model of these files that
the calls are replayed on: names in the order in which they were made, up to any point; contents that were not written to disk (fsync,
syncfs) complete, empty, or cut in half. A file that was written to disk on its own account is there with its content and name, however
early the names end (as on btrfs). `Disk.write` makes such a state real again.
"""

import os
import pathlib
import re
import shutil
import stat
import subprocess

CALLS = ("open,openat,creat,write,pwrite64,writev,pwritev,rename,renameat,renameat2,link,linkat,unlink,unlinkat,rmdir,mkdir,mkdirat,"
         "symlink,symlinkat,fsync,fdatasync,syncfs,sync,ftruncate,truncate,copy_file_range,sendfile,chdir,fchdir,fallocate")
MARK = re.compile(r"(\d+)\.([0-9a-f-]{36})\.(\d+)\.(\d+)$")
OTHER_BOOT = "00000000-0000-4000-8000-000000000000"


UMASK = os.umask(0o022)
os.umask(UMASK)


def in_nanoseconds(when):
    """The kernel's clock of files is some ticks behind the one of strace."""
    return int((when - 0.02) * 1e9)


def plain(text):
    """The bytes of a string as `strace -xx` writes it."""
    return re.sub(rb"\\x([0-9a-f]{2})", lambda hexadecimal: bytes([int(hexadecimal[1], 16)]), text.encode())


class Calls:
    """The calls of a trace, in the order in which they ended: (name, arguments, result)."""

    def __init__(self, trace, cwd):
        self.cwd, self.begun = str(cwd), {}
        self.lines = trace.read_text().splitlines()

    def __iter__(self):
        for line in self.lines:
            pid, when, text = line.split(None, 2)
            if text.endswith("<unfinished ...>"):
                self.begun[pid] = text.removesuffix("<unfinished ...>")
                continue
            if resumed := re.match(r"<\.\.\. \w+ resumed>", text):
                text = self.begun.pop(pid) + text[resumed.end():]
            call = re.match(r"(\w+)\((.*)\)\s+= (-?\d+)", text)
            if call and int(call[3]) >= 0:
                yield call[1], call[2], int(call[3]), float(when)

    def path(self, folder, name):
        name = os.fsdecode(plain(re.fullmatch(r'"(.*)"', name)[1]))
        return os.path.normpath(os.path.join(self.cwd if folder is None else self.of_descriptor(folder), name))

    def of_descriptor(self, argument):
        known = re.fullmatch(r"(?:AT_FDCWD|\d+)<(.*)>", argument)
        return os.fsdecode(plain(known[1])) if known else self.cwd


def split(arguments):
    parts = re.findall(r'(?:"(?:[^"\\]|\\.)*"(?:\.\.\.)?|<[^>]*>|\{[^}]*\}|\[.*\]|[^,"<])+', arguments)
    return [part.strip() for part in parts]


def record(command, folders, trace, **options):
    """Runs `command`; returns (what it did below `folders`, the finished process)."""
    done = subprocess.run(["strace", "-f", "-qq", "-y", "-xx", "-ttt", "-s", "100000000", "-e", f"trace={CALLS}", "-o", str(trace),
                           *map(str, command)], **options)
    calls = Calls(trace, options.get("cwd", os.getcwd()))
    deeds = []
    for name, text, result, when in calls:
        deeds.extend(deeds_of(calls, name, split(text), result, when))
    inside = tuple(f"{folder}/" for folder in folders)
    return [deed for deed in deeds if any(isinstance(part, str) and part.startswith(inside) for part in deed[1:])
            or deed[0] == "flush_all"], done


def deeds_of(calls, name, given, result, when):
    at = given[0] if given and not given[0].startswith('"') else None
    match name:
        case "open" | "creat" | "openat":
            path, flags = calls.path(at, given[1 if at else 0]), given[2 if at else 1]
            if name == "creat" or "O_CREAT" in flags:
                mode = given[-1] if "O_CREAT" in flags or name == "creat" else "0666"
                yield "create", path, int(mode, 8) & ~UMASK, when
            if name == "creat" or "O_TRUNC" in flags:
                yield "truncate", path, 0
        case "write":
            yield "write", calls.of_descriptor(given[0]), plain(re.fullmatch(r'"(.*)"', given[1])[1])[:result], when
        case "pwrite64" | "writev" | "pwritev" | "sendfile" | "truncate" | "fallocate":
            path = calls.of_descriptor(given[0])
            if not path.startswith(("pipe:", "socket:", "anon_inode:", "/dev/")):
                yield "unknown", path, f"{name}({given})"
        case "copy_file_range":
            yield "copy", calls.of_descriptor(given[0]), calls.of_descriptor(given[2]), result, when
        case "ftruncate":
            yield "truncate", calls.of_descriptor(given[0]), int(given[1])
        case "rename" | "link":
            yield name, calls.path(None, given[0]), calls.path(None, given[1])
        case "renameat2" if "RENAME_EXCHANGE" in given[-1]:
            yield "exchange", calls.path(at, given[1]), calls.path(given[2], given[3])
        case "renameat" | "renameat2" | "linkat":
            yield ("link" if name == "linkat" else "rename"), calls.path(at, given[1]), calls.path(given[2], given[3])
        case "unlink" | "rmdir":
            yield "remove", calls.path(None, given[0])
        case "unlinkat":
            yield "remove", calls.path(at, given[1])
        case "mkdir" | "mkdirat":
            yield "folder", calls.path(at, given[1 if at else 0])
        case "symlink":
            yield "symlink", calls.path(None, given[1]), os.fsdecode(plain(given[0].strip('"')))
        case "symlinkat":
            yield "symlink", calls.path(given[1], given[2]), os.fsdecode(plain(given[0].strip('"')))
        case "fsync" | "fdatasync":
            yield "flush", calls.of_descriptor(given[0])
        case "syncfs" | "sync":
            yield "flush_all",


class Node:
    def __init__(self, kind, mode, modified=0, content=b"", flushed=True, identity=None):
        self.kind, self.mode, self.modified, self.content, self.flushed = kind, mode, modified, content, flushed
        self.identity = identity or object()

    def copy(self):
        return Node(self.kind, self.mode, self.modified, self.content, self.flushed, self.identity)


class Disk:
    """path -> Node; hard links are one Node."""

    def __init__(self, folders=()):
        self.names = {}
        known = {}
        for folder in folders:
            for place, below, files in os.walk(folder):
                for path in [place, *(os.path.join(place, name) for name in files),
                             *(os.path.join(place, name) for name in below if os.path.islink(os.path.join(place, name)))]:
                    status = os.lstat(path)
                    if status.st_ino not in known:
                        known[status.st_ino] = self.read(path, status)
                    self.names[path] = known[status.st_ino]

    @staticmethod
    def read(path, status):
        mode = stat.S_IMODE(status.st_mode)
        if stat.S_ISDIR(status.st_mode):
            return Node("folder", mode)
        if stat.S_ISLNK(status.st_mode):
            return Node("symlink", mode, content=os.readlink(path))
        return Node("file", mode, status.st_mtime_ns, pathlib.Path(path).read_bytes())

    def copy(self):
        other, copies = Disk(), {}
        for path, node in self.names.items():
            if id(node) not in copies:
                copies[id(node)] = node.copy()
            other.names[path] = copies[id(node)]
        return other

    def do(self, deed):
        match deed:
            case "create", path, mode, when if path not in self.names:
                self.names[path] = Node("file", mode, in_nanoseconds(when), flushed=False)
            case "write", path, content, when if path in self.names:
                node = self.names[path]
                node.content, node.flushed, node.modified = node.content + content, False, in_nanoseconds(when)
            case "copy", source, path, size, when if path in self.names:
                node = self.names[path]
                begin = len(node.content)
                node.content += self.names[source].content[begin:begin + size]
                node.flushed, node.modified = False, in_nanoseconds(when)
            case "truncate", path, size if path in self.names:
                self.names[path].content, self.names[path].flushed = self.names[path].content[:size], False
            case "rename", source, path:
                self.take(path)
                self.put(path, self.take(source))
            case "exchange", one, other:
                tree = self.take(one)
                self.put(one, self.take(other))
                self.put(other, tree)
            case "link", source, path:
                self.names[path] = self.names[source]
            case "remove", path:
                self.take(path)
            case "folder", path:
                self.names[path] = Node("folder", 0o755)
            case "symlink", path, target:
                self.names[path] = Node("symlink", 0o777, content=target)
            case "flush", path if path in self.names:
                self.names[path].flushed = True
            case "flush_all",:
                for node in self.names.values():
                    node.flushed = True
            case "unknown", _, what:
                raise NotImplementedError(what)

    def take(self, path):
        """What was at `path` and below, by the rest of its name."""
        return {name[len(path):]: self.names.pop(name) for name in list(self.names) if name == path or name.startswith(path + "/")}

    def put(self, path, tree):
        self.names.update({path + below: node for below, node in tree.items()})

    def write(self, folders, loss, keep=()):
        """Replaces what is below `folders`, but leaves the files of `keep`. `loss(path)` says what is left of a content that was not
        flushed, as a part of its length. The marks are of another boot."""
        for folder in folders:
            for place, below, files in os.walk(folder):
                for name in files + [one for one in below if os.path.islink(os.path.join(place, one))]:
                    if os.path.join(place, name) not in keep:
                        os.unlink(os.path.join(place, name))
            for place, _, files in os.walk(folder, topdown=False):
                if not os.listdir(place) and place != str(folder):
                    os.rmdir(place)
        made = {}
        for path, node in sorted(self.names.items()):
            if node.kind == "folder":
                os.makedirs(path, exist_ok=True)
                continue
            if path in keep:
                continue
            os.makedirs(os.path.dirname(path), exist_ok=True)
            if id(node) in made:
                os.link(made[id(node)], path)
            elif node.kind == "symlink":
                name = os.path.basename(path)
                os.symlink(OTHER_BOOT if name == "unflushed" else node.content, path)
            else:
                self.write_file(path, node, loss)
                made[id(node)] = path
        for folder in folders:
            for path in pathlib.Path(folder).glob("**/.axle/unflushed/*"):
                if mark := MARK.match(path.name):
                    path.rename(path.with_name(f"{mark[1]}.{OTHER_BOOT}.{mark[3]}.{path.stat().st_ino}"))

    @staticmethod
    def write_file(path, node, loss):
        content = node.content if node.flushed else node.content[:int(len(node.content) * loss(path))]
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, node.mode)
        os.write(descriptor, content)
        os.fchmod(descriptor, node.mode)
        os.close(descriptor)
        os.utime(path, ns=(node.modified, node.modified))


def states(disk, deeds, seen):
    """Every (how many names are there, how many deeds were done, Disk): first with names up to that point, then with files that were
    flushed later on their own account. `seen`: number of deeds -> what was really there then, which knows modes and times."""
    disks = [disk.copy()]
    for deed in deeds:
        disks.append(disks[-1].copy())
        disks[-1].do(deed)
    facts = {node.identity: real.names[path] for done, real in seen.items()
             for path, node in disks[done].names.items() if path in real.names}
    for one in disks:
        for node in one.names.values():
            if node.identity in facts:
                node.mode, node.modified = facts[node.identity].mode, facts[node.identity].modified
    for index, one in enumerate(disks):
        yield index, index, one
    flushed = set()
    for done, deed in enumerate(deeds, 1):
        if deed[0] != "flush" or deed[1] not in disks[done].names or disks[done].names[deed[1]].kind != "file":
            continue
        flushed.add(deed[1])
        for index in range(done):
            early = disks[index].copy()
            early.names.update({path: disks[done].names[path] for path in flushed if path in disks[done].names})
            yield index, done, early


def can_trace():
    return shutil.which("strace") is not None and subprocess.run(
        ["strace", "-o", "/dev/null", "/bin/true"], capture_output=True, check=False).returncode == 0
