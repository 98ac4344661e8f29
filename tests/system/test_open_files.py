import os

from course_utils.system.fork import in_child
from course_utils.system.open_files import positions


def test_each_handle_on_the_file_is_found_with_its_position(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"0123456789")
    with path.open("rb", buffering=0) as one, path.open("rb", buffering=0) as other:
        one.read(3)
        assert positions(path) == {one.fileno(): 3, other.fileno(): 0}
    assert positions(path) == {}


def test_a_child_moves_its_parent_s_position_unless_it_reads_with_pread(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"0123456789")
    with path.open("rb", buffering=0) as file:
        in_child(os.pread, file.fileno(), 4, 2)
        assert positions(path) == {file.fileno(): 0}
        in_child(file.read, 4)
        assert positions(path) == {file.fileno(): 4}
