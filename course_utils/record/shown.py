"""Show what was recorded, beside a model or as a table: the records of the course and those of this site."""

import statistics
import warnings
from collections.abc import Callable, Mapping, Sequence
from itertools import cycle
from pathlib import Path
from string import ascii_uppercase

from matplotlib.axes import Axes

from course_utils.figures import INK
from course_utils.paths import DataNotFoundError, data_dir
from course_utils.record.schema import NOBODY, PARTS, Record, decode, faults, spread
from course_utils.record.store import FOLDER, PATTERN

SHIPPED = Path(__file__).parent / "shipped"


def recorded(kind: str) -> list[Record]:
    """Return the records that hold a part: those of the course, then those in the data directory.

    Args:
        kind: A name of `PARTS`.

    Raises:
        ValueError: There is no such part.
    """
    if kind not in PARTS:
        raise ValueError(f"{kind!r} is no part of a record; there are {', '.join(PARTS)}")
    found = []
    for path in [path for folder in _folders() for path in sorted(folder.glob(PATTERN))]:
        raw = path.read_bytes()
        if problems := faults(raw):
            advice = f"python -m course_utils.record --check {path.name}"
            warnings.warn(f"{path.name} is left out: {problems[0]} ({advice})", stacklevel=2)
        elif (record := decode(raw)).parts[kind].rounds:
            found.append(record)
    return found


def _folders() -> list[Path]:
    try:
        return [SHIPPED, data_dir() / FOLDER]
    except DataNotFoundError:
        return [SHIPPED]


def table(kind: str) -> str:
    """Return all records of a part as text: median and range of each number, or that there are none."""
    unit = PARTS[kind].unit
    texts = []
    for record in recorded(kind):
        part = record.parts[kind]
        rows = [f"  {name:40} {spread(record.values(kind, name))} {unit}" for name in part.rounds[0].values]
        rows += [f"  {name:40} left out: {reason}" for name, reason in part.left_out.items()]
        texts.append("\n".join([f"recorded on {record}", *rows]))
    return "\n".join(texts) or NOBODY


def mark(
    axes: Axes,
    kind: str,
    places: Mapping[str, tuple[float, Callable[[float], float]]],
    colours: Sequence[str] = (INK,),
    sideways: bool = False,
) -> str:
    """Draw recorded numbers beside a model: a dot and a letter at the median, a line over the range.

    Args:
        axes: Where the model is drawn; its legend and its limits stay.
        kind: A name of `PARTS`.
        places: By the name of a number: where on the x axis, and the function from it to what is drawn.
        colours: One for each place, repeated if there are fewer.
        sideways: Whether the numbers lie along the x axis, and the places on the y axis.

    Returns:
        Which letter is which machine, or that nobody has recorded this.
    """
    lines = []
    for letter, record in zip(ascii_uppercase, recorded(kind), strict=False):
        lines.append(f"{letter}: recorded on {record}")
        for (name, (place, scaled)), colour in zip(places.items(), cycle(colours), strict=False):
            values = [scaled(value) for value in record.values(kind, name)]
            if not values:
                continue
            middle = statistics.median(values)
            for along, style in (([min(values), max(values)], "-"), ([middle], "o")):
                pair = ([place] * len(along), along)
                axes.plot(*(pair[::-1] if sideways else pair), style, color=colour, ms=4, zorder=5)
            point, offset = ((middle, place), (0, 7)) if sideways else ((place, middle), (8, 0))
            axes.annotate(
                letter, point, offset, "data", "offset points", color=colour, ha="center", va="center"
            )
    return "\n".join(lines) or NOBODY
