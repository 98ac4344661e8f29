"""The requirement sets of `choose_format`: each rule decides alone, and no short-cut passes."""

import itertools

import numpy as np
import pytest

from course_utils.checks.packed_formats import _format_rules as rules
from course_utils.format_trials import Requirements

SEEDS = range(5)


def drawn(seed: int) -> list[Requirements]:
    return [Requirements(**case) for case in rules.draw_cases(np.random.default_rng(seed))]


def test_no_requirement_by_default_excludes_a_format():
    assert rules.admissible(Requirements()) == set(rules.NAMES)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_set_excludes_some_formats_and_leaves_some(seed):
    for wanted in drawn(seed):
        assert set() < rules.admissible(wanted) < set(rules.NAMES)


@pytest.mark.parametrize("seed", SEEDS)
def test_most_sets_leave_several_formats(seed):
    left = [len(rules.admissible(wanted)) for wanted in drawn(seed)]
    assert np.mean(np.array(left) > 1) > 0.6


@pytest.mark.parametrize("seed", SEEDS)
def test_each_rule_decides_a_set_in_which_no_other_excludes_its_formats(seed):
    """Whoever chooses one of its formats there has made this mistake and no other."""
    cases = drawn(seed)
    for rule in rules.RULES:
        for name in rule.excluded:
            assert any(
                [one for one in rules.RULES if one.applies(wanted) and name in one.excluded] == [rule]
                for wanted in cases
            ), (rule.mistake, name)


def choices(cases: list[Requirements]) -> dict[str, np.ndarray]:
    """For each format, in which sets it is admissible."""
    left = [rules.admissible(wanted) for wanted in cases]
    return {name: np.array([name in some for some in left]) for name in rules.NAMES}


@pytest.mark.parametrize("seed", SEEDS)
def test_no_short_cut_passes(seed):
    """Neither one format for all, nor one rule or two that each decide between formats."""
    cases = drawn(seed)
    right = choices(cases)
    asked = [np.array([rule.applies(wanted) for wanted in cases]) for rule in rules.RULES]
    otherwise = list(right.values())
    for one, other in itertools.combinations_with_replacement(asked, 2):
        first = any(some[one].all() for some in right.values())
        second = any(some[other & ~one].all() for some in right.values())
        rest = any(some[~one & ~other].all() for some in otherwise)
        assert not (first and second and rest)
