import numpy as np
import pytest

from course_utils.tokens import packed, padded, sorted_batches

LENGTHS = np.clip(np.exp(np.random.default_rng(0).normal(5, 1, 5000)).astype(int), 1, 2048)


def test_small_batches_are_counted():
    assert sorted_batches([5, 1, 4, 2, 3], batch=2) == ("sorted", 2 * 2 + 2 * 4 + 5, 15)
    assert padded([4, 4, 4, 4], batch=3).share == 1
    assert packed([3, 3, 2, 2, 4], block=5) == ("packed", 15, 14)


def test_packing_wastes_least_and_random_batches_most():
    layouts = [padded(LENGTHS, 8), sorted_batches(LENGTHS, 8), packed(LENGTHS, 2048)]
    shares = [layout.share for layout in layouts]
    assert shares[0] < 0.5 < 0.98 < shares[1]
    assert shares[2] > 0.99
    assert {layout.useful for layout in layouts} == {LENGTHS.sum()}


def test_order_of_random_batches_has_a_seed():
    assert padded(LENGTHS, 8, seed=1) == padded(LENGTHS, 8, seed=1) != padded(LENGTHS, 8, seed=2)


def test_document_longer_than_a_row_is_refused_with_advice():
    with pytest.raises(ValueError, match=r"np.minimum\(lengths, block\)"):
        packed([3, 9], block=8)
