import sys

import pytest

from course_utils.system import in_child, limit_memory_growth

MIB = 2**20

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts the memory of a process")


def allocate_limited(before: int, after: int) -> str:
    """Free some memory, limit the process to 10 MiB more, and allocate in pieces of 2 MiB."""
    once = bytes(4 * MIB)
    del once  # from now on glibc takes pieces of up to 4 MiB from its heap
    freed = [bytes(100_000) for _ in range(before // 100_000)]
    above = bytes(100_000)  # what lies below it stays in the heap
    freed.clear()
    assert len(above)
    assert limit_memory_growth(10 * MIB)
    try:
        assert [bytes(2 * MIB) for _ in range(after // (2 * MIB))]
    except MemoryError:
        return "refused"
    return "allocated"


@pytest.mark.parametrize("freed", [0, 64 * MIB])
def test_growth_beyond_the_limit_is_refused_also_where_memory_was_freed(freed):
    assert in_child(allocate_limited, freed, 16 * MIB) == "refused"
    assert in_child(allocate_limited, freed, 6 * MIB) == "allocated"
