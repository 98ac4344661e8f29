import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_utils.remote import coalesce

RANGES = st.lists(st.tuples(st.integers(0, 200), st.integers(0, 30)), max_size=20)


@given(RANGES, st.integers(0, 20))
def test_merged_ranges_cover_all_and_are_far_apart(ranges, gap):
    merged, part = coalesce(ranges, gap)
    assert merged.shape[1:] == (2,)
    assert len(part) == len(ranges)
    stops = merged.sum(axis=1)
    assert np.all(merged[1:, 0] - stops[:-1] > gap)
    for (offset, length), row in zip(ranges, part, strict=True):
        assert merged[row, 0] <= offset
        assert offset + length <= stops[row]
    # Each merged range begins and ends with one of those that were given.
    assert {*merged[:, 0].tolist()} <= {offset for offset, _ in ranges}
    assert {*stops.tolist()} <= {offset + length for offset, length in ranges}


def reached(ranges, gap):
    """The half bytes of all ranges, each longer by the gap: what touches then is one."""
    return {at for offset, length in ranges for at in range(2 * offset, 2 * (offset + length + gap) + 1)}


@given(RANGES, st.integers(0, 20))
def test_what_is_near_is_merged(ranges, gap):
    covered = reached(ranges, gap)
    islands = sum(at - 1 not in covered for at in covered)
    assert len(coalesce(ranges, gap).ranges) == islands


@pytest.mark.parametrize(("gap", "expected"), [(9, [[0, 10], [20, 5]]), (10, [[0, 25]])])
def test_a_gap_of_that_size_is_spanned(gap, expected):
    merged, part = coalesce([(20, 5), (0, 10), (2, 3)], gap)
    assert merged.tolist() == expected
    assert part.tolist() == [len(expected) - 1, 0, 0]
