"""Transform whole batches, for `FastLoader`, into reused memory."""

from collections.abc import Sequence

import torch

from course_utils.loading.buffer_pool import BufferPool
from course_utils.system import one_thread

IMAGENET_MEAN, IMAGENET_STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


class FlipAndNormalize:
    """Normalise uint8 batches to float32, and flip each image horizontally at random.

    torchvision's `RandomHorizontalFlip` would flip all images of a batch or none.

    Args:
        mean: Mean of each channel, from 0 to 1.
        std: Standard deviation of each channel, from 0 to 1.
        flip: Probability that an image is flipped; 0 after a `RandomResizedCrop`, which flips by itself.
        seed: Seed of the private generator.
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
        self._text = f"FlipAndNormalize({tuple(mean)}, {tuple(std)}, {flip}, {seed})"
        self._pool: BufferPool | None = None
        self._constants: dict[torch.device, tuple[torch.Tensor, torch.Tensor]] = {}

    def __repr__(self) -> str:
        return self._text

    def __call__(self, images: torch.Tensor) -> torch.Tensor:
        """Return float32 images of the same shape (N, 3, H, W), in `channels_last`."""
        flipped = torch.rand(len(images), generator=self.generator) < self.flip
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
