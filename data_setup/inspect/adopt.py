"""Taking over a set that exists already, as courses have it today: checked, described, not touched."""

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tqdm import tqdm

from course_utils.data import LABELS_NAME, PackError
from data_setup.format import (
    ENCODED,
    FORMS,
    JPEGS,
    MANIFEST,
    RAW,
    FileEntry,
    SetupError,
    manifest_text,
    versions,
    write_atomically,
)
from data_setup.inspect.compare import Comparison, RawEvidence, compare_member
from data_setup.inspect.packed_form import Packs
from data_setup.inspect.verify import file_sha256

MOST_NAMED = 5


def adopt_set(out: Path) -> None:
    """Check a set without a manifest and write one; nothing else is changed.

    Args:
        out: The folder with `disk_transformed/`, `zip_encoded/` and `zip/`.

    Raises:
        SetupError: There is a manifest already, a form is missing, or the three forms do not agree.
    """
    _require_forms(out)
    labels = _labels_by_name(out / JPEGS)
    with Packs(out / ENCODED) as encoded, Packs(out / RAW) as raw:
        differences = [*_strangers(out), *encoded.differences(labels), *raw.differences(labels)]
        if differences:
            raise SetupError(_refusal(out, differences))
        comparison = _compare(out, labels, encoded, raw)
        stated = raw.stated_layouts
    differences = [*comparison.differences, *comparison.raw.differences(stated)]
    if differences:
        raise SetupError(_refusal(out, differences))
    oddities = [*encoded.oddities, *raw.oddities, *comparison.oddities()]
    if not stated:
        oddities.append(f"{RAW}/ does not state its layout; {comparison.raw.describe()}")
    _write_manifest(out, labels, comparison.raw, oddities)


def _require_forms(out: Path) -> None:
    if (out / MANIFEST).exists():
        raise SetupError(f"{out} has a {MANIFEST} already; `verify` compares the set with it")
    missing = [form for form in FORMS if not (out / form).is_dir()]
    if missing:
        raise SetupError(f"{out} has no {', '.join(missing)}: a set consists of {', '.join(FORMS)}")


def _labels_by_name(folder: Path) -> dict[str, int]:
    """The label of each JPEG file, from the text file's lines in the sorted order of the names."""
    names = sorted(path.name for path in folder.iterdir() if path.suffix.lower() in (".jpeg", ".jpg"))
    try:
        labels = [int(line) for line in (folder / LABELS_NAME).read_text().split()]
    except FileNotFoundError as error:
        raise SetupError(f"{folder / LABELS_NAME} is missing: it holds the labels, one a line") from error
    except ValueError as error:
        raise SetupError(f"{folder / LABELS_NAME}: {error}; it should hold an integer a line") from error
    if not names or len(names) != len(labels):
        raise SetupError(f"{folder}: {len(names)} images, but {len(labels)} labels in {LABELS_NAME}")
    return dict(zip(names, labels, strict=True))


def _strangers(out: Path) -> Iterator[str]:
    """Files that belong to no form: a manifest would call them extra ever after."""
    for path in (out / JPEGS).iterdir():
        if path.suffix.lower() not in (".jpeg", ".jpg") and path.name != LABELS_NAME:
            yield f"{JPEGS}/{path.name} is neither an image nor the labels"


def _beside(out: Path) -> list[str]:
    """What lies beside the three forms and is somebody's own affair."""
    return sorted(path.name for path in out.iterdir() if path.name not in FORMS)


def _compare(out: Path, labels: dict[str, int], encoded: Packs, raw: Packs) -> Comparison:
    comparison = Comparison()
    for name in tqdm(labels, unit=" images", file=sys.stdout, desc=f"Comparing {out}"):
        try:
            compare_member(comparison, name, out / JPEGS / name, encoded.read(name), raw.read(name))
        except PackError as error:
            comparison.differences.append(str(error))
    return comparison


def _refusal(out: Path, differences: list[str]) -> str:
    more = len(differences) - MOST_NAMED
    listed = "".join(f"\n  {difference}" for difference in differences[:MOST_NAMED])
    return (
        f"{out} is not a set whose three forms agree. Nothing was changed."
        + listed
        + (f"\n  and {more:,} more" if more > 0 else "")
    )


def _write_manifest(out: Path, labels: dict[str, int], raw: RawEvidence, oddities: list[str]) -> None:
    files = list(_files(out, labels))
    forms = {form: Counter() for form in FORMS}
    for file in files:
        forms[file.path.split("/")[0]].update(files=1, bytes=file.size)
    header = {
        "identity": {"source": "a set that was adopted", "count": len(labels)},
        "images": len(labels),
        "classes": [],
        "forms": forms,
        "parts": {file.path: file.size for file in files if not file.path.startswith(f"{JPEGS}/")},
        "raw_layout": raw.layout_fields(),
        "beside": _beside(out),
        "oddities": oddities,
        "versions": versions(),
    }
    write_atomically(out / MANIFEST, manifest_text(header, files))


def _files(out: Path, labels: dict[str, int]) -> Iterator[FileEntry]:
    packs = [path for form in (RAW, ENCODED) for path in sorted((out / form).iterdir())]
    paths = [*(out / JPEGS / name for name in labels), out / JPEGS / LABELS_NAME, *packs]
    for path in tqdm(paths, unit=" files", file=sys.stdout, desc="Hashing"):
        yield FileEntry(path.relative_to(out).as_posix(), path.stat().st_size, file_sha256(path))
