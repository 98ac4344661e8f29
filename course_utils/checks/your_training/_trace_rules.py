"""What can be read from a trace in right and in wrong ways.

Withheld from submissions: it answers `read_trace`.
"""

import statistics
from collections.abc import Callable, Iterable
from typing import Any

from course_utils.checks.core import Mistake, environment
from course_utils.checks.your_training._traces import FIRST, STAGES

TOLERANCE = 1e-3  # of a share
Spans = list[dict[str, Any]]


class ReadTrace:
    """A trace, and what can be read from it in right and in wrong ways."""

    def __init__(self, text: str) -> None:
        events = environment.json.loads(text)["traceEvents"]
        threads = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["ph"] == "M"}
        self.spans: Spans = [
            {**e, **e["args"], "thread": threads[e["pid"], e["tid"]]} for e in events if e["ph"] == "X"
        ]

    def share(self, first: int = FIRST, **other: float) -> float:
        """Return the share of waiting, counted from a batch on; `other` replaces waiting or whole time."""
        waiting = other.get("waiting", _union(self.waits(first)))
        return waiting / other.get("whole", self.whole(first))

    def main(self, first: int = FIRST) -> Spans:
        return [s for s in self.spans if s["thread"] == "main" and s.get("batch", -1) >= first]

    def waits(self, first: int = FIRST) -> Spans:
        return [s for s in self.main(first) if s["name"] == "wait"]

    def windows(self, first: int = FIRST) -> dict[int, float]:
        """Return the length of each epoch, from the first wait that counts to the end of its last step."""
        return {
            epoch: max(map(_end, mine)) - min(s["ts"] for s in mine)
            for epoch in {s["epoch"] for s in self.spans}
            if (mine := [s for s in self.main(first) if s["epoch"] == epoch])
        }

    def whole(self, first: int = FIRST) -> float:
        return sum(self.windows(first).values())

    def slow_stage(
        self, middle: Callable[[list[int]], float] = statistics.median, at_first: bool = False
    ) -> str:
        """Return the stage of loading with the largest middle time, in the first batches or behind them."""
        times: dict[str, list[int]] = {}
        for s in self.spans:
            if s["name"] in STAGES and (s["batch"] < FIRST) == at_first:
                times.setdefault(s["name"], []).append(s["dur"])
        return max(times, key=lambda stage: middle(times[stage]))


def _end(span: dict[str, Any]) -> int:
    return int(span["ts"] + span["dur"])


def _sum(spans: Iterable[dict[str, Any]]) -> float:
    return float(sum(s["dur"] for s in spans))


def _union(spans: Spans, in_order: bool = True) -> float:
    """Return the time in which at least one span lies; without sorting, what one forgets to sort."""
    total, end = 0, 0
    for s in sorted(spans, key=lambda s: s["ts"]) if in_order else spans:
        total += max(0, _end(s) - max(s["ts"], end))
        end = max(end, _end(s))
    return total


def wrong_share(traces: list[ReadTrace], shares: list[float]) -> Mistake:
    for name, (rule, advice) in KNOWN_MISTAKES.items():
        if agree(shares, map(rule, traces), within=1e-6):
            return Mistake(name, advice)
    wrong = next(n for n, trace in enumerate(traces) if not agree([shares[n]], [trace.share()]))
    [one] = [s for s in traces[wrong].waits() if s["epoch"] == 0 and s["batch"] == FIRST][:1]
    return Mistake(
        "wrong_share",
        f"In one trace you find a share of {shares[wrong]:.3f}; it is {traces[wrong].share():.3f}. Take it "
        f"apart: the first wait that counts, of epoch 0 and batch {FIRST}, begins at {one['ts']} and belongs "
        f"to process {one['pid']}; that epoch ends {traces[wrong].windows()[0]:.0f} µs later; "
        f"{len(traces[wrong].waits())} spans are waits that count, half of them "
        "within another one.",
    )


def wrong_stage(trace: ReadTrace, stage: str) -> Mistake:
    right = trace.slow_stage()
    if stage not in STAGES:
        return Mistake(
            "no_stage",
            f"{stage!r} is no stage of loading. The workers' spans are named after what they do; a wait of "
            "theirs is none of it, and `step` is the main process's.",
        )
    if stage == trace.slow_stage(sum):
        return Mistake(
            "one_slow_batch",
            f"{stage} has the largest sum, because of a single batch. In a usual batch {right} takes "
            "longest: compare medians.",
        )
    if stage == trace.slow_stage(at_first=True):
        return Mistake(
            "slow_at_first",
            f"{stage} is slow in the first batches alone. From batch {FIRST} on, {right} takes longest.",
        )
    return Mistake(
        "wrong_stage",
        f"You name {stage}; in a usual batch {right} takes longest, among the batches from number {FIRST} "
        "on.",
    )


def agree(found: Iterable[float], other: Iterable[float], within: float = TOLERANCE) -> bool:
    return all(abs(a - b) <= within for a, b in zip(found, other, strict=True))


def _by_tid(trace: ReadTrace) -> Spans:
    return [s for s in _with_workers(trace) if s["tid"] == 1]


def _with_workers(trace: ReadTrace) -> Spans:
    return [s for s in trace.spans if s["name"] == "wait" and s["batch"] >= FIRST]


def _not_steps(trace: ReadTrace) -> float:
    return trace.whole() - _sum(s for s in trace.main() if s["name"] == "step")


def _from_end_to_end(trace: ReadTrace) -> float:
    return float(max(map(_end, trace.main())) - min(s["ts"] for s in trace.main()))


def _mean_of_epochs(trace: ReadTrace) -> float:
    windows = trace.windows()
    waits = {n: _union([s for s in trace.waits() if s["epoch"] == n]) for n in windows}
    return statistics.mean(waits[n] / windows[n] for n in windows)


_WORKERS = (
    "You count waits of the workers, too. A worker that waits for work is no loss: the training waits only "
    "in the "
    "thread `main`. Names of threads belong to a pair of `pid` and `tid`."
)
_TWICE = (
    "You add the lengths of all waits. Some lie within another one, so their time counts twice: merge spans "
    "that "
    "overlap before you add."
)
_FIRST_IN = (
    "You count the first batches of an epoch. While the pipeline fills, every training waits: begin with "
    f"batch {FIRST} "
    "of each epoch, with the waits and with the whole time."
)
KNOWN_MISTAKES: dict[str, tuple[Callable[[ReadTrace], float], str]] = {
    "workers_wait": (lambda t: t.share(waiting=_sum(_by_tid(t))), _WORKERS),
    "all_threads_wait": (lambda t: t.share(waiting=_sum(_with_workers(t))), _WORKERS),
    "workers_wait_merged": (lambda t: t.share(waiting=_union(_with_workers(t))), _WORKERS),
    "first_batches_in": (lambda t: t.share(first=0), _FIRST_IN),
    "first_waits_in": (lambda t: t.share(waiting=_union(t.waits(0))), _FIRST_IN),
    "first_time_in": (lambda t: t.share(whole=t.whole(0)), _FIRST_IN),
    "overlaps_added": (lambda t: t.share(waiting=_sum(t.waits())), _TWICE),
    "overlaps_and_first_added": (
        lambda t: t.share(waiting=_sum(t.waits(0)), whole=t.whole(0)),
        f"{_TWICE} {_FIRST_IN}",
    ),
    "not_sorted": (
        lambda t: t.share(waiting=_union(t.waits(), in_order=False)),
        "You merge spans in the order of the file, which is none. Sort them by `ts` first.",
    ),
    "all_but_steps": (
        lambda t: t.share(waiting=_not_steps(t)),
        "You take all that is no `step` for waiting. The log is written in between; the waits are named "
        "`wait`.",
    ),
    "pauses_in": (
        lambda t: t.share(whole=_from_end_to_end(t)),
        "Your whole time runs from the first epoch to the end of the last one, with the validation in "
        "between. Add "
        "up the epochs, each to the end of its last step.",
    ),
    "divided_by_steps": (
        lambda t: t.share(whole=_sum(s for s in t.main() if s["name"] == "step")),
        "You divide the waiting by the time of the steps. The share is of the whole time, which has both.",
    ),
    "mean_of_epochs": (
        _mean_of_epochs,
        "You take the mean of the epochs' shares. A short epoch counts as much as a long one then: divide "
        "the waiting "
        "of all epochs by the time of all epochs.",
    ),
    "percent": (lambda t: 100 * t.share(), "That is per cent. Return a share between 0 and 1."),
    "seconds": (
        lambda t: _union(t.waits()) / 1e6,
        "Those are the seconds of waiting. Divide by the whole time, so that a short run can be compared "
        "with a long one.",
    ),
    "microseconds": (
        lambda t: _union(t.waits()),
        "Those are the microseconds of waiting. Return their share of the whole time.",
    ),
    "computing_share": (
        lambda t: 1 - t.share(),
        "That is the part of the time in which the training does not wait. Return the other part.",
    ),
}
