"""What can be read from a trace in right and in wrong ways.

Withheld from submissions: it answers `read_trace`.
"""

import statistics
from collections.abc import Callable, Iterable, Sequence
from itertools import product

from course_utils.checks.core import Mistake
from course_utils.checks.your_training._traces import FIRST, Row

TOLERANCE = 1e-3  # of a share: it may be rounded to three digits
Rule = Callable[["ReadTrace"], float]


class ReadTrace:
    """A trace, and what can be read from it in right and in wrong ways."""

    def __init__(self, rows: Iterable[Sequence[object]]) -> None:
        self.rows: list[Row] = [tuple(row) for row in rows]  # type: ignore[misc]

    def main(self, first: int = FIRST) -> list[Row]:
        return [row for row in self.rows if row[0] == "main" and row[2] >= first]

    def waits(self, first: int = FIRST) -> list[Row]:
        return [row for row in self.main(first) if row[1] == "wait"]

    def all_waits(self, first: int = FIRST) -> list[Row]:
        """Return the waits of all threads."""
        return [row for row in self.rows if row[1] == "wait" and row[2] >= first]

    def loading(self) -> list[Row]:
        return [row for row in self.rows if row[0] != "main" and row[1] != "wait" and row[2] >= FIRST]

    def steps(self) -> float:
        return added([row for row in self.main() if row[1] == "step"])

    def whole(self, first: int = FIRST) -> float:
        """Return the time from the first wait that counts to the end of the last step."""
        return float(self.end() - min(row[3] for row in self.main(first)))

    def end(self) -> int:
        return max(row[4] for row in self.main() if row[1] == "step")

    def share(self) -> float:
        return merged(self.waits()) / self.whole()

    def slow_stage(self, middle: Callable[[list[int]], float] = statistics.median, first: int = FIRST) -> str:
        """Return the stage of loading with the largest middle time, from a batch on."""
        times: dict[str, list[int]] = {}
        for thread, name, batch, begin, end in self.rows:
            if thread != "main" and name != "wait" and batch >= first:
                times.setdefault(name, []).append(end - begin)
        return max(times, key=lambda stage: middle(times[stage]))


def added(rows: list[Row]) -> float:
    return float(sum(end - begin for *_, begin, end in rows))


def merged(rows: list[Row]) -> float:
    """Return the time in which at least one row lies."""
    total = done = 0
    for *_, begin, end in sorted(rows, key=lambda row: row[3]):
        total += max(0, end - max(begin, done))
        done = max(done, end)
    return float(total)


def agree(found: list[float], other: list[float], within: float = TOLERANCE) -> bool:
    return all(abs(a - b) <= within for a, b in zip(found, other, strict=True))


def wrong_share(traces: list[ReadTrace], shares: list[float]) -> Mistake:
    for (waiting, name, advice), (whole, other_name, other_advice) in product(WAITING, WHOLE):
        if agree(shares, [waiting(trace) / whole(trace) for trace in traces]):
            both = advice if other_advice in advice else f"{advice} {other_advice}"
            return Mistake(name or other_name, both.strip())
    if agree(shares, [1 - trace.share() for trace in traces]):
        return Mistake(
            "computing_share",
            "That is the part of the time in which the training does not wait. Return the other part.",
        )
    wrong = next(n for n, trace in enumerate(traces) if not agree([shares[n]], [trace.share()]))
    trace = traces[wrong]
    return Mistake(
        "wrong_share",
        f"In one trace you find a share of {shares[wrong]:.3f}; it is {trace.share():.3f}. Take it apart: "
        f"the first wait that counts, of batch {FIRST}, begins at {trace.main()[0][3]}, and the last step "
        f"ends {trace.whole():.0f} µs later; meanwhile `main` waits {merged(trace.waits()):.0f} µs.",
    )


def wrong_stage(trace: ReadTrace, stage: str) -> Mistake:
    right = trace.slow_stage()
    if stage not in {row[1] for row in trace.loading()}:
        return Mistake(
            "no_stage",
            f"{stage!r} is no stage of loading. Workers name their rows after what they do; a wait of theirs "
            "is none of it, and `step` is the main process's.",
        )
    if stage == trace.slow_stage(sum):
        return Mistake(
            "one_slow_batch",
            f"{stage} has the largest sum, because of a single batch. In a usual batch {right} takes "
            "longest: compare medians.",
        )
    if stage in (trace.slow_stage(first=0), trace.slow_stage(sum, first=0)):
        return Mistake(
            "slow_at_first",
            f"{stage} is slow in the first batches alone. From batch {FIRST} on, {right} takes longest.",
        )
    return Mistake(
        "wrong_stage",
        f"You name {stage}; in a usual batch {right} takes longest, of all workers, from batch {FIRST} on.",
    )


_WORKERS = (
    "You count time of the workers. One that waits for work is no loss, and one that loads does so while the "
    "training computes: the training waits only in the thread `main`."
)
_TWICE = (
    "You add the lengths of all waits. Some lie within another one, so their time counts twice: take the "
    "longest of a batch, or merge what overlaps."
)
_FIRST_IN = (
    "You count the first batches. While the pipeline fills, every training waits: begin with batch "
    f"{FIRST}, with the waits and with the whole time."
)
# Each pair of a waiting time and a whole time is a way to find a share; the right pair comes first.
WAITING: tuple[tuple[Rule, str, str], ...] = (
    (lambda t: merged(t.waits()), "", ""),
    (lambda t: added(t.waits()), "overlaps_added", _TWICE),
    (lambda t: merged(t.waits(0)), "first_batches_in", _FIRST_IN),
    (lambda t: added(t.waits(0)), "overlaps_added", f"{_TWICE} {_FIRST_IN}"),
    (lambda t: added(t.all_waits()), "workers_wait", _WORKERS),
    (lambda t: merged(t.all_waits()), "workers_wait", _WORKERS),
    (lambda t: added(t.all_waits(0)), "workers_wait", _WORKERS),
    (lambda t: merged(t.all_waits(0)), "workers_wait", _WORKERS),
    (lambda t: added([r for r in t.all_waits() if r[0] != "main"]), "workers_wait", _WORKERS),
    (lambda t: added(t.loading()), "workers_load", _WORKERS),
    (lambda t: merged(t.loading()), "workers_load", _WORKERS),
    (
        lambda t: t.whole() - t.steps(),
        "all_but_steps",
        "You take all that is no `step` for waiting. The log is written in between; waits are named `wait`.",
    ),
)
WHOLE: tuple[tuple[Rule, str, str], ...] = (
    (lambda t: t.whole(), "", ""),
    (lambda t: t.whole(0), "first_batches_in", _FIRST_IN),
    (
        lambda t: t.end(),
        "clock_of_the_trace",
        "The whole time begins with the first wait for batch 3, not where the clock of the trace begins.",
    ),
    *(
        (end, "ends_later", "The whole time ends with the last step of `main`, whatever comes behind it.")
        for end in (
            lambda t: t.main()[-1][4] - t.main()[0][3],
            lambda t: max(row[4] for row in t.rows) - t.main()[0][3],
        )
    ),
    (
        lambda t: t.steps(),
        "divided_by_steps",
        "You divide the waiting by the time of the steps. The share is of the whole time, which has both.",
    ),
    (lambda t: t.whole() / 100, "percent", "That is per cent. Return a share between 0 and 1."),
    (
        lambda _: 1e6,
        "seconds",
        "Those are the seconds of waiting. Divide by the whole time: it may be short or long.",
    ),
    (
        lambda _: 1,
        "microseconds",
        "Those are the microseconds of waiting. Return their share of the whole time.",
    ),
)
