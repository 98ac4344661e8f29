"""Do all loaders draw their random crops from the same distribution? It is read from the pixels.

In a chart, red grows from left to right and green from top to bottom, so that the pixels of a crop tell which
part of the chart it shows, and whether it is flipped. These parts are compared with torchvision's.
"""

import io
from collections.abc import Iterable, Iterator

import numpy as np
import torch
from PIL import Image

from tests.bench.loading.peer import CROP_SIDE as SIDE
from tests.bench.loading.peer import MEAN, STD, Batch

CHARTS = ((500, 375), (600, 200))  # width and height; from the second one, many draws do not fit
COUNT = 400  # charts of each size
CRITICAL = 2.225  # of the Kolmogorov-Smirnov test, for one false alarm in 10,000
EDGE = 12  # pixels at the edges that antialiasing changes
Part = tuple[float, float, float, float, bool]  # left, top, width, height, flipped


def chart(width: int, height: int) -> bytes:
    """Return a chart as a JPEG file."""
    pixels = np.full((height, width, 3), 128, np.uint8)
    pixels[..., 0] = np.round(np.linspace(0, 255, width))
    pixels[..., 1] = np.round(np.linspace(0, 255, height))[:, None]
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "JPEG", quality=95, subsampling=0)
    return file.getvalue()


def charts() -> list[bytes]:
    """Return all charts: first those of one size, then those of the other."""
    return [data for size in CHARTS for data in [chart(*size)] * COUNT]


def shown_part(levels: np.ndarray, width: int, height: int) -> Part:
    """Return the part of a chart that a crop shows, in pixels of the chart.

    Args:
        levels: The crop, from 0 to 255 (3, SIDE, SIDE).
        width: Width of the chart.
        height: Its height.
    """
    inner = levels[:, EDGE:-EDGE, EDGE:-EDGE]
    left, right = _range(inner[0].mean(axis=0), width)
    top, bottom = _range(inner[1].mean(axis=1), height)
    return min(left, right), top, abs(right - left), bottom - top, right < left


def _range(profile: np.ndarray, length: int) -> tuple[float, float]:
    """Return where a crop begins and ends, in pixels of the chart."""
    slope, level = np.polyfit(np.arange(EDGE, SIDE - EDGE) + 0.5, profile, 1) * (length - 1) / 255
    return level + 0.5, level + 0.5 + slope * SIDE


def seen_parts(batches: Iterable[Batch]) -> dict[tuple[int, int], list[Part]]:
    """Return the parts that two epochs show, by the size of the chart."""
    found: dict[tuple[int, int], list[Part]] = {size: [] for size in CHARTS}
    for _ in range(2):
        for images, labels in batches:
            for image, label in zip(as_levels(images), labels.tolist(), strict=True):
                size = CHARTS[label // COUNT]
                found[size].append(shown_part(image, *size))
    return found


def as_levels(images: torch.Tensor) -> np.ndarray:
    """Return images with levels from 0 to 255, also of normalised ones."""
    if images.dtype == torch.uint8:
        return images.numpy()
    scale, shift = (torch.tensor(values)[:, None, None] * 255 for values in (STD, MEAN))
    return (images * scale + shift).numpy()


def reference_parts(width: int, height: int, count: int = 4000) -> Iterator[Part]:
    """Draw parts as torchvision does."""
    from torchvision.transforms import RandomResizedCrop

    image = torch.empty(3, height, width)
    for number in range(count):
        top, left, h, w = RandomResizedCrop.get_params(image, [0.08, 1.0], [3 / 4, 4 / 3])
        yield left, top, w, h, number % 2 == 0


def quantities(parts: Iterable[Part], width: int, height: int) -> dict[str, np.ndarray]:
    """Return what is compared of parts: one number per part each."""
    left, top, w, h, flipped = np.array(list(parts), float).T
    return {
        "area": w * h / (width * height),
        "aspect": np.log(w / h),
        "centre, horizontal": (left + w / 2) / width,
        "centre, vertical": (top + h / 2) / height,
        "flip": flipped,
    }


def distance(one: np.ndarray, other: np.ndarray) -> float:
    """Return the largest difference of two distributions, in units of the one that is not chance."""
    values = np.concatenate([one, other])
    shares = [np.searchsorted(np.sort(some), values, side="right") / len(some) for some in (one, other)]
    chance = CRITICAL * np.sqrt((len(one) + len(other)) / (len(one) * len(other)))
    return float(np.abs(shares[0] - shares[1]).max() / chance)


def compare(batches: Iterable[Batch]) -> dict[str, float]:
    """Return for each quantity how far its distribution is from torchvision's: up to 1 may be chance."""
    torch.manual_seed(0)
    farthest: dict[str, float] = {}
    for size, parts in seen_parts(batches).items():
        wanted = quantities(reference_parts(*size), *size)
        for name, values in quantities(parts, *size).items():
            # Parts are read from pixels with an error of some 0.2 pixels, which splits equal numbers.
            one, other = (np.round(some, 2) for some in (values, wanted[name]))
            farthest[name] = max(farthest.get(name, 0.0), distance(one, other))
    return farthest
