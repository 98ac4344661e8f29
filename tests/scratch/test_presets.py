import datetime
from pathlib import Path

import pytest

from course_utils.scratch.presets import EXPIRIES, PRESETS, ScratchError, expiry_of, find_scratch


@pytest.mark.parametrize("preset", [*PRESETS.values(), *EXPIRIES])
def test_each_preset_has_a_source_and_a_date(preset):
    assert preset.url.startswith("https://")
    assert datetime.date.fromisoformat(preset.read)


def test_a_folder_that_is_emptied_by_age_is_told():
    assert "older than 6 days" in expiry_of(Path("/scratch-local/ann/data"))
    assert "older than 14 days" in expiry_of(Path("/scratch-shared"))
    assert not expiry_of(Path("/scratch-locally"))


def test_a_variable_of_the_job_is_found(tmp_path):
    assert find_scratch({"TMPDIR": str(tmp_path)}, "snellius") == tmp_path
    assert find_scratch({"SLURM_TMPDIR": str(tmp_path), "TMPDIR": "/tmp"}) == tmp_path


def test_a_variable_that_names_no_folder_is_passed_over(tmp_path):
    assert find_scratch({"SLURM_TMPDIR": "/no/such", "TMPDIR": str(tmp_path)}) == tmp_path


@pytest.mark.parametrize(
    ("environment", "preset", "told"),
    [
        ({}, "snellius", "constraint=scratch-node"),
        ({}, "alliance-canada", "SLURM_TMPDIR is not set"),
        ({"TMPDIR": "/no/such"}, "snellius", "no folder /no/such"),
        ({}, "mars", "there are snellius"),
    ],
)
def test_what_is_missing_is_told(environment, preset, told):
    with pytest.raises(ScratchError, match=told):
        find_scratch(environment, preset)
