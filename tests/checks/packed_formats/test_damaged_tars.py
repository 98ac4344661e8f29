"""The damaged tars of the check hold no header but those that it has written."""

import tarfile

import numpy as np
import pytest

from course_utils.checks.packed_formats._damaged_tars import BLOCK, Builder

# As signed numbers, these bytes and the eight spaces that stand for the checksum add up to 0.
ACCIDENT = b"\x80\x80"


class Scripted:
    """Draws the given data, one after the other."""

    def __init__(self, *data):
        self.left = list(data)

    def bytes(self, size):
        data = self.left.pop(0)
        assert len(data) == size
        return data


def names(data):
    found = []
    for place in range(0, len(data), BLOCK):
        try:
            info = tarfile.TarInfo.frombuf(data[place : place + BLOCK], "utf-8", "surrogateescape")
        except tarfile.HeaderError:
            continue
        found.append(info.name)
    return found


def test_tarfile_takes_the_end_of_a_picture_for_a_header():
    assert names(ACCIDENT + bytes(BLOCK - 2)) == [ACCIDENT.decode("utf-8", "surrogateescape")]


@pytest.mark.parametrize("before", [0, 3 * BLOCK])
def test_picture_that_ends_like_a_header_is_drawn_again(before):
    start = b"x" * before
    builder = Builder(Scripted(start + ACCIDENT, start + ACCIDENT, start + b"ab"))
    assert builder.pixels(before + 2) == start + b"ab"


def test_no_end_of_a_picture_is_a_header():
    sizes = np.random.default_rng(0).integers(1, 100, 20_000).tolist()
    drawn, kept = np.random.default_rng(1), Builder(np.random.default_rng(1))
    assert any(names(drawn.bytes(size) + bytes(BLOCK - size)) for size in sizes)
    assert not any(names(kept.pixels(size) + bytes(BLOCK - size)) for size in sizes)
