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

from course_utils.checks import core
from course_utils.checks.jpeg_vs_zip._labelled_images import FOLDER
from course_utils.data import INFO_NAME

mistake = core.Messages(__name__)

PACK = "pack.zip"
MAX_BYTES = 2**20  # of a member; those of the folders have a few thousand
COUNTS = (8, 5)  # images in the first folder and in the second


class Packing(TypedDict):
    """What one call of the student's function led to: the files that it wrote, and the pack among them.

    Attributes:
        emptied: How often it opened a zip with mode "w", which empties it.
    """

    called: core.AttemptOf[None]
    emptied: int
    written: list[str]
    pack: bytes | None


def make(rng: np.random.Generator) -> tuple[core.Inputs, core.Truth]:
    """Draw two folders with an image for each label; the second one holds a folder named like a picture."""
    folders = [core.draw_folder(rng, count, absent=0, height=48, width=64) for count in COUNTS]
    folders[1]["files"][f"{FOLDER}/notes.txt"] = b"not an image"
    return {"folders": [folder["files"] for folder in folders]}, folders


def probe(inputs: core.Inputs, pack: Callable[..., object]) -> list[Packing]:
    """Pack one folder, another one, and the first again, as happens when a cell is run again."""
    with contextlib.ExitStack() as stack, core.ignore_warnings():
        first, second = (stack.enter_context(core.folder_with(files)) for files in inputs["folders"])
        one, two = (stack.enter_context(core.folder_with({})) for _ in range(2))
        return [_pack(pack, first, one), _pack(pack, second, two), _pack(pack, first, one)]


def _pack(pack: Callable[..., object], folder: Path, target: Path) -> Packing:
    emptied: list[bool] = []
    with _watch_emptied(emptied):
        called = core.attempt(lambda: (pack(folder, target / PACK), None)[1])
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


def judge(truth: core.Truth, evidence: core.Evidence) -> str:
    """Check the zip of each folder, and that packing again changes nothing."""
    first, second, again = evidence
    _expect_zip(first, truth[0])
    _expect_other_zip(second, *truth)
    _expect_same_again(again, truth[0])
    return (
        "The zip holds every JPEG file unchanged and uncompressed under its own name, and a dataset.json "
        "with the right labels: the course's ZIPDataset can read it."
    )


def _expect_zip(evidence: core.Evidence, truth: core.DrawnFolder) -> None:
    core.value_of(evidence["called"])
    if evidence["pack"] is None:
        written = ", ".join(evidence["written"]) or "nothing"
        raise mistake("no_pack", written=written)
    members = _members(evidence["pack"], truth, evidence["emptied"])
    for name, original in truth["images"].items():
        _expect_unchanged(name, members[name], truth["images"], original)
    _expect_labels(members[INFO_NAME], truth["labels"])


def _expect_other_zip(evidence: core.Evidence, before: core.DrawnFolder, truth: core.DrawnFolder) -> None:
    _expect_no_folder(evidence)
    try:
        _expect_zip(evidence, truth)
    except core.Mistake as wrong:
        kept = [name for name in before["images"] if evidence["pack"] and name.encode() in evidence["pack"]]
        if not kept:
            raise
        raise mistake("mixes_folders", kept=kept[0]) from wrong


def _expect_no_folder(evidence: core.Evidence) -> None:
    error = str(evidence["called"].get("error", ""))
    if FOLDER in error or (evidence["pack"] and f"{FOLDER}/".encode() in evidence["pack"]):
        raise mistake("packs_a_folder", more=error and f" The error was: {error}")


def _expect_same_again(evidence: core.Evidence, truth: core.DrawnFolder) -> None:
    if "error" in evidence["called"]:
        raise mistake("second_call_fails", error=evidence["called"]["error"])
    try:
        _expect_zip(evidence, truth)
    except core.Mistake as wrong:
        if wrong.name == "written_twice":
            raise mistake("packed_twice") from wrong
        raise mistake("second_call_differs", message=wrong.message) from wrong


def _members(data: bytes, truth: core.DrawnFolder, emptied: int) -> dict[str, bytes]:
    try:
        with core.environment.zipfile.ZipFile(io.BytesIO(data)) as pack:
            listing = pack.infolist()
            _expect_names(listing, truth, emptied)
            if any(info.file_size > MAX_BYTES for info in listing):
                raise core.environment.zipfile.BadZipFile(f"a member has more than {MAX_BYTES} bytes")
            return {info.filename: pack.read(info) for info in listing}
    except (core.environment.zipfile.BadZipFile, OSError, EOFError, RuntimeError, struct.error) as error:
        raise mistake("no_zip", error=error) from error


def _expect_names(listing: list[zipfile.ZipInfo], truth: core.DrawnFolder, emptied: int) -> None:
    counts, images = Counter(info.filename for info in listing), truth["images"]
    packed = [info.filename for info in listing if info.compress_type != zipfile.ZIP_STORED]
    compressed = [name for name in packed if not name.endswith(INFO_NAME)]
    twice = sorted(name for name, count in counts.items() if count > 1)
    missing, others = sorted(images.keys() - counts), sorted(counts.keys() - images.keys() - {INFO_NAME})
    inner = [name for name in others if name.endswith(truth["inner"][0])]
    nested = [name for name in sorted(counts) if set(name[:-1]) & {"/", "\\"}]
    renamed = [name for name in others if name not in {core.PREVIEW, *core.STRAYS}]
    mistake.raise_first(
        {
            "compressed": compressed,
            "written_twice": twice,
            "searches_subfolders": inner,
            "nested_names": nested,
            "emptied_again": emptied > 1 and len(counts) <= 2,
            "no_dataset_json": INFO_NAME not in counts,
            "renamed": missing and len(missing) == len(renamed),
            "missing_images.all": len(missing) == len(images),
            "missing_images.some": missing,
            "stray_member.preview": others[:1] == [core.PREVIEW],
            "stray_member.other": others,
        },
        compressed=compressed,
        compressed_count=len(compressed),
        twice=twice,
        times=counts[twice[0]] if twice else 1,
        inner=inner,
        nested=nested,
        members=" and ".join(sorted(counts)) if len(counts) <= 2 else "",
        emptied=emptied,
        missing=missing,
        missing_count=len(missing),
        images_count=len(images),
        others=others,
    )


def _expect_unchanged(name: str, data: bytes, images: dict[str, bytes], original: bytes) -> None:
    if data != original:
        mistakes = {
            "label_of_another_image.member": data in images.values(),
            "png_bytes": data.startswith(b"\x89PNG"),
            "encoded_again": data.startswith(b"\xff\xd8"),
            "other_bytes": True,
        }
        mistake.raise_first(mistakes, name=name, size=len(data), original=len(original))


def _expect_labels(text: bytes, labels: dict[str, int]) -> None:
    try:
        packed = core.environment.json.loads(text)["labels"]
        wrong = [name for name, label in labels.items() if packed.get(name) != label]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise mistake("no_labels", error=error) from error
    for name in wrong:
        raise mistake("label_of_another_image.json", name=name, packed=packed.get(name), label=labels[name])
