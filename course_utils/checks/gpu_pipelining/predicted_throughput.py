"""Check a prediction of a pipeline's images per second from its stage times."""

from collections.abc import Callable, Iterable
from numbers import Real
from typing import Any, TypedDict

import numpy as np

from course_utils.checks.core import Evidence, Inputs, Mistake, Truth, type_name
from course_utils.pipeline import Pipeline, StageTimes, simulate, simulation_disabled

TOLERANCE = 1e-6


class Case(TypedDict):
    """A pipeline and its stage times in milliseconds, one loading time per batch."""

    load_ms: list[int]
    compute_ms: int
    num_workers: int
    prefetch_factor: int
    batch_size: int


class Found(TypedDict):
    """The predictions, or the type of what is no number, for all cases and for all cases again."""

    first: list[float | str]
    again: list[float | str]


def make(rng: np.random.Generator) -> tuple[Inputs, Truth]:
    """Draw pipelines without and with workers: even batches, and some slow ones with a short or a long wait.

    Where loading takes longer than computing (`load` above 1), it matters which worker loads which batch;
    where a slow batch takes longer than two steps of computing, it matters whether two batches are in flight.
    """
    uneven = ((2, 4, 1.3), (0, 2, 0.5), (1, 3, 0.5), (2, 2, 0.5), (3, 3, 0.5), (3, 2, 1.3))
    cases = [_case(rng, workers, prefetch, load, slow=5) for workers, prefetch, load in uneven]
    cases += [_case(rng, 1, 1, 0.3, slow=8)]
    cases += [_case(rng, workers, prefetch, 1.0, slow=1) for workers, prefetch in ((1, 2), (2, 1), (3, 3))]
    return {"cases": cases}, {"cases": cases}


def _case(rng: np.random.Generator, workers: int, prefetch_factor: int, load: float, slow: int) -> Case:
    """Draw a case: a worker loads `load` times as long as the loop computes; a slow batch `slow` times."""
    batches = int(rng.integers(21, 28))
    compute = int(rng.integers(20, 30))
    load_ms = np.full(batches, round(load * compute * max(workers, 1)))
    if slow > 1:
        load_ms += rng.integers(0, 5, batches)
        load_ms[rng.integers(2, 5) :: 7] *= slow
    else:
        load_ms += rng.integers(-4, 5)
    return {
        "load_ms": load_ms.tolist(),
        "compute_ms": compute,
        "num_workers": workers,
        "prefetch_factor": prefetch_factor,
        "batch_size": int(rng.choice([16, 32, 64])),
    }


def probe(inputs: Inputs, images_per_second: Callable[..., Any]) -> Found:
    """Ask twice for a prediction of each pipeline, with the lesson's own model disabled."""

    def answer(case: Case) -> float | str:
        predicted = images_per_second(**{**case, "load_ms": list(case["load_ms"])})
        return float(predicted) if isinstance(predicted, Real) else type_name(predicted)

    with simulation_disabled():
        first = [answer(case) for case in inputs["cases"]]
        again = [answer(case) for case in reversed(inputs["cases"])]
    return {"first": first, "again": again[::-1]}


def judge(truth: Truth, evidence: Evidence) -> str:
    """Compare with the model, and with what each known mistake would predict."""
    cases = truth["cases"]
    for answer in evidence["first"]:
        if isinstance(answer, str):
            raise Mistake(
                "not_a_number",
                f"Return the images per second as a number; you returned a value of type {answer}.",
            )
    if evidence["again"] != evidence["first"]:
        raise Mistake(
            "keeps_state",
            "Asked twice for the same pipeline, you predict two different rates. Each call must start "
            "afresh: keep no list or clock outside the function.",
        )
    true = [_simulated(case) for case in cases]
    if not _agree(evidence["first"], true):
        raise _mistake(cases, evidence["first"], true)
    return (
        "Your prediction is right for loading in the main process, for even batches and for slow ones, with "
        "1, 2 and 3 workers: num_workers * prefetch_factor batches in flight, returned in order."
    )


def _mistake(cases: list[Case], found: list[float], true: list[float]) -> Mistake:
    for name, (rule, advice) in KNOWN_MISTAKES.items():
        if _agree(found, map(rule, cases)):
            return Mistake(name, advice)
    for unit, (factor, advice) in KNOWN_UNITS.items():
        if _agree(found, (factor(case) * rate for case, rate in zip(cases, true, strict=True))):
            return Mistake(unit, advice)
    return _unknown_mistake(cases, found, true)


def _unknown_mistake(cases: list[Case], found: list[float], true: list[float]) -> Mistake:
    wrong = [n for n in range(len(cases)) if not _agree([found[n]], [true[n]])]
    case = cases[wrong[0]]
    example = (
        f"With num_workers={case['num_workers']}, prefetch_factor={case['prefetch_factor']}, "
        f"compute_ms={case['compute_ms']} and load_ms={case['load_ms'][:6]} …, you predict "
        f"{found[wrong[0]]:.2f} images/s; the pipeline processes {true[wrong[0]]:.2f}. Write down by hand "
        "when the first six batches are requested, loaded, taken and computed, and compare with your code."
    )
    if all(cases[n]["num_workers"] == 0 for n in wrong):
        return Mistake(
            "wrong_without_workers",
            "Your prediction is right with workers and wrong with num_workers=0, where the loop loads and "
            f"computes in turn. {example}",
        )
    if all(len(set(cases[n]["load_ms"])) > 1 and cases[n]["num_workers"] for n in wrong):
        return Mistake(
            "wrong_for_uneven_batches",
            "Your prediction is right for batches that all take equally long, and wrong where some are slow. "
            "Usual causes: the loop takes whichever batch is ready, but they come in order; a batch goes to "
            "whichever worker is free, but batch k belongs to worker k % num_workers; or the batches in "
            f"flight are more or fewer than num_workers * prefetch_factor. {example}",
        )
    return Mistake("wrong_prediction", example)


def _agree(found: Iterable[float], other: Iterable[float]) -> bool:
    # Stops at the first difference: `other` is simulated case by case, and most rules differ in the first.
    return all(abs(a - b) <= TOLERANCE * abs(b) for a, b in zip(found, other, strict=True))


def _milliseconds(case: Case, in_order: bool = True, late: bool = False, **changed: Any) -> float:  # noqa: ANN401
    """Simulate a case, with changed values; if `late`, a batch is requested when the last one is computed."""
    values = {**case, **changed}
    pipeline = Pipeline(
        workers=values["num_workers"],
        prefetch_factor=values["prefetch_factor"],
        in_order=in_order,
        accelerator=False,
    )
    compute = {"hand_over" if late and case["num_workers"] else "compute": case["compute_ms"]}
    run = simulate(pipeline, StageTimes(decode=values["load_ms"], **compute), len(case["load_ms"]))
    return max(span.end for span in run.spans)


def _rate(case: Case, milliseconds: float) -> float:
    return 1e3 * len(case["load_ms"]) * case["batch_size"] / milliseconds


def _simulated(case: Case, **changed: Any) -> float:  # noqa: ANN401
    return _rate(case, _milliseconds(case, **changed))


def _all_compute(case: Case) -> float:
    return len(case["load_ms"]) * case["compute_ms"]


def _per_loader(case: Case) -> float:
    workers, in_flight = case["num_workers"], case["prefetch_factor"]
    if in_flight < workers:
        return _simulated(case, num_workers=in_flight, prefetch_factor=1)
    return _simulated(case, prefetch_factor=in_flight // max(workers, 1))


def _averages(case: Case) -> float:
    load, batches = sum(case["load_ms"]), len(case["load_ms"])
    if not case["num_workers"]:
        return _rate(case, load + _all_compute(case))
    return _rate(case, batches * max(load / batches / case["num_workers"], case["compute_ms"]))


def _rounds(case: Case) -> float:
    width = max(case["num_workers"], 1)
    rounds = [case["load_ms"][i : i + width] for i in range(0, len(case["load_ms"]), width)]
    return _rate(case, sum(map(max, rounds)) + _all_compute(case))


def _mean_load(case: Case) -> list[float]:
    return [sum(case["load_ms"]) / len(case["load_ms"])]


_ADDED = (
    "You add loading and computing for every batch. With workers the two overlap: one batch is computed "
    "while the workers load the next ones."
)
_AVERAGED = (
    "You compute from averages. Uneven batches, their order, and filling the pipeline at the start cost time "
    "too: follow the batches one by one."
)
KNOWN_MISTAKES: dict[str, tuple[Callable[[Case], float], str]] = {
    "sum_instead_of_max": (lambda case: _rate(case, sum(case["load_ms"]) + _all_compute(case)), _ADDED),
    "shared_loading_plus_computing": (
        lambda case: _rate(case, sum(case["load_ms"]) / max(case["num_workers"], 1) + _all_compute(case)),
        "You divide the loading by the number of workers, and add the computing. " + _ADDED,
    ),
    "loads_in_rounds": (
        _rounds,
        "You let all workers load one batch each, and compute these batches before the next round is loaded. "
        "A worker goes on with its next request at once.",
    ),
    "prefetch_per_loader": (
        _per_loader,
        "You keep prefetch_factor batches in flight. The factor counts per worker: num_workers * "
        "prefetch_factor batches are in flight.",
    ),
    "prefetch_ignored": (
        lambda case: _simulated(case, prefetch_factor=1),
        "You keep one batch per worker in flight. It is prefetch_factor batches per worker.",
    ),
    "one_more_in_flight": (
        lambda case: _simulated(case, prefetch_factor=case["prefetch_factor"] + 1),
        "You keep one batch more per worker in flight. The batch that a worker is loading is one of its "
        "prefetch_factor batches, and so is each that is loaded but not taken.",
    ),
    "unlimited_prefetch": (
        lambda case: _simulated(case, prefetch_factor=len(case["load_ms"])),
        "Your workers run ahead without a limit. A worker gets a new request only when the loop takes a "
        "batch, so never more than num_workers * prefetch_factor batches are in flight.",
    ),
    "requested_late": (
        lambda case: _simulated(case, late=True),
        "You request the next batch when the computing of one ends. It is requested when the loop takes a "
        "batch, before it computes.",
    ),
    "order_ignored": (
        lambda case: _simulated(case, in_order=False),
        "Your loop takes whichever batch is ready. A DataLoader returns the batches in order: batch k comes "
        "from worker k % num_workers, and a slow batch delays those after it.",
    ),
    "averages_only": (_averages, _AVERAGED),
    "averaged_loading": (lambda case: _simulated(case, load_ms=_mean_load(case)), _AVERAGED),
    "one_worker": (
        lambda case: _simulated(case, num_workers=min(case["num_workers"], 1)),
        "You load the batches one after another, as one worker would. num_workers workers load at once.",
    ),
    "workers_compute_too": (
        lambda case: max(case["num_workers"], 1) * _rate(case, sum(case["load_ms"]) + _all_compute(case)),
        "You multiply the rate of a loop without workers by num_workers. Workers share the loading only; one "
        "loop computes all batches.",
    ),
    "zero_is_one_worker": (
        lambda case: _simulated(case, num_workers=max(case["num_workers"], 1)),
        "You treat num_workers=0 as one worker. Without workers nothing overlaps: the loop loads a batch and "
        "then computes it.",
    ),
    "first_batch_left_out": (
        lambda case: _rate(case, _milliseconds(case) - case["load_ms"][0]),
        "You start the clock when the first batch arrives. The epoch begins with the first request: the "
        "loading of the first batch counts.",
    ),
    "last_computation_left_out": (
        lambda case: _rate(case, _milliseconds(case) - case["compute_ms"]),
        "You stop the clock when the last batch is taken. The epoch ends when it is computed.",
    ),
}
KNOWN_UNITS: dict[str, tuple[Callable[[Case], float], str]] = {
    "batches_not_images": (
        lambda case: 1 / case["batch_size"],
        "That is batches per second. Multiply by batch_size.",
    ),
    "per_millisecond": (
        lambda case: 1e-3,
        "That is images per millisecond. The times are in milliseconds; return images per second.",
    ),
    "thousand_times": (
        lambda case: 1e3,
        "That is a thousand times the images per second. The times are in milliseconds.",
    ),
}
