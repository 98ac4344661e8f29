"""What batch scripts ask for on particular systems: `sites.toml` of `course_utils.scratch`."""

from typing import NamedTuple

from course_utils.scratch import SITES


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
    **{
        name: Preset(**nodes, scratch=key if "scratch" in site else "")
        for key, site in SITES.items()
        for name, nodes in site.get("nodes", {}).items()
    },
}
