"""Evidence of ill and of healthy scripts, drawn, with the cause and with what could mislead.

Withheld from submissions: it answers `name_illness`.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

RESULT = ("iterable_repeated", "epoch_not_set", "repeated_random_numbers")
STAGE = {  # of loading, which takes longest
    "no_workers": "on_core",
    "fewer_cores": "queued",
    "decoded_at_full_size": "on_core",
    "file_per_sample": "blocked",
}
CAUSES = (*RESULT, *STAGE, "healthy")
Case = dict[str, Any]


@dataclass(frozen=True)
class Script:
    """What is drawn of a script; the rest is left to chance.

    Attributes:
        wrong: What makes its results wrong, if anything.
        slow: What makes it slow, if anything.
        looks: A cause of slowness that a healthy script looks like.
        trap: What could mislead, by name.
        crowded: Whether it has more workers than cores.
        batches: How many batches of an epoch a worker loads, on average.
    """

    wrong: str = ""
    slow: str = ""
    looks: str = "decoded_at_full_size"
    trap: str = ""
    crowded: bool = False
    batches: float = 2

    @property
    def cause(self) -> str:
        return self.wrong or self.slow or "healthy"


SCRIPTS = (
    *(Script(wrong=cause) for cause in RESULT),
    *(Script(slow=cause) for cause in STAGE),
    Script(trap="computes", looks="no_workers"),
    Script(trap="cold_first_epoch", looks="file_per_sample"),
    Script(trap="dropped_batch"),
    Script(looks="fewer_cores"),
    Script(),
    Script(looks="file_per_sample"),
    Script(wrong="iterable_repeated", slow="fewer_cores"),
    Script(wrong="epoch_not_set", slow="decoded_at_full_size"),
    Script(wrong="repeated_random_numbers", slow="file_per_sample", batches=2.5),
    Script(wrong="repeated_random_numbers", trap="epochs_repeat"),
    Script(slow="file_per_sample", crowded=True),
    Script(slow="fewer_cores", trap="cold_first_epoch"),
    Script(slow="no_workers", trap="short_steps"),
)


def draw_cases(rng: np.random.Generator) -> list[Case]:
    """Draw the evidence of each script; with its cause and trap."""
    return [
        {"evidence": _draw(rng, script), "cause": script.cause, "slow": script.slow, "trap": script.trap}
        for script in SCRIPTS
    ]


def _draw(rng: np.random.Generator, script: Script) -> dict[str, Any]:
    kind = script.slow or script.looks
    cores = int(rng.integers(2, 5))
    workers = int(rng.integers(2, cores + 1)) if kind != "no_workers" else 0
    if kind == "fewer_cores" or script.crowded:
        workers = int(rng.integers(2 * cores, 3 * cores))
    batch, lists = int(rng.integers(3, 6)), max(workers, 1)
    samples = int(script.batches * (workers or 6)) * batch - int(rng.integers(1, batch))
    used = int(rng.integers(64, 513)) ** 2
    share = rng.uniform(12, 30) if kind == "decoded_at_full_size" else rng.uniform(1, 2)
    epochs = int(rng.integers(2, 5)) if script.trap != "cold_first_epoch" else 2
    times = _times(rng, script, workers, epochs)
    orders = _orders(rng, script, (samples, batch, workers), epochs)
    draws = _draws(rng, script, [(-(-len(order) // batch), lists) for order in orders])
    return {
        "cores": cores,
        "workers": workers,
        "samples": samples,
        "decoded": int(used * share),
        "used": used,
        "opens": float(kind in ("file_per_sample", "fewer_cores") or rng.integers(2)),
        "epochs": [{**times[n], "order": orders[n], "draws": draws[n]} for n in range(epochs)],
        "validation": [list(range(samples, samples + 3 * batch))] * epochs,
    }


def _times(rng: np.random.Generator, script: Script, workers: int, epochs: int) -> list[dict[str, float]]:
    """Return the milliseconds of each epoch: loading takes as long as the waits and the workers say."""
    steps = {"short_steps": (4, 8), "computes": (700, 1500)}.get(script.trap, (20, 300))
    step = float(np.exp(rng.uniform(*np.log(steps))))
    stage = STAGE[script.slow or script.looks]
    hidden = 1.0 if script.slow else rng.uniform(0.6, 0.8)
    waiting = rng.uniform(0.55, 0.85) if script.slow else rng.uniform(0.06, 0.09)
    times = [_epoch_times(rng, step, waiting, hidden, stage, workers) for _ in range(epochs)]
    if script.trap == "cold_first_epoch":
        times[0] = _epoch_times(rng, 20 * step, rng.uniform(0.965, 0.985), 1.0, "blocked", workers)
    return times


def _epoch_times(
    rng: np.random.Generator, step: float, waiting: float, hidden: float, stage: str, workers: int
) -> dict[str, float]:
    step *= rng.uniform(0.97, 1.03)
    load = hidden * step * workers if workers else waiting * step
    most = rng.uniform(0.75, 0.9)
    rest = rng.uniform(0.3, 0.7) * (1 - most)
    others = [name for name in ("on_core", "blocked", "queued") if name != stage]
    parts = dict(zip([stage, *others], (most, rest, 1 - most - rest), strict=True))
    times = {"step": step, "wait": waiting * step, **{name: load * part for name, part in parts.items()}}
    return {name: round(float(value), 3) for name, value in times.items()}


def _orders(
    rng: np.random.Generator, script: Script, sizes: tuple[int, int, int], epochs: int
) -> list[list[int]]:
    samples, batch, workers = sizes
    copies = workers if script.wrong == "iterable_repeated" else 1
    orders = [rng.permutation(np.tile(np.arange(samples), copies)).tolist() for _ in range(epochs)]
    if script.wrong == "epoch_not_set":
        orders = [list(orders[0]) for _ in orders]
    if script.trap == "dropped_batch":
        orders = [order[: samples // batch * batch] for order in orders]
    return orders


def _draws(rng: np.random.Generator, script: Script, counts: list[tuple[int, int]]) -> list[list[list[str]]]:
    """Return the hashes by epoch and worker; workers take batches in turn."""
    hashes = iter(rng.permutation(16**4).tolist())
    drawn = [
        [[f"{next(hashes):04x}" for _ in range(lane, count, lanes)] for lane in range(lanes)]
        for count, lanes in counts
    ]
    if script.wrong == "repeated_random_numbers":
        if script.trap == "epochs_repeat":
            return [drawn[0]] * len(drawn)
        return [[lists[0][: len(mine)] for mine in lists] for lists in drawn]
    if script.trap in ("dropped_batch", "cold_first_epoch"):
        return [[[] for _ in lists] for lists in drawn]  # nothing is drawn
    return drawn
