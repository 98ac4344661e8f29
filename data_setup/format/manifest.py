"""Manifest of a set: its properties, and the size and SHA-256 of each file; read and written line by line.

It is plain JSON with one file per line: a manifest of millions of files is read without holding more than one
of them in memory.
"""

import hashlib
import json
import os
import platform
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple, NotRequired, TextIO, TypedDict, cast

from course_utils.data import open_regular_file
from data_setup.format.errors import SetupError

FORMAT = 1
FILES_LINE = '"files": {'
SEAL = '"sha256_of_the_lines_above": '

SIZES = "sizes"  # a key of an identity that sets of version 1.0 lack
Identity = dict[str, str | int]  # what determines every byte of a set: source, seed, count, ...


class FormSize(TypedDict):
    """Size of one form of a set: number of files, and their bytes in total."""

    files: int
    bytes: int


class LayoutFields(TypedDict):
    """Layout of raw members, with the keys of `dataset.json`."""

    layout: str
    dtype: str
    shape: list[int]


class Header(TypedDict):
    """What a manifest says about the set as a whole.

    `parts` are the sizes of the archives in bytes, `handled` the numbers of odd files that were converted;
    `raw_layout` and `beside`, the names of unrelated files, are only in the manifest of an adopted set.
    """

    identity: Identity
    images: int
    classes: list[str]
    forms: dict[str, FormSize]
    parts: dict[str, int]
    handled: NotRequired[dict[str, int]]
    raw_layout: NotRequired[LayoutFields]
    beside: NotRequired[list[str]]
    oddities: list[str]
    versions: dict[str, str]


class FileEntry(NamedTuple):
    """One file of a set.

    Args:
        path: Its path, from the folder of the set.
        size: Its size in bytes.
        sha256: Its hash, in hexadecimal digits.
        origin: The file of the source that it was made from.
        notes: What was odd about that file.
    """

    path: str
    size: int
    sha256: str
    origin: str | None = None
    notes: Sequence[str] = ()


def manifest_text(header: Header, files: Iterable[FileEntry]) -> Iterator[bytes]:
    """Generate the lines of a manifest; the last one holds the hash of all lines before it.

    Args:
        header: The properties of the set, in the order in which they are written.
        files: Its files.
    """
    sha = hashlib.sha256()
    for piece in _content(header, files):
        sha.update(piece)
        yield piece
    yield f'{SEAL}"{sha.hexdigest()}"}}\n'.encode()


def check_manifest(path: Path) -> Iterator[str]:
    """Compare a manifest with the hash in its own last line.

    Yields:
        A sentence if it was changed.
    """
    sha, last = hashlib.sha256(), b""
    with os.fdopen(open_regular_file(path, "manifest"), "rb") as file:
        for line in file:
            sha.update(last)
            last = line
    if last != f'{SEAL}"{sha.hexdigest()}"}}\n'.encode():
        yield f"{path.name}: its content has changed (SHA-256 differs)"


def _content(header: Header, files: Iterable[FileEntry]) -> Iterator[bytes]:
    yield b"{\n"
    for key, value in {"format": FORMAT, **header}.items():
        yield f"{json.dumps(key)}: {json.dumps(value)},\n".encode()
    yield f"{FILES_LINE}\n".encode()
    separator = ""
    for file in files:
        fields: dict[str, object] = {"bytes": file.size, "sha256": file.sha256}
        known = {"origin": file.origin, "notes": file.notes}
        fields |= {key: value for key, value in known.items() if value}
        yield f"{separator}{json.dumps(file.path)}: {json.dumps(fields)}".encode()
        separator = ",\n"
    yield b"\n},\n"


def read_header(path: Path) -> Header:
    """Read a manifest without its files.

    Raises:
        FileNotFoundError: There is none.
        SetupError: It is no manifest, or one of another format.
    """
    lines = []
    with _lines_of(path) as file:
        for line in file:
            if line.strip() == FILES_LINE:
                break
            lines.append(line)
    try:
        header = json.loads("".join(lines).rstrip().rstrip(",") + "}")
    except ValueError as error:
        raise SetupError(f"{path} is not a manifest of this program ({error})") from error
    found = header.pop("format", None)
    if found != FORMAT:
        raise SetupError(f"{path}: manifest format {found}; this program reads {FORMAT}")
    if missing := Header.__required_keys__ - header.keys():
        raise SetupError(f"{path}: the manifest lacks {', '.join(sorted(missing))}")
    try:
        sum(form["files"] + form["bytes"] for form in header["forms"].values())
        sum(header["parts"].values())
        dict(header["identity"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise SetupError(f"{path} is damaged: its content has changed ({error!r})") from error
    return cast(Header, header)  # its keys are checked, and `check_manifest` compares its hash


def read_files(path: Path) -> Iterator[FileEntry]:
    """Read the files of a manifest, one at a time.

    Raises:
        SetupError: It is damaged.
    """
    with _lines_of(path) as file:
        for line in file:
            if line.strip() == FILES_LINE:
                break
        for line in file:
            if line.strip() == "},":
                return
            yield _file_entry(path, line)
    raise SetupError(f"{path} is truncated")


def _lines_of(path: Path) -> TextIO:
    return os.fdopen(open_regular_file(path, "manifest"), encoding="utf-8", errors="backslashreplace")


def _file_entry(path: Path, line: str) -> FileEntry:
    try:
        ((name, fields),) = json.loads("{" + line.strip().rstrip(",") + "}").items()
        return FileEntry(
            name, fields["bytes"], fields["sha256"], fields.get("origin"), fields.get("notes", ())
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise SetupError(f"{path}: the line {line.strip()[:80]!r} is damaged") from error


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal digits."""
    with os.fdopen(open_regular_file(path, "file"), "rb", buffering=0) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def library_versions() -> dict[str, str]:
    """Return the versions of Python and of the libraries that determine the bytes of a set."""
    from PIL import features

    names = ("feeding-the-gpu", "pillow", "numpy", "scikit-image", "scikit-learn")
    libraries = {"libjpeg-turbo": features.version("libjpeg_turbo") or "not used"}
    return {"python": platform.python_version()} | {name: version(name) for name in names} | libraries
