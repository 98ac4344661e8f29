"""Unpack archives: tar, which may be compressed, and squashfs."""

import bz2
import gzip
import importlib
import io
import lzma
import os
import shutil
import subprocess
import tarfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from course_utils.data import open_tar
from course_utils.scratch.presets import ScratchError
from course_utils.scratch.source_files import SourceFiles, no_file

SQUASHFS = (".squashfs", ".sqfs", ".sqsh")
TAR = ("", ".gz", ".bz2", ".xz", ".zst")
ENDINGS = (*SQUASHFS, *(f".tar{ending}" for ending in TAR), ".tgz", ".tbz", ".tbz2", ".txz", ".tzst")
BUFFER = 1 << 22  # bytes a read of an archive
DAMAGE = (tarfile.TarError, zlib.error, lzma.LZMAError, EOFError)
ZSTD = b"\x28\xb5\x2f\xfd"
# What tarfile itself uses for streams ignores the checksums of gzip. By the bytes at the beginning:
DECOMPRESSORS: dict[bytes, Callable[[IO[bytes]], IO[bytes]]] = {
    b"\x1f\x8b": lambda file: gzip.GzipFile(fileobj=file),  # type: ignore[dict-item,return-value]
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ": lzma.LZMAFile,
    ZSTD: lambda file: _zstd().ZstdFile(file),  # type: ignore[attr-defined]
}


def unpacked_name(source: Path) -> str:
    """Return the name of an archive without its ending; a name that is nothing else stays as it is."""
    ending = next((ending for ending in ENDINGS if source.name.lower().endswith(ending)), "")
    name = source.name[: len(source.name) - len(ending)]
    return name if name.strip(".") else source.name


def members_of_tar(source: Path, opened: SourceFiles) -> Iterator[tuple[str, int, IO[bytes] | None]]:
    """Yield name, size and content of the files of a tar in their order; None is the content of a folder.

    The tar is read from its beginning to its end, once; to be used within `damage_explained`.

    Raises:
        ScratchError: It holds what is neither a file nor a folder, or nothing.
    """
    empty = True
    with opened.open(source)[0] as file, _decompressed(file) as stream, open_tar(stream, "r|") as tar:
        for member in tar:
            content = tar.extractfile(member) if member.isfile() else None
            if member.islnk() or member.issym():
                raise ScratchError(
                    f"{source}: {member.name} is a link; pack it again with `tar --hard-dereference -h`, "
                    "which stores files in the place of links"
                )
            if content is None and not member.isdir():
                raise no_file(f"{source}: {member.name}")
            yield _inside(source, member.name, content is not None), member.size, content
            empty = False
            tar.members.clear()  # type: ignore[attr-defined]  # tarfile keeps all; the stub lacks it
    if empty:
        raise ScratchError(f"{source} holds no files")


@contextmanager
def damage_explained(source: Path) -> Iterator[None]:
    """Turn what the readers of archives raise for damage into a `ScratchError` that names the archive."""
    try:
        yield
    except OSError as error:
        if error.errno is not None:
            raise
        raise _damaged(source, error) from error  # of a decompressor
    except Exception as error:
        if isinstance(error, DAMAGE) or type(error).__name__ == "ZstdError":
            raise _damaged(source, error) from error
        raise


def _damaged(source: Path, error: Exception) -> ScratchError:
    return ScratchError(
        f"{source} cannot be unpacked: it is damaged, incomplete or no tar ({error}). Download or copy it "
        "again"
    )


@contextmanager
def _decompressed(file: IO[bytes]) -> Iterator[IO[bytes]]:
    """Provide the bytes of a file without its compression, checksums compared."""
    with io.BufferedReader(file, BUFFER) as buffered:  # type: ignore[type-var]
        start = buffered.peek(6)
        decompress = next((way for magic, way in DECOMPRESSORS.items() if start.startswith(magic)), None)
        if decompress:
            with decompress(buffered) as stream:
                yield stream
        else:
            yield buffered


def _zstd() -> object:
    try:
        return importlib.import_module("compression.zstd")
    except ImportError as error:
        raise ScratchError(
            "Python reads .zst from 3.14 on: decompress the archive first (zstd -d)"
        ) from error


def _inside(source: Path, name: str, is_file: bool) -> str:
    """Refuse a name that leads out of the folder; `tarfile.data_filter` would look up each of its parts."""
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if name.startswith("/") or ".." in parts or (is_file and not parts):
        raise ScratchError(f"{source} holds {name!r}, which would be written outside of its folder")
    return "/".join(parts)


def unsquash(source: Path, target: Path) -> None:
    """Unpack a squashfs file into a new folder.

    Raises:
        ScratchError: It is damaged, or the program is missing.
    """
    if not shutil.which("unsquashfs"):
        raise ScratchError(
            "unsquashfs is not installed (package squashfs-tools); stage the file, and mount it"
        )
    command = ["unsquashfs", "-quiet", "-no-progress", "-no-xattrs", "-dest", str(target), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        raise ScratchError(f"{source} cannot be unpacked: {done.stderr.strip()[-300:]}")


def remove_tree(folder: Path) -> None:
    """Remove a folder, also one whose folders were unpacked without permission to write."""
    for place, folders, _ in os.walk(folder):
        for name in folders:
            path = Path(place, name)
            if not path.is_symlink():
                path.chmod(0o700)
    shutil.rmtree(folder)
