"""What a disk does wrong is retried, then an OSError that names the file, and never a broken sample."""

import errno
import json
from hashlib import sha256
from shutil import copytree

import pytest

from course_utils.system import transient_errors
from course_utils.system.transient_errors import PAUSES
from tests.data.failing_disk import READERS, Disk
from tests.image_set import COUNT

PACKED = [reader for reader in READERS if "files" not in reader]


@pytest.fixture
def top(image_set, tmp_path):
    top = copytree(image_set, tmp_path / "set")
    files = {
        f"{path.parent.name}/{path.name}": {"sha256": sha256(path.read_bytes()).hexdigest()}
        for path in top.glob("*/*")
    }
    (top / "manifest.json").write_text(json.dumps({"files": files}))
    return top


@pytest.fixture
def disk(monkeypatch):
    monkeypatch.setattr(transient_errors, "PAUSES", (0.0,) * len(PAUSES))
    return Disk(monkeypatch)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("code", [errno.EIO, errno.ETIMEDOUT])
def test_error_that_passes_is_retried(top, disk, reader, code):
    expected = READERS[reader](top)()
    disk.code, disk.failures = code, 1
    read = READERS[reader](top)
    assert not disk.failures
    for failures in (1, len(PAUSES)):
        disk.failures = failures
        assert read() == expected
        assert not disk.failures


@pytest.mark.parametrize("reader", READERS)
def test_short_reads_are_continued(top, disk, reader):
    expected = READERS[reader](top)()
    disk.most = 1000
    read = READERS[reader](top)
    assert read() == expected


@pytest.mark.parametrize("reader", READERS)
def test_error_that_stays_names_the_file(top, disk, reader):
    read = READERS[reader](top)
    disk.failures = 10**9
    name = r"part0\.zip" if reader in PACKED else r"img00000000\.JPEG"
    with pytest.raises(OSError, match=rf"Input/output error: .*{name}"):
        read()


@pytest.mark.parametrize("reader", READERS)
def test_error_that_stays_while_opening_names_the_file(top, disk, reader):
    disk.failures = 10**9
    name = r"part0\.zip" if reader in PACKED else r"(validation_labels_10k\.txt|manifest\.json)"
    with pytest.raises(OSError, match=rf"Input/output error: .*{name}"):
        READERS[reader](top)


# Pillow and zipfile cannot tell it from damage.
@pytest.mark.parametrize("reader", [reader for reader in READERS if reader not in ("files", "zipfile")])
def test_disk_that_pretends_the_end_of_the_file_is_no_damage(top, disk, reader):
    read = READERS[reader](top)
    disk.most = 0
    with pytest.raises(OSError, match="a read ended early"):
        read()
    disk.most = None
    assert len(read()) == COUNT


@pytest.mark.parametrize("reader", [reader for reader in READERS if "files" in reader])
def test_file_that_vanished_is_no_broken_image(top, reader):
    read = READERS[reader](top)
    (top / "disk_transformed/img00000003.JPEG").unlink()
    with pytest.raises(FileNotFoundError, match=r"img00000003\.JPEG"):
        read()
