"""A chart of the log: images per second after each lesson, beside the ceiling of the machine."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from course_utils.figures import BLUE, GREEN, INK, ORANGE
from course_utils.train_script.before_after import progress
from course_utils.train_script.log import Line


def plot_log(log: Sequence[Line]) -> Axes:
    """Draw a bar for the first run and one for the newest run of each lesson; return the axes.

    A bar ends at the fastest epoch, and a line reaches down to the slowest, which includes the start of the
    workers. Runs on other machines than that of the newest run are left out.

    Args:
        log: What `measure` or `read_log` returned.

    Raises:
        ValueError: The log is empty.
    """
    found = progress(log)
    lines = (found.before, *found.after)
    names = ["before", *(f"lesson {line.lesson}" for line in found.after)]
    colors = [ORANGE, *[BLUE] * len(found.after)]
    below = [line.fastest - line.slowest for line in lines]
    figure, axes = plt.subplots(figsize=(7, 1.2 + 0.4 * len(lines)), layout="constrained")
    axes.barh(
        names,
        [line.fastest for line in lines],
        color=colors,
        xerr=(below, [0] * len(lines)),
        error_kw={"ecolor": INK, "capsize": 3},
    )
    if found.ceiling:
        axes.axvline(found.ceiling, color=GREEN, linestyle="--", label="ceiling: one cached batch")
        figure.legend(loc="outside lower right")
    axes.invert_yaxis()
    axes.set(xlabel=f"images per second ({found.newest.machine})", xlim=(0, None))
    axes.set_title(str(found), loc="left")
    return axes
