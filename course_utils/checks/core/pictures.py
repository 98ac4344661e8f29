"""Random pictures that checks draw, and how a judge recognises them."""

import io

import numpy as np
from PIL import Image

from course_utils.checks.core.check import Mistake
from course_utils.checks.core.observe import Seen

# Mean difference in grey levels: decoders differ by less than 1, two drawn pictures by more than 40.
SAME = 8


def names(rng: np.random.Generator, count: int) -> list[str]:
    """Draw sorted file names as the course's data has them, with gaps in their numbers."""
    return [f"img{number:08d}.JPEG" for number in sorted(rng.choice(50_000, count, replace=False).tolist())]


def labels(rng: np.random.Generator, of: list[str]) -> dict[str, int]:
    """Draw different labels for some names, listed so that no name stands at its own place."""
    values = rng.choice(1000, len(of), replace=False).tolist()
    order = rng.permutation(len(of))
    while (order == np.arange(len(of))).any():
        order = rng.permutation(len(of))
    return {of[k]: values[k] for k in order}


def draw(rng: np.random.Generator, height: int = 48, width: int = 64) -> np.ndarray:
    """Draw a smooth picture without any symmetry, uint8 of shape (height, width, 3)."""
    coarse = rng.integers(0, 256, (5, 6, 3), dtype=np.uint8)
    return np.asarray(Image.fromarray(coarse).resize((width, height), Image.Resampling.BICUBIC))


def jpeg(pixels: np.ndarray, mode: str = "RGB") -> bytes:
    """Encode pixels as a JPEG file in a Pillow mode: RGB, L (grayscale) or CMYK."""
    file = io.BytesIO()
    Image.fromarray(pixels).convert(mode).save(file, "JPEG", quality=90)
    return file.getvalue()


def decoded(data: bytes) -> np.ndarray:
    """Decode an image file to RGB, uint8 of shape (3, H, W)."""
    with Image.open(io.BytesIO(data)) as image:
        return np.asarray(image.convert("RGB")).transpose(2, 0, 1)


def alike(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether two arrays show the same picture."""
    return one.shape == other.shape and float(np.abs(one.astype(float) - other.astype(float)).mean()) < SAME


def which(image: np.ndarray, pictures: dict[str, np.ndarray]) -> str | None:
    """The name of the picture that an array shows, or None."""
    return next((name for name, picture in pictures.items() if alike(image, picture)), None)


def expect_uint8_tensor(image: Seen) -> np.ndarray:
    """The numbers of an image that is a uint8 tensor.

    Raises:
        Mistake: It is none.
    """
    if image["kind"] != "Tensor" or image["array"] is None:
        raise Mistake("no_tensor", f"The image is of type {image['kind']}; return a torch.Tensor.")
    if image["array"].dtype != np.uint8:
        raise Mistake(
            "no_uint8",
            f"The image has dtype {image['array'].dtype}; keep the pixels as uint8 (0-255). Floats take four "
            "times the memory and cost time: whoever wants them gives the dataset a transform.",
        )
    return image["array"]


def expect_shape(pixels: np.ndarray, shape: tuple[int, ...]) -> None:
    """Compare an image's shape with the one expected, (3, H, W).

    Raises:
        Mistake: The shapes differ; the message says how.
    """
    channels, height, width = shape
    if pixels.shape == (height, width, channels):
        raise Mistake(
            "channels_last",
            f"The image has shape {list(pixels.shape)}: height, width, channels. PyTorch wants the channels "
            f"first, {list(shape)}; move that axis with permute, do not reshape.",
        )
    if pixels.shape == (channels, width, height):
        raise Mistake(
            "rows_for_columns", "Height and width have changed places: the picture lies on its side."
        )
    if pixels.shape != shape:
        raise Mistake(
            "other_shape",
            f"The image has shape {list(pixels.shape)}, but the data holds {list(shape)}. Leave the size as "
            "it is, and use what your function is given, not names or sizes from outside of it.",
        )


def expect_one_of(pixels: np.ndarray, pictures: dict[str, np.ndarray]) -> str:
    """The name of the picture that an image of the right shape shows.

    Raises:
        Mistake: It shows none of them; the message says what was done to it where that is known.
    """
    if name := which(pixels, pictures):
        return name
    for picture in pictures.values():
        if alike(pixels, picture.transpose(1, 2, 0).reshape(picture.shape)):
            raise Mistake(
                "reshaped",
                "The picture is scrambled: rows of pixels (height, width, channels) were reshaped to planes. "
                "reshape keeps the order of the bytes and only counts them anew; permute moves the axes.",
            )
        if alike(pixels, picture[::-1]):
            raise Mistake("channels_reversed", "Red and blue have changed places; the data is RGB, not BGR.")
    raise Mistake(
        "other_pixels",
        "The image shows none of the pictures in the data. Show one with plt.imshow and look at it.",
    )
