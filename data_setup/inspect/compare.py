"""Compare the three forms of each image, and infer the layout of the raw pixels."""

import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

from course_utils.data import RawLayout, read_regular_file
from data_setup.format import ENCODED, JPEGS, RAW, SIDE, LayoutFields

ORDERS = ("HWC", "CHW")
VARIANTS = "BGR, or a row or a column further on"
BETTER = 0.5  # a variant that reduces the difference of an image to this share is what is there
SURELY = 0.95  # the same for the sum over all images, where noise cancels
LOSSY = 12.0  # grey levels: twice the error of JPEG at quality 90 on the busiest photographs
MAX_NAMED = 3
MAX_PIXELS = 32 << 20  # 100 MB of RGB

Pixels = npt.NDArray[np.uint8]


@dataclass
class RawEvidence:
    """Differences between raw members, read in either layout, and the JPEG files.

    Args:
        names: Names of the images.
        sizes: Their heights and widths.
        distances: For each layout, the mean absolute difference of each image, in grey levels.
        variants: The same for the most similar of `_variants`.
        wrong_sizes: A sentence per member whose size does not match its JPEG file.
    """

    names: list[str] = field(default_factory=list)
    sizes: set[tuple[int, int]] = field(default_factory=set)
    distances: dict[str, list[float]] = field(default_factory=lambda: {order: [] for order in ORDERS})
    variants: dict[str, list[float]] = field(default_factory=lambda: {order: [] for order in ORDERS})
    wrong_sizes: list[str] = field(default_factory=list)

    def add(self, name: str, data: bytes, pixels: Pixels) -> None:
        """Compare one member with the pixels of its JPEG file, of shape (H, W, 3)."""
        height, width, _ = pixels.shape
        if len(data) != pixels.nbytes:
            takes = f"{height}x{width} RGB pixels take {pixels.nbytes}"
            self.wrong_sizes.append(f"{RAW}/: {name} has {len(data)} bytes; {takes}")
            return
        raw = np.frombuffer(data, np.uint8)
        self.names.append(name)
        self.sizes.add((height, width))
        in_orders = raw.reshape(height, width, 3), raw.reshape(3, height, width).transpose(1, 2, 0)
        for order, found in zip(ORDERS, in_orders, strict=True):
            self.distances[order].append(distance(found, pixels))
            self.variants[order].append(min(distance(other, pixels) for other in _variants(found)))

    @property
    def order(self) -> str:
        """The layout in which the raw members are most similar to the JPEG files."""
        return min(ORDERS, key=lambda order: sum(self.distances[order]))

    @property
    def is_exact(self) -> bool:
        """Whether most raw members equal the decoded JPEG files exactly."""
        return float(np.median(self.distances[self.order])) == 0

    def differences(self, declared: Iterable[RawLayout]) -> Iterator[str]:
        """Yield a sentence per member, or declared layout, that does not match the JPEG files."""
        yield from self.wrong_sizes
        if not self.names:
            return
        for layout in declared:
            if layout.order != self.order or layout.shape not in self._shapes():
                yield f"{RAW}/ declares the layout {layout.order} {list(layout.shape)}, but {self.describe()}"
        limit = 0.0 if self.is_exact else LOSSY
        compared = zip(self.names, self.distances[self.order], self.variants[self.order], strict=True)
        if sum(self.variants[self.order]) < SURELY * sum(self.distances[self.order]):
            yield f"{RAW}/ is not {JPEGS}/ pixel by pixel, but {VARIANTS}"
            return
        for name, difference, variant in compared:
            if difference > 1 and variant < BETTER * difference:
                yield f"{RAW}/: {name} is not {JPEGS}/{name} pixel by pixel, but {VARIANTS}"
            elif difference > limit:
                apart = f"{difference:.0f} grey levels apart"
                yield f"{RAW}/: {name} shows another image than {JPEGS}/{name} ({apart})"

    def _shapes(self) -> list[tuple[int, int, int]]:
        return [(h, w, 3) if self.order == "HWC" else (3, h, w) for h, w in sorted(self.sizes)]

    def describe(self) -> str:
        """Return the layout, and how similar the raw members are to the JPEG files, in words."""
        difference = float(np.mean(self.distances[self.order]))
        fit = (
            "exactly what the JPEG files decode to"
            if self.is_exact
            else f"{difference:.1f} grey levels from the JPEG files"
        )
        shapes = ", ".join(str(list(shape)) for shape in self._shapes())
        return f"read as {self.order} {shapes} uint8 the pixels are {fit}"

    def only_layout(self) -> RawLayout | None:
        """Return the inferred layout if all images have it, and None if they differ in size."""
        shapes = self._shapes()
        return RawLayout(self.order, shapes[0]) if len(shapes) == 1 else None

    def layout_fields(self) -> LayoutFields:
        """Return the inferred layout."""
        return {"layout": self.order, "dtype": "uint8", "shape": list(self._shapes()[0])}


@dataclass
class Comparison:
    """Results of comparing the images.

    Args:
        differences: Reasons to refuse the set, a sentence each.
        raw: Differences of the raw members.
        odd: Names of the images with each oddity.
    """

    differences: list[str] = field(default_factory=list)
    raw: RawEvidence = field(default_factory=RawEvidence)
    odd: dict[str, list[str]] = field(default_factory=dict)

    def note(self, what: str, name: str) -> None:
        """Record an oddity of an image."""
        self.odd.setdefault(what, []).append(name)

    def oddities(self) -> Iterator[str]:
        """Yield a sentence per kind of oddity."""
        for what, names in sorted(self.odd.items()):
            examples = ", ".join(names[:MAX_NAMED]) + (", ..." if len(names) > MAX_NAMED else "")
            yield f"{len(names):,} {what} ({examples})"


def compare_image(comparison: Comparison, name: str, path: Path, encoded: bytes, raw: bytes) -> None:
    """Compare the three forms of one image, and add the result to a comparison.

    Args:
        comparison: Is updated.
        name: Name of the image.
        path: Its JPEG file.
        encoded: Its member of `zip_encoded/`.
        raw: Its member of `zip/`.
    """
    jpeg = read_regular_file(path, "image")
    pixels = _decode(comparison, f"{JPEGS}/{name}", jpeg)
    if pixels is None:
        return
    if encoded != jpeg:
        other = _decode(comparison, f"{ENCODED}/{name}", encoded)
        comparison.note(f"members of {ENCODED}/ differ in bytes from the file", name)
        if other is not None and not _similar(other, pixels):
            comparison.differences.append(f"{ENCODED}/: {name} shows another image than {JPEGS}/{name}")
    comparison.raw.add(name, raw, pixels)


def _decode(comparison: Comparison, where: str, data: bytes) -> Pixels | None:
    form, name = where.split("/")
    try:
        with Image.open(io.BytesIO(data), formats=("JPEG", "PNG")) as image:
            if image.width * image.height > MAX_PIXELS:
                raise ValueError(f"{image.width}x{image.height} pixels are more than this program takes")
            if image.format != "JPEG":
                comparison.note(f"{image.format} under JPEG names in {form}/", name)
            if image.mode != "RGB":
                comparison.note(f"{image.mode} images in {form}/", name)
            if image.size != (SIDE, SIDE):
                comparison.note(f"images of another size than {SIDE}x{SIDE} in {form}/", name)
            return np.asarray(image.convert("RGB"))
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        comparison.differences.append(f"{where} cannot be decoded: {error}")
        return None


def _variants(pixels: Pixels) -> Iterator[Pixels]:
    """Yield what pixels (H, W, 3) would be after common mistakes, which pale images hardly show."""
    yield pixels[:, :, ::-1]
    for axis in (0, 1):
        yield np.roll(pixels, 1, axis)
        yield np.roll(pixels, -1, axis)


def _similar(one: Pixels, other: Pixels) -> bool:
    return one.shape == other.shape and distance(one, other) <= LOSSY


def distance(one: Pixels, other: Pixels) -> float:
    """Return the mean absolute difference of two uint8 arrays of equal shape, in grey levels."""
    return float(np.abs(one.astype(np.int16) - other).mean())
