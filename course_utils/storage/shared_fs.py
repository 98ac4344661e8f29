"""A MODEL of a file system that hundreds of users share, to show on a laptop what happens on a cluster.

`course_utils.storage.ModelledDataset` reads files from the local disk, counts the operations, and sleeps as
long as a shared file system would have taken:

    seconds = (opens × open + look-ups × stat + sizes × size + reads × read + bytes / bandwidth) / (1 - load)

Look-ups are stats by path. Sizes are the stats that Python makes of each file it has just opened: on Lustre
only the storage servers know how large a file is, and `fstat` asks them (``ll_getattr`` calls
``ll_glimpse_size`` in lustre/llite/file.c) unless the client holds a lock.

``load`` is the part of the servers' time that other users take. A server that is busy for the part ``load``
responds 1 / (1 - load) times slower: the mean response time of an M/M/1 queue (for example Harchol-Balter,
Performance Modeling and Design of Computer Systems, 2013, chapter 13). One formula needs no library for
discrete-event simulation.

The default numbers are those of `FIGURES`, which says of each whether it was published or is assumed, and
where it comes from. The times of an open, of a read and of a size are assumptions of one round trip. On a
Lustre system in use, opening and closing a small file took 2.3 ms, which `course_utils.scaling` uses. Where
the metadata server knows the size of a file (NFS, or Lustre with data on the metadata target), ``size_ms``
is 0. There are no other users, unless a load is given; it is an assumption, to be shown beside the result.

The model leaves out the client's caches and readahead (a read that returns nothing at the end of a file
counts like any other), the spread of response times (it always takes the mean), and that several workers
share a client's bandwidth.

Example:
    >>> from course_utils.storage import FileOps
    >>> SharedFilesystem(load=0.5).seconds(FileOps(opens=1, stats=1, reads=3, nbytes=20_000))
    0.00184
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullFormatter

from course_utils.storage.io_counter import FileOps
from course_utils.storage.io_hooks import BUFFER_BYTES
from course_utils.storage.model_figures import FIGURES

__all__ = ["LABEL", "SharedFilesystem", "plot_load"]

LABEL = "model of a shared file system"


@dataclass(frozen=True)
class SharedFilesystem:
    """Parameters of the model.

    Args:
        open_ms: milliseconds to open a file, or to list a folder, on idle servers.
        stat_ms: milliseconds to look up the attributes of a file by its path.
        size_ms: milliseconds to ask for the size of a file that is open.
        read_ms: milliseconds until the first byte of a read.
        bandwidth_mb_s: megabytes (10⁶ bytes) per second that one reader gets.
        load: part of the servers' time that others take, at least 0 and less than 1.
        block_bytes: the ``st_blksize`` that it reports, from which Python derives the buffer of a file;
            Lustre reports 4 MiB (``ll_update_inode`` in
            https://github.com/lustre/lustre-release/blob/master/lustre/llite/llite_lib.c).

    Raises:
        ValueError: A time is negative, the bandwidth is not positive, the load is out of range, or the block
            size is not a possible buffer size.
    """

    open_ms: float = FIGURES["open, one round trip"].value
    stat_ms: float = FIGURES["stat, one thread"].value
    size_ms: float = FIGURES["size of an open file"].value
    read_ms: float = FIGURES["read, first byte"].value
    bandwidth_mb_s: float = FIGURES["bandwidth of one client"].value
    load: float = 0.0
    block_bytes: int = BUFFER_BYTES

    def __post_init__(self) -> None:
        if min(self.open_ms, self.stat_ms, self.size_ms, self.read_ms) < 0 or self.bandwidth_mb_s <= 0:
            raise ValueError(f"{self}: times cannot be negative, and the bandwidth must be positive")
        if not 0 <= self.load < 1:
            raise ValueError(f"load={self.load}: must be at least 0 (no other users) and less than 1")
        if self.block_bytes <= 1:
            raise ValueError(f"block_bytes={self.block_bytes}: must be more than 1")

    def seconds(self, operations: FileOps) -> float:
        """Return the seconds that one process waits for these operations, one after the other."""
        o = operations
        metadata_ms = (o.opens + o.listings) * self.open_ms + o.lookups * self.stat_ms
        latency_ms = metadata_ms + o.sizes * self.size_ms + o.reads * self.read_ms
        return (latency_ms / 1e3 + o.nbytes / (self.bandwidth_mb_s * 1e6)) / (1 - self.load)

    @property
    def label(self) -> str:
        """A note for every result, that it comes from a model, and the load."""
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
    # Also less than a decade has labels, all of one form.
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.yaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_minor_formatter(NullFormatter())
    ax.set_xlabel("part of the servers' time that others take (%)")
    ax.set_ylabel("waiting for files in one epoch (s)")
    ax.set_title(f"{LABEL.capitalize()} (not a measurement)", loc="left")
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    return ax
