"""Compare the three forms of each image, and infer the layout of the raw pixels."""

import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

from course_utils.data import RawLayout, read_regular_file
from data_setup.format.layout import ENCODED, JPEGS, RAW, SIDE

ORDERS = ("HWC", "CHW")
LOSSY = 12.0  # grey levels: twice the error of JPEG at quality 90 on the busiest photographs
MAX_NAMED = 3
MAX_PIXELS = 32 << 20  # 100 MB of RGB

Pixels = npt.NDArray[np.uint8]


@dataclass
class Comparison:
    """Results of comparing the images.

    Attributes:
        differences: Reasons to refuse the set, a sentence each.
        odd: Names of the images with each oddity.
        sizes: Heights and widths of the images.
        distances: For each layout, the mean absolute difference of each raw member, read in it, from its JPEG
            file, in grey levels, by name.
    """

    differences: list[str] = field(default_factory=list)
    odd: dict[str, list[str]] = field(default_factory=dict)
    sizes: set[tuple[int, int]] = field(default_factory=set)
    distances: dict[str, dict[str, float]] = field(default_factory=lambda: {order: {} for order in ORDERS})

    def add(self, name: str, path: Path, encoded: bytes, raw: bytes) -> None:
        """Compare the three forms of one image.

        Args:
            name: Name of the image.
            path: Its JPEG file.
            encoded: Its member of `zip_encoded/`.
            raw: Its member of `zip/`.
        """
        jpeg = read_regular_file(path, "image")
        pixels = self._decode(JPEGS, name, jpeg)
        if pixels is None:
            return
        if encoded != jpeg:
            other = self._decode(ENCODED, name, encoded)
            self._note(f"members of {ENCODED}/ differ in bytes from the file", name)
            if other is not None and (other.shape != pixels.shape or distance(other, pixels) > LOSSY):
                self.differences.append(f"{ENCODED}/: {name} shows another image than {JPEGS}/{name}")
        height, width, _ = pixels.shape
        if len(raw) != pixels.nbytes:
            takes = f"{height}x{width} RGB pixels take {pixels.nbytes}"
            self.differences.append(f"{RAW}/: {name} has {len(raw)} bytes; {takes}")
            return
        self.sizes.add((height, width))
        members = np.frombuffer(raw, np.uint8)
        self.distances["HWC"][name] = distance(members.reshape(height, width, 3), pixels)
        self.distances["CHW"][name] = distance(members.reshape(3, height, width).transpose(1, 2, 0), pixels)

    def _note(self, what: str, name: str) -> None:
        self.odd.setdefault(what, []).append(name)

    def _decode(self, form: str, name: str, data: bytes) -> Pixels | None:
        try:
            with Image.open(io.BytesIO(data), formats=("JPEG", "PNG")) as image:
                if image.width * image.height > MAX_PIXELS:
                    raise ValueError(f"{image.width}x{image.height} pixels are more than this program takes")
                if image.format != "JPEG":
                    self._note(f"{image.format} under JPEG names in {form}/", name)
                if image.mode != "RGB":
                    self._note(f"{image.mode} images in {form}/", name)
                if image.size != (SIDE, SIDE):
                    self._note(f"images of another size than {SIDE}x{SIDE} in {form}/", name)
                return np.asarray(image.convert("RGB"))
        except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
            self.differences.append(f"{form}/{name} cannot be decoded: {error}")
            return None

    def oddities(self) -> Iterator[str]:
        """Yield a sentence per kind of oddity."""
        for what, names in sorted(self.odd.items()):
            examples = ", ".join(names[:MAX_NAMED]) + (", ..." if len(names) > MAX_NAMED else "")
            yield f"{len(names):,} {what} ({examples})"

    def raw_differences(self, declared: Iterable[RawLayout]) -> Iterator[str]:
        """Yield a sentence per raw member, or declared layout, that does not match the JPEG files."""
        layouts = self.layouts()
        for layout in declared:
            if layouts and layout not in layouts:
                yield f"{RAW}/ declares the layout {layout.order} {list(layout.shape)}, but {self.describe()}"
        for name, difference in self.distances[self._order].items():
            if difference > (0 if self._is_exact else LOSSY):
                apart = f"{difference:.0f} grey levels apart"
                yield f"{RAW}/: {name} shows another image than {JPEGS}/{name} ({apart})"

    @property
    def _order(self) -> str:
        """The order in which the raw members are most similar to the JPEG files."""
        return min(ORDERS, key=lambda order: sum(self.distances[order].values()))

    @property
    def _is_exact(self) -> bool:
        """Whether most raw members equal the decoded JPEG files exactly."""
        found = list(self.distances[self._order].values())
        return bool(found) and float(np.median(found)) == 0

    def layouts(self) -> list[RawLayout]:
        """Return the inferred layouts of the raw members, one for each size."""
        shapes = [(h, w, 3) if self._order == "HWC" else (3, h, w) for h, w in sorted(self.sizes)]
        return [RawLayout(self._order, shape) for shape in shapes]

    def describe(self) -> str:
        """Return the layout, and how similar the raw members are to the JPEG files, in words."""
        difference = float(np.mean(list(self.distances[self._order].values())))
        similar = f"{difference:.1f} grey levels from the JPEG files"
        fit = "exactly what the JPEG files decode to" if self._is_exact else similar
        shapes = ", ".join(str(list(layout.shape)) for layout in self.layouts())
        return f"read as {self._order} {shapes} uint8 the pixels are {fit}"


def distance(one: Pixels, other: Pixels) -> float:
    """Return the mean absolute difference of two uint8 arrays of equal shape, in grey levels."""
    return float(np.abs(one.astype(np.int16) - other).mean())
