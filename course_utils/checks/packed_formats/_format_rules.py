"""Which requirement excludes which packed format: the rules, made from the table of facts.

Withheld from submissions: it answers `choose_format`.
"""

from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np

from course_utils.format_trials import FACTS, READ_COSTS, FormatFacts, Requirements, group_of

NAMES = tuple(FACTS)
READERS = tuple(dict.fromkeys(program for facts in FACTS.values() for program in facts.read_by))
ROOM_BYTES = 280  # a sample: what a worker may take is never less, so that only larger indexes are too large
INDEX_BYTES = {name: facts.index_bytes for name, facts in FACTS.items() if facts.index_bytes > ROOM_BYTES}
MANY_TIMES = 10  # the bytes of a sample: a group was fetched for it

ACCESSES, PLACES = ("stream", "random"), ("local", "shared", "object store")


class Rule(NamedTuple):
    """Formats that a requirement excludes.

    Args:
        mistake: Name of the mistake of choosing one of them.
        asked: The requirement, as the statement names it.
        fact: Name of the fact that decides.
        excluded: The formats.
        applies: Whether requirements ask for it.
    """

    mistake: str
    asked: str
    fact: str
    excluded: frozenset[str]
    applies: Callable[[Requirements], bool]

    def reason(self, name: str) -> str:
        """Return why a format will not do, for a student."""
        group = group_of(self.fact, name)
        return f"{group.because} (`{self.fact}` is {group.value!r})"


def _where(excluded: Callable[[FormatFacts], bool]) -> frozenset[str]:
    return frozenset(name for name, facts in FACTS.items() if excluded(facts))


def _without(fact: str) -> frozenset[str]:
    return _where(lambda facts: not getattr(facts, fact))


def _asks(field: str, value: object = True) -> Callable[[Requirements], bool]:
    return lambda wanted: getattr(wanted, field) == value


def _shared_at_random(wanted: Requirements) -> bool:
    return wanted.place == "shared" and wanted.access == "random"


def _moved_in_streams_only(facts: FormatFacts) -> float:
    """Return how many times its bytes a sample moves if only local files are read at random; 0 for others."""
    return facts.random[1] if facts.shared == "stream" and facts.random else 0


RANDOM, SHARED, STORE = '`access` is `"random"`', '`place` is `"shared"`', '`place` is `"object store"`'
BOTH = f"{SHARED} and {RANDOM}"
RULES = (
    Rule("no_random_access", RANDOM, "random", _without("random"), _asks("access", "random")),
    Rule("too_many_files", "`file_quota` is exceeded", "a_file_each",
         _where(lambda facts: facts.a_file_each), lambda wanted: wanted.samples > wanted.file_quota),
    Rule("opens_a_file_for_each_sample", SHARED, "shared",
         _where(lambda facts: facts.shared == "nothing" and facts.a_file_each), _asks("place", "shared")),
    Rule("not_on_a_shared_file_system", SHARED, "shared",
         _where(lambda facts: facts.shared == "nothing" and not facts.a_file_each), _asks("place", "shared")),
    Rule("reads_a_group_for_a_sample", BOTH, "shared",
         _where(lambda facts: _moved_in_streams_only(facts) >= MANY_TIMES), _shared_at_random),
    Rule("several_requests_for_a_sample", BOTH, "shared",
         _where(lambda facts: 0 < _moved_in_streams_only(facts) < MANY_TIMES), _shared_at_random),
    Rule("needs_a_mounted_file", STORE, "object_store", _without("object_store"),
         _asks("place", "object store")),
    *(
        Rule("index_too_large", "`worker_memory` is exceeded", "index_bytes",
             frozenset({name}),
             lambda wanted, each=each: each * wanted.samples > wanted.worker_memory)  # type: ignore[misc]
        for name, each in INDEX_BYTES.items()
    ),
    Rule("not_to_be_shared", "`opened_before_fork`", "before_fork", _without("before_fork"),
         _asks("opened_before_fork")),
    Rule("cannot_append", "`append`", "appends", _without("appends"), _asks("append")),
    Rule("damage_unnoticed", "`notice_damage`", "notices_damage", _without("notices_damage"),
         _asks("notice_damage")),
    Rule("lost_when_killed", "`survive_kill`", "survives_kill", _without("survives_kill"),
         _asks("survive_kill")),
    Rule("needs_a_library", "`only_numpy`", "library", _where(lambda facts: bool(facts.library)),
         _asks("only_numpy")),
    *(
        Rule("others_cannot_read_it", "`read_by` is a program", "read_by",
             frozenset(name for name, facts in FACTS.items() if program not in facts.read_by),
             _asks("read_by", program))
        for program in READERS
    ),
)  # fmt: skip


def admissible(wanted: Requirements) -> set[str]:
    """Return the formats that no rule excludes."""
    return set(NAMES).difference(*(rule.excluded for rule in RULES if rule.applies(wanted)))


def seconds(wanted: Requirements, name: str) -> float:
    """Return the time that reading a sample takes."""
    requests, times = READ_COSTS[wanted.access][name]
    return requests * wanted.latency + times * wanted.sample_bytes / wanted.bandwidth


def draw_cases(rng: np.random.Generator) -> list[dict[str, Any]]:
    """Draw sets of requirements: none, each one alone, both sides of each limit, and several at a time."""
    samples, large = int(rng.integers(1_000_000, 5_000_000)), int(rng.integers(100_000, 200_000))
    plain: dict[str, Any] = {"samples": samples, "latency": float(rng.uniform(5e-6, 5e-5))}
    alone: list[dict[str, Any]] = [
        *({"access": access, "place": place} for access in ACCESSES for place in PLACES),
        {"file_quota": samples // int(rng.integers(2, 20))},
        *({"file_quota": samples + more} for more in (-1, 0, 1)),
        *({"worker_memory": each * samples + more} for each in INDEX_BYTES.values() for more in (-1, 0)),
        {"worker_memory": int(rng.uniform(ROOM_BYTES, 295) * samples)},
        {"worker_memory": int(rng.uniform(305, 745) * samples)},
        *({name: True} for name in ("opened_before_fork", "append", "notice_damage", "survive_kill")),
        {"only_numpy": True},
        *(case for case in _programs_and_places() if admissible(Requirements(**case))),
        # Requests decide, then bytes, then both.
        *({"access": access, "latency": 0.5, "bandwidth": 1e9} for access in ACCESSES),
        *({"access": access, "latency": 1e-8, "bandwidth": 1e7} for access in ACCESSES),
        {
            "access": "random",
            "latency": 1e-3,
            "sample_bytes": large,
            "bandwidth": 1e9,
        },
    ]
    return [plain | case for case in (*alone, *_draw_mixed(rng, samples, alone))]


def _programs_and_places() -> Iterator[dict[str, Any]]:
    return ({"read_by": program, "place": place} for program in READERS for place in PLACES)


def _draw_mixed(
    rng: np.random.Generator, samples: int, alone: list[dict[str, Any]], count: int = 24
) -> Iterator[dict[str, Any]]:
    """Draw two to four requirements at a time that leave several formats."""
    while count:
        mixed: dict[str, Any] = {}
        for n in rng.choice(len(alone), int(rng.integers(2, 5)), replace=False).tolist():
            mixed |= alone[n]
        if len(admissible(Requirements(samples=samples, **mixed))) > 1:
            count -= 1
            yield mixed


def describe(wanted: Requirements) -> str:
    """Return requirements as a call, without those that have their default."""
    defaults = asdict(Requirements())
    changed = {name: value for name, value in asdict(wanted).items() if value != defaults[name]}
    return f"Requirements({', '.join(f'{name}={value!r}' for name, value in changed.items())})"
