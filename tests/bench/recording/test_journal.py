"""A benchmark that was killed keeps what it has measured."""

import pytest

from tests.bench.recording.journal import Journal


class Measured:
    def __init__(self):
        self.names = []

    def __call__(self, journal, *names):
        return [
            journal.once(name, lambda name=name: self.names.append(name) or {"of": name}) for name in names
        ]


@pytest.fixture
def measured():
    return Measured()


def test_result_is_measured_once(tmp_path, measured):
    for _ in range(2):
        assert measured(Journal(tmp_path / "journal", {"images": 3}), "a", "b") == [{"of": "a"}, {"of": "b"}]
    assert measured.names == ["a", "b"]


def test_results_of_other_settings_are_discarded(tmp_path, measured):
    for images in (3, 4, 3):
        measured(Journal(tmp_path / "journal", {"images": images}), "a")
    assert measured.names == ["a", "a", "a"]


def test_killed_benchmark_measures_only_what_was_not_written_completely(tmp_path):
    path = tmp_path / "journal"
    Measured()(Journal(path, {"images": 3}), "a", "b")
    whole = path.read_bytes()
    first_result_ends = len(b"".join(whole.splitlines(keepends=True)[:2]))
    for end in range(len(whole)):
        path.write_bytes(whole[:end])
        again = Measured()
        assert again(Journal(path, {"images": 3}), "a", "b") == [{"of": "a"}, {"of": "b"}]
        assert again.names == (["a", "b"] if end < first_result_ends else ["b"])
        assert path.read_bytes() == whole
