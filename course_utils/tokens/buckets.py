"""Batches of at most so many tokens, and what buckets do to padding and to randomness."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

Lengths = Sequence[int] | NDArray[np.int64]


def batches_by_tokens(lengths: Lengths, most: int, seed: int, bucket: int) -> list[list[int]]:
    """Make batches of documents that have at most so many tokens when they are padded.

    Documents are shuffled and cut into buckets; a bucket is sorted by length and cut into batches, and the
    batches of all buckets are shuffled. Hugging Face's `LengthGroupedSampler` sorts within random groups,
    too. The result is a `batch_sampler` for a `DataLoader`.

    Args:
        lengths: Tokens of each document.
        most: Tokens a batch: documents times the length of the longest.
        seed: Decides the batches; a new one for each epoch.
        bucket: Documents a bucket. 1: batches of random documents. As many as there are: all are sorted.

    Raises:
        ValueError: A document is longer than a batch, or a bucket holds none.
    """
    sizes = np.asarray(lengths)
    if bucket < 1:
        raise ValueError(f"a bucket holds at least one document, not {bucket}")
    if sizes.max(initial=0) > most:
        raise ValueError(
            f"a document has {sizes.max()} tokens, a batch {most}: cut it, `np.minimum(lengths, most)`"
        )
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(sizes))
    # Without a sort, a batch may go on from one bucket to the next.
    buckets = (
        [order[first : first + bucket] for first in range(0, len(order), bucket)] if bucket > 1 else [order]
    )
    batches: list[list[int]] = []
    for documents in buckets:
        if bucket > 1:
            documents = documents[np.argsort(sizes[documents], kind="stable")]
        batches += _cut(documents.tolist(), sizes, most)
    return [batches[place] for place in rng.permutation(len(batches))]


def _cut(documents: list[int], lengths: NDArray[np.int64], most: int) -> Iterator[list[int]]:
    """Cut a row of documents where the next one would make the padded batch too large."""
    batch, longest = list[int](), 0
    for document in documents:
        length = int(lengths[document])
        if batch and (len(batch) + 1) * max(longest, length) > most:
            yield batch
            batch, longest = [], 0
        batch.append(document)
        longest = max(longest, length)
    if batch:
        yield batch


def padding_share(batches: Sequence[Sequence[int]], lengths: Lengths) -> float:
    """Return the share of the tokens computed that is padding, from 0 to 1.

    Args:
        batches: Numbers of documents; each batch is padded to its longest document.
        lengths: Tokens of each document.
    """
    sizes = np.asarray(lengths)
    computed = sum(len(batch) * int(sizes[list(batch)].max()) for batch in batches)
    useful = sum(int(sizes[list(batch)].sum()) for batch in batches)
    return 1 - useful / computed


def mixing(batches: Sequence[Sequence[int]], values: Lengths | NDArray[np.float64]) -> float:
    """Return how different the documents of a batch are, compared with any documents.

    It is the mean difference of a document to the others of its batch, divided by that of any two documents:
    about 1 for batches of random documents, 0 where those of a batch are alike. A batch of documents that
    are alike gives a gradient that stands for one kind of document only.

    Args:
        batches: Numbers of documents; batches of one document are left out.
        values: Their lengths, or another property by which they differ, such as a label of 0 or 1.
    """
    numbers = np.asarray(values, np.float64)
    several = [np.asarray(batch, np.int64) for batch in batches if len(batch) > 1]
    documents = sum(len(batch) for batch in several)
    inside = sum(len(batch) * _mean_difference(numbers[batch]) for batch in several) / documents
    return inside / _mean_difference(numbers[np.concatenate(several)])


def _mean_difference(values: NDArray[np.float64]) -> float:
    """Return the mean difference of two values, from their sorted order instead of all pairs."""
    count = len(values)
    total = np.sort(values) @ (2 * np.arange(count) - count + 1)
    return float(total / (count * (count - 1) / 2))
