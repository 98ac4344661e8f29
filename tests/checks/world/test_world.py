"""A world answers every process of a student, keeps its record to itself, and survives hostile bytes."""

import multiprocessing
import os
import socket
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_utils.checks.world import server, state
from course_utils.checks.world.handle import Handle, WorldError, _Connection
from course_utils.checks.world.messages import PREFIX, Call, Reply, encode, framed, receive
from course_utils.checks.world.server import open_world
from course_utils.checks.world.state import BaseWorld, Oracle, served
from course_utils.system import in_child

REQUEST = encode(Call("item", msgspec.Raw(encode((0,)))))


class Shelf(BaseWorld):
    def __init__(self) -> None:
        self.asked: list[tuple[int, int]] = []
        self.secret = "key"

    @served
    def item(self, index: int) -> int:
        self.asked.append((self.caller, index))
        return [10, 11, 12][index]

    @served
    def nothing(self) -> None:
        """Do nothing."""

    def not_served(self) -> str:
        return self.secret


@pytest.fixture
def shelf():
    return Shelf()


@pytest.fixture
def handle(shelf):
    with open_world(shelf) as handle:
        yield handle


def ask(handle, index):
    return os.getpid(), handle.item(index)


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("start_method", ["fork", "spawn"])
def test_child_asks_over_a_connection_of_its_own(shelf, handle, start_method):
    assert handle.item(0) == 10
    with multiprocessing.get_context(start_method).Pool(1) as pool:
        child, value = pool.apply(ask, (handle, 1))
    assert (value, handle.item(2)) == (11, 12)
    assert shelf.asked == [(os.getpid(), 0), (child, 1), (os.getpid(), 2)]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux knows who sent a message")
def test_caller_is_who_sends_not_who_connected(shelf, handle):
    remote = Handle(handle._address)

    def connect() -> None:
        with socket.socket(socket.AF_UNIX) as sock:
            sock.connect(handle._address)
            socket.send_fds(theirs, [b"!"], [sock.fileno()])

    ours, theirs = socket.socketpair()
    with ours, theirs:
        in_child(connect)
        _, [descriptor], *_ = socket.recv_fds(ours, 1, 1)
    remote._own.connection, remote._own.process = _Connection.__new__(_Connection), os.getpid()
    remote._own.connection._socket = socket.socket(fileno=descriptor)
    assert remote.item(1) == 11
    assert shelf.asked == [(os.getpid(), 1)]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux knows who sent a message")
def test_request_that_two_processes_send_together_is_refused(shelf, handle):
    with socket.socket(socket.AF_UNIX) as sock:
        sock.settimeout(30)
        sock.connect(handle._address)
        sock.sendall(framed(REQUEST)[:7])
        in_child(sock.sendall, framed(REQUEST)[7:])
        with pytest.raises(OSError, match=r"closed|reset"):
            receive(sock)
    assert shelf.asked == []


def test_threads_do_not_mix_up_replies(handle):
    remote = Handle(handle._address)
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(remote.item, [0, 1, 2] * 50)) == [10, 11, 12] * 50


@pytest.mark.parametrize("method", ["not_served", "secret", "answer", "__init__", "asked"])
def test_only_served_methods_can_be_called(handle, method):
    with pytest.raises(WorldError, match="KeyError"):
        handle.call(method)


@pytest.mark.parametrize("arguments", [(), ("0",), (None,), (0.5,), (0, 0), ([0],), (True,)])
def test_arguments_of_other_types_are_refused(shelf, handle, arguments):
    with pytest.raises(WorldError, match="ValidationError"):
        handle.item(*arguments)
    assert shelf.asked == []


def test_exception_of_a_world_is_an_error_of_its_caller(handle):
    with pytest.raises(WorldError, match="IndexError"):
        handle.item(3)
    assert handle.nothing() is None


calls = st.builds(Call, st.sampled_from(["item", "nothing", "x"]), st.binary(max_size=20).map(msgspec.Raw))


@given(st.binary(max_size=200) | calls.map(encode))
def test_no_request_raises_in_the_judges_process(request):
    reply = msgspec.msgpack.decode(Shelf().answer(request, 0), type=Reply)
    assert reply.error or request == encode(Call("nothing", msgspec.Raw(encode(()))))


@pytest.mark.parametrize(
    "hostile", [b"\xff" * PREFIX, framed(b"garbage"), framed(b""), b"\xff\xff\x00\x00" + b"x" * 100, b"x"]
)
def test_hostile_connection_does_not_disturb_another(handle, hostile):
    with socket.socket(socket.AF_UNIX) as sock:
        sock.connect(handle._address)
        sock.sendall(hostile)
        assert Handle(handle._address).item(0) == 10


def test_caller_that_reads_no_replies_is_disconnected(handle):
    with socket.socket(socket.AF_UNIX) as sock:
        sock.settimeout(30)
        sock.connect(handle._address)
        with pytest.raises(OSError, match=r"Broken pipe|reset"):
            sock.sendall(framed(REQUEST) * 10**6)
    assert Handle(handle._address).item(0) == 10


@pytest.mark.parametrize(("limit", "value"), [("MAX_CALLS", 10), ("MAX_TOTAL_BYTES", 10 * len(REQUEST))])
def test_flood_of_calls_ends_with_an_error(shelf, handle, monkeypatch, limit, value):
    monkeypatch.setattr(state, limit, value)
    remote = Handle(handle._address)
    with pytest.raises(WorldError, match="too many operations"):
        list(map(remote.item, [0] * 20))
    assert (len(shelf.asked), shelf.overloaded) == (10, True)
    with pytest.raises(WorldError, match="does not answer"):
        remote.item(0)


def test_flood_of_connections_ends_the_serving(shelf, handle, monkeypatch):
    monkeypatch.setattr(server, "MAX_ACCEPTED", 10)
    with pytest.raises(WorldError, match="does not answer"):
        [Handle(handle._address).item(0) for _ in range(20)]
    assert (len(shelf.asked), shelf.overloaded) == (10, True)


def test_record_does_not_change_after_the_end(shelf):
    stop = threading.Event()

    def flood(handle):
        while not stop.is_set():
            try:
                handle.item(0)
            except WorldError:
                return

    with open_world(shelf) as handle:
        remote = Handle(handle._address)
        thread = threading.Thread(target=flood, args=(remote,))
        thread.start()
        while not shelf.asked:
            pass
    before = len(shelf.asked)
    thread.join()
    stop.set()
    assert len(shelf.asked) == before
    with pytest.raises(WorldError, match="does not answer"):
        remote.item(0)


def test_receiving_from_a_closed_connection_is_an_error():
    one, other = socket.socketpair()
    other.close()
    with one, pytest.raises(ConnectionError):
        receive(one)


def test_oracle_depends_on_key_and_question():
    numbers = {
        Oracle(key).number(2**60, *question) for key in (b"a", b"b") for question in ((0,), (1,), (0, 1))
    }
    assert len(numbers) == 6
    assert Oracle(b"a").number(100, 0) == Oracle(b"a").number(100, 0)
