"""Verify a set against its manifest: find every changed, missing or extra file."""

import os
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from tqdm import tqdm

from course_utils.system import usable_cores
from data_setup.format.layout import FORMS, MANIFEST, STAGING, TOKENS
from data_setup.format.manifest import FileEntry, file_sha256, read_manifest


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
    manifest = read_manifest(out / MANIFEST)
    if not manifest.is_intact:
        yield f"{MANIFEST}: its content has changed (SHA-256 differs)"
    expected: dict[str, set[str]] = {form: set() for form in FORMS}
    with (
        ThreadPoolExecutor(usable_cores()) as threads,
        tqdm(total=len(manifest.files), unit=" files", file=sys.stdout, desc=f"Verifying {out}") as bar,
    ):
        problems = threads.map(partial(_problem, out), manifest.files)
        for entry, problem in zip(manifest.files, problems, strict=True):
            form, _, name = entry.path.partition("/")
            expected.setdefault(form, set()).add(name)
            bar.update()
            if problem:
                yield f"{entry.path}: {problem}"
    yield from _extra(out, expected, {MANIFEST, TOKENS, *manifest.header.get("beside", ())})


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
    names = {path.name for path in out.iterdir() if path.name == STAGING or not path.name.startswith(".")}
    yield from (f"{name}: not in the manifest" for name in sorted(names - expected.keys() - beside))
    for form, names in expected.items():
        if (out / form).is_dir():
            with os.scandir(out / form) as entries:
                found = sorted(entry.name for entry in entries if not entry.name.startswith("."))
            yield from (f"{form}/{name}: not in the manifest" for name in found if name not in names)
