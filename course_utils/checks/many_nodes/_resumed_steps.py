"""Whether the steps of a job take the samples that follow those that were trained."""

from collections import Counter
from itertools import chain
from typing import NamedTuple

from course_utils.checks.core import Mistake
from course_utils.checks.many_nodes._steps import Job, JobRecord

Order = list[int]


class Start(NamedTuple):
    """Where in its epoch a job starts.

    Attributes:
        consumed: How many samples were trained.
        fetched: How many samples were trained or fetched.
        steps: How many steps were trained.
        how: How the job starts, for messages.
        after: After what it is resumed, for messages.
    """

    consumed: int
    fetched: int
    steps: int
    how: str = "from the start of an epoch"
    after: str = ""


def expect_steps(order: Order, size: int, start: Start, job: Job, record: JobRecord) -> None:
    """Compare the steps of a job with the order of its epoch.

    Args:
        order: The order of the epoch.
        size: Number of samples that a rank takes in a step.
        start: Where the job starts.
        job: The job.
        record: What it did.

    Raises:
        Mistake: A step takes other samples, or the ranks have other numbers of steps.
    """
    ranks, left = job["ranks"], len(order) - start.consumed
    whole = -(-left // (ranks * size))
    where = f"With {len(order)} samples and batch_size={size}, {start.how} on {ranks} ranks{start.after}"
    counts = [len(of_rank) for of_rank in record["steps"]]
    for step in range(min(counts) if job["steps"] else max(counts)):
        batches = [of_rank[step]["numbers"] for of_rank in record["steps"] if step < len(of_rank)]
        first = start.consumed + step * ranks * size
        wanted = order[first : first + ranks * size]
        if not wanted:
            raise Mistake(
                "never_ends", f"{where}, resume continues after the last sample. End with the epoch."
            )
        if sorted(chain(*batches)) != sorted(wanted):
            raise _wrong_samples(where, order, size, start, step, batches, wanted, step == whole - 1)
        if max(map(len, batches)) > size:
            raise wrong_batch_size(where, step, batches)
    limits = [job["steps"] + n if job["steps"] else whole for n in job["ahead"]]
    _expect_counts(where, counts, whole, limits)


def _expect_counts(where: str, counts: list[int], whole: int, limits: list[int]) -> None:
    """Compare the steps of each rank with those of the epoch, or with how many it was asked for."""
    ended = [count for count, limit in zip(counts, limits, strict=True) if count < min(whole, limit)]
    if not ended:
        return
    if max(counts) > min(ended):
        raise Mistake(
            "uneven_steps",
            f"{where}, one rank has {max(counts)} steps and another one {min(ended)}: in the next step, the "
            "others would wait for it until their time is over. Yield an empty list where nothing is left "
            "for a rank.",
        )
    # Whether others have a last step too is only seen in a job that continues to the end of its epoch.
    if min(ended) < whole - 1 or min(limits) >= whole:
        raise Mistake(
            "drops",
            f"{where}, resume ends after {min(ended)} of {whole} steps, and the samples that are left are "
            "lost. The last step takes what is left, even if some ranks get nothing.",
        )


def wrong_batch_size(where: str, step: int, batches: list[list[int]]) -> Mistake:
    """Return the mistake of a step in which a rank takes too much or too little."""
    lengths = " and ".join(str(len(batch)) for batch in batches)
    return Mistake(
        "wrong_batch_size",
        f"{where}, step {step + 1} takes {lengths} samples. Each rank takes batch_size of them, and fewer "
        "only in the last step.",
    )


def _wrong_samples(
    where: str,
    order: Order,
    size: int,
    start: Start,
    step: int,
    batches: list[list[int]],
    wanted: Order,
    is_last: bool,
) -> Mistake:
    taken = Counter(chain(*batches))
    if is_last and (set(taken) >= set(wanted) or set(taken) < set(wanted)):
        counted = f"{where}, the last step takes {taken.total()} samples where {len(wanted)} should be left"
        if set(taken) < set(wanted):
            return Mistake(
                "drops", f"{counted}: the others are lost. Take what is left, however little it is."
            )
        return Mistake(
            "pads", f"{counted}: some come twice. Do not fill it up; a list may be shorter, or empty."
        )
    if set(taken) < set(wanted) and taken.total() > len(taken):
        return Mistake(
            "ranks_overlap",
            f"{where}, two ranks take the same sample in step {step + 1}: each sample belongs to one rank.",
        )
    if set(taken) < set(wanted):
        return wrong_batch_size(where, step, batches)
    if start.steps and not step:
        return _wrong_place(where, order, size, start, list(taken), len(batches))
    if not start.steps and not step:
        _expect_first(where, order, list(taken))
    foreign = [number for number in taken if number not in wanted]
    return Mistake(
        "order_depends_on_ranks",
        f"{where}, step {step + 1} takes {foreign[0]}, which has another place in the epoch on one rank: "
        "others come here. Seed and epoch alone decide the order of the whole epoch, not the ranks, a global "
        "generator or hash() of a text. Then each rank takes its part of the next samples.",
    )


def _expect_first(where: str, order: Order, taken: Order) -> None:
    """Reject an epoch that begins with samples from its middle: the last state did not reset the position."""
    places = sorted(map(order.index, taken))
    if places == list(range(places[0], places[0] + len(places))):
        raise Mistake(
            "epoch_not_ended",
            f"{where}, the first step takes the samples that come after {places[0]} others. Does the last "
            "state of an epoch say that nothing of the next one is consumed?",
        )


def _wrong_place(where: str, order: Order, size: int, start: Start, taken: Order, ranks: int) -> Mistake:
    """Say where in the order a resumed job continues, if it is a place in it."""
    places = sorted(map(order.index, taken))
    place = places[0]
    if places != list(range(place, place + len(places))):
        return Mistake(
            "other_order_after_resuming",
            f"{where}, the first step does not take the samples that come next in the order with which the "
            f"epoch began, such as {order[start.consumed]}. Draw that order again, from the same seed and "
            "epoch, and continue at the saved place.",
        )
    name, cause = {
        start.steps * size * ranks: (
            "counts_steps",
            f" That is what {start.steps} steps on {ranks} ranks would take: does your state count steps, or "
            "one rank's samples in them?",
        ),
        start.steps * size: (
            "counts_one_rank",
            f" That is what one rank takes in {start.steps} steps: does your state count its samples alone?",
        ),
        start.fetched: ("prefetched_counted", " That includes what was fetched, but not trained."),
        0: (
            "starts_again",
            " The epoch begins again. The next job is another process, to which nothing passes but the saved "
            "state: is the position in it?",
        ),
    }.get(place, ("resumes_elsewhere", ""))
    if place == 2 * start.consumed:
        cause += " It is twice what was consumed: is that skipped twice?"
    return Mistake(
        name,
        f"{where}, the first step begins after {place} samples of the epoch, but {start.consumed} were "
        f"trained.{cause} Count the samples that all ranks have trained.",
    )
