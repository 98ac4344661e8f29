"""Draw random images for checks, and recognise them in what a student's code returned."""

import io

import numpy as np
from PIL import Image

from course_utils.checks.core.check import Mistake
from course_utils.checks.core.observe import ImageRecord

# Mean difference in grey levels: decoders differ by less than 1, two drawn images by more than 40.
MAX_DIFFERENCE = 8


def draw_names(rng: np.random.Generator, count: int) -> list[str]:
    """Draw sorted file names like those of the course's data, with gaps in their numbers."""
    return [f"img{number:08d}.JPEG" for number in sorted(rng.choice(50_000, count, replace=False).tolist())]


def draw_labels(rng: np.random.Generator, names: list[str]) -> dict[str, int]:
    """Draw distinct labels for sorted names, listed so that no name is at its sorted position.

    One of them is 0, which code that asks `if label` takes for a missing one.
    """
    values = [0, *rng.choice(np.arange(1, 1000), len(names) - 1, replace=False).tolist()]
    values = rng.permutation(values).tolist()
    order = rng.permutation(len(names))
    while (order == np.arange(len(names))).any():
        order = rng.permutation(len(names))
    return {names[k]: values[k] for k in order}


def draw_image(rng: np.random.Generator, height: int = 48, width: int = 64) -> np.ndarray:
    """Draw a smooth image without any symmetry, uint8 of shape (height, width, 3)."""
    coarse = rng.integers(0, 256, (5, 6, 3), dtype=np.uint8)
    return np.asarray(Image.fromarray(coarse).resize((width, height), Image.Resampling.BICUBIC))


def encode_jpeg(pixels: np.ndarray, mode: str = "RGB", comment: bytes = b"") -> bytes:
    """Encode pixels as a JPEG file in a Pillow mode: RGB, L (grayscale) or CMYK."""
    file = io.BytesIO()
    Image.fromarray(pixels).convert(mode).save(file, "JPEG", quality=90, comment=comment)
    return file.getvalue()


def decode_rgb(data: bytes) -> np.ndarray:
    """Decode an image file to RGB, uint8 of shape (3, H, W)."""
    with Image.open(io.BytesIO(data)) as image:
        return np.asarray(image.convert("RGB")).transpose(2, 0, 1)


def look_alike(one: np.ndarray, other: np.ndarray) -> bool:
    """Return whether two arrays show the same image, up to differences between decoders."""
    if one.shape != other.shape:
        return False
    return float(np.abs(one.astype(float) - other.astype(float)).mean()) < MAX_DIFFERENCE


def find_match(pixels: np.ndarray, images: dict[str, np.ndarray]) -> str | None:
    """Return the name of the image that an array shows, or None."""
    return next((name for name, image in images.items() if look_alike(pixels, image)), None)


def expect_uint8_tensor(image: ImageRecord) -> np.ndarray:
    """Return the pixels of an image that is a uint8 tensor.

    Raises:
        Mistake: The image is anything else.
    """
    pixels = image["array"]
    if image["kind"] != "Tensor" or pixels is None:
        raise Mistake("no_tensor", f"The image is of type {image['kind']}; return a torch.Tensor.")
    if pixels.dtype != np.uint8:
        raise Mistake(
            "no_uint8",
            f"The image has dtype {pixels.dtype}; keep the pixels as uint8 (0-255). Other types take four "
            "to eight times the memory and cost time; a user who wants floats passes a transform.",
        )
    return pixels


def expect_shape(pixels: np.ndarray, shape: tuple[int, ...]) -> None:
    """Compare an image's shape with the expected one, (3, H, W).

    Raises:
        Mistake: The shapes differ; the message says how.
    """
    channels, height, width = shape
    if pixels.shape == (height, width, channels):
        raise Mistake(
            "channels_last",
            f"The image has shape {list(pixels.shape)}: height, width, channels. PyTorch expects "
            f"channels first, {list(shape)}. Move that axis with permute; do not reshape.",
        )
    if pixels.shape == (channels, width, height):
        raise Mistake(
            "rows_for_columns",
            f"Height and width are swapped: the image has shape {list(pixels.shape)}, not {list(shape)}.",
        )
    if pixels.ndim != len(shape):
        raise Mistake(
            "other_shape",
            f"The image has shape {list(pixels.shape)}, with {pixels.ndim} axes: return one image of shape "
            f"{list(shape)}, without further axes.",
        )
    if pixels.shape != shape and sorted(pixels.shape) == sorted(shape):
        raise Mistake(
            "axes_in_another_order",
            f"The image has shape {list(pixels.shape)}: the axes of {list(shape)} in another order. permute "
            "takes, for each axis of the result, the number that this axis had before.",
        )
    if pixels.shape != shape:
        raise Mistake(
            "other_shape",
            f"The image has shape {list(pixels.shape)}, but the data has {list(shape)}. Keep the size as it "
            "is, and use only the arguments of your function, not names or sizes from outside it.",
        )


def expect_one_of(pixels: np.ndarray, images: dict[str, np.ndarray]) -> str:
    """Return the name of the image that an array of the right shape shows.

    Raises:
        Mistake: It shows none of them; the message says why where the cause is known.
    """
    if name := find_match(pixels, images):
        return name
    for image in images.values():
        if look_alike(pixels, image.transpose(1, 2, 0).reshape(image.shape)):
            raise Mistake(
                "reshaped",
                "The image is scrambled: an array of (height, width, channels) was reshaped to (channels, "
                "height, width). reshape keeps the order of the values; permute moves the axes.",
            )
        if look_alike(pixels, image[::-1]):
            raise Mistake("channels_reversed", "Red and blue are swapped; the data is RGB, not BGR.")
    raise Mistake(
        "other_pixels",
        "The image matches none of those in the data. Display one with plt.imshow and look at it.",
    )
