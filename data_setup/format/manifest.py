"""The manifest of a set: what it is, and the size and SHA-256 of each file; read and written line by line.

It is plain JSON, written so that each file has a line of its own: a manifest of millions of files is read
without holding more than one of them.
"""

import hashlib
import json
import platform
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from data_setup.format.errors import SetupError

FORMAT = 1
FILES_LINE = '"files": {'
SEAL = '"sha256_of_the_lines_above": '


class FileEntry(NamedTuple):
    """One file of a set.

    Args:
        path: Where it is, from the folder of the set.
        size: Its bytes.
        sha256: Its hash, in hexadecimal digits.
        origin: The file of the source that it was made from.
        notes: What was odd about that file.
    """

    path: str
    size: int
    sha256: str
    origin: str | None = None
    notes: Sequence[str] = ()


def manifest_text(header: dict[str, object], files: Iterable[FileEntry]) -> Iterator[bytes]:
    """The text of a manifest, line by line; the last one holds the hash of all lines before it.

    Args:
        header: What is known of the set as a whole.
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
        What is wrong, if it was changed.
    """
    sha, last = hashlib.sha256(), b""
    with path.open("rb") as file:
        for line in file:
            sha.update(last)
            last = line
    if last != f'{SEAL}"{sha.hexdigest()}"}}\n'.encode():
        yield f"{path.name}: its content has changed (SHA-256 differs)"


def _content(header: dict[str, object], files: Iterable[FileEntry]) -> Iterator[bytes]:
    yield b"{\n"
    for key, value in ({"format": FORMAT} | header).items():
        yield f"{json.dumps(key)}: {json.dumps(value)},\n".encode()
    yield f"{FILES_LINE}\n".encode()
    separator = ""
    for file in files:
        fields = {"bytes": file.size, "sha256": file.sha256}
        known = {"origin": file.origin, "notes": file.notes}
        fields |= {key: value for key, value in known.items() if value}
        yield f"{separator}{json.dumps(file.path)}: {json.dumps(fields)}".encode()
        separator = ",\n"
    yield b"\n},\n"


def read_header(path: Path) -> dict[str, object]:
    """Read what a manifest says of the set as a whole, without its files.

    Raises:
        FileNotFoundError: There is none.
        SetupError: It is no manifest.
    """
    lines = []
    with path.open(encoding="utf-8") as file:
        for line in file:
            if line.strip() == FILES_LINE:
                break
            lines.append(line)
    try:
        header = json.loads("".join(lines).rstrip().rstrip(",") + "}")
    except ValueError as error:
        raise SetupError(f"{path} is no manifest of this program ({error})") from error
    if header.get("format") != FORMAT:
        raise SetupError(f"{path}: format {header.get('format')}, this program reads {FORMAT}")
    return header


def read_files(path: Path) -> Iterator[FileEntry]:
    """Read the files of a manifest, one after the other.

    Raises:
        SetupError: It was damaged.
    """
    with path.open(encoding="utf-8") as file:
        for line in file:
            if line.strip() == FILES_LINE:
                break
        for line in file:
            if line.strip() == "},":
                return
            yield _file_entry(path, line)
    raise SetupError(f"{path} ends early: it was cut off")


def _file_entry(path: Path, line: str) -> FileEntry:
    try:
        ((name, fields),) = json.loads("{" + line.strip().rstrip(",") + "}").items()
        return FileEntry(
            name, fields["bytes"], fields["sha256"], fields.get("origin"), fields.get("notes", ())
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise SetupError(f"{path}: the line {line.strip()[:80]!r} is damaged") from error


def versions() -> dict[str, str]:
    """The versions that decide what bytes come out."""
    from PIL import features

    names = ("feeding-the-gpu", "pillow", "numpy", "scikit-image", "scikit-learn")
    libraries = {"libjpeg-turbo": features.version("libjpeg_turbo") or "not used"}
    return {"python": platform.python_version()} | {name: version(name) for name in names} | libraries
