"""Which label belongs to which image of a source: ground truth as text, CSV or JSON, or a folder a class."""

import csv
import json
import sys
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

import numpy as np

from data_setup.format import SetupError

Labels = tuple[np.ndarray, list[str]]


def read_labels(path: Path | None, names: Iterable[str], count: int) -> Labels:
    """Find the label of each image.

    Args:
        path: A file with the labels. A list of labels (text, one a line, or JSON) belongs to the names in
            their order; pairs (text with two words a line, CSV, a JSON object) are looked up by name, with or
            without folder and suffix. None takes the folders of the images as classes.
        names: The images' names in the source, sorted.
        count: How many there are.

    Returns:
        A label for each name (int64), and the names of the classes: none where labels are numbers already.

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
            "labels are missing: give a file with --labels, or put the images of each class in a folder"
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
        raise SetupError(f"{path} holds no labels that can be understood ({error})") from error


def _from_json(content: dict | list) -> list[str] | dict[str, str]:
    content = content.get("labels", content) if isinstance(content, dict) else content
    if isinstance(content, list):
        return [str(label) for label in content]
    return {name: str(label) for name, label in content.items()}


def _look_up(table: dict[str, str], name: str, path: Path) -> str:
    pure = PurePosixPath(name)
    for key in (name, pure.name, pure.stem):
        if key in table:
            return table[key].split()[0]
    raise SetupError(f"{path} has no label for {name}")


def _numbered(labels: list[str]) -> Labels:
    """Turn labels into numbers: numbers stay as they are, names count in alphabetical order."""
    try:
        return np.array([int(label) for label in labels]), []
    except ValueError:
        classes, numbers = np.unique(labels, return_inverse=True)
        return numbers, classes.tolist()
