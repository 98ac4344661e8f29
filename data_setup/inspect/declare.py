"""Declare the layout of raw pixels in the `dataset.json` of an archive, without touching its images."""

import json
import os
import shutil
import zipfile
from pathlib import Path

from course_utils.data import INFO_NAME, RawLayout, open_regular_file
from course_utils.system import sync_folder


def declare_layout(path: Path, layout: RawLayout) -> None:
    """Add a layout to the description of an archive.

    A copy replaces the archive when it is complete and on disk, so that a kill or a full disk leaves the old
    one, and who reads it is not disturbed.

    Args:
        path: The archive; its `dataset.json` does not declare a layout.
        layout: Layout of all other members.

    Raises:
        OSError: The copy cannot be written.
    """
    copy = path.with_name(f".{path.name}.tmp")
    try:
        with os.fdopen(open_regular_file(path), "rb") as source, copy.open("wb") as target:
            shutil.copyfileobj(source, target)
        _replace_description(copy, layout)
        shutil.copystat(path, copy)
        copy.replace(path)
    finally:
        copy.unlink(missing_ok=True)
    sync_folder(path.parent)


def _replace_description(path: Path, layout: RawLayout) -> None:
    # Opened here: zipfile would truncate an archive that it cannot open to append.
    with path.open("r+b") as file:
        with zipfile.ZipFile(file, "a") as archive:
            old = archive.getinfo(INFO_NAME)
            content = json.loads(archive.read(old))
            content |= {"layout": layout.order, "dtype": layout.dtype, "shape": list(layout.shape)}
            # zipfile can only append: leave the old description out of the directory. The stub lacks these.
            archive.filelist.remove(old)
            del archive.NameToInfo[INFO_NAME]
            archive.writestr(zipfile.ZipInfo(INFO_NAME), json.dumps(content, indent=0))
        file.flush()
        os.fsync(file.fileno())
