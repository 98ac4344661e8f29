"""What happens to a reader whose file is cut short."""

import signal

import pytest

from course_utils.format_trials import cut_files, read_cut_short
from course_utils.formats import SingleFiles
from tests.format_trials.trial_samples import RANDOM, drawn, random_access

MAPS = {"FlatMap", "Lmdb", "ArrowMap"}
SAMPLES = drawn(60, 8000)


@pytest.mark.parametrize("name", RANDOM)
def test_maps_end_the_process(name, capfd):
    found = read_cut_short(random_access(name), SAMPLES)
    assert found == "killed by SIGBUS" if name in MAPS else found in ("errors", "wrong in silence")
    assert capfd.readouterr().err == ""


def test_length_tells_that_bytes_are_missing():
    assert read_cut_short(random_access("FlatFile"), SAMPLES) == "errors"


def test_file_of_a_single_sample_has_no_length_to_compare():
    assert read_cut_short(random_access("SingleFiles"), SAMPLES) == "wrong in silence"


class Stuck(SingleFiles):
    """A reader that never returns, as HDF5 may on a file that is cut short."""

    def read(self, index):
        return signal.pause()


def test_read_that_never_returns_is_ended(monkeypatch):
    monkeypatch.setattr(cut_files, "SECONDS", 1)
    assert read_cut_short(Stuck, SAMPLES[:2]) == "never returned"


def test_checksum_tells_that_bytes_are_missing():
    assert read_cut_short(random_access("IndexedZip"), SAMPLES) == "errors"
