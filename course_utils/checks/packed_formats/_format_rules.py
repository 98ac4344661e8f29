"""Which requirement excludes which packed format, and why.

Submissions do not see this module while they are graded: it answers `choose_format`.
"""

from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np

from course_utils.format_trials import READ_COSTS, Requirements
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
INDEX_BYTES = {"StoredZip": 750, "IndexedZip": 300}  # what an opened reader keeps of each sample
LEAST_BYTES = 215  # a sample: the others always have room


ACCESSES, PLACES = ("stream", "random"), ("local", "shared", "object store")


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
        "not_on_a_shared_file_system",
        lambda wanted: wanted.place == "shared",
        frozenset({"Lmdb"}),
        "its documentation says never to use it on a remote file system.",
    ),
    Rule(
        "several_requests_for_a_sample",
        lambda wanted: wanted.place == "shared" and wanted.access == "random",
        frozenset({"StoredZip"}),
        "it seeks and reads several times for one sample, and behind the buffer of a shared file system each "
        "of these reads moves megabytes.",
    ),
    Rule(
        "needs_a_mounted_file",
        lambda wanted: wanted.place == "object store",
        frozenset({"FlatMap", "ArrowMap", "Lmdb", "Squashfs"}),
        "it is mapped into memory or mounted, which takes a file system. An object store only gives out "
        "objects and ranges of their bytes.",
    ),
    *(
        Rule(
            "index_too_large",
            lambda wanted, each=each: each * wanted.samples > wanted.worker_memory,  # type: ignore[misc]
            frozenset({name}),
            f"the opened reader keeps the directory of the zip, {each} bytes for each sample. That is more "
            "than a worker may take: multiply.",
        )
        for name, each in INDEX_BYTES.items()
    ),
    Rule(
        "not_to_be_shared",
        lambda wanted: wanted.opened_before_fork,
        frozenset({"StoredZip", "Tar", "Lmdb", "RaggedHdf5", "FlatHdf5"}),
        "forked workers must not share the opened reader. Two processes move one file position (zipfile, "
        "tar), or the documentation advises against it (LMDB, h5py).",
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


def seconds(wanted: Requirements, name: str) -> float:
    """Return the time that reading a sample takes."""
    requests, times = READ_COSTS[wanted.access][name]
    return requests * wanted.latency + times * wanted.sample_bytes / wanted.bandwidth


def draw_cases(rng: np.random.Generator) -> list[dict[str, Any]]:
    """Draw sets of requirements: none, each one alone, both sides of each limit, and several at a time."""
    samples, large = int(rng.integers(1_000_000, 5_000_000)), int(rng.integers(100_000, 200_000))
    plain: dict[str, Any] = {"samples": samples, "latency": float(rng.uniform(5e-6, 5e-5))}
    alone: list[dict[str, Any]] = [
        *({"access": access, "place": place} for access in ACCESSES for place in PLACES),
        {"file_quota": samples // int(rng.integers(2, 20))},
        *({"file_quota": samples + more} for more in (-1, 0, 1)),
        *({"worker_memory": each * samples + more} for each in INDEX_BYTES.values() for more in (-1, 0)),
        {"worker_memory": int(rng.uniform(LEAST_BYTES, 295) * samples)},
        {"worker_memory": int(rng.uniform(305, 745) * samples)},
        *({name: True} for name in ("opened_before_fork", "append", "notice_damage", "survive_kill")),
        {"only_numpy": True},
        *({"read_by": program, "place": place} for program in READERS for place in PLACES),
        # Requests decide, then bytes, then both.
        *({"access": access, "latency": 0.5, "bandwidth": 1e9} for access in ACCESSES),
        *({"access": access, "latency": 1e-8, "bandwidth": 1e7} for access in ACCESSES),
        {
            "access": "random",
            "latency": 1e-3,
            "sample_bytes": large,
            "bandwidth": 1e9,
        },
    ]
    return [plain | case for case in (*alone, *_draw_mixed(rng, samples, alone))]


def _draw_mixed(
    rng: np.random.Generator, samples: int, alone: list[dict[str, Any]], count: int = 24
) -> Iterator[dict[str, Any]]:
    """Draw two to four requirements at a time that leave several formats."""
    while count:
        mixed: dict[str, Any] = {}
        for n in rng.choice(len(alone), int(rng.integers(2, 5)), replace=False).tolist():
            mixed |= alone[n]
        if len(admissible(Requirements(samples=samples, **mixed))) > 1:
            count -= 1
            yield mixed


def describe(wanted: Requirements) -> str:
    """Return requirements as a call, without those that have their default."""
    defaults = asdict(Requirements())
    changed = {name: value for name, value in asdict(wanted).items() if value != defaults[name]}
    return f"Requirements({', '.join(f'{name}={value!r}' for name, value in changed.items())})"
