"""The formats of this room, those that are installed here, and what the others need."""

import contextlib
import importlib
import shutil
from typing import NamedTuple

from course_utils.formats.flat import PackedArray
from course_utils.formats.sample import PackedFormat

COMMANDS = ("mksquashfs", "unsquashfs")
# Module and class of each format.
FORMATS = (
    ("single_files", "SingleFiles"),
    ("stored_zip", "StoredZip"),
    ("stored_zip", "IndexedZip"),
    ("tar", "Tar"),
    ("flat", "FlatFile"),
    ("flat", "FlatMap"),
    ("hdf5", "RaggedHdf5"),
    ("hdf5", "FlatHdf5"),
    ("lmdb_store", "Lmdb"),
    ("arrow", "Parquet"),
    ("arrow", "ArrowMap"),
    ("tfrecord", "TfRecord"),
    ("arrayrecord", "ArrayRecord"),
    ("single_files", "Squashfs"),
)
ARRAYS = (
    ("flat", "FlatArray"),
    ("hdf5", "Hdf5Array"),
    ("arrow", "ArrowArray"),
    ("arrow", "ParquetArray"),
)


class Formats(NamedTuple):
    """The formats on this machine.

    Attributes:
        installed: Classes by name.
        missing: What to do to get the others, by name.
    """

    installed: dict[str, type[PackedFormat]]
    missing: dict[str, str]


def find_formats() -> Formats:
    """Import every format whose library and commands are installed."""
    found = Formats({}, {})
    for module, name in FORMATS:
        if name == "Squashfs" and not all(map(shutil.which, COMMANDS)):
            found.missing[name] = "install squashfs-tools"
            continue
        try:
            kind = getattr(importlib.import_module(f"course_utils.formats.{module}"), name)
        except ModuleNotFoundError as error:
            found.missing[name] = f"no module {error.name}: pip install 'feeding-the-gpu[formats]'"
        else:
            found.installed[name] = kind
    return found


def find_arrays() -> list[type[PackedArray]]:
    """Import every format for one long array whose library is installed, the memory map first."""
    found = []
    for module, name in ARRAYS:
        with contextlib.suppress(ModuleNotFoundError):
            found.append(getattr(importlib.import_module(f"course_utils.formats.{module}"), name))
    return found
