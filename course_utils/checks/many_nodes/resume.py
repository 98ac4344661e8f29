"""Check a function that resumes an epoch on any number of ranks."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import zip_longest
from typing import Any, TypedDict

import numpy as np

from course_utils.checks.core import (
    AttemptOf,
    Evidence,
    Inputs,
    Mistake,
    ProcessStates,
    Truth,
    attempt,
    environment,
    value_of,
)
from course_utils.checks.many_nodes._resumed_epochs import expect_orders, expect_training
from course_utils.checks.many_nodes._steps import (
    MANY_JOBS,
    Job,
    JobRecord,
    Rank,
    Training,
    expect_bounded,
    expect_form,
    is_malformed,
    most_steps,
    state_after_jobs,
)
from course_utils.checks.saved_states import state_text
from course_utils.system import in_child

# The trainings by number. The first three have one rank and are never resumed.
ALONE, OTHER, OTHER_SEED, RESUMED, OTHER_RESUMED = range(5)
# Which are run at the same time, a step of each in turn.
GROUPS = ((ALONE,), (OTHER,), (OTHER_SEED,), (RESUMED, OTHER_RESUMED))


class Found(TypedDict):
    """What the jobs of each training did, the names of global generators that changed, and a late state."""

    trainings: AttemptOf[list[list[JobRecord]]]
    changed: list[str]
    late: AttemptOf[str]


def make(rng: np.random.Generator) -> tuple[Inputs, Truth]:
    """Draw trainings; where they end, there are fewer samples left than ranks."""
    size, other_size = int(rng.integers(5, 7)), int(rng.integers(3, 5))
    seed, other_seed = int(rng.integers(1, 2**20)), 0  # `seed * (epoch + 1)` is then 0 in each epoch
    jobs = [
        _job(rng, ranks=2, steps=int(rng.integers(5, 7))),
        _job(rng, ranks=4, steps=int(rng.integers(3, 5))),
        _job(rng, ranks=3),
        _job(rng, ranks=2, steps=int(rng.integers(3, 5))),
        _job(rng, ranks=5),
    ]
    other_jobs = [
        _job(rng, ranks=4, steps=3),
        _job(rng, ranks=2, steps=4),
        _job(rng, ranks=5),
        _job(rng, ranks=3),
    ]
    ends = 3 * int(rng.integers(2, 4)) * size + 1  # samples for the job of 3 ranks
    samples = _trained(jobs[:2], size) + ends
    other_samples = _trained(other_jobs, other_size) + int(rng.integers(1, 5))

    def training(samples: int, batch_size: int, seed: int, jobs: list[Job]) -> Training:
        first = {"samples": samples, "batch_size": batch_size, "seed": seed, "epoch": 0, "consumed": 0}
        return {"first": first, "jobs": jobs}

    alone = [_job(rng, ranks=1), _job(rng, ranks=1)]
    trainings = [
        training(samples, size, seed, alone),
        training(other_samples, other_size, other_seed, alone),
        training(samples, size, other_seed, alone[:1]),
        training(samples, size, seed, jobs),
        training(other_samples, other_size, other_seed, other_jobs),
    ]
    return {"trainings": trainings}, {"trainings": trainings}


def _trained(jobs: list[Job], batch_size: int) -> int:
    return sum(job["ranks"] * job["steps"] for job in jobs) * batch_size


def _job(rng: np.random.Generator, ranks: int, steps: int = 0) -> Job:
    """Draw how much ranks fetch in advance, and who saves; a job without `steps` ends with the epoch."""
    ahead = [0] * ranks
    while steps and len(set(ahead)) == 1:
        ahead = rng.integers(2, 4, ranks).tolist()
    return {"ranks": ranks, "steps": steps, "ahead": ahead, "saved_by": int(rng.integers(ranks))}


def probe(inputs: Inputs, resume: Callable[..., Any]) -> Found:
    """Run the trainings: the first job of each in one process, the second ones in another one, and so on.

    So a job finds nothing in memory that an earlier job of its training has left there.
    """
    trainings: list[Training] = inputs["trainings"]
    records: list[list[JobRecord]] = [[] for _ in trainings]
    states = {number: environment.json.dumps(training["first"]) for number, training in enumerate(trainings)}
    changed = set[str]()
    for place in range(max(len(training["jobs"]) for training in trainings)):
        done, drawn = in_child(_run_jobs, trainings, place, states, resume)
        changed |= drawn
        if "error" in done:
            return {"trainings": {"error": done["error"]}, "changed": sorted(changed), "late": {"value": ""}}
        for number, record in done["value"].items():
            records[number].append(record)
        states = {
            number: _saved_state(trainings[number]["jobs"][place], record)
            for number, record in done["value"].items()
            if place + 1 < len(trainings[number]["jobs"])
        }
    late = in_child(attempt, lambda: state_after_jobs(resume, MANY_JOBS))
    return {"trainings": {"value": records}, "changed": sorted(changed), "late": late}


def _run_jobs(
    trainings: list[Training], place: int, states: dict[int, str], resume: Callable[..., Any]
) -> tuple[AttemptOf[dict[int, JobRecord]], set[str]]:
    """Run one job of each training that has a state; return what was done, and the changed generators."""
    records: dict[int, JobRecord] = {
        number: {"steps": [], "later": [], "given_changed": False}
        for number, state in states.items()
        if state
    }

    def run() -> dict[int, JobRecord]:
        for group in GROUPS:
            running = [
                _run_job(trainings[n], place, states[n], records[n], partial(Rank, resume, processes))
                for n in group
                if n in records
            ]
            for _ in zip_longest(*running):
                pass
        return records

    with ProcessStates() as processes:
        done: Any = attempt(run)
    return done, processes.changed


def _run_job(
    training: Training, place: int, state: str, record: JobRecord, start: Callable[..., Rank]
) -> Iterator[None]:
    """Run a job of a training, with a pause after each step."""
    job = training["jobs"][place]
    ranks = [start(environment.json.loads(state), rank, job) for rank in range(job["ranks"])]
    record["steps"] = [rank.steps for rank in ranks]
    limits = [job["steps"] + ahead if job["steps"] else most_steps(training) for ahead in job["ahead"]]
    for step in range(max(limits)):
        for rank, limit in zip(ranks, limits, strict=True):
            if step < limit:
                rank.fetch()
        yield
    record["later"] = [[state_text(state) for state in rank.states] for rank in ranks]
    record["given_changed"] = any(rank.given != environment.json.loads(state) for rank in ranks)


def _saved_state(job: Job, record: JobRecord) -> str:
    """Return the state that a job saves as JSON; an empty string if there is none to resume from."""
    trained = record["later"][job["saved_by"]][: job["steps"] or None]
    is_lost = any(is_malformed(step) for of_rank in record["steps"] for step in of_rank)
    return "" if is_lost or not trained else trained[-1]


def judge(truth: Truth, evidence: Evidence) -> str:
    """Check the trainings on one rank, then those that are resumed against them."""
    trainings, records = truth["trainings"], value_of(evidence["trainings"])
    for training, of_jobs in zip(trainings, records, strict=True):
        expect_form(training, of_jobs)
    if evidence["changed"]:
        raise Mistake(
            "global_generator",
            f"Your code draws from or seeds the global generator of {', '.join(evidence['changed'])}, which "
            "the training needs for itself. Use a generator of your own, seeded with the state's seed and "
            "epoch.",
        )
    orders = expect_orders(trainings[:RESUMED], records[:RESUMED])
    expect_training(trainings[RESUMED], records[RESUMED], orders[ALONE])
    expect_training(trainings[OTHER_RESUMED], records[OTHER_RESUMED], orders[OTHER])
    expect_bounded(value_of(evidence["late"]))
    return (
        "On any number of ranks, each epoch continues with the sample after the last one that was trained, "
        "to its end, and the next one has a new order."
    )


def stable(truth: Truth, evidence: Evidence) -> Evidence:
    """Return the numbers of all steps, which must be the same in each process."""
    jobs = [record for of_training in value_of(evidence["trainings"]) for record in of_training]
    return [[[step["numbers"] for step in rank] for rank in record["steps"]] for record in jobs]
