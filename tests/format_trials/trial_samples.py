"""Samples for the trials: random bytes, which no format can compress, and all formats that are installed."""

from functools import cache

import numpy as np
import pytest

from course_utils.formats import PackedFormat, RandomAccess, Sample, find_formats
from course_utils.formats.registry import FORMATS


@cache
def drawn(count: int, size: int = 3000) -> tuple[Sample, ...]:
    rng = np.random.default_rng(0)
    sizes = rng.integers(size // 2, size, count).tolist()
    return tuple(Sample(f"img{number:08d}.JPEG", rng.bytes(sizes[number]), number) for number in range(count))


def installed(name: str) -> type[PackedFormat]:
    found = find_formats()
    return found.installed.get(name) or pytest.skip(f"{name} is not installed: {found.missing[name]}")


ALL = [name for _, name in FORMATS]
# unsquashfs is started for each sample: nothing is shared.
RANDOM = [name for name in ALL if name not in ("Tar", "Squashfs")]


def random_access(name: str) -> type[RandomAccess]:
    kind = installed(name)
    assert issubclass(kind, RandomAccess)
    return kind
