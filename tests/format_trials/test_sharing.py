"""Which opened readers can be shared by processes and threads."""

import os
import time
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from course_utils.format_trials import FACTS, Outcomes, TarMembers, share_by_fork, share_by_threads, sharing
from course_utils.formats import RandomAccess, Sample
from tests.format_trials.trial_samples import RANDOM, drawn, random_access

SAMPLES = drawn(60, 20_000)
SHARED_POSITION = {"StoredZip": "errors", "TarMembers": "wrong in silence"}


class Broken(RandomAccess):
    """A reader whose every read does something else."""

    def __init__(self, read):
        super().__init__(Path())
        self._act = read

    @classmethod
    def write(cls, path, samples):
        raise NotImplementedError

    def __len__(self):
        return len(SAMPLES)

    def read(self, index: int) -> Sample:
        return self._act(index)


def packed(kind: type[RandomAccess], folder: Path) -> partial[RandomAccess]:
    kind.write(folder / "packed", SAMPLES)
    return partial(kind, folder / "packed")


@pytest.mark.parametrize("name", RANDOM)
def test_forked_workers_share_what_has_no_position(name, tmp_path):
    found = share_by_fork(packed(random_access(name), tmp_path), SAMPLES, reads=60, rounds=2)
    assert found.verdict == SHARED_POSITION.get(name, "right")
    assert found.all_right or not FACTS[name].before_fork  # a trial that passes is no permission


def test_forked_workers_get_other_samples_from_a_tar(tmp_path):
    assert share_by_fork(packed(TarMembers, tmp_path), SAMPLES).verdict == "wrong in silence"


@pytest.mark.proof
@pytest.mark.parametrize("kind", [random_access("StoredZip"), TarMembers])
def test_shared_position_fails_every_time(kind, tmp_path):
    trials = [share_by_fork(packed(kind, tmp_path), SAMPLES, rounds=1)]
    trials += [share_by_fork(partial(kind, tmp_path / "packed"), SAMPLES, rounds=1) for _ in range(39)]
    assert {one.verdict for one in trials} == {SHARED_POSITION[kind.__name__]}


@pytest.mark.proof
@pytest.mark.parametrize("name", RANDOM)
def test_threads_share_a_reader(name, tmp_path):
    found = share_by_threads(packed(random_access(name), tmp_path), SAMPLES, reads=60, rounds=2)
    assert found.verdict == "right"


@pytest.mark.proof
def test_four_threads_read_parquet(tmp_path):
    found = share_by_threads(packed(random_access("Parquet"), tmp_path), SAMPLES, workers=4, rounds=16)
    assert found.all_right


def one_parquet_file(path: Path) -> RandomAccess:
    """Open Parquet as our reader does not: its first file is that of all threads."""
    reader = random_access("Parquet")(path)
    reader._opened = SimpleNamespace(file=reader._file)
    return reader


@pytest.mark.proof
def test_threads_that_share_a_parquet_file_fail(tmp_path):
    """It reads ahead by default (`pre_buffer`), into what the other thread is reading from."""
    random_access("Parquet").write(tmp_path / "packed", SAMPLES)
    found = share_by_threads(partial(one_parquet_file, tmp_path / "packed"), SAMPLES, rounds=30)
    assert found.errors + found.lost
    assert not found.wrong


def test_threads_get_other_samples_from_a_tar(tmp_path):
    assert share_by_threads(packed(TarMembers, tmp_path), SAMPLES).verdict == "wrong in silence"


def test_each_read_of_each_worker_is_counted():
    broken = Broken(lambda index: SAMPLES[0])
    found = share_by_fork(lambda: broken, SAMPLES, workers=3, reads=50, rounds=2)
    assert found.total == 150
    assert found.right < found.wrong


def test_round_without_failure_is_repeated():
    right = Broken(lambda index: SAMPLES[index])
    assert share_by_fork(lambda: right, SAMPLES, workers=2, reads=5, rounds=4) == Outcomes(right=40)


def test_reads_of_a_worker_that_dies_are_lost():
    broken = Broken(lambda index: os._exit(1))
    assert share_by_fork(lambda: broken, SAMPLES, workers=2, reads=5) == Outcomes(lost=10)


def test_reads_of_a_worker_that_hangs_are_lost(monkeypatch):
    monkeypatch.setattr(sharing, "TIMEOUT", 0.1)
    broken = Broken(lambda index: time.sleep(60))
    assert share_by_fork(lambda: broken, SAMPLES, workers=2, reads=5) == Outcomes(lost=10)
    assert share_by_threads(lambda: broken, SAMPLES, workers=2, reads=5) == Outcomes(lost=10)
