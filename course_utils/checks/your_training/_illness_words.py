"""What is said of a wrong name, by what was named and by what could mislead.

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
    if said in RESULT:
        return _false_alarm(case, said)
    if case["cause"] in RESULT:
        return _missed_result(case, said)
    if case["cause"] == "healthy":
        name = case["trap"] if case["trap"] in _HEALTHY else "workers_are_ahead"
        return Mistake(name, f"You name {said} for a healthy script. {_HEALTHY[name]}{_numbers(case)}")
    if said == "healthy":
        return Mistake("missed_slow", f"You call a slow script healthy. {_MISSED}{_numbers(case)}")
    name, sentence = _SYMPTOMS[said]
    if case["trap"] == "cold_first_epoch" and said == "file_per_sample":
        name, sentence = "cold_first_epoch", "It is blocked in the first epoch alone; what lasts is the rest."
    return Mistake(name, f"You name {said} where the cause is another one. {sentence}{_numbers(case)}")


def _false_alarm(case: Case, said: str) -> Mistake:
    evidence = case["evidence"]
    if said == "epoch_not_set":
        return Mistake(
            "validation_order",
            "You say that an order repeats where the training is in a new one each epoch. The validation has "
            "the same order always, as it should, and the set of samples is the same, too: compare the lists "
            "`order` as they stand. Here they begin with "
            f"{[e['order'][:4] for e in evidence['epochs'][:2]]}.",
        )
    if said == "iterable_repeated":
        trained = len(evidence["epochs"][0]["order"])
        return Mistake(
            "dropped_batch",
            f"You say that samples repeat in an epoch of {trained}, of {evidence['samples']} samples in the "
            "data. No number in `order` comes twice: one that is missing was dropped with the last batch, "
            "and that one comes again in the next epoch is training.",
        )
    drawn = [draw for epoch in evidence["epochs"] for worker in epoch["draws"] for draw in worker]
    if not drawn:
        return Mistake(
            "nothing_drawn",
            "You say that random numbers repeat where none are drawn: two empty lists are equal, and nothing "
            "comes again. Compare the hashes, not the lists.",
        )
    return Mistake(
        "draws_differ",
        f"You say that random numbers repeat; the {len(drawn)} hashes of this script are {len(set(drawn))} "
        "different ones.",
    )


def _missed_result(case: Case, said: str) -> Mistake:
    if case["slow"] == said:
        return Mistake(
            "slow_before_wrong",
            f"This script is slow, and {said} is why; but its results are wrong, too ({case['cause']}). Look "
            "for what makes results wrong first: a wrong training is not worth a speed.",
        )
    if case["cause"] == "iterable_repeated":
        order = case["evidence"]["epochs"][0]["order"]
        sentence = f"An epoch has {len(order)} entries in `order`, and {len(set(order))} different ones."
    elif case["cause"] == "epoch_not_set":
        sentence = "The lists `order` of its epochs are equal."
    elif case["trap"] == "epochs_repeat":
        sentence = (
            "No two workers draw the same, but each of them draws in each epoch what it drew in the one "
            "before: compare across epochs, too."
        )
    else:
        lengths = sorted({len(worker) for worker in case["evidence"]["epochs"][0]["draws"]})
        sentence = (
            "Hashes of one worker come again in another one, in the same epoch. Its workers load "
            f"{' or '.join(map(str, lengths))} batches, so whole lists may differ: compare the hashes."
        )
    name = "missed_epochs" if case["trap"] == "epochs_repeat" else f"missed_{case['cause']}"
    return Mistake(name, f"You say {said} of a script with wrong results. {sentence}")


def _numbers(case: Case) -> str:
    evidence, last = case["evidence"], case["evidence"]["epochs"][-1]
    return (
        f" Its last epoch: of a step of {last['step']:.1f} ms {last['wait']:.1f} are waiting; loading "
        f"a batch is {last['on_core']:.1f} ms on a core, {last['blocked']:.1f} blocked, and "
        f"{last['queued']:.1f} waiting for one; {evidence['workers']} workers, {evidence['cores']} cores."
    )


_MISSED = (
    "It waits for more than half of a step. A short step has short waits: compare a wait with its step, not "
    "with a number of milliseconds."
)
_HEALTHY = {
    "computes": "It computes nearly all the time, so its loading may be as it is.",
    "cold_first_epoch": (
        "It waits in its first epoch alone, while the files come into memory. Judge by the later ones."
    ),
    "workers_are_ahead": (
        "Loading may be wasteful, or take long in each worker; while the workers are ahead, nobody waits."
    ),
}
_SYMPTOMS = {
    "no_workers": ("waits_have_causes", "It has workers. That a step waits is a symptom: what are they at?"),
    "fewer_cores": (
        "many_workers",
        "More workers than cores are no loss by themselves. Where does the time of a batch go?",
    ),
    "decoded_at_full_size": (
        "large_pictures",
        "Many pixels, or much time on a core, are no waste by themselves. Compare the pixels decoded with "
        "those used, and ask who loads.",
    ),
    "file_per_sample": (
        "opens_are_no_wait",
        "That files are opened does not say that anybody waits for them. Compare the time blocked with the "
        "rest.",
    ),
}
