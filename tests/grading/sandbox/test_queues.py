"""What sockets and pipes of a process hold is counted, also where no descriptor reaches it."""

import os
import socket
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from grading.sandbox.isolation import queues
from grading.sandbox.isolation.queues import HIDDEN_BYTES, queued_bytes

pytestmark = pytest.mark.skipif(not Path("/proc/self/fdinfo").exists(), reason="no /proc on this system")
COURSE = Path(__file__).parents[3]
DATA = bytes(50_000)
PREPARE = """
import sys
from tests.grading.sandbox import test_queues
print("begun", flush=True)
sys.stdin.readline()
kept = getattr(test_queues, sys.argv[1])()
print("prepared", flush=True)
sys.stdin.readline()
"""


def fill_pipe():
    reader, writer = os.pipe()
    os.write(writer, DATA)
    return reader, writer


def fill_sockets():
    here, there = socket.socketpair()
    here.sendall(DATA)
    return here, there


def leave_data_of_a_closed_socket():
    here, there = fill_sockets()
    here.close()
    return there


def send_packets():
    here, there = socket.socketpair(type=socket.SOCK_SEQPACKET)
    for _ in range(2):
        here.send(DATA[:25_000])
    return here, there


def send_datagrams():
    here, there = socket.socketpair(type=socket.SOCK_DGRAM)
    here.send(b"")
    here.send(b"x")
    here.close()
    return there


def send_to_a_socket_of_the_kernel():
    here = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
    here.bind((0, 0))
    get_links, request_and_dump = 18, 0x301
    here.send(struct.pack("IHHIIB3x", 20, get_links, request_and_dump, 0, 0, 0))
    return here


def send_over_tcp():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        here = socket.create_connection(listener.getsockname())
        there, _ = listener.accept()
    here.sendall(DATA)
    return here, there


def send_descriptor():
    reader, writer = fill_pipe()
    here, there = socket.socketpair()
    socket.send_fds(here, [b"x"], [reader])
    os.close(reader)
    os.close(writer)
    return here, there


def connect_without_accepting():
    listener = listen()
    with socket.socket(socket.AF_UNIX) as one:
        one.connect(listener.getsockname())
        one.sendall(DATA)
    return listener


def listen():
    listener = socket.socket(socket.AF_UNIX)
    listener.bind("")
    listener.listen()
    return listener


HELD = {
    fill_pipe: len(DATA),
    fill_sockets: len(DATA),
    leave_data_of_a_closed_socket: len(DATA),
    send_packets: len(DATA),
    send_datagrams: HIDDEN_BYTES,
    send_over_tcp: len(DATA),
    send_descriptor: HIDDEN_BYTES + 1,
    connect_without_accepting: HIDDEN_BYTES,
    listen: 0,
    send_to_a_socket_of_the_kernel: HIDDEN_BYTES,
}


@pytest.mark.parametrize("prepare", HELD)
def test_what_waits_in_a_queue_is_counted(prepare):
    command = [sys.executable, "-c", PREPARE, prepare.__name__]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, cwd=COURSE, text=True, **pipes) as child:
        try:
            assert child.stdout.readline() == "begun\n"
            before = queued_bytes([child.pid])
            print(file=child.stdin, flush=True)
            assert child.stdout.readline() == "prepared\n"
            after = queued_bytes([child.pid])
        finally:
            child.kill()
    assert before == 0
    # What a TCP socket has received counts twice until it has been acknowledged.
    assert HELD[prepare] <= after <= 2 * HELD[prepare]


def test_process_that_is_gone_holds_nothing():
    with subprocess.Popen([sys.executable, "-c", ""]) as child:
        pass
    assert queued_bytes([child.pid]) == 0


def test_socket_that_cannot_be_read_costs_no_descriptor(monkeypatch):
    def refuse(*_):
        raise OSError("not supported")

    here, there = fill_sockets()
    with here, there:
        before = open_descriptors()
        for broken in ("_held_by_socket", "_ioctl_int", "_is_readable"):
            monkeypatch.setattr(queues, broken, refuse)
            queued_bytes([os.getpid()])
        assert open_descriptors() == before


def open_descriptors():
    return sorted(path.name for path in Path("/proc/self/fd").iterdir())
