"""Adopt an existing set without a manifest: check it, declare its raw layout, write its manifest."""

import sys
from collections.abc import Iterator
from pathlib import Path

from tqdm import tqdm

from course_utils.data import LABELS_NAME, PackError, labels_of_lines, read_regular_file
from course_utils.system import remove_temporaries, write_atomically
from data_setup.format import (
    ENCODED,
    FORMS,
    JPEGS,
    MANIFEST,
    RAW,
    FileEntry,
    FormSize,
    Header,
    SetupError,
    StagingDirectory,
    exclusive_lock,
    file_sha256,
    library_versions,
    manifest_text,
)
from data_setup.inspect.compare import Comparison, RawEvidence, compare_image
from data_setup.inspect.declare import declare_layout
from data_setup.inspect.packed_form import PackedForm, archives

MAX_NAMED = 5


def adopt_set(out: Path) -> None:
    """Check a set without a manifest and write one; declare the layout of raw pixels where it is not.

    Readers look for the layout in `dataset.json` of each archive: only this member is replaced.

    Args:
        out: Folder with `disk_transformed/`, `zip_encoded/` and `zip/`.

    Raises:
        SetupError: There is a manifest already, a form is missing, or the three forms do not agree.
    """
    _require_forms(out)
    with exclusive_lock(StagingDirectory(out).lock("set"), f"the set in {out}"):
        remove_temporaries(out / MANIFEST)
        _adopt(out)


def _adopt(out: Path) -> None:
    labels = _labels_by_name(out / JPEGS)
    with PackedForm(out / ENCODED) as encoded, PackedForm(out / RAW) as raw:
        differences = [*_unexpected_files(out), *encoded.differences(labels), *raw.differences(labels)]
        if differences:
            raise SetupError(_refusal(out, differences))
        comparison = _compare(out, labels, encoded, raw)
        declared, undeclared = raw.declared_layouts, raw.undeclared
    differences = [*comparison.differences, *comparison.raw.differences(declared)]
    if differences:
        raise SetupError(_refusal(out, differences))
    oddities = [*encoded.oddities, *raw.oddities, *comparison.oddities()]
    if undeclared:
        oddities.append(f"{RAW}/ did not declare its layout; {comparison.raw.describe()}")
        if layout := comparison.raw.only_layout():
            for path in undeclared:
                declare_layout(path, layout)
    _write_manifest(out, labels, comparison.raw, oddities)


def _require_forms(out: Path) -> None:
    if (out / MANIFEST).exists():
        raise SetupError(f"{out} has a {MANIFEST} already; `verify` compares the set with it")
    missing = [form for form in FORMS if not (out / form).is_dir()]
    if missing:
        raise SetupError(f"{out} has no {', '.join(missing)}: a set consists of {', '.join(FORMS)}")


def _is_jpeg(path: Path) -> bool:
    return path.suffix.lower() in (".jpeg", ".jpg") and not path.name.startswith(".")


def _labels_by_name(folder: Path) -> dict[str, int]:
    """Return the label of each JPEG file; the lines of the text file are in the sorted order of the names."""
    names = sorted(path.name for path in folder.iterdir() if _is_jpeg(path))
    try:
        labels = labels_of_lines(read_regular_file(folder / LABELS_NAME, "file of labels").decode())
    except FileNotFoundError as error:
        raise SetupError(f"{folder / LABELS_NAME} is missing: it holds the labels, one per line") from error
    except ValueError as error:
        raise SetupError(f"{folder / LABELS_NAME}: {error}; it should hold one integer per line") from error
    if not names or len(names) != len(labels):
        raise SetupError(f"{folder}: {len(names)} images, but {len(labels)} labels in {LABELS_NAME}")
    return dict(zip(names, labels, strict=True))


def _unexpected_files(out: Path) -> Iterator[str]:
    """Yield a sentence per file that would be extra in every later verification."""
    for path in (out / JPEGS).iterdir():
        if not _is_jpeg(path) and path.name != LABELS_NAME and not path.name.startswith("."):
            yield f"{JPEGS}/{path.name} is neither a JPEG file nor the labels"


def _beside(out: Path) -> list[str]:
    """Return the names of unrelated files beside the three forms; `verify` ignores them, and hidden files."""
    return sorted(name for path in out.iterdir() if (name := path.name) not in FORMS and name[0] != ".")


def _compare(out: Path, labels: dict[str, int], encoded: PackedForm, raw: PackedForm) -> Comparison:
    comparison = Comparison()
    for name in tqdm(labels, unit=" images", file=sys.stdout, desc=f"Comparing {out}"):
        try:
            compare_image(comparison, name, out / JPEGS / name, encoded.read(name), raw.read(name))
        except PackError as error:
            comparison.differences.append(str(error))
    return comparison


def _refusal(out: Path, differences: list[str]) -> str:
    more = len(differences) - MAX_NAMED
    listed = "".join(f"\n  {difference}" for difference in differences[:MAX_NAMED])
    return (
        f"{out} is not a set whose three forms agree. Nothing was changed."
        + listed
        + (f"\n  and {more:,} more" if more > 0 else "")
    )


def _write_manifest(out: Path, labels: dict[str, int], raw: RawEvidence, oddities: list[str]) -> None:
    files = list(_files(out, labels))
    forms: dict[str, FormSize] = {form: {"files": 0, "bytes": 0} for form in FORMS}
    for file in files:
        form = forms[file.path.split("/")[0]]
        form["files"] += 1
        form["bytes"] += file.size
    header: Header = {
        "identity": {"source": "an adopted set", "count": len(labels)},
        "images": len(labels),
        "classes": [],
        "forms": forms,
        "parts": {file.path: file.size for file in files if not file.path.startswith(f"{JPEGS}/")},
        "raw_layout": raw.layout_fields(),
        "beside": _beside(out),
        "oddities": oddities,
        "versions": library_versions(),
    }
    write_atomically(out / MANIFEST, manifest_text(header, files))


def _files(out: Path, labels: dict[str, int]) -> Iterator[FileEntry]:
    packs = [path for form in (RAW, ENCODED) for path in archives(out / form)]
    paths = [*(out / JPEGS / name for name in labels), out / JPEGS / LABELS_NAME, *packs]
    for path in tqdm(paths, unit=" files", file=sys.stdout, desc="Hashing"):
        yield FileEntry(path.relative_to(out).as_posix(), path.stat().st_size, file_sha256(path))
