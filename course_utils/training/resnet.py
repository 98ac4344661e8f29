"""ResNet-50 for uint8 batches: a network whose steps are worth recording on a data-centre GPU."""

import torch
from torch import nn
from torchvision.models import resnet50


class UInt8ResNet50(nn.Module):
    """torchvision's untrained ResNet-50 in `channels_last`; uint8 images are scaled to 0-1 on the device.

    Args:
        num_classes: Length of the output.
    """

    def __init__(self, num_classes: int) -> None:
        super().__init__()
        self.network = resnet50(num_classes=num_classes).to(memory_format=torch.channels_last)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Return class scores (N, num_classes) of images (N, 3, H, W), uint8 or float in 0-1."""
        images = images.contiguous(memory_format=torch.channels_last)
        if images.dtype == torch.uint8:
            images = images.float() / 255
        scores: torch.Tensor = self.network(images)
        return scores
