"""A MODEL of a file system that hundreds of users share, for seeing on a laptop what happens on a cluster.

`course_utils.storage.shared_fs_dataset` reads files from the local disk as always, counts what was asked for, and then
waits as long as a shared file system would have needed:

    seconds = (opens × open + stats × stat + reads × read) / (1 - load)  +  bytes / (bandwidth × (1 - load))

``load`` is the part of the servers' time that other users take. That a server which is busy for the part
``load`` answers 1 / (1 - load) times slower is the mean response time of an M/M/1 queue (for example
Harchol-Balter, Performance Modeling and Design of Computer Systems, 2013, chapter 13).

Where the default numbers come from:

- stat 0.5 ms: MDtest on Lustre with one thread, "over 2K" stats per second (Dell, HPC Lustre Storage solution
  with Intel Omni-Path, white paper, figure 13). New files are made there at less than 1,100 per second.
- open 0.5 ms: taken as one round trip to the metadata server, as the stat is; an existing file needs less
  work than the 0.9 ms of a new one.
- read 0.3 ms: random reads of 4 KiB on flash, 3.5 million per second at 1,024 threads, so that each thread
  waits 1,024 / 3.5 million = 0.29 ms (Dell EMC, Ready Solutions for HPC BeeGFS High Performance Storage,
  concept guide, section 4.3). On disks it is ten times more: 65 thousand per second at 192 threads, 3 ms
  (Dell, Storage for HPC with Intel EE for Lustre, white paper, section 4.2).
- bandwidth 1,000 MB/s: one client reads 1 to 1.5 GB/s in sequence (Dell, HPC Lustre Storage solution with
  Mellanox Infiniband EDR, white paper, section 4.1).
- load 0: nobody else is there. Any other value is a choice, to be shown beside the result.

What the model leaves out: caches and reading ahead on the client, the spread of the waiting times (it waits
the mean, always), and that several workers share a client's bandwidth.

Example:
    >>> from course_utils.storage.io_counter import FileOps
    >>> SharedFilesystem(load=0.5).seconds(FileOps(opens=1, stats=1, reads=3, nbytes=20_000))
    0.00384
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from course_utils.storage.io_counter import FileOps

__all__ = ["LABEL", "SharedFilesystem", "plot_load"]

LABEL = "model of a shared file system"


@dataclass(frozen=True)
class SharedFilesystem:
    """The parameters of the model.

    Args:
        open_ms: milliseconds to open a file, or to list a folder, on idle servers.
        stat_ms: milliseconds to ask about a file.
        read_ms: milliseconds until the first byte of a read.
        bandwidth_mb_s: megabytes (10⁶ bytes) per second that one reader gets.
        load: part of the servers' time that others take, at least 0 and less than 1.

    Raises:
        ValueError: A time is negative, a bandwidth not positive, or the load not in its range.
    """

    open_ms: float = 0.5
    stat_ms: float = 0.5
    read_ms: float = 0.3
    bandwidth_mb_s: float = 1000.0
    load: float = 0.0

    def __post_init__(self) -> None:
        if min(self.open_ms, self.stat_ms, self.read_ms) < 0 or self.bandwidth_mb_s <= 0:
            raise ValueError(f"{self}: times cannot be negative, and the bandwidth must be positive")
        if not 0 <= self.load < 1:
            raise ValueError(f"load={self.load}: from 0 (nobody else) to less than 1 (servers never free)")

    def seconds(self, operations: FileOps) -> float:
        """Say how long one process waits for these operations, one after the other."""
        o = operations
        waiting_ms = (o.opens + o.lists) * self.open_ms + o.stats * self.stat_ms + o.reads * self.read_ms
        return (waiting_ms / 1e3 + o.nbytes / (self.bandwidth_mb_s * 1e6)) / (1 - self.load)

    @property
    def label(self) -> str:
        """What stands beside every result: that it comes from a model, and the load."""
        return f"{LABEL}, load {100 * self.load:.0f} %"


def plot_load(
    operations: Mapping[str, FileOps],
    filesystem: SharedFilesystem = SharedFilesystem(),
    loads: Sequence[float] = tuple(np.linspace(0, 0.95, 96)),
    ax: Axes | None = None,
) -> Axes:
    """Draw how long the model waits for an epoch when others load the servers more and more.

    Args:
        operations: label to the operations of one epoch.
        filesystem: the parameters; its load is not used.
        loads: where to compute, each at least 0 and less than 1.
        ax: where to draw; by default a new figure.
    """
    ax = ax or plt.subplots(figsize=(8, 4), layout="constrained")[1]
    for label, counts in operations.items():
        waits = [replace(filesystem, load=float(load)).seconds(counts) for load in loads]
        ax.plot(100 * np.asarray(loads), waits, linewidth=2, label=label)
    ax.set_yscale("log")
    ax.yaxis.set_major_formatter("{x:g}")
    ax.set_xlabel("part of the servers' time that others take (%)")
    ax.set_ylabel("waiting for files in one epoch (s)")
    ax.set_title(f"{LABEL.capitalize()} (not a measurement)", loc="left")
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    return ax
