"""Making a set: every image once, in all three forms, over all the cores that one may use."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Protocol

from tqdm import tqdm

from data_setup.create.publish import publish_set
from data_setup.create.render import CHUNK, Broken, Job, Packed, Renderer
from data_setup.create.shard import Done, Shard
from data_setup.create.staging import Identity, check_room, claim
from data_setup.create.worker_pool import Pool
from data_setup.format import RAW_BYTES, Stage, exclusive, image_name, shard_slots


class Source(Renderer, Protocol):
    """Where images come from."""

    count: int

    def identity(self) -> dict[str, object]:
        """What decides every byte of the images."""

    def classes(self) -> list[str]:
        """The name of each label, where labels have names."""

    def items(self, slots: range) -> list[object]:
        """What `render` makes the images at these positions from."""

    def reserve(self, shard: int, shards: int) -> Iterator[object]:
        """Items that take the place of unreadable ones in a shard."""

    def origin(self, item: object) -> str | None:
        """The name of an item in the source."""

    def renderer(self) -> Renderer:
        """What is sent to the workers."""


def set_identity(source: dict[str, object], shards: int) -> Identity:
    """What decides every byte of a set."""
    return source | {"shards": shards}


def make_set(source: Source, out: Path, shards: int, only: int | None, workers: int) -> None:
    """Make a set, or go on making it; with `only`, one shard of it.

    Args:
        source: Where images come from.
        out: The folder of the set.
        shards: How many archives of each packed form.
        only: The shard to make; None makes all and gives the set its final names.
        workers: How many processes.

    Raises:
        SetupError: Something else is there, or is being made there.
        OSError: The disk is full, for example; the same call goes on later.
    """
    numbers = range(shards) if only is None else [only]
    total = sum(len(shard_slots(source.count, shards, number)) for number in numbers)
    check_room(out, total * RAW_BYTES)
    stage = claim(out, set_identity(source.identity(), shards), source.classes())
    with (
        Pool(source.renderer(), workers) as pool,
        tqdm(total=total, unit=" images", file=sys.stdout, desc=f"Making {out}") as bar,
    ):
        for number in numbers:
            if not stage.summary(number).exists():
                make_shard(source, stage, number, shards, pool, bar)
            else:
                bar.update(len(shard_slots(source.count, shards, number)))
    if only is None:
        publish_set(stage)


def make_shard(source: Source, stage: Stage, number: int, shards: int, pool: Pool, bar: tqdm) -> None:
    """Make a shard, or go on making it."""
    with exclusive(stage.lock(f"shard{number}"), f"shard {number} in {stage.out}"):
        slots = shard_slots(source.count, shards, number)
        shard = Shard(stage, number)
        try:
            bar.update(shard.done)
            mender = Mender(source, islice(source.reserve(number, shards), shard.taken, None), pool)
            for job, results in pool.stream(_jobs(source, stage, slots, shard.done)):
                shard.add(len(job.slots), *mender.mend(job, results))
                bar.update(len(job.slots))
            shard.finish()
        finally:
            shard.close()


def _jobs(source: Source, stage: Stage, slots: range, done: int) -> Iterator[Job]:
    for start in range(slots.start + done, slots.stop, CHUNK):
        chunk = range(start, min(start + CHUNK, slots.stop))
        yield Job(chunk, source.items(chunk), stage.jpegs)


class Mender:
    """Puts the next readable image of the sample in the place of an unreadable one.

    Args:
        source: Where images come from.
        reserve: Items that are in no other place, in their order.
        pool: Makes them.
    """

    def __init__(self, source: Source, reserve: Iterator[object], pool: Pool) -> None:
        self._source, self._reserve, self._pool = source, reserve, pool

    def mend(self, job: Job, results: list[Packed | Broken]) -> tuple[list[Done], list[str], int]:
        """Return the images, what to report, and how much of the reserve was tried."""
        images, oddities, taken = [], [], 0
        rooms = job.pixels(self._pool.memory)
        for number, (slot, item, result) in enumerate(zip(job.slots, job.items, results, strict=True)):
            while isinstance(result, Broken):
                oddities.append(f"{self._source.origin(item)} is unreadable: {result.reason}")
                item = next(self._reserve, None)
                if item is None:
                    oddities.append(f"no image is left to take the place of {image_name(slot)}")
                    break
                taken += 1
                oddities.append(f"{self._source.origin(item)} took the place of {image_name(slot)}")
                again = replace(job, slots=[slot], items=[item], place=job.place + number)
                (result,) = self._pool.run(again)
            if isinstance(result, Packed):
                images.append(Done(result, self._source.origin(item), rooms[number]))
        return images, oddities, taken
