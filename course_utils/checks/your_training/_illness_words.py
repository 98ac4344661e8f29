"""What is said of a wrong name, by what was named and what was measured.

Withheld from submissions: it answers `name_illness`.
"""

from course_utils.checks.core import Mistake
from course_utils.checks.your_training._illnesses import CAUSES, RESULT, Case


def not_a_cause(said: str) -> Mistake | None:
    """Return what to say of a name that is none of the list."""
    if said in CAUSES:
        return None
    return Mistake("unknown_name", f"{said!r} is not in the list. The names are: {', '.join(CAUSES)}.")


def misled(case: Case, said: str) -> Mistake:
    """Return the mistake of naming this cause for that script."""
    if said in case["also"]:
        return Mistake(
            "later_in_the_table",
            f"{said} is true of this script, but so is {case['cause']}, which comes first in the table.",
        )
    if said in RESULT and said != case["cause"]:
        return _false_alarm(case, said)
    if case["cause"] in RESULT:
        return _missed_result(case, said)
    if case["cause"] == "healthy":
        return Mistake(
            "alarm_on_healthy",
            f"You name {said} for a healthy script. Loading may take long in each worker, and workers may be "
            f"many or none: while the training hardly waits, there is nothing to gain.{_numbers(case)}",
        )
    if said == "healthy":
        return Mistake(
            "missed_slow",
            f"You call a slow script healthy: it waits for more than a tenth of its step.{_numbers(case)}",
        )
    name, sentence = _SYMPTOMS[said]
    return Mistake(name, f"You name {said} where the cause is another one. {sentence}{_numbers(case)}")


def _false_alarm(case: Case, said: str) -> Mistake:
    orders, draws = case["evidence"]["orders"], case["evidence"]["draws"]
    if said == "epoch_not_set":
        return Mistake(
            "orders_differ",
            f"You say that an order comes again where the {len(orders)} orders differ. Some begin "
            "or end with the same samples, and most hold the same set: compare whole lists.",
        )
    if said == "iterable_repeated":
        return Mistake(
            "samples_missing",
            f"You say that samples come again within an epoch of {len(orders[0])} where each comes once. One "
            "that is missing was not reached before the epoch ended, and one that comes again in the next "
            "epoch is training.",
        )
    if not draws:
        return Mistake(
            "nothing_drawn",
            "You say that random numbers repeat where none are drawn: in an empty list nothing comes again.",
        )
    return Mistake(
        "draws_differ",
        f"You say that random numbers repeat; the {len(draws)} hashes of this script are {len(set(draws))} "
        "different ones.",
    )


def _missed_result(case: Case, said: str) -> Mistake:
    orders, draws = case["evidence"]["orders"], case["evidence"]["draws"]
    if case["cause"] == "iterable_repeated":
        order = next(order for order in orders if len(set(order)) < len(order))
        sentence = f"An epoch has {len(order)} entries, and {len(set(order))} different ones."
    elif case["cause"] == "epoch_not_set":
        first, last = _same(orders)
        sentence = f"The orders of its epochs {first} and {last} are equal, counted from 0."
    else:
        sentence = (
            f"It has {len(draws)} hashes, and {len(set(draws))} different ones: some come again, far from "
            "where they stood, and not in the same order."
        )
    return Mistake(f"missed_{case['cause']}", f"You say {said} of a script with wrong results. {sentence}")


def _same(orders: list[list[int]]) -> tuple[int, int]:
    return next((n, m) for m, order in enumerate(orders) for n in range(m) if orders[n] == order)


def _numbers(case: Case) -> str:
    found = case["evidence"]
    return (
        f" Of a step of {found['step']:.1f} ms {found['wait']:.1f} are waiting; loading a batch is blocked "
        f"for {found['blocked']:.1f} ms and waits {found['queued']:.1f} ms for a core; "
        f"{found['workers']} workers, {found['cores']} cores."
    )


_SYMPTOMS = {
    "no_workers": ("waits_have_causes", "It has workers. That a step waits is a symptom: what are they at?"),
    "fewer_cores": (
        "many_workers",
        "More workers than cores are no loss by themselves, and fewer can wait for a core, too. Who "
        "loads, and where does the time of a batch go?",
    ),
    "file_per_sample": (
        "blocked_is_no_cause",
        "That loading is blocked by files for a time is a symptom. Who loads, and does it wait longer for a "
        "core?",
    ),
}
