"""Check a shuffle buffer: what it yields, how much it holds, and what its order depends on."""

from collections.abc import Callable, Iterable, Iterator
from itertools import zip_longest
from typing import Any, NamedTuple, TypedDict

import numpy as np

from course_utils.checks.core import Evidence, Inputs, Mistake, Truth, generator_states, type_name
from course_utils.checks.packed_formats._shuffled_epoch import (
    NONE,
    World,
    expect_bounds,
    expect_each_once,
)
from course_utils.checks.packed_formats._shuffled_order import (
    expect_each_place,
    expect_generator,
    expect_mixed,
)
from course_utils.checks.world.handle import Handle

__all__ = ["World", "judge", "make", "probe", "stable"]

# The epochs by number. The first four are of streams of one length through buffers of one size; those from
# `TINY` on are of few samples through buffers so small that each place is drawn often.
FIRST, AGAIN, OTHER, NEXT, SHORT, EXACT, EMPTY, ONE, TINY = range(9)
LONG = (FIRST, AGAIN, OTHER, NEXT)
TINY_EPOCHS, TINY_LENGTHS, TINY_SIZE = 240, (9, 3), 3  # the lengths in turn
# Which epochs are read at the same time, a sample of each in turn, and in which order.
GROUPS = (
    *((FIRST,), (AGAIN, OTHER), (NEXT,), (SHORT,), (EXACT,), (EMPTY,), (ONE,)),
    *((TINY + number,) for number in range(TINY_EPOCHS)),
)
DIFFERENT = (FIRST, OTHER, NEXT)  # the long ones whose orders should be independent


class Plan(NamedTuple):
    """How the probe reads an epoch.

    Args:
        generator: Number of the generator; the epochs with one number share a generator, in this order.
        seed: Which of the drawn seeds it starts with.
        kind: What a sample is: a dictionary, a tuple, or a number, of which one is 0 and one is None.
        one_shot: Whether the stream is an iterator; otherwise it starts again with each `for`.
    """

    generator: int
    seed: int
    kind: str
    one_shot: bool


PLANS = {
    FIRST: Plan(0, 0, "dict", one_shot=True),
    AGAIN: Plan(1, 0, "dict", one_shot=False),
    OTHER: Plan(2, 1, "dict", one_shot=True),
    NEXT: Plan(0, 0, "tuple", one_shot=False),
    SHORT: Plan(3, 1, "number", one_shot=False),
    EXACT: Plan(4, 0, "tuple", one_shot=True),
    EMPTY: Plan(5, 0, "dict", one_shot=False),
    ONE: Plan(6, 1, "number", one_shot=True),
    **{TINY + number: Plan(7, 0, "tuple", one_shot=True) for number in range(TINY_EPOCHS)},
}


class Found(TypedDict):
    """Types that are not iterable, and global generators that changed."""

    not_iterable: list[str]
    changed: list[str]


def make(rng: np.random.Generator) -> tuple[Inputs, Truth]:
    """Draw the lengths of the streams, the sizes of the buffers and two seeds."""
    length, size, exact = int(rng.integers(400, 450)), int(rng.integers(55, 65)), int(rng.integers(140, 160))
    tiny = range(TINY, TINY + TINY_EPOCHS)
    lengths = {SHORT: int(rng.integers(140, 160)), EXACT: exact, EMPTY: 0, ONE: int(rng.integers(20, 30))}
    lengths |= {number: TINY_LENGTHS[number % 2] for number in tiny}
    sizes = {SHORT: int(rng.integers(250, 300)), EXACT: exact, EMPTY: 10, ONE: 1}
    sizes |= dict.fromkeys(tiny, TINY_SIZE)
    epochs = [
        {"length": lengths.get(n, length), "size": sizes.get(n, size), "special": plan.kind == "number"}
        for n, plan in PLANS.items()
    ]
    first, second = rng.choice(2**31, 2, replace=False).tolist()
    inputs = {"sizes": [e["size"] for e in epochs], "seeds": [first, second]}
    return inputs, {"key": rng.bytes(16), "epochs": epochs}


def probe(inputs: Inputs, world: Handle, shuffled: Callable[..., Any]) -> Found:
    """Read epochs through the student's buffer, some at the same time."""
    before, not_iterable = generator_states(), list[str]()
    seeds = inputs["seeds"]
    generators = {plan.generator: np.random.default_rng(seeds[plan.seed]) for plan in PLANS.values()}
    for group in GROUPS:
        epochs = []
        for number in group:
            result = shuffled(
                _stream(world, number), inputs["sizes"][number], generators[PLANS[number].generator]
            )
            if isinstance(result, Iterable):
                epochs.append(_pass_on(world, number, result))
            else:
                not_iterable.append(type_name(result))
        for _ in zip_longest(*epochs):
            pass
    after = generator_states()
    return {
        "not_iterable": not_iterable,
        "changed": [name for name, state in before.items() if state != after[name]],
    }


class Stream:
    """Samples that the world gives out one by one; each iterator starts at the first."""

    def __init__(self, world: Handle, number: int) -> None:
        self._world, self._number = world, number

    def __iter__(self) -> Iterator[object]:
        self._world.start(self._number)
        while (ticket := self._world.next_sample(self._number)) is not None:
            yield _sample(PLANS[self._number].kind, ticket)


def _stream(world: Handle, number: int) -> Iterable[object]:
    stream = Stream(world, number)
    return iter(stream) if PLANS[number].one_shot else stream


def _sample(kind: str, ticket: int) -> object:
    if kind == "dict":  # as WebDataset has them
        return {"__key__": f"{ticket:013d}", "cls": ticket % 10}
    if kind == "tuple":
        return (f"{ticket:013d}", ticket % 10)
    return None if ticket == NONE else ticket


def _ticket(kind: str, sample: object) -> int | None:
    """Return the ticket of a sample; None for anything else."""
    if kind == "number":
        return NONE if sample is None else int(sample) if isinstance(sample, int | np.integer) else None
    if type(sample) is not (dict if kind == "dict" else tuple):
        return None
    try:
        ticket = int(sample["__key__" if kind == "dict" else 0])  # type: ignore[index]
    except (LookupError, TypeError, ValueError):
        return None
    return ticket if sample == _sample(kind, ticket) else None


def _pass_on(world: Handle, number: int, samples: Iterable[object]) -> Iterator[None]:
    """Tell the world what the student's buffer yields, a sample in each step."""
    for sample in samples:
        world.take(number, _ticket(PLANS[number].kind, sample))
        yield
    world.finish(number)


def judge(truth: Truth, evidence: Evidence, world: World) -> str:
    """Check each epoch, then the orders against each other."""
    if evidence["not_iterable"]:
        raise Mistake(
            "not_iterable",
            f"shuffled returns a value of type {evidence['not_iterable'][0]}. Make it a generator function: "
            "yield each sample.",
        )
    for epoch in world.epochs:
        expect_each_once(epoch)
    if not all(epoch.finished for epoch in world.epochs):
        raise Mistake("no_evidence", "The check could not read all its streams through your buffer.")
    for epoch in world.epochs:
        expect_bounds(epoch)
    expect_generator(evidence["changed"], *(world.epochs[n] for n in LONG))
    expect_mixed([world.epochs[n] for n in DIFFERENT], [world.epochs[n] for n in (SHORT, EXACT)])
    for length in TINY_LENGTHS:
        expect_each_place([epoch for epoch in world.epochs[TINY:] if epoch.length == length])
    return (
        "Each sample comes once, from a full buffer that never holds more than its size, in an order that "
        "the generator alone decides."
    )


def stable(truth: Truth, evidence: Evidence, world: World) -> list[list[int]]:
    """Return the orders, which must be the same in each process."""
    return [epoch.order() for epoch in world.epochs]
