"""Do three forms of an image show the same picture, and how do raw bytes become one?"""

import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from PIL import Image

from course_utils.data import RawLayout
from data_setup.format import SIDE

ORDERS = ("HWC", "CHW")
LOSSY = 12.0  # grey levels: what JPEG at quality 90 costs the busiest photographs, twice over
MOST_NAMED = 3


@dataclass
class RawEvidence:
    """How far raw members are from the JPEG files, read in either layout.

    Args:
        names: The images.
        sizes: Their heights and widths.
        distances: For each layout, the mean absolute difference of each image, in grey levels.
        wrong_sizes: Members that cannot be RGB pixels of their picture.
    """

    names: list[str] = field(default_factory=list)
    sizes: set[tuple[int, int]] = field(default_factory=set)
    distances: dict[str, list[float]] = field(default_factory=lambda: {order: [] for order in ORDERS})
    wrong_sizes: list[str] = field(default_factory=list)

    def add(self, name: str, data: bytes, picture: np.ndarray) -> None:
        """Compare one member with its picture, uint8 of shape (H, W, 3)."""
        height, width, _ = picture.shape
        if len(data) != picture.nbytes:
            takes = f"{height}x{width} RGB pixels take {picture.nbytes}"
            self.wrong_sizes.append(f"zip/: {name} has {len(data)} bytes; {takes}")
            return
        pixels = np.frombuffer(data, np.uint8)
        self.names.append(name)
        self.sizes.add((height, width))
        self.distances["HWC"].append(distance(pixels.reshape(height, width, 3), picture))
        self.distances["CHW"].append(distance(pixels.reshape(3, height, width).transpose(1, 2, 0), picture))

    @property
    def order(self) -> str:
        """The layout in which the raw members look like the JPEG files."""
        return min(ORDERS, key=lambda order: sum(self.distances[order]))

    @property
    def is_exact(self) -> bool:
        """Whether raw members are what the JPEG files decode to, but for single ones."""
        return float(np.median(self.distances[self.order])) == 0

    def differences(self, stated: Iterable[RawLayout]) -> Iterator[str]:
        """Yield a sentence for each member, or stated layout, that does not agree with the JPEG files."""
        yield from self.wrong_sizes
        if not self.names:
            return
        for layout in stated:
            if layout.order != self.order or layout.shape not in self._shapes():
                yield f"zip/ states the layout {layout.order} {list(layout.shape)}, but {self.describe()}"
        most = 0.0 if self.is_exact else LOSSY
        for name, far in zip(self.names, self.distances[self.order], strict=True):
            if far > most:
                apart = f"{far:.0f} grey levels apart"
                yield f"zip/: {name} is another picture than disk_transformed/{name} ({apart})"

    def _shapes(self) -> list[tuple[int, ...]]:
        return [(h, w, 3) if self.order == "HWC" else (3, h, w) for h, w in sorted(self.sizes)]

    def describe(self) -> str:
        """Say what the layout is and how well it fits."""
        far = float(np.mean(self.distances[self.order]))
        fit = (
            "exactly what the JPEG files decode to"
            if self.is_exact
            else f"{far:.1f} grey levels from the JPEG files"
        )
        shapes = ", ".join(str(list(shape)) for shape in self._shapes())
        return f"read as {self.order} {shapes} uint8 the pixels are {fit}"

    def layout_fields(self) -> dict[str, object]:
        """What `dataset.json` would say of the layout."""
        return {"layout": self.order, "dtype": "uint8", "shape": list(self._shapes()[0])}


@dataclass
class Comparison:
    """What comparing the images one by one has shown.

    Args:
        differences: Sentences that forbid the set.
        raw: What the raw members are like.
        odd: How often each oddity was met, and where.
    """

    differences: list[str] = field(default_factory=list)
    raw: RawEvidence = field(default_factory=RawEvidence)
    odd: dict[str, list[str]] = field(default_factory=dict)

    def note(self, what: str, name: str) -> None:
        """Remember an oddity."""
        self.odd.setdefault(what, []).append(name)

    def oddities(self) -> Iterator[str]:
        """Yield a sentence for each kind of oddity."""
        for what, names in sorted(self.odd.items()):
            examples = ", ".join(names[:MOST_NAMED]) + (", ..." if len(names) > MOST_NAMED else "")
            yield f"{len(names):,} {what} ({examples})"


def compare_member(comparison: Comparison, name: str, path: Path, encoded: bytes, raw: bytes) -> None:
    """Compare the three forms of one image."""
    single = path.read_bytes()
    picture = _decode(comparison, f"disk_transformed/{name}", single)
    if picture is None:
        return
    if encoded != single:
        other = _decode(comparison, f"zip_encoded/{name}", encoded)
        comparison.note("members of zip_encoded/ are other bytes than the file", name)
        if other is not None and not _alike(other, picture):
            comparison.differences.append(
                f"zip_encoded/: {name} is another picture than disk_transformed/{name}"
            )
    comparison.raw.add(name, raw, picture)


def _decode(comparison: Comparison, where: str, data: bytes) -> np.ndarray | None:
    form, name = where.split("/")
    try:
        with Image.open(io.BytesIO(data)) as image:
            if image.format != "JPEG":
                comparison.note(f"{image.format} under JPEG names in {form}/", name)
            if image.mode != "RGB":
                comparison.note(f"{image.mode} images in {form}/", name)
            if image.size != (SIDE, SIDE):
                comparison.note(f"images of another size than {SIDE}x{SIDE} in {form}/", name)
            return np.asarray(image.convert("RGB"))
    except OSError as error:
        comparison.differences.append(f"{where} cannot be decoded: {error}")
        return None


def _alike(one: np.ndarray, other: np.ndarray) -> bool:
    return one.shape == other.shape and distance(one, other) <= LOSSY


def distance(one: np.ndarray, other: np.ndarray) -> float:
    """The mean absolute difference of two uint8 arrays of equal shape, in grey levels."""
    return float(np.abs(one.astype(np.int16) - other).mean())
