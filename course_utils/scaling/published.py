"""File systems as one reader sees them, with the numbers of `FIGURES`.

Example:
    >>> round(LUSTRE.seconds(IMPORT_TORCH), 1)
    4.4
"""

from course_utils.storage import FIGURES, FileOps, SharedFilesystem

__all__ = ["IMPORT_TORCH", "LUSTRE", "NVME"]

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
