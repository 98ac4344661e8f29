import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from course_utils.loading.sampler import EpochOrder


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
        return [
            EpochOrder(images, batch_size, shuffle, seed, drop_last, rank, world_size)
            for rank in range(world_size)
        ]

    delivered = [batch for order in orders(False) for batch in order.batches(epoch)]
    assert sorted(np.concatenate([*delivered, np.arange(0)])) == list(range(images))
    assert all(len(order) == len(order.batches(epoch)) for order in orders(False) + orders(True))
    for order, whole in zip(orders(True), orders(False), strict=True):
        batches = order.batches(epoch)
        assert len(batches) == images // world_size // batch_size
        assert all(map(np.array_equal, batches, whole.batches(epoch)))
        assert {len(batch) for batch in batches} <= {batch_size}


def test_skip_leaves_out_first_batches():
    order = EpochOrder(23, 4, shuffle=True, seed=2)
    rest = [batch.tolist() for batch in order.batches(1, skip=4)]
    assert rest == [batch.tolist() for batch in order.batches(1)][4:]
    assert [len(batch) for batch in rest] == [4, 3]


def test_seed_and_epoch_determine_order():
    orders = {
        tuple(EpochOrder(50, 50, True, seed).batches(epoch)[0]) for seed in range(3) for epoch in range(3)
    }
    assert len(orders) == 9
    assert np.array_equal(
        EpochOrder(50, 50, True, 1).batches(2)[0], EpochOrder(50, 50, True, 1).batches(2)[0]
    )
