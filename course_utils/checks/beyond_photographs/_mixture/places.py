"""Where in the stream of a mixture the ranks of a job are."""

from collections.abc import Sequence

import numpy as np

from course_utils.checks.beyond_photographs._mixture.jobs import Job
from course_utils.checks.core import Messages, Mistake

mistake = Messages(__name__)


def expect_place(stream: np.ndarray, job: Job, ranks: Sequence[np.ndarray], earlier: Job | None) -> None:
    """Check that the ranks of a job take the next samples of the stream in turn.

    Args:
        stream: The stream on one rank, int64, (samples, 2), longer than all jobs.
        job: The job.
        ranks: What each of its ranks was given.
        earlier: The job whose state it has resumed from, if any.

    Raises:
        Mistake: They do not; the message says what they take instead.
    """
    start, size = job["start"], job["ranks"]
    if all(
        np.array_equal(of_rank, stream[start + rank :: size][: len(of_rank)])
        for rank, of_rank in enumerate(ranks)
    ):
        return
    steps = min(map(len, ranks))
    merged = np.stack([of_rank[:steps] for of_rank in ranks], axis=1).reshape(-1, 2)
    values = {"ranks": size, "given": start}
    same = size > 1 and all(np.array_equal(ranks[0][:steps], of_rank[:steps]) for of_rank in ranks)
    mistake.raise_first({"every_rank_gives_all": same}, **values)
    if earlier is None:
        in_it = all(_is_part(of_rank, stream[: 4 * len(merged)]) for of_rank in ranks)
        raise mistake("not_in_turn" if in_it else "depends_on_ranks", **values)
    raise _wrong_place(stream, job, merged, ranks, earlier)


def _is_part(few: np.ndarray, many: np.ndarray) -> bool:
    """Return whether samples occur in a stream in this order, others in between or not."""
    left = iter(map(tuple, many.tolist()))
    return all(tuple(sample) in left for sample in few.tolist())


def _wrong_place(
    stream: np.ndarray, job: Job, merged: np.ndarray, ranks: Sequence[np.ndarray], earlier: Job
) -> Mistake:
    """Say where a resumed job continues."""
    start, size = job["start"], job["ranks"]
    values = {"ranks": size, "given": start, "before": earlier["ranks"]}
    turned = all(
        np.array_equal(of_rank, stream[start + (rank - start) % size :: size][: len(of_rank)])
        for rank, of_rank in enumerate(ranks)
    )
    if turned:
        return mistake("starts_with_another_rank", first=start % size, **values)
    place = _find(stream, merged)
    if place is None:
        return mistake(_kept(stream, start, merged), **values)
    fetched = earlier["taken"] + earlier["ahead"][earlier["saved_by"]]
    names = {
        0: "starts_again",
        start * size: "counts_steps.multiplied",
        start // earlier["ranks"] * size: "counts_steps.divided",
        start // earlier["ranks"]: "counts_one_rank",
        earlier["taken"]: "counts_one_rank",
        fetched: "counts_fetched",
        fetched * earlier["ranks"]: "counts_fetched",
        earlier["start"] + fetched: "counts_fetched",
        earlier["start"] + fetched * earlier["ranks"]: "counts_fetched",
        start + earlier["start"]: "counts_twice",
        start - earlier["start"]: "counts_since_resume",
    }
    return mistake(names.get(place, "resumes_elsewhere"), place=place, **values)


def _find(stream: np.ndarray, merged: np.ndarray) -> int | None:
    """Return the first place where a stream holds these samples."""
    starts = np.flatnonzero((stream[: len(stream) - len(merged) + 1] == merged[0]).all(axis=1))
    return next((int(one) for one in starts if np.array_equal(stream[one : one + len(merged)], merged)), None)


def _kept(stream: np.ndarray, start: int, merged: np.ndarray) -> str:
    """Return the name of the mistake of a job that continues at no place of the stream."""
    wanted = stream[start : start + len(merged)]

    def numbers(pairs: np.ndarray, source: int) -> list[int]:
        found: list[int] = pairs[pairs[:, 0] == source, 1].tolist()
        return found

    def follow(first: int) -> bool:
        both = [(numbers(merged, n), numbers(stream[first:], n)) for n in np.unique(merged[:, 0])]
        return all(many[: len(few)] == few for few, many in both)

    if follow(start):
        return "other_turns"
    if follow(0):
        return "sources_begin_again"
    return "other_orders" if np.array_equal(merged[:, 0], wanted[:, 0]) else "other_stream"
