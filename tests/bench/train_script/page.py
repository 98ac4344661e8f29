"""The page of a record: a row for each version, and whether what was asked for is reached."""

from tests.bench.recording.environment import where_and_when
from tests.bench.recording.spread import Spread

GIVEN = "given"
ASKED_AFTER, ASKED_RATIO, ASKED_SHARE = "03", 3, 0.8
EXPLAINED = """\
The *ceiling* is the same script with one cached batch instead of loading; 00 to 02 train as given, and take \
that ceiling. Ratios are those of one round each. *Last epoch*: what of the validation set \
was right, and a checksum of the labels in order, which the given script draws from the global generator."""


def speed(record: dict, version: str) -> Spread:
    """Return the images per second of a version."""
    return Spread.of(record["speeds"][version])


def ratio(record: dict, version: str) -> Spread:
    """Return how many times as fast as the given script a version is, in the same round."""
    return _quotients(record["speeds"][version], record["speeds"][GIVEN])


def share(record: dict, version: str) -> Spread:
    """Return the share of its own ceiling that a version reaches, in the same round.

    Versions without a ceiling of their own train as the given script does.
    """
    ceilings = record["ceilings"]
    return _quotients(record["speeds"][version], ceilings.get(version, ceilings[GIVEN]))


def page(record: dict) -> str:
    """Return the page in Markdown."""
    times, part = ratio(record, ASKED_AFTER), share(record, ASKED_AFTER)
    rows = [
        f"| {_name(one)} | {speed(record, one).text(0)} | {ratio(record, one).text(1)} "
        f"| {share(record, one).text(2)} | {record['learned'][one]} |"
        for one in record["speeds"]
    ]
    return "\n".join([
        "# `train.py` after each lesson",
        "",
        f"Two epochs on {record['images']:,} photographs, of which the second counts: median (and range) of "
        f"{len(record['speeds'][GIVEN])} interleaved rounds ({where_and_when(record)}; "
        f"load before the first: {record['load']}).",
        "",
        f"- After lesson {ASKED_AFTER}: {times.text(1)} times as fast as given. "
        f"Asked: at least {ASKED_RATIO}; "
        f"{_verdict(times.median >= ASKED_RATIO)}.",
        f"- After lesson {ASKED_AFTER}: {part.text(2)} of its own ceiling. Asked: at least {ASKED_SHARE}; "
        f"{_verdict(part.median >= ASKED_SHARE)}.",
        "",
        "![Bars of images per second for each version, and marks for ceilings, as in the table.]"
        "(train_script.svg)",
        "",
        "| version | images/s | times as fast as given | of the ceiling | last epoch |",
        "|---|---|---|---|---|",
        *rows,
        "",
        EXPLAINED,
        "",
        "Made by `python -m tests.bench.train_script --record`.",
        "",
    ])  # fmt: skip


def _name(version: str) -> str:
    return "as given" if version == GIVEN else f"after lesson {version}"


def _verdict(reached: bool) -> str:
    return "reached" if reached else "not reached"


def _quotients(values: list[float], divisors: list[float]) -> Spread:
    return Spread.of(value / divisor for value, divisor in zip(values, divisors, strict=True))
