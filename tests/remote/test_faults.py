"""What goes wrong between a reader and a server: it is asked again, or an error says what to do."""

import errno
import socket
import threading

import pytest

from course_utils.remote import Fault, ObjectServer, RangeReader
from tests.remote.served import CONTENT, NAME
from tests.remote.store import Store

RANGES = [(k * 1500, 1000) for k in range(30)]
EXPECTED = [CONTENT[offset : offset + length] for offset, length in RANGES]


def with_faults(folder, *faults):
    return ObjectServer(folder, delay_ms=1, faults=faults)


def reader_of(server, **options):
    return RangeReader(server.url(NAME), **{"pause_s": 0.001, **options})


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("kind", ["busy", "short", "closed"])
def test_what_fails_now_and_then_is_asked_again(folder, kind, threads):
    with with_faults(folder, Fault(kind, every=3)) as server:
        reader = reader_of(server, threads=threads, retries=8)
        assert reader.read_many(RANGES) == EXPECTED
        record = server.record()
    assert record.count > 30
    if kind != "busy":  # what has arrived is not asked for again
        assert record.bytes == 30 * 1000


def test_several_faults_at_once(folder):
    with with_faults(
        folder, Fault("busy", every=3), Fault("short", every=4), Fault("closed", every=5)
    ) as server:
        assert reader_of(server, threads=4, retries=8).read_many(RANGES) == EXPECTED


def test_a_server_that_stays_busy_ends_in_an_error_that_says_what_to_do(folder):
    with with_faults(folder, Fault("busy", every=1)) as server:
        with pytest.raises(
            OSError, match=r"in 3 tries \(status 503\).*use fewer threads or more retries"
        ) as error:
            reader_of(server, retries=2).read_at(10, 20)
        assert (error.value.errno, error.value.filename) == (errno.EIO, server.url(NAME))
        assert server.record().count == 3
        with pytest.raises(OSError, match="1 tries"):
            reader_of(server, retries=0, threads=4).read_many(RANGES)


def test_bodies_that_are_always_cut_short_still_arrive(folder):
    with with_faults(folder, Fault("short", every=1)) as server:
        assert reader_of(server).read_at(0, 1000) == CONTENT[:1000]
        assert server.record().count > 5


def test_other_bytes_pass_a_reader_without_a_checksum(folder):
    with with_faults(folder, Fault("other_bytes", every=2, seed=7)) as server:
        found = reader_of(server).read_many(RANGES)
    wrong = [k for k, data in enumerate(found) if data != EXPECTED[k]]
    assert wrong == list(range(1, 30, 2))
    assert all(len(one) == 1000 for one in found)
    with with_faults(folder, Fault("other_bytes", every=2, seed=7)) as server:
        assert reader_of(server).read_many(RANGES) == found


def test_a_server_that_dies_ends_in_an_error(folder):
    with with_faults(folder) as server:
        reader = reader_of(server, threads=4, retries=2)
        assert reader.read_many(RANGES) == EXPECTED
        server._process.kill()
        server._process.wait()
        with pytest.raises(OSError, match=r"in 3 tries .*is the server there"):
            reader.read_many(RANGES)
        with pytest.raises(RuntimeError, match="has"):
            server.record()
        assert Store(server.url(NAME)).get(0, 5) == (503, b"")


def test_a_server_that_comes_back_is_asked_again(folder):
    """Connections that were open break: a new one is made."""
    with with_faults(folder) as server:
        reader = reader_of(server)
        reader.read_at(0, 10)
        for connection in reader._connections()._idle:
            connection.sock.shutdown(socket.SHUT_RDWR)
        assert reader.read_at(5, 10) == CONTENT[5:15]


def answers(*parts):
    """Serve one connection after the other with what is given for it, then close it."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        with listener:
            for part in parts:
                sock, _ = listener.accept()
                with sock:
                    sock.recv(65536)
                    sock.sendall(part)

    thread = threading.Thread(target=serve)
    thread.start()
    return f"http://127.0.0.1:{listener.getsockname()[1]}/x", thread


RIGHT = b"HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-3/10\r\nContent-Length: 4\r\n\r\nabcd"


@pytest.mark.parametrize(
    "first",
    [
        b"",
        b"no HTTP at all\r\n\r\n",
        b"HTTP/1.1 206 Par",
        b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: soon\r\nContent-Length: 3\r\n\r\nfew",
        b"HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-3/10\r\nContent-Length: 4\r\n\r\n",
        b"HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-3/10\r\nContent-Length: 0\r\n\r\n",
    ],
)
def test_anything_else_than_an_answer_is_asked_again(first):
    url, thread = answers(first, RIGHT)
    assert RangeReader(url, pause_s=0.001).read_at(0, 4) == b"abcd"
    thread.join()


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (RIGHT.replace(b"bytes 0-3", b"bytes 2-5"), "sends other bytes than 0 to 4"),
        (RIGHT.replace(b"/10", b"/*"), "does not say how large the object is"),
        (b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", "status 403, Forbidden"),
        (b"HTTP/1.1 301 Moved\r\nLocation: /y\r\nContent-Length: 0\r\n\r\n", "status 301"),
        (b"HTTP/1.1 299 Whatever\r\nContent-Length: 0\r\n\r\n", "an unknown status"),
    ],
)
def test_answers_that_no_retry_mends_are_errors_at_once(answer, message):
    url, thread = answers(answer)
    with pytest.raises(OSError, match=message):
        RangeReader(url, pause_s=0.001).read_at(0, 4)
    thread.join()


def test_a_server_that_says_nothing_is_given_up():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/x"
        with pytest.raises(OSError, match=r"in 2 tries .*timed out"):
            RangeReader(url, retries=1, timeout_s=0.05, pause_s=0.001).read_at(0, 4)


def test_a_pause_is_at_least_what_the_server_asks_for(monkeypatch):
    pauses = []
    monkeypatch.setattr("course_utils.remote.range_reader.time.sleep", pauses.append)
    busy = b"HTTP/1.1 503 Busy\r\nRetry-After: %d\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    url, thread = answers(busy % 2, busy % 0, busy % 0, busy % 10_000, RIGHT)
    assert RangeReader(url, pause_s=0.5).read_at(0, 4) == b"abcd"
    thread.join()
    assert pauses[0] == 2
    assert 0.5 <= pauses[1] <= 1 <= pauses[2] <= 2
    assert pauses[3] == 10
