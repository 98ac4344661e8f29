"""Adopt an existing set without a manifest: check it, declare its raw layout, write its manifest."""

import sys
from collections.abc import Iterator
from pathlib import Path

from tqdm import tqdm

from course_utils.data import LABELS_NAME, PackError, labels_of_lines, read_regular_file
from course_utils.system import remove_temporaries, write_atomically
from data_setup.format.errors import SetupError
from data_setup.format.layout import ENCODED, FORMS, JPEGS, MANIFEST, RAW, first_of
from data_setup.format.locks import locked, set_lock
from data_setup.format.manifest import (
    FileEntry,
    Header,
    file_sha256,
    form_sizes,
    library_versions,
    manifest_text,
)
from data_setup.inspect.compare import Comparison
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
    if (out / MANIFEST).exists():
        raise SetupError(f"{out} has a {MANIFEST} already; `verify` compares the set with it")
    if missing := [form for form in FORMS if not (out / form).is_dir()]:
        raise SetupError(f"{out} has no {', '.join(missing)}: a set consists of {', '.join(FORMS)}")
    with locked(set_lock(out), f"the set in {out}"):
        remove_temporaries(out / MANIFEST)
        _adopt(out)


def _adopt(out: Path) -> None:
    labels = _labels_by_name(out / JPEGS)
    with PackedForm(out / ENCODED) as encoded, PackedForm(out / RAW) as raw:
        _refuse(out, [*_unexpected_files(out), *encoded.differences(labels), *raw.differences(labels)])
        found = _compare(out, labels, encoded, raw)
        _refuse(
            out, [*found.differences, *found.raw_differences({one for one in raw.layouts.values() if one})]
        )
        oddities = [*encoded.oddities, *raw.oddities, *found.oddities()]
    layouts = found.layouts()
    undeclared = [path for path, layout in raw.layouts.items() if layout is None]
    if undeclared:
        oddities.append(f"{RAW}/ did not declare its layout; {found.describe()}")
        if len(layouts) == 1:
            for path in undeclared:
                declare_layout(path, layouts[0])
    files = list(_files(out, labels))
    layout = layouts[0]
    header: Header = {
        "identity": {"source": "an adopted set", "count": len(labels)},
        "images": len(labels),
        "classes": [],
        "forms": form_sizes(files, FORMS),
        "parts": {file.path: file.size for file in files if not file.path.startswith(f"{JPEGS}/")},
        "raw_layout": {"layout": layout.order, "dtype": layout.dtype, "shape": list(layout.shape)},
        # `verify` ignores unrelated files beside the three forms, and hidden files.
        "beside": sorted(n for path in out.iterdir() if (n := path.name) not in FORMS and n[0] != "."),
        "oddities": oddities,
        "versions": library_versions(),
    }
    write_atomically(out / MANIFEST, manifest_text(header, files))


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


def _compare(out: Path, labels: dict[str, int], encoded: PackedForm, raw: PackedForm) -> Comparison:
    comparison = Comparison()
    for name in tqdm(labels, unit=" images", file=sys.stdout, desc=f"Comparing {out}"):
        try:
            comparison.add(name, out / JPEGS / name, encoded.read(name), raw.read(name))
        except PackError as error:
            comparison.differences.append(str(error))
    return comparison


def _refuse(out: Path, differences: list[str]) -> None:
    if differences:
        listed = first_of(differences, MAX_NAMED, "\n  ")
        raise SetupError(f"{out} is not a set whose three forms agree. Nothing was changed.\n  {listed}")


def _files(out: Path, labels: dict[str, int]) -> Iterator[FileEntry]:
    packs = [path for form in (RAW, ENCODED) for path in archives(out / form)]
    paths = [*(out / JPEGS / name for name in labels), out / JPEGS / LABELS_NAME, *packs]
    for path in tqdm(paths, unit=" files", file=sys.stdout, desc="Hashing"):
        yield FileEntry(path.relative_to(out).as_posix(), path.stat().st_size, file_sha256(path))
