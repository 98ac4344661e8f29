"""Which requirement excludes which packed format, and why.

Submissions do not see this module while they are graded: it answers `choose_format`.
"""

from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np

from course_utils.format_trials import Requirements
from course_utils.formats import FORMATS

NAMES = tuple(name for _, name in FORMATS)
# As the statement lists them.
_READ_BY = (
    ("unzip", "StoredZip IndexedZip"),
    ("GNU tar", "Tar"),
    ("WebDataset", "Tar"),
    ("h5py", "RaggedHdf5 FlatHdf5"),
    ("DuckDB", "Parquet"),
    ("pandas", "Parquet ArrowMap"),
    ("TensorFlow", "TfRecord"),
    ("Grain", "ArrayRecord"),
    ("an image viewer", "SingleFiles Squashfs"),
)
READERS = {program: set(names.split()) for program, names in _READ_BY}
# What an opened reader keeps of each sample. Others take some 200 bytes at most, these 255 and more, on
# whichever machine.
LARGE_INDEX, LARGE_BYTES = {"StoredZip", "IndexedZip"}, 250


class Rule(NamedTuple):
    """Formats that a requirement excludes.

    Args:
        mistake: Name of the mistake of choosing one of them.
        applies: Whether requirements ask for it.
        excluded: The formats.
        reason: Why they will not do, for a student.
    """

    mistake: str
    applies: Callable[[Requirements], bool]
    excluded: frozenset[str]
    reason: str


def _others(*names: str) -> frozenset[str]:
    return frozenset(NAMES) - {*names}


RULES = (
    Rule(
        "no_random_access",
        lambda wanted: wanted.access == "random",
        frozenset({"Tar"}),
        "a tar has no index. It is read from its start to its end.",
    ),
    Rule(
        "too_many_files",
        lambda wanted: wanted.samples > wanted.file_quota,
        frozenset({"SingleFiles"}),
        "there is a file for each sample, more than the quota allows.",
    ),
    Rule(
        "opens_a_file_for_each_sample",
        lambda wanted: wanted.place == "shared",
        frozenset({"SingleFiles"}),
        "each sample is a file that has to be opened, and every open is work for the few metadata servers of "
        "a shared file system.",
    ),
    Rule(
        "reads_a_group_for_a_sample",
        lambda wanted: wanted.place == "shared" and wanted.access == "random",
        frozenset({"Parquet", "ArrowMap"}),
        "to get one sample it fetches the whole group of 50, whatever you advise the kernel. On a shared "
        "file system this takes bandwidth from everyone.",
    ),
    Rule(
        "needs_a_mounted_file",
        lambda wanted: wanted.place == "object store",
        frozenset({"FlatMap", "ArrowMap", "Lmdb", "Squashfs"}),
        "it is mapped into memory or mounted, which takes a file system. An object store only gives out "
        "objects and ranges of their bytes.",
    ),
    Rule(
        "index_too_large",
        lambda wanted: LARGE_BYTES * wanted.samples > wanted.worker_memory,
        frozenset(LARGE_INDEX),
        "the opened reader keeps the directory of the zip, some hundred bytes for each sample. That is more "
        "than a worker may take: multiply.",
    ),
    Rule(
        "not_to_be_shared",
        lambda wanted: wanted.opened_before_fork,
        frozenset({"StoredZip", "Tar", "Lmdb"}),
        "forked workers must not share the opened reader. Two processes move one file position (zipfile, "
        "tar), or the documentation forbids it (LMDB).",
    ),
    Rule(
        "cannot_append",
        lambda wanted: wanted.append,
        frozenset({"FlatHdf5", "Parquet", "ArrowMap", "ArrayRecord"}),
        "nothing can be added to a complete file: it ends with its footer or index, or its data sets have a "
        "fixed size.",
    ),
    Rule(
        "damage_unnoticed",
        lambda wanted: wanted.notice_damage,
        _others("StoredZip", "IndexedZip", "TfRecord", "ArrayRecord"),
        "as it is written here, it has no checksums of the samples, and returns a damaged one in silence.",
    ),
    Rule(
        "lost_when_killed",
        lambda wanted: wanted.survive_kill,
        _others("SingleFiles", "Tar", "Lmdb", "TfRecord", "ArrowMap"),
        "its index is written at the end, so that nothing can be read if its writer was killed.",
    ),
    Rule(
        "needs_a_library",
        lambda wanted: wanted.only_numpy,
        frozenset({"RaggedHdf5", "FlatHdf5", "Lmdb", "Parquet", "ArrowMap", "TfRecord", "ArrayRecord"}),
        "its reader needs a library beyond NumPy and Python's own.",
    ),
    *(
        Rule(
            "others_cannot_read_it",
            lambda wanted, program=program: wanted.read_by == program,  # type: ignore[misc]
            _others(*names),
            f"{program} cannot read it.",
        )
        for program, names in READERS.items()
    ),
)


def admissible(wanted: Requirements) -> set[str]:
    """Return the formats that no rule excludes."""
    return set(NAMES).difference(*(rule.excluded for rule in RULES if rule.applies(wanted)))


def draw_cases(rng: np.random.Generator) -> list[dict[str, Any]]:
    """Draw sets of requirements: each that decides alone, some that decide together, and others at random.

    Each leaves at least one format and excludes at least one.
    """
    samples = int(rng.integers(1_000_000, 15_000_000))
    plain: dict[str, Any] = {"samples": int(rng.integers(20_000, 200_000))}
    alone: list[dict[str, Any]] = [
        {"access": "random"},
        {"samples": samples, "file_quota": samples // int(rng.integers(2, 20))},
        {"place": "shared"},
        {"place": "object store"},
        {"samples": samples, "worker_memory": int(rng.uniform(215, 245) * samples)},
        {"opened_before_fork": True},
        {"append": True},
        {"notice_damage": True},
        {"survive_kill": True},
        {"only_numpy": True},
        *({"read_by": program} for program in READERS),
    ]
    shared: dict[str, Any] = {"access": "random", "place": "shared"}
    together: list[dict[str, Any]] = [
        shared,
        {"read_by": "h5py", "append": True},
        {"read_by": "pandas", "place": "object store"},
        {"read_by": "pandas", "survive_kill": True},
        {"read_by": "unzip", "opened_before_fork": True},
        {"notice_damage": True, "survive_kill": True},
        {"notice_damage": True, "only_numpy": True, **shared, "opened_before_fork": True},
        {"notice_damage": True, "append": True, **alone[4]},
        {"only_numpy": True, "access": "random", "place": "object store", **alone[4]},
        {"access": "random", "append": True, "survive_kill": True, **alone[1]},
        {"read_by": "an image viewer", **shared},
        {"read_by": "an image viewer", "append": True, "survive_kill": True},
    ]
    return [plain | case for case in (*alone, *together, *_draw_mixed(rng, alone))]


def _draw_mixed(
    rng: np.random.Generator, alone: list[dict[str, Any]], count: int = 24
) -> Iterator[dict[str, Any]]:
    """Draw two to four requirements at a time that leave two to eight formats."""
    while count:
        mixed: dict[str, Any] = {}
        for n in rng.choice(len(alone), int(rng.integers(2, 5)), replace=False).tolist():
            mixed |= alone[n]
        if 2 <= len(admissible(Requirements(**mixed))) <= 8:
            count -= 1
            yield mixed


def describe(wanted: Requirements) -> str:
    """Return requirements as a call, without those that have their default."""
    defaults = asdict(Requirements())
    changed = {name: value for name, value in asdict(wanted).items() if value != defaults[name]}
    return f"Requirements({', '.join(f'{name}={value!r}' for name, value in changed.items())})"
