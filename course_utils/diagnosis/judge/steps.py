"""What was measured of the steps of a loader."""

from typing import NamedTuple

from course_utils.diagnosis.judge.evidence import GAP, OTHERS, WAIT, Loader, Record, mean, median

PAUSE, LEAST_PAUSE = 20, 0.02  # times the usual gap between two batches, and seconds


def ms(seconds: float) -> str:
    """Milliseconds with three digits."""
    return f"{seconds * 1e3:.3g} ms" if seconds < 0.9995 else f"{seconds:.2f} s"


class Steps(NamedTuple):
    """What was measured of the steps of a loader.

    Attributes:
        wait: Mean seconds of waiting for a batch.
        spread: 5th and 95th percentile of it.
        compute: Mean seconds between two batches.
        share: Part of a step that is waiting.
        number: Steps that were measured.
    """

    wait: float
    spread: tuple[float, float]
    compute: float
    share: float
    number: int


def measured(loader: Loader) -> Steps:
    """Waiting and computing of a loader, in its steady passes."""
    rows = loader.rows()
    waits = sorted(row[WAIT] for row in rows)
    limit = pause_limit(rows)
    gaps = [max(row[GAP] - row[OTHERS], 0.0) for row in rows if row[GAP] >= 0]
    compute = mean(gap for gap in gaps if gap <= limit)
    wait = mean(waits)
    spread = (waits[len(waits) // 20], waits[-1 - len(waits) // 20]) if waits else (0.0, 0.0)
    return Steps(wait, spread, compute, wait / max(wait + compute, 1e-9), len(rows))


def pause_limit(rows: list[list[float]]) -> float:
    """Seconds from which on a gap between two batches is a pause, no step."""
    return max(PAUSE * median(row[GAP] - row[OTHERS] for row in rows if row[GAP] >= 0), LEAST_PAUSE)


def usual_fetches(fetches: list[Record]) -> list[Record]:
    """Fetches without the first of each worker and pass, where there are enough others."""
    seen: set[tuple[str, int]] = set()
    later = []
    for fetch in fetches:
        key = (fetch["epoch"], fetch["worker"])
        later += [fetch] if key in seen else []
        seen.add(key)
    return later if len(later) >= len(fetches) / 2 else fetches


def undelayed(fetches: list[Record]) -> float:
    """Mean seconds of a fetch, without those in which it waited for a core."""
    return mean(fetch["wall"] - fetch["delay"] for fetch in fetches)
