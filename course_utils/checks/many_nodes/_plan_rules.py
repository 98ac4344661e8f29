"""What a plan of shards, nodes and workers has to fulfil.

Withheld from submissions: it would tell them the number of steps.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from typing import Any, NamedTuple

from course_utils.checks.core import Mistake, is_unsolved, value_of

Assignment = list[list[list[str]]]


class Case(NamedTuple):
    """What a plan was asked for: bytes and samples of the shards by name, and the cluster."""

    sizes: dict[str, int]
    samples: dict[str, int]
    nodes: int
    workers: int
    batch_size: int

    @classmethod
    def from_plain(cls, asked: dict[str, Any]) -> "Case":
        """Return a case, given the arguments of the plan."""
        sizes = {name: size for name, size, _ in asked["shards"]}
        samples = {name: count for name, _, count in asked["shards"]}
        return cls(sizes, samples, asked["nodes"], asked["workers"], asked["batch_size"])

    def __str__(self) -> str:
        return f"With {len(self.sizes)} shards, nodes={self.nodes} and workers={self.workers}"

    def bytes_of(self, names: Sequence[str]) -> int:
        """Return the bytes of some shards."""
        return sum(self.sizes[name] for name in names)


def expect_plans(cases: Sequence[Case], numbers: Sequence[int], plans: Sequence[Any]) -> None:
    """Check plans one by one, and that those for the same shards are the same.

    Args:
        cases: What was asked for.
        numbers: Which of them are the same: each number occurs three times, the last time with the shards in
            another order.
        plans: The plans, or errors.

    Raises:
        Mistake: A plan is missing, bad, or not the same as another one for the same shards.
    """
    assignments = [_assignment(case, attempted) for case, attempted in zip(cases, plans, strict=True)]
    _expect_same(numbers, plans)
    good = [
        (case, assignment, plan["value"])
        for case, assignment, plan in zip(cases, assignments, plans, strict=True)
        if assignment is not None
    ]
    for rule in (_expect_work_for_all, _expect_even_nodes, _expect_even_workers):
        for case, assignment, _ in good:
            rule(case, assignment)
    for case, assignment, plan in good:
        _expect_steps(case, assignment, plan["steps"])
    if any(plan["changed"] for _, _, plan in good):
        raise Mistake(
            "changes_the_list",
            "Your code changes the list of shards that it is given; list.sort does. sorted(shards) returns a "
            "new list.",
        )


def _assignment(case: Case, attempted: Any) -> Assignment | None:  # noqa: ANN401 - of `attempt`
    """Return a well-formed assignment; None where there are too few shards and a ValueError says so."""
    error = attempted.get("error", "")
    if len(case.sizes) < case.nodes:
        if error.startswith("ValueError"):
            return None
        if not error:
            raise Mistake(
                "idle_node_accepted",
                f"{case}, a node has nothing to train with, and no step can be done. Raise a ValueError.",
            )
        if not is_unsolved(error):
            raise Mistake("other_error", f"{case}, your code stops with {error}. Raise a ValueError.")
    elif error.startswith("ValueError"):
        raise Mistake(
            "refuses_enough_shards",
            f"{case}, there is a plan, but your code stops with {error}. Only fewer shards than nodes are "
            "too few.",
        )
    plan = value_of(attempted)
    if plan["problem"]:
        raise Mistake(
            "not_a_plan",
            f"{case}, plan returns {plan['problem']}. Return a pair: the names of the shards as "
            "assignment[node][worker], and the number of steps as an int.",
        )
    assignment: Assignment = plan["assignment"]
    shape = [len(node) for node in assignment]
    if shape != [case.workers] * case.nodes:
        raise Mistake(
            "wrong_shape",
            f"{case}, the assignment has lists for {shape} workers. There is one for each worker of each "
            "node, also for one that has nothing to do.",
        )
    _expect_each_once(case, assignment)
    return assignment


def _expect_each_once(case: Case, assignment: Assignment) -> None:
    counts = Counter(name for node in assignment for worker in node for name in worker)
    if foreign := sorted(counts.keys() - case.sizes.keys()):
        raise Mistake(
            "unknown_shard",
            f"{case}, a worker reads {foreign[0][:50]!r}, which is not among them. Use nothing that an "
            "earlier call has left.",
        )
    if doubled := sorted(name for name, count in counts.items() if count > 1):
        raise Mistake(
            "shard_twice",
            f"{case}, {doubled[0]} is read by {counts[doubled[0]]} workers. Give each shard to one worker.",
        )
    if lost := sorted(case.sizes.keys() - counts.keys()):
        raise Mistake(
            "shard_lost",
            f"{case}, nobody reads {lost[0]} ({len(lost)} in all). Give each shard to a worker, whether or "
            "not their number divides evenly.",
        )


def _expect_same(numbers: Sequence[int], plans: Sequence[Any]) -> None:
    by_number: dict[int, list[Any]] = {}
    for number, plan in zip(numbers, plans, strict=True):
        value = plan.get("value")
        by_number.setdefault(number, []).append(value and (value["assignment"], value["steps"]))
    if any(first != again for first, again, _ in by_number.values()):
        raise Mistake(
            "differs_each_time",
            "Two calls with the same arguments return two plans. Each node makes the plan for itself: shards "
            "would be read twice, and others never. Let nothing be random, and avoid hash() of a text.",
        )
    if any(first != reordered for first, _, reordered in by_number.values()):
        raise Mistake(
            "depends_on_order",
            "Listed in another order, the same shards lead to another plan. Sort them, and let the name "
            "decide between shards of the same size.",
        )


def _expect_work_for_all(case: Case, assignment: Assignment) -> None:
    for what, counts in (
        ("node", [sum(map(len, node)) for node in assignment]),
        ("worker", [len(worker) for node in assignment for worker in node]),
    ):
        if min(counts) == 0 and max(counts) > 1:
            raise Mistake(
                f"idle_{what}",
                f"{case}, one {what} has {max(counts)} shards and another one none. First give each one "
                "shard.",
            )


def _expect_even_nodes(case: Case, assignment: Assignment) -> None:
    _expect_even(case, "nodes", [list(chain(*node)) for node in assignment])


def _expect_even_workers(case: Case, assignment: Assignment) -> None:
    for node in assignment:
        _expect_even(case, "workers", node)


def _expect_even(case: Case, what: str, shares: list[list[str]]) -> None:
    sizes, largest = [case.bytes_of(share) for share in shares], max(case.sizes.values())
    if max(sizes) - min(sizes) > largest:
        counts = {len(share) for share in shares}
        hint = " They have as many shards, but shards differ in size." if len(counts) == 1 else ""
        raise Mistake(
            f"uneven_{what}",
            f"{case}, the {what}{' of a node' if what == 'workers' else ''} have "
            f"{', '.join(map(str, sizes))} bytes. That differs by more than the largest shard, of "
            f"{largest} bytes.{hint} Give out the largest shards first.",
        )


def _expect_steps(case: Case, assignment: Assignment, steps: int) -> None:
    batches = [
        sum(sum(case.samples[name] for name in worker) // case.batch_size for worker in node)
        for node in assignment
    ]
    where = f"{case} and batch_size={case.batch_size}, your nodes have {', '.join(map(str, batches))} batches"
    if steps > min(batches):
        raise Mistake(
            "too_many_steps",
            f"{where}, but steps is {steps}: a node that has none left lets all others wait. Count the full "
            "batches of each worker, add up those of a node, and take the smallest sum.",
        )
    if steps < min(batches):
        raise Mistake(
            "too_few_steps",
            f"{where}, but steps is {steps}: every node has more. A worker fills its batches across the "
            "borders of its shards, and a node has the batches of all its workers, even if they have "
            "different numbers.",
        )
