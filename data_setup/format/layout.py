"""Names and sizes of everything that a set of images consists of."""

from dataclasses import dataclass
from pathlib import Path

SIDE = 256
QUALITY = 90
RAW_BYTES = SIDE * SIDE * 3
JPEGS, ENCODED, RAW = "disk_transformed", "zip_encoded", "zip"
FORMS = (JPEGS, ENCODED, RAW)
MANIFEST = "manifest.json"
STAGE = ".unfinished"


def image_name(slot: int) -> str:
    """The file name of the image at a position; all have the same length."""
    return f"img{slot:08d}.JPEG"


def part_name(shard: int) -> str:
    """The file name of a shard."""
    return f"part{shard}.zip"


def shard_slots(count: int, shards: int, shard: int) -> range:
    """The positions of the images that belong to a shard; sizes differ by one at most."""
    return range(shard * count // shards, (shard + 1) * count // shards)


@dataclass(frozen=True)
class Stage:
    """Where a set lies while it is being made: a hidden folder beside the final names.

    Args:
        out: The folder of the finished set.
    """

    out: Path

    @property
    def root(self) -> Path:
        """The folder that holds all that is unfinished."""
        return self.out / STAGE

    @property
    def jpegs(self) -> Path:
        """The single files."""
        return self.root / JPEGS

    @property
    def plan(self) -> Path:
        """What is being made here, as JSON."""
        return self.root / "plan.json"

    @property
    def manifest(self) -> Path:
        """The manifest, until everything else has its final name."""
        return self.root / MANIFEST

    def part(self, form: str, shard: int) -> Path:
        """A shard of a packed form."""
        return self.root / form / part_name(shard)

    def journal(self, shard: int) -> Path:
        """The record of the images of a shard that are done, a chunk a line."""
        return self.root / f"shard{shard}.journal"

    def summary(self, shard: int) -> Path:
        """What a finished shard consists of; exists only when the shard is finished."""
        return self.root / f"shard{shard}.json"

    def labels(self, shard: int) -> Path:
        """The labels of a shard, while its archives are being finished."""
        return self.root / f"shard{shard}.labels"

    def lock(self, name: str) -> Path:
        """The file that keeps two commands from making the same thing at once."""
        return self.root / f"{name}.lock"
