"""One flipped bit inside a sample: which formats notice."""

import zlib

import pytest

from course_utils import formats
from course_utils.format_trials import FACTS, Flip, Outcomes, count_flips, flip_samples
from course_utils.formats import Sample, SingleFiles
from tests.format_trials.trial_samples import ALL, drawn, installed

SAMPLES = drawn(12)


@pytest.mark.parametrize("name", ALL)
def test_only_formats_with_checksums_notice(name):
    found = flip_samples(installed(name), SAMPLES, flips=6)
    assert found == (Outcomes(errors=6) if FACTS[name].notices_damage else Outcomes(wrong=6))


@pytest.mark.parametrize("name", ["Parquet", "FlatHdf5"])
def test_checksums_on_request(name):
    installed(name)
    kind = getattr(formats, {"Parquet": "CheckedParquet", "FlatHdf5": "CheckedHdf5"}[name])
    assert flip_samples(kind, SAMPLES, flips=6) == Outcomes(errors=6)


def test_sample_with_the_header_of_others_is_damaged_itself():
    header = bytes(range(256))
    alike = [Sample(name, header + data, label) for name, data, label in drawn(50, 1000)]
    assert flip_samples(SingleFiles, alike) == Outcomes(wrong=20)


def test_file_is_whole_again_after_each_flip(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(bytes(10))
    flips = [Flip(path, position, position % 8) for position in range(10)]
    sizes = []

    def read() -> bytes:
        data = path.read_bytes()
        sizes.append(sum(byte.bit_count() for byte in data))
        return data

    assert count_flips(read, bytes(10), flips) == Outcomes(wrong=10)
    assert sizes == [1] * 10
    assert path.read_bytes() == bytes(10)


def test_file_is_whole_again_after_a_reader_that_raises(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"whole")

    def interrupted() -> bytes:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        count_flips(interrupted, b"whole", [Flip(path, 0, 0)])
    assert path.read_bytes() == b"whole"


class Deflated(SingleFiles):
    @classmethod
    def write(cls, path, samples):
        deflated = [Sample(name, zlib.compress(data), label) for name, data, label in samples]
        super().write(path, deflated)


def test_compressed_samples_are_refused():
    with pytest.raises(ValueError, match="does the format compress them"):
        flip_samples(Deflated, [Sample("a", bytes(1000), 0)])
