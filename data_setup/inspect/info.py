"""Describe a set: its source, its size, and the number of files of each form."""

import os
import statistics
from pathlib import Path

from data_setup.create import describe_identity
from data_setup.format import FORMS, JPEGS, MANIFEST, SetupError, read_header

MAX_LISTED = 20


def describe_set(out: Path) -> str:
    """Return a description of the set in a folder, several lines of text.

    Raises:
        SetupError: There is no set.
    """
    if not any((out / form).is_dir() for form in FORMS):
        raise SetupError(f"{out} holds no data; `python -m data_setup photos --out {out}` makes some")
    lines = [str(out.absolute()), *_from_manifest(out)]
    lines += [f"  {form + '/':<18}{_size(out / form)}" for form in _forms(out)]
    return "\n".join(lines)


def _forms(out: Path) -> list[str]:
    """Return the forms that a set should have."""
    manifest = out / MANIFEST
    return [form for form in FORMS if not manifest.exists() or form in read_header(manifest)["forms"]]


def _from_manifest(out: Path) -> list[str]:
    if not (out / MANIFEST).exists():
        return [f"  no {MANIFEST}: `python -m data_setup adopt --out {out}` checks the set and writes one"]
    header = read_header(out / MANIFEST)
    lines = [f"  {header['images']:,} images: {describe_identity(header['identity'])}"]
    if header["classes"]:
        lines.append(f"  {len(header['classes'])} classes: {_first_items(header['classes'], ', ')}")
    if layout := header.get("raw_layout"):
        lines.append(f"  raw layout: {layout['layout']}, {layout['dtype']}, {layout['shape']}")
    if handled := header.get("handled"):
        lines.append("  converted: " + ", ".join(f"{count:,} {what}" for what, count in handled.items()))
    if oddities := header.get("oddities"):
        lines.append(f"  odd: {_first_items(oddities, '; ')}")
    return lines


def _first_items(items: list[str], separator: str) -> str:
    more = len(items) - MAX_LISTED
    return separator.join(items[:MAX_LISTED]) + (f"{separator}and {more:,} more" if more > 0 else "")


def _size(folder: Path) -> str:
    if not folder.is_dir():
        return "missing"
    with os.scandir(folder) as entries:
        sizes = [entry.stat().st_size for entry in entries if not entry.name.startswith(".")]
    text = f"{len(sizes):>9,} files ({len(sizes) + 1:,} inodes), {sum(sizes) / 1e6:,.1f} MB"
    if folder.name == JPEGS and sizes:
        text += f", median {statistics.median(sizes) / 1e3:.1f} kB"
    return text
