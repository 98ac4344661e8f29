"""Transform whole batches, for `FastLoader`, into reused memory."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
import torch

from course_utils.cropping import uniforms
from course_utils.loading.buffer_pool import BufferPool
from course_utils.system import one_thread

IMAGENET_MEAN, IMAGENET_STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)

FLIPS = 2  # the purpose of these random numbers; crops have another


@runtime_checkable
class RandomTransform(Protocol):
    """Transforms whole batches, with random parameters that a loader lets it draw for each image."""

    def draw(self, seed: int, epoch: int, samples: np.ndarray) -> Any:  # noqa: ANN401 - its own
        """Return the random parameters of each sample: the same ones whenever they are drawn."""

    def __call__(self, images: torch.Tensor, drawn: Any, /) -> torch.Tensor:  # noqa: ANN401 - what `draw` returned
        """Return the transformed images."""


BatchTransform = Callable[[torch.Tensor], torch.Tensor] | RandomTransform


class Step(NamedTuple):
    """Which samples a batch holds.

    Args:
        epoch: Number of the epoch.
        consumed: Samples of it that all ranks have consumed after this batch.
        samples: Numbers of its images, int64.
    """

    epoch: int
    consumed: int
    samples: np.ndarray


def transformed(
    images: torch.Tensor, step: Step, transform: BatchTransform | None, seed: int
) -> torch.Tensor:
    """Return the transformed images of a batch; what is random depends on seed, epoch and sample alone.

    A batch without images gets the type and shape of others, by transforming a black image.
    """
    if transform is None:
        return images
    if not len(images):
        black = images.new_zeros(1, *images.shape[1:]).contiguous(memory_format=torch.channels_last)
        return transformed(black, step._replace(samples=np.zeros(1, np.int64)), transform, seed)[:0]
    if isinstance(transform, RandomTransform):
        done = transform(images, transform.draw(seed, step.epoch, step.samples))
    else:
        done = transform(images)
    if getattr(done, "shape", ())[:1] != images.shape[:1]:
        raise ValueError(
            f"the transform made {type(done).__name__} {tuple(getattr(done, 'shape', ()))} of {len(images)} "
            "images: it must return a tensor with as many, each at its place"
        )
    return done


class FlipAndNormalize:
    """Normalise uint8 batches to float32, and flip each image horizontally at random.

    torchvision's `RandomHorizontalFlip` would flip all images of a batch or none.

    Args:
        mean: Mean of each channel, from 0 to 1.
        std: Standard deviation of each channel, from 0 to 1.
        flip: Probability that an image is flipped; 0 after a `RandomResizedCrop`, which flips by itself.

    Raises:
        ValueError: `flip` is no probability.
    """

    def __init__(
        self,
        mean: Sequence[float] = IMAGENET_MEAN,
        std: Sequence[float] = IMAGENET_STD,
        flip: float = 0.5,
    ) -> None:
        if not 0 <= flip <= 1:
            raise ValueError(f"flip={flip}: a probability from 0 to 1")
        self.scale = 1 / (255 * torch.tensor(std))
        self.shift = -torch.tensor(mean) / torch.tensor(std)
        self.flip = flip
        self._text = f"FlipAndNormalize({tuple(map(float, mean))}, {tuple(map(float, std))}, {float(flip)})"
        self._pool: BufferPool | None = None
        self._constants: dict[torch.device, tuple[torch.Tensor, torch.Tensor]] = {}

    def __repr__(self) -> str:
        return self._text

    def draw(self, seed: int, epoch: int, samples: np.ndarray) -> torch.Tensor:
        """Return which images to flip, bool (N,): the same ones whenever they are drawn."""
        return torch.from_numpy(uniforms(seed, epoch, samples, 1, FLIPS)[:, 0] < self.flip)

    def __call__(self, images: torch.Tensor, flipped: torch.Tensor) -> torch.Tensor:
        """Return float32 images of the same shape (N, 3, H, W), in `channels_last`.

        Args:
            images: uint8.
            flipped: Which of them to flip, bool (N,).
        """
        if images.device.type != "cpu":
            # From pinned memory the copy does not block the host, which would wait for the queued work.
            flipped = flipped.pin_memory() if images.is_cuda else flipped
            return self._on_device(images, flipped.to(images.device, non_blocking=True))
        pixels = images.permute(0, 2, 3, 1)
        result = self._take(pixels.shape)
        rows = [values.repeat(pixels.shape[2]) for values in (self.scale, self.shift)]
        # Image by image: each stays in the core's cache through all steps.
        with one_thread():
            for source, target, flip in zip(pixels, result, flipped.tolist(), strict=True):
                target.copy_(source.flip(1) if flip else source)
                target.flatten(1).mul_(rows[0]).add_(rows[1])
        return result.permute(0, 3, 1, 2)

    def _take(self, shape: torch.Size) -> torch.Tensor:
        pool = self._pool
        if pool is None or pool.shape[1:] != shape[1:] or pool.shape[0] < shape[0]:
            pool = self._pool = BufferPool(tuple(shape), torch.float32)
        return pool.take()[: shape[0]]

    def _on_device(self, images: torch.Tensor, flipped: torch.Tensor) -> torch.Tensor:
        images = torch.where(flipped[:, None, None, None], images.flip(3), images)
        if images.device not in self._constants:
            per_channel = (values[:, None, None] for values in (self.scale, self.shift))
            scale, shift = (values.to(images.device) for values in per_channel)
            self._constants[images.device] = scale, shift
        scale, shift = self._constants[images.device]
        return torch.addcmul(shift, images.float(), scale)
