"""Whether trainings take the samples of their epochs in order, on any number of ranks."""

from collections import Counter
from collections.abc import Sequence
from itertools import chain

from course_utils.checks.core import Mistake, environment
from course_utils.checks.many_nodes._resumed_steps import Order, Start, expect_steps, wrong_batch_size
from course_utils.checks.many_nodes._steps import JobRecord, Training, most_steps
from course_utils.checks.random_orders import expect_random


def expect_orders(trainings: Sequence[Training], records: Sequence[list[JobRecord]]) -> list[list[Order]]:
    """Check trainings on one rank that nothing interrupts.

    Args:
        trainings: The first two differ in everything; the third one differs from the first in its seed.
        records: What they did.

    Returns:
        The orders of the epochs of each.

    Raises:
        Mistake: An epoch is not complete, or its order is not random.
    """
    orders = [_orders(training, of_jobs) for training, of_jobs in zip(trainings, records, strict=True)]
    first, other, reseeded = orders
    if first[0] == sorted(first[0]):
        raise Mistake("not_shuffled", "The first epoch has the numbers in ascending order: shuffle them.")
    for epochs in (first, other):
        if epochs[0] == epochs[1]:
            raise Mistake(
                "same_order_every_epoch",
                "Two epochs have the same order. Draw it from the seed and the number of the epoch together.",
            )
    if first[0] == reseeded[0]:
        raise Mistake(
            "ignores_seed",
            "Trainings with two seeds, one after the other in one process, have the same order. Draw it from "
            "the seed, too; if you keep orders in a cache, keep them by seed, epoch and number of samples.",
        )
    expect_random([*first, *other, *reseeded], [first[1], reseeded[0]])
    return orders


def _orders(training: Training, records: list[JobRecord]) -> list[Order]:
    orders = []
    for epoch, record in enumerate(records):
        if not record["steps"][0] and epoch:
            raise Mistake(
                "epoch_not_ended",
                "Resumed from the state of the last step of an epoch, a training has nothing to do. That "
                "state is the beginning of the next epoch: with the next number of the epoch, and nothing "
                "consumed.",
            )
        orders.append(_order(training, record))
        if environment.json.loads(record["steps"][0][-1]["state"]) == training["first"]:
            raise Mistake(
                "epoch_not_ended",
                "The state of the last step of an epoch is the one with which the epoch began, so that it "
                "would be repeated. Let it say that the next epoch begins.",
            )
    return orders


def _order(training: Training, record: JobRecord) -> Order:
    """Return the order of a complete epoch on one rank."""
    samples, size = training["first"]["samples"], training["first"]["batch_size"]
    where = f"With {samples} samples, batch_size={size} and one rank"
    batches = [step["numbers"] for step in record["steps"][0]]
    if len(batches) == most_steps(training):
        raise Mistake(
            "never_ends", f"{where}, resume yields more steps than an epoch has. End with the epoch."
        )
    order = list(chain(*batches))
    counts = Counter(order)
    if missing := [number for number in range(samples) if not counts[number]]:
        hint = (
            "The last step takes what is left, even if that is less than usual."
            if len(missing) < size
            else "Does it begin with the first sample, and is each state the one after its step?"
        )
        raise Mistake(
            "drops",
            f"{where}, sample {missing[0]} is in no step of the epoch ({len(missing)} in all). {hint}",
        )
    if doubled := [number for number, count in counts.items() if count > 1]:
        raise Mistake(
            "pads",
            f"{where}, sample {doubled[0]} comes more than once in the epoch ({len(doubled)} in all). Do not "
            "fill up the last step.",
        )
    for step, batch in enumerate(batches):
        if len(batch) != min(size, samples - step * size):
            raise wrong_batch_size(where, step, [batch])
    return order


def expect_training(training: Training, records: list[JobRecord], orders: list[Order]) -> None:
    """Check a training that is resumed on several numbers of ranks.

    Args:
        training: The training.
        records: What its jobs did.
        orders: The orders of its epochs.

    Raises:
        Mistake: A job takes other samples than those that follow, or its states cannot be used.
    """
    size = training["first"]["batch_size"]
    epoch, start = 0, Start(0, 0, 0)
    for job, record in zip(training["jobs"], records, strict=False):
        expect_steps(orders[epoch], size, start, job, record)
        _expect_states(record)
        if job["steps"]:
            fetched = job["steps"] + job["ahead"][job["saved_by"]]
            samples = job["ranks"] * size
            start = Start(
                start.consumed + job["steps"] * samples,
                start.consumed + fetched * samples,
                start.steps + job["steps"],
                "resumed",
                f" after {start.steps + job['steps']} steps (the last on {job['ranks']} ranks)",
            )
        else:
            epoch, start = epoch + 1, Start(0, 0, 0)
    if len(records) < len(training["jobs"]):
        raise Mistake("no_evidence", "The check could not run all jobs of a training.")


def _expect_states(record: JobRecord) -> None:
    """Check that the states of a job are the same on all ranks, and stay as they are."""
    for of_rank, later in zip(record["steps"], record["later"], strict=True):
        if [step["state"] for step in of_rank] != later:
            raise Mistake(
                "prefetched_counted",
                "The state of a step changes when the next step is asked for: what was only fetched, and "
                "never trained, would count as consumed. Yield a new dictionary with each step.",
            )
    for states in zip(*record["later"], strict=False):
        if len(set(states)) > 1:
            one, other = sorted(set(states))[:2]
            raise Mistake(
                "state_differs_by_rank",
                f"After the same step, one rank has the state {one} and another one {other}. Any rank may "
                "save it: count the samples of all ranks, and leave the rank out.",
            )
    if record["given_changed"]:
        raise Mistake(
            "changes_the_state",
            "resume changes the state that it is given. Whoever called it may still need that one: change a "
            "copy.",
        )
