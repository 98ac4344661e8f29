"""What the centre of a resized image needs of the image, so that nothing else is decoded and resized."""

import math
from functools import lru_cache
from typing import NamedTuple

from course_utils.cropping.cut import Cut

# By how much of a pixel the result may be moved. PyTorch resizes from a whole pixel of the image on, which is
# rarely where the centre begins.
MOVE, DRAFT_MOVE = 1 / 512, 1 / 16


class Span(NamedTuple):
    """A part of an image's rows, or of its columns.

    Args:
        first: The first one, in pixels of the image.
        end: The one after the last.
        resized: Number of pixels after resizing.
        shift: How many of these precede the centre.
    """

    first: int
    end: int
    resized: int
    shift: int


def center_cut(
    size: tuple[int, int], resized: tuple[int, int], shape: tuple[int, int], reduction: int, move: float
) -> Cut:
    """Return the centre of a resized image as a part of the image.

    Args:
        size: Height and width of the image.
        resized: Height and width of the whole image after resizing.
        shape: Height and width of the centre.
        reduction: The image is decoded at this part of its size.
        move: By how much of a pixel the centre may be moved.
    """
    rows, columns = (needed(*lengths, reduction, move) for lengths in zip(size, resized, shape, strict=True))
    return Cut(
        *(rows.first, columns.first, rows.end - rows.first, columns.end - columns.first),
        (rows.resized, columns.resized),
        (rows.shift, columns.shift),
        reduction=reduction,
        zoom=(resized[0] / size[0], resized[1] / size[1]),
    )


@lru_cache(maxsize=4096)  # sizes of images repeat
def needed(size: int, resized: int, count: int, reduction: int, move: float) -> Span:
    """Return which rows, or columns, of an image the centre of the resized image needs.

    PyTorch computes pixel i of the result from those that are at most `reach` away from `(i + 0.5) * scale`.
    In a part of the image, they are the same if the part begins at the place of a pixel of the result.

    Args:
        size: Number of rows of the image.
        resized: Number of rows of the whole image after resizing.
        count: Number of rows of the centre.
        reduction: The image is decoded at this part of its size.
        move: By how much of a row the centre may be moved.
    """
    before = round((resized - count) / 2)  # as torchvision rounds
    scale = size / resized / reduction
    if scale == 1:
        return Span(before * reduction, min((before + count) * reduction, size), count, 0)
    reach = max(scale, 1)
    last_start = before - math.ceil(reach / scale - 0.5)
    fitting = (i for i in range(last_start, 0, -1) if abs(i * scale - round(i * scale)) <= move)
    start = next(fitting, 0)
    first, end = round(start * scale), math.ceil((before + count - 0.5) * scale + reach + 0.5)
    length = min(end, -(-size // reduction)) - first
    if length == before + count - start:  # PyTorch would copy them
        return Span(0, size, resized, before)
    return Span(first * reduction, min(end * reduction, size), before + count - start, before - start)
