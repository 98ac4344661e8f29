"""Check a function that fetches samples from an object store: its requests, how many at once, and retries."""

from collections.abc import Callable
from typing import Any

import numpy as np

from course_utils.checks.beyond_photographs._fetching.drawn_objects import draw_object, never_answered
from course_utils.checks.beyond_photographs._fetching.fetched_samples import (
    expect_end_of_retries,
    expect_samples,
)
from course_utils.checks.beyond_photographs._fetching.object_store import World
from course_utils.checks.beyond_photographs._fetching.requests import (
    expect_complete,
    expect_in_flight,
    expect_ranges,
    expect_return,
)
from course_utils.checks.beyond_photographs._fetching.store_client import (
    Fetched,
    Store,
    fetch_in_threads,
    probe_conditions,
)
from course_utils.checks.core import Inputs, Truth
from course_utils.checks.world.handle import Handle

__all__ = ["World", "judge", "make", "probe"]

# The objects by number. The first two are fetched at the same time; a request for the last is never answered.
FIRST, SECOND, BROKEN = range(3)
RIGHT = (
    "Each request spans what is near, several are in flight but not too many, and what fails is asked for "
    "again, not without end."
)


def make(rng: np.random.Generator) -> tuple[Inputs, Truth]:
    """Draw three objects, with other gaps and numbers of requests in flight."""
    first = draw_object(rng, int(rng.integers(90, 120)), int(rng.integers(3, 6)), int(rng.integers(11, 14)))
    second = draw_object(rng, int(rng.integers(50, 70)), 2, int(rng.integers(7, 9)))
    objects = [first, second, never_answered(rng, second)]
    given = [{"gap": one.gap, "most": one.most, "ranges": list(map(list, one.ranges))} for one in objects]
    return {"objects": given}, objects


def probe(inputs: Inputs, world: Handle, fetch: Callable[..., Any]) -> list[Fetched]:
    """Fetch two objects at the same time, then the one that cannot be fetched."""
    calls = [
        (Store(world, number, one["gap"], one["most"]), [(start, length) for start, length in one["ranges"]])
        for number, one in enumerate(inputs["objects"])
    ]
    with probe_conditions(getattr(fetch, "__globals__", {})):
        return [*fetch_in_threads(fetch, calls[:BROKEN]), *fetch_in_threads(fetch, calls[BROKEN:])]


def judge(truth: Truth, evidence: list[Fetched], world: World) -> str:
    """Check the requests, what was returned, and when the answer gave up."""
    fetched, asked = evidence[:BROKEN], world.objects[:BROKEN]
    for stored in asked:
        expect_ranges(stored)
    for stored, one in zip(asked, fetched, strict=True):
        expect_return(stored, one)
    expect_complete(asked)
    for stored in asked:
        expect_in_flight(stored)
    expect_samples(asked, fetched)
    expect_end_of_retries(world.objects[BROKEN], evidence[BROKEN])
    return RIGHT
