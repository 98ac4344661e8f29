"""Two sets of the same names and sizes in every form that something of this course reads: `old` and `new`."""

import hashlib
import io
import shutil
import tarfile
from pathlib import Path

import numpy as np
import torch

from course_utils.data import LABELS_NAME, PackInfo, RawLayout, ZipIndex
from course_utils.data.image_files import decode_rgb
from course_utils.distributed import save_checkpoint
from course_utils.formats import Sample, find_formats
from data_setup.inspect.adopt import adopt_set
from tests.image_set import encode_jpeg, write_pack

COUNT, SHAPE = 6, (16, 24, 3)
FORMATS = [name for name in find_formats().installed if name != "Squashfs"]  # a program for each sample
FORMATS += ["CheckedHdf5", "CheckedParquet"] if "Parquet" in FORMATS and "FlatHdf5" in FORMATS else []


def write_set(root: Path, turn: int) -> None:
    """Write a set whose images are those of turn 0 moved on by some places, and labels by twice as many."""
    rng = np.random.default_rng(0)
    pixels = list(rng.integers(0, 256, (COUNT, *SHAPE), np.uint8))
    pixels = pixels[turn:] + pixels[:turn]
    jpegs = [encode_jpeg(image) for image in pixels]
    pixels = [decode_rgb(io.BytesIO(data)) for data in jpegs]
    names = [f"img{number:08d}.JPEG" for number in range(COUNT)]
    labels = {name: (number + 2 * turn) % COUNT for number, name in enumerate(names)}
    forms = [root / "set" / form for form in ("disk_transformed", "zip_encoded", "zip")]
    for form in forms:
        form.mkdir(parents=True)
    for name, data in zip(names, jpegs, strict=True):
        (forms[0] / name).write_bytes(data)
    (forms[0] / LABELS_NAME).write_text("\n".join(map(str, labels.values())))
    for form, contents, layout in (
        (forms[1], jpegs, None),
        (forms[2], [image.tobytes() for image in pixels], RawLayout("HWC", SHAPE)),
    ):
        write_pack(form / "part0.zip", dict(zip(names, contents, strict=True)), PackInfo(labels, layout))
    shutil.copytree(root / "set", root / "adopted")
    adopt_set(root / "adopted")
    shutil.copytree(root / "set/zip_encoded", root / "indexed")
    ZipIndex(root / "indexed/part0.zip").save()
    _write_collections(root, names, jpegs, labels)
    state = {"weight": torch.full((500,), float(turn))}
    place = {"epoch": turn, "samples": 0, "images": COUNT, "shuffle": True, "seed": 0}
    save_checkpoint(root / "state.pt", {"model": state, "optimizer": {}, "loader": place, "generators": []})
    for name in FORMATS:
        (root / name).mkdir()
        samples = [Sample(n, data, labels[n]) for n, data in zip(names, jpegs, strict=True)]
        format_named(name).write(root / name / "packed", samples)


def _write_collections(root: Path, names: list[str], jpegs: list[bytes], labels: dict[str, int]) -> None:
    """Write what `data_setup imagenet` reads: a folder of classes, a tar and a zip of it."""
    for name, data in zip(names, jpegs, strict=True):
        folder = root / "collection" / f"class{labels[name]}"
        folder.mkdir(parents=True)
        (folder / name).write_bytes(data)
    with tarfile.open(root / "collection.tar", "w") as archive:
        for path in sorted((root / "collection").rglob("*.JPEG")):
            archive.add(path, path.relative_to(root / "collection"))
    contents = {
        f"{path.parent.name}/{path.name}": path.read_bytes() for path in (root / "collection").rglob("*.JPEG")
    }
    write_pack(root / "collection.zip", dict(sorted(contents.items())), PackInfo({}))


def format_named(name: str) -> type:
    import course_utils.formats

    return getattr(course_utils.formats, name)


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:12]
