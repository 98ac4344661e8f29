from contextlib import closing

from course_utils.format_trials import TarMembers
from tests.format_trials.trial_samples import drawn


def test_members_are_read_in_any_order(tmp_path):
    samples = drawn(9)
    TarMembers.write(tmp_path / "packed", samples)
    with closing(TarMembers(tmp_path / "packed")) as reader:
        assert len(reader) == 9
        assert [reader.read(i) for i in (8, 0, 3)] == [samples[i] for i in (8, 0, 3)]


def test_empty_tar_has_no_members(tmp_path):
    TarMembers.write(tmp_path / "packed", [])
    with closing(TarMembers(tmp_path / "packed")) as reader:
        assert len(reader) == 0
