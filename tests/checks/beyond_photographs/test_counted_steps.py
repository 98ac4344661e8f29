import contextlib
import sys
from bisect import insort

import numpy as np
import pytest
import torch

from course_utils.checks.beyond_photographs._counted_steps import CountedLength, count_steps

MOST = 10**6


def lengths_of(count):
    return [CountedLength(number % 7 + 1) for number in range(count)]


def loop(numbers):
    total = 0
    for number in numbers:
        total += number > 3
    return total


def turns_on_one_line(numbers):
    return [number + 1 for number in range(len(numbers))]


def turns_of_a_generator(numbers):
    return sum(1 for number in range(len(numbers)))


def smallest(numbers):
    return min(numbers)


def total_of(numbers):
    return sum(numbers)


def place_of_the_last(numbers):
    return numbers.index(CountedLength(99)) if 99 in numbers else None


def smallest_rest(numbers):
    return min([100 - number for number in numbers])


@pytest.mark.parametrize(
    "function",
    [loop, turns_on_one_line, turns_of_a_generator, smallest, total_of, place_of_the_last, smallest_rest],
)
def test_steps_grow_like_the_numbers_looked_at(function):
    few, many = (count_steps(lambda n=n: function(lengths_of(n)), MOST) for n in (200, 2000))
    created = [count_steps(lambda n=n: lengths_of(n), MOST) for n in (200, 2000)]
    assert 8 < (many - created[1]) / (few - created[0]) < 11


def test_steps_are_the_same_each_time():
    numbers = lengths_of(500)
    assert len({count_steps(lambda: loop(numbers), MOST) for _ in range(3)}) == 1


def test_sorted_insertion_takes_logarithmic_steps():
    def insert(numbers):
        found = []
        for number in numbers:
            insort(found, number)

    few, many = (count_steps(lambda n=n: insert(lengths_of(n)), MOST) for n in (500, 4000))
    assert many / few < 12


def test_endless_code_is_stopped_although_it_catches_errors():
    def endless():
        while True:
            with contextlib.suppress(Exception):
                loop(lengths_of(10))

    assert count_steps(endless, 5000) == 5001


def test_tracer_of_others_is_there_again_and_errors_pass():
    tracer = sys.gettrace()
    with pytest.raises(ZeroDivisionError):
        count_steps(lambda: 1 / 0, MOST)
    assert sys.gettrace() is tracer


def test_counted_lengths_are_numbers():
    lengths = lengths_of(8)
    plain = [int(length) for length in lengths]
    assert lengths == plain
    assert {*lengths} == {*plain}
    assert np.asarray(lengths).dtype.kind == "i"
    assert torch.tensor(lengths).tolist() == plain
    assert sorted(lengths, key=lambda length: -length * 1.5) == sorted(plain, reverse=True)
    assert [10 - length + 1 for length in lengths] == [10 - length + 1 for length in plain]
    assert list("abcdefghij"[: lengths[2]]) == ["a", "b", "c"]
    assert lengths[0] + 0.5 == 1.5
