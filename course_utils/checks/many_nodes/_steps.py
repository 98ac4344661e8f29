"""What a resumed training yields, as plain data: the numbers of each step and the state after it."""

import operator
from collections.abc import Callable
from typing import Any, TypedDict

from course_utils.checks.core import Mistake, ProcessStates, environment, type_name
from course_utils.checks.saved_states import NOT_JSON, state_text

LONGEST_STATE = 300  # characters
MANY_JOBS = 200  # so that a state that grows by three characters a job, or two epochs, becomes too long
_ENDED = object()


class Job(TypedDict):
    """A job of a training.

    Args:
        ranks: Number of ranks.
        steps: Number of steps that are trained; 0 for all until the epoch ends.
        ahead: How many further steps each rank fetches.
        saved_by: The rank whose state is saved.
    """

    ranks: int
    steps: int
    ahead: list[int]
    saved_by: int


class Training(TypedDict):
    """A training: its first state, and its jobs one after another."""

    first: dict[str, int]
    jobs: list[Job]


class StepRecord(TypedDict):
    """A step of a rank: what is wrong with its form, if anything; its numbers; its state as JSON."""

    problem: str
    numbers: list[int]
    state: str


class JobRecord(TypedDict):
    """What a job did.

    Args:
        steps: The steps that each rank fetched.
        later: Their states as JSON, after all were fetched.
        given_changed: Whether a state that was given changed.
    """

    steps: list[list[StepRecord]]
    later: list[list[str]]
    given_changed: bool


class Rank:
    """A rank of a job, in a process of its own as far as random numbers are concerned.

    Args:
        resume: The student's function.
        processes: What differs between processes.
        given: The state that it is given.
        rank: Its number.
        job: Its job.

    Attributes:
        given: The state that it was given.
        steps: What it has fetched.
        states: The states of these steps, as they were yielded.
    """

    def __init__(
        self, resume: Callable[..., Any], processes: ProcessStates, given: object, rank: int, job: Job
    ) -> None:
        self.given, self.steps, self.states = given, list[StepRecord](), list[object]()
        self._rank, self._processes, self._ended = rank, processes, False
        with processes.of_process(rank):
            self._iterator = iter(resume(given, rank, job["ranks"]))

    def fetch(self) -> None:
        """Ask for the next step, unless there is none."""
        if self._ended:
            return
        with self._processes.of_process(100 + self._rank):
            pair = next(self._iterator, _ENDED)
        if pair is _ENDED:
            self._ended = True
            return
        step, state = describe(pair)
        self.steps.append(step)
        self.states.append(state)


def most_steps(training: Training) -> int:
    """Return a number of steps that no epoch has."""
    return training["first"]["samples"] // training["first"]["batch_size"] + 3


def state_after_jobs(resume: Callable[..., Any], jobs: int) -> str:
    """Return the state, as JSON, after as many jobs of one step each, with two steps an epoch.

    The jobs end where `resume` yields no step, or none that can be saved.
    """
    state = environment.json.dumps({"samples": 3, "batch_size": 2, "seed": 1, "epoch": 0, "consumed": 0})
    for _ in range(jobs):
        pair = next(iter(resume(environment.json.loads(state), 0, 1)), None)
        step, _ = describe(pair)
        if is_malformed(step):
            break
        state = step["state"]
    return state


def describe(pair: object) -> tuple[StepRecord, object]:
    """Return what a step yields as plain data, and its state as it is."""
    found: StepRecord = {"problem": "", "numbers": [], "state": ""}
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        return {**found, "problem": f"an object of type {type_name(pair)}"}, None
    numbers, state = pair
    try:
        found["numbers"] = [operator.index(number) for number in numbers]
    except TypeError:
        found["problem"] = f"a pair whose first part, of type {type_name(numbers)}, is no list of numbers"
    if not isinstance(state, dict):
        found["problem"] = f"a pair whose second part is of type {type_name(state)}, not a dictionary"
    return {**found, "state": state_text(state)}, state


def is_malformed(step: StepRecord) -> bool:
    """Return whether a step is no pair, or its state cannot be saved."""
    return bool(step["problem"]) or step["state"] == NOT_JSON


def expect_bounded(state: str) -> None:
    """Check the state after many short jobs.

    Raises:
        Mistake: It has become too long.
    """
    if len(state) > LONGEST_STATE:
        raise Mistake(
            "state_grows",
            f"After {MANY_JOBS} short jobs in {MANY_JOBS // 2} epochs of 3 samples, the state has "
            f"{len(state)} characters as JSON: it becomes longer with each job or epoch. Save where the "
            "training is, not how it came there.",
        )


def expect_form(training: Training, records: list[JobRecord]) -> None:
    """Check that each step is a pair of numbers and a state that can be saved.

    Raises:
        Mistake: One is something else.
    """
    samples = training["first"]["samples"]
    for step in (step for record in records for of_rank in record["steps"] for step in of_rank):
        if step["problem"]:
            raise Mistake(
                "not_a_pair",
                f"For a step, resume yields {step['problem']}. Yield a pair: the list of this rank's "
                "numbers, and the state after the step.",
            )
        if step["state"] == NOT_JSON:
            raise Mistake(
                "not_json",
                "A state cannot be written as JSON. It has to be read in another process, in a year, by "
                "another version of NumPy: keep plain numbers (int(...)) and strings in it.",
            )
        if len(step["state"]) > LONGEST_STATE:
            raise Mistake(
                "state_too_large",
                f"With {samples} samples, a state has {len(step['state'])} characters as JSON: with a "
                "million samples it would be a file of megabytes. The order can be drawn again from the seed "
                "and the epoch; save where in it the training is.",
            )
        if foreign := [number for number in step["numbers"] if not 0 <= number < samples]:
            raise Mistake(
                "other_numbers",
                f"In a training with {samples} samples, resume yields the number {foreign[0]}. Take "
                "everything from the state that is given: what an earlier call has left in a global variable "
                "or a cache may belong to another training.",
            )
