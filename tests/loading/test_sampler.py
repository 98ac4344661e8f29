import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_utils.loading.loader_state import Position, Source, position_from, state_at
from course_utils.loading.sampler import EpochOrder


def world(world_size, images, batch_size, **options):
    return [
        EpochOrder(images, batch_size, rank=rank, world_size=world_size, **options)
        for rank in range(world_size)
    ]


def numbers(batches):
    return np.concatenate([*batches, np.arange(0)]).tolist()


@given(
    images=st.integers(0, 60),
    batch_size=st.integers(1, 9),
    world_size=st.integers(1, 5),
    shuffle=st.booleans(),
    seed=st.integers(0, 5),
    epoch=st.integers(0, 5),
)
def test_ranks_share_epoch_without_duplicates(images, batch_size, world_size, shuffle, seed, epoch):
    def orders(drop_last):
        return world(world_size, images, batch_size, shuffle=shuffle, seed=seed, drop_last=drop_last)

    assert sorted(numbers(batch for order in orders(False) for batch in order.batches(epoch))) == list(
        range(images)
    )
    assert all(len(order) == len(order.batches(epoch)) for order in orders(False) + orders(True))
    assert max(map(len, orders(False))) - min(map(len, orders(False))) <= 1
    for order, whole in zip(orders(True), orders(False), strict=True):
        batches = order.batches(epoch)
        assert len(batches) == images // world_size // batch_size
        assert all(map(np.array_equal, batches, whole.batches(epoch)))
        assert {len(batch) for batch in batches} <= {batch_size}


def test_evaluation_holds_each_image_once_where_a_padding_sampler_repeats():
    for ranks, padded in ((2, 1), (4, 3), (7, 1)):
        orders = world(ranks, 2001, 64)
        counts = [len(numbers(order.batches(0))) for order in orders]
        assert sum(counts) == 2001
        assert math.ceil(2001 / ranks) * ranks - 2001 == padded
        assert max(counts) - min(counts) == 1


phases = st.lists(
    st.tuples(st.integers(1, 5), st.integers(1, 7), st.integers(0, 6), st.integers(0, 4)), max_size=6
)


@given(images=st.integers(1, 60), phases=phases, seed=st.integers(0, 9), last=st.integers(1, 5))
def test_killed_and_resumed_on_any_number_of_ranks_delivers_each_image_once_per_epoch(
    images, phases, seed, last
):
    """Each phase trains some steps with its ranks and batch size, then is killed; a rank saved its state."""
    state = state_at(Position(), EpochOrder(images, 1, True, seed), Source())
    delivered = {0: [], 1: []}
    for world_size, batch_size, steps, saved_by in [*phases, (last, 3, None, 0), (last, 3, None, 0)]:
        orders = world(world_size, images, batch_size, shuffle=True, seed=seed)
        position = position_from(state, orders[saved_by % world_size], Source())
        parts = [order.batches(position.epoch, position.samples)[:steps] for order in orders]
        seen = numbers(batch for rank in parts for batch in rank)
        delivered.setdefault(position.epoch, []).extend(seen)
        after = orders[saved_by % world_size].consumed_after(
            position.samples, images if steps is None else steps
        )
        assert after - position.samples == len(seen)
        position = Position(position.epoch, after) if after < images else Position(position.epoch + 1)
        state = state_at(position, orders[0], Source())
    for epoch in (0, 1):
        assert sorted(delivered[epoch]) == list(range(images))


@given(
    images=st.integers(1, 60),
    batch_size=st.integers(1, 7),
    world_size=st.integers(1, 5),
    drop_last=st.booleans(),
    stops=st.lists(st.integers(0, 5), max_size=4),
)
def test_resumed_with_same_ranks_and_batches_continues_undisturbed_order(
    images, batch_size, world_size, drop_last, stops
):
    for order in world(world_size, images, batch_size, shuffle=True, drop_last=drop_last):
        start, seen = 0, []
        for steps in [*stops, None]:
            part = order.batches(3, start)[:steps]
            seen += part
            start = order.consumed_after(start, len(part))
        assert [batch.tolist() for batch in seen] == [batch.tolist() for batch in order.batches(3)]


def test_drop_last_leaves_out_what_does_not_fill_every_rank_also_after_a_resume():
    orders = world(2, 23, 4, drop_last=True)
    assert [[len(batch) for batch in order.batches(0, start=5)] for order in orders] == [[4, 4], [4, 4]]
    assert [order.batches(0, start=16) for order in orders] == [[], []]


def test_seed_and_epoch_determine_order():
    orders = {
        tuple(EpochOrder(50, 50, True, seed).batches(epoch)[0]) for seed in range(3) for epoch in range(3)
    }
    assert len(orders) == 9
    assert np.array_equal(
        EpochOrder(50, 50, True, 1).batches(2)[0], EpochOrder(50, 50, True, 1).batches(2)[0]
    )


def test_state_does_not_depend_on_rank_world_size_or_batch_size():
    states = [
        state_at(Position(2, 16), order, Source("abc"))
        for world_size, batch_size in ((1, 16), (2, 8), (4, 2))
        for order in world(world_size, 23, batch_size, shuffle=True, seed=4)
    ]
    assert all(state == states[0] for state in states)


@pytest.mark.parametrize(("key", "value"), [("seed", 5), ("shuffle", False), ("images", 24), ("content", "")])
def test_state_of_another_order_is_refused(key, value):
    order = EpochOrder(23, 4, True, 4)
    state = state_at(Position(), order, Source("abc")) | {key: value}
    with pytest.raises(ValueError, match=f"another loader: {key} is"):
        position_from(state, order, Source("abc"))


def test_state_by_batches_is_refused_and_says_how_to_convert_it():
    order = EpochOrder(23, 4)
    state = {**state_at(Position(), order, Source()), "position": [0, 3], "world_size": 2}
    with pytest.raises(ValueError, match=r"earlier version.*batches \* batch_size \* world_size"):
        position_from(state, order, Source())
