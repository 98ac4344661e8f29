"""How many files a data set takes, packed in shards of some size, and what a quota of files leaves of it.

File systems of supercomputers limit the number of files, because each is work for a few metadata servers
that all users share.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from matplotlib import pyplot as plt
from matplotlib.axes import Axes


@dataclass(frozen=True)
class FileQuota:
    """How many files a project or user may have somewhere.

    Attributes:
        place: The system and its storage area.
        files: The most files.
        source: Where this is documented.
    """

    place: str
    files: int
    source: str


LUMI = "https://docs.lumi-supercomputer.eu/storage/"
SNELLIUS = "https://servicedesk.surf.nl/wiki/display/WIKI/Snellius+filesystems"
QUOTAS = (
    FileQuota("LUMI, project", 100_000, LUMI),
    FileQuota("LUMI, flash", 1_000_000, LUMI),
    FileQuota("Snellius, home", 1_000_000, SNELLIUS),
    FileQuota("LUMI, scratch", 2_000_000, LUMI),
    FileQuota("Snellius, scratch (soft limit)", 3_000_000, SNELLIUS),
)
# None: one file for each image.
SHARD_BYTES = (None, 50_000_000, 200_000_000, 1_000_000_000, 10_000_000_000)


@dataclass(frozen=True)
class Packing:
    """A data set in shards of one size.

    Attributes:
        images: Number of images.
        shard_bytes: Size of a shard; None for one file for each image.
        files: Number of files; also the most workers, of all nodes together, that get a file of their own.
        images_per_file: Images in a file, the last file excepted.
        objects: Pieces on storage targets: Lustre makes one for each stripe of a file, however small it is.
    """

    images: int
    shard_bytes: int | None
    files: int
    images_per_file: int
    objects: int


def packings(
    images: int,
    image_bytes: float,
    shard_bytes: Sequence[int | None] = SHARD_BYTES,
    stripe_count: int = 1,
) -> list[Packing]:
    """Count the files of a data set for several sizes of its shards.

    Args:
        images: Number of images.
        image_bytes: Mean size of an image.
        shard_bytes: Sizes of shards; None for one file for each image.
        stripe_count: Storage targets over which each file is spread (``lfs setstripe -c``).
    """
    found = []
    for size in shard_bytes:
        per_file = max(int(size / image_bytes), 1) if size else 1
        files = ceil(images / per_file)
        found.append(Packing(images, size, files, per_file, files * stripe_count))
    return found


def plot_file_counts(
    data_sets: Mapping[str, int],
    image_bytes: float,
    quotas: Sequence[FileQuota] = QUOTAS,
    ax: Axes | None = None,
) -> Axes:
    """Plot the number of files against the size of a shard, and quotas as dashed lines.

    Args:
        data_sets: Numbers of images by label.
        image_bytes: Mean size of an image: the size of a file at which each line begins.
        quotas: Lines to draw; equal ones share a line.
        ax: Axes to draw on; by default those of a new figure.
    """
    ax = ax or plt.subplots(figsize=(8, 4.2), layout="constrained")[1]
    for label, images in data_sets.items():
        counted = packings(images, image_bytes)
        sizes = [one.shard_bytes or image_bytes for one in counted]
        ax.plot(sizes, [one.files for one in counted], "o-", label=label)
    # In the legend, not on the lines: two of them are too close for labels.
    for number, files in enumerate(sorted({quota.files for quota in quotas}, reverse=True)):
        places = "; ".join(quota.place for quota in quotas if quota.files == files)
        colour = f"C{number + len(data_sets)}"
        ax.axhline(files, color=colour, linewidth=1, linestyle="--", label=f"quota: {places}, {files:,}")
    ax.set_xscale("log")
    ax.set_yscale("log")
    ticks = {image_bytes: "one file\nan image", 5e7: "50 MB", 2e8: "200 MB", 1e9: "1 GB", 1e10: "10 GB"}
    ax.set_xticks(list(ticks), list(ticks.values()))
    ax.minorticks_off()
    ax.set_xlabel("size of a file")
    ax.set_ylabel("number of files")
    ax.legend(frameon=False, loc="lower left")
    ax.spines[["top", "right"]].set_visible(False)
    return ax
