import os
import subprocess
import sys
from pathlib import Path

from course_utils.checks.core.audit import record_file_events


def test_open_list_and_stat_in_the_folder_are_recorded(tmp_path):
    (tmp_path / "a.txt").write_text("a")
    with record_file_events(tmp_path) as events:
        Path(tmp_path / "a.txt").read_text()
        os.listdir(tmp_path)  # noqa: PTH208
        os.path.exists(tmp_path / "a.txt")  # noqa: PTH110
    assert events == [["open", "a.txt"], ["list", ""], ["stat", "a.txt"]]


def test_operations_elsewhere_or_later_are_not_recorded(tmp_path):
    (tmp_path / "inside").mkdir()
    with record_file_events(tmp_path / "inside") as events:
        os.listdir(tmp_path)  # noqa: PTH208
    os.listdir(tmp_path / "inside")  # noqa: PTH208
    assert events == []


def test_started_command_is_recorded(tmp_path):
    with record_file_events(tmp_path) as events:
        subprocess.run([sys.executable, "-c", ""], check=True)
    assert ["process", ""] in events


def test_stat_is_restored(tmp_path):
    before = os.stat
    with record_file_events(tmp_path):
        assert os.stat is not before
    assert os.stat is before
