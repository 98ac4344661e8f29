"""Catalogue of the freely licensed photographs that scikit-image and scikit-learn include."""

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from data_setup.format import Identity, SetupError

SKIMAGE, SKLEARN = "skimage/data", "sklearn/datasets/images"


@dataclass(frozen=True)
class Photograph:
    """One photograph, and the part of it that every crop must contain.

    Args:
        subject: What it shows; the subjects in alphabetical order are the classes.
        folder: Path of its folder, from the package that contains it.
        file: Its file name.
        keep: Left, top, right and bottom of the part that every crop contains, in pixels; None: no such part.
        smallest: Side of the smallest crop, in pixels; at least 256, so that nothing is enlarged.
        author: Who took it.
        licence: Terms of use.
        origin: Where the package obtained it.
    """

    subject: str
    folder: str
    file: str
    keep: tuple[int, int, int, int] | None
    smallest: int
    author: str
    licence: str
    origin: str

    @property
    def package(self) -> str:
        """The import name of the package that contains it."""
        return self.folder.split("/")[0]

    def path(self) -> Path:
        """Find the file without importing its package.

        Raises:
            SetupError: The package is not installed, or no longer contains the photograph.
        """
        spec = find_spec(self.package)
        path = Path(spec.origin).parents[1] / self.folder / self.file if spec and spec.origin else None
        if path is None or not path.is_file():
            raise SetupError(
                f"{self.folder}/{self.file} is missing: install the versions in requirements.txt "
                "(`make lab` does)"
            )
        return path


CREDITS_HEAD = """# Credits of the photographs

The pictures that `python -m data_setup photos` makes are squares of these photographs, scaled to 256x256 and
half of them mirrored. The photographs are read from the installed packages; authors, licences and origins are
those that the packages state.

CC0 1.0: https://creativecommons.org/publicdomain/zero/1.0/
CC BY 2.0: https://creativecommons.org/licenses/by/2.0/

| subject | file | author | licence | from |
|---|---|---|---|---|
"""
CC0, PUBLIC, CC_BY = "CC0 1.0", "public domain", "CC BY 2.0"

PHOTOGRAPHS = (
    Photograph(
        "astronaut",
        SKIMAGE,
        "astronaut.png",
        (165, 0, 295, 190),
        300,
        "NASA",
        PUBLIC,
        "https://flic.kr/p/r9qvLn",
    ),
    Photograph(
        "cameraman",
        SKIMAGE,
        "camera.png",
        (60, 60, 330, 330),
        300,
        "Lav Varshney",
        CC0,
        "https://github.com/scikit-image/scikit-image/issues/3927",
    ),
    Photograph(
        "cat", SKIMAGE, "chelsea.png", (130, 20, 340, 270), 270, "Stefan van der Walt", CC0, "scikit-image"
    ),
    Photograph(
        "coffee",
        SKIMAGE,
        "coffee.png",
        (170, 30, 420, 300),
        300,
        "Rachel Michetti, by courtesy of Pikolo Espresso Bar",
        CC0,
        "scikit-image",
    ),
    Photograph(
        "coins",
        SKIMAGE,
        "coins.png",
        None,
        256,
        "Brooklyn Museum",
        "no known copyright restrictions",
        "https://www.brooklynmuseum.org/opencollection/archives/image/51611",
    ),
    Photograph(
        "flower",
        SKLEARN,
        "flower.jpg",
        (220, 40, 440, 370),
        340,
        "vultilion",
        CC_BY,
        "https://www.flickr.com/photos/vultilion/6056698931/",
    ),
    Photograph(
        "galaxies",
        SKIMAGE,
        "hubble_deep_field.jpg",
        None,
        384,
        "NASA and ESA, Hubble eXtreme Deep Field",
        PUBLIC,
        "https://hubblesite.org/newscenter/archive/releases/2012/37/image/a/",
    ),
    Photograph(
        "grass",
        SKIMAGE,
        "grass.png",
        None,
        256,
        "linolafett",
        CC0,
        "https://www.deviantart.com/linolafett/art/Grass-01-434853879",
    ),
    Photograph(
        "pagoda",
        SKLEARN,
        "china.jpg",
        (140, 20, 370, 300),
        300,
        "danielbuechele",
        CC_BY,
        "https://www.flickr.com/photos/danielbuechele/6061409035/",
    ),
    Photograph(
        "retina",
        SKIMAGE,
        "retina.jpg",
        None,
        900,
        "Mikael Häggström",
        CC0,
        "https://commons.wikimedia.org/wiki/File:Fundus_photograph_of_normal_left_eye.jpg",
    ),
    Photograph(
        "rocket",
        SKIMAGE,
        "rocket.jpg",
        (290, 60, 360, 360),
        310,
        "SpaceX",
        PUBLIC,
        "https://www.flickr.com/photos/spacexphotos/16511594820/",
    ),
    Photograph(
        "tissue",
        SKIMAGE,
        "ihc.png",
        None,
        300,
        "Center for Microscopy and Molecular Imaging",
        "no known copyright restrictions",
        "scikit-image",
    ),
)
SUBJECTS = tuple(photograph.subject for photograph in PHOTOGRAPHS)


def photo_identity(count: int, seed: int) -> Identity:
    """Return what determines every byte of a set of photographs, besides the versions of the libraries."""
    return {"source": "photographs", "seed": seed, "count": count}


def credits_text() -> str:
    """Return the content of `CREDITS.md`: author, licence and origin of each photograph."""
    rows = (
        f"| {p.subject} | `{p.folder}/{p.file}` | {p.author} | {p.licence} | {p.origin} |"
        for p in PHOTOGRAPHS
    )
    return CREDITS_HEAD + "\n".join(rows) + "\n"
