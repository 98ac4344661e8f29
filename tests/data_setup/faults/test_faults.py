"""Fail, shorten or kill a command at its calls that change a file, or cut the power there.

The same command without the fault must then make the same bytes; with it, it may end only by an error in one
line, or with status 0 and everything made.
"""

import os
import tempfile
from pathlib import Path

import pytest

from tests.data_setup.faults.injection import compiled, ext4, inject
from tests.data_setup.faults.request import FAULTS, Request
from tests.data_setup.faults.scenarios import SCENARIOS

MEMORY = Path("/dev/shm")
STRIDE = 3  # a call in three: a command makes the same calls for each image


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return compiled(tmp_path_factory.mktemp("library"))


@pytest.fixture
def memory(tmp_path):
    """A folder in memory if there is one: flushing a real disk thousands of times takes minutes."""
    with tempfile.TemporaryDirectory(dir=MEMORY if os.access(MEMORY, os.W_OK) else tmp_path) as folder:
        yield Path(folder)


def problems(library, folder, tmp_path, scenario, **options):
    request = Request(str(folder), str(tmp_path / "log"), scenario, **options)
    return inject(library, "tests.data_setup.faults.runner", request._asdict(), least=18)


def test_faults_at_some_calls_lose_nothing(library, memory, tmp_path):
    assert problems(library, memory, tmp_path, "photos", in_turn=FAULTS, stride=6) == []


@pytest.mark.proof
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_kill_and_an_error_at_many_calls_lose_nothing(library, memory, tmp_path, scenario):
    with ext4(memory / "disk") as folder:
        kinds = {"always": ["kill"], "in_turn": FAULTS[1:]}
        assert problems(library, folder, tmp_path, scenario, stride=STRIDE, **kinds) == []


@pytest.mark.proof
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_power_cuts_at_many_calls_lose_nothing(library, memory, tmp_path, scenario):
    disk = memory / "disk"
    with ext4(disk) as folder:
        assert problems(library, folder, tmp_path, scenario, image=str(disk), stride=STRIDE) == []


def test_power_cuts_at_some_calls_and_after_success_lose_nothing(library, memory, tmp_path):
    disk = memory / "disk"
    with ext4(disk) as folder:
        assert problems(library, folder, tmp_path, "photos", image=str(disk), stride=40) == []
