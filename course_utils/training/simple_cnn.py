"""A small convolutional network for images of any size, and one training step of it."""

from collections.abc import Callable
from itertools import pairwise

import torch
from torch import nn


class SimpleCNN(nn.Module):
    """Three convolutions and a linear layer; the average over all places lets any image size through.

    Args:
        num_classes: Length of the output.
        width: Channels after the first convolution; the compute grows with its square.
    """

    def __init__(self, num_classes: int, width: int = 16) -> None:
        super().__init__()
        widths = (3, width, 2 * width, 4 * width)
        blocks = []
        for inputs, outputs in pairwise(widths):
            blocks += [nn.Conv2d(inputs, outputs, 3, stride=2, padding=1), nn.ReLU()]
        self.features = nn.Sequential(*blocks)
        self.classify = nn.Linear(4 * width, num_classes)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Class scores (N, num_classes) of images (N, 3, H, W); uint8 images are scaled to 0-1 first."""
        if images.dtype == torch.uint8:
            images = images.float() / 255
        return self.classify(self.features(images).mean(dim=(2, 3)))


def training_step(
    model: nn.Module, learning_rate: float = 0.01, dtype: torch.dtype | None = None
) -> Callable[[torch.Tensor, torch.Tensor], torch.Tensor]:
    """A function that trains `model` on one batch.

    Args:
        model: Where its parameters are, there the batches have to be.
        learning_rate: Of plain gradient descent.
        dtype: Compute in this type by autocast, such as `torch.bfloat16`.

    Returns:
        `step(images, labels)`, which returns the loss as a tensor and waits for nothing: reading it would.
    """
    device = next(model.parameters()).device
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate)

    def step(images: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device.type, dtype=dtype, enabled=dtype is not None):
            loss = criterion(model(images), labels)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step
