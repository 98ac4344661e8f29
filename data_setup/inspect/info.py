"""What a set is, how big it is, and how many files each form costs."""

import os
import statistics
from pathlib import Path

from data_setup.create import describe
from data_setup.format import FORMS, JPEGS, MANIFEST, SetupError, read_header

MOST_LISTED = 20


def report(out: Path) -> str:
    """Describe the set in a folder, in some lines of text.

    Raises:
        SetupError: There is none.
    """
    if not any((out / form).is_dir() for form in FORMS):
        raise SetupError(f"{out} holds no data; `python -m data_setup photos --out {out}` makes some")
    lines = [str(out.absolute()), *_from_manifest(out)]
    for form in FORMS:
        lines.append(f"  {form + '/':<18}{_cost(out / form)}")
    return "\n".join(lines)


def _from_manifest(out: Path) -> list[str]:
    if not (out / MANIFEST).exists():
        return [f"  no {MANIFEST}: `python -m data_setup adopt --out {out}` checks the set and writes one"]
    header = read_header(out / MANIFEST)
    lines = [f"  {header['images']:,} images: {describe(header['identity'])}"]
    if header["classes"]:
        lines.append(f"  {len(header['classes'])} classes: {_some(header['classes'], ', ')}")
    if layout := header.get("raw_layout"):
        lines.append(f"  raw layout: {layout['layout']}, {layout['dtype']}, {layout['shape']}")
    if handled := header.get("handled"):
        lines.append("  dealt with: " + ", ".join(f"{count:,} {what}" for what, count in handled.items()))
    if oddities := header.get("oddities"):
        lines.append(f"  odd: {_some(oddities, '; ')}")
    return lines


def _some(things: list[str], separator: str) -> str:
    more = len(things) - MOST_LISTED
    return separator.join(things[:MOST_LISTED]) + (f"{separator}and {more:,} more" if more > 0 else "")


def _cost(folder: Path) -> str:
    if not folder.is_dir():
        return "missing"
    with os.scandir(folder) as entries:
        sizes = [entry.stat().st_size for entry in entries]
    text = f"{len(sizes):>9,} files ({len(sizes) + 1:,} inodes), {sum(sizes) / 1e6:,.1f} MB"
    if folder.name == JPEGS and sizes:
        text += f", median {statistics.median(sizes) / 1e3:.1f} kB"
    return text
