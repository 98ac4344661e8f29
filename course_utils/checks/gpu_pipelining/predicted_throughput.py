"""Check a prediction of a pipeline's images per second from its stage times."""

from collections.abc import Callable
from typing import TypedDict

import numpy as np

from course_utils.checks.core import Evidence, Inputs, Mistake, Truth
from course_utils.pipeline import Pipeline, StageTimes, simulate, simulation_disabled

TOLERANCE = 1e-6


class Case(TypedDict):
    """A pipeline and its stage times in milliseconds, one loading time per batch."""

    load_ms: list[int]
    compute_ms: int
    num_workers: int
    prefetch_factor: int
    batch_size: int


ADVICE = {
    "sum_instead_of_max": "You add loading and computing for every batch. With workers the two overlap: one "
    "batch is computed while the workers load the next ones.",
    "prefetch_per_loader": "You keep prefetch_factor batches in flight. The factor counts per worker: "
    "num_workers * prefetch_factor batches are in flight.",
    "unlimited_prefetch": "Your workers run ahead without a limit. A worker gets a new request only when the "
    "loop takes a batch, so never more than num_workers * prefetch_factor batches are in flight.",
    "order_ignored": "Your loop takes whichever batch is ready. A DataLoader returns the batches in order: "
    "batch k comes from worker k % num_workers, and a slow batch delays those after it.",
    "averages_only": "You compute from averages. Uneven batches, their order, and filling the pipeline at "
    "the start cost time too: simulate the batches one by one.",
    "one_worker": "You load the batches one after another, as one worker would. num_workers workers load at "
    "once.",
    "batches_not_images": "That is batches per second. Multiply by batch_size.",
    "per_millisecond": "That is images per millisecond. The times are in milliseconds; return images per "
    "second.",
}


def make(rng: np.random.Generator) -> tuple[Inputs, Truth]:
    """Draw pipelines without and with workers, with even batches and with some slow ones."""
    cases = [_case(rng, 0, 2, uneven=True), _case(rng, 1, 2), _case(rng, 2, 1), _case(rng, 3, 3)]
    cases += [
        _case(rng, workers, prefetch, uneven=True) for workers, prefetch in ((1, 3), (2, 2), (2, 4), (3, 3))
    ]
    return {"cases": cases}, {"cases": cases}


def _case(rng: np.random.Generator, workers: int, prefetch_factor: int, uneven: bool = False) -> Case:
    batches = int(rng.integers(30, 40))
    compute = int(rng.integers(20, 30))
    load = np.full(batches, compute * max(workers, 1) + int(rng.integers(-4, 5)))
    if uneven:
        load = load // 2 + rng.integers(0, 5, batches)
        load[rng.integers(2, 5) :: 7] *= 5
    return {
        "load_ms": load.tolist(),
        "compute_ms": compute,
        "num_workers": workers,
        "prefetch_factor": prefetch_factor,
        "batch_size": int(rng.choice([16, 32, 64])),
    }


def probe(inputs: Inputs, images_per_second: Callable[..., float]) -> Evidence:
    """Ask for a prediction of each pipeline, with the lesson's own model disabled."""
    with simulation_disabled():
        answers = [images_per_second(**case) for case in inputs["cases"]]
    return [float(a) if isinstance(a, int | float | np.number) else type(a).__name__ for a in answers]


def judge(truth: Truth, found: Evidence) -> str:
    """Compare with the model, and with what each known mistake would predict."""
    cases = truth["cases"]
    true = [_images_per_second(case) for case in cases]
    for answer in found:
        if isinstance(answer, str):
            raise Mistake(
                "not_a_number",
                f"Return the images per second as a number; you returned a value of type {answer}.",
            )
    if not _agree(found, true):
        raise _mistake(cases, found, true)
    return (
        "Your prediction is right for loading in the main process, for even batches and for slow ones, with "
        "1, 2 and 3 workers: num_workers * prefetch_factor batches in flight, returned in order."
    )


def _mistake(cases: list[Case], found: list[float], true: list[float]) -> Mistake:
    for name, predict in KNOWN_MISTAKES.items():
        if _agree(found, [predict(case) for case in cases]):
            return Mistake(name, ADVICE[name])
    wrong = [n for n, (a, b) in enumerate(zip(found, true, strict=True)) if not _agree([a], [b])]
    if all(len(set(cases[n]["load_ms"])) > 1 and cases[n]["num_workers"] > 1 for n in wrong):
        return Mistake(
            "order_ignored", "Your prediction is right for even batches only. " + ADVICE["order_ignored"]
        )
    case = cases[wrong[0]]
    return Mistake(
        "wrong_prediction",
        f"With num_workers={case['num_workers']}, prefetch_factor={case['prefetch_factor']}, "
        f"compute_ms={case['compute_ms']} and load_ms={case['load_ms'][:6]} …, you predict "
        f"{found[wrong[0]]:.2f} images/s; the pipeline processes {true[wrong[0]]:.2f}. Write down by hand "
        "when the first six batches are requested, loaded, taken and computed, and compare with your code.",
    )


def _agree(found: list[float], other: list[float]) -> bool:
    return all(abs(a - b) <= TOLERANCE * abs(b) for a, b in zip(found, other, strict=True))


def _images_per_second(
    case: Case, workers: int | None = None, prefetch_factor: int | None = None, in_order: bool = True
) -> float:
    pipeline = Pipeline(
        workers=case["num_workers"] if workers is None else workers,
        prefetch_factor=case["prefetch_factor"] if prefetch_factor is None else prefetch_factor,
        in_order=in_order,
        accelerator=False,
    )
    times = StageTimes(decode=case["load_ms"], compute=case["compute_ms"])
    batches = len(case["load_ms"])
    run = simulate(pipeline, times, batches)
    return 1e3 * batches * case["batch_size"] / run.total_seconds


def _summed(case: Case) -> float:
    batches = len(case["load_ms"])
    return 1e3 * batches * case["batch_size"] / (sum(case["load_ms"]) + batches * case["compute_ms"])


def _averaged(case: Case) -> float:
    load = float(np.mean(case["load_ms"]))
    step = (
        max(load / case["num_workers"], case["compute_ms"])
        if case["num_workers"]
        else load + case["compute_ms"]
    )
    return 1e3 * case["batch_size"] / step


def _per_loader(case: Case) -> float:
    workers, in_flight = case["num_workers"], case["prefetch_factor"]
    if in_flight < workers:
        return _images_per_second(case, workers=in_flight, prefetch_factor=1)
    return _images_per_second(case, prefetch_factor=in_flight // max(workers, 1))


KNOWN_MISTAKES: dict[str, Callable[[Case], float]] = {
    "sum_instead_of_max": _summed,
    "prefetch_per_loader": _per_loader,
    "unlimited_prefetch": lambda case: _images_per_second(case, prefetch_factor=10**6),
    "order_ignored": lambda case: _images_per_second(case, in_order=False),
    "averages_only": _averaged,
    "one_worker": lambda case: _images_per_second(case, workers=min(case["num_workers"], 1)),
    "batches_not_images": lambda case: _images_per_second(case) / case["batch_size"],
    "per_millisecond": lambda case: _images_per_second(case) / 1e3,
}
