"""The formula by which `buffer_size` judges buffer sizes, against simulations."""

import numpy as np
import pytest

from course_utils.checks.packed_formats import _buffer_sizes
from grading.answers.bank import answer


def simulated(size: int, batch_size: int, images: int, batches: int) -> float:
    """Count the distinct classes in batches from the middle of a stream, through a right answer's buffer."""
    names: dict[str, object] = {"np": np}
    exec(answer("packed_formats", "shuffle_buffer", "right_swap").source, names)
    length = 8 * size + batches * batch_size
    labels = (number // images for number in range(length))
    order = np.array(list(names["shuffled"](labels, size, np.random.default_rng(0))))  # type: ignore[operator]
    middle = order[6 * size : 6 * size + batches * batch_size].reshape(batches, batch_size)
    return float(np.mean([len(set(batch)) for batch in middle.tolist()]))


def test_mean_of_distinct_classes_agrees_with_a_simulation():
    assert simulated(250, 64, 80, 300) == pytest.approx(_buffer_sizes.classes_in_batch(250, 64, 80), rel=0.05)


@pytest.mark.proof
@pytest.mark.parametrize("seed", range(12))
def test_mean_agrees_for_the_mixings_that_are_drawn(seed):
    mixing = _buffer_sizes.draw_mixing(np.random.default_rng(seed), (32, 64, 128)[seed % 3])
    size = round(_buffer_sizes.right_size(mixing))
    found = simulated(size, mixing["batch_size"], mixing["images_per_class"], 1500)
    assert found == pytest.approx(mixing["classes"], rel=0.03)


def test_mixing_grows_with_the_buffer():
    means = [_buffer_sizes.classes_in_batch(size, 64, 50) for size in (2, 10, 100, 1000, 10_000, 100_000)]
    assert means == sorted(means)
    assert means[0] < 3
    assert 62 < means[-1] <= 64
