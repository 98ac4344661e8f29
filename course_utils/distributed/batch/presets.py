"""What batch scripts ask for on particular systems, each with the page that says so and when it was read."""

from typing import NamedTuple


class Preset(NamedTuple):
    """What a system's nodes offer.

    Attributes:
        partition: Name of the partition; empty for the default one.
        ranks_per_node: One for each GPU.
        cores_per_rank: Cores that belong to a GPU.
        gpus: Whether to ask for as many GPUs as ranks.
        scratch: Name of the preset of `course_utils.scratch` for storage of a node's own; empty for the usual
            folders.
        source: Page that states these numbers.
        read: When that page was read.
    """

    partition: str = ""
    ranks_per_node: int = 2
    cores_per_rank: int = 1
    gpus: bool = False
    scratch: str = ""
    source: str = ""
    read: str = ""


PRESETS = {
    "cpu": Preset(),
    "snellius": Preset(
        "gpu_a100", 4, 18, True, "snellius",
        "https://servicedesk.surf.nl/wiki/spaces/WIKI/pages/30660209/Snellius+partitions", "2026-11",
    ),
    # Each half of its four GPUs is a device of its own, and the operating system keeps some of the 64 cores.
    "lumi": Preset(
        "standard-g", 8, 7, True, "lumi",
        "https://docs.lumi-supercomputer.eu/runjobs/scheduled-jobs/lumig-job/", "2026-11",
    ),
}  # fmt: skip
