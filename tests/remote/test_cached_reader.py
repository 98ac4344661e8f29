"""Pieces on scratch: fetched once, checked, shared by processes, and never of another object."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest

from course_utils.remote import CachedReader, RangeReader, Requests
from course_utils.system import in_child
from tests.remote.served import CONTENT, NAME

PIECE = 1000
RANGES = [(990, 20), (0, 1), (99_500, 500), (2000, 1000), (5500, 2100), (7, 0)]
EXPECTED = [CONTENT[offset : offset + length] for offset, length in RANGES]


@pytest.fixture
def cached(reader, tmp_path):
    return CachedReader(reader, tmp_path / "scratch", PIECE)


def pieces(cached):
    return sorted(cached.folder.iterdir())


def test_a_piece_is_fetched_once(server, cached):
    assert cached.read_many(RANGES) == EXPECTED
    assert (len(pieces(cached)), server.reset().bytes) == (7, 7 * PIECE + 1)  # one byte says how large it is
    assert cached.read_many(RANGES) == EXPECTED
    assert [cached.read_at(*one) for one in RANGES] == EXPECTED
    assert server.record().count == 0


def test_a_later_process_finds_them(server, cached, tmp_path):
    cached.read_many(RANGES)
    server.reset()
    again = CachedReader(RangeReader(server.url(NAME)), tmp_path / "scratch", PIECE)
    assert again.read_many(RANGES) == EXPECTED
    assert server.record() == Requests(1, 1, 1)  # is it still the same object?
    assert pickle.loads(pickle.dumps(cached)).read_many(RANGES) == EXPECTED
    assert server.record().count == 1


def test_near_pieces_share_requests(server, cached):
    assert cached.read_many([(0, 5000), (20_000, 1)], gap=0)[0] == CONTENT[:5000]
    assert server.record().count == 1 + 2


@pytest.mark.parametrize("damage", [lambda data: data[:-1], lambda data: b"", lambda data: b"x" + data[1:]])
def test_a_damaged_piece_is_fetched_again(server, cached, damage):
    cached.read_many(RANGES)
    server.reset()
    for path in pieces(cached):
        path.write_bytes(damage(path.read_bytes()))
    assert cached.read_many(RANGES) == EXPECTED
    assert server.reset().count == 7
    assert cached.read_many(RANGES) == EXPECTED
    assert server.record().count == 0


def test_other_objects_and_sizes_have_other_pieces(folder, server, cached, reader):
    cached.read_many(RANGES)
    assert CachedReader(reader, cached.folder, PIECE // 2).read_many(RANGES) == EXPECTED
    (folder / NAME).write_bytes(CONTENT[::-1])
    other = CachedReader(RangeReader(server.url(NAME)), cached.folder, PIECE)
    assert other.read_at(0, 50) == CONTENT[::-1][:50]


def test_a_folder_that_cannot_be_written_keeps_nothing(server, cached, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("course_utils.remote.cached_reader.write_atomically", full)
    assert cached.read_many(RANGES) == cached.read_many(RANGES) == EXPECTED
    assert pieces(cached) == []


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_processes_share_a_folder(cached):
    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(lambda _: in_child(cached.read_many, RANGES), range(3))) == [EXPECTED] * 3
    assert all(path.name[0] != "." for path in pieces(cached))


def test_ranges_outside_and_empty_pieces_are_refused(cached):
    with pytest.raises(ValueError, match="does not lie within"):
        cached.read_at(len(CONTENT) - 1, 2)
    with pytest.raises(ValueError, match="a piece of 0 bytes"):
        CachedReader(cached.reader, cached.folder, 0)
    with pytest.raises(ValueError, match="does not lie within"):
        cached.read_at(-5, 2)
    assert cached.read_many([]) == []
