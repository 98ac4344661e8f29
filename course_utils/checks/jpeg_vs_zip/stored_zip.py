"""Check that a folder of images is packed into one uncompressed zip."""

import io
import json
import struct
import zipfile
from collections.abc import Callable

import numpy as np

from course_utils.checks.core import (
    Evidence,
    Inputs,
    Mistake,
    Truth,
    attempt,
    draw_image,
    draw_labels,
    draw_names,
    encode_jpeg,
    folder_with,
    ignore_warnings,
    value_of,
)
from course_utils.data import INFO_NAME

PACK = "pack.zip"
STRAYS = ("CREDITS.txt", ".DS_Store")


def make(rng: np.random.Generator) -> tuple[Inputs, Truth]:
    """Draw a folder of JPEG files with a `dataset.json` and two files that are not images."""
    names = draw_names(rng, 8)
    images = {name: encode_jpeg(draw_image(rng)) for name in names}
    labels = draw_labels(rng, names)
    description = json.dumps({"labels": labels}, indent=2).encode()
    files = images | {INFO_NAME: description} | {name: b"not an image" for name in STRAYS}
    return {"files": files}, {"images": images, "labels": labels}


def probe(inputs: Inputs, pack: Callable[..., object]) -> Evidence:
    """Pack the folder twice, as happens when a cell is run again, and return what was written."""
    with folder_with(inputs["files"]) as folder, folder_with({}) as written, ignore_warnings():
        first = attempt(lambda: (pack(folder, written / PACK), None)[1])
        # Refusing to overwrite is a valid design too: only the resulting file counts.
        attempt(lambda: pack(folder, written / PACK))
        files = {path.name: path.read_bytes() for path in written.iterdir() if path.is_file()}
    return {"first": first, "written": list(files), "pack": files.get(PACK)}


def judge(truth: Truth, found: Evidence) -> str:
    """Check the members of the pack: their compression, names and bytes, and the labels."""
    value_of(found["first"])
    if found["pack"] is None:
        written = ", ".join(found["written"]) or "nothing"
        message = f"There is no file at the path that your function was given ({PACK}); it wrote: {written}."
        raise Mistake("no_pack", message)
    members = _members(found["pack"], truth["images"])
    for name, original in truth["images"].items():
        _expect_unchanged(name, members[name], truth["images"], original)
    _expect_labels(members[INFO_NAME], truth["labels"])
    return (
        "The zip holds every JPEG file unchanged and uncompressed under its own name, and a dataset.json "
        "with the right labels: the course's ZIPDataset can read it."
    )


def _members(data: bytes, images: dict[str, bytes]) -> dict[str, bytes]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as pack:
            listing = pack.infolist()
            _expect_stored(listing)
            _expect_unique(listing)
            _expect_names({info.filename for info in listing}, images)
            return {info.filename: pack.read(info) for info in listing}
    except (zipfile.BadZipFile, OSError, EOFError, RuntimeError, struct.error) as error:
        message = f"The file is not a readable zip ({error}). Was it closed? Is it in another format?"
        raise Mistake("no_zip", message) from error


def _expect_stored(listing: list[zipfile.ZipInfo]) -> None:
    compressed = [i.filename for i in listing if i.compress_type != zipfile.ZIP_STORED]
    if compressed:
        raise Mistake(
            "compressed",
            f"{len(compressed)} members are compressed, for example {compressed[0]}. A JPEG hardly gets any "
            "smaller, and every read would have to decompress it: store the members (ZIP_STORED, or zip -0).",
        )


def _expect_unique(listing: list[zipfile.ZipInfo]) -> None:
    names = [i.filename for i in listing]
    duplicates = sorted({name for name in names if names.count(name) > 1})
    if duplicates:
        raise Mistake(
            "packed_twice",
            f"{duplicates[0]} is in the zip more than once: packing again appended to the old file. Open it "
            "with mode 'w', which starts a new file, not with 'a'.",
        )


def _expect_names(members: set[str], images: dict[str, bytes]) -> None:
    nested = [name for name in sorted(members) if "/" in name or "\\" in name]
    if nested:
        raise Mistake(
            "nested_names",
            f"A member is named {nested[0]}: its name contains the folder. Store bare file names "
            "(arcname=path.name, or zip -j), because dataset.json gives the labels by these.",
        )
    if INFO_NAME not in members:
        raise Mistake(
            "no_dataset_json", f"The zip has no {INFO_NAME}, so the labels are missing: pack that file too."
        )
    missing = sorted(images.keys() - members)
    if missing:
        raise Mistake(
            "missing_pictures",
            f"{missing[0]} is missing: {len(missing)} of {len(images)} images are not in the zip. (Opening "
            "it with mode 'w' inside a loop starts a new zip each time; names must not change.)",
        )
    others = sorted(members - images.keys() - {INFO_NAME})
    if others:
        raise Mistake(
            "stray_member",
            f"{others[0]} was packed too, but it is not an image and has no label: ZIPDataset would reject "
            f"the pack. Pack only the *.JPEG files and {INFO_NAME}.",
        )


def _expect_unchanged(name: str, data: bytes, images: dict[str, bytes], original: bytes) -> None:
    if data == original:
        return
    if data in images.values():
        raise Mistake(
            "label_of_another_image",
            f"The member {name} holds another image, which would get a wrong label. Write each file under "
            "its own name.",
        )
    if data.startswith(b"\x89PNG"):
        raise Mistake(
            "png_bytes",
            f"{name} holds a PNG: the image was decoded and saved in another format, which is larger and "
            "several times slower to decode. Copy the bytes of the file.",
        )
    if data.startswith(b"\xff\xd8"):
        raise Mistake(
            "encoded_again",
            f"{name} is a JPEG, but not the one in the folder: decoding and encoding it again loses quality "
            "and costs time. Copy the bytes of the file.",
        )
    raise Mistake(
        "other_bytes",
        f"{name} holds {len(data)} bytes that are not those of the JPEG file ({len(original)} bytes). "
        "Copy the bytes of the file; do not decode them.",
    )


def _expect_labels(text: bytes, labels: dict[str, int]) -> None:
    try:
        packed = json.loads(text)["labels"]
        wrong = [name for name, label in labels.items() if packed.get(name) != label]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        message = f'{INFO_NAME} in the zip is not {{"labels": {{name: label}}}}: {error!r}.'
        raise Mistake("no_labels", message) from error
    if wrong:
        raise Mistake(
            "label_of_another_image",
            f"{INFO_NAME} in the zip gives {wrong[0]} the label {packed.get(wrong[0])}, but in the folder it "
            f"is {labels[wrong[0]]}. Pack the file unchanged; labels are found by name, not by position.",
        )
