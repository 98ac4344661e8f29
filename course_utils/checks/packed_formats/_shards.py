"""The verdict on the shards that one call wrote: what they hold, in which order, and how large they are."""

from collections import Counter
from itertools import pairwise
from typing import TypedDict

import numpy as np

from course_utils.checks.core import AttemptOf, Mistake, is_unsolved, value_of

MOST, LEAST = 2, 0.5  # times the target: the size of a shard
Sample = tuple[str, bytes]


class Call(TypedDict):
    """The arguments of a call."""

    samples: list[Sample]
    target: int


class Written(TypedDict):
    """What a call led to.

    Attributes:
        called: Whether it raised an exception.
        shards: The files of its folder whose names end in ``.shard``.
        read: What `read_shard` yields for each; of what is no name with data, the types.
        stored: Bytes in all files of the folder.
    """

    called: AttemptOf[None]
    shards: dict[str, bytes]
    read: dict[str, AttemptOf[list[Sample | str]]]
    stored: int


def draw_call(rng: np.random.Generator, target: int, sizes: list[int]) -> Call:
    """Draw samples of some sizes; some have an unusual name or unusual data, if there are enough of them."""
    numbers = rng.permutation(100_000)[: len(sizes)].tolist()
    names = [f"n{int(rng.integers(100)):03d}/img_{number:05d}.JPEG" for number in numbers]
    data = [rng.bytes(size) for size in sizes]
    if len(sizes) > 8:
        *places, twin, last = rng.choice(np.arange(0, len(sizes) - 1, 2), 6, replace=False).tolist()
        for place, folder in zip(
            places, ("gro\N{COMBINING DIAERESIS}ße", "画像", "red fox, wild", "deep/" * 60), strict=True
        ):
            names[place] = f"{folder}/img_{numbers[place]:05d}.JPEG"
        data[places[0]], data[places[1]] = b"", data[places[1]] + b"\0\0"
        data[places[2]] += b"\r\n"
        data[twin] = data[last] = data[last + 1] = data[last][: min(len(data[last]), len(data[twin]))]
        names[last + 1] = f"{names[last].removesuffix('.JPEG')}.PNG"
    return {"samples": list(zip(names, data, strict=True)), "target": target}


def expect_shards(call: Call, written: Written) -> None:
    """Check the shards of a call that was not interrupted.

    Raises:
        Mistake: The first one of a fixed order.
    """
    value_of(written["called"])
    if call["samples"] and not written["shards"]:
        raise Mistake(
            "no_shards",
            "write_shards returned, and the folder holds no file whose name ends in `.shard`. Is it a "
            "generator function, which runs only when somebody asks for its items?",
        )
    read = {shard: samples_of(written, shard) for shard in sorted(written["shards"])}
    _expect_samples(call, read)
    _expect_no_empty_shard(read)
    _expect_bytes(call, written["shards"], read)
    _expect_sizes(call, written["shards"])


def samples_of(written: Written, shard: str) -> list[Sample]:
    """Return what was read from a shard.

    Raises:
        Mistake: It cannot be read, or something else than names with data was read.
    """
    read = written["read"].get(shard, {"error": "it was not read"})
    if "error" in read:
        if is_unsolved(read["error"]):
            value_of(read)
        raise Mistake(
            "unreadable",
            f"read_shard cannot read {shard} from a copy of this file alone, in another process: "
            f"{read['error']}. Whatever reading needs, such as names and offsets, belongs into each shard.",
        )
    for sample in read["value"]:
        if isinstance(sample, str):
            raise Mistake(
                "no_samples", f"read_shard must yield pairs of a string and bytes; it yields {sample[:200]}."
            )
    return [sample for sample in read["value"] if not isinstance(sample, str)]


def _expect_samples(call: Call, read: dict[str, list[Sample]]) -> None:
    expected, found = dict(call["samples"]), [sample for samples in read.values() for sample in samples]
    for name, data in found:
        if name not in expected:
            raise Mistake(
                "other_names",
                f"read_shard yields the name {name[:200]!r}, which no sample of this call has. Keep the "
                "whole name, folders included, and nothing from another call.",
            )
        if data != expected[name]:
            raise _other_data(name, data, expected[name])
    counts = Counter(name for name, _ in found)
    if lost := [name for name in expected if not counts[name]]:
        raise Mistake(
            "lost",
            f"{len(lost)} of {len(expected)} samples are in no shard, such as {lost[0]} with "
            f"{len(expected[lost[0]])} bytes. Is the last shard written? Are samples left out that are "
            "empty, or have the same data as another one?",
        )
    if doubled := [name for name, count in counts.items() if count > 1]:
        raise Mistake(
            "doubled",
            f"{doubled[0]} is in the shards {counts[doubled[0]]} times. A sample that no longer fits begins "
            "the next shard, and is only there.",
        )
    if [name for name, _ in found] != list(expected):
        raise Mistake(
            "other_order",
            f"Read in the order of their names, the {len(read)} shards ({', '.join(list(read)[:3])}, ...) do "
            "not give the samples in the order in which they came. Do not sort the samples, and write "
            "numbers with as many digits as the largest may have: as text, 10 comes before 2.",
        )


def _other_data(name: str, data: bytes, expected: bytes) -> Mistake:
    if 0 < len(data) < len(expected) - 16 and data in expected:
        return Mistake(
            "split",
            f"read_shard yields {len(data)} of the {len(expected)} bytes of {name}: the sample is split. "
            "Start the next shard before a sample, not within one.",
        )
    return Mistake(
        "other_data",
        f"read_shard yields other bytes for {name} ({len(data)}, not {len(expected)}). Data may be "
        "empty, and may end with zeros or a new line: store their length.",
    )


def _expect_no_empty_shard(read: dict[str, list[Sample]]) -> None:
    if empty := [shard for shard, samples in read.items() if not samples]:
        raise Mistake(
            "empty_shard",
            f"{empty[0]} holds no sample. Start a shard when there is a sample for it, and none without "
            "samples.",
        )


def _expect_bytes(call: Call, shards: dict[str, bytes], read: dict[str, list[Sample]]) -> None:
    data = dict(call["samples"])
    for shard, samples in read.items():
        for name, _ in samples:
            if data[name] not in shards[shard]:
                raise Mistake(
                    "not_as_it_is",
                    f"The bytes of {name} are not in {shard} as they are and in one piece. Do not "
                    "compress or encode them: a JPEG hardly gets any smaller, and each reader would "
                    "have to undo it.",
                )


def _expect_sizes(call: Call, shards: dict[str, bytes]) -> None:
    sizes = {shard: len(shards[shard]) for shard in sorted(shards)}
    target = call["target"]
    for shard, size in sizes.items():
        if size > MOST * target:
            raise Mistake(
                "far_from_target",
                f"{shard} has {size:,} bytes; the target is {target:,}, and no shard may have more than "
                "twice as many. Count the bytes that are written (names and headers, too), and close a "
                "shard near the target.",
            )
    for (shard, size), _ in pairwise(sizes.items()):
        if size < LEAST * target:
            raise Mistake(
                "far_from_target",
                f"{shard} has {size:,} bytes; the target is {target:,}, and only the last shard may have "
                "less than half as many. Count the bytes that are written (names and headers, too), and "
                "close a shard near the target.",
            )
