"""What happens to a reader whose file is cut short."""

import pytest

from course_utils.format_trials import read_cut_short
from tests.format_trials.trial_samples import RANDOM, drawn, random_access

MAPS = {"FlatMap", "Lmdb", "ArrowMap"}
SAMPLES = drawn(60, 8000)


@pytest.mark.parametrize("name", RANDOM)
def test_maps_end_the_process(name, capfd):
    found = read_cut_short(random_access(name), SAMPLES)
    assert found == "killed by SIGBUS" if name in MAPS else found in ("errors", "wrong in silence")
    assert capfd.readouterr().err == ""


def test_read_of_a_flat_file_returns_less_without_an_error():
    assert read_cut_short(random_access("FlatFile"), SAMPLES) == "wrong in silence"


def test_checksum_tells_that_bytes_are_missing():
    assert read_cut_short(random_access("IndexedZip"), SAMPLES) == "errors"
