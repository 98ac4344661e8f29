"""What the exercise `plan` asks for is always possible."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from course_utils.checks.many_nodes._plan_rules import Case, expect_plans
from grading.answers.bank import answer


def solution(name: str) -> Any:
    names: dict[str, Any] = {}
    exec(answer("many_nodes", "plan", name).source, names)
    return names["plan"]


SOLUTIONS = [solution(name) for name in ("right_dealt_by_size", "right_one_each_then_least_loaded")]


@settings(max_examples=30)
@given(
    sizes=st.lists(st.tuples(st.integers(1, 1000), st.integers(0, 300)), min_size=4, max_size=40),
    nodes=st.integers(1, 4),
    workers=st.integers(1, 4),
    batch_size=st.integers(1, 64),
)
def test_any_shards_can_be_shared_within_the_bounds(sizes, nodes, workers, batch_size):
    shards = [(f"{n:03d}", *both) for n, both in enumerate(sizes)]
    case = Case.from_plain({"shards": shards, "nodes": nodes, "workers": workers, "batch_size": batch_size})
    for plan in SOLUTIONS:
        assignment, steps = plan(shards, nodes, workers, batch_size)
        made = {"problem": "", "assignment": assignment, "steps": steps, "changed": False}
        expect_plans([case] * 3, [0] * 3, [{"value": made}] * 3)
