import random
import sys
from contextlib import closing

import numpy as np
import pytest

from course_utils.format_trials import JoinedSamples, slice_costs
from course_utils.formats import FlatArray, FlatFile, Sample

LENGTHS = [3, 0, 5, 1, 0, 0, 7, 4]
STARTS = np.cumsum([0, *LENGTHS])
VALUES = np.arange(20, dtype=np.uint16) * 3000
SLICES = [(start, stop) for stop in range(1, 21) for start in range(stop)]


@pytest.fixture
def joined(tmp_path):
    pieces = np.split(VALUES, STARTS[1:-1])
    FlatFile.write(
        tmp_path / "samples", [Sample(str(place), one.tobytes(), 0) for place, one in enumerate(pieces)]
    )
    with closing(JoinedSamples(FlatFile(tmp_path / "samples"), STARTS)) as reader:
        yield reader


@pytest.fixture
def flat(tmp_path):
    FlatArray.write(tmp_path / "array", VALUES)
    with closing(FlatArray(tmp_path / "array")) as reader:
        yield reader


def test_joined_samples_are_the_array(joined):
    for start, stop in SLICES:
        assert joined.read(start, stop).tolist() == VALUES[start:stop].tolist()


def test_only_samples_that_a_slice_touches_are_read(joined, monkeypatch):
    asked = []
    real = FlatFile.read
    monkeypatch.setattr(FlatFile, "read", lambda self, number: asked.append(number) or real(self, number))
    joined.read(3, 8)
    assert asked == [2]
    asked.clear()
    joined.read(7, 10)
    assert asked == [2, 3, 4, 5, 6]


def test_first_reader_is_the_measure(flat, joined):
    costs = slice_costs({"flat": flat, "joined": joined}, SLICES, rounds=3)
    assert costs["flat"].times == (1, 1, 1)
    lowest, middle, highest = costs["joined"].times
    assert lowest <= middle <= highest


@pytest.mark.skipif(sys.platform != "linux", reason="counts calls by /proc")
def test_calls_and_bytes_are_counted(flat, joined):
    some = random.Random(0).sample(SLICES, 50)
    costs = slice_costs({"flat": flat, "joined": joined}, some, rounds=1)
    assert costs["flat"].calls == costs["flat"].read_bytes == 0
    touched = [
        LENGTHS[number]
        for start, stop in some
        for number in range(np.searchsorted(STARTS, start, "right") - 1, np.searchsorted(STARTS, stop))
    ]
    assert costs["joined"].calls == len(touched) / 50
    assert costs["joined"].read_bytes == 2 * sum(touched) / 50


def test_where_nothing_is_counted_the_counts_are_none(flat, monkeypatch):
    monkeypatch.setattr("course_utils.format_trials.array_slices.io_counters", lambda: None)
    cost = slice_costs({"flat": flat}, [(0, 5)], rounds=1)["flat"]
    assert (cost.calls, cost.read_bytes) == (None, None)


def test_nothing_to_compare_is_an_error():
    for readers, slices, rounds in (({}, [(0, 1)], 1), ({"one": None}, [], 1), ({"one": None}, [(0, 1)], 0)):
        with pytest.raises(ValueError, match="at least one"):
            slice_costs(readers, slices, rounds)
