"""The requirement sets of `choose_format`: any wrong rule, at any limit, is noticed in each draw."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from course_utils.checks.packed_formats import _format_rules as rules
from course_utils.format_trials import READ_COSTS, Requirements

SEEDS = range(5)
Choose = Callable[[Requirements], set[str]]


def drawn(seed: int) -> list[Requirements]:
    return [Requirements(**case) for case in rules.draw_cases(np.random.default_rng(seed))]


def test_no_requirement_by_default_excludes_a_format():
    assert rules.admissible(Requirements()) == set(rules.NAMES)


def test_every_format_has_costs_for_each_access_that_it_allows():
    for access, costs in READ_COSTS.items():
        assert set(costs) == rules.admissible(Requirements(access=access))


@pytest.mark.parametrize("seed", SEEDS)
def test_every_set_leaves_some_formats(seed):
    assert not [rules.describe(wanted) for wanted in drawn(seed) if not rules.admissible(wanted)]


@pytest.mark.parametrize("seed", SEEDS)
def test_each_rule_decides_a_set_in_which_no_other_excludes_its_formats(seed):
    """Whoever lists one of its formats there has made this mistake and no other."""
    cases = drawn(seed)
    for rule in rules.RULES:
        for name in rule.excluded:
            assert any(
                [one for one in rules.RULES if one.applies(wanted) and name in one.excluded] == [rule]
                for wanted in cases
            ), (rule.mistake, name)


def with_rule(number: int, rule: rules.Rule) -> Choose:
    """Answer by all rules but one, which is replaced."""
    changed = [rule if place == number else one for place, one in enumerate(rules.RULES)]
    return lambda wanted: set(rules.NAMES).difference(
        *(one.excluded for one in changed if one.applies(wanted))
    )


def wrong_rules() -> Iterator[tuple[str, Choose]]:
    """Leave each format out of each rule, and add each other one that it does not imply."""
    for number, rule in enumerate(rules.RULES):
        for name in rules.NAMES:
            if any(
                other is not rule and name in other.excluded and implies(rule, other) for other in rules.RULES
            ):
                continue
            yield (
                f"{number}-{rule.mistake}-{name}",
                with_rule(number, rule._replace(excluded=rule.excluded ^ {name})),
            )


def implies(rule: rules.Rule, other: rules.Rule) -> bool:
    """Return whether requirements to which a rule applies always have another one apply, too."""
    shared = ("opens_a_file_for_each_sample", "not_on_a_shared_file_system")
    random_reads = ("reads_a_group_for_a_sample", "several_requests_for_a_sample")
    if rule.mistake in shared:
        return other.mistake in shared
    if rule.mistake in random_reads:
        return other.mistake in ("no_random_access", *shared, *random_reads)
    return rule.mistake == other.mistake == "index_too_large" and "IndexedZip" in rule.excluded


WRONG_RULES = dict(wrong_rules())
WRONG_LIMITS: dict[str, Callable[[Requirements], bool]] = {
    "too_many_files": lambda wanted: wanted.samples >= wanted.file_quota,
    "StoredZip": lambda wanted: 750 * wanted.samples >= wanted.worker_memory,
    "IndexedZip": lambda wanted: 300 * wanted.samples >= wanted.worker_memory,
}


@pytest.mark.parametrize("seed", SEEDS)
def test_every_wrong_rule_shows_in_a_set(seed):
    cases = drawn(seed)
    right = [rules.admissible(wanted) for wanted in cases]
    passing = [name for name, choose in WRONG_RULES.items() if right == list(map(choose, cases))]
    assert not passing


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", WRONG_LIMITS)
def test_limit_that_is_just_reached_shows_in_a_set(name, seed):
    [(number, rule)] = [
        (number, rule)
        for number, rule in enumerate(rules.RULES)
        if rule.mistake == name or (rule.excluded == {name} and rule.mistake == "index_too_large")
    ]
    choose = with_rule(number, rule._replace(applies=WRONG_LIMITS[name]))
    assert any(choose(wanted) != rules.admissible(wanted) for wanted in drawn(seed))


@pytest.mark.parametrize("seed", SEEDS)
def test_sets_differ_in_what_is_fastest(seed):
    """No format is the fastest of every set, and neither requests nor bytes alone give the order."""
    cases = [wanted for wanted in drawn(seed) if wanted.access == "random"]
    times = [{name: rules.seconds(wanted, name) for name in rules.admissible(wanted)} for wanted in cases]
    fastest = [{name for name, taken in each.items() if taken == min(each.values())} for each in times]
    assert not set.intersection(*fastest)
    for part in (0, 1):
        assert any(
            READ_COSTS["random"][one][part] > READ_COSTS["random"][other][part]
            for wanted in cases
            for one in rules.admissible(wanted)
            for other in rules.admissible(wanted)
            if rules.seconds(wanted, one) < rules.seconds(wanted, other)
        )
