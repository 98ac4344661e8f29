"""Create a set: render every image once and store it in all three forms, on all usable cores."""

import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Generic, NoReturn, Protocol

from tqdm import tqdm

from data_setup.create.publish import publish_set
from data_setup.create.render import CHUNK, ItemT, Job, Renderer, Unreadable
from data_setup.create.shard import Shard, is_shard_finished
from data_setup.create.staging import check_free_space, is_finished, open_staging, set_identity
from data_setup.create.worker_pool import Results, WorkerPool
from data_setup.format import (
    RAW_BYTES,
    Identity,
    StagingDirectory,
    exclusive_lock,
    image_name,
    shard_slots,
    shared_lock,
)


class Source(Protocol[ItemT]):
    """A source of images, each of which is made from an item."""

    @property
    def count(self) -> int:
        """The number of images."""

    def identity(self) -> Identity:
        """Return what determines every byte of the images."""

    def classes(self) -> list[str]:
        """Return the name of each label; empty where labels have no names."""

    def items(self, slots: range, /) -> list[ItemT]:
        """Return the items at these positions."""

    def reserve(self, shard: int, shards: int, /) -> Iterator[ItemT]:
        """Return the items that may replace unreadable ones in a shard."""

    def origin(self, item: ItemT, /) -> str | None:
        """Return the name of an item in the source."""

    def renderer(self) -> Renderer[ItemT]:
        """Return what is sent to the workers."""


def create_set(source: Source[ItemT], out: Path, shards: int, only: int | None, workers: int) -> None:
    """Create a set, or resume one; with `only`, one shard of it.

    Args:
        source: Where images come from.
        out: Folder of the set.
        shards: Number of archives of each packed form.
        only: The shard to create; None creates all and publishes the set.
        workers: Number of processes.

    Raises:
        SetupError: Something else is there, or is being made there.
        OSError: For example, the disk is full; the same call resumes.
    """
    numbers = range(shards) if only is None else [only]
    total = sum(len(shard_slots(source.count, shards, number)) for number in numbers)
    check_free_space(out, total * RAW_BYTES)
    staging, identity = StagingDirectory(out), set_identity(source.identity(), shards)
    out.mkdir(parents=True, exist_ok=True)
    # Shards may be made at once; everything else excludes all others.
    lock = exclusive_lock if only is None else shared_lock
    with lock(staging.lock("set"), f"the set in {out}"):
        if not is_finished(out, identity):  # another command may just have made it
            open_staging(out, identity, source.classes())
            _create_shards(source, staging, numbers, shards, total, workers)
            if only is None:
                publish_set(staging)


def _create_shards(
    source: Source[ItemT],
    staging: StagingDirectory,
    numbers: Iterable[int],
    shards: int,
    total: int,
    workers: int,
) -> None:
    with (
        WorkerPool(source.renderer(), workers) as pool,
        tqdm(total=total, unit=" images", file=sys.stdout, desc=f"Making {staging.out}") as bar,
    ):
        for number in numbers:
            if not is_shard_finished(staging, number):
                _create_shard(source, staging, number, shards, pool, bar)
            else:
                bar.update(len(shard_slots(source.count, shards, number)))


def _create_shard(
    source: Source[ItemT],
    staging: StagingDirectory,
    number: int,
    shards: int,
    pool: WorkerPool[ItemT],
    bar: "tqdm[NoReturn]",
) -> None:
    with exclusive_lock(staging.lock(f"shard{number}"), f"shard {number} in {staging.out}"):
        slots = shard_slots(source.count, shards, number)
        shard = Shard(staging, number)
        try:
            replacer = Replacer(source, source.reserve(number, shards), pool)
            for job, results in pool.stream(_jobs(source, staging, slots)):
                replacer.complete(job, results, shard)
                bar.update(len(job.slots))
            shard.finish()
        finally:
            shard.close()


def _jobs(source: Source[ItemT], staging: StagingDirectory, slots: range) -> Iterator[Job[ItemT]]:
    for start in range(slots.start, slots.stop, CHUNK):
        chunk = range(start, min(start + CHUNK, slots.stop))
        yield Job(chunk, source.items(chunk), staging.jpegs)


class Replacer(Generic[ItemT]):
    """Replaces unreadable images by the next readable ones of the reserve.

    Args:
        source: Where images come from.
        reserve: Items that are nowhere else in the set, in the order of their use.
        pool: Renders them.
    """

    def __init__(self, source: Source[ItemT], reserve: Iterator[ItemT], pool: WorkerPool[ItemT]) -> None:
        self._source, self._reserve, self._pool = source, reserve, pool

    def complete(self, job: Job[ItemT], results: Results, shard: Shard) -> None:
        """Add the images of a chunk to a shard, unreadable ones replaced."""
        buffers = job.pixel_buffers(self._pool.memory)
        for number, (slot, item, result) in enumerate(zip(job.slots, job.items, results, strict=True)):
            while isinstance(result, Unreadable):
                shard.oddities.append(f"{self._source.origin(item)} is unreadable: {result.reason}")
                replacement = next(self._reserve, None)
                if replacement is None:
                    shard.oddities.append(f"no image is left to take the place of {image_name(slot)}")
                    break
                item = replacement
                shard.oddities.append(f"{self._source.origin(item)} took the place of {image_name(slot)}")
                again = replace(job, slots=[slot], items=[item], offset=job.offset + number)
                (result,) = self._pool.run(again)
            if not isinstance(result, Unreadable):
                shard.add(result._replace(origin=self._source.origin(item)), buffers[number])
