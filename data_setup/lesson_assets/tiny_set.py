"""Make the ten pictures that lesson 01 ships, and a pack of them.

Run `python -m data_setup.lesson_assets.tiny_set solutions/01_jpeg_vs_zip/tiny`.
"""

import argparse
import json
import zipfile
from pathlib import Path
from typing import NamedTuple

from PIL import Image

from course_utils.data import INFO_NAME
from data_setup.format import QUALITY, SIDE, image_name
from data_setup.sources import PHOTOGRAPHS

BY_FILE = {photograph.file: photograph for photograph in PHOTOGRAPHS}
CC_BY = "https://creativecommons.org/licenses/by/2.0/"


class Crop(NamedTuple):
    """A square part of a photograph.

    Args:
        subject: What it shows; subjects in alphabetical order are the classes 0, 1, 2, ...
        file: File name of the photograph in the package that contains it.
        left: First column, in pixels.
        top: First row, in pixels.
        side: Height and width, in pixels.
        credit: Author and licence.
    """

    subject: str
    file: str
    left: int
    top: int
    side: int
    credit: str


# Order of the files: no label equals its position, so that code that returns positions as labels is wrong.
CROPS = (
    Crop("flower", "flower.jpg", 150, 0, 427, "vultilion on Flickr, CC BY 2.0"),
    Crop("cat", "chelsea.png", 100, 0, 300, "Stefan van der Walt, CC0"),
    Crop("rocket", "rocket.jpg", 200, 0, 427, "SpaceX, public domain"),
    Crop("astronaut", "astronaut.png", 20, 0, 330, "NASA, public domain"),
    Crop("pagoda", "china.jpg", 30, 0, 427, "danielbuechele on Flickr, CC BY 2.0"),
    Crop("coffee", "coffee.png", 90, 0, 400, "Rachel Michetti, CC0"),
    Crop("cameraman", "camera.png", 20, 40, 440, "Lav Varshney, CC0"),
    Crop("retina", "retina.jpg", 0, 60, 1300, "Mikael Haggstrom, CC0"),
    Crop("galaxies", "hubble_deep_field.jpg", 200, 150, 512, "NASA and ESA, public domain"),
    Crop("coins", "coins.png", 0, 0, 300, "Brooklyn Museum, no known restrictions"),
)
SUBJECTS = sorted(crop.subject for crop in CROPS)


def cut(crop: Crop) -> Image.Image:
    """Return a crop scaled to 256x256; a grayscale photograph stays grayscale."""
    with Image.open(BY_FILE[crop.file].path()) as photograph:
        box = (crop.left, crop.top, crop.left + crop.side, crop.top + crop.side)
        return photograph.crop(box).resize((SIDE, SIDE), Image.Resampling.LANCZOS)


def crops_by_name() -> dict[str, Crop]:
    """Return each crop by the name of its file."""
    return {image_name(index): crop for index, crop in enumerate(CROPS)}


def labels() -> dict[str, int]:
    """Return the label of each file, ordered by label and not by name, as exports of databases are."""
    pairs = [(SUBJECTS.index(crop.subject), name) for name, crop in crops_by_name().items()]
    return {name: label for label, name in sorted(pairs)}


def credits_text() -> str:
    """Return the content of `CREDITS.txt`: subject, photograph, author and licence of each picture."""
    lines = [
        f"{name}  {crop.subject}: {crop.file} of {BY_FILE[crop.file].package}; {crop.credit}"
        for name, crop in crops_by_name().items()
    ]
    heading = "Each picture is a square of a photograph, scaled to 256x256."
    return "\n".join([heading, "", *lines, "", f"CC BY 2.0: {CC_BY}"]) + "\n"


def make_tiny_set(folder: Path) -> None:
    """Write pictures, `dataset.json` and `CREDITS.txt` to a folder, and a pack of them beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, crop in crops_by_name().items():
        cut(crop).save(folder / name, "JPEG", quality=QUALITY)
    (folder / INFO_NAME).write_text(json.dumps({"labels": labels()}, indent=2) + "\n")
    (folder / "CREDITS.txt").write_text(credits_text())
    pack(folder, folder.with_suffix(".zip"))


def pack(folder: Path, target: Path) -> None:
    """Pack the pictures of a folder, for students who have not solved the exercise that does it."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for name in (INFO_NAME, *crops_by_name()):
            # A ZipInfo has a fixed date by default: equal pictures give equal bytes.
            archive.writestr(zipfile.ZipInfo(name), (folder / name).read_bytes())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Make the tiny set of lesson 01.")
    parser.add_argument("folder", type=Path, help="where the pictures and dataset.json go")
    make_tiny_set(parser.parse_args().folder)
