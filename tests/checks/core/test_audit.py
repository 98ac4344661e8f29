import os
import subprocess
import sys
from pathlib import Path

from course_utils.checks.core.audit import watching


def test_it_notes_openings_listings_and_looks_in_the_folder(tmp_path):
    (tmp_path / "a.txt").write_text("a")
    with watching(tmp_path) as seen:
        Path(tmp_path / "a.txt").read_text()
        os.listdir(tmp_path)  # noqa: PTH208
        os.path.exists(tmp_path / "a.txt")  # noqa: PTH110
    assert seen == [["open", "a.txt"], ["list", ""], ["stat", "a.txt"]]


def test_it_does_not_note_what_happens_elsewhere_or_later(tmp_path):
    (tmp_path / "inside").mkdir()
    with watching(tmp_path / "inside") as seen:
        os.listdir(tmp_path)  # noqa: PTH208
    os.listdir(tmp_path / "inside")  # noqa: PTH208
    assert seen == []


def test_it_notes_a_command_that_could_read_unseen(tmp_path):
    with watching(tmp_path) as seen:
        subprocess.run([sys.executable, "-c", ""], check=True)
    assert ["process", ""] in seen
    assert os.stat.__name__ == "stat"
