"""Catalogue of the freely licensed photographs that scikit-image and scikit-learn include: see CREDITS.md."""

from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from data_setup.format.errors import SetupError
from data_setup.format.manifest import Identity

SKIMAGE, SKLEARN = "skimage/data", "sklearn/datasets/images"


class Photograph(NamedTuple):
    """One photograph, and the part of it that every crop must contain.

    Args:
        subject: What it shows; the subjects in alphabetical order are the classes.
        folder: Path of its folder, from the package that contains it.
        file: Its file name.
        keep: Left, top, right and bottom of the part that every crop contains, in pixels; None: no such part.
        smallest: Side of the smallest crop, in pixels; at least 256, so that nothing is enlarged.
    """

    subject: str
    folder: str
    file: str
    keep: tuple[int, int, int, int] | None
    smallest: int

    def path(self) -> Path:
        """Find the file without importing its package.

        Raises:
            SetupError: The package is not installed, or no longer contains the photograph.
        """
        spec = find_spec(self.folder.split("/")[0])
        path = Path(spec.origin).parents[1] / self.folder / self.file if spec and spec.origin else None
        if path is None or not path.is_file():
            raise SetupError(
                f"{self.folder}/{self.file} is missing: install the versions in requirements.txt "
                "(`make lab` does)"
            )
        return path


PHOTOGRAPHS = (
    Photograph("astronaut", SKIMAGE, "astronaut.png", (165, 0, 295, 190), 300),
    Photograph("cameraman", SKIMAGE, "camera.png", (60, 60, 330, 330), 300),
    Photograph("cat", SKIMAGE, "chelsea.png", (130, 20, 340, 270), 270),
    Photograph("coffee", SKIMAGE, "coffee.png", (170, 30, 420, 300), 300),
    Photograph("coins", SKIMAGE, "coins.png", None, 256),
    Photograph("flower", SKLEARN, "flower.jpg", (220, 40, 440, 370), 340),
    Photograph("galaxies", SKIMAGE, "hubble_deep_field.jpg", None, 384),
    Photograph("grass", SKIMAGE, "grass.png", None, 256),
    Photograph("pagoda", SKLEARN, "china.jpg", (140, 20, 370, 300), 300),
    Photograph("retina", SKIMAGE, "retina.jpg", None, 900),
    Photograph("rocket", SKIMAGE, "rocket.jpg", (290, 60, 360, 360), 310),
    Photograph("tissue", SKIMAGE, "ihc.png", None, 300),
)
SUBJECTS = tuple(photograph.subject for photograph in PHOTOGRAPHS)


def photo_identity(count: int, seed: int) -> Identity:
    """Return what determines every byte of a set of photographs, besides the versions of the libraries."""
    return {"source": "photographs", "seed": seed, "count": count}
