"""Readers of 4 KiB samples that lie at a fixed distance from each other in one file."""

import mmap
import os
from pathlib import Path
from typing import NamedTuple

SAMPLE_BYTES = 4096


class Part(NamedTuple):
    data: bytes


class ByPread:
    def __init__(self, path: Path, stride: int = SAMPLE_BYTES) -> None:
        self.fd, self.stride = os.open(path, os.O_RDONLY), stride

    def read(self, index: int) -> Part:
        return Part(os.pread(self.fd, SAMPLE_BYTES, index * self.stride))


class ByMap:
    def __init__(self, path: Path, stride: int = SAMPLE_BYTES) -> None:
        self.stride = stride
        with path.open("rb") as file:
            self.map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

    def read(self, index: int) -> Part:
        start = index * self.stride
        return Part(self.map[start : start + SAMPLE_BYTES])
