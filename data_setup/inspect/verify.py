"""Verify a set against its manifest: find every changed, missing or extra file."""

import os
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path

from tqdm import tqdm

from course_utils.system import usable_cores
from data_setup.format import (
    FORMS,
    MANIFEST,
    STAGING,
    FileEntry,
    check_manifest,
    file_sha256,
    read_files,
    read_header,
)

BATCH = 256


def find_problems(out: Path) -> Iterator[str]:
    """Compare a set with its manifest.

    Args:
        out: Folder of the set.

    Yields:
        A sentence per problem.

    Raises:
        FileNotFoundError: There is no manifest.
        SetupError: The manifest cannot be read.
    """
    manifest = out / MANIFEST
    header = read_header(manifest)
    total = sum(form["files"] for form in header["forms"].values())
    yield from check_manifest(manifest)
    expected: dict[str, set[str]] = {form: set() for form in FORMS}
    with tqdm(total=total, unit=" files", file=sys.stdout, desc=f"Verifying {out}") as bar:
        for entry, problem in _checked(out, read_files(manifest)):
            form, _, name = entry.path.partition("/")
            expected.setdefault(form, set()).add(name)
            bar.update()
            if problem:
                yield f"{entry.path}: {problem}"
    yield from _extra(out, expected, {MANIFEST, *header.get("beside", ())})


def _checked(out: Path, entries: Iterable[FileEntry]) -> Iterator[tuple[FileEntry, str | None]]:
    entries = iter(entries)
    with ThreadPoolExecutor(usable_cores()) as threads:
        while batch := list(islice(entries, BATCH)):
            yield from zip(batch, threads.map(lambda entry: _problem(out, entry), batch), strict=True)


def _problem(out: Path, entry: FileEntry) -> str | None:
    path = out / entry.path
    try:
        size = path.stat().st_size
        if size != entry.size:
            return f"{size} bytes instead of {entry.size}"
        return None if file_sha256(path) == entry.sha256 else "its content has changed (SHA-256 differs)"
    except FileNotFoundError:
        return "missing"
    except OSError as error:
        return f"cannot be read ({error.strerror})"


def _extra(out: Path, expected: dict[str, set[str]], beside: set[str]) -> Iterator[str]:
    """Yield a sentence per file that should not be there; hidden files, such as .DS_Store, may."""
    with os.scandir(out) as entries:
        names = {entry.name for entry in entries if entry.name == STAGING or not entry.name.startswith(".")}
    extra = names - expected.keys() - beside
    yield from (f"{name}: not in the manifest" for name in sorted(extra))
    for form, names in expected.items():
        if (out / form).is_dir():
            with os.scandir(out / form) as entries:
                found = sorted(
                    entry.name
                    for entry in entries
                    if entry.name not in names and not entry.name.startswith(".")
                )
            yield from (f"{form}/{name}: not in the manifest" for name in found)
