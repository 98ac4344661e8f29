import os

from course_utils.system.fork import in_child
from course_utils.system.open_files import file_positions


def test_finds_every_descriptor_of_file_with_its_position(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"0123456789")
    with path.open("rb", buffering=0) as one, path.open("rb", buffering=0) as other:
        one.read(3)
        assert file_positions(path) == {one.fileno(): 3, other.fileno(): 0}
    assert file_positions(path) == {}


def test_read_in_child_moves_parents_position_but_pread_does_not(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"0123456789")
    with path.open("rb", buffering=0) as file:
        in_child(os.pread, file.fileno(), 4, 2)
        assert file_positions(path) == {file.fileno(): 0}
        in_child(file.read, 4)
        assert file_positions(path) == {file.fileno(): 4}
