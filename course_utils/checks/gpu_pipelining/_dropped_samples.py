"""The verdict on one epoch from which broken images were dropped."""

from collections.abc import Callable, Iterator
from typing import NamedTuple, TypedDict

import numpy as np

from course_utils.checks.core import Mistake

MOST_HELD = 2


class Case(TypedDict):
    """A dataset in the order of its epoch: images, labels, which images are broken, and the batch size."""

    images: np.ndarray
    labels: np.ndarray
    broken: np.ndarray
    batch_size: int


class BatchRecord(TypedDict):
    """A batch, and how many samples had been loaded when it arrived."""

    images: np.ndarray
    labels: np.ndarray
    loaded: int


class EpochRecord(TypedDict):
    """An epoch: batches and reports, or the type of what is none; whether a batch changed afterwards."""

    batches: list[BatchRecord | str]
    reported: list[int | str]
    changed: bool


class LoaderBatch(NamedTuple):
    """The indices of a batch of the loader: of its good images and of its broken ones."""

    good: list[int]
    broken: list[int]


def loader_batches(case: Case) -> list[LoaderBatch]:
    """Return the batches that the loader delivers in one epoch."""
    broken, size = case["broken"].tolist(), case["batch_size"]
    batches = [range(i, min(i + size, len(broken))) for i in range(0, len(broken), size)]
    return [LoaderBatch([i for i in b if not broken[i]], [i for i in b if broken[i]]) for b in batches]


def expect_epoch(case: Case, epoch: EpochRecord, streaming: bool = True) -> None:
    """Check the batches of an epoch and the reported counts.

    Args:
        case: The dataset.
        epoch: What happened.
        streaming: Whether batches must be yielded soon after they were loaded; a worker loads ahead.

    Raises:
        Mistake: Something is wrong; the first of the faults in a fixed order.
    """
    batches = [_expect_tensors(case, batch) for batch in epoch["batches"]]
    arrived = [index for batch in batches for index in _indices(case, batch["images"])]
    _expect_all_good(case, arrived)
    _expect_labels(case, arrived, batches)
    if epoch["changed"]:
        raise Mistake(
            "reused_buffer",
            "A batch changes after you yielded it, because its memory is used for a later one. A loop may "
            "still need it: make new tensors for each batch.",
        )
    _expect_sizes(case, batches)
    _expect_loaded(case, batches)
    if streaming:
        _expect_streaming(case, batches)
    _expect_counts(case, epoch["reported"])


def _expect_tensors(case: Case, batch: BatchRecord | str) -> BatchRecord:
    if batch == "NoneType":
        raise Mistake("yields_none", "You yield None. Skip a batch in which all images are broken.")
    if isinstance(batch, str):
        raise Mistake(
            "not_tensors", f"Yield pairs (images, labels) of two tensors; you yielded a {batch[:200]}."
        )
    images, labels = batch["images"], batch["labels"]
    if len(np.atleast_1d(images)) == 0:
        raise Mistake(
            "empty_batch",
            "You yield an empty batch where all images are broken. The mean loss over no images is NaN and "
            "ruins the weights: skip such a batch.",
        )
    if images.ndim != 4 or images.shape[1:] != case["images"].shape[1:]:
        shape = ", ".join(map(str, case["images"].shape[1:]))
        raise Mistake(
            "other_shape",
            f"You yield images of shape {list(images.shape)}; a batch of n images has shape [n, {shape}].",
        )
    if labels.shape != images.shape[:1]:
        raise Mistake(
            "loses_labels",
            f"A batch of {len(images)} images comes with labels of shape {list(labels.shape)}, not "
            f"[{len(images)}]. Drop a sample's image and label together.",
        )
    return batch


def _indices(case: Case, images: np.ndarray) -> Iterator[int]:
    """Yield the index of each image in the dataset."""
    known = {
        image.tobytes(): index for index, image in enumerate(case["images"]) if not case["broken"][index]
    }
    same_type = images.astype(case["images"].dtype)
    for image, cast in zip(images, same_type, strict=True):
        if not np.array_equal(image, cast) or cast.tobytes() not in known:
            raise Mistake(
                "other_images",
                "An image arrives that is none of the dataset's good ones. Yield them as they are, and do "
                "not replace a broken one by another.",
            )
        yield known[cast.tobytes()]


def shows_images_of(epoch: EpochRecord, others: list[Case]) -> bool:
    """Return whether a batch of an epoch holds an image of another dataset."""
    known = {image.tobytes() for case in others for image in case["images"] if image.any()}
    batches = [batch["images"] for batch in epoch["batches"] if not isinstance(batch, str)]
    return any(image.tobytes() in known for images in batches if images.ndim == 4 for image in images)


def _expect_all_good(case: Case, arrived: list[int]) -> None:
    good = np.flatnonzero(~case["broken"]).tolist()
    if arrived == good:
        return
    if not arrived:
        raise Mistake("no_batches", "good_batches(...) yielded no batch; yield (images, labels).")
    repeated = {index for index in arrived if arrived.count(index) > 1}
    if repeated and repeated <= _known_losses(case)["drops_black_images"][0]:
        raise Mistake(
            "black_images_instead",
            f"{sum(index in repeated for index in arrived)} black images arrive, but the dataset has only "
            "one. Do not replace a broken image by another.",
        )
    if repeated:
        raise Mistake("repeats_images", "Some images arrive more than once. Yield each good image once.")
    missing = set(good) - set(arrived)
    if not missing:
        raise Mistake(
            "other_order",
            "The images arrive in another order than the loader delivers them. Keep its order, also within "
            "a batch.",
        )
    count = f"Only {len(arrived)} of {len(good)} good images arrive. "
    for name, (lost, advice) in _known_losses(case).items():
        if missing == lost:
            raise Mistake(name, count + advice)
    if arrived == good[: len(arrived)]:
        raise Mistake("stops_early", count + f"The last {len(missing)} are missing: the loop ends too early.")
    raise Mistake("loses_good_images", count + "Drop those whose image is None, and no other.")


def _known_losses(case: Case) -> dict[str, tuple[set[int], str]]:
    batches = loader_batches(case)
    black = {i for i, image in enumerate(case["images"]) if not image.any() and not case["broken"][i]}
    zero = {i for i, label in enumerate(case["labels"]) if label == 0}
    return {
        "drops_black_images": (black, "The missing one is black: an image is broken only if it is None."),
        "drops_label_zero": (zero, "The missing one has the label 0, which is a label like any other."),
        "loses_the_last_batch": (set(batches[-1].good), "The last batch of the loader is missing."),
        "drops_whole_batches": (
            {i for batch in batches if batch.broken for i in batch.good},
            "Where one image of a batch is broken, you drop the whole batch. Drop only that image.",
        ),
    }


def _expect_labels(case: Case, arrived: list[int], batches: list[BatchRecord]) -> None:
    labels = [label for batch in batches for label in batch["labels"].tolist()]
    if labels != case["labels"][arrived].tolist():
        raise Mistake(
            "loses_labels",
            "Images come with the labels of other images. Drop a sample's image and label together.",
        )


def _expect_sizes(case: Case, batches: list[BatchRecord]) -> None:
    delivered = loader_batches(case)
    if max((len(batch["images"]) for batch in batches), default=0) > case["batch_size"]:
        raise Mistake(
            "larger_batches",
            f"You yield batches of more than {case['batch_size']} images, the batch size of the loader. "
            "Yield one batch after another.",
        )
    if len(batches) > sum(bool(batch.good) for batch in delivered):
        raise Mistake(
            "smaller_batches",
            f"You yield {len(batches)} batches, more than the loader delivers. Yield the good images of a "
            "batch together.",
        )


def _expect_loaded(case: Case, batches: list[BatchRecord]) -> None:
    good = np.flatnonzero(~case["broken"]).tolist()
    yielded = 0
    for batch in batches:
        yielded += len(batch["images"])
        if batch["loaded"] <= good[yielded - 1]:
            raise Mistake(
                "keeps_images",
                "You yield images that were not loaded in this epoch. Go through the loader in each epoch, "
                "and keep nothing of an earlier one: images may be cropped anew each time.",
            )


def _expect_streaming(case: Case, batches: list[BatchRecord]) -> None:
    delivered = loader_batches(case)
    yielded = 0
    good = [index for batch in delivered for index in batch.good]
    for batch in batches:
        if batch["loaded"] > len(case["broken"]):
            raise Mistake(
                "loads_twice",
                "You go through the loader more than once an epoch, and loading is expensive. Count and "
                "yield in a single loop.",
            )
        yielded += len(batch["images"])
        fetched = delivered[
            good[yielded - 1] // case["batch_size"] + 1 : -(-batch["loaded"] // case["batch_size"])
        ]
        if sum(bool(one.good) for one in fetched) > MOST_HELD:
            raise Mistake(
                "holds_everything",
                f"When you yield a batch, {len(fetched)} later ones are loaded already. Yield each as soon "
                "as the loader delivers it: an epoch may not fit into memory.",
            )


KNOWN_COUNTS: dict[str, tuple[Callable[[list[LoaderBatch]], int], str]] = {
    "drops_silently": (lambda batches: 0, "Call report(count) for the images that you drop."),
    "whole_batch_not_counted": (
        lambda batches: sum(len(batch.broken) for batch in batches if batch.good),
        "Count also those of a batch in which all images are broken.",
    ),
    "end_not_counted": (
        lambda batches: sum(
            len(batch.broken) for n, batch in enumerate(batches) if any(later.good for later in batches[n:])
        ),
        "Count also those that come after the last good image.",
    ),
    "counts_batches": (
        lambda batches: sum(bool(batch.broken) for batch in batches),
        "That is the number of batches with a broken image. Count the images.",
    ),
    "reports_running_total": (
        lambda batches: sum(len(batch.broken) for n in range(len(batches)) for batch in batches[: n + 1]),
        "Report what is new since the last report, not the total so far: the counts are added up.",
    ),
    "counts_twice": (
        lambda batches: 2 * sum(len(batch.broken) for batch in batches),
        "Report each of them once.",
    ),
    "counts_the_good": (
        lambda batches: sum(len(batch.good) for batch in batches),
        "That is the number of good images.",
    ),
}
COUNT_MISTAKES = {*KNOWN_COUNTS, "wrong_count"}


def _expect_counts(case: Case, reported: list[int | str]) -> None:
    for count in reported:
        if isinstance(count, str):
            raise Mistake(
                "not_a_count", f"Report a whole number; you called report with a value of type {count}."
            )
    total, broken = sum(count for count in reported if isinstance(count, int)), int(case["broken"].sum())
    if total == broken:
        return
    said = f"{broken} images are broken; the counts that you report add up to {total}. "
    for name, (count_of, advice) in KNOWN_COUNTS.items():
        if total == count_of(loader_batches(case)):
            raise Mistake(name, said + advice)
    raise Mistake("wrong_count", said + "Compare by hand for a batch with one broken image.")


def counts_differ(case: Case) -> bool:
    """Return whether the right count and the known wrong ones all differ.

    `end_not_counted` is left out: it is right in an epoch that ends with a good image.
    """
    batches = loader_batches(case)
    counts = [count_of(batches) for name, (count_of, _) in KNOWN_COUNTS.items() if name != "end_not_counted"]
    return len({*counts, int(case["broken"].sum())}) == len(counts) + 1
