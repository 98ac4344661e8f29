"""The jobs of a training on a mixture: what each rank is given, and where a resumed job continues."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypedDict

import numpy as np

from course_utils.checks.beyond_photographs._mixture.records import Mix, Read, build, read
from course_utils.checks.core import AttemptOf, ProcessStates, attempt, environment
from course_utils.checks.saved_states import NOT_JSON, state_text
from course_utils.system import in_child

MANY = 4000  # samples of a small mixture: a state that grows by 2 characters an order becomes too long
TINY: Mix = {"sizes": [3, 4], "weights": [0.6, 0.4], "seed": 7}


class Job(TypedDict):
    """A job of a training.

    Args:
        ranks: Number of ranks.
        taken: How many samples each of them trains.
        ahead: How many more each fetches.
        saved_by: The rank whose state is saved.
        start: How many samples of the stream earlier jobs have trained.
    """

    ranks: int
    taken: int
    ahead: list[int]
    saved_by: int
    start: int


class Training(TypedDict):
    """A mixture, whether the ranks of a job read one object or each its own, and the jobs in turn."""

    mix: Mix
    shared: bool
    jobs: list[Job]


class JobRecord(TypedDict):
    """What a job did.

    Args:
        error: Why it was not resumed; otherwise empty.
        read: What each rank was given.
        state: The state that was saved, as JSON; empty for what JSON cannot write.
        changed: Whether it is another one when JSON reads it, apart from tuples that became lists.
    """

    error: str
    read: list[Read]
    state: str
    changed: bool


def draw_training(rng: np.random.Generator, mix: Mix, ranks: Sequence[int], shared: bool) -> Training:
    """Draw jobs on these numbers of ranks, of which none divides what was trained before it."""
    jobs: list[Job] = []
    start = 0
    for number, size in enumerate(ranks):
        taken = int(rng.integers(140 // size, 200 // size))
        later = ranks[number + 1] if number + 1 < len(ranks) else 0
        if later and (start + size * taken) % later == 0:
            taken += 1  # a step more: no two numbers that follow each other have a common divisor
        ahead = rng.permutation(np.arange(2, 2 + size)).tolist()
        saved_by = int(rng.integers(size))
        jobs.append({"ranks": size, "taken": taken, "ahead": ahead, "saved_by": saved_by, "start": start})
        start += size * taken
    return {"mix": mix, "shared": shared, "jobs": jobs}


def run_jobs(
    mixture: Callable[..., Any], trainings: Sequence[Training]
) -> tuple[AttemptOf[list[list[JobRecord]]], set[str]]:
    """Run the jobs: those with the same number in one process, which nothing outlives but the states.

    Returns:
        The records of each training's jobs, and the names of global generators that changed.
    """
    records: list[list[JobRecord]] = [[] for _ in trainings]
    changed = set[str]()
    for place in range(len(trainings[0]["jobs"])):
        running = [n for n, of_training in enumerate(records) if _can_run(of_training)]
        states = {n: records[n][-1]["state"] if place else "" for n in running}
        done, drawn = in_child(_run_beside, mixture, trainings, place, states)
        changed |= drawn
        if "error" in done:
            return {"error": done["error"]}, changed
        for number, record in zip(running, done["value"], strict=True):
            records[number].append(record)
    return {"value": records}, changed


def _can_run(records: list[JobRecord]) -> bool:
    return not records or not (records[-1]["error"] or records[-1]["state"] == NOT_JSON)


def _run_beside(
    mixture: Callable[..., Any], trainings: Sequence[Training], place: int, states: dict[int, str]
) -> tuple[AttemptOf[list[JobRecord]], set[str]]:
    """Run a job of each training; all mixtures are made before the first of them is read."""

    def run() -> list[JobRecord]:
        started = [
            (trainings[number]["jobs"][place], _start(processes, mixture, trainings[number], place, state))
            for number, state in states.items()
        ]
        return [_run(processes, job, *ranks) for job, ranks in started]

    with ProcessStates() as processes:
        done: Any = attempt(run)
    return done, processes.changed


def _start(
    processes: ProcessStates, mixture: Callable[..., Any], training: Training, place: int, state: str
) -> tuple[str, list[Any], list[Any]]:
    """Return the error with which a job was not resumed, and the mixture and the samples of each rank."""
    ranks = training["jobs"][place]["ranks"]
    made, samples = list[Any](), list[Any]()
    for rank in range(ranks):
        with processes.of_process(rank):
            if rank and training["shared"]:
                made.append(made[0])
            else:
                made.append(build(mixture, training["mix"]))
                resumed = attempt(partial(made[-1].resume, environment.json.loads(state))) if state else {}
                if "error" in resumed:
                    return resumed["error"], made, samples
            samples.append(made[-1].samples(rank, ranks))
    return "", made, samples


def _run(processes: ProcessStates, job: Job, error: str, made: list[Any], samples: list[Any]) -> JobRecord:
    """Read what each rank is given, more than it trains, then ask one of them for the state."""
    record: JobRecord = {"error": error, "read": [], "state": NOT_JSON, "changed": False}
    if error:
        return record
    for rank, ahead in enumerate(job["ahead"]):
        with processes.of_process(100 + rank):
            found = attempt(partial(read, samples[rank], job["taken"] + ahead))
        if "error" in found:
            return {**record, "error": found["error"]}
        record["read"].append(found["value"])
    with processes.of_process(200):
        state = made[job["saved_by"]].state(job["ranks"] * job["taken"])
    text = state_text(state)
    changed = text != NOT_JSON and environment.json.loads(text) != _with_lists(state)
    return {**record, "state": text, "changed": bool(changed)}


def _with_lists(state: object) -> object:
    """Return plain data with lists for tuples, which JSON makes of them, and hardly anybody minds."""
    if isinstance(state, dict):
        return {key: _with_lists(value) for key, value in state.items()}
    return [_with_lists(part) for part in state] if isinstance(state, tuple | list) else state


class Late(TypedDict):
    """How many samples of a small mixture were read, and its state after that, as JSON."""

    count: int
    state: str


def read_late(mixture: Callable[..., Any]) -> Late:
    """Read many samples of a small mixture, then ask for the state."""
    made = build(mixture, TINY)
    found = read(made.samples(0, 1), MANY + 1)
    count = len(found["pairs"])
    return {"count": count, "state": state_text(made.state(MANY)) if count > MANY else NOT_JSON}
