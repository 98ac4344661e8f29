"""A dataset of random images that needs no files."""

import torch
from torch.utils.data import Dataset

from course_utils.data.jpeg_dataset import Sample, Transform


class SyntheticImageDataset(Dataset[Sample]):
    """Random images of one size; an index always returns the same image.

    Args:
        num_images: Number of images.
        img_size: Height and width in pixels.
        transform: Applied to each image, a uint8 tensor (3, img_size, img_size).
        num_classes: Labels are 0 … num_classes - 1.
    """

    def __init__(
        self,
        num_images: int,
        img_size: int,
        transform: Transform | None = None,
        num_classes: int = 10,
    ) -> None:
        self.num_images, self.img_size, self.transform = num_images, img_size, transform
        self.num_classes = num_classes

    def __len__(self) -> int:
        return self.num_images

    def __getitem__(self, index: int) -> Sample:
        if not 0 <= index < self.num_images:
            raise IndexError(f"image {index} of {self.num_images}")
        generator = torch.Generator().manual_seed(index)
        size = (3, self.img_size, self.img_size)
        image = torch.randint(0, 256, size, dtype=torch.uint8, generator=generator)
        return (self.transform(image) if self.transform else image), index % self.num_classes
