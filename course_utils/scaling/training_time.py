"""Amdahl's law for data: how long a training takes on more and more nodes, and which resource decides.

Steps and files are shared by the nodes; the start and the staging are not, and the servers of the file
system do not become more. The model puts the pipeline of one node (the longest stage decides, loading is
shared by the workers) together with `ParallelFilesystem`. It leaves out the exchange of gradients and the
steps that a small last batch wastes, so a real training scales less.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from course_utils.pipeline import StageTimes
from course_utils.scaling.parallel_fs import ParallelFilesystem
from course_utils.scaling.ways import StagingCost, Way
from course_utils.storage import FileOps

__all__ = ["NODES", "Point", "Training", "scale", "useful_nodes", "variants"]

NODES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
WAITS = "waiting"
WORKERS = "workers"
ONCE = "start and staging"


@dataclass(frozen=True)
class Training:
    """A training on one node, to be scaled.

    Args:
        times: Seconds per batch of each stage on one node; of sequences the mean counts. `read` is left out:
            the model of the file system takes its place.
        way: How the samples are read; `way.reads` holds the operations of one epoch.
        samples: Samples of an epoch.
        batch_size: Samples per batch and node.
        workers: Processes that load, on each node.
        epochs: Number of epochs.
        environment: How the packages are read at the start; None leaves the start out.
        processes: Processes that import them, on each node.
        cached: Part of the reads that the memory of a node serves (0 to 1).

    Raises:
        ValueError: A number is out of range.
    """

    times: StageTimes
    way: Way
    samples: int
    batch_size: int
    workers: int = 1
    epochs: int = 1
    environment: Way | None = None
    processes: int = 1
    cached: float = 0.0

    def __post_init__(self) -> None:
        if min(self.samples, self.batch_size, self.workers, self.epochs, self.processes) < 1:
            raise ValueError("samples, batch_size, workers, epochs and processes must be at least 1")
        if not 0 <= self.cached <= 1:
            raise ValueError(f"cached={self.cached}: must be between 0 (nothing) and 1 (everything)")

    def epoch_limits(self, filesystem: ParallelFilesystem, nodes: int) -> dict[str, float]:
        """Return the seconds of one epoch that each resource would need alone."""
        steps = self.samples / (self.batch_size * nodes)
        limits = {
            stage: steps * float(np.mean(getattr(self.times, stage)))
            for stage in ("compute", "transfer", "pin", "hand_over")
        }
        decoding = steps * float(np.mean(self.times.decode)) / self.workers
        work = _part(self.way.reads, 1 - self.cached)
        if self.way.staging is None:
            servers = filesystem.limits(work, nodes, self.workers)
            waiting = servers.pop(WAITS)
        else:
            servers = {}
            waiting = filesystem.node_seconds(work, nodes, self.workers)
        return {**limits, WORKERS: decoding + waiting, **servers}

    def once_seconds(self, filesystem: ParallelFilesystem, nodes: int) -> float:
        """Return the seconds of the start and of the staging."""
        start = self.environment.start_seconds(filesystem, nodes, self.processes) if self.environment else 0.0
        return start + self.way.stage_seconds(filesystem, nodes)


@dataclass(frozen=True)
class Point:
    """A training on some nodes.

    Args:
        nodes: Number of nodes.
        seconds: From the start of the job to the end of the last epoch.
        once_seconds: Of these, start and staging.
        images_per_second: Of all nodes together, start and staging included.
        speed_up: How many times faster than on the fewest nodes that were asked for.
        efficiency: Speed-up divided by how many times more nodes these are (1 is perfect).
        limit: The resource that decides.
    """

    nodes: int
    seconds: float
    once_seconds: float
    images_per_second: float
    speed_up: float
    efficiency: float
    limit: str


def scale(
    training: Training,
    filesystem: ParallelFilesystem | None = None,
    nodes: Sequence[int] = NODES,
) -> list[Point]:
    """Return what a training takes on each number of nodes.

    Args:
        training: The training.
        filesystem: The file system that all nodes share; by default one with the published figures.
        nodes: Numbers of nodes, the fewest first; speed-up and efficiency count from those.
    """
    return list(_points(training, filesystem or ParallelFilesystem(), nodes))


def _points(training: Training, filesystem: ParallelFilesystem, numbers: Sequence[int]) -> Iterator[Point]:
    first = None
    for nodes in numbers:
        limits = training.epoch_limits(filesystem, nodes)
        epoch = max(limits.values())
        once = training.once_seconds(filesystem, nodes)
        seconds = once + training.epochs * epoch
        first = first or seconds
        speed_up = first / seconds
        limit = ONCE if once > training.epochs * epoch else max(limits, key=limits.__getitem__)
        efficiency = speed_up * numbers[0] / nodes
        rate = training.epochs * training.samples / seconds
        yield Point(nodes, seconds, once, rate, speed_up, efficiency, limit)


def useful_nodes(points: Sequence[Point], gain: float = 1.1) -> Point:
    """Return the first point whose successor is less than `gain` times faster; else the last point."""
    return next((one for one, more in pairwise(points) if one.seconds < gain * more.seconds), points[-1])


def variants(training: Training, pack: Way, staging: StagingCost | None = None) -> Mapping[str, Training]:
    """Return what may move the point from which more nodes no longer help, one change at a time.

    Args:
        training: The training as it is.
        pack: The same samples, read from a packed file on the shared file system.
        staging: What a node's own copy of the packed file costs; by default that of one large file.
    """
    copy = staging or StagingCost.one_file(pack.reads.nbytes)
    small = _part(training.way.reads, 1, nbytes=0.5)
    return {
        "as it is": training,
        "half the bytes": replace(training, way=replace(training.way, reads=small)),
        "half of it cached": replace(training, cached=0.5),
        "packed": replace(training, way=pack),
        "packed and staged": replace(training, way=replace(pack, name="staged", staging=copy)),
    }


def _part(work: FileOps, part: float, nbytes: float | None = None) -> FileOps:
    """Return a part of all operations, and of the bytes the same part or another one."""
    opens, stats, reads, listings = (
        round(part * count) for count in (work.opens, work.stats, work.reads, work.listings)
    )
    return FileOps(opens, stats, reads, listings, round((part if nbytes is None else nbytes) * work.nbytes))
