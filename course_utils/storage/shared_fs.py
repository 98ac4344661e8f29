"""A MODEL of a file system that hundreds of users share, to show on a laptop what happens on a cluster.

`course_utils.storage.ModelledDataset` reads files from the local disk, counts the operations, and sleeps as
long as a shared file system would have taken:

    seconds = (opens × open + stats × stat + reads × read) / (1 - load)  +  bytes / (bandwidth × (1 - load))

``load`` is the part of the servers' time that other users take. A server that is busy for the part ``load``
responds 1 / (1 - load) times slower: the mean response time of an M/M/1 queue (for example Harchol-Balter,
Performance Modeling and Design of Computer Systems, 2013, chapter 13). One formula needs no library for
discrete-event simulation.

Sources of the default numbers:

- stat 0.5 ms: MDtest on Lustre with one thread, "over 2K" stats per second (Dell, HPC Lustre Storage solution
  with Intel Omni-Path, white paper, figure 13). New files are created there at less than 1,100 per second.
- open 0.5 ms: taken as one round trip to the metadata server, like the stat; opening an existing file takes
  less than the 0.9 ms of creating one.
- read 0.3 ms: random reads of 4 KiB on flash, 3.5 million per second at 1,024 threads, so that each thread
  waits 1,024 / 3.5 million = 0.29 ms (Dell EMC, Ready Solutions for HPC BeeGFS High Performance Storage,
  concept guide, section 4.3). On disks it is ten times more: 65 thousand per second at 192 threads, 3 ms
  (Dell, Storage for HPC with Intel EE for Lustre, white paper, section 4.2).
- bandwidth 1,000 MB/s: one client reads 1 to 1.5 GB/s sequentially (Dell, HPC Lustre Storage solution with
  Mellanox Infiniband EDR, white paper, section 4.1).
- load 0: no other users. Any other value is an assumption, to be shown beside the result.

The model leaves out the client's caches and readahead, the spread of response times (it always takes the
mean), and that several workers share a client's bandwidth.

Example:
    >>> from course_utils.storage import FileOps
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
    """Parameters of the model.

    Args:
        open_ms: milliseconds to open a file, or to list a folder, on idle servers.
        stat_ms: milliseconds to stat a file.
        read_ms: milliseconds until the first byte of a read.
        bandwidth_mb_s: megabytes (10⁶ bytes) per second that one reader gets.
        load: part of the servers' time that others take, at least 0 and less than 1.

    Raises:
        ValueError: A time is negative, the bandwidth is not positive, or the load is out of range.
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
            raise ValueError(f"load={self.load}: must be at least 0 (no other users) and less than 1")

    def seconds(self, operations: FileOps) -> float:
        """Return the seconds that one process waits for these operations, one after the other."""
        o = operations
        latency_ms = (o.opens + o.listings) * self.open_ms + o.stats * self.stat_ms + o.reads * self.read_ms
        return (latency_ms / 1e3 + o.nbytes / (self.bandwidth_mb_s * 1e6)) / (1 - self.load)

    @property
    def label(self) -> str:
        """A note for every result: that it comes from a model, and the load."""
        return f"{LABEL}, load {100 * self.load:.0f} %"


def plot_load(
    operations: Mapping[str, FileOps],
    filesystem: SharedFilesystem = SharedFilesystem(),
    loads: Sequence[float] = tuple(np.linspace(0, 0.95, 96)),
    ax: Axes | None = None,
) -> Axes:
    """Plot the modelled waiting time of an epoch against the load of the servers.

    Args:
        operations: the operations of one epoch by label.
        filesystem: parameters of the model; its own load is ignored.
        loads: loads to plot, each at least 0 and less than 1.
        ax: axes to draw on; by default those of a new figure.
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
