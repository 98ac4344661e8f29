"""What sockets and pipes of a process hold is counted, also where no descriptor reaches it."""

import os
import socket

import pytest

from course_utils.grading.sandbox.isolation.queues import HIDDEN_BYTES, queued_bytes

DATA = bytes(50_000)


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


def send_datagrams():
    here, there = socket.socketpair(type=socket.SOCK_DGRAM)
    for _ in range(3):
        here.send(b"x")
    return here, there


def send_descriptor():
    reader, writer = fill_pipe()
    here, there = socket.socketpair()
    socket.send_fds(here, [b"x"], [reader])
    os.close(reader)
    os.close(writer)
    return here, there


def connect_without_accepting():
    listener = socket.socket(socket.AF_UNIX)
    listener.bind("")
    listener.listen()
    with socket.socket(socket.AF_UNIX) as one:
        one.connect(listener.getsockname())
        one.sendall(DATA)
    return listener


HELD = {
    fill_pipe: len(DATA),
    fill_sockets: len(DATA),
    leave_data_of_a_closed_socket: len(DATA),
    send_datagrams: HIDDEN_BYTES,
    send_descriptor: HIDDEN_BYTES,
    connect_without_accepting: HIDDEN_BYTES,
}


def held_by_a_process(prepare):
    """Return what a child holds before and after it has prepared something."""
    ours, theirs = socket.socketpair()
    child = os.fork()
    if child == 0:
        kept = []
        theirs.recv(1)
        try:
            kept.append(prepare())
        finally:
            theirs.send(b"x" if kept else b"")
            theirs.recv(1)
            os._exit(0)
    before = queued_bytes([child])
    ours.send(b"x")
    ours.recv(1)
    after = queued_bytes([child])
    ours.close()
    theirs.close()
    os.kill(child, 9)
    os.waitpid(child, 0)
    return before, after


@pytest.mark.parametrize("prepare", HELD)
def test_what_waits_in_a_queue_is_counted(prepare):
    before, after = held_by_a_process(prepare)
    assert after - before >= HELD[prepare]
    assert before < len(DATA)


def test_process_that_is_gone_holds_nothing():
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    assert queued_bytes([child]) == 0
