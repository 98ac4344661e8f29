"""Create a set: render every image once and store it in all forms, on all usable cores."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from itertools import groupby
from pathlib import Path
from typing import NoReturn, Protocol

from tqdm import tqdm

from data_setup.create.publish import publish_set
from data_setup.create.render import (
    CHUNK,
    ChunkRenderer,
    ImageRecord,
    ItemT,
    Job,
    Renderer,
    Unreadable,
    pixels_of,
)
from data_setup.create.shard import write_shard
from data_setup.create.staging import Staging, check_free_space, is_finished, set_identity
from data_setup.create.workers import Made, render_all
from data_setup.format.errors import SetupError
from data_setup.format.layout import RAW, image_name, shard_slots
from data_setup.format.locks import locked, set_lock
from data_setup.format.manifest import Identity

tqdm.monitor_interval = 0  # its thread would keep workers from being forked


class Source(Protocol[ItemT]):
    """A source of images, each of which is made from an item."""

    @property
    def count(self) -> int:
        """The number of images."""

    @property
    def forms(self) -> Sequence[str]:
        """The forms of the set that is made from it."""

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
    """Create a set, or the shards that an unfinished one lacks; with `only`, one shard of it.

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
    if shards > source.count or (only is not None and not 0 <= only < shards):
        raise SetupError(
            f"{source.count:,} images make at most as many shards; --shard counts from 0 to {shards - 1}"
        )
    numbers = range(shards) if only is None else [only]
    if RAW in source.forms:
        check_free_space(out, sum(len(shard_slots(source.count, shards, number)) for number in numbers))
    staging, identity = Staging(out), set_identity(source.identity(), shards)
    out.mkdir(parents=True, exist_ok=True)
    with ExitStack() as locks:
        # Shards may be made at once; everything else excludes all others.
        locks.enter_context(locked(set_lock(out), f"the set in {out}", shared=only is not None))
        if is_finished(out, identity):  # another command may just have made it
            return
        staging.open(identity)
        if only is not None:
            lock = staging.root / f"shard{only}.lock"
            locks.enter_context(locked(lock, f"shard {only} in {out}"))
        _create_shards(source, staging, numbers, shards, workers)
        if only is None:
            publish_set(staging, identity, shards, source.forms, source.classes())


def _create_shards(
    source: Source[ItemT], staging: Staging, numbers: Iterable[int], shards: int, workers: int
) -> None:
    slots = {number: shard_slots(source.count, shards, number) for number in numbers}
    missing = {number: those for number, those in slots.items() if not staging.record(number).exists()}
    total, left = (sum(map(len, some.values())) for some in (slots, missing))
    if not missing:
        return
    renderer = ChunkRenderer(source.renderer(), staging.jpegs, RAW in source.forms)
    with (
        closing(render_all(renderer, _jobs(source, missing), workers)) as stream,
        tqdm(
            total=total, initial=total - left, unit=" images", file=sys.stdout, desc=f"Making {staging.out}"
        ) as bar,
    ):
        for number, made in groupby(stream, key=lambda one: one.job.shard):
            oddities: list[str] = []
            reserve = source.reserve(number, shards)
            images = _images(source, renderer, made, reserve, oddities, bar)
            write_shard(staging, number, source.forms, images, oddities)


def _jobs(source: Source[ItemT], shards: dict[int, range]) -> Iterator[Job[ItemT]]:
    for number, slots in shards.items():
        for start in range(0, len(slots), CHUNK):
            chunk = slots[start : start + CHUNK]
            yield Job(number, chunk, source.items(chunk))


def _images(
    source: Source[ItemT],
    renderer: ChunkRenderer[ItemT],
    stream: Iterable[Made[ItemT]],
    reserve: Iterator[ItemT],
    oddities: list[str],
    bar: "tqdm[NoReturn]",
) -> Iterator[tuple[ImageRecord, memoryview]]:
    """Yield the images of a shard with their pixels, unreadable ones replaced from the reserve."""
    for job, results, memory in stream:
        images = zip(job.slots, job.items, results, pixels_of(memory), strict=False)
        for slot, item, result, pixels in images:
            while isinstance(result, Unreadable):
                oddities.append(f"{source.origin(item)} is unreadable: {result.reason}")
                try:
                    item = next(reserve)
                except StopIteration:
                    oddities.append(f"no image is left to take the place of {image_name(slot)}")
                    break
                oddities.append(f"{source.origin(item)} took the place of {image_name(slot)}")
                result = renderer.one(slot, item, pixels)
            else:
                yield result._replace(origin=source.origin(item)), pixels
        bar.update(len(job.slots))
