"""Requests to a server are counted in a fetch, of any client that uses Python's `http.client`."""

import http.client
import threading
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from course_utils.diagnosis.record import operations


class Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def do_POST(self) -> None:
        self.do_GET()

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def port() -> Iterator[int]:
    operations.install()
    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


def get(port: int, number: int = 0) -> bytes:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/{number}") as answer:
        return answer.read()


def test_each_request_counts_once(port: int):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    before = operations.start()
    for method, body in (("GET", None), ("GET", None), ("POST", b"a body")):
        connection.request(method, "/", body)
        assert connection.getresponse().read() == b"ok"
    assert get(port) == b"ok"
    assert operations.stop(before)["requests"] == 4
    connection.close()


def test_requests_of_other_threads_count_while_a_fetch_runs(port: int):
    before = operations.start()
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(get, [port] * 8, range(8))) == [b"ok"] * 8
    assert operations.stop(before)["requests"] == 8


def test_nothing_is_counted_outside_of_a_fetch(port: int):
    before = operations.start()
    operations.stop(before)
    get(port)
    assert operations.stop(before)["requests"] == 0


def test_clients_that_cannot_be_seen_are_named(monkeypatch):
    monkeypatch.setattr(operations, "UNSEEN", ("http.client", "no_such_client"))
    assert operations.unseen_clients() == ["http.client"]
