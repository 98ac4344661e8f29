from hypothesis import given
from hypothesis import strategies as st

from course_utils.distributed.resumption import Resumed, count_resumed


def test_steps_lose_800_of_2001_samples_from_2_to_4_ranks_and_samples_none():
    assert count_resumed(2001, 4, 100, (2, 4), "steps") == Resumed(lost=800, repeated=0)
    assert count_resumed(2001, 4, 100, (2, 4), "samples") == Resumed(lost=0, repeated=0)


def test_steps_repeat_samples_on_fewer_ranks():
    assert count_resumed(2001, 4, 100, (4, 2), "steps") == Resumed(lost=0, repeated=800)


@given(
    st.integers(0, 80), st.integers(1, 6), st.integers(0, 9), st.tuples(st.integers(1, 5), st.integers(1, 5))
)
def test_samples_lose_and_repeat_none(samples, batch_size, steps, ranks):
    assert count_resumed(samples, batch_size, steps, ranks, "samples") == (0, 0)
