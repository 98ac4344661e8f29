"""Evidence of ill and of healthy scripts, drawn, with the cause and with what could mislead.

Withheld from submissions: it answers `name_illness`.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

RESULT = ("iterable_repeated", "epoch_not_set", "repeated_random_numbers")
SLOW = ("no_workers", "fewer_cores", "file_per_sample")
CAUSES = (*RESULT, *SLOW, "healthy")
Case = dict[str, Any]


@dataclass(frozen=True)
class Script:
    """What is drawn of a script; the rest is left to chance.

    Attributes:
        wrong: What makes its results wrong, if anything.
        slow: What makes it slow, if anything.
        also: What makes its results wrong, too, and comes later in the table.
        again: The epochs where an order or numbers come again; `None` for numbers within each epoch.
        longest: What its loading spends most time with; where it is slow, `slow` says it.
        workers: "none", "one", "few" or "many" of them for the cores.
        waiting: The smallest and the largest part of a step that it waits; else by `slow`.
        steps: The shortest and the longest step, in milliseconds.
        epochs: The number of epochs.
        short: Whether epochs end early, so that samples are missing.
        similar: Whether epochs begin and end with the same samples.
        cut: Whether the last epoch begins as the first one, and ends early.
        copied: The only epoch in which samples come again; `None` for each.
        draws: Whether it draws random numbers.
    """

    wrong: str = ""
    slow: str = ""
    also: str = ""
    again: tuple[int, int] | None = None
    longest: str = ""
    workers: str = "few"
    waiting: tuple[float, float] | None = None
    steps: tuple[int, int] = (20, 300)
    epochs: int = 3
    short: bool = False
    similar: bool = False
    cut: bool = False
    copied: int | None = None
    draws: bool = True

    @property
    def cause(self) -> str:
        return self.wrong or self.slow or "healthy"


NEARLY, BARELY = (0.093, 0.098), (0.102, 0.109)  # of a step: healthy, and slow
SHORT_STEPS, LONG_STEPS = (4, 8), (700, 1500)  # milliseconds
SCRIPTS = (
    Script(wrong="iterable_repeated"),
    Script(wrong="iterable_repeated", short=True),
    Script(wrong="iterable_repeated", slow="fewer_cores"),
    Script(wrong="epoch_not_set", also="repeated_random_numbers", again=(0, 1), epochs=2),
    Script(wrong="epoch_not_set", again=(0, 2), short=True),
    Script(wrong="epoch_not_set", again=(1, 3), epochs=4, draws=False),
    Script(wrong="epoch_not_set", again=(1, 2), slow="no_workers", workers="none"),
    Script(wrong="repeated_random_numbers"),
    Script(wrong="repeated_random_numbers", again=(2, 2)),
    Script(wrong="repeated_random_numbers", again=(0, 1), epochs=2),
    Script(wrong="repeated_random_numbers", again=(1, 3), epochs=4),
    Script(wrong="repeated_random_numbers", again=(0, 2), slow="file_per_sample"),
    Script(slow="no_workers", longest="blocked", workers="none", steps=SHORT_STEPS),
    Script(slow="no_workers", longest="queued", workers="none", waiting=BARELY, epochs=2),
    Script(slow="file_per_sample", workers="many"),
    Script(slow="fewer_cores", workers="many"),
    Script(slow="fewer_cores", waiting=BARELY, steps=SHORT_STEPS),
    Script(slow="file_per_sample", waiting=BARELY),
    Script(workers="none", waiting=NEARLY, steps=LONG_STEPS, draws=False),
    Script(longest="blocked", waiting=NEARLY, steps=LONG_STEPS, epochs=2),
    Script(longest="blocked", workers="many", similar=True),
    Script(longest="queued", workers="many", waiting=NEARLY, short=True),
    Script(longest="queued", similar=True, short=True, draws=False),
    Script(slow="file_per_sample", workers="one", waiting=(0.75, 0.85)),
    Script(slow="fewer_cores", workers="one"),
    Script(wrong="iterable_repeated", also="epoch_not_set", again=(0, 2)),
    Script(wrong="iterable_repeated", copied=0, epochs=2),
    Script(wrong="iterable_repeated", copied=2),
    Script(wrong="iterable_repeated", epochs=1),
    Script(wrong="repeated_random_numbers", again=(0, 1), epochs=2, workers="none"),
    Script(cut=True),
    Script(slow="fewer_cores", cut=True),
)


def draw_cases(rng: np.random.Generator) -> list[Case]:
    """Draw the evidence of each script; with its cause."""
    return [
        {"evidence": _draw(rng, one), "cause": one.cause, "also": [one.also, one.slow]} for one in SCRIPTS
    ]


def _draw(rng: np.random.Generator, script: Script) -> dict[str, Any]:
    cores = int(rng.integers(3, 6))
    few, many = int(rng.integers(2, cores)), int(rng.integers(2 * cores, 3 * cores))
    workers = {"none": 0, "one": 1, "few": few, "many": many}[script.workers]
    return {
        "cores": cores,
        "workers": workers,
        **_times(rng, script, workers),
        "orders": _orders(rng, script),
        "draws": [draw for epoch in _draws(rng, script) for draw in epoch],
    }


def _times(rng: np.random.Generator, script: Script, workers: int) -> dict[str, float]:
    """Return the milliseconds of a step: loading takes as long as the waits and the workers say."""
    step = float(np.exp(rng.uniform(*np.log(script.steps))))
    wait = step * rng.uniform(*(script.waiting or ((0.3, 0.85) if script.slow else (0.02, 0.08))))
    load = step * workers * (1.0 if script.slow else rng.uniform(0.6, 0.8)) if workers else wait
    more, less = load * rng.uniform(0.5, 0.7), load * rng.uniform(0.1, 0.25)
    longest = {"fewer_cores": "queued", "file_per_sample": "blocked"}.get(script.slow, script.longest)
    queued, blocked = (more, less) if longest == "queued" else (less, more)
    times = {"step": step, "wait": wait, "blocked": blocked, "queued": queued}
    return {name: round(float(value), 3) for name, value in times.items()}


def _orders(rng: np.random.Generator, script: Script) -> list[list[int]]:
    """Return the order of each epoch: of workers that each yield all samples, the copies are interleaved."""
    count = int(rng.integers(24, 36))
    several = int(rng.integers(2, 4)) if script.wrong == "iterable_repeated" else 1
    orders = []
    for epoch in range(script.epochs):
        mine, copies = rng.permutation(count), several if script.copied in (None, epoch) else 1
        order = np.stack([np.roll(mine, -2 * worker) for worker in range(copies)], axis=1).ravel().tolist()
        orders.append(order[: count // 2] if script.short else order)
    if script.similar:
        third = len(orders[0]) // 3
        begin, middle, end = orders[0][:third], orders[0][third:-third], orders[0][-third:]
        orders = [[*begin, *np.roll(middle, epoch).tolist(), *end] for epoch in range(script.epochs)]
    if script.cut:
        orders[-1] = orders[0][: 2 * count // 3]
    if "epoch_not_set" in (script.wrong, script.also) and script.again:
        orders[script.again[1]] = list(orders[script.again[0]])
    return orders


def _draws(rng: np.random.Generator, script: Script) -> list[list[str]]:
    """Return the hashes of each epoch, by batch."""
    count = 2 * int(rng.integers(4, 7)) if script.draws else 0
    hashes = [f"{value:04x}" for value in rng.permutation(16**4)[: script.epochs * count].tolist()]
    drawn = [hashes[epoch * count : (epoch + 1) * count] for epoch in range(script.epochs)]
    if "repeated_random_numbers" not in (script.wrong, script.also):
        return drawn
    first, last = script.again or (0, script.epochs - 1)
    if script.again and first < last:  # one worker of two draws what it drew before
        drawn[last][1::2] = np.roll(drawn[first][::2], 1).tolist()
        return drawn
    for epoch in range(first, last + 1):  # two workers draw the same, and one of them loads a batch less
        half = drawn[epoch][: count // 2]
        drawn[epoch] = [*half, *half[:-1]]
    return drawn
