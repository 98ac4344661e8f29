"""Read the labels of a collection: ground truth as text, CSV or JSON, or one folder per class.

Whatever could be meant in two ways is refused: a wrong label is not noticed later.
"""

import csv
import json
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath

import numpy as np
import numpy.typing as npt

from course_utils.data import unique_fields, whole_number
from data_setup.format.errors import SetupError

Labels = tuple[npt.NDArray[np.int64], list[str]]
Rows = list[tuple[str, ...]]

NUMBER = re.compile(r"([0-9]{1,9})(\.0*)?")  # pandas writes integers as 9.0 where some were missing
MISSING = {"", "nan", "null", "none", "na", "n/a"}
BOXES = re.compile(
    r"(\w+) -?\d+ -?\d+ -?\d+ -?\d+( \1( -?\d+){4})*"
)  # n02 1 2 3 4: ImageNet's bounding boxes


def read_labels(path: Path | None, names: Sequence[str]) -> Labels:
    """Find the label of each image.

    Args:
        path: File with the labels. A list (text with one per line, or JSON) is in the order of the names;
            pairs (text with two words per line, CSV, a JSON object or list of pairs) are looked up by name,
            with or without folder and suffix. None takes the folders of the images as classes.
        names: Names of the images in the source, sorted.

    Returns:
        The label of each name (int64), and the names of the classes: empty where labels are numbers already.

    Raises:
        SetupError: There is not exactly one valid label for each image.
    """
    if path is None:
        return _numbered([_folder(name) for name in names], "the folders of the images")
    rows = _read_rows(path)
    if all(len(row) == 2 for row in rows):
        table = _table(rows, path)
        return _numbered(_look_up_all(table, names, path), path)
    if not all(len(row) == 1 for row in rows):
        number = next(n for n, row in enumerate(rows, 1) if len(row) != len(rows[0]) or len(row) > 2)
        raise SetupError(
            f"{path}: row {number} is {' | '.join(rows[number - 1])!r}; each row must be a label, or a name "
            "and a label (quote a name with spaces)"
        )
    if len(rows) != len(names):
        raise SetupError(f"{path} has {len(rows)} labels, but there are {len(names)} images")
    _require_no_names(path, rows, names)
    return _numbered([label for (label,) in rows], path)


def _folder(name: str) -> str:
    folder = str(PurePosixPath(name).parent)
    if folder == ".":
        raise SetupError(
            "labels are missing: pass a file with --labels, or put the images of each class in a folder"
        )
    return sys.intern(folder)


def _read_rows(path: Path) -> Rows:
    try:
        text = path.read_text(encoding="utf-8-sig")
        if path.suffix.lower() == ".json":
            return _from_json(json.loads(text, object_pairs_hook=unique_fields))
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        rows = csv.reader(lines, delimiter=_separator(path, lines), skipinitialspace=True, strict=True)
        return [tuple(field.strip() for field in row) for row in rows]
    except (ValueError, TypeError, RecursionError, csv.Error) as error:
        raise SetupError(f"{path} is not a valid labels file ({error})") from error


def _require_no_names(path: Path, rows: Rows, names: Iterable[str]) -> None:
    """Refuse pairs whose separator was not recognised: they would be labels in the order of the images."""
    stems = {PurePosixPath(name).stem.lower() for name in names}
    naming = [
        label
        for (label,) in rows
        if len(words := re.split(r"[\s,;|:]+", label.lower())) > 1
        and any(PurePosixPath(word).stem in stems for word in words)
    ]
    if 2 * len(naming) >= len(rows) > 0:
        raise SetupError(
            f"{path}: {naming[0][:80]!r} has the name of an image, but was read as a label: separate names "
            "and labels by a comma in a .csv file, by a blank or a tab in others"
        )


def _separator(path: Path, lines: list[str]) -> str:
    first = lines[0] if lines else ""
    usual = "," if path.suffix.lower() == ".csv" else " "
    return next((separator for separator in "\t;" if separator in first and "," not in first), usual)


def _from_json(content: object) -> Rows:
    if isinstance(content, dict):
        content = content.get("labels", content)
    if isinstance(content, dict):
        return [(str(name), _json_label(label)) for name, label in content.items()]
    if not isinstance(content, list):
        raise TypeError(f"{str(content)[:80]!r} is neither a list nor an object")
    return [_json_row(row) for row in content]


def _json_row(row: object) -> tuple[str, ...]:
    if isinstance(row, list) and len(row) == 2 and isinstance(row[0], str):  # as StyleGAN writes them
        return row[0], _json_label(row[1])
    return (_json_label(row),)


def _json_label(label: object) -> str:
    if isinstance(label, bool) or not isinstance(label, str | int | float):
        raise TypeError(f"{str(label)[:80]!r} is not a label; write a number or a name")
    return str(label).strip()


def _table(rows: Rows, path: Path) -> dict[str, str]:
    table: dict[str, str] = {}
    for name, label in rows:
        if table.setdefault(name, label) != label:
            raise SetupError(f"{path} gives {name} the labels {table[name]!r} and {label!r}")
    return table


def _look_up_all(table: dict[str, str], names: Iterable[str], path: Path) -> list[str]:
    used: set[str] = set()
    found = []
    for name in names:
        key = _key(table, name, path)
        if key in used:
            raise SetupError(
                f"{path}: several images, {name} among them, would take the label of {key}; write the names "
                "with folder and suffix"
            )
        used.add(key)
        label = table[key]
        found.append(label.split()[0] if BOXES.fullmatch(label) else label)
    return found


def _key(table: dict[str, str], name: str, path: Path) -> str:
    pure = PurePosixPath(name)
    for key in (name, str(pure.with_suffix("")), pure.name, pure.stem):
        if key in table:
            return key
    raise SetupError(f"{path} has no label for {name}")


def _numbered(labels: Sequence[str], where: Path | str) -> Labels:
    """Turn labels into numbers: numbers are kept, names are numbered in alphabetical order."""
    matches = [NUMBER.fullmatch(label) for label in labels]
    numbers = [whole_number(match[1]) for match in matches if match]
    if len(numbers) == len(labels):
        _require_one_text_each(labels, numbers, where)
        return np.array(numbers, np.int64), []
    mostly_numbers = 2 * len(numbers) >= len(labels)
    for position, (label, match) in enumerate(zip(labels, matches, strict=True), 1):
        if label.lower() in MISSING or (mostly_numbers and not match) or _is_number(label, match):
            raise SetupError(
                f"{where}: the label of image {position} in the order of the names is {label!r}: neither a "
                f"whole number from 0 to 999999999 nor, beside {len(numbers):,} numbers, the name of a class"
            )
    classes, positions = np.unique(labels, return_inverse=True)
    return positions, classes.tolist()


def _require_one_text_each(labels: Sequence[str], numbers: Sequence[int], where: Path | str) -> None:
    texts = dict(zip(numbers, labels, strict=True))
    for number, label in zip(numbers, labels, strict=True):
        if texts[number].partition(".")[0] != label.partition(".")[0]:
            raise SetupError(
                f"{where}: {label!r} and {texts[number]!r} are the same number, {number}; give two classes "
                "two numbers, and one class one name"
            )


def _is_number(label: str, match: re.Match[str] | None) -> bool:
    """Return whether a label is a number, but not one that is a label: negative, a fraction, too large."""
    try:
        float(label)
    except ValueError:
        return False
    return match is None
