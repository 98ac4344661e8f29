"""Names and sizes of the files of a set, finished or in its staging directory."""

from dataclasses import dataclass
from pathlib import Path

from course_utils.paths import FORMS as FORMS  # what lessons look for is what is created
from course_utils.paths import MANIFEST as MANIFEST

SIDE = 256
QUALITY = 90
RAW_BYTES = SIDE * SIDE * 3
JPEGS, ENCODED, RAW = FORMS
STAGING = ".unfinished"


def image_name(slot: int) -> str:
    """Return the file name of the image at a position; all names have the same length."""
    return f"img{slot:08d}.JPEG"


def part_name(shard: int) -> str:
    """Return the file name of a shard."""
    return f"part{shard}.zip"


def shard_slots(count: int, shards: int, shard: int) -> range:
    """Return the positions of the images of a shard; the sizes of shards differ by at most one."""
    return range(shard * count // shards, (shard + 1) * count // shards)


@dataclass(frozen=True)
class StagingDirectory:
    """Paths in the hidden folder where a set is made, beside its final names.

    Args:
        out: Folder of the finished set.
    """

    out: Path

    @property
    def root(self) -> Path:
        """The staging directory itself."""
        return self.out / STAGING

    @property
    def jpegs(self) -> Path:
        """The folder of the JPEG files."""
        return self.root / JPEGS

    @property
    def plan(self) -> Path:
        """The JSON file with the identity and the classes of the set."""
        return self.root / "plan.json"

    @property
    def manifest(self) -> Path:
        """The manifest, until everything else has its final name."""
        return self.root / MANIFEST

    def part(self, form: str, shard: int) -> Path:
        """Return the archive of a shard in a packed form."""
        return self.root / form / part_name(shard)

    def record(self, shard: int) -> Path:
        """Return the record of a shard, which exists only once the shard is finished."""
        return self.root / f"shard{shard}.jsonl"

    def lock(self, name: str) -> Path:
        """Return the lock file of a step, outside of the folder that is removed while the lock is held."""
        return self.out / f"{STAGING}.{name}.lock"
