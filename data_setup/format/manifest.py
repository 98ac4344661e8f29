"""Manifest of a set: its properties, and the size and SHA-256 of each file, as JSON with one file a line."""

import hashlib
import json
import os
import platform
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple, NotRequired, TypedDict

import msgspec

from course_utils.data import open_regular_file, read_regular_file
from data_setup.format.errors import SetupError

FORMAT = 1
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
    `raw_layout` and `beside`, the names of unrelated files, are only in the manifest of an adopted set. A set
    of tokens has no images; it has `documents`, and `licences` with their addresses, by source.
    """

    identity: Identity
    images: int
    classes: list[str]
    forms: dict[str, FormSize]
    parts: dict[str, int]
    handled: NotRequired[dict[str, int]]
    documents: NotRequired[dict[str, int]]
    licences: NotRequired[dict[str, str]]
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


class Manifest(NamedTuple):
    """A manifest as it was read; `is_intact` says whether it has the hash that its last line states."""

    header: Header
    files: list[FileEntry]
    is_intact: bool


def form_sizes(files: Iterable[FileEntry], forms: Iterable[str]) -> dict[str, FormSize]:
    """Count the files and bytes of each form."""
    sizes: dict[str, FormSize] = {form: {"files": 0, "bytes": 0} for form in forms}
    for file in files:
        form = sizes[file.path.split("/")[0]]
        form["files"] += 1
        form["bytes"] += file.size
    return sizes


def manifest_text(header: Header, files: Iterable[FileEntry]) -> Iterator[bytes]:
    """Generate the lines of a manifest; the last one holds the hash of all lines before it."""
    sha = hashlib.sha256()
    for piece in _content(header, files):
        sha.update(piece)
        yield piece
    yield _seal(sha.hexdigest())


def _seal(digest: str) -> bytes:
    return f'{SEAL}"{digest}"}}\n'.encode()


def _content(header: Header, files: Iterable[FileEntry]) -> Iterator[bytes]:
    yield b"{\n"
    for key, value in {"format": FORMAT, **header}.items():
        yield f"{json.dumps(key)}: {json.dumps(value)},\n".encode()
    yield b'"files": {\n'
    separator = ""
    for file in files:
        fields: dict[str, object] = {"bytes": file.size, "sha256": file.sha256}
        known = {"origin": file.origin, "notes": file.notes}
        fields |= {key: value for key, value in known.items() if value}
        yield f"{separator}{json.dumps(file.path)}: {json.dumps(fields)}".encode()
        separator = ",\n"
    yield b"\n},\n"


def read_manifest(path: Path) -> Manifest:
    """Read a manifest.

    Raises:
        FileNotFoundError: There is none.
        SetupError: It is no manifest, one of another format, or its content has changed so that it is none.
    """
    data = read_regular_file(path, "manifest")
    try:
        content: dict[str, Any] = json.loads(data)
        files: dict[str, Any] = content.pop("files")
        found = content.pop("format")
        if found != FORMAT:
            raise SetupError(f"{path}: manifest format {found}; this program reads {FORMAT}")
        entries = [
            FileEntry(name, one["bytes"], one["sha256"], one.get("origin"), one.get("notes", ()))
            for name, one in files.items()
        ]
        header = msgspec.convert(content, Header)
        entries = msgspec.convert(entries, list[FileEntry])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        reason = f"is not a manifest of this program, or its content has changed ({error})"
        raise SetupError(f"{path} {reason}") from error
    lines, end, _ = data[:-1].rpartition(b"\n")
    return Manifest(header, entries, data.endswith(_seal(hashlib.sha256(lines + end).hexdigest())))


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


def describe_identity(identity: Identity) -> str:
    """Return the identity of a set in words."""
    fields = dict(identity)
    source = fields.pop("source", "a set of unknown source")
    details = ", ".join(f"{key} {value}" for key, value in fields.items())
    return f"{source} ({details})" if details else str(source)
