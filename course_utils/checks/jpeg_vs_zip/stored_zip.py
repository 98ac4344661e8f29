"""Check that a folder of images is packed into one uncompressed zip."""

import contextlib
import io
import struct
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypedDict
from unittest.mock import patch

import numpy as np

from course_utils.checks.core import (
    PREVIEW,
    STRAYS,
    SUBFOLDER,
    AttemptOf,
    DrawnFolder,
    Evidence,
    Inputs,
    Mistake,
    Truth,
    attempt,
    draw_folder,
    environment,
    folder_with,
    ignore_warnings,
    value_of,
)
from course_utils.checks.jpeg_vs_zip._labelled_images import FOLDER
from course_utils.data import INFO_NAME

PACK = "pack.zip"
MAX_BYTES = 2**20  # of a member; those of the folders have a few thousand
COUNTS = (8, 5)  # images in the first folder and in the second


class Packing(TypedDict):
    """What one call of the student's function led to: the files that it wrote, and the pack among them.

    Attributes:
        emptied: How often it opened a zip with mode "w", which empties it.
    """

    called: AttemptOf[None]
    emptied: int
    written: list[str]
    pack: bytes | None


def make(rng: np.random.Generator) -> tuple[Inputs, Truth]:
    """Draw two folders with an image for each label; the second one holds a folder named like a picture."""
    folders = [draw_folder(rng, count, absent=0, height=48, width=64) for count in COUNTS]
    folders[1]["files"][f"{FOLDER}/notes.txt"] = b"not an image"
    return {"folders": [folder["files"] for folder in folders]}, folders


def probe(inputs: Inputs, pack: Callable[..., object]) -> list[Packing]:
    """Pack one folder, another one, and the first again, as happens when a cell is run again."""
    with contextlib.ExitStack() as stack, ignore_warnings():
        first, second = (stack.enter_context(folder_with(files)) for files in inputs["folders"])
        one, two = (stack.enter_context(folder_with({})) for _ in range(2))
        return [_pack(pack, first, one), _pack(pack, second, two), _pack(pack, first, one)]


def _pack(pack: Callable[..., object], folder: Path, target: Path) -> Packing:
    emptied: list[bool] = []
    with _watch_emptied(emptied):
        called = attempt(lambda: (pack(folder, target / PACK), None)[1])
    files = {path.name: path.read_bytes() for path in target.iterdir() if path.is_file()}
    return {"called": called, "emptied": len(emptied), "written": list(files), "pack": files.get(PACK)}


@contextlib.contextmanager
def _watch_emptied(emptied: list[bool]) -> Iterator[None]:
    """Append to a list whenever a zip is opened with mode "w"."""
    original = zipfile.ZipFile.__init__

    def record(self: zipfile.ZipFile, file: Any, mode: Any = "r", *args: Any, **settings: Any) -> None:  # noqa: ANN401
        original(self, file, mode, *args, **settings)
        if mode == "w":
            emptied.append(True)

    with patch.object(zipfile.ZipFile, "__init__", record):
        yield


def judge(truth: Truth, found: Evidence) -> str:
    """Check the zip of each folder, and that packing again changes nothing."""
    first, second, again = found
    _expect_zip(first, truth[0])
    _expect_other_zip(second, *truth)
    _expect_same_again(again, truth[0])
    return (
        "The zip holds every JPEG file unchanged and uncompressed under its own name, and a dataset.json "
        "with the right labels: the course's ZIPDataset can read it."
    )


def _expect_zip(found: Evidence, truth: DrawnFolder) -> None:
    value_of(found["called"])
    if found["pack"] is None:
        written = ", ".join(found["written"]) or "nothing"
        message = f"There is no file at the path that your function was given ({PACK}); it wrote: {written}."
        raise Mistake("no_pack", message)
    members = _members(found["pack"], truth, found["emptied"])
    for name, original in truth["images"].items():
        _expect_unchanged(name, members[name], truth["images"], original)
    _expect_labels(members[INFO_NAME], truth["labels"])


def _expect_other_zip(found: Evidence, before: DrawnFolder, truth: DrawnFolder) -> None:
    _expect_no_folder(found)
    try:
        _expect_zip(found, truth)
    except Mistake as mistake:
        kept = [name for name in before["images"] if found["pack"] and name.encode() in found["pack"]]
        if not kept:
            raise
        raise Mistake(
            "mixes_folders",
            f"Your function packed one folder, then another: {kept[0]}, from the first, is in the zip of the "
            "second. Keep nothing from one call to the next.",
        ) from mistake


def _expect_no_folder(found: Evidence) -> None:
    error = str(found["called"].get("error", ""))
    if FOLDER in error or (found["pack"] and f"{FOLDER}/".encode() in found["pack"]):
        raise Mistake(
            "packs_a_folder",
            f"Your function took {FOLDER} for a picture, but that is a folder. Pack only files (`is_file()`)."
            + (f" The error was: {error}" if error else ""),
        )


def _expect_same_again(found: Evidence, truth: DrawnFolder) -> None:
    if "error" in found["called"]:
        raise Mistake(
            "second_call_fails",
            "The first call made a correct zip, but a second call with the same arguments stopped with "
            f"{found['called']['error']}. A cell is often run twice: replace the zip (mode 'w').",
        )
    try:
        _expect_zip(found, truth)
    except Mistake as mistake:
        if mistake.name == "written_twice":
            raise Mistake(
                "packed_twice",
                "A second call with the same arguments appended everything to the zip once more. Start a new "
                "zip each time: mode 'w', not 'a'.",
            ) from mistake
        raise Mistake(
            "second_call_differs",
            "The first call made a correct zip, but a second call with the same arguments did not. "
            f"{mistake.message}",
        ) from mistake


def _members(data: bytes, truth: DrawnFolder, emptied: int) -> dict[str, bytes]:
    try:
        with environment.zipfile.ZipFile(io.BytesIO(data)) as pack:
            listing = pack.infolist()
            _expect_stored(listing)
            _expect_unique(listing)
            _expect_names({info.filename for info in listing}, truth, emptied)
            if any(info.file_size > MAX_BYTES for info in listing):
                raise environment.zipfile.BadZipFile(f"a member has more than {MAX_BYTES} bytes")
            return {info.filename: pack.read(info) for info in listing}
    except (environment.zipfile.BadZipFile, OSError, EOFError, RuntimeError, struct.error) as error:
        message = f"The file is not a readable zip ({error}). Was it closed? Is it in another format?"
        raise Mistake("no_zip", message) from error


def _expect_stored(listing: list[environment.zipfile.ZipInfo]) -> None:
    images = [info for info in listing if not info.filename.endswith(INFO_NAME)]
    compressed = [info.filename for info in images if info.compress_type != environment.zipfile.ZIP_STORED]
    if compressed:
        raise Mistake(
            "compressed",
            f"{len(compressed)} members are compressed, for example {compressed[0]}. A JPEG hardly gets any "
            "smaller, and every read would have to decompress it: store the members (ZIP_STORED, or zip -0).",
        )


def _expect_unique(listing: list[environment.zipfile.ZipInfo]) -> None:
    counts = Counter(info.filename for info in listing)
    duplicates = sorted(name for name, count in counts.items() if count > 1)
    if duplicates:
        raise Mistake(
            "written_twice",
            f"{duplicates[0]} is in the zip {counts[duplicates[0]]} times, after one call of your "
            "function: write each file once.",
        )


def _expect_names(members: set[str], truth: DrawnFolder, emptied: int) -> None:
    images = truth["images"]
    inner = [name for name in members if name.endswith(truth["inner"][0])]
    if inner:
        raise Mistake(
            "searches_subfolders",
            f"{inner[0]} was packed, but that image is in the subfolder `{SUBFOLDER}/`: pack only the files "
            "directly in the folder (`glob`, not `rglob`; `zip` without -r).",
        )
    nested = [name for name in sorted(members) if set(name[:-1]) & {"/", "\\"}]
    if nested:
        raise Mistake(
            "nested_names",
            f"A member is named {nested[0]}: its name contains the folder. Store bare file names "
            "(arcname=path.name, or zip -j), because dataset.json gives the labels by these.",
        )
    missing, others = sorted(images.keys() - members), sorted(members - images.keys() - {INFO_NAME})
    if emptied > 1 and len(members) <= 2:
        raise Mistake(
            "emptied_again",
            f"The zip holds only {' and '.join(sorted(members))}, after {emptied} calls of ZipFile with mode "
            "'w': each of them begins an empty zip. Open it once for all files.",
        )
    if INFO_NAME not in members:
        raise Mistake(
            "no_dataset_json", f"The zip has no {INFO_NAME}, so the labels are missing: pack that file too."
        )
    if missing and len(missing) == len([name for name in others if name not in {PREVIEW, *STRAYS}]):
        raise Mistake(
            "renamed",
            f"{missing[0]} is missing, and there is {others[0]} instead: keep the name of each file, because "
            f"{INFO_NAME} gives the labels by these.",
        )
    if missing:
        hint = (
            ""
            if len(missing) < len(images)
            else " Print the list of files that you pack; capital letters count."
        )
        raise Mistake(
            "missing_images",
            f"{missing[0]} is missing: {len(missing)} of {len(images)} images are not in the zip. Pack every "
            f"file of the folder whose name ends in .JPEG.{hint}",
        )
    if others:
        what = "its name does not end in .JPEG" if others[0] == PREVIEW else "it is not an image"
        raise Mistake(
            "stray_member",
            f"{others[0]} was packed too, but {what}, and it has no label: ZIPDataset would reject the pack. "
            f"Pack only the *.JPEG files and {INFO_NAME}.",
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
        packed = environment.json.loads(text)["labels"]
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
