"""Fail, shorten or kill a command at each of its calls that changes a file, or cut the power there.

The same command without the fault must then make the same bytes; with it, it may end only by an error in one
line, or with status 0 and everything made.
"""

import os
import tempfile
from pathlib import Path

import pytest

from tests.data_setup.faults.fuse_passthrough import mounted
from tests.data_setup.faults.injection import ERRORS, compiled, ext4, inject
from tests.data_setup.faults.scenarios import SCENARIOS

MEMORY = Path("/dev/shm")


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return compiled(tmp_path_factory.mktemp("library"))


@pytest.fixture
def memory(tmp_path):
    """A folder in memory if there is one: flushing a real disk thousands of times takes minutes."""
    with tempfile.TemporaryDirectory(dir=MEMORY if os.access(MEMORY, os.W_OK) else tmp_path) as folder:
        yield Path(folder)


def test_faults_at_some_calls_lose_nothing(library, memory, tmp_path):
    assert inject(library, memory, tmp_path / "log", "photos", [], ["kill", *ERRORS], stride=6) == []


@pytest.mark.proof
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_kill_and_two_errors_at_every_call_on_ext4_lose_nothing(library, memory, tmp_path, scenario):
    with ext4(memory / "disk") as folder:
        assert inject(library, folder, tmp_path / "log", scenario, ["kill", "EIO"], ERRORS[1:]) == []


@pytest.mark.proof
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_kills_and_errors_on_fuse_lose_nothing(library, memory, tmp_path, scenario):
    """Fewer, because each call takes long."""
    (memory / "behind").mkdir()
    try:
        with mounted(memory / "behind", memory / "point") as folder:
            found = inject(library, folder, tmp_path / "log", scenario, [], ["kill", *ERRORS], stride=3)
            assert found == []
    except OSError as error:
        pytest.skip(f"a FUSE filesystem needs Linux and root: {error}")


@pytest.mark.proof
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_power_cuts_lose_nothing(library, memory, tmp_path, scenario):
    disk = memory / "disk"
    with ext4(disk) as folder:
        log = tmp_path / "log"
        assert inject(library, folder, log, scenario, ["stop"], [], stride=5, image=str(disk)) == []


def test_power_cut_after_success_loses_nothing(library, memory, tmp_path):
    disk = memory / "disk"
    with ext4(disk) as folder:
        log = tmp_path / "log"
        assert inject(library, folder, log, "photos", ["stop"], [], stride=40, image=str(disk)) == []
