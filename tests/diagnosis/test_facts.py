"""What is looked at: orders of indices, generators, batches, lists that should match."""

import random
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from course_utils.diagnosis.facts import content, generators, lateness, loaders
from course_utils.diagnosis.facts.orders import Order


@given(st.lists(st.integers(0, 99), min_size=1, max_size=200))
def test_an_order_counts_what_is_repeated_and_missing(indices: list[int]):
    order = Order(100)
    for start in range(0, len(indices), 7):
        order.add(indices[start : start + 7])
    told = order.summary()
    assert told["repeated"] == len(indices) - len(set(indices))
    assert told["missing"] == 100 - len(set(indices))
    assert told["ascending"] == (indices == sorted(set(indices)))


def test_two_orders_of_the_same_samples_differ():
    first, second = Order(64), Order(64)
    first.add(list(range(64)))
    second.add(list(range(63, -1, -1)))
    told, reversed_ = first.summary(), second.summary()
    assert told["order"] != reversed_["order"]
    assert told["samples_hash"] == reversed_["samples_hash"]


def test_an_order_takes_whatever_a_sampler_yields():
    order = Order(10)
    for batch in ([0, 1], 2, [np.int64(3), np.int64(4)], torch.tensor([5, 6]), [[7], [8]], ["a", "b"], []):
        order.add(batch)
    assert order.summary()["count"] == 11
    assert order.summary()["missing"] == 1


def test_generators_are_found_wherever_a_dataset_holds_them():
    seed = np.random.default_rng(0)
    held = {"numpy": np.random.default_rng(1), "python": random.Random(2), "torch": torch.Generator()}
    data = SimpleNamespace(transforms=[SimpleNamespace(**held)], call=lambda: seed)
    found = generators.find(data)
    assert {id(value) for value in found.values()} >= {id(value) for value in (seed, *held.values())}


def test_looking_at_generators_changes_none_of_them():
    owned = {"numpy": np.random.default_rng(1), "python": random.Random(2), "torch": torch.Generator()}
    before = generators.states(owned), generators.global_states()
    assert (generators.states(owned), generators.global_states()) == before
    owned["numpy"].random()
    assert generators.states(owned) != before[0]


def test_floats_that_were_bytes_are_recognised():
    pixels = np.random.default_rng(0).integers(0, 256, (2, 3, 64, 64), dtype=np.uint8)
    converted = torch.from_numpy(pixels).float() / 255
    assert content.describe([converted, torch.zeros(2)]).float_bytes == converted.numel() * 4
    assert content.describe([torch.rand(2, 3, 64, 64)]).float_bytes == 0
    assert content.describe({"image": converted}).pixels == 64 * 64


def test_lists_that_do_not_match_are_named():
    assert loaders.parallel_lists(SimpleNamespace(images=list("abcdef"), labels=[0] * 5))
    crossed = SimpleNamespace(
        images=[f"{i}.jpg" for i in range(6)], masks=[f"{i}.png" for i in (1, 0, 2, 3, 4, 5)]
    )
    assert loaders.parallel_lists(crossed)
    assert not loaders.parallel_lists(SimpleNamespace(images=list("abcdef"), labels=[0] * 6, offsets=[0] * 7))


@pytest.mark.parametrize(
    ("woken", "delays", "late"),
    [
        (10.014, (1.0, 1.003), 0.001),  # 3 of the 4 milliseconds waited for a core
        (10.011, (1.0, 1.003), 0.0),
        (10.014, (None, None), None),  # a kernel that does not tell
    ],
)
def test_waiting_for_a_core_is_no_waiting_for_the_lock(
    monkeypatch: pytest.MonkeyPatch, woken: float, delays: tuple, late: float | None
):
    clock, told = iter([10.0, woken]), iter(delays)
    times = SimpleNamespace(monotonic=lambda: next(clock), sleep=lambda _: None)
    monkeypatch.setattr(lateness, "time", times)
    found = lateness.seconds_late(0.01, SimpleNamespace(seconds=lambda: next(told)))
    assert found == (None if late is None else pytest.approx(late))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the run queue of Linux")
def test_the_delay_of_a_thread_is_known_until_it_is_closed():
    delay = lateness.RunDelay()
    assert delay.seconds() is not None
    delay.close()
    assert delay.seconds() is None
