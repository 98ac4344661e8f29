"""A small convolutional network for images of any size, and its training step."""

from collections.abc import Callable
from itertools import pairwise

import torch
from torch import nn

__all__ = ["SimpleCNN", "training_step"]


class SimpleCNN(nn.Module):
    """Three convolutions, a mean over the image, a linear layer; images may have any size.

    Lesson 03 shows this class; a test compares them.

    Args:
        num_classes: length of the output.
        width: channels after the first convolution; the computation grows with its square.
    """

    def __init__(self, num_classes: int, width: int = 16) -> None:
        super().__init__()
        widths = (3, width, 2 * width, 4 * width)
        blocks: list[nn.Module] = []
        for inputs, outputs in pairwise(widths):
            blocks += [nn.Conv2d(inputs, outputs, 3, stride=2, padding=1), nn.ReLU()]
        self.features = nn.Sequential(*blocks)
        self.classifier = nn.Linear(4 * width, num_classes)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Return class scores (N, num_classes) of images (N, 3, H, W); uint8 is scaled to 0-1 first."""
        if images.dtype == torch.uint8:
            images = images.float() / 255
        scores: torch.Tensor = self.classifier(self.features(images).mean(dim=(2, 3)))
        return scores


def training_step(
    model: nn.Module, learning_rate: float = 0.01, dtype: torch.dtype | None = None
) -> Callable[[torch.Tensor, torch.Tensor], torch.Tensor]:
    """Return a function that trains `model` on one batch by gradient descent.

    Args:
        model: batches must be on the same device as its parameters.
        learning_rate: of plain stochastic gradient descent.
        dtype: autocast to this type, such as `torch.bfloat16`; None computes in the model's own type.

    Returns:
        `step(images, labels)`, which returns the loss as a tensor without synchronising the device, while
        reading its value synchronises.
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
        detached: torch.Tensor = loss.detach()
        return detached

    return step
