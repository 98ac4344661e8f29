"""Published measurements of file systems, with their sources: where the numbers of the model come from.

Example:
    >>> FIGURES["open, Lustre"].value
    2.3
    >>> round(LUSTRE.seconds(IMPORT_TORCH), 1)
    4.4
"""

from dataclasses import dataclass

from course_utils.storage import FileOps, SharedFilesystem

__all__ = ["FIGURES", "IMPORT_TORCH", "LUSTRE", "NVME", "PublishedFigure"]

_ML_ENGINEERING = (
    "https://github.com/stas00/ml-engineering/blob/e6afb19e813ca8e10cb2347b15cba97e23d744f6/storage/README.md"
)
_DELL_LUSTRE = "Dell, HPC Lustre Storage solution with Intel Omni-Path, white paper, figure 13"
_DELL_BEEGFS = "Dell EMC, Ready Solutions for HPC BeeGFS High Performance Storage, concept guide, section 4.3"
_LUMI = "https://docs.lumi-supercomputer.eu/hardware/storage/lumip/"
_INFINIBAND = "https://www.infinibandta.org/infiniband-roadmap/"
_PUBLISHED, _READ = "2026-08-22", "read 2026-11-22"


@dataclass(frozen=True)
class PublishedFigure:
    """A number that somebody else measured or specified.

    Args:
        value: The number.
        unit: Its unit.
        source: An address, or a document and the place in it.
        date: When it was published; where the source has no date, when it was read.
    """

    value: float
    unit: str
    source: str
    date: str


# By what was measured and where.
FIGURES = {
    "open, NVMe": PublishedFigure(0.011, "ms", _ML_ENGINEERING, _PUBLISHED),
    "open, Lustre": PublishedFigure(2.3, "ms", _ML_ENGINEERING, _PUBLISHED),
    "failed look-up, NVMe": PublishedFigure(0.0024, "ms", _ML_ENGINEERING, _PUBLISHED),
    "failed look-up, Lustre": PublishedFigure(1.1, "ms", _ML_ENGINEERING, _PUBLISHED),
    "copy of the package torch, files": PublishedFigure(13_019, "files", _ML_ENGINEERING, _PUBLISHED),
    "copy of the package torch, bytes": PublishedFigure(1.67 * 2**30, "bytes", _ML_ENGINEERING, _PUBLISHED),
    "copy of the package torch to NVMe": PublishedFigure(2.026, "s", _ML_ENGINEERING, _PUBLISHED),
    "copy of the package torch to Lustre": PublishedFigure(155.88, "s", _ML_ENGINEERING, _PUBLISHED),
    "import torch, opens": PublishedFigure(2_339, "calls", _ML_ENGINEERING, _PUBLISHED),
    "import torch, of these failed": PublishedFigure(922, "calls", _ML_ENGINEERING, _PUBLISHED),
    "sequential read, NVMe": PublishedFigure(2762.6 * 1.048576, "MB/s", _ML_ENGINEERING, _PUBLISHED),
    "sequential write, NVMe": PublishedFigure(1943.9 * 1.048576, "MB/s", _ML_ENGINEERING, _PUBLISHED),
    "look-ups, metadata server": PublishedFigure(500_000, "per s", _DELL_LUSTRE, _READ),
    "removals, metadata server": PublishedFigure(144_000, "per s", _DELL_LUSTRE, _READ),
    "creations, metadata server": PublishedFigure(27_000, "per s", _DELL_LUSTRE, _READ),
    "random reads, flash servers": PublishedFigure(3_500_000, "per s", _DELL_BEEGFS, _READ),
    "bandwidth of 32 storage targets": PublishedFigure(240, "GB/s", _LUMI, _READ),
    "EDR InfiniBand link": PublishedFigure(12.5, "GB/s", _INFINIBAND, _READ),
}

# What one process asks for; of a failed open only the look-up counts. Bytes are not counted: the shared
# libraries are memory-mapped, and how much of them is read differs between versions.
_opened = int(FIGURES["import torch, opens"].value - FIGURES["import torch, of these failed"].value)
IMPORT_TORCH = FileOps(opens=_opened, stats=int(FIGURES["import torch, opens"].value))

# As one reader sees them. Latencies of reads and sizes and the bandwidth of Lustre are those of
# `SharedFilesystem`, which says where they come from. For the local disk the same latency of a read is an
# upper bound, as there is no network; its kernel knows the size of an open file.
LUSTRE = SharedFilesystem(
    open_ms=FIGURES["open, Lustre"].value, stat_ms=FIGURES["failed look-up, Lustre"].value
)
NVME = SharedFilesystem(
    open_ms=FIGURES["open, NVMe"].value,
    stat_ms=FIGURES["failed look-up, NVMe"].value,
    size_ms=0.0,
    bandwidth_mb_s=FIGURES["sequential read, NVMe"].value,
)
