"""The check of packing a folder of pictures into one stored zip."""

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
    draw,
    folder_of,
    jpeg,
    labels,
    names,
    no_warnings,
    outcome,
)
from course_utils.data import INFO_NAME

PACK = "pack.zip"
STRAYS = ("CREDITS.txt", ".DS_Store")


def make(rng: np.random.Generator) -> tuple[Inputs, Truth]:
    """Draw a folder of JPEG files with a `dataset.json` and two files that are no pictures."""
    known = names(rng, 8)
    pictures = {name: jpeg(draw(rng)) for name in known}
    told = labels(rng, known)
    description = json.dumps({"labels": told}, indent=2).encode()
    files = pictures | {INFO_NAME: description} | {name: b"no picture" for name in STRAYS}
    return {"files": files}, {"pictures": pictures, "labels": told}


def probe(inputs: Inputs, pack: Callable[..., object]) -> Evidence:
    """Pack the folder twice, as a student does who runs a cell again, and return what was written."""
    with folder_of(inputs["files"]) as folder, folder_of({}) as written, no_warnings():
        first = attempt(lambda: (pack(folder, written / PACK), None)[1])
        # Refusing to overwrite is a design, too: only the file counts.
        attempt(lambda: pack(folder, written / PACK))
        files = {path.name: path.read_bytes() for path in written.iterdir() if path.is_file()}
    return {"first": first, "written": list(files), "pack": files.get(PACK)}


def judge(truth: Truth, found: Evidence) -> str:
    """Judge the bytes of the pack."""
    outcome(found["first"])
    if found["pack"] is None:
        others = ", ".join(found["written"]) or "nothing"
        told = f"There is no file at the path that was asked for ({PACK}); what was written there: {others}."
        raise Mistake("no_pack", told)
    members = _members(found["pack"], truth["pictures"])
    for name, original in truth["pictures"].items():
        _is_unchanged(name, members[name], truth["pictures"], original)
    _describes(members[INFO_NAME], truth["labels"])
    return (
        "The zip holds every JPEG file unchanged and uncompressed under its own name, and a dataset.json "
        "with the right labels: the course's ZIPDataset can read it."
    )


def _members(data: bytes, pictures: dict[str, bytes]) -> dict[str, bytes]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as pack:
            listing = pack.infolist()
            _are_stored(listing)
            _stand_once(listing)
            _have_the_right_names({info.filename for info in listing}, pictures)
            return {info.filename: pack.read(info) for info in listing}
    except (zipfile.BadZipFile, OSError, EOFError, RuntimeError, struct.error) as error:
        told = f"The file is no zip that can be read ({error}). Was it closed? Is it another format?"
        raise Mistake("no_zip", told) from error


def _are_stored(listing: list[zipfile.ZipInfo]) -> None:
    squeezed = [i.filename for i in listing if i.compress_type != zipfile.ZIP_STORED]
    if squeezed:
        raise Mistake(
            "compressed",
            f"{len(squeezed)} members are compressed, {squeezed[0]} for one. A JPEG hardly shrinks any more, "
            "and every read would pay for inflating it: store them (ZIP_STORED, or zip -0).",
        )


def _stand_once(listing: list[zipfile.ZipInfo]) -> None:
    known = [i.filename for i in listing]
    twice = sorted({name for name in known if known.count(name) > 1})
    if twice:
        raise Mistake(
            "packed_twice",
            f"{twice[0]} is in the zip more than once: packing again added to the old file. Open it with "
            "mode 'w', which starts anew, not 'a'.",
        )


def _have_the_right_names(members: set[str], pictures: dict[str, bytes]) -> None:
    nested = [name for name in sorted(members) if "/" in name or "\\" in name]
    if nested:
        raise Mistake(
            "nested_names",
            f"A member is named {nested[0]}: the folder has got into the name. Store bare file names "
            "(arcname=path.name, or zip -j), for these are the names that dataset.json knows.",
        )
    if INFO_NAME not in members:
        raise Mistake("no_dataset_json", f"The zip has no {INFO_NAME}: without it nobody knows the labels.")
    missing = sorted(pictures.keys() - members)
    if missing:
        told = f"{missing[0]} is missing: {len(missing)} of {len(pictures)} pictures are not in the zip. "
        told += "(Mode 'w' inside of a loop starts a new zip each time; names must not change.)"
        raise Mistake("missing_pictures", told)
    others = sorted(members - pictures.keys() - {INFO_NAME})
    if others:
        raise Mistake(
            "stray_member",
            f"{others[0]} was packed, too, but it is no picture and has no label: ZIPDataset would refuse "
            f"the pack. Pack the *.JPEG files and {INFO_NAME}.",
        )


def _is_unchanged(name: str, data: bytes, pictures: dict[str, bytes], original: bytes) -> None:
    if data == original:
        return
    if data in pictures.values():
        told = f"Under the name {name} the zip holds another picture, so that it would get a wrong label. "
        raise Mistake("label_of_another_image", told + "Write each file under its own name.")
    if data.startswith(b"\x89PNG"):
        raise Mistake(
            "png_bytes",
            f"{name} holds a PNG: the picture was decoded and saved in another format, which is larger and "
            "several times slower to decode. Copy the bytes of the file.",
        )
    if data.startswith(b"\xff\xd8"):
        raise Mistake(
            "encoded_again",
            f"{name} is a JPEG, but not the one in the folder: decoding and encoding again loses quality and "
            "costs time. Copy the bytes of the file.",
        )
    raise Mistake(
        "other_bytes",
        f"{name} holds {len(data)} bytes that are not those of the JPEG file ({len(original)} bytes). "
        "Copy the bytes of the file, do not decode them.",
    )


def _describes(text: bytes, told: dict[str, int]) -> None:
    try:
        packed = json.loads(text)["labels"]
        wrong = [name for name, label in told.items() if packed.get(name) != label]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        message = f'{INFO_NAME} in the zip is not {{"labels": {{name: label}}}}: {error!r}.'
        raise Mistake("no_labels", message) from error
    if wrong:
        raise Mistake(
            "label_of_another_image",
            f"{INFO_NAME} in the zip gives {wrong[0]} the label {packed.get(wrong[0])}, in the folder it is "
            f"{told[wrong[0]]}. Pack the file as it is; labels go by name, not by position.",
        )
