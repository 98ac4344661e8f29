"""Check a mixture of sources: what its stream holds, how ranks share it, and where a new job continues."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypedDict

import numpy as np

from course_utils.checks.beyond_photographs._mixture.jobs import (
    JobRecord,
    Late,
    Training,
    draw_training,
    read_late,
    run_jobs,
)
from course_utils.checks.beyond_photographs._mixture.records import (
    LONG,
    SHORT,
    Mix,
    Read,
    draw_mix,
    read_in_turns,
    read_stream,
    starts_over,
)
from course_utils.checks.beyond_photographs._mixture.resumed import expect_bounded, expect_training
from course_utils.checks.beyond_photographs._mixture.streams import (
    expect_form,
    expect_own_generators,
    expect_same,
    expect_seeded,
    expect_stream,
)
from course_utils.checks.core import (
    AttemptOf,
    Evidence,
    Inputs,
    ProcessStates,
    Truth,
    attempt,
    value_of,
)
from course_utils.system import in_child

ALONE = (LONG, SHORT, 600, SHORT)  # samples of each stream; 600: several orders of its small source

NOTHING: Any = {"value": []}  # where there is no need to read on


class Found(TypedDict):
    """What was read from mixtures.

    Attributes:
        alone: Streams on one rank: the first mixture, the same again, with another seed, the second mixture.
        in_turns: New streams of both mixtures, a sample of each in turn.
        jobs: What each job of the training with each mixture did.
        late: A small mixture after many samples.
        changed: Names of global generators that changed.
    """

    alone: AttemptOf[list[Read]]
    in_turns: AttemptOf[list[Read]]
    jobs: AttemptOf[list[list[JobRecord]]]
    late: AttemptOf[Late]
    changed: list[str]


def make(rng: np.random.Generator) -> tuple[Inputs, Truth]:
    """Draw two mixtures of unlike sources, another seed, and the jobs of a training with each."""
    first, second = draw_mix(rng, sources=4), draw_mix(rng, sources=3)
    # No multiple of the size of the small source, whose orders a seed might turn.
    seed = first["seed"] + int(rng.integers(20, 2000)) * first["sizes"][0] + 7
    trainings = [
        draw_training(rng, first, (2, 5, 3), shared=False),
        draw_training(rng, second, (4, 3, 2), shared=True),
    ]
    inputs = {"mixes": [first, second], "other_seed": seed, "trainings": trainings}
    return inputs, inputs


def probe(inputs: Inputs, mixture: Callable[..., Any]) -> Found:
    """Read streams in this process, then run the jobs of the trainings, each in a process of its own."""
    mixes: list[Mix] = inputs["mixes"]
    first, second = mixes
    late: Any
    reseeded: Mix = {**first, "seed": inputs["other_seed"]}
    wanted = list(zip((first, first, reseeded, second), ALONE, strict=True))

    def read_alone() -> list[Read]:
        found = list[Read]()
        for number, (mix, count) in enumerate(wanted):
            with processes.of_process(number):
                found.append(read_stream(mixture, mix, count))
            if not starts_over(first, found[0]):
                break
        return found

    with ProcessStates() as processes:
        alone: Any = attempt(read_alone)
        if len(alone.get("value", [])) < len(wanted):
            late = {"value": {"count": 0, "state": ""}}
            changed = sorted(processes.changed)
            return {"alone": alone, "in_turns": NOTHING, "jobs": NOTHING, "late": late, "changed": changed}
        with processes.of_process(len(wanted)):
            in_turns: Any = attempt(partial(read_in_turns, mixture, [first, second], LONG))
    jobs, drawn = run_jobs(mixture, inputs["trainings"])
    late = in_child(attempt, partial(read_late, mixture))
    changed = sorted(processes.changed | drawn)
    return {"alone": alone, "in_turns": in_turns, "jobs": jobs, "late": late, "changed": changed}


def judge(truth: Truth, evidence: Evidence) -> str:
    """Check the streams on one rank, then those of ranks and of resumed jobs against them."""
    first, second = truth["mixes"]
    mixes = [first, first, {**first, "seed": truth["other_seed"]}, second]
    alone: list[Read] = value_of(evidence["alone"])
    for mix, one, count in zip(mixes, alone, ALONE, strict=False):
        expect_form(mix, one, count)
    expect_own_generators(evidence["changed"])
    expect_stream(first, alone[0])
    expect_same(first, alone[0], alone[1], evidence["in_turns"])
    expect_seeded(first, alone[0], alone[2])
    streams: list[Read] = value_of(evidence["in_turns"])
    for mix, one in zip(truth["mixes"], streams, strict=True):
        expect_form(mix, one, LONG)
    expect_stream(second, streams[1])
    trainings: list[Training] = truth["trainings"]
    for training, read, records in zip(trainings, streams, value_of(evidence["jobs"]), strict=True):
        expect_training(training, read, records)
    expect_bounded(value_of(evidence["late"]))
    return (
        "Each source keeps its share of one endless stream, whatever its size, and the stream continues with "
        "the right sample on any number of ranks."
    )


def stable(truth: Truth, evidence: Evidence) -> Evidence:
    """Return what all ranks of all jobs were given, which must be the same in each process."""
    jobs = [job for records in value_of(evidence["jobs"]) for job in records]
    return [[read["pairs"] for read in job["read"]] for job in jobs]
