"""Where a loader is in its sequence of epochs, and the state from which any number of ranks can resume."""

from dataclasses import dataclass
from typing import NamedTuple, Self, TypedDict

from course_utils.loading.description import description
from course_utils.loading.sampler import EpochOrder


@dataclass
class Position:
    """Where an iteration is.

    Args:
        epoch: Number of the epoch.
        samples: Samples of it that all ranks together have consumed.
    """

    epoch: int = 0
    samples: int = 0


class Source(NamedTuple):
    """What determines the samples, beside their order.

    Args:
        content: Hash of the images and labels.
        crop: What is cut out of each image, as text.
        transform: What is applied to each batch, as text.
    """

    content: str = ""
    crop: str = "None"
    transform: str = "None"

    @classmethod
    def of(cls, content: str, crop: object, transform: object) -> Self:
        """Describe a loader.

        Raises:
            ValueError: No text can tell the crop or the transform from others.
        """
        return cls(content, _described("crop", crop), _described("transform", transform))


class LoaderState(TypedDict):
    """State of a `FastLoader`, the same on every rank after the same number of steps.

    Attributes:
        epoch: Number of the epoch.
        samples: Samples of it that all ranks together have consumed.
        images: Number of images.
        shuffle: Whether each epoch has another order.
        seed: Seed of these orders.
        content: Hash of the images and labels.
        crop: What is cut out of each image, as text.
        transform: What is applied to each batch, as text.
    """

    epoch: int
    samples: int
    images: int
    shuffle: bool
    seed: int
    content: str
    crop: str
    transform: str


def state_at(position: Position, order: EpochOrder, source: Source) -> LoaderState:
    """Return the state of a loader.

    Args:
        position: Where it is.
        order: The order of its epochs.
        source: What its samples are made of.
    """
    return {
        "epoch": position.epoch,
        "samples": position.samples,
        "images": order.images,
        "shuffle": order.shuffle,
        "seed": order.seed,
        "content": source.content,
        "crop": source.crop,
        "transform": source.transform,
    }


def position_from(state: LoaderState, order: EpochOrder, source: Source) -> Position:
    """Return the position in a state.

    Args:
        state: Of a loader with any batch size, number of ranks and `drop_last`.
        order: The order of the epochs of the loader that resumes.
        source: What its samples are made of.

    Raises:
        ValueError: The state belongs to a loader with another order or other samples, is of an earlier
            version, or its position cannot be.
    """
    found = dict(state)
    if "position" in found:
        raise ValueError(
            "this state is of an earlier version, which counted the batches of each rank: its position means "
            "something else on another number of ranks. Start the epoch again, or replace `position` by "
            "`epoch` and `samples`, which is batches * batch_size * world_size, at most the number of images"
        )
    own = state_at(Position(), order, source)
    missing = {key: own[key] for key in ("crop", "transform") if key not in found}
    other = [
        f"{key} is {found.get(key)!r} there and {value!r} here"
        for key, value in own.items()
        if key not in ("epoch", "samples", *missing) and found.get(key) != value
    ]
    if other:
        raise ValueError(
            f"this state belongs to another loader: {', '.join(other)}. Make the loader as it was, or start "
            "the epoch again"
        )
    if missing:
        raise ValueError(
            f"this state is of an earlier version, which did not name {' and '.join(missing)}. If they were "
            f"those of this loader, add {missing} to the state; otherwise start the epoch again"
        )
    match found.get("epoch"), found.get("samples"):
        case int(epoch), int(samples) if epoch >= 0 and 0 <= samples <= order.images:
            return Position(epoch, samples)
        case epoch, samples:
            raise ValueError(
                f"this state has the position epoch={epoch!r}, samples={samples!r}; it must be two integers, "
                f"the samples from 0 to {order.images}"
            )


def _described(role: str, value: object) -> str:
    try:
        return description(value)
    except ValueError as error:
        raise ValueError(
            f"a state cannot name the {role} of this loader, so another one could resume: {error}"
        ) from error
