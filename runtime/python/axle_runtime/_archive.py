"""Models in zip archives, as packages hold them: unpacked for as long as it takes to open them."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
import zipfile
import zlib
from typing import Iterator, List, Optional

from ._library import MalformedModel

# What models deflate to is nearly what they are.
_MOST_RATIO = 50
_FREE_SIZE = 64 << 20


def _named(folder: str, ending: str) -> List[str]:
    return sorted(name for name in os.listdir(folder) if name.endswith(ending))


def _holds_model(folder: str) -> bool:
    return os.path.exists(os.path.join(folder, "config.json")) or bool(_named(folder, ".gguf"))


def _find(path: str) -> Optional[str]:
    """The archive that is meant by the path: a file, or the one in a folder without a model."""
    if not os.path.isdir(path):
        return path if path.endswith(".zip") and os.path.exists(path) else None
    archives = [] if _holds_model(path) else _named(path, ".zip")
    if len(archives) > 1:
        raise MalformedModel(
            "{}: the folder holds {} archives; name one, such as {}".format(
                path, len(archives), os.path.join(path, archives[0])
            )
        )
    return os.path.join(path, archives[0]) if archives else None


def _check(archive: zipfile.ZipFile, path: str) -> None:
    """Everything that the archive says of itself, before a byte of it is written."""
    size, names = 0, set()
    for member in archive.infolist():
        parts = member.filename.rstrip("/").split("/")
        kind = stat.S_IFMT(member.external_attr >> 16)
        if (
            not all(parts)
            or {".", ".."} & set(parts)
            or any(character < " " or character in "\\:\x7f" for character in member.filename)
            or member.orig_filename != member.filename
        ):
            raise MalformedModel("{}: the name {!r} leads elsewhere".format(path, member.filename))
        if kind not in (0, stat.S_IFREG, stat.S_IFDIR) or member.flag_bits & 1:
            raise MalformedModel("{}: {} is a link or encrypted".format(path, member.filename))
        if member.filename.lower() in names:
            raise MalformedModel("{}: {} is there twice".format(path, member.filename))
        names.add(member.filename.lower())
        size += member.file_size
    if size > max(_FREE_SIZE, _MOST_RATIO * os.path.getsize(path)):
        raise MalformedModel("{}: it would unpack to {} bytes".format(path, size))


@contextlib.contextmanager
def unpacked(path: str) -> Iterator[str]:
    """The path of the model: as it is, or of the archive's files while the block runs. A model maps
    its files, so that they may go once it is open."""
    found = _find(path)
    if found is None:
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="axle-models-") as folder:
        try:
            with zipfile.ZipFile(found) as archive:
                _check(archive, found)
                archive.extractall(folder)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as problem:
            raise MalformedModel("{}: {}".format(found, problem)) from problem
        inside = os.listdir(folder)
        alone = os.path.join(folder, inside[0]) if len(inside) == 1 else folder
        yield alone if os.path.isdir(alone) and not _holds_model(folder) else folder
