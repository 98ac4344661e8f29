"""The facts about each format, and what reading it costs, from the one table of facts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from course_utils.format_trials.fact_table import FACT_TABLE, Fact, Group
from course_utils.formats import FORMATS

Cost = tuple[float, float]


@dataclass(frozen=True)
class FormatFacts:
    """What holds for one format; `FACT_TABLE` says what each attribute means."""

    random: Cost | None
    stream: Cost
    a_file_each: bool
    shared: str
    object_store: bool
    index_bytes: int
    extra_bytes: int
    before_fork: bool
    appends: bool
    notices_damage: bool
    survives_kill: bool
    library: str
    read_by: tuple[str, ...]


def facts_by_format(formats: Iterable[str], table: Mapping[str, Fact] = FACT_TABLE) -> dict[str, FormatFacts]:
    """Return the facts about each format.

    Args:
        formats: Names of all formats.
        table: Facts by name.

    Raises:
        ValueError: A format does not stand in exactly one group of a fact, or a group names another one.
    """
    found: dict[str, dict[str, Any]] = {name: {} for name in formats}
    for fact, (_, groups) in table.items():
        named = [name for group in groups for name in group.formats.split()]
        if sorted(named) != sorted(found):
            wrong = {name for name in named if name not in found or named.count(name) > 1}
            raise ValueError(
                f"{', '.join(sorted(wrong | {*found} - {*named}))}: each format of the registry and no other "
                f"stands once in the fact {fact!r} of course_utils/format_trials/fact_table.py"
            )
        for group in groups:
            for name in group.formats.split():
                found[name][fact] = group.value
    return {name: FormatFacts(**values) for name, values in found.items()}


def group_of(fact: str, name: str) -> Group:
    """Return the group that says a fact about a format, with its reason and source."""
    return next(group for group in FACT_TABLE[fact].groups if name in group.formats.split())


FACTS = facts_by_format(name for _, name in FORMATS)
# By access and format: requests for a sample, and bytes that arrive for each of its bytes.
READ_COSTS: dict[str, dict[str, Cost]] = {
    "random": {name: found.random for name, found in FACTS.items() if found.random is not None},
    "stream": {name: found.stream for name, found in FACTS.items()},
}
