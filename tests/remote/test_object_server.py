"""The server speaks HTTP as its clients expect, and counts what it was asked for."""

import http.client
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import psutil
import pytest

from course_utils.remote import Fault, ObjectServer, RangeReader, Requests
from tests.remote.served import CONTENT, NAME

SIZE = len(CONTENT)


def ask(server, target, method="GET", connection=None, **headers):
    ours = connection or http.client.HTTPConnection("127.0.0.1", urlsplit(server.url()).port)
    try:
        ours.request(method, target, headers=headers)
        with ours.getresponse() as answer:
            return answer.status, answer.headers, answer.read()
    finally:
        if connection is None:
            ours.close()


def of_photos(server, method="GET", **headers):
    return ask(server, urlsplit(server.url(NAME)).path, method, **headers)


@pytest.mark.parametrize(
    ("asked", "start", "stop"),
    [
        ("bytes=0-0", 0, 1),
        ("bytes=100-299", 100, 300),
        (f"bytes={SIZE - 5}-", SIZE - 5, SIZE),
        ("bytes=-7", SIZE - 7, SIZE),
        (f"bytes={SIZE - 3}-{SIZE + 100}", SIZE - 3, SIZE),
        (f"bytes=-{SIZE + 1}", 0, SIZE),
    ],
)
def test_range_is_answered_with_206(server, asked, start, stop):
    status, headers, body = of_photos(server, Range=asked)
    assert (status, body) == (206, CONTENT[start:stop])
    assert headers["Content-Range"] == f"bytes {start}-{stop - 1}/{SIZE}"


@pytest.mark.parametrize("asked", ["bytes=0-1,5-6", "lines=1-2", "bytes=-"])
def test_what_is_no_single_range_is_answered_with_the_whole(server, asked):
    assert of_photos(server, Range=asked)[::2] == (200, CONTENT)


@pytest.mark.parametrize("asked", [f"bytes={SIZE}-", f"bytes={SIZE + 5}-{SIZE + 9}", "bytes=9-5"])
def test_range_outside_is_answered_with_416(server, asked):
    status, headers, body = of_photos(server, Range=asked)
    assert (status, headers["Content-Range"], body) == (416, f"bytes */{SIZE}", b"")


def test_head_has_the_headers_without_the_body(server):
    status, headers, body = of_photos(server, "HEAD")
    assert (status, headers["Content-Length"], headers["Accept-Ranges"], body) == (
        200,
        str(SIZE),
        "bytes",
        b"",
    )


@pytest.mark.parametrize(
    "target", ["/none", "/", "/../secret", "/%2e%2e/secret", "//etc/passwd", "/link", "/%00"]
)
def test_nothing_outside_the_folder_is_served(folder, target):
    (folder.parent / "secret").write_text("secret")
    (folder / "link").symlink_to(folder.parent / "secret")
    with ObjectServer(folder, delay_ms=0) as server:
        assert ask(server, target)[0] == 404
        assert ask(server, target, "PUT")[0] == 405


def test_connection_is_kept_alive(server):
    connection = http.client.HTTPConnection("127.0.0.1", urlsplit(server.url()).port)
    target = urlsplit(server.url(NAME)).path
    assert ask(server, target, connection=connection, Range="bytes=0-9")[2] == CONTENT[:10]
    first = connection.sock
    assert ask(server, "/none", connection=connection)[0] == 404
    assert ask(server, target, connection=connection, Range="bytes=10-19")[2] == CONTENT[10:20]
    assert connection.sock is first
    connection.close()


@pytest.mark.parametrize("sent", [b"hello\r\n\r\n", b"GET / HTTP/1.1\r\n", b"\x16\x03\x01\r\n\r\n", b""])
def test_who_speaks_something_else_disturbs_nobody(server, sent):
    with socket.create_connection(("127.0.0.1", urlsplit(server.url()).port)) as sock:
        sock.sendall(sent)
        sock.shutdown(socket.SHUT_WR)
        assert sock.recv(100) == b""
    assert of_photos(server)[2] == CONTENT


def test_record_counts_requests_bytes_and_those_in_flight(folder):
    with ObjectServer(folder, delay_ms=50) as server, ThreadPoolExecutor(5) as pool:
        answers = list(pool.map(lambda k: of_photos(server, Range=f"bytes={k}-{k + 99}"), range(5)))
        assert [body for _, _, body in answers] == [CONTENT[k : k + 100] for k in range(5)]
        record = server.reset()
        assert (record.count, record.bytes) == (5, 500)
        assert 2 <= record.most_in_flight <= 5
        assert server.record() == Requests(0, 0, 0)
        of_photos(server, "HEAD")
        assert server.record() == Requests(1, 0, 1)


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(NotADirectoryError, match="none is no folder"):
        ObjectServer(tmp_path / "none")


def test_a_server_that_has_ended_says_so(folder):
    with ObjectServer(folder) as server:
        pass
    with pytest.raises(RuntimeError, match="the server has ended"):
        server.record()


@pytest.mark.parametrize("fault", [{"kind": "fire"}, {"kind": "busy", "every": 0}])
def test_there_is_no_other_fault(fault):
    with pytest.raises(ValueError, match="the kinds are busy, short"):
        Fault(**fault)


SCRIPT = """
import sys, time
from course_utils.remote import ObjectServer
with ObjectServer(sys.argv[1]) as server:
    print(server._process.pid, server.url(), flush=True)
    time.sleep(60)
"""


def test_server_ends_with_a_process_that_is_killed(folder):
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(folder)], stdout=subprocess.PIPE, text=True
    ) as owner:
        pid, url = owner.stdout.readline().split()
        owner.send_signal(signal.SIGKILL)
    for _ in range(200):
        if not psutil.pid_exists(int(pid)) or psutil.Process(int(pid)).status() == psutil.STATUS_ZOMBIE:
            break
        time.sleep(0.05)
    else:
        pytest.fail("the server is still there")
    with pytest.raises(OSError, match="is the server there"):
        RangeReader(f"{url}{NAME}", retries=0).read_at(0, 1)
