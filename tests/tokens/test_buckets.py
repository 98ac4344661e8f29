"""Batches by tokens hold every document once; buckets trade padding for randomness."""

from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_utils.tokens import batches_by_tokens, mixing, padding_share

MOST = 4096  # tokens a batch


@pytest.fixture(scope="module")
def lengths() -> np.ndarray:
    drawn = np.random.default_rng(0).lognormal(5, 1, 2000).astype(np.int64) + 1
    return np.minimum(drawn, 2048)


@given(
    lengths=st.lists(st.integers(1, 50), min_size=1, max_size=60),
    most=st.integers(50, 200),
    seed=st.integers(0, 5),
    bucket=st.integers(1, 70),
)
def test_each_document_is_in_one_batch_that_is_small_enough(lengths, most, seed, bucket):
    batches = batches_by_tokens(lengths, most, seed, bucket)
    assert sorted(chain(*batches)) == list(range(len(lengths)))
    assert all(len(batch) * max(lengths[number] for number in batch) <= most for batch in batches)


@given(
    values=st.lists(st.integers(0, 9), min_size=6, max_size=20).filter(lambda values: len(set(values)) > 1)
)
def test_mixing_is_what_its_pairs_say(values):
    batches = [[0, 1, 2], list(range(3, len(values)))]

    def mean(numbers):
        return np.mean([abs(values[a] - values[b]) for a, b in combinations(numbers, 2)])

    inside = sum(len(batch) * mean(batch) for batch in batches) / len(values)
    assert mixing(batches, values) == pytest.approx(inside / mean(range(len(values))))


def test_mixing_is_one_in_random_batches_and_zero_among_equals(lengths):
    order = np.random.default_rng(1).permutation(len(lengths)).reshape(-1, 8)
    assert mixing(order.tolist(), lengths) == pytest.approx(1, abs=0.03)
    assert mixing([[0, 1], [2, 3, 4]], [7, 7, 9, 9, 9]) == 0


def test_larger_buckets_pad_less_and_mix_less(lengths):
    made = [batches_by_tokens(lengths, MOST, 3, bucket) for bucket in (1, 64, 512, len(lengths))]
    padding = [padding_share(batches, lengths) for batches in made]
    mixed = [mixing(batches, lengths) for batches in made]
    assert padding == sorted(padding, reverse=True)
    assert mixed == sorted(mixed, reverse=True)
    assert padding[0] > 0.4 > 0.02 > padding[-1]
    assert mixed[0] > 0.9 > 0.02 > mixed[-1]


def test_padding_is_counted_by_hand():
    assert padding_share([[0, 1], [2]], [1, 3, 5]) == pytest.approx(2 / 11)


@pytest.mark.parametrize("bucket", [1, 64])
def test_seed_decides_the_batches(lengths, bucket):
    batches = batches_by_tokens(lengths, MOST, 3, bucket)
    assert batches_by_tokens(lengths, MOST, 3, bucket) == batches
    again = batches_by_tokens(lengths, MOST, 4, bucket)
    assert {frozenset(batch) for batch in again} != {frozenset(batch) for batch in batches}


@pytest.mark.parametrize(
    ("most", "bucket", "message"), [(9, 4, "a document has 10 tokens, a batch 9"), (10, 0, "not 0")]
)
def test_what_cannot_be_batched_is_refused(most, bucket, message):
    with pytest.raises(ValueError, match=message):
        batches_by_tokens([3, 10], most, 0, bucket)
