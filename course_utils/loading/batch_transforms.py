"""Transforms of whole batches, for `course_utils.loading.fast_loader`, that return them in reused memory."""

from collections.abc import Sequence

import torch

from course_utils.loading.buffer_pool import BufferPool
from course_utils.system import one_thread

IMAGENET_MEAN, IMAGENET_STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


class FlipAndNormalize:
    """Turn uint8 batches into float32, normalised, each image mirrored left to right or not by itself.

    torchvision's `RandomHorizontalFlip` draws once for all that it is given: a batch would be flipped as one.

    Args:
        mean: Of each channel, in 0-1; subtracted.
        std: Of each channel, in 0-1; divided by.
        flip: Probability to mirror an image.
        seed: For the private generator that decides.
    """

    def __init__(
        self,
        mean: Sequence[float] = IMAGENET_MEAN,
        std: Sequence[float] = IMAGENET_STD,
        flip: float = 0.5,
        seed: int = 0,
    ) -> None:
        self.scale = 1 / (255 * torch.tensor(std))
        self.shift = -torch.tensor(mean) / torch.tensor(std)
        self.flip, self.generator = flip, torch.Generator().manual_seed(seed)
        self._memory: BufferPool | None = None

    def __call__(self, images: torch.Tensor) -> torch.Tensor:
        """Return float32 of the same shape (N, 3, H, W), in `channels_last`."""
        mirrored = torch.rand(len(images), generator=self.generator) < self.flip
        if images.device.type != "cpu":
            return self._at_once(images, mirrored.to(images.device))
        pixels = images.permute(0, 2, 3, 1)
        result = self._take(pixels.shape)
        rows = [values.repeat(pixels.shape[2]) for values in (self.scale, self.shift)]
        # One image after the other: each stays in the core's own cache from the first step to the last.
        with one_thread():
            for source, target, mirror in zip(pixels, result, mirrored.tolist(), strict=True):
                target.copy_(source.flip(1) if mirror else source)
                target.flatten(1).mul_(rows[0]).add_(rows[1])
        return result.permute(0, 3, 1, 2)

    def _take(self, shape: torch.Size) -> torch.Tensor:
        known = self._memory
        if known is None or known.shape[1:] != shape[1:] or known.shape[0] < shape[0]:
            self._memory = BufferPool(tuple(shape), torch.float32)
        return self._memory.take()[: shape[0]]

    def _at_once(self, images: torch.Tensor, mirrored: torch.Tensor) -> torch.Tensor:
        images = torch.where(mirrored[:, None, None, None], images.flip(3), images)
        scale, shift = (values.to(images.device)[:, None, None] for values in (self.scale, self.shift))
        return torch.addcmul(shift, images.float(), scale)
