"""Read and damage the files that tests compare."""

from pathlib import Path


def files_of(folder: Path) -> dict[str, bytes]:
    """Return the content of all files in a folder by relative path."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def flip_bit(path: Path, position: int) -> None:
    """Flip a bit of the byte at a position of a file."""
    content = bytearray(path.read_bytes())
    content[position] ^= 1
    path.write_bytes(content)
