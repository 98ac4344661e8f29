"""Sources to stage, and what a folder holds."""

import io
import tarfile
from pathlib import Path


def files_of(folder: Path) -> dict[str, bytes]:
    """Return all files below a folder by relative path."""
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def tar_of(path: Path, files: dict[str, bytes]) -> Path:
    """Write a tar."""
    with tarfile.open(path, "w") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return path
