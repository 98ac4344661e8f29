"""Names and sizes of the files of a set."""

from course_utils.paths import FORMS as FORMS  # what lessons look for is what is created
from course_utils.paths import MANIFEST as MANIFEST
from course_utils.paths import TOKENS as TOKENS

SIDE = 256
QUALITY = 90
RAW_BYTES = SIDE * SIDE * 3
JPEGS, ENCODED, RAW = FORMS
STAGING = ".unfinished"  # the folder where a set is made, beside its final names


def image_name(slot: int) -> str:
    """Return the file name of the image at a position; all names have the same length."""
    return f"img{slot:08d}.JPEG"


def part_name(shard: int) -> str:
    """Return the file name of a shard."""
    return f"part{shard}.zip"


def shard_slots(count: int, shards: int, shard: int) -> range:
    """Return the positions of the images of a shard; the sizes of shards differ by at most one."""
    return range(shard * count // shards, (shard + 1) * count // shards)


def first_of(items: list[str], most: int, separator: str = ", ") -> str:
    """Return the first items as text, and how many more there are."""
    more = len(items) - most
    return separator.join(items[:most]) + (f"{separator}and {more:,} more" if more > 0 else "")
