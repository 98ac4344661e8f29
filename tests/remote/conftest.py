from pathlib import Path

import pytest

from course_utils.remote import ObjectServer, RangeReader
from tests.remote.served import CONTENT, NAME


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "served").mkdir()
    (tmp_path / "served" / NAME).write_bytes(CONTENT)
    return tmp_path / "served"


@pytest.fixture
def server(folder):
    with ObjectServer(folder, delay_ms=1) as server:
        yield server


@pytest.fixture
def reader(server):
    reader = RangeReader(server.url(NAME), threads=4, pause_s=0.001)
    yield reader
    reader.close()
