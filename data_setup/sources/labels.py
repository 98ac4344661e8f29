"""Read the labels of a collection: ground truth as text, CSV or JSON, or one folder per class."""

import csv
import json
import sys
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

import numpy as np
import numpy.typing as npt

from data_setup.format import SetupError

Labels = tuple[npt.NDArray[np.int64], list[str]]


def read_labels(path: Path | None, names: Iterable[str], count: int) -> Labels:
    """Find the label of each image.

    Args:
        path: File with the labels. A list (text with one per line, or JSON) is in the order of the names;
            pairs (text with two words per line, CSV, or a JSON object) are looked up by name, with or without
            folder and suffix. None takes the folders of the images as classes.
        names: Names of the images in the source, sorted.
        count: How many there are.

    Returns:
        The label of each name (int64), and the names of the classes: empty where labels are numbers already.

    Raises:
        SetupError: There is not exactly one label for each image.
    """
    if path is None:
        return _numbered([_folder(name) for name in names])
    table = _read_table(path)
    if isinstance(table, dict):
        return _numbered([_look_up(table, name, path) for name in names])
    if len(table) != count:
        raise SetupError(f"{path} has {len(table)} labels, but there are {count} images")
    return _numbered(table)


def _folder(name: str) -> str:
    folder = str(PurePosixPath(name).parent)
    if folder == ".":
        raise SetupError(
            "labels are missing: pass a file with --labels, or put the images of each class in a folder"
        )
    return sys.intern(folder)


def _read_table(path: Path) -> list[str] | dict[str, str]:
    text = path.read_text(encoding="utf-8-sig")
    try:
        if path.suffix.lower() == ".json":
            return _from_json(json.loads(text))
        separator = "," if path.suffix.lower() == ".csv" else " "
        rows = [
            row for row in csv.reader(text.split("\n"), delimiter=separator, skipinitialspace=True) if row
        ]
        if all(len(row) == 1 for row in rows):
            return [row[0].strip() for row in rows]
        return {row[0].strip(): row[1].strip() for row in rows}
    except (ValueError, IndexError, TypeError, AttributeError, csv.Error) as error:
        raise SetupError(f"{path} is not a valid labels file ({error})") from error


def _from_json(content: object) -> list[str] | dict[str, str]:
    if isinstance(content, dict):
        content = content.get("labels", content)
    if isinstance(content, list):
        return [str(label) for label in content]
    if isinstance(content, dict):
        return {name: str(label) for name, label in content.items()}
    raise TypeError(f"{content!r} is neither a list nor an object")


def _look_up(table: dict[str, str], name: str, path: Path) -> str:
    pure = PurePosixPath(name)
    for key in (name, pure.name, pure.stem):
        if key in table:
            return table[key].split()[0]
    raise SetupError(f"{path} has no label for {name}")


def _numbered(labels: list[str]) -> Labels:
    """Turn labels into numbers: numbers are kept, names are numbered in alphabetical order."""
    try:
        return np.array([int(label) for label in labels]), []
    except ValueError:
        classes, numbers = np.unique(labels, return_inverse=True)
        return numbers, classes.tolist()
