"""Whether the sources of a stream have their shares in each window."""

from collections.abc import Sequence

import numpy as np

from course_utils.checks.core import Messages

mistake = Messages(__name__)

WINDOW, TOLERANCE = 1000, 0.12  # a random draw is as far off in one window of 10 ** 13
LIKE = 0.05  # shares that are as near to those of a known mistake come from it


def expect_shares(sizes: Sequence[int], weights: Sequence[float], sources: np.ndarray) -> None:
    """Check the share of each source in each window of a stream.

    Args:
        sizes: Number of samples of each source.
        weights: Its share.
        sources: The source of each sample.

    Raises:
        Mistake: A share is too far off; the message says what the shares look like instead.
    """
    given = (sources[:, None] == np.arange(len(sizes))).cumsum(axis=0)
    before = np.vstack([np.zeros((1, len(sizes)), int), given[:-WINDOW]])
    shares = (given[WINDOW - 1 :] - before) / WINDOW
    off = np.abs(shares - weights).max(axis=1)
    if off.max() <= TOLERANCE + 1e-9:
        return
    start = int(off.argmax())
    source = int(np.abs(shares[start] - weights).argmax())
    overall = given[-1] / len(sources)
    by_size = np.array(sizes) / sum(sizes)
    ended = [number for number in range(len(sizes)) if _ends(number, sizes, weights, sources)]
    mistake.raise_first(
        {
            "source_ends": ended,
            "by_size": np.abs(overall - by_size).max() < LIKE,
            "equal_shares": np.abs(overall - 1 / len(sizes)).max() < LIKE,
            "uneven_windows": np.abs(overall - weights).max() <= TOLERANCE,
            "wrong_shares": True,
        },
        source=source,
        weight=weights[source],
        share=float(shares[start, source]),
        overall=float(overall[source]),
        first=start + 1,
        last=start + WINDOW,
        ended=ended[0] if ended else 0,
        size=sizes[ended[0] if ended else source],
        last_of_it=int(np.flatnonzero(sources == ended[0])[sizes[ended[0]] - 1]) + 1 if ended else 0,
    )


def _ends(source: int, sizes: Sequence[int], weights: Sequence[float], sources: np.ndarray) -> bool:
    """Return whether a source has its share until each of its samples was given once, and then none."""
    size, places = sizes[source], np.append(np.flatnonzero(sources == source), len(sources))
    if len(places) <= size or places[size] - places[size - 1] <= WINDOW:
        return False
    return bool(size / (places[size - 1] + 1) > weights[source] / 2)
