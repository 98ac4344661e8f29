"""Time what a slider redraws: `python -m tests.bench.sliders`.

Target: under 100 ms of one core for each panel, from a slider's new value to the picture that is sent to the
browser. A loop of additions is timed beside it, because cores differ: 45 to 60 ms on those of 2024.
"""

import time
from collections.abc import Callable
from statistics import median

import matplotlib as mpl

from tests.sliders.test_panels import PANELS

MOVES, ADDITIONS = 21, 1_000_000


def cpu_ms(work: Callable[[], object]) -> float:
    """Return the milliseconds of CPU time that a call takes."""
    start = time.process_time()
    work()
    return 1e3 * (time.process_time() - start)


def main() -> None:
    """Print the median and the range of each panel."""
    mpl.use("Agg")
    reference = median(cpu_ms(lambda: sum(i * i for i in range(ADDITIONS))) for _ in range(MOVES))
    print(f"{ADDITIONS:,} additions: {reference:.0f} ms")
    for make in PANELS:
        panel = make()
        panel.redraw()
        times = sorted(cpu_ms(panel.redraw) for _ in range(MOVES))
        name, low, high = make.__name__.removeprefix("of_"), times[0], times[-1]
        print(f"{name:10} {median(times):4.0f} ms of CPU time ({low:.0f} to {high:.0f})")


if __name__ == "__main__":
    main()
