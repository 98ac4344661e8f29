"""A reader returns the bytes of ranges, whatever process or thread asks, and names what it cannot read."""

import http.server
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from course_utils.remote import ObjectServer, RangeReader
from course_utils.system import in_child
from tests.remote.served import CONTENT, EXPECTED, NAME, RANGES


def test_reads_any_range(reader):
    assert reader.size == len(CONTENT)
    assert reader.read_at(17, 1000) == CONTENT[17:1017]
    assert reader.read_at(0, len(CONTENT)) == CONTENT
    assert reader.read_at(5, 0) == b""


def test_the_first_read_needs_one_request(server, reader):
    reader.read_at(0, 10)
    assert server.record().count == 1
    assert reader.size == len(CONTENT)
    assert server.record().count == 1


@pytest.mark.parametrize("threads", [1, 4])
def test_reads_many_in_their_order_with_so_many_in_flight(folder, threads):
    with ObjectServer(folder, delay_ms=20) as server:
        reader = RangeReader(server.url(NAME), threads=threads)
        assert reader.read_many(RANGES) == EXPECTED
        record = server.record()
    assert (record.count, record.bytes) == (40, sum(length for _, length in RANGES))
    assert record.most_in_flight == 1 if threads == 1 else 2 <= record.most_in_flight <= 4


def test_near_ranges_share_requests(server, reader):
    assert reader.read_many(RANGES, gap=1000) == EXPECTED
    near = server.reset()
    assert reader.read_many(RANGES, gap=100_000) == EXPECTED
    assert server.record().count == 1 < near.count < 40
    assert reader.read_many([], gap=5) == reader.read_many([]) == []


def test_several_threads_share_its_limit(folder):
    with ObjectServer(folder, delay_ms=20) as server, ThreadPoolExecutor(6) as pool:
        reader = RangeReader(server.url(NAME), threads=3)
        assert list(pool.map(lambda one: reader.read_many([one, one])[1], RANGES)) == EXPECTED
        assert server.record().most_in_flight <= 3


def test_unpickled_reader_reads(reader):
    reader.read_at(0, 1)
    copy = pickle.loads(pickle.dumps(reader))
    assert (copy.identity, copy.threads, copy.read_many(RANGES)) == (reader.identity, 4, EXPECTED)
    copy.close()


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_forked_processes_read_at_the_same_time(reader):
    assert reader.read_many(RANGES) == EXPECTED  # connections are open
    with ThreadPoolExecutor(3) as pool:
        children = [pool.submit(in_child, reader.read_many, RANGES) for _ in range(3)]
        ours = reader.read_many(RANGES)
        assert [child.result() for child in children] == [EXPECTED] * 3
    assert ours == EXPECTED


def test_connections_are_kept_and_closed(reader):
    reader.read_many(RANGES)
    [connections] = reader._by_process.values()
    assert 1 <= len(connections._idle) <= 4
    sockets = [one.sock for one in connections._idle]
    assert reader.read_many(RANGES) == EXPECTED
    assert {one.sock for one in connections._idle} == set(sockets)
    reader.close()
    assert [sock.fileno() for sock in sockets] == [-1] * len(sockets)
    assert reader.read_at(0, 4) == CONTENT[:4]


@pytest.mark.parametrize("range_", [(len(CONTENT), 1), (len(CONTENT) - 5, 6), (10**12, 1), (-1, 5), (0, -1)])
def test_a_range_outside_is_refused(reader, range_):
    with pytest.raises(ValueError, match="does not lie within http"):
        reader.read_at(*range_)
    with pytest.raises(ValueError, match="does not lie within http"):
        reader.read_many([(0, 5), range_], gap=10)


def test_an_empty_object_has_no_bytes(folder, server):
    (folder / "empty").touch()
    reader = RangeReader(server.url("empty"))
    assert (reader.size, reader.read_at(0, 0)) == (0, b"")
    with pytest.raises(ValueError, match="which has 0 bytes"):
        reader.read_at(0, 1)


def test_a_missing_object_is_a_missing_file(server):
    with pytest.raises(FileNotFoundError, match="status 404, Not Found") as error:
        RangeReader(server.url("none")).read_at(0, 1)
    assert error.value.filename == server.url("none")
    assert server.record().count == 1


@pytest.mark.parametrize("url", ["", "file:///etc/passwd", "s3://bucket/key", "http:///none"])
def test_other_addresses_are_refused(url):
    with pytest.raises(ValueError, match="begins with http"):
        RangeReader(url)


def test_another_object_under_the_address_is_noticed(folder, reader):
    reader.read_at(0, 10)
    (folder / NAME).write_bytes(CONTENT[::-1])
    with pytest.raises(OSError, match="another object has this address now"):
        reader.read_at(20, 10)
    assert reader.__class__(reader.url).read_at(0, 10) == CONTENT[::-1][:10]


class WithoutRanges(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", str(len(CONTENT)))
        self.end_headers()
        self.wfile.write(CONTENT)

    def log_message(self, *_):
        pass


def test_a_server_without_ranges_is_named():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), WithoutRanges) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            with pytest.raises(OSError, match="the server sends no ranges; copy the object first"):
                RangeReader(f"http://127.0.0.1:{server.server_port}/x").read_at(0, 10)
        finally:
            server.shutdown()
            thread.join()
