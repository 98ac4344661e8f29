"""What pickle sends of each reader, and what works in a fresh process."""

import pytest

from course_utils.format_trials import Outcomes, pickle_readers
from course_utils.formats import find_formats
from tests.format_trials.trial_samples import RANDOM, drawn, random_access

SAMPLES = drawn(60, 20_000)


@pytest.fixture(scope="module")
def readers(tmp_path_factory):
    opened = {}
    for name in set(RANDOM) & set(find_formats().installed):
        folder = tmp_path_factory.mktemp(name)
        kind = random_access(name)
        kind.write(folder / "packed", SAMPLES)
        opened[name] = kind(folder / "packed")
    yield opened
    for reader in opened.values():
        reader.close()


def test_every_reader_pickles_as_its_path_and_reads_in_a_fresh_process(readers):
    for found in pickle_readers(readers, SAMPLES).values():
        assert found.nbytes < 300
        assert found.error == ""
        assert found.fresh == Outcomes(right=20)


def test_state_of_readers_works_elsewhere_only_without_handles(readers):
    found = pickle_readers(readers, SAMPLES, state=True)
    assert "BufferedReader" in found["StoredZip"].error
    assert "cannot pickle the open file" in found["FlatFile"].error
    assert found["FlatMap"].nbytes > sum(len(sample.data) for sample in SAMPLES)  # the whole map
    assert found["FlatMap"].fresh == Outcomes(right=20)
