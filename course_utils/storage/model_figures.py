"""The numbers of this course's models of file systems: each is published, assumed or measured.

Example:
    >>> FIGURES["open, Lustre"].value
    2.3
    >>> print(FIGURES["opens, metadata server"])
    144,000 per s, assumed: as frequent as removals, for which a rate is published
"""

from dataclasses import dataclass
from typing import Literal

__all__ = ["FIGURES", "Figure"]

_ML_ENGINEERING = (
    "https://github.com/stas00/ml-engineering/blob/e6afb19e813ca8e10cb2347b15cba97e23d744f6/storage/README.md"
)
_DELL_LUSTRE = "Dell, HPC Lustre Storage solution with Intel Omni-Path, white paper, figure 13"
_DELL_INFINIBAND = "Dell, HPC Lustre Storage solution with Mellanox Infiniband EDR, white paper, section 4.1"
_DELL_BEEGFS = "Dell EMC, Ready Solutions for HPC BeeGFS High Performance Storage, concept guide, section 4.3"
_LUMI = "https://docs.lumi-supercomputer.eu/hardware/storage/lumip/"
_INFINIBAND = "https://www.infinibandta.org/infiniband-roadmap/"
_EXAMPLES = "https://github.com/pytorch/examples/blob/main/imagenet/extract_ILSVRC.sh"
_PUBLISHED, _READ, _READ_LATER = "2026-08-22", "read 2026-11-22", "read 2026-11-25"


@dataclass(frozen=True)
class Figure:
    """A number of a model.

    Args:
        value: The number.
        unit: Its unit.
        source: Of a published number an address, or a document and the place in it; of a measured one the
            machine; of an assumed one the reason.
        date: When it was published, read, measured or assumed.
        kind: Who vouches for it.
    """

    value: float
    unit: str
    source: str
    date: str
    kind: Literal["published", "assumed", "measured"] = "published"

    def __str__(self) -> str:
        return f"{self.value:,.6g} {self.unit}, {self.kind}: {self.source}"


def _assumed(value: float, unit: str, reason: str) -> Figure:
    return Figure(value, unit, reason, "2026-11-22", "assumed")


# By what is counted and where.
FIGURES = {
    # One reader of idle servers.
    "open, NVMe": Figure(0.011, "ms", _ML_ENGINEERING, _PUBLISHED),
    "open, Lustre": Figure(2.3, "ms", _ML_ENGINEERING, _PUBLISHED),
    "open, one round trip": _assumed(0.5, "ms", "as long as a stat: one round trip to the metadata server"),
    "failed look-up, NVMe": Figure(0.0024, "ms", _ML_ENGINEERING, _PUBLISHED),
    "failed look-up, Lustre": Figure(1.1, "ms", _ML_ENGINEERING, _PUBLISHED),
    "stat, one thread": Figure(0.5, "ms", f"{_DELL_LUSTRE}: over 2K a second", _READ),
    # With queues it is longer: flash servers saturated by 1,024 threads served 3.5 million random reads per
    # second, so that each thread waited 0.29 ms (the source of "random reads, flash servers").
    "read, first byte": _assumed(0.1, "ms", "a round trip and a read from flash without a queue"),
    "size of an open file": _assumed(0.1, "ms", "as long as a read: one round trip to a storage server"),
    "bandwidth of one client": Figure(1000, "MB/s", f"{_DELL_INFINIBAND}: 1 to 1.5 GB/s", _READ),
    "sequential read, NVMe": Figure(2762.6 * 1.048576, "MB/s", _ML_ENGINEERING, _PUBLISHED),
    "sequential write, NVMe": Figure(1943.9 * 1.048576, "MB/s", _ML_ENGINEERING, _PUBLISHED),
    # All servers together.
    "opens, metadata server": _assumed(
        144_000, "per s", "as frequent as removals, for which a rate is published"
    ),
    "removals, metadata server": Figure(144_000, "per s", _DELL_LUSTRE, _READ),
    "look-ups, metadata server": Figure(500_000, "per s", _DELL_LUSTRE, _READ),
    "creations, metadata server": Figure(27_000, "per s", _DELL_LUSTRE, _READ),
    "random reads, flash servers": Figure(3_500_000, "per s", _DELL_BEEGFS, _READ),
    "bandwidth of 32 storage targets": Figure(240, "GB/s", _LUMI, _READ),
    "EDR InfiniBand link": Figure(12.5, "GB/s", _INFINIBAND, _READ),
    "load of busy servers": _assumed(0.8, "of their time", "an example: others take four fifths"),
    # What is read.
    "ImageNet, training images": Figure(1_281_167, "files", _EXAMPLES, _READ_LATER),
    "ImageNet, training archive": Figure(138 * 2**30, "bytes", _EXAMPLES, _READ_LATER),
    "copy of the package torch, files": Figure(13_019, "files", _ML_ENGINEERING, _PUBLISHED),
    "copy of the package torch, bytes": Figure(1.67 * 2**30, "bytes", _ML_ENGINEERING, _PUBLISHED),
    "copy of the package torch to NVMe": Figure(2.026, "s", _ML_ENGINEERING, _PUBLISHED),
    "copy of the package torch to Lustre": Figure(155.88, "s", _ML_ENGINEERING, _PUBLISHED),
    "import torch, opens": Figure(2_339, "calls", _ML_ENGINEERING, _PUBLISHED),
    "import torch, of these failed": Figure(922, "calls", _ML_ENGINEERING, _PUBLISHED),
    "decoding a batch of 256": _assumed(0.110, "s", "0.43 ms an image of 256×256 on one core"),
}
