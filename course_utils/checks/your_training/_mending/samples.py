"""Which photographs went through the network, and whether they are those of the script as it was given."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NoReturn, TypedDict

import numpy as np

from course_utils.checks.core import Mistake
from course_utils.checks.your_training._mending.runs import EPOCHS, Forward, Run

ALIKE = 0.06  # of the full range: resizing in another way differs by less, another photograph by more
_SHARE = re.compile(r"(\d+(?:\.\d+)?) ?%|(?<![\d.])(?:0?\.\d+|1\.0+)\b")


class Photographs(TypedDict):
    """The photographs in the order of their names.

    Attributes:
        colours: Their means, a row a photograph, as in `Forward`.
        labels: Their labels.
        train: How many are trained; the others are validated.
    """

    colours: np.ndarray
    labels: list[int]
    train: int


def numbers_of(photographs: Photographs, forwards: Iterable[Forward]) -> list[int]:
    """Return which photographs went through the network, by number.

    Raises:
        Mistake: A batch holds something else.
    """
    numbers: list[int] = []
    for forward in forwards:
        colours = forward["colours"]
        distances = np.abs(colours[:, None] - photographs["colours"][None]).mean(2)
        nearest = distances.argmin(1)
        if (distances.min(1) > ALIKE).any():
            _say_other_pixels(forward)
        numbers += nearest.tolist()
    return numbers


def _say_other_pixels(forward: Forward) -> NoReturn:
    most = float(forward["colours"].max())
    hint = (
        "they are bytes from 0 to 255, not parts of 1" if most > 2 else "compare one with the script as given"
    )
    raise Mistake(
        "other_pixels",
        f"A batch of shape {forward['shape']} goes through the network that holds none of the "
        "photographs as the "
        f"script that was given prepares them ({hint}): whole, RGB, 128 × 128, values from 0 to 1.",
    )


def expect_training(photographs: Photographs, run: Run) -> None:
    """Expect that each epoch trains each photograph once with its label, in a new order.

    Raises:
        Mistake: It does not; the message says what was seen.
    """
    forwards = [one for one in run["forwards"] if one["trains"]]
    if not forwards or not all(one["on_device"] for one in forwards):
        raise Mistake(
            "not_on_device",
            "Batches go through the network that were not copied to the GPU, although "
            "torch.cuda.is_available() "
            "is true: use .to(device) as in the script that was given.",
        )
    numbers, size = numbers_of(photographs, forwards), photographs["train"]
    labels = [label for one in forwards for label in one["labels"]]
    expect_each_once(numbers, size, EPOCHS)
    if any(len(one["labels"]) != len(one["colours"]) for one in forwards):
        raise Mistake(
            "no_loss", "The check saw no labels: compute the loss with nn.functional.cross_entropy."
        )
    wrong = sum(photographs["labels"][n] != label for n, label in zip(numbers, labels, strict=True))
    if wrong:
        raise Mistake(
            "other_labels",
            f"{wrong} of {len(labels)} photographs are trained with the label of another one. Are labels and "
            "photographs sorted alike, and by the same names?",
        )
    first, second = numbers[:size], numbers[size:]
    if first == sorted(first) or first == second:
        raise Mistake(
            "not_shuffled",
            "The photographs come in the order of their names, or in the same order in both epochs; "
            "the script "
            "that was given shuffles them anew in each epoch.",
        )


def expect_each_once(numbers: Sequence[int], size: int, epochs: int) -> None:
    """Expect that each of `size` photographs comes once in each epoch.

    Raises:
        Mistake: One is missing, comes twice, or does not belong to the training.
    """
    others = sum(number >= size for number in numbers)
    if others:
        raise Mistake(
            "other_samples",
            f"{others} photographs are trained that belong to the validation set, or to none: train "
            "the first "
            "N by the order of their names.",
        )
    for epoch in range(epochs):
        counts = Counter(numbers[epoch * size : (epoch + 1) * size])
        total = len(numbers[epoch * size : (epoch + 1) * size])
        if len(counts) < size or len(numbers) != epochs * size:
            raise Mistake(
                "epoch_shortened" if len(numbers) < epochs * size else "other_samples",
                f"{epochs} epochs of {size} photographs train {len(numbers)} samples, and "
                f"{len(counts)} different "
                f"ones among the {total} of epoch {epoch}: each epoch trains each photograph once, "
                "also those of "
                "the last, shorter batch.",
            )


def expect_validation(photographs: Photographs, run: Run) -> None:
    """Expect that each epoch validates the other photographs, and that its result is printed.

    Raises:
        Mistake: It does not; the message says what was seen.
    """
    shares = re.finditer(_SHARE, run["printed"])
    printed = [float(one[1]) if one[1] else 100 * float(one[0]) for one in shares]
    for epoch, forwards in enumerate(_validations(run["forwards"])):
        numbers = numbers_of(photographs, forwards)
        wanted = list(range(photographs["train"], len(photographs["labels"])))
        if sorted(numbers) != wanted:
            raise Mistake(
                "other_validation",
                f"After epoch {epoch}, {len(numbers)} photographs are validated without gradients, "
                f"{len(set(numbers) & set(wanted))} of the {len(wanted)} that belong to the validation set: "
                "validate each of them once after each epoch, as the script that was given does.",
            )
        guesses = [guess for one in forwards for guess in one["guesses"]]
        right = np.mean(
            [photographs["labels"][n] == guess for n, guess in zip(numbers, guesses, strict=True)]
        )
        near = [k for k, share in enumerate(printed) if abs(share - 100 * right) <= 1]
        if not near:
            raise Mistake(
                "other_result",
                f"After epoch {epoch}, {right:.0%} of the validation set were right, and the script "
                "prints no "
                "such number: print it, as the script that was given does.",
            )
        printed = printed[near[0] + 1 :]


def _validations(forwards: list[Forward]) -> list[list[Forward]]:
    """Return the batches that follow each epoch without gradients."""
    found: list[list[Forward]] = []
    trained = True
    for one in forwards:
        if not one["trains"]:
            if trained:
                found.append([])
            found[-1].append(one)
        trained = one["trains"]
    return [*found, *[[]] * EPOCHS][: max(EPOCHS, len(found))]
