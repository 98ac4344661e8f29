"""The ten pictures that lesson 01 ships: python -m data_setup.sources.tiny solutions/01_jpeg_vs_zip/tiny."""

import argparse
import json
import zipfile
from pathlib import Path
from typing import NamedTuple

from PIL import Image

from data_setup.format import QUALITY, SIDE, image_name
from data_setup.sources.photographs import PHOTOGRAPHS

PATHS = {photograph.file: photograph.path for photograph in PHOTOGRAPHS}
CC_BY = "https://creativecommons.org/licenses/by/2.0/"
SKIMAGE, SKLEARN = "skimage.data", "sklearn.datasets.images"


class Crop(NamedTuple):
    """A square of a photograph and what is to be seen in it.

    Args:
        subject: What the picture shows; subjects in alphabetical order are the classes 0, 1, 2, ...
        package: The package whose wheel carries the photograph.
        file: Its file there.
        left: First column of the square, in pixels.
        top: First row of the square, in pixels.
        side: Its height and width, in pixels.
        credit: Author and licence.
    """

    subject: str
    package: str
    file: str
    left: int
    top: int
    side: int
    credit: str


# The order of the files: no label equals its position, so that a reader who counts positions is found out.
CROPS = (
    Crop("flower", SKLEARN, "flower.jpg", 150, 0, 427, "vultilion on Flickr, CC BY 2.0"),
    Crop("cat", SKIMAGE, "chelsea.png", 100, 0, 300, "Stefan van der Walt, CC0"),
    Crop("rocket", SKIMAGE, "rocket.jpg", 200, 0, 427, "SpaceX, public domain"),
    Crop("astronaut", SKIMAGE, "astronaut.png", 20, 0, 330, "NASA, public domain"),
    Crop("palace", SKLEARN, "china.jpg", 30, 0, 427, "danielbuechele on Flickr, CC BY 2.0"),
    Crop("coffee", SKIMAGE, "coffee.png", 90, 0, 400, "Rachel Michetti, CC0"),
    Crop("cameraman", SKIMAGE, "camera.png", 20, 40, 440, "Lav Varshney, CC0"),
    Crop("retina", SKIMAGE, "retina.jpg", 0, 60, 1300, "Mikael Haggstrom, CC0"),
    Crop("galaxies", SKIMAGE, "hubble_deep_field.jpg", 200, 150, 512, "NASA and ESA, public domain"),
    Crop("coins", SKIMAGE, "coins.png", 0, 0, 300, "Brooklyn Museum, no known restrictions"),
)
SUBJECTS = sorted(crop.subject for crop in CROPS)


def cut(crop: Crop) -> Image.Image:
    """Cut a square out of its photograph and scale it to 256x256; grayscale stays grayscale."""
    with Image.open(PATHS[crop.file]()) as photo:
        box = (crop.left, crop.top, crop.left + crop.side, crop.top + crop.side)
        return photo.crop(box).resize((SIDE, SIDE), Image.Resampling.LANCZOS)


def names() -> dict[str, Crop]:
    """The file name of each crop."""
    return {image_name(index): crop for index, crop in enumerate(CROPS)}


def labels() -> dict[str, int]:
    """The label of each file, listed by label and not by name, as exports of databases are."""
    pairs = [(SUBJECTS.index(crop.subject), name) for name, crop in names().items()]
    return {name: label for label, name in sorted(pairs)}


def credits_text() -> str:
    """What each picture shows, where it comes from and what was done to it."""
    lines = [
        f"{name}  {crop.subject}: {crop.file} of {crop.package.split('.')[0]}; {crop.credit}"
        for name, crop in names().items()
    ]
    heading = "Each picture is a square of a photograph, scaled to 256x256."
    return "\n".join([heading, "", *lines, "", f"CC BY 2.0: {CC_BY}"]) + "\n"


def make(folder: Path) -> None:
    """Write the pictures, `dataset.json` and `CREDITS.txt` into a folder, and a pack of them beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, crop in names().items():
        cut(crop).save(folder / name, "JPEG", quality=QUALITY)
    (folder / "dataset.json").write_text(json.dumps({"labels": labels()}, indent=2) + "\n")
    (folder / "CREDITS.txt").write_text(credits_text())
    pack(folder, folder.with_suffix(".zip"))


def pack(folder: Path, target: Path) -> None:
    """Pack the pictures of a folder, for whoever has not solved the exercise that asks for it."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for name in ("dataset.json", *names()):
            # A ZipInfo of its own has a fixed date: the same pictures give the same bytes.
            archive.writestr(zipfile.ZipInfo(name), (folder / name).read_bytes())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Make the tiny set of lesson 01.")
    parser.add_argument("folder", type=Path, help="where the pictures and dataset.json go")
    make(parser.parse_args().folder)
