"""The store of exercise 4 on a real server: what students write reads from it."""

import asyncio
import inspect

import pytest

from course_utils.remote import Fault, ObjectServer
from grading.answers.bank import answers
from tests.remote.served import CONTENT, EXPECTED, NAME, RANGES
from tests.remote.store import Store

RIGHT = [one for one in answers("beyond_photographs") if one.check == "fetch_ranges" and not one.mistake]


async def finished(result):
    return await result if inspect.isawaitable(result) else result


def test_a_request_returns_status_and_body(server):
    store = Store(server.url(NAME), gap=10, most=3)
    assert (store.gap, store.most) == (10, 3)
    assert store.get(5, 25) == (206, CONTENT[5:25])
    assert asyncio.run(store.get_async(5, 25)) == (206, CONTENT[5:25])
    assert store.get(10**6, 10**6 + 1)[0] == 416
    assert Store(server.url("none")).get(0, 1)[0] == 404


@pytest.mark.parametrize("answer", RIGHT, ids=lambda one: one.name)
def test_right_answers_fetch_from_a_real_server(folder, answer):
    names = {"np": __import__("numpy"), "__name__": "answer"}
    exec(answer.source, names)
    with ObjectServer(folder, delay_ms=10, faults=[Fault("busy", 5), Fault("short", 7)]) as server:
        store = Store(server.url(NAME), gap=500, most=4)
        found = asyncio.run(finished(names["fetch"](store, RANGES)))
        record = server.record()
    assert [bytes(one) for one in found] == EXPECTED
    assert 2 <= record.most_in_flight <= 4
    assert record.count < 100
