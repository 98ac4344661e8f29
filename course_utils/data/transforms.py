"""The transform that the lessons pass to a dataset."""

import torch
from torchvision.transforms import v2


def transform(new_size: int | tuple[int, int] | None, to_tensor: bool = False) -> v2.Compose:
    """Return a transform that resizes uint8 RGB images of shape (C, H, W).

    Args:
        new_size: Height and width in pixels after resizing; one number for a square, None to keep the size.
        to_tensor: Also convert to float32 from 0 to 1, as torchvision's ``ToTensor`` does.

    Returns:
        A torchvision v2 transform from a uint8 tensor (C, H, W) to a uint8 or float32 tensor (C, H', W').
    """
    steps: list[torch.nn.Module] = []
    if new_size is not None:
        size = (new_size, new_size) if isinstance(new_size, int) else new_size
        steps.append(v2.Resize(size, antialias=True))
    if to_tensor:
        steps.append(v2.ToDtype(torch.float32, scale=True))
    return v2.Compose(steps or [v2.Identity()])
