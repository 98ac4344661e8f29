"""How many samples are left of a writer that was killed."""

import pytest

from course_utils.format_trials import FACTS, kill_writer
from tests.format_trials.trial_samples import ALL, drawn, installed

AT = 123
SAMPLES = drawn(130)
# What a writer holds in a buffer of 8 KiB or of one batch is lost.
READABLE = {"Tar": range(AT - 4, AT + 1), "Lmdb": range(100, 101)}
RECOVERED = {"TfRecord": range(AT - 6, AT + 1), "ArrowMap": range(100, 101), **READABLE}
NONE = range(1)


@pytest.mark.parametrize("name", ALL)
def test_samples_that_a_killed_writer_leaves(name):
    found = kill_writer(installed(name), SAMPLES, AT)
    assert found.written == AT
    assert found.readable in READABLE.get(name, NONE)
    assert found.recovered in RECOVERED.get(name, NONE)
    assert bool(found.error) == (name != "Lmdb")
    # Of single files, a reader misses the list only.
    assert bool(found.recovered) == (FACTS[name].survives_kill and name != "SingleFiles")


def test_killed_writer_leaves_no_temporary_files(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    kill_writer(installed("Squashfs"), SAMPLES, AT)
    assert not list(tmp_path.iterdir())
