"""Describe a set: its source, its size, and the number of files of each form."""

import os
import statistics
from pathlib import Path

from data_setup.format.errors import SetupError
from data_setup.format.layout import FORMS, JPEGS, MANIFEST, TOKENS, first_of
from data_setup.format.manifest import describe_identity, read_manifest

MAX_LISTED = 20


def describe_set(out: Path) -> str:
    """Return a description of the set in a folder, several lines of text.

    Raises:
        SetupError: There is no set.
    """
    if is_token_set(out):
        return f"{out.absolute()}\n{_describe_tokens(out)}"
    if not any((out / form).is_dir() for form in FORMS):
        raise SetupError(f"{out} holds no data; `python -m data_setup photos --out {out}` makes some")
    lines, forms = [str(out.absolute())], list(FORMS)
    if (out / MANIFEST).exists():
        header = read_manifest(out / MANIFEST).header
        forms = list(header["forms"])
        lines.append(f"  {header['images']:,} images: {describe_identity(header['identity'])}")
        if classes := header["classes"]:
            lines.append(f"  {len(classes)} classes: {first_of(classes, MAX_LISTED)}")
        if layout := header.get("raw_layout"):
            lines.append(f"  raw layout: {layout['layout']}, {layout['dtype']}, {layout['shape']}")
        if handled := header.get("handled"):
            lines.append("  converted: " + ", ".join(f"{count:,} {what}" for what, count in handled.items()))
        if oddities := header["oddities"]:
            lines.append(f"  odd: {first_of(oddities, MAX_LISTED, '; ')}")
    else:
        lines.append(
            f"  no {MANIFEST}: `python -m data_setup adopt --out {out}` checks the set and writes one"
        )
    lines += [f"  {form + '/':<18}{_size(out / form)}" for form in forms]
    if is_token_set(out / TOKENS):
        lines += [f"  {TOKENS + '/':<18}{_size(out / TOKENS)}", _describe_tokens(out / TOKENS)]
    return "\n".join(lines)


def is_token_set(out: Path) -> bool:
    """Return whether a folder holds a set of tokens."""
    return (out / MANIFEST).exists() and "documents" in read_manifest(out / MANIFEST).header


def _describe_tokens(out: Path) -> str:
    header = read_manifest(out / MANIFEST).header
    documents = header["documents"]
    total = f"{sum(documents.values()):,} documents: {describe_identity(header['identity'])}"
    return f"  {total}\n  " + ", ".join(f"{name} {count:,}" for name, count in documents.items())


def _size(folder: Path) -> str:
    if not folder.is_dir():
        return "missing"
    with os.scandir(folder) as entries:
        sizes = [entry.stat().st_size for entry in entries if not entry.name.startswith(".")]
    text = f"{len(sizes):>9,} files ({len(sizes) + 1:,} inodes), {sum(sizes) / 1e6:,.1f} MB"
    if folder.name == JPEGS and sizes:
        text += f", median {statistics.median(sizes) / 1e3:.1f} kB"
    return text
