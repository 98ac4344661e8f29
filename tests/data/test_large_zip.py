import zipfile

from course_utils.data.large_zip import write_many_members
from course_utils.data.zip_index import ZipIndex


def test_zipfile_and_zip_index_read_the_same_members(tmp_path):
    write_many_members(tmp_path / "many.zip", 70_000)  # needs zip64: more than 16 bits can count
    index = ZipIndex(tmp_path / "many.zip")
    with zipfile.ZipFile(tmp_path / "many.zip") as archive:
        assert len(archive.namelist()) == len(index) == 70_000
        for i in (0, 1, 69_999):
            assert bytes(index.read(i)) == archive.read(index.name(i)) == index.name(i).encode()
